//! The draw of an instance: secret bytes of the server, committed to before the match and revealed after it.

use std::fmt;

use data_encoding::HEXLOWER;
use serde::{Deserializer, Serializer};

use crate::basics::*;

pub const NONCE_MAX_BYTES: usize = 64;

/// 32 random bytes that decide, with the nonce of the agent, which instance its next match is played at.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Draw([u8; 32]);

/// The draw of a match, as anyone may see it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = MatchDraw)]
pub struct Drawn {
    /// The SHA-256 of `karat/arena-draw/1`, the agent and the draw, each with a line feed.
    #[schema(example = "sha256:4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945")]
    pub commitment: String,
    /// True if the commitment was public before the entry; false for the first match of an agent that was registered before there
    /// were any.
    pub committed_before: bool,
    /// The nonce that the agent gave with the entry.
    pub agent_nonce: Option<String>,
    /// The number of the instance, from 1.
    pub instance: u32,
    /// The number of instances that it was drawn from: those that were not used up.
    pub among: u32,
    /// The draw, 64 hexadecimal digits; null until the match is over.
    pub draw: Option<String>,
}

impl Draw {
    /// Makes a draw of bytes that no one can foretell.
    pub const fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Returns it as 64 hexadecimal digits.
    pub fn digits(&self) -> String {
        HEXLOWER.encode(&self.0)
    }

    /// Returns the commitment to the draw for the next match of `agent`.
    pub fn commitment(&self, agent: &str) -> String {
        Digest::of(format!("karat/arena-draw/1\n{agent}\n{}\n", self.digits()).as_bytes()).to_string()
    }

    /// Returns which of `count` instances that are not used up, in their order from 0, a match is played at: the first 16
    /// bytes of a SHA-256 as a number, big end first, modulo `count`. No instance is likelier than another by more than 1000 /
    /// 2^128.
    ///
    /// ```
    /// let draw = karat_server::arena::Draw::new([7; 32]);
    /// assert_eq!(draw.place("bee.maze.1", Some("mine"), 1), Some(0));
    /// assert_eq!(draw.place("bee.maze.1", Some("mine"), 0), None);
    /// ```
    pub fn place(&self, match_id: &str, agent_nonce: Option<&str>, count: usize) -> Option<usize> {
        let nonce = agent_nonce.unwrap_or_default();
        let text = format!("karat/arena-instance/1\n{match_id}\n{}\n{nonce}\n", self.digits());
        let Digest(bytes) = Digest::of(text.as_bytes());
        let number = u128::from_be_bytes(*bytes.first_chunk()?);
        usize::try_from(number.checked_rem(count as u128)?).ok()
    }
}

impl fmt::Debug for Draw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Draw(..)")
    }
}

impl Serialize for Draw {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.digits())
    }
}

impl<'de> Deserialize<'de> for Draw {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let bytes = HEXLOWER.decode(text.as_bytes()).ok().and_then(|bytes| bytes.try_into().ok());
        bytes.map(Self).ok_or_else(|| serde::de::Error::custom("a draw is not 64 hexadecimal digits"))
    }
}

/// Returns true if `nonce` can be the nonce of an agent: 1 to 64 visible ASCII characters.
pub(crate) fn is_nonce(nonce: &str) -> bool {
    (1..=NONCE_MAX_BYTES).contains(&nonce.len()) && nonce.bytes().all(|byte| byte.is_ascii_graphic())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_draw_is_never_printed_and_survives_storage() {
        let draw = Draw::new([0xab; 32]);
        assert!(!format!("{draw:?}").contains("ab"));
        let text = serde_json::to_string(&draw).unwrap();
        assert_eq!(text, format!("\"{}\"", "ab".repeat(32)));
        assert_eq!(serde_json::from_str::<Draw>(&text).unwrap(), draw);
        for wrong in ["\"\"", "\"ab\"", "7", &text.to_uppercase()] {
            assert!(serde_json::from_str::<Draw>(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn every_instance_is_drawn_about_equally_often() {
        let mut counts = [0_u32; 7];
        for number in 0..7000_u32 {
            let mut bytes = [0; 32];
            bytes[..4].copy_from_slice(&number.to_be_bytes());
            let place = Draw::new(bytes).place("bee.maze.1", None, counts.len()).unwrap();
            counts[place] += 1;
        }
        // 1000 each; five standard deviations are 146.
        assert!(counts.iter().all(|count| count.abs_diff(1000) < 146), "{counts:?}");
    }

    #[test]
    fn everything_that_is_public_moves_the_draw() {
        let place = |draw: u8, id: &str, nonce: Option<&str>| Draw::new([draw; 32]).place(id, nonce, 1 << 60);
        let all = [
            place(1, "bee.maze.1", None),
            place(2, "bee.maze.1", None),
            place(1, "bee.maze.2", None),
            place(1, "ant.maze.1", None),
            place(1, "bee.maze.1", Some("a")),
            place(1, "bee.maze.1", Some("b")),
        ];
        for (at, one) in all.iter().enumerate() {
            assert!(all.iter().skip(at + 1).all(|other| one != other), "{all:?}");
        }
        let draw = Draw::new([1; 32]);
        assert_ne!(draw.commitment("bee"), draw.commitment("ant"));
    }

    #[test]
    fn nonces() {
        for (nonce, expected) in
            [("a", true), ("a-7_~!", true), ("", false), ("a b", false), ("é", false), ("a\n", false)]
        {
            assert_eq!(is_nonce(nonce), expected, "{nonce}");
        }
        assert!(is_nonce(&"a".repeat(64)) && !is_nonce(&"a".repeat(65)));
    }
}
