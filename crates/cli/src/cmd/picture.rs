//! `--picture FILE`: a picture of an answer, for sharing.

use karat::document::Document;
use karat::headline::day;
use karat::write::picture::Picture;
use karat_core::timestamp::Timestamp;

use crate::args::PictureArgs;
use karat_terminal::failure::Failure;
use karat_terminal::output::replace_own;

/// The first bytes of a PNG, and of an SVG of karat.
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n";
const SVG: &[u8] = b"<svg ";

/// Writes the picture, if one is wanted; `newest` is the time of the newest item.
pub fn save(args: &PictureArgs, document: &Document, newest: Option<Timestamp>) -> Result<(), Failure> {
    let Some(path) = &args.picture else { return Ok(()) };
    let newest = newest.map(|time| day(&time.to_string()));
    let picture = Picture::of(document, newest.as_deref());
    let ending = path.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase());
    match ending.as_deref() {
        Some("svg") => replace_own(path, picture.svg().as_bytes(), SVG, "a picture"),
        Some("png") => {
            let png = picture.png().ok_or_else(|| Failure::new("there is no memory for a picture"))?;
            replace_own(path, &png, PNG, "a picture")
        }
        _ => Err(Failure::new(format!("`--picture {path}`: expected a name that ends in .png or .svg"))),
    }
}
