//! The ranges in which settings and stored ratings must lie, so that no update can leave the numbers.

use alloc::vec::Vec;

/// Largest number of points, above and below zero, of a rating.
pub const POINTS_LIMIT: f64 = 1e6;
/// Largest deviation of a rating, in points.
pub(crate) const DEVIATION_LIMIT: f64 = 1e4;
/// Smallest deviation and spread, in points.
pub(crate) const DEVIATION_LEAST: f64 = 1e-9;

/// A setting or a stored rating that is not a number of its range.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[error("`{name}` is `{found}`, expected a number from {least} to {most}")]
pub struct OutOfRange {
    /// The field.
    pub name: &'static str,
    /// The value found.
    pub found: f64,
    /// The least it may be.
    pub least: f64,
    /// The most it may be.
    pub most: f64,
}

/// A field by its name, and the range in which it must lie.
pub(super) type Field = (&'static str, f64, f64, f64);

/// Returns the fields that are outside their range, in the order given. NaN is outside every range.
pub(super) fn outside(fields: &[Field]) -> Vec<OutOfRange> {
    let wrong = |&&(_, found, least, most): &&Field| !(least..=most).contains(&found);
    let problem = |&(name, found, least, most): &Field| OutOfRange { name, found, least, most };
    fields.iter().filter(wrong).map(problem).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn what_is_outside_is_told_with_its_range() {
        let fields = [("a", 1.0, 0.0, 1.0), ("b", f64::NAN, 0.0, 1.0), ("c", -0.5, 0.0, 1.0)];
        let told: Vec<_> = outside(&fields).iter().map(ToString::to_string).collect();
        assert_eq!(
            told,
            ["`b` is `NaN`, expected a number from 0 to 1", "`c` is `-0.5`, expected a number from 0 to 1"]
        );
    }
}
