//! Who takes part in a new ceremony, and in which roles.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use anyhow::anyhow;
use clap::Args;
use quorate::{Backend, Bls12381Suite};
use quorate_host::{
    exit::{Exit, Failure, Result},
    text::json_reason,
};
use quorate_threshold::dkg::{Ceremony, CeremonyMember, Description, Name, Seat};
use serde::Deserialize;

use super::{
    folder::{Folder, refuse_long_transcripts},
    public_file, words,
};
use crate::commands::{
    print::{self, plural},
    random,
    value::{parsed, path_to_read},
};

/// Names of a flag, with commas between them. They have a type of their own, because clap reads a `Vec` as a flag that may be
/// repeated.
#[derive(Clone, Debug)]
pub(super) struct Names(pub(super) Vec<Name>);

/// Reads the names of a flag.
pub(super) fn names(text: &str) -> std::result::Result<Names, String> {
    text.split(',').map(name).collect::<std::result::Result<_, _>>().map(Names)
}

/// Reads one name.
pub(super) fn name(text: &str) -> std::result::Result<Name, String> {
    Name::new(text.trim()).map_err(|error| error.to_string())
}

/// Who deals or receives so many shares, whose indices are neighbours.
#[derive(Clone, Debug)]
pub(super) struct NamedShares {
    pub(super) name: Name,
    /// The index of the first.
    pub(super) first: u32,
    pub(super) number: u32,
}

/// A name and the index of the share that it has: `alice=3`.
#[derive(Clone, Debug)]
pub(super) struct Holder {
    pub(super) name: Name,
    pub(super) index: u32,
}

/// Reads `alice=3`.
pub(super) fn holder(text: &str) -> std::result::Result<Holder, String> {
    let (holder, index) = text.split_once('=').ok_or("expected NAME=INDEX, such as alice=3")?;
    let index = parsed::<u32>(index).map_err(|error| format!("the index {index:?}: {error}"))?;
    Ok(Holder { name: name(holder)?, index })
}

/// How many shares receivers get.
#[derive(Clone, Debug, Args)]
pub(super) struct WeightArguments {
    /// With --one-round: how many shares a receiver gets, such as alice=3; repeat it for each. All others get as many as they have of
    /// the key that is shared anew, and one if they have none
    #[arg(long = "weight", value_name = "NAME=SHARES", value_parser = weight, requires = "one_round")]
    weights: Vec<NamedWeight>,

    /// With --one-round: how many shares each receiver gets, and how many sign: what `quorate threshold weights --json` printed
    #[arg(long = "weights", value_name = "FILE", requires = "one_round", conflicts_with = "weights", value_parser = path_to_read())]
    file: Option<PathBuf>,
}

/// A name and how many shares it gets: `alice=3`.
#[derive(Clone, Debug)]
struct NamedWeight {
    name: Name,
    shares: u32,
}

/// Reads `alice=3`.
fn weight(text: &str) -> std::result::Result<NamedWeight, String> {
    let (named, shares) = text.split_once('=').ok_or("expected NAME=SHARES, such as alice=3")?;
    let number = parsed::<u32>(shares).map_err(|error| format!("the shares {shares:?}: {error}"))?;
    Ok(NamedWeight { name: name(named)?, shares: number })
}

/// What `quorate threshold weights --json` prints, as far as a ceremony needs it.
#[derive(Deserialize)]
struct WeightsFile {
    threshold: usize,
    signers: Vec<WeightsFileSigner>,
}

#[derive(Deserialize)]
struct WeightsFileSigner {
    name: String,
    shares: u32,
}

impl WeightArguments {
    /// Gives receivers their shares, in the order in which they have indices, and says how many shares sign. Whoever gets none receives
    /// nothing. `threshold` is what the user gave.
    pub(super) fn weigh(
        &self,
        mut seats: Vec<Seat>,
        threshold: Option<usize>,
    ) -> std::result::Result<(Vec<Seat>, usize), Failure> {
        let (given, flag, in_file) = match &self.file {
            None => (self.weights.clone(), "--weight".to_owned(), None),
            Some(path) => {
                let (given, in_file) = read_weights(path)?;
                (given, format!("--weights {}", path.display()), Some(in_file))
            }
        };
        let threshold = match (threshold, in_file) {
            (Some(threshold), Some(in_file)) if threshold != in_file => {
                return Err(Failure::usage(anyhow!(
                    "{flag}: {in_file} of these shares sign, and --threshold is {threshold}; leave out --threshold"
                )));
            }
            (threshold, in_file) => threshold.or(in_file).expect("clap asks for one of the two"),
        };
        for (place, NamedWeight { name, .. }) in given.iter().enumerate() {
            if given[..place].iter().any(|other| other.name == *name) {
                return Err(Failure::usage(anyhow!("{flag}: {name} is there twice; name each member once")));
            }
        }
        let mut given: BTreeMap<_, _> = given.iter().map(|of| (of.name.as_str(), of.shares)).collect();
        let mut receiving: Vec<_> = seats.iter_mut().filter(|seat| seat.receiver.is_some()).collect();
        receiving.sort_by_key(|seat| seat.receiver);
        let mut next = 1;
        for seat in receiving {
            let name = seat.member.name();
            let shares = match (given.remove(name.as_str()), in_file) {
                (Some(shares), _) => shares,
                (None, None) => seat.weight,
                (None, Some(_)) => {
                    return Err(Failure::usage(anyhow!(
                        "{flag}: {name} receives shares, and the file does not say how many; add it, or name the others with \
                         --receivers"
                    )));
                }
            };
            (seat.receiver, seat.weight) = if shares == 0 { (None, 1) } else { (Some(next), shares) };
            next = next.saturating_add(shares);
        }
        if let Some((name, shares)) = given.into_iter().find(|(_, shares)| *shares > 0) {
            return Err(Failure::usage(anyhow!(
                "{flag}: {name} has {} there, and is no receiver; give the file {name}.member.json",
                plural(shares as usize, "share")
            )));
        }
        seats.retain(|seat| seat.dealer.is_some() || seat.receiver.is_some());
        Ok((seats, threshold))
    }
}

/// The shares of each name in a file, and how many of all shares sign.
fn read_weights(path: &Path) -> std::result::Result<(Vec<NamedWeight>, usize), Failure> {
    let wrong = |reason: String| {
        Failure::usage(anyhow!("{}: {reason}; give what `quorate threshold weights --json` printed", path.display()))
    };
    let json = public_file::text(path)?;
    let file: WeightsFile = serde_json::from_str(&json).map_err(|error| wrong(json_reason(json.as_bytes(), &error)))?;
    let named = file.signers.into_iter().map(|WeightsFileSigner { name, shares }| {
        Ok(NamedWeight { name: Name::new(&name).map_err(|error| wrong(error.to_string()))?, shares })
    });
    Ok((named.collect::<std::result::Result<_, Failure>>()?, file.threshold))
}

/// Reads the files that `quorate dkg identity` wrote for others.
pub(super) fn read(paths: &[PathBuf]) -> std::result::Result<Vec<CeremonyMember>, Failure> {
    let mut members: Vec<CeremonyMember> = Vec::with_capacity(paths.len());
    for path in paths {
        let member = read_one(path)?;
        if members.iter().any(|other| other.name() == member.name()) {
            return Err(Failure::usage(anyhow!(
                "{}: the file of a member named {} was given before; give each member once, and different names to different \
                 members",
                path.display(),
                member.name()
            )));
        }
        members.push(member);
    }
    Ok(members)
}

/// Reads one file.
pub(super) fn read_one(path: &Path) -> std::result::Result<CeremonyMember, Failure> {
    let json = public_file::text(path)?;
    serde_json::from_str(&json).map_err(|error| {
        let secret = "it is a secret identity; its owner should give you NAME.member.json, and take this file back";
        let hint = match json.contains("secret_key") {
            true => secret.to_owned(),
            false => {
                let reason = json_reason(json.as_bytes(), &error);
                format!("{reason}; give the file NAME.member.json that `quorate dkg identity` wrote")
            }
        };
        Failure::usage(anyhow!("{} is not the file of a member: {hint}", path.display()))
    })
}

/// The members with their roles: those named deal and receive, in the order of their names.
pub(super) fn seats(
    members: &[CeremonyMember],
    dealers: &[NamedShares],
    receivers: &[NamedShares],
) -> std::result::Result<Vec<Seat>, Failure> {
    let role = |flag: &str, named: &[NamedShares]| {
        for (place, NamedShares { name, .. }) in named.iter().enumerate() {
            if !members.iter().any(|member| member.name() == name) {
                return Err(Failure::usage(anyhow!(
                    "{flag}: there is no member {name}; give the file {name}.member.json"
                )));
            }
            if named[..place].iter().any(|other| other.name == *name) {
                return Err(Failure::usage(anyhow!("{flag}: {name} is named twice; name each member once")));
            }
        }
        Ok(())
    };
    role("--dealers", dealers)?;
    role("--receivers", receivers)?;
    let shares = |named: &[NamedShares], member: &CeremonyMember| {
        named.iter().find(|of| of.name == *member.name()).map_or((None, 1), |of| (Some(of.first), of.number))
    };
    let seats = members.iter().map(|member| {
        let ((dealer, deals), (receiver, weight)) = (shares(dealers, member), shares(receivers, member));
        Seat { member: member.clone(), dealer, receiver, weight, deals }
    });
    // Whoever neither deals nor receives has no part.
    Ok(seats.filter(|seat| seat.dealer.is_some() || seat.receiver.is_some()).collect())
}

/// Names with as many shares as each shall have, whose indices are 1, 2, 3 and so on.
pub(super) fn numbered<'a>(
    names: impl IntoIterator<Item = &'a Name>,
    number: impl Fn(&Name) -> u32,
) -> Vec<NamedShares> {
    let mut next = 1_u32;
    let of = |name: &Name| {
        let (first, number) = (next, number(name));
        next = next.saturating_add(number);
        NamedShares { name: name.clone(), first, number }
    };
    names.into_iter().map(of).collect()
}

/// Random bytes, so that no two ceremonies have the same id.
pub(super) fn nonce() -> std::result::Result<[u8; 16], Failure> {
    let bytes = random::secret_bytes()?;
    Ok(std::array::from_fn(|i| bytes[i]))
}

/// Makes the folder of a ceremony, and prints the ceremony's id.
pub(super) fn make<S: Bls12381Suite>(path: &Path, description: Description<S>) -> Result {
    if description.threshold == 1 {
        return Err(Failure::usage(anyhow!(
            "the threshold is 1, so that every share would be the whole key; choose at least 2"
        )));
    }
    let ceremony = Ceremony::new(description, Backend::auto()).map_err(Failure::usage)?;
    refuse_long_transcripts(&ceremony)?;
    let folder = Folder::create(path, &ceremony)?;
    words::say(&format!(
        "Give {} to all members. Everyone should compare the id of the ceremony over a channel that they trust. Then each \
         member runs `quorate dkg run`.",
        folder.display()
    ));
    print::line(ceremony.id())?;
    Ok(Exit::Success)
}
