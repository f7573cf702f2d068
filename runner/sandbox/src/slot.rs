//! Users for sandboxes: numbers that no account has, one for each sandbox at a time.

use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixListener};

/// The first number. Between the ranges of containers and 2^31 no one hands out users.
const FIRST: u32 = 1_900_000_000;
const COUNT: u32 = 4096;

/// A user that no one else has while the value lives.
#[derive(Debug)]
pub(crate) struct Slot {
    pub(crate) user: u32,
    /// An abstract address that can be taken once, and goes with the process that took it, however that ends.
    _claim: UnixListener,
}

impl Slot {
    /// Takes a free user. Only root can become it.
    pub(crate) fn claim() -> Option<Self> {
        (FIRST..FIRST + COUNT).find_map(|user| {
            let address = SocketAddr::from_abstract_name(format!("karat-sandbox/{user}")).ok()?;
            UnixListener::bind_addr(&address).ok().map(|claim| Self { user, _claim: claim })
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::thread;

    use super::*;

    #[test]
    fn no_two_have_the_same_user() {
        let claim = || (0..20).map(|_| Slot::claim().unwrap()).collect::<Vec<_>>();
        let slots: Vec<Slot> = thread::scope(|scope| {
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(claim)).collect();
            threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
        });
        let users: BTreeSet<u32> = slots.iter().map(|slot| slot.user).collect();
        assert_eq!(users.len(), 80);
        drop(slots);
        assert!((FIRST..FIRST + 80 + 50).contains(&Slot::claim().unwrap().user), "they come back");
    }
}
