//! Step 5 of Glicko-2: the new volatility, as the root of one equation.

/// Steps after which the search ends whatever happens; halving alone needs fewer.
const STEPS: u32 = 200;
/// The largest distance of `ln sigma^2` from the root; the document takes 0.000001.
const TOLERANCE: f64 = 1e-9;

/// Returns the new volatility of a competitor with the given `volatility` and `variance` (`phi^2`), after matches that
/// estimate its strength with variance `v` and say that it is `improvement` (`Delta`) away.
///
/// The document seeks `A = ln sigma'^2` with the Illinois algorithm. Here `y = A - ln sigma^2` is sought, so that no
/// logarithm is needed, by Newton's method kept inside a bracket. It is the same root, to three more digits. With
/// `S = phi^2 + v`, `D = Delta^2 - S`, `x = sigma^2 e^y`, step 5's function is
///
/// ```text
/// f(y) = x (D - x) / (2 (S + x)^2) - y / tau^2
/// ```
///
/// of which `tau^2 f(y)` is computed. Its first term is above -1/2 (as `D > -S`), so the root is above `-tau^2 / 2`;
/// the term is below `D / (8 S)` and negative from `x = D` on, so the root is below `tau^2 D / (8 S)` and below `ln(D
/// / sigma^2)` if `D > sigma^2`, else below 0.
pub(super) fn next(volatility: f64, variance: f64, v: f64, improvement: f64, tau: f64) -> f64 {
    let s = variance + v;
    let d = improvement * improvement - s;
    let squared = volatility * volatility;
    let freedom = tau * tau;
    let (mut low, mut high) = (-0.5 * freedom, 0.0);
    if d > squared {
        high = freedom * d / (8.0 * s);
        if high > 1.0 {
            high = high.min(libm::log(d / squared));
        }
    }
    let mut y = 0.0;
    // e^(y / 2): squared it is e^y, and at the end the volatility takes it as it is.
    let mut root = 1.0;
    for _ in 0..STEPS {
        let x = squared * root * root;
        // The first term is gain - loss; with share = x / (S + x), d share / dy is share (1 - share).
        let scale = 1.0 / (s + x);
        let share = x * scale;
        let gain = 0.5 * freedom * d * share * scale;
        let loss = 0.5 * freedom * share * share;
        let value = gain - loss - y;
        if value == 0.0 {
            break;
        }
        let slope = gain * (1.0 - 2.0 * share) - 2.0 * loss * (1.0 - share) - 1.0;
        if value > 0.0 {
            low = y;
        } else {
            high = y;
        }
        let newton = y - value / slope;
        let inside = slope < 0.0 && newton > low && newton < high;
        let next = if inside { newton } else { 0.5 * (low + high) };
        let step = next - y;
        root *= exponential(0.5 * step);
        // The second derivative is at most gain + 4 loss, which bounds what Newton's step leaves. Halving ends where the
        // doubles end.
        let bend = gain.abs() + 4.0 * loss;
        if (inside && step * step * bend < TOLERANCE * slope.abs()) || step == 0.0 {
            break;
        }
        y = next;
    }
    volatility * root
}

/// Returns `e^x`; most steps are so small that five terms have all its digits.
fn exponential(x: f64) -> f64 {
    if x.abs() < 1e-3 {
        1.0 + x * (1.0 + x * (1.0 / 2.0 + x * (1.0 / 6.0 + x * (1.0 / 24.0))))
    } else {
        libm::exp(x)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Computes step 5 as the document writes it, with its tolerance of 0.000001.
    fn illinois(volatility: f64, variance: f64, v: f64, improvement: f64, tau: f64) -> f64 {
        let a = libm::log(volatility * volatility);
        let squared = improvement * improvement;
        let f = |x: f64| {
            let e = libm::exp(x);
            let spread = variance + v + e;
            e * (squared - variance - v - e) / (2.0 * spread * spread) - (x - a) / (tau * tau)
        };
        let mut low = a;
        let mut high = if squared > variance + v {
            libm::log(squared - variance - v)
        } else {
            let below = (1..).map(|k| a - f64::from(k) * tau).find(|&x| f(x) >= 0.0);
            below.unwrap()
        };
        let (mut at_low, mut at_high) = (f(low), f(high));
        while (high - low).abs() > 1e-6 {
            let c = low + (low - high) * at_low / (at_high - at_low);
            let at_c = f(c);
            if at_c * at_high <= 0.0 {
                (low, at_low) = (high, at_high);
            } else {
                at_low /= 2.0;
            }
            (high, at_high) = (c, at_c);
        }
        libm::exp(low / 2.0)
    }

    #[test]
    fn a_great_surprise_raises_it_and_a_match_as_expected_lowers_it() {
        assert!(next(0.06, 1.0, 1.5, 30.0, 0.5) > 0.06);
        assert!(next(0.06, 1.0, 1.5, 0.0, 0.5) < 0.06);
    }

    proptest! {
        #[test]
        fn the_root_is_that_of_the_document(
            volatility in 0.01..0.5f64, variance in 0.001..10.0f64, v in 0.01..50.0f64,
            improvement in -40.0..40.0f64, tau in 0.2..1.2f64,
        ) {
            let (found, expected) =
                (next(volatility, variance, v, improvement, tau), illinois(volatility, variance, v, improvement, tau));
            prop_assert!((found / expected - 1.0).abs() < 1e-6, "{found} {expected}");
        }

        #[test]
        fn the_search_ends_at_a_root_whatever_comes(
            volatility in 1e-3..10.0f64, variance in 1e-20..3000.0f64, v in 1e-3..1e22f64,
            improvement in -1e22..1e22f64, tau in 1e-6..10.0f64,
        ) {
            let found = next(volatility, variance, v, improvement, tau);
            prop_assert!(found.is_finite() && found > 0.0);
            let f = |y: f64| {
                let (s, x) = (variance + v, volatility * volatility * libm::exp(y));
                0.5 * (x / (s + x)) * ((improvement * improvement - s - x) / (s + x)) - y / (tau * tau)
            };
            let y = 2.0 * libm::log(found / volatility);
            let near = 1e-6 * (1.0 + y.abs());
            prop_assert!(f(y - near) >= 0.0 && f(y + near) <= 0.0, "{y}");
        }
    }
}
