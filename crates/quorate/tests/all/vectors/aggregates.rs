//! Sums of signatures and of keys, byte for byte.

use quorate::{
    Backend, MinPk, PublicKey, Signature,
    aggregate::{aggregate, aggregate_public_keys},
};
use serde::Deserialize;

use quorate_lab::answers::{
    File, Vectors,
    bytes::{Hex, hex_bytes, plain},
    catalogue::Kind,
    ethereum::{Aggregate, Framed, header_aggregate, sync_aggregates},
    herumi,
    schemes::chia,
};

#[test]
fn sums_of_signatures() {
    let Some(vectors) = Vectors::open("sums of signatures", &["01", "03"]) else { return };
    let sums = vectors.collect("sums of signatures", |file| match file.kind {
        Kind::EthAggregate => Some(framed(file).into_iter().collect()),
        Kind::Herumi => summed_by_herumi(file),
        Kind::ChiaSchemes => Some(summed_by_chia(file)),
        _ => None,
    });
    for Sum { id, parts, sum } in sums {
        let parts: Result<Vec<_>, _> = parts.iter().map(|part| Signature::<MinPk>::from_bytes(part)).collect();
        let found = parts.ok().and_then(|parts| aggregate(&parts, Backend::auto()).ok());
        assert_eq!(found.map(|signature| signature.to_bytes().to_vec()), sum, "{id}");
    }
}

#[test]
fn sums_of_keys() {
    let Some(vectors) = Vectors::open("sums of keys", &["01", "07"]) else { return };
    let sums = vectors.collect("sums of keys", |file| match file.kind {
        Kind::AltairAggregateKeys => Some(framed(file).into_iter().collect()),
        Kind::SyncAggregates => Some(sync_aggregates(file).into_iter().map(Sum::from).collect()),
        Kind::HeaderAggregate => Some(header_aggregate(file).into_iter().map(Sum::from).collect()),
        Kind::CommitteeSum => Some(committee(file).into_iter().collect()),
        _ => None,
    });
    for Sum { id, parts, sum } in sums {
        let parts: Result<Vec<_>, _> = parts.iter().map(|part| PublicKey::<MinPk>::from_bytes(part)).collect();
        let found = parts.ok().and_then(|parts| aggregate_public_keys(&parts, Backend::auto()).ok());
        assert_eq!(found.map(|key| key.to_bytes().to_vec()), sum, "{id}");
    }
}

/// Points and what they add up to; `None` where the source refuses them.
struct Sum {
    id: String,
    parts: Vec<Vec<u8>>,
    sum: Option<Vec<u8>>,
}

impl From<Aggregate> for Sum {
    fn from(aggregate: Aggregate) -> Self {
        Self { id: aggregate.case.id, parts: aggregate.case.keys, sum: Some(aggregate.key) }
    }
}

fn framed(file: &File) -> Option<Sum> {
    let Framed::<Vec<Hex>, Option<Hex>> { input, output } = file.parse()?;
    Some(Sum { id: file.name.clone(), parts: plain(input), sum: output.map(|sum| sum.0) })
}

fn summed_by_herumi(file: &File) -> Option<Vec<Sum>> {
    let sums = herumi::of(file, herumi::HerumiContent::Sum)?.into_iter().filter_map(|record| {
        let sum = Some(file.fitting(&record.id, hex_bytes(&record.out))?);
        Some(Sum { sum, id: record.id, parts: record.signatures })
    });
    Some(sums.collect())
}

fn summed_by_chia(file: &File) -> Vec<Sum> {
    let schemes = chia(file).into_iter();
    schemes.map(|(i, _, c)| Sum { id: file.id(i), parts: plain(c.sig), sum: Some(c.aggregate.0) }).collect()
}

fn committee(file: &File) -> Option<Sum> {
    #[derive(Deserialize)]
    struct Content {
        pubkeys: Vec<Hex>,
        aggregate_pubkey: Hex,
    }
    let content: Content = file.parse()?;
    Some(Sum { id: file.name.clone(), parts: plain(content.pubkeys), sum: Some(content.aggregate_pubkey.0) })
}
