//! Input made to hurt, through the public interface of the graders: none panics, hangs, or takes time or memory out of
//! proportion.
//!
//! Most sizes are such that a way whose time grows with the square of the input would take minutes: then [`ends`] fails. What
//! takes its proper time takes a second at most, so that the margin is wide on any machine.
//!
//! | file | what is attacked |
//! |---|---|
//! | `quality` | texts, checklists, patterns, JSON in outputs, schemas |
//! | `reports` | reports of tests: JUnit XML, TRX, TAP |
//! | `workflow` | plans, event logs, references, moments |
//! | `arena` | primitives, submissions, trajectories, evaluators and what they print |
//! | `trace` | votes, the cache of vectors and its saved form |
//! | `trust` | juries and estimators |
//! | `reader` | evidence of every kind on its way to the graders |

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod arena;
mod quality;
mod reader;
mod reports;
mod trace;
mod trust;
mod workflow;

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use serde_json::Value;

const TEN_MEGABYTES: usize = 10_000_000;
/// Brackets that a parser which recurses would not come back from.
const DEEP: usize = 10_000;

/// Half surrogate pairs, as JSON can write them and no text can hold them.
const HALF_PAIRS: [&str; 5] =
    [r#""\ud800""#, r#""\udfff""#, r#""a\ud83dA""#, r#""\ud800\ud800""#, r#""\udc00\ud800""#];

/// The same sentence in scripts that are cut, joined, marked and turned in their own ways, and texts that are hardly one.
const SCRIPTS: [&str; 14] = [
    "कुत्ते ने बिल्ली को देखा",
    "رأى الكلب القطة",
    "狗看见了猫",
    "犬が猫を見た",
    "개가 고양이를 보았다",
    "สุนัขเห็นแมว",
    "Пёс увидел кошку",
    "ο σκύλος είδε τη γάτα ΟΔΟΣ",
    "İstanbul'da ĲSSEL ﬁn Straße ǅ",
    "z\u{300}\u{301}\u{302}a\u{345}l\u{489}g\u{20dd}o",
    "\u{202e}god eht\u{202c} \u{200b}\u{feff}\u{ad}",
    "👩‍👩‍👧‍👦 🇩🇪🇫🇷 1️⃣",
    "\u{0}\u{1b}[31m\r\n\u{85}\u{2028}",
    "\u{10ffff}\u{e000}\u{fdfa}\u{1d173}",
];

/// Repeats the piece to ten megabytes.
fn ten_megabytes(piece: &str) -> String {
    piece.repeat(TEN_MEGABYTES / piece.len())
}

/// Does the work in a thread with the stack that threads have by default, and fails if it has not ended after so long that
/// only growth out of proportion can be the reason.
fn ends<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    const STACK_BYTES: usize = 2 << 20;
    const FAR_TOO_LONG: Duration = Duration::from_secs(120);
    let (done, result) = channel();
    let thread = std::thread::Builder::new().stack_size(STACK_BYTES);
    // The receiver may have given up waiting.
    let worker = thread.spawn(move || drop(done.send(work()))).unwrap();
    match result.recv_timeout(FAR_TOO_LONG) {
        Ok(result) => result,
        Err(RecvTimeoutError::Timeout) => panic!("no end after {FAR_TOO_LONG:?}"),
        Err(RecvTimeoutError::Disconnected) => match worker.join() {
            Err(panic) => std::panic::resume_unwind(panic),
            Ok(()) => unreachable!("a thread that ends has sent its result"),
        },
    }
}

/// Makes a value in [`DEEP`] arrays, or objects of this key, which no parser here would make.
///
/// To copy, compare or give back such a value recurses in the library of values, so it has to be leaked.
fn deep(bottom: Value, key: Option<&str>) -> Value {
    let wrap = |inner| match key {
        None => Value::Array(vec![inner]),
        Some(key) => Value::Object([(key.to_owned(), inner)].into_iter().collect()),
    };
    (0..DEEP).fold(bottom, |inner, _| wrap(inner))
}

/// Texts of JSON that are deep, whole and cut off.
fn deep_texts() -> [String; 4] {
    [
        "[".repeat(DEEP),
        format!("{}{}", "[".repeat(DEEP), "]".repeat(DEEP)),
        format!("{}1{}", r#"{"a":"#.repeat(DEEP), "}".repeat(DEEP)),
        r#"{"scores":"#.repeat(DEEP),
    ]
}

/// Returns numbers in no visible order, the same on every run.
fn numbers() -> impl Iterator<Item = usize> {
    std::iter::successors(Some(88_172_645_463_325_252_u64), |&state| {
        let state = state ^ state << 13;
        let state = state ^ state >> 7;
        Some(state ^ state << 17)
    })
    .map(|state| (state >> 33) as usize)
}
