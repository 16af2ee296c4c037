//! Decoding. [`crate::encoding`] checks the structure of each item, then the lanes solve the curve equation for eight
//! or sixteen items at a time.

use alloc::vec::Vec;

use super::{
    curve::Encoded,
    field::{Field, LANES, Lanes, Mask, Words},
    instructions::in_lanes,
};
use crate::{
    arithmetic::BlstCurve,
    backend::portable,
    encoding::{DecodeError, FP_BYTES, Form, check},
};

/// Decodes compressed points: canonical, on the curve, not necessarily in the subgroup.
pub(crate) fn decode_each<L: Lanes, C: Encoded<Parameters = L::Curve>>(
    lanes: L,
    encodings: &[&[u8]],
) -> Vec<Result<C, DecodeError>> {
    let (encodings, rest) = encodings.split_at(L::THRESHOLDS.in_lanes(encodings.len()));
    let mut points = each(encodings, C::COMPRESSED, &|encodings, out| {
        if encodings.len() > LANES {
            solve::<L, C, 2>(lanes, encodings, out);
        } else {
            solve::<L, C, 1>(lanes, encodings, out);
        }
    });
    points.extend(portable::encoding::decode_each(rest));
    points
}

/// Decodes uncompressed points: canonical, on the curve, not necessarily in the subgroup.
pub(crate) fn decode_uncompressed_each<L: Lanes, C: Encoded<Parameters = L::Curve>>(
    lanes: L,
    encodings: &[&[u8]],
) -> Vec<Result<C, DecodeError>> {
    let (encodings, rest) = encodings.split_at(L::THRESHOLDS.in_lanes(encodings.len()));
    let mut points = each(encodings, C::UNCOMPRESSED, &|encodings, out| {
        for encodings in encodings.chunks(LANES) {
            verify::<L, C>(lanes, encodings, out);
        }
    });
    points.extend(portable::encoding::decode_uncompressed_each(rest));
    points
}

/// What decides the curve equation: it pushes a point for each encoding, or `None`. It is called by its address, so that [`each`] is
/// compiled once for each group and not for each kind of lanes and each form.
type Points<'a, C> = dyn Fn(&[&[u8]], &mut Vec<Option<C>>) + 'a;

/// Checks the structure of each encoding. `points` decides the curve equation for the finite ones, up to sixteen at a
/// time.
fn each<C: BlstCurve>(encodings: &[&[u8]], expected: usize, points: &Points<'_, C>) -> Vec<Result<C, DecodeError>> {
    let mut finite = Vec::with_capacity(encodings.len());
    let mut out = Vec::with_capacity(encodings.len());
    for (i, encoding) in encodings.iter().enumerate() {
        out.push(check::<C>(encoding, expected).map(|form| {
            if form == Form::Finite {
                finite.push((i, *encoding));
            }
            C::IDENTITY
        }));
    }
    let mut found = Vec::with_capacity(2 * LANES);
    for chunk in finite.chunks(2 * LANES) {
        let encodings: Vec<_> = chunk.iter().map(|(_, encoding)| *encoding).collect();
        found.clear();
        points(&encodings, &mut found);
        for ((i, _), point) in chunk.iter().zip(&found) {
            out[*i] = point.ok_or(DecodeError::NotOnCurve);
        }
    }
    out
}

in_lanes! {
    /// The points of up to 8·N compressed encodings, and `None` if no point has this x.
    fn solve<L: Lanes, C: Encoded<Parameters = L::Curve>>[N: usize](lanes: L, encodings: &[&[u8]], out: &mut Vec<Option<C>>) {
        let mut x = [C::In::<L>::zero(lanes); N];
        let mut squares = x;
        let mut larger: [Mask; N] = [0; N];
        for (i, encodings) in encodings.chunks(LANES).enumerate() {
            x[i] = coordinate(lanes, encodings, 0);
            squares[i] = x[i].squared().times(&x[i]).plus(&C::b(lanes)).carried();
            for (lane, encoding) in encodings.iter().enumerate() {
                larger[i] |= (encoding[0] >> 5 & 1) << lane;
            }
        }
        let roots = C::square_roots(lanes, &squares);
        for (i, encodings) in encodings.chunks(LANES).enumerate() {
            let (y, is_square) = roots[i];
            let y = y.or(!(y.is_larger() ^ larger[i]), &y.negated());
            push::<L, C>(&x[i], &y, is_square, encodings.len(), out);
        }
    }

    /// The points of up to eight uncompressed encodings, and `None` if they are not on the curve.
    fn verify<L: Lanes, C: Encoded<Parameters = L::Curve>>(lanes: L, encodings: &[&[u8]], out: &mut Vec<Option<C>>) {
        let bytes = size_of::<C::Field>();
        let (x, y): (C::In<L>, C::In<L>) = (coordinate(lanes, encodings, 0), coordinate(lanes, encodings, bytes));
        let on_curve = y.squared().equals(&x.squared().times(&x).plus(&C::b(lanes)).carried());
        push::<L, C>(&x, &y, on_curve, encodings.len(), out);
    }
}

#[inline(always)]
fn push<L: Lanes, C: Encoded<Parameters = L::Curve>>(
    x: &C::In<L>,
    y: &C::In<L>,
    good: Mask,
    count: usize,
    out: &mut Vec<Option<C>>,
) {
    let points = x.store().into_iter().zip(y.store()).map(|(x, y)| C::at(x, y)).enumerate().take(count);
    out.extend(points.map(|(lane, point)| (good >> lane & 1 == 1).then_some(point)));
}

/// The coordinate at a byte offset of up to eight encodings, without the flags. Lanes without an encoding are zero.
#[inline(always)]
fn coordinate<F: Field>(lanes: F::Lanes, encodings: &[&[u8]], place: usize) -> F {
    let mut words: Words = [[[0; LANES]; 6]; 2];
    for (lane, encoding) in encodings.iter().enumerate() {
        // The imaginary part comes first.
        let bytes = &encoding[place..place + size_of::<F::Element>()];
        for (part, bytes) in words.iter_mut().zip(bytes.rchunks_exact(FP_BYTES)) {
            for (word, bytes) in part.iter_mut().zip(bytes.rchunks_exact(8)) {
                word[lane] = u64::from_be_bytes(bytes.try_into().expect("eight bytes"));
            }
            part[5][lane] &= u64::MAX >> 3;
        }
    }
    F::from_words(lanes, &words)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Backend, Bls12381Group, G1, G2,
        backend::lanes::{
            curve::tests::{points, small_g1, small_g2},
            tests::{backends_in_lanes, in_each_kind, load2, number},
        },
        encoding::MODULUS,
    };

    fn agree<G: Bls12381Group>(lanes: Backend, encodings: &[Vec<u8>]) {
        let encodings: Vec<&[u8]> = encodings.iter().map(|e| &e[..]).collect();
        let expected: Vec<_> = encodings.iter().map(|e| Backend::Portable.decode::<G>(e)).collect();
        assert_eq!(lanes.decode_each::<G>(&encodings), expected, "{lanes}");
        let expected: Vec<_> = encodings.iter().map(|e| Backend::Portable.decode_uncompressed::<G>(e)).collect();
        assert_eq!(lanes.decode_uncompressed_each::<G>(&encodings), expected, "{lanes}");
    }

    /// Good and bad encodings of both forms.
    fn encodings<G: Bls12381Group>(small: &[G::Affine]) -> Vec<Vec<u8>> {
        let mut points: Vec<G> = points(small).into_iter().map(G::wrap).collect();
        points.push(G::IDENTITY);
        let mut out: Vec<Vec<u8>> = Vec::new();
        for point in points {
            let (short, long) = (point.compress().as_ref().to_vec(), point.serialize().as_ref().to_vec());
            for flag in [0x80, 0x40, 0x20] {
                for good in [&short, &long] {
                    let mut bad = good.clone();
                    bad[0] ^= flag;
                    out.push(bad);
                }
            }
            for place in [1, G::COMPRESSED / 2, G::COMPRESSED - 1, G::COMPRESSED, G::UNCOMPRESSED - 1] {
                for good in [&short, &long] {
                    let mut bad = good.clone();
                    if let Some(byte) = bad.get_mut(place) {
                        *byte ^= 1;
                    }
                    out.push(bad);
                }
            }
            out.extend([short, long]);
        }
        // Small x, real and imaginary, and x near p.
        for part in (0..G::COMPRESSED).step_by(FP_BYTES) {
            for last in 0..40 {
                let mut bytes = alloc::vec![0; G::COMPRESSED];
                bytes[part + FP_BYTES - 1] = last;
                bytes[0] |= 0x80 | (last & 1) << 5;
                out.push(bytes.clone());
                bytes[part..part + FP_BYTES].copy_from_slice(&MODULUS);
                bytes[part + FP_BYTES - 1] = bytes[part + FP_BYTES - 1].wrapping_sub(last);
                bytes[0] |= 0x80 | (last & 1) << 5;
                out.push(bytes);
            }
        }
        out.push(Vec::new());
        out
    }

    fn agrees<G: Bls12381Group>(lanes: Backend, small: &[G::Affine]) {
        let all = encodings::<G>(small);
        agree::<G>(lanes, &all);
        for n in (0..=17).chain([63, 64, 65]) {
            let some: Vec<_> = (0..n).map(|i| all[(i * 11 + n) % all.len()].clone()).collect();
            agree::<G>(lanes, &some);
        }
        // Each kind of flaw in every lane.
        let good = G::generator().compress().as_ref().to_vec();
        for bad in all.iter().step_by(5) {
            for lane in 0..2 * LANES {
                let mut some = alloc::vec![good.clone(); 2 * LANES];
                some[lane] = bad.clone();
                agree::<G>(lanes, &some);
            }
        }
    }

    #[test]
    fn bad_encodings_in_every_lane_g1() {
        backends_in_lanes().for_each(|lanes| agrees::<G1>(lanes, &small_g1()[..8]));
    }

    #[test]
    fn bad_encodings_in_every_lane_g2() {
        backends_in_lanes().for_each(|lanes| agrees::<G2>(lanes, &small_g2()));
    }

    in_each_kind! {
        /// If the imaginary part of y² is zero, the root is real or imaginary.
        fn roots_of_real_numbers(lanes: L) {
            // x³ + 4(1 + i) is real for no small x, so the test computes the roots themselves.
            let small = |n: u64| number([n, 0, 0, 0, 0, 0]);
            let zero = small(0);
            let reals: [_; LANES] = core::array::from_fn(|i| blst::blst_fp2 { fp: [small(i as u64), zero] });
            let imaginary: [_; LANES] = core::array::from_fn(|i| blst::blst_fp2 { fp: [zero, small(i as u64)] });
            for squares in [reals, imaginary] {
                let eight = load2(lanes, &squares);
                for (root, is_square) in blst::blst_p2_affine::square_roots(lanes, &[eight, eight]) {
                    let root = root.squared().store();
                    for lane in 0..LANES {
                        // SAFETY: valid references.
                        let expected = unsafe { blst::blst_fp2_sqrt(&mut blst::blst_fp2::default(), &squares[lane]) };
                        assert_eq!(is_square >> lane & 1 == 1, expected);
                        assert_eq!(root[lane] == squares[lane], expected);
                    }
                }
            }
        }
    }
}
