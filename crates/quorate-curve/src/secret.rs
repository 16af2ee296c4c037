//! Secret scalars. Only blst's constant-time code computes with them, and no backend accepts one.

use core::fmt;

use blst::*;

use crate::group::{G1, G2, sealed::Sealed};

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
        if unsafe { blst_sk_check(&scalar) } {
            Ok(Self(scalar))
        } else if bytes.iter().fold(0, |any, b| any | b) == 0 {
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

    fn from_material(material: &[u8], make: impl FnOnce(&mut blst_scalar)) -> Result<Self, SecretError> {
        if material.len() < 32 {
            return Err(SecretError::ShortKeyMaterial { found: material.len() });
        }
        let mut scalar = blst_scalar::default();
        make(&mut scalar);
        Ok(Self(scalar))
    }
}

impl fmt::Debug for SecretScalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretScalar(redacted)")
    }
}
