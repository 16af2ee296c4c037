//! What the linker must know about the names that Node brings.

fn main() {
    napi_build::setup();
}
