//! Receipts with every field changed in turn, removed, doubled and of another type, at every level: `karat verify` and the
//! second implementation refuse them, with the same status.
#![expect(clippy::unwrap_used, reason = "helpers of a test may stop it")]

use std::collections::BTreeMap;
use std::process::Command;
use std::sync::Arc;

use karat_store::log::{Signer, VerifyingKey, Witness};
use karat_store::memory::Memory;
use karat_store::port::{Backend, Head};
use karat_store::{Kind, Limits, NewItem, Reader, Receipt, Store, rotate};
use serde_json::{Map, Value, json};

use crate::common::{Folder, finish, root};
use crate::store::{items, moment, sent, signer};

/// Files that are given to a program at once.
const AT_ONCE: usize = 400;

/// Returns the key that follows that of the log.
fn next() -> Signer {
    Signer::new("scores.example.org/main", &[8; 32]).unwrap()
}

fn witness(number: u8) -> Witness {
    Witness::new(&format!("witness.example/{number}"), &[number; 32]).unwrap()
}

/// A log whose key changed once, and receipts from before and after.
struct Fixture {
    /// Of a record with a sender, at a head that two witnesses cosigned, before the change.
    record: String,
    /// Of a card without a sender, after the change.
    card: String,
    /// Of the change.
    change: String,
}

impl Fixture {
    fn new() -> Self {
        let backend: Arc<dyn Backend> = Arc::new(Memory::new());
        let store = Store::open(Arc::clone(&backend), signer(), Limits::default()).unwrap();
        for (moment, items) in items().into_iter().chain([sent()]) {
            store.append(moment, items).unwrap();
        }
        store.stop().unwrap();
        let mut reader = Reader::new(backend.reader().unwrap());
        let Head { size, checkpoint } = reader.head().unwrap();
        let last = (0..size).rev().find(|at| reader.item(*at).unwrap().entry.kind == Kind::Record).unwrap();
        let cosigned = witness(1).cosign(&checkpoint, 1_772_700_000).unwrap();
        let checkpoint = witness(2).cosign(&cosigned, 1_772_700_001).unwrap();
        let record = reader.receipt_at(last, Head { size, checkpoint }).unwrap();
        assert!(record.entry.sender.is_some());
        let by = (moment(60), "server");
        let position = rotate(&*backend, (signer(), next()), by, || Ok(()), || Ok(())).unwrap();
        let store = Store::open(Arc::clone(&backend), next(), Limits::default()).unwrap();
        let again = |item: NewItem| NewItem { id: format!("{}-again", item.id), ..item };
        store.append(moment(61), items().remove(0).1.into_iter().map(again).collect()).unwrap();
        store.stop().unwrap();
        let mut reader = Reader::new(backend.reader().unwrap());
        let text = |receipt: Receipt| String::from_utf8(receipt.to_json()).unwrap();
        let card = text(reader.receipt(0).unwrap());
        Self { record: text(record), card, change: text(reader.receipt(position).unwrap()) }
    }
}

/// A changed text, its name, and whether it is still the same receipt.
struct Mutant {
    name: String,
    text: String,
    is_same: bool,
}

/// Values of every type, some of them beyond what numbers hold.
fn others() -> Vec<Value> {
    let parsed = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    let mut all =
        vec![json!(null), json!(true), json!(0), json!(-1), json!(7), json!(1.5), json!(""), json!("x")];
    all.extend([json!([]), json!({}), json!([1]), json!({"x": 1}), json!([[]]), json!("sha256:00")]);
    all.extend(["18446744073709551615", "-9223372036854775808", "1e300", "-0.0"].map(parsed));
    all
}

/// Changes of a value that keep its type.
fn changed(value: &Value) -> Vec<Value> {
    match value {
        Value::String(text) => {
            let mut all =
                vec![json!(format!("{text}x")), json!(format!(" {text}")), json!(text.to_uppercase())];
            let places: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
            // Every character of a short text, and some of a long one.
            let step = places.len() / 60 + 1;
            for at in places.iter().step_by(step) {
                let (before, after) = text.split_at(*at);
                let mut rest = after.chars();
                let first = rest.next().unwrap_or('x');
                let flipped = if first == 'A' { 'B' } else { 'A' };
                all.push(json!(format!("{before}{flipped}{}", rest.as_str())));
                all.push(json!(format!("{before}{}", rest.as_str())));
            }
            let lines: Vec<&str> = text.split_inclusive('\n').collect();
            for at in (0..lines.len()).filter(|_| lines.len() > 1) {
                let mut without = lines.clone();
                without.remove(at);
                all.push(json!(without.concat()));
                let mut twice = lines.clone();
                twice.insert(at, lines[at]);
                all.push(json!(twice.concat()));
                let mut swapped = lines.clone();
                swapped.swap(at, (at + 1) % lines.len());
                all.push(json!(swapped.concat()));
            }
            all
        }
        Value::Number(number) => {
            let number = number.as_i64().unwrap_or_default();
            vec![json!(number + 1), json!(number - 1), json!(-number), json!(number.to_string())]
        }
        Value::Array(list) => {
            let mut longer = list.clone();
            longer.push(Value::Null);
            let mut all = vec![Value::Array(longer)];
            for at in 0..list.len() {
                let mut without = list.clone();
                without.remove(at);
                all.push(Value::Array(without));
                let mut twice = list.clone();
                twice.insert(at, list[at].clone());
                all.push(Value::Array(twice));
                let mut swapped = list.clone();
                swapped.swap(at, (at + 1) % list.len());
                all.push(Value::Array(swapped));
            }
            all
        }
        Value::Object(members) => {
            let mut more = members.clone();
            more.insert(String::from("more"), json!(1));
            let values: Vec<Value> = members.values().cloned().collect();
            vec![Value::Object(more), Value::Array(values)]
        }
        Value::Null => vec![json!("null")],
        Value::Bool(it) => vec![json!(!it)],
    }
}

/// Returns every place in a value, by JSON pointer.
fn places(value: &Value, at: &str, all: &mut Vec<String>) {
    all.push(at.to_owned());
    match value {
        Value::Object(members) => {
            members.iter().for_each(|(name, inner)| places(inner, &format!("{at}/{name}"), all));
        }
        Value::Array(list) => {
            list.iter().enumerate().for_each(|(place, inner)| places(inner, &format!("{at}/{place}"), all));
        }
        _ => {}
    }
}

/// Returns every change of a receipt. What is another value is another receipt, but for signatures given twice.
fn mutants(sound: &str) -> Vec<Mutant> {
    let whole: Value = serde_json::from_str(sound).unwrap();
    let mut all = Vec::new();
    let mut add = |name: String, text: String, is_same: bool| all.push(Mutant { name, text, is_same });
    let mut found = Vec::new();
    places(&whole, "", &mut found);
    for at in &found {
        let value = whole.pointer(at).unwrap();
        for (number, other) in others().into_iter().chain(changed(value)).enumerate() {
            let mut mutant = whole.clone();
            *mutant.pointer_mut(at).unwrap() = other.clone();
            let is_same = is_same_note(at, value, &other) || mutant == whole;
            add(format!("{at} {number}: {other}"), mutant.to_string(), is_same);
        }
        let Some((parent, name)) = at.rsplit_once('/') else { continue };
        let mut mutant = whole.clone();
        if let Some(Value::Object(members)) = mutant.pointer_mut(parent) {
            members.remove(name);
            add(format!("{at} is removed"), mutant.to_string(), false);
            // Twice: the second with the same value, and with another.
            for second in [value.to_string(), String::from("null")] {
                let text = with_member(&whole, parent, name, &second);
                add(format!("{at} is there twice, once as {second}"), text, false);
            }
        }
    }
    // The members within the content, whose digest is in the entry.
    let content: Value = serde_json::from_str(whole["content"].as_str().unwrap()).unwrap_or_default();
    let mut found = Vec::new();
    places(&content, "", &mut found);
    for at in found.iter().filter(|_| content.is_object()) {
        let value = content.pointer(at).unwrap();
        for other in [json!(null), json!([]), json!("x"), json!(1), json!({})] {
            if *value != other {
                let mut inner = content.clone();
                *inner.pointer_mut(at).unwrap() = other.clone();
                let mut mutant = whole.clone();
                mutant["content"] = Value::String(inner.to_string());
                add(format!("content{at}: {other}"), mutant.to_string(), false);
            }
        }
    }
    for (name, text, is_same) in texts(sound, &whole) {
        add(name, text, is_same);
    }
    all
}

/// Returns true for changes of the signatures of a checkpoint that leave each of them valid: their order, and one twice.
fn is_same_note(at: &str, value: &Value, other: &Value) -> bool {
    let parts = |value: &Value| {
        let (text, lines) = value.as_str()?.rsplit_once("\n\n")?;
        let mut lines: Vec<String> = lines.split_inclusive('\n').map(str::to_owned).collect();
        lines.sort();
        lines.dedup();
        Some((text.to_owned(), lines))
    };
    at == "/checkpoint" && parts(value).is_some() && parts(value) == parts(other)
}

/// Returns the JSON with one more member in the object at `parent`.
fn with_member(whole: &Value, parent: &str, name: &str, value: &str) -> String {
    const MARK: &str = "@mark@";
    let mut marked = whole.clone();
    let members: &mut Map<String, Value> = marked.pointer_mut(parent).unwrap().as_object_mut().unwrap();
    members.insert(String::from(MARK), Value::Null);
    marked.to_string().replace(&format!("\"{MARK}\":null"), &format!("\"{name}\":{value}"))
}

/// Returns changes of the text that no value has.
fn texts(sound: &str, whole: &Value) -> Vec<(String, String, bool)> {
    let index = format!("\"index\":{}", whole["index"]);
    let moment = format!("\"moment_milliseconds\":{}", whole["entry"]["moment_milliseconds"]);
    let id = format!("\"id\":{}", whole["entry"]["id"]);
    let mut all = Vec::new();
    let mut add = |name: &str, text: String, is_same: bool| all.push((name.to_owned(), text, is_same));
    let pretty = serde_json::to_string_pretty(whole).unwrap();
    add("white space", format!(" \n\t{}\r\n", pretty.replace('\n', "\r\n")), true);
    add("an escaped character", sound.replacen("\"id\":\"", "\"\\u0069d\":\"", 1), true);
    for (name, from, to) in [
        ("a number of a text", &index, format!("\"index\":\"{}\"", whole["index"])),
        ("a fraction", &index, format!("\"index\":{}.0", whole["index"])),
        ("an exponent", &index, format!("\"index\":{}e0", whole["index"])),
        ("minus nothing", &index, String::from("\"index\":-0")),
        ("a leading zero", &index, format!("\"index\":0{}", whole["index"])),
        ("a plus", &index, format!("\"index\":+{}", whole["index"])),
        ("beyond 64 bits", &index, String::from("\"index\":18446744073709551616")),
        ("of 400 digits", &index, format!("\"index\":{}", "9".repeat(400))),
        ("of 5000 digits", &index, format!("\"index\":{}", "9".repeat(5000))),
        ("no number", &index, String::from("\"index\":NaN")),
        ("infinite", &index, String::from("\"index\":-Infinity")),
        ("a moment of minus nothing", &moment, String::from("\"moment_milliseconds\":-0")),
        ("a moment beyond 64 bits", &moment, String::from("\"moment_milliseconds\":9223372036854775808")),
        ("a moment of 400 digits", &moment, format!("\"moment_milliseconds\":-{}", "9".repeat(400))),
        ("half a surrogate", &id, String::from("\"id\":\"\\ud800\"")),
        ("the other half", &id, String::from("\"id\":\"x\\udfffx\"")),
        ("a surrogate twice", &id, String::from("\"id\":\"\\ud800\\ud800\"")),
        ("a raw control character", &id, String::from("\"id\":\"a\u{1}b\"")),
        ("an escape that JSON does not have", &id, String::from("\"id\":\"\\x41\"")),
        ("a list of kinds", &String::from("\"kind\":\"record\""), String::from("\"kind\":[]")),
        ("a deep kind", &String::from("\"kind\":\"record\""), format!("\"kind\":{}", deep(100_000))),
        ("a deep path", &String::from("\"path\":["), format!("\"path\":[{},", deep(300))),
        ("a deeper path", &String::from("\"path\":["), format!("\"path\":[{},", deep(100_000))),
    ] {
        let text = sound.replacen(from.as_str(), &to, 1);
        if text != sound {
            add(name, text, false);
        }
    }
    for (name, text) in [
        ("nothing", String::new()),
        ("white space alone", String::from(" \n")),
        ("a mark of the order of bytes", format!("\u{feff}{sound}")),
        ("more after it", format!("{sound} x")),
        ("twice", format!("{sound}{sound}")),
        (
            "a comma at the end",
            sound.replace("\"schema\":\"karat/receipt/1\"}", "\"schema\":\"karat/receipt/1\",}"),
        ),
        ("in a list", format!("[{sound}]")),
        ("as a text", Value::String(sound.to_owned()).to_string()),
        ("deep lists", deep(100_000)),
        ("lists without an end", "[".repeat(100_000)),
        ("objects without an end", "{\"checkpoint\":".repeat(100_000)),
        ("a receipt of later", sound.replace("karat/receipt/1", "karat/receipt/2")),
        ("another quote", sound.replace('"', "'")),
    ] {
        add(name, text, false);
    }
    let half = sound.len() / 2;
    let cut = (half..).find(|at| sound.is_char_boundary(*at)).unwrap_or(half);
    add("half of it", sound[..cut].to_owned(), false);
    all
}

fn deep(levels: usize) -> String {
    format!("{}{}", "[".repeat(levels), "]".repeat(levels))
}

/// Returns the status that a program gives each file.
fn statuses(program: impl Fn(&[String]) -> Command, files: &[String]) -> BTreeMap<String, i64> {
    let mut found = BTreeMap::new();
    for some in files.chunks(AT_ONCE) {
        let run = finish(&mut program(some), "");
        assert_eq!(run.stderr, "");
        for line in run.stdout.lines() {
            let answer: Value = serde_json::from_str(line).unwrap();
            let status = match answer["status"].as_str() {
                Some("verified") => 0,
                Some("consistent") => 12,
                Some("failed") => 14,
                _ => answer["status"].as_i64().unwrap(),
            };
            found.insert(answer["file"].as_str().unwrap().to_owned(), status);
        }
    }
    found
}

fn own(arguments: &[&str]) -> Vec<String> {
    arguments.iter().map(|argument| (*argument).to_owned()).collect()
}

/// Asks both programs about every file with these arguments; both must give `changed`, or `same` for what is the same.
fn compare(mutants: &[Mutant], arguments: &[String], changed: i64, same: i64) {
    let folder = Folder::new();
    let files: Vec<String> = (0..mutants.len()).map(|number| format!("{number}.json")).collect();
    for (file, mutant) in files.iter().zip(mutants) {
        folder.write(file, &mutant.text);
    }
    let karat = |files: &[String]| {
        let mut command = crate::common::program(folder.path());
        command.arg("verify").args(files).args(arguments).arg("--json");
        command
    };
    let python = |files: &[String]| {
        let mut command = Command::new("python3");
        command.current_dir(folder.path()).arg("-B").arg(root().join("reference/verify.py"));
        command.args(files).args(arguments).arg("--json");
        command
    };
    let ours = statuses(karat, &files);
    let theirs = statuses(python, &files);
    let mut wrong = Vec::new();
    for (file, mutant) in files.iter().zip(mutants) {
        let expected = if mutant.is_same { same } else { changed };
        let found = (ours[file], theirs[file]);
        if found != (expected, expected) {
            let name: String = mutant.name.chars().take(200).collect();
            wrong.push(format!("{name}: karat {}, reference {}, expected {expected}", found.0, found.1));
        }
    }
    assert!(wrong.is_empty(), "{} of {} differ:\n{}", wrong.len(), files.len(), wrong.join("\n"));
}

fn key(signer: &Signer) -> String {
    let key: &VerifyingKey = signer.verifying_key();
    key.to_string()
}

#[test]
fn every_change_of_a_receipt_is_refused_by_both_programs() {
    let fixture = Fixture::new();
    let [one, other] = [witness(1), witness(2)].map(|witness| witness.verifying_key().to_string());
    let all = mutants(&fixture.record);
    assert!(all.len() > 1000, "{}", all.len());
    compare(&all, &own(&["--key", &key(&signer()), "--witness", &one, "--witness", &other]), 14, 0);
    compare(&mutants(&fixture.card), &own(&["--key", &key(&next())]), 14, 0);
    compare(&mutants(&fixture.change), &own(&["--key", &key(&next())]), 14, 0);
}

#[test]
fn without_a_key_both_programs_say_the_same() {
    let fixture = Fixture::new();
    for sound in [&fixture.record, &fixture.change] {
        let mut all = mutants(sound);
        let whole: Value = serde_json::from_str(sound).unwrap();
        // Without a key, what counts of a checkpoint are its size and its root.
        let known = |value: &Value| {
            let lines: Vec<&str> = value["checkpoint"].as_str()?.split('\n').skip(1).take(2).collect();
            let mut rest = value.as_object()?.clone();
            rest.remove("checkpoint");
            Some((lines.join("\n"), rest))
        };
        let signatures = |mutant: &Mutant| {
            let found: Option<Value> = serde_json::from_str(&mutant.text).ok();
            found.is_some_and(|found| known(&found).is_some() && known(&found) == known(&whole))
        };
        all.retain(|mutant| !signatures(mutant) || mutant.is_same);
        assert!(all.len() > 900, "{}", all.len());
        compare(&all, &[], 14, 12);
    }
}

#[test]
fn every_change_of_the_receipt_of_a_new_key_is_refused_by_both_programs() {
    let fixture = Fixture::new();
    let folder = Folder::new();
    folder.write("record.json", &fixture.record);
    folder.write("card.json", &fixture.card);
    folder.write("change.json", &fixture.change);
    let ask = |rotations: &[&str], trusted: &str| {
        let mut arguments = own(&["--key", trusted, "--json"]);
        for rotation in rotations {
            arguments.extend(own(&["--rotation", rotation]));
        }
        let files = own(&["record.json", "card.json"]);
        let karat = |files: &[String]| {
            let mut command = crate::common::program(folder.path());
            command.arg("verify").args(files).args(&arguments);
            command
        };
        let python = |files: &[String]| {
            let mut command = Command::new("python3");
            command.current_dir(folder.path()).arg("-B").arg(root().join("reference/verify.py"));
            command.args(files).args(&arguments);
            command
        };
        let ours = statuses(karat, &files);
        assert_eq!(ours, statuses(python, &files), "{rotations:?} {trusted}");
        (ours["record.json"], ours["card.json"])
    };
    let [old, new] = [key(&signer()), key(&next())];
    // Alone, each key verifies what it signed.
    assert_eq!(ask(&[], &old), (0, 14));
    assert_eq!(ask(&[], &new), (14, 0));
    for trusted in [&old, &new] {
        assert_eq!(ask(&["change.json"], trusted), (0, 0));
        assert_eq!(ask(&["change.json", "change.json"], trusted), (0, 0));
        assert_eq!(ask(&["card.json"], trusted), (14, 14), "it is not a change of a key");
        assert_eq!(ask(&["change.json", "record.json"], trusted), (14, 14));
    }
    let stranger = key(&Signer::new("scores.example.org/main", &[9; 32]).unwrap());
    assert_eq!(ask(&["change.json"], &stranger), (14, 14));
    // Some of the changes, as each is a call of both programs; all were looked at as receipts above.
    let all = mutants(&fixture.change);
    let step = all.len() / 40 + 1;
    for (number, mutant) in all.iter().filter(|mutant| !mutant.is_same).step_by(step).enumerate() {
        let name = format!("change-{number}.json");
        folder.write(&name, &mutant.text);
        assert_eq!(ask(&[&name], &new), (14, 14), "{}", mutant.name);
    }
}

/// The second implementation finds in the same logs that a sender did what its key does not allow.
#[test]
fn logs_of_senders_without_authority_are_refused_by_both() {
    for (name, case, expected) in crate::authority::CASES {
        let folder = Folder::new();
        crate::authority::write(&folder.path().join("log"), *case);
        let entries = folder.karat(&["log", "show", "log", "--entries"]);
        folder.write("log.jsonl", &entries.stdout);
        let mut command = Command::new("python3");
        command.current_dir(folder.path()).arg("-B").arg(root().join("reference/verify.py"));
        command.args(["--log", "log.jsonl", "--key", "log/log.pub"]);
        let run = finish(&mut command, "");
        assert_eq!(
            run.status,
            if expected.is_some() { 14 } else { 0 },
            "{name}: {}{}",
            run.stdout,
            run.stderr
        );
    }
}
