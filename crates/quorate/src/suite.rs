//! Ciphersuites: which group holds the keys, which tag messages are hashed under, which scheme protects aggregates.
//!
//! draft-irtf-cfrg-bls-signature-05 (section 2.1) has two variants. In minimal-pubkey-size the keys are in G1, in
//! minimal-signature-size they are in G2. Each variant is a closed enum of suites, [`MinPk`] and [`MinSig`], and both
//! implement the sealed trait [`Suite`]. The type says the variant (`PublicKey<MinPk>`), the value says the suite.
//! Every low-level call takes a suite; none has a default, because the wrong suite is the most common mistake with BLS
//! signatures. [`AnySuite`] is a suite that is chosen when the program runs, by its name.
//!
//! ```
//! use quorate::{AnySuite, MinPk, Suite};
//! assert_eq!("eth2".parse(), Ok(AnySuite::MinPk(MinPk::Eth2)));
//! assert_eq!(MinPk::Eth2.id(), "BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_POP_");
//! ```

use std::{
    fmt::{self, Debug, Display},
    hash::Hash,
    str::FromStr,
};

use quorate_curve::{Backend, Bls12381, Bls12381Group, G1, G2, Group, PairingCurve, SecretScalar};
use zeroize::Zeroizing;

use crate::{
    parse::{DecodeError, ParseError},
    tag::{HashFunction, Hashing, SuiteTag},
};

/// A ciphersuite, or a profile: a ciphersuite with the conventions of one network. [`MinPk`] and [`MinSig`] implement it, and with the
/// feature `bn254` `Bn254Suite`.
pub trait Suite: Copy + Eq + Ord + Hash + Debug + Display + FromStr + Send + Sync + 'static + sealed::Sealed {
    /// The curve.
    type Curve: PairingCurve;
    /// The group of public keys.
    type Key: Group<Curve = Self::Curve>;
    /// The group of signatures and hashed messages.
    type Signature: Group<Curve = Self::Curve>;
    /// The encoding of a public key: a compressed point on BLS12-381, the coordinates on BN254.
    type KeyBytes: AsRef<[u8]> + Copy + Eq + Ord + Hash + Debug + Send + Sync;
    /// The encoding of a signature.
    type SignatureBytes: AsRef<[u8]> + Copy + Eq + Ord + Hash + Debug + Send + Sync;
    /// The scalar of a secret key, with which constant-time code alone computes. It is wiped when it is dropped.
    #[doc(hidden)]
    type Secret: Clone + Send + Sync;

    /// The name by which a user chooses it: the profile's name, or the IETF id of a suite that is not a profile.
    fn name(self) -> &'static str;

    /// The ciphersuite id in the form of the IETF, which is also the tag that messages are hashed under.
    fn id(self) -> &'static str;

    /// Whether it is a profile: a suite with the conventions of one network, chosen by the network's name.
    fn is_profile(self) -> bool {
        self.name() != self.id()
    }

    /// How the suite protects aggregates against rogue keys.
    fn scheme(self) -> Scheme;

    /// The tag that proofs of possession are hashed under; `None` in a suite whose scheme has no such proofs.
    fn proof_of_possession_tag(self) -> Option<&'static str>;

    /// Whether a claim without keys is valid if its signature is the identity. Only `eth_fast_aggregate_verify` of
    /// Ethereum's Altair specification says so, for sync aggregates: [`MinPk::Eth2SyncAggregate`].
    fn allows_no_keys(self) -> bool;

    /// All suites and profiles of this variant.
    fn all() -> &'static [Self];

    /// The same suite as an [`AnySuite`], for code that learns the variant when it runs.
    fn any(self) -> AnySuite;

    /// The tag of its messages.
    #[doc(hidden)]
    fn tag(self) -> SuiteTag;

    /// What is wrong with a message, where not every one can be signed.
    #[doc(hidden)]
    fn message_flaw(self, _message: &[u8]) -> Option<ParseError> {
        None
    }

    /// A pair for the pairing, in the order G1, G2.
    #[doc(hidden)]
    fn pair(key: Self::Key, signature: Self::Signature) -> PairOf<Self>;

    /// The number of bytes of a public key in a claim. The caller of [`decode_keys`](Self::decode_keys) has compared it.
    #[doc(hidden)]
    fn key_length(self) -> usize;

    /// That a public key of a claim has so many bytes, and not [`key_length`](Self::key_length).
    #[doc(hidden)]
    fn wrong_key_length(self, found: usize) -> ParseError;

    /// Reads public keys: canonical, in the subgroup, not the identity.
    #[doc(hidden)]
    fn decode_keys(encodings: &[&[u8]], backend: Backend) -> Vec<Result<Self::Key, ParseError>>;

    /// The same for keys of claims, each by all places where it stands. The first wrong key decides a claim, so a key that stands behind a
    /// wrong one in all its claims may be called wrong without a look.
    #[doc(hidden)]
    fn decode_keys_of_claims(keys: &[&[Placed<'_>]], backend: Backend) -> Vec<Result<Self::Key, ParseError>> {
        Self::decode_keys(&encodings(keys), backend)
    }

    /// The same for the keys of a set. Each has its random words, with which the membership of many is checked at once
    /// ([`Backend::all_in_subgroup`]).
    #[doc(hidden)]
    fn decode_key_set(
        encodings: &[&[u8]],
        random: &[[u64; 4]],
        backend: Backend,
    ) -> Vec<Result<Self::Key, ParseError>> {
        let _ = random;
        Self::decode_keys(encodings, backend)
    }

    #[doc(hidden)]
    fn encode_key(key: &Self::Key) -> Self::KeyBytes;

    /// Reads signatures: canonical, on the curve.
    #[doc(hidden)]
    fn decode_signatures(encodings: &[&[u8]], backend: Backend) -> Vec<Result<Self::Signature, ParseError>>;

    #[doc(hidden)]
    fn encode_signature(signature: &Self::Signature) -> Self::SignatureBytes;

    /// The points that are signed. A message is a concatenation of two parts.
    #[doc(hidden)]
    fn hash_to_curve(backend: Backend, hashing: Hashing<'_>, messages: &[(&[u8], &[u8])]) -> Vec<Self::Signature>;

    /// The same for one message, without allocation where the curve allows that.
    #[doc(hidden)]
    fn hash_to_curve_one(hashing: Hashing<'_>, message: (&[u8], &[u8])) -> Self::Signature;

    /// Points whose sums [`clear_sums`](Self::clear_sums) turns into sums of hashes.
    #[doc(hidden)]
    fn hash_for_sums(backend: Backend, hashing: Hashing<'_>, messages: &[(&[u8], &[u8])]) -> Vec<Self::Signature>;

    #[doc(hidden)]
    fn clear_sums(backend: Backend, sums: &[Self::Signature]) -> Vec<Self::Signature>;

    /// What stands in the place of the generator beside hashes that are not cleared.
    #[doc(hidden)]
    fn generator_beside_uncleared() -> Self::Key;

    /// `KeyGen` (section 2.3).
    #[doc(hidden)]
    fn key_gen(self, key_material: &[u8], key_info: &[u8]) -> Result<Self::Secret, ParseError>;

    /// Reads a big-endian scalar in 1..r.
    #[doc(hidden)]
    fn secret_from_bytes(bytes: &[u8; 32]) -> Result<Self::Secret, ParseError>;

    #[doc(hidden)]
    fn secret_to_bytes(secret: &Self::Secret) -> Zeroizing<[u8; 32]>;

    #[doc(hidden)]
    fn public_key(secret: &Self::Secret) -> Self::Key;

    /// The bytes of a secret's public key in a claim.
    #[doc(hidden)]
    fn claim_key(self, secret: &Self::Secret) -> Vec<u8> {
        Self::encode_key(&Self::public_key(secret)).as_ref().to_vec()
    }

    /// A secret times a hash, in constant time.
    #[doc(hidden)]
    fn sign(secret: &Self::Secret, hash: &Self::Signature) -> Self::Signature;
}

/// A point of each group of a suite's curve.
pub(crate) type PairOf<S> = (<<S as Suite>::Curve as PairingCurve>::G1, <<S as Suite>::Curve as PairingCurve>::G2);

/// A suite on BLS12-381, whose points have a compressed encoding.
pub trait Bls12381Suite:
    Suite<Curve = Bls12381, Key: Bls12381Group, Signature: Bls12381Group, Secret = SecretScalar>
    + FromStr<Err = UnknownSuite>
{
    /// Whether `KeyGen` is the one of draft 3 of the specification, which does not hash the salt. Chia generates keys
    /// that way.
    #[doc(hidden)]
    fn generates_keys_as_draft_3(self) -> bool;

    /// A secret times a point of the group of keys, in constant time.
    #[doc(hidden)]
    fn multiply_key(secret: &SecretScalar, point: &Self::Key) -> Self::Key;
}

/// An encoded key of a claim.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Placed<'a> {
    /// The encoding.
    pub bytes: &'a [u8],
    /// Which claim of the call has it.
    pub claim: usize,
    /// Which key of the claim it is.
    pub index: usize,
}

/// The encodings of keys that stand at these places, of which each key has at least one.
pub(crate) fn encodings<'a>(keys: &[&[Placed<'a>]]) -> Vec<&'a [u8]> {
    keys.iter().map(|places| places[0].bytes).collect()
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::MinPk {}
    impl Sealed for super::MinSig {}
    #[cfg(feature = "bn254")]
    impl Sealed for quorate_bn254::Bn254Suite {}
}

/// How a suite protects aggregates against rogue keys: the three schemes of draft-irtf-cfrg-bls-signature-05, section 3, and
/// the one of Boneh, Drijvers and Neven.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scheme {
    /// NUL: the messages of an aggregate must differ (section 3.1).
    Basic,
    /// AUG: each message is hashed behind its signer's public key (section 3.2).
    Augmented,
    /// POP: each key comes with a proof of possession, which the caller has checked (section 3.3).
    ProofOfPossession,
    /// BDN: keys and signatures over one message are summed with coefficients that bind the exact set of the signers, so
    /// keys need no proofs of possession. See [`bdn`](crate::bdn).
    Bdn,
}

/// Minimal public keys: 48 bytes in G1, signatures of 96 bytes in G2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum MinPk {
    /// `BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_NUL_`
    Basic,
    /// `BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_AUG_`
    Augmented,
    /// `BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_POP_`
    ProofOfPossession,
    /// `BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_BDN_`. The specification has no such suite: the name is ours.
    Bdn,
    /// `eth2`: POP, as Ethereum's attestations, blocks and deposits use it. A claim without keys is invalid.
    Eth2,
    /// `eth2-sync-aggregate`: as `eth2`, with the exception of `eth_fast_aggregate_verify` (Altair, `altair/bls.md`):
    /// no participants and the identity signature are a valid sync aggregate. Use it for sync aggregates alone.
    Eth2SyncAggregate,
    /// `chia`: AUG, with keys generated as in draft 3.
    Chia,
    /// `drand-chained`: NUL over sha256(previous signature ‖ round).
    DrandChained,
    /// `drand-unchained`: NUL over sha256(round).
    DrandUnchained,
}

/// Minimal signatures: 48 bytes in G1, public keys of 96 bytes in G2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum MinSig {
    /// `BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_RO_NUL_`
    Basic,
    /// `BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_RO_AUG_`
    Augmented,
    /// `BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_RO_POP_`
    ProofOfPossession,
    /// `BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_RO_BDN_`. The specification has no such suite: the name is ours.
    Bdn,
    /// `drand-quicknet`: NUL over sha256(round), the tag of RFC 9380.
    DrandQuicknet,
    /// `drand-g1-legacy`: NUL over sha256(round), hashed to G1 under the tag of G2, as the retired chain fastnet did.
    DrandG1Legacy,
}

/// What does not depend on the variant of BLS12-381.
macro_rules! bls12381_verbs {
    () => {
        type Secret = SecretScalar;

        fn key_gen(self, key_material: &[u8], key_info: &[u8]) -> Result<SecretScalar, ParseError> {
            let draft_3 = self.generates_keys_as_draft_3();
            let generate = if draft_3 { SecretScalar::key_gen_v3 } else { SecretScalar::key_gen };
            generate(key_material, key_info).map_err(ParseError::Secret)
        }

        fn secret_from_bytes(bytes: &[u8; 32]) -> Result<SecretScalar, ParseError> {
            SecretScalar::from_bytes(bytes).map_err(ParseError::Secret)
        }

        fn secret_to_bytes(secret: &SecretScalar) -> Zeroizing<[u8; 32]> {
            secret.to_bytes()
        }

        fn tag(self) -> SuiteTag {
            SuiteTag::new(self.id(), HashFunction::Sha256)
        }

        fn key_length(self) -> usize {
            Self::Key::COMPRESSED
        }

        fn wrong_key_length(self, found: usize) -> ParseError {
            let expected = Self::Key::COMPRESSED;
            ParseError::Key(DecodeError::Length { group: Self::Key::NAME, expected, found })
        }

        fn decode_keys(encodings: &[&[u8]], backend: Backend) -> Vec<Result<Self::Key, ParseError>> {
            checked_keys(&backend.decode_each(encodings), backend)
        }

        fn decode_key_set(
            encodings: &[&[u8]],
            random: &[[u64; 4]],
            backend: Backend,
        ) -> Vec<Result<Self::Key, ParseError>> {
            keys_among(&backend.decode_each(encodings), |points| {
                if backend.all_in_subgroup(points, &random[..points.len()]) {
                    vec![true; points.len()]
                } else {
                    backend.in_subgroup(points)
                }
            })
        }

        fn encode_key(key: &Self::Key) -> Self::KeyBytes {
            key.compress()
        }

        fn decode_signatures(encodings: &[&[u8]], backend: Backend) -> Vec<Result<Self::Signature, ParseError>> {
            let decoded = backend.decode_each(encodings).into_iter();
            decoded.map(|point| point.map_err(ParseError::Signature)).collect()
        }

        fn encode_signature(signature: &Self::Signature) -> Self::SignatureBytes {
            signature.compress()
        }

        fn hash_to_curve(backend: Backend, hashing: Hashing<'_>, messages: &[(&[u8], &[u8])]) -> Vec<Self::Signature> {
            backend.hash_to_curve(hashing.tag, messages)
        }

        fn hash_to_curve_one(hashing: Hashing<'_>, message: (&[u8], &[u8])) -> Self::Signature {
            Backend::auto().hash_to_curve_one(hashing.tag, message)
        }

        fn hash_for_sums(backend: Backend, hashing: Hashing<'_>, messages: &[(&[u8], &[u8])]) -> Vec<Self::Signature> {
            backend.hash_for_sums(hashing.tag, messages)
        }

        fn clear_sums(backend: Backend, sums: &[Self::Signature]) -> Vec<Self::Signature> {
            backend.clear_sums(sums)
        }

        fn generator_beside_uncleared() -> Self::Key {
            Self::Key::generator_over_cofactor()
        }
    };
}

/// Points that were decoded as public keys, and whether they are keys.
pub(crate) fn checked_keys<G: Group>(
    decoded: &[Result<G, DecodeError>],
    backend: Backend,
) -> Vec<Result<G, ParseError>> {
    keys_among(decoded, |points| backend.in_subgroup(points))
}

/// The same, where `members` says of each point whether it is in the subgroup.
fn keys_among<G: Group>(
    decoded: &[Result<G, DecodeError>],
    members: impl FnOnce(&[G]) -> Vec<bool>,
) -> Vec<Result<G, ParseError>> {
    // What is no key already costs no check of its membership.
    let points: Vec<_> = decoded.iter().flatten().filter(|point| !point.is_identity()).copied().collect();
    let mut members = members(&points).into_iter();
    let checked = decoded.iter().map(|point| match point {
        Err(error) => Err(ParseError::Key(*error)),
        Ok(point) if point.is_identity() => Err(ParseError::IdentityKey),
        Ok(point) if members.next() == Some(true) => Ok(*point),
        Ok(_) => Err(ParseError::KeyNotInSubgroup),
    });
    checked.collect()
}

impl Suite for MinPk {
    type Curve = Bls12381;
    type Key = G1;
    type Signature = G2;
    type KeyBytes = [u8; 48];
    type SignatureBytes = [u8; 96];

    fn name(self) -> &'static str {
        match self {
            Self::Basic | Self::Augmented | Self::ProofOfPossession | Self::Bdn => self.id(),
            Self::Eth2 => "eth2",
            Self::Eth2SyncAggregate => "eth2-sync-aggregate",
            Self::Chia => "chia",
            Self::DrandChained => "drand-chained",
            Self::DrandUnchained => "drand-unchained",
        }
    }

    fn id(self) -> &'static str {
        match self.scheme() {
            Scheme::Basic => "BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_NUL_",
            Scheme::Augmented => "BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_AUG_",
            Scheme::ProofOfPossession => "BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_POP_",
            Scheme::Bdn => "BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_BDN_",
        }
    }

    fn scheme(self) -> Scheme {
        match self {
            Self::Basic | Self::DrandChained | Self::DrandUnchained => Scheme::Basic,
            Self::Augmented | Self::Chia => Scheme::Augmented,
            Self::ProofOfPossession | Self::Eth2 | Self::Eth2SyncAggregate => Scheme::ProofOfPossession,
            Self::Bdn => Scheme::Bdn,
        }
    }

    fn proof_of_possession_tag(self) -> Option<&'static str> {
        (self.scheme() == Scheme::ProofOfPossession).then_some("BLS_POP_BLS12381G2_XMD:SHA-256_SSWU_RO_POP_")
    }

    fn allows_no_keys(self) -> bool {
        match self {
            Self::Eth2SyncAggregate => true,
            Self::Basic
            | Self::Augmented
            | Self::ProofOfPossession
            | Self::Bdn
            | Self::Eth2
            | Self::Chia
            | Self::DrandChained
            | Self::DrandUnchained => false,
        }
    }

    fn any(self) -> AnySuite {
        AnySuite::MinPk(self)
    }

    fn all() -> &'static [Self] {
        &[
            Self::Basic,
            Self::Augmented,
            Self::ProofOfPossession,
            Self::Bdn,
            Self::Eth2,
            Self::Eth2SyncAggregate,
            Self::Chia,
            Self::DrandChained,
            Self::DrandUnchained,
        ]
    }

    fn pair(key: G1, signature: G2) -> (G1, G2) {
        (key, signature)
    }

    fn public_key(secret: &SecretScalar) -> G1 {
        secret.times_g1()
    }

    fn sign(secret: &SecretScalar, hash: &G2) -> G2 {
        secret.sign_in_g2(hash)
    }

    bls12381_verbs!();
}

impl Bls12381Suite for MinPk {
    fn generates_keys_as_draft_3(self) -> bool {
        match self {
            Self::Chia => true,
            Self::Basic
            | Self::Augmented
            | Self::ProofOfPossession
            | Self::Bdn
            | Self::Eth2
            | Self::Eth2SyncAggregate
            | Self::DrandChained
            | Self::DrandUnchained => false,
        }
    }

    fn multiply_key(secret: &SecretScalar, point: &G1) -> G1 {
        secret.sign_in_g1(point)
    }
}

impl Suite for MinSig {
    type Curve = Bls12381;
    type Key = G2;
    type Signature = G1;
    type KeyBytes = [u8; 96];
    type SignatureBytes = [u8; 48];

    fn name(self) -> &'static str {
        match self {
            Self::Basic | Self::Augmented | Self::ProofOfPossession | Self::Bdn => self.id(),
            Self::DrandQuicknet => "drand-quicknet",
            Self::DrandG1Legacy => "drand-g1-legacy",
        }
    }

    fn id(self) -> &'static str {
        match self {
            Self::Basic | Self::DrandQuicknet => "BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_RO_NUL_",
            Self::Augmented => "BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_RO_AUG_",
            Self::ProofOfPossession => "BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_RO_POP_",
            Self::Bdn => "BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_RO_BDN_",
            Self::DrandG1Legacy => MinPk::Basic.id(),
        }
    }

    fn scheme(self) -> Scheme {
        match self {
            Self::Basic | Self::DrandQuicknet | Self::DrandG1Legacy => Scheme::Basic,
            Self::Augmented => Scheme::Augmented,
            Self::ProofOfPossession => Scheme::ProofOfPossession,
            Self::Bdn => Scheme::Bdn,
        }
    }

    fn proof_of_possession_tag(self) -> Option<&'static str> {
        (self.scheme() == Scheme::ProofOfPossession).then_some("BLS_POP_BLS12381G1_XMD:SHA-256_SSWU_RO_POP_")
    }

    fn allows_no_keys(self) -> bool {
        false
    }

    fn any(self) -> AnySuite {
        AnySuite::MinSig(self)
    }

    fn all() -> &'static [Self] {
        &[Self::Basic, Self::Augmented, Self::ProofOfPossession, Self::Bdn, Self::DrandQuicknet, Self::DrandG1Legacy]
    }

    fn pair(key: G2, signature: G1) -> (G1, G2) {
        (signature, key)
    }

    fn public_key(secret: &SecretScalar) -> G2 {
        secret.times_g2()
    }

    fn sign(secret: &SecretScalar, hash: &G1) -> G1 {
        secret.sign_in_g1(hash)
    }

    bls12381_verbs!();
}

impl Bls12381Suite for MinSig {
    fn generates_keys_as_draft_3(self) -> bool {
        false
    }

    fn multiply_key(secret: &SecretScalar, point: &G2) -> G2 {
        secret.sign_in_g2(point)
    }
}

impl Display for MinPk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl Display for MinSig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A suite that is chosen when the program runs, on either curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum AnySuite {
    /// BLS12-381 with keys in G1.
    MinPk(MinPk),
    /// BLS12-381 with keys in G2.
    MinSig(MinSig),
    /// BN254, with the feature `bn254`.
    #[cfg(feature = "bn254")]
    Bn254(quorate_bn254::Bn254Suite),
}

/// What is done alike in every suite, for callers who learn the suite when they run: [`AnySuite::run`].
pub trait InSuite {
    /// What comes of it.
    type Output;

    /// Does it in a suite whose type is known.
    fn run_in<S: Suite>(self, suite: S) -> Self::Output;
}

impl AnySuite {
    /// Does something in this suite: the one place that turns a suite's value into its type.
    pub fn run<J: InSuite>(self, job: J) -> J::Output {
        match self {
            Self::MinPk(suite) => job.run_in(suite),
            Self::MinSig(suite) => job.run_in(suite),
            #[cfg(feature = "bn254")]
            Self::Bn254(suite) => job.run_in(suite),
        }
    }

    /// Every suite and profile.
    pub fn all() -> impl Iterator<Item = Self> {
        let min_pk = MinPk::all().iter().copied().map(Self::MinPk);
        let bls12381 = min_pk.chain(MinSig::all().iter().copied().map(Self::MinSig));
        #[cfg(feature = "bn254")]
        let all = bls12381.chain(quorate_bn254::Bn254Suite::all().iter().copied().map(Self::Bn254));
        #[cfg(not(feature = "bn254"))]
        let all = bls12381;
        all
    }

    /// The name by which a user chooses it.
    pub fn name(self) -> &'static str {
        match self {
            Self::MinPk(suite) => suite.name(),
            Self::MinSig(suite) => suite.name(),
            #[cfg(feature = "bn254")]
            Self::Bn254(suite) => suite.name(),
        }
    }

    /// How many bytes a public key of a claim has.
    pub fn key_length(self) -> usize {
        match self {
            Self::MinPk(suite) => suite.key_length(),
            Self::MinSig(suite) => suite.key_length(),
            #[cfg(feature = "bn254")]
            Self::Bn254(suite) => suite.key_length(),
        }
    }

    /// How the suite is protected from rogue keys.
    pub fn scheme(self) -> Scheme {
        match self {
            Self::MinPk(suite) => suite.scheme(),
            Self::MinSig(suite) => suite.scheme(),
            #[cfg(feature = "bn254")]
            Self::Bn254(suite) => suite.scheme(),
        }
    }

    /// The tag that proofs of possession are hashed under; `None` in a suite that has no such proofs.
    pub fn proof_of_possession_tag(self) -> Option<&'static str> {
        match self {
            Self::MinPk(suite) => suite.proof_of_possession_tag(),
            Self::MinSig(suite) => suite.proof_of_possession_tag(),
            #[cfg(feature = "bn254")]
            Self::Bn254(suite) => suite.proof_of_possession_tag(),
        }
    }

    /// Whether it is a profile: a suite with the conventions of one network, chosen by the network's name.
    pub fn is_profile(self) -> bool {
        match self {
            Self::MinPk(suite) => suite.is_profile(),
            Self::MinSig(suite) => suite.is_profile(),
            #[cfg(feature = "bn254")]
            Self::Bn254(suite) => suite.is_profile(),
        }
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for AnySuite {
    /// The name.
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for AnySuite {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        name.parse().map_err(serde::de::Error::custom)
    }
}

impl Display for AnySuite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// No suite has this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no suite `{0}`; choose a profile ({profiles}) or an IETF id in full, such as {id}{hint}", profiles = profiles(), id = MinPk::ProofOfPossession.id(), hint = proven_under_nul(.0))]
pub struct UnknownSuite(pub String);

/// Networks whose signers sign one message under the tag of a NUL suite, with keys of which they have proved possession. No suite of
/// the specification is so, and a NUL suite rightly refuses equal messages: it cannot know that the keys are proven.
fn proven_under_nul(name: &str) -> String {
    let name = name.to_ascii_lowercase();
    if !["iohk", "cardano", "plutus", "sui", "walrus"].contains(&name.split('-').next().unwrap_or_default()) {
        return String::new();
    }
    let [single, legacy] = [MinPk::Basic.id(), MinSig::DrandG1Legacy.name()];
    format!(
        ". Signatures of this network are under the tag of a NUL suite, and many signers of one message prove possession of their keys: \
         no suite here is both. Verify signatures of one key under {single} (with keys in G2 under {legacy}); for several signers of one \
         message, use the Rust crate: a claim of {}, under_tag({single}), after you have verified each proof",
        MinPk::ProofOfPossession.id()
    )
}

fn profiles() -> String {
    let names: Vec<_> = AnySuite::all().filter(|suite| suite.is_profile()).map(AnySuite::name).collect();
    names.join(", ")
}

impl FromStr for AnySuite {
    type Err = UnknownSuite;

    fn from_str(name: &str) -> Result<Self, UnknownSuite> {
        Self::all().find(|suite| suite.name() == name).ok_or_else(|| UnknownSuite(name.to_owned()))
    }
}

impl FromStr for MinPk {
    type Err = UnknownSuite;

    fn from_str(name: &str) -> Result<Self, UnknownSuite> {
        find(name)
    }
}

impl FromStr for MinSig {
    type Err = UnknownSuite;

    fn from_str(name: &str) -> Result<Self, UnknownSuite> {
        find(name)
    }
}

fn find<S: Bls12381Suite>(name: &str) -> Result<S, UnknownSuite> {
    S::all().iter().copied().find(|suite| suite.name() == name).ok_or_else(|| UnknownSuite(name.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_parse_back() {
        let names: std::collections::HashSet<_> = AnySuite::all().map(AnySuite::name).collect();
        assert_eq!(names.len(), AnySuite::all().count());
        for suite in AnySuite::all() {
            assert_eq!(suite.name().parse(), Ok(suite));
        }
        assert!("ETH2".parse::<AnySuite>().is_err());
        assert!("".parse::<AnySuite>().is_err());
    }

    #[test]
    fn an_unknown_name_is_answered_with_all_profiles() {
        let error = "eth3".parse::<AnySuite>().unwrap_err().to_string();
        assert!(
            error.starts_with("there is no suite `eth3`; choose a profile (eth2, eth2-sync-aggregate, chia, "),
            "{error}"
        );
        assert_eq!(error.contains("drand-evmnet, eigenlayer"), cfg!(feature = "bn254"), "{error}");
    }

    /// The tag of a NUL suite, with keys that are proven: IOHK's vectors, Sui, Walrus.
    #[test]
    fn nul_with_proven_keys_is_refused_by_name() {
        for name in ["iohk", "Cardano", "plutus-min-pk", "sui", "walrus"] {
            let error = name.parse::<AnySuite>().unwrap_err().to_string();
            assert!(error.contains("under the tag of a NUL suite") && error.contains("under_tag"), "{error}");
        }
        assert!(!"eth3".parse::<AnySuite>().unwrap_err().to_string().contains("NUL suite"));
    }

    #[test]
    fn only_sync_aggregates_may_have_no_keys() {
        let allowing: Vec<_> = MinPk::all().iter().filter(|suite| suite.allows_no_keys()).collect();
        assert_eq!(allowing, [&MinPk::Eth2SyncAggregate]);
        assert!(!MinSig::all().iter().any(|suite| suite.allows_no_keys()));
    }
}
