//! One subject under one scorecard: its standing, how that came about, what is missing, and every item of evidence.

use karat::answers::LeaderboardMethod;
use karat::answers::basis::Basis;
use karat::answers::leaderboard::Leaderboard;
use karat::answers::leaderboard::method::{Page, answer};
use karat::answers::notes::foot;
use karat::answers::standing::Standing;
use karat::document::figure::{beside_the_field, history, profiles};
use karat::document::{self, Document};
use karat::headline::sentence;
use karat::leaderboard::{Ranking, Settings};
use karat::look_alikes;
use karat::rows::{Row, Rows};
use karat::standing::Answer as Standings;
use karat::text::{Writing, count, list};
use karat::write::html;
use karat_standing::stand::SubjectStanding;

use super::items::{self, Found};
use super::items::{given, timestamp};
use super::layout::*;
use super::{leaderboard, share};
use crate::api::leaderboards::of_scorecard;
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
pub async fn named(reading: Get, headers: HeaderMap, Params(asked): Params<Asked>) -> Answer {
    let name = asked.name.clone().unwrap_or_default();
    show(reading, headers, Named(name), Params(asked)).await
}

pub async fn show(
    Get(app, caller): Get,
    headers: HeaderMap,
    Named(name): Named<String>,
    Params(asked): Params<Asked>,
) -> Answer {
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
    // As it is now: of another time there is no leaderboard beside it.
    let board = match of_scorecard(&app, card.clone()).await {
        Err(problem) if problem.code != Code::Unanswerable => return Err(problem),
        answer => answer.ok().filter(|_| asked.as_of.is_none()),
    };
    let page = asked.page.unwrap_or(1).max(1);
    let (shown, origin) = (name.clone(), address::origin(&app.options, &headers));
    let (title, head, content) = app
        .checked(move || {
            let rows = found.rows.as_ref().ok_or_else(none_of(&shown, &pool))?;
            let above =
                above(&[("/", "Home"), ("/leaderboards", "Leaderboards")], choice(&shown, &pool, &cards));
            let (title, top) = match standing {
                Some(standing) => standing,
                None => means(&shown, found.together.as_ref().unwrap_or(rows), &leaderboard::settings(&pool)),
            };
            let (head, badge) = (share::card(&origin, &title, &pool), share::badge(&origin, &pool, &shown));
            let boards = board.iter().flat_map(|answer| &answer.leaderboards);
            let parts = boards.flat_map(|board| beside_the_field(board, &shown)).collect();
            let field = body("f", &Document { parts, ..Document::default() });
            let evidence = evidence(&shown, rows, &found, &pool, page);
            Ok((title, head, html! { (above) (top) (field) (notes(&counted)) (evidence) (badge) }))
        })
        .await?;
    Ok(Sheet { title: &title, part: "/leaderboards", caller: Some(&caller) }.answer_shared(head, content))
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

/// Shows links to the scorecards of the subject.
fn choice(name: &str, pool: &ScorerPool, cards: &[Arc<ScorerPool>]) -> Markup {
    html! {
        @for card in cards {
            @let own = card.name();
            a href=(address::subject(name, Some(&own))) aria-current=[(own == pool.name()).then_some("page")] { (card.card.title) }
        }
    }
}

/// Shows the standing of the subject at a timestamp: its title, and what there is to see.
async fn stands(
    app: &Arc<App>,
    pool: &Arc<ScorerPool>,
    name: &str,
    as_of: Timestamp,
) -> Result<(String, Markup), Problem> {
    let size = *app.memory.size().borrow();
    let question = Question::new(Arc::clone(pool), vec![name.to_owned()], as_of, size);
    let (own, heads) = (name.to_owned(), app.cosigned.heads().of_witnesses().len());
    let tell = move |answer: &Standings<'_>, shown: &[SubjectStanding]| match shown.first() {
        None => missing(&own, &format!("no item counts up to {}", answer.as_of)),
        Some(first) => {
            let document = document::standing(answer, shown, true);
            let told = Standing::new(answer, first);
            (html::heading(&document).to_owned(), of_standing(&document, &told, &foot(answer), heads))
        }
    };
    match answered(app, question, tell).await {
        Err(problem) if problem.code == Code::Unanswerable => Ok(missing(name, &problem.detail)),
        answered => answered,
    }
}

fn missing(name: &str, why: &str) -> (String, Markup) {
    let title = format!("{name} has no score");
    let content = heading(&[], &title, &sentence(why));
    (title, content)
}

/// Shows a standing: the official score and its tier, the ladder beside it, and below whatever led there.
fn of_standing(document: &Document, it: &Standing, foot: &[String], heads: usize) -> Markup {
    let json = format!(
        "/v1/standings/{}?card={}&as_of={}",
        address::part(&it.subject),
        address::part(&it.scorecard.name()),
        address::part(&it.as_of)
    );
    let results = count(usize::try_from(it.items.given).unwrap_or(usize::MAX), "result");
    html! {
        (html::opening(html! { (it.subject) " by " (it.scorecard.name()) " at " (told(&it.as_of)) }, document))
        (trust_strip(&[(true, format!("{results} in a signed log")), witnessed(heads, "the log")], "#evidence"))
        div data-answer=(json) {
            (notes(foot))
            (body("s", document))
            (acts(&[(json.clone(), "JSON"), (badge(it), "Badge")]))
        }
        (html::reproduce(document))
    }
}

fn badge(it: &Standing) -> String {
    address::query("/v1/badge", &[("card", &it.scorecard.name()), ("subject", &it.subject)])
}

/// Shows the profile and the history of a subject whose card has no standings.
fn means(name: &str, rows: &Rows, settings: &Settings) -> (String, Markup) {
    if let Some(why) = rows.left_out.values().next() {
        return missing(name, &why.to_string());
    }
    let all: Vec<usize> = (0..rows.rows.len()).collect();
    let board = match Ranking::new(rows, &all, None, settings) {
        Ok(ranking) => Leaderboard::of_ranking(rows, &ranking, settings),
        Err(why) => return missing(name, &why.to_string()),
    };
    let answer = answer(Basis::new(rows, settings), LeaderboardMethod::Pairs, None, vec![board], Page::ALL);
    let headline = answer.leaderboards.first().map(|board| karat::headline::subject(board, &answer.basis));
    let headline = headline.unwrap_or_default();
    let boards = answer.leaderboards.iter().flat_map(|board| profiles(rows, board));
    let parts = boards.chain(history(rows, &[0], settings)).collect();
    let document = Document { parts, headline, title: name.to_owned(), ..Document::default() };
    let content = html! { (html::opening(html! { "mean of runs" }, &document)) (body("s", &document)) };
    (html::heading(&document).to_owned(), content)
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
            (figure("evidence-figure", &table))
            (turn("evidence", ["Newer", "Older"], (page, pages), to))
            @if found.unread > 0 { p.care { (found.unread) " older records are left out." } }
        },
    )
}
