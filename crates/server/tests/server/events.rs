//! New records as server-sent events.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use karat_server::Options;
use serde_json::json;

use crate::common::Running;
use crate::keys::CARD;

/// A stream of events that is open.
pub struct Stream(BufReader<TcpStream>);

impl Stream {
    pub fn open(server: &Running, path: &str, last: Option<u64>) -> Self {
        let mut socket = TcpStream::connect(server.address).unwrap();
        socket.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
        let last = last.map(|last| format!("last-event-id: {last}\r\n")).unwrap_or_default();
        write!(socket, "GET {path} HTTP/1.1\r\nhost: localhost\r\n{last}\r\n").unwrap();
        let mut stream = Self(BufReader::new(socket));
        assert!(stream.line().starts_with("HTTP/1.1 200"));
        while !stream.line().is_empty() {}
        stream
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.0.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    /// Returns the position and the evidence of the next record.
    fn next(&mut self) -> (u64, String) {
        let (id, record) = self.event();
        (id, record["evidence"]["id"].as_str().unwrap().to_owned())
    }

    /// Returns the id and the data of the next event.
    pub fn event(&mut self) -> (u64, serde_json::Value) {
        let mut id = None;
        loop {
            let line = self.line();
            if let Some(found) = line.strip_prefix("id: ") {
                id = Some(found.parse().unwrap());
            }
            if let Some(data) = line.strip_prefix("data: ") {
                return (id.unwrap(), serde_json::from_str(data).unwrap());
            }
        }
    }
}

fn send(server: &Running, subject: &str, id: &str) -> u64 {
    let item = json!({"subject": subject, "id": id, "told": 1}).to_string();
    server.send("card=told@1.0.0", &item).is(201).at("/record/position").as_u64().unwrap()
}

#[test]
fn records_come_as_they_are_stored_and_again_from_where_a_client_was() {
    let server = Running::new();
    server.post("/v1/scorecards", Some(&server.admin), "application/toml", CARD).is(201);
    let before = send(&server, "a", "before");
    let mut all = Stream::open(&server, "/v1/events", None);
    let mut only = Stream::open(&server, "/v1/events?subject=b", None);
    let first = send(&server, "a", "first");
    let second = send(&server, "b", "second");
    assert_eq!(all.next(), (first, "first".to_owned()));
    assert_eq!(all.next(), (second, "second".to_owned()));
    assert_eq!(only.next(), (second, "second".to_owned()));
    let mut again = Stream::open(&server, "/v1/events", Some(before));
    assert_eq!(again.next(), (first, "first".to_owned()));
    assert_eq!(again.next(), (second, "second".to_owned()));
    // An open stream does not keep a server from stopping.
    server.stop();
}

#[test]
fn streams_have_a_number() {
    let server = Running::with(Options { streams_max: 1, ..Options::default() });
    let open = Stream::open(&server, "/v1/events", None);
    server.get("/v1/events").is_problem(503, "busy");
    drop(open);
}

#[test]
fn a_place_that_is_none_is_refused() {
    let server = Running::new();
    for last in ["x", "-1", "18446744073709551615"] {
        let text = format!(
            "GET /v1/events HTTP/1.1\r\nhost: localhost\r\nlast-event-id: {last}\r\nconnection: close\r\n\r\n"
        );
        let answer = server.raw(text.as_bytes());
        assert!(answer.starts_with("HTTP/1.1 400 "), "{answer}");
    }
}
