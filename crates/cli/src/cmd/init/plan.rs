//! The plan of `karat init`: who is scored, on what, which fields count and how much, and what stops a release.

use karat::text::{clean, list};
use karat_core::number::Decimal;
use karat_evidence::cells;
use karat_evidence::profile::{Field, Shape};

use super::data::Data;
use super::names::{Direction, OFTEN_RUNS, SUBJECTS, SUCCESS, TASKS, direction, is_label, place, words};
use crate::args::InitArgs;
use crate::failure::Failure;

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

/// The plan.
pub struct Plan<'d> {
    /// The released scorecard that fits, in place of one to write.
    pub released: Option<&'static str>,
    /// The field that names the subject, if it is not `subject`.
    pub subject: Option<String>,
    /// The field that names the task, if it is not `task`.
    pub task: Option<String>,
    /// True if items name their task.
    pub has_task: bool,
    /// The fields that count.
    pub measures: Vec<Measure<'d>>,
    /// The place of the one that decides success.
    pub success: Option<usize>,
    /// The fields whose direction is not known.
    pub unknown: Vec<&'d Field>,
    /// The fields that are declared and do not count.
    pub kept: Vec<&'d Field>,
    /// Reasons why other fields do not count.
    pub left: Vec<String>,
    /// Those of them for the screen: the fields are named like measurements, and their values do not fit.
    odd: Vec<String>,
    /// The fields that could count and are the same in every item.
    constant: Vec<Measure<'d>>,
    /// The gates.
    pub gate: Gate,
}

/// A field that counts.
#[derive(Clone, Copy)]
pub struct Measure<'d> {
    /// The field.
    pub field: &'d Field,
    /// The direction that is better.
    pub direction: Direction,
}

/// Conditions that stop a release.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Gate {
    /// A run that is worse than the baseline.
    pub is_not_worse: bool,
    /// A score below these points.
    pub floor: Option<Decimal>,
}

/// Returns the name of a field as people know it: its column, without the root.
pub fn column(field: &Field) -> String {
    field.path().column()
}

impl<'d> Plan<'d> {
    /// Makes the plan that the questions propose.
    pub fn new(data: &'d Data, args: &InitArgs) -> Result<Self, Failure> {
        let fields = data.profile.reachable();
        let mut plan = Plan {
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
        let named = |name: &str, flag: &str| -> Result<&'d Field, Failure> {
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
        let subject = match &args.subject {
            Some(name) => Some(fit(named(name, "--subject")?, data, "subject")?),
            None => subject(&fields, data)?,
        };
        check_ids(&data.profile.fields().iter().collect::<Vec<_>>())?;
        let task = match &args.task {
            Some(name) => Some(named(name, "--task")?),
            None => task(&fields, subject),
        };
        plan.subject = subject.map(written).filter(|name| name != "subject");
        plan.task = task.map(written).filter(|name| name != "task");
        plan.has_task = task.is_some();
        let is_taken = |field: &Field| {
            [subject, task].into_iter().flatten().any(|taken| std::ptr::eq(taken, field))
                || column(field) == "id"
        };
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
        for field in fields.iter().copied().filter(|field| !is_taken(field)) {
            plan.place(field, data, &asked, &args.without);
        }
        if plan.measures.is_empty() {
            // Of a single run everything is the same; later runs differ from it.
            plan.measures = std::mem::take(&mut plan.constant);
            let counts = |line: &String| {
                plan.measures
                    .iter()
                    .any(|it| line.strip_prefix(&column(it.field)).is_some_and(|it| it.starts_with(": ")))
            };
            plan.left.retain(|line| !counts(line));
        }
        plan.trim(&asked);
        if success.is_none() {
            let likely = |field: &&Field| 2 * field.present() >= data.profile.items();
            let mut ranked: Vec<(usize, &Field)> = plan
                .measures
                .iter()
                .filter(|measure| measure.direction == Direction::Higher)
                .map(|measure| measure.field)
                .filter(likely)
                .filter_map(|field| Some((place(&column(field), &SUCCESS)?, field)))
                .collect();
            ranked.sort_by_key(|(rank, _)| *rank);
            success = ranked.first().map(|(_, field)| *field);
        }
        plan.set_success(success);
        plan.keep_specials(&data.profile.fields().iter().collect::<Vec<_>>(), subject, task)?;
        plan.gate = Gate { is_not_worse: plan.has_task, floor: args.fail_under };
        Ok(plan)
    }

    /// Decides what one field is.
    fn place(&mut self, field: &'d Field, data: &Data, asked: &[(&Field, Direction)], without: &[String]) {
        let name = column(field);
        let is_asked = asked.iter().find(|(other, _)| std::ptr::eq(*other, field));
        if without.contains(&name) || !data.formats.is_empty() && name.starts_with("source.") {
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
                let is_case_count = name == "n" && field.are_cases();
                if is_case_count {
                    leave("how many cases a row is a mean over");
                } else if let Err(why) = scale_of(field) {
                    leave(&why);
                    let direction = direction(&name).filter(|_| is_constant(field) && !is_label(&name));
                    self.constant.extend(direction.map(|direction| Measure { field, direction }));
                } else if is_label(&name) {
                    leave("its name is that of a number or a moment, not of a measurement");
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
        let mut left = Vec::new();
        self.measures.retain(|measure| {
            count += 1;
            let stays = count <= MOST || asked.iter().any(|(field, _)| std::ptr::eq(*field, measure.field));
            if !stays {
                left.push(format!(
                    "{}: more than {MOST} fields are too many to weigh",
                    column(measure.field)
                ));
            }
            stays
        });
        self.left.append(&mut left);
    }

    /// Declares what has a name that the reader gives a meaning, and another content.
    fn keep_specials(
        &mut self,
        fields: &[&'d Field],
        subject: Option<&Field>,
        task: Option<&Field>,
    ) -> Result<(), Failure> {
        let counts = |field: &Field| {
            self.measures
                .iter()
                .map(|measure| measure.field)
                .chain(self.kept.iter().copied())
                .any(|it| std::ptr::eq(it, field))
        };
        let mut more = Vec::new();
        for field in fields.iter().copied().filter(|field| field.given() > 0 || field.shape() == Shape::Mixed)
        {
            let name = column(field);
            let fits = match name.as_str() {
                _ if field.is_nested() => continue,
                "time" => field.are_times(),
                "outcome" => field.are_outcomes(),
                "n" => field.are_cases(),
                "task" => field.are_names() || task.is_some(),
                _ => continue,
            };
            let is_name = [subject, task].into_iter().flatten().any(|taken| std::ptr::eq(taken, field));
            if fits || is_name || counts(field) {
                continue;
            }
            if field.shape() == Shape::Mixed {
                return Err(Failure::new(format!("the field `{name}` has values that karat does not read under this name"))
                    .help("`time` is a timestamp, `task` a name, `outcome` how an item ended, `n` a number of cases")
                    .help("give it another name in the data"));
            }
            more.push(field);
        }
        self.unknown.retain(|field| !more.iter().any(|it| std::ptr::eq(*it, *field)));
        self.kept.append(&mut more);
        Ok(())
    }

    /// Sets the field that decides success; it counts if it did not.
    pub fn set_success(&mut self, field: Option<&'d Field>) {
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
    pub fn count(&mut self, field: &'d Field, direction: Direction) {
        self.unknown.retain(|other| !std::ptr::eq(*other, field));
        self.measures.push(Measure { field, direction });
    }

    /// Returns whether a run is compared with a baseline.
    pub fn has_baseline(&self) -> bool {
        self.has_task
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
pub fn find<'d>(fields: &[&'d Field], name: &str) -> Option<&'d Field> {
    fields.iter().copied().find(|field| column(field) == name || field.path().to_string() == name)
}

/// Returns the failure to find a field.
pub fn unknown_field(name: &str, flag: &str, fields: &[&Field]) -> Failure {
    let columns: Vec<String> = fields.iter().map(|field| column(field)).collect();
    let failure = Failure::new(format!("{flag}: no item has a field `{}`", clean(name)));
    let failure = match karat_core::diagnostic::nearest(name, columns.iter().map(String::as_str)) {
        Some(near) => failure.help(format!("did you mean `{}`?", clean(near))),
        None => failure,
    };
    let shown: Vec<String> = columns.iter().take(16).map(|name| clean(name).into_owned()).collect();
    failure.help(format!("there are: {}{}", shown.join(", "), if columns.len() > 16 { ", ..." } else { "" }))
}

/// Returns the field as `karat.toml` and flags name it.
fn written(field: &Field) -> String {
    let name = column(field);
    if field.is_nested() || name.starts_with('$') { field.path().to_string() } else { name }
}

/// Checks that a field can count.
pub fn countable(field: &Field) -> Result<(), Failure> {
    let name = column(field);
    if !matches!(field.shape(), Shape::Number | Shape::Boolean) {
        let what = match field.shape() {
            Shape::Text => "texts",
            Shape::Empty => "no values",
            _ => "values of several types",
        };
        return Err(Failure::new(format!(
            "`{}` has {what}, and numbers, or true and false, count",
            clean(&name)
        ))
        .help("of a table: numbers with a decimal point, no marks between thousands, no units"));
    }
    scale_of(field).map_err(|why| Failure::new(format!("`{}` cannot count: {why}", clean(&name))))
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

fn fit<'d>(field: &'d Field, data: &Data, what: &str) -> Result<&'d Field, Failure> {
    let (given, items) = (field.given(), data.profile.items());
    if field.are_names() && given == items {
        return Ok(field);
    }
    let name = column(field);
    let why = if given < items {
        format!("{given} of {items} items have it")
    } else {
        String::from("it has values that are no names")
    };
    Err(Failure::new(format!("`{}` cannot be the {what}: {why}", clean(&name)))
        .help("a name is a text without blanks around it and without control characters, or a whole number"))
}

/// Chooses the field that names who is scored.
fn subject<'d>(fields: &[&'d Field], data: &Data) -> Result<Option<&'d Field>, Failure> {
    let items = data.profile.items();
    let fits: Vec<&'d Field> =
        fields.iter().copied().filter(|field| field.are_names() && field.given() == items).collect();
    // A name that is another in every item is that of the item.
    let is_of_run = |field: &Field| {
        let name = words(column(field).rsplit('.').next().unwrap_or_default()).join("_");
        let (values, has_more) = field.values();
        OFTEN_RUNS.contains(&name.as_str()) && items > 1 && (has_more || values.len() as u64 == items)
    };
    let mut ranked: Vec<(usize, &'d Field)> = fits
        .iter()
        .filter(|field| !is_of_run(field))
        .filter_map(|field| Some((place(&column(field), &SUBJECTS)?, *field)))
        .collect();
    ranked.sort_by_key(|(rank, _)| *rank);
    if let Some((_, field)) = ranked.first() {
        return Ok(Some(field));
    }
    let is_short = |field: &Field| field.values().0.iter().all(|value| value.chars().count() <= NAME);
    let is_plain = |field: &&&'d Field| {
        let name = column(field);
        field.shape() == Shape::Text
            && is_short(field)
            && place(&name, &TASKS).is_none()
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
        Failure::new("no field of the data can name who is scored")
            .help("add a column with the name of the agent or model to every row, such as `subject`")
    })
}

/// Chooses the field that names what was attempted.
fn task<'d>(fields: &[&'d Field], subject: Option<&Field>) -> Option<&'d Field> {
    let is_other = |field: &Field| !subject.is_some_and(|subject| std::ptr::eq(subject, field));
    let fits =
        fields.iter().copied().filter(|field| field.are_names() && field.given() > 0 && is_other(field));
    let mut ranked: Vec<(usize, &'d Field)> =
        fits.filter_map(|field| Some((place(&column(field), &TASKS)?, field))).collect();
    ranked.sort_by_key(|(rank, _)| *rank);
    ranked.first().map(|(_, field)| *field)
}

/// Refuses ids that are not names: the reader would refuse every such item.
fn check_ids(fields: &[&Field]) -> Result<(), Failure> {
    let id = fields.iter().find(|field| column(field) == "id" && !field.is_nested());
    match id {
        Some(id) if !id.are_names() => Err(Failure::new("the field `id` has values that are no names")
            .help(
                "an id is a text without blanks around it and without control characters, or a whole number",
            )
            .help("give the field another name in the data, or correct it")),
        _ => Ok(()),
    }
}
