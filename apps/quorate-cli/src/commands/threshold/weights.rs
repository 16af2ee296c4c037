//! `quorate threshold weights`.

use std::{
    collections::HashMap,
    ops::Range,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, anyhow};
use clap::Args;
use csv::{ReaderBuilder, Trim};
use quorate_host::{
    clipped, dash,
    exit::{Exit, Failure, Result},
    file::LARGEST_DOCUMENT,
    plain,
};
use quorate_threshold::stake::{Allotment, StakePart};
use serde::Serialize;

use crate::commands::{
    print::{self, plural},
    unlock::name_of,
    value::Value,
};

/// Turn stakes into few shares for each signer, with a proven gap
///
/// Reads CSV with two columns, name and stake; a first line `name,stake` is skipped. Stakes are whole numbers in any unit. Prints
/// how many shares each signer gets, and how many of all shares sign: whoever has at most the safe part of the stake has too
/// few, and whoever has at least the live part has enough. This is proven for the shares that are printed. Whoever is between
/// can have enough, too: if one signer signs alone, a warning names it. Give each signer the share files of its participants, as
/// `quorate threshold split` numbers them.
#[derive(Debug, Args)]
#[command(before_long_help = EXAMPLES)]
pub(super) struct Arguments {
    /// File with the stakes; `-` means standard input
    #[arg(value_name = "STAKES.csv")]
    file: PathBuf,

    /// Signers with at most this part of the stake must not be able to sign
    #[arg(long, value_name = "A/B", default_value = "1/3", value_parser = Value::new(fraction))]
    safe: Fraction,

    /// Signers with at least this part of the stake must be able to sign
    #[arg(long, value_name = "A/B", default_value = "2/3", value_parser = Value::new(fraction))]
    live: Fraction,

    /// Print a JSON object instead of the table
    #[arg(long)]
    json: bool,
}

/// A part of the stake, and how it was written.
#[derive(Clone, Debug)]
struct Fraction {
    part: StakePart,
    text: String,
}

fn fraction(text: &str) -> std::result::Result<Fraction, String> {
    let read = || {
        let (numerator, denominator) = text.split_once('/')?;
        StakePart::new(numerator.parse().ok()?, denominator.parse().ok()?)
    };
    let part = read().ok_or("expected a fraction from 0/1 to 1/1, such as 1/3")?;
    Ok(Fraction { part, text: text.to_owned() })
}

/// A line of the file.
struct Signer {
    name: String,
    stake: u128,
}

/// What `--json` prints. Stakes are text, because many readers of JSON round large numbers.
#[derive(Serialize)]
struct Weights<'a> {
    threshold: usize,
    participants: usize,
    safe: &'a str,
    live: &'a str,
    signers: Vec<Weight<'a>>,
}

#[derive(Serialize)]
struct Weight<'a> {
    name: &'a str,
    stake: String,
    shares: u32,
    /// The first and the last participant that stand for the signer.
    #[serde(skip_serializing_if = "Option::is_none")]
    participants: Option<[u64; 2]>,
}

impl Arguments {
    pub(super) fn run(self) -> Result {
        let signers = read(&self.file)?;
        let stakes: Vec<_> = signers.iter().map(|signer| signer.stake).collect();
        let allotment = Allotment::new(&stakes, self.safe.part, self.live.part);
        let allotment = allotment.with_context(|| name_of(&self.file)).map_err(Failure::usage)?;
        self.warn_of_who_signs_alone(&signers, &allotment);
        if self.json {
            self.print_json(&signers, &allotment)?
        } else {
            self.print_table(&signers, &allotment)?
        }
        Ok(Exit::Success)
    }

    /// Names the signers who have enough shares without any other, and says why, and what prevents it.
    fn warn_of_who_signs_alone(&self, signers: &[Signer], allotment: &Allotment) {
        let total: u128 = signers.iter().map(|signer| signer.stake).sum();
        let (threshold, shares) = (allotment.threshold(), plural(allotment.total(), "share"));
        let alone: Vec<_> = allotment.alone().collect();
        for place in alone.iter().take(MOST_NAMED) {
            let Signer { name, stake } = &signers[*place];
            let why = if self.live.part.is_of(*stake, total) {
                format!("at least {}, and whoever has so much must be able to sign", self.live.text)
            } else {
                // The least thousandths that are not below its part.
                let thousandths = stake.saturating_mul(1000).div_ceil(total) as u32;
                let safe = StakePart::new(thousandths, 1000).filter(|safe| safe.is_less(self.live.part));
                let advice = match safe {
                    Some(_) => format!("to prevent it, give --safe {thousandths}/1000 or more"),
                    None => "it is so near to --live that only a larger --live prevents it".to_owned(),
                };
                format!("more than {}; {advice}", self.safe.text)
            };
            print::note(format_args!(
                "warning: {} signs alone: it has {} of {shares}, and {threshold} of them sign. Its stake is {stake} of {total}, which is \
                 {why}",
                plain(name),
                allotment.shares()[*place]
            ));
        }
        if alone.len() > MOST_NAMED {
            print::note(format_args!("warning: … and {} more", plural(alone.len() - MOST_NAMED, "signer")));
        }
        if threshold == 1 {
            print::note(
                "warning: with 1 share to sign, every share is the whole key, so that neither `quorate dkg` nor `quorate threshold split` \
                 makes such a key",
            );
        }
    }

    fn print_json(&self, signers: &[Signer], allotment: &Allotment) -> std::result::Result<(), Failure> {
        let weights = signers.iter().zip(allotment.shares()).zip(allotment.participants());
        let weights = weights.map(|((signer, shares), range)| Weight {
            name: &signer.name,
            stake: signer.stake.to_string(),
            shares: *shares,
            participants: (*shares > 0).then(|| [range.start, range.end - 1]),
        });
        print::json(&Weights {
            threshold: allotment.threshold(),
            participants: allotment.total(),
            safe: &self.safe.text,
            live: &self.live.text,
            signers: weights.collect(),
        })
    }

    fn print_table(&self, signers: &[Signer], allotment: &Allotment) -> std::result::Result<(), Failure> {
        let header = ["signer", "stake", "shares", "participants"].map(str::to_owned);
        let rows = signers.iter().zip(allotment.shares()).zip(allotment.participants());
        let rows = rows.map(|((signer, shares), range)| {
            [plain(&signer.name), signer.stake.to_string(), shares.to_string(), numbers(&range)]
        });
        let rows: Vec<_> = [header].into_iter().chain(rows).collect();
        let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
        let [stake, shares, participants] = [1, 2, 3].map(width);
        // Three gaps of two columns.
        let room = WIDTH.saturating_sub(stake + shares + participants + 6).max(SHORTEST_NAME);
        let name = width(0).min(room);
        for [signer, a, b, c] in &rows {
            // The dots of a name that is cut take one place.
            let signer = if signer.chars().count() > room { clipped(signer, room - 1) } else { signer.clone() };
            print::line(format_args!("{signer:<name$}  {a:>stake$}  {b:>shares$}  {c:>participants$}").to_string())?;
        }
        let (threshold, total) = (allotment.threshold(), allotment.total());
        print::line("")?;
        print::line(format_args!("{threshold} of {} sign", plural(total, "share")))?;
        let at_most = plural(threshold - 1, "share");
        print::line(format_args!("at most {} of the stake: at most {at_most}, too few (proven)", self.safe.text))?;
        let at_least = plural(threshold, "share");
        print::line(format_args!("at least {} of the stake: at least {at_least}, enough (proven)", self.live.text))
    }
}

/// The numbers of a range, as text.
fn numbers(range: &Range<u64>) -> String {
    match range.end - range.start {
        0 => "-".to_owned(),
        1 => range.start.to_string(),
        _ => format!("{}-{}", range.start, range.end - 1),
    }
}

/// Reads the signers, of whom no two have the same name.
fn read(path: &Path) -> std::result::Result<Vec<Signer>, Failure> {
    let name = name_of(path);
    let text = dash::text(path, LARGEST_DOCUMENT)?;
    let mut reader =
        ReaderBuilder::new().has_headers(false).flexible(true).trim(Trim::All).from_reader(text.as_bytes());
    let mut signers: Vec<Signer> = Vec::new();
    let mut lines = HashMap::new();
    for (number, record) in reader.records().enumerate() {
        let record = record.map_err(|error| Failure::usage(error).context(format!("{name} is not CSV")))?;
        let line = record.position().map_or(0, csv::Position::line);
        if number == 0 && record.len() == 2 && &record[0] == "name" && &record[1] == "stake" {
            continue;
        }
        let signer = parse(&record).map_err(|reason| Failure::usage(anyhow!("{name}, line {line}: {reason}")))?;
        if let Some(first) = lines.insert(signer.name.clone(), line) {
            return Err(Failure::usage(anyhow!(
                "{name}, line {line}: {:?} is on line {first} already; give each signer one line",
                signer.name
            )));
        }
        signers.push(signer);
    }
    if signers.is_empty() {
        return Err(Failure::usage(anyhow!("{name} has no signer, expected lines with a name and a stake")));
    }
    Ok(signers)
}

fn parse(record: &csv::StringRecord) -> std::result::Result<Signer, String> {
    if record.len() != 2 {
        return Err(format!("found {}, expected a name and a stake", plural(record.len(), "field")));
    }
    let (name, stake) = (&record[0], &record[1]);
    if name.is_empty() {
        return Err("the name is empty".to_owned());
    }
    let digits = !stake.is_empty() && stake.bytes().all(|byte| byte.is_ascii_digit());
    let stake = stake.parse().ok().filter(|_| digits);
    let stake = stake.ok_or_else(|| format!("the stake is {:?}, expected a whole number below 2^100", &record[1]))?;
    Ok(Signer { name: name.to_owned(), stake })
}

/// Signers who are named in warnings.
const MOST_NAMED: usize = 10;
/// Columns of a table.
const WIDTH: usize = 80;
/// Characters of a name that are always shown.
const SHORTEST_NAME: usize = 8;

const EXAMPLES: &str = "\
Examples:
  quorate threshold weights stakes.csv
  quorate threshold weights --safe 1/2 --live 3/4 stakes.csv
  quorate threshold weights --json - < stakes.csv";
