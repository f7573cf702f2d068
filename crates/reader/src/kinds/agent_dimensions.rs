//! Behavioural dimensions of an agent: values from 0 to 1, the age of what they rest on, and what does not apply.

use karat_core::facts::{Fact, Usual};

use crate::vocabulary::{FactSpec, FactType};
use karat_core::timestamp::Timestamp;
use karat_evidence::json::check::{AMOUNT, Check, Identity, UNIT, number};
use karat_evidence::json::document::{Node, Value};

/// Declares, for each dimension, its key and the names of its three facts.
macro_rules! dimensions {
    ($($key:literal, $about:literal;)+) => {
        /// The keys of the dimensions, in the order of the trust document.
        const KEYS: [&str; COUNT] = [$($key),+];

        /// The facts: every score, every age, whether each applies, whether an incident is open.
        const SPECS: &[FactSpec] = &[
            $(FactSpec { name: $key, fact_type: FactType::Number, unit: "1", about: $about },)+
            $(FactSpec {
                name: concat!($key, "_age_seconds"),
                fact_type: FactType::Number,
                unit: "s",
                about: concat!("age of the evidence for ", $key),
            },)+
            $(FactSpec {
                name: concat!($key, "_applies"),
                fact_type: FactType::Boolean,
                unit: "1",
                about: concat!("whether ", $key, " applies to the agent"),
            },)+
            FactSpec {
                name: "critical_incident_open",
                fact_type: FactType::Boolean,
                unit: "1",
                about: "whether a critical incident is open",
            },
        ];
    };
}

const COUNT: usize = 16;

dimensions! {
    "accuracy", "output correctness relative to ground truth";
    "reliability", "consistency across equivalent inputs";
    "safety", "absence of harmful outputs and prohibited actions";
    "selfAudit", "quality of self-monitoring and uncertainty calibration";
    "security", "resistance to adversarial inputs and scope violations";
    "latency", "response time relative to a baseline for the task";
    "bond", "economic commitment by staked collateral";
    "scopeHonesty", "accuracy of the capabilities the agent claims";
    "memoryQuality", "quality and coherence of persistent memory";
    "costEfficiency", "cost relative to the value of the task";
    "evalRigor", "coverage and diversity of the evaluations";
    "teamwork", "quality of collaboration between agents";
    "modelCompliance", "adherence to the model provider's policies";
    "runtimeCompliance", "adherence to the constraints of the runtime";
    "harnessStability", "consistency under test-harness conditions";
    "skillMastery", "proficiency in the declared skills";
}

/// The dimension that is null for agents without a history of it: then it does not apply, and costs no coverage (trust document,
/// "The teamwork opt-in"). Of any other, null says that it was not measured.
const OPT_IN: &str = "teamwork";

/// Returns the value of a flag that an item does not give.
pub(crate) fn usual(fact: &str) -> Option<Usual> {
    match fact.strip_suffix("_applies") {
        Some(OPT_IN) => Some(Usual::WhereGiven(OPT_IN)),
        Some(_) => Some(Usual::Flag(true)),
        None => (fact == "critical_incident_open").then_some(Usual::Flag(false)),
    }
}

/// Dimensions that an item gives.
pub(crate) struct Dimensions {
    scores: [Option<f64>; COUNT],
    ages: [Option<f64>; COUNT],
    applies: [bool; COUNT],
    critical_incident_open: bool,
}

impl Dimensions {
    pub(crate) const SPECS: &'static [FactSpec] = SPECS;

    /// Adds the facts at these places of the vocabulary.
    pub(crate) fn pick(&self, slots: &[usize], into: &mut Vec<Fact<'_>>) {
        into.extend(slots.iter().map(|&slot| {
            let at = slot % COUNT;
            match slot / COUNT {
                0 => number(self.scores.get(at).copied().flatten()),
                1 => number(self.ages.get(at).copied().flatten()),
                2 => self.applies.get(at).copied().map_or(Fact::Missing, Fact::Flag),
                _ => Fact::Flag(self.critical_incident_open),
            }
        }));
    }
}

pub(crate) fn read<'a>(root: Node<'a>, check: &mut Check<'_>) -> (Dimensions, Identity<'a>) {
    let mut read = Dimensions {
        scores: [None; COUNT],
        ages: [None; COUNT],
        applies: [true; COUNT],
        critical_incident_open: false,
    };
    let [mut agent, mut subject, mut id] = [None; 3];
    let [mut dimensions, mut not_applicable] = [None; 2];
    let mut time = None;
    for member in check.members(root).filter(|member| !member.is_null()) {
        match member.key() {
            "agent_id" => agent = check.name(member),
            "subject" => subject = check.name(member),
            "id" => id = check.name(member),
            "time" => time = check.timestamp(member, Timestamp::parse),
            "dimensions" => dimensions = Some(member),
            "not_applicable" => not_applicable = Some(member),
            "critical_incident_open" => read.critical_incident_open = check.flag(member).unwrap_or_default(),
            _ => check.unknown("$", member),
        }
    }
    if let Some(dimensions) = check.required(root, "dimensions", dimensions, "an object of dimensions") {
        for member in check.members(dimensions) {
            if let Some(at) = position(member, member.key(), check) {
                read_dimension(member, at, check, &mut read);
            }
        }
    }
    if let Some(not_applicable) = not_applicable {
        for element in check.elements(not_applicable) {
            let at = check.text(element).and_then(|key| position(element, key, check));
            let Some(at) = at else { continue };
            if let Some(applies) = read.applies.get_mut(at) {
                *applies = false;
            }
            if read.scores.get(at).is_some_and(Option::is_some) {
                let expected = "either a score or not applicable";
                check.refuse_as(element, "a dimension that has a score", expected, "remove one of them");
            }
        }
    }
    (read, Identity { subject: agent.or(subject), id, time, ..Identity::default() })
}

/// Returns the place of a dimension among the keys.
fn position(node: Node<'_>, key: &str, check: &mut Check<'_>) -> Option<usize> {
    let at = KEYS.iter().position(|known| *known == key);
    if at.is_none() {
        check.refuse_name(node, key, "one of the sixteen dimensions", || KEYS);
    }
    at
}

fn read_dimension(node: Node<'_>, at: usize, check: &mut Check<'_>, into: &mut Dimensions) {
    const RULE: &str = "a number from 0 to 1, `null` or \"not-applicable\"";
    let mut score = None;
    let mut age = None;
    match node.value() {
        Value::Null => {}
        Value::Number(_) => score = check.number(node, UNIT),
        Value::Text("not-applicable") => {
            if let Some(applies) = into.applies.get_mut(at) {
                *applies = false;
            }
        }
        Value::Object => {
            let has_score = node.children().any(|member| member.key() == "score");
            if !has_score {
                check.absent(node, "score", "a number from 0 to 1, or `null` where it was not measured");
            }
            let given = check.fields(node, "$.dimensions[*]", ["score", "age_seconds"]);
            score = given[0].and_then(|node| check.number(node, UNIT));
            age = given[1].and_then(|node| check.number(node, AMOUNT));
        }
        _ => check.refuse(node, RULE, ""),
    }
    let is_null = node.value() == Value::Null
        || node.children().any(|member| member.key() == "score" && member.is_null());
    if is_null
        && KEYS.get(at) == Some(&OPT_IN)
        && let Some(applies) = into.applies.get_mut(at)
    {
        *applies = false;
    }
    if let (Some(known_score), Some(known_age)) = (into.scores.get_mut(at), into.ages.get_mut(at)) {
        *known_score = score;
        *known_age = age;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_vocabulary_is_laid_out_as_pick_reads_it() {
        assert_eq!(SPECS.len(), 3 * COUNT + 1);
        for (at, key) in KEYS.iter().enumerate() {
            assert_eq!(SPECS[at].name, *key);
            assert_eq!(SPECS[COUNT + at].name, format!("{key}_age_seconds"));
            assert_eq!(SPECS[2 * COUNT + at].name, format!("{key}_applies"));
        }
    }
}
