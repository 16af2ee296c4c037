//! A file whose end is an error.
//!
//! At the end of a file the Parquet library's reader of page headers skips as many bytes as the header says, though there are
//! none. A damaged header can keep it skipping for hours. A file that is whole is never read past its end, so here the end of
//! the file is an error.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};

use ::parquet::errors::{ParquetError, Result};
use ::parquet::file::reader::{ChunkReader, Length};
use bytes::Bytes;

/// Reads a file and fails at its end.
pub(super) struct WholeFile(pub(super) File);

impl Length for WholeFile {
    fn len(&self) -> u64 {
        self.0.len()
    }
}

impl ChunkReader for WholeFile {
    type T = BufReader<EndFails>;

    fn get_read(&self, start: u64) -> Result<Self::T> {
        let mut file = self.0.try_clone()?;
        file.seek(SeekFrom::Start(start))?;
        Ok(BufReader::new(EndFails(file)))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        // Checked before memory for so many bytes is allocated.
        if start.checked_add(length as u64).is_none_or(|end| end > self.len()) {
            return Err(ParquetError::EOF(format!(
                "{length} bytes at offset {start} reach beyond the end of the file"
            )));
        }
        self.0.get_bytes(start, length)
    }
}

pub(super) struct EndFails(File);

impl Read for EndFails {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.0.read(buffer)? {
            0 if !buffer.is_empty() => Err(io::ErrorKind::UnexpectedEof.into()),
            read => Ok(read),
        }
    }
}
