//! Text to tokens, as the model was trained to read it: the tokeniser of uncased BERT.
//!
//! Devlin et al. 2018, section 3, and Wu et al. 2016, section 4.1 (word pieces), with the normalisation that
//! `tokenizer.json` calls `BertNormalizer` and `BertPreTokenizer`: control characters fall away, accents are stripped
//! (Unicode NFD without nonspacing marks), letters become small one by one, a word ends at white space, and each
//! punctuation character and each Chinese ideograph is a word. A word becomes the longest pieces of the vocabulary from
//! left to right; one that they do not cover, or of more than 100 characters, becomes `[UNK]`.
//!
//! Categories and NFD follow Unicode 18, fixed with the versions of the crates. Small letters come from the
//! compiler; compilers differ only over letters that are younger than the vocabulary. Other implementations carry
//! older tables and so differ over younger marks and punctuation.
//!
//! Everything is done in passing: no more of a text is read than fits the model.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use unicode_normalization::UnicodeNormalization;
use unicode_properties::{GeneralCategory, GeneralCategoryGroup, UnicodeGeneralCategory};

use karat_evidence::json::problem::{Problem, Problems, quoted};

/// Longer words are unknown; the file says the same.
const LONGEST_WORD: usize = 100;

/// Mark of a piece that continues a word.
const CONTINUATION: &str = "##";

const START: &str = "[CLS]";
const END: &str = "[SEP]";
const UNKNOWN: &str = "[UNK]";

/// Tokens that are recognised in the text before it is normalised. All begin with `[`.
const SPECIAL: [&str; 5] = ["[PAD]", UNKNOWN, START, END, "[MASK]"];

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Tokens {
    /// Rows of the vocabulary, from `[CLS]` to `[SEP]`.
    pub ids: Vec<u32>,
    /// Number of tokens for words that the vocabulary does not cover.
    pub unknown: usize,
    /// True if the text goes on.
    pub is_truncated: bool,
}

/// A vocabulary of word pieces.
#[derive(Debug)]
pub(super) struct Tokenizer {
    /// Pieces that begin a word.
    beginnings: BTreeMap<Box<str>, u32>,
    /// Pieces that continue one, without their mark.
    continuations: BTreeMap<Box<str>, u32>,
    longest_piece: usize,
    /// The numbers of [`SPECIAL`].
    special: [u32; SPECIAL.len()],
    start: u32,
    end: u32,
    unknown: u32,
}

impl Tokenizer {
    /// Reads a `tokenizer.json` of Hugging Face with a vocabulary of `size` entries. `file` is what problems call it.
    ///
    /// Leaves aside the settings of the file for cutting and padding: the model sets the limit.
    pub fn read(bytes: &[u8], size: usize, file: &str) -> Result<Self, Problems> {
        let mut problems = Problems::default();
        let mut problem = |path: &str, found: String, expected: String| {
            problems.add(|| Problem::at(format!("{file}: {path}"), found, expected, ""));
        };
        let json: Value = match serde_json::from_slice(bytes) {
            Ok(json) => json,
            Err(error) => {
                problem(
                    "$",
                    format!("text that is not JSON ({error})"),
                    "the model's `tokenizer.json`".to_owned(),
                );
                return Err(problems);
            }
        };
        // What this module does; a file that asks for something else would be misread.
        for (pointer, expected) in [
            ("/normalizer/type", &[json!("BertNormalizer")][..]),
            ("/normalizer/clean_text", &[json!(true)]),
            ("/normalizer/handle_chinese_chars", &[json!(true)]),
            ("/normalizer/lowercase", &[json!(true)]),
            // Null: as `lowercase`.
            ("/normalizer/strip_accents", &[json!(null), json!(true)]),
            ("/pre_tokenizer/type", &[json!("BertPreTokenizer")]),
            ("/model/type", &[json!("WordPiece")]),
            ("/model/unk_token", &[json!(UNKNOWN)]),
            ("/model/continuing_subword_prefix", &[json!(CONTINUATION)]),
            ("/model/max_input_chars_per_word", &[json!(LONGEST_WORD)]),
        ] {
            let found = json.pointer(pointer);
            if !expected.contains(found.unwrap_or(&Value::Null)) {
                let found = found.map_or("nothing".to_owned(), |value| quoted(&value.to_string()));
                let expected: Vec<_> = expected.iter().map(|value| format!("`{value}`")).collect();
                problem(&format!("${}", pointer.replace('/', ".")), found, expected.join(" or "));
            }
        }
        for (at, token) in json["added_tokens"].as_array().into_iter().flatten().enumerate() {
            if !token["content"].as_str().is_some_and(|content| SPECIAL.contains(&content)) {
                let path = format!("$.added_tokens[{at}].content");
                problem(&path, quoted(&token["content"].to_string()), format!("one of {SPECIAL:?}"));
            }
        }
        let mut this = Self {
            beginnings: BTreeMap::new(),
            continuations: BTreeMap::new(),
            longest_piece: 0,
            special: [0; _],
            start: 0,
            end: 0,
            unknown: 0,
        };
        let empty = serde_json::Map::new();
        let vocabulary = json["model"]["vocab"].as_object().unwrap_or(&empty);
        if vocabulary.len() != size {
            let expected = format!("{size}, one for each row of the model's embeddings");
            problem("$.model.vocab", format!("{} entries", vocabulary.len()), expected);
        }
        for (piece, id) in vocabulary {
            let Some(id) =
                id.as_u64().and_then(|id| u32::try_from(id).ok()).filter(|&id| (id as usize) < size)
            else {
                let path = format!("$.model.vocab[{}]", quoted(piece));
                problem(&path, quoted(&id.to_string()), format!("a whole number below {size}"));
                continue;
            };
            this.longest_piece = this.longest_piece.max(piece.len());
            match piece.strip_prefix(CONTINUATION) {
                Some(piece) => this.continuations.insert(piece.into(), id),
                None => this.beginnings.insert(piece.as_str().into(), id),
            };
        }
        let mut special = |name: &str| {
            this.beginnings.get(name).copied().unwrap_or_else(|| {
                problem(
                    "$.model.vocab",
                    format!("no entry `{name}`"),
                    "the special tokens of BERT".to_owned(),
                );
                0
            })
        };
        this.special = SPECIAL.map(&mut special);
        let [_, unknown, start, end, _] = this.special;
        (this.unknown, this.start, this.end) = (unknown, start, end);
        if problems.is_empty() { Ok(this) } else { Err(problems) }
    }

    /// Returns the tokens of a text, at most `limit` of them, those of the frame included.
    pub fn tokens(&self, text: &str, limit: usize) -> Tokens {
        let limit = limit.saturating_sub(1).max(1);
        let mut ids = vec![self.start];
        let mut rest = text;
        while ids.len() <= limit && !rest.is_empty() {
            let special = rest.match_indices('[').find_map(|(at, _)| {
                let (before, from) = rest.split_at_checked(at)?;
                let found = |(name, id): (_, &u32)| Some((before, *id, from.strip_prefix(name)?));
                SPECIAL.into_iter().zip(&self.special).find_map(found)
            });
            let (before, id, after) =
                special.map_or((rest, None, ""), |(before, id, after)| (before, Some(id), after));
            self.pieces(before, limit, &mut ids);
            ids.extend(id);
            rest = after;
        }
        let is_truncated = ids.len() > limit;
        ids.truncate(limit);
        ids.push(self.end);
        Tokens { unknown: ids.iter().filter(|&&id| id == self.unknown).count(), ids, is_truncated }
    }

    /// Appends the pieces of a text without special tokens; stops when there are more than `limit` numbers.
    fn pieces(&self, text: &str, limit: usize, ids: &mut Vec<u32>) {
        let mut word = Word::default();
        for c in normalised(text) {
            if is_word_alone(c) {
                self.cover(&mut word, ids);
                word.push(c);
                self.cover(&mut word, ids);
            } else if c.is_whitespace() {
                self.cover(&mut word, ids);
            } else {
                word.push(c);
            }
            if ids.len() > limit {
                return;
            }
        }
        self.cover(&mut word, ids);
    }

    /// Appends the pieces of a word, the longest first one first, and empties it.
    fn cover(&self, word: &mut Word, ids: &mut Vec<u32>) {
        let known = ids.len();
        let mut rest = word.text.as_str();
        let mut pieces = &self.beginnings;
        let mut is_covered = word.length <= LONGEST_WORD;
        while is_covered && !rest.is_empty() {
            let longest_first = (1..=rest.len().min(self.longest_piece)).rev();
            let piece = longest_first
                .filter_map(|end| rest.split_at_checked(end))
                .find_map(|(piece, rest)| Some((*pieces.get(piece)?, rest)));
            is_covered = piece.is_some();
            if let Some((id, after)) = piece {
                ids.push(id);
                rest = after;
                pieces = &self.continuations;
            }
        }
        if !is_covered {
            ids.truncate(known);
            ids.push(self.unknown);
        }
        *word = Word::default();
    }
}

/// A word, as far as it can be covered, and how many characters it has.
#[derive(Debug, Default)]
struct Word {
    text: String,
    length: usize,
}

impl Word {
    fn push(&mut self, c: char) {
        self.length += 1;
        if self.length <= LONGEST_WORD {
            self.text.push(c);
        }
    }
}

/// Returns the characters of a text without control characters and accents, in small letters.
fn normalised(text: &str) -> impl Iterator<Item = char> {
    text.chars()
        .filter(|&c| !is_removed(c))
        .nfd()
        .filter(|c| c.is_ascii() || c.general_category() != GeneralCategory::NonspacingMark)
        .flat_map(char::to_lowercase)
}

/// Returns true for control and format characters, private use, and the replacement character.
fn is_removed(c: char) -> bool {
    use GeneralCategory::{Control, Format, PrivateUse};
    match c {
        '\t' | '\n' | '\r' => false,
        '\0'..='\x7f' => c.is_ascii_control(),
        char::REPLACEMENT_CHARACTER => true,
        _ => matches!(c.general_category(), Control | Format | PrivateUse),
    }
}

/// Returns true for punctuation, to which BERT counts every symbol of ASCII, and Chinese ideographs.
fn is_word_alone(c: char) -> bool {
    match c {
        '\0'..='\x7f' => c.is_ascii_punctuation(),
        '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{2a6df}'
        | '\u{2a700}'..='\u{2ceaf}'
        | '\u{2f800}'..='\u{2fa1f}' => true,
        _ => c.general_category_group() == GeneralCategoryGroup::Punctuation,
    }
}

#[cfg(test)]
pub(super) mod tests {
    use proptest::prelude::*;

    use super::*;

    const PIECES: [&str; 24] = [
        "[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "step", "ste", "s", "##p", "##ping", "##s", "stone",
        "##e", "naive", "[", "]", "-", "。", "中", "##中", "i", "σ", "##σ", "é",
    ];

    fn json() -> Value {
        let vocabulary: serde_json::Map<_, _> =
            PIECES.iter().enumerate().map(|(id, piece)| (piece.to_string(), json!(id))).collect();
        json!({
            "truncation": {"max_length": 3},
            "padding": {"strategy": {"Fixed": 128}},
            "added_tokens": [{"id": 2, "content": "[CLS]"}],
            "normalizer": {
                "type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true, "strip_accents": null,
                "lowercase": true,
            },
            "pre_tokenizer": {"type": "BertPreTokenizer"},
            "model": {
                "type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
                "max_input_chars_per_word": 100, "vocab": vocabulary,
            },
        })
    }

    fn read(json: &Value) -> Result<Tokenizer, Problems> {
        Tokenizer::read(json.to_string().as_bytes(), PIECES.len(), "file")
    }

    pub fn small() -> Tokenizer {
        read(&json()).unwrap()
    }

    /// Returns the pieces between the frame.
    fn pieces(text: &str) -> Vec<&'static str> {
        let tokens = small().tokens(text, 512);
        let pieces: Vec<_> = tokens.ids.iter().map(|&id| PIECES[id as usize]).collect();
        let [START, inner @ .., END] = &pieces[..] else { panic!("{text}: {pieces:?}") };
        assert_eq!(tokens.unknown, inner.iter().filter(|&&piece| piece == UNKNOWN).count());
        inner.to_vec()
    }

    #[test]
    fn a_word_becomes_its_longest_pieces_or_is_unknown() {
        for (text, expected) in [
            ("", &[][..]),
            (" \t\n\u{3000} ", &[]),
            ("step", &["step"]),
            ("stepping stone", &["step", "##ping", "stone"]),
            // The longest first piece is taken, though a shorter one would cover more: `ste`, `##p`, `##s`.
            ("steps", &["step", "##s"]),
            ("stem", &["[UNK]"]),
            ("step stem step", &["step", "[UNK]", "step"]),
            ("STEP  Step", &["step", "step"]),
            ("step-step", &["step", "-", "step"]),
            ("step$", &["step", "[UNK]"]),
            ("ñandú 🦀 \u{10fffd}", &["[UNK]", "[UNK]"]),
        ] {
            assert_eq!(pieces(text), expected, "{text}");
        }
    }

    #[test]
    fn text_is_normalised_as_bert_does() {
        for (text, expected) in [
            // Accents, composed and not; letters one by one, so without a final sigma.
            ("Naïve nai\u{308}ve İ", &["naive", "naive", "i"][..]),
            ("ΣΣ", &["σ", "##σ"]),
            // An accent of the vocabulary is out of reach.
            ("é", &["[UNK]"]),
            // Control and format characters, private use, zero, the replacement character, the byte order mark.
            ("\u{feff}s\u{200b}t\0e\u{7f}\u{ad}p\u{e000}\u{fffd}\u{85}", &["step"]),
            ("step\u{2028}step\rstep\u{a0}step", &["step", "step", "step", "step"]),
            // A vertical tab is a control character before it is white space.
            ("step\u{b}s", &["step", "##s"]),
            ("中中step。", &["中", "中", "step", "。"]),
            // A compatibility ideograph, which NFD replaces by U+5200: also alone.
            ("step\u{f9ff}step", &["step", "[UNK]", "step"]),
        ] {
            assert_eq!(pieces(text), expected, "{text:?}");
        }
    }

    #[test]
    fn special_tokens_are_taken_as_they_stand() {
        for (text, expected) in [
            ("step[SEP]step", &["step", "[SEP]", "step"][..]),
            ("[[CLS]][MASK][UNK]", &["[", "[CLS]", "]", "[MASK]", "[UNK]"]),
            ("[cls] [PAD", &["[", "[UNK]", "]", "[", "[UNK]"]),
        ] {
            assert_eq!(pieces(text), expected, "{text}");
        }
    }

    #[test]
    fn a_word_of_more_than_a_hundred_characters_is_unknown() {
        let word = |length: usize| format!("s{}", "p".repeat(length - 1));
        assert_eq!(pieces(&word(100)).len(), 100);
        assert_eq!(pieces(&word(101)), ["[UNK]"]);
    }

    #[test]
    fn a_long_text_is_cut_inside_its_frame() {
        let tokenizer = small();
        let text = |words: usize| "step ".repeat(words);
        let whole = tokenizer.tokens(&text(510), 512);
        assert_eq!((whole.ids.len(), whole.is_truncated), (512, false));
        for more in ["step", "。", "[SEP]", "ste p", "stem"] {
            let cut = tokenizer.tokens(&(text(510) + more), 512);
            assert_eq!((&cut.ids, cut.is_truncated), (&whole.ids, true), "{more}");
        }
        assert!(!tokenizer.tokens(&(text(510) + " \n \u{200b}"), 512).is_truncated);
    }

    /// Text of ten megabytes that gives one word, no word, or words without end.
    #[test]
    fn hostile_text_is_read_in_passing() {
        let tokenizer = small();
        for (text, tokens) in [
            ("p", 3),
            ("\u{301}", 2),
            ("\u{e0100}", 2),
            ("[", 512),
            ("[SEP]", 512),
            ("[SEP", 512),
            ("\u{fdfa}\n", 512),
            ("中", 512),
        ] {
            let found = tokenizer.tokens(&text.repeat(10_000_000 / text.len()), 512);
            assert_eq!((found.ids.len(), found.is_truncated), (tokens, tokens == 512), "{text}");
        }
    }

    #[test]
    fn a_file_that_asks_for_something_else_is_refused() {
        let mut other = json();
        other["normalizer"]["lowercase"] = json!(false);
        other["normalizer"]["strip_accents"] = json!(false);
        other["pre_tokenizer"] = json!({"type": "Whitespace"});
        other["added_tokens"][0]["content"] = json!("<s>");
        other["model"]["vocab"]["step"] = json!(24);
        other["model"]["vocab"].as_object_mut().unwrap().remove("[CLS]");
        assert_eq!(
            read(&other).unwrap_err().to_string().lines().collect::<Vec<_>>(),
            [
                "file: $.normalizer.lowercase: found `false`, expected `true`",
                "file: $.normalizer.strip_accents: found `false`, expected `null` or `true`",
                "file: $.pre_tokenizer.type: found `\"Whitespace\"`, expected `\"BertPreTokenizer\"`",
                "file: $.added_tokens[0].content: found `\"<s>\"`, expected one of [\"[PAD]\", \"[UNK]\", \"[CLS]\", \"[SEP]\", \"[MASK]\"]",
                "file: $.model.vocab: found 23 entries, expected 24, one for each row of the model's embeddings",
                "file: $.model.vocab[`step`]: found `24`, expected a whole number below 24",
                "file: $.model.vocab: found no entry `[CLS]`, expected the special tokens of BERT",
            ]
        );
        for text in ["", "null", "[]", "{", &"[".repeat(10_000)] {
            assert!(Tokenizer::read(text.as_bytes(), PIECES.len(), "file").is_err(), "{text}");
        }
    }

    proptest! {
        /// Any text gives a frame with known tokens inside, and a smaller limit gives the beginning of the same tokens.
        #[test]
        fn every_text_has_tokens(text in "(?:[ spte中\\[\\]]|step|\\[SEP\\]|\\PC|.){0,40}", limit in 2_usize..40) {
            let tokenizer = small();
            let whole = tokenizer.tokens(&text, usize::MAX);
            prop_assert!(!whole.is_truncated);
            prop_assert!(whole.ids.iter().all(|&id| (id as usize) < PIECES.len()));
            prop_assert_eq!(whole.ids.first(), Some(&tokenizer.start));
            prop_assert_eq!(whole.ids.last(), Some(&tokenizer.end));
            let cut = tokenizer.tokens(&text, limit);
            prop_assert_eq!(cut.is_truncated, whole.ids.len() > limit);
            prop_assert_eq!(cut.ids.len(), whole.ids.len().min(limit));
            let inner = cut.ids.len() - 1;
            prop_assert_eq!(&cut.ids[..inner], &whole.ids[..inner]);
            prop_assert_eq!(cut.ids.last(), Some(&tokenizer.end));
        }
    }
}
