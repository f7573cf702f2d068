//! The plan: who is scored, on what, which fields count and how much, and what stops a release.

use karat_core::diagnostic::nearest;
use karat_core::number::Decimal;
use karat_core::scorecard::Step;
use karat_evidence::cells;
use karat_evidence::profile::{Field, Shape};

use super::data::Data;
use super::values::{is_constant, is_endless, is_verdict, scale_of, sentinel, unread};
use super::{Question, card, project, refused};
use crate::error::Error;
use crate::names::{
    Direction, GRADES, OFTEN_RUNS, SUBJECTS, SUCCESS, TASKS, direction, has, is_benchmark, is_label,
    is_spent, is_summary, place, words,
};
use crate::text::{clean, list};

/// Most fields beside the score, and most benchmarks in it, that no one asked for.
const MOST: usize = 12;
const BENCHMARKS: usize = 100;
/// The share of the mean that success has beside what was asked for, in thousandths.
const SUCCESS_SHARE: usize = 700;
/// Most names of a list on the screen.
const NAMES: usize = 16;
/// Longest text that is a name of something, in characters.
const NAME: usize = 64;

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
    pub(super) odd: Vec<String>,
    /// True if one of those may decide success: then no other field does in its place.
    pub(super) has_doubt: bool,
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
    /// True if a person asked for it.
    pub(super) is_asked: bool,
    /// The best value, where other columns say it.
    pub(super) best: Option<f64>,
}

impl<'d> Measure<'d> {
    fn new(field: &'d Field, direction: Direction) -> Self {
        Self { field, direction, is_asked: false, best: None }
    }
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
            has_doubt: false,
            constant: Vec::new(),
            gate: Gate::default(),
        };
        let named = |name: &str, flag: &str| -> Result<&'d Field, Error> {
            find(&fields, name).ok_or_else(|| unknown_field(name, flag, &fields))
        };
        if find(&fields, "model_a").is_some() && find(&fields, "model_b").is_some() {
            let file = data.given.first().map_or("FILE", String::as_str);
            return Err(refused("these are matches of two, which are rated and not scored")
                .hint(format!("karat rate {file} --system bradley-terry")));
        }
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
            let same = std::mem::take(&mut plan.constant);
            same.into_iter().for_each(|measure| plan.take_constant(measure));
        }
        if success.is_none() {
            // Where every run succeeded, a later one may not.
            let same = || decisive(&plan.constant, data.items()).filter(|_| !plan.has_doubt);
            success = decisive(&plan.measures, data.items()).or_else(same);
        }
        if let Some(at) =
            plan.constant.iter().position(|it| success.is_some_and(|field| is_same(it.field, field)))
        {
            let measure = plan.constant.remove(at);
            plan.take_constant(measure);
        }
        plan.set_success(success);
        plan.trim();
        if asked.is_empty() && subject.is_none_or(|field| is_another_in_each(field, data)) {
            plan.count_benchmarks();
        }
        plan.share_scales();
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
            self.measures.push(Measure { is_asked: true, ..Measure::new(field, *direction) });
            return;
        }
        let is_verdict = is_verdict(field);
        let direction = if is_verdict { Some(Direction::Higher) } else { direction(&name) };
        let can_decide = is_verdict || place(&name, SUCCESS).is_some();
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
                self.doubt(line, can_decide);
            }
            Shape::Mixed => {}
            Shape::Text => {
                if let Some((why, is_of_verdicts)) = unread(field).filter(|_| !is_label(&name)) {
                    self.doubt(format!("{name}: {why}"), can_decide || is_of_verdicts);
                }
            }
            Shape::Number | Shape::Boolean => {
                if is_case_count(field) {
                    leave("how many cases a row is a mean over");
                } else if let Err(why) = scale_of(field)
                    // A benchmark that all solve alike is one of the mean all the same.
                    && !(is_benchmark(&name) && is_constant(field, true))
                {
                    leave(&why);
                    let direction = direction.filter(|_| is_constant(field, can_decide) && !is_label(&name));
                    self.constant.extend(direction.map(|direction| Measure::new(field, direction)));
                } else if is_label(&name) {
                    leave("it is named like a number or a timestamp, not like a measurement");
                } else if let Some(line) = sentinel(field).filter(|_| direction != Some(Direction::Lower)) {
                    self.doubt(format!("{name}: {line}; --higher {name} takes it as a number"), true);
                } else if is_endless(field) {
                    let why = "a rating has no end that could be 100: `karat rate` makes one of matches";
                    self.doubt(format!("{name}: {why}; --higher {name} takes it all the same"), true);
                } else {
                    match direction {
                        Some(Direction::Lower) if field.range().is_some_and(|(low, _)| low < 0.0) => {
                            let line = format!(
                                "{name}: it has values below 0; --lower {name} takes it all the same"
                            );
                            self.doubt(line, false);
                        }
                        Some(direction) => self.measures.push(Measure::new(field, direction)),
                        None => self.unknown.push(field),
                    }
                }
            }
        }
    }

    /// Leaves a field out, and says so on the screen.
    fn doubt(&mut self, line: String, can_decide: bool) {
        self.has_doubt |= can_decide;
        self.odd.push(line.clone());
        self.left.push(line);
    }

    /// Counts a field that is the same in every item.
    fn take_constant(&mut self, measure: Measure<'d>) {
        let start = format!("{}: ", column(measure.field));
        self.left.retain(|line| !line.starts_with(&start));
        self.measures.push(measure);
    }

    /// Leaves out what is too much to show by itself.
    fn trim(&mut self) {
        let mut count = 0;
        let stays = |measure: &Measure<'_>| {
            count += 1;
            count <= MOST || measure.is_asked
        };
        let (stay, go): (Vec<_>, Vec<_>) = std::mem::take(&mut self.measures).into_iter().partition(stays);
        self.measures = stay;
        let line = |it: &Measure<'_>| format!("{}: more than {MOST} fields are too many", column(it.field));
        self.left.extend(go.iter().map(line));
    }

    /// Counts the columns of a table that has one benchmark in each and one subject in a row: on one scale, all alike.
    fn count_benchmarks(&mut self) {
        let high = |field: &Field| field.range().map_or(f64::NAN, |(_, high)| high);
        let is_share = |field: &Field| field.range().is_some_and(|(low, high)| low >= 0.0 && high <= 100.0);
        let is_result = |field: &&Field| field.shape() == Shape::Number && is_share(field);
        let named = self.measures.iter().filter(|it| it.direction == Direction::Higher);
        let named: Vec<&'d Field> =
            named.map(|it| it.field).filter(|field| !is_spent(&column(field))).filter(is_result).collect();
        let all: Vec<&'d Field> = self.unknown.iter().copied().filter(is_result).chain(named).collect();
        let (summaries, all): (Vec<_>, Vec<_>) =
            all.into_iter().partition(|field| is_summary(&column(field)));
        let least = if all.iter().any(|field| is_benchmark(&column(field))) { 2 } else { 3 };
        let best = if all.iter().all(|field| high(field) <= 1.0) { 1.0 } else { 100.0 };
        // One with small numbers among percents has another scale.
        let (results, others): (Vec<_>, Vec<_>) =
            all.into_iter().partition(|field| best == 1.0 || high(field) > 10.0);
        let is_new = results.iter().any(|field| is_among(field, self.unknown.iter().copied()));
        if self.has_task
            || self.success.is_some()
            || !is_new
            || !(least..=BENCHMARKS).contains(&results.len())
        {
            return;
        }
        let is_placed =
            |field: &Field| is_among(field, results.iter().chain(&others).chain(&summaries).copied());
        self.unknown.retain(|field| !is_placed(field));
        self.measures.retain(|measure| !is_placed(measure.field));
        let counted =
            |field: &'d Field| Measure { best: Some(best), ..Measure::new(field, Direction::Higher) };
        self.measures.splice(0..0, results.iter().copied().map(counted));
        for field in &summaries {
            self.left
                .push(format!("{}: it seems to be a mean of others, which would count twice", column(field)));
        }
        let most = results.iter().map(|field| high(field)).fold(0.0, f64::max);
        for field in &others {
            let name = column(field);
            let why = format!("up to {} beside columns up to {most}", high(field));
            self.doubt(format!("{name}: {why}: on which scale? --higher {name} takes it"), false);
        }
    }

    /// Gives grades that are called alike but for a number one scale: those of several judges.
    fn share_scales(&mut self) {
        let stem = |measure: &Measure<'_>| {
            let mut words = words(&column(measure.field));
            words.retain(|word| word.parse::<u32>().is_err());
            words.iter().any(|word| has(GRADES, word)).then_some(words)
        };
        let stems: Vec<_> = self.measures.iter().map(stem).collect();
        let highs: Vec<f64> =
            self.measures.iter().map(|it| it.field.range().map_or(f64::NAN, |(_, high)| high)).collect();
        for (measure, stem) in self.measures.iter_mut().zip(&stems).filter(|(_, stem)| stem.is_some()) {
            let alike = stems.iter().zip(&highs).filter(|(other, _)| *other == stem).map(|(_, high)| *high);
            let high = alike.clone().fold(0.0, f64::max);
            let is_above_zero = measure.field.range().is_some_and(|(low, _)| low >= 0.0);
            if alike.count() > 1 && high > 5.0 && is_above_zero && measure.best.is_none() {
                measure.best = [10.0, 100.0].into_iter().find(|best| high <= *best);
            }
        }
    }

    /// Returns the shares of the mean in thousandths. What decides success is the score; what was asked for counts beside it. Where
    /// nothing decides, what was asked for counts alike, or all that says how good a result is.
    pub(super) fn weights(&self) -> Vec<usize> {
        let is_success = |at: usize| self.success == Some(at);
        let others =
            self.measures.iter().enumerate().filter(|(at, it)| it.is_asked && !is_success(*at)).count();
        let weight = |(at, measure): (usize, &Measure<'_>)| match self.success {
            Some(_) if is_success(at) => {
                if others == 0 {
                    1000
                } else {
                    SUCCESS_SHARE
                }
            }
            Some(_) if measure.is_asked => (1000 - SUCCESS_SHARE) / others.min(300),
            Some(_) => 0,
            None if others > 0 => 1000 * usize::from(measure.is_asked),
            None => 1000 * usize::from(!is_spent(&column(measure.field))),
        };
        self.measures.iter().enumerate().map(weight).collect()
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
            // The name of an object is taken by a fact that lies in it.
            let is_in = |other: &&Field| {
                let way = matches!(other.path().steps(), [Step::Member(first), _, ..] if *first == name);
                way && matches!(other.shape(), Shape::Number | Shape::Boolean | Shape::Text)
            };
            let reachable = self.data.profile.reachable();
            if let Some(inner) = reachable.into_iter().find(is_in).filter(|_| field.is_object()) {
                if !is_among(inner, self.measures.iter().map(|it| it.field)) {
                    more.push(inner);
                }
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
            None => Measure::new(field, Direction::Higher),
        };
        self.measures.insert(0, measure);
        self.success = Some(0);
    }

    /// Lets a field count whose direction is known now.
    pub(super) fn count(&mut self, field: &'d Field, direction: Direction) {
        self.unknown.retain(|other| !std::ptr::eq(*other, field));
        self.measures.push(Measure { is_asked: true, ..Measure::new(field, direction) });
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
        for (at, (measure, weight)) in self.measures.iter().zip(self.weights()).enumerate() {
            let what = match weight {
                0 => "beside the score",
                _ if self.success == Some(at) => "success",
                _ => "counts",
            };
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

/// Returns whether two fields are the same one.
fn is_same(field: &Field, other: &Field) -> bool {
    std::ptr::eq(field, other)
}

/// Returns whether a field has another value in each item.
fn is_another_in_each(field: &Field, data: &Data) -> bool {
    let (values, has_more) = field.values();
    has_more || values.len() as u64 == data.items()
}

/// Returns the field that most likely decides success, of those that at least half of the items have.
fn decisive<'d>(measures: &[Measure<'d>], items: u64) -> Option<&'d Field> {
    let likely = |it: &&Measure<'_>| it.direction == Direction::Higher && 2 * it.field.present() >= items;
    let rank = |field: &Field| {
        let by_values = || place("verdict", SUCCESS).filter(|_| is_verdict(field));
        place(&column(field), SUCCESS).or_else(by_values)
    };
    let ranked = measures.iter().filter(likely).filter_map(|it| Some((rank(it.field)?, it.field)));
    ranked.min_by_key(|(rank, _)| *rank).map(|it| it.1)
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
    let of_subjects = || fits.iter().copied().filter(|field| !is_of_run(field));
    if let Some(field) = likeliest(of_subjects(), SUBJECTS) {
        // As tables by school subject have it: each model once in each subject.
        let count = |field: &Field| field.values().0.len() as u64;
        let is_crossed = |other: &&Field| {
            let counts = [count(field), count(other)];
            counts.iter().all(|count| *count > 1) && counts[0] * counts[1] == items
        };
        let others = of_subjects().filter(|other| !is_same(other, field)).filter(is_crossed);
        let is_subject = column(field) == "subject" && likeliest(of_subjects(), TASKS).is_none();
        return Ok(likeliest(others, SUBJECTS).filter(|_| is_subject).or(Some(field)));
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
    let is_other = |field: &Field| !subject.is_some_and(|subject| is_same(subject, field));
    let fits =
        || fields.iter().copied().filter(|field| field.are_names() && field.given() > 0 && is_other(field));
    likeliest(fits(), TASKS).or_else(|| fits().find(|field| column(field) == "subject"))
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
