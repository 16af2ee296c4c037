"""What the documents say is run: docstrings, docs/python.md and the notebooks."""

from __future__ import annotations

import doctest
import importlib
import pathlib
import pkgutil
import re

import nbformat
import pytest
from nbclient import NotebookClient

import quorate

from conftest import ROOT

MODULES = sorted({"quorate", *(each.name for each in pkgutil.walk_packages(quorate.__path__, "quorate."))})
NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_document(monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path) -> None:
    monkeypatch.chdir(tmp_path)
    found = doctest.testfile(str(ROOT / "docs" / "python.md"), module_relative=False)
    assert found.attempted > 20 and found.failed == 0


def test_every_public_name_is_in_the_document() -> None:
    text = (ROOT / "docs" / "python.md").read_text()
    assert [name for name in quorate.__all__ if not re.search(rf"`{name}\b", text)] == []


def test_nothing_asks_to_install_what_is_not_published() -> None:
    """Whoever takes a free name of the index could run what they like on a reader's machine."""
    documents = [*NOTEBOOKS, *(ROOT / "docs").glob("*.md"), ROOT / "README.md"]
    asks = re.compile(r"pip install [^`\n]*(?<![\w./-])quorate\b")
    assert [path.name for path in documents if asks.search(path.read_text())] == []


def outputs(cell: nbformat.NotebookNode) -> list[str]:
    texts = [
        output.get("text", "") or output.get("data", {}).get("text/plain", "") for output in cell.get("outputs", [])
    ]
    return [re.sub(r"\d+\.\d+", "0.0", text) for text in texts]


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_notebook(path: pathlib.Path) -> None:
    """A notebook runs, and prints what is stored in it, but for times."""
    notebook = nbformat.reads(path.read_text(), as_version=4)  # type: ignore[no-untyped-call]
    stored = [outputs(cell) for cell in notebook.cells if cell.cell_type == "code"]
    assert any(stored), "it is stored with its outputs"
    assert str(ROOT) not in path.read_text() and "/tmp/" not in path.read_text()
    client = NotebookClient(
        notebook,
        timeout=600,
        startup_timeout=600,
        kernel_name="python3",
        resources={"metadata": {"path": str(path.parent)}},
    )
    client.execute()
    assert [outputs(cell) for cell in notebook.cells if cell.cell_type == "code"] == stored


def test_there_are_notebooks() -> None:
    assert [path.name for path in NOTEBOOKS] == ["thresholds-and-quorums.ipynb", "verify.ipynb"]
