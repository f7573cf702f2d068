//! Any bytes are a log of another tool in one of its formats, or are refused; the items of a log are evidence that karat reads.
#![no_main]

use std::ops::ControlFlow;

use karat_evidence::import::{Format, Input, Options, detect, import};
use karat_evidence::{FactType, Kind, Reader, ReaderOptions};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Some((first, rest)) = bytes.split_first() else { return };
    let input = Input::memory("log", rest);
    let found = detect(&input).ok().flatten();
    let chosen = Format::ALL.get(usize::from(*first) % (Format::ALL.len() + 1)).copied();
    let Some(format) = chosen.or(found) else { return };
    if format.is_matches() {
        let _ = import(&input, format, &Options::default(), &mut |_| ControlFlow::Continue(()));
        return;
    }
    let wanted = ["solved", "cost_usd", "seconds", "tokens"].map(|name| (name.to_owned(), FactType::Number));
    let mut reader = Reader::new(Kind::Facts, &wanted, ReaderOptions::default()).expect("any facts");
    let mut count = 0;
    let read = import(&input, format, &Options::default(), &mut |item| {
        count += 1;
        let text = String::from_utf8_lossy(item.json);
        if let Err(problems) = reader.read(item.json) {
            panic!("{format}: {text}: {problems}");
        }
        ControlFlow::Continue(())
    });
    if let Ok(summary) = read {
        assert_eq!(summary.items, count);
    }
});
