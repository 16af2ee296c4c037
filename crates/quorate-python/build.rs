//! What the linker must know about the names that Python brings.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    // Apple's linker refuses names that nothing defines yet. maturin passes the same for a wheel.
    if std::env::var("CARGO_CFG_TARGET_VENDOR").is_ok_and(|vendor| vendor == "apple") {
        println!("cargo:rustc-cdylib-link-arg=-undefined");
        println!("cargo:rustc-cdylib-link-arg=dynamic_lookup");
    }
}
