//! Keys that are shared anew in one round, drawn from a seed: dealers who are honest or absent, encrypt a false digit, or share another
//! secret than their share. Whatever they do, the key stays, or too few are left.

use quorate::rand_core::Rng as _;

use super::*;

/// What the holder of a share does with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Dealing {
    Honest,
    Absent,
    /// The transcript is true, and what is shared is not the share.
    OtherSecret,
    FalseDigit,
}

/// A key of a few, which a few others get, who can have several shares or none.
pub(super) fn try_seed<S: Bls12381Suite>(suite: S, seed: u64) {
    let (mut rng, options) = (ChaCha20Rng::seed_from_u64(seed), Options::default());
    let mut below = |n: usize| (rng.next_u64() % n as u64) as usize;
    let kinds = [Identifiers::Integers, Identifiers::RootsOfUnity];
    let [old_kind, kind] = [kinds[below(2)], kinds[below(2)]];
    let holders = 2 + below(3);
    let needed = 2 + below(holders - 1);
    let members = 2 + below(3);
    let mut weights: Vec<u32> = (0..members).map(|_| [1, 1, 1, 2, 0][below(5)]).collect();
    weights[0] += 1;
    weights[1] = weights[1].max(1);
    let t = 2 + below(weights.iter().sum::<u32>() as usize - 1).min(2);
    let dealings: Vec<_> = (0..holders)
        .map(|_| match below(8) {
            0..5 => Dealing::Honest,
            5 => Dealing::Absent,
            6 => Dealing::OtherSecret,
            _ => Dealing::FalseDigit,
        })
        .collect();

    let committee = Committee::new(needed, holders, old_kind, options.backend).expect("a committee");
    let secret_key = SecretKey::generate(suite, &mut rng);
    let (old, commitment) = crate::deal(&committee, suite, &secret_key, &options, &mut rng).expect("not zero");
    let key = SharedKey::new(suite, committee, commitment).expect("t points");
    let (secrets, receivers) = receivers(t, &weights, kind);
    let polynomials = reshared(&old, t, &mut rng);
    let false_digit = |of: &mut deal::Encryption<'_>| of.digits[0][3] += 1;
    let mut published = Vec::new();
    for ((share, of_share), dealing) in old.iter().zip(polynomials).zip(&dealings) {
        let (liar, polynomial) = match dealing {
            Dealing::Absent => continue,
            Dealing::Honest => (Liar::default(), of_share),
            Dealing::OtherSecret => (Liar::default(), polynomial(t, &mut rng)),
            Dealing::FalseDigit => (Liar { secrets: &false_digit, ..Liar::default() }, of_share),
        };
        let statement = statement(share.index().number());
        let transcript = liar.publish(suite, &receivers, &statement, &polynomial, &mut rng);
        published.push((share.index(), *dealing, transcript));
    }

    let numbered: Vec<_> = published.iter().map(|(index, _, transcript)| (index.number(), transcript)).collect();
    let verified = verify_all(suite, &receivers, [9; 32], &numbered, &options, &mut rng);
    let mut transcripts = Vec::new();
    for ((index, dealing, _), answer) in published.iter().zip(&verified) {
        assert_eq!(answer.is_ok(), *dealing != Dealing::FalseDigit, "seed {seed}, {dealing:?}");
        let Ok(transcript) = answer else { continue };
        let shares_share = transcript.shares_share(&key, *index, options.backend);
        assert_eq!(shares_share, *dealing == Dealing::Honest, "seed {seed}, {dealing:?}");
        transcripts.extend(shares_share.then_some((*index, transcript)));
    }
    let contributions = Contributions::to_previous_key(&key, &transcripts, &options);
    if transcripts.len() < needed {
        assert!(matches!(contributions, Err(ContributionsError::TooFew(_))), "seed {seed}, {dealings:?}");
        return;
    }
    let contributions = contributions.expect("as many deal as sign");
    assert!(contributions.commitment().public_key() == key.public_key(), "seed {seed}: the key stays");
    let new = decrypted(&contributions, &secrets, &receivers);
    let commitment = contributions.commitment().clone();
    let shared = SharedKey::new(suite, receivers.committee().clone(), commitment).expect("t points");
    assert_signs(&shared, &new);
}
