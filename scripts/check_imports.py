#!/usr/bin/env python3
"""Imports run one way: between the crates, and between the modules of a crate where they stand in an order."""

import pathlib
import re
import sys
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent

# Which workspace crates a crate may depend on.
CRATES = {
    "quorate-curve": set(),
    "quorate": {"quorate-curve", "quorate-bn254"},
    "quorate-bn254": set(),
    "quorate-evm": {"quorate", "quorate-curve", "quorate-bn254"},
    "quorate-cli": {"quorate", "quorate-curve", "quorate-bn254", "quorate-evm"},
    "quorate-bench": {"quorate", "quorate-curve", "quorate-bn254", "quorate-evm", "quorate-cli"},
}

# A module imports only modules to its left.
MODULES = {
    "quorate": "suite key signature possession aggregate claim known verdict naive keyset plan execute culprit verify",
    "quorate-bn254": "keccak encoding signature key verify dual_key hash_to_curve suite",
    "quorate-evm": "key_group member_set bls12381 digest hint state gas base refresh quorum contract network",
}


def crates():
    for manifest in sorted(ROOT.glob("crates/*/Cargo.toml")):
        content = tomllib.loads(manifest.read_text())
        name = content["package"]["name"]
        if name not in CRATES:
            yield f"{name}: say in {pathlib.Path(__file__).name} which crates it may use"
            continue
        used = {d for d in content.get("dependencies", {}) if d.startswith("quorate")}
        for crate in sorted(used - CRATES[name]):
            yield f"{name} depends on {crate}"


def imported(text):
    """The first path segment of every `crate::…`, nested imports included."""
    code = re.sub(r"//[^\n]*", "", text.split("#[cfg(test)]")[0])
    for match in re.finditer(r"\bcrate::(\{|\w+)", code):
        if match[1] != "{":
            yield match[1]
            continue
        depth, start = 0, match.end()
        for end in range(match.start(1), len(code)):
            depth += {"{": 1, "}": -1}.get(code[end], 0)
            if depth == 0:
                break
        group = code[start:end]
        while "{" in group:
            group = re.sub(r"\{[^{}]*\}", "", group)
        yield from re.findall(r"(?:^|,)\s*(\w+)", group)


def modules():
    for crate, order in MODULES.items():
        order = order.split()
        source = ROOT / "crates" / crate / "src"
        for file in sorted(source.rglob("*.rs")):
            module = file.relative_to(source).parts[0].removesuffix(".rs")
            if module == "lib":
                continue
            if module not in order:
                yield f"{crate}: {module}: say in {pathlib.Path(__file__).name} where it stands"
                continue
            for other in sorted(set(imported(file.read_text()))):
                if other != module and (other not in order or order.index(other) > order.index(module)):
                    yield f"crates/{crate}/src: {module} imports {other}, which stands to its right"


wrong = [*crates(), *modules()]
print(*wrong, sep="\n", end="\n" if wrong else "")
print(f"imports: {len(wrong)} wrong")
sys.exit(bool(wrong))
