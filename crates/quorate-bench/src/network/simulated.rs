//! `network/simulated`: networks of thousands of nodes, by the simulator of `quorate-lab`.

use quorate_lab::simulator::{Figures as Simulated, measure};
use quorate_network::groups::GROUP;

use crate::row::{Figures, Row, Times, short, whole};

/// Neighbours of a node, as in gossipsub.
const DEGREE: usize = 8;
/// A message between two neighbours takes a time between these, in milliseconds.
const LATENCY: (u64, u64) = (10, 150);
/// Milliseconds in which an attester checks a result and signs.
const WORK: u64 = 50;

/// A row for each size, of so many random meshes.
pub(super) fn rows(sizes: &[usize], meshes: u64) -> Vec<Row> {
    sizes.iter().map(|nodes| row(*nodes, meshes)).collect()
}

fn row(nodes: usize, meshes: u64) -> Row {
    let figures: Vec<_> = (1..=meshes).map(|seed| measure(nodes, GROUP, DEGREE, LATENCY, WORK, seed)).collect();
    for seen in &figures {
        // The result reaches an attester, who works, and whose signature comes back.
        assert!(
            seen.nodes == nodes && seen.quorum_ms >= WORK + 2 * LATENCY.0 && seen.quorum_ms <= seen.all_ms,
            "{seen:?}"
        );
    }
    let median = |of: fn(&Simulated) -> f64| Times::of(figures.iter().map(of).collect()).median;
    let most = figures.iter().map(|seen| seen.most_messages).max().unwrap_or(0);
    Row {
        bench: "network/simulated".into(),
        engine: "simulator".into(),
        threads: 1,
        n: nodes,
        per: "task".into(),
        figures: Figures::Us(Times::of(figures.iter().map(|seen| seen.quorum_ms as f64 * 1e3).collect())),
        cpu_us: None,
        latency_ms: None,
        refused: None,
        traffic: None,
        note: format!(
            "{meshes} meshes; {} groups; a node sends {} messages of {} bytes in all, the busiest {} messages; all signatures \
             after {} ms; \
             at most {DEGREE} neighbours, {} to {} ms between two, {WORK} ms to check and sign",
            whole(median(|seen| seen.groups as f64)),
            whole(median(|seen| seen.messages_a_node)),
            whole(median(|seen| seen.bytes_a_node)),
            whole(most as f64),
            short(median(|seen| seen.all_ms as f64)),
            LATENCY.0,
            LATENCY.1,
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_row_of_a_hundred_nodes_is_well_formed() {
        let rows = rows(&[100], 3);
        let [row] = &rows[..] else { panic!("{rows:?}") };
        assert_eq!((&row.bench[..], row.n, &row.per[..]), ("network/simulated", 100, "task"));
        let Figures::Us(Times { min, median, max }) = row.figures else { panic!("{row:?}") };
        let mut expected: Vec<_> =
            (1..=3).map(|seed| measure(100, GROUP, DEGREE, LATENCY, WORK, seed).quorum_ms as f64 * 1e3).collect();
        expected.sort_by(f64::total_cmp);
        assert_eq!([min, median, max], expected[..]);
        assert!(min < max, "three meshes are three different ones: {row:?}");
        // In milliseconds, this would be above what a few hops can take.
        assert!((70_000.0..2_000_000.0).contains(&median), "{row:?}");
        // Each of 51 messages goes to at most seven neighbours beside the one that it came from, and so does each of two sums.
        let messages = row.note.split("sends ").nth(1).and_then(|rest| rest.split(' ').next()).unwrap();
        let messages: f64 = messages.parse().unwrap();
        assert!((200.0..=375.0).contains(&messages), "{}", row.note);
        let json = serde_json::to_value(row).unwrap();
        assert_eq!(json["us"]["median"], median);
        let again: Row = serde_json::from_value(json).unwrap();
        assert_eq!((again.note, again.engine), (row.note.clone(), "simulator".to_owned()));
    }
}
