//! Promises of the pages about one thing: a record that is checked elsewhere, signing in, errors, keys, the log, the API.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use karat_core::timestamp::Timestamp;
use karat_server::{Options, folder};
use serde_json::{Value, json};

use crate::common::Running;
use crate::web::{all, browse, check, filled, look};

/// Returns the bytes of an answer after its head.
fn bytes(server: &Running, path: &str, more: &str) -> Vec<u8> {
    let mut stream = TcpStream::connect(server.address).unwrap();
    let host = server.address;
    write!(stream, "GET {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n{more}\r\n").unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    let head = answer.windows(4).position(|it| it == b"\r\n\r\n").unwrap();
    assert!(answer.starts_with(b"HTTP/1.1 200"), "{path}");
    answer.split_off(head + 4)
}

/// Returns the files of the archive of a record.
fn unpacked(server: &Running, record: &Value) -> BTreeMap<String, String> {
    let packed = bytes(server, &format!("/records/{record}/archive"), "");
    let archive = rawzip::ZipArchive::from_slice(&packed).unwrap();
    let mut files = BTreeMap::new();
    let mut entries = archive.entries();
    while let Some(entry) = entries.next_entry().unwrap() {
        let name = entry.file_path().try_normalize().unwrap().as_ref().to_owned();
        let content = archive.get_entry(entry.wayfinder()).unwrap().data().to_vec();
        files.insert(name, String::from_utf8(content).unwrap());
    }
    files
}

/// Does what the command in the archive does, and returns its status.
fn verified(files: &BTreeMap<String, String>) -> Value {
    let command =
        files["README.txt"].lines().find_map(|line| line.trim().strip_prefix("karat verify ")).unwrap();
    let words: Vec<&str> = command.split(' ').collect();
    let of = |flag: &str| {
        words.windows(2).filter(|it| it[0] == flag).map(|it| files[it[1]].clone()).collect::<Vec<_>>()
    };
    let question = json!({
        "text": files[words[0]], "key": of("--key").first(), "rotation": of("--rotation"),
        "evidence": of("--evidence").first(), "card_text": of("--card").first(),
    });
    let answer = karat::json::verify(question.to_string().as_bytes()).unwrap();
    serde_json::from_slice::<Value>(&answer).unwrap()["status"].clone()
}

#[test]
fn the_archive_of_a_record_verifies_elsewhere_by_its_own_command() {
    let server = filled();
    let records = server.get("/v1/records?limit=1000").at("/records");
    let mut of_cards: BTreeMap<String, Value> = BTreeMap::new();
    for it in records.as_array().unwrap() {
        of_cards.entry(it["record"]["scorecard"]["id"].to_string()).or_insert(it["position"].clone());
    }
    assert!(of_cards.len() > 4, "{of_cards:?}");
    for (card, position) in of_cards {
        let files = unpacked(&server, &position);
        assert_eq!(verified(&files), "verified", "{card}: {}", files["README.txt"]);
        // Of a trace it takes those before it, and the text says so.
        let readme = &files["README.txt"];
        assert!(
            readme.contains("--evidence") || readme.contains("The evidence is not compared"),
            "{card}: {readme}"
        );
        let mut changed = files.clone();
        changed.insert(String::from("receipt.json"), files["receipt.json"].replacen("\"score", "\"scorf", 1));
        assert_eq!(verified(&changed), "failed", "{card}");
    }
    // A page of a record offers it, once.
    let page = look(&server, &format!("/records/{}", records[0]["position"]));
    assert_eq!(all(&page.parsed(), "a[href$='/archive']").len(), 1);
}

#[test]
fn signing_in_returns_to_the_page_and_to_no_other_site() {
    let server = Running::new();
    let host = server.address.to_string();
    let origin = format!("http://{host}");
    let from = |path: &str| {
        let referer = format!("{origin}{path}");
        browse(&server, "GET", "/sign-in", &[("referer", &referer)], "")
    };
    let to = |page: &crate::web::Page| {
        all(&page.parsed(), "input[name=to]")[0].value().attr("value").unwrap().to_owned()
    };
    assert_eq!(to(&from("/log?kind=key")), "/log?kind=key");
    let foreign = browse(&server, "GET", "/sign-in", &[("referer", "http://evil.example/log")], "");
    assert_eq!(to(&foreign), "/");
    // A page that needs a key has the form, and returns to itself.
    let refused = look(&server, "/keys?x=1");
    assert_eq!(to(refused.is(401)), "/keys?x=1");
    let enter = |to: &str| {
        let form = format!("key={}&to={to}", server.admin);
        browse(&server, "POST", "/sign-in", &[("origin", &origin)], &form)
            .is(303)
            .header("location")
            .to_owned()
    };
    assert_eq!(enter("%2Flog%3Fkind%3Dkey"), "/log?kind=key");
    for other in [
        "%2F%2Fevil.example", "%2F%5Cevil.example", "https%3A%2F%2Fevil.example", "%2F%09%2Fevil.example", "",
    ] {
        assert_eq!(enter(other), "/", "{other}");
    }
    let wrong = browse(&server, "POST", "/sign-in", &[("origin", &origin)], "key=karat_x&to=%2Flog");
    assert_eq!(to(wrong.is(403)), "/log");
    let cookie = format!("karat_key={}", server.admin);
    let page = browse(&server, "GET", "/sign-in", &[("cookie", &cookie)], "");
    check("/sign-in", page.is(200));
    assert!(
        page.text().contains("You are signed in as") && page.text().contains("make keys"),
        "{}",
        page.text()
    );
}

#[test]
fn an_error_names_the_field_and_keeps_the_rest_of_the_query() {
    let server = filled();
    let page = look(&server, "/leaderboards?card=task-run&min_tasks=abc&group_by=domain");
    check("/leaderboards", page.is(400));
    let document = page.parsed();
    let title: String = all(&document, "h1")[0].text().collect();
    assert!(title.starts_with("min_tasks must be a whole number"), "{title}");
    assert!(page.text().contains("It is abc."), "{}", page.text());
    let value = |name: &str| {
        let found = all(&document, &format!("main form [name='{name}']"));
        found.first().and_then(|it| it.value().attr("value")).map(str::to_owned)
    };
    assert_eq!(value("min_tasks").as_deref(), Some("abc"));
    assert_eq!((value("card").as_deref(), value("group_by").as_deref()), (Some("task-run"), Some("domain")));
    assert!(page.text().contains("Sign in"));
    // What cannot be corrected is left out, and the rest stays.
    let page = look(&server, "/scorecards/task-run@1.0.0?x=y");
    assert!(page.is(400).text().contains("This page takes no x"), "{}", page.text());
    assert_eq!(
        all(&page.parsed(), "main p a[href='/scorecards/task-run%401.0.0']").len()
            + all(&page.parsed(), "main p a[href='/scorecards/task-run@1.0.0']").len(),
        1,
        "{}",
        page.body
    );
    let page = look(&server, "/scorecards/task-run@1.0.0/what-if?w.solved=-1&w.speed=3");
    check("/scorecards/task-run/what-if", page.is(400));
    assert!(page.text().contains("w.solved must be a number from 0"), "{}", page.text());
    let cookie = format!("karat_key={}", server.admin);
    let page = browse(&server, "GET", "/records/999999", &[("cookie", &cookie)], "");
    assert!(page.is(404).text().contains("Sign out"), "{}", page.text());
    for path in ["/records/999999", "/keys", "/log?kind=none", "/nothing"] {
        let text = look(&server, path).text();
        assert!(!text.contains("Authorization") && !text.contains('`'), "{path}: {text}");
    }
}

#[test]
fn keys_are_shown_to_those_who_may_read_them_and_no_secret_is() {
    let server = filled();
    let secret =
        server.key(&json!({"name": "ci <b>blue</b>", "scopes": ["write:evidence"], "reports": ["harness"]}));
    let gone = server.key(&json!({"name": "old", "scopes": ["read"]}));
    let keys = server.get_with("/v1/keys", Some(&server.admin)).at("/keys");
    let id = keys.as_array().unwrap().iter().find(|it| it["name"] == "old").unwrap()["id"].clone();
    server.delete(&format!("/v1/keys/{}", id.as_str().unwrap()), &server.admin).is(204);
    look(&server, "/keys").is(401);
    let as_key =
        |key: &str, path: &str| browse(&server, "GET", path, &[("cookie", &format!("karat_key={key}"))], "");
    as_key(&secret, "/keys").is(403);
    assert!(all(&as_key(&secret, "/log").parsed(), "header a[href='/keys']").is_empty());
    let page = as_key(&server.admin, "/keys");
    check("/keys", page.is(200));
    assert_eq!(all(&page.parsed(), "header a[href='/keys']").len(), 1);
    let row = |name: &str| {
        let document = page.parsed();
        let row = all(&document, "tbody tr")
            .into_iter()
            .find(|row| row.text().collect::<String>().starts_with(name));
        row.unwrap_or_else(|| panic!("{name}: {}", page.text())).text().collect::<Vec<_>>().join("|")
    };
    assert!(row("ci <b>blue</b>").contains("send evidence|facts of harness|measured"), "{}", row("ci"));
    assert!(row("old").contains("nothing: what it sent counts"), "{}", row("old"));
    for secret in [&secret, &gone, &server.admin] {
        assert!(!page.body.contains(secret.trim_start_matches("karat_")));
    }
    assert!(!page.body.contains("sha256:"), "not even a hash");
}

#[test]
fn the_log_says_how_much_it_holds_and_leads_to_each_entry() {
    let server = filled();
    let page = look(&server, "/log");
    check("/log", page.is(200));
    let size = server.get("/v1/log").at("/size");
    let document = page.parsed();
    assert_eq!(all(&document, "[data-from='/size']")[0].text().collect::<String>(), size.to_string());
    assert!(
        page.text().contains("none cosigned yet") && page.text().contains("karat log monitor"),
        "{}",
        page.text()
    );
    for kind in ["record", "scorecard", "review", "match", "key", "workflow"] {
        let page = look(&server, &format!("/log?kind={kind}"));
        check("/log", page.is(200));
        let rows = all(&page.parsed(), "#entries ~ * tbody tr, tbody tr").len();
        assert!(rows > 0, "{kind}");
        let links = all(&page.parsed(), "tbody a[href^='/v1/receipts/']").len();
        assert_eq!(links > 0, kind == "record", "{kind}: {links}");
    }
    let page = look(&server, "/log?kind=evidences");
    assert!(page.is(400).text().contains("kind must be one of"), "{}", page.text());
    let page = look(&Running::new(), "/log");
    check("/log", page.is(200));
}

#[test]
fn the_reference_has_every_operation_and_is_small() {
    let server = Running::new();
    let page = look(&server, "/api");
    check("/api", page.is(200));
    let document = page.parsed();
    let described: Value = server.get("/v1/openapi.json").json();
    for (path, item) in described["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            let id = operation["operationId"].as_str().unwrap();
            let heading = all(&document, &format!("details#{id} h3"));
            let name: String = heading[0].text().collect();
            assert_eq!(name, format!("{} {path}", method.to_uppercase()));
        }
    }
    for link in all(&document, "main a[href^='#']") {
        let id = link.value().attr("href").unwrap().trim_start_matches('#');
        assert_eq!(all(&document, &format!("[id='{id}']")).len(), 1, "{id}");
    }
    let packed = bytes(&server, "/api", "accept-encoding: gzip\r\naccept: text/html\r\n");
    assert!(packed.len() < 60_000, "{}", packed.len());
}

#[test]
fn components_are_shown_with_the_demo_alone() {
    look(&Running::new(), "/components").is(404);
    let server = Running::with(Options { is_demo: true, ..Options::default() });
    let page = look(&server, "/components");
    check("/components", page.is(200));
    assert!(page.text().contains("How the score adds up"));
}

#[test]
fn a_scorecard_says_what_counts_and_other_weights_are_small_for_a_thousand() {
    let server = Running::new();
    let lines = (0..1000).map(|at| {
        let solved = f64::from(at % 97) / 97.0;
        json!({"subject": format!("agent-{at}"), "id": at.to_string(), "task": "t", "time": "2026-03-01T09:00:00Z",
               "solved": solved, "cost_usd": 0.1, "seconds": 9}).to_string()
    });
    let lines = lines.collect::<Vec<_>>().join("\n");
    server.post("/v1/evidence?card=run@1.0.0", Some(&server.admin), "application/x-ndjson", &lines).is(200);
    let page = look(&server, "/scorecards/run@1.0.0/what-if");
    check("/scorecards/run/what-if", page.is(200));
    assert!(page.text().contains("The first 50 of 1000 subjects are shown."), "{}", page.text());
    let packed =
        bytes(&server, "/scorecards/run@1.0.0/what-if", "accept-encoding: gzip\r\naccept: text/html\r\n");
    assert!(packed.len() < 8_000 && page.body.len() < 30_000, "{} of {}", packed.len(), page.body.len());
    let page = look(&server, "/scorecards/run@1.0.0/what-if?w.solved=0");
    assert!(page.is(200).text().contains("found 0 weights above 0"), "{}", page.text());
    let page = look(&server, "/scorecards/trust@1.0.0");
    check("/scorecards/trust", page.is(200));
    let document = page.parsed();
    assert!(page.body.len() < 60_000, "{}", page.body.len());
    assert_eq!(all(&document, ".ladder > li").len(), 4);
    assert!(all(&document, "#standing ~ div tbody tr").len() > 3);
    // The address that it had before leads to its own page.
    let moved = look(&server, "/scorecards/run@1.0.0?w.solved=0");
    assert_eq!(moved.is(303).header("location"), "/scorecards/run@1.0.0/what-if?w.solved=0");
}

#[test]
fn an_archive_has_the_changes_of_the_key() {
    let server = Running::new();
    let item = r#"{"subject":"bot","id":"1","time":"2026-03-01T09:00:00Z","solved":1}"#;
    let sent = server.send("card=run@1.0.0", item);
    sent.is(201);
    let position = server.get("/v1/records").at("/records/0/position");
    let admin = server.admin.clone();
    let folder = server.stop();
    folder::rotate(folder.path(), Timestamp { milliseconds: 1_798_761_600_000 }).unwrap();
    let server = Running::in_folder(folder, Options::default(), Some(admin));
    let files = unpacked(&server, &position);
    assert!(files["README.txt"].contains("--rotation rotation-1.json"), "{}", files["README.txt"]);
    assert_eq!(verified(&files), "verified");
    assert!(look(&server, "/log").text().contains("replaced by a newer one"));
}
