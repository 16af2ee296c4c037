//! BLS12-381 arithmetic for quorate, over slices.
//!
//! This crate knows no signatures. It offers the engine a handful of verbs, each on a slice, through a [`Backend`]
//! that is chosen once when the program starts: decode, hash to the curve, check the subgroup, sum, weigh, pair.
//!
//! Read in this order:
//!
//! - [`encoding`]: the canonical bytes of points, and what can be wrong with them.
//! - [`group`]: [`G1`] and [`G2`], affine points on their curves, and the sealed trait [`Group`] that they share.
//! - [`segments`]: items in consecutive segments, for verbs that give an answer for each of several lists.
//! - [`weight`]: the random multipliers of a batch, in a form that the curve's automorphism makes cheap.
//! - [`pairing`]: two pairings, values of the Miller loop and of the target group.
//! - [`scalar`]: secrets. They go through blst's constant-time code and through no back end.
//! - [`backend`]: who does the arithmetic.
//!
//! All functions but those of [`scalar`] take time that depends on their input.
//!
//! ```
//! use quorate_curve::{Backend, G1, G2, Group};
//!
//! let backend = Backend::auto();
//! // e(2·g1, g2) = e(g1, 2·g2), so the product e(2·g1, g2) · e(-g1, 2·g2) is one.
//! let two_g1 = backend.sum(&[G1::generator(), G1::generator()]);
//! let two_g2 = backend.sum(&[G2::generator(), G2::generator()]);
//! let product = backend.miller_product(&[(two_g1, G2::generator()), (G1::generator().negate(), two_g2)]);
//! assert!(backend.final_exponentiation(product).is_one());
//! ```

#![no_std]
#![warn(missing_docs)]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod arithmetic;
pub mod backend;
#[cfg(any(test, feature = "bench-internals"))]
#[doc(hidden)]
pub mod bench;
pub mod encoding;
pub mod group;
pub mod pairing;
pub mod scalar;
pub mod segments;
pub mod weight;

pub use backend::{Backend, PreparedG2, UnknownBackend};
pub use encoding::DecodeError;
pub use group::{G1, G2, Group, GroupId};
pub use pairing::{Gt, MillerValue, Pairing};
pub use scalar::{SecretError, SecretScalar};
pub use segments::{Segments, UncheckedSegments, WeightedSegments};
pub use weight::{Soundness, Weight};
