//! The records of a store: one database, and the key that makes what is in it ours.

use std::{borrow::Cow, time::Duration};

use hmac::{Hmac, KeyInit, Mac};
use quorate::{AnySuite, ClaimBytes, Messages, Suite};
use redb::{Database, ReadableDatabase, ReadableTable, ReadableTableMetadata, TableDefinition};
use sha2::Sha256;

/// What the store keeps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreSettings {
    /// A record that is older is not there. Default: a day.
    pub age: Duration,
    /// The most records. The oldest are removed first. Default: a million, which take about 200 MB.
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

/// By the MAC of a statement: version, time of verification, MAC, signature.
const RECORDS: TableDefinition<'_, &[u8; 32], &[u8]> = TableDefinition::new("statements");
/// The same statements by time, for those that are too old or too many.
const TIMES: TableDefinition<'_, (u64, &[u8; 32]), &[u8]> = TableDefinition::new("times");
/// The MAC of nothing, by which a key is recognised.
const KEY_CHECK: TableDefinition<'_, &str, &[u8; 32]> = TableDefinition::new("key");

/// A clock may be so much slower than the one that wrote a record.
const SLACK: u64 = 60;
/// How many records of too many are removed at a time.
const REMOVED: usize = 10_000;
const MAC_LENGTH: usize = 16;

/// Statements with longer messages are not stored.
pub(super) const LONGEST_MESSAGE: usize = 1024;

impl Records {
    pub(super) fn write(&self, claims: &[ClaimBytes], now: u64) -> Result<usize, redb::Error> {
        let transaction = self.database.begin_write()?;
        let mut written = 0;
        {
            let mut records = transaction.open_table(RECORDS)?;
            let mut times = transaction.open_table(TIMES)?;
            for claim in claims.iter().filter(|claim| claim.statements() == 1) {
                if statement(claim, 0).is_none_or(|statement| statement.message.len() > LONGEST_MESSAGE) {
                    continue;
                }
                let Some(name) = self.name(claim, 0) else { continue };
                let record = self.record(&name, now, &claim.signature);
                let before = records.insert(&name, &record[..])?.and_then(|old| time_of(old.value()));
                if let Some(before) = before {
                    times.remove((before, &name))?;
                }
                times.insert((now, &name), &self.restored(claim)[..])?;
                written += 1;
            }
            let oldest = now.saturating_sub(self.settings.age.as_secs());
            let surplus = records.len()?.saturating_sub(self.settings.most).min(REMOVED as u64) as usize;
            let old = times.iter()?.enumerate().map_while(|(i, entry)| match entry {
                Ok((time, _)) => {
                    let (time, name) = time.value();
                    // One time in the future does not stop the removal of the others.
                    (i < surplus || time < oldest).then_some(Ok((time, *name)))
                }
                Err(error) => Some(Err(error)),
            });
            let old: Vec<_> = old.take(REMOVED).collect::<Result<_, _>>()?;
            for (time, name) in old {
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
        now: u64,
    ) -> Result<Vec<Option<Vec<u8>>>, redb::Error> {
        let records = self.database.begin_read()?.open_table(RECORDS)?;
        let signature = |index: &usize| {
            let Some(name) = self.name(claim, *index) else { return Ok(None) };
            let record = records.get(&name)?;
            Ok(record.and_then(|record| self.checked(&name, record.value(), now).map(<[u8]>::to_vec)))
        };
        indices.iter().map(signature).collect()
    }

    pub(super) fn newest(&self, most: usize, now: u64) -> Result<Vec<ClaimBytes>, redb::Error> {
        let transaction = self.database.begin_read()?;
        let (records, times) = (transaction.open_table(RECORDS)?, transaction.open_table(TIMES)?);
        let mut claims = Vec::new();
        for entry in times.iter()?.rev().take(most) {
            let (key, statement) = entry?;
            let (_, name) = key.value();
            let Some(record) = records.get(name)? else { continue };
            let Some(signature) = self.checked(name, record.value(), now) else { continue };
            // The statement has no MAC of its own, but its name is one.
            let Some(claim) = parse_statement(statement.value(), signature) else { continue };
            if self.name(&claim, 0).as_ref() == Some(name) {
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

    /// The name of a statement: the MAC of its suite, key and message. `None` if the claim has no such statement, or if
    /// nothing is subtracted from claims of its suite.
    fn name(&self, claim: &ClaimBytes, index: usize) -> Option<[u8; 32]> {
        let statement = statement(claim, index)?;
        let mut mac = self.mac("statement");
        for part in [statement.suite.as_bytes(), &[statement.kind], &statement.key, statement.message] {
            mac.update(&(part.len() as u64).to_be_bytes());
            mac.update(part);
        }
        Some(mac.finalize().into_bytes().into())
    }

    fn record(&self, name: &[u8; 32], now: u64, signature: &[u8]) -> Vec<u8> {
        let mac = self.record_mac(name, now, signature).finalize().into_bytes();
        [&now.to_be_bytes(), &mac[..MAC_LENGTH], signature].concat()
    }

    fn record_mac(&self, name: &[u8; 32], time: u64, signature: &[u8]) -> Hmac<Sha256> {
        let mut mac = self.mac("record");
        mac.update(name);
        mac.update(&time.to_be_bytes());
        mac.update(signature);
        mac
    }

    /// The signature of a record, if the record is ours and not too old.
    fn checked<'r>(&self, name: &[u8; 32], record: &'r [u8], now: u64) -> Option<&'r [u8]> {
        let time = time_of(record)?;
        let (mac, signature) = record[8..].split_at_checked(MAC_LENGTH)?;
        self.record_mac(name, time, signature).verify_truncated_left(mac).ok()?;
        let fresh = time <= now.saturating_add(SLACK) && now.saturating_sub(time) <= self.settings.age.as_secs();
        fresh.then_some(signature)
    }

    /// What [`parse_statement`] reads.
    fn restored(&self, claim: &ClaimBytes) -> Vec<u8> {
        let Some(Statement { suite, kind, key, message }) = statement(claim, 0) else { return Vec::new() };
        let length = |bytes: &[u8]| (bytes.len() as u32).to_be_bytes();
        let suite = suite.as_bytes();
        [&[kind][..], &length(suite), suite, &length(&key), &key, message].concat()
    }
}

/// What the name of a record is made of.
struct Statement<'a> {
    suite: &'a str,
    /// 0 for a message, 1 for a proof of possession.
    kind: u8,
    key: Cow<'a, [u8]>,
    message: &'a [u8],
}

fn statement(claim: &ClaimBytes, index: usize) -> Option<Statement<'_>> {
    let key = claim.public_keys.encoded(index)?;
    let (kind, message): (u8, &[u8]) = match &claim.messages {
        Messages::Shared(message) => (0, message),
        Messages::Each(messages) => (0, messages.get(index)?),
        Messages::ProofOfPossession => (1, &[]),
        _ => return None,
    };
    let suite = match claim.suite {
        AnySuite::MinPk(suite) => suite.name(),
        AnySuite::MinSig(suite) => suite.name(),
        #[allow(unreachable_patterns, reason = "a feature adds suites of which nothing is subtracted")]
        _ => return None,
    };
    Some(Statement { suite, kind, key, message })
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

fn time_of(record: &[u8]) -> Option<u64> {
    record.first_chunk().map(|time| u64::from_be_bytes(*time))
}
