//! The names of fields, and what they say: who is scored, what was attempted, which way is better, in which unit.

/// The direction in which more of a field is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    /// More is better.
    Higher,
    /// Less is better.
    Lower,
}

/// Names of who is scored, the likeliest first.
pub(crate) const SUBJECTS: &str = "\
    subject agent agent_name agent_id model model_name model_id bot system candidate assistant provider \
    variant version run run_name experiment repo repository name";
/// Names of what was attempted, the likeliest first.
pub(crate) const TASKS: &str = "\
    task task_id task_name case case_id test test_id test_name instance_id instance question_id question \
    problem_id problem sample_id sample scenario scenario_id doc_id prompt_id item item_id example_id \
    row_id test_case test_case_id example reference_example reference_example_id prompt check name";
/// Names of who is scored that are as often those of single runs.
pub(crate) const OFTEN_RUNS: &str = "provider run run_name experiment name";
/// Words in the names of fields that decide success, the likeliest first.
pub(crate) const SUCCESS: &str = "\
    solved resolved success succeeded passed pass correct is_correct correctness verdict reward score accuracy acc \
    exact_match pass_rate pass_rate_2 pass_rate_1 success_rate resolve_rate resolved_rate percent_correct quality grade \
    rating";
const HIGHER: &str = "\
    solved resolved success succeeded passed pass correct correctness reward score scores accuracy acc \
    exact quality grade f1 precision recall bleu rouge rating stars win wins won safety safe helpful \
    helpfulness coverage satisfaction csat nps faithfulness relevance relevancy completeness completed \
    completion throughput points auc similarity uptime agreement match matched met judge rater annotator reviewer";
const LOWER: &str = "\
    cost costs price usd eur dollars cents spend seconds second secs sec ms millis milliseconds minutes \
    mins time latency duration elapsed ttft delay runtime tokens token error errors failure failures \
    failed fails retries retry steps turns calls loss wer cer rmse mae mse perplexity ppl violations \
    violation toxicity toxic hallucination hallucinations hallucinated timeouts timeout escalated \
    escalations bytes complaints";
/// Words in the names of what a run takes: it says nothing of how good the result is.
const SPENT: &str = "\
    cost costs price usd eur dollars cents spend seconds second secs sec ms millis milliseconds minutes mins time \
    latency duration elapsed ttft delay runtime tokens token retries retry steps turns calls bytes throughput";
/// Words in the names of grades, whose best value is a round number.
pub(crate) const GRADES: &str =
    "score scores points quality rating grade stars judge rater annotator reviewer";
/// Words in the names of a mean over other columns.
const SUMMARIES: &str = "average avg mean overall total aggregate";
/// Names of benchmarks.
const BENCHMARKS: &str = "\
    mmlu gsm8k humaneval arc hellaswag truthfulqa winogrande gpqa math bbh ifeval musr drop mbpp aime mgsm boolq piqa \
    squad gaia swe livecodebench";
/// Words of fields that say where something is, and measure nothing.
const LABELS: &str = "\
    id ids uuid index idx seed trial epoch attempt repeat rep fold year month day date timestamp created \
    updated started ended start end port pid rank row line hash version number no batch shard order \
    threshold temperature turn round level params parameters size context votes b \
    tstamp";
/// Words for a sum over what is named before them: `correctness.avg`.
const SUMS: &str = "avg mean average value median p50";
const UNITS: [(&str, &str); 10] = [
    ("usd dollars", "USD"),
    ("eur", "EUR"),
    ("cents", "cent"),
    ("cost price", "USD"),
    ("ms millis milliseconds", "ms"),
    ("seconds second secs sec", "s"),
    ("minutes mins", "min"),
    ("tokens steps turns calls errors retries", "count"),
    ("bytes", "B"),
    ("duration elapsed", "s"),
];

/// Returns whether a list has a word.
pub(crate) fn has(list: &str, word: &str) -> bool {
    list.split(' ').any(|known| known == word)
}

/// Returns the words of a name in small letters: `costUSD` and `Cost (USD)` are `cost`, `usd`.
pub(crate) fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = ' ';
    for c in name.chars() {
        let is_next = c.is_uppercase() && before.is_lowercase();
        if is_next || !c.is_alphanumeric() {
            words.push(String::new());
        }
        if c.is_alphanumeric() {
            words.last_mut().into_iter().for_each(|word| word.extend(c.to_lowercase()));
        }
        before = c;
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Returns the direction that a name states; none if its words state none, or both.
pub(crate) fn direction(name: &str) -> Option<Direction> {
    let words = words(name);
    let says = |list: &str| words.iter().any(|word| has(list, word));
    if is_per_time(&words) {
        return Some(Direction::Higher);
    }
    match (says(HIGHER), says(LOWER)) {
        (true, false) => Some(Direction::Higher),
        (false, true) => Some(Direction::Lower),
        // The error rate of a test that passed, the score of latency: the last word is what is measured.
        (true, true) => match words.last().map(String::as_str) {
            Some(last) if has(HIGHER, last) => Some(Direction::Higher),
            Some(last) if has(LOWER, last) => Some(Direction::Lower),
            _ => None,
        },
        (false, false) => None,
    }
}

/// Returns whether words name a rate in time, of which more is better: `tokens_per_second`.
fn is_per_time(words: &[String]) -> bool {
    matches!(words, [_, .., per, unit] if per == "per" && has("second sec s minute", unit))
        && !words.iter().any(|word| has("cost costs price usd eur dollars cents errors failures", word))
}

/// Returns whether a name says what a run took: money, time or work.
pub(crate) fn is_spent(name: &str) -> bool {
    let words = words(name);
    let says = words.iter().any(|word| has(SPENT, word));
    says && (direction(name) == Some(Direction::Lower)
        || is_per_time(&words)
        || words.iter().any(|it| it == "throughput"))
}

/// Returns whether a name says a mean over other columns.
pub(crate) fn is_summary(name: &str) -> bool {
    words(name).iter().any(|word| has(SUMMARIES, word))
}

/// Returns whether a name has a known benchmark in it.
pub(crate) fn is_benchmark(name: &str) -> bool {
    let words = words(name);
    words.iter().any(|word| has(BENCHMARKS, word)) || has(BENCHMARKS, &words.concat())
}

/// Returns whether a name says a place, a number or a time, and not a measurement.
pub(crate) fn is_label(name: &str) -> bool {
    let is_plain =
        |word: &String| matches!(word.as_str(), "id" | "ids" | "index") || direction(name).is_none();
    words(name).last().is_some_and(|word| has(LABELS, word) && is_plain(word))
}

/// Returns the unit that a name states; `1` if none.
pub(crate) fn unit(name: &str) -> &'static str {
    let words = words(name);
    let found = UNITS.iter().find(|(list, _)| words.iter().any(|word| has(list, word)));
    found.map_or("1", |(_, unit)| unit)
}

/// Returns the path without a last part that says only how it was summed: `stats.correctness` of `stats.correctness.avg`.
pub(crate) fn measured(name: &str) -> &str {
    match name.rsplit_once('.') {
        Some((rest, last)) if has(SUMS, last) => rest,
        _ => name,
    }
}

/// Returns the place of a name in a list of likely ones; the last part of a path counts too.
pub(crate) fn place(name: &str, list: &str) -> Option<usize> {
    let name = measured(name);
    let joined = words(name).join("_");
    let last = name.rsplit('.').next().map(|last| words(last).join("_")).unwrap_or_default();
    let of = |name: &str| list.split(' ').position(|known| known == name);
    of(&joined).map(|at| 2 * at).or_else(|| of(&last).map(|at| 2 * at + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_directions_units_and_places() {
        let found = |name| direction(name).map(|it| it == Direction::Higher);
        for name in ["solved", "Accuracy", "f1_score", "metrics.exact_match", "isCorrect", "latency_score"] {
            assert_eq!(found(name), Some(true), "{name}");
        }
        for name in
            ["cost_usd", "costUSD", "Latency (ms)", "total_tokens", "wer", "pass_latency", "error_count"]
        {
            assert_eq!(found(name), Some(false), "{name}");
        }
        // As tau2, DeepEval and LangSmith have them.
        for name in [
            "reward_info.db_check.db_match", "communicate_checks.met", "testPassed",
            "feedback_stats.correctness.avg",
        ] {
            assert_eq!(found(name), Some(true), "{name}");
        }
        for name in [
            "agent_cost", "duration", "testFailed", "runDuration", "evaluationCost", "completionTime",
            "latency_p50", "first_token_time", "completion_tokens",
        ] {
            assert_eq!(found(name), Some(false), "{name}");
        }
        for name in ["foo", "temperature", "", "x1"] {
            assert_eq!(found(name), None, "{name}");
        }
        assert!(
            is_label("seed") && is_label("question_id") && is_label("createdAt") == is_label("created_at")
        );
        assert!(!is_label("cost") && !is_label("foo"));
        assert_eq!((unit("cost_usd"), unit("latencyMs"), unit("foo")), ("USD", "ms", "1"));
        assert_eq!(place("agent.name", SUBJECTS), Some(4));
        assert_eq!(place("subject", SUBJECTS), Some(0));
        assert_eq!(measured("feedback_stats.correctness.avg"), "feedback_stats.correctness");
        assert_eq!(place("feedback_stats.correctness.avg", SUCCESS), place("x.correctness", SUCCESS));
        assert!(is_label("dotted_order") && is_label("metric.threshold"));
    }
}
