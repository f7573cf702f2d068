//! Cliffs of any form: whatever is as steep as a comparison is reported like one, and nothing that is not.

use karat_checker::{Checked, check_text};
use karat_core::diagnostic::{Code, Severity};

const FACTS: &str = "q = { min = 0, max = 1 }\np = { min = 0, max = 1 }\nn = { min = 0, integer = true }\nsmall = { min = 0, max = 3, \
     integer = true }\npart = { min = 0, max = \"whole\", integer = true }\nwhole = { min = 0, integer = true }\nusd = { unit = \
     \"USD\", min = 0 }\nlimit = { unit = \"USD\", min = 0.01 }\nany = { unit = \"1\" }\nyes = { type = \"boolean\" }\nbig = { min \
     = 0, max = 100000, integer = true }\nratio = { min = 0.01, max = 100, unit = \"1\" }\n";

fn card(dimensions: &str) -> Checked {
    let head = "schema = \"karat/scorecard/1\"\nid = \"t\"\nversion = \"1.0.0\"\ntitle = \"t\"\nevidence = \"facts\"\nscale = { max = \
                100 }\n";
    check_text(&format!("{head}[facts]\n{FACTS}{dimensions}"), &|_| None)
}

fn of(formula: &str) -> Checked {
    card(&format!(
        "[[dimension]]\nkey = \"d\"\nweight = 1\nformula = \"{formula}\"\nmissing = \"withhold\"\n"
    ))
}

fn cliffs(checked: &Checked) -> Vec<String> {
    let found =
        checked.diagnostics.iter().filter(|it| it.code == Code::Cliff && it.severity == Severity::Warning);
    found.map(|it| it.message.clone()).collect()
}

#[test]
fn the_steepest_place_is_reported() {
    for (formula, from, points) in [
        ("q", None, 0.1),
        ("clamp((q - 0.6) / 0.2, 0, 1)", Some(0.6..=0.8), 0.5),
        ("clamp((q - 0.95) / 0.05, 0, 1)", Some(0.95..=1.0), 2.0),
        ("sqrt(q)", Some(0.0..=0.0), 3.162_277_66),
        ("q * q", Some(0.998..=0.999), 0.1999),
        ("if(q >= 0.5, 1, q * 2)", Some(0.0..=0.5), 0.2),
        ("clamp((q - 0.7) * 1000000, 0, 1)", Some(0.699..=0.7), 100.0),
        ("floor(q * 1000) / 1000", None, 0.1),
    ] {
        let report = of(formula).report.unwrap();
        let slope = report.slopes.iter().find(|slope| slope.fact == "q").unwrap();
        assert!((slope.points - points).abs() <= 0.02 * points, "{formula}: {slope:?}");
        assert!(from.as_ref().is_none_or(|from| from.contains(&slope.from)), "{formula}: {slope:?}");
        assert!((slope.to - slope.from - 0.001).abs() < 1e-9, "{formula}: {slope:?}");
    }
}

#[test]
fn a_cliff_shows_through_other_dimensions_and_in_rules() {
    let helper = "[[dimension]]\nkey = \"helper\"\nweight = 0\nformula = \"q\"\nwhen = \"p >= 0.5\"\nmissing = \"withhold\"\n";
    let through = card(&format!(
        "{helper}[[dimension]]\nkey = \"d\"\nweight = 1\nformula = \"helper\"\nmissing = \"withhold\"\n"
    ));
    let found = cliffs(&through);
    assert!(
        found.iter().any(|it| it.contains("where `p` reaches 0.5") && it.contains("100 of 100")),
        "{found:#?}"
    );
    // Two slopes that are harmless alone are a cliff together.
    let twice = card(
        "[[dimension]]\nkey = \"first\"\nweight = 0\nformula = \"clamp((q - 0.5) * 60, 0, 1)\"\nmissing = \"withhold\"\n\
         [[dimension]]\nkey = \"d\"\nweight = 1\nformula = \"clamp((first - 0.5) * 60, 0, 1)\"\nmissing = \"withhold\"\n",
    );
    assert!(cliffs(&twice).iter().any(|it| it.contains("(q, d)")), "{:#?}", cliffs(&twice));
    let rule = |rest: &str| {
        card(&format!(
            "[[dimension]]\nkey = \"d\"\nweight = 1\nformula = \"p\"\nmissing = \"withhold\"\n[[rule]]\nname = \"r\"\n{rest}\n"
        ))
    };
    let steep = rule("when = \"yes\"\nset = \"score * clamp((q - 0.7) * 1e6, 0, 1)\"");
    assert!(
        cliffs(&steep).iter().any(|it| it.contains("`q` goes from 0.7 to 0.700001")),
        "{:#?}",
        cliffs(&steep)
    );
    let steep = rule("when = \"yes\"\nset = \"clamp((score - 0.7) * 1e6, 0, 1)\"");
    assert!(cliffs(&steep).iter().any(|it| it.contains("`score` goes from 0.7")), "{:#?}", cliffs(&steep));
    // A rule that sets in gently is not a cliff, whatever it does in the end.
    let gentle = rule("when = \"n > 2\"\nset = \"min(1, score + 0.1 * clamp((n - 2) / 6, 0, 1))\"");
    assert_eq!(cliffs(&gentle), [] as [String; 0]);
}

/// A card of the largest size, with an own formula for each dimension.
fn largest(formula: impl Fn(usize) -> String) -> Checked {
    let mut body = String::from("[const]\n");
    (0..4096).for_each(|at| body += &format!("c{at} = {{ value = {}, unit = \"USD\" }}\n", at + 1));
    let mut facts = String::new();
    (0..4096).for_each(|at| facts += &format!("f{at} = {{ unit = \"USD\", min = 0 }}\n"));
    for at in 0..4096 {
        body += &format!("[[dimension]]\nkey = \"d{at}\"\nweight = 1\nformula = \"{}\"\n", formula(at));
    }
    let head = "schema = \"karat/scorecard/1\"\nid = \"t\"\nversion = \"1.0.0\"\ntitle = \"t\"\nevidence = \"facts\"\n";
    let text = format!("{head}[facts]\n{facts}{body}");
    check_text(&text, &|_| None)
}

#[test]
fn a_card_of_the_largest_size_is_looked_at_in_full() {
    let checked = largest(|at| match at {
        4000 => String::from("clamp((f4000 / c4000 - 0.7) * 1e6, 0, 1)"),
        at => format!("clamp(1 - f{at} / c{at}, 0, 1)"),
    });
    assert!(checked.card.is_some(), "{:?}", checked.diagnostics.first());
    let report = checked.report.unwrap();
    assert_eq!((report.slopes.len(), report.readings.len()), (4096, 4096));
    let steep: Vec<_> =
        report.cliffs.iter().filter(|cliff| cliff.about.contains(&String::from("d4000"))).collect();
    assert_eq!(steep.len(), 1, "{:?}", report.cliffs.len());
    let checked = largest(|at| format!("if(f{at} >= c{at}, 1, 0.5 * f{at} / (f{at} + c{at}))"));
    let report = checked.report.unwrap();
    assert_eq!(report.cliffs.len(), 4096, "every one of them jumps");
}
