//! A stop: what is at work is finished, and clients that hold a connection do not hold up the server.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use karat_server::Options;

use crate::common::Running;

/// The time that a stop takes at most beyond the requests at work, with room for a machine that has more to do.
const STOP: Duration = Duration::from_millis(5500);

fn held(server: &Running, count: usize, bytes: &str) -> Vec<TcpStream> {
    let open = |_| {
        let mut stream = TcpStream::connect(server.address).unwrap();
        stream.set_write_timeout(Some(Duration::from_secs(1))).unwrap();
        // Who is asked a lot and reads nothing makes the client wait, too.
        let _ = stream.write_all(bytes.as_bytes());
        stream
    };
    (0..count).map(open).collect()
}

/// Returns how long a stop takes with these clients.
fn stopped(bytes: &dyn Fn(&Running) -> String) -> Duration {
    let server = Running::with(Options::default());
    let clients = held(&server, 10, &bytes(&server));
    std::thread::sleep(Duration::from_millis(300));
    let began = Instant::now();
    server.stop();
    let took = began.elapsed();
    drop(clients);
    took
}

#[test]
fn no_client_holds_up_a_stop() {
    let get = |path: &str| format!("GET {path} HTTP/1.1\r\nhost: localhost\r\n\r\n");
    let post = |server: &Running, rest: &str| {
        let key = &server.admin;
        format!(
            "POST /v1/evidence?card=workflow@1.0.0 HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {key}\r\n{rest}"
        )
    };
    let half_json = "content-type: application/json\r\ncontent-length: 9\r\n\r\n{";
    let half_batch = "content-type: application/x-ndjson\r\ntransfer-encoding: chunked\r\n\r\n3\r\n{}\n\r\n";
    let at_once = STOP / 2;
    std::thread::scope(|scope| {
        let check = |name: &'static str, most: Duration, bytes: &(dyn Fn(&Running) -> String + Sync)| {
            let took = stopped(bytes);
            assert!(took < most, "{name}: {took:?}");
        };
        scope.spawn(move || check("idle", at_once, &|_| get("/healthz")));
        scope.spawn(move || check("streams", at_once, &|_| get("/v1/events")));
        scope.spawn(move || check("half a head", STOP, &|_| String::from("GET /healthz HTTP/1.1\r\nhost:")));
        scope.spawn(move || check("never read", STOP, &|_| get("/v1/openapi.json").repeat(400)));
        scope.spawn(move || check("half a body", STOP, &|server| post(server, half_json)));
        scope.spawn(move || check("half a batch", STOP, &|server| post(server, half_batch)));
    });
}

#[test]
fn who_sends_half_a_body_is_told_that_the_server_stops() {
    let server = Running::new();
    let head = format!(
        "POST /v1/evidence?card=workflow@1.0.0 HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {}\r\n\
         content-type: application/json\r\ncontent-length: 9\r\n\r\n{{",
        server.admin
    );
    let mut client = held(&server, 1, &head).remove(0);
    std::thread::sleep(Duration::from_millis(300));
    server.stop();
    let mut answer = String::new();
    client.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 503 ") && answer.contains("the server is stopping"), "{answer}");
}
