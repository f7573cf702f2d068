//! Logs that are read together: settings that differ are in the name of the subject, of tries at one task each sample counts once,
//! and what else is pooled is said.

use std::collections::{BTreeMap, BTreeSet};

use karat_core::timestamp::Timestamp;

use super::{Importer, Input, inspect};

/// The logs of Inspect and lm-eval among files that are read together.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Retries {
    logs: BTreeMap<String, Head>,
    /// The tries at each sample of a task that several logs are of, by the id of the task and the sample.
    tries: BTreeMap<(String, String), BTreeSet<Try>>,
}

/// The head of a log, before its samples.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Head {
    pub model: String,
    pub task: String,
    /// The id that a task and all tries at it have, in a log of Inspect.
    pub id: Option<String>,
    pub created: Timestamp,
    /// The settings of the evaluation, by name.
    pub settings: BTreeMap<String, String>,
}

/// A try at a sample: whether it was finished, when, and in which log.
type Try = (bool, Timestamp, String);

impl Retries {
    /// Looks at the logs among files that are read together. What cannot be read is reported when it is imported.
    pub fn new(logs: &[(Input, &'static Importer)]) -> Self {
        let heads = logs.iter().filter_map(|(log, of)| Some((log.name().to_owned(), (of.head)(log).ok()??)));
        let mut retries = Self { logs: heads.collect(), ..Self::default() };
        for (input, _) in logs {
            let Some(own) = retries.logs.get(input.name()) else { continue };
            let Some(id) = &own.id else { continue };
            if retries.logs.values().filter(|log| log.id.as_ref() == Some(id)).count() < 2 {
                continue;
            }
            let (id, created) = (id.clone(), own.created);
            let _ = inspect::tries(input, &mut |sample, is_finished| {
                let found = (is_finished, created, input.name().to_owned());
                retries.tries.entry((id.clone(), sample)).or_default().insert(found);
            });
        }
        retries
    }

    /// Returns the log that has a later try at a sample than `log`: the newest that was finished, if any was. Of two of the same
    /// moment neither is later.
    pub(super) fn later(&self, log: &str, sample: &str, is_finished: bool) -> Option<&str> {
        let own = self.logs.get(log)?;
        let tries = self.tries.get(&(own.id.clone()?, sample.to_owned()))?;
        let (finished, moment, name) = tries.last()?;
        ((*finished, *moment) > (is_finished, own.created)).then_some(name)
    }

    /// Returns the subject of a log: its model, with the settings in which it differs from other logs of the same model and task.
    pub(super) fn subject(&self, log: &str) -> Option<String> {
        let own = self.logs.get(log)?;
        let others = || self.logs.values().filter(|it| (&it.model, &it.task) == (&own.model, &own.task));
        let differs = |name: &String| others().any(|it| it.settings.get(name) != own.settings.get(name));
        let settings = own.settings.iter().filter(|(name, _)| differs(name));
        let settings: Vec<String> = settings.map(|(name, value)| format!("{name}={value}")).collect();
        Some(if settings.is_empty() {
            own.model.clone()
        } else {
            format!("{} ({})", own.model, settings.join(", "))
        })
    }

    /// Says that a log is one of several evaluations that are counted together.
    pub(super) fn pooled(&self, log: &str) -> Option<String> {
        let own = self.logs.get(log)?;
        let subject = self.subject(log);
        let same = self.logs.iter().filter(|(name, it)| it.task == own.task && self.subject(name) == subject);
        let (mut tasks, mut names) = (BTreeSet::new(), Vec::new());
        for (name, it) in same {
            if tasks.insert(it.id.as_ref().unwrap_or(name)) {
                names.push(format!("`{name}`"));
            }
        }
        let [first, others @ .., last] = names.as_slice() else { return None };
        let more = if others.is_empty() { String::new() } else { format!(", {} more", others.len()) };
        Some(format!(
            "{first}{more} and {last} are separate evaluations of `{}` by `{}`, which count together as more attempts: to \
             compare them, give them as the two sides of `karat compare`, or import each with --subject NAME",
            own.task,
            subject.unwrap_or_default()
        ))
    }
}
