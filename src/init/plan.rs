//! The plan: who is scored, on what, which fields count and how much, and what stops a release.

use karat_core::diagnostic::nearest;
use karat_core::number::Decimal;
use karat_evidence::cells;
use karat_evidence::profile::{Field, Shape};

use super::data::Data;
use super::{Question, card, project, refused};
use crate::error::Error;
use crate::names::{Direction, OFTEN_RUNS, SUBJECTS, SUCCESS, TASKS, direction, has, is_label, place, words};
use crate::text::{clean, list};

/// Most fields that count without being asked for.
const MOST: usize = 12;
/// Most names of a list on the screen.
const NAMES: usize = 16;
/// Most different texts of a field that is kept for groups, and most of such fields.
const GROUPS: usize = 20;
const GROUP_FIELDS: usize = 4;
/// Longest text that is a name of something, in characters.
const NAME: usize = 64;
/// Numbers beyond this are not measurements that a scale fits.
const LARGEST: f64 = 1e15;

/// Plan of the files: who is scored, on what, which fields count and how much, and what stops a release.
pub struct Plan<'d> {
    pub(super) data: &'d Data,
    /// The released scorecard that fits, in place of one to write.
    pub(super) released: Option<&'static str>,
    /// The field that names the subject, if it is not `subject`.
    pub(super) subject: Option<String>,
    /// The field that names the task, if it is not `task`.
    pub(super) task: Option<String>,
    /// True if items name their task: only then a run is compared with a baseline.
    pub(super) has_task: bool,
    /// The fields that count.
    pub(super) measures: Vec<Measure<'d>>,
    /// The place of the one that decides success.
    pub(super) success: Option<usize>,
    /// The fields whose direction is not known.
    pub(super) unknown: Vec<&'d Field>,
    /// The fields that are declared and do not count.
    pub(super) kept: Vec<&'d Field>,
    /// Reasons why other fields do not count.
    pub(super) left: Vec<String>,
    /// Those of them for the screen: the fields are named like measurements, and their values do not fit.
    odd: Vec<String>,
    /// The fields that could count and are the same in every item.
    constant: Vec<Measure<'d>>,
    pub(super) gate: Gate,
}

/// A field that counts.
#[derive(Clone, Copy)]
pub(super) struct Measure<'d> {
    pub(super) field: &'d Field,
    /// The direction that is better.
    pub(super) direction: Direction,
}

/// Conditions that stop a release.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Gate {
    /// A run that is worse than the baseline.
    pub(super) is_not_worse: bool,
    /// A score below these points.
    pub(super) floor: Option<Decimal>,
}

/// Returns the name of a field as people know it: its column, without the root.
pub(super) fn column(field: &Field) -> String {
    field.path().column()
}

/// Returns whether a field says how many cases a row is a mean over.
fn is_case_count(field: &Field) -> bool {
    !field.is_nested() && column(field) == "n" && field.are_cases() && field.given() > 0
}

/// Returns whether a field beside that number says what such a row is.
fn is_role(name: &str) -> bool {
    matches!(name, "part" | "run")
}

/// Returns whether one of some fields is this one.
fn is_among<'f>(field: &Field, mut others: impl Iterator<Item = &'f Field>) -> bool {
    others.any(|other| std::ptr::eq(other, field))
}

impl<'d> Plan<'d> {
    /// Makes the plan that the prompts propose.
    ///
    /// # Errors
    /// If there is no item, no field names who is scored, or a field of the question cannot be what it should.
    pub fn new(data: &'d Data, args: &Question) -> Result<Self, Error> {
        if data.items() == 0 {
            return Err(refused("there is no item in these files").hint(
                "of a folder logs are read; tables and JSON in it are named by a pattern: karat init 'runs/*.jsonl'",
            ));
        }
        let fields = data.profile.reachable();
        let mut plan = Plan {
            data,
            released: None,
            subject: None,
            task: None,
            has_task: false,
            measures: Vec::new(),
            success: None,
            unknown: Vec::new(),
            kept: Vec::new(),
            left: Vec::new(),
            odd: Vec::new(),
            constant: Vec::new(),
            gate: Gate::default(),
        };
        let named = |name: &str, flag: &str| -> Result<&'d Field, Error> {
            find(&fields, name).ok_or_else(|| unknown_field(name, flag, &fields))
        };
        let is_plain = args.success.is_none() && args.higher.is_empty() && args.lower.is_empty();
        let solved = find(&fields, "solved").filter(|field| field.shape() == Shape::Number);
        if !data.has_own && solved.is_some() && is_plain && args.subject.is_none() && args.task.is_none() {
            plan.released = Some("run");
            plan.has_task = find(&fields, "task").is_some_and(|field| field.given() > 0);
            plan.gate = Gate { is_not_worse: plan.has_task, floor: args.fail_under };
            return Ok(plan);
        }
        // What says which rows of a mean over cases belong together is nothing to score, unless it is asked for.
        let mut counted = args.higher.iter().chain(&args.lower).chain(&args.success);
        let has_cases = fields.iter().any(|field| is_case_count(field)) && !counted.any(|name| name == "n");
        let is_role = |field: &Field| has_cases && !field.is_nested() && is_role(&column(field));
        let own: Vec<&Field> = fields.iter().copied().filter(|field| !is_role(field)).collect();
        let subject = match &args.subject {
            Some(name) => Some(fit(named(name, "--subject")?, data, "subject")?),
            None => subject(&own, data)?,
        };
        check_ids(data.profile.fields())?;
        let task = match &args.task {
            Some(name) => Some(named(name, "--task")?),
            None => task(&own, subject),
        };
        plan.subject = subject.map(written).filter(|name| name != "subject");
        plan.task = task.map(written).filter(|name| name != "task");
        plan.has_task = task.is_some();
        let names = || [subject, task].into_iter().flatten();
        let is_taken = |field: &Field| is_among(field, names()) || column(field) == "id";
        let mut success = args.success.as_deref().map(|name| named(name, "--success")).transpose()?;
        let mut asked = Vec::new();
        for (names, flag, better) in
            [(&args.higher, "--higher", Direction::Higher), (&args.lower, "--lower", Direction::Lower)]
        {
            for name in names {
                asked.push((named(name, flag)?, better));
            }
        }
        asked.extend(success.map(|field| (field, Direction::Higher)));
        for (field, _) in &asked {
            countable(field)?;
        }
        for name in &args.without {
            named(name, "--without")?;
        }
        let is_asked = |field: &Field| is_among(field, asked.iter().map(|(field, _)| *field));
        for field in fields.iter().copied().filter(|field| !is_taken(field)) {
            match is_role(field) && !is_asked(field) {
                true => plan.left.push(format!("{}: which part or run of the cases a row is", column(field))),
                false => plan.place(field, &asked, &args.without),
            }
        }
        if plan.measures.is_empty() {
            // Of a single run everything is the same; later runs differ from it.
            plan.measures = std::mem::take(&mut plan.constant);
            let starts: Vec<String> =
                plan.measures.iter().map(|it| format!("{}: ", column(it.field))).collect();
            plan.left.retain(|line| !starts.iter().any(|start| line.starts_with(start)));
        }
        plan.trim(&asked);
        if success.is_none() {
            let likely = |field: &&Field| 2 * field.present() >= data.profile.items();
            let higher = plan.measures.iter().filter(|it| it.direction == Direction::Higher);
            success = likeliest(higher.map(|it| it.field).filter(likely), SUCCESS);
        }
        plan.set_success(success);
        plan.keep_specials(subject, task, has_cases)?;
        plan.gate = Gate { is_not_worse: plan.has_task, floor: args.fail_under };
        Ok(plan)
    }

    /// Decides what one field is.
    fn place(&mut self, field: &'d Field, asked: &[(&Field, Direction)], without: &[String]) {
        let name = column(field);
        let is_asked = asked.iter().find(|(other, _)| std::ptr::eq(*other, field));
        if without.contains(&name) || self.data.has_logs && name.starts_with("source.") {
            return;
        }
        if let Some((_, direction)) = is_asked {
            self.measures.push(Measure { field, direction: *direction });
            return;
        }
        let mut leave = |why: &str| self.left.push(format!("{name}: {why}"));
        match field.shape() {
            Shape::Empty => {}
            Shape::Mixed | Shape::Text if 2 * field.numbers() >= field.present() && !is_label(&name) => {
                let (values, _) = field.values();
                let odd = values.iter().find(|value| cells::number(value).is_none());
                let odd = odd.map_or_else(|| String::from("others"), |value| format!("`{}`", clean(value)));
                let line = format!(
                    "{name}: {} of {} values are numbers, and {odd} is not; without it the field can count",
                    field.numbers(),
                    field.present()
                );
                self.odd.push(line.clone());
                self.left.push(line);
            }
            Shape::Mixed => {}
            Shape::Text => {
                let (values, has_more) = field.values();
                // What is another in nearly every item is the name of that item.
                let is_shared = 2 * values.len() as u64 <= field.present();
                let is_group =
                    (2..=GROUPS).contains(&values.len()) && !has_more && is_shared && !is_label(&name);
                if is_group && !field.are_times() && !field.are_outcomes() && self.kept.len() < GROUP_FIELDS {
                    self.kept.push(field);
                }
            }
            Shape::Number | Shape::Boolean => {
                if is_case_count(field) {
                    leave("how many cases a row is a mean over");
                } else if let Err(why) = scale_of(field) {
                    leave(&why);
                    let direction = direction(&name).filter(|_| is_constant(field) && !is_label(&name));
                    self.constant.extend(direction.map(|direction| Measure { field, direction }));
                } else if is_label(&name) {
                    leave("it is named like a number or a timestamp, not like a measurement");
                } else {
                    match direction(&name) {
                        Some(Direction::Lower) if field.range().is_some_and(|(low, _)| low < 0.0) => {
                            let line = format!(
                                "{name}: it has values below 0; --lower {name} takes it all the same"
                            );
                            self.odd.push(line.clone());
                            self.left.push(line);
                        }
                        Some(direction) => self.measures.push(Measure { field, direction }),
                        None => self.unknown.push(field),
                    }
                }
            }
        }
    }

    /// Leaves out what is too much to weigh by itself.
    fn trim(&mut self, asked: &[(&Field, Direction)]) {
        let mut count = 0;
        let stays = |measure: &Measure<'_>| {
            count += 1;
            count <= MOST || is_among(measure.field, asked.iter().map(|(field, _)| *field))
        };
        let (stay, go): (Vec<_>, Vec<_>) = std::mem::take(&mut self.measures).into_iter().partition(stays);
        self.measures = stay;
        let line =
            |it: &Measure<'_>| format!("{}: more than {MOST} fields are too many to weigh", column(it.field));
        self.left.extend(go.iter().map(line));
    }

    /// Declares the fields that have a name to which the reader gives a meaning, and another content.
    fn keep_specials(
        &mut self,
        subject: Option<&Field>,
        task: Option<&Field>,
        has_cases: bool,
    ) -> Result<(), Error> {
        let mut more = Vec::new();
        let fields = self.data.profile.fields().iter();
        for field in fields.filter(|field| field.given() > 0 || field.shape() == Shape::Mixed) {
            let name = column(field);
            let fits = match name.as_str() {
                _ if field.is_nested() => continue,
                "time" => field.are_times(),
                "outcome" => field.are_outcomes(),
                "n" => field.are_cases(),
                role if has_cases && is_role(role) => field.are_names(),
                "task" => field.are_names() || task.is_some(),
                _ => continue,
            };
            let counting = self.measures.iter().map(|it| it.field).chain(self.kept.iter().copied());
            if fits || is_among(field, [subject, task].into_iter().flatten().chain(counting)) {
                continue;
            }
            if field.shape() == Shape::Mixed {
                return Err(refused(format!("the field `{name}` has values that karat does not read under this name"))
                    .hint("`time` is a timestamp, `task` a name, `outcome` how an item ended, `n` a number of cases, `part` and `run` beside it names")
                    .hint("give it another name in the data"));
            }
            more.push(field);
        }
        self.unknown.retain(|field| !is_among(field, more.iter().copied()));
        self.kept.append(&mut more);
        Ok(())
    }

    /// Sets the field that decides success; it counts if it did not.
    pub(super) fn set_success(&mut self, field: Option<&'d Field>) {
        self.success = None;
        let Some(field) = field else { return };
        self.unknown.retain(|other| !std::ptr::eq(*other, field));
        let found = self.measures.iter().position(|measure| std::ptr::eq(measure.field, field));
        let measure = match found {
            Some(at) => self.measures.remove(at),
            None => Measure { field, direction: Direction::Higher },
        };
        self.measures.insert(0, measure);
        self.success = Some(0);
    }

    /// Lets a field count whose direction is known now.
    pub(super) fn count(&mut self, field: &'d Field, direction: Direction) {
        self.unknown.retain(|other| !std::ptr::eq(*other, field));
        self.measures.push(Measure { field, direction });
    }

    /// Returns the released scorecard that fits, in place of one to write.
    pub fn released(&self) -> Option<&'static str> {
        self.released
    }

    /// Returns whether a run is compared with a baseline.
    pub fn has_baseline(&self) -> bool {
        self.has_task
    }

    /// Returns the text of the scorecard; `None` if a released one fits.
    ///
    /// # Errors
    /// If no field counts, or no scorecard can be written for those that do.
    pub fn card(&self) -> Result<Option<String>, Error> {
        if self.released.is_some() { Ok(None) } else { card::text(self).map(Some) }
    }

    /// Returns the text of the project file, with a file or a released scorecard as its card.
    pub fn project(&self, card: &str) -> String {
        project::text(self, self.released.unwrap_or(card))
    }

    /// Returns the plan in words, a line each.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if let Some(id) = self.released {
            lines.push(format!("scorecard: the released `{id}` fits these logs"));
        }
        let subject = self.subject.as_deref().unwrap_or("subject");
        lines.push(format!("scored: {subject}"));
        match (&self.task, self.has_task) {
            (Some(task), _) => lines.push(format!("task: {task}")),
            (None, true) => lines.push(String::from("task: task")),
            (None, false) => lines.push(String::from(
                "task: no field names it, so runs cannot be compared task by task (--task FIELD)",
            )),
        }
        for (at, measure) in self.measures.iter().enumerate() {
            let what = if self.success == Some(at) { "success" } else { "counts" };
            let way = if measure.direction == Direction::Higher { "more" } else { "less" };
            lines.push(format!("{what}: {}, {way} is better", column(measure.field)));
        }
        if self.released.is_none() && self.success.is_none() {
            lines.push(String::from("success: no field that counts says it (--success FIELD)"));
        }
        if !self.unknown.is_empty() {
            let names: Vec<String> = self.unknown.iter().map(|field| column(field)).collect();
            let names = match names.len().saturating_sub(NAMES) {
                0 => list(&names),
                more => format!(
                    "{} and {more} more",
                    names.iter().take(NAMES).cloned().collect::<Vec<_>>().join(", ")
                ),
            };
            lines.push(format!("left out: {names}: say which way is better with --higher or --lower"));
        }
        lines.extend(self.odd.iter().map(|line| format!("left out: {line}")));
        lines
    }
}

/// Finds a field by its column or its path.
pub(super) fn find<'d>(fields: &[&'d Field], name: &str) -> Option<&'d Field> {
    fields.iter().copied().find(|field| column(field) == name || field.path().to_string() == name)
}

/// Returns the refusal of a field that no item has.
fn unknown_field(name: &str, flag: &str, fields: &[&Field]) -> Error {
    let columns: Vec<String> = fields.iter().map(|field| column(field)).collect();
    let mut error = refused(format!("{flag}: no item has a field `{}`", clean(name)));
    if let Some(near) = nearest(name, columns.iter().map(String::as_str)) {
        error = error.hint(format!("did you mean `{}`?", clean(near)));
    }
    let shown: Vec<String> = columns.iter().take(NAMES).map(|name| clean(name).into_owned()).collect();
    let more = if columns.len() > NAMES { ", ..." } else { "" };
    error.hint(format!("there are: {}{more}", shown.join(", ")))
}

/// Returns the field as `karat.toml` and flags name it.
fn written(field: &Field) -> String {
    let name = column(field);
    if field.is_nested() || name.starts_with('$') { field.path().to_string() } else { name }
}

/// Checks that a field can count.
pub(super) fn countable(field: &Field) -> Result<(), Error> {
    let name = column(field);
    if !matches!(field.shape(), Shape::Number | Shape::Boolean) {
        let what = match field.shape() {
            Shape::Text => "texts",
            Shape::Empty => "no values",
            _ => "values of several types",
        };
        return Err(refused(format!("`{}` has {what}, and numbers, or true and false, count", clean(&name)))
            .hint("of a table: numbers with a decimal point, no marks between thousands, no units"));
    }
    scale_of(field).map_err(|why| refused(format!("`{}` cannot count: {why}", clean(&name))))
}

/// Checks that the values of a field differ, and are of a size that a scale fits.
fn scale_of(field: &Field) -> Result<(), String> {
    match field.range() {
        _ if field.shape() == Shape::Boolean => {
            let flags = field.values().0.iter().filter_map(|value| cells::flag(value));
            let mut flags: Vec<bool> = flags.collect();
            flags.sort_unstable();
            flags.dedup();
            if flags.len() == 2 { Ok(()) } else { Err(String::from("it is the same in every item")) }
        }
        Some((low, high)) if low == high => Err(format!("it is {low} in every item")),
        Some((low, high)) if low.abs().max(high.abs()) > LARGEST || high - low < 1.0 / LARGEST => {
            Err(String::from("its numbers are too large or too close for a scale"))
        }
        Some(_) => Ok(()),
        None => Err(String::from("it has no number")),
    }
}

/// Returns whether every item has the same value, one that a scale can begin from.
fn is_constant(field: &Field) -> bool {
    match field.range() {
        _ if field.shape() == Shape::Boolean => field.values().0.len() == 1,
        Some((low, high)) => low == high && low > 0.0 && low <= LARGEST,
        None => false,
    }
}

fn fit<'d>(field: &'d Field, data: &Data, what: &str) -> Result<&'d Field, Error> {
    let (given, items) = (field.given(), data.profile.items());
    if field.are_names() && given == items {
        return Ok(field);
    }
    let name = column(field);
    let why = if given < items {
        format!("{given} of {items} items have it")
    } else {
        String::from("it has values that are not names")
    };
    Err(refused(format!("`{}` cannot be the {what}: {why}", clean(&name)))
        .hint("a name is a text without blanks around it and without control characters, or a whole number"))
}

/// Chooses the field that names who is scored.
fn subject<'d>(fields: &[&'d Field], data: &Data) -> Result<Option<&'d Field>, Error> {
    let items = data.profile.items();
    let fits: Vec<&'d Field> =
        fields.iter().copied().filter(|field| field.are_names() && field.given() == items).collect();
    // A name that differs in every item names the item.
    let is_of_run = |field: &Field| {
        let name = words(column(field).rsplit('.').next().unwrap_or_default()).join("_");
        let (values, has_more) = field.values();
        has(OFTEN_RUNS, &name) && items > 1 && (has_more || values.len() as u64 == items)
    };
    let of_subjects = fits.iter().copied().filter(|field| !is_of_run(field));
    if let Some(field) = likeliest(of_subjects, SUBJECTS) {
        return Ok(Some(field));
    }
    let is_short = |field: &Field| field.values().0.iter().all(|value| value.chars().count() <= NAME);
    let is_plain = |field: &&&'d Field| {
        let name = column(field);
        field.shape() == Shape::Text
            && is_short(field)
            && place(&name, TASKS).is_none()
            && !matches!(name.as_str(), "id" | "time" | "outcome")
    };
    let fewest = fits
        .iter()
        .filter(is_plain)
        .filter(|field| !field.values().1)
        .min_by_key(|field| field.values().0.len());
    let id = || fits.iter().find(|field| column(field) == "id");
    let any = || fits.iter().find(|field| !matches!(column(field).as_str(), "time" | "outcome" | "n"));
    fewest.or_else(id).or_else(any).copied().map(Some).ok_or_else(|| {
        refused("no field of the data can name who is scored")
            .hint("add a column with the name of the agent or model to every row, such as `subject`")
    })
}

/// Chooses the field that names what was attempted.
fn task<'d>(fields: &[&'d Field], subject: Option<&Field>) -> Option<&'d Field> {
    let is_other = |field: &Field| !subject.is_some_and(|subject| std::ptr::eq(subject, field));
    let fits =
        fields.iter().copied().filter(|field| field.are_names() && field.given() > 0 && is_other(field));
    likeliest(fits, TASKS)
}

/// Returns the field whose name comes first in a list of likely ones.
fn likeliest<'d>(fields: impl Iterator<Item = &'d Field>, list: &str) -> Option<&'d Field> {
    fields
        .filter_map(|field| Some((place(&column(field), list)?, field)))
        .min_by_key(|(rank, _)| *rank)
        .map(|it| it.1)
}

/// Refuses ids that are not names: the reader would refuse every such item.
fn check_ids(fields: &[Field]) -> Result<(), Error> {
    let id = fields.iter().find(|field| column(field) == "id" && !field.is_nested());
    match id {
        Some(id) if !id.are_names() => Err(refused("the field `id` has values that are not names")
            .hint(
                "an id is a text without blanks around it and without control characters, or a whole number",
            )
            .hint("give the field another name in the data, or correct it")),
        _ => Ok(()),
    }
}
