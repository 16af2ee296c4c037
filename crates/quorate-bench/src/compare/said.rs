//! Whether a measured figure is what a source says. The word "holds" stands beside a figure only if this says so.

/// The figures that agree with a statement, the edges among them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Said {
    least: f64,
    greatest: f64,
}

/// "About" is within this factor.
const ABOUT: f64 = 1.5;

impl Said {
    /// "It takes 200 ms."
    pub(crate) fn about(figure: f64) -> Self {
        Self::about_between(figure, figure)
    }

    /// "About twice as fast (1.8 times)": both figures are the source's.
    pub(crate) fn about_between(low: f64, high: f64) -> Self {
        Self { least: low / ABOUT, greatest: high * ABOUT }
    }

    /// "Less than a second."
    pub(crate) fn at_most(figure: f64) -> Self {
        Self { least: f64::NEG_INFINITY, greatest: figure }
    }

    /// "More than half."
    pub(crate) fn at_least(figure: f64) -> Self {
        Self { least: figure, greatest: f64::INFINITY }
    }

    /// Exactly these.
    pub(crate) fn within(least: f64, greatest: f64) -> Self {
        Self { least, greatest }
    }

    /// A figure that is not a number agrees with nothing.
    pub(crate) fn holds(self, figure: f64) -> bool {
        self.least <= figure && figure <= self.greatest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_holds_or_not_on_both_sides() {
        for (said, yes, no) in [
            (Said::about(87.0), &[87.0, 60.0, 130.0][..], &[17.0, 57.0, 131.0][..]),
            (Said::about_between(8.0, 10.0), &[5.4, 8.0, 15.0], &[5.3, 15.1, 33.0]),
            (Said::at_most(1e6), &[0.0, 1e6], &[1_000_001.0]),
            (Said::at_least(0.5), &[0.5, 9.0], &[0.49]),
            (Said::within(1.0, 2.0), &[1.0, 2.0], &[0.9, 2.1]),
        ] {
            assert!(yes.iter().all(|figure| said.holds(*figure)), "{said:?}");
            assert!(no.iter().all(|figure| !said.holds(*figure)), "{said:?}");
            assert!(!said.holds(f64::NAN), "{said:?}");
        }
    }
}
