//! What the commands print: in 80 columns for a person, or as JSON.

use quorate_checkpoint::{
    Alarm, Client, Decision, Equivocation, HeaderChain, NodeAnswer, NodeFault, Served, SignedCheckpoint, Update,
};
use quorate_host::plain;
use serde::Serialize;

/// What came of asking the nodes.
#[derive(Debug, Serialize)]
pub(super) struct Fetched {
    /// `skip` or `verify_all`.
    decision: &'static str,
    /// Why all blocks must be verified.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// Signatures in blocks up to this height need not be verified now.
    #[serde(skip_serializing_if = "Option::is_none")]
    skip_up_to: Option<u64>,
    /// Blocks above the checkpoint's.
    #[serde(skip_serializing_if = "Option::is_none")]
    depth: Option<u64>,
    #[serde(flatten)]
    status: Status,
    nodes: Vec<NodeReport>,
    /// Checkpoints that were not accepted.
    refused: Vec<Refused>,
    #[serde(skip)]
    now: u64,
}

/// A checkpoint that was not accepted.
#[derive(Debug, Serialize)]
struct Refused {
    height: u64,
    reason: String,
}

/// What a node answered.
#[derive(Debug, Serialize)]
struct NodeReport {
    node: String,
    /// Whether it is one of the nodes that answered in order.
    counted: bool,
    /// What it sent. Nothing in it is verified.
    sent: Vec<Sent>,
    /// What it did wrong.
    faults: Vec<String>,
}

/// A checkpoint that a node sent.
#[derive(Debug, Serialize)]
struct Sent {
    height: u64,
    signatures: usize,
}

impl Fetched {
    pub(super) fn new(
        answers: &[NodeAnswer],
        update: &Update,
        client: &Client,
        now: u64,
        headers: &impl HeaderChain,
    ) -> Self {
        let (reason, skip_up_to) = match &update.decision {
            Decision::Skip { height, .. } => (None, Some(*height)),
            Decision::VerifyAll(reason) => (Some(plain(&reason.to_string())), None),
        };
        let refused = update
            .refused
            .iter()
            .map(|(checkpoint, reason)| Refused { height: checkpoint.height, reason: plain(&reason.to_string()) });
        Self {
            decision: if skip_up_to.is_some() { "skip" } else { "verify_all" },
            depth: skip_up_to.map(|height| headers.tip().saturating_sub(height)),
            nodes: answers.iter().map(|answer| NodeReport::new(answer, update)).collect(),
            refused: refused.collect(),
            status: Status::new(client),
            reason,
            skip_up_to,
            now,
        }
    }

    pub(super) fn text(&self) -> String {
        let mut page = Page::default();
        match (&self.reason, &self.skip_up_to, &self.status.held) {
            (None, Some(height), Some(held)) => {
                page.line(&format!("Skip the signatures in blocks up to height {height}, and verify them afterwards."));
                let (depth, hours) = (self.depth.unwrap_or(0), held.expires_at.saturating_sub(self.now).div_ceil(3600));
                page.line(&format!(
                    "Why: {} of {} signers say that they have verified it, and {} are needed. Its block {} is on your chain, with {depth} \
                     blocks above it. The checkpoint expires in {hours} hours.",
                    held.signatures, held.signers, held.needed, held.block_hash
                ));
                page.line(&self.status.left());
            }
            (reason, ..) => {
                page.line("Verify the signatures in all blocks.");
                page.line(&format!("Why: {}.", reason.as_deref().unwrap_or("nothing says otherwise")));
                if self.status.evidence.is_some() {
                    page.line("`quorate-server checkpoint status --json` shows the evidence. `quorate checkpoint judge` verifies it.");
                }
            }
        }
        page.line("");
        let widest = self.nodes.iter().map(|node| node.node.chars().count()).max().unwrap_or(0).min(WIDEST_NAME);
        for node in &self.nodes {
            page.indented(&format!("  {:widest$}  {}", node.node, node.text()));
        }
        for Refused { height, reason } in &self.refused {
            if self.reason.as_ref() != Some(reason) {
                page.line(&format!("Not taken: height {height}, because {reason}."));
            }
        }
        page.0
    }
}

impl NodeReport {
    fn new(answer: &NodeAnswer, update: &Update) -> Self {
        let faults: Vec<_> = update.faults.iter().filter(|(node, _)| *node == answer.node).map(|(_, it)| it).collect();
        let not_counted = |fault: &&NodeFault| {
            matches!(
                fault,
                NodeFault::NoAnswer(_)
                    | NodeFault::NotAsked
                    | NodeFault::Unreadable(_)
                    | NodeFault::Sets(_)
                    | NodeFault::NothingTrue { .. }
            )
        };
        let served = answer.body.as_ref().map_err(Clone::clone);
        let served = served.and_then(|body| Served::from_json(body).map_err(|error| error.to_string()));
        let mut told: Vec<_> = faults.iter().map(|fault| plain(&fault.to_string())).collect();
        if told.is_empty()
            && let Err(reason) = &served
        {
            // The answers were not looked at.
            told.push(plain(reason));
        }
        let sent = served
            .as_ref()
            .map_or(&[][..], |served| &served.checkpoints)
            .iter()
            .map(|posting| Sent { height: posting.document.height, signatures: posting.signatures.len() });
        Self {
            node: plain(&answer.node.to_string()),
            counted: served.is_ok() && !faults.iter().any(not_counted),
            sent: sent.collect(),
            faults: told,
        }
    }

    fn text(&self) -> String {
        let sent = self.sent.iter().map(|Sent { height, signatures }| format!("{height} ({signatures} signed)"));
        let sent = sent.collect::<Vec<_>>().join(", ");
        let sent = if sent.is_empty() { sent } else { format!("height {sent}") };
        let faults = self.faults.join("; ");
        match (self.counted, sent.is_empty(), faults.is_empty()) {
            (false, ..) => format!("does not count: {faults}"),
            (true, true, true) => "no checkpoint".to_owned(),
            (true, true, false) => faults,
            (true, false, true) => sent,
            (true, false, false) => format!("{sent}; {faults}"),
        }
    }
}

/// What the ratchet holds.
#[derive(Debug, Serialize)]
pub(super) struct Status {
    held: Option<Held>,
    /// The first and the last height whose blocks are skipped and not verified yet.
    to_prove: Option<[u64; 2]>,
    /// Why skipping has stopped for good.
    alarm: Option<String>,
    /// What `quorate checkpoint judge` verifies.
    evidence: Option<Equivocation>,
    /// Keys that signed both.
    signed_both: Vec<String>,
}

/// The checkpoint that is held.
#[derive(Debug, Serialize)]
struct Held {
    height: u64,
    block_hash: String,
    set_epoch: u64,
    /// How many have signed it.
    signatures: usize,
    /// How many must.
    needed: usize,
    /// How many the set has.
    signers: usize,
    issued_at: u64,
    expires_at: u64,
}

impl Status {
    pub(super) fn new(client: &Client) -> Self {
        let evidence = match client.alarm() {
            Some(Alarm::Equivocation(evidence)) => Some(evidence.clone()),
            _ => None,
        };
        let both = evidence.as_ref().zip(client.sets()).map(|(evidence, sets)| evidence.verify(sets, &mut rand::rng()));
        let both = both.and_then(Result::ok).unwrap_or_default();
        Self {
            held: client.held().map(|held| Held::new(held, client)),
            to_prove: client.to_prove().map(|range| [*range.start(), *range.end()]),
            alarm: client.alarm().map(ToString::to_string),
            evidence,
            signed_both: both.iter().map(|key| const_hex::encode_prefixed(key.to_bytes())).collect(),
        }
    }

    pub(super) fn is_alarm(&self) -> bool {
        self.alarm.is_some()
    }

    pub(super) fn text(&self) -> String {
        let mut page = Page::default();
        match &self.held {
            None => page.line("Held: no checkpoint."),
            Some(Held { height, block_hash, set_epoch, signatures, needed, signers, expires_at, .. }) => {
                page.line(&format!(
                    "Held: height {height}, block {block_hash}, signed by {signatures} of {signers} signers of the set with epoch \
                     {set_epoch}; {needed} are needed. It expires at {expires_at} (Unix seconds)."
                ));
                page.line(&self.left());
            }
        }
        match &self.alarm {
            None => page.line("No evidence against signers."),
            Some(alarm) => page.line(&format!("ALARM: {alarm}. Skipping has stopped until an operator acts.")),
        }
        for key in &self.signed_both {
            let (first, last) = (&key[..18], &key[key.len() - 16..]);
            page.line(&format!("  signed both: {first}…{last}"));
        }
        page.0
    }

    /// What is still to be verified.
    pub(super) fn left(&self) -> String {
        match (self.to_prove, &self.held) {
            (Some([first, last]), _) => format!(
                "Assumed: the blocks {first} to {last} are not verified yet. Verify them when nothing else waits, and record it with \
                 `quorate-server checkpoint prove`."
            ),
            (None, Some(held)) => format!("Proven: all blocks up to height {} are verified.", held.height),
            (None, None) => "No block was skipped.".to_owned(),
        }
    }
}

impl Held {
    fn new(signed: &SignedCheckpoint, client: &Client) -> Self {
        let checkpoint = signed.checkpoint();
        let sets = client.sets().map_or(&[][..], |chain| chain.sets());
        let set = sets.iter().find(|set| set.epoch() == checkpoint.set_epoch);
        Self {
            height: checkpoint.height,
            block_hash: const_hex::encode_prefixed(checkpoint.block_hash),
            set_epoch: checkpoint.set_epoch,
            signatures: signed.count(),
            needed: signed.threshold(),
            signers: set.map_or(0, |set| set.keys().len()),
            issued_at: checkpoint.issued_at,
            expires_at: checkpoint.expires_at,
        }
    }
}

/// Text in lines of at most 80 columns.
#[derive(Debug, Default)]
struct Page(String);

impl Page {
    /// A paragraph.
    fn line(&mut self, text: &str) {
        self.wrapped(text, "");
    }

    /// A paragraph whose second line and those after it stand to the right.
    fn indented(&mut self, text: &str) {
        self.wrapped(text, "      ");
    }

    fn wrapped(&mut self, text: &str, indent: &str) {
        let (mut column, mut begun) = (0, false);
        for word in text.split(' ') {
            // A word that is longer than a line is cut.
            let letters: Vec<char> = word.chars().collect();
            for (part, letters) in letters.chunks(WIDTH - indent.len()).enumerate() {
                if begun && (part > 0 || column + 1 + letters.len() > WIDTH) {
                    self.0.push('\n');
                    self.0.push_str(indent);
                    column = indent.len();
                } else if begun {
                    self.0.push(' ');
                    column += 1;
                }
                self.0.extend(letters);
                (column, begun) = (column + letters.len(), true);
            }
            if letters.is_empty() && column + 1 < WIDTH {
                // Several spaces in a row.
                if begun {
                    self.0.push(' ');
                    column += 1;
                }
                begun = true;
            }
        }
        self.0.push('\n');
    }
}

const WIDTH: usize = 80;

/// Names of nodes that are longer than this stand out of line.
const WIDEST_NAME: usize = 32;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_80_columns() {
        let mut page = Page::default();
        page.line("short");
        page.line("");
        page.indented(&format!("  a  {}", "é ".repeat(100)));
        page.line(&format!("x {}", "0".repeat(200)));
        let lines: Vec<_> = page.0.lines().collect();
        assert_eq!((lines[0], lines[1]), ("short", ""));
        assert!(lines[2].starts_with("  a  é é") && lines[3].starts_with("      é"), "{}", page.0);
        assert!(lines.iter().all(|line| line.chars().count() <= 80), "{}", page.0);
        assert_eq!(page.0.matches('0').count(), 200);
        assert_eq!(page.0.matches('é').count(), 100);
    }
}
