//! Scorecards: the released ones, and those published on this server.

use karat::card::CompiledCard;
use karat_core::diagnostic::Diagnostic;

use super::{bytes, json, stored};
use crate::prelude::*;
use crate::state::scorecard_item;

/// The media types in which a scorecard may be sent.
const MEDIA: [&str; 3] = ["application/toml", "text/toml", "text/plain"];

/// A summary of a scorecard.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ScorecardSummary {
    /// `id@version`
    name: String,
    id: String,
    version: String,
    /// SHA-256 of its canonical form: records name it.
    digest: String,
    /// Its purpose, in one line.
    title: String,
    /// The kind of evidence that it reads.
    evidence: String,
    /// Its family, `id@version`, for a challenge.
    base: Option<String>,
    /// True if evidence can be scored by it; false for a family.
    is_scoreable: bool,
    /// True if it is released with karat.
    is_released: bool,
}

/// All scorecards.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ScorecardList {
    scorecards: Vec<ScorecardSummary>,
}

/// A scorecard in full.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ScorecardDetail {
    #[serde(flatten)]
    card: ScorecardSummary,
    /// The text of the file.
    text: String,
}

/// A published scorecard.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct PublishedScorecard {
    #[serde(flatten)]
    card: ScorecardSummary,
    /// The position in the log.
    position: u64,
    /// True if it was already published, so that nothing changed.
    repeated: bool,
}

/// The findings of a check of a scorecard.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ScorecardFindings {
    /// True if it can be used.
    is_sound: bool,
    /// Its name and digest, if it can be used.
    card: Option<ScorecardSummary>,
    /// The findings, in the order of the file.
    findings: Vec<ScorecardFinding>,
}

/// One finding.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ScorecardFinding {
    /// The stable code, such as `KC104`.
    code: &'static str,
    /// `error`, `warning` or `note`.
    severity: &'static str,
    /// The line, from 1.
    line: u64,
    /// The column in characters, from 1.
    column: u64,
    message: String,
    help: String,
}

impl From<&CompiledCard> for ScorecardSummary {
    fn from(card: &CompiledCard) -> Self {
        Self {
            name: card.name(),
            id: card.id.clone(),
            version: card.version.clone(),
            digest: card.digest.to_string(),
            title: card.title.clone(),
            evidence: card.evidence.clone(),
            base: card.base.clone(),
            is_scoreable: card.scorer().is_ok(),
            is_released: card.is_released(),
        }
    }
}

/// Lists all scorecards, by name.
#[utoipa::path(get, operation_id = "list_scorecards", path = "/v1/scorecards", tag = "scorecards", responses(
    (status = 200, body = ScorecardList)))]
pub(crate) async fn list(Get(app, _): Get) -> Answer {
    let scorecards = app.memory.cards().iter().map(|pool| ScorecardSummary::from(&*pool.card)).collect();
    json(StatusCode::OK, &ScorecardList { scorecards })
}

/// Returns a scorecard, with its text.
#[utoipa::path(get, operation_id = "show_scorecard", path = "/v1/scorecards/{card}", tag = "scorecards", params(
    ("card" = String, Path, description = "`id@version`, or the id of its latest version", example = "workflow@1.0.0"),
    ), responses((status = 200, body = ScorecardDetail)))]
pub(crate) async fn show(Get(app, _): Get, Named(wanted): Named<String>) -> Answer {
    let pool = app.memory.cards().find(&wanted)?;
    json(
        StatusCode::OK,
        &ScorecardDetail { card: ScorecardSummary::from(&*pool.card), text: pool.card.text().to_owned() },
    )
}

/// Returns the file of a scorecard, as `--card FILE` takes it.
#[utoipa::path(get, operation_id = "read_scorecard", path = "/v1/scorecards/{card}/text", tag = "scorecards", params(
    ("card" = String, Path, description = "`id@version`, or the id of its latest version", example = "workflow@1.0.0"),
    ), responses((status = 200, content_type = "application/toml", body = String)))]
pub(crate) async fn text(Get(app, _): Get, Named(wanted): Named<String>) -> Answer {
    let pool = app.memory.cards().find(&wanted)?;
    Ok(bytes(StatusCode::OK, "application/toml; charset=utf-8", pool.card.text().as_bytes().to_vec()))
}

/// Publishes a scorecard. It never changes: a new version is a new scorecard.
#[utoipa::path(post, operation_id = "publish_scorecard", path = "/v1/scorecards", tag = "scorecards", security(("key" = ["admin"])),
    request_body(content((String = "application/toml"), (String = "text/plain"))), responses(
    (status = 201, body = PublishedScorecard),
    (status = 200, body = PublishedScorecard, description = "It was already published."), Taken, Unfit))]
pub(crate) async fn publish(Post { app, caller, body }: Post) -> Answer {
    let key = Arc::clone(caller.key(&Act::PublishCard)?);
    let text = body.text(&app, &MEDIA, app.options.body_bytes_max).await?;
    let shared = Arc::clone(&app);
    let pool = app.checked(move || sound(&shared, &text)).await?;
    let pool = Arc::new(pool);
    let effect = Effect::Card(Arc::clone(&pool));
    let accepted = app.append_one(Submission::by(&key).with(scorecard_item(&pool), Some(effect))).await?;
    let (position, repeated) = accepted.first().map_or((0, false), |it| (it.position, it.repeated));
    json(
        stored(repeated),
        &PublishedScorecard { card: ScorecardSummary::from(&*pool.card), position, repeated },
    )
}

/// Checks a scorecard and stores nothing.
#[utoipa::path(post, operation_id = "check_scorecard", path = "/v1/scorecards/check", tag = "scorecards",
    request_body(content((String = "application/toml"), (String = "text/plain"))), responses(
    (status = 200, body = ScorecardFindings)))]
pub(crate) async fn check(Post { app, caller, body }: Post) -> Answer {
    caller.may(&Act::Read)?;
    let text = body.text(&app, &MEDIA, app.options.body_bytes_max).await?;
    let shared = Arc::clone(&app);
    let findings = app.checked(move || {
        let checked = shared.memory.cards().check(&text);
        let findings = checked.diagnostics.iter().map(|found| finding(&text, found)).collect();
        let compiled = checked.card.map(|card| CompiledCard::new(&text, card)).transpose();
        let card = compiled.map_err(|error| Problem::of_error(Code::CardRefused, &error))?;
        Ok(ScorecardFindings {
            is_sound: card.is_some(),
            card: card.as_ref().map(ScorecardSummary::from),
            findings,
        })
    });
    json(StatusCode::OK, &findings.await?)
}

/// Reads the scorecard in `text`, which may be a challenge of a family that is published here.
fn sound(app: &App, text: &str) -> Result<ScorerPool, Problem> {
    let card = app.memory.cards().compile(text);
    card.map(ScorerPool::new).map_err(|error| Problem::of_error(Code::CardRefused, &error))
}

fn finding(text: &str, found: &Diagnostic) -> ScorecardFinding {
    let before = text.get(..found.span.start).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    let characters = before.get(line_start..).unwrap_or_default().chars().count();
    ScorecardFinding {
        code: found.code.as_str(),
        severity: found.severity.name(),
        line: before.bytes().filter(|byte| *byte == b'\n').count() as u64 + 1,
        column: characters as u64 + 1,
        message: found.message.clone(),
        help: found.help.clone(),
    }
}
