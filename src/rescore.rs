//! A kept record beside the score that another card gives the same item: the difference, and how much of it comes
//! from the engine, from a correction of the evidence, and from the scorecard.

use std::sync::Arc;

use karat_core::number::Score;
use karat_core::record::Record as Scoring;
use karat_core::scorecard::Scorecard;

use crate::card::CompiledCard;
use crate::engine::{Engine, Options};
use crate::error::{Code, Error};
use crate::recompute;
use crate::record::Record;
use crate::text::named;
use crate::words::RecordStatus;

/// The verdict of a card on an item, in a few values.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// The exact score, if there is one.
    pub score: Option<Score>,
    /// The same as published, on the scale of the card.
    pub published: Option<f64>,
    /// The status: scored, unscored or withheld.
    pub status: RecordStatus,
    /// The tier or band, if any.
    pub badge: Option<String>,
}

impl Verdict {
    pub(crate) fn of(record: &Scoring<'_>) -> Self {
        let badge = record.tier.as_ref().map_or(record.band, |tier| tier.name);
        Self {
            score: record.score,
            published: record.published.map(|published| published.to_f64()),
            status: record.status,
            badge: badge.map(str::to_owned),
        }
    }

    fn stated(record: &Record) -> Self {
        let document = record.document();
        Self {
            score: document.score(),
            published: document.score.map(|score| score.published),
            status: document.status,
            badge: document.badge().map(str::to_owned),
        }
    }
}

/// The parts of a difference, by origin. They add up to it exactly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parts {
    /// The part of the engine: what it gives for the facts in the record under the old card, less what the record says.
    pub engine: Score,
    /// The part of the evidence: what its correction gives under the old card, less what the facts in the record give.
    pub evidence: Score,
    /// The part of the scorecard: what the new one gives, less what the old one gives, both of the evidence as it is now.
    pub scorecard: Score,
}

/// A record and what becomes of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Rescored {
    /// The verdict that the record states.
    pub before: Verdict,
    /// The verdict of the new card.
    pub after: Verdict,
    /// The parts of the difference; none if one of the scores on the way from one to the other does not exist.
    pub parts: Option<Parts>,
    /// True if the evidence was corrected since.
    pub is_corrected: bool,
    /// The largest score of the new card: differences are in its points.
    pub scale: u32,
}

impl Rescored {
    /// Returns both scores in units of 1e-15; a missing one counts as 0.
    pub(crate) fn units(&self) -> [i64; 2] {
        [&self.before, &self.after].map(|verdict| verdict.score.map_or(0, Score::units))
    }

    /// Returns how far the exact score moved; one that appears or disappears moves by its full value.
    pub fn change(&self) -> Score {
        let [before, after] = self.units();
        Score::from_units(after - before)
    }

    /// Returns how far the exact score moved, if there is one on both sides.
    pub fn difference(&self) -> Option<Score> {
        self.after.score.zip(self.before.score).map(|(after, before)| after.minus(before))
    }
}

/// The evidence of a record, as far as it was kept.
#[derive(Debug, Clone, Copy)]
pub struct Kept<'a> {
    /// The item that the record was made of, if it was kept.
    pub own: Option<&'a [u8]>,
    /// The item that replaced it since, if any.
    pub corrected: Option<&'a [u8]>,
}

/// The options of an engine for a scorecard, but for the moment of the verdict, which each record has.
pub(crate) type OptionsOf<'a> = dyn Fn(&Scorecard) -> Result<Options, Error> + 'a;

/// The cards and what else scoring takes.
pub struct Rescorer<'a> {
    /// The new card.
    pub card: &'a Arc<CompiledCard>,
    /// The options of its engines.
    pub options: &'a OptionsOf<'a>,
}

impl Rescorer<'_> {
    /// Scores the item of the record `claim`, which the card `old` was made with, under the new card.
    ///
    /// Evidence that was not corrected is not read again where the record has every fact that the new card reads: what
    /// graders once found, such as a novelty against a cache of that day, stays as it was found.
    ///
    /// # Errors
    ///
    /// If the evidence is not there or is refused, or a card refuses the facts.
    pub fn rescore(
        &self,
        record: &Record,
        old: &Arc<CompiledCard>,
        kept: Kept<'_>,
    ) -> Result<Rescored, Error> {
        let before = Verdict::stated(record);
        let old = recompute::overridden(record, Arc::clone(old))?;
        let new = recompute::overridden(record, Arc::clone(self.card))?;
        let today = self.of_facts(record, &old)?;
        let (now, after) = match kept.corrected {
            Some(bytes) => (self.of_evidence(record, &old, bytes)?, self.of_evidence(record, &new, bytes)?),
            None => {
                let lacking = lacking(old.card(), new.card());
                let after = match (lacking.as_slice(), kept.own) {
                    ([], _) => self.of_facts(record, &new)?,
                    (_, Some(bytes)) => self.of_evidence(record, &new, bytes)?,
                    (lacking, None) => {
                        let message =
                            "its evidence was not kept, and the record does not have all that is read";
                        return Err(Error::new(Code::NoItems, message).hint(format!(
                            "`{}` reads {}",
                            new.name(),
                            named(lacking).unwrap_or_default()
                        )));
                    }
                };
                (today.clone(), after)
            }
        };
        let scores = [before.score, today.score, now.score, after.score];
        let parts = match scores {
            [Some(stated), Some(today), Some(now), Some(after)] => Some(Parts {
                engine: today.minus(stated),
                evidence: now.minus(today),
                scorecard: after.minus(now),
            }),
            _ => None,
        };
        Ok(Rescored {
            before,
            after,
            parts,
            is_corrected: kept.corrected.is_some(),
            scale: self.card.card().scale.max,
        })
    }

    fn of_facts(&self, record: &Record, card: &CompiledCard) -> Result<Verdict, Error> {
        recompute::rescore(record, card, Verdict::of)
    }

    fn of_evidence(&self, record: &Record, card: &Arc<CompiledCard>, bytes: &[u8]) -> Result<Verdict, Error> {
        let mut engine = Engine::new(Arc::clone(card), (self.options)(card.card())?)?;
        engine.set_circumstances_of(record);
        let name = Some(record.document().evidence.id.as_str());
        engine.try_visit_named(name, bytes, |scored| Ok(Verdict::of(&scored.record)))
    }
}

/// The facts that `new` reads and a record of `old` does not have.
fn lacking<'c>(old: &Scorecard, new: &'c Scorecard) -> Vec<&'c str> {
    let has = |name: &str, kind| old.facts.iter().any(|fact| fact.name == name && fact.kind == kind);
    new.facts.iter().filter(|fact| !has(&fact.name, fact.kind)).map(|fact| fact.name.as_str()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUN: &str = include_str!("../examples/workflow/worked-example.json");

    fn record(card: &Arc<CompiledCard>, run: &str) -> Record {
        Engine::new(Arc::clone(card), Options::default()).unwrap().score(run.as_bytes()).unwrap()
    }

    fn card(from: &str, to: &str) -> Arc<CompiledCard> {
        let text = crate::cards::library("workflow@1.0.0").unwrap();
        assert!(text.contains(from));
        Arc::new(CompiledCard::parse(&text.replace(from, to)).unwrap())
    }

    fn rescored(
        record: &Record,
        old: &Arc<CompiledCard>,
        new: &Arc<CompiledCard>,
        kept: Kept<'_>,
    ) -> Result<Rescored, Error> {
        let options = |_: &Scorecard| Ok(Options::default());
        Rescorer { card: new, options: &options }.rescore(record, old, kept)
    }

    #[test]
    fn parts_add_up_to_the_difference() {
        let (old, new) =
            (CompiledCard::released("workflow").unwrap(), card("success > 0.7\"", "success > 0.8\""));
        let corrected = RUN.replace("\"output_quality\": 0.875", "\"output_quality\": 0.75");
        let claim = record(&old, RUN);
        let none = Kept { own: None, corrected: None };
        let both = Kept { own: Some(RUN.as_bytes()), corrected: Some(corrected.as_bytes()) };
        let same = rescored(&claim, &old, &old, none).unwrap();
        assert_eq!(
            same.parts,
            Some(Parts { engine: Score::ZERO, evidence: Score::ZERO, scorecard: Score::ZERO })
        );
        let moved = rescored(&claim, &old, &new, both).unwrap();
        let parts = moved.parts.unwrap();
        // By hand: half of the lost quality, then cost and latency, which the new gate no longer counts.
        assert_eq!(parts.evidence, Score::from_billionths(-62_500_000));
        assert_eq!(parts.scorecard, Score::from_billionths(-302_500_000));
        let sum = parts.engine.units() + parts.evidence.units() + parts.scorecard.units();
        assert_eq!(Some(Score::from_units(sum)), moved.difference());
        assert!(moved.is_corrected);
    }

    #[test]
    fn what_another_engine_said_is_its_part() {
        let old = CompiledCard::released("workflow").unwrap();
        let claim = record(&old, RUN);
        let mut said = Vec::new();
        recompute::rescore(&claim, &old, |scoring| scoring.write(&mut said)).unwrap();
        let said = String::from_utf8(said).unwrap().replace("\"exact\":0.84", "\"exact\":0.85");
        let claim = Record::parse(said.as_bytes()).unwrap().unwrap();
        let moved = rescored(&claim, &old, &old, Kept { own: None, corrected: None }).unwrap();
        assert_eq!(moved.parts.unwrap().engine, Score::from_billionths(-10_000_000));
        assert_eq!(moved.difference(), Some(Score::from_billionths(-10_000_000)));
    }

    #[test]
    fn a_fact_that_no_record_has_is_read_from_the_evidence() {
        // A card of before that did not read timeouts.
        let text = crate::cards::library("workflow@1.0.0").unwrap();
        let text = text.replace(" + timeouts * 0.20", "");
        let without: Vec<&str> = text.lines().filter(|line| !line.starts_with("timeouts ")).collect();
        let old = Arc::new(CompiledCard::parse(&without.join("\n")).unwrap());
        let limit = "\"error_handling\": {\"search\": {\"timeout_seconds\": 4}}";
        let run = RUN.replace("\"timeouts\": 0", "\"timeouts\": 1").replace("\"error_handling\": {}", limit);
        let new = CompiledCard::released("workflow").unwrap();
        let claim = record(&old, &run);
        let own = Some(run.as_bytes());
        let moved = rescored(&claim, &old, &new, Kept { own, corrected: None }).unwrap();
        assert_eq!(moved.parts.unwrap().scorecard, Score::from_billionths(-20_000_000));
        let lost = rescored(&claim, &old, &new, Kept { own: None, corrected: None }).unwrap_err();
        assert!(lost.to_string().contains("reads `timeouts`"));
    }
}
