//! The file of headers of `checkpoint fetch`, and names of nodes: whatever is accepted is printed and read back as the same.

use quorate_checkpoint::HeaderChain;
use quorate_server::fetch::{AskedNode, Headers};

pub fn run(bytes: &[u8]) {
    if let Ok(headers) = Headers::read(bytes) {
        crate::accepted();
        let text = String::from_utf8_lossy(bytes);
        let heights: Vec<u64> =
            text.lines().filter_map(|line| line.split_ascii_whitespace().next()?.parse().ok()).collect();
        assert_eq!(heights.last(), Some(&headers.tip()));
        let print = |height: &u64| {
            let hash = headers.hash(*height).expect("each height that was listed is found");
            let digits: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
            format!("{height} 0x{digits}\n")
        };
        let printed: String = heights.iter().map(print).collect();
        assert_eq!(Headers::read(printed.as_bytes()).expect("it was printed by us"), headers);
    }
    if let Some(node) = std::str::from_utf8(bytes).ok().and_then(|text| text.parse::<AskedNode>().ok()) {
        assert_eq!(node.to_string().parse::<AskedNode>(), Ok(node));
    }
}
