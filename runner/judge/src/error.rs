//! The reason for which there is no report.

use std::fmt;

use karat_graders::execution::Fault;

/// Reason for which there is no report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JudgeError {
    /// The judge cannot work.
    NoVerdict(String),
    /// The challenge is broken.
    Refused(Vec<Fault>),
}

impl fmt::Display for JudgeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoVerdict(why) => f.write_str(why),
            Self::Refused(faults) => {
                for fault in faults {
                    writeln!(
                        f,
                        "{}, {}: found {}, expected {}",
                        fault.file, fault.place, fault.found, fault.expected
                    )?;
                }
                Ok(())
            }
        }
    }
}

impl std::error::Error for JudgeError {}
