"""The GIL, signals, windows and memory."""

from __future__ import annotations

import pathlib
import resource
import signal
import subprocess
import sys
import textwrap
import threading
import time

import pyarrow as pa

import quorate

from conftest import signed, table


def test_another_thread_runs_meanwhile() -> None:
    # One window, so that only the waiting for it can let another thread run.
    claims = pa.concat_tables([table(signed(250))] * 4).combine_chunks()
    longest, stop = 0.0, threading.Event()

    def watch() -> None:
        nonlocal longest
        before = time.perf_counter()
        while not stop.is_set():
            time.sleep(0.001)
            now = time.perf_counter()
            longest, before = max(longest, now - before), now

    watcher = threading.Thread(target=watch)
    watcher.start()
    begun = time.perf_counter()
    verdicts = quorate.verify(claims, threads=1)
    took = time.perf_counter() - begun
    stop.set()
    watcher.join()
    assert verdicts.all_valid
    assert longest < took / 3, f"the other thread stood still for {longest:.3f} s of {took:.3f} s"


def test_ctrl_c_raises_keyboard_interrupt() -> None:
    program = """
        import pyarrow as pa, quorate, sys, time
        from conftest import signed, table
        # One batch, so that no call of the table's library looks for signals.
        claims = pa.concat_tables([table(signed(64))] * 4000).combine_chunks()
        print("begin", flush=True)
        try:
            quorate.verify(claims, threads=1)
        except KeyboardInterrupt:
            print("interrupted", flush=True)
            sys.exit(7)
        print("verified everything")
    """
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(program)],
        cwd=pathlib.Path(__file__).parent,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "begin\n"
    time.sleep(0.5)
    begun = time.perf_counter()
    process.send_signal(signal.SIGINT)
    rest, _ = process.communicate(timeout=60)
    assert rest == "interrupted\n"
    assert process.returncode == 7
    assert time.perf_counter() - begun < 2


def test_several_threads_of_python_verify_at_once() -> None:
    found: list[list[int]] = []

    def work(false: int) -> None:
        claims = table(signed(40, false=[false]))
        found.append([verdict.index for verdict in quorate.verify(claims, threads=2).invalid])

    threads = [threading.Thread(target=work, args=(false,)) for false in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == [[0], [1], [2], [3]]


def test_windows_have_their_own_batches_and_the_same_verdicts() -> None:
    part = table(signed(100, false=[99]))
    claims = pa.concat_tables([part] * 25)
    assert len(claims) > 2 * 1024
    verdicts = quorate.verify(claims, threads=1, explain=True)
    assert [verdict.index for verdict in verdicts.invalid] == [100 * i + 99 for i in range(25)]
    assert verdicts.plan is not None and verdicts.plan.count("plan for 1,024 claims") == 2
    assert verdicts.plan == quorate.plan(claims, threads=1).explain()
    assert [verdict.id for verdict in verdicts.invalid] == ["claim 99"] * 25


def test_a_table_is_not_copied() -> None:
    """Messages of 1 MiB each: the table takes 256 MiB, and verifying it a few windows of 16 MiB."""
    columns = signed(4)
    message = bytes(1 << 20)
    secret = quorate.SecretKey.key_gen("eth2", bytes(32))
    columns = {
        "suite": ["eth2"],
        "public_key": [bytes(secret.public_key())],
        "message": [message],
        "signature": [bytes(secret.sign(message))],
    }
    claims = pa.concat_tables([table(columns)] * 256).combine_chunks()
    assert claims.nbytes > 256 << 20
    quorate.verify(claims.slice(0, 16), threads=1)
    before = peak()
    allocated = pa.total_allocated_bytes()
    assert quorate.verify(claims, threads=1).all_valid
    assert pa.total_allocated_bytes() == allocated, "nothing was copied by pyarrow"
    assert peak() - before < 96 << 20


def peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def test_verdicts_take_little_memory() -> None:
    """A million verdicts: a byte and the id of each, and no Python object."""
    claims = pa.table(
        {
            "id": pa.array(range(1_000_000)),
            "suite": pa.DictionaryArray.from_arrays(pa.array([0] * 1_000_000, pa.int8()), ["eth2"]),
            "public_key": pa.array([b""] * 1_000_000),
            "message": pa.array([b""] * 1_000_000),
            "signature": pa.array([b""] * 1_000_000),
        }
    )
    verdicts = quorate.verify(claims)
    assert len(verdicts) == 1_000_000
    assert verdicts[999_999].id == 999_999
    assert verdicts.summary["invalid"] == 1_000_000
