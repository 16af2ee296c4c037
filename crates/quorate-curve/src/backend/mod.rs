//! Who does the arithmetic: one closed choice, made once, and one `match` for each verb on a slice.
//!
//! | verb | in | out |
//! |---|---|---|
//! | [`decode`](Backend::decode) | bytes | a point on the curve |
//! | [`hash_to_curve`](Backend::hash_to_curve) | messages under one tag | points of order r |
//! | [`hash_for_sums`](Backend::hash_for_sums), [`clear_sums`](Backend::clear_sums) | messages of which only sums are wanted | the same for less |
//! | [`in_subgroup`](Backend::in_subgroup) | points | one answer each |
//! | [`sum`](Backend::sum), [`sums`](Backend::sums) | points | their sum, or that of each stretch |
//! | [`weighted_sums`](Backend::weighted_sums) | points and weights | Σ w·P of each stretch |
//! | [`miller_product`](Backend::miller_product) | pairs | ∏ f(P, Q) before the final exponentiation |
//! | [`final_exponentiation`](Backend::final_exponentiation) | a Miller value | an element of the target group |

pub(crate) mod portable;

use alloc::vec::Vec;
use core::{fmt, str::FromStr};

use crate::{
    encoding::DecodeError,
    group::{G1, G2, Group},
    pairing::{Gt, MillerValue},
    weight::Weight,
};

/// The implementation that executes a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Backend {
    /// blst: assembly for one item at a time, on any CPU.
    Portable,
}

impl Backend {
    /// Every back end that this machine can run, the fastest first.
    pub fn available() -> &'static [Self] {
        &[Self::Portable]
    }

    /// The fastest back end that this machine can run.
    pub fn auto() -> Self {
        Self::available()[0]
    }

    /// Its name: "portable".
    pub const fn name(self) -> &'static str {
        match self {
            Self::Portable => "portable",
        }
    }

    /// Decodes a compressed point: canonical, on the curve, not necessarily in the subgroup.
    ///
    /// # Errors
    /// [`DecodeError`], which names the flaw.
    ///
    /// Cost: one square root.
    pub fn decode<G: Group>(self, bytes: &[u8]) -> Result<G, DecodeError> {
        match self {
            Self::Portable => portable::encoding::decode(bytes),
        }
    }

    /// Decodes an uncompressed point: canonical, on the curve, not necessarily in the subgroup.
    ///
    /// # Errors
    /// [`DecodeError`], which names the flaw.
    pub fn decode_uncompressed<G: Group>(self, bytes: &[u8]) -> Result<G, DecodeError> {
        match self {
            Self::Portable => portable::encoding::decode_uncompressed(bytes),
        }
    }

    /// `hash_to_curve` of RFC 9380 (section 8.8, the `_RO_` suites with SHA-256) for each message under one tag.
    ///
    /// A message is hashed as the concatenation of its two parts: an AUG suite puts the key in the first.
    /// `dst` is the domain separation tag; one longer than 255 bytes is hashed first, as section 5.3.3 says.
    pub fn hash_to_curve<G: Group>(self, dst: &[u8], messages: &[(&[u8], &[u8])]) -> Vec<G> {
        match self {
            Self::Portable => portable::hash_to_curve::hash_to_curve(dst, messages),
        }
    }

    /// Hashes Q(m), one for each message, such that [`clear_sums`](Self::clear_sums) of any Σ w·Q(m) is Σ w·H(m), where
    /// H(m) are the hashes of [`hash_to_curve`](Self::hash_to_curve). They can be outside the subgroup and are good for
    /// nothing but sums. Cheaper in G2, since clearing the cofactor is linear and more than half of a hash.
    pub fn hash_for_sums<G: Group>(self, dst: &[u8], messages: &[(&[u8], &[u8])]) -> Vec<G> {
        match self {
            Self::Portable => portable::hash_to_curve::hash_for_sums(dst, messages),
        }
    }

    /// Makes sums of the hashes that [`hash_for_sums`](Self::hash_for_sums) gives into sums of whole hashes.
    pub fn clear_sums<G: Group>(self, sums: &[G]) -> Vec<G> {
        match self {
            Self::Portable => portable::hash_to_curve::clear_sums(sums),
        }
    }

    /// Whether each point is in the subgroup of order r. The identity is.
    pub fn in_subgroup<G: Group>(self, points: &[G]) -> Vec<bool> {
        match self {
            Self::Portable => portable::subgroup::in_subgroup(points),
        }
    }

    /// The sum of all points; the identity for none.
    pub fn sum<G: Group>(self, points: &[G]) -> G {
        self.sums(points, &[points.len()])[0]
    }

    /// The sum of each stretch: stretch `i` is `points[ends[i - 1]..ends[i]]`, the first starts at 0.
    ///
    /// # Panics
    /// If `ends` is not ascending or goes beyond the slice.
    pub fn sums<G: Group>(self, points: &[G], ends: &[usize]) -> Vec<G> {
        match self {
            Self::Portable => portable::sum::sums(points, ends),
        }
    }

    /// Σ wᵢ·Pᵢ over each stretch, as [`sums`](Self::sums) cuts them.
    ///
    /// Points outside the subgroup are weighed as elements of the curve, where ω acts too.
    ///
    /// # Panics
    /// If there are not as many weights as points, or `ends` is not ascending or goes beyond the slice.
    pub fn weighted_sums<G: Group>(self, points: &[G], weights: &[Weight], ends: &[usize]) -> Vec<G> {
        assert_eq!(points.len(), weights.len(), "a weight for each point");
        match self {
            Self::Portable => portable::weighted_sum::weighted_sums(points, weights, ends),
        }
    }

    /// ∏ f(Pᵢ, Qᵢ), the Miller loop of the optimal ate pairing; one for no pairs. A pair with an identity counts as one.
    ///
    /// All points must be in the subgroup of order r.
    pub fn miller_product(self, pairs: &[(G1, G2)]) -> MillerValue {
        match self {
            Self::Portable => portable::pairing::miller_product(pairs),
        }
    }

    /// Raises to (p¹² - 1)/r (to a fixed power of it, as usual), after which values can be compared.
    pub fn final_exponentiation(self, value: MillerValue) -> Gt {
        match self {
            Self::Portable => portable::pairing::final_exponentiation(value),
        }
    }
}

impl fmt::Display for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// That a back end was asked for which cannot be had.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no back end named `{asked}` on this machine; it has: {}", Names)]
pub struct UnknownBackend {
    asked: alloc::string::String,
}

struct Names;

impl fmt::Display for Names {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Backend::available()
            .iter()
            .enumerate()
            .try_for_each(|(i, b)| write!(f, "{}{b}", if i == 0 { "" } else { ", " }))
    }
}

impl FromStr for Backend {
    type Err = UnknownBackend;

    /// By [`name`](Backend::name), or `auto`.
    fn from_str(name: &str) -> Result<Self, UnknownBackend> {
        let named = Self::available().iter().find(|b| b.name() == name).copied();
        let auto = (name == "auto").then(Self::auto);
        auto.or(named).ok_or_else(|| UnknownBackend { asked: name.into() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn names_parse_back_and_absent_ones_are_errors() {
        for backend in Backend::available() {
            assert_eq!(backend.name().parse(), Ok(*backend));
        }
        assert_eq!("auto".parse(), Ok(Backend::auto()));
        for name in ["neon", "", "Portable"] {
            let error = name.parse::<Backend>().unwrap_err().to_string();
            assert!(error.contains("portable"), "{error}");
        }
    }
}
