//! No key file makes the reader panic, and neither an error nor a debugger's view quotes it.

use quorate_cli::secrets::{
    jwk::JwkError,
    secret_source::{ReadSecretError, SecretSource, read_secret},
};

pub fn run(bytes: &[u8]) {
    let read = read_secret(bytes);
    if read.is_ok() {
        crate::accepted();
    }
    let said = match read {
        // A keystore's secret is encrypted; the names of its functions and its public parts may be shown.
        Ok(SecretSource::Keystore(_)) | Err(ReadSecretError::Keystore(_)) => return,
        // Neither is the name of a key's type, nor that of its curve.
        Err(ReadSecretError::Jwk(JwkError::KeyType { .. } | JwkError::Curve { .. })) => return,
        Ok(source) => format!("{source:?}"),
        Err(error) => error.to_string(),
    };
    // Sixteen digits in a row that stand in the file have no business in what is printed.
    let digits = bytes.split(|byte| !byte.is_ascii_hexdigit()).filter(|run| run.len() >= 16);
    for run in digits {
        let run = std::str::from_utf8(&run[..16]).expect("hexadecimal digits");
        assert!(!said.contains(run), "{said}");
    }
}
