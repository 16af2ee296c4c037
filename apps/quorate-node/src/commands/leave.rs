//! `quorate-node exit`.

use clap::Args;
use quorate_evm::{contract::TaskNetwork, task_network};
use quorate_host::{
    exit::{Exit, Failure, Result},
    utc,
};

use super::{
    NodeArguments, Token, account, contract, payer, print, rpc, runtime, send, stake_of_seat, terms, withdraw::pay_out,
};

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
            let token = Token::read(&rpc, terms.token).await?;
            let operator = payer.address();
            if stake_of_seat(&rpc, contract, operator).await?.is_some() {
                let account = account(&options, &rpc, payer).await?;
                send(&account, "deregister", task_network::deregister(&terms)).await?;
                let waits =
                    rpc.read(contract, &TaskNetwork::pendingOfCall { operator }, None).await.map_err(Failure::io)?;
                if waits.amount.is_zero() {
                    print("the seat is given up, and nothing waits to be paid out: the network holds no stake")?;
                    return Ok(Exit::Success);
                }
                print(format!(
                    "all {} can be paid out from {} on; then call `quorate-node exit` again",
                    token.exact(waits.amount),
                    utc(waits.payableAt.saturating_to())
                ))?;
                return Ok(Exit::Success);
            }
            pay_out(&options, &rpc, payer, &terms, &token).await
        })
    }
}
