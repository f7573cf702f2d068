//! The time to load the embedder, and to turn texts of several lengths into vectors, on one core.
//!
//! Run with `cargo bench -p karat-graders --bench embedder`, after `scripts/fetch-embedder`. The smallest time of
//! several rounds is the one that other work on the machine disturbed least.

use std::hint::black_box;
use std::path::PathBuf;
use std::time::Instant;

use karat_graders::trace::embedder::Embedder;

const ROUNDS: usize = 15;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::var_os("KARAT_EMBEDDER").map(PathBuf::from).or_else(|| {
        let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
        let cache = cache.or_else(|| std::env::home_dir().map(|home| home.join(".cache")));
        cache.map(|cache| cache.join("karat-ci/embedder"))
    });
    let folder =
        folder.ok_or("KARAT_EMBEDDER names no folder with the model, and there is no home to look in")?;
    let start = Instant::now();
    let embedder = Embedder::load(&folder)?;
    println!("{:>24}: {:.0} ms", "load", start.elapsed().as_secs_f64() * 1e3);

    report("10 MB, one word", &embedder, &"x".repeat(10_000_000))?;
    report("10 MB, hard words", &embedder, &format!("{} ", "q".repeat(100)).repeat(100_000))?;
    // The text is framed by two more tokens.
    for words in [6, 30, 126, 510] {
        report("best instructions", &embedder, &"step ".repeat(words))?;
    }
    let embedder = embedder.portable();
    for words in [6, 30, 126, 510] {
        report("portable instructions", &embedder, &"step ".repeat(words))?;
    }
    Ok(())
}

fn report(name: &str, embedder: &Embedder, text: &str) -> Result<(), Box<dyn std::error::Error>> {
    let mut best = f64::INFINITY;
    let mut tokens = 0;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        tokens = black_box(embedder.embed(black_box(text))?).tokens;
        best = best.min(start.elapsed().as_secs_f64());
    }
    println!("{name:>24}: {:.2} ms for {tokens} tokens", best * 1e3);
    Ok(())
}
