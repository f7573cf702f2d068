//! Tests of the sources.

use std::io::{BufReader, Read};

use insta::assert_snapshot;

use super::*;

/// A stream that gives a few bytes at a time.
struct Slowly<'a>(&'a [u8], usize);

impl Read for Slowly<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.1.min(buffer.len()).min(self.0.len());
        let (now, later) = self.0.split_at(count);
        buffer[..count].copy_from_slice(now);
        self.0 = later;
        Ok(count)
    }
}

fn cut<R: BufRead>(input: R, layout: Layout, limit: usize) -> Vec<String> {
    let wanted = [("n".to_owned(), FactType::Number), ("b".to_owned(), FactType::Boolean)];
    let mut source = Source::new(input, layout, &wanted, limit);
    let mut found = Vec::new();
    while let Some(item) = source.next_item() {
        found.push(match item {
            Ok(item) => format!("{}: {}", item.line, String::from_utf8_lossy(item.bytes)),
            Err(error) => format!("{} {error}", if error.resumable { "skipped" } else { "fatal" }),
        });
        assert!(found.len() < 1000, "the source does not end");
    }
    assert!(source.next_item().is_none(), "the end is final");
    found
}

/// Returns the items, which must not depend on how the bytes arrive.
fn items(text: &str, layout: Layout, limit: usize) -> String {
    let whole = cut(text.as_bytes(), layout, limit);
    for chunk in [1, 3] {
        let slow = BufReader::with_capacity(chunk, Slowly(text.as_bytes(), chunk));
        assert_eq!(cut(slow, layout, limit), whole, "in chunks of {chunk}");
    }
    whole.join("\n")
}

fn auto(text: &str) -> String {
    items(text, Layout::Auto, 100)
}

#[test]
fn json_lines() {
    assert_eq!(auto("{\"a\":1}\n{\"a\":2}\n"), "1: {\"a\":1}\n2: {\"a\":2}");
    assert_eq!(
        auto("\u{feff}\r\n {\"a\":1} \r\n\r\n\t\n{\"a\":\n{\"a\":3}"),
        "2: {\"a\":1}\n5: {\"a\":\n6: {\"a\":3}"
    );
    // A first line that is cut off in the middle of a value does not swallow the others.
    assert_eq!(auto("{\"a\":\"x\n{\"a\":2}\n"), "1: {\"a\":\"x\n2: {\"a\":2}");
    assert_eq!(items("{\n{\"a\":2}\n", Layout::JsonLines, 100), "1: {\n2: {\"a\":2}");
    assert_eq!(items("[1]\n[2]\n", Layout::JsonLines, 100), "1: [1]\n2: [2]");
}

#[test]
fn a_first_line_that_is_cut_off_does_not_make_a_document_of_the_others() {
    for first in ["{", "{\"a\":1,", "{\"a\":[", "{\"a\":[{\"b\":1},"] {
        assert_eq!(auto(&format!("{first}\n{{\"a\":2}}\n")), format!("1: {first}\n2: {{\"a\":2}}"));
        let text = format!("{first}\r\n\r\n {{\"a\":2}} \r\n\n{{\"a\":\n{{\"a\":4}}");
        assert_eq!(auto(&text), format!("1: {first}\n3: {{\"a\":2}}\n5: {{\"a\":\n6: {{\"a\":4}}"));
    }
    // Objects in an array are not separate items, even with a line for each.
    for document in [
        "{\"a\":[\n{\"b\":1},\n{\"b\":2}\n]}", "{\"a\":[\n{\"b\":1}\n,{\"b\":2}\n]}",
        "{\"a\":[\n{\"b\":1}\n]}",
    ] {
        assert_eq!(auto(document), format!("1: {document}"));
    }
}

#[test]
fn documents_over_many_lines() {
    assert_eq!(auto("\n{\n \"a\": \"}\\\"\",\n \"b\": [\n]}\n"), "2: {\n \"a\": \"}\\\"\",\n \"b\": [\n]}");
    assert_eq!(auto("{\n\"a\": 1}\n\n{\"b\":\n2}"), "1: {\n\"a\": 1}\n4: {\"b\":\n2}");
    assert_eq!(auto("{\"a\": {\n}}"), "1: {\"a\": {\n}}");
}

#[test]
fn arrays_of_items() {
    assert!(
        auto("[]").starts_with("fatal $: found nothing"),
        "an empty array is no less empty than an empty file"
    );
    assert_eq!(auto("[{\"a\":1},{\"a\":[2]}]\n"), "1: {\"a\":1}\n1: {\"a\":[2]}");
    assert_eq!(
        auto("\n[\n {\"a\":\n1}\n ,\n {\"a\":2}, 3, \"x\", true ]"),
        "3: {\"a\":\n1}\n6: {\"a\":2}\n6: 3\n6: \"x\"\n6: true"
    );
}

#[test]
fn what_cannot_be_cut_is_told() {
    let told: Vec<String> = [
        "", " \n\n", "\u{feff}", "{\n\"a\": 1", "[{\"a\":1}", "[{\"a\":1},", "[{\"a\":1},]", "[,]",
        "[{\"a\":1} {\"a\":2}]", "[{\"a\":1}]\nx", "[{\"a\":1",
    ]
    .iter()
    .map(|text| format!("{text:?}\n{}", auto(text)))
    .collect();
    assert_snapshot!(told.join("\n\n"), @r#"
    ""
    fatal $: found nothing, expected at least one evidence item; the file is empty (line 1)

    " \n\n"
    fatal $: found nothing, expected at least one evidence item; the file is empty (line 1)

    "\u{feff}"
    fatal $: found nothing, expected at least one evidence item; the file is empty (line 1)

    "{\n\"a\": 1"
    fatal $: found the end of the file, expected the rest of the item that begins here; the file is cut off: supply all of it (line 1)

    "[{\"a\":1}"
    1: {"a":1}
    fatal $: found the end of the file, expected `]` at the end of the array; the file is cut off: supply all of it (line 1)

    "[{\"a\":1},"
    1: {"a":1}
    fatal $: found the end of the file, expected `]` at the end of the array; the file is cut off: supply all of it (line 1)

    "[{\"a\":1},]"
    1: {"a":1}
    fatal $: found `]`, expected an item (line 1)

    "[,]"
    fatal $: found `,`, expected an item (line 1)

    "[{\"a\":1} {\"a\":2}]"
    1: {"a":1}
    fatal $: found `{`, expected `,` or `]` between the items of the array (line 1)

    "[{\"a\":1}]\nx"
    1: {"a":1}
    fatal $: found `x`, expected the end of the file after the array (line 2)

    "[{\"a\":1"
    fatal $: found the end of the file, expected the rest of the item that begins here; the file is cut off: supply all of it (line 1)
    "#);
    let mut utf16 = Source::new(&b"\xff\xfe{\0"[..], Layout::Auto, &[], 100);
    assert_snapshot!(utf16.next_item().unwrap().unwrap_err(), @"$: found UTF-16, expected text in UTF-8; save the file as UTF-8 (line 1)");
}

#[test]
fn items_beyond_the_limit_are_passed_over() {
    let long = "x".repeat(50);
    let lines = format!("{{\"a\":1}}\n{{\"a\":\"{long}\"}}\n{{\"a\":3}}\n{{\"a\":\"{long}\"}}");
    assert_snapshot!(items(&lines, Layout::Auto, 20), @r#"
    1: {"a":1}
    skipped $: found an item of more than 20 bytes, expected a shorter item; leave out what is not scored (line 2)
    3: {"a":3}
    skipped $: found an item of more than 20 bytes, expected a shorter item; leave out what is not scored (line 4)
    "#);
    let array = format!("[{{\"a\":1}},\n{{\"a\":\"{long}\"}},\n{{\"a\":3}}]");
    assert_snapshot!(items(&array, Layout::Auto, 20), @r#"
    1: {"a":1}
    skipped $: found an item of more than 20 bytes, expected a shorter item; leave out what is not scored (line 2)
    3: {"a":3}
    "#);
    let first = format!("{{\"a\":\"{long}\"}}\n{{\"a\":2}}\n");
    assert_snapshot!(items(&first, Layout::Auto, 20), @r#"
    skipped $: found an item of more than 20 bytes, expected a shorter item; leave out what is not scored (line 1)
    2: {"a":2}
    "#);
    // The limit is for the item, without the line break and the white space around it.
    assert_eq!(items("{\"a\":12345}\r\n{\"a\":1}\r\n", Layout::Auto, 11), "1: {\"a\":12345}\n2: {\"a\":1}");
    assert!(items("{\"a\":123456}\r\n{\"a\":1}\r\n", Layout::Auto, 11).starts_with("skipped"));
}

#[test]
fn a_long_line_is_not_held_in_memory() {
    let mut source = JsonSource::new(BufReader::new(io::repeat(b'x').take(50_000_000)), true, 1000);
    assert!(source.next_item().unwrap().unwrap_err().resumable);
    assert!(source.next_item().is_none());
    assert!(source.held() <= 4096, "{} bytes", source.held());
}

#[test]
fn rows_of_a_table() {
    let table = "\u{feff}subject,n,b,\"no\"\"te\"\r\nx, 1.50,True,7\r\n\r\ny,,,\r\n\"z\nz\",+2e1,false,\" \"\r\nw,.5,FALSE,\n";
    assert_snapshot!(items(table, Layout::Csv, 100), @r#"
    2: {"subject":"x","n":1.50,"b":true,"no\"te":"7"}
    4: {"subject":"y"}
    5: {"subject":"z\nz","n":2e1,"b":false,"no\"te":" "}
    7: {"subject":"w","n":0.5,"b":false}
    "#);
}

#[test]
fn tables_that_are_none_are_told() {
    let told: Vec<String> = [
        "", "subject,n\n", "subject,n\na\nb,1\nc,1,2\n", "subject,,n\na,1,2\n", "n,m,n\n1,2,3\n",
        "subject\n\"never closed", "subject\n\"closed\"\n\"never\nclosed\n",
    ]
    .iter()
    .map(|text| format!("{text:?}\n{}", items(text, Layout::Csv, 100)))
    .collect();
    assert_snapshot!(told.join("\n\n"), @r#"
    ""
    fatal $: found nothing, expected at least one evidence item; the file is empty (line 1)

    "subject,n\n"
    fatal $: found nothing, expected at least one evidence item; the file has no row but the header (line 1)

    "subject,n\na\nb,1\nc,1,2\n"
    skipped $: found 1 cell in the row, expected 2 cells as in the header; put a text with commas in double quotes (line 2)
    3: {"subject":"b","n":1}
    skipped $: found 3 cells in the row, expected 2 cells as in the header; put a text with commas in double quotes (line 4)

    "subject,,n\na,1,2\n"
    fatal $: found no name for column 2, expected a different name for each column; name it in the first row (line 1)

    "n,m,n\n1,2,3\n"
    fatal $: found the column `n` a second time, expected a different name for each column; remove one of them (line 1)

    "subject\n\"never closed"
    fatal $: found a double quote that is not closed, expected its end; close it; a double quote within a text is written twice (line 2)

    "subject\n\"closed\"\n\"never\nclosed\n"
    2: {"subject":"closed"}
    fatal $: found a double quote that is not closed, expected its end; close it; a double quote within a text is written twice (line 2)
    "#);
    let mut latin = Source::new(&b"subject\ncaf\xe9\nb\n"[..], Layout::Csv, &[], 100);
    assert_snapshot!(latin.next_item().unwrap().unwrap_err(), @r#"$: found bytes that are not UTF-8 in the column "subject", expected text in UTF-8; save the file as UTF-8 (line 2)"#);
    assert!(latin.next_item().unwrap().is_ok());
}

#[test]
fn columns_are_separated_by_the_mark_with_which_a_name_is_known() {
    let read = |text: &str| items(text, Layout::Csv, 100);
    for (table, row) in [
        ("\u{feff}subject;n\r\na;1.5\r\n", r#"{"subject":"a","n":1.5}"#),
        ("subject\tn\na\t1\n", r#"{"subject":"a","n":1}"#),
        ("\"subject\";\"n\"\n\"a;b\";1\n", r#"{"subject":"a;b","n":1}"#),
        ("agent;n;x,y\na;1;2\n", r#"{"agent":"a","n":1,"x,y":"2"}"#),
        ("id|n\na|1\n", r#"{"id":"a","n":1}"#),
        // A name may have such a mark in it, and a decimal comma is not a number.
        ("subject,n;b\na,1\n", r#"{"subject":"a","n;b":"1"}"#),
        ("subject,n,\"n;b\"\na,1,2\n", r#"{"subject":"a","n":1,"n;b":"2"}"#),
        ("subject;n\na;1,5\n", r#"{"subject":"a","n":"1,5"}"#),
        // Of names that are not known, what separates most.
        ("x;y,z;w\n1;2;3\n", r#"{"x":"1","y,z":"2","w":"3"}"#),
        // As data frames write their rows.
        (",subject,n\n0,a,1\n", r#"{"index":"0","subject":"a","n":1}"#),
        (",subject,index\n0,a,x\n", r#"{"Unnamed: 0":"0","subject":"a","index":"x"}"#),
    ] {
        assert_eq!(read(table).lines().next(), Some(format!("2: {row}").as_str()), "{table}");
    }
    for first in ["sep=;", "\u{feff}SEP=;\r", "sep=|", "sep=\t"] {
        let mark = first.trim_end_matches('\r').chars().next_back().unwrap();
        let table = format!("{first}\nx{mark}subject,n\n1{mark}a\n");
        assert_eq!(read(&table).lines().next(), Some(r#"3: {"x":"1","subject,n":"a"}"#), "{table}");
    }
}

#[test]
fn cells_without_a_value_are_left_out_where_no_text_is_declared() {
    let wanted = [("n", FactType::Number), ("b", FactType::Boolean), ("t", FactType::Text)]
        .map(|(name, fact_type)| (name.to_owned(), fact_type));
    let words = ["NA", "n/a", "NaN", "None", "null", "-", "NULL", " nan ", "<NA>", "NaT", "#N/A"];
    for word in words {
        let table = format!("subject,n,b,t,time\na,{word},{word},{word},{word}\n");
        let mut source = Source::new(table.as_bytes(), Layout::Csv, &wanted, 1000);
        let item = source.next_item().unwrap().unwrap();
        let text = std::str::from_utf8(item.bytes).unwrap().to_owned();
        assert_eq!(text, format!(r#"{{"subject":"a","t":"{word}"}}"#));
    }
    for (word, is_true) in [("yes", true), ("No", false), ("TRUE", true), ("0", false), ("1.0", true)] {
        let table = format!("subject,b\na,{word}\n");
        let mut source = Source::new(table.as_bytes(), Layout::Csv, &wanted, 1000);
        let item = source.next_item().unwrap().unwrap();
        assert_eq!(item.bytes, format!(r#"{{"subject":"a","b":{is_true}}}"#).as_bytes());
    }
}

#[test]
fn a_quote_that_is_never_closed_does_not_fill_the_memory() {
    let head: &[u8] = b"subject\n\"";
    let endless = BufReader::new(head.chain(io::repeat(b'x')));
    let found = cut(endless, Layout::Csv, 100_000);
    assert_snapshot!(found.join("\n"), @"fatal $: found a row that is longer than the limit, expected a shorter row; close the double quotes that it opens, or leave out what is not scored (line 2)");
}

#[test]
fn the_ending_of_a_name_tells_the_layout() {
    for (name, layout) in [
        ("a.csv", Layout::Csv),
        ("a.CSV", Layout::Csv),
        ("a.tsv", Layout::Csv),
        ("a.csv.gz", Layout::Csv),
        ("b/a.jsonl.zst", Layout::JsonLines),
        ("a.gz", Layout::Auto),
        ("a.jsonl", Layout::JsonLines),
        ("a.ndjson", Layout::JsonLines),
        ("a.json", Layout::Auto),
        ("csv", Layout::Auto),
    ] {
        assert_eq!(Layout::of_path(Path::new(name)), layout, "{name}");
    }
}
