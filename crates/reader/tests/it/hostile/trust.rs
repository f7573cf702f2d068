//! Juries and estimators.

use karat_graders::trust::estimators::{
    Z_90, budget_score, effective_count, entropy, mean, median, pass_hat_k, percentile, pooled_deviation,
    wilson_lower_bound,
};
use karat_graders::trust::jury::{JuryRules, SeatPlace, Verdict, VerdictStatus, panel, panels};

use karat_graders::trust::AgentEvidence;
use serde_json::json;

use super::{HALF_PAIRS, SCRIPTS, deep_texts, ends, numbers, ten_megabytes};

fn verdict(judge: String, score: f64) -> Verdict {
    Verdict {
        judge,
        provider: None,
        model: None,
        score: Some(score),
        max_score: 100.0,
        status: VerdictStatus::Valid,
    }
}

#[test]
fn a_million_rows() {
    ends(|| {
        let outputs: Vec<String> = (0..200_000).map(|output| format!("output {output}")).collect();
        let judges: Vec<Verdict> = numbers()
            .take(1000)
            .enumerate()
            .map(|(at, n)| verdict(format!("judge {at}"), (n % 101) as f64))
            .collect();
        let rows = (0..1_000_000).map(|row| (outputs[row % outputs.len()].as_str(), &judges[row / 1000]));
        let panels = panels(rows);
        assert_eq!(panels.len(), 200_000);
        assert!(panels.values().all(|verdicts| verdicts.len() == 5));
        for verdicts in panels.values().step_by(100) {
            assert!(panel(verdicts, None, &JuryRules::default()).unwrap().score().is_some());
        }
    });
    ends(|| {
        let judges: Vec<Verdict> = numbers()
            .take(200_000)
            .enumerate()
            .map(|(at, n)| verdict(format!("{at}"), (n % 101) as f64))
            .collect();
        let one = panel(&judges, None, &JuryRules::default()).unwrap();
        let trimmed_low = one.seats.iter().filter(|seat| seat.place == SeatPlace::TrimmedLow).count();
        assert_eq!((one.seats.len(), trimmed_low), (200_000, 40_000));
        // One model behind all of them, and one judge who is given as often.
        let clones: Vec<Verdict> =
            judges.iter().map(|verdict| Verdict { model: Some("m".to_owned()), ..verdict.clone() }).collect();
        let rules = JuryRules { one_seat_per_model: true, ..JuryRules::default() };
        assert_eq!(panel(&clones, None, &rules).unwrap().seats.len(), 1);
        let same = vec![verdict("j".to_owned(), 1.0); 200_000];
        assert_eq!(panel(&same, None, &JuryRules::default()).unwrap_err().len(), 199_999);
    });
}

#[test]
fn points_that_are_none() {
    for score in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -f64::MIN_POSITIVE, 100.0 + 1e-10, f64::MAX] {
        assert!(panel(&[verdict("j".to_owned(), score)], None, &JuryRules::default()).is_err(), "{score}");
    }
    for max_score in [f64::NAN, f64::INFINITY, 0.0, -1.0] {
        let verdict = Verdict { max_score, ..verdict("j".to_owned(), 0.0) };
        assert!(panel(&[verdict], None, &JuryRules::default()).is_err(), "{max_score}");
    }
    // Scales from one end of the doubles to the other.
    for max_score in [f64::MAX, f64::MIN_POSITIVE, 5e-324] {
        let verdict = Verdict { max_score, score: Some(max_score), ..verdict("j".to_owned(), 0.0) };
        assert_eq!(panel(&[verdict], None, &JuryRules::default()).unwrap().score(), Some(1.0));
    }
    for agreement_points in [f64::NAN, f64::INFINITY, -1.0] {
        let rules = JuryRules { agreement_points, ..JuryRules::default() };
        let panel = panel(&[verdict("j".to_owned(), 50.0)], None, &rules).unwrap();
        assert!((0.0..=1.0).contains(&panel.summary.unwrap().agreement));
    }
}

#[test]
fn judges_in_every_script_and_of_ten_megabytes() {
    ends(|| {
        let mut judges: Vec<Verdict> = SCRIPTS
            .into_iter()
            .filter(|script| !script.trim().is_empty())
            .map(|script| verdict(script.to_owned(), 50.0))
            .collect();
        judges.push(verdict(ten_megabytes("क"), 50.0));
        let one = panel(&judges, Some("\u{fffd}"), &JuryRules::default()).unwrap();
        assert_eq!(one.seats.len(), judges.len());
        judges.push(verdict(ten_megabytes("क"), 50.0));
        assert!(panel(&judges, None, &JuryRules::default()).unwrap_err().to_string().len() < 1000);
    });
}

#[test]
fn estimators_of_what_is_no_number() {
    let odd = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, -f64::MAX, 5e-324, -0.0, 1.0];
    for a in odd {
        for b in odd {
            for c in odd {
                if let Some(bound) = wilson_lower_bound(a, b, c) {
                    assert!((0.0..=a).contains(&bound), "{a} {b} {c}");
                }
            }
            assert!(effective_count(&[a, b]).is_none_or(|count| (1.0..=2.0).contains(&count)), "{a} {b}");
            let _ = (median(&[a, b]), percentile(&[a, b], 50), mean([a, b]), pooled_deviation([&[a, b][..]]));
        }
        assert!(budget_score(a).is_none_or(|score| (0.0..=1.0).contains(&score)), "{a}");
    }
    assert_eq!(wilson_lower_bound(1.0, f64::MAX, Z_90), Some(1.0));
    assert!(entropy(&[u64::MAX; 3]).is_some_and(|entropy| entropy > 1.0));
}

#[test]
fn estimators_of_a_million() {
    ends(|| {
        let values: Vec<f64> = numbers().take(1_000_000).map(|number| number as f64).collect();
        assert!(median(&values).is_some() && percentile(&values, 95) > median(&values));
        assert!(effective_count(&values).is_some_and(|count| count <= 1_000_000.0));
    });
    // As many factors as there can be before the chance is nothing.
    let most = 1 << 32;
    for failed in [1, 1 << 20, 1_700_000, 1 << 26, 1 << 31] {
        for k in [1, failed, most - failed] {
            let chance = ends(move || pass_hat_k(most - failed, most, k)).unwrap();
            assert!((0.0..=1.0).contains(&chance), "{failed} {k}");
        }
    }
    assert_eq!(pass_hat_k((1 << 63) - (1 << 36), 1 << 63, 1 << 36), None);
}

#[test]
fn evidence_of_agents_that_is_deep_long_or_no_text() {
    let read = |text: String| {
        ends(move || AgentEvidence::from_json(text.as_bytes()).map_err(|refused| refused.to_string()))
    };
    for member in ["evaluations", "verdicts", "bond", "incidents", "declarations"] {
        for hostile in deep_texts().into_iter().chain(HALF_PAIRS.map(str::to_owned)) {
            assert!(
                read(format!(r#"{{"agent_id":"a","{member}":{hostile}}}"#)).is_err(),
                "{member} {hostile:.20}"
            );
        }
        let long = "क".repeat(100_000);
        for value in
            [json!(long), json!([long]), json!([{"time": long, "id": long}]), json!({long.as_str(): long})]
        {
            if let Err(refused) = read(json!({"agent_id": "a", member: value}).to_string()) {
                assert!(refused.len() < 100_000, "{member}: {} bytes of problems", refused.len());
            }
        }
    }
    let many = vec![json!({"time": "क".repeat(30_000)}); 30];
    let refused =
        read(json!({"agent_id": "a", "evaluations": many, "incidents": many}).to_string()).unwrap_err();
    assert!(refused.len() < 100_000, "{} bytes of problems", refused.len());
}
