//! Hostile requests: unexpected paths, headers, names and bodies. None of them causes an error of the server.

use crate::common::Running;

#[test]
fn unknown_paths_and_methods_are_problems() {
    let server = Running::new();
    for path in ["/v1", "/v1/nothing", "/v1/records/", "//v1/records", "/V1/records", "/v1/records/1/2/3"] {
        server.get(path).is_problem(404, "not-found");
    }
    server.post("/v1/records", None, "application/json", "{}").is_problem(405, "method-not-allowed");
    server.delete("/healthz", &server.admin).is_problem(405, "method-not-allowed");
    let answer = server.raw(
        format!("BREW /healthz HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n\r\n", server.address).as_bytes(),
    );
    assert!(answer.starts_with("HTTP/1.1 405 "), "{answer}");
}

#[test]
fn paths_lead_nowhere_else() {
    let server = Running::new();
    for path in [
        "/v1/records/..%2F..%2F..%2Fetc%2Fpasswd", "/v1/records/%00", "/v1/records/99999999999999999999999",
        "/v1/records/-1", "/v1/records/18446744073709551615", "/v1/records/0",
        "/v1/evidence/18446744073709551615", "/v1/receipts/0", "/v1/receipts/..%2F",
        "/v1/scorecards/..%2Fworkflow", "/tile/0/../../checkpoint", "/tile/0/999",
        "/tile/0/x999/x999/x999/x999/x999/x999/999", "/tile/255/000", "/tile/0/000.p/256", "/tile/0/000.p/0",
        "/tile/entries/000.p/255", "/tile/0/0",
    ] {
        server.get(path).is_problem(404, "not-found");
    }
    for path in ["/v1/records/%ff", "/v1/scorecards/%C0%AF", "/tile/%ff"] {
        server.get(path).is_problem(400, "bad-request");
    }
}

#[test]
fn parameters_that_are_not_known_or_not_sound_are_refused() {
    let server = Running::new();
    for path in [
        "/v1/records?subjct=x", "/v1/records?limit=0", "/v1/records?limit=1001", "/v1/records?limit=many",
        "/v1/records?before=-1", "/v1/records?since=yesterday", "/v1/records?trust=much",
        "/v1/records?known_at=2026-02-30T00:00:00Z", "/v1/records?subject=a&subject=b",
        "/v1/subjects?limit=0", "/v1/leaderboards", "/v1/leaderboards?card=workflow@1.0.0&min_tasks=-1",
        "/v1/standings/x?card=workflow@1.0.0&as_of=soon", "/v1/events?limit=3",
    ] {
        server.get(path).is_problem(400, "bad-request");
    }
    server.get("/v1/records?card=nothing").is_problem(404, "not-found");
    let card = "/v1/evidence?card=workflow@1.0.0";
    server.post("/v1/evidence", Some(&server.admin), "application/json", "{}").is_problem(400, "bad-request");
    server
        .post(&format!("{card}&as_of=soon"), Some(&server.admin), "application/json", "{}")
        .is_problem(400, "bad-request");
    for (media, code) in [("text/html", 415), ("application/xml", 415), ("", 415)] {
        server.post(card, Some(&server.admin), media, "{}").is_problem(code, "unsupported-media-type");
    }
    server
        .post("/v1/evidence?card=arena@1.0.0", Some(&server.admin), "application/json", "{}")
        .is_problem(400, "bad-request");
}

#[test]
fn no_body_makes_the_server_fail() {
    let server = Running::new();
    let deep = "[".repeat(100_000);
    let wide = format!("{{{}}}", (0..20_000).map(|at| format!("\"k{at}\":1")).collect::<Vec<_>>().join(","));
    let bodies: [&[u8]; 10] = [
        b"",
        b"null",
        b"[]",
        b"{",
        b"\xff\xfe",
        b"\xef\xbb\xbf{}",
        b"{\"a\":1,\"a\":2}",
        b"{\"subject\":\"\\ud800\"}",
        deep.as_bytes(),
        wide.as_bytes(),
    ];
    let rules = ["workflow@1.0.0", "trace@1.0.0", "trust@1.0.0", "trust@1.1.0", "cipher-relay@1.0.0"];
    for body in bodies {
        for card in rules {
            let path = format!("/v1/evidence?card={card}&as_of=2026-01-01T00:00:00Z");
            server
                .post(&path, Some(&server.admin), "application/json", body)
                .is_problem(422, "evidence-refused");
            server.post(&path, Some(&server.admin), "application/x-ndjson", body).is(200);
        }
        let card = server.post("/v1/scorecards", Some(&server.admin), "application/toml", body);
        assert!((400..500).contains(&card.status), "{}", card.body);
        let check = server.post("/v1/scorecards/check", None, "application/toml", body);
        assert!(check.status < 500, "{}", check.body);
        for path in ["/v1/keys", "/v1/reviews"] {
            server.post(path, Some(&server.admin), "application/json", body).is_problem(400, "bad-request");
        }
    }
}

#[test]
fn garbage_on_the_wire_ends_the_connection_and_nothing_else() {
    let server = Running::new();
    let long = format!("GET / HTTP/1.1\r\nhost: localhost\r\nx: {}\r\n\r\n", "y".repeat(200_000));
    let smuggled = "POST /v1/keys HTTP/1.1\r\nhost: localhost\r\ncontent-length: 4\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\nGET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n";
    for bytes in [
        &b"\x16\x03\x01\x02\x00"[..],
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET\r\n\r\n",
        b"\r\n\r\n\r\n\0\0",
        long.as_bytes(),
        smuggled.as_bytes(),
    ] {
        let answer = server.raw(bytes);
        assert!(!answer.contains("HTTP/1.1 200"), "{answer}");
        assert!(!answer.contains("HTTP/1.1 5"), "{answer}");
    }
    server.get("/healthz").is(200);
}

#[test]
fn a_page_of_another_site_cannot_ask_under_its_own_name() {
    let server = Running::new();
    let ask = |host: &str| {
        server.raw(format!("GET /v1/records HTTP/1.1\r\n{host}connection: close\r\n\r\n").as_bytes())
    };
    for host in [
        "host: evil.example\r\n", "host: localhost.evil.example\r\n", "host: 10.0.0.1\r\n",
        "host: localhost\r\nhost: evil.example\r\n", "",
    ] {
        let answer = ask(host);
        assert!(answer.starts_with("HTTP/1.1 421 ") || answer.starts_with("HTTP/1.1 400 "), "{host}{answer}");
    }
    for host in
        ["host: localhost\r\n", "host: LOCALHOST:80\r\n", "host: 127.0.0.1:1\r\n", "host: [::1]:1\r\n"]
    {
        assert!(ask(host).starts_with("HTTP/1.1 200 "), "{host}");
    }
}
