//! Secret keys in files: what the command line reads and writes, and does not print.
//!
//! ```text
//! file -> secret_file -> secret_source -> Plain | Keystore | Jwk -> Secret
//!                                                   ^ passphrase
//! ```

// The 32 bytes themselves: wiped, redacted, compared in constant time.
pub mod secret;

// `m/12381/3600/0/0/0`: the place of a key in a key tree (EIP-2334).
pub mod key_path;

// A passphrase, and the places it may come from.
pub mod passphrase;

// Words that stand for the seed of a key tree (BIP-39).
pub mod mnemonic;

// Passphrase-encrypted keys (EIP-2335, version 4).
pub mod keystore;

// JSON Web Keys of the COSE BLS draft.
pub mod jwk;

// Reads every format: hexadecimal digits, keystore, JSON Web Key.
pub mod secret_source;

// Key files on disk: readable by their owner alone, and not overwritten by accident.
pub mod secret_file;

// Folders of key files, which appear whole or not at all.
pub mod secret_folder;

// A participant's share of a key.
pub mod share_file;

// Hexadecimal digits of secrets, in constant time.
pub(crate) mod hex;

// Published keystores and keys, if the data is present.
#[cfg(test)]
mod vectors;
