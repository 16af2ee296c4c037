//! A committee's keys. They are checked once, and their indices stand for them afterwards.
//!
//! The keys of a large set are kept in the form in which the backend computes, so that some of a million are added at the
//! speed of memory. Little changes from one signature of a committee to the next. So a set keeps its last sums. For the next
//! sum it adds the members who joined and subtracts those who left, if that takes fewer additions than a new sum.
//!
//! ```
//! use quorate::{Backend, Bitmap, KeySet, MinPk, SecretKey, aggregate::aggregate, naive};
//! let suite = MinPk::Eth2;
//! let secrets = [1, 2, 3].map(|i| SecretKey::key_gen(suite, &[i; 32], b"").expect("32 bytes"));
//! let mut set = KeySet::new(suite, Backend::auto());
//! secrets.iter().for_each(|secret| set.push_assumed(secret.public_key()));
//! let signed = aggregate(&[secrets[0].sign(suite, b"vote"), secrets[2].sign(suite, b"vote")], Backend::auto())?;
//! let claim = set.claim(&Bitmap::from_indices([0, 2]), &b"vote"[..], signed)?;
//! assert!(naive::verify(&claim).is_valid());
//! # Ok::<(), quorate::aggregate::MisuseError>(())
//! ```
//!
//! Claims as bytes name the members of a set that stands behind a handle: [`AnyKeySet`].

mod members;
mod set;
mod any;
mod saved;

pub use self::{
    any::AnyKeySet,
    members::{Bitmap, Members},
    saved::{SavedHeader, SavedKeysError},
    set::{KeyError, KeySet, Possession},
};
