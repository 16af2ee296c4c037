"""The recipe for Dask in docs/python.md, as it stands there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from test_history import claims, parquet

from conftest import package

package("distributed")
DOCUMENT = Path(__file__).parents[3] / "docs" / "python.md"


def test_the_recipe_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recipe = re.search(r"```python\n(# Dask\n.*?)```", DOCUMENT.read_text(), re.DOTALL)
    assert recipe is not None
    (tmp_path / "claims").mkdir()
    for n in range(3):
        parquet(tmp_path / "claims" / f"{n}.parquet", claims(30 + n, {n}), 10)
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "recipe"}
    exec(recipe[1], names)
    report = names["report"]
    assert isinstance(report, dict)
    assert (report["claims"], report["invalid"], report["shards"]) == (93, 3, 3)
