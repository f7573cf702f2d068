//! The history of one subject, moment by moment, out of its items and events.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::ToString;
use alloc::vec::Vec;

use super::fold::{EVALUATION, Fold};
use super::input::{Change, Counted, Subject};
use super::series::{Series, Summary, View};
use super::value::{Counts, SubjectStanding};
use karat_core::facts::Digest;
use karat_core::json::write_string;
use karat_core::scorecard::{LateTreatment, Standing, StandingScore};
use karat_stats::outcome::{OutcomeCounts, Treatment};

/// Returns the standing of a subject from all its items and events.
pub(super) fn replay(
    view: View<'_>,
    as_of_seconds: i64,
    subject: &str,
    own: &Subject<'_>,
) -> SubjectStanding {
    let mut run = Run::new(view, subject, own, as_of_seconds);
    run.moments().into_iter().for_each(|at_seconds| run.step(at_seconds));
    run.sum_up(as_of_seconds, Series::conclusion);
    // What waits may have had its deadline since: then the items of the official score count.
    run.fold.pass(view, as_of_seconds.saturating_add(1));
    let known = run.series.count;
    run.series.take(usize::MAX);
    let ahead = (run.series.count > known).then(|| run.series.conclusion(as_of_seconds));
    let counted = match ahead {
        Some(_) => run.series.counted(as_of_seconds),
        None => run.behind(usize::from(run.fold.history.held.is_none())).counted(as_of_seconds),
    };
    let span = |of: Option<&&Counted<'_>>| of.filter(|_| !own.is_untimed).map(|item| item.at_seconds);
    let mut items: Vec<&Counted<'_>> = own.items.iter().collect();
    items.sort_by_key(|item| (item.at_seconds, item.item.id));
    SubjectStanding {
        counts: counts(view.rules, own, run.series.count, &counted),
        window: counted.iter().map(|item| item.place).collect(),
        items: items.into_iter().map(|item| item.place).collect(),
        span_seconds: span(counted.first()).zip(span(counted.last())),
        is_untimed: own.is_untimed,
        changes: own.changes.iter().map(|(at, change)| (*at, (*change).clone())).collect(),
        ..run.fold.read(view, as_of_seconds, ahead.as_ref())
    }
}

/// The items and events of a subject, taken in moment by moment.
pub(super) struct Run<'r, 'a> {
    view: View<'r>,
    own: &'r Subject<'a>,
    as_of_seconds: i64,
    series: Series<'r, 'a>,
    /// The items behind the held and the official score, once they are fewer than those that are known.
    fewer: [Option<Series<'r, 'a>>; 2],
    pub(super) fold: Fold,
    next_change: usize,
    next_decision: usize,
}

impl<'r, 'a> Run<'r, 'a> {
    pub(super) fn new(view: View<'r>, subject: &str, own: &'r Subject<'a>, as_of_seconds: i64) -> Self {
        let (series, fold) = (Series::new(view, own), Fold::new(subject, own.operator));
        let (fewer, next_change, next_decision) = ([None, None], 0, 0);
        Self { view, own, as_of_seconds, series, fewer, fold, next_change, next_decision }
    }

    /// Returns every moment at which something happens, up to the one that is asked about.
    pub(super) fn moments(&self) -> BTreeSet<i64> {
        let rules = self.view.rules;
        let items = self.series.items().iter().map(|item| item.entered_seconds);
        let decisions = self.own.decisions.iter().map(|(_, decision)| decision.at_seconds);
        let changes = self.own.changes.iter().map(|(at, _)| *at);
        let all = items.chain(decisions).chain(changes).chain(self.view.weights.moments());
        // Where there is a past that counts, what leaves the window has a moment as well.
        let has_past = rules.review.is_some() || rules.certification.is_some();
        let span = rules.window.span_seconds.filter(|_| has_past).map(|span| i64::from(span.get()));
        let leaves = |span: i64| {
            let left = self.series.items().iter();
            let left = left.map(move |item| (item, item.at_seconds.saturating_add(span)));
            left.filter(|(item, left)| *left > item.entered_seconds).map(|(_, left)| left)
        };
        let all = all.chain(span.into_iter().flat_map(leaves));
        all.filter(|at| *at <= self.as_of_seconds).collect()
    }

    /// Takes in what happens at a moment, after what time alone does before it.
    pub(super) fn step(&mut self, at_seconds: i64) {
        let view = self.view;
        self.fold.pass(view, at_seconds);
        let decisions = self.own.decisions.iter().skip(self.next_decision);
        let decisions: Vec<_> =
            decisions.take_while(|(_, decision)| decision.at_seconds <= at_seconds).copied().collect();
        self.next_decision += decisions.len();
        // What a reviewer saw was there before what comes in the same second.
        let decisions = self.fold.decide(view, at_seconds, decisions, true);
        let cause = self.take_in(at_seconds);
        self.sum_up(at_seconds, Series::summary);
        let mut ready = None;
        if let Some(cause) = cause {
            let mut basis = self.fold.basis(view, at_seconds);
            if cause == EVALUATION {
                basis.items = self.series.count;
            }
            ready = Some(self.fold.score(view, cause, basis, at_seconds));
        }
        self.fold.decide(view, at_seconds, decisions, false);
        self.fold.settle(view, at_seconds, ready);
    }

    /// Sums up the items that are known at a moment, and those behind the held and the official score.
    pub(super) fn sum_up(&mut self, at_seconds: i64, summary: fn(&Series<'r, 'a>, i64) -> Summary) {
        self.fold.evidence = alloc::vec![summary(&self.series, at_seconds)];
        for (role, count) in self.fold.counts().into_iter().enumerate() {
            if count.is_some_and(|count| count < self.series.count) {
                let summary = summary(self.behind(role), at_seconds);
                self.fold.evidence.push(summary);
            }
        }
    }

    /// Returns the items behind the held or the official score, or all that are known.
    fn behind(&mut self, role: usize) -> &Series<'r, 'a> {
        let count = self.fold.counts().get(role).copied().flatten();
        let fewer = count.filter(|count| *count < self.series.count).zip(self.fewer.get_mut(role));
        let Some((count, series)) = fewer else { return &self.series };
        let series = series.get_or_insert_with(|| Series::new(self.view, self.own));
        if series.count > count {
            *series = Series::new(self.view, self.own);
        }
        series.take(count);
        series
    }

    /// Takes in the items and changes up to a moment; says what a new score comes from, if there can be one.
    fn take_in(&mut self, at_seconds: i64) -> Option<&'static str> {
        let known = self.series.count;
        self.series.take_in(at_seconds);
        let mut cause = (self.series.count > known).then_some(EVALUATION);
        if cause.is_some() && self.view.rules.review.is_some() {
            self.fold.digest = Some(self.evidence(known));
        }
        let fold = &mut self.fold;
        while let Some((_, change)) =
            self.own.changes.get(self.next_change).filter(|(at, _)| *at <= at_seconds)
        {
            match change {
                Change::IncidentOpened(id) => _ = fold.incidents.insert(id.clone()),
                Change::IncidentClosed(id) => _ = fold.incidents.remove(id.as_str()),
                Change::Held => fold.is_on_hold = true,
                Change::Released => fold.is_on_hold = false,
            }
            self.next_change += 1;
            cause = cause.or(Some("gate"));
        }
        // An older time does not hide who brings a score up.
        let latest = self.series.count.checked_sub(1).and_then(|last| self.series.entry(last));
        let runner = latest.and_then(|item| item.item.runner).unwrap_or_default();
        if fold.runner != runner {
            fold.runner = runner.to_string();
        }
        cause.or_else(|| self.view.weights.moments().any(|moment| moment == at_seconds).then_some("weights"))
    }

    /// Returns the digest of the items since the official score, of which those after `known` are new: of the digest before and of
    /// a line for each, in the order of the ids.
    fn evidence(&self, known: usize) -> Digest {
        let fold = &self.fold;
        let is_official =
            fold.history.canonical.as_ref().is_none_or(|official| official.basis.items == known);
        let before = fold.digest.filter(|_| !is_official).unwrap_or_else(|| fold.digest_of_none());
        let mut new: Vec<_> = (known..self.series.count).filter_map(|at| self.series.entry(at)).collect();
        new.sort_by_key(|counted| counted.item.id);
        let mut lines = format!("{before}\n").into_bytes();
        for counted in new {
            lines.extend_from_slice(format!("{} ", counted.item.digest).as_bytes());
            write_string(&mut lines, counted.item.id);
            lines.push(b'\n');
        }
        Digest::of(&lines)
    }
}

fn counts(rules: &Standing, own: &Subject<'_>, seen: usize, window: &[&Counted<'_>]) -> Counts {
    let is_excluded = |item: &&Counted<'_>| {
        item.item.outcome.is_some_and(|outcome| rules.outcomes.treatment(outcome) == Treatment::Excluded)
    };
    let excluded = own.items.iter().filter(is_excluded).count();
    let late = own.items.iter().filter(|item| item.is_late);
    let late_excluded = match rules.late.treatment {
        LateTreatment::Excluded => late.clone().filter(|item| !is_excluded(item)).count(),
        LateTreatment::AsStated | LateTreatment::AsArrived => 0,
    };
    let mut tasks: BTreeMap<&str, u64> = BTreeMap::new();
    if rules.score == StandingScore::Window {
        for item in window {
            *tasks.entry(item.item.task).or_default() += 1;
        }
    }
    Counts {
        seen: seen as u64,
        in_window: window.len() as u64,
        distinct_tasks: tasks.len() as u64,
        largest_task_items: tasks.values().copied().max().unwrap_or_default(),
        window_tasks: rules.window.tasks.map(core::num::NonZeroU32::get),
        outcomes: OutcomeCounts::of(own.items.iter().filter_map(|item| item.item.outcome)),
        outcome_unstated: own.items.iter().filter(|item| item.item.outcome.is_none()).count() as u64,
        excluded: excluded as u64,
        late: late.clone().count() as u64,
        late_excluded: late_excluded as u64,
        late_after_seconds: rules.late.after_seconds,
        unscored: own.items.len().saturating_sub(seen + excluded + late_excluded) as u64,
    }
}
