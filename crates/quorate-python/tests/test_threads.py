"""The GIL, signals, windows and memory."""

from __future__ import annotations

import os
import pathlib
import resource
import signal
import subprocess
import sys
import textwrap
import threading
import time

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import quorate

from conftest import signed, table


def test_another_thread_runs_meanwhile() -> None:
    # One window, so that only the waiting for it can let another thread run.
    claims = pa.concat_tables([table(signed(250))] * 4).combine_chunks()

    def stands_still() -> tuple[float, float]:
        """The longest time for which the other thread stood still, and that of the call."""
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
        return longest, took

    # A busy machine stops a thread now and then. One that waits for the lock of Python stands still each time.
    rounds: list[tuple[float, float]] = []
    for _ in range(20):
        rounds.append(stands_still())
        longest, took = rounds[-1]
        if longest < took / 3:
            return
    pytest.fail(f"the other thread stood still for so many seconds of each call: {rounds}")


def test_ctrl_c_raises_keyboard_interrupt() -> None:
    program = """
        import pyarrow as pa, quorate, sys, time
        from conftest import signed, table
        # One batch, so that no call of the table's library looks for signals.
        claims = pa.concat_tables([table(signed(64))] * 4000).combine_chunks()
        try:
            print("begin", flush=True)
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
    rest, _ = process.communicate(timeout=300)
    assert rest == "interrupted\n"
    assert process.returncode == 7
    assert time.perf_counter() - begun < 60


def test_nothing_is_remembered_after_ctrl_c() -> None:
    program = """
        import os, signal, threading, time, quorate
        from conftest import rows, signed

        def tasks():
            return len(os.listdir("/proc/self/task"))

        def interrupt():
            # The window's own thread is there.
            while tasks() == idle + 1:
                time.sleep(0.001)
            os.kill(os.getpid(), signal.SIGINT)

        claims, known = rows(signed(64)) * 1000, quorate.Known()
        idle = tasks()
        threading.Thread(target=interrupt).start()
        try:
            quorate.verify(claims, threads=1, known=known, remember=True)
        except KeyboardInterrupt:
            known.clear()
        else:
            raise AssertionError("it verified everything")
        while tasks() > idle:
            time.sleep(0.001)
        assert len(known) == 0, known
    """
    ended = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        cwd=pathlib.Path(__file__).parent,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr


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
    """A million verdicts: of each a byte, the id and that it is not valid, and no Python object."""
    claims = pa.table(
        {
            "id": pa.array(range(1_000_000)),
            "suite": pa.DictionaryArray.from_arrays(pa.array([0] * 1_000_000, pa.int8()), ["eth2"]),
            "public_key": pa.array([b""] * 1_000_000),
            "message": pa.array([b""] * 1_000_000),
            "signature": pa.array([b""] * 1_000_000),
        }
    )
    quorate.verify(claims.slice(0, 4096))
    before = peak()
    verdicts = quorate.verify(claims)
    assert peak() - before < 128 << 20
    assert len(verdicts) == 1_000_000
    assert verdicts[999_999].id == 999_999
    assert verdicts.summary["invalid"] == 1_000_000


def repeated(path: pathlib.Path, rows: int, **texts: str) -> pathlib.Path:
    """A small file of claims that all have the same long texts, each with a signature of its own."""
    columns = {name: pa.array([b""] * rows) for name in ("public_key", "message")}
    columns["signature"] = pa.array([row.to_bytes(4, "big") for row in range(rows)])
    columns["suite"] = pa.array(["eth2"] * rows)
    columns["slot"], columns["index"] = pa.array([7] * rows), pa.array(["0"] * rows)
    for name, text in texts.items():
        columns[name] = pa.DictionaryArray.from_arrays(pa.array([0] * rows, pa.int32()), [text])
    pq.write_table(pa.table(columns), path)
    assert path.stat().st_size < 1 << 20
    return path


def test_equal_texts_are_kept_once(tmp_path: pathlib.Path) -> None:
    """Ids and reasons of 32 KiB, which would take 1.3 GiB as copies."""
    long = "x" * (32 << 10)
    for texts in [{"id": long}, {"kind": "exit", "reason": long}, {"kind": long}]:
        path = repeated(tmp_path / "claims.parquet", 20_000, **texts)
        before = peak()
        verdicts = quorate.verify(path)
        assert peak() - before < 200 << 20
        assert verdicts.summary["invalid"] == 20_000
        last = verdicts[19_999]
        assert last.id == texts.get("id")
        assert last.kind == texts.get("kind")
        assert ("reason" in texts) == (last.reason == f"chain: {long}")


def test_a_table_of_long_texts_has_several_batches(tmp_path: pathlib.Path) -> None:
    """A column of text has offsets of 32 bits, so that one for all rows could be too long."""
    long = "x" * (32 << 10)
    verdicts = quorate.verify(repeated(tmp_path / "claims.parquet", 3_000, kind="exit", reason=long))
    batches = verdicts.to_arrow().to_batches()
    assert [len(batch) for batch in batches] == [2047, 953]
    found = pa.Table.from_batches(batches)
    assert found["index"].to_pylist() == list(range(3_000))
    assert set(found["reason"].to_pylist()) == {f"chain: {long}"}
    named = quorate.verify(repeated(tmp_path / "named.parquet", 3_000, id=long)).to_arrow()
    assert named["id"].num_chunks == 2
    assert set(named["id"].to_pylist()) == {long}


def test_too_long_texts_are_an_error(tmp_path: pathlib.Path) -> None:
    long = "x" * (32 << 10)
    path = repeated(tmp_path / "claims.parquet", 33_000, id=long)
    expected = r"^the ids, reasons and sources of the first 32\d{3} claims take more than 1024 MiB; verify the claims in parts$"
    with pytest.raises(quorate.TableError, match=expected):
        quorate.verify(path)
    # In memory a table can be as long as it is, but not what it says about its rows.
    with pytest.raises(quorate.TableError, match=expected):
        quorate.verify(pq.read_table(repeated(path, 33_000, kind="exit", reason=long), read_dictionary=["reason"]))
    assert len(quorate.verify(pq.read_table(repeated(path, 33_000, id=long), read_dictionary=["id"]))) == 33_000


def test_a_system_that_gives_no_thread_is_an_error_of_the_system(tmp_path: pathlib.Path) -> None:
    program = """
        import sys, quorate, quorate.history
        from conftest import signed, table
        for call in (lambda: quorate.verify(table(signed(1))), lambda: quorate.history.status(sys.argv[1])):
            try:
                call()
            except OSError as error:
                assert "cannot start a thread" in str(error), error
            else:
                raise AssertionError("there was a thread")
    """
    output = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program), str(tmp_path)],
        # No address space holds such a stack.
        env={**os.environ, "RUST_MIN_STACK": str(2**60)},
        cwd=pathlib.Path(__file__).parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert output.returncode == 0, output.stderr
