//! The leaderboard: who stands where under a scorecard, and who cannot be told apart.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, Response};
use karat_report::board::notes::notes as told;
use karat_report::board::{Board, By, Settings, counted};
use karat_report::estimate::{Writing, percent};
use karat_report::page::figure;
use karat_report::page::model::{Cell, Column, Kind, Table};
use karat_report::page::scale::per_cent;
use karat_report::pages::{self, leaderboard::places_table};
use karat_report::rows::Rows;
use karat_report::rows::gaps::{all_or_nothing, gaps};
use karat_report::text::{Tone, count};
use karat_stats::bootstrap::Plan;
use maud::{Markup, PreEscaped, html};
use serde::Deserialize;

use super::form::{given, timestamp};
use super::items::{self, linked};
use super::layout::{Sheet, heading, notes, words};
use super::{address, large, welcome};
use crate::api::leaderboards::{BoardParams, LEVEL, Made, make};
use crate::cards::Rule;
use crate::guard::Caller;
use crate::params::Params;
use crate::problem::{Code, Problem};
use crate::rows::policy;
use crate::state::App;
use crate::stored::Trust;

/// Rows of a page.
pub const ROWS: usize = 50;
/// Values of a trend.
const TREND: usize = 12;
/// Most subjects whose readings are shown.
const PROFILES: usize = 30;

/// What the address asks for; what is empty is not asked for.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Asked {
    card: Option<String>,
    track: Option<String>,
    since: Option<String>,
    until: Option<String>,
    r#where: Option<String>,
    group: Option<String>,
    min_tasks: Option<String>,
    trust: Option<String>,
    page: Option<String>,
}

/// How leaderboards of pages are made: as on the command line where nothing is said.
pub fn settings(rule: &Rule) -> Settings {
    let plan = Plan { draws: 1000, seed: 1 };
    Settings { by: By::Score, policy: policy(rule), level: LEVEL, plan, attempts: None, tasks_min: 1 }
}

/// The page.
pub async fn show(
    State(app): State<Arc<App>>,
    caller: Caller,
    headers: HeaderMap,
    Params(asked): Params<Asked>,
) -> Result<Response<Body>, Problem> {
    caller.may_read()?;
    let (params, page) = (params(&asked)?, number("page", asked.page.as_deref())?);
    let used = items::used_cards(&app).await?;
    let wanted = given(asked.card.as_deref()).map(|card| app.memory.cards().find(card)).transpose()?;
    let Some(rule) = wanted.or_else(|| used.first().map(|(rule, _)| Arc::clone(rule))) else {
        let sheet = Sheet { title: "Leaderboard", part: "/", caller: Some(&caller) };
        return Ok(sheet.answer(welcome::page(&welcome::host(&headers))));
    };
    let params = BoardParams { card: rule.name(), ..params };
    let size = *app.memory.size().borrow();
    let question = format!("page {size} {page} {params:?}");
    let boards = match app.boards.get(&question) {
        Some(known) => known,
        None => {
            let made = boards(&app, &rule, &params, size, &asked, page, &welcome::host(&headers)).await?;
            app.boards.put(question, made.into_string().into_bytes())
        }
    };
    let title = format!("Leaderboard: {}", rule.name());
    Ok(Sheet { title: &title, part: "/", caller: Some(&caller) }.answer(html! {
        (heading(&[], "Leaderboard", &rule.card.title))
        (form(&asked, &rule, &used))
        // It was made just like the rest of the page, for whoever asked first.
        (PreEscaped(String::from_utf8_lossy(&boards)))
    }))
}

/// The boards of whoever asks first, at this size of the log.
async fn boards(
    app: &Arc<App>,
    rule: &Arc<Rule>,
    params: &BoardParams,
    size: u64,
    asked: &Asked,
    page: usize,
    host: &str,
) -> Result<Markup, Problem> {
    let made = match make(app, params, size).await {
        Ok(Some(made)) => made,
        Ok(None) => {
            return large::board(app, rule, params, size, page, |page, all| turn(asked, page, all)).await;
        }
        Err(problem) if problem.code == Code::Unanswerable => {
            return Ok(
                html! { p.care { "There is no board: " (problem.detail) "." } (welcome::nothing(host, rule)) },
            );
        }
        Err(problem) => return Err(problem),
    };
    let (rule, asked) = (Arc::clone(rule), asked.clone());
    app.checked(move || Ok(drawn(&made, &rule, &asked, page))).await
}

fn number(name: &str, text: Option<&str>) -> Result<usize, Problem> {
    let Some(text) = given(text) else { return Ok(1) };
    let found = || format!("found `{}`, expected a whole number from 1 on", text.escape_debug());
    text.parse().ok().filter(|number| *number > 0).ok_or_else(|| Problem::parameter(name, found()))
}

/// The same as the API is asked, without a scorecard yet.
fn params(asked: &Asked) -> Result<BoardParams, Problem> {
    let trust = match given(asked.trust.as_deref()) {
        None => None,
        Some("claimed") => Some(Trust::Claimed),
        Some("judged") => Some(Trust::Judged),
        Some("measured") => Some(Trust::Measured),
        Some(other) => {
            let found = other.escape_debug();
            return Err(Problem::parameter(
                "trust",
                format!("found `{found}`, expected claimed, judged or measured"),
            ));
        }
    };
    let written = |name, field: &Option<String>| -> Result<_, Problem> {
        Ok(timestamp(name, field.as_deref())?.map(|time| time.to_string()))
    };
    let text = |field: &Option<String>| given(field.as_deref()).map(str::to_owned);
    let tasks = number("min_tasks", asked.min_tasks.as_deref())?;
    Ok(BoardParams {
        card: String::new(),
        track: text(&asked.track),
        since: written("since", &asked.since)?,
        until: written("until", &asked.until)?,
        trust,
        known_at: None,
        condition: text(&asked.r#where),
        group_by: text(&asked.group),
        by: None,
        min_tasks: u32::try_from(tasks).ok().filter(|tasks| *tasks > 1),
        level: None,
        draws: None,
        seed: None,
        limit: None,
        skip: None,
    })
}

/// The filters, as a form whose answer has an address of its own.
fn form(asked: &Asked, rule: &Rule, used: &[(Arc<Rule>, usize)]) -> Markup {
    let value = |text: &Option<String>| text.clone().unwrap_or_default();
    let is_used = used.iter().any(|(it, _)| it.name() == rule.name());
    let fields: Vec<&str> = ["task", "outcome"]
        .into_iter()
        .chain(rule.card.facts.iter().map(|fact| fact.name.as_str()))
        .collect();
    let more = [
        &asked.track,
        &asked.since,
        &asked.until,
        &asked.r#where,
        &asked.group,
        &asked.min_tasks,
        &asked.trust,
    ];
    let is_open = more.iter().any(|field| given(field.as_deref()).is_some());
    html! {
        form.fields method="get" action="/" {
            label {
                "Scorecard"
                select name="card" {
                    @if !is_used { option value=(rule.name()) selected { (rule.name()) } }
                    @for (it, records) in used {
                        option value=(it.name()) selected[it.name() == rule.name()] {
                            (it.name()) " (" (count(*records, "record")) ")"
                        }
                    }
                }
            }
            button.go type="submit" { "Show" }
            details open[is_open] {
                summary { "Filters" }
                div {
                    label { "Tasks" input type="text" name="track" placeholder="all" value=(value(&asked.track)); }
                    label { "From" input type="text" name="since" placeholder="2026-01-31" value=(value(&asked.since)); }
                    label { "Before" input type="text" name="until" placeholder="2026-02-28" value=(value(&asked.until)); }
                    label {
                        "Only where"
                        input type="text" name="where" placeholder="FIELD=VALUE" list="fields" value=(value(&asked.r#where));
                    }
                    label { "Boards by" input type="text" name="group" placeholder="FIELD" list="fields" value=(value(&asked.group)); }
                    label.short { "Least tasks" input type="number" name="min_tasks" min="1" value=(value(&asked.min_tasks)); }
                    label {
                        "Facts"
                        select name="trust" {
                            @for (word, meaning) in [
                                ("", "of any source"),
                                ("judged", "none the subject's own word"),
                                ("measured", "all measured by harness or task"),
                            ] {
                                option value=(word) selected[value(&asked.trust) == word] { (meaning) }
                            }
                        }
                    }
                }
                datalist id="fields" { @for field in fields { option value=(field) {} } }
            }
        }
    }
}

/// A board for each group.
fn drawn(made: &Made, rule: &Rule, asked: &Asked, page: usize) -> Markup {
    let Made { rows, settings, boards } = made;
    let before: Vec<String> = gaps(rows).into_iter().chain(all_or_nothing(rows)).collect();
    html! {
        (notes(&before))
        @for (at, board) in boards.iter().enumerate() {
            section aria-labelledby=(format!("b{at}")) {
                h2 id=(format!("b{at}")) { (board.group.as_deref().unwrap_or("Places")) }
                (self::board(rows, board, rule, settings, asked, (at, page)))
            }
        }
        (about(rows, settings))
    }
}

fn board(
    rows: &Rows,
    board: &Board,
    rule: &Rule,
    settings: &Settings,
    asked: &Asked,
    (at, page): (usize, usize),
) -> Markup {
    let told = told(rows, board, settings);
    let care: Vec<&String> =
        told.iter().filter(|(tone, _)| *tone != Tone::Plain).map(|(_, line)| line).collect();
    let plain = told.iter().filter(|(tone, _)| *tone == Tone::Plain).map(|(_, line)| line);
    let (all, from) = (board.leaderboard.rows.len(), (page - 1).saturating_mul(ROWS));
    let table = table(rows, board, settings, from);
    let profiles = (board.leaderboard.rows.len() <= PROFILES).then(|| pages::profiles(rows, board)).flatten();
    html! {
        @for line in plain { p { (words(line)) "." } }
        @for line in care { p.care { (words(line)) "." } }
        (figure(&format!("b{at}f"), &linked(table, &rule.name())))
        @if all > ROWS { (turn(asked, page, all)) }
        @if let Some(section) = profiles {
            h3 { (section.heading) }
            @for (place, it) in section.figures.iter().enumerate() { (figure(&format!("b{at}p{place}"), it)) }
        }
    }
}

/// The places with what records say besides: how much was measured, and how it went over time.
fn table(rows: &Rows, board: &Board, settings: &Settings, from: usize) -> Table {
    let mut table = places_table(rows, board, settings);
    let writing = Writing::of(rows.scale);
    let mut of_subject: BTreeMap<usize, (i64, Vec<f64>)> = BTreeMap::new();
    let mut items: BTreeMap<usize, i64> = BTreeMap::new();
    for row in &rows.rows {
        let (coverage, scores) = of_subject.entry(row.subject).or_default();
        *coverage = coverage.saturating_add(row.coverage);
        *items.entry(row.subject).or_default() += 1;
        if row.time.is_some() {
            scores.extend(
                counted(row, settings.policy).map(|score| writing.value(score.billionths() as f64 / 1e9)),
            );
        }
    }
    let columns = [
        Column {
            label: String::from("trend"),
            kind: Kind::Trend { range: (0.0, writing.value(1.0)), decimals: writing.decimals() },
        },
        Column { label: String::from("coverage"), kind: Kind::Share },
    ];
    table.columns.extend(columns);
    for (row, ranked) in table.rows.iter_mut().zip(&board.leaderboard.rows) {
        let (coverage, scores) = of_subject.remove(&ranked.subject).unwrap_or_default();
        let count = items.get(&ranked.subject).copied().unwrap_or(1).max(1);
        let coverage = (coverage / count) as f64 / 1e9;
        row.cells.push(Cell::Trend(thinned(&scores)));
        row.cells.push(Cell::Share(coverage, per_cent(coverage)));
    }
    table.rows = table.rows.into_iter().skip(from).take(ROWS).collect();
    table
}

/// At most so many values as a trend shows: the means of equal stretches.
fn thinned(values: &[f64]) -> Vec<f64> {
    let stretch = values.len().div_ceil(TREND).max(1);
    values.chunks(stretch).map(|part| part.iter().sum::<f64>() / part.len() as f64).collect()
}

/// Links to the pages before and after.
fn turn(asked: &Asked, page: usize, all: usize) -> Markup {
    let to = |page: usize| {
        let text = |field: &Option<String>| field.clone().unwrap_or_default();
        let number = page.to_string();
        address::query(
            "/",
            &[
                ("card", &text(&asked.card)),
                ("track", &text(&asked.track)),
                ("since", &text(&asked.since)),
                ("until", &text(&asked.until)),
                ("where", &text(&asked.r#where)),
                ("group", &text(&asked.group)),
                ("min_tasks", &text(&asked.min_tasks)),
                ("trust", &text(&asked.trust)),
                ("page", &number),
            ],
        )
    };
    let pages = all.div_ceil(ROWS);
    html! {
        nav.pages aria-label="Pages of the leaderboard" {
            @if page > 1 { a href=(to(page - 1)) rel="prev" { "Higher places" } }
            span { "page " (page) " of " (pages) }
            @if page < pages { a href=(to(page + 1)) rel="next" { "Lower places" } }
        }
    }
}

/// How to get the same numbers again.
fn about(rows: &Rows, settings: &Settings) -> Markup {
    html! {
        dl.about {
            div { dt { "records" } dd { (rows.rows.len()) @if rows.filtered > 0 { ", " (rows.filtered) " left out" } } }
            div { dt { "interval" } dd { (percent(settings.level)) ", " (settings.plan.draws) " draws, seed " (settings.plan.seed) } }
            div { dt { "digest of the items" } dd { (rows.digest) } }
        }
    }
}
