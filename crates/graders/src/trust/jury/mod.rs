//! Juries: several judges' verdicts on one output become a number, a measure of how far they agree, and an outcome.
//!
//! [`panel`] takes verdicts as evidence has them and returns everything that was seen. The rules come from the trust
//! document, section 3 (trim a fifth of the scores on each side, then the median); what it leaves open, quorum, agreement and
//! outcome, is a choice of karat, and so are seats for models that a card may ask for.

mod seats;

use std::borrow::Borrow;
use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

pub(crate) use seats::SCALE_POINTS;
pub use seats::Summary;

use super::problems::{found, required};
use karat_evidence::json::problem::{Problem, Problems, quoted};

/// One judge's verdict on one output.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Verdict {
    /// The judge; one verdict per judge and panel.
    pub judge: String,
    /// The company behind the judge. An unknown one helps no quorum.
    pub provider: Option<String>,
    /// The judge's model. By [`JuryRules::one_seat_per_model`] judges of the same provider and model count as one.
    pub model: Option<String>,
    /// Points, 0 to `max_score`; needed where the status is valid, and refused elsewhere.
    pub score: Option<f64>,
    /// The judge's scale, above 0; 100 if it is not given.
    #[serde(default = "scale")]
    pub max_score: f64,
    /// True if the judge gave points.
    #[serde(default)]
    pub status: VerdictStatus,
}

fn scale() -> f64 {
    SCALE_POINTS
}

/// Status of a judge's task.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum VerdictStatus {
    /// Points were given.
    #[default]
    Valid,
    /// The judge declined.
    Abstained,
    /// The judge's answer could not be used.
    Failed,
    /// The judge gave no answer in time.
    TimedOut,
}

impl VerdictStatus {
    /// Returns the name, as evidence writes it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Valid => "valid",
            Self::Abstained => "abstained",
            Self::Failed => "failed",
            Self::TimedOut => "timed-out",
        }
    }
}

/// The numbers of the jury's rules; the defaults are a choice of karat. That a third of the panel
/// may come from the judged model's provider, and a third may reject, is fixed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct JuryRules {
    /// Valid seats that a quorum needs.
    pub quorum_seats: usize,
    /// Providers that a quorum needs.
    pub quorum_providers: usize,
    /// The most points from the median at which a kept seat agrees.
    pub agreement_points: f64,
    /// The share of agreeing seats from which the panel is consensual.
    pub consensual_share: f64,
    /// Below this share of agreeing seats the panel is split.
    pub split_share: f64,
    /// The median from which the output may pass.
    pub pass_points: f64,
    /// A seat below this rejects the output; it fails to pass if more than a third of all seats do.
    pub reject_points: f64,
    /// True if judges of one provider and model have one seat, with their median. The document trims scores, so by default each
    /// verdict has a seat.
    pub one_seat_per_model: bool,
}

impl JuryRules {
    /// Reads the table `jury` of a card, of its tables for graders: `{"jury": {"seats": "verdict"}}`, or `"model"`.
    ///
    /// # Errors
    ///
    /// If there are other tables, settings or seats.
    pub fn from_json(tables: &Value) -> Result<Self, Problems> {
        let (mut rules, mut problems) = (Self::default(), Problems::default());
        for (name, table) in tables.as_object().into_iter().flatten() {
            let settings = table.as_object().filter(|_| name == "jury");
            if settings.is_none() {
                problems.add(|| found(&format!("$.{name}"), "a table", "`jury`, the table of agents"));
            }
            for (key, value) in settings.into_iter().flatten() {
                let path = format!("$.jury.{key}");
                match (key.as_str(), value.as_str()) {
                    ("seats", Some("verdict")) => rules.one_seat_per_model = false,
                    ("seats", Some("model")) => rules.one_seat_per_model = true,
                    ("seats", _) => problems.add(|| found(&path, value, "\"verdict\" or \"model\"")),
                    _ => problems.add(|| found(&path, "a setting that juries do not have", "`seats`")),
                }
            }
        }
        if problems.is_empty() { Ok(rules) } else { Err(problems) }
    }
}

impl Default for JuryRules {
    fn default() -> Self {
        Self {
            quorum_seats: 3,
            quorum_providers: 2,
            agreement_points: 10.0,
            consensual_share: 0.70,
            split_share: 0.50,
            pass_points: 60.0,
            reject_points: 40.0,
            one_seat_per_model: false,
        }
    }
}

/// The position of a seat after the trimming.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SeatPlace {
    /// Among the lowest fifth: trimmed.
    TrimmedLow,
    /// Kept.
    Kept,
    /// Among the highest fifth: trimmed.
    TrimmedHigh,
}

/// One seat of a panel: a judge, or judges that count as one.
#[derive(Debug, Clone, PartialEq)]
pub struct PanelSeat {
    /// The judges on it, sorted; ties of points are ordered by the first.
    pub judges: Vec<String>,
    /// Their provider, if it is known.
    pub provider: Option<String>,
    /// Points, 0 to 100 on a grid of 1e-9; the median of its judges.
    pub points: f64,
    /// Its position.
    pub place: SeatPlace,
}

/// Decision of a panel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// The median passes, and at most a third reject.
    Pass,
    /// The median does not pass.
    Fail,
    /// The judges do not agree enough, or the median passes against more than a third: a person should look.
    Split,
}

/// Result of a panel's verdicts.
#[derive(Debug, Clone, PartialEq)]
pub struct Panel {
    /// The seats that gave points, lowest first, ties by judge.
    pub seats: Vec<PanelSeat>,
    /// Judges without points, in the order of their ids, and why.
    pub excluded: Vec<(String, VerdictStatus)>,
    /// The numbers; none without a seat.
    pub summary: Option<Summary>,
    /// Requirements that the quorum does not meet; empty if there is one.
    pub quorum_lacks: Vec<String>,
    /// True if enough of the kept seats agree. Agreement is not approval: a unanimous rejection is consensual too.
    pub is_consensual: bool,
    /// The decision; none without a seat.
    pub outcome: Option<Outcome>,
}

impl Panel {
    /// Returns the median as a share, 0 to 1; none without a seat.
    pub fn score(&self) -> Option<f64> {
        self.summary.map(|summary| summary.median / SCALE_POINTS)
    }

    /// Returns whether there are at most two seats: a median, but nothing to trim and nothing to agree with.
    pub fn is_low_panel(&self) -> bool {
        self.seats.len() <= 2
    }

    /// Returns the factor of the weight of the judged item: 0 without a quorum, one half for a split panel, else 1.
    pub fn weight(&self) -> f64 {
        match self.outcome {
            _ if !self.quorum_lacks.is_empty() => 0.0,
            Some(Outcome::Split) => 0.5,
            _ => 1.0,
        }
    }

    /// Returns the points of the seats at `place`, lowest first.
    pub fn points(&self, place: SeatPlace) -> impl Iterator<Item = f64> {
        self.seats.iter().filter(move |seat| seat.place == place).map(|seat| seat.points)
    }

    /// Returns the observations: `seats`, `trim_each_side`, `trimmed_low`, `kept`, `trimmed_high` (each `{judges,
    /// points}`), `median`, `trimmed_mean`, `median_absolute_deviation`, `range`, `agreement` (null without a seat), `is_consensual`,
    /// `is_low_panel`, `quorum_lacks`, `excluded` (`{judge, status}`), `outcome`, `weight`.
    pub fn detail(&self) -> Value {
        let at = |place| -> Vec<Value> {
            let seats = self.seats.iter().filter(|seat| seat.place == place);
            seats.map(|seat| json!({ "judges": seat.judges, "points": seat.points })).collect()
        };
        let excluded = self.excluded.iter();
        let number = |number: fn(&Summary) -> f64| self.summary.as_ref().map(number);
        json!({
            "seats": self.seats.len(),
            "trim_each_side": seats::trim_each_side(self.seats.len()),
            "trimmed_low": at(SeatPlace::TrimmedLow),
            "kept": at(SeatPlace::Kept),
            "trimmed_high": at(SeatPlace::TrimmedHigh),
            "median": number(|it| it.median),
            "trimmed_mean": number(|it| it.trimmed_mean),
            "median_absolute_deviation": number(|it| it.median_absolute_deviation),
            "range": number(|it| it.range),
            "agreement": number(|it| it.agreement),
            "is_consensual": self.is_consensual,
            "is_low_panel": self.is_low_panel(),
            "quorum_lacks": self.quorum_lacks,
            "excluded": excluded
                .map(|(judge, status)| json!({ "judge": judge, "status": status.name() }))
                .collect::<Vec<_>>(),
            "outcome": self.outcome,
            "weight": self.weight(),
        })
    }
}

/// Puts rows of verdicts together: one panel for each output, in the order of their names.
pub fn panels<'a, V>(rows: impl IntoIterator<Item = (&'a str, V)>) -> BTreeMap<&'a str, Vec<V>> {
    let mut panels: BTreeMap<&str, Vec<V>> = BTreeMap::new();
    for (output, verdict) in rows {
        panels.entry(output).or_default().push(verdict);
    }
    panels
}

/// Judges that count as one: those of one provider and model by [`JuryRules::one_seat_per_model`], else one alone.
type Bench<'a> = (Option<(Option<&'a str>, &'a str)>, Option<&'a str>);

/// Aggregates the verdicts of one panel, in whatever order they come. `own_provider` is the provider of the judged model, where it
/// is known: judges prefer their own kin (Panickssery et al. 2024), so at most a third of the seats may be its.
///
/// # Errors
///
/// If verdicts cannot be right: every one. A scale that is not above 0, points outside of it, a judge that is given
/// twice.
pub fn panel<V: Borrow<Verdict>>(
    verdicts: &[V],
    own_provider: Option<&str>,
    rules: &JuryRules,
) -> Result<Panel, Problems> {
    let mut problems = Problems::default();
    let mut judges = BTreeSet::new();
    for (at, verdict) in verdicts.iter().map(Borrow::borrow).enumerate() {
        let path = format!("$[{at}]");
        check(verdict, &path, &mut problems);
        if !judges.insert(verdict.judge.as_str()) {
            problems.add(|| twice(&path, &verdict.judge));
        }
    }
    if problems.is_empty() { Ok(aggregate(verdicts, own_provider, rules)) } else { Err(problems) }
}

pub(super) fn twice(path: &str, judge: &str) -> Problem {
    found(&format!("{path}.judge"), format!("{} once more", quoted(judge)), "every judge once in a panel")
}

pub(super) fn check(verdict: &Verdict, path: &str, problems: &mut Problems) {
    required(&verdict.judge, &format!("{path}.judge"), problems);
    let scale = verdict.max_score;
    if !(scale > 0.0 && scale.is_finite()) {
        let expected = "a number above 0";
        return problems.add(|| found(&format!("{path}.max_score"), quoted(&scale.to_string()), expected));
    }
    let path = format!("{path}.score");
    match (verdict.status, verdict.score) {
        (VerdictStatus::Valid, None) => {
            let hint = "give its points, or say in `status` why it has no points";
            problems.refuse(path, "nothing", "the points of a valid verdict", hint);
        }
        (VerdictStatus::Valid, Some(score)) if !(0.0..=scale).contains(&score) => {
            let expected = format!("a number from 0 to {scale}");
            problems.add(|| found(&path, quoted(&score.to_string()), expected));
        }
        (VerdictStatus::Valid, Some(_)) | (_, None) => {}
        (status, Some(score)) => problems.add(|| {
            let expected = format!("no points from a verdict that is {}", status.name());
            found(&path, quoted(&score.to_string()), expected)
        }),
    }
}

/// Runs [`panel`] over verdicts that were checked. One that breaks the rules all the same has no points, so no seat.
pub(super) fn aggregate<V: Borrow<Verdict>>(
    verdicts: &[V],
    own_provider: Option<&str>,
    rules: &JuryRules,
) -> Panel {
    let mut benches: BTreeMap<Bench<'_>, Vec<(&str, f64)>> = BTreeMap::new();
    let mut excluded = Vec::new();
    for verdict in verdicts.iter().map(Borrow::borrow) {
        let points = match (verdict.status, verdict.score) {
            (VerdictStatus::Valid, Some(score)) => {
                // On the scale already, no rounding may touch it.
                let is_on_scale = (verdict.max_score - SCALE_POINTS) == 0.0;
                if is_on_scale { score } else { score / verdict.max_score * SCALE_POINTS }
            }
            (status, _) => {
                excluded.push((verdict.judge.clone(), status));
                continue;
            }
        };
        let bench = match &verdict.model {
            Some(model) if rules.one_seat_per_model => {
                (Some((verdict.provider.as_deref(), model.as_str())), None)
            }
            _ => (None, Some(verdict.judge.as_str())),
        };
        benches.entry(bench).or_default().push((&verdict.judge, points));
    }
    excluded.sort_by(|a, b| a.0.cmp(&b.0));

    let provider_of: BTreeMap<&str, Option<&str>> =
        verdicts.iter().map(Borrow::borrow).map(|it| (it.judge.as_str(), it.provider.as_deref())).collect();
    let mut seats: Vec<PanelSeat> = benches.into_values().map(|bench| seat(bench, &provider_of)).collect();
    seats.retain(|seat| (0.0..=SCALE_POINTS).contains(&seat.points));
    let units = |seat: &PanelSeat| (seat.points * seats::UNITS_PER_POINT).round_ties_even() as u64;
    seats.sort_by(|a, b| units(a).cmp(&units(b)).then_with(|| a.judges.cmp(&b.judges)));
    let sorted: Vec<u64> = seats.iter().map(units).collect();
    let summary = seats::describe(&sorted, rules.agreement_points);
    let trim = seats::trim_each_side(sorted.len());
    for (at, (seat, &units)) in seats.iter_mut().zip(&sorted).enumerate() {
        seat.points = units as f64 / seats::UNITS_PER_POINT;
        seat.place = match at {
            _ if at < trim => SeatPlace::TrimmedLow,
            _ if at >= sorted.len() - trim => SeatPlace::TrimmedHigh,
            _ => SeatPlace::Kept,
        };
    }
    Panel {
        quorum_lacks: quorum_lacks(&seats, own_provider, rules),
        is_consensual: summary.is_some_and(|summary| summary.agreement >= rules.consensual_share),
        outcome: summary.map(|summary| outcome(&summary, &seats, rules)),
        seats,
        excluded,
        summary,
    }
}

/// Makes one seat for judges that count as one.
fn seat(mut bench: Vec<(&str, f64)>, provider_of: &BTreeMap<&str, Option<&str>>) -> PanelSeat {
    bench.sort_by(|a, b| a.0.cmp(b.0));
    let points: Vec<f64> = bench.iter().map(|(_, points)| *points).collect();
    let provider = bench.first().and_then(|(judge, _)| provider_of.get(judge).copied().flatten());
    PanelSeat {
        judges: bench.iter().map(|(judge, _)| (*judge).to_owned()).collect(),
        provider: provider.map(str::to_owned),
        points: super::estimators::median(&points).unwrap_or_default(),
        place: SeatPlace::Kept,
    }
}

fn quorum_lacks(seats: &[PanelSeat], own_provider: Option<&str>, rules: &JuryRules) -> Vec<String> {
    let providers: BTreeSet<&str> = seats.iter().filter_map(|seat| seat.provider.as_deref()).collect();
    let own = seats.iter().filter(|seat| own_provider.is_some() && seat.provider.as_deref() == own_provider);
    let (own, mut lacks) = (own.count(), Vec::new());
    if seats.len() < rules.quorum_seats {
        lacks.push(format!("{} of {} valid verdicts", seats.len(), rules.quorum_seats));
    }
    if providers.len() < rules.quorum_providers {
        lacks.push(format!("{} of {} known providers", providers.len(), rules.quorum_providers));
    }
    if own * 3 > seats.len() {
        lacks.push(format!(
            "{own} of {} seats are of the judged model's provider, at most a third may be",
            seats.len()
        ));
    }
    lacks
}

fn outcome(summary: &Summary, seats: &[PanelSeat], rules: &JuryRules) -> Outcome {
    let rejecting = seats.iter().filter(|seat| seat.points < rules.reject_points).count();
    if summary.agreement < rules.split_share {
        Outcome::Split
    } else if summary.median < rules.pass_points {
        Outcome::Fail
    } else if rejecting * 3 > seats.len() {
        Outcome::Split
    } else {
        Outcome::Pass
    }
}

#[cfg(test)]
mod tests;
