//! Many seeds of every fault. A seed that fails prints how to run it again.

use super::*;

/// Runs a scenario with seeds, and says what they came to together.
fn seeds(name: &str, scenario: &Scenario, seeds: std::ops::Range<u64>) -> Outcome {
    let mut sum = Outcome::default();
    for seed in seeds {
        let operators = scenario.operators;
        match run(scenario, seed) {
            Err(violation) => panic!(
                "{name}, {operators} operators, seed {seed}: {violation}\nagain: QUORATE_FAULT={name} QUORATE_OPERATORS={operators} \
                 QUORATE_SEED={seed} cargo test -p quorate-node --lib one_seed -- --ignored --nocapture"
            ),
            Ok(outcome) => {
                sum.steps += outcome.steps;
                sum.tasks += outcome.tasks;
                sum.settled += outcome.settled;
                sum.slashed += outcome.slashed;
                sum.crashes += outcome.crashes;
                sum.reorganisations += outcome.reorganisations;
            }
        }
    }
    sum
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
            for (operators, count) in [(4, 8), (7, 6), (25, 2)] {
                let sum = seeds($name, &fault($name, operators), 0..count);
                happened($name, &sum);
            }
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

/// The faults did happen, and did not stop the network.
fn happened(name: &str, sum: &Outcome) {
    assert!(sum.tasks > 0 && sum.settled * 2 > sum.tasks, "{name}: {sum:?}");
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
    all_lies_together "all_lies";
    everything_at_once "everything";
}

#[test]
fn two_hundred_operators() {
    for (name, seed) in [("none", 0), ("everything", 1), ("everything", 2)] {
        seeds(name, &Scenario { tasks: 1, ..fault(name, 200) }, seed..seed + 1);
    }
}

#[test]
fn a_seed_repeats_its_run() {
    let scenario = Scenario::everything(7);
    assert_eq!(run(&scenario, 5), run(&scenario, 5));
    assert_ne!(run(&scenario, 5), run(&scenario, 6));
}

#[test]
#[ignore = "one seed again: QUORATE_FAULT, QUORATE_OPERATORS and QUORATE_SEED say which"]
fn one_seed() {
    let variable = |name: &str, default: &str| std::env::var(name).unwrap_or_else(|_| default.to_owned());
    let name = variable("QUORATE_FAULT", "everything");
    let operators = variable("QUORATE_OPERATORS", "7").parse().expect("QUORATE_OPERATORS is a number");
    let seed: u64 = variable("QUORATE_SEED", "0").parse().expect("QUORATE_SEED is a number");
    println!("{:?}", seeds(&name, &fault(&name, operators), seed..seed + 1));
}

#[test]
#[ignore = "minutes: QUORATE_SEEDS seeds of every fault, 200 if it is not set"]
fn soak() {
    let count = std::env::var("QUORATE_SEEDS").map_or(200, |count| count.parse().expect("QUORATE_SEEDS is a number"));
    for operators in [4, 7, 25] {
        for (name, scenario) in Scenario::each_fault(operators) {
            let sum = seeds(&name, &scenario, 1_000..1_000 + count);
            println!("{name}, {operators} operators: {sum:?}");
        }
    }
}

/// The shortcut for large networks agrees with the simulation of every node: the messages of one task without faults,
/// less what nodes ask each other.
#[test]
fn figures_agree_with_the_simulation() {
    for operators in [25, 100] {
        let scenario = Scenario { tasks: 1, announced_within: 0, ..Scenario::calm(operators) };
        let outcome = run(&scenario, 3).unwrap();
        let figures = measure(operators, scenario.degree, scenario.latency, 60, 3);
        let simulated = outcome.messages as f64 / (operators * outcome.tasks) as f64;
        let ratio = simulated / figures.messages_a_node;
        assert!((0.9..1.35).contains(&ratio), "{operators}: {simulated} messages, and {figures:?}");
        let mean = outcome.quorum_times.iter().sum::<u64>() / outcome.quorum_times.len() as u64;
        // The simulated aggregator also waits 300 ms for stragglers, and executes nothing before it publishes.
        let quorum = figures.quorum_ms + 300;
        assert!((quorum / 2..quorum * 2).contains(&mean), "{operators}: {mean} ms, and {figures:?}");
    }
}

#[test]
fn figures_grow_as_a_flood_does() {
    let [small, large] = [100, 1_000].map(|nodes| measure(nodes, 8, (10, 150), 50, 1));
    assert!(
        large.messages_a_node > 8.0 * small.messages_a_node && large.messages_a_node < 12.0 * small.messages_a_node
    );
    assert!(large.quorum_ms < 2 * small.quorum_ms && large.quorum_ms <= large.all_ms, "{small:?} {large:?}");
    assert_eq!(measure(100, 8, (10, 150), 50, 1), small);
}

#[test]
#[ignore = "prints a table: messages and bytes that a node sends for one task, and the time to quorum"]
fn figures_of_large_networks() {
    for nodes in [100, 1_000, 10_000] {
        println!("{:?}", measure(nodes, 8, (10, 150), 50, 1));
    }
}
