//! No text makes the readers of shared keys and of key shares panic, and what they read prints back the same.

use quorate::{Backend, Bls12381Suite, MinPk, MinSig};
use quorate_cli::secrets::share_file::ShareFile;
use quorate_threshold::{SharedKey, shared_key::suite_of_json};

pub fn run(bytes: &[u8]) {
    if let Ok(share) = ShareFile::parse(bytes) {
        let printed = share.to_json();
        let again = ShareFile::parse(&printed).expect("it was printed by us");
        assert_eq!(again.to_json(), printed);
    }
    // A committee of millions is as it should be, and takes a second.
    let value: serde_json::Value = serde_json::from_slice(bytes).unwrap_or_default();
    if value["participants"].as_u64().is_some_and(|participants| participants > 4096) {
        return;
    }
    let _ = suite_of_json(bytes);
    read::<MinPk>(bytes);
    read::<MinSig>(bytes);
}

fn read<S: Bls12381Suite>(bytes: &[u8]) {
    if let Ok(key) = SharedKey::<S>::from_json(bytes, Backend::auto()) {
        crate::accepted();
        assert_eq!(suite_of_json(bytes).expect("the key was read"), key.suite().any());
        let printed = key.to_json();
        let again = SharedKey::<S>::from_json(printed.as_bytes(), Backend::auto()).expect("it was printed by us");
        assert!(again == key && again.to_json() == printed);
    }
}
