//! Arena matches: the raw score of each dimension, the clock, the verification, the effort.

use karat_core::facts::{Fact, Outcome};

use crate::kinds::match_claims::{Claims, Given, Part};
use crate::kinds::match_execution;
use crate::vocabulary::vocabulary;
use karat_core::timestamp::Timestamp;
use karat_evidence::json::check::{AMOUNT, Check, Identity, POINTS, UNIT, digits, flag, number};
use karat_evidence::json::document::{Node, Value};
use karat_evidence::json::locate;
use karat_evidence::json::problem::{Problem, Problems, quoted};
use karat_evidence::json::value;
use karat_graders::arena::Challenge;

vocabulary! {
    /// Facts of a match.
    MatchFacts {
        correctness_score: Number in "points", "accuracy of the primary answer, 0 to 1000";
        completeness_score: Number in "points", "coverage of all required parts, 0 to 1000";
        precision_score: Number in "points", "share of reported findings that are genuine, 0 to 1000";
        methodology_score: Number in "points", "quality of reasoning and reporting, 0 to 1000";
        speed_score: Number in "points", "time efficiency as scored by the arena, 0 to 1000";
        code_quality_score: Number in "points", "quality of generated or modified code, 0 to 1000";
        analysis_score: Number in "points", "depth of evidence gathering, 0 to 1000";
        time_used_seconds: Number in "s", "from the start of the match to the submission";
        time_limit_seconds: Number in "s", "time limit of the match";
        verified: Boolean in "1", "whether a valid trajectory was submitted";
        memoryless: Boolean in "1", "whether the agent played without memory";
        attempt_number: Number in "count", "the agent's attempts at the challenge, this one included";
        total_tokens: Number in "count", "input and output tokens of the trajectory";
        llm_calls: Number in "count", "model calls of the trajectory";
        tool_calls: Number in "count", "tool calls of the trajectory";
        token_budget: Number in "count", "advisory token budget of the challenge";
        max_llm_calls: Number in "count", "advisory limit of model calls";
        max_tool_calls: Number in "count", "advisory limit of tool calls";
        limits_llm_calls: Boolean in "1", "whether the challenge limits model calls; false unless it says how many";
        limits_tool_calls: Boolean in "1", "the same for tool calls";
        speed_refused: Boolean in "1", "whether a warning of severity error is about speed; false unless one is";
        token_efficiency_refused: Boolean in "1", "the same for token efficiency";
        call_efficiency_refused: Boolean in "1", "the same for call efficiency";
    }
}

impl<'a> MatchFacts<'a> {
    /// Returns the fact that says that a computed dimension is refused, which no score can say.
    fn refused(&mut self, dimension: &str) -> Option<&mut Fact<'a>> {
        Some(match dimension {
            "speed" => &mut self.speed_refused,
            "token_efficiency" => &mut self.token_efficiency_refused,
            "call_efficiency" => &mut self.call_efficiency_refused,
            _ => return None,
        })
    }

    fn score(&mut self, dimension: &str) -> Option<&mut Fact<'a>> {
        Some(match dimension {
            "correctness" => &mut self.correctness_score,
            "completeness" => &mut self.completeness_score,
            "precision" => &mut self.precision_score,
            "methodology" => &mut self.methodology_score,
            "speed" => &mut self.speed_score,
            "code_quality" => &mut self.code_quality_score,
            "analysis" => &mut self.analysis_score,
            _ => return None,
        })
    }
}

/// Reads one match (Clawdiators, "Scoring" and the match record).
///
/// `challenge` is the challenge of the card, if it has one.
pub(crate) fn read<'a>(
    root: Node<'a>,
    challenge: Option<&Challenge>,
    check: &mut Check<'_>,
) -> (MatchFacts<'a>, Identity<'a>) {
    let no = Fact::Flag(false);
    let mut facts = MatchFacts {
        speed_refused: no,
        token_efficiency_refused: no,
        call_efficiency_refused: no,
        ..MatchFacts::default()
    };
    let [mut agent_id, mut agent, mut subject, mut match_id, mut id] = [None; 5];
    let [mut breakdown, mut scores, mut warnings] = [None; 3];
    let [mut started, mut submitted] = [None; 2];
    let (mut completed, mut outcome, mut execution) = (None, None, None);
    let mut challenge_id = None;
    let mut claims = Claims::default();
    let mut used = None;
    let mut max_score = None;
    for member in check.members(root).filter(|member| !member.is_null()) {
        match member.key() {
            "match_id" => match_id = check.name(member),
            "id" => id = check.name(member),
            "agent_id" => agent_id = check.name(member),
            "agent" => agent = check.name(member),
            "subject" => subject = check.name(member),
            "score_breakdown" => breakdown = Some(member),
            "scores" => scores = Some(member),
            "max_score" => max_score = check.number(member, AMOUNT),
            "submission_warnings" => warnings = Some(member),
            "started_at" => started = instant(member, check),
            "submitted_at" => submitted = instant(member, check),
            "time_used_secs" => used = check.number(member, AMOUNT).map(|seconds| (member, seconds)),
            "time_limit_secs" => facts.time_limit_seconds = number(check.number(member, AMOUNT)),
            "verified" => facts.verified = flag(check.flag(member)),
            "memoryless" => facts.memoryless = flag(check.flag(member)),
            "attempt_number" => facts.attempt_number = number(check.count(member, 1.0)),
            "constraints" => read_constraints(member, check, &mut facts),
            "trajectory" => read_trajectory(member, check, &mut facts),
            "challenge_slug" => claims.slug = check.name(member).map(|name| (member, name)),
            "challenge_id" => challenge_id = check.name(member),
            "outcome" => outcome = check.outcome(member),
            "execution" => {
                match_execution::read(member, check);
                execution = Some(member);
            }
            "completed_at" => completed = check.timestamp(member, Timestamp::parse),
            // The score is computed here, and not taken over.
            _ if claims.read(member, check) => {}
            _ => check.unknown("$", member),
        }
    }

    match (breakdown, scores) {
        (Some(breakdown), None) => {
            claims.parts = read_scores(breakdown, "$.score_breakdown", max_score, check, &mut facts);
        }
        (None, Some(scores)) => claims.parts = read_scores(scores, "$.scores", None, check, &mut facts),
        (Some(_), Some(scores)) => {
            let found = "`scores` beside `score_breakdown`";
            check.refuse_as(scores, found, "one of them", "leave one of them out");
        }
        (None, None) => check.absent(root, "scores", "the score of each dimension, or a `score_breakdown`"),
    }
    let refused = warnings.map_or_else(Vec::new, |warnings| read_warnings(warnings, check, &mut facts));
    // A limit that is not set is known: there is no limit.
    facts.limits_llm_calls = Fact::Flag(facts.max_llm_calls != Fact::Missing);
    facts.limits_tool_calls = Fact::Flag(facts.max_tool_calls != Fact::Missing);
    let seconds = time_used(started, submitted, used, check);
    facts.time_used_seconds = number(seconds);
    // "Expired matches cannot be submitted" (Submission Validation); the last instant still counts.
    if let (Some(seconds), Fact::Number(limit)) = (seconds, facts.time_limit_seconds)
        && seconds > limit
    {
        let found = format!("{} s of {} s: the match has expired", digits(seconds), digits(limit));
        let place = used.map(|(node, _)| node).or(submitted.map(|(node, _)| node)).unwrap_or(root);
        let hint = "leave it out: expired matches have no score";
        check.refuse_as(place, found, "a match within its time limit", hint);
    }
    if let Some(node) = execution.filter(|node| match_execution::has_no_verdict(*node))
        && outcome != Some(Outcome::NoVerdict)
    {
        let found = "no verdict of a match with another outcome";
        check.refuse_as(node, found, "`outcome`: `no-verdict`", "correct the one that is wrong");
    }
    let amount = |fact| if let Fact::Number(amount) = fact { Some(amount) } else { None };
    let given = Given {
        root,
        verified: flag_of(facts.verified),
        memoryless: flag_of(facts.memoryless),
        used_seconds: seconds,
        limit_seconds: amount(facts.time_limit_seconds),
        max_score,
        submitted,
        refused,
    };
    claims.hold(&given, challenge, check);
    let time = submitted.map(|(_, moment)| moment).or(completed);
    let slug = claims.slug.map(|(_, name)| name);
    let (subject, id) = (agent_id.or(agent).or(subject), match_id.or(id));
    (facts, Identity { subject, id, time, task: slug.or(challenge_id), outcome, ..Identity::default() })
}

fn flag_of(fact: Fact<'_>) -> Option<bool> {
    if let Fact::Flag(flag) = fact { Some(flag) } else { None }
}

fn instant<'a>(node: Node<'a>, check: &mut Check<'_>) -> Option<(Node<'a>, Timestamp)> {
    check.timestamp(node, Timestamp::parse).map(|moment| (node, moment))
}

/// Returns the time between the two moments, or the time that the item gives, or both if they agree to the millisecond.
fn time_used(
    started: Option<(Node<'_>, Timestamp)>,
    submitted: Option<(Node<'_>, Timestamp)>,
    used: Option<(Node<'_>, f64)>,
    check: &mut Check<'_>,
) -> Option<f64> {
    let (Some((_, started)), Some((node, submitted))) = (started, submitted) else {
        return used.map(|(_, seconds)| seconds);
    };
    if submitted < started {
        check.refuse(node, "a moment not before `started_at`", "");
        return None;
    }
    let seconds = submitted.seconds_since(started);
    if let Some((node, given)) = used.filter(|&(_, given)| (given - seconds).abs() > 0.001) {
        let found = format!("{} s, where the two moments are {} s apart", digits(given), digits(seconds));
        check.refuse_as(node, found, "one duration", "leave one of them out");
    }
    Some(seconds)
}

/// Scores by dimension: numbers, or objects with a `score`. Numbers beside a `max_score` come from a custom scorer.
fn read_scores<'a>(
    node: Node<'a>,
    path: &str,
    max_score: Option<f64>,
    check: &mut Check<'_>,
    facts: &mut MatchFacts<'a>,
) -> Vec<Part<'a>> {
    let mut sum = 0.0;
    let mut total = None;
    let mut parts = Vec::new();
    for member in check.members(node).filter(|member| !member.is_null()) {
        let key = member.key();
        if key == "total" {
            total = check.number(member, AMOUNT);
            continue;
        }
        let known = facts.score(key);
        let range = if known.is_some() { POINTS } else { AMOUNT };
        let part = match member.value() {
            Value::Object => read_score(member, path, range, check),
            _ => Part { node: member, score: check.number(member, range), weight: None, weighted: None },
        };
        let score = part.score;
        parts.push(part);
        sum += score.unwrap_or_default();
        match known {
            Some(fact) => *fact = number(score),
            // Computed from the trajectory, not given.
            None if matches!(key, "token_efficiency" | "call_efficiency") => {}
            None => check.unknown(path, member),
        }
    }
    if let Some(max_score) = max_score {
        let uncapped = total.unwrap_or(sum);
        if settled_total(sum, total, max_score) < uncapped {
            check.note(node, format!("the total {} is capped at {}", digits(uncapped), digits(max_score)));
        }
    }
    parts
}

fn read_score<'a>(
    node: Node<'a>,
    path: &str,
    range: karat_evidence::json::check::Range,
    check: &mut Check<'_>,
) -> Part<'a> {
    let mut score = None;
    let mut part = Part { node, score: None, weight: None, weighted: None };
    for member in check.members(node) {
        match member.key() {
            "score" => score = Some(member),
            _ if member.is_null() => {}
            "weight" => part.weight = check.number(member, UNIT).map(|weight| (member, weight)),
            "weighted" => part.weighted = check.number(member, AMOUNT).map(|points| (member, points)),
            "max" => drop(check.number(member, AMOUNT)),
            "note" => drop(check.text(member)),
            _ => check.unknown(path, member),
        }
    }
    let score =
        check.required(node, "score", score, "a score from 0 to 1000").filter(|score| !score.is_null());
    part.score = score.and_then(|score| check.number(score, range));
    part
}

fn read_constraints(node: Node<'_>, check: &mut Check<'_>, facts: &mut MatchFacts<'_>) {
    for member in check.members(node).filter(|member| !member.is_null()) {
        let fact = match member.key() {
            "tokenBudget" | "token_budget" => &mut facts.token_budget,
            "maxToolCalls" | "max_tool_calls" => &mut facts.max_tool_calls,
            "maxLlmCalls" | "max_llm_calls" => &mut facts.max_llm_calls,
            "allowedTools" | "allowed_tools" | "allowedModels" | "allowed_models" => {
                for name in check.elements(member) {
                    let _ = check.text(name);
                }
                continue;
            }
            "networkAccess" | "network_access" => {
                check.flag(member);
                continue;
            }
            "maxCostUsd" | "max_cost_usd" => {
                check.number(member, AMOUNT);
                continue;
            }
            _ => {
                check.unknown("$.constraints", member);
                continue;
            }
        };
        if *fact != Fact::Missing {
            let hint = "keep one of the two spellings";
            check.refuse_as(member, "the limit a second time", "each limit once", hint);
        }
        *fact = number(check.count(member, 1.0));
    }
}

fn read_trajectory(node: Node<'_>, check: &mut Check<'_>, facts: &mut MatchFacts<'_>) {
    let names =
        ["total_input_tokens", "total_output_tokens", "total_llm_calls", "total_tool_calls", "replay_log"];
    let [counts @ .., log] = check.fields(node, "$.trajectory", names);
    log.map(|log| check.elements(log));
    let [input, output, llm_calls, tool_calls] = counts.map(|node| check.count(node?, 0.0));
    (facts.llm_calls, facts.tool_calls) = (number(llm_calls), number(tool_calls));
    let tokens = [input, output].into_iter().flatten().sum::<f64>();
    match facts.llm_calls {
        Fact::Number(0.0) if tokens > 0.0 => {
            let found = format!("{} tokens without a model call", digits(tokens));
            check.refuse_as(node, found, "tokens of model calls", "correct `total_llm_calls` or the tokens");
        }
        Fact::Number(calls) if calls > 0.0 && input == Some(0.0) => {
            check.suspect(node, format!("{} model calls without input tokens", digits(calls)));
        }
        _ => {}
    }
    // Half of the tokens is not the number of tokens.
    facts.total_tokens = number(input.zip(output).map(|(input, output)| input + output));
}

/// Reads warnings: an error about a dimension makes its score 0; everything else is advice. Returns the dimensions that it
/// makes 0.
fn read_warnings<'a>(node: Node<'a>, check: &mut Check<'_>, facts: &mut MatchFacts<'a>) -> Vec<&'a str> {
    let mut refused = Vec::new();
    for warning in check.elements(node) {
        let names = ["severity", "dimension", "field", "message"];
        let [severity, dimension, texts @ ..] = check.fields(warning, "$.submission_warnings[*]", names);
        for text in texts.into_iter().flatten() {
            check.text(text);
        }
        let severity = check.required(warning, "severity", severity, "`error` or `warning`");
        let severity = severity.and_then(|severity| check.one_of(severity, &["error", "warning"]));
        let dimension = dimension.and_then(|dimension| check.text(dimension));
        match (severity, dimension) {
            (Some("error"), None) => {
                check
                    .suspect(warning, "an error that names no dimension, and so changes no score".to_owned());
            }
            (Some("error"), Some(dimension)) => {
                let mut is_scored = false;
                if let Some(refused) = facts.refused(dimension) {
                    *refused = Fact::Flag(true);
                    is_scored = true;
                }
                if let Some(score) = facts.score(dimension) {
                    *score = Fact::Number(0.0);
                    is_scored = true;
                }
                refused.push(dimension);
                let dimension = quoted(dimension);
                if is_scored {
                    check.note(warning, format!("an error of the submission makes {dimension} 0"));
                } else {
                    check.suspect(warning, format!("an error about {dimension}, which has no score here"));
                }
            }
            _ => {}
        }
    }
    refused
}

/// Adds what the arena found out about a match that it graded, as the item states it: the same members as those of a match
/// that is graded here, left out if they are empty.
///
/// `standing` says who vouches that the match is verified and memoryless: a claim, unless the item names another.
pub(crate) fn findings(
    root: Node<'_>,
    check: &mut Check<'_>,
    seen: &mut serde_json::Map<String, serde_json::Value>,
) {
    let member = |name: &str| root.children().find(|member| member.key() == name && !member.is_null());
    let mut standing = serde_json::Map::new();
    for (name, by) in [("verified", "verified_by"), ("memoryless", "memoryless_by")] {
        if member(name).is_some_and(|node| node.value() == Value::Flag(true)) {
            let by_whom = member(by).map_or_else(|| serde_json::Value::from("claimed"), value::of_node);
            standing.insert(by.to_owned(), by_whom);
        }
    }
    if !standing.is_empty() {
        seen.insert(String::from("standing"), standing.into());
    }
    for member in root.children() {
        let found = match member.key() {
            "submission_warnings" => member.children().map(finding).collect(),
            "constraint_violations" | "harness_warning" | "execution" => {
                check.refuse_inexact(member);
                value::of_node(member)
            }
            _ => continue,
        };
        let is_empty = found.is_null() || found.as_array().is_some_and(Vec::is_empty);
        if !is_empty {
            seen.insert(member.key().to_owned(), found);
        }
    }
}

/// Returns a warning with the members that it must have, and the dimension if it names one.
fn finding(warning: Node<'_>) -> serde_json::Value {
    let text = |name: &str| {
        let member = warning.children().find(|member| member.key() == name)?;
        if let Value::Text(text) = member.value() { Some(text) } else { None }
    };
    let [severity, field, message] =
        ["severity", "field", "message"].map(|name| text(name).unwrap_or_default());
    let mut finding = serde_json::json!({"severity": severity, "field": field, "message": message});
    if let Some(dimension) = text("dimension") {
        finding["dimension"] = dimension.into();
    }
    finding
}

/// Does the last step of a custom scorer of Clawdiators: every value is finite and not below 0, a missing `total` is
/// the sum of the others, and the total is at most `max_score`.
///
/// # Errors
/// If values, `max_score` included, are not finite or below 0: every one.
pub fn finalize_breakdown(
    breakdown: &[(String, f64)],
    max_score: f64,
) -> Result<Vec<(String, f64)>, Problems> {
    let mut problems = Problems::default();
    let mut require = |path: &dyn Fn() -> String, value: f64| {
        if !(value.is_finite() && value >= 0.0) {
            problems.add(|| Problem::at(path(), quoted(&value.to_string()), "a number not below 0", ""));
        }
    };
    for (key, value) in breakdown {
        let path = || {
            let mut path = "$.breakdown".to_owned();
            locate::push_member(&mut path, key);
            path
        };
        require(&path, *value);
    }
    require(&|| "$.max_score".to_owned(), max_score);
    if !problems.is_empty() {
        return Err(problems);
    }
    let is_part = |(key, _): &&(String, f64)| key != "total";
    let sum = breakdown.iter().filter(is_part).map(|(_, value)| value).sum();
    let given = breakdown.iter().find(|(key, _)| key == "total").map(|(_, total)| *total);
    let mut finished: Vec<_> = breakdown.iter().filter(is_part).cloned().collect();
    finished.push(("total".to_owned(), settled_total(sum, given, max_score)));
    Ok(finished)
}

fn settled_total(sum: f64, given: Option<f64>, max_score: f64) -> f64 {
    given.unwrap_or(sum).min(max_score)
}
