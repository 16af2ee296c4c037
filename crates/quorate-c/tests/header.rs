//! The header is the one that the functions make.

use std::{env, fs, path::Path};

#[test]
fn the_header_is_made_from_the_functions() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut builder = cbindgen::Builder::new()
        .with_config(cbindgen::Config::from_file(root.join("cbindgen.toml")).expect("a configuration"));
    for source in [
        "verdicts",
        "fault",
        "packed",
        "abi/text",
        "abi/memory",
        "abi/suite",
        "abi/claim",
        "abi/verifier",
        "abi/arrow",
        "abi/key",
        "abi/committee",
        "abi/batcher",
    ] {
        builder = builder.with_src(root.join(format!("src/{source}.rs")));
    }
    let mut made = Vec::new();
    builder.generate().expect("a header").write(&mut made);
    let header = root.join("include/quorate.h");
    if env::var_os("QUORATE_WRITE").is_some() {
        fs::write(&header, &made).expect("the header is written");
    }
    assert!(
        fs::read(&header).expect("the header") == made,
        "include/quorate.h is not what the functions make: QUORATE_WRITE=1 cargo test -p quorate-c --test header"
    );
}
