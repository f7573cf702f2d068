use proptest::prelude::*;

use super::*;
use crate::workflow::{PlanRules, References};

fn plan(text: &str) -> Plan {
    let rules = PlanRules { references: References::Noted, ..PlanRules::default() };
    Plan::from_json(text.as_bytes(), &rules).unwrap().0
}

fn log(plan: &Plan, text: &str) -> Log {
    Log::from_json(text.as_bytes(), plan).unwrap().0
}

proptest! {
    #[test]
    fn the_order_of_the_records_does_not_matter(
        retries in (0usize..4, 0usize..4),
        costs in prop::collection::vec(0u32..1000, 8),
        order in Just((0..8usize).collect::<Vec<_>>()).prop_shuffle(),
    ) {
        let plan = plan(r#"{"nodes": [{"id": "a"}, {"id": "b"}], "error_handling": {"a": {"retry_count": 1}}}"#);
        let mut records = Vec::new();
        for (step, retries) in [("a", retries.0), ("b", retries.1)] {
            for number in 0..=retries {
                let outcome = if number == retries { "success" } else { "failed" };
                let cost = f64::from(costs[records.len()]) / 1000.0;
                records.push(format!(
                    r#"{{"step": "{step}", "attempt": {}, "outcome": "{outcome}", "cost": {cost}}}"#,
                    number + 1
                ));
            }
        }
        let sorted = account(&plan, &log(&plan, &format!("[{}]", records.join(","))), None);
        let shuffled: Vec<_> = order.iter().filter_map(|&at| records.get(at).cloned()).collect();
        let shuffled = account(&plan, &log(&plan, &format!("[{}]", shuffled.join(","))), None);
        prop_assert_eq!(&sorted, &shuffled);
        prop_assert_eq!(sorted.actual_retries, (retries.0 + retries.1) as u64);
        prop_assert_eq!(sorted.unplanned_retries, sorted.actual_retries.saturating_sub(1));
    }
}
