//! Words of a source text: just as much of the syntax of Python as changing it at one place takes.

/// A word, with its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token<'a> {
    /// The text.
    pub text: &'a str,
    /// Its sort.
    pub sort: Sort,
    /// The byte at which it begins.
    pub start: usize,
    /// The line, from 1.
    pub line: usize,
    /// The number of brackets around it.
    pub depth: usize,
}

/// The sort of a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sort {
    /// A name or a keyword.
    Name,
    /// A number.
    Number,
    /// A text, with its quotation marks.
    Text,
    /// Operators and brackets.
    Mark,
    /// The end of a statement: of a line outside of brackets, or a semicolon.
    End,
}

/// Operators of several characters, the longest first.
const MARKS: [&str; 25] = [
    "**=", "//=", "<<=", ">>=", "...", "->", ":=", "**", "//", "<<", ">>", "<=", ">=", "==", "!=", "+=",
    "-=", "*=", "/=", "%=", "&=", "|=", "^=", "@=", "<>",
];

impl Token<'_> {
    /// Returns the byte after it.
    pub const fn end(&self) -> usize {
        self.start + self.text.len()
    }

    /// Returns whether it is this keyword, name or operator.
    pub fn is(&self, text: &str) -> bool {
        matches!(self.sort, Sort::Name | Sort::Mark) && self.text == text
    }
}

/// Returns the words of a text. Comments are left out; what is no Python gives words all the same.
pub fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut found = Vec::new();
    let (mut at, mut line, mut depth) = (0, 1, 0_usize);
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let first = rest.chars().next().unwrap_or_default();
        let (length, sort) = if first == '\n' {
            (1, (depth == 0).then_some(Sort::End))
        } else if rest.starts_with("\\\n") {
            (2, None)
        } else if first.is_whitespace() {
            (first.len_utf8(), None)
        } else if first == '#' {
            (rest.find('\n').unwrap_or(rest.len()), None)
        } else if let Some(length) = text_length(rest) {
            (length, Some(Sort::Text))
        } else if first.is_ascii_digit() {
            (number_length(rest), Some(Sort::Number))
        } else if is_of_name(first) {
            (rest.find(|c| !is_of_name(c)).unwrap_or(rest.len()), Some(Sort::Name))
        } else {
            let long = MARKS.iter().find(|mark| rest.starts_with(**mark)).map(|mark| mark.len());
            let sort = if first == ';' { Sort::End } else { Sort::Mark };
            (long.unwrap_or(first.len_utf8()), Some(sort))
        };
        let word = rest.get(..length).unwrap_or(rest);
        if [")", "]", "}"].contains(&word) {
            depth = depth.saturating_sub(1);
        }
        if let Some(sort) = sort {
            found.push(Token { text: word, sort, start: at, line, depth });
        }
        if ["(", "[", "{"].contains(&word) {
            depth += 1;
        }
        line += word.matches('\n').count();
        at += word.len();
    }
    found
}

fn is_of_name(c: char) -> bool {
    c == '_' || c.is_alphanumeric()
}

/// Returns the length of the text that begins here, if one does.
fn text_length(rest: &str) -> Option<usize> {
    // No further than a prefix is long: looking through all that follows, at each word, takes forever in a long text.
    let prefix = rest.bytes().take(3).position(|byte| matches!(byte, b'"' | b'\''))?;
    if !rest.get(..prefix)?.bytes().all(|byte| b"rRbBuUfF".contains(&byte)) {
        return None;
    }
    let body = rest.get(prefix..)?;
    let quote = body.get(..1)?;
    let triple = quote.repeat(3);
    let mark = if body.starts_with(&triple) { triple.as_str() } else { quote };
    let mut at = mark.len();
    while let Some(left) = body.get(at..).filter(|left| !left.is_empty()) {
        if left.starts_with(mark) {
            return Some(prefix + at + mark.len());
        }
        let first = left.chars().next().unwrap_or_default();
        if first == '\n' && mark.len() == 1 {
            break;
        }
        at += first.len_utf8();
        if first == '\\' {
            at += left.chars().nth(1).map_or(0, char::len_utf8);
        }
    }
    // It has no end, which is an error of the source.
    Some(prefix + at.min(body.len()))
}

fn number_length(rest: &str) -> usize {
    let mut before = ' ';
    let is_in = |c: char| {
        let is_sign = (c == '+' || c == '-') && matches!(before, 'e' | 'E') && !rest.starts_with("0x");
        before = c;
        is_sign || c == '.' || is_of_name(c)
    };
    rest.find({
        let mut is_in = is_in;
        move |c| !is_in(c)
    })
    .unwrap_or(rest.len())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn words_are_those_of_python() {
        let text = "x = a<=b  # <\nif not f'{\"a\"}' and r\"\\\" != 1e-5:\n    return [1,\n 0x1F+2]; y **= '''a\n< b'''\n";
        let found: Vec<String> = tokens(text)
            .iter()
            .map(|token| if token.sort == Sort::End { "END".to_owned() } else { token.text.to_owned() })
            .collect();
        let expected =
            ["x", "=", "a", "<=", "b", "END", "if", "not", "f'{\"a\"}'", "and", "r\"\\\" != 1e-5:"];
        // A raw text does not end at a quotation mark behind a backslash, in Python either.
        assert_eq!(found.iter().take(expected.len()).map(String::as_str).collect::<Vec<_>>(), expected);
        let rest =
            ["END", "return", "[", "1", ",", "0x1F", "+", "2", "]", "END", "y", "**=", "'''a\n< b'''", "END"];
        assert_eq!(found.iter().skip(expected.len()).map(String::as_str).collect::<Vec<_>>(), rest);
    }

    #[test]
    fn lines_and_brackets_are_counted() {
        let found = tokens("f(1,\n  [2])\n'''\n\n'''\nx");
        let two = found.iter().find(|token| token.text == "2").unwrap();
        assert_eq!((two.line, two.depth), (2, 2));
        let last = found.last().unwrap();
        assert_eq!((last.text, last.line, last.depth), ("x", 6, 0));
    }

    #[test]
    fn a_long_text_takes_time_by_its_length() {
        let began = std::time::Instant::now();
        assert_eq!(tokens(&"1+".repeat(1 << 20)).len(), 1 << 21);
        assert!(began.elapsed() < std::time::Duration::from_secs(30), "{:?}", began.elapsed());
    }

    proptest! {
        /// Words lie in their text, in order, and do not overlap, whatever the text.
        #[test]
        fn any_text_has_words(text in "[ a-c'\"#\\\\\n()<>=!+*;.0-9e\\-é{}rf]{0,60}") {
            let mut end = 0;
            for token in tokens(&text) {
                prop_assert!(token.start >= end && !token.text.is_empty());
                prop_assert_eq!(text.get(token.start..token.end()), Some(token.text));
                prop_assert_eq!(token.line, 1 + text[..token.start].matches('\n').count());
                end = token.end();
            }
        }
    }
}
