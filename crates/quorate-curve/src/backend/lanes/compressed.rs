//! Squares in the cyclotomic subgroup of Fp12 with coefficients in lanes, and powers of which only a part is squared.
//!
//! An element is A + B·w + C·w² with A = a₀ + b₀·s, B = a₁ + b₁·s and C = a₂ + b₂·s in Fp4 = Fp2(s), s = w³. In the
//! cyclotomic subgroup its square has the coefficients
//!
//! ```text
//! 3A² - 2·conj(A),    3s·C² + 2·conj(B),    3B² - 2·conj(C),    where conj(a + b·s) = a - b·s and s² = ξ
//! ```
//!
//! (R. Granger and M. Scott, <https://eprint.iacr.org/2009/565>). The last two do not depend on A. So B and C are squared
//! alone (K. Karabina, <https://eprint.iacr.org/2010/542>): four products in Fp2 in place of six, which fill a register of
//! four lanes. The relations of the subgroup then give A back, unless a₁ is zero:
//!
//! ```text
//! b₀ = (ξ·b₂² + 3a₂² - 2b₁)/(4a₁),    a₀ = ξ·(2b₀² + a₁·b₂ - 3a₂·b₁) + 1
//! ```
//!
//! A power by the parameter of BLS12-381 is the product of six elements f^(2^k), which are restored with one inversion.
//!
//! The coefficients of one element stand in lanes here, and in [`fp12`](super::fp12) each lane has an element of its own.

use super::{
    field::{Field, LANES, Lanes, Mask, Parameters, PrimeField},
    fp2::Fp2,
    instructions::in_lanes,
};
use crate::arithmetic::curve::PARAMETER;

/// Where a vector has the coefficients a and b of elements of Fp4.
pub(super) struct Layout {
    /// The lanes of each b.
    pub(super) of_b: Mask,
    /// The lane of the other coefficient of the same element.
    pub(super) other: [i64; LANES],
    /// For each coefficient of the square, the lane of a in the element of Fp4 whose square it takes.
    pub(super) a: [i64; LANES],
    /// The lane of b in the same element, for coefficients that take a² + ξ·b².
    pub(super) b: [i64; LANES],
    /// The lanes of a₀, b₁ and a₂, which are 3t - 2c for such a term t and the old coefficient c. The others are 3t + 2c.
    pub(super) less: Mask,
    /// The lane of a₁, for which t is 2ξ·a₂b₂.
    pub(super) times_xi: Mask,
}

/// The square of an element with this layout. Coefficients have limbs below one unit and values below 2.1p, before and
/// after.
///
/// Two products square each a + b·s, with any α·β = ξ:
///
/// ```text
/// a² + ξ·b² = (a + α·b)·(a + β·b) - (α + β)·a·b,    2ab = 2·(a·b)
/// ```
///
/// One factor is multiplied by 3 before the product, because the reduction of the product then keeps 3t as small as t.
#[inline(always)]
pub(super) fn squared<P: PrimeField>(c: &Fp2<P>, layout: Layout) -> Fp2<P> {
    // In a lane of some a, `c` is a and `other` is b. In a lane of b it is the other way round.
    let other = c.permuted(layout.other);
    let [plus_alpha, plus_beta] = P::Curve::factors_of_norm(&other, c);
    let left = plus_alpha.or(layout.of_b, c);
    let left = left.doubled().plus(&left).carried();
    let products = left.times(&plus_beta.or(layout.of_b, &other).carried());
    let ab = products.permuted(layout.a);
    let sum = products.permuted(layout.b);
    let less = sum.subtract::<8, 3>(&P::Curve::times_sum_of_factors(&ab).plus(&c.doubled()));
    let more = ab.times_xi().or(layout.times_xi, &ab).plus(c).doubled();
    less.or(layout.less, &more).shrunk()
}

/// The coefficients a₁, b₁, a₂ and b₂ in the lower four lanes.
#[derive(Clone, Copy)]
pub(super) struct Compressed<P>(Fp2<P>);

/// The coefficients a₁, b₁, a₂ and b₂ in memory.
pub(super) type Rows<P> = [<Fp2<P> as Field>::Row; 4];

/// A lane of zeros, where there are eight.
const NONE: i64 = 4;

impl<P: PrimeField> Compressed<P> {
    pub(super) fn of_rows(lanes: P::Lanes, rows: &Rows<P>) -> Self {
        of_rows(lanes, rows)
    }

    pub(super) fn to_rows(self) -> Rows<P> {
        to_rows(self.0.lanes(), &self)
    }

    /// The square of the square, so many times. Four products in Fp2 each, one in each lane.
    pub(super) fn square(&mut self, times: u32) {
        square(self.0.lanes(), self, times);
    }
}

in_lanes! {
    fn of_rows<P: PrimeField>(lanes: P::Lanes, rows: &Rows<P>) -> Compressed<P> {
        let ([a1, b1, a2, b2], zero) = (rows, &Fp2::<P>::ZERO_ROW);
        Compressed(Fp2::gather(lanes, &[a1, b1, a2, b2, zero, zero, zero, zero]))
    }

    fn to_rows<P: PrimeField>(lanes: P::Lanes, f: &Compressed<P>) -> Rows<P> {
        let [a1, b1, a2, b2, ..] = f.0.scatter();
        [a1, b1, a2, b2]
    }

    #[inline(never)]
    fn square<P: PrimeField>(lanes: P::Lanes, f: &mut Compressed<P>, times: u32) {
        const LAYOUT: Layout = Layout {
            of_b: 0b1010,
            other: [1, 0, 3, 2, NONE, NONE, NONE, NONE],
            a: [2, 2, 0, 0, NONE, NONE, NONE, NONE],
            b: [3, 3, 1, 1, NONE, NONE, NONE, NONE],
            less: 0b0110,
            times_xi: 0b0001,
        };
        for _ in 0..times {
            f.0 = squared(&f.0, LAYOUT);
        }
    }
}

/// The number of powers f^(2^k) whose product is f raised to the parameter.
pub(super) const POWERS: usize = PARAMETER.count_ones() as usize;

/// The power f^(2^k) for each bit k of the parameter, from f and a function that squares it so many times.
pub(super) fn powers<T: Copy>(mut f: T, square: impl Fn(&mut T, u32)) -> [T; POWERS] {
    let (mut powers, mut bits, mut squares) = ([f; POWERS], PARAMETER, 0);
    for power in &mut powers {
        square(&mut f, bits.trailing_zeros() - squares);
        squares = bits.trailing_zeros();
        bits &= bits - 1;
        *power = f;
    }
    powers
}

/// The powers f^(2^k) of an element with its coefficients in lanes.
pub(super) fn powers_of_one<P: PrimeField>(lanes: P::Lanes, f: &Rows<P>) -> [Rows<P>; POWERS] {
    type Narrow<P> = <<<P as Field>::Lanes as Lanes>::Narrow as Lanes>::Fp;
    let f = Compressed::<Narrow<P>>::of_rows(lanes.narrow(), f);
    powers(f, Compressed::square).map(Compressed::to_rows)
}

/// a₀ and b₀, from [a₁, b₁, a₂, b₂] and 1/(4a₁). All have limbs below one unit and values below 2.1p.
#[inline(always)]
pub(super) fn first_coefficients<P: PrimeField>([a1, b1, a2, b2]: &[Fp2<P>; 4], inverse: &Fp2<P>) -> [Fp2<P>; 2] {
    let square = a2.squared();
    let rest = square.doubled().plus(&square).minus_sum(&b1.doubled()).carried();
    let b0 = b2.squared().times_xi().plus(&rest).shrunk().times(inverse).shrunk();
    let product = a2.times(b1);
    let sum = b0.squared().doubled().plus(&a1.times(b2));
    let sum = sum.subtract::<8, 3>(&product.doubled().plus(&product)).shrunk();
    [sum.times_xi().plus(&Fp2::one(a1.lanes())).shrunk(), b0]
}

/// The coefficients a₀ and b₀ of each power. `None` if a₁ is zero in one of them.
pub(super) type Restored<P> = Option<[[<Fp2<P> as Field>::Row; LANES]; 2]>;

in_lanes! {
    /// One inversion, four products and three squares in Fp2, in lanes.
    #[inline(never)]
    pub(super) fn restored<P: PrimeField>(lanes: P::Lanes, powers: &[Rows<P>; POWERS]) -> Restored<P> {
        // Lanes without a power repeat the first ones, so that no lane is zero that need not be.
        let coefficient = |i: usize| Fp2::<P>::gather(lanes, &core::array::from_fn(|lane| &powers[lane % POWERS][i]));
        let known = [coefficient(0), coefficient(1), coefficient(2), coefficient(3)];
        if known[0].is_zero() != 0 {
            return None;
        }
        let inverse = known[0].doubled().doubled().shrunk().inverted();
        let [a0, b0] = first_coefficients(&known, &inverse);
        Some([a0.scatter(), b0.scatter()])
    }
}
