#!/usr/bin/env python3
"""The order in which RELEASING.md publishes the crates is one in which they can be published.

A crate can be published when everything that its manifest needs from the workspace is: its dependencies, also optional ones and
those of its build script, and its development dependencies that state a version (Cargo leaves out those that state a path alone).
The list is all crates that may be published, in the order in which Cargo's own graph puts them; of those that could change
places, the one that the workspace names first comes first. `--order` prints it.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
# The step of RELEASING.md that has the list, up to the next step.
STEP = re.compile(r"^\d+\. Publish in this order.*?(?=^\d+\. |\Z)", re.MULTILINE | re.DOTALL)

# How a document asks for a published package of ours.
PUBLISHED = re.compile(
    r"\bpip install (?:\S+ )*[\"']?quorate\b"
    r"|\bcargo (?:add|install) (?!.*(?:--path|--git)).*\bquorate"
    r"|\bquorate(?:-[a-z]+)* = (?:\"|\{ version)"
    r"|package = \"quorate[-a-z]*\", version"
    r"|\b(?:npm|pnpm|yarn) (?:install|add|i) (?:\S+ )*@quorate/"
    r"|https://(?:crates\.io/crates|docs\.rs|pypi\.org/project)/quorate"
)
# A version of the changelog: `## 0.1.0, 2026-12-01`.
VERSION = re.compile(r"^## \[?v?\d+\.\d+", re.MULTILINE)


def needs(package: dict, published: dict) -> set[str]:
    """The crates of the workspace that must be there before this one."""
    own = [each for each in package["dependencies"] if each.get("path")]
    needed = {each["name"] for each in own if each["kind"] != "dev" or each["req"] != "*"}
    missing = sorted(needed - published.keys())
    if missing:
        raise SystemExit(
            f"{package['name']} needs {', '.join(missing)}, which `publish = false` keeps back: publish both, or neither"
        )
    if package["name"] in needed:
        raise SystemExit(
            f"{package['name']} states a version of itself under [dev-dependencies], so it could not be published before "
            "itself: state `path = \".\"` alone"
        )
    return needed


def order(packages: list[dict]) -> list[str]:
    """The crates that may be published, each after those that it needs."""
    published = {package["name"]: package for package in packages if package["publish"] != []}
    waiting = {name: needs(package, published) for name, package in published.items()}
    done: list[str] = []
    while waiting:
        ready = next((name for name, needed in waiting.items() if needed <= set(done)), None)
        if ready is None:
            raise SystemExit(f"these crates need each other: {', '.join(sorted(waiting))}")
        done.append(ready)
        del waiting[ready]
    return done


def listed(text: str) -> list[str]:
    """The crates that RELEASING.md names."""
    step = STEP.search(text)
    if step is None:
        raise SystemExit("RELEASING.md: no step begins with `Publish in this order`")
    return re.findall(r"`(quorate(?:-[a-z0-9]+)*)`", step.group())


def too_early() -> list[str]:
    """Lines of documents that nobody can follow before the first release."""
    if VERSION.search((ROOT / "CHANGELOG.md").read_text()):
        return []
    command = ["git", "ls-files", "--", "*.md", ":!CHANGELOG.md", ":!RELEASING.md"]
    names = subprocess.run(command, cwd=ROOT, capture_output=True, check=True, text=True).stdout.splitlines()
    found = []
    for name in names:
        for number, line in enumerate((ROOT / name).read_text().splitlines(), 1):
            if PUBLISHED.search(line):
                found.append(f"{name}:{number}: nothing is published yet, so give a path or a Git repository: {line.strip()}")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--order", action="store_true", help="print the order and check nothing")
    arguments = parser.parse_args()
    command = ["cargo", "metadata", "--format-version", "1", "--no-deps", "--locked"]
    metadata = json.loads(subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout)
    expected = order(metadata["packages"])
    if arguments.order:
        print(", ".join(f"`{name}`" for name in expected))
        return
    early = too_early()
    if early:
        sys.exit("\n".join(early))
    found = listed((ROOT / "RELEASING.md").read_text())
    if found != expected:
        missing, further = sorted(set(expected) - set(found)), sorted(set(found) - set(expected))
        for what, names in (("does not name", missing), ("names what is not published:", further)):
            if names:
                print(f"RELEASING.md {what} {', '.join(names)}")
        if len(found) != len(set(found)):
            print("RELEASING.md names a crate twice")
        sys.exit(f"RELEASING.md: expected this order: {', '.join(f'`{name}`' for name in expected)}")
    print(f"RELEASING.md: {len(found)} crates in an order in which they can be published")


if __name__ == "__main__":
    main()
