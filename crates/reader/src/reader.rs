//! The reader: one item's bytes in, its facts, identity and digest out.

use std::fmt;

use karat_core::facts::{Digest, Fact, Item, ItemContext};

use crate::graders::{Graders, HandedVector, Pending, Watch, Work};
use crate::kind::Kind;
use crate::kinds::played_match::{self, Graded};
use crate::kinds::{agent_dimensions, agent_evidence, reasoning_trace, workflow_run};
use crate::vocabulary::FactType;
use karat_evidence::fact_table;
use karat_evidence::json::canonical::Canonical;
use karat_evidence::json::check::{Check, Identity, Name, UnknownFields, digits};
use karat_evidence::json::document::{Node, Tape, Value};
use karat_evidence::json::locate;
use karat_evidence::json::note::Note;
use karat_evidence::json::parse::{Limits, parse};
use karat_evidence::json::problem::{Problems, nearest, quoted};
use karat_evidence::json::value;
use karat_graders::trace::novelty::VectorCache;

/// Options of a reader.
#[derive(Debug, Clone, Default)]
pub struct ReaderOptions {
    /// The field that names the subject of a [`Kind::Facts`] item; `subject` if not given.
    pub subject_field: Option<String>,
    /// The field that names the task of a [`Kind::Facts`] item; `task` if not given. Both may be paths.
    pub task_field: Option<String>,
}

/// A fact that a scorecard declares and the kind of evidence cannot give.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownFact {
    /// The name as declared.
    pub name: String,
    /// The known fact whose name is nearest.
    pub nearest: Option<&'static str>,
    /// The type that the fact really has, if the name is known.
    pub fact_type: Option<FactType>,
}

impl fmt::Display for UnknownFact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.fact_type, self.nearest) {
            (Some(fact_type), _) => write!(f, "the fact `{}` is a {}", self.name, fact_type.name()),
            (None, Some(near)) => write!(f, "unknown fact `{}`; did you mean `{near}`?", self.name),
            (None, None) => write!(f, "unknown fact `{}`", self.name),
        }
    }
}

impl std::error::Error for UnknownFact {}

/// One item that was read.
#[derive(Debug)]
pub struct Evidence<'a> {
    subject: &'a str,
    id: &'a str,
    context: ItemContext<'a>,
    digest: Digest,
    facts: Vec<Fact<'a>>,
    grading: Option<&'a str>,
    is_embedded: bool,
    canonical: &'a [u8],
    notes: &'a [Note],
    suspicions: Vec<String>,
}

impl Evidence<'_> {
    /// Returns the item, as the engine takes it.
    pub fn item(&self) -> Item<'_> {
        let Self { subject, id, context, digest, grading, .. } = *self;
        Item { subject, id, context, digest, facts: &self.facts, grading, suspicions: &self.suspicions }
    }

    /// Returns the item as canonical JSON (RFC 8785): the bytes that its digest is of.
    pub fn canonical(&self) -> &[u8] {
        self.canonical
    }

    /// Returns true if an embedder of the reader made the vector of its text: then its novelty was measured here, and the item
    /// did not state it.
    pub fn is_embedded(&self) -> bool {
        self.is_embedded
    }

    /// Returns what a reader of the score should know about the item and its record does not say. What can be so and hardly
    /// is, the record says: it is among the [suspicions](Item::suspicions) of the item.
    pub fn notes(&self) -> &[Note] {
        self.notes
    }
}

/// Reads items of one kind for one scorecard. One reader serves one thread; its memory is used again for every item.
#[derive(Debug)]
pub struct Reader {
    kind: Kind,
    /// Places of the wanted facts in the kind's vocabulary.
    slots: Vec<usize>,
    table: fact_table::Columns,
    graders: Graders,
    pending: Option<Pending>,
    unknown: UnknownFields,
    memory: Memory,
}

/// Memory that every item overwrites.
#[derive(Debug, Default)]
struct Memory {
    tape: Tape,
    graded: Graded,
    grading: Vec<u8>,
    canonical: Canonical,
    notes: Vec<Note>,
    places: Vec<usize>,
    subject: String,
    id: String,
    task: String,
    part: String,
    run: String,
}

impl Reader {
    /// Makes a reader of `kind` that takes the `wanted` facts out of its items, in this order. Of kind `facts` a name that
    /// begins with `$` is the [path](karat_core::scorecard::FieldPath) of the field that gives the fact.
    ///
    /// # Errors
    /// If the kind does not give wanted facts, or gives them as another type: every one.
    pub fn new(
        kind: Kind,
        wanted: &[(String, FactType)],
        options: ReaderOptions,
    ) -> Result<Self, Vec<UnknownFact>> {
        let mut slots = Vec::with_capacity(wanted.len());
        let mut unknown = Vec::new();
        let vocabulary = kind.vocabulary();
        let bound = if kind == Kind::Facts { &[] } else { wanted };
        for (name, fact_type) in bound {
            match vocabulary.iter().position(|spec| spec.name == name).map(|at| (at, vocabulary.get(at))) {
                Some((at, Some(spec))) if spec.fact_type == *fact_type => slots.push(at),
                Some((_, spec)) => unknown.push(UnknownFact {
                    name: name.clone(),
                    nearest: None,
                    fact_type: spec.map(|spec| spec.fact_type),
                }),
                None => unknown.push(UnknownFact {
                    name: name.clone(),
                    nearest: nearest(name, vocabulary.iter().map(|spec| spec.name)),
                    fact_type: None,
                }),
            }
        }
        if !unknown.is_empty() {
            return Err(unknown);
        }
        let table = fact_table::Columns::new(
            if kind == Kind::Facts { wanted } else { &[] },
            options.subject_field.as_deref(),
            options.task_field.as_deref(),
        );
        Ok(Self {
            kind,
            slots,
            table,
            graders: Graders::default(),
            pending: None,
            unknown: UnknownFields::default(),
            memory: Memory::default(),
        })
    }

    /// Returns the same reader with what graders need besides an item.
    pub fn with_graders(self, graders: Graders) -> Self {
        Self { graders, ..self }
    }

    /// Returns what graders need besides an item, as it is after all items so far: the cache of vectors changes from
    /// item to item.
    pub fn graders(&mut self) -> &Graders {
        self.keep_last();
        &self.graders
    }

    /// Sets the moment of the verdict for the items that follow.
    pub fn set_as_of(&mut self, as_of: Option<karat_core::timestamp::Timestamp>) {
        self.graders.as_of = as_of;
    }

    /// Sets the ids of the traces of the same subject that the next one corrects, and those these corrected.
    pub fn set_replaced(&mut self, replaces: Vec<String>) {
        self.graders.replaces = replaces;
    }

    /// Sets what an embedder elsewhere made of the text of the next item; it counts for that item alone.
    pub fn set_vector(&mut self, vector: Option<HandedVector>) {
        self.graders.handed = vector;
    }

    /// Replaces the cache of vectors, as it is after all items so far, and returns the one before.
    pub fn replace_cache(&mut self, cache: Option<VectorCache>) -> Option<VectorCache> {
        self.keep_last();
        std::mem::replace(&mut self.graders.cache, cache)
    }

    /// Says that the item that was read last is refused for reasons of the caller: it leaves nothing in the cache.
    pub fn refuse_last(&mut self) {
        self.pending = None;
    }

    fn keep_last(&mut self) {
        if let Some(pending) = self.pending.take() {
            self.graders.keep(pending);
        }
    }

    /// Returns the kind of evidence that is read.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Reads one item, which must be JSON in UTF-8.
    ///
    /// # Errors
    /// If something is wrong with the item: everything, with places counted from its own first line.
    pub fn read<'a>(&'a mut self, text: &'a [u8]) -> Result<Evidence<'a>, Problems> {
        self.read_watched(None, text, &mut |_: &'static str| ())
    }

    /// Does the same. An item without an id has the id `name`, such as the file and line where it stands; without `name`, its
    /// digest. Tells `watch` the stages.
    ///
    /// # Errors
    /// If [`Reader::read`] fails.
    pub fn read_watched<'a>(
        &'a mut self,
        name: Option<&str>,
        text: &'a [u8],
        watch: &mut dyn Watch,
    ) -> Result<Evidence<'a>, Problems> {
        self.keep_last();
        let Memory { tape, graded, grading, canonical, notes, places, subject, id, task, part, run } =
            &mut self.memory;
        notes.clear();
        let document = parse(tape, text, &Limits::default())?;
        let root = document.root();
        canonical.write(document);

        let mut check = Check::new(notes, &mut self.unknown);
        let mut work = Work::new(&mut self.graders, watch);
        check.refuse_duplicates(document, canonical.duplicates());
        let slots = &self.slots;
        let mut facts = Vec::with_capacity(slots.len().max(self.table.wanted()));
        let identity = if root.value() == Value::Object {
            match self.kind {
                Kind::WorkflowRun => {
                    let (run, identity) = workflow_run::read(root, &mut check, &mut work);
                    run.pick(slots, &mut facts);
                    identity
                }
                Kind::Match => {
                    let (outcome, identity) = played_match::read(root, &mut check, &mut work, graded);
                    outcome.pick(slots, &mut facts);
                    identity
                }
                Kind::ReasoningTrace => {
                    let (trace, identity) = reasoning_trace::read(root, &mut check, &mut work, places);
                    trace.pick(slots, &mut facts);
                    identity
                }
                Kind::AgentDimensions => {
                    let (dimensions, identity) = agent_dimensions::read(root, &mut check);
                    dimensions.pick(slots, &mut facts);
                    identity
                }
                Kind::AgentEvidence => {
                    let (agent, identity) = agent_evidence::read(root, &mut check, &mut work);
                    agent.pick(slots, &mut facts);
                    identity
                }
                Kind::Facts => {
                    if let Some(source) = self.table.source(root) {
                        check.refuse_inexact(source);
                        work.seen.insert(fact_table::SOURCE.to_owned(), value::of_node(source));
                    }
                    self.table.read(root, &mut check, &mut facts)
                }
            }
        } else {
            check.refuse(root, "an object", "an evidence item is one JSON object");
            Identity::default()
        };
        if identity.subject.or(identity.id).is_none() && check.problems.is_empty() {
            let fields = match self.kind {
                Kind::WorkflowRun => "`subject`, `agent_id`, `miner_uid` or an `id`",
                Kind::Match => "`agent_id`, `agent`, `subject` or a `match_id`",
                Kind::ReasoningTrace => "`metadata.agent_id` or an `id`",
                Kind::AgentDimensions => "`agent_id`, `subject` or an `id`",
                Kind::AgentEvidence => "`agent_id`",
                Kind::Facts => &format!("`{}` or an `id`", self.table.subject_field()),
            };
            let found = if self.kind == Kind::Facts { no_name_among(root) } else { "no name".to_owned() };
            check.refuse_as(root, found, fields, "say who is scored");
        }
        if !check.problems.is_empty() {
            // What graders refuse has a path; where in the text that is, the item knows.
            return Err(check.problems.map(|problem| locate::place(root, problem)).in_order());
        }

        let suspicions = check.take_suspicions().iter().map(ToString::to_string).collect();
        let digest = Digest::of(canonical.bytes());
        let id = match identity.id {
            Some(own) => written(own, id),
            None => {
                id.clear();
                match name {
                    Some(name) => id.push_str(name),
                    // Writing to a string cannot fail.
                    None => drop(fmt::Write::write_fmt(id, format_args!("{digest}"))),
                }
                id.as_str()
            }
        };
        let subject = identity.subject.map_or(id, |name| written(name, subject));
        let task = identity.task.map(|name| written(name, task));
        let part = identity.part.map(|name| written(name, part));
        let run = identity.run.map(|name| written(name, run));
        let Identity { time, outcome, cases, .. } = identity;
        let context = ItemContext { time, task, outcome, cases, part, run };
        let grading = if work.seen.is_empty() {
            None
        } else {
            grading.clear();
            value::write_object(&work.seen, grading);
            std::str::from_utf8(grading).ok()
        };
        work.watch.ended("read");
        let is_embedded = work.is_embedded;
        self.pending = work.pending;
        let canonical = canonical.bytes();
        Ok(Evidence {
            subject,
            id,
            context,
            digest,
            facts,
            grading,
            is_embedded,
            canonical,
            notes,
            suspicions,
        })
    }

    /// Returns the fields that are never read, over all items so far: JSON path (`[*]` for any element) and count.
    pub fn unknown_fields(&self) -> impl Iterator<Item = (&str, u64)> {
        self.unknown.iter()
    }

    /// Takes these fields, of the items since they were taken last. From then on each name has a count, however many there
    /// are: take them often.
    pub fn take_unknown_fields(&mut self) -> UnknownFields {
        std::mem::replace(&mut self.unknown, UnknownFields::whole())
    }

    /// Replaces the fields that are never read.
    pub fn set_unknown_fields(&mut self, fields: UnknownFields) {
        self.unknown = fields;
    }
}

/// Describes the fields that an item of facts has in place of a name: one of its fields may be meant.
fn no_name_among(root: Node<'_>) -> String {
    const SHOWN: usize = 6;
    let shown: Vec<String> = root.children().take(SHOWN).map(|member| quoted(member.key())).collect();
    let more = root.children().count() - shown.len();
    match (shown.join(", "), more) {
        (_, 0) if shown.is_empty() => "no name and no field".to_owned(),
        (shown, 0) => format!("no name among the fields {shown}"),
        (shown, more) => format!("no name among the fields {shown} and {more} more"),
    }
}

fn written<'a>(name: Name<'a>, memory: &'a mut String) -> &'a str {
    match name {
        Name::Text(text) => text,
        Name::Number(number) => {
            *memory = digits(number);
            memory
        }
    }
}
