//! Events beside the evaluations: JSON lines, one event each (`docs/guide/standing.md`, Events).

use std::collections::BTreeMap;

use karat_core::facts::Digest;
use karat_core::number::Decimal;
use karat_core::timestamp::Timestamp;
use karat_evidence::names::{NameFault, fault};
use karat_standing::overrides::{OverrideDecision, OverrideEvent, Proposal};
use karat_standing::review::{Decision, ReviewVerdict, Seen};
use karat_standing::stand::{Change, Event, Happening};
use serde::Deserialize;

use super::refused;
use crate::error::Error;

/// The events of a file.
#[derive(Debug, Default)]
pub struct Events {
    /// The events, in the order of the file.
    pub events: Vec<Event>,
    /// The line of each event.
    pub lines: Vec<usize>,
    /// The digest of the bytes of the file; None without a file.
    pub digest: Option<Digest>,
    /// The runners of evaluations.
    pub runners: Vec<Run>,
    /// True for events of a log, which may be from before decisions said what was seen.
    is_stored: bool,
}

/// The runner of an evaluation.
#[derive(Debug)]
pub struct Run {
    /// File and line.
    pub place: String,
    /// The subject that was evaluated.
    pub subject: String,
    /// The id of the item.
    pub id: String,
    /// The runner.
    pub runner: String,
}

/// One line of the file.
#[derive(Debug, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case", deny_unknown_fields)]
enum Line {
    Operated {
        subject: String,
        operator: String,
    },
    Ran {
        subject: String,
        id: String,
        runner: String,
    },
    Decided {
        subject: String,
        time: Timestamp,
        reviewer: String,
        verdict: ReviewVerdict,
        reason: String,
        #[serde(default)]
        seen: Option<String>,
        #[serde(default)]
        evidence: Vec<String>,
    },
    IncidentOpened {
        subject: String,
        time: Timestamp,
        incident: String,
    },
    IncidentClosed {
        subject: String,
        time: Timestamp,
        incident: String,
    },
    HoldPlaced {
        subject: String,
        time: Timestamp,
    },
    HoldLifted {
        subject: String,
        time: Timestamp,
    },
    WeightsProposed {
        time: Timestamp,
        id: String,
        proposer: String,
        reason: String,
        weights: BTreeMap<String, serde_json::Number>,
    },
    WeightsAccepted {
        time: Timestamp,
        id: String,
        decider: String,
        reason: String,
    },
    WeightsRefused {
        time: Timestamp,
        id: String,
        decider: String,
        reason: String,
    },
    WeightsRevoked {
        time: Timestamp,
        id: String,
        decider: String,
        reason: String,
    },
}

impl Line {
    /// Returns the members that are names.
    fn names(&self) -> Vec<(&'static str, &str)> {
        match self {
            Self::Operated { subject, operator } => vec![("subject", subject), ("operator", operator)],
            Self::Ran { subject, id, runner } => vec![("subject", subject), ("id", id), ("runner", runner)],
            Self::Decided { subject, reviewer, .. } => vec![("subject", subject), ("reviewer", reviewer)],
            Self::IncidentOpened { subject, incident, .. }
            | Self::IncidentClosed { subject, incident, .. } => {
                vec![("subject", subject), ("incident", incident)]
            }
            Self::HoldPlaced { subject, .. } | Self::HoldLifted { subject, .. } => vec![("subject", subject)],
            Self::WeightsProposed { id, proposer, .. } => vec![("id", id), ("proposer", proposer)],
            Self::WeightsAccepted { id, decider, .. }
            | Self::WeightsRefused { id, decider, .. }
            | Self::WeightsRevoked { id, decider, .. } => vec![("id", id), ("decider", decider)],
        }
    }

    /// Returns the line if each of its names is [one](names::fault): else the operator `acme` and a reviewer of nearly that name
    /// would be two parties.
    fn named(self) -> Result<Self, String> {
        let wrong = self.names().into_iter().find_map(|(member, found)| Some((member, found, fault(found)?)));
        match wrong {
            None => Ok(self),
            Some((member, found, NameFault { expected, hint })) => {
                Err(format!("`{member}` is `{}`, expected {expected}: {hint}", found.escape_debug()))
            }
        }
    }
}

/// Reads the events in `text`, called `path` in messages.
///
/// # Errors
/// If a line is not an event, or a name in it is refused. All are reported at once.
pub fn read(path: &str, text: &str) -> Result<Events, Error> {
    read_lines(path, text, false)
}

/// Does what [`read`] does with events of a log, also from before names had a form and decisions said what was seen.
///
/// # Errors
/// If a line is not an event.
pub fn read_stored(path: &str, text: &str) -> Result<Events, Error> {
    read_lines(path, text, true)
}

fn read_lines(path: &str, text: &str, is_stored: bool) -> Result<Events, Error> {
    let digest = Some(Digest::of(text.as_bytes()));
    let (mut events, mut problems) = (Events { digest, is_stored, ..Events::default() }, Vec::new());
    for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let place = format!("{path}:{}", at + 1);
        match serde_json::from_str::<Line>(line)
            .map_err(|error| in_words(&error))
            .and_then(|line| if is_stored { Ok(line) } else { line.named() })
            .and_then(|line| events.add(&place, at + 1, line))
        {
            Ok(()) => {}
            Err(problem) => problems.push(format!("{place}: {problem}")),
        }
    }
    if problems.is_empty() { Ok(events) } else { Err(refused(&problems)) }
}

/// Describes an error in a line, starting with its column.
fn in_words(error: &serde_json::Error) -> String {
    if error.is_syntax() || error.is_eof() {
        return format!("this is not JSON, from its column {} on", error.column());
    }
    let text = error.to_string();
    match text.split_once(" at line 1 column ") {
        Some((what, column)) => format!("column {column}: {what}"),
        None => text,
    }
}

impl Events {
    fn add(&mut self, place: &str, number: usize, line: Line) -> Result<(), String> {
        let changed = |subject, time: Timestamp, change| Event::Subject {
            subject,
            happening: Happening::Changed { at_seconds: time.seconds(), change },
        };
        let decision = |id, time: Timestamp, decider, reason| OverrideDecision {
            id,
            at_seconds: time.seconds(),
            decider,
            reason,
        };
        let event = match line {
            Line::Operated { subject, operator } => {
                Event::Subject { subject, happening: Happening::Operated(operator) }
            }
            Line::Ran { subject, id, runner } => {
                self.runners.push(Run { place: place.to_owned(), subject, id, runner });
                return Ok(());
            }
            Line::Decided { subject, time, reviewer, verdict, reason, seen, evidence } => {
                let seen = match seen {
                    Some(seen) => Seen::Score(Digest::parse(&seen).ok_or_else(|| {
                        let found = seen.escape_debug();
                        format!(
                            "`seen` is `{found}`, expected the digest of a held score, such as sha256:0123..."
                        )
                    })?),
                    None if self.is_stored => Seen::Any,
                    None => Seen::Nothing,
                };
                let at_seconds = time.seconds();
                let decision = Decision { at_seconds, reviewer, verdict, reason, seen, evidence };
                Event::Subject { subject, happening: Happening::Decided(decision) }
            }
            Line::IncidentOpened { subject, time, incident } => {
                changed(subject, time, Change::IncidentOpened(incident))
            }
            Line::IncidentClosed { subject, time, incident } => {
                changed(subject, time, Change::IncidentClosed(incident))
            }
            Line::HoldPlaced { subject, time } => changed(subject, time, Change::Held),
            Line::HoldLifted { subject, time } => changed(subject, time, Change::Released),
            Line::WeightsProposed { time, id, proposer, reason, weights } => {
                let weights = weights.into_iter().map(|(key, weight)| Ok((decimal(&key, &weight)?, key)));
                let weights = weights.map(|pair| pair.map(|(weight, key)| (key, weight)));
                let weights = weights.collect::<Result<Vec<_>, String>>()?;
                let at_seconds = time.seconds();
                Event::Weights(OverrideEvent::Proposed(Proposal {
                    id,
                    at_seconds,
                    proposer,
                    reason,
                    weights,
                }))
            }
            Line::WeightsAccepted { time, id, decider, reason } => {
                Event::Weights(OverrideEvent::Accepted(decision(id, time, decider, reason)))
            }
            Line::WeightsRefused { time, id, decider, reason } => {
                Event::Weights(OverrideEvent::Refused(decision(id, time, decider, reason)))
            }
            Line::WeightsRevoked { time, id, decider, reason } => {
                Event::Weights(OverrideEvent::Revoked(decision(id, time, decider, reason)))
            }
        };
        self.events.push(event);
        self.lines.push(number);
        Ok(())
    }
}

fn decimal(key: &str, weight: &serde_json::Number) -> Result<Decimal, String> {
    let parsed = Decimal::parse(&weight.to_string()).ok();
    let exact = parsed.and_then(|(decimal, is_exact)| is_exact.then_some(decimal));
    exact.ok_or_else(|| {
        format!("the weight of `{key}` is {weight}, expected a number of at most six decimals")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_event_is_read() {
        let lines = r#"{"event":"operated","subject":"a","operator":"acme"}
{"event":"ran","subject":"a","id":"1","runner":"lab"}
{"event":"decided","subject":"a","time":"2026-01-01T00:00:00Z","reviewer":"ann","verdict":"approve","reason":"checked"}
{"event":"incident-opened","subject":"a","time":"2026-01-01T00:00:00Z","incident":"i"}
{"event":"incident-closed","subject":"a","time":"2026-01-01T00:00:01Z","incident":"i"}
{"event":"hold-placed","subject":"a","time":"2026-01-01T00:00:00Z"}
{"event":"hold-lifted","subject":"a","time":"2026-01-01T00:00:00Z"}
{"event":"weights-proposed","time":"2026-01-01T00:00:00Z","id":"p","proposer":"loop","reason":"r","weights":{"k":0.25}}
{"event":"weights-accepted","time":"2026-01-01T00:00:00Z","id":"p","decider":"ann","reason":"r"}
{"event":"weights-refused","time":"2026-01-01T00:00:00Z","id":"p","decider":"ann","reason":"r"}
{"event":"weights-revoked","time":"2026-01-01T00:00:00Z","id":"p","decider":"ann","reason":"r"}"#;
        let mut events = Events::default();
        for line in lines.lines() {
            events.add("f:1", 1, serde_json::from_str(line).unwrap()).unwrap();
        }
        assert_eq!((events.events.len(), events.runners.len(), events.lines.len()), (10, 1, 10));
        let Event::Weights(OverrideEvent::Proposed(proposal)) = &events.events[6] else { panic!() };
        assert_eq!(proposal.weights, [("k".to_owned(), Decimal::from_millionths(250_000))]);
        assert_eq!(proposal.at_seconds, 1_767_225_600);
    }

    #[test]
    fn every_name_of_an_event_has_the_form_of_a_name() {
        let lines = [
            r#"{"event":"operated","subject":"a?","operator":"acme?"}"#,
            r#"{"event":"ran","subject":"a?","id":"1?","runner":"lab?"}"#,
            r#"{"event":"decided","subject":"a?","time":"2026-01-01T00:00:00Z","reviewer":"ann?","verdict":"approve","reason":"r"}"#,
            r#"{"event":"incident-opened","subject":"a?","time":"2026-01-01T00:00:00Z","incident":"i?"}"#,
            r#"{"event":"incident-closed","subject":"a?","time":"2026-01-01T00:00:01Z","incident":"i?"}"#,
            r#"{"event":"hold-placed","subject":"a?","time":"2026-01-01T00:00:00Z"}"#,
            r#"{"event":"hold-lifted","subject":"a?","time":"2026-01-01T00:00:00Z"}"#,
            r#"{"event":"weights-proposed","time":"2026-01-01T00:00:00Z","id":"p?","proposer":"loop?","reason":"r","weights":{}}"#,
            r#"{"event":"weights-accepted","time":"2026-01-01T00:00:00Z","id":"p?","decider":"ann?","reason":"r"}"#,
            r#"{"event":"weights-refused","time":"2026-01-01T00:00:00Z","id":"p?","decider":"ann?","reason":"r"}"#,
            r#"{"event":"weights-revoked","time":"2026-01-01T00:00:00Z","id":"p?","decider":"ann?","reason":"r"}"#,
        ];
        for line in lines {
            assert!(read("f", &line.replace('?', "")).is_ok(), "{line}");
            for at in line.match_indices('?').map(|(at, _)| at) {
                for odd in [" ", "\u{200b}", "\u{202e}"] {
                    let (before, after) = line.split_at(at);
                    let changed = format!("{before}{odd}{}", &after[1..]).replace('?', "");
                    let error = read("f", &changed).unwrap_err().to_string();
                    assert!(error.contains("f:1: `") && error.contains("expected a name"), "{error}");
                    assert!(read_stored("f", &changed).is_ok(), "{changed}");
                }
            }
        }
    }

    #[test]
    fn a_weight_that_is_too_fine_is_refused() {
        let number = |text: &str| serde_json::from_str::<serde_json::Number>(text).unwrap();
        assert_eq!(decimal("k", &number("0.000001")), Ok(Decimal::from_millionths(1)));
        let error = decimal("k", &number("0.12345678")).unwrap_err();
        assert_eq!(error, "the weight of `k` is 0.12345678, expected a number of at most six decimals");
    }
}
