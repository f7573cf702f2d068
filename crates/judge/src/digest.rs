//! SHA-256, as karat writes it.

use std::fmt::Write as _;

use sha2::{Digest, Sha256};

/// Returns the digest of bytes: `sha256:` and 64 hexadecimal digits.
pub fn digest(bytes: &[u8]) -> String {
    let mut text = "sha256:".to_owned();
    for byte in Sha256::digest(bytes) {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::digest;

    #[test]
    fn the_empty_text_has_the_published_digest() {
        let expected = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(digest(b""), expected);
    }
}
