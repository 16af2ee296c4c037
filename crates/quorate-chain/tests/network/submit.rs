//! A submitter on a node: refusals, fees, replacements, reorganisations, and what a process left behind.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use quorate_chain::{
    Call, FeeLimits, Payer, SubmitEvent, SubmitSettings, Submitter, deploy::NetworkPlan, task_network::Confirmations,
};
use quorate_evm::{
    KeyGroup, MemberSet,
    alloy_primitives::{Address, B256, U64, U256},
    alloy_sol_types::SolCall as _,
    contract::{TaskNetwork, TestToken},
    task_network,
};
use quorate_lab::run::LIMIT;
use serde_json::json;
use tokio::{sync::mpsc::Receiver, time::timeout};

use crate::world::{STAKES, World};

type Event = SubmitEvent<u32>;

/// The account that pays. It is not an operator's.
const PAYER: usize = 9;

fn settings() -> SubmitSettings {
    SubmitSettings {
        bump_after: Duration::from_millis(300),
        give_up_after: Duration::from_secs(600),
        confirmations: Confirmations::Blocks(3),
        poll: Duration::from_millis(25),
        ..SubmitSettings::default()
    }
}

/// Settings under which no fees are raised.
fn patient() -> SubmitSettings {
    SubmitSettings { bump_after: Duration::from_secs(600), ..settings() }
}

fn start(world: &World, settings: SubmitSettings) -> (Submitter<u32>, Receiver<Event>) {
    let payer = Payer::from_hex(&world.node.key(PAYER)).unwrap();
    world.runtime.block_on(Submitter::start(world.rpc.clone(), payer, settings)).unwrap()
}

fn next(world: &World, events: &mut Receiver<Event>) -> Event {
    let event = async { timeout(LIMIT, events.recv()).await };
    world.runtime.block_on(event).expect("an event").unwrap()
}

/// Lets the submitter work, and says what it told meanwhile.
fn wait(world: &World, events: &mut Receiver<Event>, time: Duration) -> Vec<Event> {
    world.runtime.block_on(async { tokio::time::sleep(time).await });
    std::iter::from_fn(|| events.try_recv().ok()).collect()
}

/// Lets the submitter work until the one transaction that is not mined is a transfer of nothing, and says what it told meanwhile.
fn until_nothing_is_transferred(world: &World, events: &mut Receiver<Event>) -> Vec<Event> {
    let (begun, mut told) = (Instant::now(), Vec::new());
    loop {
        let pool = world.node.ask("txpool_content", json!([]));
        let accounts = pool["pending"].as_object().unwrap().values();
        let inputs: Vec<_> =
            accounts.flat_map(|of| of.as_object().unwrap().values()).map(|one| &one["input"]).collect();
        if inputs == ["0x"] {
            return told;
        }
        assert!(begun.elapsed() < LIMIT, "{pool}");
        told.extend(wait(world, events, Duration::from_millis(50)));
    }
}

/// The transaction that is mined next, which may have got higher fees before.
fn mined(world: &World, events: &mut Receiver<Event>) -> B256 {
    loop {
        match next(world, events) {
            Event::Mined { transaction, succeeded: true, .. } => return transaction,
            Event::Replaced { .. } => {}
            other => panic!("{other:?}"),
        }
    }
}

/// What the submitter tells until so many transactions are mined.
fn until_mined(world: &World, events: &mut Receiver<Event>, count: usize) -> Vec<Event> {
    let mut told = Vec::new();
    while told.iter().filter(|event| matches!(event, Event::Mined { .. })).count() < count {
        told.push(next(world, events));
    }
    told
}

fn transfer(world: &World, label: u32, to: Address) -> Call<u32> {
    let calldata = TestToken::approveCall { spender: to, value: U256::from(label) }.abi_encode().into();
    Call { label, to: world.deployed.token, calldata, value: U256::ZERO, access_list: Vec::new(), gas_limit: None }
}

/// How many transactions an account has in blocks.
fn count(world: &World, account: usize) -> u64 {
    let answer = world.node.ask("eth_getTransactionCount", json!([world.node.account(account), "latest"]));
    serde_json::from_value::<U64>(answer).unwrap().to()
}

#[test]
fn settlements_are_sent_and_refused_in_words() {
    let Some(world) = World::with_operators(KeyGroup::Bls12381G2) else { return };
    world.snapshot();
    let mut follower = world.follower();
    world.poll(&mut follower);
    let (submitter, mut events) = start(&world, patient());
    let all = MemberSet::full(STAKES.len());
    let task = world.task(&follower, 1, true);
    let plan = world.plan(&follower, &all, &task);
    submitter.submit(Call::planned(1, plan.clone())).unwrap();
    assert!(matches!(next(&world, &mut events), Event::Sent { label: 1, nonce: 0, .. }));
    let Event::Mined { label: 1, transaction, gas_used, fee_paid, succeeded: true, .. } = next(&world, &mut events)
    else {
        panic!("mined")
    };
    let receipt = world.receipt(transaction).unwrap();
    assert_eq!(gas_used, receipt.gas_used.to::<u64>());
    assert_eq!(U256::from(fee_paid), receipt.effective_gas_price * U256::from(gas_used));

    // Somebody else's settlement of a task is refused without gas, with the contract's words.
    submitter.submit(Call::planned(2, plan)).unwrap();
    let Event::Refused { label: 2, reason } = next(&world, &mut events) else { panic!("refused") };
    assert!(reason.starts_with("AlreadySettled (id = 0x0101"), "{reason}");
    assert_eq!(count(&world, PAYER), 1);

    world.node.mine(3);
    let Event::Final { label: 1, transaction: last, succeeded: true, .. } = next(&world, &mut events) else {
        panic!("final")
    };
    assert_eq!(last, transaction);

    // Of two that are sent before one is mined, the second is mined in vain.
    world.node.ask("evm_setAutomine", json!([false]));
    world.poll(&mut follower);
    let task = world.task(&follower, 2, true);
    let plan = world.plan(&follower, &all, &task);
    for label in [3, 4] {
        submitter.submit(Call::planned(label, plan.clone())).unwrap();
        let told = next(&world, &mut events);
        assert!(matches!(told, Event::Sent { .. }), "{told:?}");
    }
    wait(&world, &mut events, Duration::from_millis(300));
    world.node.ask("evm_setAutomine", json!([true]));
    world.node.mine(1);
    let told = until_mined(&world, &mut events, 2);
    let mined = told.iter().filter_map(|event| match event {
        Event::Mined { label, succeeded, .. } => Some((*label, *succeeded)),
        _ => None,
    });
    // One receipt may be asked for before the block is mined, and the next one behind it: then the second is told first.
    assert_eq!(mined.collect::<BTreeMap<_, _>>(), BTreeMap::from([(3, true), (4, false)]), "{told:?}");

    // Several at a time, in their order.
    for label in 10..20 {
        submitter.submit(transfer(&world, label, Address::repeat_byte(7))).unwrap();
    }
    let told = until_mined(&world, &mut events, 10);
    let sent: Vec<_> = told
        .iter()
        .filter_map(|event| match event {
            Event::Sent { label, nonce, .. } => Some((*label, *nonce)),
            _ => None,
        })
        .collect();
    assert_eq!(sent, (10..20).map(|label| (label, u64::from(label) - 7)).collect::<Vec<_>>());
    let mined = told.iter().filter(|event| matches!(event, Event::Mined { succeeded: true, .. })).count();
    assert_eq!((mined, count(&world, PAYER)), (10, 13), "{told:?}");
    let call = TestToken::allowanceCall { owner: submitter.address(), spender: Address::repeat_byte(7) };
    assert_eq!(world.node.read(world.deployed.token, &call), U256::from(19));
}

#[test]
fn what_is_not_mined_gets_higher_fees_and_is_replaced_in_the_end() {
    let Some(world) = World::deploy(&NetworkPlan::default()) else { return };
    world.node.ask("evm_setAutomine", json!([false]));
    let (submitter, mut events) = start(&world, settings());
    submitter.submit(transfer(&world, 1, Address::repeat_byte(7))).unwrap();
    let Event::Sent { transaction: first, .. } = next(&world, &mut events) else { panic!("sent") };
    let Event::Replaced { transaction: second, .. } = next(&world, &mut events) else { panic!("replaced") };
    assert_ne!(first, second);
    world.node.mine(1);
    // Which of those that were sent is mined is the node's choice; it is one, and once.
    assert_ne!(mined(&world, &mut events), first, "it was replaced");
    assert_eq!(count(&world, PAYER), 1);
    world.node.mine(3);
    assert!(matches!(next(&world, &mut events), Event::Final { label: 1, .. }));

    // Given up: a transfer of nothing takes the nonce, and the contract is not called.
    drop(submitter);
    let hasty = SubmitSettings { give_up_after: Duration::from_millis(1_500), ..settings() };
    let (submitter, mut events) = start(&world, hasty);
    submitter.submit(transfer(&world, 2, Address::repeat_byte(8))).unwrap();
    until_nothing_is_transferred(&world, &mut events);
    world.node.mine(1);
    let reason = loop {
        match next(&world, &mut events) {
            Event::GivenUp { label: 2, reason } => break reason,
            Event::Replaced { .. } => {}
            other => panic!("{other:?}"),
        }
    };
    assert!(reason.contains("took its nonce"), "{reason}");
    let call = TestToken::allowanceCall { owner: submitter.address(), spender: Address::repeat_byte(8) };
    assert_eq!((world.node.read(world.deployed.token, &call), count(&world, PAYER)), (U256::ZERO, 2));

    // What costs too much is not sent at all.
    drop(submitter);
    let cheap = SubmitSettings {
        fees: FeeLimits { max_fee_gwei: 0, ..FeeLimits::default() },
        give_up_after: Duration::from_millis(400),
        ..settings()
    };
    let (submitter, mut events) = start(&world, cheap);
    submitter.submit(transfer(&world, 3, Address::repeat_byte(9))).unwrap();
    let Event::GivenUp { label: 3, reason } = next(&world, &mut events) else { panic!("given up") };
    assert!(reason.contains("cost too much"), "{reason}");
    world.node.mine(1);
    assert_eq!(count(&world, PAYER), 2);
}

#[test]
fn a_reorganisation_that_drops_a_transaction_is_repaired() {
    let Some(world) = World::deploy(&NetworkPlan::default()) else { return };
    let (submitter, mut events) = start(&world, settings());
    submitter.submit(transfer(&world, 1, Address::repeat_byte(7))).unwrap();
    assert!(matches!(next(&world, &mut events), Event::Sent { label: 1, .. }));
    let transaction = mined(&world, &mut events);
    world.node.mine(1);
    world.reorganise(2);
    let Event::Undone { label: 1, transaction: undone } = next(&world, &mut events) else { panic!("undone") };
    assert_eq!(undone, transaction);
    let again = mined(&world, &mut events);
    assert!(world.receipt(again).is_some());
    world.node.mine(3);
    assert!(matches!(next(&world, &mut events), Event::Final { label: 1, .. }));
    assert_eq!(count(&world, PAYER), 1);
}

/// A process ends with a transaction that is not mined. The next one sends nothing before that nonce is used.
#[test]
fn nonces_in_flight_are_found_after_a_restart() {
    let Some(world) = World::deploy(&NetworkPlan::default()) else { return };
    world.node.ask("evm_setAutomine", json!([false]));
    let (submitter, mut events) = start(&world, patient());
    submitter.submit(transfer(&world, 1, Address::repeat_byte(7))).unwrap();
    let Event::Sent { transaction, nonce: 0, .. } = next(&world, &mut events) else { panic!("sent") };
    drop(submitter);

    // It is mined as it was sent: then the next call goes.
    let (submitter, mut events) = start(&world, patient());
    submitter.submit(transfer(&world, 2, Address::repeat_byte(7))).unwrap();
    assert_eq!(wait(&world, &mut events, Duration::from_millis(300)), []);
    world.node.mine(1);
    assert!(world.receipt(transaction).is_some());
    assert!(matches!(next(&world, &mut events), Event::Sent { label: 2, nonce: 1, .. }));
    drop(submitter);

    // It is not mined, and replaced by a transfer of nothing.
    let (submitter, mut events) = start(&world, settings());
    submitter.submit(transfer(&world, 3, Address::repeat_byte(9))).unwrap();
    assert_eq!(until_nothing_is_transferred(&world, &mut events), []);
    world.node.mine(1);
    assert!(matches!(next(&world, &mut events), Event::Sent { label: 3, nonce: 2, .. }));
    world.node.mine(1);
    let call = TestToken::allowanceCall { owner: submitter.address(), spender: Address::repeat_byte(7) };
    assert_eq!(world.node.read(world.deployed.token, &call), U256::ONE, "the second was replaced");
}

/// `approve` and `register` of an operator, by a submitter of its own.
#[test]
fn an_operator_registers_and_leaves() {
    let Some(mut world) = World::deploy(&NetworkPlan::default()) else { return };
    let amount = U256::from(5_000);
    let account = world.node.account(PAYER);
    world.node.send(world.deployed.token, &TestToken::transferCall { to: account, value: amount });
    // The owner of the key is the account that pays: that of operator 8.
    let (_, key, proof) = world.new_key(PAYER - 1, 1);
    let terms = world.follower().view().terms().clone();
    let (submitter, mut events) = start(&world, patient());
    let calls = [
        task_network::approve(&terms, amount),
        task_network::register(&terms, key, proof, amount),
        task_network::deregister(&terms),
    ];
    for (label, call) in (0..).zip(calls) {
        submitter.submit(Call::planned(label, call)).unwrap();
        assert!(matches!(next(&world, &mut events), Event::Sent { .. }));
        assert!(matches!(next(&world, &mut events), Event::Mined { succeeded: true, .. }));
    }
    let call = TaskNetwork::pendingOfCall { operator: account };
    assert_eq!(world.node.read(world.deployed.network, &call).amount, amount);
    submitter.submit(Call::planned(9, task_network::withdraw(&terms))).unwrap();
    let Event::Refused { label: 9, reason } = next(&world, &mut events) else { panic!("refused") };
    assert!(reason.starts_with("WithdrawalNotDue"), "{reason}");
}
