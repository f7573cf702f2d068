//! Names that changed: those of subjects by `--rename OLD=NEW`, and those of fields of questions and answers since they were
//! published.

use std::collections::BTreeMap;
use std::str::FromStr;

use crate::error::{Code, Error};
use crate::text::clean;

/// The fields of project files, queries and answers that have another name now, old name first.
const FIELDS: [(&str, &str); 14] = [
    ("ahead", "verdict"),
    ("change", "difference"),
    ("draws", "resamples"),
    ("drives", "importance"),
    ("fail_under_dimension", "dimensions"),
    ("filters", "where"),
    ("first_ahead_tasks", "worse_tasks"),
    ("loss", "difference"),
    ("renames", "rename"),
    ("runs", "mean"),
    ("second_ahead_tasks", "better_tasks"),
    ("share_first", "chance_of_rank_1"),
    ("subject_field", "subject"),
    ("task_field", "task"),
];

/// Returns what to say of a name that is not known: the new name, if it is the old one of a field that is.
pub fn renamed<'k>(name: &str, mut known: impl Iterator<Item = &'k str>) -> Option<String> {
    let (old, new) = FIELDS.into_iter().find(|(old, _)| *old == name)?;
    known.any(|known| known == new).then(|| format!("`{old}` is `{new}` now"))
}

/// A new name of a subject.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rename {
    /// The name in the file.
    pub old: String,
    /// The name that counts.
    pub new: String,
}

impl FromStr for Rename {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once('=') {
            Some((old, new)) if !old.is_empty() && !new.is_empty() && old != new => {
                Ok(Self { old: old.to_owned(), new: new.to_owned() })
            }
            _ => Err(String::from("expected two different names, such as `old-name=new-name`")),
        }
    }
}

/// All new names, and which of them were used.
#[derive(Debug, Default)]
pub(crate) struct Renames<'a> {
    new_names: BTreeMap<&'a str, (&'a str, bool)>,
}

impl<'a> Renames<'a> {
    /// Collects the new name of every old one.
    ///
    /// # Errors
    /// If a name has two new names, or a new name is itself renamed.
    pub(crate) fn new(given: &'a [Rename]) -> Result<Self, Error> {
        let mut new_names = BTreeMap::new();
        for Rename { old, new } in given {
            if new_names.insert(old.as_str(), (new.as_str(), false)).is_some() {
                return Err(Error::new(
                    Code::InvalidOption,
                    format!("--rename gives `{}` two new names", clean(old)),
                ));
            }
        }
        match given.iter().find(|rename| new_names.contains_key(rename.new.as_str())) {
            Some(Rename { old, new }) => Err(Error::new(
                Code::InvalidOption,
                format!("--rename leads from `{}` to `{}` and on from there", clean(old), clean(new)),
            )
            .hint("name the last name for each of the old ones")),
            None => Ok(Self { new_names }),
        }
    }

    /// Returns the new name of `name`, or `name` itself.
    pub(crate) fn apply<'n>(&mut self, name: &'n str) -> &'n str
    where
        'a: 'n,
    {
        match self.new_names.get_mut(name) {
            Some((new, is_found)) => {
                *is_found = true;
                new
            }
            None => name,
        }
    }

    /// Returns the old names that no subject had.
    pub(crate) fn unfound(&self) -> impl Iterator<Item = &'a str> {
        self.new_names.iter().filter(|(_, (_, is_found))| !is_found).map(|(old, _)| *old)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_old_name_of_a_field_is_told_the_new_one() {
        let known = || ["resamples", "mean"].into_iter();
        assert_eq!(renamed("draws", known()).unwrap(), "`draws` is `resamples` now");
        assert_eq!((renamed("loss", known()), renamed("mean", known())), (None, None));
        for (at, (old, new)) in FIELDS.into_iter().enumerate() {
            assert!(FIELDS.iter().skip(at + 1).all(|(other, _)| old < *other), "{old}");
            assert!(FIELDS.iter().all(|(other, _)| new != *other), "{new}");
        }
    }

    #[test]
    fn names_become_others_once() {
        let given: Vec<Rename> = ["a=b", "c=b"].map(|text| text.parse().unwrap()).into();
        let mut renames = Renames::new(&given).unwrap();
        assert_eq!((renames.apply("a"), renames.apply("x")), ("b", "x"));
        assert_eq!(renames.unfound().collect::<Vec<_>>(), ["c"]);
        let wrong = |texts: [&str; 2]| Renames::new(&texts.map(|text| text.parse().unwrap())).is_err();
        assert!(wrong(["a=b", "a=c"]) && wrong(["a=b", "b=c"]) && !wrong(["a=c", "b=c"]));
        assert!("a=a".parse::<Rename>().is_err() && "a".parse::<Rename>().is_err());
    }
}
