//! The choice between the backends.

use core::{fmt, str::FromStr};

#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
pub use super::{
    fma::{Avx2, Avx512},
    ifma::Ifma,
};

/// An implementation of the verbs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Backend {
    /// blst, which computes one number at a time in assembly. It runs on any CPU.
    Portable,
    /// Eight items at a time, with the 52-bit multiplier of AVX-512 IFMA.
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    Ifma(Ifma),
    /// Eight items at a time, with the double-precision multiplier of AVX-512 F.
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    FmaAvx512(Avx512),
    /// Twice four items at a time, with the double-precision multiplier of AVX2 and FMA.
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    FmaAvx2(Avx2),
}

/// All backends, the fastest first. A CPU that can run one of them can run those behind it.
// SAFETY: `Backend::available`, which alone uses this constant, has asked for the instructions.
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
const ALL: &[Backend] = unsafe {
    &[
        Backend::Ifma(Ifma::assume()),
        Backend::FmaAvx512(Avx512::assume()),
        Backend::FmaAvx2(Avx2::assume()),
        Backend::Portable,
    ]
};

impl Backend {
    /// The backends that this machine can run, the fastest first.
    pub fn available() -> &'static [Self] {
        #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
        {
            let mut can = Avx2::detect().is_some();
            let mut from = ALL.len() - 1;
            for next in [true, Avx512::detect().is_some(), Ifma::detect().is_some()] {
                can &= next;
                from -= usize::from(can);
            }
            &ALL[from..]
        }
        #[cfg(not(all(target_arch = "x86_64", target_feature = "sse2")))]
        &[Self::Portable]
    }

    /// The fastest backend that this machine can run.
    pub fn auto() -> Self {
        Self::available()[0]
    }

    /// The name: "ifma", "fma-avx512", "fma-avx2" or "portable".
    pub const fn name(self) -> &'static str {
        match self {
            Self::Portable => "portable",
            #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
            Self::Ifma(_) => "ifma",
            #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
            Self::FmaAvx512(_) => "fma-avx512",
            #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
            Self::FmaAvx2(_) => "fma-avx2",
        }
    }
}

/// Does the work of a verb: that of the portable backend, or that of the lanes with their token. Lanes of doubles need the
/// rounding to nearest.
macro_rules! dispatch {
    ($backend:expr, $portable:expr, |$lanes:ident| $in_lanes:expr) => {
        match $backend {
            Backend::Portable => $portable,
            #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
            Backend::Ifma($lanes) => $in_lanes,
            #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
            Backend::FmaAvx512($lanes) => $crate::backend::fma::rounding::to_nearest(|| $in_lanes),
            #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
            Backend::FmaAvx2($lanes) => $crate::backend::fma::rounding::to_nearest(|| $in_lanes),
        }
    };
}

/// Does the work of a verb on scalars, for which only the lanes of integers are faster than blst.
macro_rules! dispatch_scalars {
    ($backend:expr, $portable:expr, |$lanes:ident| $in_lanes:expr) => {
        match $backend {
            #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
            Backend::Ifma($lanes) => $in_lanes,
            _ => $portable,
        }
    };
}

pub(crate) use dispatch;
pub(super) use dispatch_scalars;

impl fmt::Display for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A backend was named that this machine does not have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no backend named `{asked}` on this machine; it has: {}", Names)]
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

    /// Finds a backend by its [`name`](Backend::name). `auto` is the fastest, and `fma` the fastest of those with doubles.
    fn from_str(name: &str) -> Result<Self, UnknownBackend> {
        let is_named = |b: &&Self| b.name() == name || name == "fma" && b.name().starts_with("fma-");
        let named = Self::available().iter().find(is_named).copied();
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
        let fma = Backend::available().iter().find(|backend| backend.name().starts_with("fma-"));
        assert_eq!("fma".parse().ok(), fma.copied());
        for name in ["neon", "", "Portable"] {
            let error = name.parse::<Backend>().unwrap_err().to_string();
            assert!(error.contains("portable"), "{error}");
        }
    }
}
