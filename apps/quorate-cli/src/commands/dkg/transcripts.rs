//! The transcripts of a ceremony in one round: `transcripts/alice.transcript`, one for each dealer, and which of them count.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
};

use anyhow::anyhow;
use quorate::{Bls12381Suite, Options};
use quorate_host::exit::Failure;
use quorate_threshold::{
    SharedKey,
    dkg::{Ceremony, MemberNumber, Name, SignedTranscript, verify_signed},
    one_round::{Contributions, ShareTranscript, ShareTranscriptError},
};
use serde::{Deserialize, Serialize};

use super::{
    folder::{Folder, Problems},
    public_file, words,
};
use crate::commands::{print, random};

/// The signed transcripts that are there, and who signed two.
pub(super) struct Transcripts {
    pub(super) signed: BTreeMap<MemberNumber, SignedTranscript>,
    pub(super) twice: BTreeSet<MemberNumber>,
    /// Those of other names, too.
    pub(super) all: Vec<SignedTranscript>,
}

/// The transcripts that verify, and the key that they make.
pub(super) struct Combined<S: Bls12381Suite> {
    pub(super) key: SharedKey<S>,
    /// By the member who deals.
    transcripts: Vec<(MemberNumber, ShareTranscript<S>)>,
    list: Combination,
}

/// The file `combination.json`: which transcripts made the key. Whoever comes later takes the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Combination {
    format: String,
    ceremony: String,
    transcripts: Vec<Entry>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    dealer: String,
    digest: String,
}

const FORMAT: &str = "quorate-combination-v1";

impl Transcripts {
    /// Reads the folder. What is wrong with a file is said.
    pub(super) fn read<S: Bls12381Suite>(
        folder: &Folder,
        ceremony: &Ceremony<S>,
        problems: &mut Problems,
    ) -> Result<Self, Failure> {
        let mut found = Self { signed: BTreeMap::new(), twice: BTreeSet::new(), all: Vec::new() };
        let mut misnamed = Vec::new();
        for (path, _) in folder.files_in(&folder.transcripts_path(), problems)? {
            let display = path.display().to_string();
            let read = public_file::read(&path).map_err(|error| format!("{:#}", anyhow!(error)));
            let read = read.and_then(|bytes| {
                SignedTranscript::from_bytes(&bytes, ceremony).map_err(|error| format!("{display}: {error}"))
            });
            match read {
                Err(problem) => problems.unfinished(&path, problem),
                Ok(signed) => {
                    found.all.push(signed.clone());
                    if path == folder.transcript_path(ceremony.name(signed.sender())) {
                        found.signed.insert(signed.sender(), signed);
                    } else {
                        misnamed.push((path, signed));
                    }
                }
            }
        }
        for (path, signed) in misnamed {
            let (sender, expected) = (signed.sender(), folder.transcript_path(ceremony.name(signed.sender())));
            let first = found.signed.get(&sender);
            if first.is_some_and(|first| *first != signed) {
                found.twice.insert(sender);
                problems.once(&format!(
                    "{} signed two different transcripts, which {} and {} prove, and is left out",
                    ceremony.name(sender),
                    expected.display(),
                    path.display()
                ));
            } else {
                problems.of(
                    &path.display().to_string(),
                    &format!("it is not taken under this name; rename it to {}", expected.display()),
                );
            }
        }
        found.signed.retain(|sender, _| !found.twice.contains(sender));
        Ok(found)
    }

    /// The dealers whose transcripts are not there.
    pub(super) fn missing<S: Bls12381Suite>(&self, ceremony: &Ceremony<S>) -> Vec<MemberNumber> {
        let is_there = |dealer: &MemberNumber| self.signed.contains_key(dealer) || self.twice.contains(dealer);
        ceremony.dealers().filter(|dealer| !is_there(dealer)).collect()
    }

    /// Verifies the transcripts that count: all that are there, or those of `combination.json`.
    pub(super) fn combine<S: Bls12381Suite>(
        mut self,
        folder: &Folder,
        ceremony: &Ceremony<S>,
        problems: &mut Problems,
    ) -> Result<Combined<S>, Failure> {
        let list = Combination::read(folder, ceremony)?;
        if let Some(list) = &list {
            self.keep_listed(list, folder, ceremony)?;
        }
        let options = Options::default();
        let signed: Vec<_> = self.signed.into_values().collect();
        let verified = verified(ceremony, &signed)?;
        let mut transcripts = Vec::with_capacity(verified.len());
        let mut entries = Vec::with_capacity(verified.len());
        for (signed, verified) in signed.iter().zip(verified) {
            let (sender, name) = (signed.sender(), ceremony.name(signed.sender()));
            let path = folder.transcript_path(name);
            match verified {
                Ok(transcript) => {
                    transcripts.push((sender, transcript));
                    entries.push(Entry { dealer: name.to_string(), digest: signed.digest().to_string() });
                }
                Err(reason) if list.is_some() => {
                    return Err(Failure::usage(anyhow!(
                        "{} is false, and {} counts it: {reason}; whoever wrote that list is wrong",
                        path.display(),
                        folder.combination_path().display()
                    )));
                }
                Err(reason) => problems.once(&format!(
                    "the transcript of {name} is false, which {} proves to anyone: {reason}",
                    path.display()
                )),
            }
        }
        let (left, needed) = (transcripts.len(), ceremony.dealers_needed());
        if left < needed {
            return Err(Failure::usage(anyhow!("{left} transcripts are true, and {needed} are needed for a key")));
        }
        let contributions = contributions(ceremony, &transcripts, &options)?;
        let commitment = contributions.commitment().clone();
        let key =
            SharedKey::new(ceremony.suite(), ceremony.committee().clone(), commitment).map_err(Failure::internal)?;
        if ceremony.previous().is_some_and(|previous| previous.public_key() != key.public_key()) {
            return Err(Failure::internal(anyhow!("the shares of the previous key make another key")));
        }
        let list = Combination { format: FORMAT.to_owned(), ceremony: ceremony.id().to_string(), transcripts: entries };
        Ok(Combined { key, transcripts, list })
    }

    fn keep_listed<S: Bls12381Suite>(
        &mut self,
        list: &Combination,
        folder: &Folder,
        ceremony: &Ceremony<S>,
    ) -> Result<(), Failure> {
        let mut kept = BTreeMap::new();
        for Entry { dealer, digest } in &list.transcripts {
            let name = Name::new(dealer).map_err(Failure::usage)?;
            let number = ceremony.member_named(&name);
            // Also one that its dealer has followed by another since, so that nobody takes shares away from those who come later.
            let is_listed =
                |signed: &&SignedTranscript| Some(signed.sender()) == number && signed.digest().to_string() == *digest;
            let Some(signed) = self.all.iter().find(is_listed) else {
                return Err(Failure::usage(anyhow!(
                    "{} counts the transcript of {dealer} with the digest {digest}, and {} is another one or is not there; get \
                     both files from the same member",
                    folder.combination_path().display(),
                    folder.transcript_path(&name).display()
                )));
            };
            kept.insert(signed.sender(), signed.clone());
        }
        self.signed = kept;
        Ok(())
    }
}

impl<S: Bls12381Suite> Combined<S> {
    /// The sum of what the transcripts contribute.
    pub(super) fn contributions(&self, ceremony: &Ceremony<S>) -> Result<Contributions<'_, S>, Failure> {
        contributions(ceremony, &self.transcripts, &Options::default())
    }

    /// Writes `combination.json`, unless it is there.
    pub(super) fn write_list(&self, folder: &Folder, ceremony: &Ceremony<S>) -> Result<(), Failure> {
        let path = folder.combination_path();
        let json = serde_json::to_string_pretty(&self.list).map_err(Failure::internal)? + "\n";
        if public_file::write_new(&path, json.as_bytes())? {
            let dealers: Vec<_> = self.transcripts.iter().map(|(dealer, _)| *dealer).collect();
            print::note(format_args!(
                "wrote {}: the key is made of the transcripts of {}",
                path.display(),
                words::names(ceremony, &dealers)
            ));
        } else if Combination::read(folder, ceremony)?.as_ref() != Some(&self.list) {
            return Err(Failure::usage(anyhow!(
                "{} was written meanwhile; run the same command again",
                path.display()
            )));
        }
        Ok(())
    }
}

impl Combination {
    fn read<S: Bls12381Suite>(folder: &Folder, ceremony: &Ceremony<S>) -> Result<Option<Self>, Failure> {
        let path = folder.combination_path();
        let Some(json) = public_file::read_if_there(&path)? else { return Ok(None) };
        let wrong = |reason: String| {
            Failure::usage(anyhow!("{}: {reason}; get it again from another member, or remove it", path.display()))
        };
        let list: Self = serde_json::from_slice(&json).map_err(|error| wrong(error.to_string()))?;
        if (list.format.as_str(), &list.ceremony) != (FORMAT, &ceremony.id().to_string()) {
            return Err(wrong(format!("it is not the `{FORMAT}` of the ceremony {}", ceremony.id())));
        }
        Ok(Some(list))
    }
}

/// The transcripts that prove themselves, and why the others do not.
pub(super) fn verified<S: Bls12381Suite>(
    ceremony: &Ceremony<S>,
    signed: &[SignedTranscript],
) -> Result<Vec<Result<ShareTranscript<S>, ShareTranscriptError>>, Failure> {
    let receivers = ceremony.share_receivers().map_err(Failure::usage)?;
    Ok(verify_signed(ceremony, &receivers, signed, &Options::default(), &mut random::generator()?))
}

fn contributions<'a, S: Bls12381Suite>(
    ceremony: &Ceremony<S>,
    transcripts: &'a [(MemberNumber, ShareTranscript<S>)],
    options: &Options,
) -> Result<Contributions<'a, S>, Failure> {
    let contributions = match ceremony.previous() {
        None => Contributions::to_new_key(transcripts.iter().map(|(_, transcript)| transcript), options),
        Some(previous) => {
            let index = |dealer| ceremony.previous_index(dealer).expect("a dealer has a share of the previous key");
            let dealt: Vec<_> = transcripts.iter().map(|(dealer, transcript)| (index(*dealer), transcript)).collect();
            Contributions::to_previous_key(previous, &dealt, options)
        }
    };
    contributions.map_err(Failure::usage)
}

impl Folder {
    pub(super) fn transcripts_path(&self) -> PathBuf {
        self.inside("transcripts")
    }

    pub(super) fn transcript_path(&self, name: &Name) -> PathBuf {
        self.transcripts_path().join(format!("{name}.transcript"))
    }

    pub(super) fn combination_path(&self) -> PathBuf {
        self.inside("combination.json")
    }

    /// Publishes a transcript, and makes its folder. Whether no other file was in its place.
    pub(super) fn publish_transcript(&self, name: &Name, bytes: &[u8]) -> Result<bool, Failure> {
        Self::make(&self.transcripts_path())?;
        Ok(public_file::write_new(&self.transcript_path(name), bytes)?)
    }
}
