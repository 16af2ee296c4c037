//! Secret scalars. Only blst's constant-time code computes with them, and no backend accepts one.

mod transform;

use alloc::vec::Vec;
use core::fmt;

use blst::*;

use self::transform::Secrets;
use crate::{
    domain::Domain,
    group::{G1, G2, sealed::Sealed},
    marking::declassify,
    scalar::Scalar,
};

/// A secret key: a scalar in 1..r. It is wiped when it is dropped, its `Debug` output is redacted, and it is not
/// `Copy`.
#[derive(Clone)]
pub struct SecretScalar(blst_scalar);

/// Why bytes do not give a secret key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum SecretError {
    /// The scalar is zero. Its public key would be the identity.
    #[error("the secret key is zero")]
    Zero,
    /// The scalar is not below the group order r.
    #[error("the secret key is not below the group order")]
    NotReduced,
    /// The input key material is too short.
    #[error("the key material has {found} bytes, and at least 32 are needed")]
    ShortKeyMaterial {
        /// The number of bytes found.
        found: usize,
    },
}

impl SecretScalar {
    /// Reads a big-endian scalar.
    ///
    /// # Errors
    /// [`SecretError::Zero`] and [`SecretError::NotReduced`].
    pub fn from_bytes(bytes: &[u8; 32]) -> Result<Self, SecretError> {
        let mut scalar = blst_scalar::default();
        // SAFETY: 32 bytes in, a scalar out.
        unsafe { blst_scalar_from_bendian(&mut scalar, bytes.as_ptr()) };
        // SAFETY: a valid reference.
        let in_range = unsafe { blst_sk_check(&scalar) };
        // Whether it is a key is told, and why it is none.
        if declassify(in_range) {
            Ok(Self(scalar))
        } else if declassify(bytes.iter().fold(0, |any, b| any | b) == 0) {
            Err(SecretError::Zero)
        } else {
            Err(SecretError::NotReduced)
        }
    }

    /// The big-endian scalar.
    pub fn to_bytes(&self) -> zeroize::Zeroizing<[u8; 32]> {
        let mut bytes = zeroize::Zeroizing::new([0; 32]);
        // SAFETY: 32 bytes out.
        unsafe { blst_bendian_from_scalar(bytes.as_mut_ptr(), &self.0) };
        bytes
    }

    /// `KeyGen` of draft-irtf-cfrg-bls-signature-05, section 2.3, with the empty-salt default (the salt is hashed first).
    ///
    /// # Errors
    /// [`SecretError::ShortKeyMaterial`] under 32 bytes.
    pub fn key_gen(key_material: &[u8], key_info: &[u8]) -> Result<Self, SecretError> {
        Self::from_material(key_material, |out| {
            // SAFETY: two slices with their lengths.
            unsafe {
                blst_keygen(out, key_material.as_ptr(), key_material.len(), key_info.as_ptr(), key_info.len());
            }
        })
    }

    /// `KeyGen` of draft version 3 and before, as Chia uses it. The salt is not hashed.
    ///
    /// # Errors
    /// [`SecretError::ShortKeyMaterial`] under 32 bytes.
    pub fn key_gen_v3(key_material: &[u8], key_info: &[u8]) -> Result<Self, SecretError> {
        Self::from_material(key_material, |out| {
            // SAFETY: two slices with their lengths.
            unsafe {
                blst_keygen_v3(out, key_material.as_ptr(), key_material.len(), key_info.as_ptr(), key_info.len());
            }
        })
    }

    /// `derive_master_SK` of EIP-2333.
    ///
    /// # Errors
    /// [`SecretError::ShortKeyMaterial`] under 32 bytes.
    pub fn derive_master_eip2333(seed: &[u8]) -> Result<Self, SecretError> {
        // SAFETY: a slice with its length.
        Self::from_material(seed, |out| unsafe { blst_derive_master_eip2333(out, seed.as_ptr(), seed.len()) })
    }

    /// `derive_child_SK` of EIP-2333.
    #[must_use]
    pub fn derive_child_eip2333(&self, index: u32) -> Self {
        let mut child = blst_scalar::default();
        // SAFETY: valid references.
        unsafe { blst_derive_child_eip2333(&mut child, &self.0, index) };
        Self(child)
    }

    /// sk · g1.
    pub fn times_g1(&self) -> G1 {
        let mut out = blst_p1_affine::default();
        // SAFETY: a null pointer for the bytes that are not wanted, as blst allows.
        unsafe { blst_sk_to_pk2_in_g1(core::ptr::null_mut(), &mut out, &self.0) };
        G1::wrap(out)
    }

    /// sk · g2.
    pub fn times_g2(&self) -> G2 {
        let mut out = blst_p2_affine::default();
        // SAFETY: a null pointer for the bytes that are not wanted, as blst allows.
        unsafe { blst_sk_to_pk2_in_g2(core::ptr::null_mut(), &mut out, &self.0) };
        G2::wrap(out)
    }

    /// sk · H for a hashed message H in G2: a min-pk signature.
    pub fn sign_in_g2(&self, hash: &G2) -> G2 {
        let (mut jacobian, mut out) = (blst_p2::default(), blst_p2_affine::default());
        // SAFETY: valid references; a null pointer for the bytes that are not wanted.
        unsafe {
            blst_p2_from_affine(&mut jacobian, &hash.inner());
            blst_sign_pk2_in_g1(core::ptr::null_mut(), &mut out, &jacobian, &self.0);
        }
        G2::wrap(out)
    }

    /// sk · H for a hashed message H in G1: a min-sig signature.
    pub fn sign_in_g1(&self, hash: &G1) -> G1 {
        let (mut jacobian, mut out) = (blst_p1::default(), blst_p1_affine::default());
        // SAFETY: valid references; a null pointer for the bytes that are not wanted.
        unsafe {
            blst_p1_from_affine(&mut jacobian, &hash.inner());
            blst_sign_pk2_in_g2(core::ptr::null_mut(), &mut out, &jacobian, &self.0);
        }
        G1::wrap(out)
    }

    /// sk · P + n · g1 for a secret number n of few bits: a number that is encrypted to the key P with the nonce sk (ElGamal,
    /// in the exponent), or committed to beside a second base P (Pedersen).
    ///
    /// # Panics
    /// If n has more than `bits` bits without its sign.
    ///
    /// Cost: a multiplication, and `bits` doublings.
    pub fn times_plus_short(&self, point: &G1, number: i64, bits: usize) -> G1 {
        let number = zeroize::Zeroizing::new(number);
        let size = zeroize::Zeroizing::new(number.unsigned_abs().to_le_bytes());
        // A number that is too large is a fault of the caller, which ends there.
        assert!(bits < 64 && declassify(number.unsigned_abs() >> bits == 0), "a number of {bits} bits");
        let (mut product, mut short, mut out) = (blst_p1::default(), blst_p1::default(), blst_p1_affine::default());
        // SAFETY: valid references, scalars of as many bits as are said, and blst allows the result to be an argument.
        unsafe {
            blst_p1_from_affine(&mut product, &point.inner());
            let term: *mut blst_p1 = &mut product;
            blst_p1_mult(term, term, self.0.b.as_ptr(), 255);
            blst_p1_mult(&mut short, blst_p1_generator(), size.as_ptr(), bits);
            blst_p1_cneg(&mut short, *number < 0);
            blst_p1_add_or_double(term, term, &short);
            blst_p1_to_affine(&mut out, &product);
        }
        G1::wrap(out)
    }

    /// Σ cᵢ·sᵢ for public coefficients c and secrets s. Constant time for each number of terms.
    ///
    /// # Errors
    /// [`SecretError::Zero`]: the sum is not a secret key.
    ///
    /// Cost: a product for each term.
    pub fn combination<'a>(terms: impl IntoIterator<Item = (Scalar, &'a Self)>) -> Result<Self, SecretError> {
        let (mut sum, mut term) = (Wiped(blst_fr::default()), Wiped(blst_fr::default()));
        for (coefficient, secret) in terms {
            // SAFETY: valid references; blst allows the result to be an argument.
            unsafe {
                blst_fr_from_scalar(&mut term.0, &secret.0);
                let product: *mut blst_fr = &mut term.0;
                blst_fr_mul(product, product, &coefficient.0);
                let total: *mut blst_fr = &mut sum.0;
                blst_fr_add(total, total, product);
            }
        }
        secret(&sum.0)
    }

    fn from_material(material: &[u8], make: impl FnOnce(&mut blst_scalar)) -> Result<Self, SecretError> {
        if material.len() < 32 {
            return Err(SecretError::ShortKeyMaterial { found: material.len() });
        }
        let mut scalar = blst_scalar::default();
        make(&mut scalar);
        Ok(Self(scalar))
    }
}

/// A secret polynomial over Fr. Its coefficients are wiped when it is dropped.
///
/// Its constant coefficient is a secret that is shared: a share is the value at the point of a participant.
#[derive(Clone)]
pub struct SecretPolynomial(Vec<SecretScalar>);

impl SecretPolynomial {
    /// The polynomial with these coefficients, the constant one first. There must be at least one.
    ///
    /// # Panics
    /// If there is none.
    pub fn new(coefficients: Vec<SecretScalar>) -> Self {
        assert!(!coefficients.is_empty(), "a polynomial needs a coefficient");
        Self(coefficients)
    }

    /// The coefficients, the constant one first.
    pub fn coefficients(&self) -> &[SecretScalar] {
        &self.0
    }

    /// The value at a public point. Constant time for each number of coefficients.
    ///
    /// # Errors
    /// [`SecretError::Zero`], with a probability of 2^-255 if the coefficients are random.
    ///
    /// Cost: a product for each coefficient.
    pub fn value(&self, point: &Scalar) -> Result<SecretScalar, SecretError> {
        let mut sum = Wiped(blst_fr::default());
        let mut coefficient = Wiped(blst_fr::default());
        for scalar in self.0.iter().rev() {
            // SAFETY: valid references; blst allows the result to be an argument.
            unsafe {
                blst_fr_from_scalar(&mut coefficient.0, &scalar.0);
                let value: *mut blst_fr = &mut sum.0;
                blst_fr_mul(value, value, &point.0);
                blst_fr_add(value, value, &coefficient.0);
            }
        }
        secret(&sum.0)
    }

    /// The values at the first `count` points of a domain of 2^k points. Constant time for each number of coefficients
    /// and of points.
    ///
    /// # Errors
    /// [`SecretError::Zero`], with a probability of `count`·2^-255 if the coefficients are random.
    ///
    /// # Panics
    /// If the number of points of the domain is not a power of two, or less than `count` or the number of coefficients.
    ///
    /// Cost: at most N/2·log2(N) products, by blst.
    pub fn values(&self, domain: &Domain, count: usize) -> Result<Vec<SecretScalar>, SecretError> {
        let (size, coefficients) = (domain.len(), self.0.len());
        assert!(
            size.is_power_of_two() && coefficients.max(count) <= size,
            "{coefficients} coefficients have no {count} values in a domain of {size} points",
        );
        let mut secrets = Secrets::of(self.0.iter().map(|scalar| &scalar.0), size);
        secrets.evaluate(&domain.points(), coefficients, count);
        // A list that grows would leave copies of secrets behind.
        let mut values = Vec::with_capacity(count);
        for value in secrets.iter().take(count) {
            values.push(secret(value)?);
        }
        Ok(values)
    }
}

/// The secret scalar of an element that is not zero.
fn secret(element: &blst_fr) -> Result<SecretScalar, SecretError> {
    let mut secret = SecretScalar(blst_scalar::default());
    // SAFETY: valid references.
    unsafe { blst_scalar_from_fr(&mut secret.0, element) };
    // SAFETY: a valid reference.
    let is_key = unsafe { blst_sk_check(&secret.0) };
    // Whether it is zero is told.
    if declassify(is_key) { Ok(secret) } else { Err(SecretError::Zero) }
}

impl fmt::Debug for SecretPolynomial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SecretPolynomial(redacted, {} coefficients)", self.0.len())
    }
}

/// A secret element of Fr, which is wiped when it is dropped.
struct Wiped(blst_fr);

impl Drop for Wiped {
    fn drop(&mut self) {
        zeroize::Zeroize::zeroize(&mut self.0.l);
    }
}

impl fmt::Debug for SecretScalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretScalar(redacted)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Backend, Group, scalar::tests::scalars};
    use alloc::format;

    #[test]
    fn values_of_secret_polynomials_are_those_of_public_ones() {
        for n in [1, 2, 5, 40] {
            let public: Vec<_> = scalars(4 * n).into_iter().filter(|scalar| !scalar.is_zero()).take(n).collect();
            let secret = public.iter().map(|c| SecretScalar::from_bytes(&c.to_bytes()).expect("not zero")).collect();
            let secret = SecretPolynomial::new(secret);
            for point in scalars(20) {
                let expected = Backend::Portable.values(&public, &[point])[0];
                let found = secret.value(&point).map(|value| *value.to_bytes());
                let expected = if expected.is_zero() { Err(SecretError::Zero) } else { Ok(expected.to_bytes()) };
                assert_eq!(found, expected);
            }
            assert_eq!(format!("{secret:?}"), format!("SecretPolynomial(redacted, {n} coefficients)"));
        }
    }

    #[test]
    fn combinations_of_secrets_are_those_of_public_scalars() {
        let scalars = scalars(64);
        for n in 0..12 {
            let terms: Vec<_> = scalars[..n].iter().zip(scalars.iter().rev()).filter(|(_, s)| !s.is_zero()).collect();
            let secrets: Vec<_> =
                terms.iter().map(|(_, s)| SecretScalar::from_bytes(&s.to_bytes()).expect("not zero")).collect();
            let expected: Scalar = terms.iter().map(|(c, s)| **c * **s).sum();
            let found = SecretScalar::combination(terms.iter().map(|(c, _)| **c).zip(&secrets));
            let expected = if expected.is_zero() { Err(SecretError::Zero) } else { Ok(expected.to_bytes()) };
            assert_eq!(found.map(|sum| *sum.to_bytes()), expected, "{n} terms");
        }
    }

    #[test]
    fn numbers_are_encrypted() {
        let scalars: Vec<_> = scalars(6).into_iter().filter(|scalar| !scalar.is_zero()).collect();
        for scalar in scalars {
            let secret = SecretScalar::from_bytes(&scalar.to_bytes()).expect("not zero");
            let point = Backend::Portable.multiples(&[G1::generator()], &[scalar + Scalar::from(9)])[0];
            for (number, bits) in
                [(0, 1), (1, 1), (-1, 1), (5, 3), (-8_388_608, 24), ((1 << 43) - 1, 43), (-(1 << 43), 44)]
            {
                let size = Scalar::from(i64::unsigned_abs(number));
                let signed = if number < 0 { -size } else { size };
                let expected = Backend::Portable.msm(&[(point, scalar), (G1::generator(), signed)]);
                assert_eq!(secret.times_plus_short(&point, number, bits), expected, "{number}");
            }
        }
    }

    #[test]
    #[should_panic(expected = "a number of 3 bits")]
    fn a_number_of_more_bits_is_refused() {
        SecretScalar::key_gen(&[1; 32], b"").expect("32 bytes").times_plus_short(&G1::generator(), -8, 3);
    }

    /// 1 - X at 1.
    #[test]
    fn a_share_that_is_zero_is_an_error() {
        let of = |scalar: Scalar| SecretScalar::from_bytes(&scalar.to_bytes()).expect("not zero");
        let polynomial = SecretPolynomial::new([Scalar::ONE, -Scalar::ONE].map(of).into());
        assert_eq!(polynomial.value(&Scalar::ONE).err(), Some(SecretError::Zero));
        let domain = Domain::new(Backend::Portable, 4).expect("a power of two");
        assert_eq!(polynomial.values(&domain, 4).err(), Some(SecretError::Zero));
    }

    /// As many and fewer coefficients than points, and values at as many and fewer points.
    #[test]
    fn values_in_a_domain_are_values_at_its_points() {
        for (coefficients, count, size) in [
            (1, 1, 1),
            (1, 2, 2),
            (2, 2, 2),
            (3, 5, 8),
            (5, 8, 8),
            (8, 3, 8),
            (17, 33, 64),
            (32, 64, 64),
            (100, 1, 128),
        ] {
            // The first ones would give a value of zero.
            let public = scalars(2 * coefficients + 5).into_iter().skip(5).filter(|scalar| !scalar.is_zero());
            let secret =
                public.take(coefficients).map(|c| SecretScalar::from_bytes(&c.to_bytes()).expect("not zero")).collect();
            let polynomial = SecretPolynomial::new(secret);
            for backend in Backend::available() {
                let domain = Domain::new(*backend, size).expect("a power of two");
                let values = polynomial.values(&domain, count).expect("no value is zero");
                let values: Vec<_> = values.iter().map(|value| *value.to_bytes()).collect();
                let value = |i| *polynomial.value(&domain.point(i)).expect("not zero").to_bytes();
                assert_eq!(values, (0..count).map(value).collect::<Vec<_>>(), "{coefficients}, {count} of {size}");
            }
        }
    }

    #[test]
    #[should_panic(expected = "5 coefficients have no 2 values in a domain of 4 points")]
    fn a_polynomial_that_wraps_around_is_refused() {
        let one = SecretScalar::from_bytes(&Scalar::ONE.to_bytes()).expect("not zero");
        let domain = Domain::new(Backend::Portable, 4).expect("a power of two");
        let _ = SecretPolynomial::new(alloc::vec![one; 5]).values(&domain, 2);
    }
}
