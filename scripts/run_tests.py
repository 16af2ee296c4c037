#!/usr/bin/env python3
"""Runs the tests of the workspace, several test programs at once: `cargo test` runs one after another, and while the networks
of processes wait for each other, half of the cores have nothing to do.

    scripts/run_tests.py --workspace --locked --features ...

The arguments are those of `cargo test`, without a filter. Each test program gets the folder that Cargo would give it. What a
program prints is shown if one of its tests fails. Of passing tests only the lines are shown that begin with `skipped`, each
once: they say what was missing. At the end stands what failed. Exit code 1 if anything did.
"""

import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import time

CARGO = os.environ.get("CARGO", "cargo")
# The longest ones begin, so that none of them is left for the end.
LONG = [
    "apps/quorate-node network", "crates/quorate all", "apps/quorate-cli all", "crates/quorate-chain network", "crates/quorate-curve",
    "apps/quorate-chain chain", "crates/quorate-evm all", "apps/quorate-server server", "apps/quorate-node all", "apps/quorate-node",
    "crates/quorate-chain", "crates/quorate-lab", "crates/quorate-threshold",
]
# A test program uses all cores, but many of them wait: for a chain, for a clock, for a disk.
AT_ONCE = max(2, (os.cpu_count() or 1) // 4)
# A program without its data may skip hundreds of files.
SHOWN = 20


def build(arguments):
    """Builds all tests. Returns the name, the folder and the command of each test program."""
    command = [CARGO, "test", "--no-run", "--message-format", "json-render-diagnostics", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        messages = [json.loads(line) for line in process.stdout]
    if process.returncode != 0:
        sys.exit(process.returncode)
    programs = []
    for message in messages:
        if message["reason"] != "compiler-artifact" or not message["profile"]["test"] or not message["executable"]:
            continue
        folder = pathlib.Path(message["manifest_path"]).parent
        # Without the flag, what a passing test prints is lost.
        # The unit tests of a library are named by its folder.
        name, target = str(folder.relative_to(pathlib.Path.cwd())), message["target"]
        if "lib" not in target["kind"]:
            name += f" {target['name']}"
        programs.append((name, folder, [message["executable"], "--show-output"]))
    return programs


def run(name, folder, command):
    """Runs one test program. Returns its name, whether it passed, how many tests passed, its seconds and the CPU's, and its output."""
    start = time.monotonic()
    # Cargo itself must not have it: build scripts that look at it (that of `ring`) would run again, and with them whatever needs them.
    environment = os.environ if command[0] == CARGO else os.environ | {"CARGO_MANIFEST_DIR": str(folder)}
    with subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        output = process.stdout.read().decode(errors="replace")
        # That of the programs which it started and waited for is in it.
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    passed = sum(int(count) for count in re.findall(r"^test result: .*? (\d+) passed", output, re.MULTILINE))
    return name, process.returncode == 0, passed, time.monotonic() - start, usage.ru_utime + usage.ru_stime, output


def main():
    arguments = sys.argv[1:]
    jobs = build(arguments)
    names = [name for name, _, _ in jobs]
    jobs.append(("examples in the documentation", pathlib.Path.cwd(), [CARGO, "test", "--doc", *arguments]))
    rank = {name: place for place, name in enumerate(LONG)}
    jobs.sort(key=lambda job: rank.get(job[0], len(rank)))
    start = time.monotonic()
    total, skipped, failed = 0, 0, []
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        for done in concurrent.futures.as_completed([pool.submit(run, *job) for job in jobs]):
            name, ok, passed, seconds, of_cpu, output = done.result()
            total += passed
            print(f"{'ok    ' if ok else 'FAILED'} {seconds:7.1f} s, {of_cpu:6.1f} s of CPU {passed:5} passed  {name}", flush=True)
            lines = sorted(set(re.findall(r"^skipped.*", output, re.MULTILINE)))
            skipped += len(lines)
            for line in lines[:SHOWN]:
                print(f"       {line}", flush=True)
            if len(lines) > SHOWN:
                print(f"       and {len(lines) - SHOWN} more lines of what {name} skipped", flush=True)
            if not ok:
                failed.append(name)
                print(re.sub(r"\nsuccesses:\n.*?(?=\nfailures:\n|\ntest result: )", "", output, flags=re.DOTALL), flush=True)
    print(f"{total} tests of {len(names)} programs passed, and the examples, in {time.monotonic() - start:.0f} s")
    if skipped:
        print(f"lines above that say what was skipped: {skipped}")
    if failed:
        sys.exit("failed: " + ", ".join(sorted(failed)))


if __name__ == "__main__":
    main()
