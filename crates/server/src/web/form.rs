//! The fields of a form: names and values, as browsers send them.

use std::collections::BTreeMap;

use karat_core::timestamp::Timestamp;

use crate::body::Arrived;
use crate::params::not_a_timestamp;
use crate::problem::Problem;
use crate::state::App;

/// The largest form, in bytes.
const BYTES_MAX: usize = 64 << 10;

/// Reads the fields of a form; of a name that is given twice, the last value counts.
pub async fn read(app: &App, body: Arrived) -> Result<BTreeMap<String, String>, Problem> {
    let bytes = body.whole(app, &["application/x-www-form-urlencoded"], BYTES_MAX).await?;
    Ok(form_urlencoded::parse(&bytes).into_owned().collect())
}

/// Returns the value of a query field; `None` if it is empty.
pub fn given(text: Option<&str>) -> Option<&str> {
    text.map(str::trim).filter(|text| !text.is_empty())
}

/// Reads the timestamp in a field: in full, or a day as browsers write it, which means its start.
pub fn timestamp(name: &str, text: Option<&str>) -> Result<Option<Timestamp>, Problem> {
    let read = |text| Timestamp::parse_lenient(text).map_err(|error| not_a_timestamp(name, text, error));
    given(text).map(read).transpose()
}
