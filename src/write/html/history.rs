//! Values over time: one small panel for each subject, all with the same axes.

use std::collections::BTreeSet;

use karat_core::timestamp::Timestamp;
use maud::{Markup, html};

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

/// The sizes of a panel in CSS pixels.
struct Panel {
    width: f64,
    height: f64,
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
}

const SMALL: Panel = Panel { width: 340.0, height: 150.0, left: 40.0, right: 10.0, top: 8.0, bottom: 22.0 };
const WIDE: Panel = Panel { width: 760.0, height: 230.0, left: 46.0, right: 12.0, top: 10.0, bottom: 24.0 };

/// The axes that all panels share.
struct Axes {
    panel: Panel,
    values: Scale,
    times: Times,
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
    let points = || shown.iter().flat_map(|series| &series.points);
    let values = points().flat_map(|point| [point.value, point.line]).flatten();
    let axes = Axes {
        panel: if shown.len() == 1 { WIDE } else { SMALL },
        values: Scale::covering(history.range, values),
        times: Times::of(shown),
    };
    html! {
        p.caption id=(id) { (history.caption) }
        p.key {
            span { (sample("dots", "M12 6h.01")) (history.value_label) }
            span { (sample("line", "M2 6H22")) (history.line_label) }
            @if points().any(|point| point.flag.is_some()) {
                span { (sample("flag", "M12 1l5 5-5 5-5-5z")) "flagged, numbered below" }
            }
        }
        div.panels.wide[shown.len() == 1] role="group" aria-labelledby=(id) {
            @for (index, series) in shown.iter().enumerate() {
                (panel(&format!("{id}p{}", index + 1), history, series, &axes))
            }
        }
        @if !hidden.is_empty() { p.key { (format!("and {} more that are not drawn", hidden.len())) } }
        (table::behind("The values as a table", numbers(id, history, &axes.times)))
    }
}

fn sample(class: &str, path: &str) -> Markup {
    html! { svg aria-hidden="true" viewBox="0 0 24 12" width="24" height="12" { path class=(class) d=(path) {} } }
}

fn panel(id: &str, history: &History, series: &Series, axes: &Axes) -> Markup {
    let Panel { width, height, left, right, top, bottom } = axes.panel;
    let flags: Vec<(usize, &Point, &str)> = series
        .points
        .iter()
        .enumerate()
        .filter_map(|(at, point)| Some((at, point, point.flag.as_deref()?)))
        .collect();
    let (x, y) = (|at, point: &Point| axes.x(at, point), |value| axes.y(value));
    html! {
        figure {
            figcaption { (series.name) }
            div.box.plot role="region" aria-label="chart" tabindex="0" {
                svg role="img" aria-labelledby=(format!("{id}t {id}d")) viewBox=(format!("0 0 {width} {height}")) {
                    title id=(format!("{id}t")) { (history.value_label) " of " (series.name) " over time" }
                    desc id=(format!("{id}d")) { (described(history, series, &axes.times, flags.len())) }
                    @for tick in axes.values.ticks() {
                        path.grid d=(format!("M{} {}H{}", coordinate(left), coordinate(y(tick.value)), coordinate(width - right))) {}
                        text.value x=(coordinate(left - 6.0)) y=(coordinate(y(tick.value) + 3.5)) { (tick.label) }
                    }
                    @if let Some((first, last)) = axes.times.ends() {
                        text.early x=(coordinate(left)) y=(coordinate(height - bottom + 16.0)) { (first) }
                        text.late x=(coordinate(width - right)) y=(coordinate(height - bottom + 16.0)) { (last) }
                    }
                    path.dots d=(dots(series, axes)) {}
                    path.line d=(line(series, axes)) {}
                    @for (number, (at, point, _)) in flags.iter().enumerate() {
                        @let (across, down) = (x(*at, point), y(point.value.or(point.line).unwrap_or_default()));
                        path.flag d=(format!("M{} {}l5 5-5 5-5-5z", coordinate(across), coordinate(down - 5.0))) {}
                        text.flag x=(coordinate(across)) y=(coordinate((down - 8.0).max(top + 8.0))) { (number + 1) }
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

impl Axes {
    fn x(&self, at: usize, point: &Point) -> f64 {
        let Panel { width, left, right, .. } = self.panel;
        left + self.times.place(at, point) * (width - left - right)
    }

    fn y(&self, value: f64) -> f64 {
        let Panel { height, top, bottom, .. } = self.panel;
        top + (1.0 - self.values.place(value)) * (height - top - bottom)
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
        let day = time.get(..10).unwrap_or(time);
        match time.get(11..16).filter(|_| is_short) {
            Some(clock) => format!("{day} {clock}"),
            None => day.to_owned(),
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

/// Rounds a position to half pixels, finer than is visible: points at one position are drawn once.
fn half_pixels(x: f64, y: f64) -> (i64, i64) {
    ((x * 2.0).round() as i64, (y * 2.0).round() as i64)
}

fn pair((x, y): (i64, i64)) -> String {
    format!("{} {}", coordinate(x as f64 / 2.0), coordinate(y as f64 / 2.0))
}

/// Draws a dot for every value.
fn dots(series: &Series, axes: &Axes) -> String {
    let values = series.points.iter().enumerate().filter_map(|(at, point)| {
        let value = point.value.filter(|value| value.is_finite())?;
        Some(half_pixels(axes.x(at, point), axes.y(value)))
    });
    let places: BTreeSet<(i64, i64)> = values.collect();
    places.into_iter().map(|place| format!("M{}h.01", pair(place))).collect()
}

/// Draws the line, with a gap where it has no value.
fn line(series: &Series, axes: &Axes) -> String {
    let mut path = String::new();
    let mut before = None;
    for (at, point) in series.points.iter().enumerate() {
        let value = point.line.filter(|value| value.is_finite());
        let place = value.map(|value| half_pixels(axes.x(at, point), axes.y(value)));
        match place {
            Some(place) if before.is_none() => path.push_str(&format!("M{}", pair(place))),
            Some(place) if before != Some(place) => path.push_str(&format!("L{}", pair(place))),
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
        Column::text("flag"),
    ];
    table::draw(&format!("{id}n"), &Table::new(caption, columns, rows.collect()))
}
