//! Calls of a token (ERC-20), whichever it is. Some tokens answer `false` instead of reverting, and some answer nothing at all; the
//! contracts take both, by OpenZeppelin's `SafeERC20`.

use alloy::primitives::{Address, Bytes, U256};
use quorate_evm::{alloy_sol_types::SolCall, contract::Erc20};
use serde_json::json;

use crate::{
    account::{Account, AccountError, Transacted},
    rpc::{Rpc, RpcError},
};

/// The calls after which `spender` may take `amount` of the token from `owner`, in order; none if it may already. An approval may be left
/// over, of a command that was interrupted behind it, and some tokens, such as USDT, refuse to change one that is not zero. Costs a
/// question.
///
/// # Errors
/// [`RpcError`].
pub async fn approvals(
    rpc: &Rpc,
    token: Address,
    owner: Address,
    spender: Address,
    amount: U256,
) -> Result<Vec<Erc20::approveCall>, RpcError> {
    let allowed = rpc.read(token, &Erc20::allowanceCall { owner, spender }, None).await?;
    let approve = |value| Erc20::approveCall { spender, value };
    Ok(if allowed >= amount {
        Vec::new()
    } else if allowed.is_zero() {
        vec![approve(amount)]
    } else {
        vec![approve(U256::ZERO), approve(amount)]
    })
}

/// Calls a token, such as by `approve` or `transfer`, and waits until the transaction is mined. The node is asked before what the token
/// answers: a transaction of a token that answers `false` is mined and does nothing.
///
/// # Errors
/// [`AccountError`]; [`AccountError::Refused`] also if the token's answer is not `true`.
pub async fn send<C: SolCall<Return = bool>>(
    account: &Account,
    what: &'static str,
    token: Address,
    call: &C,
) -> Result<Transacted, AccountError> {
    let calldata = Bytes::from(call.abi_encode());
    let request = json!([{ "from": account.address(), "to": token, "data": calldata }, "latest"]);
    let answer: Bytes = account.rpc.ask("eth_call", request).await.map_err(AccountError::unsent)?;
    if !answer.is_empty() && !matches!(C::abi_decode_returns(&answer), Ok(true)) {
        return Err(AccountError::Refused(format!(
            "the token {token} answers {} with {answer}, and not with true",
            C::SIGNATURE
        )));
    }
    account.send_bytes(what, token, calldata, &[]).await
}

#[cfg(test)]
mod tests {
    use std::sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    };

    use alloy::primitives::B256;
    use quorate_host::exit::{Ends as _, Exit};
    use quorate_lab::proxy::Proxy;
    use tokio::runtime;

    use super::*;
    use crate::{FeeLimits, Payer};

    /// A command was interrupted behind its approval, and is called again.
    #[test]
    fn an_approval_that_was_left_over_locks_nothing() {
        let runtime = runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let amount = U256::from(100);
        for (left, expected) in [(0_u64, vec![100]), (99, vec![0, 100]), (100, Vec::new()), (101, Vec::new())] {
            let node = Proxy::alone(move |_, parameters| {
                let asked = Erc20::allowanceCall { owner: Address::repeat_byte(3), spender: Address::repeat_byte(4) };
                assert_eq!(parameters[0]["data"], json!(Bytes::from(asked.abi_encode())));
                Ok(json!(B256::from(U256::from(left))))
            });
            let [token, owner, spender] = [2, 3, 4].map(Address::repeat_byte);
            let rpc = Rpc::new(&node.url).unwrap();
            let calls = runtime.block_on(approvals(&rpc, token, owner, spender, amount)).unwrap();
            let mut allowed = U256::from(left);
            for call in &calls {
                assert_eq!(call.spender, spender);
                // As USDT's `approve` has it.
                assert!(call.value.is_zero() || allowed.is_zero(), "{left}");
                allowed = call.value;
            }
            assert!(allowed >= amount, "{left}");
            assert_eq!(calls.iter().map(|call| call.value.to::<u64>()).collect::<Vec<_>>(), expected, "{left}");
        }
    }

    /// What a call of a token comes to that answers so, and how many transactions were sent. All are mined.
    fn transferred(answer: Bytes) -> (Result<Transacted, AccountError>, usize) {
        let count = Arc::new(AtomicUsize::new(0));
        let counted = count.clone();
        let node = Proxy::alone(move |method, _| {
            Ok(match method {
                "eth_call" => json!(answer),
                "eth_getBlockByNumber" => json!({
                    "number": "0x1", "hash": B256::ZERO, "parentHash": B256::ZERO, "timestamp": "0x1", "baseFeePerGas": "0x1"
                }),
                "eth_sendRawTransaction" => {
                    counted.fetch_add(1, Ordering::SeqCst);
                    json!(B256::ZERO)
                }
                "eth_getTransactionReceipt" => {
                    json!({ "status": "0x1", "gasUsed": "0x5208", "blockNumber": "0x1", "blockHash": B256::ZERO })
                }
                // The chain's id, the tip, the nonce, and an estimate.
                _ => json!("0x1"),
            })
        });
        let sent = runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
            let payer = Payer::from_hex(&"07".repeat(32)).unwrap();
            let account = Account::new(Rpc::new(&node.url).unwrap(), payer, FeeLimits::default()).await.unwrap();
            let transfer = Erc20::transferCall { to: Address::repeat_byte(1), value: U256::from(5) };
            send(&account, "give", Address::repeat_byte(2), &transfer).await
        });
        (sent, count.load(Ordering::SeqCst))
    }

    /// The transaction would be mined, and its status would say that all is well.
    #[test]
    fn a_token_that_answers_false_moves_nothing_and_is_not_called() {
        let word = |number: u64| Bytes::from(U256::from(number).to_be_bytes_vec());
        for answer in [word(0), Bytes::from_static(&[1])] {
            let (sent, count) = transferred(answer.clone());
            let error = sent.unwrap_err();
            assert!(matches!(error, AccountError::Refused(_)) && count == 0, "{answer}: {error}");
            assert!(error.exit() == Exit::Negative && error.to_string().contains("and not with true"), "{error}");
        }
        // Some tokens answer nothing.
        for answer in [word(1), Bytes::new()] {
            let (sent, count) = transferred(answer.clone());
            assert!(sent.is_ok() && count == 1, "{answer}: {sent:?}");
        }
    }
}
