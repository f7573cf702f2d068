//! The description of a sandbox, and what becomes of a run.

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use crate::layer::Layers;

/// A sandbox: a program of others, and what it is allowed.
///
/// ```
/// use karat_sandbox::{End, Sandbox};
///
/// let mut sandbox = Sandbox::new("/bin/sh");
/// sandbox.arguments = ["-c", "read name; echo hello $name"].map(Into::into).to_vec();
/// # if cfg!(target_os = "linux") {
/// let outcome = sandbox.run(b"world\n", &|| false).unwrap();
/// assert_eq!((outcome.end, outcome.output.as_slice()), (End::Exit(0), &b"hello world\n"[..]));
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Sandbox {
    /// The program. It sees the folders of the system (`/usr`, `/lib` and the like), itself, and what is named here.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// The folder that it starts in. If it is not allowed otherwise, it is empty there.
    pub folder: PathBuf,
    /// Its environment.
    pub environment: Vec<(OsString, OsString)>,
    /// Folders and files that it may read and execute.
    pub read: Vec<PathBuf>,
    /// Folders and files that it may also write to. What it writes there stays, and only `file_bytes` limits it.
    pub write: Vec<PathBuf>,
    /// True if it has the network of this machine.
    pub has_network: bool,
    /// Its limits.
    pub limits: Limits,
    /// True if it must not run unless every layer holds.
    pub is_strict: bool,
    /// True if it has no walls at all: no layer but the limits that are given. What it leaves behind ends with it all the
    /// same, as far as the kernel tells whose child a process is, and when the process that runs it ends.
    pub is_open: bool,
    /// Its files, as [`Sandbox::pin`] has found them. Without them, each run looks them up by itself.
    pub pinned: Option<Pinned>,
}

/// Program, folder and paths of a sandbox as they were at one moment.
#[derive(Debug, Clone)]
pub struct Pinned(#[cfg(target_os = "linux")] pub(crate) crate::pin::Pins);

/// Limits of a sandbox.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Seconds of a processor, for all processes together; each is ended there. Within 5 % of it a run is over.
    pub cpu_seconds: Option<u64>,
    /// The longest time.
    pub wall: Duration,
    /// Memory in bytes: of all processes together where there are control groups, of each process elsewhere.
    pub memory_bytes: u64,
    /// Processes and threads at a time. Without walls, and not for root: of its user.
    pub processes: u64,
    /// The largest file.
    pub file_bytes: u64,
    /// Bytes of standard output. What is longer is cut while it is read.
    pub output_bytes: usize,
    /// The size of `/tmp`, which is in memory and goes with the sandbox.
    pub scratch_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        const MIB: u64 = 1 << 20;
        Self {
            cpu_seconds: None,
            wall: Duration::from_secs(60),
            memory_bytes: 512 * MIB,
            processes: 64,
            file_bytes: 64 * MIB,
            output_bytes: 256 << 10,
            scratch_bytes: 64 * MIB,
        }
    }
}

impl Sandbox {
    /// Makes a sandbox for a program, without arguments, environment, further files or a network.
    pub fn new(program: impl Into<PathBuf>) -> Self {
        Self {
            program: program.into(),
            arguments: Vec::new(),
            folder: PathBuf::from("/"),
            environment: Vec::new(),
            read: Vec::new(),
            write: Vec::new(),
            has_network: false,
            limits: Limits::default(),
            is_strict: false,
            is_open: false,
            pinned: None,
        }
    }
}

/// The end of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// It ended by itself, with this status.
    Exit(i32),
    /// It was ended by a signal, as after a fault in it.
    Signal(i32),
    /// It used more time of a processor than its limit.
    CpuLimit,
    /// It was not ready in time.
    WallLimit,
    /// It used more memory than its limit. Where there are no control groups an allocation fails instead, and the program
    /// ends in its own way.
    MemoryLimit,
    /// It wrote more than its limit.
    OutputLimit,
    /// The run was asked to stop.
    Stopped,
    /// Something outside of the sandbox ended it. This says nothing about the program.
    Killed,
}

impl fmt::Display for End {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exit(status) => write!(out, "exit status {status}"),
            Self::Signal(signal) => write!(out, "ended by signal {signal}"),
            Self::CpuLimit => out.write_str("over its limit of CPU time"),
            Self::WallLimit => out.write_str("not ready in time"),
            Self::MemoryLimit => out.write_str("over its limit of memory"),
            Self::OutputLimit => out.write_str("over its limit of output"),
            Self::Stopped => out.write_str("stopped"),
            Self::Killed => out.write_str("ended from outside of its sandbox"),
        }
    }
}

/// Outcome of a run.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// The end.
    pub end: End,
    /// The standard output, up to the limit.
    pub output: Vec<u8>,
    /// Time of a processor, of all processes. Two runs of one program differ.
    pub cpu: Duration,
    /// Time that passed.
    pub wall: Duration,
    /// The most memory in use, in bytes: of all processes where there are control groups, of one elsewhere.
    pub peak_bytes: u64,
    /// The layers.
    pub layers: Layers,
    /// True if processes may be left. It cannot be with a namespace for processes, or with control groups.
    pub may_be_left: bool,
}

/// The verdict on a run whose time counts.
#[derive(Debug, Clone)]
pub enum Timed {
    /// It ended within its time, or for another reason.
    Ended(Outcome),
    /// It was over its time, and twice more, alone and with three times the time.
    TimeLimit(Outcome),
    /// It was over its time once, and not every time: the machine was busy, or it is near the limit. No score follows.
    NoVerdict(Outcome),
}

/// A run that did not come to the program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Error {
    /// Layers are missing, and the sandbox is strict.
    Refused(String),
    /// The program cannot be started: it is not there, or may not be executed.
    Start(String),
    /// Something is no longer what it was when it was pinned, or leads elsewhere since the run began: a program that
    /// may write there has put something else in its place.
    Moved(PathBuf),
    /// The system has no room for it at the moment.
    System(String),
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(why) => write!(out, "no strict sandbox on this machine: {why}"),
            Self::Start(why) => out.write_str(why),
            Self::Moved(path) => {
                write!(out, "`{}` is no longer what it was when the run began", path.display())
            }
            Self::System(why) => write!(out, "cannot start a sandbox: {why}"),
        }
    }
}

impl std::error::Error for Error {}
