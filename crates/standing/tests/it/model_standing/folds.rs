//! Histories under review in the words of the model's cases.

use karat_core::facts::Digest;
use karat_core::number::{BILLION, Decimal, Score};
use karat_standing::overrides::{OverrideDecision, OverrideEvent, Proposal};
use karat_standing::review::{Decision, ReviewVerdict, Seen};
use karat_standing::stand::{Change, Event, Happening, Item, Reading, SubjectStanding, keep, stand};
use serde_json::{Value, json};

const HEAD: &str = include_str!("../../two-dimensions.toml");

/// Returns the section of a card with these rules.
fn section(rules: &Value) -> String {
    let whole = |name: &str| rules[name].as_i64().unwrap();
    let limits = [("tasks", 1), ("days", 86_400)].iter().filter_map(|(name, unit)| {
        let limit = rules[if *name == "days" { "span" } else { name }].as_i64()?;
        Some(format!("{name} = {}", limit / unit))
    });
    let score = match rules["kind"].as_str().unwrap() {
        "latest" => format!(
            "score = \"latest\"\ndecay = {{ grace_days = {}, period_days = 7, points_per_period = {}, point = 0.001 }}",
            rules["decay"]["grace_seconds"].as_i64().unwrap() / 86_400,
            rules["decay"]["points_per_period"]
        ),
        _ => format!("score = \"window\"\nwindow = {{ {} }}", limits.collect::<Vec<_>>().join(", ")),
    };
    format!(
        "{score}\nreview = {{ swing_points = {}, cumulative_points = {}, cumulative_days = {}, deadline_hours = {}, approvals = {} }}\n\
         gate = {{ dimension = \"security\", step = [{{ below = 0.15, cap = {} }}], incident = {{ gate = \"incident\", cap = {} }} }}",
        whole("swing"),
        whole("cumulative"),
        whole("cumulative_seconds") / 86_400,
        whole("deadline_seconds") / 3600,
        whole("approvals"),
        whole("step"),
        whole("cap"),
    )
}

fn item(entry: &Value) -> Item<'_> {
    let id = entry[2].as_str().unwrap();
    let readings: Vec<Option<i64>> = entry[4].as_array().unwrap().iter().map(Value::as_i64).collect();
    let measured: Vec<i64> = readings.iter().copied().flatten().collect();
    let mean = measured.iter().sum::<i64>() / measured.len() as i64;
    Item {
        time_seconds: entry[3].as_i64(),
        arrived_seconds: entry[0].as_i64(),
        score: Some(Score::from_billionths(mean)),
        coverage: BILLION,
        readings: readings.into_iter().map(|it| it.map_or(Reading::Missing, Reading::fresh)).collect(),
        ..Item::new("a", id, Digest::of(id.as_bytes()))
    }
}

fn events(entry: &Value) -> Vec<Event> {
    let at_seconds = entry[0].as_i64().unwrap();
    let text = |at: usize| entry[at].as_str().unwrap().to_owned();
    let is = |at: usize| entry[at].as_bool().unwrap();
    let of_a = |happening| vec![Event::Subject { subject: "a".into(), happening }];
    let changed = |change| of_a(Happening::Changed { at_seconds, change });
    match entry[1].as_str().unwrap() {
        "decided" => {
            let approves = entry[3] == "approve";
            let verdict = if approves { ReviewVerdict::Approve } else { ReviewVerdict::Reject };
            let seen = Seen::Score(Digest::parse(&text(4)).unwrap());
            let (reviewer, reason, evidence) = (text(2), "seen".into(), Vec::new());
            of_a(Happening::Decided(Decision { at_seconds, reviewer, verdict, reason, seen, evidence }))
        }
        "incident" if is(2) => changed(Change::IncidentOpened("i".into())),
        "incident" => changed(Change::IncidentClosed("i".into())),
        "hold" => changed(if is(2) { Change::Held } else { Change::Released }),
        "weights" => {
            let first = entry[2].as_i64().unwrap();
            let weights = [("accuracy", first), ("security", 1_000_000 - first)];
            let weights = weights.map(|(key, it)| (key.into(), Decimal::from_millionths(it)));
            let (id, reason) = (format!("w{at_seconds}"), String::from("better"));
            let proposal = Proposal {
                id: id.clone(),
                at_seconds,
                proposer: "loop".into(),
                reason: reason.clone(),
                weights: weights.into(),
            };
            let decision = OverrideDecision { id, at_seconds, decider: "ann".into(), reason };
            [OverrideEvent::Proposed(proposal), OverrideEvent::Accepted(decision)].map(Event::Weights).into()
        }
        _ => Vec::new(),
    }
}

fn told(found: &SubjectStanding) -> Value {
    let review = found.review.as_ref().unwrap();
    let held = review.history.held.as_ref().map(|held| {
        let it = &held.candidate;
        json!([it.points, it.at_seconds, held.deadline_seconds, it.digest().to_string()])
    });
    let lines = review.transitions.iter().map(|line| {
        let it = &line.candidate;
        json!([line.at_seconds, it.at_seconds, it.points, it.cause, line.flags.delta, line.state.name()])
    });
    json!({
        "official": found.points,
        "gating": found.gating_points,
        "held": held,
        "lines": lines.collect::<Vec<_>>(),
        "rows": found.history.iter().map(|row| json!([row.at_seconds, row.points, row.canonical])).collect::<Vec<_>>(),
        "refusals": review.refusals.len(),
    })
}

pub fn fold(given: &Value) -> Value {
    let text = format!("{HEAD}[standing]\n{}", section(&given["rules"]));
    let card = karat_checker::parse(&text, &|_| None).unwrap_or_else(|found| panic!("{text}: {found:?}"));
    let log = given["log"].as_array().unwrap();
    let items: Vec<Item<'_>> = log.iter().filter(|entry| entry[1] == "item").map(item).collect();
    let events: Vec<Event> = log.iter().flat_map(events).collect();
    let moments = given["moments"].as_array().unwrap().iter().map(|moment| moment.as_i64().unwrap());
    let mut answers = Vec::new();
    for moment in moments {
        // The log as it was: what came later was not there.
        let known: Vec<Item<'_>> =
            items.iter().filter(|item| item.arrived_seconds <= Some(moment)).cloned().collect();
        let found = stand(&card, &known, &events, moment).unwrap().subjects;
        let found = found.into_iter().next().unwrap();
        // What is kept of an earlier moment gives the same.
        for kept in keep(&card, &known, &events, moment - 5).unwrap_or_default() {
            if let Some(later) = kept.at(&card, moment) {
                assert_eq!((later.points, later.gating_points), (found.points, found.gating_points));
            }
        }
        answers.push(told(&found));
    }
    Value::Array(answers)
}
