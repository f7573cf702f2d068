//! The input of a case, taken apart with messages that name the place.

use std::fmt;

use karat_core::number::Decimal;
use serde_json::{Map, Value};

/// Digits of a fraction that is kept exactly: as many as the engine can still publish.
const DIGITS: usize = 30;

/// A value of the input and its path.
#[derive(Debug, Clone)]
pub struct Given<'a> {
    value: &'a Value,
    path: String,
}

/// The value of an absent member.
static ABSENT: Value = Value::Null;

impl<'a> Given<'a> {
    /// Returns the input itself.
    pub fn new(input: &'a Value) -> Self {
        Self { value: input, path: String::from("input") }
    }

    /// Returns the value.
    pub fn value(&self) -> &'a Value {
        self.value
    }

    /// Returns true for `null` and for an absent value.
    pub fn is_null(&self) -> bool {
        self.value.is_null()
    }

    /// Returns a member of an object; `null` if it is absent.
    pub fn member(&self, name: &str) -> Result<Self, String> {
        let value = self.object()?.get(name).unwrap_or(&ABSENT);
        Ok(Self { value, path: format!("{}.{name}", self.path) })
    }

    /// Returns the members of an object.
    pub fn members(&self) -> Result<Vec<(&'a str, Self)>, String> {
        let place = |(name, value): (&'a String, &'a Value)| {
            (name.as_str(), Self { value, path: format!("{}.{}", self.path, name) })
        };
        Ok(self.object()?.iter().map(place).collect())
    }

    fn object(&self) -> Result<&'a Map<String, Value>, String> {
        self.value.as_object().ok_or_else(|| self.expected("an object"))
    }

    /// Returns the elements of an array.
    pub fn elements(&self) -> Result<Vec<Self>, String> {
        let elements = self.value.as_array().ok_or_else(|| self.expected("an array"))?;
        let place = |(at, value)| Self { value, path: format!("{}[{at}]", self.path) };
        Ok(elements.iter().enumerate().map(place).collect())
    }

    /// Returns a text.
    pub fn text(&self) -> Result<&'a str, String> {
        self.value.as_str().ok_or_else(|| self.expected("a text"))
    }

    /// Returns a text, if there is one.
    pub fn optional_text(&self) -> Result<Option<String>, String> {
        if self.is_null() { Ok(None) } else { self.text().map(|text| Some(text.to_owned())) }
    }

    /// Returns a number, if there is one; a text that is a decimal is one too.
    pub fn optional_number(&self) -> Result<Option<f64>, String> {
        match self.value {
            Value::Null => Ok(None),
            Value::Number(number) => Ok(number.as_f64()),
            Value::String(text) => match crate::compare::number(text) {
                Some(number) => Ok(Some(number)),
                None => Err(self.expected("a number")),
            },
            _ => Err(self.expected("a number")),
        }
    }

    /// Returns a number.
    pub fn number(&self) -> Result<f64, String> {
        self.optional_number()?.ok_or_else(|| self.expected("a number"))
    }

    /// Returns a whole number.
    pub fn whole(&self) -> Result<i64, String> {
        self.value.as_i64().ok_or_else(|| self.expected("a whole number"))
    }

    /// Returns a whole number from 0 on.
    pub fn count<T: TryFrom<u64>>(&self) -> Result<T, String> {
        let count = self.value.as_u64().and_then(|count| T::try_from(count).ok());
        count.ok_or_else(|| self.expected("a whole number not below 0"))
    }

    /// Returns a condition.
    pub fn flag(&self) -> Result<bool, String> {
        self.value.as_bool().ok_or_else(|| self.expected("`true` or `false`"))
    }

    /// Returns a list of texts.
    pub fn texts(&self) -> Result<Vec<String>, String> {
        self.elements()?.iter().map(|text| text.text().map(str::to_owned)).collect()
    }

    /// Returns the digits of a number, given as a number or as a text.
    fn digits(&self) -> Result<String, String> {
        match self.value {
            Value::Number(number) => Ok(number.to_string()),
            Value::String(text) => Ok(text.clone()),
            _ => Err(self.expected("a number")),
        }
    }

    /// Returns a weight as a program writes it: rounded to six decimals if it has more, as scorecard files are read.
    pub fn weight(&self) -> Result<Decimal, String> {
        let (weight, _) = Decimal::parse(&self.digits()?).map_err(|_| self.expected("a number"))?;
        Ok(weight)
    }

    /// Returns a weight that must be exact.
    pub fn exact_weight(&self) -> Result<Decimal, String> {
        match Decimal::parse(&self.digits()?) {
            Ok((weight, true)) => Ok(weight),
            Ok((_, false)) => Err(self.expected("a number of at most six decimals")),
            Err(_) => Err(self.expected("a number")),
        }
    }

    /// Returns weights by dimension, in the order of the names.
    pub fn exact_weights(&self) -> Result<Vec<(String, Decimal)>, String> {
        let read = |(name, weight): (&str, Self)| Ok((name.to_owned(), weight.exact_weight()?));
        self.members()?.into_iter().map(read).collect()
    }

    /// Returns an exact number from 0 on, as numerator and denominator: `0.75`, `"0.75"` or `"3/4"`.
    pub fn fraction(&self) -> Result<(i128, i128), String> {
        fraction(&self.digits()?).ok_or_else(|| {
            self.expected(format!("a number not below 0, as a decimal or p/q of at most {DIGITS} digits"))
        })
    }

    /// Returns the message that something else was expected here.
    pub fn expected(&self, expected: impl fmt::Display) -> String {
        if self.is_null() {
            return format!("`{}` is not given, expected {expected}", self.path);
        }
        let found = crate::report::short(self.value);
        format!("`{}` is `{found}`, expected {expected}", self.path)
    }
}

fn fraction(text: &str) -> Option<(i128, i128)> {
    let whole = |digits: &str| -> Option<i128> {
        let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        if is_number { digits.parse().ok() } else { None }
    };
    let power = |places: usize| if places <= DIGITS { 10i128.checked_pow(places as u32) } else { None };
    let (numerator, denominator) = if let Some((numerator, denominator)) = text.split_once('/') {
        (whole(numerator)?, whole(denominator)?)
    } else {
        let (digits, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let exponent: i32 = exponent.parse().ok()?;
        let (units, decimals) = digits.split_once('.').unwrap_or((digits, ""));
        if units.is_empty() || decimals.is_empty() == digits.contains('.') {
            return None;
        }
        let (mantissa, scale) = (whole(&format!("{units}{decimals}"))?, power(decimals.len())?);
        let shift = power(exponent.unsigned_abs() as usize)?;
        if exponent < 0 {
            (mantissa, scale.checked_mul(shift)?)
        } else {
            (mantissa.checked_mul(shift)?, scale)
        }
    };
    let limit = power(DIGITS)?;
    (denominator > 0 && numerator <= limit && denominator <= limit).then_some((numerator, denominator))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn fractions_are_exact() {
        assert_eq!(fraction("3/4"), Some((3, 4)));
        assert_eq!(fraction("0.75"), Some((75, 100)));
        assert_eq!(fraction("699.999"), Some((699_999, 1000)));
        assert_eq!(fraction("1e-7"), Some((1, 10_000_000)));
        assert_eq!(fraction("2.5e1"), Some((250, 10)));
        assert_eq!(fraction("1000"), Some((1000, 1)));
        for bad in ["", "-1", "1/0", "1/-2", "a", "1.", ".5", "1e", "1/2/3", "nan", &"9".repeat(40), "1e-99"]
        {
            assert_eq!(fraction(bad), None, "{bad}");
        }
    }

    #[test]
    fn what_is_wrong_names_its_place() {
        let input = json!({"list": [1, "x"], "weight": 0.123_456_7});
        let given = Given::new(&input);
        let list = given.member("list").unwrap().elements().unwrap();
        assert_eq!(list[0].number(), Ok(1.0));
        assert_eq!(list[1].number().unwrap_err(), "`input.list[1]` is `\"x\"`, expected a number");
        assert_eq!(
            given.member("gone").unwrap().number().unwrap_err(),
            "`input.gone` is not given, expected a number"
        );
        let weight = given.member("weight").unwrap();
        assert_eq!(weight.weight().unwrap().to_string(), "0.123457");
        assert!(weight.exact_weight().unwrap_err().ends_with("at most six decimals"));
    }
}
