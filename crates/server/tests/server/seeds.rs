//! The seeds of every fuzz target pass: `fuzz/README.md` says what each of them checks.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use tempfile::TempDir;

#[path = "../../../../fuzz/targets/mod.rs"]
mod targets;

/// An input that takes longer hangs.
const SECONDS_MAX: Duration = Duration::from_secs(20);

static CORPUS: LazyLock<TempDir> = LazyLock::new(|| {
    let folder = tempfile::tempdir().unwrap();
    let made = Command::new("bash").arg(root().join("fuzz/seed.sh")).arg(folder.path()).output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    folder
});

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Names the seed at which a target panics.
struct Named(PathBuf);

impl Drop for Named {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("at the seed {}", self.0.display());
        }
    }
}

fn pass(name: &str) {
    let (_, check) = targets::ALL.into_iter().find(|(known, _)| *known == name).unwrap();
    let mut seeds: Vec<PathBuf> =
        fs::read_dir(CORPUS.path().join(name)).unwrap().map(|entry| entry.unwrap().path()).collect();
    seeds.sort();
    assert!(!seeds.is_empty());
    for seed in seeds {
        let (bytes, began) = (fs::read(&seed).unwrap(), Instant::now());
        let named = Named(seed);
        check(&bytes);
        assert!(began.elapsed() < SECONDS_MAX, "it took {:?}", began.elapsed());
        drop(named);
    }
}

macro_rules! targets {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() {
            pass(stringify!($name));
        })*

        #[test]
        fn every_target_is_among_these() {
            let mut files: Vec<String> = fs::read_dir(root().join("fuzz/fuzz_targets"))
                .unwrap()
                .map(|entry| entry.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned())
                .collect();
            files.sort();
            assert_eq!(files, [$(stringify!($name)),*]);
            assert_eq!(targets::ALL.map(|(name, _)| name), [$(stringify!($name)),*]);
        }
    };
}

targets!(cache evidence graders import reports request scorecard source);
