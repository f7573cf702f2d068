//! The gate on each subject: the least official score.

use karat_core::number::Decimal;
use karat_standing::stand::SubjectStanding;

use super::{Status, Verdict, outside, slight};
use crate::answers::standing::Standing;
use crate::ask::standing::Stood;
use crate::document::{self, Document};
use crate::standing::Answer;
use crate::text::short;

impl Stood<'_> {
    /// Judges the subjects that are shown by a floor.
    pub fn verdict(&self, floor: Decimal) -> Verdict {
        self.subjects().map_or_else(Verdict::default, |(answer, shown, _)| judge(floor, &answer, shown))
    }

    /// Returns the document of the answer.
    pub fn document(&self) -> Document {
        match (self.subjects(), self.tasks()) {
            (Some((answer, shown, is_named)), _) => document::standing(&answer, shown, is_named),
            (None, Some((answer, all))) => document::tasks(&answer, &all),
            (None, None) => Document::default(),
        }
    }
}

/// Returns whose official score is below the floor.
pub fn judge(floor: Decimal, answer: &Answer<'_>, shown: &[SubjectStanding]) -> Verdict {
    let mut verdict = Verdict::default();
    let (mut below, mut unknown) = (Vec::new(), Vec::new());
    for subject in shown {
        let standing = Standing::new(answer, subject);
        let line = || below_official(&standing.subject, standing.points, floor.millionths() as f64 / 1e6);
        match standing.points {
            // Official scores have at most six decimals.
            Some(points) if (points * 1e6).round() as i64 >= floor.millionths() => {}
            Some(_) => below.push(line()),
            None => unknown.push(line()),
        }
    }
    verdict.add(Status::Below, below);
    verdict.add(Status::Inconclusive, unknown);
    outside(answer.rows, answer.as_of).into_iter().for_each(|line| verdict.warn(line));
    slight("a floor", floor, answer.card.scale.max, 1).into_iter().for_each(|line| verdict.warn(line));
    verdict
}

/// Returns why an official score is below a floor, or has nothing to compare.
fn below_official(subject: &str, points: Option<f64>, least: f64) -> String {
    let who = format!("`{}`", short(subject));
    match points {
        Some(points) => format!("{who} has the official score {points}, below {least}"),
        None => format!("{who} has no official score to compare with {least}"),
    }
}
