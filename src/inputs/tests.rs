use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::*;
use crate::card::CompiledCard;
use crate::engine::Options;
use crate::gate::{Baseline, Status};
use crate::project::Project;

thread_local! {
    static OPENED: RefCell<BTreeMap<String, u32>> = const { RefCell::new(BTreeMap::new()) };
}

/// Counts a file that is opened.
pub(super) fn opened(path: &str) {
    OPENED.with_borrow_mut(|all| *all.entry(path.to_owned()).or_default() += 1);
}

/// A program without a reader says where there is one.
#[test]
fn files_of_columns_need_a_reader() {
    let folder = tempfile::tempdir().unwrap();
    for (name, head, words) in [
        ("a", &b"PAR1\0\0\0\0"[..], "a file of Parquet"),
        ("b", b"ARROW1\0\0", "a file of Arrow"),
        ("c", b"\xff\xff\xff\xff\x10\0\0\0", "a stream of Arrow"),
    ] {
        let path = folder.path().join(name).display().to_string();
        fs::write(&path, head).unwrap();
        let inputs = Inputs::new(std::slice::from_ref(&path)).unwrap();
        let read = inputs.each(&Wanted::nothing(), &Silent, |_, _| Ok::<_, Error>(ControlFlow::Continue(())));
        let refused = read.unwrap_err();
        let message = format!("`{path}` is {words}, and this program was built without `frames`");
        assert_eq!(refused.message(), message);
        assert!(refused.hints()[0].contains("--features frames"));
    }
    let inputs = Inputs::new(&[folder.path().display().to_string()]).unwrap();
    assert_eq!(inputs.paths().len(), 3);
}

#[test]
fn a_check_opens_each_input_once() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &[u8]| fs::write(folder.path().join(name), text).unwrap();
    write("card.toml", include_bytes!("../../examples/cards/task-run.toml"));
    write("base.csv", include_bytes!("../../examples/compare/base.csv"));
    let table = include_str!("../../examples/compare/new.csv");
    let (head, rows) = table.split_once('\n').unwrap();
    let half = rows.match_indices('\n').nth(rows.lines().count() / 2).unwrap().0 + 1;
    write("new-1.csv", format!("{head}\n{}", &rows[..half]).as_bytes());
    write("new-2.csv", format!("{head}\n{}", &rows[half..]).as_bytes());
    let gate = "card = \"card.toml\"\ninputs = \"new-*.csv\"\nbaseline = \"base.csv\"\n[gate]\nfail_if_worse = true\n";
    write("karat.toml", gate.as_bytes());
    let digest = Digest::of(&fs::read(folder.path().join("base.csv")).unwrap()).to_string();
    write("base.csv.sha256", digest.trim_start_matches("sha256:").as_bytes());
    let project = Project::open(folder.path().join("karat.toml")).unwrap();
    let (inputs, baseline) = project.inputs().unwrap();
    assert!(matches!(baseline, Baseline::Loaded(_)));
    let card = CompiledCard::open(&project.card).unwrap();
    let mut loaded = project.load(&inputs, card, Options::default(), &Silent).unwrap();
    let judged = project.gate.judge(&project.items, &mut loaded, &baseline).unwrap();
    assert_eq!(judged.verdict().status(), Status::Worse);
    let opened = OPENED.take();
    let name = |path: &String| Path::new(path).file_name().unwrap().to_string_lossy().into_owned();
    let counts: Vec<(String, u32)> = opened.iter().map(|(path, count)| (name(path), *count)).collect();
    let once = |name: &str| (name.to_owned(), 1);
    assert_eq!(counts, [once("base.csv"), once("new-1.csv"), once("new-2.csv")]);
}
