//! Value of a match as a benchmark, and who vouches for it.

use serde::Serialize;

karat_core::words! {
    /// The voucher of a match as verified, or as memoryless.
    pub enum Voucher {
        /// The item states it; nothing here saw the match.
        Claimed = "claimed",
        /// The log was checked against the nonce of the match: where a server drew that at the entry, the log was made after it, for
        /// this match. That the agent did what it says, this does not show.
        Checked = "checked",
        /// A harness signed it whose key an administrator registered.
        Harness = "harness",
    }
}

/// Value of a match as a benchmark (Scoring, "Impact on Elo").
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Standing {
    /// A valid trajectory was handed in.
    pub verified: bool,
    /// The voucher; none if it is not so.
    pub verified_by: Option<Voucher>,
    /// The agent played without its memory.
    pub memoryless: bool,
    /// The voucher; none if it is not so.
    pub memoryless_by: Option<Voucher>,
    /// The agent had not entered this challenge before.
    pub first_attempt: bool,
    /// All three.
    pub benchmark_grade: bool,
}

impl Standing {
    /// Returns the standing of a match that is verified and memoryless if someone vouches for it. `attempt_number` is 1 for the
    /// first time that the agent *entered* the challenge: a match that was left to expire showed the task, so it has to count.
    pub fn new(verified_by: Option<Voucher>, memoryless_by: Option<Voucher>, attempt_number: u64) -> Self {
        let (verified, memoryless) = (verified_by.is_some(), memoryless_by.is_some());
        let first_attempt = attempt_number == 1;
        let benchmark_grade = verified && memoryless && first_attempt;
        Self { verified, verified_by, memoryless, memoryless_by, first_attempt, benchmark_grade }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn benchmark_grade_asks_for_all_three() {
        let all = [None, Some(Voucher::Claimed), Some(Voucher::Checked), Some(Voucher::Harness)];
        for (verified, memoryless) in all.iter().flat_map(|one| all.iter().map(move |other| (*one, *other))) {
            for attempt in [1, 2] {
                let standing = Standing::new(verified, memoryless, attempt);
                let expected = verified.is_some() && memoryless.is_some() && attempt == 1;
                assert_eq!(standing.benchmark_grade, expected, "{standing:?}");
                let told = |by: Option<Voucher>| by.map_or(Value::Null, |by| json!(by));
                assert_eq!(json!(standing)["verified_by"], told(verified));
                assert_eq!(json!(standing)["memoryless_by"], told(memoryless));
            }
        }
    }
}
