//! Control groups of the kernel, versions 1 and 2: limits of memory and of processes for a whole sandbox.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use crate::layer::{Layer, Layers};

/// The groups of one sandbox: one folder in version 2, one for each kind of limit in version 1. They go with the value.
#[derive(Debug, Default)]
pub(crate) struct Groups {
    folders: Vec<PathBuf>,
    /// Open files that a process joins by writing to them.
    joins: Vec<File>,
}

/// A kind of limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Memory,
    Tasks,
}

impl Kind {
    const fn controller(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Tasks => "pids",
        }
    }

    const fn layer(self) -> Layer {
        match self {
            Self::Memory => Layer::Memory,
            Self::Tasks => Layer::Tasks,
        }
    }
}

/// A place where groups can be: that of this process, and those above it.
#[derive(Debug, PartialEq, Eq)]
struct Place {
    is_second: bool,
    own: PathBuf,
    top: PathBuf,
}

impl Groups {
    /// Makes groups with limits, as far as this machine allows it, and notes which of them hold.
    pub(crate) fn make(memory_bytes: u64, tasks: u64, layers: &mut Layers) -> Self {
        let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
        let own = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        let mut groups = Self::default();
        // The warden is one of them.
        let limits = [(Kind::Memory, memory_bytes), (Kind::Tasks, tasks.saturating_add(1))];
        for (kind, limit) in limits {
            let why = match place(&mounts, &own, kind) {
                Some(place) => match groups.limit(&place, kind, limit) {
                    Ok(version) => {
                        layers.holds(kind.layer(), format!("control group, version {version}"));
                        continue;
                    }
                    Err(error) => format!("control group: {error}"),
                },
                None => format!("no control group for {} is mounted", kind.controller()),
            };
            layers.missing(kind.layer(), why);
        }
        groups
    }

    /// Sets a limit in a group that is there already, or in a new one.
    fn limit(&mut self, place: &Place, kind: Kind, limit: u64) -> io::Result<u32> {
        if !place.is_second {
            return self.add(&place.own, kind, limit, false).map(|()| 1);
        }
        if let Some(folder) = self.folders.first() {
            return set(folder, kind, limit, true).map(|()| 2);
        }
        let mut error = io::Error::other("none can be made");
        let above = place.own.ancestors().take_while(|folder| folder.starts_with(&place.top));
        for parent in above {
            // It may be on, or be refused because processes are in it: what counts is what the new group has.
            let _ = fs::write(parent.join("cgroup.subtree_control"), "+memory +pids");
            match self.add(parent, kind, limit, true) {
                Ok(()) => return Ok(2),
                Err(refused) => error = refused,
            }
        }
        Err(error)
    }

    /// Makes a group below another one.
    fn add(&mut self, parent: &Path, kind: Kind, limit: u64, is_second: bool) -> io::Result<()> {
        sweep(parent);
        let folder = new_folder(parent)?;
        let made = set(&folder, kind, limit, is_second)
            .and_then(|()| OpenOptions::new().write(true).open(folder.join("cgroup.procs")));
        match made {
            Ok(join) => {
                self.folders.push(folder);
                self.joins.push(join);
                Ok(())
            }
            Err(error) => {
                let _ = fs::remove_dir(&folder);
                Err(error)
            }
        }
    }

    /// Returns the files to be joined by.
    pub(crate) fn joins(&self) -> impl Iterator<Item = i32> {
        self.joins.iter().map(|file| file.as_raw_fd())
    }

    /// Returns whether the kernel has ended a process because the memory was used up.
    pub(crate) fn ran_out_of_memory(&self) -> bool {
        let files = ["memory.events", "memory.oom_control"];
        let texts = self.folders.iter().flat_map(|folder| files.map(|file| folder.join(file)));
        texts.filter_map(|path| fs::read_to_string(path).ok()).any(|text| counts_an_end(&text))
    }

    /// Returns the most memory that was in use, in bytes.
    pub(crate) fn peak(&self) -> Option<u64> {
        let files = ["memory.peak", "memory.max_usage_in_bytes"];
        let texts = self.folders.iter().flat_map(|folder| files.map(|file| folder.join(file)));
        texts.filter_map(|path| fs::read_to_string(path).ok()?.trim().parse().ok()).max()
    }

    /// Ends every process of the groups.
    pub(crate) fn end_all(&self) {
        for folder in &self.folders {
            if fs::write(folder.join("cgroup.kill"), "1").is_ok() {
                continue;
            }
            for _ in 0..100 {
                let listed = fs::read_to_string(folder.join("cgroup.procs")).unwrap_or_default();
                let mut processes =
                    listed.lines().filter_map(|line| Pid::from_raw(line.parse().ok()?)).peekable();
                if processes.peek().is_none() {
                    break;
                }
                // One that is gone already is as good.
                processes.for_each(|process| _ = kill_process(process, Signal::KILL));
                thread::sleep(Duration::from_millis(2));
            }
        }
    }
}

impl Drop for Groups {
    fn drop(&mut self) {
        self.joins.clear();
        for folder in &self.folders {
            // Processes that have ended leave a group a moment later.
            for _ in 0..200 {
                match fs::remove_dir(folder) {
                    Err(error) if error.kind() == io::ErrorKind::ResourceBusy => {
                        thread::sleep(Duration::from_millis(5));
                    }
                    _ => break,
                }
            }
        }
    }
}

/// Sets a limit in a group.
fn set(folder: &Path, kind: Kind, limit: u64, is_second: bool) -> io::Result<()> {
    let write = |file: &str, text: &str| fs::write(folder.join(file), text);
    let limit = limit.to_string();
    let file = if kind == Kind::Memory { "memory.max" } else { "pids.max" };
    if is_second && !folder.join(file).exists() {
        let parent = folder.parent().unwrap_or(folder).display();
        let controller = kind.controller();
        return Err(io::Error::other(format!(
            "`cgroup.subtree_control` of `{parent}` has no `{controller}`"
        )));
    }
    match (kind, is_second) {
        (Kind::Memory, true) => {
            write("memory.max", &limit)?;
            // Without swap there is nothing to limit.
            let _ = write("memory.swap.max", "0");
            write("memory.oom.group", "1")
        }
        (Kind::Memory, false) => {
            write("memory.limit_in_bytes", &limit)?;
            let _ = write("memory.memsw.limit_in_bytes", &limit);
            Ok(())
        }
        (Kind::Tasks, _) => write("pids.max", &limit),
    }
}

/// Returns whether a file of events says that the kernel has ended something.
fn counts_an_end(text: &str) -> bool {
    text.lines()
        .filter_map(|line| line.split_once(' '))
        .any(|(name, count)| name == "oom_kill" && count != "0")
}

static COUNT: AtomicU64 = AtomicU64::new(0);
const PREFIX: &str = "karat-";

fn new_folder(parent: &Path) -> io::Result<PathBuf> {
    let process = std::process::id();
    loop {
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let folder = parent.join(format!("{PREFIX}{process}-{count}"));
        match fs::create_dir(&folder) {
            // That of a process in another namespace.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && count < 1 << 32 => {}
            made => return made.map(|()| folder),
        }
    }
}

/// Removes the groups of processes that were killed before they could. One that is in use cannot be removed.
fn sweep(parent: &Path) {
    for folder in fs::read_dir(parent).into_iter().flatten().flatten() {
        let name = folder.file_name();
        let maker =
            name.to_str().and_then(|name| name.strip_prefix(PREFIX)?.split('-').next()?.parse::<u32>().ok());
        if maker.is_some_and(|maker| !Path::new("/proc").join(maker.to_string()).exists()) {
            let _ = fs::remove_dir(folder.path());
        }
    }
}

/// Finds the group of this process for a kind of limit, from what the kernel says of mounts and groups.
fn place(mounts: &str, own: &str, kind: Kind) -> Option<Place> {
    let controller = kind.controller();
    let of_first = own.lines().find_map(|line| {
        let mut parts = line.splitn(3, ':');
        let (_, controllers, path) = (parts.next()?, parts.next()?, parts.next()?);
        controllers.split(',').any(|it| it == controller).then_some(path)
    });
    let of_second = own.lines().find_map(|line| line.strip_prefix("0::"));
    let find = |path: &str, is_it: &dyn Fn(&str, &str) -> bool| {
        mounts.lines().find_map(|line| {
            let (mount, file_system) = line.split_once(" - ")?;
            let mut kinds = file_system.split(' ');
            let (name, _, options) = (kinds.next()?, kinds.next()?, kinds.next()?);
            let (root, top) = (mount.split(' ').nth(3)?, mount.split(' ').nth(4)?);
            is_it(name, options).then(|| {
                let inside = Path::new(path).strip_prefix(root).unwrap_or(Path::new(""));
                (Path::new(top).join(inside), PathBuf::from(top))
            })
        })
    };
    let first = of_first.and_then(|path| {
        find(path, &|name, options| name == "cgroup" && options.split(',').any(|it| it == controller))
    });
    let second = || find(of_second?, &|name, _| name == "cgroup2");
    let (is_second, (own, top)) = match first {
        Some(found) => (false, found),
        None => (true, second()?),
    };
    Some(Place { is_second, own, top })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_group_of_this_process_is_found_in_either_version() {
        let both = "33 31 0:30 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n\
            34 31 0:31 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw,nsdelegate\n\
            35 31 0:32 /inner /sys/fs/cgroup/pids rw shared:4 - cgroup cgroup rw,xattr,pids\n";
        let own = "9:name=systemd:/\n8:cpu,pids:/inner/a\n4:memory:/a/b\n0::/\n";
        let found = |mounts, own, kind| place(mounts, own, kind).map(|it| (it.is_second, it.own, it.top));
        let path = PathBuf::from;
        assert_eq!(
            found(both, own, Kind::Memory),
            Some((false, path("/sys/fs/cgroup/memory/a/b"), path("/sys/fs/cgroup/memory")))
        );
        assert_eq!(
            found(both, own, Kind::Tasks),
            Some((false, path("/sys/fs/cgroup/pids/a"), path("/sys/fs/cgroup/pids")))
        );
        let second = "29 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw\n";
        let own = "0::/user.slice/session-1.scope\n";
        let expected = (true, path("/sys/fs/cgroup/user.slice/session-1.scope"), path("/sys/fs/cgroup"));
        assert_eq!(found(second, own, Kind::Tasks), Some(expected));
        for (mounts, own) in [("", own), (second, ""), ("garbage - x\n - \n::\n", ":::\n0:\n")] {
            assert_eq!(found(mounts, own, Kind::Memory), None, "{mounts:?} {own:?}");
        }
    }

    /// Version 2 without controllers, as on machines where nothing is delegated, or where version 1 has them.
    #[test]
    fn a_group_without_controllers_limits_nothing_and_says_so() {
        let folder = tempfile::tempdir().unwrap();
        let place = Place { is_second: true, own: folder.path().join("a/b"), top: folder.path().to_owned() };
        fs::create_dir_all(&place.own).unwrap();
        for kind in [Kind::Memory, Kind::Tasks] {
            let mut groups = Groups::default();
            let why = groups.limit(&place, kind, 1 << 20).unwrap_err().to_string();
            let (path, controller) = (folder.path().display(), kind.controller());
            assert_eq!(why, format!("`cgroup.subtree_control` of `{path}` has no `{controller}`"));
            assert!(groups.folders.is_empty() && groups.joins.is_empty());
        }
        let left = fs::read_dir(&place.own).unwrap().filter(|it| it.as_ref().unwrap().path().is_dir());
        assert_eq!(left.count(), 0, "no group is left");
    }

    #[test]
    fn an_end_for_want_of_memory_is_read_from_either_version() {
        assert!(counts_an_end("low 0\noom 4\noom_kill 1\noom_group_kill 1\n"));
        assert!(counts_an_end("oom_kill_disable 0\nunder_oom 0\noom_kill 2\n"));
        assert!(!counts_an_end("oom_kill_disable 1\nunder_oom 1\noom_kill 0\n"));
    }
}
