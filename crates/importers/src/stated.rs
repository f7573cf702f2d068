//! The comparison of the numbers that a log states of itself with those of its items.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

/// A mean that a log states.
#[derive(Debug)]
pub(super) struct Stated {
    /// The words for it: ``the accuracy of `match` ``.
    pub words: String,
    /// The fact that has the values of the score.
    pub fact: String,
    pub value: f64,
    /// A reason for which the items may give another number.
    pub how: Option<String>,
}

type Score<'s> = (Cow<'s, str>, Option<f64>);

/// The values of a score in the items.
#[derive(Debug, Default)]
struct Tally {
    count: u64,
    sum: f64,
    /// The sum and number of the values at each task, and how often the score is not a number there.
    tasks: BTreeMap<u64, (f64, u32, u32)>,
}

/// The means that a log states, and the values of its items.
#[derive(Debug, Default)]
pub(super) struct Account {
    /// True if the log states its means after its items, so that all of their scores are counted.
    pub is_awaited: bool,
    stated: Vec<Stated>,
    tallies: BTreeMap<String, Tally>,
    /// The number of scores that the items lack for another reason than that the log has none.
    unjudged: BTreeMap<String, u64>,
    runs: u64,
}

impl Account {
    /// Adds a mean that the log states.
    pub(super) fn states(&mut self, stated: Option<Stated>) {
        self.stated.extend(stated);
    }

    /// Counts a score of the log that its item does not have.
    pub(super) fn has_unjudged(&mut self, fact: String) {
        *self.unjudged.entry(fact).or_default() += 1;
    }

    /// Adds an item with its scores, by the facts that have them; null for a score that is not a number.
    pub(super) fn run<'s>(&mut self, task: Option<&str>, scores: impl Iterator<Item = Score<'s>>) {
        if self.stated.is_empty() && !self.is_awaited {
            return;
        }
        self.runs += 1;
        let mut hasher = DefaultHasher::new();
        task.hash(&mut hasher);
        let task = hasher.finish();
        for (fact, value) in scores {
            if !self.is_awaited && self.stated.iter().all(|stated| stated.fact != fact) {
                continue;
            }
            let tally = self.tallies.entry(fact.into_owned()).or_default();
            let (value, is_number) = (value.unwrap_or_default(), value.is_some());
            tally.count += u64::from(is_number);
            tally.sum += value;
            let (sum, count, without) = tally.tasks.entry(task).or_default();
            *sum += value;
            *(if is_number { count } else { without }) += 1;
        }
    }

    /// Says which means that `file` states do not follow from its items.
    pub(super) fn end(&self, file: &str) -> Vec<String> {
        self.stated.iter().filter_map(|stated| self.compared(stated, file)).collect()
    }

    fn compared(&self, stated: &Stated, file: &str) -> Option<String> {
        let Stated { words, fact, value, how } = stated;
        let short = |value: f64| (value * 1e4).round() / 1e4;
        let said = format!("`{file}` states {} as {words}", short(*value));
        let Some(tally) = self.tallies.get(fact).filter(|tally| tally.count > 0) else {
            let why = how.as_ref().map(|how| format!(": {how}")).unwrap_or_default();
            return (self.runs > 0).then(|| format!("{said}, and none of its items has that score{why}"));
        };
        let mean = |with: u32| {
            let tasks = tally.tasks.values().map(|(sum, count, without)| (sum, count + with * without));
            let means = tasks.filter(|(_, count)| *count > 0).map(|(sum, count)| sum / f64::from(count));
            let (sum, tasks) = means.fold((0.0, 0), |(sum, tasks), mean| (sum + mean, tasks + 1));
            (sum / f64::from(tasks), tasks)
        };
        let (own, tasks) = mean(0);
        let unread = tally.tasks.values().map(|(_, _, without)| u64::from(*without)).sum();
        let without = self.runs.saturating_sub(tally.count);
        let failures = [(unread, mean(1).0), (without, tally.sum / self.runs as f64)];
        let failures = failures.into_iter().find(|(count, mean)| *count > 0 && is_close(*mean, *value));
        let why = if is_close(own, *value) {
            return None;
        } else if let Some((failures, _)) = failures {
            format!(": {failures} without a verdict are failures there")
        } else if let Some(how) = how {
            format!(": {how}")
        } else if let Some(count) = self.unjudged.get(fact) {
            format!(": {count} of its scores are of samples without a verdict here")
        } else if is_close(tally.sum / tally.count as f64, *value) {
            String::from(": it is the mean of all attempts there, and of tasks here")
        } else {
            String::from(", and does not say why")
        };
        Some(format!("{said}; its items give {} over {tasks}{why}", short(own)))
    }
}

/// Returns whether a number may be the one that is stated, which may be rounded to three digits or more.
fn is_close(own: f64, stated: f64) -> bool {
    let digits = stated.to_string().split_once('.').map_or(0, |(_, digits)| digits.len());
    let is_rounded = (3..8).contains(&digits) && format!("{own:.digits$}").parse() == Ok(stated);
    is_rounded || (own - stated).abs() <= 1e-8 * stated.abs().max(1.0)
}
