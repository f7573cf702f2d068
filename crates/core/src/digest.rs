//! Digests of cards and evidence.

use core::fmt;

use sha2::{Digest as _, Sha256};

/// A SHA-256 digest, printed as `sha256:` and 64 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest(pub [u8; 32]);

impl Digest {
    /// Returns the digest of `bytes`.
    ///
    /// ```
    /// let digest = karat_core::facts::Digest::of(b"abc");
    /// assert!(digest.to_string().starts_with("sha256:ba7816bf"));
    /// ```
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// Returns the digest that is written so: `sha256:` and 64 hexadecimal digits in lower case.
    ///
    /// ```
    /// use karat_core::facts::Digest;
    /// let digest = Digest::of(b"abc");
    /// assert_eq!(Digest::parse(&digest.to_string()), Some(digest));
    /// assert_eq!(Digest::parse("sha256:00"), None);
    /// ```
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.strip_prefix("sha256:")?.as_bytes();
        let mut bytes = [0u8; 32];
        if digits.len() != 2 * bytes.len() {
            return None;
        }
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
            *byte = pair.iter().try_fold(0u8, |byte, &digit| {
                let value = match digit {
                    b'0'..=b'9' => digit - b'0',
                    b'a'..=b'f' => digit - b'a' + 10,
                    _ => return None,
                };
                Some(byte << 4 | value)
            })?;
        }
        Some(Self(bytes))
    }
}

/// A digest in the making, of bytes that come in parts.
///
/// ```
/// use karat_core::facts::{Digest, Digester};
/// let mut digester = Digester::default();
/// digester.add(b"ab");
/// digester.add(b"c");
/// assert_eq!(digester.end(), Digest::of(b"abc"));
/// ```
#[derive(Debug, Clone, Default)]
pub struct Digester(Sha256);

impl Digester {
    /// Adds the next bytes.
    pub fn add(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// Returns the digest of all bytes.
    pub fn end(self) -> Digest {
        Digest(self.0.finalize().into())
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("sha256:")?;
        f.write_str(str::from_utf8(&hexadecimal(&self.0)).map_err(|_| fmt::Error)?)
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Returns the hexadecimal digits of a SHA-256, in lower case.
///
/// ```
/// let digits = karat_core::json::hexadecimal(&[0xa9; 32]);
/// assert_eq!(digits.as_slice(), "a9".repeat(32).as_bytes());
/// ```
pub fn hexadecimal(bytes: &[u8; 32]) -> [u8; 64] {
    let mut digits = [0; 64];
    for (pair, byte) in digits.chunks_exact_mut(2).zip(bytes) {
        pair.copy_from_slice(&[digit(byte >> 4), digit(byte & 0xf)]);
    }
    digits
}

/// Returns the digit of half a byte, without a table, so that many are done at once.
pub(crate) fn digit(half: u8) -> u8 {
    half + if half < 10 { b'0' } else { b'a' - 10 }
}
