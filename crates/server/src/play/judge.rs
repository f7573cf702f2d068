//! Judging of an answer, which becomes evidence, a record and a rating; and what a harness signed about it.

use karat::answers::arena::{Career, Settled};
use karat::record::RecordDocument;
use karat_evidence::Problems;
use karat_graders::arena::{Evaluator, HarnessStatement, HarnessWord, MatchGrade, MatchOptions, grade_match};
use karat_graders::execution::Judge;
use karat_stats::rating::arena::{Arena as Rules, Attempt, Challenge as Opponent};

use crate::arena::{
    ArenaState, Challenge, Content, Draw, Instance, Match, Scored, State, StoredMatch, Submitted,
};
use crate::content::Stored as _;
use crate::prelude::*;

/// The size in bytes of the findings on a log, of each sort, that a match keeps. Its evidence has all.
const FINDINGS_MAX_BYTES: usize = 8 << 10;

/// A judged match that is not stored yet.
#[derive(Debug)]
pub struct Judged {
    /// The items to store together, and their effects.
    pub submission: Submission,
    /// The index of the record among them.
    pub record_place: usize,
    pub game: Match,
    pub blind: String,
}

/// Everything that grading needs when an answer arrives.
#[derive(Debug)]
pub(super) struct Bench {
    pub challenge: Arc<Challenge>,
    pub pool: Arc<ScorerPool>,
    /// The evaluator of the card, with the files of the challenge.
    pub evaluator: Evaluator,
    pub game: Arc<Match>,
    pub harness_id: Option<String>,
    /// The word of a harness, whose signature was checked.
    pub harness: Option<HarnessWord>,
    pub payload: Value,
    /// The random digits in the digest of the submission.
    pub blind: String,
    pub now: String,
}

/// Everything that settling needs besides.
#[derive(Debug)]
pub(super) struct Ending {
    pub career: Career,
    /// The draw of the match, and that for the next one of its agent.
    pub draws: (Option<Draw>, Draw),
    /// The id of the key of the agent.
    pub sender: String,
    /// True if the submission is in the log already, where it waited for its verdict.
    pub is_stored: bool,
}

/// The reason why a submission has no grade.
#[derive(Debug)]
pub(super) enum Ungraded {
    /// It is at fault, and the problem says why.
    Submission(Problem),
    Challenge(String),
}

impl From<Ungraded> for Problem {
    fn from(ungraded: Ungraded) -> Self {
        match ungraded {
            Ungraded::Submission(problem) => problem,
            Ungraded::Challenge(why) => Self::internal(&why),
        }
    }
}

impl Bench {
    /// Grades the submission. Without a judge, what has to be executed has no verdict.
    pub fn grade(&self, judge: Option<&dyn Judge>) -> Result<MatchGrade, Ungraded> {
        let Self { challenge, game, .. } = self;
        let Some(instance) = challenge.instance(game) else {
            return Err(Ungraded::Challenge(format!("match `{}` has no instance", game.match_id)));
        };
        let mut parts = self.parts(instance);
        parts["payload"] = self.payload.clone();
        if self.evaluator.runs_code() {
            // What is random in the judge follows from the instance. JSON is exact up to 2^53.
            parts["seed"] = (game.seed & ((1 << 53) - 1)).into();
        }
        let options = MatchOptions { harness: self.harness, ..MatchOptions::default() };
        grade_match(&parts, &self.evaluator, &options, judge).map_err(|problems| without_truth(&problems))
    }

    /// Returns the item of the submission, which is to wait for its verdict.
    pub fn submitted(&self, open: Option<Draw>) -> Content {
        let (payload, blind) = (self.payload.clone(), Some(self.blind.clone()));
        let submitted = Submitted { submitted_at: self.now.clone(), payload, blind };
        let game = self.game.in_state(State::Submitted(submitted));
        Content::Match(Box::new(StoredMatch { game, open_draw: open, next_draw: None }))
    }

    pub fn settle(&self, mut grade: MatchGrade, ending: Ending) -> Result<Judged, Problem> {
        let Self { challenge, pool, game, .. } = self;
        let missing = |what: &str| Problem::internal(&format!("match `{}` has no {what}", game.match_id));
        let submission = blinded(&self.payload, Some(&self.blind)).to_string();
        // The slug is the task; the card names its challenge by its id.
        grade.evidence["challenge_slug"] = challenge.slug.as_str().into();
        grade.evidence["challenge"] = pool.card.id.as_str().into();

        let bytes = canonical_json(&grade.evidence);
        let mut scored = How { pool, as_of: None, holder: None, name: None }.score(bytes.as_bytes())?;
        scored.row.trust = Trust::Graded;
        let record: RecordDocument =
            serde_json::from_slice(&scored.record.content).map_err(|error| Problem::internal(&error))?;
        let answer = record.r#match.ok_or_else(|| missing("answer in its record"))?;
        let rules = Rules::default();
        let result = rules.outcome(answer.score.unwrap_or(0.0));
        let attempt = Attempt {
            attempt_number: game.attempt_number,
            memoryless: grade.standing.memoryless,
            verified: grade.standing.verified,
            outcome: result,
        };
        let settled = rules.settle(&ending.career.into(), &opponent(challenge), &attempt);
        let settled = settled.map_err(|errors| {
            let texts: Vec<String> = errors.iter().map(ToString::to_string).collect();
            Problem::internal(&texts.join("; "))
        })?;
        let scored_state = Scored {
            submitted_at: self.now.clone(),
            submission,
            evidence: scored.evidence.id.clone(),
            record: scored.record.id.clone(),
            answer,
            result: result.name().to_owned(),
            verified: grade.standing.verified,
            verified_by: grade.standing.verified_by,
            harness_memoryless: self.harness.map(|word| word.memoryless),
            benchmark_grade: grade.standing.benchmark_grade,
            trajectory_validation: grade.trajectory.as_ref().map(|trajectory| shortened(trajectory.detail())),
            execution: grade.evaluation.execution.as_ref().map(|execution| first_cases(execution.detail())),
            settled: Settled::of(&settled),
        };
        let (open, next) = ending.draws;
        let ended = game.ended(State::Scored(Box::new(scored_state)), open, next);
        let game = ended.game.clone();
        let kept = |content: &Content| content.item().map_err(|error| Problem::internal(&error));
        let item_of_challenge = kept(&Content::Challenge(Challenge::clone(challenge)))?;
        let submitted = self.submitted(open);
        let item_of_submitted = kept(&submitted)?;
        // The right answer and the submission are not in the evidence; it names their digests instead.
        scored.evidence.sources =
            [&item_of_challenge, &item_of_submitted].map(|item| Digest::of(&item.content)).to_vec();
        let content = Content::Match(Box::new(ended));
        let item = kept(&content)?;
        let mut batch = Submission::from_sender(&ending.sender);
        if !ending.is_stored {
            batch = batch.with(item_of_submitted, Some(Effect::Arena(Box::new(submitted))));
        }
        let record_place = batch.items.len() + 1;
        let submission = batch
            .with(scored.evidence, None)
            .with(scored.record, Some(Effect::Record(Box::new(scored.row))))
            .with(item, Some(Effect::Arena(Box::new(content))));
        Ok(Judged { submission, record_place, game, blind: self.blind.clone() })
    }

    /// Returns the match as it was played, without the submission.
    fn parts(&self, instance: &Instance) -> Value {
        let Self { challenge, game, .. } = self;
        json!({
            "match_id": game.match_id,
            "agent_id": game.agent_id,
            "started_at": game.started_at,
            "submitted_at": self.now,
            "time_limit_secs": challenge.time_limit_seconds,
            "attempt_number": game.attempt_number,
            "memoryless": game.memoryless,
            // A match from before there were nonces cannot be checked, and is not believed: no log begins with what is drawn now.
            "match_nonce": game.match_nonce.as_ref().unwrap_or(&self.blind),
            "harness_id": self.harness_id,
            "constraints": challenge.constraints,
            "ground_truth": instance.ground_truth,
            // Where the workspace is empty, no file can have been read.
            "workspace_files": instance.workspace_files,
        })
    }
}

/// Returns the checks of a log without the findings beyond the first ones: a match stays in memory, and in every list.
fn shortened(mut checks: Value) -> Value {
    let mut left_out = 0;
    for name in ["warnings", "unknown_files"] {
        left_out += checks.get_mut(name).map_or(0, |findings| keep_first(findings, &mut 0));
    }
    if left_out > 0 {
        checks["left_out"] = left_out.into();
    }
    checks
}

/// Returns the account of an execution with the first cases only, for the same reason.
fn first_cases(mut execution: Value) -> Value {
    let (mut bytes, mut left_out) = (0, 0);
    for task in execution.get_mut("tasks").and_then(Value::as_array_mut).into_iter().flatten() {
        left_out += task.get_mut("cases").map_or(0, |cases| keep_first(cases, &mut bytes));
    }
    if left_out > 0 {
        execution["left_out"] = left_out.into();
    }
    execution
}

/// Keeps the first elements of a list, after `bytes` of others; returns how many it leaves out.
fn keep_first(list: &mut Value, bytes: &mut usize) -> usize {
    let Some(list) = list.as_array_mut() else { return 0 };
    let count = list.len();
    list.retain(|element| {
        *bytes += element.to_string().len();
        *bytes <= FINDINGS_MAX_BYTES
    });
    count - list.len()
}

/// Returns a match whose time limit has passed: it is settled as [`Rules::expire`] says, and can no longer be submitted.
pub(super) fn expired(
    game: &Match,
    challenge: &Challenge,
    career: &Career,
    (open, next): (Option<Draw>, Draw),
) -> Result<StoredMatch, Problem> {
    let settled = Rules::default().expire(&career.clone().into(), &opponent(challenge));
    let settled = settled.map_err(|error| Problem::internal(&error))?;
    Ok(game.ended(State::Expired(Settled::of(&settled)), open, next))
}

/// Returns the digest of a submission with its blind; without one, as of matches from before there were blinds, that of the
/// submission alone.
pub(super) fn blinded(payload: &Value, blind: Option<&str>) -> Digest {
    let text = match blind {
        Some(blind) => canonical_json(&json!({ "blind": blind, "payload": payload })),
        None => canonical_json(payload),
    };
    Digest::of(text.as_bytes())
}

/// Returns a challenge as the opponent that it is.
fn opponent(challenge: &Challenge) -> Opponent<'_> {
    let Challenge { category, difficulty, .. } = challenge;
    Opponent { category, difficulty, calibrated_difficulty: None }
}

/// Returns the reason why there is no grade. The right answer stays secret: it was checked when the challenge was published.
fn without_truth(problems: &Problems) -> Ungraded {
    if problems.iter().all(|problem| problem.path.starts_with("$.payload")) {
        let error = karat::error::Error::refused(problems);
        return Ungraded::Submission(Problem::of_error(Code::EvidenceRefused, &error));
    }
    let texts: Vec<String> =
        problems.iter().map(|problem| format!("{}: {}", problem.path, problem.expected)).collect();
    Ungraded::Challenge(texts.join("; "))
}

pub(super) fn too_late(game: &Match) -> Problem {
    let (id, end) = (game.match_id.escape_debug(), &game.expires_at);
    Problem::new(Code::Expired, format!("the time limit of the match `{id}` passed at {end}; enter another"))
}

/// The member of a submission with the statement.
const FIELD: &str = "$.payload.metadata.harness_statement";

/// Returns what the harness signed about a match, if the submission, which arrived at `now`, has its statement. The harness is the one that the
/// submission names, or else that of the agent.
pub(super) fn word_of(
    state: &ArenaState,
    game: &Match,
    agent_harness: Option<&str>,
    payload: &Value,
    now: Timestamp,
) -> Result<Option<HarnessWord>, Problem> {
    let refused = |detail: String| Err(Problem::new(Code::EvidenceRefused, detail).at(FIELD));
    let metadata = payload.get("metadata");
    let member = |name: &str| metadata.and_then(|it| it.get(name));
    let Some(note) = member("harness_statement") else { return Ok(None) };
    let Some(note) = note.as_str() else { return refused(String::from("expected a text: a signed note")) };
    let Some(nonce) = &game.match_nonce else {
        return refused(String::from("this match was entered before there were nonces to sign"));
    };
    let Some(id) = member("harness_id").and_then(Value::as_str).or(agent_harness) else {
        return refused(String::from(
            "expected `harness_id` beside it: neither submission nor agent names one",
        ));
    };
    let Some(key) = state.harness(id).and_then(|harness| harness.key_at(now)) else {
        let hint = "an administrator registers its key with POST /v1/arena/harnesses";
        return refused(format!("there is no harness `{}` with a key in force; {hint}", id.escape_debug()));
    };
    let text = match key.open(note) {
        Ok(text) => text,
        Err(error) => return refused(error.to_string()),
    };
    let steps = member("replay_log").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let answer = payload.get("answer").unwrap_or(&Value::Null);
    match HarnessStatement::of(&game.match_id, nonce, answer, steps).read(text) {
        Ok(word) => Ok(Some(word)),
        Err(error) => refused(error.to_string()),
    }
}
