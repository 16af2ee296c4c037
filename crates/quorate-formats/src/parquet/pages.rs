//! The pages of a column, refused before they take more memory than the limits allow.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use ::parquet::basic::{Compression, Encoding, Type};
use ::parquet::column::page::{Page, PageMetadata, PageReader};
use ::parquet::errors::{ParquetError, Result};
use ::parquet::file::metadata::ColumnChunkMetaData;
use ::parquet::file::properties::ReaderProperties;
use ::parquet::file::reader::ChunkReader;
use ::parquet::file::serialized_reader::SerializedPageReader;
use flate2::read::MultiGzDecoder;

use super::declared::{PAGE_LIMIT, PageSizes};
use super::delta::Unpacked;
use super::whole_file::WholeFile;

/// The largest dictionary in memory: 16 MiB. Common writers stop at 1 MiB.
pub const DICTIONARY_LIMIT: u64 = 16 << 20;
/// What the pages and dictionaries of all columns together take in memory, at most: 256 MiB.
pub const PAGES_LIMIT: u64 = 256 << 20;
/// The most elements of a list column that one page may hold, or one list that runs over several pages: 2,097,152.
pub const ELEMENTS_LIMIT: u64 = 2 << 20;

/// What the columns of a file hold together.
#[derive(Clone, Debug, Default)]
pub(super) struct Budget(Arc<AtomicU64>);

/// The elements that pages delivered while one list is read, and the bytes of these pages, which the list holds.
#[derive(Clone, Debug, Default)]
pub(super) struct ElementCount(Arc<(AtomicU64, AtomicU64)>);

impl ElementCount {
    /// The next list begins.
    pub(super) fn restart(&self) {
        self.0.0.store(0, Ordering::Relaxed);
        self.0.1.store(0, Ordering::Relaxed);
    }

    fn add(&self, elements: u64, bytes: u64) -> Result<()> {
        if self.0.0.fetch_add(elements, Ordering::Relaxed) + elements > ELEMENTS_LIMIT {
            return Err(refused(format!(
                "a page or a list has more than {ELEMENTS_LIMIT} elements, the limit; write smaller pages or row groups"
            )));
        }
        if self.0.1.fetch_add(bytes, Ordering::Relaxed) + bytes > PAGES_LIMIT {
            return Err(refused(format!(
                "a list stands in pages of more than {} MiB, the limit; split the claim",
                PAGES_LIMIT >> 20
            )));
        }
        Ok(())
    }
}

/// The pages of one column in one row group.
pub(super) struct Pages {
    inner: SerializedPageReader<WholeFile>,
    file: Arc<WholeFile>,
    compression: Compression,
    physical: Type,
    /// Whether pages have repetition levels, and definition levels.
    levels: (bool, bool),
    /// Where the next page begins, and where the last one ends.
    next: u64,
    end: u64,
    budget: Budget,
    /// Bytes that the current dictionary and the current page take.
    dictionary: u64,
    page: u64,
    /// None if the column holds no lists.
    elements: Option<ElementCount>,
}

impl Pages {
    pub(super) fn new(
        file: &Arc<WholeFile>,
        chunk: &ColumnChunkMetaData,
        rows: usize,
        budget: &Budget,
        elements: Option<ElementCount>,
    ) -> Result<Self> {
        // The fallback of LZ4 to its older framing unpacks without a limit.
        let properties = ReaderProperties::builder().set_backward_compatible_lz4(false).build();
        let inner = SerializedPageReader::new_with_properties(file.clone(), chunk, rows, None, Arc::new(properties))?;
        let (start, length) = chunk.byte_range();
        Ok(Self {
            inner,
            file: file.clone(),
            compression: chunk.compression(),
            physical: chunk.column_type(),
            levels: (chunk.column_descr().max_rep_level() > 0, chunk.column_descr().max_def_level() > 0),
            next: start,
            end: start.saturating_add(length),
            budget: budget.clone(),
            dictionary: 0,
            page: 0,
            elements,
        })
    }

    /// The sizes of the next page that is not an index, checked, and where that page begins; none at the end of the column.
    fn declared(&self) -> Result<Option<(u64, PageSizes)>> {
        let mut at = self.next;
        while at < self.end {
            let sizes = PageSizes::read(self.file.get_read(at)?).map_err(|error| refused(error.to_string()))?;
            if sizes.uncompressed > PAGE_LIMIT || sizes.compressed > PAGE_LIMIT {
                return Err(refused(format!(
                    "a page states a size of {} bytes, more than {} MiB, the limit; write smaller pages or row groups",
                    sizes.uncompressed.max(sizes.compressed),
                    PAGE_LIMIT >> 20
                )));
            }
            if !sizes.is_index {
                return Ok(Some((at, sizes)));
            }
            at += sizes.header + sizes.compressed;
        }
        Ok(None)
    }

    /// The library unpacks gzip to its end, whatever size the header states. So the end is looked for first.
    fn check_gzip(&self, at: u64, sizes: PageSizes) -> Result<()> {
        let compressed = self.file.get_bytes(at + sizes.header, to_usize(sizes.compressed))?;
        let packed = compressed.get(to_usize(sizes.levels)..).unwrap_or_default();
        let mut unpacked = MultiGzDecoder::new(packed).take(sizes.uncompressed + 1);
        // What is damaged before that is for the library to refuse.
        let length = io::copy(&mut unpacked, &mut io::sink()).unwrap_or_default();
        if length > sizes.uncompressed {
            return Err(refused("a page unpacks to more bytes than its header states".to_owned()));
        }
        Ok(())
    }

    fn reserve(&mut self, bytes: u64, is_dictionary: bool) -> Result<()> {
        let before = if is_dictionary { &mut self.dictionary } else { &mut self.page };
        let freed = std::mem::replace(before, bytes);
        let held = self.budget.0.fetch_add(bytes, Ordering::Relaxed) + bytes;
        self.budget.0.fetch_sub(freed, Ordering::Relaxed);
        if held - freed > PAGES_LIMIT {
            return Err(refused(format!(
                "the pages of its columns take more than {} MiB together, the limit; write smaller pages or row groups",
                PAGES_LIMIT >> 20
            )));
        }
        Ok(())
    }

    /// Checks what only a page itself states, before its values are decoded.
    fn check(&mut self, page: &Page) -> Result<()> {
        let values = u64::from(page.num_values());
        if let Page::DictionaryPage { buf, .. } = page {
            let length = buf.len() as u64;
            if length > DICTIONARY_LIMIT {
                return Err(refused(format!(
                    "a dictionary takes {length} bytes, more than {} MiB, the limit; write this column without a dictionary",
                    DICTIONARY_LIMIT >> 20
                )));
            }
            // Memory for the entries is allocated by their number, so that is counted beside the bytes. In the file an entry begins
            // with four bytes of length, or has a fixed width.
            let narrowest = if self.physical == Type::BYTE_ARRAY { 4 } else { 1 };
            if values.saturating_mul(narrowest) > length {
                return Err(refused(format!("a dictionary of {length} bytes states {values} entries")));
            }
            return Ok(());
        }
        if let Some(elements) = &self.elements {
            elements.add(values, self.page)?;
        }
        self.check_lengths(page, values)
    }

    /// Reserves what the library allocates for values in the delta encodings of bytes.
    fn check_lengths(&mut self, page: &Page, values: u64) -> Result<()> {
        let unpacked = match page.encoding() {
            Encoding::DELTA_LENGTH_BYTE_ARRAY => Unpacked::of_lengths,
            Encoding::DELTA_BYTE_ARRAY => Unpacked::of_prefixes,
            _ => return Ok(()),
        };
        if !matches!(self.physical, Type::BYTE_ARRAY | Type::FIXED_LEN_BYTE_ARRAY) {
            return Err(refused(format!(
                "a column of the type {} has the encoding {}",
                self.physical,
                page.encoding()
            )));
        }
        let unpacked = unpacked(self.values_of(page)?, values).map_err(refused)?;
        let repeats = page.encoding() == Encoding::DELTA_BYTE_ARRAY;
        // Two lengths of four bytes each, and values that do not stand in the page as they are.
        let bytes = 8 * unpacked.values + if repeats { unpacked.bytes } else { 0 };
        self.reserve(self.page + bytes, false)
    }

    /// The bytes of a page behind its levels.
    fn values_of<'a>(&self, page: &'a Page) -> Result<&'a [u8]> {
        let cut_off = || refused("the levels of a page are cut off".to_owned());
        match page {
            Page::DataPage { buf, def_level_encoding, rep_level_encoding, .. } => {
                let levels = [(self.levels.0, rep_level_encoding), (self.levels.1, def_level_encoding)];
                let mut rest = buf.as_ref();
                for (_, encoding) in levels.into_iter().filter(|(has_levels, _)| *has_levels) {
                    if *encoding != Encoding::RLE {
                        return Err(refused(format!(
                            "a page with the encoding {} has levels in {encoding}",
                            page.encoding()
                        )));
                    }
                    let (length, after) = rest.split_first_chunk().ok_or_else(cut_off)?;
                    let length = to_usize(u32::from_le_bytes(*length).into());
                    rest = after.get(length..).ok_or_else(cut_off)?;
                }
                Ok(rest)
            }
            Page::DataPageV2 { buf, def_levels_byte_len, rep_levels_byte_len, .. } => {
                let levels = u64::from(*def_levels_byte_len) + u64::from(*rep_levels_byte_len);
                buf.get(to_usize(levels)..).ok_or_else(cut_off)
            }
            Page::DictionaryPage { .. } => Err(refused("a dictionary has the encoding of a page of values".to_owned())),
        }
    }

    /// The next page, which may hold no values.
    fn page(&mut self) -> Result<Option<Page>> {
        let Some((at, sizes)) = self.declared()? else { return Ok(None) };
        if matches!(self.compression, Compression::GZIP(_)) {
            self.check_gzip(at, sizes)?;
        }
        // Reserved as a page, because the header's kind is the library's to read; moved below.
        self.reserve(sizes.uncompressed.max(sizes.compressed), false)?;
        let page = self.inner.get_next_page()?;
        self.next = at + sizes.header + sizes.compressed;
        if let Some(page) = &page {
            self.check(page)?;
            if page.is_dictionary_page() {
                self.reserve(0, false)?;
                // The entries take 32 bytes each beside the dictionary's own bytes.
                self.reserve(sizes.uncompressed + 32 * u64::from(page.num_values()), true)?;
            }
        }
        Ok(page)
    }
}

impl PageReader for Pages {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        loop {
            match self.page()? {
                // The library takes it for the end of the column, and rows may follow.
                Some(page) if page.is_data_page() && page.num_values() == 0 => {}
                page => return Ok(page),
            }
        }
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        match self.declared()? {
            Some(_) => self.inner.peek_next_page(),
            None => Ok(None),
        }
    }

    fn skip_next_page(&mut self) -> Result<()> {
        Err(refused("pages are read in order".to_owned()))
    }
}

impl Iterator for Pages {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        self.budget.0.fetch_sub(self.dictionary + self.page, Ordering::Relaxed);
    }
}

fn refused(reason: String) -> ParquetError {
    ParquetError::General(reason)
}

fn to_usize(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}
