//! One match: its result and why, the score of the answer, the change of the rating, the proof. The answer is shown with records of
//! matches, too.

use karat::answers::Voucher;
use karat::document::breakdown;
use karat::document::figure::{Fact, Figure};
use karat::document::{Document, Part};
use karat::headline::day;
use karat::record::MatchAnswer;
use karat::text::whole_percent;
use karat::write::html;

use super::arena::{page, seconds};
use super::layout::*;
use crate::arena::{Challenge, Drawn, Match, Scored, Settled, State as Played};
use crate::headline::{self, ended, signed};
use crate::prelude::*;

pub async fn show(Get(app, caller): Get, Named(id): Named<String>) -> Answer {
    page(app, &caller, move |app, state| {
        let game = state.game(&id).ok_or_else(|| Problem::unknown("match", &id, ""))?;
        let challenge = state.challenge(&game.challenge);
        let document =
            Document { headline: headline::game(&game), parts: facts(&game), ..Document::default() };
        let (agent, at) = (address::agent(&game.agent_id), address::challenge(&game.challenge));
        let trail = [("/", "Home"), ("/arena", "Arena"), (&at, &game.challenge), (&agent, &game.agent_id)];
        let is_live = matches!(game.state, Played::Entered | Played::Submitted(_));
        let live = is_live.then(|| address::query("/arena/events", &[("agent", &game.agent_id)]));
        let api = format!("/v1{}", address::game(&id));
        let title = challenge.as_ref().map_or(game.challenge.as_str(), |challenge| &challenge.title);
        let content = html! {
            div id="live" data-live=[live] data-now=[is_live.then(|| app.clock.now())] {
                (above(&trail, html! {}))
                (html::opening(html! { (title) ", match " (game.match_id) }, &document))
                @if matches!(game.state, Played::Entered) { p.lead { "An answer counts until " (deadline(&game)) "." } }
                div data-answer=(api) { (body("s", &document)) }
                @if let Played::Scored(scored) = &game.state { (graded(&scored.answer)) }
                @if let Some(settled) = game.settled() { (rating(settled)) }
                (judged(&game, challenge.as_deref()))
                (proof(&game))
                (acts(&[(api, "JSON")]))
            }
        };
        Ok((document.headline.text, content))
    })
    .await
}

/// Shows the end of the time limit to the second.
fn deadline(game: &Match) -> Markup {
    let clock = game.expires_at.get(11..19).unwrap_or_default();
    html! { time datetime=(game.expires_at) { (day(&game.expires_at)) ", " (clock) " UTC" } }
}

fn facts(game: &Match) -> Vec<Part> {
    let Some(rating) = game.settled().map(|settled| &settled.rating) else { return Vec::new() };
    let (expected, note) = match rating.expected {
        Some(expected) => (whole_percent(expected), "0% for a loss, 100% for a win"),
        None => (String::from("none"), "nothing was played"),
    };
    let (after, change) = (rating.after_points.to_string(), signed(rating.change_points));
    let mut facts = Vec::new();
    if let Played::Scored(scored) = &game.state {
        facts.push(Fact::new("score", scored.score().to_string(), "of 1000", "/score"));
    }
    facts.extend([
        Fact::new("result", ended(game), "", ""),
        Fact::new("expected", expected, note, ""),
        Fact::new("rating", after, change, "/rating/after_points"),
    ]);
    vec![Figure::Facts(facts).into()]
}

/// Shows what judged the answer, and under which conditions it was given.
fn judged(game: &Match, challenge: Option<&Challenge>) -> Markup {
    let submitted = match &game.state {
        Played::Submitted(it) => Some(&it.submitted_at),
        Played::Void(it) => Some(&it.submitted_at),
        Played::Scored(it) => Some(&it.submitted_at),
        _ => None,
    };
    let content = html! {
        dl.about {
            div { dt { "entered" } dd { (words(&game.started_at)) } }
            @if let Some(at) = submitted { div { dt { "answered" } dd { (words(at)) } } }
            @if let Some(challenge) = challenge {
                div { dt { "time limit" } dd { (seconds(challenge.time_limit_seconds)) } }
                div { dt { "scored by" } dd { a href=(address::scorecard(&challenge.card)) { (challenge.card) } } }
            }
            div { dt { "attempt" } dd { (game.attempt_number) } }
            @if let Played::Scored(scored) = &game.state {
                @if let Some(engine) = scored.execution.as_ref().and_then(|it| it.pointer("/judge/engine")?.as_str()) {
                    div { dt { "run by" } dd { "a judge, in " (engine) } }
                }
                div { dt { "steps" } dd { (verified(scored)) } }
                div { dt { "memory" } dd { (memory(game, scored)) } }
                div { dt { "record" } dd { a href=(format!("/records/{}", address::part(&scored.record))) { "how the score adds up" } } }
            }
        }
    };
    section("judged", "What judged it", content)
}

/// Shows how the instance was drawn, for a check of it.
fn proof(game: &Match) -> Markup {
    let Some(drawn) = &game.draw else { return html! {} };
    let Drawn { instance, among, commitment, committed_before, agent_nonce, draw } = drawn;
    let content = html! {
        p { "Instance " (instance) " was drawn from " (among) " that were not used up. The server had committed to the draw "
            @if *committed_before { "before the entry" } @else { "at the entry only, as there was no commitment before" } "; the draw is public once the match is over." }
        dl.about {
            div { dt { "commitment" } dd { code { (commitment) } } }
            div { dt { "draw" } dd { @match draw { Some(draw) => code { (draw) }, None => "secret until the match is over" } } }
            @if let Some(nonce) = agent_nonce { div { dt { "nonce of the agent" } dd { code { (nonce) } } } }
            @if let Played::Scored(scored) = &game.state { div { dt { "digest of the submission" } dd { code { (scored.submission) } } } }
        }
    };
    section("proof", "Proof", content)
}

fn verified(scored: &Scored) -> &'static str {
    match (scored.verified, scored.verified_by) {
        (false, _) => "not verified",
        (true, Some(Voucher::Checked)) => "verified: the server checked that the log was made for this match",
        (true, Some(Voucher::Harness)) => "verified: a harness signed the log",
        (true, Some(Voucher::Claimed) | None) => {
            "verified after the document, before the server checked more"
        }
    }
}

fn memory(game: &Match, scored: &Scored) -> &'static str {
    match (scored.harness_memoryless, game.memoryless) {
        (Some(true), _) => "none: a harness signed that",
        (Some(false), _) => "at hand: a harness signed that",
        (None, true) => "none, as the agent says; no harness vouches for it",
        (None, false) => "at hand",
    }
}

/// Shows the change of the rating, factor by factor.
fn rating(settled: &Settled) -> Markup {
    let rating = &settled.rating;
    let floor = (rating.floor_points != 0).then(|| format!("{:+}", rating.floor_points));
    let bonus = format!("{:+}, times {}", rating.bonus_points, rating.bonus_factor);
    let category = rating.category.as_ref();
    let rows = [
        ("before", Some(rating.before_points.to_string())),
        ("the challenge as an opponent", Some(rating.opponent_points.to_string())),
        ("expected result, 0 to 1", rating.expected.map(|expected| format!("{expected:.3}"))),
        ("factor", Some(rating.factor_points.to_string())),
        ("change by play", Some(signed(rating.play_points))),
        ("added by the floor", floor),
        ("bonus", Some(bonus).filter(|_| rating.bonus_points != 0)),
        ("after", Some(rating.after_points.to_string())),
        (
            "in its category",
            category.map(|it| format!("{}: {} to {}", it.name, it.before_points, it.after_points)),
        ),
    ];
    let rows = rows.into_iter().filter_map(|(what, value)| Some(line([text(what), text(value?)])));
    let table = grid("How the rating was settled", "=part | #points", rows.collect());
    let content = html! {
        (figure("rating-figure", &table))
        @if !settled.titles.is_empty() { p { "Titles: " (settled.titles.join(", ")) } }
    };
    section("rating", "Rating", content)
}

/// Shows the score, the weight and the points of each dimension, and what is wrong with the submission.
pub fn graded(answer: &MatchAnswer) -> Markup {
    html! {
        (table_section("breakdown", "Breakdown", breakdown(answer)))
        @if answer.has_findings() {
            (section("warnings", "Warnings", html! {
                ul.sentences { @for it in answer.sentences() { li.care { (html::with_capital(&it)) } } }
            }))
        }
    }
}
