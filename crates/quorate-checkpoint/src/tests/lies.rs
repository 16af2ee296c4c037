//! Any subsets of answers and lies: a node skips only what at least m honest keys have signed.

use std::{collections::BTreeSet, sync::LazyLock};

use proptest::prelude::*;

use super::*;

/// Signatures of each key over each checkpoint, made once: the honest one, and one with another block at the same height.
static SIGNATURES: LazyLock<[Vec<[u8; 96]>; 2]> = LazyLock::new(|| {
    documents().map(|document| signed(&document, &[0, 1, 2, 3, 4]).signatures.iter().map(|s| s.signature).collect())
});

fn documents() -> [Checkpoint; 2] {
    [at(100), Checkpoint { block_hash: [6; 32], ..at(100) }]
}

/// A signature as a node sends it: the index that it states, and which key signed which checkpoint in truth.
type Sent = (u16, usize, usize);

#[derive(Clone, Debug)]
struct Told {
    node: u8,
    document: usize,
    signatures: Vec<Sent>,
    sorted: bool,
}

fn told() -> impl Strategy<Value = Told> {
    let honest = (0..5u16).prop_map(|i| (i, usize::from(i), 0));
    let any = (0..6u16, 0..5usize, 0..2usize);
    let sent = prop_oneof![3 => honest, 1 => any];
    (0..5u8, prop_oneof![4 => Just(0), 1 => Just(1)], prop::collection::vec(sent, 0..6), prop::bool::weighted(0.9))
        .prop_map(|(node, document, signatures, sorted)| Told { node, document, signatures, sorted })
}

impl Told {
    /// The signatures that it sends. In order, there is one of each index.
    fn sent(&self) -> Vec<Sent> {
        let mut sent = self.signatures.clone();
        if self.sorted {
            sent.sort_by_key(|(index, ..)| *index);
            sent.dedup_by_key(|(index, ..)| *index);
        }
        sent
    }
}

fn answer_of(told: &Told) -> NodeAnswer {
    let list = told
        .sent()
        .into_iter()
        .map(|(index, key, over)| IndexedSignature { index, signature: SIGNATURES[over][key] })
        .collect();
    let posting = Posting { document: documents()[told.document].clone(), bitmap: None, sum: None, signatures: list };
    answer(&told.node.to_string(), &serving(&[posting]))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn fewer_than_m_honest_keys_never_make_a_node_skip(told in prop::collection::vec(told(), 0..6)) {
        let mut node = Node::new();
        let answers: Vec<_> = told.iter().map(answer_of).collect();
        let decision = node.update(&answers).decision;
        // What each key signed in truth, over both checkpoints, and was sent at all.
        let keys = |document: usize| -> BTreeSet<usize> {
            let sent = told.iter().filter(|told| told.document == document).flat_map(Told::sent);
            sent.filter(|(index, key, over)| *over == document && usize::from(*index) == *key).map(|sent| sent.1).collect()
        };
        let nodes: BTreeSet<_> = told.iter().map(|told| told.node).collect();
        if let Decision::Skip { height, block_hash } = decision {
            prop_assert_eq!((height, block_hash), (100, block(100)));
            prop_assert!(keys(0).len() >= 3 && nodes.len() >= 3, "{:?}", told);
            prop_assert!(node.client.held().unwrap().signers().all(|signer| keys(0).contains(&usize::from(signer))));
        }
        // And the other way round: enough honest answers in order, and no second checkpoint, do. A node all of whose signatures are
        // false has not answered.
        let mut first = BTreeSet::new();
        let is_true = |told: &Told| {
            told.sent().iter().any(|(index, key, over)| *over == told.document && usize::from(*index) == *key)
        };
        let answered = told.iter().filter(|told| first.insert(told.node) && (told.signatures.is_empty() || is_true(told))).count();
        let mut first = BTreeSet::new();
        let counted: BTreeSet<_> = told
            .iter()
            .filter(|told| first.insert(told.node) && told.sorted && told.document == 0)
            .filter(|told| told.sent().iter().all(|(index, key, over)| *over == 0 && usize::from(*index) == *key))
            .flat_map(|told| told.sent().into_iter().map(|sent| sent.1))
            .collect();
        if counted.len() >= 3 && answered >= 3 && keys(1).len() < 3 {
            prop_assert!(node.decide().skips(100), "{:?}", told);
        }
    }
}
