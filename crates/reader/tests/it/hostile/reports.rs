//! Reports of tests: JUnit XML, TRX, TAP.

use karat_graders::quality::TestResults;

use super::{SCRIPTS, TEN_MEGABYTES, ends, ten_megabytes};

const JUNIT: &str = r#"<?xml version="1.0"?><testsuites tests="3"><testsuite name="s" tests="3" failures="1">
<testcase classname="c" name="a"/><testcase name="b"><failure message="x &amp; y"><![CDATA[3 passed]]></failure></testcase>
<!-- c --><testcase name="d" status="run"></testcase></testsuite></testsuites>"#;
const TRX: &str = r#"<TestRun xmlns="http://microsoft.com/schemas/VisualStudio/TeamTest/2010"><Results>
<UnitTestResult testName="a" outcome="Passed"/><UnitTestResult testName="b" outcome="Failed"/></Results>
<ResultSummary><Counters total="2" passed="1" failed="1"/></ResultSummary></TestRun>"#;
const TAP: &str = "TAP version 14\n1..3\nok 1 - a\nnot ok 2 - b # TODO later\nok 3 # SKIP none\n";

fn read(text: String) -> Result<TestResults, String> {
    ends(move || TestResults::from_report(&text).map_err(|problems| problems.to_string()))
}

/// Nests `open` and `close` around one another, ten megabytes of both.
fn nested(open: &str, inner: &str, close: &str) -> String {
    let times = TEN_MEGABYTES / (open.len() + close.len());
    format!("{}{inner}{}", open.repeat(times), close.repeat(times))
}

#[test]
fn xml_of_ten_megabytes_that_is_deep() {
    assert_eq!(read(nested("<testsuite>", "<testcase/>", "</testsuite>")).unwrap().passed, 1);
    assert!(read(nested("<testsuite>", "", "")).unwrap_err().contains("open elements"));
    let results = read(nested("<testsuite><x>", "<testcase/>", "</x></testsuite>")).unwrap();
    assert_eq!(results.counted(), 0, "a test case in an unknown element is none");
    let inner =
        nested("<UnitTestResult outcome='Failed'><InnerResults>", "", "</InnerResults></UnitTestResult>");
    let results = read(format!("<TestRun><Results>{inner}</Results></TestRun>")).unwrap();
    assert_eq!((results.failed, results.passed), (1, 0), "a result made of others stands for them");
}

#[test]
fn xml_of_ten_megabytes_that_is_wide() {
    let suite = |inner: &str| read(format!("<testsuite>{inner}</testsuite>"));
    assert_eq!(suite(&ten_megabytes("<testcase name='a'/>")).unwrap().passed, 500_000);
    let failing = suite(&ten_megabytes("<testcase name='a'><failure/></testcase>")).unwrap();
    assert_eq!(failing.failing.len(), TestResults::LISTED);
    assert!(serde_json::json!(failing).to_string().len() < 10_000);
    for filling in ["<![CDATA[ok 1]]>", "<!-- 3 passed -->", "<?php ok ?>", "&amp;&#65;", "8 passed\n"] {
        assert_eq!(suite(&format!("{}<testcase/>", ten_megabytes(filling))).unwrap().passed, 1, "{filling}");
    }
    let attribute = suite(&format!("<testcase name='{}'/>", ten_megabytes("&amp;&#x1F600;")));
    assert_eq!(attribute.unwrap().passed, 1);
    let attributes: String = (0..500_000).map(|at| format!(" a{at}='1'")).collect();
    assert_eq!(suite(&format!("<testcase{attributes}/>")).unwrap().passed, 1);
    assert!(suite(&format!("<testcase name='{}'/>", ten_megabytes("&lol;"))).is_err());
    assert!(suite(&format!("<testcase status{}/>", ten_megabytes("="))).is_err());
    assert!(read(format!("<{}", ten_megabytes("<"))).is_err());
    assert!(read(format!("<testsuite tests='{}'/>", ten_megabytes("9"))).is_err());
    let results = ten_megabytes("<UnitTestResult outcome='Passed'/>");
    let trx = format!("<TestRun>{results}<Counters total='1' passed='1'/></TestRun>");
    assert!(read(trx).unwrap_err().contains("passed tests"));
}

#[test]
fn tap_of_ten_megabytes() {
    let results = read(format!("{}1..3333333\n", ten_megabytes("ok\n"))).unwrap();
    assert_eq!((results.passed, results.missing), (3_333_333, 0));
    assert!(read("ok\n".repeat(100_000)).unwrap_err().contains("no plan"));
    assert_eq!(read(format!("1..1\nnot ok 1 {}", r"\# ".repeat(1_000_000))).unwrap().failed, 1);
    assert_eq!(read(format!("1..1\nok 1 {}", ten_megabytes("#"))).unwrap().passed, 1);
    assert_eq!(read(format!("1..1\nok {}", ten_megabytes("1"))).unwrap().passed, 1, "no number, so the next");
    assert!(read(format!("1..{}", ten_megabytes("1"))).is_err());
    assert!(read("1..18446744073709551615\nok 18446744073709551615\nok\n".to_owned()).is_err());
    let results = read("1..18446744073709551615\nok 18446744073709551615\n".to_owned()).unwrap();
    assert_eq!((results.passed, results.missing, results.counted()), (1, u64::MAX - 1, u64::MAX));
    assert_eq!(read(format!("1..1\n{}ok", ten_megabytes("    ok 1\n"))).unwrap().passed, 1);
}

#[test]
fn reports_that_are_cut_anywhere() {
    let whole = |text: &str| TestResults::from_report(text).unwrap();
    assert_eq!((whole(JUNIT).passed, whole(TRX).passed, whole(TAP).passed), (2, 1, 1));
    for text in [JUNIT, TRX] {
        for (end, _) in text.char_indices() {
            assert!(TestResults::from_report(&text[..end]).is_err(), "{}", &text[..end]);
        }
    }
    for end in 0..TAP.len() {
        // A plan that was read misses the tests behind the cut.
        if let Ok(results) = TestResults::from_tap(&TAP[..end]) {
            assert!(results.passed <= 2, "without its directive the last test has passed");
            assert!(results.counted() + results.skipped >= results.announced.unwrap(), "{}", &TAP[..end]);
        }
    }
}

#[test]
fn reports_with_a_byte_changed() {
    for text in [JUNIT, TRX, TAP] {
        for at in 0..text.len() {
            for byte in [b'<', b'>', b'"', b'&', b'9', 0, b'\n', b' '] {
                let mut bytes = text.as_bytes().to_vec();
                bytes[at] = byte;
                let Ok(changed) = String::from_utf8(bytes) else { continue };
                if let Ok(results) = TestResults::from_report(&changed) {
                    assert!(results.failing.len() as u64 <= results.failed + results.errors, "{changed}");
                }
            }
        }
    }
}

#[test]
fn names_in_every_script() {
    for script in SCRIPTS {
        let escaped: String = script.chars().map(|c| format!("&#{};", u32::from(c))).collect();
        let report = format!("<testsuite><testcase name='{escaped}'><failure/></testcase></testsuite>");
        // Some of these characters no XML may hold; they are refused, or read as what they are.
        if let Ok(results) = TestResults::from_report(&report) {
            assert_eq!(results.failed, 1, "{script:?}");
        }
        let line = script.replace(['\n', '\r', '#'], " ");
        assert_eq!(TestResults::from_tap(&format!("1..1\nnot ok 1 - {line}\n")).unwrap().failed, 1);
    }
    for half in ["&#xD800;", "&#55357;", "&#x110000;", "&#0;"] {
        let report = format!("<testsuite><testcase name='{half}'/></testsuite>");
        assert!(TestResults::from_report(&report).is_err(), "{half} is no character");
    }
}
