//! Points to bytes in the EVM's byte order, and bytes to points with every check.

use std::fmt;

use ark_bn254::{Fq, Fq2, Fr, G1Affine, G2Affine};
use ark_ec::{
    AffineRepr, CurveGroup,
    short_weierstrass::{Affine, SWCurveConfig},
};
use ark_ff::{BigInteger, PrimeField, Zero};

/// What the bytes were read as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Bn254Item {
    /// A public key in G1.
    KeyG1,
    /// A public key in G2.
    KeyG2,
    /// A pair of public keys, in G1 and in G2.
    DualKey,
    /// A secret key.
    SecretKey,
    /// A signature.
    Signature,
    /// A message that must be a digest.
    Message,
    /// A point without a particular meaning.
    Point,
}

impl fmt::Display for Bn254Item {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::KeyG1 => "public key in G1",
            Self::KeyG2 => "public key in G2",
            Self::DualKey => "public key in G1 and G2",
            Self::SecretKey => "secret key",
            Self::Signature => "signature",
            Self::Message => "message",
            Self::Point => "point",
        })
    }
}

/// A word of an encoded point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Bn254Coordinate {
    /// x of a point of G1.
    X,
    /// y of a point of G1.
    Y,
    /// The imaginary part of x, the first word of a point of G2.
    XImaginary,
    /// The real part of x.
    XReal,
    /// The imaginary part of y.
    YImaginary,
    /// The real part of y.
    YReal,
}

impl fmt::Display for Bn254Coordinate {
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

/// Why bytes are not the key, signature or message that they were read as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum Bn254ParseError {
    /// The number of bytes is wrong.
    #[error("{item}: {found} bytes, expected {expected}")]
    Length {
        /// What was read.
        item: Bn254Item,
        /// The number of bytes that the item has.
        expected: usize,
        /// The number of bytes that were given.
        found: usize,
    },
    /// The text is not hexadecimal: an odd number of digits, or a character that is not a digit.
    #[error("{0}: the text is not hexadecimal")]
    NotHex(Bn254Item),
    /// A coordinate is not below the field modulus. The precompiles refuse it too.
    #[error("{item}: {coordinate} is not below the field modulus")]
    NotCanonical {
        /// What was read.
        item: Bn254Item,
        /// The word that is too large.
        coordinate: Bn254Coordinate,
    },
    /// No point of the curve has these coordinates.
    #[error("{0}: the point is not on the curve")]
    NotOnCurve(Bn254Item),
    /// The point lies on the twist but outside the subgroup of order r. The addition precompiles accept such a point, the
    /// pairing precompile refuses it.
    #[error("{0}: the point is not in the subgroup")]
    NotInSubgroup(Bn254Item),
    /// The key is the identity. Under it, the identity verifies as a signature over any message.
    #[error("{0}: the point is the identity")]
    IdentityKey(Bn254Item),
    /// The two keys of a pair belong to different secrets.
    #[error("public key in G1 and G2: the two points do not belong together (they have different secret keys)")]
    KeysDiffer,
    /// The secret key is zero, or not below the group order r.
    #[error("secret key: the scalar is not between 1 and r - 1, r being the order of the group")]
    SecretOutOfRange,
}

/// A group that holds public keys: [`G1Affine`] or [`G2Affine`]. The trait is sealed.
pub trait KeyPoint: AffineRepr<ScalarField = Fr> + sealed::Sealed {
    /// The array of an encoded point: `[u8; 64]` in G1, `[u8; 128]` in G2.
    type Bytes: AsRef<[u8]> + Copy + Ord + fmt::Debug;

    /// The name of a key of this group in errors.
    const KEY: Bn254Item;

    /// Reads a point for `item`; zeros are the identity.
    ///
    /// # Errors
    /// [`Bn254ParseError`]: wrong length, a coordinate that is too large, not on the curve, not in the subgroup.
    fn decode(bytes: &[u8], item: Bn254Item) -> Result<Self, Bn254ParseError>;

    /// The bytes that [`decode`](Self::decode) reads.
    fn encode(&self) -> Self::Bytes;
}

mod sealed {
    use ark_ec::short_weierstrass::Affine;
    pub trait Sealed {}
    impl Sealed for Affine<ark_bn254::g1::Config> {}
    impl Sealed for Affine<ark_bn254::g2::Config> {}
}

impl KeyPoint for Affine<ark_bn254::g1::Config> {
    type Bytes = [u8; 64];
    const KEY: Bn254Item = Bn254Item::KeyG1;

    fn decode(bytes: &[u8], item: Bn254Item) -> Result<Self, Bn254ParseError> {
        decode_g1(bytes, item)
    }

    fn encode(&self) -> [u8; 64] {
        encode_g1(self)
    }
}

impl KeyPoint for Affine<ark_bn254::g2::Config> {
    type Bytes = [u8; 128];
    const KEY: Bn254Item = Bn254Item::KeyG2;

    fn decode(bytes: &[u8], item: Bn254Item) -> Result<Self, Bn254ParseError> {
        decode_g2(bytes, item)
    }

    fn encode(&self) -> [u8; 128] {
        encode_g2(self)
    }
}

/// Reads 64 bytes, x ‖ y, as a point of G1; zeros are the identity.
///
/// # Errors
/// [`Bn254ParseError::Length`], [`Bn254ParseError::NotCanonical`], [`Bn254ParseError::NotOnCurve`].
pub fn decode_g1(bytes: &[u8], item: Bn254Item) -> Result<G1Affine, Bn254ParseError> {
    let [x, y] = words(bytes, item, [Bn254Coordinate::X, Bn254Coordinate::Y])?;
    point(x, y, item)
}

/// Reads 128 bytes, x imaginary ‖ x real ‖ y imaginary ‖ y real, as a point of G2; zeros are the identity.
///
/// # Errors
/// [`Bn254ParseError::Length`], [`Bn254ParseError::NotCanonical`], [`Bn254ParseError::NotOnCurve`],
/// [`Bn254ParseError::NotInSubgroup`].
pub fn decode_g2(bytes: &[u8], item: Bn254Item) -> Result<G2Affine, Bn254ParseError> {
    let point = decode_g2_on_curve(bytes, item)?;
    if point.is_in_correct_subgroup_assuming_on_curve() { Ok(point) } else { Err(Bn254ParseError::NotInSubgroup(item)) }
}

/// The same for a caller who checks whether the point is in the subgroup of order r.
///
/// # Errors
/// [`Bn254ParseError::Length`], [`Bn254ParseError::NotCanonical`], [`Bn254ParseError::NotOnCurve`].
pub fn decode_g2_on_curve(bytes: &[u8], item: Bn254Item) -> Result<G2Affine, Bn254ParseError> {
    use Bn254Coordinate::{XImaginary, XReal, YImaginary, YReal};
    let [x_im, x_re, y_im, y_re] = words(bytes, item, [XImaginary, XReal, YImaginary, YReal])?;
    point(Fq2::new(x_re, x_im), Fq2::new(y_re, y_im), item)
}

/// A point of G1 in 64 bytes; zeros for the identity.
pub fn encode_g1(point: &G1Affine) -> [u8; 64] {
    let mut bytes = [0; 64];
    if let Some((x, y)) = point.xy() {
        bytes[..32].copy_from_slice(&fq_bytes(&x));
        bytes[32..].copy_from_slice(&fq_bytes(&y));
    }
    bytes
}

/// A point of G2 in 128 bytes; zeros for the identity.
pub fn encode_g2(point: &G2Affine) -> [u8; 128] {
    let mut bytes = [0; 128];
    if let Some((x, y)) = point.xy() {
        for (word, part) in bytes.chunks_exact_mut(32).zip([x.c1, x.c0, y.c1, y.c0]) {
            word.copy_from_slice(&fq_bytes(&part));
        }
    }
    bytes
}

/// A field element as a word of 32 bytes, big-endian.
pub fn fq_bytes(element: &Fq) -> [u8; 32] {
    element.into_bigint().to_bytes_be().try_into().expect("the field has four limbs")
}

/// A word as a field element; `None` if the word is not below the field modulus.
pub fn fq_from_bytes(word: &[u8; 32]) -> Option<Fq> {
    let element = Fq::from_be_bytes_mod_order(word);
    (fq_bytes(&element) == *word).then_some(element)
}

/// The bytes of a hexadecimal text, with or without `0x`.
pub(crate) fn from_hex(text: &str, item: Bn254Item) -> Result<Vec<u8>, Bn254ParseError> {
    const_hex::decode(text).map_err(|_| Bn254ParseError::NotHex(item))
}

fn words<const N: usize>(
    bytes: &[u8],
    item: Bn254Item,
    coordinates: [Bn254Coordinate; N],
) -> Result<[Fq; N], Bn254ParseError> {
    if bytes.len() != 32 * N {
        return Err(Bn254ParseError::Length { item, expected: 32 * N, found: bytes.len() });
    }
    let mut elements = [Fq::default(); N];
    for ((element, word), coordinate) in elements.iter_mut().zip(bytes.as_chunks().0).zip(coordinates) {
        *element = fq_from_bytes(word).ok_or(Bn254ParseError::NotCanonical { item, coordinate })?;
    }
    Ok(elements)
}

fn point<P: SWCurveConfig>(x: P::BaseField, y: P::BaseField, item: Bn254Item) -> Result<Affine<P>, Bn254ParseError> {
    if x.is_zero() && y.is_zero() {
        return Ok(Affine::identity());
    }
    let point = Affine::new_unchecked(x, y);
    if point.is_on_curve() { Ok(point) } else { Err(Bn254ParseError::NotOnCurve(item)) }
}

/// The sum of points.
pub(crate) fn add_all<G: AffineRepr>(points: impl IntoIterator<Item = G>) -> G {
    points.into_iter().fold(G::Group::zero(), |sum, point| sum + point).into_affine()
}
