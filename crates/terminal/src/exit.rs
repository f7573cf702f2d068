//! The exit status of the command.

use karat::answers::VerificationStatus;
use karat::gate::Status;

/// The end of the command. The numbers are part of the interface: scripts branch on them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Everything asked for was done.
    Done = 0,
    /// It could not run: a file that cannot be read, evidence that is refused.
    CouldNotRun = 1,
    /// A score is below `--fail-under`, or a value below `--fail-under-dimension`.
    BelowBar = 10,
    /// Under `--fail-under`: a gate of the scorecard held.
    Blocked = 11,
    /// Under `--fail-under`: there is no score to compare. Under `--strict`: it is not shown that the second of two is not worse.
    /// Of a receipt: no key was given to check its signature. Of a record and its evidence: no cache to score it with, or not
    /// the judge. Of submitted code: no verdict.
    Inconclusive = 12,
    /// A scorecard was refused, or a challenge that cannot tell a right answer from none.
    CardRefused = 13,
    /// A record does not follow from its facts or its evidence; a receipt or a log is not what was signed.
    VerificationFailed = 14,
    /// A run was stopped before its end, and its evidence says so.
    Stopped = 15,
    /// The second of two is worse than `--fail-if-worse` allows.
    Worse = 16,
}

/// The page `exit-status` of the help; 2 is the status of the argument parser.
pub const HELP: &str = "\
Exit status:
   0  done
   1  could not run, or evidence was refused
   2  the command line was not understood
  10  a score is below --fail-under
  11  a gate of the scorecard held (under --fail-under)
  12  inconclusive: nothing to judge, or no score, key, cache or verdict
  13  a scorecard was refused
  14  a record does not follow from its facts or evidence, or was changed
  15  a run was stopped before its end
  16  the second of two is worse than --fail-if-worse allows";

impl From<VerificationStatus> for Exit {
    fn from(status: VerificationStatus) -> Self {
        match status {
            VerificationStatus::Verified => Self::Done,
            VerificationStatus::Consistent => Self::Inconclusive,
            VerificationStatus::Failed => Self::VerificationFailed,
        }
    }
}

impl From<Status> for Exit {
    fn from(status: Status) -> Self {
        match status {
            Status::Passed => Self::Done,
            Status::Below => Self::BelowBar,
            Status::Blocked => Self::Blocked,
            Status::Inconclusive => Self::Inconclusive,
            Status::Worse => Self::Worse,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_help_names_every_status() {
        let all = [
            Exit::Done,
            Exit::CouldNotRun,
            Exit::BelowBar,
            Exit::Blocked,
            Exit::Inconclusive,
            Exit::CardRefused,
            Exit::VerificationFailed,
            Exit::Stopped,
            Exit::Worse,
        ];
        let listed = HELP.lines().filter_map(|line| line.split_whitespace().next()?.parse::<u8>().ok());
        let mut expected: Vec<u8> = all.iter().map(|&exit| exit as u8).chain([2]).collect();
        expected.sort_unstable();
        assert_eq!(listed.collect::<Vec<_>>(), expected);
    }
}
