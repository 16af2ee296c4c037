//! `make soak`: a million random operations for each verb, every backend compared with the portable one, which computes
//! what is expected of all of them once. Of the two verbs that the portable backend takes from the lanes, blst computes it.
//!
//! Half of the inputs are ordinary, and half are at an edge: identities, equal and opposite neighbours, points of small
//! order, points outside the subgroup, small weights, damaged encodings.

use alloc::{vec, vec::Vec};
use core::iter;
use std::println;

use rand_chacha::{
    ChaCha20Rng,
    rand_core::{Rng, SeedableRng},
};

use super::{Backend, lanes::tests::backends_in_lanes, portable};
use crate::{
    Bls12381Group, G1, G2, Group,
    encoding::MODULUS,
    pairing::{Gt, Pairing},
    scalar::Scalar,
    segments::{Segments, UncheckedSegments},
    weight::{Soundness, Weight},
};

/// The number of operations for each verb: `QUORATE_SOAK`, or a million.
pub(super) fn operations() -> usize {
    std::env::var("QUORATE_SOAK").map_or(1_000_000, |n| n.parse().expect("QUORATE_SOAK is a number"))
}

/// Calls `share` with random sizes until enough operations are done, and prints how many. `share` compares all backends.
pub(crate) fn soak(verb: &str, seed: u64, mut share: impl FnMut(&[Backend], usize, &mut Random)) {
    let backends: Vec<_> = backends_in_lanes().collect();
    if backends.is_empty() {
        return;
    }
    let (mut random, mut done, mut shares) = (Random::new(seed), 0, 0);
    while done < operations() {
        // Sizes around the widths of a vector are as frequent as long ones.
        let n = match random.below(4) {
            0 => random.below(20),
            1 => 8 * random.below(12) + random.below(3),
            2 => random.below(300),
            _ => 200 + random.below(900),
        };
        share(&backends, n, &mut random);
        done += n;
        shares += 1;
    }
    let names: Vec<_> = backends.iter().map(|backend| backend.name()).collect();
    println!("{verb}: {done} operations in {shares} calls agree on {}", names.join(", "));
}

pub(crate) struct Random {
    pub(crate) rng: ChaCha20Rng,
}

impl Random {
    fn new(seed: u64) -> Self {
        Self { rng: ChaCha20Rng::seed_from_u64(seed) }
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.rng.next_u64() % n.max(1) as u64) as usize
    }

    fn bytes<const N: usize>(&mut self) -> [u8; N] {
        let mut bytes = [0; N];
        self.rng.fill_bytes(&mut bytes);
        bytes
    }

    pub(crate) fn weight(&mut self, soundness: Soundness) -> Weight {
        let bits = match self.below(8) {
            0 => 1 << self.below(64),
            1 => u128::from(u64::MAX),
            2 => u128::from(self.rng.next_u64() & 0xff),
            _ => return Weight::draw(soundness, || self.rng.next_u64()),
        };
        Weight::from_bits(bits).unwrap_or(Weight::ONE)
    }

    /// The items in segments of random lengths: single items, short and long segments, empty ones.
    pub(crate) fn cut<T>(&mut self, items: Vec<T>) -> Segments<T> {
        let n = items.len();
        let longest = [1, 3, 20, 200, n][self.below(5)];
        let mut ends = Vec::new();
        let mut end = 0;
        while end < n {
            end = (end + self.below(longest + 1)).min(n);
            ends.push(end);
        }
        if self.below(3) == 0 {
            ends.push(n);
        }
        Segments::from_ends(items, ends)
    }
}

/// Points to draw from: members of the subgroup, others, and edge cases of both.
struct Pool<G> {
    members: [Vec<G>; 2],
    others: Vec<G>,
}

impl<G: Bls12381Group> Pool<G> {
    fn new() -> Self {
        let names: Vec<_> = (0..64_u8).map(|i| [i]).collect();
        let messages: Vec<_> = names.iter().map(|m| (&m[..], &[][..])).collect();
        let b = Backend::Portable;
        let members = [b"soak a", b"soak b"].map(|tag| b.hash_to_curve::<G>(tag, &messages));
        // All points with a small x, which are nearly all outside the subgroup, and r times these points, whose orders
        // divide the cofactor.
        let mut others = Vec::new();
        for x in 0..=255_u8 {
            let mut bytes = vec![0; G::COMPRESSED];
            bytes[0] = 0x80 | (x & 1) << 5;
            bytes[G::COMPRESSED - 1] = x;
            if let Ok(point) = b.decode::<G>(&bytes) {
                others.extend([point, small_order(point)]);
            }
        }
        Self { members, others }
    }

    /// Members of the subgroup, of thousands. Every other one is at an edge.
    fn members(&self, n: usize, random: &mut Random) -> Vec<G> {
        let mut points: Vec<G> = Vec::with_capacity(n);
        for _ in 0..n {
            let fresh = [0, 1].map(|half| self.members[half][random.below(64)]);
            let last = points.last().copied().unwrap_or(G::IDENTITY);
            points.push(match random.below(10) {
                0 => G::IDENTITY,
                1 => G::generator(),
                2 => last,
                3 => last.negate(),
                4 => G::wrap(crate::arithmetic::Curve::turned(last.inner(), 1)),
                _ => Backend::Portable.sum(&fresh),
            });
        }
        points
    }

    /// Points of the curve, members of the subgroup or not.
    fn points(&self, n: usize, random: &mut Random) -> Vec<G> {
        let mut points = self.members(n, random);
        for i in 0..n {
            let other = self.others[random.below(self.others.len())];
            match random.below(12) {
                0 => points[i] = other,
                1 => points[i] = Backend::Portable.sum(&[points[i], other]),
                2 if i > 0 => points[i] = points[i - 1].negate(),
                _ => {}
            }
        }
        points
    }
}

/// r·P.
fn small_order<G: Bls12381Group>(point: G) -> G {
    const ORDER: [u8; 32] = [
        0x73, 0xed, 0xa7, 0x53, 0x29, 0x9d, 0x7d, 0x48, 0x33, 0x39, 0xd8, 0x08, 0x09, 0xa1, 0xd8, 0x05, 0x53, 0xbd,
        0xa4, 0x02, 0xff, 0xfe, 0x5b, 0xfe, 0xff, 0xff, 0xff, 0xff, 0x00, 0x00, 0x00, 0x01,
    ];
    let mut sum = G::IDENTITY;
    for bit in ORDER.iter().flat_map(|byte| (0..8).rev().map(move |i| byte >> i & 1)) {
        sum = Backend::Portable.sum(&[sum, sum]);
        if bit == 1 {
            sum = Backend::Portable.sum(&[sum, point]);
        }
    }
    sum
}

fn decode<G: Bls12381Group>() {
    let pool = Pool::<G>::new();
    soak(&alloc::format!("decode {}", G::NAME), 1, |backends, n, random| {
        let points = pool.points(n, random);
        let damaged = |mut bytes: Vec<u8>, random: &mut Random| {
            match random.below(12) {
                0 => bytes[random.below(48)] ^= 1 << random.below(8),
                1 => bytes[0] ^= 0x20 << random.below(3),
                2 => random.rng.fill_bytes(&mut bytes),
                3 => {
                    // x or a part of it is p, or one more or less.
                    let part = 48 * random.below(bytes.len() / 48);
                    let flags = bytes[0] & 0xe0;
                    bytes[part..part + 48].copy_from_slice(&MODULUS);
                    bytes[part + 47] = bytes[part + 47].wrapping_add(random.below(3) as u8).wrapping_sub(1);
                    bytes[0] |= flags;
                }
                4 => bytes.truncate(random.below(bytes.len())),
                5 => bytes.iter_mut().skip(1).for_each(|byte| *byte = 0),
                _ => {}
            }
            bytes
        };
        let compressed: Vec<_> = points.iter().map(|p| damaged(p.compress().as_ref().to_vec(), random)).collect();
        let whole: Vec<_> = points.iter().map(|p| damaged(p.serialize().as_ref().to_vec(), random)).collect();
        let compressed: Vec<_> = compressed.iter().map(Vec::as_slice).collect();
        let whole: Vec<_> = whole.iter().map(Vec::as_slice).collect();
        let expected = Backend::Portable.decode_each::<G>(&compressed);
        let expected_whole = Backend::Portable.decode_uncompressed_each::<G>(&whole);
        for backend in backends {
            assert_eq!(backend.decode_each::<G>(&compressed), expected, "{backend}");
            assert_eq!(backend.decode_uncompressed_each::<G>(&whole), expected_whole, "{backend}");
        }
    });
}

fn hash<G: Bls12381Group>() {
    soak(&alloc::format!("hash {}", G::NAME), 2, |backends, n, random| {
        let messages: Vec<[u8; 40]> = (0..n).map(|_| random.bytes()).collect();
        let cut: Vec<_> = messages.iter().map(|m| m.split_at(m[0] as usize % 40)).collect();
        let tag = &[b't'; 300][..[1, 43, 255, 256][random.below(4)]];
        let whole = Backend::Portable.hash_to_curve::<G>(tag, &cut);
        for backend in backends {
            assert_eq!(backend.hash_to_curve::<G>(tag, &cut), whole, "{backend}");
            let uncleared = backend.hash_for_sums::<G>(tag, &cut);
            assert_eq!(backend.clear_sums(&uncleared), whole, "{backend}");
        }
    });
}

fn points<G: Bls12381Group>() {
    let pool = Pool::<G>::new();
    let name = |verb: &str| alloc::format!("{verb} {}", G::NAME);
    soak(&name("in_subgroup"), 3, |backends, n, random| {
        let points = pool.points(n, random);
        let expected = Backend::Portable.in_subgroup(&points);
        backends.iter().for_each(|backend| assert_eq!(backend.in_subgroup(&points), expected, "{backend}"));
    });
    soak(&name("clear_sums"), 4, |backends, n, random| {
        let names: Vec<[u8; 8]> = (0..16).map(|_| random.bytes()).collect();
        let messages: Vec<_> = names.iter().map(|m| (&m[..], &[][..])).collect();
        let whole = Backend::Portable.hash_to_curve::<G>(b"clear", &messages);
        let picks: Vec<usize> = (0..3 * n).map(|_| random.below(16)).collect();
        let picks = random.cut(picks);
        let sums = |hashes: &[G]| {
            Backend::Portable.sums(&picks.iter().map(|picks| picks.iter().map(|i| hashes[*i])).collect())
        };
        let expected = sums(&whole);
        for backend in backends {
            let uncleared = backend.hash_for_sums::<G>(b"clear", &messages);
            assert_eq!(backend.clear_sums(&sums(&uncleared)), expected, "{backend}");
        }
    });
    soak(&name("sums"), 5, |backends, n, random| {
        let points = pool.points(n, random);
        let points = random.cut(points);
        let expected = Backend::Portable.sums(&points);
        backends.iter().for_each(|backend| assert_eq!(backend.sums(&points), expected, "{backend}"));
    });
    for soundness in [Soundness::Bits64, Soundness::Bits128] {
        let bits = soundness.bits();
        soak(&name(&alloc::format!("weighted_sums, {bits} bits,")), 6, |backends, n, random| {
            let points = pool.points(n, random);
            let weighted = points.into_iter().map(|point| (point, random.weight(soundness))).collect();
            let weighted = random.cut(weighted).iter().map(|points| points.iter().copied()).collect();
            let expected = Backend::Portable.weighted_sums(&weighted);
            backends.iter().for_each(|backend| assert_eq!(backend.weighted_sums(&weighted), expected, "{backend}"));
        });
        soak(&name(&alloc::format!("weighted_sums_of_members, {bits} bits,")), 7, |backends, n, random| {
            let mut points = pool.members(n, random);
            let bad = n > 0 && random.below(2) == 0;
            if bad {
                let place = random.below(n);
                points[place] = Backend::Portable.sum(&[points[place], pool.others[random.below(pool.others.len())]]);
            }
            let weights: Vec<_> = (0..n).map(|_| Weight::draw(soundness, || random.rng.next_u64())).collect();
            let mut segments = UncheckedSegments::new();
            for items in random.cut(points.into_iter().zip(weights).collect()).iter() {
                items.iter().for_each(|(point, weight)| segments.push(*point, *weight, random.rng.next_u64()));
                segments.close();
            }
            let are_members = Backend::Portable.in_subgroup(segments.weighted().points().items());
            let all = are_members.into_iter().all(|member| member);
            let expected = all.then(|| Backend::Portable.weighted_sums(segments.weighted()));
            for backend in backends.iter().chain(&[Backend::Portable]) {
                assert_eq!(backend.weighted_sums_of_members(&segments, soundness), expected, "{backend}");
            }
        });
    }
    soak(&name("msm"), 8, |backends, n, random| {
        let points = pool.members(n, random);
        let scalar = |random: &mut Random| match random.below(6) {
            0 => Scalar::ZERO,
            1 => -Scalar::ONE,
            2 => Scalar::ONE,
            _ => Scalar::reduce(&random.bytes::<32>()),
        };
        let terms: Vec<_> = points.into_iter().map(|point| (point, scalar(random))).collect();
        let term = |(point, scalar): &(G, Scalar)| (point.inner(), scalar.to_le_bytes());
        let expected = G::wrap(portable::msm::msm(terms.iter().map(term)));
        for backend in backends.iter().chain(&[Backend::Portable]) {
            assert_eq!(backend.msm(&terms), expected, "{backend}");
        }
    });
}

macro_rules! verbs {
    ($($name:ident: $run:expr;)*) => { $(
        #[test]
        #[ignore = "make soak"]
        fn $name() {
            $run;
        }
    )* };
}

verbs! {
    decode_g1: decode::<G1>();
    decode_g2: decode::<G2>();
    hash_g1: hash::<G1>();
    hash_g2: hash::<G2>();
    points_g1: points::<G1>();
    points_g2: points::<G2>();
}

/// The final exponentiations of the ate pairing's products.
fn ate_products(pairs: &Segments<(G1, G2)>) -> Vec<Gt> {
    Backend::Portable.final_exponentiations(&Backend::Portable.miller_products(Pairing::Ate, pairs))
}

#[test]
#[ignore = "make soak"]
fn miller_products() {
    let (ps, qs) = (Pool::<G1>::new(), Pool::<G2>::new());
    soak("miller_products and final_exponentiations", 9, |backends, n, random| {
        let pairs: Vec<_> = ps.members(n, random).into_iter().zip(qs.members(n, random)).collect();
        let pairs = random.cut(pairs);
        let expected = ate_products(&pairs);
        for backend in backends {
            let values = backend.miller_products(Pairing::Ate, &pairs);
            assert_eq!(backend.final_exponentiations(&values), expected, "{backend}");
        }
    });
}

#[test]
#[ignore = "make soak"]
fn miller_products_prepared() {
    let (ps, qs) = (Pool::<G1>::new(), Pool::<G2>::new());
    soak("miller_products_prepared", 11, |backends, n, random| {
        // Each point is in a few pairs.
        let points = qs.members(n.div_ceil(3), random);
        let picks: Vec<_> = (0..n).map(|_| random.below(points.len())).collect();
        let ps = ps.members(n, random);
        let picked = random.cut(ps.into_iter().zip(picks).collect());
        let pairs = picked.iter().map(|pairs| pairs.iter().map(|(p, i)| (*p, points[*i]))).collect();
        let expected = ate_products(&pairs);
        for backend in backends {
            let prepared = backend.prepare(&points);
            let pairs = picked.iter().map(|pairs| pairs.iter().map(|(p, i)| (*p, &prepared[*i]))).collect();
            let values = backend.miller_products_prepared(&pairs);
            assert_eq!(backend.final_exponentiations(&values), expected, "{backend}");
        }
    });
}

#[test]
#[ignore = "make soak"]
fn final_exponentiations() {
    let (ps, qs) = (Pool::<G1>::new(), Pool::<G2>::new());
    soak("final_exponentiations, one to nine at a time", 12, |backends, n, random| {
        let pairs: Vec<_> = ps.members(8, random).into_iter().zip(qs.members(8, random)).collect();
        let pairs = Segments::of_size(1, pairs);
        let mut left = n;
        for backend in backends.iter().cycle() {
            if left == 0 {
                break;
            }
            // Values of any backend and pairing are raised by all.
            let pairing = Pairing::ALL[random.below(2)];
            let values = backend.miller_products(pairing, &pairs);
            for _ in 0..4 {
                let count = left.min(1 + random.below(9));
                let product = |random: &mut Random| [0; 3].iter().map(|_| values[random.below(values.len())]).product();
                let values: Vec<_> = (0..count).map(|_| product(random)).collect();
                let expected = Backend::Portable.final_exponentiations(&values);
                for backend in backends {
                    assert_eq!(backend.final_exponentiations(&values), expected, "{backend}");
                }
                left -= count;
            }
        }
    });
}

/// ∏ t(aᵢ·P, Qᵢ) · t(-P, Σ aᵢ·Qᵢ) is one, for Q inside and outside the subgroup, and it is not one if a pair is missing.
#[test]
#[ignore = "make soak"]
fn twisted_products() {
    let (ps, qs) = (Pool::<G1>::new(), Pool::<G2>::new());
    soak("miller_products, twisted", 10, |backends, n, random| {
        let points: Vec<G2> = qs.points(n, random);
        let weights: Vec<_> = points.iter().map(|_| random.weight(Soundness::Bits64)).collect();
        let p = ps.members[0][random.below(64)];
        let multiples = Backend::Portable.weighted_sums(&weights.iter().map(|weight| [(p, *weight)]).collect());
        let weighted = points.iter().copied().zip(weights);
        let sum = Backend::Portable.weighted_sums(&iter::once(weighted).collect())[0];
        let mut pairs: Vec<_> = multiples.into_iter().zip(points).collect();
        pairs.push((p.negate(), sum));
        let without = Segments::one(pairs[..n].to_vec());
        let pairs = random.cut(pairs);
        let is_member = Backend::Portable.sum(&[small_order(sum)]).is_identity();
        for backend in backends {
            let values = backend.miller_products(Pairing::TwistedAte, &pairs);
            assert!(backend.final_exponentiation(values.iter().copied().product()).is_one(), "{backend}");
            let without = backend.miller_products(Pairing::TwistedAte, &without)[0];
            if n > 0 && is_member && !sum.is_identity() {
                assert!(!backend.final_exponentiation(without).is_one(), "{backend}");
            }
        }
    });
}
