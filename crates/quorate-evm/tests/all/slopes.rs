//! The contract's check of slopes, as an oracle.

use ark_ec::AffineRepr;
use ark_ff::Field;
use quorate_bn254::{Fq2, G2Affine, encoding::fq_from_bytes};
use quorate_evm::hint::BaseChange;

/// The sum, if each slope λ satisfies λ·(x2 - x1) = y2 - y1 with x1 and x2 distinct, and is canonical:
/// x3 = λ² - x1 - x2, y3 = λ·(x1 - x3) - y1. There must be one slope for each addition.
pub(crate) fn sum_by_slopes(
    base: Option<G2Affine>,
    changes: impl IntoIterator<Item = (G2Affine, BaseChange)>,
    slopes: &[[u8; 64]],
) -> Option<G2Affine> {
    let mut slopes = slopes.iter();
    let mut sum = base.map(|base| base.xy()).unwrap_or_default();
    for (key, change) in changes {
        let (x2, y2) = key.xy()?;
        let y2 = if change == BaseChange::Added { y2 } else { -y2 };
        let Some((x1, y1)) = sum else {
            sum = Some((x2, y2));
            continue;
        };
        let [imaginary, real] = slopes.next()?.as_chunks().0 else { return None };
        let slope = Fq2::new(fq_from_bytes(real)?, fq_from_bytes(imaginary)?);
        if x1 == x2 || slope * (x2 - x1) != y2 - y1 {
            return None;
        }
        let x3 = slope.square() - x1 - x2;
        sum = Some((x3, slope * (x1 - x3) - y1));
    }
    let (x, y) = sum?;
    slopes.next().is_none().then(|| G2Affine::new_unchecked(x, y))
}
