//! The workflows: a page of all tasks, and one of each with its plans, recordings and scores.

use karat::text::cut;
use karat_core::number::Score;

use super::layout::*;
use crate::flows::{self, FlowState, Phase, PlanState, StoredTask, TaskState, VerdictState};
use crate::market;
use crate::prelude::*;

const DIGEST_CHARACTERS: usize = 19;

pub async fn show(Get(app, caller): Get) -> Answer {
    let now = app.clock.now();
    let content = {
        let state = app.memory.flows.state();
        if state.tasks().next().is_none() { empty() } else { tasks(&state, now) }
    };
    let lead = "Miners hand in plans for tasks, recorders that are drawn run them, and the median of what they recorded counts.";
    let sheet = Sheet { title: "Workflows", part: "/workflows", caller: Some(&caller) };
    Ok(sheet.answer(html! { (heading(&[], "Workflows", lead)) (content) }))
}

pub async fn task(Get(app, caller): Get, Named(id): Named<String>) -> Answer {
    // If verdicts that are due cannot be written now, the next request tries again.
    let _ = market::settle_due(&app).await;
    let now = app.clock.now();
    let content = {
        let state = app.memory.flows.state();
        let of_task = state.task(&id).ok_or_else(|| market::no_task(&id))?;
        let lead = of_task.task.content.get("description").and_then(Value::as_str).unwrap_or_default();
        html! {
            (heading(&[("/workflows", "Workflows")], &id, ""))
            @if !lead.is_empty() { p { (words(lead)) } }
            (about(&of_task.task, now))
            (plans(of_task, now))
        }
    };
    let sheet = Sheet { title: &id, part: "/workflows", caller: Some(&caller) };
    Ok(sheet.answer(content))
}

fn empty() -> Markup {
    html! {
        div.empty {
            p { b { "There is no task yet." } " An administrator posts one with " code { "POST /v1/workflows/tasks" }
                ", miners hand in plans, and recorders deliver recordings of their runs." }
            p { a href="/v1/openapi.json" { "The API" } " says what each of them takes." }
        }
    }
}

const fn phase(phase: Phase) -> &'static str {
    match phase {
        Phase::Plans => "plans are accepted",
        Phase::Recordings => "plans are recorded",
        Phase::Over => "over",
    }
}

fn tasks(state: &FlowState, now: Timestamp) -> Markup {
    let row = |of_task: &TaskState| {
        let task = &of_task.task.task;
        let scored = of_task.plans.values().filter(|plan| {
            matches!(plan.verdict.as_ref().map(|it| &it.state), Some(VerdictState::Scored { .. }))
        });
        line([
            Cell::Link(task.task_id.clone(), format!("/workflows/{}", address::part(&task.task_id))),
            text(phase(task.phase(now))),
            text(&task.plans_until),
            text(&task.recordings_until),
            text(of_task.plans.len()),
            text(scored.count()),
            Cell::Link(task.card.clone(), address::scorecard(&task.card)),
        ])
    };
    let table = grid(
        "The tasks, the last posted first",
        "=task | now | plans until | recordings until | #plans | #scored | scorecard",
        state.tasks().map(row).collect(),
    );
    figure("tasks-figure", &table)
}

fn about(stored: &StoredTask, now: Timestamp) -> Markup {
    let StoredTask { task, draw, .. } = stored;
    html! {
        dl.about {
            div { dt { "now" } dd { (phase(task.phase(now))) } }
            div { dt { "plans until" } dd { time { (task.plans_until) } } }
            div { dt { "recordings until" } dd { time { (task.recordings_until) } } }
            div { dt { "recordings" } dd { "at least " (task.recordings) " of " (task.recorders) ", whose recorders are drawn from " (task.may_record.len()) } }
            div { dt { "scorecard" } dd { a href=(address::scorecard(&task.card)) { (task.card) } } }
            div { dt { "commitment" } dd { code { (task.commitment) } } }
            div { dt { "the draw" } dd {
                @if task.phase(now) == Phase::Plans { "secret while plans are accepted" } @else { code { (draw.digits()) } }
            } }
        }
    }
}

fn plans(of_task: &TaskState, now: Timestamp) -> Markup {
    let count = of_task.plans.len();
    if !of_task.is_public(now) {
        return html! { p { (count) @if count == 1 { " plan was" } @else { " plans were" } " handed in. They are secret while plans are accepted." } };
    }
    if count == 0 {
        return html! { p { "No plan was handed in." } };
    }
    html! {
        section aria-labelledby="plans" {
            h2 id="plans" { "Plans" }
            (figure("plans-figure", &table(of_task)))
        }
        @for plan in of_task.plans.values() { (recordings(plan)) }
    }
}

fn table(of_task: &TaskState) -> Table {
    let row = |plan: &PlanState| {
        let (score, result) = match plan.verdict.as_ref().map(|verdict| &verdict.state) {
            None => {
                let came = format!("{} of {} recordings came", plan.deliveries.len(), plan.drawn.len());
                (absent("not yet"), Cell::Text(came))
            }
            Some(VerdictState::NoVerdict { reason }) => (absent("no verdict"), text(reason)),
            Some(VerdictState::Scored { score, record, .. }) => {
                let link = format!("/records/{}", address::part(record));
                (Cell::Text(three_decimals(*score)), Cell::Link(String::from("record"), link))
            }
        };
        line([
            Cell::Link(plan.plan.miner.clone(), address::subject(&plan.plan.miner, None)),
            score,
            result,
            text(&plan.plan.submitted_at),
            Cell::Text(plan.drawn.join(", ")),
        ])
    };
    grid(
        "The plans, by miner",
        "=miner | #score | result | handed in | drawn to record it",
        of_task.plans.values().map(row).collect(),
    )
}

/// Writes a score with three decimals at most, cut and never rounded up: all of them are in its record.
fn three_decimals(score: Score) -> String {
    cut(score.units(), 15, 3)
}

/// Shows the recordings of a plan that has a verdict.
fn recordings(plan: &PlanState) -> Markup {
    let Some(verdict) = plan.verdict.as_ref().filter(|verdict| !verdict.recordings.is_empty()) else {
        return html! {};
    };
    let counted = match &verdict.state {
        VerdictState::Scored { counted, .. } => Some(counted),
        VerdictState::NoVerdict { .. } => None,
    };
    let row = |it: &flows::Scored| {
        let short: String = it.recording.chars().take(DIGEST_CHARACTERS).collect();
        line([
            Cell::Link(
                format!("{short}…"),
                format!("/v1/workflows/recordings/{}", address::part(&it.recording)),
            ),
            text(&it.recorder),
            text_or(it.score.map(three_decimals), "none"),
            Cell::Text(String::from(if counted == Some(&it.recording) {
                "the median: it counts"
            } else {
                "kept"
            })),
        ])
    };
    let table = grid(
        format!("The recordings of the plan of {}, by score", plan.plan.miner),
        "=recording | recorder | #score | what became of it",
        verdict.recordings.iter().map(row).collect(),
    );
    let id = format!("recordings-{}", plan.plan.plan_digest.trim_start_matches("sha256:"));
    figure(&id, &table)
}

#[cfg(test)]
mod tests {
    use super::{Score, three_decimals};

    #[test]
    fn scores_have_three_decimals_at_most() {
        for (units, text) in [
            (736_683_163_500_000, "0.736"),
            (1_000_000_000_000_000, "1"),
            (500_000_000_000_000, "0.5"),
            (0, "0"),
            (999_600_000_000_000, "0.999"),
            // In billionths it would be 0.7.
            (699_999_999_999_999, "0.699"),
            (290_000_000_000_000, "0.29"),
        ] {
            assert_eq!(three_decimals(Score::from_units(units)), text);
        }
    }
}
