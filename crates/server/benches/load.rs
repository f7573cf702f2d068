//! The load that a server sustains over local connections: scored submissions one by one from 64 connections, at full
//! speed, beside other processes that use the processors, and at 10,000 a second; and in batches of 1,000. Each is
//! compared with a bare endpoint that appends the same bodies to a file and syncs it once for all that wait. Then the
//! memory for a million items, a leaderboard of all of them, and the time of a start, with the cache of the index and
//! without. And what a trace costs that brings a vector, beside one that does not.
//!
//! `cargo bench -p karat-server`, with names as arguments to choose: `single`, `busy`, `paced`, `batches` (with the
//! leaderboard), `traces`.
//! `--items=N` stores another number than a million items, of about 550 bytes of disk each, `--subjects=N` of another
//! number of subjects than 100,000; `--folder=PATH` is the
//! place of the files, if not beside the build. `--few` only shows that it works, and so does `cargo test`.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a benchmark may stop")]
#![expect(clippy::print_stdout, reason = "it is a program")]

use std::fs::{self, File};
use std::hint;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, SyncSender};
use std::sync::{Arc, LazyLock, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::StatusCode;
use axum::routing::post;
use karat_server::folder::INDEX;
use karat_server::limits::{Rate, RateOptions};
use karat_server::{Options, Server};
use mimalloc::MiMalloc;
use tempfile::TempDir;
use tokio::sync::oneshot;

/// The allocator of `karat`.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// Items that are posted: the path, and the item of each number.
type Items = (&'static str, fn(u64) -> String);

const RUNS: Items = ("/v1/evidence?card=workflow@1.0.0", run_item);
const PLAIN_TRACES: Items = ("/v1/evidence?card=trace@1.0.0", |number| trace_item(number, false));
const VECTOR_TRACES: Items = ("/v1/evidence?card=trace@1.0.0", |number| trace_item(number, true));
/// The number of subjects, if none is given.
const SUBJECTS: u64 = 100_000;
const ROUNDS: usize = 5;
/// Requests a second, if paced.
const PACE: f64 = 10_000.0;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let has = |flag: &str| arguments.iter().any(|given| given == flag);
    // Cargo passes `--bench` in `cargo bench`, not in `cargo test`.
    let few = has("--few") || !has("--bench");
    let names: Vec<&String> = arguments.iter().filter(|given| !given.starts_with('-')).collect();
    let chosen = |name: &str| names.is_empty() || names.iter().any(|given| *given == name);
    let seconds = if few { 0.1 } else { 3.0 };
    let single = Plan {
        of: RUNS,
        connections: 64,
        lines: 1,
        items: u64::MAX,
        seconds,
        per_second: None,
        neighbours: 0,
    };
    if chosen("single") {
        println!("single posts, 64 connections");
        compare(&single);
    }
    if chosen("busy") {
        let processors = thread::available_parallelism().map_or(1, NonZero::get);
        println!("single posts, 64 connections, beside {processors} threads that never rest");
        compare(&Plan { neighbours: processors, ..single });
    }
    if chosen("paced") {
        println!("single posts, 64 connections, {PACE} a second, waits from when each was due");
        compare(&Plan { per_second: Some(PACE), ..single });
    }
    if chosen("traces") {
        for connections in [1, 64] {
            println!("single traces, {connections} connections");
            vectors(&Plan { connections, ..single });
        }
    }
    if chosen("batches") {
        let given = arguments.iter().find_map(|given| given.strip_prefix("--items="));
        let million = given.map_or(1_000_000, |number| number.parse().expect("a number of items"));
        let (each, all) = if few { (2000, 3000) } else { (50_000, million) };
        let plan = Plan { connections: 4, lines: 1000, items: each, seconds: 60.0, ..single };
        println!("batches, 4 connections");
        compare(&plan);
        fill(&Plan { items: all, seconds: 600.0, ..plan });
    }
}

/// The load to send.
struct Plan {
    of: Items,
    connections: u64,
    /// Items per request; more than one are a batch.
    lines: u64,
    /// The items after which it ends,
    items: u64,
    /// or the seconds.
    seconds: f64,
    /// Requests a second of all connections together, evenly spaced; if not given, each follows the last answer.
    per_second: Option<f64>,
    /// Threads of other work that use the processors meanwhile.
    neighbours: usize,
}

/// The result of one run.
struct Load {
    items: u64,
    items_per_second: f64,
    /// Processor time of the endpoint, without that of clients and neighbours.
    processor_seconds: f64,
    /// The durations of requests, in ascending order.
    waits_seconds: Vec<f64>,
}

impl Load {
    /// Returns this percentile of the durations, in milliseconds.
    fn percentile_milliseconds(&self, percent: usize) -> f64 {
        percentile(&self.waits_seconds, percent) * 1e3
    }

    fn print(&self, name: &str) {
        println!(
            "{name:<32} {:>8.0} items/s {:>8.1} ms p50 {:>8.1} ms p99 {:>8.1} µs of processor an item",
            self.items_per_second,
            self.percentile_milliseconds(50),
            self.percentile_milliseconds(99),
            1e6 * self.processor_seconds / self.items as f64,
        );
    }
}

/// Returns this percentile of values in ascending order.
fn percentile(ascending: &[f64], percent: usize) -> f64 {
    ascending.get(ascending.len().saturating_sub(1) * percent / 100).copied().unwrap_or(f64::NAN)
}

/// Server and bare endpoint take turns, so that neighbours on the machine slow both; the median of the rounds counts.
fn compare(plan: &Plan) {
    let (bare, server) = (Bare::start(), Kept::start());
    let mut rounds: Vec<[Load; 2]> =
        (0..ROUNDS).map(|_| [plan.run(bare.address, ""), plan.run(server.address, &server.key)]).collect();
    let share = |[floor, scored]: &[Load; 2]| 100.0 * scored.items_per_second / floor.items_per_second;
    rounds.sort_by(|one, other| share(one).total_cmp(&share(other)));
    let shares: Vec<f64> = rounds.iter().map(share).collect();
    let median = shares[ROUNDS / 2];
    let [floor, scored] = rounds.swap_remove(ROUNDS / 2);
    floor.print("  bare endpoint");
    scored.print("  server");
    let mut syncs = bare.stop();
    syncs.sort_by(f64::total_cmp);
    let [sync, slow] = [50, 99].map(|percent| percentile(&syncs, percent) * 1e3);
    println!(
        "  {median:.1} % of the bare endpoint, the median of {shares:.1?}; {:.0} items a second of processor",
        scored.items as f64 / scored.processor_seconds,
    );
    println!(
        "  a sync of the bare endpoint takes {sync:.2} ms p50, {slow:.2} ms p99; p99 of the server is {:.1} and {:.1} of them",
        scored.percentile_milliseconds(99) / sync,
        scored.percentile_milliseconds(99) / slow,
    );
}

/// A trace without and one with a vector of 384 numbers, which is compared with the thousand before it, take turns.
fn vectors(plan: &Plan) {
    let [plain, vector] = [PLAIN_TRACES, VECTOR_TRACES].map(|of| (Kept::start(), Plan { of, ..*plan }));
    // A full cache.
    Plan { lines: 1000, items: 2000, connections: 1, ..vector.1 }.run(vector.0.address, &vector.0.key);
    let run = |(server, plan): &(Kept, Plan)| plan.run(server.address, &server.key);
    let mut rounds: Vec<[Load; 2]> = (0..ROUNDS).map(|_| [run(&plain), run(&vector)]).collect();
    let more = |[plain, vector]: &[Load; 2]| {
        let each = |load: &Load| 1e6 * load.processor_seconds / load.items as f64;
        each(vector) - each(plain)
    };
    rounds.sort_by(|one, other| more(one).total_cmp(&more(other)));
    let all: Vec<f64> = rounds.iter().map(more).collect();
    let [plain, vector] = rounds.swap_remove(ROUNDS / 2);
    plain.print("  without a vector");
    vector.print("  with a vector");
    println!("  {:.0} µs more of processor a trace, the median of {all:.0?}", all[ROUNDS / 2]);
}

/// Returns the number of subjects: that of `--subjects=N`, or the usual one.
fn subjects() -> u64 {
    static GIVEN: LazyLock<u64> = LazyLock::new(|| {
        let given = std::env::args().find_map(|given| given.strip_prefix("--subjects=")?.parse().ok());
        given.unwrap_or(SUBJECTS)
    });
    *GIVEN
}

/// Stores many items, measures their memory and disk, and asks for a leaderboard of them.
fn fill(plan: &Plan) {
    let server = Kept::start();
    let before = resident_kib();
    let load = plan.run(server.address, &server.key);
    let items = load.items;
    println!("{items} items in batches, {} subjects at most", subjects());
    load.print("  server");
    let after = resident_kib();
    let each = 1024.0 * after.saturating_sub(before) as f64 / items as f64;
    println!("  memory {before} KiB before, {after} KiB after: {each:.0} bytes an item");
    let disk: u64 =
        fs::read_dir(server.path()).unwrap().map(|it| it.unwrap().metadata().unwrap().len()).sum();
    println!("  disk {} bytes an item", disk / items);
    let mut client = Client::new(server.address, "");
    let first = client.ask("GET", "/v1/subjects?limit=1", "", b"");
    let subject = first.split("\"name\":\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap();
    // Answers are cached; another level, weight or moment is another question. The first of each is cold.
    let questions: [(&str, &dyn Fn(usize) -> String); 6] = [
        ("official leaderboard", &|at| format!("/v1/leaderboards?card=workflow@1.0.0&level=0.9{at:02}")),
        ("leaderboard of means", &|at| {
            format!("/v1/leaderboards?card=workflow@1.0.0&by=mean&level=0.9{at:02}")
        }),
        ("page of the leaderboard", &|at| format!("/leaderboards?card=workflow%401.0.0&page={}", at + 1)),
        ("what-if", &|at| format!("/scorecards/workflow@1.0.0/what-if?w.success=0.{at:02}1")),
        ("standing of a subject", &|at| {
            format!("/v1/standings/{subject}?card=workflow@1.0.0&as_of=2100-01-01T00:00:{:02}Z", at / 20)
        }),
        ("leaderboards by group", &|at| {
            format!("/v1/leaderboards?card=workflow@1.0.0&group_by=outcome&level=0.9{at:02}")
        }),
    ];
    for (name, path) in questions {
        let rounds = if name == "leaderboards by group" { 2 } else { 20 };
        let time = |at| {
            let asked = Instant::now();
            client.ask("GET", &path(at), "", b"");
            asked.elapsed().as_secs_f64() * 1e3
        };
        let mut times: Vec<f64> = (0..rounds).map(time).collect();
        let first = times.remove(0);
        times.sort_by(f64::total_cmp);
        let [best, half, most] =
            [0, times.len() / 2, times.len() - 1].map(|at| times.get(at).copied().unwrap_or(f64::NAN));
        println!(
            "  {name}: first {first:.1} ms; then {best:.1} ms at best, {half:.1} ms p50, {most:.1} ms at worst"
        );
    }
    drop(client);
    let mut stopped = server.stop();
    for (name, cache) in [("as it was stopped", true), ("without the cache of the index", false)] {
        if !cache {
            fs::remove_file(stopped.path().join(INDEX)).unwrap();
        }
        let before = resident_kib();
        let start = Instant::now();
        let server = Kept::start_in(stopped);
        let bound = start.elapsed().as_secs_f64();
        let path = "/v1/leaderboards?card=workflow@1.0.0";
        Client::new(server.address, "").ask("GET", "/v1/records?limit=1", "", b"");
        let first = start.elapsed().as_secs_f64();
        Client::new(server.address, "").ask("GET", path, "", b"");
        let board = start.elapsed().as_secs_f64();
        println!(
            "  start, {name}: listens after {bound:.2} s, first answer after {first:.2} s, leaderboard after {board:.2} s"
        );
        let each = 1024.0 * resident_kib().saturating_sub(before) as f64 / items as f64;
        println!("  memory of that start: {each:.0} bytes an item");
        stopped = server.stop();
    }
}

impl Plan {
    /// Sends to `address` from all connections at once.
    fn run(&self, address: SocketAddr, key: &str) -> Load {
        // Rounds against one server do not repeat items.
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let first = NEXT.load(Ordering::Relaxed);
        let media = if self.lines == 1 { "application/json" } else { "application/x-ndjson" };
        let processor = processor_seconds();
        let start = Instant::now();
        let client = || {
            let mut client = Client::new(address, key);
            let mut waits = Vec::new();
            while start.elapsed().as_secs_f64() < self.seconds {
                let number = NEXT.fetch_add(self.lines, Ordering::Relaxed);
                if number - first >= self.items {
                    break;
                }
                let body: String = (number..number + self.lines).map(self.of.1).collect();
                // A request that is sent late, after a slow one or a late wake-up, counts the delay as waiting.
                let asked = self.per_second.map_or_else(Instant::now, |per_second| {
                    start + Duration::from_secs_f64((number - first) as f64 / self.lines as f64 / per_second)
                });
                thread::sleep(asked.saturating_duration_since(Instant::now()));
                let answer = client.ask("POST", self.of.0, media, body.as_bytes());
                waits.push(asked.elapsed().as_secs_f64());
                assert!(!answer.contains("\"problem\""), "{answer}");
            }
            (waits, thread_seconds())
        };
        let is_over = AtomicBool::new(false);
        let neighbour = || {
            while !is_over.load(Ordering::Relaxed) {
                hint::spin_loop();
            }
            thread_seconds()
        };
        let (ended, seconds, of_neighbours) = thread::scope(|scope| {
            let neighbours: Vec<_> = (0..self.neighbours).map(|_| scope.spawn(neighbour)).collect();
            let threads: Vec<_> = (0..self.connections).map(|_| scope.spawn(client)).collect();
            let ended: Vec<(Vec<f64>, f64)> =
                threads.into_iter().map(|thread| thread.join().unwrap()).collect();
            let seconds = start.elapsed().as_secs_f64();
            is_over.store(true, Ordering::Relaxed);
            let of_neighbours: f64 = neighbours.into_iter().map(|thread| thread.join().unwrap()).sum();
            (ended, seconds, of_neighbours)
        });
        let of_clients: f64 = ended.iter().map(|(_, seconds)| seconds).sum();
        let mut waits: Vec<f64> = ended.into_iter().flat_map(|(waits, _)| waits).collect();
        waits.sort_by(f64::total_cmp);
        let items = waits.len() as u64 * self.lines;
        Load {
            items,
            items_per_second: items as f64 / seconds,
            processor_seconds: processor_seconds() - processor - of_clients - of_neighbours,
            waits_seconds: waits,
        }
    }
}

/// Returns a workflow run of one step, in a line of about 500 bytes.
fn run_item(number: u64) -> String {
    let (subject, task) = (number % subjects(), number / subjects());
    let quality = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 54;
    format!(
        "{{\"run_id\":\"run-{number:09}\",\"miner_uid\":{subject},\"task\":{{\"task_id\":\"task-{task}\",\
         \"task_type\":\"rag\",\"constraints\":{{\"max_budget_tao\":0.05,\"max_latency_seconds\":10}}}},\
         \"workflow_plan\":{{\"nodes\":[{{\"id\":\"search\",\"subnet\":\"sn22\",\"action\":\"search\",\"params\":{{}},\
         \"estimated_cost\":0.002,\"estimated_latency\":1.2}}],\"edges\":[],\"error_handling\":{{}}}},\
         \"output_quality\":0.{quality:04},\"result\":{{\"steps_completed\":1,\"total_steps\":1,\"actual_cost\":0.0072,\
         \"actual_latency\":4.1,\"retries\":{{}},\"timeouts\":0,\"hard_failures\":0,\"budget_aborted\":false}}}}\n"
    )
}

/// Returns a reasoning trace of three steps, in a line of about 900 bytes; a vector adds about 4,000.
fn trace_item(number: u64, has_vector: bool) -> String {
    let subject = number % subjects();
    let mut state = number;
    let mut next = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let bits = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (bits ^ (bits >> 27)) % 1_000_000
    };
    let vector = if has_vector {
        let numbers: Vec<String> =
            (0..384).map(|_| format!("{}.{:06}", ["0", "-0"][next() as usize % 2], next())).collect();
        format!(",\"vector\":[{}]", numbers.join(","))
    } else {
        String::new()
    };
    format!(
        "{{\"@context\":\"https://openknowledgepulse.org/schema/v1\",\"@type\":\"ReasoningTrace\",\
         \"id\":\"kp:trace:{number:09}\",\"metadata\":{{\"created_at\":\"2026-03-18T09:00:00Z\",\
         \"agent_id\":\"agent-{subject}\",\"task_domain\":\"finance\",\"success\":true,\"quality_score\":0.5,\
         \"visibility\":\"network\",\"privacy_level\":\"aggregated\"}},\"task\":{{\"objective\":\"Find the margin of the \
         third quarter\"}},\"steps\":[{{\"step_id\":0,\"type\":\"thought\",\"content\":\"The report has a table\"}},\
         {{\"step_id\":1,\"type\":\"tool_call\",\"content\":\"Read it\",\"tool\":{{\"name\":\"read_table\"}}}},\
         {{\"step_id\":2,\"type\":\"observation\",\"content\":\"Revenue 120, cost 84\"}}],\
         \"outcome\":{{\"result_summary\":\"done\",\"confidence\":0.9}}{vector}}}\n"
    )
}

/// A connection that stays open: one request, then its answer.
struct Client {
    stream: BufReader<TcpStream>,
    common: String,
}

impl Client {
    fn new(address: SocketAddr, key: &str) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_nodelay(true).unwrap();
        let key = if key.is_empty() { String::new() } else { format!("authorization: Bearer {key}\r\n") };
        Self { stream: BufReader::new(stream), common: format!("host: {address}\r\n{key}") }
    }

    /// Returns the body of the answer, which must be a success.
    fn ask(&mut self, method: &str, path: &str, media: &str, body: &[u8]) -> String {
        let (common, length) = (&self.common, body.len());
        let head = format!(
            "{method} {path} HTTP/1.1\r\n{common}content-type: {media}\r\ncontent-length: {length}\r\n\r\n"
        );
        self.stream.get_mut().write_all(&[head.as_bytes(), body].concat()).unwrap();
        let mut line = String::new();
        self.stream.read_line(&mut line).unwrap();
        let status = line.clone();
        let mut length = 0;
        while line != "\r\n" {
            line.clear();
            self.stream.read_line(&mut line).unwrap();
            if let Some(("content-length", value)) = line.split_once(':') {
                length = value.trim().parse().unwrap();
            }
        }
        let mut answer = vec![0; length];
        self.stream.read_exact(&mut answer).unwrap();
        let answer = String::from_utf8(answer).unwrap();
        assert!(status.starts_with("HTTP/1.1 20"), "{status}{answer}");
        answer
    }
}

/// The server, with a new store.
struct Kept {
    address: SocketAddr,
    key: String,
    folder: Option<TempDir>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Kept {
    fn start() -> Self {
        Self::start_in(scratch())
    }

    /// Starts a server with a store that may already exist; then its key is unknown.
    fn start_in(folder: TempDir) -> Self {
        let unlimited = Rate { per_second: 1e9, burst: 1e9 };
        let rates = RateOptions { key: unlimited, address: unlimited, guess: unlimited };
        let options = Options { rates, ..Options::default() };
        let server = Server::bind(folder.path(), None, "127.0.0.1:0".parse().unwrap(), options).unwrap();
        let (address, key) = (server.address, server.first_key.clone().unwrap_or_default());
        let (stop, stopped) = oneshot::channel();
        let thread = thread::spawn(|| server.run(async { stopped.await.unwrap_or_default() }).unwrap());
        Self { address, key, folder: Some(folder), stop: Some(stop), thread: Some(thread) }
    }

    fn path(&self) -> &Path {
        self.folder.as_ref().expect("it was not stopped").path()
    }

    /// Stops it, and keeps its folder.
    fn stop(mut self) -> TempDir {
        let folder = self.folder.take().expect("it was not stopped");
        drop(self);
        folder
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        drop(self.stop.take());
        // Errors were printed there.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

/// Bodies that wait for a sync, each with the sender of its answer.
type Queue = SyncSender<(Bytes, oneshot::Sender<()>)>;

/// An endpoint that appends bodies to a file and answers after the sync.
struct Bare {
    address: SocketAddr,
    syncs_seconds: Arc<Mutex<Vec<f64>>>,
    stop: oneshot::Sender<()>,
    thread: JoinHandle<()>,
    _folder: TempDir,
}

impl Bare {
    fn start() -> Self {
        let folder = scratch();
        let mut file = File::create(folder.path().join("bare")).unwrap();
        let syncs_seconds = Arc::new(Mutex::new(Vec::new()));
        let (queue, waiting) = mpsc::sync_channel::<(Bytes, oneshot::Sender<()>)>(1024);
        let syncs = Arc::clone(&syncs_seconds);
        thread::spawn(move || {
            while let Ok((body, answer)) = waiting.recv() {
                let (mut bytes, mut answers) = (body.to_vec(), vec![answer]);
                for (body, answer) in waiting.try_iter() {
                    bytes.extend_from_slice(&body);
                    answers.push(answer);
                }
                file.write_all(&bytes).unwrap();
                let start = Instant::now();
                file.sync_data().unwrap();
                syncs.lock().unwrap().push(start.elapsed().as_secs_f64());
                answers.into_iter().for_each(|answer| answer.send(()).unwrap_or_default());
            }
        });
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = oneshot::channel();
        let thread = thread::spawn(move || {
            // The same number as the server has.
            let workers = karat_server::workers();
            let runtime = tokio::runtime::Builder::new_multi_thread()
                .worker_threads(workers)
                .enable_all()
                .build()
                .unwrap();
            runtime.block_on(async move {
                let router = Router::new().route("/v1/evidence", post(append));
                let router = router.layer(DefaultBodyLimit::max(1 << 30)).with_state(queue);
                let listener = tokio::net::TcpListener::from_std(listener).unwrap();
                let serving = axum::serve(listener, router);
                serving.with_graceful_shutdown(async { stopped.await.unwrap_or_default() }).await.unwrap();
            });
        });
        Self { address, syncs_seconds, stop, thread, _folder: folder }
    }

    /// Returns the durations of the syncs.
    fn stop(self) -> Vec<f64> {
        drop(self.stop);
        self.thread.join().unwrap();
        self.syncs_seconds.lock().unwrap().clone()
    }
}

async fn append(State(queue): State<Queue>, body: Bytes) -> StatusCode {
    let (answer, answered) = oneshot::channel();
    queue.send((body, answer)).unwrap();
    answered.await.unwrap();
    StatusCode::CREATED
}

/// Creates a new folder on a real disk, beside the builds and not in memory, unless another is given.
fn scratch() -> TempDir {
    let given = std::env::args().find_map(|given| given.strip_prefix("--folder=").map(PathBuf::from));
    let folder = given.unwrap_or_else(|| PathBuf::from(env!("CARGO_TARGET_TMPDIR")));
    TempDir::with_prefix_in("load-", folder).unwrap()
}

/// Returns the processor time of this process so far, as Linux reports it; 0 elsewhere.
fn processor_seconds() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    fields.skip(11).take(2).filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / 100.0
}

/// Returns the processor time of this thread so far.
fn thread_seconds() -> f64 {
    let times = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    times.split_whitespace().next().and_then(|it| it.parse::<f64>().ok()).unwrap_or(0.0) / 1e9
}

/// Returns the resident memory of this process, clients included.
fn resident_kib() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default();
    line.split_whitespace().next().and_then(|it| it.parse().ok()).unwrap_or(0)
}
