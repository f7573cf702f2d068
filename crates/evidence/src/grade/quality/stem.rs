//! The stemmer of ROUGE: Porter's algorithm with the extensions that are usual in Python.
//!
//! M. F. Porter, "An algorithm for suffix stripping", Program 14 (3), 1980, gives the steps 1a to 5b and their terms: the
//! *measure* of a word is the number of times a consonant follows a vowel in it. The extensions (a list of irregular
//! words, `ies` and `ied` of short words, `y` after a consonant, `alli`, `bli`, `fulli`, `logi`) are those of the default
//! mode of the stemmer that ROUGE scores are commonly computed with.

/// Stems the word of `length` letters that stands in `letters` from `start` on, in place, and gives its new length.
///
/// The word is in lower case, with a zero byte and seven more bytes before it; digits and bytes that are no letters
/// count as consonants. No word becomes longer. The time is linear in its length.
pub(super) fn stem(letters: &mut [u8], start: usize, length: usize) -> usize {
    let Some(word) = letters.get_mut(start..start + length) else { return length };
    let Some(&last) = word.last() else { return length };
    // No rule applies to a word that ends otherwise.
    if length <= 2 || !matches!(last, b'c'..=b'e' | b'g' | b'i' | b'l'..=b'n' | b'r'..=b'u' | b'y') {
        return length;
    }
    if let Some(regular) = irregular(word) {
        word.iter_mut().zip(regular).for_each(|(letter, regular)| *letter = *regular);
        return regular.len();
    }
    let mut word = Word::new(letters, start, length);
    word.step_1a();
    word.step_1b();
    word.step_1c();
    word.step_2();
    word.step_3();
    word.step_4();
    word.step_5();
    word.length
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

/// A suffix of at most seven letters and what stands in its place.
struct Suffix {
    length: usize,
    /// The letters, the last in the highest byte.
    letters: u64,
    replacement: &'static [u8],
}

impl Suffix {
    const fn new(suffix: &'static str, replacement: &'static str) -> Self {
        let bytes = suffix.as_bytes();
        let mut letters = 0;
        let mut rest = bytes;
        while let [letter, after @ ..] = rest {
            letters = letters >> 8 | (*letter as u64) << 56;
            rest = after;
        }
        Self { length: bytes.len(), letters, replacement: replacement.as_bytes() }
    }

    /// Whether the letters of `tail`, the last in the highest byte, end with the suffix.
    fn ends(&self, tail: u64) -> bool {
        (tail ^ self.letters) >> (64 - 8 * self.length) == 0
    }
}

macro_rules! rules {
    ($($suffix:literal => $replacement:literal),+) => {
        const { &[$(Suffix::new($suffix, $replacement)),+] }
    };
}

/// A word with its vowels marked, so that the measure of any beginning of it is a count of bits.
///
/// Rules look at the end of a word only, and take away fewer letters than the window has. What stands before the window
/// is summed up once.
struct Word<'a> {
    letters: &'a mut [u8],
    start: usize,
    length: usize,
    /// The last eight letters, the last in the highest byte; before the word stands a zero.
    tail: u64,
    /// Where the window begins, counted from the start of the word.
    window: usize,
    /// Bit `i`: letter `window + i` is a vowel. Bits beyond the word mean nothing.
    vowels: u64,
    /// How many consonants follow a vowel up to the first letter of the window.
    measure_before: u32,
    has_vowel_before: bool,
}

const WINDOW: usize = 64;

impl<'a> Word<'a> {
    fn new(letters: &'a mut [u8], start: usize, length: usize) -> Self {
        let word = letters.get(start..start + length).unwrap_or_default();
        let window = length.saturating_sub(WINDOW);
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
        let mut word =
            Self { letters, start, length, tail: 0, window, vowels, measure_before, has_vowel_before };
        word.load_tail();
        word
    }

    fn load_tail(&mut self) {
        let end = self.start + self.length;
        let eight = end.checked_sub(8).and_then(|from| self.letters.get(from..)?.first_chunk::<8>());
        self.tail = eight.map_or(0, |eight| u64::from_le_bytes(*eight));
    }

    fn ends_with(&self, suffix: &'static str) -> bool {
        Suffix::new(suffix, "").ends(self.tail)
    }

    /// The letter `back` places before the last, `back` being below 8; a zero before the word.
    fn letter(&self, back: usize) -> u8 {
        (self.tail << (8 * back) >> 56) as u8
    }

    /// Takes letters away at the end and puts others there.
    fn replace(&mut self, taken: usize, put: &[u8]) {
        self.length = self.length.saturating_sub(taken);
        for &letter in put {
            let at = self.length;
            let is_vowel = follows_as_vowel(letter, at > 0 && self.is_vowel(at - 1), at == 0);
            let bit = 1u64 << (at - self.window).min(WINDOW - 1);
            self.vowels = if is_vowel { self.vowels | bit } else { self.vowels & !bit };
            if let Some(place) = self.letters.get_mut(self.start + at) {
                *place = letter;
            }
            self.length += 1;
        }
        self.load_tail();
    }

    /// Whether the letter at `at`, counted from the start of the word and within the window, is a vowel.
    fn is_vowel(&self, at: usize) -> bool {
        at.checked_sub(self.window).is_some_and(|at| self.vowels >> at.min(WINDOW - 1) & 1 == 1)
    }

    /// The measure of the word without its last `taken` letters.
    fn measure_without(&self, taken: usize) -> u32 {
        let length = self.length.saturating_sub(self.window + taken);
        if length < 2 {
            return self.measure_before;
        }
        let ends_of_vowels = self.vowels & !(self.vowels >> 1);
        self.measure_before + (ends_of_vowels & lowest(length - 1)).count_ones()
    }

    fn has_vowel_without(&self, taken: usize) -> bool {
        let length = self.length.saturating_sub(self.window + taken);
        self.has_vowel_before || self.vowels & lowest(length) != 0
    }

    /// Whether the word without its last `taken` letters ends with consonant, vowel, consonant, the last not w, x or y;
    /// or is a vowel and a consonant.
    fn ends_cvc_without(&self, taken: usize) -> bool {
        let length = self.length.saturating_sub(taken);
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
        let taken = match (self.ends_with("ies"), self.length) {
            (true, 4) => 1,
            (true, _) => 2,
            (false, _) => 1,
        };
        // `sses` ends in `es`, so it is not among the words that end in `ss`.
        self.replace(if self.ends_with("sses") { 2 } else { taken }, b"");
    }

    /// Past tenses and present participles.
    fn step_1b(&mut self) {
        let taken = match self.letter(0) {
            b'd' if self.ends_with("ied") => return self.replace(if self.length == 4 { 1 } else { 2 }, b""),
            b'd' if self.ends_with("eed") => {
                let taken = usize::from(self.measure_without(3) > 0);
                return self.replace(taken, b"");
            }
            b'd' if self.letter(1) == b'e' => 2,
            b'g' if self.ends_with("ing") => 3,
            _ => return,
        };
        if !self.has_vowel_without(taken) {
            return;
        }
        self.replace(taken, b"");
        let last = self.letter(0);
        match (self.letter(1), last) {
            (b'a', b't') | (b'b', b'l') | (b'i', b'z') => self.replace(0, b"e"),
            (before, _) if before == last && self.length >= 2 && !self.is_vowel(self.length - 1) => {
                self.replace(usize::from(!matches!(last, b'l' | b's' | b'z')), b"");
            }
            _ if self.measure_without(0) == 1 && self.ends_cvc_without(0) => self.replace(0, b"e"),
            _ => {}
        }
    }

    fn step_1c(&mut self) {
        if self.letter(0) == b'y' && self.length > 2 && !self.is_vowel(self.length - 2) {
            self.replace(1, b"i");
        }
    }

    /// The first of the suffixes that the word ends with is replaced if what stands before it has at least this measure.
    /// A suffix whose measure is too small ends the search.
    fn apply(&mut self, measure: u32, rules: &[Suffix]) {
        if let Some(rule) = rules.iter().find(|rule| rule.ends(self.tail))
            && self.measure_without(rule.length) >= measure
        {
            self.replace(rule.length, rule.replacement);
        }
    }

    fn step_2(&mut self) {
        // What is left may end with a suffix of this step again.
        while self.ends_with("alli") && self.measure_without(4) > 0 {
            self.replace(2, b"");
        }
        match self.letter(0) {
            b'i' => self.step_2_adverbs_and_nouns(),
            b'l' => self.apply(1, rules!["ational" => "ate", "tional" => "tion"]),
            b'm' => self.apply(1, rules!["alism" => "al"]),
            b'n' => self.apply(1, rules!["ization" => "ize", "ation" => "ate"]),
            b'r' => self.apply(1, rules!["izer" => "ize", "ator" => "ate"]),
            b's' => self.apply(1, rules!["iveness" => "ive", "fulness" => "ful", "ousness" => "ous"]),
            _ => {}
        }
    }

    fn step_2_adverbs_and_nouns(&mut self) {
        match self.letter(1) {
            b'c' => self.apply(1, rules!["enci" => "ence", "anci" => "ance"]),
            b'g' if self.ends_with("logi") && self.measure_without(3) > 0 => self.replace(1, b""),
            b'l' => self.apply(
                1,
                rules!["bli" => "ble", "entli" => "ent", "eli" => "e", "ousli" => "ous", "fulli" => "ful"],
            ),
            b't' => self.apply(1, rules!["aliti" => "al", "iviti" => "ive", "biliti" => "ble"]),
            _ => {}
        }
    }

    fn step_3(&mut self) {
        match self.letter(0) {
            b'e' => self.apply(1, rules!["icate" => "ic", "ative" => "", "alize" => "al"]),
            b'i' => self.apply(1, rules!["iciti" => "ic"]),
            b'l' => self.apply(1, rules!["ical" => "ic", "ful" => ""]),
            b's' => self.apply(1, rules!["ness" => ""]),
            _ => {}
        }
    }

    fn step_4(&mut self) {
        match self.letter(0) {
            b'c' => self.apply(2, rules!["ic" => ""]),
            b'e' => self.apply(
                2,
                rules!["ance" => "", "ence" => "", "able" => "", "ible" => "", "ate" => "", "ive" => "", "ize" => ""],
            ),
            b'i' => self.apply(2, rules!["iti" => ""]),
            b'l' => self.apply(2, rules!["al" => ""]),
            b'm' => self.apply(2, rules!["ism" => ""]),
            b'n' if matches!(self.letter(3), b's' | b't') => self.apply(2, rules!["ion" => ""]),
            b'r' => self.apply(2, rules!["er" => ""]),
            b's' => self.apply(2, rules!["ous" => ""]),
            b't' => self.apply(2, rules!["ant" => "", "ement" => "", "ment" => "", "ent" => ""]),
            b'u' => self.apply(2, rules!["ou" => ""]),
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
