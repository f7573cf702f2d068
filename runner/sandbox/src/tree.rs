//! The files of a sandbox: which of them its tree has, where the program is in it, and what Landlock allows there.

use std::ffi::CString;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::landlocked::{self, Rules};
use crate::pin::{Identity, Pin, Pins};
use crate::raw::Step;
use crate::sandbox::{Error, Sandbox};

/// Files that every program needs: programs and libraries, and nothing of anyone's.
const SYSTEM: [&str; 12] = [
    "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/gnu/store",
    "/etc/alternatives", "/etc/ld.so.cache", "/etc/localtime",
];
/// Files in which names are looked up, and certificates.
const NETWORK: [&str; 8] = [
    "/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf", "/etc/services", "/etc/ssl",
    "/etc/ca-certificates", "/etc/pki", "/etc/crypto-policies",
];
const DEVICES: [&str; 5] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];
/// A folder that is there, over which the new tree is put while it is made.
const BASES: [&str; 4] = ["/tmp", "/mnt", "/run", "/usr"];
const OLD: &str = "/.old";
/// The folder for files that go with the sandbox.
pub(crate) const SCRATCH: &str = "/tmp";

/// Something that the tree has.
#[derive(Debug, Clone)]
struct Entry {
    pin: Arc<Pin>,
    is_writable: bool,
}

impl Entry {
    fn path(&self) -> &Path {
        &self.pin.path
    }
}

/// The files of a sandbox.
#[derive(Debug)]
pub(crate) struct Tree {
    entries: Vec<Entry>,
    links: Vec<(PathBuf, PathBuf)>,
    /// The path of the program there, and which file it must be.
    pub(crate) program: (PathBuf, Identity),
    /// The folder to start in, and which one it must be, unless it is an empty one.
    pub(crate) folder: (PathBuf, Option<Identity>),
    scratch_bytes: u64,
}

impl Tree {
    /// Opens what a sandbox names.
    ///
    /// # Errors
    ///
    /// If something is not there any more, or nothing could be written to a folder that is to be written to.
    pub(crate) fn of(
        sandbox: &Sandbox,
        pins: &Pins,
        user: Option<u32>,
        has_tree: bool,
    ) -> Result<Self, Error> {
        let (mut entries, mut links) = (Vec::new(), Vec::new());
        let network = NETWORK.iter().filter(|_| sandbox.has_network);
        for path in SYSTEM.iter().chain(network).map(Path::new) {
            let Ok(pin) = Pin::of(path) else { continue };
            if let Ok(to) = fs::read_link(path) {
                links.push((to, path.to_owned()));
            }
            entries.push(Entry { pin: Arc::new(pin), is_writable: false });
        }
        let named = pins.read.iter().map(|path| (path, false));
        for (path, is_writable) in named.chain(pins.write.iter().map(|path| (path, true))) {
            let pin = Pin::at(path).map_err(|error| full(&error).unwrap_or(Error::Moved(path.clone())))?;
            if path == Path::new("/") {
                return Err(Error::Start(
                    "`/` cannot be allowed as a whole: name folders below it".to_owned(),
                ));
            }
            if is_writable {
                check_writable(&pin, user)?;
            }
            entries.push(Entry { pin: Arc::new(pin), is_writable });
        }
        // The program by its own name if it is allowed there: some look beside themselves.
        let program = Entry { pin: Arc::clone(&pins.program), is_writable: false };
        let target = program.path().to_owned();
        let beside = pins.name.parent().unwrap_or(Path::new("/"));
        let is_allowed =
            entries.iter().any(|entry| entry.path() != target && beside.starts_with(entry.path()));
        entries.push(program);
        let program = if is_allowed { pins.name.clone() } else { target };
        let identity = |pin: &Pin| pin.identity().map_err(|error| Error::System(error.to_string()));
        let program = (program, identity(&pins.program)?);
        let is_empty = has_tree && !entries.iter().any(|entry| pins.folder.path.starts_with(entry.path()));
        let folder = if is_empty { None } else { Some(identity(&pins.folder)?) };
        Ok(Self {
            entries: outermost(entries),
            links,
            program,
            folder: (pins.folder.path.clone(), folder),
            scratch_bytes: sandbox.limits.scratch_bytes,
        })
    }

    fn has_scratch(&self) -> bool {
        self.scratch_bytes > 0
            && !self.entries.iter().any(|entry| Path::new(SCRATCH).starts_with(entry.path()))
    }

    /// Returns the steps to a tree that has this and nothing else.
    ///
    /// # Errors
    ///
    /// If the system cannot say which file something is.
    pub(crate) fn steps(&self, has_processes: bool) -> Result<Vec<Step>, Error> {
        let base = BASES.iter().map(Path::new).find(|base| base.is_dir()).unwrap_or(Path::new("/usr"));
        let below = |folder: &Path, path: &Path| folder.join(path.strip_prefix("/").unwrap_or(path));
        let old = Path::new(OLD);
        let mut steps = vec![Step::Enter { base: text(base), old: text(&below(base, old)) }];
        // Nothing is made in what was mounted: what is in there belongs to others.
        let folders = |steps: &mut Vec<Step>, path: &Path| {
            let is_own = |it: &&Path| {
                *it != Path::new("/") && !self.entries.iter().any(|entry| it.starts_with(entry.path()))
            };
            let above: Vec<&Path> = path.ancestors().filter(is_own).collect();
            steps.extend(above.iter().rev().map(|folder| Step::Folder(text(folder))));
        };
        if self.has_scratch() {
            let options = format!("size={},nr_inodes=65536,mode=1777", self.scratch_bytes);
            folders(&mut steps, Path::new(SCRATCH));
            steps.push(Step::Memory { at: text(Path::new(SCRATCH)), options: text(Path::new(&options)) });
        }
        for entry in &self.entries {
            let path = entry.path();
            let identity = entry.pin.identity().map_err(|error| Error::System(error.to_string()))?;
            folders(&mut steps, path.parent().unwrap_or(path));
            let is_inside =
                self.entries.iter().any(|outer| outer.path() != path && path.starts_with(outer.path()));
            if !is_inside {
                steps.push(if entry.pin.is_folder { Step::Folder } else { Step::File }(text(path)));
            }
            steps.push(Step::Bind {
                from: text(&below(old, path)),
                at: text(path),
                identity: Some(identity),
                is_inside,
                is_writable: entry.is_writable,
                is_device: false,
            });
        }
        for device in DEVICES.iter().map(Path::new).filter(|device| device.exists()) {
            folders(&mut steps, device.parent().unwrap_or(device));
            steps.push(Step::File(text(device)));
            steps.push(Step::Bind {
                from: text(&below(old, device)),
                at: text(device),
                identity: None,
                is_inside: false,
                is_writable: true,
                is_device: true,
            });
        }
        for (to, at) in &self.links {
            folders(&mut steps, at.parent().unwrap_or(at));
            steps.push(Step::Link { to: text(to), at: text(at) });
        }
        let mut links = vec![("/proc/self/fd", "/dev/fd")];
        links.extend(self.has_scratch().then_some((SCRATCH, "/dev/shm")));
        steps.extend(
            links.iter().map(|(to, at)| Step::Link { to: text(Path::new(to)), at: text(Path::new(at)) }),
        );
        folders(&mut steps, Path::new("/proc"));
        if has_processes {
            steps.push(Step::Processes { at: text(Path::new("/proc")) });
        }
        folders(&mut steps, &self.folder.0);
        steps.extend([Step::Leave { old: text(old) }, Step::Seal]);
        Ok(steps)
    }

    /// Makes the rules of Landlock.
    ///
    /// # Errors
    ///
    /// If the kernel does not have it, or refuses one.
    pub(crate) fn rules(&self, has_network: bool) -> Result<Rules, String> {
        let mut rules = Rules::new(has_network)?;
        let at = |path: &Path, why: String| format!("{}: {why}", path.display());
        for entry in &self.entries {
            let rights = if entry.is_writable { landlocked::writing() } else { landlocked::reading() };
            rules =
                rules.allow(&*entry.pin, entry.pin.is_folder, rights).map_err(|why| at(entry.path(), why))?;
        }
        for device in DEVICES.iter().map(Path::new) {
            let Ok(opened) = Pin::at(device) else { continue };
            rules = rules.allow(opened, false, landlocked::device()).map_err(|why| at(device, why))?;
        }
        Ok(rules)
    }

    /// Returns paths that only the new tree has, with the rights there.
    pub(crate) fn late_rules(&self, version: i32) -> Vec<(CString, u64)> {
        let mut late = vec![(text(Path::new("/proc")), landlocked::reading().bits())];
        let writing = landlocked::of_version(landlocked::writing(), version);
        late.extend(self.has_scratch().then(|| (text(Path::new(SCRATCH)), writing)));
        late
    }
}

/// Leaves out what lies in something that is allowed anyway. What is left is in the order in which it can be mounted.
fn outermost(mut entries: Vec<Entry>) -> Vec<Entry> {
    entries.sort_by_key(|entry| (entry.path().components().count(), !entry.is_writable));
    let mut kept: Vec<Entry> = Vec::new();
    for entry in entries {
        let nearest = kept.iter().rev().find(|outer| entry.path().starts_with(outer.path()));
        if nearest.is_none_or(|outer| outer.path() != entry.path() && outer.is_writable != entry.is_writable)
        {
            kept.push(entry);
        }
    }
    kept
}

/// Another user than the owner can write only where everyone can.
fn check_writable(pin: &Pin, user: Option<u32>) -> Result<(), Error> {
    let mode = pin.metadata().map(|found| found.mode()).unwrap_or_default();
    if user.is_some() && mode & 0o002 == 0 {
        let path = pin.path.display();
        let why = format!("nothing could be written to `{path}`: the program gets a user without a name");
        return Err(Error::Start(format!("{why}; allow it: chmod o+w {path}")));
    }
    Ok(())
}

/// Returns the error of a system that has no room for one more open file.
fn full(error: &std::io::Error) -> Option<Error> {
    let is_full =
        error.raw_os_error().is_some_and(|it| [libc::EMFILE, libc::ENFILE, libc::ENOMEM].contains(&it));
    is_full.then(|| Error::System(error.to_string()))
}

/// Returns a text for the kernel. What has a zero byte was not found before.
fn text(path: &Path) -> CString {
    CString::new(path.as_os_str().as_bytes()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_in_something_that_is_allowed_is_left_out() {
        let top = tempfile::tempdir().unwrap();
        let top = fs::canonicalize(top.path()).unwrap();
        let entry = |(path, is_writable): (&str, bool)| {
            let path = top.join(path);
            fs::create_dir_all(&path).unwrap();
            Entry { pin: Arc::new(Pin::at(&path).unwrap()), is_writable }
        };
        let named = [
            ("usr/bin/python3", false),
            ("data/in/deep", true),
            ("usr", false),
            ("data", false),
            ("data/in/deep/deeper", true),
            ("data/in", false),
            ("usrlocal", false),
            ("both", false),
            ("both", true),
        ];
        let mut kept: Vec<(PathBuf, bool)> = outermost(named.map(entry).into())
            .iter()
            .map(|entry| (entry.path().strip_prefix(&top).unwrap().to_owned(), entry.is_writable))
            .collect();
        kept.sort_by_key(|(path, _)| (path.components().count(), path.clone()));
        let expected =
            [("both", true), ("data", false), ("usr", false), ("usrlocal", false), ("data/in/deep", true)];
        assert_eq!(kept, expected.map(|(path, is_writable)| (PathBuf::from(path), is_writable)));
    }
}
