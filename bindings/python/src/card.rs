//! Scorecards: items and frames in, records and columns out.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::{RecordBatch, RecordBatchReader as _};
use karat::cards::{self, CardText};
use karat::document::Proof;
use karat::engine::{HandedVector, Settings, embedding_text};
use karat::sql::{By, Dialect, Query};
use karat::{Code, CompiledCard, Engine, Error, Kind, Options, Timestamp};
use karat_core::facts::Digest;
use karat_core::record::Record as Scoring;
use karat_frames::Answer as Columns;
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::{PyBytes, PyCapsule, PyDict, PyList, PyTuple};

use crate::answer::Answer;
use crate::error::{guarded, invalid, raised};
use crate::frame::{Asked, Batches, Scores, reader, unwrapped};
use crate::{detached, walk};

/// A scorecard, with the engines that score for it: one for each thread that does. One that compares traces with earlier ones has a
/// single engine, which keeps their vectors.
#[pyclass(frozen, module = "karat_score._native")]
pub struct Scorecard {
    /// The text, path or name that it was opened by.
    wanted: String,
    card: Arc<CompiledCard>,
    /// The versions that it may mean, in their order, where evidence decides: of an id of several kinds.
    family: Vec<Arc<CompiledCard>>,
    options: Opening,
    /// Engines that no thread uses, by the scorecard: an id without a version means another one for other evidence.
    idle: Mutex<BTreeMap<String, Vec<Engine>>>,
}

/// The settings that a scorecard was opened with.
#[derive(Debug, Clone, Default)]
struct Opening {
    subject_field: Option<String>,
    task_field: Option<String>,
    cache: Option<Settings>,
    observes: bool,
}

impl Opening {
    fn engine(&self, card: &Arc<CompiledCard>) -> Result<Engine, Error> {
        let Self { subject_field, task_field, cache, observes } = self.clone();
        let options =
            Options { subject_field, task_field, cache_settings: cache, observes, ..Options::default() };
        Engine::new(Arc::clone(card), options)
    }
}

/// A record: the score of an item, with everything that it follows from.
#[pyclass(frozen, module = "karat_score._native")]
pub struct Record {
    bytes: Vec<u8>,
    card: Arc<CompiledCard>,
    #[pyo3(get)]
    score: Option<f64>,
    #[pyo3(get)]
    status: &'static str,
    #[pyo3(get)]
    coverage: f64,
    #[pyo3(get)]
    band: Option<String>,
    #[pyo3(get)]
    tier: Option<String>,
    #[pyo3(get)]
    subject: String,
}

#[pymethods]
impl Record {
    /// The canonical JSON (RFC 8785) of the record: the same bytes on every machine.
    #[getter]
    fn bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.bytes)
    }

    /// The digest of these bytes.
    #[getter]
    fn digest(&self) -> String {
        Digest::of(&self.bytes).to_string()
    }

    fn __bytes__<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        self.bytes(py)
    }

    /// Returns the record as dictionaries and lists.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        py.import("json")?.call_method1("loads", (self.bytes(py),))
    }

    fn _repr_html_(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("<div class=\"karat\">{}</div>", self.explanation(py)?.fragment()))
    }

    fn __repr__(&self) -> String {
        let Self { subject, score, status, coverage, .. } = self;
        let score = score.map_or_else(|| String::from("None"), |score| score.to_string());
        format!("Record(subject={subject:?}, score={score}, status={status:?}, coverage={coverage})")
    }

    fn __eq__(&self, other: &Self) -> bool {
        self.bytes == other.bytes
    }

    fn __hash__(&self) -> u64 {
        Digest::of(&self.bytes).0.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
    }

    /// Returns what `pickle` makes it of: its bytes, and the text of the scorecard.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        let (py, record) = (slf.py(), slf.get());
        let make = py.import("karat_score._native")?.getattr("record")?;
        (make, (record.bytes(py), record.card.text())).into_pyobject(py)
    }

    /// Returns the account of the score, as `karat explain` shows it.
    fn explanation(&self, py: Python<'_>) -> PyResult<Answer> {
        let (bytes, card) = (&self.bytes, &self.card);
        detached(py, || Answer::of_record(bytes, card))
    }
}

impl Record {
    fn new(record: &Scoring<'_>, card: &Arc<CompiledCard>) -> Self {
        let mut bytes = Vec::with_capacity(2048);
        record.write(&mut bytes);
        Self {
            bytes,
            card: Arc::clone(card),
            score: record.published.map(|published| published.to_f64()),
            status: record.status.name(),
            coverage: record.coverage as f64 / 1e9,
            band: record.band.map(str::to_owned),
            tier: record.tier.as_ref().and_then(|tier| tier.name).map(str::to_owned),
            subject: record.item.subject.to_owned(),
        }
    }
}

/// Makes a record of its bytes, and of the text of the scorecard that they name.
#[pyfunction]
pub fn record(py: Python<'_>, bytes: Vec<u8>, card_text: &str) -> PyResult<Record> {
    detached(py, || {
        let read = karat::record::Record::parse(&bytes)?
            .ok_or_else(|| Error::new(Code::RecordUnsound, "this is not a record"))?;
        let document = read.document();
        Ok(Record {
            card: Arc::new(CompiledCard::parse(card_text)?),
            score: document.score.as_ref().map(|score| score.published),
            status: document.status.name(),
            coverage: document.coverage,
            band: document.band.clone(),
            tier: document.tier.as_ref().and_then(|tier| tier.name.clone()),
            subject: document.subject.clone(),
            bytes,
        })
    })
}

/// The settings by which a scorecard is opened again, elsewhere.
type State = (String, Option<String>, Option<String>, Option<CacheSettings>, bool);
/// Vectors, numbers in each, and how many milliseconds one is kept.
type CacheSettings = (u64, usize, Option<u64>);

/// The circumstances of one item.
#[derive(Default)]
struct Circumstances {
    as_of: Option<Timestamp>,
    vector: Option<HandedVector>,
}

#[pymethods]
impl Scorecard {
    /// Opens a scorecard: the text of one, the path of its file, or a released one by `id` or `id@version`.
    #[new]
    #[pyo3(signature = (wanted, *, subject_field=None, task_field=None, cache=None, observes=false))]
    fn new(
        py: Python<'_>,
        wanted: String,
        subject_field: Option<String>,
        task_field: Option<String>,
        cache: Option<CacheSettings>,
        observes: bool,
    ) -> PyResult<Self> {
        let cache = cache.map(|(capacity, dimension, ttl_milliseconds)| Settings {
            capacity,
            dimension,
            ttl_milliseconds,
        });
        let options = Opening { subject_field, task_field, cache, observes };
        let opened = detached(py, || {
            let card = match wanted.contains('\n') {
                true => Arc::new(CompiledCard::parse(&wanted)?),
                false => CompiledCard::open(&wanted)?,
            };
            let family: Result<Vec<_>, _> = match cards::has_kinds(&wanted) {
                true => {
                    cards::versions(&wanted).map(|version| CompiledCard::released(version.name)).collect()
                }
                false => Ok(Vec::new()),
            };
            // A family of challenges, or options for another kind, are refused here and not by the first item.
            let engine = options.engine(&card)?;
            Ok((card, family?, engine))
        })?;
        let (card, family, engine) = opened;
        let idle = Mutex::new(BTreeMap::from([(card.name(), vec![engine])]));
        Ok(Self { wanted, card, family, options, idle })
    }

    /// `id@version`.
    #[getter]
    fn name(&self) -> String {
        self.card.name()
    }

    #[getter]
    fn title(&self) -> &str {
        &self.card.card().title
    }

    /// The text of the file.
    #[getter]
    fn text(&self) -> &str {
        self.card.text()
    }

    /// The digest that its records name.
    #[getter]
    fn digest(&self) -> String {
        self.card.card().digest.to_string()
    }

    /// The kind of evidence that it reads.
    #[getter]
    fn evidence(&self) -> &str {
        &self.card.card().evidence
    }

    /// The names of its facts.
    #[getter]
    fn facts(&self) -> Vec<String> {
        self.of_tables().card().facts.iter().map(|fact| fact.name.clone()).collect()
    }

    /// The keys of its dimensions.
    #[getter]
    fn dimensions(&self) -> Vec<String> {
        self.card.card().dimensions.iter().map(|it| it.key.clone()).collect()
    }

    /// The score that is the best.
    #[getter]
    fn scale(&self) -> u32 {
        self.card.card().scale.max
    }

    /// True if a score depends on the vectors of earlier traces.
    #[getter]
    fn has_memory(&self) -> bool {
        self.engine_is_single()
    }

    /// Scores one item: a dictionary, or its JSON.
    #[pyo3(signature = (item, *, as_of=None, vector=None, model=None))]
    fn score_one(
        &self,
        item: &Bound<'_, PyAny>,
        as_of: Option<&str>,
        vector: Option<Vec<f32>>,
        model: Option<String>,
    ) -> PyResult<Record> {
        let py = item.py();
        let bytes = walk::to_json(item, "$")?;
        let about = circumstances(py, as_of, vector, model)?;
        self.with_engine(py, &bytes, about, |engine, card, bytes| {
            engine.visit(bytes, |scored| Record::new(&scored.record, card))
        })
    }

    /// Scores one item, and explains the score.
    #[pyo3(signature = (item, *, as_of=None, vector=None, model=None))]
    fn explain(
        &self,
        item: &Bound<'_, PyAny>,
        as_of: Option<&str>,
        vector: Option<Vec<f32>>,
        model: Option<String>,
    ) -> PyResult<Answer> {
        let py = item.py();
        let bytes = walk::to_json(item, "$")?;
        let about = circumstances(py, as_of, vector, model)?;
        self.with_engine(py, &bytes, about, |engine, card, bytes| {
            let card = Arc::clone(card);
            let proof = Proof::Scored { is_from_log: false };
            engine.try_visit(bytes, |scored| Answer::of_scoring(&card, &scored.record, &proof))
        })
    }

    /// Returns the text of a trace that an embedder reads.
    fn embedding_text(&self, item: &Bound<'_, PyAny>) -> PyResult<String> {
        let bytes = walk::to_json(item, "$")?;
        embedding_text(&bytes).map_err(|problems| raised(item.py(), &Error::refused(&problems)))
    }

    /// Forgets the vectors of the traces so far.
    fn clear_vectors(&self, py: Python<'_>) {
        let mut idle = self.idle.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner);
        for engine in idle.values_mut().flatten() {
            engine.replace_cache(None);
        }
    }

    /// Scores the rows of a stream of Arrow: now, or while the scores are read.
    #[pyo3(signature = (stream, *, columns, values, keep, refuses_broken, is_lazy))]
    fn score_stream(
        &self,
        stream: &Bound<'_, PyCapsule>,
        columns: Vec<String>,
        values: bool,
        keep: Vec<String>,
        refuses_broken: bool,
        is_lazy: bool,
    ) -> PyResult<Batches> {
        let py = stream.py();
        let input = reader(stream)?;
        let asked = Asked { answer: Columns { columns, has_values: values }, keep, refuses_broken };
        let card = self.of_tables();
        let (card, options) = (&card, &self.options);
        detached(py, move || {
            let mut scores = Scores::new(options.engine(card)?, input, asked)?;
            if is_lazy {
                return Ok(Batches::new(Box::new(scores)));
            }
            let schema = scores.schema();
            let batches: Result<Vec<RecordBatch>, _> = scores.by_ref().collect();
            Ok(Batches::of(schema, batches.map_err(unwrapped)?))
        })
    }

    /// Writes the scorecard as a query.
    #[pyo3(signature = (dialect, table, *, without, keep, unique, elapsed_seconds, values, subject, task, outcome))]
    #[expect(clippy::too_many_arguments, reason = "each is a flag of the command")]
    fn query(
        &self,
        py: Python<'_>,
        dialect: &str,
        table: &str,
        without: Vec<String>,
        keep: Vec<String>,
        unique: Vec<String>,
        elapsed_seconds: Option<String>,
        values: bool,
        subject: Option<String>,
        task: Option<String>,
        outcome: Option<String>,
    ) -> PyResult<String> {
        let dialect = dialect_of(py, dialect)?;
        let asked = Query {
            table,
            without: &without,
            keep: &keep,
            unique: &unique,
            elapsed_seconds: elapsed_seconds.as_deref(),
            has_values: values,
            ..Query::default()
        };
        let by = subject.as_deref().map(|subject| By {
            subject,
            task: task.as_deref(),
            outcome: outcome.as_deref(),
        });
        karat::sql::query(&self.of_tables(), dialect, &asked, by).map_err(|error| raised(py, &error))
    }

    /// Writes the query by which an engine proves that it gives these scores.
    fn self_check(&self, py: Python<'_>, dialect: &str, rows: usize) -> PyResult<String> {
        let dialect = dialect_of(py, dialect)?;
        karat::sql::self_check(&self.of_tables(), dialect, rows).map_err(|error| raised(py, &error))
    }

    /// The text of the scorecard that this means for tables, where an id has several.
    #[getter]
    fn table_text(&self) -> String {
        self.of_tables().text().to_owned()
    }

    /// The digest of that scorecard.
    #[getter]
    fn table_digest(&self) -> String {
        self.of_tables().card().digest.to_string()
    }

    fn __getstate__(&self) -> State {
        let Opening { subject_field, task_field, cache, observes } = self.options.clone();
        // A file may not be there where this is opened again.
        let wanted = if self.card.is_released() { self.wanted.clone() } else { self.card.text().to_owned() };
        (
            wanted,
            subject_field,
            task_field,
            cache.map(|it| (it.capacity, it.dimension, it.ttl_milliseconds)),
            observes,
        )
    }
}

impl Scorecard {
    fn engine_is_single(&self) -> bool {
        Kind::from_name(&self.card.card().evidence) == Some(Kind::ReasoningTrace)
    }

    /// Returns the scorecard for evidence that is a table.
    fn of_tables(&self) -> Arc<CompiledCard> {
        self.of_kind(Some(Kind::AgentDimensions))
    }

    fn of_kind(&self, kind: Option<Kind>) -> Arc<CompiledCard> {
        let kind_of = |card: &&Arc<CompiledCard>| Kind::from_name(&card.card().evidence);
        Arc::clone(cards::newest(self.family.iter(), kind_of, kind).unwrap_or(&self.card))
    }

    /// Returns the scorecard for an item: that of its kind, or the one that a record names.
    fn for_item(&self, item: &[u8]) -> Arc<CompiledCard> {
        if self.family.is_empty() {
            return Arc::clone(&self.card);
        }
        let record = karat::record::Record::parse(item).ok().flatten();
        let name = record.map(|record| record.document().scorecard.name());
        let named = self.family.iter().find(|card| name.as_ref().is_some_and(|name| card.name() == *name));
        named.map_or_else(|| self.of_kind(Kind::of_item(item)), Arc::clone)
    }

    /// Calls `work` with an engine for this thread alone, without the interpreter.
    fn with_engine<T: Send>(
        &self,
        py: Python<'_>,
        item: &[u8],
        about: Circumstances,
        work: impl FnOnce(&mut Engine, &Arc<CompiledCard>, &[u8]) -> Result<T, Error> + Send,
    ) -> PyResult<T> {
        let card = &self.for_item(item);
        let name = card.name();
        let is_single = self.engine_is_single();
        let Circumstances { as_of, vector } = about;
        let scored = |engine: &mut Engine| {
            engine.set_as_of(as_of);
            engine.set_vector(vector);
            guarded(|| work(engine, card, item))
        };
        if is_single {
            // The lock is taken without the interpreter, which the thread that holds it may be waiting for.
            let done = py.detach(|| {
                let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
                match idle.get_mut(&name).and_then(|engines| engines.first_mut()) {
                    Some(engine) => scored(engine),
                    None => Err(Error::new(Code::Internal, "the engine of this scorecard is gone")),
                }
            });
            return done.map_err(|error| raised(py, &error));
        }
        let mut lock = self.idle.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner);
        let engine = lock.get_mut(&name).and_then(Vec::pop);
        drop(lock);
        let mut engine = match engine {
            Some(engine) => engine,
            None => self.options.engine(card).map_err(|error| raised(py, &error))?,
        };
        // To let the interpreter go costs more than to score one item.
        let done = scored(&mut engine);
        if !matches!(&done, Err(error) if error.code() == Code::Internal) {
            let mut lock = self.idle.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner);
            lock.entry(name).or_default().push(engine);
        }
        done.map_err(|error| raised(py, &error))
    }
}

fn circumstances(
    py: Python<'_>,
    as_of: Option<&str>,
    vector: Option<Vec<f32>>,
    model: Option<String>,
) -> PyResult<Circumstances> {
    let as_of = as_of.map(Timestamp::parse).transpose();
    let as_of = as_of.map_err(|error| invalid(py, &format!("`as_of`: {error}")))?;
    let vector = match (vector, model) {
        (None, _) => None,
        (Some(vector), Some(model)) => Some(HandedVector { model, vector }),
        (Some(_), None) => return Err(invalid(py, "a vector needs `model`, the name of what made it")),
    };
    Ok(Circumstances { as_of, vector })
}

fn dialect_of(py: Python<'_>, name: &str) -> PyResult<Dialect> {
    let known = || Dialect::ALL.map(Dialect::name).join(", ");
    Dialect::from_name(name)
        .ok_or_else(|| invalid(py, &format!("there is no dialect `{name}`; there are: {}", known())))
}

/// Finds what is wrong with the text of a scorecard, and its traps.
#[pyfunction]
pub fn check<'py>(py: Python<'py>, name: &str, text: &str) -> PyResult<Bound<'py, PyList>> {
    let card = CardText { name: name.to_owned(), text: text.to_owned() };
    let checked = detached(py, || Ok(cards::check(&card)))?;
    let list = PyList::empty(py);
    for found in checked.diagnostics {
        let before = text.get(..found.span.start).unwrap_or_default();
        let it = PyDict::new(py);
        it.set_item("code", found.code.as_str())?;
        it.set_item("severity", found.severity.name())?;
        it.set_item("line", before.matches('\n').count() + 1)?;
        it.set_item("column", before.rsplit('\n').next().unwrap_or_default().chars().count() + 1)?;
        it.set_item("message", &found.message)?;
        it.set_item("help", &found.help)?;
        list.append(it)?;
    }
    Ok(list)
}
