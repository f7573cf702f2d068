//! Durable appends per second: one item at a time from 64 threads, and batches of 1,000, each beside a bare file that gets
//! the same bytes in the same way, one sync for everything that waits. The share of that floor is printed.
//!
//! `cargo bench -p karat-store`, with names as arguments to choose: `single`, `batches`, `audit`.
#![expect(clippy::unwrap_used, reason = "a benchmark may stop")]
#![expect(clippy::print_stdout, reason = "it is a program")]

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, SyncSender};
use std::time::{Duration, Instant};

use karat_core::facts::Digest;
use karat_store::log::Signer;
use karat_store::sqlite::Sqlite;
use karat_store::{Kind, Limits, Moment, NewItem, Store, audit};

const WRITERS: u64 = 64;
const BATCH: u64 = 1000;

fn main() {
    // A run under `cargo test` only asks whether it works.
    let few = std::env::args().any(|argument| argument == "--test");
    let names: Vec<String> = std::env::args().skip(1).filter(|given| !given.starts_with('-')).collect();
    let chosen = |name: &str| names.is_empty() || names.iter().any(|given| given == name);
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("append-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    if chosen("single") {
        let seconds = if few { 0.05 } else { 5.0 };
        let floor = single("bare file, 64 threads", seconds, &Bare::new(&folder.join("bare")));
        let store = single("store, 64 threads", seconds, &Kept::new(&folder.join("single.db")));
        println!("{:>48.1} % of the floor", 100.0 * store / floor);
    }
    if chosen("batches") {
        let items = if few { 5_000 } else { 1_000_000 };
        let floor = batches("bare file, batches of 1,000", items, &Bare::new(&folder.join("bare")));
        let path = folder.join("batches.db");
        let kept = Kept::new(&path);
        let store = batches("store, batches of 1,000", items, &kept);
        println!("{:>48.1} % of the floor", 100.0 * store / floor);
        println!("{:<32} {:>9} bytes an item", "file and write-ahead log", size(&path) / items);
        let start = Instant::now();
        let mut reader = kept.0.reader().unwrap();
        let checked = audit(&mut reader, kept.0.verifying_key(), &[]).unwrap();
        assert!(checked.holds(), "{checked}");
        println!("{:<32} {:>9.0} items/s", "audit", items as f64 / start.elapsed().as_secs_f64());
    }
    fs::remove_dir_all(&folder).unwrap();
}

fn size(path: &Path) -> u64 {
    let wal = PathBuf::from(format!("{}-wal", path.display()));
    [path, &wal].iter().filter_map(|path| fs::metadata(path).ok()).map(|file| file.len()).sum()
}

/// Items that take turns: evidence of some 200 bytes, then a record of some 1,200.
fn item(number: u64) -> NewItem {
    let record = number % 2 == 1;
    let (kind, bytes) = if record { (Kind::Record, 1200) } else { (Kind::Evidence, 200) };
    let mut content = format!("{{\"number\":{number}}}").into_bytes();
    content.resize(bytes, b' ');
    let digest = Digest::of(&content);
    NewItem {
        kind,
        id: if record { digest.to_string() } else { format!("run-{number:09}") },
        subject: Some(format!("agent-{}", number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 44)),
        sources: if record { vec![digest] } else { Vec::new() },
        replaces: None,
        content,
    }
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
        self.0.append(Moment(0), items).unwrap();
    }
}

/// A file and one thread that appends what waits, syncs, and answers.
struct Bare(SyncSender<(Vec<u8>, SyncSender<()>)>);

impl Bare {
    fn new(path: &Path) -> Self {
        let mut file = File::create(path).unwrap();
        let (sender, receiver) = mpsc::sync_channel::<(Vec<u8>, SyncSender<()>)>(1024);
        std::thread::spawn(move || {
            while let Ok((mut bytes, answer)) = receiver.recv() {
                let mut answers = vec![answer];
                for (more, answer) in receiver.try_iter() {
                    bytes.extend_from_slice(&more);
                    answers.push(answer);
                }
                file.write_all(&bytes).unwrap();
                file.sync_data().unwrap();
                answers.into_iter().for_each(|answer| answer.send(()).unwrap());
            }
        });
        Self(sender)
    }
}

impl Keeps for Bare {
    fn keep(&self, items: Vec<NewItem>) {
        let (sender, receiver) = mpsc::sync_channel(1);
        let bytes = items.into_iter().flat_map(|item| item.content).collect();
        self.0.send((bytes, sender)).unwrap();
        receiver.recv().unwrap();
    }
}

/// Items per second of 64 threads that each wait for every answer.
fn single(name: &str, seconds: f64, keeper: &dyn Keeps) -> f64 {
    let next = AtomicU64::new(0);
    let start = Instant::now();
    let mut waits: Vec<Duration> = std::thread::scope(|scope| {
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
    waits.sort_unstable();
    let [half, most] = [50, 99].map(|percent| waits[(waits.len() - 1) * percent / 100].as_secs_f64() * 1e3);
    println!("{name:<32} {rate:>9.0} items/s, median {half:.2} ms, of a hundred {most:.2} ms");
    rate
}

/// Items per second of one thread that always has two batches under way.
fn batches(name: &str, items: u64, keeper: &dyn Keeps) -> f64 {
    let next = AtomicU64::new(0);
    let start = Instant::now();
    let before = processor_seconds();
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let first = next.fetch_add(BATCH, Ordering::Relaxed);
                    if first >= items {
                        break;
                    }
                    keeper.keep((first..first + BATCH).map(item).collect());
                }
            });
        }
    });
    let rate = items as f64 / start.elapsed().as_secs_f64();
    let per_core = items as f64 / (processor_seconds() - before);
    println!("{name:<32} {rate:>9.0} items/s, {per_core:.0} a second of processor");
    rate
}

/// The processor time of this process so far, as Linux tells it; none elsewhere.
fn processor_seconds() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    fields.skip(11).take(2).filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / 100.0
}
