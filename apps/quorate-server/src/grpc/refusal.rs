//! With what calls end that get no verdicts.

use quorate_batcher::Refused;
use tonic::Status;

/// There is no place for another request, or no memory.
pub(super) fn busy() -> Status {
    Status::resource_exhausted("too many requests are in progress; send it again later")
}

/// A message did not come in time.
pub(super) fn slow() -> Status {
    Status::deadline_exceeded("the next message did not arrive in time")
}

/// There are too many claims in a request.
pub(super) fn too_many(most: usize) -> String {
    format!("the request holds more than {most} claims, the limit; send several, or a stream")
}

/// Not one claim of a request was verified, all for this reason.
pub(super) fn all_refused(refused: Refused) -> Option<Status> {
    let why = refused.to_string();
    match refused {
        Refused::Overloaded | Refused::SuspectsOverloaded => Some(Status::resource_exhausted(why)),
        Refused::Stopped => Some(Status::unavailable(why)),
        Refused::Banned => Some(Status::permission_denied(why)),
        Refused::Failed => Some(Status::internal(why)),
        _ => None,
    }
}

/// The result as metrics name it.
pub(super) fn code(status: &Status) -> &'static str {
    match status.code() {
        tonic::Code::InvalidArgument => "bad-claim",
        tonic::Code::ResourceExhausted => "overloaded",
        tonic::Code::PermissionDenied => "banned",
        tonic::Code::Unavailable => "stopped",
        _ => "failed",
    }
}
