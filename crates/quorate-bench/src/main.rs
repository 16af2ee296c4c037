//! quorate's benchmarks: definitions × engines → rows → report.
//!
//! Engines of one benchmark are measured in turn in one process (A B A B …), answers are asserted, and a row carries
//! the least, the median and the greatest time. See `BENCHMARKING.md`.

#![forbid(unsafe_code)]

mod built;
mod cpu;
mod data;
mod methods;
mod row;
mod measure;
mod batch;
mod bn254;
mod service;
mod mix;
mod block;
mod aggregate;
mod chain;
mod peers;
mod record;
mod shown;
mod compare;
mod culprits;
mod curve;
mod dropin;
mod field;
mod gas;
mod history;
mod msm;
mod one_round;
#[cfg(feature = "network")]
mod network;
mod page;
mod plot;
mod speed;
mod report;
mod schemes;
mod single;
mod threshold;
mod votes;

use std::{
    cell::RefCell,
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Context, Result, ensure};
use clap::{Parser, Subcommand, ValueEnum};

use measure::{Effort, Run};
use quorate::Backend;
use quorate_host::flag::variable;
use row::{Clock, Machine, Row};

/// Measure quorate beside other libraries, compare schemes, or write the tables of the documents from recorded rows.
#[derive(Parser)]
#[command(subcommand_negates_reqs = true)]
#[command(override_usage = "quorate-bench [OPTIONS] <NAME>\n       quorate-bench [--dir DIR] compare|report [OPTIONS]")]
#[command(after_help = "Examples:
  quorate-bench batch --quick           a table in a few seconds
  quorate-bench culprits --json c.json  the rows as well
  quorate-bench all --record            every benchmark, recorded under benchmarks/
  quorate-bench peers --peers target/peers/list --clock cpu   beside the libraries that `make peers` builds
  quorate-bench compare --rtt 50ms      which scheme is the fastest over a network
  quorate-bench report                  the tables of the documents from the newest records
  quorate-bench report --html out/      all sources' figures beside ours, on one page
  quorate-bench report --dir ~/quorate  the same in a repository elsewhere")]
struct Arguments {
    /// What to measure
    #[arg(required = true)]
    name: Option<Name>,
    #[command(subcommand)]
    command: Option<Command>,
    /// Write an array of rows to this file
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Fewer sizes and rounds: each benchmark within two minutes
    #[arg(long)]
    quick: bool,
    /// Measure one backend beside the other libraries; every one that this machine has where left out. Not for a record
    #[arg(long, value_name = "NAME", env = variable("QUORATE_BACKEND"))]
    backend: Option<Backend>,
    /// The time that the table shows, `wall` where left out. Most rows have both; those without CPU time are shown by the wall
    #[arg(long, value_name = "CLOCK")]
    clock: Option<Clock>,
    /// The programs of other libraries, for `peers`: the list that `make peers` writes
    #[arg(long, value_name = "FILE")]
    peers: Option<PathBuf>,
    /// Write the rows and this machine's description into a folder of benchmarks/ by date and CPU; not for a quick run. If the
    /// folder is there, rows are added to it if the same machine, compiler and commit made it
    #[arg(long, conflicts_with = "quick")]
    record: bool,
    /// The repository whose benchmarks/ and documents are read and written
    #[arg(long, value_name = "DIR", default_value = ".", global = true)]
    dir: PathBuf,
}

/// What reads recorded rows and measures nothing.
#[derive(Subcommand)]
enum Command {
    Compare(compare::Options),
    /// Rewrite the generated tables of the documents, or write the page with --html
    Report {
        /// Write index.html into this folder: all figures on one page, without a request to any host
        #[arg(long, value_name = "DIR")]
        html: Option<PathBuf>,
    },
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Name {
    /// One claim by itself
    Single,
    /// Independent claims: distinct messages, one message, few signers
    Batch,
    /// A block of 1,000 signed transactions of which some are known; ECDSA beside it
    Block,
    /// 100 signatures singly, 100 messages aggregated, one message by 100 signers
    Aggregate,
    /// False claims among 128: the search beyond the failed batch
    Culprits,
    /// A slot of up to a million votes by the members of one set of keys; the keys; the sums of some of them
    Votes,
    /// Multi-scalar sums over public scalars of 255 bits
    Msm,
    /// Operations of the fields, in lanes and by blst
    Field,
    /// Claims on BN254 beside arkworks: one, many, one false, keys
    Bn254,
    /// The curve's verbs, whose costs the plan weighs
    Curve,
    /// One signature from t of n shares; transforms over the scalar field
    Threshold,
    /// A key from one transcript a dealer, for up to 1,024 members: dealing, verifying, decrypting
    OneRound,
    /// Each function of blst's Rust API, by blst and by quorate-blst
    Dropin,
    /// Hashes, single signatures of each scheme, and 32 delegates who sign by MuSig2, FROST, BLS and Ed25519
    Schemes,
    /// Claims that arrive one by one: throughput, latency, liars, overload, sync
    Service,
    /// Eras of Ethereum to claims, claims to verdicts, and claims from Parquet
    History,
    /// Gas of settling quorums on an EVM chain, n operators, beside the source's contracts
    Gas,
    /// All of the above
    All,
    /// Networks of nodes as processes on a local chain; with the feature `network`. Not one of `all`, because it starts
    /// quorate-node, quorate-signer, quorate-lab and anvil
    Network,
    /// Gas of a day of the demonstration's traffic, in 24 minutes; with the feature `network`. Not one of `all`
    Day,
    /// Networks of up to 10,000 nodes, simulated; with the feature `network`. Not one of `all`
    Simulated,
    /// The same tasks by quorate and by other libraries, and which are lost. Not one of `all`, because it starts the programs
    /// that `make peers` builds
    Peers,
}

impl Name {
    /// Whether it measures the backends of a run. The others take what a server, a program or a contract takes.
    fn has_backends(self) -> bool {
        !matches!(self, Self::Dropin | Self::Service | Self::Gas | Self::Network | Self::Day | Self::Simulated)
    }
}

#[cfg(not(feature = "network"))]
use without_networks as network;

/// What a build without networks of nodes says instead.
#[cfg(any(test, not(feature = "network")))]
mod without_networks {
    use anyhow::{Result, bail};

    use crate::{measure::Run, row::Row};

    pub(crate) fn run(_: &Run) -> Result<Vec<Row>> {
        bail!(
            "this quorate-bench was built without networks of nodes; build it with `cargo build --profile dist -p quorate-node \
             -p quorate-signer -p quorate-lab -p quorate-bench --features quorate-bench/network`"
        )
    }

    #[cfg(not(feature = "network"))]
    pub(crate) use self::{run as day, run as simulated};
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(3)
        }
    }
}

fn run(arguments: &Arguments) -> Result<()> {
    let measures = arguments.name.is_some()
        || arguments.json.is_some()
        || arguments.quick
        || arguments.record
        || arguments.clock.is_some();
    ensure!(
        arguments.peers.is_none() || arguments.name == Some(Name::Peers),
        "only `peers` reads the list of --peers: leave it out, or measure `peers`"
    );
    ensure!(
        arguments.command.is_none() || !measures,
        "a name of a benchmark, --json, --quick, --record and --clock before `compare` or `report` have no meaning, because \
         these measure nothing: leave them out, or write them behind",
    );
    ensure!(
        !arguments.record || arguments.backend.is_none(),
        "a record has every backend of its machine: leave out --backend and the variable QUORATE_BACKEND, or leave out --record"
    );
    ensure!(
        arguments.backend.is_none() || arguments.name.is_none_or(Name::has_backends),
        "this benchmark measures no backend of your choice: leave out --backend and the variable QUORATE_BACKEND"
    );
    let name = match (&arguments.command, arguments.name) {
        (Some(Command::Compare(options)), _) => return compare(&arguments.dir, options),
        (Some(Command::Report { html: None }), _) => {
            report::write(&arguments.dir)?.iter().for_each(|path| say_written(path));
            return Ok(());
        }
        (Some(Command::Report { html: Some(folder) }), _) => {
            say_written(&page::write(&arguments.dir, folder)?);
            return Ok(());
        }
        (None, name) => name.context("clap asks for a name where there is no subcommand")?,
    };
    let measured = Run {
        effort: if arguments.quick { Effort::Quick } else { Effort::Full },
        backends: arguments.backend.map_or_else(|| Backend::available().to_vec(), |backend| vec![backend]),
    };
    let cannot = RefCell::default();
    type Bench<'a> = &'a dyn Fn(&Run) -> Result<Vec<Row>>;
    let all: [(Name, &str, Bench<'_>); 21] = [
        (Name::Field, "field", &|run| Ok(field::run(run))),
        (Name::Curve, "curve", &|run| Ok(curve::run(run))),
        (Name::Msm, "msm", &|run| Ok(msm::run(run))),
        (Name::Single, "single", &|run| Ok(single::run(run))),
        (Name::Batch, "batch", &|run| Ok(batch::run(run))),
        (Name::Block, "block", &|run| Ok(block::run(run))),
        (Name::Aggregate, "aggregate", &|run| Ok(aggregate::run(run))),
        (Name::Culprits, "culprits", &|run| Ok(culprits::run(run))),
        (Name::Votes, "votes", &|run| Ok(votes::run(run))),
        (Name::Bn254, "bn254", &|run| Ok(bn254::run(run))),
        (Name::Threshold, "threshold", &|run| Ok(threshold::run(run))),
        (Name::OneRound, "one-round", &|run| Ok(one_round::run(run))),
        (Name::Dropin, "dropin", &|run| Ok(dropin::run(run))),
        (Name::Schemes, "schemes", &|run| Ok(schemes::run(run))),
        (Name::Service, "service", &|run| Ok([service::run(run), mix::run(run)].concat())),
        (Name::History, "history", &|run| Ok(history::run(run))),
        (Name::Gas, "gas", &|run| Ok(gas::run(run))),
        (Name::Network, "network", &network::run),
        (Name::Day, "day", &network::day),
        (Name::Simulated, "simulated", &network::simulated),
        (Name::Peers, "peers", &|run| peers::run(run, arguments.peers.as_deref(), &cannot)),
    ];
    let profile = built::profile()?;
    ensure!(
        !arguments.record || profile == built::PUBLISHED,
        "this quorate-bench is of the profile {profile}, and rows are recorded of what is published: build with --profile {}",
        built::PUBLISHED
    );
    ensure!(
        !arguments.record || cpu::name().is_some(),
        "this system does not say which CPU it has, so a record could be taken for one of another machine: leave out --record"
    );
    let machine = Machine::here()?;
    println!("{machine}\n");
    let folder = machine.folder(&arguments.dir);
    if arguments.record {
        can_record(&machine, &folder)?;
    }
    if let Some(path) = &arguments.json {
        // What cannot be written is said before hours of measuring, and what is there stays until there are rows.
        let file = fs::OpenOptions::new().append(true).create(true).open(path);
        file.with_context(|| format!("cannot write {}", path.display()))?;
    }
    let clock = arguments.clock.unwrap_or(Clock::Wall);
    let mut rows = Vec::new();
    for (each, file, bench) in all {
        if each != name
            && (name != Name::All || matches!(each, Name::Network | Name::Day | Name::Simulated | Name::Peers))
        {
            continue;
        }
        let made = bench(&measured)?;
        let shown: Vec<_> = made.iter().map(|row| row.by(clock)).collect();
        println!("{}", row::table(&shown));
        if each == Name::Peers {
            println!("{}", peers::table(&made, clock, peers::Colour::here()));
            println!("{}\n", peers::empty_cells(&cannot.borrow()));
        }
        if arguments.record {
            describe(&machine, &folder)?;
            write_json(&folder.join(format!("{file}.json")), &made)?;
            if each == Name::Peers {
                write_json(&folder.join(record::LEFT_OUT), &peers::left_out(arguments.peers.as_deref())?)?;
                write_json(&folder.join(record::CANNOT), &*cannot.borrow())?;
            }
            say_written(&folder);
        }
        rows.extend(made);
    }
    if let Some(path) = &arguments.json {
        write_json(path, &rows)?;
        say_written(path);
    }
    Ok(())
}

fn compare(root: &Path, options: &compare::Options) -> Result<()> {
    let answer = compare::Answer::new(root, options)?;
    print!("{}", answer.text());
    if let Some(path) = &options.json {
        write_json(path, &answer)?;
        say_written(path);
    }
    Ok(())
}

/// Whether rows of this machine can come into the folder of a record: none is there, or everything that it says still holds
/// but the time. That goes for all benchmarks together, too: they do not replace every row that can be there.
fn can_record(machine: &Machine, folder: &Path) -> Result<()> {
    let path = folder.join(record::DESCRIPTION);
    if path.exists() {
        let stored: Machine = record::read(&path)?;
        ensure!(
            machine.is_as(&stored),
            "{} is of {stored}, with {}, and this is {machine}, with {}; move that folder away",
            folder.display(),
            stored.flags,
            machine.flags,
        );
    }
    Ok(())
}

/// Writes the description of the machine into the folder of a record, before its first rows. One that is there stays.
fn describe(machine: &Machine, folder: &Path) -> Result<()> {
    let path = folder.join(record::DESCRIPTION);
    if path.exists() {
        return Ok(());
    }
    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    write_json(&path, machine)
}

fn say_written(path: &Path) {
    eprintln!("wrote {}", path.display());
}

fn write_json(path: &std::path::Path, value: &impl serde::Serialize) -> Result<()> {
    let mut text = serde_json::to_string_pretty(value)?;
    text.push('\n');
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A quick run has few rounds, so it never takes the place of a record.
    #[test]
    fn a_quick_run_is_not_recorded() {
        assert!(Arguments::try_parse_from(["quorate-bench", "all", "--record"]).is_ok());
        let error = Arguments::try_parse_from(["quorate-bench", "all", "--record", "--quick"]).err().unwrap();
        assert!(error.to_string().contains("cannot be used with"), "{error}");
    }

    #[test]
    fn command_lines_of_a_measurement_and_of_a_report_are_read() {
        for line in [
            "batch --json rows.json --quick",
            "--quick --json rows.json batch",
            "single --backend portable --dir elsewhere",
            "report --dir elsewhere",
            "--dir elsewhere report",
            "report --html out",
            "network --quick",
            "compare --delegates 32 --quorum 22 --rtt 200ms --bandwidth 100Mbit --bad 0 --json compare.json",
            "--dir elsewhere compare --bad 3",
        ] {
            let parsed = Arguments::try_parse_from(["quorate-bench"].into_iter().chain(line.split(' ')));
            assert!(parsed.is_ok(), "{line}: {}", parsed.err().unwrap());
        }
        for line in ["", "nonsense", "batch --rtt 200ms", "compare --rtt 200"] {
            let words = line.split(' ').filter(|word| !word.is_empty());
            assert!(Arguments::try_parse_from(["quorate-bench"].into_iter().chain(words)).is_err(), "{line}");
        }
        let both = Arguments::try_parse_from(["quorate-bench", "batch", "compare"]).unwrap();
        assert!(run(&both).unwrap_err().to_string().contains("leave them out"));
    }

    #[test]
    fn networks_without_their_feature_are_an_error() {
        let error = without_networks::run(&Run { effort: Effort::Quick, backends: Vec::new() }).unwrap_err();
        assert!(error.to_string().contains("--features quorate-bench/network"), "{error}");
    }

    /// Rows do not come under the description of another commit, those of all benchmarks neither, and do not change the
    /// description.
    #[test]
    fn rows_are_added_only_to_a_record_of_the_same_machine() {
        let folder = tempfile::tempdir().unwrap();
        let stored = || fs::read_to_string(folder.path().join(record::DESCRIPTION)).unwrap();
        let machine = Machine::here().unwrap();
        can_record(&machine, folder.path()).unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is written before there are rows");
        describe(&machine, folder.path()).unwrap();
        let first = stored();
        let later = Machine { date: "2999-01-01 00:00".into(), ..machine.clone() };
        can_record(&later, folder.path()).unwrap();
        describe(&later, folder.path()).unwrap();
        assert_eq!(stored(), first);
        let other = Machine { commit: "another".into(), ..machine };
        let error = can_record(&other, folder.path()).unwrap_err().to_string();
        assert!(error.contains("move that folder away"), "{error}");
    }

    /// A record is of all backends, and a benchmark without them does not ignore the one that was asked for.
    #[test]
    fn a_backend_is_refused_where_it_would_not_count() {
        for (line, said) in [
            ("single --record --backend portable", "leave out --record"),
            ("all --record --backend portable", "leave out --record"),
            ("gas --backend portable", "no backend of your choice"),
            ("service --quick --backend portable", "no backend of your choice"),
            ("--clock cpu report", "leave them out"),
        ] {
            let words = ["quorate-bench"].into_iter().chain(line.split(' '));
            let error = run(&Arguments::try_parse_from(words).unwrap()).unwrap_err().to_string();
            assert!(error.contains(said), "{line}: {error}");
        }
    }

    /// A file that cannot be written is an error before anything is measured.
    #[test]
    fn a_file_of_rows_is_opened_before_the_first_measurement() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("none").join("rows.json");
        let words = ["quorate-bench", "all", "--json", path.to_str().unwrap()];
        let error = run(&Arguments::try_parse_from(words).unwrap()).unwrap_err().to_string();
        assert!(error.contains("cannot write"), "{error}");
    }
}
