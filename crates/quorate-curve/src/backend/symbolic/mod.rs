//! Numbers of which a proof knows what they are made of: kernels that run on them are proved for all inputs.
//!
//! A kernel computes with a `Word`. On a [`Symbol`] it makes no numbers but facts: each symbol is a polynomial with integer
//! coefficients over integer variables, and the range of its values. A limb of the input is a variable. So are the two parts of a number
//! x that is cut at 2^b: x = low + 2^b·high. Every sum and product stays a polynomial, and an operation whose result could leave the
//! range in which the lanes are exact panics.
//!
//! In the end each high part is replaced by (x - low)/2^b. What remains of a kernel is a polynomial over the limbs and the low parts,
//! with coefficients that are integers divided by powers of two. From it follow
//!
//! - the congruence: a difference is a multiple of an odd p, whatever the inputs are, if every coefficient is one
//!   ([`assert_congruent`]). What the coefficients are divided by is invertible modulo p;
//! - the bound: the least and the greatest value of each term add up to those of the whole ([`bounds`]).
//!
//! That a digit clears a column (that a low part is zero) follows from the same polynomials modulo 2^b, in which a low part is as
//! good as what it was cut from (`Proof::is_divisible`).
//!
//! [`misses_no_step`] runs a kernel and its checks, then falsifies one step after the other, and asserts that no proof survives.

mod dyadic;
mod state;
mod symbol;
mod integers;
mod runs;

pub(in crate::backend) use dyadic::{Dyadic, Value, power_of_two, prime};
pub(in crate::backend) use integers::in_lane;
pub(in crate::backend) use runs::{beside, in_each_case, misses_no_step, on_each_path, proofs};
pub(in crate::backend) use state::{Parts, Rounding, Symbol};
pub(in crate::backend) use symbol::{assert_congruent, assert_divisible, assert_same, bounds, size, value_of};
