//! Bytes to points, with every check, and back.

use std::fmt;

use ark_ec::{
    AffineRepr, CurveGroup,
    short_weierstrass::{Affine, SWCurveConfig},
};
use ark_ff::{BigInteger, PrimeField, Zero};

use super::{Fp, Fp2, G1, G2};

/// What bytes were read as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Item {
    /// A public key in G1.
    KeyG1,
    /// A public key in G2.
    KeyG2,
    /// A pair of public keys, in G1 and in G2.
    DualKey,
    /// A signature.
    Signature,
    /// A point of no particular meaning.
    Point,
}

impl fmt::Display for Item {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::KeyG1 => "public key in G1",
            Self::KeyG2 => "public key in G2",
            Self::DualKey => "public key in G1 and G2",
            Self::Signature => "signature",
            Self::Point => "point",
        })
    }
}

/// A word of an encoded point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(clippy::exhaustive_enums, reason = "a point has no other coordinates")]
pub enum Coordinate {
    /// x of a point of G1.
    X,
    /// y of a point of G1.
    Y,
    /// The imaginary part of x, first of a point of G2.
    XImaginary,
    /// The real part of x.
    XReal,
    /// The imaginary part of y.
    YImaginary,
    /// The real part of y.
    YReal,
}

impl fmt::Display for Coordinate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::X => "x",
            Self::Y => "y",
            Self::XImaginary => "the imaginary part of x",
            Self::XReal => "the real part of x",
            Self::YImaginary => "the imaginary part of y",
            Self::YReal => "the real part of y",
        })
    }
}

/// Why bytes are not what they are read as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum ParseError {
    /// Too few bytes or too many.
    #[error("{item}: {found} bytes, not {expected}")]
    Length {
        /// What was read.
        item: Item,
        /// Bytes that it has.
        expected: usize,
        /// Bytes that there were.
        found: usize,
    },
    /// A coordinate that is the prime or more. The precompiles refuse it too.
    #[error("{item}: {coordinate} is not below the prime")]
    NotCanonical {
        /// What was read.
        item: Item,
        /// Which of its words.
        coordinate: Coordinate,
    },
    /// No point of the curve.
    #[error("{0}: the point is not on the curve")]
    NotOnCurve(Item),
    /// A point of the twist outside the subgroup of order r. The ADD precompiles do not see it, the pairing does.
    #[error("{0}: the point is not in the subgroup")]
    NotInSubgroup(Item),
    /// The identity as a key, under which the identity signature verifies for any message.
    #[error("{0}: the point is the identity")]
    IdentityKey(Item),
    /// A pair of keys that are not multiples of the generators by one scalar.
    #[error("public key in G1 and G2: the two do not belong together")]
    KeysDiffer,
    /// A secret key that is zero, or the order or more.
    #[error("secret key: the scalar is not in 1..r")]
    Secret,
}

/// A group that holds keys: G1 (back end b) or G2 (back end a).
pub trait Group: AffineRepr<ScalarField = super::Scalar> + sealed::Sealed {
    /// Bytes of an encoded point.
    const BYTES: usize;

    /// What a key in this group is called in errors.
    const KEY: Item;

    /// Reads a point; zeros are the identity.
    ///
    /// # Errors
    /// [`ParseError`]: length, canonical words, curve, subgroup; for `item`.
    fn decode(bytes: &[u8], item: Item) -> Result<Self, ParseError>;

    /// The encoding, as long as [`BYTES`](Self::BYTES).
    fn encode(&self) -> Vec<u8>;
}

mod sealed {
    use ark_ec::short_weierstrass::Affine;
    pub trait Sealed {}
    impl Sealed for Affine<ark_bn254::g1::Config> {}
    impl Sealed for Affine<ark_bn254::g2::Config> {}
}

impl Group for Affine<ark_bn254::g1::Config> {
    const BYTES: usize = 64;
    const KEY: Item = Item::KeyG1;

    fn decode(bytes: &[u8], item: Item) -> Result<Self, ParseError> {
        decode_g1(bytes, item)
    }

    fn encode(&self) -> Vec<u8> {
        encode_g1(self).to_vec()
    }
}

impl Group for Affine<ark_bn254::g2::Config> {
    const BYTES: usize = 128;
    const KEY: Item = Item::KeyG2;

    fn decode(bytes: &[u8], item: Item) -> Result<Self, ParseError> {
        decode_g2(bytes, item)
    }

    fn encode(&self) -> Vec<u8> {
        encode_g2(self).to_vec()
    }
}

/// Reads 64 bytes, x ‖ y, as a point of G1; zeros are the identity.
///
/// # Errors
/// [`ParseError::Length`], [`ParseError::NotCanonical`], [`ParseError::NotOnCurve`].
pub fn decode_g1(bytes: &[u8], item: Item) -> Result<G1, ParseError> {
    let [x, y] = words(bytes, item, [Coordinate::X, Coordinate::Y])?;
    point(x, y, item)
}

/// Reads 128 bytes, x imaginary ‖ x real ‖ y imaginary ‖ y real, as a point of G2; zeros are the identity.
///
/// # Errors
/// [`ParseError::Length`], [`ParseError::NotCanonical`], [`ParseError::NotOnCurve`], [`ParseError::NotInSubgroup`].
pub fn decode_g2(bytes: &[u8], item: Item) -> Result<G2, ParseError> {
    use Coordinate::{XImaginary, XReal, YImaginary, YReal};
    let [x_im, x_re, y_im, y_re] = words(bytes, item, [XImaginary, XReal, YImaginary, YReal])?;
    let point: G2 = point(Fp2::new(x_re, x_im), Fp2::new(y_re, y_im), item)?;
    if point.is_in_correct_subgroup_assuming_on_curve() { Ok(point) } else { Err(ParseError::NotInSubgroup(item)) }
}

/// A point in 64 bytes; zeros for the identity.
pub fn encode_g1(point: &G1) -> [u8; 64] {
    let mut bytes = [0; 64];
    if let Some((x, y)) = point.xy() {
        bytes[..32].copy_from_slice(&fp_bytes(&x));
        bytes[32..].copy_from_slice(&fp_bytes(&y));
    }
    bytes
}

/// A point in 128 bytes; zeros for the identity.
pub fn encode_g2(point: &G2) -> [u8; 128] {
    let mut bytes = [0; 128];
    if let Some((x, y)) = point.xy() {
        for (word, part) in bytes.chunks_exact_mut(32).zip([x.c1, x.c0, y.c1, y.c0]) {
            word.copy_from_slice(&fp_bytes(&part));
        }
    }
    bytes
}

/// A field element as a word.
pub fn fp_bytes(element: &Fp) -> [u8; 32] {
    to_word(element.into_bigint())
}

/// A word as a field element, if it is below the prime.
pub fn fp_from_bytes(word: &[u8; 32]) -> Option<Fp> {
    from_word(word)
}

/// A canonical word as an element of a prime field of 254 bits.
pub(super) fn from_word<F: PrimeField>(word: &[u8; 32]) -> Option<F> {
    let element = F::from_be_bytes_mod_order(word);
    (to_word(element.into_bigint()) == *word).then_some(element)
}

pub(super) fn to_word(integer: impl BigInteger) -> [u8; 32] {
    integer.to_bytes_be().try_into().expect("both fields have four limbs")
}

fn words<const N: usize>(bytes: &[u8], item: Item, coordinates: [Coordinate; N]) -> Result<[Fp; N], ParseError> {
    if bytes.len() != 32 * N {
        return Err(ParseError::Length { item, expected: 32 * N, found: bytes.len() });
    }
    let mut elements = [Fp::default(); N];
    for ((element, word), coordinate) in elements.iter_mut().zip(bytes.as_chunks().0).zip(coordinates) {
        *element = fp_from_bytes(word).ok_or(ParseError::NotCanonical { item, coordinate })?;
    }
    Ok(elements)
}

fn point<P: SWCurveConfig>(x: P::BaseField, y: P::BaseField, item: Item) -> Result<Affine<P>, ParseError> {
    if x.is_zero() && y.is_zero() {
        return Ok(Affine::identity());
    }
    let point = Affine::new_unchecked(x, y);
    if point.is_on_curve() { Ok(point) } else { Err(ParseError::NotOnCurve(item)) }
}

/// The sum of points.
pub(super) fn add_all<G: AffineRepr>(points: impl IntoIterator<Item = G>) -> G {
    points.into_iter().fold(G::Group::zero(), |sum, point| sum + point).into_affine()
}
