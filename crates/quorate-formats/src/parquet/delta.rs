//! Lengths in the delta encodings of bytes, added up before the Parquet library decodes them.
//!
//! In `DELTA_LENGTH_BYTE_ARRAY` all lengths of a page stand in front of its bytes. In `DELTA_BYTE_ARRAY` a value begins like the one
//! before it: two lists of lengths stand in front, how much is repeated and how much is new. A list of lengths states how many there
//! are, and equal lengths take no bytes, so a page of thirty bytes can state a thousand million values, and a page of a megabyte can
//! unpack to terabytes. The library allocates what is stated before it reads the first value.
//!
//! Spec: apache/parquet-format, `Encodings.md` ("Delta Encoding", "Delta-length byte array", "Delta Strings").

use super::declared::PAGE_LIMIT;

/// What the values of a page take when they are decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Unpacked {
    /// Values that are not null.
    pub(super) values: u64,
    /// Bytes of all values together.
    pub(super) bytes: u64,
}

impl Unpacked {
    /// Of values in `DELTA_LENGTH_BYTE_ARRAY`, of which there may be so many.
    ///
    /// # Errors
    /// The page is damaged, or takes more than [`PAGE_LIMIT`].
    pub(super) fn of_lengths(data: &[u8], most: u64) -> Result<Self, String> {
        let lengths = Lengths::read(data, most)?;
        Self { values: lengths.count, bytes: lengths.sum }.within_limit()
    }

    /// Of values in `DELTA_BYTE_ARRAY`, of which there may be so many.
    ///
    /// # Errors
    /// The page is damaged, or takes more than [`PAGE_LIMIT`].
    pub(super) fn of_prefixes(data: &[u8], most: u64) -> Result<Self, String> {
        let repeated = Lengths::read(data, most)?;
        let new = Lengths::read(data.get(repeated.end..).unwrap_or_default(), most)?;
        if repeated.count != new.count {
            return Err(format!("a page states {} beginnings of values, and {} ends", repeated.count, new.count));
        }
        Self { values: new.count, bytes: repeated.sum + new.sum }.within_limit()
    }

    fn within_limit(self) -> Result<Self, String> {
        if self.bytes > PAGE_LIMIT {
            return Err(format!(
                "the values of a page take {} bytes, more than {} MiB, the limit; write smaller pages or row groups",
                self.bytes,
                PAGE_LIMIT >> 20
            ));
        }
        Ok(self)
    }
}

/// A list of lengths in `DELTA_BINARY_PACKED`.
struct Lengths {
    count: u64,
    sum: u64,
    /// Where it ends.
    end: usize,
}

impl Lengths {
    fn read(data: &[u8], most: u64) -> Result<Self, String> {
        let mut bits = Packed { data, at: 0 };
        let (block, blocks_parts, count) = (bits.number()?, bits.number()?, bits.number()?);
        if count > most {
            return Err(format!("a page of {most} values states {count} lengths"));
        }
        let part = block.checked_div(blocks_parts).filter(|part| *part > 0 && part.is_multiple_of(32));
        let (Some(part), true) = (part, block.is_multiple_of(128) && block.is_multiple_of(blocks_parts)) else {
            return Err(format!("a page states blocks of {block} lengths in {blocks_parts} parts"));
        };
        let mut length = bits.signed()?;
        let mut lengths = Self { count, sum: 0, end: 0 };
        let mut left = count;
        if left > 0 {
            lengths.add(length)?;
            left -= 1;
        }
        while left > 0 {
            let least = bits.signed()?;
            let widths = bits.bytes(blocks_parts)?;
            for width in widths {
                if left == 0 {
                    // Widths of parts that are not needed can be any.
                    break;
                }
                if *width > 32 {
                    return Err(format!("a page states lengths of {width} bits"));
                }
                let packed = bits.bytes(part / 8 * u64::from(*width))?;
                for index in 0..part.min(left) {
                    // The numbers wrap around, as in the library.
                    let step = (least as i32).wrapping_add(unpacked(packed, index, *width).cast_signed());
                    length = (length as i32).wrapping_add(step).into();
                    lengths.add(length)?;
                }
                left -= part.min(left);
            }
        }
        lengths.end = bits.at;
        Ok(lengths)
    }

    fn add(&mut self, length: i64) -> Result<(), String> {
        let length = u32::try_from(length).map_err(|_| format!("a page states the length {length}"))?;
        // Lengths have 31 bits and counts 32.
        self.sum += u64::from(length);
        Ok(())
    }
}

/// A number of so many bits, the lowest first.
fn unpacked(packed: &[u8], index: u64, width: u8) -> u32 {
    let first = index * u64::from(width);
    let start = (first / 8) as usize;
    let mut eight = [0; 8];
    let end = packed.len().min(start + 8);
    eight[..end - start].copy_from_slice(&packed[start..end]);
    let mask = (1_u64 << width) - 1;
    (u64::from_le_bytes(eight) >> (first % 8) & mask) as u32
}

/// What is left of a page's values.
struct Packed<'a> {
    data: &'a [u8],
    at: usize,
}

impl<'a> Packed<'a> {
    fn bytes(&mut self, length: u64) -> Result<&'a [u8], String> {
        let end = usize::try_from(length).ok().and_then(|length| self.at.checked_add(length));
        let bytes = end.and_then(|end| self.data.get(self.at..end)).ok_or("the lengths of a page are cut off")?;
        self.at += bytes.len();
        Ok(bytes)
    }

    /// A variable-length number below 2^31.
    fn number(&mut self) -> Result<u64, String> {
        let mut number = 0;
        for shift in (0..35).step_by(7) {
            let [byte] = *self.bytes(1)? else { break };
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(number).filter(|number| *number <= u64::from(u32::MAX)).ok_or_else(beyond);
            }
        }
        Err(beyond())
    }

    /// A number that is written with its sign in the lowest bit.
    fn signed(&mut self) -> Result<i64, String> {
        let zigzag = self.number()?.cast_signed();
        Ok((zigzag >> 1) ^ -(zigzag & 1))
    }
}

fn beyond() -> String {
    "a number in a page does not fit into 32 bits".to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Blocks of 128 in four parts; so many equal lengths.
    fn equal(length: u8, count: u8) -> Vec<u8> {
        let mut data = vec![0x80, 1, 4, count, length * 2];
        for _ in 0..usize::from(count.saturating_sub(1)).div_ceil(128) {
            data.extend([0; 5]);
        }
        data
    }

    #[test]
    fn equal_lengths_take_no_bytes_and_are_added_up() {
        let lengths = Unpacked::of_lengths(&equal(9, 100), 100).unwrap();
        assert_eq!(lengths, Unpacked { values: 100, bytes: 900 });
        let both = [equal(9, 100), equal(3, 100)].concat();
        assert_eq!(Unpacked::of_prefixes(&both, 100).unwrap().bytes, 1200);
        assert!(Unpacked::of_prefixes(&[equal(9, 100), equal(3, 99)].concat(), 100).is_err());
        assert_eq!(Unpacked::of_lengths(&equal(0, 0), 0).unwrap().values, 0);
    }

    #[test]
    fn lengths_of_other_widths() {
        // 5, then steps of 0 and 1 more than -1 in one bit: 4, 4, 3, 3.
        let mut data = vec![0x80, 1, 4, 5, 10, 1, 1, 0, 0, 0, 0b0000_1010];
        data.extend([0; 3]);
        assert_eq!(Unpacked::of_lengths(&data, 5).unwrap().bytes, 5 + 4 + 4 + 3 + 3);
        assert!(Unpacked::of_lengths(&data[..12], 5).is_err());
        // One less than nothing.
        data[4] = 2;
        assert!(Unpacked::of_lengths(&data, 5).unwrap_err().contains("the length -1"));
    }

    #[test]
    fn a_thousand_million_lengths_in_ten_bytes_are_refused() {
        let data = [0x80, 1, 4, 0x80, 0x94, 0xeb, 0xdc, 3, 2, 0, 0, 0, 0, 0];
        assert!(Unpacked::of_lengths(&data, 1000).unwrap_err().contains("states 1000000000 lengths"));
        for data in [&[0x80, 1, 0, 1, 2][..], &[0x81, 1, 4, 1, 2], &[0xff; 20], &[]] {
            assert!(Unpacked::of_lengths(data, 1000).is_err());
        }
    }
}
