//! The canonical form of a scorecard file and its digest: canonical JSON of everything the file says, with formulas printed
//! in one form. Comments, white space, key order and the way a number is written do not count.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use toml::de::{DeTable, DeValue};

use super::fields::number_text;
use crate::facts::Digest;
use crate::formula::parse;
use crate::json::{write_number, write_string};

/// Returns the digest of a card; that of a challenge covers its base as well.
pub(super) fn digest(table: &DeTable<'_>, base: Option<Digest>) -> Digest {
    let mut out = Vec::with_capacity(4096);
    if let Some(base) = base {
        write_string(&mut out, &base.to_string());
    }
    write_table(&mut out, table, false);
    Digest::of(&out)
}

/// Returns everything that a scorecard file says as canonical JSON, with formulas printed in one form.
///
/// # Errors
/// If the text is not TOML.
pub fn canonical_json(text: &str) -> Result<Vec<u8>, String> {
    let table = DeTable::parse(text).map_err(|error| String::from(error.message()))?;
    let mut out = Vec::with_capacity(text.len());
    write_table(&mut out, table.get_ref(), false);
    Ok(out)
}

/// Returns the fields of a file with these names, as one JSON object in canonical form.
pub(super) fn parts(table: &DeTable<'_>, names: &[&str]) -> String {
    let mut out = Vec::new();
    let chosen = table.iter().filter(|(key, _)| names.contains(&key.get_ref().as_ref()));
    write_entries(&mut out, chosen.map(|(key, value)| (key.get_ref().as_ref(), value.get_ref())), false);
    // What was written are texts and ASCII, so it is UTF-8.
    String::from_utf8(out).unwrap_or_default()
}

/// Fields that hold formulas, in any table.
const FORMULAS: &[&str] = &["formula", "when", "applies", "set"];

fn write_table(out: &mut Vec<u8>, table: &DeTable<'_>, formulas: bool) {
    write_entries(out, table.iter().map(|(key, value)| (key.get_ref().as_ref(), value.get_ref())), formulas);
}

fn write_entries<'t>(
    out: &mut Vec<u8>,
    entries: impl Iterator<Item = (&'t str, &'t DeValue<'t>)>,
    formulas: bool,
) {
    let mut entries: Vec<_> = entries.collect();
    entries.sort_by(|a, b| a.0.encode_utf16().cmp(b.0.encode_utf16()));
    out.push(b'{');
    for (place, (key, value)) in entries.into_iter().enumerate() {
        if place > 0 {
            out.push(b',');
        }
        write_string(out, key);
        out.push(b':');
        write_value(out, value, formulas || FORMULAS.contains(&key), key == "let");
    }
    out.push(b'}');
}

fn write_value(out: &mut Vec<u8>, value: &DeValue<'_>, formula: bool, formulas_below: bool) {
    match value {
        DeValue::String(text) => match parse(text) {
            Ok(expr) if formula => write_string(out, &expr.to_string()),
            _ => write_string(out, text),
        },
        DeValue::Boolean(flag) => out.extend_from_slice(if *flag { b"true" } else { b"false" }),
        DeValue::Integer(_) | DeValue::Float(_) => {
            match number_text(value).and_then(|text| text.parse::<f64>().ok()) {
                Some(number) if number.is_finite() => write_number(out, number),
                _ => out.extend_from_slice(b"null"),
            }
        }
        DeValue::Datetime(moment) => write_string(out, &moment.to_string()),
        DeValue::Table(table) => write_table(out, table, formulas_below),
        DeValue::Array(list) => {
            out.push(b'[');
            for (place, element) in list.iter().enumerate() {
                if place > 0 {
                    out.push(b',');
                }
                write_value(out, element.get_ref(), formula, false);
            }
            out.push(b']');
        }
    }
}
