use karat_core::facts::Digest;
use serde_json::json;

use super::*;
use crate::attempt::Outcome;

fn attempt(step: &str, number: u64, outcome: Outcome) -> Attempt {
    Attempt {
        key: Digest::of(format!("{step} {number}").as_bytes()),
        step: step.to_owned(),
        number,
        outcome,
        output: (outcome == Outcome::Success).then(|| json!({"text": "é\n", "n": 1.5})),
        reason: (outcome == Outcome::Failed).then(|| "exit status 3".to_owned()),
        cost_nano_tao: 1_000_000,
        start_microseconds: number * 1000,
        duration_microseconds: 900,
    }
}

const HEAD: Head = Head {
    plan: Digest([1; 32]),
    task: Digest([2; 32]),
    is_stopped: false,
    started_microseconds: 1_773_826_200_000_042,
};

fn recording() -> Recording {
    let attempts = [("a", 1, Outcome::Failed), ("a", 2, Outcome::Success), ("b", 1, Outcome::Timeout)];
    Recording::new(HEAD, attempts.map(|(step, number, outcome)| attempt(step, number, outcome)).into())
}

fn faults(text: &str) -> String {
    let faults = Recording::parse(text).unwrap_err();
    faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

/// Puts the digest of changed lines into the foot, as who wants to deceive would.
fn sealed(body: &str) -> String {
    format!("{body}{{\"digest\":\"{}\"}}\n", Digest::of(body.as_bytes()))
}

#[test]
fn a_recording_is_its_text() {
    let recording = recording();
    let text = recording.text();
    assert!(text.as_bytes().starts_with(RECORDING_MARK));
    let read = Recording::parse(&text).unwrap();
    assert_eq!(read, recording);
    assert_eq!(read.text(), text);
    assert_eq!(read.find(Digest::of(b"a 2")).map(|found| found.number), Some(2));
    assert_eq!(read.find(Digest::of(b"a 3")), None);
}

#[test]
fn every_change_of_a_byte_is_found() {
    let mut recording = recording();
    let signer = Signer::new("validator.example", &[7; 32]).unwrap();
    recording.sign(&signer).unwrap();
    let text = recording.text();
    let key = signer.verifying_key();
    Recording::parse(&text).unwrap().verify(key).unwrap();
    for at in 0..text.len() {
        let mut bytes = text.clone().into_bytes();
        bytes[at] ^= 1;
        let Ok(changed) = String::from_utf8(bytes) else { continue };
        let is_found = Recording::parse(&changed).map_or(true, |read| read.verify(key).is_err());
        assert!(is_found, "{changed}");
    }
    for end in (0..text.len()).filter(|&end| text.is_char_boundary(end)) {
        assert!(Recording::parse(&text[..end]).is_err(), "{end}");
    }
}

#[test]
fn a_signature_is_of_one_key_and_one_recording() {
    let mut one = recording();
    let [signer, other] = [7, 8].map(|byte| Signer::new("validator.example", &[byte; 32]).unwrap());
    assert!(matches!(one.verify(signer.verifying_key()), Err(NoteError::NotSigned { .. })));
    let digest = one.digest();
    one.sign(&signer).unwrap();
    assert_eq!(one.digest(), digest);
    assert!(one.is_signed() && one.verify(signer.verifying_key()).is_ok());
    assert!(one.verify(other.verifying_key()).is_err());
    // The note of one recording under another.
    let head = Head { plan: one.plan, task: one.task, is_stopped: true, started_microseconds: 1 };
    let mut forged = Recording::new(head, Vec::new());
    forged.note = one.note.clone();
    assert!(matches!(forged.verify(signer.verifying_key()), Err(NoteError::Malformed(_))));
    // That is in its text: no key is needed to see it.
    insta::assert_snapshot!(faults(&forged.text()), @"the note that signs the recording is about another one; get it again from who recorded it (line 2, column 1)");
}

#[test]
fn an_attempt_has_what_a_run_can_have() {
    let recorded = |output: Value, reason: Option<&str>| {
        let mut attempt = attempt("a", 1, Outcome::Success);
        (attempt.output, attempt.reason) = (Some(output), reason.map(str::to_owned));
        Recording::new(Head { is_stopped: true, ..HEAD }, vec![attempt]).text()
    };
    let deep = (0..40).fold(json!(1), |inner, _| json!([inner]));
    for (output, wrong) in [
        (json!("x"), "not an object such as"),
        (json!([1]), "not an object such as"),
        (json!({"text": 5}), "`text` of its output is not a text"),
        (json!({"artifacts": {"metadata": []}}), "`artifacts.metadata` of its output is not an object"),
        (json!({"artifacts": {"deep": deep}}), "nested deeper than 32"),
    ] {
        let refused = faults(&recorded(output.clone(), None));
        assert!(refused.contains(wrong) && refused.ends_with("(line 2, column 1)"), "{output}: {refused}");
    }
    assert!(Recording::parse(&recorded(json!({"id": 1e20, "n": 1.5}), None)).is_ok());
    assert!(faults(&recorded(json!({}), Some("no"))).contains("a reason after a failure"));
    // A number that no double holds, or a member twice, is not in canonical JSON.
    let text = recorded(json!({"id": 9_007_199_254_740_992_i64}), None);
    for (from, to) in [("740992", "740993"), ("\"id\"", "\"id\":1,\"id\"")] {
        let (body, _) = text.trim_end().rsplit_once('\n').unwrap();
        let refused = faults(&sealed(&format!("{}\n", body.replace(from, to))));
        assert!(refused.contains("this line is not canonical JSON"), "{refused}");
    }
}

#[test]
fn what_is_no_recording_is_refused_with_its_line() {
    let text = recording().text();
    let (body, _) = text.trim_end().rsplit_once('\n').unwrap();
    let body = format!("{body}\n");
    assert_eq!(faults(""), faults("{\"subject\": 1}\n"));
    insta::assert_snapshot!(faults("{}\n"), @"this is not a recording: its first line is not the head of one; `karat run --record FILE` writes one");
    insta::assert_snapshot!(faults(&body[..body.len() - 3]), @"the recording breaks off before its last line; get it again, whole (line 4, column 1)");
    let changed = text.replace("exit status 3", "exit status 4");
    let said = faults(&changed);
    assert!(
        said.starts_with("the recording was changed: it says sha256:") && said.contains("(line 5, column 1)")
    );

    let lines: Vec<&str> = body.lines().collect();
    let doubled = sealed(&format!("{body}{}\n", lines[2]));
    insta::assert_snapshot!(faults(&doubled), @"step `a`, attempt 2 is in the recording a second time; record the run again (line 5, column 1)");
    let odd = [
        lines[0].replace("complete", "soon").replace("karat/recording/1", "karat/recording/9"),
        lines[1].replace("\"attempt\":1", "\"attempt\":0").replace("failed", "success"),
        lines[2].replace("1000000", "1.5").replace("\"key\":\"sha256:", "\"key\":\"sha25:"),
        lines[3].replace("\"step\"", "\"stepp\"").replace("900", "-1"),
        lines[3].replace("{\"attempt\":1,", "{ \"attempt\":1,"),
        lines[3].replace("{\"attempt\":1,", "{\"attempt\":1,\"attempt\":1,"),
        "[]".to_owned(),
        "nonsense".to_owned(),
    ];
    insta::assert_snapshot!(faults(&sealed(&format!("{}\n", odd.join("\n")))), @r"
    expected `schema` to be karat/recording/1 (line 1, column 1)
    expected `ended` to be complete or stopped (line 1, column 1)
    expected a whole number from 1 to 9007199254740992 as `attempt` (line 2, column 1)
    expected an output after a success, and none without one (line 2, column 1)
    expected a digest as `key` (line 3, column 1)
    expected a whole number from 0 to 9007199254740992 as `cost_nano_tao` (line 3, column 1)
    a recording has no `stepp` here; did you mean `step`? (line 4, column 1)
    expected a text as `step` (line 4, column 1)
    expected a whole number from 0 to 2251799813685248 as `duration_microseconds` (line 4, column 1)
    this line is not canonical JSON; keep the file byte for byte as it was written (line 5, column 1)
    this line is not canonical JSON; keep the file byte for byte as it was written (line 6, column 1)
    this is not a JSON object; each line of a recording is a JSON object, as `karat run --record` writes it (line 7, column 1)
    this is not JSON: expected ident at line 1 column 2; each line of a recording is a JSON object, as `karat run --record` writes it (line 8, column 1)
    ");
}
