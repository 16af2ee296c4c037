//! No document makes the reader of drand rounds panic, with a chain named or not.
#![no_main]

use libfuzzer_sys::fuzz_target;
use quorate_formats::drand::{self, ChainInfo, DrandOptions};

fuzz_target!(|bytes: &[u8]| {
    let quicknet = ChainInfo::well_known("quicknet").expect("it is built in");
    for chain in [None, Some(quicknet)] {
        if let Ok(rounds) = drand::read(bytes, &DrandOptions { chain, ..DrandOptions::default() }) {
            rounds.for_each(drop);
        }
    }
    if let Ok(text) = std::str::from_utf8(bytes)
        && let Ok(info) = ChainInfo::from_json(text)
    {
        let _ = info.scheme();
    }
});
