//! No file makes the container's reader panic, whatever its records and indices say, nor the reader of its claims. A description of a
//! chain that is read is written and read as the same.

use std::{io::Cursor, ops::ControlFlow, sync::LazyLock};

use quorate_history::{Chain, EraFile, Eras, StateHead};

/// The chain of the seeds in examples/.
static CHAIN: LazyLock<Chain> = LazyLock::new(|| {
    Chain::from_json(include_str!("../../examples/history/chain.json"), "examples").expect("an example")
});

pub fn run(bytes: &[u8]) {
    let (mut begins, mut eras) = (0, Eras::new(CHAIN.clone()));
    while let Ok(mut file) = EraFile::open_at(Cursor::new(bytes), begins) {
        crate::accepted();
        // Every block has a slot of its own before the state's.
        assert!(file.blocks() as u64 <= file.slot());
        let _ = StateHead::read(&mut file);
        let _ = eras.claims(&mut file, |_| ControlFlow::Continue(()));
        match file.next() {
            Some(next) => {
                assert!(next > begins);
                begins = next;
            }
            None => break,
        }
    }
    if let Ok(text) = std::str::from_utf8(bytes)
        && let Ok(chain) = Chain::from_json(text, "fuzzed")
    {
        assert_eq!(Chain::from_json(&chain.to_json(), "fuzzed").expect("what we write we read"), chain);
    }
}
