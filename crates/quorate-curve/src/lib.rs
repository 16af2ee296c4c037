//! The arithmetic of curves for quorate, over slices: BLS12-381, and with the feature `bn254` BN254.
//!
//! This crate knows no signatures. It offers the engine a few verbs over slices: decode, hash to the curve, check the
//! subgroup, sum, weigh, multiply, pair. A [`Backend`] executes them, and a program chooses it once, when it starts.
//!
//! The modules, each of which imports only those above it (`scripts/check_imports.py` reads the order from the `mod` lines and checks
//! it file by file):
//!
//! - [`weight`]: the random multipliers of a batch, in a form that the curve's endomorphism makes cheap.
//! - [`segments`]: items in consecutive segments, for the verbs that compute one result for each of several lists.
//! - `arithmetic`, private: blst's functions on one field element or point, made safe.
//! - [`encoding`]: the canonical bytes of points, and what can be wrong with them.
//! - [`pairing`]: the two pairings, values of the Miller loop, and elements of the target group.
//! - [`scalar`]: public scalars, the elements of Fr.
//! - `backend::portable` and `backend::lanes`, private: the verbs by blst, and the same verbs on eight items at a time. They
//!   work on points of E(Fp) and its twist. `backend::ifma`, `backend::fma` and `backend::serial` are the forms of numbers in lanes,
//!   and `backend::choice` is the choice between all of them.
//! - [`group`]: [`G1`] and [`G2`], affine points of BLS12-381, and the sealed traits [`PairingCurve`], [`Group`] and [`Bls12381Group`].
//! - [`backend`]: the public verbs.
//! - `bn254`, private: the second curve, with the feature of this name.
//! - [`domain`]: roots of unity, and the transforms of polynomials over Fr.
//! - [`marking`]: where secrets become public, for a check.
//! - [`secret`]: secret scalars. Only blst's constant-time code computes with them, and no backend accepts one.
//!
//! The functions of [`secret`] run in constant time. The time of all others depends on their input.
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

#[cfg(test)]
mod polynomial;
pub mod weight;
pub mod segments;
mod arithmetic;
pub mod encoding;
pub mod pairing;
pub mod scalar;
// mod backend::{portable, lanes, ifma, fma, serial, choice};
pub mod group;
pub mod backend;
// mod bn254::{inverse, fp2, points, lanes};
#[cfg(feature = "bn254")]
mod bn254;
pub mod domain;
#[doc(hidden)]
pub mod marking;
pub mod secret;
#[cfg(any(test, feature = "bench-internals"))]
#[doc(hidden)]
pub mod bench;

pub use backend::{Backend, BackendId, Pair, PreparedG2, StoredPoints, UnknownBackend};
#[cfg(feature = "bn254")]
pub use bn254::{Bn254, Bn254G1, Bn254G2};
pub use domain::Domain;
pub use encoding::DecodeError;
pub use group::{Bls12381Group, G1, G2, Group, GroupId, PairingCurve};
pub use pairing::{Bls12381, CurveId, Gt, MillerValue, Pairing};
pub use scalar::{Scalar, ScalarError};
pub use secret::{SecretError, SecretPolynomial, SecretScalar};
pub use segments::{Segments, UncheckedSegments, WeightedSegments};
pub use weight::{Soundness, Weight};
