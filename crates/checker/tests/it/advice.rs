//! The advice of a message passes the check: every hint is followed to the letter, and the finding is gone, without a new one.

use karat_checker::check_text;
use karat_core::diagnostic::{Code, Diagnostic, Severity};

use crate::diagnostics::{GUIDE, examples};

const HEAD: &str = "schema = \"karat/scorecard/1\"\nid = \"t\"\nversion = \"1.0.0\"\ntitle = \"t\"\nevidence = \"facts\"\nscale = { max = 100 }\n";

/// A card with something wrong, and how its hint is followed.
struct Case {
    code: Code,
    card: String,
    /// Words of the message that is meant.
    message: &'static str,
    /// The replacements in the card; `{0}`, `{1}` are the parts of the hint in backticks.
    edits: Vec<(&'static str, &'static str)>,
}

fn case(code: Code, card: String, message: &'static str, edits: &[(&'static str, &'static str)]) -> Case {
    Case { code, card, message, edits: edits.to_vec() }
}

const FACTS: &str = "q = { min = 0, max = 1, from = \"harness\" }\np = { min = 0, max = 1, from = \"harness\" }\nn = { min = 0, integer = \
     true, from = \"harness\" }\nusd = { unit = \"USD\", min = 0, from = \"harness\" }\ns = { unit = \"s\", min = 0, from = \"harness\" }\n\
     delta = { unit = \"1\", min = -5, max = 5, from = \"harness\" }\nyes = { type = \"boolean\" }\nwords = { type = \"text\" }\n";

/// Returns a card with these facts and a keep for those that it does not read.
fn with(rest: &str) -> String {
    let keep = "[[keep]]\ncode = \"KC208\"\nwhy = \"one list of facts for all\"\n";
    format!("{HEAD}[facts]\n{FACTS}{rest}{keep}")
}

fn of(formula: &str) -> String {
    with(&format!(
        "[[dimension]]\nkey = \"d\"\nweight = 1\nformula = \"{formula}\"\nmissing = \"withhold\"\n"
    ))
}

fn two(second: &str, rest: &str) -> String {
    with(&format!(
        "[[dimension]]\nkey = \"p\"\nweight = 1\nmissing = \"withhold\"\n[[dimension]]\nkey = \"d\"\nweight = 1\nmissing = \
         \"withhold\"\n{second}\n{rest}\n"
    ))
}

fn rule(when: &str, set: &str) -> String {
    two("formula = \"q\"", &format!("[[rule]]\nname = \"r\"\nwhen = \"{when}\"\nset = \"{set}\""))
}

fn standing(section: &str) -> String {
    let dimensions = "[[dimension]]\nkey = \"q\"\nweight = 1\nmissing = \"withhold\"\n";
    with(&format!("{dimensions}[standing]\nscore = \"latest\"\n{section}\n"))
        .replace("max = 100", "max = 1000")
}

fn cliffs() -> Vec<Case> {
    let mut cases: Vec<Case> = [
        "clamp((q - 0.7) * 1000000, 0, 1)",
        "min(1, max(0, (q - 0.7) * 1e6))",
        "clamp(floor(q + 0.3), 0, 1)",
        "1 - ceil(q * 2) / 2",
        "1 / (1 + exp(-10000 * (q - 0.98)))",
        "pow(q, 0.001)",
    ]
    .map(|formula| case(Code::Cliff, of(formula), "(q, d)", &[(formula, "{0}")]))
    .into();
    let with_symbol = [
        ("clamp((delta + 3) * 1e6, 0, 1)", "(delta, d)"),
        ("min(1, n)", "(n, d)"),
        ("clamp(floor(n / 5), 0, 1)", "(n, d)"),
    ];
    cases.extend(
        with_symbol.map(|(formula, about)| case(Code::Cliff, of(formula), about, &[(formula, "{0}")])),
    );
    for formula in ["clamp((usd / one - 3) / 0.000001, 0, 1)", "clamp((3 - usd / one) * 1e6, 0, 1)"] {
        let one = "one = { value = 1, unit = \"USD\" }\n";
        let card = of(formula).replace("[[dimension]]", &format!("[const]\n{one}[[dimension]]"));
        cases.push(case(Code::Cliff, card, "(usd, d)", &[(formula, "{0}"), (one, "")]));
    }
    for when in ["q >= 0.7", "usd <= 3", "n > 2", "0.25 < q", "delta >= -2"] {
        let card = two(&format!("formula = \"p\"\nwhen = \"{when}\""), "");
        let leaked: &'static str = Box::leak(format!("\nwhen = \"{when}\"").into_boxed_str());
        cases.push(case(
            Code::Cliff,
            card,
            "turns",
            &[(leaked, ""), ("formula = \"p\"", "formula = \"p * {1}\"")],
        ));
    }
    for (formula, part) in [
        ("if(q >= 0.7, 1, 0)", "if(q >= 0.7, 1, 0)"),
        ("if(q >= 0.7, p, 0)", "if(q >= 0.7, p, 0)"),
        ("if(q >= 0.7, 1, 0.5)", "if(q >= 0.7, 1, 0.5)"),
        ("p * if(n > 2, 1, 0.5)", "if(n > 2, 1, 0.5)"),
        ("if(usd > 3, 0.25, 1)", "if(usd > 3, 0.25, 1)"),
        ("if(q < 0.25, p, 1 - p)", "if(q < 0.25, p, 1 - p)"),
    ] {
        cases.push(case(Code::Cliff, of(formula), "turns", &[(part, "{1}")]));
    }
    for (when, set) in [
        ("n > 2", "min(1, score + 0.1)"),
        ("q >= 0.9", "1"),
        ("q < 0.25", "score / 2"),
        ("usd >= 3", "0.5 * p"),
    ] {
        let text: &'static str = Box::leak(format!("set = \"{set}\"").into_boxed_str());
        cases.push(case(Code::Cliff, rule(when, set), "turns", &[(text, "{0}")]));
    }
    for when in ["q < 0.25", "usd > 3", "n >= 5"] {
        let card = two("formula = \"q\"", &format!("[[gate]]\nname = \"g\"\nwhen = \"{when}\"\ncap = 40"));
        let old: &'static str =
            Box::leak(format!("[[gate]]\nname = \"g\"\nwhen = \"{when}\"\ncap = 40").into_boxed_str());
        cases.push(case(Code::Cliff, card, "turns", &[(old, "[[rule]]\nname = \"g\"\n{0}\n{1}")]));
    }
    cases
}

fn units() -> Vec<Case> {
    let mut cases = Vec::new();
    for (formula, mended) in [
        ("clamp(1 - usd / 0.20, 0, 1)", "clamp(1 - usd / usd_limit, 0, 1)"),
        ("clamp(1 - usd / 0.20 - s / 60, 0, 1)", "clamp(1 - usd / usd_limit - s / s_limit, 0, 1)"),
        ("clamp((usd + s) / 10, 0, 1)", "clamp(usd / usd_limit + s / s_limit, 0, 1)"),
        ("clamp(usd, 0, 1)", "clamp(usd / usd_limit, 0, 1)"),
        ("exp(-usd)", "exp(-(usd / usd_limit))"),
        ("clamp(q + usd, 0, 1)", "clamp(q + usd / usd_limit, 0, 1)"),
        ("if(usd > s, 1, 0.75)", "if(usd / usd_limit > s / s_limit, 1, 0.75)"),
    ] {
        cases.push(case(Code::UnitMismatch, of(formula), "", &[(formula, mended)]));
    }
    cases.push(case(
        Code::UnitMismatch,
        of("clamp(usd * s / 10, 0, 1)"),
        "USD s",
        &[
            ("clamp(usd * s / 10, 0, 1)", "clamp(usd / low * (s / long), 0, 1)"),
            ("[[dimension]]", "[const]\nlow = { value = 1, unit = \"USD\" }\nlong = { value = 1, unit = \"s\" }\n[[dimension]]"),
        ],
    ));
    let card = of("clamp(share / 100 - latency / 60, 0, 1)").replace(
        "q = {",
        "share = { min = 0, from = \"harness\" }\nlatency = { min = 0, from = \"harness\" }\nq = {",
    );
    let pure: &[(&str, &str)] = &[
        ("share = { min = 0", "share = { unit = \"1\", min = 0"),
        ("latency = { min = 0", "latency = { unit = \"1\", min = 0"),
    ];
    cases.push(case(Code::UnitlessFacts, card, "`share` and `latency`", pure));
    cases
}

fn formulas() -> Vec<Case> {
    let mut cases = Vec::new();
    for (code, formula, part, mended) in [
        (Code::TypeMismatch, "if(q, p, 0)", "if(q, p, 0)", "p * q"),
        (Code::TypeMismatch, "if(q + p, 0.5, 0)", "if(q + p, 0.5, 0)", "0.5 * (q + p)"),
        (Code::MayFail, "clamp(q / n, 0, 1)", "q / n", "{0}"),
        (Code::MayFail, "clamp(ln(n), 0, 1)", "ln(n)", "{0}"),
        (Code::MayFail, "clamp(q / (n + p), 0, 1)", "q / (n + p)", "{2}"),
        (Code::MayFail, "clamp(log2(n + q), 0, 1)", "log2(n + q)", "{2}"),
        (Code::MayFail, "clamp(sqrt(delta), 0, 1)", "sqrt(delta)", "{0}"),
        (Code::MayFail, "clamp(pow(delta, 2), 0, 1)", "pow(delta, 2)", "{0}"),
        (Code::MayFail, "clamp(pow(q, -0.5) / 32, 0, 1)", "pow(q, -0.5)", "{0}"),
        (Code::OutOfRange, "q + p", "q + p", "clamp(q + p, 0, 1)"),
        (Code::OutOfRange, "n / 10", "n / 10", "clamp(n / 10, 0, 1)"),
        (Code::FormulaSyntax, "q ^ 2", "q ^ 2", "pow(q, 2)"),
        (Code::FormulaSyntax, "q * (yes = yes)", "yes = yes", "yes == yes"),
        (Code::FormulaSyntax, "q * (yes & yes)", "&", "and"),
        (Code::FormulaSyntax, "q * !yes", "!yes", "(not yes)"),
        (Code::FormulaSyntax, "yes ? 1 : 0", "yes ? 1 : 0", "if(yes, 1, 0)"),
        (Code::UnknownName, "qq", "\"qq\"", "\"{0}\""),
        (
            Code::OneSided,
            "clamp(if(delta > 0, delta * 1.2, delta), 0, 1)",
            "if(delta > 0, delta * 1.2, delta)",
            "delta * 1.2",
        ),
        (Code::StrictThreshold, "if(q > 0.99, 1, q)", "q > 0.99", "q >= 0.99"),
        (Code::Fallback, "coalesce(q, 0.5)", "coalesce(q, 0.5)", "q"),
        (Code::NeverMatters, "if(q > 2, 0.75, q)", "if(q > 2, 0.75, q)", "q"),
    ] {
        let mut found = case(code, of(formula), "", &[(part, mended)]);
        if mended == "{2}" {
            // The hint names the operand in `[let]`.
            found.edits.push(("[[dimension]]", "[let]\n{0}\n[[dimension]]"));
        }
        cases.push(found);
    }
    cases.push(case(
        Code::TypeMismatch,
        of("if(words == words, 1, 0)"),
        "a text",
        &[
            ("if(words == words, 1, 0)", "if(words, 1, 0)"),
            ("words = { type = \"text\"", "words = { type = \"boolean\""),
        ],
    ));
    cases.push(case(
        Code::Unused,
        of("q")
            .replace("[[dimension]]", "[const]\nspare = 1\n[[dimension]]")
            .replace("code = \"KC208\"", "code = \"KC208\"\nat = \"n\""),
        "the constant `spare`",
        &[("[const]\nspare = 1\n", ""), ("at = \"n\"\n", "")],
    ));
    cases.push(case(
        Code::OneSided,
        rule("score >= 0.5", "min(1, score * 1.5)"),
        "`score`",
        &[("[[rule]]\nname = \"r\"\nwhen = \"score >= 0.5\"\nset = \"min(1, score * 1.5)\"", "")],
    ));
    cases
}

fn traps() -> Vec<Case> {
    let subject = |formula: &str| {
        of(formula).replace(
            "n = { min = 0, integer = true, from = \"harness\"",
            "n = { min = 0, integer = true, from = \"subject\"",
        )
    };
    let mut cases = vec![
        case(
            Code::SelfReported,
            subject("q / max(1, n)"),
            "divides",
            &[("from = \"subject\"", "from = \"task\"")],
        ),
        case(
            Code::SelfReported,
            subject("clamp(n / 10, 0, 1)"),
            "without limit",
            &[("integer = true, from = \"subject\"", "integer = true, max = 10, from = \"judge\"")],
        ),
        case(
            Code::SelfReported,
            subject("clamp(n / 10, 0, 1)"),
            "rests on",
            &[("from = \"subject\"", "from = \"judge\"")],
        ),
        case(
            Code::Idle,
            two("formula = \"max(0, 1 - n / 10)\"", ""),
            "`d` earns 50 of 100 when nothing is done",
            &[("formula = \"max(0, 1 - n / 10)\"", "formula = \"(max(0, 1 - n / 10)) * {1}\"")],
        ),
        case(
            Code::Idle,
            of("q").replace("\"withhold\"", "{ default = 0.5 }"),
            "left unmeasured",
            &[("{ default = 0.5 }", "\"zero\"")],
        ),
        case(
            Code::Fallback,
            of("q").replace("\"withhold\"", "{ default = 0.5 }"),
            "counts as 0.5",
            &[("{ default = 0.5 }", "\"withhold\"")],
        ),
        case(
            Code::CoveragePicking,
            two("formula = \"q\"", "").replace("missing = \"withhold\"\n", ""),
            "",
            &[
                ("key = \"p\"", "key = \"p\"\nmissing = \"zero\""),
                ("key = \"d\"", "key = \"d\"\nmissing = \"withhold\""),
            ],
        ),
        case(
            Code::CoveragePicking,
            two("formula = \"q\"", "[[tier]]\nname = \"t\"\nscore = 40\ncoverage = 0.5")
                .replace("missing = \"withhold\"\n", ""),
            "",
            &[
                ("key = \"p\"", "key = \"p\"\nmissing = \"zero\""),
                ("key = \"d\"", "key = \"d\"\nmissing = \"withhold\""),
            ],
        ),
        case(
            Code::NeverMatters,
            two("formula = \"q\"\nwhen = \"n >= 0\"", ""),
            "always true",
            &[("\nwhen = \"n >= 0\"", "")],
        ),
        case(
            Code::NeverMatters,
            two("formula = \"q\"", "[[gate]]\nname = \"g\"\nwhen = \"yes\"\ncap = 100"),
            "takes nothing away",
            &[("cap = 100", "cap = 40")],
        ),
        case(
            Code::NeverMatters,
            two("formula = \"q\"", "[[tier]]\nname = \"t\"\nscore = 40\nrequire = { d = 0.9 }")
                .replace("\"q\"", "\"q / 2\""),
            "never reached",
            &[("{ d = 0.9 }", "{ d = 0.4 }")],
        ),
        case(
            Code::NeverMatters,
            of("q / 2").replace(
                "[[keep]]",
                "[[band]]\nname = \"low\"\nfrom = 0\n[[band]]\nname = \"high\"\nfrom = 90\n[[keep]]",
            ),
            "`high` is never reached",
            &[("from = 90", "from = 40")],
        ),
        case(
            Code::NeverMatters,
            two("formula = \"q\"", "").replace("key = \"d\"\nweight = 1", "key = \"d\"\nweight = 0"),
            "has no weight",
            &[("weight = 0", "weight = 0.5")],
        ),
        case(
            Code::HiddenState,
            of("clamp(now / day, 0, 1)")
                .replace("q = {", "now = { unit = \"s\", min = 0 }\nday = { unit = \"s\", min = 1 }\nq = {"),
            "`now`",
            &[("now =", "elapsed ="), ("now / day", "elapsed / day")],
        ),
        case(
            Code::SmallSteps,
            standing("review = { swing_points = 200, cumulative = \"flag\" }"),
            "only flags",
            &[("cumulative = \"flag\"", "{0}")],
        ),
        case(
            Code::SmallSteps,
            standing("review = { swing_points = 200, cumulative_points = 1000 }"),
            "no sum of changes",
            &[("cumulative_points = 1000", "{0}")],
        ),
        case(
            Code::SmallSteps,
            standing("review = { swing_points = 20, cumulative_points = 30, cumulative_days = 0 }"),
            "looks back 0 days",
            &[("cumulative_days = 0", "{0}")],
        ),
        case(
            Code::NeverMatters,
            standing("review = { swing_points = 1000 }"),
            "no swing is over",
            &[("swing_points = 1000", "swing_points = 200")],
        ),
        case(
            Code::NeverMatters,
            standing("[[standing.tier]]\nname = \"t\"\nscore = 500\nconfidence = 0.5"),
            "asks for a confidence",
            &[("score = \"latest\"\n", "score = \"latest\"\n{0}\n")],
        ),
    ];
    cases.push(case(
        Code::Idle,
        of("max(0, 1 - n / 10)"),
        "`d` earns 100 of 100 when nothing is done",
        &[("max(0, 1 - n / 10)", "q * max(0, 1 - n / 10)")],
    ));
    let spare = "spare = { min = 0, max = 1 }\n";
    cases.push(case(
        Code::Unused,
        of("q")
            .replace("q = {", &format!("{spare}q = {{"))
            .replace("code = \"KC208\"", "code = \"KC208\"\nat = \"n\""),
        "the fact `spare`",
        &[("spare = { min = 0, max = 1 }\n", ""), ("at = \"n\"\n", "")],
    ));
    let profiles = "[profiles]\nby = \"words\"\nfallback = \"a\"\n[profiles.weights.a]\nd = 1\n";
    cases.push(case(
        Code::Fallback,
        of("q").replace("weight = 1\n", "").replace("[[keep]]", &format!("{profiles}[[keep]]")),
        "`words`",
        &[("[[keep]]", "[[keep]]\ncode = \"KC305\"\nat = \"words\"\nwhy = \"the record says it\"\n[[keep]]")],
    ));
    cases
}

fn found(card: &str) -> Vec<Diagnostic> {
    let mut found = check_text(card, &|_| None).diagnostics;
    found.retain(|it| it.severity != Severity::Note);
    found
}

/// Returns the parts of a hint in backticks.
fn parts(help: &str) -> Vec<&str> {
    help.split('`').skip(1).step_by(2).collect()
}

/// Returns the words of a hint without what belongs to the card at hand.
fn shape(help: &str) -> String {
    help.split('`').step_by(2).collect::<Vec<_>>().join("_")
}

/// Follows the hint of a finding.
fn mended(case: &Case, help: &str) -> String {
    let parts = parts(help);
    let mut card = case.card.clone();
    for (from, to) in &case.edits {
        assert!(card.contains(from), "{from} is not in\n{card}");
        let filled = parts
            .iter()
            .enumerate()
            .fold(to.to_string(), |text, (at, part)| text.replace(&format!("{{{at}}}"), part));
        card = card.replacen(from, &filled, 1);
    }
    let constants: Vec<&str> = parts.iter().filter(|part| part.contains("= { value")).copied().collect();
    if !constants.is_empty() && !card.contains(constants[0]) {
        let place = if card.contains("[const]\n") { "[const]\n" } else { "[[dimension]]" };
        let head = if place == "[const]\n" { place.to_string() } else { String::from("[const]\n") };
        let rest = if place == "[const]\n" { "" } else { place };
        card = card.replacen(place, &format!("{head}{}\n{rest}", constants.join("\n")), 1);
    }
    card
}

fn all() -> Vec<Case> {
    [cliffs(), units(), formulas(), traps()].into_iter().flatten().collect()
}

#[test]
fn what_a_message_advises_passes_the_check() {
    let mut problems = Vec::new();
    for case in all() {
        let before = found(&case.card);
        let meant = before.iter().find(|it| it.code == case.code && it.message.contains(case.message));
        let Some(meant) = meant else {
            problems.push(format!("{} is not found in\n{}\n{before:#?}", case.code, case.card));
            continue;
        };
        let card = mended(&case, &meant.help);
        for after in found(&card) {
            let is_same = after.code == meant.code && after.message == meant.message;
            let is_new = !before.iter().any(|known| known.code == after.code);
            if after.severity == Severity::Error || is_same || is_new {
                problems.push(format!("`{}` leads to {}: {}\n{card}", meant.help, after.code, after.message));
            }
        }
    }
    assert!(problems.is_empty(), "{} problems\n{}", problems.len(), problems.join("\n"));
}

#[test]
fn no_hint_is_left_untried() {
    let cases = all();
    let tried: Vec<String> = cases
        .iter()
        .flat_map(|case| {
            let meant = found(&case.card).into_iter();
            meant
                .filter(|it| it.code == case.code && it.message.contains(case.message))
                .map(|it| shape(&it.help))
        })
        .collect();
    let examples = examples(GUIDE).into_iter().map(|(example, _)| {
        let facts =
            if example.contains("[facts]") { "" } else { "[facts]\nquality = { min = 0, max = 1 }\n" };
        let dimension = "[[dimension]]\nkey = \"quality\"\nweight = 1\nmissing = \"withhold\"\n";
        let dimension = if example.contains("[[dimension]]") { "" } else { dimension };
        format!("{}{example}\n{facts}{dimension}", HEAD.replace("scale = { max = 100 }\n", ""))
    });
    let cards = examples.chain(cases.iter().map(|case| case.card.clone()));
    let is_formula =
        |it: &Diagnostic| it.code.as_str() > "KC201" && it.code != Code::Arguments && it.code != Code::Cycle;
    let mut untried: Vec<String> = cards
        .flat_map(|card| found(&card))
        // A hint without a text to take over proposes no formula.
        .filter(|it| it.help.contains('`'))
        .filter(|it| is_formula(it) && !tried.contains(&shape(&it.help)))
        .map(|it| format!("{}: {}", it.code, it.help))
        .collect();
    untried.sort();
    untried.dedup();
    assert!(untried.is_empty(), "{untried:#?}");
}
