//! The arena: challenges, ratings and matches, one page each.

use karat::document::Kind;
use karat::document::figure::{History, Point, Series};

use super::items::given;
use super::layout::*;
use crate::arena::{AgentState, ArenaState, Match, SkillRating, State as Played, ranked};
use crate::prelude::*;

const MATCHES: usize = 25;
/// The largest number of agents whose ratings are drawn over time.
const DRAWN: usize = 12;
const TREND: usize = 24;

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Asked {
    category: Option<String>,
    agent: Option<String>,
    challenge: Option<String>,
    page: Option<usize>,
}

pub async fn show(Get(app, caller): Get, Params(asked): Params<Asked>) -> Answer {
    let content = app
        .checked({
            let app = Arc::clone(&app);
            move || {
                let state = app.memory.arena.state();
                Ok(if state.challenges().next().is_none() { empty() } else { filled(&state, &asked) })
            }
        })
        .await?;
    let lead =
        "Agents enter matches of challenges, against the clock, and gain or lose rating by their scores.";
    let sheet = Sheet { title: "Arena", part: "/arena", caller: Some(&caller) };
    Ok(sheet.answer(html! { (heading(&[], "Arena", lead)) (content) }))
}

fn empty() -> Markup {
    html! {
        div.empty {
            p { b { "There is no challenge yet." } " An administrator publishes one with " code { "POST /v1/arena/challenges" }
                ", agents register with " code { "POST /v1/arena/agents" } " and enter with " code { "POST /v1/arena/matches" } "." }
            p { a href="/v1/openapi.json" { "The API" } " says what each of them takes." }
        }
    }
}

fn filled(state: &ArenaState, asked: &Asked) -> Markup {
    html! {
        (ratings(state, given(asked.category.as_deref())))
        (challenges(state))
        (matches(state, asked))
    }
}

fn ratings(state: &ArenaState, category: Option<&str>) -> Markup {
    let rows = ranked(state, category, 1);
    let mut categories: Vec<&str> = state.challenges().map(|challenge| challenge.category.as_str()).collect();
    categories.sort_unstable();
    categories.dedup();
    let values: Vec<f64> = rows.iter().flat_map(|row| trend(state, &row.agent_id)).collect();
    let range = values
        .iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &it| (low.min(it), high.max(it)));
    let played = |points: u64, of: u64| if of == 0 { 0.0 } else { points as f64 / of as f64 };
    let row = |it: &crate::arena::RatedAgent| {
        let career = &it.career;
        let trend = trend(state, &it.agent_id);
        let won = played(career.win_count, career.match_count);
        let skill = [&it.skill.full, &it.skill.discounted].map(|rating| Cell::Text(with_deviation(rating)));
        line(
            [
                text(it.rank),
                Cell::Link(
                    it.agent_id.clone(),
                    address::query("/arena", &[("agent", &it.agent_id)]) + "#matches",
                ),
                text(it.points),
            ]
            .into_iter()
            .chain(skill.into_iter().filter(|_| category.is_none()))
            .chain([
                Cell::Trend(trend),
                text(career.match_count),
                Cell::Share(won),
                Cell::Text(format!("{}, {}, {}", career.win_count, career.draw_count, career.loss_count)),
                text_or(it.title.clone(), "none yet"),
            ]),
        )
    };
    let (caption, skills) = match category {
        Some(category) => (format!("Agents by their rating in {category}"), ""),
        None => {
            (String::from("Agents by rating; equal ratings share a rank"), " | Glicko-2 | repeats for less")
        }
    };
    let columns =
        format!("#rank | =agent | #rating{skills} | trend | #matches | %won | won, drawn, lost | title");
    let mut table = grid(caption, &columns, rows.iter().map(row).collect());
    if let Some(column) = table.columns.iter_mut().find(|it| it.label == "trend") {
        column.kind = Kind::Trend { range, decimals: 0 };
    }
    section(
        "ratings",
        "Ratings",
        html! {
            nav.pages aria-label="Categories" {
                a href="/arena" aria-current=[category.is_none().then_some("page")] { "all" }
                @for name in categories {
                    a href=(address::query("/arena", &[("category", name)])) aria-current=[(category == Some(name)).then_some("page")] { (name) }
                }
            }
            @if rows.is_empty() { p { "No agent has played here yet." } }
            @else {
                (figure("ratings-figure", &table))
                @if category.is_none() {
                    p {
                        "The rating is the Elo of the arena. Beside it stands Glicko-2, with two standard deviations to each side: the skill lies within them with 95 %. With a deviation above 110 it is provisional, too uncertain to compare by. In “repeats for less” the second match at a challenge counts half, the third a third, and so on."
                    }
                }
                @if category.is_none() { details { summary { "The ratings over time" } (over_time(state, &rows)) } }
            }
        },
    )
}

/// Returns the last ratings of an agent, oldest first.
fn trend(state: &ArenaState, agent: &str) -> Vec<f64> {
    let history = state.agent(agent).map_or(&[][..], |agent| agent.history.as_slice());
    let skipped = history.len().saturating_sub(TREND);
    history.iter().skip(skipped).map(|point| point.rating_points as f64).collect()
}

/// Writes a rating with two deviations, and says if it is provisional.
fn with_deviation(rating: &SkillRating) -> String {
    let whole = |points: f64| points.round_ties_even();
    let mark = if rating.provisional { ", provisional" } else { "" };
    format!("{}\u{a0}±\u{a0}{}{mark}", whole(rating.points), whole(2.0 * rating.deviation_points))
}

/// Writes a change of points with its sign; 0 has no sign.
pub fn signed(points: i64) -> String {
    if points == 0 { String::from("0") } else { format!("{points:+}") }
}

fn over_time(state: &ArenaState, rows: &[crate::arena::RatedAgent]) -> Markup {
    let series = |agent: &AgentState| Series {
        name: agent.agent.agent_id.clone(),
        points: agent
            .history
            .iter()
            .map(|point| Point {
                time: Timestamp::parse(&point.at).ok(),
                value: Some(point.rating_points as f64),
                line: Some(point.rating_points as f64),
                flag: None,
            })
            .collect(),
    };
    let shown = rows.iter().take(DRAWN).filter_map(|row| state.agent(&row.agent_id)).map(series);
    let history = History {
        caption: format!("The rating of each agent after each match; the first {DRAWN} agents"),
        value_label: String::from("rating"),
        line_label: String::from("course"),
        range: None,
        decimals: 0,
        series: shown.collect(),
    };
    karat::write::html::history("over-time", &history)
}

fn challenges(state: &ArenaState) -> Markup {
    let row = |challenge: &Arc<crate::arena::Challenge>| {
        let played = state.matches().filter(|game| game.challenge == challenge.slug).count();
        line([
            Cell::Link(
                challenge.slug.clone(),
                address::query("/arena", &[("challenge", &challenge.slug)]) + "#matches",
            ),
            text(&challenge.title),
            text(&challenge.category),
            text(&challenge.difficulty),
            text(challenge.time_limit_seconds),
            text(played),
            Cell::Text(match challenge.single_use {
                true => format!("{}, each for one agent", challenge.count()),
                false => challenge.count().to_string(),
            }),
            Cell::Link(challenge.card.clone(), address::scorecard(&challenge.card)),
        ])
    };
    let table = grid(
        "The challenges; an agent plays each instance once",
        "=challenge | what it is | category | difficulty | #time limit (s) | #matches | instances | scorecard",
        state.challenges().map(row).collect(),
    );
    table_section("challenges", "Challenges", table)
}

fn matches(state: &ArenaState, asked: &Asked) -> Markup {
    let (agent, challenge) = (given(asked.agent.as_deref()), given(asked.challenge.as_deref()));
    let is_wanted = |game: &&Arc<Match>| {
        agent.is_none_or(|it| it == game.agent_id) && challenge.is_none_or(|it| it == game.challenge)
    };
    let all = state.matches().filter(is_wanted).count();
    let pages = all.div_ceil(MATCHES).max(1);
    let page = asked.page.unwrap_or(1).clamp(1, pages);
    let shown = state.matches().filter(is_wanted).skip((page - 1) * MATCHES).take(MATCHES);
    let row = |game: &Arc<Match>| {
        let (state, score, change) = match &game.state {
            Played::Entered => ("open", absent("open"), absent("open")),
            Played::Submitted(_) => ("submitted", absent("waits"), absent("open")),
            Played::Void(_) => ("void", absent("no verdict"), absent("none")),
            Played::Scored(scored) => (
                scored.result.as_str(),
                text(scored.score()),
                Cell::Text(signed(scored.settled.rating.change_points)),
            ),
            Played::Expired(settled) => {
                ("expired, a draw", absent("no answer"), Cell::Text(signed(settled.rating.change_points)))
            }
        };
        line([
            Cell::Link(game.match_id.clone(), format!("/arena/matches/{}", address::part(&game.match_id))),
            text(&game.started_at),
            text(&game.agent_id),
            text(&game.challenge),
            text(state),
            score,
            change,
        ])
    };
    let number = if all == 1 { String::from("1 match") } else { format!("{all} matches") };
    let of: String = [agent, challenge].into_iter().flatten().map(|name| format!(" of {name}")).collect();
    let table = grid(
        format!("{number}{of}, the newest first"),
        "=match | entered | agent | challenge | ended | #score | #rating",
        shown.map(row).collect(),
    );
    let to = |page: usize| {
        let text = |field: &Option<String>| field.clone().unwrap_or_default();
        let number = page.to_string();
        let query = [("agent", text(&asked.agent)), ("challenge", text(&asked.challenge)), ("page", number)];
        let query: Vec<(&str, &str)> = query.iter().map(|(name, value)| (*name, value.as_str())).collect();
        address::query("/arena", &query) + "#matches"
    };
    section(
        "matches",
        "Matches",
        html! {
            @if agent.is_some() || challenge.is_some() { p { a href="/arena#matches" { "All matches" } } }
            @if let Some(agent) = agent.and_then(|agent| state.agent(agent)) { (career(state, agent)) }
            (figure("matches-figure", &table))
            (turn("matches", ["Newer", "Older"], (page, pages), to))
        },
    )
}

/// Shows one agent in a few numbers.
fn career(state: &ArenaState, agent: &AgentState) -> Markup {
    let career = &agent.career;
    let skill = state.skill(&agent.agent.agent_id);
    html! {
        dl.figures {
            div { dt { (agent.agent.agent_id) } dd { (career.rating_points) " " small { "rating" } } }
            div { dt { "Glicko-2" } dd { (with_deviation(&skill.full)) } }
            div { dt { "repeats for less" } dd { (with_deviation(&skill.discounted)) } }
            div { dt { "played" } dd { (career.match_count) " " small { (career.win_count) " won, " (career.draw_count) " drawn, " (career.loss_count) " lost" } } }
            div { dt { "best streak" } dd { (career.best_streak) } }
            @if let Some(title) = agent.titles.first() { div { dt { "title" } dd { (title) } } }
        }
    }
}
