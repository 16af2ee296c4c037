//! The container of era files: records of a type, a length and bytes (e2store).
//!
//! ```text
//! version | block … block | state | index of the blocks | index of the state
//! ```
//!
//! A record begins with eight bytes: its type (two), its length (four, little-endian) and zeros (two). An index holds the first
//! slot, for each slot where its record begins as seen from the index (0 where there is none), and the number of slots; all are
//! 64-bit little-endian numbers. Era 0 holds the genesis state and no blocks.
//!
//! Spec: <https://github.com/status-im/nimbus-eth2/blob/stable/docs/e2store.md>. The reader is our own because it is short, and because readers at hand take an
//! index for granted: here every record is found by walking over the file, and the indices have to agree with what was found.

use std::{
    collections::BTreeMap,
    io::{self, Read, Seek, SeekFrom},
};

use crate::{
    error::{EraError, RecordName},
    snappy::{self, Unpacked},
};

/// An era whose records were found. Nothing is unpacked yet.
///
/// A file may hold several eras, one after the other, each complete in itself: `era := group+`.
#[derive(Debug)]
pub struct EraFile<R> {
    reader: R,
    /// Where the next era of the file begins; none for the last one.
    next: Option<u64>,
    /// The slot of its state, which is the first slot after its blocks.
    slot: u64,
    blocks: Vec<BlockRecord>,
    state: Extent,
}

/// Where a block is, and its slot as the index states it.
#[derive(Clone, Copy, Debug)]
struct BlockRecord {
    slot: u64,
    extent: Extent,
}

/// Where a record begins, and how many bytes follow its header.
#[derive(Clone, Copy, Debug)]
struct Extent {
    offset: u64,
    length: u64,
}

impl<R: Read + Seek> EraFile<R> {
    /// Finds the records of a file with one era.
    ///
    /// # Errors
    /// The file cannot be read, is not an era file, is cut off, has several eras, or has an index that does not fit its records.
    pub fn open(reader: R) -> Result<Self, EraError> {
        let file = Self::open_at(reader, 0)?;
        match file.next {
            None => Ok(file),
            Some(next) => Err(EraError::container(next, "found another era here, expected one era in the file")),
        }
    }

    /// Finds the records of the era that begins at an offset of a file: 0, or where the one before ends ([`next`](Self::next)).
    ///
    /// # Errors
    /// The file cannot be read, no era begins there, it is cut off, or has an index that does not fit its records.
    pub fn open_at(mut reader: R, begins: u64) -> Result<Self, EraError> {
        let end = reader.seek(SeekFrom::End(0)).map_err(EraError::Read)?;
        let (mut blocks, mut states, mut indices) = (Vec::new(), Vec::new(), Vec::new());
        let (mut offset, mut next) = (begins, None);
        for number in 0.. {
            if number > MOST_RECORDS {
                return Err(EraError::container(offset, "found more records than an era has slots; is this one era?"));
            }
            let Some((kind, extent)) = header(&mut reader, offset, end)? else { break };
            match (number, kind) {
                (0, VERSION) if extent.length == 0 => {}
                (_, VERSION) if extent.length == 0 => {
                    next = Some(offset);
                    break;
                }
                (0, _) => {
                    let reason = "found another record than the version of an e2store file (65 32, no bytes); is this an era file?";
                    return Err(EraError::container(offset, reason));
                }
                (_, BLOCK) => blocks.push(extent),
                (_, STATE) => states.push(extent),
                (_, INDEX) if indices.len() == MOST_INDICES => {
                    let reason =
                        "found a third index, expected one for the state and one for the blocks of an era that has any";
                    return Err(EraError::container(offset, reason));
                }
                (_, INDEX) => indices.push(Index::read(&mut reader, extent)?),
                // The format allows further records.
                _ => {}
            }
            offset = extent.offset + HEADER + extent.length;
        }
        let end = next.unwrap_or(end);
        let [state] = states[..] else {
            return Err(EraError::container(
                end,
                format!("found {} states, expected one; if there is none, the file may be cut off", states.len()),
            ));
        };
        let (of_blocks, of_state) = match &indices[..] {
            [of_state] if blocks.is_empty() => (None, of_state),
            [of_blocks, of_state] => (Some(of_blocks), of_state),
            _ => {
                return Err(EraError::container(
                    end,
                    format!(
                        "found {} indices for {} blocks and a state, expected one for the state and one for the blocks of an era \
                         that has any; the file may be cut off",
                        indices.len(),
                        blocks.len()
                    ),
                ));
            }
        };
        of_state.must_list(&[state])?;
        let slot = of_state.first_slot;
        let blocks = of_blocks.map_or_else(|| Ok(Vec::new()), |index| index.blocks(&blocks, slot))?;
        Ok(Self { reader, next, slot, blocks, state })
    }

    /// Where the next era of the file begins; none if this is the last one.
    pub fn next(&self) -> Option<u64> {
        self.next
    }

    /// The slot of the state at the end, as the index states it: the first slot after the blocks.
    pub fn slot(&self) -> u64 {
        self.slot
    }

    /// How many blocks the file holds.
    pub fn blocks(&self) -> usize {
        self.blocks.len()
    }

    /// Where a block begins, and its slot.
    pub(crate) fn block_place(&self, index: usize) -> (u64, u64) {
        let BlockRecord { slot, extent } = self.blocks[index];
        (extent.offset, slot)
    }

    /// A block's bytes.
    pub(crate) fn block(&mut self, index: usize) -> Result<Vec<u8>, EraError> {
        let BlockRecord { slot, extent } = self.blocks[index];
        let mut bytes = Vec::new();
        let unpacked = self.unpack(extent, BLOCK_LIMIT)?.read_to_end(&mut bytes);
        unpacked.map_err(|error| EraError::unpacking(extent.offset, RecordName::Block(slot), error))?;
        Ok(bytes)
    }

    /// Where the state begins.
    pub(crate) fn state_offset(&self) -> u64 {
        self.state.offset
    }

    /// The most bytes that the state unpacks to.
    pub(crate) fn state_limit(&self) -> u64 {
        STATE_LIMIT.min(self.state.length.saturating_mul(MOST_RATIO))
    }

    /// A reader of the state's bytes.
    pub(crate) fn state(&mut self) -> Result<impl Read + '_, EraError> {
        self.unpack(self.state, self.state_limit())
    }

    fn unpack(&mut self, extent: Extent, limit: u64) -> Result<Unpacked<io::Take<&mut R>>, EraError> {
        self.reader.seek(SeekFrom::Start(extent.offset + HEADER)).map_err(EraError::Read)?;
        Ok(snappy::unpack(self.reader.by_ref().take(extent.length), limit))
    }
}

/// The header of the record at an offset; none at the end of the file.
fn header<R: Read + Seek>(reader: &mut R, offset: u64, end: u64) -> Result<Option<([u8; 2], Extent)>, EraError> {
    if offset == end {
        return Ok(None);
    }
    let cut = |reason: String| EraError::container(offset, reason + "; the file is cut off, get it again");
    if end - offset < HEADER {
        return Err(cut(format!("found {} bytes, expected the {HEADER} bytes that begin a record", end - offset)));
    }
    reader.seek(SeekFrom::Start(offset)).map_err(EraError::Read)?;
    let mut bytes = [0; HEADER as usize];
    reader.read_exact(&mut bytes).map_err(EraError::Read)?;
    let [kind, kind_2, length @ .., zero, zero_2] = bytes;
    if (zero, zero_2) != (0, 0) {
        let reason = "found no header of a record: its last two bytes must be zero; is this an era file?";
        return Err(EraError::container(offset, reason));
    }
    let length = u64::from(u32::from_le_bytes(length));
    if length > end - offset - HEADER {
        let left = end - offset - HEADER;
        return Err(cut(format!("found a record of {length} bytes, but {left} bytes are left")));
    }
    Ok(Some(([kind, kind_2], Extent { offset, length })))
}

/// Which record each slot has.
struct Index {
    offset: u64,
    first_slot: u64,
    /// For each slot where its record begins, or none.
    records: Vec<Option<u64>>,
}

impl Index {
    fn read<R: Read + Seek>(reader: &mut R, extent: Extent) -> Result<Self, EraError> {
        let Extent { offset, length } = extent;
        if length < 16 || length % 8 != 0 || length > 8 * (MOST_RECORDS + 2) {
            let reason = format!("found an index of {length} bytes, expected 16 and 8 for each slot of an era");
            return Err(EraError::container(offset, reason));
        }
        reader.seek(SeekFrom::Start(offset + HEADER)).map_err(EraError::Read)?;
        let mut bytes = Vec::new();
        reader.by_ref().take(length).read_to_end(&mut bytes).map_err(EraError::Read)?;
        let numbers: Vec<[u8; 8]> = bytes.chunks_exact(8).map(|c| c.try_into().expect("eight bytes")).collect();
        let [first_slot, places @ .., count] = &numbers[..] else {
            return Err(EraError::container(offset, "the index cannot be read to its end"));
        };
        let count = u64::from_le_bytes(*count);
        if count != places.len() as u64 {
            let reason = format!("found an index that counts {count} slots, but has places for {}", places.len());
            return Err(EraError::container(offset, reason));
        }
        let record = |place: &[u8; 8]| match i64::from_le_bytes(*place) {
            0 => Ok(None),
            place => offset.checked_add_signed(place).map(Some).ok_or_else(|| {
                EraError::container(offset, format!("found an index that points {place} bytes away, outside the file"))
            }),
        };
        let records = places.iter().map(record).collect::<Result<_, _>>()?;
        Ok(Self { offset, first_slot: u64::from_le_bytes(*first_slot), records })
    }

    /// The index lists exactly these records, in their order.
    fn must_list(&self, expected: &[Extent]) -> Result<(), EraError> {
        let listed: Vec<u64> = self.records.iter().copied().flatten().collect();
        let expected: BTreeMap<u64, ()> = expected.iter().map(|extent| (extent.offset, ())).collect();
        if let Some(wrong) = listed.iter().find(|offset| !expected.contains_key(offset)) {
            let reason = format!("found an index that points to offset {wrong}, where no record of its kind begins");
            return Err(EraError::container(self.offset, reason));
        }
        if listed.len() != expected.len() || !listed.is_sorted_by(|a, b| a < b) {
            let reason = format!(
                "found an index of {} records, but there are {} records of its kind; each must be listed once, in its order",
                listed.len(),
                expected.len()
            );
            return Err(EraError::container(self.offset, reason));
        }
        Ok(())
    }

    /// The blocks with their slots, which end before the state's.
    fn blocks(&self, found: &[Extent], state_slot: u64) -> Result<Vec<BlockRecord>, EraError> {
        self.must_list(found)?;
        if self.first_slot.checked_add(self.records.len() as u64) != Some(state_slot) {
            let reason = format!(
                "found an index of {} slots from slot {} on, expected it to end before slot {state_slot}, the state's",
                self.records.len(),
                self.first_slot
            );
            return Err(EraError::container(self.offset, reason));
        }
        let records = (0_u64..).zip(&self.records);
        let slots = records.filter_map(|(place, record)| record.map(|_| self.first_slot + place));
        Ok(slots.zip(found).map(|(slot, &extent)| BlockRecord { slot, extent }).collect())
    }
}

const HEADER: u64 = 8;
const VERSION: [u8; 2] = *b"e2";
const BLOCK: [u8; 2] = [1, 0];
const STATE: [u8; 2] = [2, 0];
const INDEX: [u8; 2] = *b"i2";
/// An era has at most 8,192 slots, and few records beside its blocks.
const MOST_RECORDS: u64 = 16_384;
/// Of the blocks and of the state.
const MOST_INDICES: usize = 2;
/// A block is sent to peers only if it has at most 10 MiB (`MAX_PAYLOAD_SIZE`).
const BLOCK_LIMIT: u64 = 16 << 20;
/// A state of mainnet with two million validators has some 300 MB.
const STATE_LIMIT: u64 = 1 << 30;
/// The format's shortest element of three bytes stands for at most 64.
const MOST_RATIO: u64 = 24;

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Write};

    use super::*;

    fn record(kind: [u8; 2], bytes: &[u8]) -> Vec<u8> {
        let length = u32::try_from(bytes.len()).unwrap().to_le_bytes();
        [&kind[..], &length, &[0, 0], bytes].concat()
    }

    fn packed(bytes: &[u8]) -> Vec<u8> {
        let mut to = snap::write::FrameEncoder::new(Vec::new());
        to.write_all(bytes).unwrap();
        to.into_inner().unwrap()
    }

    fn index(first_slot: u64, places: &[i64]) -> Vec<u8> {
        let places: Vec<u8> = places.iter().flat_map(|place| place.to_le_bytes()).collect();
        record(INDEX, &[&first_slot.to_le_bytes()[..], &places, &(places.len() as u64 / 8).to_le_bytes()].concat())
    }

    /// Slots 64 to 67 with blocks in 64 and 66, whose places in the index are changed by `lie`.
    fn era(lie: impl Fn(&mut [i64; 4], &mut i64)) -> Vec<u8> {
        era_from(64, lie)
    }

    /// The same with another slot in place of 64.
    fn era_from(slot: u64, lie: impl Fn(&mut [i64; 4], &mut i64)) -> Vec<u8> {
        let (a, b) = (record(BLOCK, &packed(b"first")), record(BLOCK, &packed(b"second")));
        let state = record(STATE, &packed(b"the state"));
        let at = [8, 8 + a.len(), 8 + a.len() + b.len(), 8 + a.len() + b.len() + state.len()].map(|at| at as i64);
        let mut places = [at[0] - at[3], 0, at[1] - at[3], 0];
        let mut state_place = at[2] - (at[3] + 8 + 16 + 32);
        lie(&mut places, &mut state_place);
        [record(VERSION, &[]), a, b, state, index(slot, &places), index(slot + 4, &[state_place])].concat()
    }

    fn open(bytes: Vec<u8>) -> Result<EraFile<Cursor<Vec<u8>>>, EraError> {
        EraFile::open(Cursor::new(bytes))
    }

    fn refused(bytes: Vec<u8>) -> String {
        open(bytes).unwrap_err().to_string()
    }

    #[test]
    fn records_are_found_with_their_slots() {
        let mut file = open(era(|_, _| ())).unwrap();
        assert_eq!((file.slot(), file.blocks()), (68, 2));
        assert_eq!((file.block_place(0), file.block_place(1).1), ((8, 64), 66));
        assert_eq!(file.block(1).unwrap(), b"second");
        let mut state = String::new();
        file.state().unwrap().read_to_string(&mut state).unwrap();
        assert_eq!(state, "the state");
    }

    /// Whoever knows how long an era is refuses it later.
    #[test]
    fn an_index_may_end_at_the_last_slot() {
        let file = open(era_from(u64::MAX - 4, |_, _| ())).unwrap();
        assert_eq!((file.slot(), file.block_place(1).1), (u64::MAX, u64::MAX - 2));
    }

    #[test]
    fn truncated_at_every_byte() {
        let whole = era(|_, _| ());
        for length in 0..whole.len() {
            let error = refused(whole[..length].to_vec());
            assert!(error.starts_with("offset "), "{length}: {error}");
        }
    }

    #[test]
    fn an_index_that_lies() {
        let error = refused(era(|blocks, _| blocks[2] += 1));
        assert!(error.contains("points to offset") && error.contains("where no record of its kind begins"), "{error}");
        // The state, as if it were a block.
        assert!(refused(era(|blocks, state| blocks[3] = *state + 56)).contains("no record of its kind"));
        // A block that is hidden, one that is listed twice, and two that are exchanged.
        assert!(refused(era(|blocks, _| blocks[2] = 0)).contains("an index of 1 records, but there are 2"));
        assert!(refused(era(|blocks, _| blocks[3] = blocks[2])).contains("an index of 3 records"));
        assert!(refused(era(|blocks, _| blocks.swap(0, 2))).contains("each must be listed once, in its order"));
        assert!(refused(era(|blocks, _| blocks[0] = i64::MIN)).contains("outside the file"));
        assert!(refused(era(|_, state| *state = 0)).contains("an index of 0 records"));
        let count = [era(|_, _| ()), index(68, &[])].concat();
        assert!(refused(count).contains("found a third index"));
    }

    #[test]
    fn a_file_of_another_kind() {
        assert!(refused(b"# Table of contents\n".to_vec()).contains("is this an era file"));
        assert!(refused(record(STATE, b"")).contains("another record than the version"));
        assert!(refused(Vec::new()).contains("found 0 states"));
    }

    #[test]
    fn snappy_bomb_of_a_block() {
        let bomb = record(BLOCK, &packed(&vec![0; 17 << 20]));
        let state = record(STATE, &packed(b"s"));
        let at = (8 + bomb.len() + state.len()) as i64;
        let indices = [index(0, &[8 - at]), index(1, &[8 + bomb.len() as i64 - at - 32])].concat();
        let mut file = open([record(VERSION, &[]), bomb, state, indices].concat()).unwrap();
        let error = file.block(0).unwrap_err().to_string();
        assert!(error.contains("offset 8, the block of slot 0: it unpacks to more than 16777216 bytes"), "{error}");
    }
}
