//! Errors with the codes that the package documents.

use napi::{Env, JsError};
use quorate_c::{CallFailure, Code};

/// What JavaScript reads as `error.code`.
#[derive(Clone, Copy, Debug)]
pub struct Kind(&'static str);

impl AsRef<str> for Kind {
    fn as_ref(&self) -> &str {
        self.0
    }
}

impl From<napi::Status> for Kind {
    fn from(_: napi::Status) -> Self {
        Self(INTERNAL)
    }
}

/// Why a call failed, as JavaScript hears of it.
#[derive(Clone, Debug)]
pub(crate) struct Fault {
    kind: Kind,
    text: String,
}

impl Fault {
    /// Calls that wait for their turn have so many bytes, of which there may be at most so many, and another call has so many more.
    pub(crate) fn queue_full(waiting: usize, most: usize, more: usize) -> Self {
        let text = format!(
            "queue full: found {waiting} bytes of calls that wait for their turn and {more} of this one, expected {most} at most; await \
             earlier calls before you make more"
        );
        Self { kind: Kind("ERR_QUORATE_QUEUE_FULL"), text }
    }
}

impl From<CallFailure> for Fault {
    fn from(CallFailure { code, text }: CallFailure) -> Self {
        Self { kind: kind(code), text }
    }
}

impl From<Fault> for napi::Error<Kind> {
    fn from(Fault { kind, text }: Fault) -> Self {
        Self::new(kind, text)
    }
}

/// What a function that JavaScript calls returns.
pub type Result<T> = std::result::Result<T, napi::Error<Kind>>;

const INTERNAL: &str = "ERR_QUORATE_INTERNAL";

fn kind(code: Code) -> Kind {
    Kind(match code {
        Code::Encoding => "ERR_QUORATE_ENCODING",
        Code::Misuse | Code::Suite | Code::Claims => "ERR_QUORATE_MISUSE",
        Code::System => "ERR_QUORATE_SYSTEM",
        // The others are about pointers, of which JavaScript has none.
        _ => INTERNAL,
    })
}

/// Does the work of a call. A panic is an internal error.
pub(crate) fn guarded<T>(
    work: impl FnOnce() -> std::result::Result<T, CallFailure>,
) -> std::result::Result<T, CallFailure> {
    quorate_host::contained(work).unwrap_or_else(|panicked| {
        Err(CallFailure::new(Code::Internal, format!("a fault of the library, please report it: {panicked}")))
    })
}

/// Does the work of a call that answers at once.
pub(crate) fn called<T>(work: impl FnOnce() -> std::result::Result<T, CallFailure>) -> Result<T> {
    guarded(work).map_err(|failure| Fault::from(failure).into())
}

/// A fault as the error with which a promise is rejected.
pub(crate) fn rejection(env: &Env, fault: Fault) -> napi::Error {
    let error: napi::Error<Kind> = fault.into();
    napi::Error::from(JsError::from(error).into_unknown(*env))
}

/// An error of Node's interface.
pub(crate) fn of_node(error: napi::Error) -> napi::Error<Kind> {
    napi::Error::new(Kind(INTERNAL), error.reason.clone())
}
