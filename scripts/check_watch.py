#!/usr/bin/env python3
"""Dashboards, rules and documents speak of metrics that the programs have, and none is left out.

1. `promtool` understands every rule and every query of a dashboard, and the tests of the rules pass.
2. Each program is started: the server gets a claim, a false one and one of a banned source; the signer a request that is not one; the
   follower and the watcher a chain without a settlement; and the node's board is played to its end. Every metric and every label that a rule or a
   dashboard asks for is one that a program tells.
3. Every metric that a document names exists, and a rule or a dashboard shows it. docs/node.md, docs/signer.md and docs/operate.md list
   every metric of the node, the signer, the follower and the watcher that is told with labels.
4. Each line of the log that docs/operate.md tells to look for stands in a source.
5. Each alert has a test that sees it fire, a summary, a description, and a heading in docs/operate.md that it names.

`PROGRAMS` is the folder with the programs. Without promtool the first part is skipped; with CI=true that is an error.
"""

import contextlib
import http.client
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time

from empty_chain import chain_at

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAMS = pathlib.Path(os.environ.get("PROGRAMS", ROOT / "target/debug"))
RULES = [ROOT / "deploy/prometheus" / name for name in ("records.yml", "alerts.yml")]
TESTS = sorted((ROOT / "deploy/prometheus/tests").glob("*.yml"))
DASHBOARDS = sorted((ROOT / "deploy/grafana").glob("*.json"))
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
OPERATE = ROOT / "docs/operate.md"
# Documents that list all metrics of a program that have labels, by what these begin with.
LISTED = {"quorate_node_": "node.md", "quorate_signer_": "signer.md", "quorate_follower_": "operate.md", "quorate_watcher_": "operate.md"}
# Without the caller's variables, which the programs would read.
ENVIRONMENT = {"PATH": os.environ["PATH"], "HOME": "/", "NO_COLOR": "1"}
# What Prometheus itself adds to a series.
ADDED = {"job", "instance", "le", "alertname", "alertstate"}
OF_PROMETHEUS = {"up"}
# Time for a program to start, and to get somewhere, in a build without optimisation.
PATIENCE = 300

NAME = re.compile(r"\b(?:[a-z_]+:)?(?:quorate|process)_[a-z0-9_]*[a-z0-9](?::[a-z0-9_]+)?|\bup\b")
SELECTOR = re.compile(r"((?:[a-z_]+:)?(?:quorate|process)_[a-z0-9_]*(?::[a-z0-9_]+)?|\bup)\{([^}]*)\}")
LABEL = re.compile(r'([a-z_]+)\s*(?:=~|!~|!=|=)\s*"')


# --- What the programs tell ---


@contextlib.contextmanager
def running(*command, **options):
    """A program in the background, which ends with the block."""
    log = tempfile.TemporaryFile()
    process = subprocess.Popen(command, env=ENVIRONMENT, stdout=log, stderr=log, stdin=subprocess.DEVNULL, **options)

    def said():
        log.seek(0)
        return log.read().decode(errors="replace")

    process.said = said
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        log.close()


def wait(what, process, ask):
    """The answer of `ask`, once it is there."""
    deadline = time.monotonic() + PATIENCE
    while not (answer := ask()):
        if process.poll() is not None or time.monotonic() > deadline:
            sys.exit(f"{what}: it does not come\n{process.said()}")
        time.sleep(0.05)
    return answer


def request(place, path, body=None, kind="application/json"):
    """Status and body of an answer: at an address, or at the path of a Unix socket."""
    if isinstance(place, pathlib.Path):
        connection = http.client.HTTPConnection("localhost", timeout=PATIENCE)
        connection.sock = socket.socket(socket.AF_UNIX)
        connection.sock.connect(str(place))
    else:
        connection = http.client.HTTPConnection(place, timeout=PATIENCE)
    connection.request("POST" if body else "GET", path, body, {"Content-Type": kind} if body else {})
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, text


def watched(place):
    """The metrics of a program that is well."""
    if request(place, "/livez") != (200, "ok\n"):
        sys.exit(f"{place}: /livez does not say that it lives")
    status, text = request(place, "/metrics")
    if status != 200 or not text.endswith("# EOF\n"):
        sys.exit(f"{place}: /metrics answers {status}\n{text}")
    return text


def address_in(process):
    """The address that a program has printed."""
    found = re.search(r"http://(127\.0\.0\.1:\d+)", process.said())
    return found and found[1]


def server(folder):
    sockets = [folder / "claims", folder / "admin"]
    arguments = ["--listen", "", "--socket", str(sockets[0]), "--admin-socket", str(sockets[1])]
    with running(PROGRAMS / "quorate-server", *arguments) as process:
        wait("quorate-server", process, lambda: all(path.exists() for path in sockets))
        claims = (ROOT / "examples/one-false.jsonl").read_text()
        request(sockets[1], "/v1/ban", json.dumps({"source": "mallory", "seconds": 60}))
        of_mallory = json.dumps({**json.loads(claims.splitlines()[0]), "source": "mallory"})
        if [request(sockets[0], "/v1/verify", body, kind)[0] for body, kind in [
            (claims, "application/x-ndjson"), (of_mallory, "application/json")
        ]] != [200, 403]:
            sys.exit("quorate-server answers otherwise than expected")
        return watched(sockets[0])


def node(_folder):
    with running(PROGRAMS / "examples/board", "--at-once", "--listen", "127.0.0.1:0") as process:
        return watched(wait("the node's board", process, lambda: address_in(process)))


def signer(folder):
    folder.chmod(0o700)
    (folder / "metrics").mkdir(mode=0o700)
    (folder / "passphrase").touch(0o600)
    (folder / "passphrase").write_text("a passphrase for a test\n")
    key = ["--keystore", str(folder / "key.json"), "--passphrase-file", str(folder / "passphrase")]
    data = ["--data", str(folder / "data")]
    account = "0x" + "0b" * 20
    new_key = ["evm", "key", "--key-group", "bls12381-g2", "--out", *key[1:2], "--keystore", *key[2:]]
    network = ["--chain-id", "1", "--contract", account, "--verifier", account, "--operator", account]
    terms = ["--genesis", str(int(time.time()) - 1000), "--epoch-length", "3600", "--slashing-window", "600"]
    for command in [
        [PROGRAMS / "quorate", *new_key],
        [PROGRAMS / "quorate-signer", "init", *data, *key, "--key-group", "bls12381-g2", *network, *terms],
    ]:
        subprocess.run(command, env=ENVIRONMENT, check=True, stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
    place = folder / "metrics/metrics.sock"
    with running(PROGRAMS / "quorate-signer", "run", *data, *key, "--metrics-socket", str(place)) as process:
        wait("quorate-signer", process, lambda: "listening on" in process.said())
        binding = {"request": "bind_peer", "chain_id": 1, "contract": account, "peer_id": "0x07"}
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(str(folder / "data/signer.sock"))
            connection.sendall(json.dumps(binding).encode() + b"\nnonsense\n")
            lines = connection.makefile().readline, connection.makefile().readline
            if '"signature"' not in lines[0]():
                sys.exit("quorate-signer does not bind a peer id")
        if request(place, "/readyz")[0] != 200:
            sys.exit("quorate-signer is not ready")
        return watched(place)


def follower(folder):
    return of_chain("follow", "--network", str(folder / "network.json"), last="quorate_follower_ready")


def watcher(folder):
    payer = folder / "payer"
    payer.touch(0o600)
    payer.write_text("07" * 32)
    more = ["--cursor", str(folder / "watch.cursor"), "--key-file", str(payer)]
    # It is ready once it has looked, whatever the chain says of its payer.
    return of_chain("watch", *more, last="quorate_watcher_payer_demands")


def of_chain(command, *more, last):
    """What a command of quorate-chain tells that follows a settlement, once the last of its metrics is there."""
    chain = chain_at(0)
    threading.Thread(target=chain.serve_forever, daemon=True).start()
    arguments = [command, "--rpc", f"http://127.0.0.1:{chain.server_port}", "--contract", "0x" + "0c" * 20]
    arguments += ["--confirmations", "finalized", "--every", "0.1", *more]
    with running(PROGRAMS / "quorate-chain", *arguments, "--metrics", "127.0.0.1:0") as process:
        place = wait("quorate-chain", process, lambda: address_in(process))
        wait("quorate-chain", process, lambda: request(place, "/readyz")[0] == 200)
        wait(last, process, lambda: last in request(place, "/metrics")[1])
        text = watched(place)
    chain.shutdown()
    return text


def told(text):
    """The metrics of an exposition, as Prometheus names their series, each with the labels that were seen."""
    found, kinds = {}, {}
    for name, kind in re.findall(r"^# TYPE (\S+) (\S+)$", text, re.MULTILINE):
        kinds[name] = kind
        endings = {"counter": ["_total"], "info": ["_info"], "histogram": ["_bucket", "_sum", "_count"]}.get(kind, [""])
        for ending in endings:
            found[name + ending] = set()
    for name, labels in re.findall(r"^([a-z_]+)(?:\{(.*)\})? \S+$", text, re.MULTILINE):
        if name in found:
            found[name] |= set(re.findall(r'([a-z_]+)="', labels))
    return found


def listed(text):
    """The same as a document lists them: a histogram by its own name."""
    ending = {"counter": "_total", "info": "_info"}
    return {name + ending.get(kind, "") for name, kind in re.findall(r"^# TYPE (\S+) (\S+)$", text, re.MULTILINE)}


# --- What is asked ---


def expressions(path):
    """The queries of a file of rules, with the names that they are recorded under."""
    text = path.read_text()
    recorded = re.findall(r"^ *- record: (\S+)$", text, re.MULTILINE)
    found = []
    for indent, line, block in re.findall(r"^( *)expr: (?:([^|\n].*)|\|\n((?:\1 +.*\n|\n)+))", text, re.MULTILINE):
        found.append(line or block)
    if len(found) != len(re.findall(r"^ *expr:", text, re.MULTILINE)):
        sys.exit(f"{path}: a query is not understood")
    return found, recorded


def panels(path):
    """The panels of a dashboard, with those in its rows."""
    waiting = list(json.loads(path.read_text())["panels"])
    while waiting:
        panel = waiting.pop()
        waiting += panel.get("panels", [])
        if panel["type"] != "row":
            yield panel


def variables(path):
    """The metrics whose labels are the variables of a dashboard."""
    found = [each["query"] for each in json.loads(path.read_text())["templating"]["list"] if each["type"] == "query"]
    return [re.sub(r"^label_values\((.*), *\w+\)$", r"\1", query) for query in found]


def without_texts(query):
    return re.sub(r'"(?:\\.|[^"\\])*"', '""', query)


def asked(query):
    """The series that a query names, and the labels that it wants of each."""
    names = set(NAME.findall(without_texts(query)))
    labels = {(name, label) for name, matchers in SELECTOR.findall(query) for label in LABEL.findall(matchers)}
    return names, labels


def base(name):
    """A histogram by its own name."""
    return re.sub(r"_(bucket|sum|count)$", "", name)


# --- The checks ---


def with_promtool(queries):
    """Rules, tests and queries of dashboards, as Prometheus reads them."""
    if not shutil.which("promtool"):
        if os.environ.get("CI") == "true":
            sys.exit("There is no promtool, which the rules need: install prometheus")
        print("rules: not read by Prometheus, there is no promtool (install prometheus)")
        return
    rules = "groups:\n- name: dashboards\n  rules:\n"
    for number, query in enumerate(queries):
        plain = re.sub(r"\$__\w+", "5m", query).replace("$instance", ".+")
        rules += f"  - record: query:{number}\n    expr: {json.dumps(plain)}\n"
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "dashboards.yml"
        path.write_text(rules)
        for arguments in [
            ["check", "config", ROOT / "deploy/prometheus/prometheus.yml"],
            ["check", "rules", *RULES, path],
            ["test", "rules", *TESTS],
        ]:
            done = subprocess.run(["promtool", *arguments], capture_output=True, text=True)
            if done.returncode:
                sys.exit(f"promtool {arguments[0]} {arguments[1]}:\n{done.stdout}{done.stderr}")


def anchors(text):
    headings = re.findall(r"^#{1,6} +(.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def lines(wrong):
    """The lines of the log that the document names."""
    _, _, section = OPERATE.read_text().partition("\n## Logs\n")
    rows = re.findall(r"^\| `([^`]+)` \|", section.partition("\n## ")[0], re.MULTILINE)
    texts = [path.read_text() for folder in ("apps", "crates") for path in (ROOT / folder).glob("*/src/**/*.rs")]
    # A text that goes on on the next line of the source is one text.
    sources = re.sub(r"\\\n\s*", "", "\n".join(texts))
    wrong += [f"docs/operate.md tells to look for `{row}`, which no program writes" for row in rows if row not in sources]
    if not rows:
        wrong.append("docs/operate.md names no lines of the log")


def alerts(wrong):
    text, document = "".join(path.read_text() for path in RULES), OPERATE.read_text()
    fired = "".join(path.read_text() for path in TESTS)
    names = re.findall(r"^ *- alert: (\w+)$", text, re.MULTILINE)
    runbooks = re.findall(r"^ *runbook: docs/operate\.md#(\S+)$", text, re.MULTILINE)
    if len(names) != len(runbooks) or not names:
        wrong.append(f"{len(names)} alerts have {len(runbooks)} headings of docs/operate.md")
    for name in names:
        if f'alertname="{name}"' not in fired:
            wrong.append(f"no test sees the alert {name} fire")
    for field in ("summary", "description"):
        if len(re.findall(rf'^ *{field}: ".+"$', text, re.MULTILINE)) != len(names):
            wrong.append(f"an alert has no {field}, which stands for a line of docs/operate.md")
    for name in set(re.findall(r"`(Quorate\w+)`", document)) - set(names):
        wrong.append(f"docs/operate.md speaks of the alert {name}, which is not there")
    wrong += [f"docs/operate.md has no heading #{anchor}" for anchor in sorted(set(runbooks) - anchors(document))]


def main():
    wrong = []
    in_rules = [expressions(path) for path in RULES]
    recorded = {name for _, names in in_rules for name in names}
    queries = [query for found, _ in in_rules for query in found]
    shown = [target["expr"] for path in DASHBOARDS for panel in panels(path) for target in panel["targets"]]
    for path in DASHBOARDS:
        bare = [panel["title"] for panel in panels(path) if not panel.get("description")]
        wrong += [f"{path.name}: the panel {title} has no description" for title in bare]
    with_promtool(shown)
    queries += shown + [query for path in DASHBOARDS for query in variables(path)]

    texts = {}
    for start in (server, node, signer, follower, watcher):
        with tempfile.TemporaryDirectory() as folder:
            texts[start.__name__] = start(pathlib.Path(folder))
    metrics, lists = {}, set()
    for text in texts.values():
        lists |= listed(text)
        for name, labels in told(text).items():
            metrics.setdefault(name, set()).update(labels)

    # A histogram's own label is not one of a program.
    labelled = {base(name) for name, labels in metrics.items() if labels - {"le"}} & lists

    covered = set()
    for query in queries:
        names, of_names = asked(query)
        for name in sorted(names - recorded - metrics.keys() - OF_PROMETHEUS):
            wrong.append(f"no program has {name}, which a query asks for: {query.strip()}")
        for name, label in sorted(of_names):
            if name in metrics and label not in metrics[name] | ADDED:
                wrong.append(f"{name} has no label {label}, which a query asks for: {query.strip()}")
        covered |= {each for name in names for each in (name, base(name))}
    for name in sorted(recorded - covered):
        wrong.append(f"{name} is recorded, and nothing asks for it")

    named = set()
    for document in DOCUMENTS:
        # A name before `::` or in a word is one of Rust.
        found = set(re.findall(r"`((?:quorate|process)_[a-z0-9_]*[a-z0-9])(?:\{[a-z_,]+\})?`", document.read_text()))
        of_programs = {name for name in found if name.startswith(tuple(LISTED)) and name != "quorate_signer_client"}
        for name in sorted(of_programs - lists):
            wrong.append(f"{document.relative_to(ROOT)} names {name}, which no program has")
        named |= found & lists
        for prefix, file in LISTED.items():
            if document.name == file:
                of_program = {name for name in labelled if name.startswith(prefix)}
                wrong += [f"docs/{file} does not list {name}" for name in sorted(of_program - found)]
    for name in sorted(named - covered):
        wrong.append(f"a document names {name}, and neither a rule nor a dashboard asks for it")
    alerts(wrong)
    lines(wrong)

    print(*wrong, sep="\n", end="\n" if wrong else "")
    print(f"watched: {len(lists)} metrics of 5 programs, {len(named)} in documents, {len(queries)} queries, {len(wrong)} wrong")
    sys.exit(bool(wrong) or not named)


if __name__ == "__main__":
    main()
