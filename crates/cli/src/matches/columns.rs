//! The columns of the fields of a match.

use std::str::FromStr;

/// The fields of a match that a row may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Field {
    /// The id of the match.
    Id,
    /// The time of its end.
    Time,
    /// The first competitor.
    First,
    /// The second competitor.
    Second,
    /// The outcome.
    Result,
    /// The winner, instead of the first three.
    Winner,
    /// The loser.
    Loser,
    /// The score of the first competitor.
    FirstScore,
    /// The score of the second competitor.
    SecondScore,
    /// The judge of the match.
    Judge,
    /// The pair compared: several judges may decide one pair.
    Pair,
    /// The category of the match.
    Category,
}

impl Field {
    /// Every field.
    pub const ALL: [Self; 12] = [
        Self::Id,
        Self::Time,
        Self::First,
        Self::Second,
        Self::Result,
        Self::Winner,
        Self::Loser,
        Self::FirstScore,
        Self::SecondScore,
        Self::Judge,
        Self::Pair,
        Self::Category,
    ];

    /// Returns the name of the field, and of its column unless another one is named.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Id => "id",
            Self::Time => "time",
            Self::First => "first",
            Self::Second => "second",
            Self::Result => "result",
            Self::Winner => "winner",
            Self::Loser => "loser",
            Self::FirstScore => "first_score",
            Self::SecondScore => "second_score",
            Self::Judge => "judge",
            Self::Pair => "pair",
            Self::Category => "category",
        }
    }
}

/// The column name that means the file of a row, without folder and extension.
pub const FILE: &str = "@file";

/// The columns of every field: one, or several that are joined.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Columns {
    /// The names of the columns that are read, each once.
    pub names: Vec<String>,
    /// For each of [`Field::ALL`], its positions among the names.
    places: Vec<Vec<usize>>,
}

impl Default for Columns {
    fn default() -> Self {
        let mut columns = Self { names: Vec::new(), places: vec![Vec::new(); Field::ALL.len()] };
        for field in Field::ALL {
            columns.set(field, field.name());
        }
        columns
    }
}

impl Columns {
    /// Reads `field` from `column`, or from several joined by `+`.
    pub fn set(&mut self, field: Field, column: &str) {
        let mut places = Vec::new();
        for name in column.split('+') {
            let known = self.names.iter().position(|known| known == name);
            places.push(known.unwrap_or(self.names.len()));
            if known.is_none() {
                self.names.push(name.to_owned());
            }
        }
        if let Some(slot) = self.places.get_mut(field as usize) {
            *slot = places;
        }
    }

    /// Returns the positions of the field's columns among [`Columns::names`].
    pub fn places(&self, field: Field) -> &[usize] {
        self.places.get(field as usize).map_or(&[], Vec::as_slice)
    }

    /// Returns true if the field has other columns than the one with its name.
    pub fn is_mapped(&self, field: Field) -> bool {
        self.column(field) != field.name()
    }

    /// Returns the columns of a field as they are written.
    pub fn column(&self, field: Field) -> String {
        let names = self.places(field).iter().filter_map(|&place| self.names.get(place));
        names.map(String::as_str).collect::<Vec<_>>().join("+")
    }
}

impl FromStr for Columns {
    type Err = String;

    /// Reads `first=home_team,second=away_team`; other fields keep their own names.
    fn from_str(text: &str) -> Result<Self, String> {
        let mut columns = Self::default();
        let mut seen = Vec::new();
        for part in text.split(',').filter(|part| !part.is_empty()) {
            let (name, column) = part
                .split_once('=')
                .ok_or_else(|| format!("`{part}` is not a mapping, expected such as `first=home_team`"))?;
            let field = Field::ALL.into_iter().find(|field| field.name() == name).ok_or_else(|| {
                let names: Vec<&str> = Field::ALL.iter().map(|field| field.name()).collect();
                format!("`{name}` is not a field of a match, expected {}", names.join(", "))
            })?;
            if column.split('+').any(str::is_empty) {
                return Err(format!("`{part}` names no column"));
            }
            if seen.contains(&field) {
                return Err(format!("`{name}` is mapped twice"));
            }
            seen.push(field);
            columns.set(field, column);
        }
        Ok(columns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mapping_replaces_the_names_it_names() {
        let columns: Columns = "first=home,id=date+home,judge=@file".parse().unwrap();
        assert_eq!(columns.column(Field::First), "home");
        assert_eq!(columns.column(Field::Second), "second");
        assert_eq!(columns.column(Field::Id), "date+home");
        assert_eq!(columns.column(Field::Judge), FILE);
        assert_eq!(columns.names.iter().filter(|name| *name == "home").count(), 1);
    }

    #[test]
    fn a_mapping_that_cannot_be_is_refused() {
        for (text, expected) in [
            ("first", "is not a mapping"),
            ("frist=home", "`frist` is not a field"),
            ("first=", "names no column"),
            ("id=a++b", "names no column"),
            ("first=a,first=b", "`first` is mapped twice"),
        ] {
            let error = text.parse::<Columns>().unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
    }
}
