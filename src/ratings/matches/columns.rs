//! The columns of the fields of a match.

use std::str::FromStr;

/// A field of a match that a row may have. Those from `Score` on are fields of a match of an agent at a challenge alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd)]
pub(crate) enum Field {
    Id,
    /// The end of the match.
    Time,
    First,
    Second,
    Result,
    /// The winner, in place of the first competitor, the second and the result.
    Winner,
    Loser,
    FirstScore,
    SecondScore,
    Judge,
    /// The pair compared: several judges may decide one pair.
    Pair,
    Category,
    /// The score of an agent at a challenge, 0 to 1000, in place of a result.
    Score,
    Difficulty,
    /// The difficulty that matches showed; it goes before the other.
    CalibratedDifficulty,
    /// True with a valid trajectory.
    Verified,
    /// True if the agent played without its memory.
    Memoryless,
    /// The voucher of a valid trajectory, as a server names it.
    VerifiedBy,
    /// The word of a harness about the memory of the agent, as a server reports it.
    HarnessMemoryless,
    /// The number of the agent's attempt at the challenge, from 1.
    AttemptNumber,
    /// The state of the match; an expired one has no result.
    State,
}

/// Every field with its name, the name of its column unless another one is given, and the names that the arena's own
/// answers have for it. An expired match ended when its time was over.
const FIELDS: [(Field, &str, &[&str]); 21] = [
    (Field::Id, "id", &["match_id"]),
    (Field::Time, "time", &["submitted_at", "completed_at", "expires_at"]),
    (Field::First, "first", &["agent", "agent_id", "subject"]),
    (Field::Second, "second", &["challenge", "challenge_slug"]),
    (Field::Result, "result", &[]),
    (Field::Winner, "winner", &[]),
    (Field::Loser, "loser", &[]),
    (Field::FirstScore, "first_score", &[]),
    (Field::SecondScore, "second_score", &[]),
    (Field::Judge, "judge", &[]),
    (Field::Pair, "pair", &[]),
    (Field::Category, "category", &[]),
    (Field::Score, "score", &[]),
    (Field::Difficulty, "difficulty", &[]),
    (Field::CalibratedDifficulty, "calibrated_difficulty", &[]),
    (Field::Verified, "verified", &[]),
    (Field::Memoryless, "memoryless", &[]),
    (Field::VerifiedBy, "verified_by", &[]),
    (Field::HarnessMemoryless, "harness_memoryless", &[]),
    (Field::AttemptNumber, "attempt_number", &[]),
    (Field::State, "state", &["status"]),
];

impl Field {
    /// Returns every field.
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        FIELDS.iter().map(|(field, ..)| *field)
    }

    /// Returns the name of the field.
    pub(crate) fn name(self) -> &'static str {
        FIELDS.get(self as usize).map_or("", |(_, name, _)| name)
    }

    /// Returns true for a field that only a match of an agent at a challenge has.
    pub(crate) fn is_solo(self) -> bool {
        self >= Self::Score
    }
}

/// The column name that means the file of a row, without folder and extension.
pub(crate) const FILE: &str = "@file";

/// The columns of every field of a match: one, or several that are joined. Written as `first=home_team,id=date+home`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Columns {
    /// The names of the columns that are read, each once.
    pub(crate) names: Vec<String>,
    /// The positions of each field among the names.
    places: Vec<Vec<usize>>,
    /// The positions of the other names of each field, the first choice first.
    others: Vec<Vec<usize>>,
    /// The values of covariates that have a column of another name, such as `first_length`, with its position.
    values: Vec<(String, usize)>,
}

impl Default for Columns {
    fn default() -> Self {
        let none = vec![Vec::new(); FIELDS.len()];
        let mut columns = Self { names: Vec::new(), places: none.clone(), others: none, values: Vec::new() };
        for field in Field::all().filter(|field| !field.is_solo()) {
            columns.set(field, field.name());
        }
        columns
    }
}

impl Columns {
    /// Adds the columns of matches of an agent at a challenge, each with its other names.
    pub(crate) fn add_solo(&mut self) {
        for field in Field::all().filter(|field| field.is_solo()) {
            if self.places(field).is_empty() {
                self.set(field, field.name());
            }
        }
        for (field, _, others) in FIELDS {
            if !self.is_mapped(field) {
                let places = others.iter().map(|name| self.place(name)).collect();
                self.others.get_mut(field as usize).into_iter().for_each(|slot| slot.clone_from(&places));
            }
        }
    }

    /// Returns the position of a name, which is added if it is new.
    fn place(&mut self, name: &str) -> usize {
        self.names.iter().position(|known| known == name).unwrap_or_else(|| {
            self.names.push(name.to_owned());
            self.names.len() - 1
        })
    }

    /// Returns the position of the column of a value of a covariate, such as `first_length`.
    pub(crate) fn value(&mut self, name: &str) -> usize {
        match self.values.iter().position(|(known, _)| known == name) {
            Some(at) => self.values.swap_remove(at).1,
            None => self.place(name),
        }
    }

    /// Returns a value that has a column and that no covariate took.
    pub(crate) fn untaken(&self) -> Option<&str> {
        self.values.first().map(|(name, _)| name.as_str())
    }

    /// Returns true if one of these names says that agents are matched against challenges.
    pub(crate) fn tell_solo(&self, is_there: impl Fn(&str) -> bool) -> bool {
        let says = |field: &Field| field.is_solo() && !matches!(field, Field::Score | Field::State);
        let own = Field::all().filter(says).flat_map(|field| self.places(field));
        own.chain(self.others(Field::Second))
            .any(|place| self.names.get(*place).is_some_and(|name| is_there(name)))
    }

    /// Reads `field` from `column`, or from several joined by `+`.
    pub(crate) fn set(&mut self, field: Field, column: &str) {
        let places = column.split('+').map(|name| self.place(name)).collect();
        if let Some(slot) = self.places.get_mut(field as usize) {
            *slot = places;
        }
    }

    /// Returns the positions of the field's columns among the names.
    pub(crate) fn places(&self, field: Field) -> &[usize] {
        self.places.get(field as usize).map_or(&[], Vec::as_slice)
    }

    /// Returns the positions of the other names of a field.
    pub(crate) fn others(&self, field: Field) -> &[usize] {
        self.others.get(field as usize).map_or(&[], Vec::as_slice)
    }

    /// Returns true if the field has other columns than the one with its name.
    pub(crate) fn is_mapped(&self, field: Field) -> bool {
        !self.places(field).is_empty() && self.column(field) != field.name()
    }

    /// Returns the columns of a field as they are written.
    pub(crate) fn column(&self, field: Field) -> String {
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
            let field = Field::all().find(|field| field.name() == name);
            if field.is_none() && !name.starts_with("first_") && !name.starts_with("second_") {
                return Err(unknown(name));
            }
            if column.split('+').any(str::is_empty) {
                return Err(format!("`{part}` names no column"));
            }
            if seen.contains(&name) {
                return Err(format!("`{name}` is mapped twice"));
            }
            seen.push(name);
            match field {
                Some(field) => columns.set(field, column),
                None => {
                    let place = columns.place(column);
                    columns.values.push((name.to_owned(), place));
                }
            }
        }
        Ok(columns)
    }
}

/// Returns the message about a name that no field has.
pub(crate) fn unknown(name: &str) -> String {
    let names: Vec<&str> = Field::all().map(Field::name).collect();
    format!("`{name}` is not a field of a match, expected {}", names.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_every_field_at_its_place() {
        for (at, (field, ..)) in FIELDS.iter().enumerate() {
            assert_eq!(*field as usize, at, "{field:?}");
        }
    }

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
