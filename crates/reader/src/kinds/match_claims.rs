//! Claims of a match about itself, compared with the scores of its dimensions and the card of its challenge.

use karat_core::timestamp::Timestamp;

use karat_evidence::json::check::{AMOUNT, Check, Name, digits};
use karat_evidence::json::document::Node;
use karat_evidence::json::problem::quoted;
use karat_graders::arena::Challenge;

#[derive(Default)]
pub(super) struct Claims<'a> {
    pub challenge: Option<(Node<'a>, Name<'a>)>,
    pub slug: Option<(Node<'a>, Name<'a>)>,
    score: Option<(Node<'a>, f64)>,
    result: Option<(Node<'a>, &'a str)>,
    expires_at: Option<Timestamp>,
    verified_by: Option<Node<'a>>,
    memoryless_by: Option<Node<'a>>,
    validation: Validation<'a>,
    pub parts: Vec<Part<'a>>,
}

/// Claims about the score of one dimension.
pub(super) struct Part<'a> {
    pub node: Node<'a>,
    pub score: Option<f64>,
    pub weight: Option<(Node<'a>, f64)>,
    pub weighted: Option<(Node<'a>, f64)>,
}

/// Claims about the checks of its trajectory.
#[derive(Default)]
struct Validation<'a> {
    valid: Option<(Node<'a>, bool)>,
    failed: Option<Node<'a>>,
}

pub(super) struct Given<'a> {
    pub root: Node<'a>,
    pub verified: Option<bool>,
    pub memoryless: Option<bool>,
    pub used_seconds: Option<f64>,
    pub limit_seconds: Option<f64>,
    pub max_score: Option<f64>,
    pub submitted: Option<(Node<'a>, Timestamp)>,
    /// The dimensions that an error of the submission makes 0.
    pub refused: Vec<&'a str>,
}

const VOUCHERS: [&str; 3] = ["claimed", "checked", "harness"];
/// Protocol constants of the arena.
const WIN: f64 = 700.0;
const DRAW: f64 = 400.0;
/// A total is rounded to a whole number, and so may be each of its parts.
const ROUNDED: f64 = 1.0;
const PART_ROUNDED: f64 = 0.5;
/// More than doubles lose.
const EXACTLY: f64 = 1e-6;

impl<'a> Claims<'a> {
    /// Reads a member that is a claim, or of the documented response and of no part in a score. Returns false for any other.
    pub(super) fn read(&mut self, member: Node<'a>, check: &mut Check<'_>) -> bool {
        match member.key() {
            "challenge" => self.challenge = check.name(member).map(|name| (member, name)),
            "score" => self.score = check.number(member, AMOUNT).map(|score| (member, score)),
            "result" => {
                self.result = check.one_of(member, &["win", "draw", "loss"]).map(|result| (member, result));
            }
            "status" => match check.one_of(member, &["pending", "active", "completed", "expired"]) {
                Some("expired") => {
                    let hint = "leave it out: expired matches have no score";
                    check.refuse_as(member, "an expired match with scores", "`completed`", hint);
                }
                Some(status @ ("pending" | "active")) => {
                    check.suspect(member, format!("a match with scores that is {}", quoted(status)));
                }
                _ => {}
            },
            "expires_at" => self.expires_at = check.timestamp(member, Timestamp::parse),
            "trajectory_validation" => self.validation.read(member, check),
            "constraint_violations" => {
                for violation in check.elements(member) {
                    if let Some(text) = check.text(violation) {
                        let text = format!("the arena reports that a limit was not kept: {text}");
                        check.suspect(violation, text);
                    }
                }
            }
            "harness_warning" => {
                if let Some(text) = check.text(member) {
                    check.suspect(member, format!("the arena warns of the harness: {text}"));
                }
            }
            "verified_by" => self.verified_by = check.one_of(member, &VOUCHERS).map(|_| member),
            "memoryless_by" => self.memoryless_by = check.one_of(member, &VOUCHERS).map(|_| member),
            "memoryless_claimed" => {
                let _ = check.flag(member);
            }
            "match_nonce" | "harness_id" | "objective" | "title" | "flavour_text" | "reflect_url" => {
                let _ = check.text(member);
            }
            "seed" => drop(check.count(member, 0.0)),
            "elo_before" | "elo_after" | "opponent_elo" => drop(check.number(member, AMOUNT)),
            "elo_change" => drop(check.number(member, karat_evidence::json::check::ANY)),
            "score_details" | "evaluation_log" => drop(check.members(member)),
            // Whatever was submitted.
            "submission" => {}
            _ => return false,
        }
        true
    }

    pub(super) fn hold(&self, given: &Given<'a>, challenge: Option<&Challenge>, check: &mut Check<'_>) {
        if let (Some((node, submitted)), Some(expires)) = (given.submitted, self.expires_at)
            && submitted > expires
        {
            let hint = "leave it out: expired matches have no score";
            check.refuse_as(node, "a submission after `expires_at`", "a match within its time", hint);
        }
        self.validation.hold(given, check);
        let vouched = [
            (self.verified_by, given.verified, "verified"),
            (self.memoryless_by, given.memoryless, "memoryless"),
        ];
        for (by, is_so, name) in vouched {
            if let Some(node) = by.filter(|_| is_so != Some(true)) {
                let found = format!("a voucher of a match that is not `{name}`");
                check.refuse_as(node, found, "`null`", "correct the one that is wrong");
            }
        }
        let Some(challenge) = challenge else { return };
        self.hold_challenge(challenge, check);
        for part in &self.parts {
            hold_part(part, challenge, check);
        }
        let speed = hold_speed(&self.parts, given, check);
        let [low, high] = self.total(given, challenge, speed);
        if let Some((node, score)) = self.score.filter(|(_, score)| !(low..=high).contains(score)) {
            let [score, low, high] = [score, low.max(0.0), high].map(digits);
            let found = format!("{score}, where the dimensions and their weights give {low} to {high}");
            check.refuse_as(node, found, "the total of the match", "leave it out: it is computed");
        }
        let [low, high] = self.score.map_or([low, high], |(_, score)| [score, score]);
        if let Some((node, result)) = self.result {
            let is_possible = match result {
                "win" => high >= WIN,
                "draw" => high >= DRAW && low < WIN,
                _ => low < DRAW,
            };
            if !is_possible {
                let total =
                    if low == high { digits(low) } else { format!("{} to {}", digits(low), digits(high)) };
                let found = format!("{} with a total of {total}", quoted(result));
                let expected = "`win` from 700, `draw` from 400, else `loss`";
                check.refuse_as(node, found, expected, "leave it out: it follows from the total");
            }
        }
    }

    fn hold_challenge(&self, challenge: &Challenge, check: &mut Check<'_>) {
        let Some((node, name)) = self.challenge.or(self.slug) else { return };
        let name = match name {
            Name::Text(text) => text.to_owned(),
            Name::Number(number) => digits(number),
        };
        if name != challenge.id && name != challenge.name {
            let (name, own) = (quoted(&name), quoted(&challenge.id));
            let found = format!("{name}, where the card is for {own}");
            let hint = "score it under the card of that challenge";
            check.refuse_as(node, found, "a match of this challenge", hint);
        }
    }

    /// Returns the lowest and highest total that the parts leave possible, with room for rounding.
    fn total(&self, given: &Given<'_>, challenge: &Challenge, speed: Option<f64>) -> [f64; 2] {
        let [mut low, mut high] = [0.0; 2];
        for (key, weight) in &challenge.weights {
            let part = self.parts.iter().find(|part| part.node.key() == key);
            let score = part.and_then(|part| part.score);
            let is_efficiency = is_efficiency(key);
            let [least, most] = match score {
                _ if key == "speed" && speed.is_some() => [speed.unwrap_or_default(); 2],
                Some(score) => [score; 2],
                None if is_efficiency && given.verified == Some(true) => [0.0, 1000.0],
                // A dimension that the evaluator left out scores 0.
                None => [0.0; 2],
            };
            let is_refused = given.refused.contains(&key.as_str());
            low += if is_refused || is_efficiency { 0.0 } else { least * weight };
            high += most * weight;
        }
        let room = ROUNDED + PART_ROUNDED * challenge.weights.len() as f64;
        let most = given.max_score.unwrap_or(1000.0).min(1000.0);
        [low.min(most) - room, high.min(most) + room]
    }
}

fn is_efficiency(key: &str) -> bool {
    matches!(key, "token_efficiency" | "call_efficiency")
}

fn hold_part(part: &Part<'_>, challenge: &Challenge, check: &mut Check<'_>) {
    let key = part.node.key();
    let Some((_, own)) = challenge.weights.iter().find(|(known, _)| known == key) else {
        if !is_efficiency(key) {
            let known = || challenge.weights.iter().map(|(key, _)| key.as_str());
            check.refuse_name(part.node, key, "a dimension of the challenge", known);
        }
        return;
    };
    if let Some((node, weight)) = part.weight.filter(|(_, weight)| (weight - own).abs() > EXACTLY) {
        let found = format!("{}, where the card of the challenge has {}", digits(weight), digits(*own));
        let hint = "score it under the card of that challenge";
        check.refuse_as(node, found, "the weight of the challenge", hint);
    }
    if let (Some((node, weighted)), Some(score)) = (part.weighted, part.score)
        && (weighted - score * own).abs() > PART_ROUNDED + EXACTLY
    {
        let [weighted, score, own] = [weighted, score, *own].map(digits);
        let found = format!("{weighted}, where the score is {score} and the weight {own}");
        check.refuse_as(node, found, "score times weight", "leave it out: it is computed");
    }
}

/// Returns the speed by the clock, if it is known; a given one must agree: "1000 × (1 - time_used / time_limit)".
fn hold_speed(parts: &[Part<'_>], given: &Given<'_>, check: &mut Check<'_>) -> Option<f64> {
    let (used, limit) = given.used_seconds.zip(given.limit_seconds)?;
    let speed = if limit > 0.0 {
        (1000.0 * (limit - used) / limit).clamp(0.0, 1000.0)
    } else if used <= 0.0 {
        1000.0
    } else {
        0.0
    };
    let Some(part) = parts.iter().find(|part| part.node.key() == "speed") else { return Some(speed) };
    let is_refused = given.refused.contains(&"speed") && part.score == Some(0.0);
    if let Some(score) = part.score.filter(|score| (score - speed).abs() > ROUNDED && !is_refused) {
        let [score, used, limit, speed] = [score, used, limit, speed].map(digits);
        let found = format!("{score} after {used} s of {limit} s, which is a speed of {speed}");
        let hint = "leave `speed` out: it is computed from the times";
        check.refuse_as(part.node, found, "1000 times the share of the time that was left", hint);
    }
    Some(speed)
}

impl<'a> Validation<'a> {
    /// Reads the answer of the arena, which has its checks in `checks`, or that of karat, which has not.
    fn read(&mut self, node: Node<'a>, check: &mut Check<'_>) {
        for member in check.members(node).filter(|member| !member.is_null()) {
            match member.key() {
                "valid" => self.valid = check.flag(member).map(|flag| (member, flag)),
                "checks" => {
                    for member in check.members(member).filter(|member| !member.is_null()) {
                        self.read_check(member, check);
                    }
                }
                "non_empty"
                | "timestamps_in_bounds"
                | "tool_replay_consistent"
                | "chained"
                | "times_in_order"
                | "durations_possible"
                | "tokens_counted" => {
                    self.read_check(member, check);
                }
                "failed_checks" => {
                    for failed in check.elements(member) {
                        self.failed = check.text(failed).map(|_| failed).or(self.failed);
                    }
                }
                "warnings" | "unknown_files" => drop(check.elements(member)),
                _ => check.unknown("$.trajectory_validation", member),
            }
        }
    }

    fn read_check(&mut self, member: Node<'a>, check: &mut Check<'_>) {
        if check.flag(member) == Some(false) {
            self.failed = Some(member);
        }
    }

    /// A match is verified by a valid trajectory, and one with a failed check is not valid.
    fn hold(&self, given: &Given<'_>, check: &mut Check<'_>) {
        const HINT: &str = "correct the one that is wrong";
        if let (Some((node, true)), Some(_)) = (self.valid, self.failed) {
            check.refuse_as(node, "`true`, where a check failed", "`false`", HINT);
        }
        let Some(verified) = given.verified else { return };
        let is_valid = self.valid.map(|(_, valid)| valid).unwrap_or(self.failed.is_none());
        if verified && !is_valid {
            let node = self.valid.map(|(node, _)| node).or(self.failed).unwrap_or(given.root);
            let expected = "a valid trajectory, or `verified` false";
            check.refuse_as(node, "a trajectory that is not valid of a verified match", expected, HINT);
        }
    }
}
