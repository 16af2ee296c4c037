//! The nonce of an account's next transaction, for a program that sends one at a time. It sends nothing while another transaction of the
//! account waits: that may be the same one, sent by an earlier run.

use std::time::Duration;

use alloy::primitives::Address;
use serde_json::json;
use tokio::time::{Instant, sleep};

use crate::rpc::{Rpc, RpcError};

/// Why an account sends nothing now.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NonceError {
    /// The node gives no answer that can be used.
    #[error(transparent)]
    Node(#[from] RpcError),
    /// Transactions of the account are in no block yet.
    #[error(
        "transactions of {account} wait to be mined ({waiting}), so nothing is sent: sending the same again may pay twice. Wait until they \
         are mined, and look what they did"
    )]
    Waiting {
        /// The account.
        account: Address,
        /// How many of its transactions wait.
        waiting: u64,
    },
}

/// How long transactions of the account are waited for, if nothing else is said. Nodes behind one URL may disagree for so long.
pub const NONCE_PATIENCE: Duration = Duration::from_secs(5);

/// How often the node is asked.
const POLL: Duration = Duration::from_millis(250);

/// The nonce of the account's next transaction, once no other one waits.
///
/// # Errors
/// [`NonceError`]. Other transactions wait after `patience`.
pub async fn next_nonce(rpc: &Rpc, account: Address, patience: Duration) -> Result<u64, NonceError> {
    let begun = Instant::now();
    loop {
        let pending = count(rpc, account, "pending").await?;
        let mined = count(rpc, account, "latest").await?;
        match pending.saturating_sub(mined) {
            0 => return Ok(mined),
            waiting if begun.elapsed() >= patience => return Err(NonceError::Waiting { account, waiting }),
            _ => sleep(POLL).await,
        }
    }
}

/// How many transactions an account has sent: in blocks ("latest"), or with those that wait ("pending").
pub(crate) async fn count(rpc: &Rpc, account: Address, tag: &str) -> Result<u64, RpcError> {
    let count = rpc.quantity("eth_getTransactionCount", json!([account, tag])).await?;
    Ok(count.saturating_to())
}

#[cfg(test)]
mod tests {
    use alloy::primitives::U64;
    use quorate_lab::proxy::Proxy;
    use tokio::runtime;

    use super::*;

    /// A node whose blocks have 7 transactions of the account, and with those that wait so many; after some questions it has no more.
    fn asked(pending: u64, questions: usize, patience: Duration) -> Result<u64, NonceError> {
        let mut left = questions;
        let node = Proxy::alone(move |_, parameters| {
            if parameters[1] == "latest" {
                return Ok(json!(U64::from(7)));
            }
            let waits = left > 0;
            left = left.saturating_sub(1);
            Ok(json!(U64::from(if waits { pending } else { 7 })))
        });
        let runtime = runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(next_nonce(&Rpc::new(&node.url).unwrap(), Address::repeat_byte(1), patience))
    }

    #[test]
    fn what_waits_is_waited_for() {
        let long = Duration::from_secs(60);
        assert_eq!(asked(9, 0, Duration::ZERO).unwrap(), 7);
        assert_eq!(asked(9, 2, long).unwrap(), 7);
        // The node that was asked first is behind.
        assert_eq!(asked(6, 1, Duration::ZERO).unwrap(), 7);
    }

    #[test]
    fn nothing_is_sent_while_something_waits() {
        let error = asked(9, usize::MAX, Duration::from_millis(300)).unwrap_err();
        assert!(matches!(error, NonceError::Waiting { waiting: 2, .. }), "{error}");
        assert!(error.to_string().contains("wait to be mined (2)"), "{error}");
    }
}
