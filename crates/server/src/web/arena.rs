//! The arena: who leads, the challenges, the matches. `challenge`, `agent` and `game` have a page for each of these.

use karat::document::{Kind, Row};
use karat::text::{Tone, Writing, count};

use super::items::given;
use super::layout::*;
use crate::api::arena::{ShownChallenge, freshen};
use crate::arena::{ArenaState, By, Match, RatedAgent, State as Played, ranked};
pub(super) use crate::headline::signed;
use crate::headline::{self, ended, matches_of};
use crate::prelude::*;

/// The most matches of a page.
pub const MATCHES: usize = 25;
/// The most agents of the table: those that the API gives unless it is asked for more.
const AGENTS: usize = 100;

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Asked {
    category: Option<String>,
    page: Option<usize>,
}

pub async fn show(Get(app, caller): Get, Params(asked): Params<Asked>) -> Answer {
    page(app, &caller, move |app, state| {
        Ok(if state.challenges().next().is_none() { empty() } else { filled(app, state, &asked) })
    })
    .await
}

/// Answers with what is drawn of the arena as it is now: the title of a page, and its content.
pub async fn page(
    app: Arc<App>,
    caller: &Caller,
    draw: impl FnOnce(&App, &ArenaState) -> Result<(String, Markup), Problem> + Send + 'static,
) -> Answer {
    freshen(&app).await;
    let shared = Arc::clone(&app);
    let (title, content) = app.checked(move || draw(&shared, &shared.memory.arena.state())).await?;
    Ok(Sheet { title: &title, part: "/arena", caller: Some(caller) }.answer_live(content))
}

fn empty() -> (String, Markup) {
    let title = String::from("There is no challenge yet");
    let content = html! {
        (heading(&[("/", "Home")], &title, ""))
        div.empty {
            p { "An administrator publishes one with " code { "POST /v1/arena/challenges" } ", agents register with "
                code { "POST /v1/arena/agents" } " and enter with " code { "POST /v1/arena/matches" } "." }
            p { a href="/v1/openapi.json" { "The API" } " says what each of them takes." }
        }
    };
    (title, content)
}

fn filled(app: &App, state: &ArenaState, asked: &Asked) -> (String, Markup) {
    let category = given(asked.category.as_deref());
    let by = if category.is_some() { By::Rating } else { By::Skill };
    let rows = ranked(state, by, category, 1);
    let told = headline::arena(&rows, category);
    let all: Vec<&Arc<Match>> = state.matches().collect();
    let scored =
        || all.iter().filter_map(|game| if let Played::Scored(it) = &game.state { Some(it) } else { None });
    let (number, verified) = (scored().count(), scored().filter(|it| it.verified).count());
    let marks = [
        (true, format!("all {} in a signed log", matches_of(all.len()))),
        (verified == number, format!("{verified} of {number} scored ones verified by their steps")),
    ];
    let content = html! {
        (heading(&[("/", "Home")], &told.text, &told.lead.join(" ")))
        (trust_strip(&marks, "/verify"))
        (ratings(state, &rows, category))
        (challenges(app, state))
        (list(app, ("/arena", asked.page), &[], &all))
    };
    (told.text, content)
}

fn ratings(state: &ArenaState, rows: &[RatedAgent], category: Option<&str>) -> Markup {
    let categories: BTreeSet<&str> =
        state.challenges().map(|challenge| challenge.category.as_str()).collect();
    let row = |(at, it): (usize, &RatedAgent)| {
        let ends = Some((it.interval.low, it.interval.high));
        let value = match category {
            None => Cell::interval(Some(it.skill.full.points), ends, Writing::decimals_of(0), false),
            Some(_) => text(it.points),
        };
        let range = it.rank_range.filter(|[best, worst]| best != worst);
        let range = range.map(|[best, worst]| (Tone::Plain, format!("could have rank {best} to {worst}")));
        let unsure = it.skill.full.provisional && category.is_none();
        let unsure = unsure.then(|| (Tone::Care, String::from("provisional: too few matches to compare by")));
        let cells = [
            text(it.rank),
            link(&it.agent_id, address::agent(&it.agent_id)),
            value,
            text(it.career.match_count),
            text(it.career.win_count),
            text_or(it.title.as_ref(), "none yet"),
        ];
        Row {
            is_behind: it.rank_range.is_some_and(|[best, _]| best > 1),
            notes: range.into_iter().chain(unsure).collect(),
            ..line_at(format!("/ratings/{at}"), cells)
        }
    };
    let (api, value, of, caption) = match category {
        None => (
            String::from("/v1/arena/ratings?by=skill"),
            "~skill@skill/full/points",
            String::from("by skill"),
            "Dot: the skill, as Glicko-2 estimates it from all matches. Grey cannot be first",
        ),
        Some(category) => (
            address::query("/v1/arena/ratings", &[("category", category)]),
            "!rating@points",
            format!("in {category}"),
            "By the rating in this category, which only agents with a rated match in it have; equal ratings share a rank",
        ),
    };
    // These are counted over all categories.
    let [matches, won] = if category.is_some() { ["all its matches", "all won"] } else { ["matches", "won"] };
    let columns =
        format!("rank | =agent | {value} | #{matches}@career/match_count | #{won}@career/win_count | title");
    let mut table = grid(caption, &columns, rows.iter().take(AGENTS).enumerate().map(row).collect());
    table.is_part = rows.len() > AGENTS;
    if let Some(rank) = table.columns.first_mut() {
        *rank = column("rank", Kind::Rank).labelled("");
    }
    let content = html! {
        nav.pages aria-label="Categories" {
            a href="/arena" aria-current=[category.is_none().then_some("page")] { "all" }
            @for name in categories {
                @let is_shown = category == Some(name);
                a href=(address::query("/arena", &[("category", name)])) aria-current=[is_shown.then_some("page")] { (name) }
            }
        }
        @if !rows.is_empty() { div data-answer=(api) { (figure("ratings-figure", &table)) } (acts(&[(api, "JSON")])) }
    };
    section("ratings", &format!("{} {of}", count(rows.len(), "agent")), content)
}

fn challenges(app: &App, state: &ArenaState) -> Markup {
    let all = state.challenges().map(|it| ShownChallenge::new(app, it, state));
    let rows = all.enumerate().map(|(at, it)| {
        let best = it.best.first().map(|best| format!("{} by {}", best.score, best.agent_id));
        let cells = [
            link(&it.title, address::challenge(&it.slug)),
            text(&it.category),
            text(it.opponent_points),
            text(seconds(it.time_limit_seconds)),
            text(it.match_count),
            text(it.win_count),
            text_or(best, "none yet"),
        ];
        line_at(format!("/challenges/{at}"), cells)
    });
    let caption = "Each has a page from which an agent can be connected. An agent plays each instance once";
    let columns = "=challenge | category | #as an opponent@opponent_points | time limit | #matches@match_count | #won@win_count \
                   | best score";
    let table = grid(caption, columns, rows.collect());
    let title = count(table.rows.len(), "challenge") + " to play";
    let content = html! { div data-answer="/v1/arena/challenges" { (figure("challenges-figure", &table)) } };
    section("challenges", &title, content)
}

/// Writes a time limit.
pub fn seconds(seconds: u32) -> String {
    match (seconds / 60, seconds % 60) {
        (0, seconds) => format!("{seconds} s"),
        (minutes, 0) => format!("{minutes} min"),
        (minutes, seconds) => format!("{minutes} min {seconds} s"),
    }
}

/// Shows these matches, the last entered first, and renews them as they change: on the page with this path, of which this is one of
/// several, and selected by these fields of a query.
pub fn list(
    app: &App,
    (path, page): (&str, Option<usize>),
    by: &[(&str, &str)],
    all: &[&Arc<Match>],
) -> Markup {
    let pages = all.len().div_ceil(MATCHES).max(1);
    let page = page.unwrap_or(1).clamp(1, pages);
    let row = |game: &&Arc<Match>| {
        let score = if let Played::Scored(scored) = &game.state { Some(scored.score()) } else { None };
        let rating = game.settled().map(|settled| &settled.rating);
        let expected = rating.and_then(|rating| rating.expected);
        line([
            link(&game.match_id, address::game(&game.match_id)),
            link(&game.agent_id, address::agent(&game.agent_id)),
            link(&game.challenge, address::challenge(&game.challenge)),
            text(&game.started_at),
            text(ended(game)),
            text_or(score, "none"),
            expected.map_or_else(|| absent("none"), Cell::Share),
            text_or(rating.map(|rating| signed(rating.change_points)), "none"),
        ])
    };
    let columns = "=match | agent | challenge | entered | result | #score | #expected | #rating";
    let caption = "Expected is the score, from 0 for a loss to 1 for a win, that the rating foretold";
    let shown = all.iter().skip((page - 1) * MATCHES).take(MATCHES);
    let mut table = grid(caption, columns, shown.map(row).collect());
    table.is_part = true;
    let to = |page: usize| address::query(path, &[("page", &page.to_string())]) + "#matches";
    let title = if all.is_empty() { String::from("No match yet") } else { matches_of(all.len()) };
    html! {
        section aria-labelledby="matches" id="live" data-live=(address::query("/arena/events", by)) data-now=(app.clock.now()) {
            h2 id="matches" { (title) }
            @if !all.is_empty() { (figure("matches-figure", &table)) (turn("matches", ["Newer", "Older"], (page, pages), to)) }
            (acts(&[(address::query("/v1/arena/matches", by), "JSON")]))
        }
    }
}
