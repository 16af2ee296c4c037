//! The coefficients of the library kyber (`sign/bdn`), to interoperate with networks that have them. For a network of your own,
//! take the suites of [`bdn`](super).
//!
//! kyber binds the coefficients to a *roster*, all keys that may sign, and not to those that did:
//!
//! ```text
//! c₁ ‖ … ‖ cₙ = BLAKE2Xs(pk₁ ‖ … ‖ pkₙ), 16 bytes each, little-endian;    aᵢ = cᵢ + 1
//! ```
//!
//! **With a large roster this is broken.** An attacker who has many keys in it knows all coefficients before it chooses who
//! signs. So it looks for a subset of its own keys whose coefficients cancel those of an honest key, and signs for the honest one.
//! The test `a_subset_cancels_the_victim` does that with 4,096 keys, in seconds. A subset of n keys exists with a probability of
//! at most 2^(n - 128) for each roster, so a roster may have [`MOST_MEMBERS`] keys here, and no more. `docs/soundness.md` has the
//! calculation.
//!
//! ```
//! use quorate::{Backend, MinSig, SecretKey, bdn::kyber::Roster};
//! let suite = MinSig::Basic;
//! let secrets = [1, 2, 3].map(|i| SecretKey::key_gen(suite, &[i; 32], b"").expect("32 bytes"));
//! let roster = Roster::new(secrets.iter().map(SecretKey::public_key).collect(), Backend::auto())?;
//! let signed = [0, 2].map(|i| (i, secrets[i].sign(suite, b"block root")));
//! let (key, signature) = (roster.public_key(&[0, 2])?, roster.aggregate(&signed)?);
//! assert!(key.verify(suite, b"block root", signature).is_valid());
//! # Ok::<(), quorate::MisuseError>(())
//! ```

use std::collections::HashSet;

use blake2s_simd::Params;
use quorate_curve::{Backend, Bls12381Group, Scalar};

use crate::{aggregate::MisuseError, key::PublicKey, signature::Signature, suite::Bls12381Suite};

/// The most keys that a roster may have. Whoever tries q rosters of this size cancels a given key with a probability of at most
/// q · 2^-64.
pub const MOST_MEMBERS: usize = 64;

/// The keys of all who may sign, in the order of the network, each with its coefficient.
///
/// Signatures are made in a NUL suite. kyber's scheme on G1 is [`MinSig::Basic`](crate::MinSig::Basic), its scheme on G2
/// [`MinPk::Basic`](crate::MinPk::Basic). The aggregate verifies as a single signature under [`Roster::public_key`].
#[derive(Clone, Debug)]
pub struct Roster<S: Bls12381Suite> {
    keys: Vec<PublicKey<S>>,
    coefficients: Vec<Scalar>,
    backend: Backend,
}

impl<S: Bls12381Suite> Roster<S> {
    /// The roster of these keys.
    ///
    /// # Errors
    /// [`MisuseError::RosterTooLarge`] for more than [`MOST_MEMBERS`] keys, and [`MisuseError::RepeatedKey`]. kyber checks neither.
    pub fn new(keys: Vec<PublicKey<S>>, backend: Backend) -> Result<Self, MisuseError> {
        if keys.len() > MOST_MEMBERS {
            return Err(MisuseError::RosterTooLarge { members: keys.len(), most: MOST_MEMBERS });
        }
        let mut seen = HashSet::new();
        if let Some(index) = keys.iter().position(|key| !seen.insert(*key)) {
            return Err(MisuseError::RepeatedKey { index });
        }
        let encodings: Vec<_> = keys.iter().map(PublicKey::to_bytes).collect();
        Ok(Self { coefficients: coefficients(&encodings), keys, backend })
    }

    /// Σ aᵢ·pkᵢ over members by index, in any order.
    ///
    /// # Errors
    /// [`MisuseError::NothingToAggregate`], [`MisuseError::NoSuchMember`], [`MisuseError::RepeatedKey`] if an index occurs twice, and
    /// [`MisuseError::IdentitySum`].
    pub fn public_key(&self, members: &[usize]) -> Result<PublicKey<S>, MisuseError> {
        let terms = self.terms(members.iter().map(|index| (*index, ())), |index, ()| self.keys[index].point())?;
        PublicKey::from_sum(self.backend.msm(&terms)).ok_or(MisuseError::IdentitySum)
    }

    /// Σ aᵢ·σᵢ over the signatures of members by index, in any order. It believes that each signature is valid.
    ///
    /// # Errors
    /// Those of [`public_key`](Self::public_key), without the last.
    pub fn aggregate(&self, signed: &[(usize, Signature<S>)]) -> Result<Signature<S>, MisuseError> {
        let terms = self.terms(signed.iter().copied(), |_, signature| signature.point())?;
        Ok(Signature::from_member(self.backend.msm(&terms)))
    }

    /// A point for each member, with the member's coefficient.
    fn terms<T, G: Bls12381Group>(
        &self,
        members: impl Iterator<Item = (usize, T)>,
        point: impl Fn(usize, T) -> G,
    ) -> Result<Vec<(G, Scalar)>, MisuseError> {
        let (mut seen, mut terms) = (HashSet::new(), Vec::new());
        for (index, item) in members {
            let coefficient = self.coefficients.get(index);
            let coefficient = coefficient.ok_or(MisuseError::NoSuchMember { index, members: self.keys.len() })?;
            if !seen.insert(index) {
                return Err(MisuseError::RepeatedKey { index });
            }
            terms.push((point(index, item), *coefficient));
        }
        if terms.is_empty() { Err(MisuseError::NothingToAggregate) } else { Ok(terms) }
    }
}

/// cᵢ + 1 for each key.
fn coefficients(encodings: &[impl AsRef<[u8]>]) -> Vec<Scalar> {
    let one = Scalar::from(1);
    numbers(encodings).into_iter().map(|number| Scalar::reduce(&number.to_be_bytes()) + one).collect()
}

/// The numbers cᵢ of 128 bits.
fn numbers(encodings: &[impl AsRef<[u8]>]) -> Vec<u128> {
    let blocks = (0..encodings.len().div_ceil(2) as u64).map(block_of(encodings));
    let bytes: Vec<u8> = blocks.flatten().collect();
    let numbers = bytes.chunks_exact(16).take(encodings.len());
    numbers.map(|bytes| bytes.iter().rev().fold(0, |number, byte| number << 8 | u128::from(*byte))).collect()
}

/// The blocks of BLAKE2Xs of unknown output length ("BLAKE2X", J.-P. Aumasson et al., 2016, section 2).
fn block_of(encodings: &[impl AsRef<[u8]>]) -> impl Fn(u64) -> [u8; 32] {
    /// The length of the output stands in the upper two bytes of the node offset, and this one means that it is unknown.
    const UNKNOWN_LENGTH: u64 = 0xffff << 32;
    let mut root = Params::new().node_offset(UNKNOWN_LENGTH).to_state();
    encodings.iter().for_each(|bytes| {
        root.update(bytes.as_ref());
    });
    let root = root.finalize();
    move |j| {
        let mut params = Params::new();
        params.fanout(0).max_depth(0).max_leaf_length(32).node_offset(UNKNOWN_LENGTH | j).inner_hash_length(32);
        *params.hash(root.as_bytes()).as_array()
    }
}

#[cfg(test)]
mod tests;
