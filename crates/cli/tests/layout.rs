//! The layout of the project: dependencies between crates, no local paths, no file too long to read.
#![expect(clippy::expect_used, clippy::panic, reason = "helpers of a test may stop it")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::process::Command;

/// Every dependency of one package of the project on another, of any kind. A new one is a decision, and belongs here.
const EDGES: &[(&str, &str)] = &[
    ("karat", "karat-checker"),
    ("karat", "karat-core"),
    ("karat", "karat-evidence"),
    ("karat", "karat-graders"),
    ("karat", "karat-importers"),
    ("karat", "karat-reader"),
    ("karat", "karat-standing"),
    ("karat", "karat-stats"),
    ("karat", "karat-store"),
    ("karat-cli", "karat"),
    // The files of its pages: `verify --html` writes them.
    ("karat-cli", "karat-browser"),
    ("karat-checker", "karat-core"),
    ("karat-cli", "karat-checker"),
    ("karat-cli", "karat-core"),
    ("karat-cli", "karat-demo"),
    // Files of Parquet and Arrow, a feature.
    ("karat-cli", "karat-frames"),
    ("karat-cli", "karat-evidence"),
    ("karat-cli", "karat-graders"),
    ("karat-cli", "karat-importers"),
    ("karat-cli", "karat-reader"),
    ("karat-cli", "karat-process"),
    ("karat-cli", "karat-run"),
    ("karat-cli", "karat-server"),
    ("karat-cli", "karat-standing"),
    ("karat-cli", "karat-stats"),
    ("karat-cli", "karat-store"),
    ("karat-cli", "karat-terminal"),
    ("karat-conformance", "karat"),
    ("karat-conformance", "karat-core"),
    ("karat-conformance", "karat-evidence"),
    ("karat-conformance", "karat-graders"),
    ("karat-conformance", "karat-reader"),
    ("karat-conformance", "karat-standing"),
    ("karat-conformance", "karat-stats"),
    ("karat-demo", "karat"),
    ("karat-demo", "karat-evidence"),
    ("karat-demo", "karat-graders"),
    // It begins the workflow of the demo again, and replays it in tests.
    ("karat-demo", "karat-run"),
    ("karat-demo", "karat-server"),
    ("karat-demo", "karat-stats"),
    ("karat-demo", "karat-store"),
    ("karat-evidence", "karat-core"),
    ("karat-frames", "karat"),
    ("karat-frames", "karat-core"),
    ("karat-fuzz", "karat-checker"),
    ("karat-fuzz", "karat-core"),
    ("karat-fuzz", "karat-demo"),
    ("karat-fuzz", "karat-evidence"),
    ("karat-fuzz", "karat-graders"),
    ("karat-fuzz", "karat-importers"),
    ("karat-fuzz", "karat-reader"),
    ("karat-fuzz", "karat-server"),
    ("karat-fuzz", "karat-store"),
    // The cards of its tests are checked; so in reader and standing.
    ("karat-graders", "karat-checker"),
    ("karat-graders", "karat-core"),
    ("karat-graders", "karat-evidence"),
    ("karat-importers", "karat-core"),
    ("karat-importers", "karat-evidence"),
    // The items that its tests make are read.
    ("karat-importers", "karat-reader"),
    ("karat-judge", "karat-core"),
    ("karat-judge", "karat-evidence"),
    ("karat-judge", "karat-graders"),
    ("karat-judge", "karat-sandbox"),
    ("karat-process", "karat-graders"),
    ("karat-process", "karat-run"),
    ("karat-module", "karat"),
    ("karat-module", "karat-core"),
    ("karat-module", "karat-store"),
    ("karat-python", "karat"),
    // The command in the wheel.
    ("karat-python", "karat-cli"),
    ("karat-python", "karat-core"),
    ("karat-python", "karat-frames"),
    ("karat-reader", "karat-checker"),
    ("karat-reader", "karat-core"),
    ("karat-reader", "karat-evidence"),
    ("karat-reader", "karat-graders"),
    ("karat-run", "karat-core"),
    ("karat-run", "karat-evidence"),
    ("karat-run", "karat-graders"),
    ("karat-run", "karat-reader"),
    ("karat-run", "karat-store"),
    ("karat-runner", "karat"),
    ("karat-runner", "karat-core"),
    ("karat-runner", "karat-evidence"),
    ("karat-runner", "karat-graders"),
    ("karat-runner", "karat-process"),
    ("karat-runner", "karat-run"),
    ("karat-runner", "karat-sandbox"),
    ("karat-runner", "karat-terminal"),
    ("karat-server", "karat"),
    ("karat-server", "karat-browser"),
    ("karat-server", "karat-checker"),
    ("karat-server", "karat-core"),
    // Its pages are tested on the demo.
    ("karat-server", "karat-demo"),
    ("karat-server", "karat-evidence"),
    ("karat-server", "karat-graders"),
    ("karat-server", "karat-importers"),
    ("karat-server", "karat-reader"),
    ("karat-server", "karat-process"),
    ("karat-server", "karat-run"),
    ("karat-server", "karat-standing"),
    ("karat-server", "karat-stats"),
    ("karat-server", "karat-store"),
    ("karat-standing", "karat-checker"),
    ("karat-standing", "karat-core"),
    ("karat-standing", "karat-stats"),
    ("karat-stats", "karat-core"),
    ("karat-store", "karat-core"),
    ("karat-terminal", "karat"),
    ("karat-terminal", "karat-core"),
    ("karat-terminal", "karat-reader"),
];

const LINES_MAX: usize = 700;

/// The beginnings of local paths, in two parts, so that this file passes its own test.
const LOCAL_FOLDERS: &[(&str, &str)] =
    &[("/ho", "me/"), ("/Us", "ers/"), ("/ro", "ot/"), ("/t", "mp/"), ("/wo", "rk/"), ("C:", "\\")];

/// The memory of a server is read without a lock, so that no work on much data makes the writer wait.
#[test]
fn the_memory_of_a_server_is_read_without_locks() {
    let folder = root().join("crates/server/src");
    let with_locks =
        |file: &PathBuf| read(file).contains("std::sync::RwLock") || read(file).contains("LockReadGuard");
    let named = |file: PathBuf| file.strip_prefix(&folder).map(Path::to_path_buf).unwrap_or_default();
    let is_source = |file: &PathBuf| file.extension().is_some_and(|ending| ending == "rs");
    let all = files_below(&folder).into_iter().filter(is_source);
    let mut found: Vec<PathBuf> = all.filter(with_locks).map(named).collect();
    found.sort_unstable();
    // The first has a judge that tests put in place.
    assert_eq!(found, ["judging.rs", "shared.rs"].map(PathBuf::from), "see `crates/server/src/shared.rs`");
}

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
            line.contains("karat_core::evaluate") || line.contains("karat_reader::") || line.contains("::new")
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
        assert!(!left.is_empty() || files_below(&source).len() == 1, "{} has no module", relative(&source));
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
    let lints = ["core", "checker", "stats", "standing"]
        .map(|name| read(&root().join("crates").join(name).join("clippy.toml")));
    assert!(lints.iter().all(|text| *text == lints[0]), "the clippy.toml of the pure crates differ");
}

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
    let pure = ["core", "checker", "evidence", "graders", "importers", "reader", "standing", "stats"];
    let folders = pure.iter().map(|name| format!("crates/{name}/src")).chain([String::from("src")]);
    for folder in folders {
        for path in files_below(&root().join(folder))
            .iter()
            .filter(|path| path.extension().is_some_and(|it| it == "rs"))
        {
            assert!(!read(path).contains("std::net"), "{}", relative(path));
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

#[test]
fn without_its_server_karat_has_neither_network_services_nor_a_database() {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["tree", "--locked", "--offline", "-p", "karat-cli", "-e", "normal", "--prefix", "none"]);
    let output = cargo.arg("--no-default-features").current_dir(root()).output().expect("cargo runs");
    let tree = String::from_utf8_lossy(&output.stdout);
    assert!(tree.contains("karat-store v"), "{}", String::from_utf8_lossy(&output.stderr));
    for name in ["axum", "hyper", "tokio", "rusqlite", "libsqlite3-sys", "karat-server", "karat-demo"] {
        assert!(!tree.lines().any(|line| line.starts_with(&format!("{name} "))), "{name}");
    }
}

#[test]
fn no_crate_includes_a_file_outside_of_it() {
    // What the manifest at the root packs.
    const OF_ROOT: [&str; 3] = ["src", "scorecards", "examples"];
    let mut seen = 0;
    let mut outside = Vec::new();
    for folder in crate_folders().into_iter().chain([root()]) {
        for file in files_below(&folder.join("src")).into_iter().filter(|file| is_product(file)) {
            let (text, _) = split_tests(&read(&file));
            let code: Vec<&str> = text.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
            let code = code.join("\n");
            for word in ["include_str!(", "include_bytes!(", "include!(", "#[path = "] {
                for path in code.split(word).skip(1).filter_map(|rest| rest.split('"').nth(1)) {
                    seen += 1;
                    let found = plain(&file.parent().expect("a folder").join(path));
                    let is_packed = match found.strip_prefix(&folder) {
                        // Some of a path is put together: its beginning is the folder.
                        Ok(inner) if folder == root() => {
                            inner.iter().next().is_none_or(|first| OF_ROOT.iter().any(|name| first == *name))
                        }
                        Ok(_) => true,
                        Err(_) => false,
                    };
                    if !is_packed {
                        outside.push(format!("{}: {path}", relative(&file)));
                    }
                }
            }
        }
    }
    assert!(seen > 10, "only {seen} files are included");
    assert!(outside.is_empty(), "not packed with the crate:\n{}", outside.join("\n"));
}

/// Returns a path without `..` in it.
fn plain(path: &Path) -> PathBuf {
    path.components().fold(PathBuf::new(), |mut plain, part| {
        if part == Component::ParentDir {
            plain.pop();
        } else {
            plain.push(part);
        }
        plain
    })
}

/// The lines that a part of the product may have: code below these folders, without tests and benches.
struct Budget {
    name: &'static str,
    folders: &'static [&'static str],
    /// Folders inside of those, with a separate row.
    without: &'static [&'static str],
    lines_max: usize,
    /// A row above its aim only goes down.
    aim: usize,
    /// The endings of the files that count.
    endings: &'static [&'static str],
}

const fn budget(
    name: &'static str,
    folders: &'static [&'static str],
    without: &'static [&'static str],
    lines_max: usize,
    aim: usize,
) -> Budget {
    Budget { name, folders, without, lines_max, aim, endings: &["rs", "ts"] }
}

/// Raising a row is a decision.
const BUDGETS: &[Budget] = &[
    budget("core", &["crates/core/src"], &[], 12_700, 12_000),
    budget("checker", &["crates/checker/src"], &[], 5_640, 4_800),
    budget("stats", &["crates/stats/src"], &[], 13_500, 9_000),
    budget("standing", &["crates/standing/src"], &[], 5_060, 4_800),
    budget("evidence", &["crates/evidence/src", "crates/reader/src"], &[], 8_400, 7_500),
    budget("importers", &["crates/importers/src"], &[], 7_650, 6_000),
    budget("graders", &["crates/graders/src"], &[], 15_000, 15_000),
    budget("karat", &["src"], &[], 45_000, 23_000),
    budget("store", &["crates/store/src"], &[], 5_290, 4_900),
    budget("frames", &["crates/frames/src"], &[], 1_500, 1_500),
    budget("server with arena", &["crates/server/src", "crates/arena/src"], &[], 25_600, 16_500),
    // What writes the pages, and what a browser gets of them.
    Budget {
        endings: &["rs", "css", "js"],
        ..budget("pages", &["crates/server/src/web", "src/write/html"], &[], 6_500, 6_500)
    },
    budget("command line", &["crates/cli/src"], &[], 10_490, 8_500),
    budget("terminal", &["crates/terminal/src"], &[], 910, 900),
    budget("conformance and demo", &["conformance/src", "crates/demo/src"], &[], 4_060, 3_500),
    budget("runs and processes", &["crates/run/src", "crates/process/src"], &[], 2_600, 2_600),
    budget("module for Python", &["bindings/python/src"], &[], 1_600, 1_600),
    budget("module in JavaScript", &["bindings/javascript/module/src"], &[], 330, 1_200),
    budget("package in JavaScript", &["bindings/javascript/src"], &[], 2_600, 2_500),
    budget("pages in JavaScript", &["bindings/javascript/pages"], &[], 350, 350),
    budget("main workspace", &["src", "crates", "conformance"], &[], 162_500, 115_000),
    budget("runner", &["runner"], &[], 13_000, 13_000),
];

/// Lines of tests of the main workspace, and of the runner's.
const TEST_LINES_MAX: [usize; 2] = [71_500, 7_500];

#[test]
fn every_part_keeps_within_its_budget() {
    let counts: BTreeMap<String, (usize, usize)> = tracked_files()
        .iter()
        .filter(|file| has_ending(file, &["rs", "ts", "css", "js"]) && file.exists())
        .map(|file| (relative(file), lines(file)))
        .collect();
    let mut table = Vec::new();
    let mut row = |name: &str, found: usize, lines_max: usize, aim: usize| {
        let mark = if found > lines_max { "  too many" } else { "" };
        table.push(format!("{name:<22}{found:>8} of {lines_max:>7}, aim {aim:>7}{mark}"));
        found <= lines_max
    };
    let mut is_kept = true;
    for budget in BUDGETS {
        let is_in =
            |name: &str, folders: &[&str]| folders.iter().any(|folder| Path::new(name).starts_with(folder));
        let is_counted = |name: &str| {
            is_in(name, budget.folders)
                && !is_in(name, budget.without)
                && has_ending(Path::new(name), budget.endings)
        };
        let counted = counts.iter().filter(|(name, _)| is_counted(name));
        let found: usize = counted.map(|(_, (product, _))| product).sum();
        assert!(found > 0, "{}: there is nothing in {:?}", budget.name, budget.folders);
        is_kept &= row(budget.name, found, budget.lines_max, budget.aim);
    }
    for (of_runner, lines_max) in [false, true].into_iter().zip(TEST_LINES_MAX) {
        let of_workspace = counts.iter().filter(|(name, _)| name.starts_with("runner/") == of_runner);
        let name = if of_runner { "tests of the runner" } else { "tests" };
        is_kept &= row(name, of_workspace.map(|(_, (_, tests))| tests).sum(), lines_max, lines_max);
    }
    assert!(is_kept, "raising a row is a decision:\n{}", table.join("\n"));
}

fn has_ending(file: &Path, endings: &[&str]) -> bool {
    file.extension().is_some_and(|it| endings.iter().any(|ending| it == *ending))
}

/// Returns the lines of a file that are the product, and those that are tests; benches and examples are neither.
fn lines(file: &Path) -> (usize, usize) {
    let text = read(file);
    if !has_ending(file, &["rs"]) {
        return (text.lines().count(), 0);
    }
    if is_product(file) {
        let (product, tests) = split_tests(&text);
        return (product.lines().count(), tests.lines().count());
    }
    let is_in = |name: &str| file.iter().any(|part| part == name);
    let is_test = is_in("tests") || (is_in("src") && !is_in("benches") && !is_in("examples"));
    (0, if is_test { text.lines().count() } else { 0 })
}

/// Returns true if a file is Rust in the folder `src` of a crate, and not a module of its tests.
fn is_product(file: &Path) -> bool {
    let is_test = |part: &str| part == "tests" || part == "tests.rs";
    file.extension().is_some_and(|it| it == "rs")
        && file.iter().any(|part| part == "src")
        && !file.strip_prefix(root()).unwrap_or(file).iter().any(|part| is_test(&part.to_string_lossy()))
        && !is_module_of_tests(file)
}

/// Returns true if the module around a file declares it for tests only.
fn is_module_of_tests(file: &Path) -> bool {
    let (Some(folder), Some(name)) = (file.parent(), file.file_stem()) else { return false };
    let line = format!("#[cfg(test)]\nmod {};\n", name.to_string_lossy());
    let public = line.replace("mod ", "pub(crate) mod ");
    ["mod.rs", "lib.rs", "main.rs"]
        .map(|around| folder.join(around))
        .into_iter()
        .chain([folder.with_extension("rs")])
        .filter_map(|around| fs::read_to_string(around).ok())
        .any(|text| text.contains(&line) || text.contains(&public))
}

/// Returns a text without its modules of tests, and those.
fn split_tests(text: &str) -> (String, String) {
    let (mut product, mut tests) = (String::new(), String::new());
    let mut lines = text.split_inclusive('\n').peekable();
    while let Some(line) = lines.next() {
        let starts = line.trim_end() == "#[cfg(test)]"
            && lines.peek().is_some_and(|next| next.contains("mod ") && next.trim_end().ends_with('{'));
        if !starts {
            product.push_str(line);
            continue;
        }
        tests.push_str(line);
        for line in lines.by_ref() {
            tests.push_str(line);
            if line.trim_end() == "}" {
                break;
            }
        }
    }
    (product, tests)
}

/// Types, traits, functions and constants that the library makes public: what its documentation lists under "All items".
const PUBLIC_ITEMS_MAX: usize = 710;

#[test]
fn the_library_hides_nothing_that_it_makes_public() {
    const WORDS: [&str; 7] = ["fn", "const", "struct", "enum", "trait", "type", "static"];
    let mut count = 0;
    for file in files_below(&root().join("src")).iter().filter(|file| is_product(file)) {
        let (text, _) = split_tests(&read(file));
        assert!(!text.contains("#[doc(hidden)]"), "{}", relative(file));
        let items = text.lines().filter_map(|line| line.strip_prefix("pub "));
        count += items.filter(|item| WORDS.contains(&item.split(' ').next().unwrap_or_default())).count();
    }
    assert!(count > 100 && count <= PUBLIC_ITEMS_MAX, "{count} public items, at most {PUBLIC_ITEMS_MAX}");
}

#[test]
fn modules_of_tests_are_told_from_the_product() {
    let text = "a\n#[cfg(test)]\nmod tests {\n    b\n    }\n}\nc\n#[cfg(test)]\nmod more;\n";
    let (product, tests) = split_tests(text);
    assert_eq!(product, "a\nc\n#[cfg(test)]\nmod more;\n");
    assert_eq!(tests, "#[cfg(test)]\nmod tests {\n    b\n    }\n}\n");
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
    folders
        .chain(["bindings/javascript/module", "bindings/python", "conformance"].map(|name| root().join(name)))
        .collect()
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
    for inner in folders
        .iter()
        .filter(|path| !["target", ".git", "node_modules", "dist"].iter().any(|name| path.ends_with(name)))
    {
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
