//! `culprits/bad=k`: k false claims among 128 of distinct messages; the time beyond the batch that failed.
//!
//! blst has no search: its row is checking all one by one.

use quorate::{Claim, MinPk, Plan, culprit, execute::Execution};

use crate::{
    batch::Blst,
    data::{self, signed},
    measure::{Engine, Run, measure},
    row::Row,
};

pub(crate) fn run(run: &Run) -> Vec<Row> {
    let n = 128;
    let suite = MinPk::Eth2;
    let mut rows = Vec::new();
    for bad in run.choose(&[1, 16][..], &[1, 2, 4, 8, 16, 32]) {
        let mut transactions = signed(suite, n, |i| i, |i| i);
        // Spread out, which is the worst case: no two in one half of a small set.
        let wrong: Vec<usize> = (0..*bad).map(|k| (k * n + n / 3) / bad).collect();
        for i in &wrong {
            transactions[*i].signature = transactions[(i + 1) % n].signature;
        }
        let claims: Vec<Claim<MinPk>> = transactions.iter().map(|s| s.unchecked(suite)).collect();
        let blst = Blst::new(&transactions);
        let plan = |(backend, threads)| (backend, threads, Plan::new(&claims, &data::options(backend, threads)));
        let plans: Vec<_> = run.each(&[1, 2]).map(plan).collect();
        let mut engines = vec![
            Engine::new("blst", 1, || {
                let verdicts = blst.verify_each();
                let found: Vec<_> = (0..n).filter(|i| !verdicts[*i]).collect();
                assert_eq!(found, wrong);
            })
            .note("each one by one"),
        ];
        engines.extend(plans.iter().map(|(backend, threads, plan)| {
            let (failed, wrong) = (Execution::new(plan, &mut data::rng()), &wrong);
            Engine::of(*backend, *threads, move || assert_eq!(culprit::search(&failed).culprits(), *wrong))
        }));
        rows.extend(measure(&format!("culprits/bad={bad}"), n, "search", 1, run.choose(2, 15), engines));
    }
    rows
}
