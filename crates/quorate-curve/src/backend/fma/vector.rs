//! The vectors, which can only be made from the tokens [`Avx2`], [`Avx512`] and [`Neon`].
//!
//! **Why the whole backend is safe.** `detect` makes a token if the CPU and the operating system have the instructions,
//! and nothing else makes one. Every vector is made from a token or from another vector, and every [`Word`] from a
//! vector or another word. So a function that has one of them runs only where the instructions exist, and may use them.
//! This file and those of the instructions turn that into safe functions: the methods of vectors and words are a few
//! instructions each, and [`in_lanes!`] defines functions that are compiled with the instructions and take the token.
//!
//! [`Avx2`]: crate::Backend
//! [`Avx512`]: crate::Backend
//! [`Neon`]: crate::Backend
//! [`in_lanes!`]: crate::backend::lanes::instructions

use core::{arch::asm, mem::MaybeUninit};

use super::word::Word;
use crate::backend::lanes::{
    field::{LANES, Mask},
    instructions::Token,
    unroll::limbs_of,
};

/// Eight doubles, one in each lane, in as many registers as they need.
///
/// The methods are always inlined, so that they become instructions inside functions that are compiled for the token.
pub trait Vector: Copy {
    /// The proof that the CPU has the instructions.
    type Token: Token;
    /// One register.
    type Word: Word;
    /// The number of registers.
    const PARTS: usize;

    /// The same number in every lane.
    fn splat(token: Self::Token, n: f64) -> Self;
    /// A number for each lane.
    fn load(token: Self::Token, numbers: &[f64; LANES]) -> Self;
    /// The number of each lane.
    fn store(self) -> [f64; LANES];
    /// The token that the vector was made from.
    fn token(self) -> Self::Token;
    /// One register of the vector.
    fn part(&self, part: usize) -> Self::Word;
    /// Replaces one register of the vector.
    fn put_part(&mut self, part: usize, word: Self::Word);

    /// The sum, if it is below 2^53.
    fn plus(self, other: Self) -> Self;
    /// The difference, if it is below 2^53.
    fn minus(self, other: Self) -> Self;
    /// The number of `self` in the lanes of the mask, that of `other` elsewhere.
    fn in_mask(self, mask: Mask, other: Self) -> Self;
    /// The lanes in which the number is zero.
    fn is_zero(self) -> Mask;

    /// Lane i takes the number of lane `from[i]`.
    #[inline(always)]
    fn permuted(self, from: [i64; LANES]) -> Self {
        let numbers = self.store();
        Self::load(self.token(), &limbs_of!(I < 8 => numbers[from[I] as usize & 7]))
    }
    /// Lane i takes the number of lane `from[i]` of `self`, or of lane `from[i]` - 8 of `other`.
    #[inline(always)]
    fn gathered(self, other: Self, from: [i64; LANES]) -> Self {
        let numbers = [self.store(), other.store()];
        Self::load(self.token(), &limbs_of!(I < 8 => numbers[from[I] as usize >> 3 & 1][from[I] as usize & 7]))
    }
    /// Lane j of vector i takes number i of row j.
    fn of_rows(token: Self::Token, rows: &[&[f64; LANES]; LANES]) -> [Self; LANES];
    /// Row j gets its number i from lane j of vector i.
    fn to_rows(vectors: &[Self; LANES]) -> [[f64; LANES]; LANES];
    /// Vectors of which a function gives the words of each register.
    #[inline(always)]
    fn by_parts<const N: usize, const M: usize>(words: impl Fn(usize) -> [[Self::Word; N]; M]) -> [[Self; N]; M] {
        let mut out = MaybeUninit::<[[Self; N]; M]>::uninit();
        for part in 0..Self::PARTS {
            for (i, words) in words(part).into_iter().enumerate() {
                for (j, word) in words.into_iter().enumerate() {
                    let vector = out.as_mut_ptr().cast::<Self>().wrapping_add(N * i + j);
                    // SAFETY: a vector is as many words, one after another, as it has parts, and there are M·N of them.
                    unsafe { vector.cast::<Self::Word>().add(part).write(word) };
                }
            }
        }
        // SAFETY: every part of every vector is written.
        unsafe { out.assume_init() }
    }

    /// The limbs, from 0 to 2^48 - 1, of a number of 384 bits in each lane, given as words of 64 bits from the lowest.
    fn limbs_of_words(token: Self::Token, words: &[[u64; LANES]; 6]) -> [Self; 8];
}

/// Defines a token, and what detects its instructions.
macro_rules! token {
    ($token:ident: $requirement:literal, $detected:expr) => {
        #[doc = concat!("Proof that this CPU has ", $requirement, ", and that the operating system keeps their registers. Only")]
        /// [`detect`](Self::detect) makes one.
        ///
        /// `C` is the curve whose numbers are in the lanes.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub struct $token<C = Bls12381>(PhantomData<C>);

        impl $token {
            #[doc = concat!("Asks the CPU once. The answer is `None` without ", $requirement, ".")]
            pub fn detect() -> Option<Self> {
                $detected.then_some(Self(PhantomData))
            }

            /// The token as a constant.
            ///
            /// # Safety
            /// Use the constant only after [`detect`](Self::detect) has found the instructions.
            pub(in crate::backend) const unsafe fn assume() -> Self {
                Self(PhantomData)
            }
        }

        #[cfg(feature = "bn254")]
        impl<C> $token<C> {
            /// The same proof for numbers of another curve.
            #[inline(always)]
            pub(crate) fn on<D>(self) -> $token<D> {
                $token(PhantomData)
            }
        }
    };
}
pub(super) use token;

/// Defines the token of the lower four of eight lanes, with the instructions of another token.
macro_rules! half {
    ($half:ident of $token:ident) => {
        #[doc = concat!("Proof of the same instructions as [`", stringify!($token), "`], for the lower four of eight lanes.")]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub struct $half<C = Bls12381>($token<C>);

        impl<C> $token<C> {
            /// The token of four lanes.
            pub(crate) fn half(self) -> $half<C> {
                $half(self)
            }
        }

        #[cfg(feature = "bn254")]
        impl<C> $half<C> {
            /// The same proof for numbers of another curve.
            #[inline(always)]
            pub(crate) fn on<D>(self) -> $half<D> {
                $half(self.0.on())
            }
        }
    };
}
pub(super) use half;

/// Defines a register, and the instructions of its steps.
macro_rules! word {
    (
        $(#[$doc:meta])*
        $word:ident($register:ident, $class:ident as $format:literal, $lanes:literal, $features:literal) {
            $set:ident $add:ident $sub:ident $add_mul:ident $sub_mul:ident $within:ident $constants:ident
        }
    ) => {
        $(#[$doc])*
        #[derive(Clone, Copy)]
        #[repr(transparent)]
        pub struct $word($register);

        impl $word {
            #[inline(always)]
            fn of(numbers: &[f64; $lanes]) -> Self {
                // SAFETY: doubles are the bits of a register.
                Self(unsafe { transmute::<[f64; $lanes], $register>(*numbers) })
            }

            #[inline(always)]
            fn numbers(self) -> [f64; $lanes] {
                // SAFETY: a register is the bits of doubles.
                unsafe { transmute::<$register, [f64; $lanes]>(self.0) }
            }
        }

        impl Fused for $word {
            #[inline(always)]
            fn set(self, n: f64) -> Self {
                // SAFETY: a word exists, so the CPU has the instruction. The same holds below.
                Self(unsafe { $set(n) })
            }
            #[inline(always)]
            fn load(self, n: &Repeat) -> Self {
                let numbers = n.lanes().first_chunk().expect("a register has no more lanes than there are");
                Self::of(numbers)
            }
            #[inline(always)]
            fn constants<T>(constants: &T) -> &T {
                $constants(constants)
            }
            #[inline(always)]
            fn add(self, other: Self) -> Self {
                // SAFETY: as above.
                Self(unsafe { $add(self.0, other.0) })
            }
            #[inline(always)]
            fn sub(self, other: Self) -> Self {
                // SAFETY: as above.
                Self(unsafe { $sub(self.0, other.0) })
            }
            #[inline(always)]
            fn add_mul(self, a: Self, b: Self) -> Self {
                // SAFETY: as above.
                Self(unsafe { $add_mul(a.0, b.0, self.0) })
            }
            #[inline(always)]
            fn sub_mul(self, a: Self, b: Self) -> Self {
                // SAFETY: as above.
                Self(unsafe { $sub_mul(a.0, b.0, self.0) })
            }
            #[inline(always)]
            fn add_mul_rounded(self, a: Self, b: Self) -> Self {
                self.add_mul(a, b)
            }
            #[inline(always)]
            fn sub_mul_rounded(self, a: Self, b: Self) -> Self {
                self.sub_mul(a, b)
            }
            #[inline(always)]
            fn pinned(self) -> Self {
                #[inline]
                #[target_feature(enable = $features)]
                fn pin(mut register: $register) -> $register {
                    // SAFETY: there is no instruction.
                    unsafe { asm!($format, inout($class) register, options(nomem, nostack, preserves_flags)) };
                    register
                }
                // SAFETY: as above.
                Self(unsafe { pin(self.0) })
            }
            #[inline(always)]
            fn is_within(self, least: f64, most: f64) -> bool {
                let (least, most) = (self.set(least), self.set(most));
                // SAFETY: as above.
                unsafe { $within(self.0, least.0, most.0) }
            }
        }
    };
}
pub(super) use word;

/// Aligns the stack of the function that it is inlined into, so that registers are spilled to whole lines of the cache.
/// Otherwise the compiler relies on an alignment of 16 bytes alone. On a Zen 4 a product in Fp2 with AVX2 then takes 4 to 33
/// percent longer, which depends on where the stack happens to lie.
#[inline(always)]
pub(crate) fn align_stack() {
    // Without a byte it would have no place on the stack.
    #[repr(align(64))]
    struct Line {
        #[allow(dead_code, reason = "only its place counts")]
        byte: MaybeUninit<u8>,
    }
    let line = Line { byte: MaybeUninit::uninit() };
    // SAFETY: there is no instruction.
    unsafe { asm!("/* {0} */", in(reg) &raw const line, options(nostack, preserves_flags)) };
}

/// Constants that the compiler does not recognise: it loads them.
#[inline(always)]
#[allow(clippy::pointers_in_nomem_asm_block, reason = "without an instruction nothing is read or written")]
pub(super) fn unseen<T>(constants: &T) -> &T {
    let mut out: *const T = constants;
    // SAFETY: there is no instruction.
    unsafe { asm!("/* {0} */", inout(reg) out, options(nomem, nostack, preserves_flags)) };
    // SAFETY: it is the reference.
    unsafe { &*out }
}
