//! Evidence of an agent from JSON, and everything that can be wrong with it, each with its path.

use std::collections::{BTreeMap, BTreeSet};

use karat_core::timestamp::Timestamp;

use super::evidence::{
    AgentEvidence, Bond, CONTROLS, Category, Check, Declaration, Incident, Memory, Method, Runtime, TaskClass,
};
use super::jury;
use super::problems::{found, required, within};
use karat_evidence::json::problem::{Problem, Problems, did_you_mean, quoted};

impl AgentEvidence {
    /// Reads the evidence of one agent and checks it.
    ///
    /// # Errors
    ///
    /// If a text is not JSON or not of this shape: the first place where it is not; else everything that
    /// [`check`](Self::check) finds.
    pub fn from_json(text: &[u8]) -> Result<Self, Problems> {
        let mut parser = serde_json::Deserializer::from_slice(text);
        let evidence: Self = serde_path_to_error::deserialize(&mut parser).map_err(|error| {
            let path = error.path().to_string();
            misshapen(&path, error.inner())
        })?;
        parser.end().map_err(|error| misshapen(".", &error))?;
        let problems = evidence.check();
        if problems.is_empty() { Ok(evidence) } else { Err(problems) }
    }

    /// Returns everything that cannot be right: a number out of its range, a name that means two things or nothing, a
    /// result that contradicts another. The same item given twice is allowed.
    pub fn check(&self) -> Problems {
        let mut problems = Problems::default();
        let all = &mut problems;
        required(&self.agent_id, "$.agent_id", all);
        check_classes(&self.task_classes, all);
        for (path, declaration) in once(&self.declarations, "$.declarations", |it| &it.id, all) {
            check_declaration(declaration, &path, all);
        }
        let classes: BTreeSet<&str> = self.task_classes.iter().map(|class| class.name.as_str()).collect();
        let mut checks: BTreeMap<&str, (&str, &Check)> = BTreeMap::new();
        for (path, evaluation) in once(&self.evaluations, "$.evaluations", |it| &it.id, all) {
            required(&evaluation.runner.id, &format!("{path}.runner.id"), all);
            for (path, check) in once(&evaluation.checks, &format!("{path}.checks"), |it| &it.id, all) {
                check_check(check, &path, &classes, all);
                let other = checks.insert(&check.id, (&evaluation.id, check));
                // Within one evaluation it has been reported already.
                if other.is_some_and(|(other, _)| other != evaluation.id) {
                    let found = format!("{} of another evaluation", quoted(&check.id));
                    let expected = "an id that no other check of the agent has";
                    all.refuse(format!("{path}.id"), found, expected, "");
                }
            }
        }
        self.check_verdicts(&checks, all);
        check_bond(&self.bond, all);
        for (path, incident) in once(&self.incidents, "$.incidents", |it| &it.id, all) {
            check_incident(incident, &path, all);
        }
        check_memory(&self.memory, all);
        for (path, work) in once(&self.collaborations, "$.collaborations", |it| &it.id, all) {
            required(&work.counterparty, &format!("{path}.counterparty"), all);
            part(work.handoffs_accepted, work.handoffs, &format!("{path}.handoffs_accepted"), all);
            part(work.commitments_on_time, work.commitments, &format!("{path}.commitments_on_time"), all);
            if let Some(rating) = work.peer_rating {
                within(rating, 0.0, 1.0, &format!("{path}.peer_rating"), all);
            }
        }
        problems
    }

    fn check_verdicts(&self, checks: &BTreeMap<&str, (&str, &Check)>, all: &mut Problems) {
        let mut judges = BTreeSet::new();
        for (path, row) in once(&self.verdicts, "$.verdicts", |it| &it.id, all) {
            jury::check(&row.verdict, &path, all);
            let place = format!("{path}.check");
            match checks.get(row.check.as_str()) {
                None => unknown(&row.check, &place, "the id of a check", checks.keys().copied(), all),
                Some((_, check)) if check.method != Method::Jury => {
                    let found = format!("{}, which no jury decides", quoted(&row.check));
                    all.refuse(place, found, "a check with a jury", "give the check `\"method\": \"jury\"`");
                }
                Some(_) if !judges.insert((&row.check, &row.verdict.judge)) => {
                    all.add(|| jury::twice(&path, &row.verdict.judge));
                }
                Some(_) => {}
            }
        }
    }
}

/// Returns the problem of a text that lacks the shape of evidence.
fn misshapen(path: &str, error: &serde_json::Error) -> Problem {
    let mut path = if path == "." { "$".to_owned() } else { format!("$.{}", short(path)) };
    let text = error.to_string();
    let message = text.rsplit_once(" at line ").map_or(text.as_str(), |(message, _)| message);
    let field = |text: &str| text.split('`').nth(1).unwrap_or_default().to_owned();
    let (found_text, expected) =
        message.split_once(", expected ").unwrap_or((message, "evidence of an agent"));
    let (found_text, expected) = if found_text.starts_with("missing field") {
        path = format!("{path}.{}", field(found_text));
        ("nothing".to_owned(), "a value".to_owned())
    } else if found_text.starts_with("duplicate field") {
        path = format!("{path}.{}", field(found_text));
        ("the field twice".to_owned(), "every field once".to_owned())
    } else {
        let plain =
            ["invalid type: ", "invalid value: "].iter().find_map(|start| found_text.strip_prefix(start));
        (short(plain.unwrap_or(found_text)), in_words(expected))
    };
    let (line, column) = (Some(error.line() as u64), Some(error.column() as u64));
    Problem { line, column, ..found(&path, found_text, expected) }
}

/// Returns the beginning of a text that may hold whatever the evidence holds.
fn short(text: &str) -> String {
    const SHOWN: usize = 120;
    let plain = |c: char| if karat_core::diagnostic::steers_terminal(c) { '\u{fffd}' } else { c };
    let cut = if text.chars().nth(SHOWN).is_some() { "…" } else { "" };
    text.chars().take(SHOWN).map(plain).chain(cut.chars()).collect()
}

fn in_words(expected: &str) -> String {
    match expected {
        "f64" => "a number",
        "u64" | "u32" => "a whole number not below 0",
        "a string" => "a text",
        "a sequence" => "an array",
        _ if expected.starts_with("struct ") => "an object",
        _ => expected,
    }
    .to_owned()
}

/// Returns the items of a list, each once, with its path. The same item again is passed over; another one of the same
/// name is a problem.
fn once<'a, T: PartialEq>(
    list: &'a [T],
    path: &str,
    id: fn(&T) -> &String,
    problems: &mut Problems,
) -> Vec<(String, &'a T)> {
    once_by("id", list, path, id, problems)
}

/// Does the same where items have their name in `field`.
fn once_by<'a, T: PartialEq>(
    field: &str,
    list: &'a [T],
    path: &str,
    id: fn(&T) -> &String,
    problems: &mut Problems,
) -> Vec<(String, &'a T)> {
    let mut known: BTreeMap<&str, &T> = BTreeMap::new();
    let mut items = Vec::new();
    for (at, item) in list.iter().enumerate() {
        let path = format!("{path}[{at}]");
        match known.insert(id(item), item) {
            Some(first) if first == item => continue,
            Some(_) => {
                let found = format!("{} of another item", quoted(id(item)));
                let hint = "a correction is a separate item";
                problems.refuse(format!("{path}.{field}"), found, "its own id", hint);
            }
            None => required(id(item), &format!("{path}.{field}"), problems),
        }
        items.push((path, item));
    }
    items
}

/// Refuses a name that is not one of the known ones.
fn unknown<'a>(
    name: &str,
    path: &str,
    expected: &str,
    known: impl IntoIterator<Item = &'a str>,
    all: &mut Problems,
) {
    /// More are not looked at: a hint is not worth the time of comparing with everything.
    const COMPARED: usize = 200;
    let hint = || did_you_mean(name, known.into_iter().take(COMPARED));
    all.add(|| Problem::at(path, quoted(name), expected, hint()));
}

fn positive(number: Option<f64>, path: &str, problems: &mut Problems) {
    if let Some(number) = number.filter(|&number| !(number > 0.0 && number.is_finite())) {
        problems.refuse(path, quoted(&number.to_string()), "a number above 0", "");
    }
}

/// Refuses a part that is larger than its whole, and a whole that a double may not hold.
fn part(part: u64, whole: u64, path: &str, problems: &mut Problems) {
    const EXACT: u64 = 1 << 53;
    if part > whole || whole > EXACT {
        let expected = format!("a count of at most {}", whole.min(EXACT));
        problems.refuse(path, format!("{part} of {whole}"), expected, "");
    }
}

fn not_before(later: Option<Timestamp>, earlier: Timestamp, path: &str, problems: &mut Problems) {
    if later.is_some_and(|later| later < earlier) {
        problems.refuse(path, "a moment before the item's own `time`", "a later one", "");
    }
}

fn check_classes(classes: &[TaskClass], all: &mut Problems) {
    for (path, class) in once_by("name", classes, "$.task_classes", |it| &it.name, all) {
        positive(class.latency_budget_seconds, &format!("{path}.latency_budget_seconds"), all);
        positive(class.cost_baseline_usd, &format!("{path}.cost_baseline_usd"), all);
    }
}

fn check_declaration(declaration: &Declaration, path: &str, all: &mut Problems) {
    check_runtime(&declaration.runtime, &format!("{path}.runtime"), all);
    once_by("name", &declaration.skills, &format!("{path}.skills"), |it| &it.name, all);
}

fn check_runtime(runtime: &Runtime, path: &str, all: &mut Problems) {
    if let Some(rate) = runtime.requests_per_minute {
        within(rate, 0.0, f64::INFINITY, &format!("{path}.requests_per_minute"), all);
    }
}

fn check_check(check: &Check, path: &str, classes: &BTreeSet<&str>, all: &mut Problems) {
    required(&check.task, &format!("{path}.task"), all);
    check_class(check, &format!("{path}.class"), classes, all);
    let share = |number: Option<f64>, name: &str, all: &mut Problems| {
        if let Some(number) = number {
            within(number, 0.0, 1.0, &format!("{path}.{name}"), all);
        }
    };
    share(check.score, "score", all);
    share(check.confidence, "confidence", all);
    for (amount, name) in [(check.latency_seconds, "latency_seconds"), (check.cost_usd, "cost_usd")] {
        if let Some(amount) = amount {
            within(amount, 0.0, f64::INFINITY, &format!("{path}.{name}"), all);
        }
    }
    if let Some(observed) = &check.observed {
        check_runtime(observed, &format!("{path}.observed"), all);
        if check.category != Category::Runtime {
            let expected = "nothing, unless the category is `runtime`";
            all.refuse(format!("{path}.observed"), "a configuration", expected, "");
        }
    }
    check_result(check, path, all);
}

fn check_class(check: &Check, path: &str, classes: &BTreeSet<&str>, all: &mut Problems) {
    let class = check.class.as_deref();
    let needed = match check.category {
        Category::Harm => "the harm",
        Category::Attack => "the attack",
        Category::Skill => "the skill",
        Category::Control => "the control",
        _ => "",
    };
    match (check.category, class) {
        (_, None) if !needed.is_empty() => {
            let expected = format!("{needed} that is checked");
            all.refuse(path, "nothing", expected, "");
        }
        (Category::Control, Some(class)) if !CONTROLS.contains(&class) => {
            unknown(class, path, &format!("one of {}", CONTROLS.join(", ")), CONTROLS, all);
        }
        (Category::Task, Some(class)) if !classes.contains(class) => {
            unknown(class, path, "a class of `$.task_classes`", classes.iter().copied(), all);
        }
        (_, Some(class)) => required(class, path, all),
        (_, None) => {}
    }
}

/// Checks that exactly one thing decides a check: a flag, a score, an observation or a jury; none is needed without
/// an output.
fn check_result(check: &Check, path: &str, all: &mut Problems) {
    let results = [check.passed.is_some(), check.score.is_some(), check.observed.is_some()];
    let given = results.into_iter().filter(|&is_given| is_given).count();
    let is_jury = check.method == Method::Jury;
    if is_jury && given > 0 {
        let hint = "take the result away, or change `method`";
        all.refuse(path, "a result beside a jury", "no `passed`, `score` or `observed`", hint);
    } else if given > 1 {
        all.refuse(path, format!("{given} results"), "one of `passed`, `score` and `observed`", "");
    } else if given == 0 && !is_jury && check.completed {
        let hint = "say `\"completed\": false` if there was no output";
        all.refuse(path, "no result", "one of `passed`, `score` and `observed`", hint);
    }
    if !check.completed && (check.passed == Some(true) || check.score.is_some_and(|score| score > 0.0)) {
        all.refuse(path, "a result of a check without output", "`completed` to be true, or no result", "");
    }
}

fn check_bond(bond: &Bond, all: &mut Problems) {
    let mut deposits: BTreeMap<&str, (f64, Timestamp, Option<Timestamp>)> = BTreeMap::new();
    for (path, deposit) in once(&bond.deposits, "$.bond.deposits", |it| &it.id, all) {
        positive(Some(deposit.amount_usd), &format!("{path}.amount_usd"), all);
        not_before(deposit.withdrawn_at, deposit.time, &format!("{path}.withdrawn_at"), all);
        deposits.insert(&deposit.id, (deposit.amount_usd, deposit.time, deposit.withdrawn_at));
    }
    for (path, slash) in once(&bond.slashes, "$.bond.slashes", |it| &it.id, all) {
        positive(Some(slash.amount_usd), &format!("{path}.amount_usd"), all);
        let Some((left, posted, withdrawn)) = deposits.get_mut(slash.deposit.as_str()) else {
            let (place, known) = (format!("{path}.deposit"), deposits.keys().copied());
            unknown(&slash.deposit, &place, "the id of a deposit", known, all);
            continue;
        };
        if slash.time < *posted || withdrawn.is_some_and(|withdrawn| slash.time > withdrawn) {
            let found = "a moment at which the deposit was not posted";
            all.refuse(format!("{path}.time"), found, "one between posting and withdrawal", "");
        }
        *left -= slash.amount_usd;
        // Sums of decimals are not exact: a billionth of a dollar is not a debt.
        if *left < -1e-9 {
            let found = quoted(&slash.amount_usd.to_string());
            all.refuse(format!("{path}.amount_usd"), found, "no more than is left of the deposit", "");
        }
    }
    for (path, deal) in once(&bond.deals, "$.bond.deals", |it| &it.id, all) {
        within(deal.value_usd, 0.0, f64::INFINITY, &format!("{path}.value_usd"), all);
    }
}

fn check_incident(incident: &Incident, path: &str, all: &mut Problems) {
    not_before(incident.closed_at, incident.time, &format!("{path}.closed_at"), all);
}

fn check_memory(memory: &Memory, all: &mut Problems) {
    for (path, done) in once(&memory.completed_tasks, "$.memory.completed_tasks", |it| &it.id, all) {
        required(&done.task, &format!("{path}.task"), all);
    }
    for (path, record) in once(&memory.records, "$.memory.records", |it| &it.id, all) {
        required(&record.task, &format!("{path}.task"), all);
    }
    for (path, it) in once(&memory.retrievals, "$.memory.retrievals", |it| &it.id, all) {
        let path = format!("{path}.relevant_retrieved");
        part(it.relevant_retrieved, it.retrieved, &path, all);
        part(it.relevant_retrieved, it.relevant, &path, all);
    }
}

#[cfg(test)]
mod tests;
