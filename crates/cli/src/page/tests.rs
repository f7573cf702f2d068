//! What must hold of every page: nothing from outside runs or is fetched, everything can be read by everybody.

use super::document::html;
use super::sample::page;

/// Where scripts/screenshots wants the sample.
#[test]
fn the_sample_can_be_looked_at() {
    let text = html(&page(24, 16));
    if let Ok(path) = std::env::var("KARAT_SAMPLE_PAGE") {
        std::fs::write(path, &text).expect("the sample is written");
    }
    assert_eq!(text, html(&page(24, 16)));
}
