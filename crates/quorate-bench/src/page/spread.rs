//! Arithmetic on a figure and its spread.

use crate::row::Times;

pub(crate) trait Spread {
    fn times(self, factor: f64) -> Self;
    /// `number / self`: throughput from times.
    fn below(self, number: f64) -> Self;
}

impl Spread for Times {
    fn times(self, factor: f64) -> Self {
        Self { min: self.min * factor, median: self.median * factor, max: self.max * factor }
    }

    fn below(self, number: f64) -> Self {
        Self { min: number / self.max, median: number / self.median, max: number / self.min }
    }
}

/// A figure without a spread.
pub(crate) fn exactly(value: f64) -> Times {
    Times { min: value, median: value, max: value }
}
