//! The lines of a fixed point of G2. They are stored as [rows](Field::Row), so that eight lines are loaded into lanes
//! without a multiplication or a shift.

use alloc::boxed::Box;

use super::{
    field::{Field, LANES, PrimeField},
    fp2::Fp2,
};

/// The lines of a point, one for each step, with the [rows](Field::Row) of Fp.
pub(crate) type Lines<R> = Box<[Line<R>]>;

/// The two coefficients of a line, with limbs below one unit and values below 2.1p. 256 bytes.
#[derive(Clone, Copy)]
pub(crate) struct Line<R> {
    slope: [R; 2],
    rest: [R; 2],
}

/// The line of each lane, from the coefficients of all. These have limbs below one unit and values below 2.1p.
#[inline(always)]
pub(crate) fn scatter<P: PrimeField>(slope: &Fp2<P>, rest: &Fp2<P>) -> [Line<P::Row>; LANES] {
    let (slope, rest) = (slope.scatter(), rest.scatter());
    core::array::from_fn(|lane| Line { slope: slope[lane], rest: rest[lane] })
}

/// The coefficients of all lines, from one line for each lane.
#[inline(always)]
pub(crate) fn gather<P: PrimeField>(lanes: P::Lanes, lines: &[&Line<P::Row>; LANES]) -> (Fp2<P>, Fp2<P>) {
    (Fp2::gather(lanes, &lines.map(|line| &line.slope)), Fp2::gather(lanes, &lines.map(|line| &line.rest)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::lanes::{
        instructions::in_lanes,
        tests::{elements2, in_each_kind, load2},
    };

    in_lanes! {
        /// The first lane's line becomes the last one's.
        fn reversed<P: PrimeField>(lanes: P::Lanes, slope: &Fp2<P>, rest: &Fp2<P>) -> (Fp2<P>, Fp2<P>) {
            let lines = scatter(&slope.shrunk(), &rest.shrunk());
            gather(lanes, &core::array::from_fn(|lane| &lines[7 - lane]))
        }
    }

    in_each_kind! {
        fn gathered_is_what_was_scattered(lanes: L) {
            let vectors = elements2();
            for (i, a) in vectors.iter().enumerate() {
                let b = &vectors[(i + 1) % vectors.len()];
                let (slope, rest) = reversed(lanes, &load2(lanes, a), &load2(lanes, b));
                let (mut a, mut b) = (*a, *b);
                a.reverse();
                b.reverse();
                assert_eq!((slope.store(), rest.store()), (a, b));
            }
        }
    }
}
