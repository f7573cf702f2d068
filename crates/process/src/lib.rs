//! Processes that run what others wrote: the search for their programs, the pool of judges, and the signals that end one.
//!
//! A submission runs in a process of `karat-judge` by itself, so that nothing of it is where scores are computed. A process is asked one job at a
//! time, in lines of JSON. It may end, hang, or answer nonsense: that costs the job that it had alone. The job is asked
//! once more, in a fresh process; if that fails, too, there is no verdict. Nothing of this becomes a score: what a score rests
//! on is a report, checked against its job.
//!
//! A process that ended may have lacked memory that others took, so its job is then alone, with no other beside it. It may also
//! be the job that ends processes. So others wait for it no longer than a bounded time, until it begins and while it is at work;
//! and one that hung gets no such turn, because it did not lack memory.
//!
//! | file | what |
//! |---|---|
//! | `find` | the search for the programs |
//! | `process` | one process |
//! | `answer` | its answers, checked |
//! | `places` | who may ask at a time |
//! | `signals` | the wish of a terminal or a supervisor to stop |

mod answer;
mod find;
mod places;
mod process;
mod signals;
#[cfg(all(test, unix))]
mod tests;

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use karat_graders::execution::{Job, Judge, Report, Task, Unjudged};

use answer::Answer;
pub use find::{JUDGE, Program, RUNNER};
use karat_run::Fault;
use places::{Place, Places, Turn};
pub use process::Hello;
use process::{Broken, Process, Start};
pub use signals::on_stop;

/// Options of a pool.
#[derive(Debug, Clone)]
pub struct Options {
    /// The folder of the runtimes; if `None`, the judge looks where it looks by itself.
    pub runtimes: Option<PathBuf>,
    /// The most processes.
    pub processes: usize,
    /// The most jobs that wait for a process.
    pub queue: usize,
    /// The longest time that a job waits for a process.
    pub wait: Duration,
    /// The longest time until a process says what it is. The first start after an installation compiles the runtimes.
    pub start: Duration,
    /// True to pass on what a process writes to its standard error until then: the progress of that.
    pub tells_start: bool,
    /// The time that a job has besides that of its fuel: compilation of the runtime at its first use.
    pub spare: Duration,
    /// The longest time that others wait until a job is alone, and again while it is.
    pub alone: Duration,
    /// The fuel that the slowest machine burns in a second. With the fuel of a job it gives the time after which a process is
    /// taken for dead: several times what an honest one needs.
    pub fuel_per_second: u64,
}

impl Default for Options {
    /// One process for each processor, at most four, and no bound of those who wait.
    fn default() -> Self {
        let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        Self {
            runtimes: None,
            processes: processors.min(4),
            queue: usize::MAX,
            wait: Duration::MAX,
            start: Duration::from_secs(900),
            tells_start: false,
            spare: Duration::from_secs(300),
            alone: Duration::from_secs(30),
            fuel_per_second: 5_000_000,
        }
    }
}

/// A pool of processes. They are started when they are needed, and end with it.
#[derive(Debug)]
pub struct Judges {
    /// The way in which a process is started; or why there can be no process.
    start: Result<Start, String>,
    options: Options,
    places: Places,
    idle: Mutex<Vec<Process>>,
    /// The last hello.
    hello: Mutex<Option<Hello>>,
    counts: Counts,
}

#[derive(Debug, Default)]
struct Counts {
    reports: AtomicU64,
    without_verdict: AtomicU64,
    refused: AtomicU64,
    broken: AtomicU64,
}

/// Counts of what a pool did so far, and does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Activity {
    /// The jobs at work.
    pub at_work: usize,
    /// The jobs that wait for a process.
    pub waiting: usize,
    /// The jobs that got a report.
    pub reports: u64,
    /// The jobs that got no verdict.
    pub without_verdict: u64,
    /// The jobs whose challenge was refused.
    pub refused: u64,
    /// The processes that ended, hung, or answered nonsense.
    pub broken: u64,
}

impl Judges {
    /// Creates a pool of processes of `program`. If there is no program, its jobs get no verdict, and the reason is the fault.
    pub fn new(program: Result<PathBuf, Fault>, options: Options) -> Self {
        let mut arguments = Vec::new();
        if let Some(folder) = &options.runtimes {
            arguments.extend([OsString::from("--runtimes"), folder.clone().into_os_string()]);
        }
        let (patience, tells) = (options.start, options.tells_start);
        let start = program.map(|program| Start { program, arguments, patience, tells });
        Self::of(start.map_err(|fault| fault.to_string()), options)
    }

    fn of(start: Result<Start, String>, options: Options) -> Self {
        Self {
            start,
            places: Places::new(options.processes.max(1), options.queue),
            options,
            idle: Mutex::default(),
            hello: Mutex::default(),
            counts: Counts::default(),
        }
    }

    /// Finds the program as [`Program::find`] does, from the environment of this process, and creates a pool.
    pub fn found(given: Option<&std::path::Path>, options: Options) -> Self {
        Self::new(JUDGE.found(given), options)
    }

    /// Says what the judge is, for which a process is started if none was before.
    ///
    /// # Errors
    ///
    /// If no process can be started.
    pub fn hello(&self) -> Result<Hello, String> {
        if let Some(known) = self.known_hello() {
            return Ok(known);
        }
        let process = self.fresh()?;
        let hello = process.hello.clone();
        self.keep(process);
        Ok(hello)
    }

    /// Returns what the judge said of itself at the last start of a process.
    pub fn known_hello(&self) -> Option<Hello> {
        self.hello.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns what the pool did so far, and does.
    pub fn activity(&self) -> Activity {
        let (at_work, waiting) = self.places.taken();
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        Activity {
            at_work,
            waiting,
            reports: read(&self.counts.reports),
            without_verdict: read(&self.counts.without_verdict),
            refused: read(&self.counts.refused),
            broken: read(&self.counts.broken),
        }
    }

    /// Returns the most processes.
    pub fn processes(&self) -> usize {
        self.places.count()
    }

    /// Returns the time after which a process with this job is taken for dead.
    fn patience(&self, job: &Job) -> Duration {
        let instances: u64 = job.tasks.iter().map(instances).fold(0, u64::saturating_add);
        let fuel = job.limits.fuel.saturating_mul(instances);
        let seconds = fuel.div_ceil(self.options.fuel_per_second.max(1));
        // One second for what an instance needs besides its fuel.
        self.options.spare.saturating_add(Duration::from_secs(seconds.saturating_add(instances)))
    }

    fn fresh(&self) -> Result<Process, String> {
        let process = Process::start(self.start.as_ref().map_err(Clone::clone)?)?;
        *self.hello.lock().unwrap_or_else(PoisonError::into_inner) = Some(process.hello.clone());
        Ok(process)
    }

    /// Returns a process that waits for a job.
    fn process(&self) -> Result<Process, String> {
        loop {
            let kept = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
            match kept {
                Some(process) if process.is_idle() => return Ok(process),
                // It died while it had nothing to do, or said something without being asked.
                Some(_) => self.count(&self.counts.broken),
                None => return self.fresh(),
            }
        }
    }

    fn keep(&self, process: Process) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(process);
    }

    fn ask(
        &self,
        process: Process,
        job: &Job,
        text: &str,
        glance: &mut dyn FnMut(Duration),
    ) -> Result<Answer, Broken> {
        let mut process = process;
        let answer = process.ask(job, text, self.patience(job), glance);
        match &answer {
            Ok(_) => self.keep(process),
            Err(_) => self.count(&self.counts.broken),
        }
        answer
    }

    fn count(&self, counter: &AtomicU64) {
        counter.fetch_add(1, Ordering::Relaxed);
    }

    /// Asks the job, and once more if that fails.
    fn answer(&self, job: &Job) -> Result<Answer, String> {
        let text =
            serde_json::to_string(job).map_err(|error| format!("the job cannot be written: {error}"))?;
        let first = {
            let _place = self.place(Turn::First)?;
            // A program that cannot be started now cannot be started in a moment.
            self.ask(self.process()?, job, &text, &mut |_| {})
        };
        let Err(first) = first else { return first.map_err(|broken| broken.why) };
        let alone = self.options.alone.min(self.options.wait);
        let mut place = match first.is_late {
            false => self.places.take(Turn::Alone, alone).or_else(|_| self.place(Turn::Again))?,
            true => self.place(Turn::Again)?,
        };
        let began = Instant::now();
        let second = self.fresh().map_err(Broken::from).and_then(|process| {
            self.ask(process, job, &text, &mut |_| {
                if began.elapsed() >= self.options.alone {
                    place.share();
                }
            })
        });
        second.map_err(|again| match again.why == first.why {
            true => format!("{}; so did a second one", first.why),
            false => format!("{}; a second one: {}", first.why, again.why),
        })
    }

    fn place(&self, turn: Turn) -> Result<Place<'_>, String> {
        self.places.take(turn, self.options.wait).map_err(|full| match full {
            places::Full::Queue => format!("{} other jobs wait for the judge", self.options.queue),
            places::Full::Time => {
                format!("no judge was free within {} seconds", self.options.wait.as_secs())
            }
        })
    }
}

impl Judge for Judges {
    fn judge(&self, job: &Job) -> Result<Report, Unjudged> {
        let (counter, result) = match self.answer(job) {
            Ok(Answer::Report(report)) => (&self.counts.reports, Ok(report)),
            Ok(Answer::Refused(faults)) => (&self.counts.refused, Err(Unjudged::Challenge(faults))),
            Ok(Answer::NoVerdict(why)) | Err(why) => {
                (&self.counts.without_verdict, Err(Unjudged::NoVerdict(why)))
            }
        };
        self.count(counter);
        result
    }
}

/// Returns the most instances that a task takes.
fn instances(task: &Task) -> u64 {
    match task {
        Task::Cases { cases, .. } => cases.len() as u64,
        // Two for each test, and no suite has more tests than words that define one.
        Task::Suite { source, .. } => 2 + 2 * source.matches("def ").count() as u64,
        Task::Script { .. } | Task::Run { .. } => 1,
    }
}
