//! Formula text to tokens.

use core::ops::Range;

use super::parser::FormulaError;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Token<'a> {
    Number(f64),
    Name(&'a str),
    /// One of `+ - * / ( ) , < <= > >= == !=`.
    Sign(&'a str),
    End,
}

pub(super) struct Lexer<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    /// Returns the next token and its place.
    pub(super) fn next(&mut self) -> Result<(Token<'a>, Range<usize>), FormulaError> {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
        let rest = self.rest();
        let start = self.at;
        let Some(first) = rest.chars().next() else { return Ok((Token::End, start..start)) };
        let length = if first.is_ascii_digit() {
            number_length(rest)
        } else if first.is_ascii_alphabetic() || first == '_' {
            rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len())
        } else {
            let two = rest.get(..2).filter(|two| ["<=", ">=", "==", "!=", "**", "&&", "||"].contains(two));
            two.map_or(first.len_utf8(), str::len)
        };
        let span = start..start + length;
        let text = self.text.get(span.clone()).unwrap_or_default();
        self.at = span.end;
        let token = if first.is_ascii_digit() {
            let value: f64 = text.parse().map_err(|_| FormulaError::number(text, span.clone()))?;
            if !value.is_finite() {
                return Err(FormulaError::number(text, span));
            }
            Token::Number(value)
        } else if first.is_ascii_alphabetic() || first == '_' {
            Token::Name(text)
        } else if ["+", "-", "*", "/", "(", ")", ",", "<", "<=", ">", ">=", "==", "!="].contains(&text) {
            Token::Sign(text)
        } else {
            return Err(FormulaError::character(text, span));
        };
        Ok((token, span))
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }
}

/// Returns the length of the decimal at the start of `text`: digits, fraction, exponent.
fn number_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let digits = |from: usize| bytes.iter().skip(from).take_while(|byte| byte.is_ascii_digit()).count();
    let mut length = digits(0);
    if bytes.get(length) == Some(&b'.') && digits(length + 1) > 0 {
        length += 1 + digits(length + 1);
    }
    if matches!(bytes.get(length), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(length + 1), Some(b'+' | b'-')));
        let exponent = digits(length + 1 + sign);
        if exponent > 0 {
            length += 1 + sign + exponent;
        }
    }
    length
}
