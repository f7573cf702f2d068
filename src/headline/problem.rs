//! The headline of a request that a server refuses: which field, what it must be and what it is.

use super::{capital, sentence};

/// The longest finding, in characters.
const LONG: usize = 160;

/// The words of a page about a problem.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told {
    /// The finding: a sentence without its full stop.
    pub finding: String,
    /// Whole sentences below it.
    pub lead: String,
    /// The field of the query that is to be corrected.
    pub field: Option<String>,
    /// True if it can only be left out.
    pub is_unknown: bool,
}

/// Says what is wrong with a request: which field, what it must be and what it is.
pub fn problem(title: &str, detail: &str, field: Option<&str>) -> Told {
    // How a program gives its key is nothing that a person can type.
    let (detail, _) = detail.split_once("`Authorization").unwrap_or((detail, ""));
    let detail = detail.trim_end_matches("expected ").trim_end_matches(": ");
    let is_name = |name: &&str| {
        !name.is_empty() && name.bytes().all(|it| b"._-".contains(&it) || it.is_ascii_alphanumeric())
    };
    let field = field.map(|field| field.trim_start_matches("$."));
    let field = field.filter(|field| !matches!(*field, "query" | "path"));
    let (field, detail) = match detail.split_once(": ").filter(|(name, _)| field.is_none() && is_name(name)) {
        Some((name, rest)) => (Some(name), rest),
        None => (field, detail),
    };
    let (first, rest) = detail.split_once("; ").unwrap_or((detail, ""));
    // Where a program finds what there is; the page has a link to it.
    let rest = if rest.starts_with("GET /v1/") { "" } else { rest };
    let told = |finding: String, lead: &[&str]| {
        let lead: Vec<String> =
            lead.iter().filter(|it| !it.is_empty()).map(|it| sentence(&capital(it))).collect();
        let field = field.map(str::to_owned);
        Told { finding, lead: lead.join(" "), field, is_unknown: false }
    };
    if let Some((unknown, known)) = first.strip_prefix("unknown field `").and_then(|it| it.split_once('`')) {
        let known = known.trim_start_matches(", expected ").trim_start_matches("one of ");
        let known = match known {
            ", there are no fields" => String::from("this page takes none"),
            known => format!("it takes {known}"),
        };
        let field = Some(unknown.to_owned());
        return Told {
            field,
            is_unknown: true,
            ..told(format!("This page takes no `{unknown}`"), &[&known, rest])
        };
    }
    let found = first.strip_prefix("found ").and_then(|it| it.split_once(", expected "));
    match (field, found) {
        (Some(field), Some((found, expected))) => {
            told(format!("`{field}` must be {expected}"), &[&format!("it is {found}"), rest])
        }
        (Some(field), None)
            if first.starts_with("invalid digit") || first.starts_with("cannot parse integer") =>
        {
            told(format!("`{field}` must be a whole number"), &[rest])
        }
        _ if first.chars().count() > LONG => told(title.to_owned(), &[detail]),
        (Some(field), None) if !first.contains(field) => told(format!("`{field}`: {first}"), &[rest]),
        _ => told(capital(first), &[rest]),
    }
}
