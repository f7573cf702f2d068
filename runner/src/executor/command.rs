//! An executor that is a program: the request on its standard input, the answer on its standard output, in an environment
//! with nothing but what the file of executors names; behind walls, or with limits alone.

use std::path::PathBuf;

use karat_sandbox::Pinned;

use super::sandboxed::Walls;
use super::{Call, Executor, Reply};

/// A program with its limits.
#[derive(Debug, Default)]
pub(crate) struct Program {
    /// The program and its arguments. No shell reads them.
    pub command: Vec<String>,
    /// The folder that it starts in.
    pub folder: PathBuf,
    /// The variables of its environment, without the secrets.
    pub environment: Vec<(String, String)>,
    /// The most seconds of a processor, for each of its processes.
    pub cpu_seconds: Option<u64>,
    /// The most memory, for each of its processes.
    pub memory_mib: Option<u64>,
    /// The most processes of its user. Not enforced for root.
    pub processes: Option<u64>,
    /// The walls around it, if it has any.
    pub walls: Option<Walls>,
    /// Program, folder and files, as they were when the file of executors was read.
    pub pinned: Option<Pinned>,
}

impl Program {
    #[cfg(not(target_os = "linux"))]
    pub(crate) fn call(&self, executor: &Executor, call: &Call<'_>) -> Reply {
        if self.walls.is_some() {
            return self.call_sandboxed(executor, call);
        }
        #[cfg(unix)]
        return unix::call(self, executor, call);
        #[cfg(not(unix))]
        Reply::Fault("executors of the kind `command` need Unix".to_owned())
    }

    #[cfg(target_os = "linux")]
    pub(crate) fn call(&self, executor: &Executor, call: &Call<'_>) -> Reply {
        self.call_sandboxed(executor, call)
    }
}

/// Programs without walls where there is no warden for them: a group of processes, and no more.
#[cfg(all(unix, not(target_os = "linux")))]
mod unix {
    use std::io::{ErrorKind, Read as _, Write as _};
    use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
    use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
    use std::time::{Duration, Instant};

    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::io::ioctl_fionbio;
    use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

    use super::Program;
    use crate::executor::{Answer, Call, Executor, Reply};
    use crate::stop::GLANCE;
    use karat_run::Outcome;

    /// Sets the limits and becomes the program, whose name and arguments it does not read. Shells differ in the letter of
    /// the limit of processes.
    const LIMITS: &str = r#"
ulimit -c 0 || exit 125
[ "$1" = - ] || ulimit -t "$1" || exit 125
[ "$2" = - ] || ulimit -v "$2" || exit 125
[ "$3" = - ] || ulimit -u "$3" 2> /dev/null || ulimit -p "$3" || exit 125
shift 3
exec "$@""#;

    pub(super) fn call(program: &Program, executor: &Executor, call: &Call<'_>) -> Reply {
        match Group::start(program, executor) {
            Ok(mut group) => group.converse(executor, call),
            Err(error) => Reply::Fault(format!("cannot start `{}`: {error}", name(program))),
        }
    }

    fn name(program: &Program) -> &str {
        program.command.first().map_or("", String::as_str)
    }

    /// The processes of a program. When it is dropped, none of them is left.
    struct Group {
        child: Child,
        is_reaped: bool,
        id: Option<Pid>,
        input: Option<ChildStdin>,
        output: Option<ChildStdout>,
    }

    /// The state of the output of a program.
    #[derive(PartialEq, Eq)]
    enum Flow {
        Open,
        Closed,
        TooMuch,
    }

    impl Group {
        fn start(program: &Program, executor: &Executor) -> std::io::Result<Self> {
            let limit = |limit: Option<u64>| limit.map_or_else(|| "-".to_owned(), |limit| limit.to_string());
            let mut child = Command::new("/bin/sh")
                .args(["-c", LIMITS, "karat"])
                .arg(limit(program.cpu_seconds))
                .arg(limit(program.memory_mib.map(|mib| mib.saturating_mul(1024))))
                .arg(limit(program.processes))
                .args(&program.command)
                .env_clear()
                .envs(program.environment.iter().map(|(name, value)| (name, value)))
                .envs(executor.secrets.iter().map(|secret| (&secret.name, secret.expose())))
                .current_dir(&program.folder)
                .process_group(0)
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .stderr(Stdio::null())
                .spawn()?;
            let id = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
            let (input, output) = (child.stdin.take(), child.stdout.take());
            let group = Self { child, is_reaped: false, id, input, output };
            // From here on the processes end with the value, whatever happens.
            if let (Some(input), Some(output)) = (&group.input, &group.output) {
                ioctl_fionbio(input, true)?;
                ioctl_fionbio(output, true)?;
            }
            Ok(group)
        }

        /// Writes the request and reads the answer, until the program ends or must end.
        fn converse(&mut self, executor: &Executor, call: &Call<'_>) -> Reply {
            let mut request = call.request.text.clone().into_bytes();
            request.push(b'\n');
            let mut left = request.as_slice();
            let mut answer = Vec::new();
            let most = executor.answer_bytes_max;
            let too_much =
                || Reply::Ended(executor.failed(format!("it wrote more than {} KiB", most.div_ceil(1024))));
            loop {
                if call.stop.is_asked() {
                    return Reply::Stopped;
                }
                let until = call.deadline.saturating_duration_since(Instant::now());
                if until.is_zero() {
                    return executor.late();
                }
                self.write(&mut left);
                if self.read(&mut answer, most) == Flow::TooMuch {
                    return too_much();
                }
                if self.has_ended() {
                    // What is left of the group goes while its number still belongs to the child, which is not yet
                    // reaped; then no one writes any more.
                    self.kill();
                    if self.read(&mut answer, most) == Flow::TooMuch {
                        return too_much();
                    }
                    let status = self.child.wait();
                    self.is_reaped = true;
                    return match status {
                        Ok(status) => Reply::Ended(answer_of(executor, status, &answer)),
                        Err(error) => Reply::Fault(format!("cannot wait for a program: {error}")),
                    };
                }
                self.wait_a_moment(until);
            }
        }

        /// Writes what the program takes. A program need not read its request.
        fn write(&mut self, left: &mut &[u8]) {
            while let Some(input) = &mut self.input {
                match input.write(left) {
                    Ok(written) if written > 0 => *left = left.get(written..).unwrap_or_default(),
                    Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    _ => self.input = None,
                }
                if left.is_empty() {
                    self.input = None;
                }
            }
        }

        /// Reads what is there, and not more than one byte beyond `most` of all.
        fn read(&mut self, answer: &mut Vec<u8>, most: usize) -> Flow {
            let mut buffer = [0; 1 << 14];
            while let Some(output) = &mut self.output {
                match output.read(&mut buffer) {
                    Ok(0) => self.output = None,
                    Ok(count) => answer.extend_from_slice(buffer.get(..count).unwrap_or_default()),
                    Err(error) if error.kind() == ErrorKind::WouldBlock => return Flow::Open,
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    Err(_) => self.output = None,
                }
                if answer.len() > most {
                    return Flow::TooMuch;
                }
            }
            Flow::Closed
        }

        /// Returns whether the program has ended. It is not reaped, so its number stays its own.
        fn has_ended(&self) -> bool {
            let Some(id) = self.id else { return true };
            let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
            !matches!(waitid(WaitId::Pid(id), options), Ok(None))
        }

        /// Waits until something can be written or read, or for a short time.
        fn wait_a_moment(&self, until: Duration) {
            let mut watched = Vec::new();
            watched.extend(self.input.as_ref().map(|input| PollFd::new(input, PollFlags::OUT)));
            watched.extend(self.output.as_ref().map(|output| PollFd::new(output, PollFlags::IN)));
            // A program that has closed its output is about to end.
            let glance = if self.output.is_some() { GLANCE } else { GLANCE / 10 };
            let moment = until.min(glance);
            let moment = Timespec { tv_sec: 0, tv_nsec: i64::from(moment.subsec_nanos()) };
            // An error is as good as a moment: the loop looks again.
            let _ = poll(&mut watched, Some(&moment));
        }

        fn kill(&self) {
            if let Some(id) = self.id {
                // There may be nothing left to end.
                let _ = kill_process_group(id, Signal::KILL);
            }
        }
    }

    impl Drop for Group {
        fn drop(&mut self) {
            // Once it is reaped its number may be that of another group.
            if !self.is_reaped {
                self.kill();
                let _ = self.child.wait();
            }
        }
    }

    fn answer_of(executor: &Executor, status: ExitStatus, text: &[u8]) -> Answer {
        let answer = executor.answer(text);
        if status.success() {
            return answer;
        }
        let reason = match (status.code(), status.signal()) {
            (Some(code), _) => format!("exit status {code}"),
            (None, Some(signal)) => format!("ended by signal {signal}"),
            (None, None) => "it ended".to_owned(),
        };
        Answer { outcome: Outcome::Failed, output: None, reason: Some(reason), ..answer }
    }
}
