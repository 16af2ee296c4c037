"""Shards on Ray's actors: a dataset, files, and actors that are killed. Each test has a Ray of its own on this machine."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from test_history import claims, parquet

from quorate.history import plan, verdicts

from conftest import package

ray = package("ray")
# Ray warns of changes in its own settings.
pytestmark = pytest.mark.filterwarnings("ignore:.*:DeprecationWarning", "ignore:.*:FutureWarning")


@pytest.fixture(scope="module", autouse=True)
def cluster() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        # Other jobs fill the memory of a machine, for which Ray would kill tasks, and make the start of a worker slow.
        patch.setenv("RAY_memory_monitor_refresh_ms", "0")
        patch.setenv("RAY_worker_register_timeout_seconds", "600")
        ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, configure_logging=False)
    yield
    ray.shutdown()


def workers() -> list[int]:
    """The processes of Ray's actors."""
    found = []
    for process in Path("/proc").iterdir():
        try:
            name = (process / "cmdline").read_bytes()
        except OSError:
            continue
        if name.startswith(b"ray::") and b"_Worker" in name:
            found.append(int(process.name))
    return found


def test_a_dataset(tmp_path: Path) -> None:
    import ray.data

    import quorate.ray

    rows = claims(200, {3, 77, 150})
    dataset = ray.data.from_items(rows, override_num_blocks=4)
    report = quorate.ray.verify(dataset, tmp_path / "run", suite="eth2", threads=1)
    assert (report["claims"], report["invalid"]) == (200, 3)
    assert report["shards"] >= 2
    found = {verdict["id"]: verdict["valid"] for verdict in verdicts(tmp_path / "run")}
    assert found == {n: n not in {3, 77, 150} for n in range(200)}
    # A second call finds the result and does no work.
    again = quorate.ray.verify(dataset, tmp_path / "run")
    assert again["claims"] == 200 and again["core_seconds"] == report["core_seconds"]


def false_ones(run: Path) -> list[int]:
    """The ids of the claims of a merged run that are not valid."""
    return [verdict["id"] for verdict in verdicts(run) if not verdict["valid"]]


def test_a_plan_that_failed_leaves_no_dataset_behind(tmp_path: Path) -> None:
    import ray.data

    import quorate.ray

    monday, tuesday = (ray.data.from_items(claims(20, {false}), override_num_blocks=1) for false in (3, 7))
    run = tmp_path / "run"
    with pytest.raises(quorate.UsageError, match="suite"):
        quorate.ray.verify(monday, run, suite="eth")
    with pytest.raises(quorate.UsageError, match="soundness: found 65"):
        quorate.ray.verify(monday, run, suite="eth2", soundness=65)
    misspelt: dict[str, Any] = {"only_invald": True}
    with pytest.raises(TypeError, match="only_invald"):
        quorate.ray.verify(monday, run, suite="eth2", **misspelt)
    assert not run.exists()
    # Only the planner finds that a dataset has no rounds of drand.
    with pytest.raises(quorate.UsageError, match="the chain is for rounds of drand"):
        quorate.ray.verify(monday, run, suite="eth2", chain="quicknet")
    assert list(run.iterdir()) == []
    # A process that was killed cannot remove what it wrote.
    (run / "claims-killed").mkdir()
    parquet(run / "claims-killed" / "0.parquet", claims(20, {3}), 20)
    assert quorate.ray.verify(tuesday, run, suite="eth2")["claims"] == 20
    assert false_ones(run) == [7]


def test_no_workers_is_an_error(tmp_path: Path) -> None:
    import quorate.ray

    table = parquet(tmp_path / "claims.parquet", claims(3, set()), 3)
    numbers: list[dict[str, Any]] = [{"workers": -1}, {"workers": 0}, {"threads": 0}]
    for number in numbers:
        with pytest.raises(quorate.UsageError, match="expected 1 or more"):
            quorate.ray.verify(table, tmp_path / "run", suite="eth2", **number)
        assert not (tmp_path / "run").exists(), "nothing was planned"
    plan(table, tmp_path / "run", suite="eth2")
    with pytest.raises(quorate.UsageError, match="workers: found -1"):
        quorate.ray.run(tmp_path / "run", workers=-1)


def test_whole_numbers_of_other_libraries(tmp_path: Path) -> None:
    import numpy as np

    import quorate.ray

    table = parquet(tmp_path / "claims.parquet", claims(6, {4}), 6)
    numbers: dict[str, Any] = {"workers": np.int64(1), "threads": np.int8(1), "retries": np.uint16(2)}
    assert quorate.ray.verify(table, tmp_path / "run", suite="eth2", **numbers)["invalid"] == 1
    for name in numbers:
        for wrong in (True, 1.0, np.float64(1), "1"):
            found: dict[str, Any] = {name: wrong}
            expected = f"^{name}: found {type(wrong).__name__}, expected a whole number$"
            with pytest.raises(TypeError, match=expected):
                quorate.ray.verify(table, tmp_path / "another", suite="eth2", **found)
    with pytest.raises(quorate.UsageError, match="retries: found -2, expected -1 or more"):
        quorate.ray.verify(table, tmp_path / "another", suite="eth2", retries=-2)
    assert not (tmp_path / "another").exists(), "nothing was planned"


def test_a_folder_of_the_callers_is_not_the_dataset(tmp_path: Path) -> None:
    import ray.data

    import quorate.ray

    run = tmp_path / "run"
    (run / "claims").mkdir(parents=True)
    own = parquet(run / "claims" / "0.parquet", claims(5, {1}), 5)
    content = own.read_bytes()
    dataset = ray.data.from_items(claims(8, {6}), override_num_blocks=1)
    assert quorate.ray.verify(dataset, run, suite="eth2")["claims"] == 8
    assert false_ones(run) == [6]
    assert own.read_bytes() == content


def test_other_terms_than_those_of_the_plan_are_refused(tmp_path: Path) -> None:
    import quorate.ray

    file = parquet(tmp_path / "claims.parquet", claims(5, {1}), 5)
    run = tmp_path / "run"
    plan(file, run, suite="eth2")
    others: dict[str, Any] = {
        "network": "mainnet",
        "chain": "quicknet",
        "suite": "eth2-sync-aggregate",
        "soundness": 128,
        "only_invalid": True,
    }
    for name, value in others.items():
        with pytest.raises(quorate.UsageError, match=rf"^{name}: the plan in .*manifest\.jsonl has another one"):
            quorate.ray.verify(file, run, **{name: value})
    report = quorate.ray.verify(file, run, suite="eth2", soundness=64, only_invalid=False)
    assert (report["claims"], report["invalid"]) == (5, 1)


def test_actors_that_are_killed_lose_and_double_nothing(tmp_path: Path) -> None:
    import quorate.ray

    files = [
        parquet(tmp_path / f"{n}.parquet", [{**row, "id": f"{n}.{row['id']}"} for row in claims(1500, {n})], 500)
        for n in range(12)
    ]
    run = tmp_path / "run"
    assert plan(files, run, suite="eth2") == 12
    killed: list[int] = []
    stop = threading.Event()

    def kill_now_and_then() -> None:
        while not stop.is_set() and len(killed) < 3:
            time.sleep(0.4)
            for process in workers()[:1]:
                os.kill(process, signal.SIGKILL)
                killed.append(process)

    killer = threading.Thread(target=kill_now_and_then)
    killer.start()
    report = quorate.ray.verify(files, run, threads=1)
    stop.set()
    killer.join()
    assert killed, "the run ended before an actor could be killed"
    assert (report["shards"], report["claims"], report["invalid"]) == (12, 18_000, 12)
    ids = [verdict["id"] for verdict in verdicts(run)]
    assert len(ids) == len(set(ids)) == 18_000


def test_a_shard_that_cannot_be_run_is_raised(tmp_path: Path) -> None:
    import quorate.ray

    files = [parquet(tmp_path / f"{n}.parquet", claims(20 + n, set()), 20) for n in range(3)]
    run = tmp_path / "run"
    plan(files, run, suite="eth2")
    files[1].unlink()
    with pytest.raises(OSError, match=r"1\.parquet"):
        quorate.ray.verify(files, run)
    parquet(files[1], claims(21, set()), 20)
    assert quorate.ray.verify(files, run)["claims"] == 63
