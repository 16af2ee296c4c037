//! `quorate-node register`.

use anyhow::anyhow;
use clap::Args;
use quorate_chain::{Rpc, RpcError};
use quorate_evm::{
    alloy_primitives::{Address, Bytes, U256},
    contract::{Erc20, TaskNetwork, Verifier},
    digest::Contract,
    task_network::{self, ContractTerms},
};
use quorate_host::exit::{Exit, Failure, Result};
use quorate_node::options::Options;

use super::{
    NodeArguments, Token, account, approve, contract, note, payer, print, refuse_elsewhere, rpc, runtime, send, signer,
    stake_of_seat, terms,
};

/// Register the operator with its signer's key and a stake, add stake, or replace the key
///
/// The account of --key-file is the operator: it must be the one for which the signer was made, and hold the stake in the network's
/// token. An operator that is registered adds --tokens to what it has, and is warned if --signer names a signer of another key. With
/// --rotate the signer's key takes the place of the registered one (docs/node.md says how to rotate without losing tasks). The key has
/// weight from the next epoch's snapshot on.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The stake to pay in, in tokens, such as 100 or 0.5. Not needed with --restaked and --rotate
    #[arg(long, value_name = "TOKENS", required_unless_present_any = ["restaked", "rotate", "stake"])]
    tokens: Option<String>,

    /// The same in the token's smallest unit
    #[arg(long, value_name = "AMOUNT", conflicts_with = "tokens")]
    stake: Option<U256>,

    /// Register without tokens, at a network whose operators have their stake in a restaking protocol
    #[arg(long, conflicts_with_all = ["rotate", "stake", "tokens"])]
    restaked: bool,

    /// Replace the operator's registered key by that of the signer
    #[arg(long, conflicts_with_all = ["stake", "tokens"])]
    rotate: bool,

    #[command(flatten)]
    node: NodeArguments,
}

impl Arguments {
    pub(crate) fn run(self) -> Result {
        let options = self.node.options()?;
        let (rpc, contract, payer) = (rpc(&options)?, contract(&options)?, payer(&options)?);
        runtime()?.block_on(async {
            let terms = terms(&rpc, contract).await?;
            let operator = payer.address();
            let seat = stake_of_seat(&rpc, contract, operator).await?;
            let account = account(&options, &rpc, payer).await?;
            let registration = async {
                let (client, status) = signer(&options, &terms).await?;
                if status.operator != operator {
                    return Err(Failure::usage(anyhow!(
                        "the signer was made for the operator {}, and --key-file is the key of {operator}",
                        status.operator
                    )));
                }
                let network = Contract { chain_id: terms.chain_id, address: contract };
                client.possession(network, terms.verifier, operator).await.map_err(Failure::io)
            };
            if self.rotate {
                if seat.is_none() {
                    let how = if terms.source.is_some() { "--restaked" } else { "--tokens" };
                    return Err(Failure::refused(anyhow!("{operator} has no seat; register it with {how}")));
                }
                let proof = registration.await?;
                let call = task_network::rotate_key(&terms, proof.public_key, proof.proof);
                send(&account, "rotate", call).await?;
                print("the new key has weight from the next epoch's snapshot on; keep the old signer's record (docs/node.md)")?;
                return Ok(Exit::Success);
            }
            if self.restaked {
                if terms.source.is_none() {
                    return Err(Failure::refused(anyhow!("this network holds the stake itself; register with --tokens")));
                }
                if seat.is_some() {
                    return Err(Failure::refused(anyhow!(
                        "{operator} has a seat; the network reads its stake in the protocol for each epoch"
                    )));
                }
                let proof = registration.await?;
                let call = task_network::register(&terms, proof.public_key, proof.proof, U256::ZERO);
                send(&account, "register", call).await?;
                let index = rpc.read(contract, &TaskNetwork::keyOfCall { operator }, None).await.map_err(Failure::io)?;
                print(format!("operator    {operator}, key {index}\nIts weight counts from the next epoch's snapshot on."))?;
                return Ok(Exit::Success);
            }
            refuse_elsewhere(&terms, "register with --restaked")?;
            let (is_new, stake) = (seat.is_none(), seat.unwrap_or_default());
            let token = Token::read(&rpc, terms.token).await?;
            let amount = match &self.tokens {
                Some(text) => token.amount("tokens", text)?,
                None => self.stake.unwrap_or_default(),
            };
            if amount.is_zero() {
                return Err(Failure::usage(anyhow!("--tokens and --stake: nothing is no stake")));
            }
            let balance = Erc20::balanceOfCall { account: operator };
            let balance = rpc.read(terms.token, &balance, None).await.map_err(Failure::io)?;
            if balance < amount {
                return Err(Failure::refused(anyhow!(
                    "{operator} has {}, less than the stake of {}; the token is {}",
                    token.exact(balance),
                    token.exact(amount),
                    terms.token
                )));
            }
            let least = U256::from(terms.minimum_stake);
            if stake + amount < least {
                return Err(Failure::usage(anyhow!(
                    "a stake of {}: the network takes none below {}",
                    token.exact(stake + amount),
                    token.exact(least)
                )));
            }
            // Asked first, so that nothing is approved for a registration that cannot follow.
            let proof = if is_new {
                Some(registration.await?)
            } else {
                if let Some(why) = doubt(&options, &rpc, &terms, operator).await {
                    note(format!("warning: {why}"));
                }
                None
            };
            approve(&account, &rpc, &terms, amount).await?;
            match proof {
                Some(proof) => {
                    let call = task_network::register(&terms, proof.public_key, proof.proof, amount);
                    send(&account, "register", call).await?;
                }
                None => {
                    send(&account, "add stake", task_network::add_stake(&terms, amount)).await?;
                }
            }
            let index = rpc.read(contract, &TaskNetwork::keyOfCall { operator }, None).await.map_err(Failure::io)?;
            print(format!(
                "operator    {operator}, stake {}, key {index}\nIts weight counts from the next epoch's snapshot on.",
                token.exact(stake + amount)
            ))?;
            Ok(Exit::Success)
        })
    }
}

/// What speaks against more stake for an operator whose signer the options name, in words.
async fn doubt(options: &Options, rpc: &Rpc, terms: &ContractTerms, operator: Address) -> Option<String> {
    options.signer.as_ref()?;
    let status = match signer(options, terms).await {
        Ok((_, status)) => status,
        Err(failure) => return Some(failure.error.to_string()),
    };
    if status.operator != operator {
        return Some(format!(
            "the signer was made for the operator {}, and the stake is that of {operator}",
            status.operator
        ));
    }
    doubt_of_key(rpc, terms, operator, status.public_key).await
}

/// The same of the signer's key.
async fn doubt_of_key(rpc: &Rpc, terms: &ContractTerms, operator: Address, key: Bytes) -> Option<String> {
    // Whether it is the operator's, and the one that it uses: the contract keeps who registered a key that was replaced.
    let is_registered = async {
        let place = rpc.read(terms.verifier, &Verifier::indexOfCall { key }, None).await?;
        let owner = TaskNetwork::ownerOfKeyCall { table: place.table, index: place.index };
        let owner = rpc.read(terms.contract, &owner, None).await?;
        let running = rpc.read(terms.contract, &TaskNetwork::keyTableCall {}, None).await?;
        let used = rpc.read(terms.contract, &TaskNetwork::keyOfCall { operator }, None).await?;
        // A key that was carried to the next table has another index there.
        Ok::<_, RpcError>(owner == operator && (place.table != running.table || place.index == used))
    };
    let is_registered = match is_registered.await {
        Ok(is_registered) => is_registered,
        // The contract does not know the key.
        Err(error) if error.is_revert() => false,
        Err(error) => return Some(format!("whether the signer's key is the registered one is not known: {error}")),
    };
    (!is_registered).then(|| {
        format!("the signer's key is not the registered one of {operator}, for which the stake counts; `--rotate` replaces that one")
    })
}

#[cfg(test)]
mod tests {
    use quorate_lab::{proxy::Proxy, terms::some_terms};

    use super::*;

    /// The contract reverts for a key that it does not know. A node that fails says nothing about the key.
    #[test]
    fn a_node_that_fails_does_not_say_that_a_key_is_registered() {
        for (said, expected) in [
            ("execution reverted", "the signer's key is not the registered one"),
            ("header not found", "whether the signer's key is the registered one is not known: the node"),
        ] {
            let node = Proxy::alone(move |_, _| Err(said.to_owned()));
            let rpc = Rpc::new(&node.url).unwrap();
            let terms = some_terms();
            let asked = doubt_of_key(&rpc, &terms, Address::ZERO, Bytes::new());
            let doubt = runtime().unwrap().block_on(asked).unwrap();
            assert!(doubt.starts_with(expected), "{doubt}");
        }
    }
}
