//! Texts as tokens: the reference tokeniser of ROUGE, and one that knows every script.

use serde::Serialize;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;
use unicode_segmentation::UnicodeSegmentation;

use super::stem::{Word, kind};

/// Rule for cutting a text into tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "lowercase")]
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
    /// Returns the name in a record: `reference` or `unicode`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Reference => "reference",
            Self::Unicode => "unicode",
        }
    }

    /// Returns the tokens of `text`, stemmed.
    pub fn tokens(self, text: &str) -> Vec<String> {
        let tokens = Tokens::new(text, self);
        tokens.iter().map(|token| tokens.text(token)).collect()
    }
}

#[derive(Debug)]
pub(super) struct Tokens {
    /// Zeros, then the tokens with at least one zero behind each, then zeros.
    letters: Vec<u8>,
    /// Class of each letter for the stemmer.
    kinds: Vec<u8>,
    list: Vec<Token>,
}

/// A token: its place, and a number by which it is found.
#[derive(Debug, Clone, Copy)]
pub(super) struct Token {
    /// The bytes of a token of up to eight, which no other such token shares since none has a zero byte; of a longer one,
    /// or one whose bytes have the highest bit, a mixture of its bytes, with this bit.
    pub(super) key: u64,
    start: u32,
    length: u32,
}

impl Token {
    pub(super) fn has_bytes_in_key(self) -> bool {
        self.key & MIXED == 0
    }
}

/// The bit of a key that is not the bytes of its token.
const MIXED: u64 = 1 << 63;

/// Zeros before the first token and behind the last, so that eight bytes can be read anywhere in between.
const MARGIN: usize = 8;

impl Tokens {
    pub(super) fn new(text: &str, tokenizer: Tokenizer) -> Self {
        // Two characters outside ASCII have an ASCII letter in their lower case: the Kelvin sign is a k, and İ an i with
        // a dot above. With both tokenisers an ASCII text has the same tokens.
        let is_reference = tokenizer == Tokenizer::Reference;
        if text.is_ascii() || is_reference && !text.contains(['\u{212a}', '\u{130}']) {
            Self::reference(text)
        } else if is_reference {
            Self::reference(&text.replace('\u{212a}', "k").replace('\u{130}', "i\u{307}"))
        } else {
            Self::unicode(text)
        }
    }

    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = Token> {
        self.list.iter().copied()
    }

    /// Returns whether a token has the same bytes as one of another text.
    pub(super) fn is_same(&self, token: Token, others: &Self, other: Token) -> bool {
        self.bytes(token) == others.bytes(other)
    }

    pub(super) fn get(&self, at: usize) -> Option<Token> {
        self.list.get(at).copied()
    }

    pub(super) fn bytes(&self, token: Token) -> &[u8] {
        let start = token.start as usize;
        self.letters.get(start..start + token.length as usize).unwrap_or_default()
    }

    pub(super) fn text(&self, token: Token) -> String {
        String::from_utf8_lossy(self.bytes(token)).into_owned()
    }

    fn with_capacity(bytes: usize) -> Self {
        let mut letters = Vec::with_capacity(bytes + 2 * MARGIN);
        letters.resize(MARGIN, 0);
        let kinds = Vec::with_capacity(letters.capacity());
        Self { letters, kinds, list: Vec::with_capacity(bytes / 4) }
    }

    fn reference(text: &str) -> Self {
        let mut tokens = Self::with_capacity(text.len());
        tokens.letters.extend(text.bytes().map(letter));
        tokens.letters.resize(tokens.letters.len() + MARGIN, 0);
        tokens.kinds.extend(tokens.letters.iter().map(|&letter| kind(letter)));
        let mut start = MARGIN;
        while let Some(first) = eight(&tokens.letters, start) {
            let before = first.trailing_zeros() / 8;
            if before > 0 {
                start += before as usize;
                continue;
            }
            let mut length = bytes_before_zero(first);
            if length == 8 {
                let rest = tokens.letters.get(start + 8..).unwrap_or_default();
                length += rest.iter().take_while(|&&letter| letter != 0).count();
            }
            tokens.push(start, length, true);
            // The byte behind the token is a zero.
            start += length + 1;
        }
        tokens
    }

    fn unicode(text: &str) -> Self {
        let mut tokens = Self::with_capacity(text.len());
        let folded: String =
            text.nfkc().flat_map(char::to_uppercase).flat_map(char::to_lowercase).nfkc().collect();
        for segment in folded.split_word_bounds() {
            for word in segment.split(|c: char| !c.is_alphanumeric() && !is_combining_mark(c)) {
                if word.contains(char::is_alphanumeric) {
                    let start = tokens.letters.len();
                    tokens.letters.extend_from_slice(word.as_bytes());
                    tokens.letters.resize(tokens.letters.len() + MARGIN, 0);
                    tokens
                        .kinds
                        .extend(tokens.letters.iter().skip(tokens.kinds.len()).map(|&letter| kind(letter)));
                    tokens.push(start, word.len(), word.is_ascii());
                }
            }
        }
        tokens
    }

    /// Adds the token in `letters`, which is stemmed if it is a word of `a-z0-9` and long enough.
    #[inline]
    fn push(&mut self, start: usize, length: usize, is_ascii: bool) {
        const SHORTEST: usize = 4;
        let word = Word::new(&mut self.letters, &self.kinds, start, length);
        // One branch for all, since each by itself is hard to predict.
        let is_stemmed = is_ascii & (length >= SHORTEST) & word.may_change();
        let length = if is_stemmed { word.stem() } else { length };
        // Texts are limited, so that places fit.
        self.list.push(Token { key: self.key(start, length), start: start as u32, length: length as u32 });
    }

    fn key(&self, start: usize, length: usize) -> u64 {
        let first = eight(&self.letters, start).unwrap_or_default();
        let bytes = first & LOWEST_BYTES[length.min(8)];
        if length <= 8 && bytes & MIXED == 0 { bytes } else { self.mixed_key(start, length) }
    }

    #[cold]
    fn mixed_key(&self, start: usize, length: usize) -> u64 {
        let bytes = self.letters.get(start..start + length).unwrap_or_default();
        let (chunks, rest) = bytes.as_chunks::<8>();
        let rest = rest.iter().fold(0, |word, &byte| word << 8 | u64::from(byte));
        let mix = |mixed: u64, word: u64| (mixed.rotate_left(29) ^ word).wrapping_mul(0x2545_f491_4f6c_dd1d);
        chunks.iter().map(|chunk| u64::from_le_bytes(*chunk)).chain([rest]).fold(0, mix) | MIXED
    }
}

/// The lowest bytes of eight.
const LOWEST_BYTES: [u64; 9] =
    [0, 0xff, 0xffff, 0xff_ffff, 0xffff_ffff, 0xff_ffff_ffff, 0xffff_ffff_ffff, u64::MAX >> 8, u64::MAX];

/// Returns the eight bytes from `at` on, the first lowest.
pub(super) fn eight(letters: &[u8], at: usize) -> Option<u64> {
    letters.get(at..)?.first_chunk().map(|eight| u64::from_le_bytes(*eight))
}

/// Returns the lower case of a byte that tokens can contain; 0 for all others. Without branches, for many bytes at once.
fn letter(byte: u8) -> u8 {
    let lower = byte | 0x20;
    let is_letter = lower.wrapping_sub(b'a') < 26;
    let is_digit = byte.wrapping_sub(b'0') < 10;
    // The bit of lower case is set in digits already.
    if is_letter | is_digit { lower } else { 0 }
}

/// Returns how many of the eight bytes are before the first zero, the first byte being the lowest.
fn bytes_before_zero(eight: u64) -> usize {
    const ONES: u64 = 0x0101_0101_0101_0101;
    let zeros = eight.wrapping_sub(ONES) & !eight & ONES << 7;
    (zeros.trailing_zeros() / 8) as usize
}
