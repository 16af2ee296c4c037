//! `quorate dkg identity`.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow};
use clap::Args;
use quorate_host::{
    exit::{Exit, Failure, Result},
    file::make_private_folder,
};
use quorate_threshold::dkg::{ParticipantIdentity, ParticipantIdentityError};

use super::{identity_file::IdentityFile, public_file};
use crate::{
    commands::{print, random},
    secrets::secret_file::{self, Existing, SecretFileError},
};

/// Make the keys with which you take part in ceremonies
///
/// Writes NAME.identity.json, which is secret (mode 0600), and NAME.member.json, which you give to whoever makes the ceremony.
/// Files that exist are left as they are. If NAME.member.json alone is missing, it is written anew for the identity that is there.
/// Prints the name of the second file.
///
/// One identity may take part in many ceremonies. But when a key of which you have a share is reshared or refreshed, take part with a new
/// identity with the same name in another folder, and delete the old one afterwards. With it, the messages or transcripts of the old
/// ceremony give your old share again, and old shares together still make the key. Guard an identity as you guard your share.
#[derive(Debug, Args)]
#[command(before_long_help = EXAMPLES)]
pub(super) struct Arguments {
    /// What you are called: 1 to 40 letters, digits, `-`, `_` or `.`
    #[arg(value_name = "NAME")]
    name: String,

    /// Folder to write the files to. It is made if it is not there
    #[arg(short, long, value_name = "DIR", default_value = ".")]
    out: PathBuf,

    /// Put a key for ceremonies in one round into NAME.member.json, too. An identity that is there gets a new file of this
    /// name, and stays as it is: move the old NAME.member.json away
    #[arg(long)]
    one_round: bool,
}

impl Arguments {
    pub(super) fn run(self) -> Result {
        let (secret, public) = (self.file("identity"), self.file("member"));
        let identity =
            ParticipantIdentity::generate(&self.name, &mut random::generator()?).map_err(|error| match error {
                ParticipantIdentityError::Name(_) => Failure::usage(error),
                _ => Failure::internal(error),
            })?;
        let is_there = |path: &Path| path.symlink_metadata().is_ok();
        match (is_there(&secret), is_there(&public)) {
            (true, false) => return self.write_member(&public, &IdentityFile::open(&secret)?.identity),
            (true, true) if self.one_round => {
                return Err(Failure::usage(anyhow!(
                    "{} exists already and is left as it is; move it away, and run the same command again, which writes it with a key for \
                     ceremonies in one round",
                    public.display()
                )));
            }
            (true, true) => return Err(exists(&secret)),
            (false, true) => return Err(exists(&public)),
            (false, false) => {}
        }
        let made = make_private_folder(&self.out);
        made.with_context(|| format!("cannot make the folder {}", self.out.display())).map_err(Failure::io)?;
        secret_file::write(&secret, identity.to_json().as_bytes(), Existing::Refuse).map_err(|error| match error {
            SecretFileError::Exists { path } => exists(&path),
            other => other.into(),
        })?;
        print::note(format_args!("{} is secret: keep it, and make a backup", secret.display()));
        self.write_member(&public, &identity)
    }

    fn write_member(&self, path: &Path, identity: &ParticipantIdentity) -> Result {
        let member = if self.one_round { identity.one_round_member() } else { identity.member() };
        let json = serde_json::to_string_pretty(&member).map_err(Failure::internal)? + "\n";
        if !public_file::write_new(path, json.as_bytes())? {
            return Err(exists(path));
        }
        print::line(path.display())?;
        Ok(Exit::Success)
    }

    fn file(&self, kind: &str) -> PathBuf {
        self.out.join(format!("{}.{kind}.json", self.name))
    }
}

fn exists(path: &Path) -> Failure {
    Failure::usage(anyhow!(
        "{} exists already and is left as it is; choose another name, or another folder with --out",
        path.display()
    ))
}

const EXAMPLES: &str = "\
Examples:
  quorate dkg identity alice
  quorate dkg identity alice --out new
  quorate dkg identity alice --one-round";
