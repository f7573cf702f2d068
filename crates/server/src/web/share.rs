//! Views for other sites: a leaderboard in a frame, the picture of a link, a badge; and the lines to copy.

use axum::http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY};
use karat::answers::leaderboard::LeaderboardAnswer;
use karat::answers::leaderboard::method::Page;
use karat::document::{self, LeaderboardView, Part};
use karat::headline::day;
use karat::write::html::{self, safe};
use karat::write::picture::Picture;
use maud::DOCTYPE;

use super::items::linked;
use super::layout::*;
use super::leaderboard;
use crate::api::bytes;
use crate::api::leaderboards::Pages;
use crate::guard::RESOURCE_POLICY;
use crate::prelude::*;

/// The most rows of an embedded leaderboard.
const ROWS: usize = 10;

/// Returns what sites read that show a link to a page: its title, a sentence, and the picture of its leaderboard.
pub(super) fn card(origin: &str, title: &str, pool: &ScorerPool) -> Markup {
    let picture = address::query("/leaderboards/picture.png", &[("card", &pool.name())]);
    let about = format!("{}: {}", pool.card.title, karat::headline::card(&pool.card).text);
    let picture = format!("{origin}{picture}");
    html! {
        @for (name, content) in [
            ("og:type", "website"), ("og:title", title), ("og:description", &about), ("og:image", &picture),
            ("og:image:width", "1200"), ("og:image:height", "630"),
        ] { meta property=(name) content=(content); }
        meta name="twitter:card" content="summary_large_image";
    }
}

/// Shows the line that embeds a leaderboard.
pub(super) fn to_embed(origin: &str, pool: &ScorerPool) -> Markup {
    let line = format!(
        "<iframe src=\"{origin}{}\" title=\"Leaderboard\" width=\"100%\" height=\"640\"></iframe>",
        embed_address(pool)
    );
    section(
        "share",
        "Show it elsewhere",
        html! { p { "The leaderboard alone, for another page:" } pre { code { (line) } } },
    )
}

/// Shows the lines that put the badge of a subject elsewhere; it leads to this page.
pub(super) fn badge(origin: &str, pool: &ScorerPool, subject: &str) -> Markup {
    let picture =
        address::query("/v1/badge", &[("card", &pool.name()), ("subject", subject), ("show", "full")]);
    let (image, page) =
        (format!("{origin}{picture}"), format!("{origin}{}", address::subject(subject, Some(&pool.name()))));
    section(
        "badge",
        "Badge",
        html! {
            p { "Markdown:" }
            pre { code { "[![score](" (image) ")](" (page) ")" } }
            p { "HTML:" }
            pre { code { "<a href=\"" (page) "\"><img src=\"" (image) "\" alt=\"score\"></a>" } }
        },
    )
}

fn embed_address(pool: &ScorerPool) -> String {
    format!("/embed/{}", address::part(&pool.name()))
}

/// Returns the answer that the page of a leaderboard shows first.
async fn answer(app: &Arc<App>, pool: &ScorerPool, size: u64) -> Result<LeaderboardAnswer, Problem> {
    let pages = Pages { pairs: Page::ALL, means: Page { skip: 0, limit: leaderboard::ROWS } };
    Ok(leaderboard::made(app, pool, "", size, pages).await?.answer)
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pictured {
    card: String,
}

/// Draws the picture of a leaderboard.
pub async fn picture(Get(app, _): Get, Params(asked): Params<Pictured>) -> Answer {
    let pool = app.memory.cards().find_used(&asked.card)?;
    let (size, today) = (*app.memory.size().borrow(), day(&app.moment().to_string()));
    let key = format!("picture {size} {today} {}", pool.name());
    let known = match app.answers.get(&key) {
        Some(known) => known,
        None => {
            let answer = answer(&app, &pool, size).await?;
            let drawn = app.checked(move || {
                let document = document::leaderboard(&answer, LeaderboardView::default());
                Picture::of(&document, Some(&today))
                    .png()
                    .ok_or_else(|| Problem::internal(&"a picture has no memory"))
            });
            app.answers.put(key, drawn.await?)
        }
    };
    let mut response = bytes(StatusCode::OK, "image/png", known.to_vec());
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("max-age=60"));
    if app.options.is_public {
        response.headers_mut().insert(RESOURCE_POLICY, HeaderValue::from_static("cross-origin"));
    }
    Ok(response)
}

/// Shows a leaderboard alone, for a frame on a page of another site. It takes no cookie: every visitor sees the same.
pub async fn embed(Get(app, _): Get, Named(card): Named<String>) -> Answer {
    let pool = app.memory.cards().find_used(&card)?;
    let size = *app.memory.size().borrow();
    let key = format!("embed {size} {}", pool.name());
    let known = match app.answers.get(&key) {
        Some(known) => known,
        None => {
            let answer = answer(&app, &pool, size).await?;
            let own = Arc::clone(&pool);
            let drawn = app.checked(move || Ok(safe(board(&answer, &own).into_string()).into_bytes()));
            app.answers.put(key, drawn.await?)
        }
    };
    let frames = match app.options.frames.as_slice() {
        [] if app.options.is_public => String::from("*"),
        [] => String::from("'none'"),
        listed => listed.join(" "),
    };
    let policy = format!(
        "default-src 'none'; style-src 'self'; img-src 'self'; font-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors {frames}"
    );
    let mut response = bytes(StatusCode::OK, "text/html; charset=utf-8", known.to_vec());
    let policy = HeaderValue::from_str(&policy).map_err(|error| Problem::internal(&error))?;
    response.headers_mut().insert(CONTENT_SECURITY_POLICY, policy);
    response.headers_mut().insert(RESOURCE_POLICY, HeaderValue::from_static("cross-origin"));
    Ok(response)
}

fn board(answer: &LeaderboardAnswer, pool: &ScorerPool) -> Markup {
    let document = document::leaderboard(answer, LeaderboardView::default());
    let table = document.parts.iter().find_map(|part| match part {
        Part::Table(table) => Some(linked(table.clone(), &pool.name())),
        _ => None,
    });
    let all = table.as_ref().map_or(0, |table| table.rows.len());
    let table = table.map(|mut table| {
        table.rows.truncate(ROWS);
        table
    });
    let address = address::leaderboard(&pool.name());
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                (head_of(html::heading(&document)))
                base target="_blank";
            }
            body {
                main.wrap {
                    (html::opening(html! { (words(&document.title)) }, &document))
                    @if let Some(table) = &table { (figure("b", table)) }
                    p.s {
                        @if all > ROWS { "The first " (ROWS) ". " }
                        a href=(address) { "The whole leaderboard, with every record behind it" }
                    }
                }
            }
        }
    }
}
