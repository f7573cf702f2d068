//! Names of subjects, tasks and items: one spelling for what looks the same, and which names look alike.

use std::collections::{BTreeSet, HashMap};

use unicode_normalization::{IsNormalized, UnicodeNormalization as _, is_nfc_quick};
use unicode_properties::{GeneralCategory, UnicodeGeneralCategory as _};
use unicode_security::confusable_detection::skeleton;

/// Fault of a text that is not a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NameFault {
    /// The form that a name has.
    pub expected: &'static str,
    /// The change that makes it a name.
    pub hint: String,
}

/// Returns what keeps `text` from being a name, if anything does.
///
/// A name is a text in normalisation form C (Unicode Standard Annex 15) without control and format characters, without
/// others that are not drawn, without separators of lines and paragraphs, without more than four marks on one letter, and without
/// white space around it; not `.` or `..`, which addresses resolve. So two names that differ do so by something that is seen.
pub fn fault(text: &str) -> Option<NameFault> {
    let fault = |expected, hint| Some(NameFault { expected, hint });
    // Most names.
    if text.bytes().all(|byte| byte.is_ascii_graphic()) && !matches!(text, "" | "." | "..") {
        return None;
    }
    if text.trim().is_empty() {
        return fault("a name, or a whole number", String::from("a name is not blank"));
    }
    if matches!(text, "." | "..") {
        return fault(
            "a name other than `.` and `..`",
            String::from("addresses resolve these: give it another name"),
        );
    }
    if text.trim() != text {
        return fault(
            "a name without blanks around it",
            format!("write it as `{}`", text.trim().escape_debug()),
        );
    }
    if let Some(hidden) = text.chars().find(|it| is_hidden(*it)) {
        let example = if hidden == EMOJI { ": names have emoji without it, such as \u{2764}" } else { "" };
        return fault(
            "a name without control and format characters, and others that are not drawn",
            format!("leave out U+{:04X}{example}", u32::from(hidden)),
        );
    }
    let mut marks = 0;
    if let Some(mark) = text.chars().find(|it| {
        marks = if is_mark(*it) { marks + 1 } else { 0 };
        marks > MARKS_MAX
    }) {
        return fault(
            "a name with at most 4 marks on one letter",
            format!("leave out U+{:04X}", u32::from(mark)),
        );
    }
    if is_nfc_quick(text.chars()) != IsNormalized::Yes && text.nfc().ne(text.chars()) {
        let composed: String = text.nfc().collect();
        return fault(
            "a name in Unicode normalisation form C",
            format!("write it as `{composed}`, with composed characters"),
        );
    }
    None
}

/// The mark that asks for the emoji of the character before it.
const EMOJI: char = '\u{fe0f}';
/// The most marks on one letter: more cover the lines around it, and are not seen one by one.
const MARKS_MAX: usize = 4;

fn is_mark(it: char) -> bool {
    matches!(it.general_category(), GeneralCategory::NonspacingMark | GeneralCategory::EnclosingMark)
}

/// Returns whether a character cannot be seen: a control or format character, a separator of lines or paragraphs, or one of
/// the others that Unicode calls ignorable by default; and the blank of Braille.
fn is_hidden(it: char) -> bool {
    let is_ignorable = matches!(
        it,
        '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}' | '\u{2800}'
            | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{ffa0}' | '\u{e0000}'..='\u{e0fff}'
    );
    is_ignorable
        || matches!(
            it.general_category(),
            GeneralCategory::Control
                | GeneralCategory::Format
                | GeneralCategory::LineSeparator
                | GeneralCategory::ParagraphSeparator
                | GeneralCategory::Surrogate
                | GeneralCategory::Unassigned
                | GeneralCategory::PrivateUse
        )
}

/// Names by what they look like.
///
/// Two names look alike if they have the same skeleton (Unicode Technical Standard 39), as they are written or in small
/// letters: `paypal`, `paypa1`, `PayPal`, and the same in Cyrillic letters. Every name is looked at once; a question costs the
/// same, however many names look like the one asked for.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LookAlikes {
    /// The group of the names with each look, and with both of two. Only looked up, never iterated.
    by_look: HashMap<Box<str>, usize>,
    /// The numbers of the names of each group, in ascending order.
    groups: Vec<Vec<u32>>,
    /// The groups of each name: that of its look; or of each of two, and of both.
    of: Vec<(usize, Option<[usize; 2]>)>,
}

impl LookAlikes {
    /// Adds a name. Its number is the count of those before it.
    pub fn add(&mut self, name: &str) {
        let number = u32::try_from(self.of.len()).unwrap_or(u32::MAX);
        let mut groups = keys(looks(name)).map(|look| {
            let group = *self.by_look.entry(look.into()).or_insert(self.groups.len());
            if group == self.groups.len() {
                self.groups.push(Vec::new());
            }
            if let Some(group) = self.groups.get_mut(group) {
                group.push(number);
            }
            group
        });
        let own =
            (groups.next().unwrap_or_default(), groups.next().zip(groups.next()).map(<[usize; 2]>::from));
        drop(groups);
        self.of.push(own);
    }

    /// Returns the `most` lowest numbers below `end` of the names that look like this one, which has that `number` if it was
    /// added; and how many there are: its own is among them, too.
    pub fn like(&self, name: &str, number: Option<u32>, end: u32, most: usize) -> (Vec<u32>, usize) {
        let known = number.and_then(|number| self.of.get(usize::try_from(number).ok()?));
        let groups: Vec<&[u32]> = match known {
            Some((one, others)) => {
                let all = [Some(*one), others.map(|it| it[0]), others.map(|it| it[1])];
                all.into_iter().filter(Option::is_some).map(|at| self.group(at)).collect()
            }
            None => {
                keys(looks(name)).map(|look| self.group(self.by_look.get(look.as_str()).copied())).collect()
            }
        };
        let mut first = Vec::with_capacity(most);
        let mut count: usize = 0;
        for (place, group) in groups.into_iter().enumerate() {
            let group = group.get(..group.partition_point(|number| *number < end)).unwrap_or_default();
            // The third are those that are in the first two.
            count = if place < 2 { count + group.len() } else { count - group.len() };
            first.extend(group.iter().take(most));
        }
        first.sort_unstable();
        first.dedup();
        first.truncate(most);
        (first, count)
    }

    fn group(&self, place: Option<usize>) -> &[u32] {
        place.and_then(|place| self.groups.get(place)).map_or(&[], Vec::as_slice)
    }
}

/// Returns what names with these looks are found by: each look, and both together if there are two.
fn keys(looks: BTreeSet<String>) -> impl Iterator<Item = String> {
    let all: Vec<String> = looks.into_iter().collect();
    // No name has this character.
    let both = (all.len() > 1).then(|| all.join("\0"));
    all.into_iter().chain(both)
}

/// Returns the looks of a name: its skeleton as it is written, and in small letters. A capital I looks like a small L, and is
/// also the capital of i, so that one of the two alone would miss one.
fn looks(name: &str) -> BTreeSet<String> {
    let small = |text: String| text.chars().flat_map(char::to_lowercase).collect::<String>();
    // Again: a skeleton in small letters may be no skeleton.
    let look = |text: String| skeleton(&small(text)).collect::<String>();
    [look(skeleton(name).collect()), look(name.to_owned())].into()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_cannot_be_seen_is_no_part_of_a_name() {
        for name in ["bot", "bot 7", "Zo\u{eb}", "ибис", "朱鷺", "a/b%", "!", "mean of 3", "👩", "..."]
        {
            assert_eq!(fault(name), None, "{name}");
        }
        let faulty = [
            "", " ", "\u{3000}", ".", "..", "bot ", " bot", "bot\u{a0}", "bot\u{200b}", "bot\u{202e}",
            "\u{2066}bot", "b\u{ad}ot", "bot\n", "b\u{7}t", "a\u{2028}b", "Zoe\u{308}", "\u{212b}",
            "\u{fb1d}", "\u{e000}", "\u{feff}bot", "\u{1f469}\u{200d}\u{1f52c}", "\u{378}", "bot\t",
        ];
        for name in faulty {
            assert!(fault(name).is_some(), "{name:?}");
        }
    }

    /// `Default_Ignorable_Code_Point` of `DerivedCoreProperties.txt` in Unicode 16, and the blank of Braille.
    const IGNORABLE: [(u32, u32); 18] = [
        (0xad, 0xad),
        (0x34f, 0x34f),
        (0x61c, 0x61c),
        (0x115f, 0x1160),
        (0x17b4, 0x17b5),
        (0x180b, 0x180f),
        (0x200b, 0x200f),
        (0x202a, 0x202e),
        (0x2060, 0x206f),
        (0x2800, 0x2800),
        (0x3164, 0x3164),
        (0xfe00, 0xfe0f),
        (0xfeff, 0xfeff),
        (0xffa0, 0xffa0),
        (0xfff0, 0xfff8),
        (0x1_bca0, 0x1_bca3),
        (0x1_d173, 0x1_d17a),
        (0xe_0000, 0xe_0fff),
    ];

    #[test]
    fn what_is_not_drawn_is_no_part_of_a_name() {
        for it in IGNORABLE.iter().flat_map(|&(first, last)| first..=last).filter_map(char::from_u32) {
            let found = fault(&format!("b{it}ot")).unwrap_or_else(|| panic!("{it:?}"));
            assert!(found.hint.starts_with(&format!("leave out U+{:04X}", u32::from(it))), "{found:?}");
        }
        let emoji = fault("\u{2764}\u{fe0f} bot").unwrap();
        assert_eq!(emoji.hint, "leave out U+FE0F: names have emoji without it, such as \u{2764}");
        assert_eq!(fault("\u{2764} bot"), None);
    }

    #[test]
    fn marks_do_not_pile_up() {
        // U+0483 and U+20DD compose with nothing.
        for mark in ["\u{483}", "\u{20dd}"] {
            assert_eq!(fault(&format!("a{}b{0}", mark.repeat(4))), None);
            let found = fault(&format!("a{}b", mark.repeat(5))).unwrap();
            assert_eq!(found.expected, "a name with at most 4 marks on one letter");
        }
        assert_eq!(fault("\u{e01}\u{e35}\u{e48}\u{915}\u{94d}\u{937}\u{93f}"), None);
    }

    fn are_alike(one: &str, other: &str) -> bool {
        let mut names = LookAlikes::default();
        names.add(one);
        names.like(other, None, 1, 1).1 > 0
    }

    /// Pairs from `confusables.txt` of Unicode Technical Standard 39, and what people try.
    #[test]
    fn names_that_look_alike_are_found() {
        let alike = [
            ("paypal", "paypa1"),
            ("paypal", "p\u{430}yp\u{430}l"),
            ("paypal", "PayPal"),
            ("paypal", "\u{440}\u{430}\u{443}\u{440}\u{430}\u{4cf}"),
            ("PAYPAL", "\u{420}\u{410}\u{423}\u{420}\u{410}L"),
            ("scope", "\u{455}\u{441}\u{43e}\u{440}\u{435}"),
            ("bot-0", "bot-O"),
            ("bot-0", "bot-o"),
            ("bill", "BILL"),
            ("bill", "b\u{456}ll"),
            ("Il", "lI"),
            ("BILL", "BlLL"),
            ("modern", "modem"),
            ("circle", "\u{441}ircle"),
            ("vu", "\u{3bd}u"),
            ("a-b", "a\u{2010}b"),
            ("a-b", "a\u{2013}b"),
            ("a b", "a\u{a0}b"),
            ("a/b", "a\u{2215}b"),
            ("1", "l"),
            ("1", "I"),
            ("5", "\u{1bc}"),
            ("fi", "\u{fb01}"),
            ("k", "\u{1d424}"),
            ("a", "\u{ff41}"),
            ("so\u{307}s", "s\u{22f}s"),
        ];
        for (one, other) in alike {
            assert!(are_alike(one, other), "{one} {other}: {:?} {:?}", looks(one), looks(other));
            assert!(are_alike(other, one), "{other} {one}");
        }
        for (one, other) in
            [("ant", "bee"), ("bot-1", "bot-2"), ("claude", "clause"), ("bot", "bot2"), ("a", "ab")]
        {
            assert!(!are_alike(one, other), "{one} {other}");
        }
    }

    #[test]
    fn many_names_are_looked_at_once_each() {
        let mut names = LookAlikes::default();
        (0..20_000u32).for_each(|number| names.add(&format!("agent{number:05}x")));
        assert_eq!(names.like("agent02345x", None, u32::MAX, 9), (vec![2345], 1));
        // 0 and O, 1 and l.
        assert_eq!(names.like("agentOlO34x", None, u32::MAX, 9), (vec![1034], 1));
        names.add("agent0lO34x");
        assert_eq!(names.like("agent01034x", None, u32::MAX, 9), (vec![1034, 20_000], 2));
        assert_eq!(names.like("agent01034x", None, u32::MAX, 1), (vec![1034], 2));
        assert_eq!(names.like("agent01034x", None, 20_000, 9), (vec![1034], 1));
        // One name with two looks is one name.
        names.add("Il-agent");
        assert_eq!(names.like("Il-agent", None, u32::MAX, 9), (vec![20_001], 1));
        for (number, name) in [(1034, "agent01034x"), (20_000, "agent0lO34x"), (20_001, "Il-agent")] {
            assert_eq!(names.like(name, Some(number), u32::MAX, 9), names.like(name, None, u32::MAX, 9));
        }
    }

    proptest! {
        #[test]
        fn looking_alike_goes_both_ways(one in "[abIl10oOрас\\PC]{1,4}", other in "[abIl10oOрас\\PC]{1,4}") {
            prop_assert!(are_alike(&one, &one));
            prop_assert_eq!(are_alike(&one, &other), are_alike(&other, &one));
            if skeleton(&one).eq(skeleton(&other)) {
                prop_assert!(are_alike(&one, &other));
            }
        }

        #[test]
        fn two_names_that_are_equal_in_any_form_are_the_same_name(text in "\\PC{0,8}", other in "\\PC{0,8}") {
            let forms = [text.clone(), text.nfc().collect(), text.nfd().collect()];
            let names: Vec<&String> = forms.iter().filter(|it| fault(it).is_none()).collect();
            prop_assert!(names.windows(2).all(|pair| pair[0] == pair[1]), "{:?}", names);
            if fault(&text).is_none() && fault(&other).is_none() && text.nfd().eq(other.nfd()) {
                prop_assert_eq!(text, other);
            }
        }

        /// Composed, without what is hidden, and trimmed, every text that leaves something is a name.
        #[test]
        fn what_the_hints_say_makes_a_name(text in any::<String>()) {
            let mut name = text.clone();
            for _ in 0..8 {
                if fault(&name).is_none() {
                    break;
                }
                let mut marks = 0;
                name.retain(|it| {
                    marks = if is_mark(it) { marks + 1 } else { 0 };
                    !is_hidden(it) && marks <= MARKS_MAX
                });
                name = name.trim().nfc().collect();
            }
            prop_assert!(fault(&name).is_none() || matches!(name.as_str(), "" | "." | ".."), "{:?}", name);
        }
    }
}
