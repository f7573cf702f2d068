//! Packed logs, and marks and words that some programs put into JSON.

use std::io::Write as _;

use proptest::prelude::*;

use super::{read, refused};
use crate::bytes::json_text;
use crate::json::{self, Wanted};

const REPORT: &str = r#"<testsuite name="unit"><testcase name="adds" time="0.5"/></testsuite>"#;

pub fn zstandard(bytes: &[u8]) -> Vec<u8> {
    ruzstd::encoding::compress_to_vec(bytes, ruzstd::encoding::CompressionLevel::Fastest)
}

pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn a_packed_log_is_the_log() {
    let whole = REPORT.as_bytes();
    let (first, second) = whole.split_at(20);
    // A frame that is to be skipped, and no frame for nothing.
    let skipped = [0x50, 0x2a, 0x4d, 0x18, 2, 0, 0, 0, 7, 7];
    for (name, bytes) in [
        ("bot.xml", whole.to_vec()),
        ("bot.xml.gz", gzip(whole)),
        ("bot.xml.gz", [gzip(first), gzip(second)].concat()),
        ("bot.xml.zst", zstandard(whole)),
        ("bot.xml.zst", [&skipped[..], &zstandard(first), &skipped, &zstandard(second)].concat()),
    ] {
        let (_, items, _) = read(name, &bytes);
        assert_eq!((&items[0]["subject"], &items[0]["solved"]), (&"bot".into(), &1.into()), "{name}");
    }
}

#[test]
fn a_packed_log_that_is_cut_off_or_changed_is_refused() {
    for (name, packed) in [("a.xml.gz", gzip(REPORT.as_bytes())), ("a.xml.zst", zstandard(REPORT.as_bytes()))]
    {
        for end in 1..packed.len() {
            let error = refused(name, &packed[..end]);
            assert!(error.starts_with(name) || error == "no known format", "{end}: {error}");
        }
    }
    let mut changed = gzip(REPORT.as_bytes());
    let at = changed.len() - 6;
    changed[at] ^= 1;
    assert!(refused("a.xml.gz", &changed).contains("found "));
}

/// Reads a text through readers that hand on few bytes at a time.
fn mended(text: &[u8], step: usize) -> Result<serde_json::Value, String> {
    struct Slow<'a>(&'a [u8], usize);
    impl std::io::Read for Slow<'_> {
        fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
            let most = into.len().min(self.1);
            self.0.read(&mut into[..most])
        }
    }
    // A vector that grows and a static text: the reader keeps both.
    let bytes = text.to_vec();
    let text = json_text(Slow(&bytes, step)).map_err(|error| error.to_string())?;
    let read = json::read(text, &Wanted::of(&[("", ".")]), &mut |_| Ok(()));
    let members = read.map_err(|stop| format!("{stop:?}"))?;
    Ok(members.get("").cloned().unwrap_or_default())
}

#[test]
fn words_that_json_does_not_have_become_empty_texts() {
    let text = br#"{"a": NaN, "b": [-Infinity, Infinity, -1, -NaN], "c": "NaN \" Infinity \\", "d": -2}"#;
    for step in 1..40 {
        assert_eq!(
            mended(text, step).unwrap(),
            serde_json::json!({"a": "", "b": ["", "", -1, ""], "c": "NaN \" Infinity \\", "d": -2}),
            "{step}"
        );
    }
    assert_eq!(mended(b"\xef\xbb\xbf{}", 1).unwrap(), serde_json::json!({}));
    assert!(mended(b"[Nan]", 1).unwrap_err().contains("expected ident"));
    assert!(mended(b"\xff\xfe{\0", 1).unwrap_err().contains("UTF-16"));
}

proptest! {
    #[test]
    fn json_is_read_as_it_is(texts in prop::collection::vec(".{0,12}", 0..6), numbers in prop::collection::vec(-1e9..1e9f64, 0..6), step in 1usize..50) {
        let value = serde_json::json!({"texts": texts, "numbers": numbers, "none": null, "flag": true});
        let text = serde_json::to_string(&value).unwrap();
        prop_assert_eq!(mended(text.as_bytes(), step).unwrap(), value);
    }
}
