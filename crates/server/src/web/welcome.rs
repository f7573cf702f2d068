//! First steps, shown while there is nothing else: commands that work as they are.

use super::layout::*;
use crate::prelude::*;

/// The scorecard of the first item: its score is the share that was solved, so nothing in it has to be explained.
const CARD: &str = "run@1.0.0";

/// Shows the page of a server without records; the first item takes place now.
pub fn page(host: &str, now: Timestamp) -> Markup {
    let item = format!(
        r#"'{{"subject":"my-agent","id":"run-1","task":"task-1","time":"{now}","solved":1,"cost_usd":0.02,"seconds":41}}'"#
    );
    let lead = "Send the result of a run, and the leaderboard appears here.";
    html! {
        (heading(&[], "Nothing is scored yet", lead))
        (section("first", "A first score, in one command", html! {
            pre { code { (line(host, CARD, &item)) } }
            p { code { "KARAT_KEY" } " is the key that " code { "karat serve" } " showed when it started for the first time; with "
                code { "--key-file" } " it is in that file. It makes all other keys, and the server keeps only its hash." }
            p { "The task was solved, so the score is 100 of 100. Each line that is sent is scored at once, by the scorecard that it "
                "names, and stored in the log with its record." }
        }))
        (section("next", "Then", html! {
            ul.sentences {
                li { a href="/scorecards" { "The scorecards" } " say what evidence they read." }
                li { "Many items go in one body, one per line, as " code { "application/x-ndjson" } ": " a href="/api" { "the API" } "." }
            }
        }))
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

/// Returns a command for a shell.
fn line(host: &str, card: &str, body: &str) -> String {
    format!(
        "curl -H \"authorization: Bearer $KARAT_KEY\" -H 'content-type: application/json' \\\n  \
         'http://{host}/v1/evidence?card={}' \\\n  --data {body}",
        address::part(card)
    )
}
