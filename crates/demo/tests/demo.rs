//! The demo is the same everywhere, and worth looking at.
#![expect(clippy::unwrap_used, reason = "helpers of a test may stop it")]

use std::collections::BTreeMap;
use std::sync::Arc;

use karat::Timestamp;
use karat::engine::Engine;
use karat_demo::crossing;
use karat_demo::judged::Judged;
use karat_graders::execution::{Job, Judge as _, Limits, Unjudged};
use karat_run::{Event, Job as Plan, Outcome, Recording, Run};
use karat_server::arena::{By, Match, RatedAgent, State, ranked};
use karat_server::cards::Cards;
use karat_server::clock::Clock;
use karat_server::flows::{PlanState, VerdictState, drawn};
use karat_server::replay::{Replay, Replayed};
use karat_server::{Options, Server, api, folder};
use karat_store::log::VerifyingKey;
use karat_store::sqlite::Sqlite;
use karat_store::{Kind, Reader, port::Backend as _};
use tempfile::TempDir;

/// Returns a server with the demo, in a folder.
fn filled() -> (Server, TempDir) {
    let folder = TempDir::with_prefix("karat-").unwrap();
    let address = "127.0.0.1:0".parse().unwrap();
    let clock = Clock::fixed(karat_demo::BEGINNING);
    let server =
        Server::bind_at(folder.path(), None, address, Options::default(), clock, &mut |_, _| {}).unwrap();
    karat_demo::fill(&server.app).unwrap();
    (server, folder)
}

fn played(server: &Server) -> (Vec<RatedAgent>, Vec<Match>) {
    let state = server.app.memory.arena.state();
    (ranked(&state, By::Rating, None, 0), state.matches().map(|game| Match::clone(game)).collect())
}

#[test]
fn the_demo_is_the_same_again() {
    let ((one, _one), (other, _other)) = (filled(), filled());
    assert_eq!(played(&one), played(&other));
    let size = |server: &Server| *server.app.memory.size().borrow();
    assert_eq!(size(&one), size(&other));
}

#[test]
fn every_record_of_the_demo_follows_from_its_evidence() {
    let (_server, home) = filled();
    let open = || Reader::new(Sqlite::open(&home.path().join(folder::STORE)).unwrap().reader().unwrap());
    let (mut reader, mut again) = (open(), open());
    let mut replay = Replay::new(Cards::of_store(&mut reader).unwrap().compiled(), None);
    let size = reader.head().unwrap().size;
    let (mut records, mut position) = (0, 0);
    while position < size {
        let item = reader.item(position).unwrap();
        position += 1;
        if item.entry.kind == Kind::Record {
            records += 1;
            assert_eq!(replay.next(&mut again, &item).unwrap(), Replayed::Same, "{}", item.entry.id);
        }
    }
    assert!(records > 600, "{records}");
}

#[test]
fn every_page_of_the_demo_has_something_to_show() {
    let (server, _folder) = filled();
    let (ratings, matches) = played(&server);
    assert_eq!((ratings[0].rank, ratings[1].rank, ratings.len()), (1, 1, 6), "a tie at the top");
    for state in ["entered", "scored", "expired"] {
        assert!(matches.iter().any(|game| game.state.name() == state), "{state}");
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (waiting, _) = runtime.block_on(api::reviews::waiting(&server.app, None)).unwrap();
    let subjects: Vec<&str> = waiting.iter().map(|it| it.subject.as_str()).collect();
    // The score of `ibis` was rejected, and stays so.
    assert_eq!(subjects, ["dunnock", "plover"]);
    assert!(server.app.clock.now() >= karat_demo::NOW, "the clock runs on");
}

#[test]
fn what_is_executed_was_judged_before_and_says_by_whom() {
    let (server, _folder) = filled();
    let state = server.app.memory.arena.state();
    assert_eq!(
        state.waiting().count(),
        0,
        "reports are missing: `cargo run -p karat-demo --example judge_season`"
    );
    drop(state);
    let (_, matches) = played(&server);
    let of = |slug: &str| matches.iter().filter(|game| game.challenge == slug).collect::<Vec<_>>();
    for (slug, works, fails) in [("slots", "cartographer", "magpie"), ("trail", "cartographer", "magpie")] {
        let games = of(slug);
        assert!(games.len() >= 12, "{slug}: {}", games.len());
        let scored = |agent: &str| {
            let game =
                games.iter().find(|game| game.agent_id == agent && game.state.name() == "scored").unwrap();
            let State::Scored(scored) = &game.state else { panic!("{:?}", game.state) };
            scored.clone()
        };
        let right = scored(works);
        let execution = right.execution.as_ref().unwrap();
        assert!(execution["judge"]["engine"].as_str().unwrap().starts_with("wasmtime "), "{execution}");
        assert!(execution["judge"]["runtime_digest"].as_str().unwrap().starts_with("sha256:"), "{execution}");
        assert!(right.answer.score > scored(fails).answer.score, "{slug}");
    }
    // Once it is filled, answers are for the judges of the server.
    let job = Job {
        runtime: "python".to_owned(),
        runtime_digest: None,
        files: [("solution.py".to_owned(), String::new())].into(),
        limits: Limits::default(),
        seed: 0,
        tasks: Vec::new(),
    };
    let why = Judged::of_season().unwrap().judge(&job).unwrap_err();
    assert!(matches!(&why, Unjudged::NoVerdict(why) if why.contains(&job.digest().to_string())), "{why:?}");
}

fn example(path: &str) -> &'static str {
    karat::examples::text(path).unwrap()
}

/// Returns a plan of the crossing by its author, replayed with a recording: what `karat run --replay` does.
fn replayed(run: &crossing::Run) -> (Recording, Run) {
    let (plan, task) = (example(&crossing::plan_path(run.miner)), example(&crossing::task_path()));
    let (plan, _) = Plan::new(plan.as_bytes(), task.as_bytes(), None, None).unwrap();
    let recording = Recording::parse(example(&run.path())).unwrap();
    let run = plan.replay(&recording).unwrap();
    (recording, run)
}

/// Returns the score of evidence, as `karat score --card workflow` computes it, with the whole record.
fn scored(evidence: &str) -> (f64, String) {
    let record = Engine::open("workflow@1.0.0").unwrap().score(evidence.as_bytes()).unwrap();
    let score = serde_json::from_str::<serde_json::Value>(record.as_str()).unwrap();
    (score["score"]["exact"].as_f64().unwrap(), record.as_str().to_owned())
}

fn plans(server: &Server) -> BTreeMap<String, PlanState> {
    server.app.memory.flows.state().task(crossing::TASK).unwrap().plans.clone()
}

#[test]
fn the_score_of_a_plan_is_that_of_a_replay_and_its_receipt_verifies() {
    let (server, home) = filled();
    let key: VerifyingKey =
        std::fs::read_to_string(home.path().join("log.pub")).unwrap().trim().parse().unwrap();
    let mut reader = Reader::new(Sqlite::open(&home.path().join(folder::STORE)).unwrap().reader().unwrap());
    let size = reader.head().unwrap().size;
    let plans = plans(&server);
    assert!(plans.keys().map(String::as_str).eq({
        let mut miners = crossing::MINERS;
        miners.sort_unstable();
        miners
    }));
    for (miner, plan) in &plans {
        let verdict = plan.verdict.as_ref().unwrap();
        let VerdictState::Scored { counted, score, record, .. } = &verdict.state else {
            panic!("{verdict:?}")
        };
        // Every recording that was delivered, replayed by hand, by score and then by digest: the median counts.
        let runs = crossing::runs()
            .filter(|run| run.miner == miner && plan.drawn.iter().any(|it| it == run.recorder));
        let mut by_hand: Vec<(f64, String, String)> = runs
            .map(|run| {
                let (recording, run) = replayed(&run);
                let (score, record) = scored(&run.evidence);
                (score, recording.digest().to_string(), record)
            })
            .collect();
        by_hand.sort_by(|one, other| one.0.total_cmp(&other.0).then_with(|| one.1.cmp(&other.1)));
        let listed: Vec<(Option<f64>, &str)> = verdict
            .recordings
            .iter()
            .map(|it| (it.score.map(|score| score.to_f64()), it.recording.as_str()))
            .collect();
        let expected: Vec<(Option<f64>, &str)> =
            by_hand.iter().map(|(score, digest, _)| (Some(*score), digest.as_str())).collect();
        assert_eq!(listed, expected, "{miner}");
        let (median, digest, written) = &by_hand[(by_hand.len() - 1) / 2];
        assert_eq!((&score.to_f64(), counted), (median, digest), "{miner}");
        // The record is the same text, and its receipt names the recording.
        let kept = reader.find(Kind::Record, record, size).unwrap().unwrap();
        assert_eq!(std::str::from_utf8(&kept.content).unwrap(), written, "{miner}");
        let receipt = reader.receipt(kept.position).unwrap();
        let checked = receipt.verify(&key);
        assert!(
            checked.content.is_ok() && checked.inclusion.is_ok() && checked.evidence.is_ok(),
            "{miner}: {checked:?}"
        );
        assert!(receipt.entry.sources.iter().any(|source| source.to_string() == *counted), "{miner}");
    }
    let scores = |miner: &str| {
        let recordings = &plans[miner].verdict.as_ref().unwrap().recordings;
        recordings.iter().map(|it| it.score.unwrap().to_f64()).collect::<Vec<_>>()
    };
    let is_median_seen = |scores: &[f64]| scores.len() == 3 && scores[0] < scores[1] && scores[1] < scores[2];
    assert!(crossing::MINERS.iter().any(|miner| is_median_seen(&scores(miner))), "the median is seen");
    assert!(crossing::MINERS.iter().any(|miner| scores(miner).len() == 2), "a recording is missing");
}

#[test]
fn a_plan_fails_at_a_step_and_another_is_over_its_budget() {
    let has = |run: &Run, what: fn(&Event) -> bool| run.events.iter().any(what);
    let fails = |event: &Event| matches!(event, Event::Attempt(it) if it.outcome == Outcome::Failed);
    let waits = |event: &Event| matches!(event, Event::Attempt(it) if it.outcome == Outcome::Timeout);
    let aborts = |event: &Event| matches!(event, Event::BudgetAbort { .. });
    for run in crossing::runs() {
        let (recording, replay) = replayed(&run);
        let found = (has(&replay, fails), has(&replay, waits), has(&replay, aborts));
        let expected = (run.miner == "magpie", run.miner == "surveyor", run.miner == "tortoise");
        assert_eq!(found, expected, "{}", run.path());
        // It is signed by the recorder that it is named after, and of the moment at which the demo begins it.
        assert!(recording.verify(crossing::signer(run.recorder).unwrap().verifying_key()).is_ok());
        for (other, _) in crossing::RECORDERS.into_iter().filter(|(other, _)| *other != run.recorder) {
            assert!(recording.verify(crossing::signer(other).unwrap().verifying_key()).is_err());
        }
        let begins =
            Timestamp { milliseconds: i64::try_from(recording.started_microseconds()).unwrap() / 1000 };
        assert_eq!(begins, run.begins, "{}", run.path());
    }
}

#[test]
fn whoever_was_drawn_delivered_in_time() {
    let (server, _folder) = filled();
    let state = server.app.memory.flows.state();
    let of_task = state.task(crossing::TASK).unwrap();
    let stored = Arc::clone(&of_task.task);
    let moment = |text: &str| Timestamp::parse(text).unwrap();
    assert_eq!(stored.task.may_record.len(), crossing::RECORDERS.len());
    for (miner, plan) in &of_task.plans {
        let of = &stored.task;
        let names =
            drawn(&stored.draw, crossing::TASK, miner, &plan.plan.plan_digest, &of.may_record, of.recorders);
        assert_eq!(plan.drawn, names);
        assert!(moment(&plan.plan.submitted_at) <= moment(&of.plans_until));
        let recorded: Vec<&str> =
            crossing::runs().filter(|run| run.miner == miner).map(|run| run.recorder).collect();
        for name in &names {
            let delivery = plan.deliveries.get(name);
            assert_eq!(delivery.is_some(), recorded.contains(&name.as_str()), "{miner}: {name}");
            let Some(delivery) = delivery else { continue };
            let delivered = moment(&delivery.delivered_at);
            assert!(moment(&of.plans_until) < delivered && delivered <= moment(&of.recordings_until));
        }
        assert_eq!(
            plan.deliveries.len(),
            names.iter().filter(|name| recorded.contains(&name.as_str())).count()
        );
    }
}

#[test]
fn the_pages_show_plans_recordings_and_records() {
    let (server, _folder) = filled();
    let (address, plans) = (server.address, plans(&server));
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let serving = std::thread::spawn(|| server.run(async move { stopped.await.unwrap_or_default() }));
    let page = |path: &str| {
        let mut answer = ureq::get(format!("http://{address}{path}")).call().unwrap();
        answer.body_mut().read_to_string().unwrap()
    };
    assert!(page("/workflows").contains("/workflows/crossing-12"));
    let shown = page("/workflows/crossing-12");
    for (miner, plan) in &plans {
        let verdict = plan.verdict.as_ref().unwrap();
        let VerdictState::Scored { record, score, .. } = &verdict.state else { panic!("{verdict:?}") };
        assert!(shown.contains(&format!("The recordings of {miner}’s plan")), "{miner}");
        // Three decimals, rounded as on every page.
        let score = format!("{:.3}", score.to_f64());
        assert!(shown.contains(&format!(">{score}<")), "{miner}: {score}");
        let record = record.replace('/', "%2F").replace(':', "%3A");
        assert!(shown.contains(&format!("/records/{record}")), "{record}: {shown}");
        assert!(page(&format!("/records/{record}")).contains(miner.as_str()));
        for recording in &verdict.recordings {
            let digest = recording.recording.replace(':', "%3A");
            let text = page(&format!("/v1/workflows/recordings/{digest}"));
            let path = format!("season/crossing/recordings/{miner}.{}.jsonl", recording.recorder);
            assert_eq!(text, example(&path));
        }
    }
    drop(stop);
    serving.join().unwrap().unwrap();
}
