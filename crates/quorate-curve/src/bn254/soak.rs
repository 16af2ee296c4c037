//! `make soak` on BN254: a million random operations for each verb, every backend compared with the portable one, and pairings with those of
//! arkworks. Half of the inputs are at an edge.

use alloc::vec::Vec;

use ark_bn254::{Fq, Fq2, Fr, G1Affine, G2Affine};
use ark_ec::{AffineRepr, CurveGroup};
use ark_ff::{AdditiveGroup, BigInt, Field as _, Fp, PrimeField};
use rand_chacha::rand_core::Rng;

use super::{Bn254G1, Bn254G2, tests::pairings_by_arkworks};
use crate::{
    Backend, Group, Pairing, Segments, Soundness, WeightedSegments,
    backend::soak::{Random, soak},
};

fn members_g1() -> Vec<Bn254G1> {
    let multiple = |n: u64| (G1Affine::generator() * Fr::from(n * n + 3)).into_affine();
    (0..64).map(|n| Bn254G1::from_ark_assuming_on_curve(&multiple(n))).collect()
}

fn members_g2() -> Vec<Bn254G2> {
    let multiple = |n: u64| (G2Affine::generator() * Fr::from(n * n + 3)).into_affine();
    (0..64).map(|n| Bn254G2::from_ark_assuming_on_curve(&multiple(n))).collect()
}

/// Points of the twist of any order, and r times these points, whose orders divide the cofactor.
fn others() -> Vec<Bn254G2> {
    let point = |n: u64| G2Affine::get_point_from_x_unchecked(Fq2::new(Fq::from(n), Fq::ONE), n.is_multiple_of(2));
    let both = |point: G2Affine| [point, point.mul_bigint(Fr::MODULUS).into_affine()];
    (0..64).filter_map(point).flat_map(both).map(|point| Bn254G2::from_ark_assuming_on_curve(&point)).collect()
}

/// Points of a pool. Every other one is the identity, the one before it, or the opposite of that one.
fn points<G: Group>(pool: &[G], n: usize, random: &mut Random) -> Vec<G> {
    let mut points: Vec<G> = Vec::with_capacity(n);
    for _ in 0..n {
        let last = points.last().copied().unwrap_or(G::IDENTITY);
        points.push(match random.below(6) {
            0 => G::IDENTITY,
            1 => last,
            2 => last.negate(),
            _ => pool[random.below(pool.len())],
        });
    }
    points
}

fn sums<G: Group>(verb: &str, seed: u64, pool: &[G]) {
    soak(verb, seed, |backends, n, random| {
        let points = points(pool, n, random);
        let segments = random.cut(points);
        let expected = Backend::Portable.sums(&segments);
        backends.iter().for_each(|backend| assert_eq!(backend.sums(&segments), expected, "{backend}, {n} points"));
    });
}

fn weighted<G: Group>(verb: &str, seed: u64, pool: &[G]) {
    soak(verb, seed, |backends, n, random| {
        let points = points(pool, n, random);
        let soundness = [Soundness::Bits64, Soundness::Bits128][random.below(2)];
        let weighted = points.into_iter().map(|point| (point, random.weight(soundness))).collect::<Vec<_>>();
        let segments: WeightedSegments<G> = random.cut(weighted).iter().map(<[_]>::to_vec).collect();
        let expected = Backend::Portable.weighted_sums(&segments);
        for backend in backends {
            assert_eq!(backend.weighted_sums(&segments), expected, "{backend}, {n} points");
        }
    });
}

#[test]
#[ignore = "minutes"]
fn soak_sums() {
    sums("BN254, sums in G1", 1, &members_g1());
    sums("BN254, sums in G2", 2, &[members_g2(), others()].concat());
}

#[test]
#[ignore = "minutes"]
fn soak_weighted_sums() {
    weighted("BN254, weighted sums in G1", 3, &members_g1());
    weighted("BN254, weighted sums in G2", 4, &[members_g2(), others()].concat());
}

#[test]
#[ignore = "minutes"]
fn soak_membership() {
    let (members, others) = (members_g2(), others());
    soak("BN254, membership", 5, |backends, n, random| {
        let mut points = points(&members, n, random);
        for point in &mut points {
            if random.below(3) == 0 {
                let other = others[random.below(others.len())];
                *point = if random.below(2) == 0 { other } else { Backend::Portable.sum(&[*point, other]) };
            }
        }
        let expected = Backend::Portable.in_subgroup(&points);
        backends.iter().for_each(|backend| assert_eq!(backend.in_subgroup(&points), expected, "{backend}"));
    });
}

#[test]
#[ignore = "minutes"]
fn soak_square_roots() {
    soak("BN254, square roots", 6, |backends, n, random| {
        let element = |random: &mut Random| {
            let mut words: [u64; 4] = core::array::from_fn(|_| match random.below(6) {
                0 => 0,
                1 => u64::MAX,
                2 => 1 << random.below(64),
                _ => random.rng.next_u64(),
            });
            words[3] >>= 3;
            // Below 2^253, so it is a Montgomery form.
            let element: Fq = Fp(BigInt(words), core::marker::PhantomData);
            if random.below(2) == 0 { element.square() } else { element }
        };
        let squares: Vec<_> = (0..n).map(|_| element(random)).collect();
        let expected = Bn254G1::square_roots(Backend::Portable, &squares);
        for backend in backends {
            assert_eq!(Bn254G1::square_roots(*backend, &squares), expected, "{backend}, {n} elements");
        }
        assert!(squares.iter().zip(&expected).all(|(square, root)| {
            let power = root.square();
            power == *square || power == -*square || *square == Fq::ZERO
        }));
    });
}

#[test]
#[ignore = "an hour"]
fn soak_pairings() {
    let (p, q) = (members_g1(), members_g2());
    soak("BN254, pairings", 7, |backends, n, random| {
        let pairs: Vec<_> = points(&p, n, random).into_iter().zip(points(&q, n, random)).collect();
        let segments: Segments<_> = random.cut(pairs);
        let expected = pairings_by_arkworks(&segments);
        for backend in backends {
            let values = backend.miller_products(Pairing::Ate, &segments);
            assert_eq!(backend.final_exponentiations(&values), expected, "{backend}, {n} pairs");
        }
    });
}
