//! Makes true claims, and false claims of every kind, from small pools of keys and messages.
//!
//! What many tests need is made once: keys, signatures, and the oracle's verdicts.

use std::{
    collections::HashMap,
    hash::Hash,
    sync::{Mutex, OnceLock},
};

use proptest::prelude::*;
use quorate::{
    Backend, Bls12381Suite, Claim, MinPk, MinSig, PublicKey, Scheme, SecretKey, Signature, SourceId, Suite, Tag,
    UncheckedSignature, Verdict, aggregate::aggregate, bdn, naive,
};
#[cfg(feature = "bn254")]
use quorate_bn254::{
    Bn254SecretKey,
    hash_to_curve::{XmdTag, hash_to_curve},
};
use quorate_curve::{G1, G2, Group};

/// How a claim is made.
#[derive(Clone, Debug)]
pub struct Recipe {
    /// The index in the variant's list of suites. Behind the list come the same suites under one tag of the caller's, so
    /// that suites of different schemes sign under the same tag.
    pub suite: usize,
    /// Who signs what.
    pub shape: Shape,
    /// What is false about it.
    pub lie: Lie,
    /// The source that the claim names.
    pub source: Option<u64>,
}

/// Who signs what, by the numbers of keys and messages.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Shape {
    /// One key and its message.
    Single(u8, u8),
    /// Keys and their one message.
    Shared(Vec<u8>, u8),
    /// Keys, each with a message of its own.
    Each(Vec<(u8, u8)>),
}

/// What is false about a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Lie {
    /// Nothing.
    None,
    /// The claim names other keys than those that signed.
    WrongKey,
    /// The claim names other messages than the signed ones.
    WrongMessage,
    /// A point of small order added to a true signature.
    Torsion,
    /// The same, and to the keys of a shared claim their opposites are added, so that they add up to the identity.
    /// Such a claim has two faults.
    TorsionAndCancellingKeys,
    /// The identity in place of the signature.
    Identity,
    /// A true signature plus a point D. The next claim with this lie gets D subtracted, so the two errors cancel.
    CancellingPair,
    /// The signature of the next claim with this lie, which gets this claim's signature.
    Swapped,
    /// What the same keys signed in an AUG suite, or, of a claim in an AUG suite, in a NUL suite. The tag is the same if it
    /// is the caller's.
    OtherScheme,
}

/// Tells the suites of a list from those under the caller's tag.
fn suite_of<S: Forge>(index: usize) -> (S, Option<Tag>) {
    let suites = S::all();
    let under_tag = (index / suites.len()) % 2 == 1;
    (suites[index % suites.len()], under_tag.then(|| Tag::from(&b"one tag for suites of all schemes"[..])))
}

/// A random recipe from few keys and messages, so that claims share them.
pub fn recipe() -> impl Strategy<Value = Recipe> {
    let pool = 0u8..5;
    let shape = prop_oneof![
        4 => (pool.clone(), 0u8..6).prop_map(|(k, m)| Shape::Single(k, m)),
        2 => (proptest::collection::vec(pool.clone(), 0..5), 0u8..6).prop_map(|(k, m)| Shape::Shared(k, m)),
        2 => proptest::collection::vec((pool, 0u8..6), 0..6).prop_map(Shape::Each),
    ];
    let lie = prop_oneof![
        12 => Just(Lie::None),
        1 => Just(Lie::WrongKey),
        1 => Just(Lie::WrongMessage),
        1 => Just(Lie::Torsion),
        1 => Just(Lie::TorsionAndCancellingKeys),
        1 => Just(Lie::Identity),
        2 => Just(Lie::CancellingPair),
        2 => Just(Lie::Swapped),
        2 => Just(Lie::OtherScheme),
    ];
    (0usize..24, shape, lie, proptest::option::of(0u64..3)).prop_map(|(suite, shape, lie, source)| Recipe {
        suite,
        shape,
        lie,
        source,
    })
}

/// Secret key number `i`.
pub fn secret<S: Bls12381Suite>(suite: S, i: u8) -> SecretKey<S> {
    SecretKey::key_gen(suite, &[i; 32], b"").unwrap()
}

/// A claim, and the oracle's verdict on it.
#[derive(Clone)]
pub struct Case<S: Suite> {
    /// The claim.
    pub claim: Claim<S>,
    /// The oracle's verdict.
    pub verdict: Verdict,
}

/// Makes the claims of the recipes, in order, and asks the oracle.
pub fn cases<S: Forge>(recipes: &[Recipe]) -> Vec<Case<S>> {
    let judged = |(recipe, claim): (&Recipe, Claim<S>)| {
        let verdict = match recipe.lie {
            // Such a claim is made of two recipes.
            Lie::CancellingPair | Lie::Swapped => naive::verify(&claim),
            lie => S::made().verdicts.get((recipe.suite, recipe.shape.clone(), lie), || naive::verify(&claim)),
        };
        Case { claim, verdict }
    };
    recipes.iter().zip(claims(recipes)).map(judged).collect()
}

/// Makes the claims of the recipes, in order.
pub fn claims<S: Forge>(recipes: &[Recipe]) -> Vec<Claim<S>> {
    let mut second_of_pair = false;
    let mut swapped: Option<usize> = None;
    let mut parts: Vec<(Recipe, S::Signature)> =
        recipes.iter().map(|recipe| (recipe.clone(), true_signature::<S>(recipe))).collect();
    let backend = Backend::Portable;
    for i in 0..parts.len() {
        match parts[i].0.lie {
            Lie::None | Lie::WrongKey | Lie::WrongMessage => {}
            Lie::Torsion | Lie::TorsionAndCancellingKeys => parts[i].1 = backend.sum(&[parts[i].1, S::small_order()]),
            Lie::Identity => parts[i].1 = S::Signature::IDENTITY,
            Lie::OtherScheme => parts[i].1 = true_signature::<S>(&in_other_scheme::<S>(&parts[i].0)),
            Lie::CancellingPair => {
                let delta = signature::<S>(0, 99, 200).point();
                parts[i].1 = backend.sum(&[parts[i].1, if second_of_pair { delta.negate() } else { delta }]);
                second_of_pair = !second_of_pair;
            }
            Lie::Swapped => match swapped.take() {
                Some(other) => {
                    let mine = parts[i].1;
                    parts[i].1 = parts[other].1;
                    parts[other].1 = mine;
                }
                None => swapped = Some(i),
            },
        }
    }
    parts.iter().map(|(recipe, signature)| claim(recipe, *signature)).collect()
}

/// The same claim in an AUG suite, or in a NUL suite if it is in an AUG suite.
fn in_other_scheme<S: Forge>(recipe: &Recipe) -> Recipe {
    let n = S::all().len();
    let at = recipe.suite % n;
    let other = match S::all()[at].scheme() {
        Scheme::Augmented => Scheme::Basic,
        Scheme::Basic | Scheme::ProofOfPossession | Scheme::Bdn => Scheme::Augmented,
    };
    // The nearest one, because on BN254 the suites of one hash function stand together.
    let others = S::all().iter().enumerate().filter(|(_, suite)| suite.scheme() == other);
    let place = others.map(|(place, _)| place).min_by_key(|place| place.abs_diff(at)).unwrap();
    Recipe { suite: recipe.suite / n * n + place, ..recipe.clone() }
}

fn claim<S: Forge>(recipe: &Recipe, signature: S::Signature) -> Claim<S> {
    let (suite, tag) = suite_of::<S>(recipe.suite);
    let shift = if recipe.lie == Lie::WrongKey { 10 } else { 0 };
    let suffix = if recipe.lie == Lie::WrongMessage { 100 } else { 0 };
    let key = |k: u8| S::made().keys.get((recipe.suite, k + shift), || suite.key(k + shift));
    let signature = UncheckedSignature::from_point(signature);
    let claim = match &recipe.shape {
        Shape::Single(k, m) => Claim::single(suite, key(*k), S::message(m + suffix), signature),
        Shape::Shared(keys, m) => {
            let mut keys: Vec<_> = keys.iter().map(|k| key(*k)).collect();
            if recipe.lie == Lie::TorsionAndCancellingKeys {
                let opposites = keys.iter().map(|key| PublicKey::from_point(key.point().negate()).unwrap());
                keys.extend(opposites.collect::<Vec<_>>());
            }
            Claim::shared(suite, keys, S::message(m + suffix), signature)
        }
        Shape::Each(list) => {
            let statements = list.iter().map(|(k, m)| (key(*k), S::message(m + suffix).into())).collect();
            Claim::each(suite, statements, signature)
        }
    };
    let claim = match tag {
        Some(tag) => claim.under_tag(tag),
        None => claim,
    };
    match recipe.source {
        Some(source) => claim.from_source(SourceId::from(source)),
        None => claim,
    }
}

/// The signature by key `k` over message `m`.
fn signature<S: Forge>(suite: usize, k: u8, m: u8) -> Signature<S> {
    let signed = || {
        let (suite, tag) = suite_of::<S>(suite);
        suite.signed(k, tag.as_ref(), &S::message(m))
    };
    S::made().signatures.get((suite, k, m), signed)
}

fn true_signature<S: Forge>(recipe: &Recipe) -> S::Signature {
    let pairs: Vec<(u8, u8)> = match &recipe.shape {
        Shape::Single(k, m) => vec![(*k, *m)],
        Shape::Shared(keys, m) => keys.iter().map(|k| (*k, *m)).collect(),
        Shape::Each(list) => list.clone(),
    };
    let (suite, tag) = suite_of::<S>(recipe.suite);
    if suite.scheme() == Scheme::Bdn && matches!(recipe.shape, Shape::Shared(..)) {
        let key = |k: u8| S::made().keys.get((recipe.suite, k), || suite.key(k));
        let signed: Vec<_> = pairs.iter().map(|(k, m)| (key(*k), signature(recipe.suite, *k, *m))).collect();
        // A key that occurs twice makes the claim false whatever its signature is.
        let aggregate = match tag {
            Some(tag) => bdn::aggregate_under_tag(suite, &tag, &signed, Backend::auto()),
            None => bdn::aggregate(suite, &signed, Backend::auto()),
        };
        return aggregate.map_or(S::Signature::IDENTITY, |s| s.point());
    }
    let signatures: Vec<Signature<S>> = pairs.iter().map(|(k, m)| signature(recipe.suite, *k, *m)).collect();
    aggregate(&signatures, Backend::auto()).map_or(S::Signature::IDENTITY, |s| s.point())
}

/// What was made before, by what it was made from.
pub struct Made<S: Suite> {
    keys: Memo<(usize, u8), PublicKey<S>>,
    signatures: Memo<(usize, u8, u8), Signature<S>>,
    verdicts: Memo<(usize, Shape, Lie), Verdict>,
}

impl<S: Suite> Default for Made<S> {
    fn default() -> Self {
        Self { keys: Memo::default(), signatures: Memo::default(), verdicts: Memo::default() }
    }
}

struct Memo<K, V>(Mutex<HashMap<K, V>>);

impl<K, V> Default for Memo<K, V> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: Eq + Hash, V: Clone> Memo<K, V> {
    /// Other threads go on while a value is made, so two of them may make the same one.
    fn get(&self, key: K, make: impl FnOnce() -> V) -> V {
        if let Some(value) = self.0.lock().unwrap().get(&key) {
            return value.clone();
        }
        let value = make();
        self.0.lock().unwrap().insert(key, value.clone());
        value
    }
}

/// A variant, and what a test must know about it to make false claims.
pub trait Forge: Suite {
    /// What was made for this variant before.
    fn made() -> &'static Made<Self>;

    /// Public key number `k`.
    fn key(self, k: u8) -> PublicKey<Self>;

    /// Message number `m`.
    fn message(m: u8) -> Vec<u8>;

    /// The signature of key number `k`, under the suite's tag or another one.
    fn signed(self, k: u8, tag: Option<&Tag>, message: &[u8]) -> Signature<Self>;

    /// A point of the curve of signatures whose order is the smallest prime factor of its cofactor.
    fn small_order() -> Self::Signature;
}

macro_rules! made_with_secrets {
    () => {
        fn key(self, k: u8) -> PublicKey<Self> {
            secret(self, k).public_key()
        }

        fn message(m: u8) -> Vec<u8> {
            vec![m]
        }

        fn signed(self, k: u8, tag: Option<&Tag>, message: &[u8]) -> Signature<Self> {
            match tag {
                None => secret(self, k).sign(self, message),
                Some(tag) => secret(self, k).sign_under_tag(self, tag, message),
            }
        }
    };
}

impl Forge for MinPk {
    fn made() -> &'static Made<Self> {
        static MADE: OnceLock<Made<MinPk>> = OnceLock::new();
        MADE.get_or_init(Made::default)
    }

    made_with_secrets!();

    /// Order 13.
    fn small_order() -> Self::Signature {
        static POINT: OnceLock<G2> = OnceLock::new();
        *POINT.get_or_init(|| {
            // Half of all x have a point on the twist, and most points of the twist have a part of order 13.
            let mut parts = (1u8..).filter_map(|x| {
                let mut bytes = [0; 96];
                (bytes[0], bytes[95]) = (0x80, x);
                let point: G2 = Backend::Portable.decode(&bytes).ok()?;
                Some(times(point, R_TIMES_H_OVER_169))
            });
            let part = parts.find(|part| !part.is_identity()).unwrap();
            assert!(times(part, "0d").is_identity());
            part
        })
    }
}

impl Forge for MinSig {
    fn made() -> &'static Made<Self> {
        static MADE: OnceLock<Made<MinSig>> = OnceLock::new();
        MADE.get_or_init(Made::default)
    }

    made_with_secrets!();

    /// Order 3: (0, 2).
    fn small_order() -> Self::Signature {
        static POINT: OnceLock<G1> = OnceLock::new();
        *POINT.get_or_init(|| {
            let mut bytes = [0; 48];
            bytes[0] = 0x80;
            Backend::Portable.decode(&bytes).unwrap()
        })
    }
}

#[cfg(feature = "bn254")]
impl Forge for quorate::Bn254Suite {
    fn made() -> &'static Made<Self> {
        static MADE: OnceLock<Made<quorate::Bn254Suite>> = OnceLock::new();
        MADE.get_or_init(Made::default)
    }

    fn key(self, k: u8) -> PublicKey<Self> {
        PublicKey::from_bytes(&Bn254SecretKey::from_entropy(&[k; 48]).public_key_g2().to_bytes()).unwrap()
    }

    /// A digest, because `eigenlayer` signs nothing else.
    fn message(m: u8) -> Vec<u8> {
        vec![m; 32]
    }

    fn signed(self, k: u8, tag: Option<&Tag>, message: &[u8]) -> Signature<Self> {
        let secret = Bn254SecretKey::from_entropy(&[k; 48]);
        let signature = match (self.tag(), tag) {
            (Some(own), Some(tag)) => {
                let signed = match self.scheme() {
                    Scheme::Augmented => [&secret.public_key_g2().to_bytes(), message].concat(),
                    Scheme::Basic | Scheme::ProofOfPossession | Scheme::Bdn => message.to_vec(),
                };
                secret.sign(&hash_to_curve(&signed, XmdTag { bytes: tag.as_bytes(), ..own }))
            }
            // The hash of `eigenlayer` takes no tag.
            (None, _) | (_, None) => self.sign(&secret, message).unwrap(),
        };
        Signature::from_bytes(&signature.to_bytes()).unwrap()
    }

    /// The cofactor is 1, so there is no other than the identity.
    fn small_order() -> Self::Signature {
        quorate_curve::Bn254G1::IDENTITY
    }
}

/// Double-and-add by an integer in hex.
pub fn times<G: Group>(point: G, multiplier: &str) -> G {
    let mut sum = G::IDENTITY;
    let nibbles = multiplier.chars().map(|c| c.to_digit(16).unwrap());
    for bit in nibbles.flat_map(|nibble| (0..4).rev().map(move |i| nibble >> i & 1)) {
        sum = Backend::Portable.sum(&[sum, sum]);
        if bit == 1 {
            sum = Backend::Portable.sum(&[sum, point]);
        }
    }
    sum
}

/// r·h/169 for the cofactor h of the twist, in which 13 occurs twice.
const R_TIMES_H_OVER_169: &str = "0004005449cda731a7136c440a0c65b728ba1c1fa6b6708356f3b9bdc84396cab33907d71557a7d33677f5d45f7c\
                                  edb8cfdac10ff1fc5b48d6461e907737d78e96568f2d18c750b4b3ca5c33c3fd8ff8a70629888281914529f4e338\
                                  0941cfdd";
