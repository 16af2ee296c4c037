//! What a client sends to the server: the query, one document, a stream of lines, a table.

#![no_main]

use libfuzzer_sys::fuzz_target;
use quorate_server::{
    claims::{Asked, from_arrow, from_json, from_line},
    config::Limits,
};

fuzz_target!(|data: &[u8]| {
    let Some((kind, body)) = data.split_first() else { return };
    let limits = Limits { claims: 100, keys: 100, memory_bytes: 1 << 20, ..Limits::default() };
    let suite = "eth2".parse().ok();
    let claims = match kind % 4 {
        0 => from_json(body, suite, &limits).unwrap_or_default(),
        1 => {
            let lines = (1..).zip(body.split(|byte| *byte == b'\n'));
            lines.filter_map(|(number, line)| from_line(line, number, suite, &limits)?.ok()).collect()
        }
        2 => from_arrow(body.to_vec(), suite, &limits).unwrap_or_default(),
        _ => {
            let text = String::from_utf8_lossy(body);
            let query = text.split('&').map(|pair| pair.split_once('=').unwrap_or((pair, "")));
            let _ = Asked::read(query, suite);
            return;
        }
    };
    for named in claims {
        assert!(named.claim.public_keys.len() <= 100);
    }
});
