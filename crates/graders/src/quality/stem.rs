//! The stemmer of ROUGE: Porter's algorithm with the extensions that are usual in Python.
//!
//! M. F. Porter, "An algorithm for suffix stripping", Program 14 (3), 1980, gives the steps 1a to 5b and their terms: the
//! *measure* of a word is the number of times a consonant follows a vowel in it. The extensions (a list of irregular
//! words, `ies` and `ied` of short words, `y` after a consonant, `alli`, `bli`, `fulli`, `logi`) come from the default
//! mode of the stemmer that ROUGE scores are commonly computed with.

/// Words whose stem no rule gives, each with it.
const IRREGULAR: [&str; 30] = [
    "skies", "sky", "dying", "die", "lying", "lie", "tying", "tie", "news", "news", "inning", "inning",
    "innings", "inning", "outing", "outing", "outings", "outing", "canning", "canning", "cannings",
    "canning", "howe", "howe", "proceed", "proceed", "exceed", "exceed", "succeed", "succeed",
];

/// Suffixes, each with what replaces it. The first that a word ends with counts.
const STEP_2: [&str; 40] = [
    "ational", "ate", "tional", "tion", "enci", "ence", "anci", "ance", "izer", "ize", "bli", "ble", "entli",
    "ent", "eli", "e", "ousli", "ous", "fulli", "ful", "ization", "ize", "ation", "ate", "ator", "ate",
    "alism", "al", "iveness", "ive", "fulness", "ful", "ousness", "ous", "aliti", "al", "iviti", "ive",
    "biliti", "ble",
];
const STEP_3: [&str; 14] =
    ["icate", "ic", "ative", "", "alize", "al", "iciti", "ic", "ical", "ic", "ful", "", "ness", ""];
/// Suffixes that are taken away.
const STEP_4: [&str; 18] = [
    "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ou", "ism", "ate",
    "iti", "ous", "ive", "ize",
];

/// Returns the stem of a word of `a-z0-9` that is longer than two letters. The time is linear in its length.
pub(super) fn stem(word: &str) -> String {
    if let Some([_, stem]) = IRREGULAR.as_chunks().0.iter().find(|[irregular, _]| *irregular == word) {
        return (*stem).to_owned();
    }
    let mut word = Word::new(word);
    word.step_1a();
    word.step_1b();
    word.step_1c();
    word.step_2();
    word.apply(&STEP_3);
    word.step_4();
    word.step_5();
    word.letters
}

/// A word on its way through the steps, and which of its letters are vowels: a `y` is one after a consonant.
#[derive(Default)]
struct Word {
    letters: String,
    vowels: Vec<bool>,
}

impl Word {
    fn new(letters: &str) -> Self {
        let mut word = Self::default();
        word.replace(0, letters);
        word
    }

    fn len(&self) -> usize {
        self.vowels.len()
    }

    /// Takes letters away at the end and puts others there.
    fn replace(&mut self, taken: usize, put: &str) {
        let left = self.len().saturating_sub(taken);
        self.letters.truncate(left);
        self.vowels.truncate(left);
        for letter in put.chars() {
            let is_vowel = match letter {
                'a' | 'e' | 'i' | 'o' | 'u' => true,
                'y' => self.vowels.last() == Some(&false),
                _ => false,
            };
            self.letters.push(letter);
            self.vowels.push(is_vowel);
        }
    }

    fn ends_with(&self, suffix: &str) -> bool {
        self.letters.ends_with(suffix)
    }

    /// Returns which letters are vowels, without the last `taken`.
    fn vowels_without(&self, taken: usize) -> &[bool] {
        self.vowels.get(..self.len().saturating_sub(taken)).unwrap_or_default()
    }

    fn measure_without(&self, taken: usize) -> usize {
        self.vowels_without(taken).windows(2).filter(|pair| *pair == [true, false]).count()
    }

    /// Returns whether the word without its last `taken` letters ends with consonant, vowel, consonant, the last not w,
    /// x or y; or is a vowel and a consonant.
    fn ends_cvc_without(&self, taken: usize) -> bool {
        match self.vowels_without(taken) {
            [true, false] => true,
            [.., false, true, false] => {
                let left = self.letters.get(..self.len() - taken).unwrap_or_default();
                !left.ends_with(['w', 'x', 'y'])
            }
            _ => false,
        }
    }

    fn step_1a(&mut self) {
        let taken = match self.len() {
            _ if !self.ends_with("s") || self.ends_with("ss") => 0,
            5.. if self.ends_with("ies") => 2,
            _ => 1 + usize::from(self.ends_with("sses")),
        };
        self.replace(taken, "");
    }

    /// Removes past tenses and present participles.
    fn step_1b(&mut self) {
        let taken = match self.len() {
            4 if self.ends_with("ied") => return self.replace(1, ""),
            _ if self.ends_with("ied") => return self.replace(2, ""),
            _ if self.ends_with("eed") => {
                return self.replace(usize::from(self.measure_without(3) > 0), "");
            }
            _ if self.ends_with("ed") => 2,
            _ if self.ends_with("ing") => 3,
            _ => return,
        };
        if !self.vowels_without(taken).contains(&true) {
            return;
        }
        self.replace(taken, "");
        let is_double = matches!(self.letters.as_bytes(), [.., before, last] if before == last);
        if ["at", "bl", "iz"].iter().any(|end| self.ends_with(end)) {
            self.replace(0, "e");
        } else if is_double && self.vowels.last() == Some(&false) {
            self.replace(usize::from(!self.letters.ends_with(['l', 's', 'z'])), "");
        } else if self.measure_without(0) == 1 && self.ends_cvc_without(0) {
            self.replace(0, "e");
        }
    }

    fn step_1c(&mut self) {
        if self.ends_with("y") && self.len() > 2 && self.vowels_without(1).last() == Some(&false) {
            self.replace(1, "i");
        }
    }

    /// Replaces the first of the suffixes that the word ends with if the part before it has a measure above 0. A suffix
    /// whose measure is too small ends the search.
    fn apply(&mut self, rules: &[&str]) {
        if let Some([suffix, replacement]) =
            rules.as_chunks().0.iter().find(|[suffix, _]| self.ends_with(suffix))
            && self.measure_without(suffix.len()) > 0
        {
            self.replace(suffix.len(), replacement);
        }
    }

    fn step_2(&mut self) {
        // What is left may end with a suffix of this step again.
        while self.ends_with("alli") && self.measure_without(4) > 0 {
            self.replace(2, "");
        }
        if self.ends_with("logi") {
            self.replace(usize::from(self.measure_without(3) > 0), "");
        } else {
            self.apply(&STEP_2);
        }
    }

    fn step_4(&mut self) {
        let is_ion = self.ends_with("sion") || self.ends_with("tion");
        let suffix = STEP_4.iter().find(|suffix| self.ends_with(suffix)).map_or(0, |suffix| suffix.len());
        let taken = if is_ion { 3 } else { suffix };
        if self.measure_without(taken) > 1 {
            self.replace(taken, "");
        }
    }

    fn step_5(&mut self) {
        if self.ends_with("e") {
            let measure = self.measure_without(1);
            let is_long = measure > 1 || measure == 1 && !self.ends_cvc_without(1);
            self.replace(usize::from(is_long), "");
        }
        if self.ends_with("ll") && self.measure_without(1) > 1 {
            self.replace(1, "");
        }
    }
}
