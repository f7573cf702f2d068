//! Walls around a program: what `sandbox`, `read`, `write` and `network` of the file of executors mean.

use std::path::PathBuf;
use std::time::Instant;

use karat_sandbox::{End, Error, Layers, Limits, Outcome, Sandbox, Timed};

use karat_run::shown;

use super::command::Program;
use super::{Call, Executor, Reply};

/// The walls around a program.
#[derive(Debug, Clone, Default)]
pub(crate) struct Walls {
    /// True if it must not run unless all of them stand.
    pub is_strict: bool,
    /// Folders and files that it may read, besides those of the system.
    pub read: Vec<PathBuf>,
    /// Folders and files that it may write to.
    pub write: Vec<PathBuf>,
    /// True if it may use the network.
    pub has_network: bool,
    /// The place of `write` in the file.
    pub write_place: usize,
}

impl Program {
    /// Returns the sandbox of this program, which has no walls if it is to have none.
    fn sandbox(&self) -> Sandbox {
        let mut words = self.command.iter();
        let mut sandbox = Sandbox::new(words.next().map(PathBuf::from).unwrap_or_default());
        sandbox.arguments = words.map(Into::into).collect();
        sandbox.folder.clone_from(&self.folder);
        sandbox.environment =
            self.environment.iter().map(|(name, value)| (name.into(), value.into())).collect();
        sandbox.is_open = self.walls.is_none();
        if let Some(walls) = &self.walls {
            sandbox.read.clone_from(&walls.read);
            sandbox.write.clone_from(&walls.write);
            sandbox.has_network = walls.has_network;
            sandbox.is_strict = walls.is_strict;
        }
        let usual = Limits::default();
        let (memory, processes) =
            if sandbox.is_open { (u64::MAX, u64::MAX) } else { (usual.memory_bytes, usual.processes) };
        sandbox.limits = Limits {
            cpu_seconds: self.cpu_seconds,
            memory_bytes: self.memory_mib.map_or(memory, |mib| mib.saturating_mul(1 << 20)),
            processes: self.processes.unwrap_or(processes),
            ..usual
        };
        sandbox.pinned.clone_from(&self.pinned);
        sandbox
    }

    /// Looks up program, folder and files once: every attempt gets these.
    ///
    /// # Errors
    /// If something is not there.
    pub(crate) fn pin(&mut self) -> Result<(), String> {
        let mut sandbox = self.sandbox();
        sandbox.pin().map_err(|error| error.to_string())?;
        self.pinned = sandbox.pinned;
        Ok(())
    }

    /// Goes through everything but the program. Returns which walls stand on this machine.
    ///
    /// # Errors
    /// If the sandbox cannot be made.
    pub(crate) fn walls_standing(&self) -> Result<Layers, String> {
        self.sandbox().layers().map_err(|error| error.to_string())
    }

    /// Calls the program, behind its walls if it has any.
    pub(crate) fn call_sandboxed(&self, executor: &Executor, call: &Call<'_>) -> Reply {
        let mut sandbox = self.sandbox();
        let secrets = executor.secrets.iter();
        sandbox
            .environment
            .extend(secrets.map(|secret| (secret.name.clone().into(), secret.expose().into())));
        sandbox.limits.wall = call.deadline.saturating_duration_since(Instant::now());
        sandbox.limits.output_bytes = executor.answer_bytes_max;
        let mut request = call.request.text.clone().into_bytes();
        request.push(b'\n');
        let is_over = || call.stop.is_asked() || Instant::now() >= call.deadline;
        // A program without a way out does the same again: whether its time decides can be looked into.
        let is_closed = self.walls.as_ref().is_some_and(|walls| !walls.has_network && walls.write.is_empty());
        let result = if is_closed && self.cpu_seconds.is_some() {
            sandbox.run_timed(&request, &is_over)
        } else {
            sandbox.run(&request, &is_over).map(Timed::Ended)
        };
        let seconds = self.cpu_seconds.unwrap_or_default();
        match result {
            Ok(Timed::Ended(outcome)) => reply(&outcome, executor, call),
            Ok(Timed::TimeLimit(_)) => Reply::Ended(executor.failed(format!(
                "over its limit of {seconds} s of CPU time, and twice more of {} s, alone",
                seconds * 3
            ))),
            Ok(Timed::NoVerdict(_)) => Reply::Fault(format!(
                "no verdict: `{}` was over its limit of {seconds} s of CPU time, and then, alone, not over {} s; \
                 raise `cpu_seconds`, or leave other work off this machine",
                sandbox.program.display(),
                seconds * 3
            )),
            Err(Error::System(_)) if call.stop.is_asked() => Reply::Stopped,
            // A program that may write there has put something else in its place, so this machine is not at fault.
            Err(Error::Moved(path)) => {
                let error = Error::Moved(shown(&path.to_string_lossy(), 200).into());
                Reply::Ended(executor.failed(error.to_string()))
            }
            Err(error) => Reply::Fault(error.to_string()),
        }
    }
}

fn reply(outcome: &Outcome, executor: &Executor, call: &Call<'_>) -> Reply {
    let failed = |reason: String| {
        // What it says about its cost counts all the same.
        let answer = executor.answer(&outcome.output);
        Reply::Ended(super::Answer { cost_nano_tao: answer.cost_nano_tao, ..executor.failed(reason) })
    };
    match outcome.end {
        End::Exit(0) => Reply::Ended(executor.answer(&outcome.output)),
        End::Exit(_) | End::Signal(_) | End::CpuLimit | End::MemoryLimit => failed(outcome.end.to_string()),
        End::OutputLimit => {
            let kib = executor.answer_bytes_max.div_ceil(1024);
            Reply::Ended(executor.failed(format!("it wrote more than {kib} KiB")))
        }
        End::Stopped if call.stop.is_asked() => Reply::Stopped,
        End::Stopped | End::WallLimit => executor.late(),
        End::Killed => Reply::Fault(outcome.end.to_string()),
    }
}
