//! Subjects whose names look like another's: who meets one of them may take it for the other.

use std::collections::{BTreeMap, BTreeSet};

use karat_evidence::names;

use crate::text::{count, short};

/// The largest number of names that are listed beside a name.
const LISTED: usize = 16;
/// The largest number of sentences about names.
const SENTENCES: usize = 6;

/// The names that look like another name, each with those others.
///
/// ```
/// use karat::look_alikes::LookAlikes;
///
/// let found = LookAlikes::among(["paypal", "paypa1", "ebay"]);
/// assert_eq!(found.of("paypa1"), ["paypal"]);
/// assert!(found.of("ebay").is_empty());
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LookAlikes(BTreeMap<String, Vec<String>>);

impl LookAlikes {
    /// Finds those among all names of a set.
    pub fn among<'n>(all: impl IntoIterator<Item = &'n str>) -> Self {
        let all: Vec<&str> = all.into_iter().collect::<BTreeSet<_>>().into_iter().collect();
        let mut known = names::LookAlikes::default();
        (0u32..).zip(&all).for_each(|(number, name)| known.add(number, name));
        let name = |number: u32| usize::try_from(number).ok().and_then(|at| all.get(at)).copied();
        all.iter().map(|own| (*own, known.like(own).into_iter().filter_map(name).collect())).collect()
    }

    /// Returns the other names that look like this one, the first of them if they are many.
    pub fn of(&self, name: &str) -> &[String] {
        self.0.get(name).map_or(&[], Vec::as_slice)
    }
}

impl<'n> FromIterator<(&'n str, Vec<&'n str>)> for LookAlikes {
    /// Takes names, each with all that look like it; the name itself does not count.
    fn from_iter<T: IntoIterator<Item = (&'n str, Vec<&'n str>)>>(all: T) -> Self {
        let others = |(name, mut others): (&str, Vec<&str>)| {
            others.retain(|other| *other != name);
            others.sort_unstable();
            let others: Vec<String> = others.into_iter().take(LISTED).map(str::to_owned).collect();
            (!others.is_empty()).then(|| (name.to_owned(), others))
        };
        Self(all.into_iter().filter_map(others).collect())
    }
}

/// Returns sentences about names that look like others, given with those others.
pub fn sentences<'n>(names: impl IntoIterator<Item = (&'n str, &'n [String])>) -> Vec<String> {
    let sets = names
        .into_iter()
        .filter(|(_, others)| !others.is_empty())
        .map(|(name, others)| others.iter().map(String::as_str).chain([name]).collect::<BTreeSet<&str>>());
    let sets: BTreeSet<BTreeSet<&str>> = sets.collect();
    let sentence = |set: &BTreeSet<&str>| {
        let shown: Vec<String> = set.iter().copied().map(spelled).collect();
        format!("these names look alike: {}", shown.join(", "))
    };
    let more = sets.len().saturating_sub(SENTENCES);
    let more = (more > 0).then(|| format!("and {} of names that look alike", count(more, "more set")));
    sets.iter().take(SENTENCES).map(sentence).chain(more).collect()
}

/// Writes a name so that it differs from those that look like it: with its letters by number, if they are not ASCII.
fn spelled(name: &str) -> String {
    let shown = format!("`{}`", short(name));
    if name.is_ascii() { shown } else { format!("{shown} ({})", short(&name.escape_default().to_string())) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_set_is_named_once() {
        let names = ["paypal", "paypa1", "p\u{430}ypal", "ebay", "modem", "modern"];
        let found = LookAlikes::among(names);
        assert_eq!(found.of("paypal"), ["paypa1", "p\u{430}ypal"]);
        let told = sentences(names.iter().map(|name| (*name, found.of(name))));
        assert_eq!(
            told,
            [
                "these names look alike: `modem`, `modern`",
                "these names look alike: `paypa1`, `paypal`, `p\u{430}ypal` (p\\u{430}ypal)"
            ]
        );
        assert!(sentences([("ebay", found.of("ebay"))]).is_empty());
    }

    #[test]
    fn looking_alike_goes_both_ways_and_never_back_to_the_name() {
        let letters = ["a", "\u{430}", "A", "l", "1", "I", "i", "o", "0"];
        let names: Vec<String> =
            letters.iter().flat_map(|one| letters.iter().map(move |other| format!("{one}{other}"))).collect();
        let found = LookAlikes::among(names.iter().map(String::as_str));
        assert!(names.iter().any(|name| !found.of(name).is_empty()));
        for name in &names {
            for other in found.of(name) {
                assert_ne!(name, other);
                assert!(found.of(other).contains(name) || found.of(other).len() == LISTED, "{name} {other}");
            }
        }
    }

    #[test]
    fn many_are_cut() {
        let names: Vec<String> =
            (0..40).map(|at| format!("{}x{}", "l".repeat(at), "1".repeat(40 - at))).collect();
        let same: Vec<String> =
            (0..40).map(|at| format!("{}{}", "l".repeat(at), "1".repeat(40 - at))).collect();
        let found = LookAlikes::among(names.iter().chain(&same).map(String::as_str));
        assert_eq!(found.of(&same[0]).len(), LISTED);
        assert!(found.of(&names[0]).is_empty());
        let pairs: Vec<[String; 2]> = (10..20).map(|at| [format!("l{at}"), format!("I{at}")]).collect();
        let found = LookAlikes::among(pairs.iter().flatten().map(String::as_str));
        let told = sentences(pairs.iter().flatten().map(|name| (name.as_str(), found.of(name))));
        assert_eq!(told.len(), SENTENCES + 1);
        assert_eq!(told[SENTENCES], "and 4 more sets of names that look alike");
    }
}
