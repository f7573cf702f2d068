//! The answer to [`Compare`].

use std::collections::BTreeMap;

use karat_stats::StatisticsError;

use super::answer::{invalid, pass, refused, settings, share_of_scale, subject};
use super::{Attempts, Compare};
use crate::answers::basis::Basis;
use crate::answers::comparison::{
    ComparedPair, Comparison, ComparisonAnswer, ComparisonSchema, Comparisons, ComparisonsSchema,
};
use crate::error::Error;
use crate::leaderboard::attempts::Pass;
use crate::leaderboard::gate::Gate;
use crate::leaderboard::pair::Pair;
use crate::leaderboard::{By, Settings};
use crate::rows::Rows;
use crate::text::{clean, named};

/// The subjects to compare, by index.
#[derive(Debug)]
pub enum Asked {
    /// Two.
    Pair((usize, usize)),
    /// Those of two files.
    Files(Files),
}

/// The subjects of two files.
#[derive(Debug)]
pub struct Files {
    pairs: Vec<(usize, usize)>,
    only_first: Vec<String>,
    only_second: Vec<String>,
}

impl Compare {
    /// Compares the subjects, and asks the gate.
    ///
    /// # Errors
    /// If a number lies outside of the scale, or the items are too few.
    pub fn answer(&self, rows: &Rows, asked: Asked) -> Result<ComparisonAnswer, Error> {
        let firsts = self.attempts.filter(|it| *it == Attempts::First);
        let firsts = firsts.map(|_| rows.first_attempts()).transpose()?;
        let rows = firsts.as_ref().unwrap_or(rows);
        let settings = settings(&self.sure, By::Score, rows);
        let pass = pass(self.pass, rows.scale)?;
        let gate = match self.fail_if_worse {
            Some(points) => {
                let margin = share_of_scale("--fail-if-worse", points, rows.scale)?;
                Some(Gate { margin, is_strict: self.strict })
            }
            None => None,
        };
        let compared = Compared { rows, settings: &settings, pass, gate };
        match asked {
            Asked::Pair(pair) => {
                let pair =
                    compared.each(&[pair])?.pop().ok_or_else(|| invalid("two subjects are compared"))?;
                Ok(ComparisonAnswer::Pair(Box::new(Comparison {
                    schema: ComparisonSchema::V1,
                    basis: Basis::new(rows, &settings),
                    pair,
                })))
            }
            Asked::Files(files) => Ok(ComparisonAnswer::Several(Box::new(Comparisons {
                schema: ComparisonsSchema::V1,
                basis: Basis::new(rows, &settings),
                first_file: self.first.clone(),
                second_file: self.second.clone(),
                comparisons: compared.each(&files.pairs)?,
                only_first: files.only_first,
                only_second: files.only_second,
            }))),
        }
    }
}

/// The items of a comparison, and how they are compared.
struct Compared<'r> {
    rows: &'r Rows,
    settings: &'r Settings,
    pass: Pass,
    gate: Option<Gate>,
}

impl Compared<'_> {
    /// Compares the subjects of each pair, and asks the gate.
    fn each(&self, pairs: &[(usize, usize)]) -> Result<Vec<ComparedPair>, Error> {
        let compared = Pair::each(self.rows, pairs, self.pass, self.settings).into_iter().zip(pairs);
        let compared = compared.map(|(pair, names)| pair.map_err(|error| self.refused(names.0, &error)));
        let compared: Vec<Pair> = compared.collect::<Result<_, _>>()?;
        let judged = self.gate.map(|gate| gate.judge(self.rows, &compared, self.settings));
        let mut judged = judged.into_iter().flatten();
        let answer = |pair: &Pair| {
            let found = judged.next().transpose().map_err(|error| self.refused(pair.first, &error))?;
            Ok(ComparedPair::new(self.rows, pair, found.as_ref(), self.settings))
        };
        compared.iter().map(answer).collect()
    }

    fn refused(&self, first: usize, error: &StatisticsError) -> Error {
        let mut refusal = refused(error, self.rows);
        if let Some(origin) = self.rows.origins.get(first) {
            let name = clean(&origin.subject);
            refusal =
                refusal.hint(format!("this is about `{name}`; to leave it out: --where 'subject!={name}'"));
        }
        match error {
            StatisticsError::TooFew { .. } => {
                refusal.hint("two subjects are compared on the tasks that both have")
            }
            _ => refusal,
        }
    }
}

/// Returns the subjects to compare of two sides: two if each has one, else each that both have.
pub fn of_sides(rows: &Rows, first_side: &str, second_side: &str) -> Result<Asked, Error> {
    if rows.origins.is_empty() {
        let pair = (subject(rows, first_side)?, subject(rows, second_side)?);
        return Ok(Asked::Pair(pair));
    }
    let of_file = |file: &str| -> BTreeMap<String, usize> {
        let own = rows.origins.iter().enumerate().filter(|(_, origin)| origin.file == file);
        own.map(|(at, origin)| (origin.subject.clone(), at)).collect()
    };
    let (first, second) = (of_file(first_side), of_file(second_side));
    let only = |one: &BTreeMap<String, usize>, other: &BTreeMap<String, usize>| -> Vec<String> {
        one.keys().filter(|name| !other.contains_key(*name)).cloned().collect()
    };
    let pairs: Vec<(usize, usize)> =
        first.iter().filter_map(|(name, at)| Some((*at, *second.get(name)?))).collect();
    let (only_first, only_second) = (only(&first, &second), only(&second, &first));
    if pairs.is_empty() {
        let error = invalid(format!(
            "`{}` and `{}` share no subject, so nothing can be compared",
            clean(first_side),
            clean(second_side)
        ));
        let sides = [(first_side, &only_first), (second_side, &only_second)];
        let error = sides.into_iter().fold(error, |error, (file, only)| {
            let names: Vec<&str> = only.iter().map(String::as_str).collect();
            error.hint(format!(
                "`{}` has {}",
                clean(file),
                named(&names).unwrap_or_else(|| String::from("none"))
            ))
        });
        return Err(error
            .hint("a subject with another name in each: --rename OLD=NEW")
            .hint("two subjects by name: karat compare A B FILE..."));
    }
    Ok(Asked::Files(Files { pairs, only_first, only_second }))
}
