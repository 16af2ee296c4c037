//! `quorate-node withdraw`.

use anyhow::anyhow;
use clap::Args;
use quorate_chain::{Payer, Rpc};
use quorate_evm::{
    alloy_primitives::U256,
    contract::TaskNetwork,
    task_network::{self, ContractTerms},
};
use quorate_host::{
    exit::{Exit, Failure, Result},
    utc,
};
use quorate_node::options::Options;

use super::{
    NodeArguments, Token, account, contract, payer, print, refuse_elsewhere, rpc, runtime, send, stake_of_seat, terms,
};

/// Take a part of the stake back and keep the seat; later, get it paid out
///
/// With --tokens, so much leaves the stake of the account of --key-file, which keeps its seat and must keep the least stake. The
/// next epoch's snapshot weighs what is left. Until the delay is over, what waits can still be slashed. Without --tokens, what is
/// due by then is paid to the account; what was asked for later follows later. `exit` gives up the whole seat.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// How many tokens, such as 100 or 0.5
    #[arg(long, value_name = "TOKENS")]
    tokens: Option<String>,

    #[command(flatten)]
    node: NodeArguments,
}

impl Arguments {
    pub(crate) fn run(self) -> Result {
        let options = self.node.options()?;
        let (rpc, contract, payer) = (rpc(&options)?, contract(&options)?, payer(&options)?);
        runtime()?.block_on(async {
            let terms = terms(&rpc, contract).await?;
            let token = Token::read(&rpc, terms.token).await?;
            let Some(tokens) = &self.tokens else { return pay_out(&options, &rpc, payer, &terms, &token).await };
            let amount = token.amount("tokens", tokens)?;
            if amount.is_zero() {
                return Err(Failure::usage(anyhow!("--tokens {tokens}: that takes nothing back")));
            }
            let operator = payer.address();
            refuse_elsewhere(&terms, "take it back there; `quorate-node exit` gives up the seat")?;
            let Some(stake) = stake_of_seat(&rpc, contract, operator).await? else {
                return Err(Failure::refused(anyhow!("{operator} has no seat, and so no stake to take a part of")));
            };
            let least = U256::from(terms.minimum_stake);
            let left = stake.saturating_sub(amount);
            if amount > stake || left < least {
                return Err(Failure::refused(anyhow!(
                    "{operator} has a stake of {}, and the network takes none below {}: take at most {}, or give up the seat by \
                     `quorate-node exit`",
                    token.exact(stake),
                    token.exact(least),
                    token.exact(stake.saturating_sub(least))
                )));
            }
            let account = account(&options, &rpc, payer).await?;
            send(&account, "request", task_network::request_withdrawal(&terms, amount)).await?;
            let waits =
                rpc.read(contract, &TaskNetwork::pendingOfCall { operator }, None).await.map_err(Failure::io)?;
            print(format!(
                "a stake of {} is left, which the next epoch's snapshot weighs\n\
                 all {} that wait can be paid out from {} on; then call `quorate-node withdraw` without --tokens",
                token.exact(left),
                token.exact(waits.amount),
                utc(waits.payableAt.saturating_to())
            ))?;
            Ok(Exit::Success)
        })
    }
}

/// Pays the account what it asked for, as far as the delay is over.
pub(super) async fn pay_out(
    options: &Options,
    rpc: &Rpc,
    payer: Payer,
    terms: &ContractTerms,
    token: &Token,
) -> Result {
    let (contract, operator) = (terms.contract, payer.address());
    let waits = rpc.read(contract, &TaskNetwork::pendingOfCall { operator }, None).await.map_err(Failure::io)?;
    if waits.amount.is_zero() {
        return Err(Failure::refused(anyhow!("{operator} has no stake that waits to be paid out")));
    }
    let due = rpc.read(contract, &TaskNetwork::firstPendingOfCall { operator }, None).await.map_err(Failure::io)?;
    let now = rpc.newest().await.map_err(Failure::io)?.timestamp;
    let now_word = U256::from(now);
    if due.payableAt > now_word {
        return Err(Failure::refused(anyhow!(
            "{} can be paid out from {} on; the chain's time is {}",
            token.exact(due.amount),
            utc(due.payableAt.saturating_to()),
            utc(now)
        )));
    }
    let account = account(options, rpc, payer).await?;
    send(&account, "withdraw", task_network::withdraw(terms)).await?;
    if waits.payableAt > now_word {
        let (left, at) = (token.exact(waits.amount - due.amount), utc(waits.payableAt.saturating_to()));
        print(format!("{} was paid to {operator}; {left} follow from {at} on", token.exact(due.amount)))?;
    } else {
        print(format!("{} was paid to {operator}", token.exact(waits.amount)))?;
    }
    Ok(Exit::Success)
}
