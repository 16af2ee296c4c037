//! Every change of a network is told once, in order, and taken back when the chain is.

use quorate_chain::{
    deploy::NetworkPlan,
    task_network::{Confirmations, FollowDepth, FollowSettings, NetworkFollowError, NetworkFollower},
};
use quorate_evm::{
    Finality, KeyGroup, MemberSet, QuorumSignature, Task,
    alloy_primitives::{B256, U256},
    contract::{TaskNetwork, TestToken, Verifier, task_network::ITaskNetwork::Task as AbiTask},
    quorum::Store,
    task_network::{self, CallError, Change},
};

use crate::world::{DAY, STAKES, UNIT, World};

fn settled(changes: &[Change]) -> Vec<(B256, Finality)> {
    let of = |change: &Change| match change {
        Change::Settled { id, finality, .. } => Some((*id, *finality)),
        _ => None,
    };
    changes.iter().filter_map(of).collect()
}

/// The estimate is within 3 % of what the transaction took.
fn assert_near((estimate, used): (u64, u64), what: &str) {
    println!("{what}: estimated {estimate}, used {used}: {:+.2} %", 100.0 * (estimate as f64 / used as f64 - 1.0));
    assert!(estimate.abs_diff(used) * 100 <= 3 * used, "{what}: {estimate} against {used}");
}

/// The slots in which bases are stored in turn: slot 1 is pinned.
const RING: [u16; 4] = [0, 2, 3, 4];

/// The commitments of all bases are the verifier's.
fn assert_bases(world: &World, follower: &NetworkFollower, slots: &[u16]) {
    let network = follower.view().network(follower.view().epoch()).unwrap();
    assert_eq!(network.bases.iter().map(|base| base.slot).collect::<Vec<_>>(), slots);
    for base in &network.bases {
        let place = U256::from(network.table) << 16 | U256::from(base.slot);
        let held = world.node.read(world.deployed.verifier, &Verifier::commitmentAtCall { place });
        assert_eq!(base.commitment(), held, "slot {}", base.slot);
    }
}

#[test]
fn a_network_is_followed_from_its_deployment_to_its_second_epoch() {
    let Some(mut world) = World::with_operators(KeyGroup::Bls12381G2) else { return };
    let mut follower = world.follower();
    let terms = follower.view().terms().clone();
    assert_eq!((terms.key_group, terms.verifier), (KeyGroup::Bls12381G2, world.deployed.verifier));
    assert_eq!((terms.epoch_length, terms.unit, terms.attester_reward), (DAY, UNIT.into(), 500));

    // Operators, before there is a snapshot.
    let changes = world.poll(&mut follower);
    assert!(matches!(changes[0], Change::Block { number, .. } if number == world.node.block()), "{changes:?}");
    assert_eq!(changes[1], Change::Epoch(0));
    let registered: Vec<_> = changes
        .iter()
        .filter_map(|change| match change {
            Change::Registered { operator, index, stake } => Some((*operator, *index, *stake)),
            _ => None,
        })
        .collect();
    let expected: Vec<_> = (0..STAKES.len()).map(|i| (world.account(i), i as u32, U256::from(STAKES[i]))).collect();
    assert_eq!(registered, expected);
    assert_eq!(world.poll(&mut follower), [], "nothing is new");
    assert!(!follower.view().has_snapshot(0) && follower.view().network(0).is_none());

    // The snapshot.
    world.snapshot();
    let changes = world.poll(&mut follower);
    let [Change::Block { .. }, Change::Snapshot(snapshot)] = &changes[..] else { panic!("{changes:?}") };
    assert_eq!((snapshot.epoch, snapshot.table, snapshot.members.len()), (0, 0, STAKES.len()));
    for (i, member) in snapshot.members.iter().enumerate() {
        let expected = (world.account(i), STAKES[i] / UNIT, world.operators.member(i));
        assert_eq!((member.owner, member.weight, member.key.clone()), expected);
    }
    let total: u64 = STAKES.iter().map(|stake| stake / UNIT).sum();
    assert_eq!((snapshot.total, snapshot.required), (total.into(), u128::from(total) * 2 / 3));
    let call = TaskNetwork::snapshotOfCall { epoch: U256::ZERO };
    let held = world.node.read(world.deployed.network, &call);
    assert_eq!((held.beacon, held.id), (snapshot.beacon, snapshot.id));

    // Tasks: from the empty quorum, from a base, by the base itself, and with a page of keys.
    let all = MemberSet::full(STAKES.len());
    let mut most = all.clone();
    most.remove(3);
    let mut others = all.clone();
    others.remove(6);
    let mut ids = Vec::new();
    let mut stored = Vec::new();
    for (number, signers) in [&all, &most, &most, &others, &all, &most].into_iter().enumerate() {
        if number == 3 {
            for call in task_network::compact(&terms, 0, &world.operators.members()) {
                world.node.send_from(9, call.to, call.calldata);
            }
            world.poll(&mut follower);
            assert_eq!(follower.view().network(0).unwrap().key_pages.len(), 1);
        }
        let task = world.task(&follower, number as u8 + 1, true);
        let gas = world.settle(&follower, signers, &task);
        assert_near(gas, &format!("task {number}"));
        let changes = world.poll(&mut follower);
        let told = settled(&changes);
        assert_eq!(told.iter().find(|(id, _)| *id == task.id), Some(&(task.id, Finality::Recent)), "{changes:?}");
        let attested = changes.iter().find_map(|change| match change {
            Change::Attested { epoch, signers, weight, amount, .. } => Some((*epoch, signers, *weight, *amount)),
            _ => None,
        });
        let weight = follower.view().network(0).unwrap().weight(signers);
        assert_eq!(attested, Some((0, signers, weight, 500)));
        ids.push(task.id);
        stored.push(follower.view().network(follower.view().epoch()).unwrap().bases.len());
        assert_bases(&world, &follower, &RING[..stored[stored.len() - 1]]);
    }

    // A settlement is told as final after two blocks.
    world.node.mine(2);
    let changes = world.poll(&mut follower);
    let last = *ids.last().unwrap();
    assert!(settled(&changes).contains(&(last, Finality::Final)), "{changes:?}");
    world.node.mine(2);
    assert_eq!(settled(&world.poll(&mut follower)), [], "told once");

    // A rejected task costs its performer stake, and a conflict its signer.
    let mut of_the_first = (100..=u8::MAX).map(|number| world.task(&follower, number, false));
    let mut rejected = || of_the_first.find(|task| task.performer == 0).expect("it is elected for every other task");
    let (first, second) = (rejected(), rejected());
    assert_near(world.settle(&follower, &all, &first), "a rejected task");
    let changes = world.poll(&mut follower);
    let performer = world.account(0);
    let lost = U256::from(STAKES[0] / 100);
    assert!(changes.contains(&Change::Penalised { operator: performer, id: first.id, amount: lost }), "{changes:?}");
    // A second one costs nothing more in the epoch, and its transaction less.
    assert_near(world.settle(&follower, &all, &second), "a second rejected task of the performer");
    let changes = world.poll(&mut follower);
    assert_eq!(settled(&changes).last(), Some(&(second.id, Finality::Recent)));
    assert!(!changes.iter().any(|change| matches!(change, Change::Penalised { .. })), "{changes:?}");

    let culprit = 1;
    let one = world.task(&follower, 60, true);
    let other = Task { result: B256::ZERO, ..one };
    let (one, other) = (world.signed(culprit, one), world.signed(culprit, other));
    let stake = world.node.read(terms.contract, &TaskNetwork::stakeOfCall { operator: world.account(culprit) });
    let report = task_network::report_conflict(&terms, &one, &other).unwrap();
    world.node.send_from(8, report.to, report.calldata);
    let changes = world.poll(&mut follower);
    let (amount, bounty) = (stake / U256::from(2), stake / U256::from(40));
    let (operator, reporter) = (world.account(culprit), world.node.account(8));
    let expected = Change::Slashed { operator, id: one.task.id, epoch: 0, amount, bounty, reporter };
    assert!(changes.contains(&expected), "{changes:?}");
    // What proves nothing is not sent.
    assert_eq!(task_network::report_conflict(&terms, &one, &one), Err(CallError::NotConflicting));
    let mut forged = other.clone();
    forged.signature = one.signature.clone();
    assert_eq!(task_network::report_conflict(&terms, &one, &forged), Err(CallError::FalseSignature));

    // The next epoch: a rotated key, other weights, and the base of the epoch before.
    world.node.pass(DAY);
    let rotating = 2;
    let (_, key, proof) = world.new_key(rotating, 77);
    let rotate = task_network::rotate_key(&terms, key, proof);
    world.node.send_from(rotating + 1, rotate.to, rotate.calldata);
    world.snapshot();
    let changes = world.poll(&mut follower);
    let new = STAKES.len();
    let operator = world.account(rotating);
    assert!(changes.contains(&Change::Epoch(1)), "{changes:?}");
    assert!(changes.contains(&Change::KeyRotated { operator, old: rotating as u32, new: new as u32 }), "{changes:?}");
    let snapshot = follower.view().snapshot(1).unwrap().clone();
    assert_eq!((snapshot.members[rotating].weight, snapshot.members[rotating].owner), (0, operator));
    assert_eq!((snapshot.members[new].weight, snapshot.members[new].owner), (STAKES[rotating] / UNIT, operator));
    assert!(follower.view().has_snapshot(0), "its tasks can still settle");
    let mut signers = all.clone();
    signers.remove(rotating);
    signers.insert(new);
    for number in [70, 71] {
        let task = world.task(&follower, number, true);
        assert_near(world.settle(&follower, &signers, &task), &format!("task {number} of epoch 1"));
        assert_eq!(settled(&world.poll(&mut follower)).last(), Some(&(task.id, Finality::Recent)));
        stored.push(follower.view().network(follower.view().epoch()).unwrap().bases.len());
        assert_bases(&world, &follower, &RING[..stored[stored.len() - 1]]);
    }

    // How many bases there are after each settlement.
    assert_eq!(stored, [1, 1, 1, 2, 2, 2, 2, 3]);

    // Rewards of epoch 0, once it is closed, and what an operator claims.
    world.node.pass(DAY);
    let tasks: Vec<_> = (0..6)
        .map(|number| {
            let id = ids[number];
            let performer = world.node.read(terms.contract, &TaskNetwork::performerOfCall { epoch: U256::ZERO, id });
            AbiTask { id, performer, result: B256::repeat_byte(!(number as u8 + 1)), approved: true }
        })
        .collect();
    let tally = task_network::tally(&terms, 0, tasks, &[all.clone(), most, others], Vec::new());
    world.node.send_from(9, tally.to, tally.calldata);
    let changes = world.poll(&mut follower);
    let earned = changes.iter().find_map(|change| match change {
        Change::Tallied { epoch: 0, earned, .. } => Some(earned.clone()),
        _ => None,
    });
    let earned = earned.unwrap_or_else(|| panic!("{changes:?}"));
    for index in [0, 3, 6] {
        let share = task_network::share_of(0, index, &earned).unwrap();
        let claim = task_network::claim(&terms, world.account(index), vec![share]);
        world.node.send_from(9, claim.to, claim.calldata);
        let (operator, amount) = (world.account(index), earned[index]);
        let expected = Change::Claimed { operator, epoch: 0, index: index as u32, amount };
        assert!(world.poll(&mut follower).contains(&expected));
    }
    let leave = task_network::deregister(&terms);
    world.node.send_from(6, leave.to, leave.calldata);
    let changes = world.poll(&mut follower);
    assert!(changes.contains(&Change::SeatVacated { operator: world.account(5), index: 5 }), "{changes:?}");

    // Whoever begins now is told the same network, by larger questions.
    let read = |depth| {
        let settings = FollowSettings { blocks_per_request: 1_000, depth, ..world.settings() };
        let open = NetworkFollower::open(world.rpc.clone(), world.deployed.network, settings);
        let mut late = world.runtime.block_on(open).unwrap();
        let before = world.rpc.counts().questions;
        let changes = world.poll(&mut late);
        (late, changes, world.rpc.counts().questions - before)
    };
    let (late, changes, questions) = read(FollowDepth::Calldata);
    assert_eq!(late.view().network(1), follower.view().network(1));
    assert_eq!(late.view().snapshot(1), follower.view().snapshot(1));
    assert_eq!(settled(&changes).len(), 10);

    // By logs alone the changes are the same, no submission is asked for, and no base is known.
    let (bare, same, fewer) = read(FollowDepth::Logs);
    assert_eq!(same, changes);
    assert!(fewer + 10 <= questions, "a question for each of 10 submissions: {fewer} and {questions}");
    assert!(bare.view().network(1).unwrap().bases.is_empty());
}

/// Reorganisations of one to three blocks remove a settlement, a base, a snapshot and a slashing.
#[test]
fn what_a_reorganisation_undoes_is_told_first() {
    let Some(world) = World::with_operators(KeyGroup::Bls12381G2) else { return };
    let mut follower = world.follower();
    world.node.mine(3);
    world.poll(&mut follower);
    world.snapshot();
    world.poll(&mut follower);

    // One block, with the snapshot.
    world.reorganise(1);
    let changes = world.poll(&mut follower);
    assert_eq!(changes[0], Change::SnapshotRemoved { epoch: 0 });
    assert!(!follower.view().has_snapshot(0) && follower.view().network(0).is_none());
    world.snapshot();
    world.poll(&mut follower);
    world.node.mine(3);
    world.poll(&mut follower);

    // Two blocks, each with a settlement, and a base with each.
    let all = MemberSet::full(STAKES.len());
    let mut most = all.clone();
    most.remove(4);
    let (one, two) = (world.task(&follower, 1, true), world.task(&follower, 2, true));
    world.settle(&follower, &all, &one);
    world.poll(&mut follower);
    let before = follower.view().network(0).unwrap();
    world.settle(&follower, &most, &two);
    world.poll(&mut follower);
    world.reorganise(2);
    let changes = world.poll(&mut follower);
    let undone: Vec<_> = changes.iter().filter(|change| matches!(change, Change::Unsettled { .. })).cloned().collect();
    assert_eq!(undone, [Change::Unsettled { id: two.id }, Change::Unsettled { id: one.id }]);
    let first_new = changes.iter().position(|change| matches!(change, Change::Block { .. })).unwrap();
    assert!(
        changes[..first_new]
            .iter()
            .any(|change| matches!(change, Change::Undone(inner) if matches!(**inner, Change::Attested { .. })))
    );
    assert!(changes[first_new..].iter().all(|change| !matches!(change, Change::Unsettled { .. } | Change::Undone(_))));
    assert!(follower.view().network(0).unwrap().bases.is_empty());

    // Settled again, alike: the base is as it was.
    world.settle(&follower, &all, &one);
    assert_eq!(settled(&world.poll(&mut follower)), [(one.id, Finality::Recent)]);
    assert_eq!(follower.view().network(0).unwrap(), before);

    // Three blocks, of which the follower saw the first two one by one, and the last never.
    let (first, second) = (world.task(&follower, 3, true), world.task(&follower, 4, true));
    let (first, second) = (world.signed(5, first), world.signed(5, Task { id: first.id, ..second }));
    let report = task_network::report_conflict(follower.view().terms(), &first, &second).unwrap();
    world.node.mine(3);
    world.poll(&mut follower);
    world.node.send_from(8, report.to, report.calldata);
    world.poll(&mut follower);
    let last = world.task(&follower, 5, true);
    world.settle(&follower, &most, &last);
    world.poll(&mut follower);
    world.node.mine(1);
    world.reorganise(3);
    let changes = world.poll(&mut follower);
    assert!(changes.contains(&Change::Unsettled { id: last.id }), "{changes:?}");
    let operator = world.account(5);
    assert!(changes.contains(&Change::Unslashed { operator, id: first.task.id, epoch: 0 }), "{changes:?}");
    assert_eq!(follower.view().network(0).unwrap().bases, before.bases, "the base before is in its slot again");
    assert_near(world.settle(&follower, &most, &last), "a task after a reorganisation");
    assert_eq!(settled(&world.poll(&mut follower)), [(last.id, Finality::Recent)]);

    // Four blocks, of which the first was final: the follower stops, and is as it was.
    world.node.mine(2);
    world.poll(&mut follower);
    let before = (follower.view().block(), follower.view().network(0));
    world.reorganise(4);
    world.node.mine(2);
    for _ in 0..2 {
        let error = world.try_poll(&mut follower).unwrap_err();
        assert!(matches!(error, NetworkFollowError::FinalBlockUndone { .. }), "{error}");
    }
    assert_eq!((follower.view().block(), follower.view().network(0)), before);
}

/// A quorum that is not the one of the signature, or too light, is not a call; and ski rental decides where it is stored.
#[test]
fn plans_are_verified_before_they_are_paid_for() {
    let Some(world) = World::with_operators(KeyGroup::Bls12381G2) else { return };
    world.snapshot();
    let mut follower = world.follower();
    world.poll(&mut follower);
    let all = MemberSet::full(STAKES.len());
    let task = world.task(&follower, 1, true);
    let signature = world.operators.sign(&all, &[task.digest(world.domain())]);
    let mut fewer = all.clone();
    fewer.remove(6);
    assert_eq!(follower.view().settle(&task, &fewer, &signature).unwrap_err(), CallError::FalseSignature);
    let few: MemberSet = [3, 4, 5, 6].into_iter().collect();
    let light = world.operators.sign(&few, &[task.digest(world.domain())]);
    assert!(matches!(follower.view().settle(&task, &few, &light), Err(CallError::Plan(_))));
    let zero = QuorumSignature::Bls12381([0; 96]);
    assert_eq!(follower.view().settle(&task, &all, &zero).unwrap_err(), CallError::FalseSignature);
    for (wrong, what) in
        [(Task { epoch: 1, ..task }, None), (Task { snapshot: Default::default(), ..task }, Some("snapshot"))]
    {
        let error = follower.view().settle(&wrong, &all, &signature).unwrap_err();
        let expected = what.map_or(CallError::NoSnapshot { epoch: 1 }, |what| CallError::OtherTask { what });
        assert_eq!(error, expected);
    }
    // Seven keys in calldata cost more than a slot, and the base itself costs nothing.
    assert_eq!(follower.view().store(0, &all), Store::Slot(0));
    world.settle(&follower, &all, &task);
    world.poll(&mut follower);
    assert_eq!(follower.view().store(0, &all), Store::Nowhere);
    assert_bases(&world, &follower, &[0]);
}

/// A nearly full key table is renewed: keys are carried, one comes meanwhile, and the next snapshot uses the next table.
#[test]
fn a_key_table_is_renewed() {
    let plan = NetworkPlan { maximum_operators: 43, ..NetworkPlan::default() };
    let Some(mut world) = World::deploy(&plan) else { return };
    let mut follower = world.follower();
    let terms = follower.view().terms().clone();
    let (stake, much) = (U256::from(1_000), U256::from(1_000_000));
    for operator in 0..4 {
        let call = TestToken::transferCall { to: world.account(operator), value: much };
        world.node.send(terms.token, &call);
        let approve = task_network::approve(&terms, much);
        world.node.send_from(operator + 1, approve.to, approve.calldata);
    }
    // Six keys for each operator that the network may have, less three: then keys can be carried.
    let due = 3 * 43;
    let register = |world: &mut World, operator: usize, seed: u8| {
        let (_, key, proof) = world.new_key(operator, seed);
        let call = task_network::register(&terms, key, proof, stake);
        world.node.send_from(operator + 1, call.to, call.calldata);
    };
    for seed in 1..=due - 2 {
        register(&mut world, 0, seed as u8);
        if seed < due - 2 {
            let leave = task_network::deregister(&terms);
            world.node.send_from(1, leave.to, leave.calldata);
        }
    }
    register(&mut world, 1, due as u8 - 1);
    register(&mut world, 2, due as u8);
    world.snapshot();
    world.poll(&mut follower);
    assert_eq!(follower.view().snapshot(0).unwrap().members.len(), due);

    for call in task_network::compact(&terms, due - 4, &world.operators.members()[due - 4..]) {
        world.node.send_from(9, call.to, call.calldata);
    }
    world.poll(&mut follower);
    let page = follower.view().network(0).unwrap().key_pages[0].nonce;
    let carry = |operators: &[usize]| {
        let operators = operators.iter().map(|operator| world.account(*operator)).collect();
        task_network::carry(&terms, operators, &[page])
    };
    let (first, second) = (carry(&[1]), carry(&[2, 0]));
    world.node.send_from(9, first.to, first.calldata);
    register(&mut world, 3, due as u8 + 1);
    world.poll(&mut follower);
    world.node.send_from(9, second.to, second.calldata);
    world.node.pass(DAY);
    world.snapshot();
    world.poll(&mut follower);

    let snapshot = follower.view().snapshot(1).unwrap();
    let owners: Vec<_> = snapshot.members.iter().map(|member| (member.owner, member.weight)).collect();
    assert_eq!((snapshot.table, owners), (1, [1, 3, 2, 0].map(|operator| (world.account(operator), 10)).to_vec()));
    assert_eq!(follower.view().network(0).unwrap().table, 0);
    // A quorum in the indices of the next table.
    let keys: Vec<usize> = [due - 2, due, due - 1, due - 3].to_vec();
    for (index, key) in keys.iter().enumerate() {
        assert_eq!(snapshot.members[index].key, world.operators.member(*key));
    }
    let task = world.task(&follower, 1, true);
    let signature = world.operators.sign(&keys.into_iter().collect(), &[task.digest(world.domain())]);
    let plan = follower.view().settle(&task, &MemberSet::full(4), &signature).unwrap();
    let receipt = world.node.send_listed(0, plan.to, plan.calldata, &plan.access_list);
    assert_near((plan.gas.unwrap(), receipt.gas_used), "a task in the next table");
    assert_eq!(settled(&world.poll(&mut follower)), [(task.id, Finality::Recent)]);
    // Four keys from pages cost less than a slot.
    assert_bases(&world, &follower, &[]);
    let mut late = world.follower();
    world.poll(&mut late);
    assert_eq!(late.view().network(1), follower.view().network(1));
}

/// What a confirmation is, by the node's word.
#[test]
fn finality_of_the_node() {
    let Some(world) = World::with_operators(KeyGroup::Bls12381G2Nu) else { return };
    world.snapshot();
    let settings = FollowSettings { confirmations: Confirmations::Finalized, ..world.settings() };
    let open = NetworkFollower::open(world.rpc.clone(), world.deployed.network, settings);
    let mut follower = world.runtime.block_on(open).unwrap();
    assert_eq!(follower.view().terms().key_group, KeyGroup::Bls12381G2Nu);
    world.poll(&mut follower);
    let all = MemberSet::full(STAKES.len());
    let task = world.task(&follower, 1, true);
    assert_near(world.settle(&follower, &all, &task), "a task with the nonuniform hash");
    assert_eq!(settled(&world.poll(&mut follower)), [(task.id, Finality::Recent)]);
    // The node takes a block for final when 64 follow.
    world.node.mine(70);
    assert_eq!(settled(&world.poll(&mut follower)), [(task.id, Finality::Final)]);
}

/// What is not a network is said to be none.
#[test]
fn a_wrong_address_is_refused() {
    let Some(world) = World::with_operators(KeyGroup::Bn254G2) else { return };
    assert_eq!(world.follower().view().terms().key_group, KeyGroup::Bn254G2);
    let open = |contract| world.runtime.block_on(NetworkFollower::open(world.rpc.clone(), contract, world.settings()));
    let none = open(world.node.account(9)).unwrap_err();
    assert!(matches!(none, NetworkFollowError::NoContract { .. }), "{none}");
    for other in [world.deployed.token, world.deployed.verifier] {
        let error = open(other).unwrap_err();
        assert!(matches!(error, NetworkFollowError::NotANetwork { .. }), "{error}");
    }
    // Too late a start: logs are missing.
    let settings = FollowSettings { from_block: world.node.block(), ..world.settings() };
    world.snapshot();
    let open = NetworkFollower::open(world.rpc.clone(), world.deployed.network, settings);
    let mut follower = world.runtime.block_on(open).unwrap();
    let error = world.try_poll(&mut follower).unwrap_err();
    assert!(matches!(error, NetworkFollowError::Contradiction { .. }), "{error}");
    assert_eq!(follower.view().block(), None);
}
