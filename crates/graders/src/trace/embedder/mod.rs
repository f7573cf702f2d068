//! The embedder: the meaning of a text as a vector, by the model all-MiniLM-L6-v2.
//!
//! The vector is 384 numbers of length 1; the cosine of two of them says how close two texts are. A novelty must be
//! recomputable by anyone, so a text gives the same bits on every machine: every sum has one order, nothing is fused,
//! `exp` and `erf` come from `libm`. A text that is longer than the model reads is cut, and the embedding says so.
//!
//! The model is read from a folder with the two files of its publication: `model.safetensors` (weights) and
//! `tokenizer.json` (vocabulary). `scripts/fetch-embedder` gets them.
//!
//! ```no_run
//! use karat_graders::trace::embedder::Embedder;
//!
//! let embedder = Embedder::load("models/all-MiniLM-L6-v2".as_ref())?;
//! let embedding = embedder.embed("Analyze the earnings report")?;
//! assert_eq!(embedding.vector.len(), Embedder::DIMENSION);
//! # Ok::<(), karat_evidence::Problems>(())
//! ```

mod forward;
mod matrix;
mod tokenizer;
mod vector;
mod weights;

use std::fs::File;
use std::io::Read;
use std::path::Path;

use karat_core::facts::Digest;
use serde_json::{Value, json};

use self::tokenizer::{Tokenizer, Tokens};
use self::weights::{Shape, Weights};
use crate::instructions::Instructions;
use karat_evidence::json::problem::{Problem, Problems};

/// The weights, and the most bytes that they are expected to have (those of the publication have 90,868,376).
const WEIGHTS: (&str, u64) = ("model.safetensors", 128 << 20);

/// The vocabulary, and the most bytes that it is expected to have (that of the publication has 466,247).
const TOKENIZER: (&str, u64) = ("tokenizer.json", 4 << 20);

/// A model that turns texts into vectors.
#[derive(Debug)]
pub struct Embedder {
    tokenizer: Tokenizer,
    weights: Weights,
    digest: Digest,
    instructions: Instructions,
}

/// The vector of a text, and what was seen of the text.
#[derive(Debug, Clone, PartialEq)]
pub struct Embedding {
    /// [`Embedder::DIMENSION`] finite numbers; their squares sum to 1, but for rounding.
    pub vector: Vec<f32>,
    /// Digest of the model: see [`Embedder::digest`].
    pub embedder: Digest,
    /// Tokens that the model read, the two that frame a text included. At most [`Embedder::TOKENS`].
    pub tokens: usize,
    /// Number of tokens that are `[UNK]`: words that no pieces of the vocabulary cover.
    pub unknown_tokens: usize,
    /// True if the text has more tokens than the model reads. The vector is of its beginning.
    pub is_truncated: bool,
}

impl Embedder {
    /// [`Embedder::digest`] of the files of sentence-transformers/all-MiniLM-L6-v2.
    const PUBLISHED: &str = "sha256:b97e45d2e4496634276a080695de5a138f74deda66a1fcd7ffa34ce6bbe456ad";

    /// Numbers of a vector.
    pub const DIMENSION: usize = Shape::ALL_MINILM_L6_V2.hidden;

    /// The most tokens of a text, the two that frame it included.
    ///
    /// The positions that the model has, and `model_max_length` of its `tokenizer_config.json`. Other files of the
    /// publication cut at 128 or 256 tokens, for speed.
    pub const TOKENS: usize = Shape::ALL_MINILM_L6_V2.positions;

    /// Reads the model from a folder that holds `model.safetensors` and `tokenizer.json`.
    ///
    /// # Errors
    ///
    /// If a file cannot be read, is not of its format, or is not of this model (a tensor that is missing, of another
    /// shape or type, with a number that is not finite; a tokeniser that works otherwise, or has another vocabulary):
    /// all that is wrong with the first such file, by the place in it.
    pub fn load(folder: &Path) -> Result<Self, Problems> {
        let shape = Shape::ALL_MINILM_L6_V2;
        let name = |(file, _)| folder.join(file).display().to_string();
        let vocabulary = read(folder, TOKENIZER)?;
        let tokenizer = Tokenizer::read(&vocabulary, shape.vocabulary, &name(TOKENIZER))?;
        let tensors = read(folder, WEIGHTS)?;
        let weights = Weights::read(&tensors, shape, &name(WEIGHTS))?;
        let digest = digest([(WEIGHTS.0, &tensors), (TOKENIZER.0, &vocabulary)]);
        Ok(Self { tokenizer, weights, digest, instructions: Instructions::best() })
    }

    /// Returns the same model with the instructions that every processor of the architecture has: slower, the same
    /// bits.
    pub fn portable(self) -> Self {
        Self { instructions: Instructions::portable(), ..self }
    }

    /// Identifies the model in records: the SHA-256 of what `sha256sum model.safetensors tokenizer.json` prints.
    pub fn digest(&self) -> Digest {
        self.digest
    }

    /// Returns whether the files are those that were published as sentence-transformers/all-MiniLM-L6-v2.
    pub fn is_published(&self) -> bool {
        self.digest.to_string() == Self::PUBLISHED
    }

    /// Returns the vector of `text`. What lies beyond [`Embedder::TOKENS`] is not read.
    ///
    /// # Errors
    ///
    /// If the weights, though finite, overflow on the way. Those of the publication do not.
    pub fn embed(&self, text: &str) -> Result<Embedding, Problems> {
        let tokens = self.tokenizer.tokens(text, self.weights.shape.positions);
        self.embedding(vector::encode(self.instructions, &self.weights, &tokens.ids), &tokens)
    }

    fn embedding(&self, vector: Vec<f32>, tokens: &Tokens) -> Result<Embedding, Problems> {
        // NaN where a number overflowed on the way, 0 where only its square did.
        let length = vector.iter().fold(0.0, |sum, x| sum + x * x).sqrt();
        if !(0.999..1.001).contains(&length) {
            return Err(Problems::from(Problem::at(
                WEIGHTS.0,
                format!("weights that give a text a vector of length {length}"),
                "length 1",
                "the model is damaged: download it again",
            )));
        }
        Ok(Embedding {
            vector,
            embedder: self.digest,
            tokens: tokens.ids.len(),
            unknown_tokens: tokens.unknown,
            is_truncated: tokens.is_truncated,
        })
    }
}

impl Embedding {
    /// Returns whether the text had nothing to read: it was empty, blank, or of control characters.
    pub fn is_blank(&self) -> bool {
        self.tokens == 2
    }

    /// Returns the observations, without the vector: `embedder` (the digest of the model), `tokens`, `unknown_tokens`,
    /// `truncated`.
    pub fn detail(&self) -> Value {
        json!({
            "embedder": self.embedder.to_string(),
            "tokens": self.tokens,
            "unknown_tokens": self.unknown_tokens,
            "truncated": self.is_truncated,
        })
    }
}

/// Reads the bytes of a file of the model.
fn read(folder: &Path, (file, most): (&str, u64)) -> Result<Vec<u8>, Problems> {
    let path = folder.join(file);
    let problem = |found: String| {
        Problems::from(Problem::at(
            path.display().to_string(),
            found,
            format!("the file `{file}` of all-MiniLM-L6-v2"),
            "scripts/fetch-embedder gets the files of the model",
        ))
    };
    let mut bytes = Vec::new();
    // Bounded by what is read, not by what the file system says: the file may be a device.
    match File::open(&path).and_then(|file| file.take(most + 1).read_to_end(&mut bytes)) {
        Err(error) => Err(problem(format!("no file that can be read ({error})"))),
        Ok(_) if bytes.len() as u64 > most => Err(problem(format!("more than {most} bytes"))),
        Ok(_) => Ok(bytes),
    }
}

/// Returns the digest of a list of files, as `sha256sum` prints it.
fn digest<const FILES: usize>(files: [(&str, &Vec<u8>); FILES]) -> Digest {
    let line = |(name, bytes): (&str, &Vec<u8>)| {
        let digest = Digest::of(bytes).to_string();
        format!("{}  {name}\n", digest.trim_start_matches("sha256:"))
    };
    Digest::of(files.map(line).concat().as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_without_the_files_is_told() {
        let folder = std::env::temp_dir().join("karat-no-such-folder");
        let said = Embedder::load(&folder).map(|_| ()).unwrap_err().to_string();
        assert!(said.starts_with(&folder.join("tokenizer.json").display().to_string()), "{said}");
        assert!(said.ends_with("scripts/fetch-embedder gets the files of the model"), "{said}");
    }

    #[test]
    fn a_file_that_is_too_large_is_not_read() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
        let size = folder.join("Cargo.toml").metadata().unwrap().len();
        assert_eq!(read(folder, ("Cargo.toml", size)).unwrap().len() as u64, size);
        let said = read(folder, ("Cargo.toml", size - 1)).unwrap_err().to_string();
        assert!(said.contains(&format!("found more than {} bytes", size - 1)), "{said}");
    }

    fn small(largest: f32) -> Embedder {
        Embedder {
            tokenizer: tokenizer::tests::small(),
            weights: weights::tests::model(largest),
            digest: Digest::of(b""),
            instructions: Instructions::best(),
        }
    }

    #[test]
    fn an_embedding_tells_what_it_saw() {
        let embedder = small(1.0);
        let text = "step 🦀 ".repeat(8);
        let embedding = embedder.embed(&text).unwrap();
        assert!(embedding.is_truncated && !embedding.is_blank() && !embedder.is_published());
        assert_eq!(
            embedding.detail(),
            json!({
                "embedder": Digest::of(b"").to_string(), "tokens": 16, "unknown_tokens": 7, "truncated": true,
            })
        );
        assert_eq!(embedder.portable().embed(&text).unwrap(), embedding);
        assert!(small(1.0).embed(" \t").unwrap().is_blank());
    }

    #[test]
    fn weights_that_overflow_are_a_problem_and_no_vector() {
        let mut only_squares_do = small(1.0);
        only_squares_do.weights.layers.last_mut().unwrap().output_norm.offset.fill(1e30);
        for (embedder, length) in [(small(1e38), "NaN"), (only_squares_do, "0")] {
            let said = embedder.embed("step").unwrap_err().to_string();
            let expected =
                format!("model.safetensors: found weights that give a text a vector of length {length}, ");
            assert!(said.starts_with(&expected), "{said}");
        }
    }

    /// `printf abc > a; printf '' > b; sha256sum a b | sha256sum`
    #[test]
    fn the_digest_is_that_of_the_checksum_file() {
        let digest = digest([("a", &b"abc".to_vec()), ("b", &Vec::new())]);
        assert_eq!(
            digest.to_string(),
            "sha256:09c7e0b8a02d027d95ec0375a600ed4ad4d6b26a1c93f16d9150cab5fec761a6"
        );
    }
}
