//! The folder of a ceremony, which all members share or keep copies of:
//!
//! ```text
//! ceremony.json                    what it is for, and who takes part
//! messages/1-deal-alice.json …     one file a message, named by its round and its sender
//! transcripts/alice.transcript …   in a ceremony in one round, one file a dealer
//! combination.json                 in such a ceremony, which transcripts made the key
//! shared-key.json                  the key, once it is there
//! blame-mallory-3f….json           what proves that somebody broke the rules
//! ```
//!
//! Messages are signed, so it does not matter who wrote a file, and how it came. Files whose names begin with a dot are none of
//! the ceremony: programs that copy files use such names for files that are not whole yet.

use std::{
    collections::{BTreeMap, HashSet},
    fs,
    hash::{BuildHasher as _, RandomState},
    io::{self, ErrorKind},
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use anyhow::{Context as _, anyhow};
use quorate::{Backend, Bls12381Suite};
use quorate_host::{
    clipped,
    exit::{Failure, in_full},
    text::json_reason,
};
use quorate_threshold::{
    dkg::{Body, Ceremony, CeremonyError, CeremonyMessage, MemberNumber, MessageError, Name, Round, SignedTranscript},
    shared_key::suite_of_json,
};

use super::{
    public_file::{self, Stamp},
    words,
};
use crate::commands::{
    complaints::Complaints,
    print, shared_key,
    suite::{Bls12381Argument, Bls12381Choice},
};

/// Where the files of a ceremony stand.
#[derive(Clone, Debug)]
pub(super) struct Folder {
    path: PathBuf,
}

/// A folder whose `ceremony.json` was read, and the suite that it names.
pub(super) struct CeremonyFile {
    pub(super) folder: Folder,
    json: Vec<u8>,
    suite: Bls12381Choice,
}

/// A file in `messages/` with a message of a member of this ceremony. Its signature was not verified.
pub(super) struct MessageFile {
    /// In messages.
    pub(super) name: String,
    pub(super) message: CeremonyMessage,
    /// Whether the file has the name that this message has.
    pub(super) is_named_rightly: bool,
}

/// What is wrong with files in `messages/`: a line each, once, however often the folder is read, and not one for each of thousands.
#[derive(Default)]
pub(super) struct Problems {
    complaints: Complaints,
    /// Hashes of what was said or counted, so that they cost little memory whatever others write.
    known: HashSet<u64>,
    hasher: RandomState,
    /// How long a file may stay unfinished before it is named; by default it is named at once.
    patience: Option<Duration>,
    unfinished: BTreeMap<PathBuf, Unfinished>,
}

/// A file that is not whole. Perhaps somebody writes it.
struct Unfinished {
    problem: String,
    stamp: Option<Stamp>,
    since: Instant,
    is_named: bool,
}

impl CeremonyFile {
    /// Reads `ceremony.json`, and finds out its suite.
    pub(super) fn read(folder: &Path) -> Result<Self, Failure> {
        let folder = Folder { path: folder.to_owned() };
        let path = folder.ceremony_path();
        let json = public_file::read_if_there(&path)?.ok_or_else(|| {
            Failure::usage(anyhow!(
                "{} is not there; name the folder of a ceremony, which `quorate dkg init` makes, or get that file from whoever \
                 made the ceremony",
                path.display()
            ))
        })?;
        let name = || path.display().to_string();
        let suite = suite_of_json(&json).map_err(|error| shared_key::unreadable(&json, error).context(name()))?;
        let suite =
            Bls12381Choice::try_from(suite).map_err(|reason| Failure::usage(anyhow!(reason)).context(name()))?;
        Ok(Self { folder, json, suite })
    }

    /// The suite of the shared key.
    pub(super) fn suite(&self) -> Bls12381Argument {
        Bls12381Argument { suite: self.suite }
    }

    /// The ceremony, in the variant of its suite.
    pub(super) fn ceremony<S: Bls12381Suite>(&self) -> Result<Ceremony<S>, Failure> {
        let in_file = |failure: Failure| failure.context(self.folder.ceremony_path().display().to_string());
        let ceremony = Ceremony::from_json(&self.json, Backend::auto()).map_err(|error| {
            let error = match error {
                CeremonyError::Json(error) => {
                    anyhow!("it is not the JSON of a ceremony: {}", json_reason(&self.json, &error))
                }
                error => error.into(),
            };
            in_file(Failure::usage(error))
        })?;
        refuse_long_transcripts(&ceremony).map_err(in_file)?;
        Ok(ceremony)
    }
}

impl Folder {
    /// Makes the folder of a new ceremony. It may be there without a ceremony in it.
    pub(super) fn create<S: Bls12381Suite>(path: &Path, ceremony: &Ceremony<S>) -> Result<Self, Failure> {
        let folder = Self { path: path.to_owned() };
        folder.refuse_taken()?;
        folder.make_messages_folder()?;
        if public_file::write_new(&folder.ceremony_path(), ceremony.to_json().as_bytes())? {
            Ok(folder)
        } else {
            Err(folder.taken())
        }
    }

    /// Makes the folder of the messages, unless it is there. Some transports, such as git, carry no empty folders.
    pub(super) fn make_messages_folder(&self) -> Result<(), Failure> {
        Self::make(&self.messages_path())
    }

    /// Makes a folder, unless it is there.
    pub(super) fn make(path: &Path) -> Result<(), Failure> {
        fs::create_dir_all(path).with_context(|| format!("cannot create {}", path.display())).map_err(Failure::io)
    }

    /// Refuses a folder that has a ceremony already, or files of one.
    fn refuse_taken(&self) -> Result<(), Failure> {
        if fs::symlink_metadata(self.ceremony_path()).is_ok() {
            return Err(self.taken());
        }
        let has_files = |path: &Path| fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_some());
        for path in [self.messages_path(), self.transcripts_path()] {
            if has_files(&path) {
                return Err(Failure::usage(anyhow!(
                    "{} has files already, and nobody has said anything in a new ceremony; name another folder",
                    path.display()
                )));
            }
        }
        for path in [self.combination_path(), self.shared_key_path()] {
            if fs::symlink_metadata(&path).is_ok() {
                return Err(Failure::usage(anyhow!(
                    "{} exists already, and a new ceremony has made no key yet; name another folder",
                    path.display()
                )));
            }
        }
        Ok(())
    }

    fn taken(&self) -> Failure {
        Failure::usage(anyhow!(
            "{} exists already and is left as it is; name another folder for the new ceremony",
            self.ceremony_path().display()
        ))
    }

    pub(super) fn display(&self) -> impl std::fmt::Display {
        self.path.display()
    }

    /// The path of a file or folder of the ceremony.
    pub(super) fn inside(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    fn ceremony_path(&self) -> PathBuf {
        self.inside("ceremony.json")
    }

    pub(super) fn messages_path(&self) -> PathBuf {
        self.inside("messages")
    }

    pub(super) fn shared_key_path(&self) -> PathBuf {
        self.inside("shared-key.json")
    }

    pub(super) fn blame_path(&self, name: &Name, digest: &str) -> PathBuf {
        self.path.join(format!("blame-{name}-{digest}.json"))
    }

    pub(super) fn message_path(&self, round: Round, name: &Name) -> PathBuf {
        self.messages_path().join(message_name(round, name))
    }

    /// The messages that are there, those with their own names first. Those with other names are signed, and of each sender and round at
    /// most two that differ, however many files there are. What is wrong with other files is said.
    pub(super) fn messages<S: Bls12381Suite>(
        &self,
        ceremony: &Ceremony<S>,
        problems: &mut Problems,
    ) -> Result<Vec<MessageFile>, Failure> {
        let (mut named, mut misnamed) = (Vec::new(), BTreeMap::<_, Vec<MessageFile>>::new());
        for (path, name) in self.files_in(&self.messages_path(), problems)? {
            let Some(file) = read(ceremony, &path, &name, problems) else { continue };
            let key @ (round, sender) = (file.message.round(), file.message.sender());
            if file.is_named_rightly {
                named.push(file);
                continue;
            }
            if !file.message.seen().is_signed(ceremony) {
                problems.of(&file.name, &words::message_error(ceremony, &MessageError::Signature(sender)));
                continue;
            }
            let known = misnamed.entry(key).or_default();
            match known.iter().find(|known| known.message == file.message) {
                Some(known) => problems.of(&file.name, &format!("it is a copy of {}; remove it", known.name)),
                None if known.len() < 2 => known.push(file),
                None => problems.once(&signed_two(ceremony, round, sender, [&known[0].name, &file.name])),
            }
        }
        named.extend(misnamed.into_values().flatten());
        Ok(named)
    }

    /// The files in a folder and their names, in the order of these. A folder that is not there has none.
    pub(super) fn files_in(&self, folder: &Path, problems: &mut Problems) -> Result<Vec<(PathBuf, String)>, Failure> {
        let cannot =
            |error: io::Error| Failure::io(anyhow!(error).context(format!("cannot read {}", folder.display())));
        let entries = match fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(cannot(error)),
        };
        let names = entries.map(|entry| entry.map(|entry| entry.file_name())).collect::<io::Result<Vec<_>>>();
        let mut names = names.map_err(cannot)?;
        names.sort();
        let mut files = Vec::new();
        for name in names.iter().filter(|name| !name.as_encoded_bytes().starts_with(b".")) {
            let path = folder.join(name);
            match name.to_str() {
                Some(name) => files.push((path, name.to_owned())),
                None => problems
                    .say(&format!("{}: the file's name is not UTF-8; remove it, or give it its name", path.display())),
            }
        }
        Ok(files)
    }

    /// The messages that are there and count: signed by their senders, of rounds in which these have something to say.
    /// `others` are further messages that were signed, which prove something at most.
    pub(super) fn board<S: Bls12381Suite>(
        &self,
        ceremony: &Ceremony<S>,
        problems: &mut Problems,
    ) -> Result<Board, Failure> {
        let mut board = Board::default();
        let (mut named, mut misnamed) = (BTreeMap::new(), Vec::new());
        for file in self.messages(ceremony, problems)? {
            let (round, sender) = (file.message.round(), file.message.sender());
            if !file.is_named_rightly {
                misnamed.push(file);
            } else if file.message.seen().is_signed(ceremony) {
                named.insert((round, sender), file);
            } else {
                problems.of(&file.name, &words::message_error(ceremony, &MessageError::Signature(sender)));
            }
        }
        say_misnamed(ceremony, &named, &misnamed, problems);
        board.messages = named.into_iter().map(|(key, file)| (key, file.message)).collect();
        for MessageFile { message, .. } in misnamed {
            if board.messages.get(&(message.round(), message.sender())) != Some(&message) {
                board.others.push(message);
            }
        }
        Ok(board)
    }
}

/// What `messages/` says, to somebody who takes no part.
#[derive(Default)]
pub(super) struct Board {
    pub(super) messages: BTreeMap<(Round, MemberNumber), CeremonyMessage>,
    pub(super) others: Vec<CeremonyMessage>,
}

impl Board {
    /// The dealers without whose deal the others have gone on.
    pub(super) fn left_out<S: Bls12381Suite>(&self, ceremony: &Ceremony<S>) -> Vec<MemberNumber> {
        let is_left_out = |dealer: &MemberNumber| gone_on_without(ceremony, *dealer, self.messages.values()).is_some();
        ceremony.dealers().filter(is_left_out).collect()
    }
}

/// The other receivers who have answered the deals without that of a dealer, if no outcome with it can be confirmed without them. That they
/// did not see the deal is what they say. Where each receiver must confirm, it is enough that one says so.
pub(super) fn gone_on_without<'a, S: Bls12381Suite>(
    ceremony: &Ceremony<S>,
    dealer: MemberNumber,
    messages: impl Iterator<Item = &'a CeremonyMessage>,
) -> Option<Vec<MemberNumber>> {
    let is_without = |message: &&CeremonyMessage| {
        message.sender() != dealer
            && matches!(message.body(), Body::Response { deals, .. } if deals.iter().all(|deal| deal.sender != dealer))
    };
    let without: Vec<_> = messages.filter(is_without).map(CeremonyMessage::sender).collect();
    let left = ceremony.receivers().count() - without.len();
    let deals = ceremony.dealers().any(|other| other == dealer);
    (deals && left < ceremony.confirmations_needed()).then_some(without)
}

impl Problems {
    /// Those of a command that reads the folder again and again: a file that is not whole is named when it has not changed for a while.
    pub(super) fn patient(patience: Duration) -> Self {
        Self { patience: Some(patience), ..Self::default() }
    }

    /// Says what is wrong, if not many files before it had the same fault.
    pub(super) fn say(&mut self, problem: &str) {
        // The text of a parser can repeat what stands in a file.
        let short = clipped(problem, LONGEST);
        if self.is_new(&short) && self.complaints.admit(&short) {
            print::note(format_args!("warning: {short}"));
        }
    }

    /// Says something that is no file's fault, unless it was said before.
    pub(super) fn once(&mut self, text: &str) {
        if self.is_new(text) {
            print::note(text);
        }
    }

    /// Whether something was not said before. It is said now.
    pub(super) fn is_new(&mut self, text: &str) -> bool {
        self.known.insert(self.hasher.hash_one(text))
    }

    /// Says that a file is not whole, at once or when it stays as it is.
    pub(super) fn unfinished(&mut self, path: &Path, problem: String) {
        if self.patience.is_none() {
            self.say(&problem);
            return;
        }
        let stamp = public_file::stamp(path);
        let known = self.unfinished.get(path).is_some_and(|known| known.problem == problem && known.stamp == stamp);
        if !known {
            let (since, is_named) = (Instant::now(), false);
            self.unfinished.insert(path.to_owned(), Unfinished { problem, stamp, since, is_named });
        }
    }

    /// Names the files that are not whole and have not changed for long enough. Whether there was a new one.
    pub(super) fn name_stalled(&mut self) -> bool {
        let patience = self.patience.unwrap_or_default();
        // What has changed or is gone is read again, or not.
        self.unfinished.retain(|path, file| public_file::stamp(path) == file.stamp && path.symlink_metadata().is_ok());
        let stalled = self.unfinished.values_mut().filter(|file| !file.is_named && file.since.elapsed() >= patience);
        let stalled: Vec<_> = stalled
            .map(|file| {
                file.is_named = true;
                file.problem.clone()
            })
            .collect();
        stalled.iter().for_each(|problem| self.say(problem));
        !stalled.is_empty()
    }

    /// Names all files that are not whole, because nobody reads them again.
    pub(super) fn name_unfinished(&mut self) {
        self.patience = Some(Duration::ZERO);
        self.name_stalled();
    }

    /// Whether a file was named because it stays unfinished.
    pub(super) fn is_stalled(&self, path: &Path) -> bool {
        self.unfinished.get(path).is_some_and(|file| file.is_named)
    }

    pub(super) fn of(&mut self, name: &str, problem: &str) {
        self.say(&format!("{name}: {problem}"));
    }

    /// Says how many were not printed.
    pub(super) fn end(&mut self) {
        let rest: Vec<_> = self.complaints.rest().collect();
        rest.iter().for_each(|line| self.once(line));
    }
}

/// The name of the file with a member's message of a round: `1-deal-alice.json`.
pub(super) fn message_name(round: Round, name: &Name) -> String {
    format!("{}-{round}-{name}.json", round as u8)
}

/// Says which files have not the names of the messages in them, and which members signed two messages of a round. All messages are signed
/// by their senders. `named` has those whose files have their names.
pub(super) fn say_misnamed<S: Bls12381Suite>(
    ceremony: &Ceremony<S>,
    named: &BTreeMap<(Round, MemberNumber), MessageFile>,
    misnamed: &[MessageFile],
    problems: &mut Problems,
) {
    let mut first = BTreeMap::new();
    for file in misnamed {
        let key @ (round, sender) = (file.message.round(), file.message.sender());
        let known = named.get(&key).unwrap_or_else(|| first.entry(key).or_insert(file));
        let (name, expected) = (ceremony.name(sender), message_name(round, ceremony.name(sender)));
        if known.message != file.message {
            let is_taken = if known.is_named_rightly { "" } else { "; neither is taken" };
            problems.once(&(signed_two(ceremony, round, sender, [&known.name, &file.name]) + is_taken));
        } else {
            problems.of(
                &file.name,
                &format!(
                    "it has a message of {name} of the round `{round}`, which is not taken under this name; if {expected} is not \
                     there, rename it"
                ),
            );
        }
    }
}

/// That two files prove that a member has cheated.
fn signed_two<S: Bls12381Suite>(
    ceremony: &Ceremony<S>,
    round: Round,
    sender: MemberNumber,
    files: [&str; 2],
) -> String {
    let [first, second] = files;
    let name = ceremony.name(sender);
    format!("{name} signed two different messages of the round `{round}`, which {first} and {second} prove")
}

/// A file of a member's message. If it is none, that is said.
fn read<S: Bls12381Suite>(
    ceremony: &Ceremony<S>,
    path: &Path,
    name: &str,
    problems: &mut Problems,
) -> Option<MessageFile> {
    let display = path.display().to_string();
    let message = public_file::read_at_most(path, longest_message(ceremony))
        .map_err(|error| in_full(&anyhow!(error)))
        .and_then(|json| {
            CeremonyMessage::from_json(&json).map_err(|error| {
                let why = json_reason(&json, &error);
                format!(
                    "{display}: it is not a whole message: {why}; get the file again from whoever wrote it, or remove it"
                )
            })
        });
    let message = message.map_err(|problem| problems.unfinished(path, problem)).ok()?;
    let (round, sender) = (message.round(), message.sender());
    let error = if message.ceremony() != ceremony.id() {
        Some(MessageError::OtherCeremony { found: message.ceremony(), expected: ceremony.id() })
    } else if ceremony.member(sender).is_none() {
        Some(MessageError::NoSuchMember(sender))
    } else if !speaks(ceremony, sender, round) {
        Some(MessageError::NoRole { sender, round })
    } else {
        None
    };
    if let Some(error) = error {
        problems.of(&display, &words::message_error(ceremony, &error));
        return None;
    }
    let is_named_rightly = name == message_name(round, ceremony.name(sender));
    Some(MessageFile { name: display, message, is_named_rightly })
}

/// Refuses a ceremony whose transcripts would be longer than any file that its members read.
pub(super) fn refuse_long_transcripts<S: Bls12381Suite>(ceremony: &Ceremony<S>) -> Result<(), Failure> {
    if !ceremony.is_one_round() {
        return Ok(());
    }
    let (length, longest, shares) =
        (SignedTranscript::length(ceremony) as u64, public_file::LARGEST, ceremony.committee().participants());
    if length > longest {
        let dealt = ceremony.dealers().map(|dealer| ceremony.previous_shares(dealer).count()).max().unwrap_or(0);
        let dealt =
            if dealt > 1 { format!(", by a dealer of {dealt} shares of the previous key,") } else { String::new() };
        return Err(Failure::usage(anyhow!(
            "a transcript for {shares} shares{dealt} has {length} bytes, and no file of a ceremony has more than {longest}; take fewer \
             shares"
        )));
    }
    Ok(())
}

/// More bytes than any message of a ceremony has: in hexadecimal a point of G2 has 192 digits, an envelope 224, and what a member says to
/// have seen a digest and a signature, 256. Messages that are too long can still be read if they have as much too much.
fn longest_message<S: Bls12381Suite>(ceremony: &Ceremony<S>) -> u64 {
    let (members, receivers) = (ceremony.members().count(), ceremony.receivers().count());
    let seen = members * ceremony.rounds().len().max(1) * 400;
    let length = 4096 + 2 * (ceremony.committee().threshold() * 200 + receivers * 300 + members * 300 + seen);
    public_file::LARGEST.min(length as u64)
}

/// Whether a member can have something to say in a round.
fn speaks<S: Bls12381Suite>(ceremony: &Ceremony<S>, member: MemberNumber, round: Round) -> bool {
    let deals = || ceremony.dealers().any(|dealer| dealer == member);
    ceremony.rounds().contains(&round)
        && match round {
            Round::Deal | Round::Justification | Round::Reveal => deals(),
            Round::Response | Round::Absence | Round::Disclosure | Round::Confirmation | Round::Contribution => {
                ceremony.receiver_index(member).is_some()
            }
        }
}

/// Characters of a problem that are printed.
const LONGEST: usize = 400;
