//! Other weights on trial: a form for them, and the ranks and their robustness beside those of the scorecard.

use std::collections::HashMap;

use karat::answers::leaderboard::officials::Officials;
use karat::leaderboard::Settings;
use karat::leaderboard::stress::weights;
use karat::leaderboard::what_if::{MeanValues, WhatIf};
use karat::text::{Writing, count, cut, ranks, short, whole_percent};
use karat_core::number::Decimal;
use karat_core::scorecard::Dimension;
use karat_stats::bootstrap::Plan;
use karat_stats::ranks::RankRange;

use super::layout::*;
use super::{layout, leaderboard, welcome};
use crate::kept::AllSubjects;
use crate::prelude::*;
use crate::subjects::all_subjects;

/// The query of the address: `w.KEY` is the weight of the dimension KEY.
pub type Asked = BTreeMap<String, String>;

const FIELD: &str = "w.";
/// The largest number of rows.
const SHOWN: usize = 200;
/// The number of ranks that random weights may take, with the fewest weights.
const RANKED_MAX: usize = 300_000;
const DRAWS_MIN: usize = 50;
const MOST: i64 = 1_000_000_000_000;

/// Returns the weights of the query, with those of the card where none is given.
fn asked_weights(pool: &ScorerPool, asked: &Asked) -> Result<Vec<Decimal>, Problem> {
    let card = &pool.card;
    let is_known = |name: &str| {
        name.strip_prefix(FIELD)
            .is_some_and(|key| card.dimensions.iter().any(|dimension| dimension.key == key))
    };
    if let Some(other) = asked.keys().find(|name| !is_known(name)) {
        let detail = format!(
            "there is no `{}`; a weight is `{FIELD}` and the key of a dimension",
            other.escape_debug()
        );
        return Err(Problem::parameter("query", detail));
    }
    let weight = |(key, own): (&str, Decimal)| {
        let name = format!("{FIELD}{key}");
        let Some(text) = asked.get(&name).map(|text| text.trim()).filter(|text| !text.is_empty()) else {
            return Ok(own);
        };
        let read = Decimal::parse(text)
            .ok()
            .filter(|(weight, is_exact)| *is_exact && (0..=MOST).contains(&weight.millionths()));
        read.map(|(weight, _)| weight).ok_or_else(|| {
            let found = text.escape_debug();
            Problem::parameter(
                &name,
                format!("found `{found}`, expected a number from 0 to 1000000 with at most six decimals"),
            )
        })
    };
    let own = weights(card);
    card.dimensions.iter().map(|it| it.key.as_str()).zip(own).map(weight).collect()
}

pub async fn section(
    app: &Arc<App>,
    pool: &Arc<ScorerPool>,
    asked: &Asked,
    headers: &HeaderMap,
) -> Result<Markup, Problem> {
    let wanted = asked_weights(pool, asked)?;
    let form = form(pool, &wanted);
    let result = match pool.card.scorer() {
        Ok(_) => answer(app, pool, wanted, welcome::host(headers)).await?,
        Err(_) => return Ok(html! {}),
    };
    Ok(html! {
        section aria-labelledby="what-if" {
            h2 id="what-if" { "What if the weights were different" }
            p { "Move a weight and see how the ranks would change. Nothing is stored: a published scorecard never changes." }
            (form)
            div id="what-if-result" aria-live="polite" { (result) }
        }
    })
}

/// Returns the same section without the page around it.
pub(crate) async fn fragment(
    Get(app, _): Get,
    headers: HeaderMap,
    Named(name): Named<String>,
    Params(asked): Params<Asked>,
) -> Answer {
    let pool = app.memory.cards().find(&name)?;
    let wanted = asked_weights(&pool, &asked)?;
    answer(&app, &pool, wanted, welcome::host(&headers)).await.map(layout::fragment)
}

fn form(pool: &ScorerPool, wanted: &[Decimal]) -> Markup {
    let path = address::scorecard(&pool.name());
    let largest = weights(&pool.card).iter().chain(wanted).map(|it| it.millionths()).max().unwrap_or(0);
    // Shares of 1 go up to 1; points go up to twice the largest.
    let top = if largest <= 1_000_000 { 1_000_000 } else { largest.saturating_mul(2) };
    html! {
        form method="get" action=(format!("{path}#what-if")) data-what-if=(format!("{path}/what-if")) {
            div.weights-form {
                @for (at, (dimension, weight)) in pool.card.dimensions.iter().zip(wanted).enumerate() {
                    label for=(format!("w{at}")) { (dimension.label) }
                    input type="number" id=(format!("w{at}")) name=(format!("{FIELD}{}", dimension.key)) min="0" step="any"
                        value=(weight) data-top=(cut(top, 6, 6)) required;
                }
            }
            p.buttons {
                button.go type="submit" { "Show" }
                a href=(format!("{path}#what-if")) { "The weights of the card" }
            }
        }
    }
}

/// Shows the ranks of all subjects under these weights.
async fn answer(
    app: &Arc<App>,
    pool: &Arc<ScorerPool>,
    wanted: Vec<Decimal>,
    host: String,
) -> Result<Markup, Problem> {
    let size = *app.memory.size().borrow();
    let all = match all_subjects(app, pool, app.moment(), size).await {
        Ok(all) => all,
        Err(problem) if problem.code == Code::NotFound => return Ok(welcome::nothing(&host, pool)),
        Err(problem) => return Err(problem),
    };
    let pool = Arc::clone(pool);
    app.checked(move || Ok(result_of(&all, &pool, &wanted, &host))).await
}

fn result_of(all: &AllSubjects, pool: &ScorerPool, wanted: &[Decimal], host: &str) -> Markup {
    let Some(values) = all.values.as_ref().filter(|values| !values.subjects.is_empty()) else {
        return welcome::nothing(host, pool);
    };
    let settings = leaderboard::settings(pool);
    // Each random weight ranks every subject.
    let draws = (RANKED_MAX / values.subjects.len().max(1)).clamp(DRAWS_MIN, settings.plan.draws as usize);
    let plan = Plan { draws: draws as u32, ..settings.plan };
    match WhatIf::new(values, &pool.card, wanted, &Settings { plan, ..settings }) {
        Ok(what_if) => html! {
            (sentences(values, &what_if))
            (figure("what-if-table", &table(all, values, &what_if, pool)))
            (shares(pool, wanted))
        },
        Err(why) => html! { p.care { "There is no ranking under these weights: " (why) "." } },
    }
}

fn sentences(values: &MeanValues, found: &WhatIf) -> Markup {
    let subjects = values.subjects.len();
    let is_first = |rank: &Option<RankRange>| rank.is_some_and(|rank| rank.best == 1);
    let first = found.after.ranks.iter().zip(&values.subjects).filter(|(rank, _)| is_first(rank));
    let first: Vec<String> = first.map(|(_, name)| short(name)).collect();
    let moved = found.after.moved.len();
    html! {
        p {
            @if subjects > SHOWN { "The first " (SHOWN) " of " (count(subjects, "subject")) " are shown. " }
            @match first.as_slice() {
                [] => "No subject has rank 1. ",
                [only] => { b { (only) } @if found.after.first_differs { " would have rank 1. " } @else { " keeps rank 1. " } },
                several => { (count(several.len(), "subject")) " would share rank 1. " },
            }
            @if moved == 0 { "No rank changes. " } @else { (count(moved, "subject")) " of " (subjects) @if moved == 1 { " moves. " } @else { " move. " } }
            "Around these weights the same subjects have rank 1 in " b { (whole_percent(found.around_after.share_first_kept)) } " of "
            (found.around_after.plan.draws) " random weights; around those of the scorecard in " b { (whole_percent(found.around_before.share_first_kept)) } "."
        }
    }
}

fn table(all: &AllSubjects, values: &MeanValues, found: &WhatIf, pool: &ScorerPool) -> Table {
    let writing = Writing::of(pool.card.scale.max);
    let official = all.officials.as_ref().map(official_ranks);
    let mut order: Vec<usize> = (0..values.subjects.len()).collect();
    let after = |at: usize| found.after.ranks.get(at).copied().flatten();
    let before = |at: usize| found.ranks_before.get(at).copied().flatten();
    order.sort_by_key(|&at| (after(at).is_none(), after(at), at));
    let rank = |rank: Option<RankRange>| text_or(rank.map(|it| ranks([it.best, it.worst])), "none");
    let composite = |list: &[Option<i64>], at: usize| match list.get(at).copied().flatten() {
        Some(value) => Cell::Text(writing.number(value as f64 / 1e9)),
        None => absent("none"),
    };
    let row = |at: usize| {
        let name = values.subjects.get(at).cloned().unwrap_or_default();
        let steps =
            before(at).zip(after(at)).map_or(0, |(from, to)| i64::from(from.best) - i64::from(to.best));
        let moves = match steps {
            0 => String::from("stays"),
            up @ 1.. => format!("▲ {up}"),
            down => format!("▼ {}", -down),
        };
        let kept = found.around_after.subjects.get(at).and_then(Option::as_ref).map(|it| it.share_kept);
        let address = address::subject(&name, Some(&pool.name()));
        let place = official.as_ref().map(|places| rank(places.get(name.as_str()).copied()));
        let mut cells = vec![
            rank(after(at)),
            Cell::Link(name.clone(), address),
            Cell::Text(moves),
            rank(before(at)),
            composite(&found.composites_after, at),
            composite(&found.composites_before, at),
            kept.map_or_else(|| absent("none"), Cell::Share),
        ];
        cells.extend(place);
        line(cells)
    };
    let official_rank = if official.is_some() { " | #official rank" } else { "" };
    let columns = format!(
        "#rank | =subject | moves | #rank now | #composite | #composite now | %keeps its rank{official_rank}"
    );
    let what = "By the composite of the mean values, without rules and gates of the scorecard";
    let caption = match official {
        Some(_) => format!("{what}, and without the window, decay, review and gate of official scores"),
        None => String::from(what),
    };
    grid(caption, &columns, order.into_iter().take(SHOWN).map(row).collect())
}

fn official_ranks(officials: &Officials) -> HashMap<&str, RankRange> {
    let names = officials.subjects.iter().map(|(name, _)| name.as_str());
    names.zip(officials.ranks()).filter_map(|(name, rank)| Some((name, rank?))).collect()
}

/// Shows each weight as a share of the sum.
fn shares(pool: &ScorerPool, wanted: &[Decimal]) -> Markup {
    let own = weights(&pool.card);
    let sum = |list: &[Decimal]| list.iter().map(|it| it.millionths()).sum::<i64>().max(1) as f64;
    let (of_wanted, of_own) = (sum(wanted), sum(&own));
    let share = |weight: &Decimal, of: f64| whole_percent(weight.millionths() as f64 / of);
    let all = pool.card.dimensions.iter().zip(wanted).zip(&own);
    let row = |((dimension, weight), own): ((&Dimension, &Decimal), &Decimal)| {
        line([text(&dimension.label), text(weight), text(share(weight, of_wanted)), text(share(own, of_own))])
    };
    let caption = "Weight as entered, its share of the sum, and that of the card";
    let table = grid(caption, "=dimension | #weight | #share | #share now", all.map(row).collect());
    html! { details { summary { "The weights as shares" } (figure("what-if-shares", &table)) } }
}
