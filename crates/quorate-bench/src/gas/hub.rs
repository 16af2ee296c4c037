//! Ten tasks of a network in one call of a hub, which checks all their signatures in one product of pairings.

use quorate_evm::{
    KeyGroup, MemberSet, Order,
    alloy_primitives::{B256, U256},
    alloy_sol_types::SolConstructor,
    base::NEWEST,
    contract::{HubSettlement, Settlement},
    gas::Measured,
    hub::{self, Settling},
    quorum::Store,
};

use super::deployed::{Deployed, WEIGHT, engine, row};
use crate::{
    chain::{Chain, Prices, SENDER},
    row::Row,
};

/// The gas of a quorum among those of a trace, which settle in one transaction. Each starts from the one before it.
pub(super) fn rows(n: usize, trace: &[MemberSet]) -> Vec<Row> {
    let served = KeyGroup::ALL.into_iter().filter_map(|key_group| Some((key_group, key_group.hub_codes()?)));
    served.map(|(key_group, codes)| of(key_group, codes, n, trace)).collect()
}

fn of(key_group: KeyGroup, [hub, settlement]: [&'static [u8]; 2], n: usize, trace: &[MemberSet]) -> Row {
    let mut chain = Chain::new(Prices::Osaka);
    let hub = chain.create(hub.into()).expect("the hub is deployed");
    let arguments =
        HubSettlement::constructorCall { registrar: SENDER, pinned: U256::from(1), changesAStore: U256::from(2), hub };
    let code = [settlement, &arguments.abi_encode()].concat();
    let mut deployed = Deployed::of_code(chain, key_group, &vec![WEIGHT; n], code.into());
    let measured = Measured::default();
    let (mut all, mut pages) = (Vec::new(), Vec::new());
    for (i, signers) in trace.iter().enumerate() {
        let order = Order::of(&[B256::repeat_byte(0xa0 + i as u8)]).stored(Store::Slot(NEWEST));
        let plan = deployed.network.plan(&measured, signers, order).expect("a quorum of the network");
        let call = plan.call(&deployed.secrets.sign(signers, &plan.digests)).expect("it fits");
        all.push(Settling::of_call(key_group, deployed.address, &call).expect("a hub of these keys"));
        pages.extend(plan.access_list.clone());
        deployed.network.settled(&plan);
    }
    pages.sort();
    pages.dedup();
    pages.push(deployed.address);
    let gas = deployed.chain.call_listed(hub, hub::call(&all), &pages).expect("the quorums settle");
    let state = deployed.chain.read(deployed.address, &Settlement::stateCall {});
    assert_eq!(state, deployed.network.state().expect("it fits"), "the state after all quorums");
    let each = gas / trace.len() as u64;
    row("gas/hub", &engine(key_group), n, &[each], &format!("one of {} quorums in one transaction", trace.len()))
}
