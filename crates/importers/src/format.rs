//! The formats that can be imported.

use std::fmt;

/// A tool whose logs or reports can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Format {
    /// Inspect: `.eval`, `.json`.
    Inspect,
    /// JUnit XML.
    JUnit,
    /// Samples of the Language Model Evaluation Harness.
    LmEval,
    /// tau-bench.
    TauBench,
    /// tau2-bench.
    Tau2,
    /// Reports of SWE-bench.
    SweBench,
    /// promptfoo.
    Promptfoo,
    /// Leaderboards of Aider.
    Aider,
    /// Every Eval Ever.
    EveryEvalEver,
    /// SWE-agent.
    SweAgent,
    /// mini-SWE-agent.
    MiniSweAgent,
    /// Langfuse.
    Langfuse,
    /// The Agent Trajectory Interchange Format.
    Atif,
    /// Trials of Harbor and Terminal-Bench.
    Harbor,
    /// Battles of LMArena.
    Battles,
    /// Spans of OpenTelemetry, as OTLP in JSON or protobuf, or as Tempo exports them.
    Otlp,
    /// Spans as Jaeger exports them.
    Jaeger,
    /// Spans one by one, as OpenInference and the console exporters of OpenTelemetry write them.
    OpenInference,
}

impl Format {
    /// Every format.
    pub const ALL: [Self; 18] = [
        Self::Inspect,
        Self::JUnit,
        Self::LmEval,
        Self::TauBench,
        Self::Tau2,
        Self::SweBench,
        Self::Promptfoo,
        Self::Aider,
        Self::EveryEvalEver,
        Self::SweAgent,
        Self::MiniSweAgent,
        Self::Langfuse,
        Self::Atif,
        Self::Harbor,
        Self::Battles,
        Self::Otlp,
        Self::Jaeger,
        Self::OpenInference,
    ];

    /// Returns the name, as it is asked for.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Inspect => "inspect",
            Self::JUnit => "junit",
            Self::LmEval => "lm-eval",
            Self::TauBench => "tau-bench",
            Self::Tau2 => "tau2",
            Self::SweBench => "swe-bench",
            Self::Promptfoo => "promptfoo",
            Self::Aider => "aider",
            Self::EveryEvalEver => "every-eval-ever",
            Self::SweAgent => "swe-agent",
            Self::MiniSweAgent => "mini-swe-agent",
            Self::Langfuse => "langfuse",
            Self::Atif => "atif",
            Self::Harbor => "harbor",
            Self::Battles => "battles",
            Self::Otlp => "otlp",
            Self::Jaeger => "jaeger",
            Self::OpenInference => "openinference",
        }
    }

    /// Returns the format with that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.name() == name)
    }

    /// Returns what a file of the format is called: `an Inspect log`.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Inspect => "an Inspect log",
            Self::JUnit => "a JUnit report",
            Self::LmEval => "a file of samples of lm-eval",
            Self::TauBench => "a file of results of tau-bench",
            Self::Tau2 => "a file of results of tau2-bench",
            Self::SweBench => "a report of SWE-bench",
            Self::Promptfoo => "a file of results of promptfoo",
            Self::Aider => "a leaderboard of Aider",
            Self::EveryEvalEver => "a record of Every Eval Ever",
            Self::SweAgent => "a trajectory of SWE-agent",
            Self::MiniSweAgent => "a trajectory of mini-SWE-agent",
            Self::Langfuse => "a trace of Langfuse",
            Self::Atif => "a trajectory in ATIF",
            Self::Harbor => "a result of Harbor",
            Self::Battles => "a file of battles",
            Self::Otlp => "a file of OpenTelemetry spans",
            Self::Jaeger => "a file of Jaeger spans",
            Self::OpenInference => "a file of OpenTelemetry spans, one by one",
        }
    }

    /// Returns whether a log has the steps of an agent, so that reasoning traces can be made of it.
    pub const fn has_traces(self) -> bool {
        matches!(
            self,
            Self::TauBench
                | Self::Tau2
                | Self::SweAgent
                | Self::MiniSweAgent
                | Self::Langfuse
                | Self::Atif
                | Self::Harbor
                | Self::Otlp
                | Self::Jaeger
                | Self::OpenInference
        )
    }

    /// Returns whether a log is a trajectory on an instance of SWE-bench, whose [`Verdicts`](super::Verdicts) reports have.
    pub const fn is_trajectory(self) -> bool {
        matches!(self, Self::SweAgent | Self::MiniSweAgent)
    }

    /// Returns whether the items are matches, for ratings; else they are runs.
    pub const fn is_matches(self) -> bool {
        matches!(self, Self::Battles)
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
