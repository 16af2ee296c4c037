//! Eight elements of Fp, one in each lane.
//!
//! An element a is stored as a·R plus a multiple of p, in N limbs of B bits or a little more ([`kernel`](super::kernel)). Sums and
//! differences take no carries, and a product accepts limbs of up to four units of 2^B. The documentation of each
//! operation says what limbs and values it accepts and gives, in units of 2^B and in p; in debug builds [`Bound`]
//! checks it.
//!
//! The file is long because a third of it are tests, which need the limbs.

use core::marker::PhantomData;

use super::{
    Ifma,
    bound::Bound,
    kernel::{Columns, Numbers},
    kernel_fp2,
    kernel52::Numbers52,
    range::Range,
    vector::Vector,
    word::Word,
};
use crate::backend::lanes::{
    constant::Constant,
    field::{Field, Fp2, LANES, Lanes, Mask, Parameters, PrimeField, Wide, Words, invert_lanes},
    instructions::in_lanes,
    integer::{Bits, Integer},
    unroll::{limbs_of, unroll},
};

/// Eight elements of Fp.
#[derive(Clone, Copy)]
pub struct Fp<C, const N: usize> {
    pub(super) limbs: [Vector; N],
    pub(super) bound: Bound,
    curve: PhantomData<C>,
}

/// A curve whose elements have N limbs in these lanes.
pub trait InIfma<const N: usize>: Parameters {
    /// Its token, with which `Ifma<Self>` is meant.
    type Token: Lanes<Curve = Self, Fp = Fp<Self, N>>;

    fn token(lanes: Ifma) -> Self::Token;
    fn ifma(lanes: Self::Token) -> Ifma;
}

/// A number that is not reduced yet.
#[derive(Clone, Copy)]
pub struct Products<const N: usize> {
    columns: Columns<Vector, N>,
    range: Range,
}

/// The limbs of one element below 2.1p, in a cache line, with zeros behind them if they are fewer.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub struct Row([i64; 8]);

impl<C: InIfma<N>, const N: usize> Fp<C, N> {
    #[inline(always)]
    fn new(limbs: [Vector; N], bound: Bound) -> Self {
        Self { limbs, bound, curve: PhantomData }
    }

    /// A canonical number a·R mod p in every lane.
    #[inline(always)]
    pub(super) fn of_limbs(lanes: Ifma, limbs: &[i64; N]) -> Self {
        Self::new(limbs_of!(I < N => Vector::splat(lanes, limbs[I])), Bound::CANONICAL)
    }

    /// The proof that the CPU has the instructions.
    #[inline(always)]
    fn ifma(&self) -> Ifma {
        self.limbs[0].lanes()
    }

    /// The canonical number of each lane, not in Montgomery form, in limbs of B bits. One multiplication.
    #[inline(always)]
    fn number(&self) -> Self {
        let mut one = [0; N];
        one[0] = 1;
        canonical(self.ifma(), &self.times(&Self::of_limbs(self.ifma(), &one)))
    }
}

impl<C: InIfma<N>, const N: usize> Field for Fp<C, N> {
    type Lanes = C::Token;
    type Fp = Self;
    type Element = C::Element;
    const PARTS: usize = 1;
    type Row = Row;
    const ZERO_ROW: Row = Row([0; 8]);

    #[inline(always)]
    fn lanes(&self) -> C::Token {
        C::token(self.ifma())
    }

    #[inline(always)]
    fn zero(lanes: C::Token) -> Self {
        Self::of_limbs(C::ifma(lanes), &[0; N])
    }

    #[inline(always)]
    fn one(lanes: C::Token) -> Self {
        Self::constant(lanes, &Constant::ONE)
    }

    /// One multiplication.
    #[inline(always)]
    fn load(lanes: C::Token, elements: &[&C::Element; LANES]) -> Self {
        load(C::ifma(lanes), elements)
    }

    /// One multiplication.
    #[inline(always)]
    fn store(&self) -> [C::Element; LANES] {
        store(self.ifma(), self)
    }

    /// One multiplication.
    #[inline(always)]
    fn from_words(lanes: C::Token, words: &Words) -> Self {
        from_words(C::ifma(lanes), &words[0], &Numbers::<C, N>::R2)
    }

    #[inline(always)]
    fn gather(lanes: C::Token, rows: &[&Row; LANES]) -> Self {
        let vectors = Vector::transposed(&limbs_of!(I < 8 => Vector::load(C::ifma(lanes), &rows[I].0)));
        Self::new(limbs_of!(I < N => vectors[I]), Bound::new(1, 2.1))
    }

    #[inline(always)]
    fn scatter(&self) -> [Row; LANES] {
        self.bound.assert_factor(1);
        self.bound.assert_value(2.1);
        let mut limbs = [self.limbs[0].splat(0); 8];
        unroll!(I < N { limbs[I] = self.limbs[I]; });
        let vectors = Vector::transposed(&limbs);
        limbs_of!(I < 8 => Row(vectors[I].words()))
    }

    #[inline(always)]
    fn blank(&self) -> Mask {
        let mut bits = self.limbs[0];
        unroll!(I < N { bits = bits.or(self.limbs[I]); });
        bits.is_zero()
    }

    #[inline(always)]
    fn plus(&self, other: &Self) -> Self {
        Self::new(limbs_of!(I < N => self.limbs[I].plus(other.limbs[I])), self.bound.plus(other.bound))
    }

    #[inline(always)]
    fn sum_factor(&self, other: &Self) -> Self {
        self.plus(other).carried()
    }

    /// It adds 2 units and 4p to the bound.
    #[inline(always)]
    fn minus(&self, other: &Self) -> Self {
        self.subtract::<4, 1>(other)
    }

    /// It adds 3 units and 8p to the bound.
    #[inline(always)]
    fn minus_sum(&self, other: &Self) -> Self {
        self.subtract::<8, 2>(other)
    }

    /// It adds `UNITS` + 1 units and `TIMES`·p to the bound.
    #[inline(always)]
    fn subtract<const TIMES: i64, const UNITS: i64>(&self, other: &Self) -> Self {
        let multiple = const { Numbers::<C, N>::multiple(TIMES, UNITS) };
        other.bound.assert_limbs(UNITS as u64);
        other.bound.assert_value(TIMES as f64 - 0.01);
        let limbs = limbs_of!(I < N => {
            let limb = self.limbs[I];
            limb.plus(limb.splat(multiple[I])).minus(other.limbs[I])
        });
        Self::new(limbs, self.bound.plus(Bound::new(UNITS as u64 + 1, TIMES as f64)))
    }

    /// It has limbs below 2 units and a value of at most 4p.
    #[inline(always)]
    fn negated(&self) -> Self {
        Self::zero(self.lanes()).minus(self)
    }

    #[inline(always)]
    fn carried(&self) -> Self {
        Self::new(Numbers::<C, N>::carry(&self.limbs), self.bound.carried())
    }

    /// It accepts limbs below 8 units and values below 32p.
    #[inline(always)]
    fn shrunk(&self) -> Self {
        self.bound.assert_factor(8);
        self.bound.assert_value(31.9);
        Self::new(shrink::<C, N>(self.ifma(), &self.limbs), Bound::new(1, 2.1))
    }

    /// The number itself.
    #[inline(always)]
    fn factor(&self) -> Self {
        *self
    }

    /// The product of factors with limbs below 4 units. It has limbs below one unit and a value of about 2p.
    #[inline(always)]
    fn times(&self, other: &Self) -> Self {
        self.bound.assert_factor(4);
        other.bound.assert_factor(4);
        Self::new(multiply::<C, N>(self.ifma(), &self.limbs, &other.limbs), self.bound.of_product(other.bound))
    }

    /// It has limbs below one unit and a value of about 2p.
    #[inline(always)]
    fn squared(&self) -> Self {
        self.bound.assert_factor(2);
        Self::new(square::<C, N>(self.ifma(), &self.limbs), self.bound.of_product(self.bound))
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
        is_zero(self.ifma(), self)
    }

    #[inline(always)]
    fn equals(&self, other: &Self) -> Mask {
        self.minus(other).is_zero()
    }

    /// One multiplication.
    #[inline(always)]
    fn is_odd(&self) -> Mask {
        let lowest = self.number().limbs[0];
        lowest.meets(lowest.splat(1))
    }

    /// One multiplication.
    #[inline(always)]
    fn is_larger(&self) -> Mask {
        let number = self.number().limbs;
        let half = &const { Numbers::<C, N>::HALF_OF_P };
        let less = Numbers::<C, N>::carry(&limbs_of!(I < N => number[I].minus(number[I].splat(half[I]))));
        less[N - 1].splat(-1).is_less(less[N - 1])
    }

    #[inline(always)]
    fn image(x: &Self, y: &Self) -> (Self, Self) {
        (*x, *y)
    }

    #[inline(always)]
    fn permuted(&self, from: [i64; LANES]) -> Self {
        let from = Vector::load(self.ifma(), &from);
        Self::new(limbs_of!(I < N => self.limbs[I].permuted(from)), self.bound)
    }

    #[inline(always)]
    fn gathered(&self, other: &Self, from: [i64; LANES]) -> Self {
        let from = Vector::load(self.ifma(), &from);
        let limbs = limbs_of!(I < N => self.limbs[I].gathered(other.limbs[I], from));
        Self::new(limbs, self.bound.or(other.bound))
    }
}

impl<C: InIfma<N>, const N: usize> PrimeField for Fp<C, N> {
    type Curve = C;
    type Products = Products<N>;
    /// Limbs of 52 bits: see [`kernel52`](super::kernel52).
    type Link = [Vector; N];

    /// Each line adds about 2p to a coefficient, and after a ninth the sums would be too far below zero.
    const LINES_BETWEEN_SHRINKS: Option<usize> = Some(8);

    #[inline(always)]
    fn constant(lanes: C::Token, constant: &Constant<C>) -> Self {
        Self::of_limbs(C::ifma(lanes), &limbs_of!(I < N => constant.integers[I]))
    }

    #[inline(always)]
    fn constants(lanes: C::Token, constants: &[Constant<C>; LANES]) -> Self {
        let of_limb = |limb: usize| constants.map(|constant| constant.integers[limb]);
        Self::new(limbs_of!(I < N => Vector::load(C::ifma(lanes), &of_limb(I))), Bound::CANONICAL)
    }

    /// It has limbs below one unit and a value of about 2p.
    #[inline(always)]
    fn sum_of_two_products(a: [&Self; 2], b: [&Self; 2]) -> Self {
        a.iter().for_each(|a| a.bound.assert_factor(4));
        b.iter().for_each(|b| b.bound.assert_factor(2));
        let bound = Bound::of_two_products(a.map(|a| a.bound), b.map(|b| b.bound));
        Self::new(multiply_twice::<C, N>(a[0].ifma(), [&a[0].limbs, &a[1].limbs], [&b[0].limbs, &b[1].limbs]), bound)
    }

    /// It accepts limbs below 2 units, and gives limbs below one unit and values of about 2p.
    #[inline(always)]
    fn times_in_fp2(a: &Fp2<Self>, b: &Fp2<Self>) -> Fp2<Self> {
        for part in [&a.c0, &a.c1, &b.c0, &b.c1] {
            part.bound.assert_factor(2);
            part.bound.assert_value(32.0);
        }
        multiply2::<C, N>(a.c0.ifma(), &limbs_in_fp2(a), &limbs_in_fp2(b))
    }

    /// It accepts limbs below 2 units and values below 16p, and gives limbs below one unit and values of about 2p.
    #[inline(always)]
    fn squared_in_fp2(a: &Fp2<Self>) -> Fp2<Self> {
        for part in [&a.c0, &a.c1] {
            part.bound.assert_factor(2);
            part.bound.assert_value(15.99);
        }
        square2(a.c0.ifma(), a)
    }

    #[inline(always)]
    fn wide_product(a: &Fp2<Self>, b: &Fp2<Self>) -> Wide<Self> {
        [&a.c0, &a.c1, &b.c0, &b.c1].iter().for_each(|part| part.bound.assert_factor(2));
        let range = Range::of_product(a.c0.bound.or(a.c1.bound), b.c0.bound.or(b.c1.bound));
        wide_product::<C, N>(a.c0.ifma(), &limbs_in_fp2(a), &limbs_in_fp2(b), range)
    }

    #[inline(always)]
    fn wide_square(a: &Fp2<Self>) -> Wide<Self> {
        [&a.c0, &a.c1].iter().for_each(|part| part.bound.assert_factor(2));
        wide_square(a.c0.ifma(), a)
    }

    #[inline(always)]
    fn sum_of_products<const M: usize>(first: &Products<N>, terms: [(bool, &Products<N>); M]) -> Products<N> {
        let Products { mut columns, mut range } = *first;
        unroll!(H in [0 1] { unroll!(I < N {
            let mut column = columns[H][I];
            for (minus, term) in terms {
                column = if minus { column.minus(term.columns[H][I]) } else { column.plus(term.columns[H][I]) };
            }
            columns[H][I] = column;
        }); });
        for (minus, term) in terms {
            range = if minus { range.minus(term.range) } else { range.plus(term.range) };
        }
        Products { columns, range }
    }

    #[inline(always)]
    fn nine_times(products: &Products<N>) -> Products<N> {
        let Products { mut columns, range } = *products;
        unroll!(H in [0 1] { unroll!(I < N { columns[H][I] = columns[H][I].plus(columns[H][I].scaled(3)); }); });
        Products { columns, range: range.nine_times() }
    }

    /// The products themselves: columns have room for large sums.
    #[inline(always)]
    fn settled(products: &Products<N>) -> Products<N> {
        *products
    }

    /// The result is about 2p.
    #[inline(always)]
    fn reduced(products: &Products<N>) -> Self {
        let mut out = Self::of_limbs(products.columns[0][0].lanes(), &[0; N]);
        out.add_reduced(products);
        out
    }

    /// It adds about 2p to the value.
    #[inline(always)]
    fn add_reduced(&mut self, products: &Products<N>) {
        lift_and_reduce::<C, N>(self.ifma(), &products.columns, &mut self.limbs);
        products.range.assert_reducible::<C>();
        self.bound = self.bound.plus_reduced(products.range.over_r::<C>());
    }

    #[inline(always)]
    fn to_link(&self) -> [Vector; N] {
        to_limbs_of_52(self.ifma(), self)
    }

    #[inline(always)]
    fn from_link(link: &[Vector; N]) -> Self {
        from_limbs_of_52(link[0].lanes(), link)
    }

    #[inline(always)]
    fn multiply_link(a: &mut [Vector; N], b: &[Vector; N]) {
        multiply52::<C, N>(a[0].lanes(), a, b);
    }

    #[inline(always)]
    fn square_link(a: &mut [Vector; N]) {
        square52::<C, N>(a[0].lanes(), a);
    }

    #[cfg(test)]
    const LIMB_BITS: usize = C::INTEGER_BITS as usize;

    /// It has limbs of nearly four units and a value of more than 40p.
    #[cfg(test)]
    fn largest(&self) -> Self {
        let mut out = *self;
        for _ in 0..4 {
            out = out.minus_sum(&Self::zero(self.lanes())).carried();
        }
        out.minus_sum(&Self::zero(self.lanes()))
    }
}

/// The limbs of both parts. As two references they keep the compiler from copying all limbs to the stack first, which takes
/// a tenth of a product.
#[inline(always)]
fn limbs_in_fp2<C, const N: usize>(a: &Fp2<Fp<C, N>>) -> [&[Vector; N]; 2] {
    [&a.c0.limbs, &a.c1.limbs]
}

/// An element of Fp2 from what the kernels of Fp2 give.
#[inline(always)]
fn in_fp2<C: InIfma<N>, const N: usize>([c0, c1]: [[Vector; N]; 2]) -> Fp2<Fp<C, N>> {
    Fp2 { c0: Fp::new(c0, Bound::PRODUCT_IN_FP2), c1: Fp::new(c1, Bound::PRODUCT_IN_FP2) }
}

in_lanes! {
    #[inline(never)]
    fn multiply<C: InIfma<N>>[N: usize](lanes: Ifma, a: &[Vector; N], b: &[Vector; N]) -> [Vector; N] {
        Numbers::<C, N>::product_reduced(a, b)
    }

    #[inline(never)]
    fn multiply_twice<C: InIfma<N>>[N: usize](lanes: Ifma, a: [&[Vector; N]; 2], b: [&[Vector; N]; 2]) -> [Vector; N] {
        Numbers::<C, N>::two_products_reduced(a, b)
    }

    #[inline(never)]
    fn square<C: InIfma<N>>[N: usize](lanes: Ifma, a: &[Vector; N]) -> [Vector; N] {
        Numbers::<C, N>::square_reduced(a)
    }

    #[inline(never)]
    fn multiply2<C: InIfma<N>>[N: usize](lanes: Ifma, a: &[&[Vector; N]; 2], b: &[&[Vector; N]; 2]) -> Fp2<Fp<C, N>> {
        in_fp2(kernel_fp2::product_reduced::<C, N, _>(a, b))
    }

    #[inline(never)]
    fn square2<C: InIfma<N>>[N: usize](lanes: Ifma, a: &Fp2<Fp<C, N>>) -> Fp2<Fp<C, N>> {
        in_fp2(kernel_fp2::square_reduced::<C, N, _>(&a.c0.limbs, &a.c1.limbs))
    }

    #[inline(never)]
    fn wide_product<C: InIfma<N>>[N: usize](
        lanes: Ifma, a: &[&[Vector; N]; 2], b: &[&[Vector; N]; 2], range: Range,
    ) -> Wide<Fp<C, N>> {
        let [c0, c1] = kernel_fp2::columns::<C, N, _>(a, b);
        Wide { c0: Products { columns: c0, range }, c1: Products { columns: c1, range } }
    }

    #[inline(never)]
    fn wide_square<C: InIfma<N>>[N: usize](lanes: Ifma, a: &Fp2<Fp<C, N>>) -> Wide<Fp<C, N>> {
        let [c0, c1] = kernel_fp2::square_columns::<C, 8, N, _>(&a.c0.limbs, &a.c1.limbs);
        let range = Range::of_square(a.c0.bound.or(a.c1.bound));
        Wide { c0: Products { columns: c0, range }, c1: Products { columns: c1, range } }
    }

    #[inline(never)]
    fn lift_and_reduce<C: InIfma<N>>[N: usize](lanes: Ifma, a: &Columns<Vector, N>, to: &mut [Vector; N]) {
        *to = Numbers::<C, N>::add_reduced(to, a);
    }

    #[inline(never)]
    fn multiply52<C: InIfma<N>>[N: usize](lanes: Ifma, a: &mut [Vector; N], b: &[Vector; N]) {
        *a = Numbers52::<C, N>::product_reduced(a, b);
    }

    #[inline(never)]
    fn square52<C: InIfma<N>>[N: usize](lanes: Ifma, a: &mut [Vector; N]) {
        *a = Numbers52::<C, N>::square_reduced(a);
    }

    /// The limbs of a·2^(52·N) modulo p: a product multiplies by 2^(52·N - B·N), then bits move between limbs.
    fn to_limbs_of_52<C: InIfma<N>>[N: usize](lanes: Ifma, a: &Fp<C, N>) -> [Vector; N] {
        let a = a.times(&Fp::of_limbs(lanes, const { &Numbers::<C, N>::TO_52 })).limbs;
        Numbers::<C, N>::to_limbs_of_52(&a)
    }

    fn from_limbs_of_52<C: InIfma<N>>[N: usize](lanes: Ifma, a: &[Vector; N]) -> Fp<C, N> {
        let limbs = Numbers::<C, N>::of_limbs_of_52(a);
        Fp::new(limbs, Bound::new(1, 3.0)).times(&Fp::of_limbs(lanes, const { &Numbers::<C, N>::FROM_52 }))
    }

    fn load<C: InIfma<N>>[N: usize](lanes: Ifma, elements: &[&C::Element; LANES]) -> Fp<C, N> {
        let mut words = [[0; LANES]; 6];
        for (lane, element) in elements.iter().enumerate() {
            for (word, limb) in words.iter_mut().zip(C::words(element)) {
                word[lane] = limb;
            }
        }
        from_words(lanes, &words, const { &Numbers::<C, N>::FROM_ELEMENT })
    }

    fn from_words<C: InIfma<N>>[N: usize](lanes: Ifma, words: &[[u64; LANES]; 6], factor: &[i64; N]) -> Fp<C, N> {
        let mut vectors = [Vector::splat(lanes, 0); 6];
        for (vector, words) in vectors.iter_mut().zip(words) {
            *vector = Vector::load_words(lanes, words);
        }
        let limbs = Numbers::<C, N>::of_words(&vectors);
        // 2^384 is below 10p on BLS12-381, and on BN254 numbers have 256 bits, which is below 6p.
        Fp::new(limbs, Bound::new(1, 10.0)).times(&Fp::of_limbs(lanes, factor))
    }

    fn store<C: InIfma<N>>[N: usize](lanes: Ifma, a: &Fp<C, N>) -> [C::Element; LANES] {
        let number = canonical(lanes, &a.times(&Fp::of_limbs(lanes, const { &Numbers::<C, N>::TO_ELEMENT })));
        let words = Numbers::<C, N>::words(&number.limbs).map(Vector::words);
        core::array::from_fn(|lane| C::of_words(core::array::from_fn(|word| words[word][lane] as u64)))
    }

    #[inline]
    fn shrink<C: InIfma<N>>[N: usize](lanes: Ifma, a: &[Vector; N]) -> [Vector; N] {
        Numbers::<C, N>::shrunk(a)
    }

    /// The least representative of a product.
    fn canonical<C: InIfma<N>>[N: usize](lanes: Ifma, a: &Fp<C, N>) -> Fp<C, N> {
        a.bound.assert_factor(1);
        a.bound.assert_value(2.99);
        Fp::new(Numbers::<C, N>::canonical(&a.limbs), Bound::CANONICAL)
    }

    fn is_zero<C: InIfma<N>>[N: usize](lanes: Ifma, a: &Fp<C, N>) -> Mask {
        a.bound.assert_value(7.99);
        // The lowest limb of a zero is the lowest limb of one of eight multiples of p.
        let lowest = a.limbs[0].low_limb(C::INTEGER_BITS);
        let mut perhaps: Mask = 0;
        for multiple in const { lowest_limbs::<C, N>() } {
            perhaps |= lowest.is_same(Vector::splat(lanes, multiple));
        }
        if perhaps == 0 {
            return 0;
        }
        // A product that is zero is 0, p or 2p. Its carries are taken, so it has exactly their limbs.
        let product = a.times(&Fp::constant(C::token(lanes), &Constant::ONE));
        let mut zero: Mask = 0;
        for multiple in const { [[0; N], Numbers::<C, N>::multiple(1, 0), Numbers::<C, N>::multiple(2, 0)] } {
            let mut same = perhaps;
            for (limb, of_multiple) in product.limbs.iter().zip(multiple) {
                same = limb.is_same_in(same, Vector::splat(lanes, of_multiple));
            }
            zero |= same;
        }
        zero
    }
}

/// The lowest limbs of 0, p, …, 7p.
const fn lowest_limbs<C: InIfma<N>, const N: usize>() -> [i64; 8] {
    let mut out = [0; 8];
    let mut i = 0;
    while i < 8 {
        out[i] = Numbers::<C, N>::multiple(i as i64, 0)[0];
        i += 1;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arithmetic::field::Field as _;
    use crate::backend::{
        ifma::kernel::tests::{Eight, modulo_p},
        lanes::{
            fp2::Fp2,
            tests::{elements2, ifma_or_skip, load2},
            wide::Wide,
        },
    };

    type Fp = super::Fp<crate::pairing::Bls12381, 8>;
    type Limbs = [i64; 8];
    const P: Limbs = Eight::P;

    /// `times`·p + `more` in every lane: the largest number that a bound allows, or one beside an edge.
    fn near_multiple(lanes: Ifma, times: i64, more: i64) -> Fp {
        let mut limbs = Eight::multiple(times, 0);
        limbs[0] += more;
        let bound = Bound::new(1, times as f64 + if more < 0 { -0.01 } else { 0.01 });
        Fp { bound, ..Fp::of_limbs(lanes, &Eight::carry(&limbs)) }
    }

    /// The limbs of the first lane.
    fn first_lane(a: &Fp) -> Limbs {
        a.limbs.map(|limb| limb.words()[0])
    }

    /// Beside every multiple of 2p that can be subtracted: never too much is subtracted, and the rest is below 2.1p.
    #[test]
    fn shrunk_beside_every_multiple() {
        let Some(lanes) = ifma_or_skip() else { return };
        for times in 0..=31 {
            for more in [-1, 0, 1, P[7]] {
                if times == 0 && more < 0 {
                    continue;
                }
                let number = near_multiple(lanes, times, more);
                let limbs = first_lane(&number.shrunk());
                assert!(limbs.iter().all(|limb| *limb >= 0), "{times}p + {more} to {limbs:?}");
                assert!(limbs[7] <= 2 * P[7] + P[7] / 10, "{times}p + {more} to {limbs:?}");
                assert_eq!(modulo_p(&limbs), modulo_p(&first_lane(&number)));
                if times > 0 {
                    assert_eq!(first_lane(&in_large_limbs(&number).shrunk()), limbs, "{times}p + {more}");
                }
            }
        }
    }

    /// The same number with seven units more in the lower limbs.
    fn in_large_limbs(a: &Fp) -> Fp {
        let lent = Fp::of_limbs(a.lanes(), &Eight::multiple(0, 7));
        Fp { bound: Bound::new(8, 31.9), ..a.plus(&lent) }
    }

    /// Every representative that a product can have, beside the multiples of p.
    #[test]
    fn canonical_beside_every_multiple() {
        let Some(lanes) = ifma_or_skip() else { return };
        for times in 0..=2 {
            for more in [-1, 0, 1, 1 << 40] {
                if times == 0 && more < 0 {
                    continue;
                }
                let number = near_multiple(lanes, times, more);
                let limbs = first_lane(&canonical(lanes, &number));
                let expected =
                    if more < 0 { first_lane(&near_multiple(lanes, 1, more)) } else { [more, 0, 0, 0, 0, 0, 0, 0] };
                assert_eq!(limbs, expected, "{times}p + {more}");
            }
        }
    }

    /// Zero as every multiple of p, and its neighbours.
    #[test]
    fn zero_in_every_form() {
        let Some(lanes) = ifma_or_skip() else { return };
        for times in 0..8 {
            for more in [-1, 0, 1] {
                if times == 0 && more < 0 {
                    continue;
                }
                let number = near_multiple(lanes, times, more);
                assert_eq!(number.is_zero(), if more == 0 { !0 } else { 0 }, "{times}p + {more}");
                // One lane alone.
                let other = Fp::one(lanes);
                for lane in 0..8 {
                    let expected = if more == 0 { 1 << lane } else { 0 };
                    assert_eq!(number.or(1 << lane, &other).is_zero(), expected);
                }
            }
        }
    }

    /// Every multiple of p that can be added is subtracted again.
    #[test]
    fn shrunk_is_small() {
        let Some(lanes) = ifma_or_skip() else { return };
        for a in elements2() {
            let x = load2(lanes, &a).c0;
            let mut large = x;
            for _ in 0..3 {
                large = large.subtract::<8, 1>(&Fp::zero(lanes)).carried();
                let shrunk = large.shrunk();
                assert_eq!(shrunk.store(), x.store());
                let limbs = shrunk.limbs.map(Vector::words);
                assert!(limbs[7].iter().all(|top| *top <= 2 * P[7] + P[7] / 10), "{limbs:?}");
                assert!(limbs[..7].iter().flatten().all(|limb| (0..1 << 50).contains(limb)));
            }
        }
    }

    /// A real part that is below zero by whole multiples of 2^400. No digit of the reduction would correct it.
    #[test]
    fn products_below_zero() {
        let Some(lanes) = ifma_or_skip() else { return };
        for more in [1, 2, (1 << 50) - 1] {
            let root = |limb| Fp2::new(Fp::zero(lanes), Fp::of_limbs(lanes, &[0, 0, 0, 0, limb, 0, 0, 0]));
            let (x, y) = (root(1), root(more));
            let expected = x.store()[0].times(&y.store()[0]);
            assert!(x.times(&y).store() == [expected; 8]);
            assert!(Wide::product(&x, &y).reduced().store() == [expected; 8]);
        }
    }

    /// Squares of the largest allowed values, with the other part zero.
    #[test]
    fn squares_of_the_largest() {
        let Some(lanes) = ifma_or_skip() else { return };
        let parts = |times| {
            let part = near_multiple(lanes, times, -1);
            [(part, Fp::zero(lanes)), (Fp::zero(lanes), part)]
        };
        for (c0, c1) in parts(16) {
            let x = Fp2::new(c0, c1);
            assert!(x.squared().store() == x.store().map(|x| x.squared()));
        }
        for (c0, c1) in parts(8) {
            let x = Fp2::new(c0, c1);
            assert!(Wide::square(&x).reduced().store() == x.store().map(|x| x.squared()));
        }
    }
}
