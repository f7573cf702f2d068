//! What a form sends: names and values, as browsers write them.

use std::collections::BTreeMap;

use axum::body::Body;
use axum::http::HeaderMap;

use crate::body::{Incoming, expect_media};
use crate::problem::Problem;
use crate::state::App;

/// The largest form, in bytes.
const BYTES_MAX: usize = 64 << 10;

/// The fields of a form; of a name that stands there twice the last value.
///
/// # Errors
/// That it is no form, too large or too slow.
pub async fn read(app: &App, headers: &HeaderMap, body: Body) -> Result<BTreeMap<String, String>, Problem> {
    expect_media(headers, &["application/x-www-form-urlencoded"])?;
    let bytes = Incoming::new(headers, body, BYTES_MAX, app.options.body_timeout)?.whole().await?;
    Ok(form_urlencoded::parse(&bytes).into_owned().collect())
}

/// What a field of a query says; nothing where it was left empty.
pub fn given(text: Option<&str>) -> Option<&str> {
    text.map(str::trim).filter(|text| !text.is_empty())
}

/// A moment of a field: in full, or a day as browsers write it, which means its beginning.
///
/// # Errors
/// That it is neither.
pub fn moment(name: &str, text: Option<&str>) -> Result<Option<String>, Problem> {
    let Some(text) = given(text) else { return Ok(None) };
    let full = if text.len() == 10 { format!("{text}T00:00:00Z") } else { text.to_owned() };
    crate::params::moment(name, Some(&full)).map(|_| Some(full))
}
