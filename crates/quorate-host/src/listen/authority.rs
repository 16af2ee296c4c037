//! What clients of gRPC on a Unix socket call the server by.
//!
//! A socket has no name, so some clients write its path: `:authority: /run/quorate-server/claims.sock`, or that with `%2F`. It is not a name
//! of a host, and the library for HTTP/2 refuses such a request. Here nobody looks at the name, so one of the same length takes its place.
//!
//! The length must stay, because client and server count the lengths of the fields that they remember (RFC 7541, section 4.1). Where a
//! client refers to a field that it has sent before, that one was exchanged then.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll, ready},
};

use bytes::{Buf as _, BytesMut};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// A stream on which the authorities of HTTP/2 are exchanged, or that is left as it is.
pub(super) enum Renamed<S> {
    /// Left as it is.
    No(S),
    /// Exchanged.
    Yes(Box<Renaming<S>>),
}

pub(super) struct Renaming<S> {
    stream: S,
    /// What has come, and is not looked at yet.
    come: BytesMut,
    /// What may be read.
    ready: BytesMut,
    state: State,
}

enum State {
    /// Nothing has come but a part of the preface.
    Preface,
    /// A frame begins.
    Frame,
    /// So many bytes of a frame follow.
    Within(usize),
    /// It is not HTTP/2.
    Other,
}

impl<S> Renamed<S> {
    pub(super) fn new(stream: S) -> Self {
        let (come, ready) = (BytesMut::new(), BytesMut::new());
        Self::Yes(Box::new(Renaming { stream, come, ready, state: State::Preface }))
    }

    fn stream(&mut self) -> &mut S {
        match self {
            Self::No(stream) => stream,
            Self::Yes(renaming) => &mut renaming.stream,
        }
    }
}

impl<S> Renaming<S> {
    /// Hands on what is whole.
    fn look(&mut self) {
        loop {
            match self.state {
                State::Preface => {
                    let most = self.come.len().min(PREFACE.len());
                    if self.come[..most] != PREFACE[..most] {
                        self.state = State::Other;
                    } else if most == PREFACE.len() {
                        self.ready.unsplit(self.come.split_to(most));
                        self.state = State::Frame;
                    } else {
                        return;
                    }
                }
                State::Other => {
                    let all = self.come.split();
                    self.ready.unsplit(all);
                    return;
                }
                State::Within(0) => self.state = State::Frame,
                State::Within(left) => {
                    let part = left.min(self.come.len());
                    if part == 0 {
                        return;
                    }
                    let part = self.come.split_to(part);
                    self.state = State::Within(left - part.len());
                    self.ready.unsplit(part);
                }
                State::Frame => {
                    let Some(head) = self.come.first_chunk::<HEAD>() else { return };
                    let length = u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize;
                    if head[3] != HEADERS || length > LONGEST {
                        self.state = State::Within(HEAD + length);
                        continue;
                    }
                    if self.come.len() < HEAD + length {
                        return;
                    }
                    let mut frame = self.come.split_to(HEAD + length);
                    if let Some(renamed) = renamed(&frame) {
                        frame = renamed;
                    }
                    self.ready.unsplit(frame);
                }
            }
        }
    }
}

/// A frame of HEADERS with another authority; none if it has none, or if it is not understood: then the library says why.
fn renamed(frame: &[u8]) -> Option<BytesMut> {
    let flags = frame[4];
    let before = HEAD + usize::from(flags & PADDED != 0) + if flags & PRIORITY != 0 { 5 } else { 0 };
    let padding = if flags & PADDED != 0 { usize::from(*frame.get(HEAD)?) } else { 0 };
    let end = frame.len().checked_sub(padding)?;
    let mut fields = frame.get(before..end)?;
    loop {
        let first = *fields.first()?;
        if first & 0x80 != 0 {
            number(&mut fields, 7)?;
            continue;
        }
        if first & 0xe0 == 0x20 {
            number(&mut fields, 5)?;
            continue;
        }
        let index = number(&mut fields, if first & 0x40 != 0 { 6 } else { 4 })?;
        if index == 0 {
            text(&mut fields)?;
        }
        let value_at = end - fields.len();
        let value = text(&mut fields)?;
        if index != AUTHORITY {
            continue;
        }
        let length = value.length()?;
        let mut new = BytesMut::from(frame.get(..value_at)?);
        put_length(&mut new, length);
        new.extend(std::iter::repeat_n(b'a', length));
        new.extend_from_slice(frame.get(end - fields.len()..)?);
        let payload = new.len() - HEAD;
        if payload > LONGEST {
            return None;
        }
        new[..3].copy_from_slice(&u32::try_from(payload).ok()?.to_be_bytes()[1..]);
        return Some(new);
    }
}

/// A number with a prefix of so many bits (RFC 7541, section 5.1).
fn number(bytes: &mut &[u8], prefix: u32) -> Option<usize> {
    let most = (1usize << prefix) - 1;
    let first = usize::from(*bytes.first()?) & most;
    bytes.advance(1);
    if first < most {
        return Some(first);
    }
    let mut number = most;
    for shift in (0..28).step_by(7) {
        let byte = *bytes.first()?;
        bytes.advance(1);
        number += usize::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

/// A text as it stands in the fields: bytes, or Huffman's code of them.
struct Text<'a> {
    coded: bool,
    bytes: &'a [u8],
}

fn text<'a>(bytes: &mut &'a [u8]) -> Option<Text<'a>> {
    let coded = *bytes.first()? & 0x80 != 0;
    let length = number(bytes, 7)?;
    let (text, rest) = bytes.split_at_checked(length)?;
    *bytes = rest;
    Some(Text { coded, bytes: text })
}

impl Text<'_> {
    /// How many bytes the text has. The code is canonical: codes of one length follow each other, so their numbers by length tell where
    /// each ends (RFC 7541, appendix B).
    fn length(&self) -> Option<usize> {
        if !self.coded {
            return Some(self.bytes.len());
        }
        let mut bits = self.bytes.iter().flat_map(|byte| (0..8).rev().map(move |bit| u32::from(byte >> bit & 1)));
        let mut letters = 0;
        'letters: loop {
            let (mut code, mut first) = (0, 0);
            for (length, codes) in CODES.into_iter().enumerate() {
                let Some(bit) = bits.next() else {
                    // Less than a byte of padding.
                    return (length < 8).then_some(letters);
                };
                code = code << 1 | bit;
                // The last code of all is that of the end, which no text has.
                if code - first < codes && code != END {
                    letters += 1;
                    continue 'letters;
                }
                first = (first + codes) << 1;
            }
            return None;
        }
    }
}

/// The length of a text that is not coded.
fn put_length(out: &mut BytesMut, length: usize) {
    let Some(mut rest) = length.checked_sub(0x7f) else { return out.extend([length as u8]) };
    out.extend([0x7f]);
    while rest >= 0x80 {
        out.extend([rest as u8 | 0x80]);
        rest >>= 7;
    }
    out.extend([rest as u8]);
}

/// How many codes there are of each length from one bit on.
const CODES: [u32; 30] =
    [0, 0, 0, 0, 10, 26, 32, 6, 0, 5, 3, 2, 6, 2, 3, 0, 0, 0, 3, 8, 13, 26, 29, 12, 4, 15, 19, 29, 0, 4];

/// The code of the end of a text.
const END: u32 = 0x3fff_ffff;

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// The length of what stands before a frame, and the longest frame (RFC 9113, section 4).
const HEAD: usize = 9;
const LONGEST: usize = 16 << 10;
/// The type of a frame, and two of its flags.
const HEADERS: u8 = 1;
const PADDED: u8 = 8;
const PRIORITY: u8 = 0x20;
/// The place of the name `:authority` in the table of names that everybody knows.
const AUTHORITY: usize = 1;

impl<S: AsyncRead + Unpin> AsyncRead for Renamed<S> {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, out: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = match self.get_mut() {
            Self::No(stream) => return Pin::new(stream).poll_read(cx, out),
            Self::Yes(this) => this,
        };
        loop {
            if !this.ready.is_empty() {
                let part = this.ready.len().min(out.remaining());
                out.put_slice(&this.ready.split_to(part));
                return Poll::Ready(Ok(()));
            }
            if matches!(this.state, State::Other) {
                return Pin::new(&mut this.stream).poll_read(cx, out);
            }
            let mut bytes = [0; 4096];
            let mut read = ReadBuf::new(&mut bytes);
            ready!(Pin::new(&mut this.stream).poll_read(cx, &mut read))?;
            if read.filled().is_empty() {
                // The end, in the middle of a frame or not.
                this.ready = this.come.split();
                if this.ready.is_empty() {
                    return Poll::Ready(Ok(()));
                }
                this.state = State::Other;
                continue;
            }
            this.come.extend_from_slice(read.filled());
            this.look();
        }
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Renamed<S> {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(self.get_mut().stream()).poll_write(cx, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(self.get_mut().stream()).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(self.get_mut().stream()).poll_shutdown(cx)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(self.get_mut().stream()).poll_write_vectored(cx, slices)
    }

    fn is_write_vectored(&self) -> bool {
        match self {
            Self::No(stream) => stream.is_write_vectored(),
            Self::Yes(renaming) => renaming.stream.is_write_vectored(),
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt as _;

    use super::*;

    fn frame(flags: u8, payload: &[u8]) -> Vec<u8> {
        let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
        [&length[1..], &[HEADERS, flags, 0, 0, 0, 1], payload].concat()
    }

    /// POST, http, the path "/a", an authority, and a field that is not coded.
    fn fields(authority: &[u8]) -> Vec<u8> {
        [&b"\x83\x86\x44\x02/a\x41"[..], authority, b"\x00\x02te\x08trailers"].concat()
    }

    const PATH: &[u8] = b"\x0b/run/q.sock";

    async fn through(bytes: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        Renamed::new(bytes).read_to_end(&mut out).await.unwrap();
        out
    }

    #[tokio::test]
    async fn a_path_becomes_a_name_of_the_same_length() {
        // The path in Huffman's code: "%2Frun%2Fq.sock".
        let coded = [&[0x80 | u8::try_from(CODED.len()).unwrap()], CODED].concat();
        for (authority, length) in [(PATH, 11), (&coded[..], 15)] {
            let name = [&[length as u8][..], &vec![b'a'; length]].concat();
            for (flags, before, after) in [(4, &b""[..], &b""[..]), (0x2c, b"\x03\0\0\0\0\x10", b"\0\0\0")] {
                let sent = frame(flags, &[before, &fields(authority), after].concat());
                let expected = frame(flags, &[before, &fields(&name), after].concat());
                let data = b"\0\0\x05\0\x01\0\0\0\x01hello";
                let all = [PREFACE, &sent, data, &sent].concat();
                assert_eq!(through(&all).await, [PREFACE, &expected, data, &expected].concat());
            }
        }
        assert_eq!(Text { coded: true, bytes: CODED }.length(), Some(15));
        assert_eq!(CODES.iter().sum::<u32>(), 257);
    }

    #[tokio::test]
    async fn everything_else_is_left_as_it_is() {
        let http1 = b"GET / HTTP/1.1\r\nHost: /run/q.sock\r\n\r\n";
        assert_eq!(through(http1).await, http1);
        assert_eq!(through(&PREFACE[..7]).await, &PREFACE[..7]);
        let whole = [PREFACE, &frame(4, &fields(PATH))].concat();
        let renamed = through(&whole).await;
        for end in 0..whole.len() {
            let cut = through(&whole[..end]).await;
            assert!(cut == whole[..end] || cut == renamed[..end], "{end}");
        }
        for broken in [
            &b"\x41"[..],
            b"\x41\xff\xff\xff\xff\xff\xff",
            b"\x41\x85\xff\xff\xff\xff\xff",
            b"\x7f\xff\xff\xff\xff\xff",
            b"",
        ] {
            let sent = [PREFACE, &frame(4, broken), &frame(0x2c, broken)].concat();
            assert_eq!(through(&sent).await, sent, "{broken:?}");
        }
    }

    const CODED: &[u8] = &[0x54, 0x58, 0x6c, 0xb6, 0xa5, 0x45, 0x87, 0xb2, 0xe8, 0x39, 0x3a, 0xff];
}
