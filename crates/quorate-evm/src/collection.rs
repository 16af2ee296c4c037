//! The members' signatures over one digest, as they arrive: which are false, what the true ones add up to, and whether their
//! signers weigh enough.

use std::collections::BTreeMap;

use alloy_primitives::Bytes;
use quorate::{Claim, MinSig, Options, PublicKey, Signature, aggregate, rand_core::CryptoRng, verify as verify_claims};
use quorate_bn254::{Bn254PublicKey, Bn254Signature, DualKey, MessagePoint, hash_to_curve::try_and_increment, verify};

use crate::{
    bls12381::{self, DigestHash},
    key_group::KeyGroup,
    member_set::MemberSet,
    network::{Network, PlanError, PointError, QuorumSignature, SignatureError},
};

/// The signatures of a network's members over one digest. Each member counts once.
///
/// ```
/// # use quorate_evm::{alloy_primitives::Address, base::Table};
/// use quorate_evm::{Collection, KeyGroup, Network, OperatorKey};
/// # let key_group = KeyGroup::Bls12381G2;
/// # let Table { key_pages, weight_pages, .. } = Table::paged(key_group, vec![100; 3], 1);
/// let operators = [1, 2, 3].map(|i| OperatorKey::from_entropy(KeyGroup::Bls12381G2, &[i; 48]));
/// let network = Network {
///     // …
///     # key_group, chain_id: 1, contract: Address::ZERO, nonce: 0, epoch: 1, paid: 0, enough: 2, key_pages, weight_pages,
///     # bases: vec![], table: 0, unknown_newest: None,
///     keys: operators.iter().map(OperatorKey::member).collect(),
///     weights: vec![100; 3],
///     required: 200,
/// };
/// let mut collection = Collection::new(&network, [7; 32]);
/// let signatures = [0, 2].map(|i| (i, operators[i].sign(&[7; 32])));
/// let answers = collection.add(&signatures, &quorate::Options::default(), &mut rand::rng())?;
/// assert!(answers.iter().all(Result::is_ok) && collection.is_heavy_enough());
/// assert!(collection.aggregate()?.is_some());
/// # Ok::<(), quorate_evm::PlanError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Collection<'a> {
    network: &'a Network,
    digest: [u8; 32],
    collected: Collected,
}

/// The true signatures, by member.
#[derive(Clone, Debug)]
enum Collected {
    Bn254(MessagePoint, BTreeMap<usize, (Bn254PublicKey, Bn254Signature)>),
    Bls12381(DigestHash, BTreeMap<usize, (PublicKey<MinSig>, Signature<MinSig>)>),
}

/// Why a signature was not added.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotAdded {
    /// The network has no such member.
    #[error("there is no member {index}: the network has {members} keys, numbered from 0")]
    NoSuchMember {
        /// The member.
        index: usize,
        /// The number of keys.
        members: usize,
    },
    /// The member's signature is there already.
    #[error("the signature of member {0} is there already")]
    Twice(usize),
    /// The bytes are not a signature of the key group.
    #[error(transparent)]
    Malformed(#[from] SignatureError),
    /// The signature is the identity, which no member makes.
    #[error("signature: the point is the identity")]
    Identity,
    /// The member did not make it over this digest.
    #[error("the signature does not match the member's key and the digest")]
    Mismatch,
}

impl<'a> Collection<'a> {
    /// No signatures.
    pub fn new(network: &'a Network, digest: [u8; 32]) -> Self {
        let collected = match DigestHash::of(network.key_group) {
            None => Collected::Bn254(try_and_increment(&digest).point, BTreeMap::new()),
            Some(hash) => Collected::Bls12381(hash, BTreeMap::new()),
        };
        Self { network, digest, collected }
    }

    /// Verifies signatures of members, given by their index, and adds the true ones. One answer for each, in their order. Of
    /// several true signatures of one member the first is added.
    ///
    /// Cost: with [`DigestHash::Uniform`] that of a batch of the [`quorate`] engine, of one message and with its soundness.
    /// Else two Miller loops and a final exponentiation for each signature, and the same again to compare the two keys of
    /// a member with keys in G1 of BN254. Nothing but a comparison for a member whose signature is there: signatures carry no
    /// sender's word, so anyone can send false ones under any index. A false one leaves nothing behind.
    ///
    /// # Errors
    /// [`PlanError::Key`] if the network's bytes of a member's key are not a key. Nothing is added then.
    pub fn add(
        &mut self,
        signatures: &[(usize, QuorumSignature)],
        options: &Options,
        rng: &mut impl CryptoRng,
    ) -> Result<Vec<Result<(), NotAdded>>, PlanError> {
        let network = self.network;
        let key =
            |index: usize| network.keys.get(index).ok_or(NotAdded::NoSuchMember { index, members: network.keys.len() });
        match &mut self.collected {
            Collected::Bn254(message, collected) => {
                let judge = |index: usize, signature: &QuorumSignature| {
                    let (bytes, signature) = match (key(index), decode_bn254(network.key_group, signature)) {
                        (Ok(bytes), Ok(signature)) => (bytes, signature),
                        (Err(why), _) | (_, Err(why)) => return Ok(Err(why)),
                    };
                    if let Some((_, there)) = collected.get(&index) {
                        return Ok(Err(beside(*there == signature, index)));
                    }
                    let member = read_bn254(network.key_group, bytes)
                        .map_err(|source| PlanError::Key { index, source: source.into() })?;
                    let valid = verify(&member, message, &signature);
                    Ok(if valid { Ok((member, signature)) } else { Err(NotAdded::Mismatch) })
                };
                let judged = signatures.iter().map(|(index, signature)| judge(*index, signature));
                let judged = judged.collect::<Result<Vec<_>, PlanError>>()?;
                Ok(keep(collected, signatures, judged))
            }
            Collected::Bls12381(hash, collected) => {
                let read = |index: usize, signature: &QuorumSignature| {
                    let (bytes, signature) = match (key(index), decode_bls12381(network.key_group, signature)) {
                        (Ok(bytes), Ok(signature)) => (bytes, signature),
                        (Err(why), _) | (_, Err(why)) => return Ok(Err(why)),
                    };
                    if let Some((_, there)) = collected.get(&index) {
                        return Ok(Err(beside(*there == signature, index)));
                    }
                    let member =
                        bls12381::decode_key(bytes).map_err(|error| PlanError::Key { index, source: error.into() })?;
                    Ok(Ok((member, signature)))
                };
                let read = signatures.iter().map(|(index, signature)| read(*index, signature));
                let read = read.collect::<Result<Vec<_>, PlanError>>()?;
                let points: Vec<_> = read.iter().flatten().copied().collect();
                let mut valid = match hash {
                    DigestHash::Uniform => verify_together(&self.digest, &points, options, rng),
                    DigestHash::Nonuniform => verify_one_by_one(&self.digest, &points),
                }
                .into_iter();
                let judge = |read: Result<_, NotAdded>| {
                    let read = read?;
                    if valid.next() == Some(true) { Ok(read) } else { Err(NotAdded::Mismatch) }
                };
                let judged = read.into_iter().map(judge).collect();
                Ok(keep(collected, signatures, judged))
            }
        }
    }

    /// The members whose signatures are added.
    pub fn signers(&self) -> MemberSet {
        match &self.collected {
            Collected::Bn254(_, collected) => collected.keys().copied().collect(),
            Collected::Bls12381(_, collected) => collected.keys().copied().collect(),
        }
    }

    /// What they weigh in the epoch.
    pub fn weight(&self) -> u128 {
        self.network.weight(&self.signers())
    }

    /// Whether they weigh as much as the epoch requires. Never without a signature.
    pub fn is_heavy_enough(&self) -> bool {
        !self.signers().is_empty() && self.weight() >= self.network.required
    }

    /// The sum of the signatures, which the contract takes; `None` if there are none.
    ///
    /// # Errors
    /// [`PlanError::Identity`] if the signers' keys cancel.
    pub fn aggregate(&self) -> Result<Option<QuorumSignature>, PlanError> {
        match &self.collected {
            Collected::Bn254(_, collected) => {
                if collected.is_empty() {
                    return Ok(None);
                }
                quorate_bn254::aggregate(collected.values().map(|(key, _)| *key)).ok_or(PlanError::Identity)?;
                let sum: Bn254Signature = collected.values().map(|(_, signature)| *signature).sum();
                Ok(Some(QuorumSignature::Bn254(sum.to_bytes())))
            }
            Collected::Bls12381(_, collected) => {
                let (keys, signatures): (Vec<_>, Vec<_>) = collected.values().copied().unzip();
                let Ok(sum) = aggregate::aggregate(&signatures, quorate_curve::Backend::auto()) else {
                    return Ok(None);
                };
                bls12381::sum(None, keys, []).ok_or(PlanError::Identity)?;
                Ok(Some(QuorumSignature::Bls12381(bls12381::encode_signature(&sum))))
            }
        }
    }
}

/// Whether each signature is its key's over the digest, as one batch of the engine.
fn verify_together(
    digest: &[u8; 32],
    signed: &[(PublicKey<MinSig>, Signature<MinSig>)],
    options: &Options,
    rng: &mut impl CryptoRng,
) -> Vec<bool> {
    if signed.is_empty() {
        return Vec::new();
    }
    let message: std::sync::Arc<[u8]> = digest.as_slice().into();
    let claim = |(key, signature): &(_, _)| Claim::single(bls12381::SUITE, *key, message.clone(), *signature);
    let claims: Vec<_> = signed.iter().map(claim).collect();
    verify_claims(&claims, options, rng).verdicts.into_iter().map(|verdict| verdict.is_valid()).collect()
}

/// The same with the nonuniform hash, of which the engine knows nothing.
fn verify_one_by_one(digest: &[u8; 32], signed: &[(PublicKey<MinSig>, Signature<MinSig>)]) -> Vec<bool> {
    let point = DigestHash::Nonuniform.point(digest);
    signed.iter().map(|(key, signature)| bls12381::is_signature(key, &point, signature)).collect()
}

/// The answer to another signature of a member whose true one is there, without a pairing: a member makes one signature of a
/// digest, so any other point is false.
fn beside(is_the_same: bool, index: usize) -> NotAdded {
    if is_the_same { NotAdded::Twice(index) } else { NotAdded::Mismatch }
}

/// Keeps the first true signature of each member.
fn keep<T>(
    collected: &mut BTreeMap<usize, T>,
    signatures: &[(usize, QuorumSignature)],
    judged: Vec<Result<T, NotAdded>>,
) -> Vec<Result<(), NotAdded>> {
    use std::collections::btree_map::Entry;

    let keep = |((index, _), judged): (&(usize, _), Result<T, NotAdded>)| match (judged, collected.entry(*index)) {
        (Err(why), _) => Err(why),
        (Ok(_), Entry::Occupied(_)) => Err(NotAdded::Twice(*index)),
        (Ok(true_one), Entry::Vacant(place)) => {
            place.insert(true_one);
            Ok(())
        }
    };
    signatures.iter().zip(judged).map(keep).collect()
}

/// The key in G2 with which a member's signatures verify. With keys in G1 the two keys of the member are compared: the
/// contract would refuse a quorum of which they differ.
fn read_bn254(key_group: KeyGroup, member: &Bytes) -> Result<Bn254PublicKey, quorate_bn254::Bn254ParseError> {
    match key_group {
        KeyGroup::Bn254G1 => Ok(DualKey::from_bytes(member)?.g2()),
        _ => Bn254PublicKey::from_bytes(member),
    }
}

fn decode_bn254(key_group: KeyGroup, signature: &QuorumSignature) -> Result<Bn254Signature, NotAdded> {
    let QuorumSignature::Bn254(bytes) = signature else { return Err(other_curve(key_group, signature)) };
    if *bytes == [0; 64] {
        return Err(NotAdded::Identity);
    }
    Ok(Bn254Signature::from_bytes(bytes).map_err(|error| SignatureError::Point(PointError::from(error)))?)
}

fn decode_bls12381(key_group: KeyGroup, signature: &QuorumSignature) -> Result<Signature<MinSig>, NotAdded> {
    let QuorumSignature::Bls12381(bytes) = signature else { return Err(other_curve(key_group, signature)) };
    if *bytes == [0; 96] {
        return Err(NotAdded::Identity);
    }
    Ok(bls12381::decode_signature(bytes).map_err(|error| SignatureError::Point(PointError::from(error)))?)
}

fn other_curve(key_group: KeyGroup, signature: &QuorumSignature) -> NotAdded {
    let (expected, found) = (key_group.signature_bytes(), signature.as_bytes().len());
    SignatureError::OtherCurve { expected, found }.into()
}
