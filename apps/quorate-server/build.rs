//! Makes Rust of the schema of gRPC, without the program protoc.

use std::{env, error::Error, fs, path::PathBuf};

use prost::Message as _;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=proto/quorate.proto");
    let schema = protox::compile(["quorate.proto"], ["proto"])?;
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("cargo gives OUT_DIR")?);
    fs::write(out.join("quorate.bin"), schema.encode_to_vec())?;
    tonic_prost_build::configure()
        .build_client(false)
        .build_transport(false)
        .bytes(".")
        .out_dir(out)
        .compile_fds(schema)?;
    Ok(())
}
