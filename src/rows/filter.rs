//! The filter of items: `--where FIELD=VALUE` and a span of time; and the fields by which items are grouped.

use std::str::FromStr;

use karat_core::diagnostic::nearest;
use karat_core::facts::{Fact, Outcome};
use karat_core::record::Record;
use karat_core::scorecard::{FactType, Scorecard};
use karat_core::timestamp::Timestamp;

use crate::error::{Code, Error};
use crate::record::document::{FactValue, RecordDocument};
use crate::text::clean;

/// Fields that every item has, besides the facts of its card.
const FIELDS: [&str; 4] = ["subject", "id", "task", "outcome"];

/// A condition on a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filter {
    /// The field: `subject`, `id`, `task`, `outcome`, or a fact of the card.
    pub field: String,
    /// Its value, as written.
    pub value: String,
    /// True if the field must not have this value.
    pub is_not: bool,
}

impl FromStr for Filter {
    type Err = String;

    /// Reads `FIELD=VALUE` or `FIELD!=VALUE`.
    fn from_str(text: &str) -> Result<Self, String> {
        let (field, value) =
            text.split_once('=').ok_or_else(|| String::from("expected FIELD=VALUE or FIELD!=VALUE"))?;
        let (field, is_not) = field.strip_suffix('!').map_or((field, false), |field| (field, true));
        if field.trim().is_empty() {
            return Err(String::from("expected a field before `=`, such as domain=airline"));
        }
        Ok(Self { field: field.trim().to_owned(), value: value.to_owned(), is_not })
    }
}

impl Filter {
    /// Returns true if a record meets the condition.
    pub(crate) fn is_met(&self, record: &RecordDocument) -> bool {
        let is_value = match record.facts.get(&self.field) {
            // `0.10` equals 0.1.
            Some(FactValue::Number(number)) => self.value.parse() == Ok(*number),
            _ => record.value(&self.field).unwrap_or_default() == self.value,
        };
        is_value != self.is_not
    }
}

/// The conditions that an item must meet.
#[derive(Debug, Clone, Copy, Default)]
pub struct Wish<'a> {
    /// All of these must be met.
    pub filters: &'a [Filter],
    /// Not before this time.
    pub since: Option<Timestamp>,
    /// Before this time.
    pub until: Option<Timestamp>,
}

impl Wish<'_> {
    /// Returns true if `record`, of `subject` and `time`, meets all conditions. An item without a time is in no span.
    pub fn admits(&self, record: &Record<'_>, subject: &str, time: Option<Timestamp>) -> bool {
        let is_met = |filter: &Filter| {
            let is_value = match fact(record, &filter.field) {
                // `0.10` equals 0.1.
                Some(Fact::Number(number)) => filter.value.parse() == Ok(*number),
                _ => value(record, subject, &filter.field).unwrap_or_default() == filter.value,
            };
            is_value != filter.is_not
        };
        self.since.is_none_or(|since| time.is_some_and(|time| time >= since))
            && self.until.is_none_or(|until| time.is_some_and(|time| time < until))
            && self.filters.iter().all(is_met)
    }
}

/// Returns the value of a field as text; None if the item has no value.
pub fn value(record: &Record<'_>, subject: &str, field: &str) -> Option<String> {
    let context = record.item.context;
    match field {
        "subject" => Some(subject.to_owned()),
        "id" => Some(record.item.id.to_owned()),
        "task" => context.task.map(str::to_owned),
        "outcome" => context.outcome.map(|outcome| Outcome::name(outcome).to_owned()),
        _ => match (fact(record, field), field) {
            (None, "band") => record.band.map(str::to_owned),
            (None, "tier") => record.tier.as_ref()?.name.map(str::to_owned),
            (None | Some(Fact::Missing), _) => None,
            (Some(Fact::Number(number)), _) => Some(number.to_string()),
            (Some(Fact::Flag(flag)), _) => Some(flag.to_string()),
            (Some(Fact::Text(text)), _) => Some((*text).to_owned()),
        },
    }
}

/// Returns true if a field is in every record of a card: a field of every item, a fact, the band or the tier.
pub fn is_declared(card: &Scorecard, field: &str) -> bool {
    FIELDS.contains(&field)
        || matches!(field, "band" | "tier")
        || card.facts.iter().any(|fact| fact.name == field)
}

/// Returns the names of the fields that every record of these cards has.
pub(super) fn declared<'c>(cards: impl Iterator<Item = &'c Scorecard>) -> Vec<String> {
    let facts = cards.flat_map(|card| card.facts.iter().map(|fact| fact.name.clone()));
    FIELDS.into_iter().chain(["band", "tier"]).map(str::to_owned).chain(facts).collect()
}

/// Returns the fact with this name, unless it is a field that every item has.
fn fact<'r>(record: &'r Record<'_>, field: &str) -> Option<&'r Fact<'r>> {
    let at = record.card.facts.iter().position(|fact| fact.name == field && !FIELDS.contains(&field))?;
    record.item.facts.get(at)
}

/// Rejects a field that no card has.
pub(crate) fn check_field<'c>(
    field: &str,
    flag: &str,
    cards: impl Iterator<Item = &'c Scorecard> + Clone,
) -> Result<(), Error> {
    let facts = || cards.clone().flat_map(|card| card.facts.iter().map(|fact| fact.name.as_str()));
    let known = || FIELDS.into_iter().chain(facts());
    if known().any(|name| name == field) {
        return Ok(());
    }
    let failure = Error::new(Code::InvalidOption, format!("{flag}: no item has a field `{}`", clean(field)));
    let failure = match nearest(field, known()) {
        Some(near) => failure.hint(format!("did you mean `{near}`?")),
        None => failure,
    };
    let mut names: Vec<&str> = known().collect();
    names.sort_unstable();
    names.dedup();
    Err(failure.hint(format!("there are: {}", names.join(", "))))
}

/// Rejects a filter on a field that no card has, or by a value that the field never has: it would select nothing, or
/// all,
/// without a word. An empty value means that there is no value.
///
/// # Errors
/// If the field or the value is not understood.
pub fn check_filter<'c>(
    filter: &Filter,
    flag: &str,
    cards: impl Iterator<Item = &'c Scorecard> + Clone,
) -> Result<(), Error> {
    let Filter { field, value, .. } = filter;
    check_field(field, flag, cards.clone())?;
    let refuse = |expected: &str, hint: Option<String>| {
        let (field, value) = (clean(field), clean(value));
        let message = format!("{flag}: `{field}` is never `{value}`, expected {expected}");
        let failure = Error::new(Code::InvalidOption, message);
        Err(match hint {
            Some(hint) => failure.hint(hint),
            None => failure,
        })
    };
    if value.is_empty() {
        return Ok(());
    }
    if field == "outcome" && Outcome::from_name(value).is_none() {
        let names = Outcome::ALL.map(Outcome::name);
        let hint = nearest(value, names.iter().copied()).map(|near| format!("did you mean `{near}`?"));
        return refuse(&format!("one of {}", names.join(", ")), hint);
    }
    if FIELDS.contains(&field.as_str()) {
        return Ok(());
    }
    let mut kinds =
        cards.flat_map(|card| &card.facts).filter(|fact| fact.name == *field).map(|fact| fact.kind);
    let is_possible = kinds.any(|kind| match kind {
        FactType::Number => value.parse().is_ok_and(f64::is_finite),
        FactType::Boolean => matches!(value.as_str(), "true" | "false"),
        FactType::Text => true,
    });
    if is_possible {
        Ok(())
    } else {
        refuse("a number, or `true` or `false`, as the scorecard declares", None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::card::CompiledCard;

    #[test]
    fn a_filter_by_what_a_field_never_is_is_refused() {
        let trace = CompiledCard::released("trace").unwrap();
        let check = |text: &str| check_filter(&text.parse().unwrap(), "--where", std::iter::once(&**trace));
        for good in [
            "outcome=failed", "outcome!=succeeded", "outcome=", "task=anything", "success=true", "success=",
            "confidence=0.90", "task_domain=42",
        ] {
            assert!(check(good).is_ok(), "{good}");
        }
        for (wrong, why) in [
            ("outcome=success", "--where: `outcome` is never `success`, expected one of succeeded, failed, "),
            ("outcome!=passed", "--where: `outcome` is never `passed`"),
            ("success=yes", "--where: `success` is never `yes`, expected a number, or `true` or `false`"),
            ("confidence=high", "--where: `confidence` is never `high`"),
            ("confidence=NaN", "--where: `confidence` is never `NaN`"),
            ("mood=good", "--where: no item has a field `mood`"),
        ] {
            let error = check(wrong).unwrap_err();
            assert!(error.message().starts_with(why), "{wrong}: {error}");
            assert_eq!(error.code(), Code::InvalidOption);
        }
    }

    #[test]
    fn a_filter_reads_its_parts() {
        let filter = |text: &str| text.parse::<Filter>().unwrap();
        assert_eq!(
            filter("domain=air=line"),
            Filter { field: "domain".into(), value: "air=line".into(), is_not: false }
        );
        assert_eq!(
            filter("domain!=retail"),
            Filter { field: "domain".into(), value: "retail".into(), is_not: true }
        );
        assert_eq!(filter("task=").value, "");
        for wrong in ["domain", "=x", "!=x", ""] {
            assert!(wrong.parse::<Filter>().is_err(), "{wrong}");
        }
    }
}
