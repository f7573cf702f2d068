//! Matches of an agent at a challenge of the arena: difficulty, trust, attempt.

use std::borrow::Cow;

use karat_stats::rating::Outcome;
use karat_stats::rating::arena::Arena;
use serde::Serialize;

use super::cells::Cells;
use super::columns::Field;
use super::outcome::Ending;
use crate::answers::Voucher;

/// The highest score of a match.
const SCORE_MAX: f64 = 1000.0;
/// The result and the state of a match whose time limit passed.
pub(crate) const EXPIRED: &str = "expired";

/// The rest of such a match: all but agent, challenge and outcome. Written as JSON it is part of the digest of the matches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Solo {
    /// The difficulty, if it is stated.
    pub(crate) difficulty: Option<String>,
    /// The difficulty that matches showed.
    pub(crate) calibrated_difficulty: Option<String>,
    /// The category, if it is stated.
    pub(crate) category: Option<String>,
    /// True with a valid trajectory.
    pub(crate) verified: bool,
    /// True if the agent played without its memory; where a server checked the match, if a harness signed that.
    pub(crate) memoryless: bool,
    /// The voucher of the trajectory, if the row names one.
    #[serde(skip)]
    pub(crate) verified_by: Option<Voucher>,
    /// The number of the agent's attempt, from 1, if it is stated.
    pub(crate) attempt_number: Option<u64>,
    /// True if the time limit passed before an answer came.
    pub(crate) expired: bool,
}

/// A row of such a match: agent and challenge, the outcome, the rest.
type SoloRow<'c> = ([Cow<'c, str>; 2], Outcome, Solo);

/// Returns true if a text is the name of a difficulty.
pub(crate) fn is_difficulty(text: &str) -> bool {
    Arena::default().difficulties.iter().any(|(name, _)| name == text)
}

/// Reads a row; none for a match that is not over, or whose result means no match.
///
/// # Errors
/// If a cell cannot be read, or two of them disagree.
pub(crate) fn read<'c>(cells: &'c Cells<'_>, ending: &Ending<'_>) -> Result<Option<SoloRow<'c>>, String> {
    let calibrated_difficulty = difficulty(cells, Field::CalibratedDifficulty)?;
    let stated = difficulty(cells, Field::Difficulty)?;
    let agent = cells.get(Field::First).ok_or("who played is missing, expected `first` or `agent`")?;
    let challenge = cells.get(Field::Second);
    let of_name = || challenge.as_deref().filter(|name| is_difficulty(name)).map(str::to_owned);
    let difficulty = stated.or_else(of_name);
    let challenge =
        challenge.or_else(|| difficulty.clone().or_else(|| calibrated_difficulty.clone()).map(Cow::Owned));
    let challenge = challenge.ok_or("which challenge it was is missing, expected `second` or `challenge`")?;
    let verified = flag(cells, Field::Verified)?;
    let verified_by = cells.get(Field::VerifiedBy).map(|text| voucher(&text)).transpose()?;
    // A server counts what the agent says of its memory for nothing.
    let (claimed, signed) = (flag(cells, Field::Memoryless)?, flag(cells, Field::HarnessMemoryless)?);
    let memoryless = match verified_by {
        Some(Voucher::Checked | Voucher::Harness) => signed,
        Some(Voucher::Claimed) | None => claimed,
    };
    if verified_by.is_some() && !verified {
        return Err(String::from("`verified_by` names someone, where `verified` is not `true`"));
    }
    let attempt_number = cells.get(Field::AttemptNumber).map(|text| attempt(&text)).transpose()?;
    let outcome = match state(cells, ending)? {
        State::Open => return Ok(None),
        State::Expired => None,
        State::Over => match over(cells, ending, [&agent, &challenge])? {
            None => return Ok(None),
            found => found,
        },
    };
    let category = cells.get(Field::Category).map(Cow::into_owned);
    let expired = outcome.is_none();
    let solo = Solo {
        difficulty,
        calibrated_difficulty,
        category,
        verified,
        memoryless,
        verified_by,
        attempt_number,
        expired,
    };
    // An expired match counts as a draw.
    Ok(Some(([agent, challenge], outcome.unwrap_or(Outcome::Draw), solo)))
}

fn difficulty(cells: &Cells<'_>, field: Field) -> Result<Option<String>, String> {
    let Some(found) = cells.get(field).map(Cow::into_owned) else { return Ok(None) };
    if is_difficulty(&found) {
        return Ok(Some(found));
    }
    let rules = Arena::default();
    let names: Vec<String> = rules.difficulties.iter().map(|(name, _)| format!("`{name}`")).collect();
    Err(format!("`{found}` is not a difficulty, expected {}", names.join(", ")))
}

fn flag(cells: &Cells<'_>, field: Field) -> Result<bool, String> {
    let Some(text) = cells.get(field) else { return Ok(false) };
    match text.trim().to_ascii_lowercase().as_str() {
        "true" | "yes" | "1" => Ok(true),
        "false" | "no" | "0" => Ok(false),
        _ => Err(format!("`{}` is `{}`, expected `true` or `false`", field.name(), text.trim())),
    }
}

fn voucher(text: &str) -> Result<Voucher, String> {
    let expected = "expected `claimed`, `checked` or `harness`";
    Voucher::from_name(text.trim()).ok_or_else(|| format!("`verified_by` is `{text}`, {expected}"))
}

fn attempt(text: &str) -> Result<u64, String> {
    let number = text.trim().parse::<u64>().ok().filter(|number| *number > 0);
    number.ok_or_else(|| format!("`attempt_number` is `{text}`, expected a whole number from 1"))
}

enum State {
    Open,
    Expired,
    Over,
}

fn state(cells: &Cells<'_>, ending: &Ending<'_>) -> Result<State, String> {
    let result = cells.get(Field::Result).filter(|result| !ending.is_skipped(result));
    let by_result = result.as_deref().is_some_and(|text| text.trim().eq_ignore_ascii_case(EXPIRED));
    match cells.get(Field::State).as_deref().map(|state| state.trim().to_ascii_lowercase()).as_deref() {
        Some(EXPIRED) => match (by_result, &result, cells.get(Field::Score)) {
            // The deployed arena writes an expired match as a draw.
            (false, Some(result), _) if !result.trim().eq_ignore_ascii_case("draw") => {
                Err(format!("an expired match has the result `{result}`, expected none"))
            }
            (_, _, Some(score)) => Err(format!("an expired match has the score `{score}`, expected none")),
            _ => Ok(State::Expired),
        },
        Some("scored" | "completed") if by_result => {
            Err(String::from("the result is `expired`, where the state says that the match was completed"))
        }
        None | Some("scored" | "completed") => Ok(if by_result { State::Expired } else { State::Over }),
        Some("entered" | "submitted" | "void" | "pending" | "active") => Ok(State::Open),
        Some(other) => Err(format!(
            "the state is `{other}`, expected `entered`, `submitted`, `scored`, `expired` or `void`, or `pending`, `active` or \
             `completed`"
        )),
    }
}

/// Returns the outcome of a match that was played to its end; none if its result means no match.
fn over(cells: &Cells<'_>, ending: &Ending<'_>, names: [&str; 2]) -> Result<Option<Outcome>, String> {
    let score = |text: Cow<'_, str>| match text.trim().parse::<f64>() {
        Ok(score) if (0.0..=SCORE_MAX).contains(&score) => Ok(Arena::default().outcome(score)),
        _ => Err(format!("`score` is `{text}`, expected a number from 0 to {SCORE_MAX}")),
    };
    let by_score = cells.get(Field::Score).map(score).transpose()?;
    let by_result = match cells.get(Field::Result) {
        Some(result) => match ending.outcome(&result, names)? {
            None => return Ok(None),
            found => found,
        },
        None if ending.is_skipped("") => return Ok(None),
        None => None,
    };
    match (by_result, by_score) {
        (Some(result), Some(score)) if result != score => {
            let (result, score) = (result.name(), score.name());
            Err(format!("the result is `{result}`, where the score makes it `{score}`: correct one of them"))
        }
        (None, None) => Err(String::from("how it ended is missing, expected `result` or `score`")),
        (result, score) => Ok(result.or(score)),
    }
}
