//! A node's file of options: whatever is accepted is written and read back as the same, and wins over nothing that a
//! flag says.
#![no_main]

use libfuzzer_sys::fuzz_target;
use quorate_node::options::{Options, parts};

fuzz_target!(|text: &str| {
    let Ok(options) = Options::from_toml(text) else { return };
    let written = options.to_toml().expect("a file has only numbers that TOML has");
    assert_eq!(Options::from_toml(&written).expect("what we write we read"), options);
    assert_eq!(options.clone().or(Options::default()), options);
    assert_eq!(Options::default().or(options.clone()), options);
    for list in [&options.bootstrap, &options.listen, &options.program_environment].into_iter().flatten() {
        assert!(parts(list).all(|part| !part.is_empty() && part.trim() == part && !part.contains(',')));
    }
});
