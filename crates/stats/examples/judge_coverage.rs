//! Coverage of what is said of judges and from them, in simulated tasks of which the truth is known.
//!
//! `cargo run --release -p karat-stats --example judge_coverage [EXPERIMENTS]` prints tables in Markdown. The standard error of a
//! share of .95 is .007 with 1,000 experiments.

use std::error::Error;

use karat_stats::agreement::{
    Accuracy, Agreement, Bias, BiasItem, JudgedItem, Measure, RatedItem, Weighting,
};
use karat_stats::prediction::{Predicted, PredictedDifference, Rated};
use karat_stats::random::Random;
use karat_stats::{Interval, StatisticsError};

const LEVEL: f64 = 0.95;

/// The way in which the judge errs.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Judge {
    /// To both sides, each verdict on its own.
    Fair,
    /// It passes failures, twice as often, and never fails a pass.
    Biased,
    /// To both sides, half of the tasks at all their attempts or at none.
    Alike,
}

fn toss(random: &mut Random, chance: f64) -> bool {
    random.open_unit() < chance
}

/// Draws labels and verdicts at the attempts of a task: it has a chance below or above the mean `share`.
fn task(
    random: &mut Random,
    attempts: usize,
    share: f64,
    is_hard: bool,
    judge: Judge,
    wrong: f64,
) -> Vec<(bool, bool)> {
    let swing = 0.8 * share.min(1.0 - share);
    let chance = if is_hard { share - swing } else { share + swing };
    let shared = (judge == Judge::Alike && toss(random, 0.5)).then(|| random.open_unit());
    let each = |_| {
        let label = toss(random, chance);
        let limit = match (judge, label) {
            (Judge::Biased, true) => 0.0,
            (Judge::Biased, false) => 2.0 * wrong,
            _ => wrong,
        };
        let own = random.open_unit();
        (label, label != (shared.unwrap_or(own) < limit))
    };
    (0..attempts).map(each).collect()
}

/// Makes rows of a subject, of which a random sample is labelled.
fn sample(random: &mut Random, subject: usize, tasks: &[Vec<(bool, bool)>], labels: usize) -> Vec<Rated> {
    let number = |is: bool| f64::from(u8::from(is));
    let mut left = tasks.iter().map(Vec::len).sum::<usize>();
    let mut open = labels;
    let mut rows = Vec::new();
    for (task, items) in tasks.iter().enumerate() {
        for &(label, verdict) in items {
            let is_chosen = toss(random, open as f64 / left as f64);
            open -= usize::from(is_chosen);
            left -= 1;
            rows.push(Rated {
                task,
                subject,
                label: is_chosen.then_some(number(label)),
                verdict: number(verdict),
            });
        }
    }
    rows
}

/// Counts intervals.
#[derive(Debug, Clone, Copy, Default)]
struct Count {
    covered: u32,
    width: f64,
    all: u32,
}

impl Count {
    fn add(&mut self, interval: Option<Interval>, truth: f64) {
        if let Some(it) = interval {
            self.covered += u32::from(it.low - 1e-9 <= truth && truth <= it.high + 1e-9);
            self.width += it.high - it.low;
            self.all += 1;
        }
    }

    fn cell(self) -> String {
        let all = f64::from(self.all.max(1));
        format!("{:.3} ({:.3})", f64::from(self.covered) / all, self.width / all)
    }
}

/// Prints the coverage of means.
fn means(experiments: u32) -> Result<(), StatisticsError> {
    println!("\nMean of a subject: coverage (width) of intervals at {LEVEL}\n");
    println!(
        "| tasks x attempts | mean | judge | wrong | labels | labels only | judge only | with judge | worth |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    let cell = |(tasks, attempts): (usize, usize), share, judge, wrong, labels: usize| {
        let mut random =
            Random::stream(labels as u64 + 1000 * tasks as u64, (wrong * 100.0) as u64 + 1000 * judge as u64);
        let (mut counts, mut worth) = ([Count::default(); 3], 0.0);
        for _ in 0..experiments {
            let all: Vec<_> = (0..tasks)
                .map(|_| {
                    let is_hard = toss(&mut random, 0.5);
                    task(&mut random, attempts, share, is_hard, judge, wrong)
                })
                .collect();
            let rows = sample(&mut random, 0, &all, labels);
            let judged: Vec<Rated> = rows.iter().map(|it| Rated { label: Some(it.verdict), ..*it }).collect();
            // Of few labels at few tasks, too few tasks may have one.
            let Ok(with) = Predicted::new(&rows, 0, None, LEVEL) else { continue };
            let found = [
                Predicted::new(&rows, 0, Some(0.0), LEVEL)?.interval,
                Predicted::new(&judged, 0, Some(0.0), LEVEL)?.interval,
                with.interval,
            ];
            counts.iter_mut().zip(found).for_each(|(count, it)| count.add(Some(it), share));
            worth += with.parts.effective_labels(with.labels);
        }
        let [only, judged, with] = counts.map(Count::cell);
        println!(
            "| {tasks} x {attempts} | {share} | {judge:?} | {wrong} | {labels} | {only} | {judged} | {with} | {:.0} |",
            worth / f64::from(counts[2].all.max(1))
        );
        Ok(())
    };
    for share in [0.5, 0.9] {
        for judge in [Judge::Fair, Judge::Biased, Judge::Alike] {
            for wrong in [0.05, 0.2, 0.35] {
                for labels in [25, 50, 100, 300] {
                    cell((150, 5), share, judge, wrong, labels)?;
                }
            }
        }
    }
    for shape in [(25, 30), (600, 1)] {
        for labels in [50, 100, 300] {
            cell(shape, 0.7, Judge::Alike, 0.2, labels)?;
        }
    }
    Ok(())
}

/// Compares two subjects at the same 150 tasks of 5 attempts, of which the judge favours the first.
fn difference(
    random: &mut Random,
    (first, second): (f64, f64),
    labels: usize,
) -> Result<[PredictedDifference; 2], StatisticsError> {
    let (mut own, mut other) = (Vec::new(), Vec::new());
    for _ in 0..150 {
        let is_hard = toss(random, 0.5);
        own.push(task(random, 5, first, is_hard, Judge::Biased, 0.2));
        other.push(task(random, 5, second, is_hard, Judge::Fair, 0.2));
    }
    let mut rows = sample(random, 0, &own, labels);
    rows.extend(sample(random, 1, &other, labels));
    Ok([
        PredictedDifference::new(&rows, (0, 1), Some(0.0), LEVEL)?,
        PredictedDifference::new(&rows, (0, 1), None, LEVEL)?,
    ])
}

/// Prints the coverage of differences, and what a planned number of labels shows.
fn differences(experiments: u32) -> Result<(), StatisticsError> {
    println!("\nDifference of two subjects, the judge wrong at .2 and for the first: coverage (width)\n");
    println!("| means | labels of each | labels only | with judge |\n|---|---|---|---|");
    for (first, second) in [(0.5, 0.5), (0.6, 0.5), (0.9, 0.9), (0.95, 0.85)] {
        for labels in [25, 50, 100, 300] {
            let mut random = Random::stream(labels as u64, (first * 100.0) as u64);
            let mut counts = [Count::default(); 2];
            for _ in 0..experiments {
                let Ok(found) = difference(&mut random, (first, second), labels) else { continue };
                counts.iter_mut().zip(found).for_each(|(count, it)| {
                    count.add(Some(it.interval), first - second);
                });
            }
            let [only, with] = counts.map(Count::cell);
            println!("| {first}, {second} | {labels} | {only} | {with} |");
        }
    }
    println!(
        "\nLabels of each subject that are said to show a gap at a power of .8, of 300 labels; the share that shows it\n"
    );
    println!("| gap | labels only | shown | with judge | shown |\n|---|---|---|---|---|");
    for gap in [0.1, 0.15, 0.2] {
        let mut random = Random::stream(5, (gap * 100.0) as u64);
        let mut plans = [Vec::new(), Vec::new()];
        for _ in 0..experiments.min(200) {
            let [_, with] = difference(&mut random, (0.6, 0.6 - gap), 300)?;
            let needed = with.parts.labels_for_gap(gap, LEVEL, 0.8)?;
            plans[0].extend(needed.labels_only);
            plans[1].extend(needed.with_judge);
        }
        let mut cells = Vec::new();
        for (at, plan) in plans.iter_mut().enumerate() {
            plan.sort_unstable();
            let Some(&labels) = plan.get(plan.len() / 2) else {
                cells.push("none | ".to_owned());
                continue;
            };
            let (mut shown, mut all) = (0, 0);
            for _ in 0..experiments {
                let Ok(found) = difference(&mut random, (0.6, 0.6 - gap), labels as usize) else { continue };
                shown += u32::from(found[at].interval.low > 0.0);
                all += 1;
            }
            cells.push(format!("{labels} | {:.3}", f64::from(shown) / f64::from(all)));
        }
        println!("| {gap} | {} |", cells.join(" | "));
    }
    Ok(())
}

/// The measures of a judge, in the order of [`NAMES`].
type Measures = [Option<Measure>; 11];
const NAMES: [&str; 11] = [
    "share", "kappa", "Fleiss", "AC1", "sensitivity", "specificity", "balanced", "family", "at labels",
    "length", "at labels",
];

/// Measures a judge at tasks of 4 attempts, half of them of its family.
fn measures(
    random: &mut Random,
    tasks: usize,
    share: f64,
    judge: Judge,
    wrong: f64,
) -> Result<Measures, StatisticsError> {
    let (mut pairs, mut items, mut biases, mut lengths) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let number = |is: bool| f64::from(u8::from(is));
    for at in 0..tasks {
        let is_hard = toss(random, 0.5);
        for (attempt, (label, verdict)) in
            task(random, 4, share, is_hard, judge, wrong).into_iter().enumerate()
        {
            // It favours its own family, and long answers.
            let (is_own, length) = (attempt % 2 == 0, random.normal());
            let verdict = verdict || (is_own && toss(random, 0.2)) || (length > 1.0 && toss(random, 0.2));
            pairs.push((at, [Some(usize::from(label)), Some(usize::from(verdict))]));
            items.push(JudgedItem { task: at, label, verdict });
            let item = BiasItem {
                task: at,
                label: number(label),
                verdict: number(verdict),
                covariate: number(is_own),
            };
            biases.push(item);
            lengths.push(BiasItem { covariate: length, ..item });
        }
    }
    let rated: Vec<RatedItem<'_>> =
        pairs.iter().map(|(task, verdicts)| RatedItem { task: *task, verdicts }).collect();
    let agreement = Agreement::new(&rated, 2, 2, Weighting::Identity, LEVEL)?;
    let accuracy = Accuracy::new(&items, LEVEL)?;
    let (family, length) = (Bias::of_group(&biases, LEVEL)?, Bias::by_covariate(&lengths, LEVEL)?);
    Ok([
        Some(agreement.share),
        agreement.kappa,
        agreement.fleiss,
        agreement.ac,
        accuracy.sensitivity,
        accuracy.specificity,
        accuracy.balanced,
        Some(family.slope),
        family.at_equal_labels,
        Some(length.slope),
        length.at_equal_labels,
    ])
}

/// Prints the coverage of measures of judges.
fn judges(experiments: u32) -> Result<(), StatisticsError> {
    println!("\nMeasures of a judge at tasks of 4 attempts: coverage at {LEVEL}\n");
    println!("| mean | judge | wrong | tasks | {} |", NAMES.join(" | "));
    println!("|---|---|---|---|{}", "---|".repeat(NAMES.len()));
    for (share, judge, wrong) in [
        (0.5, Judge::Fair, 0.05),
        (0.5, Judge::Alike, 0.2),
        (0.8, Judge::Alike, 0.1),
        (0.9, Judge::Biased, 0.2),
    ] {
        let truth =
            measures(&mut Random::new(99), 300_000, share, judge, wrong)?.map(|it| it.map(|it| it.value));
        for tasks in [10, 20, 50, 150] {
            let mut random = Random::stream(tasks as u64, (wrong * 100.0) as u64 + (share * 10.0) as u64);
            let mut counts = [Count::default(); NAMES.len()];
            for _ in 0..experiments {
                let found = measures(&mut random, tasks, share, judge, wrong)?;
                for ((count, found), truth) in counts.iter_mut().zip(found).zip(truth) {
                    count.add(found.and_then(|it| it.interval), truth.unwrap_or(f64::NAN));
                }
            }
            let cells = counts.map(|it| match it.all {
                0 => "none".to_owned(),
                all => format!("{:.3}", f64::from(it.covered) / f64::from(all)),
            });
            println!("| {share} | {judge:?} | {wrong} | {tasks} | {} |", cells.join(" | "));
        }
    }
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "the number of experiments reaches no score")]
fn main() -> Result<(), Box<dyn Error>> {
    let experiments = std::env::args().nth(1).map_or(Ok(1000), |asked| asked.parse())?;
    println!("{experiments} experiments a cell");
    means(experiments)?;
    differences(experiments)?;
    judges(experiments)?;
    Ok(())
}
