//! The one loader of the known-answer data: what each file is, and every signature in it as a [`Case`].
//!
//! A test takes [`signature_cases`] through the door that it tests.
//!
//! Files are found by their set (the folder) and their shape (the name), as [`catalogue`] lists them, never one by one.
//! The data grows without this repository: a file that the catalogue does not list, and an item that does not have the
//! shape of its file, are counted and printed with the reason, and the rest is read. A set of which more items are
//! skipped than read fails, because then it is the loader that is wrong.

pub mod bytes;
pub mod catalogue;

mod files;

mod case;

pub mod ethereum;
pub mod herumi;
pub mod schemes;
pub mod secrets;

pub mod drand;
pub mod wycheproof;

pub use case::{Case, CaseMessages};
pub use files::{File, Vectors};

/// Every signature in the data with its known answer, or with ours if quorate overrules the source. None if the folder
/// is absent.
pub fn signature_cases() -> Vec<Case> {
    let Some(vectors) = Vectors::open("signature cases", &["01", "03", "05", "06", "07", "09"]) else {
        return Vec::new();
    };
    let mut cases = stated_cases(&vectors);
    cases.iter_mut().filter(|case| is_overruled(case)).for_each(|case| case.expected = !case.expected);
    let valid = cases.iter().filter(|case| case.expected).count();
    println!("{} signature cases, of which {valid} are valid and {} invalid", cases.len(), cases.len() - valid);
    cases
}

/// Every signature with the verdict that its source states.
pub fn stated_cases(vectors: &Vectors) -> Vec<Case> {
    let signed = secrets::signings(vectors).into_iter().filter_map(|signing| signing.case());
    signed
        .chain(ethereum::cases(vectors))
        .chain(ethereum::batches(vectors).into_iter().filter(|batch| batch.expected).flat_map(|batch| batch.members))
        .chain(herumi::cases(vectors))
        .chain(schemes::cases(vectors))
        .chain(drand::cases(vectors))
        .chain(wycheproof::cases(vectors))
        .collect()
}

/// Whether quorate contradicts the source on purpose. The reasons are in the table of known disagreements.
pub fn is_overruled(case: &Case) -> bool {
    case.set == herumi::SET && case.expected && case.keys.iter().any(|key| key.first() == Some(&0xc0))
}
