//! The records of a store: one database, and the key that makes what is in it ours.

use std::time::Duration;

use hmac::{Hmac, KeyInit, Mac};
use quorate::{ClaimBytes, Messages, Soundness};
use redb::{Database, ReadableDatabase, ReadableTable, ReadableTableMetadata, StorageError, TableDefinition};
use sha2::Sha256;

/// What the store keeps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreSettings {
    /// A record that is older is not there. Default: a day.
    pub age: Duration,
    /// The most records. The oldest are removed first. Default: a million, which take about 200 MB, on BN254 more.
    pub most: u64,
}

impl Default for StoreSettings {
    fn default() -> Self {
        Self { age: Duration::from_secs(24 * 3600), most: 1_000_000 }
    }
}

/// A database that is open.
#[derive(Debug)]
pub(super) struct Records {
    pub(super) database: Database,
    pub(super) settings: StoreSettings,
    pub(super) key: [u8; 32],
}

/// By the MAC of a statement: time of verification, bits of soundness, MAC, signature.
const RECORDS: TableDefinition<'_, &[u8; 32], &[u8]> = TableDefinition::new("statements");
/// The same statements by time, for those that are too old or too many.
const TIMES: TableDefinition<'_, (u64, &[u8; 32]), &[u8]> = TableDefinition::new("times");
/// The MAC of nothing, by which a key is recognised.
const KEY_CHECK: TableDefinition<'_, &str, &[u8; 32]> = TableDefinition::new("key");

/// The names between which those of all records are.
const FIRST_NAME: &[u8; 32] = &[0; 32];
const LAST_NAME: &[u8; 32] = &[0xff; 32];

/// A clock may be so much slower than the one that wrote a record.
const SLACK: u64 = 60;
/// How many records of too many are removed at a time.
const REMOVED: usize = 10_000;
const MAC_LENGTH: usize = 16;

/// Statements with longer messages are not stored.
pub(super) const LONGEST_MESSAGE: usize = 1024;

impl Records {
    pub(super) fn write(&self, claims: &[ClaimBytes], soundness: Soundness, now: u64) -> Result<usize, redb::Error> {
        let transaction = self.database.begin_write()?;
        let mut written = 0;
        {
            let mut records = transaction.open_table(RECORDS)?;
            let mut times = transaction.open_table(TIMES)?;
            for claim in claims.iter().filter(|claim| is_storable(claim)) {
                let Some(key) = claim.public_keys.encoded(0) else { continue };
                let Some(statement) = statement(claim, 0, &key) else { continue };
                let name = self.name(&statement);
                let record = self.record(&name, now, soundness, &claim.signature);
                let before = records.insert(&name, &record[..])?.and_then(|old| time_of(old.value()));
                if let Some(before) = before {
                    times.remove((before, &name))?;
                }
                times.insert((now, &name), &statement.to_bytes()[..])?;
                written += 1;
            }
            // A clock that was ahead has left them. They are no surplus that would push out what can be used.
            let future = times.range((latest(now).saturating_add(1), FIRST_NAME)..)?.take(REMOVED).map(|entry| {
                let (key, _) = entry?;
                let (time, name) = key.value();
                Ok((time, *name))
            });
            let future: Vec<_> = future.collect::<Result<_, StorageError>>()?;
            let oldest = now.saturating_sub(self.settings.age.as_secs());
            let kept = records.len()?.saturating_sub(future.len() as u64);
            let surplus = kept.saturating_sub(self.settings.most).min(REMOVED as u64) as usize;
            let old = times.iter()?.enumerate().map_while(|(i, entry)| match entry {
                Ok((time, _)) => {
                    let (time, name) = time.value();
                    (i < surplus || time < oldest).then_some(Ok((time, *name)))
                }
                Err(error) => Some(Err(error)),
            });
            let old: Vec<_> = old.take(REMOVED).collect::<Result<_, _>>()?;
            for (time, name) in future.into_iter().chain(old) {
                times.remove((time, &name))?;
                records.remove(&name)?;
            }
        }
        transaction.commit()?;
        Ok(written)
    }

    pub(super) fn read(
        &self,
        claim: &ClaimBytes,
        indices: &[usize],
        soundness: Soundness,
        now: u64,
    ) -> Result<Vec<Option<Vec<u8>>>, redb::Error> {
        let records = self.database.begin_read()?.open_table(RECORDS)?;
        // All at once: to find one key of a bitmap takes as long as to find all.
        let keys = if indices.is_empty() { Vec::new() } else { claim.public_keys.encodings() };
        let signature = |index: &usize| {
            let statement = keys.get(*index).and_then(|key| statement(claim, *index, key));
            let Some(name) = statement.map(|statement| self.name(&statement)) else { return Ok(None) };
            let record = records.get(&name)?;
            Ok(record.and_then(|record| self.checked(&name, record.value(), soundness, now).map(<[u8]>::to_vec)))
        };
        indices.iter().map(signature).collect()
    }

    pub(super) fn newest(&self, most: usize, soundness: Soundness, now: u64) -> Result<Vec<ClaimBytes>, redb::Error> {
        let transaction = self.database.begin_read()?;
        let (records, times) = (transaction.open_table(RECORDS)?, transaction.open_table(TIMES)?);
        let mut claims = Vec::new();
        for entry in times.range(..=(latest(now), LAST_NAME))?.rev().take(most) {
            let (key, statement) = entry?;
            let (_, name) = key.value();
            let Some(record) = records.get(name)? else { continue };
            let Some(signature) = self.checked(name, record.value(), soundness, now) else { continue };
            // The statement has no MAC of its own, but its name is one.
            let Some(claim) = parse_statement(statement.value(), signature) else { continue };
            let key = claim.public_keys.encoded(0);
            let statement = key.as_ref().and_then(|key| self::statement(&claim, 0, key));
            if statement.is_some_and(|statement| self.name(&statement) == *name) {
                drop(key);
                claims.push(claim);
            }
        }
        Ok(claims)
    }

    pub(super) fn len(&self) -> Result<u64, redb::Error> {
        Ok(self.database.begin_read()?.open_table(RECORDS)?.len()?)
    }

    pub(super) fn key_check(&self) -> Result<bool, redb::Error> {
        let checks = self.database.begin_read()?.open_table(KEY_CHECK)?;
        let check = checks.get("check")?;
        Ok(check.is_some_and(|check| self.mac("key check").verify_slice(check.value()).is_ok()))
    }

    pub(super) fn write_key_check(&self) -> Result<(), redb::Error> {
        let transaction = self.database.begin_write()?;
        let check: [u8; 32] = self.mac("key check").finalize().into_bytes().into();
        transaction.open_table(KEY_CHECK)?.insert("check", &check)?;
        transaction.open_table(RECORDS)?;
        transaction.open_table(TIMES)?;
        transaction.commit()?;
        Ok(())
    }

    fn mac(&self, purpose: &str) -> Hmac<Sha256> {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.key).expect("HMAC takes keys of any length");
        mac.update(b"quorate known store 1 ");
        mac.update(purpose.as_bytes());
        mac.update(&[0]);
        mac
    }

    /// The name of a statement: the MAC of its suite, key and message.
    fn name(&self, statement: &Statement<'_>) -> [u8; 32] {
        let mut mac = self.mac("statement");
        for part in [statement.suite.as_bytes(), &[statement.kind], statement.key, statement.message] {
            mac.update(&(part.len() as u64).to_be_bytes());
            mac.update(part);
        }
        mac.finalize().into_bytes().into()
    }

    fn record(&self, name: &[u8; 32], now: u64, soundness: Soundness, signature: &[u8]) -> Vec<u8> {
        let bits = soundness.bits();
        let mac = self.record_mac(name, now, bits, signature).finalize().into_bytes();
        [&now.to_be_bytes()[..], &bits.to_be_bytes(), &mac[..MAC_LENGTH], signature].concat()
    }

    /// Its purpose was "record" before records had bits of soundness. So no record of that time is one of now, however it is cut.
    fn record_mac(&self, name: &[u8; 32], time: u64, bits: u32, signature: &[u8]) -> Hmac<Sha256> {
        let mut mac = self.mac("record with soundness");
        mac.update(name);
        mac.update(&time.to_be_bytes());
        mac.update(&bits.to_be_bytes());
        mac.update(signature);
        mac
    }

    /// The signature of a record, if the record is ours, not too old, and of a statement that was verified with this soundness or more.
    fn checked<'r>(&self, name: &[u8; 32], record: &'r [u8], soundness: Soundness, now: u64) -> Option<&'r [u8]> {
        let (time, rest) = record.split_first_chunk()?;
        let (bits, rest) = rest.split_first_chunk()?;
        let (mac, signature) = rest.split_at_checked(MAC_LENGTH)?;
        let (time, bits) = (u64::from_be_bytes(*time), u32::from_be_bytes(*bits));
        self.record_mac(name, time, bits, signature).verify_truncated_left(mac).ok()?;
        let fresh = time <= latest(now) && now.saturating_sub(time) <= self.settings.age.as_secs();
        (fresh && bits >= soundness.bits()).then_some(signature)
    }
}

/// Whether a verified claim is written: one of one statement, since of several only the sum of the signatures is known, and with a
/// message that is not too long.
pub(crate) fn is_storable(claim: &ClaimBytes) -> bool {
    let message = match &claim.messages {
        Messages::Shared(message) => message.len(),
        Messages::Each(messages) => messages.iter().map(|message| message.len()).sum(),
        Messages::ProofOfPossession => 0,
        _ => return false,
    };
    claim.statements() == 1 && message <= LONGEST_MESSAGE
}

/// What the name of a record is made of.
struct Statement<'a> {
    suite: &'a str,
    /// 0 for a message, 1 for a proof of possession.
    kind: u8,
    key: &'a [u8],
    message: &'a [u8],
}

impl Statement<'_> {
    /// What [`parse_statement`] reads.
    fn to_bytes(&self) -> Vec<u8> {
        let Self { suite, kind, key, message } = *self;
        let length = |bytes: &[u8]| (bytes.len() as u32).to_be_bytes();
        let suite = suite.as_bytes();
        [&[kind][..], &length(suite), suite, &length(key), key, message].concat()
    }
}

/// The statement of a claim with an index, whose encoded key the caller has. `None` if the claim has no such statement, if its message is
/// too long for a record, or if the key has another length than a claim's, because no record could give it back. The encoding of a member
/// whom the set does not have is empty, and under `eigenlayer` that of a member is its key in G2 alone.
fn statement<'a>(claim: &'a ClaimBytes, index: usize, key: &'a [u8]) -> Option<Statement<'a>> {
    if key.len() != claim.suite.key_length() {
        return None;
    }
    let (kind, message): (u8, &[u8]) = match &claim.messages {
        Messages::Shared(message) => (0, message),
        Messages::Each(messages) => (0, messages.get(index)?),
        Messages::ProofOfPossession => (1, &[]),
        _ => return None,
    };
    (message.len() <= LONGEST_MESSAGE).then(|| Statement { suite: claim.suite.name(), kind, key, message })
}

fn parse_statement(bytes: &[u8], signature: &[u8]) -> Option<ClaimBytes> {
    let (kind, rest) = bytes.split_first()?;
    let (suite, rest) = counted(rest)?;
    let (key, message) = counted(rest)?;
    let suite = std::str::from_utf8(suite).ok()?.parse().ok()?;
    Some(match kind {
        0 => ClaimBytes::single(suite, key, message, signature),
        1 => ClaimBytes::proof_of_possession(suite, key, signature),
        _ => return None,
    })
}

/// A part with its length in front, and what follows it.
fn counted(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = bytes.split_first_chunk()?;
    rest.split_at_checked(u32::from_be_bytes(*length) as usize)
}

/// The latest time that a record can have.
fn latest(now: u64) -> u64 {
    now.saturating_add(SLACK)
}

fn time_of(record: &[u8]) -> Option<u64> {
    record.first_chunk().map(|time| u64::from_be_bytes(*time))
}
