//! Bytes and keys that an attacker would choose, each by name.

use ark_ec::{AffineRepr, CurveGroup};
use ark_ff::{AdditiveGroup, Field, PrimeField, Zero};
use quorate_evm::{
    BackEnd, Base, Bitmap, DualKey, KeySum, MessagePoint, ParseError, Profile, Proof, PublicKey, Quorum, Reason,
    SecretKey, Signature,
    bitmap::NotShortest,
    bn254::{
        self, Coordinate, Fp, Fp2, G1, G2, Item, Scalar, aggregate_verify, challenge, decode_g2, dual_key_verify,
        encode_g1, encode_g2, fp_bytes, pairing_is_one, verify, verify_all,
    },
    digest::{Contract, Possession},
    hash_to_curve::{Candidate, candidate, candidates, hash_to_curve, hash_to_field, map_to_curve, try_and_increment},
    hint::{Accumulator, Change, CounterHint, MapHint, Rfc9380Hint, slopes, sum_by_slopes},
    quorum::{DecodeError, MisuseError, NONE, Part, RENTAL, Store, WEIGHT_LIMIT},
};

fn secret(i: u8) -> SecretKey {
    SecretKey::from_entropy(&[i; 48])
}

fn message(i: u8) -> MessagePoint {
    try_and_increment(&[i; 32]).point
}

fn negated<G: AffineRepr<Group: CurveGroup<Affine = G>>>(point: G) -> G {
    (-point.into_group()).into_affine()
}

/// The prime, as a word.
fn p() -> [u8; 32] {
    let mut word = fp_bytes(&-Fp::ONE);
    word[31] += 1;
    word
}

#[test]
fn wrong_lengths() {
    let key = secret(1).public_key_g2().to_bytes();
    for length in [0, 1, 63, 64, 127, 129, 192] {
        let bytes: Vec<u8> = key.iter().copied().cycle().take(length).collect();
        let expected = ParseError::Length { item: Item::KeyG2, expected: 128, found: length };
        assert_eq!(PublicKey::<G2>::from_bytes(&bytes), Err(expected));
        if length != 64 {
            let expected = ParseError::Length { item: Item::Signature, expected: 64, found: length };
            assert_eq!(Signature::from_bytes(&bytes), Err(expected));
        }
    }
    let expected = ParseError::Length { item: Item::DualKey, expected: 192, found: 128 };
    assert_eq!(DualKey::from_bytes(&key), Err(expected));
    assert_eq!(expected.to_string(), "public key in G1 and G2: 128 bytes, not 192");
}

/// p and more in each coordinate; among them the point's own coordinate plus p, which is the same residue.
#[test]
fn non_canonical_coordinates() {
    use Coordinate::{X, XImaginary, XReal, Y, YImaginary, YReal};
    let key = secret(1).public_key_g2().to_bytes();
    for (i, coordinate) in [XImaginary, XReal, YImaginary, YReal].into_iter().enumerate() {
        for word in [p(), [0xff; 32], plus_p(&key[32 * i..][..32])] {
            let mut bytes = key.clone();
            bytes[32 * i..][..32].copy_from_slice(&word);
            let expected = ParseError::NotCanonical { item: Item::KeyG2, coordinate };
            assert_eq!(PublicKey::<G2>::from_bytes(&bytes), Err(expected));
        }
    }
    let signature = secret(1).sign(&message(1)).to_bytes();
    for (i, coordinate) in [X, Y].into_iter().enumerate() {
        let mut bytes = signature;
        bytes[32 * i..][..32].copy_from_slice(&plus_p(&signature[32 * i..][..32]));
        let expected = ParseError::NotCanonical { item: Item::Signature, coordinate };
        assert_eq!(Signature::from_bytes(&bytes), Err(expected));
    }
    // (p, p) is no second encoding of the identity.
    assert!(Signature::from_bytes(&[p(), p()].concat()).is_err());
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
    assert_eq!(PublicKey::<G1>::from_bytes(&key), Err(ParseError::NotOnCurve(Item::KeyG1)));
    let mut key = secret(1).public_key_g2().to_bytes();
    // Parts in the other order: the commonest mistake with EVM keys.
    key.rotate_left(32);
    assert_eq!(PublicKey::<G2>::from_bytes(&key), Err(ParseError::NotOnCurve(Item::KeyG2)));
    // Half an identity is none.
    let half = [[0; 32], fp_bytes(&Fp::ONE)].concat();
    assert_eq!(Signature::from_bytes(&half), Err(ParseError::NotOnCurve(Item::Signature)));
}

/// Points of the twist with small x, almost none of which are in the subgroup; the cofactor's multiple of each is.
#[test]
fn points_of_the_twist_outside_the_subgroup() {
    let order = Scalar::MODULUS;
    let mut outside = 0;
    for x in 0..40u64 {
        let x = Fp2::new(Fp::from(x), Fp::ONE);
        let Some(y) = (x.square() * x + twist_b()).sqrt() else { continue };
        let point = G2::new_unchecked(x, y);
        assert!(point.is_on_curve());
        let member = point.mul_bigint(order).is_zero();
        let decoded = decode_g2(&encode_g2(&point), Item::Point);
        assert_eq!(decoded.is_ok(), member);
        assert!(member || decoded == Err(ParseError::NotInSubgroup(Item::Point)));
        outside += usize::from(!member);
        let cleared: G2 = point.clear_cofactor();
        assert_eq!(decode_g2(&encode_g2(&cleared), Item::Point), Ok(cleared));
        // A key with a part outside: what EIP-196's additions would not see.
        let mixed = (secret(1).public_key_g2().point() + point).into_affine();
        let expected = ParseError::NotInSubgroup(Item::KeyG2);
        assert!(member || PublicKey::<G2>::from_bytes(&encode_g2(&mixed)) == Err(expected));
    }
    assert!(outside > 10);
}

fn twist_b() -> Fp2 {
    let (x, y) = G2::generator().xy().expect("not the identity");
    y.square() - x.square() * x
}

#[test]
fn identity_keys() {
    assert_eq!(PublicKey::<G1>::from_bytes(&[0; 64]), Err(ParseError::IdentityKey(Item::KeyG1)));
    assert_eq!(PublicKey::<G2>::from_bytes(&[0; 128]), Err(ParseError::IdentityKey(Item::KeyG2)));
    assert_eq!(DualKey::from_bytes(&[0; 192]), Err(ParseError::IdentityKey(Item::KeyG1)));
    let identity = Signature::from_bytes(&[0; 64]).unwrap();
    assert_eq!(identity.to_bytes(), [0; 64]);
    assert!(!verify(&secret(1).public_key_g2(), &message(1), &identity));
}

#[test]
fn keys_that_cancel_have_no_sum() {
    let key = secret(1).public_key_g2();
    let opposite = PublicKey::<G2>::from_bytes(&encode_g2(&negated(key.point()))).unwrap();
    assert_eq!(bn254::aggregate([key, opposite]), None);
    assert_eq!(bn254::aggregate::<G2>([]), None);
    assert_eq!(bn254::sum(Some(key), [], [key]), None);
    assert_eq!(bn254::sum(None, [key, opposite], [opposite]), Some(key));
    let keys = [key.to_bytes(), opposite.to_bytes()];
    let verdict = Profile::DrandEvmnet.verify_shared(&keys, b"m", &[0; 64]);
    assert_eq!(verdict, Err(Reason::IdentityAggregateKey));
}

#[test]
fn secret_keys_out_of_range() {
    let minus_one = -Scalar::ONE;
    let mut order: [u8; 32] = {
        let limbs = minus_one.into_bigint().0;
        let bytes: Vec<u8> = limbs.iter().rev().flat_map(|limb| limb.to_be_bytes()).collect();
        bytes.try_into().unwrap()
    };
    assert!(SecretKey::from_bytes(&order).is_ok_and(|secret| *secret.to_bytes() == order));
    order[31] += 1;
    for bytes in [[0; 32], order, [0xff; 32]] {
        assert!(matches!(SecretKey::from_bytes(&bytes), Err(ParseError::Secret)));
    }
    // Zero from entropy is no key.
    assert_eq!(SecretKey::from_entropy(&[0; 48]).public_key_g1().point(), G1::generator());
    assert_eq!(format!("{:?}", secret(1)), "SecretKey(redacted)");
}

#[test]
fn empty_claims_are_false() {
    let identity = Signature::from_bytes(&[0; 64]).unwrap();
    assert!(!aggregate_verify(&[], &identity));
    assert!(!verify_all(&secret(1).public_key_g2(), &[], &identity));
    assert!(pairing_is_one(&[]));
    for profile in Profile::all() {
        assert_eq!(profile.verify_each(&[], &[0; 64]), Err(Reason::NoStatements));
        assert_eq!(profile.verify_shared(&[[0; 0]; 0], b"m", &[0; 64]), Err(Reason::NoStatements));
    }
}

#[test]
fn repeated_messages_in_a_nul_suite() {
    let profile = Profile::DrandEvmnet;
    let keys = [secret(1).public_key_g2().to_bytes(), secret(2).public_key_g2().to_bytes()];
    let sign = |i, message: &[u8]| secret(i).sign(&profile.hash(message).unwrap());
    let each = [(&keys[0][..], &b"m"[..]), (&keys[1], b"m")];
    let sum: Signature = [sign(1, b"m"), sign(2, b"m")].into_iter().sum();
    assert_eq!(profile.verify_each(&each, &sum.to_bytes()), Err(Reason::RepeatedMessage));
    assert_eq!(profile.verify_shared(&keys, b"m", &sum.to_bytes()), Err(Reason::RepeatedMessage));
    let one = sign(1, b"m").to_bytes();
    assert_eq!(profile.verify_shared(&keys[..1], b"m", &one), Ok(()));
    let each = [(&keys[0][..], &b"m"[..]), (&keys[1], b"n")];
    let sum: Signature = [sign(1, b"m"), sign(2, b"n")].into_iter().sum();
    assert_eq!(profile.verify_each(&each, &sum.to_bytes()), Ok(()));
    let crossed: Signature = [sign(1, b"n"), sign(2, b"m")].into_iter().sum();
    assert_eq!(profile.verify_each(&each, &crossed.to_bytes()), Err(Reason::Mismatch));
}

#[test]
fn eigenlayer_signs_digests_alone() {
    let key = secret(1).dual_key().to_bytes();
    for found in [0, 31, 33] {
        let verdict = Profile::EigenLayer.verify(&key, &vec![0; found], &[0; 64]);
        assert_eq!(verdict, Err(Reason::MessageLength { expected: 32, found }));
    }
}

/// The second key is made from the first: without possession it signs for both.
#[test]
fn rogue_key() {
    let (honest, attacker) = (secret(1).public_key_g2(), secret(2));
    let rogue = bn254::sum(Some(attacker.public_key_g2()), [], [honest]).unwrap();
    let forged = attacker.sign(&message(1));
    let sum = bn254::aggregate([honest, rogue]).unwrap();
    assert!(verify(&sum, &message(1), &forged), "this is why possession is proved");
    // The attacker has no signature under the rogue key alone.
    let verifier = Contract { chain_id: 1, address: [1; 20] };
    let possession = Possession { verifier, owner: [2; 20], key: &rogue.to_bytes() }.digest();
    let point = try_and_increment(&possession).point;
    assert!(!verify(&rogue, &point, &attacker.sign(&point)));
}

/// Someone else's proof of possession, for another owner, on another chain.
#[test]
fn possession_is_the_owners() {
    let secret = secret(1);
    let key = secret.public_key_g2();
    let bytes = key.to_bytes();
    let possession = Possession { verifier: Contract { chain_id: 1, address: [1; 20] }, owner: [2; 20], key: &bytes };
    let proof = secret.sign(&try_and_increment(&possession.digest()).point);
    let accepts = |possession: Possession<'_>| verify(&key, &try_and_increment(&possession.digest()).point, &proof);
    assert!(accepts(possession));
    assert!(!accepts(Possession { owner: [3; 20], ..possession }));
    assert!(!accepts(Possession { verifier: Contract { chain_id: 2, address: [1; 20] }, ..possession }));
}

#[test]
fn dual_keys_of_two_secrets() {
    let (one, two) = (secret(1), secret(2));
    assert_eq!(DualKey::new(one.public_key_g1(), two.public_key_g2()), Err(ParseError::KeysDiffer));
    let bytes = [one.public_key_g1().to_bytes(), two.public_key_g2().to_bytes()].concat();
    assert_eq!(Profile::EigenLayer.verify(&bytes, &[0; 32], &[0; 64]), Err(Reason::Parse(ParseError::KeysDiffer)));
    let opposite = PublicKey::<G1>::from_bytes(&encode_g1(&negated(one.public_key_g1().point()))).unwrap();
    assert_eq!(DualKey::new(opposite, one.public_key_g2()), Err(ParseError::KeysDiffer));
}

/// The aggregator brings a key in G2 of its own, and a signature under it; and a forgery made for a fixed challenge.
#[test]
fn dual_key_forgeries() {
    let (honest, own) = (secret(1), secret(2));
    let (g1, message) = (honest.public_key_g1(), message(1));
    assert!(dual_key_verify(&message, &g1, &honest.public_key_g2(), &honest.sign(&message)));
    let foreign = own.public_key_g2();
    assert!(!dual_key_verify(&message, &g1, &foreign, &own.sign(&message)));
    // For a challenge that was known beforehand, s = b·H + γ·(b·G1 - pk1) would pass.
    let guess = challenge(&message, &g1, &foreign, &own.sign(&message));
    let forged = own.sign(&message).point() + (own.public_key_g1().point() * guess) + (negated(g1.point()) * guess);
    let forged = Signature::from_point(forged.into_affine());
    let left = (forged.point() + g1.point() * guess).into_affine();
    let right = (message.point() + G1::generator() * guess).into_affine();
    assert!(pairing_is_one(&[(left, negated(G2::generator())), (right, foreign.point())]), "the forgery is right");
    assert!(!dual_key_verify(&message, &g1, &foreign, &forged), "but the signature is in the transcript");
}

/// keccak256(TAG ‖ H ‖ pk1 ‖ pk2 ‖ s): each part moves the challenge.
#[test]
fn challenge_covers_everything() {
    let (one, two) = (secret(1), secret(2));
    let (h, s) = (message(1), one.sign(&message(1)));
    let base = challenge(&h, &one.public_key_g1(), &one.public_key_g2(), &s);
    let transcript = [
        &quorate_evm::keccak256(&[b"quorate.bn254.dual-key"])[..],
        &h.to_bytes(),
        &one.public_key_g1().to_bytes(),
        &one.public_key_g2().to_bytes(),
        &s.to_bytes(),
    ]
    .concat();
    assert_eq!(transcript.len(), 352);
    assert_eq!(base, Scalar::from_be_bytes_mod_order(&quorate_evm::keccak256(&[&transcript])));
    assert_ne!(base, challenge(&message(2), &one.public_key_g1(), &one.public_key_g2(), &s));
    assert_ne!(base, challenge(&h, &two.public_key_g1(), &one.public_key_g2(), &s));
    assert_ne!(base, challenge(&h, &one.public_key_g1(), &two.public_key_g2(), &s));
    assert_ne!(base, challenge(&h, &one.public_key_g1(), &one.public_key_g2(), &two.sign(&h)));
}

/// Odd roots, roots plus p, other counters, roots of nothing.
#[test]
fn counter_hints_that_lie() {
    let mut later = 0;
    for i in 0..20 {
        let digest = [i; 32];
        let (found, hint) = (try_and_increment(&digest), CounterHint::new(&digest));
        assert_eq!(hint.check(&digest), Some(found.point));
        let y = found.point.point().y;
        assert!(fp_bytes(&y)[31].is_multiple_of(2));
        assert_eq!(CounterHint { y: fp_bytes(&-y), ..hint }.check(&digest), None, "the odd root");
        assert_eq!(CounterHint { y: plus_p(&hint.y), ..hint }.check(&digest), None, "not canonical");
        assert_eq!(CounterHint { counter: hint.counter ^ 1, ..hint }.check(&digest), None);
        assert_eq!(hint.check(&[i + 100; 32]), None, "another digest");
        // Every counter before the least has no hint at all.
        for counter in 0..hint.counter {
            let on_curve = bn254::fp_from_bytes(&candidate(&digest, counter))
                .is_some_and(|x| (x.square() * x + Fp::from(3u8)).sqrt().is_some());
            assert!(!on_curve);
        }
        // A later counter that is accepted passes the check, and names another point.
        for counter in hint.counter + 1..hint.counter + 9 {
            let Some(x) = bn254::fp_from_bytes(&candidate(&digest, counter)) else { continue };
            let Some(root) = (x.square() * x + Fp::from(3u8)).sqrt() else { continue };
            let even = if fp_bytes(&root)[31].is_multiple_of(2) { root } else { -root };
            let point = CounterHint { counter, y: fp_bytes(&even) }.check(&digest).unwrap();
            assert_ne!(point, found.point);
            later += 1;
        }
    }
    assert!(later > 0);
}

/// For each candidate of the map, no other candidate's proof passes, whatever root is claimed.
#[test]
fn map_hints_that_lie() {
    let mut seen = [0; 4];
    for i in 0..60u8 {
        let [u] = hash_to_field::<sha3::Keccak256, 1>(&[i], b"tag");
        let honest = MapHint::new(u);
        seen[honest.candidate as usize] += 1;
        assert_eq!(honest.check(u), Some(map_to_curve(u).point));
        assert_eq!(MapHint { root: -honest.root, ..honest }.check(u), None, "the other sign");
        let xs = candidates(u);
        let right = |x: Fp| x.square() * x + Fp::from(3u8);
        for claimed in [Candidate::First, Candidate::Second, Candidate::Third] {
            if claimed == honest.candidate {
                continue;
            }
            // The best a liar can do: true roots wherever there are any.
            let root = right(xs[claimed as usize - 1]).sqrt().unwrap_or(Fp::ZERO);
            for root in [root, -root] {
                for non_square in [honest.non_square, (-right(xs[0])).sqrt().unwrap_or(Fp::ZERO), root] {
                    assert_eq!(MapHint { candidate: claimed, root, non_square }.check(u), None);
                }
            }
        }
        if honest.candidate != Candidate::First {
            assert_eq!(MapHint { non_square: Fp::ONE, ..honest }.check(u), None);
        }
    }
    assert!(seen[1..].iter().all(|n| *n > 5), "{seen:?}");
}

#[test]
fn rfc_hints_that_lie() {
    let (message, tag) = (b"message", b"QUORATE-TEST-BN254G1_XMD:KECCAK-256_SVDW_RO_");
    let hint = Rfc9380Hint::new(message, tag);
    assert_eq!(hint.check(message, tag), Some(hash_to_curve(message, tag)));
    assert_eq!(Rfc9380Hint { inverse: hint.inverse + Fp::ONE, ..hint }.check(message, tag), None);
    assert_eq!(Rfc9380Hint { maps: [hint.maps[1], hint.maps[0]], ..hint }.check(message, tag), None);
    assert_eq!(hint.check(b"massage", tag), None);
}

/// Colluding keys a, b, a + b: the accumulator meets the key it holds, its opposite, and the identity.
#[test]
fn accumulator_meets_its_own_key() {
    let point = |i| secret(i).public_key_g2().point();
    let (a, b) = (point(1), point(2));
    let both = (a + b).into_affine();
    let mut sum = Accumulator::new(None);
    assert_eq!((sum.sum(), sum.inverse_of_z()), (G2::identity(), None));
    sum.change(a, Change::Added);
    // The first key is loaded with Z = 1, and so is a base's.
    assert_eq!(sum, Accumulator::new(Some(a)));
    let one = [[0; 32], fp_bytes(&Fp::ONE)].concat();
    assert_eq!(sum.inverse_of_z().map(|z| z.to_vec()), Some(one));
    sum.change(b, Change::Added);
    // Z = H = x2 - x1.
    let h = b.x - a.x;
    let inverse = h.inverse().unwrap();
    assert_eq!(sum.inverse_of_z().unwrap()[..32], fp_bytes(&inverse.c1));
    assert_eq!(sum.inverse_of_z().unwrap()[32..], fp_bytes(&inverse.c0));
    sum.change(both, Change::Added);
    assert_eq!(sum.sum(), (both + both).into_affine(), "doubling");
    sum.change(both, Change::Removed);
    assert_eq!(sum.sum(), both);
    sum.change(both, Change::Removed);
    assert_eq!((sum.sum(), sum.inverse_of_z()), (G2::identity(), None));
    sum.change(b, Change::Removed);
    assert_eq!(sum, Accumulator::new(Some(negated(b))));
    sum.change(G2::identity(), Change::Added);
    assert_eq!(sum.sum(), negated(b));
    // Doubling an affine key: Z = 2y.
    let z = a.y.double().inverse().unwrap();
    let mut sum = Accumulator::new(Some(a));
    sum.change(a, Change::Added);
    let doubled = sum.inverse_of_z().unwrap();
    assert_eq!(doubled.to_vec(), [fp_bytes(&z.c1), fp_bytes(&z.c0)].concat());
}

/// Where the sum has the x of the next key there is no slope: colluding members can bring that about, and are added in
/// Jacobian coordinates.
#[test]
fn slopes_of_no_line() {
    use Change::{Added, Removed};
    let point = |i| secret(i).public_key_g2().point();
    let (a, b) = (point(1), point(2));
    let both = (a + b).into_affine();
    for (base, changes) in [
        (Some(a), vec![(a, Added)]),
        (Some(a), vec![(a, Removed)]),
        (Some(a), vec![(negated(a), Added)]),
        (None, vec![(a, Added), (b, Added), (both, Added)]),
        (None, vec![(a, Added), (b, Added), (both, Removed), (a, Added)]),
        (Some(a), vec![(G2::identity(), Added)]),
    ] {
        assert_eq!(slopes(base, changes.clone()), None);
        let enough = vec![[0; 64]; changes.len()];
        assert_eq!(sum_by_slopes(base, changes, &enough), None);
    }
    // The first member after the empty base is loaded.
    assert_eq!(slopes(None, [(a, Removed)]), Some(vec![]));
    assert_eq!(sum_by_slopes(None, [(a, Removed)], &[]), Some(negated(a)));
    assert_eq!((slopes(None, []), sum_by_slopes(None, [], &[])), (Some(vec![]), None));
}

/// Another slope, one plus p, one too many or too few, parts in the other order.
#[test]
fn slopes_that_lie() {
    let point = |i| secret(i).public_key_g2().point();
    // Not 3: these secrets are multiples, and that key the sum of the other two.
    let changes = [(point(2), Change::Added), (point(5), Change::Removed)];
    let honest = slopes(Some(point(1)), changes).unwrap();
    let check = |slopes: &[[u8; 64]]| sum_by_slopes(Some(point(1)), changes, slopes);
    let sum = (point(1) + point(2)).into_affine() + negated(point(5));
    assert_eq!(check(&honest), Some(sum.into_affine()));
    let with = |change: &dyn Fn(&mut Vec<[u8; 64]>)| {
        let mut slopes = honest.clone();
        change(&mut slopes);
        check(&slopes)
    };
    for place in [0, 1] {
        assert_eq!(with(&|slopes| slopes[place][63] ^= 1), None);
        assert_eq!(with(&|slopes| slopes[place].rotate_left(32)), None);
        for part in [0..32, 32..64] {
            assert_eq!(
                with(&|slopes| {
                    let larger = plus_p(&slopes[place][part.clone()]);
                    slopes[place][part.clone()].copy_from_slice(&larger);
                }),
                None
            );
        }
    }
    assert_eq!(with(&|slopes| slopes.swap(0, 1)), None);
    assert_eq!(with(&|slopes| slopes.truncate(1)), None);
    assert_eq!(with(&|slopes| slopes.push([0; 64])), None);
}

fn quorum() -> Quorum {
    let key = secret(1).public_key_g2().to_bytes();
    let signers: Bitmap = [0, 9, 17].into_iter().collect();
    Quorum {
        base: Some(Base { slot: 3, epoch: 5, weight: 7, key, signers: Bitmap::full(12) }),
        store: Store::Slot(4),
        key_pages: vec![1, 2],
        weight_pages: vec![9],
        signers,
        proof: Proof::Bn254G2 {
            sum: KeySum::Jacobian { inverse_of_z: [0xaa; 64] },
            signature: [0xbb; 64],
            hints: vec![CounterHint { counter: 1, y: [0xcc; 32] }],
        },
    }
}

/// The same, the sum shown in another way.
fn shown_by(sum: KeySum) -> Quorum {
    Quorum { proof: Proof::Bn254G2 { sum, signature: [0xbb; 64], hints: vec![] }, ..quorum() }
}

/// Where the parts of [`quorum`] begin.
const BASE: usize = 22;
const BASE_BITMAP: usize = BASE + 16 + 128;
const BITMAP: usize = BASE_BITMAP + 2;
const PROOF: usize = BITMAP + 3;

/// The layout, byte by byte: a change of it is a change of the contract.
#[test]
fn packed_layout() {
    let bytes = quorum().encode().unwrap();
    let head = "0003000400020003020100000001000000020000000900000005".to_owned() + &"0".repeat(23) + "7";
    assert_eq!(hex::encode(&bytes[..BASE + 16]), head);
    assert_eq!(bytes[BASE + 16..BASE_BITMAP], secret(1).public_key_g2().to_bytes());
    // Most significant bit first: members 0 to 11, then 0, 9, 17.
    assert_eq!(hex::encode(&bytes[BASE_BITMAP..PROOF]), "fff0804040");
    let proof = "00".to_owned() + &"aa".repeat(64) + &"bb".repeat(64) + "01" + &"cc".repeat(32);
    assert_eq!(hex::encode(&bytes[PROOF..]), proof);
    let base = quorum().base.unwrap();
    assert_eq!(base.commitment(), quorate_evm::keccak256(&[&bytes[BASE..BITMAP]]));

    // Eleven members change from the base, and from the empty quorum three, of whom the first is loaded.
    let bytes = shown_by(KeySum::Slopes(vec![[0xdd; 64]; 11])).encode().unwrap();
    assert_eq!(hex::encode(&bytes[PROOF..]), "01".to_owned() + &"dd".repeat(64 * 11) + &"bb".repeat(64));
    let new = Quorum { base: None, ..shown_by(KeySum::Slopes(vec![[0xdd; 64]; 2])) };
    let expected =
        "ffff000400000003020100000001000000020000000980404001".to_owned() + &"dd".repeat(128) + &"bb".repeat(64);
    assert_eq!(hex::encode(new.encode().unwrap()), expected);

    // A quorum that is its base has no bitmap and shows no sum.
    let signers = quorum().base.unwrap().signers;
    let bytes = Quorum { signers, ..shown_by(KeySum::Unchanged) }.encode().unwrap();
    assert_eq!(hex::encode(&bytes[..10]), "00030004000200000201");
    assert_eq!(hex::encode(&bytes[BITMAP..]), "bb".repeat(64));
}

#[test]
fn truncated_quorums() {
    let bytes = quorum().encode().unwrap();
    for length in 0..bytes.len() {
        let decoded = Quorum::decode(BackEnd::Bn254G2, &bytes[..length]);
        // Without its hint it is a whole quorum for no task.
        if length == bytes.len() - 33 {
            assert!(decoded.is_ok());
        } else {
            assert!(matches!(decoded, Err(DecodeError::Truncated { .. })), "{length}: {decoded:?}");
        }
    }
    let error = |length| Quorum::decode(BackEnd::Bn254G2, &bytes[..length]).unwrap_err();
    assert_eq!(error(24), DecodeError::Truncated { part: Part::Base, at: 22, wanted: 4, left: 2 });
    let text = "quorum: epoch, weight and key of the base at byte 22: 4 bytes, of which 2 are there";
    assert_eq!(error(24).to_string(), text);
    assert_eq!(error(PROOF), DecodeError::Truncated { part: Part::Mode, at: PROOF, wanted: 1, left: 0 });
    let expected = DecodeError::Truncated { part: Part::InverseOfZ, at: PROOF + 1, wanted: 64, left: 3 };
    assert_eq!(error(PROOF + 4), expected);
    let bytes = shown_by(KeySum::Slopes(vec![[0; 64]; 11])).encode().unwrap();
    let at = PROOF + 1 + 64 * 4;
    let expected = DecodeError::Truncated { part: Part::Slopes, at, wanted: 64, left: 63 };
    assert_eq!(Quorum::decode(BackEnd::Bn254G2, &bytes[..at + 63]), Err(expected));
}

#[test]
fn quorums_of_bad_form() {
    let bytes = quorum().encode().unwrap();
    let with = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = bytes.clone();
        change(&mut bytes);
        Quorum::decode(BackEnd::Bn254G2, &bytes)
    };
    let not_shortest = |part, length| Err(DecodeError::Bitmap { part, source: NotShortest { length } });
    assert_eq!(with(&|b| b[BITMAP - 1] = 0), not_shortest(Part::BaseBitmap, 2));
    assert_eq!(with(&|b| b[PROOF - 1] = 0), not_shortest(Part::Bitmap, 3));
    assert_eq!(with(&|b| b[..2].fill(0xff)), Err(DecodeError::BitmapOfNothing(2)));
    for mode in [2, 0xff] {
        assert_eq!(with(&|b| b[PROOF] = mode), Err(DecodeError::Mode(mode)));
    }
    // The base's own bitmap in full: the same quorum in other bytes.
    let repeated = with(&|b| {
        b[7] = 2;
        b.splice(BITMAP..PROOF + 65, [0xff, 0xf0]);
    });
    assert_eq!(repeated, Err(DecodeError::BitmapRepeated));
    // No bitmap: of a base it is the base, of the empty one it is nobody.
    let same = with(&|b| {
        b[7] = 0;
        b.drain(BITMAP..PROOF + 65);
    });
    assert_eq!(same.unwrap().signers, Bitmap::full(12));
    let mut nobody = Quorum { base: None, ..shown_by(KeySum::Slopes(vec![[1; 64]; 2])) }.encode().unwrap();
    nobody[7] = 0;
    assert_eq!(Quorum::decode(BackEnd::Bn254G2, &nobody), Err(DecodeError::Empty(Part::Bitmap)));
    let mut nobody = bytes.clone();
    nobody[5] = 0;
    assert_eq!(Quorum::decode(BackEnd::Bn254G2, &nobody), Err(DecodeError::Empty(Part::BaseBitmap)));
    let other = Quorum { proof: Proof::Bls12381G2 { signature: [1; 96] }, base: None, ..quorum() };
    let mut trailing = other.encode().unwrap();
    trailing.push(0);
    assert_eq!(Quorum::decode(BackEnd::Bls12381G2, &trailing), Err(DecodeError::Trailing(1)));
}

#[test]
fn quorums_that_cannot_be_packed() {
    let base = quorum().base.unwrap();
    let refused = |quorum: Quorum| quorum.encode().unwrap_err();
    assert_eq!(refused(Quorum { signers: Bitmap::default(), ..quorum() }), MisuseError::Empty(Part::Bitmap));
    let nobody = Base { signers: Bitmap::default(), ..base.clone() };
    assert_eq!(refused(Quorum { base: Some(nobody), ..quorum() }), MisuseError::Empty(Part::BaseBitmap));
    let reserved = Base { slot: NONE, ..base.clone() };
    assert_eq!(refused(Quorum { base: Some(reserved), ..quorum() }), MisuseError::ReservedSlot(NONE));
    assert_eq!(refused(Quorum { store: Store::Slot(RENTAL), ..quorum() }), MisuseError::ReservedSlot(RENTAL));
    let short = Base { key: vec![0; 64], ..base.clone() };
    let expected = MisuseError::KeyLength { expected: 128, found: 64 };
    assert_eq!(refused(Quorum { base: Some(short), ..quorum() }), expected);
    let heavy = Base { weight: WEIGHT_LIMIT, ..base.clone() };
    assert_eq!(refused(Quorum { base: Some(heavy), ..quorum() }), MisuseError::TooHeavy(1 << 96));
    let heaviest = Quorum { base: Some(Base { weight: WEIGHT_LIMIT - 1, ..base.clone() }), ..quorum() };
    assert_eq!(Quorum::decode(BackEnd::Bn254G2, &heaviest.encode().unwrap()), Ok(heaviest));
    assert_eq!(refused(Quorum { signers: base.signers.clone(), ..quorum() }), MisuseError::KeySum(0));
    for sum in [KeySum::Unchanged, KeySum::Slopes(vec![]), KeySum::Slopes(vec![[0; 64]; 12])] {
        assert_eq!(refused(shown_by(sum)), MisuseError::KeySum(11));
    }
    let new = Quorum { base: None, ..shown_by(KeySum::Slopes(vec![[0; 64]; 3])) };
    assert_eq!(refused(new), MisuseError::KeySum(3));
    let pages = Quorum { key_pages: vec![0; 256], ..quorum() };
    assert_eq!(refused(pages), MisuseError::TooMany { part: Part::Pages, found: 256, most: 255 });
    let wide = Quorum { signers: [8 * 65_535].into_iter().collect(), ..quorum() };
    assert_eq!(refused(wide), MisuseError::TooMany { part: Part::Bitmap, found: 65_536, most: 65_535 });
}
