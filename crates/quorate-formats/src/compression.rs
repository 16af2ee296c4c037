//! Inputs that are packed with gzip or zstd, unpacked while they are read.
//!
//! The first bytes decide, not the name of the file. What is unpacked is streamed, so it takes no more memory than the same input
//! that is not packed, and meets the same limits. zstd may keep a window of up to 128 MiB beside it.

use std::error::Error;
use std::fmt;
use std::io::{self, BufRead, BufReader, Cursor, Read};

use flate2::bufread::MultiGzDecoder;

use crate::format::foreign::{GZIP_MAGIC, ZSTD_MAGIC, begins_like_zstd};

/// An input that may have been packed.
pub struct Unpacked {
    /// Its content.
    pub reader: Box<dyn BufRead + Send>,
    /// Whether it was packed.
    pub was_packed: bool,
}

/// The content of an input, unpacked if its first bytes say that it is gzip or zstd.
///
/// Waits for as few bytes as decide it: one or two for most inputs.
///
/// # Errors
/// Reading fails. Damage that is found later is an error of the returned reader, with the kind [`io::ErrorKind::InvalidData`].
pub fn unpack(mut reader: impl BufRead + Send + 'static) -> io::Result<Unpacked> {
    let mut start = Vec::new();
    let undecided = |start: &[u8]| {
        let may_be_gzip = start.len() < GZIP_MAGIC.len() && GZIP_MAGIC.starts_with(start);
        may_be_gzip || (start.len() < ZSTD_MAGIC.len() && begins_like_zstd(start))
    };
    while undecided(&start) {
        let Some(byte) = reader.fill_buf()?.first().copied() else { break };
        start.push(byte);
        reader.consume(1);
    }
    let codec = match &start {
        start if start.starts_with(&GZIP_MAGIC) => Some("gzip"),
        start if start.len() == ZSTD_MAGIC.len() && begins_like_zstd(start) => Some("zstd"),
        _ => None,
    };
    let whole = Cursor::new(start).chain(reader);
    let Some(codec) = codec else { return Ok(Unpacked { reader: Box::new(whole), was_packed: false }) };
    let content: Box<dyn Read + Send> = match codec {
        "gzip" => Box::new(Unpacking { content: MultiGzDecoder::new(whole), codec }),
        _ => {
            let mut content = zstd::stream::read::Decoder::with_buffer(whole)?;
            content.window_log_max(ZSTD_WINDOW_LOG)?;
            Box::new(Unpacking { content, codec })
        }
    };
    Ok(Unpacked { reader: Box::new(BufReader::with_capacity(READ_AHEAD, content)), was_packed: true })
}

/// The largest window: 128 MiB. Only `zstd --long=28` and above ask for more.
const ZSTD_WINDOW_LOG: u32 = 27;
const READ_AHEAD: usize = 1 << 16;

/// Says which errors are those of the packed content. Those of the operating system stay as they are.
struct Unpacking<R> {
    content: R,
    codec: &'static str,
}

impl<R: Read> Read for Unpacking<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.content.read(buffer).map_err(|error| {
            if error.raw_os_error().is_some() || error.kind() == io::ErrorKind::Interrupted {
                return error;
            }
            let damaged = Damaged { codec: self.codec, reason: error.to_string() };
            io::Error::new(io::ErrorKind::InvalidData, damaged)
        })
    }
}

/// Why an input cannot be unpacked.
#[derive(Debug)]
struct Damaged {
    codec: &'static str,
    reason: String,
}

impl fmt::Display for Damaged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { codec, reason } = self;
        write!(f, "it is packed with {codec} and damaged or cut off ({reason}); write or fetch it again")
    }
}

impl Error for Damaged {}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    const TEXT: &[u8] = b"{\"id\": 1}\n";

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    fn content(bytes: Vec<u8>) -> io::Result<(Vec<u8>, bool)> {
        let mut unpacked = unpack(BufReader::with_capacity(1, Cursor::new(bytes)))?;
        let mut content = Vec::new();
        unpacked.reader.read_to_end(&mut content)?;
        Ok((content, unpacked.was_packed))
    }

    #[test]
    fn both_codecs_and_none() {
        let zstd = zstd::encode_all(TEXT, 3).unwrap();
        for packed in [gzip(TEXT), zstd.clone()] {
            assert_eq!(content(packed).unwrap(), (TEXT.to_vec(), true));
        }
        assert_eq!(content(TEXT.to_vec()).unwrap(), (TEXT.to_vec(), false));
        for short in [&b""[..], &[0x1f], &[0x28, 0xb5], &[0x28, 0xb5, 0x2f, 0]] {
            assert_eq!(content(short.to_vec()).unwrap(), (short.to_vec(), false));
        }
        // Files that were packed one by one and put together.
        assert_eq!(content([gzip(TEXT), gzip(TEXT)].concat()).unwrap().0, TEXT.repeat(2));
        assert_eq!(content([zstd.clone(), zstd].concat()).unwrap().0, TEXT.repeat(2));
    }

    /// As pzstd writes it: before each frame one that is skipped, with the size of the next.
    #[test]
    fn zstd_that_begins_with_a_skippable_frame() {
        let skipped = [0x50, 0x2a, 0x4d, 0x18, 4, 0, 0, 0, 1, 2, 3, 4];
        let frame = [&skipped[..], &zstd::encode_all(TEXT, 3).unwrap()[..]].concat();
        assert_eq!(content(frame.clone()).unwrap(), (TEXT.to_vec(), true));
        assert_eq!(content(frame.repeat(2)).unwrap().0, TEXT.repeat(2));
        for short in [&b"["[..], b"[1]\n", b"PAR1", &[0x50, 0x2a, 0x4d]] {
            assert_eq!(content(short.to_vec()).unwrap(), (short.to_vec(), false));
        }
    }

    #[test]
    fn what_is_damaged_or_cut_off_is_invalid_data() {
        let (gzip, zstd) = (gzip(&TEXT.repeat(100)), zstd::encode_all(&TEXT.repeat(100)[..], 3).unwrap());
        let mut flipped = gzip.clone();
        flipped[12] ^= 0xff;
        for damaged in [gzip[..gzip.len() - 3].to_vec(), zstd[..zstd.len() - 3].to_vec(), flipped] {
            let error = content(damaged).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidData, "{error}");
            assert!(error.to_string().contains("write or fetch it again"), "{error}");
        }
    }
}
