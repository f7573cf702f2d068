//! The agreement of judges with people.

use std::collections::BTreeMap;

use karat_stats::proportion::Proportion;
use karat_stats::rating::Outcome;

use super::board::Tally;
use crate::failure::Failure;
use crate::matches::{Matches, Row};
use karat::text::clean;

/// Every judge compared with the people, over the pairs that both decided.
#[derive(Debug, Clone)]
pub struct Agreement {
    /// The name that marks votes of people.
    pub people: String,
    /// Pairs with a vote of people.
    pub pairs: u64,
    /// Pairs on which no outcome has the most votes of people; judges are not compared on them.
    pub pairs_without_majority: u64,
    /// The people themselves, each vote against the majority of the others on that pair.
    pub among_people: Judged,
    /// The other judges, by name.
    pub judges: Vec<(String, Judged)>,
}

/// Votes compared with the majority of people.
#[derive(Debug, Clone, Copy, Default)]
pub struct Judged {
    /// All votes, compared or not: counts for the first, neither, the second competitor.
    pub votes: Tally,
    /// Votes on pairs with a majority: the share with the same of the three outcomes.
    pub same: Count,
    /// Of these, the ones where neither the vote nor the majority is a draw: the share with the same winner.
    pub same_winner: Count,
}

/// A number of a total.
#[derive(Debug, Clone, Copy, Default)]
pub struct Count {
    agreed: u64,
    all: u64,
}

impl Count {
    fn add(&mut self, agrees: bool) {
        self.all += 1;
        self.agreed += u64::from(agrees);
    }

    /// Returns it as a share.
    pub fn proportion(self) -> Proportion {
        Proportion::new(self.agreed, self.all).unwrap_or_default()
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
}

/// Returns the outcome with the most votes; `None` if two have the most, or there is no vote.
fn majority(votes: Tally) -> Option<Outcome> {
    let most = votes.won.max(votes.drawn).max(votes.lost);
    let all = [(votes.won, Outcome::Win), (votes.drawn, Outcome::Draw), (votes.lost, Outcome::Loss)];
    let mut first = all.into_iter().filter(|&(count, _)| count == most && most > 0);
    let found = first.next();
    if first.next().is_some() { None } else { found.map(|(_, outcome)| outcome) }
}

/// Returns the votes without one of them.
fn without(mut votes: Tally, vote: Outcome) -> Tally {
    let count = match vote {
        Outcome::Win => &mut votes.won,
        Outcome::Draw => &mut votes.drawn,
        Outcome::Loss => &mut votes.lost,
    };
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

impl Agreement {
    /// Compares all judges with the one called `people`.
    ///
    /// # Errors
    /// If no match is judged by people, two votes have one id, or one pair has different competitors in two rows.
    pub fn new(matches: &Matches, people: &str) -> Result<Self, Failure> {
        let judge = matches.judges.find(people).ok_or_else(|| nobody(matches, people))?;
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
                return Err(Failure::new(format!(
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
        let mut among_people = Judged::default();
        let mut judged: BTreeMap<u32, Judged> = BTreeMap::new();
        for &row in &rows {
            let (Some(pair), Some(who)) = (row.pair, row.judge) else { continue };
            let (_, vote) = sides(row);
            let all = votes.get(&pair).copied().unwrap_or_default();
            if who == judge {
                among_people.add(vote, majority(without(all, vote)));
            } else {
                judged.entry(who).or_default().add(vote, majority(all));
            }
        }
        let others =
            matches.judges.sorted().filter_map(|(name, who)| Some((name.to_owned(), *judged.get(&who)?)));
        Ok(Self {
            people: people.to_owned(),
            pairs: votes.len() as u64,
            pairs_without_majority: votes.values().filter(|votes| majority(**votes).is_none()).count() as u64,
            among_people,
            judges: others.collect(),
        })
    }
}

fn nobody(matches: &Matches, people: &str) -> Failure {
    let names: Vec<String> =
        matches.judges.sorted().take(10).map(|(name, _)| format!("`{}`", clean(name))).collect();
    Failure::new(format!("no match is judged by `{}`, which --people takes for people", clean(people)))
        .help(format!("the judges are {}", names.join(", ")))
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
        let count = |count: Count| (count.proportion().successes(), count.proportion().trials());
        assert_eq!((count(judged.same), count(judged.same_winner)), ((2, 4), (1, 2)));
        assert_eq!(judged.votes.matches(), 5);
    }
}
