//! Whether an aarch64 CPU has four pipes for vectors. The instructions are the same with two, and then take twice as long.

/// Whether lanes of doubles are faster than blst here: on every CPU of Apple, and where the number of the CPU's part, asked
/// once, is that of a Neoverse V. False if nobody knows.
pub(crate) fn has_four_pipes() -> bool {
    cfg!(target_vendor = "apple") || part().is_some_and(is_part_with_four_pipes)
}

/// Whether a value of MIDR_EL1 is that of such a CPU.
fn is_part_with_four_pipes(register: u64) -> bool {
    const APPLE: u64 = 0x61;
    const ARM: u64 = 0x41;
    // Neoverse V1, V2, V3AE and V3, as in Arm's manuals of these CPUs (MIDR_EL1, bits 15 to 4).
    const NEOVERSE_V: [u64; 4] = [0xd40, 0xd4f, 0xd83, 0xd84];
    let (implementer, part) = (register >> 24 & 0xff, register >> 4 & 0xfff);
    implementer == APPLE || implementer == ARM && NEOVERSE_V.contains(&part)
}

/// The register MIDR_EL1, if the system lets a program read it.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn part() -> Option<u64> {
    // SAFETY: the function reads what the system told the program when it started.
    let can_read = unsafe { libc::getauxval(libc::AT_HWCAP) } & libc::HWCAP_CPUID != 0;
    can_read.then(|| {
        let register;
        // SAFETY: a system that sets the flag answers the instruction in place of the CPU.
        unsafe { core::arch::asm!("mrs {}, midr_el1", out(reg) register, options(nomem, nostack, preserves_flags)) };
        register
    })
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn part() -> Option<u64> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_known_cpus() {
        // Neoverse V1 r1p1, V2 r0p0, V3 r0p1; Apple M1 and M2.
        for register in [0x411f_d401, 0x410f_d4f0, 0x410f_d841, 0x611f_0221, 0x611f_0321] {
            assert!(is_part_with_four_pipes(register), "{register:#x}");
        }
        // Neoverse N1 and N2, Cortex-A53, and an unknown maker with the part of a Neoverse V1.
        for register in [0x413f_d0c1, 0x410f_d490, 0x410f_d034, 0x421f_d401, 0] {
            assert!(!is_part_with_four_pipes(register), "{register:#x}");
        }
    }
}
