#!/usr/bin/env python3
"""Instructions of each kernel of the lanes, as a Markdown table, from `objdump -d` of a release binary.

A multiplication is one of IFMA, or a multiplication and an addition of doubles.
"""

import argparse
import re
import subprocess
import sys

# What products and reductions become, and what every verb is made of. Names are paths below `backend`.
KERNELS = [
    "ifma::fp::multiply",
    "ifma::fp::square",
    "ifma::fp::multiply52",
    "ifma::fp::square52",
    "ifma::fp::multiply2",
    "ifma::fp::square2",
    "ifma::fp::wide_product",
    "ifma::fp::wide_square",
    "ifma::fp::lift_and_reduce",
    "fma::fp::multiply",
    "fma::fp::square",
    "fma::fp::multiply2",
    "fma::fp::square2",
    "lanes::fp12::times_line",
    "lanes::fp12::times_binomial",
    "lanes::fp12::product6",
    "lanes::fp12::times",
    "lanes::fp12::squared",
    "lanes::fp12::cyclotomic_squared",
    "lanes::fp12::square4",
    "lanes::spread::times",
    "lanes::spread::cyclotomic_squared",
    "lanes::curve::double",
    "lanes::curve::add_affine",
    "lanes::curve::add",
]

BACKEND = "quorate_curve::backend::"
# The functions that `in_lanes!` compiles, and the backends whose instructions they use.
LANES = {"avx512_ifma": "ifma", "avx512": "fma-avx512", "avx2_fma": "fma-avx2"}
FUNCTION = re.compile(r"^([0-9a-f]+) <(.*)>:$")
INSTRUCTION = re.compile(r"^\s*([0-9a-f]+):\s+(\S+)\s*(.*)$")
PADDING = ("nop", "nopw", "nopl", "int3", "xchg", "data16", "cs")
MOVE = re.compile(r"^v?mov(dq[au]|[au]p|nt)")


class Count:
    """Bytes of a function, its instructions, and those that multiply and add, of other vector arithmetic, and that load or
    store vectors.

    Arithmetic with an operand in memory counts as arithmetic.
    """

    def __init__(self):
        self.bytes = self.all = self.products = self.vector = self.moves = 0

    def take(self, mnemonic, operands):
        self.all += 1
        if mnemonic.startswith(("vpmadd52", "vfmadd", "vfnmadd", "vfmsub")):
            self.products += 1
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
            path, _, compiled = path.rpartition("::")
            is_ours = path.startswith((BACKEND, "<" + BACKEND)) and compiled in LANES
            path = f"`{path.replace(BACKEND, '')}` | {LANES.get(compiled)}"
            count, start, end = Count() if is_ours else None, None, None
        elif count is not None and (instruction := INSTRUCTION.match(line)):
            address, mnemonic, operands = int(instruction[1], 16), instruction[2], instruction[3]
            start = address if start is None else start
            if mnemonic in PADDING:
                end = end or address
            else:
                end = None
                count.take(mnemonic, operands)


def row(name, count):
    print(f"| {name} | {count.bytes:,} | {count.all:,} | {count.products:,} | {count.vector:,} | {count.moves:,} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("binary", nargs="?", default="target/dist/quorate-bench")
    parser.add_argument("--all", action="store_true", help="every function of the backend, the largest first")
    arguments = parser.parse_args()
    found, totals = [], {lanes: Count() for lanes in LANES.values()}
    for path, count in functions(arguments.binary):
        found.append((path, count))
        totals[path.rpartition("| ")[2]] += count
    if not found:
        sys.exit(f"{arguments.binary} has no function of {BACKEND} (is it stripped?)")
    print("| kernel | lanes | bytes | instructions | multiplications | other vector arithmetic | vector loads and stores |")
    print("|---|---|--:|--:|--:|--:|--:|")
    if arguments.all:
        for path, count in sorted(found, key=lambda each: -each[1].bytes):
            row(path, count)
    else:
        for name in KERNELS:
            for lanes in LANES.values():
                # Of a generic function, each instance, the one of Fp first; copies of one are counted in the total alone.
                path = f"`{name}` | {lanes}"
                instances = {tuple(vars(count).values()): count for each, count in found if each == path}
                for key in sorted(instances):
                    row(path, instances[key])
    for lanes, total in totals.items():
        row(f"everything that they alone run | {lanes}", total)


if __name__ == "__main__":
    main()
