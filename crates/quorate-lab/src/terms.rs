//! The terms of a network that no chain has, for tests of what follows from terms.
//!
//! The tests inside quorate-evm have the same once more: to them, the types here are those of another compilation of their crate.

use quorate_evm::{KeyGroup, alloy_primitives::Address, task_network::ContractTerms};

/// The terms of some network on BLS12-381, whose first epoch began at second 0. Change what a test is about: `..some_terms()`.
pub fn some_terms() -> ContractTerms {
    ContractTerms {
        chain_id: 1,
        contract: Address::repeat_byte(0xaa),
        verifier: Address::repeat_byte(0xbb),
        token: Address::repeat_byte(0xcc),
        source: None,
        key_group: KeyGroup::Bls12381G2,
        pinned_slots: 1,
        genesis: 0,
        epoch_length: 100,
        slashing_window: 100,
        withdrawal_delay: 300,
        unit: 1,
        minimum_stake: 1,
        maximum_operators: 10,
        quorum_numerator: 2,
        quorum_denominator: 3,
        performer_reward: 5,
        attester_reward: 50,
        penalty_share: 1,
        slash_share: 1,
        bounty_share: 1,
    }
}
