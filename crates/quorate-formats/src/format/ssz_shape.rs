//! How a light-client object in SSZ is laid out, by its first bytes and its length.

/// How an object of a light client in SSZ is laid out, see `light_client::binary`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SszShape {
    Bootstrap {
        altair: bool,
        /// Since Electra, branches are one node longer.
        deep: bool,
    },
    Update {
        altair: bool,
        deep: bool,
        committee: bool,
        finality: bool,
    },
}

impl SszShape {
    /// The shape of an object: by the offset that it begins with, in Altair by its length.
    pub(crate) fn of(bytes: &[u8]) -> Option<Self> {
        let start: [u8; 8] = *bytes.first_chunk()?;
        // An object of Altair begins with its slot, which is below 2^32.
        if start[4..] == [0; 4]
            && let Some((_, shape)) = ALTAIR.iter().find(|(length, _)| *length == bytes.len())
        {
            return Some(*shape);
        }
        Self::of_offset(*start.first_chunk()?)
    }

    /// Whether the bytes are several objects, each behind its length (8 bytes) and the digest of its fork (4 bytes).
    pub(crate) fn is_list(bytes: &[u8]) -> bool {
        let Some((length, rest)) = bytes.split_first_chunk() else { return false };
        let length = u64::from_le_bytes(*length);
        let altair = ALTAIR.iter().any(|(fixed, _)| *fixed as u64 + 4 == length);
        let offset = rest.get(4..).and_then(|object| object.first_chunk());
        length < 1 << 20 && (altair || offset.is_some_and(|offset| Self::of_offset(*offset).is_some()))
    }

    fn of_offset(offset: [u8; 4]) -> Option<Self> {
        let offset = u32::from_le_bytes(offset);
        SINCE_CAPELLA.iter().find(|(first, _)| *first == offset).map(|(_, shape)| *shape)
    }
}

const fn update(altair: bool, deep: bool, committee: bool, finality: bool) -> SszShape {
    SszShape::Update { altair, deep, committee, finality }
}

/// The lengths of Altair's objects.
const ALTAIR: [(usize, SszShape); 4] = [
    (24_896, SszShape::Bootstrap { altair: true, deep: false }),
    (25_368, update(true, false, true, true)),
    (584, update(true, false, false, true)),
    (280, update(true, false, false, false)),
];

/// The longest of Altair's objects, in bytes.
pub(super) const ALTAIR_LONGEST: usize = 25_368;

/// The sizes of the fixed parts since Capella, which are the offsets of the first header.
const SINCE_CAPELLA: [(u32, SszShape); 7] = [
    (24_788, SszShape::Bootstrap { altair: false, deep: false }),
    (24_820, SszShape::Bootstrap { altair: false, deep: true }),
    (25_152, update(false, false, true, true)),
    (25_216, update(false, true, true, true)),
    (368, update(false, false, false, true)),
    (400, update(false, true, false, true)),
    (172, update(false, false, false, false)),
];
