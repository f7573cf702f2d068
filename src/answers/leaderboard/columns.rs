//! Columns beside the score of a leaderboard: means, percentiles and other numbers of raw facts; counts of gates, tiers and
//! bands. They are about all items of a subject that state the fact, whatever counts for its rank.

use std::collections::{BTreeMap, BTreeSet};

use crate::answers::leaderboard::Leaderboard;
use crate::error::{Code, Error};
use crate::rows::Rows;
use crate::text::clean;

/// A column that is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// The field, or what is counted.
    field: String,
    of: Of,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Of {
    Mean,
    Sum,
    Least,
    Most,
    Items,
    /// The value that this many per cent do not exceed.
    Percentile(u8),
    /// The items by the value of the field: a column for each.
    Counts,
}

/// The most columns that are asked for.
const MOST: usize = 50;
/// The most columns that counts make.
const COUNTED: usize = 50;

impl Column {
    /// Reads a list such as `cost_usd,cost_usd:p95,gates`.
    ///
    /// # Errors
    /// If a part is not a field, or a field with a number that there is, or there are too many.
    pub fn parse(text: &str) -> Result<Vec<Self>, String> {
        let parts = || text.split(',').map(str::trim).filter(|it| !it.is_empty());
        match parts().count() {
            0..=MOST => parts().map(Self::one).collect(),
            many => Err(format!("{many} columns, expected at most {MOST}")),
        }
    }

    fn one(text: &str) -> Result<Self, String> {
        if let Some(field) = ["gates", "tiers", "bands", "outcomes"].into_iter().find(|it| *it == text) {
            return Ok(Self { field: field.to_owned(), of: Of::Counts });
        }
        let Some((field, word)) = text.rsplit_once(':').filter(|(field, _)| !field.is_empty()) else {
            return Ok(Self { field: text.to_owned(), of: Of::Mean });
        };
        let part =
            word.strip_prefix('p').and_then(|part| part.parse().ok()).filter(|part| (1..=99).contains(part));
        let of = match (word, part) {
            ("mean", _) => Of::Mean,
            ("sum", _) => Of::Sum,
            ("min", _) => Of::Least,
            ("max", _) => Of::Most,
            ("count", _) => Of::Items,
            ("counts", _) => Of::Counts,
            (_, Some(part)) => Of::Percentile(part),
            _ => {
                return Err(format!(
                    "`{word}` is not a statistic of a fact: expected mean, min, max, sum, count, counts or p1 to p99"
                ));
            }
        };
        Ok(Self { field: field.to_owned(), of })
    }

    /// Returns the field that items must keep; none for gates and outcomes, which they have.
    pub fn kept(&self) -> Option<String> {
        match (self.of, self.field.as_str()) {
            (Of::Counts, "gates" | "outcomes") => None,
            (Of::Counts, "tiers") => Some(String::from("tier")),
            (Of::Counts, "bands") => Some(String::from("band")),
            _ => Some(self.field.clone()),
        }
    }

    fn name(&self) -> String {
        let word = match self.of {
            Of::Mean => "mean",
            Of::Sum => "sum",
            Of::Least => "min",
            Of::Most => "max",
            Of::Items => "count",
            Of::Counts => "counts",
            Of::Percentile(part) => return format!("{}:p{part}", self.field),
        };
        format!("{}:{word}", self.field)
    }
}

/// Adds columns to a leaderboard of the `items` of `rows`. `flag` names the option in errors.
///
/// # Errors
/// If no item has a field, or a number is needed and is not there.
pub fn add(
    board: &mut Leaderboard,
    rows: &Rows,
    items: &[usize],
    columns: &[Column],
    flag: &str,
) -> Result<(), Error> {
    for column in columns {
        if column.of == Of::Counts {
            counts(board, rows, items, column, flag)?;
            continue;
        }
        let numbers = rows.numbers(&column.field, flag)?;
        let mut of: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
        for &at in items {
            if let Some((row, Some(number))) = rows.rows.get(at).zip(numbers.get(at).copied()) {
                of.entry(rows.subject_name(row.subject)).or_default().push(number);
            }
        }
        let name = column.name();
        for row in &mut board.rows {
            let value = of.get_mut(row.subject.as_str()).and_then(|all| column.of.number(all));
            row.columns.insert(name.clone(), value);
        }
        if !board.columns.contains(&name) {
            board.columns.push(name);
        }
    }
    Ok(())
}

impl Of {
    fn number(self, all: &mut [f64]) -> Option<f64> {
        all.sort_by(f64::total_cmp);
        let sum = || all.iter().sum::<f64>();
        match self {
            Self::Mean => (!all.is_empty()).then(|| sum() / all.len() as f64),
            Self::Sum => Some(sum()),
            Self::Least => all.first().copied(),
            Self::Most => all.last().copied(),
            Self::Items | Self::Counts => Some(all.len() as f64),
            Self::Percentile(part) => percentile(all, part),
        }
        .filter(|number| number.is_finite())
    }
}

/// Returns the value that `part` per cent of `ordered` do not exceed, in a straight line between neighbours.
fn percentile(ordered: &[f64], part: u8) -> Option<f64> {
    // In hundredths of a step between neighbours, so that it is exact.
    let place = usize::from(part) * ordered.len().checked_sub(1)?;
    let low = *ordered.get(place / 100)?;
    let high = ordered.get(place / 100 + 1).copied().unwrap_or(low);
    Some(low + (high - low) * (place % 100) as f64 / 100.0)
}

/// Adds a column for each value of a field, with the number of items that have it.
fn counts(
    board: &mut Leaderboard,
    rows: &Rows,
    items: &[usize],
    column: &Column,
    flag: &str,
) -> Result<(), Error> {
    let kept = match column.kept() {
        None => None,
        Some(field) => match rows.kept_field(&field) {
            Some(at) => Some(at),
            // Of a card without tiers, no item has one: nothing is counted.
            None if matches!(field.as_str(), "tier" | "band") => return Ok(()),
            None => return Err(rows.unknown_field(&field, flag)),
        },
    };
    let mut counts: BTreeMap<(&str, String), u64> = BTreeMap::new();
    let mut values = BTreeSet::new();
    for row in items.iter().filter_map(|&at| rows.rows.get(at)) {
        let own: Vec<&str> = match kept {
            Some(at) => row.kept(at).into_iter().collect(),
            None if column.field == "outcomes" => row.outcome.map(|it| it.name()).into_iter().collect(),
            None => row.gates().iter().map(String::as_str).collect(),
        };
        for value in own {
            *counts.entry((rows.subject_name(row.subject), value.to_owned())).or_default() += 1;
            values.insert(value.to_owned());
        }
    }
    if values.len() > COUNTED {
        let message = format!(
            "{flag}: `{}` has {} values, too many for a column each",
            clean(&column.field),
            values.len()
        );
        return Err(
            Error::new(Code::InvalidOption, message).hint("group by it for a leaderboard of each value")
        );
    }
    let word = match column.field.as_str() {
        "gates" => "gate",
        "tiers" => "tier",
        "bands" => "band",
        "outcomes" => "outcome",
        field => field,
    };
    for value in values {
        let name = format!("{word}={value}");
        for row in &mut board.rows {
            let count = counts.get(&(row.subject.as_str(), value.clone())).copied().unwrap_or(0);
            row.columns.insert(name.clone(), Some(count as f64));
        }
        if !board.columns.contains(&name) {
            board.columns.push(name);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_columns_is_read_or_refused() {
        let names = |text: &str| Column::parse(text).unwrap().iter().map(Column::name).collect::<Vec<_>>();
        assert_eq!(names("cost_usd, cost_usd:p95,gates"), ["cost_usd:mean", "cost_usd:p95", "gates:counts"]);
        assert_eq!(names("a.b:max,x:y:min"), ["a.b:max", "x:y:min"]);
        for wrong in ["cost:p0", "cost:p100", "cost:median", "cost:"] {
            assert!(Column::parse(wrong).unwrap_err().contains("p1 to p99"), "{wrong}");
        }
        assert!(Column::parse(&"a,".repeat(51)).unwrap_err().contains("at most 50"));
    }

    #[test]
    fn percentiles_are_those_of_a_straight_line() {
        let all = [1.0, 2.0, 3.0, 4.0, 10.0];
        assert_eq!(
            [1, 50, 75, 95, 99].map(|part| percentile(&all, part)),
            [Some(1.04), Some(3.0), Some(4.0), Some(8.8), Some(9.76)]
        );
        assert_eq!((percentile(&[], 50), percentile(&[7.0], 95)), (None, Some(7.0)));
    }
}
