//! The system that a question asks for, with its settings.

use std::collections::BTreeMap;

use karat_stats::rating::bounds::{OutOfRange, POINTS_LIMIT};
use karat_stats::rating::bradley_terry::{Gaussian, LOGIT_POINTS, Ties};
use karat_stats::rating::{BradleyTerry, Elo, Glicko2, Rounding, System as _, WengLin};
use serde_json::{Value, json};

use super::{Question, SystemName, invalid};
use crate::error::Error;

/// Milliseconds of a day.
const DAY_MILLISECONDS: i64 = 86_400_000;
/// The deviation of the prior of Bradley-Terry, in points, if none is given: that of a newcomer of Glicko-2, and worth
/// about one draw.
const PRIOR_POINTS: f64 = 350.0;
/// Least and most of it.
const PRIOR_LIMITS: (f64, f64) = (1.0, 10_000.0);
/// Words of settings.
const ROUNDINGS: [(&str, Rounding); 2] = [("none", Rounding::None), ("half-up", Rounding::HalfUp)];
const TIES: [(&str, Ties); 2] = [("davidson", Ties::Davidson), ("half-wins", Ties::HalfWins)];

/// A system and its settings.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum System {
    Elo(Elo),
    /// Match by match, or in periods of a length in milliseconds.
    Glicko2(Glicko2, Option<i64>),
    WengLin(WengLin),
    /// With points around a mean.
    BradleyTerry(BradleyTerry, f64),
}

impl System {
    /// Returns the system of a question.
    ///
    /// # Errors
    /// If settings are unknown, unreadable or out of range; all of them are listed.
    pub(super) fn new(question: &Question) -> Result<Self, Error> {
        let mut given = Given::new(&question.set)?;
        if question.arena && question.system != SystemName::Elo {
            return Err(invalid("--arena is for Elo").hint("use it with --system elo"));
        }
        let mut system = match question.system {
            SystemName::Elo => Self::Elo(given.elo(if question.arena { Elo::ARENA } else { Elo::default() })),
            SystemName::Glicko2 => {
                let days = given.whole("period_days");
                let period = days.map(|days| i64::from(days).saturating_mul(DAY_MILLISECONDS));
                Self::Glicko2(Glicko2::default(), period)
            }
            SystemName::WengLin => Self::WengLin(WengLin::default()),
            SystemName::BradleyTerry => {
                // The model with covariates has no other meaning of a draw.
                let usual = if question.covariates.is_empty() { Ties::Davidson } else { Ties::HalfWins };
                let ties = given.word("ties", &TIES).unwrap_or(usual);
                Self::BradleyTerry(BradleyTerry { ties, prior: given.prior() }, 1500.0)
            }
        };
        for (name, value) in system.numbers() {
            given.number(name, value);
        }
        given.finish(question.system, system.outside())?;
        Ok(system)
    }

    /// Returns the settings that are plain numbers.
    fn numbers(&mut self) -> Vec<(&'static str, &mut f64)> {
        match self {
            Self::Elo(elo) => vec![
                ("initial_points", &mut elo.initial_points),
                ("factor_new", &mut elo.factor_new),
                ("factor_established", &mut elo.factor_established),
                ("scale_points", &mut elo.scale_points),
            ],
            Self::Glicko2(glicko2, _) => vec![
                ("tau", &mut glicko2.tau),
                ("initial_points", &mut glicko2.initial_points),
                ("initial_deviation", &mut glicko2.initial_deviation),
                ("initial_volatility", &mut glicko2.initial_volatility),
            ],
            Self::WengLin(weng_lin) => vec![
                ("initial_mean", &mut weng_lin.initial_mean),
                ("initial_deviation", &mut weng_lin.initial_deviation),
                ("beta", &mut weng_lin.beta),
                ("kappa", &mut weng_lin.kappa),
                ("tau", &mut weng_lin.tau),
            ],
            Self::BradleyTerry(_, mean_points) => vec![("mean_points", mean_points)],
        }
    }

    fn outside(&self) -> Vec<OutOfRange> {
        match self {
            Self::Elo(system) => system.settings_outside(),
            Self::Glicko2(system, _) => system.settings_outside(),
            Self::WengLin(system) => system.settings_outside(),
            Self::BradleyTerry(model, mean) => {
                let prior = model.prior.map(|prior| ("prior_deviation", points(prior), PRIOR_LIMITS));
                let fields = [Some(("mean_points", *mean, (-POINTS_LIMIT, POINTS_LIMIT))), prior];
                let wrong = |(name, found, (least, most)): (_, f64, (f64, f64))| {
                    let is_wrong = !(least..=most).contains(&found);
                    is_wrong.then_some(OutOfRange { name, found, least, most })
                };
                fields.into_iter().flatten().filter_map(wrong).collect()
            }
        }
    }

    /// Returns every setting by its name in `--set`, given or not.
    pub(super) fn settings(mut self) -> BTreeMap<String, Value> {
        let others = match self {
            Self::Elo(elo) => vec![
                ("floor_points", json!(elo.floor_points)),
                ("established_from_matches", json!(elo.established_from_matches)),
                ("rounding", json!(word(&ROUNDINGS, elo.rounding))),
            ],
            Self::Glicko2(_, period) => {
                vec![("period_days", json!(period.map(|length| length / DAY_MILLISECONDS)))]
            }
            Self::WengLin(_) => Vec::new(),
            Self::BradleyTerry(model, _) => vec![
                ("ties", json!(word(&TIES, model.ties))),
                ("prior", json!(if model.prior.is_some() { "gaussian" } else { "none" })),
                ("prior_deviation", json!(model.prior.map(points))),
            ],
        };
        let numbers = self.numbers().into_iter().map(|(name, value)| (name, json!(*value)));
        numbers.chain(others).map(|(name, value)| (name.to_owned(), value)).collect()
    }
}

/// Returns the deviation of a prior in points.
fn points(prior: Gaussian) -> f64 {
    // Points become logits and points again: what rounding loses lies far below the digits that anyone gives.
    (prior.deviation * LOGIT_POINTS * 1e9).round_ties_even() / 1e9
}

fn word<T: PartialEq>(words: &[(&'static str, T)], value: T) -> Option<&'static str> {
    words.iter().find(|(_, known)| *known == value).map(|(word, _)| *word)
}

/// The settings of `--set`, taken out name by name.
struct Given {
    values: BTreeMap<String, String>,
    known: Vec<&'static str>,
    problems: Vec<String>,
}

impl Given {
    fn new(text: &str) -> Result<Self, Error> {
        let mut values = BTreeMap::new();
        for part in text.split(',').filter(|part| !part.is_empty()) {
            let Some((name, value)) = part.split_once('=') else {
                return Err(invalid(format!("--set `{part}` is not a setting, expected such as `k=24`")));
            };
            if values.insert(name.to_owned(), value.to_owned()).is_some() {
                return Err(invalid(format!("--set gives `{name}` twice")));
            }
        }
        Ok(Self { values, known: Vec::new(), problems: Vec::new() })
    }

    /// Takes the settings of Elo that are not plain numbers; `k` is both factors.
    fn elo(&mut self, mut elo: Elo) -> Elo {
        match self.taken("floor_points").as_deref() {
            None => {}
            Some("none") => elo.floor_points = None,
            Some(text) => elo.floor_points = Some(self.read("floor_points", text).unwrap_or(f64::NAN)),
        }
        self.number("k", &mut elo.factor_new);
        if self.values.contains_key("k") {
            elo.factor_established = elo.factor_new;
        }
        if let Some(matches) = self.whole("established_from_matches") {
            elo.established_from_matches = matches;
        }
        let rounding = self.word("rounding", &ROUNDINGS);
        Elo { rounding: rounding.unwrap_or(elo.rounding), ..elo }
    }

    /// Takes the prior of Bradley-Terry: a deviation alone means a gaussian one.
    fn prior(&mut self) -> Option<Gaussian> {
        let is_named = self.word("prior", &[("none", false), ("gaussian", true)]);
        let mut deviation = PRIOR_POINTS;
        self.number("prior_deviation", &mut deviation);
        let has_deviation = self.values.contains_key("prior_deviation");
        if is_named == Some(false) && has_deviation {
            self.problems
                .push("`prior_deviation` is given and `prior` is `none`, expected `gaussian`".into());
        }
        is_named.unwrap_or(has_deviation).then(|| Gaussian::of_points(deviation))
    }

    /// Takes the text of a setting, and notes its name as known.
    fn taken(&mut self, name: &'static str) -> Option<String> {
        self.known.push(name);
        self.values.get(name).cloned()
    }

    fn read(&mut self, name: &str, text: &str) -> Option<f64> {
        let number = text.parse::<f64>().ok().filter(|number| number.is_finite());
        if number.is_none() {
            self.problems.push(format!("`{name}` is `{text}`, expected a number"));
        }
        number
    }

    fn number(&mut self, name: &'static str, value: &mut f64) {
        let text = self.taken(name);
        if let Some(number) = text.and_then(|text| self.read(name, &text)) {
            *value = number;
        }
    }

    /// Takes a whole number from 1.
    fn whole(&mut self, name: &'static str) -> Option<u32> {
        let text = self.taken(name)?;
        let number = text.parse().ok().filter(|number| (1..=1_000_000).contains(number));
        if number.is_none() {
            self.problems.push(format!("`{name}` is `{text}`, expected a whole number from 1 to 1000000"));
        }
        number
    }

    fn word<T: Copy>(&mut self, name: &'static str, words: &[(&str, T)]) -> Option<T> {
        let text = self.taken(name)?;
        let found = words.iter().find(|(word, _)| *word == text).map(|&(_, value)| value);
        if found.is_none() {
            let expected: Vec<String> = words.iter().map(|(word, _)| format!("`{word}`")).collect();
            self.problems.push(format!("`{name}` is `{text}`, expected {}", expected.join(" or ")));
        }
        found
    }

    fn finish(mut self, system: SystemName, outside: Vec<OutOfRange>) -> Result<(), Error> {
        for name in self.values.keys().filter(|name| !self.known.contains(&name.as_str())) {
            let known = self.known.join(", ");
            let system = system.name();
            self.problems.push(format!("`{name}` is not a setting of {system}, expected {known}"));
        }
        // A setting that could not be read is NaN, and reported already.
        let outside = outside.into_iter().filter(|problem| !problem.found.is_nan());
        self.problems.extend(outside.map(|problem| problem.to_string()));
        match self.problems.as_slice() {
            [] => Ok(()),
            [only] => Err(invalid(format!("--set: {only}"))),
            several => {
                Err(invalid(format!("--set: {} problems", several.len())).hints_from(several.iter().cloned()))
            }
        }
    }
}
