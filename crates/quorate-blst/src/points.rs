//! Many points at once: decoding, checking, adding and multiplying, with blst's answers.

use blst::BLST_ERROR;
use quorate_curve::{Backend, Bls12381Group, Scalar};

use crate::{
    check::{Check, Identity},
    threads::{Portion, each_chunk},
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
    Ok(Backend::auto().sum(&points))
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
    (points.len() >= SUMMED).then(|| Backend::auto().sum(points))
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
    Some(backend.msm(&terms.collect::<Vec<_>>()))
}

/// How many points are checked or decoded before the first flaw is looked for.
const RUN: usize = 1024;

/// The fewest points for which another thread checks.
const CHECKS: Portion = Portion { one_at_a_time: 8, in_lanes: 64 };

/// The number of points from which the engine adds faster than blst.
pub(crate) const SUMMED: usize = 96;

/// The number of points from which the lanes multiply faster than blst.
const MULTIPLIED: usize = 8;
