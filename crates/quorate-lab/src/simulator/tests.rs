//! Some seeds of every fault, and in `make nightly` many. A seed that fails prints how to run it again.

use super::*;

/// Runs a scenario with seeds, and says what they came to together.
fn seeds(name: &str, scenario: &Scenario, seeds: std::ops::Range<u64>) -> SimulatedOutcome {
    let mut sum = SimulatedOutcome::default();
    for seed in seeds {
        let (operators, group) = (scenario.operators, scenario.group);
        match run(scenario, seed) {
            Err(violation) => panic!(
                "{name}, {operators} operators in groups of {group}, seed {seed}: {violation}\nagain: QUORATE_FAULT={name} \
                 QUORATE_OPERATORS={operators} QUORATE_GROUP={group} QUORATE_SEED={seed} cargo test -p quorate-lab --features simulator --lib one_seed -- --ignored --nocapture"
            ),
            Ok(outcome) => add(&mut sum, &outcome),
        }
    }
    sum
}

fn add(sum: &mut SimulatedOutcome, outcome: &SimulatedOutcome) {
    sum.steps += outcome.steps;
    sum.tasks += outcome.tasks;
    sum.settled += outcome.settled;
    sum.slashed += outcome.slashed;
    sum.crashes += outcome.crashes;
    sum.reorganisations += outcome.reorganisations;
}

fn fault(name: &str, operators: usize) -> Scenario {
    let faults = Scenario::each_fault(operators);
    let names: Vec<_> = faults.iter().map(|(name, _)| name.clone()).collect();
    let found = faults.into_iter().find(|(known, _)| known == name);
    found.unwrap_or_else(|| panic!("there is no fault {name}; there are {names:?}")).1
}

macro_rules! faults {
    ($($test:ident $name:literal;)*) => {
        $(#[test]
        fn $test() {
            let mut all = SimulatedOutcome::default();
            for (operators, group, count) in [(4, 64, 4), (7, 64, 3), (25, 64, 1), (9, 3, 2), (25, 4, 1)] {
                let sum = seeds($name, &fault($name, operators).in_groups(group), 0..count);
                assert!(sum.tasks > 0 && sum.settled * 2 > sum.tasks, "{}: {sum:?}", $name);
                add(&mut all, &sum);
            }
            happened($name, &all);
        })*

        #[test]
        fn every_fault_has_a_test() {
            let tested = [$($name),*];
            for (name, _) in Scenario::each_fault(4) {
                assert!(tested.contains(&name.as_str()), "{name} has no test");
            }
        }
    };
}

/// The faults did happen: not in each size, because a single seed may be without one of several.
fn happened(name: &str, sum: &SimulatedOutcome) {
    match name {
        "none" => assert_eq!((sum.settled, sum.slashed, sum.crashes), (sum.tasks, 0, 0), "{sum:?}"),
        "crashes" => assert!(sum.crashes > 0, "{sum:?}"),
        "reorganisations" | "lost_transactions" => assert!(sum.reorganisations > 0, "{sum:?}"),
        "TwoVerdicts" | "Impostor" => assert!(sum.slashed > 0, "{sum:?}"),
        "everything" => assert!(sum.crashes > 0 && sum.reorganisations > 0, "{sum:?}"),
        _ => {}
    }
}

faults! {
    nothing_goes_wrong "none";
    dropped_messages "dropped";
    delayed_messages "delayed";
    doubled_messages "doubled";
    partition_that_heals "partition";
    clocks_that_differ "clocks";
    crash_at_any_output "crashes";
    silent_signer "signer_silence";
    failing_programs "program_failures";
    reorganised_chain "reorganisations";
    lost_transactions "lost_transactions";
    false_verdicts "FalseVerdict";
    false_signatures "FalseSignature";
    equivocating_attesters "TwoVerdicts";
    equivocating_performers "TwoResults";
    wrong_results "WrongResult";
    silent_performers "SilentPerformer";
    silent_aggregators "SilentAggregator";
    impostors "Impostor";
    floods "Flood";
    false_sums "FalseSum";
    sums_of_half "HalfSum";
    silent_summers "NoSum";
    all_lies_together "all_lies";
    everything_at_once "everything";
}

#[test]
fn a_hundred_operators() {
    let scenario = Scenario { tasks: 1, ..fault("everything", 100) };
    seeds("everything", &scenario, 1..2);
}

/// Twenty groups, so that there are branches between them and everybody.
#[test]
fn branches_between_groups_and_everybody() {
    for (name, seed) in [("none", 0), ("everything", 1)] {
        seeds(name, &Scenario { tasks: 1, ..fault(name, 60) }.in_groups(3), seed..seed + 1);
    }
}

#[test]
fn a_seed_repeats_its_run() {
    let scenario = Scenario::everything(7);
    assert_eq!(run(&scenario, 5), run(&scenario, 5));
    assert_ne!(run(&scenario, 5), run(&scenario, 6));
}

#[test]
#[ignore = "one seed again: QUORATE_FAULT, QUORATE_OPERATORS, QUORATE_GROUP and QUORATE_SEED say which"]
fn one_seed() {
    let variable = |name: &str, default: &str| std::env::var(name).unwrap_or_else(|_| default.to_owned());
    let name = variable("QUORATE_FAULT", "everything");
    let operators = variable("QUORATE_OPERATORS", "7").parse().expect("QUORATE_OPERATORS is a number");
    let seed: u64 = variable("QUORATE_SEED", "0").parse().expect("QUORATE_SEED is a number");
    let group = variable("QUORATE_GROUP", "64").parse().expect("QUORATE_GROUP is a number");
    println!("{:?}", seeds(&name, &fault(&name, operators).in_groups(group), seed..seed + 1));
}

#[test]
#[ignore = "minutes: QUORATE_SEEDS seeds of every fault, 200 if it is not set"]
fn soak() {
    let count = std::env::var("QUORATE_SEEDS").map_or(200, |count| count.parse().expect("QUORATE_SEEDS is a number"));
    for (operators, group) in [(4, 64), (7, 64), (25, 64), (9, 3), (25, 4)] {
        for (name, scenario) in Scenario::each_fault(operators) {
            let sum = seeds(&name, &scenario.in_groups(group), 1_000..1_000 + count);
            println!("{name}, {operators} operators in groups of {group}: {sum:?}");
        }
    }
    for name in ["none", "everything"] {
        seeds(name, &Scenario { tasks: 1, ..fault(name, 200) }, 1_000..1_000 + count.div_ceil(20));
    }
}

/// The shortcut for large networks agrees with the simulation of every node: the messages of one task without faults,
/// less what nodes ask each other.
#[test]
fn figures_agree_with_the_simulation() {
    for (operators, group) in [(25, 64), (60, 64), (60, 10), (60, 3)] {
        let scenario = Scenario { tasks: 1, announced_within: 0, group, ..Scenario::calm(operators) };
        let outcome = run(&scenario, 3).unwrap();
        let figures = measure(operators, group, scenario.degree, scenario.latency, 60, 3);
        let simulated = outcome.messages as f64 / (operators * outcome.tasks) as f64;
        let ratio = simulated / figures.messages_a_node;
        // In a network of groups some sums are published before they are whole.
        assert!(
            (0.9..if group < operators { 2.0 } else { 1.35 }).contains(&ratio),
            "{simulated} messages, {figures:?}"
        );
        let mean = outcome.quorum_times.iter().sum::<u64>() / outcome.quorum_times.len() as u64;
        // The simulated aggregator also waits 300 ms for stragglers, and executes nothing before it publishes.
        let quorum = figures.quorum_ms + 300;
        assert!(
            (quorum / 2..quorum * 2).contains(&mean),
            "{operators} in groups of {group}: {mean} ms, and {figures:?}"
        );
    }
}

/// From one group of 64 on, everything grows at most with the logarithm of the nodes.
#[test]
fn figures_grow_with_the_logarithm() {
    let [one, small, middle, large] = [64, 100, 1_000, 10_000].map(|nodes| measure(nodes, 64, 8, (10, 150), 50, 1));
    for other in [&small, &middle, &large] {
        let more = (other.nodes as f64).log2() / 6.0;
        assert!(other.messages_a_node < more * one.messages_a_node, "{one:?} {other:?}");
        assert!(other.bytes_a_node < more * one.bytes_a_node, "{one:?} {other:?}");
        assert!((other.most_messages as f64) < more * one.most_messages as f64, "{one:?} {other:?}");
        // Each level is a way through a mesh.
        assert!((other.quorum_ms as f64) < 2.0 * more * one.quorum_ms as f64 && one.quorum_ms <= one.all_ms);
    }
    assert_eq!(measure(100, 64, 8, (10, 150), 50, 1), small);
    // Without groups everybody hears everybody.
    let flood = measure(1_000, 1_000, 8, (10, 150), 50, 1);
    assert!(flood.groups == 1 && flood.messages_a_node > 8.0 * middle.messages_a_node, "{flood:?} {middle:?}");
}

#[test]
#[ignore = "prints a table: messages and bytes that a node sends for one task, and the time to quorum"]
fn figures_of_large_networks() {
    for nodes in [64, 100, 1_000, 10_000] {
        println!("{:?}", measure(nodes, 64, 8, (10, 150), 50, 1));
    }
}
