//! The model of authority: one function says who may do what, and nothing else checks a key. The table is in
//! `docs/decisions/0024-authority.md`; a test compares it with every operation, and another with a second implementation.

use karat_core::scorecard::Reporter;

use crate::arena;
use crate::keys::{Key, Scope};
use crate::problem::{Code, Problem};

/// Something that a caller wants to do. Where the object is `None`, it is not known yet: then the answer is about the key
/// alone, and the question is asked again once it is known.
#[derive(Debug, Clone, Copy)]
pub enum Act<'a> {
    /// Read everything but keys and reviews; check a scorecard.
    Read,
    /// Hand in cosignatures of a head of the log. Their witnesses vouch for them, and not who brings them.
    Cosign,
    ReadKeys,
    /// Read to whom events of the log were sent.
    ReadDeliveries,
    MakeKey,
    RevokeKey(Option<Revoked>),
    /// Withdraw what a revoked key sent.
    Withdraw,
    PublishCard,
    PublishChallenge,
    RegisterAgent,
    /// Register or revoke the key of a harness.
    ManageHarnesses,
    /// End a match that waits for its verdict.
    VoidMatch,
    Send(Option<Item<'a>>),
    /// Hand in items of evidence that are old on purpose.
    Backfill,
    Correct(&'a Old),
    ProposeWeights,
    /// Decide on a proposal, made by the key with that id.
    DecideWeights(Option<&'a str>),
    /// List the scores that wait for a decision.
    ReadReviews,
    /// Decide on a score, or report another event.
    Review,
    /// Enter a match, or submit the one of that agent.
    Play(Option<&'a str>),
    PostTask,
    /// Register or revoke the key of a recorder.
    ManageRecorders,
    /// Hand in a plan for a task, in the own name.
    HandIn,
    /// Deliver a recording of a plan. Its recorder vouches for it by a signature.
    Deliver,
}

/// A key that is to be revoked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Revoked {
    /// True if it is a key of an administrator, and there is no other.
    pub is_last_admin: bool,
}

/// An item that was scored and may be stored.
#[derive(Debug, Clone, Copy)]
pub struct Item<'a> {
    pub subject: &'a str,
    /// The provenances of the facts that it gives.
    pub stated: Provenances,
    /// True if its id or its scorecard belongs to the arena.
    pub is_of_arena: bool,
    /// True if it is a run for a task of workflows that was posted here.
    pub is_of_task: bool,
    /// The key whose traces its id is kept for, see `trace_keeper`.
    pub keeper: Option<&'a str>,
}

/// A stored item of evidence that is to be corrected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Old {
    /// Its records; if it has none, the evidence.
    pub parts: Vec<OldPart>,
    /// True if its id or a scorecard of its records belongs to the arena.
    pub is_of_arena: bool,
    /// True if it was made by a verdict on a plan.
    pub is_of_task: bool,
    /// True if a scorecard of its records has reviews or certification. A corrected record leaves the past as well, so a new one in its
    /// place would be a first score, which waits for none.
    pub is_reviewed: bool,
}

/// A record of an item, which a correction withdraws.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OldPart {
    /// The id of the key that sent it, if the log says so.
    pub sender: Option<String>,
    /// The provenances of its facts; an outcome is [`Reporter::Unstated`].
    pub stated: Provenances,
}

/// A set of provenances of facts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Provenances(u8);

impl Provenances {
    /// Returns true if `reporter` is among them.
    pub const fn contains(self, reporter: Reporter) -> bool {
        self.0 & 1 << reporter as u8 != 0
    }

    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(crate) fn all(self) -> impl Iterator<Item = Reporter> {
        let all = Reporter::STATED.into_iter().chain([Reporter::Unstated]);
        all.filter(move |reporter| self.contains(*reporter))
    }
}

impl FromIterator<Reporter> for Provenances {
    fn from_iter<I: IntoIterator<Item = Reporter>>(reporters: I) -> Self {
        Self(reporters.into_iter().fold(0, |set, reporter| set | 1 << reporter as u8))
    }
}

/// The reason why something may not be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Denied {
    /// The key may not report some of the facts.
    Facts(Provenances),
    /// Anything else.
    Because(Box<Problem>),
}

impl Act<'_> {
    pub const fn scope(&self) -> Scope {
        match self {
            Self::Read | Self::Cosign => Scope::Read,
            Self::Send(_)
            | Self::Correct(_)
            | Self::ProposeWeights
            | Self::Play(_)
            | Self::HandIn
            | Self::Deliver => Scope::WriteEvidence,
            Self::DecideWeights(_) | Self::ReadReviews | Self::Review => Scope::Review,
            Self::ReadKeys
            | Self::ReadDeliveries
            | Self::MakeKey
            | Self::RevokeKey(_)
            | Self::Withdraw
            | Self::Backfill
            | Self::PublishCard
            | Self::PublishChallenge
            | Self::RegisterAgent
            | Self::ManageHarnesses
            | Self::VoidMatch
            | Self::PostTask
            | Self::ManageRecorders => Scope::Admin,
        }
    }
}

/// Decides whether the holder of `key`, if there is one, may do something. `is_reading_open` is true if reading needs no
/// key.
pub fn decide(key: Option<&Key>, is_reading_open: bool, act: &Act<'_>) -> Result<(), Denied> {
    if is_reading_open && matches!(act, Act::Read | Act::Cosign) {
        return Ok(());
    }
    let scope = act.scope();
    let key = key.ok_or_else(|| keyless(scope))?;
    if !key.allows(scope) {
        return deny(format!("this key lacks the scope `{}`", scope.name()));
    }
    let own = key.subject.as_deref();
    let shown = own.unwrap_or_default().escape_debug();
    match act {
        Act::Send(Some(item)) => send(key, item),
        Act::Correct(old) => correct(key, old),
        Act::ProposeWeights if own.is_some() => {
            deny(format!("this key speaks for `{shown}` only, and weights are for all"))
        }
        Act::DecideWeights(Some(proposer)) if *proposer == key.id => {
            deny("this key made the proposal, expected another key to decide on it")
        }
        Act::Play(_) if own.is_none() => {
            deny("this needs the key of an agent: POST /v1/arena/agents registers one and gives its key")
        }
        Act::Play(Some(other)) if own != Some(*other) => {
            let other = other.escape_debug();
            deny(format!("`{other}` entered this match, but the key is of `{shown}`"))
        }
        Act::HandIn if own.is_none() => deny(
            "this needs the key of a miner, whose `subject` is its name: POST /v1/keys or POST /v1/arena/agents \
             makes one",
        ),
        Act::Deliver if own.is_some() => deny(format!(
            "this key speaks for `{shown}`, and recordings are delivered by those who record: expected a key without a \
             subject"
        )),
        Act::RevokeKey(Some(Revoked { is_last_admin: true })) => Err(Denied::of(Problem::new(
            Code::Conflict,
            "it is the last key of an administrator; create another first",
        ))),
        _ => Ok(()),
    }
}

/// Returns the refusal of a caller without a key, where one with that scope is needed.
pub(crate) fn keyless(scope: Scope) -> Denied {
    let scope = scope.name();
    let detail = format!("this needs a key with the scope `{scope}`: `Authorization: Bearer karat_...`");
    Denied::of(Problem::new(Code::Unauthenticated, detail))
}

fn deny(detail: impl Into<String>) -> Result<(), Denied> {
    Err(Denied::of(Problem::new(Code::Forbidden, detail)))
}

fn deny_at(field: &str, detail: impl Into<String>) -> Result<(), Denied> {
    Err(Denied::of(Problem::new(Code::Forbidden, detail).at(field)))
}

fn send(key: &Key, item: &Item<'_>) -> Result<(), Denied> {
    if let Some(own) = key.subject.as_deref().filter(|own| *own != item.subject) {
        let (own, other) = (own.escape_debug(), item.subject.escape_debug());
        let detail = format!("this key may send evidence of `{own}` only, and this is about `{other}`");
        return deny_at("subject", detail);
    }
    belongs_here(item.is_of_arena, item.is_of_task)?;
    if item.keeper.is_some_and(|keeper| keeper != key.id) {
        return deny_at(
            "id",
            "an id of the form TRACE@KEY is kept for the spans that this key sent: expected another id",
        );
    }
    let foreign: Provenances = item.stated.all().filter(|reporter| !key.may_report(*reporter)).collect();
    if foreign.is_empty() { Ok(()) } else { Err(Denied::Facts(foreign)) }
}

/// Refuses an item that the arena or the workflows of this server make themselves.
fn belongs_here(is_of_arena: bool, is_of_task: bool) -> Result<(), Denied> {
    if is_of_arena {
        return deny(
            "its id or scorecard belongs to the arena, which scores matches itself: enter one with POST \
             /v1/arena/matches, or give the item an id that is not AGENT.CHALLENGE.NUMBER",
        );
    }
    if is_of_task {
        return deny(
            "it is a run for a task that was posted here, or has a name that looks like one; such runs are scored from recordings alone: hand in a \
             plan with POST /v1/workflows/tasks/TASK/plans, or deliver the recording of one",
        );
    }
    Ok(())
}

fn correct(key: &Key, old: &Old) -> Result<(), Denied> {
    belongs_here(old.is_of_arena, old.is_of_task)?;
    if let Some(own) = key.subject.as_ref().filter(|_| old.is_reviewed) {
        let detail = format!(
            "this key speaks for `{}`, and the item was scored under a scorecard with reviews, which a correction \
             passes by: send a new item, or ask for the correction by a key that is of no subject",
            own.escape_debug()
        );
        return deny_at("replaces", detail);
    }
    let is_own = |part: &OldPart| part.sender.as_ref() == Some(&key.id);
    let may_report = |part: &OldPart| part.stated.all().all(|reporter| key.may_report(reporter));
    if old.parts.iter().all(|part| is_own(part) || may_report(part)) {
        return Ok(());
    }
    deny_at(
        "replaces",
        "another key sent this item, and it states more than this key may report: expected the key that \
         sent it, or one that may report all of its facts and, if it has one, its outcome",
    )
}

/// Returns true if evidence of `subject` with that id would stand where a match of the arena stores its own. Ids of
/// matches can be foretold, so this is so before the match, the agent or the challenge is there.
pub(crate) fn is_match_id(subject: &str, id: &str) -> bool {
    let rest = id.strip_prefix(subject).and_then(|rest| rest.strip_prefix('.'));
    let Some((slug, number)) = rest.and_then(|rest| rest.split_once('.')) else { return false };
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    is_number && arena::is_name(slug) && arena::is_name(subject)
}

/// Returns the id under which a trace of a key is stored where another sender has taken its own.
pub(crate) fn kept_id(id: &str, key: &str) -> String {
    format!("{id}@{key}")
}

/// Returns the key for whose traces an id is kept, see [`kept_id`]: nothing else may be there first.
pub(crate) fn trace_keeper(id: &str) -> Option<&str> {
    let (trace, key) = id.strip_prefix("kp:trace:").unwrap_or(id).split_once('@')?;
    let is = |text: &str, length: usize| {
        text.len() == length && text.bytes().all(|it| matches!(it, b'0'..=b'9' | b'a'..=b'f'))
    };
    (is(trace, 32) && is(key, 16)).then_some(key)
}

impl Denied {
    fn of(problem: Problem) -> Self {
        Self::Because(Box::new(problem))
    }
}

impl From<Denied> for Problem {
    fn from(denied: Denied) -> Self {
        match denied {
            Denied::Because(problem) => *problem,
            Denied::Facts(foreign) => {
                let names: Vec<&str> = foreign.all().map(Reporter::name).collect();
                Self::new(Code::Forbidden, format!("this key may not report facts from {}", names.join(", ")))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_matches() {
        for (subject, id, expected) in [
            ("ant", "ant.maze.1", true),
            ("ant", "ant.c-contender.12", true),
            ("ant", "ant.maze.", false),
            ("ant", "ant.maze.1a", false),
            ("ant", "ant.ma.1", false),
            ("ant", "bee.maze.1", false),
            ("ant", "antmaze.1", false),
            ("a b", "a b.maze.1", false),
            ("ant", "ant", false),
        ] {
            assert_eq!(is_match_id(subject, id), expected, "{subject} {id}");
        }
    }

    #[test]
    fn a_set_has_what_it_was_made_of() {
        let all = Reporter::STATED.into_iter().chain([Reporter::Unstated]);
        for reporter in all.clone() {
            let set: Provenances = [reporter].into_iter().collect();
            assert!(all.clone().all(|other| set.contains(other) == (other == reporter)), "{set:?}");
            assert_eq!(set.all().collect::<Vec<_>>(), [reporter]);
        }
        assert!(Provenances::default().is_empty());
    }
}
