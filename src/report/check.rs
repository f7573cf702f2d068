//! The report of the check of a project: a test case for each gate, then what the leaderboard and the comparison say.

use super::{Case, CaseResult, Column, Finding, Level, Report, Sheet, Value};
use crate::answers::check::{AskedGate, ProjectCheck};
use crate::answers::comparison::{ComparedPair, ComparisonAnswer};
use crate::gate::Failing;
use crate::text::count;

/// Returns the report of a check. `failing` are the subjects below a floor, and `failed` says why the gate of a pair fails.
#[must_use]
pub fn check(
    answer: &ProjectCheck,
    failing: &[Failing],
    failed: &dyn Fn(&ComparedPair) -> Option<String>,
) -> Report {
    let board = super::leaderboard(&answer.leaderboard, failing);
    let compared = answer.comparison.as_ref().map(|compared| match compared {
        ComparisonAnswer::Pair(answer) => super::comparison(answer, failed),
        ComparisonAnswer::Several(answer) => super::comparisons(answer, failed),
    });
    let mut report = Report {
        title: title(&answer.gates),
        sheets: vec![gates(&answer.gates)],
        cases: answer.gates.iter().map(case).collect(),
        findings: answer.gates.iter().flat_map(findings).collect(),
        ..Report::default()
    };
    let notes = answer.notes.iter().map(|note| Finding::new(Level::Warning, "check", note.clone()));
    report.findings.extend(notes);
    for part in [Some(board), compared].into_iter().flatten() {
        let Report { title, lines, sheets, cases, findings } = part;
        // The scorecard is named already.
        let lines = [title].into_iter().chain(lines);
        let new: Vec<String> =
            lines.filter(|line| !report.lines.iter().any(|known| known.starts_with(line))).collect();
        report.lines.extend(new);
        report.sheets.extend(sheets);
        report.cases.extend(cases);
        // The sentence of a gate is there already.
        let is_new = |it: &Finding| !answer.gates.iter().any(|gate| gate.failures.contains(&it.text));
        report.findings.extend(findings.into_iter().filter(is_new));
    }
    report.findings.sort_by_key(|finding| finding.level);
    report
}

fn title(gates: &[AskedGate]) -> String {
    match gates.iter().filter(|gate| !gate.passed).count() {
        _ if gates.is_empty() => String::from("karat check: no gate"),
        0 => format!("karat check: {} passed", count(gates.len(), "gate")),
        failed => format!("karat check: {failed} of {} failed", count(gates.len(), "gate")),
    }
}

fn gates(gates: &[AskedGate]) -> Sheet {
    let row = |gate: &AskedGate| {
        vec![
            Value::Text(gate.gate.clone()),
            Value::Flag(gate.passed),
            Value::Count(gate.status.into()),
            Value::of_text((!gate.passed).then(|| gate.failures.join("; "))),
        ]
    };
    Sheet {
        caption: String::from("gates"),
        columns: vec![
            Column::text("gate"),
            Column::text("passed"),
            Column::number("status").hidden(),
            Column::text("failures").labelled("why it fails"),
        ],
        rows: gates.iter().map(row).collect(),
    }
}

fn case(gate: &AskedGate) -> Case {
    let why = || gate.failures.join("\n");
    let result = match gate.status {
        _ if gate.passed => CaseResult::Passed,
        AskedGate::UNDECIDED => CaseResult::Error(why()),
        _ => CaseResult::Failed(why()),
    };
    Case {
        class: String::from("gate"),
        name: gate.gate.clone(),
        result,
        seconds: None,
        place: None,
        output: Vec::new(),
    }
}

fn findings(gate: &AskedGate) -> Vec<Finding> {
    let level = if gate.status == AskedGate::UNDECIDED { Level::Warning } else { Level::Error };
    gate.failures.iter().map(|line| Finding::new(level, "gate", line.clone())).collect()
}
