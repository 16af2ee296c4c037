//! `quorate evm key`.

use clap::Args;
use quorate_evm::{KeyGroup, OperatorKey, alloy_primitives::Bytes};
use quorate_host::exit::{Exit, Result};
use serde::Serialize;
use zeroize::Zeroizing;

use super::operator::{KeyGroupArgument, stated_by};
use crate::{
    commands::{
        key::store::{Destination, Provenance, WrittenFile},
        print, random,
    },
    secrets::secret::Secret,
};

/// Make the secret key of an operator and print its public key
///
/// Uses random bytes of the operating system: on BLS12-381 by KeyGen of the IETF draft (section 2.3), on BN254 modulo the
/// group order. The public key is printed as the contract keeps it. For bn254-g1 a second line has the key in both groups, as
/// a network's file lists it; on BLS12-381 it has the 96 compressed bytes that other libraries read. A key of bls12381-g2 is
/// one of the suite BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_RO_POP_, which the commands `quorate key` and `quorate sign` know.
/// bls12381-g2-nu has the same keys, but its signatures are under the nonuniform suite, which those commands do not know. They
/// read a key of bn254-g1 in the suite eigenlayer, and one of bn254-g2 in the other suites on BN254.
#[derive(Debug, Args)]
#[command(before_long_help = EXAMPLES)]
pub(super) struct Arguments {
    #[command(flatten)]
    key_group: KeyGroupArgument,

    #[command(flatten)]
    destination: Destination,
}

/// What `--json` prints.
#[derive(Serialize)]
struct Made {
    key_group: KeyGroup,
    /// The key as the contract keeps it.
    key: Bytes,
    /// The key as [`Network::keys`](quorate_evm::Network::keys) has it.
    member: Bytes,
    #[serde(skip_serializing_if = "Option::is_none")]
    compressed: Option<Bytes>,
    #[serde(flatten)]
    file: WrittenFile,
}

impl Arguments {
    /// Runs the command.
    ///
    /// # Errors
    /// The command line is wrong, or writing fails.
    pub(super) fn run(self) -> Result {
        let KeyGroupArgument { key_group } = self.key_group;
        let passphrase = self.destination.check([])?;
        let mut entropy = Zeroizing::new([0; 48]);
        entropy[..32].copy_from_slice(random::secret_bytes()?.as_slice());
        entropy[32..].copy_from_slice(&random::secret_bytes()?[..16]);
        let operator = OperatorKey::from_entropy(key_group, &entropy);

        let secret = Secret::new(operator.to_bytes());
        let written = self.destination.write(&secret, &stated_by(&operator), Provenance::default(), &passphrase)?;
        let member = operator.member();
        let (key, compressed) = (member.slice(..key_group.key_bytes()), operator.compressed());
        match written {
            None => {
                for line in lines(&key, &member, compressed.as_ref()) {
                    print::note(line);
                }
            }
            Some(file) if self.destination.json => print::json(&Made { key_group, key, member, compressed, file })?,
            Some(_) => {
                for line in lines(&key, &member, compressed.as_ref()) {
                    print::line(line)?;
                }
            }
        }
        Ok(Exit::Success)
    }
}

fn lines(key: &Bytes, member: &Bytes, compressed: Option<&Bytes>) -> Vec<String> {
    let mut lines = vec![format!("key        {key}")];
    if member != key {
        lines.push(format!("member     {member}"));
    }
    lines.extend(compressed.map(|compressed| format!("compressed {compressed}")));
    lines
}

const EXAMPLES: &str = "\
Examples:
  quorate evm key --key-group bls12381-g2 --keystore --out operator.json
  quorate evm key --key-group bn254-g2 --keystore --passphrase-file p \\
      --out operator.json --json";
