//! `quorate-node exit`.

use anyhow::anyhow;
use clap::Args;
use quorate_evm::{contract::TaskNetwork, task_network};
use quorate_host::{
    exit::{Exit, Failure, Result},
    utc,
};

use super::{NodeArguments, Token, account, contract, payer, print, rpc, runtime, send, terms};

/// Give up the operator's seat; later, take the stake out
///
/// The first call gives up the seat and says when the stake can be paid out. Until the epochs in which the key has weight are
/// over, keep node and signer running: an operator that is silent makes quorums dearer, and can still be punished. The
/// second call, after that time, pays the stake to the operator's account.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    node: NodeArguments,
}

impl Arguments {
    pub(crate) fn run(self) -> Result {
        let options = self.node.options()?;
        let (rpc, contract, payer) = (rpc(&options)?, contract(&options)?, payer(&options)?);
        runtime()?.block_on(async {
            let terms = terms(&rpc, contract).await?;
            let token = Token::read(&rpc, terms.token).await;
            let operator = payer.address();
            let stake = rpc.read(contract, &TaskNetwork::stakeOfCall { operator }, None).await.map_err(Failure::io)?;
            let pending = TaskNetwork::pendingOfCall { operator };
            let first = TaskNetwork::firstPendingOfCall { operator };
            if !stake.is_zero() {
                let account = account(&options, &rpc, payer).await?;
                send(&account, "deregister", task_network::deregister(&terms)).await?;
                let waits = rpc.read(contract, &pending, None).await.map_err(Failure::io)?;
                print(format!(
                    "all {} can be paid out from {} on; then call `quorate-node exit` again",
                    token.exact(waits.amount),
                    utc(waits.payableAt.saturating_to())
                ))?;
                return Ok(Exit::Success);
            }
            let waits = rpc.read(contract, &pending, None).await.map_err(Failure::io)?;
            if waits.amount.is_zero() {
                return Err(Failure::refused(anyhow!(
                    "{operator} has neither a seat nor stake that waits to be paid out"
                )));
            }
            let due = rpc.read(contract, &first, None).await.map_err(Failure::io)?;
            let now = rpc.newest().await.map_err(Failure::io)?.timestamp;
            let now_word = quorate_evm::alloy_primitives::U256::from(now);
            if due.payableAt > now_word {
                return Err(Failure::refused(anyhow!(
                    "{} can be paid out from {} on; the chain's time is {}",
                    token.exact(due.amount),
                    utc(due.payableAt.saturating_to()),
                    utc(now)
                )));
            }
            let account = account(&options, &rpc, payer).await?;
            send(&account, "withdraw", task_network::withdraw(&terms)).await?;
            if waits.payableAt > now_word {
                let (left, at) = (token.exact(waits.amount - due.amount), utc(waits.payableAt.saturating_to()));
                print(format!("{} was paid to {operator}; {left} follow from {at} on", token.exact(due.amount)))?;
            } else {
                print(format!("{} was paid to {operator}", token.exact(waits.amount)))?;
            }
            Ok(Exit::Success)
        })
    }
}
