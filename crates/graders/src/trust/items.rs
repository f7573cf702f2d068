//! Checks as they count: with the moment, the weight and the result of each.

use std::collections::{BTreeMap, BTreeSet};

use karat_core::timestamp::Timestamp;
use serde_json::{Value, json};

use super::evidence::{
    AgentEvidence, Category, Check, Declaration, Difficulty, Evaluation, Independence, Method, Runtime,
    Severity,
};
use super::jury::{self, Outcome, Panel};
use super::options::Options;

/// One check that was not quarantined.
#[derive(Debug)]
pub(super) struct Item<'a> {
    pub check: &'a Check,
    pub evaluation: &'a Evaluation,
    pub time: Timestamp,
    /// Severity x difficulty x method x independence, and the jury's part. 0 does not count.
    pub weight: f64,
    /// Quality, 0 to 1; none if it was not decided.
    pub score: Option<f64>,
    /// True if it was good enough.
    pub success: Option<bool>,
    /// Members in which an observed configuration differs from the declared one.
    pub differs: Vec<&'static str>,
}

impl<'a> Item<'a> {
    /// Returns whether it has a result and a weight.
    pub(super) fn counts(&self) -> bool {
        self.weight > 0.0 && self.success.is_some()
    }

    pub(super) fn family(&self) -> &'a str {
        self.check.task_family.as_deref().unwrap_or(&self.check.task)
    }

    pub(super) fn class(&self) -> &'a str {
        self.check.class.as_deref().unwrap_or_default()
    }

    /// Returns 1 for a success, else 0.
    pub(super) fn passed(&self) -> f64 {
        f64::from(u8::from(self.success == Some(true)))
    }

    /// Returns the key that distinguishes its input from others.
    pub(super) fn input(&self) -> &'a str {
        self.check.input_digest.as_deref().unwrap_or(&self.check.task)
    }
}

/// The evidence of an agent at a moment: every item once, newest first, what is from the future set aside.
pub(super) struct Agent<'a> {
    pub evidence: &'a AgentEvidence,
    pub options: &'a Options,
    /// Oldest first.
    pub declarations: Vec<&'a Declaration>,
    /// Newest first; equal moments by id.
    pub evaluations: Vec<&'a Evaluation>,
    /// Newest first; equal moments by id.
    pub items: Vec<Item<'a>>,
    pub panels: BTreeMap<&'a str, Panel>,
    /// Items later than the verdict, by kind and id.
    pub quarantined: BTreeSet<(&'static str, &'a str)>,
}

impl<'a> Agent<'a> {
    /// Takes evidence that was checked.
    pub(super) fn new(evidence: &'a AgentEvidence, options: &'a Options) -> Self {
        let mut agent = Self {
            evidence,
            options,
            declarations: Vec::new(),
            evaluations: Vec::new(),
            items: Vec::new(),
            panels: BTreeMap::new(),
            quarantined: BTreeSet::new(),
        };
        agent.declarations =
            agent.present("declaration", &evidence.declarations, |it| (it.time, it.id.as_str()));
        agent.declarations.reverse();
        agent.evaluations =
            agent.present("evaluation", &evidence.evaluations, |it| (it.time, it.id.as_str()));
        let rows: BTreeMap<&str, _> = evidence.verdicts.iter().map(|row| (row.id.as_str(), row)).collect();
        let rows = jury::panels(rows.into_values().map(|row| (row.check.as_str(), &row.verdict)));
        for evaluation in agent.evaluations.clone() {
            let checks: BTreeMap<&str, &Check> =
                evaluation.checks.iter().map(|check| (check.id.as_str(), check)).collect();
            for check in checks.into_values() {
                let time = check.time.unwrap_or(evaluation.time);
                if agent.is_future(time) {
                    agent.quarantined.insert(("check", &check.id));
                    continue;
                }
                let declaration = agent.declared_at(time);
                if check.method == Method::Jury {
                    let verdicts = rows.get(check.id.as_str()).map(Vec::as_slice).unwrap_or_default();
                    let own_provider = declaration.and_then(|it| it.model_provider.as_deref());
                    agent.panels.insert(&check.id, jury::aggregate(verdicts, own_provider, &options.jury));
                }
                let panel = agent.panels.get(check.id.as_str());
                let item = item(check, evaluation, time, panel, declaration, options);
                agent.items.push(item);
            }
        }
        agent.items.sort_by(|a, b| b.time.cmp(&a.time).then_with(|| a.check.id.cmp(&b.check.id)));
        agent
    }

    fn is_future(&self, time: Timestamp) -> bool {
        time.seconds_since(self.options.as_of) > self.options.skew_seconds
    }

    /// Returns the items that are not from the future, each once, newest first, equal moments by id.
    pub(super) fn present<T>(
        &mut self,
        kind: &'static str,
        list: &'a [T],
        key: fn(&'a T) -> (Timestamp, &'a str),
    ) -> Vec<&'a T> {
        let known: BTreeMap<&str, &'a T> = list.iter().map(|item| (key(item).1, item)).collect();
        let (future, mut present): (Vec<&T>, Vec<&T>) =
            known.into_values().partition(|item| self.is_future(key(item).0));
        self.quarantined.extend(future.into_iter().map(|item| (kind, key(item).1)));
        // Stable: equal moments stay in the order of their ids.
        present.sort_by_key(|item| std::cmp::Reverse(key(item).0));
        present
    }

    /// Returns what the agent declared last, at a moment.
    fn declared_at(&self, time: Timestamp) -> Option<&'a Declaration> {
        let later = self.declarations.partition_point(|declaration| declaration.time <= time);
        self.declarations.get(later.checked_sub(1)?).copied()
    }

    /// Returns the checks of a category that count, newest first.
    pub(super) fn counting(&self, category: Category) -> Vec<&Item<'a>> {
        self.items.iter().filter(|item| item.check.category == category && item.counts()).collect()
    }

    /// Returns the age of a timestamp, not below 0.
    pub(super) fn age_seconds(&self, time: Timestamp) -> f64 {
        self.options.as_of.seconds_since(time).max(0.0)
    }

    /// Returns whether a moment lies in the last `seconds`.
    pub(super) fn is_within(&self, time: Timestamp, seconds: f64) -> bool {
        self.age_seconds(time) <= seconds
    }

    /// Returns what was set aside or marked: `quarantined` (`{kind, id}`), `withdrawn` (ids of evaluations), `panels`
    /// by check.
    pub(super) fn detail(&self) -> (Value, Value, Value) {
        let quarantined = self.quarantined.iter().map(|(kind, id)| json!({ "kind": kind, "id": id }));
        let withdrawn = self.evaluations.iter().filter(|it| it.withdrawn).map(|it| it.id.as_str());
        let panels = self.panels.iter().map(|(check, panel)| ((*check).to_owned(), panel.detail()));
        (quarantined.collect(), withdrawn.collect(), Value::Object(panels.collect()))
    }
}

fn item<'a>(
    check: &'a Check,
    evaluation: &'a Evaluation,
    time: Timestamp,
    panel: Option<&Panel>,
    declaration: Option<&Declaration>,
    options: &Options,
) -> Item<'a> {
    let (mut score, mut success, mut differs) = (check.score, check.passed, Vec::new());
    if let Some(passed) = check.passed {
        score = Some(f64::from(u8::from(passed)));
    } else if let Some(given) = check.score {
        success = Some(given >= options.pass_score);
    } else if let Some(observed) = &check.observed {
        let compared = declaration.and_then(|declaration| differences(&declaration.runtime, observed));
        success = compared.as_ref().map(Vec::is_empty);
        score = success.map(|is_same| f64::from(u8::from(is_same)));
        differs = compared.unwrap_or_default();
    } else if let Some(panel) = panel {
        score = panel.score();
        success = panel.outcome.map(|outcome| outcome == Outcome::Pass);
    }
    if !check.completed {
        (score, success) = (Some(0.0), Some(false));
    }
    // Without an output there is nothing to judge, and nothing that the lack of a quorum could take away.
    let jury = panel.filter(|_| check.completed).map_or(1.0, Panel::weight);
    let weight = weight(check, evaluation) * jury;
    Item { check, evaluation, time, weight, score, success, differs }
}

/// Returns the weight of a check, the jury's part aside.
fn weight(check: &Check, evaluation: &Evaluation) -> f64 {
    let severity = match check.severity {
        Severity::Critical => 5.0,
        Severity::Major => 3.0,
        Severity::Minor => 1.0,
        Severity::Info => 0.0,
    };
    let difficulty = match check.difficulty {
        Difficulty::Easy => 0.5,
        Difficulty::Normal => 1.0,
        Difficulty::Hard => 1.5,
    };
    let method = match check.method {
        Method::Deterministic | Method::Metric | Method::Jury => 1.0,
        Method::Heuristic => 0.5,
    };
    let independence = match evaluation.runner.independence {
        Independence::ThirdParty => 1.0,
        Independence::Operator => 0.7,
        Independence::Oneself => 0.4,
    };
    severity * difficulty * method * independence
}

/// Returns the differences of an observed configuration from a declared one: another model, prompt or schema, a tool or
/// permission that is not declared, more requests than declared. None if they have nothing that can be compared.
fn differences(declared: &Runtime, observed: &Runtime) -> Option<Vec<&'static str>> {
    let text =
        |declared: &Option<String>, observed: &Option<String>| Some(declared.as_ref()? == observed.as_ref()?);
    let list = |declared: &Option<Vec<String>>, observed: &Option<Vec<String>>| {
        let allowed: BTreeSet<&str> = declared.as_ref()?.iter().map(String::as_str).collect();
        Some(observed.as_ref()?.iter().all(|one| allowed.contains(one.as_str())))
    };
    let rate = || Some(observed.requests_per_minute? <= declared.requests_per_minute?);
    let compared = [
        ("model", text(&declared.model, &observed.model)),
        ("prompt_version", text(&declared.prompt_version, &observed.prompt_version)),
        ("schema_digest", text(&declared.schema_digest, &observed.schema_digest)),
        ("tools", list(&declared.tools, &observed.tools)),
        ("permissions", list(&declared.permissions, &observed.permissions)),
        ("requests_per_minute", rate()),
    ];
    let compared: Vec<_> = compared.into_iter().filter_map(|(name, same)| Some((name, same?))).collect();
    if compared.is_empty() {
        return None;
    }
    Some(compared.into_iter().filter(|(_, same)| !same).map(|(name, _)| name).collect())
}
