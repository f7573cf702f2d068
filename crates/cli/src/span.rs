//! An estimate and its uncertainty.

/// An estimate with its ends, in the unit of the axis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Span {
    /// The lower end.
    pub low: f64,
    /// The estimate.
    pub point: f64,
    /// The upper end.
    pub high: f64,
}

impl Span {
    /// Returns a value without an interval.
    pub fn at(point: f64) -> Self {
        Self { low: point, point, high: point }
    }
}
