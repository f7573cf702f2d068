//! Runs the real program in a pinned world.
#![expect(clippy::expect_used, reason = "helpers of a test may stop it")]

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

/// The status and output of a command.
pub struct Run {
    pub stdout: String,
    pub stderr: String,
    pub status: i32,
}

impl Run {
    /// Returns the whole screen, for a snapshot. Digests change with the engine's version, so they are left out.
    pub fn screen(&self) -> String {
        let mut screen = format!("exit status {}\n", self.status);
        for (name, text) in [("output", &self.stdout), ("errors", &self.stderr)] {
            if !text.is_empty() {
                screen.push_str(&format!("--- {name}\n{}\n", without_digests(text).trim_end()));
            }
        }
        screen
    }

    /// Checks the status, and a part of the errors.
    #[track_caller]
    pub fn ends(&self, status: i32, told: impl AsRef<str>) {
        assert_eq!(self.status, status, "{}", self.stderr);
        self.tells(told);
    }

    /// Checks a part of the errors.
    #[track_caller]
    pub fn tells(&self, told: impl AsRef<str>) {
        assert!(self.stderr.contains(told.as_ref()), "{}: {}", told.as_ref(), self.stderr);
    }
}

fn without_digests(text: &str) -> String {
    let mut pieces = text.split("sha256:");
    let mut kept = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        kept.push_str("sha256:[digest]");
        kept.push_str(piece.trim_start_matches(|c: char| c.is_ascii_hexdigit()));
    }
    kept
}

/// Returns the folder of the repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the folder of the repository")
}

/// Returns the program without environment variables that could change its output.
pub fn program(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_karat"));
    command.current_dir(folder).stdin(Stdio::null());
    for name in [
        "NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "COLUMNS", "TERM", "CI", "KARAT_FORMAT",
        "GITHUB_STEP_SUMMARY", "SSL_CERT_FILE", "ALL_PROXY", "HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY",
        "all_proxy", "https_proxy", "http_proxy", "no_proxy",
    ] {
        command.env_remove(name);
    }
    command
}

/// Runs the program at the root of the repository.
pub fn karat(arguments: &[&str]) -> Run {
    finish(program(&root()).args(arguments), "")
}

/// Returns a program of the second implementation that answers an input.
pub fn reference(name: &str) -> impl Fn(&str) -> String {
    let script = root().join("reference").join(name);
    move |input: &str| {
        let run = finish(Command::new("python3").arg("-B").arg(&script), input);
        assert_eq!((run.status, run.stderr.as_str()), (0, ""));
        run.stdout
    }
}

/// Runs the program at the root of the repository with something on standard input.
pub fn karat_reading(arguments: &[&str], input: &str) -> Run {
    finish(program(&root()).args(arguments), input)
}

/// Runs a prepared command with `input` on its standard input.
pub fn finish(command: &mut Command, input: &str) -> Run {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut stdin = child.stdin.take().expect("a pipe to the program");
    let input = input.to_owned();
    // A program that refuses its input stops reading: that is not an error of the test.
    let writer = std::thread::spawn(move || stdin.write_all(input.as_bytes()));
    let output = child.wait_with_output().expect("the program ends");
    let _ = writer.join();
    Run {
        stdout: String::from_utf8(output.stdout).expect("text on standard output"),
        stderr: String::from_utf8(output.stderr).expect("text on standard error"),
        status: output.status.code().expect("a status, not a signal"),
    }
}

/// A separate folder for one test, removed afterwards.
pub struct Folder(PathBuf);

impl Folder {
    pub fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("karat-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        fs::create_dir_all(&path).expect("a folder for the test");
        Self(path)
    }

    /// Writes a file into it.
    pub fn write(&self, name: &str, text: &str) {
        fs::write(self.0.join(name), text).expect("a file for the test");
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Runs the program in it.
    pub fn karat(&self, arguments: &[&str]) -> Run {
        finish(program(&self.0).args(arguments), "")
    }

    /// Runs a line without quotes in it.
    pub fn line(&self, text: &str) -> Run {
        self.karat(&text.split_whitespace().collect::<Vec<_>>())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Returns an example file, as text.
pub fn example(path: &str) -> String {
    fs::read_to_string(root().join("examples").join(path)).expect("an example")
}

/// Returns a fixed sequence of numbers that looks random (SplitMix64).
pub fn numbers(mut state: u64) -> impl FnMut(u64) -> u64 {
    move |below| {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % below
    }
}
