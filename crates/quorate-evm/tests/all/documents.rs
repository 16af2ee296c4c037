//! What the documents say of numbers that this crate computes.
#![allow(clippy::unwrap_used, reason = "what a test cannot read fails it")]

use std::fs;

use quorate_evm::{
    KeyGroup,
    gas::{Calldata, MOST_GAS, Measured, Start, Steps, Storing},
};
use quorate_lab::needs::checkout;

/// The gas of the first quorum of a table: it starts from nothing, all keys are in full pages, and it is stored as the newest base.
fn first_quorum(keys: KeyGroup, members: usize) -> u64 {
    let page = keys.page_keys();
    let (key_pages, bitmap) = (members.div_ceil(page) as u64, members.div_ceil(8) as u64);
    // A page that adds its keys is called for each word of the bitmap in which it has members.
    let mut calls: Vec<_> = (0..members).map(|index| (index / page, index / 256)).collect();
    calls.dedup();
    let (copies, calls) = if keys.pages_add() { (0, calls.len() as u64) } else { (members as u64, 0) };
    let paged = members as u64;
    let steps =
        Steps { start: Start::Empty, bitmap, paged, copies, calls, key_pages, listed: key_pages, ..Steps::default() };
    // Besides the bitmap and the pages, a call has fewer than 800 bytes.
    let call = Calldata { zeros: 0, nonzeros: 800 + bitmap + 4 * key_pages };
    Measured::default().settle(keys, call, 1, 1, &steps, Storing::AsNewest).total()
}

#[test]
fn the_largest_first_quorum_is_the_documented_one() {
    let thousands = |keys: KeyGroup| {
        let (mut fits, mut most) = (0_usize, 1 << 17);
        while most - fits > 1 {
            let middle = fits.midpoint(most);
            if first_quorum(keys, middle) <= MOST_GAS { fits = middle } else { most = middle }
        }
        fits / 1_000
    };
    let [g2, g1, bls, nonuniform] =
        [KeyGroup::Bn254G2, KeyGroup::Bn254G1, KeyGroup::Bls12381G2, KeyGroup::Bls12381G2Nu].map(thousands);
    assert_eq!(bls, nonuniform);
    let expected =
        format!("about {g2},000 signers with `bn254-g2`, {g1},000 with `bn254-g1` and {bls},000 on BLS12-381");
    let document = fs::read_to_string(checkout().join("docs/onchain.md")).unwrap();
    assert!(document.replace('\n', " ").contains(&expected), "docs/onchain.md does not say: {expected}");
}
