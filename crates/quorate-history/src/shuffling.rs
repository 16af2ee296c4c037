//! The swap-or-not shuffle, which puts validators into committees.
//!
//! Spec: ethereum/consensus-specs, `specs/phase0/beacon-chain.md`, `compute_shuffled_index`.

use sha2::{Digest, Sha256};

/// The items in shuffled order: item `i` of the answer is the one at `compute_shuffled_index(i)`.
///
/// The specification asks for the place of one index after all rounds. Each round `f` exchanges pairs of places, so it is its own
/// inverse, and the list in the order `f₉(…f₁(f₀(i)))` is made by exchanging the pairs of the last round first. This hashes each
/// block of 256 places once a round, and not once for each index.
pub(crate) fn shuffle(items: &mut [u32], seed: &[u8; 32], rounds: u8) {
    let n = items.len() as u64;
    if n < 2 {
        return;
    }
    for round in (0..rounds).rev() {
        let pivot = Sha256::new().chain_update(seed).chain_update([round]).finalize();
        let pivot = u64::from_le_bytes(std::array::from_fn(|i| pivot[i])) % n;
        // A pair is (position, flip) with position + flip = pivot modulo n; the greater of the two decides by its bit. So the
        // greater ones are the upper half of 0..=pivot, and the upper half of the places above, where the sum is pivot + n.
        for (first, end, sum) in [(pivot / 2 + 1, pivot + 1, pivot), ((pivot + n) / 2 + 1, n, pivot + n)] {
            let mut begin = first;
            while begin < end {
                let block = begin / 256;
                let number = u32::try_from(block).expect("a list of 2^32 items has 2^24 blocks").to_le_bytes();
                let bits: [u8; 32] =
                    Sha256::new().chain_update(seed).chain_update([round]).chain_update(number).finalize().into();
                let block_end = end.min((block + 1) * 256);
                for position in begin..block_end {
                    let (at, flip) = (position as usize, (sum - position) as usize);
                    let bit = bits[at % 256 / 8] >> (at % 8) & 1;
                    // All bits of the difference, or none. A branch here would be predicted wrongly half of the time: the list of
                    // mainnet takes a fifth of the time without.
                    let exchanged = (items[at] ^ items[flip]) & 0_u32.wrapping_sub(bit.into());
                    items[at] ^= exchanged;
                    items[flip] ^= exchanged;
                }
                begin = block_end;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The specification's own words.
    fn compute_shuffled_index(mut index: u64, count: u64, seed: &[u8; 32], rounds: u8) -> u64 {
        for round in 0..rounds {
            let pivot = Sha256::new().chain_update(seed).chain_update([round]).finalize();
            let pivot = u64::from_le_bytes(pivot[..8].try_into().unwrap()) % count;
            let flip = (pivot + count - index) % count;
            let position = index.max(flip);
            let number = u32::try_from(position / 256).unwrap().to_le_bytes();
            let source = Sha256::new().chain_update(seed).chain_update([round]).chain_update(number).finalize();
            if source[(position % 256 / 8) as usize] >> (position % 8) & 1 == 1 {
                index = flip;
            }
        }
        index
    }

    #[test]
    fn agrees_with_the_specification() {
        // Lengths around the blocks of 256 places, and the smallest.
        for count in [0_u32, 1, 2, 3, 5, 8, 128, 255, 256, 257, 511, 513, 1000] {
            for (seed, rounds) in [([7; 32], 10), ([0x5a; 32], 90)] {
                let mut items: Vec<u32> = (0..count).map(|i| i * 3 + 1).collect();
                let original = items.clone();
                shuffle(&mut items, &seed, rounds);
                let expected = (0..u64::from(count))
                    .map(|i| original[compute_shuffled_index(i, u64::from(count), &seed, rounds) as usize]);
                assert_eq!(items, expected.collect::<Vec<_>>(), "{count} items");
            }
        }
    }
}
