//! The key that a ceremony shares anew, or of which it recovers a share, and who has its shares.

use std::path::PathBuf;

use anyhow::anyhow;
use clap::Args;
use quorate::{Backend, Bls12381Suite};
use quorate_host::exit::Failure;
use quorate_threshold::{SharedKey, dkg::CeremonyMember};

use super::{
    folder::CeremonyFile,
    members::{self, Holder, NamedShares, holder},
};
use crate::commands::{print, shared_key::SharedKeyFile, suite::Bls12381Argument};

/// Where the key comes from.
#[derive(Clone, Debug, Args)]
pub(super) struct PreviousArguments {
    /// Folder of the ceremony that made the key, with ceremony.json and shared-key.json
    #[arg(long, value_name = "OLD_FOLDER", conflicts_with = "shared_key", required_unless_present = "shared_key")]
    previous: Option<PathBuf>,

    /// In place of --previous, for a key that `quorate threshold split` made: its shared-key.json; `-` means standard input
    #[arg(long, value_name = "FILE", requires = "holders")]
    shared_key: Option<PathBuf>,

    /// With --shared-key: who has which share, such as alice=3; repeat it for each. Several shares of one member must be neighbours
    #[arg(long = "holder", value_name = "NAME=INDEX", value_parser = holder, requires = "shared_key", conflicts_with = "previous")]
    holders: Vec<Holder>,
}

/// The files, whose suite is known.
pub(super) struct PreviousFiles {
    shared_key: SharedKeyFile,
    /// The ceremony that made the key.
    ceremony: Option<CeremonyFile>,
    holders: Vec<Holder>,
}

/// A key, and who has its shares.
pub(super) struct Previous<S: Bls12381Suite> {
    pub(super) key: SharedKey<S>,
    /// Who has which shares, in the order of their indices.
    pub(super) holders: Vec<NamedShares>,
    /// The holders and all others of whom a file was given.
    pub(super) members: Vec<CeremonyMember>,
}

impl PreviousArguments {
    pub(super) fn read(&self) -> Result<PreviousFiles, Failure> {
        let ceremony = self.previous.as_ref().map(|folder| CeremonyFile::read(folder)).transpose()?;
        let path = match (&ceremony, &self.shared_key) {
            (Some(ceremony), _) => ceremony.folder.shared_key_path(),
            (None, Some(path)) => path.clone(),
            (None, None) => unreachable!("clap asks for one of the two"),
        };
        if ceremony.is_some() && !path.exists() {
            return Err(Failure::usage(anyhow!(
                "{} is not there: the previous ceremony has not ended; its members should run `quorate dkg run`",
                path.display()
            )));
        }
        Ok(PreviousFiles { shared_key: SharedKeyFile::read(&path)?, ceremony, holders: self.holders.clone() })
    }
}

impl PreviousFiles {
    /// The suite of the key.
    pub(super) fn suite(&self) -> Bls12381Argument {
        self.shared_key.suite()
    }

    /// The key and its holders. The files of `others` are of new members, or of holders who have new keys.
    pub(super) fn open<S: Bls12381Suite>(&self, others: &[PathBuf]) -> Result<Previous<S>, Failure> {
        let key = self.shared_key.key::<S>(Backend::auto())?;
        let (mut holders, mut members) = (Vec::new(), Vec::new());
        if let Some(file) = &self.ceremony {
            let ceremony = file.ceremony::<S>()?;
            let other_key = ceremony.previous().is_some_and(|previous| previous.public_key() != key.public_key());
            if other_key || key.committee() != ceremony.committee() || key.suite() != ceremony.suite() {
                return Err(Failure::usage(anyhow!(
                    "{} is not the key of the ceremony beside it; get the file that the ceremony's members wrote",
                    file.folder.shared_key_path().display()
                )));
            }
            for seat in ceremony.seats() {
                let Some(first) = seat.receiver else { continue };
                holders.push(NamedShares { name: seat.member.name().clone(), first, number: seat.weight });
                members.push(seat.member.clone());
            }
        }
        let mut named = self.holders.clone();
        named.sort_by_key(|holder| holder.index);
        for Holder { name, index } in named {
            key.committee().index(index.into()).map_err(|error| Failure::usage(error).context("--holder"))?;
            match holders.iter_mut().find(|of| of.name == name) {
                None => holders.push(NamedShares { name, first: index, number: 1 }),
                Some(of) if of.first + of.number == index => of.number += 1,
                Some(of) => {
                    return Err(Failure::usage(anyhow!(
                        "--holder: {name} has the shares {} and {index}, and the shares of one member must be different ones with \
                         neighbouring indices; name share {index} for a member with an identity of its own, such as {name}-2={index}",
                        of.first + of.number - 1
                    )));
                }
            }
        }
        holders.sort_by_key(|of| of.first);
        for member in members::read(others)? {
            match members.iter_mut().find(|known: &&mut CeremonyMember| known.name() == member.name()) {
                Some(known) if *known != member => {
                    print::note(format_args!("{} takes part with other keys than before", member.name()));
                    *known = member;
                }
                Some(_) => {}
                None => members.push(member),
            }
        }
        Ok(Previous { key, holders, members })
    }
}
