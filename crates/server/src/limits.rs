//! Rate limits for keys and addresses: a bucket of tokens for each, filled at a steady rate.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// The largest number of buckets. Beyond it, full buckets are dropped, and if that is not enough, all of them.
const BUCKETS: usize = 10_000;

/// A rate limit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rate {
    /// Requests a second, on average.
    pub per_second: f64,
    /// Requests at once.
    pub burst: f64,
}

/// The rate limits of keys and addresses.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RateOptions {
    /// The limit for each key.
    pub key: Rate,
    /// The limit for each address without a key.
    pub address: Rate,
}

impl Default for RateOptions {
    /// Returns 10,000 requests a second with a key, 200 without; bursts of twice that.
    fn default() -> Self {
        Self {
            key: Rate { per_second: 10_000.0, burst: 20_000.0 },
            address: Rate { per_second: 200.0, burst: 400.0 },
        }
    }
}

/// The caller to whom a limit applies.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Who {
    /// The holder of the key with that id.
    Key(String),
    /// The address of a caller without a key.
    Address(String),
}

/// The buckets of all callers.
#[derive(Debug)]
pub struct Rates {
    options: RateOptions,
    buckets: Mutex<BTreeMap<Who, Bucket>>,
}

#[derive(Debug, Clone, Copy)]
struct Bucket {
    tokens: f64,
    at_seconds: f64,
}

impl Rates {
    /// Creates the limits with all buckets full.
    #[must_use]
    pub fn new(options: RateOptions) -> Self {
        Self { options, buckets: Mutex::default() }
    }

    /// Takes `tokens` from the bucket of `who` at that time.
    ///
    /// # Errors
    /// If there are too few: the seconds until there are enough, at least one.
    pub fn take(&self, who: Who, tokens: f64, now_seconds: f64) -> Result<(), u32> {
        let rate = self.rate(&who);
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        if buckets.len() >= BUCKETS && !buckets.contains_key(&who) {
            buckets.retain(|who, bucket| bucket.filled(self.rate(who), now_seconds) < self.rate(who).burst);
            if buckets.len() >= BUCKETS {
                buckets.clear();
            }
        }
        let bucket = buckets.entry(who).or_insert(Bucket { tokens: rate.burst, at_seconds: now_seconds });
        let filled = bucket.filled(rate, now_seconds);
        *bucket = Bucket { tokens: filled, at_seconds: now_seconds.max(bucket.at_seconds) };
        if filled >= tokens {
            bucket.tokens = filled - tokens;
            return Ok(());
        }
        let wait = (tokens - filled) / rate.per_second;
        let seconds = wait.ceil().clamp(1.0, 3600.0) as u32;
        Err(seconds)
    }

    fn rate(&self, who: &Who) -> Rate {
        match who {
            Who::Key(_) => self.options.key,
            Who::Address(_) => self.options.address,
        }
    }
}

impl Bucket {
    fn filled(&self, rate: Rate, now_seconds: f64) -> f64 {
        let passed = (now_seconds - self.at_seconds).max(0.0);
        (self.tokens + passed * rate.per_second).min(rate.burst)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rates() -> Rates {
        let rate = Rate { per_second: 2.0, burst: 3.0 };
        Rates::new(RateOptions { key: rate, address: rate })
    }

    #[test]
    fn a_bucket_empties_and_fills() {
        let (rates, who) = (rates(), || Who::Address("::1".to_owned()));
        for _ in 0..3 {
            assert_eq!(rates.take(who(), 1.0, 10.0), Ok(()));
        }
        assert_eq!(rates.take(who(), 1.0, 10.0), Err(1));
        assert_eq!(rates.take(Who::Key("k".to_owned()), 1.0, 10.0), Ok(()));
        assert_eq!(rates.take(who(), 1.0, 10.5), Ok(()));
        assert_eq!(rates.take(who(), 1.0, 10.5), Err(1));
        assert_eq!(rates.take(who(), 3.0, 10.5), Err(2));
        // A clock that goes back fills nothing.
        assert_eq!(rates.take(who(), 1.0, 3.0), Err(1));
    }

    #[test]
    fn many_addresses_do_not_fill_the_memory() {
        let rates = rates();
        for at in 0..3 * BUCKETS {
            let _ = rates.take(Who::Address(at.to_string()), 3.0, 1.0);
        }
        assert!(rates.buckets.lock().unwrap().len() <= BUCKETS);
    }
}
