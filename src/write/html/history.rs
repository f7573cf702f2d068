//! Values over time: one small panel for each subject, all with the same axes.

use std::collections::BTreeSet;

use karat_core::timestamp::Timestamp;
use maud::{Markup, html};

use super::chart::Chart;
use super::scale::{Scale, coordinate, written};
use super::table;
use crate::document::figure::{History, Point, Series};
use crate::document::{Cell, Column, Table};
use crate::text::count;

/// The largest number of panels drawn; a page with more is too long to read.
const MOST_PANELS: usize = 120;
/// The largest number of points listed as numbers in one figure.
const MOST_ROWS: usize = 5000;
/// A day, in milliseconds.
const DAY: i64 = 86_400_000;

/// The heights of a panel in pixels: among others, and alone.
const SMALL: f64 = 170.0;
const WIDE: f64 = 280.0;
/// The most values of a panel that say what they are under the pointer; the table has all.
const MOST_MARKS: usize = 120;
/// Up to this number panels are wide, and their values say what they are.
const MOST_MARKED: usize = 2;
/// Up to this number what is flagged is written beside it.
const MOST_WRITTEN: usize = 3;
/// The most characters of what is written there: half of a phone.
const LONG: usize = 28;

/// The axes that all panels share.
struct Axes {
    chart: Chart,
    times: Times,
    /// True if there are few panels: they are wide, and their values say what they are.
    are_few: bool,
}

/// The axis of time, or of numbers if a time is missing.
struct Times {
    has_times: bool,
    first: i64,
    last: i64,
}

/// Draws the histories of all subjects.
pub(super) fn draw(id: &str, history: &History) -> Markup {
    let (shown, hidden) = history.series.split_at(history.series.len().min(MOST_PANELS));
    let are_few = history.series.len() <= MOST_MARKED;
    let points = || shown.iter().flat_map(|series| &series.points);
    let ends = |point: &Point| point.band.map_or([None; 2], |(low, high)| [Some(low), Some(high)]);
    let values =
        points().flat_map(|point| [point.value, point.line].into_iter().chain(ends(point))).flatten();
    let height = if are_few { WIDE } else { SMALL };
    let axes = Axes {
        chart: Chart { height, up: Scale::covering(history.range, values) },
        times: Times::of(shown),
        are_few,
    };
    html! {
        p.caption id=(id) { (history.caption) }
        p.key {
            span { (sample(if are_few { html! { circle cx="12" cy="6" r="4.5" {} } } else { path("dots", "M12 6h.01") })) (history.value_label) }
            span { (sample(path("line", "M2 6H22"))) (history.line_label) }
            @if points().any(|point| point.flag.is_some()) {
                span { @if are_few { (sample(html! { circle.held cx="12" cy="6" r="4.5" {} })) } "flagged, told below" }
            }
        }
        div.panels.wide[are_few] role="group" aria-labelledby=(id) {
            @for (index, series) in shown.iter().enumerate() {
                (panel(&format!("{id}p{}", index + 1), history, series, &axes))
            }
        }
        @if !hidden.is_empty() { p.key { (format!("and {} more that are not drawn", hidden.len())) } }
        (table::behind("The values as a table", numbers(id, history, &axes.times)))
    }
}

fn sample(drawing: Markup) -> Markup {
    html! { svg aria-hidden="true" viewBox="0 0 24 12" width="24" height="12" { (drawing) } }
}

fn path(class: &str, path: &str) -> Markup {
    html! { path class=(class) d=(path) {} }
}

fn panel(id: &str, history: &History, series: &Series, axes: &Axes) -> Markup {
    let Axes { chart, times, .. } = axes;
    let all = || series.points.iter().enumerate();
    let flags: Vec<(usize, &Point, &str)> =
        all().filter_map(|(at, point)| Some((at, point, point.flag.as_deref()?))).collect();
    let marked: Vec<(usize, &Point, f64)> =
        all().filter_map(|(at, point)| Some((at, point, point.value.filter(|it| it.is_finite())?))).collect();
    let has_marks = axes.are_few;
    // The last of each stretch, so that the end is among them.
    let stretch = marked.len().div_ceil(MOST_MARKS).max(1);
    let is_marked =
        |at: usize, point: &Point| (marked.len() - at - 1).is_multiple_of(stretch) || point.flag.is_some();
    let dots = if has_marks && stretch == 1 { String::new() } else { dots(series, axes) };
    let says = |at: usize, point: &Point, value: f64| {
        let flag = point.flag.as_ref().map_or_else(String::new, |flag| format!(": {flag}"));
        let band =
            point.band.map_or_else(String::new, |band| format!(" ({})", from_to(band, history.decimals)));
        format!("{}: {}{band}{flag}", times.name(at, point), written(value, history.decimals))
    };
    html! {
        figure {
            figcaption { (series.name) }
            div.plot {
                svg role="group" aria-labelledby=(format!("{id}t {id}d")) height=(chart.height) {
                    title id=(format!("{id}t")) { (history.value_label) " of " (series.name) " over time" }
                    desc id=(format!("{id}d")) { (described(history, series, times, flags.len())) }
                    (chart.ground())
                    @if let Some((first, last)) = times.ends() {
                        (chart.below("early", 0.0, &first))
                        @if first != last { (chart.below("late", 1.0, &last)) }
                    }
                    (chart.paths(&[("band", &band(series, axes)), ("dots", &dots), ("line", &line(series, axes))]))
                    @if has_marks {
                        @for (_, (at, point, value)) in marked.iter().enumerate().filter(|(place, (_, point, _))| is_marked(*place, point)) {
                            @let class = if point.flag.is_some() { "held" } else { "" };
                            (chart.dot(class, times.place(*at, point), *value, &says(*at, point, *value)))
                        }
                    }
                    // After the values, so that they do not cross the names.
                    @for (name, value) in &history.levels { (chart.level(name, *value)) }
                    @for (number, (at, point, flag)) in flags.iter().enumerate() {
                        @let place = times.place(*at, point);
                        @let down = chart.down(point.value.or(point.line).unwrap_or_default());
                        @let class = if place > 0.5 { "flag late" } else { "flag" };
                        text class=(class) x=(Chart::across(place)) y=(coordinate(down - 9.0)) {
                            @if flags.len() <= MOST_WRITTEN && has_marks && flag.chars().count() <= LONG { (flag) } @else { (number + 1) }
                        }
                    }
                }
            }
            @if !flags.is_empty() {
                ol.flags {
                    @for (at, point, flag) in &flags { li { b { (axes.times.name(*at, point)) } " " (flag) } }
                }
            }
        }
    }
}

impl Times {
    fn of(series: &[Series]) -> Self {
        let points = || series.iter().flat_map(|series| &series.points);
        let longest = series.iter().map(|series| series.points.len()).max().unwrap_or(0);
        let times: Option<Vec<i64>> = points().map(|point| Some(point.time?.milliseconds)).collect();
        match times.filter(|times| !times.is_empty()) {
            Some(times) => Self {
                has_times: true,
                first: times.iter().copied().min().unwrap_or(0),
                last: times.iter().copied().max().unwrap_or(0),
            },
            None => {
                Self { has_times: false, first: 1, last: i64::try_from(longest).unwrap_or(i64::MAX).max(1) }
            }
        }
    }

    /// Returns the position of a point, from 0 to 1; in the middle if the axis has one position only.
    fn place(&self, at: usize, point: &Point) -> f64 {
        let here = match point.time {
            Some(time) if self.has_times => time.milliseconds,
            _ => i64::try_from(at + 1).unwrap_or(i64::MAX),
        };
        let span = self.last.saturating_sub(self.first);
        if span == 0 { 0.5 } else { here.saturating_sub(self.first) as f64 / span as f64 }
    }

    /// Returns the name of a point: its time, or its number.
    fn name(&self, at: usize, point: &Point) -> String {
        match point.time {
            Some(time) if self.has_times => self.short(&time.to_string()),
            _ => (at + 1).to_string(),
        }
    }

    /// Returns the day, with the time of day if the whole axis is short.
    fn short(&self, time: &str) -> String {
        let is_short = self.last.saturating_sub(self.first) < 2 * DAY;
        let day = crate::headline::day(time);
        match time.get(11..16).filter(|_| is_short) {
            Some(clock) => format!("{day}, {clock}"),
            None => day,
        }
    }

    /// Returns the labels at the two ends of the axis.
    fn ends(&self) -> Option<(String, String)> {
        let written = |end: i64| match self.has_times {
            true => self.short(&Timestamp { milliseconds: end }.to_string()),
            false => end.to_string(),
        };
        (self.first <= self.last).then(|| (written(self.first), written(self.last)))
    }
}

/// Draws a dot for every value.
fn dots(series: &Series, axes: &Axes) -> String {
    let values = series.points.iter().enumerate().filter_map(|(at, point)| {
        let value = point.value.filter(|value| value.is_finite())?;
        Some(Chart::pair(axes.times.place(at, point), axes.chart.down(value)))
    });
    let places: BTreeSet<String> = values.collect();
    places.into_iter().map(|place| format!("M{place}h.01")).collect()
}

/// Draws what the line may be as an area: along the high ends, and back along the low ones.
fn band(series: &Series, axes: &Axes) -> String {
    let places = series.points.iter().enumerate().filter_map(|(at, point)| {
        let (low, high) = point.band.filter(|(low, high)| low.is_finite() && high.is_finite())?;
        let pair = |value| Chart::pair(axes.times.place(at, point), axes.chart.down(value));
        Some((pair(low), pair(high)))
    });
    let (lows, highs): (Vec<String>, Vec<String>) = places.unzip();
    if lows.len() < 2 {
        return String::new();
    }
    let back: Vec<String> = lows.into_iter().rev().collect();
    format!("M{}L{}Z", highs.join("L"), back.join("L"))
}

fn from_to((low, high): (f64, f64), decimals: usize) -> String {
    format!("{} to {}", written(low, decimals), written(high, decimals))
}

/// Draws the line, with a gap where it has no value.
fn line(series: &Series, axes: &Axes) -> String {
    let mut path = String::new();
    let mut before: Option<String> = None;
    for (at, point) in series.points.iter().enumerate() {
        let value = point.line.filter(|value| value.is_finite());
        let place = value.map(|value| Chart::pair(axes.times.place(at, point), axes.chart.down(value)));
        match &place {
            Some(place) if before.is_none() => path.push_str(&format!("M{place}")),
            Some(next) if before != place => path.push_str(&format!("L{next}")),
            _ => {}
        }
        before = place;
    }
    path
}

/// Describes the panel in a sentence or two, for readers who cannot see it.
fn described(history: &History, series: &Series, times: &Times, flagged: usize) -> String {
    let finite = |value: &f64| value.is_finite();
    let values: Vec<f64> = series.points.iter().filter_map(|point| point.value).filter(finite).collect();
    let Some(last) = values.last() else { return String::from("No values.") };
    let text = |value: f64| written(value, history.decimals);
    let lowest = values.iter().copied().fold(f64::INFINITY, f64::min);
    let highest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut summary = format!(
        "{} from {} to {}, the last {}.",
        count(values.len(), "value"),
        text(lowest),
        text(highest),
        text(*last)
    );
    if let (Some((at, first)), Some(end)) = (series.points.iter().enumerate().next(), series.points.last()) {
        let (first, end) = (times.name(at, first), times.name(series.points.len() - 1, end));
        summary.push_str(&format!(" First {first}, last {end}."));
    }
    if let Some(line) = series.points.iter().rev().find_map(|point| point.line) {
        summary.push_str(&format!(" {}: {} at the end.", history.line_label, text(line)));
    }
    if flagged > 0 {
        summary.push_str(&format!(" {flagged} flagged."));
    }
    summary
}

/// Returns the values as rows: all of them, or the last of each subject if there are too many.
fn numbers(id: &str, history: &History, times: &Times) -> Markup {
    let all: usize = history.series.iter().map(|series| series.points.len()).sum();
    let each = if all <= MOST_ROWS { all } else { (MOST_ROWS / history.series.len().max(1)).max(1) };
    let caption = match all <= MOST_ROWS {
        true => history.caption.clone(),
        false => format!("{}: the last {each} of each subject, {all} in all", history.caption),
    };
    let text =
        |value: Option<f64>| Cell::Text(value.map_or_else(String::new, |it| written(it, history.decimals)));
    let row = |name: &str, at: usize, point: &Point| {
        vec![
            Cell::text(name),
            Cell::Text(point.time.map_or_else(|| (at + 1).to_string(), |time| time.to_string())),
            text(point.value),
            text(point.line),
            Cell::of_text(point.band.map(|band| from_to(band, history.decimals))),
            Cell::Text(point.flag.clone().unwrap_or_default()),
        ]
        .into()
    };
    let rows = history.series.iter().flat_map(|series| {
        let points = series.points.iter().enumerate().skip(series.points.len().saturating_sub(each));
        points.map(|(at, point)| row(&series.name, at, point))
    });
    let columns = vec![
        Column::name("subject"),
        Column::text(if times.has_times { "time" } else { "number" }),
        Column::number("").labelled(&history.value_label),
        Column::number("").labelled(&history.line_label),
        Column::text("range")
            .shown_if(history.series.iter().flat_map(|it| &it.points).any(|it| it.band.is_some())),
        Column::text("flag"),
    ];
    table::draw(&format!("{id}n"), &Table::new(caption, columns, rows.collect()))
}
