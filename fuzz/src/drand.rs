//! No document makes the reader of drand rounds panic, with a chain named or not.

use quorate_formats::drand::{self, ChainInfo, DrandOptions, chain_of};

pub fn run(bytes: &[u8]) {
    let quicknet = ChainInfo::well_known("quicknet").expect("it is built in");
    for chain in [None, Some(quicknet)] {
        if let Ok(rounds) = drand::read(bytes, &DrandOptions { chain, ..DrandOptions::default() }) {
            // Of what is read, the reason of a false round can be asked for.
            let claims = rounds.flatten().flatten().filter_map(|record| record.into_claim(None).ok());
            claims.take(2).for_each(|claim| {
                crate::accepted();
                let _ = chain_of(&claim);
            });
        }
    }
    if let Ok(text) = std::str::from_utf8(bytes)
        && let Ok(info) = ChainInfo::from_json(text)
    {
        let _ = info.scheme();
    }
}
