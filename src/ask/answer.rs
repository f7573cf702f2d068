//! The parts that the answers to several questions share.

use std::borrow::Cow;

use karat_core::diagnostic::nearest;
use karat_core::number::{BILLION, Decimal};
use karat_core::scorecard::{Scale, Scorecard};
use karat_stats::StatisticsError;

use super::Sure;
use crate::cards::{CardText, check, released, unknown};
use crate::error::{Code, Error};
use crate::leaderboard::attempts::Pass;
use crate::leaderboard::evidence::Named;
use crate::leaderboard::{By, Settings};
use crate::renames::renamed;
use crate::rows::Rows;
use crate::rows::gaps::{all_or_nothing, gaps, undecayed};
use crate::text::{clean, short};

/// Returns the refusal of a question.
pub(crate) fn invalid(message: impl Into<String>) -> Error {
    Error::new(Code::InvalidOption, message)
}

/// Returns the card whose section `[standing]` applies: that of the items, or the family of their challenges; none for items
/// of cards that are not related.
pub fn card_of<'r>(rows: &'r Rows) -> Result<Option<Cow<'r, Scorecard>>, Error> {
    if let Some(card) = rows.only_card() {
        return Ok(Some(Cow::Borrowed(card)));
    }
    let mut bases = rows.scorers.iter().map(|scorer| scorer.card().base.as_deref());
    match bases.next().flatten() {
        Some(base) if bases.all(|other| other == Some(base)) => {
            let text = released(base)
                .map(|card| CardText { name: card.name.to_owned(), text: card.text.to_owned() });
            let card = text.and_then(|text| check(&text).card).ok_or_else(|| unknown(base))?;
            Ok(Some(Cow::Owned(card)))
        }
        _ => Ok(None),
    }
}

/// Returns the settings that every answer has.
pub fn settings(sure: &Sure, by: By, rows: &Rows) -> Settings {
    asked(sure, by, Settings::usual(rows))
}

/// Returns usual settings with what is asked for.
pub(crate) fn asked(sure: &Sure, by: By, usual: Settings) -> Settings {
    let mut settings = Settings { by, level: sure.confidence.level, ..usual };
    sure.counts.iter().for_each(|&(outcome, treatment)| settings.treat(outcome, treatment));
    settings
}

/// Returns the condition for a pass: at these points and above, or by the outcome.
pub fn pass(points: Option<Decimal>, scale: Scale) -> Result<Pass, Error> {
    let Some(points) = points else { return Ok(Pass::Stated) };
    let max = i64::from(scale.max);
    if max > 1 && (1..Decimal::ONE.millionths() * max / 100).contains(&points.millionths()) {
        let meant = Decimal::from_millionths(points.millionths() * max);
        let message = format!("a pass from {points} points on is almost nothing on a scale from 0 to {max}");
        return Err(invalid(message).hint(format!("for that share of the scale give {meant}")));
    }
    Ok(Pass::From(billionths_of_scale("--pass", points, scale)?))
}

/// Returns points on the scale of a card, given with `flag`, as a share.
pub(crate) fn share_of_scale(flag: &str, points: Decimal, scale: Scale) -> Result<f64, Error> {
    Ok(billionths_of_scale(flag, points, scale)? as f64 / BILLION as f64)
}

/// Does the same in billionths.
pub(crate) fn billionths_of_scale(flag: &str, points: Decimal, scale: Scale) -> Result<i64, Error> {
    let share = i128::from(points.millionths()) * 1000 / i128::from(scale.max);
    match i64::try_from(share) {
        Ok(share @ 0..=BILLION) => Ok(share),
        _ => Err(invalid(format!("{flag}: the scale of the scorecard ends at {}", scale.max))
            .hint("give a score on that scale")),
    }
}

/// Most subjects that are named when one is not found.
const NAMED: usize = 8;

/// Returns the index of a subject, or the names that there are.
pub fn subject(rows: &impl Named, name: &str) -> Result<usize, Error> {
    let subjects = rows.subjects();
    if let Ok(found) = subjects.binary_search_by(|known| known.as_str().cmp(name)) {
        return Ok(found);
    }
    let known = || subjects.iter().map(String::as_str);
    let error = invalid(format!("there is no item of `{}`", clean(name)));
    let error = match nearest(name, known()) {
        Some(near) => error.hint(format!("did you mean `{}`?", clean(near))),
        None => error,
    };
    let shown: Vec<String> = known().take(NAMED).map(|name| format!("`{}`", short(name))).collect();
    let more = if subjects.len() > NAMED { ", ..." } else { "" };
    Err(error.hint(format!("there are: {}{more}", shown.join(", "))))
}

/// Returns the gaps of the items, and their effect on a ranking by `by`.
pub fn gaps_of(rows: &Rows, by: By) -> Vec<String> {
    let bare = all_or_nothing(rows).filter(|_| by == By::Score);
    gaps(rows).into_iter().chain(bare).chain(undecayed(rows.decay)).collect()
}

/// Returns the refusal of the statistics on `rows`, for a person.
pub fn refused(error: &StatisticsError, rows: &impl Named) -> Error {
    let code = match error {
        StatisticsError::TooFew { .. } => Code::NothingCounts,
        _ => Code::InvalidOption,
    };
    let refusal = Error::new(code, error.to_string());
    match error {
        StatisticsError::TooMany { .. } => {
            refusal.hint("give fewer with --draws, or fewer items with --where")
        }
        StatisticsError::TooFew { .. } => rows
            .gaps()
            .into_iter()
            .fold(refusal, Error::hint)
            .hint("an item counts if it has a score, or an outcome that counts")
            .hint("check --count and --where"),
        _ => refusal,
    }
}

/// Returns the refusal of a key of dimensions, with those that there are.
pub(crate) fn unknown_key(flag: &str, key: &str, words: &[&str], rows: &impl Named) -> Error {
    let known = || words.iter().copied().chain(rows.dimensions().iter().map(|(key, _)| key.as_str()));
    let error = invalid(format!("{flag}: there is no `{}`", clean(key)));
    let near = || nearest(key, known()).map(|near| format!("did you mean `{near}`?"));
    error
        .hints_from(renamed(key, known()).or_else(near))
        .hint(format!("there are: {}", known().collect::<Vec<_>>().join(", ")))
}
