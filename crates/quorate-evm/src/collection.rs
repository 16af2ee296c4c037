//! The members' signatures over one digest, as they arrive: which are false, what the true ones add up to, and whether their
//! signers weigh enough.

use std::collections::BTreeMap;

use alloy_primitives::Bytes;
use quorate::{
    Backend, Bn254Suite, Claim, MinSig, Options, ParseError, PublicKey, Signature, Suite, Tag,
    aggregate::{aggregate, aggregate_public_keys},
    rand_core::CryptoRng,
    verify,
};
use quorate_bn254::{Bn254Item, Bn254ParseError};

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
/// let answers = collection.add(&signatures, &quorate::Options::default(), &mut rand::rng());
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

#[derive(Clone, Debug)]
enum Collected {
    Bn254(TrueSignatures<Bn254Suite>),
    Bls12381(DigestHash, TrueSignatures<MinSig>),
}

/// The true signatures with their keys, by member.
type TrueSignatures<S> = BTreeMap<usize, Signed<S>>;

/// A key, and its signature over the digest.
type Signed<S> = (PublicKey<S>, Signature<S>);

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
    /// The network's bytes of the member's key are not a key, so nothing says whether the signature is true. A
    /// [`Follower`](crate::follow::Follower) that has not seen a member's key in G2 writes such bytes.
    #[error("the network has no key of the member: {0}")]
    Key(#[source] PointError),
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
            None => Collected::Bn254(BTreeMap::new()),
            Some(hash) => Collected::Bls12381(hash, BTreeMap::new()),
        };
        Self { network, digest, collected }
    }

    /// Verifies signatures of members, given by their index, and adds the true ones. One answer for each, in their order. Of
    /// several true signatures of one member the first is added.
    ///
    /// Cost: that of a batch of the [`quorate`] engine, of one message and with its soundness, and the decoding of the members' keys.
    /// With [`DigestHash::Nonuniform`] two Miller loops and a final exponentiation for each signature. Nothing but a comparison for a member whose signature is there: signatures carry no
    /// sender's word, so anyone can send false ones under any index. A false one leaves nothing behind, and neither does one of a
    /// member whose key does not decode.
    pub fn add(
        &mut self,
        signatures: &[(usize, QuorumSignature)],
        options: &Options,
        rng: &mut impl CryptoRng,
    ) -> Vec<Result<(), NotAdded>> {
        let (network, digest) = (self.network, self.digest);
        match &mut self.collected {
            Collected::Bn254(collected) => {
                let wanted = wanted(network, signatures, collected, decode_bn254);
                let signed = with_keys(wanted, |bytes| decode_keys_bn254(network.key_group, bytes, options.backend));
                let claim = |(key, signature): &(_, _)| {
                    Claim::single(BN254_SUITE, *key, digest, *signature).under_tag(Tag::try_and_increment())
                };
                let valid = verify_together(signed.iter().flatten().map(claim), options, rng);
                keep(collected, signatures, judge(signed, valid))
            }
            Collected::Bls12381(hash, collected) => {
                let wanted = wanted(network, signatures, collected, decode_bls12381);
                let decode = |bytes: &[u8]| bls12381::decode_key(bytes).map_err(PointError::from);
                let signed = with_keys(wanted, |bytes| bytes.iter().map(|bytes| decode(bytes)).collect());
                let claim = |(key, signature): &(_, _)| Claim::single(bls12381::SUITE, *key, digest, *signature);
                let valid = match hash {
                    DigestHash::Uniform => verify_together(signed.iter().flatten().map(claim), options, rng),
                    DigestHash::Nonuniform => verify_one_by_one(&digest, signed.iter().flatten()),
                };
                keep(collected, signatures, judge(signed, valid))
            }
        }
    }

    /// The members whose signatures are added.
    pub fn signers(&self) -> MemberSet {
        match &self.collected {
            Collected::Bn254(collected) => collected.keys().copied().collect(),
            Collected::Bls12381(_, collected) => collected.keys().copied().collect(),
        }
    }

    /// What they weigh in the epoch.
    pub fn weight(&self) -> u128 {
        self.network.weight(&self.signers())
    }

    /// Whether they weigh as much as the epoch requires: [`Network::weighs_enough`]. Never without a signature.
    pub fn is_heavy_enough(&self) -> bool {
        self.network.weighs_enough(self.weight())
    }

    /// The sum of the signatures, which the contract takes; `None` if there are none.
    ///
    /// # Errors
    /// [`PlanError::Identity`] if the signers' keys cancel.
    pub fn aggregate(&self) -> Result<Option<QuorumSignature>, PlanError> {
        Ok(match &self.collected {
            Collected::Bn254(collected) => sum(collected)?.map(|sum| QuorumSignature::Bn254(sum.to_bytes())),
            Collected::Bls12381(_, collected) => {
                sum(collected)?.map(|sum| QuorumSignature::Bls12381(bls12381::encode_signature(&sum)))
            }
        })
    }
}

/// A suite on BN254 in which members prove possession of their keys, as a registry of the contract asks them to.
const BN254_SUITE: Bn254Suite = Bn254Suite::EigenLayer;

/// The sum of the signatures; `None` if there are none.
fn sum<S: Suite>(collected: &TrueSignatures<S>) -> Result<Option<Signature<S>>, PlanError> {
    let (keys, signatures): (Vec<_>, Vec<_>) = collected.values().copied().unzip();
    let Ok(sum) = aggregate(&signatures, Backend::auto()) else { return Ok(None) };
    aggregate_public_keys(&keys, Backend::auto()).map_err(|_| PlanError::Identity)?;
    Ok(Some(sum))
}

/// A signature that is to be verified, behind the bytes of its member's key.
type Wanted<'a, S> = Result<(&'a Bytes, Signature<S>), NotAdded>;

/// The signatures that are to be verified, and why the others are not.
fn wanted<'a, S: Suite>(
    network: &'a Network,
    signatures: &[(usize, QuorumSignature)],
    collected: &TrueSignatures<S>,
    decode: impl Fn(KeyGroup, &QuorumSignature) -> Result<Signature<S>, NotAdded>,
) -> Vec<Wanted<'a, S>> {
    let wanted = |(index, signature): &(usize, QuorumSignature)| {
        let (index, members) = (*index, network.keys.len());
        let key = network.keys.get(index).ok_or(NotAdded::NoSuchMember { index, members })?;
        let signature = decode(network.key_group, signature)?;
        match collected.get(&index) {
            Some((_, there)) => Err(beside(*there == signature, index)),
            None => Ok((key, signature)),
        }
    };
    signatures.iter().map(wanted).collect()
}

/// The wanted signatures with their decoded keys. A key that does not decode is an answer to its own signature alone: anyone can
/// send a signature under the index of such a member.
fn with_keys<S: Suite>(
    wanted: Vec<Wanted<'_, S>>,
    decode_each: impl Fn(&[&[u8]]) -> Vec<Result<PublicKey<S>, PointError>>,
) -> Vec<Result<Signed<S>, NotAdded>> {
    let bytes: Vec<_> = wanted.iter().flatten().map(|(key, _)| &key[..]).collect();
    let mut keys = decode_each(&bytes).into_iter();
    let with_key = |wanted: Wanted<'_, S>| -> Result<Signed<S>, NotAdded> {
        let (_, signature) = wanted?;
        let key = keys.next().ok_or(NotAdded::Mismatch)?;
        Ok((key.map_err(NotAdded::Key)?, signature))
    };
    wanted.into_iter().map(with_key).collect()
}

/// What became of each signature, by whether those with keys are valid.
fn judge<S: Suite>(signed: Vec<Result<Signed<S>, NotAdded>>, valid: Vec<bool>) -> Vec<Result<Signed<S>, NotAdded>> {
    let mut valid = valid.into_iter();
    let judge = |signed: Result<Signed<S>, NotAdded>| {
        let signed = signed?;
        valid.next().filter(|valid| *valid).map(|_| signed).ok_or(NotAdded::Mismatch)
    };
    signed.into_iter().map(judge).collect()
}

/// Whether each claim is valid, as one batch of the engine.
fn verify_together<S: Suite>(
    claims: impl Iterator<Item = Claim<S>>,
    options: &Options,
    rng: &mut impl CryptoRng,
) -> Vec<bool> {
    let claims: Vec<_> = claims.collect();
    if claims.is_empty() {
        return Vec::new();
    }
    verify(&claims, options, rng).verdicts.into_iter().map(|verdict| verdict.is_valid()).collect()
}

/// Whether each signature is its key's over the digest, by the nonuniform hash, of which the engine knows nothing.
fn verify_one_by_one<'a>(digest: &[u8; 32], signed: impl Iterator<Item = &'a Signed<MinSig>>) -> Vec<bool> {
    let point = DigestHash::Nonuniform.point(digest);
    signed.map(|(key, signature)| bls12381::is_signature(key, &point, signature)).collect()
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

/// Keys in G2, or in both groups. Of the latter the two keys of a member are compared: the contract would refuse a quorum of which they
/// differ.
fn decode_keys_bn254(
    key_group: KeyGroup,
    bytes: &[&[u8]],
    backend: Backend,
) -> Vec<Result<PublicKey<Bn254Suite>, PointError>> {
    let item = if key_group == KeyGroup::Bn254G1 { Bn254Item::DualKey } else { Bn254Item::KeyG2 };
    let expected = key_group.member_bytes();
    let keys = bytes.iter().zip(PublicKey::from_bytes_each(bytes, backend)).map(|(bytes, key)| match bytes.len() {
        found if found != expected => Err(Bn254ParseError::Length { item, expected, found }.into()),
        _ => key.map_err(bn254_error),
    });
    keys.collect()
}

fn bn254_error(error: ParseError) -> PointError {
    match error {
        ParseError::Bn254(error) => error.into(),
        other => other.into(),
    }
}

fn decode_bn254(key_group: KeyGroup, signature: &QuorumSignature) -> Result<Signature<Bn254Suite>, NotAdded> {
    let QuorumSignature::Bn254(bytes) = signature else { return Err(other_curve(key_group, signature)) };
    if *bytes == [0; 64] {
        return Err(NotAdded::Identity);
    }
    Ok(Signature::from_bytes(bytes).map_err(|error| SignatureError::Point(bn254_error(error)))?)
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
