//! Claims that name members of a key set.

use std::{collections::VecDeque, num::NonZeroUsize, time::Duration};

use quorate::{
    AnyKeySet, Backend, Bitmap, ClaimBytes, KeySet, Members, Messages, MinPk, PublicKeys, Verdict, aggregate::aggregate,
};
use quorate_batcher::{Batcher, Class, KnownStore, Settings, StoreSettings};

use crate::{
    claims::{Seen, block, claim, secret},
    memory::wait_until_stored,
};

const SUITE: MinPk = MinPk::Eth2;

/// A set of the keys 0 to 7.
fn set() -> AnyKeySet {
    let mut set = KeySet::new(SUITE, Backend::Portable);
    (0..8).for_each(|i| set.push_assumed(secret(SUITE, i).public_key()));
    set.into_any()
}

/// Member `key` signed message `i`, or another message.
fn vote(set: &AnyKeySet, key: u8, i: u32, lie: bool) -> ClaimBytes {
    let public_keys = PublicKeys::Members(set.clone(), Members::Indices(vec![u32::from(key)]));
    ClaimBytes { public_keys, ..claim(SUITE, key, i, lie) }
}

/// These members signed one message.
fn together(set: &AnyKeySet, keys: &[u8], i: u32) -> ClaimBytes {
    let signatures: Vec<_> = keys.iter().map(|key| secret(SUITE, *key).sign(SUITE, &i.to_be_bytes())).collect();
    let signature = aggregate(&signatures, Backend::Portable).unwrap().to_bytes();
    let members = Members::Bitmap(Bitmap::from_indices(keys.iter().map(|key| usize::from(*key))));
    ClaimBytes::of_members(set, members, i.to_be_bytes(), signature)
}

fn settings() -> Settings {
    Settings { threads: NonZeroUsize::MIN, queue: Duration::from_secs(60), ..Settings::default() }
}

/// Each answer is the verdict of the claim alone, and members who voted alike and alone are in one batch.
#[test]
fn answers_to_claims_by_members() {
    let (set, seen) = (set(), Seen::new());
    let batcher = Batcher::start_with(settings(), None, Some(seen.clone())).unwrap();
    let mut claims: Vec<_> = (0..16u32).map(|i| vote(&set, (i % 8) as u8, i / 8, i == 5)).collect();
    claims.extend([together(&set, &[0, 3, 7], 9), together(&set, &[1, 2], 9)]);
    claims.push(ClaimBytes { messages: Messages::Shared((*b"other").into()), ..together(&set, &[1, 2], 9) });
    claims.push(ClaimBytes {
        public_keys: PublicKeys::Members(set.clone(), Members::Indices(vec![8])),
        ..vote(&set, 1, 1, false)
    });
    // They come together, however slow this thread is.
    let mut all: VecDeque<_> = claims.iter().cloned().collect();
    let pending = batcher.submit_as_fits(&mut all, Class::Gossip, None);
    assert!(all.is_empty());
    for (i, (claim, pending)) in claims.iter().zip(pending).enumerate() {
        let (expected, found) = (claim.verify(), pending.wait().unwrap());
        assert_eq!(found, expected, "{i}");
        assert_eq!(found.is_valid(), ![5, 18, 19].contains(&i), "{i}");
    }
    // Only votes of one member are known by themselves: under the key that the member has.
    assert_eq!(batcher.knows(&vote(&set, 2, 0, false)), [true]);
    assert_eq!(batcher.knows(&claim(SUITE, 2, 0, false)), [true]);
    assert_eq!(batcher.knows(&vote(&set, 5, 0, false)), [false]);
    assert_eq!(batcher.known(), 15);
    let batches = seen.batches.lock().unwrap();
    assert!(batches.len() <= 3, "{batches:?}");
}

/// What a member voted is stored as the statement of its key, and a node that starts again subtracts it from a block.
#[test]
fn votes_of_members_outlast_the_batcher() {
    let (folder, set) = (tempfile::tempdir().unwrap(), set());
    let open = || KnownStore::open(folder.path(), StoreSettings::default()).unwrap().0;
    let seen = Seen::new();
    let batcher = Batcher::start_with(settings(), Some(open()), Some(seen.clone())).unwrap();
    for i in 0..6u8 {
        let vote = vote(&set, i, u32::from(i), false);
        assert_eq!(batcher.submit(vote, Class::Gossip, None).wait(), Ok(Verdict::Valid));
    }
    let aggregate = together(&set, &[0, 1, 2], 7);
    assert_eq!(batcher.submit(aggregate, Class::Gossip, None).wait(), Ok(Verdict::Valid));
    wait_until_stored(&seen, 6);
    drop(batcher);
    // Memory for four statements forgets some, which the store has.
    let seen = Seen::new();
    let settings = Settings { known: 8, ..settings() };
    let batcher = Batcher::start_with(settings, Some(open()), Some(seen.clone())).unwrap();
    let encoded: Vec<_> = (0..8u8).map(|i| claim(SUITE, i, u32::from(i), false)).collect();
    let members = PublicKeys::Members(set, Members::Indices((0..8).collect()));
    let block = ClaimBytes { public_keys: members, ..block(SUITE, &encoded) };
    assert_eq!(batcher.submit(block, Class::Block, None).wait(), Ok(Verdict::Valid));
    let batches = seen.batches.lock().unwrap();
    assert!((5..=6).contains(&batches[0].subtracted), "{batches:?}");
}
