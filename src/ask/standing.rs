//! The answer to [`Standing`]: official scores of subjects at a moment, or the state of tasks.

use std::borrow::Cow;
use std::slice;

use karat_core::number::Decimal;
use karat_core::scorecard::{Scorecard, Standing as Rules};
use karat_core::timestamp::Timestamp;
use karat_standing::stand::{Standings, SubjectStanding, TaskStandings, stand, tasks as stand_tasks};
use serde::Deserialize;

use super::answer::{card_of, invalid};
use super::{Confidence, Items};
use crate::answers::standing::Standing as StandingAnswer;
use crate::answers::task::Task;
use crate::answers::write;
use crate::error::Error;
use crate::look_alikes::LookAlikes;
use crate::rows::Rows;
use crate::standing::events::Events;
use crate::standing::{Answer, items, refused, several_cards, subject, tasks};

/// The standings of subjects or of tasks at a moment.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
#[cfg_attr(feature = "cli", group(skip))]
pub struct Standing {
    /// The scorecard of evidence; records name their own
    #[cfg_attr(feature = "cli", arg(long, short = 'c', value_name = "ID|FILE"))]
    pub card: Option<String>,
    /// Events beside the evaluations
    #[cfg_attr(feature = "cli", arg(long, value_name = "FILE"))]
    pub events: Option<String>,
    /// One subject in full
    #[cfg_attr(feature = "cli", arg(long, short = 's', value_name = "NAME"))]
    pub subject: Option<String>,
    /// Fail where an official score is below POINTS
    #[serde(skip)]
    #[cfg_attr(feature = "cli", arg(long, value_name = "POINTS", value_parser = super::points, conflicts_with = "tasks"))]
    pub fail_under: Option<Decimal>,
    /// Show tasks instead: difficulty, and whether they are useful
    #[cfg_attr(feature = "cli", arg(long, conflicts_with_all = ["events", "subject", "html"]))]
    pub tasks: bool,
    /// The items
    #[serde(flatten)]
    #[cfg_attr(feature = "cli", command(flatten))]
    pub items: Items,
    /// The confidence
    #[serde(flatten)]
    #[cfg_attr(feature = "cli", command(flatten))]
    pub sure: Confidence,
}

impl Standing {
    /// Returns the moment.
    ///
    /// # Errors
    /// If no moment is given.
    pub fn moment(&self) -> Result<Timestamp, Error> {
        let moment = self.items.as_of.as_ref().map(|as_of| as_of.at);
        moment.ok_or_else(|| invalid("a standing needs a moment").hint("as_of: 2026-01-31T12:00:00Z"))
    }

    /// Computes the standings of subjects, or of tasks, which events do not change.
    ///
    /// # Errors
    /// If there is no moment, the scorecards have no rules or other ones, an item or event is refused, or the subject is not there.
    pub fn answer<'r>(&self, rows: &'r Rows, events: &'r Events) -> Result<Stood<'r>, Error> {
        let as_of = self.moment()?;
        let card = card_of(rows)?.ok_or_else(several_cards)?;
        let found = match self.tasks {
            true => self.stood_tasks(rows, &card, as_of)?,
            false => self.stood_subjects(rows, &card, events, as_of)?,
        };
        Ok(Stood { card, rows, events, as_of, level: self.sure.level, found })
    }

    fn stood_subjects(
        &self,
        rows: &Rows,
        card: &Scorecard,
        events: &Events,
        as_of: Timestamp,
    ) -> Result<Found, Error> {
        let items = items::items(rows, card, events)?;
        let standings =
            stand(card, &items, &events.events, as_of.seconds()).map_err(|errors| refused(&errors))?;
        let named = self.subject.as_deref().map(|name| subject(&standings, name).cloned()).transpose()?;
        let look_alikes = LookAlikes::among(rows.subjects.iter().map(String::as_str));
        Ok(Found::Subjects(Box::new(Subjects { standings, named, look_alikes })))
    }

    fn stood_tasks(&self, rows: &Rows, card: &Scorecard, as_of: Timestamp) -> Result<Found, Error> {
        let events = Events::default();
        let items = items::items(rows, card, &events)?;
        let standings =
            stand_tasks(card, &items, as_of.seconds(), self.sure.level).map_err(|errors| refused(&errors))?;
        let rules = card.standing.clone().ok_or_else(|| refused::<String>(&[]))?;
        Ok(Found::Tasks(Box::new((standings, rules))))
    }
}

/// The standings that are asked for, with their inputs.
pub struct Stood<'r> {
    card: Cow<'r, Scorecard>,
    rows: &'r Rows,
    events: &'r Events,
    as_of: Timestamp,
    level: f64,
    found: Found,
}

enum Found {
    Subjects(Box<Subjects>),
    Tasks(Box<(TaskStandings, Rules)>),
}

struct Subjects {
    standings: Standings,
    /// The one that is asked for by its name.
    named: Option<SubjectStanding>,
    look_alikes: LookAlikes,
}

impl Subjects {
    fn shown(&self) -> &[SubjectStanding] {
        self.named.as_ref().map_or(&self.standings.subjects, slice::from_ref)
    }
}

impl Stood<'_> {
    /// Returns the answer: a line of JSON for each subject or task.
    pub fn lines(&self) -> Box<dyn Iterator<Item = String> + '_> {
        match &self.found {
            Found::Subjects(found) => {
                let answer = self.of_subjects(found);
                Box::new(found.shown().iter().map(move |it| write(&StandingAnswer::new(&answer, it))))
            }
            Found::Tasks(found) => {
                let answer = self.of_tasks(found);
                Box::new(found.0.tasks.iter().map(move |it| write(&Task::new(&answer, it))))
            }
        }
    }

    /// Returns the standings of subjects, those that are shown, and whether one was named; none for tasks.
    pub(crate) fn subjects(&self) -> Option<(Answer<'_>, &[SubjectStanding], bool)> {
        match &self.found {
            Found::Subjects(found) => Some((self.of_subjects(found), found.shown(), found.named.is_some())),
            Found::Tasks(_) => None,
        }
    }

    /// Returns the state of tasks, if that was asked for.
    pub(crate) fn tasks(&self) -> Option<(tasks::Answer<'_>, Vec<Task>)> {
        match &self.found {
            Found::Subjects(_) => None,
            Found::Tasks(found) => {
                let answer = self.of_tasks(found);
                let all = found.0.tasks.iter().map(|it| Task::new(&answer, it)).collect();
                Some((answer, all))
            }
        }
    }

    fn of_subjects<'s>(&'s self, found: &'s Subjects) -> Answer<'s> {
        Answer {
            card: &self.card,
            rows: self.rows,
            standings: &found.standings,
            as_of: self.as_of,
            level: self.level,
            events: self.events,
            look_alikes: &found.look_alikes,
        }
    }

    fn of_tasks<'s>(&'s self, (standings, rules): &'s (TaskStandings, Rules)) -> tasks::Answer<'s> {
        let &Self { ref card, rows, as_of, level, .. } = self;
        tasks::Answer { card, rules, rows, standings, as_of, level }
    }
}
