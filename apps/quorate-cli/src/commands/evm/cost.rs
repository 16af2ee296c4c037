//! `quorate evm cost`.

use std::str::FromStr;

use clap::Args;
use indicatif::HumanCount;
use quorate_evm::{
    KeyGroup,
    cost::{BreakEven, CostLine, CostQuestion, CostWay, SettlementCosts},
};
use quorate_host::exit::{Exit, Failure, Result};
use serde::Serialize;

use crate::commands::print;

/// Compare what the ways to settle results cost, from measured gas
///
/// Prints the gas of a result in each way, the cheapest first, and from which numbers on another way is the cheapest: a
/// transaction for each result, one signature over several, a hub, and a posting that is proven only if somebody demands it.
/// Beside them stand EigenLayer's checker, as contracts were rebuilt for this repository, and the drop-in for it. Between two measured
/// numbers of operators a straight line is drawn; beyond the largest nothing is said. Many results pay at least the least price of their
/// calldata (EIP-7623), and more than a transaction can carry are refused. No file is read.
#[derive(Debug, Args)]
#[command(before_long_help = EXAMPLES, after_long_help = MEASURED)]
pub(super) struct Arguments {
    /// The number of operators
    #[arg(long, value_name = "N")]
    operators: u64,

    /// How many results one signature, one call of a hub (ten at most) or one posting carries: at most about 4,000, which
    /// fill a transaction
    #[arg(long, value_name = "R", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    results: u64,

    /// The window of postings, in hours: a posting is final after it
    #[arg(long, value_name = "HOURS", default_value_t = 24.0)]
    window: f64,

    /// How many members change from one quorum to the next, on average: a number, or a part such as 10%
    #[arg(long, value_name = "C", default_value = "10%")]
    changed: Amount,

    /// The part of the postings whose proof is demanded, such as 1%
    #[arg(long, value_name = "PART", default_value = "0%")]
    demanded: Amount,

    /// Results an hour. The times then include how long the first result waits for the last of its transaction, and the
    /// number of postings that wait for their windows is printed
    #[arg(long, value_name = "R")]
    rate: Option<f64>,

    /// The price of a unit of gas, in gwei: adds what a result costs
    #[arg(long, value_name = "GWEI")]
    gas_price: Option<f64>,

    /// The price of an ether, in any money
    #[arg(long, value_name = "PRICE", requires = "gas_price")]
    eth_price: Option<f64>,

    /// What a posting that is not proven costs its poster, in ether: adds the deposit. Needs --rate
    #[arg(long, value_name = "ETH", requires = "rate")]
    penalty: Option<f64>,

    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  quorate evm cost --operators 100
  quorate evm cost --operators 100 --results 10 --window 24 --rate 60
  quorate evm cost --operators 1000 --changed 3% --gas-price 2 \\
      --eth-price 3000 --json";

const MEASURED: &str = "\
Gas is that of whole transactions with cold storage, at the prices of Osaka,
with equal weights. A hub was measured with 10 % changed members; its changed
members are priced as those of a quorum. A posting that is demanded costs the
demand and a proof, whoever pays them. One signature over more than two results,
a posting of more than ten and a proof of more than one were not measured: each
further result adds as much as the last measured one, in a proof its calldata
and its hash, and the whole transaction pays at least the least price of its
calldata, which decides from about 240 results of one signature and from about
25 of a posting on. The drop-in for EigenLayer's checker was measured with one
quorum of 10 to 200 operators, a tenth of them absent; the gas of its snapshot
and of extend is not in its lines.";

/// A number, or a part in percent.
#[derive(Clone, Copy, Debug)]
enum Amount {
    Number(f64),
    Part(f64),
}

impl Amount {
    /// The number, of so many.
    fn of(self, all: f64) -> f64 {
        match self {
            Self::Number(number) => number,
            Self::Part(part) => part * all,
        }
    }
}

impl FromStr for Amount {
    type Err = &'static str;

    fn from_str(text: &str) -> std::result::Result<Self, Self::Err> {
        let number = |text: &str| text.trim().parse::<f64>().ok().filter(|number| number.is_finite() && *number >= 0.0);
        let found = match text.strip_suffix('%') {
            Some(percent) => number(percent).map(|percent| Self::Part(percent / 100.0)),
            None => number(text).map(Self::Number),
        };
        found.ok_or("expected a number such as 5, or a part such as 10%")
    }
}

/// The answer as JSON.
#[derive(Serialize)]
struct Answer {
    operators: u64,
    changed: f64,
    results: u64,
    window_hours: f64,
    demanded: f64,
    /// The numbers of operators that were measured next to this one.
    measured_operators: [u64; 2],
    ways: Vec<Way>,
    break_evens: Vec<Even>,
    #[serde(skip_serializing_if = "Option::is_none")]
    waiting_postings: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    slots: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    deposit_eth: Option<f64>,
}

#[derive(Serialize)]
struct Way {
    way: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    key_group: Option<KeyGroup>,
    results: u64,
    /// Gas of a result.
    gas: u64,
    final_after_hours: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    waits_hours: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    eth: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    price: Option<f64>,
}

#[derive(Serialize)]
#[serde(tag = "what", rename_all = "snake_case")]
enum Even {
    Keys { from_changed: u64, cheaper: KeyGroup, than: KeyGroup },
    Hub { from_quorums: u64 },
    Snapshot { checks: u64 },
    Demanded { most: f64 },
}

impl Arguments {
    /// Runs the command.
    ///
    /// # Errors
    /// Nothing was measured for these numbers.
    pub(super) fn run(self) -> Result {
        let question = CostQuestion {
            operators: self.operators,
            changed: self.changed.of(self.operators as f64),
            results: self.results,
            window: self.window,
            demanded: self.demanded.of(1.0),
            rate: self.rate,
        };
        for (name, number) in
            [("--gas-price", self.gas_price), ("--eth-price", self.eth_price), ("--penalty", self.penalty)]
        {
            if number.is_some_and(|number| !number.is_finite() || number < 0.0) {
                return Err(Failure::usage(anyhow::anyhow!("{name} is not a price")));
            }
        }
        let costs = question.answer().map_err(Failure::usage)?;
        let money = costs.lines.iter().flat_map(|line| [self.eth(line.gas), self.price(line.gas)]).flatten();
        if !money.chain(self.deposit(&costs)).all(f64::is_finite) {
            return Err(Failure::usage(anyhow::anyhow!(
                "the cost is too large for a number; choose a lower --gas-price, --eth-price or --penalty"
            )));
        }
        if self.json {
            print::json(&self.answer(&question, &costs))?;
        } else {
            print::all(self.page(&question, &costs).as_bytes())?;
        }
        Ok(Exit::Success)
    }

    /// Ether for an amount of gas.
    fn eth(&self, gas: f64) -> Option<f64> {
        self.gas_price.map(|gwei| gas * gwei / 1e9)
    }

    /// Money for an amount of gas.
    fn price(&self, gas: f64) -> Option<f64> {
        self.eth(gas).zip(self.eth_price).map(|(eth, price)| eth * price)
    }

    /// Ether that the slots of all postings hold.
    fn deposit(&self, costs: &SettlementCosts) -> Option<f64> {
        costs.waiting.zip(self.penalty).map(|(waiting, penalty)| waiting.slots as f64 * penalty)
    }

    fn answer(&self, question: &CostQuestion, costs: &SettlementCosts) -> Answer {
        let way = |line: &CostLine| Way {
            way: line.way.name(),
            key_group: line.key_group,
            results: line.results,
            gas: line.gas.round() as u64,
            final_after_hours: line.final_after,
            waits_hours: line.waits,
            eth: self.eth(line.gas),
            price: self.price(line.gas),
        };
        let even = |found: &BreakEven| match *found {
            BreakEven::Keys { from, cheaper, than } => Some(Even::Keys { from_changed: from, cheaper, than }),
            BreakEven::Hub { from } => Some(Even::Hub { from_quorums: from }),
            BreakEven::Snapshot { checks } => Some(Even::Snapshot { checks }),
            BreakEven::Demanded { most } => Some(Even::Demanded { most }),
            _ => None,
        };
        Answer {
            operators: question.operators,
            changed: question.changed,
            results: question.results,
            window_hours: question.window,
            demanded: question.demanded,
            measured_operators: [costs.measured.0, costs.measured.1],
            ways: costs.lines.iter().map(way).collect(),
            break_evens: costs.break_evens.iter().filter_map(even).collect(),
            waiting_postings: costs.waiting.map(|waiting| waiting.waiting),
            slots: costs.waiting.map(|waiting| waiting.slots),
            deposit_eth: self.deposit(costs),
        }
    }

    /// The answer as text of 80 columns.
    fn page(&self, question: &CostQuestion, costs: &SettlementCosts) -> String {
        let mut page = String::new();
        let CostQuestion { operators, changed, .. } = *question;
        let mut line = |text: String| {
            page.push_str(text.trim_end());
            page.push('\n');
        };
        line(format!("{} operators, {} changed from one quorum to the next", HumanCount(operators), short(changed)));
        line(String::new());
        let money = match (self.gas_price, self.eth_price) {
            (Some(_), Some(_)) => "money",
            (Some(_), None) => "ETH",
            _ => "",
        };
        line(format!("{:<42} {:>12} {:>10}  {}", "way", "gas a result", money, "final after"));
        for each in &costs.lines {
            let money = self.price(each.gas).or_else(|| self.eth(each.gas)).map(short).unwrap_or_default();
            let gas = HumanCount(each.gas.round() as u64).to_string();
            line(format!("{:<42} {gas:>12} {money:>10}  {}", words(each), latency(each)));
        }
        line(String::new());
        for found in &costs.break_evens {
            let said = match *found {
                BreakEven::Keys { from, cheaper, than } => {
                    format!("from {from} changed members on, {cheaper} is cheaper than {than}")
                }
                BreakEven::Hub { from } => {
                    format!("from {from} quorums on, a hub is cheaper than a transaction for each")
                }
                BreakEven::Snapshot { checks } => {
                    format!("{checks} checks by the drop-in for EigenLayer save what its snapshot costs")
                }
                BreakEven::Demanded { most } if most >= 1.0 => {
                    "a posting is cheaper than a proof, even if every posting is demanded".to_owned()
                }
                BreakEven::Demanded { most: 0.0 } => "a posting is never cheaper than a proof".to_owned(),
                BreakEven::Demanded { most } => {
                    let every = short(1.0 / most);
                    format!("a posting is cheaper than a proof unless more than 1 in {every} is demanded")
                }
                _ => continue,
            };
            line(said);
        }
        if let Some(waiting) = costs.waiting {
            let slots = HumanCount(waiting.slots);
            let deposit = match self.deposit(costs) {
                Some(deposit) => format!("{} ETH", short(deposit)),
                None => format!("{slots} penalties"),
            };
            line(format!("{} postings wait at a time", HumanCount(waiting.waiting)));
            line(format!("{slots} slots, each of which holds a result for three windows: a deposit of {deposit}"));
        }
        match costs.measured {
            (below, above) if below == above => line(format!("measured with {} operators", HumanCount(below))),
            (below, above) => {
                line(format!("between the rows of {} and {} operators", HumanCount(below), HumanCount(above)));
            }
        }
        page
    }
}

/// A way in words, 42 columns at most.
fn words(line: &CostLine) -> String {
    let keys = line.key_group.map(KeyGroup::name).unwrap_or_default();
    let results = line.results;
    match line.way {
        CostWay::Instant => format!("a transaction each, {keys}"),
        CostWay::OneSignature => format!("one signature for {results}, {keys}"),
        CostWay::Hub => format!("a hub of {results} quorums, {keys}"),
        CostWay::Posting if results == 1 => format!("a posting each, {keys}"),
        CostWay::Posting => format!("a posting of {results}, {keys}"),
        CostWay::EigenLayer => "EigenLayer, rebuilt".to_owned(),
        CostWay::EigenLayerProxies => "EigenLayer, rebuilt, behind proxies".to_owned(),
        CostWay::DropInProved => "drop-in for EigenLayer, after extend".to_owned(),
        CostWay::DropIn => "drop-in for EigenLayer, without extend".to_owned(),
    }
}

/// How long after it is known the first of a transaction's results is final.
fn latency(line: &CostLine) -> String {
    match line.final_after + line.waits.unwrap_or(0.0) {
        0.0 => "its block".to_owned(),
        hours => format!("{} h", short(hours)),
    }
}

/// A number with about three digits.
fn short(number: f64) -> String {
    let digits = match number.abs() {
        number if number >= 100.0 => 0,
        number if number >= 1.0 => 2,
        number if number >= 0.01 => 4,
        _ => 7,
    };
    let text = format!("{number:.digits$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}
