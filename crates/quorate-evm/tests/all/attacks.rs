//! Hints and packed quorums that an attacker would choose; each test is named for the attack.

use crate::slopes::sum_by_slopes;
use ark_ec::{AffineRepr, CurveGroup};
use ark_ff::{AdditiveGroup, Field};
use quorate_bn254::{
    Bn254SecretKey, Fq, G2Affine, aggregate,
    encoding::{fq_bytes, fq_from_bytes},
    hash_to_curve::{
        Candidate, XmdHash, XmdTag, candidate, candidates, hash_to_curve, hash_to_field, map_to_curve,
        try_and_increment,
    },
    sum, verify,
};
use quorate_evm::{
    Base, KeyGroup, KeySum, MemberSet, Proof, Quorum,
    alloy_primitives::{U256, keccak256},
    base::WeightSource,
    digest::{Contract, KeyPossession},
    hint::{Accumulator, BaseChange, CounterHint, MapHint, Rfc9380Hint, slopes},
    member_set::NotShortest,
    quorum::{DecodeQuorumError, EncodeQuorumError, NONE, Part, RENTAL, Store, WEIGHT_LIMIT},
};

fn secret(i: u8) -> Bn254SecretKey {
    Bn254SecretKey::from_entropy(&[i; 48])
}

fn negated(point: G2Affine) -> G2Affine {
    (-point.into_group()).into_affine()
}

/// A word plus the field modulus: the same residue, not canonical.
fn plus_p(word: &[u8]) -> [u8; 32] {
    let p = U256::from_be_bytes(fq_bytes(&-Fq::ONE)) + U256::from(1);
    (U256::from_be_slice(word) + p).to_be_bytes()
}

/// The second key is computed from the first, and signs for both: this is why possession is proved. The attacker has no
/// proof of possession for it.
#[test]
fn rogue_key() {
    let (honest, attacker) = (secret(1).public_key_g2(), secret(2));
    let rogue = sum(Some(attacker.public_key_g2()), [], [honest]).unwrap();
    let message = try_and_increment(&[1; 32]).point;
    let both = aggregate([honest, rogue]).unwrap();
    assert!(verify(&both, &message, &attacker.sign(&message)));
    let verifier = Contract { chain_id: 1, address: [1; 20].into() };
    let possession = KeyPossession { verifier, owner: [2; 20].into(), key: &rogue.to_bytes() }.digest();
    let point = try_and_increment(&possession).point;
    assert!(!verify(&rogue, &point, &attacker.sign(&point)));
}

/// A proof of possession is not valid for another owner or on another chain.
#[test]
fn possession_is_the_owners() {
    let secret = secret(1);
    let key = secret.public_key_g2();
    let bytes = key.to_bytes();
    let possession = KeyPossession {
        verifier: Contract { chain_id: 1, address: [1; 20].into() },
        owner: [2; 20].into(),
        key: &bytes,
    };
    let proof = secret.sign(&try_and_increment(&possession.digest()).point);
    let accepts = |possession: KeyPossession<'_>| verify(&key, &try_and_increment(&possession.digest()).point, &proof);
    assert!(accepts(possession));
    assert!(!accepts(KeyPossession { owner: [3; 20].into(), ..possession }));
    assert!(!accepts(KeyPossession { verifier: Contract { chain_id: 2, address: [1; 20].into() }, ..possession }));
}

/// Hints with the odd root, a root plus p, another counter, or for another digest.
#[test]
fn counter_hints_that_lie() {
    let mut later = 0;
    for i in 0..20 {
        let digest = [i; 32];
        let (found, hint) = (try_and_increment(&digest), CounterHint::new(&digest));
        assert_eq!(hint.check(&digest), Some(found.point));
        let y = found.point.point().y;
        assert!(fq_bytes(&y)[31].is_multiple_of(2));
        assert_eq!(CounterHint { y: fq_bytes(&-y), ..hint }.check(&digest), None, "the odd root");
        assert_eq!(CounterHint { y: plus_p(&hint.y), ..hint }.check(&digest), None, "not canonical");
        assert_eq!(CounterHint { counter: hint.counter ^ 1, ..hint }.check(&digest), None);
        assert_eq!(hint.check(&[i + 100; 32]), None, "another digest");
        // There is no hint for a lower counter.
        for counter in 0..hint.counter {
            let on_curve = fq_from_bytes(&candidate(&digest, counter))
                .is_some_and(|x| (x.square() * x + Fq::from(3u8)).sqrt().is_some());
            assert!(!on_curve);
        }
        // A higher counter may pass the check; it leads to another point.
        for counter in hint.counter + 1..hint.counter + 9 {
            let Some(x) = fq_from_bytes(&candidate(&digest, counter)) else { continue };
            let Some(root) = (x.square() * x + Fq::from(3u8)).sqrt() else { continue };
            let even = if fq_bytes(&root)[31].is_multiple_of(2) { root } else { -root };
            let point = CounterHint { counter, y: fq_bytes(&even) }.check(&digest).unwrap();
            assert_ne!(point, found.point);
            later += 1;
        }
    }
    assert!(later > 0);
}

/// If the map takes one candidate, no proof for another candidate passes, whatever root it claims.
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
        let right = |x: Fq| x.square() * x + Fq::from(3u8);
        for claimed in [Candidate::First, Candidate::Second, Candidate::Third] {
            if claimed == honest.candidate {
                continue;
            }
            // The best attempt: true roots wherever a root exists.
            let root = right(xs[claimed as usize - 1]).sqrt().unwrap_or(Fq::ZERO);
            for root in [root, -root] {
                for non_square in [honest.non_square, (-right(xs[0])).sqrt().unwrap_or(Fq::ZERO), root] {
                    assert_eq!(MapHint { candidate: claimed, root, non_square }.check(u), None);
                }
            }
        }
        if honest.candidate != Candidate::First {
            assert_eq!(MapHint { non_square: Fq::ONE, ..honest }.check(u), None);
        }
    }
    assert!(seen[1..].iter().all(|n| *n > 5), "{seen:?}");
}

#[test]
fn rfc_hints_that_lie() {
    let (message, tag) = (b"message", b"QUORATE-TEST-BN254G1_XMD:KECCAK-256_SVDW_RO_");
    let hint = Rfc9380Hint::new(message, tag);
    let keccak = XmdTag { hash: XmdHash::Keccak256, bytes: tag };
    assert_eq!(hint.check(message, tag), Some(hash_to_curve(message, keccak)));
    assert_eq!(Rfc9380Hint { inverse: hint.inverse + Fq::ONE, ..hint }.check(message, tag), None);
    assert_eq!(Rfc9380Hint { maps: [hint.maps[1], hint.maps[0]], ..hint }.check(message, tag), None);
    assert_eq!(hint.check(b"massage", tag), None);
}

/// With the keys a, b and a + b, the accumulator adds the key that it holds, the opposite key, and the identity.
#[test]
fn accumulator_meets_its_own_key() {
    let point = |i| secret(i).public_key_g2().point();
    let (a, b) = (point(1), point(2));
    let both = (a + b).into_affine();
    let mut sum = Accumulator::new(None);
    assert_eq!((sum.sum(), sum.inverse_of_z()), (G2Affine::identity(), None));
    sum.change(a, BaseChange::Added);
    // The first key and a base's key are loaded with Z = 1.
    assert_eq!(sum, Accumulator::new(Some(a)));
    let one = [[0; 32], fq_bytes(&Fq::ONE)].concat();
    assert_eq!(sum.inverse_of_z().map(|z| z.to_vec()), Some(one));
    sum.change(b, BaseChange::Added);
    // Z = H = x2 - x1.
    let h = b.x - a.x;
    let inverse = h.inverse().unwrap();
    assert_eq!(sum.inverse_of_z().unwrap()[..32], fq_bytes(&inverse.c1));
    assert_eq!(sum.inverse_of_z().unwrap()[32..], fq_bytes(&inverse.c0));
    sum.change(both, BaseChange::Added);
    assert_eq!(sum.sum(), (both + both).into_affine(), "doubling");
    sum.change(both, BaseChange::Removed);
    assert_eq!(sum.sum(), both);
    sum.change(both, BaseChange::Removed);
    assert_eq!((sum.sum(), sum.inverse_of_z()), (G2Affine::identity(), None));
    sum.change(b, BaseChange::Removed);
    assert_eq!(sum, Accumulator::new(Some(negated(b))));
    sum.change(G2Affine::identity(), BaseChange::Added);
    assert_eq!(sum.sum(), negated(b));
    // Doubling an affine key: Z = 2y.
    let z = a.y.double().inverse().unwrap();
    let mut sum = Accumulator::new(Some(a));
    sum.change(a, BaseChange::Added);
    let doubled = sum.inverse_of_z().unwrap();
    assert_eq!(doubled.to_vec(), [fq_bytes(&z.c1), fq_bytes(&z.c0)].concat());
}

/// If the sum has the same x as the next key, there is no slope. Colluding members can choose such keys; then the keys are
/// added in Jacobian coordinates.
#[test]
fn slopes_of_no_line() {
    use BaseChange::{Added, Removed};
    let point = |i| secret(i).public_key_g2().point();
    let (a, b) = (point(1), point(2));
    let both = (a + b).into_affine();
    for (base, changes) in [
        (Some(a), vec![(a, Added)]),
        (Some(a), vec![(a, Removed)]),
        (Some(a), vec![(negated(a), Added)]),
        (None, vec![(a, Added), (b, Added), (both, Added)]),
        (None, vec![(a, Added), (b, Added), (both, Removed), (a, Added)]),
        (Some(a), vec![(G2Affine::identity(), Added)]),
    ] {
        assert_eq!(slopes(base, changes.clone()), None);
        let enough = vec![[0; 64]; changes.len()];
        assert_eq!(sum_by_slopes(base, changes, &enough), None);
    }
    // Without a base, the first member is loaded and not added.
    assert_eq!(slopes(None, [(a, Removed)]), Some(vec![]));
    assert_eq!(sum_by_slopes(None, [(a, Removed)], &[]), Some(negated(a)));
    assert_eq!((slopes(None, []), sum_by_slopes(None, [], &[])), (Some(vec![]), None));
}

/// A wrong slope, a slope plus p, too many or too few slopes, parts in the wrong order.
#[test]
fn slopes_that_lie() {
    let point = |i| secret(i).public_key_g2().point();
    // Not key 3: the secrets are multiples of one number, so key 3 is the sum of keys 1 and 2.
    let changes = [(point(2), BaseChange::Added), (point(5), BaseChange::Removed)];
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
    let key = secret(1).public_key_g2().to_bytes().into();
    let signers: MemberSet = [0, 9, 17].into_iter().collect();
    Quorum {
        base: Some(Base { slot: 3, epoch: 5, weight: 7, key, signers: MemberSet::full(12) }),
        store: Store::Slot(4),
        key_pages: vec![1, 2],
        weights: vec![WeightSource::Page(9), WeightSource::Passed([1; 24].into())],
        keys: vec![[2; 128].into()],
        signers,
        proof: Proof::Bn254G2 {
            sum: KeySum::Jacobian { inverse_of_z: [0xaa; 64] },
            signature: [0xbb; 64],
            hints: vec![CounterHint { counter: 1, y: [0xcc; 32] }],
        },
    }
}

/// The same quorum, with another way to compute the sum and no hints.
fn shown_by(sum: KeySum) -> Quorum {
    Quorum { proof: Proof::Bn254G2 { sum, signature: [0xbb; 64], hints: vec![] }, ..quorum() }
}

/// Where the parts of [`quorum`] begin.
const BASE: usize = 11 + 16 + 128 + 24;
const BASE_BITMAP: usize = BASE + 16 + 128;
const BITMAP: usize = BASE_BITMAP + 2;
const PROOF: usize = BITMAP + 3;

/// The layout, byte by byte. It is the contract's; both change together.
#[test]
fn packed_layout() {
    let bytes = quorum().encode().unwrap();
    let head = "0003000400020003020201000000010000000200000009".to_owned() + "80000018";
    let sources = "02".repeat(128) + &"01".repeat(24);
    let weighed = "00000005".to_owned() + &"0".repeat(23) + "7";
    assert_eq!(const_hex::encode(&bytes[..BASE + 16]), head + &sources + &weighed);
    assert_eq!(bytes[BASE + 16..BASE_BITMAP], secret(1).public_key_g2().to_bytes());
    // The most significant bit comes first: members 0 to 11, then 0, 9 and 17.
    assert_eq!(const_hex::encode(&bytes[BASE_BITMAP..PROOF]), "fff0804040");
    let proof = "00".to_owned() + &"aa".repeat(64) + &"bb".repeat(64) + "01" + &"cc".repeat(32);
    assert_eq!(const_hex::encode(&bytes[PROOF..]), proof);
    let base = quorum().base.unwrap();
    assert_eq!(base.commitment(), keccak256(&bytes[BASE..BITMAP]));

    // From the base eleven members change. From the empty quorum three members change, and the first is loaded.
    let bytes = shown_by(KeySum::Slopes(vec![[0xdd; 64]; 11])).encode().unwrap();
    assert_eq!(const_hex::encode(&bytes[PROOF..]), "01".to_owned() + &"dd".repeat(64 * 11) + &"bb".repeat(64));
    let new = Quorum { base: None, weights: vec![], keys: vec![], ..shown_by(KeySum::Slopes(vec![[0xdd; 64]; 2])) };
    let expected =
        "ffff0004000000030200000000000100000002".to_owned() + "80404001" + &"dd".repeat(128) + &"bb".repeat(64);
    assert_eq!(const_hex::encode(new.encode().unwrap()), expected);

    // A quorum that is its base has neither a bitmap nor a mode.
    let signers = quorum().base.unwrap().signers;
    let bytes = Quorum { signers, ..shown_by(KeySum::Unchanged) }.encode().unwrap();
    assert_eq!(const_hex::encode(&bytes[..11]), "0003000400020000020201");
    assert_eq!(const_hex::encode(&bytes[BITMAP..]), "bb".repeat(64));
}

#[test]
fn truncated_quorums() {
    let bytes = quorum().encode().unwrap();
    for length in 0..bytes.len() {
        let decoded = Quorum::decode(KeyGroup::Bn254G2, &bytes[..length]);
        // Without the hint, the bytes are a complete quorum for no task.
        if length == bytes.len() - 33 {
            assert!(decoded.is_ok());
        } else {
            assert!(matches!(decoded, Err(DecodeQuorumError::Truncated { .. })), "{length}: {decoded:?}");
        }
    }
    let error = |length| Quorum::decode(KeyGroup::Bn254G2, &bytes[..length]).unwrap_err();
    let base = DecodeQuorumError::Truncated { part: Part::Base, at: BASE, wanted: 4, left: 2 };
    assert_eq!(error(BASE + 2), base);
    let text = "packed quorum: epoch, weight and key of the base at byte 179: found 2 bytes, expected 4";
    assert_eq!(base.to_string(), text);
    assert_eq!(error(26), DecodeQuorumError::Truncated { part: Part::Parts, at: 23, wanted: 4, left: 3 });
    assert_eq!(error(30), DecodeQuorumError::Truncated { part: Part::Keys, at: 27, wanted: 128, left: 3 });
    assert_eq!(error(160), DecodeQuorumError::Truncated { part: Part::Weights, at: 155, wanted: 24, left: 5 });
    assert_eq!(error(PROOF), DecodeQuorumError::Truncated { part: Part::Mode, at: PROOF, wanted: 1, left: 0 });
    let expected = DecodeQuorumError::Truncated { part: Part::InverseOfZ, at: PROOF + 1, wanted: 64, left: 3 };
    assert_eq!(error(PROOF + 4), expected);
    let bytes = shown_by(KeySum::Slopes(vec![[0; 64]; 11])).encode().unwrap();
    let at = PROOF + 1 + 64 * 4;
    let expected = DecodeQuorumError::Truncated { part: Part::Slopes, at, wanted: 64, left: 63 };
    assert_eq!(Quorum::decode(KeyGroup::Bn254G2, &bytes[..at + 63]), Err(expected));
}

#[test]
fn quorums_of_bad_form() {
    let bytes = quorum().encode().unwrap();
    let with = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = bytes.clone();
        change(&mut bytes);
        Quorum::decode(KeyGroup::Bn254G2, &bytes)
    };
    let not_shortest = |part, length| Err(DecodeQuorumError::Bitmap { part, source: NotShortest { length } });
    assert_eq!(with(&|b| b[BITMAP - 1] = 0), not_shortest(Part::BaseBitmap, 2));
    assert_eq!(with(&|b| b[PROOF - 1] = 0), not_shortest(Part::Bitmap, 3));
    assert_eq!(with(&|b| b[..2].fill(0xff)), Err(DecodeQuorumError::BitmapOfNothing(2)));
    for mode in [2, 0xff] {
        assert_eq!(with(&|b| b[PROOF] = mode), Err(DecodeQuorumError::Mode(mode)));
    }
    // The quorum's bitmap repeats that of the base: this would be a second encoding.
    let repeated = with(&|b| {
        b[7] = 2;
        b.splice(BITMAP..PROOF + 65, [0xff, 0xf0]);
    });
    assert_eq!(repeated, Err(DecodeQuorumError::BitmapRepeated));
    // No bitmap means the base itself. If the base is the empty quorum, it has no members.
    let same = with(&|b| {
        b[7] = 0;
        b.drain(BITMAP..PROOF + 65);
    });
    assert_eq!(same.unwrap().signers, MemberSet::full(12));
    let mut nobody = Quorum { base: None, ..shown_by(KeySum::Slopes(vec![[1; 64]; 2])) }.encode().unwrap();
    nobody[7] = 0;
    assert_eq!(Quorum::decode(KeyGroup::Bn254G2, &nobody), Err(DecodeQuorumError::Empty(Part::Bitmap)));
    let mut nobody = bytes.clone();
    nobody[5] = 0;
    assert_eq!(Quorum::decode(KeyGroup::Bn254G2, &nobody), Err(DecodeQuorumError::Empty(Part::BaseBitmap)));
    let other = Quorum { proof: Proof::Bls12381G2 { signature: [1; 96] }, base: None, keys: vec![], ..quorum() };
    let mut trailing = other.encode().unwrap();
    trailing.push(0);
    assert_eq!(Quorum::decode(KeyGroup::Bls12381G2, &trailing), Err(DecodeQuorumError::Trailing(1)));
}

#[test]
fn quorums_that_cannot_be_packed() {
    let base = quorum().base.unwrap();
    let refused = |quorum: Quorum| quorum.encode().unwrap_err();
    assert_eq!(refused(Quorum { signers: MemberSet::default(), ..quorum() }), EncodeQuorumError::Empty(Part::Bitmap));
    let nobody = Base { signers: MemberSet::default(), ..base.clone() };
    assert_eq!(refused(Quorum { base: Some(nobody), ..quorum() }), EncodeQuorumError::Empty(Part::BaseBitmap));
    let reserved = Base { slot: NONE, ..base.clone() };
    assert_eq!(refused(Quorum { base: Some(reserved), ..quorum() }), EncodeQuorumError::ReservedSlot(NONE));
    assert_eq!(refused(Quorum { store: Store::Slot(RENTAL), ..quorum() }), EncodeQuorumError::ReservedSlot(RENTAL));
    let short = Base { key: vec![0; 64].into(), ..base.clone() };
    let expected = |part| EncodeQuorumError::KeyLength { part, expected: 128, found: 64 };
    assert_eq!(refused(Quorum { base: Some(short), ..quorum() }), expected(Part::Base));
    assert_eq!(refused(Quorum { keys: vec![[0; 64].into()], ..quorum() }), expected(Part::Keys));
    // The highest bit of a page's nonce has another meaning.
    let nonce = Quorum { weights: vec![WeightSource::Page(1 << 31)], ..quorum() };
    let most = (1 << 31) - 1;
    assert_eq!(refused(nonce), EncodeQuorumError::TooMany { part: Part::Parts, found: 1 << 31, most });
    let keys = Quorum { keys: vec![[0; 128].into(); 256], ..quorum() };
    assert_eq!(refused(keys), EncodeQuorumError::TooMany { part: Part::Keys, found: 256, most: 255 });
    let heavy = Base { weight: WEIGHT_LIMIT, ..base.clone() };
    assert_eq!(refused(Quorum { base: Some(heavy), ..quorum() }), EncodeQuorumError::TooHeavy(1 << 96));
    let heaviest = Quorum { base: Some(Base { weight: WEIGHT_LIMIT - 1, ..base.clone() }), ..quorum() };
    assert_eq!(Quorum::decode(KeyGroup::Bn254G2, &heaviest.encode().unwrap()), Ok(heaviest));
    assert_eq!(refused(Quorum { signers: base.signers.clone(), ..quorum() }), EncodeQuorumError::KeySum(0));
    for sum in [KeySum::Unchanged, KeySum::Slopes(vec![]), KeySum::Slopes(vec![[0; 64]; 12])] {
        assert_eq!(refused(shown_by(sum)), EncodeQuorumError::KeySum(11));
    }
    let new = Quorum { base: None, ..shown_by(KeySum::Slopes(vec![[0; 64]; 3])) };
    assert_eq!(refused(new), EncodeQuorumError::KeySum(3));
    let pages = Quorum { key_pages: vec![0; 256], ..quorum() };
    assert_eq!(refused(pages), EncodeQuorumError::TooMany { part: Part::Pages, found: 256, most: 255 });
    let wide = Quorum { signers: [8 * 65_535].into_iter().collect(), ..quorum() };
    assert_eq!(refused(wide), EncodeQuorumError::TooMany { part: Part::Bitmap, found: 65_536, most: 65_535 });
}
