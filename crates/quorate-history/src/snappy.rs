//! Framed Snappy, with a bound on what it unpacks to.

use std::io::{self, Read};

use snap::read::FrameDecoder;

/// Unpacks a record, at most `limit` bytes of it: 100 KB of packed zeros are 2 MB, and a file may have many of them.
///
/// A reader that reaches the limit gets an error of the kind [`io::ErrorKind::InvalidData`], and so does a reader of damaged data.
pub(crate) fn unpack<R: Read>(packed: R, limit: u64) -> Unpacked<R> {
    Unpacked { inner: FrameDecoder::new(packed), left: limit, limit }
}

/// What [`unpack`] reads.
pub(crate) struct Unpacked<R: Read> {
    inner: FrameDecoder<R>,
    left: u64,
    limit: u64,
}

impl<R: Read> Read for Unpacked<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if into.is_empty() {
            return Ok(0);
        }
        // One byte more than is allowed shows that there is more.
        let most = usize::try_from(self.left.saturating_add(1)).unwrap_or(usize::MAX).min(into.len());
        let read = self.inner.read(&mut into[..most]).map_err(damaged)?;
        match self.left.checked_sub(read as u64) {
            Some(left) => self.left = left,
            None => {
                let text = format!("it unpacks to more than {} bytes, which no object of a chain has", self.limit);
                return Err(io::Error::new(io::ErrorKind::InvalidData, text));
            }
        }
        Ok(read)
    }
}

/// snap reports damage as an error of another kind, or as an end that comes too early.
fn damaged(error: io::Error) -> io::Error {
    match error.kind() {
        io::ErrorKind::Other | io::ErrorKind::UnexpectedEof => {
            io::Error::new(io::ErrorKind::InvalidData, format!("the packed data is damaged: {error}"))
        }
        _ => error,
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn packed(bytes: &[u8]) -> Vec<u8> {
        let mut to = snap::write::FrameEncoder::new(Vec::new());
        to.write_all(bytes).unwrap();
        to.into_inner().unwrap()
    }

    #[test]
    fn snappy_bomb() {
        let bomb = packed(&vec![0; 1 << 20]);
        assert!(bomb.len() < 1 << 16);
        let mut into = Vec::new();
        let error = unpack(&bomb[..], (1 << 20) - 1).read_to_end(&mut into).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
        assert!(into.len() < 1 << 20 && error.to_string().contains("more than 1048575 bytes"), "{error}");
        assert_eq!(unpack(&bomb[..], 1 << 20).read_to_end(&mut Vec::new()).unwrap(), 1 << 20);
    }

    #[test]
    fn damaged_frames() {
        let mut bytes = packed(&[7; 1000]);
        let last = bytes.len() - 1;
        for cut in [11, last] {
            let error = unpack(&bytes[..cut], 1 << 20).read_to_end(&mut Vec::new()).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidData, "{cut}: {error}");
        }
        // The checksum of the first chunk, behind the stream's ten bytes and the chunk's four.
        bytes[14] ^= 1;
        assert!(unpack(&bytes[..], 1 << 20).read_to_end(&mut Vec::new()).is_err());
    }
}
