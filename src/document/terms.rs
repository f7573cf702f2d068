//! Terms of columns, explained for readers who meet them for the first time, in the words of the glossary.

use super::Column;

/// The terms by the key of a column, in a sentence or two.
const TERMS: [(&str, &str); 20] = [
    ("bounds", "The lowest and the highest score that missing facts still allow. Nothing is estimated."),
    (
        "chance_of_rank_1",
        "The share of random weights near those of the scorecard under which no subject is ahead of it.",
    ),
    (
        "chance_of_same_rank",
        "The share of random weights near those of the scorecard under which it keeps its rank.",
    ),
    (
        "composite",
        "The weighted mean of its mean values by dimension, before rules and gates. Where items lack values, it is not the mean of their scores.",
    ),
    ("coverage", "The weight of the dimensions that were measured, divided by the weight of all that apply."),
    ("decides_nothing", "Every subject ends at it alike, so without it no rank changes."),
    ("discrimination", "How far those who are good at the other tasks are better at this one, from -1 to 1."),
    ("expected", "The chance of winning by the ratings before the match; a draw counts half."),
    ("importance", "How much of the spread of scores a dimension explains, whatever its weight."),
    ("letters", "Two that share a letter are tied: a comparison does not separate them."),
    ("mean", "The mean over tasks of all items that count, before window, decay and reviews."),
    ("median", "Half of the subjects have more, half have less."),
    (
        "official",
        "The score by all rules of the scorecard: window, decay, rounding and reviews. Tiers rest on it.",
    ),
    ("on_front", "No other subject is both better and cheaper."),
    ("rank_correlation", "How far a dimension ranks subjects as the score does, from -1 to 1."),
    ("rating", "Points that a win raises and a loss lowers, the more the less it was expected."),
    ("skill", "Strength by Glicko-2, with two standard deviations to each side."),
    (
        "tasks",
        "Different tasks with an item that counts. Intervals are over tasks, as runs of one task are alike.",
    ),
    ("tied", "A comparison of their runs, task by task, does not separate them. They need not be equal."),
    ("window", "What changes because the official score counts the newest items alone."),
];

impl Column {
    /// Returns the column with the meaning of its key, if that is a term. A document asks for it: another may use the word otherwise.
    #[must_use]
    pub fn explained(self) -> Self {
        let at = TERMS.binary_search_by_key(&self.key.as_str(), |(known, _)| known);
        Self { term: at.ok().and_then(|at| TERMS.get(at)).map(|(_, meaning)| *meaning), ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_term_is_found_and_explained_in_whole_sentences() {
        assert!(TERMS.is_sorted_by_key(|(key, _)| *key));
        for (key, meaning) in TERMS {
            assert_eq!(Column::text(key).explained().term, Some(meaning));
            assert!(meaning.ends_with('.') && meaning.starts_with(char::is_uppercase), "{key}");
        }
        assert_eq!(Column::text("subject").explained().term, None);
    }
}
