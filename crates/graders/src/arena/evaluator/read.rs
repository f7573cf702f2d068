//! The tables of a challenge into an evaluator, with everything that is wrong with them.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::field::Field;
use super::{Comparison, Dimension, Evaluator, Format, Part, Test, files};
use crate::arena::members::{Member, Members};
use crate::arena::primitives::{ExactMatch, FuzzyString, NumericTolerance, OverlapMeasure, SetOverlap};
use crate::execution::FileReader;
use karat_evidence::json::problem::{Problems, did_you_mean};

/// The dimensions that are scored from the trajectory.
const FROM_TRAJECTORY: [&str; 2] = ["token_efficiency", "call_efficiency"];
const PRIMITIVES: [&str; 10] = [
    "exact_match", "exact_match_ratio", "numeric_tolerance", "fuzzy_string", "set_overlap", "coverage_ratio",
    "time_decay", "api_call_efficiency", "tests", "script",
];

pub(super) fn read(
    challenge: &Value,
    picked: &[&str],
    files: Option<FileReader<'_>>,
) -> Result<Evaluator, Problems> {
    let mut problems = Problems::default();
    let evaluator = read_tables(challenge, picked, files, &mut problems);
    evaluator.filter(|_| problems.is_empty()).ok_or(problems)
}

fn read_tables(
    challenge: &Value,
    picked: &[&str],
    files: Option<FileReader<'_>>,
    problems: &mut Problems,
) -> Option<Evaluator> {
    let challenge = Members::of(challenge, "$", problems)?;
    let expected = "for each dimension the fields that score it, such as `[[evaluator.correctness]]`";
    let evaluator = challenge.require("evaluator", expected, problems)?;
    let mut dimensions = Vec::new();
    for (key, parts) in evaluator.members(problems)?.iter() {
        if FROM_TRAJECTORY.contains(&key) {
            parts.refuse("a dimension of the answer", "leave it out: the trajectory scores it", problems);
        } else {
            check_picked(key, &parts, picked, problems);
        }
        let parts = read_parts(&parts, problems);
        dimensions.push(Dimension { key: key.to_owned(), parts });
    }
    if dimensions.is_empty() {
        evaluator.refuse(expected, "leave the table out if no match comes as it was played", problems);
    }
    let parts: usize = dimensions.iter().map(|dimension| dimension.parts.len()).sum();
    if parts > Evaluator::PARTS_MAX {
        let most = format!("at most {} parts, here are {parts}", Evaluator::PARTS_MAX);
        evaluator.refuse(&most, "", problems);
    }
    let format = challenge.get("format").and_then(|format| read_format(&format, picked, problems));
    let judged = files::read(&challenge, &dimensions, files, problems);
    Some(Evaluator { dimensions, format: format.unwrap_or_default(), judged })
}

fn check_picked(key: &str, place: &Member<'_>, picked: &[&str], problems: &mut Problems) {
    if !picked.contains(&key) {
        let expected = format!("a dimension that the challenge picks: {}", picked.join(", "));
        place.refuse(&expected, &did_you_mean(key, picked.iter().copied()), problems);
    }
}

fn read_parts(list: &Member<'_>, problems: &mut Problems) -> Vec<Part> {
    let Some(elements) = list.elements(problems) else { return Vec::new() };
    let parts: Vec<Part> = elements.iter().filter_map(|part| read_part(part, problems)).collect();
    // Where a part was refused, the sum may only follow from that.
    if parts.len() == elements.len() && parts.iter().map(|part| part.weight).sum::<f64>() <= 0.0 {
        list.refuse("parts whose weights sum to more than 0", "", problems);
    }
    parts
}

fn read_part(part: &Member<'_>, problems: &mut Problems) -> Option<Part> {
    let part = part.members(problems)?;
    let weight = part.get("weight");
    let weight =
        weight.map_or(Some(1.0), |weight| weight.number(0.0, 1000.0, "a number from 0 to 1000", problems));
    let primitive = part.require("primitive", "the name of a primitive", problems)?;
    let name = primitive.text(problems)?;
    match name {
        "time_decay" => {
            let needs_score = Options { part: &part }.flag("needs_score", problems);
            part.refuse_unknown(&["primitive", "weight", "needs_score"], problems);
            return Some(Part { test: Test::Time { needs_score }, weight: weight? });
        }
        "api_call_efficiency" => {
            part.refuse_unknown(&["primitive", "weight", "optimal", "max"], problems);
            let [optimal, max] = ["optimal", "max"].map(|name| {
                part.require(name, "a number of calls", problems)?;
                Options { part: &part }.number(name, problems)
            });
            return Some(Part { test: Test::Calls { optimal: optimal?, max: max? }, weight: weight? });
        }
        "tests" | "script" => {
            let file = files::part(&part, name, problems);
            return Some(Part { test: Test::Judged(file?), weight: weight? });
        }
        _ => {}
    }
    let Some((options_known, comparison)) = comparison(&part, name, problems) else {
        let expected = format!("one of {}", PRIMITIVES.join(", "));
        primitive.refuse(&expected, &did_you_mean(name, PRIMITIVES), problems);
        return None;
    };
    let mut known = vec!["primitive", "weight", "field", "truth"];
    known.extend(options_known);
    part.refuse_unknown(&known, problems);
    let field = part.require("field", "the field of the submission", problems);
    let field = field.and_then(|field| read_field(&field, problems));
    let truth = part.get("truth").map_or_else(|| field.clone(), |truth| read_field(&truth, problems));
    Some(Part { test: Test::Fields { comparison, field: field?, truth: truth? }, weight: weight? })
}

/// Reads the options of a primitive that compares a value with another, from the table where they stand. Returns their names
/// as well; none if there is no such primitive.
pub(crate) fn comparison(
    part: &Members<'_>,
    name: &str,
    problems: &mut Problems,
) -> Option<(&'static [&'static str], Comparison)> {
    let options = Options { part };
    let exact = |options: &Options<'_, '_>, problems: &mut Problems| ExactMatch {
        case_sensitive: options.flag("case_sensitive", problems),
        deep: options.flag("deep", problems),
    };
    Some(match name {
        "exact_match" => (&["case_sensitive", "deep"], Comparison::ExactMatch(exact(&options, problems))),
        "exact_match_ratio" => {
            (&["case_sensitive", "deep"], Comparison::ExactMatchRatio(exact(&options, problems)))
        }
        "numeric_tolerance" => {
            let default = NumericTolerance::default();
            let tolerance = options.number("tolerance", problems).unwrap_or(default.tolerance);
            let all_or_nothing = options.flag("all_or_nothing", problems);
            let comparison = Comparison::NumericTolerance(NumericTolerance { tolerance, all_or_nothing });
            (&["tolerance", "all_or_nothing"], comparison)
        }
        "fuzzy_string" => {
            let comparison = Comparison::FuzzyString(FuzzyString {
                case_sensitive: options.flag("case_sensitive", problems),
                normalize_white_space: options.flag("normalize_white_space", problems),
            });
            (&["case_sensitive", "normalize_white_space"], comparison)
        }
        "set_overlap" => {
            let measure = options.measure(problems);
            let ignore_case = options.flag("ignore_case", problems);
            (&["measure", "ignore_case"], Comparison::SetOverlap(SetOverlap { measure, ignore_case }))
        }
        "coverage_ratio" => (&[], Comparison::CoverageRatio),
        _ => return None,
    })
}

fn read_field(member: &Member<'_>, problems: &mut Problems) -> Option<Field> {
    let field = Field::parse(member.text(problems)?);
    if field.is_none() {
        member.refuse("the name of a field, or a JSON Pointer such as `/report/hosts/0`", "", problems);
    }
    field
}

/// The options of a primitive, in the same table as the part.
struct Options<'p, 'a> {
    part: &'p Members<'a>,
}

impl Options<'_, '_> {
    fn flag(&self, name: &str, problems: &mut Problems) -> bool {
        self.part.get(name).and_then(|option| option.flag(problems)).unwrap_or_default()
    }

    fn number(&self, name: &str, problems: &mut Problems) -> Option<f64> {
        self.part.get(name)?.number(0.0, f64::MAX, "a number not below 0", problems)
    }

    fn measure(&self, problems: &mut Problems) -> OverlapMeasure {
        let Some(measure) = self.part.get("measure") else { return OverlapMeasure::default() };
        match measure.value.as_str() {
            Some("jaccard") => OverlapMeasure::Jaccard,
            Some("recall") => OverlapMeasure::Recall,
            _ => {
                measure.refuse("`jaccard` or `recall`", "", problems);
                OverlapMeasure::default()
            }
        }
    }
}

fn read_format(format: &Member<'_>, picked: &[&str], problems: &mut Problems) -> Option<Format> {
    let format = format.members(problems)?;
    format.refuse_unknown(&["required_strings", "flat_answers", "dimensions"], problems);
    let [required_strings, flat_answers] = ["required_strings", "flat_answers"].map(|name| {
        let names = format.get(name).and_then(|names| names.texts(problems));
        names.unwrap_or_default()
    });
    let mut dimensions = BTreeMap::new();
    let table = format.get("dimensions").and_then(|table| table.members(problems));
    for (field, keys) in table.iter().flat_map(Members::iter) {
        let Some(elements) = keys.elements(problems) else { continue };
        let mut meant = BTreeSet::new();
        for element in elements {
            if let Some(key) = element.text(problems) {
                check_picked(key, &element, picked, problems);
                meant.insert(key.to_owned());
            }
        }
        dimensions.insert(field.to_owned(), meant);
    }
    Some(Format { required_strings, flat_answers, dimensions })
}
