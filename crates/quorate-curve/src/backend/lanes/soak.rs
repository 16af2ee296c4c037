//! `make soak`: random operations on the fields in lanes of every kind, compared with blst.
//!
//! Half of the elements have limbs at an edge. Half of the factors are as large as a factor may be.

use std::println;

use blst::{blst_fp, blst_fp2};
use rand_chacha::{
    ChaCha20Rng,
    rand_core::{Rng, SeedableRng},
};

use super::{
    constant::P_WORDS,
    field::{Field, LANES, Lanes, PrimeField, invert_all},
    fp2::Fp2,
    power::powers,
    tests::{in_each_kind, lowered, name, number, over_r, raised, stored},
    wide::Wide,
};
use crate::{arithmetic::field::Field as _, backend::soak::operations};

struct Random<L> {
    lanes: L,
    rng: ChaCha20Rng,
    /// 1/R, which turns a Montgomery form into its number.
    over_r: blst_fp,
}

/// Eight elements in lanes, and the same as blst's elements.
type Pair<F, E> = (F, [E; LANES]);

impl<L: Lanes<Curve = crate::pairing::Bls12381>> Random<L> {
    fn below(&mut self, n: u64) -> u64 {
        self.rng.next_u64() % n
    }

    /// The words of a number below p, which is a Montgomery form. In every other one the limbs are at edges: at both
    /// ends, and halfway, where a limb with a sign borrows from the next one.
    fn words(&mut self) -> [u64; 6] {
        let bits = <L::Fp as PrimeField>::LIMB_BITS;
        match self.below(64) {
            // p - 1, and p less a unit of the lowest limb.
            0 => return less(1),
            1 => return less(1 << bits),
            _ => {}
        }
        let at_edges = self.below(2) == 0;
        let mut words = [0; 6];
        for i in 0..8 {
            let most = if i < 7 { (1 << bits) - 1 } else { bits_from(7 * bits) - 1 };
            let half = 1 << (bits - 1);
            let limb = match self.below(12) {
                0..2 if at_edges => 0,
                2 if at_edges => 1,
                3..6 if at_edges => most,
                6 if at_edges => most - 1,
                7..10 if at_edges => (half - 1 + self.below(3)).min(most),
                _ => (self.rng.next_u64() >> (64 - bits)) % (most + 1),
            };
            let (word, shift) = (i * bits / 64, i * bits % 64);
            words[word] |= limb << shift;
            if shift + bits > 64 && word < 5 {
                words[word + 1] |= limb >> (64 - shift);
            }
        }
        words
    }

    fn fp(&mut self) -> Pair<L::Fp, blst_fp> {
        let words: [[u64; 6]; LANES] = core::array::from_fn(|_| self.words());
        (stored(self.lanes, &words), words.map(|words| number(words).times(&self.over_r)))
    }

    fn fp2(&mut self) -> Pair<Fp2<L::Fp>, blst_fp2> {
        let ((c0, a0), (c1, a1)) = (self.fp(), self.fp());
        (Fp2::new(c0, c1), core::array::from_fn(|lane| blst_fp2 { fp: [a0[lane], a1[lane]] }))
    }

    /// The same element. In every other call a multiple of p is added or subtracted, so that the value is at most
    /// `most`·p.
    fn raised(&mut self, a: &L::Fp, most: u64) -> L::Fp {
        match self.below(6) {
            0 => raised(a, self.below(most)),
            1 => raised(a, most - 1),
            2 => lowered(a, (most - 1) / 4),
            _ => *a,
        }
    }

    fn raised2(&mut self, a: &Fp2<L::Fp>, most: u64) -> Fp2<L::Fp> {
        Fp2::new(self.raised(&a.c0, most), self.raised(&a.c1, most))
    }
}

/// p - n, for an n below the lowest word of p.
fn less(n: u64) -> [u64; 6] {
    let mut words = P_WORDS;
    words[0] -= n;
    words
}

/// The bits of p from this one.
fn bits_from(bit: usize) -> u64 {
    assert!(bit / 64 == 5, "the upper limb begins in the upper word");
    P_WORDS[5] >> (bit % 64)
}

/// Calls a check of eight items until a million items are done, or as many as `QUORATE_SOAK` says.
fn soak<L: Lanes<Curve = crate::pairing::Bls12381>>(lanes: L, of: &str, mut check: impl FnMut(&mut Random<L>)) {
    let mut random = Random { lanes, rng: ChaCha20Rng::seed_from_u64(11), over_r: over_r::<L>() };
    let vectors = operations().div_ceil(LANES);
    (0..vectors).for_each(|_| check(&mut random));
    println!("{} {of}: {} operations agree", name(lanes), vectors * LANES);
}

fn each<A, B, C>(a: &[A; LANES], b: &[B; LANES], f: impl Fn(&A, &B) -> C) -> [C; LANES] {
    core::array::from_fn(|lane| f(&a[lane], &b[lane]))
}

in_each_kind! {
    #[ignore = "make soak"]
    fn fp(lanes: L) {
        soak(lanes, "operations of Fp", |random| {
            let ((x, a), (y, b)) = (random.fp(), random.fp());
            assert_eq!(x.store(), a);
            assert_eq!(L::Fp::load(lanes, &a.each_ref()).store(), a);
            assert_eq!(x.plus(&y).times(&L::Fp::one(lanes)).store(), each(&a, &b, |a, b| a.plus(b)));
            assert_eq!(x.minus(&random.raised(&y, 3)).store(), each(&a, &b, |a, b| a.minus(b)));
            let (large, factor) = (random.raised(&x, 31), random.raised(&y, 31));
            assert_eq!(large.times(&factor).store(), each(&a, &b, |a, b| a.times(b)));
            assert_eq!(x.largest().times(&y.largest()).store(), each(&a, &b, |a, b| a.times(b)));
            assert_eq!(large.squared().store(), a.map(|a| a.squared()));
            assert_eq!(large.shrunk().store(), a);
            let equal = random.raised(&x, 3).equals(&y.or(0x5a, &x));
            assert_eq!(equal, (0..LANES).map(|i| u8::from(0x5a >> i & 1 == 0 || a[i] == b[i]) << i).sum());
        });
    }

    #[ignore = "make soak"]
    fn fp2(lanes: L) {
        soak(lanes, "operations of Fp2", |random| {
            let ((x, a), (y, b)) = (random.fp2(), random.fp2());
            let (large, factor) = (random.raised2(&x, 31), random.raised2(&y, 31));
            let product = each(&a, &b, |a, b| a.times(b));
            assert!(large.times(&factor).store() == product);
            assert!(Wide::product(&large, &factor).reduced().store() == product);
            assert!(random.raised2(&x, 15).squared().store() == a.map(|a| a.squared()));
            assert!(Wide::square(&random.raised2(&x, 7)).reduced().store() == a.map(|a| a.squared()));
            assert!(x.minus(&random.raised2(&y, 3)).store() == each(&a, &b, |a, b| a.minus(b)));
            let real = blst_fp2 { fp: [b[0].fp[0], blst_fp::default()] };
            assert!(large.times_fp(&L::Fp::splat(lanes, &real.fp[0])).store() == a.map(|a| a.times(&real)));
        });
    }

    /// Inverses of a few vectors together, with zeros among them, and the powers of square roots.
    #[ignore = "make soak"]
    fn inverses_and_powers(lanes: L) {
        soak(lanes, "inverses and powers of Fp", |random| {
            let (x, a) = random.fp();
            let zeros = random.below(256) as u8 & random.below(256) as u8;
            let x = L::Fp::zero(lanes).or(zeros, &x);
            let a: [blst_fp; LANES] =
                core::array::from_fn(|i| if zeros >> i & 1 == 1 { blst_fp::default() } else { a[i] });
            let mut inverses = [random.raised(&x, 7), L::Fp::one(lanes), x];
            invert_all(&mut inverses);
            for inverse in [&inverses[0], &inverses[2]] {
                let one = inverse.times(&x).store();
                assert!((0..LANES).all(|i| if a[i].is_zero() {
                    one[i].is_zero()
                } else {
                    one[i] == L::Fp::one(lanes).store()[0]
                }));
                assert_eq!(inverse.is_zero(), x.is_zero());
            }
            // With c = a^((p-3)/4), c⁴·a² is one unless a is zero.
            let [c] = powers(lanes, &[x.largest()]);
            let one = c.squared().squared().times(&x.squared());
            assert!(one.equals(&L::Fp::one(lanes)) == !x.is_zero());
        });
    }
}
