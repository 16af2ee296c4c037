//! No keystore makes its reader panic; what is read is written and read again; a cheap one is tried with a passphrase. The same bytes as
//! the keystore of an account of Ethereum.

use quorate_cli::secrets::{
    keystore::{AccountKeystore, Kdf, Keystore},
    passphrase::Passphrase,
};

pub fn run(json: &[u8]) {
    if AccountKeystore::parse(json).is_ok() {
        crate::accepted();
    }
    let Ok(keystore) = Keystore::parse(json) else { return };
    crate::accepted();
    let again = Keystore::parse(keystore.to_json().as_bytes()).expect("what we write we read");
    assert_eq!(again.to_json(), keystore.to_json());
    let _ = keystore.key_path();
    let cheap = match keystore.kdf() {
        Kdf::Scrypt(scrypt) => scrypt.n() * u64::from(scrypt.r()) * u64::from(scrypt.p()) <= 1 << 10,
        Kdf::Pbkdf2(pbkdf2) => pbkdf2.iterations() <= 1 << 10,
        _ => false,
    };
    if cheap {
        let _ = keystore.decrypt(&Passphrase::new("passphrase".to_owned().into()), |_| None);
    }
}
