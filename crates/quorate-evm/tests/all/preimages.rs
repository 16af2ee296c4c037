//! What docs/nonuniform.md states about the map of `BLS12381G1_XMD:SHA-256_SSWU_NU_`: its preimages, how often a random point
//! has them, and that whoever chooses the hash's field elements can choose points with known discrete logarithms.
//!
//! The maps are written out here from RFC 9380, sections 6.6.2 and 6.6.3. They are compared with blst through the known
//! answers of the RFC. The coefficients of the isogeny are those of arkworks.
#![allow(clippy::unwrap_used, reason = "a sample that cannot be drawn fails the test")]

use std::collections::BTreeMap;

use ark_bls12_381::{Fq, Fr, G1Affine, g1::Config as E};
use ark_ec::{
    AffineRepr, CurveGroup,
    hashing::curve_maps::wb::WBConfig,
    short_weierstrass::{Affine, SWCurveConfig},
};
use ark_ff::{BigInteger, Field, Fp64, MontBackend, MontConfig, One, PrimeField, Zero};
use ark_poly::{
    DenseUVPolynomial, Polynomial,
    univariate::{DenseOrSparsePolynomial, DensePolynomial},
};
use rand::{Rng, SeedableRng, rngs::StdRng};

/// The curve to which the simplified SWU map leads, and from which the isogeny leads to E.
type EPrime = <E as WBConfig>::IsogenousCurve;

/// A field whose elements have the sign of RFC 9380, section 4.1.
fn is_odd<F: PrimeField>(x: &F) -> bool {
    x.into_bigint().is_odd()
}

fn is_square<F: PrimeField>(x: &F) -> bool {
    !x.legendre().is_qnr()
}

/// The simplified SWU map to y² = x³ + ax + b.
#[derive(Clone, Copy, Debug)]
struct Sswu<F> {
    a: F,
    b: F,
    z: F,
}

impl<F: PrimeField> Sswu<F> {
    fn g(&self, x: F) -> F {
        (x.square() + self.a) * x + self.b
    }

    /// RFC 9380, section 6.6.2.
    fn map(&self, u: F) -> (F, F) {
        let t = self.z * u.square();
        let x1 = match (t.square() + t).inverse() {
            Some(inverse) => -self.b / self.a * (F::one() + inverse),
            None => self.b / (self.z * self.a),
        };
        let x = if is_square(&self.g(x1)) { x1 } else { t * x1 };
        let y = self.g(x).sqrt().expect("g(x1) or g(x2) is a square");
        (x, if is_odd(&u) == is_odd(&y) { y } else { -y })
    }

    /// The three u with t² + t = 0, whose x1 is set by exception.
    fn exceptions(&self) -> [F; 3] {
        let root = (-self.z.inverse().unwrap()).sqrt().expect("-1/Z is a square");
        [F::zero(), root, -root]
    }

    /// All u that are mapped to a point, but for the exceptions: 0, 2 or 4.
    ///
    /// Let t = Z·u² and 1/w = t² + t. If x = x1, then w = -1 - xa/b, so t is a root of t² + t - 1/w. If x = t·x1, then 1/t
    /// is a root of the same equation. u exists if t/Z is a square, and y has its sign.
    fn preimages(&self, (x, y): (F, F)) -> Vec<F> {
        let Some(product) = (-F::one() - x * self.a / self.b).inverse() else { return Vec::new() };
        let Some(root) = (F::one() + product.double().double()).sqrt() else { return Vec::new() };
        let half = F::from(2u64).inverse().unwrap();
        let mut ts = vec![(root - F::one()) * half];
        if !root.is_zero() {
            ts.push((-root - F::one()) * half);
        }
        let ts = ts.into_iter().flat_map(|t| [t, t.inverse().expect("the product of the roots is not zero")]);
        let us = ts.filter_map(|t| (t / self.z).sqrt());
        us.map(|u| if is_odd(&u) == is_odd(&y) { u } else { -u }).collect()
    }
}

/// Draws a field element whose image is a point that `draw` gave: draws points until one is accepted. `draw` returns a point
/// and what the caller knows of it. Each u is drawn with the same probability if the points are uniform. Also returns the
/// number of points drawn.
fn sample<F: PrimeField, T>(map: &Sswu<F>, rng: &mut impl Rng, mut draw: impl FnMut() -> ((F, F), T)) -> (F, T, usize) {
    for tries in 1.. {
        let (point, known) = draw();
        let preimages = map.preimages(point);
        // Of four places, as many are taken as there are preimages.
        if let Some(u) = preimages.get((rng.next_u32() % 4) as usize) {
            return (*u, known, tries);
        }
    }
    unreachable!("the loop has no end")
}

const SSWU: Sswu<Fq> =
    Sswu { a: <EPrime as SWCurveConfig>::COEFF_A, b: <EPrime as SWCurveConfig>::COEFF_B, z: ark_ff::MontFp!("11") };

/// h_eff of RFC 9380, section 8.8.1: multiplication by it clears the cofactor.
const H_EFF: u64 = 0xd201_0000_0001_0001;

fn seeded(seed: u8) -> StdRng {
    StdRng::from_seed([seed; 32])
}

fn random<F: PrimeField>(rng: &mut impl Rng) -> F {
    let mut bytes = [0; 64];
    rng.fill_bytes(&mut bytes);
    F::from_be_bytes_mod_order(&bytes)
}

/// The isogeny of degree 11 to y² = x³ + 4.
fn isogeny(point: &Affine<EPrime>) -> G1Affine {
    let Some((x, y)) = point.xy() else { return G1Affine::identity() };
    let value = |coefficients: &[Fq]| DensePolynomial::from_coefficients_slice(coefficients).evaluate(&x);
    let map = <E as WBConfig>::ISOGENY_MAP;
    let (x_den, y_den) = (value(map.x_map_denominator), value(map.y_map_denominator));
    let (Some(x_den), Some(y_den)) = (x_den.inverse(), y_den.inverse()) else { return G1Affine::identity() };
    G1Affine::new_unchecked(value(map.x_map_numerator) * x_den, y * value(map.y_map_numerator) * y_den)
}

/// What `encode_to_curve` makes of a field element.
fn encode(u: Fq) -> G1Affine {
    let (x, y) = SSWU.map(u);
    clear(&isogeny(&Affine::<EPrime>::new_unchecked(x, y)))
}

fn clear(point: &G1Affine) -> G1Affine {
    point.mul_bigint([H_EFF]).into_affine()
}

/// A uniform point but the identity: each x of the curve has two.
fn random_point<C: SWCurveConfig<BaseField = Fq>>(rng: &mut impl Rng) -> Affine<C> {
    loop {
        let greatest = rng.next_u32() % 2 == 1;
        if let Some(point) = Affine::get_point_from_x_unchecked(random(rng), greatest) {
            return point;
        }
    }
}

fn times_r<C: SWCurveConfig<BaseField = Fq>>(point: &Affine<C>) -> Affine<C> {
    point.mul_bigint(Fr::MODULUS).into_affine()
}

/// The known answers of RFC 9380, appendix J.9.2: the maps of this file are those of the RFC.
#[test]
fn the_maps_are_those_of_the_rfc() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../contracts/test/vectors/EncodeToBls12381.json");
    let answers: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let bytes = |value: &serde_json::Value| const_hex::decode(value.as_str().unwrap()).unwrap();
    let vectors = answers["vectors"].as_array().unwrap();
    assert_eq!(vectors.len(), 5);
    for vector in vectors {
        let point = encode(Fq::from_be_bytes_mod_order(&bytes(&vector["u"])));
        let found = [point.x, point.y].map(|c| c.into_bigint().to_bytes_be()).concat();
        assert_eq!(found, bytes(&vector["point"]));
    }
}

/// On small fields every u and every point is tried: the preimages are all there are, and are 0, 2 or 4 but for the
/// exceptions. So the sampler draws each of the other u with one probability.
#[test]
fn preimages_on_small_curves_are_all_there_are() {
    #[derive(MontConfig)]
    #[modulus = "1019"]
    #[generator = "2"]
    struct P1019;
    #[derive(MontConfig)]
    #[modulus = "4091"]
    #[generator = "2"]
    struct P4091;

    fn curves<F: PrimeField>() {
        let p = F::MODULUS.as_ref()[0];
        let all = || (0..p).map(F::from);
        let mut tried = 0;
        for (a, b) in (1..40).map(|i| (F::from(7 * i), F::from(11 * i + 3))) {
            let z = all().find(|z| {
                !is_square(z) && *z != -F::one() && {
                    let map = Sswu { a, b, z: *z };
                    is_square(&map.g(b / (*z * a)))
                }
            });
            let map = Sswu { a, b, z: z.unwrap() };
            // As on BLS12-381, no point has y = 0.
            if all().any(|x| map.g(x).is_zero()) {
                continue;
            }
            tried += 1;
            let exceptions = map.exceptions();
            let mut of: BTreeMap<(F, F), Vec<F>> = BTreeMap::new();
            for u in all().filter(|u| !exceptions.contains(u)) {
                of.entry(map.map(u)).or_default().push(u);
            }
            assert!(exceptions.iter().all(|u| map.map(*u).0 == b / (map.z * a)), "they have one x");
            for x in all() {
                let Some(y) = map.g(x).sqrt() else { continue };
                for point in [(x, y), (x, -y)] {
                    let mut found = map.preimages(point);
                    found.sort();
                    let expected = of.remove(&point).unwrap_or_default();
                    assert_eq!(found, expected, "{map:?}, {point:?}");
                    assert!([0, 2, 4].contains(&found.len()), "{map:?}, {point:?}: {found:?}");
                }
            }
            assert!(of.is_empty(), "no image is off the curve");
        }
        assert!(tried > 5, "{tried} curves");
    }
    curves::<Fp64<MontBackend<P1019, 1>>>();
    curves::<Fp64<MontBackend<P4091, 1>>>();
}

/// On BLS12-381 a uniform point has 0, 2 or 4 preimages with the probabilities 5/8, 1/4 and 1/8, so a quarter of the points is
/// accepted. The bounds are five standard deviations.
#[test]
fn a_quarter_of_the_points_is_accepted() {
    const DRAWN: usize = 4_000;
    let mut rng = seeded(17);
    let mut counts = BTreeMap::new();
    for _ in 0..DRAWN {
        let point = random_point::<EPrime>(&mut rng);
        let preimages = SSWU.preimages((point.x, point.y));
        assert!(preimages.iter().all(|u| SSWU.map(*u) == (point.x, point.y)));
        assert!(preimages.iter().enumerate().all(|(i, u)| !preimages[..i].contains(u)), "each is another one");
        *counts.entry(preimages.len()).or_insert(0) += 1;
    }
    println!("{counts:?} of {DRAWN} points");
    assert_eq!(counts.keys().copied().collect::<Vec<_>>(), [0, 2, 4]);
    for (preimages, share) in [(0, 0.625), (2, 0.25), (4, 0.125)] {
        let (found, expected) = (counts[&preimages] as f64, DRAWN as f64 * share);
        assert!((found - expected).abs() < 5.0 * (expected * (1.0 - share)).sqrt(), "{preimages}: {counts:?}");
    }
}

/// The simulator of the proof: it draws multiples of a challenge with a known factor, finds a field element for each, and
/// the hash of this field element is the multiple.
#[test]
fn points_with_known_logarithms_are_hashes() {
    let mut rng = seeded(17);
    let base = Affine::<EPrime>::generator();
    assert!(times_r(&base).is_zero() && !base.is_zero(), "the point has order r");
    let challenge = clear(&isogeny(&base));
    let (mut drawn, mut draws) = (0, seeded(8));
    for _ in 0..100 {
        let (u, factor, tries) = sample(&SSWU, &mut rng, || {
            let factor = random::<Fr>(&mut draws);
            // A uniform point without a part of order r. The isogeny and the cofactor take it away.
            let blind = times_r(&random_point::<EPrime>(&mut draws));
            let point = (base.mul_bigint(factor.into_bigint()) + blind).into_affine();
            ((point.x, point.y), factor)
        });
        assert_eq!(encode(u), challenge.mul_bigint(factor.into_bigint()).into_affine());
        drawn += tries;
    }
    println!("{drawn} points drawn for 100 hashes");
    // The number of tries is geometric with mean 4 and variance 12.
    assert!((drawn as f64 - 400.0).abs() < 5.0 * (100.0 * 12.0f64).sqrt(), "{drawn}");
}

/// What a sampler draws is uniform: the remainders of u modulo 8, by a chi-squared test with 7 degrees of freedom.
#[test]
fn drawn_field_elements_are_uniform() {
    const DRAWN: usize = 800;
    let mut rng = seeded(17);
    let mut counts = [0.0; 8];
    let mut draws = seeded(9);
    for _ in 0..DRAWN {
        let (u, (), _) = sample(&SSWU, &mut rng, || {
            let point = random_point::<EPrime>(&mut draws);
            ((point.x, point.y), ())
        });
        counts[u.into_bigint().as_ref()[0] as usize % 8] += 1.0;
    }
    let expected = DRAWN as f64 / 8.0;
    let chi: f64 = counts.iter().map(|count: &f64| (count - expected).powi(2) / expected).sum();
    println!("chi squared: {chi:.2} of {counts:?}");
    assert!(chi < 29.9, "a uniform sample is above with a probability of 1 in 10,000: {counts:?}");
}

/// The isogeny's kernel is rational: a point of E(Fp) has 11 preimages or none, and one of 11 points has them. A point of
/// order r has them always, and one of them has order r.
#[test]
fn the_isogeny_has_eleven_preimages_or_none() {
    const DRAWN: usize = 132;
    let mut rng = seeded(17);
    let mut with = 0;
    for _ in 0..DRAWN {
        let point = random_point::<E>(&mut rng);
        match roots(&isogeny_equation(&point), &mut rng).len() {
            0 => {}
            11 => with += 1,
            n => panic!("{n} preimages of {point}"),
        }
    }
    println!("{with} of {DRAWN} points have preimages");
    let expected = DRAWN as f64 / 11.0;
    assert!((with as f64 - expected).abs() < 3.0 * expected.sqrt(), "{with}");

    for _ in 0..4 {
        let point = clear(&random_point::<E>(&mut rng));
        let preimages: Vec<_> = roots(&isogeny_equation(&point), &mut rng)
            .into_iter()
            .map(|x| {
                let preimage = Affine::<EPrime>::get_point_from_x_unchecked(x, false).expect("on the curve");
                if isogeny(&preimage) == point { preimage } else { -preimage }
            })
            .collect();
        assert_eq!(preimages.len(), 11);
        assert!(preimages.iter().all(|preimage| isogeny(preimage) == point));
        assert_eq!(preimages.iter().filter(|preimage| times_r(preimage).is_zero()).count(), 1);
    }
}

type Poly = DensePolynomial<Fq>;

/// The polynomial of degree 11 whose roots are the x of a point's preimages.
fn isogeny_equation(point: &G1Affine) -> Poly {
    let map = <E as WBConfig>::ISOGENY_MAP;
    let [numerator, denominator] = [map.x_map_numerator, map.x_map_denominator].map(Poly::from_coefficients_slice);
    &numerator - &(&denominator * point.x)
}

fn remainder(of: &Poly, by: &Poly) -> Poly {
    DenseOrSparsePolynomial::from(of).divide_with_q_and_r(&DenseOrSparsePolynomial::from(by)).unwrap().1
}

fn power(base: &Poly, exponent: &[u64], modulo: &Poly) -> Poly {
    let mut power = Poly::from_coefficients_vec(vec![Fq::one()]);
    for bit in ark_ff::BitIteratorBE::without_leading_zeros(exponent) {
        power = remainder(&power.naive_mul(&power), modulo);
        if bit {
            power = remainder(&power.naive_mul(base), modulo);
        }
    }
    power
}

fn common(a: &Poly, b: &Poly) -> Poly {
    if b.is_zero() { a.clone() } else { common(b, &remainder(a, b)) }
}

/// The roots in Fp, by the method of Cantor and Zassenhaus.
fn roots(poly: &Poly, rng: &mut impl Rng) -> Vec<Fq> {
    let x = Poly::from_coefficients_vec(vec![Fq::zero(), Fq::one()]);
    let linear = common(poly, &(&power(&x, Fq::MODULUS.as_ref(), poly) - &x));
    split(&linear, rng)
}

/// The roots of a product of different linear factors.
fn split(poly: &Poly, rng: &mut impl Rng) -> Vec<Fq> {
    match poly.degree() {
        0 => Vec::new(),
        1 => vec![-poly[0] / poly[1]],
        degree => loop {
            // About half of the roots c have a square c + shift.
            let shifted = Poly::from_coefficients_vec(vec![random(rng), Fq::one()]);
            let one = Poly::from_coefficients_vec(vec![Fq::one()]);
            let squares = &power(&shifted, Fq::MODULUS_MINUS_ONE_DIV_TWO.as_ref(), poly) - &one;
            let part = common(poly, &squares);
            if part.degree() > 0 && part.degree() < degree {
                let rest = poly / &part;
                break [split(&part, rng), split(&rest, rng)].concat();
            }
        },
    }
}
