//! The suites on BN254: their encodings, their hashes, and keys in both groups.

use quorate_bn254::{
    Bn254Item, Bn254ParseError, Bn254PublicKey, Bn254Signature, Bn254Suite, DualKey, G1Affine, MessagePoint,
    encoding::{decode_g2_on_curve, encode_g1, encode_g2},
    hash_to_curve::{self, Roots, hash_to_curve_parts},
    keccak256,
};
use quorate_curve::{
    Backend, Bn254, Bn254G1, Bn254G2, Group, Segments, Soundness, UncheckedSegments, Weight, WeightedSegments,
};
use sha2::{Digest, Sha256};

use crate::{
    parse::ParseError,
    suite::{AnySuite, Scheme, Suite},
    tag::{HashFunction, Hashing, Tag},
};

impl Suite for Bn254Suite {
    type Curve = Bn254;
    type Key = Bn254G2;
    type Signature = Bn254G1;
    type KeyBytes = [u8; 128];
    type SignatureBytes = [u8; 64];

    fn name(self) -> &'static str {
        Self::name(self)
    }

    fn id(self) -> &'static str {
        match self {
            Self::DrandEvmnet => "BLS_SIG_BN254G1_XMD:KECCAK-256_SVDW_RO_NUL_",
            // The network gives its scheme no id, and its hash takes no tag.
            Self::EigenLayer => "eigenlayer",
        }
    }

    fn scheme(self) -> Scheme {
        match self {
            Self::DrandEvmnet => Scheme::Basic,
            Self::EigenLayer => Scheme::ProofOfPossession,
        }
    }

    /// Proofs of possession under `eigenlayer` are another protocol: [`quorate_bn254::dual_key_verify`].
    fn proof_of_possession_tag(self) -> Option<&'static str> {
        None
    }

    fn allows_no_keys(self) -> bool {
        false
    }

    fn all() -> &'static [Self] {
        Self::all()
    }

    fn any(self) -> AnySuite {
        AnySuite::Bn254(self)
    }

    fn tag(self) -> Tag {
        let function = match self {
            Self::DrandEvmnet => HashFunction::Keccak256,
            Self::EigenLayer => HashFunction::EigenLayer,
        };
        Tag::of_suite(self.id(), function)
    }

    fn message_flaw(self, message: &[u8]) -> Option<ParseError> {
        let (item, found) = (Bn254Item::Message, message.len());
        match self {
            Self::EigenLayer if found != DIGEST => {
                Some(Bn254ParseError::Length { item, expected: DIGEST, found }.into())
            }
            Self::DrandEvmnet | Self::EigenLayer => None,
        }
    }

    fn pair(key: Bn254G2, signature: Bn254G1) -> (Bn254G1, Bn254G2) {
        (signature, key)
    }

    fn key_length(self) -> usize {
        self.key_bytes()
    }

    fn wrong_key_length(self, found: usize) -> ParseError {
        let item = match self {
            Self::DrandEvmnet => Bn254Item::KeyG2,
            Self::EigenLayer => Bn254Item::DualKey,
        };
        Bn254ParseError::Length { item, expected: self.key_bytes(), found }.into()
    }

    fn decode_keys(encodings: &[&[u8]], backend: Backend) -> Vec<Result<Bn254G2, ParseError>> {
        let mut keys: Vec<_> = encodings.iter().map(|bytes| parts(bytes)).collect();
        let points: Vec<_> = keys.iter().flatten().map(|parts| parts.g2).collect();
        let mut members = members(&points, seed(encodings), backend).into_iter();
        for key in &mut keys {
            if key.is_ok() && members.next() != Some(true) {
                *key = Err(Bn254ParseError::NotInSubgroup(Bn254Item::KeyG2));
            }
        }
        let dual = keys.iter().enumerate().filter_map(|(i, parts)| Some((i, parts.ok()?.dual()?)));
        let dual: Vec<_> = dual.collect();
        if !dual.is_empty() {
            for i in different(&dual, seed(encodings), backend) {
                keys[i] = Err(Bn254ParseError::KeysDiffer);
            }
        }
        keys.into_iter().map(|parts| Ok(parts?.g2)).collect()
    }

    fn encode_key(key: &Bn254G2) -> [u8; 128] {
        encode_g2(&key.to_ark())
    }

    fn decode_signatures(encodings: &[&[u8]], _: Backend) -> Vec<Result<Bn254G1, ParseError>> {
        let decode =
            |bytes: &&[u8]| Ok(Bn254G1::from_ark_assuming_on_curve(&Bn254Signature::from_bytes(bytes)?.point()));
        encodings.iter().map(decode).collect()
    }

    fn encode_signature(signature: &Bn254G1) -> [u8; 64] {
        encode_g1(&signature.to_ark())
    }

    fn hash_to_curve(backend: Backend, hashing: Hashing<'_>, messages: &[(&[u8], &[u8])]) -> Vec<Bn254G1> {
        let roots: Roots<'_> = &|squares| Bn254G1::square_roots(backend, squares);
        let of = |point: &MessagePoint| Bn254G1::from_ark_assuming_on_curve(&point.point());
        let whole = |(prefix, body): &(&[u8], &[u8])| [*prefix, *body].concat();
        let sums = |parts: Vec<[G1Affine; 2]>| {
            let points = parts.as_flattened().iter().map(Bn254G1::from_ark_assuming_on_curve).collect();
            backend.sums(&Segments::of_size(2, points))
        };
        match hashing.function {
            HashFunction::Keccak256 | HashFunction::Sha256 => {
                let whole: Vec<_> = messages.iter().map(whole).collect();
                let messages: Vec<_> = whole.iter().map(Vec::as_slice).collect();
                sums(hash_to_curve_parts(&messages, hashing.tag, roots))
            }
            HashFunction::EigenLayer => {
                // A claim about another message has a defect and is not hashed.
                let digest = |message: &(&[u8], &[u8])| {
                    whole(message).try_into().expect("a digest of 32 bytes, as `message_flaw` asks for")
                };
                let digests: Vec<_> = messages.iter().map(digest).collect();
                hash_to_curve::eigenlayer_each(&digests, roots).iter().map(of).collect()
            }
            HashFunction::TryAndIncrement => {
                let digest = |message: &(&[u8], &[u8])| {
                    whole(message).try_into().unwrap_or_else(|message: Vec<u8>| keccak256(&[&message]))
                };
                let digests: Vec<_> = messages.iter().map(digest).collect();
                hash_to_curve::try_and_increment_each(&digests, roots).iter().map(|found| of(&found.point)).collect()
            }
        }
    }

    fn hash_to_curve_one(hashing: Hashing<'_>, message: (&[u8], &[u8])) -> Bn254G1 {
        Self::hash_to_curve(Backend::Portable, hashing, &[message])[0]
    }

    fn hash_for_sums(backend: Backend, hashing: Hashing<'_>, messages: &[(&[u8], &[u8])]) -> Vec<Bn254G1> {
        Self::hash_to_curve(backend, hashing, messages)
    }

    /// The first group has no cofactor.
    fn clear_sums(_: Backend, sums: &[Bn254G1]) -> Vec<Bn254G1> {
        sums.to_vec()
    }

    fn generator_beside_uncleared() -> Bn254G2 {
        Bn254G2::generator()
    }
}

/// The bytes of a message under `eigenlayer`.
const DIGEST: usize = 32;

/// A key in G2, with the key in G1 that stood beside it.
#[derive(Clone, Copy)]
struct Parts {
    g1: Option<Bn254G1>,
    g2: Bn254G2,
}

impl Parts {
    fn dual(self) -> Option<(Bn254G1, Bn254G2)> {
        Some((self.g1?, self.g2))
    }
}

/// Reads a key in G2, or a key in both groups, which may yet be outside the subgroup or of different secrets.
fn parts(bytes: &[u8]) -> Result<Parts, Bn254ParseError> {
    let (g1, g2) = if bytes.len() == DualKey::BYTES {
        let (g1, g2) = bytes.split_at(DualKey::BYTES - 128);
        (Some(Bn254PublicKey::<G1Affine>::from_bytes(g1)?), g2)
    } else {
        (None, bytes)
    };
    let item = Bn254Item::KeyG2;
    let g2 = Bn254G2::from_ark_assuming_on_curve(&decode_g2_on_curve(g2, item)?);
    if g2.is_identity() {
        return Err(Bn254ParseError::IdentityKey(item));
    }
    Ok(Parts { g1: g1.map(|key| Bn254G1::from_ark_assuming_on_curve(&key.point())), g2 })
}

/// Which points are in the subgroup. Many are checked by random sums of all, and one by one only if a sum is outside.
///
/// Cost: for each of many about two additions for each eighth bit of a weight, in place of a multiplication by 63 bits.
fn members(points: &[Bn254G2], seed: [u8; 32], backend: Backend) -> Vec<bool> {
    let soundness = Soundness::Bits128;
    if backend.sums_members_from::<Bn254G2>(soundness).is_some_and(|least| points.len() >= least) {
        let mut weighted = UncheckedSegments::new();
        points.iter().enumerate().for_each(|(i, point)| weighted.push(*point, weight(seed, i), 0));
        weighted.close();
        if backend.weighted_sums_of_members(&weighted, soundness).is_some() {
            return vec![true; points.len()];
        }
    }
    backend.in_subgroup(points)
}

/// The weight of a key.
fn weight(seed: [u8; 32], i: usize) -> Weight {
    let hash = Sha256::new_with_prefix(seed).chain_update((i as u64).to_be_bytes()).finalize();
    let bits = u128::from_be_bytes(hash[..16].try_into().expect("a hash has 32 bytes"));
    Weight::from_bits(bits).unwrap_or(Weight::ONE)
}

/// What the weights of keys are made of. They are a hash of all keys that are checked, so who makes keys cannot choose them with
/// the weights in sight but by trying: with 128 bits, 2^128 times for each key that passes without right (`docs/soundness.md`).
fn seed(encodings: &[&[u8]]) -> [u8; 32] {
    let mut hash = Sha256::new_with_prefix(b"quorate: keys on BN254");
    for bytes in encodings {
        hash.update((bytes.len() as u64).to_be_bytes());
        hash.update(bytes);
    }
    hash.finalize().into()
}

/// The numbers of those keys whose points have different secrets: e(Σ w·P, -g2) · e(g1, Σ w·Q) is one if all have one each.
///
/// Cost: two weighted points a key and two pairings for all; for each wrong one about as many again as halvings lead to it.
fn different(keys: &[(usize, (Bn254G1, Bn254G2))], seed: [u8; 32], backend: Backend) -> Vec<usize> {
    let (mut g1, mut g2) = (WeightedSegments::new(), WeightedSegments::new());
    for (i, (p, q)) in keys {
        let weight = if keys.len() == 1 { Weight::ONE } else { weight(seed, *i) };
        g1.push(*p, weight);
        g2.push(*q, weight);
    }
    g1.close();
    g2.close();
    let (p, q) = (backend.weighted_sums(&g1)[0], backend.weighted_sums(&g2)[0]);
    if backend.pairs_to_one(&[(p, Bn254G2::generator().negate()), (Bn254G1::generator(), q)]) {
        return Vec::new();
    }
    match keys {
        [(i, _)] => vec![*i],
        _ => {
            let (left, right) = keys.split_at(keys.len() / 2);
            [different(left, seed, backend), different(right, seed, backend)].concat()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{claim::Claim, key::PublicKey, naive, signature::Signature};
    use quorate_bn254::{Bn254SecretKey, DRAND_EVMNET_TAG};

    #[test]
    fn the_id_of_evmnet_is_its_tag() {
        assert_eq!(Suite::id(Bn254Suite::DrandEvmnet).as_bytes(), DRAND_EVMNET_TAG);
    }

    /// Each hash makes its own signatures, and a claim under another one is false.
    #[test]
    fn hashes_are_told_apart() {
        let (secret, digest) = (Bn254SecretKey::from_entropy(&[1; 48]), [7; 32]);
        let key = PublicKey::<Bn254Suite>::from_bytes(&secret.public_key_g2().to_bytes()).expect("a key");
        let suite = Bn254Suite::EigenLayer;
        let points = [hash_to_curve::eigenlayer(&digest), hash_to_curve::try_and_increment(&digest).point];
        let signatures =
            points.map(|point| Signature::from_bytes(&secret.sign(&point).to_bytes()).expect("a signature"));
        for (i, signature) in signatures.into_iter().enumerate() {
            let claim = Claim::single(suite, key, digest, signature);
            assert_eq!(naive::verify(&claim).is_valid(), i == 0);
            assert_eq!(naive::verify(&claim.under_tag(Tag::try_and_increment())).is_valid(), i == 1);
            assert_eq!(key.verify(suite, &digest, signature).is_valid(), i == 0);
        }
        assert!(!key.verify(suite, b"short", signatures[0]).is_valid());
        // Of what is no digest the Keccak-256 hash is taken.
        let point = hash_to_curve::try_and_increment(&keccak256(&[b"long"])).point;
        let signature = Signature::from_bytes(&secret.sign(&point).to_bytes()).expect("a signature");
        let claim = Claim::single(Bn254Suite::DrandEvmnet, key, *b"long", signature);
        assert!(naive::verify(&claim.under_tag(Tag::try_and_increment())).is_valid());
    }
}
