//! A process that appends is killed at moments of all sorts, again and again, with the same file. Whatever it was answered
//! is there, exactly once, and the log is sound.
#![expect(clippy::unwrap_used, reason = "a test may stop")]
#![expect(clippy::print_stdout, reason = "the child answers its parent so")]

mod common;

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use common::{Folder, at, evidence, record, signer};
use karat_store::sqlite::{self, Sqlite};
use karat_store::{Kind, Limits, Store, audit};

const ROUNDS: u64 = 24;
const THREADS: u64 = 4;

fn main() {
    let mut arguments = std::env::args().skip(1);
    match (arguments.next().as_deref(), arguments.next(), arguments.next()) {
        (Some("append"), Some(path), Some(round)) => append(Path::new(&path), &round),
        _ => survive(),
    }
}

fn open(path: &Path) -> Store {
    Store::open(Arc::new(Sqlite::open(path).unwrap()), signer(), Limits::default()).unwrap()
}

/// Appends until it is killed, and says what was answered: one line for each batch, written at once.
fn append(path: &Path, round: &str) {
    let store = open(path);
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let store = &store;
            scope.spawn(move || {
                for number in 0.. {
                    let id = format!("{round}-{thread}-{number}");
                    let item = evidence(&id, &id.repeat(1 + number % 50));
                    store.append(at(0), vec![item.clone(), record(&item)]).unwrap();
                    let mut out = std::io::stdout().lock();
                    out.write_all(format!("{id}\n").as_bytes()).unwrap();
                    out.flush().unwrap();
                }
            });
        }
    });
}

fn survive() {
    let folder = Folder::new("crash");
    let path = folder.file("crash.db");
    drop(Sqlite::create(&path).unwrap());
    open(&path).stop().unwrap(); // with the head of an empty log
    let (mut answered, mut heads) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["append", &path.to_string_lossy(), &round.to_string()])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let out = child.stdout.take().unwrap();
        let reading = std::thread::spawn(move || {
            // The last line may have been cut off; a whole one ends in a line feed.
            let mut lines = Vec::new();
            let mut out = BufReader::new(out);
            let mut line = String::new();
            while out.read_line(&mut line).unwrap() > 0 {
                lines.extend(line.strip_suffix('\n').map(str::to_owned));
                line.clear();
            }
            lines
        });
        // From before the first answer to some hundred of them.
        std::thread::sleep(Duration::from_millis(3 + round * round * 7919 % 150));
        child.kill().unwrap(); // SIGKILL
        child.wait().unwrap();
        answered.extend(reading.join().unwrap());

        // As the process left it, and then as the next one finds it.
        let left = sqlite::verify(&path, signer().verifying_key(), &heads).unwrap();
        assert!(left.holds(), "round {round}: {left}");
        let store = open(&path);
        let mut reader = store.reader().unwrap();
        let checked = audit(&mut reader, store.verifying_key(), &heads).unwrap();
        assert!(checked.holds(), "round {round}: {checked}");
        let size = checked.totals.rows;
        for id in &answered {
            // That no id is there twice is what the audit has found.
            assert!(
                reader.find(Kind::Evidence, id, size).unwrap().is_some(),
                "round {round}: `{id}` was lost"
            );
        }
        assert_eq!(size % 2, 0, "evidence and record come together");
        assert!(size as usize >= 2 * answered.len());
        heads.push(reader.head().unwrap().checkpoint);
    }
    assert!(answered.len() as u64 > ROUNDS, "too few answers to mean anything: {}", answered.len());
    println!("{ROUNDS} kills, {} answers, all kept", answered.len());
}
