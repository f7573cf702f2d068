//! Validity of a trajectory.

use std::collections::BTreeMap;

use karat_core::timestamp::Timestamp;
use serde::Serialize;
use serde_json::Value;

use super::payload::{Action, Step, TOOL_TEXT_MAX};
use super::{detail, text};
use karat_evidence::json::problem::{Problems, quoted};

/// Start and submission of a match by the clock of the arena, in milliseconds since 1970-01-01T00:00:00Z.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    started_at: i64,
    submitted_at: i64,
}

impl Window {
    /// Reads both timestamps; digits beyond milliseconds are cut off.
    ///
    /// # Errors
    ///
    /// If a text is not a timestamp, or the submission comes before the start.
    pub fn parse(started_at: &str, submitted_at: &str) -> Result<Self, Problems> {
        let mut problems = Problems::default();
        let times = [("$.started_at", started_at), ("$.submitted_at", submitted_at)].map(|(path, text)| {
            let time = Timestamp::parse(text).map(|time| time.milliseconds);
            time.map_err(|error| problems.refuse(path, quoted(text), error.expected(), error.hint()))
        });
        let [Ok(started_at), Ok(submitted_at)] = times else { return Err(problems) };
        if submitted_at < started_at {
            let found = format!("a moment {} ms before the start", started_at - submitted_at);
            problems.refuse("$.submitted_at", found, "a moment not before `started_at`", "");
            return Err(problems);
        }
        Ok(Self { started_at, submitted_at })
    }

    /// Returns whether the submission came after `limit_seconds` had passed. The last moment is in time, and there is
    /// no grace.
    pub fn is_past(self, limit_seconds: f64) -> bool {
        self.used_seconds() > limit_seconds
    }

    /// Seconds from start to submission.
    pub fn used_seconds(self) -> f64 {
        self.milliseconds() as f64 / 1000.0
    }

    /// Milliseconds from start to submission.
    pub(super) fn milliseconds(self) -> i64 {
        self.submitted_at - self.started_at
    }
}

pub(super) fn milliseconds(text: &str) -> Option<i64> {
    Timestamp::parse(text).ok().map(|time| time.milliseconds)
}

/// Options of [`validate_trajectory`]. By default every check decides whether a trajectory is valid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrajectoryOptions {
    /// Milliseconds before the start and after the submission that are still in bounds, both ends included.
    pub grace_milliseconds: u32,
    /// Names of the tools that read a file, in any case: their input is its path and their output its text.
    pub read_tools: Vec<String>,
    /// Fails the check of the files read if a file was read that the workspace does not hold. Where an agent may read what it
    /// wrote itself, the workspace has to hold that too.
    pub require_known_files: bool,
    /// Lets the check of the files read decide whether the trajectory is valid; else it only warns.
    pub files_decide: bool,
}

impl TrajectoryOptions {
    /// Returns the options of the deployed arena, where what was read decides nothing.
    pub fn published() -> Self {
        Self {
            require_known_files: false,
            files_decide: false,
            read_tools: vec!["read".to_owned()],
            ..Self::default()
        }
    }
}

impl Default for TrajectoryOptions {
    fn default() -> Self {
        Self {
            grace_milliseconds: 5000,
            read_tools: ["read", "read_file", "file_read"].map(str::to_owned).to_vec(),
            require_known_files: true,
            files_decide: true,
        }
    }
}

/// Result of checking a trajectory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TrajectoryGrade {
    /// True if the match counts as verified: no check failed that the options let decide.
    pub valid: bool,
    /// True if there is a step.
    pub non_empty: bool,
    /// True if every step has a moment between start and submission.
    pub timestamps_in_bounds: bool,
    /// True if every file that was read is in the workspace, if the options ask for that, and had its text.
    pub tool_replay_consistent: bool,
    /// The checks that only a log made for this match passes; none where the match has no nonce, or a harness signed.
    #[serde(flatten)]
    pub made_for_match: Option<MadeForMatch>,
    /// Warnings, one for each step and check.
    pub warnings: Vec<TrajectoryWarning>,
    /// Paths that were read and are not in the workspace, each once; empty where the workspace is not known.
    pub unknown_files: Vec<String>,
}

/// The checks of a log that was made for one match.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct MadeForMatch {
    /// True if the first step carries the nonce of the match, and every other the digest of the one before it.
    pub chained: bool,
    /// True if no step has an earlier moment than the one before it.
    pub times_in_order: bool,
    /// True if no step took less than no time, or longer than the match.
    pub durations_possible: bool,
    /// True if every model call that did not fail took at least one token.
    pub tokens_counted: bool,
}

/// Warning about one step, or about the whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TrajectoryWarning {
    /// The check that failed.
    pub check: TrajectoryCheck,
    /// The step, from 0; none where there is no step.
    pub step: Option<usize>,
    /// The finding, in words.
    pub message: String,
}

/// A check of a trajectory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TrajectoryCheck {
    /// There is at least one step.
    NonEmpty,
    /// Every step has a moment, and it lies within the match.
    TimestampsInBounds,
    /// Every file that was read has the content that it has in the workspace.
    ToolReplayConsistent,
    /// The first step carries the nonce of the match, and every other the digest of the one before it.
    Chained,
    /// No step has an earlier moment than the one before it.
    TimesInOrder,
    /// No step took less than no time, or longer than the match.
    DurationsPossible,
    /// Every model call that did not fail took at least one token.
    TokensCounted,
}

impl TrajectoryGrade {
    /// Returns the checks that failed, in their order.
    pub fn failed_checks(&self) -> Vec<TrajectoryCheck> {
        let own = [
            (TrajectoryCheck::NonEmpty, self.non_empty),
            (TrajectoryCheck::TimestampsInBounds, self.timestamps_in_bounds),
            (TrajectoryCheck::ToolReplayConsistent, self.tool_replay_consistent),
        ];
        let of_match = self.made_for_match.map(|made| {
            [
                (TrajectoryCheck::Chained, made.chained),
                (TrajectoryCheck::TimesInOrder, made.times_in_order),
                (TrajectoryCheck::DurationsPossible, made.durations_possible),
                (TrajectoryCheck::TokensCounted, made.tokens_counted),
            ]
        });
        own.into_iter()
            .chain(of_match.into_iter().flatten())
            .filter_map(|(check, is_met)| (!is_met).then_some(check))
            .collect()
    }

    /// Returns the fields, and `failed_checks`, as JSON.
    pub fn detail(&self) -> Value {
        let mut detail = detail(self);
        if let Value::Object(members) = &mut detail {
            members.insert("failed_checks".to_owned(), super::detail(&self.failed_checks()));
        }
        detail
    }
}

/// Checks the log of a match: it is not empty, every step has a moment that lies between start and submission, and the files
/// that were read exist as they are in the workspace. A moment that cannot be read, or gives no offset from UTC, is out of
/// bounds. An empty log fails the first check alone.
///
/// `workspace_files` maps the path of each file to its text; without it files are not checked. A file counts as read where
/// a tool of [`TrajectoryOptions::read_tools`] gave an output and its input, without the white space around it, is the path;
/// of a long text the first 5000 UTF-16 code units are compared, as many as a step may hold.
///
/// A log is what the agent hands in: this finds one that cannot be right, and does not prove one that can. [`grade_match`]
/// also asks that it was made for this match, where the match has a nonce.
///
/// [`grade_match`]: super::grade_match
pub fn validate_trajectory(
    steps: &[Step<'_>],
    window: Window,
    workspace_files: Option<&BTreeMap<&str, &str>>,
    options: &TrajectoryOptions,
) -> TrajectoryGrade {
    use TrajectoryCheck::{NonEmpty, TimestampsInBounds, ToolReplayConsistent};

    let mut warnings = Vec::new();
    let mut warn = |check, step, message| warnings.push(TrajectoryWarning { check, step, message });
    if steps.is_empty() {
        warn(NonEmpty, None, "the trajectory has no step".to_owned());
    }
    let grace = i64::from(options.grace_milliseconds);
    let bounds = window.started_at - grace..=window.submitted_at + grace;
    let mut unknown_files = std::collections::BTreeSet::new();
    for (at, step) in steps.iter().enumerate() {
        match milliseconds(step.at) {
            Some(moment) if bounds.contains(&moment) => {}
            Some(moment) if moment < window.started_at => {
                let early = window.started_at - moment;
                warn(
                    TimestampsInBounds,
                    Some(at),
                    format!("{} is {early} ms before the start", quoted(step.at)),
                );
            }
            Some(moment) => {
                let late = moment - window.submitted_at;
                let message = format!("{} is {late} ms after the submission", quoted(step.at));
                warn(TimestampsInBounds, Some(at), message);
            }
            None => {
                let message = format!("{} is not a timestamp of RFC 3339", quoted(step.at));
                warn(TimestampsInBounds, Some(at), message);
            }
        }
        let Some(files) = workspace_files else { continue };
        let Action::ToolCall { tool, input, output: Some(output) } = step.action else { continue };
        if output.is_empty() || !options.read_tools.iter().any(|name| name.eq_ignore_ascii_case(tool.trim()))
        {
            continue;
        }
        let path = text::trim(input);
        match files.get(path) {
            Some(file) if output == text::first(file, TOOL_TEXT_MAX) => {}
            Some(_) => {
                let message = format!("what was read is not the text of {}", quoted(path));
                warn(ToolReplayConsistent, Some(at), message);
            }
            None => {
                unknown_files.insert(path);
                if options.require_known_files {
                    let message = format!("{} is not in the workspace", quoted(path));
                    warn(ToolReplayConsistent, Some(at), message);
                }
            }
        }
    }
    let is_met = |check| !warnings.iter().any(|warning: &TrajectoryWarning| warning.check == check);
    let [non_empty, timestamps_in_bounds, tool_replay_consistent] =
        [NonEmpty, TimestampsInBounds, ToolReplayConsistent].map(is_met);
    TrajectoryGrade {
        valid: non_empty && timestamps_in_bounds && (tool_replay_consistent || !options.files_decide),
        non_empty,
        timestamps_in_bounds,
        tool_replay_consistent,
        made_for_match: None,
        warnings,
        unknown_files: unknown_files.into_iter().map(str::to_owned).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn window() -> Window {
        Window::parse("2026-02-27T11:58:00.000Z", "2026-02-27T12:08:00.000Z").unwrap()
    }

    fn read<'a>(at: &'a str, path: &'a str, output: &'a str) -> Step<'a> {
        Step { at, action: Action::ToolCall { tool: "read", input: path, output: Some(output) } }
    }

    fn at(at: &str) -> TrajectoryGrade {
        validate_trajectory(&[read(at, "x", "")], window(), None, &TrajectoryOptions::default())
    }

    #[test]
    fn windows() {
        assert_eq!(window().used_seconds(), 600.0);
        for (from, to, problems) in [
            ("yesterday", "+275760-09-13T00:00:00Z", 2),
            ("2026-02-27T12:00:00", "2026-02-27T12:00:00Z", 1),
            ("2026-02-27T12:00:00Z", "2026-02-27T12:59:59+01:00", 1),
        ] {
            assert_eq!(Window::parse(from, to).unwrap_err().len(), problems, "{from} {to}");
        }
    }

    #[test]
    fn the_grace_ends_are_in_bounds() {
        for inside in ["2026-02-27T11:57:55.000Z", "2026-02-27T12:08:05Z", "2026-02-27T13:08:05.0009+01:00"] {
            assert!(at(inside).valid, "{inside}");
        }
        let early = at("2026-02-27T11:57:54.999Z");
        assert_eq!(early.failed_checks(), [TrajectoryCheck::TimestampsInBounds]);
        assert_eq!(early.warnings[0].message, "`2026-02-27T11:57:54.999Z` is 5001 ms before the start");
        for outside in [
            "2026-02-27T12:08:05.001Z", "not-a-date", "", "2026-02-27T12:00:00",
            "+275760-09-13T00:00:00.000Z",
        ] {
            let grade = at(outside);
            assert!(!grade.valid && grade.non_empty && grade.warnings.len() == 1, "{outside}");
        }
    }

    #[test]
    fn nothing_fails_one_check() {
        let grade = validate_trajectory(&[], window(), None, &TrajectoryOptions::default());
        assert!(!grade.valid && grade.timestamps_in_bounds && grade.tool_replay_consistent);
        assert_eq!(grade.detail()["failed_checks"], serde_json::json!(["non_empty"]));
    }

    #[test]
    fn files_are_compared() {
        let long = "🦀".repeat(3000);
        let cut = "🦀".repeat(2500);
        let files = BTreeMap::from([("a.txt", "one"), ("long.txt", long.as_str())]);
        let now = "2026-02-27T12:00:00Z";
        let check =
            |step, options: &TrajectoryOptions| validate_trajectory(&[step], window(), Some(&files), options);
        let plain = TrajectoryOptions::published();
        for (step, is_consistent) in [
            (read(now, " a.txt\n", "one"), true),
            (read(now, "a.txt", "two"), false),
            (read(now, "a.txt", ""), true),
            (read(now, "long.txt", &cut), true),
            (read(now, "mine.txt", "anything"), true),
        ] {
            let grade = check(step, &plain);
            assert_eq!((grade.valid, grade.tool_replay_consistent), (true, is_consistent), "{step:?}");
        }
        let strict = TrajectoryOptions::default();
        let grade = check(read(now, "mine.txt", "anything"), &strict);
        assert_eq!((grade.valid, grade.unknown_files), (false, vec!["mine.txt".to_owned()]));
        // The kit that agents record with calls its tool otherwise.
        let named = TrajectoryOptions { read_tools: vec!["file_read".to_owned()], ..plain.clone() };
        let action = Action::ToolCall { tool: "file_read", input: "a.txt", output: Some("two") };
        assert!(check(Step { at: now, action }, &plain).tool_replay_consistent);
        assert!(!check(Step { at: now, action }, &named).tool_replay_consistent);
    }

    proptest! {
        #[test]
        fn a_failed_check_is_never_valid(
            steps in prop::collection::vec((0usize..4, 0usize..3, 0usize..3), 0..5),
        ) {
            let moments = ["2026-02-27T12:00:00Z", "2026-02-27T12:08:05Z", "2026-02-27T12:08:06Z", "noon"];
            let (paths, outputs) = (["a.txt", "b.txt", "c.txt"], ["", "one", "two"]);
            let steps: Vec<_> =
                steps.into_iter().map(|(at, path, output)| read(moments[at], paths[path], outputs[output])).collect();
            let files = BTreeMap::from([("a.txt", "one"), ("b.txt", "two")]);
            let grade = validate_trajectory(&steps, window(), Some(&files), &TrajectoryOptions::default());
            prop_assert_eq!(grade.valid, grade.failed_checks().is_empty());
            prop_assert_eq!(grade.valid, grade.warnings.is_empty());
        }
    }
}
