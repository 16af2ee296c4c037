//! `quorate-server checkpoint`: a node that syncs asks servers for checkpoints, and learns how far it may skip.
//!
//! The rules are those of `quorate-checkpoint`. This only asks the nodes, reads the files and prints what came of it.

mod headers;
mod node;
mod report;

use std::{
    collections::BTreeSet,
    io::Write,
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::{Context as _, anyhow};
use clap::{Args, Subcommand};
use futures_util::future::join_all;
use quorate::SourceId;
use quorate_checkpoint::{Client, ClientPolicy, Decision, NodeAnswer, NotSkipped};
use quorate_formats::array_from_hex;
use quorate_host::{
    dash,
    exit::{Exit, Failure, Result, note},
    file::make_private_folder,
    plain, service,
    text::TextError,
};
use serde::Serialize;

pub use self::{
    headers::{Headers, HeadersError},
    node::AskedNode,
};
use self::{
    node::Asked,
    report::{Fetched, Status},
};

/// Assumed-valid checkpoints for a node that syncs.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Ask servers for checkpoints, and say up to which height signatures may be skipped.
    ///
    /// It asks all nodes at the same time, verifies what they answer, writes it down, and then says what to do. It skips only if
    /// enough signers have signed a block that is on your chain and deep enough, and if nothing is against it.
    ///
    /// Exit codes: 0 skip up to the height that is printed, 1 verify everything, or another process uses the folder, 2 the command line
    /// or a file is not understood, 3 reading or writing failed, 130 interrupted. After any but 0, verify everything.
    #[command(override_usage = FETCH_USAGE)]
    Fetch(Fetch),
    /// Show what is held: the checkpoint, which blocks are still to be verified, and evidence against signers.
    ///
    /// Exit codes: 0 no alarm, 1 skipping has stopped for good, or another process uses the folder (nothing is printed then), 2 the
    /// command line or a file is not understood, 3 reading failed.
    #[command(override_usage = STATUS_USAGE)]
    Status(Show),
    /// Record that all blocks up to a height are verified: assumed, then proven.
    #[command(override_usage = PROVE_USAGE)]
    Prove(Prove),
    /// Record that a skipped block is invalid. Skipping stops until an operator acts.
    #[command(override_usage = REFUTE_USAGE)]
    Refute(Refute),
}

/// What a node holds, and whom it trusts.
#[derive(Debug, Args)]
pub struct Held {
    /// The folder with what this node holds. The first `fetch` makes it.
    #[arg(long, value_name = "FOLDER")]
    pub folder: PathBuf,
    /// The chain: 0x and 64 hexadecimal digits.
    #[arg(long, value_name = "HASH", value_parser = array_from_hex::<32>)]
    pub chain_id: [u8; 32],
    /// The id of the first set of signers, from somewhere that you trust: 0x and 64 hexadecimal digits.
    #[arg(long, value_name = "HASH", value_parser = array_from_hex::<32>)]
    pub pin: [u8; 32],
    /// Print JSON. In "held", "signatures" of the set's "signers" have signed, and "needed" of them must.
    #[arg(long)]
    pub json: bool,
}

/// `checkpoint fetch`.
#[derive(Debug, Args)]
pub struct Fetch {
    /// A node to ask: http://HOST:PORT or unix:/PATH. Name at least three that do not belong together, and at most 16.
    #[arg(long = "node", value_name = "NODE", required = true)]
    pub nodes: Vec<AskedNode>,
    /// The chain of headers that you have chosen: a text file with one `HEIGHT HASH` on each line, heights ascending, up to
    /// the newest block; `-` means standard input.
    #[arg(long, value_name = "FILE")]
    pub headers: PathBuf,
    /// How many blocks must stand above the checkpoint's: so many that nobody can rewrite them.
    #[arg(long, value_name = "BLOCKS")]
    pub depth: u64,
    /// How long a node may take to answer, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=600))]
    pub timeout: u64,
    /// What is held.
    #[command(flatten)]
    pub held: Held,
}

/// `checkpoint status`.
#[derive(Debug, Args)]
pub struct Show {
    /// What is held.
    #[command(flatten)]
    pub held: Held,
}

/// `checkpoint prove`.
#[derive(Debug, Args)]
pub struct Prove {
    /// The height up to which all blocks are verified.
    #[arg(long, value_name = "HEIGHT")]
    pub up_to: u64,
    /// What is held.
    #[command(flatten)]
    pub held: Held,
}

/// `checkpoint refute`.
#[derive(Debug, Args)]
pub struct Refute {
    /// The height of the block that is invalid.
    #[arg(long, value_name = "HEIGHT")]
    pub height: u64,
    /// What is held.
    #[command(flatten)]
    pub held: Held,
}

/// Runs a command at a time in Unix seconds, and prints what came of it.
///
/// # Errors
/// [`Failure`]: nothing was printed, so all blocks must be verified.
pub async fn run(command: &Command, now: u64, out: &mut impl Write) -> Result {
    let (exit, text) = match command {
        Command::Fetch(flags) => fetch(flags, now).await?,
        Command::Status(Show { held }) => {
            let status = Status::new(&reopen(held)?);
            let exit = if status.is_alarm() { Exit::Negative } else { Exit::Success };
            (exit, show(held, &status, Status::text))
        }
        Command::Prove(Prove { up_to, held }) => {
            let mut client = reopen(held)?;
            client.proven(*up_to)?;
            (Exit::Success, show(held, &Status::new(&client), Status::text))
        }
        Command::Refute(Refute { height, held }) => {
            let mut client = reopen(held)?;
            client.refuted(*height)?;
            (Exit::Success, show(held, &Status::new(&client), Status::text))
        }
    };
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(Failure::io)?;
    Ok(exit)
}

fn open(held: &Held, burial: u64) -> Result<Client> {
    let policy = ClientPolicy::new(held.chain_id, held.pin, burial);
    Ok(Client::open(policy, &held.folder.join("ratchet"), &mut rand::rng())?)
}

/// Opens what `fetch` has written, without asking anyone.
fn reopen(held: &Held) -> Result<Client> {
    let folder = &held.folder;
    if let Err(error) = folder.metadata() {
        let hint = format!(
            "--folder {}: nothing is held there; run `checkpoint fetch` first, which makes it",
            folder.display()
        );
        return Err(Failure::io(anyhow::Error::new(error).context(hint)));
    }
    open(held, 0)
}

fn show<T: Serialize>(held: &Held, what: &T, text: impl Fn(&T) -> String) -> String {
    if held.json {
        let json = serde_json::to_string(what).expect("numbers, texts and lists can always be written");
        return plain::in_json(&json) + "\n";
    }
    text(what)
}

async fn fetch(flags: &Fetch, now: u64) -> Result<(Exit, String)> {
    let Fetch { nodes, headers, depth, timeout, held } = flags;
    let distinct = nodes.iter().collect::<BTreeSet<_>>().len();
    let needed = ClientPolicy::new(held.chain_id, held.pin, *depth).least_nodes;
    if !(needed..=MOST_NODES).contains(&distinct) || distinct < nodes.len() {
        return Err(Failure::usage(anyhow!(
            "--node: found {} nodes, {distinct} of them distinct; expected {needed} to {MOST_NODES}, each named once",
            nodes.len()
        )));
    }
    let chain = read_headers(headers)?;
    let made = make_private_folder(&held.folder);
    made.with_context(|| format!("--folder {}", held.folder.display())).map_err(Failure::io)?;
    // Before anyone is asked, because it may be that nothing can be written down.
    let mut client = open(held, *depth)?;
    let answers = tokio::select! {
        // In this order: a signal is listened for before anyone is asked.
        biased;
        () = service::interrupted() => {
            note("interrupted; nothing was decided, so verify all blocks");
            return Err(Failure::interrupted());
        }
        answers = ask(nodes, Duration::from_secs(*timeout)) => answers,
    };
    let update = client.update(&answers, now, &chain, &mut rand::rng());
    let exit = match &update.decision {
        Decision::Skip { .. } => Exit::Success,
        Decision::VerifyAll(NotSkipped::NotWritten(_)) => Exit::Io,
        Decision::VerifyAll(_) => Exit::Negative,
    };
    let fetched = Fetched::new(&answers, &update, &client, now, &chain);
    Ok((exit, show(held, &fetched, Fetched::text)))
}

/// Asks all nodes at the same time. Two that were reached at one place are one.
async fn ask(nodes: &[AskedNode], longest: Duration) -> Vec<NodeAnswer> {
    let asked = join_all(nodes.iter().map(|node| node.ask(longest))).await;
    let mut places = Vec::new();
    let answers = nodes.iter().zip(asked).map(|(node, Asked { place, body })| {
        let again = place.as_ref().is_some_and(|place| places.contains(place));
        places.extend(place);
        let body = if again { Err("it is a node that is named twice".to_owned()) } else { body };
        NodeAnswer { node: SourceId::from(node.to_string().as_str()), body }
    });
    answers.collect()
}

fn read_headers(path: &Path) -> Result<Headers> {
    let name = format!("--headers {}", path.display());
    let file = dash::open(path).map_err(|failure| failure.context(name.clone()))?;
    Headers::read(file).map_err(|error| match error {
        HeadersError::Text(TextError::Read(error)) => Failure::io(anyhow::Error::new(error).context(name)),
        error => Failure::usage(anyhow::Error::new(error).context(name)),
    })
}

// Clap's own usage lines do not fit.
const FETCH_USAGE: &str = "\
quorate-server checkpoint fetch [OPTIONS] --node <NODE>
           --headers <FILE> --depth <BLOCKS> --folder <FOLDER>
           --chain-id <HASH> --pin <HASH>";
const STATUS_USAGE: &str = "\
quorate-server checkpoint status [OPTIONS] --folder <FOLDER>
           --chain-id <HASH> --pin <HASH>";
const PROVE_USAGE: &str = "\
quorate-server checkpoint prove [OPTIONS] --up-to <HEIGHT>
           --folder <FOLDER> --chain-id <HASH> --pin <HASH>";
const REFUTE_USAGE: &str = "\
quorate-server checkpoint refute [OPTIONS] --height <HEIGHT>
           --folder <FOLDER> --chain-id <HASH> --pin <HASH>";

/// Nodes that are asked. Their answers take at most 8 MiB each.
const MOST_NODES: usize = 16;
