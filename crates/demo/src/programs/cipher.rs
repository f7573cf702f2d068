//! A text whose letters were all shifted by the same number.

use karat_stats::random::Random;
use serde_json::{Value, json};

use super::{Game, Run, Way, below};

const WORDS: [&str; 24] = [
    "the", "harbour", "keeps", "seven", "lanterns", "and", "every", "evening", "someone", "lights", "them",
    "before", "ships", "return", "from", "distant", "islands", "where", "rain", "never", "ends", "nor",
    "does", "work",
];
const LENGTH: usize = 12;
/// The frequency of each letter in English text, in tenths of a percent, from a to z.
const FREQUENCIES: [i64; 26] =
    [82, 15, 28, 43, 127, 22, 20, 61, 70, 2, 8, 40, 24, 67, 75, 19, 1, 60, 63, 91, 28, 10, 24, 2, 20, 1];

pub const GAME: Game = Game {
    slug: "cipher",
    title: "Cipher",
    briefing: "All letters of `text.txt` were shifted by the same number in the alphabet. Answer with the `text` as it \
               was, and with the `shift`, 0 to 25.",
    card: "cipher@1.0.0",
    category: "cybersecurity",
    difficulty: "newcomer",
    time_limit_seconds: 20,
    file: "text.txt",
    hidden: &[],
    make,
    play,
};

fn make(chance: &mut Random) -> (String, Value) {
    let words: Vec<&str> =
        (0..LENGTH).filter_map(|_| WORDS.get(below(chance, WORDS.len())).copied()).collect();
    let text = words.join(" ");
    let shift = below(chance, 26);
    (shifted(&text, shift), json!({"text": text, "shift": shift}))
}

fn play(text: &str, way: Way, run: &mut Run) -> Option<Value> {
    let shift = match way {
        Way::Careful => {
            run.spend(26 * 26)?;
            (0..26).max_by_key(|shift| likeness(&shifted(text, 26 - shift)))?
        }
        // The most frequent letter is taken for an e.
        Way::Greedy => {
            run.spend(26)?;
            let counts = counts(text);
            let most = (0..26).max_by_key(|letter| counts.get(*letter).copied())?;
            (most + 26 - 4) % 26
        }
        Way::Hasty => {
            run.step()?;
            13
        }
        Way::Random => {
            run.step()?;
            run.below(26)
        }
        // Tries shift after shift, until the program knows every word.
        Way::Exhaustive => {
            let mut found = 0;
            for shift in 0..26 {
                let read = shifted(text, 26 - shift);
                run.spend(read.len() as u64)?;
                if read.split(' ').all(|word| WORDS.contains(&word)) {
                    found = shift;
                    break;
                }
            }
            found
        }
    };
    Some(json!({"text": shifted(text, 26 - shift), "shift": shift}))
}

fn shifted(text: &str, shift: usize) -> String {
    let letter = |it: char| match u8::try_from(it) {
        Ok(byte) if byte.is_ascii_lowercase() => {
            let place = (usize::from(byte - b'a') + shift) % 26;
            u8::try_from(place).map_or(it, |place| char::from(b'a' + place))
        }
        _ => it,
    };
    text.chars().map(letter).collect()
}

fn counts(text: &str) -> [i64; 26] {
    let mut counts = [0; 26];
    for byte in text.bytes().filter(u8::is_ascii_lowercase) {
        if let Some(count) = counts.get_mut(usize::from(byte - b'a')) {
            *count += 1;
        }
    }
    counts
}

/// Returns how much it looks like English; higher is more alike.
fn likeness(text: &str) -> i64 {
    counts(text).iter().zip(FREQUENCIES).map(|(count, frequency)| count * frequency).sum()
}
