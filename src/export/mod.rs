//! Scored items in the formats of other tools, which `karat import` reads again: Every Eval Ever, Inspect,
//! OpenTelemetry.
//!
//! What a format does not hold is left out and counted. Of a record that has the fact `solved`, that is the score of
//! the
//! sample; of any other, the score of its card as a share.

mod every_eval;
mod inspect;
mod otel;

use std::collections::BTreeMap;

use karat_core::facts::{Digest, Outcome};
use karat_core::timestamp::Timestamp;

use crate::error::{Code, Error};
use crate::record::Record;
use crate::record::document::FactValue;
use crate::text::clean;

karat_core::words! {
    /// The format of another tool.
    pub enum Target {
        /// Every Eval Ever: samples, and their means.
        EveryEvalEver = "every-eval-ever",
        /// A log of Inspect.
        Inspect = "inspect",
        /// Spans of OpenTelemetry with events of evaluations, as OTLP in JSON.
        Otel = "otel",
    }
}

/// A file of an export.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// Its name, without a folder.
    pub name: String,
    /// Its content.
    pub text: String,
}

/// An export: files, and what is not in them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Export {
    /// The files, by name.
    pub files: Vec<File>,
    /// The number of items that are in them.
    pub items: u64,
    /// The number of times that something was left out, by reason.
    pub left_out: BTreeMap<&'static str, u64>,
}

/// A scored item, as far as other formats have a place for it.
#[derive(Debug, Clone, PartialEq)]
struct Item {
    subject: String,
    id: String,
    /// The benchmark, and the sample in it: the parts of the task before and after its first slash.
    benchmark: String,
    sample: String,
    /// The task as stated.
    task: Option<String>,
    /// The number of the attempt at the sample, from 1.
    attempt: u64,
    time: Option<Timestamp>,
    outcome: Option<Outcome>,
    score: Option<f64>,
    cost_usd: Option<f64>,
    seconds: Option<f64>,
    tokens: Option<f64>,
    /// Other scores, by name.
    scores: Vec<(String, f64)>,
    scorecard: String,
    digest: String,
}

/// A collector of records to export.
#[derive(Debug, Default)]
pub struct Exporter {
    items: Vec<Item>,
    /// The digest of the evidence of each item, by subject, id and scorecard.
    seen: BTreeMap<(String, String, String), Digest>,
    left_out: BTreeMap<&'static str, u64>,
}

impl Exporter {
    /// Adds a record. The same item a second time changes nothing.
    ///
    /// # Errors
    /// If there is another item of the subject with the same id.
    pub fn add(&mut self, record: &Record) -> Result<(), Error> {
        let document = record.document();
        let card = document.scorecard.name();
        let key = (document.subject.clone(), document.evidence.id.clone(), card.clone());
        let digest = document.evidence.digest;
        match self.seen.insert(key, digest) {
            Some(before) if before == digest => {
                *self.left_out.entry("an item that was there before").or_default() += 1;
                return Ok(());
            }
            Some(_) => {
                let (subject, id) = (clean(&document.subject), clean(&document.evidence.id));
                let message = format!("`{subject}` has two items `{id}` that differ");
                return Err(Error::new(Code::EvidenceRefused, message)
                    .hint("remove one of the two, or give it its own id"));
            }
            None => {}
        }
        let number = |name: &str| match document.facts.get(name) {
            Some(FactValue::Number(number)) => Some(*number),
            Some(FactValue::Flag(flag)) => Some(f64::from(u8::from(*flag))),
            _ => None,
        };
        let evidence = &document.evidence;
        let share = document.score.as_ref().map(|score| score.exact);
        let has_solved = document.facts.contains_key("solved");
        let has_verdict = evidence.outcome != Some(Outcome::NoVerdict);
        let score = if has_solved { number("solved") } else { share.filter(|_| has_verdict) };
        let mut scores = Vec::new();
        for name in document.facts.keys() {
            match (name.as_str(), name.strip_prefix("score_"), number(name)) {
                ("solved" | "cost_usd" | "seconds" | "tokens", ..) => {}
                (_, Some(own), Some(value)) if !own.is_empty() => scores.push((own.to_owned(), value)),
                _ => {
                    *self
                        .left_out
                        .entry("a fact that is neither a score nor cost, time or tokens")
                        .or_default() += 1
                }
            }
        }
        if has_solved && share.is_some() && share != score {
            scores.extend(share.map(|share| (String::from("karat"), share)));
        }
        let task = evidence.task.as_deref();
        let (benchmark, sample) = match task.map(|task| task.split_once('/').unwrap_or(("", task))) {
            Some((benchmark, sample)) if !benchmark.is_empty() && !sample.is_empty() => (benchmark, sample),
            _ => (document.scorecard.id.as_str(), task.unwrap_or(&evidence.id)),
        };
        self.items.push(Item {
            subject: document.subject.clone(),
            id: evidence.id.clone(),
            benchmark: benchmark.to_owned(),
            sample: sample.to_owned(),
            task: task.map(str::to_owned),
            attempt: 0,
            time: document.time(),
            outcome: evidence.outcome,
            score,
            cost_usd: number("cost_usd"),
            seconds: number("seconds"),
            tokens: number("tokens"),
            scores,
            scorecard: card,
            digest: record.digest().to_string(),
        });
        Ok(())
    }

    /// Returns the export. The order in which records were added changes nothing.
    pub fn end(mut self, target: Target) -> Export {
        let key =
            |it: &Item| (it.subject.clone(), it.benchmark.clone(), it.sample.clone(), it.time, it.id.clone());
        self.items.sort_by_cached_key(key);
        let mut before: Option<(String, String, String)> = None;
        let mut attempt = 0;
        for item in &mut self.items {
            let own = (item.subject.clone(), item.benchmark.clone(), item.sample.clone());
            attempt = if before.as_ref() == Some(&own) { attempt + 1 } else { 1 };
            item.attempt = attempt;
            before = Some(own);
        }
        let mut export = Export { left_out: self.left_out, ..Export::default() };
        match target {
            Target::EveryEvalEver => every_eval::write(&self.items, &mut export),
            Target::Inspect => inspect::write(&self.items, &mut export),
            Target::Otel => otel::write(&self.items, &mut export),
        }
        export.files.sort_by(|one, other| one.name.cmp(&other.name));
        export
    }
}

impl Export {
    fn leave_out(&mut self, reason: &'static str) {
        *self.left_out.entry(reason).or_default() += 1;
    }
}

/// Returns the items in groups of one subject, one benchmark of it, or one sample of that: the first `keys` of these
/// are alike.
fn groups(items: &[Item], keys: usize) -> impl Iterator<Item = &[Item]> {
    let key = |item: &Item| [item.subject.clone(), item.benchmark.clone(), item.sample.clone()];
    items.chunk_by(move |one, other| key(one).iter().take(keys).eq(key(other).iter().take(keys)))
}

/// Returns a name for a file: what every system takes, and a part of the digest of a name that is changed by that.
fn file_name(parts: &[&str]) -> String {
    let name = parts.join("_");
    let kept: String = name
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '-' })
        .take(80)
        .collect();
    let kept = kept.trim_start_matches('.').to_owned();
    if kept == name && !kept.is_empty() {
        return kept;
    }
    let digest = Digest::of(parts.join("\0").as_bytes()).to_string();
    format!("{kept}-{}", digest.get(7..15).unwrap_or_default())
}

/// Returns the newest time of items in whole seconds since 1970; 0 where none has a time.
fn newest(items: &[Item]) -> i64 {
    items.iter().filter_map(|item| item.time).max().map_or(0, |time| time.milliseconds.div_euclid(1000))
}

/// Returns the mean of the means of samples, by the score of each item.
fn mean(items: &[Item], score: impl Fn(&Item) -> Option<f64>) -> Option<f64> {
    let means: Vec<f64> = groups(items, 3)
        .filter_map(|attempts| {
            let scores: Vec<f64> = attempts.iter().filter_map(&score).collect();
            (!scores.is_empty()).then(|| scores.iter().sum::<f64>() / scores.len() as f64)
        })
        .collect();
    (!means.is_empty()).then(|| means.iter().sum::<f64>() / means.len() as f64)
}

#[cfg(test)]
mod tests;
