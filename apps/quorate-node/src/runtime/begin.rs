//! What has to be sent to begin an epoch.
//!
//! The snapshot of a network whose operators have their stake in a restaking protocol reads each of them there, unless somebody called
//! `weigh` for it in the epoch. If the reads of all do not fit into one transaction, nobody can take the snapshot, and nothing
//! settles. Then the operators are weighed first, as many in one transaction as fit.

use futures::{StreamExt as _, TryStreamExt as _, stream};
use quorate_chain::{EvmHalt, Rpc, RpcError, gas::gas_limit, rpc::AT_A_TIME};
use quorate_evm::{
    alloy_primitives::{Address, U64, U256},
    alloy_sol_types::SolError as _,
    contract::{NotEnoughGas, RestakedTaskNetwork},
    gas::MOST_GAS,
    task_network::{self, ContractTerms, PlannedCall},
};
use serde_json::json;

use super::tell::Purpose;

/// The calls that bring the begin of an epoch forward, and what each is for: its snapshot, or what weighs those of the `operators` that
/// were not read in the epoch. The payer sends them, in any order. Once they are mined, the snapshot fits.
///
/// Asks a restaked network for one estimate of gas; if the snapshot does not fit, once for each operator, and for at most ten estimates
/// more.
///
/// # Errors
/// [`RpcError`]: the node does not say who was read.
pub(super) async fn calls(
    rpc: &Rpc,
    terms: &ContractTerms,
    epoch: u64,
    operators: Vec<Address>,
    payer: Address,
) -> Result<Vec<(Purpose, PlannedCall)>, RpcError> {
    let snapshot = task_network::snapshot(terms);
    if terms.source.is_none() || !needs_too_much(rpc, &snapshot, payer).await {
        return Ok(vec![(Purpose::BeginEpoch(epoch), snapshot)]);
    }
    let unread = unread(rpc, terms, epoch, operators).await?;
    let weigh = |operators: &[Address]| task_network::weigh(terms, operators.to_vec());
    let mut size = unread.len();
    while size > 1 && needs_too_much(rpc, &weigh(&unread[..size]), payer).await {
        size = size.div_ceil(2);
    }
    // With nobody to weigh, the contract says of the snapshot what is wrong.
    let parts = unread.chunks(size.max(1)).map(|part| (Purpose::Weigh(epoch, part[0]), weigh(part)));
    let parts: Vec<_> = parts.collect();
    Ok(if parts.is_empty() { vec![(Purpose::BeginEpoch(epoch), snapshot)] } else { parts })
}

/// Those of the operators whose stake was not read in an epoch.
async fn unread(
    rpc: &Rpc,
    terms: &ContractTerms,
    epoch: u64,
    operators: Vec<Address>,
) -> Result<Vec<Address>, RpcError> {
    // As the contract marks a read.
    let mark = U256::from(epoch).saturating_add(U256::ONE);
    let ask = |operator: Address| async move {
        let found = rpc.read(terms.contract, &RestakedTaskNetwork::readInCall { operator }, None).await?;
        Ok::<_, RpcError>((found != mark).then_some(operator))
    };
    let found: Vec<_> = stream::iter(operators).map(ask).buffered(AT_A_TIME).try_collect().await?;
    Ok(found.into_iter().flatten().collect())
}

/// Whether a call needs more gas than a transaction may have. Whatever else is wrong with it is said when it is sent.
async fn needs_too_much(rpc: &Rpc, call: &PlannedCall, payer: Address) -> bool {
    let request = json!({ "from": payer, "to": call.to, "data": call.calldata, "gas": U64::from(MOST_GAS) });
    match rpc.quantity("eth_estimateGas", json!([request, "latest"])).await {
        Ok(estimate) => gas_limit(estimate).is_err(),
        Err(RpcError::Halted { halt, .. }) => halt == EvmHalt::OutOfGas,
        // A read wants more gas than is left to it.
        Err(RpcError::Refused { data: Some(data), .. }) => data.starts_with(&NotEnoughGas::SELECTOR),
        Err(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use quorate_evm::{
        alloy_primitives::Bytes,
        alloy_sol_types::SolCall as _,
        contract::{RestakedTaskNetwork as Restaked, TaskNetwork},
    };
    use quorate_lab::{
        proxy::{Proxy, ProxyReply},
        terms::some_terms,
    };
    use serde_json::Value;

    use super::*;

    const EPOCH: u64 = 7;
    const PAYER: Address = Address::repeat_byte(0xee);

    fn operator(number: u8) -> Address {
        Address::repeat_byte(number)
    }

    /// What a node says of a call that needs more gas than it may have.
    #[derive(Clone, Copy, Debug)]
    enum Refusal {
        /// The network hands on what a read reverts with.
        Reverts,
        /// The node gives it no more gas.
        GasCap,
        /// The node counts what the call would need.
        Estimate,
    }

    /// A node of a network in which operator 2 was read in this epoch, and operator 3 in the one before. A transaction has room for two
    /// reads. It counts the questions of each kind: for gas, and for reads.
    fn node(refusal: Refusal) -> (Proxy, Arc<Mutex<[usize; 2]>>) {
        let asked = Arc::new(Mutex::new([0; 2]));
        let (node, counts) = (Proxy::start("http://nowhere"), asked.clone());
        node.follows(move |question, _| {
            let request = &question["params"][0];
            let data: Bytes = serde_json::from_value(request["data"].clone()).unwrap();
            let answer = |result: Value| json!({ "jsonrpc": "2.0", "id": question["id"], "result": result });
            if let Ok(call) = Restaked::readInCall::abi_decode(&data) {
                counts.lock().unwrap()[1] += 1;
                let mark = match call.operator {
                    who if who == operator(2) => EPOCH + 1,
                    who if who == operator(3) => EPOCH,
                    _ => 0,
                };
                let word = U256::from(mark).to_be_bytes::<32>();
                return Ok(ProxyReply::Answer(answer(json!(Bytes::from(word.to_vec())))));
            }
            counts.lock().unwrap()[0] += 1;
            assert_eq!((&request["from"], &request["gas"]), (&json!(PAYER), &json!("0x1000000")));
            let fits = Restaked::weighCall::abi_decode(&data).is_ok_and(|call| call.operators.len() <= 2);
            let error = |error: Value| json!({ "jsonrpc": "2.0", "id": question["id"], "error": error });
            Ok(ProxyReply::Answer(match refusal {
                _ if fits => answer(json!("0x5208")),
                Refusal::Estimate => answer(json!("0x1000001")),
                Refusal::GasCap => {
                    error(json!({ "code": -32000, "message": "gas required exceeds allowance (16777216)" }))
                }
                Refusal::Reverts => {
                    let why = NotEnoughGas { left: U256::ONE, least: U256::from(2) };
                    let data = Bytes::from(why.abi_encode());
                    error(json!({ "code": 3, "message": "execution reverted", "data": data }))
                }
            }))
        });
        (node, asked)
    }

    fn called(node: &Proxy, terms: &ContractTerms, operators: &[u8]) -> Vec<(Purpose, PlannedCall)> {
        let operators = operators.iter().copied().map(operator).collect();
        let rpc = Rpc::new(&node.url).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(calls(&rpc, terms, EPOCH, operators, PAYER)).unwrap()
    }

    fn restaked() -> ContractTerms {
        ContractTerms { source: Some(Address::repeat_byte(0xdd)), ..some_terms() }
    }

    /// Without it, no epoch of a large network would begin.
    #[test]
    fn operators_are_weighed_first_if_their_reads_do_not_fit_into_the_snapshot() {
        for refusal in [Refusal::Reverts, Refusal::GasCap, Refusal::Estimate] {
            let (node, asked) = node(refusal);
            let terms = restaked();
            let weigh = |some: &[u8]| {
                let operators: Vec<_> = some.iter().copied().map(operator).collect();
                (Purpose::Weigh(EPOCH, operators[0]), task_network::weigh(&terms, operators))
            };
            // Operator 2 was read. The other five are too many for one transaction, and so are three.
            let expected = [weigh(&[1, 3]), weigh(&[4, 5]), weigh(&[6])];
            assert_eq!(called(&node, &terms, &[1, 2, 3, 4, 5, 6]), expected, "{refusal:?}");
            assert_eq!(*asked.lock().unwrap(), [4, 6], "{refusal:?}");
            // Nobody is left to be read, so the snapshot has to say what is wrong.
            let snapshot = (Purpose::BeginEpoch(EPOCH), task_network::snapshot(&terms));
            assert_eq!(called(&node, &terms, &[2]), [snapshot], "{refusal:?}");
        }
    }

    /// Each read costs gas. Nobody pays for it apart from the snapshot unless that is the only way.
    #[test]
    fn nobody_is_weighed_before_a_snapshot_that_fits_or_fails_for_another_reason() {
        let terms = restaked();
        let snapshot = [(Purpose::BeginEpoch(EPOCH), task_network::snapshot(&terms))];
        for answer in [Ok(json!("0x5208")), Err("header not found"), Err("execution reverted"), Err("invalid opcode")] {
            let node = Proxy::alone(move |_, _| answer.clone().map_err(str::to_owned));
            assert_eq!(called(&node, &terms, &[1, 2]), snapshot);
        }
        // The contract says why: somebody else took it just now.
        let node = Proxy::start("http://nowhere");
        node.follows(|question, _| {
            let why = Bytes::from(TaskNetwork::AlreadySnapshotted { epoch: U256::from(EPOCH) }.abi_encode());
            let error = json!({ "code": 3, "message": "execution reverted", "data": why });
            Ok(ProxyReply::Answer(json!({ "jsonrpc": "2.0", "id": question["id"], "error": error })))
        });
        assert_eq!(called(&node, &terms, &[1, 2]), snapshot);
        // A network that holds the stake is asked nothing.
        let terms = some_terms();
        let node = Proxy::alone(|method, _| panic!("{method} is asked"));
        assert_eq!(called(&node, &terms, &[1]), [(Purpose::BeginEpoch(EPOCH), task_network::snapshot(&terms))]);
    }
}
