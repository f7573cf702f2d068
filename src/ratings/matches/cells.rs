//! The cells of one row, or the members of one JSON object, that columns name.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, Visitor};

use super::columns::{Columns, FILE, Field};

/// Most names of cells that are remembered.
const REMEMBERED: usize = 100;

/// The cells of a row by column; `None` if the cell is empty or null.
pub(crate) struct Cells<'a> {
    columns: &'a Columns,
    values: Vec<Option<Cow<'a, str>>>,
}

impl<'a> Cells<'a> {
    /// Takes the named members of the JSON object `bytes`; `a.b` is also the member `b` of an object `a`. Names of members go
    /// into `seen`: those that are asked for, and the others while there is room.
    ///
    /// # Errors
    /// If the bytes are not such an object.
    pub(crate) fn read(
        bytes: &'a [u8],
        columns: &'a Columns,
        file: &'a str,
        seen: &mut BTreeSet<String>,
    ) -> Result<Self, String> {
        let mut reader = serde_json::Deserializer::from_slice(bytes);
        let mut values = vec![None; columns.names.len()];
        let members = Members {
            names: &columns.names,
            values: &mut values,
            seen,
            taken: &mut 0,
            within: String::new(),
        };
        let read = reader.deserialize_map(members).and_then(|()| reader.end());
        read.map_err(|error| {
            let text = error.to_string();
            text.split(" at line ").next().unwrap_or_default().to_owned()
        })?;
        let at = columns.names.iter().position(|name| name == FILE);
        if let Some(value) = at.and_then(|at| values.get_mut(at)) {
            *value = Some(Cow::Borrowed(file));
        }
        Ok(Self { columns, values })
    }

    /// Returns the text of the column at a position.
    pub(crate) fn at(&self, place: usize) -> Option<&str> {
        self.values.get(place)?.as_deref()
    }

    /// Returns the text of a field. Several columns are joined by `/`; `None` if all of them are empty.
    pub(crate) fn get(&self, field: Field) -> Option<Cow<'_, str>> {
        let value = |place: &usize| self.at(*place);
        match self.columns.places(field) {
            [only] => {
                let found = value(only).or_else(|| self.columns.others(field).iter().find_map(value));
                found.map(Cow::Borrowed)
            }
            several => {
                let own = |place: &&usize| self.columns.names.get(**place).is_none_or(|name| name != FILE);
                several.iter().filter(own).find_map(value)?;
                let parts: Vec<&str> = several.iter().map(|place| value(place).unwrap_or_default()).collect();
                Some(Cow::Owned(parts.join("/")))
            }
        }
    }
}

/// Reads an object into cells.
struct Members<'n, 'v, 'a> {
    names: &'n [String],
    values: &'v mut [Option<Cow<'a, str>>],
    seen: &'v mut BTreeSet<String>,
    /// A bit for each name that was found.
    taken: &'v mut u128,
    /// The path of an inner object, with a dot at its end.
    within: String,
}

impl<'a> DeserializeSeed<'a> for Members<'_, '_, 'a> {
    type Value = ();

    fn deserialize<D: Deserializer<'a>>(self, object: D) -> Result<(), D::Error> {
        object.deserialize_any(self)
    }
}

#[derive(Deserialize)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'a> Visitor<'a> for Members<'_, '_, 'a> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with the members of a match")
    }

    /// An inner object that is null.
    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_map<A: MapAccess<'a>>(self, mut map: A) -> Result<(), A::Error> {
        let Self { names, values, seen, taken, within } = self;
        while let Some(Name(key)) = map.next_key()? {
            let name = if within.is_empty() { key } else { format!("{within}{key}").into() };
            let has_inner = |wanted: &String| {
                wanted.strip_prefix(name.as_ref()).is_some_and(|inner| inner.starts_with('.'))
            };
            if names.iter().any(has_inner) && !names.iter().any(|wanted| *wanted == name) {
                let within = format!("{name}.");
                map.next_value_seed(Members { names, values, seen, taken, within })?;
                continue;
            }
            let place = names.iter().position(|wanted| *wanted == name);
            if (place.is_some() || seen.len() < REMEMBERED) && !seen.contains(name.as_ref()) {
                seen.insert(name.clone().into_owned());
            }
            let Some((place, value)) = place.and_then(|place| Some((place, values.get_mut(place)?))) else {
                map.next_value::<IgnoredAny>()?;
                continue;
            };
            let bit = 1u128 << (place % 128);
            if *taken & bit != 0 {
                return Err(A::Error::custom(format_args!("`{name}` is given twice in one object")));
            }
            *taken |= bit;
            let cell: Option<Cell<'_>> =
                map.next_value().map_err(|error| A::Error::custom(format_args!("`{name}`: {error}")))?;
            *value = cell.map(Cell::text).filter(|text| !text.is_empty());
        }
        Ok(())
    }
}

/// A text, a number or a boolean.
#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a text or a number")]
enum Cell<'a> {
    Text(#[serde(borrow)] Cow<'a, str>),
    Natural(u64),
    Whole(i64),
    Number(f64),
    Flag(bool),
}

impl<'a> Cell<'a> {
    fn text(self) -> Cow<'a, str> {
        match self {
            Self::Text(text) => text,
            Self::Natural(number) => number.to_string().into(),
            Self::Whole(number) => number.to_string().into(),
            Self::Number(number) => number.to_string().into(),
            Self::Flag(flag) => flag.to_string().into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read<'a>(text: &'a str, columns: &'a Columns) -> Result<Cells<'a>, String> {
        Cells::read(text.as_bytes(), columns, "votes", &mut BTreeSet::new())
    }

    #[test]
    fn cells_are_texts_whatever_they_were() {
        let columns: Columns = "id=round+worker,judge=@file,pair=@file+none".parse().unwrap();
        let text =
            r#"{"first": "a\u00e9", "second": 7, "result": 0.5, "round": true, "time": null, "x": [1, {}]}"#;
        let cells = read(text, &columns).unwrap();
        assert_eq!(cells.get(Field::First).as_deref(), Some("aé"));
        assert_eq!(cells.get(Field::Second).as_deref(), Some("7"));
        assert_eq!(cells.get(Field::Result).as_deref(), Some("0.5"));
        assert_eq!(cells.get(Field::Time), None);
        assert_eq!(cells.get(Field::Id).as_deref(), Some("true/"));
        assert_eq!(cells.get(Field::Judge).as_deref(), Some("votes"));
        assert_eq!(cells.get(Field::Pair), None, "the file alone names no pair");
    }

    #[test]
    fn members_of_inner_objects_have_paths() {
        let columns: Columns = "id=meta.run.id,time=meta.at,first=a.b,second=none.name".parse().unwrap();
        let text = r#"{"meta": {"run": {"id": 7, "x": [1]}, "at": null}, "a.b": "ann", "none": null}"#;
        let mut seen = BTreeSet::new();
        let cells = Cells::read(text.as_bytes(), &columns, "votes", &mut seen).unwrap();
        assert_eq!(
            (cells.get(Field::Id).as_deref(), cells.get(Field::First).as_deref()),
            (Some("7"), Some("ann"))
        );
        assert_eq!((cells.get(Field::Time), cells.get(Field::Second)), (None, None));
        assert_eq!(seen.into_iter().collect::<Vec<_>>(), ["a.b", "meta.at", "meta.run.id", "meta.run.x"]);
        for (text, expected) in [
            (r#"{"meta": {"at": 1}, "meta": {"at": 2}}"#, "`meta.at` is given twice"),
            (r#"{"a": {"b": "x"}, "a.b": "y"}"#, "`a.b` is given twice"),
            (r#"{"meta": "x"}"#, "expected an object"),
            (r#"{"meta": {"at": [1]}}"#, "`meta.at`: expected a text or a number"),
        ] {
            let error = read(text, &columns).err().unwrap();
            assert!(error.contains(expected), "{error}");
        }
    }

    #[test]
    fn what_cannot_be_a_row_is_told() {
        let columns = Columns::default();
        for (text, expected) in [
            ("[1]", "expected an object with the members of a match"),
            (r#"{"first": {}}"#, "`first`: expected a text or a number"),
            (r#"{"first": "a", "first": "a"}"#, "`first` is given twice"),
            (r#"{"first": "a""#, "EOF"),
            (r#"{"first": "a"} x"#, "trailing characters"),
        ] {
            let error = read(text, &columns).err().unwrap();
            assert!(error.contains(expected), "{error}");
        }
    }
}
