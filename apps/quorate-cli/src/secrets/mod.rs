//! Secret keys in files: what the command line reads and writes, and does not print.
//!
//! ```text
//! file -> secret_file -> secret_source -> Plain | Keystore | Jwk -> Secret
//!                                                   ^ passphrase
//! ```

// What the signer uses too: the 32 bytes themselves, the place of a key in a key tree (EIP-2334), passphrase-encrypted keys
// (EIP-2335), key files on disk, and hexadecimal digits of secrets.
pub use quorate_keystore::{hex, key_path, keystore, secret, secret_file};

// What happens when a signal ends the program.
mod at_signal;

// A passphrase, and the places it may come from.
pub mod passphrase;

// Words that stand for the seed of a key tree (BIP-39).
pub mod mnemonic;

// JSON Web Keys of the COSE BLS draft.
pub mod jwk;

// Reads every format: hexadecimal digits, keystore, JSON Web Key.
pub mod secret_source;

// Folders of key files, which appear whole or not at all.
pub mod secret_folder;

// A participant's share of a key.
pub mod share_file;

// Published keystores and keys, if the data is present.
