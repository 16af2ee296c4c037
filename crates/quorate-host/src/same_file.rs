//! Whether two paths or open files are the same file, whatever they are called.

use std::fs::Metadata;
#[cfg(feature = "manual")]
use std::{fs, path::Path};

#[cfg(feature = "manual")]
use anyhow::anyhow;

#[cfg(feature = "manual")]
use crate::{dash::is_dash, exit::Failure};

/// Whether two files are one. On other systems than Unix nothing tells, and they count as two.
pub fn is_same(one: &Metadata, other: &Metadata) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        (one.dev(), one.ino()) == (other.dev(), other.ino())
    }
    #[cfg(not(unix))]
    {
        let _ = (one, other);
        false
    }
}

/// Refuses to replace a file from which something is read: it may be the only copy. The input `-` is standard input.
///
/// # Errors
/// Exit code 2.
#[cfg(feature = "manual")]
pub fn refuse_an_output_that_is_an_input(
    output: &Path,
    inputs: impl IntoIterator<Item = impl AsRef<Path>>,
) -> Result<(), Failure> {
    // Nothing is replaced where nothing is.
    let Ok(replaced) = fs::metadata(output) else { return Ok(()) };
    let is_replaced = |input: &Path| {
        let input = if is_dash(input) { Path::new("/dev/fd/0") } else { input };
        fs::metadata(input).is_ok_and(|input| is_same(&replaced, &input))
    };
    if replaced.is_file() && inputs.into_iter().any(|input| is_replaced(input.as_ref())) {
        return Err(Failure::usage(anyhow!(
            "{} is also an input, so it is not replaced; name another file",
            output.display()
        )));
    }
    Ok(())
}

#[cfg(all(test, unix, feature = "manual"))]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn an_input_is_known_under_every_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("input"), "").unwrap();
        fs::write(path("other"), "").unwrap();
        symlink(path("input"), path("link")).unwrap();
        fs::hard_link(path("input"), path("second name")).unwrap();
        let refused = |output: &str, inputs: &[&str]| {
            refuse_an_output_that_is_an_input(&path(output), inputs.iter().copied().map(&path)).is_err()
        };
        for (one, other) in [("input", "input"), ("link", "input"), ("input", "link"), ("second name", "input")] {
            assert!(refused(one, &["absent", "other", other]), "{one} {other}");
        }
        assert!(!refused("absent", &["absent"]) && !refused("input", &["other"]) && !refused("input", &[]));
        let device = Path::new("/dev/null");
        assert!(refuse_an_output_that_is_an_input(device, [device]).is_ok(), "nothing is lost of a device");
    }
}
