//! A record that was kept, beside what another card makes of the same item today: the difference, and how much of it comes
//! from the engine, from a correction of the evidence, and from the rule.

use std::borrow::Cow;

use karat_core::evaluate::{Scorer, Workspace};
use karat_core::number::Score;
use karat_core::record::Record;
use karat_core::scorecard::Scorecard;
use karat_evidence::Graders;

use crate::answers::RecordStatus;
use crate::claim::Claim;
use crate::failure::Failure;
use crate::recompute;
use crate::session::{Place, Session};
use crate::text::{clean, named};

/// What a card says of an item, in few words.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// The exact score, if there is one.
    pub score: Option<Score>,
    /// The same as published, on the scale of the card.
    pub published: Option<f64>,
    /// Whether there is a score.
    pub status: RecordStatus,
    /// The tier or band, if any.
    pub badge: Option<String>,
}

impl Verdict {
    fn of(record: &Record<'_>) -> Self {
        let badge = record.tier.as_ref().map_or(record.band, |tier| tier.name);
        Self {
            score: record.score,
            published: record.published.map(|published| published.to_f64()),
            status: record.status.into(),
            badge: badge.map(str::to_owned),
        }
    }

    fn stated(claim: &Claim) -> Result<Self, Failure> {
        let (score, published) = claim.score()?.unzip();
        let (status, badge) = claim.standing()?;
        let status = RecordStatus::from_name(status).ok_or_else(|| {
            let found = clean(status);
            Failure::new(format!("`status` is `{found}`, expected scored, unscored or withheld"))
        })?;
        Ok(Self { score, published, status, badge: badge.map(str::to_owned) })
    }
}

/// Where a difference comes from. The three add up to it exactly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parts {
    /// What this engine makes of the facts in the record under the old card, less what the record says.
    pub engine: Score,
    /// What the corrected evidence gives under the old card, less what the facts in the record give.
    pub evidence: Score,
    /// What the new card gives, less what the old one gives, both of the evidence as it is now.
    pub rule: Score,
}

/// A record and what becomes of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Rescored {
    /// What the record says.
    pub before: Verdict,
    /// What the new card says today.
    pub after: Verdict,
    /// Why they differ; none if one of the scores on the way from one to the other does not exist.
    pub parts: Option<Parts>,
    /// Whether the evidence was corrected since.
    pub is_corrected: bool,
}

impl Rescored {
    /// How far the exact score moved, if there is one on both sides.
    #[must_use]
    pub fn difference(&self) -> Option<Score> {
        self.after.score.zip(self.before.score).map(|(after, before)| after.minus(before))
    }
}

/// What is known about the evidence of a record.
#[derive(Debug, Clone, Copy)]
pub struct Kept<'a> {
    /// The item that the record was made of, if it was kept.
    pub own: Option<&'a [u8]>,
    /// What took its place since, if anything did.
    pub corrected: Option<&'a [u8]>,
}

/// What graders need, for a card and the moment of a verdict.
pub type GradersOf<'a> = dyn Fn(&Scorecard, Option<&str>) -> Result<Graders, Failure> + 'a;

/// The cards and what else scoring takes.
pub struct Rescorer<'a> {
    /// The new card.
    pub card: &'a Scorer,
    /// What graders need.
    pub graders: &'a GradersOf<'a>,
    /// Whether to use the instruction path that every processor has.
    pub is_portable: bool,
}

impl Rescorer<'_> {
    /// Scores the item of the record `claim`, which the card `old` was made with, under the new card.
    ///
    /// Evidence that was not corrected is not read again where the record has every fact that the new card reads: what
    /// graders once found, such as a novelty against a cache of that day, stays as it was found.
    ///
    /// # Errors
    /// That the record is none, that the evidence is not there or is refused, or that a card refuses the facts.
    pub fn rescore(&self, claim: &Claim, old: &Scorer, kept: Kept<'_>) -> Result<Rescored, Failure> {
        let before = Verdict::stated(claim)?;
        let old = recompute::scorer(claim, Cow::Borrowed(old))?;
        let new = recompute::scorer(claim, Cow::Borrowed(self.card))?;
        let today = self.of_facts(claim, &old)?;
        let (now, after) = match kept.corrected {
            Some(bytes) => (self.of_evidence(claim, &old, bytes)?, self.of_evidence(claim, &new, bytes)?),
            None => {
                let lacking = lacking(old.card(), new.card());
                let after = match (lacking.as_slice(), kept.own) {
                    ([], _) => self.of_facts(claim, &new)?,
                    (_, Some(bytes)) => self.of_evidence(claim, &new, bytes)?,
                    (lacking, None) => {
                        let message =
                            "its evidence was not kept, and the record does not have all that is read";
                        return Err(Failure::new(message).help(format!(
                            "`{}` reads {}",
                            new.card().name(),
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
                rule: after.minus(now),
            }),
            _ => None,
        };
        Ok(Rescored { before, after, parts, is_corrected: kept.corrected.is_some() })
    }

    fn of_facts(&self, claim: &Claim, scorer: &Scorer) -> Result<Verdict, Failure> {
        let mut workspace =
            if self.is_portable { Workspace::portable(scorer) } else { Workspace::new(scorer) };
        recompute::scored(claim, scorer, &mut workspace, Verdict::of)
    }

    fn of_evidence(&self, claim: &Claim, scorer: &Scorer, bytes: &[u8]) -> Result<Verdict, Failure> {
        let graders = (self.graders)(scorer.card(), claim.as_of()?)?;
        let mut session = Session::new(scorer, None, graders, self.is_portable)?;
        let place = Place { file: "its evidence", line: None, is_row: false };
        session
            .score(&place, Ok(bytes), claim.as_of()?, |record, _| Verdict::of(record))
            .map_err(|refusal| Failure::new(refusal.to_string()))
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
    use crate::cards::released_scorer;

    const RUN: &str = include_str!("../../../examples/workflow/worked-example.json");

    fn record(scorer: &Scorer, run: &str) -> Claim {
        let mut session = Session::new(scorer, None, Graders::default(), false).unwrap();
        let place = Place { file: "test", line: None, is_row: false };
        let mut bytes = Vec::new();
        session.score(&place, Ok(run.as_bytes()), None, |record, _| record.write(&mut bytes)).unwrap();
        Claim::parse(std::str::from_utf8(&bytes).unwrap()).unwrap().unwrap()
    }

    fn card(from: &str, to: &str) -> Scorer {
        let text = crate::cards::library("workflow@1.0.0").unwrap();
        assert!(text.contains(from));
        let card = Scorecard::parse(&text.replace(from, to), &crate::cards::library).unwrap();
        crate::cards::ready(card).unwrap()
    }

    fn rescored(claim: &Claim, old: &Scorer, new: &Scorer, kept: Kept<'_>) -> Result<Rescored, Failure> {
        let graders = |_: &Scorecard, _: Option<&str>| Ok(Graders::default());
        Rescorer { card: new, graders: &graders, is_portable: false }.rescore(claim, old, kept)
    }

    #[test]
    fn parts_add_up_to_the_difference() {
        let (old, new) = (released_scorer("workflow").unwrap(), card("success > 0.7\"", "success > 0.8\""));
        let corrected = RUN.replace("\"output_quality\": 0.875", "\"output_quality\": 0.75");
        let claim = record(&old, RUN);
        let none = Kept { own: None, corrected: None };
        let both = Kept { own: Some(RUN.as_bytes()), corrected: Some(corrected.as_bytes()) };
        let same = rescored(&claim, &old, &old, none).unwrap();
        assert_eq!(same.parts, Some(Parts { engine: Score::ZERO, evidence: Score::ZERO, rule: Score::ZERO }));
        let moved = rescored(&claim, &old, &new, both).unwrap();
        let parts = moved.parts.unwrap();
        // By hand: half of the lost quality, then cost and latency, which the new gate no longer counts.
        assert_eq!(parts.evidence, Score::from_billionths(-62_500_000));
        assert_eq!(parts.rule, Score::from_billionths(-302_500_000));
        let sum = parts.engine.units() + parts.evidence.units() + parts.rule.units();
        assert_eq!(Some(Score::from_units(sum)), moved.difference());
        assert!(moved.is_corrected);
    }

    #[test]
    fn what_another_engine_said_is_its_part() {
        let old = released_scorer("workflow").unwrap();
        let claim = record(&old, RUN);
        let mut said = Vec::new();
        let mut workspace = Workspace::new(&old);
        recompute::scored(&claim, &old, &mut workspace, |record| record.write(&mut said)).unwrap();
        let said = String::from_utf8(said).unwrap().replace("\"exact\":0.84", "\"exact\":0.85");
        let claim = Claim::parse(&said).unwrap().unwrap();
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
        let old = Scorecard::parse(&without.join("\n"), &crate::cards::library).unwrap();
        let old = crate::cards::ready(old).unwrap();
        let (run, new) =
            (RUN.replace("\"timeouts\": 0", "\"timeouts\": 1"), released_scorer("workflow").unwrap());
        let claim = record(&old, &run);
        let own = Some(run.as_bytes());
        let moved = rescored(&claim, &old, &new, Kept { own, corrected: None }).unwrap();
        assert_eq!(moved.parts.unwrap().rule, Score::from_billionths(-20_000_000));
        let lost = rescored(&claim, &old, &new, Kept { own: None, corrected: None }).unwrap_err();
        assert!(crate::rows::problems::said(&lost).contains("reads `timeouts`"));
    }
}
