"""Measures the Python package beside the command line and beside other backends, in the rows of quorate-bench.

    target/python/bin/python crates/quorate-python/benchmarks/measure.py --json rows.json
    target/python/bin/python crates/quorate-python/benchmarks/measure.py --record

Install a wheel that was built with `--profile dist`, and build the command line so: `make python-bench` does both. The engines
of a benchmark run in turn (A B A B …), after one round that is not counted, and every answer is asserted.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from typing import Any

import eth_consensus_specs.utils.bls as spec
import polars as pl
import pyarrow.parquet as pq
from py_ecc.bls.ciphersuites import G2ProofOfPossession

import quorate
import quorate.history
import quorate.py_ecc.bls
from quorate import eth_consensus_specs

ROOT = pathlib.Path(__file__).resolve().parents[3]
PROGRAM = pathlib.Path(os.environ.get("QUORATE", ROOT / "target" / "dist" / "quorate"))
ENGINE = f"quorate/{quorate.backends()[0]}"

Row = dict[str, Any]


def measured(
    bench: str,
    engines: dict[str, Callable[[], float | None]],
    n: int,
    rounds: int,
    threads: int,
    per: str,
    note: str = "",
) -> list[Row]:
    """A row for each engine. An engine does the work once, asserts the answer, and may say itself how many seconds it took."""
    took: dict[str, list[float]] = {engine: [] for engine in engines}
    for counted in [False] + [True] * rounds:
        for engine, work in engines.items():
            begun = time.perf_counter()
            said = work()
            seconds = time.perf_counter() - begun if said is None else said
            if counted:
                took[engine].append(seconds * 1e6 / (n if per == "claim" else 1))
    rows = []
    for engine, us in took.items():
        times = {"min": min(us), "median": statistics.median(us), "max": max(us)}
        row: Row = {"bench": bench, "engine": engine, "threads": threads, "n": n, "per": per, "us": times}
        rows.append({**row, "note": note} if note else row)
        print(f"{bench:<34} {engine:<22} {n:>7} {times['median']:>12.1f} µs/{per}  {note}")
    return rows


def tables(quick: bool) -> list[Row]:
    """Claims of one signature each, all with their own message, by 512 keys: from tables, beside the command line's reading of
    the same Parquet file."""
    n, threads, rounds = (2_048, 2, 1) if quick else (32_768, 2, 5)
    secrets = [quorate.SecretKey.key_gen("eth2", index.to_bytes(32, "big")) for index in range(1, 513)]
    keys = [bytes(secret.public_key()) for secret in secrets]
    messages = [index.to_bytes(32, "big") for index in range(n)]
    columns = {
        "public_key": [keys[index % 512] for index in range(n)],
        "message": messages,
        "signature": [bytes(secrets[index % 512].sign(message)) for index, message in enumerate(messages)],
    }
    frame = pl.DataFrame(columns)
    claims = frame.to_arrow()
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "claims.parquet"
        pq.write_table(claims, path)

        def command_line() -> float:
            options = ["--quiet", "--json", "--suite", "eth2", "--threads", str(threads)]
            output = subprocess.run([PROGRAM, "verify", *options, path], capture_output=True, check=True).stdout
            summary = json.loads(output)
            assert summary["valid"] == n
            seconds: float = summary["seconds"]
            return seconds

        def verified(table: Any) -> Callable[[], None]:
            def work() -> None:
                assert quorate.verify(table(), suite="eth2", threads=threads).all_valid

            return work

        engines: dict[str, Callable[[], float | None]] = {
            "command line": command_line,
            f"{ENGINE}, pyarrow": verified(lambda: claims),
            f"{ENGINE}, polars": verified(lambda: frame),
            f"{ENGINE}, Parquet": verified(lambda: pq.ParquetFile(path).iter_batches()),
        }
        return measured("python/table", engines, n, rounds, threads, "claim", "from bytes, 512 keys")


def one_by_one(quick: bool) -> list[Row]:
    """The functions of py_ecc and of the executable specification, by each backend."""
    rounds, members = (1, 8) if quick else (3, 128)
    ours, theirs = quorate.py_ecc.bls.G2ProofOfPossession, G2ProofOfPossession
    secrets = list(range(1, members + 1))
    keys = [ours.SkToPk(secret) for secret in secrets]
    messages = [secret.to_bytes(32, "big") for secret in secrets]
    shared = ours.Aggregate([ours.Sign(secret, messages[0]) for secret in secrets])
    each = [ours.Sign(secret, message) for secret, message in zip(secrets, messages, strict=True)]
    several = min(members, 8)
    whole = ours.Aggregate(each[:several])
    calls: dict[str, tuple[int, tuple[Any, ...], Any]] = {
        "SkToPk": (1, (7,), ours.SkToPk(7)),
        "Sign": (1, (7, messages[0]), ours.Sign(7, messages[0])),
        "Verify": (1, (keys[0], messages[0], each[0]), True),
        "Aggregate": (members, (each,), ours.Aggregate(each)),
        "AggregateVerify": (several, (keys[:several], messages[:several], whole), True),
        "FastAggregateVerify": (members, (keys, messages[0], shared), True),
    }
    rows = []
    for name, (n, arguments, expected) in calls.items():

        def work(
            function: Callable[..., Any], arguments: Any = arguments, expected: Any = expected
        ) -> Callable[[], None]:
            def call() -> None:
                assert function(*arguments) == expected

            return call

        eth_consensus_specs.uninstall()
        arkworks = getattr(spec, name)
        eth_consensus_specs.install()
        engines: dict[str, Callable[[], float | None]] = {
            "py_ecc": work(getattr(theirs, name)),
            "arkworks": work(arkworks),
            ENGINE: work(getattr(spec, name)),
        }
        rows += measured(f"python/spec/{name}", engines, n, rounds, 1, "call")
    eth_consensus_specs.uninstall()
    return rows


def shards(quick: bool) -> list[Row]:
    """Runs over shards by Ray's actors, beside processes of the command line. Each worker has one thread, a file of its own and
    the same work. Ray is running before, so its start is not counted."""
    import ray

    import quorate.ray

    n, rounds = (256, 1) if quick else (4_096, 3)
    secret = quorate.SecretKey.key_gen("eth2", bytes(32))
    key, messages = bytes(secret.public_key()), [index.to_bytes(32, "big") for index in range(n)]
    signatures = [bytes(secret.sign(message)) for message in messages]
    cores = os.cpu_count() or 1
    ray.init(num_cpus=8, include_dashboard=False, log_to_driver=False, configure_logging=False)
    rows = []
    for workers in [1, 2] if quick else [1, 2, 4, 8]:
        with tempfile.TemporaryDirectory() as folder:
            run = pathlib.Path(folder, "run")
            for worker in range(workers):
                ids = [f"{worker}.{index}" for index in range(n)]
                columns = {"id": ids, "public_key": [key] * n, "message": messages, "signature": signatures}
                pl.DataFrame(columns).write_parquet(pathlib.Path(folder, f"{worker}.parquet"))
            inputs = sorted(pathlib.Path(folder).glob("*.parquet"))
            assert quorate.history.plan(inputs, run, suite="eth2") == workers

            def again(work: Callable[[], None], run: pathlib.Path = run, workers: int = workers) -> Callable[[], float]:
                def call() -> float:
                    shutil.rmtree(run / "results", ignore_errors=True)
                    begun = time.perf_counter()
                    work()
                    seconds = time.perf_counter() - begun
                    assert quorate.history.merge(run)["valid"] == workers * n
                    return seconds

                return call

            def processes(run: pathlib.Path = run, workers: int = workers) -> None:
                command: list[str | pathlib.Path] = [
                    PROGRAM,
                    "history",
                    "run",
                    "--quiet",
                    "--threads",
                    "1",
                    run,
                    "--shard",
                ]
                started = [subprocess.Popen([*command, str(shard)]) for shard in range(workers)]
                assert [process.wait() for process in started] == [0] * workers

            def actors(run: pathlib.Path = run, workers: int = workers) -> None:
                quorate.ray.run(run, workers=workers)

            note = f"{n} claims a worker" + (f"; more workers than the {cores} cores" if workers > cores else "")
            engines: dict[str, Callable[[], float | None]] = {"processes": again(processes), "ray": again(actors)}
            rows += measured("python/shards", engines, workers * n, rounds, workers, "claim", note)
    ray.shutdown()
    return rows


def machine() -> tuple[str, dict[str, Any]]:
    """The machine's name in folders of records, and the machine as quorate-bench describes it."""
    newest = max(ROOT.glob("benchmarks/*/machine.json"), key=lambda path: json.loads(path.read_text())["date"])
    described: dict[str, Any] = json.loads(newest.read_text())
    lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    model = next(line for line in lines if line.startswith("model name"))
    if described["cpu"] not in model:
        raise SystemExit(f"the newest record is of another machine ({described['cpu']}): record there, or use --json")
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    name = newest.parent.name.lstrip("0123456789-")
    return name, {**described, "date": f"{datetime.datetime.now():%Y-%m-%d %H:%M}", "commit": commit.stdout.strip()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="write the rows to a file")
    parser.add_argument(
        "--record", action="store_true", help="write the rows and the machine into a folder of benchmarks/"
    )
    parser.add_argument("--quick", action="store_true", help="little work, to see that it runs; not recorded")
    arguments = parser.parse_args()
    if arguments.quick and arguments.record:
        parser.error("a quick run is never recorded")
    recorded = machine() if arguments.record else None
    rows = [*tables(arguments.quick), *one_by_one(arguments.quick), *shards(arguments.quick)]
    text = json.dumps(rows, indent=2) + "\n"
    if arguments.json:
        arguments.json.write_text(text)
    if recorded:
        name, described = recorded
        folder = ROOT / "benchmarks" / f"{datetime.datetime.now():%Y-%m-%d-%H%M}-{name}"
        folder.mkdir()
        (folder / "python.json").write_text(text)
        (folder / "machine.json").write_text(json.dumps(described, indent=2) + "\n")
        print(f"wrote {folder.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
