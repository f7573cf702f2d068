//! Runs programs of others within limits ([`Sandbox`]), and confines the process itself ([`confine_self`]).
//!
//! A sandbox has [layers](Layer): each keeps a program from something, most of it twice. Which of them hold depends on the
//! machine, on its kernel, and on whether this is root; they are found out by trying, and every [`Outcome`] names those that
//! are missing. A strict sandbox refuses to run without all of them.
//!
//! Native time is never the same twice, and no counter of instructions is to be had everywhere. What runs here is
//! therefore no benchmark, and a time near its limit gives no verdict ([`Sandbox::run_timed`]).
//!
//! Everything works on Linux alone. Elsewhere it compiles, and says what is missing.

#[cfg(target_os = "linux")]
mod filter;
#[cfg(target_os = "linux")]
mod groups;
#[cfg(target_os = "linux")]
mod landlocked;
#[cfg(target_os = "linux")]
mod pin;
#[cfg(target_os = "linux")]
mod prepare;
#[cfg(target_os = "linux")]
mod raw;
#[cfg(target_os = "linux")]
mod run;
#[cfg(target_os = "linux")]
mod slot;
#[cfg(target_os = "linux")]
mod tree;

mod confine;
mod layer;
mod sandbox;
mod turn;

pub use confine::{ConfineError, Confinement, confine_self};
pub use layer::{Layer, Layers, State};
pub use sandbox::{End, Error, Limits, Outcome, Pinned, Sandbox, Timed};

use turn::Turn;

/// The number of runs after one that was over its time, and how much more time they get.
const RERUNS: usize = 2;
const MORE_TIME: u32 = 3;

impl Sandbox {
    /// Runs the program with a standard input. Whatever it does is an outcome. `stop` is asked every 10 milliseconds.
    ///
    /// # Errors
    ///
    /// If it does not come to the program: it is not there, layers are missing and the sandbox is strict, or the system has
    /// no room.
    pub fn run(&self, input: &[u8], stop: &dyn Fn() -> bool) -> Result<Outcome, Error> {
        match Turn::together(stop) {
            Some(_turn) => self.run_now(input, stop, false),
            None => Err(Error::System("stopped before it began".to_owned())),
        }
    }

    /// Runs the program where a time limit decides, as in tests. If it is over its CPU time, it runs twice more, alone
    /// among the sandboxes of this process and with three times the time: over every time, it is [`Timed::TimeLimit`];
    /// else [`Timed::NoVerdict`]. For programs that do the same again, and have no effect outside.
    ///
    /// # Errors
    ///
    /// If it does not come to the program, as in [`Sandbox::run`].
    pub fn run_timed(&self, input: &[u8], stop: &dyn Fn() -> bool) -> Result<Timed, Error> {
        let first = self.run(input, stop)?;
        if first.end != End::CpuLimit {
            return Ok(Timed::Ended(first));
        }
        let mut longer = self.clone();
        longer.limits.cpu_seconds =
            self.limits.cpu_seconds.map(|seconds| seconds.saturating_mul(u64::from(MORE_TIME)));
        longer.limits.wall = self.limits.wall.saturating_mul(MORE_TIME);
        for _ in 0..RERUNS {
            let Some(_turn) = Turn::alone(stop) else {
                return Ok(Timed::Ended(Outcome { end: End::Stopped, ..first }));
            };
            let again = longer.run_now(input, stop, false)?;
            match again.end {
                End::CpuLimit => {}
                End::Stopped => return Ok(Timed::Ended(again)),
                _ => return Ok(Timed::NoVerdict(again)),
            }
        }
        Ok(Timed::TimeLimit(first))
    }

    /// Goes through everything but the program, and returns which layers this machine has.
    ///
    /// # Errors
    ///
    /// If there is no room for a process at the moment.
    pub fn layers(&self) -> Result<Layers, Error> {
        let trial = Self { is_strict: false, ..self.clone() };
        trial.run_now(&[], &|| false, true).map(|outcome| outcome.layers)
    }

    /// Looks up what it names, for all runs to come. From then on the program and the folder are these files, and paths that
    /// may be read or written to have no links in them: where that is no longer so, a run is refused with
    /// [`Error::Moved`]. To be called again after a change.
    ///
    /// # Errors
    ///
    /// If something is not there.
    pub fn pin(&mut self) -> Result<(), Error> {
        #[cfg(target_os = "linux")]
        {
            self.pinned = Some(Pinned(self.pins()?));
        }
        Ok(())
    }

    #[cfg(target_os = "linux")]
    pub(crate) fn pins(&self) -> Result<pin::Pins, Error> {
        pin::Pins::of(&self.program, &self.folder, [&self.read, &self.write]).map_err(Error::Start)
    }

    #[cfg(target_os = "linux")]
    fn run_now(&self, input: &[u8], stop: &dyn Fn() -> bool, is_trial: bool) -> Result<Outcome, Error> {
        run::run(self, input, stop, is_trial)
    }

    #[cfg(not(target_os = "linux"))]
    fn run_now(&self, _: &[u8], _: &dyn Fn() -> bool, is_trial: bool) -> Result<Outcome, Error> {
        let layers = Layers::none();
        if !is_trial {
            return Err(Error::Refused(layers.complaint().unwrap_or_default()));
        }
        let none = std::time::Duration::ZERO;
        let output = Vec::new();
        Ok(Outcome {
            end: End::Killed,
            output,
            cpu: none,
            wall: none,
            peak_bytes: 0,
            layers,
            may_be_left: false,
        })
    }
}
