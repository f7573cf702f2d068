//! Windows: what counts, in any order and any partition.

use core::num::NonZeroU32;

use alloc::format;
use alloc::string::ToString;
use alloc::vec;

use super::*;
use crate::rolling::RollingMean;
use proptest::prelude::*;

fn limits(tasks: u32, span_seconds: u32) -> WindowLimits {
    WindowLimits { tasks: NonZeroU32::new(tasks), span_seconds: NonZeroU32::new(span_seconds) }
}

fn entry(at_seconds: i64, id: &str, billionths: i64) -> Entry {
    Entry { at_seconds, id: id.into(), score: Score::from_billionths(billionths) }
}

fn window(limits: WindowLimits, entries: &[Entry]) -> Window {
    entries.iter().cloned().fold(Window::new(limits), |window, entry| window.next(entry).0)
}

#[test]
fn a_window_that_is_not_full_is_divided_by_what_is_there() {
    let empty = Window::new(WindowLimits::default());
    assert_eq!((empty.count(), empty.seen(), empty.mean()), (0, 0, None));
    let three = window(limits(100, 0), &[entry(1, "a", 200_000_000), entry(2, "b", 400_000_000)]);
    assert_eq!(three.mean().unwrap().to_string(), "3/10");
    assert!(!three.is_full());
}

#[test]
fn a_low_mean_is_not_taken_for_nothing() {
    let low = window(limits(100, 0), &[entry(1, "a", 40_000_000)]);
    assert_eq!(low.mean().unwrap().to_f64(), 0.04);
}

#[test]
fn entries_of_one_moment_stand_by_their_ids() {
    let [a, b] = [entry(5, "a", 1), entry(5, "b", 2)];
    let one = window(limits(1, 0), &[a.clone(), b.clone()]);
    assert_eq!(one, window(limits(1, 0), &[b.clone(), a]));
    assert_eq!(one.entries().collect::<Vec<_>>(), [b]);
}

#[test]
fn a_span_ends_where_the_age_reaches_it() {
    let kept = window(limits(0, 10), &[entry(0, "a", 1), entry(1, "b", 2), entry(10, "c", 3)]);
    assert_eq!(kept.count(), 2, "an entry of exactly ten seconds is out");
    assert_eq!(kept.clone().at(11).count(), 1);
    assert_eq!(kept.clone().at(3), kept, "time does not run backwards");
    assert_eq!(kept.at(i64::MAX).count(), 0);
}

#[test]
fn late_duplicate_and_contradicting_scores_are_told_apart() {
    let held = window(limits(2, 0), &[entry(1, "a", 1), entry(2, "b", 2), entry(3, "c", 3)]);
    let (same, arrival) = held.clone().next(entry(3, "c", 3));
    assert_eq!((same, arrival), (held.clone(), Arrival::Duplicate));

    let (same, arrival) = held.clone().next(entry(3, "c", 4));
    assert_eq!(same, held);
    let Arrival::Conflict(conflict) = arrival else { panic!("{arrival:?}") };
    assert_eq!(
        conflict.to_string(),
        "`c` scored 0.000000003 at second 3 and 0.000000004 at second 3, expected one score of each id; give a \
         correction an id of its own"
    );
    let (_, arrival) = held.clone().next(entry(4, "c", 3));
    assert!(matches!(arrival, Arrival::Conflict(_)), "another moment is another content");

    let (late, arrival) = held.next(entry(0, "z", 9));
    assert_eq!((late.seen(), late.count(), arrival), (4, 2, Arrival::TooOld));
}

#[test]
fn what_is_no_window_is_not_restored() {
    let limits = limits(2, 0);
    let refused =
        |seen, latest, entries| Window::restore(limits, seen, latest, entries).unwrap_err().to_string();
    let [a, b, c] = [entry(1, "a", 1), entry(2, "b", 2), entry(3, "c", 3)];
    assert_eq!(
        refused(1, Some(2), vec![a.clone(), b.clone()]),
        "`seen` is 1, expected at least the number of entries, 2"
    );
    assert!(refused(3, Some(2), vec![a.clone(), c.clone()]).contains("expected at most the latest one, 2"));
    assert!(refused(3, None, vec![a.clone()]).starts_with("the latest second is not given"));
    assert!(refused(3, Some(3), vec![a.clone(), a.clone()]).contains("expected one score of each id"));
    assert!(refused(3, Some(3), vec![a, b, c]).starts_with("1 entries lie outside"));
}

#[test]
fn windows_of_other_limits_do_not_merge() {
    let refused = Window::new(limits(2, 0)).merge(Window::new(limits(3, 60))).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "the windows reach back differently, 2 tasks and 3 tasks of 60 seconds, expected the same limits"
    );
    let contradicting =
        window(limits(2, 0), &[entry(1, "a", 1)]).merge(window(limits(2, 0), &[entry(1, "a", 2)]));
    assert!(matches!(contradicting, Err(WindowError::Conflict(_))));
}

fn any_entries() -> impl Strategy<Value = Vec<Entry>> {
    prop::collection::vec((0i64..40, -1_000_000_000i64..=1_000_000_000), 0..60).prop_map(|values| {
        let named = |(at, (seconds, score)): (usize, (i64, i64))| entry(seconds, &format!("{at}"), score);
        values.into_iter().enumerate().map(named).collect()
    })
}

proptest! {
    #[test]
    fn any_partition_merges_to_the_same_bytes(
        entries in any_entries(),
        parts in prop::collection::vec(0usize..4, 60),
        (tasks, span) in (0u32..20, 0u32..30),
        order in any::<prop::sample::Index>(),
    ) {
        let limits = limits(tasks, span);
        let whole = window(limits, &entries);
        let mut windows: Vec<Window> = (0..4)
            .map(|part| {
                let own = entries.iter().zip(&parts).filter(|(_, at)| **at == part);
                let mut own: Vec<Entry> = own.map(|(entry, _)| entry.clone()).collect();
                own.reverse();
                window(limits, &own)
            })
            .collect();
        windows.rotate_left(order.index(4));
        let [a, b, c, d] = <[Window; 4]>::try_from(windows).unwrap();
        let merged = a.merge(b).unwrap().merge(c.merge(d).unwrap()).unwrap();
        prop_assert_eq!(format!("{merged:?}"), format!("{whole:?}"));
        let parts = merged.entries().collect();
        let restored = Window::restore(limits, merged.seen(), merged.latest_seconds(), parts).unwrap();
        prop_assert_eq!(restored, merged);
    }

    #[test]
    fn a_merge_counts_what_stands_in_both_once(entries in any_entries()) {
        let both = window(WindowLimits::default(), &entries);
        prop_assert_eq!(both.clone().merge(both.clone()).unwrap(), both);
    }

    #[test]
    fn the_window_and_the_column_say_the_same(
        billionths in prop::collection::vec(0i64..=1_000_000_000, 1..60),
        tasks in 1u32..20,
    ) {
        let scores: Vec<Score> = billionths.into_iter().map(Score::from_billionths).collect();
        let mut means = vec![Score::ZERO; scores.len()];
        RollingMean::new(NonZeroU32::new(tasks).unwrap()).column(&scores, &mut means).unwrap();
        let mut rolling = Window::new(limits(tasks, 0));
        for (at, (&score, &mean)) in scores.iter().zip(&means).enumerate() {
            (rolling, _) = rolling.next(Entry { at_seconds: at as i64, id: format!("{at}"), score });
            prop_assert_eq!(rolling.mean().unwrap().score(), mean);
        }
    }
}
