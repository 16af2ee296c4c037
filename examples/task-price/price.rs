//! The work of a price task, to execute and to validate: the same as `price.py`, to the byte.
//!
//! The task's payload is JSON, `{"pair": "ETH/USD", "prices": ["3020.5", "3025.1", "2999"]}`: one decimal price of each
//! source, as text, with at most eight decimals. The result is the median with eight decimals, as text: `3020.50000000`. Of
//! an even number of prices it is the mean of the two in the middle, rounded down.
//!
//! A task of a schedule without a payload of its own, `{"number": 7, "time": 84}`, names no sources. So that a first network has
//! something to agree on, three prices are made up from its number.
//!
//! Execute prints the result. Validate computes it again, and exits with 0 if it is the same and with 1 if it is not.
//! Everything else exits with 2, which is neither a result nor a verdict.

use std::{
    io::{self, Read, Write},
    process::ExitCode,
};

use serde::Deserialize;

const VERSION: u32 = 1;
const DECIMALS: usize = 8;
const UNIT: u128 = 10_u128.pow(DECIMALS as u32);
const MAX_PRICES: usize = 1000;
const MAX_WHOLE_DIGITS: usize = 18;

/// What the node writes to standard input. The network, the epoch and the id are there too, and make no difference here.
#[derive(Deserialize)]
#[serde(tag = "action", rename_all = "lowercase")]
enum Asked {
    Execute { version: u32, payload: String },
    Validate { version: u32, payload: String, result: String },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PriceTask {
    pair: String,
    prices: Vec<String>,
}

/// The payload of a schedule's task, if the schedule has none of its own.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ScheduledTask {
    number: u64,
    #[allow(dead_code, reason = "it must be there, and makes no difference")]
    time: u64,
}

impl ScheduledTask {
    /// Prices for the task, which names none.
    fn made_up(&self) -> PriceTask {
        let price = 3000 + self.number % 100;
        let prices = vec![format!("{}.5", price - 1), format!("{price}.25"), format!("{}", price + 1)];
        PriceTask { pair: "ETH/USD".to_owned(), prices }
    }
}

fn main() -> ExitCode {
    match run() {
        Ok(code) => code,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<ExitCode, String> {
    // To the end: the node takes no answer of a program that did not read its input.
    let mut text = String::new();
    io::stdin().read_to_string(&mut text).map_err(|why| why.to_string())?;
    let asked: Asked = serde_json::from_str(&text).map_err(|why| why.to_string())?;
    let (Asked::Execute { version, payload } | Asked::Validate { version, payload, .. }) = &asked;
    if *version != VERSION {
        return Err(format!("the version is {version}, expected {VERSION}"));
    }
    let right = median(&decoded(payload)?)?;
    let Asked::Validate { result, .. } = &asked else {
        let mut output = io::stdout();
        output.write_all(right.as_bytes()).and_then(|()| output.flush()).map_err(|why| why.to_string())?;
        return Ok(ExitCode::SUCCESS);
    };
    if decoded(result)? == right.as_bytes() {
        return Ok(ExitCode::SUCCESS);
    }
    eprintln!("rejected: the median is {right}");
    Ok(ExitCode::from(1))
}

/// The result for a payload.
fn median(payload: &[u8]) -> Result<String, String> {
    // serde also reads a structure from a list of its fields.
    if !payload.trim_ascii_start().starts_with(b"{") {
        return Err("the payload is not a JSON object".to_owned());
    }
    let task = match serde_json::from_slice::<ScheduledTask>(payload) {
        Ok(scheduled) => scheduled.made_up(),
        Err(_) => serde_json::from_slice(payload).map_err(|why| format!("the payload: {why}"))?,
    };
    if !is_pair(&task.pair) {
        return Err("the pair is not text such as \"ETH/USD\"".to_owned());
    }
    if !(1..=MAX_PRICES).contains(&task.prices.len()) {
        return Err(format!("there are not 1 to {MAX_PRICES} prices"));
    }
    let mut prices = task.prices.iter().map(|price| units(price)).collect::<Result<Vec<u128>, String>>()?;
    prices.sort_unstable();
    // The same price twice where their number is odd.
    let middle = (prices[(prices.len() - 1) / 2] + prices[prices.len() / 2]) / 2;
    Ok(format!("{}.{:0DECIMALS$}", middle / UNIT, middle % UNIT))
}

fn is_pair(pair: &str) -> bool {
    let is_symbol = |symbol: &str| {
        (1..=16).contains(&symbol.len())
            && symbol.bytes().all(|letter| letter.is_ascii_uppercase() || letter.is_ascii_digit())
    };
    pair.split_once('/').is_some_and(|(base, quote)| is_symbol(base) && is_symbol(quote))
}

/// A price as a whole number of units of 10^-8, so that every language computes the same.
fn units(price: &str) -> Result<u128, String> {
    let wrong = || format!("the price {price:?} is not text such as \"3020.5\", with at most {DECIMALS} decimals");
    let (whole, decimals) = match price.split_once('.') {
        Some((whole, decimals)) if !decimals.is_empty() => (whole, decimals),
        Some(_) => return Err(wrong()),
        None => (price, ""),
    };
    let is_number = |digits: &str| digits.bytes().all(|digit| digit.is_ascii_digit());
    let is_whole = (1..=MAX_WHOLE_DIGITS).contains(&whole.len()) && (whole == "0" || !whole.starts_with('0'));
    if !is_whole || !is_number(whole) || decimals.len() > DECIMALS || !is_number(decimals) {
        return Err(wrong());
    }
    format!("{whole}{decimals:0<DECIMALS$}").parse().map_err(|_| wrong())
}

/// The bytes of `0x…`.
fn decoded(text: &str) -> Result<Vec<u8>, String> {
    let digits = text.strip_prefix("0x").ok_or("a payload or result does not begin with 0x")?;
    let (pairs, rest) = digits.as_bytes().as_chunks::<2>();
    if !rest.is_empty() {
        return Err("a payload or result has an odd number of digits".to_owned());
    }
    let digit =
        |letter: u8| char::from(letter).to_digit(16).ok_or("a payload or result has a letter that is not a digit");
    pairs.iter().map(|&[high, low]| Ok((digit(high)? * 16 + digit(low)?) as u8)).collect()
}
