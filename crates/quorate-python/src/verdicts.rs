//! What comes back: a verdict for each claim, by index, and the same as a table.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
    sync::Arc,
};

use arrow_array::{
    ArrayRef, BooleanArray, Int64Array, NullArray, RecordBatch, RecordBatchIterator, RecordBatchReader, StringArray,
    UInt64Array, ffi_stream::FFI_ArrowArrayStream,
};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use pyo3::{
    IntoPyObjectExt,
    exceptions::{PyIndexError, PyTypeError},
    prelude::*,
    types::{PyBool, PyCapsule, PyDict, PyList, PySlice},
};
use quorate::{AnySuite, SourceId, Work};
use quorate_formats::Id;
use serde_json::value::RawValue;

use crate::{
    argument,
    column::{Kept, KeptColumns},
    errors::misused,
    fault::Fault,
    reader::{Named, Names, ObjectName, ObjectOfChain, Part},
};

/// The columns of the table of verdicts that are not of the claims: index, valid, malformed, reason.
const OWN: usize = 4;

/// What the texts of a batch of the table may take: 64 MiB, unless one row takes more.
const LONGEST_TEXTS: usize = 64 << 20;

/// What the verification took and found, as `quorate verify --json` says it.
#[derive(Default)]
pub(crate) struct Tally {
    pub(crate) subtracted: usize,
    pub(crate) remembered: usize,
    pub(crate) known: usize,
    pub(crate) work: Work,
    pub(crate) suites: BTreeSet<AnySuite>,
    pub(crate) false_by_source: BTreeMap<SourceId, usize>,
    pub(crate) backend: String,
    pub(crate) threads: usize,
    pub(crate) seconds: f64,
}

/// The verdicts about claims, in the order of the claims.
///
/// It holds a byte for each claim, about 60 bytes more and the reason for each that is not valid, and the ids. A verdict becomes a Python
/// object when you ask for it.
#[pyclass(frozen, module = "quorate")]
pub(crate) struct Verdicts {
    /// By entry: whether something proved it.
    valid: Vec<bool>,
    /// Of the others.
    faults: BTreeMap<usize, Fault>,
    names: Names,
    tally: Tally,
    plan: Option<String>,
}

impl Verdicts {
    pub(crate) fn new(
        valid: Vec<bool>,
        faults: BTreeMap<usize, Fault>,
        names: Names,
        tally: Tally,
        plan: Option<String>,
    ) -> Self {
        Self { valid, faults, names, tally, plan }
    }

    fn verdict(&self, py: Python<'_>, index: usize) -> PyResult<Verdict> {
        let part = self.names.parts.partition_point(|part| part.first <= index).checked_sub(1);
        let none = || py.None();
        let mut verdict = Verdict {
            index,
            id: none(),
            valid: self.valid[index],
            malformed: matches!(self.faults.get(&index), Some(Fault::Malformed(_))),
            reason: self.faults.get(&index).map(|fault| fault.text().into_owned()),
            kind: none(),
            slot: none(),
            index_in_block: none(),
        };
        let Some(Part { first, named }) = part.map(|part| &self.names.parts[part]) else { return Ok(verdict) };
        match named {
            Named::Objects(names) => {
                let ObjectName { id, chain } = &names[index - first];
                verdict.id = id.as_ref().map_or(Ok(none()), |id| id_object(py, id))?;
                if let Some(ObjectOfChain { kind, slot, index }) = chain.as_deref() {
                    verdict.kind = kind.as_ref().into_py_any(py)?;
                    verdict.slot = slot.into_py_any(py)?;
                    verdict.index_in_block = index.to_string().into_py_any(py)?;
                }
            }
            Named::Columns { columns, .. } => {
                let value = |kept| columns.value(py, kept, index - first);
                verdict.id = value(Kept::Id)?;
                verdict.kind = value(Kept::Kind)?;
                verdict.slot = value(Kept::Slot)?;
                verdict.index_in_block = value(Kept::IndexInBlock)?;
            }
        }
        Ok(verdict)
    }

    fn malformed(&self) -> usize {
        self.faults.values().filter(|fault| matches!(fault, Fault::Malformed(_))).count()
    }

    /// The table: a batch for each part, or several if its texts are long.
    fn batches(&self) -> Result<(SchemaRef, Vec<RecordBatch>), ArrowError> {
        let own = |name: &str, kind| Arc::new(Field::new(name, kind, true));
        let mut fields = vec![own("index", DataType::UInt64)];
        let ids = match self.names.parts.first().map(|part| &part.named) {
            Some(Named::Columns { columns, .. }) => columns.fields(),
            Some(Named::Objects(names)) => {
                let columns = ObjectColumns::of(names).arrays(&[]);
                columns.into_iter().map(|(kept, array)| own(kept.name(), array.data_type().clone())).collect()
            }
            None => Vec::new(),
        };
        fields.extend(ids);
        if !fields.iter().any(|field| field.name() == "id") {
            fields.insert(1, own("id", DataType::Null));
        }
        let verdict = [("valid", DataType::Boolean), ("malformed", DataType::Boolean), ("reason", DataType::Utf8)];
        fields.extend(verdict.into_iter().map(|(name, kind)| own(name, kind)));
        let schema = Arc::new(Schema::new(fields));
        let mut batches = Vec::with_capacity(self.names.parts.len());
        for part in &self.names.parts {
            for rows in self.cuts(part) {
                batches.push(self.batch(&schema, part, rows)?);
            }
        }
        Ok((schema, batches))
    }

    /// The rows of a part, so that the texts of each range of them fit the 32 bits of an offset.
    fn cuts(&self, part: &Part) -> Vec<Range<usize>> {
        let (mut cuts, mut begin, mut bytes) = (Vec::new(), 0, 0);
        for row in 0..part.named.entries() {
            let reason = self.faults.get(&(part.first + row)).map_or(0, |fault| fault.text().len());
            let texts = reason + part.named.texts(row);
            if bytes + texts > LONGEST_TEXTS && row > begin {
                cuts.push(begin..row);
                (begin, bytes) = (row, 0);
            }
            bytes += texts;
        }
        cuts.push(begin..part.named.entries());
        cuts
    }

    /// Some rows of a part.
    fn batch(&self, schema: &SchemaRef, part: &Part, of: Range<usize>) -> Result<RecordBatch, ArrowError> {
        let rows = of.len();
        let mut names: Vec<ArrayRef> = match &part.named {
            Named::Columns { columns, .. } => columns.arrays().map(|array| array.slice(of.start, rows)).collect(),
            Named::Objects(names) => {
                let columns = ObjectColumns::of(names).arrays(&names[of.clone()]);
                columns.into_iter().map(|(_, array)| array).collect()
            }
        };
        // The claims have no ids, and the table of verdicts has such a column nevertheless.
        if names.len() + OWN < schema.fields().len() {
            names.insert(0, Arc::new(NullArray::new(rows)));
        }
        let places = part.first + of.start..part.first + of.end;
        let fault = |place| self.faults.get(&place);
        let index: UInt64Array = places.clone().map(|place| place as u64).collect::<Vec<_>>().into();
        let valid: BooleanArray = places.clone().map(|place| Some(self.valid[place])).collect();
        let malformed: BooleanArray =
            places.clone().map(|place| Some(matches!(fault(place), Some(Fault::Malformed(_))))).collect();
        let reason: StringArray = places.map(|place| fault(place).map(Fault::text)).collect();
        let mut columns: Vec<ArrayRef> = vec![Arc::new(index)];
        columns.extend(names);
        columns.extend([Arc::new(valid) as ArrayRef, Arc::new(malformed), Arc::new(reason)]);
        RecordBatch::try_new(schema.clone(), columns)
    }
}

#[pymethods]
impl Verdicts {
    fn __len__(&self) -> usize {
        self.valid.len()
    }

    fn __getitem__(&self, py: Python<'_>, key: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        if let Ok(slice) = key.cast::<PySlice>() {
            let indices = slice.indices(self.valid.len() as isize)?;
            let places = (0..indices.slicelength as isize).map(|i| (indices.start + i * indices.step) as usize);
            let verdicts = places.map(|place| self.verdict(py, place)).collect::<PyResult<Vec<_>>>()?;
            return PyList::new(py, verdicts)?.into_py_any(py);
        }
        // For Python, True is 1.
        let index = key.extract::<isize>().ok().filter(|_| !key.is_instance_of::<PyBool>());
        let index = index.ok_or_else(|| {
            let found = key.get_type().name().map_or_else(|_| String::new(), |name| name.to_string());
            PyTypeError::new_err(format!("found {found}, expected an index or a slice"))
        })?;
        let length = self.valid.len();
        let place = if index < 0 { length.checked_add_signed(index) } else { Some(index as usize) };
        let Some(place) = place.filter(|place| *place < length) else {
            return Err(PyIndexError::new_err(format!("found the index {index}, but there are {length} verdicts")));
        };
        self.verdict(py, place)?.into_py_any(py)
    }

    fn __iter__(slf: Py<Self>) -> VerdictIterator {
        VerdictIterator { verdicts: slf, next: 0 }
    }

    /// A list of verdicts could be empty, or all of them false: say which you mean.
    fn __bool__(&self) -> PyResult<bool> {
        Err(PyTypeError::new_err("verdicts are neither true nor false; ask for .all_valid, or for len()"))
    }

    /// Whether there are claims, and all of them are valid. Nothing to verify is not a success.
    #[getter]
    fn all_valid(&self) -> bool {
        !self.valid.is_empty() && self.valid.iter().all(|valid| *valid)
    }

    /// The verdicts that are not valid, in their order.
    #[getter]
    fn invalid(&self, py: Python<'_>) -> PyResult<Vec<Verdict>> {
        let places = self.valid.iter().enumerate().filter(|(_, valid)| !**valid).map(|(place, _)| place);
        places.map(|place| self.verdict(py, place)).collect()
    }

    /// The counts of the call, under the names of `quorate verify --json`.
    #[getter]
    fn summary<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let Self { valid, tally, .. } = self;
        let (of_valid, malformed) = (valid.iter().filter(|valid| **valid).count(), self.malformed());
        let by_source = PyDict::new(py);
        for (source, count) in &tally.false_by_source {
            match source {
                SourceId::Number(number) => by_source.set_item(number, count)?,
                other => by_source.set_item(other.to_string(), count)?,
            }
        }
        let summary = PyDict::new(py);
        summary.set_item("claims", valid.len() - malformed)?;
        summary.set_item("valid", of_valid)?;
        summary.set_item("invalid", valid.len() - malformed - of_valid)?;
        summary.set_item("malformed", malformed)?;
        summary.set_item("known", tally.known)?;
        summary.set_item("subtracted", tally.subtracted)?;
        summary.set_item("remembered", tally.remembered)?;
        summary.set_item("false_by_source", by_source)?;
        summary.set_item("suites", tally.suites.iter().map(|suite| suite.name()).collect::<Vec<_>>())?;
        summary.set_item("backend", &tally.backend)?;
        summary.set_item("threads", tally.threads)?;
        summary.set_item("seconds", tally.seconds)?;
        summary.set_item("hashes", tally.work.hashes)?;
        summary.set_item("pairings", tally.work.pairings)?;
        summary.set_item("final_exponentiations", tally.work.final_exponentiations)?;
        summary.set_item("search_nodes", tally.work.search_nodes)?;
        Ok(summary)
    }

    /// The plans of all windows as text, if `verify` was asked to explain; else `None`.
    #[getter]
    fn plan(&self) -> Option<&str> {
        self.plan.as_deref()
    }

    /// The verdicts as a `pyarrow.Table`: index, id, the columns of a chain if the claims have them, valid, malformed, reason.
    fn to_arrow<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("pyarrow")?.call_method1("table", (slf,))
    }

    /// The same table for any library that takes Arrow streams: `polars.DataFrame(verdicts)`.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // A producer may answer with its own schema.
        let _ = requested_schema;
        let (schema, batches) = self.batches().map_err(misused)?;
        let reader: Box<dyn RecordBatchReader + Send> =
            Box::new(RecordBatchIterator::new(batches.into_iter().map(Ok), schema));
        PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(reader), c"arrow_array_stream")
    }

    /// What pickle and copy make them of: the verdicts, the reasons, the names and the counts.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (Pickled,))> {
        let remake = slf.py().import("quorate._quorate")?.getattr("_verdicts")?;
        Ok((remake, (slf.get().pickled()?,)))
    }

    /// A table for notebooks: the counts, and the first claims that are not valid. All text is escaped.
    fn _repr_html_(&self, py: Python<'_>) -> PyResult<String> {
        let cell = |text: &str| format!("<td>{}</td>", escaped(text));
        let mut html = format!("<p>{}</p>", escaped(&self.__repr__()));
        if self.faults.is_empty() {
            return Ok(html);
        }
        html += "<table><thead><tr><th>index</th><th>id</th><th>reason</th></tr></thead><tbody>";
        for place in self.faults.keys().take(SHOWN) {
            let verdict = self.verdict(py, *place)?;
            let id = if verdict.id.is_none(py) { String::new() } else { verdict.id.bind(py).str()?.to_string() };
            let reason = verdict.reason.unwrap_or_default();
            html += &format!("<tr>{}{}{}</tr>", cell(&place.to_string()), cell(&id), cell(&reason));
        }
        html += "</tbody></table>";
        if self.faults.len() > SHOWN {
            html += &format!("<p>… and {} more</p>", self.faults.len() - SHOWN);
        }
        Ok(html)
    }

    fn __repr__(&self) -> String {
        let (all, malformed) = (self.valid.len(), self.malformed());
        let valid = self.valid.iter().filter(|valid| **valid).count();
        let tail = if malformed > 0 { format!(", {malformed} malformed") } else { String::new() };
        format!(
            "<quorate.Verdicts: {} claims, {valid} valid, {} invalid{tail}>",
            all - malformed,
            all - malformed - valid
        )
    }
}

/// Claims that are not valid that a notebook shows.
const SHOWN: usize = 10;
/// Letters of a cell that a notebook shows.
const LONGEST_CELL: usize = 200;

/// Text as HTML that shows it, and does nothing else.
fn escaped(text: &str) -> String {
    let mut html = String::new();
    for letter in quorate_host::clipped(text, LONGEST_CELL).chars() {
        match letter {
            '&' => html += "&amp;",
            '<' => html += "&lt;",
            '>' => html += "&gt;",
            '"' => html += "&quot;",
            '\'' => html += "&#39;",
            other => html.push(other),
        }
    }
    html
}

/// Verdicts as another process takes them.
#[derive(FromPyObject, IntoPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Pickled {
    /// A byte for each entry: 1 if something proved it.
    valid: Vec<u8>,
    /// Place, whether the entry makes no claim, and why it is not valid.
    faults: Vec<(usize, bool, String)>,
    parts: Vec<PickledPart>,
    plan: Option<String>,
    counts: Counts,
}

#[derive(FromPyObject, IntoPyObject)]
#[pyo3(from_item_all)]
struct PickledPart {
    first: usize,
    /// The kept columns of a batch, as an Arrow stream.
    columns: Option<(usize, Vec<u8>)>,
    /// The ids of objects, as JSON.
    ids: Vec<Option<String>>,
    /// Of each object that is of a chain: its place among the ids, its kind, its slot, and its place in its block.
    of_chain: Vec<(usize, String, u64, String)>,
}

#[derive(FromPyObject, IntoPyObject)]
#[pyo3(from_item_all)]
struct Counts {
    subtracted: usize,
    remembered: usize,
    known: usize,
    /// Hashes, subgroup checks, weighted points, pairings, final exponentiations, values of the search.
    work: [usize; 6],
    suites: Vec<String>,
    false_by_name: Vec<(String, usize)>,
    false_by_number: Vec<(u64, usize)>,
    backend: String,
    threads: usize,
    seconds: f64,
}

impl Verdicts {
    fn pickled(&self) -> PyResult<Pickled> {
        let Self { valid, faults, names, tally, plan } = self;
        let parts = names.parts.iter().map(|Part { first, named }| match named {
            Named::Columns { rows, columns } => Ok(PickledPart {
                first: *first,
                columns: Some((*rows, columns.to_stream().map_err(misused)?)),
                ids: Vec::new(),
                of_chain: Vec::new(),
            }),
            Named::Objects(names) => Ok(PickledPart {
                first: *first,
                columns: None,
                ids: names.iter().map(|name| name.id.as_deref().map(str::to_owned)).collect(),
                of_chain: names.iter().enumerate().filter_map(|(place, name)| pickled_of_chain(place, name)).collect(),
            }),
        });
        let (mut by_name, mut by_number) = (Vec::new(), Vec::new());
        for (source, count) in &tally.false_by_source {
            match source {
                SourceId::Number(number) => by_number.push((*number, *count)),
                other => by_name.push((other.to_string(), *count)),
            }
        }
        let Work { hashes, subgroup_checks, weighted, pairings, final_exponentiations, search_nodes, .. } = tally.work;
        Ok(Pickled {
            valid: valid.iter().map(|valid| u8::from(*valid)).collect(),
            faults: faults
                .iter()
                .map(|(place, fault)| (*place, matches!(fault, Fault::Malformed(_)), fault.text().into_owned()))
                .collect(),
            parts: parts.collect::<PyResult<_>>()?,
            plan: plan.clone(),
            counts: Counts {
                subtracted: tally.subtracted,
                remembered: tally.remembered,
                known: tally.known,
                work: [hashes, subgroup_checks, weighted, pairings, final_exponentiations, search_nodes],
                suites: tally.suites.iter().map(|suite| suite.name().to_owned()).collect(),
                false_by_name: by_name,
                false_by_number: by_number,
                backend: tally.backend.clone(),
                threads: tally.threads,
                seconds: tally.seconds,
            },
        })
    }
}

/// The verdicts of another process, from a pickle.
#[pyfunction]
#[pyo3(name = "_verdicts")]
pub(crate) fn verdicts_of(pickled: Pickled) -> PyResult<Verdicts> {
    let Pickled { valid, faults, parts, plan, counts } = pickled;
    let unfit = || misused("the pickle is not of verdicts of this version of quorate");
    let valid: Vec<bool> = valid.into_iter().map(|byte| byte == 1).collect();
    let faults: BTreeMap<usize, Fault> = faults
        .into_iter()
        .map(|(place, malformed, text)| {
            (place, if malformed { Fault::Malformed(text.into()) } else { Fault::Told(text.into()) })
        })
        .collect();
    // Each entry is valid, or there is a reason why not.
    let settled = |(place, valid): (usize, &bool)| *valid != faults.contains_key(&place);
    if !valid.iter().enumerate().all(settled) || faults.keys().any(|place| *place >= valid.len()) {
        return Err(unfit());
    }
    let mut names = Names::default();
    let mut next = 0;
    for PickledPart { first, columns, ids, of_chain } in parts {
        if first != next {
            return Err(unfit());
        }
        let named = match columns {
            Some((rows, stream)) => {
                Named::Columns { rows, columns: KeptColumns::of_stream(&stream, rows).map_err(|_| unfit())? }
            }
            None => {
                let read = |id: Option<String>| {
                    let id = id.map(|json| id_of_json(&json)).transpose().map_err(|_| unfit())?;
                    let id = id.map(|id| id.as_json().into());
                    PyResult::Ok(ObjectName { id, chain: None })
                };
                let mut names = ids.into_iter().map(read).collect::<PyResult<Vec<_>>>()?;
                for (place, kind, slot, index) in of_chain {
                    let index = index.parse().map_err(|_| unfit())?;
                    let of_chain = ObjectOfChain { kind: kind.into(), slot, index };
                    names.get_mut(place).ok_or_else(unfit)?.chain = Some(Box::new(of_chain));
                }
                Named::Objects(names)
            }
        };
        next += named.entries();
        names.parts.push(Part { first, named });
    }
    if next != valid.len() {
        return Err(unfit());
    }
    let [hashes, subgroup_checks, weighted, pairings, final_exponentiations, search_nodes] = counts.work;
    let mut work = Work::default();
    (work.hashes, work.subgroup_checks, work.weighted) = (hashes, subgroup_checks, weighted);
    (work.pairings, work.final_exponentiations, work.search_nodes) = (pairings, final_exponentiations, search_nodes);
    let by_name = counts.false_by_name.into_iter().map(|(name, count)| (SourceId::Name(name.into()), count));
    let by_number = counts.false_by_number.into_iter().map(|(number, count)| (SourceId::Number(number), count));
    let suites = counts.suites.iter().map(|name| argument::suite(name)).collect::<PyResult<_>>()?;
    let tally = Tally {
        subtracted: counts.subtracted,
        remembered: counts.remembered,
        known: counts.known,
        work,
        suites,
        false_by_source: by_name.chain(by_number).collect(),
        backend: counts.backend,
        threads: counts.threads,
        seconds: counts.seconds,
    };
    Ok(Verdicts::new(valid, faults, names, tally, plan))
}

fn pickled_of_chain(place: usize, name: &ObjectName) -> Option<(usize, String, u64, String)> {
    let ObjectOfChain { kind, slot, index } = name.chain.as_deref()?;
    Some((place, kind.to_string(), *slot, index.to_string()))
}

fn id_of_json(json: &str) -> Result<Id, String> {
    let raw: &RawValue = serde_json::from_str(json).map_err(|error| error.to_string())?;
    Id::from_json(raw)?.ok_or_else(|| "null".to_owned())
}

/// Goes over verdicts, and makes one at a time.
#[pyclass(module = "quorate._quorate")]
struct VerdictIterator {
    verdicts: Py<Verdicts>,
    next: usize,
}

#[pymethods]
impl VerdictIterator {
    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __next__(&mut self, py: Python<'_>) -> PyResult<Option<Verdict>> {
        let verdicts = self.verdicts.get();
        if self.next >= verdicts.valid.len() {
            return Ok(None);
        }
        self.next += 1;
        verdicts.verdict(py, self.next - 1).map(Some)
    }
}

/// The verdict about one claim.
#[pyclass(frozen, module = "quorate", get_all)]
pub(crate) struct Verdict {
    /// The place of the claim, from 0.
    index: usize,
    /// The claim's own name, as it was given.
    id: Py<PyAny>,
    /// Whether something proved the claim.
    valid: bool,
    /// Whether the entry makes no claim, so that nothing was verified.
    malformed: bool,
    /// Why the claim is not valid, in the words of the command line.
    reason: Option<String>,
    /// Of a chain's table: what was signed.
    kind: Py<PyAny>,
    /// Of a chain's table: the slot.
    slot: Py<PyAny>,
    /// Of a chain's table: its column `index`, the place in the block.
    index_in_block: Py<PyAny>,
}

#[pymethods]
impl Verdict {
    fn __bool__(&self) -> bool {
        self.valid
    }

    /// Its fields as those of a dataclass, so that `dataclasses.asdict(verdict)` and `pandas.DataFrame(verdicts)` know them.
    #[classattr]
    fn __dataclass_fields__(py: Python<'_>) -> PyResult<Py<PyAny>> {
        let made = py.import("dataclasses")?.call_method1("make_dataclass", ("Verdict", FIELDS.to_vec()))?;
        made.getattr("__dataclass_fields__").map(Bound::unbind)
    }

    /// What pickle and copy make it of.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Parts)> {
        let Self { index, id, valid, malformed, reason, kind, slot, index_in_block } = slf.get();
        let remake = slf.py().import("quorate._quorate")?.getattr("_verdict")?;
        let [id, kind, slot, place] = [id, kind, slot, index_in_block].map(|value| value.clone_ref(slf.py()));
        Ok((remake, (*index, id, *valid, *malformed, reason.clone(), [kind, slot, place])))
    }

    /// The verdict as `quorate verify --verdicts` prints it.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let object = PyDict::new(py);
        object.set_item("index", self.index)?;
        for (name, value) in
            [("id", &self.id), ("kind", &self.kind), ("slot", &self.slot), ("index_in_block", &self.index_in_block)]
        {
            if !value.is_none(py) {
                object.set_item(name, value)?;
            }
        }
        object.set_item("valid", self.valid)?;
        if self.malformed {
            object.set_item("malformed", true)?;
        }
        if let Some(reason) = &self.reason {
            object.set_item("reason", reason)?;
        }
        Ok(object)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let id = if self.id.is_none(py) { String::new() } else { format!(", id={}", self.id.bind(py).repr()?) };
        let reason = self.reason.as_ref().map_or_else(String::new, |reason| format!(", reason={reason:?}"));
        let valid = if self.valid { "True" } else { "False" };
        Ok(format!("Verdict(index={}{id}, valid={valid}{reason})", self.index))
    }
}

/// The arguments of [`verdict_of`].
type Parts = (usize, Py<PyAny>, bool, bool, Option<String>, [Py<PyAny>; 3]);

/// The fields of a verdict, in the order of the columns of a table of them.
const FIELDS: [&str; 8] = ["index", "id", "valid", "malformed", "reason", "kind", "slot", "index_in_block"];

/// The verdict of another process, from a pickle.
#[pyfunction]
#[pyo3(name = "_verdict")]
pub(crate) fn verdict_of(
    index: usize,
    id: Py<PyAny>,
    valid: bool,
    malformed: bool,
    reason: Option<String>,
    of_chain: [Py<PyAny>; 3],
) -> Verdict {
    let [kind, slot, index_in_block] = of_chain;
    Verdict { index, id, valid, malformed, reason, kind, slot, index_in_block }
}

/// An id, which is JSON, as Python has it. A number of more digits than Python reads is text.
fn id_object(py: Python<'_>, id: &str) -> PyResult<Py<PyAny>> {
    Ok(py.import("quorate._json")?.call_method1("loads", (id,))?.unbind())
}

/// The columns that name objects: their ids, and if any of them is of a chain, which signatures they are.
struct ObjectColumns {
    /// Whether the ids are whole numbers. If not, they are text.
    has_numbers: bool,
    has_chain: bool,
}

impl ObjectColumns {
    fn of(names: &[ObjectName]) -> Self {
        let mut ids = names.iter().filter_map(|name| name.id.as_deref()).peekable();
        let has_numbers = ids.peek().is_some() && ids.all(|id| id.parse::<i64>().is_ok());
        Self { has_numbers, has_chain: names.iter().any(|name| name.chain.is_some()) }
    }

    /// The columns of some of the names.
    fn arrays(&self, names: &[ObjectName]) -> Vec<(Kept, ArrayRef)> {
        let ids = names.iter().map(|name| name.id.as_deref());
        let ids: ArrayRef = if self.has_numbers {
            Arc::new(ids.map(|id| id.and_then(|id| id.parse::<i64>().ok())).collect::<Int64Array>())
        } else {
            Arc::new(ids.map(|id| id.map(text_of)).collect::<StringArray>())
        };
        let mut columns = vec![(Kept::Id, ids)];
        if self.has_chain {
            let of_chain = || names.iter().map(|name| name.chain.as_deref());
            let kinds: StringArray = of_chain().map(|chain| chain.map(|chain| &*chain.kind)).collect();
            let slots: UInt64Array = of_chain().map(|chain| chain.map(|chain| chain.slot)).collect();
            let places: StringArray = of_chain().map(|chain| chain.map(|chain| chain.index.to_string())).collect();
            columns.push((Kept::Kind, Arc::new(kinds)));
            columns.push((Kept::Slot, Arc::new(slots)));
            columns.push((Kept::IndexInBlock, Arc::new(places)));
        }
        columns
    }
}

/// An id, which is JSON, without the quotes of text.
fn text_of(id: &str) -> String {
    serde_json::from_str::<String>(id).unwrap_or_else(|_| id.to_owned())
}
