//! The arena in memory, computed from the items of the log in their order.

use karat_stats::rating::Outcome;

use super::{
    Agent, Career, Challenge, Content, Draw, Match, Permits, Skill, Skills, State, StoredAgent, StoredMatch,
    Submitted,
};
use crate::basics::*;
use crate::shared::{Grown, Segments, Shared};
use crate::signers::Harness;

#[derive(Debug, Default)]
pub struct Arena {
    state: Shared<ArenaState>,
    pub(crate) permits: Permits,
    /// Permits to use up instances of a challenge, taken after the permit of the agent.
    pub(crate) entries: Permits,
    /// One change of the harnesses at a time.
    pub(crate) signers: tokio::sync::RwLock<()>,
}

/// Challenges, agents and matches as they are now.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct ArenaState {
    challenges: BTreeMap<String, Arc<Challenge>>,
    cards: BTreeSet<String>,
    agents: BTreeMap<Arc<str>, Arc<AgentState>>,
    harnesses: BTreeMap<String, Arc<Harness>>,
    skills: Skills,
    /// The instances of each challenge that some agent has played.
    used: BTreeMap<String, Arc<BTreeSet<u32>>>,
    matches: Segments<Arc<Match>>,
    /// The place of the match of each change, in the order of the log.
    changes: Segments<usize>,
    places: Grown<usize>,
    /// The matches that may be submitted: the time of expiry in milliseconds, and the agent. No agent has two.
    open: BTreeSet<(i64, String)>,
    /// The ids of the matches whose answers wait for a verdict.
    waiting: BTreeSet<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct AgentState {
    pub agent: Agent,
    /// The results so far.
    pub career: Career,
    pub titles: Vec<String>,
    /// The rating after each match, in the order in which they ended.
    pub history: Vec<Point>,
    /// The number of entries in each challenge.
    pub attempts: BTreeMap<String, u64>,
    /// The instances of each challenge that it has played, expired and open matches included.
    pub used: BTreeMap<String, Arc<BTreeSet<u32>>>,
    pub open_match: Option<String>,
    pub(crate) open_draw: Option<Draw>,
    /// The draw for its next match.
    pub(crate) next_draw: Option<Draw>,
}

impl AgentState {
    /// Returns the commitment to the draw for its next match. It is missing while a match is open, and before the first match of
    /// an agent that was registered before there were any.
    pub(crate) fn next_commitment(&self) -> Option<String> {
        self.next_draw.map(|draw| draw.commitment(&self.agent.agent_id))
    }
}

/// A rating at one moment.
#[derive(Debug, Clone, PartialEq, serde::Serialize, utoipa::ToSchema)]
#[schema(as = RatingPoint)]
pub struct Point {
    /// The time at which the match ended.
    pub at: String,
    /// The match.
    pub match_id: String,
    /// The rating after it.
    pub rating_points: i64,
    /// The skill after it.
    pub skill_points: f64,
    /// Its standard deviation then.
    pub skill_deviation_points: f64,
}

impl Arena {
    pub fn state(&self) -> Arc<ArenaState> {
        self.state.now()
    }

    /// Applies an item of the log.
    pub(crate) fn apply(&self, content: Content) {
        self.state.change(|state| state.apply(content));
    }
}

impl ArenaState {
    pub fn challenge(&self, slug: &str) -> Option<Arc<Challenge>> {
        self.challenges.get(slug).map(Arc::clone)
    }

    /// Returns true if a challenge is scored by that scorecard, `id@version`.
    pub(crate) fn has_card(&self, name: &str) -> bool {
        self.cards.contains(name)
    }

    pub(crate) fn challenges(&self) -> impl Iterator<Item = &Arc<Challenge>> {
        self.challenges.values()
    }

    pub fn agent(&self, name: &str) -> Option<&AgentState> {
        self.agents.get(name).map(|agent| &**agent)
    }

    pub fn agents(&self) -> impl Iterator<Item = &AgentState> {
        self.agents.values().map(|agent| &**agent)
    }

    pub fn skill(&self, agent: &str) -> Skill {
        self.skills.of(agent)
    }

    pub(crate) fn harness(&self, id: &str) -> Option<&Harness> {
        self.harnesses.get(id).map(|it| &**it)
    }

    pub(crate) fn signers(&self) -> impl Iterator<Item = &Arc<Harness>> {
        self.harnesses.values()
    }

    /// Returns the instances of a challenge, from 1, that the next match of an agent may be played at.
    pub(crate) fn unused(&self, challenge: &Challenge, agent: &AgentState) -> Vec<u32> {
        let used = if challenge.single_use { &self.used } else { &agent.used };
        let used = used.get(&challenge.slug);
        (1..=challenge.count()).filter(|it| used.is_none_or(|used| !used.contains(it))).collect()
    }

    pub fn game(&self, id: &str) -> Option<Arc<Match>> {
        self.matches.get(self.places.get(id)?).map(Arc::clone)
    }

    /// Returns all matches, the last entered first.
    pub fn matches(&self) -> impl Iterator<Item = &Arc<Match>> {
        self.matches.iter().rev()
    }

    /// Returns the number of changes of matches so far.
    pub(crate) fn change_count(&self) -> usize {
        self.changes.len()
    }

    /// Returns the match of each change from number `next` on, each as it is now.
    pub(crate) fn changed(&self, next: usize) -> impl Iterator<Item = (usize, &Arc<Match>)> {
        let places = self.changes.range(next..self.changes.len());
        (next..).zip(places).filter_map(|(number, place)| Some((number, self.matches.get(*place)?)))
    }

    /// Returns the agents with a match that expired before `now_milliseconds`.
    pub(crate) fn overdue(&self, now_milliseconds: i64) -> Vec<String> {
        let end = (now_milliseconds, String::new());
        self.open.range(..end).map(|(_, agent)| agent.clone()).collect()
    }

    /// Returns the ids of the matches whose answers wait for a verdict.
    pub fn waiting(&self) -> impl Iterator<Item = &str> {
        self.waiting.iter().map(String::as_str)
    }

    pub(crate) fn is_waiting(&self, id: &str) -> bool {
        self.waiting.contains(id)
    }

    fn apply(&mut self, content: Content) {
        match content {
            Content::Challenge(challenge) => {
                self.cards.insert(challenge.card.clone());
                self.challenges.insert(challenge.slug.clone(), Arc::new(challenge));
            }
            Content::Agent(StoredAgent { agent, next_draw }) => {
                let state = AgentState {
                    career: Career::default(),
                    titles: Vec::new(),
                    history: Vec::new(),
                    attempts: BTreeMap::new(),
                    used: BTreeMap::new(),
                    open_match: None,
                    open_draw: None,
                    next_draw,
                    agent,
                };
                self.agents.insert(state.agent.agent_id.as_str().into(), Arc::new(state));
            }
            Content::Harness(harness) => {
                self.harnesses.insert(harness.harness_id.clone(), Arc::new(harness));
            }
            Content::Match(stored) => self.follow(*stored),
        }
    }

    /// Adds a match, or moves it to its next state.
    fn follow(&mut self, stored: StoredMatch) {
        let StoredMatch { game, open_draw, next_draw } = stored;
        let Some(agent) = self.agents.get_mut(game.agent_id.as_str()).map(Arc::make_mut) else { return };
        let due = Timestamp::parse(&game.expires_at).map_or(i64::MAX, |moment| moment.milliseconds);
        let due = (due, game.agent_id.clone());
        match &game.state {
            State::Entered => {
                agent.attempts.insert(game.challenge.clone(), game.attempt_number);
                agent.open_match = Some(game.match_id.clone());
                (agent.open_draw, agent.next_draw) = (open_draw, None);
                let count = self.challenges.get(&game.challenge).map_or(0, |it| it.count());
                if let Some(instance) = game.instance(count) {
                    for used in [&mut agent.used, &mut self.used] {
                        Arc::make_mut(used.entry(game.challenge.clone()).or_default()).insert(instance);
                    }
                }
                self.open.insert(due);
                self.places.insert(game.match_id.as_str(), self.matches.len());
                self.changes.push(self.matches.len());
                self.matches.push(Arc::new(game));
                return;
            }
            // The answer came in time, so the match does not expire, however long its verdict takes. Mostly it is scored in the
            // same batch. What was sent stays in the log.
            State::Submitted(submitted) => {
                let submitted_at = submitted.submitted_at.clone();
                let shown = Submitted { submitted_at, ..Submitted::default() };
                self.open.remove(&due);
                self.waiting.insert(game.match_id.clone());
                let game = game.in_state(State::Submitted(shown));
                self.replace(game);
                return;
            }
            State::Scored(_) | State::Expired(_) | State::Void(_) => {}
        }
        self.open.remove(&due);
        self.waiting.remove(&game.match_id);
        (agent.open_match, agent.open_draw, agent.next_draw) = (None, None, next_draw);
        if let Some(settled) = game.settled() {
            agent.career = settled.career.clone();
            agent.titles.clone_from(&settled.titles);
            let at = match &game.state {
                State::Scored(scored) => scored.submitted_at.clone(),
                _ => game.expires_at.clone(),
            };
            let outcome = match &game.state {
                State::Scored(scored) => scored.result.parse().unwrap_or(Outcome::Draw),
                _ => Outcome::Draw,
            };
            let ended = Timestamp::parse(&at).ok();
            let skill = self.skills.add(&game.agent_id, &game.challenge, settled, outcome, ended);
            agent.history.push(Point {
                at,
                match_id: game.match_id.clone(),
                rating_points: settled.career.rating_points,
                skill_points: skill.points,
                skill_deviation_points: skill.deviation_points,
            });
        }
        self.replace(game);
    }

    fn replace(&mut self, game: Match) {
        let place = self.places.get(&game.match_id);
        let old = place.and_then(|place| Some((place, self.matches.get_mut(place)?)));
        if let Some((place, old)) = old {
            *old = Arc::new(game);
            self.changes.push(place);
        }
    }
}
