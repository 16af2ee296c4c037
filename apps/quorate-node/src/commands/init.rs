//! `quorate-node init`.

use std::path::Path;

use clap::Args;
use quorate_evm::{
    address,
    alloy_primitives::{Address, U256},
};
use quorate_host::{
    exit::{Exit, Failure, Result},
    options::to_toml,
};
use quorate_node::{data_folder::DataFolder, tokens, transport::Identity};

use super::{NodeArguments, Token, contract, is_absent, print, rpc, runtime, terms, word};

/// Make a node's folder: its identity among peers, and a file of the options that are given
///
/// Reads the network's terms from the contract, and prints the commands that come next: the operator's key, its signer, and
/// the registration. Nothing is sent to the chain.
#[derive(Debug, Args)]
#[command(before_long_help = EXAMPLE)]
pub(crate) struct Arguments {
    /// The account of the operator, which the printed commands name
    #[arg(long, value_name = "ADDRESS", value_parser = address::parse)]
    operator: Option<Address>,

    #[command(flatten)]
    node: NodeArguments,
}

const EXAMPLE: &str = "\
Example:
  quorate-node init --data node --rpc http://127.0.0.1:8545 \\
      --contract 0x… --operator 0x… --signer signer/signer.sock \\
      --key-file payer.json --perform --attest --aggregate \\
      --execute ./price.py --validate ./price.py --task-every 12";

impl Arguments {
    pub(crate) fn run(self) -> Result {
        let options = self.node.options()?;
        let (rpc, contract) = (rpc(&options)?, contract(&options)?);
        let (terms, token) = runtime()?.block_on(async {
            let terms = terms(&rpc, contract).await?;
            let token = Token::read(&rpc, terms.token).await?;
            Ok::<_, Failure>((terms, token))
        })?;
        let folder = DataFolder::open(options.data())?;
        let identity = Identity::load_or_create(&folder.path().join("identity"))?;
        let file = folder.options_file();
        let exists = !is_absent(&file);
        if !exists {
            folder.write_options(&to_toml(&options))?;
        }
        let operator = self.operator.map_or("0x…".to_owned(), |operator| operator.to_string());
        let signer = options.signer.as_deref().unwrap_or(Path::new("signer/signer.sock")).display().to_string();
        let (path, signer) = (folder.path().display().to_string(), word(&signer));
        print(format!(
            "\
folder     {path}
options    {file}{kept}
peer id    {peer}
network    chain {chain}, contract {contract}
epochs     of {length} s; a quorum weighs more than {numerator}/{denominator}
stake      at least {minimum} of the token {token}

Next:
  (umask 077 && set -C && openssl rand -hex 32 > passphrase)
  quorate evm key --key-group {group} --out key.json --keystore \\
      --passphrase-file passphrase
  quorate-signer init --data signer --keystore key.json \\
      --passphrase-file passphrase --key-group {group} \\
      --chain-id {chain} --contract {contract} \\
      --verifier {verifier} \\
      --operator {operator} \\
      --genesis {genesis} --epoch-length {length} --slashing-window {window}
  quorate-signer run --data signer --keystore key.json \\
      --passphrase-file passphrase --socket {signer}
  quorate-node register --data {folder} --tokens {least} \\
      --signer {signer}
  quorate-node run --data {folder} --signer {signer}",
            folder = word(&path),
            file = file.display(),
            kept = if exists { ", which was there and stays as it is" } else { "" },
            peer = identity.peer_id(),
            chain = terms.chain_id,
            length = terms.epoch_length,
            numerator = terms.quorum_numerator,
            denominator = terms.quorum_denominator,
            minimum = token.exact(U256::from(terms.minimum_stake)),
            least = tokens::exact(U256::from(terms.minimum_stake), token.decimals),
            token = terms.token,
            group = terms.key_group,
            verifier = terms.verifier,
            genesis = terms.genesis,
            window = terms.slashing_window,
        ))?;
        Ok(Exit::Success)
    }
}
