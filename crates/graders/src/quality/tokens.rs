//! Texts as tokens: the reference tokeniser of ROUGE, and one that knows every script.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;
use unicode_segmentation::UnicodeSegmentation;

use super::stem::stem;

karat_core::words! {
    /// Rule for cutting a text into tokens.
    #[derive(Default)]
    pub enum Tokenizer {
        /// The reference tokeniser of ROUGE: lower case, runs of `a-z0-9`, English stems of tokens longer than three
        /// characters. An accent splits a word, and a text in another script has no tokens.
        #[default]
        Reference = "reference",
        /// Words by the Unicode rules (UAX #29) after compatibility normalisation (NFKC) and case folding, so that a text in
        /// any script has tokens; scripts written without spaces are cut into characters. Tokens of `a-z0-9` alone are
        /// stemmed as by the reference, so that ASCII texts have the same tokens with both.
        Unicode = "unicode",
    }
}

impl Tokenizer {
    /// Returns the tokens of `text`, stemmed.
    pub fn tokens(self, text: &str) -> Vec<String> {
        let mut tokens = Vec::new();
        self.each(text, &mut |word| tokens.push(stemmed(word)));
        tokens
    }

    /// Returns the tokens of `text`, stemmed.
    ///
    /// # Errors
    ///
    /// If there are more than `most`: how many, of which no more than that were kept.
    pub(super) fn tokens_up_to(self, most: usize, text: &str) -> Result<Vec<String>, usize> {
        let (mut count, mut tokens) = (0, Vec::new());
        self.each(text, &mut |word| {
            count += 1;
            if count <= most {
                tokens.push(stemmed(word));
            }
        });
        if count > most { Err(count) } else { Ok(tokens) }
    }

    /// Hands the words of a text to `take`, in lower case.
    fn each(self, text: &str, take: &mut dyn FnMut(&str)) {
        if self == Self::Reference || text.is_ascii() {
            let lower = text.to_lowercase();
            let words = lower.split(|c: char| !c.is_ascii_alphanumeric());
            return words.filter(|word| !word.is_empty()).for_each(take);
        }
        let folded: String =
            text.nfkc().flat_map(char::to_uppercase).flat_map(char::to_lowercase).nfkc().collect();
        for segment in folded.split_word_bounds() {
            let words = segment.split(|c: char| !c.is_alphanumeric() && !is_combining_mark(c));
            words.filter(|word| word.contains(char::is_alphanumeric)).for_each(&mut *take);
        }
    }
}

/// Returns the stem of a word of `a-z0-9` that is long enough, and any other word as it is.
fn stemmed(word: &str) -> String {
    const SHORTEST: usize = 4;
    if word.len() >= SHORTEST && word.is_ascii() { stem(word) } else { word.to_owned() }
}
