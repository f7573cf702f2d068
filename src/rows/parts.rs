//! Rows over cases at one task of one subject: the parts of a run become one row, and the runs stay apart, as the task
//! counts them alike. The data alone do not say which they are, so each names its role.

use std::collections::BTreeMap;

use karat_core::facts::Outcome;
use karat_core::number::{Score, round_ratio};

use super::load::Unclear;
use super::names::Names;
use super::problems::Problems;
use super::{MeasuredValue, More, NO_MORE, NONE, Readings, Row, number};
use crate::card::CompiledCard;
use crate::error::Error;
use crate::text::clean;
use std::sync::Arc;

/// The rows over cases of one subject at one task; in a leaderboard of each value of a field, those of one value.
type Key<'r> = (usize, &'r str, &'r [Option<String>]);

const HINT: &str = "a field `part` names the shard of one run, and `run` the repeat over the same cases: any text or number, each its own";

/// Returns the names of the run and of the part that a row is.
fn role(row: &Row) -> (Option<&str>, Option<&str>) {
    (row.more().run.as_deref(), row.more().part.as_deref())
}

/// The names of the rows, for messages.
pub(super) struct Known<'r> {
    pub names: &'r Names,
    pub scorers: &'r [Arc<CompiledCard>],
    /// The subjects, as a reader knows them.
    pub subjects: Vec<&'r str>,
    pub unclear: Unclear,
}

/// Pools the parts of each run among the rows of `order`: the first of them becomes the run, the others leave it. Returns the
/// subjects that are to be left out, each with the reason.
///
/// # Errors
/// If rows over cases at one task do not say whether they are parts or runs, or contradict each other, and are refused for that.
pub(super) fn pool(
    rows: &mut [Row],
    order: &mut Vec<u32>,
    known: &Known<'_>,
) -> Result<BTreeMap<usize, String>, Error> {
    let row = |at: u32| rows.get(at as usize);
    let mut left_out = BTreeMap::new();
    let is_over_cases = |at: &u32| row(*at).is_some_and(|row| row.cases().is_some());
    if known.unclear == Unclear::Apart || !order.iter().any(is_over_cases) {
        return Ok(left_out);
    }
    let mut tasks: BTreeMap<Key<'_>, Vec<(u32, &Row)>> = BTreeMap::new();
    for (at, row) in order.iter().filter_map(|&at| Some((at, row(at)?))) {
        let key = (row.subject, known.names.task_name(row, known.scorers), row.labels());
        tasks.entry(key).or_default().push((at, row));
    }
    let mut problems = Problems::default();
    let mut pooled: Vec<(u32, Row)> = Vec::new();
    let mut gone: Vec<u32> = Vec::new();
    for ((subject, task, _), mut all) in tasks {
        if all.len() < 2 || all.iter().all(|(_, row)| row.cases().is_none()) {
            continue;
        }
        all.sort_by(|(_, a), (_, b)| role(a).cmp(&role(b)));
        if let Some(problem) = known.unclear(task, &all.iter().map(|(_, row)| *row).collect::<Vec<_>>()) {
            match known.unclear {
                Unclear::Refused => problems.add(problem),
                _ => _ = left_out.entry(subject).or_insert(format!("{problem}; {HINT}")),
            }
            continue;
        }
        for run in all.chunk_by(|(_, a), (_, b)| role(a).0 == role(b).0) {
            let same = run.chunk_by(|(_, a), (_, b)| role(a) == role(b));
            let parts: Vec<&Row> = same.filter_map(|same| Some(same.first()?.1)).collect();
            if let [(first, _), others @ ..] = run
                && !others.is_empty()
            {
                pooled.extend(of_parts(&parts).map(|row| (*first, row)));
                gone.extend(others.iter().map(|(at, _)| at));
            }
        }
    }
    problems.end(HINT)?;
    for (at, row) in pooled {
        if known.unclear == Unclear::LeftOutOfStandings && row.is_spread() {
            let subject = known.subjects.get(row.subject).copied().unwrap_or_default();
            left_out.entry(row.subject).or_insert_with(|| spread(&known.names.place(&row), subject));
        }
        rows.iter_mut().skip(at as usize).take(1).for_each(|it| it.clone_from(&row));
    }
    gone.sort_unstable();
    order.retain(|at| gone.binary_search(at).is_err());
    Ok(left_out)
}

/// Returns why a run at this place has no standing: its parts came at different moments.
pub(crate) fn spread(place: &str, subject: &str) -> String {
    format!(
        "{place}: the parts of this run of `{}` came at different moments, so that there is no moment from which the run counts; hand in the whole run as one row",
        clean(subject)
    )
}

impl Known<'_> {
    /// Returns why rows at one task, in order of their roles, cannot be brought together; none if they can.
    fn unclear(&self, task: &str, all: &[&Row]) -> Option<String> {
        let told = |row: &&Row| {
            let cases = row.cases().map_or_else(|| "no `n`".to_owned(), |cases| format!("`n` {cases}"));
            format!("{} ({cases})", self.names.place(row))
        };
        let (part, run) = (|row: &&Row| row.more().part.is_some(), |row: &&Row| row.more().run.is_some());
        let what =
            |row: &Row| (row.score, row.outcome, row.cases(), row.coverage, row.readings.all().to_vec());
        let neighbours = || all.iter().zip(all.iter().skip(1));
        let (why, (one, other)) = if let Some(bare) = all.iter().find(|row| !part(row) && !run(row)) {
            let other = all.iter().rev().find(|row| !std::ptr::eq(**row, *bare))?;
            ("do not all say what they are", (bare, other))
        } else if let Some(pair) = neighbours().find(|(a, b)| run(a) != run(b)) {
            ("are of a `run` in one and of none in another", pair)
        } else if let Some(pair) = neighbours().find(|(a, b)| role(a).0 == role(b).0 && part(a) != part(b)) {
            ("are a whole run and a part of the same", pair)
        } else {
            let is_twice = |(a, b): &(&&Row, &&Row)| role(a) == role(b) && what(a) != what(b);
            ("have the same name and differ", neighbours().find(is_twice)?)
        };
        let mut places = [told(one), told(other)];
        places.sort();
        let [one, other] = places;
        let subject = clean(self.subjects.get(all.first()?.subject).copied().unwrap_or_default());
        let more = if all.len() > 2 { format!(" and {} more", all.len() - 2) } else { String::new() };
        let task = clean(task);
        let mut problem =
            format!("`{subject}` has {} rows at `{task}` that {why}: {one} and {other}{more}", all.len());
        if let Some((parts, cases, runs, largest)) = readings(all, self.scorers) {
            problem += &format!(
                "\nas parts of one run {parts:.3} over {cases} cases, as runs {runs:.3} over {largest}"
            );
        }
        Some(problem)
    }
}

/// Returns what the rows are in points and cases, as parts of one run and as runs; none if one has no number of cases or no
/// score.
fn readings(all: &[&Row], scorers: &[Arc<CompiledCard>]) -> Option<(f64, u64, f64, u64)> {
    let each = all.iter().map(|row| Some((row.cases()?, row.score()?.to_f64())));
    let each: Vec<(u64, f64)> = each.collect::<Option<_>>()?;
    let max = f64::from(scorers.first()?.card().scale.max);
    let cases = each.iter().fold(0, |sum: u64, (cases, _)| sum.saturating_add(*cases));
    let pooled = each.iter().map(|(cases, score)| *cases as f64 * score).sum::<f64>() / cases as f64;
    let mean = each.iter().map(|(_, score)| score).sum::<f64>() / each.len() as f64;
    Some((max * pooled, cases, max * mean, each.iter().map(|(cases, _)| *cases).max()?))
}

/// Returns the run of these parts; none without a part.
fn of_parts(parts: &[&Row]) -> Option<Row> {
    let mut run = (*parts.first()?).clone();
    let each = |of: &dyn Fn(&Row) -> Option<i64>| pooled(parts, of);
    // A run is whole, or it has no value.
    let count = run.readings.all().len();
    run.readings = Readings::new(count, (0..count).map(|at| each(&|row| row.reading(at))));
    run.score = each(&|row| row.score().map(Score::units)).unwrap_or(NONE);
    run.coverage =
        each(&|row| Some(row.coverage())).and_then(|it| u32::try_from(it).ok()).unwrap_or_default();
    let is_decided = |it: &Outcome| matches!(it, Outcome::Succeeded | Outcome::Failed);
    let stated = || parts.iter().filter_map(|row| row.outcome);
    let is_same = parts.iter().all(|row| row.outcome == run.outcome);
    run.outcome = if is_same { run.outcome } else { stated().filter(|it| !is_decided(it)).max() };
    let times = || parts.iter().map(|row| row.time);
    run.time = if times().any(|time| time == NONE) { NONE } else { times().max().unwrap_or(NONE) };
    let arrived = || parts.iter().map(|row| row.arrived);
    run.arrived = arrived().max().unwrap_or(NONE);
    let own = run.more.take().map_or_else(|| NO_MORE.clone(), |more| *more);
    let all = || parts.iter().map(|row| row.more());
    let cases = parts.iter().fold(0, |sum: u64, row| sum.saturating_add(row.cases().unwrap_or_default()));
    let mut gates: Vec<String> = all().flat_map(|more| more.gates.clone()).collect();
    gates.sort_unstable();
    gates.dedup();
    let mean = |of: &dyn Fn(&Row) -> Option<f64>| {
        let each = parts.iter().map(|row| Some(row.cases()? as f64 * of(row)?));
        each.sum::<Option<f64>>().map(|sum| sum / cases as f64)
    };
    let score = |row: &Row| row.score().map(Score::to_f64);
    let has_bounds = parts.iter().any(|row| row.bounds().is_some());
    let low = mean(&|row| row.bounds().map(|it| it.0).or(score(row))).filter(|_| has_bounds);
    let high = mean(&|row| row.bounds().map(|it| it.1).or(score(row)));
    let kept = |(at, first): (usize, &Option<String>)| {
        if all().all(|more| more.kept.get(at) == Some(first)) {
            return first.clone();
        }
        mean(&|row| row.kept(at).and_then(number)).map(|mean| mean.to_string())
    };
    let measured = |at: usize| {
        let before = each(&|row| Some(row.measured(at)?.before))?;
        let age_seconds = parts.iter().filter_map(|row| row.measured(at)).map(|it| it.age_seconds).max()?;
        Some(MeasuredValue { before, age_seconds })
    };
    let is_bare = |key: &String| all().all(|more| more.not_applicable.contains(key));
    let more = More {
        cases: Some(cases),
        part: None,
        run: own.run,
        bounds: low.zip(high),
        measured: (0..own.measured.len()).map(measured).collect(),
        not_applicable: own.not_applicable.into_iter().filter(is_bare).collect(),
        gates,
        labels: own.labels,
        kept: own.kept.iter().enumerate().map(kept).collect(),
        fact: own.fact,
        alike: parts.iter().map(|row| row.arrival).collect(),
        is_spread: arrived().any(|it| it != run.arrived),
    };
    run.more = Some(Box::new(more));
    run.trust = parts.iter().map(|row| row.trust).min().unwrap_or(run.trust);
    Some(run)
}

/// Returns the mean of a value over the cases of all parts; none if a part has no value.
fn pooled(parts: &[&Row], of: &dyn Fn(&Row) -> Option<i64>) -> Option<i64> {
    let (mut sum, mut cases) = (0i128, 0i128);
    for row in parts {
        let own = i128::from(row.cases()?);
        sum += own * i128::from(of(row)?);
        cases += own;
    }
    // Below zero as above, as a rating may be.
    let mean = if sum < 0 { -round_ratio(-sum, cases) } else { round_ratio(sum, cases) };
    i64::try_from(mean).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use crate::json::answer;

    const CARD: &str = r#"
schema = "karat/scorecard/1"
id = "solved"
version = "1.0.0"
title = "Share of tasks solved"
evidence = "facts"
[facts]
solved = { min = 0, max = 1 }
[[dimension]]
key = "solved"
weight = 1
formula = "solved"
"#;

    /// Returns the rows of the leaderboard by subject, or the error.
    fn board(rows: &str, settings: Value) -> Result<Vec<Value>, String> {
        let text = format!("subject,task,id,solved,n,part,run,cost\n{rows}");
        let files = [json!({"name": "rows.csv", "text": text})];
        let asked =
            json!({"question": "leaderboard", "card_text": CARD, "files": files, "settings": settings});
        let found = answer(asked.to_string().as_bytes()).map_err(|error| format!("{error:#}"))?;
        let found: Value = serde_json::from_slice(&found).unwrap();
        Ok(found["leaderboards"][0]["rows"].as_array().unwrap().clone())
    }

    /// Returns name, rank, mean and interval in points of each row.
    fn numbers(rows: &str) -> Vec<(String, String, [f64; 3])> {
        let number = |row: &Value, name: &str| row["score"][name].as_f64().unwrap_or(f64::NAN);
        let each = |row: &Value| {
            let all = ["mean", "low", "high"].map(|name| (number(row, name) * 1e8).round() / 1e8);
            (row["subject"].as_str().unwrap().to_owned(), row["rank"].to_string(), all)
        };
        board(rows, json!({})).unwrap().iter().map(each).collect()
    }

    const RIVAL: &str = "b,t,x,0.81,1000,,,\n";

    #[test]
    fn parts_are_pooled_and_runs_count_once() {
        let whole = numbers(&format!("a,t,1,0.802,1000,,,\n{RIVAL}"));
        assert_eq!((whole[1].0.as_str(), whole[1].2[0]), ("a", 0.802));
        for rows in [
            "a,t,1,1,10,1,,\na,t,2,0.8,990,2,,\n",
            "a,t,2,0.8,990,east,,\na,t,1,1,10,west,,\n",
            // Parts of two runs, of one more a whole, and one that is given twice under two ids.
            "a,t,1,1,10,1,r,\na,t,2,0.8,990,2,r,\na,t,3,0.8,990,2,s,\na,t,4,1,10,1,s,\na,t,5,0.802,1000,,q,\n",
            "a,t,1,1,10,1,,\na,t,2,0.8,990,2,,\na,t,3,0.8,990,2,,\n",
        ] {
            assert_eq!(numbers(&format!("{rows}{RIVAL}")), whole, "{rows}");
        }
        let costs = "a,t,1,1,10,1,,2\na,t,2,0.8,990,2,,4\n";
        let found = board(costs, json!({"with": "cost"})).unwrap();
        assert_eq!(found[0]["columns"]["cost:mean"], json!(3.98));
    }

    #[test]
    fn rows_that_do_not_say_what_they_are_or_contradict_each_other_are_refused() {
        for (rows, expected) in [
            (
                "a,t,1,1,10,,,\na,t,2,0.8,990,,,\n",
                &["rows.csv:2 (`n` 10) and rows.csv:3 (`n` 990)", "0.802 over 1000", "0.900 over 990"][..],
            ),
            ("a,t,1,1,10,1,,\na,t,2,0.8,990,,,\n", &["do not all say what they are"]),
            ("a,t,1,1,10,,1,\na,t,2,0.8,,,,\n", &["do not all say what they are", "no `n`"]),
            ("a,t,1,1,10,1,,\na,t,2,0.8,990,,2,\n", &["are of a `run` in one and of none in another"]),
            ("a,t,1,1,10,1,r,\na,t,2,0.8,990,,r,\n", &["are a whole run and a part of the same"]),
            ("a,t,1,1,10,1,,\na,t,2,0.8,990,1,,\n", &["have the same name and differ"]),
            ("a,t,1,1,10,,1,\na,t,2,0.8,10,,1,\n", &["have the same name and differ"]),
        ] {
            let error = board(rows, json!({})).unwrap_err();
            for part in expected.iter().chain(&["a field `part` names"]) {
                assert!(error.contains(part), "{rows}{error}");
            }
        }
        // Without `n` the fields mean nothing, and other tasks are other results.
        for rows in ["a,t,1,1,,1,,\na,t,2,0.8,,1,,\n", "a,t,1,1,10,,,\na,u,2,0.8,990,,,\n"] {
            board(rows, json!({})).unwrap();
        }
        // A leaderboard of each value of a field has a result each.
        board("a,t,1,1,10,,,x\na,t,2,0.8,990,,,y\n", json!({"group_by": "cost"})).unwrap();
    }

    #[test]
    fn a_mean_over_cases_is_no_attempt() {
        let only = board("a,t,1,0.9,225,,,\n", json!({"attempts": 1})).unwrap_err();
        assert!(only.contains("is a mean over cases and no attempt"), "{only}");
        let card = format!("{CARD}[standing]\nscore = \"window\"\n");
        let files = [json!({"name": "rows.csv", "text": "subject,task,id,solved,n\na,t,1,0.9,225\n"})];
        let asked = json!({"question": "leaderboard", "card_text": card, "files": files, "settings": {"attempts": 1}});
        let official = answer(asked.to_string().as_bytes()).unwrap_err().to_string();
        assert!(official.contains("is a mean over cases and no attempt"), "{official}");
        let mixed = board("a,t,1,0.9,225,,,\na,u,2,1,,,,\n", json!({"attempts": 1})).unwrap();
        let first = &mixed[0]["attempts"][0];
        assert_eq!((&first["tasks"], &first["pass_hat"]["mean"]), (&json!(1), &json!(1)));
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn neither_splitting_nor_repeating_moves_a_number(
            parts in prop::collection::vec((0u64..=10, prop::sample::select(vec![10u64, 20, 50, 400])), 1..6),
            runs in 1usize..4,
            order in any::<u64>(),
        ) {
            let cases: u64 = parts.iter().map(|(_, cases)| cases).sum();
            let passed: u64 = parts.iter().map(|(tenths, cases)| tenths * cases / 10).sum();
            let whole = format!("a,t,w,{},{cases},,,\n", passed as f64 / cases as f64);
            let expected = numbers(&format!("{RIVAL}{whole}"));
            let mut rows: Vec<String> = (0..runs)
                .flat_map(|run| {
                    parts.iter().enumerate().map(move |(at, (tenths, cases))| {
                        format!("a,t,{run}/{at},{},{cases},p{at},{run},\n", *tenths as f64 / 10.0)
                    })
                })
                .collect();
            let count = rows.len();
            rows.rotate_left(order as usize % count);
            if order % 2 == 0 {
                rows.reverse();
            }
            let split = numbers(&format!("{}{RIVAL}", rows.concat()));
            for (found, expected) in split.iter().zip(&expected) {
                prop_assert_eq!((&found.0, &found.1), (&expected.0, &expected.1));
                for (a, b) in found.2.iter().zip(&expected.2) {
                    prop_assert!((a - b).abs() < 2e-8, "{found:?} {expected:?}");
                }
            }
            prop_assert_eq!(split.len(), expected.len());
        }
    }
}
