//! What decodes is what it encodes to, on every back end alike.
#![no_main]

use libfuzzer_sys::fuzz_target;
use quorate_curve::{Backend, G1, G2, Group};

fuzz_target!(|bytes: &[u8]| {
    decode::<G1>(bytes);
    decode::<G2>(bytes);
});

fn decode<G: Group>(bytes: &[u8]) {
    let compressed = Backend::Portable.decode::<G>(bytes);
    let uncompressed = Backend::Portable.decode_uncompressed::<G>(bytes);
    if let Ok(point) = compressed {
        assert_eq!(point.compress().as_ref(), bytes);
    }
    if let Ok(point) = uncompressed {
        assert_eq!(point.serialize().as_ref(), bytes);
    }
    for backend in Backend::available() {
        assert_eq!(backend.decode::<G>(bytes), compressed);
        assert_eq!(backend.decode_uncompressed::<G>(bytes), uncompressed);
        if let Ok(point) = compressed.or(uncompressed) {
            assert_eq!(backend.in_subgroup(&[point]), Backend::Portable.in_subgroup(&[point]));
        }
    }
}
