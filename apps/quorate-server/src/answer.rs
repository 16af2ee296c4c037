//! Verdicts as a client reads them: the objects of `quorate verify --verdicts`, and claims that were refused.

use quorate::Verdict;
use quorate_batcher::Refused;
use quorate_formats::{Id, Malformed, Place};
use serde::Serialize;
use utoipa::ToSchema;

/// The answer to one claim.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Answer {
    /// The place of the claim in the request, from 0.
    pub(crate) index: u64,
    /// The claim's own name, as the request wrote it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<serde_json::Value>)]
    pub(crate) id: Option<Id>,
    /// The line of a stream that makes no claim.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) line: Option<u64>,
    /// Whether something proved the claim.
    pub(crate) valid: bool,
    /// The line makes no claim.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) malformed: Option<bool>,
    /// The claim was not verified: `overloaded`, `banned`, `deadline`, `stopped` or `failed`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub(crate) refused: Option<&'static str>,
    /// Why it is not valid, for a person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
}

impl Answer {
    /// What the batcher says about a claim.
    pub(crate) fn new(index: u64, id: Option<Id>, answer: &quorate_batcher::Answer) -> Self {
        let (valid, refused, reason) = match answer {
            Ok(Verdict::Valid) => (true, None, None),
            Ok(Verdict::Invalid(reason)) => (false, None, Some(reason.to_string())),
            Err(refused) => (false, Some(refused.name()), Some(refused.to_string())),
        };
        Self { index, id, line: None, valid, malformed: None, refused, reason }
    }

    /// A line of a stream that makes no claim.
    pub(crate) fn malformed(index: u64, Malformed { place, reason, id, .. }: Malformed) -> Self {
        let line = if let Place::Line(line) = place { Some(line) } else { None };
        Self { index, id, line, valid: false, malformed: Some(true), refused: None, reason: Some(reason) }
    }
}

/// Why a request has no verdicts, if it has none. If its claims were refused for several reasons, it is the one that passes first.
pub(crate) fn without_verdicts(answers: &[(Option<Refused>, Answer)]) -> Option<Refused> {
    let has = |reason: Option<Refused>| answers.iter().any(|(refused, _)| *refused == reason);
    if has(None) { None } else { SOONEST_OVER.into_iter().find(|reason| has(Some(*reason))) }
}

/// All reasons. Only if all sources are banned, a request is.
const SOONEST_OVER: [Refused; 7] = [
    Refused::Overloaded,
    Refused::SuspectsOverloaded,
    Refused::Stopped,
    Refused::DeadlinePassed,
    Refused::Failed,
    Refused::TooLarge,
    Refused::Banned,
];

#[cfg(test)]
mod tests {
    use quorate::Reason;

    use super::*;

    #[test]
    fn a_request_without_verdicts_is_refused_for_what_passes_first() {
        let of = |refused: &[Option<Refused>]| {
            let answer = |refused: &Option<Refused>| refused.map_or(Ok(Verdict::Valid), Err);
            let answers = refused.iter().map(|refused| (*refused, Answer::new(0, None, &answer(refused))));
            without_verdicts(&answers.collect::<Vec<_>>())
        };
        let overloaded = Some(Refused::Overloaded);
        assert_eq!(of(&[overloaded, Some(Refused::SuspectsOverloaded)]), overloaded);
        assert_eq!(of(&[Some(Refused::SuspectsOverloaded), overloaded]), overloaded);
        assert_eq!(of(&[Some(Refused::Banned), Some(Refused::DeadlinePassed), overloaded]), overloaded);
        assert_eq!(of(&[Some(Refused::Banned), Some(Refused::DeadlinePassed)]), Some(Refused::DeadlinePassed));
        for reason in Refused::ALL {
            assert_eq!(of(&[Some(reason); 2]), Some(reason));
            assert_eq!(of(&[Some(reason), None]), None, "one has a verdict");
        }
        assert_eq!(of(&[]), None);
    }

    #[test]
    fn answers_are_the_objects_of_the_command_line() {
        let json = |answer| serde_json::to_string(&answer).unwrap();
        let id = || Some(Id::text("a"));
        assert_eq!(json(Answer::new(0, id(), &Ok(Verdict::Valid))), r#"{"index":0,"id":"a","valid":true}"#);
        assert_eq!(
            json(Answer::new(1, None, &Ok(Verdict::Invalid(Reason::Mismatch)))),
            r#"{"index":1,"valid":false,"reason":"the signature does not match the keys and messages"}"#
        );
        let refused = json(Answer::new(2, None, &Err(Refused::Overloaded)));
        assert!(refused.starts_with(r#"{"index":2,"valid":false,"refused":"overloaded","reason":""#), "{refused}");
        let malformed = Malformed::new(Place::Line(4), "why").with_id(id());
        assert_eq!(
            json(Answer::malformed(3, malformed)),
            r#"{"index":3,"id":"a","line":4,"valid":false,"malformed":true,"reason":"why"}"#
        );
    }
}
