//! What a chain's node answers about a settlement: logs and calldata. No bytes make the readers panic, nor the follower that takes what
//! was read, and what a program keeps of it is read back as the same.

use quorate_evm::{
    alloy_primitives::{Address, B256, Log},
    follow::{Deployment, Follower, SettlementEvent},
};

const DEPLOYMENT: Deployment =
    Deployment { chain_id: 1, contract: Address::ZERO, pinned_slots: 2, changes_a_store: 10, digest_hash: None };

/// The most transactions of one input.
const MOST: usize = 48;

pub fn run(mut bytes: &[u8]) {
    let mut follower = Follower::new(DEPLOYMENT);
    for _ in 0..MOST {
        // The event, how many topics follow it, the lengths of the log's data and of the calldata.
        let Some(([event, topics, data @ .., long, short], rest)) = bytes.split_first_chunk::<6>() else { break };
        bytes = rest;
        // No bytes guess a hash, so a byte chooses it.
        let mut all = vec![SettlementEvent::TOPICS[usize::from(*event) % SettlementEvent::TOPICS.len()]];
        all.extend((0..topics % 4).map(|_| B256::right_padding_from(take(&mut bytes, 32))));
        let data = take(&mut bytes, u16::from_be_bytes(*data).into()).to_vec();
        let calldata = take(&mut bytes, u16::from_be_bytes([*long, *short]).into());
        let log = Log::new_unchecked(DEPLOYMENT.contract, all, data.into());
        let Ok(Some(event)) = SettlementEvent::decode(&log) else { continue };
        crate::accepted();
        assert!(SettlementEvent::NAMES.contains(&event.name()));
        // After an error a follower is not to be used any more.
        if follower.apply(&[event], calldata).is_err() {
            return;
        }
    }
    let kept = serde_json::to_vec(&follower).expect("it can be written");
    assert_eq!(serde_json::from_slice::<Follower>(&kept).expect("what we write we read"), follower);
    let _ = follower.network();
}

/// So many bytes, or what is left.
fn take<'a>(bytes: &mut &'a [u8], count: usize) -> &'a [u8] {
    let (taken, rest) = bytes.split_at(count.min(bytes.len()));
    *bytes = rest;
    taken
}
