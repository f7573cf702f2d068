//! The files of a sandbox: which of them its tree has, where the program is in it, and what Landlock allows there.

use std::ffi::CString;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use crate::landlocked::{self, Rules};
use crate::raw::Step;
use crate::sandbox::{Error, Sandbox};

/// Files that every program needs: programs and libraries, and nothing of anyone's.
const SYSTEM: [&str; 12] = [
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/nix/store",
    "/gnu/store",
    "/etc/alternatives",
    "/etc/ld.so.cache",
    "/etc/localtime",
];
/// Files in which names are looked up, and certificates.
const NETWORK: [&str; 8] = [
    "/etc/resolv.conf",
    "/etc/hosts",
    "/etc/nsswitch.conf",
    "/etc/services",
    "/etc/ssl",
    "/etc/ca-certificates",
    "/etc/pki",
    "/etc/crypto-policies",
];
const DEVICES: [&str; 5] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];
/// A folder that is there, over which the new tree is put while it is made.
const BASES: [&str; 4] = ["/tmp", "/mnt", "/run", "/usr"];
const OLD: &str = "/.old";
/// The folder for files that go with the sandbox.
pub(crate) const SCRATCH: &str = "/tmp";

/// Something that the tree has.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Entry {
    path: PathBuf,
    is_writable: bool,
}

/// The files of a sandbox.
#[derive(Debug)]
pub(crate) struct Tree {
    entries: Vec<Entry>,
    links: Vec<(PathBuf, PathBuf)>,
    pub(crate) program: PathBuf,
    pub(crate) folder: PathBuf,
    scratch_bytes: u64,
}

impl Tree {
    /// Looks up what a sandbox names.
    ///
    /// # Errors
    ///
    /// If something is not there, or nothing could be written to a folder that is to be written to.
    pub(crate) fn of(sandbox: &Sandbox, user: Option<u32>) -> Result<Self, Error> {
        let there = |path: &Path| {
            fs::canonicalize(path)
                .map_err(|error| Error::Start(format!("cannot find `{}`: {error}", path.display())))
        };
        let (mut entries, mut links) = (Vec::new(), Vec::new());
        let network = NETWORK.iter().filter(|_| sandbox.has_network);
        for path in SYSTEM.iter().chain(network).map(Path::new) {
            let Ok(found) = fs::canonicalize(path) else { continue };
            if let Ok(to) = fs::read_link(path) {
                links.push((to, path.to_owned()));
            }
            entries.push(Entry { path: found, is_writable: false });
        }
        let named = sandbox.read.iter().map(|path| (path, false));
        for (path, is_writable) in named.chain(sandbox.write.iter().map(|path| (path, true))) {
            let path = there(path)?;
            if path == Path::new("/") {
                return Err(Error::Start(
                    "`/` cannot be allowed as a whole: name folders below it".to_owned(),
                ));
            }
            if is_writable {
                check_writable(&path, user)?;
            }
            entries.push(Entry { path, is_writable });
        }
        // The program by its own name if it is allowed there: some look beside themselves.
        let (target, folder) = (there(&sandbox.program)?, there(&sandbox.folder)?);
        let name =
            sandbox.program.file_name().ok_or_else(|| Error::Start("no program is named".to_owned()))?;
        let beside = there(
            sandbox.program.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new(".")),
        )?;
        entries.push(Entry { path: target.clone(), is_writable: false });
        let is_allowed = entries.iter().any(|entry| entry.path != target && beside.starts_with(&entry.path));
        let program = if is_allowed { beside.join(name) } else { target };
        Ok(Self {
            entries: outermost(entries),
            links,
            program,
            folder,
            scratch_bytes: sandbox.limits.scratch_bytes,
        })
    }

    fn has_scratch(&self) -> bool {
        self.scratch_bytes > 0
            && !self.entries.iter().any(|entry| Path::new(SCRATCH).starts_with(&entry.path))
    }

    /// Returns the steps to a tree that has this and nothing else.
    pub(crate) fn steps(&self, has_processes: bool) -> Vec<Step> {
        let base = BASES.iter().map(Path::new).find(|base| base.is_dir()).unwrap_or(Path::new("/usr"));
        let below = |folder: &Path, path: &Path| folder.join(path.strip_prefix("/").unwrap_or(path));
        let old = Path::new(OLD);
        let mut steps = vec![Step::Enter { base: text(base), old: text(&below(base, old)) }];
        let folders = |steps: &mut Vec<Step>, path: &Path| {
            let above: Vec<&Path> = path.ancestors().filter(|it| *it != Path::new("/")).collect();
            steps.extend(above.iter().rev().map(|folder| Step::Folder(text(folder))));
        };
        if self.has_scratch() {
            let options = format!("size={},nr_inodes=65536,mode=1777", self.scratch_bytes);
            folders(&mut steps, Path::new(SCRATCH));
            steps.push(Step::Memory { at: text(Path::new(SCRATCH)), options: text(Path::new(&options)) });
        }
        let mut bind = |path: &Path, is_writable, is_device| {
            if path.is_dir() {
                folders(&mut steps, path);
            } else {
                folders(&mut steps, path.parent().unwrap_or(path));
                steps.push(Step::File(text(path)));
            }
            steps.push(Step::Bind { from: text(&below(old, path)), at: text(path), is_writable, is_device });
        };
        for entry in &self.entries {
            bind(&entry.path, entry.is_writable, false);
        }
        for device in DEVICES.iter().map(Path::new).filter(|device| device.exists()) {
            bind(device, true, true);
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
        if !self.entries.iter().any(|entry| self.folder.starts_with(&entry.path)) {
            folders(&mut steps, &self.folder);
        }
        steps.extend([Step::Leave { old: text(old) }, Step::Seal]);
        steps
    }

    /// Makes the rules of Landlock.
    ///
    /// # Errors
    ///
    /// If the kernel does not have it, or refuses one.
    pub(crate) fn rules(&self, has_network: bool) -> Result<Rules, String> {
        let mut rules = Rules::new(has_network)?;
        for entry in &self.entries {
            let rights = if entry.is_writable { landlocked::writing() } else { landlocked::reading() };
            rules = rules.allow(&entry.path, rights)?;
        }
        for device in DEVICES {
            rules = rules.allow(Path::new(device), landlocked::device())?;
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
    entries.sort_by_key(|entry| (entry.path.components().count(), !entry.is_writable));
    let mut kept: Vec<Entry> = Vec::new();
    for entry in entries {
        let nearest = kept.iter().rev().find(|outer| entry.path.starts_with(&outer.path));
        if nearest.is_none_or(|outer| outer.path != entry.path && outer.is_writable != entry.is_writable) {
            kept.push(entry);
        }
    }
    kept
}

/// Another user than the owner can write only where everyone can.
fn check_writable(path: &Path, user: Option<u32>) -> Result<(), Error> {
    let mode = fs::metadata(path).map(|found| found.mode()).unwrap_or_default();
    if user.is_some() && mode & 0o002 == 0 {
        let path = path.display();
        let why = format!("nothing could be written to `{path}`: the program gets a user without a name");
        return Err(Error::Start(format!("{why}; allow it: chmod o+w {path}")));
    }
    Ok(())
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
        let entries = |list: &[(&str, bool)]| {
            list.iter()
                .map(|&(path, is_writable)| Entry { path: path.into(), is_writable })
                .collect::<Vec<_>>()
        };
        let kept = outermost(entries(&[
            ("/usr/bin/python3", false),
            ("/data/in/deep", true),
            ("/usr", false),
            ("/data", false),
            ("/data/in/deep/deeper", true),
            ("/data/in", false),
            ("/usrlocal", false),
            ("/both", false),
            ("/both", true),
        ]));
        let expected = [
            ("/both", true),
            ("/data", false),
            ("/usr", false),
            ("/usrlocal", false),
            ("/data/in/deep", true),
        ];
        let mut sorted = kept.clone();
        sorted.sort_by_key(|entry| (entry.path.components().count(), entry.path.clone()));
        assert_eq!(sorted, entries(&expected));
    }
}
