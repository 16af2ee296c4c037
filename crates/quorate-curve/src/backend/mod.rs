//! The choice between the backends, and the verbs that they all offer.
//!
//! A [`Backend`] is a closed enum that a program chooses once. Each verb takes a slice or segments and has one `match`,
//! so that no field operation is dispatched. The backends themselves stand below this module and know points of the two
//! curves; [`Group`] wraps these, and this module translates. A verb of one group is only documented here: `verbs` has its
//! work, compiled for both groups.
//!
//! | verb | in | out |
//! |---|---|---|
//! | [`decode_each`](Backend::decode_each), [`decode_uncompressed_each`](Backend::decode_uncompressed_each) | encodings | points on the curve |
//! | [`hash_to_curve`](Backend::hash_to_curve) | messages under one tag | points of order r |
//! | [`hash_for_sums`](Backend::hash_for_sums), [`clear_sums`](Backend::clear_sums) | messages whose hashes are only summed | their sums, for less work |
//! | [`in_subgroup`](Backend::in_subgroup), [`all_in_subgroup`](Backend::all_in_subgroup) | points | one answer each, or one for all |
//! | [`sum`](Backend::sum), [`sums`](Backend::sums) | points | their sum, or that of each segment |
//! | [`store`](Backend::store) | points of which some are summed often | [`StoredPoints`], which sum them by index |
//! | [`weighted_sums`](Backend::weighted_sums) | points and weights | Σ w·P of each segment |
//! | [`weighted_sums_of_members`](Backend::weighted_sums_of_members) | points and weights | the same, if all points are in the subgroup |
//! | [`msm`](Backend::msm), [`short_msm`](Backend::short_msm) | points and public scalars, or short integers | Σ n·P, a multi-scalar multiplication |
//! | [`multiples`](Backend::multiples) | points and public scalars | each n·P |
//! | [`miller_products`](Backend::miller_products) | pairs | ∏ f(P, Q) of each segment, before the final exponentiation |
//! | [`prepare`](Backend::prepare), [`miller_products_prepared`](Backend::miller_products_prepared) | points of G2 that are paired often; pairs with them | the same products, for less work |
//! | [`final_exponentiations`](Backend::final_exponentiations) | Miller values | elements of the target group |
//! | [`multiply`](Backend::multiply), [`add_multiple`](Backend::add_multiple), [`inverses`](Backend::inverses) | public scalars | products, multiples, inverses |
//! | [`differences`](Backend::differences) | points and roots in Fr | the products of their differences |
//! | [`values`](Backend::values) | a polynomial over Fr and points | its values; at roots of unity see [`Domain`](crate::Domain) |
//!
//! [`decode`](Backend::decode), [`decode_uncompressed`](Backend::decode_uncompressed), [`sum`](Backend::sum),
//! [`miller_product`](Backend::miller_product) and [`final_exponentiation`](Backend::final_exponentiation) are these
//! verbs on one item. [`hash_to_curve_one`](Backend::hash_to_curve_one), [`is_member`](Backend::is_member) and
//! [`pairs_to_one`](Backend::pairs_to_one) are those that verify one signature; on BLS12-381 they allocate nothing. A backend also says
//! how the engine should divide its work: [`lanes`](Backend::lanes), [`products_at_once`](Backend::products_at_once),
//! [`messages_in_one_vector`](Backend::messages_in_one_vector),
//! [`pairs_uncleared`](Backend::pairs_uncleared), [`sums_members_from`](Backend::sums_members_from).
//!
//! The file is long because each verb is documented here, once for all backends, and because the tests that compare all
//! backends stand here.

pub(crate) mod portable;
#[cfg_attr(
    not(any(
        all(target_arch = "x86_64", target_feature = "sse2"),
        all(target_arch = "aarch64", target_feature = "neon")
    )),
    allow(dead_code, unused_imports, reason = "without vectors some verbs alone take the formulas of the lanes")
)]
pub(crate) mod lanes;
#[cfg(test)]
mod symbolic;
// Without SSE2, as on a bare target that computes floats in software, the compiler has no vector registers for the lanes.
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
pub(crate) mod ifma;
#[cfg(any(
    all(target_arch = "x86_64", target_feature = "sse2"),
    all(target_arch = "aarch64", target_feature = "neon")
))]
pub(crate) mod fma;
pub(crate) mod serial;
pub(crate) mod choice;
mod prepared;
pub(crate) mod stored;
mod verbs;
#[cfg(all(test, feature = "soak"))]
pub(crate) mod soak;

use alloc::vec::Vec;
use blst::{blst_p1_affine, blst_p2_affine};

#[cfg(all(target_arch = "aarch64", target_feature = "neon"))]
pub use self::choice::Neon;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
pub use self::choice::{Avx2, Avx512, Ifma};
#[cfg(any(
    all(target_arch = "x86_64", target_feature = "sse2"),
    all(target_arch = "aarch64", target_feature = "neon")
))]
use self::prepared::LinesInLanes;
pub use self::{
    choice::{Backend, BackendId, UnknownBackend},
    prepared::PreparedG2,
    stored::StoredPoints,
};
use self::{
    choice::{dispatch, dispatch_scalars},
    prepared::PreparedLines,
};
use crate::{
    arithmetic::curve::GroupId,
    encoding::DecodeError,
    group::{Bls12381Group, G1, G2, Group, PairingCurve, sealed::Sealed},
    pairing::{Bls12381, CurveId, Gt, MillerValue, Pairing},
    scalar::Scalar,
    segments::{Cut, Segments, UncheckedSegments, WeightedSegments},
    weight::Soundness,
};

impl Backend {
    /// How many items the backend computes at a time. Parts of equal size that are multiples of it leave no lane idle.
    pub const fn lanes(self) -> usize {
        match self.id() {
            BackendId::Portable => 1,
            BackendId::Ifma | BackendId::FmaAvx512 | BackendId::FmaAvx2 | BackendId::FmaNeon => {
                lanes::instructions::LANES
            }
        }
    }

    /// Whether most of its verbs compute in lanes.
    const fn has_lanes(self) -> bool {
        self.lanes() > 1
    }

    /// How many products of pairings cost the least together. As many as [`lanes`](Self::lanes), or fewer where some of the
    /// lanes cost less alone.
    pub const fn products_at_once(self) -> usize {
        match self.id() {
            BackendId::Portable => 1,
            BackendId::Ifma | BackendId::FmaAvx512 => lanes::instructions::LANES,
            BackendId::FmaAvx2 | BackendId::FmaNeon => lanes::instructions::LANES / 2,
        }
    }

    /// The most messages whose pairs fit one vector of the ate pairing, with the pair of the signatures beside them. Zero
    /// without lanes, and for lanes of doubles, which leave few items to blst, so that one pair less is time saved.
    pub const fn messages_in_one_vector(self) -> usize {
        match self.id() {
            BackendId::Ifma => lanes::instructions::LANES - 1,
            BackendId::Portable | BackendId::FmaAvx512 | BackendId::FmaAvx2 | BackendId::FmaNeon => 0,
        }
    }

    /// Whether products of this pairing accept the hashes of [`hash_for_sums`](Self::hash_for_sums) in G without
    /// clearing their cofactor, with [`Bls12381Group::generator_over_cofactor`] of the other group beside the signatures. This
    /// holds if the hashes are uncleared and the pairing is bilinear in every point of their curve
    /// (`docs/soundness.md`).
    pub fn pairs_uncleared<G: Group>(self, pairing: Pairing) -> bool {
        match (pairing, G::ID) {
            // blst hashes to G1 with the cofactor cleared.
            (Pairing::Ate, GroupId::G1) => self.has_lanes(),
            (Pairing::TwistedAte, GroupId::G2) => true,
            (Pairing::Ate, GroupId::G2) | (Pairing::TwistedAte, GroupId::G1) => false,
        }
    }

    /// The number of points from which [`weighted_sums_of_members`](Self::weighted_sums_of_members) costs less than a
    /// check of each point and a weighted sum. `None` if it never does.
    pub fn sums_members_from<G: Group>(self, soundness: Soundness) -> Option<usize> {
        G::sums_members_from(self, soundness)
    }

    /// Decodes compressed points: canonical, on the curve, not necessarily in the subgroup.
    ///
    /// # Errors
    /// For each encoding [`DecodeError`], which names the flaw.
    ///
    /// Cost: a square root for each.
    pub fn decode_each<G: Bls12381Group>(self, encodings: &[&[u8]]) -> Vec<Result<G, DecodeError>> {
        G::decode_each(self, encodings)
    }

    /// Decodes uncompressed points: canonical, on the curve, not necessarily in the subgroup.
    ///
    /// # Errors
    /// For each encoding [`DecodeError`], which names the flaw.
    pub fn decode_uncompressed_each<G: Bls12381Group>(self, encodings: &[&[u8]]) -> Vec<Result<G, DecodeError>> {
        G::decode_uncompressed_each(self, encodings)
    }

    /// Decodes one compressed point: [`decode_each`](Self::decode_each).
    ///
    /// # Errors
    /// [`DecodeError`], which names the flaw.
    pub fn decode<G: Bls12381Group>(self, bytes: &[u8]) -> Result<G, DecodeError> {
        self.decode_each(&[bytes])[0]
    }

    /// Decodes one uncompressed point: [`decode_uncompressed_each`](Self::decode_uncompressed_each).
    ///
    /// # Errors
    /// [`DecodeError`], which names the flaw.
    pub fn decode_uncompressed<G: Bls12381Group>(self, bytes: &[u8]) -> Result<G, DecodeError> {
        self.decode_uncompressed_each(&[bytes])[0]
    }

    /// `hash_to_curve` of RFC 9380 (section 8.8, the `_RO_` suites with SHA-256) for each message under one tag.
    ///
    /// Each message is the concatenation of two parts: an AUG suite puts the key in the first. `dst` is the domain
    /// separation tag. A tag of more than 255 bytes is hashed first, as section 5.3.3 says.
    pub fn hash_to_curve<G: Bls12381Group>(self, dst: &[u8], messages: &[(&[u8], &[u8])]) -> Vec<G> {
        G::hash_to_curve(self, dst, messages)
    }

    /// [`hash_to_curve`](Self::hash_to_curve) of one message. It allocates nothing, unless both parts have bytes, and more than 256
    /// together.
    pub fn hash_to_curve_one<G: Bls12381Group>(self, dst: &[u8], message: (&[u8], &[u8])) -> G {
        G::hash_to_curve_one(self, dst, message)
    }

    /// `encode_to_curve` of RFC 9380 (section 8.8, the `_NU_` suites with SHA-256) of one message, by blst: one map in
    /// place of the two of [`hash_to_curve_one`](Self::hash_to_curve_one).
    ///
    /// Its points are in the subgroup of order r, but are not uniformly distributed in it. Use it only in protocols whose
    /// proof of security allows that, as BLS signatures do (docs/nonuniform.md).
    pub fn encode_to_curve_one<G: Bls12381Group>(self, dst: &[u8], message: (&[u8], &[u8])) -> G {
        G::encode_to_curve_one(dst, message)
    }

    /// A hash Q(m) for each message such that [`clear_sums`](Self::clear_sums) turns any Σ w·Q(m) into Σ w·H(m), where
    /// H(m) is the hash of [`hash_to_curve`](Self::hash_to_curve). Q(m) may lie outside the subgroup: use it only in
    /// sums, and in products where [`pairs_uncleared`](Self::pairs_uncleared) allows it.
    ///
    /// Cheaper than `hash_to_curve` in G2: clearing the cofactor is linear, and it is more than half of a hash.
    pub fn hash_for_sums<G: Bls12381Group>(self, dst: &[u8], messages: &[(&[u8], &[u8])]) -> Vec<G> {
        G::hash_for_sums(self, dst, messages)
    }

    /// Clears the cofactor of sums of the hashes of [`hash_for_sums`](Self::hash_for_sums). The results are the same
    /// sums of the hashes of [`hash_to_curve`](Self::hash_to_curve).
    pub fn clear_sums<G: Bls12381Group>(self, sums: &[G]) -> Vec<G> {
        G::clear_sums(self, sums)
    }

    /// Whether each point is in the subgroup of order r. The identity is.
    pub fn in_subgroup<G: Group>(self, points: &[G]) -> Vec<bool> {
        G::in_subgroup(self, points)
    }

    /// Whether every point is in the subgroup of order r. For 256 points and more it is found through random sums of them, and a
    /// point outside is missed with a probability below 2^-128 (`docs/soundness.md`).
    ///
    /// Each point has its words in `random`, from a CSPRNG. Draw them after all points are fixed: whoever made the points
    /// must not be able to predict them.
    ///
    /// Cost: 12 to 28 additions for each point, and the check of 84 sums for every 65,536 points.
    ///
    /// # Panics
    /// If there are not as many entries in `random` as points.
    pub fn all_in_subgroup<G: Group>(self, points: &[G], random: &[[u64; 4]]) -> bool {
        assert_eq!(points.len(), random.len(), "random words for each point");
        G::all_in_subgroup(self, points, random)
    }

    /// [`in_subgroup`](Self::in_subgroup) of one point, without allocation.
    pub fn is_member<G: Group>(self, point: &G) -> bool {
        G::is_member(self, point)
    }

    /// The sum of all points. The sum of no points is the identity.
    ///
    /// # Panics
    /// If a backend with lanes gets 2^28 points or more.
    pub fn sum<G: Group>(self, points: &[G]) -> G {
        G::sum(self, points)
    }

    /// The sum of each segment.
    ///
    /// # Panics
    /// If the last segment is open, or if a backend with lanes gets more points or segments than it numbers: up to 2^27 always fit.
    pub fn sums<G: Group>(self, points: &Segments<G>) -> Vec<G> {
        points.assert_closed();
        G::sums(self, points)
    }

    /// An empty list of points that this backend keeps in its own form, to sum some of them by index.
    pub fn store<G: Group>(self) -> StoredPoints<G> {
        StoredPoints::new(self)
    }

    /// The weighted sum Σ wᵢ·Pᵢ of each segment.
    ///
    /// Points outside the subgroup are allowed: ω is an endomorphism of the whole curve.
    ///
    /// # Panics
    /// If the last segment is open, or if a backend with lanes gets more points or segments than it numbers: up to 2^22 always fit.
    pub fn weighted_sums<G: Group>(self, points: &WeightedSegments<G>) -> Vec<G> {
        points.points().assert_closed();
        G::weighted_sums(self, points)
    }

    /// The weighted sum Σ wᵢ·Pᵢ of each segment, or `None` if a point is not in the subgroup of order r.
    ///
    /// The check may miss a point outside the subgroup with probability at most 2^-64 or 2^-128, as `soundness` says,
    /// over the weights and the further random bits. A backend may check random sums in place of the points, and then
    /// takes further digits from these bits (`docs/soundness.md`). The weights must be random, with as many bits as
    /// `soundness` says.
    ///
    /// # Panics
    /// As [`weighted_sums`](Self::weighted_sums).
    pub fn weighted_sums_of_members<G: Group>(
        self,
        points: &UncheckedSegments<G>,
        soundness: Soundness,
    ) -> Option<Vec<G>> {
        points.weighted().points().assert_closed();
        G::weighted_sums_of_members(self, points, soundness)
    }

    /// The multi-scalar multiplication Σ nᵢ·Pᵢ for public scalars. The result for no terms is the identity.
    ///
    /// All points must be in the subgroup of order r, unless the backend has lanes and all scalars are below 2^127. With points of E(Fp)
    /// outside of it, the part of order r of the sum is right, and the part of small order can be another: a backend may multiply by an
    /// endomorphism in the place of a number, and that maps each of the two parts to itself.
    pub fn msm<G: Bls12381Group>(self, terms: &[(G, Scalar)]) -> G {
        G::msm(self, terms)
    }

    /// The multiple nᵢ·Pᵢ of each point by the public scalar at its place. The points must be in the subgroup of order r.
    ///
    /// # Panics
    /// If the lengths differ.
    ///
    /// Cost: a multiplication each. In lanes, 130 doublings and 65 additions for eight of them.
    pub fn multiples<G: Bls12381Group>(self, points: &[G], scalars: &[Scalar]) -> Vec<G> {
        assert_eq!(points.len(), scalars.len(), "the multiples of points need as many scalars");
        G::multiples(self, points, scalars)
    }

    /// Σ nᵢ·Pᵢ for integers of few bits, with signs. The points may be outside the subgroup.
    ///
    /// Cost: a doubling for each bit of the largest integer, and an addition for each bit that is set in any, by blst.
    pub fn short_msm<G: Bls12381Group>(self, terms: &[(G, i64)]) -> G {
        G::short_msm(terms)
    }

    /// The product ∏ f(Pᵢ, Qᵢ) over each segment, where f is the Miller loop of `pairing`. The product of no pairs is
    /// one, and a pair with an identity counts as one.
    ///
    /// For [`Pairing::Ate`] the points of G2 must be in the subgroup of order r, for [`Pairing::TwistedAte`] those of
    /// G1.
    ///
    /// # Panics
    /// If the curve does not have the pairing, or if the last segment is open.
    pub fn miller_products<P: Group<Curve: PairingCurve<G1 = P>>>(
        self,
        pairing: Pairing,
        pairs: &Segments<Pair<P>>,
    ) -> Vec<MillerValue<P::Curve>> {
        pairs.assert_closed();
        P::Curve::miller_products(self, pairing, pairs)
    }

    /// `pair` gives the points of an item.
    fn miller_products_of<T>(
        self,
        pairing: Pairing,
        items: Cut<'_, T>,
        pair: impl Fn(&T) -> (G1, G2),
    ) -> Vec<MillerValue> {
        let finite = |item: &T| finite(pair(item));
        let serially = || match pairing {
            Pairing::Ate => portable::pairing::miller_products(items, finite),
            Pairing::TwistedAte => {
                lanes::pairing::twisted_products(serial::Serial::<Bls12381, 1>::new(), items, finite)
            }
        };
        dispatch!(self, serially(), |lanes| match pairing {
            Pairing::Ate => lanes::pairing::ate_products(lanes, items, finite),
            Pairing::TwistedAte => lanes::pairing::twisted_products(lanes, items, finite),
        })
    }

    /// Computes the lines of each point for [`miller_products_prepared`](Self::miller_products_prepared).
    ///
    /// All points must be in the subgroup of order r. Cost for many points: less than a Miller loop each.
    pub fn prepare(self, points: &[G2]) -> Vec<PreparedG2> {
        let with = |(point, lines): (&G2, PreparedLines)| PreparedG2::new(*point, lines);
        let inner = G2::slice(points);
        let lines: Vec<PreparedLines> =
            dispatch!(self, portable::pairing::prepare(inner).map(PreparedLines::Portable).collect(), |lanes| {
                lanes::pairing::prepare(lanes, inner).map(LinesInLanes::keep).collect()
            });
        points.iter().zip(lines).map(with).collect()
    }

    /// [`miller_products`](Self::miller_products) of [`Pairing::Ate`], with prepared points. If another backend
    /// prepared one of them, the lines of none are used.
    ///
    /// # Panics
    /// If the last segment is open.
    pub fn miller_products_prepared(self, pairs: &Segments<(G1, &PreparedG2)>) -> Vec<MillerValue> {
        pairs.assert_closed();
        let pairs = pairs.cut();
        let products = dispatch!(
            self,
            with_lines(pairs.items(), PreparedLines::portable)
                .map(|items| portable::pairing::miller_products_prepared(Cut::new(&items, pairs.ends()), |item| *item)),
            |lanes| prepared_in_lanes(lanes, pairs)
        );
        products.unwrap_or_else(|| self.miller_products_of(Pairing::Ate, pairs, |(p, q)| (*p, q.point())))
    }

    /// Raises each value to a fixed multiple of (p¹² - 1)/r. The results can be compared.
    pub fn final_exponentiations<C: PairingCurve>(self, values: &[MillerValue<C>]) -> Vec<Gt<C>> {
        C::final_exponentiations(self, values)
    }

    /// The product of all pairs in the ate pairing: [`miller_products`](Self::miller_products).
    pub fn miller_product<P: Group<Curve: PairingCurve<G1 = P>>>(self, pairs: &[Pair<P>]) -> MillerValue<P::Curve> {
        P::Curve::miller_product(self, pairs)
    }

    /// Whether the product of a few pairings is one. A pair with an identity counts as one. Of one pair or two on BLS12-381 it allocates
    /// nothing.
    ///
    /// The points of G2 must be in the subgroup of order r. The product is the ate pairing's. With other points of BLS12-381's twist it
    /// is no pairing, but every backend answers as blst, because all take the same steps. Only with a point of order 13 does a step add a
    /// point to its negative, and then the answer is false.
    pub fn pairs_to_one<P: Group<Curve: PairingCurve<G1 = P>>, const N: usize>(self, pairs: &[Pair<P>; N]) -> bool {
        P::Curve::pairs_to_one(self, pairs)
    }

    /// Raises one value: [`final_exponentiations`](Self::final_exponentiations).
    pub fn final_exponentiation<C: PairingCurve>(self, value: MillerValue<C>) -> Gt<C> {
        self.final_exponentiations(&[value])[0]
    }

    /// Multiplies each scalar of `a` by the scalar of `b` at its place.
    ///
    /// # Panics
    /// If the lengths differ.
    pub fn multiply(self, a: &mut [Scalar], b: &[Scalar]) {
        assert_eq!(a.len(), b.len(), "the products of two lists of scalars need one length");
        dispatch_scalars!(self, portable::scalars::multiply(a, b), |lanes| ifma::scalars::multiply(lanes, a, b))
    }

    /// Adds `factor` times each scalar of `b` to the scalar of `a` at its place.
    ///
    /// # Panics
    /// If the lengths differ.
    pub fn add_multiple(self, a: &mut [Scalar], factor: Scalar, b: &[Scalar]) {
        assert_eq!(a.len(), b.len(), "the sums of two lists of scalars need one length");
        dispatch_scalars!(self, portable::scalars::add_multiple(a, factor, b), |lanes| ifma::scalars::add_multiple(
            lanes, a, factor, b
        ))
    }

    /// The inverse of each scalar, or `None` if one of them is zero.
    ///
    /// Cost: three products each, and an inversion.
    pub fn inverses(self, scalars: &[Scalar]) -> Option<Vec<Scalar>> {
        let mut inverses = scalars.to_vec();
        let done = dispatch_scalars!(self, portable::scalars::invert(&mut inverses), |lanes| ifma::scalars::invert(
            lanes,
            &mut inverses
        ));
        done.then_some(inverses)
    }

    /// For each point x the product of x - root over all roots other than x. If the points are the roots, these are the
    /// values of the derivative of the polynomial that has the roots.
    ///
    /// Cost: a product for each point and root.
    pub fn differences(self, points: &[Scalar], roots: &[Scalar]) -> Vec<Scalar> {
        dispatch_scalars!(self, portable::scalars::differences(points, roots), |lanes| ifma::scalars::differences(
            lanes, points, roots
        ))
    }

    /// The value of a polynomial at each point. The constant coefficient comes first.
    ///
    /// Cost: a product for each coefficient and point. At all points of a [`Domain`](crate::Domain) it costs less.
    pub fn values(self, coefficients: &[Scalar], points: &[Scalar]) -> Vec<Scalar> {
        dispatch_scalars!(self, portable::scalars::values(coefficients, points), |lanes| ifma::scalars::values(
            lanes,
            coefficients,
            points
        ))
    }
}

/// A point of the first group beside one of the second group of its curve.
pub type Pair<P> = (P, <<P as Group>::Curve as PairingCurve>::G2);

impl PairingCurve for Bls12381 {
    const ID: CurveId = CurveId::Bls12381;
    type G1 = G1;
    type G2 = G2;

    fn backend(chosen: Backend) -> Backend {
        chosen
    }

    fn miller_products(backend: Backend, pairing: Pairing, pairs: &Segments<(G1, G2)>) -> Vec<MillerValue> {
        backend.miller_products_of(pairing, pairs.cut(), |(p, q)| (*p, *q))
    }

    fn miller_product(backend: Backend, pairs: &[(G1, G2)]) -> MillerValue {
        backend.miller_products_of(Pairing::Ate, Cut::new(pairs, &[pairs.len()]), |(p, q)| (*p, *q))[0]
    }

    fn final_exponentiations(backend: Backend, values: &[MillerValue]) -> Vec<Gt> {
        dispatch!(backend, portable::pairing::final_exponentiations(values), |lanes| {
            lanes::pairing::final_exponentiations(lanes, values)
        })
    }

    fn pairs_to_one<const N: usize>(backend: Backend, pairs: &[(G1, G2); N]) -> bool {
        let portable = || portable::pairing::miller_product_of(pairs.map(finite));
        let value = dispatch!(backend, portable::pairing::final_exponentiation(&portable()), |lanes| {
            let (mut few, mut n) = ([Default::default(); N], 0);
            for pair in pairs.iter().copied().filter_map(finite) {
                few[n] = pair;
                n += 1;
            }
            let product = lanes::pairing::product_of_few(lanes, &few[..n]).unwrap_or_else(portable);
            lanes::pairing::final_exponentiation_of_one(lanes, &product)
        });
        value.is_one()
    }
}

/// The products of prepared points in lanes. The answer is `None` if there are too few, or if other lanes prepared one.
#[cfg(any(
    all(target_arch = "x86_64", target_feature = "sse2"),
    all(target_arch = "aarch64", target_feature = "neon")
))]
fn prepared_in_lanes<L: lanes::field::Lanes<Curve = Bls12381>>(
    lanes: L,
    pairs: Cut<'_, (G1, &PreparedG2)>,
) -> Option<Vec<MillerValue>>
where
    lanes::pairing::Row<L>: LinesInLanes,
{
    if pairs.items().len() < L::THRESHOLDS.prepared_pairs {
        return None;
    }
    let items = with_lines(pairs.items(), LinesInLanes::of)?;
    Some(lanes::pairing::miller_products_prepared(lanes, Cut::new(&items, pairs.ends()), |item| *item))
}

/// The points of G1 with the lines of those of G2, and `None` for a pair with an identity. The whole answer is `None` if
/// another backend prepared a point, so that `lines` finds nothing.
fn with_lines<'a, L>(
    pairs: &[(G1, &'a PreparedG2)],
    lines: fn(&'a PreparedLines) -> Option<&'a L>,
) -> Option<Vec<Option<(blst_p1_affine, &'a L)>>> {
    let with_lines = |(p, q): &(G1, &'a PreparedG2)| {
        let lines = lines(q.lines())?;
        let is_one = p.is_identity() || q.point().is_identity();
        Some((!is_one).then(|| (p.inner(), lines)))
    };
    pairs.iter().map(with_lines).collect()
}

/// The points of a pair, or `None` if one of them is the identity.
fn finite((p, q): (G1, G2)) -> Option<(blst_p1_affine, blst_p2_affine)> {
    (!p.is_identity() && !q.is_identity()).then(|| (p.inner(), q.inner()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::weight::Weight;
    use alloc::vec;

    /// A point outside the subgroup at every place of sums around every width is found, and nothing else is refused.
    fn weighted_sums_of_members<G: Bls12381Group>(outside: G) {
        for backend in Backend::available() {
            for (n, soundness) in
                [0, 1, 2, 7, 8, 9, 64, 130].into_iter().zip([Soundness::Bits64, Soundness::Bits128].repeat(4))
            {
                let mut points = vec![G::generator(); n];
                let word = |i: usize| 0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(2 * i as u64 + 1);
                let wide = |i| u128::from(word(i)) << (soundness.bits() - 64) | u128::from(word(i + n));
                let weights: Vec<_> = (0..n).map(|i| Weight::from_bits(wide(i)).expect("not zero")).collect();
                let further: Vec<_> = (0..n).map(|i| word(i).rotate_left(32)).collect();
                let ends = if n % 2 == 0 { vec![n] } else { vec![0, n / 3, n / 3, n - 1, n] };
                let segments = |points: &[G]| {
                    let mut segments = UncheckedSegments::new();
                    for (i, end) in ends.iter().enumerate() {
                        let start = if i == 0 { 0 } else { ends[i - 1] };
                        (start..*end).for_each(|j| segments.push(points[j], weights[j], further[j]));
                        segments.close();
                    }
                    segments
                };
                let members = segments(&points);
                let sums = backend.weighted_sums_of_members(&members, soundness);
                assert_eq!(sums, Some(Backend::Portable.weighted_sums(members.weighted())), "{backend}, {n} members");
                for place in 0..n {
                    points[place] = outside;
                    let sums = backend.weighted_sums_of_members(&segments(&points), soundness);
                    assert_eq!(sums, None, "{backend}, at {place} of {n}");
                    points[place] = G::generator();
                }
            }
        }
    }

    #[test]
    fn weighted_sums_of_members_g1() {
        let mut bytes = [0; G1::COMPRESSED];
        bytes[0] = 0x80;
        weighted_sums_of_members::<G1>(Backend::Portable.decode(&bytes).expect("(0, 2), of order 3"));
    }

    #[test]
    fn weighted_sums_of_members_g2() {
        weighted_sums_of_members::<G2>(Backend::Portable.hash_for_sums(b"members", &[(b"", b"outside")])[0]);
    }

    /// The verbs that verify one signature agree with those on slices of the portable backend, for members, points outside and identities.
    #[test]
    fn verbs_on_one_item_are_those_on_slices() {
        fn agrees<G: Bls12381Group>(outside: G) {
            for backend in Backend::available() {
                let long = [7; 300];
                for message in
                    [(&b"prefix"[..], &b"body"[..]), (b"", b""), (b"", &long), (&long, b"x"), (&long[..48], &long)]
                {
                    let expected = Backend::Portable.hash_to_curve::<G>(b"one", &[message])[0];
                    assert_eq!(backend.hash_to_curve_one::<G>(b"one", message), expected);
                }
                for point in [G::IDENTITY, G::generator(), outside] {
                    assert_eq!(backend.is_member(&point), Backend::Portable.in_subgroup(&[point])[0]);
                }
                assert!(!backend.is_member(&outside));
            }
        }
        let mut bytes = [0; G1::COMPRESSED];
        bytes[0] = 0x80;
        agrees::<G1>(Backend::Portable.decode(&bytes).expect("(0, 2), of order 3"));
        agrees::<G2>(Backend::Portable.hash_for_sums(b"members", &[(b"", b"outside")])[0]);
        let (g1, g2) = (G1::generator(), G2::generator());
        for backend in Backend::available() {
            for pairs in [
                [(g1, g2), (g1.negate(), g2), (g1, G2::IDENTITY)],
                [(g1, g2), (g1, g2), (g1, g2.negate())],
                [(G1::IDENTITY, g2); 3],
                [(g1, g2), (G1::IDENTITY, g2), (g1, g2.negate())],
            ] {
                let expected = backend.final_exponentiation(backend.miller_product(&pairs)).is_one();
                assert_eq!(backend.pairs_to_one(&pairs), expected, "{backend}, {pairs:?}");
            }
            assert!(backend.pairs_to_one::<G1, 0>(&[]) && !backend.pairs_to_one(&[(g1, g2)]));
        }
    }

    /// What every verb answers, as text.
    fn answers(backend: Backend) -> Vec<alloc::string::String> {
        fn of_group<G: Bls12381Group>(backend: Backend, out: &mut Vec<alloc::string::String>) -> Vec<G> {
            let names: Vec<_> = (0..20_u8).map(|i| [i]).collect();
            let messages: Vec<_> = names.iter().map(|name| (&name[..], &[][..])).collect();
            let points: Vec<G> = backend.hash_to_curve(b"rounding", &messages);
            let encodings: Vec<_> = points.iter().map(Bls12381Group::compress).collect();
            let encodings: Vec<&[u8]> = encodings.iter().map(AsRef::as_ref).collect();
            let long: Vec<_> = points.iter().map(Bls12381Group::serialize).collect();
            let long: Vec<&[u8]> = long.iter().map(AsRef::as_ref).collect();
            let scalars: Vec<_> = (0..20).map(|i| Scalar::from(3).power(90 + i)).collect();
            let terms: Vec<_> = points.iter().copied().zip(scalars.iter().copied()).collect();
            let weight = |i: usize| Weight::from_bits(0x9e37_79b9_7f4a_7c15 * (i as u128 + 1)).expect("not zero");
            let mut unchecked = UncheckedSegments::new();
            for i in 0..200 {
                unchecked.push(points[i % 20], weight(i), 0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(i as u64));
                if i % 50 == 49 {
                    unchecked.close();
                }
            }
            let sums = backend.clear_sums(&backend.hash_for_sums::<G>(b"rounding", &messages));
            out.push(alloc::format!("{points:?} {sums:?} {:?}", backend.decode_each::<G>(&encodings)));
            out.push(alloc::format!("{:?}", backend.decode_uncompressed_each::<G>(&long)));
            out.push(alloc::format!("{:?}", backend.in_subgroup(&points)));
            out.push(alloc::format!("{:?}", backend.sum(&points.repeat(20))));
            out.push(alloc::format!("{:?}", backend.weighted_sums(unchecked.weighted())));
            out.push(alloc::format!("{:?}", backend.weighted_sums_of_members(&unchecked, Soundness::Bits64)));
            out.push(alloc::format!("{:?} {:?}", backend.msm(&terms), backend.multiples(&points, &scalars)));
            points
        }
        let mut out = Vec::new();
        let (g1, g2) = (of_group::<G1>(backend, &mut out), of_group::<G2>(backend, &mut out));
        let pairs = Segments::one(g1.iter().copied().zip(g2.iter().copied()).collect::<Vec<_>>());
        for pairing in Pairing::ALL {
            let values = backend.miller_products(pairing, &pairs);
            out.push(alloc::format!("{:?}", backend.final_exponentiations(&values)));
        }
        let prepared = backend.prepare(&g2);
        let values = backend.miller_products_prepared(&Segments::one(g1.iter().copied().zip(&prepared).collect()));
        out.push(alloc::format!("{:?}", backend.final_exponentiations(&values.repeat(8))));
        out.push(alloc::format!("{}", backend.pairs_to_one(&[(g1[0], g2[0]), (g1[0].negate(), g2[0])])));
        out
    }

    /// A caller may have set another rounding, and that small numbers are flushed to zero. It finds its own setting again.
    #[test]
    #[cfg(any(
        all(target_arch = "x86_64", target_feature = "sse2"),
        all(target_arch = "aarch64", target_feature = "neon")
    ))]
    fn verbs_do_not_depend_on_the_rounding_of_the_caller() {
        use super::fma::rounding::tests::{HOSTILE, register, with_register, without_flags};
        for backend in Backend::available() {
            let expected = answers(*backend);
            for hostile in HOSTILE {
                with_register(hostile, || {
                    assert!(answers(*backend) == expected, "{backend} with {hostile:#x}");
                    assert_eq!(register(), without_flags(hostile), "{backend}");
                });
            }
        }
    }
}
