//! Outcomes from the texts of results.

use karat_stats::rating::Outcome;

/// Texts for outcomes, in small letters.
const WORDS: [(&str, Outcome); 30] = [
    ("first", Outcome::Win),
    ("win", Outcome::Win),
    ("won", Outcome::Win),
    ("w", Outcome::Win),
    ("1-0", Outcome::Win),
    ("1", Outcome::Win),
    ("1.0", Outcome::Win),
    ("second", Outcome::Loss),
    ("loss", Outcome::Loss),
    ("lost", Outcome::Loss),
    ("l", Outcome::Loss),
    ("0-1", Outcome::Loss),
    ("0", Outcome::Loss),
    ("0.0", Outcome::Loss),
    ("draw", Outcome::Draw),
    ("drawn", Outcome::Draw),
    ("d", Outcome::Draw),
    ("tie", Outcome::Draw),
    ("tied", Outcome::Draw),
    ("1/2-1/2", Outcome::Draw),
    ("0.5-0.5", Outcome::Draw),
    ("½-½", Outcome::Draw),
    ("1/2", Outcome::Draw),
    ("0.5", Outcome::Draw),
    ("½", Outcome::Draw),
    // Votes on pairs of answers have these if neither answer is good.
    ("bothbad", Outcome::Draw),
    ("both_bad", Outcome::Draw),
    ("both bad", Outcome::Draw),
    ("tie (bothbad)", Outcome::Draw),
    ("tie (both bad)", Outcome::Draw),
];

/// The two sides of a match, as a result may name them.
pub struct Sides<'a> {
    /// The columns of the competitors.
    pub columns: [&'a str; 2],
    /// The competitors.
    pub names: [&'a str; 2],
}

/// Returns the outcome of a match from a word, from the column of the winner, or from the winner's name.
///
/// # Errors
/// If `text` is not one of the three, or two of them disagree; the error says what was expected.
pub fn outcome(text: &str, sides: &Sides<'_>) -> Result<Outcome, String> {
    let text = text.trim();
    let word = WORDS.iter().find(|(word, _)| word.eq_ignore_ascii_case(text)).map(|&(_, outcome)| outcome);
    let side = |[first, second]: [&str; 2]| match (first == text, second == text) {
        (true, false) => Some(Outcome::Win),
        (false, true) => Some(Outcome::Loss),
        _ => None,
    };
    let mut found = [word, side(sides.columns), side(sides.names)].into_iter().flatten();
    match found.next() {
        Some(outcome) if found.all(|other| other == outcome) => Ok(outcome),
        Some(_) => Err(format!(
            "`{text}` says one thing as a word or a column and another as the name of a competitor, expected `first`, \
             `second` or `draw`"
        )),
        None => Err(format!(
            "`{text}` is not a result, expected `first`, `second` or `draw`, `1-0`, `0-1` or `1/2-1/2`, `win`, `draw` or \
             `loss`, `{}` or `{}`; where it means that there was no match, --skip {text}",
            sides.columns[0], sides.columns[1]
        )),
    }
}

/// Returns the outcome of a match from both scores; more is better.
///
/// # Errors
/// If one of the two is not a number.
pub fn by_scores(first: &str, second: &str) -> Result<Outcome, String> {
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

    const SIDES: Sides<'_> = Sides { columns: ["left", "right"], names: ["ann", "Win"] };

    #[test]
    fn words_columns_and_names_say_who_won() {
        for (text, expected) in [
            ("1-0", Outcome::Win),
            ("LEFT", Outcome::Draw),
            ("left", Outcome::Win),
            ("right", Outcome::Loss),
            ("ann", Outcome::Win),
            ("Tie (bothbad)", Outcome::Draw),
            (" loss ", Outcome::Loss),
            ("½-½", Outcome::Draw),
        ] {
            match outcome(text, &SIDES) {
                Ok(found) => assert_eq!(found, expected, "{text}"),
                // Columns are compared letter by letter.
                Err(error) => assert!(text == "LEFT" && error.contains("is not a result"), "{error}"),
            }
        }
    }

    #[test]
    fn what_means_two_things_is_refused() {
        let error = outcome("Win", &SIDES).unwrap_err();
        assert!(error.contains("as the name of a competitor"), "{error}");
        assert_eq!(outcome("win", &SIDES), Ok(Outcome::Win));
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
