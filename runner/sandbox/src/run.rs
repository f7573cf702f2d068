//! A run: the warden is started and watched, output is cut while it is read, and in the end nothing is left.

use std::ffi::OsStr;
use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, PipeReader, PipeWriter, Read as _, Write as _, pipe};
use std::os::fd::{AsFd, AsRawFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{fcntl_dupfd_cloexec, ioctl_fionbio};
use rustix::process::{Pid, Signal, WaitOptions, getegid, geteuid, kill_process, waitpid};

use crate::groups::Groups;
use crate::layer::Layer;
use crate::prepare::{FIRST_FILE, Files, Known, Prepared};
use crate::raw::{Message, Ready, Stage, Step};
use crate::sandbox::{End, Error, Outcome, Pinned, Sandbox};

/// The longest time in which nothing looks whether to stop.
const GLANCE: Duration = Duration::from_millis(10);
/// The time between two looks at the control groups.
const GROUPS_GLANCE: Duration = Duration::from_millis(100);
/// The longest that a warden may take to end everything.
const LAST_MOMENT: Duration = Duration::from_secs(10);

/// Runs a sandbox, or all of it but the program.
///
/// # Errors
///
/// If it does not come to the program.
pub(crate) fn run(
    sandbox: &Sandbox,
    input: &[u8],
    stop: &dyn Fn() -> bool,
    is_trial: bool,
) -> Result<Outcome, Error> {
    let found;
    let pins = match &sandbox.pinned {
        Some(Pinned(pins)) => pins,
        None => {
            found = sandbox.pins()?;
            &found
        }
    };
    let mut known = Known::so_far();
    loop {
        let ends = Ends::new()?;
        let prepared = Prepared::of(sandbox, pins, &known, &ends.of_plan(), is_trial)?;
        if let Some(complaint) = prepared.layers.complaint().filter(|_| sandbox.is_strict) {
            return Err(Error::Refused(complaint));
        }
        let started = Ready::new(&prepared.plan).start();
        let mut box_ = match started.map(Pid::from_raw) {
            Ok(Some(warden)) => Running::new(warden, ends, input.to_vec())?,
            Ok(None) => return Err(Error::System("the kernel gave no process".to_owned())),
            // Others may be there in a moment; for namespaces this means that there are too many.
            Err(number) if sandbox.is_open || [libc::EAGAIN, libc::ENOMEM].contains(&number) => {
                return Err(Error::System(error_text(number)));
            }
            Err(number) => {
                learn(known.next_way(&error_text(number)), &known, &error_text(number))?;
                continue;
            }
        };
        if prepared.plan.waits_for_users
            && let Err(error) = box_.tell_users(prepared.user)
        {
            drop(box_);
            let why = format!("namespaces for users: {error}");
            learn(known.next_way(&why), &known, &why)?;
            continue;
        }
        match box_.watch(sandbox, stop, &prepared.groups) {
            Ok(watched) => return Ok(watched.outcome(sandbox, prepared)),
            Err((stage, libc::ESTALE, step))
                if [Stage::Root, Stage::Folder, Stage::Program].contains(&stage) =>
            {
                let what = match (stage, prepared.plan.root.get(step as usize)) {
                    (Stage::Root, Some(Step::Bind { at, .. })) => at,
                    (Stage::Folder, _) => &prepared.plan.folder.0,
                    _ => &prepared.plan.program.0,
                };
                return Err(Error::Moved(OsStr::from_bytes(what.to_bytes()).into()));
            }
            Err((Stage::Program, number, _)) => {
                return Err(Error::Start(format!(
                    "cannot start `{}`: {}",
                    sandbox.program.display(),
                    error_text(number)
                )));
            }
            Err((Stage::Folder, number, _)) => {
                return Err(Error::Start(format!(
                    "cannot start in `{}`: {}",
                    sandbox.folder.display(),
                    error_text(number)
                )));
            }
            Err((stage, number, _)) if stage == Stage::Start || FULL.contains(&number) => {
                return Err(Error::System(error_text(number)));
            }
            Err((_, number, _)) if sandbox.is_open => {
                return Err(Error::System(format!("its limits: {}", error_text(number))));
            }
            Err((stage, number, step)) => {
                let step = prepared.plan.root.get(step as usize).filter(|_| stage == Stage::Root);
                let why = match step {
                    Some(step) => format!("{}: {}", step.purpose(), error_text(number)),
                    None => error_text(number),
                };
                learn(known.learn(stage, &why), &known, &why)?;
            }
        }
    }
}

/// Goes on with what was learned.
fn learn(is_new: bool, known: &Known, why: &str) -> Result<(), Error> {
    known.keep();
    if is_new { Ok(()) } else { Err(Error::System(why.to_owned())) }
}

fn error_text(number: i32) -> String {
    std::io::Error::from_raw_os_error(number).to_string()
}

fn system(error: impl std::fmt::Display) -> Error {
    Error::System(error.to_string())
}

/// The pipes between this process and the others, and the ends of the others.
struct Ends {
    input: PipeWriter,
    output: PipeReader,
    control: PipeWriter,
    report: PipeReader,
    of_plan: [OwnedFd; 5],
}

impl Ends {
    fn new() -> Result<Self, Error> {
        let (their_input, input) = pipe().map_err(system)?;
        let (output, their_output) = pipe().map_err(system)?;
        let (their_control, control) = pipe().map_err(system)?;
        let (report, their_report) = pipe().map_err(system)?;
        let nothing = OpenOptions::new().write(true).open("/dev/null").map_err(system)?;
        let high = |file: &dyn AsFd| fcntl_dupfd_cloexec(file.as_fd(), FIRST_FILE).map_err(system);
        let of_plan = [
            high(&their_input)?,
            high(&their_output)?,
            high(&nothing)?,
            high(&their_control)?,
            high(&their_report)?,
        ];
        for file in [input.as_fd(), output.as_fd(), report.as_fd()] {
            ioctl_fionbio(file, true).map_err(system)?;
        }
        Ok(Self { input, output, control, report, of_plan })
    }

    fn of_plan(&self) -> Files {
        let [input, output, errors, control, report] = self.of_plan.each_ref().map(|file| file.as_raw_fd());
        Files { input, output, errors, control, report }
    }
}

/// A sandbox with its processes. When it is dropped, they are gone.
struct Running {
    warden: Pid,
    is_reaped: bool,
    started: Instant,
    control: Option<PipeWriter>,
    input: Option<PipeWriter>,
    left: Vec<u8>,
    written: usize,
    output: Option<PipeReader>,
    read: Vec<u8>,
    report: PipeReader,
    heard: Vec<u8>,
}

/// A run that is over.
struct Watched {
    cause: Option<End>,
    message: Option<Message>,
    output: Vec<u8>,
    wall: Duration,
    ran_out_of_memory: bool,
}

/// Errors of a machine that is full at the moment. They say nothing about what it has.
const FULL: [i32; 5] = [libc::EAGAIN, libc::ENOMEM, libc::ENOSPC, libc::EMFILE, libc::ENFILE];

/// Place, number of the error and number of the step of a run that did not come to the program.
type Failure = (Stage, i32, u32);

impl Running {
    fn new(warden: Pid, ends: Ends, input: Vec<u8>) -> Result<Self, Error> {
        // The ends of the others are closed here.
        let Ends { input: to, output, control, report, of_plan: _ } = ends;
        Ok(Self {
            warden,
            is_reaped: false,
            started: Instant::now(),
            control: Some(control),
            input: Some(to),
            left: input,
            written: 0,
            output: Some(output),
            read: Vec::new(),
            report,
            heard: Vec::new(),
        })
    }

    /// Says which users the namespace has, and lets the warden go on.
    fn tell_users(&mut self, slot: Option<u32>) -> std::io::Result<()> {
        let folder = format!("/proc/{}", self.warden.as_raw_nonzero());
        let map = |own: u32| match slot {
            // The warden is root until it becomes the other one.
            Some(slot) => format!("{own} {own} 1\n{slot} {slot} 1\n"),
            None => format!("{own} {own} 1\n"),
        };
        if slot.is_none() {
            fs::write(format!("{folder}/setgroups"), "deny")?;
        }
        fs::write(format!("{folder}/uid_map"), map(geteuid().as_raw()))?;
        fs::write(format!("{folder}/gid_map"), map(getegid().as_raw()))?;
        self.control.as_mut().map_or(Ok(()), |control| control.write_all(b"g"))
    }

    /// Writes, reads and waits, until everything has ended.
    fn watch(
        mut self,
        sandbox: &Sandbox,
        stop: &dyn Fn() -> bool,
        groups: &Groups,
    ) -> Result<Watched, Failure> {
        let deadline = self.started.checked_add(sandbox.limits.wall);
        let most = sandbox.limits.output_bytes;
        let mut cause = None;
        let mut message = None;
        let mut last_moment: Option<Instant> = None;
        let mut next_look = self.started + GROUPS_GLANCE;
        loop {
            let now = Instant::now();
            if cause.is_none() {
                self.write();
                cause = if stop() {
                    Some(End::Stopped)
                } else if deadline.is_some_and(|deadline| now >= deadline) {
                    Some(End::WallLimit)
                } else if self.read(most) {
                    Some(End::OutputLimit)
                } else if now >= next_look {
                    next_look = now + GROUPS_GLANCE;
                    // The kernel may have ended one process of many.
                    groups.ran_out_of_memory().then_some(End::MemoryLimit)
                } else {
                    None
                };
                if cause.is_some() {
                    self.ask_to_end();
                    last_moment = now.checked_add(LAST_MOMENT);
                }
            }
            match self.hear() {
                Some(Ok(heard)) => {
                    message = Some(heard);
                    break;
                }
                Some(Err(())) => break,
                None if last_moment.is_some_and(|moment| now >= moment) => break,
                None => {}
            }
            self.wait_a_moment(deadline.filter(|_| cause.is_none()));
        }
        if let Some(Message::Failed(stage, number, step)) = message {
            return Err((stage, number, step));
        }
        if cause.is_none() {
            // What is still in the pipe: no one writes any more.
            cause = self.read(most).then_some(End::OutputLimit);
        }
        self.end(groups, !matches!(message, Some(Message::Ended { may_be_left: false, .. })));
        let output = std::mem::take(&mut self.read);
        let ran_out_of_memory = groups.ran_out_of_memory();
        Ok(Watched { cause, message, output, wall: self.started.elapsed(), ran_out_of_memory })
    }

    /// Writes what the program takes. It need not read.
    fn write(&mut self) {
        while let Some(input) = &mut self.input {
            let left = self.left.get(self.written..).unwrap_or_default();
            match input.write(left) {
                Ok(written) if written > 0 => self.written += written,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                _ => self.input = None,
            }
            if self.written >= self.left.len() {
                self.input = None;
            }
        }
    }

    /// Reads what is there. Returns whether it is too much; then the rest is cut off.
    fn read(&mut self, most: usize) -> bool {
        let mut buffer = [0; 1 << 14];
        while let Some(output) = &mut self.output {
            match output.read(&mut buffer) {
                Ok(0) => self.output = None,
                Ok(count) => self.read.extend_from_slice(buffer.get(..count).unwrap_or_default()),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return false,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => self.output = None,
            }
            if self.read.len() > most {
                self.read.truncate(most);
                self.output = None;
                return true;
            }
        }
        false
    }

    /// Returns what the warden says, or an error if it is gone without a word.
    fn hear(&mut self) -> Option<Result<Message, ()>> {
        let mut buffer = [0; 64];
        match self.report.read(&mut buffer) {
            Ok(0) => Some(Message::read(&self.heard).ok_or(())),
            Ok(count) => {
                self.heard.extend_from_slice(buffer.get(..count).unwrap_or_default());
                Message::read(&self.heard).map(Ok)
            }
            Err(error) if [ErrorKind::WouldBlock, ErrorKind::Interrupted].contains(&error.kind()) => None,
            Err(_) => Some(Err(())),
        }
    }

    /// Waits until something can be written or read, or for a short time.
    fn wait_a_moment(&self, deadline: Option<Instant>) {
        let mut watched = vec![PollFd::new(&self.report, PollFlags::IN)];
        watched.extend(self.input.as_ref().map(|input| PollFd::new(input, PollFlags::OUT)));
        watched.extend(self.output.as_ref().map(|output| PollFd::new(output, PollFlags::IN)));
        let until = deadline
            .map_or(GLANCE, |deadline| deadline.saturating_duration_since(Instant::now()).min(GLANCE));
        let until = Timespec { tv_sec: 0, tv_nsec: i64::from(until.subsec_nanos()) };
        // An error is as good as a moment: the loop looks again.
        let _ = poll(&mut watched, Some(&until));
    }

    /// Asks the warden to end everything, and drops what would keep it from that.
    fn ask_to_end(&mut self) {
        self.control = None;
        self.input = None;
        self.output = None;
    }

    /// Ends whatever may be left, and reaps the warden.
    fn end(&mut self, groups: &Groups, may_be_left: bool) {
        if may_be_left {
            let _ = kill_process(self.warden, Signal::KILL);
            groups.end_all();
        }
        self.reap();
    }

    fn reap(&mut self) {
        while !self.is_reaped {
            match waitpid(Some(self.warden), WaitOptions::empty()) {
                Err(rustix::io::Errno::INTR) => {}
                _ => self.is_reaped = true,
            }
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.is_reaped {
            // Until it has told that all have ended, it has to.
            self.ask_to_end();
            let last_moment = Instant::now() + LAST_MOMENT;
            while self.hear().is_none() && Instant::now() < last_moment {
                self.wait_a_moment(None);
            }
            let _ = kill_process(self.warden, Signal::KILL);
            self.reap();
        }
    }
}

impl Watched {
    fn outcome(self, sandbox: &Sandbox, prepared: Prepared) -> Outcome {
        let Prepared { layers, groups, .. } = prepared;
        let (status, cpu_microseconds, peak_kib, may_be_left) = match self.message {
            Some(Message::Ended { status, cpu_microseconds, peak_kib, may_be_left }) => {
                (Some(status), cpu_microseconds, peak_kib, may_be_left)
            }
            _ => (None, 0, 0, true),
        };
        let cpu = Duration::from_micros(cpu_microseconds);
        let ended_by = status.filter(|it| libc::WIFSIGNALED(*it)).map(|it| libc::WTERMSIG(it));
        // The kernel ends a process by coarser counts of its time than those that it gives afterwards.
        let is_over =
            sandbox.limits.cpu_seconds.map(Duration::from_secs).is_some_and(|most| match ended_by {
                Some(libc::SIGXCPU) => true,
                // Each process has the limit for itself.
                _ if sandbox.is_open => false,
                Some(libc::SIGKILL) => cpu >= most * 3 / 4,
                _ => cpu >= most * 19 / 20,
            });
        let end = match (self.cause, status) {
            (Some(cause), _) => cause,
            (None, _) if self.ran_out_of_memory => End::MemoryLimit,
            (None, _) if is_over => End::CpuLimit,
            (None, Some(status)) if libc::WIFEXITED(status) => End::Exit(libc::WEXITSTATUS(status)),
            (None, Some(status)) if libc::WIFSIGNALED(status) => End::Signal(libc::WTERMSIG(status)),
            (None, _) => End::Killed,
        };
        let is_contained = layers.has(Layer::Processes) || groups.joins().next().is_some();
        Outcome {
            end,
            output: self.output,
            cpu,
            wall: self.wall,
            peak_bytes: groups.peak().unwrap_or(peak_kib * 1024),
            layers,
            may_be_left: may_be_left && !is_contained,
        }
    }
}
