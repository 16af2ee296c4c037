//! No bytes make the readers of blocks and states panic, nor the claims of a block that was read. The first byte chooses the fork
//! and the preset.

use quorate_formats::network::Fork;
use quorate_history::{Block, Chain, Committees, Preset, State, Surroundings, Validator};

const FORKS: [Fork; 8] =
    [Fork::Phase0, Fork::Altair, Fork::Bellatrix, Fork::Capella, Fork::Deneb, Fork::Electra, Fork::Fulu, Fork::Gloas];

pub fn run(bytes: &[u8]) {
    let Some((first, bytes)) = bytes.split_first() else { return };
    let fork = FORKS[usize::from(first % 8)];
    let preset = [Preset::Minimal, Preset::Mainnet, Preset::Gnosis][usize::from(first / 8 % 3)];
    let chain = chain(fork, preset);
    if let Ok(state) = State::from_bytes(bytes, &chain) {
        assert!(state.validators.len() * 121 <= bytes.len());
    }
    if let Ok(block) = Block::from_bytes(bytes, fork, preset) {
        crate::accepted();
        let validator = |key: u8| Validator { key: [key; 48], activation_epoch: 0, exit_epoch: u64::MAX };
        let state = State {
            slot: 0,
            block_roots: vec![[0; 32]; 64],
            randao_mixes: vec![[0; 32]; 64],
            validators: (0..128).map(validator).collect(),
            sync_committee: None,
        };
        let surroundings = Surroundings { chain: &chain, state: &state, sync_committee: None, previous_root: [0; 32] };
        let claims = surroundings.claims(&block, &mut Committees::new(preset));
        assert!(claims.len() >= 2);
    }
}

/// A chain with one fork, whose states have zeros in their heads.
fn chain(fork: Fork, preset: Preset) -> Chain {
    let zeros = "00".repeat(32);
    let text = format!(
        r#"{{"preset": "{preset}", "genesis_validators_root": "{zeros}", "genesis_fork_version": "00000000",
        "capella_fork_version": "00000000", "forks": [{{"name": "{}", "epoch": 0, "version": "00000000"}}]}}"#,
        format!("{fork:?}").to_lowercase()
    );
    Chain::from_json(&text, "fuzzed").expect("a chain")
}
