//! The first page, a tile for each leaderboard, and the search for whatever has a name here.

use karat::answers::leaderboard::method::Page;
use karat::headline::{self, Headline};
use karat::text::count;

use super::items::used_cards;
use super::layout::*;
use super::{leaderboard, welcome};
use crate::api::leaderboards::Pages;
use crate::prelude::*;

/// The most boards with a tile; all are under their scorecards.
const TILES: usize = 24;
/// The most names of a kind that a search finds.
const FOUND: usize = 50;

pub async fn show(Get(app, caller): Get, headers: HeaderMap) -> Answer {
    let used = used_cards(&app).await?;
    if used.is_empty() {
        let sheet = Sheet { title: "Nothing is scored yet", part: "/", caller: Some(&caller) };
        return Ok(sheet.answer(welcome::page(&address::host(&headers), app.moment())));
    }
    let mut tiles = Vec::new();
    let mut found = Vec::new();
    for (pool, records) in used.iter().take(TILES) {
        let told = told(&app, pool).await?;
        let address = address::query("/leaderboards", &[("card", &pool.name())]);
        tiles.push(html! {
            li {
                p.s { (pool.card.title) " · " (count(*records, "record")) }
                a href=(address) { (told.text) }
                @for more in told.lead.iter().take(2) { p.s { (words(more)) } }
            }
        });
        found.push(told);
    }
    let Headline { text, lead, .. } = headline::boards(&found);
    let sheet = Sheet { title: &text, part: "/", caller: Some(&caller) };
    Ok(sheet.answer(html! {
        (heading(&[], &text, &lead.join(" ")))
        section aria-label="Leaderboards" {
            ul.tiles { @for tile in &tiles { (tile) } }
            @if used.len() > TILES { p { a href="/scorecards" { "All scorecards" } } }
        }
        (section("check", "Every number here can be checked", html! {
            p { "Each leads to its record, each record to the evidence and the rule it was computed from, and all of them lie in a "
                "signed log. " a href="/verify" { "Check a receipt" } " in your browser, or read " a href="/log" { "the log" } "." }
        }))
    }))
}

/// Returns the headline of the leaderboard of a scorecard, which is kept until the log grows.
async fn told(app: &Arc<App>, pool: &Arc<ScorerPool>) -> Result<Headline, Problem> {
    let size = *app.memory.size().borrow();
    let key = format!("tile {size} {}", pool.name());
    let known = app.answers.get(&key).and_then(|known| serde_json::from_slice(&known).ok());
    if let Some((text, lead, is_clear)) = known {
        return Ok(Headline { text, lead, is_clear });
    }
    let pages = Pages { pairs: Page::ALL, means: Page { skip: 0, limit: leaderboard::ROWS } };
    let told = match leaderboard::made(app, pool, "", size, pages).await {
        Ok(made) => headline::leaderboard(&made.answer),
        Err(problem) if problem.code == Code::Unanswerable => {
            Headline { text: String::from("Nothing is ranked"), lead: vec![problem.detail], is_clear: false }
        }
        Err(problem) => return Err(problem),
    };
    let kept = serde_json::to_vec(&(&told.text, &told.lead, told.is_clear));
    app.answers.put(key, kept.map_err(|error| Problem::internal(&error))?);
    Ok(told)
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Sought {
    q: String,
}

/// Finds subjects, scorecards and challenges by a part of their names.
pub async fn search(Get(app, caller): Get, Params(sought): Params<Sought>) -> Answer {
    let wanted = sought.q.trim().to_lowercase();
    let part = wanted.clone();
    let subjects = app.indexed(move |app, index| {
        let has = |name: &str| !part.is_empty() && name.to_lowercase().contains(&part);
        let numbers: BTreeSet<u32> = index.rows(u64::MAX).map(|row| row.subject).collect();
        let names = numbers.iter().map(|number| index.name(*number)).filter(|name| has(name));
        let agents: Vec<_> = names.map(|name| (address::subject(name, None), name.to_owned())).collect();
        let pools = app.memory.cards();
        let cards = pools.iter().filter(|pool| has(&pool.name()) || has(&pool.card.title));
        let cards = cards.map(|pool| (address::scorecard(&pool.name()), pool.name())).collect();
        let state = app.memory.arena.state();
        let challenges = state.challenges().filter(|it| has(&it.slug) || has(&it.title));
        let challenges = challenges.map(|it| (address::challenge(&it.slug), it.title.clone())).collect();
        Ok([("Agents", agents), ("Scorecards", cards), ("Challenges", challenges)])
    });
    let found = subjects.await?;
    let number: usize = found.iter().map(|(_, all)| all.len()).sum();
    // What has the name itself is where they want to be.
    let mut exact = found.iter().flat_map(|(_, all)| all).filter(|(_, name)| name.to_lowercase() == wanted);
    if let (Some((only, _)), None) = (exact.next(), exact.next()) {
        return see_other(only);
    }
    let title = match number {
        0 => format!("Nothing has {} in its name", sought.q.trim()),
        number => format!("{} with {} in it", count(number, "name"), sought.q.trim()),
    };
    let sheet = Sheet { title: &title, part: "", caller: Some(&caller) };
    Ok(sheet.answer(html! {
        (heading(&[("/", "Home")], &title, ""))
        @for (kind, all) in &found {
            @if !all.is_empty() {
                section aria-label=(kind) {
                    h2 { (kind) }
                    ul.sentences { @for (to, name) in all.iter().take(FOUND) { li { a href=(to) { (name) } } } }
                    @if all.len() > FOUND { p.s { "and " (all.len() - FOUND) " more: a longer part of the name finds fewer" } }
                }
            }
        }
        @if number == 0 { p { "Agents, scorecards and challenges are searched, by any part of their names." } }
    }))
}
