//! Findings of the checker about a scorecard file: the place, the problem, the reason, and a hint.

use alloc::string::String;
use core::fmt;
use core::ops::Range;

crate::words! {
    /// The severity.
    pub enum Severity {
        /// The card is refused.
        Error = "error",
        /// The card scores, but its rule has a trap.
        Warning = "warning",
        /// A trap that the card keeps by choice, with its reason.
        Note = "note",
    }
}

/// One finding, with its place in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// Stable code, explained in `docs/guide/diagnostics.md`.
    pub code: Code,
    /// The severity.
    pub severity: Severity,
    /// Bytes of the file that are meant.
    pub span: Range<usize>,
    /// The problem, in one line.
    pub message: String,
    /// A few words for under the place; may be empty.
    pub label: String,
    /// A hint; may be empty.
    pub help: String,
}

macro_rules! codes {
    ($($name:ident = $text:literal, $about:literal;)*) => {
        /// The stable codes of diagnostics. KC0 file, KC1 structure, KC2 formulas, KC3 traps.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Code {
            $(#[doc = $about] $name,)*
        }

        impl Code {
            /// Every code.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// Returns the code as written: `KC203`.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }

            /// Returns what it means, in one line.
            pub const fn about(self) -> &'static str {
                match self { $(Self::$name => $about,)* }
            }
        }
    };
}

codes! {
    Syntax = "KC001", "the file is not TOML";
    UnknownField = "KC002", "a field that scorecards do not have";
    MissingField = "KC003", "a field that must be there is not";
    WrongType = "KC004", "a value of the wrong type";
    BadValue = "KC005", "a value outside what the field allows";
    TooLarge = "KC006", "the file or a list in it is larger than any scorecard";
    UnknownBase = "KC008", "the base scorecard cannot be used";
    DuplicateName = "KC101", "two things share a name";
    UnknownName = "KC102", "a name that nothing in the card has";
    WeightSum = "KC103", "weights that do not sum to what they must";
    WeightPrecision = "KC104", "decimals that are too fine, or too large for how fine they are";
    BandGap = "KC105", "bands that leave a score without a name, or are in the wrong order";
    TierOrder = "KC106", "tiers that are in the wrong order or ask less than a lower one";
    DimensionCount = "KC107", "too few or too many dimensions";
    ProfileWeights = "KC108", "a profile whose weights do not match the dimensions";
    FormulaSyntax = "KC201", "a formula that cannot be read";
    TypeMismatch = "KC202", "a number where a condition is needed, or a text in a formula";
    UnitMismatch = "KC203", "units that do not fit";
    Cycle = "KC204", "formulas that need each other";
    OutOfRange = "KC205", "a value that is not proved to stay between 0 and 1";
    Arguments = "KC206", "a function with the wrong number of arguments";
    MayFail = "KC207", "a division or root that may have no result";
    Unused = "KC208", "something declared that no formula reads";
    Cliff = "KC301", "a small change can move the score far";
    SelfReported = "KC302", "the subject reports what its own score rests on";
    Idle = "KC303", "doing nothing earns points";
    CoveragePicking = "KC304", "leaving evidence out can raise the score";
    Fallback = "KC305", "a fallback puts one rule or value in place of another";
    StrictThreshold = "KC306", "a value exactly at the threshold falls on the lower side";
    NeverMatters = "KC307", "a rule, gate, band or tier that can never matter";
    HiddenState = "KC308", "a fact that depends on more than the evidence item";
    UnitlessFacts = "KC309", "facts without a unit are added or compared";
    SmallSteps = "KC310", "a review that many small changes pass";
    OneSided = "KC311", "a factor that works on one side only";
    Hump = "KC312", "more is better up to a point, and worse from there on";
    CountedTwice = "KC313", "one measurement counts in several dimensions";
    OutOfReach = "KC314", "weight that no evidence can earn";
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Returns whether a character of a foreign text could steer a terminal: a control character, a line separator, or a mark that
/// turns the direction of what follows, so that a name reads as another.
pub fn steers_terminal(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Returns the known name closest to `name`, if it is close enough to be what was meant.
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = 1 + name.chars().count() / 3;
    known
        .into_iter()
        .map(|candidate| (edit_distance(name, candidate), candidate))
        .filter(|&(distance, _)| distance <= limit)
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, candidate)| candidate)
}

/// Returns the Levenshtein distance, letter case aside.
fn edit_distance(a: &str, b: &str) -> usize {
    let b: alloc::vec::Vec<char> = b.chars().take(80).flat_map(char::to_lowercase).collect();
    let mut row: alloc::vec::Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().take(80).flat_map(char::to_lowercase).enumerate() {
        let mut diagonal = i;
        let mut left = i + 1;
        for (slot, &to) in row.iter_mut().skip(1).zip(&b) {
            let above = *slot;
            let best = (diagonal + usize::from(from != to)).min(above + 1).min(left + 1);
            diagonal = above;
            left = best;
            *slot = best;
        }
        if let Some(first) = row.first_mut() {
            *first = i + 1;
        }
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_found_and_far_ones_are_not() {
        assert_eq!(nearest("sucess", ["success", "cost"]), Some("success"));
        assert_eq!(nearest("Latency", ["latency", "cost"]), Some("latency"));
        assert_eq!(nearest("weather", ["success", "cost"]), None);
    }

    #[test]
    fn codes_are_unique() {
        let mut seen: alloc::vec::Vec<_> = Code::ALL.iter().map(|code| code.as_str()).collect();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), Code::ALL.len());
    }
}
