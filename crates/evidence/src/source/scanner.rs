//! Finds the end of one JSON value in a stream of bytes, by brackets and quotes alone.

/// The position of the scanner in a value.
#[derive(Debug, Default)]
pub(super) struct Scanner {
    depth: usize,
    in_string: bool,
    escaped: bool,
    /// A value without brackets or quotes has begun: it ends before the next separator.
    in_scalar: bool,
}

impl Scanner {
    /// Takes the next bytes; says how many of them belong to the value if it ends among them.
    pub(super) fn feed(&mut self, bytes: &[u8]) -> Option<usize> {
        for (at, &byte) in bytes.iter().enumerate() {
            if self.in_string {
                match byte {
                    _ if self.escaped => self.escaped = false,
                    b'\\' => self.escaped = true,
                    b'"' => {
                        self.in_string = false;
                        if self.depth == 0 {
                            return Some(at + 1);
                        }
                    }
                    _ => {}
                }
                continue;
            }
            match byte {
                b'"' if !self.in_scalar => self.in_string = true,
                b'{' | b'[' if !self.in_scalar => self.depth += 1,
                b'}' | b']' if self.depth > 0 => {
                    self.depth -= 1;
                    if self.depth == 0 {
                        return Some(at + 1);
                    }
                }
                b',' | b']' | b' ' | b'\t' | b'\r' | b'\n' if self.in_scalar => return Some(at),
                _ if self.depth == 0 => self.in_scalar = true,
                _ => {}
            }
        }
        None
    }

    pub(super) fn may_end_here(&self) -> bool {
        self.in_scalar
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_end_where_they_end_however_the_bytes_arrive() {
        for (text, end) in [
            (r#"{"a":"}\"]"} x"#, Some(12)),
            ("[[1],{}]]", Some(8)),
            (r#""a\\"b"#, Some(5)),
            ("12,3", Some(2)),
            ("true]", Some(4)),
            ("x\ny", Some(1)),
            ("{\"a\":1", None),
            ("7", None),
        ] {
            assert_eq!(Scanner::default().feed(text.as_bytes()), end, "{text}");
            let mut scanner = Scanner::default();
            let slow = text.bytes().enumerate().find_map(|(at, byte)| Some(at + scanner.feed(&[byte])?));
            assert_eq!(slow, end, "{text}");
        }
    }
}
