//! The suites on BN254: their encodings, their hashes, and keys in both groups.

mod search;

use quorate_bn254::{
    Bn254Item, Bn254ParseError, Bn254PublicKey, Bn254SecretKey, Bn254Signature, Bn254Suite, DualKey, G1Affine,
    MessagePoint,
    encoding::{decode_g2_on_curve, encode_g1, encode_g2},
    hash_to_curve::{self, Roots, XmdHash, XmdTag, hash_to_curve_parts},
    keccak256,
};
use quorate_curve::{
    Backend, Bn254, Bn254G1, Bn254G2, Group, Segments, Soundness, UncheckedSegments, Weight, WeightedSegments,
};
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

use self::search::Search;
use crate::{
    parse::{ParseError, SecretError},
    suite::{AnySuite, Placed, Scheme, Suite, encodings},
    tag::{HashFunction, Hashing, SuiteTag},
};

impl Suite for Bn254Suite {
    type Curve = Bn254;
    type Key = Bn254G2;
    type Signature = Bn254G1;
    type KeyBytes = [u8; 128];
    type SignatureBytes = [u8; 64];
    type Secret = Bn254SecretKey;

    fn name(self) -> &'static str {
        Self::name(self)
    }

    fn id(self) -> &'static str {
        match self {
            Self::DrandEvmnet => Self::KeccakBasic.name(),
            // The network gives its scheme no id, and its hash takes no tag.
            Self::EigenLayer
            | Self::KeccakBasic
            | Self::KeccakAugmented
            | Self::KeccakProofOfPossession
            | Self::Sha256Basic
            | Self::Sha256Augmented
            | Self::Sha256ProofOfPossession => self.name(),
        }
    }

    fn is_profile(self) -> bool {
        match self {
            Self::DrandEvmnet | Self::EigenLayer => true,
            Self::KeccakBasic
            | Self::KeccakAugmented
            | Self::KeccakProofOfPossession
            | Self::Sha256Basic
            | Self::Sha256Augmented
            | Self::Sha256ProofOfPossession => false,
        }
    }

    fn scheme(self) -> Scheme {
        match self {
            Self::KeccakBasic | Self::Sha256Basic | Self::DrandEvmnet => Scheme::Basic,
            Self::KeccakAugmented | Self::Sha256Augmented => Scheme::Augmented,
            Self::KeccakProofOfPossession | Self::Sha256ProofOfPossession | Self::EigenLayer => {
                Scheme::ProofOfPossession
            }
        }
    }

    fn proof_of_possession_tag(self) -> Option<&'static str> {
        Self::proof_of_possession_tag(self)
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

    fn tag(self) -> SuiteTag {
        let function = match Self::tag(self) {
            Some(XmdTag { hash: XmdHash::Keccak256, .. }) => HashFunction::Keccak256,
            Some(XmdTag { hash: XmdHash::Sha256, .. }) => HashFunction::Sha256,
            None => HashFunction::EigenLayer,
        };
        SuiteTag::new(self.id(), function)
    }

    fn message_flaw(self, message: &[u8]) -> Option<ParseError> {
        let (item, found) = (Bn254Item::Message, message.len());
        let takes_digests = Self::tag(self).is_none();
        (takes_digests && found != DIGEST).then(|| Bn254ParseError::Length { item, expected: DIGEST, found }.into())
    }

    fn pair(key: Bn254G2, signature: Bn254G1) -> (Bn254G1, Bn254G2) {
        (signature, key)
    }

    fn key_length(self) -> usize {
        self.key_bytes()
    }

    fn wrong_key_length(self, found: usize) -> ParseError {
        let item = if self.has_dual_keys() { Bn254Item::DualKey } else { Bn254Item::KeyG2 };
        Bn254ParseError::Length { item, expected: self.key_bytes(), found }.into()
    }

    fn decode_keys(encodings: &[&[u8]], backend: Backend) -> Vec<Result<Bn254G2, ParseError>> {
        // Each is asked for, as if it were the only key of a claim.
        decode(encodings, || (0..encodings.len()).map(|key| vec![key]).collect(), backend)
    }

    fn decode_keys_of_claims(keys: &[&[Placed<'_>]], backend: Backend) -> Vec<Result<Bn254G2, ParseError>> {
        decode(&encodings(keys), || by_claim(keys), backend)
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
        let by_rfc9380 = |hash| {
            // They are put together one by one: under AUG suites many keys can stand before one long message.
            sums(hash_to_curve_parts(messages.iter().map(whole), XmdTag { hash, bytes: hashing.tag }, roots))
        };
        match hashing.function {
            HashFunction::Keccak256 => by_rfc9380(XmdHash::Keccak256),
            HashFunction::Sha256 => by_rfc9380(XmdHash::Sha256),
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

    fn key_gen(self, key_material: &[u8], key_info: &[u8]) -> Result<Bn254SecretKey, ParseError> {
        let found = key_material.len();
        if found < 32 {
            return Err(ParseError::Secret(SecretError::ShortKeyMaterial { found }));
        }
        Ok(Bn254SecretKey::key_gen(key_material, key_info))
    }

    fn secret_from_bytes(bytes: &[u8; 32]) -> Result<Bn254SecretKey, ParseError> {
        Ok(Bn254SecretKey::from_bytes(bytes)?)
    }

    fn secret_to_bytes(secret: &Bn254SecretKey) -> Zeroizing<[u8; 32]> {
        secret.to_bytes()
    }

    fn public_key(secret: &Bn254SecretKey) -> Bn254G2 {
        Bn254G2::from_ark_assuming_on_curve(&secret.public_key_g2().point())
    }

    fn claim_key(self, secret: &Bn254SecretKey) -> Vec<u8> {
        if self.has_dual_keys() {
            secret.dual_key().to_bytes().to_vec()
        } else {
            secret.public_key_g2().to_bytes().to_vec()
        }
    }

    fn sign(secret: &Bn254SecretKey, hash: &Bn254G1) -> Bn254G1 {
        let signature = secret.sign(&MessagePoint::from_point(hash.to_ark()));
        Bn254G1::from_ark_assuming_on_curve(&signature.point())
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

/// Reads keys. If the points of one have different secrets, `claims` says by claim which keys it has, in their order. A key behind a wrong
/// one in each of its claims is called different without a look.
fn decode(
    encodings: &[&[u8]],
    claims: impl FnOnce() -> Vec<Vec<usize>>,
    backend: Backend,
) -> Vec<Result<Bn254G2, ParseError>> {
    let mut keys: Vec<_> = encodings.iter().map(|bytes| parts(bytes)).collect();
    let seed = seed(encodings);
    let sum = members(&mut keys, seed, backend);
    let dual = |i: usize, keys: &[Result<Parts, Bn254ParseError>]| Some((i, keys[i].ok()?.dual()?));
    let all: Vec<_> = (0..keys.len()).filter_map(|i| dual(i, &keys)).collect();
    if !have_one_secret_each(&all, sum, seed, backend) {
        // A key that is wrong otherwise decides its claim, too.
        let claims: Vec<Vec<_>> = claims()
            .into_iter()
            .map(|claim| {
                let read = claim.into_iter().take_while(|i| keys[*i].is_ok());
                read.filter(|i| dual(*i, &keys).is_some()).collect()
            })
            .collect();
        let found = Search::among(keys.len(), &claims, |some: &[usize]| {
            // All together have just failed.
            some.len() < all.len() && {
                let some: Vec<_> = some.iter().filter_map(|i| dual(*i, &keys)).collect();
                have_one_secret_each(&some, None, seed, backend)
            }
        });
        for (i, _) in all {
            if found[i] != Some(true) {
                keys[i] = Err(Bn254ParseError::KeysDiffer);
            }
        }
    }
    keys.into_iter().map(|parts| Ok(parts?.g2)).collect()
}

/// The keys of each claim in their order, of those that stand at these places.
fn by_claim(keys: &[&[Placed<'_>]]) -> Vec<Vec<usize>> {
    let places = |(key, places): (usize, &&[Placed<'_>])| -> Vec<_> {
        places.iter().map(|place| (place.claim, place.index, key)).collect()
    };
    let mut places: Vec<_> = keys.iter().enumerate().flat_map(places).collect();
    places.sort_unstable();
    let claims = places.chunk_by(|(a, ..), (b, ..)| a == b);
    claims.map(|claim| claim.iter().map(|(.., key)| *key).collect()).collect()
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

/// Refuses the keys that are outside the subgroup. Many are checked by random sums of all, and one by one only if a sum is outside. If all
/// were inside, it returns the weighted sum of the keys in G2 that stand beside one in G1.
///
/// Cost: for each of many about two additions for each eighth bit of a weight, in place of a multiplication by 63 bits.
fn members(keys: &mut [Result<Parts, Bn254ParseError>], seed: [u8; 32], backend: Backend) -> Option<Bn254G2> {
    let soundness = Soundness::Bits128;
    let read: Vec<_> = keys.iter().enumerate().filter_map(|(i, parts)| Some((i, (*parts).ok()?))).collect();
    if backend.sums_members_from::<Bn254G2>(soundness).is_some_and(|least| read.len() >= least) {
        let mut weighted = UncheckedSegments::new();
        for is_dual in [true, false] {
            let some = read.iter().filter(|(_, parts)| parts.g1.is_some() == is_dual);
            some.for_each(|(i, parts)| weighted.push(parts.g2, weight(seed, *i), 0));
            weighted.close();
        }
        if let Some(sums) = backend.weighted_sums_of_members(&weighted, soundness) {
            return Some(sums[0]);
        }
    }
    let points: Vec<_> = read.iter().map(|(_, parts)| parts.g2).collect();
    for ((i, _), is_member) in read.iter().zip(backend.in_subgroup(&points)) {
        if !is_member {
            keys[*i] = Err(Bn254ParseError::NotInSubgroup(Bn254Item::KeyG2));
        }
    }
    None
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

/// Whether the points of each key have one secret: e(Σ w·P, -g2) · e(g1, Σ w·Q) is one if all have. The caller may know Σ w·Q.
///
/// Cost: two weighted points a key and two pairings for all.
fn have_one_secret_each(
    keys: &[(usize, (Bn254G1, Bn254G2))],
    sum_in_g2: Option<Bn254G2>,
    seed: [u8; 32],
    backend: Backend,
) -> bool {
    if keys.is_empty() {
        return true;
    }
    let alone = keys.len() == 1 && sum_in_g2.is_none();
    let weight = |i| if alone { Weight::ONE } else { weight(seed, i) };
    let p = weighted_sum(keys.iter().map(|(i, (p, _))| (*p, weight(*i))), backend);
    let q = sum_in_g2.unwrap_or_else(|| weighted_sum(keys.iter().map(|(i, (_, q))| (*q, weight(*i))), backend));
    backend.pairs_to_one(&[(p, Bn254G2::generator().negate()), (Bn254G1::generator(), q)])
}

fn weighted_sum<G: Group>(points: impl Iterator<Item = (G, Weight)>, backend: Backend) -> G {
    let mut segments = WeightedSegments::new();
    points.for_each(|(point, weight)| segments.push(point, weight));
    segments.close();
    backend.weighted_sums(&segments)[0]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        claim::Claim,
        key::{PublicKey, SecretKey},
        naive, proof_of_possession,
        signature::Signature,
        tag::Tag,
    };
    use ark_ec::CurveGroup;
    use quorate_bn254::{Fq2, G2Affine};

    /// The engine takes the id for the tag; the crate of the curve has a tag of its own.
    #[test]
    fn ids_are_tags() {
        for suite in Bn254Suite::all() {
            assert_eq!(
                Bn254Suite::tag(*suite).map_or(b"eigenlayer".as_slice(), |tag| tag.bytes),
                suite.id().as_bytes()
            );
            assert_eq!(suite.id() == suite.name(), *suite != Bn254Suite::DrandEvmnet);
        }
    }

    /// Keys that are read together are judged as each alone is: in G2 and in both groups, with one outside the subgroup, of another
    /// secret or malformed among them. From 96 on, sums are checked in place of keys.
    #[test]
    fn keys_read_together_are_judged_as_alone() {
        let secret = |i: u8| Bn254SecretKey::from_entropy(&[i; 48]);
        let single: Vec<_> = (0..100).map(|i| secret(i).public_key_g2().to_bytes().to_vec()).collect();
        let dual: Vec<_> = (0..100).map(|i| secret(i).dual_key().to_bytes().to_vec()).collect();
        let outside = (0_u64..)
            .find_map(|x| G2Affine::get_point_from_x_unchecked(Fq2::from(x), true))
            .expect("a point of the twist");
        assert!(!outside.is_in_correct_subgroup_assuming_on_curve());
        let shifted =
            encode_g2(&(decode_g2_on_curve(&single[1], Bn254Item::KeyG2).expect("a key") + outside).into_affine());
        let behind = |start: usize, end: &[u8]| [&dual[0][..start], end].concat();
        let bad = [
            shifted.to_vec(),
            behind(64, &shifted),
            behind(64, &single[1]),
            vec![0xff; 128],
            vec![0; 128],
            behind(0, &dual[0][..191]),
        ];
        let mixed = [&single[..90], &dual[..10]].concat();
        let mut lists = vec![single.clone(), dual.clone(), mixed.clone()];
        // One key in both groups among others, whose secret is another one or not.
        lists.push([&single[..99], &dual[99..]].concat());
        lists.push([&single[..99], &bad[2..3]].concat());
        for bad in &bad {
            for (list, place) in [(&single, 0), (&dual, 57), (&mixed, 95)] {
                let mut list = list.clone();
                list[place] = bad.clone();
                lists.push(list);
            }
        }
        lists.push([&mixed[..], &bad].concat());
        for backend in Backend::available() {
            for list in &lists {
                let keys: Vec<_> = list.iter().map(Vec::as_slice).collect();
                let together = PublicKey::<Bn254Suite>::from_bytes_each(&keys, *backend);
                assert_eq!(together.len(), keys.len());
                for (i, (together, key)) in together.iter().zip(&keys).enumerate() {
                    let alone = if key.len() == DualKey::BYTES {
                        Bn254Suite::EigenLayer.key(key)
                    } else {
                        Bn254Suite::DrandEvmnet.key(key)
                    };
                    let expected = alone.map(|key| key.to_bytes()).map_err(ParseError::from);
                    assert_eq!(together.map(|key| key.to_bytes()), expected, "{backend}, key {i}");
                }
            }
        }
    }

    /// The engine's secret keys sign what those of the crate of the curve sign, in every suite.
    #[test]
    fn secrets_sign_as_those_of_the_curve() {
        for suite in Bn254Suite::all() {
            let secret = SecretKey::key_gen(*suite, &[7; 32], b"info").expect("32 bytes");
            let ours = Bn254SecretKey::from_bytes(secret.to_bytes().as_slice()).expect("a scalar");
            assert_eq!(secret.to_bytes(), Bn254SecretKey::key_gen(&[7; 32], b"info").to_bytes());
            assert_eq!(secret.public_key().to_bytes(), ours.public_key_g2().to_bytes());
            assert_eq!(suite.key(&secret.claim_key(*suite)), Ok(ours.public_key_g2()), "{suite}");
            let signature = secret.sign(*suite, &[3; 32]);
            assert_eq!(signature.to_bytes(), suite.sign(&ours, &[3; 32]).expect("32 bytes").to_bytes(), "{suite}");
            assert!(secret.public_key().verify(*suite, &[3; 32], signature).is_valid());
            let proof = proof_of_possession::prove(*suite, &secret).map(|proof| proof.to_bytes());
            assert_eq!(proof, suite.prove_possession(&ours).map(|proof| proof.to_bytes()), "{suite}");
            let short = SecretKey::key_gen(*suite, &[7; 31], b"").map(|_| ());
            assert_eq!(short, Err(ParseError::Secret(SecretError::ShortKeyMaterial { found: 31 })));
            let zero = SecretKey::<Bn254Suite>::from_bytes(&[0; 32]).map(|_| ());
            assert_eq!(zero, Err(Bn254ParseError::SecretOutOfRange.into()));
        }
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
