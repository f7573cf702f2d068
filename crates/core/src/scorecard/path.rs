//! Paths of nested fields: the part of RFC 9535 (JSONPath) that names at most one value, without places from the end.

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt::{self, Write as _};

/// Most steps of a path. Items of evidence are not nested deeper than that by any tool that was seen.
const MOST_STEPS: usize = 16;

/// The place of one value in an item: `$.metrics.cost`, `$.scores[0]`, `$["a key"]`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct FieldPath {
    steps: Vec<Step>,
}

/// One step down.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    /// To the member of an object with this name.
    Member(String),
    /// To the element of an array at this place, from 0.
    Element(u32),
}

/// The reason why a text is not such a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("at byte {at}: expected {expected}")]
pub struct PathError {
    /// The byte at which it goes wrong.
    pub at: usize,
    /// The expectation there.
    pub expected: &'static str,
}

impl FieldPath {
    /// Reads a path.
    ///
    /// # Errors
    /// If the text is not a path that names at most one value.
    ///
    /// ```
    /// use karat_core::scorecard::FieldPath;
    ///
    /// let path = FieldPath::parse(r#"$.metrics['cost'].usd[0]["a key"]"#)?;
    /// assert_eq!(path.to_string(), r#"$.metrics.cost.usd[0]["a key"]"#);
    /// assert_eq!(FieldPath::parse("$.metrics.*").unwrap_err().at, 10);
    /// # Ok::<(), karat_core::scorecard::PathError>(())
    /// ```
    pub fn parse(text: &str) -> Result<Self, PathError> {
        let fail = |rest: &str, expected| Err(PathError { at: text.len() - rest.len(), expected });
        let Some(mut rest) = text.strip_prefix('$') else { return fail(text, "`$`, which is the item") };
        let mut steps = Vec::new();
        while !rest.is_empty() {
            if steps.len() == MOST_STEPS {
                return fail(rest, "the end, as a path has at most 16 steps");
            }
            if let Some(after) = rest.strip_prefix('.') {
                let end = after
                    .char_indices()
                    .find(|&(at, c)| !is_name(c, at == 0))
                    .map_or(after.len(), |(at, _)| at);
                let (name, left) = after.split_at(end);
                if name.is_empty() {
                    return fail(
                        after,
                        "a name of letters, digits and `_`; another name is written [\"so\"]",
                    );
                }
                steps.push(Step::Member(name.to_string()));
                rest = left;
            } else if let Some(after) = rest.strip_prefix('[') {
                let (step, left) = in_brackets(after)
                    .map_err(|(left, expected)| PathError { at: text.len() - left.len(), expected })?;
                let Some(left) = left.strip_prefix(']') else { return fail(left, "`]`") };
                steps.push(step);
                rest = left;
            } else {
                return fail(rest, "`.name`, `[\"name\"]`, `[0]` or the end");
            }
        }
        if steps.is_empty() { fail(rest, "a field, such as `.cost`") } else { Ok(Self { steps }) }
    }

    /// Returns the path of a field as people name it: a path, a path without its root, else the name of one member.
    /// Every flag, file and query that takes a field is read by this rule.
    ///
    /// ```
    /// use karat_core::scorecard::FieldPath;
    ///
    /// let path = |field: &str| FieldPath::of_field(field).to_string();
    /// assert_eq!(path("$.metrics.cost"), "$.metrics.cost");
    /// assert_eq!(path("metrics.cost"), "$.metrics.cost");
    /// assert_eq!(path("scores[0]"), "$.scores[0]");
    /// assert_eq!(path("the cost, in USD"), r#"$["the cost, in USD"]"#);
    /// ```
    pub fn of_field(field: &str) -> Self {
        let below = if field.starts_with('[') { "$" } else { "$." };
        let path = Self::parse(field).or_else(|_| Self::parse(&(String::from(below) + field)));
        path.unwrap_or_else(|_| Self { steps: alloc::vec![Step::Member(field.to_string())] })
    }

    /// Goes down from `root`; `step` returns no value for one that is absent or null.
    pub fn reach<V>(&self, root: V, step: impl Fn(V, &Step) -> Option<V>) -> Option<V> {
        self.steps.iter().try_fold(root, step)
    }

    /// Finds the value in an item as the reader of facts does: by the steps, else as a member of the item that is called as
    /// its [column](Self::column), as tables have it, which hold no objects.
    pub fn find<V: Copy>(&self, item: V, step: impl Fn(V, &Step) -> Option<V>) -> Option<V> {
        self.reach(item, &step).or_else(|| step(item, &Step::Member(self.column())))
    }

    /// Returns the path through members with these names; none if there are too few or too many, or one cannot be written.
    pub fn of_members(names: &[String]) -> Option<Self> {
        let is_sound = |name: &String| !name.chars().any(char::is_control);
        let fits = (1..=MOST_STEPS).contains(&names.len()) && names.iter().all(is_sound);
        fits.then(|| Self { steps: names.iter().cloned().map(Step::Member).collect() })
    }

    /// Returns the steps from the item down.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Returns the name that the value has as a column of a table: the path without its `$`, such as `metrics.cost`; of a
    /// single step the name itself.
    pub fn column(&self) -> String {
        match self.steps.as_slice() {
            [Step::Member(name)] => name.clone(),
            _ => self.to_string().trim_start_matches('$').trim_start_matches('.').to_string(),
        }
    }
}

/// Reads a step after its opening bracket; returns what follows, or where it goes wrong and what was expected.
fn in_brackets(text: &str) -> Result<(Step, &str), (&str, &'static str)> {
    let Some(quote) = text.chars().next().filter(|c| matches!(c, '"' | '\'')) else {
        let end = text.bytes().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len());
        let (digits, left) = text.split_at(end);
        let is_plain = digits == "0" || !digits.starts_with('0');
        return match digits.parse() {
            Ok(place) if is_plain => Ok((Step::Element(place), left)),
            _ => Err((text, "a name in quotes, or a place from 0 without a sign")),
        };
    };
    let mut name = String::new();
    let mut characters = text.char_indices().skip(1);
    while let Some((at, c)) = characters.next() {
        if c == quote {
            return Ok((Step::Member(name), text.get(at + 1..).unwrap_or_default()));
        }
        let here = || text.get(at..).unwrap_or_default();
        match c {
            '\\' => match characters.next() {
                Some((_, escaped)) if escaped == quote || escaped == '\\' => name.push(escaped),
                _ => return Err((here(), "`\\\\` or `\\` with the quote; other escapes are not read")),
            },
            c if c.is_control() => return Err((here(), "a name without control characters")),
            c => name.push(c),
        }
    }
    Err((text.get(text.len()..).unwrap_or_default(), "the end of the name in quotes"))
}

/// Returns whether a character may be in a name after a point, as RFC 9535 has it.
fn is_name(c: char, is_first: bool) -> bool {
    c.is_ascii_alphabetic() || c == '_' || !c.is_ascii() || (!is_first && c.is_ascii_digit())
}

impl fmt::Display for FieldPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('$')?;
        for step in &self.steps {
            match step {
                Step::Element(place) => write!(f, "[{place}]")?,
                Step::Member(name) if is_plain(name) => write!(f, ".{name}")?,
                Step::Member(name) => {
                    f.write_str("[\"")?;
                    for c in name.chars() {
                        if matches!(c, '"' | '\\') {
                            f.write_char('\\')?;
                        }
                        f.write_char(c)?;
                    }
                    f.write_str("\"]")?;
                }
            }
        }
        Ok(())
    }
}

fn is_plain(name: &str) -> bool {
    !name.is_empty() && name.char_indices().all(|(at, c)| is_name(c, at == 0))
}

#[cfg(test)]
mod tests {
    use alloc::format;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_may_name_several_values_or_nothing_is_no_path() {
        let wrong = [
            ("", 0),
            ("metrics.cost", 0),
            ("$", 1),
            ("$.", 2),
            ("$..cost", 2),
            ("$.*", 2),
            ("$.a.", 4),
            ("$.1", 2),
            ("$.a b", 3),
            ("$ .a", 1),
            ("$[", 2),
            ("$[]", 2),
            ("$[-1]", 2),
            ("$[01]", 2),
            ("$[1:2]", 3),
            ("$[0,1]", 3),
            ("$[?@.a]", 2),
            ("$[*]", 2),
            ("$['a]", 5),
            ("$[\"a\\n\"]", 4),
            ("$[\"a\"", 5),
            ("$[99999999999]", 2),
        ];
        for (text, at) in wrong {
            assert_eq!(FieldPath::parse(text).map_err(|error| error.at), Err(at), "{text}");
        }
        assert!(FieldPath::parse(&format!("${}", ".a".repeat(16))).is_ok());
        assert!(FieldPath::parse(&format!("${}", ".a".repeat(17))).is_err());
    }

    #[test]
    fn a_field_is_a_path_or_one_without_its_root_or_a_name() {
        for (field, path) in [
            ("cost", "$.cost"),
            ("a.b", "$.a.b"),
            ("a[0].b", "$.a[0].b"),
            ("[\"a b\"].c", "$[\"a b\"].c"),
            ("$[\"a.b\"]", "$[\"a.b\"]"),
            ("a b", "$[\"a b\"]"),
            ("$", "$[\"$\"]"),
            ("$cost", "$[\"$cost\"]"),
            ("a..b", "$[\"a..b\"]"),
            ("a.1", "$[\"a.1\"]"),
            ("", "$[\"\"]"),
        ] {
            assert_eq!(FieldPath::of_field(field).to_string(), path, "{field}");
        }
    }

    #[test]
    fn a_column_has_the_path_without_its_root() {
        let columns = [
            ("$.cost", "cost"),
            ("$['the cost']", "the cost"),
            ("$.metrics.cost", "metrics.cost"),
            ("$.scores[0].value", "scores[0].value"),
            ("$['a b'].c", "[\"a b\"].c"),
        ];
        for (path, column) in columns {
            assert_eq!(FieldPath::parse(path).unwrap().column(), column);
        }
    }

    proptest! {
        #[test]
        fn any_path_is_read_as_it_is_printed(
            steps in proptest::collection::vec(
                prop_oneof![
                    "[^\\x00-\\x1f\\x7f-\\x9f]{0,6}".prop_map(Step::Member),
                    any::<u32>().prop_map(Step::Element),
                ],
                1..16,
            )
        ) {
            let path = FieldPath { steps };
            prop_assert_eq!(FieldPath::parse(&path.to_string()), Ok(path));
        }

        #[test]
        fn a_field_is_read_from_its_path_and_a_column_leads_to_a_field_of_that_name(
            steps in proptest::collection::vec(
                prop_oneof![".{0,6}".prop_map(Step::Member), any::<u32>().prop_map(Step::Element)], 1..6,
            )
        ) {
            let path = FieldPath { steps };
            prop_assert_eq!(&FieldPath::of_field(&FieldPath::of_field(&path.column()).column()).column(), &path.column());
            if FieldPath::parse(&path.to_string()).is_ok() {
                prop_assert_eq!(FieldPath::of_field(&path.to_string()), path);
            }
        }

        #[test]
        fn no_text_stops_the_reader(text in "\\$?[.\\[\\]'\"\\\\a0é ]{0,12}") {
            if let Ok(path) = FieldPath::parse(&text) {
                prop_assert_eq!(FieldPath::parse(&path.to_string()), Ok(path));
            }
        }
    }
}
