//! Covariates: what else differs between the two sides of a match, such as the lengths of their answers.

use std::str::FromStr;

use karat_stats::rating::covariates::Contrast;

use super::cells::Cells;
use super::columns::Columns;
use crate::text::{clean, named};

/// A covariate that strengths are controlled for. Written as `length`, or `date:difference`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Covariate {
    /// Its name. Rows have `first_NAME` and `second_NAME`; of a difference, or `NAME` alone, which is that difference.
    pub name: String,
    /// The comparison of the two values.
    pub contrast: Contrast,
}

impl FromStr for Covariate {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, word) = text.rsplit_once(':').unwrap_or((text, Contrast::Relative.name()));
        match Contrast::from_name(word) {
            None => Err(format!("`{word}` is not a contrast, expected `relative` or `difference`")),
            Some(_) if name.trim().is_empty() => {
                Err(format!("`{text}` names no covariate, expected such as `length`"))
            }
            Some(contrast) => Ok(Self { name: name.trim().to_owned(), contrast }),
        }
    }
}

/// The columns of a covariate, as positions among the names.
pub(super) struct Places {
    covariate: Covariate,
    /// The column of the difference itself.
    own: Option<usize>,
    sides: [usize; 2],
}

impl Places {
    pub(super) fn new(covariate: &Covariate, columns: &mut Columns) -> Self {
        let name = &covariate.name;
        let sides = ["first", "second"].map(|side| columns.value(&format!("{side}_{name}")));
        let own = (covariate.contrast == Contrast::Difference).then(|| columns.value(name));
        Self { covariate: covariate.clone(), own, sides }
    }

    /// Returns the values of both sides, or the difference and 0; none if one is missing.
    pub(super) fn read(&self, columns: &Columns, cells: &Cells<'_>) -> Result<Option<[f64; 2]>, String> {
        let number = |place: usize| {
            let number = cells.at(place).map(|text| {
                let name = columns.names.get(place).map_or("", String::as_str);
                let number = text.trim().parse::<f64>();
                number.map_err(|_| format!("`{}` is `{}`, expected a number", clean(name), clean(text)))
            });
            number.transpose()
        };
        let name = clean(&self.covariate.name);
        let found = match (self.own.map_or(Ok(None), number)?, number(self.sides[0])?, number(self.sides[1])?)
        {
            (Some(difference), None, None) => [difference, 0.0],
            (None, Some(first), Some(second)) => [first, second],
            (Some(_), ..) => {
                return Err(format!("`{name}` is there beside a value of one side, expected one of them"));
            }
            _ => return Ok(None),
        };
        let expected = match self.covariate.contrast {
            Contrast::Relative => "from 0, or a contrast of `difference`",
            Contrast::Difference => "with a difference of 0, or from 1e-100 to 1e100",
        };
        let [first, second] = found;
        let contrast = self.covariate.contrast.of(found);
        contrast.map(|_| Some(found)).ok_or_else(|| {
            format!("the covariate `{name}` is {first} and {second}, expected numbers {expected}")
        })
    }

    /// Returns the problem of rows of which none has the columns; `is_there` tells names that some have.
    pub(super) fn absent(&self, columns: &Columns, is_there: impl Fn(&str) -> bool) -> Option<String> {
        let name = |place: &usize| columns.names.get(*place).map_or("", String::as_str);
        let missing: Vec<&str> = self.sides.iter().map(name).filter(|name| !is_there(name)).collect();
        if missing.is_empty() || self.own.iter().map(name).any(is_there) {
            return None;
        }
        let own = self.own.iter().map(|own| format!(", or `{}`,", clean(name(own)))).collect::<String>();
        Some(format!(
            "no row has {}{own} for the covariate `{}`",
            named(&missing)?,
            clean(&self.covariate.name)
        ))
    }
}
