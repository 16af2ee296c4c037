//! The claims of one variant, or on BN254: decoded, reduced by what is known, planned, decided.

use std::{
    fmt,
    sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard},
};

use quorate_curve::Group;
use rand_core::CryptoRng;

use super::{
    keys::{DecodedKeys, EncodedKeys, Keys, LEAST, NewKeys, ValidKeys},
    sum_error::SumError,
    trust::TrustError,
};
use crate::{
    bdn,
    claim::Claim,
    claim_bytes::{ClaimBytes, Item, Messages, PublicKeys},
    culprit::Patience,
    execute::Execution,
    hash_cache::{CachedHashes, HASH_MEMORY, HashCache},
    key::PublicKey,
    keyset::KeyError,
    known::{Entry, Known, MessageDigests, digest},
    naive,
    parse::ParseError,
    plan::{Message, Options, Plan},
    signature::{Signature, UncheckedSignature},
    suite::{Scheme, Suite},
    threads::{parallel_chunks, parallel_owned_chunks},
    verdict::{Reason, Verdict, Work},
    verify::decide,
};

/// What a verifier keeps for later claims of a variant.
#[derive(Debug)]
pub(super) struct Variant<S: Suite> {
    known: RwLock<Known<S>>,
    keys: RwLock<Keys<S>>,
    hashes: RwLock<HashCache<S>>,
}

/// Claims of a variant with their plan.
#[derive(Clone, Debug)]
pub(super) struct Batch<S: Suite> {
    plan: Plan<S>,
    /// The claims of one statement that was not known, each with its index in the caller's slice.
    singles: Vec<(usize, Claim<S>)>,
    /// Known statements that were subtracted.
    subtracted: usize,
    /// Keys that were decoded for it.
    new_keys: NewKeys<S>,
}

/// Decoded claims, in the order of their items, and the keys that were decoded for them.
struct Decoded<S: Suite> {
    claims: Vec<Result<Claim<S>, Reason>>,
    new_keys: NewKeys<S>,
}

impl<S: Suite> Variant<S> {
    /// Nothing is known, and never more than `most` statements will be.
    pub(super) fn new(most: usize) -> Self {
        Self {
            known: RwLock::new(Known::with_limit(most)),
            keys: RwLock::new(Keys::new()),
            hashes: RwLock::new(HashCache::with_memory(HASH_MEMORY)),
        }
    }

    /// How many statements are known.
    pub(super) fn known(&self) -> usize {
        read(&self.known).len()
    }

    pub(super) fn forget_known(&self) {
        write(&self.known).clear();
    }

    /// How many hashes are cached.
    pub(super) fn cached_hashes(&self) -> usize {
        read(&self.hashes).len()
    }

    /// Forgets all hashes, and keeps at most so many bytes of them from now on.
    pub(super) fn limit_hashes(&self, bytes: usize) {
        *write(&self.hashes) = HashCache::with_memory(bytes);
    }

    /// Takes the caller's word for claims of one statement.
    pub(super) fn trust(&self, items: &[Item<'_, S>], options: &Options, results: &mut [Result<(), TrustError>]) {
        let (items, others): (Vec<_>, Vec<_>) = items.iter().partition(|item| item.claim.statements() == 1);
        for item in others {
            results[item.index] = Err(TrustError::Statements(item.claim.statements()));
        }
        let Decoded { claims: decoded, new_keys } = self.decode(&items, options);
        let signatures: Vec<_> = decoded.iter().flatten().map(|claim| claim.signature().point()).collect();
        let mut members =
            parallel_chunks(options.threads, &signatures, LEAST, |points| options.backend.in_subgroup(points))
                .into_iter();
        let mut proven = Vec::new();
        for (item, claim) in items.iter().zip(decoded) {
            results[item.index] = match claim.map(|claim| (members.next(), claim.defect(), claim)) {
                Err(reason) => Err(reason.into()),
                Ok((_, Some(defect), _)) => Err(Reason::from(defect).into()),
                Ok((Some(true), None, claim)) => {
                    proven.push(claim);
                    Ok(())
                }
                Ok(_) => Err(Reason::from(ParseError::SignatureNotInSubgroup).into()),
            };
        }
        self.insert(proven.into_iter());
        self.keep_keys(new_keys.of_valid(|index| results[index].is_ok()));
    }

    /// Remembers claims of one statement that are valid.
    fn insert(&self, valid: impl Iterator<Item = Claim<S>>) {
        let entry =
            |claim: Claim<S>| Some((Entry::of_claim(&claim)?, Signature::from_member(claim.signature().point())));
        // Their messages are hashed before the lock is taken.
        let entries: Vec<_> = valid.filter_map(entry).collect();
        if !entries.is_empty() {
            let mut known = write(&self.known);
            entries.into_iter().for_each(|(entry, signature)| known.insert(entry, signature));
        }
    }

    /// By statement of a claim: whether it is known.
    pub(super) fn knows(&self, suite: S, claim: &ClaimBytes, options: &Options) -> Vec<bool> {
        // The signature is not looked at, so any will do.
        let signature = Ok(UncheckedSignature::from_point(S::Signature::generator()));
        let mut keys = read(&self.keys).look_up(suite, encoded(claim).iter().map(Vec::as_slice));
        let decoded = DecodedKeys::decode(std::slice::from_mut(&mut keys), options);
        // Nothing says that the claim is valid, so its keys take the place of no others but such.
        let new = decoded.valid();
        if !new.is_empty() {
            write(&self.keys).looked_up.insert_new(new);
        }
        match decode(suite, claim, |_| keys.decoded(&decoded), MemberKeys::Each, signature) {
            Ok(claim) => self.signatures_of(&claim).iter().map(Option::is_some).collect(),
            Err(_) => vec![false; claim.statements()],
        }
    }

    /// By statement of a claim: its signature, if it is known. It is a copy, so a statement that is forgotten a moment later is still
    /// subtracted, as if the call had been made a moment earlier.
    fn signatures_of(&self, claim: &Claim<S>) -> Vec<Option<Signature<S>>> {
        let digests = MessageDigests::of(claim);
        read(&self.known).signatures_of(claim, &digests)
    }

    /// Decodes the claims, subtracts known statements and plans the rest. Writes the verdict of each claim that does
    /// not decode. `None` if no claim decodes. Nothing is locked while it decodes, hashes or subtracts, so no call waits for another's.
    pub(super) fn prepare(
        &self,
        items: &[Item<'_, S>],
        options: &Options,
        verdicts: &mut [Option<Verdict>],
        subtracted: &mut [usize],
    ) -> Option<Batch<S>> {
        let items: Vec<_> = items.iter().collect();
        let Decoded { claims: decoded, new_keys } = self.decode(&items, options);
        let (mut indices, mut rest, mut is_single, mut total) = (Vec::new(), Vec::new(), Vec::new(), 0);
        let is_any_known = self.known() > 0;
        for (item, claim) in items.iter().zip(decoded) {
            match claim {
                Ok(claim) => {
                    let statements = claim.len();
                    let reduced = if is_any_known {
                        claim.without_signatures(&self.signatures_of(&claim), options.backend).unwrap_or(claim)
                    } else {
                        claim
                    };
                    subtracted[item.index] = statements - reduced.len();
                    total += subtracted[item.index];
                    indices.push(item.index);
                    // A sum of members is one statement, which nobody signed alone.
                    is_single.push(item.claim.statements() == 1 && subtracted[item.index] == 0);
                    rest.push(reduced);
                }
                Err(reason) => verdicts[item.index] = Some(Verdict::Invalid(reason)),
            }
        }
        if rest.is_empty() {
            return None;
        }
        let plan = Plan::numbered(&rest, |i| indices[i], options, |messages| self.look_up(messages));
        let singles = indices.into_iter().zip(rest).zip(is_single).filter(|(_, is_single)| *is_single);
        Some(Batch { plan, singles: singles.map(|(claim, _)| claim).collect(), subtracted: total, new_keys })
    }

    /// What is known of the hashes of messages: nothing if they are too many to be kept.
    fn look_up(&self, messages: &[Message<S>]) -> CachedHashes<S> {
        if messages.len() > read(&self.hashes).most_messages() {
            return CachedHashes::none();
        }
        let digests = Message::digests(messages);
        read(&self.hashes).look_up(digests)
    }

    /// Executes the plan of a batch, and writes the verdict of each claim to its index. Keeps the keys of valid claims and the hashes of
    /// their messages.
    pub(super) fn decide(
        &self,
        batch: &mut Batch<S>,
        rng: &mut impl CryptoRng,
        patience: &mut dyn Patience,
        verdicts: &mut [Option<Verdict>],
    ) -> Work {
        let execution = Execution::new(&batch.plan, rng);
        let work = decide(&execution, patience, verdicts);
        let proven = execution.proven_hashes(|index| verdicts[index] == Some(Verdict::Valid));
        let hashes = read(&self.hashes);
        let new: Vec<_> = proven.filter(|(digest, _)| !hashes.is_recent(digest)).collect();
        drop(hashes);
        if !new.is_empty() {
            let mut hashes = write(&self.hashes);
            new.into_iter().for_each(|(digest, hash)| hashes.keep(digest, hash));
        }
        let new_keys = std::mem::replace(&mut batch.new_keys, NewKeys::none());
        self.keep_keys(new_keys.of_valid(|index| verdicts[index] == Some(Verdict::Valid)));
        work
    }

    /// Remembers the valid claims of one statement.
    pub(super) fn remember(&self, batch: &mut Batch<S>, verdicts: &[Option<Verdict>]) {
        let singles = std::mem::take(&mut batch.singles).into_iter();
        let valid = singles.filter(|(index, _)| verdicts[*index] == Some(Verdict::Valid));
        self.insert(valid.map(|(_, claim)| claim));
    }

    /// The sum of keys, with their coefficients in a BDN suite. It is kept beside those that were decoded.
    pub(super) fn sum_of_keys(&self, suite: S, encodings: &[&[u8]], options: &Options) -> Result<Vec<u8>, SumError> {
        let mut keys = read(&self.keys).look_up(suite, encodings.iter().copied());
        let decoded = DecodedKeys::decode(std::slice::from_mut(&mut keys), options);
        let keys = keys.decoded(&decoded)?;
        let sum = bdn::sum_of_keys(suite, &keys, options.backend)?;
        let bytes = sum.to_bytes();
        // The sum comes first, because of very many not all are kept.
        let mut new: ValidKeys<S> = vec![(bytes.as_ref().into(), sum)];
        new.extend(decoded.new_keys(Some).of_valid(|_| true));
        self.keep_keys(new);
        Ok(bytes.as_ref().to_vec())
    }

    fn keep_keys(&self, keys: ValidKeys<S>) {
        if !keys.is_empty() {
            write(&self.keys).kept.insert_new(keys);
        }
    }

    fn decode(&self, items: &[&Item<'_, S>], options: &Options) -> Decoded<S> {
        let claims: Vec<_> = items.iter().map(|item| (item.suite, item.claim)).collect();
        let mut by_claim = self.look_up_keys(&claims, options);
        let decoded = DecodedKeys::decode(&mut by_claim, options);
        let with_keys: Vec<_> = items.iter().copied().zip(self.member_keys(items)).zip(by_claim).collect();
        let claims = parallel_owned_chunks(options.threads, with_keys, LEAST, |items| {
            let bytes: Vec<_> = items.iter().map(|((item, _), _)| &item.claim.signature[..]).collect();
            let signatures = UncheckedSignature::from_bytes_each(&bytes, options.backend);
            let claims = items.into_iter().zip(signatures).map(|(((item, members), keys), signature)| {
                decode(item.suite, item.claim, |_| keys.decoded(&decoded), members, signature)
            });
            claims.collect()
        });
        let new_keys = decoded.new_keys(|claim| claims[claim].is_ok().then_some(items[claim].index));
        Decoded { claims, new_keys }
    }

    /// By claim: its encoded keys, with those that were kept. Many are looked up on all threads.
    fn look_up_keys<'a>(&self, claims: &[(S, &'a ClaimBytes)], options: &Options) -> Vec<EncodedKeys<'a, S>> {
        let keys: usize = claims.iter().map(|(_, claim)| encoded(claim).len()).sum();
        let least = if keys < MANY_KEYS { claims.len() } else { LEAST };
        let kept = read(&self.keys);
        parallel_chunks(options.threads, claims, least, |claims| {
            let look_up =
                |&(suite, claim): &(S, &'a ClaimBytes)| kept.look_up(suite, encoded(claim).iter().map(Vec::as_slice));
            claims.iter().map(look_up).collect()
        })
    }

    /// Whether perhaps a statement about a message is known.
    fn has_about(&self, message: &[u8]) -> bool {
        let digest = digest(message);
        read(&self.known).has_about(&digest)
    }

    /// By claim: whether the keys of its members are taken one by one. They are if some of their statements may be known, and if there
    /// are not too many of them.
    fn member_keys(&self, items: &[&Item<'_, S>]) -> Vec<MemberKeys> {
        let is_any_known = self.known() > 0;
        let mut left = MOST_SUBTRACTED_TOGETHER;
        let each = items.iter().map(|Item { suite, claim, .. }| {
            let (PublicKeys::Members(_, members), Messages::Shared(message), Scheme::ProofOfPossession) =
                (&claim.public_keys, &claim.messages, suite.scheme())
            else {
                return MemberKeys::Each;
            };
            let of = members.len();
            let may_be_known = || is_any_known && self.has_about(message);
            if of > MOST_SUBTRACTED.min(left) || !may_be_known() {
                return MemberKeys::Sum;
            }
            left -= of;
            MemberKeys::Each
        });
        each.collect()
    }
}

/// The value of a lock. A thread that panicked while it wrote has left whole entries, since each is written at once.
fn read<T>(lock: &RwLock<T>) -> RwLockReadGuard<'_, T> {
    lock.read().unwrap_or_else(PoisonError::into_inner)
}

/// The same, to change it.
fn write<T>(lock: &RwLock<T>) -> RwLockWriteGuard<'_, T> {
    lock.write().unwrap_or_else(PoisonError::into_inner)
}

impl<S: Suite> fmt::Display for Batch<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.subtracted {
            0 => {}
            1 => writeln!(f, "known: 1 statement subtracted")?,
            n => writeln!(f, "known: {n} statements subtracted")?,
        }
        self.plan.fmt(f)
    }
}

/// Verifies a claim by its own pairings.
pub(super) fn verify_alone<S: Suite>(suite: S, claim: &ClaimBytes) -> Verdict {
    match decode_alone(suite, claim) {
        Ok(claim) => naive::verify(&claim),
        Err(reason) => Verdict::Invalid(reason),
    }
}

fn decode_alone<S: Suite>(suite: S, claim: &ClaimBytes) -> Result<Claim<S>, Reason> {
    let keys = |encodings: &[Vec<u8>]| {
        let key = |(index, bytes): (usize, &Vec<u8>)| {
            PublicKey::from_claim(suite, bytes).map_err(|error| KeyError { index, error })
        };
        encodings.iter().enumerate().map(key).collect()
    };
    decode(suite, claim, keys, MemberKeys::Sum, UncheckedSignature::from_bytes(&claim.signature))
}

/// What a claim takes of the members of a set who all signed one message in a POP suite. Of other members it takes each key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MemberKeys {
    /// The sum of their keys, of which the claim makes one statement. Nothing can be subtracted from it.
    Sum,
    /// Each key, so that known statements can be subtracted.
    Each,
}

/// The most members of one claim whose known statements are subtracted. That saves the claim at most one hash and one pairing, and
/// costs a look-up for each member, and about 1 kB of memory while its keys are taken apart. So a bitmap with a million members,
/// which is 125 kB, is summed.
const MOST_SUBTRACTED: usize = 1 << 12;
/// The most such members of all claims of a call.
const MOST_SUBTRACTED_TOGETHER: usize = 1 << 17;

/// Decodes a claim. `encoded` decodes its encoded keys.
fn decode<S: Suite>(
    suite: S,
    claim: &ClaimBytes,
    encoded: impl FnOnce(&[Vec<u8>]) -> Result<Vec<PublicKey<S>>, KeyError>,
    taken: MemberKeys,
    signature: Result<UncheckedSignature<S>, ParseError>,
) -> Result<Claim<S>, Reason> {
    let of = claim.public_keys.len();
    let keys = match &claim.public_keys {
        PublicKeys::Encoded(encodings) => encoded(encodings).map_err(|KeyError { index, error }| match of {
            1 => Reason::Parse(error),
            keys => Reason::ParseKey { index, keys, error },
        })?,
        PublicKeys::Members(set, members) => {
            let set = set.of_variant::<S>().ok_or(Reason::OtherVariant)?;
            match (&claim.messages, suite.scheme()) {
                (Messages::Shared(_), Scheme::ProofOfPossession) if of > 1 && taken == MemberKeys::Sum => {
                    let sum = set.sum_for_claim(members).map_err(Reason::of_members)?;
                    vec![PublicKey::from_sum(sum).ok_or(Reason::IdentityAggregateKey)?]
                }
                // Two of several messages can be equal, too.
                (_, scheme) => {
                    set.keys_for_claim(members, scheme == Scheme::ProofOfPossession).map_err(Reason::of_members)?
                }
            }
        }
    };
    let signature = signature?;
    let decoded = match &claim.messages {
        Messages::Shared(message) => Claim::shared(suite, keys, message.clone(), signature),
        Messages::Each(messages) if messages.len() != of => {
            return Err(Reason::UnequalCounts { keys: of, messages: messages.len() });
        }
        Messages::Each(messages) => {
            let statements = keys.into_iter().zip(messages.iter().cloned());
            Claim::each(suite, statements.collect(), signature)
        }
        Messages::ProofOfPossession => match keys[..] {
            [key] => Claim::proof_of_possession(suite, key, signature).ok_or(Reason::NoProofsOfPossession)?,
            _ => return Err(Reason::UnequalCounts { keys: of, messages: 1 }),
        },
    };
    Ok(match &claim.source {
        Some(source) => decoded.from_source(source.clone()),
        None => decoded,
    })
}

/// The encoded keys of a claim; none of one that names members.
fn encoded(claim: &ClaimBytes) -> &[Vec<u8>] {
    claim.public_keys.as_encoded().map_or(&[][..], Vec::as_slice)
}

/// From so many keys on, threads look them up: that takes about as long as starting a few.
const MANY_KEYS: usize = 1 << 13;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        aggregate::{MisuseError, aggregate, aggregate_public_keys},
        culprit::Exhaustive,
        key::SecretKey,
        keyset::{Bitmap, KeySet, Members},
        suite::MinPk,
    };
    use quorate_curve::Backend;
    use rand_chacha::{ChaCha20Rng, rand_core::SeedableRng};
    use std::{
        thread,
        time::{Duration, Instant},
    };

    /// Known statements are subtracted from claims of members, but not from one of more members than that can pay for, nor from all
    /// claims of a call together.
    #[test]
    fn members_beyond_the_bound_are_summed() {
        let (suite, backend) = (MinPk::Eth2, Backend::auto());
        let secret = SecretKey::key_gen(suite, &[1; 32], b"").unwrap();
        let mut set = KeySet::new(suite, backend);
        (0..=MOST_SUBTRACTED).for_each(|_| set.push_assumed(secret.public_key()));
        let set = set.into_any();
        let signature = secret.sign(suite, b"m");
        let claim = |members: usize, message: &[u8]| {
            let sum = aggregate(&vec![signature; members], backend).unwrap();
            let members = Members::Bitmap(Bitmap::from_indices(0..members));
            ClaimBytes::of_members(&set, members, message, sum.to_bytes())
        };
        let variant = Variant::<MinPk>::new(usize::MAX);
        write(&variant.known).trust(suite, secret.public_key(), b"m", signature);
        let subtracted = |claims: &[ClaimBytes]| {
            let items = claims.iter().enumerate().map(|(index, claim)| Item { index, suite, claim });
            let items: Vec<_> = items.collect();
            let (mut verdicts, mut subtracted) = (vec![None; claims.len()], vec![0; claims.len()]);
            variant.prepare(&items, &Options::default(), &mut verdicts, &mut subtracted);
            subtracted
        };
        let few = claim(3, b"m");
        let (most, more) = (claim(MOST_SUBTRACTED, b"m"), claim(MOST_SUBTRACTED + 1, b"m"));
        let unknown = claim(3, b"another");
        assert_eq!(subtracted(&[few.clone(), most.clone(), more, unknown]), [3, MOST_SUBTRACTED, 0, 0]);
        let together = MOST_SUBTRACTED_TOGETHER / MOST_SUBTRACTED;
        let claims: Vec<_> = std::iter::repeat_n(most, together).chain([few]).collect();
        let expected: Vec<_> = std::iter::repeat_n(MOST_SUBTRACTED, together).chain([0]).collect();
        assert_eq!(subtracted(&claims), expected);
    }

    /// A look-up decoded each key of a block on one thread, and the block decoded all of them again.
    #[test]
    fn keys_that_were_looked_up_are_kept() {
        let variant = Variant::<MinPk>::new(0);
        let key = |i: u8| SecretKey::key_gen(MinPk::Eth2, &[i; 32], b"").unwrap().public_key().to_bytes();
        let single = ClaimBytes::single(MinPk::Eth2.any(), &key(1), b"m", &[]);
        let keys: Vec<_> = (0..5).map(|i| key(i).to_vec()).chain([vec![0; 48]]).collect();
        let block = ClaimBytes { public_keys: keys.into(), ..single.clone() };
        for (claim, kept) in [(&single, 1), (&block, 5), (&block, 5)] {
            assert_eq!(variant.knows(MinPk::Eth2, claim, &Options::default()), vec![false; claim.statements()]);
            assert_eq!(read(&variant.keys).looked_up.len(), kept);
        }
    }

    /// An AUG suite hashes a message behind each key. Before the threads shared that work, one of them read the message for each key: to
    /// tell equal messages, and again for the digest by which its hash is cached.
    #[test]
    fn a_message_behind_many_keys_is_planned_by_reading_it_once() {
        const KEYS: u16 = 1500;
        let suite = MinPk::Chia;
        let secret = |i: u16| SecretKey::key_gen(suite, &[&i.to_be_bytes()[..], &[0; 30]].concat(), b"").unwrap();
        let keys = (0..KEYS).map(|i| secret(i).public_key()).collect();
        let claims = [Claim::shared(suite, keys, vec![0_u8; 16 << 20], secret(0).sign(suite, b"m"))];
        let variant = Variant::<MinPk>::new(0);
        let planned = || {
            let begin = Instant::now();
            let plan = Plan::numbered(&claims, |i| i, &Options::default(), |messages| variant.look_up(messages));
            (plan, begin.elapsed())
        };
        // Read 1,500 times, 16 MiB take more than ten seconds. Whatever else the machine does, one of some tries is not disturbed.
        let (mut plan, mut took) = planned();
        for _ in 0..4 {
            if took >= Duration::from_secs(5) {
                (plan, took) = planned();
            }
        }
        assert!(took < Duration::from_secs(5), "{took:?}");
        assert_eq!(plan.messages.len(), usize::from(KEYS));
        let alone: Vec<_> = plan.messages[..2].iter().flat_map(|m| Message::digests(std::slice::from_ref(m))).collect();
        assert_eq!(Message::digests(&plan.messages[..2]), alone);
        assert_ne!(alone[0], alone[1]);
    }

    /// A sum is that of the keys, whichever were decoded before, and a claim of it decodes nothing.
    #[test]
    fn sums_of_keys_are_kept() {
        let variant = Variant::<MinPk>::new(0);
        let options = Options::default();
        let secret = |i: u8| SecretKey::key_gen(MinPk::Eth2, &[i; 32], b"").unwrap();
        let keys: Vec<_> = (0..5).map(|i| secret(i).public_key()).collect();
        let encoded: Vec<_> = keys.iter().map(PublicKey::to_bytes).collect();
        let encoded: Vec<&[u8]> = encoded.iter().map(|key| &key[..]).collect();
        for (from, to, kept) in [(0, 2, 3), (0, 5, 7), (1, 4, 8), (0, 5, 8)] {
            let sum = variant.sum_of_keys(MinPk::Eth2, &encoded[from..to], &options).unwrap();
            let expected = aggregate_public_keys(&keys[from..to], Backend::auto()).unwrap();
            assert_eq!(sum, expected.to_bytes());
            assert_eq!(read(&variant.keys).kept.len(), kept);
            assert_eq!(read(&variant.keys).kept.find(&sum[..]), Some(&expected));
        }
        let bdn = variant.sum_of_keys(MinPk::Bdn, &encoded, &options).unwrap();
        assert_eq!(bdn, crate::bdn::aggregate_public_keys(MinPk::Bdn, &keys, Backend::auto()).unwrap().to_bytes());
        let short = SumError::Key(KeyError { index: 1, error: PublicKey::<MinPk>::from_bytes(&[0; 3]).unwrap_err() });
        assert_eq!(variant.sum_of_keys(MinPk::Eth2, &[encoded[0], &[0; 3]], &options), Err(short));
        let opposite = PublicKey::<MinPk>::from_point(keys[0].point().negate()).unwrap().to_bytes();
        let nothing = variant.sum_of_keys(MinPk::Eth2, &[encoded[0], &opposite], &options);
        assert_eq!(nothing, Err(SumError::Misuse(MisuseError::IdentitySum)));
        assert_eq!(variant.sum_of_keys(MinPk::Eth2, &[], &options), Err(MisuseError::NothingToAggregate.into()));
    }

    /// A false claim of 65,536 keys, which cost its sender an addition each, made the verifier forget the keys of all others.
    #[test]
    fn a_false_claim_of_many_keys_forgets_no_key_of_valid_claims() {
        let suite = MinPk::Eth2;
        let variant = Variant::<MinPk>::new(0);
        let secret = |i: u8| SecretKey::key_gen(suite, &[i; 32], b"").unwrap();
        let claim = |keys: &[u8], message: &[u8]| {
            let signatures: Vec<_> = keys.iter().map(|i| secret(*i).sign(suite, b"m")).collect();
            let keys: Vec<_> = keys.iter().map(|i| secret(*i).claim_key(suite)).collect();
            let signature = aggregate(&signatures, Backend::auto()).unwrap().to_bytes();
            ClaimBytes::shared(suite.any(), keys, message, signature)
        };
        let kept_after = |claims: &[ClaimBytes], valid: &[usize]| {
            let items: Vec<_> = claims.iter().enumerate().map(|(index, claim)| Item { index, suite, claim }).collect();
            let (mut verdicts, mut subtracted) = (vec![None; claims.len()], vec![0; claims.len()]);
            let batch = variant.prepare(&items, &Options::default(), &mut verdicts, &mut subtracted);
            let mut rng = ChaCha20Rng::from_seed([3; 32]);
            variant.decide(&mut batch.unwrap(), &mut rng, &mut Exhaustive, &mut verdicts);
            let found: Vec<_> = (0..claims.len()).filter(|i| verdicts[*i] == Some(Verdict::Valid)).collect();
            assert_eq!(found, valid);
            let keys = read(&variant.keys);
            (1..=9).filter(|i| keys.kept.find(&secret(*i).claim_key(suite)[..]).is_some()).collect::<Vec<u8>>()
        };
        assert_eq!(kept_after(&[claim(&[1, 2, 3], b"m")], &[0]), [1, 2, 3]);
        // False, and one that does not decode although its first key does.
        let mut broken = claim(&[5, 6], b"m");
        broken.public_keys.as_encoded_mut().unwrap()[1][0] = 0;
        assert_eq!(kept_after(&[claim(&[4, 5], b"other"), broken], &[]), [1, 2, 3]);
        // A key of a false claim that a valid one has, too.
        assert_eq!(kept_after(&[claim(&[6, 7], b"other"), claim(&[7, 8], b"m")], &[1]), [1, 2, 3, 7, 8]);
        // A look-up proves nothing. What it decoded is kept when a claim that has it is valid.
        assert_eq!(variant.knows(suite, &claim(&[9], b"m"), &Options::default()), [false]);
        assert_eq!(kept_after(&[claim(&[9], b"other")], &[]), [1, 2, 3, 7, 8]);
        assert_eq!(kept_after(&[claim(&[9], b"m")], &[0]), [1, 2, 3, 7, 8, 9]);
    }

    /// One call held the lock of the keys while it decoded, another waited to write, and so every call waited, blocks too.
    #[test]
    fn a_slow_decode_stalls_no_other_call() {
        let options = Options { backend: Backend::Portable, ..Options::default() };
        // About a second of square roots.
        let encoding = |i: u64| [&[0x80_u8][..], &[0; 39], &i.to_be_bytes()].concat();
        let keys: Vec<_> = (0..40_000).map(encoding).collect();
        let slow = ClaimBytes { public_keys: keys.into(), ..ClaimBytes::single(MinPk::Eth2.any(), b"", b"m", b"") };
        let key = SecretKey::key_gen(MinPk::Eth2, &[1; 32], b"").unwrap().public_key().to_bytes();
        let overtakes = || {
            let variant = Variant::<MinPk>::new(0);
            thread::scope(|scope| {
                let decoding = scope.spawn(|| variant.knows(MinPk::Eth2, &slow, &options));
                thread::sleep(Duration::from_millis(50));
                // It looks up a key, keeps it, and finds it.
                variant.sum_of_keys(MinPk::Eth2, &[&key], &options).unwrap();
                assert!(read(&variant.keys).kept.find(&key[..]).is_some());
                let overtakes = !decoding.is_finished();
                assert_eq!(decoding.join().unwrap().len(), 40_000);
                overtakes
            })
        };
        // A busy machine may stop this thread for longer than the other call takes. If one waited for the other, it would always.
        assert!((0..20).any(|_| overtakes()), "the other call has waited");
    }
}
