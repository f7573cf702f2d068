//! The only `unsafe` code of the crate: system calls that no library wraps, and what happens between `clone` and `exec`.
//!
//! A process is made by `clone` from a program that may have many threads. In it only what is safe in a handler of signals
//! may happen: nothing is allocated, no lock is taken, no library called but for system calls, and all that is needed was
//! prepared before, in a [`Plan`]. Two processes are made so. The first one, the *warden*, sets up the walls, makes the
//! second and waits for it; in a namespace for processes it is the first of them, and with it all of them end. The second
//! one takes the last steps and becomes the program.
#![allow(unsafe_code, reason = "calls of the kernel")]

use std::ffi::{CStr, CString, c_char, c_int, c_long, c_uint, c_ulong};
use std::ptr::{null, null_mut};

use libc::{pollfd, rlimit, sigset_t};
use seccompiler::{BpfProgram, sock_filter};

use crate::pin::Identity;

/// Place at which the way to a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum Stage {
    Start = 1,
    Group,
    Root,
    User,
    Limits,
    Landlock,
    Calls,
    Folder,
    Program,
}

impl Stage {
    const ALL: [Self; 9] = [
        Self::Start,
        Self::Group,
        Self::Root,
        Self::User,
        Self::Limits,
        Self::Landlock,
        Self::Calls,
        Self::Folder,
        Self::Program,
    ];
}

/// Message of the warden.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Message {
    /// It did not come to the program: the place, the number of the error, and the number of the step there.
    Failed(Stage, i32, u32),
    /// The program has ended, and so has all that it left behind.
    Ended {
        /// The status, as `wait` gives it.
        status: i32,
        /// Time of the processor in microseconds, of all its processes.
        cpu_microseconds: u64,
        /// The most memory of one process, in KiB.
        peak_kib: u64,
        /// True if processes may be left.
        may_be_left: bool,
    },
}

const MESSAGE_BYTES: usize = 32;

impl Message {
    fn bytes(self) -> [u8; MESSAGE_BYTES] {
        let (tag, first, second, third, fourth) = match self {
            Self::Failed(stage, number, step) => (1, stage as u32, number, u64::from(step), 0),
            Self::Ended { status, cpu_microseconds, peak_kib, may_be_left } => {
                (2, u32::from(may_be_left), status, cpu_microseconds, peak_kib)
            }
        };
        let mut bytes = [0; MESSAGE_BYTES];
        let parts: [&[u8]; 5] = [
            &u32::to_le_bytes(tag),
            &first.to_le_bytes(),
            &second.to_le_bytes(),
            &third.to_le_bytes(),
            &fourth.to_le_bytes(),
        ];
        let bytes_of_parts = parts.iter().flat_map(|part| part.iter());
        bytes.iter_mut().zip(bytes_of_parts).for_each(|(to, from)| *to = *from);
        bytes
    }

    /// Reads a message.
    pub(crate) fn read(bytes: &[u8]) -> Option<Self> {
        let number = |at: usize| Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
        let long = |at: usize| Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?));
        let (first, second) = (number(4)?, number(8)? as i32);
        match number(0)? {
            1 => {
                let stage = Stage::ALL.into_iter().find(|stage| *stage as u32 == first)?;
                Some(Self::Failed(stage, second, u32::try_from(long(12)?).ok()?))
            }
            2 => Some(Self::Ended {
                status: second,
                cpu_microseconds: long(12)?,
                peak_kib: long(20)?,
                may_be_left: first != 0,
            }),
            _ => None,
        }
    }
}

/// Step on the way to another tree of files.
#[derive(Debug)]
pub(crate) enum Step {
    /// An empty tree in memory, with options such as its size.
    Memory { at: CString, options: CString },
    /// Its top becomes the root, and the old root the folder `old` in it.
    Enter { base: CString, old: CString },
    /// A folder, unless it is there.
    Folder(CString),
    /// An empty file, unless it is there.
    File(CString),
    /// A symbolic link, unless it is there.
    Link { to: CString, at: CString },
    /// Something of the old tree. It must be the file of that identity. Inside of something that was mounted before, the
    /// place must be that file, too: a program that may write there could have put something else in its place.
    Bind {
        from: CString,
        at: CString,
        identity: Option<Identity>,
        is_inside: bool,
        is_writable: bool,
        is_device: bool,
    },
    /// The processes of this namespace. It stays empty if the kernel does not allow it.
    Processes { at: CString },
    /// The old tree goes.
    Leave { old: CString },
    /// Nothing more is made at the top.
    Seal,
}

/// Everything from `clone` to the program, prepared.
pub(crate) struct Plan {
    /// Namespaces: flags of `clone`.
    pub namespaces: c_int,
    /// True if the namespace has to get its users first.
    pub waits_for_users: bool,
    /// Files of control groups, to be joined.
    pub groups: Vec<c_int>,
    /// The steps to another tree of files.
    pub root: Vec<Step>,
    /// The user to become.
    pub user: Option<u32>,
    /// The folder to start in, and which one it must be.
    pub folder: (CString, Option<Identity>),
    /// Limits: the softer and the harder one.
    pub limits: Vec<(i64, u64, u64)>,
    /// Rules of Landlock, and paths of the new tree to be added.
    pub landlock: Option<c_int>,
    pub late_rules: Vec<(CString, u64)>,
    pub filters: Vec<BpfProgram>,
    /// True if it gives up capabilities, and ways to gain any.
    pub gives_up_privileges: bool,
    /// The program, and which file it must be.
    pub program: (CString, Identity),
    pub arguments: Vec<CString>,
    pub environment: Vec<CString>,
    pub input: c_int,
    pub output: c_int,
    pub errors: c_int,
    /// Ends the warden when it is closed.
    pub control: c_int,
    pub report: c_int,
    /// True if all ends right before the program, with status 0.
    pub is_trial: bool,
}

/// The way to a program, ready to go: what must not be allocated any more is there.
pub(crate) struct Ready<'a> {
    plan: &'a Plan,
    arguments: Vec<*const c_char>,
    environment: Vec<*const c_char>,
    /// Files that stay open in the warden, in order.
    kept: Vec<c_int>,
    buffer: Vec<u8>,
}

impl<'a> Ready<'a> {
    pub(crate) fn new(plan: &'a Plan) -> Self {
        let pointers =
            |texts: &[CString]| texts.iter().map(|text| text.as_ptr()).chain([null()]).collect::<Vec<_>>();
        let mut kept = vec![plan.input, plan.output, plan.errors, plan.control, plan.report];
        kept.extend(plan.groups.iter().chain(&plan.landlock));
        kept.sort_unstable();
        kept.dedup();
        Self {
            plan,
            arguments: pointers(&plan.arguments),
            environment: pointers(&plan.environment),
            kept,
            buffer: vec![0; 1 << 14],
        }
    }

    /// Makes the warden. Returns its number, or that of the error.
    pub(crate) fn start(mut self) -> Result<i32, i32> {
        // SAFETY: the child runs `warden`, which keeps to the rules in the head of this file and never returns. Signals
        // are blocked, so no handler of the parent runs in it.
        unsafe {
            let mut all: sigset_t = std::mem::zeroed();
            let mut before: sigset_t = std::mem::zeroed();
            libc::sigfillset(&mut all);
            libc::pthread_sigmask(libc::SIG_SETMASK, &all, &mut before);
            let child = clone(self.plan.namespaces);
            if child == 0 {
                warden(&mut self);
            }
            let error = errno();
            libc::pthread_sigmask(libc::SIG_SETMASK, &before, null_mut());
            if child < 0 { Err(error) } else { Ok(child as i32) }
        }
    }
}

/// Returns the version of Landlock of the kernel, or a number below 1 if it has none.
pub(crate) fn landlock_version() -> i32 {
    const VERSION: c_uint = 1;
    // SAFETY: without a structure, and with this flag, the call only returns a number.
    let version =
        unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, null::<libc::c_void>(), 0_usize, VERSION) };
    i32::try_from(version).unwrap_or(0)
}

fn errno() -> i32 {
    // SAFETY: it points to a number of this thread.
    unsafe { *libc::__errno_location() }
}

/// Makes a process that is a copy of this one, with its own memory.
unsafe fn clone(namespaces: c_int) -> c_long {
    let flags = c_long::from(namespaces) | c_long::from(libc::SIGCHLD);
    unsafe { libc::syscall(libc::SYS_clone, flags, 0_usize, 0_usize, 0_usize, 0_usize) }
}

fn number_of(result: c_long) -> Result<c_long, i32> {
    if result < 0 { Err(errno()) } else { Ok(result) }
}

fn done(result: c_int) -> Result<(), i32> {
    if result < 0 { Err(errno()) } else { Ok(()) }
}

/// Accepts that something is there already.
fn made(result: c_int) -> Result<(), i32> {
    match done(result) {
        Err(libc::EEXIST) => Ok(()),
        other => other,
    }
}

unsafe fn tell(to: c_int, message: Message) {
    let bytes = message.bytes();
    // There is no one else to tell if the pipe is gone.
    unsafe { libc::write(to, bytes.as_ptr().cast(), bytes.len()) };
}

/// Tells of a failure, and ends.
unsafe fn fail(to: c_int, stage: Stage, (number, step): (i32, u32)) -> ! {
    unsafe {
        tell(to, Message::Failed(stage, number, step));
        libc::_exit(125)
    }
}

fn first(number: i32) -> (i32, u32) {
    (number, 0)
}

/// The life of the warden.
unsafe fn warden(ready: &mut Ready<'_>) -> ! {
    let plan = ready.plan;
    let report = plan.report;
    unsafe {
        close_all_but(&ready.kept);
        let has_namespace = plan.namespaces & libc::CLONE_NEWPID != 0;
        // All of a namespace end with its first process. Elsewhere the warden has to live on to end them, which it does
        // when the pipe of its parent closes.
        let ends_with_parent = || _ = has_namespace && libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) < 0;
        ends_with_parent();
        if plan.waits_for_users {
            let mut go = 0_u8;
            if libc::read(plan.control, (&raw mut go).cast(), 1) != 1 {
                libc::_exit(125);
            }
        }
        // It holds a copy of the memory of its parent.
        libc::prctl(libc::PR_SET_DUMPABLE, 0);
        libc::setsid();
        for (at, &group) in plan.groups.iter().enumerate() {
            if libc::write(group, c"0".as_ptr().cast(), 1) != 1 {
                fail(report, Stage::Group, (errno(), at as u32));
            }
        }
        for (at, step) in plan.root.iter().enumerate() {
            if let Err(number) = step.take() {
                fail(report, Stage::Root, (number, at as u32));
            }
        }
        if let Some(user) = plan.user
            && let Err(number) = become_user(user)
        {
            fail(report, Stage::User, first(number));
        }
        if plan.gives_up_privileges {
            give_up_capabilities();
        }
        // A new user takes both back.
        ends_with_parent();
        libc::prctl(libc::PR_SET_DUMPABLE, 0);
        if !has_namespace {
            libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1);
        }
        let child = clone(0);
        if child == 0 {
            program(ready);
        }
        if child < 0 {
            fail(report, Stage::Start, first(errno()));
        }
        libc::close(plan.input);
        libc::close(plan.output);
        let status = wait_for(child as i32, plan.control);
        let may_be_left = end_all(child as i32, has_namespace, &mut ready.buffer);
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_CHILDREN, &mut usage);
        let microseconds = |time: libc::timeval| time.tv_sec as u64 * 1_000_000 + time.tv_usec as u64;
        tell(
            report,
            Message::Ended {
                status: status.unwrap_or(libc::SIGKILL),
                cpu_microseconds: microseconds(usage.ru_utime) + microseconds(usage.ru_stime),
                peak_kib: usage.ru_maxrss as u64,
                may_be_left,
            },
        );
        libc::_exit(0)
    }
}

/// Waits until the program ends, or until the parent wants the end or is gone. Reaps what is left by others meanwhile.
unsafe fn wait_for(program: i32, control: c_int) -> Option<i32> {
    unsafe {
        let mut ends: sigset_t = std::mem::zeroed();
        libc::sigemptyset(&mut ends);
        libc::sigaddset(&mut ends, libc::SIGCHLD);
        let signals = libc::signalfd(-1, &ends, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK);
        loop {
            loop {
                let mut status = 0;
                let reaped = libc::waitpid(-1, &mut status, libc::WNOHANG);
                if reaped == program {
                    return Some(status);
                }
                if reaped <= 0 {
                    break;
                }
            }
            let watched = |fd| pollfd { fd, events: libc::POLLIN, revents: 0 };
            let mut both = [watched(control), watched(signals)];
            // Without a signal it looks again after a moment.
            libc::poll(both.as_mut_ptr(), 2, if signals < 0 { 10 } else { 1000 });
            let mut read = [0_u8; 128];
            while signals >= 0 && libc::read(signals, read.as_mut_ptr().cast(), read.len()) > 0 {}
            if both[0].revents != 0 {
                return None;
            }
        }
    }
}

/// Ends what the program has left behind, and the program. Returns whether something may be left.
unsafe fn end_all(program: i32, has_namespace: bool, buffer: &mut [u8]) -> bool {
    unsafe {
        loop {
            let mut knows_all = true;
            if has_namespace {
                // All but itself.
                libc::kill(-1, libc::SIGKILL);
            } else {
                libc::kill(-program, libc::SIGKILL);
                knows_all = end_children(buffer);
            }
            let mut status = 0;
            let reaped = libc::waitpid(-1, &mut status, if knows_all { 0 } else { libc::WNOHANG });
            if reaped < 0 && errno() != libc::EINTR {
                return false;
            }
            if reaped == 0 {
                return true;
            }
        }
    }
}

/// Ends the children of the warden, which those of ended processes become. Returns whether the kernel could name them.
unsafe fn end_children(buffer: &mut [u8]) -> bool {
    unsafe {
        let list = libc::open(c"/proc/thread-self/children".as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC);
        if list < 0 {
            return false;
        }
        let count = libc::read(list, buffer.as_mut_ptr().cast(), buffer.len());
        libc::close(list);
        let mut number: i32 = 0;
        for &byte in buffer.iter().take(usize::try_from(count).unwrap_or(0)) {
            if byte.is_ascii_digit() {
                number = number.wrapping_mul(10).wrapping_add(i32::from(byte - b'0'));
            } else {
                if number > 1 {
                    libc::kill(number, libc::SIGKILL);
                }
                number = 0;
            }
        }
        count >= 0
    }
}

/// Closes every file but those, which are in order.
unsafe fn close_all_but(kept: &[c_int]) {
    let mut from: c_uint = 0;
    let ends = kept.iter().map(|&kept| kept as c_uint).chain([c_uint::MAX]);
    for kept in ends {
        if kept > from {
            let last = if kept == c_uint::MAX { kept } else { kept - 1 };
            // SAFETY: nothing of the parent that stood for these files is used here any more.
            unsafe {
                if libc::syscall(libc::SYS_close_range, from, last, 0) < 0 {
                    (from..=last.min(1 << 16)).for_each(|file| _ = libc::close(file as c_int));
                }
            }
        }
        from = kept.wrapping_add(1);
    }
}

/// Calls the kernel for this thread alone: the library would wait for threads that are not here.
unsafe fn become_user(user: u32) -> Result<(), i32> {
    unsafe {
        number_of(libc::syscall(libc::SYS_setgroups, 0_usize, null::<libc::gid_t>()))?;
        number_of(libc::syscall(libc::SYS_setresgid, user, user, user))?;
        number_of(libc::syscall(libc::SYS_setresuid, user, user, user)).map(|_| ())
    }
}

/// Gives up what the first process of a namespace may do in it.
unsafe fn give_up_capabilities() {
    const VERSION: u32 = 0x2008_0522;
    let head: [u32; 2] = [VERSION, 0];
    let none = [0_u32; 6];
    unsafe { libc::syscall(libc::SYS_capset, head.as_ptr(), none.as_ptr()) };
}

/// The way of the second process to the program.
unsafe fn program(ready: &Ready<'_>) -> ! {
    let plan = ready.plan;
    const REPORT: c_int = 3;
    unsafe {
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        libc::setsid();
        // Every file of the plan has a number of 10 or above.
        libc::dup2(plan.input, 0);
        libc::dup2(plan.output, 1);
        libc::dup2(plan.errors, 2);
        libc::dup3(plan.report, REPORT, libc::O_CLOEXEC);
        let entered = Opened::at(&plan.folder.0, plan.folder.1).and_then(|it| done(libc::fchdir(it.0)));
        if let Err(number) = entered {
            fail(REPORT, Stage::Folder, first(number));
        }
        if let Err(number) = Opened::at(&plan.program.0, Some(plan.program.1)) {
            fail(REPORT, Stage::Program, first(number));
        }
        for (at, &(resource, soft, hard)) in plan.limits.iter().enumerate() {
            let limit = rlimit { rlim_cur: soft, rlim_max: hard };
            if libc::syscall(libc::SYS_prlimit64, 0, resource, &raw const limit, 0_usize) < 0 {
                fail(REPORT, Stage::Limits, (errno(), at as u32));
            }
        }
        if plan.gives_up_privileges && libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 {
            fail(REPORT, Stage::Calls, first(errno()));
        }
        if let Some(ruleset) = plan.landlock
            && let Err(number) = restrict(ruleset, &plan.late_rules)
        {
            fail(REPORT, Stage::Landlock, first(number));
        }
        close_all_but(&[0, 1, 2, REPORT]);
        for signal in 1..65 {
            libc::signal(signal, libc::SIG_DFL);
        }
        let mut none: sigset_t = std::mem::zeroed();
        libc::sigemptyset(&mut none);
        libc::pthread_sigmask(libc::SIG_SETMASK, &none, null_mut());
        for (at, filter) in plan.filters.iter().enumerate() {
            let program = Filter { count: filter.len() as u16, instructions: filter.as_ptr() };
            let mode = libc::SECCOMP_MODE_FILTER;
            if libc::prctl(libc::PR_SET_SECCOMP, mode, &raw const program) < 0 {
                fail(REPORT, Stage::Calls, (errno(), at as u32));
            }
        }
        if plan.is_trial {
            libc::_exit(0);
        }
        libc::execve(plan.program.0.as_ptr(), ready.arguments.as_ptr(), ready.environment.as_ptr());
        fail(REPORT, Stage::Program, first(errno()))
    }
}

/// A file that is open to be mounted, looked at or entered, and not to be read.
struct Opened(c_int);

impl Opened {
    /// Opens a path. If it does not lead to the file of that identity, it has been moved (`ESTALE`).
    unsafe fn at(path: &CStr, identity: Option<Identity>) -> Result<Self, i32> {
        let opened = unsafe { libc::open(path.as_ptr(), libc::O_PATH | libc::O_CLOEXEC) };
        if opened < 0 {
            let gone = [libc::ENOENT, libc::ENOTDIR, libc::ELOOP].contains(&errno()) && identity.is_some();
            return Err(if gone { libc::ESTALE } else { errno() });
        }
        let opened = Self(opened);
        if let Some(identity) = identity {
            // SAFETY: all zeros are a value of it, and the kernel writes no more than it has.
            let found = unsafe {
                let mut found: libc::stat = std::mem::zeroed();
                done(libc::fstat(opened.0, &mut found))?;
                found
            };
            // The types differ between systems.
            #[allow(clippy::unnecessary_cast, reason = "not everywhere")]
            let found = Identity { device: found.st_dev as u64, number: found.st_ino as u64 };
            if found != identity {
                return Err(libc::ESTALE);
            }
        }
        Ok(opened)
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        // SAFETY: it belongs to the value.
        unsafe { libc::close(self.0) };
    }
}

/// The form in which the kernel takes a filter.
#[repr(C)]
struct Filter {
    count: u16,
    instructions: *const sock_filter,
}

/// The form in which the kernel takes a rule of Landlock.
#[repr(C, packed)]
struct PathRule {
    allowed: u64,
    path: i32,
}

unsafe fn restrict(ruleset: c_int, late: &[(CString, u64)]) -> Result<(), i32> {
    const PATH_BENEATH: c_int = 1;
    unsafe {
        for (path, allowed) in late {
            let path = libc::open(path.as_ptr(), libc::O_PATH | libc::O_CLOEXEC);
            done(path)?;
            let rule = PathRule { allowed: *allowed, path };
            let added =
                libc::syscall(libc::SYS_landlock_add_rule, ruleset, PATH_BENEATH, &raw const rule, 0_u32);
            number_of(added)?;
        }
        number_of(libc::syscall(libc::SYS_landlock_restrict_self, ruleset, 0_u32)).map(|_| ())
    }
}

/// The form in which the kernel takes attributes of mounts.
#[repr(C)]
struct MountAttributes {
    set: u64,
    clear: u64,
    propagation: u64,
    user_namespace: u64,
}

impl Step {
    /// Returns what it is for, to say where the way ended.
    pub(crate) fn purpose(&self) -> String {
        let shown = |path: &CStr| path.to_string_lossy().into_owned();
        match self {
            Self::Enter { base, .. } => format!("another tree over `{}`", shown(base)),
            Self::Bind { at, .. } => format!("`{}` in another tree", shown(at)),
            Self::Memory { at, .. } | Self::Folder(at) | Self::File(at) | Self::Link { at, .. } => {
                format!("a new `{}` in another tree", shown(at))
            }
            Self::Processes { .. } | Self::Leave { .. } | Self::Seal => "the end of the old tree".to_owned(),
        }
    }

    unsafe fn take(&self) -> Result<(), i32> {
        const PLAIN: c_ulong = libc::MS_NOSUID | libc::MS_NODEV;
        let mount = |from: &CStr, at: &CStr, kind: &CStr, flags: c_ulong, options: &CStr| unsafe {
            done(libc::mount(from.as_ptr(), at.as_ptr(), kind.as_ptr(), flags, options.as_ptr().cast()))
        };
        unsafe {
            match self {
                Self::Memory { at, options } => mount(c"tmpfs", at, c"tmpfs", PLAIN, options),
                Self::Enter { base, old } => {
                    libc::umask(0o022);
                    mount(c"none", c"/", c"none", libc::MS_REC | libc::MS_PRIVATE, c"")?;
                    mount(c"tmpfs", base, c"tmpfs", PLAIN, c"size=1m,mode=0755")?;
                    made(libc::mkdir(old.as_ptr(), 0o700))?;
                    number_of(libc::syscall(libc::SYS_pivot_root, base.as_ptr(), old.as_ptr()))?;
                    done(libc::chdir(c"/".as_ptr()))
                }
                Self::Folder(at) => made(libc::mkdir(at.as_ptr(), 0o755)),
                Self::File(at) => {
                    let flags = libc::O_CREAT | libc::O_EXCL | libc::O_CLOEXEC | libc::O_WRONLY;
                    let file = libc::open(at.as_ptr(), flags, 0o644);
                    if file >= 0 {
                        libc::close(file);
                    }
                    made(file)
                }
                Self::Link { to, at } => made(libc::symlink(to.as_ptr(), at.as_ptr())),
                Self::Bind { from, at, identity, is_inside, is_writable, is_device } => {
                    let from = Opened::at(from, *identity)?;
                    let place = Opened::at(at, identity.filter(|_| *is_inside))?;
                    const EMPTY: c_uint = libc::AT_EMPTY_PATH as c_uint;
                    const ALL: c_uint = EMPTY | libc::AT_RECURSIVE as c_uint;
                    let copy = libc::OPEN_TREE_CLONE | libc::OPEN_TREE_CLOEXEC | ALL;
                    let tree = number_of(libc::syscall(libc::SYS_open_tree, from.0, c"".as_ptr(), copy))?;
                    let tree = Opened(tree as c_int);
                    let mut set = libc::MOUNT_ATTR_NOSUID;
                    if !is_writable {
                        set |= libc::MOUNT_ATTR_RDONLY;
                    }
                    if !is_device {
                        set |= libc::MOUNT_ATTR_NODEV;
                    }
                    let attributes = MountAttributes { set, clear: 0, propagation: 0, user_namespace: 0 };
                    let size = size_of::<MountAttributes>();
                    number_of(libc::syscall(
                        libc::SYS_mount_setattr,
                        tree.0,
                        c"".as_ptr(),
                        ALL,
                        &raw const attributes,
                        size,
                    ))?;
                    let flags = libc::MOVE_MOUNT_F_EMPTY_PATH | libc::MOVE_MOUNT_T_EMPTY_PATH;
                    let none = c"".as_ptr();
                    number_of(libc::syscall(libc::SYS_move_mount, tree.0, none, place.0, none, flags))
                        .map(|_| ())
                }
                Self::Processes { at } => {
                    let flags = PLAIN | libc::MS_NOEXEC;
                    // Processes alone, and not the warden; older kernels show more of the machine.
                    let narrow = mount(c"proc", at, c"proc", flags, c"subset=pid,hidepid=2");
                    let _ = narrow.or_else(|_| mount(c"proc", at, c"proc", flags, c"hidepid=2"));
                    Ok(())
                }
                Self::Leave { old } => {
                    done(libc::umount2(old.as_ptr(), libc::MNT_DETACH))?;
                    done(libc::rmdir(old.as_ptr()))
                }
                Self::Seal => {
                    let flags = libc::MS_REMOUNT | libc::MS_BIND | libc::MS_RDONLY | PLAIN;
                    mount(c"none", c"/", c"none", flags, c"")
                }
            }
        }
    }
}
