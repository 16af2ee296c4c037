//! Eight points of a curve y² = x³ + b in Jacobian coordinates (X/Z², Y/Z³), for both curves.
//!
//! The formulas are not complete. But where a formula does not hold, it makes Z zero, and every formula makes a zero Z
//! from a zero Z. A caller that finds a zero at the end decides that lane in another way. The other lanes are right.
//!
//! Coordinates have limbs below one unit. X and Y stay below 11p, Z below 3p.

use alloc::vec::Vec;

use blst::{blst_fp, blst_p1_affine, blst_p2_affine};

use super::{
    constant::Constant,
    field::{Field, LANES, Lanes, Mask, Parameters, PrimeField, invert_all},
    fp2::Fp2,
    instructions::in_lanes,
    square_root,
};
use crate::{
    arithmetic::{BlstCurve, Curve, curve::ONE},
    backend::portable,
    pairing::Bls12381,
    segments::Cut,
};

const FOUR: Constant = Constant::of_number([4, 0, 0, 0, 0, 0]);

/// What the lanes need to know of a curve.
pub trait InLanes: Curve {
    /// The curve with a pairing, of which this is one of the two curves.
    type Parameters: Parameters;
    /// A coordinate in memory, of parts that are rows of Fp.
    type Row<R: Copy + Send + Sync + 'static>: Copy + Send + Sync + 'static;
    /// Eight elements of the coordinate field.
    type In<L: Lanes<Curve = Self::Parameters>>: Field<Lanes = L, Fp = L::Fp, Element = Self::Field, Row = Self::Row<<L::Fp as Field>::Row>>;
    /// β, where (βx, y) = ω·(x, y).
    fn beta() -> <Self::Parameters as Parameters>::Element;
    /// The sum of each segment outside the lanes.
    fn sums(points: Cut<'_, Self>) -> Vec<Self>;
}

impl InLanes for blst_p1_affine {
    type Parameters = Bls12381;
    type Row<R: Copy + Send + Sync + 'static> = R;
    type In<L: Lanes<Curve = Bls12381>> = L::Fp;

    fn beta() -> blst_fp {
        Self::turn_field(ONE, 1)
    }

    fn sums(points: Cut<'_, Self>) -> Vec<Self> {
        portable::sum::sums(points)
    }
}

impl InLanes for blst_p2_affine {
    type Parameters = Bls12381;
    type Row<R: Copy + Send + Sync + 'static> = [R; 2];
    type In<L: Lanes<Curve = Bls12381>> = Fp2<L::Fp>;

    fn beta() -> blst_fp {
        Self::turn_field(Self::one(), 1).fp[0]
    }

    fn sums(points: Cut<'_, Self>) -> Vec<Self> {
        portable::sum::sums(points)
    }
}

/// A curve whose points are decoded in lanes.
pub(crate) trait Encoded: InLanes + BlstCurve {
    /// The constant of the curve equation.
    fn b<L: Lanes<Curve = Self::Parameters>>(lanes: L) -> Self::In<L>;
    /// The square roots, and the lanes where they are roots: see [`square_root`].
    fn square_roots<L: Lanes<Curve = Self::Parameters>, const N: usize>(
        lanes: L,
        squares: &[Self::In<L>; N],
    ) -> [(Self::In<L>, Mask); N];
}

impl Encoded for blst_p1_affine {
    #[inline(always)]
    fn b<L: Lanes<Curve = Bls12381>>(lanes: L) -> L::Fp {
        L::Fp::constant(lanes, &FOUR)
    }

    #[inline(always)]
    fn square_roots<L: Lanes<Curve = Bls12381>, const N: usize>(lanes: L, squares: &[L::Fp; N]) -> [(L::Fp, Mask); N] {
        square_root::in_fp(lanes, squares)
    }
}

impl Encoded for blst_p2_affine {
    #[inline(always)]
    fn b<L: Lanes<Curve = Bls12381>>(lanes: L) -> Fp2<L::Fp> {
        Fp2::constant(lanes, &[FOUR; 2])
    }

    #[inline(always)]
    fn square_roots<L: Lanes<Curve = Bls12381>, const N: usize>(
        lanes: L,
        squares: &[Fp2<L::Fp>; N],
    ) -> [(Fp2<L::Fp>, Mask); N] {
        square_root::in_fp2(lanes, squares)
    }
}

/// Eight finite points.
#[derive(Clone, Copy)]
pub struct Affine<F> {
    pub(crate) x: F,
    pub(crate) y: F,
}

/// Eight points as X/Z², Y/Z³.
#[derive(Clone, Copy)]
pub struct Jacobian<F> {
    pub(crate) x: F,
    pub(crate) y: F,
    pub(crate) z: F,
}

impl<F: Field> Affine<F> {
    /// Up to eight finite points. The first one fills the lanes that are left.
    #[inline(always)]
    pub(crate) fn load<C: Curve<Field = F::Element>>(lanes: F::Lanes, points: &[C]) -> Self {
        let at = |lane: usize| points.get(lane).unwrap_or(&points[0]);
        let x: [_; LANES] = core::array::from_fn(|lane| at(lane).x());
        let y: [_; LANES] = core::array::from_fn(|lane| at(lane).y());
        Self { x: F::load(lanes, &x.each_ref()), y: F::load(lanes, &y.each_ref()) }
    }

    #[inline(always)]
    pub(crate) fn to_jacobian(self) -> Jacobian<F> {
        Jacobian { x: self.x, y: self.y, z: F::one(self.x.lanes()) }
    }

    #[inline(always)]
    pub(crate) fn negated(&self) -> Self {
        Self { x: self.x, y: self.y.negated().carried() }
    }
}

in_lanes! {
    /// 2P. Three products and four squarings.
    ///
    /// `E = 3X², S = 4XY²;  X₃ = E² - 2S,  Y₃ = E(S - X₃) - 8Y⁴,  Z₃ = 2YZ`
    pub(crate) fn double<F: Field>(lanes: F::Lanes, p: &Jacobian<F>) -> Jacobian<F> {
        let x2 = p.x.squared();
        let e = x2.doubled().plus(&x2).carried();
        let twice_y2 = p.y.squared().doubled().carried();
        let half_s = p.x.times(&twice_y2);
        let s = half_s.doubled();
        let x = e.squared().subtract::<9, 4>(&s.doubled()).carried();
        let fall = s.subtract::<12, 1>(&x).factor();
        let y = e.times(&fall).minus_sum(&twice_y2.squared().doubled()).carried();
        Jacobian { x, y, z: p.y.times(&p.z.doubled()) }
    }
}

in_lanes! {
    /// P + Q for an affine Q. Eight products and three squarings. Z becomes zero if P = ±Q or if P is the identity.
    ///
    /// `H = x₂Z₁² - X₁, R = y₂Z₁³ - Y₁;  X₃ = R² - H³ - 2X₁H²,  Y₃ = R(X₁H² - X₃) - Y₁H³,  Z₃ = Z₁H`
    pub(crate) fn add_affine<F: Field>(lanes: F::Lanes, p: &Jacobian<F>, q: &Affine<F>) -> Jacobian<F> {
        let z2 = p.z.squared();
        let h = q.x.times(&z2).subtract::<12, 1>(&p.x).carried();
        let r = q.y.times(&z2.times(&p.z)).subtract::<12, 1>(&p.y).carried();
        let h2 = h.squared();
        chord(&p.x.times(&h2), &p.y, &h.times(&h2), &r, p.z.times(&h))
    }
}

in_lanes! {
    /// P + Q. Twelve products and four squarings. Z becomes zero if P = ±Q or if either is the identity.
    pub(crate) fn add<F: Field>(lanes: F::Lanes, p: &Jacobian<F>, q: &Jacobian<F>) -> Jacobian<F> {
        let (p_z2, q_z2) = (p.z.squared(), q.z.squared());
        let (p_x, p_y) = (p.x.times(&q_z2), p.y.times(&q_z2.times(&q.z)));
        let h = q.x.times(&p_z2).minus(&p_x).carried();
        let r = q.y.times(&p_z2.times(&p.z)).minus(&p_y).carried();
        let h2 = h.squared();
        chord(&p_x.times(&h2), &p_y, &h.times(&h2), &r, p.z.times(&q.z).times(&h))
    }
}

/// The last steps of both additions, from X₁H², Y₁, H³, R and Z₃.
#[inline(always)]
fn chord<F: Field>(v: &F, y1: &F, h3: &F, r: &F, z: F) -> Jacobian<F> {
    let x = r.squared().subtract::<7, 3>(&h3.plus(&v.doubled())).carried();
    let fall = v.subtract::<12, 1>(&x).factor();
    let y = r.times(&fall).minus(&y1.times(h3)).carried();
    Jacobian { x, y, z }
}

in_lanes! {
    /// |z|·P for the curve's parameter z, |z| = 0xd201000000010000, by 63 doublings and five additions. Z becomes zero if P
    /// is the identity or has a small order.
    pub(crate) fn times_minus_z<F: Field>(lanes: F::Lanes, p: &Affine<F>) -> Jacobian<F> {
        double_and_add(p.to_jacobian(), |sum| double(lanes, sum), |sum| add_affine(lanes, sum, p))
    }
}

in_lanes! {
    /// The same as [`times_minus_z`], for a point in Jacobian coordinates.
    pub(crate) fn times_minus_z_jacobian<F: Field>(lanes: F::Lanes, p: &Jacobian<F>) -> Jacobian<F> {
        double_and_add(*p, |sum| double(lanes, sum), |sum| add(lanes, sum, p))
    }
}

/// Doubles for each bit of |z| below the highest, and adds if the bit is set.
#[inline(always)]
pub(super) fn double_and_add<T>(mut sum: T, double: impl Fn(&T) -> T, plus_point: impl Fn(&T) -> T) -> T {
    for doublings in Z_DOUBLINGS {
        for _ in 0..doublings {
            sum = double(&sum);
        }
        sum = plus_point(&sum);
    }
    for _ in 0..Z_LAST_DOUBLINGS {
        sum = double(&sum);
    }
    sum
}

/// The numbers of doublings before each addition, and after the last.
const Z_DOUBLINGS: [usize; 5] = [1, 2, 3, 9, 32];
const Z_LAST_DOUBLINGS: usize = 16;

in_lanes! {
    /// The points in affine coordinates, and the lanes where Z is zero. There the coordinates are zero too. One inversion
    /// for all.
    pub(crate) fn to_affine_lanes<F: Field>(lanes: F::Lanes, points: &[Jacobian<F>]) -> Vec<(Affine<F>, Mask)> {
        let mut inverses = Vec::with_capacity(points.len());
        for point in points {
            inverses.push(point.z);
        }
        invert_all(&mut inverses);
        let mut out = Vec::with_capacity(points.len());
        for (point, inverse) in points.iter().zip(&inverses) {
            let square = inverse.squared();
            let (x, y) = (point.x.times(&square), point.y.times(&square.times(inverse)));
            out.push((Affine { x, y }, inverse.is_zero()));
        }
        out
    }
}

in_lanes! {
    /// The points of the vectors outside the lanes, and `None` where Z is zero. One inversion for all.
    pub(crate) fn to_affine<L: Lanes, C: InLanes<Parameters = L::Curve>>(lanes: L, points: &[Jacobian<C::In<L>>]) -> Vec<[Option<C>; LANES]> {
        let mut out = Vec::with_capacity(points.len());
        for (point, zero) in to_affine_lanes(lanes, points) {
            let (x, y) = (point.x.store(), point.y.store());
            out.push(core::array::from_fn(|lane| (zero >> lane & 1 == 0).then(|| C::at(x[lane], y[lane]))));
        }
        out
    }
}

impl<F: Field> Jacobian<F> {
    /// The lanes where the point is (x, y).
    #[inline(always)]
    pub(crate) fn equals(&self, other: &Affine<F>) -> Mask {
        let square = self.z.squared();
        let x = other.x.times(&square);
        let y = other.y.times(&square.times(&self.z));
        // X and Y are below 11p.
        let one = F::one(self.z.lanes());
        self.x.times(&one).equals(&x) & self.y.times(&one).equals(&y)
    }
}

/// Multiplies eight x by the β for which (βx, y) = -z²·(x, y) on the subgroup of G1.
#[inline(always)]
pub(crate) fn turned<P: PrimeField<Curve = Bls12381>>(x: &P) -> P {
    x.times(&P::splat(x.lanes(), &blst_p1_affine::turn_field(ONE, 1)))
}

/// ψ, the Frobenius map carried over to the twist.
#[inline(always)]
pub(crate) fn psi<P: PrimeField>(point: &Affine<Fp2<P>>) -> Affine<Fp2<P>> {
    let (x, y) = Fp2::image(&point.x, &point.y);
    Affine { x, y }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::backend::{lanes::tests::in_each_kind, portable::hash_to_curve::HashForSums};

    /// Finite points of every kind: of order r, of any order, with x = 0, of small orders, and their negatives.
    pub(crate) fn points<C: HashForSums>(small: &[C]) -> Vec<C> {
        let names: Vec<_> = (0..9u8).map(|i| [i]).collect();
        let messages: Vec<_> = names.iter().map(|m| (&m[..], &[][..])).collect();
        let mut points = C::hash_for_sums(b"lanes", &messages);
        points.extend(C::clear_sums(&points[1..6]));
        points.extend_from_slice(small);
        points.extend(small.iter().map(|p| p.signed(true)));
        // Sums of points of order r and of small order.
        let sums: Vec<_> = small.iter().map(|p| C::add_affine(&points[10].to_jacobian(), p)).collect();
        points.extend(C::to_affine(&sums));
        points.push(points[10].signed(true));
        points.push(C::generator());
        points.retain(|p| !p.is_identity());
        points
    }

    fn times<C: Curve>(point: &C, scalar: &str) -> C {
        let mut sum = C::IDENTITY.to_jacobian();
        for digit in scalar.chars().map(|c| c.to_digit(16).unwrap()) {
            for bit in (0..4).rev() {
                sum = C::double(&sum);
                if digit >> bit & 1 == 1 {
                    sum = C::add_affine(&sum, point);
                }
            }
        }
        C::to_affine(&[sum])[0]
    }

    /// (0, ±2) of order 3, and points of order 11 and 33 of E(Fp).
    pub(crate) fn small_g1() -> Vec<blst_p1_affine> {
        use crate::{Backend, G1, group::sealed::Sealed};
        let point = |bytes: [u8; 48]| Backend::Portable.decode::<G1>(&bytes).map(G1::inner);
        let mut bytes = [0; 48];
        bytes[0] = 0x80;
        let mut small = alloc::vec![point(bytes).unwrap()];
        for i in 1..40 {
            bytes[47] = i;
            if let Ok(point) = point(bytes) {
                small.push(point);
                small.push(times(&point, ORDER_OVER_121));
                small.push(times(&times(&point, ORDER_OVER_363), "b"));
            }
        }
        small
    }

    /// Points of order 13 and 169 of the twist.
    pub(crate) fn small_g2() -> Vec<blst_p2_affine> {
        let points = blst_p2_affine::hash_for_sums(b"small", &[(b"a", b""), (b"b", b""), (b"c", b"")]);
        let point = times(&points[0], TWIST_ORDER_OVER_169);
        assert!(!point.is_identity() && times(&point, "a9").is_identity());
        let mut small = alloc::vec![points[0], point, times(&point, "d"), times(&point, "5")];
        small.extend(points.iter().map(|point| times(point, TWIST_ORDER_OVER_13)));
        small
    }
    const ORDER_OVER_121: &str =
        "3704612471307385e8f4b11c0f6f71e98ebcebf11641bde11e05f8de12635b461258dc05b269c8ff0a941963702343";
    const ORDER_OVER_363: &str =
        "1256cb0c25bad12ca2fc3b095a7a7b4dda3ef9505cc094a05f5752f4b0cbc9175b72f401e62342ffae315dcbd00bc1";
    const TWIST_ORDER_OVER_169: &str = "4005449cda731a7136c440a0c65b728ba1c1fa6b6708356f3b9bdc84396cab33907d71557a7d33677f5d45f7cedb8cfdac10ff1fc5b48d6461e907737d78e96568f2d18c750b4b3ca5c33c3fd8ff8a70629888281914529f4e3380941cfdd";
    const TWIST_ORDER_OVER_13: &str = "340447bf717d857bfc7f7482a12a4d11736d9b7743b6ab6a606ea32b6ea84b19e565ec157385b9c4177bc8d95812628e1bcdcf49d0a2b2e18f8d560dd5f23da265454a421f192d2146aea0f3e04fa07b501beea0946083216f89d878578e39";

    in_lanes! {
        /// A result of every formula: P + Q, 2(4P + Q), 2P + 2Q, z²·Q and 10P.
        fn results<L: Lanes<Curve = crate::pairing::Bls12381>, C: InLanes<Parameters = crate::pairing::Bls12381>>(
            lanes: L, p: &Affine<C::In<L>>, q: &Affine<C::In<L>>,
        ) -> Vec<[Option<C>; LANES]> {
            let four = double(lanes, &double(lanes, &p.to_jacobian()));
            let six = add(lanes, &four, &double(lanes, &p.to_jacobian()));
            to_affine(lanes, &[
                add_affine(lanes, &p.to_jacobian(), q),
                double(lanes, &add_affine(lanes, &four, q)),
                add(lanes, &double(lanes, &p.to_jacobian()), &double(lanes, &q.to_jacobian())),
                times_minus_z_jacobian(lanes, &times_minus_z(lanes, q)),
                add(lanes, &six, &four),
            ])
        }
    }

    fn formulas<
        L: Lanes<Curve = crate::pairing::Bls12381>,
        C: InLanes<Parameters = crate::pairing::Bls12381> + HashForSums,
    >(
        lanes: L,
        small: &[C],
    ) {
        let points = points(small);
        let finite = |p: C::Jacobian| {
            let point = C::to_affine(&[p])[0];
            (!point.is_identity()).then_some(point)
        };
        for shift in 0..points.len() {
            let at = |i: usize| points[i % points.len()];
            let (a, b): ([C; LANES], [C; LANES]) =
                (core::array::from_fn(at), core::array::from_fn(|i| at(i * i + shift)));
            let got = results::<L, C>(lanes, &Affine::load(lanes, &a), &Affine::load(lanes, &b));
            for i in 0..LANES {
                let (a, b) = (a[i], b[i]);
                let (ja, jb) = (a.to_jacobian(), b.to_jacobian());
                let four = C::double(&C::double(&ja));
                let minus_z = |p| times::<C>(p, "d201000000010000");
                let expected = [
                    C::add(&ja, &jb),
                    C::double(&C::add(&four, &jb)),
                    C::add(&C::double(&ja), &C::double(&jb)),
                    minus_z(&minus_z(&b)).to_jacobian(),
                    times(&a, "a").to_jacobian(),
                ];
                for (kind, (got, expected)) in got.iter().zip(expected).enumerate() {
                    // Z is zero where a formula does not hold.
                    assert!(got[i].is_none() || got[i] == finite(expected), "kind {kind}, shift {shift}, lane {i}");
                    let exceptional = a == b || a == b.signed(true) || !a.in_subgroup() || !b.in_subgroup();
                    assert!(got[i].is_some() || exceptional, "kind {kind}, shift {shift}, lane {i}");
                }
            }
        }
    }

    in_each_kind! {
        fn formulas_hold_or_say_that_they_do_not_g1(lanes: L) {
            formulas(lanes, &small_g1());
        }
    }

    in_each_kind! {
        fn formulas_hold_or_say_that_they_do_not_g2(lanes: L) {
            formulas(lanes, &small_g2());
        }
    }
}
