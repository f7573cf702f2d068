//! Facts that are read off a clock when an item is scored: the same item gives another value tomorrow (KC308).

use alloc::format;

use super::findings::Findings;
use karat_core::diagnostic::Code;
use karat_core::scorecard::{FactDeclaration, FactType, Scorecard};

/// Words in the name of a fact that mean a moment.
const MOMENTS: &[&str] =
    &["now", "today", "clock", "wallclock", "timestamp", "datetime", "date", "weekday", "unixtime"];
/// Words that mean a moment, or a time up to now, where the fact is a time.
const TIMES_UP_TO_NOW: &[&str] = &["age", "ago", "since", "until", "epoch", "unix", "at", "current"];
/// Units of time.
const TIMES: &[&str] = &[
    "ns", "us", "ms", "s", "sec", "secs", "second", "seconds", "min", "minute", "minutes", "h", "hour",
    "hours", "d", "day", "days", "week", "weeks", "month", "months",
];
/// Words in a unit that count from a moment of the calendar.
const CALENDARS: &[&str] = &["unix", "epoch", "utc", "timestamp", "date", "datetime"];
/// Seconds from 1970 to 2001: from here on a number of seconds is a moment, not a duration.
const A_MOMENT: f64 = 1e9;

/// Finds facts that are read off a clock.
pub(super) fn check(card: &Scorecard, findings: &mut Findings<'_>) {
    let numbers = card.facts.iter().enumerate().filter(|(_, fact)| fact.kind == FactType::Number);
    // The age that decay takes is that at the time of the item.
    for (_, fact) in numbers.filter(|&(at, fact)| is_read_off_a_clock(fact) && !card.is_age(at)) {
        let message = format!(
            "`{}` is a moment of the clock or a time up to now: the same item scored later gives another value",
            fact.name
        );
        let help = "take a duration between two moments of the item itself, or keep it and say why";
        findings.warn(Code::HiddenState, fact.span.clone(), &[&fact.name], message, "from the clock", help);
    }
}

fn is_read_off_a_clock(fact: &FactDeclaration) -> bool {
    let has = |text: &str, words: &[&str]| {
        let lower = text.to_ascii_lowercase();
        lower.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| words.contains(&word))
    };
    let is_time = has(&fact.unit, TIMES);
    has(&fact.name, MOMENTS)
        || has(&fact.unit, CALENDARS)
        || (is_time && (has(&fact.name, TIMES_UP_TO_NOW) || fact.min >= A_MOMENT))
}
