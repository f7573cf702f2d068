//! The layers of a sandbox, by name, and which of them hold.

use std::fmt;

/// A layer: one thing that a program of others is kept from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Layer {
    /// A user that no one else has: no file of anyone is its own.
    User,
    /// A namespace for processes: it sees and signals its own alone, and when the first one ends, all do.
    Processes,
    /// A tree of files with what was allowed, and nothing else in it.
    Files,
    /// Landlock: what was not allowed cannot be opened, wherever it is found.
    Landlock,
    /// A namespace without a network.
    Network,
    /// Namespaces for shared memory, queues and the name of the machine.
    Ipc,
    /// A limit of the memory of all its processes together.
    Memory,
    /// A limit of the number of its processes.
    Tasks,
    /// Limits of each process (`setrlimit`).
    Limits,
    /// A filter of system calls (seccomp), and no way to gain privileges.
    Calls,
}

impl Layer {
    /// All layers, in the order in which they are shown.
    pub const ALL: [Self; 10] = [
        Self::User,
        Self::Processes,
        Self::Files,
        Self::Landlock,
        Self::Network,
        Self::Ipc,
        Self::Memory,
        Self::Tasks,
        Self::Limits,
        Self::Calls,
    ];

    /// Returns the name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Processes => "processes",
            Self::Files => "files",
            Self::Landlock => "landlock",
            Self::Network => "network",
            Self::Ipc => "ipc",
            Self::Memory => "memory",
            Self::Tasks => "tasks",
            Self::Limits => "limits",
            Self::Calls => "calls",
        }
    }

    /// Returns what it keeps a program from.
    pub const fn purpose(self) -> &'static str {
        match self {
            Self::User => "files and processes of other users",
            Self::Processes => "other processes; whatever it starts ends with it",
            Self::Files => "all files but those that are named",
            Self::Landlock => "opening what is not named, a second time",
            Self::Network => "connections",
            Self::Ipc => "memory and queues of others",
            Self::Memory => "more memory than its limit, all processes together",
            Self::Tasks => "more processes than its limit",
            Self::Limits => "time of the processor, large files, core dumps",
            Self::Calls => "rare doors of the kernel",
        }
    }
}

impl Layer {
    /// Returns how a machine gets it.
    pub const fn remedy(self) -> &'static str {
        match self {
            Self::User => "run as root, or allow namespaces for users (`user.max_user_namespaces`, AppArmor)",
            Self::Processes | Self::Files | Self::Network | Self::Ipc => {
                "allow namespaces for users (`user.max_user_namespaces`, AppArmor); in a container, \
                 allow it to `unshare` and `mount`"
            }
            Self::Landlock => "Linux 6.2 or later, with `landlock` in the list `lsm=` of its command line",
            Self::Memory | Self::Tasks => {
                "run as root, or in a control group of this user: `systemd-run --user --scope karat ...`"
            }
            Self::Limits => "a kernel that does not refuse `setrlimit`",
            Self::Calls => "Linux with seccomp, on x86-64, aarch64 or riscv64",
        }
    }
}

impl fmt::Display for Layer {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}

/// The state of a layer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// It holds, by this means.
    Holds(String),
    /// It does not hold, for this reason.
    Missing(String),
}

/// Layers and their states, in the order of [`Layer::ALL`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Layers(Vec<(Layer, State)>);

#[cfg(target_os = "linux")]
impl Layers {
    /// Notes that a layer holds.
    pub(crate) fn holds(&mut self, layer: Layer, by: impl Into<String>) {
        self.set(layer, State::Holds(by.into()));
    }

    /// Notes that a layer is missing.
    pub(crate) fn missing(&mut self, layer: Layer, why: impl Into<String>) {
        self.set(layer, State::Missing(why.into()));
    }

    fn set(&mut self, layer: Layer, state: State) {
        self.0.retain(|(known, _)| *known != layer);
        self.0.push((layer, state));
        self.0.sort_by_key(|(layer, _)| *layer);
    }
}

impl Layers {
    /// Returns what holds on a system that is not Linux.
    #[cfg(not(target_os = "linux"))]
    pub(crate) fn none() -> Self {
        let missing = |layer| (layer, State::Missing("it needs Linux".to_owned()));
        Self(Layer::ALL.map(missing).to_vec())
    }

    /// Returns the state of a layer that plays a part here.
    pub fn get(&self, layer: Layer) -> Option<&State> {
        self.0.iter().find(|(known, _)| *known == layer).map(|(_, state)| state)
    }

    /// Returns whether a layer holds.
    pub fn has(&self, layer: Layer) -> bool {
        matches!(self.get(layer), Some(State::Holds(_)))
    }

    /// Returns every layer with its state.
    pub fn iter(&self) -> impl Iterator<Item = (Layer, &State)> {
        self.0.iter().map(|(layer, state)| (*layer, state))
    }

    /// Returns the layers that are missing, with the reasons.
    pub fn gaps(&self) -> Vec<(Layer, &str)> {
        let gap = |(layer, state)| match state {
            &State::Holds(_) => None,
            State::Missing(why) => Some((layer, why.as_str())),
        };
        self.iter().filter_map(gap).collect()
    }

    /// Returns the layers that are missing in one sentence, or nothing if none is.
    pub fn complaint(&self) -> Option<String> {
        let gaps: Vec<String> = self.gaps().iter().map(|(layer, why)| format!("`{layer}` ({why})")).collect();
        (!gaps.is_empty()).then(|| format!("missing here: {}", gaps.join(", ")))
    }
}
