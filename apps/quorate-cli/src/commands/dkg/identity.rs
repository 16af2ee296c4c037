//! `quorate dkg identity`.

use std::path::PathBuf;

use clap::Args;
use quorate_host::exit::{Exit, Failure, Result};
use quorate_threshold::dkg::{ParticipantIdentity, ParticipantIdentityError};

use super::public_file;
use crate::{
    commands::{print, random},
    secrets::secret_file::{self, Existing, SecretFileError},
};

/// Make the keys with which you take part in ceremonies
///
/// Writes NAME.identity.json, which is secret (mode 0600), and NAME.member.json, which you give to whoever makes the ceremony.
/// Files that exist are left as they are. One identity may take part in many ceremonies. Prints the name of the second file.
#[derive(Debug, Args)]
#[command(before_long_help = EXAMPLES)]
pub(super) struct Arguments {
    /// What you are called: 1 to 40 letters, digits, `-`, `_` or `.`
    #[arg(value_name = "NAME")]
    name: String,

    /// Folder to write the files to
    #[arg(short, long, value_name = "DIR", default_value = ".")]
    out: PathBuf,
}

impl Arguments {
    pub(super) fn run(self) -> Result {
        let identity =
            ParticipantIdentity::generate(&self.name, &mut random::generator()?).map_err(|error| match error {
                ParticipantIdentityError::Name(_) => Failure::usage(error),
                _ => Failure::internal(error),
            })?;
        let file = |kind: &str| self.out.join(format!("{}.{kind}.json", identity.name()));
        let (secret, public) = (file("identity"), file("member"));
        for path in [&secret, &public] {
            if path.symlink_metadata().is_ok() {
                return Err(exists(path.clone()));
            }
        }
        secret_file::write(&secret, identity.to_json().as_bytes(), Existing::Refuse).map_err(|error| match error {
            SecretFileError::Exists { path } => exists(path),
            other => other.into(),
        })?;
        let member = serde_json::to_string_pretty(&identity.member()).map_err(Failure::internal)? + "\n";
        if !public_file::write_new(&public, member.as_bytes())? {
            return Err(exists(public));
        }
        print::note(format_args!("{} is secret: keep it, and make a backup", secret.display()));
        print::line(public.display())?;
        Ok(Exit::Success)
    }
}

fn exists(path: PathBuf) -> Failure {
    Failure::usage(anyhow::anyhow!(
        "{} exists already and is left as it is; choose another name, or another folder with --out",
        path.display()
    ))
}

const EXAMPLES: &str = "\
Examples:
  quorate dkg identity alice
  quorate dkg identity alice --out keys";
