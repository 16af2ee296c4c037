#!/usr/bin/env python3
"""Imports run one way: between the crates of the workspace, and between the source files of each crate. A name has one meaning.

Four rules:

1. A crate depends only on the workspace crates that CRATES allows it.
2. The source files of a crate import each other in no circle.
3. A file imports only files that stand above it. The order is that of the `mod` lines: of `lib.rs`, then of `main.rs`, and in the
   place of each module its submodules in the order of its own `mod` lines, and then its file. Where some submodules stand above
   a module that the rest of theirs imports, a comment in place of a line says so: `// mod backend::{portable, lanes};`.
4. No public type of a crate has the name of a public type of another crate, but those that NAMES gives a reason for. The crates
   that are not published do not count.

An import is every path through `crate`, `super`, `self`, a child module or a name that a `use` brings in, wherever the path
stands in a file. A name that a module only re-exports counts as an import of the file that defines it. Declaring a module
(`mod name;`) is not an import. Code under `#[cfg(test)]` does not count.

`--order CRATE` prints the files of a crate in an order that fits their imports.
"""

import argparse
import graphlib
import pathlib
import re
import sys
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent

# Which workspace crates a crate may depend on.
CRATES = {
    "quorate-curve": set(),
    "quorate-bn254": set(),
    "quorate": {"quorate-curve", "quorate-bn254"},
    "quorate-formats": {"quorate", "quorate-host"},
    "quorate-evm": {"quorate", "quorate-curve", "quorate-bn254"},
    "quorate-host": set(),
    "quorate-keystore": {"quorate-host"},
    "quorate-threshold": {"quorate", "quorate-curve"},
    "quorate-batcher": {"quorate", "quorate-host"},
    "quorate-checkpoint": {"quorate", "quorate-host"},
    "quorate-blst": {"quorate", "quorate-curve"},
    "quorate-history": {"quorate", "quorate-formats", "quorate-host"},
    "quorate-python": {"quorate", "quorate-host", "quorate-curve", "quorate-formats", "quorate-history", "quorate-threshold", "quorate-evm"},
    "quorate-c": {"quorate", "quorate-batcher", "quorate-formats", "quorate-host"},
    "quorate-node-binding": {"quorate", "quorate-c", "quorate-blst", "quorate-evm", "quorate-host"},
    "quorate-java-binding": {"quorate", "quorate-c", "quorate-host"},
    "quorate-cli": {"quorate-history", "quorate", "quorate-curve", "quorate-bn254", "quorate-evm", "quorate-formats", "quorate-threshold", "quorate-checkpoint", "quorate-keystore", "quorate-host"},
    "quorate-server": {"quorate", "quorate-batcher", "quorate-checkpoint", "quorate-formats", "quorate-host"},
    "quorate-chain": {"quorate-evm", "quorate-keystore", "quorate-host"},
    "quorate-chain-program": {"quorate-chain", "quorate-evm", "quorate-host", "quorate-keystore"},
    "quorate-signer-client": {"quorate-evm"},
    "quorate-signer": {"quorate-signer-client", "quorate-evm", "quorate-keystore", "quorate-host"},
    "quorate-network": {"quorate", "quorate-evm"},
    "quorate-node": {"quorate", "quorate-evm", "quorate-batcher", "quorate-chain", "quorate-signer-client", "quorate-network", "quorate-keystore", "quorate-host"},
    "quorate-lab": {"quorate", "quorate-curve", "quorate-bn254", "quorate-evm", "quorate-chain", "quorate-network", "quorate-keystore", "quorate-host", "quorate-node"},
    "quorate-constant-time": {"quorate", "quorate-curve", "quorate-bn254", "quorate-threshold", "quorate-keystore"},
    "quorate-bench": {"quorate-lab", "quorate-host", "quorate", "quorate-batcher", "quorate-formats", "quorate-history", "quorate-blst", "quorate-curve", "quorate-bn254", "quorate-evm", "quorate-threshold", "quorate-cli", "quorate-network"},
    "quorate-fuzz": {"quorate-lab", "quorate", "quorate-curve", "quorate-bn254", "quorate-evm", "quorate-threshold", "quorate-checkpoint", "quorate-history", "quorate-formats", "quorate-host", "quorate-network", "quorate-signer-client", "quorate-c", "quorate-cli", "quorate-server", "quorate-node"},
}

# Modules that their own submodules import. Of every other module, the file stands below its submodules.
IMPORTED_BY_SUBMODULES = {
    "quorate": {"plan"},
    "quorate-threshold": {"dkg/participant"},
    "quorate-keystore": {"keystore"},
    "quorate-signer": {"commands"},
    "quorate-node": {"commands"},
    "quorate-bench": {"service"},
}

# Names of public types that several crates have, and why.
NAMES = {
    "PublicKey": "quorate-blst has blst's names",
    "SecretKey": "quorate-blst has blst's names",
    "Signature": "quorate-blst has blst's names",
    "Sealed": "the private trait that keeps others from implementing a public one",
}
UNPUBLISHED = {"quorate-bench", "quorate-python", "node", "native"}

TYPE = re.compile(r"\bpub\s+(?:struct|enum|trait|type|union)\s+(\w+)")
TOKEN = re.compile(
    r"""//[^\n]*|/\*.*?\*/|\bb?r(?P<hashes>\#*)".*?"(?P=hashes)|"(?:\\.|[^"\\])*"|'(?:\\(?:u\{\w+\}|x\w\w|.)|[^'\\])'""",
    re.DOTALL,
)
TEST = re.compile(r"#\[cfg\((?:test|all\(test\b[^\]]*)\)\]\s*(?:#\[[^\]]*\]\s*)*")
MODULE = re.compile(r"\bmod\s+(\w+)\s*([;{])")
# A comment that gives submodules of a module their places.
PLACES = re.compile(r"^// mod (\w+)::\{([\w, ]+)\};$", re.MULTILINE)
DECLARED = re.compile(r"\bmod\s+(\w+(?:::\w+)?)\s*;")
USE = re.compile(r"\b(pub(?:\([^)]*\))?\s+)?use\s+([^;]+);")
PATH = re.compile(r"(?<![\w:$.])(?:\$crate|[A-Za-z_]\w*)(?:\s*::\s*[A-Za-z_]\w*)+")


def members():
    """The manifests of the workspace's crates."""
    yield from sorted([*ROOT.glob("crates/*/Cargo.toml"), *ROOT.glob("apps/*/Cargo.toml"), *ROOT.glob("bindings/**/Cargo.toml")])


def without_comments_and_strings(text):
    return TOKEN.sub(lambda match: " " if match[0].startswith("/") else '""', text)


def closing(code, opening):
    """The index of the bracket that closes the one at `opening`."""
    pairs, depth = {"{": 1, "}": -1, "(": 1, ")": -1, "[": 1, "]": -1}, 0
    for index in range(opening, len(code)):
        depth += pairs.get(code[index], 0)
        if depth == 0:
            return index
    return len(code) - 1


def without_tests(code):
    """The code without the items that stand under `#[cfg(test)]`, and the modules in files of their own among these."""
    modules = set()
    while match := TEST.search(code):
        end = match.end()
        while code[end] not in ";{":
            end = closing(code, end) + 1 if code[end] in "([" else end + 1
        if declared := MODULE.search(code[match.end() : end + 1]):
            modules |= {declared[1]} if declared[2] == ";" else set()
        if code[end] == "{":
            end = closing(code, end)
            # `use a::{b, c};` goes on behind the brace.
            end += len(re.match(r"\}\s*;?", code[end:])[0]) - 1
        code = code[: match.start()] + code[end + 1 :]
    return code, modules


def split_list(text):
    """The parts of a list with commas, those in inner braces left whole."""
    depth, start = 0, 0
    for index, letter in enumerate(text):
        depth += {"{": 1, "}": -1}.get(letter, 0)
        if letter == "," and depth == 0:
            yield text[start:index]
            start = index + 1
    yield text[start:]


def use_tree(text, prefix=()):
    """Each path of a `use`, and the name that it brings in: `a::{b as c, d::*}` is (a, b) as c, and (a, d, *) as *."""
    text = text.strip()
    if not text:
        return
    head, brace, rest = text.partition("{")
    if brace:
        path = (*prefix, *(part.strip() for part in head.split("::") if part.strip()))
        for part in split_list(rest[: closing("{" + rest, 0) - 1]):
            yield from use_tree(part, path)
        return
    path, _, alias = re.sub(r"\s+", " ", text).partition(" as ")
    path = (*prefix, *(part.strip() for part in path.split("::") if part.strip()))
    if len(path) > 1 and path[-1] == "self":
        path = path[:-1]
    yield path, alias.strip() or path[-1]


def declared(text):
    """The submodules of a file in the order in which it declares them, as parts of paths: `a`, and `a/b` by a comment."""
    lines = lambda match: "".join(f"mod {match[1]}::{name.strip()};" for name in match[2].split(","))
    code, _ = without_tests(without_comments_and_strings(PLACES.sub(lines, text)))
    return [name.replace("::", "/") for name in DECLARED.findall(code)]


class File:
    """A source file: its module and submodules, the names it brings in, and the paths that its code goes through."""

    def __init__(self, path, source):
        self.path = path
        self.name = path.relative_to(source).with_suffix("").as_posix().removesuffix("/mod")
        is_root = self.name in ("lib", "main")
        self.module = () if is_root else tuple(self.name.split("/"))
        text = path.read_text()
        code, self.test_modules = without_tests(without_comments_and_strings(text))
        self.modules = declared(text)
        # A visibility is not an import.
        code = re.sub(r"\bpub\s*\(\s*in\b[^)]*\)", "pub", code)
        self.uses, self.paths = {}, []
        self.read(code, self.module)

    def read(self, code, module):
        """Takes the uses and paths of a module, and those of the modules that stand in it."""
        while (match := MODULE.search(code)) is not None:
            if match[2] == "{":
                end = closing(code, match.end() - 1)
                self.read(code[match.end() : end], (*module, match[1]))
                code = code[: match.start()] + code[end + 1 :]
            else:
                code = code[: match.start()] + code[match.end() :]
        for match in USE.finditer(code):
            for path, name in use_tree(match[2]):
                self.paths.append((module, path))
                if module == self.module:
                    self.uses.setdefault(name, []).append(path)
        for match in PATH.finditer(USE.sub("", code)):
            self.paths.append((module, tuple(re.split(r"\s*::\s*", match[0].removeprefix("$")))))


class Crate:
    """The files of one target of a crate, and which imports which."""

    def __init__(self, source):
        files = [File(path, source) for path in sorted(source.rglob("*.rs"))]
        tests = {(*file.module, name) for file in files for name in file.test_modules}
        self.files = {}
        for file in files:
            if not any(file.module[:length] in tests for length in range(1, len(file.module) + 1)):
                # A library and a binary in one folder have two roots; the binary sees the library as another crate.
                self.files[("main",) if file.name == "main" else file.module] = file
        self.imports = {file.name: set() for file in self.files.values()}
        for file in self.files.values():
            for module, path in file.paths:
                for target in self.targets(file, module, path, frozenset()):
                    if target != file.name:
                        self.imports[file.name].add(target)

    def targets(self, file, module, path, seen):
        """The names of the files that a path in a module of a file leads to."""
        head, *rest = path
        if head == "crate":
            yield from self.item((), rest, seen)
        elif head == "self":
            yield from self.item(module, rest, seen)
        elif head == "super":
            further = () if rest[:1] == ["super"] else ("self",)
            yield from self.targets(file, module[:-1], (*further, *rest), seen)
        elif (*module, head) in self.files:
            yield from self.item((*module, head), rest, seen)
        else:
            yield from self.through_use(file, path, seen)

    def item(self, module, path, seen):
        """The file that defines what a path in a module names, by way of the modules that re-export it."""
        while path and (*module, path[0]) in self.files:
            module, path = (*module, path[0]), path[1:]
        while module and module not in self.files:
            # A module in the braces of a file.
            module = module[:-1]
        # The root of a binary has the name "main".
        file = self.files.get(module) or self.files[("main",)]
        if path and path[0] in file.uses:
            yield from self.through_use(file, path, seen)
        else:
            yield file.name

    def through_use(self, file, path, seen):
        """The files that a path leads to whose first name a `use` of the file brings in; once for each name."""
        if (file.name, path[0]) not in seen:
            for target in file.uses.get(path[0], []):
                yield from self.targets(file, file.module, (*target, *path[1:]), seen | {(file.name, path[0])})

    def circles(self):
        """Sets of files that import each other."""
        # Tarjan's strongly connected components.
        index, low, stack, found = {}, {}, [], []

        def visit(name):
            index[name] = low[name] = len(index)
            stack.append(name)
            for other in sorted(self.imports[name]):
                if other not in index:
                    visit(other)
                if other in stack:
                    low[name] = min(low[name], low[other])
            if low[name] == index[name]:
                circle = [stack.pop()]
                while circle[-1] != name:
                    circle.append(stack.pop())
                if len(circle) > 1:
                    found.append(sorted(circle))

        sys.setrecursionlimit(10_000)
        for name in sorted(self.imports):
            if name not in index:
                visit(name)
        return found

    def order(self):
        """The files as the `mod` lines order them."""
        files, placed = {file.name: file for file in self.files.values()}, []

        def place(name):
            if name in files and name not in placed:
                for each in files[name].modules:
                    place(f"{name}/{each}")
                placed.append(name)

        for root in ("lib", "main"):
            for name in files[root].modules if root in files else ():
                place(name)
        return placed

    def against(self, imported_by_submodules):
        """Imports that do not go up, and files that have no place."""
        order = {name: place for place, name in enumerate(self.order())}
        for name in sorted(self.imports):
            if name in ("lib", "main"):
                continue
            if name not in order:
                yield f"{name} is declared by no `mod` line"
                continue
            for other in sorted(self.imports[name]):
                if other in ("lib", "main"):
                    yield f"{name} imports {other}.rs, which stands below every module"
                elif name.startswith(f"{other}/") and other in imported_by_submodules:
                    continue
                elif order.get(other, -1) > order[name]:
                    yield f"{name} imports {other}, which the `mod` lines place below it"


def used_by(content):
    """The crates of the workspace that a manifest names, on every target, and under whatever name."""
    tables = [content, *content.get("target", {}).values()]
    for table in tables:
        for name, given in table.get("dependencies", {}).items():
            package = given.get("package", name) if isinstance(given, dict) else name
            if package.startswith("quorate"):
                yield package


def dependencies():
    for manifest in members():
        content = tomllib.loads(manifest.read_text())
        name = content["package"]["name"]
        if name not in CRATES:
            yield f"{name}: say in CRATES of scripts/check_imports.py which crates it may use"
            continue
        for crate in sorted(set(used_by(content)) - CRATES[name]):
            yield f"{name} depends on {crate}"


def files():
    for manifest in members():
        crate, source = manifest.parent.name, Crate(manifest.parent / "src")
        for circle in source.circles():
            yield f"{crate}: a circle of imports: {', '.join(circle)}"
        yield from (f"{crate}: {wrong}" for wrong in source.against(IMPORTED_BY_SUBMODULES.get(crate, set())))


def names():
    """Names of public types that stand in several crates."""
    found = {}
    for manifest in members():
        crate = manifest.parent.name
        if crate in UNPUBLISHED:
            continue
        for path in sorted((manifest.parent / "src").rglob("*.rs")):
            code, _ = without_tests(without_comments_and_strings(path.read_text()))
            for match in TYPE.finditer(code):
                found.setdefault(match[1], {}).setdefault(crate, path.relative_to(ROOT))
    for name, places in sorted(found.items()):
        if len(places) > 1 and name not in NAMES:
            yield f"{name} is a public type of {' and of '.join(map(str, places.values()))}; rename one, or give a reason in NAMES"
    for name in NAMES:
        if len(found.get(name, {})) < 2:
            yield f"{name} stands in NAMES, and is a public type of one crate at most"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--order", metavar="CRATE", help="print the files of a crate in an order that fits their imports")
    crate = parser.parse_args().order
    if crate:
        (manifest,) = (each for each in members() if each.parent.name == crate)
        source = Crate(manifest.parent / "src")
        try:
            print(*graphlib.TopologicalSorter(source.imports).static_order())
        except graphlib.CycleError as error:
            sys.exit(f"a circle of imports: {' <- '.join(error.args[1])}")
        return
    wrong = [*dependencies(), *files(), *names()]
    print(*wrong, sep="\n", end="\n" if wrong else "")
    print(f"imports: {len(wrong)} wrong")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
