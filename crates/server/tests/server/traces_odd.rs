//! Reasoning traces that are odd, or that arrive while other things happen: the log must still give every record again.

use std::fmt::Write as _;

use karat_evidence::names;
use karat_graders::trace::novelty::Settings;
use karat_server::Server;
use karat_server::clock::Clock;
use karat_server::replay::Replayed;
use karat_server::scoring::How;
use karat_server::sending::submission;
use serde_json::{Value, json};

use crate::common::{Folder, Running};
use crate::traces::{CARD, EAST, NORTH, at, copied, novelty, options, plain, replayed, running, trace};

#[test]
fn a_time_to_live_of_nothing_is_the_same_after_a_start() {
    let none = || options(Settings { ttl_milliseconds: Some(0), ..Settings::default() });
    let clock = Clock::fixed(at(0));
    let mut server = running(Folder::new(), none(), None, &clock);
    for (id, is_killed) in [("1", false), ("2", true), ("3", false), ("4", true)] {
        server.send(CARD, &trace("a", id, EAST).to_string()).is(201);
        let admin = server.admin.clone();
        let folder = if is_killed { copied(&server.folder) } else { server.stop() };
        server = running(folder, none(), Some(admin), &clock);
    }
    let all = replayed(&server.stop());
    assert_eq!(all, vec![Replayed::Same; 4]);
}

#[test]
fn a_correction_of_a_correction_is_no_copy_of_either() {
    let server = Running::with(plain());
    server.send(CARD, &trace("a", "1", EAST).to_string()).is(201);
    server.send(CARD, &trace("b", "1", NORTH).to_string()).is(201);
    for (old, id) in [("1", "2"), ("2", "3"), ("3", "4")] {
        let query = format!("{CARD}&replaces=kp:trace:{old}");
        let corrected = server.send(&query, &trace("a", id, EAST).to_string());
        assert_eq!(novelty(&corrected), 1.0, "{id}: {}", corrected.body);
        assert_eq!(corrected.at("/content/grading/novelty/compared"), 1);
    }
    let all = replayed(&server.stop());
    assert_eq!(all, vec![Replayed::Same; 5]);
}

#[test]
fn odd_names_are_the_same_after_a_start() {
    let clock = Clock::fixed(at(0));
    let server = running(Folder::new(), plain(), None, &clock);
    let names = [
        json!("a/b"),
        json!("a%2Fb"),
        json!("%"),
        json!("%25"),
        json!("\u{e9}"),
        json!("e\u{301}"),
        json!("\u{1f600}"),
        json!(1),
        json!(-0.0),
        json!(9_007_199_254_740_991_i64),
        json!("."),
        json!("../x"),
        json!("a\"b\\"),
        json!("\u{200b}"),
        json!("\u{fffd}"),
    ];
    let mut sent = 0;
    let send = |server: &Running, prefix: &str| {
        let mut count = 0;
        for name in &names {
            for id in ["1", "x/y", "%2F", "\u{e9}", "?#&=", " "] {
                let mut item = trace("a", &format!("{prefix}{id}"), EAST);
                item["metadata"]["agent_id"] = name.clone();
                let answer = server.send(CARD, &item.to_string());
                let is_fit = |text: &str| names::fault(text).is_none();
                let is_named = is_fit(item["id"].as_str().unwrap()) && name.as_str().is_none_or(is_fit);
                assert_eq!(answer.status, if is_named { 201 } else { 422 }, "{name} {id}: {}", answer.body);
                count += usize::from(is_named);
            }
        }
        count
    };
    sent += send(&server, "");
    let admin = server.admin.clone();
    let server = running(copied(&server.folder), plain(), Some(admin), &clock);
    sent += send(&server, "again");
    let all = replayed(&server.stop());
    assert!(all.len() == sent && all.iter().all(|it| *it == Replayed::Same), "{all:?}");
}

#[test]
fn settings_that_no_record_can_say_are_refused() {
    let open = |capacity, ttl_milliseconds| {
        let traces = options(Settings { capacity, ttl_milliseconds, ..Settings::default() });
        let folder = Folder::new();
        Server::bind(folder.path(), None, "127.0.0.1:0".parse().unwrap(), traces).map(|_| ())
    };
    let most = 1 << 53;
    assert!(open(most, Some(most)).is_ok());
    for (capacity, ttl) in [(most + 1, None), (1, Some(most + 1)), (1, Some(u64::MAX))] {
        let error = open(capacity, ttl).unwrap_err().to_string();
        assert!(error.contains("at most 9007199254740992"), "{error}");
    }
}

#[test]
fn a_batch_of_several_kinds_has_the_version_that_takes_each_line() {
    let server = Running::with(plain());
    let publish = |card: &str, id: &str, version: &str| {
        let text = card.replacen(&format!("= \"{id}\""), "= \"both\"", 1).replacen("= \"1.0.0\"", version, 1);
        server.post("/v1/scorecards", Some(&server.admin), "application/toml", text).is(201);
    };
    publish(include_str!("../../../../scorecards/trace/1.0.0.toml"), "trace", "= \"1.0.0\"");
    publish(include_str!("../../../../scorecards/workflow/1.0.0.toml"), "workflow", "= \"2.0.0\"");
    let run = |id: &str| {
        let mut run: Value =
            serde_json::from_str(include_str!("../../../../examples/workflow/worked-example.json")).unwrap();
        run["run_id"] = json!(id);
        run.to_string()
    };
    let trace = |id: &str, vector| trace("a", id, vector).to_string();
    for (first, lines) in [
        ("neither", [String::from("{"), run("1"), trace("1", EAST), trace("2", EAST), run("2")]),
        ("a trace", [trace("3", NORTH), run("3"), String::from("[]"), trace("4", EAST), run("4")]),
        ("a run", [run("5"), trace("5", EAST), trace("6", EAST), run("6"), String::from("x")]),
    ] {
        let sent = server.post(
            "/v1/evidence?card=both",
            Some(&server.admin),
            "application/x-ndjson",
            lines.join("\n"),
        );
        assert_eq!(
            (sent.is(200).at("/accepted"), sent.at("/refused")),
            (json!(4), json!(1)),
            "{first}: {}",
            sent.body
        );
        for (place, line) in lines.iter().enumerate() {
            let card = if line.contains("ReasoningTrace") { "both@1.0.0" } else { "both@2.0.0" };
            let record = sent.at(&format!("/items/{place}/record"));
            assert!(record.as_str().is_none_or(|id| id.ends_with(card)), "{first}: {record}");
        }
    }
    let all = replayed(&server.stop());
    assert_eq!(all, vec![Replayed::Same; 12]);
}

/// Records of before there was a cache have the time of their trace, in any order.
#[test]
fn records_that_go_back_in_time_keep_no_trace_out() {
    let folder = Folder::new();
    let clock = Clock::fixed(at(0));
    let address = "127.0.0.1:0".parse().unwrap();
    let server =
        Server::bind_at(folder.path(), None, address, plain(), clock.clone(), &mut |_, _| {}).unwrap();
    let admin = server.first_key.clone();
    let pool = server.app.memory.cards().find("trace@1.0.0").unwrap();
    let old = [("1", EAST, "2026-03-18T09:00:00Z"), ("2", NORTH, "2026-03-17T09:00:00Z")];
    let submissions = old.map(|(id, vector, time)| {
        let mut item = trace("a", id, vector);
        item["metadata"]["created_at"] = json!(time);
        let how = How { pool: &pool, as_of: None, holder: None, name: None };
        submission("server", how.score(item.to_string().as_bytes()).unwrap(), None)
    });
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let stored = runtime.block_on(server.app.append(submissions.into())).unwrap();
    assert!(stored.iter().all(Result::is_ok), "{stored:?}");
    drop((pool, server));
    let server = running(folder, plain(), admin, &clock);
    for (id, vector) in [("3", NORTH), ("4", EAST)] {
        assert_eq!(novelty(&server.send(CARD, &trace("b", id, vector).to_string())), 0.0, "{id}");
    }
    let all = replayed(&server.stop());
    assert!(matches!(all[..], [Replayed::Same, _, Replayed::Same, Replayed::Same]), "{all:?}");
}

/// Numbers that are drawn the same way every time.
struct Draw(u64);

impl Draw {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }

    fn one<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len() as u64) as usize]
    }
}

/// The texts of vectors, of which some are refused.
const VECTORS: [&str; 14] = [
    "[1,0,0,0]", "[0,1,0,0]", "[3,4,0,0]", "[-1,0,0,0]", "[-0.0,1,-0,0]", "[0,0,0,0]", "[1e-45,0,1e-45,0]",
    "[1e-60,0,0,0]", "[3.4e38,3.4e38,0,1]", "[1e300,0,0,0]", "[1,0,0]", "[]", "null",
    "[16777217,9007199254740993,0.1,1e-7]",
];

fn odd(draw: &mut Draw, vectors: &[&str]) -> String {
    let agent = *draw.one(&["a", "b/c", "b%2Fc"]);
    let mut item = trace(agent, &draw.below(60).to_string(), EAST);
    item["vector"] = json!("VECTOR");
    if draw.below(6) == 0 {
        item.as_object_mut().unwrap().remove("vector");
    }
    if draw.below(6) == 0 {
        item["novelty"] = json!(0.75);
    }
    item.to_string().replace("\"VECTOR\"", draw.one::<&str>(vectors))
}

/// Sends what may come, and starts again with other settings, gently or not, with or without the file of the cache.
fn wild(seed: u64, steps: usize) {
    let mut draw = Draw(seed);
    let mut second = 0;
    let clock = Clock::fixed(at(second));
    let settings = |draw: &mut Draw| Settings {
        capacity: *draw.one(&[0, 1, 2, 5, 1000]),
        dimension: *draw.one(&[4, 4, 4, 3]),
        ttl_milliseconds: *draw.one(&[
            None,
            None,
            Some(0),
            Some(1),
            Some(5_000),
            Some(60_000),
            Some(1 << 53),
        ]),
    };
    let opened = |settings| {
        let mut all = plain();
        all.traces.cache = settings;
        all
    };
    let mut used = vec![settings(&mut draw)];
    let mut server = running(Folder::new(), opened(used[0]), None, &clock);
    let mut statuses = std::collections::BTreeMap::new();
    for _ in 0..steps {
        match draw.below(30) {
            0..=9 => second += draw.below(4) as i64,
            10 => second += 70,
            11 => second -= draw.below(400) as i64,
            _ => {}
        }
        clock.put(at(second));
        let item = odd(&mut draw, &VECTORS);
        let moment = match draw.below(8) {
            0 => format!("&as_of={}", at(second + draw.below(320) as i64 - 10)),
            1 => "&as_of=2026-06-30T23:59:60Z".to_owned(),
            2 => format!("&as_of={}", at(second).to_string().replace('Z', ".123456Z").to_lowercase()),
            _ => String::new(),
        };
        let answer = match draw.below(16) {
            0 => {
                let lines: String = (0..draw.below(6)).fold(String::new(), |mut lines, _| {
                    let other = *draw.one(&["", "  ", "{", "[]", "{\"a\":1}"]);
                    let line = if draw.below(3) == 0 { other.to_owned() } else { odd(&mut draw, &VECTORS) };
                    writeln!(lines, "{line}").unwrap();
                    lines
                });
                server.post(
                    &format!("/v1/evidence?{CARD}{moment}"),
                    Some(&server.admin),
                    "application/x-ndjson",
                    lines,
                )
            }
            1..=3 => {
                let old = draw.below(60);
                server.send(&format!("{CARD}{moment}&replaces=kp:trace:{old}"), &item)
            }
            4 => {
                let admin = server.admin.clone();
                let folder = if draw.below(2) == 0 { copied(&server.folder) } else { server.stop() };
                let file = folder.path().join("trace@1.0.0.vectors");
                match draw.below(4) {
                    0 => drop(std::fs::remove_file(file)),
                    1 => drop(std::fs::write(file, b"damaged")),
                    _ => {}
                }
                if draw.below(2) == 0 {
                    let next = if draw.below(2) == 0 { settings(&mut draw) } else { *draw.one(&used) };
                    used.push(next);
                }
                server = running(folder, opened(*used.last().unwrap()), Some(admin), &clock);
                continue;
            }
            _ => server.send(&format!("{CARD}{moment}"), &item),
        };
        assert!(answer.status < 500, "{seed}: {}", answer.body);
        *statuses.entry(answer.status).or_insert(0) += 1;
    }
    let listed = server.get("/v1/records?card=trace@1.0.0&limit=500").at("/records");
    for record in listed.as_array().unwrap().iter().step_by(9) {
        let page = server.get(&format!("/records/{}/verify", record["position"])).body;
        let is_whole = "<td>✓</td><th class=\"name\" scope=\"row\"><span>evidence</span>";
        assert!(page.contains(is_whole), "{seed}: {record} {page}");
    }
    let all = replayed(&server.stop());
    assert!(all.iter().all(|it| *it == Replayed::Same), "{seed}: {all:?}");
    assert!(all.len() > 10, "{seed}: {statuses:?}");
}

#[test]
fn whatever_comes_the_log_gives_every_record_again() {
    for seed in 0..2 {
        wild(seed, 300);
    }
}
