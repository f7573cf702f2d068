//! Search for the programs that are built from `runner/`.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use karat_run::{Fault, quoted};

/// A program that karat starts where it is installed.
#[derive(Debug)]
pub struct Program {
    /// Its name.
    pub name: &'static str,
    /// The variable that names it.
    pub variable: &'static str,
    /// The flag that names it, if there is one.
    pub flag: Option<&'static str>,
}

/// The program that judges submitted code.
pub const JUDGE: Program = Program { name: "karat-judge", variable: "KARAT_JUDGE", flag: Some("--judge") };

/// The program that carries out workflows.
pub const RUNNER: Program = Program { name: "karat-runner", variable: "KARAT_RUNNER", flag: None };

/// The command that builds both.
const BUILD: &str = "cargo build --release --locked --manifest-path runner/Cargo.toml";

impl Program {
    /// Finds the program: the path that is given, else that in its variable, else beside `own`, else in `PATH`.
    ///
    /// # Errors
    ///
    /// If no place has it; or if what was named is not a program.
    pub fn find(
        &self,
        given: Option<&Path>,
        own: Option<&Path>,
        variable: &dyn Fn(&str) -> Option<OsString>,
    ) -> Result<PathBuf, Fault> {
        if let Some(path) = given {
            return self.named(path, self.flag.unwrap_or(self.variable));
        }
        if let Some(path) = variable(self.variable).filter(|path| !path.is_empty()) {
            return self.named(Path::new(&path), self.variable);
        }
        let file = format!("{}{}", self.name, std::env::consts::EXE_SUFFIX);
        let beside = own.and_then(Path::parent).map(|folder| folder.join(&file));
        let listed = variable("PATH").unwrap_or_default();
        // An empty entry would be the current folder, where anyone may have put something.
        let folders = std::env::split_paths(&listed).filter(|folder| folder.as_os_str() != OsStr::new(""));
        let mut places = beside.into_iter().chain(folders.map(|folder| folder.join(&file)));
        places.find(|path| is_program(path)).ok_or_else(|| {
            let flag = self.flag.map_or_else(String::new, |flag| format!("{flag} PATH or "));
            Fault::new(
                format!("there is no `{}` beside this program or in PATH", self.name),
                format!("build it with `{BUILD}`, and name it: {flag}{}", self.variable),
            )
        })
    }

    /// Finds the program from the environment of this process.
    ///
    /// # Errors
    ///
    /// As [`find`](Self::find).
    pub fn found(&self, given: Option<&Path>) -> Result<PathBuf, Fault> {
        let own = std::env::current_exe().ok();
        self.find(given, own.as_deref(), &|name| std::env::var_os(name))
    }

    fn named(&self, path: &Path, by: &str) -> Result<PathBuf, Fault> {
        if is_program(path) {
            // A name without a folder would be looked up in `PATH`.
            return Ok(std::path::absolute(path).unwrap_or_else(|_| path.to_owned()));
        }
        let what = if path.is_file() { "a file that may not be executed" } else { "no program" };
        let shown = quoted(&path.to_string_lossy());
        Err(Fault::new(
            format!("{by}: found {what} at {shown}"),
            format!("expected the path of `{}`", self.name),
        ))
    }
}

#[cfg(unix)]
fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    path.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(path: &Path) -> bool {
    path.is_file()
}

#[cfg(all(test, unix))]
#[expect(clippy::unwrap_used, reason = "helpers of a test may stop it")]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn program(folder: &Path) -> PathBuf {
        fs::create_dir_all(folder).unwrap();
        let path = folder.join(JUDGE.name);
        fs::write(&path, "#!/bin/sh\n").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    #[test]
    fn every_place_is_looked_at_in_its_order() {
        let folder = tempfile::tempdir().unwrap();
        let [given, named, beside, listed] =
            ["given", "named", "beside", "listed"].map(|name| program(&folder.path().join(name)));
        let own = beside.with_file_name("karat");
        let variables = |with_name: bool, with_path: bool| {
            let (named, listed) = (named.clone(), listed.clone());
            move |name: &str| match name {
                "KARAT_JUDGE" => with_name.then(|| named.clone().into_os_string()),
                "PATH" => with_path.then(|| {
                    std::env::join_paths(["", &listed.parent().unwrap().to_string_lossy()]).unwrap()
                }),
                _ => None,
            }
        };
        for (given_path, own, variables, expected) in [
            (Some(&given), Some(&own), variables(true, true), Some(&given)),
            (None, Some(&own), variables(true, true), Some(&named)),
            (None, Some(&own), variables(false, true), Some(&beside)),
            (None, None, variables(false, true), Some(&listed)),
            (None, None, variables(false, false), None),
        ] {
            let found = JUDGE.find(given_path.map(PathBuf::as_path), own.map(PathBuf::as_path), &variables);
            assert_eq!(found.as_ref().ok(), expected);
        }
        let error = JUDGE.find(None, None, &|_| None).unwrap_err();
        assert!(
            error.to_string().ends_with("runner/Cargo.toml`, and name it: --judge PATH or KARAT_JUDGE"),
            "{error}"
        );
        let error = RUNNER.find(None, None, &|_| None).unwrap_err();
        assert!(error.to_string().ends_with("runner/Cargo.toml`, and name it: KARAT_RUNNER"), "{error}");
    }

    #[test]
    fn what_is_named_and_is_no_program_is_refused_and_nothing_else_is_tried() {
        let folder = tempfile::tempdir().unwrap();
        let beside = program(folder.path());
        let text = folder.path().join("notes.txt");
        fs::write(&text, "x").unwrap();
        for (path, what) in [(text.as_path(), "may not be executed"), (Path::new("nowhere"), "no program")] {
            for by in ["--judge", "KARAT_JUDGE"] {
                let given = (by == "--judge").then_some(path);
                let variable = |name: &str| (name == "KARAT_JUDGE").then(|| path.as_os_str().to_owned());
                let error = JUDGE.find(given, Some(&beside), &variable).unwrap_err().to_string();
                assert!(error.starts_with(by) && error.contains(what), "{error}");
            }
        }
    }
}
