"""Whole chains and large tables, verified in shards by any number of processes that share a folder.

``plan`` cuts files into shards, ``Runner.run`` verifies one of them, and ``merge`` puts the results together and proves that
every claim was counted once. These are the commands ``quorate history plan``, ``run``, ``status`` and ``merge``;
``docs/history.md`` describes the folder. A process can be killed at any point: its shard has no result then, and is run again.

>>> import pathlib, tempfile
>>> import quorate, quorate.history
>>> folder = pathlib.Path(tempfile.mkdtemp())
>>> secret = quorate.SecretKey.key_gen("eth2", bytes(32))
>>> line = '{"public_key":"%s","message":"%s","signature":"%s"}'
>>> key = bytes(secret.public_key()).hex()
>>> lines = [line % (key, message.hex(), bytes(secret.sign(b"one")).hex()) for message in (b"one", b"two")]
>>> _ = (folder / "claims.jsonl").write_text("\\n".join(lines))

>>> quorate.history.plan([folder / "claims.jsonl"], folder / "run", suite="eth2")
1
>>> receipt = quorate.history.Runner(folder / "run").run(0)
>>> receipt["claims"], receipt["valid"]
(2, 1)
>>> report = quorate.history.merge(folder / "run")
>>> report["failures"][0]["line"], report["failures"][0]["reason"]
(2, 'the signature does not match the keys and messages')
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from quorate import _quorate
from quorate._json import loads

__all__ = ["Report", "Runner", "merge", "plan", "status", "verdicts"]

PathLike = str | os.PathLike[str]
Report = dict[str, Any]


def plan(
    paths: PathLike | Iterable[PathLike],
    into: PathLike,
    *,
    network: PathLike | None = None,
    chain: PathLike | None = None,
    suite: str | None = None,
    soundness: int = 64,
    shard_mib: int = 64,
    only_invalid: bool = False,
) -> int:
    """Cuts files into shards, writes the manifest into the folder ``into``, and answers with the number of shards.

    The files are era files, rounds of drand, blocks of Chia, and claims in JSON Lines or Parquet; of folders, those whose names
    end in ``.era``, ``.jsonl`` or ``.parquet``, or if there are none in ``.json``, and the others are left out. Every file is
    read once, to be hashed. Raises ``OSError`` if a file cannot be read, and ``UsageError`` if it cannot be cut, is given
    twice, or the folder has a plan.
    """
    listed = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    return _quorate.plan_shards(
        [os.fspath(path) for path in listed],
        os.fspath(into),
        network=None if network is None else os.fspath(network),
        chain=None if chain is None else os.fspath(chain),
        suite=suite,
        soundness=soundness,
        shard_mib=shard_mib,
        only_invalid=only_invalid,
    )


class Runner:
    """Verifies shards of one run, one after the other, and keeps the keys that it decoded."""

    def __init__(self, folder: PathLike, *, threads: int | None = None, backend: str = "auto") -> None:
        """Reads the manifest. ``threads`` is all that the machine has by default."""
        self._runner = _quorate.Runner(os.fspath(folder), threads=threads, backend=backend)

    @property
    def shards(self) -> int:
        """How many shards the run has. Their numbers begin at 0."""
        return self._runner.shards

    def run(self, shard: int) -> Report:
        """Verifies a shard if it has no result yet, and answers with the receipt of its result.

        Raises ``UsageError`` if its files are not those that were planned, and ``OSError`` if they cannot be read or the result
        cannot be written. No result is left then.
        """
        receipt: Report = loads(self._runner.run_json(shard))
        return receipt


def status(folder: PathLike) -> Report:
    """How far a run is: ``shards``, ``done``, the numbers of the first ones that are ``left``, and the counts so far."""
    found: Report = loads(_quorate.shard_status(os.fspath(folder)))
    return found


def merge(folder: PathLike) -> Report:
    """Checks that every shard has one whole result of this plan, and puts them together.

    It writes ``verdicts.jsonl`` and ``report.json``, and answers with the report: ``claims``, ``valid``, ``invalid``,
    ``kinds``, the first ``failures``, ``core_seconds``, the ``versions`` and ``backends`` that made the results. Raises
    ``UsageError`` if a shard has no result or a damaged one, and writes nothing then.
    """
    report: Report = loads(_quorate.merge_shards(os.fspath(folder)))
    return report


def verdicts(folder: PathLike) -> Iterator[Report]:
    """The verdicts of a run that is merged, in the order of the inputs."""
    with (Path(folder) / "verdicts.jsonl").open(encoding="utf-8") as lines:
        for line in lines:
            yield loads(line)
