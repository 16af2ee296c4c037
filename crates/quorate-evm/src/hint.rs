//! Roots and inverses that a contract checks instead of computing. Nobody has to trust them: a wrong hint makes the
//! contract refuse, never accept.
//!
//! Each hint comes with the contract's own check of it, so that an aggregator finds out before it pays.

use ark_ec::{AffineRepr, CurveGroup};
use ark_ff::{AdditiveGroup, Field, batch_inversion};
use sha3::Keccak256;

use crate::{
    bn254::{Fp, Fp2, G1, G2, MessagePoint, fp_bytes, fp_from_bytes},
    hash_to_curve::{
        Candidate, Parity, candidate, candidates, denominator, hash_to_field, map_to_curve, parity, right_side,
        try_and_increment,
    },
};

/// Counter and root of a digest's point by try-and-increment: 33 bytes a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CounterHint {
    /// The least counter that is accepted.
    pub counter: u8,
    /// The even root.
    pub y: [u8; 32],
}

impl CounterHint {
    /// The hint of a digest.
    pub fn new(digest: &[u8; 32]) -> Self {
        let found = try_and_increment(digest);
        Self { counter: found.counter, y: fp_bytes(&found.point.point().y) }
    }

    /// The contract's check (`HashToBn254.hash`): the point, if x and y are below p, y is even and y² = x³ + 3. A later
    /// counter than the least passes too, and names a point that nobody signed.
    pub fn check(&self, digest: &[u8; 32]) -> Option<MessagePoint> {
        let x = fp_from_bytes(&candidate(digest, self.counter))?;
        let y = fp_from_bytes(&self.y)?;
        let point = G1::new_unchecked(x, y);
        (parity(y) == Parity::Even && point.is_on_curve()).then_some(MessagePoint::from_point(point))
    }
}

/// What proves the choice of x for one field element of RFC 9380's map (`HashToBn254Rfc9380.MapHint`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MapHint {
    /// Which x is taken.
    pub candidate: Candidate,
    /// Its y, of the parity of u.
    pub root: Fp,
    /// For the second and third x a root of -g(x1), which shows that g(x1) is no square; zero for the first.
    pub non_square: Fp,
}

/// The hints of RFC 9380's hash of a message: one inverse for both denominators, and each map's choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rfc9380Hint {
    /// 1/(d0·d1), a denominator of zero being taken for 1.
    pub inverse: Fp,
    /// By field element.
    pub maps: [MapHint; 2],
}

impl Rfc9380Hint {
    /// The hints of a message under a tag of at most 255 bytes.
    pub fn new(message: &[u8], tag: &[u8]) -> Self {
        let elements = hash_to_field::<Keccak256, 2>(message, tag);
        let product = elements.into_iter().map(nonzero_denominator).product::<Fp>();
        let inverse = product.inverse().expect("no factor is zero");
        Self { inverse, maps: elements.map(MapHint::new) }
    }

    /// The contract's check (`HashToBn254Rfc9380.hash`): the point, if the inverse is one and both choices are proved.
    pub fn check(&self, message: &[u8], tag: &[u8]) -> Option<MessagePoint> {
        let elements = hash_to_field::<Keccak256, 2>(message, tag);
        let product = elements.into_iter().map(nonzero_denominator).product::<Fp>();
        if product * self.inverse != Fp::ONE {
            return None;
        }
        let [first, second] = [self.maps[0].check(elements[0])?, self.maps[1].check(elements[1])?];
        Some(MessagePoint::from_point((first + second).into_affine()))
    }
}

impl MapHint {
    /// The hint of one field element.
    pub fn new(u: Fp) -> Self {
        let mapped = map_to_curve(u);
        let non_square = match mapped.candidate {
            Candidate::First => Fp::ZERO,
            _ => (-right_side(candidates(u)[0])).sqrt().expect("-1 is no square and g(x1) is none, so -g(x1) is one"),
        };
        Self { candidate: mapped.candidate, root: mapped.point.y, non_square }
    }

    /// The contract's check of one map, its 1/d being proved.
    pub fn check(&self, u: Fp) -> Option<G1> {
        let xs = candidates(u);
        let excluded = self.candidate == Candidate::First || self.non_square.square() == -right_side(xs[0]);
        let point = G1::new_unchecked(xs[self.candidate as usize - 1], self.root);
        (excluded && parity(self.root) == parity(u) && point.is_on_curve()).then_some(point)
    }
}

fn nonzero_denominator(u: Fp) -> Fp {
    let d = denominator(u);
    if d == Fp::ZERO { Fp::ONE } else { d }
}

/// What a member is to a base: added to its key or taken away.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(clippy::exhaustive_enums, reason = "a member is in the quorum or in the base")]
pub enum Change {
    /// In the quorum, not in the base.
    Added,
    /// In the base, not in the quorum.
    Removed,
}

/// The contract's accumulator of keys in G2 (`Bn254G2.Accumulator`): Jacobian, x = X/Z², y = Y/Z³.
///
/// It goes through the very Z that the contract goes through, which depends on the order of the changes: ascending
/// indices. Additions are complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Accumulator {
    x: Fp2,
    y: Fp2,
    z: Fp2,
}

impl Accumulator {
    /// The accumulator of a base's key, with Z = 1; of the identity for `None`.
    pub fn new(base: Option<G2>) -> Self {
        match base.and_then(|point| point.xy()) {
            Some((x, y)) => Self { x, y, z: Fp2::ONE },
            None => Self::IDENTITY,
        }
    }

    /// Adds a key or takes it away. What becomes of Z:
    /// an ordinary addition, Z·H with H = x2·Z² - X; equal points, 2·Y·Z; opposite points, 0; to the identity, 1.
    pub fn change(&mut self, key: G2, change: Change) {
        let Some((x2, y2)) = signed(key, change) else { return };
        if self.z == Fp2::ZERO {
            *self = Self { x: x2, y: y2, z: Fp2::ONE };
            return;
        }
        let (h, r) = self.line(x2, y2);
        if h == Fp2::ZERO {
            return if r == Fp2::ZERO { self.double() } else { *self = Self::IDENTITY };
        }
        let h2 = h.square();
        let h3 = h2 * h;
        let v = self.x * h2;
        let x = r.square() - h3 - v.double();
        *self = Self { x, y: r * (v - x) - self.y * h3, z: self.z * h };
    }

    /// The sum, affine.
    pub fn sum(&self) -> G2 {
        match self.z.inverse() {
            Some(inverse) => {
                let square = inverse.square();
                G2::new_unchecked(self.x * square, self.y * square * inverse)
            }
            None => G2::identity(),
        }
    }

    /// 1/Z as the contract takes it, imaginary part first; `None` for the identity, which is no key.
    pub fn inverse_of_z(&self) -> Option<[u8; 64]> {
        Some(imaginary_first(&self.z.inverse()?))
    }

    /// H = x2·Z² - X and R = y2·Z³ - Y: the line through the sum and a point has the slope R/(Z·H).
    fn line(&self, x2: Fp2, y2: Fp2) -> (Fp2, Fp2) {
        let square = self.z.square();
        (x2 * square - self.x, y2 * square * self.z - self.y)
    }

    /// M = 3X², S = 4XY²: X' = M² - 2S, Y' = M(S - X') - 8Y⁴, Z' = 2YZ. No point of the twist has y = 0.
    fn double(&mut self) {
        let y2 = self.y.square();
        let s = (self.x * y2).double().double();
        let m = self.x.square() * Fp2::from(3u8);
        let x = m.square() - s.double();
        *self = Self { x, y: m * (s - x) - y2.square() * Fp2::from(8u8), z: (self.y * self.z).double() };
    }

    const IDENTITY: Self = Self { x: Fp2::ZERO, y: Fp2::ZERO, z: Fp2::ZERO };
}

/// By addition, the slope (y2 - y1)/(x2 - x1) of the line through the sum so far, (x1, y1), and the key that is added,
/// (x2, y2), or taken away, (x2, -y2): what the contract takes in place of 1/Z. In ascending order of the members'
/// indices; the first member after the empty base is loaded and has none. Imaginary part first. One inversion in all:
/// Z of the sum after an addition is the denominator of its slope.
///
/// `None` where a key has the x of the sum before it, so that there is no such line, and where a key is the identity.
pub fn slopes(base: Option<G2>, changes: impl IntoIterator<Item = (G2, Change)>) -> Option<Vec<[u8; 64]>> {
    let mut sum = Accumulator::new(base);
    let (mut rises, mut runs) = (Vec::new(), Vec::new());
    for (key, change) in changes {
        let (x2, y2) = signed(key, change)?;
        // Only before the first addition: a sum of zero has no line to it.
        let first = sum.z == Fp2::ZERO;
        let (h, r) = sum.line(x2, y2);
        if !first && h == Fp2::ZERO {
            return None;
        }
        sum.change(key, change);
        if !first {
            rises.push(r);
            runs.push(sum.z);
        }
    }
    batch_inversion(&mut runs);
    Some(rises.iter().zip(&runs).map(|(rise, inverse)| imaginary_first(&(*rise * inverse))).collect())
}

/// The contract's check of slopes: the sum, if each slope λ is one, λ·(x2 - x1) = y2 - y1 with x1 and x2 distinct, and
/// canonical; x3 = λ² - x1 - x2, y3 = λ·(x1 - x3) - y1. As many slopes as there are additions.
pub fn sum_by_slopes(
    base: Option<G2>,
    changes: impl IntoIterator<Item = (G2, Change)>,
    slopes: &[[u8; 64]],
) -> Option<G2> {
    let mut slopes = slopes.iter();
    let mut sum = base.map(|base| base.xy()).unwrap_or_default();
    for (key, change) in changes {
        let (x2, y2) = signed(key, change)?;
        let Some((x1, y1)) = sum else {
            sum = Some((x2, y2));
            continue;
        };
        let [imaginary, real] = slopes.next()?.as_chunks().0 else { return None };
        let slope = Fp2::new(fp_from_bytes(real)?, fp_from_bytes(imaginary)?);
        if x1 == x2 || slope * (x2 - x1) != y2 - y1 {
            return None;
        }
        let x3 = slope.square() - x1 - x2;
        sum = Some((x3, slope * (x1 - x3) - y1));
    }
    let (x, y) = sum?;
    slopes.next().is_none().then(|| G2::new_unchecked(x, y))
}

/// A key's coordinates, y negated if it is taken away; none of the identity.
fn signed(key: G2, change: Change) -> Option<(Fp2, Fp2)> {
    let (x, y) = key.xy()?;
    Some((x, if change == Change::Added { y } else { -y }))
}

fn imaginary_first(element: &Fp2) -> [u8; 64] {
    let mut bytes = [0; 64];
    bytes[..32].copy_from_slice(&fp_bytes(&element.c1));
    bytes[32..].copy_from_slice(&fp_bytes(&element.c0));
    bytes
}
