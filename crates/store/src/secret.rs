//! Secret keys in files, of logs and of witnesses: a line with the name and one with 64 hexadecimal digits, readable only
//! by the owner. And files that are replaced whole.

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::log::{Signer, Witness};

/// The longest file that is read as a secret key, in bytes.
const FILE_MAX_BYTES: u64 = 4096;

/// A name and 32 secret bytes. It cannot be printed.
pub struct Secret {
    name: String,
    bytes: [u8; 32],
}

impl Secret {
    /// Creates a key with a name and secret bytes, which the caller draws.
    ///
    /// # Errors
    /// If the name cannot be that of a key.
    pub fn new(name: String, bytes: [u8; 32]) -> Result<Self, Error> {
        let secret = Self { name, bytes };
        secret.signer()?;
        Ok(secret)
    }

    /// Reads the key in the file at `path`; none if there is no file.
    ///
    /// # Errors
    /// If it cannot be read, or is not a key.
    pub fn read(path: &Path) -> Result<Option<Self>, Error> {
        let mut text = String::new();
        match File::open(path).and_then(|file| file.take(FILE_MAX_BYTES).read_to_string(&mut text)) {
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(refused("read", path, &error)),
        }
        let wrong = || {
            Error::Failed(format!(
                "`{}` is not a secret key: expected a line with its name and one with 64 hexadecimal digits",
                path.display()
            ))
        };
        Self::parse(&text).map(Some).ok_or_else(wrong)
    }

    fn parse(text: &str) -> Option<Self> {
        let mut lines = text.lines();
        let (name, digits) = (lines.next()?, lines.next()?.as_bytes());
        let mut bytes = [0u8; 32];
        if digits.len() != 2 * bytes.len() || lines.next().is_some() {
            return None;
        }
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
            *byte = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
        }
        Self::new(name.to_owned(), bytes).ok()
    }

    /// Writes it to the file at `path`, which only the owner may read.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), Error> {
        replace(path, &format!("{}\n{}\n", self.name, hexadecimal(&self.bytes)), true)
    }

    /// Returns the key as that of a log.
    ///
    /// # Errors
    /// If the name cannot be that of a key.
    pub fn signer(&self) -> Result<Signer, Error> {
        Ok(Signer::new(&self.name, &self.bytes)?)
    }

    /// Returns the key as that of a witness.
    ///
    /// # Errors
    /// If the name cannot be that of a key.
    pub fn witness(&self) -> Result<Witness, Error> {
        Ok(Witness::new(&self.name, &self.bytes)?)
    }
}

/// Returns bytes in hexadecimal.
pub fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Writes a file so that at every moment, and after a loss of power, it is missing, the old one or the new one, but never
/// a part of it.
///
/// # Errors
/// If it cannot be written; then it is unchanged.
pub fn replace(path: &Path, text: &str, is_secret: bool) -> Result<(), Error> {
    let mut name = path.as_os_str().to_owned();
    name.push("-new");
    let draft = PathBuf::from(name);
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // A draft left by a process that was stopped.
    let _ = fs::remove_file(&draft);
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, if is_secret { 0o600 } else { 0o644 });
    #[cfg(not(unix))]
    let _ = is_secret;
    let written = options.open(&draft).and_then(|mut file| {
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&draft, path)?;
        File::open(folder)?.sync_all()
    });
    written.map_err(|error| {
        let _ = fs::remove_file(&draft);
        refused("write", path, &error)
    })
}

/// Returns the error of a file or folder that could not be read, created or written.
pub fn refused(what: &str, path: &Path, error: &std::io::Error) -> Error {
    match error.kind() {
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => Error::ReadOnly(path.to_owned()),
        ErrorKind::StorageFull => Error::Full(path.to_owned()),
        _ => Error::Failed(format!("cannot {what} `{}`: {error}", path.display())),
    }
}
