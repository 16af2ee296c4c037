//! A participant on disk: its secrets, the ceremony, and the messages that it has taken, from which everything else follows.

use std::sync::Arc;

use quorate::{Bls12381Suite, Options, SecretKey};
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use super::{JoinError, Participant};
use crate::{
    dkg::{
        ceremony::{Ceremony, MemberNumber},
        hex::CeremonyDigest,
        identity::{ParticipantIdentity, secret},
        judge::{Blame, Judgement},
        message::CeremonyMessage,
    },
    sharing::KeyShare,
};

impl<S: Bls12381Suite> Participant<S> {
    /// The state as JSON, with the seed and the share of the previous key in the clear: write it for nobody else to
    /// read. The ceremony's description is in it, so that the state says of which key it holds a share. The identity is not.
    pub fn to_json(&self) -> Zeroizing<String> {
        let public = serde_json::to_string(&PublicState {
            ceremony: self.ceremony.id(),
            member: self.member,
            closed: self.closed,
            messages: self.messages.values().cloned().collect(),
            contradictions: self.contradictions.iter().map(|(closed, blame)| (*closed, blame.to_json())).collect(),
            description: Some(self.ceremony.to_json()),
        })
        .expect("text and numbers are JSON");
        let secret = |bytes: &[u8; 32]| Zeroizing::new(base16ct::lower::encode_string(bytes));
        let seed = secret(&self.seed);
        let share = self.share.as_ref().map(|share| secret(&share.secret().to_bytes()));
        let mut json = Zeroizing::new(String::with_capacity(public.len() + 200));
        json.push_str("{\"seed\":\"");
        json.push_str(&seed);
        json.push('"');
        if let Some(share) = &share {
            json.push_str(",\"share\":\"");
            json.push_str(share);
            json.push('"');
        }
        json.push_str(",\"public\":");
        json.push_str(&public);
        json.push_str("}\n");
        json
    }

    /// Goes on from a state.
    ///
    /// # Errors
    /// [`JoinError`].
    pub fn from_json(
        json: &[u8],
        ceremony: Ceremony<S>,
        identity: ParticipantIdentity,
        options: Options,
    ) -> Result<Self, JoinError> {
        Self::open(serde_json::from_slice(json)?, ceremony, identity, options)
    }

    /// Goes on from a state, in the ceremony whose description is in it.
    ///
    /// # Errors
    /// [`JoinError`].
    pub fn from_json_alone(json: &[u8], identity: ParticipantIdentity, options: Options) -> Result<Self, JoinError> {
        let state: State<'_> = serde_json::from_slice(json)?;
        let description = state.public.description.as_ref().ok_or(JoinError::NoDescription)?;
        let ceremony = Ceremony::from_json(description.as_bytes(), options.backend).map_err(JoinError::Description)?;
        Self::open(state, ceremony, identity, options)
    }

    fn open(
        State { seed, share, public }: State<'_>,
        ceremony: Ceremony<S>,
        identity: ParticipantIdentity,
        options: Options,
    ) -> Result<Self, JoinError> {
        let seed = secret(seed).ok_or(JoinError::Secret("seed"))?;
        let member = ceremony.member_named(identity.name());
        if public.ceremony != ceremony.id() || member != Some(public.member) {
            return Err(JoinError::OtherState { found: public.member, ceremony: public.ceremony });
        }
        let share = share.map(|share| {
            let key = secret(share).and_then(|bytes| SecretKey::from_bytes(&bytes).ok());
            let key = key.ok_or(JoinError::Secret("share"))?;
            let index = ceremony.previous_index(public.member).ok_or(JoinError::ShareUnneeded)?;
            Ok::<_, JoinError>(KeyShare::new(index, key))
        });
        let mut participant = Self::new(ceremony, identity, seed, share.transpose()?, options)?;
        for message in public.messages {
            participant.take(message).map_err(JoinError::Message)?;
        }
        for (closed, blame) in public.contradictions {
            let blames = Blame::from_json(&participant.ceremony, blame.as_bytes(), options.backend)?;
            participant.contradictions.extend(blames.into_iter().map(|blame| (closed, blame)));
        }
        participant.resume(public.closed);
        Ok(participant)
    }

    /// Closes the rounds that were closed when the state was written. Nothing is said that was not said then.
    fn resume(&mut self, closed: usize) {
        self.closed = closed.min(self.ceremony.rounds().len());
        self.judgement = Arc::new(Judgement::new(&self.ceremony, &self.board(), self.options.backend));
        let failed = self.ceremony.rounds()[..self.closed].iter().find_map(|round| self.failure_after(*round));
        self.end = match (failed, self.round()) {
            (Some(failure), _) => Some(Err(failure)),
            (None, None) => Some(self.result()),
            // Every member of this round has sent its message, or has timed out.
            (None, Some(round)) => {
                let silent = !self.messages.contains_key(&(round, self.member));
                let due = silent && self.speakers(round).contains(&self.member);
                due.then(|| self.speech(round).err()).flatten().map(Err)
            }
        };
    }
}

/// The secrets are borrowed, so that no copy of their text is left behind.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct State<'a> {
    seed: &'a str,
    share: Option<&'a str>,
    public: PublicState,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PublicState {
    ceremony: CeremonyDigest,
    member: MemberNumber,
    closed: usize,
    messages: Vec<CeremonyMessage>,
    contradictions: Vec<(usize, String)>,
    /// The JSON of the ceremony.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    description: Option<String>,
}
