//! What a Parquet file declares about its own sizes, read before the Parquet library allocates memory for it.
//!
//! The library believes what page headers and the footer state: a page header of thirty bytes makes it allocate two gigabytes. It
//! does not show the headers to its callers, so their first fields are read here. Headers and footer are structs of Thrift's
//! compact protocol. Whatever the library could read in another way than this module is refused: a field out of order, a field
//! that stands twice, a number that does not fit.
//!
//! Spec: apache/thrift, `doc/specs/thrift-compact-protocol.md`; apache/parquet-format, `parquet.thrift` (`PageHeader`).

use std::io::{self, Read};

/// The largest page in memory: 128 MiB. The largest that a common writer makes are DuckDB's of 100 MB.
pub const PAGE_LIMIT: u64 = 128 << 20;

/// The sizes in the header of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PageSizes {
    /// Bytes of the header.
    pub(super) header: u64,
    /// Bytes of the page in the file.
    pub(super) compressed: u64,
    /// Bytes of the page in memory.
    pub(super) uncompressed: u64,
    /// Bytes of levels that stand in front of what is packed, in a page of version 2.
    pub(super) levels: u64,
    /// Whether the page is an index page, which readers pass over.
    pub(super) is_index: bool,
}

impl PageSizes {
    /// Reads a header.
    ///
    /// # Errors
    /// The bytes end, or are no header as every writer writes it.
    pub(super) fn read(reader: impl Read) -> io::Result<Self> {
        let mut thrift = Thrift { reader, read: 0 };
        let (kind, uncompressed, compressed) = (thrift.size_field()?, thrift.size_field()?, thrift.size_field()?);
        let mut levels = 0;
        thrift.fields(3, |thrift, kind, id| {
            if id != VERSION_2 || kind != STRUCT {
                return thrift.skip(kind, DEPTH);
            }
            thrift.fields(0, |thrift, kind, id| {
                if !LEVEL_LENGTHS.contains(&id) || kind != I32 {
                    return thrift.skip(kind, DEPTH);
                }
                levels += thrift.size()?;
                Ok(())
            })
        })?;
        Ok(Self { header: thrift.read, compressed, uncompressed, levels, is_index: kind == INDEX_PAGE })
    }
}

/// Walks through a footer, and refuses a list of so many elements that the memory for them would be out of proportion.
///
/// # Errors
/// The footer is damaged or too large.
pub(super) fn check_footer(footer: &[u8]) -> io::Result<()> {
    if footer.len() > FOOTER_LIMIT {
        return Err(unfit("the footer is longer than 8 MiB, the limit; write fewer row groups a file"));
    }
    Thrift { reader: footer, read: 0 }.skip(STRUCT, DEPTH)
}

/// The longest footer: 8 MiB, some ten thousand row groups. In memory it takes at most about 25 times as much.
pub(super) const FOOTER_LIMIT: usize = 8 << 20;
/// The longest list in a footer. The library allocates some hundred bytes for each element before it reads the first.
const LIST_LIMIT: u64 = 100_000;
/// How deep structs and lists lie in each other, at most. Parquet's own take seven levels.
const DEPTH: u32 = 16;
const INDEX_PAGE: u64 = 1;

/// `data_page_header_v2` in a page header, and in it `definition_levels_byte_length` and `repetition_levels_byte_length`.
const VERSION_2: u64 = 8;
const LEVEL_LENGTHS: [u64; 2] = [5, 6];

const I32: u8 = 5;
const STRUCT: u8 = 12;
/// The head of an i32 field whose id is one more than that of the field before it.
const NEXT_I32: u8 = 0x15;

struct Thrift<R> {
    reader: R,
    read: u64,
}

impl<R: Read> Thrift<R> {
    fn byte(&mut self) -> io::Result<u8> {
        let mut byte = [0];
        self.reader.read_exact(&mut byte)?;
        self.read += 1;
        Ok(byte[0])
    }

    /// A variable-length number below 2^63.
    fn number(&mut self) -> io::Result<u64> {
        let mut number = 0;
        for shift in (0..63).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err(unfit("a number of a header does not fit into 63 bits"))
    }

    /// The next field, an i32 that is not negative.
    fn size_field(&mut self) -> io::Result<u64> {
        if self.byte()? != NEXT_I32 {
            return Err(unfit("a page header does not begin with its type and its sizes"));
        }
        self.size()
    }

    /// An i32 that is not negative.
    fn size(&mut self) -> io::Result<u64> {
        // Negative numbers are the odd ones.
        let zigzag = self.number()?;
        if zigzag % 2 == 1 || zigzag > u64::from(u32::MAX) {
            return Err(unfit("a page header states a size that is negative or beyond 2 GiB"));
        }
        Ok(zigzag / 2)
    }

    /// The type and the id of the next field; none at the end of the struct.
    fn field(&mut self, last: u64) -> io::Result<Option<(u8, u64)>> {
        let head = self.byte()?;
        let (delta, kind) = (u64::from(head >> 4), head & 0x0f);
        match (kind, delta) {
            (0, _) => Ok(None),
            (_, 0) => Ok(Some((kind, self.number()? / 2))),
            _ => Ok(Some((kind, last + delta))),
        }
    }

    /// Calls for each field of a struct after the one with the id `last`. The ids must rise.
    fn fields(&mut self, mut last: u64, mut each: impl FnMut(&mut Self, u8, u64) -> io::Result<()>) -> io::Result<()> {
        while let Some((kind, id)) = self.field(last)? {
            if id <= last {
                return Err(unfit("the fields of a page header are not in order"));
            }
            each(self, kind, id)?;
            last = id;
        }
        Ok(())
    }

    fn skip_bytes(&mut self, length: u64) -> io::Result<()> {
        let skipped = io::copy(&mut self.reader.by_ref().take(length), &mut io::sink())?;
        self.read += skipped;
        if skipped == length { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
    }

    fn skip(&mut self, kind: u8, depth: u32) -> io::Result<()> {
        let deeper = depth.checked_sub(1).ok_or_else(|| unfit("a header's structs lie too deep in each other"))?;
        match kind {
            1 | 2 => Ok(()),
            3 => self.skip_bytes(1),
            4..=6 => self.varint(),
            7 => self.skip_bytes(8),
            8 => {
                let length = self.number()?;
                self.skip_bytes(length)
            }
            9 | 10 => self.skip_list(deeper),
            STRUCT => {
                while let Some((kind, _)) = self.field(0)? {
                    self.skip(kind, deeper)?;
                }
                Ok(())
            }
            13 => self.skip_bytes(16),
            _ => Err(unfit("a header has a field of a type that Parquet does not use")),
        }
    }

    fn varint(&mut self) -> io::Result<()> {
        while self.byte()? & 0x80 != 0 {}
        Ok(())
    }

    fn skip_list(&mut self, depth: u32) -> io::Result<()> {
        let head = self.byte()?;
        if head == 0 {
            return Ok(());
        }
        let length = if head >> 4 == 15 { self.number()? } else { u64::from(head >> 4) };
        if length > LIST_LIMIT {
            return Err(unfit("a list of the footer or of a header has more than 100,000 elements, the limit"));
        }
        for _ in 0..length {
            // A boolean has no bytes as a field, but one byte as an element.
            match head & 0x0f {
                1 | 2 => self.skip_bytes(1)?,
                kind => self.skip(kind, depth)?,
            }
        }
        Ok(())
    }
}

fn unfit(reason: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Type 0 (data page), 300 bytes in memory, 100 in the file, then a struct in field 5.
    const HEADER: [u8; 13] = [0x15, 0, 0x15, 0xd8, 4, 0x15, 0xc8, 1, 0x2c, 0x15, 2, 0, 0];

    #[test]
    fn sizes_of_a_page() {
        let sizes = PageSizes::read(&[&HEADER[..], &[9, 9]].concat()[..]).unwrap();
        assert_eq!(sizes, PageSizes { header: 13, compressed: 100, uncompressed: 300, levels: 0, is_index: false });
        for end in 0..HEADER.len() {
            assert!(PageSizes::read(&HEADER[..end]).is_err());
        }
    }

    #[test]
    fn a_size_that_stands_twice_or_is_negative_is_refused() {
        // Field 2 once more, by its number.
        let mut twice = HEADER[..8].to_vec();
        twice.extend([0x05, 4, 0xfe, 0xff, 0xff, 0xff, 0x0f, 0]);
        assert!(PageSizes::read(&twice[..]).is_err());
        assert!(PageSizes::read(&[0x15, 0, 0x15, 1, 0x15, 0, 0][..]).is_err());
        let beyond = [0x15, 0, 0x15, 0x80, 0x80, 0x80, 0x80, 0x10, 0x15, 0, 0];
        assert!(PageSizes::read(&beyond[..]).is_err());
    }

    #[test]
    fn a_footer_with_an_endless_list_is_refused() {
        assert!(check_footer(&[0x15, 2, 0x19, 0x2c, 0, 0, 0]).is_ok());
        assert!(check_footer(&[0x19, 0xfc, 0xff, 0xff, 0xff, 0xff, 7, 0]).is_err());
        assert!(check_footer(&vec![0x1c; 1000]).is_err());
        assert!(check_footer(&vec![0; FOOTER_LIMIT + 1]).is_err());
    }
}
