//! The workflows: a page of all tasks, and one of each with its plans by score, and the recordings behind each score.

use karat::document::Kind;
use karat::text::Writing;
use karat_core::number::Score;

use super::layout::*;
use crate::flows::{self, FlowState, Phase, PlanState, StoredTask, TaskState, VerdictState};
use crate::headline::{self, score, three_decimals};
use crate::market;
use crate::prelude::*;

const DIGEST_CHARACTERS: usize = 19;

pub async fn show(Get(app, caller): Get) -> Answer {
    // If verdicts that are due cannot be written now, the next request tries again.
    let _ = market::settle_due(&app).await;
    let now = app.clock.now();
    let (title, content) = {
        let state = app.memory.flows.state();
        let all: Vec<&TaskState> = state.tasks().collect();
        let told = headline::flows(&all, now);
        let lead = told.lead.join(" ");
        let content = html! {
            (heading(&[("/", "Home")], &told.text, &lead))
            @if all.is_empty() { (empty()) } @else { (tasks(&state, now)) }
        };
        (told.text, content)
    };
    Ok(Sheet { title: &title, part: "/workflows", caller: Some(&caller) }.answer(content))
}

pub async fn task(Get(app, caller): Get, Named(id): Named<String>) -> Answer {
    let _ = market::settle_due(&app).await;
    let now = app.clock.now();
    let (title, content) = {
        let state = app.memory.flows.state();
        let of_task = state.task(&id).ok_or_else(|| market::no_task(&id))?;
        let told = headline::flows(&[of_task], now);
        let asked = of_task.task.content.get("description").and_then(Value::as_str).unwrap_or_default();
        let content = html! {
            (heading(&[("/", "Home"), ("/workflows", "Workflows")], &told.text, &told.lead.join(" ")))
            (plans(of_task, now))
            (about(&of_task.task, asked, now))
            (acts(&[(format!("/v1/workflows/tasks/{}", address::part(&id)), "JSON")]))
        };
        (told.text, content)
    };
    Ok(Sheet { title: &title, part: "/workflows", caller: Some(&caller) }.answer(content))
}

fn empty() -> Markup {
    html! {
        div.empty {
            p { "An administrator posts a task with " code { "POST /v1/workflows/tasks" } ", miners hand in plans, and recorders that are drawn deliver recordings of their runs." }
            p { a href="/v1/openapi.json" { "The API" } " says what each of them takes." }
        }
    }
}

const fn phase(phase: Phase) -> &'static str {
    match phase {
        Phase::Plans => "accepts plans",
        Phase::Recordings => "plans are recorded",
        Phase::Over => "over",
    }
}

fn tasks(state: &FlowState, now: Timestamp) -> Markup {
    let row = |of_task: &TaskState| {
        let task = &of_task.task.task;
        let scored = of_task.plans.values().filter_map(score);
        let best = scored.clone().max().map(three_decimals);
        line([
            Cell::Link(task.task_id.clone(), format!("/workflows/{}", address::part(&task.task_id))),
            text(phase(task.phase(now))),
            text(&task.plans_until),
            text(&task.recordings_until),
            text(of_task.plans.len()),
            text(scored.count()),
            text_or(best, "none yet"),
            Cell::Link(task.card.clone(), address::scorecard(&task.card)),
        ])
    };
    let table = grid(
        "The last posted first",
        "=task | state | plans until | recordings until | #plans | #scored | #best score | scorecard",
        state.tasks().map(row).collect(),
    );
    table_section("tasks", "Tasks", table)
}

fn about(stored: &StoredTask, asked: &str, now: Timestamp) -> Markup {
    let StoredTask { task, draw, .. } = stored;
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
            None => Cell::Text(format!("{} of {} recordings came", plan.deliveries.len(), plan.drawn.len())),
            Some(VerdictState::NoVerdict { reason }) => text(reason),
            Some(VerdictState::Scored { record, .. }) => {
                Cell::Link(String::from("how it adds up"), format!("/records/{}", address::part(record)))
            }
        };
        let all = plan.verdict.iter().flat_map(|verdict| &verdict.recordings).filter_map(|it| it.score);
        let ends = all.clone().min().zip(all.max()).map(|(low, high)| (shown(low), shown(high)));
        let value = score(plan).map_or_else(
            || absent("not yet"),
            |score| Cell::interval(Some(shown(score)), ends, Writing::shares(), false),
        );
        line([
            Cell::Link(plan.plan.miner.clone(), address::subject(&plan.plan.miner, None)),
            value,
            result,
            text(&plan.plan.submitted_at),
            Cell::Text(plan.drawn.join(", ")),
        ])
    };
    let columns = vec![
        column("miner", Kind::Name),
        // The range of all that was recorded.
        column("score", Kind::Interval { sides: None, level: 1.0 }),
        column("result", Kind::Text),
        column("handed in", Kind::Text),
        column("recorders", Kind::Text),
    ];
    let mut plans: Vec<&PlanState> = of_task.plans.values().collect();
    plans.sort_by_key(|plan| std::cmp::Reverse(score(plan)));
    let caption = "Dot: the median, which counts. Bar: from the lowest recording to the highest";
    Table::new(caption, columns, plans.iter().map(row).collect())
}

/// Returns a score as it is written, with three decimals at most: a number that rounds it could be higher.
fn shown(score: Score) -> f64 {
    three_decimals(score).parse().unwrap_or_default()
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
        let link = format!("/v1/workflows/recordings/{}", address::part(&it.recording));
        let role = if counted == Some(&it.recording) { "the median: it counts" } else { "not the median" };
        line([
            Cell::Link(format!("{short}…"), link),
            text(&it.recorder),
            text_or(it.score.map(three_decimals), "none"),
            text(role),
        ])
    };
    let table = grid(
        format!("The recordings of {}’s plan, by score", plan.plan.miner),
        "=recording | recorder | #score | what it counts for",
        verdict.recordings.iter().map(row).collect(),
    );
    let id = format!("recordings-{}", plan.plan.plan_digest.trim_start_matches("sha256:"));
    figure(&id, &table)
}

#[cfg(test)]
mod tests {
    use super::*;

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
            let drawn = karat::text::Writing::shares().number(shown(Score::from_units(units)));
            assert_eq!(drawn.trim_end_matches('0').trim_end_matches('.'), text.trim_end_matches(".0"));
        }
    }
}
