//! Hashing to the curve, eight messages at a time: RFC 9380, section 8.8, the `_RO_` suites.
//!
//! 1. `hash_to_field` (section 5.2) gives two elements u for each message.
//! 2. The simplified SWU map (section 6.6.2) takes both to the isogenous curve E'.
//! 3. The two points are added on E'.
//! 4. The isogeny takes the sum to E. Hashes for sums end here, in both groups.
//! 5. The cofactor is cleared.
//!
//! Points are affine, and a block of messages shares the inversions. There are no exceptions: in the lanes of zero
//! denominators and of equal or opposite points other values are chosen.

use alloc::vec::Vec;

use super::{
    curve::{self, Affine, Jacobian},
    field::{Few, Field, LANES, Lanes, Mask, PrimeField, Words, invert_all},
    instructions::in_lanes,
    spread_point::{InSlots, SpreadPoint},
    subgroup::Subgroup,
    unroll::limbs_of,
};
use crate::{
    arithmetic::{Curve, field::Field as _},
    backend::portable::{
        self,
        hash_to_curve::{HashForSums, expand},
        map_to_g2::TWO_TO_256,
    },
    pairing::Bls12381,
};

/// The number of messages that share inversions: enough to make these cheap, and few enough for the caches.
const BLOCK: usize = 16 * LANES;

pub(crate) fn hash_to_curve<L: Lanes<Curve = Bls12381>, C: HashInLanes>(
    lanes: L,
    dst: &[u8],
    messages: &[(&[u8], &[u8])],
) -> Vec<C> {
    let (many, few) = messages.split_at(L::THRESHOLDS.points_in_lanes(messages.len()));
    let mut points = in_blocks(many, |messages| whole(lanes, dst, messages));
    if few.len() < L::THRESHOLDS.messages {
        points.extend(portable::hash_to_curve::hash_to_curve::<C>(dst, few));
    } else {
        points.extend(
            in_blocks(few, |messages| images(lanes, dst, messages)).iter().map(|image| C::clear_alone(lanes, image)),
        );
    }
    points
}

/// The images of the isogeny, in both groups. [`clear_sums`] clears the cofactor of their sums.
///
/// The portable backend gives other points for G1. Clear each backend's sums with the same backend.
pub(crate) fn hash_for_sums<L: Lanes<Curve = Bls12381>, C: HashInLanes>(
    lanes: L,
    dst: &[u8],
    messages: &[(&[u8], &[u8])],
) -> Vec<C> {
    if !C::PORTABLE_IS_UNCLEARED {
        return in_blocks(messages, |messages| images(lanes, dst, messages));
    }
    let (messages, rest) = messages.split_at(L::THRESHOLDS.messages_in_lanes(messages.len()));
    let mut points = in_blocks(messages, |messages| images(lanes, dst, messages));
    points.extend(C::hash_for_sums(dst, rest));
    points
}

pub(crate) fn clear_sums<L: Lanes<Curve = Bls12381>, C: HashInLanes>(lanes: L, sums: &[C]) -> Vec<C> {
    let (sums, rest) = sums.split_at(L::THRESHOLDS.points_in_lanes(sums.len()));
    let mut points = in_blocks(sums, |sums| clear_points(lanes, sums));
    points.extend(rest.iter().map(|sum| C::clear_alone(lanes, sum)));
    points
}

/// Computes vectors of points for blocks of items. `None` is the identity.
fn in_blocks<T, C: Curve>(items: &[T], of: impl Fn(&[T]) -> Vec<[Option<C>; LANES]>) -> Vec<C> {
    let mut out = Vec::with_capacity(items.len());
    for block in items.chunks(BLOCK) {
        let points = of(block).into_iter().flatten().take(block.len());
        out.extend(points.map(|point| point.unwrap_or(C::IDENTITY)));
    }
    out
}

/// The constants of the simplified SWU map to E': y² = x³ + a·x + b.
pub struct Swu<F> {
    pub(crate) a: F,
    pub(crate) b: F,
    pub(crate) z: F,
    pub(crate) minus_b_over_a: F,
    pub(crate) b_over_z_a: F,
}

impl<F: Field> Swu<F> {
    /// Zu².
    #[inline(always)]
    pub(super) fn z_u2(&self, u: &F) -> F {
        self.z.times(&u.squared())
    }

    /// Z²u⁴ + Zu².
    #[inline(always)]
    pub(super) fn denominator(&self, u: &F) -> F {
        let z_u2 = self.z_u2(u);
        z_u2.squared().plus(&z_u2)
    }

    /// x₁ = -B/A·(1 + 1/(Z²u⁴ + Zu²)), or B/(ZA) if that denominator is zero, as its inverse then is.
    #[inline(always)]
    pub(super) fn x1(&self, inverse: &F) -> F {
        let x1 = self.minus_b_over_a.times(&F::one(inverse.lanes()).plus(inverse));
        let exceptional = inverse.is_zero();
        if exceptional == 0 { x1 } else { self.b_over_z_a.or(exceptional, &x1) }
    }

    /// g(x), the right side of the equation of E'.
    #[inline(always)]
    pub(super) fn g(&self, x: &F) -> F {
        x.squared().plus(&self.a).times(x).plus(&self.b).carried()
    }
}

/// What differs between the maps to the two curves.
pub trait HashInLanes: Subgroup<Parameters = Bls12381> + InSlots + HashForSums {
    /// Whether the portable backend hashes for sums to the same points.
    const PORTABLE_IS_UNCLEARED: bool;

    /// The constants of the map.
    fn swu<L: Lanes<Curve = Bls12381>>(lanes: L) -> Swu<Self::In<L>>;
    /// The roots of g(x₁) and the lanes that have one, with the roots of g(x₂) in the others. Computed from u, Zu² and
    /// g(x₁).
    fn roots<L: Lanes<Curve = Bls12381>, const N: usize>(
        lanes: L,
        u: &[Self::In<L>; N],
        z_u2: &[Self::In<L>; N],
        g1: &[Self::In<L>; N],
    ) -> [(Self::In<L>, Mask); N];
    /// The isogeny from E' to E.
    fn isogeny<L: Lanes<Curve = Bls12381>>(lanes: L, point: &Affine<Self::In<L>>) -> Jacobian<Self::In<L>>;
    /// The point times h_eff, which clears the cofactor. Z is zero where the formulas do not hold.
    fn clear<L: Lanes<Curve = Bls12381>>(lanes: L, point: &Affine<Self::In<L>>) -> Jacobian<Self::In<L>>;
    /// The same of one finite point, with its coordinates in the lanes.
    fn clear_spread<L: Lanes<Curve = Bls12381>>(lanes: L, point: &Self) -> SpreadPoint<L::Fp, Self>;
    /// The same, computed by blst.
    fn clear_one(&self) -> Self;

    /// The same of one point, in the faster of both ways.
    fn clear_alone<L: Lanes<Curve = Bls12381>>(lanes: L, point: &Self) -> Self {
        if !L::THRESHOLDS.spread_points || point.is_identity() {
            return point.clear_one();
        }
        Self::clear_spread(lanes, point).to_affine()
    }

    /// The hash of one message.
    fn hash_to_curve_one<L: Lanes<Curve = Bls12381>>(lanes: L, dst: &[u8], message: (&[u8], &[u8])) -> Self {
        if L::THRESHOLDS.messages > 1 {
            return portable::hash_to_curve::hash_to_curve_one(dst, message);
        }
        let image = &uncleared::<L, Self>(lanes, dst, &[message])[0];
        let [x, y, z] = [&image.x, &image.y, &image.z].map(|coordinate| coordinate.store()[0]);
        if z.is_zero() {
            return Self::IDENTITY;
        }
        let inverse = z.inverse();
        let square = inverse.squared();
        Self::clear_alone(lanes, &Self::at(x.times(&square), y.times(&square.times(&inverse))))
    }
}

in_lanes! {
    fn whole<L: Lanes<Curve = Bls12381>, C: HashInLanes>(lanes: L, dst: &[u8], messages: &[(&[u8], &[u8])]) -> Vec<[Option<C>; LANES]> {
        let points = curve::to_affine_lanes::<C::In<L>>(lanes, &uncleared::<L, C>(lanes, dst, messages));
        cleared(lanes, &points)
    }

    fn images<L: Lanes<Curve = Bls12381>, C: HashInLanes>(lanes: L, dst: &[u8], messages: &[(&[u8], &[u8])]) -> Vec<[Option<C>; LANES]> {
        curve::to_affine(lanes, &uncleared::<L, C>(lanes, dst, messages))
    }

    fn clear_points<L: Lanes<Curve = Bls12381>, C: HashInLanes>(lanes: L, points: &[C]) -> Vec<[Option<C>; LANES]> {
        let load = |points: &[C]| {
            let identities = points.iter().enumerate().map(|(lane, point)| Mask::from(point.is_identity()) << lane);
            (Affine::load(lanes, points), identities.sum())
        };
        cleared(lanes, &points.chunks(LANES).map(load).collect::<Vec<_>>())
    }
}

in_lanes! {
    /// The points times h_eff. The mask has the lanes of identities.
    fn cleared<L: Lanes<Curve = Bls12381>, C: HashInLanes>(lanes: L, points: &[(Affine<C::In<L>>, Mask)]) -> Vec<[Option<C>; LANES]> {
        let mut jacobian = Vec::with_capacity(points.len());
        for (point, _) in points {
            jacobian.push(C::clear(lanes, point));
        }
        let mut out = curve::to_affine::<L, C>(lanes, &jacobian);
        for (out, (point, identities)) in out.iter_mut().zip(points) {
            for (lane, out) in out.iter_mut().enumerate() {
                if identities >> lane & 1 == 1 {
                    *out = None;
                } else if out.is_none() {
                    let one = C::at(point.x.store()[lane], point.y.store()[lane]).clear_one();
                    *out = (!one.is_identity()).then_some(one);
                }
            }
        }
        out
    }
}

in_lanes! {
    /// The images of the isogeny for up to a block of messages. Z is zero at the identity.
    fn uncleared<L: Lanes<Curve = Bls12381>, C: HashInLanes>(lanes: L, dst: &[u8], messages: &[(&[u8], &[u8])]) -> Few<Jacobian<C::In<L>>> {
        let left = messages.len() % LANES;
        // Both u of up to four messages fit a vector.
        let (messages, half) = messages.split_at(messages.len() - if left <= LANES / 2 { left } else { 0 });
        let mut images = Few::new();
        if !messages.is_empty() {
            let mut u = Few::with_capacity(messages.len().div_ceil(LANES));
            for messages in messages.chunks(LANES) {
                u.push(hash_to_field::<C::In<L>, 2>(lanes, dst, messages));
            }
            images = map_and_add::<L, C, 2>(lanes, &u);
        }
        if !half.is_empty() {
            images.push(map_and_add::<L, C, 1>(lanes, &[hash_to_field::<C::In<L>, 1>(lanes, dst, half)])[0]);
        }
        images
    }
}

in_lanes! {
    /// Two elements for each message: those of up to eight in two vectors, or those of up to four in the halves of one.
    fn hash_to_field<F: Field<Fp: PrimeField<Curve = Bls12381>>>[N: usize](lanes: F::Lanes, dst: &[u8], messages: &[(&[u8], &[u8])]) -> [F; N] {
        const BYTES: usize = 64;
        // Each 64 bytes are a number of 512 bits, kept in two halves.
        let mut halves: [[Words; 2]; N] = [[[[[0; LANES]; 6]; 2]; 2]; N];
        let parts = F::PARTS;
        let mut uniform = [0u8; 4 * BYTES];
        for (lane, message) in messages.iter().enumerate() {
            let uniform = &mut uniform[..2 * parts * BYTES];
            expand(dst, message, uniform);
            for (i, bytes) in uniform.chunks_exact(BYTES).enumerate() {
                let (vector, lane) = if N == 1 { (0, i / parts * (LANES / 2) + lane) } else { (i / parts, lane) };
                for (j, word) in bytes.rchunks_exact(8).enumerate() {
                    let word = u64::from_be_bytes(word.try_into().expect("eight bytes"));
                    halves[vector][j / 4][i % parts][j % 4][lane] = word;
                }
            }
        }
        let two_to_256 = F::Fp::splat(lanes, &TWO_TO_256);
        let element = |[low, high]: &[Words; 2]| {
            F::from_words(lanes, high).times_fp(&two_to_256).plus(&F::from_words(lanes, low)).carried()
        };
        limbs_of!(I < N => element(&halves[I]))
    }
}

in_lanes! {
    /// Steps 2 to 4: each pair of u is mapped to two points, and the result is the image of their sum.
    fn map_and_add<L: Lanes<Curve = Bls12381>, C: HashInLanes>[N: usize](lanes: L, u: &[[C::In<L>; N]]) -> Few<Jacobian<C::In<L>>> {
        let swu = C::swu(lanes);
        let mut inverses = Few::with_capacity(N * u.len());
        for u in u.iter().flatten() {
            inverses.push(swu.denominator(u));
        }
        invert_all(&mut inverses);

        let mut points = Few::with_capacity(u.len());
        let mut chords = Few::with_capacity(u.len());
        for (u, inverses) in u.iter().zip(inverses.chunks_exact(N)) {
            // If g(x₁) is not a square, x₂ = Zu²·x₁.
            let z_u2 = limbs_of!(I < N => swu.z_u2(&u[I]));
            let x1 = limbs_of!(I < N => swu.x1(&inverses[I]));
            let roots = C::roots(lanes, u, &z_u2, &limbs_of!(I < N => swu.g(&x1[I])));
            let point_of = |i: usize| {
                let (root, is_first) = roots[i];
                let same_sign = !(u[i].is_odd() ^ root.is_odd());
                let y = root.or(same_sign, &root.negated().carried());
                Affine { x: x1[i].or(is_first, &z_u2[i].times(&x1[i])), y }
            };
            let pair = if N == 1 { halves(point_of(0)) } else { [point_of(0), point_of(1 % N)] };
            let chord = Chord::new(&pair, &swu.a);
            chords.push(chord.run);
            points.push((pair, chord));
        }
        invert_all(&mut chords);

        let mut out = Few::with_capacity(u.len());
        for ((pair, chord), inverse) in points.iter().zip(&chords) {
            let mut image = C::isogeny(lanes, &chord.sum(pair, inverse));
            if chord.opposite != 0 {
                image.z = C::In::<L>::zero(lanes).or(chord.opposite, &image.z);
            }
            out.push(image);
        }
        out
    }
}

/// The points of the lower half of the lanes, and those of the upper half in the same lanes.
#[inline(always)]
fn halves<F: Field>(points: Affine<F>) -> [Affine<F>; 2] {
    const UPPER: [i64; LANES] = [4, 5, 6, 7, 4, 5, 6, 7];
    [points, Affine { x: points.x.permuted(UPPER), y: points.y.permuted(UPPER) }]
}

/// The line through two points of E', or the tangent if they are equal. Its slope is rise/run.
pub(super) struct Chord<F> {
    rise: F,
    pub(super) run: F,
    /// The lanes where the points are opposite, and their sum is the identity.
    pub(super) opposite: Mask,
}

impl<F: Field> Chord<F> {
    #[inline(always)]
    pub(super) fn new([p, q]: &[Affine<F>; 2], a: &F) -> Self {
        let mut run = q.x.minus(&p.x).carried();
        let mut rise = q.y.subtract::<6, 1>(&p.y).carried();
        let mut opposite = 0;
        let same = run.is_zero();
        if same != 0 {
            let one = F::one(run.lanes());
            let equal = same & p.y.times(&one).equals(&q.y.times(&one));
            let twice = p.y.doubled().times(&one);
            opposite = same & !(equal & !twice.is_zero());
            let square = p.x.squared();
            run = twice.or(equal, &run);
            rise = square.doubled().plus(&square).plus(a).carried().or(equal, &rise);
        }
        Self { rise, run, opposite }
    }

    /// The sum, given the inverse of `run`. It has no meaning where the points are opposite.
    #[inline(always)]
    pub(super) fn sum(&self, [p, q]: &[Affine<F>; 2], inverse: &F) -> Affine<F> {
        let slope = self.rise.times(inverse);
        let x = slope.squared().minus_sum(&p.x.plus(&q.x)).carried();
        let y = slope.times(&p.x.subtract::<11, 1>(&x).factor()).subtract::<6, 1>(&p.y).carried();
        Affine { x, y }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Backend, Bls12381Group, G1, G2,
        arithmetic::curve::ONE,
        backend::{
            lanes::{
                curve::tests::{points, small_g1, small_g2},
                tests::{backends_in_lanes, in_each_kind, load},
            },
            portable::map_to_g2::fp2,
        },
    };
    use blst::*;

    fn agrees<G: Bls12381Group>(lanes: Backend) {
        let names: Vec<_> = (0..257u32).map(|i| (i.to_be_bytes(), alloc::vec![7u8; (i * i % 301) as usize])).collect();
        let messages: Vec<_> =
            names.iter().map(|(prefix, body)| (&prefix[..(body.len() % 5).min(4)], &body[..])).collect();
        for n in (0..=17).chain([63, 64, 65, 127, 128, 129, 257]) {
            let some = &messages[..n];
            let expected: Vec<G> = Backend::Portable.hash_to_curve(b"QUUX-V01-CS02-with-BLS12381", some);
            let hashes = lanes.hash_to_curve::<G>(b"QUUX-V01-CS02-with-BLS12381", some);
            assert_eq!(hashes, expected, "{lanes}, {n} messages");
            let for_sums = lanes.hash_for_sums::<G>(b"QUUX-V01-CS02-with-BLS12381", some);
            assert_eq!(lanes.clear_sums(&for_sums), expected, "{lanes}, {n} messages");
            // Clearing a sum of uncleared hashes gives the sum of the hashes.
            if n > 1 {
                let sum = Backend::Portable.sum(&for_sums);
                assert_eq!(lanes.clear_sums(&[sum])[0], Backend::Portable.sum(&expected), "{lanes}");
            }
        }
        for dst in [&[b'd'; 255][..], &[b'd'; 256], b"d", b""] {
            let expected: Vec<G> = Backend::Portable.hash_to_curve(dst, &messages[..3]);
            assert_eq!(lanes.hash_to_curve::<G>(dst, &messages[..3]), expected, "{lanes}");
        }
    }

    #[test]
    fn hashes_are_the_portable_ones_g1() {
        backends_in_lanes().for_each(agrees::<G1>);
    }

    #[test]
    fn hashes_are_the_portable_ones_g2() {
        backends_in_lanes().for_each(agrees::<G2>);
    }

    /// Sums of every kind in every lane, including the identity.
    fn clears<L: Lanes<Curve = crate::pairing::Bls12381>, C: HashInLanes>(lanes: L, small: &[C]) {
        let mut points = points(small);
        points.insert(3, C::IDENTITY);
        points.extend(small.iter().map(|point| point.signed(true)));
        for shift in 0..LANES {
            let got = points[shift..].chunks(BLOCK).flat_map(|points| clear_points(lanes, points)).flatten();
            let got: Vec<_> = got.collect();
            assert!(got.len() >= points.len() - shift);
            for (got, point) in got.into_iter().zip(&points[shift..]) {
                assert!(got.unwrap_or(C::IDENTITY) == point.clear_one());
            }
        }
        assert!(points.iter().all(|point| C::clear_alone(lanes, point) == point.clear_one()));
    }

    in_each_kind! {
        fn clears_points_of_every_kind_g1(lanes: L) {
            clears(lanes, &small_g1());
        }
    }

    in_each_kind! {
        fn clears_points_of_every_kind_g2(lanes: L) {
            clears(lanes, &small_g2());
        }
    }

    in_lanes! {
        fn images_of<L: Lanes<Curve = crate::pairing::Bls12381>, C: HashInLanes>[N: usize](lanes: L, u: &[[C::In<L>; N]]) -> Vec<[Option<C>; LANES]> {
            curve::to_affine::<L, C>(lanes, &map_and_add::<L, C, N>(lanes, u))
        }
    }

    /// Chosen u are mapped as blst maps them: zero, equal and opposite ones in every lane.
    fn maps_chosen<L: Lanes<Curve = crate::pairing::Bls12381>, C: HashInLanes>(
        lanes: L,
        elements: &[C::Field],
        map: fn(&C::Field, &C::Field) -> C,
    ) {
        for shift in 0..elements.len() {
            let at = |i: usize| elements[i % elements.len()];
            let u: [C::Field; LANES] = core::array::from_fn(at);
            let v: [C::Field; LANES] = core::array::from_fn(|i| at(i + shift));
            let pair = [load(lanes, &u), load(lanes, &v)];
            let images = images_of::<L, C, 2>(lanes, &[pair]);
            let both = pair[0].gathered(&pair[1], [0, 1, 2, 3, 8, 9, 10, 11]);
            let of_both = images_of::<L, C, 1>(lanes, &[[both]]);
            for lane in 0..LANES {
                let image = images[0][lane].unwrap_or(C::IDENTITY);
                assert!(image.clear_one() == map(&u[lane], &v[lane]), "shift {shift}, lane {lane}");
                if L::WIDTH == LANES && lane < LANES / 2 {
                    assert!(of_both[0][lane].unwrap_or(C::IDENTITY) == image, "shift {shift}, lane {lane} of a half");
                }
            }
        }
    }

    in_each_kind! {
        fn chosen_elements_g1(lanes: L) {
            let small = |n: i32| fp2(n, 0).fp[0];
            let mut elements: Vec<_> = [0, 1, -1, 2, 0, -2, 1, 7].map(small).to_vec();
            // Besides u = 0, Z²u⁴ + Zu² is zero for u² = -1/11, if that is a square.
            let inverse = blst_fp::default().minus(&small(11)).inverse();
            let mut root = ONE;
            // SAFETY: valid references.
            if unsafe { blst_fp_sqrt(&mut root, &inverse) } {
                elements.extend([root, blst_fp::default().minus(&root)]);
            }
            maps_chosen::<L, blst_p1_affine>(lanes, &elements, |u, v| {
                let mut out = blst_p1::default();
                // SAFETY: valid references.
                unsafe { blst_map_to_g1(&mut out, u, v) };
                Curve::to_affine(&[out])[0]
            });
        }
    }

    in_each_kind! {
        fn chosen_elements_g2(lanes: L) {
            let elements = [(0, 0), (1, 0), (0, 1), (-1, 0), (0, -1), (-2, -1), (1, 0), (5, 3), (-5, -3)]
                .map(|(real, imaginary)| fp2(real, imaginary));
            maps_chosen::<L, blst_p2_affine>(lanes, &elements, |u, v| {
                let mut out = blst_p2::default();
                // SAFETY: valid references.
                unsafe { blst_map_to_g2(&mut out, u, v) };
                Curve::to_affine(&[out])[0]
            });
        }
    }
}
