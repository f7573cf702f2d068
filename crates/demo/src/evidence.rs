//! The examples as evidence of the demo.

use std::collections::BTreeMap;
use std::sync::Arc;

use karat::Timestamp;
use karat::card::CompiledCard;
use karat::engine::{Engine, Options, Wanted};
use karat_evidence::canonical_json;
use karat_evidence::json::parse::Limits;
use karat_evidence::source::{Layout, Source};
use serde_json::{Map, Value};

use karat_server::cards::ScorerPool;
use karat_server::effect::Effect;
use karat_server::keys::SERVER;
use karat_server::problem::Problem;
use karat_server::scoring::{How, Refused};
use karat_server::sending::submission;
use karat_server::state::{App, Submission, scorecard_item};

/// The time at which evidence without a time counts as received: 2026-02-01T00:00:00Z.
pub const BEGINNING: Timestamp = Timestamp { milliseconds: 1_769_904_000_000 };
const DAY_MILLISECONDS: i64 = 86_400_000;

/// Scorecards whose examples have no times: the demo gives each example its own day.
const DATED: [&str; 2] = ["workflow@1.0.0", "trust@1.0.0"];
/// Five days from one of these days to the next.
const STEP_MILLISECONDS: i64 = 5 * DAY_MILLISECONDS;

/// Scorecards that are not released with karat.
const CARDS: &[&str] = &[
    "cards/task-run.toml", "cards/practice.toml", "cards/support-agent.toml", "cards/test-report.toml",
    "season/cipher.toml", "season/maze.toml", "season/knapsack.toml", "season/factors.toml",
    "season/slots.toml", "season/trail.toml",
];

/// Scorecard and evidence.
const EVIDENCE: &[(&str, &str)] = &[
    ("workflow@1.0.0", "workflow/worked-example.json"),
    ("workflow@1.0.0", "workflow/partial-dag.json"),
    ("workflow@1.0.0", "workflow/closed-gate.json"),
    ("workflow@1.0.0", "workflow/retries.jsonl"),
    ("workflow@1.0.0", "raw/workflow.jsonl"),
    ("trace@1.0.0", "trace/finance-document.json"),
    ("trace@1.0.0", "trace/same-trace-default.json"),
    ("trace@1.0.0", "trace/single-thought.json"),
    ("trace@1.0.0", "trace/error-recovery.json"),
    ("trace@1.0.0", "trace/one-tool.json"),
    ("trace@1.0.0", "raw/traces.jsonl"),
    ("trust@1.0.0", "trust/coverage.jsonl"),
    ("trust@1.0.0", "trust/security.jsonl"),
    ("trust@1.0.0", "trust/teamwork.jsonl"),
    ("trust@1.1.0", "trust/agent.json"),
    ("log-forensics@1.0.0", "arena/documented-823.json"),
    ("lean-refactor@1.0.0", "arena/efficiency.jsonl"),
    ("cipher-relay@1.0.0", "arena/timed.jsonl"),
    ("incident-review@1.0.0", "raw/match.json"),
    ("test-report", "tests/reports.jsonl"),
    ("test-report", "tests/karat-core.jsonl"),
    ("task-run", "leaderboard/runs.csv"),
    ("practice", "standing/practice.csv"),
    ("support-agent", "standing/agents.jsonl"),
    ("support-agent", "standing/spring.jsonl"),
];

/// Publishes the scorecards that are needed besides the released ones.
pub async fn publish(app: &Arc<App>) -> Result<(), Problem> {
    let mut batch = Submission::of_server();
    for path in CARDS {
        let text = example(path)?;
        let card = CompiledCard::parse(text).map_err(|error| Problem::internal(&error))?;
        let pool = Arc::new(ScorerPool::new(card));
        batch = batch.with(scorecard_item(&pool), Some(Effect::Card(pool)));
    }
    app.append_one(batch).await.map(|_| ())
}

/// Scores all evidence and groups it by day; each day has the time of its last item.
pub async fn days(app: &Arc<App>) -> Result<BTreeMap<Timestamp, Vec<Submission>>, Problem> {
    let app = Arc::clone(app);
    let scored = tokio::task::spawn_blocking(move || -> Result<_, Problem> {
        let mut next = BEGINNING.milliseconds;
        let mut days: BTreeMap<i64, (Timestamp, Vec<Submission>)> = BTreeMap::new();
        for (card, path) in EVIDENCE {
            let text = example(path)?;
            let pool = app.memory.cards().find(card)?;
            let layout = if path.ends_with(".csv") { Layout::Csv } else { Layout::Auto };
            let max_bytes = Limits::default().max_bytes;
            let mut source = Source::new(
                text.as_bytes(),
                layout,
                &Wanted::of(&pool.card).map_err(|error| Problem::internal(&error))?.facts,
                max_bytes,
            );
            // One for all of a file: each trace counts for the novelty of the next.
            let engine = Engine::new(Arc::clone(&pool.card), Options::default());
            let mut engine = engine.map_err(|error| Problem::internal(&error))?;
            while let Some(item) = source.next_item() {
                let item = item.map_err(|error| Problem::internal(&format!("{path}: {error}")))?;
                let name = format!("{path}:{}", item.line);
                let how = How { pool: &pool, as_of: None, holder: None, name: Some(&name) };
                let dated = DATED.contains(card).then(|| dated(item.bytes, &mut next));
                let bytes = dated.as_ref().map_or(item.bytes, String::as_bytes);
                let scored = how.score_by(&mut engine, bytes, Ok::<_, Refused>)?;
                let moment = scored.row.time.unwrap_or(BEGINNING);
                let day = days
                    .entry(moment.milliseconds.div_euclid(DAY_MILLISECONDS))
                    .or_insert((moment, Vec::new()));
                day.0 = day.0.max(moment);
                day.1.push(submission(SERVER, scored, None));
            }
        }
        Ok(days.into_values().collect())
    });
    scored.await.map_err(|error| Problem::internal(&error))?
}

/// Returns an item with a time: the `next` one if it has none.
fn dated(item: &[u8], next: &mut i64) -> String {
    let mut item: Map<String, Value> = serde_json::from_slice(item).unwrap_or_default();
    item.entry("time").or_insert_with(|| {
        *next += STEP_MILLISECONDS;
        Timestamp { milliseconds: *next }.to_string().into()
    });
    canonical_json(&Value::Object(item))
}

/// Returns the text of an example.
pub fn example(path: &str) -> Result<&'static str, Problem> {
    karat::examples::text(path).ok_or_else(|| Problem::internal(&format!("there is no example `{path}`")))
}
