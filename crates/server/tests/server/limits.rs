//! Limits of size, speed, rate and concurrency.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use karat_server::Options;
use karat_server::limits::{Rate, RateOptions};
use serde_json::json;

use crate::common::Running;

const EVIDENCE: &str = "/v1/evidence?card=workflow@1.0.0";

fn head(server: &Running, rest: &str) -> String {
    let (host, key) = (server.address, &server.admin);
    format!(
        "POST {EVIDENCE} HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {key}\r\n\
         content-type: application/json\r\nconnection: close\r\n{rest}"
    )
}

#[test]
fn a_body_that_says_it_is_too_large_is_not_read() {
    let server = Running::with(Options { body_bytes_max: 1000, ..Options::default() });
    let answer = server.raw(head(&server, "content-length: 1001\r\n\r\n").as_bytes());
    assert!(answer.starts_with("HTTP/1.1 413 "), "{answer}");
    assert!(answer.contains("\"code\":\"too-large\""), "{answer}");
}

/// Otherwise a client would send its next request over a connection that the server is about to end.
#[test]
fn who_is_refused_before_the_body_was_read_is_told_that_the_connection_ends() {
    let server = Running::new();
    let unread = server.raw(b"POST /v1/keys HTTP/1.1\r\nhost: localhost\r\ncontent-length: 9\r\n\r\n");
    assert!(unread.starts_with("HTTP/1.1 401 ") && unread.contains("connection: close\r\n"), "{unread}");
    let item = r#"{"subject":"bot"}"#;
    let last = head(&server, &format!("content-length: {}\r\n\r\n{item}", item.len()));
    let two = server.raw(format!("{}{last}", last.replace("connection: close\r\n", "")).as_bytes());
    assert_eq!(two.matches("HTTP/1.1 422 ").count(), 2, "{two}");
    assert_eq!(two.matches("connection: close\r\n").count(), 1, "{two}");
}

#[test]
fn a_body_that_grows_too_large_is_cut() {
    let server = Running::with(Options { body_bytes_max: 1000, ..Options::default() });
    let chunk = format!("258\r\n{}\r\n", "x".repeat(600));
    let answer =
        server.raw(head(&server, &format!("transfer-encoding: chunked\r\n\r\n{chunk}{chunk}")).as_bytes());
    assert!(answer.starts_with("HTTP/1.1 413 "), "{answer}");
}

#[test]
fn a_batch_has_limits_of_its_own() {
    let options =
        Options { batch_bytes_max: 4000, batch_lines_max: 3, body_bytes_max: 1000, ..Options::default() };
    let server = Running::with(options);
    let send = |body: String| server.post(EVIDENCE, Some(&server.admin), "application/x-ndjson", body);
    send("{}\n".repeat(3)).is(200);
    send("{}\n".repeat(4)).is_problem(413, "too-large");
    let long = send(format!("{}\n{{}}\n", "x".repeat(1001)));
    assert_eq!(long.is(200).at("/items/0/problem/code"), "too-large");
    assert_eq!(long.at("/items/1/problem/code"), "evidence-refused");
    // Long enough that no end of line is in sight.
    send("x".repeat(3000)).is_problem(413, "too-large");
}

#[test]
fn a_slow_body_is_cut() {
    let server = Running::with(Options { body_timeout: Duration::from_millis(200), ..Options::default() });
    let began = Instant::now();
    let answer = server.raw(head(&server, "content-length: 100\r\n\r\n{").as_bytes());
    assert!(answer.starts_with("HTTP/1.1 408 "), "{answer}");
    assert!(answer.contains("\"code\":\"timeout\""), "{answer}");
    assert!(began.elapsed() < Duration::from_secs(3));
}

#[test]
fn a_slow_head_is_cut() {
    let server = Running::with(Options { head_timeout: Duration::from_millis(200), ..Options::default() });
    let began = Instant::now();
    let answer = server.raw(b"GET /healthz HTTP/1.1\r\nhost:");
    assert!(!answer.contains("200 OK"), "{answer}");
    assert!(began.elapsed() < Duration::from_secs(3));
}

#[test]
fn whoever_asks_too_often_is_told_when_to_come_back() {
    let rate = |burst| Rate { per_second: 0.01, burst };
    let rates = RateOptions { key: rate(30.0), address: rate(3.0), guess: rate(2.0) };
    let server = Running::with(Options { rates, ..Options::default() });
    for _ in 0..3 {
        server.get("/v1/scorecards").is(200);
    }
    let refused = server.get("/v1/scorecards");
    refused.is_problem(429, "too-many-requests");
    assert_eq!(refused.header("retry-after"), Some("100"));
    // A key has its own limit.
    server.get_with("/v1/scorecards", Some(&server.admin)).is(200);
    // So have guesses, which take nothing from other requests; and who watches the server is not counted.
    for expected in [401, 401, 429, 429] {
        server.get_with("/v1/scorecards", Some("karat_guess")).is(expected);
    }
    server.get("/healthz").is(200);
    server.get_with("/v1/scorecards", Some(&server.admin)).is(200);
}

/// A question that reads many records is paid for like many requests.
#[test]
fn what_a_request_reads_counts_too() {
    let rate = |burst| Rate { per_second: 0.1, burst };
    let rates = RateOptions { key: rate(100.0), address: rate(5.0), guess: rate(2.0) };
    let server = Running::with(Options { rates, ..Options::default() });
    let item = |at: u64| {
        let item = json!({"match_id": at.to_string(), "agent_id": "bee", "scores": {
            "correctness": 900, "speed": 780, "methodology": 690, "completeness": 760}});
        format!("{item}\n")
    };
    let lines: String = (0..600).map(item).collect();
    let path = "/v1/evidence?card=log-forensics@1.0.0";
    server.post(path, Some(&server.admin), "application/x-ndjson", lines).is(200);
    for _ in 0..2 {
        server.get("/v1/scorecards").is(200);
    }
    server.get("/v1/leaderboards?card=log-forensics&where=correctness_score!=1").is(200);
    let refused = server.get("/v1/scorecards");
    refused.is_problem(429, "too-many-requests");
    let wait: u32 = refused.header("retry-after").unwrap().parse().unwrap();
    assert!(
        (20..=60).contains(&wait),
        "600 records cost 6 requests, and no caller waits for more than a minute: {wait}"
    );
}

/// Pages count their own guesses too.
#[test]
fn wrong_keys_in_the_form_are_limited_like_others() {
    let rate = |burst| Rate { per_second: 0.01, burst };
    let rates = RateOptions { key: rate(30.0), address: rate(300.0), guess: rate(2.0) };
    let server = Running::with(Options { rates, ..Options::default() });
    let sign_in = |key: &str| {
        let head = "POST /sign-in HTTP/1.1\r\nhost: localhost\r\norigin: http://localhost\r\nconnection: close\r\n\
                    content-type: application/x-www-form-urlencoded\r\n";
        let body = format!("key={key}");
        server.raw(format!("{head}content-length: {}\r\n\r\n{body}", body.len()).as_bytes())
    };
    for expected in [" 403 ", " 403 ", " 429 "] {
        let answer = sign_in("karat_guess");
        assert!(answer.split("\r\n").next().unwrap().contains(expected), "{answer}");
    }
    assert!(sign_in(&server.admin).starts_with("HTTP/1.1 303 "), "a known key is no guess");
}

#[test]
fn too_many_requests_at_once_are_turned_away() {
    let server = Running::with(Options { requests_max: 1, ..Options::default() });
    // A request sent meanwhile may get the only permit itself, and the slow one is turned away: then the slow one is
    // repeated.
    let turned_away = (0..50).find_map(|_| {
        let mut slow = TcpStream::connect(server.address).unwrap();
        slow.write_all(head(&server, "content-length: 2\r\n\r\n{").as_bytes()).unwrap();
        let busy = (0..20).find_map(|_| {
            std::thread::sleep(Duration::from_millis(10));
            Some(server.get("/v1/scorecards")).filter(|answer| answer.status == 503)
        });
        busy.map(|busy| (slow, busy))
    });
    let (mut slow, busy) = turned_away.expect("one request is at work");
    busy.is_problem(503, "busy");
    assert_eq!(busy.header("retry-after"), Some("1"));
    slow.write_all(b"}").unwrap();
    let mut answer = String::new();
    slow.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 422 "), "what was accepted is finished: {answer}");
    server.get("/v1/scorecards").is(200);
}

#[test]
fn a_stopping_server_finishes_what_it_accepted() {
    let server = Running::new();
    let item = include_str!("../../../../examples/workflow/worked-example.json");
    let (first, rest) = item.split_at(100);
    let mut slow = TcpStream::connect(server.address).unwrap();
    let head = head(&server, &format!("content-length: {}\r\n\r\n", item.len()));
    slow.write_all(format!("{head}{first}").as_bytes()).unwrap();
    // The server has read the head before it is stopped.
    std::thread::sleep(Duration::from_millis(500));
    let admin = server.admin.clone();
    let stopping = std::thread::spawn(move || server.stop());
    std::thread::sleep(Duration::from_millis(100));
    slow.write_all(rest.as_bytes()).unwrap();
    let mut answer = String::new();
    slow.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 201 "), "{answer}");
    let server = Running::in_folder(stopping.join().unwrap(), Options::default(), Some(admin));
    assert_eq!(server.get("/v1/records").at("/records").as_array().unwrap().len(), 1);
}

/// Opens connections that send something and then nothing, and read nothing.
fn silent(server: &Running, count: usize, bytes: &str) -> Vec<TcpStream> {
    let open = |_| {
        let mut stream = TcpStream::connect(server.address).unwrap();
        stream.write_all(bytes.as_bytes()).unwrap();
        stream
    };
    (0..count).map(open).collect()
}

#[test]
fn callers_without_a_key_cannot_silence_the_server() {
    let options = Options { requests_max: 8, streams_max: 8, ..Options::default() };
    let server = Running::with(options);
    let host = server.address;
    // Bodies that do not come, and streams that no one reads.
    let slow = format!(
        "POST /sign-in HTTP/1.1\r\nhost: {host}\r\n\
         origin: http://{host}\r\nsec-fetch-site: same-origin\r\n\
         content-type: application/x-www-form-urlencoded\r\ncontent-length: 100\r\n\r\nk"
    );
    let stream = format!("GET /v1/events HTTP/1.1\r\nhost: {host}\r\n\r\n");
    let held = [silent(&server, 20, &slow), silent(&server, 20, &stream)];
    std::thread::sleep(Duration::from_millis(300));
    for _ in 0..20 {
        // Who waits for a body has no turn.
        server.get("/v1/records").is(200);
        server.get("/healthz").is(200);
        server.get_with("/v1/records", Some(&server.admin)).is(200);
        server.send("card=workflow@1.0.0", include_str!("../../../../examples/workflow/worked-example.json"));
    }
    let own =
        format!("GET /v1/events HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {}\r\n\r\n", server.admin);
    let mut own = silent(&server, 1, &own).remove(0);
    own.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    let mut answer = [0; 15];
    own.read_exact(&mut answer).unwrap();
    assert_eq!(&answer, b"HTTP/1.1 200 OK", "a stream of the administrator");
    drop(held);
}

/// The body of the ten thousandth slow caller arrives in the end, too.
#[test]
fn a_slow_body_of_a_caller_without_a_key_is_read_when_it_arrives() {
    let server = Running::with(Options { requests_max: 2, ..Options::default() });
    let card = include_str!("../../../../scorecards/workflow/1.0.0.toml");
    let (first, rest) = card.split_at(100);
    let head = format!(
        "POST /v1/scorecards/check HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\
         content-type: application/toml\r\ncontent-length: {}\r\n\r\n{first}",
        card.len()
    );
    let held = silent(&server, 10, &head);
    std::thread::sleep(Duration::from_millis(300));
    for mut stream in held {
        server.get("/v1/records").is(200);
        stream.write_all(rest.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    }
}

#[test]
fn one_caller_has_only_so_many_streams() {
    let server = Running::with(Options { streams_max: 8, ..Options::default() });
    let key = server.key(&serde_json::json!({"name": "reader", "scopes": ["read"]}));
    let open = |key: &str| {
        let ask = format!(
            "GET /v1/events HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {key}\r\nconnection: close\r\n\r\n"
        );
        let mut stream = silent(&server, 1, &ask).remove(0);
        stream.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
        let mut answer = [0; 12];
        stream.read_exact(&mut answer).unwrap();
        (stream, String::from_utf8(answer.to_vec()).unwrap())
    };
    let all: Vec<_> = (0..3).map(|_| open(&key)).collect();
    let answers: Vec<&str> = all.iter().map(|(_, answer)| answer.as_str()).collect();
    assert_eq!(answers, ["HTTP/1.1 200", "HTTP/1.1 200", "HTTP/1.1 503"]);
    assert_eq!(open(&server.admin).1, "HTTP/1.1 200", "another caller");
}

/// A client that writes all before it reads.
fn written_first(server: &Running, head: &str, body: &[u8]) -> String {
    let mut stream = TcpStream::connect(server.address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    stream.write_all(head.as_bytes()).unwrap();
    for part in body.chunks(64 << 10) {
        stream.write_all(part).unwrap();
    }
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn who_sends_too_much_is_told_so() {
    let server = Running::new();
    let host = server.address;
    let body = vec![b'x'; 8 << 20];
    let chunked = [format!("{:x}\r\n", body.len()).as_bytes(), &body, b"\r\n0\r\n\r\n"].concat();
    let length = format!("content-length: {}\r\n\r\n", body.len());
    let of_anyone = format!(
        "POST /v1/scorecards/check HTTP/1.1\r\nhost: {host}\r\ncontent-type: application/toml\r\n{length}"
    );
    for (head, body) in [
        (head(&server, &length), &body),
        (head(&server, &length).replace("connection: close\r\n", ""), &body),
        (head(&server, "transfer-encoding: chunked\r\n\r\n"), &chunked),
        (of_anyone, &body),
    ] {
        let answer = written_first(&server, &head, body);
        assert!(answer.starts_with("HTTP/1.1 413 "), "{head}{answer}");
        assert!(answer.contains("\"code\":\"too-large\""), "{answer}");
    }
    // The same for a refusal that has nothing to do with the size.
    let refused = head(&server, &length).replace(&server.admin, "karat_guess");
    assert!(written_first(&server, &refused, &body).starts_with("HTTP/1.1 401 "));
}

#[test]
fn after_a_head_with_two_lengths_the_connection_ends() {
    let server = Running::new();
    let item = include_str!("../../../../examples/workflow/worked-example.json");
    let chunk = format!("{:x}\r\n{item}\r\n0\r\n\r\n", item.len());
    let both = [
        "transfer-encoding: chunked\r\ncontent-length: 4\r\n",
        "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n",
    ];
    for lengths in both {
        let head = head(&server, &format!("{lengths}\r\n"));
        let first = server.raw(format!("{head}{chunk}").as_bytes());
        assert!(first.starts_with("HTTP/1.1 20"), "the chunks are the body: {first}");
        // After others on the same connection.
        let plain = head.replace("connection: close\r\n", "").replace("content-length: 4\r\n", "");
        let plain = plain.replace("Content-Length: 4\r\n", "");
        let last = server.raw(format!("{plain}{chunk}{plain}{chunk}{head}{chunk}{plain}{chunk}").as_bytes());
        let codes: Vec<&str> = last.split("HTTP/1.1 ").skip(1).filter_map(|it| it.get(..3)).collect();
        assert!(codes == ["200"; 3], "nothing after it is taken for a request: {codes:?}");
    }
}

#[test]
fn a_second_slash_is_named() {
    let server = Running::new();
    for (method, path, meant) in [
        ("POST", "//v1/evidence", "/v1/evidence"),
        ("GET", "//", "/"),
        ("GET", "/v1//records", "/v1/records"),
    ] {
        let answer = server.raw(
            format!("{method} {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n").as_bytes(),
        );
        assert!(answer.starts_with("HTTP/1.1 404 "), "{path}: {answer}");
        assert!(
            answer.contains(&format!("leave out the second of two slashes: `{meant}`")),
            "{path}: {answer}"
        );
    }
}

#[test]
fn one_address_has_only_so_many_connections() {
    let server = Running::with(Options { connections_per_address_max: 3, ..Options::default() });
    let held = silent(&server, 3, "");
    std::thread::sleep(Duration::from_millis(200));
    let mut more = TcpStream::connect(server.address).unwrap();
    more.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    let ended = more.read(&mut [0; 1]);
    assert!(matches!(ended, Ok(0) | Err(_)), "{ended:?}");
    drop(held);
    std::thread::sleep(Duration::from_millis(200));
    server.get("/healthz").is(200);
}

/// One address cannot take the last connections, whatever it may have.
#[test]
fn the_last_connections_are_for_others() {
    let options = Options { connections_max: 16, connections_per_address_max: 100, ..Options::default() };
    let server = Running::with(options);
    let held = silent(&server, 20, "");
    std::thread::sleep(Duration::from_millis(300));
    let is_open = |stream: &TcpStream| {
        stream.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
        let read = stream.peek(&mut [0; 1]);
        matches!(read, Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut))
    };
    assert_eq!(held.iter().filter(|stream| is_open(stream)).count(), 14);
}

#[test]
fn who_takes_nothing_of_an_answer_is_left() {
    let server = Running::with(Options { write_timeout: Duration::from_millis(300), ..Options::default() });
    let host = server.address;
    // An answer of some hundred kilobytes, many times over one connection, none of it read.
    let asks = format!("GET /v1/openapi.json HTTP/1.1\r\nhost: {host}\r\n\r\n").repeat(400);
    let mut stream = TcpStream::connect(host).unwrap();
    stream.set_write_timeout(Some(Duration::from_secs(5))).unwrap();
    let _ = stream.write_all(asks.as_bytes());
    std::thread::sleep(Duration::from_secs(2));
    // The server ended the connection: writing fails, at once or with the next write.
    let fails = (0..20).any(|_| {
        std::thread::sleep(Duration::from_millis(100));
        stream.write_all(b"GET / HTTP/1.1\r\n").is_err()
    });
    assert!(fails, "the connection is still open");
    server.get("/healthz").is(200);
}
