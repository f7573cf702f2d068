//! One change at a time for each agent: a rating follows from the one before.

use karat_core::facts::Digest;
use tokio::sync::{Mutex, MutexGuard};

/// The number of slots: two agents in one slot wait for each other.
const PLACES: usize = 64;

/// Permits to change agents, one per slot.
#[derive(Debug)]
pub struct Permits([Mutex<()>; PLACES]);

impl Default for Permits {
    fn default() -> Self {
        Self(std::array::from_fn(|_| Mutex::default()))
    }
}

impl Permits {
    /// Waits until no other request changes `agent`.
    pub async fn take(&self, agent: &str) -> Option<MutexGuard<'_, ()>> {
        let Digest([first, ..]) = Digest::of(agent.as_bytes());
        let place = self.0.get(usize::from(first) % PLACES)?;
        Some(place.lock().await)
    }
}
