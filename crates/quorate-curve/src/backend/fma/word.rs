//! What kernels compute with, and the few operations that they are made of.
//!
//! All numbers are integers. A double holds every integer below 2^53, so an operation is exact if its result is below
//! 2^53, or below that times a power of two that divides the result. Kernels are written over [`Word`], which has one
//! method for each such step. Registers and single lanes compute the steps from [`Fused`] operations. In the tests a
//! number of which a proof knows what it is made of is a [`Word`] too, and panics where a step could be inexact. That each
//! step then gives the integers that the proof takes it to give is proved from IEEE 754, in rounding to nearest, by
//! `proofs/Doubles.v`. It has the steps of this file, so whoever changes one of them changes both.
//!
//! **Products.** A product of two limbs has 94 bits and more. A fused multiply-add rounds it to a multiple of 2^48 if it
//! adds it to a number between 2^100 and 2^101, where doubles are that far apart:
//!
//! ```text
//! h = round(a·b + H)      the new sum of high parts
//! t = H - h               exact: both are multiples of 2^48 in the same binade
//! l = a·b + t             exact: what the rounding left, at most 2^47
//! ```
//!
//! A sum of high parts starts in the middle of the binade, at 1.5·2^100, and must stay inside it: the sums of the
//! products must stay below 2^99.

use crate::backend::lanes::{field::LANES, tracked::CHECKED};

/// The bits of a limb.
pub(super) const LIMB_BITS: u32 = 48;
/// 2^-48: what one is worth in the limb above.
const DOWN: f64 = 1.0 / UP;
/// 2^48: what one is worth in the limb below.
const UP: f64 = (1_u64 << 48) as f64;
/// The middle of the binade in which doubles are 2^48 apart.
const MIDDLE: f64 = 1.5 * (1_u128 << 100) as f64;
/// The middle of the binade in which doubles are integers.
const MIDDLE_OF_INTEGERS: f64 = 1.5 * (1_u64 << 52) as f64;

/// The same number in every lane of a register of any kind, in memory.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub struct Repeat([f64; LANES]);

impl Repeat {
    pub(crate) const fn of(n: f64) -> Self {
        Self([n; LANES])
    }

    /// The number in every lane.
    #[inline(always)]
    pub(crate) fn lanes(&self) -> &[f64; LANES] {
        &self.0
    }

    #[cfg(test)]
    pub(crate) fn once(&self) -> f64 {
        self.0[0]
    }
}

/// Numbers that kernels compute with: the lanes of a register, or in the tests one lane or a number of which a proof knows
/// what it is made of.
pub trait Word: Copy {
    /// High parts of a sum: lanes hold them above the middle of their binade, so that they are no numbers to compute with.
    type High: Copy;

    /// `n` in every lane. The value of `self` does not matter.
    fn splat(self, n: f64) -> Self;
    /// The number of a register in memory in every lane. The value of `self` does not matter.
    fn repeat(self, n: &Repeat) -> Self;
    /// The same constants, behind the reference from which [`repeat`](Self::repeat) costs the least.
    ///
    /// A Zen 4 broadcasts a double from memory to 512 bits in the units that multiply and add. A broadcast costs half as much
    /// as a product of two limbs. So AVX-512 loads whole registers instead. The compiler would turn a load of a known constant
    /// into a broadcast, so it must not know what the reference refers to. With AVX2 the broadcasts cost less than the loads. For
    /// NEON it would make each constant of four moves and a copy from an integer register.
    fn constants<T>(constants: &T) -> &T;
    /// The sum, if it is below 2^53.
    fn plus(self, other: Self) -> Self;
    /// The difference, if it is below 2^53.
    fn minus(self, other: Self) -> Self;
    /// `self` - a·b, if it is below 2^53.
    fn minus_product(self, a: Self, b: Self) -> Self;
    /// The integer nearest to `self`·`factor`.
    fn nearest(self, factor: f64) -> Self;

    /// `self` divided by 2^48: the nearest integer, and the rest, at most 2^47, if `self` is below 2^98.
    ///
    /// Each takes a multiplication and an addition. A CPU can do as many of either in a cycle, and kernels have more
    /// additions, so the rest is not found by additions alone.
    fn cut(self) -> Cut<Self>;
    /// `self` + n/2^48 for a multiple n of 2^48.
    fn plus_multiple(self, n: Self) -> Self;
    /// `self`·`factor` modulo 2^48, at most 2^47, if the product is below 2^99.
    fn digit(self, factor: f64) -> Self;
    /// `self` + a·b, which the caller knows to be a multiple of 2^48.
    fn cleared(self, a: Self, b: Self) -> Self;

    /// No high parts.
    fn no_high(self) -> Self::High;
    /// Adds a·b to a sum.
    fn add_product(sum: &mut Sum<Self>, a: Self, b: Self);
    /// Subtracts a·b from a sum.
    fn subtract_product(sum: &mut Sum<Self>, a: Self, b: Self);
    /// `self` + n/2^48 for high parts n.
    fn plus_high(self, n: Self::High) -> Self;
}

/// The number `carry`·2^48 + `rest`.
#[derive(Clone, Copy)]
pub struct Cut<W> {
    pub(crate) carry: W,
    pub(crate) rest: W,
}

/// A sum of products: high parts, which are multiples of 2^48, and low parts.
#[derive(Clone, Copy)]
pub struct Sum<W: Word> {
    pub(crate) high: W::High,
    pub(crate) low: W,
}

/// High parts, as they are held.
#[derive(Clone, Copy)]
pub struct High<W>(pub(super) W);

impl<W: Word> Sum<W> {
    /// A sum that starts with `low`.
    #[inline(always)]
    pub(crate) fn new(low: W) -> Self {
        Self { high: low.no_high(), low }
    }
}

/// What the steps of a [`Word`] are made of, each a single instruction. The methods that round are named so: in the
/// tests all others assert that they are exact.
pub(crate) trait Fused: Copy {
    /// `n` in every lane. The value of `self` does not matter.
    fn set(self, n: f64) -> Self;
    /// The number of a register in memory in every lane. The value of `self` does not matter.
    fn load(self, n: &Repeat) -> Self;
    /// See [`Word::constants`].
    fn constants<T>(constants: &T) -> &T;
    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    /// a·b + `self`.
    fn add_mul(self, a: Self, b: Self) -> Self;
    /// `self` - a·b.
    fn sub_mul(self, a: Self, b: Self) -> Self;
    /// a·b + `self`, rounded.
    fn add_mul_rounded(self, a: Self, b: Self) -> Self;
    /// `self` - a·b, rounded.
    fn sub_mul_rounded(self, a: Self, b: Self) -> Self;
    /// The same number, in a register at this place. The compiler would otherwise move instructions to where more
    /// numbers are needed than there are registers.
    fn pinned(self) -> Self;
    /// Whether each lane is at least `least` and below `most`. Only builds that [check](CHECKED) ask.
    fn is_within(self, least: f64, most: f64) -> bool;
}

/// A number left the range in which the operation is exact: the formula needs a carry that it does not take.
#[cold]
#[inline(never)]
fn inexact() -> ! {
    panic!("a floating-point operation that is not exact");
}

/// Asserts, in builds that [check](CHECKED), that a result is exact because it is an integer below 2^53.
#[inline(always)]
fn integer<F: Fused>(n: F) -> F {
    const MOST: f64 = (1_u64 << 53) as f64;
    if CHECKED && !n.is_within(1.0 - MOST, MOST) {
        inexact();
    }
    n
}

/// Asserts, in builds that [check](CHECKED), that a sum stayed in the binade in which doubles are 2^48 apart.
#[inline(always)]
fn in_binade<F: Fused>(n: F) -> F {
    if CHECKED && !n.is_within(MIDDLE / 1.5, MIDDLE / 0.75) {
        inexact();
    }
    n
}

impl<F: Fused> Word for F {
    type High = High<F>;

    #[inline(always)]
    fn splat(self, n: f64) -> Self {
        self.set(n)
    }

    #[inline(always)]
    fn repeat(self, n: &Repeat) -> Self {
        self.load(n)
    }

    #[inline(always)]
    fn constants<T>(constants: &T) -> &T {
        F::constants(constants)
    }

    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        integer(self.add(other))
    }

    #[inline(always)]
    fn minus(self, other: Self) -> Self {
        integer(self.sub(other))
    }

    #[inline(always)]
    fn minus_product(self, a: Self, b: Self) -> Self {
        integer(self.sub_mul(a, b))
    }

    #[inline(always)]
    fn nearest(self, factor: f64) -> Self {
        let middle = self.set(MIDDLE_OF_INTEGERS);
        let rounded = middle.add_mul_rounded(self, self.set(factor));
        if CHECKED && !rounded.is_within(MIDDLE_OF_INTEGERS / 1.5, MIDDLE_OF_INTEGERS / 0.75) {
            inexact();
        }
        rounded.sub(middle)
    }

    #[inline(always)]
    fn cut(self) -> Cut<Self> {
        let carry = self.nearest(DOWN);
        Cut { carry, rest: self.minus_product(carry, self.set(UP)) }
    }

    #[inline(always)]
    fn plus_multiple(self, n: Self) -> Self {
        integer(self.add_mul(n, self.set(DOWN)))
    }

    #[inline(always)]
    fn digit(self, factor: f64) -> Self {
        let (middle, factor) = (self.set(MIDDLE), self.set(factor));
        let high = in_binade(middle.add_mul_rounded(self, factor));
        integer(middle.sub(high).add_mul(self, factor))
    }

    #[inline(always)]
    fn cleared(self, a: Self, b: Self) -> Self {
        let multiple = self.add_mul(a, b);
        if CHECKED && !multiple.is_within(-MIDDLE, MIDDLE) {
            inexact();
        }
        multiple
    }

    #[inline(always)]
    fn no_high(self) -> High<F> {
        High(self.set(MIDDLE))
    }

    #[inline(always)]
    fn add_product(sum: &mut Sum<Self>, a: Self, b: Self) {
        let high = in_binade(sum.high.0.add_mul_rounded(a, b)).pinned();
        let low = sum.high.0.sub(high).add_mul(a, b);
        *sum = Sum { high: High(high), low: integer(sum.low.add(low)).pinned() };
    }

    #[inline(always)]
    fn subtract_product(sum: &mut Sum<Self>, a: Self, b: Self) {
        let high = in_binade(sum.high.0.sub_mul_rounded(a, b)).pinned();
        let low = sum.high.0.sub(high).sub_mul(a, b);
        *sum = Sum { high: High(high), low: integer(sum.low.add(low)).pinned() };
    }

    #[inline(always)]
    fn plus_high(self, n: High<F>) -> Self {
        let carry = self.set(-MIDDLE_OF_INTEGERS).add_mul(n.0, self.set(DOWN));
        integer(self.add(carry))
    }
}
