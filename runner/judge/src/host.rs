//! Surroundings of an instance: a clock that stands, random bytes from the seed, standard input and output.

use std::fmt;

use wasmtime::{AsContextMut, Error, ResourceLimiter, Result};

/// The moment at which every instance begins: 2026-01-01T00:00:00Z, in nanoseconds since 1970.
const BEGIN: u64 = 1_767_225_600_000_000_000;

/// Nanoseconds by which a look at the clock advances it.
const TICK: u64 = 1_000;

/// Most elements of all tables of an instance.
const TABLE_MAX: usize = 1 << 20;

/// Most subscriptions at a time: a program that waits for more has other troubles.
const SUBSCRIPTIONS_MAX: usize = 1 << 16;

/// Answer to a question of an instance to its host, or the reason to end the instance.
pub type Ask = Box<dyn FnMut(&str, &str) -> Result<Answered> + Send>;

/// Answer of a host, and the fuel that it costs.
pub struct Answered {
    /// The answer.
    pub text: String,
    /// Its price.
    pub fuel: u64,
}

/// Takes fuel for what the host does.
///
/// # Errors
///
/// If there is less: the instance ends with none.
pub fn burn(mut store: impl AsContextMut<Data = Host>, fuel: u64) -> Result<()> {
    let mut store = store.as_context_mut();
    let left = store.get_fuel()?.checked_sub(fuel);
    store.set_fuel(left.unwrap_or_default())?;
    left.map(|_| ()).ok_or_else(|| Error::from(Stop::Fuel))
}

/// Asks what an instance asks of its host, and takes the fuel of the answer.
///
/// # Errors
///
/// If the question ends the instance.
pub fn asked(mut store: impl AsContextMut<Data = Host>, what: &str, request: &str) -> Result<String> {
    let mut store = store.as_context_mut();
    let Some(mut ask) = store.data_mut().ask.take() else {
        return Ok("!no one answers here".to_owned());
    };
    let answered = ask(what, request);
    store.data_mut().ask = Some(ask);
    let answered = answered?;
    burn(&mut store, answered.fuel)?;
    Ok(answered.text)
}

/// End of an instance that its own code did not return from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stop {
    /// All fuel was used.
    Fuel,
    /// More memory was asked for than there is.
    Memory,
    /// More was written than the output may hold.
    Output,
    /// The stack was too deep.
    Stack,
    /// The program ended itself with this status.
    Exit(i32),
    /// The code did something that ends it: the words name it.
    Trap(String),
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fuel => write!(f, "limit:fuel"),
            Self::Memory => write!(f, "limit:memory"),
            Self::Output => write!(f, "limit:output"),
            Self::Stack => write!(f, "limit:stack"),
            Self::Exit(status) => write!(f, "exit: {status}"),
            Self::Trap(what) => write!(f, "trap: {what}"),
        }
    }
}

impl std::error::Error for Stop {}

/// The state of a host.
pub struct Host {
    /// Most bytes of linear memory.
    pub memory_max: usize,
    /// The most bytes of linear memory that were asked for.
    pub memory_peak: usize,
    /// True once more was asked for than there is.
    pub memory_denied: bool,
    /// Most bytes of output.
    pub output_max: usize,
    /// Standard output up to now.
    pub stdout: Vec<u8>,
    /// Standard input.
    pub stdin: Vec<u8>,
    /// The bytes of it that were read.
    pub stdin_read: usize,
    /// The answers to questions; if `None`, no question is answered.
    pub ask: Option<Ask>,
    /// The answer to the last question of a module, until it is fetched.
    pub answered: String,
    /// Deadlines of what is subscribed to, in nanoseconds of the monotonic clock.
    deadlines: Vec<u64>,
    /// Elements of all tables.
    table_elements: usize,
    /// Places of them that are free again.
    free: Vec<u32>,
    nanoseconds: u64,
    random: u64,
}

impl fmt::Debug for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Host").field("memory_peak", &self.memory_peak).finish_non_exhaustive()
    }
}

impl Host {
    /// Creates a host.
    pub fn new(memory_max: usize, output_max: usize, seed: u64) -> Self {
        Self {
            memory_max,
            memory_peak: 0,
            memory_denied: false,
            output_max,
            stdout: Vec::new(),
            stdin: Vec::new(),
            stdin_read: 0,
            ask: None,
            answered: String::new(),
            deadlines: Vec::new(),
            table_elements: 0,
            free: Vec::new(),
            nanoseconds: 0,
            random: seed,
        }
    }

    /// Returns nanoseconds since the start of the instance, and lets a little time pass.
    pub fn monotonic(&mut self) -> u64 {
        self.nanoseconds = self.nanoseconds.saturating_add(TICK);
        self.nanoseconds
    }

    /// Returns nanoseconds since 1970, and lets a little time pass.
    pub fn wall(&mut self) -> u64 {
        BEGIN.saturating_add(self.monotonic())
    }

    /// Lets time pass until a moment of the monotonic clock.
    pub fn sleep_until(&mut self, nanoseconds: u64) {
        self.nanoseconds = self.nanoseconds.max(nanoseconds);
    }

    /// Subscribes to a moment of the monotonic clock, and returns the number of the subscription: 0 for what is ready.
    ///
    /// # Errors
    ///
    /// If there are too many: the instance ends.
    pub fn subscribe(&mut self, nanoseconds: u64) -> Result<u32> {
        // What is ready needs no place.
        if nanoseconds == 0 {
            return Ok(0);
        }
        if let Some(number) = self.free.pop() {
            if let Some(deadline) = self.deadlines.get_mut(number as usize - 1) {
                *deadline = nanoseconds;
            }
            return Ok(number);
        }
        if self.deadlines.len() >= SUBSCRIPTIONS_MAX {
            return Err(Error::from(Stop::Trap("waits too often".to_owned())));
        }
        self.deadlines.push(nanoseconds);
        Ok(self.deadlines.len() as u32)
    }

    /// Returns the moment of a subscription, 0 if it is ready at once.
    pub fn deadline(&self, number: u32) -> u64 {
        let at = (number as usize).checked_sub(1);
        at.and_then(|at| self.deadlines.get(at)).copied().unwrap_or_default()
    }

    /// Ends a subscription. Its number is given again.
    pub fn unsubscribe(&mut self, number: u32) {
        if number > 0 {
            self.free.push(number);
        }
    }

    /// Returns the next random bytes: SplitMix64 (Steele, Lea, Flood 2014) from the seed on.
    pub fn random(&mut self, count: usize) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(count.next_multiple_of(8));
        while bytes.len() < count {
            bytes.extend(self.random_word().to_le_bytes());
        }
        bytes.truncate(count);
        bytes
    }

    fn random_word(&mut self) -> u64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.random;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    }

    /// Takes what is written to standard output.
    ///
    /// # Errors
    ///
    /// If it is more than the output may hold: the instance ends.
    pub fn write(&mut self, bytes: &[u8]) -> Result<()> {
        if bytes.len() > self.output_max - self.stdout.len() {
            return Err(Error::from(Stop::Output));
        }
        self.stdout.extend_from_slice(bytes);
        Ok(())
    }

    /// Returns up to `count` further bytes of standard input.
    pub fn read(&mut self, count: usize) -> &[u8] {
        let from = self.stdin_read;
        self.stdin_read = self.stdin.len().min(from.saturating_add(count));
        self.stdin.get(from..self.stdin_read).unwrap_or_default()
    }

    /// Returns true if peak memory or output came within 5 % of their limits.
    pub fn is_near_limit(&self, answer: usize) -> bool {
        let output = self.stdout.len().saturating_add(answer);
        is_near(self.memory_peak as u64, self.memory_max as u64)
            || is_near(output as u64, self.output_max as u64)
    }
}

/// Returns true from 95 % of a limit on.
pub fn is_near(used: u64, limit: u64) -> bool {
    u128::from(used) * 100 >= u128::from(limit) * 95
}

impl ResourceLimiter for Host {
    fn memory_growing(&mut self, current: usize, desired: usize, _: Option<usize>) -> Result<bool> {
        let _ = current;
        self.memory_peak = self.memory_peak.max(desired);
        self.memory_denied |= desired > self.memory_max;
        Ok(desired <= self.memory_max)
    }

    fn table_growing(&mut self, current: usize, desired: usize, _: Option<usize>) -> Result<bool> {
        // Those of all tables together: an instance may have a hundred.
        let elements = self.table_elements.saturating_add(desired.saturating_sub(current));
        let fits = elements <= TABLE_MAX;
        if fits {
            self.table_elements = elements;
        }
        Ok(fits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_bytes_follow_from_the_seed_alone() {
        // The first word of SplitMix64 from seed 0, as published.
        assert_eq!(Host::new(0, 0, 0).random(8), 0xe220_a839_7b1d_cdaf_u64.to_le_bytes());
        let mut pieces = Host::new(0, 0, 7);
        let first = pieces.random(3);
        assert_eq!(Host::new(0, 0, 7).random(3), first);
        assert_ne!(pieces.random(3), first);
    }

    #[test]
    fn the_clock_goes_on_by_looks_and_by_sleep() {
        let mut host = Host::new(0, 0, 0);
        assert_eq!((host.wall(), host.monotonic()), (BEGIN + TICK, 2 * TICK));
        host.sleep_until(1_000_000);
        assert_eq!(host.monotonic(), 1_000_000 + TICK);
        host.sleep_until(5);
        assert_eq!(host.monotonic(), 1_000_000 + 2 * TICK);
    }

    #[test]
    fn subscriptions_take_no_more_places_than_there_are_at_a_time() {
        let mut host = Host::new(0, 0, 0);
        for round in 1..10_000 {
            let numbers = [1, 2].map(|plus| host.subscribe(round + plus).unwrap());
            assert_eq!(numbers.map(|number| host.deadline(number)), [round + 1, round + 2]);
            numbers.into_iter().for_each(|number| host.unsubscribe(number));
        }
        assert_eq!(host.deadlines.len(), 2);
        // What is ready gives nothing back.
        assert_eq!((host.subscribe(0).unwrap(), host.deadline(0)), (0, 0));
        host.unsubscribe(0);
        let all: Vec<u32> = (0..SUBSCRIPTIONS_MAX).map(|_| host.subscribe(5).unwrap()).collect();
        assert!(host.subscribe(5).is_err() && !all.contains(&0));
    }

    #[test]
    fn near_is_from_95_percent_on() {
        assert!(
            !is_near(949, 1000) && is_near(950, 1000) && is_near(u64::MAX, 1) && is_near(u64::MAX, u64::MAX)
        );
    }
}
