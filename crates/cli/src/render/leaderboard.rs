//! The leaderboard on a terminal: rank ranges, intervals as bars, letters for ties.

use std::fmt::Write as _;

use karat::answers::basis::{Basis, Estimate};
use karat::answers::leaderboard::notes::notes;
use karat::answers::leaderboard::official::Official;
use karat::answers::leaderboard::{Attempts, Leaderboard, LeaderboardAnswer, LeaderboardRow, OFFICIAL};
use karat::answers::{BridgeStep, LeaderboardMethod};
use karat::estimate::{Writing, plain, ranks};
use karat::report;
use karat::text::{Tone, clean, fit, fit_name, list, wrap};
use unicode_width::UnicodeWidthStr as _;

use super::interval::{axis, interval, span};
use crate::output::{BAR, CARE, FAINT, STRONG, style};

/// Columns and rows to lay out for.
#[derive(Debug, Clone, Copy)]
pub struct Layout {
    /// Columns.
    pub width: usize,
    /// Most rows of a leaderboard.
    pub top: usize,
}

const GAP: &str = "  ";
const TASKS: usize = 5;
/// Columns of an official score.
const OFFICIAL_COLUMNS: usize = 8;
/// Fewest columns of a rank range.
const RANK: usize = 5;
/// Columns of a value of `k` attempts.
const ATTEMPT: usize = 14;

/// Returns the heading of leaderboards, with `gaps` of the items.
pub fn head(answer: &LeaderboardAnswer, gaps: &[String], layout: Layout) -> String {
    let by = answer.leaderboards.first().map_or_else(String::new, report::by);
    heading(&answer.basis, report::has_intervals(answer), &by, gaps, layout)
}

/// Returns the heading: items, method if there are intervals from it, and `gaps` of the items.
pub fn heading(basis: &Basis, has_intervals: bool, by: &str, gaps: &[String], layout: Layout) -> String {
    let mut text = format!("{STRONG}{}{STRONG:#}  {by}\n", report::cards(basis));
    for part in wrap(&report::items(basis, has_intervals), layout.width) {
        let _ = writeln!(text, "{FAINT}{part}{FAINT:#}");
    }
    for note in gaps {
        for part in wrap(note, layout.width) {
            let _ = writeln!(text, "{CARE}{part}{CARE:#}");
        }
    }
    text
}

/// Returns one leaderboard with its notes.
pub fn board(basis: &Basis, method: LeaderboardMethod, board: &Leaderboard, layout: Layout) -> String {
    let mut text = String::new();
    if let Some(group) = &board.group {
        let _ = writeln!(text, "\n{STRONG}{}{STRONG:#}", clean(group));
    }
    text.push_str(&table(basis, board, layout));
    text.push_str(&bridge(board, Writing::of(basis.scale), layout));
    text.push_str(&extras(board, layout));
    for (tone, line) in notes(basis, method, board) {
        note(&mut text, tone, &line, layout.width);
    }
    if board.rows.iter().any(|row| row.attempts.is_some()) {
        text.push_str(&attempts(board, layout));
    }
    text
}

fn note(text: &mut String, tone: Tone, line: &str, width: usize) {
    let style = style(tone);
    for (at, part) in wrap(line, width - 4).into_iter().enumerate() {
        let _ = writeln!(text, "{}{style}{part}{style:#}", if at == 0 { "  " } else { "    " });
    }
}

fn table(basis: &Basis, board: &Leaderboard, layout: Layout) -> String {
    let writing = board.writing(basis.scale);
    let shown: Vec<&LeaderboardRow> = board.rows.iter().take(layout.top).collect();
    let widest = |of: &dyn Fn(&LeaderboardRow) -> usize, least: usize| {
        shown.iter().map(|row| of(row)).fold(least, usize::max)
    };
    let rank = widest(&|row| ranks(row.shown_ranks()).len(), RANK);
    let ties = widest(&|row| row.ties().len(), 1);
    let number = writing.width().max("score".len());
    let is_official = shown.iter().any(|row| row.official.is_some());
    let value =
        |row: &LeaderboardRow| row.mean().map_or_else(|| String::from("-"), |it| writing.number(it.mean));
    let points = |row: &LeaderboardRow| match is_official {
        true => format!("{:>OFFICIAL_COLUMNS$}{GAP}", writing.number(row.score.mean)),
        false => String::new(),
    };
    let points_head =
        if is_official { format!("{:>OFFICIAL_COLUMNS$}{GAP}", "official") } else { String::new() };
    let ends = widest(&|row| row.ends(writing).len(), "interval".len());
    let fixed = rank + ties + number + ends + TASKS + 6 * GAP.len() + points_head.len();
    let free = layout.width.saturating_sub(fixed);
    let names = widest(&|row| row.subject.width(), "subject".len());
    let subject = names.clamp(7, free.saturating_sub(14).max(12));
    let bar = free.saturating_sub(subject).clamp(8, 40);
    let axis = axis(shown.iter().filter_map(|row| row.mean()).map(span));
    let mut text = format!(
        "{FAINT}{:>rank$}{GAP}{:ties$}{GAP}{}{GAP}{points_head}{:>number$}{GAP}{}{GAP}{}{GAP}{:>TASKS$}{FAINT:#}\n",
        "rank",
        "",
        fit("subject", subject),
        if is_official { "runs" } else { "score" },
        writing.axis(&axis, bar),
        fit("interval", ends),
        "tasks"
    );
    for row in &shown {
        let _ = writeln!(
            text,
            "{:>rank$}{GAP}{FAINT}{:ties$}{FAINT:#}{GAP}{}{GAP}{STRONG}{}{STRONG:#}{:>number$}{GAP}{BAR}{}{BAR:#}{GAP}{FAINT}{}{FAINT:#}{GAP}{:>TASKS$}",
            ranks(row.shown_ranks()),
            row.ties(),
            fit_name(&row.subject, subject),
            points(row),
            value(row),
            row.mean().map_or_else(|| " ".repeat(bar), |it| interval(span(it), &axis, bar)),
            fit(&row.ends(writing), ends),
            row.tasks
        );
    }
    let more = board.rows.len() - shown.len();
    if more > 0 {
        let _ = writeln!(text, "{FAINT}and {more} more{FAINT:#}");
    }
    text
}

/// Returns the columns that were asked for, in as many tables as they need.
fn extras(board: &Leaderboard, layout: Layout) -> String {
    let shown: Vec<&LeaderboardRow> = board.rows.iter().take(layout.top).collect();
    let names = shown.iter().map(|row| row.subject.width()).max().unwrap_or(0);
    let subject = names.clamp("subject".len(), 24);
    let value = |row: &LeaderboardRow, key: &str| row.column(key).map_or_else(|| String::from("-"), plain);
    let wide = |key: &String| {
        let values = shown.iter().map(|row| value(row, key).len()).max().unwrap_or(0);
        key.width().clamp(4, layout.width.saturating_sub(subject + GAP.len()).max(4)).max(values)
    };
    let mut text = String::new();
    let mut rest = board.columns.as_slice();
    while !rest.is_empty() {
        let mut used = subject;
        let fits = rest.iter().take_while(|key| {
            used += wide(key) + GAP.len();
            used <= layout.width
        });
        let (now, later) = rest.split_at(fits.count().max(1));
        rest = later;
        let _ = write!(text, "\n{FAINT}{}", fit("subject", subject));
        for key in now {
            let _ = write!(text, "{GAP}{:>1$}", fit(key, wide(key).min(key.width())), wide(key));
        }
        let _ = writeln!(text, "{FAINT:#}");
        for row in &shown {
            let _ = write!(text, "{}", fit(&row.subject, subject));
            for key in now {
                let _ = write!(text, "{GAP}{:>1$}", value(row, key), wide(key));
            }
            text.push('\n');
        }
    }
    text
}

/// Returns the way from the mean of runs to each official score: a column for each step that changes one, or sentences if
/// the columns are too many.
fn bridge(board: &Leaderboard, writing: Writing, layout: Layout) -> String {
    const STEP: usize = 8;
    let steps = board.bridge_steps(writing);
    let shown: Vec<&LeaderboardRow> = board.rows.iter().take(layout.top).collect();
    let tier = |official: &Official| official.tier.as_deref().map(|tier| clean(tier).into_owned());
    let has_tiers = shown.iter().any(|row| row.official.as_ref().is_some_and(|it| it.tier.is_some()));
    if steps.is_empty() && !has_tiers {
        return String::new();
    }
    let number = |points: f64| writing.number(points / writing.value(1.0));
    let tiers = shown.iter().filter_map(|row| tier(row.official.as_ref()?)).map(|it| it.width()).max();
    let names = shown.iter().map(|row| row.subject.width()).max().unwrap_or(0);
    let columns = (STEP + GAP.len()) * (steps.len() + 2) + tiers.map_or(0, |tier| tier.max(4) + GAP.len());
    let free = layout.width.saturating_sub(columns);
    let mut text = String::from("\n");
    if free < names.clamp("subject".len(), 14) {
        for row in shown {
            let Some(official) = &row.official else { continue };
            let change =
                |step: &BridgeStep| Some(format!("{} {}", official.change(*step, writing)?, step.name()));
            let changes: Vec<String> = steps.iter().filter_map(change).collect();
            let runs = row.runs.map_or_else(|| String::from("-"), |runs| writing.number(runs.mean));
            let tier = tier(official).map_or_else(String::new, |tier| format!(", {tier}"));
            let line = format!(
                "{}: {runs} runs{}{} = {} official{tier}",
                clean(&row.subject),
                if changes.is_empty() { "" } else { ", " },
                changes.join(", "),
                number(official.points)
            );
            note(&mut text, Tone::Plain, &line, layout.width);
        }
        return text;
    }
    let subject = names.clamp("subject".len(), free.min(40));
    let _ = write!(text, "{FAINT}{}{GAP}{:>STEP$}", fit("subject", subject), "runs");
    for name in steps.iter().map(|step| step.name()).chain([OFFICIAL]) {
        let _ = write!(text, "{GAP}{name:>STEP$}");
    }
    let _ = writeln!(text, "{}{FAINT:#}", if has_tiers { "  tier" } else { "" });
    for row in shown {
        let Some(official) = &row.official else { continue };
        let runs = row.runs.map_or_else(|| String::from("-"), |runs| writing.number(runs.mean));
        let _ = write!(text, "{}{GAP}{runs:>STEP$}", fit(&row.subject, subject));
        for step in &steps {
            let change = official.change(*step, writing).unwrap_or_else(|| String::from("·"));
            let _ = write!(text, "{GAP}{change:>STEP$}");
        }
        let _ = write!(text, "{GAP}{STRONG}{:>STEP$}{STRONG:#}", number(official.points));
        let held = tier(official).unwrap_or_else(|| String::from("-"));
        let _ = writeln!(text, "{}", if has_tiers { format!("{GAP}{held}") } else { String::new() });
    }
    text
}

/// One of the chances at some k.
type Chance = fn(&Attempts) -> Option<&Estimate>;

/// Returns the chances of repeated attempts.
fn attempts(board: &Leaderboard, layout: Layout) -> String {
    let writing = Writing::shares();
    let names = board.rows.iter().map(|row| row.subject.width()).max().unwrap_or(0);
    let subject = names.clamp("attempts".len(), 24);
    let kind = "pass^k".len();
    let per_line = (layout.width.saturating_sub(subject + kind + 2 * GAP.len()) / ATTEMPT).max(1);
    let most = most_tried(board).max(1);
    let mut text = String::new();
    for from in (0..most).step_by(per_line) {
        let heads =
            (from..most.min(from + per_line)).map(|k| format!("{:<ATTEMPT$}", format!("k = {}", k + 1)));
        let heads = heads.collect::<String>();
        let _ = writeln!(
            text,
            "\n{FAINT}{}{GAP}{:kind$}{GAP}{}{FAINT:#}",
            fit("attempts", subject),
            "",
            heads.trim_end()
        );
        for row in board.rows.iter().take(layout.top) {
            let Some(of) = &row.attempts else { continue };
            let by_k: Vec<&Attempts> = of.iter().take(most).skip(from).take(per_line).collect();
            let kinds: [(&str, Chance); 2] =
                [("pass^k", |at| at.pass_hat.as_ref()), ("pass@k", |at| at.pass_at.as_ref())];
            for (at, (label, of)) in kinds.into_iter().enumerate() {
                let who = if at == 0 { fit(&row.subject, subject) } else { " ".repeat(subject) };
                let (mut values, mut ends) = (String::new(), String::new());
                for found in &by_k {
                    let estimate = of(found);
                    let value = estimate.map_or_else(|| String::from("-"), |it| writing.number(it.mean));
                    let _ = write!(values, "{value:<ATTEMPT$}");
                    let _ = write!(
                        ends,
                        "{:<ATTEMPT$}",
                        estimate
                            .map_or_else(String::new, |it| writing.ends(it.interval()).replace(" to ", "-"))
                    );
                }
                let _ = writeln!(text, "{who}{GAP}{label}{GAP}{}", values.trim_end());
                let ends = ends.trim_end();
                if !ends.is_empty() {
                    let indent = subject + kind + 2 * GAP.len();
                    let _ = writeln!(text, "{:indent$}{FAINT}{ends}{FAINT:#}", "");
                }
            }
        }
    }
    let meaning = String::from("pass^k: the chance that all of k attempts pass; pass@k: that one does");
    for (style, line) in [(FAINT, meaning)].into_iter().chain(left_out(board).map(|line| (CARE, line))) {
        for part in wrap(&line, layout.width - 2) {
            let _ = writeln!(text, "  {style}{part}{style:#}");
        }
    }
    text
}

/// Returns the most attempts at one task; 0 without attempts.
fn most_tried(board: &Leaderboard) -> usize {
    let tried = |of: &Vec<Attempts>| of.iter().take_while(|at| at.tasks > 0).count();
    board.rows.iter().filter_map(|row| row.attempts.as_ref()).map(tried).max().unwrap_or(0)
}

/// Returns the k at which tasks have too few attempts: they are left out there, so the numbers are about fewer tasks.
fn left_out(board: &Leaderboard) -> Option<String> {
    let all = || board.rows.iter().filter_map(|row| row.attempts.as_ref());
    let (tried, asked) = (most_tried(board), all().map(Vec::len).max().unwrap_or(0));
    let short = (0..tried).filter_map(|place| {
        let at = || all().filter_map(|of| of.get(place));
        let out: u64 = at().map(|it| it.tasks_left_out).sum();
        let all: u64 = out + at().map(|it| it.tasks).sum::<u64>();
        (out > 0).then(|| format!("{out} of {all} at k = {}", place + 1))
    });
    let beyond = (tried < asked).then(|| format!("all from k = {} on", tried + 1));
    let short: Vec<String> = short.chain(beyond).collect();
    (!short.is_empty()).then(|| {
        format!(
            "what a subject tried fewer than k times is left out, over all subjects and tasks: {}",
            list(&short)
        )
    })
}
