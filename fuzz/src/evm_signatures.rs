//! Lines of `quorate evm sign`. What is read is printed again as a line that is read as the same. Added up, only true
//! signatures of members count, whatever the lines say.

use std::{collections::BTreeSet, sync::LazyLock};

use quorate::Options;
use quorate_cli::commands::evm::signature_line::SignatureLine;
use quorate_evm::{Collection, KeyGroup, MemberSet, Network, OperatorKey, alloy_primitives::Address, base::Table};
use rand_chacha::{ChaCha20Rng, rand_core::SeedableRng};

const N: usize = 3;

/// The contract, the epoch and the next result of `examples/network.json`, with fewer members.
static NETWORKS: LazyLock<Vec<(Network, Vec<OperatorKey>)>> = LazyLock::new(|| {
    let of = |key_group| {
        let operators: Vec<_> = (1..=N as u8).map(|i| OperatorKey::from_entropy(key_group, &[i; 48])).collect();
        let Table { key_pages, weight_pages, weights } = Table::paged(key_group, vec![1; N], 1);
        let contract: Address = "0x5fbdb2315678afecb367f032d93f642f64180aa3".parse().expect("an address");
        let keys = operators.iter().map(OperatorKey::member).collect();
        let (bases, unknown_newest) = (Vec::new(), None);
        let (chain_id, nonce, table, epoch, required, enough, paid) = (1, 17, 0, 3, 2, 2, 0);
        let network = Network {
            key_group,
            chain_id,
            contract,
            nonce,
            table,
            epoch,
            required,
            enough,
            paid,
            keys,
            weights,
            key_pages,
            weight_pages,
            bases,
            unknown_newest,
        };
        (network, operators)
    };
    KeyGroup::ALL.map(of).into()
});

pub fn run(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let lines: Vec<_> = text.lines().filter_map(|line| SignatureLine::parse(line.trim()).ok()).collect();
    for line in &lines {
        let printed = serde_json::to_string(line).expect("a line is an object");
        assert_eq!(SignatureLine::parse(&printed).as_ref(), Ok(line));
    }
    let mut rng = ChaCha20Rng::from_seed([1; 32]);
    for (network, operators) in NETWORKS.iter() {
        let members: Vec<_> = lines.iter().filter_map(|line| Some((line.member_of(network).ok()?, line))).collect();
        let Some((_, first)) = members.first() else { continue };
        let digest = first.digest();
        let members = members.iter().filter(|(_, line)| line.digest() == digest).take(8);
        let signatures: Vec<_> = members.map(|(index, line)| (*index, line.signature())).collect();
        let mut collection = Collection::new(network, digest.into());
        let answers = collection.add(&signatures, &Options::default(), &mut rng);
        assert_eq!(answers.len(), signatures.len());
        let is_true = |(index, signature): &&(usize, _)| operators[*index].sign(&digest) == *signature;
        let expected: BTreeSet<_> = signatures.iter().filter(is_true).map(|(index, _)| *index).collect();
        assert_eq!(collection.signers(), expected.into_iter().collect::<MemberSet>());
    }
}
