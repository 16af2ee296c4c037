#!/usr/bin/env python3
"""There is an order in which the crates can be published, and what they say of themselves is so.

A crate can be published when everything that its manifest needs from the workspace is: its dependencies, also optional ones and
those of its build script, and its development dependencies that state a version (Cargo leaves out those that state a path alone).
The order has all crates that may be published, each after those that it needs by Cargo's own graph. `--order` prints it.

What is published also names one repository and one version, and has the text of both licences.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent
# How a document asks for a published package of ours.
PUBLISHED = re.compile(
    r"\bpip install (?:\S+ )*[\"']?quorate\b"
    r"|\bcargo (?:add|install) (?!.*(?:--path|--git)).*\bquorate"
    r"|\bquorate(?:-[a-z]+)* = (?:\"|\{ version)"
    r"|package = \"quorate[-a-z]*\", version"
    r"|\b(?:npm|pnpm|yarn) (?:install|add|i) (?:\S+ )*@quorate/"
    r"|https://(?:crates\.io/crates|docs\.rs|pypi\.org/project)/quorate"
)
# A version of the changelog that is released, because it has a date: `## 0.1.0, 2026-12-01`.
RELEASED = re.compile(r"^## \[?v?\d+\.\d+\S*,? .*\d{4}-\d\d-\d\d", re.MULTILINE)


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


def graph(packages: list[dict]) -> dict[str, set[str]]:
    """The crates that may be published, and what each needs."""
    published = {package["name"]: package for package in packages if package["publish"] != []}
    return {name: needs(package, published) for name, package in published.items()}


def order(crates: dict[str, set[str]]) -> list[str]:
    """Each crate after those that it needs."""
    waiting, done = dict(crates), []
    while waiting:
        ready = next((name for name, needed in waiting.items() if needed <= set(done)), None)
        if ready is None:
            raise SystemExit(f"these crates need each other: {', '.join(sorted(waiting))}")
        done.append(ready)
        del waiting[ready]
    return done


def too_early() -> list[str]:
    """Lines of documents, those in the comments of Rust included, that nobody can follow before the first release."""
    if RELEASED.search((ROOT / "CHANGELOG.md").read_text()):
        return []
    command = ["git", "ls-files", "--", "*.md", "*.rs", ":!CHANGELOG.md", ":!RELEASING.md"]
    names = subprocess.run(command, cwd=ROOT, capture_output=True, check=True, text=True).stdout.splitlines()
    found = []
    for name in names:
        for number, line in enumerate((ROOT / name).read_text().splitlines(), 1):
            is_document = name.endswith(".md") or line.lstrip().startswith(("//!", "///"))
            if is_document and PUBLISHED.search(line):
                found.append(f"{name}:{number}: nothing is published yet, so give a path or a Git repository: {line.strip()}")
    return found


# What is published and is no crate, with how each says where the source is.
ELSEWHERE = {
    "bindings/go/go.mod": "module {host}/bindings/go",
    "bindings/node/package.json": '"url": "git+{repository}.git"',
    "contracts/package.json": '"url": "git+{repository}.git"',
    "bindings/java/pom.xml": "<url>{repository}</url>",
    "crates/quorate-python/pyproject.toml": 'Repository = "{repository}"',
}
# Where RELEASING.md says how each of them is published.
STEPS = {
    "bindings/go/go.mod": "tag that commit `bindings/go/vX.Y.Z`",
    "bindings/node/package.json": "`npm publish --access public target/published/quorate-X.Y.Z-npm.tgz`",
    "contracts/package.json": "`npm publish --access public`",
    "bindings/java/pom.xml": "\n## Maven Central\n",
    "crates/quorate-python/pyproject.toml": "`twine upload target/published/*.whl`",
}
# What packaging/dist.sh puts where these steps look for it.
GATHERED = [
    "quorate-$version-npm.tgz", "quorate-$version-go", '"$version"{,-sources,-javadoc}.jar', "quorate-$version.pom", "wheels/*.whl"
]
# Maven Central takes no jar without them.
CENTRAL = [
    "<name>", "<description>", "<licenses>", "<developers>", "<connection>scm:git:{repository}.git</connection>",
    "maven-source-plugin", "maven-javadoc-plugin",
]
# A lockfile of npm has the version of its own package twice.
NPM_LOCK = ['"version": "{version}",\n  "lockfileVersion"', '      "version": "{version}",\n      "license"']
CARGO_LOCK = 'name = "%s"\nversion = "{version}"'
# What else has the workspace's version.
VERSIONED = {
    "bindings/node/package.json": ['"version": "{version}"'],
    "bindings/node/package-lock.json": NPM_LOCK,
    "bindings/java/pom.xml": ["<version>{version}</version>"],
    "bindings/java/README.md": ["quorate-{version}.jar"],
    "contracts/package.json": ['"version": "{version}"'],
    "contracts/package-lock.json": NPM_LOCK,
    "contracts/README.md": ["quorate-contracts-{version}.tgz"],
    "crates/quorate-curve/no_std/Cargo.lock": [CARGO_LOCK % "quorate-curve"],
    "crates/quorate/wasm/Cargo.lock": [CARGO_LOCK % name for name in ["quorate", "quorate-bn254", "quorate-curve"]],
    "deploy/kubernetes/overlays/node/kustomization.yaml": [
        f"newName: {name}, newTag: {{version}} " for name in ["quorate-node", "quorate-signer"]
    ],
    "deploy/kubernetes/overlays/server/kustomization.yaml": ["newName: quorate-server, newTag: {version} "],
    "docs/install.md": [
        "quorate_{version}_amd64.deb",
        "quorate-server_{version}_amd64.deb",
        "quorate-server-{version}-amd64.oci.tar",
        "quorate-server:{version}",
        "git checkout v{version} ",
    ],
    "docs/node.md": ["quorate-signer:{version}", "quorate-node:{version}"],
}
# What compiles the programs of a release, with how each names its profile.
BUILT = {"packaging/programs.sh": "--profile dist", "packaging/quorate.rb.in": '"--profile", "dist"'}


def archive(target: str) -> dict[str, str]:
    """Where `cargo binstall` finds a program: an archive that packaging/programs.sh makes."""
    name = f"quorate-{{ version }}-{target}"
    return {"pkg-url": f"{{ repo }}/releases/download/v{{ version }}/{name}.tar.gz", "bin-dir": f"{name}/bin/{{ bin }}"}


# Systems with musl take the archives for glibc, whose programs are static.
BINSTALL = archive("{ target }") | {
    "pkg-fmt": "tgz",
    "overrides": {f"{cpu}-unknown-linux-musl": archive(f"{cpu}-unknown-linux-gnu") for cpu in ["x86_64", "aarch64"]},
}


def places(packages: list[dict]) -> list[str]:
    """What does not point at the repository that Cargo.toml names, or has another version or profile."""
    workspace = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]
    repository = workspace["repository"]
    names = {"repository": repository, "host": repository.removeprefix("https://"), "version": workspace["version"]}
    published = [package for package in packages if package["publish"] != []]
    wrong = [f"{each['name']} does not name the workspace's repository" for each in published if each["repository"] != repository]
    for package in published:
        programs = [target for target in package["targets"] if "bin" in target["kind"]]
        if programs and (package["metadata"] or {}).get("binstall") != BINSTALL:
            wrong.append(f"{package['name']}: [package.metadata.binstall] is not {BINSTALL}")
    versioned = [(name, line) for name, lines in VERSIONED.items() for line in lines]
    assert STEPS.keys() == ELSEWHERE.keys()
    gathered = [("packaging/dist.sh", line) for line in GATHERED]
    central = [("bindings/java/pom.xml", line) for line in CENTRAL]
    steps = [("RELEASING.md", line) for line in STEPS.values()]
    plain = [(name, line) for name, line in [*gathered, *steps] if line not in (ROOT / name).read_text()]
    wrong += [f"{name} has no {line.strip()}" for name, line in plain]
    for name, line in [*ELSEWHERE.items(), *versioned, *BUILT.items(), *central]:
        line = line.format(**names)
        if line not in (ROOT / name).read_text():
            wrong.append(f"{name} has no {line}")
    return wrong


LICENCES = ["LICENSE-APACHE", "LICENSE-MIT"]
# What is published, is no crate, and carries the licences in its folder. npm and Go take no links, so these are copies.
CARRIES = ["bindings/go", "bindings/node", "contracts", "crates/quorate-python"]
# Where a package names the licences that it takes along.
TAKES = {
    "bindings/node/package.json": '"{licence}"',
    "bindings/java/pom.xml": "<include>{licence}</include>",
    "contracts/package.json": '"{licence}"',
    "crates/quorate-python/pyproject.toml": '"{licence}"',
    "scripts/c_library.sh": "{licence}",
}

# The licences of the crates that are linked in: who puts the file that `make dist` writes into what is published.
LINKED = {
    "packaging/tree.sh": "LICENCES-OF-DEPENDENCIES.html",
    "scripts/c_library.sh": "LICENCES-OF-DEPENDENCIES.html",
    "bindings/go/build.sh": "LICENCES-OF-DEPENDENCIES.html",
    "bindings/java/build.sh": "META-INF/LICENCES-OF-DEPENDENCIES.html",
    "bindings/node/build.sh": "LICENCES-OF-DEPENDENCIES.html",
    "bindings/node/package.json": '"LICENCES-OF-DEPENDENCIES.html"',
    "crates/quorate-python/pyproject.toml": '"LICENCES-OF-DEPENDENCIES.*"',
    "Makefile": "$(PACKAGE)/LICENCES-OF-DEPENDENCIES.html",
}


def unlicensed(packages: list[dict]) -> list[str]:
    """What would be published without the text of a licence."""
    crates = [pathlib.Path(package["manifest_path"]).parent for package in packages if package["publish"] != []]
    wrong = []
    for licence in LICENCES:
        text = (ROOT / licence).read_bytes()
        for folder in [*crates, *(ROOT / name for name in CARRIES)]:
            file = folder / licence
            if not file.is_file() or file.read_bytes() != text:
                wrong.append(f"{file.relative_to(ROOT)} is not {licence}: link or copy it")
        for name, taken in TAKES.items():
            if taken.format(licence=licence) not in (ROOT / name).read_text():
                wrong.append(f"{name} does not take {licence} along")
    for name, taken in LINKED.items():
        if taken not in (ROOT / name).read_text():
            wrong.append(f"{name} does not take {taken} along, the licences of what is linked in")
    images = (ROOT / "packaging/Containerfile").read_text()
    if images.count("\nFROM scratch AS ") != images.count("\nCOPY licences /usr/share/doc/quorate\n"):
        wrong.append("packaging/Containerfile: an image has no licences")
    return wrong


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--order", action="store_true", help="print the order and check nothing")
    arguments = parser.parse_args()
    command = ["cargo", "metadata", "--format-version", "1", "--no-deps", "--locked"]
    metadata = json.loads(subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout)
    crates = graph(metadata["packages"])
    expected = order(crates)
    if arguments.order:
        print(", ".join(f"`{name}`" for name in expected))
        return
    early = too_early()
    if early:
        sys.exit("\n".join(early))
    astray = places(metadata["packages"]) + unlicensed(metadata["packages"])
    if astray:
        sys.exit("\n".join(astray))
    print(f"release: {len(expected)} crates in an order in which they can be published")


if __name__ == "__main__":
    main()
