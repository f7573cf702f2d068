//! One item of evidence in, what the store keeps of it out: the evidence in canonical form, and its record.

use karat_core::evaluate::Context;
use karat_core::facts::Digest;
use karat_evidence::{Moment, Note, Problems};
use karat_report::moment::is_moment;
use karat_store::{Kind, NewItem};

use crate::cards::Rule;
use crate::ids;
use crate::index::NewRow;
use crate::keys::Key;
use crate::problem::{Code, Problem, ProblemPart};
use crate::stored::Trust;

/// An item that was scored.
#[derive(Debug)]
pub struct Scored {
    /// Its own id, unique for its subject.
    pub id: String,
    /// The evidence, in canonical form.
    pub evidence: NewItem,
    /// The record.
    pub record: NewItem,
    /// What the index keeps of the record.
    pub row: NewRow,
    /// What a reader of the score should know.
    pub notes: Vec<Note>,
}

/// How an item is to be scored.
#[derive(Debug, Clone, Copy)]
pub struct How<'a> {
    /// The rule.
    pub rule: &'a Rule,
    /// The moment of the verdict, as it was given.
    pub as_of: Option<&'a str>,
    /// Whose word it is.
    pub key: &'a Key,
}

impl How<'_> {
    /// Scores the item in `bytes`.
    ///
    /// # Errors
    /// Everything that is wrong with it; that the key may not say this.
    pub fn score(&self, bytes: &[u8]) -> Result<Scored, Problem> {
        self.rule.with_bench(self.moment()?, |scorer, bench| {
            let evidence = bench.reader.read(bytes).map_err(|problems| refused(&problems))?;
            let item = evidence.item();
            self.check(scorer.card(), &item)?;
            let scored = scorer.score(&mut bench.workspace, &item, &Context { as_of: self.as_of });
            let record = scored.map_err(|errors| {
                let parts = errors.iter().map(|error| ProblemPart {
                    field: Some(format!("facts.{}", error.fact)),
                    detail: error.to_string(),
                    line: None,
                    column: None,
                });
                listed(parts.collect(), 0)
            })?;
            bench.record.clear();
            record.write(&mut bench.record);
            let content = bench.record.clone();
            let card = scorer.card();
            let new = |kind, id, sources, content| {
                let subject = Some(item.subject.to_owned());
                NewItem { kind, id, subject, sources, replaces: None, content }
            };
            let name = card.name();
            let id = ids::evidence(item.subject, item.id);
            let given = card.facts.iter().zip(item.facts).filter(|(fact, given)| !fact.is_missing(given));
            Ok(Scored {
                id: item.id.to_owned(),
                record: new(Kind::Record, ids::record(&id, &name), vec![item.digest], content),
                evidence: new(Kind::Evidence, id, Vec::new(), evidence.canonical().to_vec()),
                row: NewRow {
                    subject: item.subject.to_owned(),
                    card: name,
                    task: item
                        .occasion
                        .task
                        .map(str::to_owned)
                        .or_else(|| card.base.is_some().then(|| card.id.clone())),
                    time: item.occasion.time.and_then(Moment::parse),
                    outcome: item.occasion.outcome,
                    score: record.score,
                    evidence: item.digest,
                    trust: Trust::of(given.map(|(fact, _)| fact.from)),
                },
                notes: evidence.notes().to_vec(),
            })
        })
    }

    /// The moment of the verdict.
    fn moment(&self) -> Result<Option<Moment>, Problem> {
        let Some(text) = self.as_of else { return Ok(None) };
        match Moment::parse(text).filter(|_| is_moment(text)) {
            Some(moment) => Ok(Some(moment)),
            None => {
                let found = text.escape_debug();
                Err(Problem::parameter(
                    "as_of",
                    format!("found `{found}`, expected a moment such as 2026-01-31T12:00:00Z"),
                ))
            }
        }
    }

    /// Whether the key may say this: about this subject, and what the scorecard says comes from somebody.
    fn check(
        &self,
        card: &karat_core::scorecard::Scorecard,
        item: &karat_core::facts::Item<'_>,
    ) -> Result<(), Problem> {
        if let Some(own) = self.key.subject.as_deref().filter(|own| *own != item.subject) {
            let (own, other) = (own.escape_debug(), item.subject.escape_debug());
            let message = format!("this key speaks for `{own}`, and the evidence is about `{other}`");
            return Err(Problem::new(Code::Forbidden, message).at("subject"));
        }
        let foreign = card
            .facts
            .iter()
            .zip(item.facts)
            .filter(|(fact, given)| !fact.is_missing(given) && !self.key.may_report(fact.from));
        let parts: Vec<ProblemPart> = foreign
            .map(|(fact, _)| ProblemPart {
                field: Some(format!("facts.{}", fact.name)),
                detail: format!("`{}` says it comes from `{}`", card.name(), fact.from.name()),
                line: None,
                column: None,
            })
            .collect();
        let Some(first) = parts.first().and_then(|part| part.field.clone()) else { return Ok(()) };
        let names: Vec<&str> = self.key.reports.iter().map(String::as_str).collect();
        let message = format!("this key reports what comes from {}, and nothing else", names.join(", "));
        Err(Problem::new(Code::Forbidden, message).at(first).with_parts(parts))
    }
}

/// Everything that is wrong with an item.
pub(crate) fn refused(problems: &Problems) -> Problem {
    let parts: Vec<ProblemPart> = problems
        .iter()
        .map(|problem| {
            let mend = if problem.mend.is_empty() { String::new() } else { format!("; {}", problem.mend) };
            ProblemPart {
                field: Some(problem.path.clone()),
                detail: format!("found {}, expected {}{mend}", problem.found, problem.expected),
                line: problem.line,
                column: problem.column,
            }
        })
        .collect();
    let unlisted = problems.len() - parts.len();
    listed(parts, unlisted)
}

fn listed(parts: Vec<ProblemPart>, unlisted: usize) -> Problem {
    let detail = match (parts.as_slice(), unlisted) {
        ([only], 0) => format!("{}: {}", only.field.as_deref().unwrap_or_default(), only.detail),
        (several, 0) => format!("the item has {} problems", several.len()),
        (several, more) => format!(
            "the item has {} problems, the first {} of them are listed",
            several.len() + more,
            several.len()
        ),
    };
    let field = parts.first().and_then(|part| part.field.clone());
    let problem = Problem::new(Code::EvidenceRefused, detail).with_parts(parts);
    match field {
        Some(field) => problem.at(field),
        None => problem,
    }
}

/// The digest of what an item of the store has.
#[must_use]
pub fn digest(item: &NewItem) -> Digest {
    Digest::of(&item.content)
}
