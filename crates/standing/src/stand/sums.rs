//! Sums over the items that are known so far, by their place in order of time: items may become known in any order.

use alloc::vec::Vec;

/// A column of numbers, 0 where nothing is known yet: a tree of partial sums (Fenwick, "A new data structure for
/// cumulative frequency tables", 1994), in which a number is set and a sum taken in logarithmic time.
#[derive(Debug)]
pub(super) struct Sums(Vec<i128>);

impl Sums {
    /// Returns a column of `places` zeros.
    pub(super) fn new(places: usize) -> Self {
        Self(alloc::vec![0; places])
    }

    /// Adds `number` at a place.
    pub(super) fn add(&mut self, place: usize, number: i128) {
        let mut next = place;
        while let Some(sum) = self.0.get_mut(next) {
            *sum += number;
            next |= next + 1;
        }
    }

    /// Returns the sum over the places before this one.
    pub(super) fn before(&self, place: usize) -> i128 {
        let (mut sum, mut next) = (0, place.min(self.0.len()));
        while let Some(at) = next.checked_sub(1) {
            sum += self.0.get(at).copied().unwrap_or_default();
            next &= at;
        }
        sum
    }

    /// Returns the sum over this place and all after it.
    pub(super) fn from(&self, place: usize) -> i128 {
        self.before(self.0.len()) - self.before(place)
    }

    /// Returns the first place up to and with which the sum is above `sum`, in a column of numbers of 0 and above.
    pub(super) fn first_above(&self, sum: i128) -> usize {
        let (mut place, mut rest) = (0, sum);
        let mut step = self.0.len().checked_ilog2().map_or(0, |bits| 1usize << bits);
        while step > 0 {
            if let Some(part) = self.0.get(place + step - 1).filter(|part| **part <= rest) {
                rest -= part;
                place += step;
            }
            step /= 2;
        }
        place
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn sums_are_those_of_a_plain_column(
            places in 0usize..70,
            added in prop::collection::vec((0usize..70, 0i128..5), 0..60),
            sum in 0i128..80,
        ) {
            let (mut sums, mut plain) = (Sums::new(places), alloc::vec![0i128; places]);
            for (place, number) in added {
                sums.add(place, number);
                plain.iter_mut().skip(place).take(1).for_each(|it| *it += number);
            }
            for place in 0..places + 2 {
                let end = place.min(places);
                prop_assert_eq!(sums.before(place), plain[..end].iter().sum::<i128>());
                prop_assert_eq!(sums.from(place), plain[end..].iter().sum::<i128>());
            }
            let first = (0..places).find(|at| plain[..=*at].iter().sum::<i128>() > sum).unwrap_or(places);
            prop_assert_eq!(sums.first_above(sum), first);
        }
    }
}
