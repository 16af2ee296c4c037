//! Lines are the same from any buffer, whatever marks and line ends stand among them, and a document of text is what its lines are.

use std::io::BufReader;

use quorate_formats::{ValidatorKeys, lines::BoundedLines};
use quorate_host::text::read_text;

pub fn run(bytes: &[u8]) {
    let read = |capacity: usize| {
        let mut lines = BoundedLines::new(BufReader::with_capacity(capacity, bytes));
        let (mut all, mut line) = (Vec::new(), Vec::new());
        while let Ok(Some(_)) = lines.read(&mut line) {
            all.push(line.clone());
        }
        all
    };
    let lines = read(1);
    assert_eq!(lines, read(1 << 12));
    if let Ok(text) = read_text(bytes, 1 << 20) {
        assert_eq!(lines.join(&b'\n'), text.strip_suffix('\n').unwrap_or(&text).as_bytes());
        if ValidatorKeys::default().add_answer(&text).is_ok() {
            crate::accepted();
        }
    }
}
