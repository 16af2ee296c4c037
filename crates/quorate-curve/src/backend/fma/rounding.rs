//! The rounding of the CPU. Kernels need the rounding to nearest, numbers below the normal ones and masked exceptions, as
//! Rust assumes. A caller from another language may have set something else, so each verb sets what it needs and restores
//! what it found. The flags that tell which exceptions have happened are left as arithmetic leaves them.

use core::arch::asm;

/// The control and status register as a program finds it when it starts: rounding to nearest, all exceptions masked.
const DEFAULT: u32 = 0x1f80;
/// The bits of the register that are flags of what has happened.
const FLAGS: u32 = 0x3f;

/// Restores the register, also if a verb panics.
struct Restored(u32);

impl Drop for Restored {
    fn drop(&mut self) {
        set(self.0 | get() & FLAGS);
    }
}

/// Does the work with the default rounding.
pub(crate) fn to_nearest<R>(work: impl FnOnce() -> R) -> R {
    let found = get();
    if found & !FLAGS == DEFAULT {
        return work();
    }
    let _restored = Restored(found);
    set(DEFAULT | found & FLAGS);
    work()
}

fn get() -> u32 {
    let mut register = 0_u32;
    // SAFETY: every x86-64 CPU has the instruction, which writes four bytes.
    unsafe { asm!("stmxcsr [{}]", in(reg) &raw mut register, options(nostack, preserves_flags)) };
    register
}

fn set(register: u32) {
    // SAFETY: every x86-64 CPU has the instruction, which reads four bytes. The values are one that the register had and
    // the default, so no reserved bit is set. Rust assumes the default, so a register that holds something else holds it
    // against Rust's rules from the call of a foreign caller on; this sets the default, and gives back to that caller
    // what was its own.
    unsafe { asm!("ldmxcsr [{}]", in(reg) &raw const register, options(nostack)) };
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// All four roundings, with numbers below the normal ones flushed to zero and without; the results flushed alone, and
    /// the operands alone.
    pub(crate) const HOSTILE: [u32; 10] =
        [0x1f80, 0x3f80, 0x5f80, 0x7f80, 0x9fc0, 0xbfc0, 0xdfc0, 0xffc0, 0x9f80, 0x1fc0];

    /// Does the work with a register that a caller set.
    pub(crate) fn with_register<R>(register: u32, work: impl FnOnce() -> R) -> R {
        let _restored = Restored(get());
        set(register);
        work()
    }

    /// What the register says but for the flags of what has happened.
    pub(crate) fn register() -> u32 {
        get() & !FLAGS
    }

    /// A flag that was set or that the work raises is there afterwards, whatever the caller had set.
    #[test]
    fn flags_stay() {
        const INEXACT: u32 = 0x20;
        const DIVIDED_BY_ZERO: u32 = 0x04;
        for caller in HOSTILE {
            with_register(caller | DIVIDED_BY_ZERO, || {
                to_nearest(|| set(get() | INEXACT));
                assert_eq!(get() & FLAGS, INEXACT | DIVIDED_BY_ZERO, "{caller:#x}");
            });
        }
    }

    /// The work finds the default, and the caller finds its own again.
    #[test]
    fn rounding_is_set_and_restored() {
        for register in HOSTILE {
            with_register(register, || {
                assert_eq!(to_nearest(self::register), DEFAULT);
                assert_eq!(self::register(), register & !FLAGS);
                // Also if the work panics.
                assert!(std::panic::catch_unwind(|| to_nearest(|| panic!("in a verb"))).is_err());
                assert_eq!(self::register(), register & !FLAGS);
            });
        }
    }
}
