//! Confinement of the process itself: it gives up what it does not need any more, for good.

use std::fmt;
use std::path::PathBuf;

use crate::layer::Layers;

/// Things that a process keeps when it confines itself with [`confine_self`].
#[derive(Debug, Clone, Default)]
pub struct Confinement {
    /// Folders and files that can still be opened, to read. As far as the rights of their owner allow it: root becomes a
    /// user without a name.
    pub read: Vec<PathBuf>,
    /// The most bytes of memory that is written to. Addresses that are only reserved do not count.
    pub memory: Option<u64>,
    /// The most threads. It holds for root alone, which becomes another user.
    pub threads: Option<u64>,
    /// The most seconds of a processor, all threads together, for the life of the process.
    pub cpu_seconds: Option<u64>,
    /// True if a layer that is missing is an error.
    pub is_strict: bool,
}

/// A confinement that failed. What was given up until then stays given up: the process should end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfineError(String);

impl fmt::Display for ConfineError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "the process cannot confine itself: {}", self.0)
    }
}

impl std::error::Error for ConfineError {}

/// Confines this process, for good: root becomes a user without a name; limits are set; nothing can be written to but what is
/// open, nothing read but what is named; no connection, no program, no process, no new file. Threads can be made, and memory
/// can be executed.
///
/// To be called before there are threads: what they hold open would stay as it is.
///
/// # Errors
///
/// If there are other threads, if root cannot give up its user, or if `is_strict` and a layer is missing.
pub fn confine_self(confinement: &Confinement) -> Result<Layers, ConfineError> {
    #[cfg(target_os = "linux")]
    let layers = linux::confine(confinement)?;
    #[cfg(not(target_os = "linux"))]
    let layers = Layers::none();
    match layers.complaint().filter(|_| confinement.is_strict) {
        Some(complaint) => Err(ConfineError(complaint)),
        None => Ok(layers),
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use std::fs;
    use std::sync::OnceLock;

    use rustix::process::{
        DumpableBehavior, Resource, Rlimit, geteuid, getpid, set_dumpable_behavior, setrlimit,
    };
    use rustix::thread::{
        Gid, Uid, capabilities, set_no_new_privs, set_thread_groups, set_thread_res_gid, set_thread_res_uid,
    };

    use super::{ConfineError, Confinement};
    use crate::filter;
    use crate::landlocked;
    use crate::layer::{Layer, Layers};
    use crate::slot::Slot;

    /// The user of this process, taken until it ends.
    static SLOT: OnceLock<Slot> = OnceLock::new();

    pub(super) fn confine(confinement: &Confinement) -> Result<Layers, ConfineError> {
        let threads = fs::read_dir("/proc/self/task").map(Iterator::count).unwrap_or(1);
        if threads != 1 {
            return Err(ConfineError(format!("it has {threads} threads, and must have one")));
        }
        let mut layers = Layers::default();
        // Opened now: afterwards the user may not see them.
        let rules = landlocked::read_only(&confinement.read);
        let limits = [
            (Resource::Core, Some(0)),
            // For others it would count everything of their user.
            (Resource::Nproc, confinement.threads.filter(|_| geteuid().is_root())),
            (Resource::Data, confinement.memory),
            (Resource::Cpu, confinement.cpu_seconds),
        ];
        let mut refused = Vec::new();
        for (resource, limit) in limits {
            if limit.is_some() && setrlimit(resource, Rlimit { current: limit, maximum: limit }).is_err() {
                refused.push(format!("{resource:?}"));
            }
        }
        match refused.as_slice() {
            [] => layers.holds(Layer::Limits, "setrlimit"),
            refused => layers.missing(Layer::Limits, format!("the kernel refuses {}", refused.join(", "))),
        }
        drop_user(&mut layers)?;
        // Nothing of the same user looks into its memory.
        set_dumpable_behavior(DumpableBehavior::NotDumpable)
            .and_then(|()| set_no_new_privs(true))
            .map_err(|error| ConfineError(format!("no_new_privs: {error}")))?;
        match rules.and_then(landlocked::Rules::restrict_self) {
            Ok(by) => layers.holds(Layer::Landlock, by),
            Err(why) => layers.missing(Layer::Landlock, why),
        }
        let own = getpid().as_raw_nonzero().get() as u32;
        let filtered = filter::for_itself(own).and_then(|filters| {
            filters.iter().try_for_each(|it| seccompiler::apply_filter(it).map_err(|error| error.to_string()))
        });
        match filtered {
            Ok(()) => layers.holds(Layer::Calls, "seccomp, no_new_privs"),
            Err(why) => layers.missing(Layer::Calls, why),
        }
        Ok(layers)
    }

    /// Becomes a user that no one else has, if this is root.
    fn drop_user(layers: &mut Layers) -> Result<(), ConfineError> {
        if !geteuid().is_root() {
            // There is nothing to give up, and no other user to become.
            layers.holds(Layer::User, format!("user {}, not root", geteuid().as_raw()));
            return Ok(());
        }
        let refused =
            |error: rustix::io::Errno| ConfineError(format!("root cannot give up its user: {error}"));
        let slot =
            Slot::claim().ok_or_else(|| ConfineError("all users for sandboxes are taken".to_owned()))?;
        let user = SLOT.get_or_init(|| slot).user;
        let (uid, gid) = (Uid::from_raw(user), Gid::from_raw(user));
        set_thread_groups(&[]).map_err(refused)?;
        set_thread_res_gid(gid, gid, gid).map_err(refused)?;
        set_thread_res_uid(uid, uid, uid).map_err(refused)?;
        let left = capabilities(None).map_err(refused)?;
        if !left.effective.union(left.permitted).union(left.inheritable).is_empty() {
            return Err(ConfineError("root keeps capabilities after it has given up its user".to_owned()));
        }
        layers.holds(Layer::User, format!("user {user}, which no one else has"));
        Ok(())
    }
}
