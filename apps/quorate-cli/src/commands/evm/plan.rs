//! `quorate evm plan`.

use std::{path::PathBuf, str::FromStr};

use anyhow::anyhow;
use clap::Args;
use quorate_evm::{
    MemberSet, Network, Order, PlanError, QuorumSignature, SettlementPlan,
    alloy_primitives::B256,
    base::Weigh,
    gas::{MOST_BYTES, MOST_GAS, Measured, check_total},
};
use quorate_formats::from_hex;
use quorate_host::{
    dash,
    exit::{Exit, Failure, Result},
    file::LARGEST_DOCUMENT,
    text::json_reason,
};
use serde::Deserialize;

use super::{network_file::NetworkFile, report::Report, signature_line::Parts, signers, store::StoreIn};
use crate::commands::{print, unlock::name_of};

/// Plan the cheapest way to settle a quorum, and make its calldata
///
/// A contract computes the key of a quorum from a base: a quorum whose key it already knows. This command chooses the base
/// that costs the least gas. It prints the members that change, the pages to name, the digest to sign and the gas of the
/// transaction. If you pass the aggregate signature, it verifies the signature and prints the calldata. The call is settle
/// for one result from the newest base, and settleAll otherwise. The exit code is 1 if the signature is invalid or the
/// quorum too light.
///
/// Of the members that differ from the base, at most 255 may have keys in no page, and the others may be spread over at most
/// 255 pages; a quorum beyond that is refused. `quorate evm call compact` makes pages. Results whose transaction would have more bytes or
/// take more gas than one may have are refused, too.
#[derive(Debug, Args)]
#[command(before_long_help = EXAMPLES, after_long_help = NETWORK)]
pub(super) struct Arguments {
    /// The contract's keys, weights and bases as JSON (see below); `-` is standard input
    #[arg(long, value_name = "FILE", visible_alias = "bases")]
    network: PathBuf,

    /// What `quorate evm aggregate --json` printed: it has the signers, the results, deadline, store and signature; `-` is
    /// standard input
    #[arg(long, value_name = "FILE", conflicts_with_all = ["signers", "result", "deadline", "signature", "store"])]
    quorum: Option<PathBuf>,

    /// The members who sign: 0-47,50,52 (both ends included), or '!3,7' for all but these, or a bitmap 0x… whose highest
    /// bit is member 0
    #[arg(long, value_name = "LIST", allow_hyphen_values = true, required_unless_present = "quorum")]
    signers: Option<String>,

    /// A result to settle, 32 bytes; repeat the option for further results, in order
    #[arg(long, value_name = "HEX")]
    result: Vec<B256>,

    /// The last second at which the results settle, in Unix time; `none` for no limit. The signers sign it
    #[arg(long, value_name = "SECONDS", default_value = "none", requires = "result", allow_negative_numbers = true)]
    deadline: Deadline,

    /// The sum of the signers' signatures over the digest: 64 bytes on BN254, 96 on BLS12-381
    #[arg(long, value_name = "HEX", requires = "result")]
    signature: Option<String>,

    /// Where the contract stores the quorum as a base: `0` as the newest base (costs almost nothing), another slot that is
    /// not pinned, `rental` to let the contract decide, or `none`. The signers sign it; without results it counts in the gas alone
    #[arg(long, value_name = "SLOT", default_value = "none", allow_negative_numbers = true)]
    store: StoreIn,

    /// Weigh the quorum even if the number of signers suffices. The base that `--store` makes then has a weight: later
    /// quorums of the epoch that are too few to be counted read only the weights of the members in which they differ.
    /// The signers do not sign this
    #[arg(long)]
    weigh: bool,

    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

impl Arguments {
    /// Runs the command.
    ///
    /// # Errors
    /// The file cannot be read or understood, or there is no plan for the quorum.
    pub(super) fn run(self) -> Result {
        let NetworkFile { network, name } = NetworkFile::read(&self.network)?;
        let Wanted { signers, order, signature } = self.wanted(&network)?;

        let measured = Measured::default();
        let usage = |error| Failure::usage(error).context(name.clone());
        let ways = match network.ways(&measured, &signers, order.weigh) {
            Err(error @ PlanError::TooLight { .. }) => {
                print::note(format!("error: {error}"));
                return Ok(Exit::Negative);
            }
            ways => ways.map_err(usage)?,
        };
        let plan = network.plan(&measured, &signers, order).map_err(usage)?;
        let signature = signature.as_deref().map(|text| {
            let bytes = from_hex(text).map_err(|error| anyhow!("--signature is not hexadecimal: {error}"))?;
            let signature = QuorumSignature::from_bytes(network.key_group, &bytes)?;
            Ok((signature, plan.verify(&signature)?))
        });
        let signature = signature.transpose().map_err(|error: anyhow::Error| Failure::usage(error))?;
        if let Some((_, false)) = signature {
            print::note("error: the signature is not the sum of these signers' signatures over these results");
            return Ok(Exit::Negative);
        }
        let signature = signature.map(|(signature, _)| signature);
        let report = Report::new(&network, &plan, &ways, signature.as_ref(), &measured);
        let report = report.map_err(|error| Failure::usage(error).context("--store"))?;
        refuse_too_long(&plan)?;
        refuse_too_much(plan.order.results.len(), report.total())?;
        if self.json {
            print::json(&report)?;
        } else {
            print::all(report.to_string().as_bytes())?;
        }
        Ok(Exit::Success)
    }
}

/// Refuses results whose transaction no node keeps. A plan without results only tells the gas.
fn refuse_too_long(plan: &SettlementPlan) -> std::result::Result<(), Failure> {
    let call = plan.call(&QuorumSignature::stand_in(plan.key_group));
    let (results, bytes) = (plan.order.results.len(), call.map_err(Failure::usage)?.len() as u64);
    if results == 0 || bytes <= MOST_BYTES {
        return Ok(());
    }
    let steps = &plan.way.steps;
    let keys = steps.passed * plan.key_group.key_bytes() as u64;
    Err(Failure::usage(anyhow!(too_long(bytes, results, steps.weights_passed.len(), keys))))
}

/// Why calldata of so many bytes is too long, and what shortens most of it: the results, the weights or the keys.
fn too_long(bytes: u64, results: usize, weights: u64, keys: u64) -> String {
    let of_results = 32 * results as u64;
    let help = if weights > of_results.max(keys) {
        format!("{weights} of them are weights, which `quorate evm call publish` puts into pages")
    } else if keys > of_results {
        format!("{keys} of them are keys, which `quorate evm call compact` puts into pages")
    } else {
        "settle fewer at once".to_owned()
    };
    let plural = if results == 1 { "" } else { "s" };
    format!(
        "the calldata for {results} result{plural} has {bytes} bytes, and nodes keep no transaction of more than 131,072: {help}"
    )
}

/// Refuses results whose transaction no block takes, before anybody signs them. A plan without results only tells the gas.
pub(super) fn refuse_too_much(results: usize, total: u64) -> std::result::Result<(), Failure> {
    match check_total(total) {
        Err(error) if results == 0 => print::note(format!("warning: {error}")),
        checked => checked.map_err(Failure::usage)?,
    }
    if total <= MOST_GAS && total > MOST_GAS / 100 * 98 {
        print::note(format!(
            "warning: {total} gas is nearly the {MOST_GAS} that a transaction has at most (EIP-7825), and the estimate may be 2 % too low"
        ));
    }
    Ok(())
}

/// What is planned.
struct Wanted {
    signers: MemberSet,
    order: Order,
    signature: Option<String>,
}

/// What is read of the output of `quorate evm aggregate --json`.
#[derive(Deserialize)]
struct Aggregated {
    #[serde(flatten)]
    parts: Parts,
    bitmap: String,
    signature: Option<String>,
}

impl Arguments {
    fn weighing(&self) -> Weigh {
        if self.weigh { Weigh::Always } else { Weigh::IfNeeded }
    }

    fn wanted(&self, network: &Network) -> std::result::Result<Wanted, Failure> {
        let parse = |list: &str, what: &str| {
            signers::parse(list, network.keys.len()).map_err(|why| Failure::usage(anyhow!("{what} {why}")))
        };
        let Some(path) = &self.quorum else {
            let signers = parse(self.signers.as_deref().unwrap_or_default(), "--signers")?;
            let (deadline, store) = (self.deadline.0, self.store.0);
            let order = Order { results: self.result.clone(), deadline, store, weigh: self.weighing() };
            return Ok(Wanted { signers, order, signature: self.signature.clone() });
        };
        let name = name_of(path);
        let text = dash::text(path, LARGEST_DOCUMENT)?;
        let Aggregated { parts, bitmap, signature } = serde_json::from_str(&text).map_err(|error| {
            Failure::usage(anyhow!(json_reason(text.as_bytes(), &error)))
                .context(format!("{name}: this is not what `quorate evm aggregate --json` prints"))
        })?;
        let (found, expected) = (
            (parts.chain_id, parts.contract, parts.epoch, parts.nonce),
            (network.chain_id, network.contract, network.epoch, network.nonce),
        );
        if found != expected {
            return Err(Failure::usage(anyhow!(
                "{name}: signed for chain {}, contract {}, epoch {} and number {}, but the network has chain {}, contract {}, \
                 epoch {} and number {}; follow, and sign and add up again",
                found.0,
                found.1,
                found.2,
                found.3,
                expected.0,
                expected.1,
                expected.2,
                expected.3
            )));
        }
        let signature = signature
            .ok_or_else(|| Failure::usage(anyhow!("{name} has no signature: none that was added up was true")))?;
        let (deadline, store) = (parts.deadline, parts.store.0);
        let order = Order { results: parts.results, deadline, store, weigh: self.weighing() };
        Ok(Wanted { signers: parse(&bitmap, &format!("{name}, bitmap:"))?, order, signature: Some(signature) })
    }
}

/// A deadline as the command line writes it.
#[derive(Clone, Copy, Debug)]
struct Deadline(u64);

impl FromStr for Deadline {
    type Err = &'static str;

    fn from_str(text: &str) -> std::result::Result<Self, Self::Err> {
        let seconds = if text == "none" { Ok(u64::MAX) } else { text.parse() };
        seconds.map(Self).map_err(|_| "expected seconds since 1970, or `none`")
    }
}

const EXAMPLES: &str = "\
Examples:
  quorate evm aggregate --network network.json --json signed.jsonl \\
      > quorum.json
  quorate evm plan --network network.json --quorum quorum.json \\
      --json > plan.json
  quorate evm plan --network network.json --signers 0-9
  quorate evm plan --network network.json --signers '!3,7' \\
      --result 0x… --store 0
  quorate evm plan --network network.json --signers '!3,7' \\
      --result 0x… --store 0 --signature 0x… --json";

const NETWORK: &str = "\
The network is one JSON object. Bytes are hexadecimal. A sum of weights may be
a string of decimal digits. These fields are required, except `paid`,
`table` and `unknown_newest`:
  key_group     the curve and the group of the keys:
                  \"bn254-g2\"     128 bytes: x imaginary, x real,
                                 y imaginary, y real, 32 each
                  \"bn254-g1\"     192 bytes: the key in G1 (x, y), then the key
                                 in G2 of the same secret
                  \"bls12381-g2\"  192 bytes: x real, x imaginary,
                                 y real, y imaginary, 48 each
                  \"bls12381-g2-nu\"
                                 the same keys; digests are hashed by one map
  chain_id, contract
                the chain's id, the settlement contract's address
  nonce         how many results were settled: the next one's number
  table         the number of the key table; 0 if left out
  epoch, required, enough
                from the event EpochBegun: the epoch; the weight that a
                quorum needs, from 1 on and below 2^88; a number of members
                such that any so many have this weight (16777215 if there is
                none)
  paid          members that changed since rental last stored a base;
                0 if left out
  keys          by index, from the events KeyAdded
  weights       by index, in the epoch
  key_pages     from the events KeysPaged of this table:
                [{\"nonce\": …, \"first\": …, \"keys\": …}]
  weight_pages  from the epoch's events WeightsPaged:
                [{\"nonce\": …, \"part\": …}]; members 0 to 2,047 are part 0
  bases         the bases in the contract's slots; slot 0 is the newest:
                [{\"slot\": …, \"epoch\": …, \"weight\": …, \"key\": …,
                \"signers\": bitmap}]; epoch and weight are 0 if the base's
                members were counted and not weighed
  unknown_newest
                the newest base's commitment, if the base is not known
Each signer signs the digest. On BN254 it is hashed to the point with the
printed counter and y (try-and-increment); on BLS12-381 it is a message of
BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_RO_POP_. Add the signatures up.
The gas is an estimate, usually within 2 % of what the transaction uses. What a
receiver of the results does is not in it.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_long_by_weights_names_publish() {
        let words = too_long(134_532, 1, 132_000, 0);
        assert!(words.starts_with("the calldata for 1 result has 134532 bytes"), "{words}");
        assert!(
            words.contains("132000 of them are weights") && words.contains("`quorate evm call publish`"),
            "{words}"
        );
        assert!(!words.contains("settle fewer"), "{words}");
        assert!(too_long(134_532, 1_000, 40_000, 48_960).contains("`quorate evm call compact`"));
        let words = too_long(134_532, 4_200, 16_384, 0);
        assert!(words.contains("4200 results") && words.ends_with("131,072: settle fewer at once"), "{words}");
    }

    #[test]
    fn a_plan_above_the_most_gas_of_a_transaction_is_refused() {
        assert!(refuse_too_much(1, MOST_GAS).is_ok());
        let failure = refuse_too_much(1, MOST_GAS + 1).unwrap_err();
        let words = format!("{:#}", failure.error);
        assert!(
            failure.exit == Exit::Usage && words.contains("about 16777217 gas, and one has at most 16777216"),
            "{words}"
        );
        for help in ["compact", "publish", "fewer results", "--store 0"] {
            assert!(words.contains(help), "{words}");
        }
        // Whoever looks for the gas alone sees it.
        assert!(refuse_too_much(0, MOST_GAS + 1).is_ok());
    }
}
