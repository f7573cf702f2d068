//! The answer to a question about sums.

use karat_core::record::ENGINE_VERSION;

use super::Sums;
use crate::answers::basis::{Basis, ItemsUsed, TrustCounts};
use crate::answers::leaderboard::key::Key;
use crate::answers::leaderboard::method::{Page, answer, rank_evidence};
use crate::answers::leaderboard::{Leaderboard, LeaderboardAnswer, MEAN, OFFICIAL};
use crate::answers::{LeaderboardMethod, UnrankedReason};
use crate::ask::Leaderboard as Asked;
use crate::ask::answer::{asked, invalid, refused, unknown_key};
use crate::ask::leaderboard::{Base, base, method, sort};
use crate::error::Error;
use crate::leaderboard::evidence::Named;
use crate::leaderboard::{By, Settings};
use crate::record::ScorecardReference;
use crate::text::list;

impl Sums {
    pub(crate) fn ranked(
        &self,
        ask: &Asked,
        needs_dimensions: bool,
    ) -> Result<(LeaderboardAnswer, Settings), Error> {
        self.refuse_asked(ask, needs_dimensions)?;
        let (by, without_official) = match base(ask, Some(&self.card), false)? {
            Base::Official => (By::Score, Some("sums have no times of items")),
            Base::Means(why) => (By::Score, why),
            Base::Key => {
                let key = ask.by.as_deref().unwrap_or_default();
                let found = self.dimension(key);
                (By::Dimension(found.ok_or_else(|| unknown_key("--by", key, &[MEAN], self))?), None)
            }
        };
        let usual = Settings { tasks_min: ask.min_tasks, ..Settings::usual_for(Some(&self.card)) };
        let settings = asked(&ask.sure, by, usual);
        let method =
            method(ask, needs_dimensions, (self.subjects.len() - self.left_out.len(), self.items_count()))?;
        let found = rank_evidence(self, None, method, &settings, Page::ALL);
        let found = found.map_err(|error| {
            let error =
                self.left_out.values().fold(refused(&error, self), |error, why| error.hint(why.as_str()));
            if ask.min_tasks > 1 { error.hint("or lower --min-tasks") } else { error }
        })?;
        let mut board =
            Leaderboard { without_official: without_official.map(str::to_owned), ..found.leaderboard };
        if self.dimensions.is_empty() {
            board.rows.iter_mut().for_each(|row| row.dimensions = None);
        }
        sort(self, &mut board, &ask.sort)?;
        let mut used = self.used.clone();
        used.without = self.without(&board, method);
        let count = self.items_count() as u64;
        let items = ItemsUsed {
            count,
            trust: TrustCounts { claimed: count, ..TrustCounts::default() },
            subjects: (self.subjects.len() - self.left_out.len()) as u64,
            ..ItemsUsed::default()
        };
        let basis = Basis {
            engine: ENGINE_VERSION.to_owned(),
            scorecards: vec![ScorecardReference::of(&self.card)],
            scale: self.card.scale.max,
            items,
            decay: None,
            level: settings.level,
            outcomes: settings.policy.into(),
            outcome_sources: settings.sources,
        };
        let mut answer = answer(basis, method, None, vec![board], Page::ALL);
        answer.sums = Some(used);
        answer.leave_out_as(UnrankedReason::BrokenItems, &self.left_out);
        Ok((answer, settings))
    }

    /// Refuses what sums do not tell, all of it at once.
    fn refuse_asked(&self, ask: &Asked, needs_dimensions: bool) -> Result<(), Error> {
        let items = &ask.items;
        let key = ask.by.as_deref().map(Key::parse);
        let has = |name: &str| karat_core::sql::measured(&self.card).any(|key| key == name);
        let facts = self.card.facts.iter().map(|fact| fact.name.as_str());
        let by_fact = key.as_ref().filter(|key| !has(&key.name));
        let by_fact = by_fact
            .is_some_and(|key| key.is_lower_better.is_some() || facts.clone().any(|fact| fact == key.name));
        let flags = [
            ("--where", !items.filters.is_empty()),
            ("--since", items.since.is_some()),
            ("--until", items.until.is_some()),
            ("--as-of", items.as_of.is_some()),
            ("--rename", !items.rename.is_empty()),
            ("--group-by", ask.group_by.is_some()),
            ("--with", ask.with.is_some()),
            ("--cost", ask.cost.is_some()),
            ("--attempts", ask.attempts.is_some()),
            ("--pass", ask.pass.is_some()),
            ("--robustness", ask.robustness),
            ("--events", ask.events.is_some()),
            ("--by official", ask.by.as_deref() == Some(OFFICIAL)),
            ("--by with a fact", by_fact),
        ];
        let found: Vec<&str> =
            flags.into_iter().filter(|(_, is_asked)| *is_asked).map(|(flag, _)| flag).collect();
        if !found.is_empty() {
            return Err(invalid(format!(
                "sums do not tell what {} {} for",
                list(&found),
                if found.len() == 1 { "asks" } else { "ask" }
            ))
            .hint("leave that out, or rank the items: karat leaderboard -c CARD FILE")
            .hint("the query may select items: --table \"(SELECT * FROM runs WHERE ...)\""));
        }
        let is_of_values = needs_dimensions || key.is_some_and(|key| has(&key.name)) || has(&ask.sort);
        if is_of_values && self.dimensions.is_empty() {
            return Err(invalid("the sums have no values of dimensions")
                .hint("make them with `karat card sql --values --sums subject,task`"));
        }
        Ok(())
    }

    /// Returns what the items would tell beside the answer.
    fn without(&self, board: &Leaderboard, method: LeaderboardMethod) -> Vec<String> {
        let is_compared = method != LeaderboardMethod::Means;
        let all = [
            ("how many cases an item is a mean over", true),
            ("how items ended", self.cells.iter().all(|cell| cell.outcome.is_none())),
            ("the values of dimensions", is_compared && self.dimensions.is_empty()),
            ("whether attempts stop at a result", self.cells.iter().any(|cell| cell.items > 1)),
            ("the bounds of single results", is_compared && board.rows.iter().any(|row| row.tasks == 1)),
            ("the moment to which scores are decayed", self.card.decay().is_some()),
        ];
        all.into_iter().filter(|(_, is_lacking)| *is_lacking).map(|(what, _)| what.to_owned()).collect()
    }
}
