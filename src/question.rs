//! A question that every door asks in one way: the command line, JSON for packages in other languages, HTTP and its pages.
//!
//! A new question is a struct in [`crate::ask`], an answer and a document, and an entry here; each door has one function for all of
//! them.

use serde::de::DeserializeOwned;

use crate::answers::{self, Answer};
use crate::ask::{About, Duel, Grid, Judges, Stress, Tasks, Trend};
use crate::document::{self, Document};
use crate::error::Error;
use crate::rows::Rows;

/// A question about scored items with one answer and one document.
pub trait Question: DeserializeOwned + Default {
    /// The answer.
    type Answer: Answer;

    /// The name: that of the command, of the question in JSON and of the path.
    const NAME: &'static str;
    /// The settings beside those of [`About`].
    const SETTINGS: &'static [&'static str];

    /// Returns what it is about.
    fn about(&self) -> &About;

    /// Returns the same, to be filled in.
    fn about_mut(&mut self) -> &mut About;

    /// Returns the fields whose values the items must keep.
    fn kept(&self) -> Vec<String>;

    /// Returns whether each of the files that items are of is a run.
    fn is_by_file(&self, _files: usize) -> bool {
        false
    }

    /// Returns how often it ranks all subjects, by which a door can bound its work.
    fn rankings(&self) -> u64 {
        1
    }

    /// Refuses settings that contradict each other.
    ///
    /// # Errors
    /// If some do.
    fn check(&self) -> Result<(), Error>;

    /// Computes the answer.
    ///
    /// # Errors
    /// If the items are too few, or do not say what the question needs.
    fn answer(&self, rows: &Rows) -> Result<Self::Answer, Error>;

    /// Returns the document of an answer, with what is to be known of the items.
    fn document(answer: &Self::Answer, gaps: &[String]) -> Document;

    /// Returns whether the answer is an alarm, for which a command ends with the status of a regression.
    fn is_alarm(&self, _answer: &Self::Answer) -> bool {
        false
    }
}

/// Makes a struct of [`crate::ask`] with the field `about` a question.
macro_rules! question {
    ($question:ident -> $answer:ty, $name:literal, $settings:expr, $document:path $(, runs $by_file:path)? $(, rankings $rankings:expr)? $(, alarm $alarm:expr)?) => {
        impl Question for $question {
            type Answer = $answer;

            const NAME: &'static str = $name;
            const SETTINGS: &'static [&'static str] = $settings;

            fn about(&self) -> &About {
                &self.about
            }

            fn about_mut(&mut self) -> &mut About {
                &mut self.about
            }

            fn kept(&self) -> Vec<String> {
                self.kept()
            }

            $(fn is_by_file(&self, files: usize) -> bool {
                $by_file(self, files)
            })?

            $(fn rankings(&self) -> u64 {
                let rankings: fn(&Self) -> u64 = $rankings;
                rankings(self)
            })?

            fn check(&self) -> Result<(), Error> {
                self.check()
            }

            fn answer(&self, rows: &Rows) -> Result<$answer, Error> {
                self.answer(rows)
            }

            fn document(answer: &$answer, gaps: &[String]) -> Document {
                $document(answer, gaps)
            }

            $(fn is_alarm(&self, answer: &$answer) -> bool {
                let is_alarm: fn(&Self, &$answer) -> bool = $alarm;
                is_alarm(self, answer)
            })?
        }
    };
}

question!(Duel -> answers::comparison::Comparison, "compare", &["first", "second", "pass"], document::duel);
question!(
    Grid -> answers::grid::Grid, "grid", &["subject", "run"], document::grid,
    runs Grid::is_by_file
);
question!(Judges -> answers::judges::Judges, "judges", &["label", "verdict", "family", "bias_by", "pass"], document::judges);
question!(
    Stress -> answers::stress::Stress, "stress", &["concentration", "draws", "seed"], document::stress,
    rankings |ask| ask.weights.draws.into()
);
question!(Tasks -> answers::tasks::Tasks, "tasks", &["rate", "pass", "version"], document::of_tasks);
question!(
    Trend -> answers::trend::Trend, "trend", &["run", "subject", "baseline", "direction"], document::trend,
    runs Trend::is_by_file, alarm |ask, answer| ask.fail_on_alarm && answer.subjects.iter().any(|it| it.alarm.is_some())
);
