//! The encoded keys of claims: those that were decoded for an earlier call, and those that are new.
//!
//! A call copies the keys that it finds and decodes the others while nothing is locked, so no call waits for another's keys. What a key is
//! depends on its bytes alone: a key that is kept or forgotten meanwhile costs or saves a decoding, and changes no verdict.

use crate::{
    key::PublicKey,
    keyset::KeyError,
    parse::ParseError,
    plan::Options,
    recent::Recent,
    suite::{Placed, Suite},
    threads::parallel_chunks,
};

/// Keys that were decoded before, since committees and gossip repeat them.
///
/// It keeps at most [`MOST_KEYS`] of valid claims and sums. The keys of look-ups, of which nothing is proven, stand apart, at most
/// [`MOST_LOOKED_UP`]. So nothing that a sender chooses makes it hold more than 20 MiB of keys in G1, or 40 MiB of keys in G2, and no false
/// claim makes it forget a key of a valid one.
#[derive(Clone, Debug)]
pub(super) struct Keys<S: Suite> {
    pub(super) kept: Recent<Box<[u8]>, PublicKey<S>>,
    pub(super) looked_up: Recent<Box<[u8]>, PublicKey<S>>,
}

/// Valid keys with their encodings.
pub(super) type ValidKeys<S> = Vec<(Box<[u8]>, PublicKey<S>)>;

impl<S: Suite> Keys<S> {
    /// None yet.
    pub(super) fn new() -> Self {
        Self { kept: Recent::at_most(MOST_KEYS), looked_up: Recent::at_most(MOST_LOOKED_UP) }
    }

    /// The encoded keys of a claim, up to the first one of another length than a key's, which decides the claim. A key that was kept is one
    /// of this suite only if its length is: suites on BN254 have keys of two lengths.
    pub(super) fn look_up<'a>(
        &self,
        suite: S,
        encodings: impl ExactSizeIterator<Item = &'a [u8]>,
    ) -> EncodedKeys<'a, S> {
        let keys = Vec::with_capacity(encodings.len());
        let mut found = EncodedKeys { keys, new: Vec::new(), looked_up: Vec::new() };
        for (index, bytes) in encodings.enumerate() {
            if bytes.len() != suite.key_length() {
                found.keys.push(EncodedKey::Decoded(Err(suite.wrong_key_length(bytes.len()))));
                break;
            }
            found.keys.push(if let Some(key) = self.kept.find(bytes) {
                EncodedKey::Decoded(Ok(*key))
            } else if let Some(key) = self.looked_up.find(bytes) {
                found.looked_up.push((bytes, index, *key));
                EncodedKey::Decoded(Ok(*key))
            } else {
                found.new.push((bytes, index));
                EncodedKey::New(usize::MAX)
            });
        }
        found
    }
}

/// The encoded keys of a claim, up to one that decides it.
pub(super) struct EncodedKeys<'a, S: Suite> {
    keys: Vec<EncodedKey<S>>,
    /// Those that nobody has decoded, with their places.
    new: Vec<(&'a [u8], usize)>,
    /// Those that only a look-up has decoded, with their places.
    looked_up: Vec<(&'a [u8], usize, PublicKey<S>)>,
}

enum EncodedKey<S: Suite> {
    Decoded(Result<PublicKey<S>, ParseError>),
    /// Its number among the new keys of the call.
    New(usize),
}

impl<S: Suite> EncodedKeys<'_, S> {
    /// The keys. `decoded` has those of the call.
    ///
    /// # Errors
    /// The first key that is not valid.
    pub(super) fn decoded(self, decoded: &DecodedKeys<'_, S>) -> Result<Vec<PublicKey<S>>, KeyError> {
        let keys = self.keys.into_iter().enumerate().map(|(index, key)| {
            let key = match key {
                EncodedKey::Decoded(key) => key,
                EncodedKey::New(number) => decoded.decoded[number],
            };
            key.map_err(|error| KeyError { index, error })
        });
        keys.collect()
    }
}

/// The keys of the claims of a call that were not kept.
pub(super) struct DecodedKeys<'a, S: Suite> {
    /// Where the new ones stand, sorted by their encodings.
    places: Vec<Placed<'a>>,
    /// What each new encoding is, in the same order.
    decoded: Vec<Result<PublicKey<S>, ParseError>>,
    /// Those that only a look-up had decoded before.
    looked_up: Vec<(Placed<'a>, PublicKey<S>)>,
}

impl<'a, S: Suite> DecodedKeys<'a, S> {
    /// Decodes the new keys of claims, each once.
    pub(super) fn decode(by_claim: &mut [EncodedKeys<'a, S>], options: &Options) -> Self {
        let mut places = Vec::with_capacity(by_claim.iter().map(|keys| keys.new.len()).sum());
        let mut looked_up = Vec::new();
        for (claim, keys) in by_claim.iter().enumerate() {
            places.extend(keys.new.iter().map(|&(bytes, index)| Placed { bytes, claim, index }));
            let known = keys.looked_up.iter();
            looked_up.extend(known.map(|&(bytes, index, key)| (Placed { bytes, claim, index }, key)));
        }
        places.sort_unstable_by(|a, b| a.bytes.cmp(b.bytes));
        let keys: Vec<&[Placed<'a>]> = by_encoding(&places).collect();
        for (number, places) in keys.iter().enumerate() {
            for place in *places {
                by_claim[place.claim].keys[place.index] = EncodedKey::New(number);
            }
        }
        let decoded =
            parallel_chunks(options.threads, &keys, LEAST, |keys| PublicKey::of_claims(keys, options.backend));
        drop(keys);
        Self { places, decoded, looked_up }
    }

    /// The valid ones that nobody had decoded.
    pub(super) fn valid(&self) -> ValidKeys<S> {
        let decoded = by_encoding(&self.places).zip(&self.decoded);
        decoded.filter_map(|(places, key)| Some((Box::<[u8]>::from(places[0].bytes), key.ok()?))).collect()
    }

    /// The valid ones, to be kept if a claim that has them is valid. `index` says by which index the caller calls a claim; `None` if no
    /// signature makes it valid.
    pub(super) fn new_keys(&self, index: impl Fn(usize) -> Option<usize>) -> NewKeys<S> {
        let mut new = NewKeys::none();
        let decoded = by_encoding(&self.places).zip(self.decoded.iter().map(|key| key.ok()));
        let looked_up = self.looked_up.iter().map(|(place, key)| (std::slice::from_ref(place), Some(*key)));
        for (places, key) in decoded.chain(looked_up) {
            let Some(key) = key else { continue };
            let begin = new.claims.len();
            new.claims.extend(places.iter().filter_map(|place| index(place.claim)));
            if new.claims.len() > begin {
                new.keys.push((places[0].bytes.into(), key, new.claims.len()));
            }
        }
        new
    }
}

/// The places of each key, of which there is at least one.
fn by_encoding<'p, 'a>(places: &'p [Placed<'a>]) -> impl Iterator<Item = &'p [Placed<'a>]> {
    places.chunk_by(|a, b| a.bytes == b.bytes)
}

/// Valid keys that a call decoded. They are kept when a claim that has them turns out to be valid.
#[derive(Clone, Debug)]
pub(super) struct NewKeys<S: Suite> {
    /// Each with its encoding, and with the end of its own among `claims`.
    keys: Vec<(Box<[u8]>, PublicKey<S>, usize)>,
    /// Key by key, the indices of the claims that have it.
    claims: Vec<usize>,
}

impl<S: Suite> NewKeys<S> {
    pub(super) fn none() -> Self {
        Self { keys: Vec::new(), claims: Vec::new() }
    }

    /// Those of the valid claims.
    pub(super) fn of_valid(self, is_valid: impl Fn(usize) -> bool) -> ValidKeys<S> {
        let Self { keys, claims } = self;
        let mut begin = 0;
        let of_valid = |(bytes, key, end): (Box<[u8]>, PublicKey<S>, usize)| {
            let its_own = &claims[begin..end];
            begin = end;
            its_own.iter().any(|index| is_valid(*index)).then_some((bytes, key))
        };
        keys.into_iter().filter_map(of_valid).collect()
    }
}

/// The fewest encodings for which another thread pays off.
pub(super) const LEAST: usize = 16;

/// The most keys of valid claims that stay from one call to the next.
const MOST_KEYS: usize = 1 << 16;

/// The most keys of look-ups that stay. Two tables with as many slots are full with them.
const MOST_LOOKED_UP: usize = 7 << 11;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suite::MinPk;
    use quorate_curve::{Backend, Bls12381Group, G1};

    /// Whatever is decoded, no more keys stay than the bound says, and neither bytes of another length nor bytes that are
    /// not a key stay at all.
    #[test]
    fn kept_keys_are_bounded() {
        const MOST: usize = 40;
        let names: Vec<_> = (0..100u8).map(|i| [i]).collect();
        let messages: Vec<_> = names.iter().map(|name| (&name[..], &b""[..])).collect();
        let points: Vec<G1> = Backend::auto().hash_to_curve(b"keys", &messages);
        let valid: Vec<_> = points.iter().map(|point| point.compress().to_vec()).collect();
        let mut not_a_member = vec![0; 48];
        not_a_member[0] = 0x80;
        let invalid = [vec![], vec![0x80; 47], vec![0; 1 << 20], vec![0xff; 48], vec![0; 48], not_a_member];

        let mut keys = Keys::<MinPk> { kept: Recent::at_most(MOST), looked_up: Recent::at_most(MOST) };
        let sizes = [1, 30, MOST, MOST + 1, 100, 5].into_iter().enumerate();
        for (call, n) in sizes {
            let wanted: Vec<_> = invalid.iter().chain(valid.iter().cycle().skip(7 * call).take(n)).cloned().collect();
            let one_by_one = wanted.iter().map(|bytes| keys.look_up(MinPk::Eth2, std::iter::once(&bytes[..])));
            let mut found: Vec<_> = one_by_one.collect();
            let decoded = DecodedKeys::decode(&mut found, &Options::default());
            assert!(decoded.places.iter().all(|place| place.bytes.len() == 48));
            for (found, bytes) in found.into_iter().zip(&wanted) {
                let expected = PublicKey::from_bytes(bytes).map(|key| vec![key]);
                assert_eq!(found.decoded(&decoded), expected.map_err(|error| KeyError { index: 0, error }));
            }
            let new = decoded.new_keys(Some).of_valid(|_| true);
            assert!(new.iter().all(|(bytes, _)| valid.iter().any(|valid| valid[..] == bytes[..])));
            keys.kept.insert_new(new);
            assert!((1..=MOST).contains(&keys.kept.len()), "{} keys after call {call}", keys.kept.len());
        }
        // A kept key is not decoded again.
        let kept: Vec<_> = valid.iter().filter(|bytes| keys.kept.find(&bytes[..]).is_some()).collect();
        assert_eq!(kept.len(), keys.kept.len());
        let again = keys.look_up(MinPk::Eth2, kept.iter().map(|bytes| &bytes[..]));
        assert!(again.new.is_empty() && again.looked_up.is_empty());
    }

    /// The bound that the documentation states, with the slots that hash tables of this many entries have.
    #[test]
    fn kept_keys_take_the_memory_that_is_stated() {
        fn most_bytes<S: Suite>(suite: S) -> usize {
            let slot = size_of::<(Box<[u8]>, PublicKey<S>)>() + 1;
            let bytes = |most: usize| 2 * (most / 2 * 8 / 7).next_power_of_two() * slot + most * suite.key_length();
            bytes(MOST_KEYS) + bytes(MOST_LOOKED_UP)
        }
        assert!(most_bytes(MinPk::Eth2) <= 20 << 20, "{}", most_bytes(MinPk::Eth2));
        assert!(most_bytes(crate::suite::MinSig::Basic) <= 40 << 20, "{}", most_bytes(crate::suite::MinSig::Basic));
        #[cfg(feature = "bn254")]
        {
            let of_bn254 = most_bytes(quorate_bn254::Bn254Suite::EigenLayer);
            assert!(of_bn254 <= 40 << 20, "{of_bn254}");
        }
    }
}
