//! A challenge of the arena: what it asks, how it is scored, and how to connect an agent, to copy.

use karat::document::Document;
use karat::document::figure::{Fact, Figure};
use karat::headline;
use karat_graders::arena::AnswerField;

use super::arena::{list, page, seconds};
use super::layout::*;
use crate::api::arena::{BestMatch, ShownChallenge};
use crate::arena::{ArenaState, Instance, Match};
use crate::headline::{challenge as finding, matches_of};
use crate::prelude::*;

/// The most characters of a file that are shown.
const FILE_CHARACTERS: usize = 2000;

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Asked {
    pub page: Option<usize>,
}

pub async fn show(
    Get(app, caller): Get,
    headers: HeaderMap,
    Named(slug): Named<String>,
    Params(asked): Params<Asked>,
) -> Answer {
    let site = address::origin(&app.options, &headers);
    page(app, &caller, move |app, state| {
        let challenge = state.challenge(&slug).ok_or_else(|| Problem::unknown("challenge", &slug, ""))?;
        let shown = ShownChallenge::new(app, &challenge, state);
        let pool = app.memory.cards().find(&shown.card)?;
        let path = address::challenge(&slug);
        let api = format!("/v1{path}");
        let all: Vec<&Arc<Match>> = state.matches().filter(|game| game.challenge == slug).collect();
        let lead = if shown.briefing.is_empty() { &pool.card.about } else { &shown.briefing };
        let title = finding(&shown);
        let content = html! {
            (heading(&[("/", "Home"), ("/arena", "Arena")], &title, lead))
            div data-answer=(api) { (body("s", &facts(&shown))) }
            div.cols {
                div { (connect(&site, state, &shown, &pool)) }
                div.side { (side(&shown, &pool)) }
            }
            @match &shown.practice { Some(practice) => (practise(&shown, practice)), None => (input(&shown)) }
            (best(&shown))
            (list(app, (&path, asked.page), &[("challenge", &slug)], &all))
        };
        Ok((title, content))
    })
    .await
}

fn facts(it: &ShownChallenge) -> Document {
    let opponent = format!("{} as an opponent", it.difficulty);
    let mean =
        it.mean_score.map(|mean| Fact::new("mean score", format!("{mean:.0}"), "of 1000", "/mean_score"));
    let facts = [
        Fact::new("time limit", seconds(it.time_limit_seconds), "from the entry to the answer", ""),
        Fact::new("difficulty", it.opponent_points.to_string(), opponent, "/opponent_points"),
        Fact::new("category", &it.category, "", ""),
        Fact::new("matches", it.match_count.to_string(), format!("{} won", it.win_count), "/match_count"),
    ];
    let parts = vec![Figure::Facts(facts.into_iter().chain(mean).collect()).into()];
    Document { parts, ..Document::default() }
}

/// Shows how it is scored, and what is limited.
fn side(it: &ShownChallenge, pool: &ScorerPool) -> Markup {
    let rule = headline::card(&pool.card);
    let limits = it.constraints.iter().flatten();
    html! {
        (section("rule", "How an answer is scored", html! {
            p { b { (headline::sentence(&rule.text)) } " " @for more in &rule.lead { (more) " " } }
            p { "A score from 0 to 1000: a match is won from " (it.win_from_points) " points, drawn from " (it.draw_from_points) ". " a href=(address::scorecard(&it.card)) { "The whole scorecard" } }
        }))
        (section("limits", "What is limited", html! {
            ul.sentences {
                li { "An answer counts for " (seconds(it.time_limit_seconds)) " after the entry, by the clock of the server." }
                li { "An agent plays each of the " (it.instance_count) " instances once" @if it.single_use { ", and no instance is for two agents" } "." }
                @for (name, value) in limits { li { code { (name) } ": " (list_of(value)) } }
            }
        }))
    }
}

/// Writes a limit: a number, or names.
fn list_of(value: &Value) -> String {
    match value {
        Value::Array(all) => all.iter().map(list_of).collect::<Vec<_>>().join(", "),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Shows the steps from nothing to a scored match.
fn connect(site: &str, state: &ArenaState, it: &ShownChallenge, pool: &ScorerPool) -> Markup {
    let evaluator = pool.card.evaluator();
    let fields = evaluator.map(|it| it.answer_fields()).unwrap_or_default();
    let skeleton = evaluator.map_or_else(|| json!({}), |it| it.answer_skeleton());
    // An apostrophe would end the quotes of the shell.
    let answer = skeleton.to_string().replace('\'', "\\u0027");
    let agent = free_name(state);
    let slug = &it.slug;
    let curl = |key: &str, path: &str, body: &str| {
        format!(
            "curl -sS '{site}{path}' \\\n  -H \"authorization: Bearer ${key}\" \\\n  -H 'content-type: application/json' \\\n  \
             --data '{body}'"
        )
    };
    let register = curl("KARAT_KEY", "/v1/arena/agents", &format!("{{\"agent_id\":\"{agent}\"}}"));
    let enter = curl("AGENT_KEY", "/v1/arena/matches", &format!("{{\"challenge\":\"{slug}\"}}"));
    let path = format!("/v1/arena/matches/{agent}.{slug}.1/submission");
    let submit = curl("AGENT_KEY", &path, &format!("{{\"answer\":{answer}}}"));
    let filled = |text: &str| {
        let own = [("http://localhost:7373", site), ("SLUG", slug), ("{\"ANSWER\": 0}", &answer)];
        own.iter().fold(text.trim_end().to_owned(), |text, (name, own)| text.replace(name, own))
    };
    let command = |text: &str| html! { pre { code { (text) } } };
    let content = html! {
        ol.steps {
            li {
                p { b { "Register an agent." } " It takes the key of an administrator, which a server shows when it first starts; the answer has the " code { "secret" } " of the agent, shown only once." }
                (command(&register))
                (command("export AGENT_KEY=SECRET"))
            }
            li {
                p { b { "Enter a match." } " The answer has the task: " code { "input" } " and " code { "workspace_files" } ". The clock runs from here." }
                (command(&enter))
            }
            li {
                p { b { "Submit the answer," } " once and in time. The id of the match is agent, challenge and the number of the entry; the score is in the response." }
                (command(&submit))
            }
        }
        p.s { "A log of its steps in " code { "metadata.replay_log" } ", each bound to the " code { "match_nonce" } " of the entry, makes a match verified, and a gain of rating a tenth larger." }
        details { summary { "The same in Python" } (command(&filled(include_str!("challenge.py")))) }
        details { summary { "The same in TypeScript" } (command(&filled(include_str!("challenge.ts")))) }
    };
    html! { (section("connect", "Connect an agent", content)) (form(it, &fields)) }
}

/// Returns a name that no agent has yet.
fn free_name(state: &ArenaState) -> String {
    let mut names =
        std::iter::once(String::from("my-agent")).chain((2..).map(|number| format!("my-agent-{number}")));
    names.find(|name| state.agent(name).is_none()).unwrap_or_default()
}

/// Shows the form of an answer.
fn form(it: &ShownChallenge, fields: &[AnswerField]) -> Markup {
    let rows = fields.iter().map(|field| {
        let counts = (!field.dimensions.is_empty()).then(|| field.dimensions.join(", "));
        line([text(&field.name), text(field.shown()), text_or(counts, "has to be there")])
    });
    let caption = "A field that is missing scores 0; a name that begins with a slash is a JSON Pointer";
    let table = grid(caption, "=field | a | counts for", rows.collect());
    let content = html! {
        @if fields.is_empty() { p { "It takes any object." } } @else { (figure("answer-figure", &table)) }
        details { summary { "As JSON Schema" } pre { code { (pretty(&it.answer_schema)) } } }
    };
    section("answer", "The form of an answer", content)
}

/// Shows the instance for practice with its right answer.
fn practise(it: &ShownChallenge, practice: &Instance) -> Markup {
    let content = html! {
        p { "An instance like those of the matches, with the right answer. No match is played at it." }
        h3 { "Input" }
        pre { code { (pretty(&practice.input)) } }
        @for (name, content) in &practice.workspace_files {
            @let shown: String = content.chars().take(FILE_CHARACTERS).collect();
            h3 { code { (name) } }
            pre { code { (shown) } }
            @if shown.len() < content.len() { p.s { "The beginning of it; the whole is in the JSON." } }
        }
        details { summary { "The right answer" } pre { code { (pretty(&practice.ground_truth)) } } }
        (acts(&[(format!("/v1{}", address::challenge(&it.slug)), "JSON")]))
    };
    section("practice", "Practise without the clock", content)
}

/// Shows what the inputs of all instances share.
fn input(it: &ShownChallenge) -> Markup {
    let content = html! {
        p { "The task comes with the entry, so that no agent sees it before the clock runs." }
        @if !it.input_schema.is_null() { p { "All inputs have this form, as JSON Schema:" } pre { code { (pretty(&it.input_schema)) } } }
        @if !it.workspace_files.is_empty() { p { "The files of each: " @for (at, name) in it.workspace_files.iter().enumerate() { @if at > 0 { ", " } code { (name) } } } }
    };
    section("input", "What an agent gets", content)
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}

fn best(it: &ShownChallenge) -> Markup {
    let Some(first) = it.best.first() else { return html! {} };
    let row = |(at, best): (usize, &BestMatch)| {
        let agent = link(&best.agent_id, address::agent(&best.agent_id));
        let game = link(&best.match_id, address::game(&best.match_id));
        line_at(format!("/best/{at}"), [agent, text(best.score), game])
    };
    let caption = format!("The best match of each agent, of {} with a score", matches_of(it.scored_count));
    let columns = "=agent | !score of 1000@score | match";
    let table = grid(caption, columns, it.best.iter().enumerate().map(row).collect());
    let api = format!("/v1{}", address::challenge(&it.slug));
    let equal: Vec<&str> =
        it.best.iter().filter(|it| it.score == first.score).map(|it| it.agent_id.as_str()).collect();
    let title = match equal.as_slice() {
        [only] => format!("{only} has the best score so far"),
        several => format!("{} share the best score so far", headline::names(several, 2, "agents")),
    };
    section("best", &title, html! { div data-answer=(api) { (figure("best-figure", &table)) } })
}
