//! `karat-runner`, the program that carries out workflows: started here, asked and heard in lines of JSON.

use std::ffi::OsStr;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};

use karat_process::RUNNER;
use karat_run::Fault;
use karat_run::protocol::{Layers, Said};
use serde::Serialize;

use crate::failure::Failure;

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
        let mut command = command().map_err(|fault| Failure::new(fault.message).help(fault.hint))?;
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

/// Asks the program which walls this machine has.
pub fn layers() -> Result<Layers, String> {
    let mut command = command().map_err(|fault| fault.to_string())?;
    let done = command.arg("layers").stderr(Stdio::inherit()).output().map_err(|error| error.to_string())?;
    serde_json::from_slice(&done.stdout).map_err(|error| format!("`{}`: {error}", RUNNER.name))
}

fn broken(why: &str) -> Failure {
    Failure::new(format!("`{}`: {why}", RUNNER.name))
}
