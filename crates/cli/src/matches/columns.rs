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
    /// The score of an agent at a challenge, 0 to 1000, in place of a result.
    Score,
    /// The difficulty of the challenge.
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

impl Field {
    /// Every field.
    pub const ALL: [Self; 21] = [
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
        Self::Score,
        Self::Difficulty,
        Self::CalibratedDifficulty,
        Self::Verified,
        Self::Memoryless,
        Self::VerifiedBy,
        Self::HarnessMemoryless,
        Self::AttemptNumber,
        Self::State,
    ];

    /// The fields that only a match of an agent at a challenge has.
    pub const SOLO: [Self; 9] = [
        Self::Score,
        Self::Difficulty,
        Self::CalibratedDifficulty,
        Self::Verified,
        Self::Memoryless,
        Self::VerifiedBy,
        Self::HarnessMemoryless,
        Self::AttemptNumber,
        Self::State,
    ];

    /// Returns the other names of a column of such a match: those of the arena's own answers.
    const fn others(self) -> &'static [&'static str] {
        match self {
            Self::First => &["agent", "agent_id", "subject"],
            Self::Second => &["challenge", "challenge_slug"],
            Self::Id => &["match_id"],
            // An expired match ended when its time was over.
            Self::Time => &["submitted_at", "completed_at", "expires_at"],
            Self::State => &["status"],
            _ => &[],
        }
    }

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
            Self::Score => "score",
            Self::Difficulty => "difficulty",
            Self::CalibratedDifficulty => "calibrated_difficulty",
            Self::Verified => "verified",
            Self::Memoryless => "memoryless",
            Self::VerifiedBy => "verified_by",
            Self::HarnessMemoryless => "harness_memoryless",
            Self::AttemptNumber => "attempt_number",
            Self::State => "state",
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
    /// Positions of the other names of fields.
    others: Vec<(Field, usize)>,
}

impl Default for Columns {
    fn default() -> Self {
        let mut columns =
            Self { names: Vec::new(), places: vec![Vec::new(); Field::ALL.len()], others: Vec::new() };
        for field in Field::ALL.into_iter().filter(|field| !Field::SOLO.contains(field)) {
            columns.set(field, field.name());
        }
        columns
    }
}

impl Columns {
    /// Adds the columns of matches of an agent at a challenge, each with its other names.
    pub fn add_solo(&mut self) {
        for field in Field::SOLO {
            if self.places(field).is_empty() {
                self.set(field, field.name());
            }
        }
        for field in Field::ALL.into_iter().filter(|field| !self.is_mapped(*field)).collect::<Vec<_>>() {
            for name in field.others() {
                let place = self.place(name);
                self.others.push((field, place));
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

    /// Returns the positions of the other names of a field, the first choice first.
    pub fn others(&self, field: Field) -> impl Iterator<Item = usize> {
        self.others.iter().filter(move |(other, _)| *other == field).map(|(_, place)| *place)
    }

    /// Returns true if one of these names says that the matches are those of agents at challenges.
    pub fn tells_solo(&self, is_there: impl Fn(&str) -> bool) -> bool {
        let solo = Field::SOLO.into_iter().filter(|field| !matches!(field, Field::Score | Field::State));
        let own = solo.flat_map(|field| self.places(field).iter().copied());
        own.chain(self.others(Field::Second))
            .any(|place| self.names.get(place).is_some_and(|name| is_there(name)))
    }

    /// Reads `field` from `column`, or from several joined by `+`.
    pub fn set(&mut self, field: Field, column: &str) {
        let places = column.split('+').map(|name| self.place(name)).collect();
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
        !self.places(field).is_empty() && self.column(field) != field.name()
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
