//! The rounding of the CPU. Kernels need the rounding to nearest, numbers below the normal ones and masked exceptions, as
//! Rust assumes. A caller from another language may have set something else, so each verb sets what it needs and restores
//! what it found. The flags that tell which exceptions have happened are left as arithmetic leaves them.

use self::register::{DEFAULT, FLAGS, get, set};

#[cfg(target_arch = "x86_64")]
mod register {
    use core::arch::asm;

    /// The register MXCSR.
    pub(crate) type Register = u32;

    /// The control and status register as a program finds it when it starts: rounding to nearest, all exceptions masked.
    pub(crate) const DEFAULT: Register = 0x1f80;
    /// The bits of the register that are flags of what has happened.
    pub(crate) const FLAGS: Register = 0x3f;

    pub(crate) fn get() -> Register {
        let mut register = 0;
        // SAFETY: every x86-64 CPU has the instruction, which writes four bytes.
        unsafe { asm!("stmxcsr [{}]", in(reg) &raw mut register, options(nostack, preserves_flags)) };
        register
    }

    pub(crate) fn set(register: Register) {
        // SAFETY: every x86-64 CPU has the instruction, which reads four bytes. The values are one that the register had and
        // the default, so no reserved bit is set. Rust assumes the default, so a register that holds something else holds it
        // against Rust's rules from the call of a foreign caller on; this sets the default, and gives back to that caller
        // what was its own.
        unsafe { asm!("ldmxcsr [{}]", in(reg) &raw const register, options(nostack)) };
    }
}

#[cfg(target_arch = "aarch64")]
mod register {
    use core::arch::asm;

    /// The register FPCR. The flags of what has happened stand in another one.
    pub(crate) type Register = u64;

    /// The control register as a program finds it when it starts: rounding to nearest, no exception traps.
    pub(crate) const DEFAULT: Register = 0;
    /// No bit of the register is a flag.
    pub(crate) const FLAGS: Register = 0;

    pub(crate) fn get() -> Register {
        let register;
        // SAFETY: every aarch64 CPU has the instruction, which reads a register of the CPU.
        unsafe { asm!("mrs {}, fpcr", out(reg) register, options(nomem, nostack, preserves_flags)) };
        register
    }

    pub(crate) fn set(register: Register) {
        // SAFETY: every aarch64 CPU has the instruction. The values are one that the register had and the default. What the
        // function of the same name says of Rust's rules for x86-64 holds here too.
        unsafe { asm!("msr fpcr, {}", in(reg) register, options(nostack)) };
    }
}

/// Restores the register, also if a verb panics.
struct Restored(register::Register);

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

#[cfg(test)]
pub(crate) mod tests {
    use super::{register::Register, *};

    /// All four roundings, with numbers below the normal ones flushed to zero and without; the results flushed alone, and
    /// the operands alone.
    #[cfg(target_arch = "x86_64")]
    pub(crate) const HOSTILE: [Register; 10] =
        [0x1f80, 0x3f80, 0x5f80, 0x7f80, 0x9fc0, 0xbfc0, 0xdfc0, 0xffc0, 0x9f80, 0x1fc0];

    /// All four roundings, with numbers below the normal ones flushed to zero and without, and one answer for all that is no
    /// number.
    #[cfg(target_arch = "aarch64")]
    pub(crate) const HOSTILE: [Register; 9] =
        [0, 1 << 22, 2 << 22, 3 << 22, 1 << 24, 5 << 22, 6 << 22, 7 << 22, 8 << 22];

    /// Does the work with a register that a caller set.
    pub(crate) fn with_register<R>(register: Register, work: impl FnOnce() -> R) -> R {
        let _restored = Restored(get());
        set(register);
        work()
    }

    /// What the register says but for the flags of what has happened.
    pub(crate) fn register() -> Register {
        without_flags(get())
    }

    /// A register of a test's list, without flags.
    pub(crate) fn without_flags(register: Register) -> Register {
        register & !FLAGS
    }

    /// A flag that was set or that the work raises is there afterwards, whatever the caller had set.
    #[test]
    #[cfg(target_arch = "x86_64")]
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
                assert_eq!(self::register(), without_flags(register));
                // Also if the work panics.
                assert!(std::panic::catch_unwind(|| to_nearest(|| panic!("in a verb"))).is_err());
                assert_eq!(self::register(), without_flags(register));
            });
        }
    }
}
