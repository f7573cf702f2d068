//! A server under siege: 200 clients that send slowly, 200 that read nothing, 64 streams of events, and ten wrong keys a
//! second, all from the address of two callers that ask as people do: one for `/healthz`, one with a key that posts and
//! reads. Their waits are measured.
//!
//! `cargo bench -p karat-server --bench siege`, for 30 seconds; `--seconds=N` for another time. In `cargo test` it is small
//! and short, and only shows that everything is answered.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a benchmark may stop")]
#![expect(clippy::print_stdout, reason = "it is a program")]

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use karat_server::{Options, Server};
use mimalloc::MiMalloc;
use tempfile::TempDir;
use tokio::sync::oneshot;

/// The allocator of `karat`.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// The time between two questions of a caller that is measured.
const PAUSE: Duration = Duration::from_millis(20);
/// The time between two wrong keys.
const GUESS: Duration = Duration::from_millis(100);
/// The time between two bytes of a slow sender.
const DRIBBLE: Duration = Duration::from_millis(500);

/// The size of a siege.
struct Plan {
    slow: usize,
    unread: usize,
    streams: usize,
    time: Duration,
    /// The wait in milliseconds that 99 of 100 answers must not pass, if that is asked for.
    wait_max_milliseconds: Option<f64>,
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let given = arguments.iter().find_map(|given| given.strip_prefix("--seconds="));
    let seconds: u64 = given.map_or(30, |number| number.parse().expect("a number of seconds"));
    // Cargo passes `--bench` in `cargo bench`, not in `cargo test`.
    let plan = match arguments.iter().any(|given| given == "--bench") {
        true => Plan {
            slow: 200,
            unread: 200,
            streams: 64,
            time: Duration::from_secs(seconds),
            wait_max_milliseconds: Some(100.0),
        },
        false => Plan {
            slow: 50,
            unread: 50,
            streams: 16,
            time: Duration::from_secs(3),
            wait_max_milliseconds: None,
        },
    };
    besiege(&plan);
}

fn besiege(plan: &Plan) {
    let folder = TempDir::with_prefix("karat-siege-").unwrap();
    // All come from one address, which has more connections than one may have by default.
    let options = Options { connections_per_address_max: 1024, ..Options::default() };
    let server = Server::bind(folder.path(), None, "127.0.0.1:0".parse().unwrap(), options).unwrap();
    let (address, key) = (server.address, server.first_key.clone().expect("a new store has a first key"));
    let (stop, stopped) = oneshot::channel();
    let running = thread::spawn(|| server.run(async { stopped.await.unwrap_or_default() }).unwrap());
    let is_over = AtomicBool::new(false);
    let (slow, guesses) = (AtomicU64::new(0), AtomicU64::new(0));
    let (mut health, mut keyed) = (Vec::new(), Vec::new());
    thread::scope(|scope| {
        scope.spawn(|| send_slowly(address, plan.slow, &slow, &is_over));
        scope.spawn(|| read_nothing(address, plan.unread, &is_over));
        scope.spawn(|| hold_streams(address, plan.streams, &is_over));
        scope.spawn(|| guess(address, &guesses, &is_over));
        // The siege is laid before anything is measured.
        thread::sleep(Duration::from_millis(500));
        let healthy = scope.spawn(|| {
            ask_for(plan.time, |_| {
                let text = "GET /healthz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
                answered(address, text, "200")
            })
        });
        keyed = ask_for(plan.time, |number| match number % 2 {
            0 => answered(address, &read(&key), "200"),
            _ => answered(address, &post(&key, number), "201"),
        });
        health = healthy.join().expect("/healthz is answered");
        is_over.store(true, Ordering::Relaxed);
    });
    let began = Instant::now();
    drop(stop);
    running.join().expect("the server stops");
    let stopping = began.elapsed();
    println!(
        "{} slow senders ({} bytes), {} that read nothing, {} streams, {} wrong keys, {:.1} s; stopped within {:.1} s",
        plan.slow,
        slow.load(Ordering::Relaxed),
        plan.unread,
        plan.streams,
        guesses.load(Ordering::Relaxed),
        plan.time.as_secs_f64(),
        stopping.as_secs_f64()
    );
    for (name, waits) in [("/healthz", &mut health), ("with a key", &mut keyed)] {
        waits.sort_by(f64::total_cmp);
        let at = |percent: usize| {
            let place = (waits.len() * percent).div_ceil(100).saturating_sub(1);
            1e3 * waits.get(place).copied().expect("at least one answer")
        };
        println!(
            "{name:<12} {:>6} answers {:>8.1} ms p50 {:>8.1} ms p99 {:>8.1} ms at most",
            waits.len(),
            at(50),
            at(99),
            at(100)
        );
        if let Some(most) = plan.wait_max_milliseconds {
            assert!(at(99) < most, "{name}: 99 of 100 answers within {:.1} ms, expected {most}", at(99));
        }
    }
}

/// Asks again and again, and returns the waits in seconds.
fn ask_for(time: Duration, mut ask: impl FnMut(u64)) -> Vec<f64> {
    let begun = Instant::now();
    let mut waits = Vec::new();
    for number in 0.. {
        if begun.elapsed() > time {
            break;
        }
        let asked = Instant::now();
        ask(number);
        waits.push(asked.elapsed().as_secs_f64());
        thread::sleep(PAUSE);
    }
    waits
}

/// Sends a request on a new connection, and expects an answer with that status.
fn answered(address: SocketAddr, text: &str, status: &str) {
    let mut stream = TcpStream::connect(address).expect("the server accepts");
    stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    stream.write_all(text.as_bytes()).expect("the server reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("the server answers");
    assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{text}{answer}");
}

fn read(key: &str) -> String {
    format!(
        "GET /v1/records?limit=1 HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {key}\r\nconnection: close\r\n\r\n"
    )
}

fn post(key: &str, number: u64) -> String {
    let item = format!(
        r#"{{"match_id": "m-{number}", "agent_id": "bee", "scores": {{"correctness": 900, "speed": 780, "methodology": 690, "completeness": 760}}}}"#
    );
    format!(
        "POST /v1/evidence?card=log-forensics@1.0.0 HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {key}\r\n\
         connection: close\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{item}",
        item.len()
    )
}

fn opened(address: SocketAddr, text: &str) -> Option<TcpStream> {
    let mut stream = TcpStream::connect(address).ok()?;
    stream.set_write_timeout(Some(Duration::from_millis(50))).ok()?;
    // A client that reads nothing cannot write everything either.
    let _ = stream.write_all(text.as_bytes());
    stream.set_nonblocking(true).ok()?;
    Some(stream)
}

/// Keeps connections whose bodies arrive byte by byte, and opens those again that the server left.
fn send_slowly(address: SocketAddr, count: usize, sent: &AtomicU64, is_over: &AtomicBool) {
    let head = format!(
        "POST /sign-in HTTP/1.1\r\nhost: {address}\r\norigin: http://{address}\r\n\
         content-type: application/x-www-form-urlencoded\r\ncontent-length: 1000\r\n\r\n"
    );
    let open = || opened(address, &head);
    let mut streams: Vec<_> = (0..count).map(|_| open()).collect();
    while !is_over.load(Ordering::Relaxed) {
        for stream in &mut streams {
            match stream.as_mut().map(|stream| stream.write_all(b"k")) {
                Some(Ok(())) => _ = sent.fetch_add(1, Ordering::Relaxed),
                _ => *stream = open(),
            }
        }
        thread::sleep(DRIBBLE);
    }
}

/// Keeps connections that ask for much and read nothing of it.
fn read_nothing(address: SocketAddr, count: usize, is_over: &AtomicBool) {
    let asks = format!("GET /v1/openapi.json HTTP/1.1\r\nhost: {address}\r\n\r\n").repeat(100);
    hold(address, count, &asks, is_over);
}

fn hold_streams(address: SocketAddr, count: usize, is_over: &AtomicBool) {
    hold(address, count, &format!("GET /v1/events HTTP/1.1\r\nhost: {address}\r\n\r\n"), is_over);
}

fn hold(address: SocketAddr, count: usize, text: &str, is_over: &AtomicBool) {
    let streams: Vec<_> = (0..count).map(|_| opened(address, text)).collect();
    while !is_over.load(Ordering::Relaxed) {
        thread::sleep(PAUSE);
    }
    drop(streams);
}

fn guess(address: SocketAddr, count: &AtomicU64, is_over: &AtomicBool) {
    while !is_over.load(Ordering::Relaxed) {
        let mut stream = TcpStream::connect(address).expect("the server accepts");
        let _ = stream.write_all(read("karat_guess").as_bytes());
        let _ = stream.read(&mut [0; 64]);
        count.fetch_add(1, Ordering::Relaxed);
        thread::sleep(GUESS);
    }
}
