//! What `enter` passes for the epoch that waits, read from a settlement's last logs.

use alloy::{
    primitives::{Address, B256, U256},
    rpc::types::{Filter, Log},
};
use quorate_evm::{
    contract::Settlement,
    follow::SettlementEvent,
    state::{entering, state as state_of},
};

use super::settings::SettlementSettings;
use crate::{
    log_window::LogWindow,
    rpc::{Rpc, RpcError},
};

/// The head and the commitment of the newest base from before the epoch that waits to be entered, as `enter` passes them. They are those
/// of the last log that has a head, and are compared with the contract's `state()`. `None` if they differ: the node left logs out, or no
/// epoch waits any more.
///
/// Asks for logs from the newest block back to that log.
///
/// # Errors
/// [`RpcError`].
pub async fn passed_to_enter(node: &Rpc, contract: Address) -> Result<Option<(U256, B256)>, RpcError> {
    let block = node.newest().await?;
    let state = node.read(contract, &Settlement::stateCall {}, Some(block.hash)).await?;
    let terms = node.read(contract, &Settlement::termsCall {}, Some(block.hash)).await?;
    let fits = |(head, newest): &(U256, B256)| entering(state_of(*head, *newest), terms) == state;
    // Before the first epoch is entered, no log has a head.
    let first = (U256::ZERO, B256::ZERO);
    if fits(&first) {
        return Ok(Some(first));
    }
    let mut window = LogWindow::new(SettlementSettings::BLOCKS_AT_ONCE);
    let mut end = Some(block.number);
    while let Some(to) = end {
        let from = window.start(to);
        let filter = Filter::new()
            .address(contract)
            .event_signature(SettlementEvent::TOPICS_WITH_HEAD.to_vec())
            .from_block(from)
            .to_block(to);
        let Some(logs) = window.ask(node, &filter).await? else { continue };
        let last = logs.into_iter().filter(|log| !log.removed).max_by_key(|log| (log.block_number, log.log_index));
        if let Some(log) = last {
            return Ok(passed(&log).filter(fits));
        }
        window.read();
        end = from.checked_sub(1);
    }
    Ok(None)
}

/// The head and the commitment of the newest base after a log. A log of another form is not a settlement's.
fn passed(log: &Log) -> Option<(U256, B256)> {
    SettlementEvent::decode(&log.inner).ok().flatten()?.passed()
}

#[cfg(test)]
mod tests {
    use quorate_evm::{KeyGroup, MemberSet, quorum::Store};
    use quorate_lab::settlement::LocalSettlement;
    use tokio::runtime;

    use super::*;

    /// A result settled after the file was written, as while operators were weighed.
    #[test]
    fn a_result_that_settled_right_before_the_epoch_began() {
        let Some(mut world) = LocalSettlement::deploy(KeyGroup::Bn254G2, 4) else { return };
        let runtime = runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let node = Rpc::new(&world.url()).unwrap();
        let passed = |world: &LocalSettlement| runtime.block_on(passed_to_enter(&node, world.contract())).unwrap();
        world.begin(vec![1; 4], 3, false);
        assert_eq!(passed(&world), Some((U256::ZERO, B256::ZERO)));
        world.enter();
        assert_eq!(passed(&world), None);
        for store in [Store::Slot(0), Store::Nowhere] {
            world.settle(&MemberSet::full(4), &[B256::ZERO], store);
            let settled = (world.network.head().encode().unwrap(), world.network.newest());
            // The log lies more than one question back.
            world.node.mine(SettlementSettings::BLOCKS_AT_ONCE + 1);
            world.begin(vec![1; 4], 3, false);
            assert_eq!(passed(&world), Some(settled));
            world.enter();
            assert_eq!(passed(&world), None);
        }
    }
}
