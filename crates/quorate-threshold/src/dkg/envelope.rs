//! Encryption to one receiver: HPKE (RFC 9180), base mode, with DHKEM(X25519, HKDF-SHA256), HKDF-SHA256 and
//! ChaCha20-Poly1305.
//!
//! The sender's ephemeral key is derived from 32 bytes that the sender can show later. Whoever has them, the plaintext
//! and the receiver's key computes the same envelope again, and so sees who lies in a dispute about its contents.

use std::convert::Infallible;

use hpke::{
    Deserializable, Kem as _, OpModeR, OpModeS, Serializable, aead::ChaCha20Poly1305, kdf::HkdfSha256,
    kem::X25519HkdfSha256, single_shot_open, single_shot_seal_with_rng,
};
use quorate::rand_core::{TryCryptoRng, TryRng};
use zeroize::Zeroizing;

type Kem = X25519HkdfSha256;
type PublicKey = <Kem as hpke::Kem>::PublicKey;
type PrivateKey = <Kem as hpke::Kem>::PrivateKey;
type EncappedKey = <Kem as hpke::Kem>::EncappedKey;

/// Bytes of a sender's ephemeral public key, which an envelope begins with.
const ENCAPSULATED: usize = 32;

/// By how many bytes an envelope is longer than its plaintext: the ephemeral key, and the tag that authenticates.
pub(super) const OVERHEAD: usize = ENCAPSULATED + 16;

/// A receiver's public key.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct EncryptionKey(PublicKey);

/// A receiver's secret key. The library wipes it.
#[derive(Clone)]
pub(super) struct DecryptionKey(PrivateKey);

impl EncryptionKey {
    /// Reads 32 bytes. `None` for other lengths, and for the points of small order, to which nothing can be encrypted.
    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let key = Self(PublicKey::from_bytes(bytes).ok()?);
        key.try_seal(b"", b"", b"", &[1; 32]).is_some().then_some(key)
    }

    pub(super) fn to_bytes(&self) -> Vec<u8> {
        self.0.to_bytes().to_vec()
    }

    /// The sender's ephemeral public key and the ciphertext, by [`OVERHEAD`] longer than the plaintext. `info` says what the envelope is
    /// for. `ephemeral` must be used for one envelope alone.
    pub(super) fn seal(&self, info: &[u8], plaintext: &[u8], ephemeral: &[u8; 32]) -> Vec<u8> {
        self.try_seal(info, b"", plaintext, ephemeral).expect("the key was tried when it was read")
    }

    fn try_seal(&self, info: &[u8], aad: &[u8], plaintext: &[u8], ephemeral: &[u8; 32]) -> Option<Vec<u8>> {
        let mut material = KeyMaterial(Zeroizing::new(*ephemeral));
        let mode = OpModeS::Base;
        let sealed = single_shot_seal_with_rng::<ChaCha20Poly1305, HkdfSha256, Kem>(
            &mode,
            &self.0,
            info,
            plaintext,
            aad,
            &mut material,
        );
        let (encapsulated, ciphertext) = sealed.ok()?;
        Some([encapsulated.to_bytes().as_slice(), &ciphertext].concat())
    }
}

impl DecryptionKey {
    /// `DeriveKeyPair` of RFC 9180, section 7.1.3.
    pub(super) fn derive(material: &[u8; 32]) -> Self {
        Self(Kem::derive_keypair(material).0)
    }

    /// Reads 32 bytes.
    pub(super) fn from_bytes(bytes: &[u8; 32]) -> Option<Self> {
        PrivateKey::from_bytes(bytes).ok().map(Self)
    }

    pub(super) fn to_bytes(&self) -> Zeroizing<[u8; 32]> {
        Zeroizing::new(self.0.to_bytes().into())
    }

    pub(super) fn encryption_key(&self) -> EncryptionKey {
        EncryptionKey(Kem::sk_to_pk(&self.0))
    }

    /// The plaintext, or `None` if the envelope is for another key or another use, or was changed.
    pub(super) fn open(&self, info: &[u8], envelope: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
        self.try_open(info, b"", envelope)
    }

    fn try_open(&self, info: &[u8], aad: &[u8], envelope: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
        let (encapsulated, ciphertext) = envelope.split_at_checked(ENCAPSULATED)?;
        let encapsulated = EncappedKey::from_bytes(encapsulated).ok()?;
        let opened = single_shot_open::<ChaCha20Poly1305, HkdfSha256, Kem>(
            &OpModeR::Base,
            &self.0,
            &encapsulated,
            info,
            ciphertext,
            aad,
        );
        opened.ok().map(Zeroizing::new)
    }
}

/// Gives the library the bytes from which RFC 9180 derives the ephemeral key (`ikmE`), in the place of random ones.
struct KeyMaterial(Zeroizing<[u8; 32]>);

impl TryRng for KeyMaterial {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        unreachable!("HPKE takes its key material as bytes")
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        unreachable!("HPKE takes its key material as bytes")
    }

    fn try_fill_bytes(&mut self, out: &mut [u8]) -> Result<(), Infallible> {
        out.copy_from_slice(self.0.as_slice());
        Ok(())
    }
}

impl TryCryptoRng for KeyMaterial {}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(text: &str) -> Vec<u8> {
        const_hex::decode(text).expect("hexadecimal")
    }

    /// RFC 9180, appendix A.2.1, sequence number 0.
    #[test]
    fn rfc_9180_base_mode() {
        let info = hex("4f6465206f6e2061204772656369616e2055726e");
        let ephemeral: [u8; 32] =
            hex("909a9b35d3dc4713a5e72a4da274b55d3d3821a37e5d099e74a647db583a904b").try_into().expect("32 bytes");
        let receiver = hex("4310ee97d88cc1f088a5576c77ab0cf5c3ac797f3d95139c6c84b5429c59662a");
        let secret: [u8; 32] =
            hex("8057991eef8f1f1af18f4a9491d16a1ce333f695d4db8e38da75975c4478e0fb").try_into().expect("32 bytes");
        let plaintext = hex("4265617574792069732074727574682c20747275746820626561757479");
        let encapsulated = hex("1afa08d3dec047a643885163f1180476fa7ddb54c6a8029ea33f95796bf2ac4a");
        let ciphertext =
            hex("1c5250d8034ec2b784ba2cfd69dbdb8af406cfe3ff938e131f0def8c8b60b4db21993c62ce81883d2dd1b51a28");
        let (key, secret) =
            (EncryptionKey::from_bytes(&receiver).expect("a key"), DecryptionKey::from_bytes(&secret).expect("a key"));
        assert_eq!(secret.encryption_key().to_bytes(), receiver);
        let envelope = key.try_seal(&info, b"Count-0", &plaintext, &ephemeral).expect("a key");
        assert_eq!(envelope, [encapsulated, ciphertext].concat());
        assert_eq!(secret.try_open(&info, b"Count-0", &envelope).expect("the same keys").as_slice(), plaintext);
    }

    #[test]
    fn envelopes_open_for_their_receiver_and_use_alone() {
        let [one, two] = [1, 2].map(|seed| DecryptionKey::derive(&[seed; 32]));
        let envelope = one.encryption_key().seal(b"info", b"text", &[3; 32]);
        assert_eq!(one.open(b"info", &envelope).expect("it is for one").as_slice(), b"text");
        assert!(one.open(b"other", &envelope).is_none());
        assert!(two.open(b"info", &envelope).is_none());
        for length in 0..envelope.len() {
            assert!(one.open(b"info", &envelope[..length]).is_none());
            let mut changed = envelope.clone();
            changed[length] ^= 1;
            assert!(one.open(b"info", &changed).is_none(), "byte {length}");
        }
        assert_eq!(one.encryption_key().seal(b"info", b"text", &[3; 32]), envelope);
    }

    /// 0 and 1 are points of small order of Curve25519.
    #[test]
    fn keys_of_small_order_are_refused() {
        let mut one = [0; 32];
        one[0] = 1;
        assert!(EncryptionKey::from_bytes(&[0; 32]).is_none());
        assert!(EncryptionKey::from_bytes(&one).is_none());
        assert!(EncryptionKey::from_bytes(&[5; 31]).is_none());
        assert!(DecryptionKey::derive(&[5; 32]).to_bytes().iter().any(|byte| *byte != 0));
    }
}
