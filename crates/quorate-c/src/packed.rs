//! Claims in one piece of memory, so that a language hands over any number of them in one call.
//!
//! ```text
//! packed  = claim*
//! claim   = suite:u32 kind:u32 keys:u32 messages:u32 signers bytes{messages} signature:bytes source:bytes
//! signers = bytes{keys}, or set:u64 members:bytes
//! bytes   = length:u32 byte{length}
//! ```
//!
//! Numbers are little-endian. `kind` is 0 if every key signed the one message, 1 if each key signed the message at its index, and 2
//! if the signature is a proof that the owner of the one key holds its secret, without messages. A source without bytes is none;
//! one that is not UTF-8, or begins with `0x`, has its hexadecimal as name, with `0x` in front. So no two sources have one name.
//!
//! In the place of keys a claim can name members of the [set](crate::sets) with the number `set`. Then `keys` is 0, and `kind` is greater by
//! 256 if `members` are a bitmap, whose lowest bit of the first byte stands for member 0, or by 512 if they are indices of 32 bits each.
//!
//! Keys, messages and signatures may have any length: what does not decode is the verdict of its claim alone. What cannot be read as
//! claims is an error, and nothing is verified.

use std::{borrow::Cow, sync::Arc};

use quorate::{Bitmap, ClaimBytes, Members, Messages, PublicKeys, SourceId};

use crate::{
    fault::{CallFailure, Code},
    sets, suites,
};

/// What the keys of a claim signed. The numbers are a part of the C interface and never change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum SignedKind {
    /// Every key signed the one message.
    Shared = 0,
    /// Each key signed the message at its index.
    Each = 1,
    /// The one key signed its own encoding: a proof that its owner holds the secret.
    Possession = 2,
}

impl SignedKind {
    fn by_number(number: u32) -> Result<Self, CallFailure> {
        let found = [Self::Shared, Self::Each, Self::Possession].into_iter().find(|kind| *kind as u32 == number);
        found.ok_or_else(|| wrong(format!("there is no kind {number} of messages: expected 0, 1 or 2")))
    }
}

/// How a packed claim says whose keys signed: this is added to its `quorate_messages`. The numbers are a part of the C interface and never
/// change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum SignersKind {
    /// By their encodings.
    Keys = 0,
    /// As members of a key set, by a bitmap.
    Bitmap = 256,
    /// As members of a key set, by indices of 32 bits each.
    Indices = 512,
}

/// Reads packed claims. Memory: about twenty times the bytes at most, whatever the counts say.
///
/// # Errors
/// [`Code::Claims`], [`Code::Suite`], [`Code::Handle`] if there is no such key set, with the claim's number, from 0.
pub fn read(bytes: &[u8]) -> Result<Vec<ClaimBytes>, CallFailure> {
    let mut rest = bytes;
    let mut claims = Vec::new();
    while !rest.is_empty() {
        let number = claims.len();
        let claim = claim(&mut rest)
            .map_err(|CallFailure { code, text }| CallFailure::new(code, format!("claim {number}: {text}")))?;
        claims.push(claim);
    }
    Ok(claims)
}

/// Reads packed claims of which there must be so many.
///
/// # Errors
/// As [`read`]; [`Code::Claims`] for another number.
pub fn read_all(bytes: &[u8], count: usize) -> Result<Vec<ClaimBytes>, CallFailure> {
    let claims = read(bytes)?;
    if claims.len() != count {
        return Err(wrong(format!("found {} packed claims, expected {count}", claims.len())));
    }
    Ok(claims)
}

fn claim(rest: &mut &[u8]) -> Result<ClaimBytes, CallFailure> {
    let suite = suites::by_number(word(rest, "the suite")?)?;
    let (kind, keys, messages) =
        (word(rest, "the kind")?, word(rest, "the number of keys")?, word(rest, "the number of messages")?);
    let (kind, public_keys) = signers(rest, kind, keys)?;
    let messages = list(rest, "message", messages)?;
    let signature = bytes(rest, "the signature")?.to_vec();
    let source = bytes(rest, "the source")?;
    made(suite, kind, public_keys, messages, signature, source)
}

/// What the signers signed, and who they are.
fn signers(rest: &mut &[u8], kind: u32, keys: u32) -> Result<(u32, PublicKeys), CallFailure> {
    let (by_bitmap, by_indices) = (SignersKind::Bitmap as u32, SignersKind::Indices as u32);
    if kind & (by_bitmap | by_indices) == 0 {
        return Ok((kind, list::<Vec<u8>>(rest, "public key", keys)?.into()));
    }
    if keys != 0 {
        return Err(wrong(format!("found {keys} public keys beside a key set, expected none")));
    }
    let (set, behind) = rest.split_first_chunk().ok_or_else(|| ended("the number of the key set"))?;
    *rest = behind;
    let members = bytes(rest, "the members")?;
    let members = match kind & (by_bitmap | by_indices) {
        own if own == by_bitmap => Members::Bitmap(Bitmap::from_le_bytes(members)),
        own if own == by_indices => match members.as_chunks() {
            (indices, []) => Members::Indices(indices.iter().map(|index| u32::from_le_bytes(*index)).collect()),
            _ => return Err(wrong(format!("found {} bytes of indices, expected four for each", members.len()))),
        },
        _ => return Err(wrong(format!("there is no kind {kind} of messages: members are a bitmap or indices"))),
    };
    Ok((kind & !(by_bitmap | by_indices), sets::public_keys(u64::from_le_bytes(*set), members)?))
}

/// A claim of its parts.
///
/// # Errors
/// [`Code::Claims`]: an unknown kind, or the wrong number of messages for it.
pub fn made(
    suite: quorate::AnySuite,
    kind: u32,
    public_keys: PublicKeys,
    messages: Vec<Arc<[u8]>>,
    signature: Vec<u8>,
    source: &[u8],
) -> Result<ClaimBytes, CallFailure> {
    let messages = match (SignedKind::by_number(kind)?, &messages[..]) {
        (SignedKind::Shared, [message]) => Messages::Shared(Arc::clone(message)),
        (SignedKind::Each, _) => Messages::Each(messages),
        (SignedKind::Possession, []) => Messages::ProofOfPossession,
        (SignedKind::Shared, _) => {
            return Err(wrong(format!("found {} messages, expected the one that every key signed", messages.len())));
        }
        (SignedKind::Possession, _) => {
            return Err(wrong(format!("found {} messages in a proof of possession, expected none", messages.len())));
        }
    };
    let source = (!source.is_empty()).then(|| SourceId::from(&*source_name(source)));
    Ok(ClaimBytes { suite, public_keys, messages, signature, source })
}

/// The name of a source, which no other one has.
fn source_name(source: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(source) {
        Ok(text) if !text.starts_with("0x") => text.into(),
        _ => hexadecimal(source).into(),
    }
}

/// The source of a name, or the name itself if [`source_name`] gives it to no source.
fn source_of(name: &str) -> Vec<u8> {
    let byte = |digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok();
    let digits = name.strip_prefix("0x").unwrap_or_default().as_bytes();
    let source: Option<Vec<_>> = digits.chunks(2).map(byte).collect();
    source.filter(|source| source_name(source) == name).unwrap_or_else(|| name.into())
}

fn hexadecimal(source: &[u8]) -> String {
    use std::fmt::Write as _;
    source.iter().fold("0x".to_owned(), |mut name, byte| {
        // Writing to a string does not fail.
        let _ = write!(name, "{byte:02x}");
        name
    })
}

fn wrong(text: String) -> CallFailure {
    CallFailure::new(Code::Claims, text)
}

fn word(rest: &mut &[u8], what: &str) -> Result<u32, CallFailure> {
    let (word, behind) = rest.split_first_chunk().ok_or_else(|| ended(what))?;
    *rest = behind;
    Ok(u32::from_le_bytes(*word))
}

fn bytes<'a>(rest: &mut &'a [u8], what: &str) -> Result<&'a [u8], CallFailure> {
    let length = word(rest, what)? as usize;
    let (bytes, behind) = rest.split_at_checked(length).ok_or_else(|| ended(what))?;
    *rest = behind;
    Ok(bytes)
}

fn list<'a, T: From<&'a [u8]>>(rest: &mut &'a [u8], what: &str, count: u32) -> Result<Vec<T>, CallFailure> {
    // Each has its length in front, so no count makes more room than there are bytes.
    if count as usize > rest.len() / 4 {
        return Err(ended(what));
    }
    let mut items = Vec::with_capacity(count as usize);
    for _ in 0..count {
        items.push(bytes(rest, what)?.into());
    }
    Ok(items)
}

fn ended(what: &str) -> CallFailure {
    wrong(format!("the bytes end within {what}"))
}

/// Writes a claim as [`read`] reads it, members of a key set as their keys. For packages that are written in Rust, and for tests.
///
/// # Errors
/// [`Code::Suite`], if the suite has no number; [`Code::Claims`], if something is too long for a number of 32 bits.
pub fn write(claim: &ClaimBytes, packed: &mut Vec<u8>) -> Result<(), CallFailure> {
    let ClaimBytes { suite, public_keys, messages, signature, source } = claim;
    let (kind, messages): (_, Vec<&[u8]>) = match messages {
        Messages::Shared(message) => (SignedKind::Shared, vec![&**message]),
        Messages::Each(messages) => (SignedKind::Each, messages.iter().map(|message| &message[..]).collect()),
        Messages::ProofOfPossession => (SignedKind::Possession, Vec::new()),
        _ => return Err(wrong("this interface does not have such messages".to_owned())),
    };
    let source = source_of(&source.as_ref().map(ToString::to_string).unwrap_or_default());
    let length =
        |length: usize| u32::try_from(length).map_err(|_| wrong(format!("{length} bytes or items are too many")));
    for number in [suites::number(*suite)?, kind as u32, length(public_keys.len())?, length(messages.len())?] {
        packed.extend(number.to_le_bytes());
    }
    let keys = public_keys.encodings();
    let parts = keys.iter().map(|key| &**key).chain(messages).chain([&signature[..], &source[..]]);
    for part in parts {
        packed.extend(length(part.len())?.to_le_bytes());
        packed.extend(part);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use quorate::{MinPk, Suite as _};

    use super::*;

    fn claims() -> Vec<ClaimBytes> {
        let suite = MinPk::Eth2.any();
        let each = Messages::Each(vec![b"a"[..].into(), b""[..].into()]);
        vec![
            ClaimBytes { source: Some("peer".into()), ..ClaimBytes::single(suite, &[1; 48], b"message", &[2; 96]) },
            ClaimBytes {
                messages: each,
                public_keys: vec![vec![], vec![3; 5]].into(),
                ..ClaimBytes::single(suite, b"", b"", b"")
            },
            ClaimBytes::proof_of_possession(suite, &[4; 48], &[5; 96]),
        ]
    }

    fn packed() -> Vec<u8> {
        let mut packed = Vec::new();
        claims().iter().for_each(|claim| write(claim, &mut packed).unwrap());
        packed
    }

    #[test]
    fn what_is_written_is_read() {
        assert_eq!(read(&packed()).unwrap(), claims());
        assert_eq!(read(&[]).unwrap(), []);
    }

    #[test]
    fn no_two_sources_have_one_name() {
        let sources: [&[u8]; 6] = [b"peer", b"\xff\xfe", b"0xfffe", b"0x307866666665", b"0x", b"0X"];
        let claims = sources.map(|source| made(MinPk::Eth2.any(), 2, vec![].into(), vec![], vec![], source).unwrap());
        let names: Vec<_> = claims.iter().map(|claim| claim.source.as_ref().unwrap().to_string()).collect();
        assert_eq!(names[..3], ["peer", "0xfffe", "0x307866666665"]);
        assert_eq!(names.iter().collect::<std::collections::BTreeSet<_>>().len(), sources.len());
        for (claim, source) in claims.iter().zip(sources) {
            let mut packed = Vec::new();
            write(claim, &mut packed).unwrap();
            assert!(packed.ends_with(source), "{source:?} is written as it was read");
            assert_eq!(read(&packed).unwrap(), std::slice::from_ref(claim));
        }
    }

    /// An empty message of four bytes takes a pointer with a length, and an allocation for two counters, which is 32 bytes. A claim of 24
    /// bytes takes a structure, three times while the list grows.
    #[test]
    fn the_smallest_parts_take_less_than_twenty_times_their_bytes() {
        let smallest = ClaimBytes::proof_of_possession(MinPk::Eth2.any(), &[], &[]);
        let mut packed = Vec::new();
        write(&ClaimBytes { public_keys: vec![].into(), ..smallest }, &mut packed).unwrap();
        assert_eq!(packed.len(), 24);
        assert!(3 * size_of::<ClaimBytes>() <= 20 * packed.len());
        assert!(size_of::<Arc<[u8]>>() + 32 <= 20 * 4 && size_of::<Vec<u8>>() <= 20 * 4);
        let list: Vec<Vec<u8>> = list(&mut &[0; 400][..], "public key", 100).unwrap();
        assert_eq!((list.len(), list.capacity()), (100, 100));
    }

    #[test]
    fn every_truncation_is_an_error_but_between_claims() {
        let packed = packed();
        let whole: Vec<_> = (0..=packed.len()).filter(|end| read(&packed[..*end]).is_ok()).collect();
        assert_eq!(whole.len(), 1 + claims().len());
        assert_eq!(read(&packed[..7]).unwrap_err().text, "claim 0: the bytes end within the kind");
    }

    /// A claim that names members of a set, in a kind that has its number of messages.
    fn of_members(kind: u32, keys: u32, set: u64, members: &[u8]) -> Vec<u8> {
        let messages = u32::from(kind & 3 == 0);
        let head = [suites::number(MinPk::Eth2.any()).unwrap(), kind, keys, messages];
        let mut packed: Vec<u8> = head.into_iter().flat_map(u32::to_le_bytes).collect();
        packed.extend(set.to_le_bytes());
        let (message, signature, source): (&[u8], &[u8], &[u8]) = (b"vote", &[6; 96], b"peer");
        let rest = [members].into_iter().chain((messages == 1).then_some(message)).chain([signature, source]);
        for part in rest {
            packed.extend((part.len() as u32).to_le_bytes());
            packed.extend(part);
        }
        packed
    }

    #[test]
    fn members_are_a_bitmap_or_indices() {
        let set = sets::NumberedSet::new(MinPk::Eth2.any());
        let one = |packed: &[u8]| read(packed).map(|mut claims| claims.remove(0));
        let claim = |members| {
            let keys = sets::public_keys(set.number(), members).unwrap();
            ClaimBytes { source: Some("peer".into()), ..ClaimBytes::shared(MinPk::Eth2.any(), keys, *b"vote", [6; 96]) }
        };
        let bitmap = |indices: &[usize]| Members::Bitmap(Bitmap::from_indices(indices.iter().copied()));
        let read_claim = |kind, members: &[u8]| one(&of_members(kind, 0, set.number(), members)).unwrap();
        assert_eq!(read_claim(256, &[5, 2, 0, 0]), claim(bitmap(&[0, 2, 9])));
        assert_eq!(read_claim(256, &[]), claim(bitmap(&[])));
        let indices = [2, 0, 2, u32::MAX];
        assert_eq!(read_claim(512, &indices.map(u32::to_le_bytes).concat()), claim(Members::Indices(indices.to_vec())));
        let possession = read_claim(512 + 2, &[1, 0, 0, 0]);
        assert_eq!((possession.messages, possession.public_keys.len()), (Messages::ProofOfPossession, 1));

        let failure = |packed: &[u8]| one(packed).unwrap_err();
        let (whole, number) = (of_members(256, 0, set.number(), &[1]), set.number());
        for end in 1..whole.len() {
            assert_eq!(failure(&whole[..end]).code, Code::Claims, "{end} bytes");
        }
        for (packed, code, text) in [
            (of_members(256, 1, number, &[1]), Code::Claims, "found 1 public keys beside a key set, expected none"),
            (of_members(512, 0, number, &[1, 0, 0]), Code::Claims, "found 3 bytes of indices, expected four for each"),
            (of_members(768, 0, number, &[1]), Code::Claims, "there is no kind 768 of messages: members are a bitmap"),
            (of_members(256 + 3, 0, number, &[1]), Code::Claims, "there is no kind 3 of messages"),
            (
                of_members(256, 0, 0, &[1]),
                Code::Handle,
                "there is no key set with the number 0: it is freed, or none of",
            ),
        ] {
            let failure = failure(&packed);
            assert_eq!(failure.code, code, "{failure}");
            assert!(failure.text.starts_with(&format!("claim 0: {text}")), "{failure}");
        }
        drop(set);
        assert_eq!(failure(&whole).code, Code::Handle);
    }

    #[test]
    fn wrong_claims_are_named() {
        let with = |place: usize, number: u32| {
            let mut packed = packed();
            packed[place..place + 4].copy_from_slice(&number.to_le_bytes());
            read(&packed).unwrap_err()
        };
        assert_eq!(with(0, 19).text, "claim 0: there is no suite with the number 19");
        assert_eq!(with(4, 3).text, "claim 0: there is no kind 3 of messages: expected 0, 1 or 2");
        assert_eq!(with(4, 2).text, "claim 0: found 1 messages in a proof of possession, expected none");
        // A count makes no room that the bytes do not pay for.
        assert_eq!(with(8, u32::MAX).text, "claim 0: the bytes end within public key");
        assert_eq!(with(12, 0).code, Code::Claims);
    }
}
