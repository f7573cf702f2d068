//! The stemmer of ROUGE: Porter's algorithm with the extensions that are usual in Python.
//!
//! M. F. Porter, "An algorithm for suffix stripping", Program 14 (3), 1980, gives the steps 1a to 5b and their terms: the
//! *measure* of a word is the number of times a consonant follows a vowel in it. The extensions (a list of irregular
//! words, `ies` and `ied` of short words, `y` after a consonant, `alli`, `bli`, `fulli`, `logi`) come from the default
//! mode of the stemmer that ROUGE scores are commonly computed with.

use super::tokens::eight;

const STEP_1: u8 = 1;
const STEP_2: u8 = 2;
const STEP_3: u8 = 4;
const STEP_4: u8 = 8;
const STEP_5: u8 = 16;

/// Steps that may change a word, by its last two letters (five bits each, the last one higher). Few words end so that
/// any may, and few of these so that a second one may.
const STEPS: [u8; 1024] = {
    const fn mark(table: &mut [u8; 1024], step: u8, endings: &str) {
        let mut rest = endings.as_bytes();
        while let [before, last, after @ ..] = rest {
            table[((*last & 31) as usize) << 5 | (*before & 31) as usize] |= step;
            rest = after;
        }
    }
    let mut table = [0; 1024];
    let mut before = 0;
    while before < 32 {
        table[((b's' & 31) as usize) << 5 | before] |= STEP_1;
        table[((b'y' & 31) as usize) << 5 | before] |= STEP_1;
        table[((b'e' & 31) as usize) << 5 | before] |= STEP_5;
        before += 1;
    }
    mark(&mut table, STEP_1, "edng");
    mark(&mut table, STEP_2, "alsmonerorsscigiliti");
    mark(&mut table, STEP_3, "tevezetialulss");
    mark(&mut table, STEP_4, "alceericlentonousmtetiusveze");
    mark(&mut table, STEP_5, "ll");
    table
};

fn steps(tail: u64) -> u8 {
    STEPS[(tail >> 56) as usize % 32 * 32 + (tail >> 48) as usize % 32]
}

/// A suffix of at most seven letters and its replacement.
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

    /// Returns whether the letters of `tail`, the last in the highest byte, end with the suffix.
    fn ends(&self, tail: u64) -> bool {
        (tail ^ self.letters) >> (64 - 8 * self.length) == 0
    }
}

macro_rules! rules {
    ($($suffix:literal => $replacement:literal),+) => {
        const { &[$(Suffix::new($suffix, $replacement)),+] }
    };
}

/// Returns the class of a letter for the stemmer: [`VOWEL`], [`Y`], or 0 for a consonant.
pub(super) fn kind(letter: u8) -> u8 {
    let is_vowel =
        (letter == b'a') | (letter == b'e') | (letter == b'i') | (letter == b'o') | (letter == b'u');
    (u8::from(is_vowel) * VOWEL) | (u8::from(letter == b'y') * Y)
}

const VOWEL: u8 = 1;
/// A vowel only after a consonant.
const Y: u8 = 2;

/// A word on its way through the steps, with its vowels marked, so that the measure of any beginning of it is a count of
/// bits.
///
/// Rules look at the end of a word only, and take away fewer letters than the window has. The part before the window
/// is summed up once.
pub(super) struct Word<'a> {
    letters: &'a mut [u8],
    /// The kinds of the letters, as they stood at first.
    kinds: &'a [u8],
    start: usize,
    length: usize,
    /// The last eight letters, the last in the highest byte; before the word is a zero.
    tail: u64,
    /// Steps that may change the word in its present form.
    steps: u8,
    /// The start of the window, counted from the start of the word.
    window: usize,
    /// Bit `i`: letter `window + i` is a vowel. Bits beyond the word mean nothing.
    vowels: u64,
    /// Number of times that a consonant follows a vowel up to the first letter of the window; at most 2.
    measure_before: u32,
    has_vowel_before: bool,
}

const WINDOW: usize = 64;

impl<'a> Word<'a> {
    /// Takes the word of `length` letters in `letters` from `start` on. It is of `a-z0-9`, longer than two letters,
    /// with a zero and seven more bytes before it and eight behind it; `kinds` has the [`kind()`] of each of the letters.
    #[inline]
    pub(super) fn new(letters: &'a mut [u8], kinds: &'a [u8], start: usize, length: usize) -> Self {
        let mut word = Self {
            letters,
            kinds,
            start,
            length,
            tail: 0,
            steps: 0,
            window: 0,
            vowels: 0,
            measure_before: 0,
            has_vowel_before: false,
        };
        word.load_tail();
        word
    }

    /// Returns false if the word is surely its own stem.
    #[inline]
    pub(super) fn may_change(&self) -> bool {
        self.steps != 0
    }

    /// Stems the word in place and gives its new length, which is not greater. The time is linear in its length.
    #[inline(never)]
    pub(super) fn stem(mut self) -> usize {
        if let Some(regular) = self.irregular() {
            self.replace(self.length, regular);
            return self.length;
        }
        self.step_1a();
        if self.steps == 0 {
            return self.length;
        }
        self.mark_vowels();
        if self.steps & STEP_1 != 0 {
            self.step_1b();
            self.step_1c();
        }
        if self.steps & STEP_2 != 0 {
            self.step_2();
        }
        if self.steps & STEP_3 != 0 {
            self.step_3();
        }
        if self.steps & STEP_4 != 0 {
            self.step_4();
        }
        if self.steps & STEP_5 != 0 {
            self.step_5();
        }
        self.length
    }

    fn mark_vowels(&mut self) {
        let mut is_vowel = false;
        self.window = self.length.saturating_sub(WINDOW);
        let before = self.letters.get(self.start..self.start + self.window).unwrap_or_default();
        for (at, &letter) in before.iter().enumerate() {
            let was_vowel = is_vowel;
            is_vowel = follows_as_vowel(letter, was_vowel, at == 0);
            self.has_vowel_before |= is_vowel;
            self.measure_before = (self.measure_before + u32::from(was_vowel && !is_vowel)).min(2);
        }
        let mut ys = 0;
        for place in 0..(self.length - self.window).div_ceil(8) {
            let kinds = eight(self.kinds, self.start + self.window + 8 * place).unwrap_or_default();
            self.vowels |= lowest_bits(kinds) << (8 * place);
            ys |= lowest_bits(kinds >> 1) << (8 * place);
        }
        // From left to right, since a y is what the letter before it is not.
        while ys != 0 {
            let at = ys.trailing_zeros();
            let after_vowel = at.checked_sub(1).map_or(is_vowel, |before| self.vowels >> before & 1 == 1);
            self.vowels |= u64::from(!after_vowel && self.window + at as usize > 0) << at;
            ys &= ys - 1;
        }
        self.measure_before += u32::from(is_vowel && self.vowels & 1 == 0);
    }

    /// Returns the stem of a word that is an exception.
    fn irregular(&self) -> Option<&'static [u8]> {
        let may_be = rules!["eed" => "", "ews" => "", "ies" => "", "ing" => "", "ngs" => "", "owe" => ""];
        if !may_be.iter().fold(false, |may_be, ending| may_be | ending.ends(self.tail)) {
            return None;
        }
        Some(match self.letters.get(self.start..self.start + self.length)? {
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

    fn load_tail(&mut self) {
        let from = (self.start + self.length).checked_sub(8);
        self.tail = from.and_then(|from| eight(self.letters, from)).unwrap_or_default();
        self.steps = steps(self.tail);
    }

    fn ends_with(&self, suffix: &'static str) -> bool {
        Suffix::new(suffix, "").ends(self.tail)
    }

    /// Returns the letter `back` places before the last, `back` being below 8; a zero before the word.
    fn letter(&self, back: usize) -> u8 {
        (self.tail << (8 * back) >> 56) as u8
    }

    /// Takes letters away at the end and puts others there.
    fn replace(&mut self, taken: usize, put: &[u8]) {
        self.length = self.length.saturating_sub(taken);
        self.load_tail();
        for &letter in put {
            let at = self.length;
            let is_vowel = follows_as_vowel(letter, at > 0 && self.is_vowel(at - 1), at == 0);
            let bit = 1u64 << (at - self.window).min(WINDOW - 1);
            self.vowels = if is_vowel { self.vowels | bit } else { self.vowels & !bit };
            if let Some(place) = self.letters.get_mut(self.start + at) {
                *place = letter;
            }
            self.length += 1;
            // Reading what was just written, a byte here and eight there, would be slow.
            self.tail = self.tail >> 8 | u64::from(letter) << 56;
        }
        self.steps = steps(self.tail);
    }

    /// Returns whether the letter at `at`, counted from the start of the word and within the window, is a vowel.
    fn is_vowel(&self, at: usize) -> bool {
        at.checked_sub(self.window).is_some_and(|at| self.vowels >> at.min(WINDOW - 1) & 1 == 1)
    }

    /// Returns the measure of the word without its last `taken` letters: 0, 1, or 2 for all above.
    fn measure_without(&self, taken: usize) -> u32 {
        let length = self.length.saturating_sub(self.window + taken);
        let ends_of_vowels = self.vowels & !(self.vowels >> 1) & lowest(length.saturating_sub(1));
        let others = ends_of_vowels & ends_of_vowels.wrapping_sub(1);
        (self.measure_before + u32::from(ends_of_vowels != 0) + u32::from(others != 0)).min(2)
    }

    fn has_vowel_without(&self, taken: usize) -> bool {
        let length = self.length.saturating_sub(self.window + taken);
        self.has_vowel_before || self.vowels & lowest(length) != 0
    }

    /// Returns whether the word without its last `taken` letters ends with consonant, vowel, consonant, the last not w,
    /// x or y; or is a vowel and a consonant.
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

    /// Removes past tenses and present participles.
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

    /// Replaces the first of the suffixes that the word ends with if the part before it has at least this measure.
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

fn follows_as_vowel(letter: u8, after_vowel: bool, is_first: bool) -> bool {
    match kind(letter) {
        VOWEL => true,
        Y => !after_vowel && !is_first,
        _ => false,
    }
}

/// Returns the lowest bits of eight bytes, that of the first byte lowest.
fn lowest_bits(eight: u64) -> u64 {
    // The factor moves the lowest bit of byte i to bit 56 + i.
    (eight & 0x0101_0101_0101_0101).wrapping_mul(0x0102_0408_1020_4080) >> 56
}

/// Returns the lowest `count` bits.
fn lowest(count: usize) -> u64 {
    if count >= WINDOW { u64::MAX } else { (1 << count) - 1 }
}
