//! Statistics of many scores: estimates with their intervals, comparisons, and how much a rank depends on the rule.
