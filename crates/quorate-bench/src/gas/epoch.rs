//! What an epoch costs by itself, spread over its tasks.

use quorate_evm::{
    Head, MemberSet,
    base::{NEWEST, Weigh},
    quorum::Store,
    state,
};

use super::deployed::{Deployed, engine, row};
use crate::row::Row;

/// The numbers of tasks over which an epoch's own cost is spread.
const TASKS: [u64; 3] = [10, 100, 1_000];

/// The gas of an epoch by itself, and of a task with its part of it: the mean of the tasks in `task`, which are all alike.
/// The rows are named after `task`'s.
///
/// Once in an epoch the registrar calls `begin` and somebody calls `enter`. If quorums are weighed, `publish` puts the
/// weights into a page, and the full set is weighed anew in one of the tasks. Up to 1,000 members the weights fit a call of
/// `begin`, so `prepare` is not needed.
pub(super) fn per_task(deployed: &Deployed, task: &Row) -> Vec<Row> {
    let n = deployed.network.weights.len();
    let (once, what) = once(deployed);
    let (name, engine) = (task.bench.replace("gas/", "gas/epoch-"), engine(deployed.network.key_group));
    let spread = |tasks: u64| {
        let gas = task.figures.middle() + once as f64 / tasks as f64;
        row(&format!("{name}-tasks={tasks}"), &engine, n, &[gas.round() as u64], "with its part of the epoch's own gas")
    };
    let mut rows = vec![row(&name, &engine, n, &[once], what)];
    rows.extend(TASKS.map(spread));
    rows
}

/// The gas of an epoch by itself, and what it is the sum of.
fn once(deployed: &Deployed) -> (u64, &'static str) {
    let mut deployed = deployed.clone();
    let all = MemberSet::full(deployed.network.weights.len());
    let head: Head = deployed.network.head();
    let (threshold, enough) = state::enough(&deployed.network.weights, deployed.network.required);
    let mut pages = deployed.network.weight_pages.clone();
    let entered = deployed.begin(head.encode().expect("it fits"), threshold).iter().sum();
    // Of equal stakes one is enough, and no quorum is weighed.
    if enough == 1 {
        return (entered, "once in an epoch: begin, enter");
    }
    let count = pages.len() as u32;
    pages.iter_mut().for_each(|page| page.nonce += count);
    let published: u64 = pages.into_iter().map(|page| deployed.publish(page)).sum();
    let (counted, _) = deployed.clone().settle(&all, 1, Store::Slot(NEWEST));
    let (weighed, _) = deployed.settle_weighed(&all, 1, Store::Slot(NEWEST), Weigh::Always);
    let sum = entered + published + weighed - counted;
    (sum, "once in an epoch: begin, enter, publish, and weighing the full set")
}
