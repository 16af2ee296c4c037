"""Shards verified by Ray: actors on as many machines as the cluster has.

Ray only says which actor runs which shard. What is verified and what is counted stands in the folder of the run
(``quorate.history``), so an actor that dies, a driver that dies or a task that runs twice changes nothing in the result. All
machines must see the folder and the files under the same names.

Ray is not installed with quorate: ``pip install "ray[data]"``.
"""

from __future__ import annotations

import operator
import os
import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import ray

from quorate import _quorate, history
from quorate._errors import UsageError
from quorate.history import PathLike, Report

__all__ = ["run", "verify"]


class _Worker:
    """Runs shards one after the other. It keeps the keys that it decoded, as long as it lives."""

    def __init__(self, folder: str, threads: int) -> None:
        self._runner = history.Runner(folder, threads=threads)

    def run(self, shard: int) -> int:
        self._runner.run(shard)
        return shard


def run(folder: PathLike, *, workers: int | None = None, threads: int = 1, retries: int = 10) -> None:
    """Runs all shards of a folder that have no result, on actors of ``threads`` CPUs each.

    There are as many actors as the cluster has CPUs for, or ``workers``. An actor that dies is started again, and its shard is
    run again, up to ``retries`` times for each shard; -1 is without end. Raises what a shard raises; shards that are done stay.
    """
    workers, threads, retries = _numbers(workers, threads, retries)
    left = _left(folder)
    if not left:
        return
    most = max(1, int(ray.cluster_resources().get("CPU", 1)) // threads)
    actor: Any = ray.remote(_Worker).options(num_cpus=threads, max_restarts=-1, max_task_retries=retries)
    free = [actor.remote(os.fspath(folder), threads) for _ in range(min(workers or most, len(left)))]
    shards = iter(left)
    busy = {}
    try:
        while True:
            while free and (shard := next(shards, None)) is not None:
                worker = free.pop()
                busy[worker.run.remote(shard)] = worker
            if not busy:
                return
            done, _ = ray.wait(list(busy), num_returns=1)
            for reference in done:
                free.append(busy.pop(reference))
                ray.get(reference)
    finally:
        for worker in [*free, *busy.values()]:
            ray.kill(worker)


def _numbers(workers: int | None, threads: int, retries: int) -> tuple[int | None, int, int]:
    """These as integers of Python itself, which Ray asks for. Refuses numbers with which no shard would run."""
    most = None if workers is None else _whole("workers", workers, 1)
    return most, _whole("threads", threads, 1), _whole("retries", retries, -1)


def _whole(name: str, number: int, least: int) -> int:
    """A whole number of Python, or of another library such as numpy."""
    try:
        # For Python, True is 1.
        found = None if isinstance(number, bool) else operator.index(number)
    except TypeError:
        found = None
    if found is None:
        raise TypeError(f"{name}: found {type(number).__name__}, expected a whole number")
    if found < least:
        raise UsageError(f"{name}: found {found}, expected {least} or more")
    return found


def _left(folder: PathLike) -> list[int]:
    """The shards without a result. ``status`` lists the first thousand of them, so the others are looked up by their files."""
    shards = history.Runner(folder, threads=1).shards
    results = Path(folder) / "results"
    done = {entry.name for entry in os.scandir(results)} if results.is_dir() else set()
    return [shard for shard in range(shards) if f"{shard:06}.jsonl" not in done]


def verify(
    dataset: ray.data.Dataset | PathLike | Iterable[PathLike],
    into: PathLike,
    *,
    network: PathLike | None = None,
    chain: PathLike | None = None,
    suite: str | None = None,
    soundness: int | None = None,
    shard_mib: int = 64,
    only_invalid: bool | None = None,
    workers: int | None = None,
    threads: int = 1,
    retries: int = 10,
) -> Report:
    """Verifies every claim of a dataset or of files, and answers with the report of ``quorate.history.merge``.

    ``dataset`` is a Ray dataset with a claim in each row, which is first written as Parquet into a new folder ``claims-…`` in
    the folder ``into``; or files and folders, as ``quorate.history.plan`` takes them, with its keywords and their defaults.
    Give the rows of a dataset an ``id``: its files are named by Ray.

    If the folder ``into`` has a plan already, the run goes on where it stopped. ``dataset`` is not read again then and
    ``shard_mib`` has no effect, and another keyword of ``plan`` that is given with another value than the plan's raises
    ``UsageError``. You can delete a folder ``claims-…`` that a killed process left and ``manifest.jsonl`` does not name.
    """
    workers, threads, retries = _numbers(workers, threads, retries)
    folder = Path(into)
    terms = {
        "network": network,
        "chain": chain,
        "suite": suite,
        "soundness": soundness,
        "only_invalid": only_invalid,
    }
    given: dict[str, Any] = {name: value for name, value in terms.items() if value is not None}
    if not _quorate.has_plan(os.fspath(folder), **given):
        if isinstance(dataset, ray.data.Dataset):
            _plan_dataset(dataset, folder, shard_mib=shard_mib, **given)
        else:
            history.plan(dataset, folder, shard_mib=shard_mib, **given)
    run(folder, workers=workers, threads=threads, retries=retries)
    return history.merge(folder)


def _plan_dataset(dataset: ray.data.Dataset, folder: Path, **terms: Any) -> None:
    """Writes a dataset as Parquet into a folder that nothing else has written to, and plans it."""
    folder.mkdir(parents=True, exist_ok=True)
    claims = Path(tempfile.mkdtemp(prefix="claims-", dir=folder))
    try:
        dataset.write_parquet(str(claims))
        history.plan(claims, folder, **terms)
    except BaseException:
        # Ctrl-C may come after the manifest was written, which names these files.
        if not (folder / "manifest.jsonl").exists():
            shutil.rmtree(claims, ignore_errors=True)
        raise
