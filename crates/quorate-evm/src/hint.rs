//! Hints: roots and inverses that a contract checks instead of computing them, since checking is cheaper.
//!
//! Nobody has to trust a hint. If it is wrong, the contract refuses the transaction; no hint makes it accept a signature
//! that is invalid. The hints of hashing have the contract's own check beside them, so that an aggregator can run it
//! before it pays.

use ark_ec::{AffineRepr, CurveGroup};
use ark_ff::{AdditiveGroup, Field, batch_inversion};
use quorate_bn254::{
    Fq, Fq2, G1Affine, G2Affine, MessagePoint,
    encoding::{fq_bytes, fq_from_bytes},
    hash_to_curve::{
        Candidate, Parity, candidate, candidates, denominator, hash_to_field, map_to_curve, parity, right_side,
        try_and_increment,
    },
};
use sha3::Keccak256;

/// The counter and the root that make a digest's point by try-and-increment: 33 bytes of calldata for each task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CounterHint {
    /// The least counter that leads to a point.
    pub counter: u8,
    /// The even root.
    pub y: [u8; 32],
}

impl CounterHint {
    /// The number of bytes in a packed quorum.
    pub const BYTES: usize = 33;

    /// The hint of a digest.
    pub fn new(digest: &[u8; 32]) -> Self {
        let found = try_and_increment(digest);
        Self { counter: found.counter, y: fq_bytes(&found.point.point().y) }
    }

    /// The contract's check (`HashToBn254.hash`). Returns the point if x and y are below p, y is even and y² = x³ + 3. A
    /// counter above the least may pass too; it leads to a point that no honest operator signs.
    pub fn check(&self, digest: &[u8; 32]) -> Option<MessagePoint> {
        let x = fq_from_bytes(&candidate(digest, self.counter))?;
        let y = fq_from_bytes(&self.y)?;
        let point = G1Affine::new_unchecked(x, y);
        (parity(y) == Parity::Even && point.is_on_curve()).then_some(MessagePoint::from_point(point))
    }
}

/// A proof that RFC 9380's map takes this candidate for one field element (`HashToBn254Rfc9380.MapHint`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MapHint {
    /// The candidate that the map takes.
    pub candidate: Candidate,
    /// Its y, with the parity of u.
    pub root: Fq,
    /// For the second and the third candidate a root of -g(x1), which proves that g(x1) is not a square. Zero for the first.
    pub non_square: Fq,
}

/// The hints of RFC 9380's hash of a message: one inverse for both denominators, and a hint for each of the two maps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rfc9380Hint {
    /// 1/(d0·d1), where a denominator of zero counts as 1.
    pub inverse: Fq,
    /// One for each field element.
    pub maps: [MapHint; 2],
}

impl Rfc9380Hint {
    /// The hints of a message under a tag of at most 255 bytes.
    pub fn new(message: &[u8], tag: &[u8]) -> Self {
        let elements = hash_to_field::<Keccak256, 2>(message, tag);
        let product = elements.into_iter().map(nonzero_denominator).product::<Fq>();
        let inverse = product.inverse().expect("no factor is zero");
        Self { inverse, maps: elements.map(MapHint::new) }
    }

    /// The contract's check (`HashToBn254Rfc9380.hash`). Returns the point if the inverse is right and both candidates are
    /// proved.
    pub fn check(&self, message: &[u8], tag: &[u8]) -> Option<MessagePoint> {
        let elements = hash_to_field::<Keccak256, 2>(message, tag);
        let product = elements.into_iter().map(nonzero_denominator).product::<Fq>();
        if product * self.inverse != Fq::ONE {
            return None;
        }
        let [first, second] = [self.maps[0].check(elements[0])?, self.maps[1].check(elements[1])?];
        Some(MessagePoint::from_point((first + second).into_affine()))
    }
}

impl MapHint {
    /// The hint of one field element.
    pub fn new(u: Fq) -> Self {
        let mapped = map_to_curve(u);
        let non_square = match mapped.candidate {
            Candidate::First => Fq::ZERO,
            _ => (-right_side(candidates(u)[0])).sqrt().expect("-1 and g(x1) are not squares, so -g(x1) is one"),
        };
        Self { candidate: mapped.candidate, root: mapped.point.y, non_square }
    }

    /// The contract's check of one map, whose 1/d is checked elsewhere.
    pub fn check(&self, u: Fq) -> Option<G1Affine> {
        let xs = candidates(u);
        let excluded = self.candidate == Candidate::First || self.non_square.square() == -right_side(xs[0]);
        let point = G1Affine::new_unchecked(xs[self.candidate as usize - 1], self.root);
        (excluded && parity(self.root) == parity(u) && point.is_on_curve()).then_some(point)
    }
}

fn nonzero_denominator(u: Fq) -> Fq {
    let d = denominator(u);
    if d == Fq::ZERO { Fq::ONE } else { d }
}

/// What happens to a member's key on the way from a base to a quorum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BaseChange {
    /// The member is in the quorum and not in the base: its key is added.
    Added,
    /// The member is in the base and not in the quorum: its key is subtracted.
    Removed,
}

/// The contract's accumulator of keys in G2 (`Bn254G2.Accumulator`): Jacobian, x = X/Z², y = Y/Z³.
///
/// It computes the same Z as the contract, which depends on the order of the changes: ascending indices. The additions are
/// complete: they work for equal points, opposite points and the identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Accumulator {
    x: Fq2,
    y: Fq2,
    z: Fq2,
}

impl Accumulator {
    /// The accumulator of a base's key, with Z = 1. `None` is the identity.
    pub fn new(base: Option<G2Affine>) -> Self {
        match base.and_then(|point| point.xy()) {
            Some((x, y)) => Self { x, y, z: Fq2::ONE },
            None => Self::IDENTITY,
        }
    }

    /// Adds or subtracts a key. The new Z is Z·H with H = x2·Z² - X in general; 2·Y·Z for equal points; 0 for opposite
    /// points; 1 if the sum was the identity.
    pub fn change(&mut self, key: G2Affine, change: BaseChange) {
        let Some((x2, y2)) = signed(key, change) else { return };
        if self.z == Fq2::ZERO {
            *self = Self { x: x2, y: y2, z: Fq2::ONE };
            return;
        }
        let (h, r) = self.line(x2, y2);
        if h == Fq2::ZERO {
            return if r == Fq2::ZERO { self.double() } else { *self = Self::IDENTITY };
        }
        let h2 = h.square();
        let h3 = h2 * h;
        let v = self.x * h2;
        let x = r.square() - h3 - v.double();
        *self = Self { x, y: r * (v - x) - self.y * h3, z: self.z * h };
    }

    /// The sum in affine coordinates.
    pub fn sum(&self) -> G2Affine {
        match self.z.inverse() {
            Some(inverse) => {
                let square = inverse.square();
                G2Affine::new_unchecked(self.x * square, self.y * square * inverse)
            }
            None => G2Affine::identity(),
        }
    }

    /// 1/Z as the contract takes it, imaginary part first. `None` for the identity, which is not a key.
    pub fn inverse_of_z(&self) -> Option<[u8; 64]> {
        Some(imaginary_first(&self.z.inverse()?))
    }

    /// H = x2·Z² - X and R = y2·Z³ - Y. The line through the sum and the point has the slope R/(Z·H).
    fn line(&self, x2: Fq2, y2: Fq2) -> (Fq2, Fq2) {
        let square = self.z.square();
        (x2 * square - self.x, y2 * square * self.z - self.y)
    }

    /// M = 3X², S = 4XY²: X' = M² - 2S, Y' = M(S - X') - 8Y⁴, Z' = 2YZ. No point of the twist has y = 0.
    fn double(&mut self) {
        let y2 = self.y.square();
        let s = (self.x * y2).double().double();
        let m = self.x.square() * Fq2::from(3u8);
        let x = m.square() - s.double();
        *self = Self { x, y: m * (s - x) - y2.square() * Fq2::from(8u8), z: (self.y * self.z).double() };
    }

    const IDENTITY: Self = Self { x: Fq2::ZERO, y: Fq2::ZERO, z: Fq2::ZERO };
}

/// One slope for each addition, which the contract takes in place of 1/Z. The slope is (y2 - y1)/(x2 - x1): that of the line
/// through the sum so far, (x1, y1), and the key that is added, (x2, y2), or subtracted, (x2, -y2). Imaginary part first.
///
/// The changes must be in ascending order of the members' indices. Without a base, the first member is loaded and not
/// added, so it has no slope. One inversion serves all slopes: Z after an addition is the denominator of its slope.
///
/// `None` if a key has the same x as the sum before it, because there is no such line, or if a key is the identity.
pub fn slopes(
    base: Option<G2Affine>,
    changes: impl IntoIterator<Item = (G2Affine, BaseChange)>,
) -> Option<Vec<[u8; 64]>> {
    let mut sum = Accumulator::new(base);
    let (mut rises, mut runs) = (Vec::new(), Vec::new());
    for (key, change) in changes {
        let (x2, y2) = signed(key, change)?;
        // Z is zero only before the first addition: an addition that leads to the identity has no slope.
        let first = sum.z == Fq2::ZERO;
        let (h, r) = sum.line(x2, y2);
        if !first && h == Fq2::ZERO {
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

/// A key's coordinates, y negated if the key is subtracted. `None` for the identity.
fn signed(key: G2Affine, change: BaseChange) -> Option<(Fq2, Fq2)> {
    let (x, y) = key.xy()?;
    Some((x, if change == BaseChange::Added { y } else { -y }))
}

fn imaginary_first(element: &Fq2) -> [u8; 64] {
    let mut bytes = [0; 64];
    bytes[..32].copy_from_slice(&fq_bytes(&element.c1));
    bytes[32..].copy_from_slice(&fq_bytes(&element.c0));
    bytes
}
