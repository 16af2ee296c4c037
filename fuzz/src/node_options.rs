//! A node's file of options: whatever is accepted is written and read back as the same, and wins over nothing that a
//! flag says.

use quorate_host::options::{Source, parse, parts, to_toml};
use quorate_node::options::Options;

pub fn run(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let read = |text| parse::<Options>(Source { name: "fuzz", text });
    let Ok(options) = read(text) else { return };
    crate::accepted();
    assert_eq!(read(&to_toml(&options)).expect("what we write we read"), options);
    assert_eq!(options.clone().or(Options::default()), options);
    assert_eq!(Options::default().or(options.clone()), options);
    for list in [&options.bootstrap, &options.listen, &options.program_environment].into_iter().flatten() {
        assert!(parts(list).all(|part| !part.is_empty() && part.trim() == part && !part.contains(',')));
    }
}
