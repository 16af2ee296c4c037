"""The pages of the reference that our programs write themselves: their `--help`, and the server's interface and metrics.

`PROGRAMS` is the folder with the programs. The pages stand in the book alone, so they are never out of date.
"""

import json
import os
import re
import socket
import subprocess
import tempfile
import time
from http.client import HTTPConnection
from pathlib import Path

from mkdocs.structure.files import File

FOLDER = Path(os.environ["PROGRAMS"])
NAMES = ["quorate", "quorate-server", "quorate-node", "quorate-signer", "quorate-chain", "quorate-bench"]
# Without the caller's variables, which help texts would show.
ENVIRONMENT = {"PATH": os.environ["PATH"], "HOME": "/", "COLUMNS": "100", "NO_COLOR": "1"}


def on_files(files, config):
    """Adds the generated pages, which the navigation names."""
    pages = {f"reference/{name}.md": commands(name) for name in NAMES}
    with Server() as server:
        pages["reference/http.md"] = interface(json.loads(server.get("/openapi.json")))
        pages["reference/metrics.md"] = metrics(server.get("/metrics"))
    for path, text in pages.items():
        files.append(File.generated(config, path, content=text))
    return files


def commands(name):
    """A page with the help of a program, and of each of its commands."""
    text = f"# Commands of {name}\n\nThis is what `{name} --help` and `{name} COMMAND --help` print.\n"
    waiting = [[name]]
    while waiting:
        words = waiting.pop(0)
        shown = subprocess.run(
            [FOLDER / name, *words[1:], "--help"], env=ENVIRONMENT, capture_output=True, text=True, check=True
        ).stdout.rstrip()
        text += f"\n## {' '.join(words)}\n\n````text\n{shown}\n````\n"
        waiting = [[*words, command] for command in subcommands(shown)] + waiting
    return text


def subcommands(shown):
    """The commands that a help text lists."""
    _, _, listed = shown.partition("\nCommands:\n")
    listed, _, _ = listed.partition("\n\n")
    return [name for name in re.findall(r"^  ([a-z][a-z0-9-]*)", listed, re.MULTILINE) if name != "help"]


class Server:
    """A `quorate-server` on a Unix socket in a folder of its own, which `with` starts and ends."""

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = f"{self.folder.name}/socket"
        arguments = [FOLDER / "quorate-server", "--listen", "", "--socket", self.path]
        self.process = subprocess.Popen(arguments, env=ENVIRONMENT, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 300
        while not os.path.exists(self.path):
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError("quorate-server does not start")
            time.sleep(0.05)
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        self.folder.cleanup()

    def get(self, path):
        connection = HTTPConnection("localhost")
        connection.sock = socket.socket(socket.AF_UNIX)
        connection.sock.connect(self.path)
        connection.request("GET", path)
        answer = connection.getresponse()
        if answer.status != 200:
            raise RuntimeError(f"quorate-server answers {path} with status {answer.status}")
        return answer.read().decode()


def interface(document):
    """A page with the OpenAPI document: a table of the calls, the fields of each object, and the document itself."""
    text = "# HTTP interface of quorate-server\n\n"
    text += "The server gives this description at `GET /openapi.json`.\n\n| call | what it does | status |\n|---|---|---|\n"
    for path, calls in document["paths"].items():
        for method, call in calls.items():
            words = cell(f"{call.get('summary', '')} {call.get('description', '')}")
            text += f"| `{method.upper()} {path}` | {words} | {', '.join(call['responses'])} |\n"
    for name, schema in document["components"]["schemas"].items():
        text += f"\n## {name}\n\n{cell(schema.get('description', ''))}\n"
        if "properties" in schema:
            text += "\n| field | meaning | required |\n|---|---|---|\n"
            for field, value in schema["properties"].items():
                required = "yes" if field in schema.get("required", []) else "no"
                text += f"| `{field}` | {cell(value.get('description', ''))} | {required} |\n"
    return text + f"\n## The document\n\n````json\n{json.dumps(document, indent=1)}\n````\n"


def metrics(exposition):
    """A page with a row for each metric, from the text that Prometheus reads."""
    text = "# Metrics of quorate-server\n\nThe server gives them at `GET /metrics`; all times are in seconds.\n\n"
    text += "| metric | kind | meaning |\n|---|---|---|\n"
    kinds = dict(re.findall(r"^# TYPE (\S+) (\S+)$", exposition, re.MULTILINE))
    for name, words in re.findall(r"^# HELP (\S+) (.+)$", exposition, re.MULTILINE):
        ending = "_total" if kinds.get(name) == "counter" else ""
        text += f"| `{name}{ending}` | {kinds.get(name, '')} | {cell(words)} |\n"
    return text


def cell(words):
    return " ".join(words.split()).replace("|", "\\|")
