//! The layout of the project: dependencies between crates, no local paths, no file too long to read.
#![expect(clippy::expect_used, clippy::panic, reason = "helpers of a test may stop it")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Every dependency of one package of the project on another, of any kind. A new one is a decision, and belongs here.
const EDGES: &[(&str, &str)] = &[
    ("karat", "karat-core"),
    ("karat", "karat-evidence"),
    ("karat", "karat-standing"),
    ("karat", "karat-stats"),
    ("karat", "karat-store"),
    ("karat-cli", "karat"),
    ("karat-cli", "karat-core"),
    ("karat-cli", "karat-demo"),
    ("karat-cli", "karat-evidence"),
    ("karat-cli", "karat-process"),
    ("karat-cli", "karat-run"),
    ("karat-cli", "karat-server"),
    ("karat-cli", "karat-standing"),
    ("karat-cli", "karat-stats"),
    ("karat-cli", "karat-store"),
    ("karat-conformance", "karat"),
    ("karat-conformance", "karat-core"),
    ("karat-conformance", "karat-evidence"),
    ("karat-conformance", "karat-standing"),
    ("karat-conformance", "karat-stats"),
    ("karat-demo", "karat"),
    ("karat-demo", "karat-evidence"),
    // It begins the workflow of the demo again, and replays it in tests.
    ("karat-demo", "karat-run"),
    ("karat-demo", "karat-server"),
    ("karat-demo", "karat-stats"),
    ("karat-demo", "karat-store"),
    ("karat-evidence", "karat-core"),
    ("karat-fuzz", "karat-core"),
    ("karat-fuzz", "karat-demo"),
    ("karat-fuzz", "karat-evidence"),
    ("karat-fuzz", "karat-server"),
    ("karat-fuzz", "karat-store"),
    ("karat-judge", "karat-core"),
    ("karat-judge", "karat-evidence"),
    ("karat-judge", "karat-sandbox"),
    ("karat-process", "karat-evidence"),
    ("karat-process", "karat-run"),
    ("karat-run", "karat-core"),
    ("karat-run", "karat-evidence"),
    ("karat-run", "karat-store"),
    ("karat-runner", "karat-core"),
    ("karat-runner", "karat-evidence"),
    ("karat-runner", "karat-process"),
    ("karat-runner", "karat-run"),
    ("karat-runner", "karat-sandbox"),
    ("karat-server", "karat"),
    ("karat-server", "karat-core"),
    // Its pages are tested on the demo.
    ("karat-server", "karat-demo"),
    ("karat-server", "karat-evidence"),
    ("karat-server", "karat-process"),
    ("karat-server", "karat-run"),
    ("karat-server", "karat-standing"),
    ("karat-server", "karat-stats"),
    ("karat-server", "karat-store"),
    ("karat-standing", "karat-core"),
    ("karat-standing", "karat-stats"),
    ("karat-stats", "karat-core"),
    ("karat-store", "karat-core"),
];

const LINES_MAX: usize = 700;

/// The beginnings of local paths, in two parts, so that this file passes its own test.
const LOCAL_FOLDERS: &[(&str, &str)] =
    &[("/ho", "me/"), ("/Us", "ers/"), ("/ro", "ot/"), ("/t", "mp/"), ("/wo", "rk/"), ("C:", "\\")];

#[test]
fn crates_depend_on_each_other_only_as_listed() {
    let manifests: Vec<String> =
        package_folders().iter().map(|folder| read(&folder.join("Cargo.toml"))).collect();
    let names: BTreeSet<&str> = manifests.iter().map(|text| package_name(text)).collect();
    let found: BTreeSet<(&str, &str)> = manifests
        .iter()
        .flat_map(|text| dependencies(text, &names).into_iter().map(|name| (package_name(text), name)))
        .collect();
    let listed = EDGES.iter().copied().collect();
    let unlisted: Vec<_> = found.difference(&listed).collect();
    let gone: Vec<_> = listed.difference(&found).collect();
    assert!(unlisted.is_empty(), "not in the table of this test: {unlisted:?}");
    assert!(gone.is_empty(), "in the table of this test, but in no manifest: {gone:?}");
}

/// Names that only the engine puts together: reader, scorer and workspace. Every other crate scores through `karat::Engine`.
const PARTS_OF_THE_ENGINE: [&str; 3] = ["Workspace", "Scorer::new", "Reader"];

#[test]
fn every_door_scores_through_the_one_engine() {
    let doors = ["crates/cli/src", "crates/server/src", "crates/demo/src", "conformance/src"];
    let files = tracked_files();
    let in_doors = files.iter().filter(|file| doors.iter().any(|door| file.starts_with(root().join(door))));
    let mut seen = 0;
    for file in in_doors.filter(|file| file.extension().is_some_and(|it| it == "rs") && file.exists()) {
        seen += 1;
        let text = read(file);
        let uses = text.lines().filter(|line| {
            line.contains("karat_core::evaluate")
                || line.contains("karat_evidence::")
                || line.contains("::new")
        });
        for line in uses {
            let words: BTreeSet<&str> = line.split(|c: char| !(c.is_alphanumeric() || c == '_')).collect();
            let part =
                PARTS_OF_THE_ENGINE.iter().find(|part| part.split("::").all(|word| words.contains(word)));
            let is_of_store = line.contains("Sqlite") || line.contains("store");
            assert!(part.is_none() || is_of_store, "{}: `{line}`: use `karat::Engine`", relative(file));
        }
    }
    assert!(seen > 100, "only {seen} files were looked at");
}

/// Modules at the top of a crate, each with those it names. What a module imports for its tests counts for nothing.
fn modules(source: &Path) -> BTreeMap<String, BTreeSet<String>> {
    let mut modules: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for file in files_below(source).iter().filter(|file| file.extension().is_some_and(|it| it == "rs")) {
        let path = file.strip_prefix(source).expect("a file below the folder").with_extension("");
        let parts: Vec<_> = path.iter().map(|part| part.to_string_lossy().into_owned()).collect();
        if parts.iter().any(|part| ["lib", "main", "tests"].contains(&part.as_str())) {
            continue;
        }
        let text = read(file);
        let code = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
        let code: Vec<&str> = code.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
        let named = modules.entry(parts[0].clone()).or_default();
        for rest in code.join("\n").split("crate::").skip(1) {
            let list =
                rest.strip_prefix('{').map_or("", |inner| inner.split("};").next().unwrap_or_default());
            let heads = if list.is_empty() { vec![rest] } else { list.split(',').collect() };
            let word = |head: &str| {
                head.trim_start().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>()
            };
            named.extend(heads.into_iter().map(word).filter(|word| *word != parts[0]));
        }
    }
    modules
}

#[test]
fn modules_of_a_crate_know_each_other_in_one_direction() {
    let mut sources: Vec<PathBuf> = crate_folders().iter().map(|folder| folder.join("src")).collect();
    sources.push(root().join("src"));
    for source in sources {
        let mut left = modules(&source);
        assert!(!left.is_empty(), "{} has no module", relative(&source));
        loop {
            let names: BTreeSet<String> = left.keys().cloned().collect();
            left.retain(|_, named| named.iter().any(|name| names.contains(name)));
            if left.len() == names.len() {
                break;
            }
        }
        assert!(left.is_empty(), "{}: a circle is among these modules: {left:?}", relative(&source));
    }
}

#[test]
fn every_crate_is_a_member_of_the_workspace() {
    let manifest = read(&root().join("Cargo.toml"));
    let members =
        manifest.split("\nmembers").nth(1).and_then(|rest| rest.split(']').next()).expect("no `members`");
    let listed: BTreeSet<&str> = members.split('"').skip(1).step_by(2).collect();
    let there: Vec<String> = crate_folders().iter().map(|folder| relative(folder)).collect();
    assert_eq!(there.iter().map(String::as_str).collect::<BTreeSet<_>>(), listed);
}

#[test]
fn tracked_files_name_no_local_path_and_can_be_read_in_one_sitting() {
    let mut problems = Vec::new();
    for file in tracked_files() {
        let Ok(text) = fs::read_to_string(&file) else { continue }; // not text, or removed and not yet committed
        let name = relative(&file);
        for (number, line) in text.lines().enumerate() {
            if let Some(path) = local_path(line) {
                problems.push(format!("{name}:{}: local path `{path}`", number + 1));
            }
        }
        let lines = text.lines().count();
        if name.ends_with(".rs") && lines > LINES_MAX {
            problems.push(format!("{name}: {lines} lines, at most {LINES_MAX}: split it"));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn a_local_path_is_told_from_a_path_within_something_else() {
    for (head, tail) in LOCAL_FOLDERS {
        assert_eq!(
            local_path(&format!("see `{head}{tail}ann/notes`")),
            Some(format!("{head}{tail}").as_str())
        );
        assert_eq!(local_path(&format!("https://example.org{head}{tail}page")), None);
        assert_eq!(local_path(&format!("docs{head}{tail}page")), None);
    }
}

#[test]
fn the_pure_crates_forbid_the_same_calls() {
    let lints =
        ["core", "stats", "standing"].map(|name| read(&root().join("crates").join(name).join("clippy.toml")));
    assert!(lints.iter().all(|text| *text == lints[0]), "the clippy.toml of core, stats and standing differ");
}

/// Scores come from evidence and scorecard alone: nothing that the library depends on can reach a network.
#[test]
fn what_scores_reaches_no_network() {
    const NETWORK: &[&str] =
        &["curl", "hyper", "mio", "native-tls", "openssl", "reqwest", "rustls", "socket2", "tokio", "ureq"];
    let lock = read(&root().join("Cargo.lock"));
    let mut needs: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for package in lock.split("[[package]]").skip(1) {
        let quoted = |line: &'static str| package.lines().find(|it| it.starts_with(line));
        let name = quoted("name = ").and_then(|line| line.split('"').nth(1)).expect("a package has a name");
        let list = package.split("dependencies = [").nth(1).unwrap_or_default();
        let list = list.split(']').next().unwrap_or_default();
        // Some names stand with a version: `rand 0.9.2`.
        let names = list.split('"').skip(1).step_by(2).filter_map(|it| it.split(' ').next());
        needs.entry(name).or_default().extend(names);
    }
    assert!(needs["karat-server"].contains("tokio"), "the server shows what this looks for");
    let (mut reached, mut next) = (BTreeSet::new(), vec!["karat"]);
    while let Some(name) = next.pop() {
        if reached.insert(name) {
            next.extend(needs.get(name).into_iter().flatten());
        }
    }
    assert!(reached.contains("karat-core") && reached.contains("serde_json"));
    let found: Vec<&&str> = NETWORK.iter().filter(|name| reached.contains(**name)).collect();
    assert!(found.is_empty(), "the library depends on {found:?}");
    for folder in ["src", "crates/core/src", "crates/evidence/src", "crates/standing/src", "crates/stats/src"]
    {
        for path in files_below(&root().join(folder)) {
            assert!(!read(&path).contains("std::net"), "{}", relative(&path));
        }
    }
}

/// Runs as data: what replays a recording starts nothing and reads no clock; and karat is built without what runs code of others.
#[test]
fn what_runs_code_of_others_is_built_apart() {
    for path in files_below(&root().join("crates/run/src")).iter().filter(|path| !path.ends_with("tests.rs"))
    {
        let text = read(path);
        for module in ["std::process", "std::thread", "std::time", "std::net", "std::env"] {
            assert!(!text.contains(module), "{}: {module}", relative(path));
        }
    }
    let lock = read(&root().join("Cargo.lock"));
    for name in ["karat-runner", "karat-sandbox", "karat-judge", "landlock", "seccompiler", "wasmtime"] {
        assert!(!lock.contains(&format!("\nname = \"{name}\"\n")), "{name}");
    }
}

/// Returns the start of the first path in `line` that begins in a local folder.
fn local_path(line: &str) -> Option<&str> {
    LOCAL_FOLDERS.iter().find_map(|(head, tail)| {
        let start = format!("{head}{tail}");
        let (at, _) = line.match_indices(&start).find(|(at, _)| {
            let before = line[..*at].chars().next_back();
            !before.is_some_and(|c| c.is_alphanumeric() || "._-~}/".contains(c))
        })?;
        line.get(at..at + start.len())
    })
}

/// Returns the packages of the project anywhere in a table of dependencies, also under another name.
fn dependencies<'a>(manifest: &'a str, names: &BTreeSet<&'a str>) -> BTreeSet<&'a str> {
    let mut inside = false;
    let mut found = BTreeSet::new();
    for line in manifest.lines().filter_map(|line| line.split('#').next()) {
        if line.starts_with('[') {
            inside = line.contains("dependencies") && !line.contains("workspace.dependencies");
        }
        if inside {
            let words = line.split(|c: char| !(c.is_alphanumeric() || c == '-' || c == '_'));
            found.extend(words.filter(|word| names.contains(word)));
        }
    }
    found
}

fn package_name(manifest: &str) -> &str {
    let rest = manifest.split("[package]").nth(1).and_then(|rest| rest.split("name = \"").nth(1));
    rest.and_then(|rest| rest.split('"').next()).expect("a manifest without a package name")
}

fn package_folders() -> Vec<PathBuf> {
    let mut folders = crate_folders();
    folders.push(root());
    folders.extend(["fuzz", "runner", "runner/judge", "runner/sandbox"].map(|name| root().join(name)));
    folders
}

fn crate_folders() -> Vec<PathBuf> {
    let entries = fs::read_dir(root().join("crates")).expect("no folder `crates`");
    let folders = entries
        .map(|entry| entry.expect("an unreadable entry").path())
        .filter(|path| path.join("Cargo.toml").exists());
    folders.chain([root().join("conformance")]).collect()
}

/// Returns the files that git tracks; outside a clone, as in an unpacked release, every file but those of a build.
fn tracked_files() -> Vec<PathBuf> {
    let listing = Command::new("git").args(["ls-files", "-z"]).current_dir(root()).output();
    match listing {
        Ok(output) if output.status.success() => {
            let names = String::from_utf8(output.stdout).expect("a file name that is not UTF-8");
            names.split_terminator('\0').map(|name| root().join(name)).collect()
        }
        _ => files_below(&root()),
    }
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("an unreadable folder").flatten().map(|entry| entry.path());
    let (folders, mut files): (Vec<_>, Vec<_>) = entries.partition(|path| path.is_dir());
    for inner in folders.iter().filter(|path| !["target", ".git"].iter().any(|name| path.ends_with(name))) {
        files.extend(files_below(inner));
    }
    files
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .expect("no repository around this crate")
}

fn relative(path: &Path) -> String {
    path.strip_prefix(root()).expect("a path outside of the repository").to_string_lossy().replace('\\', "/")
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
