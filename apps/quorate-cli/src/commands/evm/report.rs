//! The output of `quorate evm plan`: text of 80 columns, or one JSON object.

use std::fmt;

use indicatif::HumanCount;
use quorate_evm::{
    KeyGroup, KeySum, MemberSet, Network, Order, QuorumSignature, SettlementPlan,
    base::{NEWEST, Way, Weighing, WeightSource},
    gas::{Estimate, Measured, Storing, TRANSACTION},
    quorum::{EncodeQuorumError, Store},
};
use serde::{Serialize, Serializer};
use serde_json::Value;

use super::signers::list_of;

/// A plan, with all that is known about it.
#[derive(Serialize)]
pub(super) struct Report {
    key_group: KeyGroup,
    chain_id: u64,
    contract: String,
    epoch: u32,
    keys: usize,
    signers: Vec<usize>,
    bitmap: String,
    weight: Value,
    required: Value,
    /// Any so many members weigh what is required.
    enough: u32,
    #[serde(serialize_with = "weighing")]
    weighing: Weighing,
    /// The slot of the base; none for the empty quorum.
    base: Option<u16>,
    added: Vec<usize>,
    removed: Vec<usize>,
    key_pages: Vec<u32>,
    /// The members whose keys the call passes, because no named page holds them.
    keys_passed: Vec<usize>,
    weight_pages: Vec<u32>,
    /// The bytes of weights that the call passes.
    weight_bytes_passed: u64,
    /// The addresses of those pages, for the access list (EIP-2930); none if a list is not cheaper.
    access_list: Vec<String>,
    key: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    key_g2: Option<String>,
    /// `slopes` or `jacobian`; only for keys in G2 of BN254, if a member changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    sum: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    inverse_of_z: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    slopes: Option<Vec<String>>,
    /// What the call passes, and the contract's state, which is its hash.
    head: String,
    newest: String,
    state: String,
    /// The function that is called.
    call: &'static str,
    /// All bases from which the call has room for the quorum, the cheapest first.
    bases: Vec<Candidate>,
    results: Vec<Settled>,
    /// The last second at which the results settle; none if there is no limit.
    deadline: Option<u64>,
    store: Value,
    /// What every signer signs; none without results.
    #[serde(skip_serializing_if = "Option::is_none")]
    digest: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    counter: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    y: Option<String>,
    gas: Gas,
    missing: Vec<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    calldata: Option<String>,
    #[serde(skip)]
    if_stored: Option<u64>,
}

/// A base from which the quorum's key can be computed.
#[derive(Serialize)]
struct Candidate {
    slot: Option<u16>,
    members: usize,
    changes: usize,
    #[serde(serialize_with = "weighing")]
    weighing: Weighing,
    /// The number of members whose weight is read.
    weighed: u64,
    /// The gas of the whole transaction.
    gas: u64,
}

#[derive(Serialize)]
struct Settled {
    nonce: u64,
    result: String,
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
    /// Describes the plan of these results.
    ///
    /// # Errors
    /// The packed form cannot hold the quorum.
    pub(super) fn new(
        network: &Network,
        plan: &SettlementPlan,
        ways: &[Way],
        signature: Option<&QuorumSignature>,
        measured: &Measured,
    ) -> Result<Self, EncodeQuorumError> {
        let stand_in = QuorumSignature::stand_in(network.key_group);
        let Order { ref results, deadline, store, weigh: _ } = plan.order;
        let call = plan.call(signature.unwrap_or(&stand_in))?;
        let estimate = plan.estimate(measured, &call, network.storing(plan));
        let total = estimate.total();
        let numbered = (network.nonce..).zip(results);
        let settled = numbered.map(|(nonce, result)| Settled { nonce, result: result.to_string() });
        let hint = plan.hints.first().filter(|_| !results.is_empty());
        let weight_page = |source: &WeightSource| match source {
            WeightSource::Page(nonce) => Some(*nonce),
            WeightSource::Passed(_) => None,
        };
        let candidates = ways.iter().filter(|way| way.check().is_ok()).map(|way| {
            let base = way.base.map(|place| &network.bases[place]);
            Candidate {
                slot: base.map(|base| base.slot),
                members: base.map_or(0, |base| base.signers.len()),
                changes: way.changed.len(),
                weighing: way.weighing,
                weighed: way.steps.weighed,
                gas: total + way.gas - plan.way.gas,
            }
        });
        let mut missing = Vec::new();
        if results.is_empty() {
            missing.push("the results: --result HEX");
        }
        if signature.is_none() {
            missing.push("the aggregate signature: --signature HEX");
        }
        let (sum, inverse_of_z, slopes) = match &plan.sum {
            KeySum::Unchanged => (None, None, None),
            KeySum::Jacobian { inverse_of_z } => (Some("jacobian"), Some(hex(inverse_of_z)), None),
            KeySum::Slopes(slopes) => (Some("slopes"), None, Some(slopes.iter().map(|slope| hex(slope)).collect())),
        };
        Ok(Self {
            key_group: network.key_group,
            chain_id: network.chain_id,
            contract: network.contract.to_string(),
            epoch: network.epoch,
            keys: network.keys.len(),
            signers: plan.signers.iter().collect(),
            bitmap: hex(plan.signers.as_bytes()),
            weight: amount(plan.weight),
            required: amount(network.required),
            enough: network.enough,
            weighing: plan.way.weighing,
            base: plan.base_slot(),
            added: plan.added().iter().collect(),
            removed: plan.removed().iter().collect(),
            key_pages: plan.way.keys.pages.iter().map(|page| page.nonce).collect(),
            keys_passed: plan.way.keys.passed.iter().collect(),
            weight_pages: plan.way.weights.iter().filter_map(weight_page).collect(),
            weight_bytes_passed: plan.way.steps.weights_passed.len(),
            access_list: plan.access_list.iter().map(ToString::to_string).collect(),
            key: hex(&plan.key.to_bytes()),
            key_g2: plan.key.given_g2().map(|key| hex(&key)),
            sum,
            inverse_of_z,
            slopes,
            head: hex(&plan.head.encode()?.to_be_bytes::<32>()),
            newest: plan.newest.to_string(),
            state: plan.state()?.to_string(),
            call: if plan.is_single() { "settle" } else { "settleAll" },
            bases: candidates.collect(),
            results: settled.collect(),
            deadline: (deadline != u64::MAX).then_some(deadline),
            digest: plan.digests.first().filter(|_| !results.is_empty()).map(|digest| hex(digest)),
            counter: hint.map(|hint| hint.counter),
            y: hint.map(|hint| hex(&hint.y)),
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
}

impl Report {
    /// The gas of the whole transaction.
    pub(super) fn total(&self) -> u64 {
        self.gas.total
    }
}

impl Gas {
    fn new(estimate: &Estimate) -> Self {
        let Estimate { calldata, floor, head, difference, tasks, check, store, .. } = *estimate;
        let (total, transaction) = (estimate.total(), TRANSACTION);
        Self { total, transaction, calldata, calldata_floor: floor, head, difference, tasks, check, store }
    }
}

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
        writeln!(f, "keys       {}", self.key_group)?;
        lines(f, "quorum", &format!("{} of {} members: {}", self.signers.len(), self.keys, list(&self.signers)))?;
        writeln!(f, "weight     {}; required: {}", plain(&self.weight), plain(&self.required))?;
        match self.weighing {
            Weighing::Counted => writeln!(f, "           no weights are read: any {} members are enough", self.enough)?,
            Weighing::FromBase if self.weight_pages.is_empty() && self.weight_bytes_passed == 0 => {
                writeln!(f, "           no weights are read: the base has this weight")?
            }
            Weighing::FromBase => {
                writeln!(f, "           from the base's weight and those of the members that change")?
            }
            Weighing::Anew => writeln!(f, "           from the weights of all signers")?,
        }
        match self.base {
            Some(NEWEST) => writeln!(f, "base       slot 0, the newest; call {}", self.call)?,
            Some(slot) => writeln!(f, "base       slot {slot}; call {}", self.call)?,
            None => writeln!(f, "base       the empty quorum; call {}", self.call)?,
        }
        lines(f, "  add", &list(&self.added))?;
        lines(f, "  remove", &list(&self.removed))?;
        let (keys, weights) = (numbers(&self.key_pages), numbers(&self.weight_pages));
        lines(f, "  pages", &format!("keys: {keys}; weights: {weights}"))?;
        if !self.keys_passed.is_empty() {
            lines(f, "  pass", &format!("the keys of {}", list(&self.keys_passed)))?;
        }
        if self.weight_bytes_passed != 0 {
            writeln!(f, "  pass     {} bytes of weights", self.weight_bytes_passed)?;
        }
        for (i, page) in self.access_list.iter().enumerate() {
            writeln!(f, "{:<11}{page}", if i == 0 { "  access" } else { "" })?;
        }
        match self.sum {
            Some("slopes") => {
                writeln!(f, "  sum      with slopes, {} bytes of calldata", 64 * self.slopes.iter().flatten().count())?
            }
            Some(_) => writeln!(f, "  sum      in Jacobian coordinates, with 1/Z")?,
            None => {}
        }
        writeln!(f, "state      {}", self.state)
    }

    fn candidates(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "\nfrom       members  changes  weight                 gas")?;
        for (i, Candidate { slot, members, changes, weighing, weighed, gas }) in self.bases.iter().enumerate() {
            let name = slot.map_or_else(|| "empty".to_owned(), |slot| format!("slot {slot}"));
            let gas = if i == 0 { thousands(*gas) } else { format!("+{}", thousands(gas - self.bases[0].gas)) };
            let weight = if *weighed > 0 { format!("{weighed} read") } else { name_of(*weighing).to_owned() };
            writeln!(f, "  {name:<9}{members:>7}{changes:>9}  {weight:<14}{gas:>12}")?;
        }
        Ok(())
    }

    fn to_sign(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(digest) = &self.digest else { return Ok(()) };
        writeln!(f)?;
        for Settled { nonce, result } in &self.results {
            writeln!(f, "result     number {nonce}")?;
            writeln!(f, "           {result}")?;
        }
        if let Some(deadline) = self.deadline {
            writeln!(f, "deadline   {deadline} seconds after 1970 began")?;
        }
        writeln!(f, "digest     {digest}")?;
        if let (Some(counter), Some(y)) = (self.counter, &self.y) {
            writeln!(f, "  counter  {counter}")?;
            writeln!(f, "  y        {y}")?;
        }
        Ok(())
    }

    fn costs(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Gas { total, transaction, calldata, calldata_floor, head, difference, tasks, check, store } = &self.gas;
        writeln!(f, "\ngas        {:>9}  estimated", thousands(*total))?;
        for (gas, what) in [
            (transaction, "the transaction itself"),
            (calldata, "calldata"),
            (head, "the contract's state, decoding, the log"),
            (difference, "from the base to the quorum"),
            (tasks, "the digest and its point, the results and their log"),
            (check, "the pairings"),
            (store, "storing the quorum"),
        ] {
            writeln!(f, "           {:>9}  {what}", thousands(*gas))?;
        }
        if transaction + calldata_floor >= *total {
            writeln!(
                f,
                "           {:>9}  the lowest price of a transaction with this calldata",
                thousands(transaction + calldata_floor)
            )?;
        }
        if let Some(more) = self.if_stored {
            writeln!(f, "           {:>9}  at most, in addition, if the contract stores the quorum", thousands(more))?;
        }
        Ok(())
    }
}

/// A heading and text, wrapped at 80 columns after commas and spaces.
pub(super) fn lines(f: &mut fmt::Formatter<'_>, heading: &str, text: &str) -> fmt::Result {
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
    let members: MemberSet = members.iter().copied().collect();
    if members.is_empty() { "none".to_owned() } else { list_of(&members) }
}

fn numbers(numbers: &[u32]) -> String {
    let numbers: Vec<_> = numbers.iter().map(u32::to_string).collect();
    if numbers.is_empty() { "none".to_owned() } else { numbers.join(",") }
}

fn hex(bytes: &[u8]) -> String {
    const_hex::encode_prefixed(bytes)
}

fn weighing<S: Serializer>(weighing: &Weighing, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(name_of(*weighing))
}

fn name_of(weighing: Weighing) -> &'static str {
    match weighing {
        Weighing::Counted => "counted",
        Weighing::FromBase => "from the base",
        Weighing::Anew => "anew",
    }
}

/// A number of up to 64 bits, else its digits in a string.
pub(super) fn amount(amount: u128) -> Value {
    u64::try_from(amount).map_or_else(|_| amount.to_string().into(), Value::from)
}

pub(super) fn plain(amount: &Value) -> String {
    amount.as_str().map_or_else(|| amount.to_string(), str::to_owned)
}

/// 1234567 as 1,234,567.
fn thousands(number: u64) -> String {
    HumanCount(number).to_string()
}
