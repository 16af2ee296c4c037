//! Symbols in place of integers of 64 bits.

use num_bigint::BigInt;

use super::state::{Rounding, Symbol};
use crate::backend::lanes::integer::{Bits, Integer};

/// The result of a step: a signed number of 64 bits.
#[track_caller]
pub(in crate::backend) fn in_lane(n: Symbol) -> Symbol {
    n.assert_within(i64::MIN.into()..=i64::MAX.into(), "no column overflows").step()
}

impl Bits for Symbol {
    fn low_limb(self, bits: u32) -> Self {
        self.lowest(bits).step()
    }
    fn moved_down(self, bits: u32) -> Self {
        self.assert_within(BigInt::ZERO..=u64::MAX.into(), "a number that is moved down has 64 bits");
        Symbol::moved_down(self, bits).step()
    }
    fn with_above(self, above: Self, bits: u32) -> Self {
        Symbol::with_above(self, above, bits).step()
    }
}

impl Integer for Symbol {
    fn splat(self, n: i64) -> Self {
        Self::constant(n).step()
    }
    fn plus(self, other: Self) -> Self {
        in_lane(self.sum(other))
    }
    fn carry(self, bits: u32) -> Self {
        in_lane(self.cut_at(bits, Rounding::Down).high)
    }
    fn where_negative(self, kept: Self, other: Self) -> Self {
        if self.is_negative() { kept } else { other }
    }
}
