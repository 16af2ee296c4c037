//! Proofs of the formulas, for all inputs: each computes in [a field of polynomials](symbolic) and gives the polynomials of its
//! [specification](naive).
//!
//! The formulas are generic in the field, so that the code that runs here is the code that every kind of lanes compiles. That the numbers
//! of a kind of lanes are such a field is what the proofs of its kernels say. `docs/proofs.md` says what the
//! proofs rest on.

mod proof;
mod symbolic;
mod naive;
mod towers;
mod points;
mod lines;
mod maps;
mod powers;
mod portable;
#[cfg(all(
    feature = "bn254",
    any(all(target_arch = "x86_64", target_feature = "sse2"), all(target_arch = "aarch64", target_feature = "neon"))
))]
mod bn254;
