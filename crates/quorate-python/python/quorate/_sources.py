"""Claims in the forms that libraries have, as tables with the Arrow C interface.

The part that is Rust calls ``table`` for whatever ``verify`` is given, and for each item of a list. A library is only looked
for among the modules that are imported: an object of it could not be there otherwise.
"""

from __future__ import annotations

import sys
from typing import Any

from quorate._errors import TableError

COLUMNS = frozenset(
    {
        "id",
        "suite",
        "public_key",
        "public_keys",
        "message",
        "messages",
        "signature",
        "source",
        "kind",
        "slot",
        "index",
        "reason",
    }
)


def table(claims: Any) -> Any:
    """The same claims, as something that has the Arrow C interface if they are a table."""
    polars = sys.modules.get("polars")
    if polars is not None:
        if isinstance(claims, polars.LazyFrame):
            return _with_values(polars, _of_claims(claims, claims.collect_schema().names()).collect())
        if isinstance(claims, polars.Series) and isinstance(claims.dtype, polars.Struct):
            claims = claims.struct.unnest()
        if isinstance(claims, polars.DataFrame):
            return _with_values(polars, _of_claims(claims, claims.columns))
    pandas = sys.modules.get("pandas")
    if pandas is not None and isinstance(claims, pandas.DataFrame):
        read = [name in COLUMNS for name in claims.columns]
        # A column of other objects has no type of Arrow.
        claims = claims.loc[:, read] if any(read) else claims
    dataset = sys.modules.get("pyarrow.dataset")
    if dataset is not None:
        if isinstance(claims, dataset.Dataset):
            names = claims.schema.names
            read = [name for name in names if name in COLUMNS]
            # Without any of them, the error names the columns that are there.
            return claims.scanner(columns=read or names).to_reader()
        if isinstance(claims, dataset.Scanner):
            return claims.to_reader()
    pyarrow = sys.modules.get("pyarrow")
    if pyarrow is not None:
        return _of_structs(pyarrow, claims)
    return claims


def _of_structs(pyarrow: Any, claims: Any) -> Any:
    """The table of an array of structs with rows that are null as a whole, and whatever else as it is.

    Such a row keeps values in its columns, and the Arrow stream interface gives them to a reader of tables as if the row were
    there. In the table they are null. A stream of another library comes from a reader that refuses such rows.
    """
    pandas = sys.modules.get("pandas")
    array = claims
    if pandas is not None and isinstance(claims, pandas.Series) and hasattr(claims.array, "__arrow_array__"):
        array = claims.array.__arrow_array__()
    if not isinstance(array, (pyarrow.Array, pyarrow.ChunkedArray)):
        # These have no such rows.
        is_table = isinstance(claims, (pyarrow.Table, pyarrow.RecordBatch, pyarrow.RecordBatchReader))
        is_stream = not is_table and hasattr(claims, "__arrow_c_stream__")
        return pyarrow.RecordBatchReader.from_stream(claims) if is_stream else claims
    if not array.null_count:
        return claims
    if isinstance(array.type, pyarrow.BaseExtensionType):
        array = array.cast(array.type.storage_type)
    return pyarrow.Table.from_struct_array(array) if isinstance(array.type, pyarrow.StructType) else claims


def _of_claims(frame: Any, names: list[str]) -> Any:
    read = [name for name in names if name in COLUMNS]
    return frame.select(read) if read else frame


def _with_values(polars: Any, frame: Any) -> Any:
    """The frame without its columns of type Null, which are absent for ``verify``.

    polars gives an array of that type a buffer, which the Arrow C interface does not allow, so the reader would refuse the
    table (pola-rs/polars#22934).
    """
    unread = []
    for name, kind in frame.schema.items():
        if name in COLUMNS and _is_foreign(polars, kind):
            raise TableError(
                f'the column "{name}" has the type {kind}, which Arrow does not have; cast it to another type'
            )
        if not _has_null(polars, kind):
            continue
        if name in COLUMNS and isinstance(kind, (polars.List, polars.Array)):
            frame = frame.with_columns(polars.col(name).cast(polars.List(polars.Binary)))
        else:
            unread.append(name)
    return frame.drop(unread)


def _is_foreign(polars: Any, kind: Any) -> bool:
    """Whether a type of polars is none of Arrow. Older versions have fewer of them."""
    if isinstance(kind, (polars.List, polars.Array)):
        return _is_foreign(polars, kind.inner)
    foreign = (getattr(polars, name, None) for name in ("Int128", "UInt128", "Object"))
    return any(kind == one for one in foreign if one is not None)


def _has_null(polars: Any, kind: Any) -> bool:
    if kind == polars.Null:
        return True
    if isinstance(kind, (polars.List, polars.Array)):
        return _has_null(polars, kind.inner)
    return isinstance(kind, polars.Struct) and any(_has_null(polars, field.dtype) for field in kind.fields)
