//! Key files that other programs and other systems write: keystores without `path`, byte order marks, passphrases that were
//! normalised otherwise, and files that are no key.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::fs;

use quorate_lab::run::{Ran, Run as _, command};
use serde_json::{Value, json};
use tempfile::TempDir;

const PUBLIC_KEY: &str =
    "9612d7a727c9d0a22e185a1c768478dfe919cada9266988cb32359c11f2b7b27f4ae4040902382ae2910c15e2b420d07";

/// EIP-2335's example secret in a keystore that opens fast, by `correct horse` or what stands in its place.
fn keystore(checksum: &str, ciphertext: &str) -> Value {
    let salt: String = (0..32).map(|byte| format!("{byte:02x}")).collect();
    let kdf = json!({"dklen": 32, "n": 16, "p": 1, "r": 8, "salt": salt});
    json!({
        "crypto": {
            "kdf": {"function": "scrypt", "params": kdf, "message": ""},
            "checksum": {"function": "sha256", "params": {}, "message": checksum},
            "cipher": {"function": "aes-128-ctr", "params": {"iv": &salt[..32]}, "message": ciphertext},
        },
        "pubkey": PUBLIC_KEY,
        "uuid": "1d85ae20-35c5-4611-98e8-aa14a633906f",
        "path": "m/12381/3600/0/0/0",
        "version": 4,
    })
}

fn plain() -> Value {
    keystore(
        "a0d30a7f6a611e44aef9359c1b5d77358296b0ca479af9f1e7abac6ca8e288c7",
        "2b8d7f574409502d37e4a3656fe7f3122fa35ccbf81c54c989163aab29e54c9d",
    )
}

/// Under the passphrase `contraseña-ü-é`, as go-eth2-wallet-encryptor-keystorev4 1.1.3 takes it.
fn without_marks() -> Value {
    keystore(
        "03ca6c3ff950bda8714734968124824ce98790e748ff98cc4ebdafd4ed432de6",
        "4ef628c13648b32b0ece8828c86e0f388a169467f96fc7d8d2cb0f60c1454d78",
    )
}

struct Room(TempDir);

impl Room {
    fn new() -> Self {
        let room = Self(tempfile::tempdir().unwrap());
        room.write("pw", b"correct horse\n");
        room
    }

    fn write(&self, name: &str, bytes: &[u8]) {
        let path = self.0.path().join(name);
        fs::write(&path, bytes).unwrap();
        #[cfg(unix)]
        fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    }

    fn run(&self, arguments: &[&str]) -> Ran {
        command("quorate").args(arguments).current_dir(self.0.path()).ran()
    }

    /// `key show --check` of a key file: what it says.
    fn check(&self, code: i32, file: &[u8], passphrase_file: &str) -> String {
        self.write("key", file);
        let check = ["key", "show", "--suite", "eth2", "--check", "--passphrase-file", passphrase_file, "key"];
        let text = self.run(&check).exits(code).all();
        assert_eq!(text.contains(PUBLIC_KEY), code == 0, "{text}");
        text
    }
}

#[test]
fn keystores_without_path_or_uuid_are_read_and_written_whole() {
    let room = Room::new();
    for field in ["path", "uuid", "description"] {
        for value in [None, Some(Value::Null), Some(json!(""))] {
            let mut file = plain();
            file["name"] = json!("a name");
            match value {
                Some(value) => file[field] = value,
                None => drop(file.as_object_mut().unwrap().remove(field)),
            }
            room.check(0, file.to_string().as_bytes(), "pw");
        }
    }
    let mut file = plain();
    file.as_object_mut().unwrap().retain(|name, _| name != "path" && name != "uuid");
    room.write("key", file.to_string().as_bytes());
    let import =
        "key import --suite eth2 --keystore --kdf pbkdf2 --passphrase-file pw --from-passphrase-file pw --out new key";
    room.run(&import.split(' ').collect::<Vec<_>>()).exits(0);
    let written: Value = serde_json::from_slice(&fs::read(room.0.path().join("new")).unwrap()).unwrap();
    assert_eq!((written["path"].as_str(), written["uuid"].as_str().map(str::len)), (Some(""), Some(36)));
}

#[test]
fn byte_order_marks_of_windows() {
    let room = Room::new();
    let marked = |text: &str| format!("\u{feff}{text}").into_bytes();
    let utf_16 = |text: &str| format!("\u{feff}{text}").encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<_>>();
    room.write("pw-bom", &marked("correct horse\r\n"));
    room.write("pw-16", &utf_16("correct horse\r\n"));
    let text = plain().to_string();
    room.check(0, &marked(&text), "pw");
    room.check(0, text.as_bytes(), "pw-bom");
    assert!(room.check(2, text.as_bytes(), "pw-16").contains("UTF-16"));
    assert!(room.check(2, &utf_16(&text), "pw").contains("UTF-16"));
    let digits = "000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f\r\n";
    room.write("plain", &marked(digits));
    let ran = room.run(&["key", "show", "--suite", "eth2", "--check", "plain"]).exits(0);
    assert!(ran.out.contains(PUBLIC_KEY), "{ran:?}");
}

#[test]
fn a_passphrase_that_an_older_program_normalised_otherwise() {
    let room = Room::new();
    let text = without_marks().to_string();
    room.write("pw-marks", "contrase\u{f1}a-\u{fc}-\u{e9}\n".as_bytes());
    room.write("pw-other", "contrase\u{f1}o\n".as_bytes());
    assert!(room.check(0, text.as_bytes(), "pw-marks").contains("ethdo before 1.4.1, go-ssv"));
    assert!(room.check(2, text.as_bytes(), "pw-other").contains("wrong passphrase"));
    assert!(!room.check(0, plain().to_string().as_bytes(), "pw").contains("warning"));
}

#[test]
fn files_that_are_no_key_are_named_as_what_they_are() {
    let room = Room::new();
    let list = format!("[{}]", plain());
    for (file, named) in [
        (list.as_bytes(), "the key file is a list"),
        (b"-----BEGIN EC PRIVATE KEY-----\nMHcCAQEEIA==\n-----END EC PRIVATE KEY-----\n", "the key file is PEM"),
        (&[0x8f; 32], "32 raw bytes"),
        (&[0x8f; 48], "48 bytes that are no text"),
        (b"hello world\n", "the key file is other text"),
        (b"{\"a\": 1}", "neither a keystore"),
        (b"0102\n", "found 4 hexadecimal digits, expected 64"),
    ] {
        assert!(room.check(2, file, "pw").contains(named), "{named}");
    }
}
