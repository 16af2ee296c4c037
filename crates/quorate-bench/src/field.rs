//! `field/*`: the time of the fields' operations for an item, in lanes and by blst.

use std::hint::black_box;

use quorate_curve::bench::operations;

use crate::{
    measure::{Engine, Run, measure},
    row::Row,
};

/// How many times an operation is applied to its own result.
const TIMES: usize = 2_000;

pub(crate) fn run(run: &Run) -> Vec<Row> {
    let mut rows = Vec::new();
    for backend in run.backends.clone() {
        for operation in operations(backend) {
            let expected = (operation.lanes)(TIMES);
            let blst =
                operation.blst.map(|blst| Engine::new("blst", 1, move || assert_eq!(blst(black_box(TIMES)), expected)));
            let mut engines = Vec::from_iter(blst);
            engines.push(Engine::of(backend, 1, || assert_eq!((operation.lanes)(black_box(TIMES)), expected)));
            let items = TIMES * backend.lanes();
            let name = format!("field/{}", operation.name);
            rows.extend(measure(&name, backend.lanes(), "item", items, run.choose(5, 21), engines));
        }
    }
    rows
}
