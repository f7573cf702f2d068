//! The competitors and the outcome of a match, from the cells of a row.

use std::borrow::Cow;

use karat_stats::rating::Outcome;

use super::cells::Cells;
use super::columns::{Columns, Field};

/// Texts for outcomes, in small letters. Votes on pairs of answers have the last of the draws if neither answer is good.
const WORDS: [(Outcome, &[&str]); 3] = [
    (Outcome::Win, &["first", "win", "won", "w", "1-0", "1", "1.0"]),
    (Outcome::Loss, &["second", "loss", "lost", "l", "0-1", "0", "0.0"]),
    (
        Outcome::Draw,
        &[
            "draw", "drawn", "d", "tie", "tied", "1/2-1/2", "0.5-0.5", "½-½", "1/2", "0.5", "½", "bothbad",
            "both_bad", "both bad", "tie (bothbad)", "tie (both bad)",
        ],
    ),
];

/// The contents of a row.
pub(crate) enum Ended<'c> {
    /// The two competitors, and the outcome.
    Match([Cow<'c, str>; 2], Outcome),
    /// A result that means no match.
    NoMatch,
    /// A row without competitors.
    Nobody,
}

/// The reading of rows.
pub(crate) struct Ending<'a> {
    /// The columns of the two competitors.
    sides: [String; 2],
    /// Results that mean that there was no match.
    skip: &'a [String],
}

impl<'a> Ending<'a> {
    /// Returns the reading of rows with these columns.
    pub(crate) fn new(columns: &Columns, skip: &'a [String]) -> Self {
        Self { sides: [Field::First, Field::Second].map(|field| columns.column(field)), skip }
    }

    /// Reads a row.
    ///
    /// # Errors
    /// If its result cannot be read.
    pub(crate) fn of<'c>(&self, cells: &'c Cells<'_>) -> Result<Ended<'c>, String> {
        let [first, second, result, winner, loser] =
            [Field::First, Field::Second, Field::Result, Field::Winner, Field::Loser]
                .map(|field| cells.get(field));
        let (names, outcome) = match (first, second, winner, loser) {
            // With two competitors, the winner is a result under another name.
            (Some(first), Some(second), winner, _) => {
                let Some(outcome) = self.between(cells, [&first, &second], result.or(winner))? else {
                    return Ok(Ended::NoMatch);
                };
                ([first, second], outcome)
            }
            (None, None, Some(winner), Some(loser)) => {
                let outcome = match result {
                    Some(result) if self.is_skipped(&result) => return Ok(Ended::NoMatch),
                    Some(result) => outcome(&result, ["winner", "loser"], [&winner, &loser])?,
                    None => Outcome::Win,
                };
                if outcome == Outcome::Loss {
                    return Err("the loser won, expected `win` or `draw` as the result".into());
                }
                ([winner, loser], outcome)
            }
            _ => return Ok(Ended::Nobody),
        };
        Ok(Ended::Match(names, outcome))
    }

    /// Returns the outcome of a match of two competitors with a result, or with two scores; `None` for no match.
    fn between(
        &self,
        cells: &Cells<'_>,
        names: [&str; 2],
        result: Option<Cow<'_, str>>,
    ) -> Result<Option<Outcome>, String> {
        if let Some(result) = result {
            return self.outcome(&result, names);
        }
        let scores = [Field::FirstScore, Field::SecondScore].map(|field| cells.get(field));
        if scores.iter().any(|score| self.is_skipped(score.as_deref().unwrap_or(""))) {
            return Ok(None);
        }
        match scores {
            [Some(one), Some(other)] => by_scores(&one, &other).map(Some),
            _ => Err(String::from(
                "how it ended is missing, expected `result`, or `first_score` and `second_score`; where there was no \
                 match, --skip ''",
            )),
        }
    }

    /// Returns the outcome that a result says; `None` if it means that there was no match.
    pub(crate) fn outcome(&self, result: &str, names: [&str; 2]) -> Result<Option<Outcome>, String> {
        if self.is_skipped(result) {
            return Ok(None);
        }
        outcome(result, [&self.sides[0], &self.sides[1]], names).map(Some)
    }

    /// Returns true if a result means that there was no match.
    pub(crate) fn is_skipped(&self, text: &str) -> bool {
        self.skip.iter().any(|skip| skip.trim() == text.trim())
    }
}

/// Returns the outcome of a match from a word, from the column of the winner, or from the winner's name.
fn outcome(text: &str, columns: [&str; 2], names: [&str; 2]) -> Result<Outcome, String> {
    let text = text.trim();
    let is_word = |words: &[&str]| words.iter().any(|word| word.eq_ignore_ascii_case(text));
    let word = WORDS.iter().find(|(_, words)| is_word(words)).map(|&(outcome, _)| outcome);
    let side = |sides: [&str; 2]| match sides.map(|side| side.trim() == text) {
        [true, false] => Some(Outcome::Win),
        [false, true] => Some(Outcome::Loss),
        _ => None,
    };
    let mut found = [word, side(columns), side(names)].into_iter().flatten();
    match found.next() {
        Some(outcome) if found.all(|other| other == outcome) => Ok(outcome),
        Some(_) => Err(format!(
            "`{text}` says one thing as a word or a column and another as the name of a competitor, expected `first`, \
             `second` or `draw`"
        )),
        None => Err(format!(
            "`{text}` is not a result, expected `first`, `second` or `draw`, `1-0`, `0-1` or `1/2-1/2`, `win`, `draw` or \
             `loss`, `{}` or `{}`; where it means that there was no match, --skip {text}",
            columns[0], columns[1]
        )),
    }
}

/// Returns the outcome of a match from both scores; more is better.
fn by_scores(first: &str, second: &str) -> Result<Outcome, String> {
    let number = |text: &str| match text.trim().parse::<f64>() {
        Ok(number) if number.is_finite() => Ok(number),
        _ => Err(format!(
            "`{text}` is not a score, expected a number; where there was no match, --skip {text}"
        )),
    };
    let (first, second) = (number(first)?, number(second)?);
    Ok(if first > second {
        Outcome::Win
    } else if first < second {
        Outcome::Loss
    } else {
        Outcome::Draw
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Result<Outcome, String> {
        outcome(text, ["left", "right"], ["ann", "Win"])
    }

    #[test]
    fn words_columns_and_names_say_who_won() {
        for (text, expected) in [
            ("1-0", Outcome::Win),
            ("left", Outcome::Win),
            ("right", Outcome::Loss),
            ("ann", Outcome::Win),
            ("Tie (bothbad)", Outcome::Draw),
            (" loss ", Outcome::Loss),
            ("½-½", Outcome::Draw),
        ] {
            assert_eq!(found(text), Ok(expected), "{text}");
        }
        // Columns are compared letter by letter.
        assert!(found("LEFT").unwrap_err().contains("is not a result"));
    }

    #[test]
    fn what_means_two_things_is_refused() {
        let error = found("Win").unwrap_err();
        assert!(error.contains("as the name of a competitor"), "{error}");
        assert_eq!(found("win"), Ok(Outcome::Win));
    }

    #[test]
    fn scores_are_compared_as_numbers() {
        assert_eq!(by_scores("10", "9"), Ok(Outcome::Win));
        assert_eq!(by_scores("0.50", ".5"), Ok(Outcome::Draw));
        assert_eq!(by_scores("-1", "0"), Ok(Outcome::Loss));
        for wrong in ["NA", "NaN", "inf", ""] {
            assert!(by_scores(wrong, "1").unwrap_err().contains("is not a score"));
        }
    }
}
