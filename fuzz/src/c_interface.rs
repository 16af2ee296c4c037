//! The C functions with any bytes: packed claims have the verdicts that their claims have alone, what is read is written the same, and a
//! call that fails leaves every verdict undecided. Keys, sums and sets answer with a code.

use std::{ptr, sync::LazyLock};

use quorate::Verdict;
use quorate_c::{Engine, EngineOptions, Ruled, abi, packed};

/// Verifiers are made once.
static ENGINE: LazyLock<Engine> = LazyLock::new(|| Engine::new(&EngineOptions::default()).expect("defaults"));

pub fn run(data: &[u8]) {
    verdicts(data);
    keys(data);
}

fn verdicts(data: &[u8]) {
    let claims = packed::read(data);
    let count = claims.as_ref().map_or(3, Vec::len);
    let mut verifier = ptr::null_mut();
    let mut places = vec![Ruled::Valid as u8; count];
    let mut error = abi::quorate_error { code: -1, text: [1; 508] };
    // SAFETY: all pointers are those of values that live until the calls are over, with their sizes.
    let code = unsafe {
        assert_eq!(abi::quorate_verifier_new(ptr::null(), &mut verifier, ptr::null_mut()), 0);
        let code = abi::quorate_verify_packed(
            verifier,
            data.as_ptr(),
            data.len(),
            count,
            false,
            places.as_mut_ptr(),
            ptr::null_mut(),
            &mut error,
        );
        abi::quorate_verifier_free(verifier);
        code
    };
    assert_eq!(code, error.code);
    assert!(error.text.contains(&0), "the text ends");
    let Ok(claims) = claims else {
        assert!(code != 0 && places.iter().all(|place| *place == Ruled::Undecided as u8));
        return;
    };
    assert_eq!(code, 0);
    let mut written = Vec::new();
    claims.iter().for_each(|claim| packed::write(claim, &mut written).expect("what was read"));
    assert!(written == data, "what is read is written the same");
    let together = ENGINE.verify(&claims, false).expect("random numbers");
    for ((claim, place), ruled) in claims.iter().zip(&places).zip(together.ruled()) {
        let alone = claim.verify();
        assert_eq!(*place, Ruled::from(alone) as u8, "{alone}");
        assert_eq!(ruled, Ruled::from(alone));
        assert!(alone != Verdict::Invalid(quorate::Reason::Undecided));
    }
}

/// The first byte is a suite, and the rest is keys, signatures, a bitmap and a secret.
fn keys(data: &[u8]) {
    let Some((suite, bytes)) = data.split_first() else { return };
    let (suite, size) = (u32::from(*suite), bytes.len());
    let (mut out, mut set, mut secret) = ([0; 192], ptr::null_mut(), ptr::null_mut());
    let (at, sum) = (bytes.as_ptr(), out.as_mut_ptr());
    let all = abi::quorate_bytes { data: at, size };
    // SAFETY: all pointers are those of values that live until the calls are over, with their sizes.
    unsafe {
        let checked = abi::quorate_check_public_key(suite, at, size, ptr::null_mut());
        abi::quorate_check_signature(suite, at, size, ptr::null_mut());
        abi::quorate_aggregate(suite, at, size, sum, 192, ptr::null_mut());
        abi::quorate_aggregate_public_keys(suite, at, size, sum, 192, ptr::null_mut());
        abi::quorate_subtract(suite, all, all, sum, 192, ptr::null_mut());
        if abi::quorate_key_set_new(suite, &mut set, ptr::null_mut()) == 0 {
            let pushed = abi::quorate_key_set_push(set, at, size, true, ptr::null_mut());
            assert!(checked != 0 || pushed == 0, "a key that is one can be a member");
            let mut verdict = Ruled::Valid as u8;
            let code = abi::quorate_key_set_verify(set, all, all, all, &mut verdict, ptr::null_mut(), ptr::null_mut());
            assert!(code == 0 || verdict == Ruled::Undecided as u8);
            abi::quorate_key_set_free(set);
        }
        if abi::quorate_secret_key_from_bytes(suite, at, size, &mut secret, ptr::null_mut()) == 0 {
            assert_eq!(abi::quorate_secret_key_to_bytes(secret, sum, 32, ptr::null_mut()), 0);
            assert_eq!(&out[..32], bytes);
            abi::quorate_secret_key_free(secret);
        }
    }
}
