//! The document of the check of a project: a test case for each gate, then what the leaderboard and the comparison say.

use super::{
    Case, CaseResult, Cell, Column, ComparisonView, Document, Finding, Kind, LeaderboardView, Level, Part,
    Row, Table,
};
use crate::answers::check::{AskedGate, ProjectCheck, QuarantinedTask};
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
    let trend = answer.trend.as_ref().map(|trend| super::trend(trend, &[]));
    let apart = quarantine(answer);
    for part in [Some(board), compared, trend, apart].into_iter().flatten() {
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

/// Returns the document of the tasks in quarantine and of those that belong there, if there are any.
pub fn quarantine(answer: &ProjectCheck) -> Option<Document> {
    let in_quarantine = |it: &QuarantinedTask| -> Row {
        let state = match (it.has_ended, it.comes_back) {
            (true, _) => Cell::Mark(Tone::Bad, "ended", "ended"),
            (false, true) => Cell::Mark(Tone::Good, "comes-back", "may come back"),
            (false, false) => Cell::Word("in-quarantine", "in quarantine"),
        };
        let changes = it.repeats.as_ref();
        vec![
            Cell::text(&it.task),
            state,
            Cell::text(&it.until),
            Cell::text(format!("{} of {}", it.passes, it.items)),
            Cell::of_text(changes.map(|it| format!("{} of {}", it.passes, it.attempts))),
            super::tasks::measured(changes.and_then(|it| it.change)),
            Cell::text(&it.reason),
        ]
        .into()
    };
    let proposed = answer.flaky.iter().map(|it| -> Row {
        let repeats = &it.repeats;
        vec![
            Cell::text(&it.task),
            Cell::Mark(Tone::Care, "proposed", "proposed"),
            Cell::Absent,
            Cell::Absent,
            Cell::text(format!("{} of {}", repeats.passes, repeats.attempts)),
            super::tasks::measured(repeats.change),
            Cell::Absent,
        ]
        .into()
    });
    let rows: Vec<Row> = answer.quarantine.iter().map(in_quarantine).chain(proposed).collect();
    let level = answer.leaderboard.basis.level;
    let columns = vec![
        Column::name("task"),
        Column::text("state"),
        Column::text("until"),
        Column::text("passes").labelled("passes in this run"),
        Column::text("history").labelled("passes of all attempts"),
        Column::new("change", Kind::Interval { sides: None, level }).labelled("chance of a change"),
        Column::text("reason"),
    ];
    let today = answer.today.as_ref().map_or_else(String::new, |day| format!(", on {day}"));
    let title = format!("Quarantine: {}{today}", count(answer.quarantine.len(), "task"));
    (!rows.is_empty()).then(|| Document {
        title,
        parts: vec![Part::Table(Table {
            is_list: true,
            ..Table::new("Tasks in quarantine or proposed for it", columns, rows)
        })],
        ..Document::default()
    })
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
