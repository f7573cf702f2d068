//! The system that the command line asks for, with its settings.

use std::collections::BTreeMap;

use karat_evidence::canonical_json;
use karat_stats::rating::bounds::{OutOfRange, POINTS_LIMIT};
use karat_stats::rating::bradley_terry::{Gaussian, LOGIT_POINTS, Ties};
use karat_stats::rating::{BradleyTerry, Elo, Glicko2, Rounding, System, WengLin};
use serde_json::{Map, Value, json};

use crate::args::rate::{RateArgs, SystemName};
use crate::failure::Failure;

/// Milliseconds of a day.
const DAY_MILLISECONDS: i64 = 86_400_000;
/// The deviation of the prior of Bradley-Terry, in points, if none is given: that of a newcomer of Glicko-2, and worth
/// about one draw.
const PRIOR_POINTS: f64 = 350.0;
/// Least and most of it.
const PRIOR_LIMITS: (f64, f64) = (1.0, 10_000.0);

/// A system and its settings.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Chosen {
    /// Elo.
    Elo(Elo),
    /// Glicko-2, match by match or in periods of a length in milliseconds.
    Glicko2(Glicko2, Option<i64>),
    /// Weng and Lin's.
    WengLin(WengLin),
    /// Bradley-Terry, with points around a mean.
    BradleyTerry(BradleyTerry, f64),
}

/// The gaussian prior of Bradley-Terry, for people.
#[derive(Debug, Clone, Copy)]
pub struct Prior {
    /// Its deviation, in points.
    pub points: f64,
    /// The draws that say as much.
    pub draws: f64,
}

impl Chosen {
    /// Returns the system that `args` ask for.
    ///
    /// # Errors
    /// If settings are unknown, unreadable or out of range; all of them are listed.
    pub fn new(args: &RateArgs) -> Result<Self, Failure> {
        let mut given = Given::new(&args.set)?;
        if args.arena && args.system != SystemName::Elo {
            return Err(Failure::new("--arena is for Elo").help("use it with --system elo"));
        }
        let chosen = match args.system {
            SystemName::Elo => Self::Elo(given.elo(if args.arena { Elo::ARENA } else { Elo::default() })),
            SystemName::Glicko2 => {
                let mut system = Glicko2::default();
                given.number("tau", &mut system.tau);
                given.number("initial_points", &mut system.initial_points);
                given.number("initial_deviation", &mut system.initial_deviation);
                given.number("initial_volatility", &mut system.initial_volatility);
                let days = given.whole("period_days");
                Self::Glicko2(system, days.map(|days| i64::from(days).saturating_mul(DAY_MILLISECONDS)))
            }
            SystemName::WengLin => {
                let mut system = WengLin::default();
                given.number("initial_mean", &mut system.initial_mean);
                given.number("initial_deviation", &mut system.initial_deviation);
                given.number("beta", &mut system.beta);
                given.number("kappa", &mut system.kappa);
                given.number("tau", &mut system.tau);
                Self::WengLin(system)
            }
            SystemName::BradleyTerry => {
                let mut mean_points = 1500.0;
                given.number("mean_points", &mut mean_points);
                let ties = given.word("ties", &[("davidson", Ties::Davidson), ("half-wins", Ties::HalfWins)]);
                let prior = given.prior();
                Self::BradleyTerry(BradleyTerry { ties: ties.unwrap_or(Ties::Davidson), prior }, mean_points)
            }
        };
        given.finish(args.system, chosen.outside())?;
        Ok(chosen)
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

    /// Returns the name of the system.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Elo(_) => SystemName::Elo.name(),
            Self::Glicko2(..) => SystemName::Glicko2.name(),
            Self::WengLin(_) => SystemName::WengLin.name(),
            Self::BradleyTerry(..) => SystemName::BradleyTerry.name(),
        }
    }

    /// Returns the prior of the strengths.
    pub fn prior(&self) -> Option<Prior> {
        match self {
            Self::BradleyTerry(BradleyTerry { prior: Some(prior), .. }, _) => {
                Some(Prior { points: points(*prior), draws: prior.draws() })
            }
            _ => None,
        }
    }

    /// Returns every setting by its name in `--set`, given or not.
    pub fn settings(&self) -> Value {
        match self {
            Self::Elo(elo) => json!({
                "initial_points": elo.initial_points,
                "floor_points": elo.floor_points,
                "factor_new": elo.factor_new,
                "factor_established": elo.factor_established,
                "established_from_matches": elo.established_from_matches,
                "scale_points": elo.scale_points,
                "rounding": match elo.rounding { Rounding::None => "none", Rounding::HalfUp => "half-up" },
            }),
            Self::Glicko2(glicko2, period) => json!({
                "tau": glicko2.tau,
                "initial_points": glicko2.initial_points,
                "initial_deviation": glicko2.initial_deviation,
                "initial_volatility": glicko2.initial_volatility,
                "period_days": period.map(|milliseconds| milliseconds / DAY_MILLISECONDS),
            }),
            Self::WengLin(weng_lin) => json!({
                "initial_mean": weng_lin.initial_mean,
                "initial_deviation": weng_lin.initial_deviation,
                "beta": weng_lin.beta,
                "kappa": weng_lin.kappa,
                "tau": weng_lin.tau,
            }),
            Self::BradleyTerry(model, mean_points) => json!({
                "mean_points": mean_points,
                "ties": match model.ties { Ties::Davidson => "davidson", Ties::HalfWins => "half-wins" },
                "prior": if model.prior.is_some() { "gaussian" } else { "none" },
                "prior_deviation": model.prior.map(points),
            }),
        }
    }
}

/// Returns the deviation of a prior in points.
fn points(prior: Gaussian) -> f64 {
    // Points become logits and points again: what rounding loses lies far below the digits that anyone gives.
    (prior.deviation * LOGIT_POINTS * 1e9).round_ties_even() / 1e9
}

/// The settings of `--set`, taken out name by name.
struct Given {
    values: BTreeMap<String, String>,
    known: Vec<&'static str>,
    problems: Vec<String>,
}

impl Given {
    fn new(text: &str) -> Result<Self, Failure> {
        let mut values = BTreeMap::new();
        for part in text.split(',').filter(|part| !part.is_empty()) {
            let Some((name, value)) = part.split_once('=') else {
                return Err(Failure::new(format!(
                    "--set `{part}` is not a setting, expected such as `k=24`"
                )));
            };
            if values.insert(name.to_owned(), value.to_owned()).is_some() {
                return Err(Failure::new(format!("--set gives `{name}` twice")));
            }
        }
        Ok(Self { values, known: Vec::new(), problems: Vec::new() })
    }

    fn elo(&mut self, mut elo: Elo) -> Elo {
        self.number("initial_points", &mut elo.initial_points);
        if let Some(floor) = self.taken("floor_points").filter(|text| text != "none") {
            let mut points = f64::NAN;
            self.read("floor_points", &floor, &mut points);
            elo.floor_points = Some(points);
        } else if self.values.contains_key("floor_points") {
            elo.floor_points = None;
        }
        self.number("k", &mut elo.factor_new);
        if self.values.contains_key("k") {
            elo.factor_established = elo.factor_new;
        }
        self.number("factor_new", &mut elo.factor_new);
        self.number("factor_established", &mut elo.factor_established);
        if let Some(matches) = self.whole("established_from_matches") {
            elo.established_from_matches = matches;
        }
        self.number("scale_points", &mut elo.scale_points);
        let rounding = self.word("rounding", &[("none", Rounding::None), ("half-up", Rounding::HalfUp)]);
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

    fn read(&mut self, name: &str, text: &str, value: &mut f64) {
        match text.parse::<f64>().ok().filter(|number| number.is_finite()) {
            Some(number) => *value = number,
            None => self.problems.push(format!("`{name}` is `{text}`, expected a number")),
        }
    }

    fn number(&mut self, name: &'static str, value: &mut f64) {
        if let Some(text) = self.taken(name) {
            self.read(name, &text, value);
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

    fn finish(mut self, system: SystemName, outside: Vec<OutOfRange>) -> Result<(), Failure> {
        for name in self.values.keys().filter(|name| !self.known.contains(&name.as_str())) {
            self.problems.push(format!(
                "`{name}` is not a setting of {}, expected {}",
                system.name(),
                self.known.join(", ")
            ));
        }
        // A setting that could not be read is NaN, and reported already.
        let outside = outside.into_iter().filter(|problem| !problem.found.is_nan());
        self.problems.extend(outside.map(|problem| problem.to_string()));
        match self.problems.as_slice() {
            [] => Ok(()),
            [only] => Err(Failure::new(format!("--set: {only}"))),
            several => {
                let failure = Failure::new(format!("--set: {} problems", several.len()));
                Err(several.iter().fold(failure, |failure, problem| failure.help(problem)))
            }
        }
    }
}

/// Returns a JSON object of settings for people: `k 32, from 1000`.
pub fn described(settings: &Value) -> String {
    let empty = Map::new();
    let members = settings.as_object().unwrap_or(&empty);
    let member = |(name, value): (&String, &Value)| match value {
        Value::Null => None,
        Value::String(text) => Some(format!("{name} {text}")),
        other => Some(format!("{name} {}", canonical_json(other))),
    };
    members.iter().filter_map(member).collect::<Vec<_>>().join(", ")
}
