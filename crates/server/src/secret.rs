//! New secret keys of logs and of witnesses.

use karat_store::Error;
use karat_store::secret::{Secret, hexadecimal};

use crate::clock::random;

/// Draws a key at random, with this name or a random one that begins with `karat.local/`.
///
/// # Errors
/// If the system gives no random bytes, or the name cannot be that of a key.
pub fn draw(name: Option<&str>) -> Result<Secret, Error> {
    let bytes = random::<32>().map_err(Error::Failed)?;
    let name = match name {
        Some(name) => name.to_owned(),
        None => format!("karat.local/{}", hexadecimal(&random::<4>().map_err(Error::Failed)?)),
    };
    Secret::new(name, bytes)
}
