//! The stemmer of ROUGE: Porter's algorithm with the extensions that are usual in Python.
//!
//! M. F. Porter, "An algorithm for suffix stripping", Program 14 (3), 1980, gives the steps 1a to 5b and their terms: the
//! *measure* of a word is the number of times a consonant follows a vowel in it. The extensions (a list of irregular
//! words, `ies` and `ied` of short words, `y` after a consonant, `alli`, `bli`, `fulli`, `logi`) are those of the default
//! mode of the stemmer that ROUGE scores are commonly computed with.

/// Stems the word that stands at the end of `letters`, from `start` on, in place.
///
/// The word is in lower case; digits and bytes that are no letters count as consonants. The time is linear in its
/// length.
pub(super) fn stem(letters: &mut Vec<u8>, start: usize) {
    let Some(word) = letters.get(start..) else { return };
    let Some(&last) = word.last() else { return };
    // No rule applies to a word that ends otherwise.
    if word.len() <= 2 || !matches!(last, b'c'..=b'e' | b'g' | b'i' | b'l'..=b'n' | b'r'..=b'u' | b'y') {
        return;
    }
    if let Some(regular) = irregular(word) {
        letters.truncate(start);
        letters.extend_from_slice(regular);
        return;
    }
    let mut word = Word::new(letters, start);
    word.step_1a();
    word.step_1b();
    word.step_1c();
    word.step_2();
    word.step_3();
    word.step_4();
    word.step_5();
}

fn irregular(word: &[u8]) -> Option<&'static [u8]> {
    Some(match word {
        b"skies" => b"sky",
        b"dying" => b"die",
        b"lying" => b"lie",
        b"tying" => b"tie",
        b"news" => b"news",
        b"inning" | b"innings" => b"inning",
        b"outing" | b"outings" => b"outing",
        b"canning" | b"cannings" => b"canning",
        b"howe" => b"howe",
        b"proceed" => b"proceed",
        b"exceed" => b"exceed",
        b"succeed" => b"succeed",
        _ => return None,
    })
}

/// A word with its vowels marked, so that the measure of any beginning of it is a count of bits.
///
/// Rules look at the end of a word only, and take away fewer letters than the window has. What stands before the window
/// is summed up once.
struct Word<'a> {
    letters: &'a mut Vec<u8>,
    start: usize,
    /// Where the window begins, counted from the start of the word.
    window: usize,
    /// Bit `i`: letter `window + i` is a vowel.
    vowels: u64,
    /// How many consonants follow a vowel up to the first letter of the window.
    measure_before: u32,
    has_vowel_before: bool,
}

const WINDOW: usize = 64;

impl<'a> Word<'a> {
    fn new(letters: &'a mut Vec<u8>, start: usize) -> Self {
        let word = letters.get(start..).unwrap_or_default();
        let window = word.len().saturating_sub(WINDOW);
        let (before, within) = word.split_at(window);
        let (mut is_vowel, mut has_vowel_before, mut measure_before) = (false, false, 0);
        for (at, &letter) in before.iter().enumerate() {
            let was_vowel = is_vowel;
            is_vowel = follows_as_vowel(letter, was_vowel, at == 0);
            has_vowel_before |= is_vowel;
            measure_before += u32::from(was_vowel && !is_vowel);
        }
        let mut vowels = 0;
        let was_vowel = is_vowel;
        for (at, &letter) in within.iter().enumerate() {
            is_vowel = follows_as_vowel(letter, is_vowel, window + at == 0);
            vowels |= u64::from(is_vowel) << at;
        }
        measure_before += u32::from(was_vowel && vowels & 1 == 0);
        Self { letters, start, window, vowels, measure_before, has_vowel_before }
    }

    fn len(&self) -> usize {
        self.letters.len() - self.start
    }

    fn ends_with(&self, suffix: &[u8]) -> bool {
        self.letters.get(self.start..).is_some_and(|word| word.ends_with(suffix))
    }

    /// The letter `back` places before the last.
    fn letter(&self, back: usize) -> u8 {
        let word = self.letters.get(self.start..).unwrap_or_default();
        word.len().checked_sub(back + 1).and_then(|at| word.get(at)).copied().unwrap_or_default()
    }

    /// Takes letters away at the end and puts others there.
    fn replace(&mut self, taken: usize, put: &[u8]) {
        self.letters.truncate(self.start.max(self.letters.len().saturating_sub(taken)));
        for &letter in put {
            let at = self.len();
            let is_vowel = follows_as_vowel(letter, at > 0 && self.is_vowel(at - 1), at == 0);
            let bit = 1u64 << (at - self.window).min(WINDOW - 1);
            self.vowels = if is_vowel { self.vowels | bit } else { self.vowels & !bit };
            self.letters.push(letter);
        }
    }

    /// Whether the letter at `at`, counted from the start of the word and within the window, is a vowel.
    fn is_vowel(&self, at: usize) -> bool {
        at.checked_sub(self.window).is_some_and(|at| self.vowels >> at.min(WINDOW - 1) & 1 == 1)
    }

    /// The measure of the word without its last `taken` letters.
    fn measure_without(&self, taken: usize) -> u32 {
        let length = self.len().saturating_sub(self.window + taken);
        if length < 2 {
            return self.measure_before;
        }
        let ends_of_vowels = self.vowels & !(self.vowels >> 1);
        self.measure_before + (ends_of_vowels & lowest(length - 1)).count_ones()
    }

    fn has_vowel_without(&self, taken: usize) -> bool {
        let length = self.len().saturating_sub(self.window + taken);
        self.has_vowel_before || self.vowels & lowest(length) != 0
    }

    /// Whether the word without its last `taken` letters ends with consonant, vowel, consonant, the last not w, x or y;
    /// or is a vowel and a consonant.
    fn ends_cvc_without(&self, taken: usize) -> bool {
        let length = self.len().saturating_sub(taken);
        let is_vowel = |back: usize| self.is_vowel(length - back);
        match length {
            0 | 1 => false,
            2 => is_vowel(2) && !is_vowel(1),
            _ => {
                !is_vowel(3)
                    && is_vowel(2)
                    && !is_vowel(1)
                    && !matches!(self.letter(taken), b'w' | b'x' | b'y')
            }
        }
    }

    /// Plurals.
    fn step_1a(&mut self) {
        if self.letter(0) != b's' || self.letter(1) == b's' {
            return;
        }
        let taken = match (self.ends_with(b"ies"), self.len()) {
            (true, 4) => 1,
            (true, _) => 2,
            (false, _) => 1,
        };
        // `sses` ends in `es`, so it is not among the words that end in `ss`.
        self.replace(if self.ends_with(b"sses") { 2 } else { taken }, b"");
    }

    /// Past tenses and present participles.
    fn step_1b(&mut self) {
        let taken = match self.letter(0) {
            b'd' if self.ends_with(b"ied") => return self.replace(if self.len() == 4 { 1 } else { 2 }, b""),
            b'd' if self.ends_with(b"eed") => {
                let taken = usize::from(self.measure_without(3) > 0);
                return self.replace(taken, b"");
            }
            b'd' if self.letter(1) == b'e' => 2,
            b'g' if self.ends_with(b"ing") => 3,
            _ => return,
        };
        if !self.has_vowel_without(taken) {
            return;
        }
        self.replace(taken, b"");
        let last = self.letter(0);
        match (self.letter(1), last) {
            (b'a', b't') | (b'b', b'l') | (b'i', b'z') => self.replace(0, b"e"),
            (before, _) if before == last && self.len() >= 2 && !self.is_vowel(self.len() - 1) => {
                self.replace(usize::from(!matches!(last, b'l' | b's' | b'z')), b"");
            }
            _ if self.measure_without(0) == 1 && self.ends_cvc_without(0) => self.replace(0, b"e"),
            _ => {}
        }
    }

    fn step_1c(&mut self) {
        if self.letter(0) == b'y' && self.len() > 2 && !self.is_vowel(self.len() - 2) {
            self.replace(1, b"i");
        }
    }

    /// The first of the suffixes that the word ends with is replaced if what stands before it has at least this measure.
    /// A suffix whose measure is too small ends the search.
    fn apply(&mut self, measure: u32, rules: &[(&[u8], &[u8])]) {
        for &(suffix, replacement) in rules {
            if self.ends_with(suffix) {
                if self.measure_without(suffix.len()) >= measure {
                    self.replace(suffix.len(), replacement);
                }
                return;
            }
        }
    }

    fn step_2(&mut self) {
        // What is left may end with a suffix of this step again.
        while self.ends_with(b"alli") && self.measure_without(4) > 0 {
            self.replace(2, b"");
        }
        match self.letter(0) {
            b'i' => self.step_2_adverbs_and_nouns(),
            b'l' => self.apply(1, &[(b"ational", b"ate"), (b"tional", b"tion")]),
            b'm' => self.apply(1, &[(b"alism", b"al")]),
            b'n' => self.apply(1, &[(b"ization", b"ize"), (b"ation", b"ate")]),
            b'r' => self.apply(1, &[(b"izer", b"ize"), (b"ator", b"ate")]),
            b's' => self.apply(1, &[(b"iveness", b"ive"), (b"fulness", b"ful"), (b"ousness", b"ous")]),
            _ => {}
        }
    }

    fn step_2_adverbs_and_nouns(&mut self) {
        match self.letter(1) {
            b'c' => self.apply(1, &[(b"enci", b"ence"), (b"anci", b"ance")]),
            b'g' if self.ends_with(b"logi") && self.measure_without(3) > 0 => self.replace(1, b""),
            b'l' => self.apply(
                1,
                &[
                    (b"bli", b"ble"),
                    (b"entli", b"ent"),
                    (b"eli", b"e"),
                    (b"ousli", b"ous"),
                    (b"fulli", b"ful"),
                ],
            ),
            b't' => self.apply(1, &[(b"aliti", b"al"), (b"iviti", b"ive"), (b"biliti", b"ble")]),
            _ => {}
        }
    }

    fn step_3(&mut self) {
        match self.letter(0) {
            b'e' => self.apply(1, &[(b"icate", b"ic"), (b"ative", b""), (b"alize", b"al")]),
            b'i' => self.apply(1, &[(b"iciti", b"ic")]),
            b'l' => self.apply(1, &[(b"ical", b"ic"), (b"ful", b"")]),
            b's' => self.apply(1, &[(b"ness", b"")]),
            _ => {}
        }
    }

    fn step_4(&mut self) {
        match self.letter(0) {
            b'c' => self.apply(2, &[(b"ic", b"")]),
            b'e' => self.apply(
                2,
                &[
                    (b"ance", b""),
                    (b"ence", b""),
                    (b"able", b""),
                    (b"ible", b""),
                    (b"ate", b""),
                    (b"ive", b""),
                    (b"ize", b""),
                ],
            ),
            b'i' => self.apply(2, &[(b"iti", b"")]),
            b'l' => self.apply(2, &[(b"al", b"")]),
            b'm' => self.apply(2, &[(b"ism", b"")]),
            b'n' if matches!(self.letter(3), b's' | b't') => self.apply(2, &[(b"ion", b"")]),
            b'r' => self.apply(2, &[(b"er", b"")]),
            b's' => self.apply(2, &[(b"ous", b"")]),
            b't' => self.apply(2, &[(b"ant", b""), (b"ement", b""), (b"ment", b""), (b"ent", b"")]),
            b'u' => self.apply(2, &[(b"ou", b"")]),
            _ => {}
        }
    }

    fn step_5(&mut self) {
        if self.letter(0) == b'e' {
            let measure = self.measure_without(1);
            if measure > 1 || measure == 1 && !self.ends_cvc_without(1) {
                self.replace(1, b"");
            }
        }
        if self.letter(0) == b'l' && self.letter(1) == b'l' && self.measure_without(1) > 1 {
            self.replace(1, b"");
        }
    }
}

/// A vowel is a, e, i, o, u, and y after a consonant.
fn follows_as_vowel(letter: u8, after_vowel: bool, is_first: bool) -> bool {
    matches!(letter, b'a' | b'e' | b'i' | b'o' | b'u') || letter == b'y' && !after_vowel && !is_first
}

/// The lowest `count` bits.
fn lowest(count: usize) -> u64 {
    if count >= WINDOW { u64::MAX } else { (1 << count) - 1 }
}
