//! `quorate.evm`: how a contract settles a quorum for the least gas.

use pyo3::{
    exceptions::PyTypeError,
    prelude::*,
    types::{PyBytes, PyString},
};
use quorate_evm::{
    MemberSet, Network, Order, QuorumSignature, SettlementPlan,
    alloy_primitives::B256,
    gas::Measured,
    quorum::{RENTAL, Store},
};

use crate::{
    argument::{bytes, list_of_bytes, refuse_repeated, shown, type_name, whole},
    errors::{UsageError, misused, undecodable},
};

/// How a quorum settles: the base that costs the least gas, what is to be signed, and the call.
#[pyclass(frozen, module = "quorate.evm")]
pub(crate) struct QuorumPlan {
    network: Network,
    plan: SettlementPlan,
}

#[pymethods]
impl QuorumPlan {
    /// The slot of the base from which the contract computes the quorum's key; `None` for the empty quorum.
    #[getter]
    fn base(&self) -> Option<u16> {
        self.plan.base_slot()
    }

    /// The signers, by index.
    #[getter]
    fn signers(&self) -> Vec<usize> {
        self.plan.signers.iter().collect()
    }

    /// The signers that are not in the base, whose keys are added.
    #[getter]
    fn added(&self) -> Vec<usize> {
        self.plan.added().iter().collect()
    }

    /// The members of the base that do not sign, whose keys are subtracted.
    #[getter]
    fn removed(&self) -> Vec<usize> {
        self.plan.removed().iter().collect()
    }

    /// The weight of the signers.
    #[getter]
    fn weight(&self) -> u128 {
        self.plan.weight
    }

    /// The digest that every signer signs: one for all results.
    #[getter]
    fn digest<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.network.digest(&self.plan.order).map_err(misused)?))
    }

    /// The contract's state from which the plan starts. Compare it with the contract's `state()`.
    #[getter]
    fn state<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, self.plan.state().map_err(misused)?.as_slice()))
    }

    /// The gas of the transaction, as it is estimated.
    #[getter]
    fn gas(&self) -> PyResult<u64> {
        let stand_in = QuorumSignature::stand_in(self.network.key_group);
        let call = self.plan.call(&stand_in).map_err(misused)?;
        let storing = self.network.storing(&self.plan);
        Ok(self.plan.estimate(&Measured::default(), &call, storing).total())
    }

    /// Whether an aggregate signature is the sum of the signers' signatures over the digest.
    fn verify(&self, signature: &Bound<'_, PyAny>) -> PyResult<bool> {
        self.plan.verify(&self.signature(signature)?).map_err(undecodable)
    }

    /// The calldata of the transaction, with a signature that is verified first.
    fn calldata<'py>(&self, py: Python<'py>, signature: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
        if self.plan.order.results.is_empty() {
            return Err(misused("there is nothing to settle: give the results to plan()"));
        }
        let signature = self.signature(signature)?;
        if !self.plan.verify(&signature).map_err(undecodable)? {
            return Err(misused("the signature is not the sum of these signers' signatures over these results"));
        }
        Ok(PyBytes::new(py, &self.plan.call(&signature).map_err(misused)?))
    }

    fn __repr__(&self) -> PyResult<String> {
        let base = self.base().map_or("no base".to_owned(), |slot| format!("base {slot}"));
        let (added, removed) = (self.added().len(), self.removed().len());
        Ok(format!("<quorate.evm.QuorumPlan: {base}, {added} added, {removed} removed, {} gas>", self.gas()?))
    }
}

impl QuorumPlan {
    fn signature(&self, signature: &Bound<'_, PyAny>) -> PyResult<QuorumSignature> {
        QuorumSignature::from_bytes(self.network.key_group, &bytes("signature", signature)?).map_err(undecodable)
    }
}

/// The cheapest way to settle results that these members will sign. The network is the JSON of `quorate evm plan`.
#[pyfunction]
#[pyo3(signature = (network, signers, results=None, *, deadline=None, store=None))]
pub(crate) fn plan_quorum(
    py: Python<'_>,
    network: &str,
    signers: Vec<Bound<'_, PyAny>>,
    results: Option<&Bound<'_, PyAny>>,
    deadline: Option<&Bound<'_, PyAny>>,
    store: Option<&Bound<'_, PyAny>>,
) -> PyResult<QuorumPlan> {
    let network = Network::from_json(network.as_bytes()).map_err(undecodable)?;
    let keys = network.keys.len();
    let signers = signers.iter().map(|index| whole("signers", index)).collect::<PyResult<Vec<usize>>>()?;
    if let Some(index) = signers.iter().find(|index| **index >= keys) {
        return Err(misused(format!("signers: there is no member {index}: the network has {keys} keys")));
    }
    refuse_repeated("signers", &signers)?;
    let signers: MemberSet = signers.into_iter().collect();
    let results = results.map(|results| list_of_bytes("results", results)).transpose()?.unwrap_or_default();
    let results = results.iter().enumerate().map(|(index, result)| {
        let found = result.len();
        B256::try_from(result.as_slice())
            .map_err(|_| undecodable(format!("results[{index}]: found {found} bytes, expected 32")))
    });
    let results = results.collect::<PyResult<Vec<_>>>()?;
    let store = store.map_or(Ok(Store::Nowhere), stored)?;
    let deadline = deadline.map(|deadline| whole("deadline", deadline)).transpose()?;
    let order = Order { deadline: deadline.unwrap_or(u64::MAX), store, ..Order::of(&results) };
    let plan = py.detach(|| network.plan(&Measured::default(), &signers, order)).map_err(misused)?;
    Ok(QuorumPlan { network, plan })
}

/// Where the contract stores the quorum: a slot, or "rental".
fn stored(store: &Bound<'_, PyAny>) -> PyResult<Store> {
    let expected = format!("expected a slot from 0 to {}, \"rental\" or None", RENTAL - 1);
    if store.extract::<&str>().is_ok_and(|text| text == "rental") {
        return Ok(Store::Rental);
    }
    if store.is_instance_of::<PyString>() {
        return Err(misused(format!("store: found {:?}, {expected}", shown(store))));
    }
    match whole::<u16>("store", store) {
        Ok(slot) if slot < RENTAL => Ok(Store::Slot(slot)),
        Err(error) if error.is_instance_of::<PyTypeError>(store.py()) => {
            Err(PyTypeError::new_err(format!("store: found {}, {expected}", type_name(store)?)))
        }
        Err(error) if !error.is_instance_of::<UsageError>(store.py()) => Err(error),
        _ => Err(misused(format!("store: found {}, {expected}", shown(store)))),
    }
}
