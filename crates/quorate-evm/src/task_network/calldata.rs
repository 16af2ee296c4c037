//! The calls of a network in the calldata of a transaction: what the logs do not say.

use alloy_primitives::{B256, Bytes};
use alloy_sol_types::SolCall as _;

use crate::{contract::TaskNetwork, follow::call::calls_by};

/// A call that says more than its logs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum NetworkCall {
    /// `submitTasks`, with the ids of its tasks and the packed quorum.
    Submit { epoch: u64, ids: Vec<B256>, quorum: Bytes },
    /// `register` or `rotateKey`.
    Register { key: Bytes, proof: Bytes },
}

/// The calls in the calldata of a transaction, in order.
pub(super) fn calls(calldata: &[u8]) -> Vec<NetworkCall> {
    calls_by(calldata, read, |_| true)
}

fn read(selector: [u8; 4], bytes: &[u8]) -> Option<NetworkCall> {
    match selector {
        TaskNetwork::submitTasksCall::SELECTOR => {
            let call = TaskNetwork::submitTasksCall::abi_decode(bytes).ok()?;
            let ids = call.tasks.iter().map(|task| task.id).collect();
            Some(NetworkCall::Submit { epoch: call.epoch.try_into().ok()?, ids, quorum: call.quorum })
        }
        TaskNetwork::registerCall::SELECTOR => {
            let call = TaskNetwork::registerCall::abi_decode(bytes).ok()?;
            Some(NetworkCall::Register { key: call.key, proof: call.proof })
        }
        TaskNetwork::rotateKeyCall::SELECTOR => {
            let call = TaskNetwork::rotateKeyCall::abi_decode(bytes).ok()?;
            Some(NetworkCall::Register { key: call.key, proof: call.proof })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use alloy_primitives::U256;

    use super::*;
    use crate::contract::task_network::ITaskNetwork::Task;

    fn submit(epoch: u64, ids: &[B256]) -> Vec<u8> {
        let task = |id: &B256| Task { id: *id, performer: U256::ONE, result: B256::ZERO, approved: true };
        let tasks = ids.iter().map(task).collect();
        TaskNetwork::submitTasksCall { epoch: U256::from(epoch), tasks, quorum: vec![7; 3].into() }.abi_encode()
    }

    #[test]
    fn calls_are_found_inside_of_other_calls() {
        let ids = [B256::repeat_byte(1), B256::repeat_byte(2)];
        let found = |epoch, ids: &[B256]| NetworkCall::Submit { epoch, ids: ids.to_vec(), quorum: vec![7; 3].into() };
        assert_eq!(calls(&submit(3, &ids)), [found(3, &ids)]);
        let wrapped = [&[1, 2, 3][..], &submit(3, &ids), &[0; 29], &submit(4, &[]), &[9; 70]].concat();
        assert_eq!(calls(&wrapped), [found(3, &ids), found(4, &[])]);
    }

    #[test]
    fn what_only_looks_like_a_call_is_none() {
        let far = TaskNetwork::submitTasksCall { epoch: U256::MAX, tasks: vec![], quorum: Bytes::new() };
        for bytes in [&[][..], &[1], &TaskNetwork::submitTasksCall::SELECTOR, &submit(1, &[])[..60], &far.abi_encode()]
        {
            assert_eq!(calls(bytes), []);
        }
        let rotate = TaskNetwork::rotateKeyCall { key: vec![1].into(), proof: vec![2].into() }.abi_encode();
        assert_eq!(calls(&rotate), [NetworkCall::Register { key: vec![1].into(), proof: vec![2].into() }]);
    }

    #[test]
    fn calldata_of_selectors_has_no_calls() {
        assert_eq!(calls(&TaskNetwork::submitTasksCall::SELECTOR.repeat(30_000)), []);
    }
}
