#!/usr/bin/env python3
"""Cycles of the kernels of `fma-neon`, as LLVM's models of aarch64 CPUs predict them, beside what they may take.

The argument is the assembly of quorate-curve for aarch64: `make neon-cycles` makes it. A kernel runs once for each register of a
vector, two elements at a time, and the models take that part of it as a loop that reads and writes in the first-level cache. They
predict no branches, no misses and no stalls in front of the units, so their cycles are a bound from below.
"""

import pathlib
import re
import subprocess
import sys

# The kernels of BLS12-381 (fma/fp.rs), and the cycles an element that they may take on each CPU: a twentieth more than they took
# when this was written.
CPUS = ["neoverse-v1", "neoverse-v2", "neoverse-n2", "apple-m1"]
BUDGET = {
    "multiply": [117, 117, 207, 241],
    "square": [96, 95, 170, 202],
    "multiply2": [296, 294, 579, 624],
    "square2": [229, 227, 448, 485],
}
ELEMENTS = 2
ROUNDS = 50


def kernels(assembly):
    """The instructions of each kernel, without the branch that repeats them, calls and what the assembler reads."""
    name = re.compile(r"^_RINv\S*3fma2fp\d+([a-z_]+\d?)8baseline\S*4neon8FourTwos\S*8Bls12381Kj8_\S*:$")
    found, current = {}, None
    for line in assembly.splitlines():
        if match := name.match(line):
            current = found.setdefault(match[1], [])
        elif line.startswith(".Lfunc_end"):
            current = None
        elif current is not None and not re.match(r"\s*(\.|//|b\.|bl\s|b\s|ret|cb|tb)", line):
            current.append(line)
    return found


def cycles(instructions, cpu, mca):
    command = [mca, "-mtriple=aarch64", f"-mcpu={cpu}", f"-iterations={ROUNDS}"]
    ran = subprocess.run(command, input="\n".join(instructions), capture_output=True, text=True)
    if ran.returncode:
        sys.exit(f"{' '.join(command)}: {ran.stderr.strip()}\nLLVM 19 knows all of these CPUs")
    return int(re.search(r"Total Cycles:\s+(\d+)", ran.stdout)[1]) / ROUNDS / ELEMENTS


def main():
    path, mca = pathlib.Path(sys.argv[1]), sys.argv[2]
    found = kernels(path.read_text())
    print(f"| cycles an element | {' | '.join(CPUS)} |\n|---|{'--:|' * len(CPUS)}")
    over = []
    for kernel, budget in BUDGET.items():
        if kernel not in found:
            sys.exit(f"{path}: there is no kernel {kernel}")
        row = [cycles(found[kernel], cpu, mca) for cpu in CPUS]
        print(f"| `{kernel}` | {' | '.join(f'{n:.0f}' for n in row)} |")
        over += [f"{kernel} on {cpu}: {n:.0f}, may take {most}" for cpu, n, most in zip(CPUS, row, budget) if n > most]
    if over:
        sys.exit("too many cycles:\n" + "\n".join(over))


if __name__ == "__main__":
    main()
