//! What `quorate evm plan` prints: for a person at 80 columns, and as one JSON object.

use std::fmt;

use quorate_evm::{
    Bitmap, Network, Plan,
    alloy_primitives::B256,
    base::Way,
    gas::{Estimate, Measured, Storing, TRANSACTION},
    network::Signature,
    quorum::{MisuseError, Store},
};
use serde::Serialize;
use serde_json::{Value, json};

use super::signers::list_of;

/// All that is known of a plan.
#[derive(Serialize)]
pub(super) struct Report {
    back_end: String,
    chain_id: u64,
    contract: String,
    epoch: u64,
    keys: usize,
    signers: Vec<usize>,
    bitmap: String,
    weight: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    required: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    enough: Option<bool>,
    /// The slot of the base; none for the empty one.
    base: Option<u32>,
    added: Vec<usize>,
    removed: Vec<usize>,
    key_pages: Vec<u32>,
    keys_in_storage: u64,
    weight_pages: Vec<u32>,
    key: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    key_g2: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    inverse_of_z: Option<String>,
    /// Every base, the cheapest first.
    bases: Vec<Candidate>,
    results: Vec<Task>,
    store: Value,
    gas: Gas,
    missing: Vec<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    calldata: Option<String>,
    #[serde(skip)]
    back_end_name: String,
    #[serde(skip)]
    if_stored: Option<u64>,
}

/// A base that the quorum could start from.
#[derive(Serialize)]
struct Candidate {
    slot: Option<u32>,
    members: usize,
    changes: usize,
    /// Members whose weight is read.
    weighed: u64,
    /// Gas of the whole transaction.
    gas: u64,
}

#[derive(Serialize)]
struct Task {
    nonce: u64,
    result: String,
    digest: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    counter: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    y: Option<String>,
}

/// [`Estimate`] with its total.
#[derive(Serialize)]
struct Gas {
    total: u64,
    transaction: u64,
    calldata: u64,
    calldata_floor: u64,
    head: u64,
    difference: u64,
    tasks: u64,
    check: u64,
    store: u64,
}

impl Report {
    /// Puts together what the plan of these results says.
    ///
    /// # Errors
    /// What the packed form cannot hold.
    pub(super) fn new(
        network: &Network,
        plan: &Plan,
        ways: &[Way],
        results: &[B256],
        store: Store,
        signature: Option<&Signature>,
        measured: &Measured,
    ) -> Result<Self, MisuseError> {
        let stand_in = Signature::stand_in(network.back_end);
        let call = plan.call(store, signature.unwrap_or(&stand_in), results)?;
        let estimate = plan.estimate(network.back_end, measured, &call, network.storing(plan, store));
        let total = estimate.total();
        let mut hints = plan.hints.iter();
        let tasks = (network.nonce..).zip(results).zip(&plan.digests).map(|((nonce, result), digest)| {
            let hint = hints.next();
            Task {
                nonce,
                result: result.to_string(),
                digest: hex(digest),
                counter: hint.map(|hint| hint.counter),
                y: hint.map(|hint| hex(&hint.y)),
            }
        });
        let candidates = ways.iter().map(|way| {
            let base = way.base.map(|place| &network.bases[place]);
            Candidate {
                slot: base.map(|base| base.slot),
                members: base.map_or(0, |base| base.signers.len()),
                changes: way.changed.len(),
                weighed: way.steps.weighed,
                gas: total + way.gas - plan.way.gas,
            }
        });
        let enough = network.required.map(|required| plan.weight >= required);
        let mut missing = Vec::new();
        if results.is_empty() {
            missing.push("the results: --result HEX");
        }
        if signature.is_none() {
            missing.push("the aggregate signature: --signature HEX");
        }
        if enough == Some(false) {
            missing.push("weight");
        }
        Ok(Self {
            back_end: json!(network.back_end).as_str().unwrap_or_default().to_owned(),
            back_end_name: network.back_end.to_string(),
            chain_id: network.chain_id,
            contract: network.contract.to_string(),
            epoch: network.epoch,
            keys: network.keys.len(),
            signers: plan.signers.iter().collect(),
            bitmap: hex(plan.signers.as_bytes()),
            weight: amount(plan.weight),
            required: network.required.map(amount),
            enough,
            base: plan.base_slot(),
            added: plan.added().iter().collect(),
            removed: plan.removed().iter().collect(),
            key_pages: plan.way.key_pages.clone(),
            keys_in_storage: plan.way.steps.in_slots,
            weight_pages: plan.way.weight_pages.clone(),
            key: hex(&plan.key),
            key_g2: plan.key_g2.as_ref().map(|key| hex(key)),
            inverse_of_z: plan.inverse_of_z.as_ref().map(|inverse| hex(inverse)),
            bases: candidates.collect(),
            results: tasks.collect(),
            store: match store {
                Store::Nowhere => Value::Null,
                Store::Rental => "rental".into(),
                Store::Slot(slot) => slot.into(),
            },
            gas: Gas::new(&estimate),
            missing,
            calldata: signature.map(|_| call.to_string()),
            if_stored: (store == Store::Rental).then(|| measured.store(Storing::New)),
        })
    }

    /// Whether the weight is known not to be enough.
    pub(super) fn too_light(&self) -> bool {
        self.enough == Some(false)
    }
}

impl Gas {
    fn new(estimate: &Estimate) -> Self {
        let Estimate { calldata, floor, head, difference, tasks, check, store, .. } = *estimate;
        let (total, transaction) = (estimate.total(), TRANSACTION);
        Self { total, transaction, calldata, calldata_floor: floor, head, difference, tasks, check, store }
    }
}

/// For a person.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.quorum(f)?;
        self.candidates(f)?;
        self.to_sign(f)?;
        self.costs(f)?;
        match &self.calldata {
            Some(calldata) => writeln!(f, "\ncalldata\n{calldata}"),
            None => {
                writeln!(f)?;
                self.missing.iter().try_for_each(|what| writeln!(f, "missing    {what}"))
            }
        }
    }
}

impl Report {
    fn quorum(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "contract   {}, chain {}, epoch {}", self.contract, self.chain_id, self.epoch)?;
        writeln!(f, "back end   {}", self.back_end_name)?;
        lines(f, "quorum", &format!("{} of {} members: {}", self.signers.len(), self.keys, list(&self.signers)))?;
        write!(f, "weight     {}", plain(&self.weight))?;
        match (&self.required, self.enough) {
            (Some(required), Some(true)) => writeln!(f, " of {} required", plain(required))?,
            (Some(required), _) => writeln!(f, ", and {} required: TOO LIGHT", plain(required))?,
            _ => writeln!(f, "; what is required is not known")?,
        }
        match self.base {
            Some(slot) => writeln!(f, "base       slot {slot}")?,
            None => writeln!(f, "base       the empty quorum")?,
        }
        lines(f, "  add", &list(&self.added))?;
        lines(f, "  remove", &list(&self.removed))?;
        let (keys, weights) = (numbers(&self.key_pages), numbers(&self.weight_pages));
        lines(f, "  pages", &format!("of keys {keys}; of weights {weights}; {} keys in storage", self.keys_in_storage))
    }

    fn candidates(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "\nfrom       members  changes  weights read          gas")?;
        for (i, Candidate { slot, members, changes, weighed, gas }) in self.bases.iter().enumerate() {
            let name = slot.map_or_else(|| "empty".to_owned(), |slot| format!("slot {slot}"));
            let gas = if i == 0 { thousands(*gas) } else { format!("+{}", thousands(gas - self.bases[0].gas)) };
            writeln!(f, "  {name:<10}{members:>6}{changes:>9}{weighed:>14}{gas:>13}")?;
        }
        Ok(())
    }

    fn to_sign(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for Task { nonce, result, digest, counter, y } in &self.results {
            writeln!(f, "\nresult     number {nonce}")?;
            writeln!(f, "           {result}")?;
            writeln!(f, "  digest   {digest}")?;
            if let (Some(counter), Some(y)) = (counter, y) {
                writeln!(f, "  counter  {counter}")?;
                writeln!(f, "  y        {y}")?;
            }
        }
        if let Some(inverse) = &self.inverse_of_z {
            writeln!(f, "\n1/Z        {}", &inverse[..66])?;
            writeln!(f, "             {}", &inverse[66..])?;
        }
        Ok(())
    }

    fn costs(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Gas { total, transaction, calldata, calldata_floor, head, difference, tasks, check, store } = &self.gas;
        writeln!(f, "\ngas        {:>9}  estimated", thousands(*total))?;
        for (gas, what) in [
            (transaction, "the transaction itself"),
            (calldata, "calldata"),
            (head, "nonce, epoch, decoding"),
            (difference, "from the base to the quorum"),
            (tasks, "digests, their points, the log"),
            (check, "the pairings"),
            (store, "storing the quorum"),
        ] {
            writeln!(f, "           {:>9}  {what}", thousands(*gas))?;
        }
        if transaction + calldata_floor >= *total {
            writeln!(f, "           {:>9}  the least for this calldata", thousands(transaction + calldata_floor))?;
        }
        if let Some(more) = self.if_stored {
            writeln!(f, "           {:>9}  more at most, if the contract stores it", thousands(more))?;
        }
        Ok(())
    }
}

/// Text behind a heading, wrapped at 80 columns at its commas.
fn lines(f: &mut fmt::Formatter<'_>, heading: &str, text: &str) -> fmt::Result {
    let (mut line, mut width) = (format!("{heading:<11}"), 11);
    for piece in text.split_inclusive([',', ' ']) {
        if width + piece.trim_end().len() > 80 {
            writeln!(f, "{}", line.trim_end())?;
            (line, width) = (" ".repeat(11), 11);
        }
        line += piece;
        width += piece.len();
    }
    writeln!(f, "{}", line.trim_end())
}

fn list(members: &[usize]) -> String {
    let members: Bitmap = members.iter().copied().collect();
    if members.is_empty() { "nobody".to_owned() } else { list_of(&members) }
}

fn numbers(numbers: &[u32]) -> String {
    let numbers: Vec<_> = numbers.iter().map(u32::to_string).collect();
    if numbers.is_empty() { "none".to_owned() } else { numbers.join(",") }
}

fn hex(bytes: &[u8]) -> String {
    const_hex::encode_prefixed(bytes)
}

/// A number where JSON's readers have it, else its digits.
fn amount(amount: u128) -> Value {
    u64::try_from(amount).map_or_else(|_| amount.to_string().into(), Value::from)
}

fn plain(amount: &Value) -> String {
    amount.as_str().map_or_else(|| amount.to_string(), str::to_owned)
}

/// 1234567 as 1,234,567.
fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
