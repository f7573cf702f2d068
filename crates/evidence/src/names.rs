//! Names of subjects, tasks and items: one spelling for what looks the same.

use unicode_normalization::{IsNormalized, UnicodeNormalization as _, is_nfc_quick};
use unicode_properties::{GeneralCategory, UnicodeGeneralCategory as _};

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
/// separators of lines and paragraphs, and without white space around it; not `.` or `..`, which addresses resolve. So two
/// names that differ do so by something that is seen.
///
/// ```
/// use karat_evidence::names::fault;
///
/// assert_eq!(fault("Zoë 7"), None);
/// assert_eq!(fault("bot\u{200b}").unwrap().hint, "leave out U+200B");
/// assert_eq!(fault("Zoe\u{308}").unwrap().hint, "write it as `Zo\u{eb}`, with composed characters");
/// ```
#[must_use]
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
        return fault(
            "a name without control and format characters",
            format!("leave out U+{:04X}", u32::from(hidden)),
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

/// Returns whether a character cannot be seen: a control or format character, or a separator of lines or paragraphs.
fn is_hidden(it: char) -> bool {
    matches!(
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
            "",
            " ",
            "\u{3000}",
            ".",
            "..",
            "bot ",
            " bot",
            "bot\u{a0}",
            "bot\u{200b}",
            "bot\u{202e}",
            "\u{2066}bot",
            "b\u{ad}ot",
            "bot\n",
            "b\u{7}t",
            "a\u{2028}b",
            "Zoe\u{308}",
            "\u{212b}",
            "\u{fb1d}",
            "\u{e000}",
            "\u{feff}bot",
            "\u{1f469}\u{200d}\u{1f52c}",
            "\u{378}",
            "bot\t",
        ];
        for name in faulty {
            assert!(fault(name).is_some(), "{name:?}");
        }
    }

    proptest! {
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
                name = name.chars().filter(|it| !is_hidden(*it)).collect::<String>().trim().nfc().collect();
            }
            prop_assert!(fault(&name).is_none() || matches!(name.as_str(), "" | "." | ".."), "{:?}", name);
        }
    }
}
