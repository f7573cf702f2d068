//! The demo is the same everywhere, and worth looking at.
#![expect(clippy::unwrap_used, reason = "helpers of a test may stop it")]

use karat_demo::judged::Judged;
use karat_evidence::execution::{Job, Judge as _, Limits, Unjudged};
use karat_server::arena::{Match, RatedAgent, State, ranked};
use karat_server::cards::Cards;
use karat_server::clock::Clock;
use karat_server::replay::{Replay, Replayed};
use karat_server::{Options, Server, api, folder};
use karat_store::sqlite::Sqlite;
use karat_store::{Kind, Reader, port::Backend as _};
use tempfile::TempDir;

/// Returns a server with the demo, in a folder.
fn filled() -> (Server, TempDir) {
    let folder = TempDir::with_prefix("karat-").unwrap();
    let address = "127.0.0.1:0".parse().unwrap();
    let clock = Clock::fixed(karat_demo::NOW);
    let server = Server::bind_at(folder.path(), None, address, Options::default(), clock).unwrap();
    karat_demo::fill(&server.app).unwrap();
    (server, folder)
}

fn played(server: &Server) -> (Vec<RatedAgent>, Vec<Match>) {
    let state = server.app.memory.arena.state();
    (ranked(&state, None, 0), state.matches().map(|game| Match::clone(game)).collect())
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
    let waiting = runtime.block_on(api::reviews::waiting(&server.app, None)).unwrap();
    let subjects: Vec<&str> = waiting.iter().map(|it| it.subject.as_str()).collect();
    // The rejected score of `ibis` is still what its evidence gives, so it waits again.
    assert_eq!(subjects, ["dunnock", "ibis", "plover"]);
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
