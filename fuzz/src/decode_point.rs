//! A point that decodes encodes to the same bytes, on every backend, alone and among others.

use quorate_curve::{Backend, Bls12381Group, G1, G2};

pub fn run(bytes: &[u8]) {
    decode::<G1>(bytes);
    decode::<G2>(bytes);
}

fn decode<G: Bls12381Group>(bytes: &[u8]) {
    let compressed = Backend::Portable.decode::<G>(bytes);
    let uncompressed = Backend::Portable.decode_uncompressed::<G>(bytes);
    if let Ok(point) = compressed {
        crate::accepted();
        assert_eq!(point.compress().as_ref(), bytes);
    }
    if let Ok(point) = uncompressed {
        assert_eq!(point.serialize().as_ref(), bytes);
    }
    // A backend may decode few points in another way than many: one alone, and one in each half of a full vector and the next.
    let (short, long) = (G::generator().compress(), G::generator().serialize());
    let (mut shorts, mut longs) = (vec![short.as_ref(); 9], vec![long.as_ref(); 9]);
    for place in [2, 5, 8] {
        (shorts[place], longs[place]) = (bytes, bytes);
    }
    for backend in Backend::available() {
        assert_eq!(backend.decode::<G>(bytes), compressed);
        assert_eq!(backend.decode_uncompressed::<G>(bytes), uncompressed);
        let (shorts, longs) = (backend.decode_each::<G>(&shorts), backend.decode_uncompressed_each::<G>(&longs));
        for place in 0..9 {
            let is_ours = [2, 5, 8].contains(&place);
            assert_eq!(shorts[place], if is_ours { compressed } else { Ok(G::generator()) });
            assert_eq!(longs[place], if is_ours { uncompressed } else { Ok(G::generator()) });
        }
        if let Ok(point) = compressed.or(uncompressed) {
            let points = [point, G::generator(), point];
            assert_eq!(backend.in_subgroup(&points), Backend::Portable.in_subgroup(&points));
        }
    }
}
