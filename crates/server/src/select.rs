//! Which records an answer is about.

use std::collections::BTreeSet;
use std::sync::Arc;

use karat_core::timestamp::Timestamp;

use crate::cards::Rule;
use crate::index::{Index, Row};
use crate::params::timestamp;
use crate::problem::Problem;
use crate::state::App;
use crate::stored::Trust;

/// Which records are wanted, as parameters say it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Wanted<'a> {
    /// Those of this subject.
    pub subject: Option<&'a str>,
    /// Those of this scorecard; of a family, those of its challenges.
    pub card: Option<&'a str>,
    /// Those of these tasks, with commas between them.
    pub track: Option<&'a str>,
    /// Those that took place at this moment or later.
    pub since: Option<&'a str>,
    /// Those that took place before this moment.
    pub until: Option<&'a str>,
    /// Those with facts that are at least so trustworthy.
    pub trust: Option<Trust>,
}

/// The same in the numbers of the index.
#[derive(Debug, Clone)]
pub struct Wish {
    subject: Option<u32>,
    cards: Option<BTreeSet<u32>>,
    tasks: Option<BTreeSet<u32>>,
    since: Option<Timestamp>,
    until: Option<Timestamp>,
    trust: Option<Trust>,
}

impl Wish {
    /// The wish, with the scorecards that it names.
    ///
    /// # Errors
    /// What is wrong with a parameter; that there is no such scorecard.
    pub fn new(app: &App, index: &Index, wanted: &Wanted<'_>) -> Result<(Self, Vec<Arc<Rule>>), Problem> {
        let rules = wanted.card.map(|card| rules(app, card)).transpose()?;
        let numbers =
            |names: &mut dyn Iterator<Item = String>| names.filter_map(|name| index.number(&name)).collect();
        let wish = Self {
            // A number that no subject has, where nobody is called so.
            subject: wanted.subject.map(|subject| index.number(subject).unwrap_or(u32::MAX)),
            cards: rules.as_ref().map(|rules| numbers(&mut rules.iter().map(|rule| rule.name()))),
            tasks: wanted
                .track
                .map(|track| numbers(&mut track.split(',').map(|task| task.trim().to_owned()))),
            since: timestamp("since", wanted.since)?,
            until: timestamp("until", wanted.until)?,
            trust: wanted.trust,
        };
        Ok((wish, rules.unwrap_or_default()))
    }

    /// Whether the record is wanted. What has no time lies in no span.
    #[must_use]
    pub fn admits(&self, row: &Row) -> bool {
        self.subject.is_none_or(|it| it == row.subject)
            && self.cards.as_ref().is_none_or(|it| it.contains(&row.card))
            && self.tasks.as_ref().is_none_or(|it| row.task.is_some_and(|task| it.contains(&task)))
            && self.trust.is_none_or(|it| row.trust >= it)
            && self.since.is_none_or(|since| row.time.is_some_and(|time| time >= since))
            && self.until.is_none_or(|until| row.time.is_some_and(|time| time < until))
    }
}

/// The scorecard of that name, or the challenges of the family of that name.
fn rules(app: &App, card: &str) -> Result<Vec<Arc<Rule>>, Problem> {
    let cards = app.memory.cards();
    let rule = cards.find(card)?;
    if rule.card.family.is_none() {
        return Ok(vec![rule]);
    }
    let family = rule.name();
    Ok(cards.iter().filter(|rule| rule.card.base.as_ref() == Some(&family)).map(Arc::clone).collect())
}

/// The size of the log at a moment, or now.
///
/// # Errors
/// That the store cannot be read, or what is wrong with the moment.
pub async fn size_at(app: &App, known_at: Option<&str>) -> Result<u64, Problem> {
    match timestamp("known_at", known_at)? {
        None => Ok(*app.memory.size().borrow()),
        Some(known_at) => {
            let known_at = karat_store::Moment(known_at.milliseconds);
            let size = app.read(move |reader| Ok(reader.size_at(known_at)?)).await?;
            // What was committed this moment is not in memory yet.
            Ok(size.min(*app.memory.size().borrow()))
        }
    }
}
