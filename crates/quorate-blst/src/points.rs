//! Many points at once: decoding, checking, adding and multiplying, with blst's answers.

use std::num::NonZeroUsize;

use blst::BLST_ERROR;
use quorate::{aggregate::sum_of_multiples, threads::parallel};
use quorate_curve::{Backend, Bls12381Group, Scalar};

use crate::{
    check::{Check, Identity},
    threads::{Portion, each_chunk, threads},
};

/// The error of the first point that blst would refuse.
///
/// Points are checked in runs, so that a bad one among the first stops the work early.
pub(crate) fn validate<G: Bls12381Group>(points: &[G], identity: Identity) -> Result<(), BLST_ERROR> {
    points.chunks(RUN).try_for_each(|run| {
        let members = members(run);
        run.iter().zip(members).try_for_each(|(point, member)| judge(point, member, identity))
    })
}

fn judge<G: Bls12381Group>(point: &G, member: bool, identity: Identity) -> Result<(), BLST_ERROR> {
    if identity == Identity::Refused && point.is_identity() {
        Err(BLST_ERROR::BLST_PK_IS_INFINITY)
    } else if !member {
        Err(BLST_ERROR::BLST_POINT_NOT_IN_GROUP)
    } else {
        Ok(())
    }
}

/// Whether each point is in the subgroup.
pub(crate) fn members<G: Bls12381Group>(points: &[G]) -> Vec<bool> {
    each_chunk(points, CHECKS, |points| Backend::auto().in_subgroup(points))
}

/// The sum of encoded points, or the error of the first that blst would refuse. `decode` is blst's decoder.
pub(crate) fn sum_of_encoded<G: Bls12381Group>(
    encodings: &[&[u8]],
    decode: impl Fn(&[u8]) -> Result<G, BLST_ERROR> + Sync,
    check: Check,
    identity: Identity,
) -> Result<G, BLST_ERROR> {
    let mut points = Vec::with_capacity(encodings.len());
    for run in encodings.chunks(RUN) {
        let decoded = each_chunk(run, CHECKS, |run| decode_each(run, &decode));
        let first = points.len();
        let flaw = decoded.into_iter().find_map(|point| point.map(|point| points.push(point)).err());
        // A point before the flaw comes first, whatever is wrong with it.
        if check == Check::Wanted {
            validate(&points[first..], identity)?;
        }
        flaw.map_or(Ok(()), Err)?;
    }
    Ok(sum_of_shares(&points))
}

/// Decodes points of either form. The engine refuses encodings that blst accepts and the other way round, so blst
/// decides wherever the engine has an objection, and on points with x = 0.
fn decode_each<G: Bls12381Group>(
    encodings: &[&[u8]],
    decode: impl Fn(&[u8]) -> Result<G, BLST_ERROR>,
) -> Vec<Result<G, BLST_ERROR>> {
    let backend = Backend::auto();
    if backend.lanes() == 1 {
        return encodings.iter().map(|bytes| decode(bytes)).collect();
    }
    let is_form = |bytes: &[u8], length: usize, flag: u8| bytes.len() == length && bytes[0] & 0x80 == flag;
    let mut decoded: Vec<Option<G>> = vec![None; encodings.len()];
    for (length, flag) in [(G::COMPRESSED, 0x80), (G::UNCOMPRESSED, 0)] {
        let form: Vec<_> = (0..encodings.len()).filter(|i| is_form(encodings[*i], length, flag)).collect();
        let bytes: Vec<_> = form.iter().map(|i| encodings[*i]).collect();
        let points = if flag == 0 { backend.decode_uncompressed_each(&bytes) } else { backend.decode_each(&bytes) };
        form.into_iter().zip(points).for_each(|(i, point)| decoded[i] = point.ok());
    }
    let x_is_zero = |bytes: &[u8]| bytes[0] & 0x1f == 0 && bytes[1..G::COMPRESSED].iter().all(|byte| *byte == 0);
    let settle = |(point, bytes): (Option<G>, &&[u8])| match point {
        Some(point) if !x_is_zero(bytes) => Ok(point),
        _ => decode(bytes),
    };
    decoded.into_iter().zip(encodings).map(settle).collect()
}

/// The sum, or `None` where blst should compute it: it is as fast for few points.
pub(crate) fn sum<G: Bls12381Group>(points: &[G]) -> Option<G> {
    (points.len() >= SUMMED).then(|| sum_of_shares(points))
}

/// The sum by the engine: each thread adds a share of the points.
fn sum_of_shares<G: Bls12381Group>(points: &[G]) -> G {
    let backend = Backend::auto();
    backend.sum(&each_chunk(points, SUMS, |share| vec![backend.sum(share)]))
}

/// Σ nᵢ·Pᵢ for scalars of `nbits` bits, or `None` where blst should compute it: on a CPU without lanes, for few points, and
/// for long scalars if a point is outside the subgroup, because the engine then uses an endomorphism that holds inside.
pub(crate) fn multiply<G: Bls12381Group>(points: &[G], scalars: &[u8], nbits: usize, members: Check) -> Option<G> {
    let (backend, width) = (Backend::auto(), nbits.div_ceil(8));
    if !(1..=256).contains(&nbits) || scalars.len() < width * points.len() {
        return None;
    }
    if backend.lanes() == 1 || points.len() < MULTIPLIED {
        return None;
    }
    if nbits >= 128 && members == Check::Waived && validate(points, Identity::Allowed).is_err() {
        return None;
    }
    // Bits above `nbits` do not count.
    let last = u8::MAX >> (8 * width - nbits);
    let terms = points.iter().zip(scalars.chunks_exact(width)).map(|(point, bytes)| {
        // From little-endian bytes to big-endian ones.
        let mut scalar = [0; 32];
        scalar[..width].copy_from_slice(bytes);
        scalar[width - 1] &= last;
        scalar.reverse();
        (*point, Scalar::reduce(&scalar))
    });
    Some(sum_of_multiples(&terms.collect::<Vec<_>>(), backend, threads(points.len(), MULTIPLES)))
}

/// Σ nᵢ·Pᵢ by blst: each thread multiplies a share of the points, and `add` adds the sum of a share to another.
///
/// # Panics
/// If there are no points or too few bytes of scalars.
pub(crate) fn multiply_by_blst<P: Sync, Sum: Send>(
    points: &[P],
    scalars: &[u8],
    nbits: usize,
    mut add: impl FnMut(&mut Sum, &Sum),
) -> Sum
where
    [P]: blst::MultiPoint<Output: Into<Sum>>,
{
    let (threads, width) = (threads(points.len(), MULTIPLES), nbits.div_ceil(8));
    let enough = width.checked_mul(points.len()).is_some_and(|bytes| (1..=scalars.len()).contains(&bytes));
    if threads == NonZeroUsize::MIN || !enough {
        return blst::MultiPoint::mult(points, scalars, nbits).into();
    }
    let share = points.len().div_ceil(threads.get());
    let shares: Vec<_> = points.chunks(share).zip(scalars.chunks(width * share)).collect();
    let sums: Vec<Sum> =
        parallel(threads, shares.len(), |i| blst::MultiPoint::mult(shares[i].0, shares[i].1, nbits).into());
    let sum = sums.into_iter().reduce(|mut sum, of_share| {
        add(&mut sum, &of_share);
        sum
    });
    sum.expect("there are points for two threads")
}

/// How many points are checked or decoded before the first flaw is looked for.
const RUN: usize = 1024;

/// The fewest points for which another thread checks.
const CHECKS: Portion = Portion { one_at_a_time: 8, in_lanes: 64 };

/// The fewest points for which another thread adds. They take about half a millisecond, as in `dropin/[PublicKey]::add`.
const SUMS: Portion = Portion { one_at_a_time: 1024, in_lanes: 2048 };

/// The fewest points for which another thread multiplies. By 64 bits they take about half a millisecond, as in
/// `dropin/[PublicKey]::mult, 64 bits`.
const MULTIPLES: Portion = Portion { one_at_a_time: 64, in_lanes: 256 };

/// The number of points from which the engine adds faster than blst.
pub(crate) const SUMMED: usize = 96;

/// The number of points from which the lanes multiply faster than blst.
const MULTIPLIED: usize = 8;

#[cfg(test)]
mod tests {
    use blst::{
        blst_p1_affine,
        min_pk::{AggregatePublicKey, SecretKey},
    };
    use quorate_curve::G1;

    use super::*;
    use crate::threads::set_threads;

    fn points(n: usize) -> Vec<blst_p1_affine> {
        let key = |i| SecretKey::key_gen(&[i; 32], &[]).unwrap().sk_to_pk().into();
        let few: Vec<blst_p1_affine> = (0..16).map(key).collect();
        few.into_iter().cycle().take(n).collect()
    }

    /// The encoding of blst's sum, by one thread.
    fn encoded(sum: blst::blst_p1) -> [u8; 48] {
        AggregatePublicKey::from(sum).to_public_key().compress()
    }

    /// With both kinds of backends there is work for four threads.
    #[test]
    fn shares_of_four_threads_add_up() {
        set_threads(NonZeroUsize::new(4).unwrap());
        let most = if cfg!(feature = "no-threads") { 1 } else { 4 };
        let width = 8;
        for n in [1, 63, 4 * 256, 4 * 256 + 5] {
            let points = points(n);
            let scalars: Vec<_> = (0..n * width).map(|i| (i * i % 251) as u8).collect();
            for nbits in [61, 64] {
                let expected = encoded(blst::MultiPoint::mult(&points[..], &scalars, nbits));
                let mut shares = 1;
                let sum = multiply_by_blst(&points, &scalars, nbits, |sum: &mut AggregatePublicKey, share| {
                    shares += 1;
                    sum.add_aggregate(share);
                });
                assert_eq!(encoded(sum.into()), expected, "{n} points, {nbits} bits");
                assert_eq!(shares, if n < 4 * 256 { 1 } else { most });
                let points: Vec<_> = points.iter().map(|point| G1::from_blst_assuming_on_curve(*point)).collect();
                let sum = multiply(&points, &scalars, nbits, Check::Waived).map(|sum| sum.compress());
                let by_engine = Backend::auto().lanes() > 1 && n >= MULTIPLIED;
                assert_eq!(sum, by_engine.then_some(expected), "{n} points, {nbits} bits");
            }
        }
        for n in [1024, 4 * 2048 + 5] {
            let points = points(n);
            let expected = encoded(blst::MultiPoint::add(&points[..]));
            let points: Vec<_> = points.iter().map(|point| G1::from_blst_assuming_on_curve(*point)).collect();
            assert_eq!(sum(&points).unwrap().compress(), expected, "{n} points");
        }
    }

    #[test]
    #[should_panic(expected = "scalars length mismatch")]
    fn too_few_scalars_for_the_last_share() {
        multiply_by_blst(&points(1024), &[1; 8 * 1024 - 1], 64, AggregatePublicKey::add_aggregate);
    }
}
