//! Why the EVM stopped a call that the contract did not revert: by the words of nodes, which have no code for it.

use std::fmt;

/// Why the EVM stopped a call. A contract that reverts is not stopped; it ends the call itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum EvmHalt {
    /// The call needs more gas than it was given.
    OutOfGas,
    /// The contract's code has an instruction that the chain does not know, or `INVALID`.
    Instruction,
    /// Anything else that code does wrong: the stack, a jump, a write in a call that may not write.
    Code,
}

impl EvmHalt {
    /// What a node means by the message of its error; `None` if that is not the end of a call in the EVM.
    pub(crate) fn of_words(message: &str) -> Option<Self> {
        let letters = letters(message);
        // What follows these words is the contract's own text.
        if letters.contains("revert") {
            return None;
        }
        WORDS.into_iter().find(|(words, _)| letters.contains(words)).map(|(_, halt)| halt)
    }
}

/// The cause, and what to do about it.
impl fmt::Display for EvmHalt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::OutOfGas => {
                "the call needs more gas than it was given. Check the contract's address; if it is right, ask a node that gives calls \
                 more gas (geth and Erigon: --rpc.gascap)"
            }
            Self::Instruction => {
                "the contract's code has an instruction that the chain does not know, or one that stops it. Check the contract's \
                 address, and whether the chain has what quorate's contracts need (CLZ, EIP-7939; MCOPY, EIP-5656)"
            }
            Self::Code => "the contract's code does what the EVM forbids. Check the contract's address",
        })
    }
}

/// The letters of a message, in lower case: "out of gas", "OutOfGas" and "OUT_OF_GAS" are one word.
pub(crate) fn letters(message: &str) -> String {
    message.chars().filter(char::is_ascii_alphabetic).map(|letter| letter.to_ascii_lowercase()).collect()
}

/// The words of geth, Erigon, Nethermind, Besu, Reth, and anvil, without what is not a letter. The first that is found counts.
const WORDS: [(&str, EvmHalt); 28] = [
    ("outofgas", EvmHalt::OutOfGas),
    ("gasrequiredexceeds", EvmHalt::OutOfGas),
    ("memoryoog", EvmHalt::OutOfGas),
    ("memorylimitoog", EvmHalt::OutOfGas),
    ("precompileoog", EvmHalt::OutOfGas),
    ("operandoog", EvmHalt::OutOfGas),
    ("gasuintoverflow", EvmHalt::OutOfGas),
    ("memorylimitexceeded", EvmHalt::OutOfGas),
    ("invalidopcode", EvmHalt::Instruction),
    ("invalidfeopcode", EvmHalt::Instruction),
    ("opcodenotfound", EvmHalt::Instruction),
    ("badinstruction", EvmHalt::Instruction),
    ("evmerrornotactivated", EvmHalt::Instruction),
    ("stackunderflow", EvmHalt::Code),
    ("stackoverflow", EvmHalt::Code),
    ("stacklimit", EvmHalt::Code),
    ("outofstack", EvmHalt::Code),
    ("invalidjump", EvmHalt::Code),
    ("badjumpdestination", EvmHalt::Code),
    ("writeprotection", EvmHalt::Code),
    ("duringstaticcall", EvmHalt::Code),
    ("staticcallviolation", EvmHalt::Code),
    ("insidestatic", EvmHalt::Code),
    ("illegalstatechange", EvmHalt::Code),
    ("returndataoutofbounds", EvmHalt::Code),
    ("outofoffset", EvmHalt::Code),
    ("accessviolation", EvmHalt::Code),
    ("precompileerror", EvmHalt::Code),
];

#[cfg(test)]
mod tests {
    use super::*;

    /// What nodes answer to a call that ends so.
    #[test]
    fn the_words_of_nodes() {
        for (message, halt) in [
            // geth and Erigon
            ("out of gas", EvmHalt::OutOfGas),
            ("gas required exceeds allowance (50000000)", EvmHalt::OutOfGas),
            ("gas uint64 overflow", EvmHalt::OutOfGas),
            ("invalid opcode: INVALID", EvmHalt::Instruction),
            ("invalid opcode: opcode 0x1e not defined", EvmHalt::Instruction),
            ("stack underflow (0 <=> 2)", EvmHalt::Code),
            ("stack limit reached 1024 (1023)", EvmHalt::Code),
            ("invalid jump destination", EvmHalt::Code),
            ("write protection", EvmHalt::Code),
            ("return data out of bounds", EvmHalt::Code),
            // Reth
            ("out of gas: gas required exceeds: 16777216", EvmHalt::OutOfGas),
            ("out of gas: gas exhausted during memory expansion: 600000000", EvmHalt::OutOfGas),
            ("EVM error: InvalidFEOpcode", EvmHalt::Instruction),
            ("EVM error: StackUnderflow", EvmHalt::Code),
            // anvil
            ("EVM error OutOfGas", EvmHalt::OutOfGas),
            ("EVM error PrecompileOOG", EvmHalt::OutOfGas),
            ("EVM error OpcodeNotFound", EvmHalt::Instruction),
            ("EVM error StateChangeDuringStaticCall", EvmHalt::Code),
            // Besu
            ("Out of gas", EvmHalt::OutOfGas),
            ("Bad instruction", EvmHalt::Instruction),
            ("Out of stack", EvmHalt::Code),
            ("Bad jump destination", EvmHalt::Code),
            // Nethermind
            ("OutOfGas", EvmHalt::OutOfGas),
            ("BadInstruction", EvmHalt::Instruction),
            ("AccessViolation", EvmHalt::Code),
        ] {
            assert_eq!(EvmHalt::of_words(message), Some(halt), "{message}");
        }
    }

    /// A revert is the contract's word, and the rest the node's own trouble.
    #[test]
    fn what_does_not_end_a_call() {
        for message in [
            "",
            "execution reverted",
            "execution reverted: out of gas",
            "VM Exception while processing transaction: reverted with reason string 'invalid opcode'",
            "insufficient funds for gas * price + value",
            "header not found",
            "missing trie node",
            "too many requests",
            "execution aborted (timeout = 5s)",
            "the method eth_call does not exist/is not available",
            "max fee per gas less than block base fee",
            "intrinsic gas too low",
        ] {
            assert_eq!(EvmHalt::of_words(message), None, "{message}");
        }
    }
}
