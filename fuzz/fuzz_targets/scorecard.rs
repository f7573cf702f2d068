//! Any text is a scorecard or is refused with findings whose places lie inside the text.
#![no_main]

use karat_core::{Scorecard, check, diagnostic::Diagnostic};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = core::str::from_utf8(bytes) else { return };
    match Scorecard::parse(text) {
        Ok(card) => places_lie_inside(text, &check::check(&card)),
        Err(findings) => {
            assert!(!findings.is_empty(), "refused without a finding");
            places_lie_inside(text, &findings);
        }
    }
});

/// Whoever shows a finding cuts the text at its place.
fn places_lie_inside(text: &str, findings: &[Diagnostic]) {
    for finding in findings {
        assert!(text.get(finding.span.clone()).is_some(), "{finding:?} points outside of the text");
    }
}
