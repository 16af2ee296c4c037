//! What the schema says, made from it by the build.

tonic::include_proto!("quorate.v1");
