//! From a call to finality, by what a node says: fees, replacements, reorganisations, and nonces of others.

use std::time::Duration;

use alloy::primitives::{Address, Bytes, U256};

use super::*;
use crate::fees::{FeeLimits, GWEI};
use crate::task_network::Confirmations;

const PRICES: Prices = Prices { base: GWEI, tip: GWEI };
const BUMP: u64 = 1_000;
const GIVE_UP: u64 = 10_000;

fn machine(mined: u64, pending: u64) -> Machine<u8> {
    let settings = SubmitSettings {
        bump_after: Duration::from_millis(BUMP),
        give_up_after: Duration::from_millis(GIVE_UP),
        confirmations: Confirmations::Blocks(2),
        most_in_flight: 3,
        most_waiting: 5,
        ..SubmitSettings::default()
    };
    Machine::new(settings, mined, pending, 1)
}

fn call(label: u8) -> Call<u8> {
    Call {
        label,
        to: Address::ZERO,
        calldata: Bytes::new(),
        value: U256::ZERO,
        access_list: Vec::new(),
        gas_limit: None,
    }
}

fn hash(number: u8) -> B256 {
    B256::repeat_byte(number)
}

fn mined(number: u8, block: u64) -> Mined {
    let block_hash = B256::with_last_byte(block as u8);
    Mined { hash: hash(number), block, block_hash, gas_used: 5, fee_paid: 7, succeeded: true }
}

fn sight(newest: u64, nonce: u64, receipts: &[Mined]) -> Sight {
    let mined = receipts.iter().map(|mined| (mined.hash, *mined)).collect();
    Sight { newest, last_final: newest.checked_sub(2), nonce, mined }
}

/// Accepts the next call and sends it as this transaction. Returns its nonce.
fn send(machine: &mut Machine<u8>, number: u8, now: u64) -> u64 {
    let due = machine.accept(100_000, PRICES, now).unwrap();
    let Due::Send { nonce, fees, content, .. } = due else { panic!("{due:?}") };
    assert_eq!(content, Content::Call);
    let event = machine.sent(nonce, hash(number), fees, content, now);
    assert!(matches!(event, Some(SubmitEvent::Sent { .. })), "{event:?}");
    nonce
}

/// Carries out the one thing that is due, as this transaction.
fn follow_up(machine: &mut Machine<u8>, number: u8, now: u64) -> (Fees, Content) {
    let due = machine.due(PRICES, now);
    let [Due::Send { nonce, fees, content, .. }] = &due[..] else { panic!("{due:?}") };
    machine.sent(*nonce, hash(number), *fees, *content, now);
    (*fees, *content)
}

#[test]
fn from_a_call_to_finality() {
    let mut machine = machine(4, 4);
    machine.submit(call(1), 1);
    assert_eq!(machine.next().map(|call| call.label), Some(1));
    assert_eq!(send(&mut machine, 1, 1), 4);
    assert_eq!((machine.next(), machine.unfinished()), (None, vec![hash(1)]));
    assert_eq!(machine.observe(&sight(10, 4, &[]), 5), []);
    let told = machine.observe(&sight(11, 5, &[mined(1, 11)]), 6);
    let (transaction, gas_limit) = (hash(1), 100_000);
    let expected =
        SubmitEvent::Mined { label: 1, transaction, block: 11, gas_used: 5, gas_limit, fee_paid: 7, succeeded: true };
    assert_eq!(told, [expected]);
    assert_eq!(machine.due(PRICES, 50_000), [], "nothing is sent for what is mined");
    assert_eq!(machine.observe(&sight(12, 5, &[mined(1, 11)]), 7), []);
    let told = machine.observe(&sight(13, 5, &[mined(1, 11)]), 8);
    assert_eq!(told, [SubmitEvent::Final { label: 1, transaction: hash(1), block: 11, succeeded: true }]);
    assert!(machine.unfinished().is_empty());
}

#[test]
fn nonces_follow_each_other_and_few_are_in_flight() {
    let mut machine = machine(7, 7);
    (1..=5).for_each(|label| machine.submit(call(label), 1));
    assert!(!machine.has_room());
    let nonces: Vec<_> = (1..=3).map(|number| send(&mut machine, number, 1)).collect();
    assert_eq!(nonces, [7, 8, 9]);
    assert_eq!(machine.next(), None, "three are in flight");
    machine.observe(&sight(2, 8, &[mined(1, 2)]), 2);
    assert_eq!(machine.next().map(|call| call.label), Some(4));
    assert_eq!(send(&mut machine, 4, 2), 10);
    // A refusal takes no nonce.
    machine.observe(&sight(3, 9, &[mined(1, 2), mined(2, 3)]), 3);
    assert_eq!(machine.refused("no".to_owned()), Some(SubmitEvent::Refused { label: 5, reason: "no".to_owned() }));
    machine.submit(call(6), 3);
    assert_eq!(send(&mut machine, 6, 3), 11);
}

/// One false answer of a node must not put all further calls behind a gap.
#[test]
fn one_nonce_too_high_does_not_stop_the_submitter() {
    let behind_a_gap = Machine { nonce: 4_000, ..machine(4, 4) };
    let mut machine = machine(4, 4);
    machine.observe(&sight(10, 900, &[]), 1);
    machine.submit(call(1), 1);
    assert_eq!(send(&mut machine, 1, 1), 4, "the nonce that follows");
    machine.observe(&sight(11, 900, &[]), 2);
    machine.observe(&sight(11, 900, &[]), 2);
    machine.observe(&sight(12, 4, &[]), 2);
    machine.submit(call(2), 2);
    assert_eq!(send(&mut machine, 2, 2), 5);
    // Somebody else does send from the account: three blocks say so.
    (13..16).for_each(|newest| drop(machine.observe(&sight(newest, 9, &[]), 3)));
    machine.submit(call(3), 3);
    assert_eq!(send(&mut machine, 3, 3), 9);
    // A node lied when the process began, so its calls are behind a gap. They get nonces anew.
    let mut machine = behind_a_gap;
    machine.submit(call(1), 1);
    assert_eq!(send(&mut machine, 1, 1), 4_000);
    for newest in [20, 21, 21] {
        machine.observe(&sight(newest, 4, &[]), 5);
        assert!(machine.waiting.is_empty(), "not yet");
    }
    machine.observe(&sight(22, 4, &[]), 5);
    assert_eq!(send(&mut machine, 2, 6), 4, "without a gap");
    let told = machine.observe(&sight(23, 5, &[mined(2, 23)]), 7);
    assert!(matches!(&told[..], [SubmitEvent::Mined { label: 1, .. }]), "{told:?}");
}

#[test]
fn fees_rise_and_any_of_the_transactions_may_be_mined() {
    let mut machine = machine(0, 0);
    machine.submit(call(1), 0);
    send(&mut machine, 1, 0);
    assert_eq!(machine.due(PRICES, BUMP - 1), []);
    let all = Fees { max_fee: u128::MAX, tip: u128::MAX };
    let first = Fees::first(PRICES, all).unwrap();
    let (second, content) = follow_up(&mut machine, 2, BUMP);
    assert_eq!((content, Some(second)), (Content::Call, first.bumped(PRICES, all)));
    assert_eq!(machine.due(PRICES, BUMP + 1), [], "once");
    let (third, _) = follow_up(&mut machine, 3, 2 * BUMP);
    assert!(third.max_fee > second.max_fee);
    assert_eq!(machine.unfinished(), [hash(1), hash(2), hash(3)]);
    let told = machine.observe(&sight(5, 1, &[mined(2, 5)]), 2_500);
    assert!(matches!(told[..], [SubmitEvent::Mined { transaction, .. }] if transaction == hash(2)), "{told:?}");
}

#[test]
fn fees_stop_below_the_most_and_the_replacement_has_room() {
    let mut machine = machine(0, 0);
    machine.settings.fees.max_fee_gwei = 9;
    machine.submit(call(1), 0);
    send(&mut machine, 1, 0);
    let (mut now, mut number, mut highest) = (0, 1, 0);
    // Until nothing more is allowed for the call.
    loop {
        now += BUMP;
        match &machine.due(PRICES, now)[..] {
            [Due::Send { nonce, fees, content: Content::Call, .. }] => {
                number += 1;
                highest = fees.max_fee;
                machine.sent(*nonce, hash(number), *fees, Content::Call, now);
            }
            [Due::Again { hash: last }] => {
                assert_eq!(*last, hash(number));
                break;
            }
            other => panic!("{other:?}"),
        }
    }
    assert!(highest <= 8 * GWEI && now < GIVE_UP, "{highest}");
    let (fees, content) = follow_up(&mut machine, 100, GIVE_UP);
    assert!(content == Content::Nothing && fees.max_fee <= 9 * GWEI && 8 * fees.max_fee >= 9 * highest);
}

/// The limit of the tip holds for every offer. A call's replacements leave room for the one that takes its nonce.
#[test]
fn no_transaction_tips_more_than_is_allowed() {
    let mut machine = machine(0, 0);
    machine.settings.fees.max_tip_gwei = 2;
    machine.submit(call(1), 0);
    send(&mut machine, 1, 0);
    let mut tips = Vec::new();
    let mut number = 1;
    for now in (BUMP..GIVE_UP).step_by(BUMP as usize) {
        if let [Due::Send { nonce, fees, content: Content::Call, .. }] = &machine.due(PRICES, now)[..] {
            number += 1;
            tips.push(fees.tip);
            machine.sent(*nonce, hash(number), *fees, Content::Call, now);
        }
    }
    let last = *tips.last().unwrap();
    assert!(tips.len() == 4 && tips.is_sorted() && 9 * last <= 16 * GWEI, "{tips:?}");
    let (fees, content) = follow_up(&mut machine, 100, GIVE_UP);
    assert!(content == Content::Nothing && 8 * fees.tip >= 9 * last && fees.tip <= 2 * GWEI, "{fees:?}");
    // A node that asks for all of it, or a chain that takes nothing less, gets it at once. Nothing replaces that.
    machine.submit(call(2), 0);
    let asked = Prices { base: GWEI, tip: 2 * GWEI };
    let due = machine.accept(100_000, asked, 0);
    let Some(Due::Send { nonce, fees, content, .. }) = due else { panic!("{due:?}") };
    assert_eq!(fees.tip, 2 * GWEI);
    machine.sent(nonce, hash(50), fees, content, 0);
    for now in [BUMP, GIVE_UP] {
        let due = machine.due(asked, now);
        assert!(due.contains(&Due::Again { hash: hash(50) }), "{due:?}");
    }
}

#[test]
fn what_is_given_up_is_replaced_by_nothing() {
    let mut machine = machine(3, 3);
    machine.submit(call(1), 0);
    send(&mut machine, 1, 0);
    let due = machine.due(PRICES, GIVE_UP);
    let [Due::Send { nonce: 3, gas_limit: TRANSFER, fees, content: Content::Nothing, .. }] = &due[..] else {
        panic!("{due:?}")
    };
    let event = machine.sent(3, hash(2), *fees, Content::Nothing, GIVE_UP);
    assert!(matches!(event, Some(SubmitEvent::Replaced { .. })));
    // It stays a replacement, with higher fees.
    assert_eq!(follow_up(&mut machine, 3, GIVE_UP + BUMP).1, Content::Nothing);
    let mut other = mined(3, 9);
    let told = machine.observe(&sight(9, 4, &[other]), GIVE_UP + 2_000);
    assert!(matches!(&told[..], [SubmitEvent::GivenUp { label: 1, .. }]), "{told:?}");
    // Or the call is mined all the same.
    machine.observe(&sight(10, 3, &[]), GIVE_UP + 2_100);
    other.hash = hash(1);
    let told = machine.observe(&sight(9, 4, &[other]), GIVE_UP + 2_200);
    assert!(matches!(&told[..], [SubmitEvent::Mined { label: 1, .. }]), "{told:?}");
}

/// The node says that proposers expect a tip with which a call would cost more than is allowed. Blocks take less, and a call that waits for
/// such a node's word misses its window.
#[test]
fn a_node_that_exaggerates_the_tip_keeps_no_call_from_being_sent() {
    for tip in [3 * GWEI, u128::MAX] {
        let mut machine = machine(0, 0);
        (machine.settings.fees.max_fee_gwei, machine.settings.fees.max_tip_gwei) = (5, 3);
        machine.submit(call(1), 0);
        let asked = Prices { base: 3 * GWEI / 2, tip };
        let due = machine.accept(100_000, asked, 0);
        let Some(Due::Send { fees, .. }) = due else { panic!("{due:?}") };
        // Of 5 gwei calls may use eight ninths.
        let most = 5 * GWEI / 9 * 8;
        assert_eq!(fees, Fees { max_fee: most, tip: most - asked.base });
    }
}

#[test]
fn what_costs_too_much_waits_and_is_given_up() {
    let mut machine = machine(0, 0);
    machine.submit(call(1), 0);
    let dear = Prices { base: 500 * GWEI, tip: GWEI };
    assert_eq!(machine.accept(1, dear, 5), None);
    assert_eq!(machine.observe(&sight(1, 0, &[]), GIVE_UP - 1), []);
    let told = machine.observe(&sight(1, 0, &[]), GIVE_UP);
    assert!(matches!(&told[..], [SubmitEvent::GivenUp { label: 1, .. }]), "{told:?}");
    assert_eq!(machine.next(), None);
}

#[test]
fn a_reorganisation_drops_or_moves_a_transaction() {
    let mut machine = machine(0, 0);
    machine.submit(call(1), 0);
    send(&mut machine, 1, 0);
    machine.observe(&sight(5, 1, &[mined(1, 5)]), 10);
    // A node that is behind says nothing.
    assert_eq!(machine.observe(&sight(4, 0, &[]), 15), []);
    // In another block of the same height.
    let moved = Mined { block_hash: B256::repeat_byte(0xee), ..mined(1, 5) };
    let told = machine.observe(&sight(6, 1, &[moved]), 20);
    assert!(matches!(&told[..], [SubmitEvent::Undone { .. }, SubmitEvent::Mined { .. }]), "{told:?}");
    // Dropped: the same bytes are sent again at once, and only later with higher fees.
    let told = machine.observe(&sight(6, 0, &[]), 2_030);
    assert_eq!(told, [SubmitEvent::Undone { label: 1, transaction: hash(1) }]);
    assert_eq!(machine.due(PRICES, 2_040), [Due::Again { hash: hash(1) }]);
    assert_eq!(machine.due(PRICES, 2_050), []);
    assert_eq!(follow_up(&mut machine, 2, 2_040 + BUMP).1, Content::Call);
    let told = machine.observe(&sight(8, 1, &[mined(1, 8)]), 4_000);
    assert!(matches!(&told[..], [SubmitEvent::Mined { block: 8, .. }]), "{told:?}");
    let told = machine.observe(&sight(10, 1, &[mined(1, 8)]), 4_100);
    assert!(matches!(&told[..], [SubmitEvent::Final { block: 8, .. }]), "{told:?}");
}

/// A call that was mined in time was given up as soon as it was undone, if it had been submitted long before.
#[test]
fn a_reorganisation_long_after_a_call_does_not_give_it_up() {
    let mut machine = machine(0, 0);
    machine.submit(call(1), 0);
    send(&mut machine, 1, 0);
    machine.observe(&sight(5, 1, &[mined(1, 5)]), 10);
    let undone = 3 * GIVE_UP;
    let told = machine.observe(&sight(6, 0, &[]), undone);
    assert_eq!(told, [SubmitEvent::Undone { label: 1, transaction: hash(1) }]);
    assert_eq!(machine.due(PRICES, undone), [Due::Again { hash: hash(1) }]);
    assert_eq!(follow_up(&mut machine, 2, undone + BUMP).1, Content::Call);
    // From here on it has as much time as a call that is submitted.
    assert_eq!(follow_up(&mut machine, 3, undone + GIVE_UP - 1).1, Content::Call);
    assert_eq!(follow_up(&mut machine, 4, undone + GIVE_UP - 1 + BUMP).1, Content::Nothing);
    // Nor is it given up if somebody else has taken its nonce meanwhile, and it waits for another one.
    let mut machine = self::machine(0, 0);
    machine.submit(call(1), 0);
    send(&mut machine, 1, 0);
    machine.observe(&sight(5, 1, &[mined(1, 5)]), 10);
    machine.observe(&sight(6, 0, &[]), undone);
    for newest in 7..10 {
        assert_eq!(machine.observe(&sight(newest, 1, &[]), undone + newest), []);
    }
    assert_eq!(send(&mut machine, 2, undone + 20), 1);
}

/// A block that was told as final is undone. The next transaction takes the place of the one that is gone: behind it no block would take it.
#[test]
fn a_final_block_that_is_undone_leaves_no_gap() {
    let mut machine = machine(0, 0);
    machine.submit(call(1), 0);
    send(&mut machine, 1, 0);
    let told = machine.observe(&sight(7, 1, &[mined(1, 5)]), 1);
    assert!(matches!(told[..], [SubmitEvent::Mined { .. }, SubmitEvent::Final { .. }]), "{told:?}");
    machine.observe(&sight(4, 0, &[]), 2);
    machine.submit(call(2), 2);
    assert_eq!(send(&mut machine, 2, 2), 0);
}

/// A chain without finality fills no memory.
#[test]
fn no_call_is_sent_while_too_many_are_not_final() {
    let mut machine = machine(0, 0);
    let flight = |nonce| {
        let (since, gas_limit, missed) = (0, 100_000, (0, 0));
        let (last_sent, mined) = (Some(0), Some(mined(1, 5)));
        (
            nonce,
            Flight {
                call: Some(call(1)),
                gas_limit,
                since,
                last_sent,
                sent: Vec::new(),
                mined,
                missed,
                is_stuck: false,
            },
        )
    };
    machine.flights = (0..MOST_NOT_FINAL as u64).map(flight).collect();
    machine.submit(call(2), 1);
    assert_eq!(machine.next(), None);
    machine.flights.pop_first();
    assert!(machine.next().is_some());
}

/// Somebody else sends from the account. Only when three blocks say so does the call get another nonce, since a
/// node that is behind has no receipt either.
#[test]
fn a_nonce_that_was_taken() {
    let mut machine = machine(0, 0);
    machine.submit(call(1), 0);
    send(&mut machine, 1, 0);
    for newest in [5, 5, 6, 6] {
        assert_eq!(machine.observe(&sight(newest, 1, &[]), 10), []);
        assert_eq!(machine.next(), None);
    }
    assert_eq!(machine.observe(&sight(7, 1, &[]), 10), []);
    assert_eq!(machine.next().map(|call| call.label), Some(1));
    assert_eq!(send(&mut machine, 2, 20), 1);
}

/// After a restart nothing is sent before the nonces in flight are used; they are replaced if that takes too long.
#[test]
fn nonces_of_an_earlier_process() {
    let mut machine = machine(3, 5);
    machine.submit(call(1), 1);
    assert_eq!(machine.next(), None);
    machine.observe(&sight(5, 4, &[]), 10);
    assert_eq!(machine.next(), None, "one of two is left");
    let (first, content) = follow_up(&mut machine, 1, 1 + BUMP);
    assert_eq!(content, Content::Nothing);
    // The fees of what is there are not known, so each try offers more, and all of the tip.
    let (second, _) = follow_up(&mut machine, 2, 1 + 2 * BUMP);
    assert!(second.max_fee > first.max_fee);
    assert_eq!([first.tip, second.tip], [3 * GWEI; 2]);
    assert_eq!(machine.observe(&sight(6, 5, &[mined(2, 6)]), 3_000), []);
    assert_eq!(send(&mut machine, 3, 3_000), 5);
    // All of the tip is more than is allowed in all. What is left of that is offered, and it is told when that is too little.
    let mut machine = self::machine(3, 4);
    machine.settings.fees = FeeLimits { max_fee_gwei: 2, max_tip_gwei: 3 };
    let (fees, _) = follow_up(&mut machine, 1, 1 + BUMP);
    assert_eq!(fees, Fees { max_fee: 2 * GWEI, tip: GWEI });
    let mut machine = self::machine(3, 4);
    machine.settings.fees = FeeLimits { max_fee_gwei: 2, max_tip_gwei: 3 };
    let dear = Prices { base: 3 * GWEI, tip: GWEI };
    let due = machine.due(dear, 1 + BUMP);
    assert!(matches!(&due[..], [Due::Tell(SubmitEvent::Stuck { label: None, nonce: 3, .. })]), "{due:?}");
    assert_eq!(machine.due(dear, 1 + 2 * BUMP), [], "once");
    assert_eq!(follow_up(&mut machine, 1, 1 + 3 * BUMP).1, Content::Nothing, "when it costs less");
    // A node that says that very many are pending fills no memory.
    assert_eq!(super::Machine::<u8>::new(SubmitSettings::default(), 0, u64::MAX, 1).flights.len(), 1_024);
}

#[test]
fn a_transaction_that_the_node_refuses() {
    let mut machine = machine(0, 0);
    (1..=2).for_each(|label| machine.submit(call(label), 0));
    send(&mut machine, 1, 0);
    let nonce = send(&mut machine, 2, 0);
    // A gap would hold up the nonce behind it, so the first stays and is sent again.
    assert_eq!(machine.rejected(nonce - 1, hash(1), "no".to_owned()), None);
    let refused = SubmitEvent::Refused { label: 2, reason: "no".to_owned() };
    assert_eq!(machine.rejected(nonce, hash(2), "no".to_owned()), Some(refused));
    machine.submit(call(3), 0);
    assert_eq!(send(&mut machine, 3, 0), nonce, "its nonce is free");
    // The refusal of a replacement says nothing about the transaction before it.
    machine.submit(call(4), 0);
    let due = machine.due(PRICES, BUMP);
    let Some(Due::Send { nonce, fees, .. }) = due.last() else { panic!("{due:?}") };
    machine.sent(*nonce, hash(9), *fees, Content::Call, BUMP);
    assert_eq!(machine.rejected(*nonce, hash(9), "no".to_owned()), None);
}
