//! What the schema says.

tonic::include_proto!("quorate.v1");
