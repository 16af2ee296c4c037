//! Why a node does not take a transaction: by the words of nodes, which have no code for it. Other words than these prove nothing: a
//! gateway may answer with an error of its own after it handed the transaction on.

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
    /// The sender has too little money.
    Money,
    /// The node checks a transaction before it takes it, and this one does not pass: its gas, its type, its chain, or a nonce that is too
    /// high.
    Unfit,
}

impl SendRefusal {
    /// What a node means by the message of its error; `None` if these are not the words of a check that a node makes before it
    /// takes a transaction.
    pub(crate) fn of_words(message: &str) -> Option<Self> {
        // "unknown transaction type" is something else than "known transaction".
        let letters = letters(message).replace("unknown", "");
        WORDS.into_iter().find(|(words, _)| letters.contains(words)).map(|(_, refusal)| refusal)
    }
}

/// The words of geth, Erigon, Nethermind, Besu, Reth, and anvil, without what is not a letter. The first that is found counts.
const WORDS: [(&str, SendRefusal); 33] = [
    ("alreadyknown", SendRefusal::Seen),
    ("alreadyimported", SendRefusal::Seen),
    ("knowntransaction", SendRefusal::Seen),
    ("existingtxwithsamehash", SendRefusal::Seen),
    ("existingtxnwithsamehash", SendRefusal::Seen),
    ("noncetoolow", SendRefusal::Seen),
    ("oldnonce", SendRefusal::Seen),
    ("replacementtransactionunderpriced", SendRefusal::Outbid),
    ("replacementnotallowed", SendRefusal::Outbid),
    ("couldnotreplaceexistingtx", SendRefusal::Outbid),
    ("underpriced", SendRefusal::Underpriced),
    ("feetoolow", SendRefusal::Underpriced),
    ("gaspricebelowconfigured", SendRefusal::Underpriced),
    ("insufficientfunds", SendRefusal::Money),
    ("upfrontcostexceeds", SendRefusal::Money),
    ("noncetoohigh", SendRefusal::Unfit),
    ("noncegap", SendRefusal::Unfit),
    ("intrinsicgas", SendRefusal::Unfit),
    ("floordatagas", SendRefusal::Unfit),
    ("gaslimitexceeded", SendRefusal::Unfit),
    ("exceedsblockgaslimit", SendRefusal::Unfit),
    ("transactiongaslimittoohigh", SendRefusal::Unfit),
    ("lessthanblockbasefee", SendRefusal::Unfit),
    ("gaspricebelowcurrentbasefee", SendRefusal::Unfit),
    ("higherthanmaxfeepergas", SendRefusal::Unfit),
    ("exceedstheconfiguredcap", SendRefusal::Unfit),
    ("feecapexceeded", SendRefusal::Unfit),
    ("oversizeddata", SendRefusal::Unfit),
    ("transactiontypenotsupported", SendRefusal::Unfit),
    ("invalidsender", SendRefusal::Unfit),
    ("invalidchainid", SendRefusal::Unfit),
    ("txpoolisfull", SendRefusal::Unfit),
    ("subpoolisfull", SendRefusal::Unfit),
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
            ("INTERNAL_ERROR: existing txn with same hash", Some(SendRefusal::Seen)),
            ("Known transaction", Some(SendRefusal::Seen)),
            ("transaction already imported", Some(SendRefusal::Seen)),
            ("Transaction with the same hash was already imported.", Some(SendRefusal::Seen)),
            ("nonce too low: next nonce 7, tx nonce 6", Some(SendRefusal::Seen)),
            ("NONCE_TOO_LOW", Some(SendRefusal::Seen)),
            ("OldNonce, Current nonce: 7, nonce of rejected tx: 6", Some(SendRefusal::Seen)),
            ("replacement transaction underpriced", Some(SendRefusal::Outbid)),
            ("transaction underpriced: gas tip cap 0, minimum needed 1", Some(SendRefusal::Underpriced)),
            ("FeeTooLow, EffectivePriorityFeePerGas too low 1 < 2", Some(SendRefusal::Underpriced)),
            ("Gas price below configured minimum gas price", Some(SendRefusal::Underpriced)),
            ("ReplacementNotAllowed", Some(SendRefusal::Outbid)),
            ("could not replace existing tx", Some(SendRefusal::Outbid)),
            ("insufficient funds for gas * price + value", Some(SendRefusal::Money)),
            ("Upfront cost exceeds account balance", Some(SendRefusal::Money)),
            ("nonce too high", Some(SendRefusal::Unfit)),
            ("intrinsic gas too low: gas 20000, minimum needed 21000", Some(SendRefusal::Unfit)),
            ("Intrinsic gas exceeds gas limit", Some(SendRefusal::Unfit)),
            ("insufficient gas for floor data gas cost: gas 21000, minimum needed 24000", Some(SendRefusal::Unfit)),
            ("GasLimitExceeded, Gas limit: 1, gas limit of rejected tx: 2", Some(SendRefusal::Unfit)),
            ("Transaction gas limit exceeds block gas limit", Some(SendRefusal::Unfit)),
            ("Gas price below current base fee", Some(SendRefusal::Unfit)),
            ("Transaction fee cap exceeded", Some(SendRefusal::Unfit)),
            ("NonceGap, Future nonce. Expected nonce: 7", Some(SendRefusal::Unfit)),
            ("pending sub-pool is full", Some(SendRefusal::Unfit)),
            ("tx fee (1.20 ether) exceeds the configured cap (1.00 ether)", Some(SendRefusal::Unfit)),
            ("max fee per gas less than block base fee", Some(SendRefusal::Unfit)),
            ("internal error: upstream timed out", None),
            ("unknown transaction type: 4", None),
            ("execution reverted", None),
            ("", None),
        ] {
            assert_eq!(SendRefusal::of_words(message), refusal, "{message}");
        }
    }
}
