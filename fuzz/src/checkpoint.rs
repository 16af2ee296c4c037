//! No text makes the readers of checkpoints, postings, sets, rotations, evidence and answers panic, nor what verifies them.
//! What they read prints back the same. Nobody has these keys' secrets here but the seeds, so nothing else becomes complete.

use std::sync::LazyLock;

use quorate::SourceId;
use quorate_checkpoint::{
    Board, Checkpoint, Equivocation, JsonError, Posting, Rotation, Served, SetChain, SetManifest, Sets, SignerSet,
    unite,
};
use rand_chacha::{ChaCha20Rng, rand_core::SeedableRng};

/// `seeds/checkpoint-*` are of these sets.
static CHAIN: LazyLock<SetChain> = LazyLock::new(|| {
    let sets = Sets::from_json(include_bytes!("../seeds/checkpoint-sets.json")).expect("a seed");
    SetChain::follow(&sets, sets.first.id(), &mut rng()).expect("a seed")
});

pub fn run(bytes: &[u8]) {
    let chain = &*CHAIN;
    if let Some(checkpoint) = again(bytes, Checkpoint::from_json) {
        assert_eq!(checkpoint.to_bytes().len(), Checkpoint::BYTES);
        assert!(checkpoint.life().is_some());
    }
    if let Some(manifest) = again(bytes, SetManifest::from_json) {
        let _ = SignerSet::prove(manifest, &mut rng());
    }
    if let Some(sets) = again(bytes, Sets::from_json) {
        let _ = SetChain::follow(&sets, chain.pinned(), &mut rng());
    }
    if let Some(rotation) = again(bytes, Rotation::from_json) {
        let _ = chain.clone().extend(rotation, &mut rng());
    }
    if let Some(evidence) = again(bytes, Equivocation::from_json) {
        let _ = evidence.verify(chain, &mut rng());
    }
    let mut board = Board::new([0xc1; 32], chain.clone(), 600);
    if let Some(posting) = again(bytes, Posting::from_json) {
        let (united, _) = unite([(SourceId::from(0), &posting)], chain.sets(), &mut rng());
        assert!(united.iter().all(|signed| signed.count() <= posting.signatures.len()));
        let _ = board.post(&posting, SourceId::from(0), posting.document.issued_at, &mut rng());
    }
    if let Some(served) = again(bytes, Served::from_json) {
        let now = served.checkpoints.first().map_or(0, |posting| posting.document.issued_at);
        board.take_in(&served, &SourceId::from(0), now, &mut rng());
    }
    let served = board.serve();
    assert_eq!(Served::from_json(served.to_json().as_bytes()), Ok(served));
}

/// Reads bytes, and reads what was read once more.
fn again<T>(bytes: &[u8], read: impl Fn(&[u8]) -> Result<T, JsonError>) -> Option<T>
where
    T: serde::Serialize + PartialEq + std::fmt::Debug,
{
    let value = read(bytes).ok()?;
    crate::accepted();
    let printed = serde_json::to_vec(&value).expect("it can be written");
    assert_eq!(read(&printed).expect("it was printed by us"), value);
    Some(value)
}

fn rng() -> ChaCha20Rng {
    ChaCha20Rng::from_seed([9; 32])
}
