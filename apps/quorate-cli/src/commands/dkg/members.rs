//! Who takes part in a new ceremony, and in which roles.

use std::path::{Path, PathBuf};

use anyhow::anyhow;
use quorate::{Backend, Bls12381Suite};
use quorate_host::exit::{Exit, Failure, Result};
use quorate_threshold::dkg::{Ceremony, CeremonyMember, Description, Name, Seat};

use super::{folder::Folder, public_file};
use crate::commands::{print, random, value::parsed};

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
    let json = public_file::read(path)?;
    serde_json::from_slice(&json).map_err(|error| {
        let secret = "it is a secret identity; its owner should give you NAME.member.json, and take this file back";
        let hint = match json.windows(10).any(|window| window == b"secret_key") {
            true => secret.to_owned(),
            false => format!("{error}; give the file NAME.member.json that `quorate dkg identity` wrote"),
        };
        Failure::usage(anyhow!("{} is not the file of a member: {hint}", path.display()))
    })
}

/// The members with their roles: those named deal and receive, in the order of their names.
pub(super) fn seats(
    members: &[CeremonyMember],
    dealers: &[(Name, u32)],
    receivers: &[(Name, u32)],
) -> std::result::Result<Vec<Seat>, Failure> {
    let role = |flag: &str, named: &[(Name, u32)]| {
        for (place, (name, _)) in named.iter().enumerate() {
            if !members.iter().any(|member| member.name() == name) {
                return Err(Failure::usage(anyhow!(
                    "{flag}: there is no member {name}; give the file {name}.member.json"
                )));
            }
            if named[..place].iter().any(|(other, _)| other == name) {
                return Err(Failure::usage(anyhow!("{flag}: {name} is named twice; name each member once")));
            }
        }
        Ok(())
    };
    role("--dealers", dealers)?;
    role("--receivers", receivers)?;
    let index = |named: &[(Name, u32)], member: &CeremonyMember| {
        named.iter().find(|(name, _)| name == member.name()).map(|(_, index)| *index)
    };
    let seats = members.iter().map(|member| Seat {
        member: member.clone(),
        dealer: index(dealers, member),
        receiver: index(receivers, member),
    });
    // Whoever neither deals nor receives has no part.
    Ok(seats.filter(|seat| seat.dealer.is_some() || seat.receiver.is_some()).collect())
}

/// Names with the numbers 1, 2, 3 and so on.
pub(super) fn numbered<'a>(names: impl IntoIterator<Item = &'a Name>) -> Vec<(Name, u32)> {
    names.into_iter().cloned().zip(1..).collect()
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
    let folder = Folder::create(path, &ceremony)?;
    let (first, verb) = match ceremony.dealers().count() {
        1 => ("dealer", "runs"),
        _ => ("dealers", "run"),
    };
    let command = if ceremony.is_one_round() { "publish" } else { "deal" };
    print::note(format_args!(
        "Give {} to all members. Everyone should compare the id of the ceremony over a channel that they trust. Then the \
         {first} {verb} `quorate dkg {command}`.",
        folder.display()
    ));
    print::line(ceremony.id())?;
    Ok(Exit::Success)
}
