//! Other weights on trial: a form for them, and the ranks and their robustness beside those of the scorecard. A browser with
//! scripts gets the values once, and ranks with the same function.

use std::collections::HashMap;

use karat::document::what_if::{self, FIELD, Subjects, Tried};
use karat::json::GivenSubjects;
use karat::leaderboard::stress::weights;
use karat::text::cut;
use karat_core::number::Decimal;
use karat_stats::ranks::RankRange;

use super::layout::*;
use super::welcome;
use crate::api::bytes;
use crate::kept::AllSubjects;
use crate::prelude::*;
use crate::subjects::all_subjects;

/// The query of the address: `w.KEY` is the weight of the dimension KEY.
pub type Asked = BTreeMap<String, String>;

pub async fn show(
    Get(app, caller): Get,
    headers: HeaderMap,
    Named(name): Named<String>,
    Params(asked): Params<Asked>,
) -> Answer {
    let pool = app.memory.cards().find(&name)?;
    let wanted = what_if::asked_weights(&pool.card, &asked);
    let wanted = wanted.map_err(|(name, detail)| Problem::parameter(&name, detail))?;
    if pool.card.scorer().is_err() {
        let why = "has its own weights, so no weights can be changed here";
        let detail = format!("each challenge of `{}` {why}", pool.name());
        return Err(Problem::new(Code::Unanswerable, detail));
    }
    let (form, path) = (form(&pool, &wanted), address::scorecard(&pool.name()));
    let (number, result) = match subjects(&app, &pool).await? {
        Some(subjects) => {
            let (number, pool) = (subjects.means.subjects.len(), Arc::clone(&pool));
            (number, app.checked(move || Ok(result_of(&subjects, &pool, &wanted))).await?)
        }
        None => (0, welcome::nothing(&address::host(&headers), &pool)),
    };
    let title = match number {
        0 => format!("{} has no scores yet", pool.card.title),
        1 => String::from("One subject, ranked by weights of your own"),
        all => format!("{all} subjects, ranked by weights of your own"),
    };
    let lead = "Move a weight and see whose rank depends on it. Nothing is stored: a published scorecard never changes.";
    Ok(Sheet { title: &title, part: "/scorecards", caller: Some(&caller) }.answer_computing(html! {
        (heading(&[("/scorecards", "Scorecards"), (&path, &pool.card.title)], &title, lead))
        section aria-label="Weights" { (form) }
        (section("ranks", "Under these weights", html! { div id="what-if-result" aria-live="polite" { (result) } }))
    }))
}

/// Returns the scorecard with the values of its subjects, for the script of the page.
pub(crate) async fn given(Get(app, _): Get, Named(name): Named<String>) -> Answer {
    let pool = app.memory.cards().find(&name)?;
    let nothing = || Problem::not_found("no subject has a score by this scorecard");
    let subjects = subjects(&app, &pool).await?.ok_or_else(nothing)?;
    let card = pool.card.text().to_owned();
    let given = serde_json::to_vec(&GivenSubjects { card, subjects });
    let given = given.map_err(|error| Problem::internal(&error))?;
    Ok(bytes(StatusCode::OK, "application/json", given))
}

fn form(pool: &ScorerPool, wanted: &[Decimal]) -> Markup {
    let path = format!("{}/what-if", address::scorecard(&pool.name()));
    let largest = weights(&pool.card).iter().chain(wanted).map(|it| it.millionths()).max().unwrap_or(0);
    // Shares of 1 go up to 1; points go up to twice the largest.
    let top = if largest <= 1_000_000 { 1_000_000 } else { largest.saturating_mul(2) };
    html! {
        form method="get" action=(path) data-what-if=(format!("{path}/given")) {
            div.weights-form {
                @for (at, (dimension, weight)) in pool.card.dimensions.iter().zip(wanted).enumerate() {
                    label for=(format!("w{at}")) { (dimension.label) }
                    input type="number" id=(format!("w{at}")) name=(format!("{FIELD}{}", dimension.key)) min="0" step="any"
                        value=(weight) data-top=(cut(top, 6, 6)) required;
                }
            }
            p.buttons {
                button.go type="submit" { "Show" }
                a href=(path) { "The weights of the card" }
            }
        }
    }
}

/// Returns the subjects that can be ranked; none if no one has a score.
async fn subjects(app: &Arc<App>, pool: &Arc<ScorerPool>) -> Result<Option<Subjects>, Problem> {
    let size = *app.memory.size().borrow();
    match all_subjects(app, pool, app.moment(), size).await {
        Ok(all) => Ok(of_all(&all, pool)),
        Err(problem) if problem.code == Code::NotFound => Ok(None),
        Err(problem) => Err(problem),
    }
}

fn of_all(all: &AllSubjects, pool: &ScorerPool) -> Option<Subjects> {
    let means = all.values.clone().filter(|values| !values.subjects.is_empty())?;
    let card = pool.name();
    let links = means.subjects.iter().map(|name| address::subject(name, Some(&card))).collect();
    let officials = all.officials.as_ref().map(|officials| {
        let names = officials.subjects.iter().map(|(name, _)| name);
        let ranks = names.zip(officials.ranks()).filter_map(|(name, rank)| Some((name, rank?)));
        let ranks: HashMap<&String, RankRange> = ranks.collect();
        means.subjects.iter().map(|name| ranks.get(name).map(|rank| [rank.best, rank.worst])).collect()
    });
    Some(Subjects { means, links, officials })
}

fn result_of(subjects: &Subjects, pool: &ScorerPool, wanted: &[Decimal]) -> Markup {
    match what_if::what_if(subjects, &pool.card, wanted) {
        Ok(Tried { sentence, ranking, shares }) => html! {
            p { @for (is_strong, part) in sentence { @if is_strong { b { (part) } } @else { (part) } } }
            (figure("what-if-table", &ranking))
            details { summary { "The weights as shares" } (figure("what-if-shares", &shares)) }
        },
        // The browser says it in the same words.
        Err(why) => html! { p.care { "There is no ranking under these weights: " (why) "." } },
    }
}
