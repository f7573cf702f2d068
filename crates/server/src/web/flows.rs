//! The workflows: a page of all tasks, and one of each with its plans by score, and the recordings behind each score.

use karat::document::Kind;
use karat::text::Writing;

use super::layout::*;
use crate::flows::{FlowState, Phase, PlanState, StoredTask, TaskState, VerdictState};
use crate::headline::{self, score, share};
use crate::market;
use crate::prelude::*;

const DIGEST_CHARACTERS: usize = 19;

pub async fn show(Get(app, caller): Get) -> Answer {
    page(&app, &caller, &[("/", "Home")], "", |state| {
        let all: Vec<&TaskState> = state.tasks().collect();
        let content = tasks(&all, app.clock.now());
        Ok((all, content))
    })
    .await
}

pub async fn task(Get(app, caller): Get, Named(id): Named<String>) -> Answer {
    page(&app, &caller, &[("/", "Home"), ("/workflows", "Workflows")], &id, |state| {
        let (of_task, now) = (state.task(&id).ok_or_else(|| market::no_task(&id))?, app.clock.now());
        let content = html! {
            (plans(of_task, now))
            (about(&of_task.task, now))
            (acts(&[(format!("/v1/workflows/tasks/{}", address::part(&id)), "JSON")]))
        };
        Ok((vec![of_task], content))
    })
    .await
}

/// Answers with a page about some tasks, which opens with what was found of them.
async fn page(
    app: &Arc<App>,
    caller: &Caller,
    trail: &[(&str, &str)],
    own: &str,
    draw: impl FnOnce(&FlowState) -> Result<(Vec<&TaskState>, Markup), Problem>,
) -> Answer {
    // If verdicts that are due cannot be written now, the next request tries again.
    let _ = market::settle_due(app).await;
    let state = app.memory.flows.state();
    let (all, content) = draw(&state)?;
    let told = headline::flows(&all, app.clock.now());
    let content =
        html! { (above(trail, html! { (own) })) (heading(&[], &told.text, &told.lead.join(" "))) (content) };
    Ok(Sheet { title: &told.text, part: "/workflows", caller: Some(caller) }.answer(content))
}

const fn phase(phase: Phase) -> &'static str {
    match phase {
        Phase::Plans => "accepts plans",
        Phase::Recordings => "plans are recorded",
        Phase::Over => "over",
    }
}

fn tasks(all: &[&TaskState], now: Timestamp) -> Markup {
    if all.is_empty() {
        return html! {
            div.empty {
                p { "An administrator posts a task with " code { "POST /v1/workflows/tasks" } ", miners hand in plans, and recorders that are drawn deliver recordings of their runs." }
                p { a href="/v1/openapi.json" { "The API" } " says what each of them takes." }
            }
        };
    }
    let rows = all.iter().map(|of_task| {
        let task = &of_task.task.task;
        let scored = of_task.plans.values().filter_map(score);
        let best = scored.clone().max().map(share);
        line([
            link(&task.task_id, format!("/workflows/{}", address::part(&task.task_id))),
            text(phase(task.phase(now))),
            text(&task.plans_until),
            text(&task.recordings_until),
            text(of_task.plans.len()),
            text(scored.count()),
            text_or(best, "none yet"),
            link(&task.card, address::scorecard(&task.card)),
        ])
    });
    let columns =
        "=task | state | plans until | recordings until | #plans | #scored | #best score | scorecard";
    table_section("tasks", "Tasks", grid("The last posted first", columns, rows.collect()))
}

fn about(stored: &StoredTask, now: Timestamp) -> Markup {
    let StoredTask { task, content, draw, .. } = stored;
    let asked = content.get("description").and_then(Value::as_str).unwrap_or_default();
    let content = html! {
        @if !asked.is_empty() { p { (words(asked)) } }
        dl.about {
            div { dt { "state" } dd { (phase(task.phase(now))) } }
            div { dt { "plans until" } dd { (words(&task.plans_until)) } }
            div { dt { "recordings until" } dd { (words(&task.recordings_until)) } }
            div { dt { "recordings" } dd { "at least " (task.recordings) " of " (task.recorders) ", whose recorders are drawn from " (task.may_record.len()) } }
            div { dt { "scorecard" } dd { a href=(address::scorecard(&task.card)) { (task.card) } } }
            div { dt { "commitment" } dd { code { (task.commitment) } } }
            div { dt { "the draw" } dd {
                @if task.phase(now) == Phase::Plans { "secret while plans are accepted" } @else { code { (draw.digits()) } }
            } }
        }
    };
    section("task", "The task", content)
}

fn plans(of_task: &TaskState, now: Timestamp) -> Markup {
    if !of_task.is_public(now) || of_task.plans.is_empty() {
        return html! {};
    }
    html! {
        (table_section("plans", "Plans by score", table(of_task)))
        @for plan in of_task.plans.values() { (recordings(plan)) }
    }
}

fn table(of_task: &TaskState) -> Table {
    let row = |plan: &&PlanState| {
        let result = match plan.verdict.as_ref().map(|verdict| &verdict.state) {
            None => text(format!("{} of {} recordings came", plan.deliveries.len(), plan.drawn.len())),
            Some(VerdictState::NoVerdict { reason }) => text(reason),
            Some(VerdictState::Scored { record, .. }) => {
                link("how it adds up", format!("/records/{}", address::part(record)))
            }
        };
        let all = plan.verdict.iter().flat_map(|verdict| &verdict.recordings).filter_map(|it| it.score);
        let ends = all.clone().min().zip(all.max()).map(|(low, high)| (low.to_f64(), high.to_f64()));
        let value = score(plan).map(|it| Cell::interval(Some(it.to_f64()), ends, Writing::shares(), false));
        let miner = link(&plan.plan.miner, address::subject(&plan.plan.miner, None));
        let value = value.unwrap_or_else(|| absent("not yet"));
        line([miner, value, result, text(&plan.plan.submitted_at), text(plan.drawn.join(", "))])
    };
    let mut plans: Vec<&PlanState> = of_task.plans.values().collect();
    plans.sort_by_key(|plan| std::cmp::Reverse(score(plan)));
    let caption = "Dot: the median, which counts; of two in the middle, the lower one. Bar: from the lowest recording to the highest";
    let columns = "=miner | ~score | result | handed in | recorders";
    let mut table = grid(caption, columns, plans.iter().map(row).collect());
    if let Some(score) = table.columns.get_mut(1) {
        // The range of all that was recorded.
        score.kind = Kind::Interval { sides: None, level: 1.0 };
    }
    table
}

/// Shows the recordings of a plan that has a verdict.
fn recordings(plan: &PlanState) -> Markup {
    let Some(verdict) = plan.verdict.as_ref().filter(|verdict| !verdict.recordings.is_empty()) else {
        return html! {};
    };
    let rows = verdict.recordings.iter().map(|it| {
        let short: String = it.recording.chars().take(DIGEST_CHARACTERS).collect();
        let address = format!("/v1/workflows/recordings/{}", address::part(&it.recording));
        let role = match &verdict.state {
            VerdictState::Scored { counted, .. } if *counted == it.recording => "the median: it counts",
            _ => "not the median",
        };
        let score = text_or(it.score.map(share), "none");
        line([link(&format!("{short}…"), address), text(&it.recorder), score, text(role)])
    });
    let caption = format!("The recordings of {}’s plan, by score", plan.plan.miner);
    let table = grid(caption, "=recording | recorder | #score | what it counts for", rows.collect());
    let id = format!("recordings-{}", plan.plan.plan_digest.trim_start_matches("sha256:"));
    figure(&id, &table)
}
