//! Random blocks and states of the forks that no chain at hand has, with the roots that the specification's own code
//! (`eth-consensus-specs` 1.7.0a13, `get_random_ssz_object`) gives for them. Their signatures are random too.
#![allow(clippy::unwrap_used, reason = "an object that does not read fails its test")]

use quorate_formats::network::Fork;
use quorate_history::{Block, Chain, Preset, State};

fn root(block: &[u8], fork: Fork, preset: Preset) -> (u64, String) {
    let block = Block::from_bytes(block, fork, preset).unwrap();
    (block.slot, const_hex::encode(block.root))
}

macro_rules! object {
    ($name:literal) => {
        &include_bytes!(concat!("../random/", $name))[..]
    };
}

#[test]
fn roots_of_random_blocks() {
    use Fork::{Altair, Bellatrix, Electra, Fulu};
    use Preset::{Mainnet, Minimal};
    for (bytes, fork, preset, slot, expected) in [
        (
            object!("altair-minimal.block"),
            Altair,
            Minimal,
            2663719528974751769,
            "a4a7e2f65a73d339d00198c17f46cba8e53f384999f6e055b48eb912c53c2e5a",
        ),
        (
            object!("altair-mainnet.block"),
            Altair,
            Mainnet,
            12670401444456593351,
            "347d9e691330f954739c5526c9d1437601356a1b63c0e4dcdee91abf7cebab29",
        ),
        (
            object!("bellatrix-minimal.block"),
            Bellatrix,
            Minimal,
            1998190401099907041,
            "bdbd1a10dfc1cacbf912a11ce92eb2f30e40023ab52de09eb451224570f4c69c",
        ),
        (
            object!("bellatrix-mainnet.block"),
            Bellatrix,
            Mainnet,
            14397019007733815396,
            "560618b89b499a40a8eaef88bc3f47e6f14facea0b240646945e579392438dca",
        ),
        (
            object!("electra-minimal.block"),
            Electra,
            Minimal,
            6713919636901102194,
            "55d83e61b2b19d7cb1daf7b4b0f61b1e1cd60a57db35919053459f2f01ab6b91",
        ),
        (
            object!("electra-mainnet.block"),
            Electra,
            Mainnet,
            6671614345274208441,
            "0720d756d7e144aa3aeb04d1c23acd5bafdf399c3a08e58d37124fcea1a42839",
        ),
        (
            object!("fulu-minimal.block"),
            Fulu,
            Minimal,
            15309683952702623802,
            "b27bc55460ca736d046839f0ca38744948dddf4b2fb09df78c25067b1db245fe",
        ),
        (
            object!("fulu-mainnet.block"),
            Fulu,
            Mainnet,
            8173982169979436071,
            "787c82374cfefe582d63e985db6a57b037d7b68dda88985d0fce283729461712",
        ),
    ] {
        assert_eq!(root(bytes, fork, preset), (slot, expected.to_owned()), "{fork:?} {preset}");
    }
}

#[test]
fn a_block_of_another_fork_or_preset() {
    let electra = object!("electra-minimal.block");
    for (fork, preset) in
        [(Fork::Deneb, Preset::Minimal), (Fork::Electra, Preset::Mainnet), (Fork::Phase0, Preset::Gnosis)]
    {
        let error = Block::from_bytes(electra, fork, preset).unwrap_err();
        assert!(error.starts_with("it is not a block of the fork ") && error.contains(preset.name()), "{error}");
    }
    let error = Block::from_bytes(electra, Fork::Gloas, Preset::Minimal).unwrap_err();
    assert!(error.contains("Gloas, which this version cannot read"), "{error}");
}

/// A chain with these forks, whose first fork and Capella have the version of the random states.
fn chain_of(forks: &str) -> Chain {
    let text = format!(
        r#"{{"preset": "minimal", "genesis_validators_root": "{}", "genesis_fork_version": "0x09090909",
        "capella_fork_version": "0x09090909", "forks": [{forks}]}}"#,
        "07".repeat(32)
    );
    Chain::from_json(&text, "random").unwrap()
}

/// A chain with one fork, and the version that the random states have.
fn chain(fork: &str, version: &str) -> Chain {
    chain_of(&format!(r#"{{"name": "{fork}", "epoch": 0, "version": "{version}"}}"#))
}

/// A random state, whose fork began in this epoch.
fn began_in(epoch: u64, state: &[u8]) -> Vec<u8> {
    [&state[..56], &epoch.to_le_bytes(), &state[64..]].concat()
}

#[test]
fn fields_of_random_states() {
    for (bytes, fork, activations, exit, mix, block, member) in [
        (
            object!("phase0-minimal.state"),
            "phase0",
            [2611446888607033921, 3854636851172615861, 14936828443999149317],
            5525810503487837452,
            "024bb9c8bbae085c566206c0b91c3f33f70afbf1b9195c22781b1a4857a2992d",
            "cdcd05755696cbe783b1c3ade8d80adabcad31c2068aec945300c3138682624e",
            None,
        ),
        (
            object!("altair-minimal.state"),
            "altair",
            [2665026859900763941, 8965784874007917976, 11138626587291815216],
            8242146685588765774,
            "1a4db89819691c7ab8460053c4687fe5bfb16bc5e4193ae5c401db56df1f23f2",
            "71846442aad7c5824daf04f9195cf9a953538b00b88e872d398a83623c773650",
            Some("de0b426c3583e4980d72c77fc45f754e52feb26392bf52d11bbedb8644b1e269c240d4debbc6d7bc805607a72a15d688"),
        ),
        (
            object!("bellatrix-minimal.state"),
            "bellatrix",
            [18016916466296682072, 16581230927366526862, 704897912786999792],
            16514788958851851826,
            "f6e4e7d3f699443fa22246f36d809b92422255ab0ce507d6819e9cc016e1d1d2",
            "fec3d6a2c5b8c7c16fc774f27c7d0ee1b6a27178559eb6b9a2229065338866ce",
            Some("242eee49a547c35a938ed97e45d8acf903b1c138645d07100dfbbe8bd0e2bf91534c21a5fe2325b32a25636b6d7d58c1"),
        ),
        (
            object!("electra-minimal.state"),
            "electra",
            [835653179173822909, 10610837167436041413, 78767169231707041],
            16809194633879498529,
            "4a3fac75ae1a8fa5e77e6a66d4ae1999ec5e2ac50d917ec5da0a4eeeb09cac00",
            "e7085646ef1f6d57594b36e7e9b803fad274f6ae477eb607ed4b4df1e26e039f",
            Some("b3a5f5133eda23950554e513b2e19c9a7c17d038d2f9d1bde81876c257c2751572352f914266c73ced1cd966edca745c"),
        ),
        (
            object!("fulu-minimal.state"),
            "fulu",
            [16541568666415408772, 8069985322502315962, 538135721244383921],
            1020827705353607487,
            "ec10cdc139d2c5f6eb20e8f90238ea28e60b3b93e8d091201dc2d307cd276642",
            "5372f092c988d1682cb5b0ba25dab88d60b343da701f1820ff6db477047e72e6",
            Some("9186f546a6598c73ad02d2c514cdfc6ef38dcced711f516b01816c79b3d59a8e380c155e0f3e2916eefc212b5c5773f2"),
        ),
    ] {
        let state = State::from_bytes(&began_in(0, bytes), &chain(fork, "0x09090909")).unwrap();
        assert_eq!((state.slot, state.validators.len()), (64, 3), "{fork}");
        assert_eq!(state.validators.iter().map(|v| v.activation_epoch).collect::<Vec<_>>(), activations, "{fork}");
        assert_eq!(state.validators[2].exit_epoch, exit, "{fork}");
        assert_eq!(const_hex::encode(state.randao_mixes[63]), mix, "{fork}");
        assert_eq!(const_hex::encode(state.block_root(63)), block, "{fork}");
        assert_eq!(state.sync_committee.map(|committee| const_hex::encode(committee[31])).as_deref(), member, "{fork}");
    }
}

#[test]
fn a_state_of_another_fork() {
    let electra = &began_in(0, object!("electra-minimal.state"))[..];
    let error = State::from_bytes(electra, &chain("deneb", "0x09090909")).unwrap_err();
    assert!(error.contains("its first offset is") && error.contains("is it of another preset or fork?"), "{error}");
    let error = State::from_bytes(electra, &chain("gloas", "0x09090909")).unwrap_err();
    assert!(error.contains("its fork is Gloas"), "{error}");
    // A cut in the last list, of 16 bytes an element, can leave a shorter one.
    for length in (0..electra.len() - 200).step_by(97) {
        assert!(State::from_bytes(&electra[..length], &chain("electra", "0x09090909")).is_err(), "{length}");
    }
}

/// Messages of earlier epochs are signed under the version before, so a state must say the same of its fork as the description.
#[test]
fn a_fork_that_began_in_another_epoch_or_after_another_version() {
    let chain = |epoch: u64, previous: &str| {
        chain_of(&format!(
            r#"{{"name": "deneb", "epoch": 0, "version": "{previous}"}},
            {{"name": "electra", "epoch": {epoch}, "version": "0x09090909"}}"#
        ))
    };
    let state = |fork_epoch: u64| {
        let mut bytes = began_in(fork_epoch, object!("electra-minimal.state"));
        bytes[48..52].copy_from_slice(&[4, 0, 0, 1]);
        bytes
    };
    State::from_bytes(&state(3), &chain(3, "0x04000001")).unwrap();
    let error = State::from_bytes(&state(3), &chain(5, "0x04000001")).unwrap_err();
    assert!(error.starts_with("its fork's first epoch is 3, expected 5 by the forks of random; "), "{error}");
    let error = State::from_bytes(&state(3), &chain(3, "0x04000002")).unwrap_err();
    assert!(
        error.starts_with("its previous fork version is 0x04000001, expected 0x04000002 by the forks of random; "),
        "{error}"
    );
    // A fork that is in force from genesis on has no version before it under which anything was signed.
    State::from_bytes(&state(0), &chain(0, "0x04000002")).unwrap();
}
