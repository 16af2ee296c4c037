//! Functions that are compiled with the instructions of the lanes that they compute in.
//!
//! Each kind of lanes has a [`Token`], which exists only where the CPU has its instructions. A
//! formula is generic in the token. [`in_lanes!`] compiles it once for each set of instructions and calls the one of the
//! token's type, which is known when the program is compiled.

use core::{fmt::Debug, hash::Hash};

/// The number of lanes. The vectors of AVX2 hold four, so that its lanes take two of them.
pub(crate) const LANES: usize = 8;

/// A bit for each lane.
pub(crate) type Mask = u8;

/// Proof that this CPU has the instructions of a kind of lanes, and that the operating system keeps their registers.
///
/// # Safety
/// Safe code can only get a token where the CPU has the instructions that [`INSTRUCTIONS`](Self::INSTRUCTIONS) names.
pub unsafe trait Token: Copy + Debug + Eq + Hash + Send + Sync + 'static {
    /// [`AVX512_IFMA`], [`AVX512`], [`AVX2_FMA`] or [`BASELINE`].
    const INSTRUCTIONS: u8;
}

/// The instructions of a kind of lanes: AVX-512 F and IFMA.
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
pub(crate) const AVX512_IFMA: u8 = 0;
/// AVX-512 F and VL. With F alone, which only Xeon Phi has, LLVM cannot compile comparisons of two doubles.
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
pub(crate) const AVX512: u8 = 1;
/// AVX2 and FMA.
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
pub(crate) const AVX2_FMA: u8 = 2;
/// None but those that every CPU of the target has, as aarch64 has NEON.
pub(crate) const BASELINE: u8 = 3;

/// Defines functions that are compiled with the instructions of a kind of lanes. The first argument is the token. Because
/// of it any code may call them. Their bodies are safe code.
///
/// Constant parameters stand in brackets after the generic ones. An attribute, such as `#[inline(never)]`, belongs to the
/// compiled function.
macro_rules! in_lanes {
    ($(
        $(#[$attribute:meta])*
        $visibility:vis fn $name:ident $(<$($generic:ident $(: $bound:path)?),+>)? $([$($constant:ident: $kind:ty),+])? (
            $lanes:ident: $token:ty $(, $argument:ident: $type:ty)* $(,)?
        ) $(-> $output:ty)? $body:block
    )*) => { $(
        $crate::backend::lanes::instructions::in_lanes! { @function
            [$(#[$attribute])*] [$visibility] $name [$($($generic $(: $bound)?,)+)? $($(const $constant: $kind),+)?]
            [$($($generic,)+)? $($($constant),+)?] ($lanes: $token, $($argument: $type),*) [$($output)?] $body
            ($lanes $(, $argument)*)
        }
    )* };
    (@function
        [$($attributes:tt)*] $visibility:tt $name:ident [$($generics:tt)*] $names:tt $arguments:tt $output:tt $body:block $call:tt
    ) => {
        $crate::backend::lanes::instructions::in_lanes! { @signature
            [#[inline(always)]] $visibility $name [$($generics)*] $arguments $output
            { $crate::backend::lanes::instructions::in_lanes! { @choose
                [$($attributes)*] [$($generics)*] $names $arguments $output $body $call
            } }
        }
    };
    (@signature
        [$($attributes:tt)*] [$($visibility:tt)*] $name:ident [$($generics:tt)*]
        ($($argument:ident: $type:ty),* $(,)?) [$($output:ty)?] $body:block
    ) => {
        $($attributes)*
        $($visibility)* fn $name<$($generics)*>($($argument: $type),*) $(-> $output)? $body
    };
    (@choose
        [$($attributes:tt)*] $generics:tt [$($names:tt)*]
        ($lanes:ident: $token:ty, $($arguments:tt)*) $output:tt $body:block ($($call:tt)*)
    ) => {{
        $crate::backend::lanes::instructions::in_lanes! { @signature
            [
                $($attributes)*
                #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
                #[target_feature(enable = "avx512f,avx512ifma")]
            ]
            [] avx512_ifma $generics
            // A body may have no use for the token.
            ($lanes: $token, $($arguments)*) $output { let _ = $lanes; $body }
        }
        $crate::backend::lanes::instructions::in_lanes! { @signature
            [
                $($attributes)*
                #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
                #[target_feature(enable = "avx512f,avx512vl")]
            ]
            [] avx512 $generics
            // A body may have no use for the token.
            ($lanes: $token, $($arguments)*) $output { let _ = $lanes; $body }
        }
        $crate::backend::lanes::instructions::in_lanes! { @signature
            [
                $($attributes)*
                #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
                #[target_feature(enable = "avx2,fma")]
            ]
            [] avx2_fma $generics
            // A body may have no use for the token.
            ($lanes: $token, $($arguments)*) $output { let _ = $lanes; $body }
        }
        $crate::backend::lanes::instructions::in_lanes! { @signature
            [$($attributes)*] [] baseline $generics
            // A body may have no use for the token.
            ($lanes: $token, $($arguments)*) $output { let _ = $lanes; $body }
        }
        match <$token as $crate::backend::lanes::instructions::Token>::INSTRUCTIONS {
            // SAFETY: a token exists, so the CPU has the instructions that the function enables. Apart from them it is safe.
            #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
            $crate::backend::lanes::instructions::AVX512_IFMA => unsafe { avx512_ifma::<$($names)*>($($call)*) },
            // SAFETY: as above.
            #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
            $crate::backend::lanes::instructions::AVX512 => unsafe { avx512::<$($names)*>($($call)*) },
            // SAFETY: as above.
            #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
            $crate::backend::lanes::instructions::AVX2_FMA => unsafe { avx2_fma::<$($names)*>($($call)*) },
            $crate::backend::lanes::instructions::BASELINE => baseline::<$($names)*>($($call)*),
            _ => unreachable!("a token names its instructions"),
        }
    }};
}
pub(crate) use in_lanes;
