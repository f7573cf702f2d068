//! The engine: one scorecard with its graders, evidence in, records out. Every door scores through it.

mod nameless;
mod table;
mod wanted;

use std::io::BufRead;
use std::ops::ControlFlow;
use std::sync::Arc;

use karat_core::diagnostic::nearest;
use karat_core::evaluate::{Context, Workspace};
use karat_core::explain::nearest_change;
use karat_core::facts::{Fact, Item};
use karat_core::record::Record as Scoring;
use karat_core::scorecard::{FactType, FieldPath, Scorecard};
use karat_core::timestamp::{Timestamp, WrittenTimestamp};
use karat_evidence::source::Layout;
use karat_evidence::{Note, Problem};
use karat_graders::execution::Judge;
use karat_graders::trace::budget::{Budget, Overrun};
use karat_graders::trace::embedder::Embedder;
use karat_graders::trace::novelty::VectorCache;
use karat_reader::{Evidence, Graders, Kind, Reader, ReaderOptions};
use serde::Serialize;

use crate::bulk::Noticed;
use crate::card::CompiledCard;
use crate::cards::wanted_facts;
use crate::error::{Code, Error, Place};
use crate::explanation::document::Explanation;
use crate::record::Record;
use crate::rows::Fields;
use crate::stopwatch::Stopwatch;

pub use karat_graders::trace::novelty::Settings;
pub use karat_reader::{HandedVector, embedding_text};

pub use self::nameless::HandedOn;
pub use self::wanted::{Wanted, each_item};

/// Settings of an [`Engine`]: everything that a score may depend on besides the scorecard and the evidence.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The moment of the verdict. It is in every record; evidence that ages is graded by it. Never read from a clock.
    pub as_of: Option<Timestamp>,
    /// The field that names the subject, for evidence of kind `facts`; `subject` if not given.
    pub subject_field: Option<String>,
    /// The field that names the task, for evidence of kind `facts`; `task` if not given. Both may be paths, as in the `[facts]`
    /// of a scorecard.
    pub task_field: Option<String>,
    /// The model that turns the text of a trace into a vector.
    pub embedder: Option<Arc<Embedder>>,
    /// The vectors of earlier traces; each trace that is scored adds its own.
    pub cache: Option<VectorCache>,
    /// The settings of a cache that the first vector begins; if not given, those of the documents.
    pub cache_settings: Option<Settings>,
    /// True to make each trace a separate observation: one that comes again is compared with what it was before. Else an id
    /// that comes again is the same observation, scored again.
    pub observes: bool,
    /// The time that an item may take. No score depends on it: [`Engine::overrun`] says if the last item took longer.
    pub budget: Option<Budget>,
    /// The judge of submitted code, for challenges that run it. Without one such a match has no verdict.
    pub judge: Option<Arc<dyn Judge>>,
    /// True to score matches of other challenges too, which is refused otherwise: to see how scorecards compare.
    pub any_challenge: bool,
}

/// A scorecard with everything that scoring takes: bytes of evidence in, records out, one after the other.
///
/// An engine serves one thread; make one for each. A record follows from scorecard, options and evidence alone, in any
/// order, unless there is a cache of vectors.
///
/// ```
/// use karat::engine::Engine;
///
/// let mut engine = Engine::open("workflow")?;
/// let record = engine.score(include_bytes!("../examples/workflow/worked-example.json"))?;
/// assert_eq!(record.document().subject, "17");
/// # Ok::<(), karat::error::Error>(())
/// ```
#[derive(Debug)]
pub struct Engine {
    card: Arc<CompiledCard>,
    reader: Reader,
    workspace: Workspace,
    as_of: Option<(String, Timestamp)>,
    /// For each fact of the scorecard, whether an item gave it.
    given: Vec<bool>,
    stopwatch: Option<Stopwatch>,
    /// The name of the last item, by its place.
    name: String,
    /// The fields that the options name, by their flags.
    named: Vec<(&'static str, String)>,
    /// Those of them that an item had, and the fields of those that have none.
    fields: Fields,
    has_items: bool,
}

/// One item that was scored, borrowed from the engine: the account of its score, and the evidence as it was read.
#[derive(Debug)]
pub struct Scored<'e> {
    /// The score and its account.
    pub record: Scoring<'e>,
    evidence: &'e Evidence<'e>,
}

impl<'e> Scored<'e> {
    /// Returns what a reader of the score should know about the item and the record does not say.
    pub fn notes(&self) -> &'e [Note] {
        self.evidence.notes()
    }

    /// Returns true if the embedder of the engine made the vector of its text: then its novelty was measured here, and the item
    /// did not state it.
    pub fn is_embedded(&self) -> bool {
        self.evidence.is_embedded()
    }

    /// Returns the item as canonical JSON (RFC 8785): the bytes that its digest is of.
    pub fn evidence(&self) -> &'e [u8] {
        self.evidence.canonical()
    }

    /// Appends the record as canonical JSON (RFC 8785), without an end of line.
    pub fn write(&self, out: &mut Vec<u8>) {
        self.record.write(out);
    }
}

impl Engine {
    /// Creates an engine for a released scorecard (`id` or `id@version`) or the scorecard in a file, with no options.
    ///
    /// # Errors
    ///
    /// If there is no such scorecard, or it cannot score.
    pub fn open(card: &str) -> Result<Self, Error> {
        Self::new(CompiledCard::open(card)?, Options::default())
    }

    /// Creates an engine.
    ///
    /// # Errors
    ///
    /// If the scorecard is a family, if its kind of evidence is unknown or does not supply its facts, or if an option is not
    /// for this kind.
    pub fn new(card: impl Into<Arc<CompiledCard>>, options: Options) -> Result<Self, Error> {
        let card = card.into();
        let scorer = card.scorer()?;
        let kind = kind(scorer.card())?;
        let Options {
            as_of,
            subject_field,
            task_field,
            embedder,
            cache,
            cache_settings,
            observes,
            budget,
            judge,
            any_challenge,
        } = options;
        let foreign = [
            (subject_field.is_some() && kind != Kind::Facts, "subject_field", Kind::Facts),
            (task_field.is_some() && kind != Kind::Facts, "task_field", Kind::Facts),
            (embedder.is_some() && kind != Kind::ReasoningTrace, "embedder", Kind::ReasoningTrace),
            (cache.is_some() && kind != Kind::ReasoningTrace, "cache", Kind::ReasoningTrace),
            (observes && kind != Kind::ReasoningTrace, "observes", Kind::ReasoningTrace),
        ];
        if let Some((_, option, for_kind)) = foreign.into_iter().find(|(is_foreign, ..)| *is_foreign) {
            let (found, wanted) = (kind.name(), for_kind.name());
            let message = format!("`{option}` is for evidence of kind `{wanted}`, not `{found}`");
            return Err(Error::new(Code::InvalidOption, message).hint(format!("leave out `{option}`")));
        }
        let (evaluator, jury) = (card.evaluator().cloned(), card.jury());
        let named = [("--subject-field", &subject_field), ("--task-field", &task_field)];
        let named = named.into_iter().filter_map(|(flag, field)| Some((flag, field.clone()?))).collect();
        let challenge = card.challenge().filter(|_| !any_challenge);
        if cfg!(target_family = "wasm") && budget.is_some() {
            let message = "`budget` needs a clock, and a module has no clock";
            let hint = "time the embedder outside, and hand its vector over with `set_vector`";
            return Err(Error::new(Code::InvalidOption, message).hint(hint));
        }
        let (settings, observed) = (cache_settings, observes.then_some(0));
        let handed = None;
        let graders = Graders {
            as_of,
            evaluator,
            judge,
            challenge,
            jury,
            embedder,
            handed,
            observed,
            cache,
            settings,
            ..Graders::default()
        };
        let options = ReaderOptions { subject_field, task_field };
        let reader = reader(scorer.card(), kind, options)?.with_graders(graders);
        let (workspace, given) = (Workspace::new(scorer), vec![false; scorer.card().facts.len()]);
        let as_of = as_of.map(|at| (at.to_string(), at));
        let (stopwatch, name) = (budget.map(Stopwatch::new), String::new());
        let (fields, has_items) = (Fields::default(), false);
        Ok(Self { card, reader, workspace, as_of, given, stopwatch, name, named, fields, has_items })
    }

    /// Returns the scorecard.
    pub fn card(&self) -> &Arc<CompiledCard> {
        &self.card
    }

    /// Returns the kind of evidence that is scored.
    pub fn kind(&self) -> Kind {
        self.reader.kind()
    }

    /// Sets the moment of the verdict for the items that follow.
    pub fn set_as_of(&mut self, as_of: Option<Timestamp>) {
        self.as_of = as_of.map(|at| (at.to_string(), at));
        self.reader.set_as_of(as_of);
    }

    /// Sets the moment of the verdict for the items that follow; records keep the text.
    pub fn set_as_of_written(&mut self, as_of: Option<WrittenTimestamp<'_>>) {
        self.as_of = as_of.map(|as_of| (as_of.text.to_owned(), as_of.at));
        self.reader.set_as_of(as_of.map(|as_of| as_of.at));
    }

    /// Sets what a record says of the circumstances of its verdict, so that the same evidence gives the same bytes: the moment,
    /// in the spelling of the record.
    pub fn set_circumstances_of(&mut self, record: &Record) {
        self.set_as_of_written(record.document().as_of());
    }

    /// Sets the ids of the traces of the same subject that the next one corrects, and those these corrected: it is not compared
    /// with them.
    pub fn set_replaced(&mut self, replaces: Vec<String>) {
        self.reader.set_replaced(replaces);
    }

    /// Sets what an embedder elsewhere made of [`embedding_text`] of the next item; it counts for that item alone, and the record
    /// names the model.
    pub fn set_vector(&mut self, vector: Option<HandedVector>) {
        self.reader.set_vector(vector);
    }

    /// Replaces the vectors of the traces so far, and returns those before.
    pub fn replace_cache(&mut self, cache: Option<VectorCache>) -> Option<VectorCache> {
        self.reader.replace_cache(cache)
    }

    /// Scores one item of evidence: the bytes of one JSON object.
    ///
    /// # Errors
    ///
    /// If the item is refused: everything that is wrong with it.
    pub fn score(&mut self, evidence: &[u8]) -> Result<Record, Error> {
        self.try_visit(evidence, |scored| Record::of(&scored.record))
    }

    /// Scores one item of evidence that is a value: anything that serialises as a JSON object.
    ///
    /// # Errors
    ///
    /// As [`Engine::score`]; if the value does not serialise.
    pub fn score_value(&mut self, evidence: &impl Serialize) -> Result<Record, Error> {
        let bytes = serde_json::to_vec(evidence).map_err(|error| {
            Error::new(Code::EvidenceRefused, format!("the value does not serialise as JSON: {error}"))
        })?;
        self.score(&bytes)
    }

    /// Scores one item and explains the score: the parts that add up to it, what is missing, and the smallest change that
    /// reaches the next band or tier.
    ///
    /// # Errors
    ///
    /// As [`Engine::score`].
    pub fn explain(&mut self, evidence: &[u8]) -> Result<Explanation, Error> {
        let card = Arc::clone(&self.card);
        self.try_visit(evidence, |scored| {
            let change = nearest_change(card.scorer()?, &scored.record);
            Explanation::new(&scored.record, change.as_ref(), None, None)
        })
    }

    /// Scores one item and hands it to `visit` without copying it: for many items.
    ///
    /// # Errors
    ///
    /// As [`Engine::score`].
    pub fn visit<T>(&mut self, evidence: &[u8], visit: impl FnOnce(&Scored<'_>) -> T) -> Result<T, Error> {
        self.try_visit(evidence, |scored| Ok(visit(scored)))
    }

    /// As [`Engine::visit`], for an item at a place in an input: an item without an id has the place as id (`runs.csv:17`), and
    /// errors name the place.
    ///
    /// # Errors
    ///
    /// As [`Engine::score`].
    pub fn visit_at<T>(
        &mut self,
        place: &Place,
        bytes: &[u8],
        visit: impl FnOnce(&Scored<'_>) -> T,
    ) -> Result<T, Error> {
        let mut name = std::mem::take(&mut self.name);
        name.clear();
        place.write_name(&mut name);
        let visited = self.try_visit_named(Some(&name), bytes, |scored| Ok(visit(scored)));
        self.name = name;
        visited.map_err(|error: Error| error.at(place.clone()))
    }

    /// As [`Engine::visit`]; an item that `visit` refuses leaves nothing in the cache of vectors.
    ///
    /// # Errors
    ///
    /// As [`Engine::score`]; what `visit` says.
    pub fn try_visit<T, E: From<Error>>(
        &mut self,
        bytes: &[u8],
        visit: impl FnOnce(&Scored<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        self.try_visit_named(None, bytes, visit)
    }

    /// As [`Engine::try_visit`]. An item without an id has the id `name`: what it is called where it stands, so that two equal
    /// items remain two. Without `name` it is the digest of the item.
    ///
    /// # Errors
    ///
    /// As [`Engine::score`]; what `visit` says.
    pub fn try_visit_named<T, E: From<Error>>(
        &mut self,
        name: Option<&str>,
        bytes: &[u8],
        visit: impl FnOnce(&Scored<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        let kind = self.reader.kind();
        self.has_items = true;
        for (_, field) in &self.named {
            self.fields.see(field, self.card.card(), bytes);
        }
        if let Some(stopwatch) = &mut self.stopwatch {
            stopwatch.start();
        }
        let mut watch = |stage| self.stopwatch.iter_mut().for_each(|stopwatch| stopwatch.ended(stage));
        let read = self.reader.read_watched(name, bytes, &mut watch);
        let evidence = read.map_err(|problems| {
            let absent = problems.iter().filter(|problem| is_absent_at_the_top(problem)).count();
            // Most kinds require several members; an item that lacks one of them is not yet of another kind.
            let is_foreign = absent > usize::from(kind != Kind::AgentDimensions)
                || Kind::of_item(bytes).is_some_and(|other| other != kind);
            let is_nameless =
                kind == Kind::Facts && problems.iter().any(|it| it.found.starts_with("no name"));
            let error = Error::refused(&problems);
            if is_foreign {
                let (name, kind) = (self.card.name(), kind.name());
                error
                    .with_code(Code::OtherKind)
                    .hint(format!("`{name}` reads evidence of kind `{kind}`: is this of that kind?"))
            } else if is_nameless {
                error.with_code(Code::NoSubject).hint("to take another field for the subject, name it")
            } else {
                error
            }
        })?;
        let item = evidence.item();
        for (given, fact) in self.given.iter_mut().zip(item.facts) {
            *given |= *fact != Fact::Missing;
        }
        let scorer = self.card.scorer()?;
        let as_of = self.as_of.as_ref().map(|(text, at)| WrittenTimestamp { text, at: *at });
        let scored = scorer.score(&mut self.workspace, &item, &Context { as_of });
        if let Some(stopwatch) = &mut self.stopwatch {
            stopwatch.ended("score");
        }
        let done = match scored {
            Ok(record) => visit(&Scored { record, evidence: &evidence }),
            Err(errors) => Err(Error::broken_facts(&errors).into()),
        };
        if done.is_err() {
            self.reader.refuse_last();
        }
        done
    }

    /// Scores an item whose facts were read elsewhere, in the order of the scorecard.
    ///
    /// # Errors
    ///
    /// If a fact breaks its declaration: every such fact.
    pub fn visit_item<T>(
        &mut self,
        item: &Item<'_>,
        visit: impl FnOnce(&Scoring<'_>) -> T,
    ) -> Result<T, Error> {
        let as_of = self.as_of.as_ref().map(|(text, at)| WrittenTimestamp { text, at: *at });
        let context = Context { as_of };
        let scored = self.card.scorer()?.score(&mut self.workspace, item, &context);
        scored.map(|record| visit(&record)).map_err(|errors| Error::broken_facts(&errors))
    }

    /// Returns the value that a let of the scorecard had for the item scored last; a condition is 0 or 1. None if it is missing
    /// or failed, if nothing in the scorecard reads it, or if there is no let of this name.
    pub fn value_of_let(&self, name: &str) -> Option<f64> {
        self.card.scorer().ok()?.value_of_let(&self.workspace, name)
    }

    /// Scores a whole input, such as a file of JSON lines or a CSV table, and hands each item to `visit`, with its place:
    /// one item in memory at a time. An item that is refused does not stop the others; `visit` does, with
    /// [`ControlFlow::Break`].
    ///
    /// ```
    /// use std::ops::ControlFlow;
    /// use karat_evidence::source::Layout;
    /// use karat::card::CompiledCard;
    /// use karat::engine::{Engine, Options};
    ///
    /// let card = CompiledCard::parse(r#"
    ///     schema = "karat/scorecard/1"
    ///     id = "solved"
    ///     version = "1.0.0"
    ///     title = "Share of tasks solved"
    ///     evidence = "facts"
    ///
    ///     [facts]
    ///     solved = { min = 0, max = 50 }
    ///
    ///     [[dimension]]
    ///     key = "solved"
    ///     label = "Solved"
    ///     weight = 1
    ///     formula = "solved / 50"
    /// "#)?;
    /// let mut engine = Engine::new(card, Options::default())?;
    /// let mut scores = Vec::new();
    /// let table = "subject,solved\nbot-7,40\nbot-8,25\n";
    /// engine.score_all("runs.csv", table.as_bytes(), Layout::Csv, |_, scored| {
    ///     scores.push(scored.map(|scored| scored.record.published.map(|score| score.to_f64())));
    ///     ControlFlow::Continue(())
    /// });
    /// assert_eq!(scores, [Ok(Some(0.8)), Ok(Some(0.5))]);
    /// # Ok::<(), karat::error::Error>(())
    /// ```
    pub fn score_all(
        &mut self,
        file: &str,
        input: impl BufRead,
        layout: Layout,
        mut visit: impl FnMut(&Place, Result<&Scored<'_>, Error>) -> ControlFlow<()>,
    ) {
        let wanted = self.wanted();
        let _ = each_item(file, input, layout, &wanted, |place, bytes| {
            let scored =
                bytes.and_then(|bytes| self.visit_at(place, bytes, |scored| visit(place, Ok(scored))));
            match scored {
                Ok(flow) => flow,
                Err(error) => visit(place, Err(error)),
            }
        });
    }

    /// Returns how far the last item went beyond the budget, if there is one and it did.
    pub fn overrun(&self) -> Option<Overrun> {
        self.stopwatch.as_ref().and_then(Stopwatch::overrun)
    }

    /// Returns the vectors of the traces so far, if there are any.
    pub fn cache(&mut self) -> Option<&VectorCache> {
        self.reader.graders().cache.as_ref()
    }

    /// Returns what is read from evidence.
    pub fn wanted(&self) -> Wanted {
        Wanted { kind: self.reader.kind(), facts: wanted_facts(self.card.card()), columns: Vec::new() }
    }

    /// Returns the fields of the evidence that nothing reads, and how often each occurred.
    pub fn unknown_fields(&self) -> impl Iterator<Item = (&str, u64)> {
        self.reader.unknown_fields()
    }

    /// Refuses a field that the options name and no item had: each item would be a separate subject or task.
    ///
    /// # Errors
    /// If there is one; with the fields that there are.
    pub fn refuse_unfound(&self) -> Result<(), Error> {
        let named = self.named.iter().filter(|_| self.has_items);
        named
            .into_iter()
            .try_for_each(|(flag, field)| self.fields.check(field, flag, std::iter::once(self.card.card())))
    }

    /// Takes what was noticed of the items since it was taken last.
    pub fn take_noticed(&mut self) -> Noticed {
        let given = self.given.iter_mut().map(std::mem::take).collect();
        let (fields, has_items) = (std::mem::take(&mut self.fields), std::mem::take(&mut self.has_items));
        Noticed { unknown: self.reader.take_unknown_fields(), given, fields, has_items }
    }

    /// Replaces what was noticed, such as by what several engines noticed together.
    pub fn set_noticed(&mut self, noticed: Noticed) {
        self.reader.set_unknown_fields(noticed.unknown);
        self.given = noticed.given;
        (self.fields, self.has_items) = (noticed.fields, noticed.has_items);
    }

    /// Returns the fact that an unread field may have been meant for: one of a like name that no item gave.
    pub fn meant(&self, path: &str) -> Option<&str> {
        let facts = || self.card.card().facts.iter().zip(&self.given).filter(|(_, given)| !**given);
        let fields: Vec<String> = facts()
            .map(|(fact, _)| fact.path.as_ref().map_or_else(|| fact.name.clone(), FieldPath::column))
            .collect();
        let meant = nearest(path.strip_prefix("$.")?, fields.iter().map(String::as_str))?;
        let at = fields.iter().position(|field| field == meant)?;
        facts().nth(at).map(|(fact, _)| fact.name.as_str())
    }
}

/// Reads the facts of one kind of evidence, all of them, and scores nothing.
#[derive(Debug)]
pub struct FactReader {
    reader: Reader,
    facts: Vec<(String, FactType)>,
}

impl FactReader {
    /// Creates a reader of all facts that evidence of `kind` gives.
    ///
    /// # Errors
    ///
    /// If the kind is `facts`, whose names only a scorecard knows.
    pub fn new(kind: Kind, graders: Graders) -> Result<Self, Error> {
        let vocabulary = kind.vocabulary();
        let facts: Vec<_> = vocabulary.iter().map(|spec| (spec.name.to_owned(), spec.fact_type)).collect();
        if facts.is_empty() {
            let message = format!("evidence of kind `{}` is not graded", kind.name());
            return Err(Error::new(Code::OtherKind, message));
        }
        let reader = Reader::new(kind, &facts, ReaderOptions::default());
        let reader = reader.map_err(|_| {
            Error::new(Code::OtherKind, format!("the kind `{}` does not supply its own facts", kind.name()))
        })?;
        Ok(Self { reader: reader.with_graders(graders), facts })
    }

    /// Reads one item at a place in an input; an item without an id has the place as id.
    ///
    /// # Errors
    ///
    /// If the item is refused: everything that is wrong with it.
    pub fn read<'a>(&'a mut self, place: &Place, bytes: &'a [u8]) -> Result<Evidence<'a>, Error> {
        let read = self.reader.read_watched(Some(&place.name()), bytes, &mut |_: &'static str| ());
        read.map_err(|problems| Error::refused(&problems).at(place.clone()))
    }

    /// Returns what is read from evidence.
    pub fn wanted(&self) -> Wanted {
        Wanted { kind: self.reader.kind(), facts: self.facts.clone(), columns: Vec::new() }
    }

    /// Returns the fields of the evidence that nothing reads, and how often each occurred.
    pub fn unknown_fields(&self) -> impl Iterator<Item = (&str, u64)> {
        self.reader.unknown_fields()
    }
}

/// Returns the kind of evidence that a scorecard reads.
///
/// # Errors
///
/// If karat has no such kind.
pub fn kind(card: &Scorecard) -> Result<Kind, Error> {
    Kind::from_name(&card.evidence).ok_or_else(|| {
        let names: Vec<&str> = Kind::ALL.iter().map(|kind| kind.name()).collect();
        let message = format!(
            "`{}` reads evidence of kind `{}`, which karat does not have",
            card.name(),
            card.evidence
        );
        Error::new(Code::ScorecardRefused, message).hint(format!("there are: {}", names.join(", ")))
    })
}

fn reader(card: &Scorecard, kind: Kind, options: ReaderOptions) -> Result<Reader, Error> {
    Reader::new(kind, &wanted_facts(card), options).map_err(|unknown| {
        let message =
            format!("evidence of kind `{}` cannot supply what `{}` reads", card.evidence, card.name());
        Error::new(Code::ScorecardRefused, message).hints_from(unknown.iter().map(ToString::to_string))
    })
}

/// Returns whether a member of the item itself is not there, as in evidence of another kind.
fn is_absent_at_the_top(problem: &Problem) -> bool {
    problem.found == "nothing" && !problem.path.trim_start_matches("$.").contains(['.', '['])
}

#[cfg(test)]
mod tests {
    use karat_core::number::Decimal;

    use super::*;

    const RUN: &[u8] = include_bytes!("../examples/workflow/worked-example.json");
    const TRACE: &[u8] = include_bytes!("../examples/trace/same-trace-default.json");

    #[test]
    fn a_caller_who_takes_the_wrong_card_learns_what_to_call_instead() {
        let family = Engine::open("arena").unwrap_err();
        assert_eq!(family.code(), Code::Family);
        assert!(family.hints().iter().any(|hint| hint.contains("cipher-relay@1.0.0")), "{family}");
        let unknown = Engine::open("worklow").unwrap_err();
        assert_eq!(unknown.code(), Code::UnknownScorecard);
        assert!(unknown.hints().iter().any(|hint| hint.contains("`workflow`")), "{unknown}");
        let other = Engine::open("workflow").unwrap().score(TRACE).unwrap_err();
        assert_eq!(other.code(), Code::OtherKind);
        assert!(other.hints().iter().any(|hint| hint.contains("workflow-run")), "{other}");
        let workflow = CompiledCard::released("workflow").unwrap();
        let weights = [(String::from("cost"), Decimal::ONE)];
        let refused = workflow.with_override(&weights).unwrap_err();
        assert_eq!(refused.code(), Code::OverrideRefused);
        assert!(refused.hints().iter().any(|hint| hint.contains("[override]")), "{refused}");
        let options = Options { subject_field: Some(String::from("who")), ..Options::default() };
        let option = Engine::new(workflow, options).unwrap_err();
        assert_eq!(option.code(), Code::InvalidOption);
        assert!(option.hints().iter().any(|hint| hint.contains("`subject_field`")), "{option}");
    }

    #[test]
    fn errors_name_no_flag_and_no_exit_status() {
        let errors = [
            Engine::open("arena").unwrap_err(),
            Engine::open("worklow").unwrap_err(),
            Engine::open("workflow").unwrap().score(TRACE).unwrap_err(),
            Engine::open("workflow").unwrap().score(b"{").unwrap_err(),
            CompiledCard::parse("id = 1").unwrap_err(),
        ];
        for error in errors {
            let text = error.to_string();
            assert!(!text.contains(" --") && !text.contains("exit"), "{text}");
            let _: &dyn std::error::Error = &error;
        }
    }

    #[test]
    fn a_problem_has_its_line_in_the_file() {
        let mut engine = Engine::open("workflow").unwrap();
        let mut places = Vec::new();
        let lines = b"{}\n\n{\"run_id\": 1}\n";
        engine.score_all("runs.jsonl", &lines[..], Layout::Auto, |place, scored| {
            let error = scored.unwrap_err();
            assert_eq!(error.place(), Some(place));
            places.push((place.to_string(), error.problems()[0].line));
            ControlFlow::Continue(())
        });
        assert_eq!(places, [("runs.jsonl:1".into(), Some(1)), ("runs.jsonl:3".into(), Some(3))]);
    }

    #[test]
    fn the_moment_of_the_verdict_stands_in_the_record() {
        let mut engine = Engine::open("workflow").unwrap();
        let first = engine.score(RUN).unwrap();
        let at = Timestamp::parse("2026-01-31T12:00:00Z").unwrap();
        engine.set_as_of(Some(at));
        assert_eq!(engine.score(RUN).unwrap().document().as_of().map(|as_of| as_of.at), Some(at));
        engine.set_as_of(None);
        assert_eq!(engine.score(RUN).unwrap().as_bytes(), first.as_bytes());
    }
}
