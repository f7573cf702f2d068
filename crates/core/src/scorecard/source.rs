//! The TOML of a scorecard, field by field, into a draft whose names are not yet resolved.

mod facts;
mod standing;

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::ops::Range;

use toml::de::DeTable;

pub(super) use self::standing::{DraftGateStep, DraftStanding, DraftStandingGate, DraftStandingTier};
use super::canonical;
use super::fields::{Fields, Report, Text, decimal, in_file_order, number_text};
use super::{FactType, FieldPath, Keep, Mean, Publish, Reporter, Scale, WeightSum};
use crate::diagnostic::Code;
use crate::number::Decimal;

/// The schema that this engine reads.
pub(super) const SCHEMA: &str = "karat/scorecard/1";
/// Most entries of a list in a card: dimensions, facts, constants, lets.
const MOST: usize = 4096;

const CARD_FIELDS: &[&str] = &[
    "schema", "id", "version", "title", "source", "about", "evidence", "mean", "scale", "weights", "facts",
    "const", "let", "dimension", "group", "profiles", "override", "rule", "gate", "band", "tier", "family",
    "base", "dims", "describe", "evaluator", "format", "submission", "limits", "jury", "keep", "standing",
];

/// The tables for graders of evidence: how a challenge compares submissions with the right answers, or runs them; how verdicts
/// of a jury count.
const GRADER_FIELDS: &[&str] = &["evaluator", "format", "submission", "limits", "jury"];

/// A card as written: types fit, names are still texts.
#[derive(Default)]
pub(super) struct Draft {
    pub id: String,
    pub version: String,
    pub title: String,
    pub source: String,
    pub about: String,
    pub evidence: Option<Text>,
    pub mean: Option<Mean>,
    pub scale: Option<Scale>,
    pub weight_sum: Option<WeightSum>,
    pub facts: Vec<DraftFact>,
    pub constants: Vec<DraftConstant>,
    pub lets: Vec<(Text, Text)>,
    pub dimensions: Vec<DraftDimension>,
    pub groups: Vec<DraftGroup>,
    pub profiles: Option<DraftProfiles>,
    pub override_tolerance: Option<Decimal>,
    pub rules: Vec<DraftRule>,
    pub gates: Vec<DraftGate>,
    pub bands: Vec<(Text, Decimal)>,
    pub tiers: Vec<DraftTier>,
    pub family: Option<DraftFamily>,
    pub base: Option<Text>,
    pub dims: Vec<(Text, Decimal, Range<usize>)>,
    pub describe: Vec<DraftDescription>,
    pub standing: Option<DraftStanding>,
    pub evaluator: Option<String>,
    pub keeps: Vec<Keep>,
    /// The place of the whole file's head, for what is missing as a whole.
    pub head: Range<usize>,
}

pub(super) struct DraftFact {
    pub name: Text,
    pub path: Option<FieldPath>,
    pub kind: FactType,
    /// `None` if none is written.
    pub unit: Option<String>,
    pub min: f64,
    pub max: f64,
    pub max_fact: Option<Text>,
    pub integer: bool,
    pub unknown: Option<f64>,
    pub from: Reporter,
    pub about: String,
}

pub(super) struct DraftConstant {
    pub name: Text,
    pub value: f64,
    /// `None` for a plain number, which takes the unit of what it meets.
    pub unit: Option<String>,
    pub about: String,
}

pub(super) struct DraftDimension {
    pub key: Text,
    pub label: String,
    pub description: String,
    pub color: String,
    /// `None` if it was refused, too.
    pub weight: Option<Decimal>,
    /// `None` if no weight is written.
    pub weight_span: Option<Range<usize>>,
    pub formula: Option<Text>,
    pub when: Option<Text>,
    pub applies: Option<Text>,
    pub missing: super::MissingPolicy,
    pub group: Option<Text>,
    pub age: Option<Text>,
}

pub(super) struct DraftGroup {
    pub key: Text,
    pub label: String,
    /// `None` if it was refused.
    pub weight: Option<Decimal>,
    pub mean: Option<Mean>,
    pub parent: Option<Text>,
}

pub(super) struct DraftProfiles {
    pub by: Option<Text>,
    pub fallback: Option<Text>,
    pub list: Vec<DraftProfile>,
    pub span: Range<usize>,
}

pub(super) struct DraftProfile {
    pub name: Text,
    /// The weights by dimension; `None` if a weight was refused.
    pub weights: Vec<(Text, Option<Decimal>)>,
}

pub(super) struct DraftRule {
    pub name: Text,
    pub when: Text,
    pub set: Text,
}

pub(super) struct DraftGate {
    pub name: Text,
    pub when: Text,
    pub cap: Option<Decimal>,
    pub tier: Option<Text>,
}

pub(super) struct DraftTier {
    pub name: Text,
    pub score: Decimal,
    pub coverage: Decimal,
    pub mandatory: Vec<Text>,
    pub floor: Decimal,
    pub require: Vec<(Text, Decimal)>,
}

pub(super) struct DraftFamily {
    pub pick: (usize, usize),
    pub extra: Vec<Text>,
}

pub(super) struct DraftDescription {
    pub key: Text,
    pub label: Option<String>,
    pub description: Option<String>,
    pub color: Option<String>,
}

/// Reads the fields of a card. What does not fit is reported and left out.
pub(super) fn read(table: &DeTable<'_>, report: &Report<'_>) -> Draft {
    let first_line = report.text.find('\n').unwrap_or(report.text.len());
    let head = 0..first_line;
    let card = Fields::new(table, head.clone(), "a scorecard", CARD_FIELDS, report);
    let mut draft = Draft { head, ..Draft::default() };
    read_header(&card, &mut draft);
    draft.facts = facts::read(&card);
    facts::check_paths(&draft, report);
    draft.constants = read_constants(&card);
    for (name, value) in limited(card.entries("let"), "let", report) {
        match value.get_ref().as_str() {
            Some(_) => draft.lets.extend(formula_of(&name, value, report).map(|formula| (name, formula))),
            None => {
                let message = format!("let `{}` must be a formula in quotes", name.value);
                report.leave_out();
                report.error(Code::WrongType, value.span(), message, "");
            }
        }
    }
    draft.dimensions = read_dimensions(&card);
    draft.groups = read_groups(&card);
    draft.profiles = read_profiles(&card);
    if let Some(policy) = card.table("override", "override", &["tolerance"]) {
        draft.override_tolerance = Some(policy.decimal_or("tolerance", Decimal::ZERO));
    }
    read_verdicts(&card, &mut draft);
    read_family(&card, &mut draft);
    draft.standing = standing::read(&card);
    for field in GRADER_FIELDS.iter().filter(|field| card.has(field)) {
        // Only the type is checked: what is in them is for the graders of evidence.
        card.entries(field);
        draft.evaluator = Some(canonical::parts(table, GRADER_FIELDS));
    }
    for keep in card.tables("keep", MOST, &["code", "at", "why"]) {
        let code = keep.required("code", "name the warning that stays, such as KC301");
        let why = keep.required("why", "say why it stays");
        let at = keep.text_or_empty("at");
        if let (Some(code), Some(why)) = (code, why) {
            draft.keeps.push(Keep { code: code.value, at, why: why.value, span: code.span });
        }
    }
    draft
}

fn read_header(card: &Fields<'_, '_>, draft: &mut Draft) {
    if let Some(schema) = card.required("schema", "start the file with schema = \"karat/scorecard/1\"")
        && schema.value != SCHEMA
    {
        let message = format!("`schema` is `{}`, this engine reads `{SCHEMA}`", schema.value);
        card.report.bad(schema.span, message, "");
    }
    if let Some(id) = card.required("id", "name the rule: lower-case letters, digits and hyphens") {
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        if !id.value.starts_with(|c: char| c.is_ascii_lowercase())
            || !id.value.chars().all(plain)
            || id.value.len() > 64
        {
            let message = format!("`id` is `{}`", id.value);
            card.report.bad(
                id.span,
                message,
                "use lower-case letters, digits and hyphens, a letter first, at most 64",
            );
        }
        draft.id = id.value;
    }
    if let Some(version) = card.required("version", "version = \"1.0.0\"") {
        let parts: Vec<&str> = version.value.split('.').collect();
        let whole =
            |part: &&str| !part.is_empty() && part.len() < 10 && part.bytes().all(|b| b.is_ascii_digit());
        if parts.len() != 3 || !parts.iter().all(whole) {
            card.report.bad(
                version.span,
                format!("`version` is `{}`", version.value),
                "write major.minor.patch: 1.0.0",
            );
        }
        draft.version = version.value;
    }
    draft.title = card.required("title", "one line for people").map_or_else(String::new, |title| title.value);
    draft.source = card.text_or_empty("source");
    draft.about = card.text_or_empty("about");
    draft.evidence = card.text("evidence");
    draft.mean = card.word("mean", &Mean::ALL.map(|mean| (mean.name(), mean)));
    draft.base = card.text("base");
    if let Some(scale) = card.table("scale", "scale", &["max", "publish", "places"]) {
        let max = scale.whole("max", 1, 10_000).unwrap_or(1);
        if ![1, 10, 100, 1000, 10_000].contains(&max) {
            let help = "choose 1, 10, 100, 1000 or 10000";
            card.report.bad(
                scale.place("max"),
                format!("a scale of {max} points is not a power of ten"),
                help,
            );
        }
        let words = [("exact", Publish::Exact), ("floor", Publish::Floor), ("half-up", Publish::HalfUp)];
        let publish = scale.word("publish", &words).unwrap_or(Publish::Exact);
        let places = scale.whole("places", 0, 6).unwrap_or(0);
        if publish == Publish::Exact && places > 0 {
            card.report.bad(scale.place("places"), "`places` goes with `floor` or `half-up`".to_string(), "");
        }
        draft.scale = Some(Scale { max, publish, places });
    }
    if let Some(weights) = card.table("weights", "weights", &["sum", "tolerance"]) {
        let target = weights.decimal_or("sum", Decimal::ONE);
        let tolerance = weights.decimal_or("tolerance", Decimal::ZERO);
        draft.weight_sum = Some(WeightSum { target, tolerance });
    }
}

/// Reads `[const]`: a number, true or false (1 or 0), or a table of a value and its unit.
fn read_constants(card: &Fields<'_, '_>) -> Vec<DraftConstant> {
    const FIELDS: &[&str] = &["value", "unit", "about"];
    let mut constants = Vec::new();
    for (name, written) in limited(card.entries("const"), "const", card.report) {
        check_name(&name, card.report);
        let what = format!("constant `{}`", name.value);
        let (value, unit, about) = match written.get_ref().as_table() {
            None => (constant_value(written, &what, card.report), None, String::new()),
            Some(table) => {
                let table = Fields::new(table, name.span.clone(), what.clone(), FIELDS, card.report);
                table.require("value", &format!("{} = {{ value = 0.20, unit = \"USD\" }}", name.value));
                let value = table.raw("value").and_then(|value| constant_value(value, &what, card.report));
                let unit = table.text("unit").map(|unit| unit.value);
                (value, unit, table.text_or_empty("about"))
            }
        };
        match value {
            Some(value) => constants.push(DraftConstant { name, value, unit, about }),
            // A formula that reads it is not to report an unknown name.
            None => card.report.leave_out(),
        }
    }
    constants
}

/// Returns the number of a constant; true is 1, false is 0.
fn constant_value(
    written: &toml::Spanned<toml::de::DeValue<'_>>,
    what: &str,
    report: &Report<'_>,
) -> Option<f64> {
    if let Some(flag) = written.get_ref().as_bool() {
        return Some(f64::from(u8::from(flag)));
    }
    let number = number_text(written.get_ref()).and_then(|text| text.parse::<f64>().ok());
    let finite = number.filter(|number| number.is_finite());
    if finite.is_none() {
        let found = written.get_ref().type_str();
        let message =
            format!("{what} must be a finite number, true or false, here is a value of type {found}");
        let help = "write 0.20, or { value = 0.20, unit = \"USD\" }; a formula belongs into `[let]`";
        report.error(Code::WrongType, written.span(), message, help);
    }
    finite
}

fn read_dimensions(card: &Fields<'_, '_>) -> Vec<DraftDimension> {
    const FIELDS: &[&str] = &[
        "key", "label", "description", "color", "weight", "formula", "when", "applies", "missing", "group",
        "age",
    ];
    let mut dimensions = Vec::new();
    for table in card.tables("dimension", MOST, FIELDS) {
        let Some(key) = table.required("key", "name the dimension") else {
            card.report.leave_out();
            continue;
        };
        check_name(&key, card.report);
        let label = table.text("label").map_or_else(|| key.value.clone(), |label| label.value);
        dimensions.push(DraftDimension {
            label,
            description: table.text_or_empty("description"),
            color: table.text_or_empty("color"),
            weight: table.decimal("weight"),
            weight_span: table.has("weight").then(|| table.place("weight")),
            formula: table.text("formula"),
            when: table.text("when"),
            applies: table.text("applies"),
            missing: read_missing(&table),
            group: table.text("group"),
            age: table.text("age"),
            key,
        });
    }
    dimensions
}

fn read_missing(table: &Fields<'_, '_>) -> super::MissingPolicy {
    use super::MissingPolicy;
    if let Some(policy) = table.table_if_table("missing", "missing", &["default"]) {
        policy.require("default", "missing = { default = 0.5 }");
        let value = policy.decimal_or("default", Decimal::ZERO);
        if value > Decimal::ONE {
            table.report.bad(policy.place("default"), format!("a default reading of {value} is above 1"), "");
        }
        return MissingPolicy::Default(value.millionths() * 1000);
    }
    let words = [
        ("exclude", MissingPolicy::Exclude),
        ("zero", MissingPolicy::Zero),
        ("withhold", MissingPolicy::Withhold),
    ];
    table.word("missing", &words).unwrap_or(MissingPolicy::Exclude)
}

fn read_groups(card: &Fields<'_, '_>) -> Vec<DraftGroup> {
    let mut groups = Vec::new();
    for table in card.tables("group", MOST, &["key", "label", "weight", "mean", "group"]) {
        let Some(key) = table.required("key", "name the group") else {
            card.report.leave_out();
            continue;
        };
        check_name(&key, card.report);
        table.require("weight", "say what share it has in its parent");
        groups.push(DraftGroup {
            label: table.text("label").map_or_else(|| key.value.clone(), |label| label.value),
            weight: table.decimal("weight"),
            mean: table.word("mean", &Mean::ALL.map(|mean| (mean.name(), mean))),
            parent: table.text("group"),
            key,
        });
    }
    groups
}

fn read_profiles(card: &Fields<'_, '_>) -> Option<DraftProfiles> {
    let table = card.table("profiles", "profiles", &["by", "fallback", "weights"])?;
    let mut list = Vec::new();
    for (name, value) in limited(table.entries("weights"), "profiles.weights", card.report) {
        let Some(weights) = value.get_ref().as_table() else {
            let message = format!("profile `{}` must be a table of weights", name.value);
            card.report.leave_out();
            card.report.error(Code::WrongType, value.span(), message, "");
            continue;
        };
        let weight = |(key, value): (Text, _)| {
            let weight = decimal(value, &format!("the weight of `{}`", key.value), card.report);
            (key, weight)
        };
        let weights = in_file_order(weights).into_iter().map(weight).collect();
        list.push(DraftProfile { name, weights });
    }
    Some(DraftProfiles {
        by: table.required("by", "name the text fact that chooses"),
        fallback: table.required("fallback", "name the profile used when nothing matches"),
        list,
        span: table.span.clone(),
    })
}

fn read_verdicts(card: &Fields<'_, '_>, draft: &mut Draft) {
    for rule in card.tables("rule", MOST, &["name", "when", "set", "about"]) {
        let name = rule.required("name", "name the rule");
        let when = rule.required("when", "say when the rule fires");
        let set = rule.required("set", "say what the score becomes, such as `min(1, score + 0.1)`");
        rule.text_or_empty("about");
        if let (Some(name), Some(when), Some(set)) = (name, when, set) {
            draft.rules.push(DraftRule { name, when, set });
        }
    }
    for gate in card.tables("gate", MOST, &["name", "when", "cap", "tier", "about"]) {
        let name = gate.required("name", "name the gate");
        let when = gate.required("when", "say when the gate holds");
        gate.text_or_empty("about");
        if !gate.has("cap") && !gate.has("tier") {
            let help = "give `cap` (points) or `tier` (a tier or \"none\")";
            card.report.error(
                Code::MissingField,
                gate.span.clone(),
                "a gate that does nothing".to_string(),
                help,
            );
        }
        let (cap, tier) = (gate.decimal("cap"), gate.text("tier"));
        if let (Some(name), Some(when)) = (name, when) {
            draft.gates.push(DraftGate { name, when, cap, tier });
        }
    }
    for band in card.tables("band", MOST, &["name", "from", "about"]) {
        band.require("from", "the lowest published score of the band");
        band.text_or_empty("about");
        if let (Some(name), Some(from)) = (band.required("name", "name the band"), band.decimal("from")) {
            draft.bands.push((name, from));
        } else {
            card.report.leave_out();
        }
    }
    for tier in
        card.tables("tier", MOST, &["name", "score", "coverage", "mandatory", "floor", "require", "about"])
    {
        let Some(name) = tier.required("name", "name the tier") else {
            card.report.leave_out();
            continue;
        };
        tier.text_or_empty("about");
        let mut require = Vec::new();
        for (key, value) in tier.entries("require") {
            require.extend(
                decimal(value, &format!("the floor of `{}`", key.value), card.report)
                    .map(|floor| (key, floor)),
            );
        }
        draft.tiers.push(DraftTier {
            score: tier.decimal_or("score", Decimal::ZERO),
            coverage: tier.decimal_or("coverage", Decimal::ZERO),
            mandatory: tier.texts("mandatory"),
            floor: tier.decimal_or("floor", Decimal::ZERO),
            require,
            name,
        });
    }
}

fn read_family(card: &Fields<'_, '_>, draft: &mut Draft) {
    if let Some(family) = card.table("family", "family", &["pick", "extra"]) {
        let pick = family.table("pick", "pick", &["min", "max"]);
        let bound = |field: &str, other: u32| {
            pick.as_ref().and_then(|pick| pick.whole(field, 1, MOST as u32)).unwrap_or(other) as usize
        };
        let pick = (bound("min", 1), bound("max", MOST as u32));
        draft.family = Some(DraftFamily { pick, extra: family.texts("extra") });
    }
    for (key, value) in limited(card.entries("dims"), "dims", card.report) {
        if let Some(weight) = decimal(value, &format!("the weight of `{}`", key.value), card.report) {
            draft.dims.push((key, weight, value.span()));
        } else {
            card.report.leave_out();
        }
    }
    for (key, value) in card.entries("describe") {
        let Some(table) = value.get_ref().as_table() else {
            card.report.error(
                Code::WrongType,
                value.span(),
                format!("`describe.{}` must be a table", key.value),
                "",
            );
            continue;
        };
        let fields = Fields::new(
            table,
            value.span(),
            format!("describe `{}`", key.value),
            &["label", "description", "color"],
            card.report,
        );
        let text = |field| fields.text(field).map(|text| text.value);
        let (label, description, color) = (text("label"), text("description"), text("color"));
        draft.describe.push(DraftDescription { label, description, color, key });
    }
}

/// Names in formulas are letters, digits and underscores.
fn check_name(name: &Text, report: &Report<'_>) {
    let fits = name.value.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.value.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && name.value.len() <= 64;
    let reserved = ["and", "or", "not", "true", "false", "score", "composite", "coverage"]
        .contains(&name.value.as_str())
        || crate::formula::Function::ALL.iter().any(|function| function.name() == name.value);
    if !fits {
        // A formula reads `my-name` as a difference of two names.
        report.leave_out();
        let help = "use letters, digits and underscores, a letter first, at most 64";
        report.bad(name.span.clone(), format!("`{}` cannot be a name in a formula", name.value), help);
    } else if reserved {
        let message = format!("`{}` is a word of the formula language", name.value);
        report.bad(name.span.clone(), message, "choose another name");
    }
}

fn formula_of(
    name: &Text,
    value: &toml::Spanned<toml::de::DeValue<'_>>,
    report: &Report<'_>,
) -> Option<Text> {
    check_name(name, report);
    let text = value.get_ref().as_str()?;
    Some(Text { value: text.to_string(), span: super::fields::inner_span(report.text, value.span(), text) })
}

fn limited<T>(list: Vec<(Text, T)>, what: &str, report: &Report<'_>) -> Vec<(Text, T)> {
    match list.get(MOST) {
        None => list,
        Some((key, _)) => {
            let message = format!("{} entries in `{what}`, at most {MOST} are allowed", list.len());
            report.error(Code::TooLarge, key.span.clone(), message, "");
            Vec::new()
        }
    }
}
