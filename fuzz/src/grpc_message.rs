//! A message of gRPC is weighed before it is decoded: no bytes make the look at its fields panic, and what it weighs is not less than
//! what the decoder makes of it.

use quorate_server::grpc::weighed;

pub fn run(message: &[u8]) {
    if let Some((weighed, decoded)) = weighed(message, 100, 100) {
        assert!(weighed >= decoded, "{weighed} bytes were expected, {decoded} were needed");
        if decoded > 0 {
            crate::accepted();
        }
    }
}
