//! The text of a scorecard from a plan: facts, ranges, units and directions, each with the reason in a comment.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use karat_core::diagnostic::Severity;
use karat_core::formula::Function;
use karat_core::scorecard::Step;
use karat_evidence::profile::{Field, Shape};

use super::plan::{Measure, Plan, column};
use super::refused;
use crate::cards::{CardText, check};
use crate::error::Error;
use crate::names::{Direction, GRADES, has, measured, unit, words};
use crate::text::clean;

/// The words of the formula language, beside its functions, and those that scores have.
const RESERVED: [&str; 8] = ["and", "or", "not", "true", "false", "score", "composite", "coverage"];

/// Returns the text of the scorecard.
pub(super) fn text(plan: &Plan<'_>) -> Result<String, Error> {
    let is_asked = plan.success.is_some() || plan.measures.iter().any(|it| it.is_asked);
    let counts = plan.weights().iter().any(|weight| *weight > 0);
    if !counts || plan.has_doubt && !is_asked {
        let message = match (plan.measures.is_empty(), counts) {
            (true, _) => "no field has a name that says what counts, and which way is better",
            (_, false) => "the fields that can count say what a run takes, and none whether it succeeded",
            _ => "it is not clear which field decides success",
        };
        let unknown: Vec<String> =
            plan.unknown.iter().map(|field| clean(&column(field)).into_owned()).collect();
        let error = plan.odd.iter().fold(refused(message), |error, line| error.hint(line.clone()));
        let error = if !unknown.is_empty() {
            error.hint(format!("there are: {}", unknown.join(", ")))
        } else if plan.odd.is_empty() && plan.measures.is_empty() {
            error.hint("numbers, and true or false, can count: add a column with what was measured")
        } else {
            error
        };
        return Err(error.hint("name one: --success FIELD, --higher FIELD or --lower FIELD"));
    }
    let draft = draft(plan);
    let checked = check(&CardText { name: String::from("scorecard.toml"), text: draft.clone() });
    if checked.card.is_none() {
        let found = checked.diagnostics.iter().find(|found| found.severity == Severity::Error);
        let why = found.map_or_else(String::new, |found| found.message.clone());
        return Err(refused(format!("no scorecard can be written for these fields: {why}"))
            .hint("leave some out with --without FIELD, or start from `karat card new my-card`"));
    }
    Ok(draft)
}

fn draft(plan: &Plan<'_>) -> String {
    let mut names = Names::default();
    let (items, given) = (plan.data.items(), &plan.data.given);
    let mut text = format!(
        "# Written by `karat init` from {items} items in {}.\n# Change what does not fit; `karat card check` says what \
         each change means.\n\n",
        one_line(&given.join(", "))
    );
    let id = id(given);
    let _ = write!(
        text,
        "schema   = \"karat/scorecard/1\"\nid       = \"{id}\"\nversion  = \"0.1.0\"\ntitle    = \"{id}\"\nevidence = \
         \"facts\"\nmean     = \"weighted-mean\"\nscale    = {{ max = 100, publish = \"half-up\", places = 1 }}\n\n[facts]\n"
    );
    let measures: Vec<Part<'_>> =
        plan.measures.iter().map(|measure| Part::new(measure, &mut names)).collect();
    for part in &measures {
        part.declare(items, &mut text);
    }
    let kept: Vec<String> = plan.kept.iter().map(|field| declare_kept(field, items, &mut names)).collect();
    text.push_str(&kept.concat());
    let ends: Vec<String> = measures.iter().filter_map(Part::end).collect();
    if !ends.is_empty() {
        let _ = write!(text, "\n[const]\n{}", ends.concat());
    }
    let success = plan.success.and_then(|at| measures.get(at));
    for (at, (part, weight)) in measures.iter().zip(plan.weights()).enumerate() {
        let success = success.filter(|_| plan.success != Some(at));
        part.dimension(weight, success, items, &mut text);
    }
    if plan.has_task {
        text.push_str(
            "\n# The official score: the mean over all tasks. How a run ended counts as it says.\n[standing]\nscore    \
             = \"window\"\nwindow   = {}\noutcomes = { no-verdict = \"excluded\", stopped = \"failure\", \
             not-applicable = \"excluded\", refused = \"failure\" }\n",
        );
    }
    for line in &plan.left {
        let _ = write!(text, "\n# Not counted: {}", one_line(line));
    }
    for field in &plan.unknown {
        let _ = write!(
            text,
            "\n# Not counted: {}: its name does not say which way is better",
            one_line(&column(field))
        );
    }
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

/// One field that counts, with its names.
struct Part<'d> {
    measure: &'d Measure<'d>,
    fact: String,
    end: String,
    scale: Scale,
}

/// Conversion of the values of a field to 0 to 1.
#[derive(Clone, Copy, PartialEq)]
enum Scale {
    /// True and false.
    Flag,
    /// They are 0 to 1.
    Share,
    /// From one number to another; the second is named as a constant.
    Range { from: f64, to: f64, is_quantile: bool },
}

impl<'d> Part<'d> {
    fn new(measure: &'d Measure<'d>, names: &mut Names) -> Self {
        let fact = names.of(measure.field);
        let scale = scale(measure);
        let word = if measure.direction == Direction::Higher { "best" } else { "worst" };
        let end = if matches!(scale, Scale::Range { .. }) {
            names.fact(&format!("{word}_{fact}"))
        } else {
            String::new()
        };
        Self { measure, fact, end, scale }
    }

    fn unit(&self) -> &'static str {
        if self.scale == Scale::Share { "1" } else { unit(&column(self.measure.field)) }
    }

    fn declare(&self, items: u64, text: &mut String) {
        let field = self.measure.field;
        let way = if self.measure.direction == Direction::Higher { "more" } else { "less" };
        let mut why = format!("{}: {}; {way} is better", column(field), seen(field, items));
        if let Scale::Range { to, is_quantile, .. } = self.scale {
            let end = if self.measure.direction == Direction::Higher { "best" } else { "worst" };
            let of = if is_quantile { "95th percentile " } else { "" };
            let _ = write!(why, "; {of}{} taken as the {end}", number(to));
        }
        let range = match (self.scale, field.range()) {
            (Scale::Flag, _) => String::from("type = \"boolean\""),
            (Scale::Share, _) => format!("unit = \"{}\", min = 0, max = 1", self.unit()),
            (_, Some((low, _))) if low >= 0.0 => format!("unit = \"{}\", min = 0", self.unit()),
            _ => format!("unit = \"{}\"", self.unit()),
        };
        let _ = write!(
            text,
            "# {}\n{} = {{ {}{range}, from = \"harness\" }}\n",
            one_line(&why),
            self.fact,
            path(field, &self.fact)
        );
    }

    fn end(&self) -> Option<String> {
        let Scale::Range { to, .. } = self.scale else { return None };
        Some(format!("{} = {{ value = {}, unit = \"{}\" }}\n", self.end, number(to), self.unit()))
    }

    fn dimension(&self, weight: usize, success: Option<&Part<'_>>, items: u64, text: &mut String) {
        let (fact, end) = (&self.fact, &self.end);
        let is_higher = self.measure.direction == Direction::Higher;
        let own = match self.scale {
            Scale::Flag if is_higher => fact.clone(),
            Scale::Flag => format!("1 - if({fact}, 1, 0)"),
            Scale::Share if is_higher => fact.clone(),
            Scale::Share => format!("1 - {fact}"),
            Scale::Range { from: 0.0, .. } if is_higher => format!("clamp({fact} / {end}, 0, 1)"),
            Scale::Range { from: 0.0, .. } => format!("clamp(1 - {fact} / {end}, 0, 1)"),
            Scale::Range { from, .. } if is_higher => {
                format!("clamp(({fact} - {0}) / ({end} - {0}), 0, 1)", in_formula(from))
            }
            Scale::Range { from, .. } => {
                format!("clamp(({end} - {fact}) / ({end} - {}), 0, 1)", in_formula(from))
            }
        };
        // What a run takes counts where it succeeded, so that failing cheaply earns nothing.
        let (formula, why) = match success {
            Some(success) if !is_higher && weight > 0 => {
                let own = if own.starts_with("clamp(") { own } else { format!("({own})") };
                (format!("{} * {own}", success.fact), "   # what failed earns nothing here")
            }
            _ => (own, ""),
        };
        let missing = match (self.measure.field.present() == items, success.is_none()) {
            _ if weight == 0 => "",
            (true, _) => "missing = \"withhold\"   # every item has it: one without is incomplete\n",
            (false, true) => "missing = \"withhold\"   # without it nothing is known of the run\n",
            (false, false) => "missing = \"zero\"       # what is not told earns nothing\n",
        };
        let beside =
            if weight == 0 { "              # it stands beside the score and moves nothing" } else { "" };
        let weight = number(weight as f64 / 1000.0);
        let _ = write!(
            text,
            "\n[[dimension]]\nkey     = \"{fact}\"\nweight  = {weight}{beside}\nformula = \"{formula}\"{why}\n{missing}"
        );
    }
}

/// Chooses how the values of a field become 0 to 1.
fn scale(measure: &Measure<'_>) -> Scale {
    let field = measure.field;
    let (low, high) = match field.range() {
        Some(range) if field.shape() == Shape::Number => range,
        _ => return Scale::Flag,
    };
    if let Some(best) = measure.best {
        let range = Scale::Range { from: 0.0, to: best, is_quantile: false };
        return if best == 1.0 { Scale::Share } else { range };
    }
    // Seconds below one are not a share of anything.
    if low >= 0.0 && high <= 1.0 && unit(&column(field)) == "1" {
        return Scale::Share;
    }
    let from = if low >= 0.0 { 0.0 } else { rounded(low, f64::floor) };
    // Of one value nothing says how far others may be: as far as from nothing.
    if low == high && measure.direction == Direction::Lower {
        return Scale::Range { from, to: 2.0 * high, is_quantile: false };
    }
    if measure.direction == Direction::Higher {
        // The anchors of Likert.
        let words = words(&column(field));
        let says = |list: &str| words.iter().any(|word| has(list, word));
        let is_of_seven = high == 7.0 && !says("score scores points quality grade judge");
        if field.is_whole() && low >= 1.0 && high > 2.0 && (high <= 5.0 || is_of_seven) {
            return Scale::Range { from: 1.0, to: high.max(5.0), is_quantile: false };
        }
        let tops = match (says("accuracy acc percent pct rate"), says(GRADES)) {
            (true, _) => &[100.0][..],
            (_, true) => &[5.0, 10.0, 100.0],
            _ => &[],
        };
        let whole = tops.iter().copied().find(|most| high <= *most).filter(|_| low >= 0.0);
        if let Some(to) = whole {
            return Scale::Range { from: 0.0, to, is_quantile: false };
        }
    }
    // The best and the worst are what few items surpass, so that one outlier does not flatten all others.
    let quantile = field.quantile(0.95).map(|it| rounded(it, f64::round)).filter(|it| *it > from);
    match quantile {
        Some(to) => Scale::Range { from, to, is_quantile: true },
        None => Scale::Range {
            from,
            to: rounded(high, f64::ceil).max(from + f64::MIN_POSITIVE),
            is_quantile: false,
        },
    }
}

/// Rounds to two digits.
fn rounded(value: f64, round: fn(f64) -> f64) -> f64 {
    if value == 0.0 {
        return 0.0;
    }
    // Through decimal digits, so that 0.3 stays 0.3.
    let exponent =
        format!("{:e}", value.abs()).split_once('e').and_then(|(_, it)| it.parse::<i32>().ok()).unwrap_or(0);
    let digits = 1 - exponent;
    let scaled = format!("{value}e{digits}").parse::<f64>().unwrap_or(value);
    format!("{}e{}", round(scaled), -digits).parse().unwrap_or(value)
}

/// Declares a field that does not count.
fn declare_kept(field: &Field, items: u64, names: &mut Names) -> String {
    let fact = names.of(field);
    let kind = match field.shape() {
        Shape::Number => "type = \"number\", unit = \"1\"",
        Shape::Boolean => "type = \"boolean\"",
        _ => "type = \"text\"",
    };
    let why = format!("{}: {}; it does not count", column(field), seen(field, items));
    format!("# {}\n{fact} = {{ {}{kind}, from = \"task\" }}\n", one_line(&why), path(field, &fact))
}

/// Returns the values of a field in words, and in how many items it is.
fn seen(field: &Field, items: u64) -> String {
    let of = format!("in {} of {items} items", field.present());
    match (field.shape(), field.range()) {
        (Shape::Number, Some((low, high))) => format!("{} to {} {of}", number(low), number(high)),
        (Shape::Boolean, _) => format!("true or false {of}"),
        _ => {
            let (values, has_more) = field.values();
            let shown: Vec<&str> = values.iter().take(4).map(String::as_str).collect();
            let more = if has_more || values.len() > 4 { ", ..." } else { "" };
            format!("{}{more} {of}", shown.join(", "))
        }
    }
}

/// Returns the path of a field, where its name differs from the name of the fact.
fn path(field: &Field, fact: &str) -> String {
    if !field.is_nested() && column(field) == fact {
        return String::new();
    }
    format!("path = \"{}\", ", field.path().to_string().replace('\\', "\\\\").replace('"', "\\\""))
}

/// The names that are taken.
#[derive(Default)]
struct Names {
    taken: BTreeSet<String>,
}

impl Names {
    /// Returns a name for the fact of a field: the last part of its path if that is free, else all of it.
    fn of(&mut self, field: &Field) -> String {
        match field.path().steps() {
            [.., Step::Member(before), Step::Member(_)] if measured(&column(field)) != column(field) => {
                self.fact(before)
            }
            [.., Step::Member(last)] if !self.taken.contains(last) => self.fact(last),
            _ => self.fact(&column(field)),
        }
    }

    /// Returns a name for a formula that is like `column` and that nothing else has.
    fn fact(&mut self, column: &str) -> String {
        let is_plain = |name: &str| {
            name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
                && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
                && name.len() <= 48
        };
        let mut name = if is_plain(column) { column.to_owned() } else { words(column).join("_") };
        name.retain(|c| c.is_ascii_alphanumeric() || c == '_');
        name.truncate(48);
        if !is_plain(&name) {
            name = format!("field_{name}");
        }
        let is_word = RESERVED.contains(&name.as_str()) || Function::ALL.iter().any(|it| it.name() == name);
        if is_word {
            name.push_str("_value");
        }
        let mut free = name.clone();
        let mut number = 2;
        while !self.taken.insert(free.clone()) {
            free = format!("{name}_{number}");
            number += 1;
        }
        free
    }
}

/// Returns the id of the scorecard, from the name of the first file.
fn id(given: &[String]) -> String {
    let first = given.first().map_or("", String::as_str);
    let file = first.rsplit(['/', '\\']).find(|part| !part.is_empty()).unwrap_or_default();
    let stem = words(file.split('.').next().unwrap_or_default()).join("-");
    let mut id: String =
        stem.chars().filter(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || *c == '-').collect();
    id.truncate(48);
    let id = id.trim_matches('-');
    if id.starts_with(|c: char| c.is_ascii_lowercase()) {
        id.to_owned()
    } else {
        format!("runs-{id}").trim_matches('-').to_owned()
    }
}

/// Writes a number as TOML reads it.
fn number(value: f64) -> String {
    if value != 0.0 && !(1e-6..1e15).contains(&value.abs()) {
        format!("{value:?}")
    } else {
        format!("{value}")
    }
}

/// Writes a number for a formula, which has no sign in a literal.
fn in_formula(value: f64) -> String {
    if value < 0.0 { format!("(0 - {})", number(-value)) } else { number(value) }
}

/// Returns a text as one line of a comment.
fn one_line(text: &str) -> String {
    clean(text).replace(['\n', '\r'], " ")
}
