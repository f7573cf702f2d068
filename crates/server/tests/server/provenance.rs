//! The trust class of a record: the key that sent it decides, and not the scorecard alone.

use std::fs;

use karat_core::timestamp::Timestamp;
use karat_server::Options;
use serde_json::{Value, json};

use crate::arena::{Arena, answer, llm_call, with_log};
use crate::common::Running;
use crate::keys::CARD;

const JSON: &str = "application/json";
const MATCH: &str = include_str!("../../../../examples/arena/documented-823.json");

/// Returns the trust class of every record, by id, and checks that the filter selects by it.
fn classes(server: &Running, card: &str) -> Vec<(String, String)> {
    let order = ["claimed", "judged", "measured", "graded"];
    let list = |more: &str| -> Vec<Value> {
        let found = server.get(&format!("/v1/records?card={card}{more}"));
        found.is(200).at("/records").as_array().unwrap().clone()
    };
    let text = |it: &Value, member: &str| it[member].as_str().unwrap().to_owned();
    let all: Vec<(String, String)> = list("").iter().map(|it| (text(it, "id"), text(it, "trust"))).collect();
    for (least, name) in order.iter().enumerate() {
        let rank = |class: &str| order.iter().position(|it| *it == class).unwrap();
        let expected: Vec<_> = all.iter().filter(|it| rank(&it.1) >= least).map(|it| it.0.clone()).collect();
        let found: Vec<_> = list(&format!("&trust={name}")).iter().map(|it| text(it, "id")).collect();
        assert_eq!(found, expected, "{name}");
        for method in ["pairs", "means"] {
            let board = server.get(&format!("/v1/leaderboards?card={card}&method={method}"));
            let count = all.iter().filter(|it| it.1 == *name).count();
            assert_eq!(board.is(200).at(&format!("/items/trust/{name}")), count, "{method}");
        }
    }
    all
}

#[test]
fn a_record_is_trusted_as_far_as_its_sender_goes() {
    let server = Running::new();
    server.post("/v1/scorecards", Some(&server.admin), "application/toml", CARD).is(201);
    let key = |name: &str, more: Value| {
        let mut request = json!({"name": name, "scopes": ["write:evidence"]});
        request.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        server.key(&request)
    };
    let keys = [
        ("ordinary", key("ordinary", json!({}))),
        ("harness", key("harness", json!({"reports": ["harness"]}))),
        ("several", key("several", json!({"reports": ["harness", "subject"]}))),
        ("own", key("own", json!({"subject": "bee"}))),
        ("admin", server.admin.clone()),
    ];
    let send = |name: &str, fact: &str| {
        let (_, secret) = keys.iter().find(|it| it.0 == name).unwrap();
        let item = json!({"subject": "bee", "id": format!("{name}-{fact}"), fact: 1}).to_string();
        server.post("/v1/evidence?card=told@1.0.0", Some(secret), JSON, item).is(201);
    };
    let rows = [
        // What the scorecard asks of a harness is not a measurement because of that.
        ("ordinary", "measured", "claimed"),
        ("ordinary", "told", "claimed"),
        ("harness", "measured", "measured"),
        ("several", "measured", "measured"),
        ("several", "told", "claimed"),
        ("own", "told", "claimed"),
        ("admin", "measured", "claimed"),
    ];
    rows.iter().for_each(|(key, fact, _)| send(key, fact));
    let newest_first = rows.iter().rev();
    let expected: Vec<_> = newest_first
        .map(|(key, fact, class)| (format!("bee/{key}-{fact}/told@1.0.0"), (*class).to_owned()))
        .collect();
    assert_eq!(classes(&server, "told@1.0.0"), expected);
    let page = server.get("/records/bee%2Fharness-measured%2Ftold@1.0.0");
    assert!(
        page.is(200).body.contains("all of it was measured by a harness or a task, whose key says so"),
        "{}",
        page.body
    );

    // A key that was revoked spoke for whom it spoke, with the index and without.
    let list = server.get_with("/v1/keys", Some(&server.admin)).at("/keys");
    let id = list.as_array().unwrap().iter().find(|it| it["name"] == "harness").unwrap()["id"].clone();
    server.delete(&format!("/v1/keys/{}", id.as_str().unwrap()), &server.admin).is(204);
    let secret = server.admin.clone();
    let server = Running::in_folder(server.stop(), Options::default(), Some(secret.clone()));
    assert_eq!(classes(&server, "told@1.0.0"), expected);
    let folder = server.stop();
    fs::remove_file(folder.path().join("index.cache")).unwrap();
    assert_eq!(
        classes(&Running::in_folder(folder, Options::default(), Some(secret)), "told@1.0.0"),
        expected
    );
}

#[test]
fn an_invented_match_is_a_claim_and_one_that_was_graded_here_is_not() {
    let it = Arena::new();
    let key = it.register("bee");
    let entered = it.enter(&key, "documented", false);
    it.at(10);
    let sent = with_log(entered.is(201), answer(10, 100, 25), vec![llm_call("2026-01-01T00:00:01Z")]);
    it.submit(&key, "bee.documented.1", &sent).is(201);
    it.clock.put(Timestamp::parse("2030-01-01T00:00:00Z").unwrap());
    let made = |name: &str, more: Value| {
        let mut request = json!({"name": name, "scopes": ["write:evidence"]});
        request.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        it.server.key(&request)
    };
    let ordinary = made("ordinary", json!({}));
    let harness = made("harness", json!({"reports": ["harness", "task"]}));
    let second = MATCH.replace("\"match_id\": \"", "\"match_id\": \"again-");
    let path = "/v1/evidence?card=log-forensics@1.0.0";
    it.server.post(path, Some(&ordinary), JSON, MATCH).is(201);
    it.server.post(path, Some(&harness), JSON, second).is(201);
    let class = |server: &Running, card: &str| -> Vec<String> {
        classes(server, card).into_iter().map(|(_, class)| class).collect()
    };
    assert_eq!(class(&it.server, "log-forensics@1.0.0"), ["measured", "claimed"]);
    assert_eq!(class(&it.server, "documented@1.0.0"), ["graded"]);
    let Arena { server, .. } = it;
    let secret = server.admin.clone();
    let folder = server.stop();
    fs::remove_file(folder.path().join("index.cache")).unwrap();
    let server = Running::in_folder(folder, Options::default(), Some(secret));
    assert_eq!(class(&server, "log-forensics@1.0.0"), ["measured", "claimed"]);
    assert_eq!(class(&server, "documented@1.0.0"), ["graded"]);
}
