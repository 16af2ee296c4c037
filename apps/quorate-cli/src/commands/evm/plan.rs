//! `quorate evm plan`.

use std::{
    fs,
    io::{self, Read},
    path::{Path, PathBuf},
    str::FromStr,
};

use anyhow::{Context as _, anyhow};
use clap::Args;
use quorate_evm::{
    Network, PlanError,
    alloy_primitives::B256,
    gas::Measured,
    network::Signature,
    quorum::{RENTAL, Store},
};

use super::{report::Report, signers};
use crate::{
    commands::print,
    exit::{Exit, Failure, Result},
};

/// Plan how a quorum settles at the least gas, and make its calldata
///
/// From the contract's bases it chooses the one from which the quorum's key costs least, and says which members change,
/// how their weight is shown to be enough, which pages to name, what to sign and what the transaction will cost. With the
/// aggregate signature it checks that, and prints the calldata of settle, which takes one result from the newest base, or
/// of settleAll. Exit code: 0, or 1 if the signature is false or the quorum too light.
#[derive(Debug, Args)]
#[command(before_long_help = EXAMPLES, after_long_help = NETWORK)]
pub(super) struct Arguments {
    /// What is known of the contract, in JSON (below); `-` is standard input
    #[arg(long, value_name = "FILE", visible_alias = "bases")]
    network: PathBuf,

    /// Who signs: 0-47,50,52 (both ends included), or '!3,7' for all but these, or a bitmap 0x…, bit 0 the highest of
    /// its first byte
    #[arg(long, value_name = "LIST", allow_hyphen_values = true)]
    signers: String,

    /// A result to settle, 32 bytes; again for each further one, in order
    #[arg(long, value_name = "HEX")]
    result: Vec<B256>,

    /// The aggregate signature over every digest: 64 bytes on BN254, 96 on BLS12-381
    #[arg(long, value_name = "HEX", requires = "result")]
    signature: Option<String>,

    /// Where the contract stores the quorum as a base: 0 (as the newest, for nearly nothing), a slot of the ring that is
    /// not pinned, `rental` (its own choice), or `none`
    #[arg(long, value_name = "SLOT", default_value = "none")]
    store: StoreIn,

    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

impl Arguments {
    /// Plans.
    ///
    /// # Errors
    /// Where the file cannot be read or understood, or no quorum can be made.
    pub(super) fn run(self) -> Result {
        let name = self.network.display().to_string();
        let text = read(&self.network).with_context(|| format!("cannot read {name}")).map_err(Failure::io)?;
        let network: Network = serde_json::from_str(&text).map_err(|error| {
            Failure::usage(error).context(format!("{name}: not a network, see quorate evm plan --help"))
        })?;
        network.check().map_err(|error| Failure::usage(error).context(name.clone()))?;
        let signers = signers::parse(&self.signers, network.keys.len());
        let signers = signers.map_err(|why| Failure::usage(anyhow!("--signers {why}")))?;

        let measured = Measured::default();
        let usage = |error| Failure::usage(error).context(name.clone());
        let ways = match network.ways(&measured, &signers) {
            Err(error @ PlanError::TooLight { .. }) => {
                print::note(format!("error: {error}"));
                return Ok(Exit::Invalid);
            }
            ways => ways.map_err(usage)?,
        };
        let plan = network.plan(&measured, &signers, &self.result).map_err(usage)?;
        let signature = self.signature.as_deref().map(|text| {
            let bytes = const_hex::decode(text).map_err(|error| anyhow!("--signature is not hexadecimal: {error}"))?;
            let signature = Signature::from_bytes(network.back_end, &bytes)?;
            Ok((signature, plan.verify(&signature)?))
        });
        let signature = signature.transpose().map_err(|error: anyhow::Error| Failure::usage(error))?;
        if let Some((_, false)) = signature {
            print::note("error: the signature is not that of these signers over these results");
            return Ok(Exit::Invalid);
        }
        let signature = signature.map(|(signature, _)| signature);
        let report = Report::new(&network, &plan, &ways, &self.result, self.store.0, signature.as_ref(), &measured);
        let report = report.map_err(|error| Failure::usage(error).context("--store"))?;
        if self.json {
            print::json(&report)?;
        } else {
            print::all(report.to_string().as_bytes())?;
        }
        Ok(Exit::Success)
    }
}

fn read(path: &Path) -> io::Result<String> {
    if path.as_os_str() != "-" {
        return fs::read_to_string(path);
    }
    let mut text = String::new();
    io::stdin().lock().read_to_string(&mut text)?;
    Ok(text)
}

/// [`Store`] as the command line writes it.
#[derive(Clone, Copy, Debug)]
struct StoreIn(Store);

impl FromStr for StoreIn {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let store = match text {
            "none" => Store::Nowhere,
            "rental" => Store::Rental,
            _ => match text.parse() {
                Ok(slot) if slot < RENTAL => Store::Slot(slot),
                _ => return Err(format!("expected a slot from 0 to {}, rental or none", RENTAL - 1)),
            },
        };
        Ok(Self(store))
    }
}

const EXAMPLES: &str = "\
Examples:
  quorate evm plan --network network.json --signers 0-9
  quorate evm plan --network network.json --signers '!3,7' \\
      --result 0x… --store 0
  quorate evm plan --network network.json --signers '!3,7' \\
      --result 0x… --store 0 --signature 0x… --json";

const NETWORK: &str = "\
The network is one JSON object. Numbers may be strings of digits where they
are sums of weights; bytes are hex.
  back_end      \"a\": BN254, keys in G2, 128 bytes (x imaginary, x real,
                y imaginary, y real); \"b\": BN254, keys in G1 (64 bytes, x, y)
                with their twins in G2 behind them (192 in all); \"d\":
                BLS12-381, keys in G2, 192 bytes (x real, x imaginary,
                y real, y imaginary, 48 each)
  chain_id, contract
                the chain's id and the settlement's address
  nonce         results that were settled: the next one's number
  epoch, required, enough
                EpochBegun's terms: the epoch, what a quorum must weigh
                (below 2^88), and so many members of the epoch that any so
                many weigh it (16777215: no number does)
  paid          members that changed since the last store by rental; 0 if
                it is left out
  keys          by index, KeyAdded events; \"b\": with the twins
  weights       by index, in the epoch
  key_pages     KeysPaged events: [{\"nonce\": …, \"first\": …, \"keys\": …}]
  weight_pages  WeightsPaged events of the epoch: [nonce…]
  bases         what the slots commit to, in slot 0 the newest: [{\"slot\": …,
                \"epoch\": …, \"weight\": …, \"key\": hex, \"signers\": bitmap}];
                epoch and weight 0 if its members were counted
Each signer signs every digest: on BN254 the point of counter and y
(try-and-increment), on BLS12-381 the digest as a message of
BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_RO_POP_. The signatures are added up.
Gas is an estimate; prices of the contract's code were measured.";
