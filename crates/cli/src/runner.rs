//! `karat-runner`, the program that carries out workflows: started here, asked and heard in lines of JSON.

use std::ffi::OsStr;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};

use karat_process::RUNNER;
use karat_run::Fault;
use karat_run::protocol::Said;
use serde::Serialize;

use karat_terminal::failure::Failure;

/// A runner at work. It stops when its input ends, and so with this process.
pub struct Runner {
    child: Child,
    input: Arc<Mutex<Option<ChildStdin>>>,
    output: BufReader<ChildStdout>,
}

/// Returns the command that starts the program.
fn command() -> Result<Command, Fault> {
    RUNNER.found(None).map(Command::new)
}

impl Runner {
    /// Starts the program with arguments.
    pub fn start<T: AsRef<OsStr>>(arguments: impl IntoIterator<Item = T>) -> Result<Self, Failure> {
        let mut command = command().map_err(missing)?;
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().map_err(|error| broken(&format!("it cannot be started: {error}")))?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(broken("it has no input or output"));
        };
        Ok(Self { child, input: Arc::new(Mutex::new(Some(input))), output: BufReader::new(output) })
    }

    /// Sends a message. A runner that is gone is noticed when it is heard.
    pub fn send(&self, message: &impl Serialize) -> Result<(), Failure> {
        let mut line = serde_json::to_vec(message).map_err(|error| broken(&error.to_string()))?;
        line.push(b'\n');
        if let Some(input) = self.input.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
            let _ = input.write_all(&line);
        }
        Ok(())
    }

    /// Reads the next message.
    pub fn hear(&mut self) -> Result<Said, Failure> {
        let mut line = String::new();
        match self.output.read_line(&mut line) {
            Ok(count) if count > 0 => serde_json::from_str(&line)
                .map_err(|error| broken(&format!("it speaks another language than this karat: {error}"))),
            Ok(_) => Err(broken(&match self.child.wait() {
                Ok(status) => format!("it ended early, with {status}"),
                Err(error) => error.to_string(),
            })),
            Err(error) => Err(broken(&error.to_string())),
        }
    }

    /// Returns a function that asks the runner to stop.
    pub fn stopper(&self) -> impl FnOnce() + Send + 'static {
        let input = Arc::clone(&self.input);
        move || drop(input.lock().unwrap_or_else(PoisonError::into_inner).take())
    }
}

impl Drop for Runner {
    fn drop(&mut self) {
        self.stopper()();
        let _ = self.child.wait();
    }
}

/// Starts the program with arguments in the place of this one, as cargo starts its subcommands.
pub fn hand_over<T: AsRef<OsStr>>(arguments: impl IntoIterator<Item = T>) -> Failure {
    let mut command = match command() {
        Ok(command) => command,
        Err(fault) => return missing(fault),
    };
    command.args(arguments);
    #[cfg(unix)]
    let error = std::os::unix::process::CommandExt::exec(&mut command);
    #[cfg(not(unix))]
    let error = match command.status() {
        Ok(status) => std::process::exit(status.code().unwrap_or(1)),
        Err(error) => error,
    };
    broken(&format!("it cannot be started: {error}"))
}

fn missing(fault: Fault) -> Failure {
    Failure::new(fault.message).help(fault.hint)
}

fn broken(why: &str) -> Failure {
    Failure::new(format!("`{}`: {why}", RUNNER.name))
}
