//! Ceremonies from end to end: what each kind makes, what each lie comes to, and what no behaviour can do.
//!
//! Long because each lie has a test of its name, and all run in one simulator.
#![allow(clippy::unwrap_used, reason = "what a test cannot set up fails it")]

use quorate::{Backend, Bls12381Suite, MinPk, MinSig, Options};
use rand_chacha::{ChaCha20Rng, rand_core::SeedableRng};

use super::{
    simulator::{
        Behaviour, Faults, LIES, Simulation, assert_signs, description, identities, member_seed, previous, recovery,
    },
    *,
};
use crate::{CommitteeError, Identifiers, KeyShare};

const VARIANTS: [Variant; 2] = [Variant::JointFeldman, Variant::CommitFirst];

fn run<S: Bls12381Suite>(
    description: Description<S>,
    shares: &[Option<KeyShare<S>>],
    behaviours: &[Behaviour],
    faults: Faults,
    seed: u64,
) -> Simulation<S> {
    let mut simulation = Simulation::new(description, shares, behaviours, faults, seed);
    simulation.run();
    simulation
}

fn honest(n: usize) -> Vec<Behaviour> {
    vec![Behaviour::Honest; n]
}

/// All honest participants ended with a key.
fn all_succeed<S: Bls12381Suite>(simulation: &Simulation<S>) {
    for end in simulation.check() {
        assert!(end.is_ok(), "{:?}: {:?}", simulation.behaviours, end);
    }
}

/// One member with a behaviour, the others honest.
fn with_one<S: Bls12381Suite>(
    purpose: CeremonyPurpose<S>,
    suite: S,
    t: usize,
    n: usize,
    one: Behaviour,
) -> Simulation<S> {
    let mut behaviours = honest(n);
    behaviours[0] = one;
    run(description(suite, t, n, purpose), &[], &behaviours, Faults::default(), 1)
}

/// What the second member says of the first.
fn named<S: Bls12381Suite>(simulation: &Simulation<S>) -> Vec<Culprit> {
    let culprits = simulation.participants[1].culprits();
    culprits.into_iter().filter(|culprit| culprit.member().number() == 1).collect()
}

fn misdeeds<S: Bls12381Suite>(simulation: &Simulation<S>) -> Vec<Misdeed> {
    let proven = named(simulation).into_iter().filter_map(|culprit| match culprit {
        Culprit::Proven(blame) => Some(blame.misdeed().clone()),
        _ => None,
    });
    proven.collect()
}

fn number(n: usize) -> MemberNumber {
    serde_json::from_str(&n.to_string()).unwrap()
}

fn new_keys<S: Bls12381Suite>(suite: S) {
    for variant in VARIANTS {
        for (t, n) in [(1, 1), (1, 2), (2, 2), (3, 5)] {
            for identifiers in [Identifiers::Integers, Identifiers::RootsOfUnity] {
                let description =
                    Description { identifiers, ..description(suite, t, n, CeremonyPurpose::NewKey(variant)) };
                let simulation = run(description, &[], &honest(n), Faults::default(), 0);
                all_succeed(&simulation);
                assert!(simulation.participants.iter().all(|participant| participant.culprits().is_empty()));
            }
        }
    }
}

#[test]
fn honest_participants_make_a_key() {
    new_keys(MinPk::Eth2);
    new_keys(MinSig::Basic);
}

/// The program of every participant stops after every step, and goes on from its state.
#[test]
fn a_crash_after_any_step_changes_nothing() {
    let faults = Faults { crashes: true, ..Faults::default() };
    for variant in VARIANTS {
        for behaviour in [
            Behaviour::Honest,
            Behaviour::FalseShares,
            Behaviour::Silent(Round::Reveal),
            Behaviour::Equivocates(Round::Deal),
        ] {
            let mut behaviours = honest(3);
            behaviours[0] = behaviour;
            let description = || description(MinPk::Eth2, 2, 3, CeremonyPurpose::NewKey(variant));
            let crashing = run(description(), &[], &behaviours, faults, 5);
            let steady = run(description(), &[], &behaviours, Faults::default(), 5);
            crashing.check();
            for (one, other) in crashing.participants.iter().zip(&steady.participants) {
                assert_eq!(one.messages().collect::<Vec<_>>(), other.messages().collect::<Vec<_>>());
                assert_eq!(*one.to_json(), *other.to_json());
            }
        }
    }
}

/// With one liar of four all honest ones succeed, whatever the lie, and the liar is named.
#[test]
fn one_liar_is_named_and_stops_nobody() {
    for variant in VARIANTS {
        for lie in LIES {
            let simulation = with_one(CeremonyPurpose::NewKey(variant), MinPk::Eth2, 2, 4, lie);
            let commit_first = variant == Variant::CommitFirst;
            let hiding_only = matches!(
                lie,
                Behaviour::Silent(Round::Reveal | Round::Absence | Round::Disclosure)
                    | Behaviour::FalseReveal
                    | Behaviour::FalseDisclosure
                    | Behaviour::Silent(Round::Justification)
                    | Behaviour::FalseContribution
            );
            // Two sides have heard different responses, and nobody repeats these before the confirmations.
            let splits = lie == Behaviour::Equivocates(Round::Response);
            if splits {
                simulation.check();
            } else {
                all_succeed(&simulation);
            }
            let harmless = match lie {
                Behaviour::FalseContribution | Behaviour::Silent(Round::Justification) => true,
                Behaviour::FalseConfirmation => true,
                Behaviour::FalseProof => commit_first,
                Behaviour::Silent(Round::Confirmation) => true,
                Behaviour::Silent(Round::Absence | Round::Disclosure) => true,
                // Its deal is true, and it harms nobody else.
                Behaviour::ZeroShare => true,
                // The others have the reveal all the same. Who got the true one in time has seen nothing else.
                Behaviour::RevealsToSome | Behaviour::RevealsTwo | Behaviour::RevealsLate => true,
                _ => hiding_only && !commit_first,
            };
            assert!(harmless || !named(&simulation).is_empty(), "{variant:?}: {lie:?} is not named");
        }
    }
}

#[test]
fn any_behaviours_make_one_key_or_name_someone() {
    let mut ended = [0; 2];
    for seed in 0..25 {
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        let mut below = |n: u64| (quorate::rand_core::Rng::next_u64(&mut rng) % n) as usize;
        let n = 3 + below(3);
        let t = 1 + below(n as u64 / 2 + 1);
        // Fewer than t lie.
        let mut behaviours = honest(n);
        for _ in 0..below(t as u64) {
            behaviours[below(n as u64)] = LIES[below(LIES.len() as u64)];
        }
        let faults = Faults { lost: [0, 0, 3, 20][below(4)], doubled: 20, ..Faults::default() };
        let purpose = CeremonyPurpose::NewKey(VARIANTS[below(2)]);
        let simulation = run(description(MinPk::Eth2, t, n, purpose), &[], &behaviours, faults, seed);
        for end in simulation.check() {
            ended[usize::from(end.is_err())] += 1;
        }
    }
    println!("{} ended with a key, {} without", ended[0], ended[1]);
    assert!(ended[0] > 25 && ended[1] > 5, "{ended:?}");
}

/// Whatever one member of four signs, if all get the same: the others make a key, and blame nobody else.
#[test]
fn whatever_a_member_signs() {
    let mut named_ones = 0;
    for seed in 0..15 {
        for variant in VARIANTS {
            let simulation = with_one(CeremonyPurpose::NewKey(variant), MinPk::Eth2, 2, 4, Behaviour::Mutates(seed));
            all_succeed(&simulation);
            named_ones += usize::from(!named(&simulation).is_empty());
        }
    }
    println!("{named_ones} of 30 named");
    assert!(named_ones > 20, "{named_ones}");
}

#[test]
fn false_share() {
    for variant in VARIANTS {
        let simulation = with_one(CeremonyPurpose::NewKey(variant), MinPk::Eth2, 4, 7, Behaviour::FalseShares);
        all_succeed(&simulation);
        let expected: Vec<_> = [2, 4, 6].map(|receiver| Misdeed::FalseShare { receiver: number(receiver) }).into();
        assert_eq!(misdeeds(&simulation), expected);
        let outcome = simulation.participants[1].end().unwrap().as_ref().unwrap();
        assert_eq!(outcome.dealers, (2..=7).map(number).collect::<Vec<_>>());
    }
}

/// The dealer who was accused keeps silent: nothing is proven, but its deal does not count.
#[test]
fn unanswered_complaint() {
    let purpose = CeremonyPurpose::NewKey(Variant::JointFeldman);
    let simulation = with_one(purpose, MinPk::Eth2, 4, 7, Behaviour::FalseSharesUnanswered);
    all_succeed(&simulation);
    let dealer = number(1);
    let unanswered = [2, 4, 6].map(|receiver| Culprit::Unanswered { dealer, receiver: number(receiver) });
    let silent = Culprit::Silent { round: Round::Justification, member: dealer };
    assert_eq!(named(&simulation), [vec![silent], unanswered.to_vec()].concat());
}

/// So many complain that one of them must be honest. The dealer must not open t shares, which would be its secret.
#[test]
fn as_many_complaints_as_the_threshold() {
    let simulation = with_one(CeremonyPurpose::NewKey(Variant::JointFeldman), MinPk::Eth2, 3, 7, Behaviour::Garbage);
    all_succeed(&simulation);
    assert_eq!(named(&simulation), [Culprit::Accused { dealer: number(1), complaints: 7 }]);
    assert!(simulation.participants[0].published().all(|message| message.round() != Round::Justification));
}

/// What is too short or too long is seen before it is opened. It is proven by the deal alone, and no receiver has to complain.
#[test]
fn envelope_of_another_length() {
    for (variant, expected) in [(Variant::JointFeldman, 80), (Variant::CommitFirst, 112)] {
        let purpose = CeremonyPurpose::NewKey(variant);
        let simulation = with_one(purpose, MinPk::Eth2, 3, 5, Behaviour::ShortEnvelope);
        all_succeed(&simulation);
        let misdeed = Misdeed::EnvelopeLength { receiver: number(5), found: expected - 1, expected };
        assert_eq!(misdeeds(&simulation), [misdeed]);
        for participant in &simulation.participants[1..] {
            let complains = |body: &Body| matches!(body, Body::Response { complaints, .. } if !complaints.is_empty());
            assert!(participant.published().all(|message| !complains(message.body())));
        }
    }
    // What a helper sends to the participant who lost its share.
    let expected = Misdeed::EnvelopeLength { receiver: number(1), found: 79, expected: 80 };
    let (description, held, shares) = recovery(&[2, 3, 4, 5, 6], 1);
    let mut behaviours = honest(6);
    behaviours[1] = Behaviour::ShortContribution;
    let simulation = run(description, &held, &behaviours, Faults::default(), 3);
    simulation.check();
    let lost = &simulation.participants[0];
    let [Culprit::Proven(blame)] = &lost.culprits()[..] else { panic!("{:?}", lost.culprits()) };
    assert_eq!((blame.member(), blame.misdeed()), (number(2), &expected));
    let share = lost.end().unwrap().as_ref().unwrap().key_share.as_ref().unwrap();
    assert_eq!(*share.secret().to_bytes(), *shares[0].secret().to_bytes());
}

/// A dealer answers one complaint a thousand times, or with more bytes than a share has. The message proves once that it cheats: evidence
/// for each opening, with a copy of the message, would fill the memory of all others.
#[test]
fn openings_that_no_dealer_needs_are_proven_once() {
    let purpose = CeremonyPurpose::NewKey(Variant::JointFeldman);
    let simulation = with_one(purpose, MinPk::Eth2, 4, 7, Behaviour::FalseShares);
    let of = |wanted: &[Round]| -> Vec<_> {
        let messages = simulation.participants[1].messages();
        messages.filter(|message| wanted.contains(&message.round())).cloned().collect()
    };
    let (before, said) = (of(&[Round::Deal, Round::Response]), of(&[Round::Justification]).remove(0));
    let Body::Justification { openings } = said.body() else { panic!() };
    let misdeeds = |openings: Vec<ShareOpening>| -> Vec<_> {
        let said = Body::Justification { openings };
        let said = CeremonyMessage::sign(&simulation.ceremony, number(1), &simulation.identities[0], said);
        let blames = judge(&simulation.ceremony, &[&before[..], &[said]].concat(), Backend::auto());
        assert!(blames.iter().all(|blame| blame.member() == number(1)), "{blames:?}");
        blames.iter().map(|blame| blame.misdeed().clone()).collect()
    };
    let expected: Vec<_> = [2, 4, 6].map(|receiver| Misdeed::FalseShare { receiver: number(receiver) }).into();
    assert_eq!(misdeeds(openings.clone()), expected);
    assert_eq!(misdeeds(vec![openings[0].clone(); 1000]), [Misdeed::Openings]);
    for (share, ephemeral) in [(100_000, 32), (32, 100_000), (31, 32), (32, 0)] {
        let mut openings = openings.clone();
        openings[2].share = Bytes(vec![1; share]);
        openings[2].ephemeral = Bytes(vec![1; ephemeral]);
        assert_eq!(misdeeds(openings), [Misdeed::Openings], "{share} and {ephemeral} bytes");
    }
}

/// A receiver discloses a false share of each dealer. The first proves it: each further one would be another copy of the message.
#[test]
fn false_disclosures_are_proven_once() {
    let simulation = with_one(CeremonyPurpose::NewKey(Variant::CommitFirst), MinPk::Eth2, 2, 4, Behaviour::Honest);
    let messages = simulation.participants[1].messages();
    let before = messages.filter(|message| matches!(message.round(), Round::Deal | Round::Response)).cloned();
    let shares = (1..=4).map(|dealer| Disclosed { dealer: number(dealer), share: Bytes(vec![1; 64]) }).collect();
    let said = Body::Disclosure { shares };
    let said = CeremonyMessage::sign(&simulation.ceremony, number(1), &simulation.identities[0], said);
    let blames = judge(&simulation.ceremony, &before.chain([said]).collect::<Vec<_>>(), Backend::auto());
    let found: Vec<_> = blames.iter().map(|blame| (blame.member(), blame.misdeed().clone())).collect();
    assert_eq!(found, [(number(1), Misdeed::FalseDisclosure { dealer: number(1) })]);
    let [blame] = &blames[..] else { panic!("{blames:?}") };
    let judged = Blame::from_json(&simulation.ceremony, blame.to_json().as_bytes(), Backend::auto()).unwrap();
    assert_eq!(judged, blames, "a third party sees it");
}

#[test]
fn false_complaint() {
    let simulation = with_one(CeremonyPurpose::NewKey(Variant::JointFeldman), MinPk::Eth2, 3, 5, Behaviour::Complains);
    all_succeed(&simulation);
    let found = misdeeds(&simulation);
    assert!((2..=5).all(|dealer| found.contains(&Misdeed::FalseComplaint { dealer: number(dealer) })), "{found:?}");
    let outcome = simulation.participants[1].end().unwrap().as_ref().unwrap();
    assert_eq!(outcome.dealers.len(), 5);
}

#[test]
fn raised_degree() {
    for variant in VARIANTS {
        let simulation = with_one(CeremonyPurpose::NewKey(variant), MinPk::Eth2, 3, 5, Behaviour::RaisedDegree);
        assert_eq!(misdeeds(&simulation), [Misdeed::CommitmentLength { found: 4, expected: 3 }]);
        let simulation = with_one(CeremonyPurpose::NewKey(variant), MinPk::Eth2, 3, 5, Behaviour::LoweredDegree);
        assert_eq!(misdeeds(&simulation), [Misdeed::CommitmentLength { found: 2, expected: 3 }]);
    }
}

#[test]
fn identity_commitment_and_small_subgroup() {
    for behaviour in [Behaviour::Identity, Behaviour::OutsideSubgroup] {
        let simulation = with_one(CeremonyPurpose::NewKey(Variant::CommitFirst), MinSig::Basic, 2, 4, behaviour);
        assert!(matches!(misdeeds(&simulation)[..], [Misdeed::Point { .. }]), "{:?}", misdeeds(&simulation));
        let simulation = with_one(CeremonyPurpose::NewKey(Variant::JointFeldman), MinPk::Eth2, 2, 4, behaviour);
        assert!(matches!(misdeeds(&simulation)[..], [Misdeed::Point { .. }]), "{:?}", misdeeds(&simulation));
    }
}

/// A dealer whose contribution is its own minus those of all others would own the key. It cannot prove that it knows it.
#[test]
fn rogue_key() {
    let simulation =
        with_one(CeremonyPurpose::NewKey(Variant::JointFeldman), MinPk::Eth2, 3, 5, Behaviour::OtherConstant);
    assert_eq!(misdeeds(&simulation), [Misdeed::Proof]);
    let simulation = with_one(CeremonyPurpose::NewKey(Variant::JointFeldman), MinPk::Eth2, 3, 5, Behaviour::FalseProof);
    assert_eq!(misdeeds(&simulation), [Misdeed::Proof]);
}

/// In Joint-Feldman a proof names the dealer and the ceremony, so a copy of a whole deal proves nothing.
#[test]
fn copied_deal() {
    let simulation = with_one(CeremonyPurpose::NewKey(Variant::JointFeldman), MinPk::Eth2, 2, 3, Behaviour::Honest);
    let deal = simulation.participants[1].published().next().unwrap();
    let copy = CeremonyMessage::sign(&simulation.ceremony, number(1), &simulation.identities[0], deal.body().clone());
    let blames = judge(&simulation.ceremony, &[copy], Backend::auto());
    assert_eq!(blames.iter().map(Blame::misdeed).collect::<Vec<_>>(), [&Misdeed::Proof]);
}

/// A dealer that sees the contributions and then keeps silent does not change the key: it is reconstructed.
#[test]
fn withheld_contribution() {
    let key = |behaviour| {
        let simulation = with_one(CeremonyPurpose::NewKey(Variant::CommitFirst), MinPk::Eth2, 3, 6, behaviour);
        all_succeed(&simulation);
        let outcome = simulation.participants[1].end().unwrap().as_ref().unwrap();
        (outcome.shared_key.clone(), named(&simulation))
    };
    let (expected, nobody) = key(Behaviour::Honest);
    assert_eq!(nobody, []);
    let (silent, culprits) = key(Behaviour::Silent(Round::Reveal));
    assert_eq!(silent, expected);
    assert!(culprits.contains(&Culprit::Silent { round: Round::Reveal, member: number(1) }));
    let (lied, culprits) = key(Behaviour::FalseReveal);
    assert_eq!(lied, expected);
    let proven = culprits.iter().filter_map(|culprit| match culprit {
        Culprit::Proven(blame) => Some(blame.misdeed()),
        _ => None,
    });
    assert_eq!(proven.collect::<Vec<_>>(), [&Misdeed::OtherContribution]);
    let (lied, culprits) = key(Behaviour::FalseDisclosure);
    assert_eq!(lied, expected);
    let proven = culprits.iter().filter(|culprit| matches!(culprit, Culprit::Proven(_)));
    assert_eq!(proven.count(), 1, "{culprits:?}");
}

/// A dealer falls silent before its contribution is revealed, and signs a second deal when its shares of the first are disclosed. They are
/// false only against the deal that the receivers say they saw.
#[test]
fn disclosures_of_a_deal_that_its_dealer_replaces() {
    let silent = Behaviour::Silent(Round::Reveal);
    let simulation = with_one(CeremonyPurpose::NewKey(Variant::CommitFirst), MinPk::Eth2, 2, 4, silent);
    all_succeed(&simulation);
    let of = |wanted: &[Round]| -> Vec<_> {
        let messages = simulation.participants[1].messages();
        messages.filter(|message| wanted.contains(&message.round())).cloned().collect()
    };
    let disclosures = of(&[Round::Disclosure]);
    assert_eq!(disclosures.iter().map(CeremonyMessage::sender).collect::<Vec<_>>(), [2, 3, 4].map(number));
    let first = of(&[Round::Deal]).remove(0);
    let Body::Deal { commitment, proof, shares } = first.body().clone() else { panic!() };
    let second = Body::Deal { commitment: commitment.into_iter().rev().collect(), proof, shares };
    let second = CeremonyMessage::sign(&simulation.ceremony, number(1), &simulation.identities[0], second);
    let judged = |messages: &[&[CeremonyMessage]]| -> Vec<_> {
        let blames = judge(&simulation.ceremony, &messages.concat(), Backend::auto());
        blames.iter().map(|blame| (blame.member(), blame.misdeed().clone())).collect()
    };
    assert_eq!(judged(&[std::slice::from_ref(&second), &disclosures]), []);
    let twice = (number(1), Misdeed::Equivocation(Round::Deal));
    assert_eq!(judged(&[&[second], &of(&[Round::Response, Round::Disclosure])]), [twice]);
    assert_eq!(judged(&[&of(&[Round::Deal, Round::Response, Round::Disclosure])]), []);
}

/// What a dealer hid and did not reveal has a coefficient that is zero. It is reconstructed as any other.
#[test]
fn withheld_contribution_with_a_zero_coefficient() {
    fn of<S: Bls12381Suite>(suite: S) {
        for (t, n) in [(2, 4), (3, 6)] {
            let purpose = CeremonyPurpose::NewKey(Variant::CommitFirst);
            let simulation = with_one(purpose, suite, t, n, Behaviour::ZeroCoefficient);
            all_succeed(&simulation);
            let outcome = simulation.participants[1].end().unwrap().as_ref().unwrap();
            assert!(outcome.dealers.contains(&number(1)));
            let culprits = named(&simulation);
            assert!(culprits.contains(&Culprit::Silent { round: Round::Reveal, member: number(1) }), "{culprits:?}");
        }
    }
    of(MinPk::Eth2);
    of(MinSig::Basic);
}

/// A dealer who waits for the deals of all others makes its own share of the key zero, and so its own verification key the
/// identity. Its deal is true, so nothing is proven, but the others collect signatures as if it were not there.
#[test]
fn a_rushing_dealer_without_a_share_stops_nobody() {
    fn of<S: Bls12381Suite>(suite: S) {
        for variant in VARIANTS {
            for (t, n) in [(2, 3), (2, 4), (3, 5)] {
                let simulation = with_one(CeremonyPurpose::NewKey(variant), suite, t, n, Behaviour::ZeroShare);
                all_succeed(&simulation);
                let liar = simulation.ceremony.committee().index(1).unwrap();
                for participant in &simulation.participants[1..] {
                    let outcome = participant.end().unwrap().as_ref().unwrap();
                    assert_eq!(
                        outcome.shared_key.without_share(&Options::default()),
                        [liar],
                        "{variant:?}, {t} of {n}"
                    );
                    assert_eq!((participant.culprits(), outcome.confirmations.len()), (vec![], n));
                }
                // Its own share is zero, which is not a key.
                assert_eq!(simulation.participants[0].end().unwrap().as_ref().err(), Some(&CeremonyFailure::Zero));
            }
        }
    }
    of(MinPk::Eth2);
    of(MinSig::Basic);
}

/// The same in a refresh, after which members delete their old shares: the dealer's constant is fixed, so it moves the next
/// coefficient. The others sign, and share the key anew without it.
#[test]
fn a_rushing_dealer_without_a_share_in_a_refresh() {
    for (t, n) in [(2, 3), (3, 5)] {
        let (shared_key, shares) = previous(MinPk::Eth2, t, n);
        let mut behaviours = honest(n);
        behaviours[0] = Behaviour::ZeroShare;
        let refresh = description(MinPk::Eth2, t, n, CeremonyPurpose::Reshare(shared_key.clone()));
        let simulation = run(refresh, &all_shares(&shares), &behaviours, Faults::default(), 1);
        all_succeed(&simulation);
        let outcomes = simulation.participants[1..].iter().map(|member| member.end().unwrap().as_ref().unwrap());
        let outcomes: Vec<_> = outcomes.collect();
        let refreshed = &outcomes[0].shared_key;
        assert_eq!(refreshed.public_key(), shared_key.public_key());
        assert_eq!(refreshed.without_share(&Options::default()), [refreshed.committee().index(1).unwrap()]);

        let mut again = description(MinPk::Eth2, t, n, CeremonyPurpose::Reshare(refreshed.clone()));
        again.seats[0].dealer = None;
        let held: Vec<_> = [None].into_iter().chain(outcomes.iter().map(|outcome| outcome.key_share.clone())).collect();
        let simulation = run(again, &held, &honest(n), Faults::default(), 2);
        all_succeed(&simulation);
        let outcome = simulation.participants[0].end().unwrap().as_ref().unwrap();
        assert_eq!(outcome.shared_key.public_key(), shared_key.public_key());
        assert_eq!(outcome.shared_key.without_share(&Options::default()), []);
    }
}

/// A share that is zero is not recovered: there is none.
#[test]
fn no_share_is_recovered_for_a_participant_without_one() {
    let simulation = with_one(CeremonyPurpose::NewKey(Variant::JointFeldman), MinPk::Eth2, 3, 5, Behaviour::ZeroShare);
    let shared_key = simulation.participants[1].end().unwrap().as_ref().unwrap().shared_key.clone();
    let lost = shared_key.committee().index(1).unwrap();
    let mut description = description(MinPk::Eth2, 3, 5, CeremonyPurpose::Recover { shared_key, lost });
    description.seats[0].dealer = None;
    let error = Ceremony::new(description, Backend::auto()).unwrap_err();
    assert!(matches!(error, CeremonyError::NoShare(index) if index == lost), "{error}");
}

/// A dealer sees the key when all others have revealed their contributions, and then reveals its own to some only, or
/// another one to the rest, or to some late. Whoever has it passes it on: all end with the same key as if it had been honest.
#[test]
fn a_contribution_revealed_to_some_is_passed_on() {
    let key = |one| {
        let mut keys = Vec::new();
        for crashes in [false, true] {
            let mut behaviours = honest(5);
            behaviours[0] = one;
            let purpose = CeremonyPurpose::NewKey(Variant::CommitFirst);
            let faults = Faults { crashes, doubled: 20, ..Faults::default() };
            let simulation = run(description(MinPk::Eth2, 3, 5, purpose), &[], &behaviours, faults, 1);
            all_succeed(&simulation);
            for participant in &simulation.participants[1..] {
                let outcome = participant.end().unwrap().as_ref().unwrap();
                assert!(outcome.confirmations.len() >= 4);
                let blamed = participant.culprits().iter().map(Culprit::member).collect::<Vec<_>>();
                assert!(blamed.iter().all(|member| *member == number(1)), "{one:?}: {:?}", participant.culprits());
                keys.push(outcome.shared_key.clone());
            }
        }
        keys.dedup();
        assert_eq!(keys.len(), 1);
        keys.remove(0)
    };
    let expected = key(Behaviour::Honest);
    for one in [Behaviour::RevealsToSome, Behaviour::RevealsTwo, Behaviour::RevealsLate] {
        assert_eq!(key(one), expected, "{one:?}");
    }
}

/// Who revealed two contributions is named with both.
#[test]
fn two_reveals_are_proven() {
    let simulation = with_one(CeremonyPurpose::NewKey(Variant::CommitFirst), MinPk::Eth2, 3, 5, Behaviour::RevealsTwo);
    let proven = simulation.participants[2].culprits().into_iter().filter_map(|culprit| match culprit {
        Culprit::Proven(blame) => Some((blame.member(), blame.misdeed().clone())),
        _ => None,
    });
    assert!(proven.collect::<Vec<_>>().contains(&(number(1), Misdeed::Equivocation(Round::Reveal))));
}

/// Two dealers keep silent until all others have said what they miss, and then one of them reveals to some. What the others
/// still miss is less than what they all said, and that is enough to disclose it.
#[test]
fn a_contribution_revealed_late_does_not_undo_the_agreement() {
    let mut behaviours = honest(7);
    behaviours[0] = Behaviour::Silent(Round::Reveal);
    behaviours[1] = Behaviour::RevealsLate;
    let purpose = CeremonyPurpose::NewKey(Variant::CommitFirst);
    let simulation = run(description(MinPk::Eth2, 3, 7, purpose), &[], &behaviours, Faults::default(), 1);
    all_succeed(&simulation);
    let outcome = simulation.participants[2].end().unwrap().as_ref().unwrap();
    assert_eq!(outcome.dealers.len(), 7);
}

/// Nothing that is passed on arrives, so the ceremony fails. Who saw the reveal and who did not name its sender, and nobody
/// who is honest.
#[test]
fn a_contribution_revealed_to_some_and_not_passed_on_names_its_dealer() {
    let mut behaviours = honest(5);
    behaviours[0] = Behaviour::RevealsToSome;
    let purpose = CeremonyPurpose::NewKey(Variant::CommitFirst);
    let faults = Faults { nothing_passed_on: true, ..Faults::default() };
    let simulation = run(description(MinPk::Eth2, 3, 5, purpose), &[], &behaviours, faults, 1);
    let ends: Vec<_> = simulation.check().into_iter().map(|end| end.as_ref().err().copied()).collect();
    let unconfirmed = Some(CeremonyFailure::Unconfirmed { agreeing: 3, needed: 4 });
    let not_agreed = Some(CeremonyFailure::AbsenceNotAgreed { agreeing: 2, needed: 4 });
    assert_eq!(ends, [unconfirmed, not_agreed, unconfirmed, not_agreed]);
    let unseen_by = vec![number(3), number(5)];
    let not_seen = Culprit::NotSeenByAll { round: Round::Reveal, sender: number(1), unseen_by };
    for participant in &simulation.participants[1..] {
        let culprits = participant.culprits();
        assert!(culprits.contains(&not_seen), "{culprits:?}");
        assert!(culprits.iter().all(|culprit| culprit.member() == number(1)), "{culprits:?}");
    }
}

/// What is disclosed is a secret no more. So nobody discloses anything if too few contributions would stay hidden, or if
/// too few receivers miss the same.
#[test]
fn lost_reveals_are_not_disclosed() {
    for (silent, expected) in [
        (3, CeremonyFailure::TooFewDealers { left: 2, needed: 3 }),
        (2, CeremonyFailure::AbsenceNotAgreed { agreeing: 3, needed: 4 }),
    ] {
        let mut behaviours = honest(5);
        behaviours[..silent].fill(Behaviour::Silent(Round::Reveal));
        let purpose = CeremonyPurpose::NewKey(Variant::CommitFirst);
        let simulation = run(description(MinPk::Eth2, 3, 5, purpose), &[], &behaviours, Faults::default(), 1);
        for participant in &simulation.participants {
            assert!(participant.messages().all(|message| message.round() != Round::Disclosure));
        }
        for end in simulation.check() {
            assert_eq!(end.as_ref().err(), Some(&expected));
        }
    }
}

/// In a recovery the helpers agree whose polynomials hide their shares before anyone sends one: sums over different
/// dealers, put together, would tell more than the lost share.
#[test]
fn helpers_agree_before_they_contribute() {
    let (description, held, _) = recovery(&[2, 3, 4, 5, 6], 1);
    let mut behaviours = honest(6);
    behaviours[1..3].fill(Behaviour::Silent(Round::Confirmation));
    let simulation = run(description, &held, &behaviours, Faults::default(), 3);
    for participant in &simulation.participants {
        assert!(participant.messages().all(|message| message.round() != Round::Contribution));
        assert!(matches!(
            participant.end(),
            Some(Err(CeremonyFailure::Unconfirmed { agreeing: 3 | 4, needed: 4 })) | Some(Ok(_))
        ));
    }
}

/// A revealed contribution with a multiple of Pedersen's second base in it: the sum would fit, the proof does not.
#[test]
fn revealed_contribution_with_the_second_base() {
    let simulation = with_one(CeremonyPurpose::NewKey(Variant::CommitFirst), MinPk::Eth2, 2, 3, Behaviour::Honest);
    let of = |round| simulation.participants[0].published().find(|message| message.round() == round).unwrap();
    let (deal, reveal) = (of(Round::Deal), of(Round::Reveal));
    assert_eq!(judge(&simulation.ceremony, &[deal.clone(), reveal.clone()], Backend::auto()), []);
    let Body::Reveal { commitment, blinding, .. } = reveal.body() else { panic!() };
    // The proof of another value under the same challenge.
    let Body::Deal { commitment: hidden, .. } = deal.body() else { panic!() };
    let moved = Body::Reveal {
        commitment: hidden.clone(),
        blinding: Bytes(vec![0; 32]),
        proof: Bytes(vec![0xc0].into_iter().chain([0; 95]).collect()),
    };
    let moved = CeremonyMessage::sign(&simulation.ceremony, number(1), &simulation.identities[0], moved);
    let blames = judge(&simulation.ceremony, &[deal.clone(), moved], Backend::auto());
    assert_eq!(blames.iter().map(Blame::misdeed).collect::<Vec<_>>(), [&Misdeed::Proof]);
    assert_eq!((commitment.len(), blinding.0.len()), (2, 32));
}

/// A dealer who signs two deals is found out by the responses, and shut out. The evidence is two signatures.
#[test]
fn equivocating_dealer() {
    for variant in VARIANTS {
        let behaviour = Behaviour::Equivocates(Round::Deal);
        all_succeed(&with_one(CeremonyPurpose::NewKey(variant), MinPk::Eth2, 3, 5, behaviour));
    }
    let behaviour = Behaviour::Equivocates(Round::Deal);
    let simulation = with_one(CeremonyPurpose::NewKey(Variant::JointFeldman), MinPk::Eth2, 3, 5, behaviour);
    assert_eq!(misdeeds(&simulation), [Misdeed::Equivocation(Round::Deal)]);
    // The honest ones who complained about the other deal are not to blame.
    let proven = simulation.participants[2].culprits().into_iter().filter_map(|culprit| match culprit {
        Culprit::Proven(blame) => Some(blame),
        _ => None,
    });
    let proven: Vec<_> = proven.collect();
    assert!(proven.iter().all(|blame| blame.member() == number(1)), "{proven:?}");
    let json = proven[0].to_json();
    assert!(json.len() < 1000);
    // A changed signature proves nothing.
    let digit = json.rfind("\"}").unwrap() - 1;
    let changed =
        format!("{}{}{}", &json[..digit], if &json[digit..=digit] == "0" { "1" } else { "0" }, &json[digit + 1..]);
    assert_eq!(Blame::from_json(&simulation.ceremony, changed.as_bytes(), Backend::auto()).unwrap(), []);
}

/// Nobody can be framed: messages that somebody else signed, or that are of another ceremony, prove nothing.
#[test]
fn framing() {
    let simulation =
        with_one(CeremonyPurpose::NewKey(Variant::JointFeldman), MinPk::Eth2, 3, 5, Behaviour::RaisedDegree);
    let blame = match &named(&simulation)[..] {
        [Culprit::Proven(blame)] => blame.clone(),
        other => panic!("{other:?}"),
    };
    let framed = blame.to_json().replace("\"sender\":1", "\"sender\":2");
    assert_ne!(framed, blame.to_json());
    assert_eq!(Blame::from_json(&simulation.ceremony, framed.as_bytes(), Backend::auto()).unwrap(), []);
    let other = Description {
        nonce: [4; 16],
        ..description(MinPk::Eth2, 3, 5, CeremonyPurpose::NewKey(Variant::JointFeldman))
    };
    let other = Ceremony::new(other, Backend::auto()).unwrap();
    assert_eq!(Blame::from_json(&other, blame.to_json().as_bytes(), Backend::auto()).unwrap(), []);
}

fn all_shares<S: Bls12381Suite>(shares: &[KeyShare<S>]) -> Vec<Option<KeyShare<S>>> {
    shares.iter().cloned().map(Some).collect()
}

/// The same key with other shares: with the same members (refresh), other thresholds, fewer dealers.
fn reshares<S: Bls12381Suite>(suite: S) {
    let (shared_key, shares) = previous(suite, 3, 5);
    for (t, n, dealers) in [(3, 5, 5), (4, 6, 4), (2, 3, 3)] {
        let mut description = description(suite, t, n.max(5), CeremonyPurpose::Reshare(shared_key.clone()));
        for (place, seat) in description.seats.iter_mut().enumerate() {
            seat.dealer = seat.dealer.filter(|_| place < dealers);
            seat.receiver = seat.receiver.filter(|_| place < n);
        }
        let mut held = all_shares(&shares[..dealers]);
        held.resize(n.max(5), None);
        let faults = Faults { crashes: n == 3, ..Faults::default() };
        let simulation = run(description, &held, &honest(n.max(5)), faults, 1);
        all_succeed(&simulation);
        let outcome = simulation.participants[0].end().unwrap().as_ref().unwrap();
        assert_eq!(outcome.shared_key.public_key(), shared_key.public_key());
        assert_eq!(outcome.shared_key.committee().threshold(), t);
        assert_ne!(outcome.shared_key.commitment(), shared_key.commitment());
    }
}

#[test]
fn resharing_keeps_the_key() {
    reshares(MinPk::Eth2);
    reshares(MinSig::Basic);
}

#[test]
fn shares_of_before_and_after_a_refresh_do_not_mix() {
    let (shared_key, shares) = previous(MinPk::Eth2, 2, 3);
    let description = description(MinPk::Eth2, 2, 3, CeremonyPurpose::Reshare(shared_key));
    let simulation = run(description, &all_shares(&shares), &honest(3), Faults::default(), 1);
    let outcome = simulation.participants[0].end().unwrap().as_ref().unwrap();
    let committee = outcome.shared_key.committee();
    for share in &shares {
        assert!(outcome.shared_key.commitment().proves(committee, share, Backend::auto()).is_err());
    }
}

#[test]
fn resharing_something_else_than_the_share() {
    let (shared_key, shares) = previous(MinPk::Eth2, 3, 5);
    let mut behaviours = honest(5);
    behaviours[0] = Behaviour::OtherConstant;
    let description = description(MinPk::Eth2, 3, 5, CeremonyPurpose::Reshare(shared_key.clone()));
    let simulation = run(description, &all_shares(&shares), &behaviours, Faults::default(), 1);
    all_succeed(&simulation);
    assert_eq!(misdeeds(&simulation), [Misdeed::OtherSecret]);
    let outcome = simulation.participants[1].end().unwrap().as_ref().unwrap();
    assert_eq!(outcome.shared_key.public_key(), shared_key.public_key());
}

/// A committee of dealers deals to many receivers, of whom none deals.
#[test]
fn few_dealers_and_many_receivers() {
    let mut description = description(MinPk::Eth2, 4, 10, CeremonyPurpose::NewKey(Variant::JointFeldman));
    for (place, seat) in description.seats.iter_mut().enumerate() {
        seat.dealer = seat.dealer.filter(|_| place < 3);
        seat.receiver = (place as u32).checked_sub(2).filter(|index| *index > 0);
    }
    let simulation = run(description, &[], &honest(10), Faults::default(), 2);
    assert_eq!(simulation.ceremony.dealers_needed(), 2);
    all_succeed(&simulation);
    let outcomes = simulation.participants.iter().map(|participant| participant.end().unwrap().as_ref().unwrap());
    assert_eq!(outcomes.filter(|outcome| outcome.key_share.is_some()).count(), 7);
}

/// Dealers reveal when they have closed the justification, and a receiver who does not deal may still wait for a response then. By a second
/// deal that this response names, a dealer who knows the key would withdraw. So every receiver deals, and others may deal, too.
#[test]
fn a_receiver_without_a_deal_would_let_a_dealer_withdraw() {
    let purpose = CeremonyPurpose::NewKey(Variant::CommitFirst);
    let mut description = description(MinPk::Eth2, 2, 4, purpose);
    description.seats[3].receiver = None;
    all_succeed(&run(description.clone(), &[], &honest(4), Faults::default(), 2));
    description.seats[3].receiver = Some(4);
    description.seats[3].dealer = None;
    let error = Ceremony::new(description.clone(), Backend::auto()).unwrap_err();
    assert!(matches!(&error, CeremonyError::ReceiverWithoutDeal(name) if name.as_str() == "member-4"), "{error}");
    description.purpose = CeremonyPurpose::NewKey(Variant::JointFeldman);
    let ceremony = Ceremony::new(description, Backend::auto()).unwrap();
    let json = ceremony.to_json().replace("new-key-joint-feldman", "new-key-commit-first");
    let error = Ceremony::<MinPk>::from_json(json.as_bytes(), Backend::auto()).unwrap_err();
    assert!(matches!(error, CeremonyError::ReceiverWithoutDeal(_)), "{error}");
}

#[test]
fn a_lost_share_is_recovered() {
    for (helpers, lost) in [(&[1, 2, 3][..], 4), (&[2, 3, 4, 5, 6], 1), (&[1, 3, 5, 6], 2)] {
        let (description, held, shares) = recovery(helpers, lost);
        let faults = Faults { crashes: true, ..Faults::default() };
        let simulation = run(description, &held, &honest(helpers.len() + 1), faults, 3);
        all_succeed(&simulation);
        let outcome = simulation.participants[0].end().unwrap().as_ref().unwrap();
        let recovered = outcome.key_share.as_ref().unwrap();
        assert_eq!(*recovered.secret().to_bytes(), *shares[lost - 1].secret().to_bytes());
        assert_signs(&outcome.shared_key, &shares);
    }
}

#[test]
fn liars_in_a_recovery() {
    for (lie, ends) in [
        (Behaviour::FalseContribution, true),
        (Behaviour::FalseShares, true),
        (Behaviour::OtherConstant, true),
        (Behaviour::Silent(Round::Contribution), true),
        (Behaviour::Silent(Round::Deal), true),
    ] {
        let (description, held, shares) = recovery(&[2, 3, 4, 5, 6], 1);
        let mut behaviours = honest(6);
        behaviours[1] = lie;
        let simulation = run(description, &held, &behaviours, Faults::default(), 3);
        let lost = &simulation.participants[0];
        simulation.check();
        assert_eq!(lost.end().unwrap().is_ok(), ends, "{lie:?}: {:?}", lost.culprits());
        assert!(lost.culprits().iter().all(|culprit| culprit.member() == number(2)), "{lie:?}: {:?}", lost.culprits());
        assert!(!lost.culprits().is_empty(), "{lie:?}");
        let share = lost.end().unwrap().as_ref().unwrap().key_share.as_ref().unwrap();
        assert_eq!(*share.secret().to_bytes(), *shares[0].secret().to_bytes());
    }
    // With three helpers of whom one lies, two are left, and three are needed.
    let (description, held, _) = recovery(&[2, 3, 4], 1);
    let behaviours = [Behaviour::Honest, Behaviour::FalseContribution, Behaviour::Honest, Behaviour::Honest];
    let simulation = run(description, &held, &behaviours, Faults::default(), 3);
    let lost = &simulation.participants[0];
    assert_eq!(lost.end().unwrap().as_ref().err(), Some(&CeremonyFailure::TooFewContributions { found: 2, needed: 3 }));
    assert_eq!(lost.culprits(), [Culprit::FalseContribution { member: number(2) }]);
}

/// In a recovery the second member gives the third one another deal than all others, and nobody sees the response of the third, nor the
/// third those of the others. What the third one sends fits the deal that it got. Its confirmation says which that is, so that the dealer
/// is named, and not the helper.
#[test]
fn a_helper_with_another_deal_is_not_named() {
    let (description, held, shares) = recovery(&[2, 3, 4, 5, 6], 1);
    let ceremony = Ceremony::new(description, Backend::auto()).unwrap();
    let said = |outputs: Vec<CeremonyOutput>| -> Option<CeremonyMessage> {
        outputs.into_iter().find_map(|output| match output {
            CeremonyOutput::Publish(message) => Some(message),
            _ => None,
        })
    };
    let join = |place: usize, seed: usize| {
        let identity = identities(6)[place].clone();
        let share = held[place].clone();
        Participant::join(ceremony.clone(), identity, member_seed(seed), share, Options::default()).unwrap()
    };
    let (mut participants, deals): (Vec<_>, Vec<_>) =
        (0..6).map(|place| join(place, place)).map(|(participant, outputs)| (participant, said(outputs))).unzip();
    let deals: Vec<_> = deals.into_iter().flatten().collect();
    assert_eq!(deals.iter().map(CeremonyMessage::sender).collect::<Vec<_>>(), [2, 3, 4, 5, 6].map(number));
    let others_deal: Vec<_> = said(join(1, 50).1).into_iter().chain(deals[1..].iter().cloned()).collect();
    // The second member says nothing more. Each of the others hears messages, closes the round, and answers.
    let speaking = [0, 2, 3, 4, 5];
    let mut go_on = |heard: &dyn Fn(usize) -> Vec<CeremonyMessage>| -> Vec<CeremonyMessage> {
        let mut answers = Vec::new();
        for place in speaking {
            let mut participant = participants[place].clone();
            for message in heard(place) {
                participant = participant.step(CeremonyEvent::Message(message)).0;
            }
            let (participant, outputs) = participant.step(CeremonyEvent::Close);
            participants[place] = participant;
            answers.extend(said(outputs));
        }
        answers
    };
    let responses = go_on(&|place| if place == 2 { others_deal.clone() } else { deals.clone() });
    let of_others: Vec<_> = responses.into_iter().filter(|response| response.sender() != number(3)).collect();
    let confirmations = go_on(&|place| if place == 2 { Vec::new() } else { of_others.clone() });
    assert_eq!(confirmations.len(), ceremony.confirmations_needed());
    let contributions = go_on(&|_| confirmations.clone());
    assert_eq!(contributions.len(), 4);
    go_on(&|_| contributions.clone());

    let lost = &participants[0];
    let share = lost.end().unwrap().as_ref().unwrap().key_share.as_ref().unwrap();
    assert_eq!(*share.secret().to_bytes(), *shares[0].secret().to_bytes());
    let culprits = lost.culprits();
    let is_false = |culprit: &Culprit| matches!(culprit, Culprit::FalseContribution { .. });
    assert!(!culprits.iter().any(is_false), "{culprits:?}");
    let proven = culprits.iter().filter_map(|culprit| match culprit {
        Culprit::Proven(blame) => Some(blame),
        _ => None,
    });
    let proven: Vec<_> = proven.collect();
    let [blame] = proven[..] else { panic!("{culprits:?}") };
    assert_eq!((blame.member(), blame.misdeed()), (number(2), &Misdeed::Equivocation(Round::Deal)));
    let judged = Blame::from_json(&ceremony, blame.to_json().as_bytes(), Backend::auto()).unwrap();
    assert_eq!(judged, std::slice::from_ref(blame));
}

/// What is dealt in a recovery must be zero at the lost share, or it would change it.
#[test]
fn recovery_of_another_share() {
    let (description, held, _) = recovery(&[1, 2, 3], 4);
    let simulation = run(description, &held, &honest(4), Faults::default(), 3);
    let deal = simulation.participants[1].published().next().unwrap();
    assert_eq!(judge(&simulation.ceremony, std::slice::from_ref(deal), Backend::auto()), []);
    let Body::Deal { commitment, proof, shares } = deal.body().clone() else { panic!() };
    let turned = commitment.into_iter().rev().collect();
    let turned = Body::Deal { commitment: turned, proof, shares };
    let turned = CeremonyMessage::sign(&simulation.ceremony, number(2), &simulation.identities[1], turned);
    let blames = judge(&simulation.ceremony, &[turned], Backend::auto());
    assert_eq!(blames.iter().map(Blame::misdeed).collect::<Vec<_>>(), [&Misdeed::NotZero]);
}

/// Enough dealers must be left that one of them is honest.
#[test]
fn too_few_dealers_is_a_failure() {
    let mut behaviours = honest(5);
    behaviours[..3].fill(Behaviour::Silent(Round::Deal));
    let purpose = CeremonyPurpose::NewKey(Variant::JointFeldman);
    let simulation = run(description(MinPk::Eth2, 3, 5, purpose), &[], &behaviours, Faults::default(), 1);
    for end in simulation.check() {
        assert_eq!(end.as_ref().err(), Some(&CeremonyFailure::TooFewDealers { left: 2, needed: 3 }));
    }
    let silent = |member| Culprit::Silent { round: Round::Deal, member: number(member) };
    assert_eq!(simulation.participants[4].culprits()[..3], [silent(1), silent(2), silent(3)]);
}

/// No outcome counts that too few have confirmed.
#[test]
fn too_few_confirmations_is_a_failure() {
    let mut behaviours = honest(5);
    behaviours[..2].fill(Behaviour::Silent(Round::Confirmation));
    let purpose = CeremonyPurpose::NewKey(Variant::JointFeldman);
    let simulation = run(description(MinPk::Eth2, 3, 5, purpose), &[], &behaviours, Faults::default(), 1);
    for end in simulation.check() {
        assert_eq!(end.as_ref().err(), Some(&CeremonyFailure::Unconfirmed { agreeing: 3, needed: 4 }));
    }
}

/// One of three confirms another outcome, and says to have seen what the others have seen: it stops them, and is named.
#[test]
fn a_false_confirmation_is_named() {
    for variant in VARIANTS {
        let lie = Behaviour::FalseConfirmation;
        let simulation = with_one(CeremonyPurpose::NewKey(variant), MinPk::Eth2, 2, 3, lie);
        for end in simulation.check() {
            assert_eq!(end.as_ref().err(), Some(&CeremonyFailure::Unconfirmed { agreeing: 2, needed: 3 }));
        }
        assert_eq!(named(&simulation), [Culprit::OtherOutcome { member: number(1) }]);
    }
}

/// A participant with messages of everyone else, and what it says to each message that is not as it should be.
#[test]
fn messages_that_are_not_taken() {
    let purpose = CeremonyPurpose::NewKey(Variant::JointFeldman);
    let simulation = with_one(purpose.clone(), MinPk::Eth2, 2, 3, Behaviour::Honest);
    let ceremony = &simulation.ceremony;
    let join = || {
        let identity = simulation.identities[0].clone();
        Participant::join(ceremony.clone(), identity, member_seed(0), None, Options::default()).unwrap().0
    };
    let answer = |participant: Participant<MinPk>, message: &CeremonyMessage| {
        let before = participant.to_json();
        let (after, outputs) = participant.step(CeremonyEvent::Message(message.clone()));
        let [CeremonyOutput::Refused(error)] = &outputs[..] else { panic!("{outputs:?}") };
        if !matches!(error, MessageError::Contradiction { .. }) {
            assert_eq!(*after.to_json(), *before);
        }
        error.clone()
    };
    let deal = simulation.participants[1].published().next().unwrap();
    let sender = deal.sender();
    let json = deal.to_json();
    let read = |json: &str| CeremonyMessage::from_json(json.as_bytes()).unwrap();
    assert_eq!(
        answer(join(), &read(&json.replace("\"sender\":2", "\"sender\":3"))),
        MessageError::Signature(number(3))
    );
    for none in [0, 4, u32::MAX as usize] {
        let message = read(&json.replace("\"sender\":2", &format!("\"sender\":{none}")));
        assert_eq!(answer(join(), &message), MessageError::NoSuchMember(number(none)));
    }
    let other =
        Ceremony::new(Description { nonce: [4; 16], ..description(MinPk::Eth2, 2, 3, purpose) }, Backend::auto());
    let other = other.unwrap();
    let foreign = CeremonyMessage::sign(&other, sender, &simulation.identities[1], deal.body().clone());
    let expected = MessageError::OtherCeremony { found: other.id(), expected: ceremony.id() };
    assert_eq!(answer(join(), &foreign), expected);
    let reveal = Body::Reveal { commitment: Vec::new(), blinding: Bytes(Vec::new()), proof: Bytes(Vec::new()) };
    let reveal = CeremonyMessage::sign(ceremony, sender, &simulation.identities[1], reveal);
    assert_eq!(answer(join(), &reveal), MessageError::NoRole { sender, round: Round::Reveal });
    let (taken, outputs) = join().step(CeremonyEvent::Message(deal.clone()));
    assert!(outputs.is_empty());
    assert_eq!(answer(taken.clone(), deal), MessageError::Duplicate);
    let second = Body::Deal { commitment: Vec::new(), proof: None, shares: Vec::new() };
    let second = CeremonyMessage::sign(ceremony, sender, &simulation.identities[1], second);
    assert_eq!(answer(taken, &second), MessageError::Contradiction { sender, round: Round::Deal });
    let (closed, _) = join().step(CeremonyEvent::Close);
    assert_eq!(answer(closed, deal), MessageError::Late(Round::Deal));
    for cut in 0..json.len() - 2 {
        assert!(CeremonyMessage::from_json(&json.as_bytes()[..cut]).is_err(), "{cut} bytes");
    }
}

#[test]
fn ceremonies_that_are_none() {
    let purpose = || CeremonyPurpose::NewKey(Variant::JointFeldman);
    let error = |change: &dyn Fn(&mut Description<MinPk>)| {
        let mut description = description(MinPk::Eth2, 2, 3, purpose());
        change(&mut description);
        Ceremony::new(description, Backend::auto()).unwrap_err()
    };
    assert!(matches!(error(&|d| d.threshold = 0), CeremonyError::Committee(CommitteeError::NoThreshold)));
    let above = CommitteeError::ThresholdAboveParticipants { threshold: 4, participants: 3 };
    assert!(matches!(error(&|d| d.threshold = 4), CeremonyError::Committee(found) if found == above));
    assert!(matches!(error(&|d| d.suite = MinPk::Augmented), CeremonyError::Augmented(_)));
    assert!(matches!(error(&|d| d.seats[1] = d.seats[0].clone()), CeremonyError::Twice { what: "name", .. }));
    assert!(matches!(
        error(&|d| d.seats[1].receiver = Some(1)),
        CeremonyError::IndexTwice { role: "receiver", index: 1 }
    ));
    for index in [0, 4, u32::MAX] {
        let found = error(&|d| d.seats[1].receiver = Some(index));
        assert!(matches!(found, CeremonyError::IndexMissing { role: "receiver", index: 2, count: 3 }), "{found}");
        let found = error(&|d| d.seats[1].dealer = Some(index));
        assert!(matches!(found, CeremonyError::IndexMissing { role: "dealer", index: 2, count: 3 }), "{found}");
    }
    let none = error(&|d| d.seats.iter_mut().for_each(|seat| seat.dealer = None));
    assert!(matches!(none, CeremonyError::TooFewDealers { found: 0, .. }), "{none}");
    for needed in [0, 4] {
        let found = error(&|d| d.dealers_needed = Some(needed));
        assert!(matches!(found, CeremonyError::DealersNeeded { dealers: 3, .. }), "{found}");
    }
}

#[test]
fn recoveries_that_are_none() {
    let error = |change: &dyn Fn(&mut Description<MinPk>)| {
        let mut description = recovery(&[1, 2, 3], 4).0;
        change(&mut description);
        Ceremony::new(description, Backend::auto()).unwrap_err()
    };
    assert!(matches!(error(&|d| d.threshold = 2), CeremonyError::RecoveryCommittee));
    assert!(matches!(error(&|d| d.seats[0].dealer = Some(4)), CeremonyError::RecoverySeat(_)));
    assert!(matches!(error(&|d| d.seats[1].dealer = None), CeremonyError::RecoverySeat(_)));
    assert!(matches!(
        error(&|d| {
            d.seats.remove(0);
        }),
        CeremonyError::LostIsAbsent(_)
    ));
    assert!(matches!(
        error(&|d| {
            d.seats.pop();
        }),
        CeremonyError::TooFewDealers { found: 2, needed: 3 }
    ));
    // They would never be confirmed: as many helpers as the threshold must say the same.
    for needed in 1..=2 {
        let found = error(&|d| {
            d.seats.pop();
            d.dealers_needed = Some(needed);
        });
        assert!(matches!(found, CeremonyError::TooFewDealers { found: 2, needed: 3 }), "{found}");
        let enough = Description { dealers_needed: Some(needed), ..recovery(&[1, 2, 3], 4).0 };
        assert_eq!(Ceremony::new(enough, Backend::auto()).unwrap().dealers_needed(), needed);
    }
    assert!(matches!(
        error(&|d| d.seats[1].receiver = Some(7)),
        CeremonyError::Committee(_) | CeremonyError::RecoverySeat(_)
    ));
}

#[test]
fn ceremonies_are_read_as_they_were_written() {
    let (shared_key, _) = previous(MinPk::Eth2, 3, 5);
    let recover = recovery(&[1, 2, 3], 4).0;
    let purposes = [
        CeremonyPurpose::NewKey(Variant::JointFeldman),
        CeremonyPurpose::NewKey(Variant::CommitFirst),
        CeremonyPurpose::Reshare(shared_key),
    ];
    let descriptions = purposes.map(|purpose| description(MinPk::Eth2, 3, 5, purpose));
    for description in descriptions.into_iter().chain([recover]) {
        let ceremony = Ceremony::new(description, Backend::auto()).unwrap();
        let json = ceremony.to_json();
        let read = Ceremony::<MinPk>::from_json(json.as_bytes(), Backend::auto()).unwrap();
        assert_eq!((read.id(), read.to_json()), (ceremony.id(), json.clone()));
        // Everything in it is part of its digest.
        let changed = json.replace("member-2", "member-9");
        assert_ne!(Ceremony::<MinPk>::from_json(changed.as_bytes(), Backend::auto()).unwrap().id(), ceremony.id());
        assert!(Ceremony::<MinSig>::from_json(json.as_bytes(), Backend::auto()).is_err());
        for cut in (0..json.len() - 2).step_by(37) {
            assert!(Ceremony::<MinPk>::from_json(&json.as_bytes()[..cut], Backend::auto()).is_err());
        }
        let other = json.replace("quorate-dkg-v1", "quorate-dkg-v2");
        assert!(
            Ceremony::<MinPk>::from_json(other.as_bytes(), Backend::auto()).unwrap_err().to_string().contains("v2")
        );
    }
}

#[test]
fn who_may_not_join() {
    let (shared_key, shares) = previous(MinPk::Eth2, 2, 3);
    let new_key = description(MinPk::Eth2, 2, 3, CeremonyPurpose::NewKey(Variant::JointFeldman));
    let reshare = description(MinPk::Eth2, 2, 3, CeremonyPurpose::Reshare(shared_key));
    let join = |description: &Description<MinPk>, identity: &ParticipantIdentity, share: Option<&KeyShare<MinPk>>| {
        let ceremony = Ceremony::new(description.clone(), Backend::auto()).unwrap();
        Participant::join(ceremony, identity.clone(), member_seed(0), share.cloned(), Options::default()).unwrap_err()
    };
    let identities = identities(4);
    assert!(matches!(join(&new_key, &identities[3], None), JoinError::NotAMember(_)));
    let mut rng = ChaCha20Rng::from_seed([1; 32]);
    let impostor = ParticipantIdentity::generate("member-1", &mut rng).unwrap();
    assert!(matches!(join(&new_key, &impostor, None), JoinError::NotAMember(_)));
    assert!(matches!(join(&new_key, &identities[0], Some(&shares[0])), JoinError::ShareUnneeded));
    assert!(matches!(join(&reshare, &identities[0], None), JoinError::ShareMissing(_)));
    assert!(matches!(join(&reshare, &identities[0], Some(&shares[1])), JoinError::OtherShare { .. }));
    let false_share = KeyShare::new(shares[0].index(), shares[1].secret().clone());
    assert!(matches!(join(&reshare, &identities[0], Some(&false_share)), JoinError::FalseShare(_)));
}

#[test]
fn states_and_identities_that_are_none() {
    let simulation = with_one(CeremonyPurpose::NewKey(Variant::JointFeldman), MinPk::Eth2, 2, 3, Behaviour::Honest);
    let (ceremony, identities) = (&simulation.ceremony, &simulation.identities);
    let state = simulation.participants[0].to_json();
    let read = |json: &str, identity: &ParticipantIdentity| {
        Participant::from_json(json.as_bytes(), ceremony.clone(), identity.clone(), Options::default())
    };
    assert!(read(&state, &identities[0]).is_ok());
    assert!(matches!(read(&state, &identities[1]), Err(JoinError::OtherState { .. })));
    // The state describes its ceremony.
    let alone = |json: &str, identity: &ParticipantIdentity| {
        Participant::<MinPk>::from_json_alone(json.as_bytes(), identity.clone(), Options::default())
    };
    let again = alone(&state, &identities[0]).unwrap();
    assert_eq!((again.ceremony().id(), &*again.to_json()), (ceremony.id(), &*state));
    let outcome = simulation.participants[0].end().unwrap().as_ref().unwrap();
    assert!(again.holds_share_of(&outcome.shared_key));
    assert!(matches!(alone(&state, &identities[1]), Err(JoinError::OtherState { .. })));
    let without = format!("{}}}}}\n", state.split_once(",\"description\"").unwrap().0);
    assert!(matches!(alone(&without, &identities[0]), Err(JoinError::NoDescription)));
    assert!(read(&without, &identities[0]).is_ok());
    let other_group =
        Participant::<MinSig>::from_json_alone(state.as_bytes(), identities[0].clone(), Options::default());
    assert!(matches!(other_group, Err(JoinError::Description(CeremonyError::Suite(_)))));
    for cut in (0..state.len() - 2).step_by(97) {
        assert!(matches!(read(&state[..cut], &identities[0]), Err(JoinError::Json { .. })));
    }
    let short = state.replacen("\"seed\":\"01", "\"seed\":\"", 1);
    assert!(matches!(read(&short, &identities[0]), Err(JoinError::Secret("seed"))));
    // The secrets are in no error and no debug output.
    let json = identities[0].to_json();
    assert_eq!(format!("{:?}", identities[0]), "Identity(member-1, redacted)");
    let cut = json.replacen("\"signing_secret_key\": \"", "\"signing_secret_key\": \"zz", 1);
    let error = ParticipantIdentity::from_json(cut.as_bytes()).unwrap_err();
    assert_eq!(error.to_string(), "`signing_secret_key` is not 32 bytes in hexadecimal that are a secret key");
    // A string with an escape is not borrowed, and the parser's own message would quote it.
    let digits = json.split('"').nth(7).unwrap();
    for text in [json.replace(digits, &format!("{digits}\\n")), json.replace(digits, &format!("\", \"{digits}"))] {
        let error = ParticipantIdentity::from_json(text.as_bytes()).unwrap_err();
        assert!(matches!(error, ParticipantIdentityError::Json { .. }), "{error:?}");
        assert!(!format!("{error} {error:?}").contains(digits), "{error}");
    }
    let error = read(&state.replacen("\"seed\":\"", "\"seed\":\"\\n", 1), &identities[0]).unwrap_err();
    assert!(!format!("{error} {error:?}").contains("0101"), "{error}");
    for name in ["", "-", "a b", "../x", "é", &"a".repeat(41)] {
        assert!(matches!(Name::new(name), Err(ParticipantIdentityError::Name(_))), "{name}");
    }
}

/// Everything that is signed, encrypted and hashed comes to the same bytes in each version of this crate, so that
/// participants with different versions understand each other.
#[test]
fn bytes_that_must_not_change() {
    let transcript = |purpose| {
        let simulation = with_one(purpose, MinPk::Eth2, 2, 3, Behaviour::Honest);
        let messages: String = simulation.participants[0].messages().map(CeremonyMessage::to_json).collect();
        let digest: [u8; 32] = <sha2::Sha256 as sha2::Digest>::digest(messages).into();
        (simulation.ceremony.id().to_string(), CeremonyDigest(digest).to_string())
    };
    let found = [
        transcript(CeremonyPurpose::NewKey(Variant::JointFeldman)),
        transcript(CeremonyPurpose::NewKey(Variant::CommitFirst)),
    ];
    let expected = [
        (
            "d2c1ce6648b9c121e38709ffe1635ae425ceb8253da53651a301140056b4da67",
            "eec2b370d19bd7e24c30c21941fbf3aef1dea91b0427e300f953d6719d8a6911",
        ),
        (
            "aa3a057c75f65499330a4114a96a4613063ddafb75afcd06dc12370ba7271be3",
            "ea74a76b1fc80fa9f799c25d7d70052f40fe5fb460831fa091e28f28249368bd",
        ),
    ]
    .map(|(id, digest)| (id.to_owned(), digest.to_owned()));
    assert_eq!(found, expected);
}

/// The ids of ceremonies with a previous key, as the first version computed them. They are digests of typed fields in a
/// fixed order: a feature of serde_json that an embedding program turns on, such as `preserve_order`, changes none.
#[test]
fn ids_with_a_previous_key_do_not_depend_on_features_of_serde_json() {
    let (shared_key, _) = previous(MinPk::Eth2, 3, 5);
    let lost = shared_key.committee().index(1).unwrap();
    let reshare = description(MinPk::Eth2, 3, 5, CeremonyPurpose::Reshare(shared_key.clone()));
    let mut recover = description(MinPk::Eth2, 3, 5, CeremonyPurpose::Recover { shared_key, lost });
    recover.seats[0].dealer = None;
    let expected = [
        "4877155da5d80c1e708762e3b2a1e36770aa13ed1aaebf4c83c8119524c28473",
        "6ab1c833070cf1ac694302a5dbf64ab5dfde00c81de2569280f748f18acf63dd",
    ];
    for (description, expected) in [reshare, recover].into_iter().zip(expected) {
        let ceremony = Ceremony::new(description, Backend::auto()).unwrap();
        assert_eq!(ceremony.id().to_string(), expected);
        // What a file states is read in any order, and comes to the same id.
        let mut turned: serde_json::Map<_, _> = serde_json::from_str(&ceremony.to_json()).unwrap();
        turned = turned.into_iter().rev().collect();
        let previous = turned["previous"].as_object().unwrap().clone().into_iter().rev().collect::<Vec<_>>();
        let fields: Vec<_> = previous.iter().map(|(name, value)| format!("{name:?}:{value}")).collect();
        turned.remove("previous");
        let rest = serde_json::to_string(&turned).unwrap();
        let text = format!("{{\"previous\":{{{}}},{}", fields.join(","), &rest[1..]);
        let read = Ceremony::<MinPk>::from_json(text.as_bytes(), Backend::auto()).unwrap();
        assert_eq!((read.id(), read.to_json()), (ceremony.id(), ceremony.to_json()));
    }
}
