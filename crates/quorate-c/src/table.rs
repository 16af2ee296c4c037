//! Claims in Arrow tables: one claim a row, with the columns that `docs/reference.md` describes for JSON Lines.

use std::{num::NonZeroUsize, sync::Arc};

use arrow_array::{
    RecordBatch,
    builder::{BooleanBuilder, StringBuilder},
};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use quorate::AnySuite;
use quorate_formats::{
    Entry, Record,
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

/// Verifies the rows of batches. A row that names no suite is a claim of `suite`. There is one row of verdicts for each row, in order,
/// and a batch of them for each batch, or several if its reasons take more than 1 GiB.
///
/// Claims are verified window by window, so that a table of any length takes the memory of its batches and its verdicts.
///
/// # Errors
/// [`Code::Claims`]: the batches cannot be read, or have no columns of claims, or what they say about their rows takes more than
/// [`VALUES_LIMIT`]. [`Code::System`], [`Code::Internal`].
pub fn verify(
    engine: &Engine,
    suite: Option<AnySuite>,
    batches: impl Iterator<Item = Result<RecordBatch, ArrowError>>,
) -> Result<Vec<RecordBatch>, CallFailure> {
    let mut random = random()?;
    let threads: NonZeroUsize = engine.verifier().options().threads;
    let mut judge = Judge::new(engine.verifier().clone());
    let mut window = Window::new(WindowLimit::of(threads));
    let (mut rows, mut verdicts) = (0, Columns::default());
    for batch in batches {
        let batch =
            batch.map_err(|error| CallFailure::new(Code::Claims, format!("the table cannot be read: {error}")))?;
        let read = BatchRows::new(&batch, rows).map_err(|error| CallFailure::new(Code::Claims, error.to_string()))?;
        rows += batch.num_rows() as u64;
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
        self.batches.push(verdicts.map_err(|error| CallFailure::new(Code::Internal, error.to_string()))?);
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
    use super::*;

    #[test]
    fn what_a_table_says_about_its_rows_is_bounded() {
        let mut columns = Columns { told: VALUES_LIMIT - 3, ..Columns::default() };
        assert_eq!(columns.told("abc".to_owned()).expect("it fits"), "abc");
        let failure = columns.told("d".to_owned()).expect_err("one byte too many");
        assert_eq!(failure.code, Code::Claims);
        assert!(failure.to_string().contains("more than 1024 MiB; verify the table in parts"), "{failure}");
    }
}
