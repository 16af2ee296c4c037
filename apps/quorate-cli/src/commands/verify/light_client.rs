//! The light-client documents of a run. All are read before the first update is judged, because one may contain the committee that
//! another needs.

use quorate_formats::{
    Entry,
    light_client::{BeaconNetwork, Document, Lesson, SyncCommittees},
};
use quorate_host::exit::Failure;

use super::{arguments::Arguments, arrival::Input};

/// The documents, and the committees that are known.
#[derive(Default)]
pub(super) struct LightClient {
    inputs: Vec<Input>,
    documents: Vec<Document>,
    /// What the user gave.
    given: SyncCommittees,
    /// What the documents taught beside it.
    committees: SyncCommittees,
    /// None if there is no document.
    network: Option<BeaconNetwork>,
    least_participants: usize,
}

impl LightClient {
    /// Learns the committees of the files of flags, by their names, and of the documents.
    pub(super) fn learn(
        arguments: &Arguments,
        committee_files: Vec<(String, String)>,
        documents: Vec<(Input, Document)>,
    ) -> Result<(Self, Vec<Lesson>), Failure> {
        let network = arguments.beacon_network().map_err(|error| Failure::usage(error).context("--network"))?;
        let mut given = arguments.trusted_root.map_or_else(SyncCommittees::default, SyncCommittees::trusting);
        for (name, text) in committee_files {
            given.add_file(&text, &name, None, &network).map_err(|e| Failure::usage(e).context(name))?;
        }
        let (inputs, documents): (Vec<_>, Vec<_>) = documents.into_iter().unzip();
        let mut committees = given.clone();
        let least_participants = arguments.least_participants();
        let lessons = committees.learn(&documents, &network, least_participants);
        Ok((Self { inputs, documents, given, committees, network: Some(network), least_participants }, lessons))
    }

    /// The network's name in messages.
    pub(super) fn network(&self) -> &str {
        self.network.as_ref().map_or("", |network| network.name.as_str())
    }

    /// The entries of each document. An update has a copy of its keys, so they are made one by one.
    pub(super) fn updates(&self) -> impl Iterator<Item = (&Input, impl Iterator<Item = Entry>)> {
        let documents = self.network.iter().flat_map(|network| self.documents.iter().map(move |each| (network, each)));
        let entries = documents.map(|(network, document)| self.entries(document, &self.committees, network));
        self.inputs.iter().zip(entries)
    }

    /// The other network that is known and on which an update is valid.
    pub(super) fn signed_for(&self) -> Option<String> {
        let others = BeaconNetwork::names().filter_map(|name| name.parse().ok());
        let mut others = others.filter(|other: &BeaconNetwork| Some(other) != self.network.as_ref());
        others.find(|other| self.is_signed_for(other)).map(|other| other.name)
    }

    fn is_signed_for(&self, network: &BeaconNetwork) -> bool {
        let mut committees = self.given.clone();
        committees.learn(&self.documents, network, self.least_participants);
        let entries = self.documents.iter().flat_map(|document| self.entries(document, &committees, network));
        let claims = entries
            .filter_map(|entry| entry.ok().filter(|record| record.failed_check().is_none())?.into_claim(None).ok());
        claims.take(TRIED).any(|claim| claim.verify().is_valid())
    }

    fn entries<'a>(
        &self,
        document: &'a Document,
        committees: &'a SyncCommittees,
        network: &'a BeaconNetwork,
    ) -> impl Iterator<Item = Entry> + use<'a> {
        document.records(committees, network, self.least_participants)
    }
}

/// So many updates are tried on another network.
const TRIED: usize = 4;
