//! Eight elements of Fp, one in each lane.
//!
//! An element a is stored as a·2^400 plus a multiple of p, in eight limbs of 50 bits or a little more. Sums and
//! differences take no carries, and a product accepts limbs of up to four units of 2^50. The documentation of each
//! operation says what limbs and values it accepts and gives, in units of 2^50 and in p; in debug builds [`Bound`]
//! checks it.
//!
//! The file is long because a third of it are tests, which need the limbs.

use crate::backend::lanes::unroll::{limbs_of, unroll};
use blst::blst_fp;

use super::{
    Ifma,
    bound::Bound,
    kernel::{self, Limbs, P, multiple_of_p},
    kernel_fp2, kernel52,
    range::Range,
    vector::Vector,
    word::Word,
};
use crate::{
    arithmetic,
    backend::lanes::{
        constant::{Constant, limbs_of_50 as limbs},
        field::{Field, Fp2, LANES, Mask, PrimeField, Wide, Words, invert_lanes},
        instructions::in_lanes,
    },
};

/// Eight elements of Fp.
#[derive(Clone, Copy)]
pub struct Fp {
    pub(super) limbs: [Vector; 8],
    pub(super) bound: Bound,
}

/// Sixteen signed columns of a number that is not reduced yet.
#[derive(Clone, Copy)]
pub struct Columns {
    columns: [Vector; 16],
    range: Range,
}

/// The limbs of one element below 2.1p, in a cache line.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub struct Row([i64; 8]);

/// 2^416 mod p. It turns blst's a·2^384 into a·2^400.
pub(super) const FROM_BLST: Limbs = limbs([
    0x44f6_480e_a8e9_b9af,
    0xa96f_7d65_766c_8fe4,
    0xe82e_fd42_28b5_40fe,
    0x6723_e5f0_ade5_3b2e,
    0x25ff_6eb6_fdd4_230a,
    0x14c8_ee06_ef23_c24a,
]);
/// 2^384 mod p, blst's one. It turns a·2^400 into blst's a·2^384.
pub(super) const TO_BLST: Limbs = limbs(arithmetic::curve::ONE.l);

/// 2^800 mod p. It turns a number into its Montgomery form.
const R2: Limbs = limbs([
    0x3dc5_5103_9a1d_2c25,
    0xe8da_66c8_57a9_8437,
    0xb82e_8f65_1333_1128,
    0xb197_b625_2a29_ba38,
    0x5dcb_e4f4_e329_28cb,
    0x0e91_f80e_f81f_158c,
]);

/// (p + 1)/2.
const HALF_OF_P: Limbs = {
    let mut out = P;
    out[0] += 1;
    let mut i = 0;
    while i < 8 {
        if i < 7 {
            out[i] |= (out[i + 1] & 1) << 50;
        }
        out[i] >>= 1;
        i += 1;
    }
    out
};

impl Fp {
    /// A canonical number a·2^400 mod p in every lane.
    #[inline(always)]
    pub(super) fn of_limbs(lanes: Ifma, limbs: &Limbs) -> Self {
        Self { limbs: limbs_of!(I < 8 => Vector::splat(lanes, limbs[I])), bound: Bound::CANONICAL }
    }

    /// The canonical number of each lane, not in Montgomery form, in limbs of 50 bits. One multiplication.
    #[inline(always)]
    fn number(&self) -> Self {
        canonical(self.lanes(), &self.times(&Self::of_limbs(self.lanes(), &[1, 0, 0, 0, 0, 0, 0, 0])))
    }
}

impl Field for Fp {
    type Lanes = Ifma;
    type Fp = Self;
    type Element = blst_fp;
    const PARTS: usize = 1;
    type Row = Row;
    const ZERO_ROW: Row = Row([0; 8]);

    #[inline(always)]
    fn lanes(&self) -> Ifma {
        self.limbs[0].lanes()
    }

    #[inline(always)]
    fn zero(lanes: Ifma) -> Self {
        Self::of_limbs(lanes, &[0; 8])
    }

    #[inline(always)]
    fn one(lanes: Ifma) -> Self {
        Self::constant(lanes, &Constant::ONE)
    }

    /// One multiplication.
    #[inline(always)]
    fn load(lanes: Ifma, elements: &[&blst_fp; LANES]) -> Self {
        load(lanes, elements)
    }

    /// One multiplication.
    #[inline(always)]
    fn store(&self) -> [blst_fp; LANES] {
        store(self.lanes(), self)
    }

    /// One multiplication.
    #[inline(always)]
    fn from_words(lanes: Ifma, words: &Words) -> Self {
        from_words(lanes, &words[0], &R2)
    }

    #[inline(always)]
    fn gather(lanes: Ifma, rows: &[&Row; LANES]) -> Self {
        let vectors = limbs_of!(I < 8 => Vector::load(lanes, &rows[I].0));
        Self { limbs: Vector::transposed(&vectors), bound: Bound::new(1, 2.1) }
    }

    #[inline(always)]
    fn scatter(&self) -> [Row; LANES] {
        self.bound.assert_factor(1);
        self.bound.assert_value(2.1);
        let vectors = Vector::transposed(&self.limbs);
        limbs_of!(I < 8 => Row(vectors[I].words()))
    }

    #[inline(always)]
    fn blank(&self) -> Mask {
        let [a, b, c, d, e, f, g, h] = self.limbs;
        a.or(b).or(c).or(d).or(e).or(f).or(g).or(h).is_zero()
    }

    #[inline(always)]
    fn plus(&self, other: &Self) -> Self {
        Self { limbs: limbs_of!(I < 8 => self.limbs[I].plus(other.limbs[I])), bound: self.bound.plus(other.bound) }
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
        struct Multiple<const TIMES: i64, const UNITS: i64>;
        impl<const TIMES: i64, const UNITS: i64> Multiple<TIMES, UNITS> {
            const LIMBS: Limbs = multiple_of_p(TIMES, UNITS);
        }
        let multiple = &Multiple::<TIMES, UNITS>::LIMBS;
        other.bound.assert_limbs(UNITS as u64);
        other.bound.assert_value(TIMES as f64 - 0.01);
        Self {
            limbs: limbs_of!(I < 8 => {
                let limb = self.limbs[I];
                limb.plus(limb.splat(multiple[I])).minus(other.limbs[I])
            }),
            bound: self.bound.plus(Bound::new(UNITS as u64 + 1, TIMES as f64)),
        }
    }

    /// It has limbs below 2 units and a value of at most 4p.
    #[inline(always)]
    fn negated(&self) -> Self {
        Self::zero(self.lanes()).minus(self)
    }

    #[inline(always)]
    fn carried(&self) -> Self {
        Self { limbs: kernel::carry(&self.limbs), bound: self.bound.carried() }
    }

    /// It accepts limbs below 8 units and values below 32p.
    ///
    /// The eighth limb says how many times 2p is subtracted, and a permutation reads this multiple from a table.
    #[inline(always)]
    fn shrunk(&self) -> Self {
        self.bound.assert_factor(8);
        self.bound.assert_value(31.9);
        Self { limbs: shrink(self.lanes(), &self.limbs), bound: Bound::new(1, 2.1) }
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
        Self { limbs: multiply(self.lanes(), &self.limbs, &other.limbs), bound: self.bound.of_product(other.bound) }
    }

    /// It has limbs below one unit and a value of about 2p.
    #[inline(always)]
    fn squared(&self) -> Self {
        self.bound.assert_factor(2);
        Self { limbs: square(self.lanes(), &self.limbs), bound: self.bound.of_product(self.bound) }
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
        Self {
            limbs: limbs_of!(I < 8 => self.limbs[I].in_mask(mask, other.limbs[I])),
            bound: self.bound.or(other.bound),
        }
    }

    /// It costs little if no lane is zero.
    #[inline(always)]
    fn is_zero(&self) -> Mask {
        is_zero(self.lanes(), self)
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
        let less = kernel::carry(&limbs_of!(I < 8 => number[I].minus(number[I].splat(HALF_OF_P[I]))));
        less[7].splat(-1).is_less(less[7])
    }

    #[inline(always)]
    fn permuted(&self, from: [i64; LANES]) -> Self {
        let from = Vector::load(self.lanes(), &from);
        Self { limbs: limbs_of!(I < 8 => self.limbs[I].permuted(from)), bound: self.bound }
    }

    #[inline(always)]
    fn gathered(&self, other: &Self, from: [i64; LANES]) -> Self {
        let from = Vector::load(self.lanes(), &from);
        Self {
            limbs: limbs_of!(I < 8 => self.limbs[I].gathered(other.limbs[I], from)),
            bound: self.bound.or(other.bound),
        }
    }
}

impl PrimeField for Fp {
    type Products = Columns;
    /// Limbs of 52 bits: see [`kernel52`].
    type Link = [Vector; 8];

    /// Each line adds about 2p to a coefficient, and after a ninth the sums would be too far below zero.
    const LINES_BETWEEN_SHRINKS: Option<usize> = Some(8);

    #[inline(always)]
    fn constant(lanes: Ifma, constant: &Constant) -> Self {
        Self::of_limbs(lanes, &constant.limbs_of_50)
    }

    #[inline(always)]
    fn constants(lanes: Ifma, constants: &[Constant; LANES]) -> Self {
        let of_limb = |limb: usize| constants.map(|constant| constant.limbs_of_50[limb]);
        Self { limbs: limbs_of!(I < 8 => Vector::load(lanes, &of_limb(I))), bound: Bound::CANONICAL }
    }

    /// It accepts limbs below 2 units, and gives limbs below one unit and values of about 2p.
    #[inline(always)]
    fn times_in_fp2(a: &Fp2<Self>, b: &Fp2<Self>) -> Fp2<Self> {
        for part in [&a.c0, &a.c1, &b.c0, &b.c1] {
            part.bound.assert_factor(2);
            part.bound.assert_value(32.0);
        }
        multiply2(a.c0.lanes(), &limbs_in_fp2(a), &limbs_in_fp2(b))
    }

    /// It accepts limbs below 2 units and values below 16p, and gives limbs below one unit and values of about 2p.
    #[inline(always)]
    fn squared_in_fp2(a: &Fp2<Self>) -> Fp2<Self> {
        for part in [&a.c0, &a.c1] {
            part.bound.assert_factor(2);
            part.bound.assert_value(15.99);
        }
        square2(a.c0.lanes(), a)
    }

    #[inline(always)]
    fn wide_product(a: &Fp2<Self>, b: &Fp2<Self>) -> Wide<Self> {
        [&a.c0, &a.c1, &b.c0, &b.c1].iter().for_each(|part| part.bound.assert_factor(2));
        let range = Range::of_product(a.c0.bound.or(a.c1.bound), b.c0.bound.or(b.c1.bound));
        wide_product(a.c0.lanes(), &limbs_in_fp2(a), &limbs_in_fp2(b), range)
    }

    #[inline(always)]
    fn wide_square(a: &Fp2<Self>) -> Wide<Self> {
        [&a.c0, &a.c1].iter().for_each(|part| part.bound.assert_factor(2));
        wide_square(a.c0.lanes(), a)
    }

    #[inline(always)]
    fn sum_of_products<const N: usize>(first: &Columns, terms: [(bool, &Columns); N]) -> Columns {
        let columns = limbs_of!(I < 16 => {
            let mut column = first.columns[I];
            for (minus, term) in terms {
                column = if minus { column.minus(term.columns[I]) } else { column.plus(term.columns[I]) };
            }
            column
        });
        let mut range = first.range;
        for (minus, term) in terms {
            range = if minus { range.minus(term.range) } else { range.plus(term.range) };
        }
        Columns { columns, range }
    }

    /// The result is about 2p.
    #[inline(always)]
    fn reduced(products: &Columns) -> Self {
        let mut out = Self::zero(products.columns[0].lanes());
        out.add_reduced(products);
        out
    }

    /// It adds about 2p to the value.
    #[inline(always)]
    fn add_reduced(&mut self, products: &Columns) {
        lift_and_reduce(self.lanes(), &products.columns, &mut self.limbs);
        products.range.assert_reducible();
        self.bound = self.bound.plus_reduced(products.range.lifted());
    }

    #[inline(always)]
    fn to_link(&self) -> [Vector; 8] {
        to_limbs_of_52(self.lanes(), self)
    }

    #[inline(always)]
    fn from_link(link: &[Vector; 8]) -> Self {
        from_limbs_of_52(link[0].lanes(), link)
    }

    #[inline(always)]
    fn multiply_link(a: &mut [Vector; 8], b: &[Vector; 8]) {
        multiply52(a[0].lanes(), a, b);
    }

    #[inline(always)]
    fn square_link(a: &mut [Vector; 8]) {
        square52(a[0].lanes(), a);
    }

    #[cfg(test)]
    const LIMB_BITS: usize = 50;

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
fn limbs_in_fp2(a: &Fp2<Fp>) -> [&[Vector; 8]; 2] {
    [&a.c0.limbs, &a.c1.limbs]
}

in_lanes! {
    #[inline(never)]
    fn multiply(lanes: Ifma, a: &[Vector; 8], b: &[Vector; 8]) -> [Vector; 8] {
        kernel::reduce(&kernel::product(a, b))
    }

    #[inline(never)]
    fn square(lanes: Ifma, a: &[Vector; 8]) -> [Vector; 8] {
        kernel::reduce(&kernel::square(a))
    }

    #[inline(never)]
    fn multiply2(lanes: Ifma, a: &[&[Vector; 8]; 2], b: &[&[Vector; 8]; 2]) -> Fp2<Fp> {
        let [c0, c1] = kernel_fp2::columns(a, b);
        let bound = Bound::PRODUCT_IN_FP2;
        let c0 = Fp { limbs: kernel::reduce(&kernel_fp2::lifted(&c0)), bound };
        Fp2 { c0, c1: Fp { limbs: kernel::reduce(&c1), bound } }
    }

    #[inline(never)]
    fn square2(lanes: Ifma, a: &Fp2<Fp>) -> Fp2<Fp> {
        let [real, imaginary] = kernel_fp2::square_columns::<16, _>(&a.c0.limbs, &a.c1.limbs);
        let bound = Bound::PRODUCT_IN_FP2;
        let c0 = Fp { limbs: kernel::reduce(&real), bound };
        Fp2 { c0, c1: Fp { limbs: kernel::reduce(&imaginary), bound } }
    }

    #[inline(never)]
    fn wide_product(lanes: Ifma, a: &[&[Vector; 8]; 2], b: &[&[Vector; 8]; 2], range: Range) -> Wide<Fp> {
        let [c0, c1] = kernel_fp2::columns(a, b);
        Wide { c0: Columns { columns: c0, range }, c1: Columns { columns: c1, range } }
    }

    #[inline(never)]
    fn wide_square(lanes: Ifma, a: &Fp2<Fp>) -> Wide<Fp> {
        let [c0, c1] = kernel_fp2::square_columns::<8, _>(&a.c0.limbs, &a.c1.limbs);
        let range = Range::of_square(a.c0.bound.or(a.c1.bound));
        Wide { c0: Columns { columns: c0, range }, c1: Columns { columns: c1, range } }
    }

    #[inline(never)]
    fn lift_and_reduce(lanes: Ifma, a: &[Vector; 16], to: &mut [Vector; 8]) {
        let mut columns = kernel_fp2::lifted(a);
        for i in 0..8 {
            columns[8 + i] = columns[8 + i].plus(to[i]);
        }
        *to = kernel::reduce(&columns);
    }

    #[inline(never)]
    fn multiply52(lanes: Ifma, a: &mut [Vector; 8], b: &[Vector; 8]) {
        *a = kernel52::reduce(&kernel52::product(a, b));
    }

    #[inline(never)]
    fn square52(lanes: Ifma, a: &mut [Vector; 8]) {
        *a = kernel52::reduce(&kernel52::square(a));
    }

    /// The limbs of a·2^416 modulo p: a product multiplies by 2^16, then bits are shifted between limbs.
    fn to_limbs_of_52(lanes: Ifma, a: &Fp) -> [Vector; 8] {
        let a = a.times(&Fp::of_limbs(lanes, &FROM_BLST)).limbs;
        let mut out = a;
        unroll!(I < 8 {
            const DOWN: u32 = 2 * I as u32;
            const UP: u32 = 50 - DOWN;
            out[I] = a[I].shifted_down::<DOWN>();
            if I < 7 {
                out[I] = out[I].or(a[(I + 1) & 7].shifted_up::<UP>());
            }
        });
        out
    }

    fn from_limbs_of_52(lanes: Ifma, a: &[Vector; 8]) -> Fp {
        let mask_52 = Vector::splat(lanes, (1 << 52) - 1);
        let mut out = Fp { bound: Bound::new(1, 3.0), limbs: *a };
        unroll!(I < 8 {
            const UP: u32 = 2 * I as u32;
            const DOWN: u32 = 52 - UP;
            out.limbs[I] = a[I].and(mask_52).shifted_up::<UP>();
            if I > 0 {
                out.limbs[I] = out.limbs[I].or(a[(I + 7) & 7].and(mask_52).shifted_down::<DOWN>());
            }
            out.limbs[I] = out.limbs[I].low_limb();
        });
        out.times(&Fp::of_limbs(lanes, &TO_BLST))
    }

    fn load(lanes: Ifma, elements: &[&blst_fp; LANES]) -> Fp {
        let mut words = [[0; LANES]; 6];
        for (lane, element) in elements.iter().enumerate() {
            for (word, limb) in words.iter_mut().zip(element.l) {
                word[lane] = limb;
            }
        }
        from_words(lanes, &words, &FROM_BLST)
    }

    fn from_words(lanes: Ifma, words: &[[u64; LANES]; 6], factor: &Limbs) -> Fp {
        let mut vectors = [Vector::splat(lanes, 0); 6];
        for (vector, words) in vectors.iter_mut().zip(words) {
            *vector = Vector::load(lanes, &words.map(|word| word as i64));
        }
        // 2^384 is below 10p.
        let mut out = Fp { bound: Bound::new(1, 10.0), ..Fp::zero(lanes) };
        unroll!(I < 8 {
            const WORD: usize = 50 * I / 64;
            const SHIFT: u32 = (50 * I % 64) as u32;
            let mut bits = vectors[WORD].shifted_down::<SHIFT>();
            if SHIFT > 14 && WORD < 5 {
                const UP: u32 = (64 - SHIFT) % 64;
                bits = bits.or(vectors[(WORD + 1) % 6].shifted_up::<UP>());
            }
            out.limbs[I] = bits.low_limb();
        });
        out.times(&Fp::of_limbs(lanes, factor))
    }

    fn store(lanes: Ifma, a: &Fp) -> [blst_fp; LANES] {
        let words = to_words(&canonical(lanes, &a.times(&Fp::of_limbs(lanes, &TO_BLST))));
        core::array::from_fn(|lane| blst_fp { l: core::array::from_fn(|word| words[word][lane] as u64) })
    }

    #[inline]
    fn shrink(lanes: Ifma, a: &[Vector; 8]) -> [Vector; 8] {
        // The top limb counts 2^350. The lower ones are below 2^53 and add less than 8 to it. So the quotient by 2p,
        // rounded down, may be one too small, but is never too large.
        const INVERSE: i64 = (1 << 52) / (2 * (P[7] + 1));
        let quotient = Vector::splat(lanes, 0).add_high(a[7], Vector::splat(lanes, INVERSE));
        let mut out = *a;
        unroll!(I < 8 {
            let [low, high] = &EVEN_MULTIPLES[I];
            out[I] = out[I].minus(Vector::load(lanes, low).gathered(Vector::load(lanes, high), quotient));
        });
        kernel::carry(&out)
    }

    /// The least representative of a product.
    fn canonical(lanes: Ifma, a: &Fp) -> Fp {
        a.bound.assert_factor(1);
        a.bound.assert_value(2.99);
        let mut limbs = a.limbs;
        for _ in 0..2 {
            let mut less = limbs;
            unroll!(I < 8 { less[I] = less[I].minus(Vector::splat(lanes, P[I])); });
            let less = kernel::carry(&less);
            let negative = less[7].is_less(Vector::splat(lanes, 0));
            unroll!(I < 8 { limbs[I] = limbs[I].in_mask(negative, less[I]); });
        }
        Fp { limbs, bound: Bound::CANONICAL }
    }

    fn is_zero(lanes: Ifma, a: &Fp) -> Mask {
        a.bound.assert_value(7.99);
        // The lowest limb of a zero is the lowest limb of one of eight multiples of p.
        let lowest = a.limbs[0].low_limb();
        let mut perhaps: Mask = 0;
        for multiple in const { lowest_limbs() } {
            perhaps |= lowest.is_same(Vector::splat(lanes, multiple));
        }
        if perhaps == 0 {
            return 0;
        }
        // A product that is zero is 0, p or 2p. Its carries are taken, so it has exactly their limbs.
        let product = a.times(&Fp::one(lanes));
        let mut zero: Mask = 0;
        for multiple in [[0; 8], multiple_of_p(1, 0), multiple_of_p(2, 0)] {
            let mut same = perhaps;
            for (limb, of_multiple) in product.limbs.iter().zip(multiple) {
                same = limb.is_same_in(same, Vector::splat(lanes, of_multiple));
            }
            zero |= same;
        }
        zero
    }
}

/// The limbs of canonical numbers as words of 64 bits.
#[inline(always)]
fn to_words(a: &Fp) -> [[i64; LANES]; 6] {
    let mut words = [a.limbs[0].splat(0); 6];
    unroll!(I < 8 {
        const WORD: usize = 50 * I / 64;
        const SHIFT: u32 = (50 * I % 64) as u32;
        words[WORD] = words[WORD].or(a.limbs[I].shifted_up::<SHIFT>());
        if SHIFT > 14 && WORD < 5 {
            const DOWN: u32 = (64 - SHIFT) % 64;
            words[(WORD + 1) % 6] = a.limbs[I].shifted_down::<DOWN>();
        }
    });
    words.map(Vector::words)
}

/// 0, 2p, … 14p and 16p, … 30p, by limb.
static EVEN_MULTIPLES: [[[i64; LANES]; 2]; 8] = {
    let mut table = [[[0; LANES]; 2]; 8];
    let mut i = 0;
    while i < 2 * LANES {
        let multiple = multiple_of_p(2 * i as i64, 0);
        let mut limb = 0;
        while limb < 8 {
            table[limb][i / LANES][i % LANES] = multiple[limb];
            limb += 1;
        }
        i += 1;
    }
    table
};

/// The lowest limbs of 0, p, …, 7p.
const fn lowest_limbs() -> [i64; 8] {
    let mut out = [0; 8];
    let mut i = 0;
    while i < 8 {
        out[i] = multiple_of_p(i as i64, 0)[0];
        i += 1;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arithmetic::field::Field as _;
    use crate::backend::{
        ifma::kernel::tests::modulo_p,
        lanes::{
            fp2::Fp2,
            tests::{elements2, ifma_or_skip, load2},
            wide::Wide,
        },
    };

    /// `times`·p + `more` in every lane: the largest number that a bound allows, or one beside an edge.
    fn near_multiple(lanes: Ifma, times: i64, more: i64) -> Fp {
        let mut limbs = multiple_of_p(times, 0);
        limbs[0] += more;
        let bound = Bound::new(1, times as f64 + if more < 0 { -0.01 } else { 0.01 });
        Fp { bound, ..Fp::of_limbs(lanes, &kernel::carry(&limbs)) }
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
        let lent = Fp::of_limbs(a.lanes(), &multiple_of_p(0, 7));
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
