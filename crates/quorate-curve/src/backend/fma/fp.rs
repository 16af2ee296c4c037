//! Eight elements of Fp, one in each lane.
//!
//! An element a is stored as a·2^384 plus a multiple of p, which is the form of blst, in eight limbs of 48 bits with signs.
//! Sums and differences take no carries. In debug builds [`Bound`] checks that every operation is exact.

use core::marker::PhantomData;

use super::{
    bound::Bound,
    kernel::Numbers,
    vector::{Vector, align_stack},
};
use crate::backend::lanes::{
    constant::{Constant, Modulus, doubled, half_of_p},
    field::{Field, Fp2, LANES, Lanes, Mask, Parameters, PrimeField, Wide, Words, invert_lanes},
    instructions::in_lanes,
    unroll::{limbs_of, unroll},
};

/// Eight elements of Fp.
#[derive(Clone, Copy)]
pub struct Fp<V, C, const N: usize> {
    limbs: [V; N],
    bound: Bound,
    curve: PhantomData<C>,
}

/// A curve whose elements have N limbs in vectors V.
pub trait InFma<V: Vector, const N: usize>: Parameters {
    /// Its token, for the same instructions as that of V.
    type Token: Lanes<Curve = Self, Fp = Fp<V, Self, N>>;

    fn token(lanes: V::Token) -> Self::Token;
    fn instructions(lanes: Self::Token) -> V::Token;
}

/// The limbs of one element whose value is at most 0.51p, in a cache line, with zeros behind them if they are fewer.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub struct Row([f64; 8]);

/// The limbs of one register.
macro_rules! part {
    ($limbs:expr, $part:expr) => {
        &limbs_of!(I < N => $limbs[I].part($part))
    };
}

impl<V: Vector, C: InFma<V, N>, const N: usize> Fp<V, C, N> {
    #[inline(always)]
    fn new(limbs: [V; N], bound: Bound) -> Self {
        Self { limbs, bound, curve: PhantomData }
    }

    #[inline(always)]
    fn of_limbs(lanes: V::Token, limbs: &[f64; N]) -> Self {
        Self::new(limbs_of!(I < N => V::splat(lanes, limbs[I])), Bound::CANONICAL)
    }

    /// The proof that the CPU has the instructions.
    #[inline(always)]
    fn token(&self) -> V::Token {
        self.limbs[0].token()
    }

    /// The sum or the difference, by a function of limbs.
    #[inline(always)]
    fn with(&self, other: &Self, limbs: [V; N]) -> Self {
        Self::new(limbs, self.bound.plus(other.bound))
    }

    /// The same element with limbs of one unit and a value of at most 0.51p.
    #[inline(always)]
    fn normalised(&self) -> Self {
        self.bound.assert_normalisable();
        Self::new(normalise::<V, C, N>(self.token(), &self.limbs), Bound::NORMALISED)
    }

    /// The least representative of each lane, not in Montgomery form, in words of 64 bits. One multiplication.
    #[inline(always)]
    fn numbers(&self) -> [[u64; 6]; LANES] {
        let mut one = [0.0; N];
        one[0] = 1.0;
        self.times(&Self::of_limbs(self.token(), &one)).words()
    }

    /// The least representative of each lane, in words of 64 bits.
    #[inline(always)]
    fn words(&self) -> [[u64; 6]; LANES] {
        let limbs = self.normalised().limbs.map(V::store);
        core::array::from_fn(|lane| {
            Numbers::<C, N>::words(&core::array::from_fn(|i| limbs[i][lane] as i64)).map(|word| word as u64)
        })
    }
}

/// The lanes of which something holds.
#[inline(always)]
fn mask_of(numbers: &[[u64; 6]; LANES], holds: impl Fn(&[u64; 6]) -> bool) -> Mask {
    numbers.iter().enumerate().map(|(lane, number)| Mask::from(holds(number)) << lane).sum()
}

impl<V: Vector, C: InFma<V, N>, const N: usize> Field for Fp<V, C, N> {
    type Lanes = C::Token;
    type Fp = Self;
    type Element = C::Element;
    const PARTS: usize = 1;
    type Row = Row;
    const ZERO_ROW: Row = Row([0.0; 8]);

    #[inline(always)]
    fn lanes(&self) -> C::Token {
        C::token(self.token())
    }

    #[inline(always)]
    fn zero(lanes: C::Token) -> Self {
        Self { bound: Bound::ZERO, ..Self::of_limbs(C::instructions(lanes), &[0.0; N]) }
    }

    #[inline(always)]
    fn one(lanes: C::Token) -> Self {
        Self::constant(lanes, const { &Constant::ONE })
    }

    #[inline(always)]
    fn load(lanes: C::Token, elements: &[&C::Element; LANES]) -> Self {
        load(C::instructions(lanes), elements)
    }

    #[inline(always)]
    fn store(&self) -> [C::Element; LANES] {
        store(self.token(), self)
    }

    /// One multiplication.
    #[inline(always)]
    fn from_words(lanes: C::Token, words: &Words) -> Self {
        from_words(C::instructions(lanes), &words[0])
    }

    #[inline(always)]
    fn gather(lanes: C::Token, rows: &[&Row; LANES]) -> Self {
        let vectors = V::of_rows(C::instructions(lanes), &limbs_of!(I < 8 => &rows[I].0));
        Self::new(limbs_of!(I < N => vectors[I]), Bound::NORMALISED)
    }

    #[inline(always)]
    fn scatter(&self) -> [Row; LANES] {
        self.bound.assert_normalised();
        let mut limbs = [V::splat(self.token(), 0.0); 8];
        unroll!(I < N { limbs[I] = self.limbs[I]; });
        let rows = V::to_rows(&limbs);
        limbs_of!(I < 8 => Row(rows[I]))
    }

    #[inline(always)]
    fn blank(&self) -> Mask {
        let mut blank = Mask::MAX;
        unroll!(I < N { blank &= self.limbs[I].is_zero(); });
        blank
    }

    #[inline(always)]
    fn plus(&self, other: &Self) -> Self {
        self.with(other, limbs_of!(I < N => self.limbs[I].plus(other.limbs[I])))
    }

    #[inline(always)]
    fn sum_factor(&self, other: &Self) -> Self {
        self.plus(other)
    }

    #[inline(always)]
    fn minus(&self, other: &Self) -> Self {
        self.with(other, limbs_of!(I < N => self.limbs[I].minus(other.limbs[I])))
    }

    #[inline(always)]
    fn minus_sum(&self, other: &Self) -> Self {
        self.minus(other)
    }

    /// Limbs have signs, so nothing is added.
    #[inline(always)]
    fn subtract<const TIMES: i64, const UNITS: i64>(&self, other: &Self) -> Self {
        self.minus(other)
    }

    #[inline(always)]
    fn negated(&self) -> Self {
        let zero = Self::zero(self.lanes());
        Self { bound: self.bound, ..zero.minus(self) }
    }

    /// The carries cost nearly as much as a small value, so both are made.
    #[inline(always)]
    fn carried(&self) -> Self {
        self.normalised()
    }

    #[inline(always)]
    fn shrunk(&self) -> Self {
        self.normalised()
    }

    #[inline(always)]
    fn factor(&self) -> Self {
        self.normalised()
    }

    #[inline(always)]
    fn times(&self, other: &Self) -> Self {
        let bound = self.bound.of_product(other.bound);
        Self::new(multiply::<V, C, N>(self.token(), &self.limbs, &other.limbs), bound)
    }

    #[inline(always)]
    fn squared(&self) -> Self {
        let bound = self.bound.of_product(self.bound);
        Self::new(square::<V, C, N>(self.token(), &self.limbs), bound)
    }

    #[inline(always)]
    fn times_fp(&self, other: &Self) -> Self {
        self.times(other)
    }

    #[inline(always)]
    fn inverted(&self) -> Self {
        invert_lanes(self.lanes(), self)
    }

    #[inline(always)]
    fn or(&self, mask: Mask, other: &Self) -> Self {
        let limbs = limbs_of!(I < N => self.limbs[I].in_mask(mask, other.limbs[I]));
        Self::new(limbs, self.bound.or(other.bound))
    }

    /// It costs little if no lane is zero.
    #[inline(always)]
    fn is_zero(&self) -> Mask {
        self.bound.assert_normalisable();
        if may_be_zero::<V, C, N>(self.token(), &self.limbs) == 0 { 0 } else { self.normalised().blank() }
    }

    #[inline(always)]
    fn equals(&self, other: &Self) -> Mask {
        self.minus(other).is_zero()
    }

    /// One multiplication.
    #[inline(always)]
    fn is_odd(&self) -> Mask {
        mask_of(&self.numbers(), |number| number[0] & 1 == 1)
    }

    /// One multiplication.
    #[inline(always)]
    fn is_larger(&self) -> Mask {
        mask_of(&self.numbers(), |number| number.iter().rev().gt(const { &half_of_p::<C>() }.iter().rev()))
    }

    #[inline(always)]
    fn image(x: &Self, y: &Self) -> (Self, Self) {
        (*x, *y)
    }

    #[inline(always)]
    fn permuted(&self, from: [i64; LANES]) -> Self {
        Self::new(limbs_of!(I < N => self.limbs[I].permuted(from)), self.bound)
    }

    #[inline(always)]
    fn gathered(&self, other: &Self, from: [i64; LANES]) -> Self {
        let limbs = limbs_of!(I < N => self.limbs[I].gathered(other.limbs[I], from));
        Self::new(limbs, self.bound.or(other.bound))
    }
}

impl<V: Vector, C: InFma<V, N>, const N: usize> PrimeField for Fp<V, C, N> {
    type Curve = C;
    /// Reduced: sums of columns would cost more than their reduction.
    type Products = Self;
    type Link = Self;

    /// A reduction leaves small values.
    const LINES_BETWEEN_SHRINKS: Option<usize> = None;

    #[inline(always)]
    fn constant(lanes: C::Token, constant: &Constant<C>) -> Self {
        Self::of_limbs(C::instructions(lanes), &limbs_of!(I < N => constant.doubles[I]))
    }

    #[inline(always)]
    fn constants(lanes: C::Token, constants: &[Constant<C>; LANES]) -> Self {
        let limbs = limbs_of!(I < N => {
            V::load(C::instructions(lanes), &limbs_of!(LANE < 8 => constants[LANE].doubles[I]))
        });
        Self::new(limbs, Bound::CANONICAL)
    }

    #[inline(always)]
    fn sum_of_two_products(a: [&Self; 2], b: [&Self; 2]) -> Self {
        a[0].times(b[0]).plus(&a[1].times(b[1])).normalised()
    }

    #[inline(always)]
    fn times_in_fp2(a: &Fp2<Self>, b: &Fp2<Self>) -> Fp2<Self> {
        multiply2(a.c0.token(), a, b)
    }

    #[inline(always)]
    fn squared_in_fp2(a: &Fp2<Self>) -> Fp2<Self> {
        square2(a.c0.token(), a)
    }

    #[inline(always)]
    fn wide_product(a: &Fp2<Self>, b: &Fp2<Self>) -> Wide<Self> {
        let Fp2 { c0, c1 } = Self::times_in_fp2(a, b);
        Wide { c0, c1 }
    }

    #[inline(always)]
    fn wide_square(a: &Fp2<Self>) -> Wide<Self> {
        let Fp2 { c0, c1 } = Self::squared_in_fp2(a);
        Wide { c0, c1 }
    }

    #[inline(always)]
    fn sum_of_products<const M: usize>(first: &Self, terms: [(bool, &Self); M]) -> Self {
        let limbs = limbs_of!(I < N => {
            let mut limb = first.limbs[I];
            for (minus, term) in terms {
                limb = if minus { limb.minus(term.limbs[I]) } else { limb.plus(term.limbs[I]) };
            }
            limb
        });
        let mut bound = first.bound;
        for (_, term) in terms {
            bound = bound.plus(term.bound);
        }
        Self::new(limbs, bound)
    }

    #[inline(always)]
    fn nine_times(products: &Self) -> Self {
        let twice = products.plus(products);
        let four_times = twice.plus(&twice);
        products.plus(&four_times.plus(&four_times))
    }

    /// Its carries are taken, and its value is small.
    #[inline(always)]
    fn settled(products: &Self) -> Self {
        products.normalised()
    }

    #[inline(always)]
    fn reduced(products: &Self) -> Self {
        products.normalised()
    }

    #[inline(always)]
    fn add_reduced(&mut self, products: &Self) {
        *self = self.plus(products).normalised();
    }

    #[inline(always)]
    fn to_link(&self) -> Self {
        self.normalised()
    }

    #[inline(always)]
    fn from_link(link: &Self) -> Self {
        *link
    }

    #[inline(always)]
    fn multiply_link(a: &mut Self, b: &Self) {
        a.bound = a.bound.of_product(b.bound);
        multiply_in_place::<V, C, N>(a.token(), &mut a.limbs, &b.limbs);
    }

    #[inline(always)]
    fn square_link(a: &mut Self) {
        a.bound = a.bound.of_product(a.bound);
        square_in_place::<V, C, N>(a.token(), &mut a.limbs);
    }

    #[cfg(test)]
    const LIMB_BITS: usize = 48;

    /// It has limbs of two units and a value of 7p more, with which both factors of a product are nearly as large as they
    /// may be.
    #[cfg(test)]
    fn largest(&self) -> Self {
        let p = Self::of_limbs(self.token(), &Numbers::<C, N>::P);
        let seven = (0..6).fold(p, |sum, _| sum.plus(&p));
        let [limbs] = V::by_parts(|part| [Numbers::<C, N>::carry(part!(seven.limbs, part))]);
        self.normalised().plus(&Self::new(limbs, Bound::SEVEN_P))
    }
}

/// The bound of both parts.
#[inline(always)]
fn bound_in_fp2<V, C, const N: usize>(a: &Fp2<Fp<V, C, N>>) -> Bound {
    a.c0.bound.or(a.c1.bound)
}

// Each kernel runs once for each register.
in_lanes! {
    #[inline(never)]
    fn multiply<V: Vector, C: InFma<V, N>>[N: usize](lanes: V::Token, a: &[V; N], b: &[V; N]) -> [V; N] {
        align_stack();
        let [out] = V::by_parts(|part| [Numbers::<C, N>::product_reduced(part!(a, part), part!(b, part))]);
        out
    }

    #[inline(never)]
    fn square<V: Vector, C: InFma<V, N>>[N: usize](lanes: V::Token, a: &[V; N]) -> [V; N] {
        align_stack();
        let [out] = V::by_parts(|part| [Numbers::<C, N>::square_reduced(part!(a, part))]);
        out
    }

    #[inline(never)]
    fn multiply_in_place<V: Vector, C: InFma<V, N>>[N: usize](lanes: V::Token, a: &mut [V; N], b: &[V; N]) {
        align_stack();
        for part in 0..V::PARTS {
            let words = Numbers::<C, N>::product_reduced(part!(a, part), part!(b, part));
            unroll!(I < N { a[I].put_part(part, words[I]); });
        }
    }

    #[inline(never)]
    fn square_in_place<V: Vector, C: InFma<V, N>>[N: usize](lanes: V::Token, a: &mut [V; N]) {
        align_stack();
        for part in 0..V::PARTS {
            let words = Numbers::<C, N>::square_reduced(part!(a, part));
            unroll!(I < N { a[I].put_part(part, words[I]); });
        }
    }

    #[inline(never)]
    fn multiply2<V: Vector, C: InFma<V, N>>[N: usize](
        lanes: V::Token, a: &Fp2<Fp<V, C, N>>, b: &Fp2<Fp<V, C, N>>,
    ) -> Fp2<Fp<V, C, N>> {
        align_stack();
        let bound = bound_in_fp2(a).of_product_in_fp2(bound_in_fp2(b));
        let [c0, c1] = V::by_parts(|part| {
            let (a, b) = ([part!(a.c0.limbs, part), part!(a.c1.limbs, part)], [part!(b.c0.limbs, part), part!(b.c1.limbs, part)]);
            Numbers::<C, N>::product2_reduced(a, b)
        });
        Fp2 { c0: Fp::new(c0, bound), c1: Fp::new(c1, bound) }
    }

    #[inline(never)]
    fn square2<V: Vector, C: InFma<V, N>>[N: usize](lanes: V::Token, a: &Fp2<Fp<V, C, N>>) -> Fp2<Fp<V, C, N>> {
        align_stack();
        let bound = bound_in_fp2(a).of_square_in_fp2();
        let [c0, c1] = V::by_parts(|part| {
            Numbers::<C, N>::square2(part!(a.c0.limbs, part), part!(a.c1.limbs, part))
        });
        Fp2 { c0: Fp::new(c0, bound), c1: Fp::new(c1, bound) }
    }

    #[inline]
    fn normalise<V: Vector, C: InFma<V, N>>[N: usize](lanes: V::Token, a: &[V; N]) -> [V; N] {
        let [out] = V::by_parts(|part| [Numbers::<C, N>::normalise(part!(a, part))]);
        out
    }

    /// The lanes in which the number, less the multiple of p beside it, has a lowest limb that is a multiple of 2^48.
    #[inline]
    fn may_be_zero<V: Vector, C: InFma<V, N>>[N: usize](lanes: V::Token, a: &[V; N]) -> Mask {
        let [[rest]] = V::by_parts(|part| [[Numbers::<C, N>::lowest_limb(part!(a, part))]]);
        rest.is_zero()
    }

    /// If R is that of the elements, their words are only cut into limbs.
    fn load<V: Vector, C: InFma<V, N>>[N: usize](lanes: V::Token, elements: &[&C::Element; LANES]) -> Fp<V, C, N> {
        let mut words = [[0; LANES]; 6];
        for (lane, element) in elements.iter().enumerate() {
            for (word, limb) in words.iter_mut().zip(C::words(element)) {
                word[lane] = limb;
            }
        }
        let vectors = V::limbs_of_words(lanes, &words);
        let limbs = limbs_of!(I < N => vectors[I]);
        let [limbs] = V::by_parts(|part| [Numbers::<C, N>::carry(part!(limbs, part))]);
        let out = Fp::new(limbs, Bound::CANONICAL);
        if C::ELEMENT_BITS == bits::<N>() { out } else { out.times(&Fp::constant(C::token(lanes), const { &power(2 * bits::<N>() - C::ELEMENT_BITS) })) }
    }

    fn from_words<V: Vector, C: InFma<V, N>>[N: usize](lanes: V::Token, words: &[[u64; LANES]; 6]) -> Fp<V, C, N> {
        let vectors = V::limbs_of_words(lanes, words);
        let number = Fp::new(limbs_of!(I < N => vectors[I]), Bound::UNSIGNED);
        number.times(&Fp::constant(C::token(lanes), const { &power(2 * bits::<N>()) }))
    }

    fn store<V: Vector, C: InFma<V, N>>[N: usize](lanes: V::Token, a: &Fp<V, C, N>) -> [C::Element; LANES] {
        let of_elements = if C::ELEMENT_BITS == bits::<N>() { *a } else { a.times(&Fp::constant(C::token(lanes), const { &power(C::ELEMENT_BITS) })) };
        of_elements.words().map(C::of_words)
    }
}

/// The bits of all limbs.
const fn bits<const N: usize>() -> u32 {
    48 * N as u32
}

/// The constant whose limbs are those of two to this power modulo p.
const fn power<C: Modulus>(exponent: u32) -> Constant<C> {
    Constant::of_forms([0; 6], doubled::<C>([1, 0, 0, 0, 0, 0], exponent), [0; 6])
}

#[cfg(test)]
mod tests {
    use alloc::{vec, vec::Vec};

    use blst::{blst_fp, blst_fp2};

    use super::*;
    use crate::{
        arithmetic::field::Field as _,
        backend::{
            fma::{
                kernel::tests::{edges, modulo_p, r},
                tests::{for_each_half, for_each_vector},
            },
            lanes::field::invert_all,
        },
    };

    type Eight<V> = Fp<V, crate::pairing::Bls12381, 8>;
    const P: [f64; 8] = Numbers::<crate::pairing::Bls12381, 8>::P;

    /// Vectors whose token is that of lanes of BLS12-381.
    trait Eights: Vector<Token: Lanes<Curve = crate::pairing::Bls12381, Fp = Eight<Self>>> {}

    impl<V: Vector<Token: Lanes<Curve = crate::pairing::Bls12381, Fp = Eight<V>>>> Eights for V {}

    /// Numbers with these limbs, one in each lane, of at most so many units and p.
    fn of_lanes<V: Eights>(lanes: V::Token, numbers: &[[f64; 8]], units: f64, value: f64) -> Eight<V> {
        let limbs = limbs_of!(I < 8 => V::load(lanes, &core::array::from_fn(|lane| numbers[lane][I])));
        Fp::new(limbs, Bound::new(units, value))
    }

    /// The element of a lane, as blst computes it from the limbs.
    fn lane<V: Eights>(a: &Eight<V>, lane: usize) -> blst_fp {
        modulo_p(&a.limbs.map(|limb| limb.store()[lane]))
    }

    fn agrees<V: Eights>(lanes: V::Token) {
        let whole = |mut edges: Vec<[f64; 8]>| {
            edges.truncate(edges.len() / 8 * 8);
            edges
        };
        let (twos, ones) = (whole(edges(2.0)), whole(edges(1.0)));
        for shift in 0..twos.len() {
            for i in (0..twos.len()).step_by(8) {
                let numbers: Vec<_> = (0..8).map(|lane| twos[(i + lane + shift) % twos.len()]).collect();
                let (a, b) = (of_lanes(lanes, &twos[i..], 2.001, 1.5), of_lanes(lanes, &numbers, 2.001, 1.5));
                let (product, squared, normal) = (a.times(&b), a.squared(), a.normalised());
                let ones =
                    [&ones[i..], &ones[ones.len() - 8 - i..]].map(|ones| of_lanes::<V>(lanes, ones, 1.0001, 1.5));
                let (x, y) = (Fp2 { c0: a, c1: b }, Fp2 { c0: ones[0], c1: ones[1] });
                let (product2, squared2) = (Eight::times_in_fp2(&x, &y), Eight::squared_in_fp2(&x));
                let (mut link, mut chain) = (a, a);
                Eight::multiply_link(&mut link, &b);
                Eight::square_link(&mut chain);
                for j in 0..8 {
                    let (x, y) = (lane(&a, j), lane(&b, j));
                    assert_eq!(lane(&product, j).times(&r()), x.times(&y));
                    assert_eq!(lane(&squared, j).times(&r()), x.squared());
                    assert_eq!((lane(&link, j), lane(&chain, j)), (lane(&product, j), lane(&squared, j)));
                    assert_eq!(lane(&normal, j), x);
                    let (x, z) = (blst_fp2 { fp: [x, y] }, blst_fp2 { fp: ones.map(|one| lane(&one, j)) });
                    let times_r = |a: &Fp2<Eight<V>>| blst_fp2 { fp: [&a.c0, &a.c1].map(|c| lane(c, j).times(&r())) };
                    assert_eq!(times_r(&product2), x.times(&z));
                    assert_eq!(times_r(&squared2), x.squared());
                }
            }
        }
    }

    #[test]
    fn limbs_at_the_edges_in_every_lane() {
        for_each_vector!(agrees);
    }

    /// The lower four lanes alone have the limbs that they have among eight.
    #[test]
    fn half_of_the_lanes_compute_the_same() {
        for_each_half!(halves_agree);
    }

    fn halves_agree<V: Eights, H: Eights>(lanes: V::Token)
    where
        V::Token: Lanes<Narrow = H::Token>,
    {
        let edges = edges(1.0);
        for i in (0..edges.len() - 7).step_by(4) {
            let (x, y) = (&edges[i..i + 8], &edges[edges.len() - 8 - i..edges.len() - i]);
            for shift in 0..8 {
                let y: Vec<_> = (0..8).map(|lane| y[(lane + shift) % 8]).collect();
                let whole = results::<V>(lanes, x, &y);
                let half = results::<H>(lanes.narrow(), x, &y);
                for (whole, half) in whole.iter().zip(&half) {
                    for (whole, half) in whole.limbs.iter().zip(&half.limbs) {
                        let (whole, half) = (whole.store(), half.store());
                        assert_eq!(half, core::array::from_fn(|lane| if lane < 4 { whole[lane] } else { 0.0 }));
                    }
                }
                let mut whole = [of_lanes::<V>(lanes, x, 1.0001, 1.5)];
                let mut half = [of_lanes::<H>(lanes.narrow(), x, 1.0001, 1.5)];
                invert_all(&mut whole);
                invert_all(&mut half);
                assert_eq!(half[0].store()[..4], whole[0].store()[..4]);
                assert_eq!(half[0].is_zero(), whole[0].is_zero() & 0x0f);
            }
        }
    }

    /// The results of every operation in which a lane is computed from lanes of its own half.
    fn results<V: Eights>(lanes: V::Token, x: &[[f64; 8]], y: &[[f64; 8]]) -> Vec<Eight<V>> {
        let [a, b] = [x, y].map(|numbers| of_lanes::<V>(lanes, numbers, 1.0001, 1.5));
        let (mut link, mut chain) = (a, a);
        Eight::multiply_link(&mut link, &b);
        Eight::square_link(&mut chain);
        let both = Fp2 { c0: a, c1: b };
        let (product, square) = (Eight::times_in_fp2(&both, &both.conjugated()), Eight::squared_in_fp2(&both));
        let stored = a.store();
        let rows = a.shrunk().scatter();
        let from = [3, 0, 1, 1, 4, 5, 6, 7];
        let zeros = a.minus(&a.or(0b0101_0110, &b));
        vec![
            a.plus(&b),
            a.minus(&b),
            a.negated(),
            a.times(&b),
            a.squared(),
            a.shrunk(),
            link,
            chain,
            product.c0,
            product.c1,
            square.c0,
            square.c1,
            zeros.or(zeros.is_zero(), &b),
            a.permuted(from),
            a.gathered(&b, [8, 1, 10, 3, 4, 5, 6, 7]),
            Fp::load(lanes, &stored.each_ref()),
            Fp::gather(lanes, &rows.each_ref()),
            Fp::constants(lanes, &[Constant::ONE; LANES]),
            Fp::constant(lanes, &Constant::ONE),
        ]
    }

    /// Zero as every multiple of p and beside it, with limbs of one unit and of many.
    fn zeros<V: Eights>(lanes: V::Token) {
        for times in -24..=24 {
            for more in [-1.0, 0.0, 1.0] {
                let mut limbs = P.map(|limb| limb * f64::from(times));
                limbs[0] += more;
                // 2^48 in one limb is one in the next.
                for lent in 0..7 {
                    let mut unbalanced = limbs;
                    unbalanced[lent] += 3.0 * (1_u64 << 48) as f64;
                    unbalanced[lent + 1] -= 3.0;
                    for limbs in [limbs, unbalanced] {
                        let number = of_lanes::<V>(lanes, &[limbs; 8], 31.0, 24.01);
                        assert_eq!(number.is_zero(), if more == 0.0 { Mask::MAX } else { 0 }, "{times}p + {more}");
                        let one = Fp::one(lanes);
                        for lane in 0..8 {
                            let expected = if more == 0.0 { 1 << lane } else { 0 };
                            assert_eq!(number.or(1 << lane, &one).is_zero(), expected);
                        }
                        let small = number.shrunk();
                        for lane in 0..8 {
                            assert_eq!(small.limbs[7].store()[lane], 0.0, "{times}p + {more}");
                        }
                        let expected = modulo_p(&limbs).times(&modulo_p(&[1.0]));
                        assert_eq!(small.store(), [blst_fp { l: expected_words(more) }; 8], "{expected:?}");
                    }
                }
            }
        }
    }

    /// The words of -1, 0 or 1 modulo p, which are a Montgomery form.
    fn expected_words(n: f64) -> [u64; 6] {
        let mut words = [0; 6];
        if n < 0.0 {
            words = crate::pairing::Bls12381::P;
            words[0] -= 1;
        } else {
            words[0] = n as u64;
        }
        words
    }

    #[test]
    fn zero_in_every_form() {
        for_each_vector!(zeros);
    }

    fn words_of(limbs: [i64; 8]) -> [u64; 6] {
        Numbers::<crate::pairing::Bls12381, 8>::words(&limbs).map(|word| word as u64)
    }

    /// Numbers at ±p/2 and beside every limb of it have their least representatives.
    #[test]
    fn words_of_numbers_with_signs() {
        let half = limbs_of!(I < 8 => (P[I] / 2.0).trunc());
        for sign in [1.0, -1.0] {
            for place in 0..8 {
                for more in [-1.0, 0.0, 1.0] {
                    let mut limbs = half.map(|limb| limb * sign);
                    limbs[place] += more;
                    let mut words = [0; 6];
                    // SAFETY: six words out.
                    unsafe { blst::blst_uint64_from_fp(words.as_mut_ptr(), &modulo_p(&limbs)) };
                    assert_eq!(words_of(limbs.map(|limb| limb as i64)), words);
                }
            }
        }
        for n in [-1.0, 0.0, 1.0] {
            assert_eq!(words_of([n as i64, 0, 0, 0, 0, 0, 0, 0]), expected_words(n));
        }
    }
}
