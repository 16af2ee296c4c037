//! Properties: a quorum against its members one by one, the dual-key check against two separate checks, encodings both ways.

use std::sync::LazyLock;

use num_bigint::BigUint;
use proptest::prelude::*;
use quorate_bn254::{
    Bn254ParseError, Bn254PublicKey, Bn254SecretKey, Bn254Signature, DualKey, G1Affine, G2Affine, MessagePoint,
    aggregate_verify, dual_key_verify,
    hash_to_curve::{eigenlayer, try_and_increment},
    sum, verify, verify_all,
};

const MEMBERS: usize = 24;

static SECRETS: LazyLock<Vec<Bn254SecretKey>> =
    LazyLock::new(|| (1..=MEMBERS as u8).map(|i| Bn254SecretKey::from_entropy(&[i; 48])).collect());
static KEYS: LazyLock<Vec<DualKey>> = LazyLock::new(|| SECRETS.iter().map(Bn254SecretKey::dual_key).collect());

type Members = std::collections::BTreeSet<usize>;

fn message(i: u8) -> MessagePoint {
    try_and_increment(&[i; 32]).point
}

fn members() -> impl Strategy<Value = Members> {
    prop::collection::btree_set(0..MEMBERS, 1..MEMBERS)
}

fn key(members: &Members) -> DualKey {
    DualKey::aggregate(members.iter().map(|i| KEYS[*i])).expect("no keys here cancel")
}

fn signed(members: &Members, message: &MessagePoint) -> Bn254Signature {
    members.iter().map(|i| SECRETS[*i].sign(message)).sum()
}

/// The oracle of [`dual_key_verify`], with two checks and without a challenge: the keys belong together, and the signature is
/// valid. Four Miller loops.
fn dual_key_verify_exact(
    g1: &Bn254PublicKey<G1Affine>,
    g2: &Bn254PublicKey<G2Affine>,
    message: &MessagePoint,
    signature: &Bn254Signature,
) -> bool {
    DualKey::new(*g1, *g2).is_ok() && verify(g2, message, signature)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    /// A quorum's signature is valid under the sum of its keys, in both groups, and under the separate keys. With one signature
    /// more or less, or for another message, it is not.
    #[test]
    fn quorum_is_its_members(signers in members(), other in 0..MEMBERS, task in 0u8..100) {
        let (message, quorum) = (message(task), key(&signers));
        let signature = signed(&signers, &message);
        prop_assert!(verify(&quorum.g2(), &message, &signature));
        let statements: Vec<_> = signers.iter().map(|i| (KEYS[*i].g2(), message)).collect();
        prop_assert!(aggregate_verify(&statements, &signature));
        prop_assert!(dual_key_verify(&quorum.g1(), &quorum.g2(), &message, &signature));
        let one = SECRETS[other].sign(&message);
        let changed = if signers.contains(&other) { signature - one } else { [signature, one].into_iter().sum() };
        prop_assert!(!verify(&quorum.g2(), &message, &changed));
        prop_assert!(!dual_key_verify(&quorum.g1(), &quorum.g2(), &message, &changed));
        prop_assert!(!verify(&quorum.g2(), &self::message(task + 1), &signature));
    }

    /// The contract's check of an unchecked pair of keys agrees with the two separate checks.
    #[test]
    fn dual_key_check_is_exact(a in 0..MEMBERS, b in 0..MEMBERS, s in 0..MEMBERS) {
        let message = message(1);
        for (a, b, s) in [(a, b, s), (a, a, s), (a, b, b), (a, b, a), (a, a, a)] {
            let (g1, g2, signature) = (KEYS[a].g1(), KEYS[b].g2(), SECRETS[s].sign(&message));
            let expected = dual_key_verify_exact(&g1, &g2, &message, &signature);
            prop_assert_eq!(expected, a == b && b == s);
            prop_assert_eq!(dual_key_verify(&g1, &g2, &message, &signature), expected);
        }
    }

    /// One quorum's signature over several messages is one check.
    #[test]
    fn several_messages_are_one_check(signers in members(), tasks in prop::collection::btree_set(0u8..100, 1..6)) {
        let messages: Vec<_> = tasks.iter().map(|task| message(*task)).collect();
        let signature: Bn254Signature = messages.iter().map(|message| signed(&signers, message)).sum();
        let key = key(&signers).g2();
        prop_assert!(verify_all(&key, &messages, &signature));
        prop_assert!(!verify_all(&key, &messages[1..], &signature));
    }

    /// From any base to any quorum, by the members that changed.
    #[test]
    fn difference_leads_to_the_quorum(base in members(), signers in members()) {
        let keys = |of: &Members, without: &Members| of.difference(without).map(|i| KEYS[*i].g2()).collect::<Vec<_>>();
        let found = sum(Some(key(&base).g2()), keys(&signers, &base), keys(&base, &signers));
        prop_assert_eq!(found, Some(key(&signers).g2()));
    }

    /// EigenLayer's map as its contract describes it: the first x from the digest on that is on the curve, and y by the
    /// exponent.
    #[test]
    fn eigenlayer_counts_up(digest in any::<[u8; 32]>()) {
        let p: BigUint = "21888242871839275222246405745257275088696311157297823662689037894645226208583".parse().unwrap();
        let mut x = BigUint::from_bytes_be(&digest) % &p;
        let (three, one) = (BigUint::from(3u8), BigUint::from(1u8));
        let expected = loop {
            let right = (&x * &x * &x + &three) % &p;
            let y = right.modpow(&((&p + &one) / 4u8), &p);
            if &y * &y % &p == right {
                break [x, y].map(|n| { let b = n.to_bytes_be(); [vec![0; 32 - b.len()], b].concat() }).concat();
            }
            x = (x + &one) % &p;
        };
        prop_assert_eq!(eigenlayer(&digest).to_bytes().to_vec(), expected);
    }

    /// Bytes and hexadecimal, with and without `0x` and in either case, read back as the same value; the order of values
    /// is the order of their bytes.
    #[test]
    fn encodings_read_back(a in 0..MEMBERS, b in 0..MEMBERS) {
        fn check<T>(a: &T, b: &T, [a_bytes, b_bytes]: [&[u8]; 2]) -> Result<(), TestCaseError>
        where
            T: Ord + ToString + std::str::FromStr<Err = Bn254ParseError> + std::fmt::Debug,
            T: for<'a> TryFrom<&'a [u8], Error = Bn254ParseError>,
        {
            prop_assert_eq!(&T::try_from(a_bytes).unwrap(), a);
            let text = a.to_string();
            prop_assert_eq!(&text, &const_hex::encode_prefixed(a_bytes));
            for text in [&text[..], &text[2..], &text[2..].to_uppercase()] {
                prop_assert_eq!(&text.parse::<T>().unwrap(), a);
            }
            prop_assert!(matches!("0x0".parse::<T>(), Err(Bn254ParseError::NotHex(_))));
            prop_assert!(matches!("zz".parse::<T>(), Err(Bn254ParseError::NotHex(_))));
            let empty = matches!("".parse::<T>(), Err(Bn254ParseError::Length { found: 0, .. }));
            prop_assert!(empty);
            prop_assert_eq!(a.cmp(b), a_bytes.cmp(b_bytes));
            Ok(())
        }
        let [x, y] = [a, b].map(|i| KEYS[i]);
        check(&x, &y, [&x.to_bytes(), &y.to_bytes()])?;
        check(&x.g1(), &y.g1(), [&x.g1().to_bytes(), &y.g1().to_bytes()])?;
        check(&x.g2(), &y.g2(), [&x.g2().to_bytes(), &y.g2().to_bytes()])?;
        let [x, y] = [a, b].map(|i| SECRETS[i].sign(&message(1)));
        check(&x, &y, [&x.to_bytes(), &y.to_bytes()])?;
    }
}
