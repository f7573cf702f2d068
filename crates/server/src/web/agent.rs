//! An agent of the arena: its skill and its rating, how they came about, and its matches.

use karat::answers::skill::SkillRating;
use karat::document::figure::{Fact, Figure, History, Point, Series};
use karat::document::{Document, Part};
use karat::write::html;

use super::arena::{list, page};
use super::challenge::Asked;
use super::layout::*;
use crate::api::arena::{AtChallenge, ShownAgent};
use crate::arena::Match;
use crate::headline;
use crate::prelude::*;

pub async fn show(Get(app, caller): Get, Named(own): Named<String>, Params(asked): Params<Asked>) -> Answer {
    page(app, &caller, move |app, state| {
        let shown = ShownAgent::named(state, &own)?;
        let all: Vec<&Arc<Match>> = state.matches().filter(|game| game.agent_id == own).collect();
        let path = address::agent(&own);
        let document = document(&shown);
        let api = format!("/v1{path}");
        let content = html! {
            (above(&[("/", "Home"), ("/arena", "Arena")], html! {}))
            (html::opening(html! { "Agent of the arena" @if let Some(harness) = &shown.agent.harness_id { ", plays with " (harness) } }, &document))
            div data-answer=(api) {
                (body("s", &document))
                (acts(&[(address::subject(&own, None), "Its records"), (api.clone(), "JSON")]))
            }
            (list(app, (&path, asked.page), &[("agent", &own)], &all))
        };
        Ok((document.headline.text, content))
    })
    .await
}

fn document(it: &ShownAgent) -> Document {
    let mut parts: Vec<Part> = vec![Figure::Facts(facts(it)).into()];
    let has_history = !it.history.is_empty();
    if has_history {
        parts.extend([
            Part::Heading(String::from("Skill and rating over time")),
            Figure::History(history(it)).into(),
        ]);
        parts.push(Part::Heading(String::from("By category and challenge")));
        parts.extend([Part::Table(categories(it)), Part::Table(challenges(it))]);
    }
    Document { title: it.agent.agent_id.clone(), headline: headline::agent(it), parts, ..Document::default() }
}

fn facts(it: &ShownAgent) -> Vec<Fact> {
    let career = &it.career;
    let skill = |label: &str, rating: &SkillRating, note: &str, pointer: &str| {
        let note = format!("±\u{a0}{:.0}, {note}", 2.0 * rating.deviation_points);
        Fact::new(label, format!("{:.0}", rating.points), note, pointer)
    };
    let won = format!("of {}, best streak {}", career.match_count, career.best_streak);
    let title = it.titles.first().map(|title| {
        let others = it.titles.get(1..).unwrap_or_default().join(", ");
        Fact { is_stamp: true, ..Fact::new("title", title, others, "") }
    });
    let numbers = [
        skill("skill", &it.skill.full, "by Glicko-2", "/skill/full/points"),
        skill(
            "repeats for less", &it.skill.discounted, "the k-th match at a challenge counts 1/k",
            "/skill/discounted/points",
        ),
        Fact::new("rating", career.rating_points.to_string(), "Elo of the arena", "/career/rating_points"),
        Fact::new("won", career.win_count.to_string(), won, "/career/win_count"),
    ];
    numbers.into_iter().chain(title).collect()
}

fn history(it: &ShownAgent) -> History {
    let point = |point: &crate::arena::Point, value: f64, deviation: Option<f64>| Point {
        time: Timestamp::parse(&point.at).ok(),
        value: Some(value),
        line: Some(value),
        band: deviation.map(|it| (value - 2.0 * it, value + 2.0 * it)),
        ..Point::default()
    };
    let skill = it.history.iter().map(|at| point(at, at.skill_points, Some(at.skill_deviation_points)));
    let rating = it.history.iter().map(|at| point(at, at.rating_points as f64, None));
    History {
        caption: String::from(
            "After each match, in points; the area is two standard deviations to each side of the skill",
        ),
        value_label: String::from("points after a match"),
        line_label: String::from("course"),
        range: None,
        decimals: 0,
        levels: Vec::new(),
        series: vec![
            Series { name: String::from("Skill, by Glicko-2"), points: skill.collect() },
            Series { name: String::from("Rating, the Elo of the arena"), points: rating.collect() },
        ],
    }
}

fn categories(it: &ShownAgent) -> Table {
    let rows = it.career.category_points.iter().map(|(category, points)| {
        let cells = [link(category, address::query("/arena", &[("category", category)])), text(points)];
        line_at(format!("/career/category_points/{category}"), cells)
    });
    grid("The rating in each category, in points", "=category | #rating", rows.collect())
}

fn challenges(it: &ShownAgent) -> Table {
    let row = |(at, of): (usize, &AtChallenge)| {
        let score = |score: Option<f64>| text_or(score.map(|it| format!("{it:.0}")), "none");
        let cells = [
            link(&of.challenge, address::challenge(&of.challenge)),
            text(&of.category),
            text(of.match_count),
            text(of.win_count),
            score(of.mean_score),
            score(of.best_score),
        ];
        line_at(format!("/challenges/{at}"), cells)
    };
    let columns = "=challenge | category | #matches@match_count | #won@win_count | #mean score@mean_score | #best score@best_score";
    let caption = "Its matches at each challenge; scores are of 1000";
    grid(caption, columns, it.challenges.iter().enumerate().map(row).collect())
}
