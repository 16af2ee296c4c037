//! `make soak`: random operations on the fields in lanes, compared with blst.
//!
//! Half of the elements have limbs at an edge. Half of the factors are as large as a factor may be.

use std::println;

use blst::{blst_fp, blst_fp2};
use rand_chacha::{
    ChaCha20Rng,
    rand_core::{Rng, SeedableRng},
};

use super::{
    field::invert_all,
    fp::{
        Fp,
        tests::{largest, near_multiple},
    },
    fp2::Fp2,
    kernel::{Limbs, P, tests::modulo_p},
    lanes_or_skip,
    power::powers,
    vector::{Ifma, LANES},
    wide::Wide,
};
use crate::{arithmetic::field::Field, backend::soak::operations};

struct Random {
    lanes: Ifma,
    rng: ChaCha20Rng,
    /// 2^-400, which turns a Montgomery form into its number.
    over_r: blst_fp,
}

/// Eight elements in lanes, and the same as blst's elements.
type Pair<F, E> = (F, [E; LANES]);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.rng.next_u64() % n
    }

    /// Limbs of a number below p, which is a Montgomery form. In every other one each limb is at an edge.
    fn limbs(&mut self) -> Limbs {
        let at_edges = self.below(2) == 0;
        let mut limbs: Limbs = core::array::from_fn(|i| {
            let most = if i < 7 { (1 << 50) - 1 } else { P[7] - 1 };
            match self.below(8) {
                0..2 if at_edges => 0,
                2 if at_edges => 1,
                3..6 if at_edges => most,
                6 if at_edges => most - 1,
                _ => (self.rng.next_u64() >> 14) as i64 % (most + 1),
            }
        });
        // p - 1 and p - 2^50 are more edges.
        match self.below(64) {
            0 => limbs = core::array::from_fn(|i| P[i] - i64::from(i == 0)),
            1 => limbs = core::array::from_fn(|i| P[i] - i64::from(i == 1)),
            _ => {}
        }
        limbs
    }

    fn fp(&mut self) -> Pair<Fp, blst_fp> {
        let limbs: [Limbs; LANES] = core::array::from_fn(|_| self.limbs());
        let mut eight = Fp::zero(self.lanes);
        for (lane, limbs) in limbs.iter().enumerate() {
            eight = Fp::constant(self.lanes, limbs).or(1 << lane, &eight);
        }
        (eight, limbs.map(|limbs| modulo_p(&limbs).times(&self.over_r)))
    }

    fn fp2(&mut self) -> Pair<Fp2, blst_fp2> {
        let ((c0, a0), (c1, a1)) = (self.fp(), self.fp());
        (Fp2::new(c0, c1), core::array::from_fn(|lane| blst_fp2 { fp: [a0[lane], a1[lane]] }))
    }

    /// The same element. In every other call a multiple of p is added, of at most `most`·p in all.
    fn raised(&mut self, a: &Fp, most: u64) -> Fp {
        match self.below(4) {
            0 => a.plus(&near_multiple(self.lanes, self.below(most) as i64, 0)).carried(),
            1 => a.plus(&near_multiple(self.lanes, most as i64 - 1, 0)).carried(),
            _ => *a,
        }
    }

    fn raised2(&mut self, a: &Fp2, most: u64) -> Fp2 {
        Fp2::new(self.raised(&a.c0, most), self.raised(&a.c1, most))
    }
}

/// Calls a check of eight items until a million items are done, or as many as `QUORATE_SOAK` says.
fn soak(name: &str, mut check: impl FnMut(&mut Random)) {
    let Some(lanes) = lanes_or_skip() else { return };
    let over_r = modulo_p(&[0, 0, 0, 0, 0, 0, 0, 0, 1]).inverse();
    let mut random = Random { lanes, rng: ChaCha20Rng::seed_from_u64(11), over_r };
    let vectors = operations().div_ceil(LANES);
    (0..vectors).for_each(|_| check(&mut random));
    println!("ifma {name}: {} operations agree", vectors * LANES);
}

fn each<A, B, C>(a: &[A; LANES], b: &[B; LANES], f: impl Fn(&A, &B) -> C) -> [C; LANES] {
    core::array::from_fn(|lane| f(&a[lane], &b[lane]))
}

#[test]
#[ignore = "make soak"]
fn fp() {
    soak("operations of Fp", |random| {
        let ((x, a), (y, b)) = (random.fp(), random.fp());
        assert_eq!(x.store(), a);
        assert_eq!(Fp::load(random.lanes, &a.each_ref()).store(), a);
        assert_eq!(x.plus(&y).times(&Fp::one(random.lanes)).store(), each(&a, &b, |a, b| a.plus(b)));
        assert_eq!(x.minus(&random.raised(&y, 3)).store(), each(&a, &b, |a, b| a.minus(b)));
        let (large, factor) = (random.raised(&x, 31), random.raised(&y, 31));
        assert_eq!(large.times(&factor).store(), each(&a, &b, |a, b| a.times(b)));
        assert_eq!(largest(&x).times(&largest(&y)).store(), each(&a, &b, |a, b| a.times(b)));
        assert_eq!(large.squared().store(), a.map(|a| a.squared()));
        assert_eq!(large.shrunk().store(), a);
        let equal = random.raised(&x, 3).equals(&y.or(0x5a, &x));
        assert_eq!(equal, (0..LANES).map(|i| u8::from(0x5a >> i & 1 == 0 || a[i] == b[i]) << i).sum());
    });
}

#[test]
#[ignore = "make soak"]
fn fp2() {
    soak("operations of Fp2", |random| {
        let ((x, a), (y, b)) = (random.fp2(), random.fp2());
        let (large, factor) = (random.raised2(&x, 31), random.raised2(&y, 31));
        let product = each(&a, &b, |a, b| a.times(b));
        assert!(large.times(&factor).store() == product);
        assert!(Wide::product(&large, &factor).reduced().store() == product);
        assert!(random.raised2(&x, 15).squared().store() == a.map(|a| a.squared()));
        assert!(Wide::square(&random.raised2(&x, 7)).reduced().store() == a.map(|a| a.squared()));
        assert!(x.minus(&random.raised2(&y, 3)).store() == each(&a, &b, |a, b| a.minus(b)));
        let real = blst_fp2 { fp: [b[0].fp[0], blst_fp::default()] };
        assert!(large.times_fp(&Fp::splat(random.lanes, &real.fp[0])).store() == a.map(|a| a.times(&real)));
    });
}

/// Inverses of a few vectors together, with zeros among them, and the powers of square roots.
#[test]
#[ignore = "make soak"]
fn inverses_and_powers() {
    soak("inverses and powers of Fp", |random| {
        let (x, a) = random.fp();
        let zeros = random.below(256) as u8 & random.below(256) as u8;
        let x = Fp::zero(random.lanes).or(zeros, &x);
        let a: [blst_fp; LANES] = core::array::from_fn(|i| if zeros >> i & 1 == 1 { blst_fp::default() } else { a[i] });
        let mut inverses = [random.raised(&x, 7), Fp::one(random.lanes), x];
        invert_all(&mut inverses);
        for inverse in [&inverses[0], &inverses[2]] {
            let one = inverse.times(&x).store();
            assert!((0..LANES).all(|i| if a[i].is_zero() {
                one[i].is_zero()
            } else {
                one[i] == Fp::one(random.lanes).store()[0]
            }));
            assert_eq!(inverse.is_zero(), x.is_zero());
        }
        // With c = a^((p-3)/4), c⁴·a² is one unless a is zero.
        let [c] = powers(random.lanes, &[largest(&x)]);
        let one = c.squared().squared().times(&x.squared());
        assert!(one.equals(&Fp::one(random.lanes)) == !x.is_zero());
    });
}
