//! Rules of Landlock: which files can be opened, for reading or for writing.

use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible as _, PathBeneath, PathFd, Ruleset,
    RulesetAttr as _, RulesetCreated, RulesetCreatedAttr as _, RulesetStatus, Scope,
};

use crate::raw;

/// The newest rights that are asked for. Kernels that know fewer give what they know.
const NEWEST: ABI = ABI::V9;
/// Kernels from here on (6.2) stop every way of writing; before, files could be cut to nothing.
const OLDEST: i32 = 3;

/// Rights to files, not yet in force.
pub(crate) struct Rules {
    ruleset: RulesetCreated,
    version: i32,
}

/// Returns the version of Landlock that the kernel has.
///
/// # Errors
///
/// If it has none, or one that stops too little.
pub(crate) fn version() -> Result<i32, String> {
    match raw::landlock_version() {
        version if version >= OLDEST => Ok(version),
        version if version > 0 => {
            Err(format!("the kernel has version {version} of it, and {OLDEST} is needed"))
        }
        _ => Err("the kernel does not have it, or not in its list `lsm=`".to_owned()),
    }
}

/// Makes rules that allow to read beneath some paths, and nothing else. A path that is not there is left out.
///
/// # Errors
///
/// If the kernel does not have Landlock.
pub(crate) fn read_only(paths: &[PathBuf]) -> Result<Rules, String> {
    let mut rules = Rules::new(false)?;
    for path in paths {
        let Ok(opened) = PathFd::new(path) else { continue };
        let rights = AccessFs::ReadFile | AccessFs::ReadDir;
        rules = rules
            .allow(opened, path.is_dir(), rights)
            .map_err(|error| format!("{}: {error}", path.display()))?;
    }
    Ok(rules)
}

impl Rules {
    /// Makes rules that allow nothing.
    ///
    /// # Errors
    ///
    /// If the kernel does not have Landlock.
    pub(crate) fn new(has_network: bool) -> Result<Self, String> {
        let version = version()?;
        let text = |error: landlock::RulesetError| error.to_string();
        let mut ruleset = Ruleset::default()
            .set_compatibility(CompatLevel::BestEffort)
            .handle_access(AccessFs::from_all(NEWEST))
            .map_err(text)?
            .scope(Scope::from_all(NEWEST))
            .map_err(text)?;
        if !has_network {
            ruleset = ruleset.handle_access(AccessNet::from_all(NEWEST)).map_err(text)?;
        }
        Ok(Self { ruleset: ruleset.create().map_err(text)?, version })
    }

    /// Allows to do something with a file, or beneath a folder.
    ///
    /// # Errors
    ///
    /// If the kernel refuses the rule.
    pub(crate) fn allow(
        self,
        opened: impl AsFd,
        is_folder: bool,
        access: BitFlags<AccessFs>,
    ) -> Result<Self, String> {
        let access = if is_folder { access } else { access & AccessFs::from_file(NEWEST) };
        let rule = PathBeneath::new(opened, access);
        let added = self.ruleset.add_rule(rule).map_err(|error| error.to_string())?;
        Ok(Self { ruleset: added, ..self })
    }

    /// Puts the rules into force for this thread, and those that it makes.
    pub(crate) fn restrict_self(self) -> Result<String, String> {
        let status = self.ruleset.restrict_self().map_err(|error| error.to_string())?;
        match status.ruleset {
            RulesetStatus::NotEnforced => Err("the kernel did not enforce it".to_owned()),
            _ => Ok(means(self.version)),
        }
    }

    /// Returns the rules for another process, and the version.
    pub(crate) fn into_parts(self) -> (Option<OwnedFd>, i32) {
        (self.ruleset.into(), self.version)
    }
}

/// Returns the words for Landlock of a version.
pub(crate) fn means(version: i32) -> String {
    format!("version {version}")
}

/// Returns the rights to read and to execute.
pub(crate) fn reading() -> BitFlags<AccessFs> {
    AccessFs::from_read(NEWEST)
}

/// Returns the rights to read, to execute and to write, without devices.
pub(crate) fn writing() -> BitFlags<AccessFs> {
    let devices = AccessFs::MakeBlock | AccessFs::MakeChar | AccessFs::IoctlDev;
    AccessFs::from_all(NEWEST) & !devices
}

/// Returns the rights to a device such as `/dev/null`.
pub(crate) fn device() -> BitFlags<AccessFs> {
    AccessFs::ReadFile | AccessFs::WriteFile
}

/// Returns those of some rights that a version of Landlock knows, as the kernel takes them.
pub(crate) fn of_version(rights: BitFlags<AccessFs>, version: i32) -> u64 {
    (rights & AccessFs::from_all(ABI::from(version.min(NEWEST as i32)))).bits()
}
