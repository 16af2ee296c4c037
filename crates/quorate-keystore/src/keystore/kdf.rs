//! The two key derivation functions of EIP-2335, with bounds on the work that a file may ask for.
//!
//! A keystore states its own cost, so a hostile one could ask for all memory, or for hours. The types here have only costs within
//! the bounds, and the functions accept nothing else.

use quorate_host::clipped;
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::Value;
use sha2::Sha256;
use zeroize::Zeroizing;

/// A key derivation function and its cost; scrypt at the cost of EIP-2335's example by default.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Kdf {
    /// Needs much memory, which makes guessing expensive. Choose it unless some program cannot read it.
    Scrypt(Scrypt),
    /// PBKDF2 with HMAC-SHA-256. It needs no memory, so guessing is cheap on special hardware.
    Pbkdf2(Pbkdf2),
}

impl Kdf {
    /// Derives the 32-byte decryption key from a processed passphrase.
    ///
    /// Cost at the defaults: about a second and 256 MiB for scrypt; tens of milliseconds and no
    /// memory for PBKDF2, on a CPU with SHA instructions.
    /// The working memory of the function is freed without being wiped.
    pub(super) fn derive(&self, passphrase: &[u8], salt: &[u8]) -> Zeroizing<[u8; KEY_LENGTH]> {
        let mut key = Zeroizing::new([0; KEY_LENGTH]);
        match self {
            Self::Scrypt(Scrypt(params)) => {
                scrypt::scrypt(passphrase, salt, params, key.as_mut())
                    .expect("scrypt refuses only empty and gigantic outputs");
            }
            Self::Pbkdf2(Pbkdf2 { iterations }) => {
                pbkdf2::pbkdf2_hmac::<Sha256>(passphrase, salt, *iterations, key.as_mut());
            }
        }
        key
    }
}

impl Default for Kdf {
    fn default() -> Self {
        Self::Scrypt(Scrypt::default())
    }
}

/// The cost of scrypt (RFC 7914), within bounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scrypt(scrypt::Params);

impl Scrypt {
    /// The most that `n · r · p` may be: four times EIP-2335's example.
    /// Time grows with it, and memory (128·r·(n + p) bytes, n at least 2) stays below 2 GiB.
    pub const MAX_WORK: u64 = 1 << 23;

    /// Cost factor `n` (a power of two, at least 2), block size `r`, parallelism `p` (at least 1).
    ///
    /// # Errors
    /// [`KdfError`]: `n` is not a power of two, `r` or `p` is zero, or the product is above
    /// [`Scrypt::MAX_WORK`]. There is no lower bound, because a file may have been made for a test.
    pub fn new(n: u64, r: u64, p: u64) -> Result<Self, KdfError> {
        if n < 2 || !n.is_power_of_two() {
            return Err(KdfError::ScryptN { n });
        }
        if r == 0 || p == 0 {
            return Err(KdfError::ScryptZero);
        }
        let too_large = KdfError::ScryptTooLarge { n, r, p };
        let product = n.checked_mul(r).and_then(|product| product.checked_mul(p));
        if product.is_none_or(|product| product > Self::MAX_WORK) {
            return Err(too_large);
        }
        // Below MAX_WORK each of them fits.
        let (Ok(log_n), Ok(r), Ok(p)) = (u8::try_from(n.trailing_zeros()), u32::try_from(r), u32::try_from(p)) else {
            return Err(too_large);
        };
        scrypt::Params::new(log_n, r, p).map(Self).map_err(|_| too_large)
    }

    /// The cost factor `n`.
    pub fn n(&self) -> u64 {
        self.0.n()
    }

    /// The block size `r`, in units of 128 bytes.
    pub fn r(&self) -> u32 {
        self.0.r()
    }

    /// The parallelism `p`.
    pub fn p(&self) -> u32 {
        self.0.p()
    }
}

impl Default for Scrypt {
    /// EIP-2335's example: n = 262144, r = 8, p = 1, which takes 256 MiB.
    fn default() -> Self {
        Self::new(1 << 18, 8, 1).expect("2^18 · 8 · 1 = 2^21 is within the bound")
    }
}

/// The cost of PBKDF2 (RFC 8018) with HMAC-SHA-256, within bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pbkdf2 {
    iterations: u32,
}

impl Pbkdf2 {
    /// The most iterations: 64 times EIP-2335's example, some seconds.
    pub const MAX_ITERATIONS: u32 = 1 << 24;

    /// `c` iterations, at least 1.
    ///
    /// # Errors
    /// [`KdfError::Pbkdf2Iterations`]: none, or more than [`Pbkdf2::MAX_ITERATIONS`].
    pub fn new(c: u64) -> Result<Self, KdfError> {
        match u32::try_from(c) {
            Ok(iterations @ 1..=Self::MAX_ITERATIONS) => Ok(Self { iterations }),
            _ => Err(KdfError::Pbkdf2Iterations { c }),
        }
    }

    /// The number of iterations, `c`.
    pub fn iterations(&self) -> u32 {
        self.iterations
    }
}

impl Default for Pbkdf2 {
    /// EIP-2335's example: 262144 iterations.
    fn default() -> Self {
        Self { iterations: 1 << 18 }
    }
}

/// A cost that a keystore may not ask for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KdfError {
    /// One half of the derived key decrypts and the other half checks, so it must have 32 bytes.
    #[error("\"dklen\": found {dklen}, expected {KEY_LENGTH}")]
    DerivedKeyLength {
        /// Bytes asked for.
        dklen: u64,
    },
    /// RFC 7914: n must be larger than 1 and a power of two.
    #[error("\"n\" of scrypt: found {n}, expected a power of two above 1")]
    ScryptN {
        /// The cost factor asked for.
        n: u64,
    },
    /// RFC 7914: r and p are positive.
    #[error("\"r\" or \"p\" of scrypt: found 0, expected at least 1")]
    ScryptZero,
    /// The file asks for more time and memory than a keystore needs.
    #[error("scrypt: found n = {n}, r = {r}, p = {p}, expected n · r · p of at most {}", Scrypt::MAX_WORK)]
    ScryptTooLarge {
        /// Cost factor.
        n: u64,
        /// Block size.
        r: u64,
        /// Parallelism.
        p: u64,
    },
    /// The file asks for no iterations, or for more time than a keystore needs.
    #[error("\"c\" of pbkdf2: found {c}, expected 1 to {}", Pbkdf2::MAX_ITERATIONS)]
    Pbkdf2Iterations {
        /// Iterations asked for.
        c: u64,
    },
    /// EIP-2335 has one pseudo-random function.
    #[error("\"prf\" of pbkdf2: found {prf:?}, expected \"hmac-sha256\"")]
    Pbkdf2Prf {
        /// The function asked for.
        prf: String,
    },
}

pub(super) const SCRYPT: &str = "scrypt";
pub(super) const PBKDF2: &str = "pbkdf2";
pub(super) const HMAC_SHA256: &str = "hmac-sha256";

/// The parameters of scrypt in a file of either version.
#[derive(Deserialize)]
pub(super) struct ScryptParams {
    dklen: u64,
    n: u64,
    p: u64,
    r: u64,
    salt: String,
}

impl ScryptParams {
    /// The cost, and the digits of the salt.
    pub(super) fn cost(self) -> Result<(Kdf, String), KdfError> {
        let kdf = Kdf::Scrypt(Scrypt::new(self.n, self.r, self.p)?);
        expect_length(self.dklen)?;
        Ok((kdf, self.salt))
    }
}

fn expect_length(dklen: u64) -> Result<(), KdfError> {
    if dklen == KEY_LENGTH as u64 { Ok(()) } else { Err(KdfError::DerivedKeyLength { dklen }) }
}

/// The parameters of PBKDF2 in a file of either version.
#[derive(Deserialize)]
pub(super) struct Pbkdf2Params {
    dklen: u64,
    c: u64,
    prf: String,
    salt: String,
}

impl Pbkdf2Params {
    /// The cost, and the digits of the salt.
    pub(super) fn cost(self) -> Result<(Kdf, String), KdfError> {
        if self.prf != HMAC_SHA256 {
            return Err(KdfError::Pbkdf2Prf { prf: self.prf });
        }
        let kdf = Kdf::Pbkdf2(Pbkdf2::new(self.c)?);
        expect_length(self.dklen)?;
        Ok((kdf, self.salt))
    }
}

/// Reads the parameters of a function. The error says which one cannot be read, and why: serde_json holds an integer of more than 64 bits
/// as the nearest floating-point number, which is another one.
pub(super) fn read_params<T: DeserializeOwned>(params: &Value) -> Result<T, String> {
    T::deserialize(params).map_err(|error| {
        let is_above = |value: &Value| value.is_f64() && value.as_f64().is_some_and(|value| value >= u64::MAX as f64);
        let above = params.as_object().and_then(|params| params.iter().find(|(_, value)| is_above(value)));
        above.map_or_else(
            || error.to_string(),
            |(name, _)| {
                let name = clipped(name, 100);
                format!("\"{name}\": found a number above 2^64 - 1, expected an integer from 0 to 2^64 - 1")
            },
        )
    })
}

/// Bytes in a derived key: 16 for the cipher, 16 for the checksum.
pub(super) const KEY_LENGTH: usize = 32;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hex;

    #[test]
    fn defaults_are_the_examples_of_the_standard() {
        let scrypt = Scrypt::default();
        assert_eq!((scrypt.n(), scrypt.r(), scrypt.p()), (262_144, 8, 1));
        assert_eq!(Pbkdf2::default().iterations(), 262_144);
        assert_eq!(Kdf::default(), Kdf::Scrypt(scrypt));
    }

    #[test]
    fn known_answers() {
        // RFC 7914, sections 12 and 11; the first 32 bytes of each.
        let scrypt = Kdf::Scrypt(Scrypt::new(1024, 8, 16).expect("within bounds"));
        assert_eq!(
            hex::encode(scrypt.derive(b"password", b"NaCl").as_ref()),
            "fdbabe1c9d3472007856e7190d01e9fe7c6ad7cbc8237830e77376634b373162"
        );
        let pbkdf2 = Kdf::Pbkdf2(Pbkdf2::new(1).expect("within bounds"));
        assert_eq!(
            hex::encode(pbkdf2.derive(b"passwd", b"salt").as_ref()),
            "55ac046e56e3089fec1691c22544b605f94185216dde0465e68b9d57c20dacbc"
        );
    }

    #[test]
    fn greedy_scrypt() {
        for (n, r, p) in [
            (1 << 23, 2, 1),
            (2, 1 << 23, 1),
            (2, 1, 1 << 23),
            (1 << 63, 1 << 63, 1),
            (1 << 21, 1 << 21, 1 << 22),
            (2, u64::MAX, u64::MAX),
        ] {
            assert_eq!(Scrypt::new(n, r, p), Err(KdfError::ScryptTooLarge { n, r, p }));
        }
        for (n, r, p) in [(1 << 23, 1, 1), (2, 1 << 22, 1), (2, 1, 1 << 22), (1 << 20, 8, 1)] {
            assert!(Scrypt::new(n, r, p).is_ok(), "{n} {r} {p} is at the bound");
        }
    }

    #[test]
    fn malformed_scrypt() {
        for n in [0, 1, 3, 262_143, u64::MAX] {
            assert_eq!(Scrypt::new(n, 8, 1), Err(KdfError::ScryptN { n }));
        }
        assert_eq!(Scrypt::new(2, 0, 1), Err(KdfError::ScryptZero));
        assert_eq!(Scrypt::new(2, 1, 0), Err(KdfError::ScryptZero));
    }

    #[test]
    fn greedy_and_idle_pbkdf2() {
        for c in [0, (1 << 24) + 1, 1 << 32, (1 << 32) + 1, u64::MAX] {
            assert_eq!(Pbkdf2::new(c), Err(KdfError::Pbkdf2Iterations { c }));
        }
        assert!(Pbkdf2::new(1).is_ok());
        assert!(Pbkdf2::new(1 << 24).is_ok());
    }
}
