//! What the system says about the CPU.

use std::{fs, process::Command};

/// The text of `/proc/cpuinfo`; empty where there is none.
pub(crate) fn info() -> String {
    fs::read_to_string("/proc/cpuinfo").unwrap_or_default()
}

/// The first value of a field of such a text; empty if no CPU has the field.
pub(crate) fn field<'a>(info: &'a str, name: &'static str) -> &'a str {
    fields(info, name).next().unwrap_or_default()
}

fn fields<'a>(info: &'a str, name: &'static str) -> impl Iterator<Item = &'a str> {
    let fields = info.lines().filter_map(|line| line.split_once(':'));
    fields.filter(move |(key, _)| key.trim() == name).map(|(_, value)| value.trim())
}

/// The name of this machine's CPU. `None` if the system does not say it: then records of two machines cannot be told apart.
pub(crate) fn name() -> Option<String> {
    named(&info()).or_else(brand)
}

/// On ARM, Linux has numbers in place of a name: who made the CPU, and of which kinds its cores are.
fn named(info: &str) -> Option<String> {
    let name = field(info, "model name");
    if !name.is_empty() {
        return Some(name.to_owned());
    }
    let mut numbers: Vec<&str> = Vec::new();
    for number in fields(info, "CPU implementer").chain(fields(info, "CPU part")) {
        if !numbers.contains(&number) {
            numbers.push(number);
        }
    }
    (!numbers.is_empty()).then(|| format!("ARM {}", numbers.join(" ")))
}

/// What macOS calls it.
fn brand() -> Option<String> {
    if !cfg!(target_os = "macos") {
        return None;
    }
    let told = Command::new("sysctl").args(["-n", "machdep.cpu.brand_string"]).output().ok()?;
    let brand = String::from_utf8_lossy(&told.stdout).trim().to_owned();
    (told.status.success() && !brand.is_empty()).then_some(brand)
}

/// The features of this machine's CPU by which engines choose their code. Every ARM CPU of 64 bits has `neon`.
pub(crate) fn features(info: &str) -> Vec<String> {
    let present = field(info, "flags");
    let wanted = ["adx", "bmi2", "avx2", "avx512f", "avx512ifma"];
    let found = wanted.into_iter().filter(|feature| present.split_whitespace().any(|flag| flag == *feature));
    found.chain(cfg!(target_arch = "aarch64").then_some("neon")).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A core of ARM as Linux describes it.
    fn core(part: &str) -> String {
        format!(
            "processor\t: 0\nBogoMIPS\t: 243.75\nFeatures\t: fp asimd evtstrm aes pmull sha1 sha2 crc32 atomics\n\
             CPU implementer\t: 0x41\nCPU architecture: 8\nCPU variant\t: 0x3\nCPU part\t: {part}\nCPU revision\t: 1\n\n"
        )
    }

    #[test]
    fn an_arm_cpu_has_a_name_of_its_own() {
        let server = core("0xd0c").repeat(4);
        let board = core("0xd05").repeat(4) + &core("0xd0b").repeat(2);
        assert_eq!(named(&server).as_deref(), Some("ARM 0x41 0xd0c"));
        assert_eq!(named(&board).as_deref(), Some("ARM 0x41 0xd05 0xd0b"));
        let named_as_well = format!("model name\t: Cortex-A72\n{server}");
        assert_eq!(named(&named_as_well).as_deref(), Some("Cortex-A72"));
        assert_eq!([named(""), named("model name\t:\nflags\t: adx\n")], [None, None]);
    }

    #[test]
    fn features_are_whole_words() {
        let found = features("flags\t\t: fpu bmi2 avx512f_x adx\n");
        assert_eq!(found.iter().filter(|feature| *feature != "neon").collect::<Vec<_>>(), ["adx", "bmi2"]);
    }
}
