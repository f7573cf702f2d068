//! The metrics of a server, as text for Prometheus.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::basics::*;

/// Upper ends of the buckets of durations, in seconds.
const BUCKETS: [f64; 10] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0];

/// The counts since the server started.
#[derive(Debug, Default)]
pub struct Metrics {
    requests: Mutex<BTreeMap<Route, Durations>>,
    accepted: AtomicU64,
    repeated: AtomicU64,
    refused: AtomicU64,
    turned_away: AtomicU64,
    bytes: AtomicU64,
}

/// A kind of request, without anything that a client could invent.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Route {
    pub method: &'static str,
    /// The path with names in place of values, or empty if there is no such path.
    pub path: String,
    pub status: u16,
}

#[derive(Debug, Default)]
struct Durations {
    count: u64,
    sum_seconds: f64,
    buckets: [u64; BUCKETS.len()],
}

/// A metric with its values.
pub(crate) struct Gauge {
    pub name: &'static str,
    pub help: &'static str,
    /// True if it only grows.
    pub is_counter: bool,
    /// Values, each with names and values of labels.
    pub values: Vec<(Vec<(&'static str, String)>, f64)>,
}

impl Gauge {
    /// Returns its lines.
    pub(crate) fn text(&self) -> String {
        let Self { name, help, is_counter, values } = self;
        let kind = if *is_counter { "counter" } else { "gauge" };
        let mut out = format!("# HELP {name} {help}\n# TYPE {name} {kind}\n");
        for (labels, value) in values {
            let labels: Vec<String> =
                labels.iter().map(|(label, text)| format!("{label}=\"{}\"", escaped(text))).collect();
            let labels = if labels.is_empty() { String::new() } else { format!("{{{}}}", labels.join(",")) };
            // Writing to a string cannot fail.
            let _ = writeln!(out, "{name}{labels} {value}");
        }
        out
    }
}

/// Returns the value of a label as the format writes it.
fn escaped(text: &str) -> Cow<'_, str> {
    match text.contains(['\\', '"', '\n']) {
        false => Cow::Borrowed(text),
        true => Cow::Owned(text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")),
    }
}

/// Scores and gates as metrics, and what they were computed from.
#[derive(Debug)]
pub(crate) struct Boards {
    text: Mutex<String>,
    pub turn: tokio::sync::Mutex<BoardsTurn>,
}

#[derive(Debug, Default)]
pub(crate) struct BoardsTurn {
    /// The size of the log; none before the first time.
    pub size: Option<u64>,
    /// The seconds since the start at which they were computed.
    pub at_seconds: f64,
    pub rest_seconds: f64,
    /// The size of the log whose gates are counted.
    pub counted: u64,
    /// The number of records by scorecard and gate.
    pub gates: BTreeMap<(String, String), u64>,
    pub gates_left_out: u64,
}

impl Boards {
    /// Counts the gates of what comes after the first `size` entries.
    pub(crate) fn new(size: u64) -> Self {
        let turn = BoardsTurn { counted: size, ..BoardsTurn::default() };
        Self { text: Mutex::default(), turn: tokio::sync::Mutex::new(turn) }
    }

    pub(crate) fn text(&self) -> String {
        self.text.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn put(&self, text: String) {
        *self.text.lock().unwrap_or_else(PoisonError::into_inner) = text;
    }
}

impl Metrics {
    pub fn answered(&self, route: Route, seconds: f64) {
        let mut requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        let found = requests.entry(route).or_default();
        found.count += 1;
        found.sum_seconds += seconds;
        for (count, end) in found.buckets.iter_mut().zip(BUCKETS) {
            *count += u64::from(seconds <= end);
        }
    }

    pub fn answered_total(&self) -> u64 {
        let requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        requests.values().map(|it| it.count).sum()
    }

    /// Counts items of evidence by result.
    pub fn items(&self, accepted: u64, repeated: u64, refused: u64) {
        for (counter, more) in
            [(&self.accepted, accepted), (&self.repeated, repeated), (&self.refused, refused)]
        {
            counter.fetch_add(more, Ordering::Relaxed);
        }
    }

    /// Counts bytes of bodies that were read.
    pub(crate) fn received(&self, bytes: u64) {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Counts a request that was turned away because of load.
    pub(crate) fn turned_away(&self) {
        self.turned_away.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns all metrics in the text format of Prometheus 0.0.4. `gauges` are current values: name, help and value.
    pub fn text(&self, gauges: &[(&str, &str, f64)]) -> String {
        let mut out = String::new();
        // Writing to a string cannot fail.
        let mut line = |text: std::fmt::Arguments<'_>| {
            let _ = out.write_fmt(text);
        };
        let name = "karat_items_total";
        line(format_args!("# HELP {name} Items of evidence by result.\n# TYPE {name} counter\n"));
        for (result, counter) in
            [("accepted", &self.accepted), ("repeated", &self.repeated), ("refused", &self.refused)]
        {
            line(format_args!("{name}{{result=\"{result}\"}} {}\n", counter.load(Ordering::Relaxed)));
        }
        for (name, help, counter) in [
            ("karat_turned_away_total", "Requests that were turned away because of load.", &self.turned_away),
            ("karat_received_bytes_total", "Bytes of bodies that were read.", &self.bytes),
        ] {
            line(format_args!("# HELP {name} {help}\n# TYPE {name} counter\n"));
            line(format_args!("{name} {}\n", counter.load(Ordering::Relaxed)));
        }
        for (name, help, value) in gauges {
            line(format_args!("# HELP {name} {help}\n# TYPE {name} gauge\n{name} {value}\n"));
        }
        let name = "karat_request_seconds";
        line(format_args!("# HELP {name} Duration of requests.\n# TYPE {name} histogram\n"));
        for (route, found) in self.requests.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            let Route { method, path, status } = route;
            let labels = format!("method=\"{method}\",path=\"{path}\",status=\"{status}\"");
            for (count, end) in found.buckets.iter().zip(BUCKETS) {
                line(format_args!("{name}_bucket{{{labels},le=\"{end}\"}} {count}\n"));
            }
            line(format_args!("{name}_bucket{{{labels},le=\"+Inf\"}} {}\n", found.count));
            line(format_args!("{name}_sum{{{labels}}} {}\n", found.sum_seconds));
            line(format_args!("{name}_count{{{labels}}} {}\n", found.count));
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_strangers_stay_within_their_label() {
        let values = vec![(vec![("subject", String::from("a\"} 1\n\\b"))], 2.5), (Vec::new(), 1.0)];
        let gauge = Gauge { name: "score", help: "Scores.", is_counter: false, values };
        let lines = "score{subject=\"a\\\"} 1\\n\\\\b\"} 2.5\nscore 1\n";
        assert_eq!(gauge.text(), format!("# HELP score Scores.\n# TYPE score gauge\n{lines}"));
    }
}
