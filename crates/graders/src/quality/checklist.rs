//! Checklists: criteria that a text meets or does not.

use regex::{Regex, RegexBuilder};
use regex_syntax::ast::{AssertionKind, Ast, Visitor, parse::Parser, visit};
use serde::Serialize;
use serde_json::Value;

use super::{described, json as strict, refuse};
use karat_evidence::json::problem::{Problems, did_you_mean, quoted};

/// The criteria of a task, checked and ready.
#[derive(Debug)]
pub struct Checklist {
    criteria: Vec<Criterion>,
}

/// Treatment of a criterion of an unknown kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum UnknownCriterion {
    /// The task is refused.
    #[default]
    Refuse,
    /// No text meets it.
    Unmet,
}

#[derive(Debug)]
struct Criterion {
    kind: String,
    wanted: String,
    test: Test,
}

#[derive(Debug)]
enum Test {
    /// A text, in lower case.
    Keyword(String),
    JsonKey(String),
    Pattern {
        regex: Regex,
        ends_before_line_break: bool,
    },
    Unknown,
}

/// The share of criteria that a text meets, and which.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ChecklistGrade {
    /// Met criteria as a share of all, 0 to 1; a criterion that is given twice counts twice.
    #[serde(skip)]
    pub value: f64,
    /// Number of criteria that are met.
    pub met: usize,
    /// Each criterion, in the order of the task.
    pub criteria: Vec<CriterionGrade>,
}

/// Result of one criterion.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CriterionGrade {
    /// `keyword`, `json_key`, `regex`, or what else the task says.
    #[serde(rename = "type")]
    pub kind: String,
    /// The keyword, key or pattern as the task has it.
    pub wanted: String,
    /// True if the text meets it.
    pub is_met: bool,
    /// Reason for not meeting it, where more can be said than that it is absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

const KINDS: [&str; 3] = ["keyword", "json_key", "regex"];

impl Checklist {
    /// A compiled pattern may need this many bytes of memory; what it counts up beyond is refused.
    pub(crate) const PATTERN_BYTES_MAX: usize = 1 << 21;
    /// All compiled patterns of a task may need this many together; each has an equal share of it.
    pub(crate) const PATTERNS_BYTES_MAX: usize = 1 << 24;
    /// All patterns of a task may be this many bytes long together: two letters may name a class of 700 ranges, which take
    /// memory before anything is compiled.
    pub(crate) const PATTERNS_LENGTH_MAX: usize = 1 << 14;
    /// Patterns are searched in outputs of up to this many bytes, four times what a run's text may have. A search takes
    /// at worst the product of this and the memory of the pattern, a few seconds for the largest.
    pub const SEARCHED_BYTES_MAX: usize = 1 << 16;
    /// Most criteria of a task.
    pub const CRITERIA_MAX: usize = 1000;

    /// Reads the criteria of a task: objects of `type` (`keyword` if it is left out) and `text`, or `pattern` for a
    /// `regex`; `value` may replace either.
    ///
    /// - `keyword`: the text, without regard to case, is in the output;
    /// - `json_key`: the output is a JSON object and has this key, exactly, at its top;
    /// - `regex`: the pattern is found in the output, without regard to case, `^` and `$` being start and end of the
    ///   output (or the place before its last line break). The crate `regex` defines the dialect; it searches in
    ///   linear time: no look-around and no back-references.
    ///
    /// # Errors
    ///
    /// If criteria are not as described, cannot fail (an empty or blank keyword, a pattern that is found in every
    /// text), or have a pattern that is not a regular expression or would become too large: all of them; if a list has
    /// no criteria, or patterns that are too long together.
    pub fn load(criteria: &Value, unknown: UnknownCriterion) -> Result<Self, Problems> {
        let path = "$.reference.goal_checklist";
        let Some(list) = criteria.as_array().filter(|list| (1..=Self::CRITERIA_MAX).contains(&list.len()))
        else {
            let expected = format!("an array of 1 to {} criteria", Self::CRITERIA_MAX);
            return Err(refuse(path, described(criteria), &expected, ""));
        };
        let patterns = list.iter().filter(|criterion| criterion["type"] == "regex");
        let texts = patterns.clone().flat_map(|criterion| [&criterion["pattern"], &criterion["value"]]);
        let length: usize = texts.filter_map(Value::as_str).map(str::len).sum();
        if length > Self::PATTERNS_LENGTH_MAX {
            let expected = format!("at most {} bytes of them together", Self::PATTERNS_LENGTH_MAX);
            return Err(refuse(path, format!("patterns of {length} bytes"), &expected, ""));
        }
        let share = Self::PATTERNS_BYTES_MAX / patterns.count().max(1);
        let bytes_max = share.min(Self::PATTERN_BYTES_MAX);
        let mut problems = Problems::default();
        let mut loaded = Vec::with_capacity(list.len());
        for (at, criterion) in list.iter().enumerate() {
            match Criterion::load(criterion, &format!("{path}[{at}]"), unknown, bytes_max) {
                Ok(criterion) => loaded.push(criterion),
                Err(refused) => problems.extend(&refused),
            }
        }
        if problems.is_empty() { Ok(Self { criteria: loaded }) } else { Err(problems) }
    }

    /// Grades a text.
    ///
    /// # Errors
    ///
    /// If there are patterns, and the text has more than [`Checklist::SEARCHED_BYTES_MAX`] bytes.
    pub fn grade(&self, text: &str) -> Result<ChecklistGrade, Problems> {
        if self.criteria.iter().any(|criterion| matches!(criterion.test, Test::Pattern { .. })) {
            Self::searchable(text)?;
        }
        let mut output = Output { text, lower: None, json: None };
        let criteria: Vec<_> = self.criteria.iter().map(|criterion| criterion.grade(&mut output)).collect();
        let met = criteria.iter().filter(|criterion| criterion.is_met).count();
        Ok(ChecklistGrade { value: met as f64 / criteria.len().max(1) as f64, met, criteria })
    }

    /// Refuses an output that is too long to be searched for patterns: that it lacks them is not known.
    pub(super) fn searchable(text: &str) -> Result<(), Problems> {
        if text.len() <= Self::SEARCHED_BYTES_MAX {
            return Ok(());
        }
        let expected = format!("at most {} bytes, which are searched for patterns", Self::SEARCHED_BYTES_MAX);
        Err(refuse("$.output.text", format!("a text of {} bytes", text.len()), &expected, "shorten the text"))
    }
}

/// A text with the forms of it that criteria need, made on first use.
struct Output<'a> {
    text: &'a str,
    lower: Option<String>,
    json: Option<Result<Value, String>>,
}

impl Output<'_> {
    fn lower(&mut self) -> &str {
        self.lower.get_or_insert_with(|| self.text.to_lowercase())
    }

    fn json(&mut self) -> &Result<Value, String> {
        self.json.get_or_insert_with(|| {
            strict::parse(self.text).map_err(|reason| format!("the output is not used as JSON: {reason}"))
        })
    }
}

impl Criterion {
    /// Compiles a criterion; `bytes_max` is the share of the memory for compiled patterns.
    fn load(
        criterion: &Value,
        path: &str,
        unknown: UnknownCriterion,
        bytes_max: usize,
    ) -> Result<Self, Problems> {
        let Some(members) = criterion.as_object() else {
            return Err(refuse(path, described(criterion), "a criterion, an object", ""));
        };
        let kind = match members.get("type") {
            None | Some(Value::Null) => "keyword",
            Some(Value::String(kind)) => kind,
            Some(other) => {
                let expected = "the kind of criterion, a text";
                return Err(refuse(&format!("{path}.type"), described(other), expected, ""));
            }
        };
        let field = if kind == "regex" { "pattern" } else { "text" };
        let is_known = KINDS.contains(&kind);
        if !is_known && unknown == UnknownCriterion::Refuse {
            let (place, expected) = (format!("{path}.type"), "`keyword`, `json_key` or `regex`");
            return Err(refuse(&place, quoted(kind), expected, &did_you_mean(kind, KINDS)));
        }
        let here = format!("{path}.{field}");
        let wanted = match (members.get(field), members.get("value")) {
            (Some(Value::String(text)), Some(Value::String(value))) if text != value => {
                let found = format!("{}, and {} as `value`", quoted(text), quoted(value));
                return Err(refuse(&here, found, "one of the two", ""));
            }
            (Some(Value::String(text)), _) | (None | Some(Value::Null), Some(Value::String(text))) => text,
            _ if !is_known => "",
            (found, value) => {
                let found = found.or(value).map_or_else(|| "nothing".to_owned(), described);
                return Err(refuse(&here, found, "a text", "every output would meet it"));
            }
        };
        if wanted.trim().is_empty() && is_known {
            let found = if wanted.is_empty() { "an empty text" } else { "nothing but white space" };
            return Err(refuse(&here, found.to_owned(), "something that an output may lack", ""));
        }
        let test = match kind {
            "keyword" => Test::Keyword(wanted.to_lowercase()),
            "json_key" => Test::JsonKey(wanted.to_owned()),
            "regex" => Test::pattern(wanted, &here, bytes_max)?,
            _ => Test::Unknown,
        };
        Ok(Self { kind: kind.to_owned(), wanted: wanted.to_owned(), test })
    }

    fn grade(&self, output: &mut Output<'_>) -> CriterionGrade {
        let (is_met, reason) = match &self.test {
            Test::Keyword(keyword) => (output.lower().contains(keyword.as_str()), None),
            Test::JsonKey(key) => match output.json() {
                Ok(Value::Object(members)) => (members.contains_key(key), None),
                Ok(_) => (false, Some("the output is JSON, but no object".to_owned())),
                Err(reason) => (false, Some(reason.clone())),
            },
            Test::Pattern { regex, ends_before_line_break } => {
                let before = output.text.strip_suffix('\n').filter(|_| *ends_before_line_break);
                (regex.is_match(output.text) || before.is_some_and(|text| regex.is_match(text)), None)
            }
            Test::Unknown => (false, Some("no such kind of criterion".to_owned())),
        };
        CriterionGrade { kind: self.kind.clone(), wanted: self.wanted.clone(), is_met, reason }
    }
}

impl Test {
    fn pattern(pattern: &str, path: &str, bytes_max: usize) -> Result<Self, Problems> {
        const NESTED_MAX: u32 = 100;
        let refused = |reason: &dyn std::fmt::Display| {
            let reason = reason.to_string();
            // The last line says what is wrong, those before it draw the pattern.
            let reason = reason.lines().last().unwrap_or_default().trim_start_matches("error: ");
            let hint = format!("{reason} (there is no look-around and no back-reference)");
            refuse(path, quoted(pattern), "a regular expression that is searched in linear time", &hint)
        };
        let regex = RegexBuilder::new(pattern)
            .case_insensitive(true)
            .nest_limit(NESTED_MAX)
            .size_limit(bytes_max)
            .build()
            .map_err(|error| refused(&error))?;
        let parsed = Parser::new().parse(pattern).map_err(|error| refused(error.kind()))?;
        let form = regex_syntax::Parser::new().parse(pattern).map_err(|error| refused(&error))?;
        let properties = form.properties();
        if properties.minimum_len() == Some(0) && properties.look_set().is_empty() {
            let expected = "a pattern that is not found in every text";
            return Err(refuse(path, quoted(pattern), expected, "let it match at least one character"));
        }
        let ends_before_line_break = visit(&parsed, DollarSigns(false)).unwrap_or_default();
        Ok(Self::Pattern { regex, ends_before_line_break })
    }
}

/// Looks for `$` as an assertion.
struct DollarSigns(bool);

impl Visitor for DollarSigns {
    type Output = bool;
    type Err = ();

    fn finish(self) -> Result<bool, ()> {
        Ok(self.0)
    }

    fn visit_pre(&mut self, ast: &Ast) -> Result<(), ()> {
        self.0 |= matches!(ast, Ast::Assertion(assertion) if assertion.kind == AssertionKind::EndLine);
        Ok(())
    }
}
