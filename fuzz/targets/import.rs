//! Any bytes are a log of another tool in one of its formats, or are refused; the items of a log are evidence that karat reads.

use std::ops::ControlFlow;

use karat_importers::requests::{Encoding, put_together, take_apart};
use karat_importers::{IMPORTERS, Importer, Input, Items, OTLP, Options, detect, import};
use karat_reader::{FactType, Kind, Reader, ReaderOptions};

/// Panics if an input breaks the promise.
pub fn check(bytes: &[u8]) {
    let Some((first, rest)) = bytes.split_first() else { return };
    let input = Input::memory("log", rest);
    let found = detect(&input).ok().flatten();
    let chosen = IMPORTERS.get(usize::from(*first & 0x7f) % (IMPORTERS.len() + 1)).copied();
    let Some(format) = chosen.or(found) else { return };
    if format.is_matches() {
        let _ = import(&input, format, &Options::default(), &mut |_| ControlFlow::Continue(()));
        return;
    }
    if *format == OTLP {
        for encoding in [Encoding::Json, Encoding::Protobuf] {
            let Ok(Some(taken)) = take_apart(rest, encoding, 1 << 20) else { continue };
            for part in taken.parts {
                let again = put_together([part.text.as_slice(), &part.text]).expect("what was taken apart");
                assert_eq!(again, part.text);
            }
        }
    }
    if *first >= 0x80 && format.has_traces {
        traces(&input, format);
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
}

fn traces(input: &Input, format: &'static Importer) {
    let wanted = [("step_count".to_owned(), FactType::Number), ("success".to_owned(), FactType::Boolean)];
    let mut reader =
        Reader::new(Kind::ReasoningTrace, &wanted, ReaderOptions::default()).expect("facts of traces");
    let options = Options { items: Items::Traces, ..Options::default() };
    let _ = import(input, format, &options, &mut |item| {
        if let Err(problems) = reader.read(item.json) {
            panic!("{format}: {}: {problems}", String::from_utf8_lossy(item.json));
        }
        ControlFlow::Continue(())
    });
}
