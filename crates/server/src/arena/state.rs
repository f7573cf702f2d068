//! The arena in memory, computed from the items of the log in their order.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

use karat_core::timestamp::Timestamp;

use super::permits::Permits;
use super::{Agent, Career, Challenge, Content, Match, State};

/// The arena of a server.
#[derive(Debug, Default)]
pub struct Arena {
    state: RwLock<ArenaState>,
    pub(crate) permits: Permits,
}

/// Challenges, agents and matches as they are now.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct ArenaState {
    challenges: BTreeMap<String, Arc<Challenge>>,
    /// The scorecards of the challenges.
    cards: BTreeSet<String>,
    agents: BTreeMap<String, AgentState>,
    /// In the order of entry.
    matches: Vec<Arc<Match>>,
    places: BTreeMap<String, usize>,
    /// The matches that may be submitted: the time of expiry in milliseconds, and the agent. No agent has two.
    open: BTreeSet<(i64, String)>,
}

/// The current state of an agent.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentState {
    /// The agent as registered.
    pub agent: Agent,
    /// The results so far.
    pub career: Career,
    /// The titles that it has, the highest first.
    pub titles: Vec<String>,
    /// The rating after each match, in the order in which they ended.
    pub history: Vec<Point>,
    /// The number of entries in each challenge.
    pub attempts: BTreeMap<String, u64>,
    /// The match that it may submit, if any.
    pub open_match: Option<String>,
}

/// A rating at one moment.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, utoipa::ToSchema)]
#[schema(as = RatingPoint)]
pub struct Point {
    /// The time at which the match ended.
    pub at: String,
    /// The match.
    pub match_id: String,
    /// The rating after it.
    pub rating_points: i64,
}

impl Arena {
    /// Returns the current state of the arena.
    pub fn state(&self) -> RwLockReadGuard<'_, ArenaState> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Applies an item of the log.
    pub(crate) fn apply(&self, content: Content) {
        self.state.write().unwrap_or_else(PoisonError::into_inner).apply(content);
    }
}

impl ArenaState {
    /// Returns the challenge with that name.
    #[must_use]
    pub fn challenge(&self, slug: &str) -> Option<Arc<Challenge>> {
        self.challenges.get(slug).map(Arc::clone)
    }

    /// Returns true if a challenge is scored by that scorecard, `id@version`.
    #[must_use]
    pub fn has_card(&self, name: &str) -> bool {
        self.cards.contains(name)
    }

    /// Returns all challenges, by name.
    pub fn challenges(&self) -> impl Iterator<Item = &Arc<Challenge>> {
        self.challenges.values()
    }

    /// Returns the agent with that name.
    #[must_use]
    pub fn agent(&self, name: &str) -> Option<&AgentState> {
        self.agents.get(name)
    }

    /// Returns all agents, by name.
    pub fn agents(&self) -> impl Iterator<Item = &AgentState> {
        self.agents.values()
    }

    /// Returns the match with that id.
    #[must_use]
    pub fn game(&self, id: &str) -> Option<Arc<Match>> {
        self.places.get(id).and_then(|place| self.matches.get(*place)).map(Arc::clone)
    }

    /// Returns all matches, the last entered first.
    pub fn matches(&self) -> impl Iterator<Item = &Arc<Match>> {
        self.matches.iter().rev()
    }

    /// Returns the agents with a match that expired before `now_milliseconds`.
    #[must_use]
    pub fn overdue(&self, now_milliseconds: i64) -> Vec<String> {
        let end = (now_milliseconds, String::new());
        self.open.range(..end).map(|(_, agent)| agent.clone()).collect()
    }

    fn apply(&mut self, content: Content) {
        match content {
            Content::Challenge(challenge) => {
                self.cards.insert(challenge.card.clone());
                self.challenges.insert(challenge.slug.clone(), Arc::new(challenge));
            }
            Content::Agent(agent) => {
                let state = AgentState {
                    career: Career::default(),
                    titles: Vec::new(),
                    history: Vec::new(),
                    attempts: BTreeMap::new(),
                    open_match: None,
                    agent,
                };
                self.agents.insert(state.agent.agent_id.clone(), state);
            }
            Content::Match(game) => self.follow(*game),
        }
    }

    /// Adds a match, or moves it to its next state.
    fn follow(&mut self, game: Match) {
        let Some(agent) = self.agents.get_mut(&game.agent_id) else { return };
        let due = Timestamp::parse(&game.expires_at).map_or(i64::MAX, |moment| moment.milliseconds);
        let due = (due, game.agent_id.clone());
        match &game.state {
            State::Entered => {
                agent.attempts.insert(game.challenge.clone(), game.attempt_number);
                agent.open_match = Some(game.match_id.clone());
                self.open.insert(due);
                self.places.insert(game.match_id.clone(), self.matches.len());
                self.matches.push(Arc::new(game));
                return;
            }
            // The submission stays in the log: it is scored in the same batch.
            State::Submitted(_) => return,
            State::Scored(_) | State::Expired(_) => {}
        }
        self.open.remove(&due);
        agent.open_match = None;
        if let Some(settled) = game.settled() {
            agent.career = settled.career.clone();
            agent.titles.clone_from(&settled.titles);
            let at = match &game.state {
                State::Scored(scored) => scored.submitted_at.clone(),
                _ => game.expires_at.clone(),
            };
            let rating_points = settled.career.rating_points;
            agent.history.push(Point { at, match_id: game.match_id.clone(), rating_points });
        }
        if let Some(old) = self.places.get(&game.match_id).and_then(|place| self.matches.get_mut(*place)) {
            *old = Arc::new(game);
        }
    }
}
