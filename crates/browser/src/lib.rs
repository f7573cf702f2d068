//! The code that pages of karat run in a browser: the engine as a WebAssembly module, and their script. Both are built from this repository
//! by `bindings/javascript/scripts/page.mjs`; `scripts/check-browser` says whether the script is the one of its source.

/// The module `engine.wasm` of the package for JavaScript, compressed with gzip.
pub const ENGINE: &[u8] = include_bytes!("../engine.wasm.gz");

/// The script of pages that compute: it checks receipts, and ranks subjects by other weights.
pub const PAGE: &str = include_str!("../page.js");
