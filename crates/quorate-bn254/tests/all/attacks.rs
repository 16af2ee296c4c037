//! Bytes and keys that an attacker would choose; each test is named for the attack.

use ark_ec::{AffineRepr, CurveGroup};
use ark_ff::{Field, PrimeField, Zero};
use quorate_bn254::{
    Bn254Coordinate, Bn254Item, Bn254ParseError, Bn254PublicKey, Bn254SecretKey, Bn254Signature, Bn254Suite, DualKey,
    Fq, Fq2, Fr, G1Affine, G2Affine, MessagePoint, aggregate, aggregate_verify, challenge, dual_key_verify,
    encoding::{decode_g2, encode_g1, encode_g2, fq_bytes},
    hash_to_curve::{XmdTag, hash_to_curve, try_and_increment},
    keccak256, pairing_is_one, sum, verify, verify_all,
};

fn secret(i: u8) -> Bn254SecretKey {
    Bn254SecretKey::from_entropy(&[i; 48])
}

fn message(i: u8) -> MessagePoint {
    try_and_increment(&[i; 32]).point
}

fn negated<G: AffineRepr<Group: CurveGroup<Affine = G>>>(point: G) -> G {
    (-point.into_group()).into_affine()
}

/// The field modulus p, as a word.
fn p() -> [u8; 32] {
    let mut word = fq_bytes(&-Fq::ONE);
    word[31] += 1;
    word
}

#[test]
fn wrong_lengths() {
    let key = secret(1).public_key_g2().to_bytes();
    for length in [0, 1, 63, 64, 127, 129, 192] {
        let bytes: Vec<u8> = key.iter().copied().cycle().take(length).collect();
        let expected = Bn254ParseError::Length { item: Bn254Item::KeyG2, expected: 128, found: length };
        assert_eq!(Bn254PublicKey::<G2Affine>::from_bytes(&bytes), Err(expected));
        if length != 64 {
            let expected = Bn254ParseError::Length { item: Bn254Item::Signature, expected: 64, found: length };
            assert_eq!(Bn254Signature::from_bytes(&bytes), Err(expected));
        }
    }
    let expected = Bn254ParseError::Length { item: Bn254Item::DualKey, expected: 192, found: 128 };
    assert_eq!(DualKey::from_bytes(&key), Err(expected));
    assert_eq!(expected.to_string(), "public key in G1 and G2: 128 bytes, expected 192");
}

/// Coordinates of p and more. The point's own coordinate plus p is the same residue.
#[test]
fn non_canonical_coordinates() {
    use Bn254Coordinate::{X, XImaginary, XReal, Y, YImaginary, YReal};
    let key = secret(1).public_key_g2().to_bytes();
    for (i, coordinate) in [XImaginary, XReal, YImaginary, YReal].into_iter().enumerate() {
        for word in [p(), [0xff; 32], plus_p(&key[32 * i..][..32])] {
            let mut bytes = key;
            bytes[32 * i..][..32].copy_from_slice(&word);
            let expected = Bn254ParseError::NotCanonical { item: Bn254Item::KeyG2, coordinate };
            assert_eq!(Bn254PublicKey::<G2Affine>::from_bytes(&bytes), Err(expected));
        }
    }
    let signature = secret(1).sign(&message(1)).to_bytes();
    for (i, coordinate) in [X, Y].into_iter().enumerate() {
        let mut bytes = signature;
        bytes[32 * i..][..32].copy_from_slice(&plus_p(&signature[32 * i..][..32]));
        let expected = Bn254ParseError::NotCanonical { item: Bn254Item::Signature, coordinate };
        assert_eq!(Bn254Signature::from_bytes(&bytes), Err(expected));
    }
    // (p, p) is not a second encoding of the identity.
    assert!(Bn254Signature::from_bytes(&[p(), p()].concat()).is_err());
}

fn plus_p(word: &[u8]) -> [u8; 32] {
    let mut sum = [0; 32];
    let mut carry = 0;
    for i in (0..32).rev() {
        let digit = u16::from(word[i]) + u16::from(p()[i]) + carry;
        (sum[i], carry) = (digit as u8, digit >> 8);
    }
    assert_eq!(carry, 0);
    sum
}

#[test]
fn off_the_curve() {
    let mut key = secret(1).public_key_g1().to_bytes();
    key[63] ^= 1;
    assert_eq!(Bn254PublicKey::<G1Affine>::from_bytes(&key), Err(Bn254ParseError::NotOnCurve(Bn254Item::KeyG1)));
    let mut key = secret(1).public_key_g2().to_bytes();
    // The parts in the other order, which is the most frequent mistake with keys for the EVM.
    key.rotate_left(32);
    assert_eq!(Bn254PublicKey::<G2Affine>::from_bytes(&key), Err(Bn254ParseError::NotOnCurve(Bn254Item::KeyG2)));
    // Only zeros in both coordinates encode the identity.
    let half = [[0; 32], fq_bytes(&Fq::ONE)].concat();
    assert_eq!(Bn254Signature::from_bytes(&half), Err(Bn254ParseError::NotOnCurve(Bn254Item::Signature)));
}

/// Points of the twist with small x. Almost all are outside the subgroup; multiplied by the cofactor, each is inside.
#[test]
fn points_of_the_twist_outside_the_subgroup() {
    let order = Fr::MODULUS;
    let mut outside = 0;
    for x in 0..40u64 {
        let x = Fq2::new(Fq::from(x), Fq::ONE);
        let Some(y) = (x.square() * x + twist_b()).sqrt() else { continue };
        let point = G2Affine::new_unchecked(x, y);
        assert!(point.is_on_curve());
        let member = point.mul_bigint(order).is_zero();
        let decoded = decode_g2(&encode_g2(&point), Bn254Item::Point);
        assert_eq!(decoded.is_ok(), member);
        assert!(member || decoded == Err(Bn254ParseError::NotInSubgroup(Bn254Item::Point)));
        outside += usize::from(!member);
        let cleared: G2Affine = point.clear_cofactor();
        assert_eq!(decode_g2(&encode_g2(&cleared), Bn254Item::Point), Ok(cleared));
        // The sum of a key and a point outside the subgroup. EIP-196's additions would accept it.
        let mixed = (secret(1).public_key_g2().point() + point).into_affine();
        let expected = Bn254ParseError::NotInSubgroup(Bn254Item::KeyG2);
        assert!(member || Bn254PublicKey::<G2Affine>::from_bytes(&encode_g2(&mixed)) == Err(expected));
    }
    assert!(outside > 10);
}

fn twist_b() -> Fq2 {
    let (x, y) = G2Affine::generator().xy().expect("not the identity");
    y.square() - x.square() * x
}

#[test]
fn identity_keys() {
    assert_eq!(Bn254PublicKey::<G1Affine>::from_bytes(&[0; 64]), Err(Bn254ParseError::IdentityKey(Bn254Item::KeyG1)));
    assert_eq!(Bn254PublicKey::<G2Affine>::from_bytes(&[0; 128]), Err(Bn254ParseError::IdentityKey(Bn254Item::KeyG2)));
    assert_eq!(DualKey::from_bytes(&[0; 192]), Err(Bn254ParseError::IdentityKey(Bn254Item::KeyG1)));
    let identity = Bn254Signature::from_bytes(&[0; 64]).unwrap();
    assert_eq!(identity.to_bytes(), [0; 64]);
    assert!(!verify(&secret(1).public_key_g2(), &message(1), &identity));
}

#[test]
fn keys_that_cancel_have_no_sum() {
    let key = secret(1).public_key_g2();
    let opposite = Bn254PublicKey::<G2Affine>::from_bytes(&encode_g2(&negated(key.point()))).unwrap();
    assert_eq!(aggregate([key, opposite]), None);
    assert_eq!(aggregate::<G2Affine>([]), None);
    assert_eq!(sum(Some(key), [], [key]), None);
    assert_eq!(sum(None, [key, opposite], [opposite]), Some(key));
    // Over one message, the two keys verify with the identity as signature. Callers have to refuse keys that cancel.
    let identity = Bn254Signature::from_bytes(&[0; 64]).unwrap();
    assert!(aggregate_verify(&[(key, message(1)), (opposite, message(1))], &identity));
}

#[test]
fn secret_keys_out_of_range() {
    let minus_one = -Fr::ONE;
    let mut order: [u8; 32] = {
        let limbs = minus_one.into_bigint().0;
        let bytes: Vec<u8> = limbs.iter().rev().flat_map(|limb| limb.to_be_bytes()).collect();
        bytes.try_into().unwrap()
    };
    assert!(Bn254SecretKey::from_bytes(&order).is_ok_and(|secret| *secret.to_bytes() == order));
    order[31] += 1;
    for length in [0, 31, 33] {
        let expected = Bn254ParseError::Length { item: Bn254Item::SecretKey, expected: 32, found: length };
        assert_eq!(Bn254SecretKey::from_bytes(&vec![1; length]).unwrap_err(), expected);
    }
    for bytes in [[0; 32], order, [0xff; 32]] {
        assert!(matches!(Bn254SecretKey::from_bytes(&bytes), Err(Bn254ParseError::SecretOutOfRange)));
    }
    // Entropy that is zero modulo r gives the key 1, and not 0.
    assert_eq!(Bn254SecretKey::from_entropy(&[0; 48]).public_key_g1().point(), G1Affine::generator());
    assert_eq!(format!("{:?}", secret(1)), "Bn254SecretKey(redacted)");
}

#[test]
fn empty_claims_are_false() {
    let identity = Bn254Signature::from_bytes(&[0; 64]).unwrap();
    assert!(!aggregate_verify(&[], &identity));
    assert!(!verify_all(&secret(1).public_key_g2(), &[], &identity));
    assert!(pairing_is_one(&[]));
    // Messages that cancel have no sum, and nothing verifies over them.
    let opposite = MessagePoint::from_point(negated(message(1).point()));
    assert_eq!(MessagePoint::sum_of(&[message(1), opposite]), None);
    assert!(!verify_all(&secret(1).public_key_g2(), &[message(1), opposite], &identity));
}

/// The pairings alone accept repeated messages. Whether a suite allows them is a rule of the engine.
#[test]
fn repeated_messages_in_a_nul_suite() {
    let suite = Bn254Suite::DrandEvmnet;
    let keys = [secret(1).public_key_g2(), secret(2).public_key_g2()];
    let hash = |message: &[u8]| suite.hash(message).unwrap();
    let sign = |i, message: &[u8]| secret(i).sign(&hash(message));
    let sum: Bn254Signature = [sign(1, b"m"), sign(2, b"m")].into_iter().sum();
    assert!(aggregate_verify(&[(keys[0], hash(b"m")), (keys[1], hash(b"m"))], &sum));
    let each = [(keys[0], hash(b"m")), (keys[1], hash(b"n"))];
    let sum: Bn254Signature = [sign(1, b"m"), sign(2, b"n")].into_iter().sum();
    assert!(aggregate_verify(&each, &sum));
    let crossed: Bn254Signature = [sign(1, b"n"), sign(2, b"m")].into_iter().sum();
    assert!(!aggregate_verify(&each, &crossed));
}

#[test]
fn eigenlayer_signs_digests_alone() {
    for found in [0, 31, 33] {
        let expected = Bn254ParseError::Length { item: Bn254Item::Message, expected: 32, found };
        assert_eq!(Bn254Suite::EigenLayer.hash(&vec![0; found]), Err(expected));
        for suite in Bn254Suite::all().iter().filter(|suite| **suite != Bn254Suite::EigenLayer) {
            assert!(suite.hash(&vec![0; found]).is_ok(), "{suite}");
        }
    }
}

/// A signature, and a proof of possession, under each suite: under any other suite it is false, but for evmnet, which has the tag
/// of the NUL suite. Neither is one for the other, nor of another key.
#[test]
fn signatures_are_of_one_suite() {
    let (signer, other) = (secret(1), secret(2));
    let (key, digest) = (signer.public_key_g2(), [7; 32]);
    let same = |a, b| a == b || [a, b].iter().all(|s| matches!(s, Bn254Suite::KeccakBasic | Bn254Suite::DrandEvmnet));
    for signed in Bn254Suite::all() {
        let signature = signed.sign(&signer, &digest).unwrap();
        let proof = signed.prove_possession(&signer);
        for claimed in Bn254Suite::all() {
            let holds = |key, signature| verify(&key, &claimed.hash_by(&key, &digest).unwrap(), signature);
            assert_eq!(holds(key, &signature), same(*signed, *claimed), "{signed} under {claimed}");
            assert!(!holds(other.public_key_g2(), &signature), "{signed} under {claimed}");
            let (Some(proof), Some(proof_tag)) = (&proof, claimed.proof_of_possession_tag()) else { continue };
            let tag = XmdTag { bytes: proof_tag.as_bytes(), ..claimed.tag().unwrap() };
            let proves = |key: Bn254PublicKey, proof| verify(&key, &hash_to_curve(&key.to_bytes(), tag), proof);
            assert_eq!(proves(key, proof), signed == claimed, "{signed} under {claimed}");
            assert!(!proves(other.public_key_g2(), proof) && !proves(key, &signature), "{signed} under {claimed}");
            let signed_key = signed.sign(&signer, &key.to_bytes()).unwrap();
            assert!(!proves(key, &signed_key), "a signature over the key is no proof: {signed} under {claimed}");
        }
    }
    let proving = Bn254Suite::all().iter().filter(|suite| suite.prove_possession(&signer).is_some());
    assert_eq!(
        proving.collect::<Vec<_>>(),
        [&Bn254Suite::KeccakProofOfPossession, &Bn254Suite::Sha256ProofOfPossession]
    );
}

/// In an AUG suite the owner of each key signs its own key too, so equal messages are different points.
#[test]
fn augmented_messages_have_their_signers_key_in_front() {
    let (one, two) = (secret(1).public_key_g2(), secret(2).public_key_g2());
    for suite in Bn254Suite::all() {
        let [by_one, by_two] = [one, two].map(|key| suite.hash_by(&key, &[7; 32]).unwrap());
        let augmented = matches!(suite, Bn254Suite::KeccakAugmented | Bn254Suite::Sha256Augmented);
        assert_eq!(by_one != by_two, augmented, "{suite}");
        let joined = suite.hash(&[&one.to_bytes()[..], &[7; 32]].concat());
        assert_eq!(joined == Ok(by_one), augmented, "{suite}");
    }
}

/// The second key is computed from the first. Without a proof of possession, it signs for both.
#[test]
fn rogue_key() {
    let (honest, attacker) = (secret(1).public_key_g2(), secret(2));
    let rogue = sum(Some(attacker.public_key_g2()), [], [honest]).unwrap();
    let forged = attacker.sign(&message(1));
    let sum = aggregate([honest, rogue]).unwrap();
    assert!(verify(&sum, &message(1), &forged), "this is why possession is proved");
    // The attacker cannot sign under the rogue key alone.
    assert!(!verify(&rogue, &message(2), &attacker.sign(&message(2))));
}

#[test]
fn dual_keys_of_two_secrets() {
    let (one, two) = (secret(1), secret(2));
    assert_eq!(DualKey::new(one.public_key_g1(), two.public_key_g2()), Err(Bn254ParseError::KeysDiffer));
    let bytes = [&one.public_key_g1().to_bytes()[..], &two.public_key_g2().to_bytes()].concat();
    assert_eq!(DualKey::from_bytes(&bytes), Err(Bn254ParseError::KeysDiffer));
    assert_eq!(Bn254Suite::EigenLayer.key(&bytes), Err(Bn254ParseError::KeysDiffer));
    let opposite = Bn254PublicKey::<G1Affine>::from_bytes(&encode_g1(&negated(one.public_key_g1().point()))).unwrap();
    assert_eq!(DualKey::new(opposite, one.public_key_g2()), Err(Bn254ParseError::KeysDiffer));
}

/// The aggregator passes a key in G2 of its own and a signature under it, then a forgery for a challenge that it knew.
#[test]
fn dual_key_forgeries() {
    let (honest, own) = (secret(1), secret(2));
    let (g1, message) = (honest.public_key_g1(), message(1));
    assert!(dual_key_verify(&g1, &honest.public_key_g2(), &message, &honest.sign(&message)));
    let foreign = own.public_key_g2();
    assert!(!dual_key_verify(&g1, &foreign, &message, &own.sign(&message)));
    // If the challenge γ were known beforehand, s = b·H + γ·(b·G1 - pk1) would pass.
    let guess = challenge(&g1, &foreign, &message, &own.sign(&message));
    let forged = own.sign(&message).point() + (own.public_key_g1().point() * guess) + (negated(g1.point()) * guess);
    let forged = Bn254Signature::from_point(forged.into_affine());
    let left = (forged.point() + g1.point() * guess).into_affine();
    let right = (message.point() + G1Affine::generator() * guess).into_affine();
    assert!(
        pairing_is_one(&[(left, negated(G2Affine::generator())), (right, foreign.point())]),
        "the forgery is right"
    );
    assert!(!dual_key_verify(&g1, &foreign, &message, &forged), "but the signature is in the transcript");
}

/// The challenge is keccak256(TAG ‖ H ‖ pk1 ‖ pk2 ‖ s) mod r: each part changes it.
#[test]
fn challenge_covers_everything() {
    let (one, two) = (secret(1), secret(2));
    let (h, s) = (message(1), one.sign(&message(1)));
    let base = challenge(&one.public_key_g1(), &one.public_key_g2(), &h, &s);
    let transcript = [
        &keccak256(&[b"quorate.bn254.dual-key"])[..],
        &h.to_bytes(),
        &one.public_key_g1().to_bytes(),
        &one.public_key_g2().to_bytes(),
        &s.to_bytes(),
    ]
    .concat();
    assert_eq!(transcript.len(), 352);
    assert_eq!(base, Fr::from_be_bytes_mod_order(&keccak256(&[&transcript])));
    assert_ne!(base, challenge(&one.public_key_g1(), &one.public_key_g2(), &message(2), &s));
    assert_ne!(base, challenge(&two.public_key_g1(), &one.public_key_g2(), &h, &s));
    assert_ne!(base, challenge(&one.public_key_g1(), &two.public_key_g2(), &h, &s));
    assert_ne!(base, challenge(&one.public_key_g1(), &one.public_key_g2(), &h, &two.sign(&h)));
}
