//! One subject under one scorecard: its standing, how that came about, what is missing, and every item of evidence.

use karat::answers::leaderboard::Leaderboard;
use karat::answers::notes::foot;
use karat::answers::review::{ScoreChange, score_history};
use karat::answers::standing::official_points;
use karat::answers::{ReviewState, ReviewVerdict};
use karat::document;
use karat::document::figure::Section;
use karat::leaderboard::{Ranking, Settings};
use karat::look_alikes;
use karat::pages;
use karat::rows::{Row, Rows};
use karat::standing::Answer as Standings;
use karat::standing::notes::{changes_ahead, percent, states};
use karat::text::{Tone, Writing, count, list};
use karat_core::scorecard::Scorecard;
use karat_standing::stand::SubjectStanding;

use super::items::{self, Found};
use super::items::{given, timestamp};
use super::layout::*;
use super::leaderboard;
use crate::prelude::*;
use crate::select::{Marks, Selection, marks};
use crate::standing::{Question, answered};

const ITEMS: usize = 25;

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Asked {
    name: Option<String>,
    card: Option<String>,
    as_of: Option<String>,
    page: Option<usize>,
}

/// Shows the page of the subject that the query names.
pub async fn named(reading: Get, Params(asked): Params<Asked>) -> Answer {
    let name = asked.name.clone().unwrap_or_default();
    show(reading, Named(name), Params(asked)).await
}

pub async fn show(Get(app, caller): Get, Named(name): Named<String>, Params(asked): Params<Asked>) -> Answer {
    let cards = cards_of(&app, &name).await?;
    let wanted = given(asked.card.as_deref()).map(|card| app.memory.cards().find_used(card)).transpose()?;
    let none = || Problem::unknown("record of", &name, "");
    let pool = wanted.or_else(|| cards.first().map(Arc::clone)).ok_or_else(none)?;
    let card = pool.name();
    let found = items::rows(&app, &card, Some(&name)).await?;
    let as_of = timestamp("as_of", asked.as_of.as_deref())?;
    let as_of = as_of.unwrap_or_else(|| app.moment());
    let standing = match pool.card.standing {
        Some(_) => Some(stands(&app, &pool, &name, as_of).await?),
        None => None,
    };
    let (own, size) = (name.clone(), *app.memory.size().borrow());
    let of_card = card.clone();
    let has_standing = pool.card.standing.is_some();
    let counted = app.indexed(move |app, index| {
        let selection = Selection { subject: Some(own.clone()), ..Selection::of_card(&of_card) };
        let marked = marks(app, index, &selection, size)?.remove(&own);
        // The notes on a standing say it, too.
        let looks = app.memory.looks.of(index, (!has_standing).then_some(own.as_str()), size);
        let alike = look_alikes::sentences([(own.as_str(), looks.of(&own))]);
        Ok(marked.iter().flat_map(Marks::sentences).chain(alike).collect::<Vec<String>>())
    });
    let counted = counted.await?;
    let page = asked.page.unwrap_or(1).max(1);
    let title = format!("{name} under {card}");
    let lead = pool.card.title.clone();
    let shown = name.clone();
    let body = app
        .checked(move || {
            let rows = found.rows.as_ref().ok_or_else(none_of(&shown, &pool))?;
            Ok(html! {
                (choice(&shown, &pool, &cards))
                (notes(&counted))
                @match standing { Some(standing) => (standing), None => (means(rows, &leaderboard::settings(&pool))) }
                (evidence(&shown, rows, &found, &pool, page))
            })
        })
        .await?;
    let content = html! { (heading(&[("/", "Leaderboard")], &name, &lead)) (body) };
    Ok(Sheet { title: &title, part: "/", caller: Some(&caller) }.answer(content))
}

fn none_of<'a>(name: &'a str, pool: &'a ScorerPool) -> impl Fn() -> Problem + 'a {
    move || {
        Problem::not_found(format!("there is no record of `{}` under {}", name.escape_debug(), pool.name()))
    }
}

/// Returns the scorecards that scored this subject, the one with its newest record first.
async fn cards_of(app: &Arc<App>, name: &str) -> Result<Vec<Arc<ScorerPool>>, Problem> {
    let name = name.to_owned();
    app.indexed(move |app, index| {
        let Some(subject) = index.number(&name) else { return Ok(Vec::new()) };
        let mut numbers: Vec<u32> = Vec::new();
        for row in index.rows(u64::MAX).rev().filter(|row| row.subject == subject) {
            if !numbers.contains(&row.card) {
                numbers.push(row.card);
            }
        }
        let cards = app.memory.cards();
        Ok(numbers.iter().filter_map(|number| cards.find(index.name(*number)).ok()).collect())
    })
    .await
}

/// Shows links to the other scorecards of the subject.
fn choice(name: &str, pool: &ScorerPool, cards: &[Arc<ScorerPool>]) -> Markup {
    html! {
        nav.pages aria-label="Scorecards of this subject" {
            @for card in cards {
                @let own = card.name();
                a href=(address::subject(name, Some(&own))) aria-current=[(own == pool.name()).then_some("page")] { (own) }
            }
        }
    }
}

/// Shows the standing of the subject at a timestamp, with the decisions in the log about it.
async fn stands(
    app: &Arc<App>,
    pool: &Arc<ScorerPool>,
    name: &str,
    as_of: Timestamp,
) -> Result<Markup, Problem> {
    let size = *app.memory.size().borrow();
    let question = Question::new(Arc::clone(pool), vec![name.to_owned()], as_of, size);
    let tell = |answer: &Standings<'_>, shown: &[SubjectStanding]| match shown.first() {
        None => html! { p.care { "No item counts up to " time { (answer.as_of.to_string()) } "." } },
        Some(standing) => {
            let page = karat::write::html::page(&document::standing(answer, shown, false));
            html! {
                (numbers(standing, answer.card))
                (notes(&foot(answer)))
                (told_of(standing))
                (next_tier(standing))
                // The first section is a table of subjects, whose numbers are shown above instead.
                (sections(page.sections.get(1..).unwrap_or_default()))
                (score_changes(standing))
            }
        }
    };
    match answered(app, question, tell).await {
        Err(problem) if problem.code == Code::Unanswerable => {
            Ok(html! { p.care { "There is no standing: " (problem.detail) "." } })
        }
        answered => answered,
    }
}

fn sections(sections: &[Section]) -> Markup {
    html! {
        @for (at, section) in sections.iter().enumerate() {
            section aria-labelledby=(format!("s{at}")) {
                h2 id=(format!("s{at}")) { (section.heading) }
                @for line in &section.text { p { (line) } }
                @for (place, it) in section.figures.iter().enumerate() {
                    div.figure { (figure(&format!("s{at}f{place}"), it)) }
                }
            }
        }
    }
}

fn numbers(standing: &SubjectStanding, card: &Scorecard) -> Markup {
    let writing = Writing::of(card.scale.max);
    let score = official_points(standing).map(|points| match standing.review {
        Some(_) => points.to_string(),
        None => writing.number(points / writing.value(1.0)),
    });
    let is_held = standing.review.as_ref().is_some_and(|review| review.history.is_under_review());
    html! {
        dl.figures {
            div {
                dt { "official score" }
                dd { @match score { Some(score) => { (score) " " small { "of " (card.scale.max) } }, None => "no score" } }
            }
            @if let Some(tier) = &standing.tier { div { dt { "tier" } dd { (tier.name.as_deref().unwrap_or("none")) } } }
            @if let Some(interval) = &standing.interval { div { dt { "interval" } dd { (writing.ends(interval.interval.map(|it| (it.low, it.high)))) } } }
            @if let Some(share) = standing.share { div { dt { "share" } dd { (percent(share.share.units())) } } }
            div { dt { "items that count" } dd { (standing.counts.in_window) " " small { "of " (standing.counts.seen) } } }
            @if is_held { div { dt { "review" } dd { span.state.care { "under review" } } } }
            @if standing.is_on_hold { div { dt { "state" } dd { span.state.care { "on hold" } } } }
        }
    }
}

/// Shows notes on the standing, except for the next tier.
fn told_of(standing: &SubjectStanding) -> Markup {
    let lines: Vec<(Tone, String)> = states(standing).into_iter().chain(changes_ahead(standing)).collect();
    html! {
        @if !lines.is_empty() {
            ul.sentences { @for (tone, line) in &lines { li.care[*tone != Tone::Plain] { (words(line)) } } }
        }
    }
}

/// Shows the conditions that the next tier still needs.
fn next_tier(standing: &SubjectStanding) -> Markup {
    let Some((tier, next)) =
        standing.tier.as_ref().and_then(|tier| Some((tier, tier.earned.next.as_deref()?)))
    else {
        return html! {};
    };
    let missing: Vec<String> = tier.earned.missing.iter().map(ToString::to_string).collect();
    section(
        "tier",
        "The next tier",
        html! {
            @match missing.as_slice() {
                [] => p { "Nothing is in the way of " b { (next) } "." },
                [only] => p { "One thing is in the way of " b { (next) } ": " (only) "." },
                several => {
                    p { (several.len()) " things are in the way of " b { (next) } ":" }
                    ul.sentences { @for line in several { li { (line) } } }
                }
            }
        },
    )
}

/// Shows the changes of the score, the newest first, with what reviewers decided.
fn score_changes(standing: &SubjectStanding) -> Markup {
    /// The number of changes that are shown; the API has all of them.
    const SHOWN: usize = 50;
    let changes = standing.review.as_ref().map(score_history).unwrap_or_default();
    if changes.is_empty() {
        return html! {};
    }
    let row = |change: &ScoreChange| {
        let decided: Vec<String> = change
            .decisions
            .iter()
            .map(|it| {
                let verdict = match it.verdict {
                    ReviewVerdict::Approve => "approved",
                    ReviewVerdict::Reject => "rejected",
                };
                format!("{verdict} by {} at {}: {}", it.reviewer, it.time, it.reason)
            })
            .collect();
        let is_open = change.review_state == ReviewState::PendingReview;
        let decided = match decided.as_slice() {
            [] if is_open => absent("no one yet"),
            [] => absent("no one"),
            all => Cell::Text(list(all)),
        };
        let flags = [(change.was_anomalous, "a swing"), (change.was_cumulative, "many changes together")];
        let flags: Vec<&str> = flags.iter().filter(|(is_set, _)| *is_set).map(|(_, name)| *name).collect();
        line([
            text(&change.time),
            text_or(change.before, "none"),
            text(change.after),
            text(&change.cause),
            Cell::Text(if flags.is_empty() { String::from("no") } else { flags.join(", ") }),
            Cell::Text(format!("{}, {}", change.review_state.name().replace('_', " "), change.since)),
            decided,
        ])
    };
    let all = count(changes.len(), "change");
    let shown = if changes.len() > SHOWN {
        format!("The newest {SHOWN} of {all}")
    } else {
        format!("{all}, the newest first")
    };
    let table = grid(
        format!(
            "{shown}. A swing that is too large is held until reviewers decide, or until the deadline passes"
        ),
        "=when | #before | #after | cause | flagged | state | decided",
        changes.iter().rev().take(SHOWN).map(row).collect(),
    );
    table_section("score-history", "Score history", table)
}

/// Shows the profile and the history of a subject whose card has no standings.
fn means(rows: &Rows, settings: &Settings) -> Markup {
    let all: Vec<usize> = (0..rows.rows.len()).collect();
    let board = match Ranking::new(rows, &all, None, settings) {
        Ok(ranking) => Leaderboard::of_resamples(rows, &ranking, settings),
        Err(why) => return html! { p.care { "There is no mean: " (why) "." } },
    };
    let writing = Writing::of(rows.scale.max);
    let found: Vec<Section> =
        pages::profiles(rows, &board).into_iter().chain(pages::history(rows, &[0], settings)).collect();
    html! {
        @if let Some(row) = board.rows.first() {
            dl.figures {
                div { dt { "mean score" } dd { (writing.number(row.score.mean)) " " small { "of " (rows.scale.max) } } }
                div { dt { "interval" } dd { (writing.ends(row.score.interval())) } }
                div { dt { "tasks" } dd { (row.tasks) } }
            }
        }
        (sections(&found))
    }
}

/// Shows the items, the newest first.
fn evidence(name: &str, rows: &Rows, found: &Found, pool: &ScorerPool, page: usize) -> Markup {
    let mut all: Vec<&Row> = rows.rows.iter().collect();
    all.sort_by_key(|row| std::cmp::Reverse((row.time(), items::position(rows, row))));
    let writing = Writing::of(rows.scale.max);
    let has_gates = all.iter().any(|row| !row.gates().is_empty());
    let row = |row: &&Row| {
        let address = address::record(items::position(rows, row));
        let coverage = row.coverage() as f64 / 1e9;
        line([
            Cell::Link(rows.id(row).to_owned(), address),
            text_or(row.time(), "not said"),
            text_or(rows.stated_task(row), "not said"),
            text_or(row.outcome.map(|it| it.name()), "not said"),
            text_or(row.score().map(|it| writing.number(it.billionths() as f64 / 1e9)), "none"),
            Cell::Share(coverage),
            if row.gates().is_empty() { Cell::Text(String::new()) } else { Cell::Text(list(row.gates())) },
        ])
    };
    let pages = all.len().div_ceil(ITEMS).max(1);
    let page = page.min(pages);
    let gates = if has_gates { " | gates" } else { "" };
    let table = grid(
        format!("{}, the newest first", count(all.len(), "item")),
        &format!("=item | when | task | ended | #score | %coverage{gates}"),
        all.iter().skip((page - 1) * ITEMS).take(ITEMS).map(row).collect(),
    );
    let card = pool.name();
    let to = |page: usize| {
        let page = page.to_string();
        let own = address::subject(name, Some(&card));
        format!("{own}&page={page}#evidence")
    };
    section(
        "evidence",
        "Evidence",
        html! {
            (figure("evidence-figure", &Figure::Table(table)))
            (turn("evidence", ["Newer", "Older"], (page, pages), to))
            @if found.unread > 0 { p.care { (found.unread) " older records are left out." } }
        },
    )
}
