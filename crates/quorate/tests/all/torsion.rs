//! Signatures outside the subgroup: true ones plus a point whose order divides the cofactor, for every prime that divides
//! it. In a pairing that is bilinear in such points, only the membership check tells them from true ones
//! (`docs/soundness.md`).

use quorate::{
    Backend, Bls12381Suite, Claim, Keys, MinPk, MinSig, Options, ParseError, PublicKey, Reason, UncheckedSignature,
    Verdict, all_valid, verify,
};
use quorate_curve::{Bls12381Group, Group, Segments};
use quorate_lab::forge::{secret, times};
use rand_chacha::{
    ChaCha20Rng,
    rand_core::{Rng, SeedableRng},
};

use crate::options::{Turns, every_mode};

/// The order of the subgroup, in hexadecimal.
const R: &str = "73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001";

trait Cofactor: Bls12381Suite {
    /// The primes that divide the cofactor of the curve of signatures, in hexadecimal. Each of them divides it twice,
    /// except those of [`Self::ONCE`].
    const TWICE: &'static [&'static str];
    const ONCE: &'static [&'static str];
}

impl Cofactor for MinPk {
    const TWICE: &'static [&'static str] = &["d", "17"];
    const ONCE: &'static [&'static str] = &[
        "a99",
        "2eb1",
        "3ffb5",
        "8d9f503deeeb5d5c423572788bea4d6ae0490c5afca1eeb2a9d75bb98b95878afab9c0da5cf222c377d87384d026cd73826d177200c0d3b1",
    ];
}

impl Cofactor for MinSig {
    const TWICE: &'static [&'static str] = &["b", "27c1", "d1c83", "320238b"];
    const ONCE: &'static [&'static str] = &["3"];
}

/// Points whose orders divide the cofactor: of each prime order in several directions, and of composite orders.
fn torsion<S: Cofactor>() -> Vec<S::Signature> {
    let mut found: Vec<S::Signature> = Vec::new();
    for prime in S::TWICE.iter().chain(S::ONCE) {
        let others = S::TWICE.iter().chain(S::TWICE).chain(S::ONCE).filter(|other| *other != prime);
        let part = |point| others.clone().chain([&R]).fold(point, |point, factor| times(point, factor));
        let of_prime_order = |point: S::Signature| {
            let multiple = times(point, prime);
            if multiple.is_identity() { point } else { multiple }
        };
        let parts = small_points::<S>().map(part).map(of_prime_order).filter(|part| !part.is_identity());
        let [a, b] = parts.take(2).collect::<Vec<_>>()[..] else { panic!("two points of order {prime}") };
        assert!(times(a, prime).is_identity() && times(b, prime).is_identity(), "order {prime}");
        let sum = |points: &[S::Signature]| Backend::Portable.sum(points);
        found.extend([a, b, a.negate(), sum(&[a, b]), sum(&[a, b.negate()]), sum(&[a, a, b])]);
    }
    // Some of the points are multiples of each other, so that a sum may be the identity.
    found.retain(|point| !point.is_identity());
    let composite = (1..=found.len()).map(|n| Backend::Portable.sum(&found[..n])).collect::<Vec<_>>();
    found.extend(composite.into_iter().filter(|point| !point.is_identity()));
    assert!(!Backend::Portable.in_subgroup(&found).contains(&true));
    found
}

/// The points of the curve with the smallest x.
fn small_points<S: Cofactor>() -> impl Iterator<Item = S::Signature> {
    (1..=u8::MAX).filter_map(|x| {
        let mut bytes = vec![0; S::Signature::COMPRESSED];
        bytes[0] = 0x80;
        *bytes.last_mut()? = x;
        Backend::Portable.decode(&bytes).ok()
    })
}

/// Verifies n claims, of which some have a point added to their signature. Exactly these are outside.
fn refuses<S: Cofactor>(suite: S, n: usize, added: &[(usize, S::Signature)], options: &Options) {
    let signer = secret(suite, 1);
    let (key, signature) = (signer.public_key(), signer.sign(suite, b"m").point());
    let mut points = vec![S::Signature::IDENTITY; n];
    added.iter().for_each(|(place, point)| points[*place] = *point);
    let sums: Segments<_> = points.iter().map(|point| [signature, *point]).collect();
    let signatures = options.backend.sums(&sums).into_iter().map(UncheckedSignature::from_point);
    let claims: Vec<_> = signatures.map(|signature| Claim::single(suite, key, *b"m", signature)).collect();
    let verdicts = verify(&claims, options, &mut ChaCha20Rng::from_seed([13; 32])).verdicts;
    assert_eq!(verdicts.len(), n);
    for (place, (verdict, point)) in verdicts.into_iter().zip(&points).enumerate() {
        let outside = Verdict::Invalid(Reason::Parse(ParseError::SignatureNotInSubgroup));
        let expected = if point.is_identity() { Verdict::Valid } else { outside };
        assert_eq!(verdict, expected, "{point} at {place} of {n} under {options:?}");
    }
}

/// Each point alone in a batch in which sums check membership, and alone without a batch.
#[test]
fn torsion_of_every_order_is_refused() {
    fn of<S: Cofactor>(suite: S) {
        let mut turns = Turns::default();
        for (i, point) in torsion::<S>().into_iter().enumerate() {
            for options in turns.in_lanes() {
                refuses(suite, 130, &[(7 * i % 130, point)], &options);
                refuses(suite, 1, &[(0, point)], &options);
            }
        }
    }
    of(MinPk::Eth2);
    of(MinSig::ProofOfPossession);
}

/// Keys whose membership somebody only claims: a part of small order changes no verdict in min-pk.
#[test]
fn assumed_keys_outside_the_subgroup_are_judged_by_their_part_inside() {
    let suite = MinPk::Eth2;
    // The points of signatures in min-sig are those of keys in min-pk.
    let torsion = torsion::<MinSig>();
    for backend in Backend::available() {
        // The plan takes the other pairing for the largest batch, if keys are checked.
        for n in [2, 9, 250] {
            for distinct in [1, n] {
                let claims = |lie: Option<usize>| -> Vec<_> {
                    let claims = (0..n).map(|i| {
                        let signer = secret(suite, i as u8);
                        let (message, signed) = ([(i % distinct) as u8], [(i % distinct) as u8 ^ 0x80]);
                        let moved = backend.sum(&[signer.public_key().point(), torsion[i % torsion.len()]]);
                        assert!(!backend.is_member(&moved));
                        let key = PublicKey::assume_in_subgroup(moved).unwrap();
                        let signature = signer.sign(suite, if lie == Some(i) { &signed } else { &message });
                        Claim::single(suite, key, message, signature)
                    });
                    claims.collect()
                };
                let options = Options { backend: *backend, keys: Keys::Assumed, ..Options::default() };
                let mut rng = ChaCha20Rng::from_seed([17; 32]);
                assert!(all_valid(&claims(None), &options, &mut rng), "{backend}, {n} claims");
                let lie = n / 2;
                assert!(!all_valid(&claims(Some(lie)), &options, &mut rng));
                let outcome = verify(&claims(Some(lie)), &options, &mut rng);
                assert_eq!(outcome.invalid().collect::<Vec<_>>(), [lie], "{backend}, {n} claims");
            }
        }
    }
}

/// `make soak`: as many signatures outside the subgroup as `QUORATE_SOAK` says, or a million, for each variant on each
/// backend: one in a batch, several, or all.
#[test]
#[ignore = "takes minutes: run `make soak`"]
fn soak_torsion() {
    fn of<S: Cofactor>(suite: S, wanted: usize) {
        let pool = torsion::<S>();
        for backend in Backend::available() {
            let mut rng = ChaCha20Rng::seed_from_u64(18);
            let mut below = |n: usize| (rng.next_u64() % n as u64) as usize;
            let (mut outside, mut batches) = (0, 0);
            while outside < wanted {
                let n = 1 + below(1500);
                let one_of = [1, 2, 10, n][below(4)];
                let mut one = |place| (below(one_of) == 0).then(|| (place, pool[below(pool.len())]));
                let mut added: Vec<_> = (0..n).filter_map(&mut one).collect();
                if added.is_empty() {
                    added.push((below(n), pool[below(pool.len())]));
                }
                refuses(suite, n, &added, &every_mode(*backend)[below(4)]);
                outside += added.len();
                batches += 1;
            }
            println!(
                "{backend} {}: {outside} signatures outside the subgroup in {batches} batches, all refused",
                suite.name()
            );
        }
    }
    let wanted = std::env::var("QUORATE_SOAK").map_or(1_000_000, |n| n.parse().expect("QUORATE_SOAK is a number"));
    of(MinPk::Eth2, wanted);
    of(MinSig::ProofOfPossession, wanted);
}
