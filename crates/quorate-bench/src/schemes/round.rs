//! `round/A/*`, `round/B/*`: whole runs among all delegates, whose parties send each other bytes: all good, and some corrupted.

use super::{
    protocol::{Finished, Ledger, Protocol, corrupted},
    sizes::Sizes,
};
use crate::row::{Figures, Row, Times, Traffic};

/// The source: 32 delegates, the primary is one of them. In case A all are good, in case B fewer than a third are corrupted.
pub(super) fn run(sizes: &Sizes, protocols: &[Box<dyn Protocol>]) -> Vec<Row> {
    let mut rows = Vec::new();
    for (case, bad) in [("A", 0), ("B", sizes.corrupted)] {
        let corrupted = corrupted(sizes.delegates, bad);
        let mut measured = vec![Measured::default(); protocols.len()];
        for round in 0..=sizes.rounds {
            for (protocol, measured) in protocols.iter().zip(&mut measured) {
                let (ledger, finished) = checked_run(protocol.as_ref(), sizes.delegates, &corrupted);
                if round > 0 {
                    measured.add(&ledger, &finished, &corrupted);
                }
            }
        }
        let row = |party: &str, protocol: &dyn Protocol, times: &[f64], traffic| Row {
            bench: format!("round/{case}/{party}"),
            engine: protocol.engine(),
            threads: 1,
            n: sizes.delegates,
            per: party.into(),
            figures: Figures::Us(Times::of(times.to_vec())),
            cpu_us: None,
            latency_ms: None,
            refused: None,
            traffic,
            note: protocol.note(),
        };
        let each = || protocols.iter().map(Box::as_ref).zip(&measured);
        rows.extend(each().map(|(protocol, measured)| row("delegate", protocol, &measured.delegate, None)));
        rows.extend(each().map(|(protocol, measured)| row("primary", protocol, &measured.primary, measured.traffic)));
    }
    rows
}

/// The times of a protocol, run by run.
#[derive(Clone, Default)]
struct Measured {
    delegate: Vec<f64>,
    primary: Vec<f64>,
    traffic: Option<Traffic>,
}

impl Measured {
    fn add(&mut self, ledger: &Ledger, finished: &Finished, corrupted: &[usize]) {
        self.delegate.push(ledger.delegate_us(corrupted));
        self.primary.push(ledger.primary_us());
        let traffic = ledger.traffic(finished);
        assert!(self.traffic.is_none_or(|before| before == traffic), "each run sends the same");
        self.traffic = Some(traffic);
    }
}

/// A run whose result an independent verifier accepts, and which no corrupted delegate has a share in.
fn checked_run(protocol: &dyn Protocol, delegates: usize, corrupted: &[usize]) -> (Ledger, Finished) {
    let mut ledger = Ledger::new(delegates);
    let finished = protocol.run(corrupted, &mut ledger);
    assert!(protocol.accepts(&finished), "the result of {} does not verify", protocol.engine());
    let signers = &finished.signers;
    assert!(signers.iter().all(|i| !corrupted.contains(i)), "{} kept a corrupted share", protocol.engine());
    (ledger, finished)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schemes::tests::protocols;

    /// Five delegates of whom three suffice. With two corrupted ones, FROST asks 0, 1, 2, then 0, 2, 3, then 0, 2, 4.
    #[test]
    fn every_protocol_ends_with_a_valid_signature_of_good_delegates() {
        for protocol in protocols() {
            for bad in 0..=2 {
                let corrupted = corrupted(5, bad);
                let (ledger, finished) = checked_run(protocol.as_ref(), 5, &corrupted);
                assert!(finished.signers.len() >= 3);
                let expected = match &protocol.engine()[..] {
                    "musig2/libsecp256k1" => (2, bad.min(1)),
                    "frost-3/frost-secp256k1-tr" => (2, bad),
                    _ => (1, 0),
                };
                let traffic = ledger.traffic(&finished);
                assert_eq!((traffic.rounds, traffic.restarts), expected, "{} with {bad} bad", protocol.engine());
                assert!(ledger.primary_us() > 0.0 && ledger.delegate_us(&corrupted) > 0.0);
            }
        }
    }

    #[test]
    fn a_changed_result_is_refused() {
        for protocol in protocols() {
            let (_, finished) = checked_run(protocol.as_ref(), 5, &[]);
            let mut changed = finished.clone();
            changed.result[40] ^= 1;
            assert!(!protocol.accepts(&changed), "{}", protocol.engine());
        }
    }

    /// The result of a run among fewer delegates is not that of all.
    #[test]
    fn other_signers_are_refused() {
        for protocol in protocols().into_iter().filter(|protocol| !protocol.engine().starts_with("frost")) {
            let (_, finished) = checked_run(protocol.as_ref(), 5, &corrupted(5, 1));
            let mut changed = finished.clone();
            changed.signers[0] = corrupted(5, 1)[0];
            assert!(!protocol.accepts(&changed), "{}", protocol.engine());
        }
    }

    /// Sizes on the wire that the specifications fix.
    #[test]
    fn traffic_is_counted_in_bytes_that_were_sent() {
        let traffic = |engine: &str, bad| {
            let protocol = protocols().into_iter().find(|protocol| protocol.engine() == engine).unwrap();
            let (ledger, finished) = checked_run(protocol.as_ref(), 5, &corrupted(5, bad));
            let Traffic { delegate_bytes, primary_bytes, result_bytes, .. } = ledger.traffic(&finished);
            (delegate_bytes, primary_bytes, result_bytes)
        };
        assert_eq!(traffic("musig2/libsecp256k1", 0), (66 + 32, 66, 64));
        assert_eq!(traffic("musig2/libsecp256k1", 1), (2 * (66 + 32), 66 + 1 + 66, 64 + 1));
        assert_eq!(traffic("frost-3/frost-secp256k1-tr", 0), (66 + 32, 1 + 3 * 66, 64));
        assert_eq!(traffic("frost-3/frost-secp256k1-tr", 1), (2 * (66 + 32), 2 * (1 + 3 * 66), 64));
        assert_eq!(traffic("bls-pop-min-sig/quorate", 1), (48, 0, 48 + 1));
        assert_eq!(traffic("bls-pop-min-pk/blst", 1), (96, 0, 96 + 1));
        assert_eq!(traffic("ed25519-x3/dalek", 1), (64, 0, 3 * 64 + 1));
    }
}
