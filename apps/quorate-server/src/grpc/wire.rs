//! Messages of gRPC on their way to the decoder. A message is decoded whole, so what it takes is taken from the budget before that: its
//! bytes as they come, and then, by a look at its fields, what they become. A request of which nothing comes holds nothing.

use std::{
    convert::Infallible,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll},
};

use axum::body::Body;
use bytes::{Buf as _, Bytes, BytesMut};
use hyper::body::{Body as HttpBody, Frame};
use prost::Message as _;
use tokio::sync::oneshot;
use tonic::Status;

use super::{
    proto::{self, stream_request::Of},
    status::{busy, too_many},
};
use crate::{
    budget::{Budget, Held},
    config::ServerLimits,
};

/// The memory that the messages of a request take. A clone is the same memory.
#[derive(Clone, Debug)]
pub(super) struct Charge(Arc<Mutex<(Held, usize)>>);

impl Charge {
    pub(super) fn new(budget: &Budget) -> Self {
        Self(Arc::new(Mutex::new((budget.holding(), 0))))
    }

    fn take(&self, bytes: usize) -> Result<(), Status> {
        let (held, taken) = &mut *self.lock();
        held.take(bytes).ok_or_else(busy)?;
        *taken += bytes;
        Ok(())
    }

    /// Gives back what all messages so far took: they are not needed any more.
    pub(super) fn release(&self) {
        let (held, taken) = &mut *self.lock();
        held.give(std::mem::take(taken));
    }

    fn lock(&self) -> MutexGuard<'_, (Held, usize)> {
        // Nothing panics while it holds this.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A body that hands on one whole message at a time.
pub(super) struct Wire {
    body: Body,
    charge: Charge,
    keys: usize,
    claims: usize,
    /// The longest message. A longer one is refused by its head.
    longest: usize,
    buffer: BytesMut,
    /// Dropped when the body has ended, or nobody reads it any more.
    reading: Option<oneshot::Sender<Infallible>>,
}

impl Wire {
    pub(super) fn new(
        body: Body,
        charge: Charge,
        limits: &ServerLimits,
        longest: usize,
        reading: oneshot::Sender<Infallible>,
    ) -> Self {
        let ServerLimits { keys, claims, .. } = *limits;
        Self { body, charge, keys, claims, longest, buffer: BytesMut::new(), reading: Some(reading) }
    }

    /// The next message, if it is there.
    fn message(&mut self) -> Result<Option<Bytes>, Status> {
        let Some((head, rest)) = self.buffer.split_first_chunk::<HEAD>() else { return Ok(None) };
        let length = u32::from_be_bytes([head[1], head[2], head[3], head[4]]) as usize;
        if length > self.longest {
            let longest = self.longest;
            let why = format!("a message has {length} bytes, expected at most {longest}; send several, or a stream");
            return Err(Status::out_of_range(why));
        }
        let Some(message) = rest.get(..length) else { return Ok(None) };
        let bytes = weight(message, self.keys, self.claims).map_err(Status::invalid_argument)?;
        self.charge.take(bytes)?;
        Ok(Some(self.buffer.split_to(HEAD + length).freeze()))
    }
}

impl HttpBody for Wire {
    type Data = Bytes;
    type Error = Box<dyn std::error::Error + Send + Sync>;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let this = self.get_mut();
        loop {
            if let Some(message) = this.message()? {
                return Poll::Ready(Some(Ok(Frame::data(message))));
            }
            if this.reading.is_none() {
                // A message that is cut off, which the decoder names.
                let rest = this.buffer.split().freeze();
                return Poll::Ready((!rest.is_empty()).then(|| Ok(Frame::data(rest))));
            }
            let Some(frame) = std::task::ready!(Pin::new(&mut this.body).poll_frame(cx)).transpose()? else {
                this.reading = None;
                continue;
            };
            match frame.into_data() {
                Ok(data) => {
                    // Once here, and once in the decoder's own buffer.
                    this.charge.take(COPIES * data.len())?;
                    this.buffer.extend_from_slice(&data);
                }
                Err(trailers) => return Poll::Ready(Some(Ok(trailers))),
            }
        }
    }
}

/// How many times a message is in memory before it is decoded. A buffer that grows has up to twice the length that it needs.
const COPIES: usize = 4;

/// The flag and the length in front of a message.
const HEAD: usize = 5;

/// About what a decoded message takes, at most. Says what is wrong with a message of more claims or keys than there may be, or with a
/// group.
fn weight(mut message: &[u8], most_keys: usize, most_claims: usize) -> Result<usize, String> {
    let (mut bytes, mut claims) = (0, 0);
    while let Some((field, value)) = next_field(&mut message)? {
        if field != CLAIM {
            continue;
        }
        claims += 1;
        if claims > most_claims {
            return Err(too_many(most_claims));
        }
        let (mut claim, mut keys, mut messages, mut members) = (value, 0, 0, 0);
        while let Some((field, value)) = next_field(&mut claim)? {
            match field {
                PUBLIC_KEYS => keys += 1,
                MESSAGES => messages += 1,
                // Packed, each number ends with a byte below 0x80; else each is a field of its own, without bytes.
                INDICES => members += value.iter().filter(|byte| **byte < 0x80).count().max(1),
                _ => {}
            }
        }
        let lists =
            [("public_keys", "keys", keys), ("messages", "messages", messages), ("indices", "members", members)];
        for (name, what, found) in lists {
            if found > most_keys {
                let index = claims - 1;
                return Err(format!("claims[{index}]: {name}: found {found} {what}, expected at most {most_keys}"));
            }
        }
        // A list that grows has up to twice the places that it needs.
        bytes += 2 * (size_of::<proto::Claim>() + (keys + messages) * size_of::<Bytes>() + members * size_of::<u32>());
    }
    Ok(bytes)
}

/// What a look at the fields of a message says that it takes, and what its claims and their lists take once they are decoded, in bytes.
/// `None` if the look refuses it, or no decoder takes it. What is weighed too lightly is memory that no limit counts, so the fuzzer
/// compares the two.
pub fn weighed(message: &[u8], most_keys: usize, most_claims: usize) -> Option<(usize, usize)> {
    let weighed = weight(message, most_keys, most_claims).ok()?;
    let of_claim = |claim: &proto::Claim| {
        let lists = size_of_val(&claim.public_keys[..]) + size_of_val(&claim.messages[..]);
        size_of::<proto::Claim>() + lists + size_of_val(&claim.indices[..])
    };
    let request = proto::VerifyRequest::decode(message).ok();
    let request = request.map(|request| request.claims.iter().map(of_claim).sum::<usize>());
    let stream = proto::StreamRequest::decode(message).ok().map(|request| match request.of {
        Some(Of::Claim(claim)) => of_claim(&claim),
        _ => 0,
    });
    Some((weighed, request.max(stream)?))
}

/// Numbers of fields, as the schema has them: of a request's or a stream's claims, and of a claim's lists.
const CLAIM: u64 = 2;
const PUBLIC_KEYS: u64 = 3;
const MESSAGES: u64 = 5;
const INDICES: u64 = 11;

/// The next field of a message, and its bytes; those of a number are empty. `None` at the end, or where the decoder will say what is
/// wrong: it keeps nothing of what comes after that.
///
/// A group is an error. The decoder would skip one that it does not know, and keep what comes after it.
fn next_field<'a>(message: &mut &'a [u8]) -> Result<Option<(u64, &'a [u8])>, String> {
    let Some(key) = varint(message) else { return Ok(None) };
    let field = key >> 3;
    let length = match key & 7 {
        0 => varint(message).map(|_| 0),
        1 => Some(8),
        2 => varint(message).and_then(|length| usize::try_from(length).ok()),
        3 | 4 => return Err(format!("field {field}: found a group, which no message of the schema has; leave it out")),
        5 => Some(4),
        _ => None,
    };
    let Some((value, rest)) = length.and_then(|length| message.split_at_checked(length)) else { return Ok(None) };
    *message = rest;
    Ok(Some((field, if key & 7 == 2 { value } else { &[] })))
}

/// A number of up to ten groups of seven bits.
fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0u64;
    for shift in (0..64).step_by(7) {
        let byte = *bytes.first()?;
        bytes.advance(1);
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(claims: usize, keys: usize) -> Vec<u8> {
        let claim = proto::Claim { public_keys: vec![Bytes::new(); keys], ..proto::Claim::default() };
        proto::VerifyRequest { common: Some(proto::Common::default()), claims: vec![claim; claims] }.encode_to_vec()
    }

    /// A key of no bytes takes two bytes on the wire and 32 in memory.
    #[test]
    fn a_message_is_weighed_before_it_is_decoded() {
        let decoded = |claims, keys| claims * (size_of::<proto::Claim>() + keys * size_of::<Bytes>());
        for (claims, keys) in [(0, 0), (1, 0), (1, 1000), (27, 100)] {
            let weighed = weight(&request(claims, keys), 1000, 27).unwrap();
            assert!(weighed >= decoded(claims, keys), "{claims} claims with {keys} keys: {weighed}");
        }
        assert!(weight(&request(2, 1001), 1000, 27).unwrap_err().contains("claims[0]: public_keys: found 1001 keys"));
        assert!(weight(&request(28, 1), 1000, 27).unwrap_err().contains("more than 27 claims"));
    }

    /// In a stream, a claim that comes in two parts has the lists of both.
    #[test]
    fn what_is_weighed_is_at_least_what_is_decoded() {
        let claim = |keys| proto::Claim {
            public_keys: vec![Bytes::new(); keys],
            indices: vec![7; 9],
            ..proto::Claim::default()
        };
        let part = |keys| proto::StreamRequest { of: Some(Of::Claim(claim(keys))) }.encode_to_vec();
        for message in [request(0, 0), request(3, 5), part(5), [part(5), part(7)].concat()] {
            let (weighed, decoded) = weighed(&message, 100, 100).unwrap();
            assert!(weighed >= decoded, "{message:?}: {weighed}, but {decoded}");
            assert_eq!(decoded > 0, !message.is_empty() && message != request(0, 0));
        }
        assert_eq!(weighed(&request(2, 1), 1, 1), None);
    }

    /// An index takes a byte on the wire and four in memory, packed or not.
    #[test]
    fn indices_are_weighed_before_they_are_decoded() {
        let of_indices = |indices: Vec<u32>| {
            let claim = proto::Claim { indices, ..proto::Claim::default() };
            proto::VerifyRequest { common: None, claims: vec![claim] }.encode_to_vec()
        };
        let weighed = weight(&of_indices(vec![7; 1000]), 1000, 1).unwrap();
        assert!(weighed >= size_of::<proto::Claim>() + 4000, "{weighed}");
        let refused = weight(&of_indices(vec![u32::MAX; 1001]), 1000, 1).unwrap_err();
        assert_eq!(refused, "claims[0]: indices: found 1001 members, expected at most 1000");
        // Field 11, not packed: the key 0x58 and the number.
        let unpacked = [&[0x12, 40][..], &[0x58, 1].repeat(20)].concat();
        assert!(weight(&unpacked, 19, 1).is_err() && weight(&unpacked, 20, 1).is_ok());
    }

    #[test]
    fn broken_messages_are_left_to_the_decoder() {
        let whole = request(2, 3);
        for length in 0..whole.len() {
            assert!(weight(&whole[..length], 100, 100).is_ok());
        }
        for bytes in [&[0xff; 20][..], &[0x16], &[0x12, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01]] {
            assert_eq!(weight(bytes, 1, 1), Ok(0), "{bytes:?}");
        }
    }

    /// The decoder skips a group of a field that it does not know, so that whatever stands behind one would weigh nothing.
    #[test]
    fn a_group_hides_nothing_behind_it() {
        let group = [0x7b, 0x7c];
        let hidden = [&group[..], &request(28, 1)].concat();
        assert!(<proto::VerifyRequest as prost::Message>::decode(&hidden[..]).is_ok_and(|all| all.claims.len() == 28));
        assert!(weight(&hidden, 1000, 27).unwrap_err().contains("field 15: found a group"));
        // In front of a claim's keys.
        let keys = proto::Claim { public_keys: vec![Bytes::new(); 1001], ..proto::Claim::default() }.encode_to_vec();
        let claim = [&group[..], &keys].concat();
        let mut hidden = vec![0x12];
        prost::encoding::encode_varint(claim.len() as u64, &mut hidden);
        hidden.extend_from_slice(&claim);
        assert!(weight(&hidden, 1000, 27).unwrap_err().contains("field 15: found a group"));
        // The end of one that never began.
        assert!(weight(&[0x7c], 1000, 27).is_err());
    }
}
