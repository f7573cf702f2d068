//! Texts as tokens: the reference tokeniser of ROUGE, and one that knows every script.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;
use unicode_segmentation::UnicodeSegmentation;

use super::stem::stem;

/// How a text is cut into tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Tokenizer {
    /// The reference tokeniser of ROUGE: lower case, runs of `a-z0-9`, English stems of tokens longer than three
    /// characters. An accent splits a word, and a text in another script has no tokens.
    #[default]
    Reference,
    /// Words by the Unicode rules (UAX #29) after compatibility normalisation (NFKC) and case folding, so that a text in
    /// any script has tokens; scripts written without spaces are cut into characters. Tokens of `a-z0-9` alone are
    /// stemmed as by the reference, so that ASCII texts have the same tokens with both.
    Unicode,
}

impl Tokenizer {
    /// The name in a record: `reference` or `unicode`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Reference => "reference",
            Self::Unicode => "unicode",
        }
    }

    /// The tokens of `text`, stemmed.
    ///
    /// ```
    /// use karat_evidence::grade::quality::Tokenizer;
    ///
    /// assert_eq!(Tokenizer::Reference.tokens("The engines were TESTED!"), ["the", "engin", "were", "test"]);
    /// assert_eq!(Tokenizer::Reference.tokens("déjà vu"), ["d", "j", "vu"]);
    /// assert_eq!(Tokenizer::Unicode.tokens("Déjà vu, 東京"), ["déjà", "vu", "東", "京"]);
    /// ```
    pub fn tokens(self, text: &str) -> Vec<String> {
        let tokens = Tokens::new(text, self);
        tokens.iter().map(|token| String::from_utf8_lossy(token).into_owned()).collect()
    }
}

/// The tokens of a text, one behind the other in one piece of memory.
#[derive(Debug, Default)]
pub(super) struct Tokens {
    letters: Vec<u8>,
    ends: Vec<usize>,
}

impl Tokens {
    pub(super) fn new(text: &str, tokenizer: Tokenizer) -> Self {
        let mut tokens =
            Self { letters: Vec::with_capacity(text.len()), ends: Vec::with_capacity(text.len() / 4) };
        match tokenizer {
            Tokenizer::Reference => tokens.add_reference(text.as_bytes()),
            Tokenizer::Unicode => tokens.add_unicode(text),
        }
        tokens
    }

    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| self.letters.get(start..end).unwrap_or_default())
    }

    pub(super) fn get(&self, at: usize) -> &[u8] {
        let end_of = |at: usize| self.ends.get(at).copied().unwrap_or_default();
        let start = at.checked_sub(1).map_or(0, end_of);
        self.letters.get(start..end_of(at)).unwrap_or_default()
    }

    fn add_reference(&mut self, text: &[u8]) {
        let mut start = 0;
        let mut rest = text;
        while let Some((&byte, after)) = rest.split_first() {
            rest = after;
            let mut letter = LETTERS[usize::from(byte)];
            let mut ends_token = letter == 0;
            if byte >= 0x80 {
                // Two characters outside ASCII have an ASCII letter in their lower case: İ is an i with a dot above
                // (which ends the token), and the Kelvin sign is a k.
                match (byte, after) {
                    (0xc4, [0xb0, ..]) => letter = b'i',
                    (0xe2, [0x84, 0xaa, ..]) => {
                        letter = b'k';
                        ends_token = false;
                        rest = after.get(2..).unwrap_or_default();
                    }
                    _ => {}
                }
            }
            if letter != 0 {
                self.letters.push(letter);
            }
            if ends_token && self.letters.len() > start {
                start = self.end_token(start);
            }
        }
        if self.letters.len() > start {
            self.end_token(start);
        }
    }

    fn add_unicode(&mut self, text: &str) {
        let mut start = 0;
        let normal: String =
            text.nfkc().flat_map(char::to_uppercase).flat_map(char::to_lowercase).nfkc().collect();
        for segment in normal.split_word_bounds() {
            for word in segment.split(|c: char| !c.is_alphanumeric() && !is_combining_mark(c)) {
                if word.contains(char::is_alphanumeric) {
                    self.letters.extend_from_slice(word.as_bytes());
                    start = self.end_token(start);
                }
            }
        }
    }

    /// Ends the token that begins at `start`, and gives the start of the next.
    fn end_token(&mut self, start: usize) -> usize {
        const SHORTEST: usize = 4;
        if self.letters.len() - start >= SHORTEST && self.letters.get(start..).is_some_and(<[u8]>::is_ascii) {
            stem(&mut self.letters, start);
        }
        self.ends.push(self.letters.len());
        self.letters.len()
    }
}

/// The lower case of the bytes that stand in tokens; 0 for all others.
const LETTERS: [u8; 256] = {
    let mut letters = [0; 256];
    let mut byte = 0;
    while byte < 128 {
        if (byte as u8).is_ascii_alphanumeric() {
            letters[byte] = (byte as u8).to_ascii_lowercase();
        }
        byte += 1;
    }
    letters
};
