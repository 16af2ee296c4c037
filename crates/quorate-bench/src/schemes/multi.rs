//! `multi/*`: the steps of each protocol, one at a time, as the source measured them.

use super::{
    protocol::{Protocol, Step, corrupted},
    sizes::Sizes,
};
use crate::{
    measure::{Engine, measure},
    row::Row,
};

/// The source: n = 32, 512 bytes; key aggregation, sign, aggregate, verify, response verify. Its Schnorr adds keys plainly.
pub(super) fn run(sizes: &Sizes, protocols: &[Box<dyn Protocol>]) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut step = |bench: &str, prepare: &dyn Fn(&'_ dyn Protocol) -> Option<Step<'_>>| {
        let engines = protocols.iter().filter_map(|protocol| {
            let step = prepare(protocol.as_ref())?;
            Some(Engine::new(protocol.engine(), 1, step).note(protocol.note()))
        });
        rows.extend(measure(bench, sizes.delegates, "whole", 1, sizes.rounds, engines.collect()));
    };
    step("multi/aggregate-keys", &|protocol| protocol.aggregate_keys());
    step("multi/sign", &|protocol| Some(protocol.sign()));
    step("multi/aggregate", &|protocol| protocol.aggregate());
    step("multi/verify", &|protocol| Some(protocol.verify()));
    for bad in &sizes.bad {
        let corrupted = corrupted(sizes.delegates, *bad);
        step(&format!("multi/find-bad={bad}"), &|protocol| Some(protocol.find_bad(&corrupted)));
    }
    rows
}
