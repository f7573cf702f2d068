//! Limits for keys and addresses: a bucket of tokens for each, filled at a steady rate; and how many may be at work at once.

use std::net::{IpAddr, Ipv6Addr};

use crate::basics::*;

/// The largest number of buckets. Beyond it, full buckets are dropped, and if that is not enough, all of them.
const BUCKETS: usize = 10_000;
/// The longest time that a caller waits for what one request has cost.
const DEBT_SECONDS: f64 = 60.0;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rate {
    pub per_second: f64,
    pub burst: f64,
}

/// The rate limits of keys and addresses.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RateOptions {
    pub key: Rate,
    /// The limit for each address without a key.
    pub address: Rate,
    /// The limit for wrong keys from each address. They take nothing from its other requests.
    pub guess: Rate,
}

impl Default for RateOptions {
    /// Returns 10,000 requests a second with a key, 200 without, 10 with a wrong one; bursts of twice that.
    fn default() -> Self {
        Self {
            key: Rate { per_second: 10_000.0, burst: 20_000.0 },
            address: Rate { per_second: 200.0, burst: 400.0 },
            guess: Rate { per_second: 10.0, burst: 20.0 },
        }
    }
}

/// The caller to whom a limit applies.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Who {
    /// The holder of the key with that id.
    Key(String),
    /// The network of a caller without a key.
    Address(Option<IpAddr>),
    /// The network of a caller with a wrong key.
    Guess(Option<IpAddr>),
}

/// Returns the network that an address counts for: the /64 of IPv6, in which one client chooses its addresses freely; of IPv4
/// the address, also where it is written as one of IPv6.
pub(crate) fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(it) => Ipv6Addr::from_bits(it.to_bits() >> 64 << 64).into(),
        it @ IpAddr::V4(_) => it,
    }
}

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
    pub fn new(options: RateOptions) -> Self {
        Self { options, buckets: Mutex::default() }
    }

    /// Takes `tokens` from the bucket of `who` at that time.
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

    /// Takes `tokens` more for what was done, whether they are there or not: until then the next request has to wait, but for
    /// no longer than a minute.
    pub fn charge(&self, who: Who, tokens: f64, now_seconds: f64) {
        // Most requests read nothing.
        if tokens <= 0.0 {
            return;
        }
        let rate = self.rate(&who);
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(bucket) = buckets.get_mut(&who) {
            let left = bucket.filled(rate, now_seconds) - tokens;
            let tokens = left.max(-DEBT_SECONDS * rate.per_second);
            *bucket = Bucket { tokens, at_seconds: now_seconds.max(bucket.at_seconds) };
        }
    }

    fn rate(&self, who: &Who) -> Rate {
        match who {
            Who::Key(_) => self.options.key,
            Who::Address(_) => self.options.address,
            Who::Guess(_) => self.options.guess,
        }
    }
}

impl Bucket {
    fn filled(&self, rate: Rate, now_seconds: f64) -> f64 {
        let passed = (now_seconds - self.at_seconds).max(0.0);
        (self.tokens + passed * rate.per_second).min(rate.burst)
    }
}

/// Turns to be at work, of which callers without a key have half at most, and one caller three quarters of what it may have:
/// however many they are, another one with a key is answered.
#[derive(Debug)]
pub struct Turns {
    most: usize,
    taken: Arc<Places<Share>>,
}

/// The callers whose turns are counted together.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Share {
    All,
    Keyless,
    Of(Who),
}

/// A turn, until it is dropped.
#[derive(Debug)]
pub struct Turn {
    _places: Vec<Place<Share>>,
}

impl Turns {
    /// Creates `most` turns.
    pub fn new(most: usize) -> Self {
        Self { most, taken: Arc::default() }
    }

    /// Takes a turn; none if all that this caller may have are taken.
    pub fn take(&self, who: Who) -> Option<Turn> {
        let has_key = matches!(who, Who::Key(_));
        let may_have = if has_key { self.most } else { self.most.div_ceil(2) };
        let keyless = (!has_key).then_some((Share::Keyless, may_have));
        let limits = [(Share::Of(who), (may_have * 3).div_ceil(4)), (Share::All, self.most)];
        let places = keyless.into_iter().chain(limits).map(|(share, most)| self.taken.take(share, most));
        Some(Turn { _places: places.collect::<Option<_>>()? })
    }
}

/// Places of callers, each of which has a limited number.
#[derive(Debug)]
pub struct Places<K: Ord> {
    taken: Mutex<BTreeMap<K, usize>>,
}

/// A place of a caller, until it is dropped.
#[derive(Debug)]
pub struct Place<K: Ord> {
    places: Arc<Places<K>>,
    of: Option<K>,
}

impl<K: Ord> Default for Places<K> {
    fn default() -> Self {
        Self { taken: Mutex::default() }
    }
}

impl<K: Ord + Clone> Places<K> {
    /// Takes one of `most` places of a caller; none if it has them all.
    pub fn take(self: &Arc<Self>, of: K, most: usize) -> Option<Place<K>> {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let count = taken.entry(of.clone()).or_default();
        if *count >= most {
            return None;
        }
        *count += 1;
        drop(taken);
        Some(Place { places: Arc::clone(self), of: Some(of) })
    }
}

impl<K: Ord> Drop for Place<K> {
    fn drop(&mut self) {
        let mut taken = self.places.taken.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(of) = self.of.take()
            && let Some(count) = taken.get_mut(&of)
        {
            *count -= 1;
            if *count == 0 {
                taken.remove(&of);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ip(text: &str) -> Option<IpAddr> {
        text.parse().ok()
    }

    #[test]
    fn addresses_of_one_client_count_together() {
        let cases = [
            ("192.0.2.1", "192.0.2.1"),
            ("::ffff:192.0.2.1", "192.0.2.1"),
            ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"),
            ("2001:db8:1:2:ffff:ffff:ffff:ffff", "2001:db8:1:2::"),
            ("2001:db8:1:3::", "2001:db8:1:3::"),
            ("fe80::1", "fe80::"),
        ];
        for (address, expected) in cases {
            assert_eq!(ip(address).map(network), ip(expected), "{address}");
        }
    }

    #[test]
    fn callers_leave_turns_to_others() {
        let turns = Turns::new(8);
        let all = |who: &dyn Fn() -> Who| std::iter::from_fn(|| turns.take(who())).collect::<Vec<Turn>>();
        let (near, far) = (|| Who::Address(ip("192.0.2.1")), || Who::Address(ip("192.0.2.2")));
        let (one, other) = (|| Who::Key("one".to_owned()), || Who::Key("other".to_owned()));
        let keyless = [all(&near), all(&far)];
        assert_eq!(keyless.each_ref().map(Vec::len), [3, 1]);
        let keyed = [all(&one), all(&other)];
        assert_eq!(keyed.each_ref().map(Vec::len), [4, 0]);
        drop(keyless);
        let more = [all(&one), all(&other), all(&near)];
        assert_eq!(more.each_ref().map(Vec::len), [2, 2, 0]);
        drop((keyed, more));
        assert_eq!(all(&one).len(), 6);
    }

    #[test]
    fn a_place_is_free_again_when_it_is_left() {
        let places = Arc::new(Places::default());
        let of = |name: &'static str| places.take(name, 2);
        let (first, second) = (of("a"), of("a"));
        assert!(first.is_some() && second.is_some() && of("a").is_none() && of("b").is_some());
        drop(first);
        assert!(of("a").is_some());
        drop(second);
        assert!(places.taken.lock().unwrap().is_empty());
    }

    fn rates() -> Rates {
        let rate = Rate { per_second: 2.0, burst: 3.0 };
        Rates::new(RateOptions { key: rate, address: rate, guess: rate })
    }

    #[test]
    fn a_bucket_empties_and_fills() {
        let (rates, who) = (rates(), || Who::Address(ip("::1")));
        for _ in 0..3 {
            assert_eq!(rates.take(who(), 1.0, 10.0), Ok(()));
        }
        assert_eq!(rates.take(who(), 1.0, 10.0), Err(1));
        assert_eq!(rates.take(Who::Key("k".to_owned()), 1.0, 10.0), Ok(()));
        assert_eq!(rates.take(Who::Guess(ip("::1")), 1.0, 10.0), Ok(()));
        assert_eq!(rates.take(who(), 1.0, 10.5), Ok(()));
        assert_eq!(rates.take(who(), 1.0, 10.5), Err(1));
        assert_eq!(rates.take(who(), 3.0, 10.5), Err(2));
        // A clock that goes back fills nothing.
        assert_eq!(rates.take(who(), 1.0, 3.0), Err(1));
    }

    #[test]
    fn many_addresses_do_not_fill_the_memory() {
        let rates = rates();
        for at in 0..3 * BUCKETS as u32 {
            let _ = rates.take(Who::Address(Some(IpAddr::from(at.to_be_bytes()))), 3.0, 1.0);
        }
        assert!(rates.buckets.lock().unwrap().len() <= BUCKETS);
    }
}
