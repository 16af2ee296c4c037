#!/usr/bin/env python3
"""Instructions of each kernel of the lanes, as a Markdown table, from `objdump -d` of a release binary."""

import argparse
import re
import subprocess
import sys

# What products and reductions become, and what every verb is made of. Names are paths below `backend::ifma`.
KERNELS = [
    "fp::multiply",
    "fp::square",
    "fp2::multiply",
    "fp2::square",
    "wide::product",
    "wide::square",
    "wide::lift_and_reduce",
    "power::multiply",
    "power::square",
    "fp12::times_line",
    "fp12::times_binomial",
    "fp12::product6",
    "fp12::times",
    "fp12::squared",
    "fp12::cyclotomic_squared",
    "fp12::square4",
    "spread::times",
    "spread::cyclotomic_squared",
    "curve::double",
    "curve::add_affine",
    "curve::add",
]

BACKEND = "quorate_curve::backend::ifma::"
FUNCTION = re.compile(r"^([0-9a-f]+) <(.*)>:$")
INSTRUCTION = re.compile(r"^\s*([0-9a-f]+):\s+(\S+)\s*(.*)$")
PADDING = ("nop", "nopw", "nopl", "int3", "xchg", "data16", "cs")
MOVE = re.compile(r"^v?mov(dq[au]|[au]p|nt)")


class Count:
    """Bytes of a function, its instructions, and those of IFMA, of other vector arithmetic, and that load or store vectors.

    Arithmetic with an operand in memory counts as arithmetic.
    """

    def __init__(self):
        self.bytes = self.all = self.ifma = self.vector = self.moves = 0

    def take(self, mnemonic, operands):
        self.all += 1
        if mnemonic.startswith("vpmadd52"):
            self.ifma += 1
        elif MOVE.match(mnemonic):
            self.moves += "(" in operands
        elif mnemonic.startswith("v") and mnemonic != "vzeroupper":
            self.vector += 1

    def __iadd__(self, other):
        for name, value in vars(other).items():
            setattr(self, name, getattr(self, name) + value)
        return self


def functions(binary):
    """The path of each function of the backend below it, and its count; a path can occur more than once."""
    command = ["objdump", "-d", "--no-show-raw-insn", "--demangle", binary]
    listing = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    path = count = start = end = None
    for line in listing.splitlines() + ["0 <the end>:"]:
        if name := FUNCTION.match(line):
            if count and count.all:
                # Where nothing pads it, a function ends where the next one begins.
                count.bytes = (end or int(name[1], 16)) - start
                yield path, count
            # Instances of a generic function have one name, with a hash or types behind it.
            path = re.sub(r"::(h[0-9a-f]{16}|<.*>)$", "", name[2])
            # What `in_lanes!` compiles with the lanes' instructions.
            path = path.removesuffix("::compiled")
            is_ours = path.startswith((BACKEND, "<" + BACKEND))
            path, count, start, end = path.replace(BACKEND, ""), Count() if is_ours else None, None, None
        elif count is not None and (instruction := INSTRUCTION.match(line)):
            address, mnemonic, operands = int(instruction[1], 16), instruction[2], instruction[3]
            start = address if start is None else start
            if mnemonic in PADDING:
                end = end or address
            else:
                end = None
                count.take(mnemonic, operands)


def row(name, count):
    print(f"| {name} | {count.bytes:,} | {count.all:,} | {count.ifma:,} | {count.vector:,} | {count.moves:,} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("binary", nargs="?", default="target/release/quorate-bench")
    parser.add_argument("--all", action="store_true", help="every function of the backend, the largest first")
    arguments = parser.parse_args()
    found, total = [], Count()
    for path, count in functions(arguments.binary):
        found.append((path, count))
        total += count
    if not found:
        sys.exit(f"{arguments.binary} has no function of {BACKEND} (is it stripped?)")
    print("| kernel | bytes | instructions | IFMA | other vector arithmetic | vector loads and stores |")
    print("|---|--:|--:|--:|--:|--:|")
    if arguments.all:
        for path, count in sorted(found, key=lambda each: -each[1].bytes):
            row(f"`{path}`", count)
    else:
        for name in KERNELS:
            # Of a generic function, each instance, the one of Fp first; copies of one are counted in the total alone.
            instances = {tuple(vars(count).values()): count for path, count in found if path == name}
            for key in sorted(instances):
                row(f"`{name}`", instances[key])
    row("the whole backend", total)


if __name__ == "__main__":
    main()
