//! All that verification of one record takes, in one file: unpacked, one command checks it without this server.

use axum::http::header::CONTENT_DISPOSITION;

use crate::api::bytes;
use crate::prelude::*;
use crate::record::{Files, RecordData};

/// Returns the archive of a record.
pub async fn show(Get(app, _): Get, Named(wanted): Named<String>) -> Answer {
    let shared = Arc::clone(&app);
    let read = move |reader: &mut Reader| {
        let kept = RecordData::read(&shared, reader, &wanted)?;
        let is_released = kept.pool(&shared)?.card.is_released();
        Ok((kept.item.position, is_released, Files::of(&shared, reader, &kept)?))
    };
    let (position, is_released, files) = app.read(read).await?;
    let zipped = move || files.zipped(&files.readme(is_released)).map_err(|error| Problem::internal(&error));
    let packed = app.checked(zipped).await?;
    Ok(attached("application/zip", &format!("karat-record-{position}.zip"), packed))
}

/// Answers with a file that a browser saves.
pub(crate) fn attached(media_type: &'static str, name: &str, content: Vec<u8>) -> Response<Body> {
    let mut response = bytes(StatusCode::OK, media_type, content);
    if let Ok(disposition) = HeaderValue::from_str(&format!("attachment; filename=\"{name}\"")) {
        response.headers_mut().insert(CONTENT_DISPOSITION, disposition);
    }
    response
}
