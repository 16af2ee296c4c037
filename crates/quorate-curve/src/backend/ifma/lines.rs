//! The lines of a fixed point of G2. They are stored as [rows](super::rows), so that eight lines are loaded into lanes
//! without a multiplication or a shift.

use alloc::boxed::Box;

use super::{
    fp2::Fp2,
    rows::Coordinate,
    vector::{Ifma, LANES},
};

/// The number of steps of the ate pairing's loop: 63 doublings and 5 additions.
pub(crate) const STEPS: usize = 68;

/// The lines of a point, one for each step.
pub(crate) type Lines = Box<[Line]>;

/// The two coefficients of a line, with limbs below one unit and values below 2.1p. 256 bytes.
#[derive(Clone, Copy)]
pub(crate) struct Line {
    slope: <Fp2 as Coordinate>::Row,
    rest: <Fp2 as Coordinate>::Row,
}

/// The line of each lane, from the coefficients of all. These have limbs below one unit and values below 2.1p.
#[inline(always)]
pub(crate) fn scatter(slope: &Fp2, rest: &Fp2) -> [Line; LANES] {
    let (slope, rest) = (slope.scatter(), rest.scatter());
    core::array::from_fn(|lane| Line { slope: slope[lane], rest: rest[lane] })
}

/// The coefficients of all lines, from one line for each lane.
#[inline(always)]
pub(crate) fn gather(lanes: Ifma, lines: &[&Line; LANES]) -> (Fp2, Fp2) {
    (Fp2::gather(lanes, &lines.map(|line| &line.slope)), Fp2::gather(lanes, &lines.map(|line| &line.rest)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::ifma::{
        fp2::tests::{elements2, load},
        lanes_or_skip,
        vector::in_lanes,
    };

    in_lanes! {
        /// The first lane's line becomes the last one's.
        fn reversed(lanes: Ifma, slope: &Fp2, rest: &Fp2) -> (Fp2, Fp2) {
            let lines = scatter(&slope.shrunk(), &rest.shrunk());
            gather(lanes, &core::array::from_fn(|lane| &lines[7 - lane]))
        }
    }

    #[test]
    fn gathered_is_what_was_scattered() {
        let Some(lanes) = lanes_or_skip() else { return };
        let vectors = elements2();
        for (i, a) in vectors.iter().enumerate() {
            let b = &vectors[(i + 1) % vectors.len()];
            let (slope, rest) = reversed(lanes, &load(lanes, a), &load(lanes, b));
            let (mut a, mut b) = (*a, *b);
            a.reverse();
            b.reverse();
            assert_eq!((slope.store(), rest.store()), (a, b));
        }
    }
}
