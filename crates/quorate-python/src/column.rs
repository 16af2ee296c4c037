//! The columns that stand in verdicts as they stood in the table: the id of a claim, and which signature of its block it is.

use std::sync::Arc;

use arrow_array::{
    Array, ArrayRef, DictionaryArray, RecordBatch, RecordBatchOptions, RunArray,
    cast::AsArray,
    make_array,
    types::{
        Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, RunEndIndexType, UInt8Type, UInt16Type,
        UInt32Type, UInt64Type,
    },
};
use arrow_data::transform::MutableArrayData;
use arrow_ipc::{reader::StreamReader, writer::StreamWriter};
use arrow_schema::{ArrowError, DataType, Field, Schema};
use pyo3::{IntoPyObjectExt, prelude::*};
use quorate_formats::arrow::check_array;

use crate::errors::TableError;

/// A column that verdicts keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kept {
    Id,
    Kind,
    Slot,
    /// `index` of a chain's table. A verdict's own index is the place of its claim.
    IndexInBlock,
}

impl Kept {
    const ALL: [Self; 4] = [Self::Id, Self::Kind, Self::Slot, Self::IndexInBlock];

    /// The column in the table of claims.
    fn column(self) -> &'static str {
        match self {
            Self::Id => "id",
            Self::Kind => "kind",
            Self::Slot => "slot",
            Self::IndexInBlock => "index",
        }
    }

    /// The column in the table of verdicts.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Id | Self::Kind | Self::Slot => self.column(),
            Self::IndexInBlock => "index_in_block",
        }
    }
}

/// The kept columns of a batch.
#[derive(Clone, Debug, Default)]
pub(crate) struct KeptColumns(Vec<(Kept, ArrayRef)>);

impl KeptColumns {
    /// Copies them, so that the batch with its keys and messages can go.
    ///
    /// # Errors
    /// A column that is damaged.
    pub(crate) fn of(batch: &RecordBatch) -> PyResult<Self> {
        let has_kind =
            batch.column_by_name(Kept::Kind.column()).is_some_and(|kind| *kind.data_type() != DataType::Null);
        // Without a kind, the columns of these names are about something else.
        let is_kept = |kept: &Kept| has_kind || !matches!(kept, Kept::Slot | Kept::IndexInBlock);
        let kept = Kept::ALL.into_iter().filter(is_kept).filter_map(|kept| {
            let column = batch.column_by_name(kept.column()).filter(|column| is_scalar(column.data_type()))?;
            let damaged = |error| TableError::new_err(format!("the column {:?} is damaged: {error}", kept.column()));
            Some(copied(column).map(|array| (kept, array)).map_err(damaged))
        });
        kept.collect::<PyResult<_>>().map(Self)
    }

    /// The fields of a table of verdicts.
    pub(crate) fn fields(&self) -> Vec<Arc<Field>> {
        let field = |(kept, array): &(Kept, ArrayRef)| Field::new(kept.name(), array.data_type().clone(), true).into();
        self.0.iter().map(field).collect()
    }

    /// As an Arrow stream, for another process.
    ///
    /// # Errors
    /// Arrow cannot write a column.
    pub(crate) fn to_stream(&self) -> Result<Vec<u8>, ArrowError> {
        let Some((_, first)) = self.0.first() else { return Ok(Vec::new()) };
        let schema = Arc::new(Schema::new(self.fields()));
        let options = RecordBatchOptions::new().with_row_count(Some(first.len()));
        let arrays = self.arrays().cloned().collect();
        let batch = RecordBatch::try_new_with_options(schema.clone(), arrays, &options)?;
        let mut writer = StreamWriter::try_new(Vec::new(), &schema)?;
        writer.write(&batch)?;
        writer.into_inner()
    }

    /// The columns that [`to_stream`](Self::to_stream) wrote, of so many rows.
    ///
    /// # Errors
    /// It is not such a stream.
    pub(crate) fn of_stream(stream: &[u8], rows: usize) -> Result<Self, ArrowError> {
        if stream.is_empty() {
            return Ok(Self::default());
        }
        let unfit = || ArrowError::IpcError("not the columns of verdicts".to_owned());
        let batch = StreamReader::try_new(stream, None)?.next().ok_or_else(unfit)??;
        let schema = batch.schema();
        let columns = schema.fields().iter().zip(batch.columns()).map(|(field, array)| {
            let kept = Kept::ALL.into_iter().find(|kept| kept.name() == field.name()).ok_or_else(unfit)?;
            let fits = array.len() == rows && is_scalar(array.data_type());
            fits.then(|| (kept, array.clone())).ok_or_else(unfit)
        });
        columns.collect::<Result<_, _>>().map(Self)
    }

    pub(crate) fn arrays(&self) -> impl Iterator<Item = &ArrayRef> {
        self.0.iter().map(|(_, array)| array)
    }

    /// What stands in a row; `None` for null or where the table has no such column.
    pub(crate) fn value(&self, py: Python<'_>, kept: Kept, row: usize) -> PyResult<Py<PyAny>> {
        match self.0.iter().find(|(other, _)| *other == kept) {
            Some((_, array)) => value(py, array, row),
            None => Ok(py.None()),
        }
    }
}

fn copied(column: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    check_array(column)?;
    if let DataType::RunEndEncoded(ends, _) = column.data_type() {
        return match ends.data_type() {
            DataType::Int16 => without_runs(column.as_run::<Int16Type>()),
            DataType::Int32 => without_runs(column.as_run::<Int32Type>()),
            _ => without_runs(column.as_run::<Int64Type>()),
        };
    }
    let data = column.to_data();
    let mut copy = MutableArrayData::new(vec![&data], false, data.len());
    copy.try_extend(0, 0, data.len())?;
    Ok(make_array(copy.freeze()))
}

/// The same values as a dictionary, whose columns every library reads. A long text in a run stays one text.
fn without_runs<E: RunEndIndexType>(runs: &RunArray<E>) -> Result<ArrayRef, ArrowError> {
    let key = |row| i32::try_from(runs.get_physical_index(row)).map_err(|_| ArrowError::DictionaryKeyOverflowError);
    let keys = (0..runs.len()).map(key).collect::<Result<Vec<_>, _>>()?;
    Ok(Arc::new(DictionaryArray::<Int32Type>::try_new(keys.into(), runs.values().clone())?))
}

fn is_scalar(kind: &DataType) -> bool {
    match kind {
        DataType::Dictionary(_, values) => is_scalar(values),
        DataType::RunEndEncoded(_, values) => is_scalar(values.data_type()),
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View | DataType::Boolean | DataType::Null => true,
        DataType::Float32 | DataType::Float64 => true,
        other => other.is_integer(),
    }
}

fn value(py: Python<'_>, array: &dyn Array, row: usize) -> PyResult<Py<PyAny>> {
    if array.is_null(row) {
        return Ok(py.None());
    }
    macro_rules! number {
        ($kind:ty) => {
            array.as_primitive::<$kind>().value(row).into_py_any(py)
        };
    }
    match array.data_type() {
        DataType::Utf8 => array.as_string::<i32>().value(row).into_py_any(py),
        DataType::LargeUtf8 => array.as_string::<i64>().value(row).into_py_any(py),
        DataType::Utf8View => array.as_string_view().value(row).into_py_any(py),
        DataType::Boolean => array.as_boolean().value(row).into_py_any(py),
        DataType::Int8 => number!(Int8Type),
        DataType::Int16 => number!(Int16Type),
        DataType::Int32 => number!(Int32Type),
        DataType::Int64 => number!(Int64Type),
        DataType::UInt8 => number!(UInt8Type),
        DataType::UInt16 => number!(UInt16Type),
        DataType::UInt32 => number!(UInt32Type),
        DataType::UInt64 => number!(UInt64Type),
        DataType::Float32 => number!(Float32Type),
        DataType::Float64 => number!(Float64Type),
        DataType::Dictionary(..) => {
            let dictionary = array.as_any_dictionary();
            let key = value(py, dictionary.keys(), row)?.extract::<usize>(py)?;
            value(py, dictionary.values(), key)
        }
        // Null, and no other type is kept.
        _ => Ok(py.None()),
    }
}
