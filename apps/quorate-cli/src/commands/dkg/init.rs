//! `quorate dkg init`.

use std::path::PathBuf;

use clap::Args;
use quorate::Bls12381Suite;
use quorate_host::exit::Result;
use quorate_threshold::dkg::{CeremonyMember, CeremonyPurpose, Description, Variant};

use super::members::{self, Names, WeightArguments, names, numbered};
use crate::commands::{
    identifiers::IdentifiersName,
    suite::{Bls12381Argument, InBls12381},
    value::path_to_read,
};

/// Describe a ceremony that makes a new key, and print its id
///
/// Writes FOLDER/ceremony.json and makes FOLDER/messages. One member does so, and gives the folder to the others. Its id
/// is a digest of everything in ceremony.json, and it stands in every message: all members should compare it before they
/// deal.
#[derive(Debug, Args)]
#[command(before_long_help = EXAMPLES, override_usage = USAGE)]
pub(super) struct Arguments {
    /// Folder of the ceremony, to be made
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,

    #[command(flatten)]
    suite: Bls12381Argument,

    /// How many shares sign together afterwards, at least 2: as many members, if each has one
    #[arg(short, long, value_name = "T", required_unless_present = "file")]
    threshold: Option<usize>,

    /// Hide all contributions to the key until nobody can change one, so that the key is uniformly random while fewer than T receivers
    /// are dishonest or left out (--without, --close), unless dishonest members end the ceremony when they have seen it: for random
    /// beacons. Every receiver deals. It takes one to three rounds more
    #[arg(long, conflicts_with_all = ["weights", "file"])]
    commit_first: bool,

    /// Let each dealer publish one transcript, which anyone verifies, and nobody answer: for many members, or for members who
    /// are not there at the same time. All members need the files that `quorate dkg identity --one-round` writes
    #[arg(long, conflicts_with = "commit_first")]
    one_round: bool,

    /// Which points of the shared polynomial the members have
    #[arg(long, value_name = "KIND", default_value = "integers")]
    identifiers: IdentifiersName,

    /// Who contributes to the key: names with commas between them; all members by default
    #[arg(long, value_name = "NAMES", value_parser = names)]
    dealers: Option<Names>,

    /// Who gets a share of the key, in the order of their indices; all members by default
    #[arg(long, value_name = "NAMES", value_parser = names)]
    receivers: Option<Names>,

    #[command(flatten)]
    weights: WeightArguments,

    /// How many dealers must be left in the end; by default, if all receivers deal, so many that any so many dealers have T shares together,
    /// and otherwise a majority of the dealers. With --one-round it cannot be fewer
    #[arg(long, value_name = "N")]
    dealers_needed: Option<usize>,

    /// The members' files, as `quorate dkg identity` writes them
    #[arg(value_name = "MEMBER_FILE", required = true, value_parser = path_to_read())]
    members: Vec<PathBuf>,
}

impl Arguments {
    pub(super) fn run(self) -> Result {
        self.suite.run(self)
    }
}

impl InBls12381 for Arguments {
    fn run_in<S: Bls12381Suite>(self, suite: S) -> Result {
        let all = members::read(&self.members)?;
        let numbers = |named: &Option<Names>| match named {
            Some(Names(names)) => numbered(names, |_| 1),
            None => numbered(all.iter().map(CeremonyMember::name), |_| 1),
        };
        let (dealers, receivers) = (numbers(&self.dealers), numbers(&self.receivers));
        let seats = members::seats(&all, &dealers, &receivers)?;
        let (seats, threshold) = self.weights.weigh(seats, self.threshold)?;
        let variant = match (self.commit_first, self.one_round) {
            (true, _) => Variant::CommitFirst,
            (_, true) => Variant::OneRound,
            _ => Variant::JointFeldman,
        };
        let description = Description {
            suite,
            purpose: CeremonyPurpose::NewKey(variant),
            threshold,
            identifiers: self.identifiers.into(),
            dealers_needed: self.dealers_needed,
            seats,
            nonce: members::nonce()?,
        };
        members::make(&self.folder, description)
    }
}

/// Clap's own usage line does not fit.
const USAGE: &str = "\
quorate dkg init [OPTIONS] --suite <NAME> --threshold <T>
           <FOLDER> <MEMBER_FILE>...";

const EXAMPLES: &str = "\
Examples:
  quorate dkg init ceremony --suite eth2 --threshold 3 *.member.json
  quorate dkg init ceremony --suite drand-quicknet --threshold 2 \\
      --commit-first alice.member.json bob.member.json carol.member.json
  quorate dkg init ceremony --suite eth2 --threshold 9 --one-round \\
      *.member.json
  quorate dkg init ceremony --suite eth2 --weights weights.json \\
      --one-round *.member.json
  quorate dkg init ceremony --suite eth2 --threshold 3 --one-round \\
      --weight alice=2 *.member.json";
