//! `quorate-node fund`.

use anyhow::anyhow;
use clap::Args;
use quorate_evm::{contract::Erc20, task_network};
use quorate_host::exit::{Exit, Failure, Result};

use super::{NodeArguments, Pool, Token, account, approve, contract, payer, print, rpc, runtime, send, terms};

/// Put tokens into the pool from which the network pays its rewards
///
/// Performers and signers are paid from the pool alone. While it has too little for a task, tasks settle and nobody is paid for them,
/// also not later. Anyone may fill it, and nobody can take it out again. The account of --key-file pays, and holds the tokens.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// How many tokens, such as 1000 or 0.5
    #[arg(long, value_name = "TOKENS")]
    tokens: String,

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
            let amount = token.amount("tokens", &self.tokens)?;
            if amount.is_zero() {
                return Err(Failure::usage(anyhow!("--tokens {}: that puts nothing into the pool", self.tokens)));
            }
            let from = payer.address();
            let balance = Erc20::balanceOfCall { account: from };
            let balance = rpc.read(terms.token, &balance, None).await.map_err(Failure::io)?;
            if balance < amount {
                return Err(Failure::refused(anyhow!(
                    "{from} has {}, less than --tokens {}; the token is {}",
                    token.exact(balance),
                    self.tokens,
                    terms.token
                )));
            }
            let account = account(&options, &rpc, payer).await?;
            approve(&account, &rpc, &terms, amount).await?;
            send(&account, "fund", task_network::fund(&terms, amount)).await?;
            print(format!("pool        {}", Pool::read(&rpc, &terms).await?.words(&token)))?;
            Ok(Exit::Success)
        })
    }
}
