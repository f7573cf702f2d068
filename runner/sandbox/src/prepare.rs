//! From a description to a plan: what this machine allows, as far as it is known, and what is missing.

use std::collections::BTreeMap;
use std::ffi::{CString, OsStr, OsString};
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::io::fcntl_dupfd_cloexec;
use rustix::process::geteuid;

use crate::filter::{self, Extra};
use crate::groups::Groups;
use crate::landlocked;
use crate::layer::{Layer, Layers};
use crate::pin::{Identity, Pin, Pins};
use crate::raw::{Plan, Stage};
use crate::sandbox::{Error, Sandbox};
use crate::slot::Slot;
use crate::tree::Tree;

/// Ways to namespaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// By root, which may make them.
    Root,
    /// With a namespace for users, in which an ordinary user may make the others.
    User,
    /// Not at all.
    None,
}

/// Findings about this machine, by trying.
#[derive(Debug, Clone, Default)]
pub(crate) struct Known {
    pub(crate) way: Option<Way>,
    pub(crate) gaps: BTreeMap<Layer, String>,
}

static KNOWN: Mutex<Option<Known>> = Mutex::new(None);

fn locked() -> MutexGuard<'static, Option<Known>> {
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Known {
    /// Returns what earlier runs have found out.
    pub(crate) fn so_far() -> Self {
        locked().clone().unwrap_or_default()
    }

    /// Keeps it for later runs.
    pub(crate) fn keep(&self) {
        *locked() = Some(self.clone());
    }

    pub(crate) fn way(&self) -> Way {
        self.way.unwrap_or(if geteuid().is_root() { Way::Root } else { Way::User })
    }

    fn has(&self, layer: Layer) -> bool {
        !self.gaps.contains_key(&layer)
    }

    /// Learns from a failure on the way to the program. Returns false if another try would fail in the same way.
    pub(crate) fn learn(&mut self, stage: Stage, why: &str) -> bool {
        let mut add = |layers: &[Layer]| {
            let before = self.gaps.len();
            self.gaps.extend(layers.iter().map(|&layer| (layer, why.to_owned())));
            self.gaps.len() > before
        };
        match stage {
            Stage::Start => false,
            Stage::Group => add(&[Layer::Memory, Layer::Tasks]),
            Stage::Root => add(&[Layer::Files]),
            Stage::User => add(&[Layer::User]),
            Stage::Limits => add(&[Layer::Limits]),
            Stage::Landlock => add(&[Layer::Landlock]),
            Stage::Calls => add(&[Layer::Calls]),
            Stage::Folder | Stage::Program => false,
        }
    }

    /// Takes the next way to namespaces. Returns false after the last one.
    pub(crate) fn next_way(&mut self, why: &str) -> bool {
        let next = match self.way() {
            Way::Root => Way::User,
            Way::User => Way::None,
            Way::None => return false,
        };
        self.way = Some(next);
        if next == Way::None {
            for layer in [Layer::Processes, Layer::Files, Layer::Network, Layer::Ipc] {
                self.gaps.insert(layer, format!("namespaces: {why}"));
            }
        }
        true
    }
}

/// A plan, and what has to be there as long as it is carried out.
pub(crate) struct Prepared {
    pub(crate) plan: Plan,
    pub(crate) layers: Layers,
    pub(crate) groups: Groups,
    /// The user of the sandbox, seen from outside.
    pub(crate) user: Option<u32>,
    _slot: Option<Slot>,
    _ruleset: Option<OwnedFd>,
}

/// Numbers of files of a plan.
pub(crate) struct Files {
    pub(crate) input: i32,
    pub(crate) output: i32,
    pub(crate) errors: i32,
    pub(crate) control: i32,
    pub(crate) report: i32,
}

/// The number of the first file of a plan: those below are the program's.
pub(crate) const FIRST_FILE: i32 = 10;
const NAMESPACES: i32 = libc::CLONE_NEWPID | libc::CLONE_NEWNS | libc::CLONE_NEWIPC | libc::CLONE_NEWUTS;
const OPEN_FILES: u64 = 256;

impl Prepared {
    /// Prepares a run.
    ///
    /// # Errors
    ///
    /// If something that the description names is not there.
    pub(crate) fn of(
        sandbox: &Sandbox,
        pins: &Pins,
        known: &Known,
        files: &Files,
        is_trial: bool,
    ) -> Result<Self, Error> {
        if sandbox.is_open {
            return Self::open(sandbox, pins, files, is_trial);
        }
        let mut layers = Layers::default();
        let way = known.way();
        let is_root = geteuid().is_root();
        let slot = if is_root && known.has(Layer::User) { Slot::claim() } else { None };
        let user = slot.as_ref().map(|slot| slot.user);
        let mut namespaces = 0;
        if way != Way::None {
            namespaces |= NAMESPACES;
            for layer in [Layer::Processes, Layer::Ipc] {
                layers.holds(layer, "namespace");
            }
            if way == Way::User {
                namespaces |= libc::CLONE_NEWUSER;
            }
            if !sandbox.has_network {
                namespaces |= libc::CLONE_NEWNET;
                layers.holds(Layer::Network, "namespace");
            }
        }
        match user {
            Some(user) => layers.holds(Layer::User, format!("user {user}")),
            None if !is_root && way == Way::User => layers.holds(Layer::User, "namespace"),
            None if is_root => layers.missing(Layer::User, "all users for sandboxes are taken"),
            None => layers.missing(
                Layer::User,
                "only root can become another user, and namespaces for users are missing",
            ),
        }
        let has_tree = way != Way::None && known.has(Layer::Files);
        let tree = Tree::of(sandbox, pins, user, has_tree)?;
        if has_tree {
            layers.holds(Layer::Files, "namespace, a tree by itself");
        }
        let limits = &sandbox.limits;
        let groups = if known.has(Layer::Memory) && known.has(Layer::Tasks) {
            Groups::make(limits.memory_bytes, limits.processes, &mut layers)
        } else {
            Groups::default()
        };
        let has_own_count = user.is_some() || (way == Way::User && namespaces_count());
        for (&layer, why) in known.gaps.iter().filter(|gap| *gap.0 != Layer::Network || !sandbox.has_network)
        {
            layers.missing(layer, why.as_str());
        }
        if !layers.has(Layer::Tasks) && has_own_count && known.has(Layer::Limits) {
            layers.holds(Layer::Tasks, "setrlimit, for a user by itself");
        }
        let (mut ruleset, mut late_rules) = (None, Vec::new());
        if known.has(Layer::Landlock) {
            match tree.rules(sandbox.has_network) {
                Ok(rules) => {
                    let (opened, version) = rules.into_parts();
                    // Above the files that the program is given.
                    ruleset = opened.and_then(|ruleset| fcntl_dupfd_cloexec(ruleset, FIRST_FILE).ok());
                    late_rules = if has_tree { tree.late_rules(version) } else { Vec::new() };
                    match &ruleset {
                        Some(_) => layers.holds(Layer::Landlock, landlocked::means(version)),
                        None => layers.missing(Layer::Landlock, "no room for one more open file"),
                    }
                }
                Err(why) => layers.missing(Layer::Landlock, why),
            }
        }
        let mut rlimits = Vec::new();
        if known.has(Layer::Limits) {
            rlimits = self::limits(sandbox, has_own_count, layers.has(Layer::Memory));
            layers.holds(Layer::Limits, "setrlimit");
        }
        let extra = Extra {
            sockets: !sandbox.has_network,
            unix_sockets: !has_tree && !sandbox.has_network,
            ipc: !layers.has(Layer::Ipc),
            memory_files: !layers.has(Layer::Memory),
        };
        let mut filters = Vec::new();
        if known.has(Layer::Calls) {
            match filter::for_programs(extra) {
                Ok(made) => {
                    filters = made;
                    layers.holds(Layer::Calls, "seccomp, no_new_privs");
                }
                Err(why) => layers.missing(Layer::Calls, why),
            }
        }
        let plan = Plan {
            namespaces,
            waits_for_users: way == Way::User,
            groups: groups.joins().collect(),
            root: if has_tree { tree.steps(true)? } else { Vec::new() },
            user,
            limits: rlimits,
            landlock: ruleset.as_ref().map(|ruleset| ruleset.as_raw_fd()),
            late_rules,
            filters,
            gives_up_privileges: true,
            ..Plan::of(sandbox, tree.program, tree.folder, files, is_trial)?
        };
        Ok(Self { plan, layers, groups, user, _slot: slot, _ruleset: ruleset })
    }

    /// Prepares a run without walls.
    fn open(sandbox: &Sandbox, pins: &Pins, files: &Files, is_trial: bool) -> Result<Self, Error> {
        let identity = |pin: &Pin| pin.identity().map_err(|error| Error::System(error.to_string()));
        let program = (pins.name.clone(), identity(&pins.program)?);
        let folder = (pins.folder.path.clone(), Some(identity(&pins.folder)?));
        let mut plan = Plan::of(sandbox, program, folder, files, is_trial)?;
        let given = &sandbox.limits;
        let mut limits = vec![(libc::RLIMIT_CORE, 0)];
        limits.extend(given.cpu_seconds.map(|seconds| (libc::RLIMIT_CPU, seconds)));
        for (resource, most) in [(libc::RLIMIT_AS, given.memory_bytes), (libc::RLIMIT_NPROC, given.processes)]
        {
            limits.extend((most != u64::MAX).then_some((resource, most)));
        }
        plan.limits = limits.into_iter().map(both).collect();
        let (layers, groups) = (Layers::default(), Groups::default());
        Ok(Self { plan, layers, groups, user: None, _slot: None, _ruleset: None })
    }
}

impl Plan {
    /// Makes a plan without any walls.
    fn of(
        sandbox: &Sandbox,
        (program, of_program): (PathBuf, Identity),
        (folder, of_folder): (PathBuf, Option<Identity>),
        files: &Files,
        is_trial: bool,
    ) -> Result<Self, Error> {
        let arguments =
            std::iter::once(sandbox.program.as_os_str().to_owned()).chain(sandbox.arguments.iter().cloned());
        let environment = sandbox.environment.iter().map(|(name, value)| {
            let mut pair = name.clone();
            pair.push("=");
            pair.push(value);
            pair
        });
        Ok(Self {
            namespaces: 0,
            waits_for_users: false,
            groups: Vec::new(),
            root: Vec::new(),
            user: None,
            folder: (text(folder.as_os_str())?, of_folder),
            limits: Vec::new(),
            landlock: None,
            late_rules: Vec::new(),
            filters: Vec::new(),
            gives_up_privileges: false,
            program: (text(program.as_os_str())?, of_program),
            arguments: texts(arguments)?,
            environment: texts(environment)?,
            input: files.input,
            output: files.output,
            errors: files.errors,
            control: files.control,
            report: files.report,
            is_trial,
        })
    }
}

/// Returns whether the kernel counts processes of each namespace for users by itself, as it does since 5.14.
fn namespaces_count() -> bool {
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let mut numbers = release.split(|c: char| !c.is_ascii_digit()).map(|part| part.parse().unwrap_or(0_u32));
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)) >= (5, 14)
}

/// Returns the limits of each process.
fn limits(sandbox: &Sandbox, has_own_count: bool, has_group: bool) -> Vec<(i64, u64, u64)> {
    let limits = &sandbox.limits;
    let mut list = vec![
        (libc::RLIMIT_CORE, 0),
        (libc::RLIMIT_FSIZE, limits.file_bytes),
        (libc::RLIMIT_NOFILE, OPEN_FILES),
        (libc::RLIMIT_MEMLOCK, 1 << 16),
        (libc::RLIMIT_MSGQUEUE, 0),
        (libc::RLIMIT_RTPRIO, 0),
    ];
    list.extend(limits.cpu_seconds.map(|seconds| (libc::RLIMIT_CPU, seconds)));
    if has_own_count {
        // The warden is one of them.
        list.push((libc::RLIMIT_NPROC, limits.processes.saturating_add(1)));
    }
    if !has_group {
        list.push((libc::RLIMIT_AS, limits.memory_bytes));
    }
    list.into_iter().map(both).collect()
}

/// Returns the softer and the harder form of a limit.
fn both((resource, most): (impl Into<i64>, u64)) -> (i64, u64, u64) {
    let resource = resource.into();
    // Over its time a process gets a signal that says so, and a second later one that it cannot catch.
    let later = if resource == i64::from(libc::RLIMIT_CPU) { most.saturating_add(1) } else { most };
    (resource, most, later)
}

fn texts(list: impl Iterator<Item = OsString>) -> Result<Vec<CString>, Error> {
    list.map(|it| text(&it)).collect()
}

fn text(text: &OsStr) -> Result<CString, Error> {
    CString::new(text.as_bytes())
        .map_err(|_| Error::Start(format!("`{}` has a zero byte", text.to_string_lossy().escape_debug())))
}
