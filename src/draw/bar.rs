//! Bars of block characters.

/// Eighths of a column, from nothing to full.
const EIGHTHS: [char; 9] = [' ', '▏', '▎', '▍', '▌', '▋', '▊', '▉', '█'];

/// Returns a bar for `part` of `whole`, exactly `width` columns wide.
///
/// Any part above zero shows at least a sliver, and any part below the whole leaves one free.
pub(crate) fn bar(part: i64, whole: i64, width: usize) -> String {
    let total = width * 8;
    let mut eighths = scaled(part, whole, total);
    if part > 0 && eighths == 0 {
        eighths = 1;
    }
    if part < whole && eighths == total {
        eighths = total.saturating_sub(1);
    }
    let (full, rest) = (eighths / 8, eighths % 8);
    let mut text = "█".repeat(full);
    if full < width {
        text.push(EIGHTHS.get(rest).copied().unwrap_or(' '));
        text.extend(std::iter::repeat_n(' ', width - full - 1));
    }
    text
}

/// Returns a bar between `from` and `to` of `whole`, exactly `width` columns wide; at least one column if they
/// differ at all. Blanks before and after.
pub(crate) fn span(from: i64, to: i64, whole: i64, width: usize) -> (String, String) {
    let (low, high) = (from.min(to), from.max(to));
    if low == high || width == 0 {
        return (String::new(), String::new());
    }
    let start = scaled(low, whole, width).min(width - 1);
    let end = scaled(high, whole, width).max(start + 1);
    (" ".repeat(start), "█".repeat(end - start))
}

/// Returns `part / whole * steps`, rounded to the nearest and clamped to 0..steps.
fn scaled(part: i64, whole: i64, steps: usize) -> usize {
    if whole <= 0 {
        return 0;
    }
    let (part, whole, steps) = (i128::from(part.clamp(0, whole)), i128::from(whole), steps as i128);
    ((2 * part * steps + whole) / (2 * whole)) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_is_as_wide_as_its_column() {
        assert_eq!(bar(0, 100, 4), "    ");
        assert_eq!(bar(50, 100, 4), "██  ");
        assert_eq!(bar(100, 100, 4), "████");
        assert_eq!(bar(1, 100_000, 4), "▏   ");
        assert_eq!(bar(99_999, 100_000, 4), "███▉");
        assert_eq!(bar(5, 0, 2), "▏ ");
    }

    #[test]
    fn a_span_shows_even_when_it_is_tiny() {
        assert_eq!(span(25, 75, 100, 8), ("  ".to_owned(), "████".to_owned()));
        assert_eq!(span(75, 25, 100, 8), ("  ".to_owned(), "████".to_owned()));
        assert_eq!(span(100, 99, 100, 8), (" ".repeat(7), "█".to_owned()));
        assert_eq!(span(3, 3, 100, 8), (String::new(), String::new()));
    }
}
