#!/usr/bin/env python3
"""What contracts/AUDIT.md says of the code is so, after `forge build`.

- Every test, invariant and check that it names exists (`test_…`, `testFuzz_…`, `invariant_…`, `check_…`), and so does every file
  (`Name.sol`), every make target (`make name`), and every function of a contract or library that it names (`Name.function`).
- Its table of deployed contracts has every contract of src that is not abstract, with its file and the bytes of its code, and no other.
- Its table of sources has every file of src once, and the lines that each row states.
- Every `invariant_…` of the tests is named, so none is forgotten.
"""

import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
CONTRACTS = ROOT / "contracts"
SRC = CONTRACTS / "src"
AUDIT = CONTRACTS / "AUDIT.md"
# A row of each table: its beginning, and what it has to hold.
DEPLOYED = re.compile(r"^\| `(\w+)` \| `([\w/]+\.sol)` \| ([\d,]+) \|", re.MULTILINE)
SOURCES = re.compile(r"^\| ([^|]+) \| ((?:`[\w/]+\.sol`(?:, )?)+) \| ([\d,]+) \|$", re.MULTILINE)
CONCRETE = re.compile(r"^contract (\w+)", re.MULTILINE)
DECLARED = re.compile(r"^(?:abstract contract|contract|library|interface) (\w+)", re.MULTILINE)
TEST = re.compile(r"\bfunction ((?:test|testFuzz|invariant|check)_\w+)")
TARGET = re.compile(r"^([a-z0-9-]+):", re.MULTILINE)


def number(text: str) -> int:
    return int(text.replace(",", ""))


def tests() -> set[str]:
    return {name for path in (CONTRACTS / "test").rglob("*.sol") for name in TEST.findall(path.read_text())}


def deployed() -> dict[str, tuple[str, int]]:
    """The file and the bytes of each contract of src that can be deployed."""
    found = {}
    for path in SRC.rglob("*.sol"):
        for name in CONCRETE.findall(path.read_text()):
            artifact = CONTRACTS / "out" / path.name / f"{name}.json"
            if not artifact.exists():
                sys.exit(f"{artifact.relative_to(ROOT)} is not there: run `bin/forge build` in contracts first")
            code = json.loads(artifact.read_text())["deployedBytecode"]["object"].removeprefix("0x")
            # A reference to a library that is linked has as many characters as an address.
            found[name] = (str(path.relative_to(SRC)), len(code) // 2)
    return found


def wrong_names(text: str):
    known, targets = tests(), set(TARGET.findall((ROOT / "Makefile").read_text()))
    files = {path.name for folder in ("src", "test", "script", "examples") for path in (CONTRACTS / folder).rglob("*.sol")}
    bodies: dict[str, str] = {}
    for path in SRC.rglob("*.sol"):
        body = path.read_text()
        for name in DECLARED.findall(body):
            bodies[name] = bodies.get(name, "") + body
    for token in sorted(set(re.findall(r"`([^`\n]+)`", text))):
        if re.fullmatch(r"(?:test|testFuzz|invariant|check)_\w+", token):
            if token not in known:
                yield f"there is no {token} in contracts/test"
        elif re.fullmatch(r"[\w/.]+\.sol", token):
            if token.rsplit("/", 1)[-1] not in files:
                yield f"there is no file {token}"
        elif match := re.fullmatch(r"make ([a-z0-9-]+)", token):
            if match[1] not in targets:
                yield f"the Makefile has no target {match[1]}"
        elif match := re.fullmatch(r"([A-Z]\w*)\.(_?[a-z]\w*)", token):
            if match[1] not in bodies:
                yield f"{token}: src declares no {match[1]}"
            elif not re.search(rf"\b{match[2]}\b", bodies[match[1]]):
                yield f"{token}: the file of {match[1]} has no {match[2]}"
    for name in sorted(known):
        if name.startswith("invariant_") and f"`{name}`" not in text:
            yield f"{name} of contracts/test is not named"


def wrong_contracts(text: str):
    expected = deployed()
    stated = {name: (path, number(size)) for name, path, size in DEPLOYED.findall(text)}
    for name in sorted(expected.keys() | stated.keys()):
        if name not in stated:
            yield f"{name} is not in the table of deployed contracts"
        elif name not in expected:
            yield f"{name} is in the table of deployed contracts, and src has no such contract"
        elif stated[name] != expected[name]:
            yield "{}: found {} with {:,} bytes, expected {} with {:,}".format(name, *stated[name], *expected[name])


def wrong_sources(text: str):
    lines = {str(path.relative_to(SRC)): path.read_text().count("\n") for path in SRC.rglob("*.sol")}
    named: list[str] = []
    for layer, files, stated in SOURCES.findall(text):
        names = re.findall(r"`([^`]+)`", files)
        named += names
        total = sum(lines.get(name, 0) for name in names)
        if number(stated) != total:
            yield f"sources, {layer}: found {stated} lines, expected {total:,}"
    for name in sorted(lines.keys() | set(named)):
        if named.count(name) != (name in lines):
            yield f"sources: {name} is named {named.count(name)} times, expected {int(name in lines)}"


def main() -> None:
    text = AUDIT.read_text()
    wrong = [*wrong_names(text), *wrong_contracts(text), *wrong_sources(text)]
    for line in wrong:
        print(f"{AUDIT.relative_to(ROOT)}: {line}")
    print(f"audit: {len(set(re.findall('`[^`]+`', text)))} names, {len(wrong)} wrong")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
