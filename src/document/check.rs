//! The document of the check of a project: a test case for each gate, then what the leaderboard and the comparison say.

use super::{
    Case, CaseResult, Cell, Column, ComparisonView, Document, Finding, LeaderboardView, Level, Part, Table,
};
use crate::answers::check::{AskedGate, ProjectCheck};
use crate::text::{Tone, count};

/// Returns the document of a check.
pub fn check(answer: &ProjectCheck, board: LeaderboardView<'_>, view: &ComparisonView<'_>) -> Document {
    let board = super::leaderboard(&answer.leaderboard, board);
    let compared = answer.comparison.as_ref().map(|compared| super::comparison(compared, view));
    let mut document = Document {
        name: "check",
        title: title(&answer.gates),
        about: board.about.clone(),
        parts: vec![Part::Table(gates(&answer.gates))],
        cases: answer.gates.iter().map(case).collect(),
        findings: answer.gates.iter().flat_map(findings).collect(),
        ..Document::default()
    };
    document.note(Tone::Care, answer.notes.iter().cloned());
    for part in [Some(board), compared].into_iter().flatten() {
        let Document { title, lines, parts, cases, findings, .. } = part;
        // The scorecard is named already.
        let lines = [title].into_iter().chain(lines);
        let new: Vec<String> =
            lines.filter(|line| !document.lines.iter().any(|known| known.starts_with(line))).collect();
        document.lines.extend(new);
        document.parts.extend(parts);
        document.cases.extend(cases);
        // The sentence of a gate is there already.
        let is_new = |it: &Finding| !answer.gates.iter().any(|gate| gate.failures.contains(&it.text));
        document.findings.extend(findings.into_iter().filter(is_new));
    }
    document.findings.sort_by_key(|finding| finding.level);
    document
}

fn title(gates: &[AskedGate]) -> String {
    let of = |word: &str| gates.iter().filter(|gate| gate.word() == word).count();
    let all = count(gates.len(), "gate");
    match (of("failed"), of("inconclusive")) {
        _ if gates.is_empty() => String::from("karat check: no gate"),
        (0, 0) => format!("karat check: {all} passed"),
        (failed, 0) => format!("karat check: {failed} of {all} failed"),
        (0, open) => format!("karat check: {open} of {all} inconclusive"),
        (failed, open) => format!("karat check: {failed} of {all} failed, {open} inconclusive"),
    }
}

fn gates(gates: &[AskedGate]) -> Table {
    let row = |gate: &AskedGate| {
        vec![
            Cell::Text(gate.gate.clone()),
            Cell::Flag(gate.passed),
            Cell::Count(gate.status.into()),
            Cell::of_text((!gate.passed).then(|| gate.failures.join("; "))),
        ]
    };
    let columns = vec![
        Column::name("gate"),
        Column::text("passed"),
        Column::number("status").hidden(),
        Column::text("failures"),
    ];
    Table::new("Gates", columns, gates.iter().map(|gate| row(gate).into()).collect())
}

fn case(gate: &AskedGate) -> Case {
    let why = || gate.failures.join("\n");
    let result = match gate.status {
        _ if gate.passed => CaseResult::Passed,
        AskedGate::INCONCLUSIVE => CaseResult::Error(why()),
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
    let level = if gate.status == AskedGate::INCONCLUSIVE { Level::Warning } else { Level::Error };
    gate.failures.iter().map(|line| Finding::new(level, "gate", line.clone())).collect()
}
