//! The light-client documents of a run. All are read before the first update is judged, because one may contain the committee that
//! another needs.

use std::sync::Arc;

use quorate::ClaimBytes;
use quorate_formats::{
    Entry, Place,
    light_client::{BeaconNetwork, Committees, Document, Lesson},
};

use super::arguments::Arguments;
use crate::exit::Failure;

/// The documents, and the committees that are known.
#[derive(Default)]
pub(super) struct LightClient {
    documents: Vec<(Arc<str>, Document)>,
    committees: Committees,
    /// None if there is no document.
    network: Option<BeaconNetwork>,
    least_participants: usize,
}

impl LightClient {
    /// Learns the committees of the files of flags, by their names, and of the documents.
    pub(super) fn learn(
        arguments: &Arguments,
        committee_files: Vec<(String, String)>,
        documents: Vec<(Arc<str>, Document)>,
    ) -> Result<(Self, Vec<Lesson>), Failure> {
        let network = arguments.beacon_network().map_err(|error| Failure::usage(error).context("--network"))?;
        let mut committees = arguments.trusted_root.map_or_else(Committees::default, Committees::trusting);
        for (name, text) in committee_files {
            committees.add_file(&text, &name, None, &network).map_err(|e| Failure::usage(e).context(name))?;
        }
        let (names, documents): (Vec<_>, Vec<_>) = documents.into_iter().unzip();
        let lessons = committees.learn(&documents, &network);
        let documents = names.into_iter().zip(documents).collect();
        let least_participants = arguments.least_participants();
        Ok((Self { documents, committees, network: Some(network), least_participants }, lessons))
    }

    /// The network's name in messages.
    pub(super) fn network(&self) -> &str {
        self.network.as_ref().map_or("", |network| network.name.as_str())
    }

    /// The entries of each document.
    pub(super) fn updates(&self) -> Vec<(Arc<str>, Vec<Entry>)> {
        let Some(network) = &self.network else { return Vec::new() };
        let entries =
            |document: &Document| document.records(&self.committees, network, self.least_participants).collect();
        self.documents.iter().map(|(name, document)| (name.clone(), entries(document))).collect()
    }

    /// The update at a place as a claim on each of the other networks that are known, by their names.
    pub(super) fn on_other_networks(&self, document: &str, place: Place) -> Vec<(String, ClaimBytes)> {
        let Some((_, document)) = self.documents.iter().find(|(name, _)| **name == *document) else {
            return Vec::new();
        };
        let others =
            BeaconNetwork::names().filter_map(|name| name.parse().ok()).filter(|it| Some(it) != self.network.as_ref());
        let claims = others.filter_map(|network: BeaconNetwork| {
            let mut entries = document.records(&self.committees, &network, self.least_participants);
            let record = entries.find_map(|entry| entry.ok().filter(|record| record.place == place))?;
            Some((network.name.clone(), record.into_claim(None).ok()?))
        });
        claims.collect()
    }
}
