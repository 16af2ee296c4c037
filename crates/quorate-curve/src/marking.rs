//! Where secrets become public, for the check of `make constant-time`.
//!
//! That check runs under valgrind's memcheck, which tracks every bit that was computed from memory without a value, and reports a branch
//! or an address that depends on one. Secrets are marked as such memory, so it reports what depends on a secret. A value that
//! everyone may know although it was computed from a secret, such as a signature, is declassified where it becomes public.
//!
//! Without the feature `marking`, which that check alone has, nothing is left of this. With it, and outside of valgrind, the marks
//! are a few instructions without effect.

/// The value, which everyone may know from here on.
#[inline(always)]
pub fn declassify<T: Copy>(value: T) -> T {
    #[cfg(feature = "marking")]
    {
        requests::mark(requests::MAKE_DEFINED, &value);
        // It is read from the memory that was marked.
        core::hint::black_box(value)
    }
    #[cfg(not(feature = "marking"))]
    value
}

#[cfg(feature = "marking")]
pub use requests::{classify, is_checked, is_secret, reports, use_adx};

/// Valgrind's client requests: a sequence of instructions that does nothing on a CPU, and that valgrind recognises.
///
/// The crate `crabgrind` has them, too, but it compiles C against valgrind's header files, so that the workspace could be built only
/// where valgrind is installed.
#[cfg(feature = "marking")]
mod requests {
    use core::arch::asm;

    const RUNNING_ON_VALGRIND: usize = 0x1001;
    const COUNT_ERRORS: usize = 0x1201;
    /// What memcheck answers begins with the letters MC.
    const MEMCHECK: usize = 0x4d43 << 16;
    const MAKE_UNDEFINED: usize = MEMCHECK + 1;
    pub(super) const MAKE_DEFINED: usize = MEMCHECK + 2;
    const GET_BITS: usize = MEMCHECK + 8;

    /// Marks the memory of a value as secret. What it points to is not marked.
    pub fn classify<T: ?Sized>(secret: &T) {
        mark(MAKE_UNDEFINED, secret);
    }

    /// Whether a bit of a value was computed from a secret, and not declassified.
    pub fn is_secret<T: ?Sized>(value: &T) -> bool {
        let (size, mut bits) = (size_of_val(value), alloc::vec![0_u8; size_of_val(value)]);
        request([GET_BITS, address(value), bits.as_mut_ptr().expose_provenance(), size, 0, 0]);
        bits.iter().any(|byte| *byte != 0)
    }

    /// Whether the program runs under valgrind, so that marks have an effect.
    pub fn is_checked() -> bool {
        request([RUNNING_ON_VALGRIND, 0, 0, 0, 0, 0]) != 0
    }

    /// How many times something depended on a secret until now.
    pub fn reports() -> usize {
        request([COUNT_ERRORS, 0, 0, 0, 0, 0])
    }

    /// Chooses between the two forms of blst's arithmetic on x86-64: with the instructions ADX, and without. blst chooses when it starts,
    /// by what the CPU has, and valgrind's CPU never has them. Whether it was the other one before.
    pub fn use_adx(is_used: bool) -> bool {
        #[cfg(target_arch = "x86_64")]
        {
            unsafe extern "C" {
                static mut __blst_platform_cap: core::ffi::c_int;
            }
            // SAFETY: an integer of blst, which it writes when the program starts and then only reads. The check has one thread.
            unsafe {
                let before = __blst_platform_cap;
                __blst_platform_cap = before & !1 | core::ffi::c_int::from(is_used);
                __blst_platform_cap != before
            }
        }
        #[cfg(not(target_arch = "x86_64"))]
        {
            let _ = is_used;
            false
        }
    }

    pub(super) fn mark<T: ?Sized>(what: usize, value: &T) {
        request([what, address(value), size_of_val(value), 0, 0, 0]);
    }

    fn address<T: ?Sized>(value: &T) -> usize {
        (&raw const *value).cast::<u8>().expose_provenance()
    }

    /// The instructions that valgrind.h gives for each CPU. Outside of valgrind the answer is zero.
    fn request(arguments: [usize; 6]) -> usize {
        let mut answer = 0_usize;
        #[cfg(target_arch = "x86_64")]
        // SAFETY: rotating by 128 bits in all and exchanging a register with itself changes nothing but flags. Valgrind reads the
        // arguments, and writes into a buffer only for `GET_BITS`, which has the size of the value.
        unsafe {
            asm!(
                "rol rdi, 3", "rol rdi, 13", "rol rdi, 61", "rol rdi, 51", "xchg rbx, rbx",
                in("rax") arguments.as_ptr(), inout("rdx") answer, options(nostack),
            );
        }
        #[cfg(target_arch = "aarch64")]
        // SAFETY: as above.
        unsafe {
            asm!(
                "ror x12, x12, #3", "ror x12, x12, #13", "ror x12, x12, #51", "ror x12, x12, #61", "orr x10, x10, x10",
                in("x4") arguments.as_ptr(), inout("x3") answer, options(nostack),
            );
        }
        answer
    }
}
