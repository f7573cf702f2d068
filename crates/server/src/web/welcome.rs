//! First steps, shown while there is nothing else: commands that work as they are.

use super::layout::*;
use crate::prelude::*;
use axum::http::header::HOST as HOST_HEADER;

/// An item that the card of the command below scores.
const ITEM: &str = r#"{"subject":"my-agent","id":"run-1","time":"2026-01-31T12:00:00Z","dimensions":{"accuracy":0.91,"safety":0.97}}"#;
/// The default address of the server.
const HOST: &str = "localhost:7373";

/// Shows the page of a server without records.
pub fn page(host: &str) -> Markup {
    html! {
        h1 { "No records yet" }
        p.lead { "Send evidence, and the leaderboard appears here." }
        (next(host, "trust@1.0.0", ITEM))
        p { "Each line is scored at once, by the scorecard that it names, and stored in the log with its record. "
            a href="/scorecards" { "The scorecards" } " say what evidence they read." }
    }
}

/// Shows the first steps for a scorecard without records.
pub fn nothing(host: &str, pool: &ScorerPool) -> Markup {
    html! {
        div.empty {
            p { b { "No runs match these filters." } " Remove a filter, or send evidence under "
                a href=(address::scorecard(&pool.name())) { (pool.name()) } ":" }
            pre { code { (line(host, &pool.name(), "@evidence.json")) } }
        }
    }
}

fn next(host: &str, card: &str, item: &str) -> Markup {
    html! {
        div.empty {
            p { "With the key that the server showed when it started for the first time:" }
            pre { code { (line(host, card, &format!("'{item}'"))) } }
            p { "Send many items in one body, one per line: " code { "content-type: application/x-ndjson" } "." }
        }
    }
}

/// Returns a command for a shell.
fn line(host: &str, card: &str, body: &str) -> String {
    format!(
        "curl -H \"authorization: Bearer $KARAT_KEY\" -H 'content-type: application/json' \\\n  \
         'http://{host}/v1/evidence?card={}' \\\n  --data {body}",
        address::part(card)
    )
}

/// Returns the host by which the visitor reached the server, safe for a shell.
pub fn host(headers: &HeaderMap) -> String {
    let host = headers.get(HOST_HEADER).and_then(|host| host.to_str().ok()).unwrap_or(HOST);
    let is_plain = host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".:-[]".contains(&byte));
    if is_plain { host.to_owned() } else { HOST.to_owned() }
}
