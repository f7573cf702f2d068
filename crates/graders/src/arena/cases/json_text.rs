//! JSON in a text, whose integers are exact or refused.

use serde_json::Value;

/// Reads a JSON text.
///
/// # Errors
///
/// If it is not JSON, or has an integer of more than 64 bits: what was found, and what was expected.
pub(super) fn parse(text: &str) -> Result<Value, (String, &'static str)> {
    let value = serde_json::from_str(text).map_err(|error| (error.to_string(), "JSON"))?;
    match integers(text).find(|digits| digits.parse::<i64>().is_err() && digits.parse::<u64>().is_err()) {
        Some(digits) => Err((format!("the integer `{digits}`"), "an integer of 64 bits, or a text")),
        None => Ok(value),
    }
}

/// Returns the integers of a text which is JSON, outside of its strings.
fn integers(text: &str) -> impl Iterator<Item = &str> {
    let (mut is_string, mut is_escaped) = (false, false);
    let numbers = text.split(move |c: char| {
        if is_string {
            is_string = is_escaped || c != '"';
            is_escaped = !is_escaped && c == '\\';
            return true;
        }
        is_string = c == '"';
        !matches!(c, '0'..='9' | '-' | '+' | '.' | 'e' | 'E')
    });
    // The letters of `true`, `false` and `null` leave an `e` behind.
    numbers.filter(|part| part.contains(|c: char| c.is_ascii_digit()) && !part.contains(['.', 'e', 'E']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_exact_or_refused() {
        for exact in ["9007199254740993", "-9223372036854775808", "18446744073709551615"] {
            assert_eq!(parse(exact).unwrap().to_string(), exact);
        }
        for refused in
            ["18446744073709551616", "[1, {\"a\": -9223372036854775809}]", "[true, 100000000000000000000]"]
        {
            assert!(parse(refused).unwrap_err().0.starts_with("the integer"), "{refused}");
        }
        for other in
            ["1e30", "\"99999999999999999999999\"", "\"\\\"99999999999999999999999\"", "[false,null,1.5]"]
        {
            assert!(parse(other).is_ok(), "{other}");
        }
        assert!(parse("[1,").is_err());
    }
}
