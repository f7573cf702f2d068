//! The leaderboard on a terminal: places, intervals as bars, letters for those who cannot be told apart.

use std::fmt::Write as _;

use karat_stats::bootstrap::Estimate;
use karat_stats::leaderboard::Row;
use unicode_width::UnicodeWidthStr as _;

use super::interval::{axis, interval, span};
use crate::output::{BAR, CARE, FAINT, STRONG, style};
use karat_report::board::attempts::{AttemptsAt, AttemptsOf};
use karat_report::board::notes::notes;
use karat_report::board::{Board, By, Settings};
use karat_report::estimate::{Writing, letter, percent, places};
use karat_report::rows::Rows;
use karat_report::rows::gaps::{all_or_nothing, gaps};
use karat_report::text::{NAMED, clean, count, fit, list, wrap};

/// Columns and rows to lay out for.
#[derive(Debug, Clone, Copy)]
pub struct Layout {
    /// Columns.
    pub width: usize,
    /// Most rows of a board.
    pub top: usize,
}

const GAP: &str = "  ";
const TASKS: usize = 5;
/// Columns of a value of `k` attempts.
const ATTEMPT: usize = 14;

/// What is ranked, and how.
pub fn head(rows: &Rows, settings: &Settings, layout: Layout) -> String {
    let mut text = String::new();
    let cards = rows.card_names();
    let shown: Vec<&str> = cards.iter().take(NAMED).map(String::as_str).collect();
    let more = if cards.len() > NAMED { " and more" } else { "" };
    let by = match settings.by {
        By::Score => "score",
        By::Dimension(at) => rows.dimensions.get(at).map_or("", |(key, _)| key.as_str()),
    };
    let _ = writeln!(text, "{STRONG}{}{more}{STRONG:#}  by {by}", list(&shown));
    let mut line = format!(
        "{} of {}; {} intervals from {} draws of tasks, seed {}",
        count(rows.rows.len(), "item"),
        count(rows.subjects.len(), "subject"),
        percent(settings.level),
        settings.plan.draws,
        settings.plan.seed
    );
    if rows.filtered > 0 {
        let _ = write!(line, "; {} left out", count(rows.filtered as usize, "item"));
    }
    if rows.repeated > 0 {
        let _ = write!(line, "; {} given again, which count once", count(rows.repeated as usize, "item"));
    }
    for part in wrap(&line, layout.width) {
        let _ = writeln!(text, "{FAINT}{part}{FAINT:#}");
    }
    let bare = all_or_nothing(rows).filter(|_| settings.by == By::Score);
    for note in gaps(rows).into_iter().chain(bare) {
        for part in wrap(&note, layout.width) {
            let _ = writeln!(text, "{CARE}{part}{CARE:#}");
        }
    }
    text
}

/// One board, and what a reader of it should know.
pub fn board(rows: &Rows, board: &Board, settings: &Settings, layout: Layout) -> String {
    let mut text = String::new();
    if let Some(group) = &board.group {
        let _ = writeln!(text, "\n{STRONG}{}{STRONG:#}", clean(group));
    }
    text.push_str(&table(rows, board, settings, layout));
    for (tone, line) in notes(rows, board, settings) {
        let style = style(tone);
        for (at, part) in wrap(&line, layout.width - 4).into_iter().enumerate() {
            let _ = writeln!(text, "{}{style}{part}{style:#}", if at == 0 { "  " } else { "    " });
        }
    }
    if !board.attempts.is_empty() {
        text.push_str(&attempts(rows, board, layout));
    }
    text
}

fn table(rows: &Rows, board: &Board, settings: &Settings, layout: Layout) -> String {
    let writing = match settings.by {
        By::Score => Writing::of(rows.scale),
        By::Dimension(_) => Writing::shares(),
    };
    let shown: Vec<&Row> = board.leaderboard.rows.iter().take(layout.top).collect();
    let widest =
        |of: &dyn Fn(&Row) -> usize, least: usize| shown.iter().map(|row| of(row)).fold(least, usize::max);
    let place = widest(&|row| places(row.rank_range).len(), "place".len());
    let group = widest(&|row| letter(row.group).len(), 1);
    let number = writing.width().max("score".len());
    let ends = widest(&|row| writing.ends(&row.estimate).len(), "interval".len());
    let fixed = place + group + number + ends + TASKS + 6 * GAP.len();
    let free = layout.width.saturating_sub(fixed);
    let names = widest(&|row| name(rows, row.subject).width(), "subject".len());
    let subject = names.clamp(7, free.saturating_sub(14).max(12));
    let bar = free.saturating_sub(subject).clamp(8, 40);
    let axis = axis(shown.iter().map(|row| span(&row.estimate)));
    let mut text = format!(
        "{FAINT}{:>place$}{GAP}{:group$}{GAP}{}{GAP}{:>number$}{GAP}{}{GAP}{}{GAP}{:>TASKS$}{FAINT:#}\n",
        "place",
        "",
        fit("subject", subject),
        "score",
        writing.axis(&axis, bar),
        fit("interval", ends),
        "tasks"
    );
    for row in &shown {
        let _ = writeln!(
            text,
            "{:>place$}{GAP}{FAINT}{:group$}{FAINT:#}{GAP}{}{GAP}{:>number$}{GAP}{BAR}{}{BAR:#}{GAP}{FAINT}{}{FAINT:#}{GAP}{:>TASKS$}",
            places(row.rank_range),
            letter(row.group),
            fit(name(rows, row.subject), subject),
            writing.number(row.estimate.mean),
            interval(span(&row.estimate), &axis, bar),
            fit(&writing.ends(&row.estimate), ends),
            row.estimate.tasks
        );
    }
    let more = board.leaderboard.rows.len() - shown.len();
    if more > 0 {
        let _ = writeln!(text, "{FAINT}and {more} more{FAINT:#}");
    }
    text
}

/// One of the chances at some k.
type Chance = fn(&AttemptsAt) -> &Option<Estimate>;

/// The chances of repeated attempts.
fn attempts(rows: &Rows, board: &Board, layout: Layout) -> String {
    let writing = Writing::shares();
    let names = board.leaderboard.rows.iter().map(|row| name(rows, row.subject).width()).max().unwrap_or(0);
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
        for row in board.leaderboard.rows.iter().take(layout.top) {
            let Some(of) = board.attempts.get(row.subject) else { continue };
            let by_k: Vec<&AttemptsAt> = of.by_k.iter().take(most).skip(from).take(per_line).collect();
            let kinds: [(&str, Chance); 2] = [("pass^k", |at| &at.pass_hat), ("pass@k", |at| &at.pass_at)];
            for (at, (label, of)) in kinds.into_iter().enumerate() {
                let who = if at == 0 { fit(name(rows, row.subject), subject) } else { " ".repeat(subject) };
                let (mut values, mut ends) = (String::new(), String::new());
                for found in &by_k {
                    let estimate = of(found).as_ref();
                    let value = estimate.map_or_else(|| String::from("-"), |it| writing.number(it.mean));
                    let _ = write!(values, "{value:<ATTEMPT$}");
                    let _ = write!(
                        ends,
                        "{:<ATTEMPT$}",
                        estimate.map_or_else(String::new, |it| writing.ends(it).replace(" to ", "-"))
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

/// The largest k for which somebody tried a task so often; 0 if nobody tried any.
fn most_tried(board: &Board) -> usize {
    let tried = |of: &AttemptsOf| of.by_k.iter().take_while(|at| at.tasks > 0).count();
    board.attempts.iter().map(tried).max().unwrap_or(0)
}

/// Says at which k tasks were tried too rarely: they are left out there, so the numbers are about fewer tasks.
fn left_out(board: &Board) -> Option<String> {
    let (tried, asked) =
        (most_tried(board), board.attempts.iter().map(|of| of.by_k.len()).max().unwrap_or(0));
    let short = (0..tried).filter_map(|place| {
        let at = || board.attempts.iter().filter_map(|of| of.by_k.get(place));
        let out: usize = at().map(|it| it.tasks_left_out).sum();
        let all: usize = out + at().map(|it| it.tasks).sum::<usize>();
        (out > 0).then(|| format!("{out} of {all} at k = {}", place + 1))
    });
    let beyond = (tried < asked).then(|| format!("all from k = {} on", tried + 1));
    let short: Vec<String> = short.chain(beyond).collect();
    (!short.is_empty()).then(|| format!("tasks tried fewer than k times are left out: {}", list(&short)))
}

fn name(rows: &Rows, subject: usize) -> &str {
    rows.subjects.get(subject).map_or("", String::as_str)
}
