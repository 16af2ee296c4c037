//! The choice between the backends.

use core::{fmt, str::FromStr};

#[cfg(all(target_arch = "aarch64", target_feature = "neon"))]
pub use super::fma::neon::Neon;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
pub use super::{
    fma::x86::{Avx2, Avx512},
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
    /// Four times two items at a time, with the double-precision multiplier of NEON.
    #[cfg(all(target_arch = "aarch64", target_feature = "neon"))]
    FmaNeon(Neon),
}

/// Which implementation a [`Backend`] is, without the proof that this CPU can run it. Every target knows all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BackendId {
    /// [`Backend::Portable`].
    Portable,
    /// `Backend::Ifma` of x86-64.
    Ifma,
    /// `Backend::FmaAvx512` of x86-64.
    FmaAvx512,
    /// `Backend::FmaAvx2` of x86-64.
    FmaAvx2,
    /// `Backend::FmaNeon` of aarch64.
    FmaNeon,
}

impl BackendId {
    /// The name: "ifma", "fma-avx512", "fma-avx2", "fma-neon" or "portable".
    pub const fn name(self) -> &'static str {
        match self {
            Self::Portable => "portable",
            Self::Ifma => "ifma",
            Self::FmaAvx512 => "fma-avx512",
            Self::FmaAvx2 => "fma-avx2",
            Self::FmaNeon => "fma-neon",
        }
    }
}

/// All backends of x86-64, the fastest first. A CPU that can run one of them can run those behind it.
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
    ///
    /// On aarch64 the lanes of NEON stand behind blst, because nobody has measured that they are faster (`docs/lanes.md`).
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
        #[cfg(all(target_arch = "aarch64", target_feature = "neon"))]
        {
            // SAFETY: every CPU of the target has the instructions.
            const NEON: Backend = unsafe { Backend::FmaNeon(Neon::assume()) };
            &[Self::Portable, NEON]
        }
        #[cfg(not(any(
            all(target_arch = "x86_64", target_feature = "sse2"),
            all(target_arch = "aarch64", target_feature = "neon")
        )))]
        &[Self::Portable]
    }

    /// The fastest backend that this machine can run.
    pub fn auto() -> Self {
        Self::available()[0]
    }

    /// Which of all implementations it is.
    pub const fn id(self) -> BackendId {
        match self {
            Self::Portable => BackendId::Portable,
            #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
            Self::Ifma(_) => BackendId::Ifma,
            #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
            Self::FmaAvx512(_) => BackendId::FmaAvx512,
            #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
            Self::FmaAvx2(_) => BackendId::FmaAvx2,
            #[cfg(all(target_arch = "aarch64", target_feature = "neon"))]
            Self::FmaNeon(_) => BackendId::FmaNeon,
        }
    }

    /// The name: [`BackendId::name`].
    pub const fn name(self) -> &'static str {
        self.id().name()
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
            #[cfg(all(target_arch = "aarch64", target_feature = "neon"))]
            Backend::FmaNeon($lanes) => $crate::backend::fma::rounding::to_nearest(|| $in_lanes),
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
        for name in ["avx", "", "Portable"] {
            let error = name.parse::<Backend>().unwrap_err().to_string();
            assert!(error.contains("portable"), "{error}");
        }
    }
}
