//! The folder of a project: what a project file of strangers may reach.

use std::fs;
use std::path::{Path, PathBuf};

use super::{Project, digest_file};
use crate::cards::released;
use crate::error::{Code, Error};
use crate::inputs::files;
use crate::text::clean;

impl Project {
    /// Refuses a project file that is a link out of its folder, before anything of it is read.
    ///
    /// # Errors
    /// If it is one.
    pub fn refuse_link(path: &Path) -> Result<(), Error> {
        // What is not there is missed by who reads it.
        let is_there = fs::canonicalize(path).is_ok();
        if is_there && !is_within(path, &folder_of(path)) {
            let message = format!("`{}` is a link out of its folder", clean(&path.display().to_string()));
            return Err(refused(message));
        }
        Ok(())
    }

    /// Refuses paths that lead out of the folder of the project file, by themselves or through a link, before anything of what they
    /// lead to is read.
    ///
    /// # Errors
    /// If there is one.
    pub fn refuse_outside(&self) -> Result<(), Error> {
        let folder = folder_of(Path::new(&self.path));
        let card = Some(&self.card).filter(|card| released(card).is_none());
        let beside: Vec<String> = self.baseline.iter().map(|path| digest_file(path)).collect();
        let inputs = self.inputs.iter().map(|path| ("inputs", path));
        let baseline = self.baseline.iter().chain(&beside).map(|path| ("baseline", path));
        let history = self.history.iter().map(|path| ("history", path));
        let card = card.map(|card| ("card", card)).into_iter();
        for (member, path) in card.chain(inputs).chain(baseline).chain(history) {
            let refuse = |path: &str| {
                let lies = "lies outside of the folder of the project";
                Err(refused(format!("{}: `{member}` names `{}`, which {lies}", self.path, clean(path))))
            };
            if !is_within(Path::new(path), &folder) {
                return refuse(path);
            }
            // What cannot be found is reported when it is read; a link in a folder is passed over.
            let found = files(std::slice::from_ref(path)).unwrap_or_default();
            let outside = |path: &str| !is_within(Path::new(path), &folder);
            if let Some(file) = found.iter().find(|file| !file.is_link && outside(&file.path)) {
                return refuse(&file.path);
            }
        }
        Ok(())
    }
}

fn refused(message: String) -> Error {
    Error::new(Code::InvalidOption, message).hint(
        "a project file reads and writes below its own folder alone; if you trust this one: --allow-outside",
    )
}

fn folder_of(path: &Path) -> PathBuf {
    let folder = path.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."));
    fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned())
}

/// Returns whether a path leads into a folder, links followed; of what does not exist, where it would be made.
fn is_within(path: &Path, folder: &Path) -> bool {
    for part in path.ancestors() {
        let here = if part == Path::new("") { Path::new(".") } else { part };
        if let Ok(real) = fs::canonicalize(here) {
            return real.starts_with(folder);
        }
        // A link to nowhere, and a way up from what may become a link.
        if here.is_symlink() || here.file_name().is_none() {
            return false;
        }
    }
    false
}
