//! The account of what was executed for a match: its shape, before it goes into the record.

use karat_evidence::json::check::{Check, POINTS, UNIT};
use karat_evidence::json::document::{Node, Value};

const PATH: &str = "$.execution";

/// Checks the member `execution` of a match that was graded. Says why, where there is no verdict.
pub(super) fn read(node: Node<'_>, check: &mut Check<'_>) {
    let mut ends = Vec::new();
    for member in check.members(node) {
        match member.key() {
            "runtime" | "submission" => drop(check.filled_text(member)),
            "limits" => counts(member, &["fuel", "memory_mib", "output_kib"], check),
            "seed" => drop(check.count(member, 0.0)),
            "files" => {
                for digest in check.members(member) {
                    let _ = check.filled_text(digest);
                }
            }
            "judge" => read_judge(member, check),
            "tasks" => {
                ends.push(member);
                for task in check.elements(member) {
                    read_task(task, check);
                }
            }
            "unfit" => {
                ends.push(member);
                let _ = check.filled_text(member);
            }
            "no_verdict" => {
                ends.push(member);
                if let Some(why) = check.filled_text(member) {
                    check.note(member, format!("no verdict, and so no score: {why}"));
                }
            }
            _ => check.unknown(PATH, member),
        }
    }
    match ends.as_slice() {
        [] => check.absent(node, "tasks", "`tasks`, `unfit` or `no_verdict`"),
        [_] => {}
        [_, second, ..] => {
            check.refuse_as(*second, "a second end of the execution", "one of them", "leave one of them out");
        }
    }
}

pub(super) fn has_no_verdict(node: Node<'_>) -> bool {
    node.children().any(|member| member.key() == "no_verdict" && matches!(member.value(), Value::Text(_)))
}

fn counts(node: Node<'_>, known: &[&str], check: &mut Check<'_>) {
    for member in check.members(node) {
        if known.contains(&member.key()) {
            check.count(member, 1.0);
        } else {
            check.unknown("$.execution.limits", member);
        }
    }
}

fn read_judge(node: Node<'_>, check: &mut Check<'_>) {
    for member in check.members(node) {
        match member.key() {
            "engine" | "runtime" | "runtime_digest" | "version" => drop(check.filled_text(member)),
            _ => check.unknown("$.execution.judge", member),
        }
    }
}

fn read_task(node: Node<'_>, check: &mut Check<'_>) {
    for member in check.members(node) {
        match member.key() {
            "kind" => drop(check.one_of(member, &["cases", "suite", "script"])),
            "file" => drop(check.filled_text(member)),
            "value" => drop(check.number(member, UNIT)),
            "passed" | "fuel" => drop(check.count(member, 0.0)),
            "scores" => {
                for points in check.members(member) {
                    check.number(points, POINTS);
                }
            }
            "cases" => {
                for case in check.elements(member) {
                    read_case(case, check);
                }
            }
            _ => check.unknown("$.execution.tasks[*]", member),
        }
    }
}

fn read_case(node: Node<'_>, check: &mut Check<'_>) {
    for member in check.members(node) {
        match member.key() {
            "name" => drop(check.filled_text(member)),
            "reason" => drop(check.text(member)),
            "value" => drop(check.number(member, UNIT)),
            "verdict" => drop(check.one_of(member, &["pass", "partial", "fail"])),
            "fuel" => drop(check.count(member, 0.0)),
            "near_limit" => drop(check.flag(member)),
            _ => check.unknown("$.execution.tasks[*].cases[*]", member),
        }
    }
}
