//! Elements one by one in memory, in the form of the lanes. An element is a row of eight limbs, and a transposition
//! turns eight rows into a vector for each limb. It is far cheaper than a multiplication, which another form would
//! need.

use super::{
    bound::Bound,
    field::Field,
    fp::Fp,
    fp2::Fp2,
    kernel::limbs_of,
    vector::{Ifma, LANES, Mask, Vector},
};

/// Eight elements of a coordinate field that can be stored one by one.
pub trait Coordinate: Field {
    /// One element in the form of the lanes, below 2.1p.
    type Row: Copy;
    const ZERO_ROW: Self::Row;

    fn gather(lanes: Ifma, rows: &[&Self::Row; LANES]) -> Self;
    fn scatter(&self) -> [Self::Row; LANES];
    /// Lanes whose limbs are all zero.
    fn blank(&self) -> Mask;
}

/// The limbs of one element of Fp below 2.1p, in a cache line.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub struct Row([i64; 8]);

impl Coordinate for Fp {
    type Row = Row;
    const ZERO_ROW: Row = Row([0; 8]);

    #[inline(always)]
    fn gather(lanes: Ifma, rows: &[&Row; LANES]) -> Self {
        let vectors = limbs_of!(I < 8 => Vector::load(lanes, &rows[I].0));
        Self { limbs: transposed(&vectors), bound: Bound::new(1, 2.1) }
    }

    #[inline(always)]
    fn scatter(&self) -> [Row; LANES] {
        self.bound.assert_factor(1);
        self.bound.assert_value(2.1);
        let vectors = transposed(&self.limbs);
        limbs_of!(I < 8 => Row(vectors[I].words()))
    }

    #[inline(always)]
    fn blank(&self) -> Mask {
        let [a, b, c, d, e, f, g, h] = self.limbs;
        a.or(b).or(c).or(d).or(e).or(f).or(g).or(h).is_zero()
    }
}

impl Coordinate for Fp2 {
    type Row = [Row; 2];
    const ZERO_ROW: [Row; 2] = [Row([0; 8]); 2];

    #[inline(always)]
    fn gather(lanes: Ifma, rows: &[&[Row; 2]; LANES]) -> Self {
        let part = |i: usize| Fp::gather(lanes, &core::array::from_fn(|lane| &rows[lane][i]));
        Self::new(part(0), part(1))
    }

    #[inline(always)]
    fn scatter(&self) -> [[Row; 2]; LANES] {
        let (c0, c1) = (self.c0.scatter(), self.c1.scatter());
        core::array::from_fn(|i| [c0[i], c1[i]])
    }

    #[inline(always)]
    fn blank(&self) -> Mask {
        self.c0.blank() & self.c1.blank()
    }
}

/// Lane i of vector j becomes lane j of vector i.
#[inline(always)]
pub(super) fn transposed(rows: &[Vector; 8]) -> [Vector; 8] {
    // First, lanes of two neighbouring rows side by side: the even lanes in one vector, the odd ones in the next.
    let mut twos = *rows;
    for i in [0, 2, 4, 6] {
        twos[i] = rows[i].even_lanes(rows[i + 1]);
        twos[i + 1] = rows[i].odd_lanes(rows[i + 1]);
    }
    // Then pairs of lanes: first those of four rows, then those of eight.
    let mut columns = *rows;
    for odd in [0, 1] {
        let [a, b, c, d] = [twos[odd], twos[2 + odd], twos[4 + odd], twos[6 + odd]];
        let (ab_even, ab_odd) = (a.even_pairs(b), a.odd_pairs(b));
        let (cd_even, cd_odd) = (c.even_pairs(d), c.odd_pairs(d));
        columns[odd] = ab_even.even_pairs(cd_even);
        columns[4 + odd] = ab_even.odd_pairs(cd_even);
        columns[2 + odd] = ab_odd.even_pairs(cd_odd);
        columns[6 + odd] = ab_odd.odd_pairs(cd_odd);
    }
    columns
}
