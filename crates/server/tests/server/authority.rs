//! The model of authority: every operation with every sort of caller against the table of the decision, and the function
//! against a second implementation of it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use karat_core::scorecard::Reporter;
use karat_core::timestamp::Timestamp;
use karat_server::Options;
use karat_server::authority::{Act, Item, Old, OldPart, Provenances, Revoked, decide};
use karat_server::clock::Clock;
use karat_server::keys::{Key, KeyRequest, Scope};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::common::{Answer, Folder, Running};
use crate::keys::CARD;

const JSON: &str = "application/json";
const TOLD: &str = "/v1/evidence?card=told@1.0.0";

/// A row of the table: what an operation needs of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Needs {
    scope: String,
    keys: String,
}

/// Reads the table of the decision: operation to row. An operation may have several rows, if they need the same.
fn table() -> BTreeMap<String, Needs> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/decisions/0024-authority.md");
    let text = fs::read_to_string(path).unwrap();
    let mut table = BTreeMap::new();
    for line in text.lines().filter(|line| line.starts_with("| ") && line.contains('`')) {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [_, operations, scope, keys, _] = cells.try_into().unwrap();
        let needs = Needs { scope: scope.trim_matches('`').to_owned(), keys: keys.to_owned() };
        for operation in operations.split(", ") {
            let before = table.insert(operation.trim_matches('`').to_owned(), needs.clone());
            assert!(before.is_none_or(|before| before == needs), "{operation}: rows differ");
        }
    }
    table
}

/// A caller: its key, if it has one, with the scopes that it was made with.
struct Caller {
    name: &'static str,
    secret: Option<String>,
    scopes: &'static [&'static str],
    has_subject: bool,
}

fn callers(server: &Running) -> Vec<Caller> {
    let key = |name: &'static str, scopes: &'static [&'static str], more: Value| {
        let mut request = json!({"name": name, "scopes": scopes});
        request.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let has_subject = request.get("subject").is_some();
        Caller { name, secret: Some(server.key(&request)), scopes, has_subject }
    };
    vec![
        Caller { name: "no key", secret: None, scopes: &[], has_subject: false },
        key("read", &["read"], json!({})),
        key("write", &["write:evidence"], json!({})),
        key("review", &["review"], json!({})),
        key("admin", &["admin"], json!({})),
        key("all but admin", &["read", "write:evidence", "review"], json!({})),
        key("subject", &["write:evidence"], json!({"subject": "bee"})),
        key("reading subject", &["read"], json!({"subject": "bee"})),
        key("reporter", &["write:evidence"], json!({"reports": ["judge"]})),
        key("reporting admin", &["admin"], json!({"reports": ["harness"]})),
    ]
}

/// Returns the status that the table gives: 401, 403, or 0 if it is allowed.
fn expected(needs: &Needs, caller: &Caller, is_reading_open: bool) -> u16 {
    if needs.scope == "none" || needs.scope == "read" && is_reading_open {
        return 0;
    }
    if caller.secret.is_none() {
        return 401;
    }
    let has_scope = caller.scopes.iter().any(|scope| [needs.scope.as_str(), "admin"].contains(scope));
    let is_fit = match needs.keys.as_str() {
        "any" => true,
        "of a subject" => caller.has_subject,
        "not of a subject" => !caller.has_subject,
        other => panic!("{other}"),
    };
    if has_scope && is_fit { 0 } else { 403 }
}

/// Calls an operation with names that nothing has and with an empty body: a caller that may do it gets another error, or
/// an answer.
fn call(server: &Running, method: &str, path: &str, operation: &Value, secret: Option<&str>) -> Answer {
    let names = [
        ("{*path}", "0/000.p/1"),
        ("{path}", "0/000.p/1"),
        ("{card}", "trust@1.1.0"),
        ("{key}", "0000000000000000"),
    ];
    let path = names.iter().fold(path.to_owned(), |path, (name, value)| path.replace(name, value));
    let path = path.split('/').map(|part| if part.starts_with('{') { "none" } else { part });
    let path = path.collect::<Vec<_>>().join("/");
    let parameters = operation["parameters"].as_array().into_iter().flatten();
    let is_needed = |it: &&Value| it["in"] == "query" && it["required"] == true;
    let query = parameters.filter(is_needed).map(|it| format!("{}=told@1.0.0", it["name"].as_str().unwrap()));
    let path = format!("{path}?{}", query.collect::<Vec<_>>().join("&"));
    match method {
        "get" if path == "/v1/events?" => server.get_with("/v1/events?card=none@1.0.0", secret),
        "get" if path == "/v1/arena/events?" => server.get_with("/v1/arena/events?agent=none", secret),
        "get" => server.get_with(&path, secret),
        "post" => server.post(&path, secret, JSON, "{}"),
        "delete" => server.delete(&path, secret.unwrap_or("karat_")),
        other => panic!("{other}"),
    }
}

#[test]
fn every_operation_admits_whom_the_table_says() {
    let first = Running::new();
    first.post("/v1/scorecards", Some(&first.admin), "application/toml", CARD).is(201);
    let (on_loopback, admin) = (callers(&first), first.admin.clone());
    let document: Value = serde_json::from_str(&karat_server::api::openapi::json().unwrap()).unwrap();
    let table = table();
    let mut known = BTreeSet::new();
    let mut all = |server: &Running, callers: &[Caller], is_reading_open: bool| {
        let mut refused = 0;
        for (path, methods) in document["paths"].as_object().unwrap() {
            for (method, operation) in methods.as_object().unwrap() {
                let name = operation["operationId"].as_str().unwrap();
                let needs = table.get(name).unwrap_or_else(|| panic!("`{name}` has no row in 0024"));
                known.insert(name.to_owned());
                for caller in callers {
                    let answer = call(server, method, path, operation, caller.secret.as_deref());
                    let status = if [401, 403].contains(&answer.status) { answer.status } else { 0 };
                    // What spans hold is known before they are read, and so is who may not say it.
                    let is_barred =
                        name == "send_traces" && ["reporter", "reporting admin"].contains(&caller.name);
                    let expected = if is_barred { 403 } else { expected(needs, caller, is_reading_open) };
                    assert_eq!(status, expected, "{name} by {}: {}", caller.name, answer.body);
                    refused += usize::from(status != 0);
                }
            }
        }
        refused
    };
    let few = all(&first, &on_loopback, true);
    let options = Options { hosts: Vec::new(), ..Options::default() };
    let second = Running::at("0.0.0.0:0", first.stop(), options, Some(admin));
    let many = all(&second, &on_loopback, false);
    assert!(few > 80 && many > few + 80, "{few} {many}");
    let rows: BTreeSet<String> = table.keys().cloned().collect();
    assert_eq!(rows, known, "the table has operations that the server has not");
}

#[test]
fn a_subject_withdraws_nothing_that_others_say_of_it() {
    let server = Running::new();
    server.post("/v1/scorecards", Some(&server.admin), "application/toml", CARD).is(201);
    let key = |name: &str, more: Value| {
        let mut request = json!({"name": name, "scopes": ["write:evidence"]});
        request.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        server.key(&request)
    };
    let own = key("bee", json!({"subject": "bee"}));
    let judge = key("judge", json!({"reports": ["judge"]}));
    let harness = key("harness", json!({"reports": ["harness"]}));
    let all = key("all", json!({}));
    let send =
        |key: &str, query: &str, item: &str| server.post(&format!("{TOLD}{query}"), Some(key), JSON, item);
    send(&harness, "", r#"{"subject":"bee","id":"bad","measured":0}"#).is(201);
    send(&all, "", r#"{"subject":"bee","id":"failed","told":1,"outcome":"failed"}"#).is(201);
    send(&all, "", r#"{"subject":"bee","id":"empty"}"#).is(201);
    send(&all, "", r#"{"subject":"bee","id":"both","told":0,"measured":0}"#).is(201);
    for old in ["bad", "failed", "empty", "both"] {
        for key in [&own, &judge] {
            let refused = send(key, &format!("&replaces={old}"), r#"{"subject":"bee","id":"sorry"}"#);
            assert_eq!(refused.is_problem(403, "forbidden").at("/field"), "replaces", "{old}");
        }
    }
    assert_eq!(server.get("/v1/records?subject=bee").at("/records").as_array().unwrap().len(), 4);
    // Who may report all that the old item had may correct it, also if another key sent it.
    send(&harness, "&replaces=bad", r#"{"subject":"bee","id":"good","measured":1}"#).is(201);
    send(&harness, "&replaces=both", r#"{"subject":"bee","id":"half","measured":1}"#)
        .is_problem(403, "forbidden");
    send(&all, "&replaces=both", r#"{"subject":"bee","id":"half","measured":1}"#).is(201);
    send(&own, "", r#"{"subject":"bee","id":"said","told":0}"#).is(201);
    send(&own, "&replaces=said", r#"{"subject":"bee","id":"said-again","told":1}"#).is(201);
}

/// A correction takes the old item out of the past as well, so that its subject went from 200 points to 950 and to the highest tier
/// without a review.
#[test]
fn a_subject_passes_no_review_by_a_correction() {
    let server = Running::new();
    let asks = [
        "review = { swing_points = 200, deadline_hours = 72 }",
        "certification = { confirm_hours = 24, promotion_days = 7, at_risk_days = 14, silence_days = 90 }",
        "window = { tasks = 5 }",
    ];
    for (number, asked) in asks.iter().enumerate() {
        let card = CARD.replace("id       = \"told\"", &format!("id = \"told-{number}\""));
        let card =
            format!("{card}\n[[tier]]\nname = \"high\"\nscore = 50\n[standing]\nscore = \"window\"\n{asked}");
        server.post("/v1/scorecards", Some(&server.admin), "application/toml", card).is(201);
    }
    let own = server.key(&json!({"name": "bee", "scopes": ["write:evidence"], "subject": "bee"}));
    let all = server.key(&json!({"name": "all", "scopes": ["write:evidence"]}));
    for number in 0..asks.len() {
        let path = format!("/v1/evidence?card=told-{number}@1.0.0");
        let item = |id: u8, told: u8| {
            json!({"subject": "bee", "id": format!("{number}-{id}"), "told": told}).to_string()
        };
        server.post(&path, Some(&own), JSON, item(1, 0)).is(201);
        let corrected = format!("{path}&replaces={number}-1");
        let sent = server.post(&corrected, Some(&own), JSON, item(2, 1));
        if number == 2 {
            sent.is(201);
            continue;
        }
        assert_eq!(sent.is_problem(403, "forbidden").at("/field"), "replaces", "{number}");
        assert!(sent.at("/detail").as_str().unwrap().contains("a scorecard with reviews"), "{}", sent.body);
        server.post(&corrected, Some(&all), JSON, item(2, 1)).is(201);
    }
}

#[test]
fn a_correction_withdraws_one_item_and_no_equal_one() {
    let server = Running::new();
    server.post("/v1/scorecards", Some(&server.admin), "application/toml", CARD).is(201);
    let own = server.key(&json!({"name": "bee", "scopes": ["write:evidence"], "subject": "bee"}));
    // Without ids: two items with the same content, one by each key.
    let item = r#"{"subject":"bee","told":0,"outcome":"failed"}"#;
    let theirs = server.post_keyed(TOLD, &server.admin, JSON, Some("theirs"), item);
    let same = server.post_keyed(TOLD, &own, JSON, Some("own"), item);
    assert_eq!(theirs.is(201).at("/evidence/digest"), same.is(201).at("/evidence/digest"));
    let better = r#"{"subject":"bee","id":"better","told":1,"outcome":"succeeded"}"#;
    let correct = |old: &str| server.post(&format!("{TOLD}&replaces={old}"), Some(&own), JSON, better);
    correct("theirs").is_problem(403, "forbidden");
    correct("own").is(201);
    let check = |server: &Running| {
        let records = server.get("/v1/records?subject=bee").at("/records");
        let ids: Vec<&str> =
            records.as_array().unwrap().iter().map(|it| it["id"].as_str().unwrap()).collect();
        assert_eq!(ids, ["bee/better/told@1.0.0", "bee/theirs/told@1.0.0"]);
    };
    check(&server);
    let secret = server.admin.clone();
    let folder = server.stop();
    fs::remove_file(folder.path().join("index.cache")).unwrap();
    check(&Running::in_folder(folder, Options::default(), Some(secret)));
}

#[test]
fn a_record_under_another_scorecard_counts_for_who_may_correct() {
    let server = Running::new();
    server.post("/v1/scorecards", Some(&server.admin), "application/toml", CARD).is(201);
    let other = CARD
        .replace("id       = \"told\"", "id = \"checked\"")
        .replace("from = \"subject\"", "from = \"harness\"");
    server.post("/v1/scorecards", Some(&server.admin), "application/toml", other).is(201);
    let own = server.key(&json!({"name": "bee", "scopes": ["write:evidence"], "subject": "bee"}));
    let item = r#"{"subject":"bee","id":"1","told":0}"#;
    server.post(TOLD, Some(&own), JSON, item).is(201);
    // The harness vouches for the same item under its own scorecard.
    server.send("card=checked@1.0.0", item).is(201);
    let better = r#"{"subject":"bee","id":"2","told":1}"#;
    let refused = server.post(&format!("{TOLD}&replaces=1"), Some(&own), JSON, better);
    assert_eq!(refused.is_problem(403, "forbidden").at("/field"), "replaces");
}

// The second implementation: sets of names and plain loops, written from the table alone.

fn naive_reports(key: &Key, name: &str) -> bool {
    if key.reports.is_empty() { key.subject.is_none() } else { key.reports.iter().any(|it| it == name) }
}

fn naive(key: Option<&Key>, is_open: bool, act: &Act<'_>) -> bool {
    let scope = match act {
        Act::Read => "read",
        Act::Send(_) | Act::Correct(_) | Act::ProposeWeights | Act::Play(_) => "write:evidence",
        Act::HandIn | Act::Deliver => "write:evidence",
        Act::DecideWeights(_) | Act::Review | Act::ReadReviews => "review",
        _ => "admin",
    };
    if scope == "read" && is_open {
        return true;
    }
    let Some(key) = key else { return false };
    let scopes: Vec<&str> = key.scopes.iter().map(|it| it.name()).collect();
    if !scopes.contains(&"admin") && !scopes.contains(&scope) {
        return false;
    }
    let names = |set: Provenances| {
        let all = Reporter::STATED.into_iter().chain([Reporter::Unstated]);
        all.filter(move |it| set.contains(*it)).map(Reporter::name)
    };
    match act {
        Act::Send(Some(item)) => {
            let is_other = key.subject.as_ref().is_some_and(|own| own != item.subject);
            let is_own = item.is_of_arena || item.is_of_task || item.keeper.is_some_and(|it| it != key.id);
            !is_other && !is_own && names(item.stated).all(|name| naive_reports(key, name))
        }
        Act::Correct(old) => {
            if old.is_of_arena || old.is_of_task || old.is_reviewed && key.subject.is_some() {
                return false;
            }
            for part in &old.parts {
                if part.sender.as_deref() == Some(key.id.as_str()) {
                    continue;
                }
                for name in names(part.stated) {
                    if !naive_reports(key, name) {
                        return false;
                    }
                }
            }
            true
        }
        Act::ProposeWeights | Act::Deliver => key.subject.is_none(),
        Act::HandIn => key.subject.is_some(),
        Act::DecideWeights(Some(proposer)) => *proposer != key.id,
        Act::Play(None) => key.subject.is_some(),
        Act::Play(Some(agent)) => key.subject.as_deref() == Some(*agent),
        Act::RevokeKey(Some(revoked)) => !revoked.is_last_admin,
        _ => true,
    }
}

const SUBJECTS: [&str; 3] = ["ant", "bee", "cat"];
const REPORTERS: [Reporter; 7] = [
    Reporter::Unstated,
    Reporter::Harness,
    Reporter::Task,
    Reporter::Subject,
    Reporter::Judge,
    Reporter::Operator,
    Reporter::ThirdParty,
];

/// Draws one of a few keys, of which some cannot be made.
fn key() -> impl Strategy<Value = Option<Key>> {
    let scopes = [Scope::Read, Scope::WriteEvidence, Scope::Review, Scope::Admin];
    let scopes = proptest::sample::subsequence(scopes.to_vec(), 0..=4);
    let subject = proptest::option::of(proptest::sample::select(SUBJECTS.to_vec()));
    let reports = proptest::option::of(proptest::sample::subsequence(Reporter::STATED.to_vec(), 0..=6));
    (scopes, subject, reports, 0u8..4).prop_map(|(scopes, subject, reports, number)| {
        let request = KeyRequest {
            name: String::from("drawn"),
            scopes: scopes.into_iter().collect(),
            subject: subject.map(str::to_owned),
            reports: reports.map(|all| all.iter().map(|it| it.name().to_owned()).collect()),
        };
        request.make([number; 32]).ok().map(|made| made.key)
    })
}

fn provenances() -> impl Strategy<Value = Provenances> {
    proptest::sample::subsequence(REPORTERS.to_vec(), 0..=7).prop_map(|all| all.into_iter().collect())
}

/// Draws the id of a key: one of those that [`key`] draws.
fn id() -> impl Strategy<Value = String> {
    (0u8..4).prop_map(|number| KeyRequest::admin("drawn").make([number; 32]).unwrap().key.id)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_function_is_the_table(
        key in key(),
        is_open: bool,
        subject in proptest::sample::select(SUBJECTS.to_vec()),
        stated in provenances(),
        (is_of_arena, is_of_task, is_reviewed) in
            (proptest::bool::weighted(0.2), proptest::bool::weighted(0.2), proptest::bool::weighted(0.2)),
        parts in proptest::collection::vec((proptest::option::of(id()), provenances()), 0..4),
        id in proptest::option::of(id()),
        agent in proptest::option::of(proptest::sample::select(SUBJECTS.to_vec())),
        is_last_admin in proptest::option::of(any::<bool>()),
    ) {
        let parts = parts.into_iter().map(|(sender, stated)| OldPart { sender, stated }).collect();
        let old = Old { parts, is_of_arena, is_of_task, is_reviewed };
        for act in [
            Act::Read,
            Act::ReadKeys,
            Act::MakeKey,
            Act::RevokeKey(is_last_admin.map(|is_last_admin| Revoked { is_last_admin })),
            Act::Withdraw,
            Act::Backfill,
            Act::PublishCard,
            Act::PublishChallenge,
            Act::RegisterAgent,
            Act::ManageHarnesses,
            Act::Send(None),
            Act::Send(Some(Item { subject, stated, is_of_arena, is_of_task, keeper: id.as_deref() })),
            Act::Correct(&old),
            Act::ProposeWeights,
            Act::DecideWeights(id.as_deref()),
            Act::ReadReviews,
            Act::Review,
            Act::Play(agent),
            Act::PostTask,
            Act::ManageRecorders,
            Act::HandIn,
            Act::Deliver,
        ] {
            let decided = decide(key.as_ref(), is_open, &act);
            prop_assert_eq!(decided.is_ok(), naive(key.as_ref(), is_open, &act), "{:?} {:?} {:?}", act, key, decided);
        }
    }
}

#[test]
fn every_entry_says_whose_request_it_came_with() {
    let server = Running::new();
    let keys = server.get_with("/v1/keys", Some(&server.admin));
    let admin = keys.at("/keys/0/id").as_str().unwrap().to_owned();
    let made = |request: Value| {
        let made = server.post("/v1/keys", Some(&server.admin), JSON, request.to_string());
        let text = |pointer| made.is(201).at(pointer).as_str().unwrap().to_owned();
        (text("/secret"), text("/id"))
    };
    let (ci, ci_id) = made(json!({"name": "ci", "scopes": ["write:evidence"]}));
    let (bee, bee_id) = made(json!({"name": "bee", "scopes": ["write:evidence"], "subject": "bee"}));
    server.post("/v1/scorecards", Some(&server.admin), "application/toml", CARD).is(201);
    let item = r#"{"subject":"bee","id":"1","told":1,"outcome":"succeeded"}"#;
    let sent = server.post(TOLD, Some(&bee), JSON, item);
    // Sent again by another, it is unchanged; a line of a batch has its sender too.
    server.post(TOLD, Some(&ci), JSON, item).is(200);
    let line = r#"{"subject":"bee","id":"2","measured":1}"#;
    server.post(TOLD, Some(&ci), "application/x-ndjson", line).is(200);
    // Its sender may correct an item, although it states an outcome.
    let better = r#"{"subject":"bee","id":"3","told":0}"#;
    server.post(&format!("{TOLD}&replaces=1"), Some(&bee), JSON, better).is(201);

    let senders = |query: &str| -> Vec<Value> {
        let list = server.get(&format!("/v1/records?{query}")).at("/records");
        list.as_array().unwrap().iter().map(|it| it["sender"].clone()).collect()
    };
    assert_eq!(senders("subject=bee"), [json!(bee_id), json!(ci_id)]);
    assert_eq!(senders(&format!("sender={ci_id}")), [json!(ci_id)]);
    assert_eq!(senders("sender=0000000000000000"), Vec::<Value>::new());
    let (evidence, record) = (sent.at("/evidence/position"), sent.at("/record/position"));
    assert_eq!(server.get(&format!("/v1/evidence/{evidence}")).at("/sender"), json!(bee_id));
    assert_eq!(server.get(&format!("/v1/records/{record}")).at("/sender"), json!(bee_id));
    let receipt = server.get(&format!("/v1/receipts/{record}"));
    assert_eq!(
        (receipt.at("/entry/sender"), receipt.at("/entry/schema")),
        (json!(bee_id), json!("karat/entry/2"))
    );
    let history = server.get("/v1/subjects/bee/history").at("/entries/0/sender");
    assert_eq!(history, json!(bee_id));
    let page = server.get(&format!("/records/{record}"));
    assert!(page.is(200).body.contains(&format!("the key {bee_id}")), "{}", page.body);

    // No entry is without: what no key sent is the server's. A restart reads the same.
    let first = senders("subject=bee");
    let secret = server.admin.clone();
    let server = Running::in_folder(server.stop(), Options::default(), Some(secret));
    let again = server.get("/v1/records?subject=bee").at("/records");
    assert_eq!(again.as_array().unwrap().iter().map(|it| it["sender"].clone()).collect::<Vec<_>>(), first);
    let size = server.get("/v1/log").at("/size").as_u64().unwrap();
    let bundle = server.get(&format!("/tile/entries/000.p/{size}")).body;
    let known = [admin.as_str(), &ci_id, &bee_id, "server"];
    for sender in known {
        assert!(bundle.contains(&format!(r#""sender":"{sender}""#)), "{sender}");
    }
    assert_eq!(bundle.matches("karat/entry/2").count() as u64, size, "{bundle}");
    let of_known: usize = known.iter().map(|it| bundle.matches(&format!(r#""sender":"{it}""#)).count()).sum();
    assert_eq!(of_known as u64, size, "{bundle}");
}

#[test]
fn corrections_are_counted_wherever_a_score_is_told() {
    let server = Running::new();
    let card = format!("{CARD}\n[standing]\nscore = \"window\"\nwindow = {{ tasks = 9 }}\n");
    server.post("/v1/scorecards", Some(&server.admin), "application/toml", card).is(201);
    let own = server.key(&json!({"name": "bee", "scopes": ["write:evidence"], "subject": "bee"}));
    let send = |key: &str, query: &str, item: &str| {
        server.post(&format!("{TOLD}{query}"), Some(key), JSON, item).is(201);
    };
    send(&own, "", r#"{"subject":"bee","id":"1","told":0,"time":"2026-01-01T00:00:00Z"}"#);
    send(&server.admin, "", r#"{"subject":"bee","id":"m","measured":0,"time":"2026-01-01T00:00:00Z"}"#);
    send(&server.admin, "", r#"{"subject":"ant","id":"1","told":0.5,"time":"2026-01-01T00:00:00Z"}"#);
    for (path, member) in [("standings/bee?", "/corrected"), ("leaderboards?", "/corrected")] {
        let answer = server.get(&format!("/v1/{path}card=told@1.0.0"));
        assert_eq!(answer.is(200).at(member), Value::Null, "{path}: what was not corrected is not counted");
    }
    send(&own, "&replaces=1", r#"{"subject":"bee","id":"2","told":1,"time":"2026-01-01T00:00:00Z"}"#);
    send(&own, "&replaces=2", r#"{"subject":"bee","id":"3","told":1,"time":"2026-01-01T00:00:00Z"}"#);
    send(
        &server.admin,
        "&replaces=m",
        r#"{"subject":"bee","id":"n","measured":1,"time":"2026-01-01T00:00:00Z"}"#,
    );

    // A key that was revoked was still one of the subject, and a restart counts the same.
    let keys = server.get_with("/v1/keys", Some(&server.admin)).at("/keys");
    let id = keys.as_array().unwrap().iter().find(|it| it["name"] == "bee").unwrap()["id"].clone();
    server.delete(&format!("/v1/keys/{}", id.as_str().unwrap()), &server.admin).is(204);
    let check = |server: &Running| {
        let three = json!({"count": 3, "by_own_key": 2});
        let standing = server.get("/v1/standings/bee?card=told@1.0.0");
        assert_eq!(standing.is(200).at("/corrected"), three);
        let list = server.get("/v1/standings?card=told@1.0.0");
        assert_eq!(
            (list.at("/standings/1/corrected"), list.at("/standings/0/corrected")),
            (three.clone(), Value::Null)
        );
        for more in ["", "&by=mean", "&method=means", "&method=means&by=mean"] {
            let board = server.get(&format!("/v1/leaderboards?card=told@1.0.0{more}"));
            assert_eq!(board.is(200).at("/corrected"), three, "{more}");
            assert_eq!(board.at("/leaderboards/0/rows/0/subject"), "bee", "{more}");
            assert_eq!(board.at("/leaderboards/0/rows/0/corrected"), three, "{more}");
            assert_eq!(board.at("/leaderboards/0/rows/1/corrected"), Value::Null, "{more}");
        }
        let says = "3 records were corrected, 2 of them by keys of their subjects";
        for path in ["/leaderboards?card=told@1.0.0", "/subjects/bee?card=told@1.0.0"] {
            let page = server.get(path);
            assert!(page.is(200).body.contains(says), "{path}: {}", page.body);
        }
        assert!(!server.get("/subjects/ant?card=told@1.0.0").body.contains("corrected"));
    };
    check(&server);
    let secret = server.admin.clone();
    let folder = server.stop();
    let server = Running::in_folder(folder, Options::default(), Some(secret.clone()));
    check(&server);
    // The same from the records alone.
    let folder = server.stop();
    fs::remove_file(folder.path().join("index.cache")).unwrap();
    check(&Running::in_folder(folder, Options::default(), Some(secret)));
}

#[test]
fn what_a_revoked_key_sent_is_withdrawn_for_all_to_see() {
    let start = Timestamp { milliseconds: 1_767_225_600_000 };
    let clock = Clock::fixed(start);
    let at = |seconds: i64| Timestamp { milliseconds: start.milliseconds + 1000 * seconds };
    let server = Running::with_clock("127.0.0.1:0", Folder::new(), Options::default(), None, clock.clone());
    let card = format!("{CARD}\n[standing]\nscore = \"window\"\nwindow = {{ tasks = 9 }}\n");
    server.post("/v1/scorecards", Some(&server.admin), "application/toml", card).is(201);
    let made = json!({"name": "ci", "scopes": ["write:evidence"]}).to_string();
    let made = server.post("/v1/keys", Some(&server.admin), JSON, made);
    let (ci, id) =
        (made.at("/secret").as_str().unwrap().to_owned(), made.at("/id").as_str().unwrap().to_owned());
    let send = |key: &str, query: &str, item: &str| {
        server.post(&format!("{TOLD}{query}"), Some(key), JSON, item).is(201).at("/record/position")
    };
    let time = |item: &str| format!(r#"{{{item},"subject":"bee","time":"2026-01-01T00:00:00Z"}}"#);
    send(&server.admin, "", &time(r#""id":"good","measured":1"#));
    let early = send(&ci, "", &time(r#""id":"early","measured":1"#));
    clock.put(at(100));
    let late = send(&ci, "", &time(r#""id":"late","measured":0"#));
    send(&ci, "&replaces=good", &time(r#""id":"bad","measured":0"#));
    // The number of records stays the same below, and the newest too.
    send(&server.admin, "", &time(r#""id":"last","measured":1"#));

    let path = format!("/v1/keys/{id}/withdrawal");
    let body = json!({"since": at(100).to_string(), "reason": "the key leaked"});
    let withdraw = |body: &Value| server.post(&path, Some(&server.admin), JSON, body.to_string());
    withdraw(&body).is_problem(409, "conflict");
    server.delete(&format!("/v1/keys/{id}"), &server.admin).is(204);
    server
        .post("/v1/keys/0000000000000000/withdrawal", Some(&server.admin), JSON, body.to_string())
        .is_problem(404, "not-found");
    for (since, reason, field) in [("yesterday", "r", "$.since"), ("2026-01-01T00:00:00Z", "", "$.reason")] {
        let wrong = withdraw(&json!({"since": since, "reason": reason}));
        assert_eq!(wrong.is_problem(400, "bad-request").at("/field"), field);
    }
    let ids = |server: &Running, query: &str| -> Vec<String> {
        let records = server.get(&format!("/v1/records?subject=bee{query}")).at("/records");
        records
            .as_array()
            .unwrap()
            .iter()
            .map(|it| it["record"]["evidence"]["id"].as_str().unwrap().to_owned())
            .collect()
    };
    let score = |server: &Running| {
        let standing = server.get("/v1/standings/bee?card=told@1.0.0").is(200).at("/points");
        let board = server
            .get("/v1/leaderboards?card=told@1.0.0&method=means")
            .is(200)
            .at("/leaderboards/0/rows/0/official/points");
        (standing, board)
    };
    assert_eq!(ids(&server, ""), ["last", "bad", "late", "early"]);
    assert_eq!(score(&server), (json!(50), json!(50)));
    clock.put(at(200));
    let done = withdraw(&body);
    assert_eq!(
        (done.is(201).at("/records"), done.at("/from")),
        (json!(2), json!(late.as_u64().unwrap() - 1))
    );
    withdraw(&json!({"since": start.to_string(), "reason": "all of it"})).is_problem(409, "conflict");

    let check = |server: &Running| {
        assert_eq!(ids(server, ""), ["last", "early", "good"]);
        assert_eq!(ids(server, &format!("&sender={id}")), ["early"]);
        assert_eq!(ids(server, &format!("&known_at={}", at(150))), ["last", "bad", "late", "early"]);
        assert_eq!(score(server), (json!(100), json!(100)));
        let by = |position: &Value| server.get(&format!("/v1/records/{position}")).at("/withdrawn_by");
        assert_eq!((by(&early), by(&late)), (Value::Null, done.at("/position")));
        let page = server.get(&format!("/records/{late}"));
        assert!(page.body.contains("Reason: the key leaked"), "{}", page.body);
    };
    check(&server);
    let secret = server.admin.clone();
    let again = |folder| {
        Running::with_clock("127.0.0.1:0", folder, Options::default(), Some(secret.clone()), clock.clone())
    };
    let folder = server.stop();
    let server = again(folder);
    check(&server);
    let folder = server.stop();
    fs::remove_file(folder.path().join("index.cache")).unwrap();
    check(&again(folder));
}
