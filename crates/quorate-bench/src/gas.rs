//! The gas of settling a quorum's results: whole transactions with cold storage, ten in a row, as the source measured.

mod deployed;
mod baselines;
mod epoch;
mod hub;
mod task_network;

use quorate_evm::{
    KeyGroup, MemberSet, Network,
    base::NEWEST,
    quorum::Store,
    refresh::{Policy, PolicyOutcome, Trace},
    state::{self, Head},
};
use rand_chacha::{
    ChaCha20Rng,
    rand_core::{Rng, SeedableRng},
};

use self::{
    baselines::{Baseline, Registries},
    deployed::{Deployed, Keep, Model, RING, TASKS, WEIGHT, engine, row},
    epoch::per_task,
};
use crate::{chain::Prices, measure::Run, row::Row};

pub(crate) fn run(run: &Run) -> Vec<Row> {
    let sizes = run.choose(&[10, 100][..], &[4, 10, 50, 100, 200, 1000]);
    let mut rows = Vec::new();
    for &n in sizes {
        let deploy = |stakes: Stakes, prices: Prices| {
            let deploy = |key_group: &KeyGroup| Deployed::new(*key_group, &stakes.weights(n), prices);
            KeyGroup::ALL.iter().map(deploy).collect::<Vec<_>>()
        };
        let deployed = deploy(Stakes::Equal, Prices::Osaka);
        for model in [Model::Flip, Model::Miss] {
            let trace = model.trace(n, TASKS);
            for deployed in &deployed {
                // If operators flip, a quorum is nearest to the last one. If they miss tasks, it is nearest to the full set.
                let (stored, note) = match model {
                    Model::Flip => {
                        let last = |trace: &Trace<'_>| trace.run(Policy::Ring { slots: 1 });
                        (deployed.stored(&trace, Keep::Newest, last), "the last quorum is stored as the newest base")
                    }
                    _ => (Vec::new(), "from the full set"),
                };
                let gas = deployed.clone().settle_each(&trace, Keep::Newest, &stored);
                rows.push(row(model.name(), &engine(deployed.network.key_group), n, &gas, note));
            }
            rows.extend(Baseline::ALL.iter().filter_map(|baseline| baseline.row(model, n, &trace)));
            if model == Model::Miss {
                rows.extend(Registries::ALL.map(|registries| registries.row(n, &trace)));
            }
        }
        rows.push(baselines::same_quorum(n));
        rows.extend(hub::rows(n, &Model::Flip.trace(n, TASKS)));
        rows.extend(deployed.iter().flat_map(|deployed| exact(deployed, n)));
        rows.extend(deployed.iter().map(|deployed| weighed(deployed, n)));
        rows.extend(
            deployed.iter().filter(|of| of.network.key_group == KeyGroup::Bn254G2).flat_map(task_network::rows),
        );
        rows.extend(deployed.iter().map(|deployed| begun(deployed, "gas/begin")));
        rows.extend(
            deployed.iter().flat_map(|deployed| per_task(deployed, &missed(deployed, n, Stakes::Equal.name()))),
        );
        for stakes in [Stakes::Lognormal, Stakes::Zipf] {
            for deployed in deploy(stakes, Prices::Osaka) {
                let missed = missed(&deployed, n, stakes.name());
                rows.extend(per_task(&deployed, &missed));
                rows.push(missed);
            }
        }
        for (prices, name) in [(Prices::Glamsterdam, "glamsterdam"), (Prices::PrecompilesTwice, "precompiles-twice")] {
            let deployed = deploy(Stakes::Equal, prices);
            rows.extend(deployed.iter().map(|deployed| missed(deployed, n, &format!("gas/miss-{name}"))));
            rows.extend(deployed.iter().map(|deployed| begun(deployed, &format!("gas/begin-{name}"))));
        }
    }
    rows.extend(KeyGroup::ALL.iter().flat_map(|key_group| changed(*key_group)));
    for model in [Model::Flip, Model::Miss, Model::Shifts] {
        rows.extend(refresh(model, run.choose(20, 100)));
    }
    rows
}

/// When to store a base: each policy over a longer trace of 100 operators, with keys in G2 of BN254. The policy "last" stores
/// as the newest base, which costs almost nothing. Rings store in slots that held another base before. The optimum is the
/// cheapest of three: the best choice of newest bases, the best choice of bases in one slot of the ring, and no base.
fn refresh(model: Model, tasks: usize) -> Vec<Row> {
    let mut deployed = Deployed::new(KeyGroup::Bn254G2, &[WEIGHT; 100], Prices::Osaka);
    let trace = model.trace(100, tasks);
    // A slot that holds a base costs a change and not a first write. These bases are too far from the trace to be used.
    for slot in RING..RING + 32 {
        deployed.settle(&MemberSet::full(1), 1, Store::Slot(slot));
    }
    type Choose = fn(&Trace<'_>) -> PolicyOutcome;
    let policies: [(&str, Keep, Choose); 5] = [
        ("full", Keep::Newest, |trace| trace.run(Policy::Pinned)),
        ("last", Keep::Newest, |trace| trace.run(Policy::Ring { slots: 1 })),
        ("ring-8", Keep::Ring(8), |trace| trace.run(Policy::Ring { slots: 8 })),
        ("ring-32", Keep::Ring(32), |trace| trace.run(Policy::Ring { slots: 32 })),
        ("ski-rental", Keep::Ring(1), |trace| trace.run(Policy::SkiRental)),
    ];
    let bench = model.name().replace("gas/", "gas/refresh-");
    let run = |keep: Keep, choose: Choose| {
        let stored = deployed.stored(&trace, keep, choose);
        (deployed.clone().settle_each(&trace, keep, &stored), stored.len())
    };
    let of = |name: &str, (gas, stored): &(Vec<u64>, usize)| {
        row(&bench, name, 100, gas, &format!("{stored} of {tasks} quorums stored; the full set is always a base"))
    };
    let runs = policies.map(|(name, keep, choose)| (name, run(keep, choose)));
    let best = [Keep::Newest, Keep::Ring(1)].map(|keep| run(keep, |trace| trace.optimum()));
    let best = best.iter().chain([&runs[0].1]).min_by_key(|(gas, _)| gas.iter().sum::<u64>()).expect("three");
    runs.iter().map(|(name, run)| of(name, run)).chain([of("optimum", best)]).collect()
}

/// A quorum that is a base, and the price of each further result of one quorum.
fn exact(deployed: &Deployed, n: usize) -> [Row; 2] {
    let mut deployed = deployed.clone();
    let all = MemberSet::full(n);
    let mut settle = |results| deployed.settle(&all, results, Store::Nowhere).0;
    // One result and several results are different calls.
    let (one, two, five) = (settle(1), settle(2), settle(5));
    let name = engine(deployed.network.key_group);
    [
        row("gas/exact", &name, n, &[one], "the quorum is a base"),
        row("gas/further-task", &name, n, &[(five - two) / 3], "each after the second of one quorum"),
    ]
}

/// How the operators' stakes are distributed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stakes {
    /// All are equal, so members are counted.
    Equal,
    /// The logarithm is normal with a deviation of 1: the middle two thirds of the stakes are within a factor of 7.
    Lognormal,
    /// The operator in place i has 1/i of the largest stake.
    Zipf,
}

impl Stakes {
    fn name(self) -> &'static str {
        match self {
            Self::Equal => "gas/miss",
            Self::Lognormal => "gas/stakes-lognormal",
            Self::Zipf => "gas/stakes-zipf",
        }
    }

    /// The weights of n operators, in an order that has nothing to do with their size.
    fn weights(self, n: usize) -> Vec<u64> {
        let mut rng = ChaCha20Rng::seed_from_u64(n as u64);
        let mut uniform = || (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
        // Box and Muller's method makes a normal number of two uniform ones.
        let mut normal = || (-2.0 * (1.0 - uniform()).ln()).sqrt() * (std::f64::consts::TAU * uniform()).cos();
        let mut weights: Vec<u64> = match self {
            Self::Equal => return vec![WEIGHT; n],
            Self::Lognormal => (0..n).map(|_| (WEIGHT as f64 * normal().exp()) as u64).collect(),
            Self::Zipf => (1..=n as u64).map(|place| 100 * WEIGHT / place).collect(),
        };
        for i in (1..n).rev() {
            weights.swap(i, (rng.next_u64() % (i as u64 + 1)) as usize);
        }
        weights
    }
}

/// Operators miss tasks, and each quorum starts from the full set. With unequal stakes it was weighed when it was stored.
fn missed(deployed: &Deployed, n: usize, bench: &str) -> Row {
    let trace: Vec<_> = Model::Miss.trace(n, TASKS);
    let required = deployed.network.required;
    let heavy: Vec<_> = trace.into_iter().filter(|quorum| deployed.network.weight(quorum) >= required).collect();
    let gas = deployed.clone().settle_each(&heavy, Keep::Newest, &[]);
    let note = format!("{} of {TASKS} quorums weigh enough; from the full set", heavy.len());
    row(bench, &engine(deployed.network.key_group), n, &gas, &note)
}

/// The gas of `begin`, which publishes the weights of an epoch.
fn begun(deployed: &Deployed, bench: &str) -> Row {
    let mut deployed = deployed.clone();
    let Network { weights, required, .. } = &deployed.network;
    let ((threshold, _), head) = (state::enough(weights, *required), deployed.network.head());
    let [gas, _] = deployed.begin(head.encode().expect("it fits"), threshold);
    let n = deployed.network.weights.len();
    row(bench, &engine(deployed.network.key_group), n, &[gas], "once in an epoch")
}

/// One member is missing from a base that was weighed, and no number of members is enough, so the contract reads weights.
fn weighed(deployed: &Deployed, n: usize) -> Row {
    let mut deployed = deployed.clone();
    let head: Head = deployed.network.head();
    // The pages of the next epoch follow those of this one.
    let mut pages = std::mem::take(&mut deployed.network.weight_pages);
    deployed.begin(head.encode().expect("it fits"), 1);
    let count = pages.len() as u32;
    pages.iter_mut().for_each(|page| page.nonce += count);
    pages.into_iter().for_each(|page| {
        deployed.publish(page);
    });
    deployed.settle(&MemberSet::full(n), 1, Store::Slot(NEWEST));
    let (gas, _) = deployed.settle(&(1..n).collect(), 1, Store::Nowhere);
    row(
        "gas/weighed",
        &engine(deployed.network.key_group),
        n,
        &[gas],
        "one member missing; its weight is read from a page",
    )
}

/// By the number of members that changed, of 100.
fn changed(key_group: KeyGroup) -> Vec<Row> {
    let deployed = Deployed::new(key_group, &[WEIGHT; 100], Prices::Osaka);
    let of = |k: usize| {
        let signers: MemberSet = (k..100).collect();
        let (gas, _) = deployed.clone().settle(&signers, 1, Store::Nowhere);
        row(&format!("gas/changed={k}"), &engine(key_group), 100, &[gas], "from the full set")
    };
    [1, 2, 4, 8, 16, 32].into_iter().map(of).collect()
}

#[cfg(test)]
mod tests {
    use quorate_evm::base::{Weigh, Weighing};

    use super::*;

    const N: usize = 10;

    fn deployed(key_group: KeyGroup, stakes: Stakes) -> Deployed {
        Deployed::new(key_group, &stakes.weights(N), Prices::Osaka)
    }

    /// With unequal stakes the full set has a weight, and a quorum that is not counted reads the weights of those who miss.
    /// Weighed again on request, the full set keeps its weight, and the contract reads none.
    #[test]
    fn unequal_stakes_start_from_a_weighed_base() {
        for key_group in KeyGroup::ALL {
            let mut deployed = deployed(key_group, Stakes::Zipf);
            let all = MemberSet::full(N);
            let (gas, again) = deployed.settle_weighed(&all, 1, Store::Slot(NEWEST), Weigh::Always);
            assert_eq!((again.way.weighing, again.way.steps.weighed), (Weighing::FromBase, 0));
            let (counted, _) = deployed.clone().settle(&all, 1, Store::Slot(NEWEST));
            assert!(gas.abs_diff(counted) < 500, "{gas} and {counted}");
            let heavy = |quorum: &MemberSet| deployed.network.weight(quorum) >= deployed.network.required;
            let lightest = (0..N).filter(|i| heavy(&all.symmetric_difference(&[*i].into_iter().collect())));
            let lightest = lightest.min_by_key(|i| deployed.network.weights[*i]).unwrap();
            let mut signers = all;
            signers.remove(lightest);
            deployed.network.check().unwrap();
            let (_, plan) = deployed.settle_weighed(&signers, 1, Store::Nowhere, Weigh::Always);
            assert_eq!((plan.way.weighing, plan.way.steps.weighed), (Weighing::FromBase, 1));
        }
    }

    /// An epoch of equal stakes is `begin` and `enter`, and a task carries its part.
    #[test]
    fn an_epoch_is_spread_over_its_tasks() {
        for (stakes, least) in [(Stakes::Equal, 100_000.0), (Stakes::Lognormal, 180_000.0)] {
            let deployed = deployed(KeyGroup::Bn254G2, stakes);
            let task = missed(&deployed, N, stakes.name());
            let rows = per_task(&deployed, &task);
            let gas: Vec<_> = rows.iter().map(|row| row.figures.middle()).collect();
            assert!(gas.len() == 4 && (least..least + 60_000.0).contains(&gas[0]), "{gas:?}");
            for (gas, tasks) in gas[1..].iter().zip([10.0, 100.0, 1_000.0]) {
                assert!((gas - task.figures.middle() - rows[0].figures.middle() / tasks).abs() <= 0.5);
            }
        }
    }

    /// Each operator who did not sign costs four cold slots and more. Through proxies its two calls cost 300 gas more each,
    /// and code.
    #[test]
    fn eigenlayer_pays_for_those_who_do_not_sign() {
        // The address and the nonce are the same, and so are the digest and the search for its point.
        let gas = |registries: Registries, absent: usize| registries.row(N, &[(absent..N).collect()]).figures.middle();
        let [bare, proxied] = Registries::ALL.map(|of| (gas(of, 4) - gas(of, 0)) / 4.0);
        assert!((4.0 * 2_100.0..20_000.0).contains(&bare), "{bare}");
        assert!((600.0..2_000.0).contains(&(proxied - bare)), "{bare} and {proxied}");
    }

    /// Everything is registered, submitted, tallied and paid, which the functions assert.
    #[test]
    fn a_network_runs_through_an_epoch() {
        let rows = task_network::rows(&deployed(KeyGroup::Bn254G2, Stakes::Equal));
        let gas: Vec<_> = rows.iter().map(|row| (row.bench.as_str(), row.figures.middle())).collect();
        assert_eq!(gas.len(), 5);
        assert!(gas[2].1 > gas[1].1 && gas[2].1 < 5.0 * gas[1].1, "ten tasks cost less than ten times one: {gas:?}");
    }
}
