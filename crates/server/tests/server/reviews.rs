//! Decisions over HTTP: what was answered stays, at every later question and after entries about other subjects.

use karat_core::timestamp::Timestamp;
use karat_server::Options;
use karat_server::clock::Clock;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::common::{Folder, Running};

const JSON: &str = "application/json";
/// 2026-01-01T00:00:00Z.
const START: i64 = 1_767_225_600;
const HOUR: i64 = 3600;

const CARD: &str = r#"
schema = "karat/scorecard/1"
id = "agent"
version = "1.0.0"
title = "An agent under review"
about = "One value that grows old."
evidence = "facts"
scale = { max = 1000, publish = "half-up" }
facts = { quality = { unit = "1", min = 0, max = 1, from = "harness" } }
dimension = [{ key = "quality", weight = 1 }]

[standing]
score = "latest"
decay = { grace_days = 0, points_per_period = 40 }
review = { swing_points = 100, deadline_hours = 24 }
certification = { confirm_hours = 12, at_risk_days = 1 }
tier = [{ name = "low", score = 300 }, { name = "high", score = 600 }]
"#;

/// An action of a reporter or a reviewer.
#[derive(Debug, Clone, Copy)]
enum Done {
    Evaluated(i64),
    /// By one of two reviewers, on the score that waits or on the first that did.
    Decided {
        is_second: bool,
        is_approval: bool,
        is_stale: bool,
    },
    Incident(bool),
}

fn done() -> impl Strategy<Value = Vec<(i64, Done)>> {
    let decided = any::<(bool, bool)>().prop_flat_map(|(is_second, is_approval)| {
        prop::bool::weighted(0.2).prop_map(move |is_stale| Done::Decided { is_second, is_approval, is_stale })
    });
    let done = prop_oneof![
        4 => (2i64..10).prop_map(|tenths| Done::Evaluated(tenths * 100)),
        4 => decided,
        1 => any::<bool>().prop_map(Done::Incident),
    ];
    prop::collection::vec((prop_oneof![1i64..3, HOUR..30 * HOUR], done), 3..9)
}

/// Returns the rows of the history of a standing: of the score, of reviews, of tiers.
fn rows(standing: &Value) -> [Vec<Value>; 3] {
    let rows = |path: &str| standing.pointer(path).and_then(Value::as_array).cloned().unwrap_or_default();
    [rows("/history"), rows("/review/transitions"), rows("/tier/changes")]
}

struct Door {
    server: Running,
    clock: Clock,
    now: i64,
    others: i64,
}

impl Door {
    fn moment(&self) -> Timestamp {
        Timestamp::from_seconds(START + self.now)
    }

    fn put(&mut self, now: i64) {
        self.now = now;
        self.clock.put(self.moment());
    }

    fn evaluate(&self, subject: &str, id: &str, points: i64) {
        let quality = points as f64 / 1000.0;
        let item =
            json!({"subject": subject, "id": id, "time": self.moment().to_string(), "quality": quality});
        self.server.post("/v1/evidence?card=agent", Some(&self.server.admin), JSON, item.to_string()).is(201);
    }

    fn standing(&self) -> Value {
        let path = format!("/v1/standings/bee?card=agent@1.0.0&as_of={}", self.moment());
        let found = self.server.get(&path);
        found.is(200);
        // The leaderboard, out of what is kept of each subject, has the same number.
        let board = self.server.get("/v1/leaderboards?card=agent@1.0.0&method=means").is(200).json();
        let rows = board["leaderboards"][0]["rows"].as_array().unwrap().clone();
        let row = rows.into_iter().find(|row| row["subject"] == "bee").unwrap();
        if board["leaderboards"][0]["as_of"] == self.moment().to_string() {
            assert_eq!(row["official"]["points"], found.at("/points"));
        }
        found.json()
    }

    /// Asks at later seconds, before and after an entry about another subject.
    fn ask_later(&mut self, answered: &Value) -> Result<(), TestCaseError> {
        let mut before = answered.clone();
        for seconds in [1, 2, HOUR] {
            self.put(self.now + seconds);
            if seconds == 2 {
                self.others += 1;
                self.evaluate("other", &self.others.to_string(), 500);
            }
            let after = self.standing();
            for (early, late) in rows(&before).iter().zip(rows(&after)) {
                prop_assert!(late.starts_with(early), "{late:#?} does not begin with {early:#?}");
            }
            prop_assert_eq!(&after["review"]["refusals"], &json!([]), "what was answered stands");
            prop_assert!(after["points"].as_f64() <= before["points"].as_f64(), "{before} {after}");
            let held = |it: &Value| it["review"]["held"].clone();
            if !held(&after).is_null() {
                prop_assert_eq!(held(&after), held(&before), "what waits stays as it is");
            }
            before = after;
        }
        Ok(())
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 5, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_was_answered_stays_at_every_later_second(drawn in done()) {
        let clock = Clock::fixed(Timestamp::from_seconds(START));
        let server = Running::with_clock("127.0.0.1:0", Folder::new(), Options::default(), None, clock.clone());
        server.post("/v1/scorecards", Some(&server.admin), "application/toml", CARD).is(201);
        let reviewers = ["ann", "bo"].map(|name| server.key(&json!({"name": name, "scopes": ["review"]})));
        let mut door = Door { server, clock, now: 0, others: 0 };
        door.evaluate("bee", "first", 600);
        door.evaluate("other", "first", 600);
        let mut seen: Vec<Value> = Vec::new();
        for (number, (gap, done)) in drawn.into_iter().enumerate() {
            door.put(door.now + gap);
            let before = door.standing();
            let held = before["review"]["held"]["digest"].clone();
            if !held.is_null() {
                seen.push(held.clone());
            }
            let body = |more: Value| {
                let mut body = json!({"card": "agent@1.0.0", "subject": "bee"});
                body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
                body.to_string()
            };
            let post = |key: &String, body: String| door.server.post("/v1/reviews", Some(key), JSON, body);
            match done {
                Done::Evaluated(points) => door.evaluate("bee", &format!("{number:02}"), points),
                Done::Decided { is_second, is_approval, is_stale } => {
                    let named = if is_stale { seen.first() } else { seen.last() };
                    let Some(named) = named.cloned() else { continue };
                    let verdict = if is_approval { "approve" } else { "reject" };
                    let answer = post(
                        &reviewers[usize::from(is_second)],
                        body(json!({"verdict": verdict, "reason": "looked at", "seen": named})),
                    );
                    if named != held {
                        answer.is_problem(409, "conflict");
                    } else if answer.status == 201 {
                        let told = answer.at("/review/transitions").as_array().unwrap().clone();
                        let now = rows(&door.standing())[1].clone();
                        prop_assert_eq!(told, now, "the answer is what the log says");
                    } else {
                        // Who approved before does so no more.
                        answer.is_problem(409, "conflict");
                    }
                }
                Done::Incident(is_open) => {
                    let event = if is_open { "incident-opened" } else { "incident-closed" };
                    post(&reviewers[0], body(json!({"event": event, "incident": "leak"}))).is(201);
                }
            }
            let after = door.standing();
            for (early, late) in rows(&before).iter().zip(rows(&after)) {
                // A row of this very second may change with what is entered in it.
                let second = door.moment().to_string();
                let early: Vec<Value> = early.iter().filter(|row| row["time"] != second.as_str()).cloned().collect();
                prop_assert!(late.starts_with(&early), "{late:#?} does not begin with {early:#?}");
            }
            door.ask_later(&after)?;
        }
    }
}
