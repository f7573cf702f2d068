//! Files that are held: what was looked at is what a sandbox gets, whatever happens to its path in the meantime.
//!
//! A path can lead elsewhere a moment after it was looked at, since a program may write where another one reads. So a path is
//! opened once, and everything is asked of the open file: rights, rules, and which file it is ([`Identity`]). A process in
//! another namespace cannot use the open file of this one. It opens the path again there, goes on only if that is
//! the same file, and mounts the open file and not its path.

use std::fs;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, open, openat2};
use rustix::io::Errno;

/// A device and a number on it: no two files have the same, as long as one of them is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Identity {
    pub(crate) device: u64,
    pub(crate) number: u64,
}

/// A file or folder that is open, with its path, in which there is no link.
#[derive(Debug)]
pub(crate) struct Pin {
    pub(crate) path: PathBuf,
    pub(crate) is_folder: bool,
    file: OwnedFd,
}

impl Pin {
    /// Follows a path, and holds what it leads to.
    ///
    /// # Errors
    ///
    /// If nothing is there.
    pub(crate) fn of(path: &Path) -> io::Result<Self> {
        Self::at(&fs::canonicalize(path)?)
    }

    /// Holds what is at a path that has no links.
    ///
    /// # Errors
    ///
    /// If nothing is there, or there is a link in it by now.
    pub(crate) fn at(path: &Path) -> io::Result<Self> {
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = match openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS) {
            // Kernels and containers that do not know the call.
            Err(Errno::NOSYS | Errno::PERM) => {
                let file = open(path, flags, Mode::empty())?;
                match fs::canonicalize(path) {
                    Ok(now) if now == path => file,
                    _ => return Err(Errno::LOOP.into()),
                }
            }
            opened => opened?,
        };
        let file = fs::File::from(file);
        let found = file.metadata()?;
        if found.is_symlink() {
            return Err(Errno::LOOP.into());
        }
        Ok(Self { path: path.to_owned(), is_folder: found.is_dir(), file: file.into() })
    }

    /// Returns which file it is. It may change while the file is open, as in layers of containers that are copied.
    ///
    /// # Errors
    ///
    /// If the system cannot say.
    pub(crate) fn identity(&self) -> io::Result<Identity> {
        let found = self.metadata()?;
        Ok(Identity { device: found.dev(), number: found.ino() })
    }

    /// Returns what is known of the file.
    ///
    /// # Errors
    ///
    /// If the system cannot say.
    pub(crate) fn metadata(&self) -> io::Result<fs::Metadata> {
        fs::File::from(self.file.try_clone()?).metadata()
    }
}

impl AsFd for Pin {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

/// Program, folder and paths of a sandbox, looked up once for all runs to come.
#[derive(Debug, Clone)]
pub(crate) struct Pins {
    pub(crate) program: Arc<Pin>,
    /// The path of the program by its own name. Its folder has no links, it may be one.
    pub(crate) name: PathBuf,
    pub(crate) folder: Arc<Pin>,
    /// Paths without links. They are opened at each run: what is in a folder that is written to comes and goes.
    pub(crate) read: Vec<PathBuf>,
    pub(crate) write: Vec<PathBuf>,
}

impl Pins {
    /// Looks up what a sandbox names.
    ///
    /// # Errors
    ///
    /// If something is not there, with a sentence about it.
    pub(crate) fn of(program: &Path, folder: &Path, [read, write]: [&[PathBuf]; 2]) -> Result<Self, String> {
        let refused = |path: &Path, error| format!("cannot find `{}`: {error}", path.display());
        let pin = |path: &Path| Pin::of(path).map(Arc::new).map_err(|error| refused(path, error));
        let real = |path: &Path| fs::canonicalize(path).map_err(|error| refused(path, error));
        let all = |paths: &[PathBuf]| paths.iter().map(|path| real(path)).collect::<Result<Vec<_>, _>>();
        let name = program.file_name().ok_or_else(|| "no program is named".to_owned())?;
        let beside = program.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."));
        Ok(Self {
            program: pin(program)?,
            name: real(beside)?.join(name),
            folder: pin(folder)?,
            read: all(read)?,
            write: all(write)?,
        })
    }
}
