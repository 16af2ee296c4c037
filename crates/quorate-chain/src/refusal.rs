//! Why a node does not take a transaction, if its nonce or its fees are the reason: by the words of nodes, which have no code for it.

use crate::halt::letters;

/// Why a node does not take a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SendRefusal {
    /// The node has the transaction, or its nonce is used. An earlier try may have reached the node, though its answer did not come back.
    Seen,
    /// The fees are too low for the node.
    Underpriced,
    /// Another transaction waits with the same nonce, and the fees are too low to replace it.
    Outbid,
}

impl SendRefusal {
    /// What a node means by the message of its error; `None` if it is about something else than nonce and fees.
    pub(crate) fn of_words(message: &str) -> Option<Self> {
        // "unknown transaction type" is something else than "known transaction".
        let letters = letters(message).replace("unknown", "");
        WORDS.into_iter().find(|(words, _)| letters.contains(words)).map(|(_, refusal)| refusal)
    }
}

/// The words of geth, Erigon, Nethermind, Besu, Reth, and anvil, without what is not a letter. The first that is found counts.
const WORDS: [(&str, SendRefusal); 10] = [
    ("alreadyknown", SendRefusal::Seen),
    ("alreadyimported", SendRefusal::Seen),
    ("knowntransaction", SendRefusal::Seen),
    ("existingtxwithsamehash", SendRefusal::Seen),
    ("noncetoolow", SendRefusal::Seen),
    ("oldnonce", SendRefusal::Seen),
    ("replacementtransactionunderpriced", SendRefusal::Outbid),
    ("replacementnotallowed", SendRefusal::Outbid),
    ("couldnotreplaceexistingtx", SendRefusal::Outbid),
    ("underpriced", SendRefusal::Underpriced),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_nodes() {
        for (message, refusal) in [
            ("already known", Some(SendRefusal::Seen)),
            ("AlreadyKnown", Some(SendRefusal::Seen)),
            ("ALREADY_EXISTS: already known", Some(SendRefusal::Seen)),
            ("INTERNAL_ERROR: existing tx with same hash", Some(SendRefusal::Seen)),
            ("Known transaction", Some(SendRefusal::Seen)),
            ("transaction already imported", Some(SendRefusal::Seen)),
            ("Transaction with the same hash was already imported.", Some(SendRefusal::Seen)),
            ("nonce too low: next nonce 7, tx nonce 6", Some(SendRefusal::Seen)),
            ("NONCE_TOO_LOW", Some(SendRefusal::Seen)),
            ("OldNonce, Current nonce: 7, nonce of rejected tx: 6", Some(SendRefusal::Seen)),
            ("replacement transaction underpriced", Some(SendRefusal::Outbid)),
            ("transaction underpriced: gas tip cap 0, minimum needed 1", Some(SendRefusal::Underpriced)),
            ("ReplacementNotAllowed", Some(SendRefusal::Outbid)),
            ("could not replace existing tx", Some(SendRefusal::Outbid)),
            ("insufficient funds for gas * price + value", None),
            ("nonce too high", None),
            ("unknown transaction type: 4", None),
            ("execution reverted", None),
            ("", None),
        ] {
            assert_eq!(SendRefusal::of_words(message), refusal, "{message}");
        }
    }
}
