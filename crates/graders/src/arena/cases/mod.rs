//! The reader of case files: hidden cases in TOML, everything that is wrong with them at once.

mod compare;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::members::{Member, Members};
use crate::execution::{Case, CaseReport, Compare, Run, Verdict, is_label};
use crate::quality::json as strict;
use karat_evidence::json::problem::{Problems, quoted};
use karat_evidence::json::toml;

/// A file of cases.
#[derive(Debug, Clone, PartialEq)]
pub struct CaseFile {
    cases: Vec<Case>,
    counts: Vec<Count>,
}

/// The weight of a case, and the group without which it counts nothing.
#[derive(Debug, Clone, PartialEq)]
struct Count {
    weight: f64,
    group: Option<String>,
}

/// Most bytes of the name of a case.
const NAME_MAX_BYTES: usize = 100;
/// The largest whole number that is compared exactly: doubles are compared.
const EXACT: u64 = (1 << 53) - 1;

impl CaseFile {
    /// Most bytes of a file of cases.
    pub const MAX_BYTES: usize = 1 << 20;
    /// Most cases of a file.
    pub const MAX_CASES: usize = 1000;

    /// Reads a file of cases.
    ///
    /// # Errors
    ///
    /// If something is wrong with it: everything, with lines and columns.
    pub fn parse(text: &str) -> Result<Self, Problems> {
        let mut problems = Problems::default();
        let tables = toml::read(text, |_| true, &mut problems)?;
        let read = read(&tables, &mut problems);
        let read = read.filter(|_| problems.is_empty());
        read.ok_or_else(|| toml::located(text, &problems).in_order())
    }

    /// Returns the cases in the order of the file.
    pub fn cases(&self) -> &[Case] {
        &self.cases
    }

    /// Returns the weighted mean of the cases, 0 to 1, from their verdicts in the same order. In a group that counts only as a
    /// whole, one failure is a failure of all.
    pub fn value(&self, reports: &[CaseReport]) -> f64 {
        let broken: BTreeSet<&str> = self
            .counts
            .iter()
            .enumerate()
            .filter(|(at, _)| reports.get(*at).is_none_or(|report| report.verdict != Verdict::Pass))
            .filter_map(|(_, count)| count.group.as_deref())
            .collect();
        let (mut sum, mut weights) = (0.0, 0.0);
        for (at, count) in self.counts.iter().enumerate() {
            let value = reports.get(at).map_or(0.0, |report| report.value);
            let is_broken = count.group.as_deref().is_some_and(|group| broken.contains(group));
            sum += if is_broken { 0.0 } else { value * count.weight };
            weights += count.weight;
        }
        if weights > 0.0 { (sum / weights).clamp(0.0, 1.0) } else { 0.0 }
    }
}

fn read(tables: &Value, problems: &mut Problems) -> Option<CaseFile> {
    let file = Members::of(tables, "$", problems)?;
    file.refuse_unknown(&["function", "compare", "all_or_nothing", "case"], problems);
    let function = file.get("function").and_then(|function| read_function(&function, problems));
    let compare = file.get("compare").map(|compare| Compare::read(&compare, problems));
    let whole: Vec<Member<'_>> =
        file.get("all_or_nothing").and_then(|list| list.elements(problems)).unwrap_or_default();
    let whole: BTreeMap<&str, Member<'_>> =
        whole.into_iter().filter_map(|group| Some((group.text(problems)?, group))).collect();
    let list = file.require("case", "cases: `[[case]]`", problems)?;
    let elements = list.elements(problems)?;
    if elements.is_empty() || elements.len() > CaseFile::MAX_CASES {
        list.refuse(&format!("1 to {} cases", CaseFile::MAX_CASES), "", problems);
    }
    let defaults = Defaults {
        has_function: file.get("function").is_some(),
        function,
        // A file whose comparison is refused has no other one.
        compare: compare.unwrap_or_else(|| Some(Compare::exact())),
    };
    let mut names = BTreeSet::new();
    let mut groups = BTreeSet::new();
    let (mut cases, mut counts) = (Vec::new(), Vec::new());
    for element in &elements {
        let Some((case, weight, group)) = read_case(element, &defaults, &mut names, problems) else {
            continue;
        };
        groups.extend(group.clone());
        let group = group.filter(|group| whole.contains_key(group.as_str()));
        cases.push(case);
        counts.push(Count { weight, group });
    }
    // Where a case was refused, these may only follow from that.
    if cases.len() == elements.len() {
        for (_, group) in whole.iter().filter(|(name, _)| !groups.contains(**name)) {
            group.refuse("the `group` of a case", "", problems);
        }
        if !counts.is_empty() && counts.iter().map(|count| count.weight).sum::<f64>() <= 0.0 {
            list.refuse("cases whose weights sum to more than 0", "", problems);
        }
    }
    Some(CaseFile { cases, counts })
}

/// The fields of a file that stand for those which a case leaves out.
struct Defaults {
    has_function: bool,
    function: Option<String>,
    compare: Option<Compare>,
}

fn read_case<'a>(
    element: &Member<'a>,
    defaults: &Defaults,
    names: &mut BTreeSet<&'a str>,
    problems: &mut Problems,
) -> Option<(Case, f64, Option<String>)> {
    const KNOWN: [&str; 11] = [
        "name", "group", "weight", "compare", "function", "args", "args_json", "expect", "expect_json",
        "stdin", "expect_stdout",
    ];
    let case = element.members(problems)?;
    case.refuse_unknown(&KNOWN, problems);
    let name = case
        .require("name", "the name of the case", problems)
        .and_then(|name| read_name(&name, names, problems));
    let group = case.get("group").map(|group| read_label(&group, problems));
    let weight = case.get("weight");
    let weight =
        weight.map_or(Some(1.0), |weight| weight.number(0.0, 1000.0, "a number from 0 to 1000", problems));
    let own = case.get("compare").map(|compare| Compare::read(&compare, problems));
    let (run, expect, path, compare) = match case.get("stdin") {
        Some(stdin) => {
            for name in ["function", "args", "args_json", "expect", "expect_json"] {
                if let Some(member) = case.get(name) {
                    let path = &member.path;
                    let found = format!("`{name}` beside `stdin`");
                    problems.refuse(path, found, "a call or a program", "make two cases of it");
                }
            }
            let stdin = stdin.text(problems).map(str::to_owned);
            let expected = "the text that the program has to write";
            let expect = case.require("expect_stdout", expected, problems);
            let expect = expect.and_then(|expect| Some((expect.text(problems)?.to_owned(), expect.path)));
            let (expect, path) = expect.map(|(text, path)| (Value::from(text), path)).unzip();
            // The file and its calls are compared alike.
            (
                stdin.map(|stdin| Run::Program { stdin }),
                expect,
                path,
                own.unwrap_or_else(|| Some(Compare::tokens())),
            )
        }
        None => {
            if let Some(member) = case.get("expect_stdout") {
                let found = "`expect_stdout` without `stdin`".to_owned();
                problems.refuse(&member.path, found, "`stdin`, or `expect` for a call", "");
            }
            let call = read_call(&case, defaults, problems);
            let expect = read_value(&case, "expect", "what the call has to return", problems);
            let (expect, path) = expect.unzip();
            (call, expect, path, own.unwrap_or_else(|| defaults.compare.clone()))
        }
    };
    if let (Some(value), Some(path), Some(compare)) = (&expect, path, &compare) {
        inexact(value, &path, problems);
        compare.check(&Member { value, path }, problems);
    }
    let group = group.map_or(Some(None), |group| group.map(Some))?;
    Some((Case { name: name?, run: run?, expect: expect?, compare: compare? }, weight?, group))
}

fn read_call(case: &Members<'_>, defaults: &Defaults, problems: &mut Problems) -> Option<Run> {
    let function = match case.get("function") {
        Some(function) => read_function(&function, problems),
        None if defaults.has_function => defaults.function.clone(),
        None => {
            let expected = "the `function` to call, here or for the whole file; or `stdin` for a program";
            case.require("function", expected, problems);
            None
        }
    };
    let args = read_value(case, "args", "the arguments, as an array", problems);
    let (args, path) = args?;
    let Value::Array(args) = args else {
        Member { value: &args, path }.refuse("an array of the arguments", "", problems);
        return None;
    };
    Some(Run::Call { function: function?, args })
}

/// Reads a value that stands as TOML under `name`, or as JSON under `name_json`, which has `null` as well.
fn read_value(
    case: &Members<'_>,
    name: &str,
    expected: &str,
    problems: &mut Problems,
) -> Option<(Value, String)> {
    let json = format!("{name}_json");
    match (case.get(name), case.get(&json)) {
        (Some(_), Some(other)) => {
            let found = format!("`{json}` beside `{name}`");
            problems.refuse(&other.path, found, "one of them", "leave one of them out");
            None
        }
        (Some(value), None) => Some((value.value.clone(), value.path)),
        (None, Some(text)) => match strict::parse(text.text(problems)?) {
            Ok(value) => Some((value, text.path)),
            Err(reason) => {
                problems.refuse(&text.path, reason.to_string(), "JSON that every reader reads alike", "");
                None
            }
        },
        (None, None) => {
            case.require(name, expected, problems);
            None
        }
    }
}

fn read_name<'a>(
    member: &Member<'a>,
    names: &mut BTreeSet<&'a str>,
    problems: &mut Problems,
) -> Option<String> {
    let name = read_label(member, problems)?;
    if !names.insert(member.value.as_str()?) {
        member.refuse("a name that no other case has", "", problems);
        return None;
    }
    Some(name)
}

fn read_label(member: &Member<'_>, problems: &mut Problems) -> Option<String> {
    let text = member.text(problems)?;
    if !is_label(text, NAME_MAX_BYTES) {
        let expected = format!("1 to {NAME_MAX_BYTES} bytes that are not blank, without control characters");
        member.refuse(&expected, "", problems);
        return None;
    }
    Some(text.to_owned())
}

/// Reads `solve` or `module.solve`.
fn read_function(member: &Member<'_>, problems: &mut Problems) -> Option<String> {
    let text = member.text(problems)?;
    let is_name = |part: &str| {
        part.starts_with(|c: char| c == '_' || c.is_alphabetic())
            && part.chars().all(|c| c == '_' || c.is_alphanumeric())
    };
    if text.len() > NAME_MAX_BYTES || !text.split('.').all(is_name) {
        problems.refuse(&member.path, quoted(text), "the name of a function: `solve`, or `module.solve`", "");
        return None;
    }
    Some(text.to_owned())
}

/// Refuses whole numbers in an expected value that a comparison of doubles would take for others.
fn inexact(value: &Value, path: &str, problems: &mut Problems) {
    let is_large = |number: &serde_json::Number| {
        number.as_u64().or(number.as_i64().map(i64::unsigned_abs)).is_some_and(|size| size > EXACT)
    };
    match value {
        Value::Number(number) if is_large(number) => {
            let found = format!("the integer `{number}`");
            let hint = "let the function return a text, or compare the number in parts";
            problems.refuse(path, found, "a whole number below 2^53, which is compared exactly", hint);
        }
        // The reader of the file limits its depth.
        Value::Array(elements) => elements.iter().for_each(|element| inexact(element, path, problems)),
        Value::Object(members) => members.values().for_each(|member| inexact(member, path, problems)),
        _ => {}
    }
}
