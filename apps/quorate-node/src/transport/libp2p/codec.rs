//! Requests and responses on a stream: four bytes of length, the most significant first, and so many bytes.

use std::io;

use futures::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use libp2p_request_response::Codec;
use libp2p_swarm::StreamProtocol;

/// Bytes each way, with a limit for each. A request beyond its limit is read as no bytes.
#[derive(Clone, Debug)]
pub(super) struct Lengths {
    pub(super) most_request: usize,
    pub(super) most_response: usize,
}

impl Codec for Lengths {
    type Protocol = StreamProtocol;
    type Request = Vec<u8>;
    type Response = Vec<u8>;

    async fn read_request<T>(&mut self, _: &StreamProtocol, io: &mut T) -> io::Result<Vec<u8>>
    where
        T: AsyncRead + Unpin + Send,
    {
        // The behaviour tells nobody of a request that fails to be read. No request is empty, so this one is the peer's fault.
        match read(io, self.most_request).await {
            Err(error) if error.kind() == io::ErrorKind::InvalidData => Ok(Vec::new()),
            read => read,
        }
    }

    async fn read_response<T>(&mut self, _: &StreamProtocol, io: &mut T) -> io::Result<Vec<u8>>
    where
        T: AsyncRead + Unpin + Send,
    {
        read(io, self.most_response).await
    }

    async fn write_request<T>(&mut self, _: &StreamProtocol, io: &mut T, bytes: Vec<u8>) -> io::Result<()>
    where
        T: AsyncWrite + Unpin + Send,
    {
        write(io, &bytes).await
    }

    async fn write_response<T>(&mut self, _: &StreamProtocol, io: &mut T, bytes: Vec<u8>) -> io::Result<()>
    where
        T: AsyncWrite + Unpin + Send,
    {
        write(io, &bytes).await
    }
}

/// `InvalidData` if the length is beyond the limit: the peer's fault, as other errors are not.
async fn read(io: &mut (impl AsyncRead + Unpin), most: usize) -> io::Result<Vec<u8>> {
    let mut length = [0; 4];
    io.read_exact(&mut length).await?;
    let length = u32::from_be_bytes(length) as usize;
    if length > most {
        let why = format!("{length} bytes are announced, and at most {most} are allowed");
        return Err(io::Error::new(io::ErrorKind::InvalidData, why));
    }
    let mut bytes = Vec::new();
    // Memory grows as bytes come, not as they are announced.
    let found = io.take(length as u64).read_to_end(&mut bytes).await?;
    if found < length { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(bytes) }
}

async fn write(io: &mut (impl AsyncWrite + Unpin), bytes: &[u8]) -> io::Result<()> {
    let length = u32::try_from(bytes.len()).map_err(io::Error::other)?;
    io.write_all(&length.to_be_bytes()).await?;
    io.write_all(bytes).await?;
    io.close().await
}

#[cfg(test)]
mod tests {
    use futures::executor::block_on;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn lengths_are_checked_before_bytes_are_read() {
        let mut bytes = Vec::new();
        block_on(write(&mut bytes, b"words")).unwrap();
        assert_eq!(block_on(read(&mut &bytes[..], 5)).unwrap(), b"words");
        assert_eq!(block_on(read(&mut &bytes[..], 4)).unwrap_err().kind(), io::ErrorKind::InvalidData);
        assert_eq!(block_on(read(&mut &bytes[..8], 5)).unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
    }

    proptest! {
        #[test]
        fn random_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..64), most in 0..64usize) {
            if let Ok(read) = block_on(read(&mut &bytes[..], most)) {
                prop_assert!(read.len() <= most);
                prop_assert_eq!(&read[..], &bytes[4..4 + read.len()]);
            }
        }
    }
}
