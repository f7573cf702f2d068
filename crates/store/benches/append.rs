//! Durable appends per second: one item at a time from 64 threads, and batches of 1,000, each beside a bare file that gets
//! the same bytes in the same way, one sync for everything that waits. The share of that floor is printed.
//!
//! `cargo bench -p karat-store`, with names as arguments to choose: `single`, `batches`, `growth`; `--items=` says how many in
//! batches, and to how many a store grows.
#![expect(clippy::unwrap_used, reason = "a benchmark may stop")]
#![expect(clippy::print_stdout, reason = "it is a program")]

use std::fs::{self, File};
use std::io::Write as _;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, SyncSender};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use karat_core::facts::Digest;
use karat_core::timestamp::Timestamp;
use karat_store::log::Signer;
use karat_store::sqlite::Sqlite;
use karat_store::{Kind, Limits, NewItem, Store, audit};

/// As in the program.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const WRITERS: u64 = 64;
const BATCH: u64 = 1000;
const ROUNDS: usize = 5;
/// Items that are read one by one.
const READS: u64 = 10_000;

fn main() {
    // A run under `cargo test` only asks whether it works.
    let few = std::env::args().any(|argument| argument == "--test");
    let names: Vec<String> = std::env::args().skip(1).filter(|given| !given.starts_with('-')).collect();
    let chosen = |name: &str| names.is_empty() || names.iter().any(|given| given == name);
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("append-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    if chosen("single") {
        let seconds = if few { 0.02 } else { 2.0 };
        let bare = Bare::new(&folder.join("bare"));
        let path = folder.join("single.db");
        let kept = Kept::new(&path);
        // They take turns, so that others who use the machine trouble both.
        let mut rounds: Vec<f64> = (0..ROUNDS)
            .map(|_| {
                let floor = single("bare file, 64 threads", seconds, &bare);
                100.0 * single("store, 64 threads", seconds, &kept) / floor
            })
            .collect();
        rounds.sort_by(f64::total_cmp);
        bare.print_syncs();
        println!("{:>48.1} % of the floor, the median of {rounds:.1?}", rounds[rounds.len() / 2]);
        print_size(&path, &kept);
    }
    if chosen("batches") {
        let items = if few { 5_000 } else { given(1_000_000) };
        // Making the items is not part of keeping them.
        let making = batches("nothing, batches of 1,000", 0..items, &Nothing, 0.0);
        let floor = batches(
            "bare file, batches of 1,000",
            0..items,
            &Bare::new(&folder.join("bare")),
            making.processor_seconds,
        );
        let path = folder.join("batches.db");
        let kept = Kept::new(&path);
        let store = batches("store, batches of 1,000", 0..items, &kept, making.processor_seconds);
        println!("{:>48.1} % of the floor", 100.0 * store.items_per_second / floor.items_per_second);
        print_size(&path, &kept);
        let mut reader = kept.0.reader().unwrap();
        let start = Instant::now();
        (0..READS).for_each(|at| drop(reader.item(drawn(at) % items).unwrap()));
        println!(
            "{:<32} {:>9.1} µs",
            "one item, anywhere",
            start.elapsed().as_secs_f64() * 1e6 / READS as f64
        );
        let start = Instant::now();
        let checked = audit(&mut reader, kept.0.verifying_key(), &[]).unwrap();
        assert!(checked.holds(), "{checked}");
        println!("{:<32} {:>9.0} items/s", "audit", items as f64 / start.elapsed().as_secs_f64());
    }
    if chosen("growth") {
        let (items, part) = if few { (10_000, 2_000) } else { (given(5_000_000), 100_000) };
        growth(&folder.join("growth.db"), items, part);
    }
    fs::remove_dir_all(&folder).unwrap();
}

/// Returns the number of items on the command line, if there is one.
fn given(otherwise: u64) -> u64 {
    let given = std::env::args().find_map(|given| given.strip_prefix("--items=").map(str::to_owned));
    given.map_or(otherwise, |number| number.parse().unwrap())
}

/// Fills a store, opens it again, and prints what an item costs at first, in all, and at the end.
fn growth(path: &Path, items: u64, part: u64) {
    let kept = Kept::new(path);
    let parts: Vec<f64> = (0..items / part)
        .map(|at| {
            let range = at * part..(at + 1) * part;
            let making = batches("nothing, batches of 1,000", range.clone(), &Nothing, 0.0);
            let load = batches("store, batches of 1,000", range, &kept, making.processor_seconds);
            1e6 * load.processor_seconds / part as f64
        })
        .collect();
    let all = parts.iter().sum::<f64>() / parts.len() as f64;
    let (first, last) = (parts[0], parts[parts.len() - 1]);
    println!(
        "first {part} items {first:.2} µs each, all {items} {all:.2} µs, last {part} {last:.2} µs: {:.2} times the first",
        all / first
    );
    print_size(path, &kept);
    drop(kept);
    let before = resident_kib();
    let start = Instant::now();
    let signer = Signer::new("karat.example/bench", &[7; 32]).unwrap();
    let store = Store::open(Arc::new(Sqlite::open(path).unwrap()), signer, Limits::default()).unwrap();
    let each = 1024.0 * resident_kib().saturating_sub(before) as f64 / items as f64;
    println!("{:<32} {:>9.2} s, {each:.0} bytes of memory an item", "start", start.elapsed().as_secs_f64());
    store.stop().unwrap();
}

/// Returns the memory of this process that is in use.
fn resident_kib() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default();
    line.split_whitespace().next().and_then(|it| it.parse().ok()).unwrap_or(0)
}

fn print_size(path: &Path, kept: &Kept) {
    let wal = PathBuf::from(format!("{}-wal", path.display()));
    let [file, wal] = [path, &wal].map(|path| fs::metadata(path).map_or(0, |file| file.len()));
    let items = kept.0.reader().unwrap().head().unwrap().size;
    println!("{:<32} {:>9} bytes an item, and a write-ahead log of {} KiB", "file", file / items, wal / 1024);
}

/// Items that take turns: evidence of a run of a workflow, some 500 bytes, and the record of it, some 1,500, as
/// `karat score --card workflow@1.0.0` writes it. Ids, digests and numbers differ from item to item as they do there.
fn item(number: u64) -> NewItem {
    let run = number / 2;
    let drawn: [u64; 8] = std::array::from_fn(|at| drawn(8 * run + at as u64));
    let [subject, id, task, tao, seconds, quality, confidence, retries] = drawn;
    let (subject, id) = (format!("agent-{:05}", subject % 100_000), format!("run-{run}-{:08x}", id >> 32));
    let (task, retries) = (task % 1000, retries % 4);
    // In ten thousandths, as they are measured.
    let [tao, seconds, quality, confidence] =
        [(tao, 500), (seconds, 100_000), (quality, 10_000), (confidence, 10_000)]
            .map(|(drawn, most)| drawn % most);
    let numbers = [tao, seconds, quality, confidence].map(|number| number as f64 / 1e4);
    let [tao, seconds, quality, confidence] = numbers;
    let evidence = format!(
        r#"{{"execution":{{"actual_cost":{tao},"actual_latency":{seconds},"hard_failures":0,"retry_count":{retries},"status":"completed","steps_completed":3,"steps_total":3,"timeouts":0}},"miner_uid":"{subject}","quality":{{"confidence":{confidence},"output_quality":{quality}}},"run_id":"{id}","task":{{"constraints":{{"max_budget_tao":0.05,"max_latency_seconds":10}},"task_id":"rag-{task:03}","task_type":"rag"}},"workflow_plan":{{"error_handling":{{"retry_budget":3,"timeout_seconds":10}},"nodes":["search","rank","answer"]}}}}"#
    );
    let content = evidence.into_bytes();
    if number.is_multiple_of(2) {
        let (id, sources, replaces) = (format!("{subject}/{id}"), Vec::new(), None);
        return NewItem {
            kind: Kind::Evidence,
            id,
            subject: Some(subject),
            sources,
            replaces,
            sender: None,
            content,
        };
    }
    let digest = Digest::of(&content);
    let readings = [quality, 1.0 - tao / 0.05, 1.0 - seconds / 10.0, 1.0 - retries as f64 / 4.0];
    let places = |number: f64| (number * 1e6).round() / 1e6;
    let keys = ["success", "cost", "latency", "reliability"];
    let (mut dimensions, mut score) = (String::new(), 0.0);
    for ((key, reading), weight) in keys.into_iter().zip(readings).zip([0.5, 0.25, 0.15, 0.1]) {
        let (comma, contribution) = (if dimensions.is_empty() { "" } else { "," }, places(weight * reading));
        score += contribution;
        dimensions += &format!(
            r#"{comma}{{"contribution":{contribution},"effective_weight":{weight},"group":null,"key":"{key}","reading":{},"reason":null,"status":"scored","weight":{weight}}}"#,
            places(reading)
        );
    }
    let score = places(score);
    let content = format!(
        r#"{{"as_of":null,"band":null,"bounds":{{"high":{score},"low":{score}}},"composite":{score},"coverage":1,"dimensions":[{dimensions}],"engine":"0.1.0","evidence":{{"digest":"{digest}","id":"{id}","kind":"workflow-run"}},"facts":{{"actual_retries":{retries},"actual_seconds":{seconds},"actual_tao":{tao},"declared_retry_budget":3,"hard_failures":0,"max_budget_tao":0.05,"max_latency_seconds":10,"output_quality":{quality},"steps_completed":3,"steps_total":3,"timeouts":0}},"gates":[],"mean":"weighted-sum","override":null,"profile":null,"scale":{{"max":1,"places":0,"publish":"exact"}},"schema":"karat/record/1","score":{{"exact":{score},"published":{score}}},"scorecard":{{"digest":"sha256:797fc323d95c7730cbb91d15694282b712f9910d87f3f708b75507fe5871db8a","id":"workflow","version":"1.0.0"}},"status":"scored","steps":[],"subject":"{subject}","tier":null,"undecided":[],"warnings":[]}}"#
    );
    NewItem {
        kind: Kind::Record,
        id: format!("{subject}/{id}/workflow@1.0.0"),
        subject: Some(subject),
        sources: vec![digest],
        replaces: None,
        sender: None,
        content: content.into_bytes(),
    }
}

/// Numbers that look random and are the same every time (the finaliser of SplitMix64).
fn drawn(at: u64) -> u64 {
    let mut x = at.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// Something that keeps items and returns when they are synced.
trait Keeps: Sync {
    fn keep(&self, items: Vec<NewItem>);
}

struct Kept(Store);

impl Kept {
    fn new(path: &Path) -> Self {
        let signer = Signer::new("karat.example/bench", &[7; 32]).unwrap();
        let backend = Arc::new(Sqlite::create(path).unwrap());
        Self(Store::open(backend, signer, Limits::default()).unwrap())
    }
}

impl Keeps for Kept {
    fn keep(&self, items: Vec<NewItem>) {
        self.0.append(Timestamp { milliseconds: 0 }, items).unwrap();
    }
}

/// Keeps nothing.
struct Nothing;

impl Keeps for Nothing {
    fn keep(&self, items: Vec<NewItem>) {
        drop(items);
    }
}

/// A file and one thread that appends what waits, syncs, and answers.
struct Bare {
    queue: SyncSender<(Vec<u8>, SyncSender<()>)>,
    syncs: Arc<Mutex<Vec<Duration>>>,
}

impl Bare {
    fn new(path: &Path) -> Self {
        let mut file = File::create(path).unwrap();
        let (queue, receiver) = mpsc::sync_channel::<(Vec<u8>, SyncSender<()>)>(1024);
        let syncs: Arc<Mutex<Vec<Duration>>> = Arc::default();
        let took = Arc::clone(&syncs);
        std::thread::spawn(move || {
            while let Ok((mut bytes, answer)) = receiver.recv() {
                let mut answers = vec![answer];
                for (more, answer) in receiver.try_iter() {
                    bytes.extend_from_slice(&more);
                    answers.push(answer);
                }
                let start = Instant::now();
                file.write_all(&bytes).unwrap();
                file.sync_data().unwrap();
                took.lock().unwrap().push(start.elapsed());
                answers.into_iter().for_each(|answer| answer.send(()).unwrap());
            }
        });
        Self { queue, syncs }
    }

    /// Prints the times to write and sync what waited.
    fn print_syncs(&self) {
        print_times("  a sync of it", self.syncs.lock().unwrap().clone());
    }
}

impl Keeps for Bare {
    fn keep(&self, items: Vec<NewItem>) {
        let (sender, receiver) = mpsc::sync_channel(1);
        let bytes = items.into_iter().flat_map(|item| item.content).collect();
        self.queue.send((bytes, sender)).unwrap();
        receiver.recv().unwrap();
    }
}

/// Items per second of 64 threads that each wait for every answer.
fn single(name: &str, seconds: f64, keeper: &dyn Keeps) -> f64 {
    let next = AtomicU64::new(0);
    let start = Instant::now();
    let waits: Vec<Duration> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..WRITERS)
            .map(|_| {
                scope.spawn(|| {
                    let mut waits = Vec::new();
                    while start.elapsed().as_secs_f64() < seconds {
                        let item = item(next.fetch_add(1, Ordering::Relaxed));
                        let asked = Instant::now();
                        keeper.keep(vec![item]);
                        waits.push(asked.elapsed());
                    }
                    waits
                })
            })
            .collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    let rate = waits.len() as f64 / start.elapsed().as_secs_f64();
    println!("{name:<32} {rate:>9.0} items/s");
    print_times("  an item of it", waits);
    rate
}

fn print_times(what: &str, mut times: Vec<Duration>) {
    times.sort_unstable();
    let at = |part: f64| times[((times.len() - 1) as f64 * part) as usize].as_secs_f64() * 1e3;
    let [half, most, nearly_all, longest] = [0.5, 0.99, 0.999, 1.0].map(at);
    println!(
        "{what:<32} p50 {half:.2} ms, p99 {most:.2} ms, p99.9 {nearly_all:.2} ms, longest {longest:.2} ms"
    );
}

/// The rate at which items were kept.
struct Load {
    items_per_second: f64,
    processor_seconds: f64,
}

/// Runs two threads that hand in one batch after the other. `making` is the processor time that is not theirs.
fn batches(name: &str, range: Range<u64>, keeper: &dyn Keeps, making: f64) -> Load {
    let items = range.end - range.start;
    let next = AtomicU64::new(range.start);
    let start = Instant::now();
    let before = processor_seconds();
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let first = next.fetch_add(BATCH, Ordering::Relaxed);
                    if first >= range.end {
                        break;
                    }
                    keeper.keep((first..first + BATCH).map(item).collect());
                }
            });
        }
    });
    let items_per_second = items as f64 / start.elapsed().as_secs_f64();
    let processor_seconds = processor_seconds() - before - making;
    let each = 1e6 * processor_seconds / items as f64;
    println!("{name:<32} {items_per_second:>9.0} items/s, {each:.2} µs of processor an item");
    Load { items_per_second, processor_seconds }
}

/// Returns the processor time of this process so far, as Linux reports it; none elsewhere.
fn processor_seconds() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    fields.skip(11).take(2).filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / 100.0
}
