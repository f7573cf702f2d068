//! The embedder with the published model: the shared vectors, the bits, long and hostile texts.
//!
//! The model is not part of the repository. `scripts/fetch-embedder` puts it where these tests look, or `KARAT_EMBEDDER`
//! names its folder. Without it the tests say that they were skipped; where `CI` is set they fail.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use karat_core::facts::Digest;
use karat_graders::trace::embedder::{Embedder, Embedding};
use serde_json::{Value, json};

fn folder() -> PathBuf {
    if let Some(folder) = std::env::var_os("KARAT_EMBEDDER") {
        return folder.into();
    }
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.unwrap_or_else(|| std::env::home_dir().unwrap_or_default().join(".cache"));
    cache.join("karat-ci/embedder")
}

fn embedder() -> &'static Embedder {
    static EMBEDDER: OnceLock<Embedder> = OnceLock::new();
    EMBEDDER.get_or_init(load)
}

/// Loads the embedder, and fetches its files first if they are not there.
#[expect(clippy::unwrap_used, reason = "a helper of a test may stop it")]
fn load() -> Embedder {
    let folder = folder();
    if !folder.is_dir() {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/fetch-embedder");
        let status = Command::new(script).arg(&folder).status();
        assert!(
            status.is_ok_and(|it| it.success()),
            "`{}` is not there, and scripts/fetch-embedder failed",
            folder.display()
        );
    }
    Embedder::load(&folder).unwrap()
}

/// Returns the digest of the vector's bits.
fn bits(embedding: &Embedding) -> String {
    let bytes: Vec<u8> = embedding.vector.iter().flat_map(|value| value.to_le_bytes()).collect();
    Digest::of(&bytes).to_string()
}

#[test]
fn the_shared_vectors_are_matched() {
    let embedder = embedder();
    let vectors = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors/embeddings.jsonl");
    let vectors = fs::read_to_string(vectors).unwrap();
    assert!(!vectors.is_empty());
    for line in vectors.lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let text = case["text"].as_str().unwrap();
        let embedding = embedder.embed(text).unwrap();
        assert_eq!(json!(embedding.tokens), case["tokens"], "{text}");
        let expected: Vec<f64> = serde_json::from_value(case["embedding"].clone()).unwrap();
        assert_eq!(embedding.vector.len(), expected.len(), "{text}");
        for (value, expected) in embedding.vector.iter().zip(expected) {
            // The cases ask for 1e-4; the order of the sums is worth less than 1e-6.
            assert!((f64::from(*value) - expected).abs() < 1e-6, "{text}: {value} {expected}");
        }
    }
}

#[test]
fn the_example_of_the_model_card_comes_out() {
    let embedder = embedder();
    let embedding = embedder.embed("This is an example sentence").unwrap();
    for (value, expected) in embedding.vector.iter().zip([0.067_657, 0.063_496, 0.048_713, 0.079_305]) {
        assert!((value - expected).abs() < 1e-6, "{value} {expected}");
    }
    assert!(embedder.is_published());
}

/// These bits must be the same on every machine and from every build: a novelty is recomputed from them.
#[test]
fn the_bits_are_pinned() {
    let embedder = embedder();
    for (text, tokens, expected) in [
        ("", 2, "sha256:604194c419b9b48ba89b8a6737ffc625446a36cd63da0d714bc7bbe8c1057944"),
        (
            "This is an example sentence",
            7,
            "sha256:7212b34cf10eb8bf32e637bc1385bdc307e601dc09fdf0c9742af5f85cf43f80",
        ),
        (
            "Ångström, naïve — 東京タワー и Γειά σου [SEP] عربى",
            23,
            "sha256:aa49e7241d0812bba33d1faaaecc995fb9c4b85e01a7179b14dbe7e1add078b5",
        ),
        // Ten megabytes: no more is read than the model takes.
        (
            &"step one, step two; ".repeat(500_000),
            Embedder::TOKENS,
            "sha256:c8dc70d3a0dbd9691a32add63469eb7da864d236ace90598e0c7252af526a28c",
        ),
    ] {
        let embedding = embedder.embed(text).unwrap();
        assert_eq!((embedding.tokens, bits(&embedding).as_str()), (tokens, expected), "{text:.30}");
        assert_eq!(embedding.is_truncated, text.len() > 1000);
    }
}

#[test]
fn portable_instructions_give_the_same_bits() {
    let embedder = embedder();
    let text = "The linter flagged an unused import in the parser module.";
    let portable = Embedder::load(&folder()).unwrap().portable();
    assert_eq!(portable.embed(text).unwrap(), embedder.embed(text).unwrap());
}

#[test]
fn text_without_words_has_a_vector_and_says_so() {
    let embedder = embedder();
    let empty = embedder.embed("").unwrap();
    assert!(empty.is_blank());
    let blank = embedder.embed(" \t\r\n\u{0}\u{200b}\u{feff}\u{fffd}\u{301}").unwrap();
    assert_eq!(blank, empty);
    let unknown = embedder.embed("🦀🦀 🦞 𐍈").unwrap();
    assert_eq!((unknown.tokens, unknown.unknown_tokens, unknown.is_blank()), (5, 3, false));
    assert!(unknown.vector.iter().all(|value| value.is_finite()));
    assert_eq!(unknown.vector.len(), Embedder::DIMENSION);
}
