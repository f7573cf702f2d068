//! Cases about agents: evaluations, juries, estimators.

use karat_graders::trust::jury::{JuryRules, Panel, SeatPlace, Verdict, VerdictStatus, panel};
use serde_json::{Value, json};

use crate::given::Given;
use crate::judge::{all, number};

/// Returns the answer of the function called `name`; `None` if it is not in this file.
pub fn answer(name: &str, given: &Given<'_>) -> Option<Result<Value, String>> {
    Some(match name {
        "jury_trim_median" => jury_trim_median(given),
        _ => return None,
    })
}

/// `jury_trim_median`: the trimmed judges, and the median. The cases name no judges, so each is named by position, and
/// no providers, so none are required for a quorum.
fn jury_trim_median(given: &Given<'_>) -> Result<Value, String> {
    let verdict = |(at, score): (usize, Given<'_>)| -> Result<Verdict, String> {
        Ok(Verdict {
            judge: format!("{at:09}"),
            provider: None,
            model: None,
            score: Some(score.number()?),
            max_score: 100.0,
            status: VerdictStatus::Valid,
        })
    };
    let scores = given.member("scores")?.elements()?;
    let verdicts = scores.into_iter().enumerate().map(verdict).collect::<Result<Vec<_>, _>>()?;
    let panel = panel(&verdicts, None, &JuryRules::default()).map_err(|problems| all(&problems))?;
    let at = |place| panel.points(place).map(number).collect::<Vec<_>>();
    let of = |summary: fn(&Panel) -> Option<f64>| summary(&panel).map_or(Value::Null, number);
    let median = of(|panel| Some(panel.summary?.median));
    Ok(json!({
        "n": panel.seats.len(),
        "trim_each_side": panel.seats.iter().filter(|seat| seat.place == SeatPlace::TrimmedLow).count(),
        "trimmed_low": at(SeatPlace::TrimmedLow),
        "kept": at(SeatPlace::Kept),
        "trimmed_high": at(SeatPlace::TrimmedHigh),
        "median": median,
        "median_f64": median,
        "trimmed_mean": of(|panel| Some(panel.summary?.trimmed_mean)),
        "median_absolute_deviation": of(|panel| Some(panel.summary?.median_absolute_deviation)),
        "agreement": of(|panel| Some(panel.summary?.agreement)),
    }))
}
