//! The screen of ratings: a table for each pool, then what was left out, predictions, and judges beside people.

use std::fmt::Write as _;
use std::ops::RangeInclusive;

use karat_core::statistics::proportion::Proportion;
use unicode_width::UnicodeWidthStr as _;

use crate::cmd::rate::{Agreement, Board, Holdout, Intervals, Judged, Line, Report, Tally, named, told};
use crate::output::{BAR, FAINT, STRONG};
use crate::render::interval::{Span, axis, interval};
use crate::render::text::{clean, count, fit, list, wrap};

/// Blanks between two columns.
const GAP: &str = " ";
/// Columns of a name at most, and at least.
const NAME: (usize, usize) = (32, 12);
/// Columns of the bars at least.
const BARS: usize = 9;

/// The whole screen. `top` is how many rows a table has; 0 is all.
pub fn screen(report: &Report, width: usize, top: usize) -> String {
    let mut text = String::new();
    for (place, board) in report.boards.iter().enumerate() {
        if place > 0 {
            text.push('\n');
        }
        text.push_str(&table(report, board, width, top));
    }
    if let Some(agreement) = &report.agreement {
        text.push('\n');
        text.push_str(&judges(agreement, report.level, width));
    }
    for note in notes(report) {
        text.push_str(&lines(&note, width));
    }
    text
}

/// One pool.
fn table(report: &Report, board: &Board, width: usize, top: usize) -> String {
    let mut text = String::new();
    let mut about = vec![count(board.lines.len(), "competitor"), matches(board.input.matches)];
    if let Some(groups) = board.groups {
        about.push(count(groups as usize, "group"));
    }
    let title = match &board.category {
        Some(category) => format!("{}, {}", report.chosen.name(), clean(category)),
        None => report.chosen.name().to_owned(),
    };
    let _ = writeln!(text, "{STRONG}{title}{STRONG:#}  {}", about.join(", "));
    text.push_str(&lines(&told(&report.chosen.settings()), width));
    let rows = if top == 0 { board.lines.len() } else { top };
    let columns = Columns::new(board, board.lines.iter().take(rows), width);
    let _ = writeln!(text, "{FAINT}{}{FAINT:#}", columns.head());
    let mut above = None;
    for line in board.lines.iter().take(rows) {
        text.push_str(&columns.row(line, line.group != above));
        above = line.group;
    }
    let more = board.lines.len().saturating_sub(rows);
    if more > 0 {
        let _ = writeln!(text, "{FAINT}and {more} more; --top 0 shows all{FAINT:#}");
    }
    for note in about_pool(board, columns.places) {
        text.push_str(&lines(&note, width));
    }
    if let Some(holdout) = &board.holdout {
        text.push('\n');
        text.push_str(&forecasts(holdout, width));
    }
    text
}

/// How wide the columns of a table are.
struct Columns {
    has_groups: bool,
    has_intervals: bool,
    rank: usize,
    name: usize,
    /// Decimals of points.
    places: usize,
    points: usize,
    bar: usize,
    axis: RangeInclusive<f64>,
    counts: [usize; 3],
}

impl Columns {
    fn new<'l>(board: &Board, shown: impl Iterator<Item = &'l Line> + Clone, width: usize) -> Self {
        let axis = axis(shown.clone().map(|line| line.estimate.span()));
        let length = axis.end() - axis.start();
        // Some three digits tell the rows apart.
        let places = if length < 10.0 { 2 } else { usize::from(length < 100.0) };
        let text = |number: f64| format!("{number:.places$}").len();
        let ends = shown.clone().flat_map(|line| {
            let Span { low, point, high } = line.estimate.span();
            [low, point, high]
        });
        let points = ends.map(text).max().unwrap_or(0).max("rating".len());
        let widest = |count: fn(Tally) -> u64, head: &str| {
            shown.clone().map(|line| count(line.tally).to_string().len()).max().unwrap_or(0).max(head.len())
        };
        let counts =
            [widest(|it| it.won, "won"), widest(|it| it.drawn, "drawn"), widest(|it| it.lost, "lost")];
        let has_groups = board.groups.is_some();
        let has_intervals = shown.clone().any(|line| line.estimate.interval.is_some());
        let rank = shown.clone().map(|line| ranks(line).width()).max().unwrap_or(0).max("rank".len());
        let mut columns =
            Self { has_groups, has_intervals, rank, name: 0, places, points, bar: 0, axis, counts };
        let free = width.saturating_sub(columns.fixed());
        let longest = shown.map(|line| clean(&line.name).width()).max().unwrap_or(0).max("competitor".len());
        columns.name = longest.min(NAME.0).min(free.saturating_sub(BARS)).max(NAME.1);
        columns.bar = free.saturating_sub(columns.name).clamp(BARS, 40);
        columns
    }

    /// What is neither name nor bar, gaps included.
    fn fixed(&self) -> usize {
        let group = if self.has_groups { "group".len() + GAP.len() } else { 0 };
        let interval = if self.has_intervals { self.interval() + GAP.len() } else { 0 };
        let counts: usize = self.counts.iter().map(|count| count + GAP.len()).sum();
        group + self.rank + self.points + interval + counts + 3 * GAP.len()
    }

    fn interval(&self) -> usize {
        2 * self.points + " to ".len()
    }

    fn head(&self) -> String {
        let mut text = String::new();
        if self.has_groups {
            let _ = write!(text, "group{GAP}");
        }
        let _ = write!(
            text,
            "{}{GAP}{}{GAP}{:>3$}",
            fit("rank", self.rank),
            fit("competitor", self.name),
            "rating",
            self.points
        );
        if self.has_intervals {
            let _ = write!(
                text,
                "{GAP}{}",
                fit(&format!("{:>1$}", "interval", self.points + 4), self.interval())
            );
        }
        let (low, high) = (self.number(*self.axis.start()), self.number(*self.axis.end()));
        let ends = format!("{low}{:>1$}", high, self.bar.saturating_sub(low.len()));
        let [won, drawn, lost] = self.counts;
        let _ = write!(
            text,
            "{GAP}{}{GAP}{:>won$}{GAP}{:>drawn$}{GAP}{:>lost$}",
            fit(&ends, self.bar),
            "won",
            "drawn",
            "lost"
        );
        text
    }

    fn row(&self, line: &Line, leads: bool) -> String {
        let mut text = String::new();
        if self.has_groups {
            let group = line.group.filter(|_| leads).map_or(String::new(), |group| group.to_string());
            let _ = write!(text, "{STRONG}{group:>5}{STRONG:#}{GAP}");
        }
        let estimate = &line.estimate;
        let _ = write!(text, "{:>1$}{GAP}", ranks(line), self.rank);
        let _ = write!(
            text,
            "{}{GAP}{:>2$}",
            fit(&line.name, self.name),
            self.number(estimate.points),
            self.points
        );
        if self.has_intervals {
            let shown = match estimate.interval {
                Some((low, high)) => {
                    format!("{:>2$} to {:>2$}", self.number(low), self.number(high), self.points)
                }
                None => String::new(),
            };
            let _ = write!(text, "{GAP}{FAINT}{}{FAINT:#}", fit(&shown, self.interval()));
        }
        let Tally { won, drawn, lost } = line.tally;
        let [for_won, for_drawn, for_lost] = self.counts;
        let bar = interval(estimate.span(), &self.axis, self.bar);
        let _ = writeln!(
            text,
            "{GAP}{BAR}{bar}{BAR:#}{GAP}{won:>for_won$}{GAP}{drawn:>for_drawn$}{GAP}{lost:>for_lost$}"
        );
        text
    }

    fn number(&self, number: f64) -> String {
        points(number, self.places)
    }
}

/// Points with so many decimals, without a sign before zero.
fn points(number: f64, places: usize) -> String {
    let text = format!("{number:.places$}");
    match text.strip_prefix('-') {
        Some(rest) if rest.bytes().all(|byte| matches!(byte, b'0' | b'.')) => rest.to_owned(),
        _ => text,
    }
}

/// The ranks that a competitor may have; the rank by points where that is not known.
fn ranks(line: &Line) -> String {
    match line.range {
        Some(range) if range.best < range.worst => format!("{}–{}", range.best, range.worst),
        Some(range) => range.best.to_string(),
        None => line.rank.to_string(),
    }
}

fn matches(number: u64) -> String {
    format!("{number} {}", if number == 1 { "match" } else { "matches" })
}

/// A faint text in lines of at most `width` columns.
fn lines(text: &str, width: usize) -> String {
    wrap(text, width).into_iter().map(|line| format!("{FAINT}{line}{FAINT:#}\n")).collect()
}

/// What to know of one pool.
fn about_pool(board: &Board, places: usize) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(drift) = board.drift {
        let moved = points(drift.points(), places.max(1));
        notes.push(format!(
            "mean of the pool: {} points, moved by {moved}",
            points(drift.mean_after, places.max(1)),
        ));
    }
    if let Some(tie) = board.tie.filter(|tie| *tie > 0.0) {
        notes.push(format!("two of equal strength draw {} of their matches", percent(tie / (2.0 + tie))));
    }
    if !board.left_out.is_empty() {
        notes.push(format!(
            "left out, as no match compares them with the others both ways: {} in {}: {}",
            count(board.left_out.len(), "competitor"),
            matches(board.left_out_matches),
            named(&board.left_out)
        ));
    }
    if let Some(draws) = board.draws_without_fit.filter(|draws| *draws > 0) {
        notes.push(format!("{} without a fit", count(draws as usize, "draw")));
    }
    if board.input.repeated > 0 {
        notes.push(format!("rows that repeat another one, and count once: {}", board.input.repeated));
    }
    notes
}

/// What to know of all of it.
fn notes(report: &Report) -> Vec<String> {
    let level = percent(report.level);
    let mut notes = Vec::new();
    let groups = "a group cannot be told apart from its first; ranks are those that it may have";
    match report.intervals {
        Intervals::None => {
            notes.push(String::from("Elo does not say how sure it is: there are no intervals and no groups"));
        }
        Intervals::Deviation => notes.push(format!("intervals of {level} from the deviations; {groups}")),
        Intervals::Sandwich => {
            notes.push(format!("intervals of {level} by the sandwich estimator; {groups}"))
        }
        Intervals::Bootstrap { draws, seed } => {
            notes.push(format!("intervals of {level} from {draws} draws, seed {seed}; {groups}"));
        }
    }
    if report.skipped > 0 {
        notes.push(format!("rows that stand for no match: {}", report.skipped));
    }
    if report.late > 0 {
        notes.push(format!("rows that came after a later one, and were put in their place: {}", report.late));
    }
    notes
}

/// How well the last matches are predicted.
fn forecasts(holdout: &Holdout, width: usize) -> String {
    let mut skipped = Vec::new();
    for (number, why) in [
        (holdout.skipped_unknown, "with somebody new"),
        (holdout.skipped_incomparable, "between some that cannot be compared"),
    ] {
        if number > 0 {
            skipped.push(format!("{number} {why}"));
        }
    }
    let skipped = if skipped.is_empty() { String::new() } else { format!("; left out: {}", list(&skipped)) };
    let mut text = format!("{STRONG}Predicted{STRONG:#}\n");
    text.push_str(&lines(
        &format!("{} after {}{skipped}", matches(holdout.predicted), matches(holdout.trained)),
        width,
    ));
    if holdout.predicted == 0 {
        return text;
    }
    let _ = writeln!(text, "{FAINT}{} log-loss  Brier{FAINT:#}", fit("forecast", 14));
    for (name, forecast) in &holdout.forecasts {
        let _ = writeln!(text, "{} {:>8.4} {:>6.4}", fit(name, 14), forecast.log_loss, forecast.brier);
    }
    text.push_str(&lines(
        "log-loss in nats, lower is better; a coin has 0.6931, and a draw counts half",
        width,
    ));
    text
}

/// How often judges decide as people do.
fn judges(agreement: &Agreement, level: f64, width: usize) -> String {
    let among = format!("{}, one of them", agreement.people);
    let rows: Vec<(&str, &Judged)> = [(among.as_str(), &agreement.among_people)]
        .into_iter()
        .chain(agreement.judges.iter().map(|(name, judged)| (name.as_str(), judged)))
        .collect();
    let longest = rows.iter().map(|(name, _)| clean(name).width()).max().unwrap_or(0);
    let name = longest.clamp("judge".len(), width.saturating_sub(52).max(NAME.1));
    let mut text = format!("{STRONG}Judges{STRONG:#}  beside most of `{}`\n", clean(&agreement.people));
    let head = |title: &str| format!("{:>5} {:>13}", title, "");
    let _ = writeln!(
        text,
        "{FAINT}{} {:>6} {:>5} {} {}{FAINT:#}",
        fit("judge", name),
        "votes",
        "draws",
        fit(&head("same outcome"), 19),
        head("same winner").trim_end()
    );
    for (who, judged) in rows {
        let votes = judged.votes.matches();
        let draws = Proportion::new(judged.votes.drawn, votes).and_then(Proportion::share).unwrap_or(0.0);
        let _ = writeln!(
            text,
            "{} {votes:>6} {:>5} {} {}",
            fit(who, name),
            format!("{:.0}%", 100.0 * draws),
            share(judged.same.proportion(), level),
            share(judged.same_winner.proportion(), level).trim_end()
        );
    }
    text.push_str(&lines(
        &format!(
            "over {} pairs; on {} more people have no majority. Same outcome: of first, second and draw; same winner: \
             where neither is a draw. Intervals of {} (Wilson)",
            agreement.pairs - agreement.pairs_without_majority,
            agreement.pairs_without_majority,
            percent(level)
        ),
        width,
    ));
    text
}

/// A share with its interval.
fn share(proportion: Proportion, level: f64) -> String {
    match (proportion.share(), proportion.wilson(level)) {
        (Some(share), Ok(interval)) => format!(
            "{:>5} {:>13}",
            percent(share),
            format!("{:.1} to {:.1}", 100.0 * interval.low, 100.0 * interval.high)
        ),
        _ => format!("{:>5} {:>13}", "-", ""),
    }
}

fn percent(share: f64) -> String {
    let text = format!("{:.1}", 100.0 * share);
    format!("{}%", text.strip_suffix(".0").unwrap_or(&text))
}
