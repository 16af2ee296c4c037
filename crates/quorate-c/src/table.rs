//! Claims in Arrow tables: one claim a row, with the columns that `docs/reference.md` describes for JSON Lines.

use std::{num::NonZeroUsize, sync::Arc};

use arrow_array::{BooleanArray, RecordBatch, StringArray};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use quorate::AnySuite;
use quorate_formats::{
    Entry,
    arrow::BatchRows,
    judge::{Item, Judge, Window, WindowLimit},
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

/// Verifies the rows of batches. A row that names no suite is a claim of `suite`. There is one row of verdicts for each row, in order.
///
/// Claims are verified window by window, so that a table of any length takes the memory of its batches and its verdicts.
///
/// # Errors
/// [`Code::Claims`]: the batches cannot be read, or have no columns of claims. [`Code::System`], [`Code::Internal`].
pub fn verify(
    engine: &Engine,
    suite: Option<AnySuite>,
    batches: impl Iterator<Item = Result<RecordBatch, ArrowError>>,
) -> Result<RecordBatch, CallFailure> {
    let mut random = random()?;
    let threads: NonZeroUsize = engine.verifier().options().threads;
    let mut judge = Judge::new(engine.verifier().clone());
    let mut window = Window::new(WindowLimit::of(threads));
    let (mut rows, mut reasons): (u64, Vec<Option<String>>) = (0, Vec::new());
    let mut settle =
        |window: &mut Window<Option<String>>, reasons: &mut Vec<Option<String>>| -> Result<(), CallFailure> {
            for judged in judge.judge(window.take(), &mut random).judged {
                let reason = match judged.ruling {
                    Some(ruling) => ruling
                        .fault()
                        .map_err(|undecided| CallFailure::new(Code::Internal, undecided.to_string()))?
                        .map(|fault| fault.to_string()),
                    // A row without a claim has a reason why.
                    None => Some(judged.about.unwrap_or_else(|| "the row makes no claim".to_owned())),
                };
                reasons.push(reason);
            }
            Ok(())
        };
    for batch in batches {
        let batch =
            batch.map_err(|error| CallFailure::new(Code::Claims, format!("the table cannot be read: {error}")))?;
        let read = BatchRows::new(&batch, rows).map_err(|error| CallFailure::new(Code::Claims, error.to_string()))?;
        rows += batch.num_rows() as u64;
        for entry in read {
            window.push(item(entry, suite));
            if window.is_full() {
                settle(&mut window, &mut reasons)?;
            }
        }
        settle(&mut window, &mut reasons)?;
    }
    let valid = BooleanArray::from_iter(reasons.iter().map(|reason| Some(reason.is_none())));
    let reasons = StringArray::from_iter(reasons);
    let verdicts = RecordBatch::try_new(schema(), vec![Arc::new(valid), Arc::new(reasons)]);
    verdicts.map_err(|error| CallFailure::new(Code::Internal, error.to_string()))
}

/// A row on its way to its verdict. Without a claim, it says why.
fn item(entry: Entry, suite: Option<AnySuite>) -> Item<Option<String>> {
    let bytes = entry.as_ref().map_or(0, |record| record.bytes());
    let (claim, about) = match entry.and_then(|record| record.split(suite)) {
        Ok((claim, about)) => match about.failed_check() {
            Some(check) => (None, Some(check.detail.clone())),
            None => (Some(claim), None),
        },
        Err(malformed) => (None, Some(malformed.to_string())),
    };
    Item { about, claim, bytes }
}
