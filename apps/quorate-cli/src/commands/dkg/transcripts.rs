//! The transcripts of a ceremony in one round: `transcripts/alice.transcript`, one for each dealer, and which of them count.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use anyhow::anyhow;
use quorate::{Bls12381Suite, Options};
use quorate_host::exit::{Failure, in_full};
use quorate_threshold::{
    SharedKey,
    dkg::{Ceremony, CeremonyDigest, MemberNumber, Name, SignedTranscript, verify_signed},
    one_round::{Contributions, ShareTranscript, ShareTranscriptError},
};

use super::{
    combination::{Combination, CombinationError, CountedTranscript},
    folder::{Folder, Problems},
    public_file, words,
};
use crate::commands::{print, random};

/// The signed transcripts that are there, by dealer.
#[derive(Default)]
pub(super) struct Transcripts(BTreeMap<MemberNumber, OfDealer>);

/// What a dealer signed.
#[derive(Default)]
struct OfDealer {
    /// The first transcript, and one that differs from it. A third proves nothing more, and a dealer who signs thousands fills no
    /// memory. The one that has the dealer's name is the first.
    signed: Vec<SignedTranscript>,
    /// The files, and what is in them.
    files: Vec<(PathBuf, CeremonyDigest)>,
    /// Whether one of the files has the dealer's name.
    is_named: bool,
}

/// The transcripts that verify, and the key that they make.
pub(super) struct Combined<S: Bls12381Suite> {
    pub(super) key: SharedKey<S>,
    /// By the member who deals: one, or one for each share of the previous key that it deals.
    transcripts: Vec<(MemberNumber, Vec<ShareTranscript<S>>)>,
    list: Combination,
}

/// Why the files make no key.
pub(super) enum CombineError {
    /// The list is not whole: perhaps somebody writes it.
    Unfinished { path: PathBuf, problem: String },
    /// The list is another one than when the command looked, or counts what is not here: perhaps somebody copies the folder.
    Listed { awaited: String, problem: String },
    /// An error that stays, whatever files come.
    Failed(Failure),
}

impl Transcripts {
    /// Reads the folder. What is wrong with a file is said.
    pub(super) fn read<S: Bls12381Suite>(
        folder: &Folder,
        ceremony: &Ceremony<S>,
        problems: &mut Problems,
    ) -> Result<Self, Failure> {
        let mut found = Self::default();
        for (path, _) in folder.files_in(&folder.transcripts_path(), problems)? {
            match read_one(&path, ceremony) {
                Err(problem) => problems.unfinished(&path, problem),
                Ok(signed) => {
                    let is_named = path == folder.transcript_path(ceremony.name(signed.sender()));
                    found.0.entry(signed.sender()).or_default().add(path, signed, is_named);
                }
            }
        }
        for (dealer, of) in &found.0 {
            of.say_what_is_wrong(ceremony.name(*dealer), &folder.transcript_path(ceremony.name(*dealer)), problems);
        }
        Ok(found)
    }

    /// The dealers whose transcripts are there.
    pub(super) fn published(&self) -> Vec<MemberNumber> {
        self.0.iter().filter(|(_, of)| of.counts()).map(|(dealer, _)| *dealer).collect()
    }

    /// The dealers who signed two different transcripts.
    pub(super) fn twice(&self) -> Vec<MemberNumber> {
        self.0.iter().filter(|(_, of)| of.signed.len() > 1).map(|(dealer, _)| *dealer).collect()
    }

    /// The dealers whose transcripts are not there.
    pub(super) fn missing<S: Bls12381Suite>(&self, ceremony: &Ceremony<S>) -> Vec<MemberNumber> {
        let is_there = |dealer: &MemberNumber| self.0.get(dealer).is_some_and(|of| of.counts() || of.signed.len() > 1);
        ceremony.dealers().filter(|dealer| !is_there(dealer)).collect()
    }

    /// What can prove something: of each dealer up to two that differ, under any name.
    pub(super) fn evidence(self) -> Vec<SignedTranscript> {
        self.0.into_values().flat_map(|of| of.signed).collect()
    }

    /// Verifies the transcripts that count: all that are there, or those of `combination.json`.
    pub(super) fn combine<S: Bls12381Suite>(
        self,
        folder: &Folder,
        ceremony: &Ceremony<S>,
        problems: &mut Problems,
    ) -> Result<Combined<S>, CombineError> {
        let list = read_list(folder, ceremony)?;
        for dealer in self.twice() {
            let name = ceremony.name(dealer);
            let is_listed = |list: &Combination| list.transcripts().iter().any(|entry| entry.dealer == name.as_str());
            problems.once(&if list.as_ref().is_some_and(is_listed) {
                format!(
                    "of the transcripts of {name}, the one that {} lists counts",
                    folder.combination_path().display()
                )
            } else {
                format!("{name} is left out")
            });
        }
        let signed: Vec<_> = match &list {
            Some(list) => self.listed(list, folder, ceremony)?,
            None => self.0.into_values().filter(OfDealer::counts).flat_map(|of| of.signed).collect(),
        };
        let options = Options::default();
        let verified = verified(ceremony, &signed)?;
        let mut transcripts = Vec::with_capacity(verified.len());
        let mut entries = Vec::with_capacity(verified.len());
        for (signed, verified) in signed.iter().zip(verified) {
            let (sender, name) = (signed.sender(), ceremony.name(signed.sender()));
            let path = folder.transcript_path(name);
            match verified {
                Ok(transcript) => {
                    transcripts.push((sender, transcript));
                    entries.push(CountedTranscript { dealer: name.to_string(), digest: signed.digest().to_string() });
                }
                Err(reason) if list.is_some() => {
                    return Err(CombineError::Failed(Failure::usage(anyhow!(
                        "{} is false, and {} counts it: {reason}; whoever wrote that list is wrong",
                        path.display(),
                        folder.combination_path().display()
                    ))));
                }
                Err(reason) => problems.once(&format!(
                    "the transcript of {name} is false, which {} proves to anyone: {reason}",
                    path.display()
                )),
            }
        }
        if !ceremony.are_enough(transcripts.iter().map(|(dealer, _)| *dealer)) {
            let dealt: usize = transcripts.iter().map(|(_, transcripts)| transcripts.len()).sum();
            let of = if dealt == transcripts.len() { String::new() } else { format!(" of {dealt} shares") };
            return Err(CombineError::Failed(Failure::usage(anyhow!(
                "{} transcripts{of} are true, and {} are needed for a key",
                transcripts.len(),
                ceremony.dealers_needed()
            ))));
        }
        let contributions = contributions(ceremony, &transcripts, &options)?;
        let commitment = contributions.commitment().clone();
        let key =
            SharedKey::new(ceremony.suite(), ceremony.committee().clone(), commitment).map_err(Failure::internal)?;
        if ceremony.previous().is_some_and(|previous| previous.public_key() != key.public_key()) {
            return Err(CombineError::Failed(Failure::internal(anyhow!(
                "the shares of the previous key make another key"
            ))));
        }
        let list = Combination::new(ceremony, entries);
        Ok(Combined { key, transcripts, list })
    }

    /// The transcripts that a list counts, under any name. Also one that its dealer has followed by another since, so that nobody takes
    /// shares away from those who come later.
    fn listed<S: Bls12381Suite>(
        mut self,
        list: &Combination,
        folder: &Folder,
        ceremony: &Ceremony<S>,
    ) -> Result<Vec<SignedTranscript>, CombineError> {
        let mut listed = BTreeMap::new();
        for CountedTranscript { dealer, digest } in list.transcripts() {
            let name = Name::new(dealer).map_err(Failure::usage)?;
            let number = ceremony.member_named(&name);
            let of = number.and_then(|number| self.0.get_mut(&number));
            let is_listed = |(_, found): &&(PathBuf, CeremonyDigest)| found.to_string() == *digest;
            let Some((path, of)) = of.and_then(|of| Some((of.files.iter().find(is_listed)?.0.clone(), of))) else {
                let list = folder.combination_path();
                let list = list.display();
                return Err(CombineError::Listed {
                    awaited: format!("the transcript of {dealer} that {list} counts"),
                    problem: format!(
                        "{list} counts the transcript of {dealer} with the digest {digest}, and {} is another one or is not there; \
                         get both files from the same member",
                        folder.transcript_path(&name).display()
                    ),
                });
            };
            let kept = of.signed.iter().position(|signed| signed.digest().to_string() == *digest);
            let signed = match kept {
                Some(place) => of.signed.swap_remove(place),
                None => read_one(&path, ceremony).map_err(|problem| Failure::usage(anyhow!(problem)))?,
            };
            listed.insert(signed.sender(), signed);
        }
        Ok(listed.into_values().collect())
    }
}

impl OfDealer {
    fn add(&mut self, path: PathBuf, signed: SignedTranscript, is_named: bool) {
        self.files.push((path, signed.digest()));
        self.is_named |= is_named;
        match self.signed.iter().position(|known| *known == signed) {
            Some(place) if is_named => self.signed.swap(0, place),
            Some(_) => {}
            None if is_named => self.signed.insert(0, signed),
            None => self.signed.push(signed),
        }
        self.signed.truncate(2);
    }

    /// Whether there is one transcript, under the name of its dealer.
    fn counts(&self) -> bool {
        self.is_named && self.signed.len() == 1
    }

    /// Says who signed two, and which files have not the name that they should have.
    fn say_what_is_wrong(&self, name: &Name, expected: &Path, problems: &mut Problems) {
        let file = |digest| self.files.iter().find(|(_, found)| *found == digest).expect("it was read").0.display();
        if let [first, second] = &self.signed[..] {
            problems.once(&format!(
                "{name} signed two different transcripts, which {} and {} prove",
                file(first.digest()),
                file(second.digest())
            ));
            return;
        }
        let mut whole = self.is_named.then_some(expected);
        for (path, _) in self.files.iter().filter(|(path, _)| path != expected) {
            let problem = match whole {
                Some(whole) => format!("it is a copy of {}; remove it", whole.display()),
                None => format!(
                    "it has the transcript of {name}, which is not taken under this name; rename it to {}",
                    expected.display()
                ),
            };
            problems.of(&path.display().to_string(), &problem);
            whole = whole.or(Some(path));
        }
    }
}

/// A file with a signed transcript, or what is wrong with it.
fn read_one<S: Bls12381Suite>(path: &Path, ceremony: &Ceremony<S>) -> Result<SignedTranscript, String> {
    let bytes = public_file::read_at_most(path, SignedTranscript::length(ceremony) as u64);
    let bytes = bytes.map_err(|error| in_full(&anyhow!(error)))?;
    SignedTranscript::from_bytes(&bytes, ceremony).map_err(|error| format!("{}: {error}", path.display()))
}

impl From<Failure> for CombineError {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

/// The error of a command that does not wait.
impl From<CombineError> for Failure {
    fn from(error: CombineError) -> Self {
        match error {
            CombineError::Unfinished { problem, .. } | CombineError::Listed { problem, .. } => {
                Self::usage(anyhow!(problem))
            }
            CombineError::Failed(failure) => failure,
        }
    }
}

impl<S: Bls12381Suite> Combined<S> {
    /// The sum of what the transcripts contribute.
    pub(super) fn contributions(&self, ceremony: &Ceremony<S>) -> Result<Contributions<'_, S>, Failure> {
        contributions(ceremony, &self.transcripts, &Options::default())
    }

    /// The dealers whose transcripts count.
    pub(super) fn dealers(&self) -> Vec<MemberNumber> {
        self.transcripts.iter().map(|(dealer, _)| *dealer).collect()
    }

    /// Writes `combination.json`, unless it is there, and says whose transcripts count.
    pub(super) fn write_list(&self, folder: &Folder, ceremony: &Ceremony<S>) -> Result<(), CombineError> {
        let path = folder.combination_path();
        let json = self.list.to_json().map_err(Failure::internal)?;
        let is_new = public_file::write_new(&path, json.as_bytes()).map_err(Failure::from)?;
        if !is_new && read_list(folder, ceremony)?.as_ref() != Some(&self.list) {
            return Err(CombineError::Listed {
                awaited: format!("what {} counts, which was written meanwhile", path.display()),
                problem: format!("{} was written meanwhile; run the same command again", path.display()),
            });
        }
        print::note(format_args!(
            "{}{}: the key is made of the transcripts of {}",
            if is_new { "wrote " } else { "" },
            path.display(),
            words::names(ceremony, &self.dealers())
        ));
        Ok(())
    }
}

/// The list that is there, if one is.
fn read_list<S: Bls12381Suite>(folder: &Folder, ceremony: &Ceremony<S>) -> Result<Option<Combination>, CombineError> {
    let path = folder.combination_path();
    let found = public_file::read_if_there(&path).map_err(Failure::from)?;
    let Some(json) = found else { return Ok(None) };
    Combination::from_json(&json, ceremony).map(Some).map_err(|error| {
        let problem = format!("{}: {error}; get it again from another member", path.display());
        match error {
            CombinationError::Json(_) => CombineError::Unfinished { path, problem },
            CombinationError::OtherCeremony { .. } | CombinationError::Members => {
                CombineError::Failed(Failure::usage(anyhow!(problem)))
            }
        }
    })
}

/// The transcripts of a dealer, one for each share that it deals, or why they do not prove themselves.
type OfOne<S> = Result<Vec<ShareTranscript<S>>, ShareTranscriptError>;

/// The transcripts of each dealer.
pub(super) fn verified<S: Bls12381Suite>(
    ceremony: &Ceremony<S>,
    signed: &[SignedTranscript],
) -> Result<Vec<OfOne<S>>, Failure> {
    let receivers = ceremony.share_receivers().map_err(Failure::usage)?;
    Ok(verify_signed(ceremony, &receivers, signed, &Options::default(), &mut random::generator()?))
}

fn contributions<'a, S: Bls12381Suite>(
    ceremony: &Ceremony<S>,
    transcripts: &'a [(MemberNumber, Vec<ShareTranscript<S>>)],
    options: &Options,
) -> Result<Contributions<'a, S>, Failure> {
    let contributions = match ceremony.previous() {
        None => Contributions::to_new_key(transcripts.iter().flat_map(|(_, transcripts)| transcripts), options),
        Some(previous) => {
            let of = |(dealer, transcripts): &'a (_, Vec<_>)| ceremony.previous_shares(*dealer).zip(transcripts);
            let dealt: Vec<_> = transcripts.iter().flat_map(of).collect();
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
