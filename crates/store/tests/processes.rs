//! A store under pressure from outside: the process that appends is killed at many moments, a second one comes, the
//! disk is full, the folder cannot be written. Every answered item is there, exactly once, and the log is sound.
#![expect(clippy::unwrap_used, reason = "a test may stop")]
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "the child answers its parent so")]

#[path = "it/common/mod.rs"]
mod common;

#[cfg(unix)]
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;
use std::time::Duration;

use common::{Folder, at, evidence, record, signer};
use karat_store::port::Backend as _;
use karat_store::sqlite::{self, Sqlite};
use karat_store::{Error, Kind, Limits, Reader, Store};

const ROUNDS: u64 = 24;
const THREADS: u64 = 4;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let done = match (arguments.next().as_deref(), arguments.next(), arguments.next()) {
        (Some("append"), Some(path), Some(round)) => append(Path::new(&path), &round),
        (Some("create"), Some(path), _) => Sqlite::create(Path::new(&path)).map(drop),
        (Some("verify"), Some(path), _) => verify(Path::new(&path)),
        _ => {
            killed_processes_lose_nothing();
            a_second_process_is_refused();
            #[cfg(unix)]
            a_full_disk_refuses_and_keeps();
            #[cfg(unix)]
            what_cannot_be_written_is_told_and_can_be_read();
            Ok(())
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn open(path: &Path) -> Result<Store, Error> {
    Store::open(Arc::new(Sqlite::open(path)?), signer(), Limits::default())
}

/// Appends until it is killed or refused, and says what was answered: one line for each batch, written at once.
fn append(path: &Path, round: &str) -> Result<(), Error> {
    let store = open(path)?;
    std::thread::scope(|scope| {
        let threads = (0..THREADS).map(|thread| {
            let store = &store;
            scope.spawn(move || {
                for number in 0.. {
                    let id = format!("{round}-{thread}-{number}");
                    let item = evidence(&id, &id.repeat(1 + number % 50));
                    store.append(at(0), vec![item.clone(), record(&item)])?;
                    let mut out = std::io::stdout().lock();
                    out.write_all(format!("{id}\n").as_bytes()).unwrap();
                    out.flush().unwrap();
                }
                Ok(())
            })
        });
        let threads: Vec<_> = threads.collect();
        threads.into_iter().try_for_each(|thread| thread.join().unwrap())
    })
}

/// Checks the whole store.
fn verify(path: &Path) -> Result<(), Error> {
    let audit = sqlite::verify(path, signer().verifying_key(), &[])?;
    if audit.holds() { Ok(()) } else { Err(Error::Damaged(audit.to_string())) }
}

/// This program, to be started again.
fn child(arguments: &[&str]) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Returns the output of a process that failed.
fn failure(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert!(!output.status.success());
    String::from_utf8(output.stderr).unwrap()
}

/// Checks that everything in `answered` is there, and that the log is sound and goes on from `heads`. Gives its checkpoint.
fn kept(path: &Path, answered: &[String], heads: &[String], when: &str) -> String {
    let audit = sqlite::verify(path, signer().verifying_key(), heads).unwrap();
    assert!(audit.holds(), "{when}: {audit}");
    let mut reader = Reader::new(Sqlite::open(path).unwrap().reader().unwrap());
    let size = audit.totals.rows;
    for id in answered {
        // That no id is there twice is what the audit has found.
        assert!(reader.find(Kind::Evidence, id, size).unwrap().is_some(), "{when}: `{id}` was lost");
    }
    assert_eq!(size % 2, 0, "{when}: evidence and record come together");
    reader.head().unwrap().checkpoint
}

/// Makes an empty store, with the head of an empty log.
fn made(folder: &Folder) -> std::path::PathBuf {
    let path = folder.file("store.db");
    drop(Sqlite::create(&path).unwrap());
    open(&path).unwrap().stop().unwrap();
    path
}

fn killed_processes_lose_nothing() {
    let folder = Folder::new("killed");
    let path = made(&folder);
    let (mut answered, mut heads) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        let mut child = child(&["append", &path.to_string_lossy(), &round.to_string()])
            .stderr(Stdio::inherit())
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
        heads.push(kept(&path, &answered, &heads, &format!("round {round}")));
    }
    assert!(answered.len() as u64 > ROUNDS, "too few answers to mean anything: {}", answered.len());
    open(&path).unwrap().stop().unwrap();
    kept(&path, &answered, &heads, "at the end");
    println!("{ROUNDS} kills, {} answers, all kept", answered.len());
}

fn a_second_process_is_refused() {
    let folder = Folder::new("second-process");
    let path = made(&folder);
    let first = open(&path).unwrap();
    let text = failure(&mut child(&["append", &path.to_string_lossy(), "second"]));
    assert_eq!(
        text.trim_end(),
        format!(
            "another process has `{}` open for writing; stop it first, or use another file",
            path.display()
        )
    );
    first.append(at(0), vec![evidence("still", "x"), evidence("here", "x")]).unwrap();
    first.stop().unwrap();
    kept(&path, &[String::from("still"), String::from("here")], &[], "after the second");
}

/// No file may grow beyond a limit, which cuts a write off as a full disk does: first of the write-ahead log, and in the end
/// of the file that it is carried over into.
#[cfg(unix)]
fn a_full_disk_refuses_and_keeps() {
    let folder = Folder::new("full-disk");
    let path = made(&folder);
    let (mut answered, mut heads) = (Vec::new(), Vec::new());
    let mut append = |round: u32, limit: &str| {
        let mut limited = Command::new("sh");
        limited.args(["-c", &format!("trap '' XFSZ; ulimit -f {limit}; exec \"$0\" \"$@\"")]);
        limited.arg(std::env::current_exe().unwrap());
        let output = limited.args(["append", &path.to_string_lossy(), &round.to_string()]).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success());
        assert!(said.contains("cannot write") && said.contains("store.db`"), "round {round}: {said}");
        let before = answered.len();
        answered.extend(String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned));
        heads.push(kept(&path, &answered, &heads, &format!("round {round}")));
        answered.len() - before
    };
    let rounds = (0..30).take_while(|&round| append(round, "600") > 0).count();
    assert!((2..30).contains(&rounds), "{rounds}");
    assert!(append(30, "3000") > 0, "with more room it goes on");
}

/// Nothing is written where nothing may be, and a store there can still be checked.
#[cfg(unix)]
fn what_cannot_be_written_is_told_and_can_be_read() {
    use std::os::unix::fs::PermissionsExt as _;
    use std::os::unix::process::CommandExt as _;

    const NOBODY: u32 = 65534;
    let folder = Folder::within(&std::env::temp_dir(), "read-only");
    let path = made(&folder);
    open(&path).unwrap().append(at(0), vec![evidence("run", "x"), evidence("next", "x")]).unwrap();
    let program = folder.file("program");
    fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    let allow = |mode| fs::set_permissions(folder.path(), fs::Permissions::from_mode(mode)).unwrap();
    for name in files(&folder).keys().filter(|name| name.starts_with("store.db")) {
        fs::set_permissions(folder.file(name), fs::Permissions::from_mode(0o444)).unwrap();
    }
    allow(0o555);
    let before = files(&folder);
    // The superuser may write there all the same, and lets another process try.
    let superuser = fs::write(folder.file("tried"), "").is_ok();
    let _ = fs::remove_file(folder.file("tried"));
    let run = |verb: &str, name: &str| {
        let mut command = Command::new(&program);
        command.arg(verb).arg(folder.file(name)).arg("x");
        if superuser {
            command.uid(NOBODY).gid(NOBODY);
        }
        let output = command.output().unwrap();
        output.status.success().then_some(()).ok_or(String::from_utf8(output.stderr).unwrap())
    };
    let outcomes = [run("append", "store.db"), run("create", "new.db"), run("verify", "store.db")];
    allow(0o755);
    let refused = |name| {
        let path = folder.file(name);
        Err(format!("`{}` cannot be written; check the permissions of file and folder\n", path.display()))
    };
    assert_eq!(outcomes, [refused("store.db"), refused("new.db"), Ok(())]);
    assert_eq!(files(&folder), before);
}

/// Returns the names and contents of the files in a folder.
#[cfg(unix)]
fn files(folder: &Folder) -> std::collections::BTreeMap<String, Vec<u8>> {
    let files = fs::read_dir(folder.path()).unwrap().map(|file| {
        let file = file.unwrap();
        (file.file_name().into_string().unwrap(), fs::read(file.path()).unwrap())
    });
    files.collect()
}
