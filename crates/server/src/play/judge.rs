//! Judging of an answer: it becomes evidence, a record and a rating.

use karat::record::RecordDocument;
use karat_core::facts::Digest;
use karat_evidence::grade::arena::{MatchOptions, grade_match};
use karat_evidence::{Problems, canonical_json};
use karat_stats::rating::arena::{Arena as Rules, Attempt, Challenge as Opponent, Grade, Settlement};
use karat_stats::rating::title;
use serde_json::{Value, json};

use crate::arena::{
    Career, CategoryRating, Challenge, Content, Instance, Match, Rating, Scored, Settled, State, Submitted,
};
use crate::cards::ScorerPool;
use crate::effect::Effect;
use crate::keys::KeyRequest;
use crate::problem::{Code, Problem};
use crate::scoring::{How, digest};
use crate::state::Submission;

/// A judged match that is not stored yet.
#[derive(Debug)]
pub struct Judged {
    /// The items to store together, and their effects.
    pub submission: Submission,
    /// The index of the record among them.
    pub record_place: usize,
    /// The match in its new state.
    pub game: Match,
}

/// Everything that judging needs when an answer arrives.
#[derive(Debug)]
pub(super) struct Bench<'a> {
    pub challenge: &'a Challenge,
    pub pool: &'a ScorerPool,
    pub game: &'a Match,
    pub harness_id: Option<&'a str>,
    pub career: &'a Career,
    pub now: String,
}

impl Bench<'_> {
    /// Grades, scores and settles a submission.
    pub fn judge(&self, payload: Value) -> Result<Judged, Problem> {
        let Self { challenge, pool, game, .. } = self;
        let missing = |what: &str| Problem::internal(&format!("match `{}` has no {what}", game.match_id));
        let evaluator = pool.card.evaluator().ok_or_else(|| missing("evaluator"))?;
        let instance = challenge.instance(game.attempt_number).ok_or_else(|| missing("instance"))?;
        let submission = Digest::of(canonical_json(&payload).as_bytes()).to_string();
        let mut parts = self.parts(instance);
        parts["payload"] = payload.clone();
        let grade = grade_match(&parts, evaluator, &MatchOptions::default());
        let mut grade = grade.map_err(|problems| without_truth(&problems))?;
        // The slug is the task; the card names its challenge by its id.
        grade.evidence["challenge_slug"] = challenge.slug.as_str().into();
        grade.evidence["challenge"] = pool.card.id.as_str().into();

        // The arena itself states these facts, with a key that is given to no one.
        let own = KeyRequest::admin("arena").make([0; 32])?.key;
        let bytes = canonical_json(&grade.evidence);
        let mut scored = How { pool, as_of: None, key: &own, name: None }.score(bytes.as_bytes())?;
        let record: RecordDocument =
            serde_json::from_slice(&scored.record.content).map_err(|error| Problem::internal(&error))?;
        let answer = record.r#match.ok_or_else(|| missing("answer in its record"))?;
        let rules = Rules::default();
        let result = rules.outcome(answer.score.unwrap_or(0.0));
        let attempt = Attempt {
            attempt_number: game.attempt_number,
            memoryless: game.memoryless,
            verified: grade.standing.verified,
            outcome: result,
        };
        let opponent = Opponent {
            category: &challenge.category,
            difficulty: &challenge.difficulty,
            calibrated_difficulty: None,
        };
        let settled = rules.settle(&self.career.clone().into(), &opponent, &attempt);
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
            benchmark_grade: grade.standing.benchmark_grade,
            trajectory_validation: grade.trajectory.as_ref().map(|trajectory| trajectory.detail()),
            settled: self.settled(&rules, &settled),
        };
        let submitted =
            game.in_state(State::Submitted(Submitted { submitted_at: self.now.clone(), payload }));
        let game = game.in_state(State::Scored(Box::new(scored_state)));
        let kept = |content: &Content| content.item().map_err(|error| Problem::internal(&error));
        let item_of_challenge = kept(&Content::Challenge((*challenge).clone()))?;
        let submitted = Content::Match(Box::new(submitted));
        let item_of_submitted = kept(&submitted)?;
        // The right answer and the submission are not in the evidence; it names their digests instead.
        scored.evidence.sources = vec![digest(&item_of_challenge), digest(&item_of_submitted)];
        let content = Content::Match(Box::new(game.clone()));
        let item = kept(&content)?;
        let submission = Submission::default()
            .with(item_of_submitted, Some(Effect::Arena(Box::new(submitted))))
            .with(scored.evidence, None)
            .with(scored.record, Some(Effect::Record(Box::new(scored.row))))
            .with(item, Some(Effect::Arena(Box::new(content))));
        Ok(Judged { submission, record_place: 2, game })
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
            "harness_id": self.harness_id,
            "constraints": challenge.constraints,
            "ground_truth": instance.ground_truth,
            "workspace_files": (!instance.workspace_files.is_empty()).then_some(&instance.workspace_files),
        })
    }

    fn settled(&self, rules: &Rules, settled: &Settlement) -> Settled {
        let name = &self.challenge.category;
        let initial = rules.newcomer().elo;
        let before = self.career.category_points.get(name).copied().unwrap_or(initial);
        let after = settled.career.category_elo.get(name).copied().unwrap_or(before);
        let is_new = self.career.match_count < u64::from(rules.elo.established_from_matches);
        let bonus = match settled.grade {
            Grade::Unverified => None,
            Grade::Verified => Some(rules.verified_factor),
            Grade::BenchmarkGrade => Some(rules.benchmark_grade_factor),
        };
        Settled {
            rating: Rating {
                before_points: settled.elo_before,
                after_points: settled.career.elo,
                change_points: settled.elo_change,
                opponent_points: settled.opponent_elo,
                expected: Some(places(settled.expected, 1e6)),
                factor_points: if is_new { rules.elo.factor_new } else { rules.elo.factor_established },
                play_points: settled.play_points,
                floor_points: settled.floor_points,
                #[expect(clippy::cast_precision_loss, reason = "factors are small")]
                bonus_factor: bonus.map_or(1.0, |factor| factor.millionths() as f64 / 1e6),
                bonus_points: settled.bonus_points,
                category: Some(CategoryRating {
                    name: name.clone(),
                    before_points: before,
                    after_points: after,
                }),
            },
            career: settled.career.clone().into(),
            titles: settled.titles.iter().map(|title| title.name.to_owned()).collect(),
        }
    }
}

/// Returns a match whose time limit has passed: it counts as a draw, does not change the rating, ends a streak, and can
/// no longer be submitted.
pub(super) fn expired(game: &Match, challenge: &Challenge, career: &Career) -> Match {
    let rules = Rules::default();
    let opponent = rules.difficulties.iter().find(|(name, _)| *name == challenge.difficulty);
    let career = career.drawn();
    let titles =
        title::held(&rules.titles, &karat_stats::rating::arena::Career::from(career.clone()).deeds());
    let rating = Rating {
        before_points: career.rating_points,
        after_points: career.rating_points,
        change_points: 0,
        opponent_points: opponent.map_or(career.rating_points, |(_, points)| *points),
        expected: None,
        factor_points: 0.0,
        play_points: 0,
        floor_points: 0,
        bonus_factor: 1.0,
        bonus_points: 0,
        category: None,
    };
    let titles = titles.iter().map(|title| title.name.to_owned()).collect();
    game.in_state(State::Expired(Settled { rating, career, titles }))
}

/// Returns the problem with a submission. The right answer stays secret: it was checked when the challenge was
/// published.
fn without_truth(problems: &Problems) -> Problem {
    if problems.iter().all(|problem| problem.path.starts_with("$.payload")) {
        return Problem::of_error(Code::EvidenceRefused, &karat::error::Error::refused(problems));
    }
    let texts: Vec<String> =
        problems.iter().map(|problem| format!("{}: {}", problem.path, problem.expected)).collect();
    Problem::internal(&texts.join("; "))
}

/// Rounds a number to a decimal grid.
fn places(number: f64, units: f64) -> f64 {
    (number * units).round_ties_even() / units
}

/// Returns the problem of an answer that came too late.
pub(super) fn too_late(game: &Match) -> Problem {
    let (id, end) = (game.match_id.escape_debug(), &game.expires_at);
    Problem::new(Code::Expired, format!("the time limit of the match `{id}` passed at {end}; enter another"))
}
