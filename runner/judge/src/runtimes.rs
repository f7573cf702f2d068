//! Language runtimes by digest: found in a folder, compiled once, kept in a private cache.

use std::fmt;
use std::fs::{self, DirBuilder, File};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use karat_core::facts::Digest;
use wasmtime::component::Component;
use wasmtime::{Engine, Module};

use crate::engine::EngineKind;
use crate::metering;

mod load;

/// Language that has a runtime.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// Python: a component.
    Python,
    /// JavaScript: a module.
    JavaScript,
}

impl Language {
    /// The languages.
    pub const ALL: [Self; 2] = [Self::Python, Self::JavaScript];

    /// Returns the name, as jobs have it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Python => "python",
            Self::JavaScript => "javascript",
        }
    }

    /// Returns the digest of the runtime that `scripts/build-runtime` makes.
    pub const fn digest(self) -> &'static str {
        match self {
            Self::Python => include_str!("../guest/python/runtime.sha256").trim_ascii(),
            Self::JavaScript => include_str!("../guest/javascript/runtime.sha256").trim_ascii(),
        }
    }
}

/// Reason for which a runtime cannot be used: it cannot be read, compiled or kept.
#[derive(Debug)]
pub struct RuntimeError(String);

impl fmt::Display for RuntimeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for RuntimeError {}

fn unusable(path: &Path, error: &impl fmt::Display) -> RuntimeError {
    RuntimeError(format!("{}: {error}", path.display()))
}

/// A runtime in the folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The language.
    pub language: Language,
    /// The file.
    pub path: PathBuf,
    /// Its digest, as its name says.
    pub digest: String,
}

/// Returns the runtimes in a folder, language by language: the one that this judge was built for first, others by digest.
pub fn found_in(folder: &Path) -> Vec<Found> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<Found> = entries
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let (name, hex) = name.strip_suffix(".wasm")?.rsplit_once('-')?;
            let language = Language::ALL.into_iter().find(|language| language.name() == name)?;
            let is_digest = hex.len() == 64 && hex.bytes().all(|byte| byte.is_ascii_hexdigit());
            // A pipe would be waited for, and a folder cannot be read.
            let is_file = entry.path().is_file();
            (is_digest && is_file).then(|| Found {
                language,
                path: entry.path(),
                digest: format!("sha256:{hex}"),
            })
        })
        .collect();
    found.sort_by_key(|found| {
        (found.language.name(), found.digest != found.language.digest(), found.digest.clone())
    });
    found
}

/// Kind of code: how it is compiled, and how what was compiled is loaded.
struct Form<T> {
    compile: fn(&Engine, &[u8]) -> wasmtime::Result<Vec<u8>>,
    load: fn(&Engine, &Path) -> wasmtime::Result<T>,
}

/// Loads a component: from the cache, or else compiled and kept there.
///
/// # Errors
///
/// If the file is not what its name says, does not compile, or the cache is not private.
pub fn component(
    engine: &Engine,
    kind: EngineKind,
    found: &Found,
    cache: &Path,
) -> Result<Component, RuntimeError> {
    let form = Form { compile: Engine::precompile_component, load: load::component };
    loaded(engine, kind, found, cache, &form)
}

/// Loads a module, with a count of the depth of its calls: from the cache, or else compiled and kept there.
///
/// # Errors
///
/// If the file is not what its name says, does not compile, or the cache is not private.
pub fn module(
    engine: &Engine,
    kind: EngineKind,
    found: &Found,
    cache: &Path,
) -> Result<Module, RuntimeError> {
    let compile = |engine: &Engine, bytes: &[u8]| {
        let bytes = metering::metered(bytes).map_err(wasmtime::Error::msg)?;
        engine.precompile_module(&bytes)
    };
    loaded(engine, kind, found, cache, &Form { compile, load: load::module })
}

fn loaded<T>(
    engine: &Engine,
    kind: EngineKind,
    found: &Found,
    cache: &Path,
    form: &Form<T>,
) -> Result<T, RuntimeError> {
    let folder = private_folder(cache)?;
    let key = key(engine, kind, found);
    let index = folder.join(format!("{key}.digest"));
    if let Some(code) = cached(engine, &folder, &index, form) {
        return Ok(code);
    }
    // A second process waits here, and finds the work done.
    let lock_path = folder.join(format!("{key}.lock"));
    let lock = File::create(&lock_path).map_err(|error| unusable(&lock_path, &error))?;
    lock.lock().map_err(|error| unusable(&lock_path, &error))?;
    if let Some(code) = cached(engine, &folder, &index, form) {
        return Ok(code);
    }
    let bytes = fs::read(&found.path).map_err(|error| unusable(&found.path, &error))?;
    let actual = Digest::of(&bytes).to_string();
    if actual != found.digest {
        let what = format!(
            "its digest is {actual}, not that of its name: build it again with scripts/build-runtime"
        );
        return Err(unusable(&found.path, &what));
    }
    let code = compile(engine, found, &bytes, form)?;
    let code_digest = Digest::of(&code).to_string();
    let path = folder.join(code_name(&code_digest));
    // Under the lock of the key: what a process that was ended left there is overwritten.
    let scratch = folder.join(format!("{key}.part"));
    write(&scratch, &path, &code).map_err(|error| unusable(&path, &error))?;
    write(&scratch, &index, code_digest.as_bytes()).map_err(|error| unusable(&index, &error))?;
    cached(engine, &folder, &index, form)
        .ok_or_else(|| unusable(&path, &"the compiled code cannot be loaded again; remove the folder"))
}

/// Returns true if the cache has the code of a runtime. Whether it can be used shows when it is loaded.
pub fn is_compiled(engine: &Engine, kind: EngineKind, found: &Found, cache: &Path) -> bool {
    cache.join(format!("{}.digest", key(engine, kind, found))).exists()
}

/// Compiles, with words on standard error for the person who waits.
fn compile<T>(engine: &Engine, found: &Found, bytes: &[u8], form: &Form<T>) -> Result<Vec<u8>, RuntimeError> {
    let begun = Instant::now();
    eprintln!("karat-judge: compiles {}, once; this may take a minute", found.path.display());
    let (done, wait) = mpsc::channel::<()>();
    let code = std::thread::scope(|scope| {
        scope.spawn(move || {
            while let Err(RecvTimeoutError::Timeout) = wait.recv_timeout(Duration::from_secs(5)) {
                eprintln!("karat-judge: compiles, {} s", begun.elapsed().as_secs());
            }
        });
        let code = (form.compile)(engine, bytes);
        drop(done);
        code
    });
    let code = code.map_err(|error| unusable(&found.path, &format!("{error:#}")))?;
    eprintln!("karat-judge: compiled in {:.1} s", begun.elapsed().as_secs_f64());
    Ok(code)
}

fn code_name(code_digest: &str) -> String {
    format!("{}.cwasm", code_digest.trim_start_matches("sha256:"))
}

/// Returns the name under which the code of a runtime is kept: another engine, machine or setting has another.
fn key(engine: &Engine, kind: EngineKind, found: &Found) -> String {
    use std::hash::{DefaultHasher, Hash as _, Hasher as _};
    let mut hasher = DefaultHasher::new();
    engine.precompile_compatibility_hash().hash(&mut hasher);
    if found.language == Language::JavaScript {
        metering::COSTS.hash(&mut hasher);
    }
    let hex = found.digest.trim_start_matches("sha256:");
    format!("{}-{}-{:016x}", hex.get(..32).unwrap_or(hex), kind.name(), hasher.finish())
}

/// Returns the code that an entry of the cache names, if it exists and has its digest.
fn cached<T>(engine: &Engine, folder: &Path, index: &Path, form: &Form<T>) -> Option<T> {
    let code_digest = fs::read_to_string(index).ok()?;
    let path = folder.join(code_name(&code_digest));
    let code = fs::read(&path).ok()?;
    if Digest::of(&code).to_string() != code_digest {
        return None;
    }
    (form.load)(engine, &path).ok()
}

/// Writes a file so that no one sees a part of it.
fn write(scratch: &Path, path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::create(scratch)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(scratch, path)
}

/// Returns the folder of compiled code. What lies in it is run as it is, so it must belong to this user.
fn private_folder(folder: &Path) -> Result<PathBuf, RuntimeError> {
    let fail = |error: io::Error| unusable(folder, &error);
    DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(fail)?;
    let metadata = fs::symlink_metadata(folder).map_err(fail)?;
    if !metadata.is_dir() || metadata.uid() != rustix::process::geteuid().as_raw() {
        return Err(unusable(folder, &"the cache belongs to someone else: name another with --cache"));
    }
    if metadata.permissions().mode() & 0o077 != 0 {
        return Err(unusable(
            folder,
            &"others may read or write the cache: chmod 700, or name another with --cache",
        ));
    }
    Ok(folder.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_file_is_no_runtime() {
        let folder = tempfile::tempdir().unwrap();
        let name = |digit: &str| folder.path().join(format!("python-{}.wasm", digit.repeat(64)));
        fs::create_dir(name("a")).unwrap();
        std::os::unix::fs::symlink("/nowhere", name("b")).unwrap();
        assert!(std::process::Command::new("mkfifo").arg(name("c")).status().unwrap().success());
        assert!(found_in(folder.path()).is_empty());
        fs::write(name("d"), "").unwrap();
        std::os::unix::fs::symlink(name("d"), name("e")).unwrap();
        let found: Vec<PathBuf> = found_in(folder.path()).into_iter().map(|found| found.path).collect();
        assert_eq!(found, [name("d"), name("e")]);
    }

    #[test]
    fn a_cache_that_others_may_write_is_refused_untouched_and_judges_may_share_one() {
        let folder = tempfile::tempdir().unwrap();
        let open = folder.path().join("open");
        fs::create_dir(&open).unwrap();
        fs::set_permissions(&open, fs::Permissions::from_mode(0o777)).unwrap();
        let refused = private_folder(&open).unwrap_err().to_string();
        assert!(refused.contains("chmod 700"), "{refused}");
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&open, &link).unwrap();
        assert!(private_folder(&link).is_err());
        assert_eq!(fs::read_dir(&open).unwrap().count(), 0);
        let shared = folder.path().join("shared");
        std::thread::scope(|scope| {
            let all: Vec<_> =
                (0..8).map(|_| scope.spawn(|| (0..200).all(|_| private_folder(&shared).is_ok()))).collect();
            assert!(all.into_iter().all(|one| one.join().unwrap()));
        });
    }
}
