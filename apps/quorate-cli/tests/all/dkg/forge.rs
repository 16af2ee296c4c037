//! What a cheat signs: messages with other contents than the program would give them.

use std::fs;

use quorate::{MinPk, SecretKey, Tag};
use sha2::{Digest as _, Sha256};

use crate::dkg::room::Room;

/// Replaces text in a message of a member and signs it anew, in the folder and in the member's private state, so that the
/// member's program goes on with it.
pub(crate) fn resign(room: &Room, folder: &str, file: &str, member: &str, change: impl Fn(&str) -> String) {
    let path = room.path(&format!("{folder}/messages/{file}"));
    let old = fs::read_to_string(&path).unwrap();
    let message: serde_json::Value = serde_json::from_str(&old).unwrap();
    let (begin, end) = (old.find("\"body\":").unwrap() + 7, old.rfind(",\"signature\":").unwrap());
    let body = change(&old[begin..end]);
    assert_ne!(body, old[begin..end]);
    let round: u8 = file[..1].parse().unwrap();
    let sender = u32::try_from(message["sender"].as_u64().unwrap()).unwrap();
    let id = const_hex::decode(message["ceremony"].as_str().unwrap()).unwrap();
    let signed = [&id[..], &sender.to_be_bytes(), &[round], &Sha256::digest(&body)].concat();

    let signature = const_hex::encode(sign(room, member, &signed));
    let new = format!("{}{body},\"signature\":\"{signature}\"}}\n", &old[..begin]);
    fs::write(&path, &new).unwrap();
    let state = room.state(folder, member);
    let json = fs::read_to_string(&state).unwrap();
    assert!(json.contains(old.trim_end()));
    fs::write(&state, json.replace(old.trim_end(), new.trim_end())).unwrap();
}

/// Changes the last byte of the transcript that a member has published, and signs it anew.
pub(crate) fn false_transcript(room: &Room, folder: &str, member: &str) {
    const HEAD: usize = 22;
    let file = format!("{folder}/transcripts/{member}.transcript");
    let mut bytes = room.read(&file);
    let (head, transcript) = bytes.split_at_mut(HEAD + 32 + 4 + 96);
    *transcript.last_mut().unwrap() ^= 1;
    let signed = [&head[HEAD..][..36], &[0], &Sha256::digest(&*transcript)].concat();
    head[HEAD + 36..].copy_from_slice(&sign(room, member, &signed));
    room.write(&file, bytes);
}

/// A signature by the identity of a member.
fn sign(room: &Room, member: &str, signed: &[u8]) -> [u8; 96] {
    let identity: serde_json::Value =
        serde_json::from_slice(&room.read(&format!("{member}/{member}.identity.json"))).unwrap();
    let secret = const_hex::decode(identity["signing_secret_key"].as_str().unwrap()).unwrap();
    let secret = SecretKey::<MinPk>::from_bytes(&secret.try_into().unwrap()).unwrap();
    let tag = Tag::from(&b"QUORATE-DKG-V01-MESSAGE-BLS12381G2_XMD:SHA-256_SSWU_RO_"[..]);
    secret.sign_under_tag(MinPk::Basic, &tag, signed).to_bytes()
}

/// Makes the deal of a dealer to five receivers false for the second and the third of them.
pub(crate) fn false_share(room: &Room, folder: &str, dealer: &str) {
    resign(room, folder, &format!("1-deal-{dealer}.json"), dealer, |body| {
        let mut shares: Vec<_> = body.rsplitn(6, "\",\"").collect();
        // From the right: the last of five shares, …, all before the second.
        shares.swap(3, 2);
        shares.reverse();
        shares.join("\",\"")
    });
}
