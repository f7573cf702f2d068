//! Similarity of two texts.

use std::borrow::Cow;

use rapidfuzz::distance::levenshtein;

use super::{Grade, Seen};
use crate::arena::text;
use karat_evidence::json::problem::Problems;

/// Most pairs of code units that [`fuzzy_string`] compares: those of two texts of 50,000, the longest that a step of a
/// trajectory may hold.
pub const CELLS_MAX: usize = 50_000 * 50_000;

/// Options of [`fuzzy_string`]. The default is the plain form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FuzzyString {
    /// Tells `A` from `a`.
    pub case_sensitive: bool,
    /// Takes the white space at both ends away, and makes one space of every other stretch of it.
    pub normalize_white_space: bool,
}

/// Returns 1 minus the edit distance (Levenshtein) as a share of the longer text, both counted in UTF-16 code units of
/// the texts in lower case. Two empty texts are alike.
///
/// The distance is exact. It is counted bit-parallel (Hyyrö 2003) after what both texts begin and end with is left out.
///
/// # Errors
///
/// If the lengths of the texts, without what they begin and end with alike, have a product above [`CELLS_MAX`], and the texts
/// are not so alike that the edits by the longer length have one below: no caller should wait for the comparison of two
/// texts of ten million characters.
pub fn fuzzy_string(submitted: &str, expected: &str, options: FuzzyString) -> Result<Grade, Problems> {
    fuzzy_string_within(submitted, expected, options, CELLS_MAX)
}

/// Does the same within another limit than [`CELLS_MAX`].
pub(crate) fn fuzzy_string_within(
    submitted: &str,
    expected: &str,
    options: FuzzyString,
    cells_max: usize,
) -> Result<Grade, Problems> {
    let [a, b] = [submitted, expected].map(|text| units(text, options));
    let length = a.len().max(b.len());
    let same_start = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
    let [rest_a, rest_b] = [&a, &b].map(|text| text.get(same_start..).unwrap_or_default());
    let same_end = rest_a.iter().rev().zip(rest_b.iter().rev()).take_while(|(a, b)| a == b).count();
    let [rest_a, rest_b] = [rest_a, rest_b].map(|rest| rest.get(..rest.len() - same_end).unwrap_or_default());
    let longest = rest_a.len().max(rest_b.len()).max(1);
    let is_short = longest.saturating_mul(rest_a.len().min(rest_b.len())) <= cells_max;
    let most = if is_short { longest } else { cells_max / longest };
    let within = levenshtein::Args::default().score_cutoff(most);
    let edits = levenshtein::distance_with_args(rest_a.iter().copied(), rest_b.iter().copied(), &within);
    let edits = edits.ok_or_else(|| {
        let found = format!("texts that differ over {} and {} UTF-16 code units", rest_a.len(), rest_b.len());
        let expected = format!("lengths whose product is at most {cells_max}, or at most {most} edits");
        Problems::one("$", found, &expected, "compare shorter texts, or use another primitive")
    })?;
    let value = if length == 0 { 1.0 } else { 1.0 - edits as f64 / length as f64 };
    Ok(Grade { value, seen: Seen::Edits { edits, length } })
}

fn units(text: &str, options: FuzzyString) -> Vec<u16> {
    let mut text = Cow::Borrowed(text);
    if options.normalize_white_space {
        let words = text.split(text::is_white_space).filter(|word| !word.is_empty());
        text = words.collect::<Vec<_>>().join(" ").into();
    }
    if !options.case_sensitive {
        text = text.to_lowercase().into();
    }
    text.encode_utf16().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const PLAIN: FuzzyString = FuzzyString { case_sensitive: false, normalize_white_space: false };

    fn value(a: &str, b: &str, options: FuzzyString) -> f64 {
        fuzzy_string(a, b, options).unwrap().value
    }

    #[test]
    fn texts() {
        assert_eq!(value("", "", PLAIN), 1.0);
        assert_eq!(value("", "abc", PLAIN), 0.0);
        assert_eq!(value("ReeF", "rEEf", PLAIN), 1.0);
        assert_eq!(value("a  b", "a b", PLAIN), 0.75);
        assert_eq!(value("ReeF", "reef", FuzzyString { case_sensitive: true, ..PLAIN }), 0.5);
        let normal = FuzzyString { normalize_white_space: true, ..PLAIN };
        assert_eq!(value("\u{feff} a\t\n b ", "A B", normal), 1.0);
    }

    #[test]
    fn other_scripts_and_halves_of_characters() {
        // A crab is two code units, and shares the first of them with other animals.
        assert_eq!(value("reef🦀", "reef", PLAIN), 1.0 - 2.0 / 6.0);
        assert_eq!(value("🦀", "🦁", PLAIN), 0.5);
        assert_eq!(value("海の底", "海の上", PLAIN), 1.0 - 1.0 / 3.0);
        assert_eq!(value("ΟΔΟΣ", "οδος", PLAIN), 1.0);
        // Lower case may be longer: this letter becomes two characters.
        assert_eq!(value("İ", "i\u{307}", PLAIN), 1.0);
    }

    #[test]
    fn long_texts_are_compared_or_refused() {
        let sea = "ab".repeat(5_000_000);
        assert_eq!(value(&sea, &sea, PLAIN), 1.0);
        // One edit in ten million: what is alike around it costs nothing.
        let typo = format!("{}x{}", "ab".repeat(2_500_000), "ab".repeat(2_500_000));
        let grade = fuzzy_string(&sea, &typo, PLAIN).unwrap();
        assert_eq!(grade.seen, Seen::Edits { edits: 1, length: 10_000_001 });
        assert_eq!(value(&sea, "", PLAIN), 0.0);
        // Few edits far from each other cost little more.
        let ends = format!("x{}y", "ab".repeat(50_000));
        let moved = format!("{}c", "ab".repeat(50_000));
        assert_eq!(value(&ends, &moved, PLAIN), 1.0 - 2.0 / 100_002.0);
        let problem = fuzzy_string(&sea, &"c".repeat(10_000_000), PLAIN).unwrap_err();
        assert!(problem.to_string().contains("10000000 and 10000000"), "{problem}");
    }

    /// Computes the distance by its definition, cell by cell.
    fn distance(a: &[u16], b: &[u16]) -> usize {
        let mut row: Vec<usize> = (0..=b.len()).collect();
        for (i, from) in a.iter().enumerate() {
            let mut diagonal = std::mem::replace(&mut row[0], i + 1);
            for (j, to) in b.iter().enumerate() {
                let here = (diagonal + usize::from(from != to)).min(row[j] + 1).min(row[j + 1] + 1);
                diagonal = std::mem::replace(&mut row[j + 1], here);
            }
        }
        row[b.len()]
    }

    proptest! {
        #[test]
        fn the_distance_is_exact(a in "[ab海🦀]{0,150}", b in "[ab海🦁]{0,150}") {
            let [x, y] = [&a, &b].map(|text| text.encode_utf16().collect::<Vec<_>>());
            let Seen::Edits { edits, .. } = fuzzy_string(&a, &b, PLAIN).unwrap().seen else { unreachable!() };
            prop_assert_eq!(edits, distance(&x, &y));
        }

        #[test]
        fn either_order_gives_the_same(a in ".{0,80}", b in ".{0,80}") {
            prop_assert_eq!(value(&a, &b, PLAIN), value(&b, &a, PLAIN));
            prop_assert!((0.0..=1.0).contains(&value(&a, &b, PLAIN)));
        }
    }
}
