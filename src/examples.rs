//! The files of the folder `examples` that demos and tests of other crates use, inside the library.

macro_rules! files {
    ($($path:literal,)*) => {
        &[$(($path, include_str!(concat!("../examples/", $path))),)*]
    };
}

/// Path within the folder, and text.
const FILES: &[(&str, &str)] = files! {
    "arena/documented-823.json",
    "arena/efficiency.jsonl",
    "arena/timed.jsonl",
    "cards/practice.toml",
    "cards/support-agent.toml",
    "cards/task-run.toml",
    "cards/test-report.toml",
    "leaderboard/runs.csv",
    "raw/match.json",
    "raw/traces.jsonl",
    "raw/workflow.jsonl",
    "season/cipher.toml",
    "season/crossing/plans/cartographer.json",
    "season/crossing/plans/hare.json",
    "season/crossing/plans/magpie.json",
    "season/crossing/plans/surveyor.json",
    "season/crossing/plans/tortoise.json",
    "season/crossing/recordings/cartographer.fulmar.jsonl",
    "season/crossing/recordings/cartographer.gannet.jsonl",
    "season/crossing/recordings/cartographer.petrel.jsonl",
    "season/crossing/recordings/cartographer.skua.jsonl",
    "season/crossing/recordings/hare.fulmar.jsonl",
    "season/crossing/recordings/hare.gannet.jsonl",
    "season/crossing/recordings/hare.petrel.jsonl",
    "season/crossing/recordings/hare.skua.jsonl",
    "season/crossing/recordings/magpie.fulmar.jsonl",
    "season/crossing/recordings/magpie.gannet.jsonl",
    "season/crossing/recordings/magpie.petrel.jsonl",
    "season/crossing/recordings/magpie.skua.jsonl",
    "season/crossing/recordings/surveyor.fulmar.jsonl",
    "season/crossing/recordings/surveyor.gannet.jsonl",
    "season/crossing/recordings/surveyor.petrel.jsonl",
    "season/crossing/recordings/tortoise.fulmar.jsonl",
    "season/crossing/recordings/tortoise.gannet.jsonl",
    "season/crossing/recordings/tortoise.petrel.jsonl",
    "season/crossing/task.json",
    "season/factors.toml",
    "season/judged.jsonl",
    "season/knapsack.toml",
    "season/maze.toml",
    "season/slots.toml",
    "season/slots/careful.py",
    "season/slots/cases.toml",
    "season/slots/exhaustive.py",
    "season/slots/greedy.py",
    "season/slots/hasty.py",
    "season/slots/random.py",
    "season/trail.toml",
    "season/trail/judge.py",
    "standing/agents.jsonl",
    "standing/practice.csv",
    "standing/spring.jsonl",
    "tests/karat-core.jsonl",
    "tests/reports.jsonl",
    "trace/error-recovery.json",
    "trace/finance-document.json",
    "trace/one-tool.json",
    "trace/same-trace-code.json",
    "trace/same-trace-customer-service.json",
    "trace/same-trace-default.json",
    "trace/same-trace-finance.json",
    "trace/same-trace-medical.json",
    "trace/single-thought.json",
    "trust/agent.json",
    "trust/coverage.jsonl",
    "trust/security.jsonl",
    "trust/teamwork.jsonl",
    "workflow/closed-gate.json",
    "workflow/partial-dag.json",
    "workflow/retries.jsonl",
    "workflow/worked-example.json",
};

/// Returns the text of an example by its path within the folder, such as `workflow/worked-example.json`.
///
/// ```
/// assert!(karat::examples::text("workflow/worked-example.json").unwrap().contains("run-worked-example"));
/// assert_eq!(karat::examples::text("no-such-file"), None);
/// ```
pub fn text(path: &str) -> Option<&'static str> {
    FILES.iter().find(|(known, _)| *known == path).map(|(_, text)| *text)
}
