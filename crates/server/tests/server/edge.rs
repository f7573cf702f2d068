//! The edge of the server: who asks through a proxy, which sites may read, and requests that are odd before their body is read.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use karat_server::limits::{Rate, RateOptions};
use karat_server::{Options, ProxyHeader};
use serde_json::{Value, json};

use crate::answers::agents;
use crate::common::{Folder, Running};
use crate::requests::{SOLVED, fill, with_card};

const RUN: &str = r#"{"match_id": "1", "agent_id": "bot",
    "scores": {"correctness": 900, "speed": 780, "methodology": 690, "completeness": 760}}"#;
const EVIDENCE: &str = "/v1/evidence?card=workflow@1.0.0";

/// Returns the statuses of requests with these headers, one after the other.
fn statuses(options: Options, heads: &[&str]) -> Vec<u16> {
    let rate = Rate { per_second: 0.001, burst: 1.0 };
    let rates = RateOptions { address: rate, ..RateOptions::default() };
    let server = Running::with(Options { rates, proxies: vec!["127.0.0.1".parse().unwrap()], ..options });
    let status = |head: &&str| {
        let request =
            format!("GET /v1/log HTTP/1.1\r\nhost: localhost\r\n{head}\r\nconnection: close\r\n\r\n");
        server.raw(request.as_bytes())[9..12].parse().unwrap()
    };
    heads.iter().map(status).collect()
}

#[test]
fn addresses_of_one_client_share_its_limits() {
    let heads = [
        "x-forwarded-for: 2001:db8:1:2::1", "x-forwarded-for: 2001:db8:1:2:ffff::9",
        "x-forwarded-for: 2001:db8:1:3::1", "x-forwarded-for: 192.0.2.1",
        "x-forwarded-for: ::ffff:192.0.2.1",
    ];
    assert_eq!(statuses(Options::default(), &heads), [200, 429, 200, 200, 429]);
}

#[test]
fn a_client_does_not_choose_its_address_in_a_header_that_the_proxy_does_not_set() {
    let heads = [
        "forwarded: for=192.0.2.1\r\nx-forwarded-for: 203.0.113.7",
        "forwarded: for=192.0.2.2\r\nx-forwarded-for: 203.0.113.7",
        "forwarded: for=203.0.113.7\r\nx-forwarded-for: 203.0.113.8",
    ];
    assert_eq!(statuses(Options::default(), &heads), [200, 429, 200]);
    let standard = Options { proxy_header: ProxyHeader::Forwarded, ..Options::default() };
    assert_eq!(statuses(standard, &heads), [200, 200, 200]);
}

/// Sends a request and returns the whole answer in small letters.
fn asked(server: &Running, request: &str) -> String {
    let (line, rest) = request.split_once('\n').unwrap_or((request, ""));
    let rest: String = rest.lines().map(|line| format!("{}\r\n", line.trim())).collect();
    let text = format!("{line} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n{rest}\r\n");
    server.raw(text.as_bytes()).to_ascii_lowercase()
}

#[test]
fn only_listed_sites_may_read() {
    let cors = vec![String::from("https://example.org"), String::from("http://localhost:5173")];
    let server = Running::with(Options { cors, ..Options::default() });
    for origin in ["https://example.org", "http://localhost:5173"] {
        for request in ["GET /v1/log", "HEAD /v1/records", "GET /v1/nothing"] {
            let answer = asked(&server, &format!("{request}\norigin: {origin}"));
            assert!(answer.contains(&format!("access-control-allow-origin: {origin}\r\n")), "{answer}");
            assert!(answer.contains("vary: origin\r\n"), "{answer}");
            assert!(answer.contains("cross-origin-resource-policy: cross-origin\r\n"), "{answer}");
            assert!(!answer.contains("credentials"), "{answer}");
        }
        let asks = |method: &str| {
            format!("OPTIONS /v1/log\norigin: {origin}\naccess-control-request-method: {method}")
        };
        let answer = asked(&server, &asks("GET"));
        assert!(answer.starts_with("http/1.1 204 "), "{answer}");
        assert!(answer.contains("access-control-allow-methods: get, head\r\n"), "{answer}");
        assert!(answer.contains("access-control-max-age: 600\r\n"), "{answer}");
        for method in ["POST", "DELETE"] {
            let answer = asked(&server, &asks(method));
            assert!(answer.starts_with("http/1.1 405 ") && !answer.contains("access-control"), "{answer}");
        }
        let answer = asked(&server, &format!("POST {EVIDENCE}\norigin: {origin}"));
        assert!(answer.starts_with("http/1.1 401 ") && !answer.contains("access-control"), "{answer}");
        let page = asked(&server, &format!("GET /scorecards\norigin: {origin}"));
        assert!(!page.contains("access-control"), "{page}");
    }
    for origin in ["https://example.org.evil.example", "http://example.org", "https://EXAMPLE.org", "null"] {
        let answer = asked(&server, &format!("GET /v1/log\norigin: {origin}"));
        assert!(answer.starts_with("http/1.1 200 ") && answer.contains("vary: origin\r\n"), "{answer}");
        assert!(!answer.contains("access-control-allow-origin"), "{answer}");
        assert!(answer.contains("cross-origin-resource-policy: same-origin\r\n"), "{answer}");
    }
    let closed = asked(&Running::new(), "GET /v1/log\norigin: https://example.org");
    assert!(!closed.contains("access-control") && !closed.contains("vary"), "{closed}");
    let open = Running::with(Options { cors: vec![String::from("*")], ..Options::default() });
    let answer = asked(&open, "GET /v1/log\norigin: https://anyone.example");
    assert!(answer.contains("access-control-allow-origin: *\r\n"), "{answer}");
}

#[test]
fn a_leaderboard_and_standings_are_tables_too() {
    let server = with_card(SOLVED);
    let lines: String = [("=b", 1.0), ("a", 0.5)]
        .iter()
        .flat_map(|(name, solved)| {
            (0..3).map(move |at| {
                format!("{}\n", json!({"id": at.to_string(), "subject": name, "task": at, "solved": solved}))
            })
        })
        .collect();
    fill(&server, "solved@1.0.0", &lines);
    let table = server.get("/v1/leaderboards?card=solved@1.0.0&format=csv");
    assert_eq!(table.is(200).header("content-type"), Some("text/csv; charset=utf-8"));
    let rows: Vec<&str> = table.body.lines().collect();
    assert!(rows.len() == 3 && rows[0].starts_with("group,rank,"), "{}", table.body);
    // A spreadsheet would take the name for a formula.
    assert!(rows[1].contains("\"'=b\"") && rows[2].contains(",a,"), "{}", table.body);
    let json = server.get("/v1/leaderboards?card=solved@1.0.0&format=json");
    assert_eq!(json.is(200).header("content-type"), Some("application/json"));
    server.get("/v1/leaderboards?card=solved@1.0.0&format=xml").is_problem(400, "bad-request");
    server.get("/v1/standings?card=solved@1.0.0&format=csv").is_problem(422, "unanswerable");
    server.get("/v1/standings?card=solved@1.0.0&format=xml").is_problem(400, "bad-request");
}

#[test]
fn standings_are_a_table_too() {
    let server = agents();
    let query = "card=support-agent@1.0.0&as_of=2026-03-10T00:00:00Z";
    let table = server.get(&format!("/v1/standings?{query}&format=csv"));
    assert_eq!(table.is(200).header("content-type"), Some("text/csv; charset=utf-8"));
    let all = server.get(&format!("/v1/standings?{query}")).is(200).at("/standings");
    assert_eq!(table.body.lines().count(), 1 + all.as_array().unwrap().len(), "{}", table.body);
    for standing in all.as_array().unwrap() {
        let (name, points) = (standing["subject"].as_str().unwrap(), standing["points"].to_string());
        let row = table.body.lines().find(|row| row.split(',').any(|field| field == name)).unwrap();
        assert!(points == "null" || row.split(',').any(|field| field == points), "{row}: {points}");
    }
}

#[test]
fn a_badge_says_what_the_leaderboard_says() {
    let server = agents();
    let card = "card=support-agent@1.0.0";
    let board = server.get(&format!("/v1/leaderboards?{card}")).is(200).at("/leaderboards/0");
    assert_eq!(board["by"], "official");
    for row in board["rows"].as_array().unwrap() {
        let name = row["subject"].as_str().unwrap();
        let badge = server.get(&format!("/v1/badge?{card}&subject={name}"));
        assert_eq!(badge.is(200).header("content-type"), Some("image/svg+xml"));
        assert_eq!(badge.header("cache-control"), Some("max-age=60"));
        assert_eq!(badge.header("cross-origin-resource-policy"), Some("same-origin"));
        let score = row["score"]["mean"].as_f64().unwrap().floor().to_string();
        assert!(badge.body.starts_with("<svg ") && badge.body.contains(&score), "{row} {}", badge.body);
    }
    // It is known, and has no record under this card.
    server.send("card=log-forensics@1.0.0", RUN).is(201);
    let none = server.get(&format!("/v1/badge?{card}&subject=bot"));
    assert!(none.is(200).body.contains("no score"), "{}", none.body);
    server.get(&format!("/v1/badge?{card}&subject=nobody")).is_problem(404, "not-found");
    server.get("/v1/badge?card=none&subject=heron").is_problem(404, "not-found");
    server.get(&format!("/v1/badge?{card}")).is_problem(400, "bad-request");
    let public = Running::with(Options { is_public: true, ..Options::default() });
    public.send("card=log-forensics@1.0.0", RUN).is(201);
    let badge = public.get("/v1/badge?card=log-forensics@1.0.0&subject=bot");
    assert_eq!(badge.header("cross-origin-resource-policy"), Some("cross-origin"));
}

#[test]
fn a_packed_body_is_refused_by_name() {
    let server = Running::new();
    let key = &server.admin;
    for (path, media) in [
        (EVIDENCE, "application/json"),
        (EVIDENCE, "application/x-ndjson"),
        ("/v1/keys", "application/json"),
        ("/v1/scorecards", "application/toml"),
        ("/v1/workflows/tasks", "application/json"),
    ] {
        let ask = |encoding: &str| {
            let head =
                format!("POST {path}\nauthorization: bearer {key}\ncontent-type: {media}\ncontent-length: 2");
            let text = format!("{head}\ncontent-encoding: {encoding}").replace('\n', "\r\n");
            let text = text.replacen("\r\n", " HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n", 1);
            server.raw(format!("{text}\r\n\r\n{{}}").as_bytes())
        };
        for encoding in ["gzip", "br", "deflate, gzip"] {
            let answer = ask(encoding);
            assert!(answer.starts_with("HTTP/1.1 415 "), "{path} {answer}");
            assert!(answer.contains(&format!("found `{encoding}`, expected none")), "{answer}");
        }
        assert!(!ask("identity").starts_with("HTTP/1.1 415 "), "{path}");
    }
}

#[test]
fn the_host_of_the_target_stands_above_the_header() {
    let server = Running::new();
    let of = |target: &str, host: &str| {
        let text = format!("GET {target} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n");
        server.raw(text.as_bytes())[9..12].to_owned()
    };
    assert_eq!(of("http://evil.example/v1/log", "localhost"), "421");
    assert_eq!(of("http://localhost@evil.example/v1/log", "localhost"), "421");
    assert_eq!(of("http://localhost/v1/log", "localhost"), "200");
    assert_eq!(of("http://localhost:99/v1/log", "evil.example"), "200");
}

#[test]
fn a_large_batch_in_one_line_is_answered_and_not_cut_off() {
    let server = Running::new();
    let size = 60 << 20;
    let mut stream = TcpStream::connect(server.address).unwrap();
    let head = format!(
        "POST {EVIDENCE} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {}\r\n\
         content-type: application/x-ndjson\r\ncontent-length: {size}\r\n\r\n",
        server.admin
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(&vec![b'x'; size]).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 413 ") && answer.contains("a line is longer"), "{answer}");
}

#[test]
fn the_key_comes_before_the_parameters() {
    let options = Options { keeps_first_key: true, ..Options::default() };
    let server = Running::at("0.0.0.0:0", Folder::new(), options, None);
    // What anyone may have: whether the server answers, and the description.
    const OPEN: [&str; 2] = ["/healthz", "/v1/openapi.json"];
    let described: Value = serde_json::from_str(&karat_server::api::openapi::json().unwrap()).unwrap();
    let mut seen = 0;
    for (path, operations) in described["paths"].as_object().unwrap() {
        for method in operations.as_object().unwrap().keys().filter(|_| !OPEN.contains(&path.as_str())) {
            let parts: Vec<&str> =
                path.split('/').map(|part| if part.starts_with('{') { "%FF" } else { part }).collect();
            let line = format!("{} {}?nothing=%FF&limit=x&card=x", method.to_uppercase(), parts.join("/"));
            let answer = asked(&server, &line);
            assert!(answer.starts_with("http/1.1 401 "), "{line}: {answer}");
            seen += 1;
        }
    }
    assert!(seen > 50, "{seen}");
}
