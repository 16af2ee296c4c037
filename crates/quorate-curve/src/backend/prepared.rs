//! Points of G2 with the lines of their Miller loops, for points that are paired often.

use core::fmt;

#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
use super::ifma::fp::Row as IfmaRow;
use super::portable;
#[cfg(any(
    all(target_arch = "x86_64", target_feature = "sse2"),
    all(target_arch = "aarch64", target_feature = "neon")
))]
use super::{fma::fp::Row as FmaRow, lanes::lines::Lines};
use crate::group::G2;

/// A point of G2 with the lines of the ate pairing's Miller loop. The lines are about four tenths of the loop's work,
/// so prepare a point that is paired at least three times. [`Backend::prepare`](crate::Backend::prepare) makes it, for
/// [`Pairing::Ate`](crate::Pairing::Ate).
///
/// About 200 bytes, and on the heap 17,408 bytes from the lanes or 19,584 from blst. Every backend accepts it. A
/// backend that did not make it uses only the point, and saves nothing.
#[derive(Clone)]
pub struct PreparedG2 {
    point: G2,
    lines: PreparedLines,
}

/// Lines in the form of the backend that made them. The lines of the identity are never used.
#[derive(Clone)]
pub(super) enum PreparedLines {
    Portable(portable::pairing::Lines),
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    Ifma(Lines<IfmaRow>),
    #[cfg(any(
        all(target_arch = "x86_64", target_feature = "sse2"),
        all(target_arch = "aarch64", target_feature = "neon")
    ))]
    Fma(Lines<FmaRow>),
}

impl PreparedLines {
    /// The lines, if the portable backend made them.
    pub(super) fn portable(&self) -> Option<&portable::pairing::Lines> {
        match self {
            Self::Portable(lines) => Some(lines),
            #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
            Self::Ifma(_) => None,
            #[cfg(any(
                all(target_arch = "x86_64", target_feature = "sse2"),
                all(target_arch = "aarch64", target_feature = "neon")
            ))]
            Self::Fma(_) => None,
        }
    }
}

/// Rows of lanes, whose lines a point keeps.
#[cfg(any(
    all(target_arch = "x86_64", target_feature = "sse2"),
    all(target_arch = "aarch64", target_feature = "neon")
))]
pub(super) trait LinesInLanes: Sized {
    /// Lines to keep.
    fn keep(lines: Lines<Self>) -> PreparedLines;
    /// The lines that were kept, if lanes with these rows made them.
    fn of(lines: &PreparedLines) -> Option<&Lines<Self>>;
}

#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
impl LinesInLanes for IfmaRow {
    fn keep(lines: Lines<Self>) -> PreparedLines {
        PreparedLines::Ifma(lines)
    }

    fn of(lines: &PreparedLines) -> Option<&Lines<Self>> {
        if let PreparedLines::Ifma(lines) = lines { Some(lines) } else { None }
    }
}

#[cfg(any(
    all(target_arch = "x86_64", target_feature = "sse2"),
    all(target_arch = "aarch64", target_feature = "neon")
))]
impl LinesInLanes for FmaRow {
    fn keep(lines: Lines<Self>) -> PreparedLines {
        PreparedLines::Fma(lines)
    }

    fn of(lines: &PreparedLines) -> Option<&Lines<Self>> {
        if let PreparedLines::Fma(lines) = lines { Some(lines) } else { None }
    }
}

impl PreparedG2 {
    pub(super) fn new(point: G2, lines: PreparedLines) -> Self {
        Self { point, lines }
    }

    /// The point.
    pub const fn point(&self) -> G2 {
        self.point
    }

    pub(super) const fn lines(&self) -> &PreparedLines {
        &self.lines
    }
}

impl fmt::Debug for PreparedG2 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PreparedG2({:?})", self.point)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Backend, G1, Group, MillerValue, Pairing, Segments};
    use alloc::{vec, vec::Vec};

    /// Numbers of pairs around every width of a vector, with identities on both sides and points prepared by either
    /// backend.
    #[test]
    fn prepared_points_have_the_values_of_their_points() {
        let oracle = Backend::Portable;
        for n in [0, 1, 2, 4, 5, 7, 8, 9, 15, 16, 17, 65, 130] {
            let names: Vec<_> = (0..n).map(usize::to_le_bytes).collect();
            let messages: Vec<_> = names.iter().map(|m| (&m[..], &[][..])).collect();
            let mut ps = oracle.hash_to_curve::<G1>(b"p", &messages);
            let mut qs = oracle.hash_to_curve::<G2>(b"q", &messages);
            if n > 7 {
                ps[3] = G1::IDENTITY;
                (ps[5], qs[5]) = (G1::IDENTITY, G2::IDENTITY);
                qs[n - 1] = G2::IDENTITY;
            }
            let pairs: Vec<_> = ps.iter().copied().zip(qs.iter().copied()).collect();
            for ends in [vec![n], vec![n / 2, n], vec![0, n / 3, n / 3, n], (0..=n).collect()] {
                let segments = Segments::from_ends(pairs.clone(), ends.clone());
                let expected = oracle.final_exponentiations(&oracle.miller_products(Pairing::Ate, &segments));
                for maker in Backend::available() {
                    let prepared = maker.prepare(&qs);
                    assert!(prepared.iter().map(PreparedG2::point).eq(qs.iter().copied()));
                    let pairs = Segments::from_ends(ps.iter().copied().zip(&prepared).collect(), ends.clone());
                    for backend in Backend::available() {
                        let values = backend.miller_products_prepared(&pairs);
                        let values = oracle.final_exponentiations(&values);
                        assert_eq!(values, expected, "{n} points of {maker} by {backend} to {ends:?}");
                    }
                }
            }
        }
    }

    /// Only identities, whatever their lines are.
    #[test]
    fn prepared_identities_are_one() {
        for b in Backend::available() {
            let prepared = b.prepare(&[G2::IDENTITY, G2::generator()]);
            let pairs: Vec<_> = (0..9).map(|_| (G1::generator(), &prepared[0])).collect();
            for n in 0..=9 {
                let values = b.miller_products_prepared(&Segments::one(pairs[..n].to_vec()));
                assert!(b.final_exponentiation(values[0] * MillerValue::ONE).is_one());
            }
            let values = b.miller_products_prepared(&Segments::one(vec![(G1::IDENTITY, &prepared[1]); 9]));
            assert!(b.final_exponentiation(values[0]).is_one());
        }
    }
}
