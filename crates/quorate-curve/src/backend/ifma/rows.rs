//! Elements one by one in memory, as the lanes have them: a row of eight limbs for each, and eight rows make a vector for
//! each limb by a transposition, which is far cheaper than a multiplication.

use core::arch::x86_64::*;

#[cfg(debug_assertions)]
use super::bound::{Bound, UNIT};
use super::{
    LANES,
    field::Field,
    fp::{Fp, Mask},
    fp2::Fp2,
    kernel,
};

/// Eight elements of a coordinate field, and how they lie in memory one by one.
pub trait Coordinate: Field {
    /// One element as the lanes have it, below 2.1p.
    type Row: Copy;
    const ZERO_ROW: Self::Row;

    fn gather(rows: &[&Self::Row; LANES]) -> Self;
    fn scatter(&self) -> [Self::Row; LANES];
    /// Lanes whose limbs are all zero.
    fn blank(&self) -> Mask;
}

/// The limbs of one element of Fp.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub struct Row([i64; 8]);

impl Coordinate for Fp {
    type Row = Row;
    const ZERO_ROW: Row = Row([0; 8]);

    #[inline(always)]
    fn gather(rows: &[&Row; LANES]) -> Self {
        // SAFETY: see the head of `fp.rs`.
        let limbs = unsafe { gather(rows) };
        Self {
            limbs,
            #[cfg(debug_assertions)]
            bound: SHRUNK,
        }
    }

    #[inline(always)]
    fn scatter(&self) -> [Row; LANES] {
        #[cfg(debug_assertions)]
        {
            self.bound.assert_factor(1);
            self.bound.assert_value(SHRUNK.value);
        }
        // SAFETY: see the head of `fp.rs`; a row is eight limbs, as a vector is.
        unsafe { core::mem::transmute(transpose(self.limbs)) }
    }

    #[inline(always)]
    fn blank(&self) -> Mask {
        // SAFETY: see the head of `fp.rs`.
        unsafe { blank(&self.limbs) }
    }
}

impl Coordinate for Fp2 {
    type Row = [Row; 2];
    const ZERO_ROW: [Row; 2] = [Row([0; 8]); 2];

    #[inline(always)]
    fn gather(rows: &[&[Row; 2]; LANES]) -> Self {
        Self::new(
            Coordinate::gather(&core::array::from_fn(|i| &rows[i][0])),
            Coordinate::gather(&core::array::from_fn(|i| &rows[i][1])),
        )
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

/// The bound of a row.
#[cfg(debug_assertions)]
const SHRUNK: Bound = Bound { limb: UNIT - 1, value: 2.1 };

#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
fn gather(rows: &[&Row; LANES]) -> [__m512i; 8] {
    let mut vectors = [_mm512_setzero_si512(); 8];
    kernel::unroll!(I < 8 {
        // SAFETY: a row is 64 bytes on their boundary.
        vectors[I] = unsafe { _mm512_load_si512(core::ptr::from_ref(rows[I]).cast()) };
    });
    transpose(vectors)
}

/// Lane i of vector j becomes lane j of vector i.
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
pub(super) fn transpose(r: [__m512i; 8]) -> [__m512i; 8] {
    let mut out = r;
    // Pairs of rows: their even places in the first vector, their odd ones in the second.
    let low = [0, 2, 4, 6].map(|i| _mm512_unpacklo_epi64(r[i], r[i + 1]));
    let high = [0, 2, 4, 6].map(|i| _mm512_unpackhi_epi64(r[i], r[i + 1]));
    // Four by four pairs.
    for (odd, t) in [(0, low), (1, high)] {
        let (a, b) = (_mm512_shuffle_i64x2::<0x88>(t[0], t[1]), _mm512_shuffle_i64x2::<0x88>(t[2], t[3]));
        let (c, d) = (_mm512_shuffle_i64x2::<0xdd>(t[0], t[1]), _mm512_shuffle_i64x2::<0xdd>(t[2], t[3]));
        out[odd] = _mm512_shuffle_i64x2::<0x88>(a, b);
        out[4 + odd] = _mm512_shuffle_i64x2::<0xdd>(a, b);
        out[2 + odd] = _mm512_shuffle_i64x2::<0x88>(c, d);
        out[6 + odd] = _mm512_shuffle_i64x2::<0xdd>(c, d);
    }
    out
}

#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
fn blank(limbs: &[__m512i; 8]) -> Mask {
    let mut any = limbs[0];
    kernel::unroll!(I < 8 { any = _mm512_or_si512(any, limbs[I]); });
    _mm512_testn_epi64_mask(any, any)
}
