//! What a client sends to the server: the query, one document, a stream of lines, a table.

use quorate_server::{
    budget::Budget,
    claims::{Asked, Caller, Reader},
    config::ServerLimits,
};

use crate::jsonl::SETS;

pub fn run(data: &[u8]) {
    let Some((kind, body)) = data.split_first() else { return };
    let limits = ServerLimits { claims: 100, keys: 100, memory_bytes: 1 << 20, ..ServerLimits::default() };
    let suite = "eth2".parse().ok();
    let (caller, mut held) = (Caller::new(1, "a fuzzer", None, false), Budget::new(&limits).holding());
    let mut reader = Reader { suite, key_sets: &SETS, limits: &limits, caller: &caller, held: &mut held };
    let claims = match kind % 4 {
        0 => reader.json(body.to_vec()).unwrap_or_default(),
        1 => {
            let lines = (1..).zip(body.split(|byte| *byte == b'\n'));
            lines.filter_map(|(number, line)| reader.line(line, number)?.ok()).collect()
        }
        2 => reader.arrow(body.to_vec()).unwrap_or_default(),
        _ => {
            let text = String::from_utf8_lossy(body);
            let query = text.split('&').map(|pair| pair.split_once('=').unwrap_or((pair, "")));
            let _ = Asked::read(query, suite);
            return;
        }
    };
    for named in claims {
        crate::accepted();
        assert!(named.claim.public_keys.len() <= 100 && named.claim.source.is_some());
    }
}
