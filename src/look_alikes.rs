//! Subjects whose names look like another's: who meets one of them may take it for the other.

use std::collections::{BTreeMap, BTreeSet};

use karat_evidence::names;
use serde::{Deserialize, Serialize};

use crate::text::{count, short};

/// The largest number of names that are listed beside a name.
const LISTED: usize = 16;
/// The largest number of sentences about names.
const SENTENCES: usize = 6;

/// The names that look like another one.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Alike {
    /// Other names that look like this one, the first 16 of them; left out if there is no such name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub looks_like: Vec<String>,
    /// The number of further such names; left out if there is no such name.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub looks_like_more: usize,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes it so")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

static NONE: Alike = Alike { looks_like: Vec::new(), looks_like_more: 0 };

/// The names that look like another name, each with those others.
///
/// ```
/// use karat::look_alikes::LookAlikes;
///
/// let found = LookAlikes::among(["paypal", "paypa1", "ebay"]);
/// assert_eq!(found.of("paypa1").looks_like, ["paypal"]);
/// assert!(found.of("ebay").looks_like.is_empty());
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LookAlikes(BTreeMap<String, Alike>);

impl LookAlikes {
    /// Finds those among all names of a set.
    pub fn among<'n>(all: impl IntoIterator<Item = &'n str>) -> Self {
        let all: BTreeSet<&str> = all.into_iter().collect();
        let mut known = KnownNames::default();
        let all: Vec<&str> = all.into_iter().inspect(|name| known.add(name)).collect();
        let name = |number: u32| usize::try_from(number).ok().and_then(|at| all.get(at)).copied();
        (0u32..).zip(&all).map(|(number, own)| known.of(own, Some(number), u32::MAX, name)).collect()
    }

    /// Takes out the other names that look like this one.
    pub fn take(&mut self, name: &str) -> Alike {
        self.0.remove(name).unwrap_or_default()
    }

    /// Returns the other names that look like this one.
    pub fn of(&self, name: &str) -> &Alike {
        self.0.get(name).unwrap_or(&NONE)
    }
}

impl FromIterator<(String, Alike)> for LookAlikes {
    fn from_iter<T: IntoIterator<Item = (String, Alike)>>(all: T) -> Self {
        Self(all.into_iter().filter(|(_, alike)| !alike.looks_like.is_empty()).collect())
    }
}

/// Names in an order, each looked at once.
#[derive(Debug, Clone, Default)]
pub struct KnownNames(names::LookAlikes);

impl KnownNames {
    /// Adds a name that is not among them. Its number is the count of those before it.
    pub fn add(&mut self, name: &str) {
        self.0.add(name);
    }

    /// Returns a name with those of the first `end` names that look like it, `number` being its own if it is one of them, and
    /// `name` the names by number.
    pub fn of<'n>(
        &self,
        own: &str,
        number: Option<u32>,
        end: u32,
        name: impl Fn(u32) -> Option<&'n str>,
    ) -> (String, Alike) {
        let (first, count) = self.0.like(own, number, end, LISTED + 1);
        let own_number = number.filter(|number| *number < end);
        let others = first.into_iter().filter(|it| Some(*it) != own_number).take(LISTED);
        let mut looks_like: Vec<String> = others.filter_map(name).map(str::to_owned).collect();
        looks_like.sort_unstable();
        let looks_like_more = (count - usize::from(own_number.is_some())).saturating_sub(looks_like.len());
        (own.to_owned(), Alike { looks_like, looks_like_more })
    }
}

/// Returns sentences about names that look like others, given with those others.
pub fn sentences<'n>(names: impl IntoIterator<Item = (&'n str, &'n Alike)>) -> Vec<String> {
    let (mut told, mut sets) = (BTreeSet::<&str>::new(), BTreeMap::new());
    for (name, alike) in names {
        // One that is beyond those listed is in the count of those that are.
        if !alike.looks_like.iter().all(|other| told.contains(other.as_str())) {
            let others = alike.looks_like.iter().map(String::as_str);
            let set: BTreeSet<&str> = others.chain([name]).collect();
            told.extend(&set);
            sets.insert(set, alike.looks_like_more);
        }
    }
    let sentence = |(set, more): (&BTreeSet<&str>, &usize)| {
        let shown: Vec<String> = set.iter().copied().map(spelled).collect();
        let more = if *more > 0 { format!(" and {}", count(*more, "more name")) } else { String::new() };
        format!("these names look alike: {}{more}", shown.join(", "))
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
        assert_eq!(found.of("paypal").looks_like, ["paypa1", "p\u{430}ypal"]);
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
        assert!(names.iter().any(|name| !found.of(name).looks_like.is_empty()));
        for name in &names {
            for other in &found.of(name).looks_like {
                assert_ne!(name, other);
                let back = found.of(other);
                assert!(back.looks_like.contains(name) || back.looks_like_more > 0, "{name} {other}");
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
        let alike = found.of(&same[0]);
        assert_eq!((alike.looks_like.len(), alike.looks_like_more), (LISTED, 40 - 1 - LISTED));
        assert!(found.of(&names[0]).looks_like.is_empty());
        let told = sentences(same.iter().map(|name| (name.as_str(), found.of(name))));
        assert!(told.len() == 1 && told[0].ends_with(" and 23 more names"), "{told:?}");
        let pairs: Vec<[String; 2]> = (10..20).map(|at| [format!("l{at}"), format!("I{at}")]).collect();
        let found = LookAlikes::among(pairs.iter().flatten().map(String::as_str));
        let told = sentences(pairs.iter().flatten().map(|name| (name.as_str(), found.of(name))));
        assert_eq!(told.len(), SENTENCES + 1);
        assert_eq!(told[SENTENCES], "and 4 more sets of names that look alike");
    }
}
