//! Points that an attacker sends: outside the subgroup, of small order, and the identity.

use std::sync::LazyLock;

use blst::{blst_p1_affine, blst_p2_affine};
use quorate_curve::{Backend, Bls12381Group, G1, G2, Group};

/// Points of E(Fp) outside the subgroup.
pub(crate) static OUTSIDE_G1: LazyLock<Vec<blst_p1_affine>> = LazyLock::new(|| outside::<G1>(&G1_ORDERS));
/// Points of the twist outside the subgroup.
pub(crate) static OUTSIDE_G2: LazyLock<Vec<blst_p2_affine>> = LazyLock::new(|| outside::<G2>(&G2_ORDERS));

/// From this index on, the order of each point divides one prime power. Most of them are small.
pub(crate) const SMALL_FROM: usize = 6;

/// The order of the subgroup, in hexadecimal.
const R: &str = "73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001";
/// The prime powers of each cofactor, the smallest prime first.
const G1_ORDERS: [&str; 5] = ["3", "79", "62c5f81", "abe87aeb09", "9c4de29af4d79"];
const G2_ORDERS: [&str; 6] = [
    "a9",
    "211",
    "a99",
    "2eb1",
    "3ffb5",
    "8d9f503deeeb5d5c423572788bea4d6ae0490c5afca1eeb2a9d75bb98b95878afab9c0da5cf222c377d87384d026cd73826d177200c0d3b1",
];

/// Points of full order, points whose order divides the cofactor, and a point for each of its prime powers, the smallest prime first.
fn outside<G: Bls12381Group>(orders: &[&str]) -> Vec<G::Blst> {
    let full: Vec<G> = (1..=u8::MAX).filter_map(point_at).take(3).collect();
    let torsion: Vec<_> = full.iter().map(|point| times(*point, R)).collect();
    let of_order = |kept: &&str| {
        let others = || orders.iter().filter(|order| *order != kept);
        let mut parts = torsion.iter().map(|point| others().fold(*point, |point, order| times(point, order)));
        parts.find(|point| !point.is_identity()).unwrap()
    };
    let of_orders: Vec<_> = orders.iter().map(of_order).collect();
    let mut points = [full, torsion].concat();
    assert!(points.len() == SMALL_FROM && !points.iter().any(Group::is_identity));
    points.extend(of_orders);
    // (0, 2) has order 3, and blst's decoder refuses it.
    points.extend(point_at::<G>(0));
    assert!(!Backend::Portable.in_subgroup(&points).contains(&true));
    points.into_iter().map(G::to_blst).collect()
}

fn point_at<G: Bls12381Group>(x: u8) -> Option<G> {
    let mut bytes = vec![0; G::COMPRESSED];
    bytes[0] = 0x80;
    *bytes.last_mut()? = x;
    Backend::Portable.decode(&bytes).ok()
}

fn times<G: Bls12381Group>(point: G, hexadecimal: &str) -> G {
    let bits = hexadecimal.chars().flat_map(|digit| {
        let digit = digit.to_digit(16).unwrap();
        (0..4).rev().map(move |bit| digit >> bit & 1 == 1)
    });
    bits.fold(G::IDENTITY, |sum, bit| {
        let addend = if bit { point } else { G::IDENTITY };
        Backend::Portable.sum(&[sum, sum, addend])
    })
}

/// a + b.
pub(crate) fn plus<G: Bls12381Group>(a: G::Blst, b: G::Blst) -> G::Blst {
    Backend::Portable.sum(&[a, b].map(G::from_blst_assuming_on_curve)).to_blst()
}

/// -a.
pub(crate) fn minus<G: Bls12381Group>(a: G::Blst) -> G::Blst {
    G::from_blst_assuming_on_curve(a).negate().to_blst()
}
