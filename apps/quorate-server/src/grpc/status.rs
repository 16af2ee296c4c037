//! What a call is told that gets no verdicts.

use quorate_batcher::Refused;
use tonic::Status;

pub(super) fn too_many(most: usize) -> String {
    format!("the request holds more than {most} claims, the limit; send several, or a stream")
}

pub(super) fn busy() -> Status {
    Status::resource_exhausted("too many requests are in progress; send it again later")
}

pub(super) fn past_its_limits() -> Status {
    Status::internal("the call came past its limits, a fault of the server; please report it")
}

pub(super) fn slow() -> Status {
    Status::deadline_exceeded("the next message did not arrive in time")
}

/// Not one claim of a request was verified, for this reason.
pub(super) fn all_refused(refused: Refused) -> Option<Status> {
    let why = refused.to_string();
    match refused {
        Refused::Overloaded | Refused::SuspectsOverloaded => Some(Status::resource_exhausted(why)),
        // As of a message that is too long: nobody shall repeat what is refused for ever.
        Refused::TooLarge => Some(Status::out_of_range(why)),
        Refused::Stopped => Some(Status::unavailable(why)),
        Refused::Banned => Some(Status::permission_denied(why)),
        Refused::Failed => Some(Status::internal(why)),
        _ => None,
    }
}
