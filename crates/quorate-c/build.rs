//! The name under which the shared library is found when a program starts.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux") {
        // The number is that of `quorate_abi()`.
        println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libquorate.so.1");
    }
}
