//! A disk below SQLite that fails on demand: a VFS that passes every call to the one of the system, and remembers
//! what a loss of power would leave.
//!
//! What is written is pending until the file is synced. A loss of power keeps what was synced and any part of what is pending.
#![expect(unsafe_code, reason = "a VFS of SQLite is a table of C functions")]

use std::collections::{BTreeMap, HashMap};
use std::ffi::{CStr, c_char, c_int, c_void};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use rusqlite::ffi::{
    SQLITE_CANTOPEN, SQLITE_FULL, SQLITE_IOERR_DELETE, SQLITE_IOERR_FSTAT, SQLITE_IOERR_FSYNC,
    SQLITE_IOERR_READ, SQLITE_IOERR_SHMMAP, SQLITE_IOERR_TRUNCATE, SQLITE_IOERR_WRITE, SQLITE_OK,
    sqlite3_file, sqlite3_int64, sqlite3_io_methods, sqlite3_vfs, sqlite3_vfs_find, sqlite3_vfs_register,
};

/// The bytes of a disk that are written whole or not at all.
const SECTOR_BYTES: usize = 512;

/// A fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The call fails and changes nothing.
    Fails,
    /// The call, if it writes, writes a part and fails.
    Torn,
    /// The disk is full from this call on.
    Full,
    /// The call, if it syncs, fails, and what was pending is lost while the system still shows it.
    Unsynced,
    /// From this call on, syncs say that they have synced, and have not. The power is lost after this number of further calls.
    Lies(u64),
    /// The power is lost at this call.
    Power(Kept),
}

/// The part of what is pending that a loss of power keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kept {
    Nothing,
    Everything,
    /// Some sectors, drawn from this seed.
    Some(u64),
}

impl Fault {
    /// Returns true if it changes anything where it begins at such a call.
    pub fn matters_at(self, call: Call) -> bool {
        match self {
            Self::Fails => true,
            Self::Torn => call == Call::Write,
            Self::Full => call.grows(),
            Self::Unsynced | Self::Lies(_) => call == Call::Sync,
            Self::Power(_) => matches!(call, Call::Write | Call::Truncate | Call::Sync | Call::Delete),
        }
    }
}

/// The kind of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Call {
    Open,
    Delete,
    Read,
    Write,
    Truncate,
    Sync,
    Size,
    Map,
}

impl Call {
    fn error(self) -> c_int {
        match self {
            Self::Open => SQLITE_CANTOPEN,
            Self::Delete => SQLITE_IOERR_DELETE,
            Self::Read => SQLITE_IOERR_READ,
            Self::Write => SQLITE_IOERR_WRITE,
            Self::Truncate => SQLITE_IOERR_TRUNCATE,
            Self::Sync => SQLITE_IOERR_FSYNC,
            Self::Size => SQLITE_IOERR_FSTAT,
            Self::Map => SQLITE_IOERR_SHMMAP,
        }
    }

    fn grows(self) -> bool {
        matches!(self, Self::Write | Self::Map)
    }
}

/// The effect of the disk on a call.
enum Answer {
    Passes,
    Fails(c_int),
    /// A write is done in part, and fails.
    Torn,
    /// A sync fails and loses what is pending.
    Unsynced,
    /// A sync is not done, and succeeds.
    Lies,
}

#[derive(Debug, Default)]
struct File {
    synced: Vec<u8>,
    pending: Vec<Change>,
}

#[derive(Debug, Clone)]
enum Change {
    Write(usize, Vec<u8>),
    Truncate(usize),
}

impl Change {
    fn apply(&self, bytes: &mut Vec<u8>) {
        match self {
            Self::Truncate(length) => bytes.resize(*length, 0),
            Self::Write(at, new) => {
                let end = at + new.len();
                bytes.resize(bytes.len().max(end), 0);
                bytes[*at..end].copy_from_slice(new);
            }
        }
    }

    /// Returns the part of the change that is on the disk.
    fn kept(&self, mut draw: impl FnMut() -> bool) -> Vec<Change> {
        match self {
            Self::Truncate(_) => draw().then(|| self.clone()).into_iter().collect(),
            Self::Write(at, new) => {
                let sectors = new.chunks(SECTOR_BYTES).enumerate();
                let kept = sectors.filter(|_| draw());
                kept.map(|(place, part)| Self::Write(at + place * SECTOR_BYTES, part.to_vec())).collect()
            }
        }
    }
}

#[derive(Default)]
struct State {
    files: BTreeMap<PathBuf, File>,
    /// The files that are open, by their address in memory. Only looked up.
    open: HashMap<usize, PathBuf>,
    /// The calls so far.
    calls: Vec<Call>,
    fault: Option<(Fault, u64)>,
    is_dead: bool,
    is_paused: bool,
}

static STATE: Mutex<Option<State>> = Mutex::new(None);
/// The methods of the system for each open file, by its address in memory. Only looked up.
static METHODS: Mutex<BTreeMap<usize, &'static sqlite3_io_methods>> = Mutex::new(BTreeMap::new());

/// The disk, of which there is one in a process.
pub struct Disk {
    _turn: MutexGuard<'static, ()>,
}

impl Disk {
    /// Takes the disk for a test.
    pub fn take() -> Self {
        static TURN: Mutex<()> = Mutex::new(());
        static REGISTERED: OnceLock<()> = OnceLock::new();
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        REGISTERED.get_or_init(register);
        Self { _turn: turn }
    }

    /// Forgets everything, and makes the fault happen at the call with that number, counted from 0.
    pub fn set(&self, fault: Option<(Fault, u64)>) {
        *state() = Some(State { fault, ..State::default() });
    }

    /// Ends all faults, and returns the calls so far.
    pub fn repair(&self) -> Vec<Call> {
        with(|state| {
            state.fault = None;
            state.is_dead = false;
            std::mem::take(&mut state.calls)
        })
    }

    /// Does something without faults in between.
    pub fn paused<T>(&self, act: impl FnOnce() -> T) -> T {
        with(|state| state.is_paused = true);
        let done = act();
        with(|state| state.is_paused = false);
        done
    }

    /// Writes what a loss of power leaves of every file into another folder.
    pub fn lose_power(&self, folder: &Path, kept: Kept) {
        with(|state| {
            let mut seed = match kept {
                Kept::Some(seed) => seed,
                Kept::Nothing | Kept::Everything => 0,
            };
            for (path, file) in &state.files {
                let mut bytes = file.synced.clone();
                for change in &file.pending {
                    let mut draw = || match kept {
                        Kept::Nothing => false,
                        Kept::Everything => true,
                        Kept::Some(_) => {
                            seed =
                                seed.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
                            seed >> 63 == 1
                        }
                    };
                    change.kept(&mut draw).iter().for_each(|part| part.apply(&mut bytes));
                }
                fs::write(folder.join(path.file_name().unwrap()), bytes).unwrap();
            }
        });
    }
}

fn state() -> MutexGuard<'static, Option<State>> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn with<T>(act: impl FnOnce(&mut State) -> T) -> T {
    act(state().get_or_insert_default())
}

/// Counts a call, and returns what the disk does with it.
fn counted(call: Call) -> Answer {
    with(|state| {
        if state.is_paused {
            return Answer::Passes;
        }
        let number = state.calls.len() as u64;
        state.calls.push(call);
        if state.is_dead {
            return Answer::Fails(call.error());
        }
        let Some((fault, at)) = state.fault else { return Answer::Passes };
        match fault {
            Fault::Fails if number == at => Answer::Fails(call.error()),
            Fault::Torn if number == at && call == Call::Write => Answer::Torn,
            Fault::Full if number >= at && call.grows() => Answer::Fails(SQLITE_FULL),
            Fault::Unsynced if number == at && call == Call::Sync => Answer::Unsynced,
            Fault::Lies(later) if number >= at.saturating_add(later) => {
                state.is_dead = true;
                Answer::Fails(call.error())
            }
            Fault::Lies(_) if number >= at && call == Call::Sync => Answer::Lies,
            Fault::Power(_) if number >= at => {
                state.is_dead = true;
                Answer::Fails(call.error())
            }
            _ => Answer::Passes,
        }
    })
}

/// Remembers a change of an open file, or what was synced.
fn changed(file: *mut sqlite3_file, change: impl FnOnce(&mut File)) {
    with(|state| {
        let State { open, files, .. } = state;
        if let Some(path) = open.get(&file.addr())
            && let Some(file) = files.get_mut(path)
        {
            change(file);
        }
    });
}

fn register() {
    // SAFETY: the VFS of the system lives as long as the process. The copy has its functions, which take their data from it
    // and from the file alone, and lives as long.
    unsafe {
        let system = sqlite3_vfs_find(std::ptr::null());
        let name = c"karat-faults".as_ptr();
        let own = sqlite3_vfs { zName: name, xOpen: Some(open), xDelete: Some(delete), ..*system };
        let own = Box::leak(Box::new(own));
        own.pNext = std::ptr::null_mut();
        assert_eq!(sqlite3_vfs_register(own, 1), SQLITE_OK);
    }
}

fn system() -> &'static sqlite3_vfs {
    // SAFETY: as above; "unix" is the VFS that was the default.
    unsafe { &*sqlite3_vfs_find(c"unix".as_ptr()) }
}

fn path_of(name: *const c_char) -> Option<PathBuf> {
    // SAFETY: SQLite gives a name that ends with a zero, or none.
    let name = (!name.is_null()).then(|| unsafe { CStr::from_ptr(name) })?;
    Some(PathBuf::from(name.to_str().ok()?))
}

unsafe extern "C" fn open(
    vfs: *mut sqlite3_vfs,
    name: *const c_char,
    file: *mut sqlite3_file,
    flags: c_int,
    found: *mut c_int,
) -> c_int {
    if let Answer::Fails(error) = counted(Call::Open) {
        // SAFETY: SQLite gives room for a file; without methods it is not closed.
        unsafe { (*file).pMethods = std::ptr::null() };
        return error;
    }
    // SAFETY: the arguments are passed on as they came; an open file has methods, which outlive it.
    unsafe {
        let opened = system().xOpen.unwrap()(vfs, name, file, flags, found);
        if opened == SQLITE_OK && !(*file).pMethods.is_null() {
            // Other files have other methods: those without locks, for example.
            let own: &'static sqlite3_io_methods = &*(*file).pMethods;
            methods().insert(file.addr(), own);
            let faulty = sqlite3_io_methods {
                // Without the calls that map the file into memory.
                iVersion: own.iVersion.min(2),
                xClose: Some(close),
                xRead: Some(read),
                xWrite: Some(write),
                xTruncate: Some(truncate),
                xSync: Some(sync),
                xFileSize: Some(size),
                xShmMap: own.xShmMap.and(Some(map)),
                ..*own
            };
            (*file).pMethods = faulty_like(own, faulty);
            if let Some(path) = path_of(name) {
                with(|state| {
                    let on_disk =
                        || File { synced: fs::read(&path).unwrap_or_default(), pending: Vec::new() };
                    state.files.entry(path.clone()).or_insert_with(on_disk);
                    state.open.insert(file.addr(), path);
                });
            }
        }
        opened
    }
}

unsafe extern "C" fn delete(vfs: *mut sqlite3_vfs, name: *const c_char, sync: c_int) -> c_int {
    if let Answer::Fails(error) = counted(Call::Delete) {
        return error;
    }
    if let Some(path) = path_of(name) {
        with(|state| state.files.remove(&path));
    }
    // SAFETY: the arguments are passed on as they came.
    unsafe { system().xDelete.unwrap()(vfs, name, sync) }
}

fn methods() -> MutexGuard<'static, BTreeMap<usize, &'static sqlite3_io_methods>> {
    METHODS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the methods of the system for a file.
fn own(file: *mut sqlite3_file) -> &'static sqlite3_io_methods {
    methods()[&file.addr()]
}

/// Keeps the methods with faults for as long as the process lives, once for each sort of file.
fn faulty_like(own: &'static sqlite3_io_methods, faulty: sqlite3_io_methods) -> &'static sqlite3_io_methods {
    static KNOWN: Mutex<BTreeMap<usize, &'static sqlite3_io_methods>> = Mutex::new(BTreeMap::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    known.entry(std::ptr::from_ref(own).addr()).or_insert_with(|| Box::leak(Box::new(faulty)))
}

unsafe extern "C" fn close(file: *mut sqlite3_file) -> c_int {
    with(|state| state.open.remove(&file.addr()));
    let own = own(file);
    methods().remove(&file.addr());
    // SAFETY: the file was opened by the VFS of the system. So in all that follow.
    unsafe { own.xClose.unwrap()(file) }
}

unsafe extern "C" fn read(
    file: *mut sqlite3_file,
    to: *mut c_void,
    length: c_int,
    at: sqlite3_int64,
) -> c_int {
    match counted(Call::Read) {
        Answer::Fails(error) => error,
        // SAFETY: as in `close`.
        _ => unsafe { own(file).xRead.unwrap()(file, to, length, at) },
    }
}

unsafe extern "C" fn write(
    file: *mut sqlite3_file,
    from: *const c_void,
    length: c_int,
    at: sqlite3_int64,
) -> c_int {
    let (written, answer) = match counted(Call::Write) {
        Answer::Fails(error) => return error,
        Answer::Torn => (length / 2, SQLITE_IOERR_WRITE),
        _ => (length, SQLITE_OK),
    };
    // SAFETY: as in `close`; SQLite gives this number of bytes.
    let (done, bytes) = unsafe {
        let bytes = std::slice::from_raw_parts(from.cast::<u8>(), usize::try_from(written).unwrap());
        (own(file).xWrite.unwrap()(file, from, written, at), bytes.to_vec())
    };
    if done != SQLITE_OK {
        return done;
    }
    changed(file, |file| file.pending.push(Change::Write(usize::try_from(at).unwrap(), bytes)));
    answer
}

unsafe extern "C" fn truncate(file: *mut sqlite3_file, length: sqlite3_int64) -> c_int {
    if let Answer::Fails(error) = counted(Call::Truncate) {
        return error;
    }
    changed(file, |file| file.pending.push(Change::Truncate(usize::try_from(length).unwrap())));
    // SAFETY: as in `close`.
    unsafe { own(file).xTruncate.unwrap()(file, length) }
}

unsafe extern "C" fn sync(file: *mut sqlite3_file, _: c_int) -> c_int {
    // The file itself is not synced: what counts is what is remembered.
    match counted(Call::Sync) {
        Answer::Fails(error) => return error,
        Answer::Unsynced => {
            changed(file, |file| file.pending.clear());
            return SQLITE_IOERR_FSYNC;
        }
        Answer::Lies => {}
        Answer::Passes | Answer::Torn => changed(file, |file| {
            let File { synced, pending } = file;
            pending.drain(..).for_each(|change| change.apply(synced));
        }),
    }
    SQLITE_OK
}

unsafe extern "C" fn size(file: *mut sqlite3_file, found: *mut sqlite3_int64) -> c_int {
    match counted(Call::Size) {
        Answer::Fails(error) => error,
        // SAFETY: as in `close`.
        _ => unsafe { own(file).xFileSize.unwrap()(file, found) },
    }
}

unsafe extern "C" fn map(
    file: *mut sqlite3_file,
    page: c_int,
    bytes: c_int,
    may_grow: c_int,
    found: *mut *mut c_void,
) -> c_int {
    match counted(Call::Map) {
        Answer::Fails(error) => error,
        // SAFETY: as in `close`.
        _ => unsafe { own(file).xShmMap.unwrap()(file, page, bytes, may_grow, found) },
    }
}
