//! Hashes of recent messages. A message that comes again costs no hash.
//!
//! For example, gossip brings the votes of a committee over several batches. All of them sign one message, which is hashed
//! in the first batch.
//!
//! The cache changes no verdict: a hash is a function of what its key is a digest of, and it is computed here.

use sha2::{Digest, Sha256};

use crate::{recent::Recent, suite::Suite, tag::Hashing};

/// SHA-256 of everything that decides about the hash of a message: the function, the tag, the prefix and the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct MessageDigest([u8; 32]);

/// The digest of a message before its prefix, from which it goes on for every message that differs in the prefix alone.
pub(crate) struct UnprefixedDigest(Sha256);

impl UnprefixedDigest {
    /// The beginning of the digests of messages with this body.
    pub(crate) fn of(hashing: Hashing<'_>, body: &[u8]) -> Self {
        let mut digest = Sha256::new();
        digest.update([hashing.function as u8]);
        // With the lengths in front, different parts are different bytes.
        for part in [hashing.tag, body] {
            digest.update((part.len() as u64).to_be_bytes());
            digest.update(part);
        }
        Self(digest)
    }

    /// The digest of the message whose body stands behind this prefix.
    pub(crate) fn behind(&self, prefix: &[u8]) -> MessageDigest {
        MessageDigest(self.0.clone().chain_update(prefix).finalize().into())
    }
}

/// The hashes of recent messages of a variant, with their cofactors cleared.
#[derive(Clone, Debug)]
pub(crate) struct HashCache<S: Suite>(Recent<MessageDigest, S::Signature>);

/// What a cache says about the messages of a plan.
#[derive(Clone, Debug)]
pub(crate) struct CachedHashes<S: Suite> {
    /// By message; empty if nobody looked.
    by_message: Vec<(MessageDigest, Option<S::Signature>)>,
    found: usize,
}

impl<S: Suite> HashCache<S> {
    /// An empty cache that never takes more than so many bytes.
    ///
    /// A hash table has a power of two of slots, of which seven eighths are filled. There are two tables, and while the
    /// second grows to the size of the first, its old slots are there beside the new ones: two and a half tables.
    pub(crate) fn with_memory(bytes: usize) -> Self {
        let slot = size_of::<(MessageDigest, S::Signature)>() + 1;
        let slots = (bytes.saturating_sub(TABLES) / slot).saturating_mul(2) / 5;
        let slots = slots.checked_ilog2().map_or(0, |log| 1_usize << log);
        // A table of fewer slots than these fills them otherwise.
        Self(Recent::at_most(if slots < 16 { 0 } else { 2 * (slots / 8 * 7) }))
    }

    /// The most messages of a plan that it looks at. Of more, it could not keep all, and they would take the place of
    /// those that come again.
    pub(crate) fn most_messages(&self) -> usize {
        self.0.half()
    }

    /// How many hashes it holds.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// What it knows of the messages of a plan.
    pub(crate) fn look_up(&self, digests: Vec<MessageDigest>) -> CachedHashes<S> {
        let look_up = |digest| (digest, self.0.find(&digest).copied());
        let by_message: Vec<_> = digests.into_iter().map(look_up).collect();
        CachedHashes { found: by_message.iter().filter(|(_, hash)| hash.is_some()).count(), by_message }
    }

    /// Whether a message is so new that nothing changes if it comes again.
    pub(crate) fn is_recent(&self, digest: &MessageDigest) -> bool {
        self.0.is_recent(digest)
    }

    /// Keeps a hash, or makes it one of the newest.
    pub(crate) fn keep(&mut self, digest: MessageDigest, hash: S::Signature) {
        self.0.insert(digest, hash);
    }
}

impl<S: Suite> CachedHashes<S> {
    /// Nobody looked, and nothing is to be kept.
    pub(crate) fn none() -> Self {
        Self { by_message: Vec::new(), found: 0 }
    }

    /// How many of the messages have a hash.
    pub(crate) fn found(&self) -> usize {
        self.found
    }

    /// The hash of a message.
    pub(crate) fn hash(&self, message: usize) -> Option<S::Signature> {
        self.by_message.get(message).and_then(|(_, hash)| *hash)
    }

    /// The digest of each message, if somebody looked.
    pub(crate) fn digests(&self) -> impl Iterator<Item = MessageDigest> {
        self.by_message.iter().map(|(digest, _)| *digest)
    }
}

/// The memory of a cache of which nobody says another, for each variant: 1,792 to 3,584 messages in G2, twice as many in G1.
pub(crate) const HASH_MEMORY: usize = 2 << 20;

/// What the two maps take beside their slots: themselves, and the bytes at the ends of their tables.
const TABLES: usize = 256;

#[cfg(test)]
mod tests {
    use quorate_curve::Group;

    use super::*;
    use crate::{
        suite::{MinPk, MinSig},
        tag::HashFunction,
    };

    const SHA_256: HashFunction = HashFunction::Sha256;

    fn digest(i: usize) -> MessageDigest {
        UnprefixedDigest::of(Hashing { tag: b"tag", function: SHA_256 }, &i.to_be_bytes()).behind(b"")
    }

    /// The slots of a table of the standard library that holds so many entries.
    fn slots(entries: usize) -> usize {
        match entries {
            0 => 0,
            1..4 => 4,
            4..8 => 8,
            _ => (entries * 8).div_ceil(7).next_power_of_two(),
        }
    }

    /// Whatever comes, the tables take no more than is stated, also while one grows, and the newest half stays.
    #[test]
    fn the_bound_is_kept() {
        fn bounded<S: Suite>() {
            let point = S::Signature::generator();
            for bytes in [0, 1, 500, 5_000, 20_000, 123_456, 1 << 20] {
                let mut cache = HashCache::<S>::with_memory(bytes);
                let half = cache.most_messages();
                let slot = size_of::<(MessageDigest, S::Signature)>() + 1;
                let (table, smaller) = (slots(half), slots(half) / 2);
                assert!((2 * table + smaller) * slot <= bytes, "{half} of {bytes}");
                assert!(half == 0 || 2 * (2 * table + smaller) * slot > bytes - TABLES, "{half} of {bytes}");
                for i in 0..5 * half + 3 {
                    cache.keep(digest(i), point);
                    assert!(cache.len() <= 2 * half);
                    assert!(half == 0 || cache.is_recent(&digest(i)));
                    if half > 0 && i % 97 == 0 {
                        let newest: Vec<_> = ((i + 1).saturating_sub(half)..=i).map(digest).collect();
                        assert_eq!(cache.look_up(newest).found(), half.min(i + 1));
                    }
                }
            }
        }
        bounded::<MinPk>();
        bounded::<MinSig>();
        let most = HashCache::<MinPk>::with_memory(HASH_MEMORY).most_messages();
        assert_eq!([most, HashCache::<MinSig>::with_memory(HASH_MEMORY).most_messages()], [1792, 3584]);
        assert_eq!(HashCache::<MinPk>::with_memory(usize::MAX).most_messages() % 7, 0);
    }

    /// A message that comes again and again stays, whatever else comes.
    #[test]
    fn what_comes_again_stays() {
        let mut cache = HashCache::<MinPk>::with_memory(20_000);
        let half = cache.most_messages();
        for i in 0..10 * half {
            assert!(i == 0 || cache.look_up(vec![digest(0)]).found() == 1);
            cache.keep(digest(0), Group::generator());
            cache.keep(digest(i + 1), Group::generator());
        }
    }

    /// Parts that are one text when they stand one behind the other are different messages.
    #[test]
    fn parts_are_kept_apart() {
        let of = |tag: &'static [u8], prefix: &[u8], body: &[u8]| {
            UnprefixedDigest::of(Hashing { tag, function: SHA_256 }, body).behind(prefix)
        };
        let all = [
            of(b"ab", b"", b"c"),
            of(b"a", b"b", b"c"),
            of(b"a", b"", b"bc"),
            of(b"", b"", b"abc"),
            of(b"", b"abc", b""),
            of(b"abc", b"", b""),
        ];
        for (i, one) in all.iter().enumerate() {
            assert!(all[i + 1..].iter().all(|other| other != one));
        }
        #[cfg(feature = "bn254")]
        {
            let keccak = Hashing { tag: b"ab", function: HashFunction::Keccak256 };
            assert_ne!(all[0], UnprefixedDigest::of(keccak, b"c").behind(b""));
        }
    }
}
