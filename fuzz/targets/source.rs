//! Any bytes are cut into items in the layout that the first byte chooses, the same items however the bytes arrive.

use std::io::{BufRead, BufReader};

use karat_evidence::source::{Layout, Source};
use karat_reader::FactType;

/// Small, so that items beyond it are found, too.
const MAX_ITEM_BYTES: usize = 1 << 10;

/// An item with its line; or whether the source goes on after what is wrong, and what that is.
type Cut = Result<(u64, Vec<u8>), (bool, String)>;

/// Panics if an input breaks the promise.
pub fn check(bytes: &[u8]) {
    let Some((&choice, text)) = bytes.split_first() else { return };
    let layout = match choice % 3 {
        0 => Layout::Auto,
        1 => Layout::JsonLines,
        _ => Layout::Csv,
    };
    let whole = cut(text, layout, text.len());
    let pieces = cut(BufReader::with_capacity(1 + usize::from(choice) / 3, text), layout, text.len());
    assert_eq!(whole, pieces);
}

fn cut(input: impl BufRead, layout: Layout, input_bytes: usize) -> Vec<Cut> {
    let wanted = [("minutes".to_owned(), FactType::Number), ("reviewed".to_owned(), FactType::Boolean)];
    let mut source = Source::new(input, layout, &wanted, MAX_ITEM_BYTES);
    let mut found: Vec<Cut> = Vec::new();
    let mut is_over = false;
    while let Some(item) = source.next_item() {
        assert!(!is_over, "goes on after its end");
        assert!(found.len() <= input_bytes, "more items than bytes");
        found.push(match item {
            Ok(item) => {
                assert!(
                    layout == Layout::Csv || item.bytes.len() <= MAX_ITEM_BYTES,
                    "an item beyond the limit"
                );
                Ok((item.line, item.bytes.to_vec()))
            }
            Err(error) => {
                is_over = !error.resumable;
                Err((error.resumable, error.to_string()))
            }
        });
    }
    found
}
