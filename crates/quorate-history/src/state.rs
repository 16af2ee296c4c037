//! What the claims of an era need of a state: roots of blocks, RANDAO mixes, validators, and the sync committee.
//!
//! A state of mainnet has some 300 MB. It is read once from front to back; its fields of fixed length (3 MB) and 64 bytes of each
//! validator are kept. So the fields are found by their offsets and not decoded as one object.
//!
//! Spec: ethereum/consensus-specs, `BeaconState` in `specs/*/beacon-chain.md`.

use std::io::{self, Read, Seek};

use quorate_formats::network::Fork;

use crate::{
    chain::Chain,
    era::EraFile,
    error::{EraError, RecordName},
    preset::Preset,
};

/// The part of a state that claims depend on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    /// Its slot.
    pub slot: u64,
    /// The root of the newest block at each of the last slots, by the slot modulo the length.
    pub block_roots: Vec<[u8; 32]>,
    /// The RANDAO mix of each of the last epochs, by the epoch modulo the length.
    pub randao_mixes: Vec<[u8; 32]>,
    /// All validators, by their index.
    pub validators: Vec<Validator>,
    /// The keys of the sync committee of this time; none before Altair.
    pub sync_committee: Option<Vec<[u8; 48]>>,
}

/// What a state says of a validator, as far as it is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Validator {
    /// Its public key.
    pub key: [u8; 48],
    /// The first epoch in which it is active.
    pub activation_epoch: u64,
    /// The first epoch in which it is no longer active.
    pub exit_epoch: u64,
}

/// The first fields of a state, which do not depend on the fork.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StateHead {
    /// The root that tells chains apart.
    pub genesis_validators_root: [u8; 32],
    /// The state's slot.
    pub slot: u64,
    /// The fork version before that of the state's epoch.
    pub previous_fork_version: [u8; 4],
    /// The fork version of the state's epoch.
    pub fork_version: [u8; 4],
    /// The epoch in which this version came into force.
    pub fork_epoch: u64,
}

impl StateHead {
    const BYTES: usize = 64;

    fn of(bytes: &[u8; Self::BYTES]) -> Self {
        let part = |at: usize| &bytes[at..];
        Self {
            genesis_validators_root: array(part(8)),
            slot: number(part(40)),
            // A fork is its previous version, its current version and its epoch.
            previous_fork_version: array(part(48)),
            fork_version: array(part(52)),
            fork_epoch: number(part(56)),
        }
    }

    /// Checks that it is of a chain and has the fork of the chain's description: its versions, and from when on each was signed under.
    fn check(&self, chain: &Chain) -> Result<(), String> {
        let hex = |bytes: &[u8]| const_hex::encode_prefixed(bytes);
        if self.genesis_validators_root != chain.genesis_validators_root {
            return Err(format!(
                "it is of another network: its genesis validators root is {}, expected {} of {}",
                hex(&self.genesis_validators_root),
                hex(&chain.genesis_validators_root),
                chain.name
            ));
        }
        let epoch = chain.epoch(self.slot);
        let differs = |what: &str, found: String, expected: String| {
            Err(format!(
                "its {what} is {found}, expected {expected} by the forks of {}; if the network has new forks, describe it in a file",
                chain.name
            ))
        };
        let (current, began) = (chain.current_version(epoch), chain.fork_epoch(epoch));
        if self.fork_version != current {
            return differs(&format!("fork version in epoch {epoch}"), hex(&self.fork_version), hex(&current));
        }
        if self.fork_epoch != began {
            return differs("fork's first epoch", self.fork_epoch.to_string(), began.to_string());
        }
        match chain.previous_version(epoch) {
            Some(previous) if self.previous_fork_version != previous => {
                differs("previous fork version", hex(&self.previous_fork_version), hex(&previous))
            }
            _ => Ok(()),
        }
    }

    /// The first fields of the state of a file.
    ///
    /// # Errors
    /// The file cannot be read, or the state does not unpack.
    pub fn read<R: Read + Seek>(file: &mut EraFile<R>) -> Result<Self, EraError> {
        let offset = file.state_offset();
        let mut bytes = [0; Self::BYTES];
        let read = file.state()?.read_exact(&mut bytes);
        read.map_err(|error| EraError::unpacking(offset, RecordName::State, error))?;
        Ok(Self::of(&bytes))
    }
}

impl State {
    /// The state of a file. Memory: 64 bytes for each validator, and what it holds beside them.
    ///
    /// # Errors
    /// The file cannot be read, the state does not unpack, it is not of this chain, or its offsets lie.
    pub fn of_file<R: Read + Seek>(file: &mut EraFile<R>, chain: &Chain) -> Result<Self, EraError> {
        let (offset, slot, limit) = (file.state_offset(), file.slot(), file.state_limit());
        let state = Self::read(file.state()?, limit, chain).map_err(|error| match error {
            Unread::Io(error) => EraError::unpacking(offset, RecordName::State, error),
            Unread::Wrong(reason) => EraError::record(offset, RecordName::State, reason),
        })?;
        if state.slot != slot {
            let reason = format!("its slot is {}, but the file's index says {slot}", state.slot);
            return Err(EraError::record(offset, RecordName::State, reason));
        }
        Ok(state)
    }

    /// A state from its bytes.
    ///
    /// # Errors
    /// The bytes are no state of this chain.
    pub fn from_bytes(bytes: &[u8], chain: &Chain) -> Result<Self, String> {
        Self::read(bytes, bytes.len() as u64, chain).map_err(|error| match error {
            Unread::Io(error) => error.to_string(),
            Unread::Wrong(reason) => reason,
        })
    }

    /// Reads a state of at most `limit` bytes to its end.
    fn read(mut reader: impl Read, limit: u64, chain: &Chain) -> Result<Self, Unread> {
        let mut head = [0; StateHead::BYTES];
        reader.read_exact(&mut head)?;
        let stated = StateHead::of(&head);
        stated.check(chain).map_err(Unread::Wrong)?;
        let slot = stated.slot;
        let layout = Layout::new(chain.fork(chain.epoch(slot)), chain.preset).ok_or_else(|| {
            Unread::Wrong("its fork is Gloas, which this version cannot read; it reads phase0 to Fulu".to_owned())
        })?;
        let mut fixed = head.to_vec();
        read_exactly(&mut reader, &mut fixed, layout.length - StateHead::BYTES)?;
        let offsets = layout.offsets(&fixed, limit)?;

        // The fields before the validators are skipped.
        let validators = offsets[layout.validators]..offsets[layout.validators + 1];
        skip(&mut reader, validators.start - layout.length as u64)?;
        let length = validators.end - validators.start;
        if length % VALIDATOR as u64 != 0 {
            return Err(Unread::Wrong(format!(
                "its validators take {length} bytes by its offsets, expected a multiple of {VALIDATOR}"
            )));
        }
        let count = usize::try_from(length / VALIDATOR as u64).map_err(|_| too_large())?;
        let mut kept = Vec::with_capacity(count);
        let mut bytes = [0; VALIDATOR];
        for _ in 0..count {
            reader.read_exact(&mut bytes)?;
            kept.push(Validator {
                key: array(&bytes),
                activation_epoch: number(&bytes[97..]),
                exit_epoch: number(&bytes[105..]),
            });
        }
        // The rest is read so that damage in it is found, and that the last offset is not beyond the end.
        let rest = io::copy(&mut reader, &mut io::sink())?;
        if offsets.last().is_some_and(|last| *last > validators.end + rest) {
            return Err(Unread::Wrong("its last offset points behind its end".to_owned()));
        }

        let roots = |at: usize, count: u64| -> Vec<[u8; 32]> {
            fixed[at..at + 32 * count as usize].chunks_exact(32).map(array).collect()
        };
        let preset = chain.preset;
        Ok(Self {
            slot,
            block_roots: roots(layout.block_roots, preset.slots_per_historical_root()),
            randao_mixes: roots(layout.randao_mixes, preset.epochs_per_historical_vector()),
            validators: kept,
            sync_committee: layout
                .sync_committee
                .map(|at| fixed[at..at + 48 * preset.sync_committee_size()].chunks_exact(48).map(array).collect()),
        })
    }

    /// The root of the newest block at a slot, one of the last ones before the state.
    #[must_use]
    pub fn block_root(&self, slot: u64) -> [u8; 32] {
        self.block_roots[(slot % self.block_roots.len() as u64) as usize]
    }

    /// The RANDAO mix that the committees of an epoch are drawn from.
    #[must_use]
    pub(crate) fn committee_mix(&self, epoch: u64) -> [u8; 32] {
        let mixes = self.randao_mixes.len() as u64;
        // `MIN_SEED_LOOKAHEAD` is one epoch.
        self.randao_mixes[((epoch % mixes + mixes - 2) % mixes) as usize]
    }
}

/// Why a state was not read.
enum Unread {
    Io(io::Error),
    Wrong(String),
}

impl From<io::Error> for Unread {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Where the fields of a state stand. Places are bytes from its beginning.
struct Layout {
    /// Length of the fixed part.
    length: usize,
    block_roots: usize,
    randao_mixes: usize,
    sync_committee: Option<usize>,
    /// Where the offsets of fields of variable length stand.
    offsets: Vec<usize>,
    /// Which of these is the validators'.
    validators: usize,
}

impl Layout {
    fn new(fork: Fork, preset: Preset) -> Option<Self> {
        if fork > Fork::Fulu {
            return None;
        }
        let (roots, mixes) = (preset.slots_per_historical_root(), preset.epochs_per_historical_vector());
        let mut length = 0;
        let mut offsets = Vec::new();
        let fixed = |bytes: u64, length: &mut usize| {
            let at = *length;
            *length += bytes as usize;
            at
        };
        // Genesis time and genesis validators root, slot, fork, and the latest block's header.
        fixed(8 + 32 + 8 + 16 + 112, &mut length);
        let block_roots = fixed(32 * roots, &mut length);
        // State roots.
        fixed(32 * roots, &mut length);
        // Historical roots.
        offsets.push(fixed(4, &mut length));
        // Eth1 data, and the votes for it.
        fixed(72, &mut length);
        offsets.push(fixed(4, &mut length));
        // Eth1 deposit index.
        fixed(8, &mut length);
        let validators = offsets.len();
        offsets.push(fixed(4, &mut length));
        // Balances.
        offsets.push(fixed(4, &mut length));
        let randao_mixes = fixed(32 * mixes, &mut length);
        // Slashings.
        fixed(8 * preset.epochs_per_slashings_vector(), &mut length);
        // Attestations of the previous and the current epoch; since Altair the participation in them.
        offsets.push(fixed(4, &mut length));
        offsets.push(fixed(4, &mut length));
        // Justification bits, and three checkpoints.
        fixed(1 + 3 * 40, &mut length);
        let sync_committee = (fork >= Fork::Altair).then(|| {
            // Inactivity scores; then the committee's keys and their sum, and the same of the next committee.
            offsets.push(fixed(4, &mut length));
            fixed(2 * (48 * preset.sync_committee_size() as u64 + 48), &mut length)
        });
        if fork >= Fork::Bellatrix {
            // The latest execution payload's header.
            offsets.push(fixed(4, &mut length));
        }
        if fork >= Fork::Capella {
            // The next withdrawal's index and validator; historical summaries.
            fixed(16, &mut length);
            offsets.push(fixed(4, &mut length));
        }
        if fork >= Fork::Electra {
            // Six numbers; pending deposits, partial withdrawals and consolidations.
            fixed(6 * 8, &mut length);
            (0..3).for_each(|_| offsets.push(fixed(4, &mut length)));
        }
        if fork >= Fork::Fulu {
            // The proposers of this epoch and the next.
            fixed(2 * preset.slots_per_epoch() * 8, &mut length);
        }
        Some(Self { length, block_roots, randao_mixes, sync_committee, offsets, validators })
    }

    /// The offsets of the fields of variable length, which rise from the end of the fixed part on.
    fn offsets(&self, fixed: &[u8], limit: u64) -> Result<Vec<u64>, Unread> {
        let read = |at: &usize| u64::from(u32::from_le_bytes(array(&fixed[*at..])));
        let offsets: Vec<u64> = self.offsets.iter().map(read).collect();
        if offsets[0] != self.length as u64 {
            return Err(Unread::Wrong(format!(
                "its first offset is {}, expected {}, where the fields of fixed length end; is it of another preset or fork?",
                offsets[0], self.length
            )));
        }
        if let Some(pair) = offsets.windows(2).find(|pair| pair[0] > pair[1]) {
            return Err(Unread::Wrong(format!("its offset {} follows {}; offsets must not fall", pair[1], pair[0])));
        }
        match offsets.last() {
            Some(last) if *last > limit => {
                Err(Unread::Wrong(format!("its last offset is {last}, but it has at most {limit} bytes")))
            }
            _ => Ok(offsets),
        }
    }
}

/// The bytes of a validator: key, withdrawal credentials, effective balance, whether it is slashed, and four epochs
/// (eligible, active, exited, withdrawable).
const VALIDATOR: usize = 48 + 32 + 8 + 1 + 4 * 8;

fn too_large() -> Unread {
    Unread::Wrong("it is too large for this machine".to_owned())
}

/// Appends exactly this many bytes.
fn read_exactly(reader: &mut impl Read, into: &mut Vec<u8>, bytes: usize) -> io::Result<()> {
    let read = reader.take(bytes as u64).read_to_end(into)?;
    if read < bytes { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(()) }
}

fn skip(reader: &mut impl Read, bytes: u64) -> io::Result<()> {
    let skipped = io::copy(&mut reader.take(bytes), &mut io::sink())?;
    if skipped < bytes { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(()) }
}

/// The first bytes of a slice that has enough of them.
fn array<const N: usize>(bytes: &[u8]) -> [u8; N] {
    std::array::from_fn(|i| bytes[i])
}

fn number(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(array(bytes))
}
