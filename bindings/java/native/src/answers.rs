//! Verdicts as bytes, and the queue of a batcher's answers.
//!
//! ```text
//! verdicts = code:u8{claims} reason{claims whose code is not 1}
//! answers  = (id:u64 code:u8 reason)*
//! reason   = length:u32 byte{length}
//! ```
//!
//! Numbers are little-endian; codes are those of [`Ruled`]; reasons are UTF-8.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use quorate_c::{CallFailure, Code, Ruled, Verdicts};

/// The verdicts of a batch.
pub(crate) fn verdicts(verdicts: &Verdicts) -> Vec<u8> {
    let mut written: Vec<u8> = verdicts.ruled().map(|ruled| ruled as u8).collect();
    for (index, ruled) in verdicts.ruled().enumerate() {
        if ruled != Ruled::Valid {
            put_reason(&mut written, &verdicts.reason(index));
        }
    }
    written
}

fn put_reason(written: &mut Vec<u8>, reason: &str) {
    // A reason is a sentence.
    let length = u32::try_from(reason.len()).unwrap_or_default();
    written.extend(length.to_le_bytes());
    written.extend(&reason.as_bytes()[..length as usize]);
}

/// The answers of a batcher until a thread of Java fetches them: no thread of the batcher ever runs Java code.
#[derive(Default)]
pub(crate) struct Answers {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    written: Vec<u8>,
    /// Claims that were handed in and have no answer in `written` yet.
    open: usize,
    closed: bool,
}

impl Answers {
    /// Announces the answer to a claim.
    ///
    /// # Errors
    /// [`Code::Handle`], if nobody will fetch it.
    pub(crate) fn announce(self: &Arc<Self>, id: u64) -> Result<Announced, CallFailure> {
        let mut state = self.state();
        if state.closed {
            return Err(CallFailure::new(Code::Handle, "the batcher is closed"));
        }
        state.open += 1;
        Ok(Announced { answers: self.clone(), id, ruled: Ruled::Failed, reason: String::new() })
    }

    /// Waits for answers, and takes all that are there. Empty after [`close`](Self::close), when every announced answer was taken.
    pub(crate) fn take(&self) -> Vec<u8> {
        let mut state = self.state();
        while state.written.is_empty() && !(state.closed && state.open == 0) {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        std::mem::take(&mut state.written)
    }

    /// Takes no more announcements.
    pub(crate) fn close(&self) {
        self.state().closed = true;
        self.changed.notify_one();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A claim whose answer somebody waits for. Dropping it is the answer, which is [`Ruled::Failed`] unless another one was given.
pub(crate) struct Announced {
    answers: Arc<Answers>,
    id: u64,
    ruled: Ruled,
    reason: String,
}

impl Announced {
    /// Gives the answer.
    pub(crate) fn give(mut self, (ruled, reason): (Ruled, String)) {
        self.ruled = ruled;
        self.reason = reason;
    }
}

impl Drop for Announced {
    fn drop(&mut self) {
        let mut state = self.answers.state();
        state.written.extend(self.id.to_le_bytes());
        state.written.push(self.ruled as u8);
        put_reason(&mut state.written, &self.reason);
        state.open -= 1;
        self.answers.changed.notify_one();
    }
}
