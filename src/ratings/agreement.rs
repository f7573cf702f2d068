//! The agreement of judges with people.

use std::collections::BTreeMap;

use karat_stats::rating::Outcome;

use super::matches::{Matches, Row};
use super::{Agreement, Judge, Question, Share, Tally, invalid, refused};
use crate::error::Error;
use crate::text::clean;

/// Votes compared with the majority of people.
#[derive(Debug, Clone, Copy, Default)]
struct Judged {
    votes: Tally,
    same: Count,
    same_winner: Count,
}

/// A number of a total.
#[derive(Debug, Clone, Copy, Default)]
struct Count {
    agreed: u64,
    all: u64,
}

impl Count {
    fn add(&mut self, agrees: bool) {
        self.all += 1;
        self.agreed += u64::from(agrees);
    }
}

impl Judged {
    fn add(&mut self, vote: Outcome, most: Option<Outcome>) {
        self.votes.add(vote);
        if let Some(most) = most {
            self.same.add(vote == most);
            if vote != Outcome::Draw && most != Outcome::Draw {
                self.same_winner.add(vote == most);
            }
        }
    }

    fn named(self, name: &str, level: f64) -> Judge {
        Judge {
            name: name.to_owned(),
            votes: self.votes,
            same_outcome: Share::new(self.same.agreed, self.same.all, level),
            same_winner: Share::new(self.same_winner.agreed, self.same_winner.all, level),
        }
    }
}

/// Returns the outcome with the most votes; `None` if two have the most, or there is no vote.
fn majority(mut votes: Tally) -> Option<Outcome> {
    let most = votes.won.max(votes.drawn).max(votes.lost);
    let all = [Outcome::Win, Outcome::Draw, Outcome::Loss];
    let mut first = all.into_iter().filter(|outcome| *votes.count(*outcome) == most && most > 0);
    let found = first.next();
    if first.next().is_some() { None } else { found }
}

/// Returns the votes without one of them.
fn without(mut votes: Tally, vote: Outcome) -> Tally {
    let count = votes.count(vote);
    *count = count.saturating_sub(1);
    votes
}

/// Returns the competitors of a pair in the order of their numbers, and the decision of the row: judges may see a pair
/// from either side.
fn sides(row: &Row) -> ((u32, u32), Outcome) {
    if row.first < row.second {
        ((row.first, row.second), row.outcome)
    } else {
        ((row.second, row.first), row.outcome.opposite())
    }
}

/// Compares all judges with the people.
///
/// # Errors
/// If no match is judged by people, two votes have one id, or one pair has different competitors in two rows.
pub(super) fn agreement(matches: &Matches, question: &Question) -> Result<Agreement, Error> {
    let judge = matches.judges.find(&question.people).ok_or_else(|| nobody(matches, &question.people))?;
    // In order of time, each vote once.
    let everything: Vec<usize> = (0..matches.rows.len()).collect();
    let places = matches.season(&everything)?.places;
    let rows: Vec<&Row> = places.iter().filter_map(|&place| matches.rows.get(place)).collect();
    let mut competitors: BTreeMap<u32, ((u32, u32), &Row)> = BTreeMap::new();
    let mut votes: BTreeMap<u32, Tally> = BTreeMap::new();
    for &row in &rows {
        let Some(pair) = row.pair else { continue };
        let (who, vote) = sides(row);
        let (first, known) = competitors.entry(pair).or_insert((who, row));
        if *first != who {
            return Err(refused(format!(
                "pair `{}` is of other competitors at {} than at {}, expected the same two under one pair",
                clean(matches.pairs.name(pair)),
                matches.place(row),
                matches.place(known)
            )));
        }
        if row.judge == Some(judge) {
            votes.entry(pair).or_default().add(vote);
        }
    }
    let mut people = Judged::default();
    let mut judged: BTreeMap<u32, Judged> = BTreeMap::new();
    for &row in &rows {
        let (Some(pair), Some(who)) = (row.pair, row.judge) else { continue };
        let (_, vote) = sides(row);
        let all = votes.get(&pair).copied().unwrap_or_default();
        if who == judge {
            people.add(vote, majority(without(all, vote)));
        } else {
            judged.entry(who).or_default().add(vote, majority(all));
        }
    }
    let level = question.level;
    let others = matches.judges.sorted();
    let others = others.filter_map(|(name, who)| Some(judged.get(&who)?.named(name, level)));
    Ok(Agreement {
        people: people.named(&question.people, level),
        pairs: votes.len() as u64,
        pairs_without_majority: votes.values().filter(|votes| majority(**votes).is_none()).count() as u64,
        judges: others.collect(),
    })
}

fn nobody(matches: &Matches, people: &str) -> Error {
    let names: Vec<String> =
        matches.judges.sorted().take(10).map(|(name, _)| format!("`{}`", clean(name))).collect();
    invalid(format!("no match is judged by `{}`, which --people takes for people", clean(people)))
        .hint(format!("the judges are {}", names.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_majority_stands_alone() {
        let votes = |won, drawn, lost| Tally { won, drawn, lost };
        assert_eq!(majority(votes(2, 1, 1)), Some(Outcome::Win));
        assert_eq!(majority(votes(1, 2, 2)), None);
        assert_eq!(majority(votes(0, 0, 1)), Some(Outcome::Loss));
        assert_eq!(majority(votes(0, 0, 0)), None);
        assert_eq!(majority(without(votes(0, 1, 0), Outcome::Draw)), None);
    }

    #[test]
    fn draws_count_as_an_outcome_and_not_as_a_winner() {
        let mut judged = Judged::default();
        judged.add(Outcome::Draw, Some(Outcome::Draw));
        judged.add(Outcome::Draw, Some(Outcome::Win));
        judged.add(Outcome::Win, Some(Outcome::Win));
        judged.add(Outcome::Loss, Some(Outcome::Win));
        judged.add(Outcome::Loss, None);
        let judge = judged.named("one", 0.95);
        let count = |share: Share| (share.agreed, share.compared);
        assert_eq!((count(judge.same_outcome), count(judge.same_winner)), ((2, 4), (1, 2)));
        assert_eq!(judge.votes.matches(), 5);
    }
}
