//! Standings: the official scores of subjects at a timestamp, with their tiers and reviews.

use karat::answers::standing::Standing;
use karat::document;
use karat::write::{self, Form};

use super::leaderboards::Format;
use super::{answer as response, bytes};
use crate::params::{limit, timestamp};
use crate::prelude::*;
use crate::rows::RECORDS_MAX;
use crate::select::{Filter, Selection, size_at};
use crate::standing::{Question, answer, rules};

/// The default number of standings in a list.
const USUAL: usize = 100;
/// The largest number of standings in a list.
const MOST: usize = 1000;

/// The parameters of a standing.
#[derive(Debug, Clone, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct StandingParams {
    /// The scorecard, with a section `[standing]`.
    #[param(example = "workflow@1.0.0")]
    pub card: String,
    /// The timestamp of the standing; the present one if not given.
    pub as_of: Option<String>,
    /// The state of knowledge at this timestamp: later records and corrections do not count.
    pub known_at: Option<String>,
}

/// The parameters of a list of standings.
#[derive(Debug, Clone, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ListParams {
    /// The scorecard, with a section `[standing]`.
    #[param(example = "workflow@1.0.0")]
    pub card: String,
    /// The timestamp of the standings; the present one if not given.
    pub as_of: Option<String>,
    /// The state of knowledge at this timestamp: later records and corrections do not count.
    pub known_at: Option<String>,
    /// Only subjects whose names come after this one: `next` of the previous list.
    pub after: Option<String>,
    /// The largest number of subjects, 1 to 1000; 100 if not given. Fewer if they have very many records.
    pub limit: Option<usize>,
    /// `json`, or `csv`: a row for each subject, without the rest of the answer.
    #[param(inline)]
    pub format: Option<Format>,
}

/// The standings of subjects of a scorecard.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct StandingList {
    /// The timestamp of the standings.
    as_of: String,
    /// The size of the log up to which items count.
    log_size: u64,
    /// One standing for each subject, by name.
    standings: Vec<Standing>,
    /// The subjects without one because their rows over cases cannot be brought together, each with the reason; left out if
    /// all have one.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    left_out: BTreeMap<String, String>,
    /// The value of `after` for the next list; null at the end.
    next: Option<String>,
}

/// Returns the standing of one subject: the line that `karat standing --json` writes.
#[utoipa::path(get, operation_id = "show_standing", path = "/v1/standings/{subject}", tag = "records", params(
    ("subject" = String, Path, description = "who is scored", example = "17"), StandingParams), responses(
    (status = 200, description = "`karat/standing/2`", content_type = "application/json", body = Standing), Unfit))]
pub(crate) async fn show(
    Get(app, _): Get,
    Named(subject): Named<String>,
    Params(params): Params<StandingParams>,
) -> Answer {
    let missing =
        || Problem::not_found(format!("there is no record of `{}` up to that time", subject.escape_debug()));
    let (pool, as_of, size) = asked(&app, &params).await?;
    let question = Question::new(pool, vec![subject.clone()], as_of, size);
    let found = answer(&app, question).await?.subjects.into_iter().next().ok_or_else(missing)?;
    Ok(response(StatusCode::OK, &found))
}

/// Lists the standings of the subjects of a scorecard, in the order of their names.
#[utoipa::path(get, operation_id = "list_standings", path = "/v1/standings", tag = "records", params(ListParams), responses(
    (status = 200, content((StandingList = "application/json"), (String = "text/csv"))), Absent, Unfit))]
pub(crate) async fn list(Get(app, _): Get, Params(params): Params<ListParams>) -> Answer {
    let limit = limit(params.limit, USUAL, MOST)?;
    let one = StandingParams { card: params.card, as_of: params.as_of, known_at: params.known_at };
    let (pool, as_of, size) = asked(&app, &one).await?;
    rules(&pool)?;
    let name = pool.name();
    let subjects = app.indexed(move |app, index| {
        let (filter, _) = Filter::new(&app.memory, index, &Selection::of_card(&name))?;
        let mut found: BTreeMap<&str, usize> = BTreeMap::new();
        let after = params.after.as_deref().unwrap_or_default();
        for row in index.rows(size).filter(|row| filter.admits(row)) {
            let subject = index.name(row.subject);
            if subject > after {
                *found.entry(subject).or_default() += 1;
            }
        }
        if found.is_empty() && params.after.is_none() {
            return Err(Problem::not_found(format!("there is no record under `{name}`")));
        }
        // As many as can be read at once, and at least one.
        let mut records = 0;
        let is_room = |(_, own): &(&&str, &usize)| {
            let is_first = records == 0;
            records += **own;
            is_first || records <= RECORDS_MAX
        };
        let shown: Vec<String> =
            found.iter().take(limit).take_while(is_room).map(|(name, _)| (*name).to_owned()).collect();
        let next = shown.last().filter(|_| shown.len() < found.len()).cloned();
        Ok((shown, next))
    });
    let (shown, next) = subjects.await?;
    let (standings, left_out) = match shown.is_empty() {
        true => Default::default(),
        false => {
            let found = answer(&app, Question::new(pool, shown, as_of, size)).await?;
            (found.subjects, found.left_out)
        }
    };
    if params.format == Some(Format::Csv) {
        let text = write::text(Form::Csv, &document::standings(&standings, &[]));
        return Ok(bytes(StatusCode::OK, Format::Csv.media(), text.into_bytes()));
    }
    let list = StandingList { as_of: as_of.to_string(), log_size: size, standings, left_out, next };
    Ok(response(StatusCode::OK, &list))
}

/// Returns the scorecard, the timestamp and the size of the log that parameters ask for.
async fn asked(app: &App, params: &StandingParams) -> Result<(Arc<ScorerPool>, Timestamp, u64), Problem> {
    let pool = app.memory.cards().find_used(&params.card)?;
    let as_of = timestamp("as_of", params.as_of.as_deref())?.unwrap_or_else(|| app.moment());
    let size = size_at(app, params.known_at.as_deref()).await?;
    Ok((pool, as_of, size))
}
