//! The pairs of texts of 200 tokens each that get their ROUGE-L in a second, from raw text, one core: both texts cut
//! into tokens, stemmed and compared.
//!
//! Run with `cargo bench -p karat-graders --bench quality`. Of each few pairs the smallest time of many rounds counts: it
//! is the one that other work on the machine disturbed least.

use std::hint::black_box;
use std::time::Instant;

use karat_graders::quality::{Reference, Tokenizer};

const ROUNDS: usize = 100;
const PAIRS: usize = 1000;
/// Pairs that are timed together: few enough that other work seldom comes between.
const TIMED: usize = 20;
const TOKENS: usize = 200;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut random = Random(7);
    let pairs: Vec<(String, String)> = (0..PAIRS).map(|_| pair(&mut random)).collect();
    let bytes: usize = pairs.iter().map(|(reference, answer)| reference.len() + answer.len()).sum();
    println!("{PAIRS} pairs of {TOKENS} tokens, {} bytes a pair", bytes / PAIRS);
    for tokenizer in [Tokenizer::Reference, Tokenizer::Unicode] {
        let rouge =
            |(reference, answer): &(String, String)| Reference::new(reference, tokenizer)?.grade(answer);
        report(&format!("{} tokeniser, both texts raw", tokenizer.name()), &pairs, |pair| {
            black_box(rouge(black_box(pair)).ok());
        });
        let Some((reference, _)) = pairs.first() else { continue };
        let reference = Reference::new(reference, tokenizer)?;
        report("one reference, answers raw", &pairs, |(_, answer)| {
            black_box(reference.grade(black_box(answer)).ok());
        });
        let sum = pairs.iter().map(|pair| rouge(pair).map(|rouge| rouge.f1)).sum::<Result<f64, _>>()?;
        println!("{:>40}: {:.6}", "mean F1", sum / PAIRS as f64);
    }
    Ok(())
}

/// Reports the time of `work`. The texts are many and gone through in order, so that the processor does not learn them
/// by heart.
fn report(name: &str, items: &[(String, String)], work: impl Fn(&(String, String))) {
    let mut best = vec![f64::INFINITY; items.len().div_ceil(TIMED)];
    for _ in 0..ROUNDS {
        for (some, best) in items.chunks(TIMED).zip(&mut best) {
            let start = Instant::now();
            some.iter().for_each(&work);
            *best = best.min(start.elapsed().as_secs_f64());
        }
    }
    let seconds = best.iter().sum::<f64>() / items.len() as f64;
    println!("{name:>40}: {:.0} pairs/s, {:.2} us a pair", seconds.recip(), seconds * 1e6);
}

/// Returns a text, and the same with every third word changed, a few left out and some repeated.
fn pair(random: &mut Random) -> (String, String) {
    let words: Vec<String> = (0..TOKENS).map(|_| random.word()).collect();
    let mut answer: Vec<String> = Vec::new();
    while answer.len() < TOKENS {
        match (random.below(8), words.get(answer.len())) {
            (0..5, Some(word)) => answer.push(word.clone()),
            _ => answer.push(random.word()),
        }
    }
    (words.join(" ") + ".", answer.join(" ") + "!")
}

/// A generator of the same texts on every machine (Steele, Lea and Flood, "SplitMix", 2014).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ mixed >> 31) as usize % limit
    }

    /// Makes a word: short ones are frequent and long ones rare, as in English; now and then one begins a sentence.
    fn word(&mut self) -> String {
        let draws = if self.below(6) == 0 { 2 } else { 3 };
        let place = (0..draws).map(|_| self.below(WORDS.len())).min().unwrap_or_default();
        let word = WORDS[place];
        match self.below(20) {
            0 => word[..1].to_uppercase() + &word[1..],
            1 => format!("{word},"),
            _ => word.to_owned(),
        }
    }
}

/// From the most to the least frequent.
const WORDS: [&str; 96] = [
    "the",
    "of",
    "and",
    "to",
    "in",
    "is",
    "that",
    "for",
    "it",
    "as",
    "was",
    "with",
    "be",
    "by",
    "on",
    "not",
    "his",
    "but",
    "from",
    "are",
    "this",
    "had",
    "which",
    "they",
    "were",
    "been",
    "have",
    "their",
    "said",
    "would",
    "more",
    "when",
    "time",
    "other",
    "years",
    "some",
    "could",
    "these",
    "may",
    "first",
    "new",
    "people",
    "made",
    "states",
    "over",
    "world",
    "after",
    "many",
    "before",
    "must",
    "through",
    "years",
    "where",
    "being",
    "under",
    "water",
    "house",
    "used",
    "found",
    "general",
    "called",
    "system",
    "during",
    "however",
    "using",
    "number",
    "river",
    "several",
    "different",
    "engines",
    "valleys",
    "connected",
    "national",
    "testing",
    "conditions",
    "quickly",
    "measured",
    "relations",
    "formalize",
    "operators",
    "adjustment",
    "effective",
    "differently",
    "hopefulness",
    "replacement",
    "traditional",
    "communities",
    "electricity",
    "organisation",
    "sensibility",
    "generalization",
    "responsibility",
    "42",
    "2026",
    "v1",
    "probability",
];
