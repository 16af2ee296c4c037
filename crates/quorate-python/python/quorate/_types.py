"""Types of arguments and answers, for those who annotate their code."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol, TypeAlias, TypedDict

from quorate._claim import Claim


class ArrowStream(Protocol):
    """A table. pyarrow, pandas, polars and DuckDB have such."""

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """A capsule with an ``ArrowArrayStream``."""


class ArrowBatch(Protocol):
    """A record batch."""

    def __arrow_c_array__(self, requested_schema: Any = None) -> Any:
        """Capsules with an ``ArrowSchema`` and an ``ArrowArray``."""


class Encoded(Protocol):
    """A key or a signature."""

    def __bytes__(self) -> bytes:
        """Its encoding."""


Bytes: TypeAlias = bytes | bytearray | memoryview | Encoded
"""Bytes, or a key or signature of this package."""

Table: TypeAlias = ArrowStream | ArrowBatch
"""A table with a claim in each row."""


class Lazy(Protocol):
    """A ``polars.LazyFrame``."""

    def collect(self) -> Any:
        """The frame."""


class Dataset(Protocol):
    """A dataset or a scanner of pyarrow."""

    def to_batches(self) -> Any:
        """Its batches."""


PathLike: TypeAlias = str | os.PathLike[str]
"""The path of a file of JSON Lines, Parquet or Arrow."""

Claims: TypeAlias = Table | Lazy | Dataset | PathLike | Iterable[Table] | Iterable[Claim | Mapping[str, Any]]
"""What ``verify`` takes. The columns are those of a line of JSON: id, suite, public_key or public_keys, message or messages,
signature, source. Claims that are no rows of a table can have key_set and members in the place of keys."""


Progress: TypeAlias = Callable[[int, int | None], object]
"""What ``verify`` calls with the number of claims that have a verdict, and the number of all claims if that is known."""


class Summary(TypedDict):
    """The counts of a call, under the names of ``quorate verify --json``."""

    claims: int
    valid: int
    invalid: int
    malformed: int
    known: int
    subtracted: int
    remembered: int
    false_by_source: dict[str | int, int]
    suites: list[str]
    backend: str
    threads: int
    seconds: float
    hashes: int
    pairings: int
    final_exponentiations: int
    search_nodes: int
