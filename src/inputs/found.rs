//! The fields that name subject and task, where the items have other names for them and no one says which.

use std::borrow::Cow;

use karat_core::scorecard::Scorecard;
use karat_reader::Kind;
use serde_json::{Map, Value};

use super::{Door, Inputs};
use crate::engine::{Options, Wanted};
use crate::names::{SUBJECTS, TASKS, UNSURE, has, place, words};
use crate::record::Record;
use crate::rows::filter::is_declared;
use crate::text::clean;

impl Inputs {
    /// Returns options with the fields that name subject and task, for a card that reads facts: those that a person named, else
    /// `subject` and `task`, else of the fields of the first item the likeliest by their names, of which the door hears.
    #[must_use]
    pub fn named(&self, card: &Scorecard, options: Options, door: &dyn Door) -> Options {
        let (is_subject, is_task) = (options.subject_field.is_none(), options.task_field.is_none());
        let wanted = Wanted::of(card).ok().filter(|it| it.kind == Kind::Facts && (is_subject || is_task));
        let item = wanted.and_then(|wanted| self.first_row(&wanted));
        let Some(item) = item.filter(|item| !matches!(Record::parse(item), Ok(Some(_)))) else {
            return options;
        };
        let Ok(item) = serde_json::from_slice::<Map<String, Value>>(&item) else { return options };
        let likeliest = |own: &str, list: &str| {
            let fits = item.iter().filter(|(name, value)| is_name(value) && is_sure(card, name));
            let best = fits.filter_map(|(name, _)| Some((place(name, list)?, name))).min();
            best.filter(|_| !item.contains_key(own)).map(|(_, name)| name.clone())
        };
        let subject = if is_subject { likeliest("subject", SUBJECTS) } else { None };
        let task = if is_task { likeliest("task", TASKS) } else { None };
        let said = [("subject", &subject), ("task", &task)];
        let said = said
            .into_iter()
            .filter_map(|(what, name)| Some(format!("{what} from `{}`", clean(name.as_ref()?))));
        let said: Vec<String> = said.collect();
        if !said.is_empty() {
            door.note(&format!("{}; to take others: --subject-field, --task-field", said.join(", ")));
        }
        Options {
            subject_field: options.subject_field.or(subject),
            task_field: options.task_field.or(task),
            ..options
        }
    }
}

/// Returns an item with the members `subject` and `task` where options name other fields for them: as one reads it who knows
/// nothing of these options.
#[must_use]
pub fn with_names<'i>(item: &'i [u8], options: &Options) -> Cow<'i, [u8]> {
    let Some(rest) = item.trim_ascii_start().strip_prefix(b"{") else { return Cow::Borrowed(item) };
    let Ok(members) = serde_json::from_slice::<Map<String, Value>>(item) else { return Cow::Borrowed(item) };
    let mut named = Vec::new();
    for (own, field) in [("subject", &options.subject_field), ("task", &options.task_field)] {
        let value =
            field.as_ref().filter(|_| !members.contains_key(own)).and_then(|field| members.get(field));
        if let Some(value) = value.filter(|value| is_name(value)) {
            named.extend_from_slice(format!("\"{own}\":{value},").as_bytes());
        }
    }
    if named.is_empty() { Cow::Borrowed(item) } else { Cow::Owned([&b"{"[..], &named, rest].concat()) }
}

/// Returns whether a name may say who is scored or what was attempted, to one who does not know the data.
fn is_sure(card: &Scorecard, name: &str) -> bool {
    !name.starts_with('$') && !is_declared(card, name) && !has(UNSURE, &words(name).join("_"))
}

/// Returns whether a value can name something.
fn is_name(value: &Value) -> bool {
    match value {
        Value::String(text) => !text.trim().is_empty(),
        Value::Number(number) => number.is_i64() || number.is_u64(),
        _ => false,
    }
}
