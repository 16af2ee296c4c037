//! The verdicts of a call.

use napi_derive::napi;
use quorate_c::{Ruled, Verdicts};

/// The verdicts of a call.
#[napi(object)]
pub struct NativeVerdicts {
    /// A digit for each claim, in the order of the claims: the number of its `Ruled`.
    pub codes: String,
    /// Of each claim that is not valid, in the order of the claims: why.
    pub reasons: Vec<String>,
}

impl NativeVerdicts {
    pub(crate) fn of(verdicts: &Verdicts) -> Self {
        let others = verdicts.ruled().enumerate().filter(|(_, ruled)| *ruled != Ruled::Valid);
        let reasons = others.map(|(index, _)| verdicts.reason(index)).collect();
        Self::ruled(verdicts.ruled(), reasons)
    }

    /// Verdicts, and why those that are not valid are not.
    pub(crate) fn ruled(ruled: impl Iterator<Item = Ruled>, reasons: Vec<String>) -> Self {
        Self { codes: ruled.map(|ruled| char::from(b'0' + ruled as u8)).collect(), reasons }
    }
}
