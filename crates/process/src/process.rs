//! One process of a judge: started, heard, asked one job at a time, and ended with all of its group.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read, Write as _};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, TryRecvError, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use karat_graders::execution::Job;
use serde_json::Value;

use super::answer::{self, Answer};
use karat_run::{quoted, shown};

/// The version of the protocol.
pub(super) const PROTOCOL: u64 = 1;

/// The size of the longest line of a judge, in bytes.
const LINE_BYTES_MAX: usize = 32 << 20;

/// The longest time in which nothing looks whether the process still runs.
const GLANCE: Duration = Duration::from_millis(200);

/// The bytes that are kept of what a judge wrote to its standard error: the last ones.
const ERRORS_BYTES_MAX: usize = 4 << 10;

/// The bytes of the longest name of a version or an engine.
const WORD_BYTES_MAX: usize = 300;

/// The characters of those that a message has.
const ERRORS_SHOWN: usize = 400;

/// The variables that a judge is given. Secrets of the caller are not among them.
const VARIABLES: [&str; 8] = [
    "HOME", "KARAT_RUNTIMES", "PATH", "RUST_BACKTRACE", "TMPDIR", "XDG_CACHE_HOME", "XDG_DATA_HOME",
    "XDG_RUNTIME_DIR",
];

/// The way in which a process is started.
#[derive(Debug, Clone)]
pub(super) struct Start {
    pub program: PathBuf,
    pub arguments: Vec<std::ffi::OsString>,
    /// The longest time until it says what it is.
    pub patience: Duration,
    /// True to pass on what it writes to its standard error until then.
    pub tells: bool,
}

/// The first line of a judge: what it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hello {
    /// The version of the judge itself.
    pub version: String,
    /// The engine and its version.
    pub engine: String,
    /// Its runtimes, and their digests.
    pub runtimes: BTreeMap<String, String>,
}

/// A running process. When it is dropped, nothing of its group is left.
#[derive(Debug)]
pub(super) struct Process {
    child: Child,
    /// The way to its standard input; the thread behind it writes.
    input: Sender<Vec<u8>>,
    output: Receiver<Line>,
    errors: Arc<Mutex<Vec<u8>>>,
    /// Cut off once its standard error has ended.
    errors_end: Receiver<()>,
    /// The words in which it said what it is.
    pub hello: Hello,
    jobs: u64,
    is_reaped: bool,
}

/// A process that gave no answer.
#[derive(Debug)]
pub(super) struct Broken {
    /// The reason.
    pub why: String,
    /// True if it said nothing in all the time it had.
    pub is_late: bool,
}

impl From<String> for Broken {
    fn from(why: String) -> Self {
        Self { why, is_late: false }
    }
}

/// A line of its standard output.
#[derive(Debug)]
enum Line {
    Text(Vec<u8>),
    TooLong,
}

impl Process {
    /// Starts a process and hears its first line.
    ///
    /// # Errors
    ///
    /// If it cannot be started, ends, says nothing in time, or is not a judge that this version can ask.
    pub(super) fn start(how: &Start) -> Result<Self, String> {
        let name = quoted(&how.program.to_string_lossy());
        let mut command = Command::new(&how.program);
        command.args(&how.arguments).env_clear();
        command.envs(VARIABLES.iter().filter_map(|name| Some((name, std::env::var_os(name)?))));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        group::of_its_own(&mut command);
        let mut child = command.spawn().map_err(|error| format!("cannot start the judge {name}: {error}"))?;
        let (input, lines) = channel::<Vec<u8>>();
        let (sink, output) = sync_channel(1);
        let errors = Arc::new(Mutex::new(Vec::new()));
        let tells = Arc::new(AtomicBool::new(how.tells));
        if let Some(mut pipe) = child.stdin.take() {
            // A judge that does not read must not stop who asks it.
            thread::spawn(move || {
                while let Ok(line) = lines.recv() {
                    if pipe.write_all(&line).and_then(|()| pipe.flush()).is_err() {
                        return;
                    }
                }
            });
        }
        if let Some(pipe) = child.stdout.take() {
            thread::spawn(move || read_lines(pipe, &sink));
        }
        let (open, errors_end) = channel();
        if let Some(pipe) = child.stderr.take() {
            let (errors, tells) = (Arc::clone(&errors), Arc::clone(&tells));
            thread::spawn(move || {
                keep_last(pipe, &errors, &tells);
                drop(open);
            });
        }
        let none = Hello { version: String::new(), engine: String::new(), runtimes: BTreeMap::new() };
        let mut process =
            Self { child, input, output, errors, errors_end, hello: none, jobs: 0, is_reaped: false };
        let line = process.line(how.patience, &mut |_| {});
        let line = line.map_err(|broken| format!("the judge {name} {}", broken.why))?;
        tells.store(false, Ordering::Relaxed);
        process.hello =
            hello(&line).map_err(|why| format!("{name} is not a judge of this version: {why}"))?;
        Ok(process)
    }

    /// Returns whether it waits for a job: it runs, and has said nothing since its last answer.
    pub(super) fn is_idle(&self) -> bool {
        matches!(self.output.try_recv(), Err(TryRecvError::Empty))
    }

    /// Asks it a job, whose text is `text`. While it works, `glance` gets the time since.
    ///
    /// # Errors
    ///
    /// If it ends, does not answer in time, or answers something that is not the answer to this job. It must not be asked again.
    pub(super) fn ask(
        &mut self,
        job: &Job,
        text: &str,
        patience: Duration,
        glance: &mut dyn FnMut(Duration),
    ) -> Result<Answer, Broken> {
        self.jobs = self.jobs.wrapping_add(1);
        let line = format!("{{\"id\":{},\"job\":{text}}}\n", self.jobs);
        // If it has gone, there is no answer either.
        let _ = self.input.send(line.into_bytes());
        let line = self.line(patience, glance);
        let line = line.map_err(|broken| Broken { why: format!("the judge {}", broken.why), ..broken })?;
        let answer = answer::read(&line, self.jobs, job, &self.hello);
        answer.map_err(|why| {
            Broken::from(format!("the judge gave an unreadable answer: {why}{}", self.last_words()))
        })
    }

    /// Returns the next line. The words for an error follow "the judge".
    fn line(&mut self, patience: Duration, glance: &mut dyn FnMut(Duration)) -> Result<Vec<u8>, Broken> {
        let began = Instant::now();
        let until = began.checked_add(patience);
        let mut has_ended = false;
        loop {
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            match self.output.recv_timeout(left.map_or(GLANCE, |left| left.min(GLANCE))) {
                Ok(Line::Text(line)) => return Ok(line),
                Ok(Line::TooLong) => {
                    return Err(format!("wrote a line of more than {} MiB", LINE_BYTES_MAX >> 20).into());
                }
                // Something that it started may keep its pipes open. What it wrote last had one more moment to come.
                Err(RecvTimeoutError::Timeout) if has_ended => return Err(self.ending().into()),
                Err(RecvTimeoutError::Timeout) if left.is_some_and(|left| left <= GLANCE) => {
                    let seconds = patience.as_secs_f64();
                    let why = format!("did not answer within {seconds:.0} seconds{}", self.last_words());
                    return Err(Broken { why, is_late: true });
                }
                Err(RecvTimeoutError::Timeout) => {
                    glance(began.elapsed());
                    has_ended = group::has_ended(&mut self.child);
                }
                Err(RecvTimeoutError::Disconnected) => return Err(self.ending().into()),
            }
        }
    }

    /// Ends it, and says how it ended by itself. The words follow "the judge".
    fn ending(&mut self) -> String {
        let how = match self.end(Duration::from_secs(1)) {
            Some(status) => ended(status),
            None => "closed its standard output".to_owned(),
        };
        // Its group has ended, so no one writes any more; the thread may be a moment behind.
        let _ = self.errors_end.recv_timeout(Duration::from_millis(500));
        format!("{how}{}", self.last_words())
    }

    /// Returns what it wrote last to its standard error, for the end of a message.
    fn last_words(&self) -> String {
        let errors = self.errors.lock().unwrap_or_else(PoisonError::into_inner);
        let text = String::from_utf8_lossy(&errors);
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        if words.is_empty() {
            return String::new();
        }
        let skipped = words.chars().count().saturating_sub(ERRORS_SHOWN);
        let last: String = words.chars().skip(skipped).collect();
        format!("; its last words: {}", shown(&last, ERRORS_SHOWN))
    }

    /// Ends the process and its group, and says how it ended if it did so by itself within `grace`.
    fn end(&mut self, grace: Duration) -> Option<ExitStatus> {
        if self.is_reaped {
            return None;
        }
        let until = Instant::now() + grace;
        let mut by_itself = group::has_ended(&mut self.child);
        while !by_itself && Instant::now() < until {
            thread::sleep(Duration::from_millis(2));
            by_itself = group::has_ended(&mut self.child);
        }
        // While it is not reaped, its number is its own.
        group::kill(&mut self.child);
        // It may have left its group, and would be waited for in vain.
        let _ = self.child.kill();
        self.is_reaped = true;
        self.child.wait().ok().filter(|_| by_itself)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.end(Duration::ZERO);
    }
}

fn ended(status: ExitStatus) -> String {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return format!("was ended by signal {signal}");
    }
    match status.code() {
        Some(code) => format!("ended with exit status {code}"),
        None => "ended".to_owned(),
    }
}

/// Hands over line by line, and stops at one that is too long.
fn read_lines(pipe: impl Read, sink: &SyncSender<Line>) {
    let mut pipe = BufReader::with_capacity(1 << 16, pipe);
    loop {
        let mut line = Vec::new();
        let most = LINE_BYTES_MAX as u64 + 1;
        match pipe.by_ref().take(most).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) if line.last() == Some(&b'\n') => {
                line.pop();
                if sink.send(Line::Text(line)).is_err() {
                    return;
                }
            }
            Ok(_) if line.len() > LINE_BYTES_MAX => {
                // Who asks may have gone.
                let _ = sink.send(Line::TooLong);
                return;
            }
            // Half a line means that the process died while it wrote.
            Ok(_) => return,
        }
    }
}

/// Keeps the last bytes of a stream, and passes them on while it is to.
fn keep_last(mut pipe: impl Read, kept: &Mutex<Vec<u8>>, tells: &AtomicBool) {
    let mut buffer = [0; 1 << 12];
    while let Ok(count @ 1..) = pipe.read(&mut buffer) {
        let read = buffer.get(..count).unwrap_or_default();
        if tells.load(Ordering::Relaxed) {
            // There is nowhere else to write it.
            let _ = std::io::stderr().write_all(read);
        }
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend_from_slice(read);
        let over = kept.len().saturating_sub(ERRORS_BYTES_MAX);
        kept.drain(..over);
    }
}

/// Reads the first line.
fn hello(line: &[u8]) -> Result<Hello, String> {
    let expected = "expected `{\"karat-judge\":1,\"version\":...,\"engine\":...,\"runtimes\":{...}}`";
    let text = || quoted(&String::from_utf8_lossy(line));
    let Ok(Value::Object(said)) = serde_json::from_slice(line) else {
        return Err(format!("its first line is {}, {expected}", text()));
    };
    match said.get("karat-judge") {
        Some(version) if version.as_u64() == Some(PROTOCOL) => {}
        Some(version) => {
            return Err(format!("it speaks version {version} of the protocol, expected {PROTOCOL}"));
        }
        None => return Err(format!("its first line is {}, {expected}", text())),
    }
    let is_short = |word: &&str| word.len() <= WORD_BYTES_MAX;
    let word = |name: &str| said.get(name).and_then(Value::as_str).filter(is_short).map(str::to_owned);
    let digest = |(name, digest): (&String, &Value)| Some((name.clone(), digest.as_str()?.to_owned()));
    let runtimes =
        said.get("runtimes").and_then(Value::as_object).map(|all| all.iter().map(digest).collect());
    let whole = word("version").zip(word("engine")).zip(runtimes.flatten());
    let ((version, engine), runtimes) =
        whole.ok_or_else(|| format!("its first line is {}, {expected}", text()))?;
    Ok(Hello { version, engine, runtimes })
}

/// The group of a process: whatever it starts ends with it.
#[cfg(unix)]
mod group {
    use std::os::unix::process::CommandExt as _;
    use std::process::{Child, Command};

    use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

    pub(super) fn of_its_own(command: &mut Command) {
        command.process_group(0);
    }

    fn id(child: &Child) -> Option<Pid> {
        i32::try_from(child.id()).ok().and_then(Pid::from_raw)
    }

    pub(super) fn has_ended(child: &mut Child) -> bool {
        let Some(id) = id(child) else { return true };
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        !matches!(waitid(WaitId::Pid(id), options), Ok(None))
    }

    pub(super) fn kill(child: &mut Child) {
        if let Some(id) = id(child) {
            // There may be nothing left to end.
            let _ = kill_process_group(id, Signal::KILL);
        }
    }
}

#[cfg(not(unix))]
mod group {
    use std::process::{Child, Command};

    pub(super) fn of_its_own(_: &mut Command) {}

    pub(super) fn has_ended(child: &mut Child) -> bool {
        !matches!(child.try_wait(), Ok(None))
    }

    pub(super) fn kill(child: &mut Child) {
        let _ = child.kill();
    }
}
