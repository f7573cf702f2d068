//! The input of a standing: scored items and events. All problems are reported at once; then they have one order.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::overrides::OverrideEvent;
use crate::review::Decision;
use crate::shares::ShareError;
use karat_core::diagnostic::nearest;
use karat_core::facts::{Digest, Outcome};
use karat_core::number::{BILLION, Score};
use karat_core::scorecard::{Dimension, LateTreatment, Scorecard, Standing, StandingScore};
use karat_stats::StatisticsError;
use karat_stats::outcome::Treatment;

/// One scored item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item<'a> {
    /// The subject.
    pub subject: &'a str,
    /// Its id, unique among the items of the subject.
    pub id: &'a str,
    /// The task: items of one task are alike.
    pub task: &'a str,
    /// The digest of the evidence.
    pub digest: Digest,
    /// The time at which it took place, in seconds since 1970-01-01T00:00:00Z.
    pub time_seconds: Option<i64>,
    /// The time at which it became known, in the same seconds, if a log says so. What happens to the state of the subject
    /// happens then; how old the evidence is follows from its own time. Without it, an item is known from its own time on.
    pub arrived_seconds: Option<i64>,
    /// The outcome, if it is stated.
    pub outcome: Option<Outcome>,
    /// The score, if it has one.
    pub score: Option<Score>,
    /// The number of cases that it is a mean over, if it is one.
    pub cases: Option<u64>,
    /// Share of the applicable weight that was measured, in billionths.
    pub coverage: i64,
    /// The readings by the dimensions of the card; dimensions beyond the list were not measured.
    pub readings: Vec<Reading>,
    /// The gates of the card that held.
    pub gates: Vec<&'a str>,
    /// The party that ran the evaluation, if it is known.
    pub runner: Option<&'a str>,
}

/// The reading of a dimension in an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reading {
    /// It was measured.
    Measured {
        /// Its reading before decay, in billionths.
        reading: i64,
        /// The age that its evidence had at the time of the item.
        age_seconds: i64,
    },
    /// It does not apply.
    NotApplicable,
    /// Nothing.
    Missing,
}

impl Reading {
    /// Returns a reading, in billionths, of evidence that is as old as its item.
    pub const fn fresh(reading: i64) -> Self {
        Self::Measured { reading, age_seconds: 0 }
    }
}

impl<'a> Item<'a> {
    /// Returns an item whose task is its own, without anything else.
    pub const fn new(subject: &'a str, id: &'a str, digest: Digest) -> Self {
        Self {
            subject,
            id,
            task: id,
            digest,
            time_seconds: None,
            arrived_seconds: None,
            outcome: None,
            score: None,
            cases: None,
            coverage: 0,
            readings: Vec::new(),
            gates: Vec::new(),
            runner: None,
        }
    }
}

/// Something that happened beside the evaluations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// To one subject.
    Subject {
        /// The subject.
        subject: String,
        /// The happening.
        happening: Happening,
    },
    /// To the weights of the card.
    Weights(OverrideEvent),
}

/// An event about a subject.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Happening {
    /// It is operated by this party, who is neither its reviewer nor an independent runner.
    Operated(String),
    /// A reviewer decided on its held score.
    Decided(Decision),
    /// Something changed at a moment.
    Changed {
        /// Its time.
        at_seconds: i64,
        /// The change.
        change: Change,
    },
}

/// A change at a moment.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Change {
    /// A confirmed critical incident of this id is open.
    IncidentOpened(String),
    /// The incident of this id is closed.
    IncidentClosed(String),
    /// The subject demonstrably runs something else than it declares.
    Held,
    /// The subject is released from that.
    Released,
}

/// The reason why there are no standings.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum StandError {
    /// The card says nothing about standings.
    #[error(
        "`{0}` does not say what becomes of many scores, expected a section `[standing]`; add one, such as [standing] score = \"window\""
    )]
    NoSection(
        /// Its name.
        String,
    ),
    /// The card says nothing about tasks.
    #[error(
        "`{0}` does not say what becomes of tasks, expected `calibration` or `lifecycle` in its section `[standing]`; add one, such as calibration = {{ completed = 20 }} or lifecycle = {{ period_days = 7 }}"
    )]
    NoTaskRules(
        /// Its name.
        String,
    ),
    /// One id of a subject has two contents.
    #[error("`{id}` of `{subject}` is there with two contents, {} and {}, expected one; give a correction its own id", .digests[0], .digests[1])]
    Conflict {
        /// The subject.
        subject: String,
        /// The id.
        id: String,
        /// The digests, in order.
        digests: [Digest; 2],
    },
    /// No item says when it took place, and the card needs to know.
    #[error(
        "no item says when it took place, and `{setting}` of the card needs to know; give the items a `time` such as 2026-01-31T12:00:00Z"
    )]
    NeedsTime {
        /// The setting that does.
        setting: &'static str,
    },
    /// An event is of a subject that no item is of.
    #[error("there is no item of `{subject}`{}", did_you_mean(.nearest.as_deref()))]
    UnknownSubject {
        /// The subject.
        subject: String,
        /// The one that was most likely meant.
        nearest: Option<String>,
    },
    /// A subject is operated by two parties.
    #[error("`{subject}` is operated by `{}` and by `{}`, expected one of them", .operators[0], .operators[1])]
    Operators {
        /// The subject.
        subject: String,
        /// The parties.
        operators: [String; 2],
    },
    /// A reading is below 0 or above 1.
    #[error("`{subject}`: `{key}` is {reading} billionths, expected 0 to {BILLION}", BILLION = BILLION)]
    Reading {
        /// The subject.
        subject: String,
        /// The dimension.
        key: String,
        /// Billionths, as given.
        reading: i64,
    },
    /// The interval cannot be drawn so.
    #[error("there are no intervals: {0}")]
    Interval(
        /// The reason.
        StatisticsError,
    ),
    /// There are no shares.
    #[error("there are no shares: {0}")]
    Share(
        /// The reason.
        ShareError,
    ),
}

/// Items and events in the order in which they count.
#[derive(Debug)]
pub(super) struct Ordered<'a> {
    /// The subjects by name.
    pub subjects: BTreeMap<&'a str, Subject<'a>>,
    /// Place among the events, moment and event, in order.
    pub overrides: Vec<(usize, i64, &'a OverrideEvent)>,
    pub repeated: u64,
    pub after: u64,
    pub events_after: u64,
    /// Indices of the items that are left out because they have no time and the rules ask for one.
    pub without_time: Vec<usize>,
    /// No item has a time: the ids are the order.
    pub by_id: bool,
}

/// All items and events of a subject.
#[derive(Debug, Default)]
pub(super) struct Subject<'a> {
    /// The items by the moment of their entry, time and id.
    pub items: Vec<Counted<'a>>,
    /// True if items have no time: all of them are of the moment of the standing, in the order of their ids.
    pub is_untimed: bool,
    pub operator: Option<&'a str>,
    /// Place among the events and decision, by moment.
    pub decisions: Vec<(usize, &'a Decision)>,
    /// The changes by time.
    pub changes: Vec<(i64, &'a Change)>,
}

/// An item and its counted values.
#[derive(Debug, Clone, Copy)]
pub(super) struct Counted<'a> {
    /// Its index among the items given.
    pub place: usize,
    pub item: &'a Item<'a>,
    /// The time from which its age counts.
    pub at_seconds: i64,
    /// The moment from which it is known: of its arrival, but no earlier than its time.
    pub entered_seconds: i64,
    /// True if it arrived late.
    pub is_late: bool,
    /// The score it counts with; none where it is left out.
    pub score: Option<Score>,
    /// True if it counts as an evaluation.
    pub is_counted: bool,
}

pub(super) fn order<'a>(
    card: &'a Scorecard,
    rules: &Standing,
    items: &'a [Item<'a>],
    events: &'a [Event],
    as_of_seconds: i64,
) -> Result<Ordered<'a>, Vec<StandError>> {
    let mut errors = Vec::new();
    let needs_time = needs_time(card, rules, events).filter(|_| !is_plain(rules));
    let untimed = match needs_time {
        _ if is_plain(rules) => Untimed::Count,
        None => Untimed::CountAlone,
        Some(_) => Untimed::SpoilSubject,
    };
    let mut ordered = arrange(rules, items, as_of_seconds, untimed, &mut errors);
    if ordered.by_id {
        errors.extend(needs_time.map(|setting| StandError::NeedsTime { setting }));
    }
    let known: Vec<&str> = items.iter().map(|item| item.subject).collect();
    if rules.score == StandingScore::Latest {
        errors.extend(ordered.subjects.iter().flat_map(|(subject, own)| wrong_readings(card, subject, own)));
    }
    for (place, event) in events.iter().enumerate() {
        errors.extend(ordered.add(place, event, as_of_seconds, &known));
    }
    ordered.sort_events();
    if errors.is_empty() { Ok(ordered) } else { Err(in_order(errors)) }
}

fn did_you_mean(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |nearest| format!("; did you mean `{nearest}`?"))
}

/// Returns the readings of a subject that lie below 0 or above 1.
fn wrong_readings(card: &Scorecard, subject: &str, own: &Subject<'_>) -> Vec<StandError> {
    let counted = own.items.iter().filter(|item| item.is_counted);
    let readings = counted.flat_map(|item| card.dimensions.iter().zip(&item.item.readings));
    let wrong = readings.filter_map(|(dimension, reading)| match reading {
        Reading::Measured { reading, .. } if !(0..=BILLION).contains(reading) => Some((dimension, *reading)),
        _ => None,
    });
    let told = |(dimension, reading): (&Dimension, i64)| StandError::Reading {
        subject: subject.to_string(),
        key: dimension.key.clone(),
        reading,
    };
    wrong.map(told).collect()
}

/// Returns each error once, in an order that does not depend on that of the items.
pub(super) fn in_order(mut errors: Vec<StandError>) -> Vec<StandError> {
    errors.sort_by_key(ToString::to_string);
    errors.dedup();
    errors
}

/// The treatment of items without a time where others have one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Untimed {
    /// They count: nothing follows from time or order.
    Count,
    /// They count where no item of their subject has a time; else their subject has no score.
    CountAlone,
    /// Their subject has no score.
    SpoilSubject,
    /// They are left out, and the others count.
    LeaveOut,
}

/// Returns true if nothing under the rules follows from time or order: a window that holds everything, without review,
/// certification or anything else that looks at moments. Then the score is the mean over tasks of the mean of their items.
pub fn is_plain(rules: &Standing) -> bool {
    let window = rules.window;
    rules.score == StandingScore::Window
        && window.tasks.is_none()
        && window.span_seconds.is_none()
        && !window.is_distinct
        && rules.late.treatment == LateTreatment::AsStated
        && rules.review.is_none()
        && rules.certification.is_none()
        && rules.confidence.is_none()
        && rules.gate.is_none()
        && rules.warm_up.is_none_or(|rule| rule.period_seconds.is_none())
        && rules.tiers.iter().all(|tier| tier.distinct_days == 0 && tier.newest_batch_seconds.is_none())
}

/// Returns the items up to the moment, each once, in the order in which they count; what is wrong with them goes to `errors`.
pub(super) fn arrange<'a>(
    rules: &Standing,
    items: &'a [Item<'a>],
    as_of_seconds: i64,
    untimed: Untimed,
    errors: &mut Vec<StandError>,
) -> Ordered<'a> {
    let timed: BTreeSet<&str> =
        items.iter().filter(|item| item.time_seconds.is_some()).map(|item| item.subject).collect();
    let by_id = !items.is_empty() && timed.is_empty();
    let mut sorted: Vec<(usize, &Item<'_>)> = items.iter().enumerate().collect();
    // Where all is the same but the content, both are reported, whichever came first.
    let key = |item: &Item<'a>| (item.subject, item.id, item.digest);
    sorted.sort_by(|(_, a), (_, b)| key(a).cmp(&key(b)));
    let same = |a: &Item<'_>, b: &Item<'_>| (a.subject, a.id) == (b.subject, b.id);
    for [(_, a), (_, b)] in sorted.array_windows() {
        if same(a, b) && a.digest != b.digest {
            let (subject, id) = (a.subject.to_string(), a.id.to_string());
            errors.push(StandError::Conflict { subject, id, digests: [a.digest, b.digest] });
        }
    }
    let all = sorted.len();
    sorted.dedup_by(|(_, b), (_, a)| same(a, b));
    let repeated = (all - sorted.len()) as u64;
    let counts = |subject: &str| match untimed {
        _ if by_id => true,
        Untimed::Count => true,
        Untimed::CountAlone => !timed.contains(subject),
        Untimed::SpoilSubject | Untimed::LeaveOut => false,
    };
    let mut subjects: BTreeMap<&str, Subject<'_>> = BTreeMap::new();
    let (mut after, mut without_time, mut spoilt) = (0, Vec::new(), BTreeSet::new());
    for (place, item) in sorted {
        let is_untimed = item.time_seconds.is_none();
        if is_untimed && !counts(item.subject) {
            without_time.push(place);
            if untimed != Untimed::LeaveOut {
                subjects.entry(item.subject).or_default();
                spoilt.insert(item.subject);
            }
            continue;
        }
        let at_seconds = item.time_seconds.unwrap_or(as_of_seconds);
        if at_seconds > as_of_seconds {
            after += 1;
            continue;
        }
        let own = subjects.entry(item.subject).or_default();
        own.is_untimed |= is_untimed;
        own.items.push(count(rules, place, item, at_seconds, as_of_seconds));
    }
    for (name, subject) in &mut subjects {
        for counted in &mut subject.items {
            counted.is_counted &= !spoilt.contains(name);
            if subject.is_untimed {
                (counted.at_seconds, counted.entered_seconds) = (as_of_seconds, as_of_seconds);
            }
        }
        let key = |it: &Counted<'a>| (it.entered_seconds, it.at_seconds, it.item.id);
        subject.items.sort_by(|a, b| key(a).cmp(&key(b)));
    }
    Ordered { subjects, overrides: Vec::new(), repeated, after, events_after: 0, without_time, by_id }
}

/// Returns how the rules treat what ended so.
pub(super) fn treatment(rules: &Standing, outcome: Option<Outcome>) -> Treatment {
    match outcome {
        None | Some(Outcome::Succeeded | Outcome::Failed) => Treatment::Scored,
        Some(outcome) => rules.outcomes.treatment(outcome),
    }
}

/// Returns what an item counts as under the rules.
fn count<'a>(
    rules: &Standing,
    place: usize,
    item: &'a Item<'a>,
    at_seconds: i64,
    as_of_seconds: i64,
) -> Counted<'a> {
    let arrived_seconds = item.arrived_seconds.filter(|_| item.time_seconds.is_some());
    let is_late = arrived_seconds
        .is_some_and(|arrived| arrived.saturating_sub(at_seconds) > i64::from(rules.late.after_seconds));
    let entered = arrived_seconds.filter(|_| !is_plain(rules));
    let entered_seconds = entered.map_or(at_seconds, |it| it.max(at_seconds));
    let at_seconds = match rules.late.treatment {
        // Asked about a moment before it arrived, it is of that moment.
        LateTreatment::AsArrived if is_late => entered_seconds.min(as_of_seconds),
        _ => at_seconds,
    };
    let treatment = treatment(rules, item.outcome);
    let score = match treatment {
        Treatment::Success => Some(Score::ONE),
        Treatment::Failure => Some(Score::ZERO),
        // As in the mean of runs: a failure that nothing more is known of reached nothing.
        Treatment::Scored => item.score.or((item.outcome == Some(Outcome::Failed)).then_some(Score::ZERO)),
        Treatment::Excluded => None,
    };
    let measured = || item.readings.iter().any(|reading| matches!(reading, Reading::Measured { .. }));
    let is_counted = match rules.score {
        StandingScore::Window => score.is_some(),
        StandingScore::Latest => treatment == Treatment::Scored && measured(),
    };
    let is_counted = is_counted && !(is_late && rules.late.treatment == LateTreatment::Excluded);
    Counted { place, item, at_seconds, entered_seconds, is_late, score, is_counted }
}

/// Returns the setting that cannot do without times.
fn needs_time(card: &Scorecard, rules: &Standing, events: &[Event]) -> Option<&'static str> {
    let asks = |of: fn(&crate::tiers::TierRule) -> bool| rules.tiers.iter().any(of);
    let settings = [
        (rules.score == StandingScore::Latest, "score = \"latest\""),
        (rules.window.span_seconds.is_some(), "window.days"),
        (rules.review.is_some(), "review"),
        (rules.certification.is_some(), "certification"),
        (rules.confidence.is_some(), "confidence"),
        (rules.warm_up.is_some_and(|rule| rule.period_seconds.is_some()), "warm_up.days"),
        (asks(|tier| tier.distinct_days > 0), "tier.distinct_days"),
        (asks(|tier| tier.newest_batch_seconds.is_some()), "tier.newest_batch_days"),
        (!events.is_empty() && card.standing.is_some(), "standing (with events)"),
    ];
    settings.into_iter().find(|&(is_there, _)| is_there).map(|(_, name)| name)
}

impl<'a> Ordered<'a> {
    /// Returns the events about weights up to the moment, without items.
    pub(super) fn of_weights(events: &'a [Event], as_of_seconds: i64) -> Self {
        let mut ordered = Self {
            subjects: BTreeMap::new(),
            overrides: Vec::new(),
            repeated: 0,
            after: 0,
            events_after: 0,
            without_time: Vec::new(),
            by_id: false,
        };
        let weights = events.iter().enumerate().filter(|(_, event)| matches!(event, Event::Weights(_)));
        for (place, event) in weights {
            // An event about weights names no subject, so that none is unknown.
            ordered.add(place, event, as_of_seconds, &[]);
        }
        ordered.sort_events();
        ordered
    }

    fn add(
        &mut self,
        place: usize,
        event: &'a Event,
        as_of_seconds: i64,
        known: &[&str],
    ) -> Option<StandError> {
        let at_seconds = event.at_seconds();
        if at_seconds.is_some_and(|at| at > as_of_seconds) {
            self.events_after += 1;
            return None;
        }
        let (subject, happening) = match event {
            Event::Weights(weights) => {
                self.overrides.push((place, at_seconds.unwrap_or_default(), weights));
                return None;
            }
            Event::Subject { subject, happening } => (subject, happening),
        };
        let Some(own) = self.subjects.get_mut(subject.as_str()) else {
            // All its items are of later.
            if known.contains(&subject.as_str()) {
                return None;
            }
            let nearest = nearest(subject, known.iter().copied()).map(String::from);
            return Some(StandError::UnknownSubject { subject: subject.clone(), nearest });
        };
        match happening {
            Happening::Operated(operator) => match own.operator.replace(operator) {
                Some(before) if before != operator => {
                    let mut operators = [before.to_string(), operator.clone()];
                    operators.sort();
                    return Some(StandError::Operators { subject: subject.clone(), operators });
                }
                _ => {}
            },
            Happening::Decided(decision) => own.decisions.push((place, decision)),
            Happening::Changed { at_seconds, change } => own.changes.push((*at_seconds, change)),
        }
        None
    }

    fn sort_events(&mut self) {
        // The same event given twice counts once.
        let key = |event: &OverrideEvent| format!("{event:?}");
        self.overrides.sort_by(|(_, a_time, a), (_, b_time, b)| {
            (a_time, rank(a), key(a)).cmp(&(b_time, rank(b), key(b)))
        });
        self.overrides.dedup_by(|(_, _, a), (_, _, b)| a == b);
        for own in self.subjects.values_mut() {
            // Those of one second stay in the order in which they were written.
            own.decisions.sort_by_key(|(_, decision)| decision.at_seconds);
            own.decisions.dedup_by(|(_, a), (_, b)| a == b);
            own.changes.sort();
            own.changes.dedup();
        }
    }
}

/// Ranks events of one moment: a proposal comes before the decisions on it.
const fn rank(event: &OverrideEvent) -> u8 {
    match event {
        OverrideEvent::Proposed(_) => 0,
        OverrideEvent::Refused(_) => 1,
        OverrideEvent::Revoked(_) => 2,
        OverrideEvent::Accepted(_) => 3,
    }
}

impl Event {
    /// Its moment; none for what has none.
    pub const fn at_seconds(&self) -> Option<i64> {
        match self {
            Self::Weights(OverrideEvent::Proposed(proposal)) => Some(proposal.at_seconds),
            Self::Weights(
                OverrideEvent::Accepted(decision)
                | OverrideEvent::Refused(decision)
                | OverrideEvent::Revoked(decision),
            ) => Some(decision.at_seconds),
            Self::Subject { happening: Happening::Decided(decision), .. } => Some(decision.at_seconds),
            Self::Subject { happening: Happening::Changed { at_seconds, .. }, .. } => Some(*at_seconds),
            Self::Subject { happening: Happening::Operated(_), .. } => None,
        }
    }
}
