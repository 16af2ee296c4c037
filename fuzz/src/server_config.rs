//! The server's configuration: whatever is accepted is printed and read back as the same.

use quorate_host::options::{Source, to_toml};
use quorate_server::config::Config;

pub fn run(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let (file, flags) = text.split_once("\0").unwrap_or((text, ""));
    let flags: Vec<_> =
        flags.lines().filter_map(|line| line.split_once('=')).map(|(a, b)| (a.to_owned(), b.to_owned())).collect();
    let Ok(config) = Config::read(Some(Source { name: "fuzz", text: file }), [], &flags) else { return };
    crate::accepted();
    let printed = to_toml(&config);
    let again =
        Config::read(Some(Source { name: "printed", text: &printed }), [], &[]).expect("what was printed is read");
    assert_eq!(again, config);
}
