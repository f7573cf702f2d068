//! One match: the challenge, the score of the answer, and the change of the rating. The answer is shown with records of matches, too.

use karat::answers::Voucher;
use karat::document::breakdown;
use karat::record::MatchAnswer;

use super::arena::signed;
use super::layout::*;
use crate::arena::{Challenge, Drawn, Match, Scored, Settled, State as Played, Submitted, Voided};
use crate::prelude::*;

pub async fn show(Get(app, caller): Get, Named(id): Named<String>) -> Answer {
    let (game, challenge) = {
        let state = app.memory.arena.state();
        let none = || Problem::unknown("match", &id, "");
        let game = state.game(&id).ok_or_else(none)?;
        let challenge = state.challenge(&game.challenge);
        (game, challenge)
    };
    let title = format!("{} at {}", game.agent_id, game.challenge);
    let lead = challenge.as_ref().map(|challenge| challenge.title.clone()).unwrap_or_default();
    let agent = address::query("/arena", &[("agent", &game.agent_id)]) + "#matches";
    let sheet = Sheet { title: &title, part: "/arena", caller: Some(&caller) };
    Ok(sheet.answer(html! {
        (heading(&[("/arena", "Arena"), (&agent, &game.agent_id)], &title, &lead))
        (played(&game, challenge.as_deref()))
        @match &game.state {
            Played::Entered => p { "The match is open: the agent may answer until " time { (game.expires_at) } "." },
            Played::Submitted(_) => p { "The answer came in time, and waits for its verdict." },
            Played::Void(_) => p.care { "The match ended without a verdict. It counts for nothing." },
            Played::Scored(scored) => { (graded(&scored.answer)) (rating(&scored.settled)) },
            Played::Expired(settled) => {
                p.care { "The time limit passed before an answer came. That counts as a draw and does not change the rating." }
                (rating(settled))
            }
        }
    }))
}

fn played(game: &Match, challenge: Option<&Challenge>) -> Markup {
    html! {
        @if let Played::Scored(scored) = &game.state {
            dl.figures {
                div { dt { "score" } dd { (scored.score()) " " small { "of 1000" } } }
                div { dt { "result" } dd { (scored.result) } }
                div { dt { "rating" } dd { (scored.settled.rating.after_points) " " small { (signed(scored.settled.rating.change_points)) } } }
            }
        }
        dl.about {
            div { dt { "entered" } dd { time { (game.started_at) } } }
            div { dt { "time limit" } dd { time { (game.expires_at) } } }
            div { dt { "attempt" } dd { (game.attempt_number) } }
            @if let Some(drawn) = &game.draw { (draw(drawn)) }
            @if let Played::Submitted(Submitted { submitted_at, .. }) | Played::Void(Voided { submitted_at, .. }) = &game.state {
                div { dt { "submitted" } dd { time { (submitted_at) } } }
            }
            @if let Played::Scored(scored) = &game.state {
                div { dt { "submitted" } dd { time { (scored.submitted_at) } } }
                div { dt { "trajectory" } dd { (verified(scored)) } }
                div { dt { "memory" } dd { (memory(game, scored)) } }
                div { dt { "record" } dd { a href=(format!("/records/{}", address::part(&scored.record))) { (scored.record) } } }
            }
        }
        @if let Some(challenge) = challenge.filter(|challenge| !challenge.briefing.is_empty()) { p { (words(&challenge.briefing)) } }
    }
}

/// Shows how the instance was drawn.
fn draw(drawn: &Drawn) -> Markup {
    html! {
        div { dt { "instance" } dd { "number " (drawn.instance) ", drawn from " (drawn.among) " that were not used up" } }
        div { dt { "commitment" } dd { code { (drawn.commitment) } @if !drawn.committed_before { " (made at the entry: there was none before)" } } }
        div { dt { "the draw" @if drawn.draw.is_some() { ", revealed" } } dd {
            @match &drawn.draw { Some(draw) => code { (draw) }, None => "secret until the match is over" }
        } }
        @if let Some(nonce) = &drawn.agent_nonce { div { dt { "nonce of the agent" } dd { code { (nonce) } } } }
    }
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
    let mut rows = vec![
        ("before", rating.before_points.to_string()),
        ("the challenge as an opponent", rating.opponent_points.to_string()),
    ];
    rows.extend(rating.expected.map(|expected| ("expected result, 0 to 1", format!("{expected:.3}"))));
    rows.extend([
        ("factor", rating.factor_points.to_string()),
        ("change by play", signed(rating.play_points)),
    ]);
    rows.extend(
        (rating.floor_points != 0).then(|| ("added by the floor", format!("{:+}", rating.floor_points))),
    );
    rows.extend(
        (rating.bonus_points != 0)
            .then(|| ("bonus", format!("{:+}, times {}", rating.bonus_points, rating.bonus_factor))),
    );
    rows.push(("after", rating.after_points.to_string()));
    if let Some(category) = &rating.category {
        rows.push((
            "in its category",
            format!("{}: {} to {}", category.name, category.before_points, category.after_points),
        ));
    }
    let row = |(what, value): (&str, String)| line([text(what), Cell::Text(value)]);
    let table = grid("How the rating was settled", "=part | #points", rows.into_iter().map(row).collect());
    section(
        "rating",
        "Rating",
        html! {
            (figure("rating-figure", &table))
            @if !settled.titles.is_empty() { p { "Titles: " (settled.titles.join(", ")) } }
        },
    )
}

/// Shows the score, the weight and the points of each dimension, and what is wrong with the submission.
pub fn graded(answer: &MatchAnswer) -> Markup {
    html! { (table_section("breakdown", "Breakdown", breakdown(answer))) (findings(answer)) }
}

/// Lists the findings on the submission, if there are any.
fn findings(answer: &MatchAnswer) -> Markup {
    html! {
        @if answer.has_findings() {
            section aria-labelledby="warnings" {
                h2 id="warnings" { "Warnings" }
                ul.sentences { @for sentence in answer.sentences() { li.care { (words(&sentence)) } } }
            }
        }
    }
}
