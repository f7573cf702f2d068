//! The answer to [`Compare`].

use std::collections::BTreeMap;

use karat_stats::StatisticsError;

use super::Compare;
use super::answer::{invalid, pass, refused, settings, share_of_scale, subject};
use crate::answers::basis::Basis;
use crate::answers::comparison::{
    ComparedPair, Comparison, ComparisonAnswer, Comparisons, ComparisonsSchema,
};
use crate::error::Error;
use crate::leaderboard::attempts::Pass;
use crate::leaderboard::gate::{Gate, GateFinding};
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
                let (pair, found) = compared.pair(pair, 1)?;
                Ok(ComparisonAnswer::Pair(Box::new(Comparison::new(rows, &pair, found.as_ref(), &settings))))
            }
            Asked::Files(files) => {
                let count = files.pairs.len();
                let pairs = files.pairs.iter().map(|&pair| {
                    let (pair, found) = compared.pair(pair, count)?;
                    Ok(ComparedPair::new(rows, &pair, found.as_ref(), &settings))
                });
                Ok(ComparisonAnswer::Several(Box::new(Comparisons {
                    schema: ComparisonsSchema::V1,
                    basis: Basis::new(rows, &settings),
                    first_file: self.first.clone(),
                    second_file: self.second.clone(),
                    comparisons: pairs.collect::<Result<_, Error>>()?,
                    only_first: files.only_first,
                    only_second: files.only_second,
                })))
            }
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
    /// Compares two subjects, one of `count` pairs, and asks the gate.
    fn pair(&self, pair: (usize, usize), count: usize) -> Result<(Pair, Option<GateFinding>), Error> {
        let refused = |error: StatisticsError| {
            let mut refusal = refused(&error, self.rows);
            if let Some(origin) = self.rows.origins.get(pair.0) {
                let name = clean(&origin.subject);
                refusal = refusal
                    .hint(format!("this is about `{name}`; to leave it out: --where 'subject!={name}'"));
            }
            match error {
                StatisticsError::TooFew { .. } => {
                    refusal.hint("two subjects are compared on the tasks that both have")
                }
                _ => refusal,
            }
        };
        let pair = Pair::new(self.rows, pair, self.pass, self.settings).map_err(refused)?;
        let judge = |gate: Gate| gate.judge(self.rows, &pair, count, self.settings);
        let found = self.gate.map(judge).transpose().map_err(refused)?;
        Ok((pair, found))
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
