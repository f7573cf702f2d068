//! The leaderboard: subjects of a scorecard by rank, with letters for ties.

use axum::http::uri::InvalidUri;
use karat::answers::LeaderboardMethod;
use karat::answers::leaderboard::method::Page;
use karat::answers::leaderboard::{Leaderboard, MEAN, NewerVersion, OFFICIAL};
use karat::document::figure::profiles;
use karat::document::{self, Kind, LeaderboardView, Part};
use karat::leaderboard::{Settings, counted};
use karat::rows::Rows;
use karat::rows::gaps::{all_or_nothing, gaps, undecayed};
use karat::text::{Writing, count};
use karat_core::scorecard::FactType;
use maud::PreEscaped;

use super::items::{self, linked};
use super::items::{given, timestamp};
use super::layout::*;
use super::welcome;
use crate::api::leaderboards::{Made, Pages, Question, make};
use crate::prelude::*;
use crate::select::Marks;

const ROWS: usize = 50;
const TREND: usize = 12;
/// The largest number of subjects whose values are shown.
const PROFILES: u64 = 30;

/// The query of the address, by name: that of the API and the number of the page. Empty fields do not count, so that a form can
/// send them.
type Asked = BTreeMap<String, String>;

/// The names of the query, but for the page.
const FIELDS: [&str; 10] =
    ["card", "track", "since", "until", "where", "group_by", "by", "with", "min_tasks", "trust"];

/// Returns a field of the query; empty if it was not given.
fn field<'a>(asked: &'a Asked, name: &str) -> &'a str {
    asked.get(name).map_or("", |text| text.trim())
}

/// Returns the settings for leaderboards on pages: the defaults of the command line.
pub fn settings(pool: &ScorerPool) -> Settings {
    Settings::usual_for(Some(&pool.card))
}

pub async fn show(Get(app, caller): Get, headers: HeaderMap, Params(asked): Params<Asked>) -> Answer {
    let page = number(&asked, "page")?;
    let query = address_of(&asked)?;
    let used = items::used_cards(&app).await?;
    let wanted = given(Some(field(&asked, "card")));
    let wanted = wanted.map(|card| app.memory.cards().find_used(card)).transpose()?;
    let Some(pool) = wanted.or_else(|| used.first().map(|(pool, _)| Arc::clone(pool))) else {
        let sheet = Sheet { title: "Leaderboard", part: "/", caller: Some(&caller) };
        return Ok(sheet.answer(welcome::page(&welcome::host(&headers))));
    };
    let uri = format!("/?card={}{query}", address::part(&pool.name())).parse();
    let question = Question::read(&app, &uri.map_err(|error: InvalidUri| Problem::internal(&error))?)?;
    let size = *app.memory.size().borrow();
    let key = format!("page {size} {page} {question:?}");
    let boards = match app.answers.get(&key) {
        Some(known) => known,
        None => {
            let made = boards(&app, &pool, question, size, &asked, page, &welcome::host(&headers)).await?;
            app.answers.put(key, made.into_string().into_bytes())
        }
    };
    let title = format!("Leaderboard: {}", pool.name());
    Ok(Sheet { title: &title, part: "/", caller: Some(&caller) }.answer(html! {
        (heading(&[], "Leaderboard", &pool.card.title))
        (form(&asked, &pool, &used))
        // It was built by `boards`, escaped like the rest of the page.
        (PreEscaped(String::from_utf8_lossy(&boards)))
    }))
}

/// Returns the tables for this query and size of the log, for `show` to cache.
async fn boards(
    app: &Arc<App>,
    pool: &Arc<ScorerPool>,
    question: Question,
    size: u64,
    asked: &Asked,
    page: usize,
    host: &str,
) -> Result<Markup, Problem> {
    // One page of the leaderboard is shown; its notes and profiles cover the whole.
    let means = Page { skip: (page - 1).saturating_mul(ROWS), limit: ROWS };
    let made = match make(app, question, size, Pages { pairs: Page::ALL, means }).await {
        Ok(made) => made,
        Err(problem) if problem.code == Code::Unanswerable => {
            return Ok(
                html! { p.care { "There is no leaderboard: " (problem.detail) "." } @if problem.field.is_none() { (welcome::nothing(host, pool)) } },
            );
        }
        Err(problem) => return Err(problem),
    };
    let (pool, asked) = (Arc::clone(pool), asked.clone());
    app.checked(move || Ok(drawn(&made, &pool, &asked, page))).await
}

/// Returns the whole number in a field, 1 if it is not given.
fn number(asked: &Asked, name: &str) -> Result<usize, Problem> {
    let text = field(asked, name);
    let found = || format!("found `{}`, expected a whole number from 1 on", text.escape_debug());
    match text {
        "" => Ok(1),
        _ => text.parse().ok().filter(|number| *number > 0).ok_or_else(|| Problem::parameter(name, found())),
    }
}

/// Returns the query of the API but for the card, each part after `&`.
fn address_of(asked: &Asked) -> Result<String, Problem> {
    number(asked, "min_tasks")?;
    let mut query = String::new();
    for (name, text) in asked.iter().map(|(name, text)| (name.as_str(), text.trim())) {
        if name != "page" && !FIELDS.contains(&name) {
            let detail = format!("found `{}`, expected one of {}", name.escape_debug(), FIELDS.join(", "));
            return Err(Problem::parameter("query", detail));
        }
        let time = match name {
            "since" | "until" => timestamp(name, Some(text))?,
            _ => None,
        };
        if !text.is_empty() && !["card", "page"].contains(&name) {
            let text = time.map_or_else(|| text.to_owned(), |time| time.to_string());
            query.push_str(&format!("&{name}={}", address::part(&text)));
        }
    }
    Ok(query)
}

/// Shows the filters, as a form whose result has its own address.
fn form(asked: &Asked, pool: &ScorerPool, used: &[(Arc<ScorerPool>, usize)]) -> Markup {
    let value = |name: &str| field(asked, name);
    let is_used = used.iter().any(|(it, _)| it.name() == pool.name());
    let fields: Vec<&str> = ["task", "outcome"]
        .into_iter()
        .chain(pool.card.facts.iter().map(|fact| fact.name.as_str()))
        .collect();
    let usual = if pool.card.standing.is_some() { OFFICIAL } else { MEAN };
    let numbers = pool.card.facts.iter().filter(|fact| fact.kind == FactType::Number);
    let numbers: Vec<&str> = numbers.map(|fact| fact.name.as_str()).collect();
    let dimensions = pool.card.dimensions.iter().map(|dimension| dimension.key.clone());
    let ends = numbers.iter().flat_map(|name| [format!("{name}:asc"), format!("{name}:desc")]);
    let official = pool.card.standing.iter().map(|_| OFFICIAL.to_owned());
    let keys = official.chain([MEAN.to_owned()]).chain(dimensions).chain(ends);
    let counted = ["gates", "tiers", "bands", "outcomes"].map(str::to_owned);
    let columns = numbers.iter().flat_map(|name| [(*name).to_owned(), format!("{name}:p95")]).chain(counted);
    let is_open = FIELDS.iter().skip(1).any(|name| !field(asked, name).is_empty());
    html! {
        form.fields method="get" action="/" {
            label {
                "Scorecard"
                select name="card" {
                    @if !is_used { option value=(pool.name()) selected { (pool.name()) } }
                    @for (it, records) in used {
                        option value=(it.name()) selected[it.name() == pool.name()] {
                            (it.name()) " (" (count(*records, "record")) ")"
                        }
                    }
                }
            }
            button.go type="submit" { "Show" }
            details open[is_open] {
                summary { "Filters and columns" }
                div {
                    label { "Tasks" input type="text" name="track" placeholder="all" value=(value("track")); }
                    label { "From" input type="text" name="since" placeholder="2026-01-31" value=(value("since")); }
                    label { "Before" input type="text" name="until" placeholder="2026-02-28" value=(value("until")); }
                    label {
                        "Only where"
                        input type="text" name="where" placeholder="FIELD=VALUE" list="fields" value=(value("where"));
                    }
                    label { "Leaderboards by" input type="text" name="group_by" placeholder="FIELD" list="fields" value=(value("group_by")); }
                    label { "Rank by" input type="text" name="by" placeholder=(usual) list="keys" value=(value("by")); }
                    label { "More columns" input type="text" name="with" placeholder="FIELD, FIELD:p95, gates" list="columns" value=(value("with")); }
                    label.short { "Tasks at least" input type="number" name="min_tasks" min="1" value=(value("min_tasks")); }
                    label {
                        "Trust"
                        select name="trust" {
                            @for (word, meaning) in [
                                ("", "any word"),
                                ("judged", "by a judge at least"),
                                ("measured", "by a harness at least"),
                                ("graded", "graded by this server"),
                            ] {
                                option value=(word) selected[value("trust") == word] { (meaning) }
                            }
                        }
                    }
                }
                datalist id="fields" { @for field in fields { option value=(field) {} } }
                datalist id="keys" { @for key in keys { option value=(key) {} } }
                datalist id="columns" { @for column in columns { option value=(column) {} } }
            }
        }
    }
}

fn drawn(made: &Made, pool: &ScorerPool, asked: &Asked, page: usize) -> Markup {
    let Made { answer, rows } = made;
    let of_rows = rows.iter().flat_map(|rows| gaps(rows).into_iter().chain(all_or_nothing(rows)));
    let marks = Marks { corrected: answer.corrected, backfilled: answer.backfilled.clone() };
    let newer = answer.newer_version.iter().map(|newer| {
        let NewerVersion { card, records, of } = newer;
        format!("`{card}` has {records} of {of} records; until it has all, `{}` answers", pool.name())
    });
    let before = of_rows.chain(undecayed(answer.basis.decay)).chain(marks.sentences()).chain(newer);
    let before: Vec<String> = before.collect();
    let profiled = |board: &Leaderboard| match rows {
        Some(rows) if board.ranked <= PROFILES => profiles(rows, board),
        _ => Vec::new(),
    };
    let view = LeaderboardView {
        dimensions: rows.as_ref().map_or(&[], |rows| &rows.dimensions),
        gaps: &before,
        figures: answer.leaderboards.iter().map(profiled).collect(),
        ..LeaderboardView::default()
    };
    let mut document = document::leaderboard(answer, view);
    let groups = rows.as_ref().map(Rows::groups).unwrap_or_default();
    let mut boards = answer.leaderboards.iter().zip(groups);
    for part in &mut document.parts {
        let Part::Table(table) = part else { continue };
        let is_ranks = table.columns.iter().any(|column| column.key == "rank");
        let board = boards.by_ref().take(usize::from(is_ranks)).next();
        if let Some(((board, (_, items)), rows)) = board.zip(rows.as_ref()) {
            table.is_part = board.ranked > ROWS as u64;
            more_columns(table, board, rows, &items, &settings(pool));
        }
        *table = linked(shown(table.clone(), made, page), &pool.name());
    }
    let all = answer.leaderboards.iter().map(|board| board.ranked).max().unwrap_or(0);
    html! {
        p { (document.title) }
        @for line in &document.lines { p { (line) } }
        (body("b", &document))
        (pages_of(asked, page, usize::try_from(all).unwrap_or(usize::MAX)))
        dl.about { @for (label, value) in &document.about { div { dt { (label) } dd { (value) } } } }
    }
}

/// Returns the rows of a page, of a table of all subjects.
fn shown(mut table: Table, made: &Made, page: usize) -> Table {
    if made.answer.method == LeaderboardMethod::Pairs {
        let from = (page - 1).saturating_mul(ROWS);
        table.rows = table.rows.into_iter().skip(from).take(ROWS).collect();
    }
    table
}

fn more_columns(table: &mut Table, board: &Leaderboard, rows: &Rows, items: &[usize], settings: &Settings) {
    let writing = Writing::of(rows.scale.max);
    let mut of_subject: BTreeMap<usize, (i64, i64, Vec<f64>)> = BTreeMap::new();
    for row in items.iter().filter_map(|&at| rows.rows.get(at)) {
        let (items, coverage, scores) = of_subject.entry(row.subject).or_default();
        *items += 1;
        *coverage = coverage.saturating_add(row.coverage());
        if row.time().is_some() {
            scores.extend(
                counted(row, settings.policy).map(|score| writing.value(score.billionths() as f64 / 1e9)),
            );
        }
    }
    let columns = [
        column("trend", Kind::Trend { range: (0.0, writing.value(1.0)), decimals: writing.decimals() }),
        column("coverage", Kind::Share),
    ];
    table.columns.extend(columns);
    for (row, ranked) in table.rows.iter_mut().zip(&board.rows) {
        let found = rows.subject(&ranked.subject).and_then(|subject| of_subject.remove(&subject));
        let (items, coverage, scores) = found.unwrap_or_default();
        let coverage = (coverage / items.max(1)) as f64 / 1e9;
        row.cells.push(match ranked.tasks {
            0..2 => absent("one task"),
            _ => Cell::Trend(thinned(&scores)),
        });
        row.cells.push(Cell::Share(coverage));
    }
}

/// Returns at most as many values as a trend shows: the means of equal stretches.
fn thinned(values: &[f64]) -> Vec<f64> {
    let stretch = values.len().div_ceil(TREND).max(1);
    values.chunks(stretch).map(|part| part.iter().sum::<f64>() / part.len() as f64).collect()
}

/// Shows links to the previous and the next page.
fn pages_of(asked: &Asked, page: usize, all: usize) -> Markup {
    let to = |page: usize| {
        let number = page.to_string();
        let own = FIELDS.map(|name| (name, field(asked, name)));
        address::query("/", &[&own[..], &[("page", &number)]].concat())
    };
    turn("leaderboard", ["Higher ranks", "Lower ranks"], (page, all.div_ceil(ROWS)), to)
}
