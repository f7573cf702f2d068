//! Code shared by the verbs over many items: loading them, the policy for outcomes, one line of JSON.

use std::borrow::Cow;
use std::io::Write as _;

use karat_core::number::{BILLION, Decimal};
use karat_core::scorecard::{Scale, Scorecard};
use karat_stats::StatisticsError;
use karat_stats::bootstrap::Plan;
use serde::Serialize;

use crate::args::Cli;
use crate::cards;
use crate::failure::Failure;
use crate::output::lines;
use karat::answers;
use karat::ask::{Confidence, Sure};
use karat::leaderboard::attempts::Pass;
use karat::leaderboard::{By, Settings};
use karat::rows::Rows;
use karat::rows::gaps::{all_or_nothing, gaps, undecayed};
use karat::text::{clean, short};

/// Returns the card whose section `[standing]` applies: that of the items, or the family of their challenges; none for items
/// of cards that are not related.
pub fn card_of<'r>(rows: &'r Rows, cli: &Cli) -> Result<Option<Cow<'r, Scorecard>>, Failure> {
    if let Some(card) = rows.only_card() {
        return Ok(Some(Cow::Borrowed(card)));
    }
    let mut bases = rows.scorers.iter().map(|scorer| scorer.card().base.as_deref());
    match bases.next().flatten() {
        Some(base) if bases.all(|other| other == Some(base)) => {
            Ok(Some(Cow::Owned(cards::load(base, cli.color)?)))
        }
        _ => Ok(None),
    }
}

/// Returns the settings that every answer has.
pub fn settings(sure: &Sure, by: By, rows: &Rows) -> Settings {
    let mut settings =
        Settings { by, level: sure.confidence.level, plan: plan(&sure.confidence), ..Settings::usual(rows) };
    sure.counts.iter().for_each(|&(outcome, treatment)| settings.treat(outcome, treatment));
    settings
}

/// Returns the plan of the resamples.
pub fn plan(asked: &Confidence) -> Plan {
    Plan { draws: asked.resamples, seed: asked.seed }
}

/// Returns the condition for a pass: at these points and above, or by the outcome.
pub fn pass(points: Option<Decimal>, scale: Scale) -> Result<Pass, Failure> {
    let Some(points) = points else { return Ok(Pass::Stated) };
    Ok(Pass::From(billionths_of_scale("--pass", points, scale)?))
}

/// Returns points on the scale of a card, given with `flag`, as a share.
pub fn share_of_scale(flag: &str, points: Decimal, scale: Scale) -> Result<f64, Failure> {
    Ok(billionths_of_scale(flag, points, scale)? as f64 / BILLION as f64)
}

/// Does the same in billionths.
pub fn billionths_of_scale(flag: &str, points: Decimal, scale: Scale) -> Result<i64, Failure> {
    let share = i128::from(points.millionths()) * 1000 / i128::from(scale.max);
    match i64::try_from(share) {
        Ok(share @ 0..=BILLION) => Ok(share),
        _ => Err(Failure::new(format!("{flag}: the scale of the scorecard ends at {}", scale.max))
            .help("give a score on that scale")),
    }
}

/// Most subjects that are named when one is not found.
const NAMED: usize = 8;

/// Returns the index of a subject, or the names that there are.
pub fn subject(rows: &Rows, name: &str) -> Result<usize, Failure> {
    if let Some(found) = rows.subject(name) {
        return Ok(found);
    }
    let known = || rows.subjects.iter().map(String::as_str);
    let failure = Failure::new(format!("there is no item of `{}`", clean(name)));
    let failure = match karat_core::diagnostic::nearest(name, known()) {
        Some(near) => failure.help(format!("did you mean `{}`?", clean(near))),
        None => failure,
    };
    let shown: Vec<String> = known().take(NAMED).map(|name| format!("`{}`", short(name))).collect();
    let more = if rows.subjects.len() > NAMED { ", ..." } else { "" };
    Err(failure.help(format!("there are: {}{more}", shown.join(", "))))
}

/// Returns the gaps of the items, and their effect on a ranking by `by`.
pub fn gaps_of(rows: &Rows, by: By) -> Vec<String> {
    let bare = all_or_nothing(rows).filter(|_| by == By::Score);
    gaps(rows).into_iter().chain(bare).chain(undecayed(rows.decay)).collect()
}

/// Writes an answer as one line of JSON.
pub fn print<T: Serialize>(answer: &T) -> Result<(), Failure> {
    let mut out = lines();
    writeln!(out, "{}", answers::write(answer))?;
    Ok(out.flush()?)
}

/// Returns the refusal of the statistics on `rows`, for a person.
pub fn refused(error: &StatisticsError, rows: &Rows) -> Failure {
    let failure = Failure::new(error.to_string());
    match error {
        &StatisticsError::UsableDraws { subject, found, made, needed } => {
            let name = rows.subjects.get(subject).map_or("", String::as_str);
            let more = u64::from(made).saturating_mul(needed.into()).div_ceil(found.max(1).into());
            Failure::new(format!(
                "of {made} resamples of tasks {found} have a task of `{}`, and {needed} must, as it has only some \
                 of the tasks",
                clean(name)
            ))
            .help(format!("give more with --resamples, about {more}, or a lower --level"))
        }
        StatisticsError::Draws { .. } => failure.help("give more with --resamples, or a lower --level"),
        StatisticsError::TooMany { .. } => {
            failure.help("give fewer with --resamples, or fewer items with --where")
        }
        StatisticsError::TooFew { .. } => gaps(rows)
            .into_iter()
            .fold(failure, Failure::help)
            .help("an item counts if it has a score, or an outcome that counts")
            .help("check --count and --where"),
        _ => failure,
    }
}
