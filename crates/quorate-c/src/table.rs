//! Claims in Arrow tables: one claim a row, with the columns that `docs/reference.md` describes for JSON Lines.

use std::{num::NonZeroUsize, sync::Arc};

use arrow_array::{
    Array, ArrayReader, ArrayRef, RecordBatch, RecordBatchOptions,
    builder::{BooleanBuilder, StringBuilder},
    cast::AsArray,
};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use quorate::AnySuite;
use quorate_formats::{
    ArrowBatchError, Entry, Record,
    arrow::{BatchRows, VALUES_LIMIT},
    judge::{Item, Judge, Judged, Window, WindowLimit},
};

use crate::{
    engine::{Engine, random},
    fault::{CallFailure, Code},
};

/// The columns of verdicts: `valid`, and `reason` where a claim is not valid.
#[must_use]
pub fn schema() -> SchemaRef {
    let columns = vec![Field::new("valid", DataType::Boolean, false), Field::new("reason", DataType::Utf8, true)];
    Arc::new(Schema::new(columns))
}

/// Verifies the rows of batches, which are arrays of structs. A row that names no suite is a claim of `suite`. There is one row of
/// verdicts for each row, in order, and a batch of them for each batch, or several if its reasons take more than 1 GiB.
///
/// Claims are verified window by window, so that a table of any length takes the memory of its batches and its verdicts.
///
/// # Errors
/// [`Code::Claims`]: the batches cannot be read, or have no columns of claims, or a row that is null as a whole, or what they say about
/// their rows takes more than [`VALUES_LIMIT`]. [`Code::System`], [`Code::Internal`].
pub fn verify(
    engine: &Engine,
    suite: Option<AnySuite>,
    mut batches: impl ArrayReader,
) -> Result<Vec<RecordBatch>, CallFailure> {
    let schema = columns(batches.field().data_type())?;
    let mut random = random()?;
    let threads: NonZeroUsize = engine.verifier().options().threads;
    let mut judge = Judge::new(engine.verifier().clone());
    let mut window = Window::new(WindowLimit::of(threads));
    let (mut rows, mut verdicts) = (0, Columns::default());
    while let Some((number, read)) = contained(|| next_rows(&mut batches, &schema, rows))? {
        rows += number;
        for entry in read {
            window.push(item(entry, suite));
            if window.is_full() {
                verdicts.add(judge.judge(window.take(), &mut random).judged)?;
            }
        }
        verdicts.add(judge.judge(window.take(), &mut random).judged)?;
        verdicts.end_batch()?;
    }
    Ok(verdicts.batches)
}

/// The columns of a table whose rows are structs of this type.
fn columns(rows: &DataType) -> Result<SchemaRef, CallFailure> {
    match rows {
        DataType::Struct(fields) => Ok(Arc::new(Schema::new(fields.clone()))),
        other => Err(unreadable(ArrowError::SchemaError(format!("found values of the type {other}, expected rows")))),
    }
}

/// The rows of the next batch, which stands behind so many, and their number; none at the end.
fn next_rows(
    batches: &mut impl ArrayReader,
    schema: &SchemaRef,
    rows_before: u64,
) -> Result<Option<(u64, BatchRows)>, CallFailure> {
    let Some(array) = batches.next() else { return Ok(None) };
    let batch = batch(schema, &array.map_err(unreadable)?, rows_before)?;
    let unfit = |error: ArrowBatchError| CallFailure::new(Code::Claims, error.to_string());
    let rows = BatchRows::new(&batch, rows_before).map_err(unfit)?;
    Ok(Some((batch.num_rows() as u64, rows)))
}

/// Calls what reads arrays of somebody else, and makes an error of a panic in there: the Arrow library panics on some arrays that do not
/// agree with their schema. The table is at fault then, and not this library. No call follows on what a panic left behind.
pub(crate) fn contained<T>(call: impl FnOnce() -> Result<T, CallFailure>) -> Result<T, CallFailure> {
    let text = "the table is damaged: its schema or one of its arrays is not as the Arrow interface says";
    quorate_host::contained(call).unwrap_or_else(|_| Err(CallFailure::new(Code::Claims, text)))
}

/// A batch behind so many rows. The values of a row that is null as a whole say nothing, but stand in the columns like those of others.
fn batch(schema: &SchemaRef, array: &ArrayRef, rows_before: u64) -> Result<RecordBatch, CallFailure> {
    let rows = array.as_struct();
    // Without a bitmap of nulls, rows may be of runs that take no bytes, and there may be any number of them.
    let nulls = rows.nulls();
    if let Some(row) = nulls.and_then(|nulls| (0..nulls.len()).find(|row| nulls.is_null(*row))) {
        let row = rows_before + row as u64 + 1;
        let text = format!("the row {row} is null as a whole, so it makes no claim; give the table without it");
        return Err(CallFailure::new(Code::Claims, text));
    }
    let options = RecordBatchOptions::new().with_row_count(Some(rows.len()));
    RecordBatch::try_new_with_options(schema.clone(), rows.columns().to_vec(), &options).map_err(unreadable)
}

/// Says that a table cannot be read.
pub(crate) fn unreadable(error: ArrowError) -> CallFailure {
    CallFailure::new(Code::Claims, format!("the table cannot be read: {error}"))
}

/// Says that verdicts cannot be written, which no table brings about.
pub(crate) fn unwritable(error: ArrowError) -> CallFailure {
    CallFailure::new(Code::Internal, error.to_string())
}

/// Verdicts as they become known.
#[derive(Default)]
struct Columns {
    valid: BooleanBuilder,
    reasons: StringBuilder,
    /// Bytes of the reasons that come from the table. A dictionary lets many rows name the same bytes; they are counted for each row.
    told: u64,
    batches: Vec<RecordBatch>,
}

impl Columns {
    fn add(&mut self, judged: Vec<Judged<Option<String>>>) -> Result<(), CallFailure> {
        for Judged { about, ruling, .. } in judged {
            let reason = match ruling {
                Some(ruling) => ruling
                    .fault()
                    .map_err(|undecided| CallFailure::new(Code::Internal, undecided.to_string()))?
                    .map(|fault| fault.to_string()),
                // A row without a claim has a reason why.
                None => Some(self.told(about.unwrap_or_else(|| "the row makes no claim".to_owned()))?),
            };
            self.valid.append_value(reason.is_none());
            self.reasons.append_option(reason);
            // Their offsets have 32 bits.
            if self.reasons.values_slice().len() >= LONGEST_REASONS {
                self.end_batch()?;
            }
        }
        Ok(())
    }

    /// Counts a reason that comes from the table.
    fn told(&mut self, reason: String) -> Result<String, CallFailure> {
        self.told += reason.len() as u64;
        if self.told <= VALUES_LIMIT {
            return Ok(reason);
        }
        let most = VALUES_LIMIT >> 20;
        let text =
            format!("the reasons why rows make no valid claim take more than {most} MiB; verify the table in parts");
        Err(CallFailure::new(Code::Claims, text))
    }

    fn end_batch(&mut self) -> Result<(), CallFailure> {
        let (valid, reasons) = (self.valid.finish(), self.reasons.finish());
        let verdicts = RecordBatch::try_new(schema(), vec![Arc::new(valid), Arc::new(reasons)]);
        self.batches.push(verdicts.map_err(unwritable)?);
        Ok(())
    }
}

/// With so many bytes of reasons a batch of verdicts ends.
const LONGEST_REASONS: usize = 1 << 30;

/// A row on its way to its verdict. Without a claim, it says why.
fn item(entry: Entry, suite: Option<AnySuite>) -> Item<Option<String>> {
    let bytes = entry.as_ref().map_or_else(|malformed| malformed.reason.len(), Record::bytes);
    let (claim, about) = match entry.and_then(|record| record.split(suite)) {
        Ok((claim, about)) => match about.failed_check() {
            Some(check) => (None, Some(check.to_string())),
            None => (Some(claim), None),
        },
        Err(malformed) => (None, Some(malformed.reason)),
    };
    Item { about, claim, bytes }
}

#[cfg(test)]
mod tests {
    use arrow_array::{
        ArrayIterator,
        builder::{BinaryBuilder, StructBuilder},
    };
    use quorate::{MinPk, SecretKey, Suite as _};

    use super::*;
    use crate::engine::EngineOptions;

    /// The values of a true claim stand in both rows.
    #[test]
    fn a_row_that_is_null_as_a_whole_makes_no_claim() {
        let secret = SecretKey::key_gen(MinPk::Eth2, &[1; 32], b"").expect("long enough");
        let (key, signature) = (secret.public_key().to_bytes(), secret.sign(MinPk::Eth2, b"m").to_bytes());
        let values: [(&str, &[u8]); 3] = [("public_key", &key), ("message", b"m"), ("signature", &signature)];
        let engine = Engine::new(&EngineOptions::default()).expect("an engine");
        let judged = |are_there: [bool; 2]| {
            let fields = values.map(|(name, _)| Field::new(name, DataType::Binary, true));
            let mut rows = StructBuilder::from_fields(fields.to_vec(), are_there.len());
            for is_there in are_there {
                for (column, (_, value)) in values.iter().enumerate() {
                    rows.field_builder::<BinaryBuilder>(column).expect("a column of bytes").append_value(value);
                }
                rows.append(is_there);
            }
            let rows = Arc::new(rows.finish()) as ArrayRef;
            let field = Arc::new(Field::new("rows", rows.data_type().clone(), true));
            verify(&engine, Some(MinPk::Eth2.any()), ArrayIterator::new([Ok(rows)], field))
        };
        let verdicts = judged([true, true]).expect("verdicts");
        assert_eq!(verdicts[0]["valid"].as_boolean().iter().collect::<Vec<_>>(), [Some(true); 2]);
        let failure = judged([true, false]).expect_err("a row without a claim");
        assert_eq!(failure.code, Code::Claims);
        assert!(failure.to_string().starts_with("the row 2 is null as a whole"), "{failure}");
    }

    #[test]
    fn what_a_table_says_about_its_rows_is_bounded() {
        let mut columns = Columns { told: VALUES_LIMIT - 3, ..Columns::default() };
        assert_eq!(columns.told("abc".to_owned()).expect("it fits"), "abc");
        let failure = columns.told("d".to_owned()).expect_err("one byte too many");
        assert_eq!(failure.code, Code::Claims);
        assert!(failure.to_string().contains("more than 1024 MiB; verify the table in parts"), "{failure}");
    }
}
