//! The text of a project file to a project: every fault at once, with place and hint.

use std::ops::Range;
use std::path::Path;

use karat_core::diagnostic::{Code, Diagnostic, Severity, nearest};
use karat_core::number::Decimal;
use karat_core::scorecard::FieldPath;
use karat_core::timestamp::Timestamp;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::Project;
use crate::answers::leaderboard::floor::On;
use crate::ask::trend::direction;
use crate::ask::{AsOf, Attempts, Fields, Floor, Items, Tasks, Trend, level, points};
use crate::cards::released;
use crate::gate::{Gate, Quarantine};
use crate::renames::{Rename, renamed};
use crate::rows::filter::Filter;
use crate::text::short;

const KEYS: [&str; 12] = [
    "card", "inputs", "subject", "task", "baseline", "history", "where", "rename", "as_of", "gate", "tasks",
    "quarantine",
];
const GATE_KEYS: [&str; 10] = [
    "fail_under", "on", "subjects", "dimensions", "fail_if_worse", "strict", "attempts", "items", "standing",
    "trend",
];
/// Keys of gates that people write outside of their table, or as the flags have them.
const MOVED: [(&str, &str); 9] = [
    ("fail_under", "[gate]"),
    ("fail_if_worse", "[gate]"),
    ("strict", "[gate]"),
    ("on", "[gate]"),
    ("dimensions", "[gate.dimensions]"),
    ("items", "[gate.items]"),
    ("trend", "[gate.trend]"),
    ("version", "[tasks]"),
    ("pass", "[tasks]"),
];

/// Reads a project file in `folder`.
pub(super) fn read(text: &str, folder: &Path) -> Result<Project, Vec<Diagnostic>> {
    let (table, errors) = DeTable::parse_recoverable(text);
    let mut faults = Faults { text, found: Vec::new() };
    for error in &errors {
        faults.add(Code::Syntax, error.span().unwrap_or(0..0), error.message().replace('\n', ", "), "");
    }
    if !errors.is_empty() {
        return Err(faults.found);
    }
    let table = table.get_ref();
    let top = Table { table, what: "karat.toml" };
    top.check_keys(&KEYS, &mut faults);
    let card = top.text("card", &mut faults);
    if card.is_none() && !top.is_meant("card") {
        let help = "name a released scorecard or a file beside this one: card = \"scorecard.toml\"";
        faults.add(Code::MissingField, 0..0, "karat.toml needs `card`", help);
    }
    let inputs = top.texts("inputs", &mut faults);
    if inputs.is_empty() && !top.is_meant("inputs") {
        let help = "name files, folders or patterns: inputs = [\"runs/*.jsonl\"]";
        faults.add(Code::MissingField, 0..0, "karat.toml needs `inputs`", help);
    } else if inputs.is_empty() && top.place("inputs").is_some_and(|span| !faults.is_at(&span)) {
        let span = top.place("inputs").unwrap_or(0..0);
        faults.add(Code::BadValue, span, "`inputs` names no file", "inputs = [\"runs/*.jsonl\"]");
    }
    for field in ["subject", "task"] {
        let written = top.text(field, &mut faults);
        if let Some(fault) =
            written.filter(|it| it.starts_with('$')).and_then(|it| FieldPath::parse(&it).err())
        {
            let span = top.place(field).unwrap_or(0..0);
            let help = format!("expected {}; a path looks like $.agent.name", fault.expected);
            faults.add(Code::BadValue, span, format!("`{field}` is not a path"), &help);
        }
    }
    let filters = top.parsed("where", &mut faults, |text| text.parse::<Filter>());
    let rename = top.parsed("rename", &mut faults, |text| text.parse::<Rename>());
    let as_of = top.parsed("as_of", &mut faults, |text| text.parse::<AsOf>()).into_iter().next();
    let gates = gates(&top, &mut faults);
    if !faults.found.is_empty() {
        faults.found.sort_by_key(|fault| fault.span.start);
        return Err(faults.found);
    }
    let from_here = |path: &String| -> String {
        if path.is_empty() || folder.as_os_str().is_empty() {
            path.clone()
        } else {
            folder.join(path).display().to_string()
        }
    };
    let mut unheard = Faults { text, found: Vec::new() };
    Ok(Project {
        path: String::new(),
        card: card
            .map(|card| if released(&card).is_some() { card } else { from_here(&card) })
            .unwrap_or_default(),
        inputs: inputs.iter().map(from_here).collect(),
        baseline: top.texts("baseline", &mut unheard).iter().map(from_here).collect(),
        history: top.texts("history", &mut unheard).iter().map(from_here).collect(),
        items: Items {
            fields: Fields {
                subject_field: top.text("subject", &mut unheard),
                task_field: top.text("task", &mut unheard),
            },
            rename,
            filters,
            as_of,
            ..Items::default()
        },
        gate: gates,
    })
}

fn gates(top: &Table<'_, '_>, faults: &mut Faults<'_>) -> Gate {
    top.texts("baseline", faults);
    top.texts("history", faults);
    let mut gates = Gate { quarantine: quarantine(top, faults), ..Gate::default() };
    if let Some(tasks) = top.table("tasks", "[tasks]", faults) {
        tasks.check_keys(&["pass", "version"], faults);
        gates.tasks = Tasks {
            pass: tasks.points("pass", faults),
            version: tasks.text("version", faults),
            ..Tasks::default()
        };
    }
    let Some(gate) = top.table("gate", "[gate]", faults) else { return gates };
    gate.check_keys(&GATE_KEYS, faults);
    if let Some(least) = gate.points("fail_under", faults) {
        gates.floors.fail_under.push(Floor { dimension: None, least });
    }
    if let Some(dimensions) = gate.table("dimensions", "[gate.dimensions]", faults) {
        for key in dimensions.keys() {
            let Some(least) = dimensions.points(&key, faults) else { continue };
            if least > Decimal::ONE {
                let percent = least.millionths() as f64 / 1e8;
                let help = if least <= Decimal::from_millionths(100_000_000) {
                    format!("write {percent} for {} %", percent * 100.0)
                } else {
                    String::from("expected a number such as 0.99")
                };
                let span = dimensions.place(&key).unwrap_or(0..0);
                faults.add(Code::BadValue, span, "the value of a dimension is 0 to 1", &help);
                continue;
            }
            gates.floors.fail_under.push(Floor { dimension: Some(key), least });
        }
    }
    let on = match gate.text("on", faults).as_deref() {
        None => None,
        Some("mean") => Some(On::Mean),
        Some("low") => Some(On::Low),
        Some(other) => {
            let help = "expected \"mean\", or \"low\", the lower end of the interval";
            faults.add(Code::BadValue, gate.place("on").unwrap_or(0..0), format!("`on` is `{other}`"), help);
            None
        }
    };
    gates.floors.on = on.unwrap_or_default();
    gates.floors.subject = gate.texts("subjects", faults);
    gates.fail_if_worse = gate.margin("fail_if_worse", faults);
    gates.strict = gate.flag("strict", faults).unwrap_or(false);
    if let Some(written) = gate.text("attempts", faults) {
        gates.attempts = (written == "first").then_some(Attempts::First);
        if gates.attempts.is_none() {
            let span = gate.place("attempts").unwrap_or(0..0);
            let help = "expected \"first\": the first attempt of each task counts alone";
            faults.add(Code::BadValue, span, format!("`attempts` is `{written}`"), help);
        }
    }
    if gates.strict && gate.place("fail_if_worse").is_none() {
        let help = "fail_if_worse = 2, the points by which it may be worse";
        let span = gate.place("strict").unwrap_or(0..0);
        faults.add(Code::MissingField, span, "`strict` needs `fail_if_worse`", help);
    }
    if on.is_some() && gates.floors.fail_under.is_empty() {
        let span = gate.place("on").unwrap_or(0..0);
        faults.add(Code::MissingField, span, "`on` needs a floor", "fail_under = 80, or [gate.dimensions]");
    }
    if gates.fail_if_worse.is_some() && top.place("baseline").is_none() {
        let span = gate.place("fail_if_worse").unwrap_or(0..0);
        let help = "name the file of the run to compare with, above [gate]: baseline = \"baseline.jsonl\"";
        faults.add(Code::MissingField, span, "`fail_if_worse` needs `baseline`", help);
    }
    for (field, what) in [("items", "[gate.items]"), ("standing", "[gate.standing]")] {
        let Some(table) = gate.table(field, what, faults) else { continue };
        table.check_keys(&["fail_under"], faults);
        let floor = table.points("fail_under", faults);
        if field == "items" { gates.item_floor = floor } else { gates.standing_floor = floor }
    }
    if gates.standing_floor.is_some() && top.place("as_of").is_none() {
        let span = gate.place("standing").unwrap_or(0..0);
        let help = "give the moment, above [gate]: as_of = \"2026-01-31T12:00:00Z\"";
        faults.add(Code::MissingField, span, "an official score needs `as_of`", help);
    }
    gates.trend = gate.table("trend", "[gate.trend]", faults).map(|table| trend(&table, faults));
    gates
}

fn trend(table: &Table<'_, '_>, faults: &mut Faults<'_>) -> Trend {
    table.check_keys(&["run", "subjects", "baseline", "direction", "level"], faults);
    let mut asked = Trend {
        run: table.text("run", faults),
        subject: table.texts("subjects", faults),
        ..Trend::default()
    };
    if let Some(runs) = table.points("baseline", faults) {
        asked.baseline = usize::try_from(runs.millionths() / 1_000_000).unwrap_or_default();
        if asked.baseline == 0 || runs != Decimal::from_millionths(asked.baseline as i64 * 1_000_000) {
            let span = table.place("baseline").unwrap_or(0..0);
            let help =
                "expected the number of runs, from the first on, that are known to be alike, such as 3";
            faults.add(Code::BadValue, span, "`baseline` is not a number of runs", help);
        }
    }
    if let Some(direction) = table.parsed("direction", faults, direction).into_iter().next() {
        asked.direction = direction;
    }
    if let Some(share) = table.points("level", faults) {
        let span = table.place("level").unwrap_or(0..0);
        match level(&share.to_string()) {
            Ok(level) => asked.about.sure.confidence.level = level,
            Err(why) => faults.add(Code::BadValue, span, format!("`level` is {share}"), &why),
        }
    }
    asked
}

fn quarantine(top: &Table<'_, '_>, faults: &mut Faults<'_>) -> Vec<Quarantine> {
    const EXAMPLE: &str =
        "task = \"checkout-7\", reason = \"the shop answers at random\", until = \"2026-12-31\"";
    let Some(value) = top.value("quarantine") else { return Vec::new() };
    let several = value.get_ref().as_array().into_iter().flat_map(|all| all.iter());
    let only = Some(value).filter(|value| !value.get_ref().is_array());
    let mut found: Vec<Quarantine> = Vec::new();
    for entry in several.chain(only) {
        let Some(table) = entry.get_ref().as_table() else {
            faults.add(
                Code::WrongType,
                entry.span(),
                "`quarantine` holds tables",
                &format!("[[quarantine]] with {EXAMPLE}"),
            );
            continue;
        };
        let table = Table { table, what: "[[quarantine]]" };
        table.check_keys(&["task", "reason", "since", "until"], faults);
        for key in ["task", "reason", "until"].into_iter().filter(|key| table.place(key).is_none()) {
            faults.add(Code::MissingField, entry.span(), format!("[[quarantine]] needs `{key}`"), EXAMPLE);
        }
        let (task, reason) = (table.text("task", faults), table.text("reason", faults));
        let (since, until) = (table.day("since", faults), table.day("until", faults));
        let (Some(task), Some(reason), Some(until)) = (task, reason, until) else { continue };
        if found.iter().any(|known| known.task == task) {
            let message = format!("`{}` is in quarantine twice", short(&task));
            faults.add(
                Code::BadValue,
                table.place("task").unwrap_or(0..0),
                message,
                "leave out one of the two",
            );
        }
        found.push(Quarantine { task, reason, since, until });
    }
    found
}

/// Faults of the file.
struct Faults<'t> {
    text: &'t str,
    found: Vec<Diagnostic>,
}

impl Faults<'_> {
    fn add(&mut self, code: Code, span: Range<usize>, message: impl Into<String>, help: &str) {
        // The whole file is meant by its first line.
        let span = if span == (0..0) { 0..self.text.lines().next().map_or(0, str::len) } else { span };
        let (severity, label) = (Severity::Error, String::new());
        self.found.push(Diagnostic {
            code,
            severity,
            span,
            message: message.into(),
            label,
            help: help.to_owned(),
        });
    }

    fn is_at(&self, span: &Range<usize>) -> bool {
        self.found.iter().any(|fault| span.contains(&fault.span.start))
    }
}

/// A table of the file.
struct Table<'a, 't> {
    table: &'a DeTable<'t>,
    what: &'static str,
}

impl<'a, 't> Table<'a, 't> {
    fn value(&self, key: &str) -> Option<&'a Spanned<DeValue<'t>>> {
        self.table.get(key)
    }

    fn place(&self, key: &str) -> Option<Range<usize>> {
        self.value(key).map(Spanned::span)
    }

    /// Returns whether a key is there, or one that was most likely meant to be it.
    fn is_meant(&self, key: &str) -> bool {
        self.table.contains_key(key)
            || self.table.keys().any(|other| nearest(other.get_ref(), KEYS) == Some(key))
    }

    /// Returns the keys in the order of the file.
    fn keys(&self) -> Vec<String> {
        let mut keys: Vec<_> = self.table.keys().collect();
        keys.sort_by_key(|key| key.span().start);
        keys.into_iter().map(|key| key.get_ref().to_string()).collect()
    }

    fn check_keys(&self, known: &[&str], faults: &mut Faults<'_>) {
        for key in self.table.keys().filter(|key| !known.contains(&key.get_ref().as_ref())) {
            let name = key.get_ref().replace('-', "_");
            let moved = MOVED.iter().find(|(moved, _)| self.what == "karat.toml" && *moved == name);
            let help = match (moved, renamed(&name, known.iter().copied())) {
                (Some((moved, place)), _) => format!("`{moved}` belongs into {place}"),
                (None, Some(renamed)) => renamed,
                (None, None) => match nearest(&name, known.iter().copied()) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("there are {}", known.join(", ")),
                },
            };
            let message = format!("{} has no key `{}`", self.what, key.get_ref());
            faults.add(Code::UnknownField, key.span(), message, &help);
        }
    }

    fn mismatch(&self, key: &str, expected: &str, faults: &mut Faults<'_>) {
        if let Some(value) = self.value(key) {
            let message = format!("`{key}` is {}, expected {expected}", value.get_ref().type_str());
            faults.add(Code::WrongType, value.span(), message, "");
        }
    }

    fn text(&self, key: &str, faults: &mut Faults<'_>) -> Option<String> {
        let value = self.value(key)?;
        match value.get_ref().as_str() {
            Some("") => {
                faults.add(
                    Code::BadValue,
                    value.span(),
                    format!("`{key}` is empty"),
                    "leave it out, or give it a value",
                );
                None
            }
            Some(text) => Some(text.to_owned()),
            None => {
                self.mismatch(key, "a text in quotes", faults);
                None
            }
        }
    }

    /// Reads a list of texts; one text is a list of one.
    fn texts(&self, key: &str, faults: &mut Faults<'_>) -> Vec<String> {
        let Some(value) = self.value(key) else { return Vec::new() };
        let Some(list) = value.get_ref().as_array() else {
            if value.get_ref().is_str() {
                return self.text(key, faults).into_iter().collect();
            }
            self.mismatch(key, "a text or a list of texts", faults);
            return Vec::new();
        };
        let mut texts = Vec::new();
        for element in list {
            match element.get_ref().as_str().filter(|text| !text.is_empty()) {
                Some(text) => texts.push(text.to_owned()),
                None => faults.add(Code::WrongType, element.span(), format!("`{key}` holds texts"), ""),
            }
        }
        texts
    }

    fn parsed<T, E: std::fmt::Display>(
        &self,
        key: &str,
        faults: &mut Faults<'_>,
        parse: impl Fn(&str) -> Result<T, E>,
    ) -> Vec<T> {
        let mut all = Vec::new();
        for text in self.texts(key, faults) {
            match parse(&text) {
                Ok(value) => all.push(value),
                Err(why) => {
                    let span = self.place(key).unwrap_or(0..0);
                    faults.add(Code::BadValue, span, format!("`{key}` is `{text}`"), &why.to_string());
                }
            }
        }
        all
    }

    fn flag(&self, key: &str, faults: &mut Faults<'_>) -> Option<bool> {
        let flag = self.value(key)?.get_ref().as_bool();
        if flag.is_none() {
            self.mismatch(key, "true or false", faults);
        }
        flag
    }

    fn points(&self, key: &str, faults: &mut Faults<'_>) -> Option<Decimal> {
        let value = self.value(key)?;
        let text = match value.get_ref() {
            DeValue::Integer(whole) => whole.as_str().to_owned(),
            DeValue::Float(float) => float.as_str().to_owned(),
            _ => {
                self.mismatch(key, "a number without quotes", faults);
                return None;
            }
        };
        match points(&text.replace('_', "")) {
            Ok(points) => Some(points),
            Err(why) => {
                faults.add(Code::BadValue, value.span(), format!("`{key}` is {text}"), &why);
                None
            }
        }
    }

    /// Reads a day, with quotes or without, as its midnight in UTC.
    fn day(&self, key: &str, faults: &mut Faults<'_>) -> Option<Timestamp> {
        let value = self.value(key)?;
        let text = match value.get_ref() {
            DeValue::Datetime(day) => day.to_string(),
            _ => self.text(key, faults)?,
        };
        let day = Timestamp::parse(&format!("{text}T00:00:00Z"));
        if day.is_err() {
            faults.add(
                Code::BadValue,
                value.span(),
                format!("`{key}` is `{text}`"),
                "expected a day: \"2026-12-31\"",
            );
        }
        day.ok()
    }

    /// Reads points, or `true` for none.
    fn margin(&self, key: &str, faults: &mut Faults<'_>) -> Option<Decimal> {
        match self.value(key)?.get_ref().as_bool() {
            Some(true) => Some(Decimal::ZERO),
            Some(false) => None,
            None => self.points(key, faults),
        }
    }

    fn table(&self, key: &str, what: &'static str, faults: &mut Faults<'_>) -> Option<Table<'a, 't>> {
        let value = self.value(key)?;
        let table = value.get_ref().as_table();
        if table.is_none() {
            self.mismatch(key, &format!("the table {what}"), faults);
        }
        table.map(|table| Table { table, what })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn faults(text: &str) -> Vec<String> {
        let found = read(text, Path::new("")).err().unwrap_or_default();
        let line = |fault: &Diagnostic| text[..fault.span.start].matches('\n').count() + 1;
        found.iter().map(|fault| format!("{}: {}: {}", line(fault), fault.message, fault.help)).collect()
    }

    const WHOLE: &str = r#"
card     = "card.toml"
inputs   = ["runs/*.jsonl", "more.csv"]
subject  = "$.agent.name"
task     = "case"
baseline = "baseline.jsonl"
history  = ["nights/*.jsonl"]
where    = ["domain=shop"]
rename   = ["old=new"]
as_of    = "2026-01-31T12:00:00Z"

[gate]
fail_under    = 80
on            = "low"
subjects      = ["bot"]
fail_if_worse = 2.5
strict        = true
dimensions    = { safety = 0.99 }
items         = { fail_under = 10 }
standing      = { fail_under = 70 }

[gate.trend]
run       = "night"
subjects  = "bot"
baseline  = 3
direction = "either"
level     = 0.99

[tasks]
pass    = 50
version = "commit"

[[quarantine]]
task   = "pay"
reason = "the shop answers at random"
since  = 2026-01-01
until  = "2026-02-28"
"#;

    #[test]
    fn every_key_is_read_and_paths_are_those_of_the_folder() {
        let project = read(WHOLE, Path::new("../..")).unwrap();
        assert_eq!(project.card, "../../card.toml");
        assert_eq!(project.inputs, ["../../runs/*.jsonl", "../../more.csv"]);
        assert_eq!(project.baseline, ["../../baseline.jsonl"]);
        assert_eq!(project.history, ["../../nights/*.jsonl"]);
        assert_eq!(
            (project.items.fields.subject_field.as_deref(), project.items.fields.task_field.as_deref()),
            (Some("$.agent.name"), Some("case"))
        );
        let items = project.items;
        assert_eq!((items.filters.len(), items.rename.len(), items.as_of.is_some()), (1, 1, true));
        let gates = project.gate;
        assert_eq!((gates.floors.fail_under.len(), gates.floors.on, gates.strict), (2, On::Low, true));
        assert_eq!(gates.fail_if_worse, Some(Decimal::from_millionths(2_500_000)));
        assert_eq!(gates.item_floor, Some(Decimal::from_millionths(10_000_000)));
        assert_eq!(gates.standing_floor, Some(Decimal::from_millionths(70_000_000)));
        let trend = gates.trend.unwrap();
        assert_eq!(
            (trend.run.as_deref(), trend.baseline, trend.direction.name()),
            (Some("night"), 3, "either")
        );
        assert_eq!((trend.subject, trend.about.sure.confidence.level), (vec![String::from("bot")], 0.99));
        assert_eq!((gates.tasks.pass.is_some(), gates.tasks.version.as_deref()), (true, Some("commit")));
        let day = |day: &str| Timestamp::parse(&format!("{day}T00:00:00Z")).unwrap();
        let pay = Quarantine {
            task: String::from("pay"),
            reason: String::from("the shop answers at random"),
            since: Some(day("2026-01-01")),
            until: day("2026-02-28"),
        };
        assert_eq!(gates.quarantine, [pay]);
        assert_eq!(read("card = \"workflow\"\ninputs = \"a\"", Path::new("x")).unwrap().card, "workflow");
    }

    #[test]
    fn every_fault_is_told_with_its_line_and_a_hint() {
        let text = "\
crad = \"x\"
inputs = [1]
fail-under = 3
subject = \"$..a\"
as_of = \"soon\"
[gate]
fail_under = \"80\"
on = \"high\"
strict = true
fail_if_worse = -1
dimensions = { safety = 95 }
[gate.items]
least = 3
[gate.trend]
baseline = 1.5
direction = \"down\"
level = 95
[[quarantine]]
task = \"a\"
until = \"soon\"
[[quarantine]]
task = \"b\"
reason = \"r\"
until = \"2026-02-30\"
";
        let expected = [
            "1: karat.toml has no key `crad`: did you mean `card`?",
            "2: `inputs` holds texts",
            "3: karat.toml has no key `fail-under`: `fail_under` belongs into [gate]",
            "4: `subject` is not a path: expected a name",
            "5: `as_of` is `soon`: ",
            "7: `fail_under` is string, expected a number without quotes",
            "8: `on` is `high`: expected \"mean\"",
            "10: `fail_if_worse` is -1: points are not negative",
            "11: the value of a dimension is 0 to 1: write 0.95 for 95 %",
            "13: [gate.items] has no key `least`: there are fail_under",
            "15: `baseline` is not a number of runs: expected the number of runs",
            "16: `direction` is `down`: expected decline",
            "17: `level` is 95: ",
            "18: [[quarantine]] needs `reason`: task = ",
            "20: `until` is `soon`: expected a day",
            "24: `until` is ",
        ];
        let found = faults(text);
        assert_eq!(found.len(), expected.len(), "{found:#?}");
        for (found, expected) in found.iter().zip(expected) {
            assert!(found.starts_with(expected), "{found}: {expected}");
        }
        let old = faults("card = \"a\"\ninputs = \"b\"\ntask_field = \"c\"");
        assert_eq!(old, ["3: karat.toml has no key `task_field`: `task_field` is `task` now"]);
        assert_eq!(faults("card = \"a\"\ninputs = []").len(), 1);
        assert_eq!(faults("card = ").len(), 1);
    }

    proptest! {
        /// A file with some lines changed is read or refused, and each fault has a place in the text.
        #[test]
        fn no_text_stops_the_reader(at in 0usize..400, bytes in "[\\[\\]=\"'{}.a-z0-9\n -]{0,12}") {
            let at = (0..=at.min(WHOLE.len())).rev().find(|at| WHOLE.is_char_boundary(*at)).unwrap_or(0);
            let text = format!("{}{bytes}{}", &WHOLE[..at], &WHOLE[at..]);
            if let Err(found) = read(&text, Path::new("")) {
                prop_assert!(!found.is_empty());
                prop_assert!(found.iter().all(|fault| fault.span.end <= text.len() && !fault.message.is_empty()));
            }
        }
    }
}
