//! Tokens, stems and ROUGE-L.

use proptest::prelude::*;

use crate::quality::{Reference, Tokenizer};

fn tokens(text: &str) -> Vec<String> {
    Tokenizer::Reference.tokens(text)
}

fn f1(reference: &str, answer: &str) -> f64 {
    Reference::new(reference, Tokenizer::Reference).unwrap().grade(answer).unwrap().f1
}

fn unicode_f1(reference: &str, answer: &str) -> f64 {
    Reference::new(reference, Tokenizer::Unicode).unwrap().grade(answer).unwrap().f1
}

#[test]
fn a_stem_is_found_behind_more_letters_than_a_register_has() {
    for length in 50..140 {
        let start = "xyab".repeat(length / 4) + &"b".repeat(length % 4);
        assert_eq!(tokens(&format!("{start}ization")), [start.as_str()], "{length}");
        assert_eq!(tokens(&format!("{start}lize")), [format!("{start}l")], "{length}");
        assert_eq!(
            tokens(&format!("{}ing", "b".repeat(length))),
            ["b".repeat(length) + "ing"],
            "no vowel before"
        );
    }
    // Every second y is a vowel.
    for length in [4, 63, 64, 65, 66, 200, 201] {
        let ys = "y".repeat(length);
        let is_last_vowel = length % 2 == 0;
        let stem = if is_last_vowel { ys.clone()[1..].to_owned() + "i" } else { ys.clone() };
        assert_eq!(tokens(&ys), [stem], "{length}");
    }
}

#[test]
fn two_letters_outside_ascii_become_ascii_in_lower_case_and_no_more() {
    let expected = ['\u{130}', '\u{212a}'];
    let found =
        ('\u{80}'..=char::MAX).filter(|c| c.to_lowercase().any(|lower| lower.is_ascii_alphanumeric()));
    assert_eq!(found.collect::<Vec<_>>(), expected);
    assert_eq!(tokens("3\u{212a} \u{212a}elvins"), ["3k", "kelvin"]);
    assert_eq!(tokens("DİYOR"), ["di", "yor"]);
    assert_eq!(tokens("naïve ＡＢＣ ﬁne"), ["na", "ve", "ne"]);
}

#[test]
fn other_scripts_score_nothing_with_the_reference_and_fully_with_unicode() {
    for text in [
        "Быстрая лисица", "東京は日本の首都です", "สวัสดีชาวโลก", "مرحبا بالعالم", "नमस्ते दुनिया",
        "안녕하세요 세계", "ሰላም ልዑል",
    ] {
        assert_eq!(f1(text, text), 0.0, "{text}");
        assert_eq!(unicode_f1(text, text), 1.0, "{text}");
        assert_eq!(unicode_f1(text, "unrelated words"), 0.0, "{text}");
    }
    let rouge = unicode_f1("東京は首都", "東京が首都");
    assert!(rouge > 0.5 && rouge < 1.0, "{rouge}");
}

#[test]
fn the_same_word_written_differently_is_the_same_with_unicode() {
    for (one, other) in [
        ("café", "cafe\u{301}"),
        ("STRASSE", "straße"),
        ("ΟΔΟΣ", "οδος"),
        ("ＫＡＲＡＴ", "karat"),
        ("ﬁne", "fine"),
        ("don’t", "don't"),
    ] {
        assert_eq!(unicode_f1(one, other), 1.0, "{one} {other}");
    }
    assert_eq!(unicode_f1("كتاب", "قلم"), 0.0);
}

#[test]
fn rouge_is_one_for_the_same_words_and_zero_without_any() {
    assert_eq!(f1("Rivers carve valleys.", "rivers CARVE valleys"), 1.0);
    assert_eq!(f1("alpha beta", "gamma"), 0.0);
    for (reference, answer) in [("", ""), ("a", ""), ("", "a"), ("...", "..."), ("a", "   ")] {
        assert_eq!(f1(reference, answer), 0.0, "{reference} {answer}");
    }
    // 2PR/(P+R), not 2L/(n+m), which has other last bits.
    let (precision, recall): (f64, f64) = (1.0 / 3.0, 1.0 / 5.0);
    assert_eq!(f1("a b c d e", "a x y"), ((2.0 * precision) * recall) / (precision + recall));
}

#[test]
fn the_overlap_names_matched_and_missing_tokens() {
    let reference = Reference::new("one two three four five", Tokenizer::Reference).unwrap();
    let overlap = reference.overlap("five one three, four").unwrap().unwrap();
    assert_eq!(overlap.matched, ["one", "three", "four"]);
    assert_eq!(overlap.missing, ["two", "five"]);
    let overlap = reference.overlap("").unwrap().unwrap();
    assert_eq!((overlap.matched.len(), overlap.missing.len()), (0, 5));
    assert_eq!(serde_json::json!(overlap)["missing"][4], "five");
}

/// Computes the textbook table.
fn common(a: &[String], b: &[String]) -> usize {
    let mut row = vec![0; b.len() + 1];
    for a in a {
        let mut diagonal = 0;
        for (at, b) in b.iter().enumerate() {
            let above = row[at + 1];
            row[at + 1] = if a == b { diagonal + 1 } else { above.max(row[at]) };
            diagonal = above;
        }
    }
    row[b.len()]
}

fn words(count: std::ops::Range<usize>) -> impl Strategy<Value = String> {
    let word = prop_oneof![
        "[a-e]",
        "[a-c]{1,2}",
        Just("elephantine99".to_owned()),
        Just("elephantine98".to_owned()),
        "[a-z]{7,18}",
    ];
    prop::collection::vec(word, count).prop_map(|words| words.join(" "))
}

fn is_subsequence(part: &[String], of: &[String]) -> bool {
    let mut rest = of.iter();
    part.iter().all(|token| rest.any(|other| other == token))
}

proptest! {
    #[test]
    fn the_common_length_is_that_of_the_textbook(a in words(0..300), b in words(0..200)) {
        let reference = Reference::new(&a, Tokenizer::Reference).unwrap();
        let rouge = reference.grade(&b).unwrap();
        let (a, b) = (tokens(&a), tokens(&b));
        prop_assert_eq!((rouge.reference_tokens, rouge.answer_tokens), (a.len(), b.len()));
        prop_assert_eq!(rouge.common_tokens, common(&a, &b));
    }

    #[test]
    fn the_matched_tokens_are_a_longest_common_subsequence(a in words(0..150), b in words(0..150)) {
        let reference = Reference::new(&a, Tokenizer::Reference).unwrap();
        let overlap = reference.overlap(&b).unwrap().unwrap();
        let (a_tokens, b_tokens) = (tokens(&a), tokens(&b));
        prop_assert_eq!(overlap.matched.len(), reference.grade(&b).unwrap().common_tokens);
        prop_assert_eq!(overlap.matched.len() + overlap.missing.len(), a_tokens.len());
        prop_assert!(is_subsequence(&overlap.matched, &a_tokens) && is_subsequence(&overlap.matched, &b_tokens));
    }

    #[test]
    fn both_tokenisers_agree_on_ascii(text in "[ -~\n\t]{0,80}") {
        prop_assert_eq!(Tokenizer::Reference.tokens(&text), Tokenizer::Unicode.tokens(&text));
        // The same through the general way, which a letter outside ASCII forces.
        let mut general = Tokenizer::Unicode.tokens(&format!("{text} ж"));
        prop_assert_eq!(general.pop(), Some("ж".to_owned()));
        prop_assert_eq!(general, Tokenizer::Unicode.tokens(&text));
    }

    #[test]
    fn tokens_are_what_the_definition_says(text in any::<String>()) {
        let lower: String = text.chars().flat_map(char::to_lowercase).collect();
        let pieces = lower.split(|c: char| !c.is_ascii_alphanumeric()).filter(|piece| !piece.is_empty());
        let found = tokens(&text);
        prop_assert_eq!(pieces.clone().count(), found.len());
        for (piece, token) in pieces.zip(&found) {
            prop_assert!(token.len() <= piece.len() && !token.is_empty());
            prop_assert!(piece.len() > 3 || piece == token);
        }
    }
}
