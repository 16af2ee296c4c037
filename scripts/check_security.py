#!/usr/bin/env python3
"""What SECURITY.md, docs/proofs.md and the supply chain state is so.

- The last column of the table of threats in SECURITY.md names tests that exist and targets of the Makefile. No row is without one.
- Each proof of a kernel that docs/proofs.md names exists, and it names all of them, and each file with proofs of formulas. Each
  test that the list of mutations names exists.
- The toolchain is pinned to a version, every action of a workflow to a commit, and every image that a build begins with to a digest.
- Each dependency in Cargo.lock is from a registry with its hash, and supply-chain has an audit or an exemption of its version, and of no
  version that Cargo.lock does not have. What they have to say is checked by cargo-vet (`make vet`).
- supply-chain/config.toml says of each package that leaves this repository which of its dependencies see secrets or the network.
"""

import csv
import pathlib
import re
import subprocess
import sys
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent
TABLE = re.compile(r"^## Threats\n.*?(?=^## )", re.MULTILINE | re.DOTALL)
TARGET = re.compile(r"^([a-z0-9-]+):", re.MULTILINE)
# A function of Rust under an attribute that makes it a test, and one of Solidity.
RUST = re.compile(r"#\[(?:tokio::)?test[^\]]*\]\s*(?:#\[[^\]]*\]\s*)*(?:async )?fn (\w+)")
SOLIDITY = re.compile(r"\bfunction ((?:test|testFuzz|invariant|check)_\w+)")
USES = re.compile(r"^\s*(?:-\s+)?uses:\s*[\"']?([^\s\"'#]+)", re.MULTILINE)
# Members of the workspace that go nowhere (RELEASING.md).
NEVER_RELEASED = {"quorate-bench", "quorate-constant-time", "quorate-fuzz", "quorate-lab"}
FROM = re.compile(r"^FROM\s+(?:--\S+\s+)*(\S+)(?:\s+AS\s+(\S+))?", re.MULTILINE | re.IGNORECASE)


def tracked(*patterns: str) -> list[pathlib.Path]:
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *patterns]
    names = subprocess.run(command, cwd=ROOT, capture_output=True, check=True, text=True).stdout.splitlines()
    return [ROOT / name for name in names if (ROOT / name).is_file()]


def threats():
    """Names in the table of threats that nothing has."""
    table = TABLE.search((ROOT / "SECURITY.md").read_text())
    rows = [line for line in (table.group() if table else "").splitlines() if line.startswith("|")][2:]
    if not rows:
        yield "SECURITY.md: there is no table under `## Threats`"
    targets = set(TARGET.findall((ROOT / "Makefile").read_text()))
    tests = {name for path in tracked("*.rs") for name in RUST.findall(path.read_text())}
    tests |= {name for path in tracked("contracts/test/*.sol") for name in SOLIDITY.findall(path.read_text())}
    for row in rows:
        asset, *_, where = [cell.strip() for cell in row.strip("|").split("|")]
        names = re.findall(r"`([^`]+)`", where)
        if not names:
            yield f"SECURITY.md: the row of {asset} names no test"
        for name in names:
            target = re.fullmatch(r"make ([a-z0-9-]+)", name)
            if target and target[1] not in targets:
                yield f"SECURITY.md: the Makefile has no target {target[1]}"
            elif not target and name not in tests:
                yield f"SECURITY.md: there is no test {name}"


def proofs():
    """Proofs that a table names and that are not there, and proofs of kernels and files of proofs that no table names."""
    folder = ROOT / "crates/quorate-curve/src/backend"
    kernels = "\n".join((folder / file).read_text() for file in ("ifma/proofs.rs", "fma/proofs.rs", "fma/sizes.rs"))
    document = (ROOT / "docs/proofs.md").read_text()
    named = set()
    for line in document.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if cells[0].split(",")[0] not in ("ifma", "fma"):
            continue
        for name in re.findall(r"`([\w*]+)`", cells[4]):
            name = name.replace("*", r"\w+")
            named.add(name)
            if not re.search(rf"\b{name}\b", kernels):
                yield f"docs/proofs.md: there is no proof {name}"
    for name in re.findall(r"^    fn (\w+)(?:<C, N>\(\)|\(prime\)) \{$", kernels, re.MULTILINE):
        if not any(re.fullmatch(known, name) for known in named):
            yield f"docs/proofs.md: the proof {name} is in no table"
    files = {path.name for path in (folder / "lanes/proofs").glob("*.rs")} - {"mod.rs", "proof.rs", "symbolic.rs", "naive.rs"}
    rows = set(re.findall(r"^\| `(\w+\.rs)` \|", document, re.MULTILINE))
    for name in sorted(files ^ rows):
        yield f"docs/proofs.md: {name} " + ("is in no table" if name in files else "is not there")


def mutations():
    """Tests that are said to fail after a change of the source, and that are not there."""
    folder = ROOT / "crates/quorate-curve"
    source = "\n".join(path.read_text() for path in sorted((folder / "src").rglob("*.rs")))
    with (folder / "mutations.csv").open(newline="") as lines:
        for row in csv.DictReader(lines):
            for name in filter(None, re.split(r", | alone$", row["tests that fail"])):
                if not re.search(rf"\bfn {name.split('::')[-1]}\b", source):
                    yield f"crates/quorate-curve/mutations.csv: there is no test {name}"


def pins():
    """What floats: a build of tomorrow would take something else."""
    channel = tomllib.loads((ROOT / "rust-toolchain.toml").read_text())["toolchain"]["channel"]
    if not re.fullmatch(r"\d+\.\d+\.\d+|nightly-\d{4}-\d\d-\d\d", channel):
        yield f"rust-toolchain.toml: the channel is {channel}; name a version, as 1.95.0"
    for path in tracked(".github/workflows/*.yml", ".github/workflows/*.yaml", "*action.yml", "*action.yaml"):
        for action in USES.findall(path.read_text()):
            if not action.startswith("./") and not re.search(r"@[0-9a-f]{40}$|@sha256:[0-9a-f]{64}$", action):
                yield f"{path.relative_to(ROOT)}: {action} is not pinned; name the 40 digits of a commit"
    for path in tracked("*Containerfile*", "*Dockerfile*"):
        stages = {"scratch"}
        for image, stage in FROM.findall(path.read_text()):
            if image not in stages and not re.search(r"@sha256:[0-9a-f]{64}$", image):
                yield f"{path.relative_to(ROOT)}: {image} is not pinned; name its digest"
            stages.add(stage)


def dependencies():
    """Versions that nobody has recorded, and records of versions that are gone."""
    locked = set()
    for package in tomllib.loads((ROOT / "Cargo.lock").read_text())["package"]:
        if source := package.get("source"):
            name = (package["name"], package["version"])
            locked.add(name)
            if not source.startswith("registry+") or "checksum" not in package:
                yield f"Cargo.lock: {' '.join(name)} is from {source}, and has no hash"
    stores = [tomllib.loads((ROOT / "supply-chain" / file).read_text()) for file in ("audits.toml", "config.toml")]
    tables = [stores[0].get("audits", {}), stores[1].get("exemptions", {})]
    recorded = {(name, entry["version"]) for table in tables for name, entries in table.items() for entry in entries}
    for name, version in sorted(locked - recorded):
        yield f"supply-chain: {name} {version} is new; read it and write an audit, or run `cargo vet regenerate exemptions`"
    for name, version in sorted(recorded - locked):
        yield f"supply-chain: {name} {version} is recorded, and Cargo.lock does not have it; run `cargo vet prune`"


def policies():
    """Packages of which nothing says what their dependencies see, and policies of packages or of dependencies that are not there."""
    uses, workspace = {}, tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]
    renamed = {name: of["package"] for name, of in workspace["dependencies"].items() if isinstance(of, dict) and "package" in of}
    for member in workspace["members"]:
        manifest = tomllib.loads((ROOT / member / "Cargo.toml").read_text())
        kinds = [manifest, *manifest.get("target", {}).values()]
        tables = [kind.get(table, {}) for kind in kinds for table in ("dependencies", "build-dependencies")]
        # `name = "1"`, or a table, which can say that the package has another name.
        names = {of.get("package", name) if isinstance(of, dict) else name for table in tables for name, of in table.items()}
        uses[manifest["package"]["name"]] = {renamed.get(name, name) for name in names}
    policy = tomllib.loads((ROOT / "supply-chain/config.toml").read_text()).get("policy", {})
    for name in sorted(uses.keys() - NEVER_RELEASED - policy.keys()):
        missing = "say which of its dependencies see secrets or the network, or in `notes` that none does"
        yield f"supply-chain/config.toml: {name} has no policy: {missing}"
    for name, entry in sorted(policy.items()):
        for dependency in sorted(set(entry.get("dependency-criteria", {})) - uses.get(name, set())):
            yield f"supply-chain/config.toml: {name} does not depend on {dependency}"
        if name not in uses:
            yield f"supply-chain/config.toml: the workspace has no package {name}"


def exempted() -> str:
    """How many versions were not read, by what the reading would have been for."""
    exemptions = tomllib.loads((ROOT / "supply-chain/config.toml").read_text())["exemptions"]
    entries = [entry["criteria"] for entries in exemptions.values() for entry in entries]
    numbers = [sum(criterion in criteria for criteria in entries) for criterion in ("keeps-secrets", "faces-network")]
    return "not read, of dependencies that see secrets: {}; not searched, of those that face the network: {}".format(*numbers)


def main() -> None:
    wrong = [*threats(), *proofs(), *mutations(), *pins(), *dependencies(), *policies()]
    print(*wrong, sep="\n", end="\n" if wrong else "")
    print(f"security: {len(wrong)} wrong ({exempted()})")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
