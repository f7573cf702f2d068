//! Graders of workflow runs: plans, attempts, accounts.
