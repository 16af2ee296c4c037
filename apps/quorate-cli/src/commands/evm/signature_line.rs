//! A line of `quorate evm sign`: an operator's signature, and the parts of the digest that it signs.

use quorate_evm::{
    KeyGroup, Network, OperatorKey, QuorumSignature,
    alloy_primitives::{Address, B256, Bytes},
    digest::{Contract, Results},
};
use quorate_formats::json;
use serde::{Deserialize, Serialize};

use super::store::StoreIn;

/// An operator's signature over the results of one call of a settlement, as JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SignatureLine {
    /// The curve and the group of the key.
    key_group: KeyGroup,
    /// The index of the key in the contract.
    #[serde(skip_serializing_if = "Option::is_none")]
    index: Option<usize>,
    /// The operator's key, as a network lists it.
    key: Bytes,
    /// What is signed.
    #[serde(flatten)]
    parts: Parts,
    /// The digest of the parts.
    digest: B256,
    /// Of the length of the key group. Not checked to be a point.
    #[serde(serialize_with = "as_hex")]
    signature: QuorumSignature,
}

/// What a digest is computed from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Parts {
    pub(super) chain_id: u64,
    pub(super) contract: Address,
    pub(super) epoch: u32,
    pub(super) nonce: u64,
    pub(super) deadline: u64,
    pub(super) store: StoreIn,
    pub(super) results: Vec<B256>,
}

impl Parts {
    /// What a quorum signs for these results.
    pub(super) fn digest(&self) -> B256 {
        let settlement = Contract { chain_id: self.chain_id, address: self.contract };
        let Self { epoch, nonce, deadline, store, ref results, .. } = *self;
        Results { settlement, epoch, nonce, deadline, store: store.word(), results }.digest().into()
    }

    /// The parts and their digest, for a person.
    pub(super) fn lines(&self) -> impl Iterator<Item = String> {
        let Self { chain_id, contract, epoch, nonce, deadline, store, results } = self;
        let mut heading = "results  ";
        let results =
            results.iter().map(move |result| format!("{}  {result}", std::mem::replace(&mut heading, "         ")));
        let before = [
            format!("contract   {contract}, chain {chain_id}, epoch {epoch}"),
            format!("nonce      {nonce}"),
            format!("deadline   {deadline}"),
            format!("store      {store}"),
        ];
        before.into_iter().chain(results).chain([format!("digest     {}", self.digest())])
    }
}

impl SignatureLine {
    /// Signs the parts.
    pub(super) fn sign(operator: &OperatorKey, index: Option<usize>, parts: Parts) -> Self {
        let digest = parts.digest();
        let (key_group, key, signature) = (operator.key_group(), operator.member(), operator.sign(&digest));
        Self { key_group, index, key, parts, digest, signature }
    }

    /// Reads a line. The lengths are checked, and that the digest is that of the parts. The key and the signature are not
    /// checked to be points.
    ///
    /// # Errors
    /// A sentence that names the field and its fault.
    pub fn parse(text: &str) -> Result<Self, String> {
        let object: Object = json::object(text).map_err(|error| error.to_string())?;
        let Object { key_group, index, key, digest, signature, results, .. } = object;
        if results.is_empty() {
            return Err("\"results\": found an empty list, expected at least one result".to_owned());
        }
        if key.len() != key_group.member_bytes() {
            let (found, expected) = (key.len(), key_group.member_bytes());
            return Err(format!("\"key\": {found} bytes, expected {expected} as in {key_group}"));
        }
        let signature = QuorumSignature::from_bytes(key_group, &signature).map_err(|_| {
            let (found, expected) = (signature.len(), key_group.signature_bytes());
            format!("\"signature\": {found} bytes, expected {expected} as in {key_group}")
        })?;
        let Object { chain_id, contract, epoch, nonce, deadline, store, .. } = object;
        let parts = Parts { chain_id, contract, epoch, nonce, deadline, store, results };
        if digest != parts.digest() {
            return Err("\"digest\": it is not the digest of the other fields".to_owned());
        }
        Ok(Self { key_group, index, key, parts, digest, signature })
    }

    /// The parts of the digest.
    pub(super) fn parts(&self) -> &Parts {
        &self.parts
    }

    /// What is signed.
    pub fn digest(&self) -> B256 {
        self.digest
    }

    /// The signature. Nothing of it is proven.
    pub fn signature(&self) -> QuorumSignature {
        self.signature
    }

    /// The member of a network that the line is of. The line must be for the network's contract, epoch and next result, and
    /// its key must be the member's.
    ///
    /// # Errors
    /// A sentence that names the field and its fault.
    pub fn member_of(&self, network: &Network) -> Result<usize, String> {
        let Parts { chain_id, contract, epoch, nonce, .. } = &self.parts;
        differs("key_group", &self.key_group, &network.key_group)?;
        differs("chain_id", chain_id, &network.chain_id)?;
        differs("contract", contract, &network.contract)?;
        differs("epoch", epoch, &network.epoch)?;
        differs("nonce", nonce, &network.nonce)?;
        match self.index {
            Some(index) => {
                is_of_member(&self.key, index, network).map(|()| index).map_err(|why| format!("\"index\": {why}"))
            }
            None => {
                let found = network.keys.iter().position(|key| *key == self.key);
                found.ok_or_else(|| "\"key\": no member of the network has this key".to_owned())
            }
        }
    }
}

/// Whether a key is the one at an index of a network.
pub(super) fn is_of_member(key: &Bytes, index: usize, network: &Network) -> Result<(), String> {
    match network.keys.get(index) {
        None => Err(format!("there is no member {index}: the network has {} keys", network.keys.len())),
        Some(member) if member != key => Err(format!("it is not the key of member {index}")),
        Some(_) => Ok(()),
    }
}

fn differs<T: PartialEq + ToString>(field: &str, found: &T, expected: &T) -> Result<(), String> {
    if found == expected {
        return Ok(());
    }
    Err(format!("\"{field}\": found {}, expected {} as in the network", found.to_string(), expected.to_string()))
}

fn as_hex<S: serde::Serializer>(signature: &QuorumSignature, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&const_hex::encode_prefixed(signature.as_bytes()))
}

/// A line before its lengths are checked. Without `flatten`, which would lose the names of fields in errors.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object")]
struct Object {
    key_group: KeyGroup,
    index: Option<usize>,
    key: Bytes,
    chain_id: u64,
    contract: Address,
    epoch: u32,
    nonce: u64,
    deadline: u64,
    store: StoreIn,
    results: Vec<B256>,
    digest: B256,
    signature: Bytes,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use quorate_evm::quorum::Store;

    use super::*;

    fn line(key_group: KeyGroup, index: Option<usize>) -> SignatureLine {
        let parts = Parts {
            chain_id: 1,
            contract: Address::repeat_byte(1),
            epoch: 2,
            nonce: 3,
            deadline: u64::MAX,
            store: StoreIn(Store::Slot(4)),
            results: vec![B256::repeat_byte(5), B256::ZERO],
        };
        SignatureLine::sign(&OperatorKey::from_entropy(key_group, &[1; 48]), index, parts)
    }

    #[test]
    fn lines_there_and_back() {
        for key_group in KeyGroup::ALL {
            for index in [None, Some(0), Some(usize::MAX)] {
                let line = line(key_group, index);
                let printed = serde_json::to_string(&line).unwrap();
                assert_eq!(SignatureLine::parse(&printed), Ok(line));
            }
        }
    }

    proptest! {
        /// A line with characters replaced, cut out or put in is refused, or it is printed again as the same line.
        #[test]
        fn damaged_lines_are_refused_or_read(
            group in 0usize..3,
            damages in prop::collection::vec((any::<prop::sample::Index>(), 0usize..4, "[ -~ä]{0,3}"), 1..4),
        ) {
            let mut text: Vec<char> = serde_json::to_string(&line(KeyGroup::ALL[group], Some(1))).unwrap().chars().collect();
            for (at, length, by) in damages {
                let at = at.index(text.len());
                text.splice(at..text.len().min(at + length), by.chars());
            }
            let text: String = text.into_iter().collect();
            if let Ok(read) = SignatureLine::parse(&text) {
                let printed = serde_json::to_string(&read).unwrap();
                prop_assert_eq!(SignatureLine::parse(&printed), Ok(read));
            }
        }

        #[test]
        fn any_text_is_refused_or_read(text in "\\{?[\"a-z_:,0-9{}\\[\\]]{0,60}") {
            let _ = SignatureLine::parse(&text);
        }
    }
}
