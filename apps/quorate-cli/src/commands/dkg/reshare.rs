//! `quorate dkg reshare`, `quorate dkg refresh` and `quorate dkg recover`: ceremonies about a key that is there.

use std::path::PathBuf;

use anyhow::anyhow;
use clap::Args;
use quorate::{Bls12381Suite, Options};
use quorate_host::exit::{Failure, Result};
use quorate_threshold::{
    Identifiers, SharedKey,
    dkg::{CeremonyMember, CeremonyPurpose, Description, Name},
};

use super::{
    members::{self, NamedShares, Names, WeightArguments, name, names, numbered},
    previous::{Previous, PreviousArguments, PreviousFiles},
};
use crate::commands::{identifiers::IdentifiersName, print, suite::InBls12381, value::path_to_read};

/// Describe a ceremony that shares a key anew: among other members, or with another threshold
///
/// The public key stays the same. Those who have shares deal, and those who shall have shares receive. The old shares stay
/// valid as long as they exist: when all members have finished, everyone deletes its old share, the private state of the
/// ceremony that made it, and that of this ceremony, with `quorate dkg forget`, and the identity with which it got that share. With
/// that identity, the messages or transcripts of the old ceremony would give the share again. So those who stay should make new
/// identities with the names that they have: give their new files.
#[derive(Debug, Args)]
#[command(before_long_help = RESHARE_EXAMPLES, override_usage = RESHARE_USAGE)]
pub(super) struct ReshareArguments {
    /// Folder of the new ceremony, to be made
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,

    #[command(flatten)]
    previous: PreviousArguments,

    /// How many shares sign together afterwards, at least 2: as many members, if each has one
    #[arg(short, long, value_name = "T", required_unless_present = "file")]
    threshold: Option<usize>,

    /// Which points of the shared polynomial the members have
    #[arg(long, value_name = "KIND", default_value = "integers")]
    identifiers: IdentifiersName,

    /// Who deals its share: names with commas between them; all who have one by default
    #[arg(long, value_name = "NAMES", value_parser = names)]
    dealers: Option<Names>,

    /// Who gets new shares, in the order of their indices; by default all who have some, and then the members whose files are given
    #[arg(long, value_name = "NAMES", value_parser = names)]
    receivers: Option<Names>,

    /// Let each dealer publish one transcript, and nobody answer. All receivers need the files that `quorate dkg identity
    /// --one-round` writes
    #[arg(long)]
    one_round: bool,

    #[command(flatten)]
    weights: WeightArguments,

    /// Files of new members and of members who have new keys, as `quorate dkg identity` writes them; with --shared-key, of all members
    #[arg(value_name = "MEMBER_FILE", value_parser = path_to_read())]
    members: Vec<PathBuf>,
}

/// Describe a ceremony that gives all members new shares of the same key
///
/// Shares that were stolen before are of no use with shares that are stolen after, if old identities are deleted, too. When all members
/// have finished, everyone deletes its old share, the private state of the ceremony that made it, and that of this ceremony, with
/// `quorate dkg forget`, and the identity with which it got that share. With that identity, the messages or transcripts of the old
/// ceremony would give the share again. So everyone should make a new identity with the name that it has: give the new files.
#[derive(Debug, Args)]
#[command(before_long_help = REFRESH_EXAMPLES, override_usage = REFRESH_USAGE)]
pub(super) struct RefreshArguments {
    /// Folder of the new ceremony, to be made
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,

    #[command(flatten)]
    previous: PreviousArguments,

    /// Let each dealer publish one transcript, and nobody answer. All receivers need the files that `quorate dkg identity
    /// --one-round` writes
    #[arg(long)]
    one_round: bool,

    /// With --shared-key: the files of all members; otherwise those of members who have new keys
    #[arg(value_name = "MEMBER_FILE", value_parser = path_to_read())]
    members: Vec<PathBuf>,
}

/// Describe a ceremony in which the others recover the share of a member who has lost it
///
/// All shares stay as they were. The helpers deal, and go through `receive` and `complain`; the member who lost its share
/// goes through `receive`, `complain` and `finish`, which writes the share.
#[derive(Debug, Args)]
#[command(before_long_help = RECOVER_EXAMPLES, override_usage = RECOVER_USAGE)]
pub(super) struct RecoverArguments {
    /// Folder of the new ceremony, to be made
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,

    #[command(flatten)]
    previous: PreviousArguments,

    /// Who has lost its share
    #[arg(long, value_name = "NAME", value_parser = name)]
    lost: Name,

    /// The new file of that member, if it has lost its identity too
    #[arg(long, value_name = "MEMBER_FILE", value_parser = path_to_read())]
    member: Option<PathBuf>,

    /// Who helps: names with commas between them, at least as many as the threshold; all others by default
    #[arg(long, value_name = "NAMES", value_parser = names)]
    helpers: Option<Names>,

    /// With --shared-key: the files of all members; otherwise those of helpers who have new keys
    #[arg(value_name = "MEMBER_FILE", value_parser = path_to_read())]
    members: Vec<PathBuf>,
}

impl ReshareArguments {
    pub(super) fn run(self) -> Result {
        let files = self.previous.read()?;
        files.suite().run(Anew { files, kind: Kind::Reshare(self) })
    }
}

impl RefreshArguments {
    pub(super) fn run(self) -> Result {
        let files = self.previous.read()?;
        files.suite().run(Anew { files, kind: Kind::Refresh(self) })
    }
}

impl RecoverArguments {
    pub(super) fn run(self) -> Result {
        let files = self.previous.read()?;
        files.suite().run(Anew { files, kind: Kind::Recover(self) })
    }
}

struct Anew {
    files: PreviousFiles,
    kind: Kind,
}

enum Kind {
    Reshare(ReshareArguments),
    Refresh(RefreshArguments),
    Recover(RecoverArguments),
}

impl InBls12381 for Anew {
    fn run_in<S: Bls12381Suite>(self, suite: S) -> Result {
        let Self { files, kind } = self;
        match kind {
            Kind::Reshare(arguments) => {
                let previous = files.open::<S>(&arguments.members)?;
                let dealers = previous.chosen("--dealers", arguments.dealers.as_ref())?;
                let receivers = match &arguments.receivers {
                    Some(Names(names)) => numbered(names, |name| previous.shares_of(name)),
                    None => numbered(previous.all().iter(), |name| previous.shares_of(name)),
                };
                refuse_several(arguments.one_round, dealers.iter().chain(&receivers))?;
                let seats = members::seats(&previous.members, &dealers, &receivers)?;
                let (seats, threshold) = arguments.weights.weigh(seats, arguments.threshold)?;
                let description = Description {
                    suite,
                    threshold,
                    identifiers: arguments.identifiers.into(),
                    purpose: anew(previous.key, arguments.one_round),
                    dealers_needed: None,
                    seats,
                    nonce: members::nonce()?,
                };
                members::make(&arguments.folder, description)
            }
            Kind::Refresh(arguments) => {
                let previous = files.open::<S>(&arguments.members)?;
                let (holders, committee) = (&previous.holders, previous.key.committee());
                let (found, all) =
                    (holders.iter().map(|of| of.number as usize).sum::<usize>(), committee.participants());
                if found != all {
                    return Err(Failure::usage(anyhow!(
                        "{found} of the {all} shares have a known holder, and a refresh gives every holder a new share; name all \
                         of them, or use `quorate dkg reshare`"
                    )));
                }
                refuse_several(arguments.one_round, holders)?;
                let description = Description {
                    suite,
                    threshold: committee.threshold(),
                    identifiers: committee.identifiers(),
                    seats: members::seats(&previous.members, &previous.dealing(), holders)?,
                    purpose: anew(previous.key, arguments.one_round),
                    dealers_needed: None,
                    nonce: members::nonce()?,
                };
                members::make(&arguments.folder, description)
            }
            Kind::Recover(arguments) => arguments.recover(suite, &files),
        }
    }
}

fn anew<S: Bls12381Suite>(previous: SharedKey<S>, one_round: bool) -> CeremonyPurpose<S> {
    if one_round { CeremonyPurpose::ReshareInOneRound(previous) } else { CeremonyPurpose::Reshare(previous) }
}

/// Refuses members with several shares, where members answer each other: there each deals and receives one.
fn refuse_several<'a>(
    one_round: bool,
    shares: impl IntoIterator<Item = &'a NamedShares>,
) -> std::result::Result<(), Failure> {
    match shares.into_iter().find(|of| of.number != 1 && !one_round) {
        None => Ok(()),
        Some(NamedShares { name, number, .. }) => Err(Failure::usage(anyhow!(
            "{name} has {number} shares, and where members answer each other everyone deals and receives one; add --one-round"
        ))),
    }
}

impl RecoverArguments {
    fn recover<S: Bls12381Suite>(&self, suite: S, files: &PreviousFiles) -> Result {
        let mut previous = files.open::<S>(&self.members)?;
        let lost = &self.lost;
        if let Some(NamedShares { name, number, .. }) = previous.holders.iter().find(|of| of.number != 1) {
            return Err(Failure::usage(anyhow!(
                "{name} has {number} shares, and a recovery gives back one, by members who have one; use `quorate dkg refresh \
                 --one-round`, in which {lost} gets new shares and need not deal"
            )));
        }
        let place = previous.holders.iter().position(|of| of.name == *lost).ok_or_else(|| {
            Failure::usage(anyhow!(
                "--lost: {lost} has no share of the key; its holders are {}",
                previous.holder_names()
            ))
        })?;
        let index = previous.holders.remove(place).first;
        let mut owner = lost.clone();
        if let Some(path) = &self.member {
            let member = members::read_one(path)?;
            owner = member.name().clone();
            previous.members.retain(|known| known.name() != lost);
            previous.members.push(member);
        }
        let helpers = previous.chosen("--helpers", self.helpers.as_ref())?;
        let own = NamedShares { name: owner, first: index, number: 1 };
        let receivers: Vec<_> = helpers.iter().cloned().chain([own]).collect();
        let seats = members::seats(&previous.members, &helpers, &receivers)?;
        let committee = previous.key.committee().clone();
        let lost = committee.index(index.into()).map_err(Failure::usage)?;
        let (threshold, identifiers): (usize, Identifiers) = (committee.threshold(), committee.identifiers());
        let purpose = CeremonyPurpose::Recover { shared_key: previous.key, lost };
        let nonce = members::nonce()?;
        let description = Description { suite, purpose, threshold, identifiers, dealers_needed: None, seats, nonce };
        members::make(&self.folder, description)
    }
}

impl<S: Bls12381Suite> Previous<S> {
    /// How many shares a member has. Who has none gets one.
    fn shares_of(&self, name: &Name) -> u32 {
        self.holders.iter().find(|of| of.name == *name).map_or(1, |of| of.number)
    }

    /// The holders who can deal shares, with these. Zero is not a share, and a verification key that is the identity says that it is
    /// zero. If it is not the first or the last of its holder, the holder deals the shares before it or behind it: those that are more.
    fn dealing(&self) -> Vec<NamedShares> {
        let without = self.key.without_share(&Options::default());
        let mut dealing = Vec::with_capacity(self.holders.len());
        for NamedShares { name, first, number } in &self.holders {
            let end = first + number;
            let zeros: Vec<_> =
                without.iter().map(|index| index.number()).filter(|index| (*first..end).contains(index)).collect();
            for index in &zeros {
                let what = if *number == 1 { String::new() } else { format!(" share {index}") };
                print::note(format_args!(
                    "{name} cannot deal{what}: participant {index} has no share of the key, since its verification key is the identity"
                ));
            }
            let begins = [*first].into_iter().chain(zeros.iter().map(|zero| zero + 1));
            let runs = begins.zip(zeros.iter().copied().chain([end])).map(|(first, end)| (end - first, first));
            let (dealt, first) = runs.max().expect("there is one run more than zeros");
            if dealt + (zeros.len() as u32) < *number {
                print::note(format_args!(
                    "{name} deals the shares {first} to {}, which are neighbours",
                    first + dealt - 1
                ));
            }
            dealing.extend((dealt > 0).then(|| NamedShares { name: name.clone(), first, number: dealt }));
        }
        dealing
    }

    /// The holders whom a flag names, with their shares; all who can deal without the flag.
    fn chosen(&self, flag: &str, named: Option<&Names>) -> std::result::Result<Vec<NamedShares>, Failure> {
        let dealing = self.dealing();
        let Some(Names(names)) = named else { return Ok(dealing) };
        let holder = |name: &Name| {
            let found = dealing.iter().find(|of| of.name == *name);
            found.cloned().ok_or_else(|| {
                let holders = self.holder_names();
                Failure::usage(anyhow!("{flag}: {name} has no share that it could deal; the holders are {holders}"))
            })
        };
        names.iter().map(holder).collect()
    }

    fn holder_names(&self) -> String {
        let names: Vec<_> = self.holders.iter().map(|of| of.name.as_str()).collect();
        names.join(", ")
    }

    /// All holders in the order of their shares, and then the new members.
    fn all(&self) -> Vec<Name> {
        let holders = self.holders.iter().map(|of| &of.name);
        let is_new = |name: &&Name| self.holders.iter().all(|of| of.name != **name);
        holders.chain(self.members.iter().map(CeremonyMember::name).filter(is_new)).cloned().collect()
    }
}

/// Clap's own usage lines do not fit.
const RESHARE_USAGE: &str = "\
quorate dkg reshare [OPTIONS] --previous <OLD_FOLDER> --threshold <T>
           <FOLDER> [MEMBER_FILE]...";
const REFRESH_USAGE: &str = "\
quorate dkg refresh [OPTIONS] --previous <OLD_FOLDER> <FOLDER>
           [MEMBER_FILE]...";
const RECOVER_USAGE: &str = "\
quorate dkg recover [OPTIONS] --previous <OLD_FOLDER> --lost <NAME>
           <FOLDER> [MEMBER_FILE]...";

const RESHARE_EXAMPLES: &str = "\
Examples:
  quorate dkg reshare reshare --previous ceremony --threshold 4 \\
      frank.member.json grace.member.json
  quorate dkg reshare reshare --previous ceremony --threshold 2 \\
      --receivers alice,bob,carol
  quorate dkg reshare reshare --previous weighted --threshold 9 \\
      --one-round --weight carol=4
  quorate dkg reshare reshare --shared-key shares/shared-key.json \\
      --holder alice=1 --holder bob=2 --holder carol=3 --threshold 2 \\
      *.member.json";

const REFRESH_EXAMPLES: &str = "\
Examples:
  quorate dkg refresh refresh --previous ceremony new/*.member.json
  quorate dkg refresh refresh --previous ceremony
  quorate dkg refresh refresh --shared-key shares/shared-key.json \\
      --holder alice=1 --holder bob=2 --holder carol=3 *.member.json";

const RECOVER_EXAMPLES: &str = "\
Examples:
  quorate dkg recover recovery --previous ceremony --lost bob
  quorate dkg recover recovery --previous ceremony --lost bob \\
      --member new/bob.member.json --helpers alice,carol,dave";
