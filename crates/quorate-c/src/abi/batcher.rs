//! Claims as they come, one by one.

use std::{
    cell::Cell,
    ffi::{c_char, c_void},
    ptr,
    time::Duration,
};

use quorate::ClaimBytes;

use super::{
    claim::{self, quorate_claim},
    memory::{free, give, guarded, items, none, of, quorate_error, text},
    verifier::undecided,
};
use crate::{
    fault::{CallFailure, Code},
    packed,
    service::{Service, ServiceOptions, class, ruled},
    verdicts::Ruled,
};

/// How a batcher works. All zeros are the defaults. `docs/batcher.md` says what each does.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct quorate_batcher_options {
    /// How many batches are verified at the same time, each on a thread of its own: 0 for one on each core.
    pub threads: u32,
    /// As in `quorate_options`.
    pub soundness: u32,
    /// As in `quorate_options`.
    pub backend: *const c_char,
    /// As in `quorate_options`.
    pub backend_size: usize,
    /// The longest that a claim waits for others while a thread is idle, in microseconds. It waits if batches begin so soon after one
    /// another that this takes an eighth of the threads' time: docs/batcher.md, "When a batch closes".
    pub linger_us: u64,
    /// The planned work at which a batch is full, in microseconds.
    pub target_us: u64,
    /// The planned work that may wait for each thread, in microseconds. What comes beyond it is refused.
    pub queue_us: u64,
    /// The most memory that waiting claims may take, in bytes, and the most bytes of messages that are hashed for one claim.
    pub queue_bytes: u64,
}

/// How urgent a claim is.
#[repr(u32)]
#[derive(Clone, Copy)]
pub enum quorate_class {
    /// A block: at once, on all threads.
    Block = 0,
    /// What a node needs for its own duties.
    Duty = 1,
    /// Everything else, which an overloaded batcher refuses first.
    Gossip = 2,
}

/// Verifies claims as they come, in batches, on threads of its own. Any number of threads can use one. Make it after a `fork`: a child has
/// none of its parent's threads, so nobody would answer.
pub struct quorate_batcher(Service);

/// What is called with a claim's answer: a `quorate_verdict`, and the reason of `size` bytes, which is there during the call alone.
///
/// It is called once for each claim: on a thread of the batcher, or on the thread of a caller, before a function of the batcher returns. A
/// caller must not hold a lock that the answer takes. It must return soon, because claims wait; it may hand in other claims; and it must
/// not throw or jump out. It must not free a batcher, and functions that wait for answers fail in it with `QUORATE_CODE_MISUSE`.
///
/// If an answer hands in a claim that the batcher refuses at once, the answer to that comes after this one has returned, on the same
/// thread. An answer that hands every refused claim in again is called without end once the batcher is stopped.
pub type quorate_answer =
    Option<unsafe extern "C" fn(user: *mut c_void, verdict: u8, reason: *const c_char, size: usize)>;

/// What the caller gets back with an answer. The library never looks at it.
struct User(*mut c_void);

// SAFETY: the header says that answers come on other threads, so the caller's pointer is made for that.
unsafe impl Send for User {}

impl User {
    fn tell(self, done: unsafe extern "C" fn(*mut c_void, u8, *const c_char, usize), ruled: Ruled, reason: &str) {
        // The pointer of an empty text in Rust is to no memory.
        let place = if reason.is_empty() { c"".as_ptr() } else { reason.as_ptr().cast() };
        // An answer can hand in a claim to another batcher that answers it at once, so answers stand within answers.
        let outer = IN_ANSWER.replace(true);
        // SAFETY: the caller keeps to the header: the function takes these, and the reason is there during the call.
        unsafe { done(self.0, ruled as u8, place, reason.len()) }
        IN_ANSWER.set(outer);
    }
}

thread_local! {
    /// Whether an answer runs on this thread.
    static IN_ANSWER: Cell<bool> = const { Cell::new(false) };
}

/// Refuses to wait for answers in an answer: they may have to come on its own thread.
fn outside_answers() -> Result<(), CallFailure> {
    if IN_ANSWER.get() {
        return Err(CallFailure::misuse(
            "this function waits for answers and was called in one; let the answer return, and call it on another thread",
        ));
    }
    Ok(())
}

/// Starts a batcher. `options` may be null. Free it by `quorate_batcher_free`. `QUORATE_CODE_SYSTEM` if there are no threads.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn quorate_batcher_new(
    options: *const quorate_batcher_options,
    batcher: *mut *mut quorate_batcher,
    error: *mut quorate_error,
) -> i32 {
    guarded(error, || {
        // SAFETY: the caller keeps to the header.
        unsafe { none(batcher) };
        let mut own = ServiceOptions::default();
        // SAFETY: the caller keeps to the header.
        if let Some(options) = unsafe { options.as_ref() } {
            let quorate_batcher_options {
                threads,
                soundness,
                backend,
                backend_size,
                linger_us,
                target_us,
                queue_us,
                queue_bytes,
            } = *options;
            // SAFETY: the caller keeps to the header.
            let backend = unsafe { text("backend", backend, backend_size) }?;
            own = ServiceOptions { threads, soundness, backend, linger_us, target_us, queue_us, queue_bytes };
        }
        // SAFETY: the caller keeps to the header.
        unsafe { give(batcher, quorate_batcher(Service::start(&own)?)) }
    })
}

/// Hands a claim in, which is copied, and does not wait. `answer` is called with `user` once, unless this function fails: then never. A claim
/// that is refused, also because the batcher is stopped, is no failure: its answer says so. `urgency` is a `quorate_class`. The deadline is in
/// milliseconds from now; 0 is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn quorate_batcher_submit(
    batcher: *const quorate_batcher,
    claim: *const quorate_claim,
    urgency: u32,
    deadline_ms: u64,
    answer: quorate_answer,
    user: *mut c_void,
    error: *mut quorate_error,
) -> i32 {
    guarded(error, || {
        // SAFETY: the caller keeps to the header.
        unsafe {
            let [claim] = items("claim", claim, 1)? else {
                return Err(CallFailure::new(Code::Null, "claim: it is none"));
            };
            submit(of("batcher", batcher)?, claim::read(claim)?, urgency, deadline_ms, answer, User(user))
        }
    })
}

/// The same for one packed claim, as `quorate_verify_packed` reads it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn quorate_batcher_submit_packed(
    batcher: *const quorate_batcher,
    packed: *const u8,
    size: usize,
    urgency: u32,
    deadline_ms: u64,
    answer: quorate_answer,
    user: *mut c_void,
    error: *mut quorate_error,
) -> i32 {
    guarded(error, || {
        // SAFETY: the caller keeps to the header.
        unsafe {
            for claim in packed::read_all(items("packed", packed, size)?, 1)? {
                submit(of("batcher", batcher)?, claim, urgency, deadline_ms, answer, User(user))?;
            }
            Ok(())
        }
    })
}

fn submit(
    batcher: &quorate_batcher,
    claim: ClaimBytes,
    urgency: u32,
    deadline_ms: u64,
    answer: quorate_answer,
    user: User,
) -> Result<(), CallFailure> {
    let done = answer.ok_or_else(|| CallFailure::new(Code::Null, "answer: the pointer is null"))?;
    batcher.0.submit(claim, class(urgency)?, Duration::from_millis(deadline_ms), move |answer| {
        let (ruled, reason) = ruled(answer);
        user.tell(done, ruled, &reason);
    });
    Ok(())
}

/// Hands packed claims in, as `quorate_verify_packed` reads them, and waits for all verdicts. Several threads that call it share
/// batches. If the call fails, all verdicts are `QUORATE_VERDICT_UNDECIDED`. `QUORATE_CODE_MISUSE` in an answer, of any batcher.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn quorate_batcher_verify_packed(
    batcher: *const quorate_batcher,
    packed: *const u8,
    size: usize,
    count: usize,
    urgency: u32,
    deadline_ms: u64,
    verdicts: *mut u8,
    error: *mut quorate_error,
) -> i32 {
    guarded(error, || {
        // SAFETY: the caller keeps to the header, and there is no place for reasons.
        let (places, packed) =
            unsafe { (undecided(verdicts, count, ptr::null_mut())?, items("packed", packed, size)?) };
        outside_answers()?;
        let claims = packed::read_all(packed, count)?;
        // SAFETY: the caller keeps to the header.
        let answers =
            unsafe { of("batcher", batcher)? }.0.verify(claims, class(urgency)?, Duration::from_millis(deadline_ms));
        places.iter_mut().zip(answers).for_each(|(place, answer)| *place = ruled(answer).0 as u8);
        Ok(())
    })
}

/// Takes no more claims, answers those that wait for at most so many milliseconds, and refuses the others. It waits for the batches in
/// progress. If several threads call it at the same time, the shortest time counts for all, and all but one may return before those
/// batches have ended. `QUORATE_CODE_MISUSE` in an answer, of any batcher.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn quorate_batcher_stop(
    batcher: *const quorate_batcher,
    within_ms: u64,
    error: *mut quorate_error,
) -> i32 {
    guarded(error, || {
        outside_answers()?;
        // SAFETY: the caller keeps to the header.
        unsafe { of("batcher", batcher)? }.0.stop(Duration::from_millis(within_ms));
        Ok(())
    })
}

/// Refuses what waits, waits for the batches in progress, and frees the batcher. All answers have come when it returns. Null is fine. Do
/// not call it in an answer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn quorate_batcher_free(batcher: *mut quorate_batcher) {
    // SAFETY: the caller keeps to the header.
    unsafe { free(batcher) }
}
