//! A signature with its known answer.

use quorate::AnySuite;

use super::files::File;

/// "These keys signed these messages, and this is the signature over all of them", as bytes, with the known answer.
#[derive(Clone, Debug)]
pub struct Case {
    /// The folder it comes from.
    pub set: String,
    /// File and place in the file.
    pub id: String,
    /// The suite that the signature is made in.
    pub suite: AnySuite,
    /// The public keys, encoded.
    pub keys: Vec<Vec<u8>>,
    /// The signed messages.
    pub messages: CaseMessages,
    /// The signature, encoded.
    pub signature: Vec<u8>,
    /// Whether the source says that it is true.
    pub expected: bool,
}

/// What the keys of a case signed.
#[derive(Clone, Debug)]
pub enum CaseMessages {
    /// All of them one message.
    Shared(Vec<u8>),
    /// Each its own.
    Each(Vec<Vec<u8>>),
    /// The one key itself, under the tag of proofs of possession.
    Possession,
}

impl Case {
    /// The case, if it has one message or as many messages as keys. Otherwise it makes no claim that quorate could
    /// verify, and the case is skipped.
    pub fn paired(self, file: &File) -> Option<Self> {
        let CaseMessages::Each(messages) = &self.messages else { return Some(self) };
        if messages.len() == self.keys.len() {
            return Some(self);
        }
        let says = if self.expected { "valid" } else { "invalid" };
        let (keys, messages) = (self.keys.len(), messages.len());
        file.skip(&self.id, format_args!("{keys} keys and {messages} messages make no claim; the source says {says}"));
        None
    }
}
