//! What a client sends to a signer: no line makes the reader panic, and what is read is written and read again.

use quorate_signer_client::protocol::SignerRequest;

pub fn run(line: &[u8]) {
    match SignerRequest::parse(line) {
        Ok(request) => {
            crate::accepted();
            let again = serde_json::to_vec(&request).expect("plain types");
            assert!(!again.contains(&b'\n'));
            assert_eq!(SignerRequest::parse(&again).expect("what we write we read"), request);
        }
        // The answer to it fits into a line.
        Err(refusal) => assert!(refusal.message.len() < 500),
    }
}
