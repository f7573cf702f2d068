//! Ratings: how strong competitors are, from who met whom and how it ended. Ratings in, a match in, ratings out.
//!
//! Two kinds. A [`System`] ([`Elo`], [`Glicko2`], [`WengLin`]) moves two ratings at each match, in the order of time; a
//! [`League`] keeps the ratings of all players between matches, and [`rate`] is the same over a whole [`Season`].
//! [`BradleyTerry`] looks at all matches at once, whatever their order, and gives intervals.
//!
//! - `outcome`, `season`: what a match is, how it may end, and the order in which matches count
//! - `system`, `league`, `drift`: the one interface, the state between matches, and what happened to the mean
//! - `elo`, `glicko2`, `weng_lin`: the systems; `arena`, `title`: what a solo match of the arena does to a career
//! - `bradley_terry`: counts, the graph of comparisons, the fit, its intervals
//! - `covariates`: Bradley-Terry beside what else differs between two sides, such as the lengths of answers
//! - `places`: ranks, their ranges, and tie groups
//! - `forecast`: how well ratings predict; `bounds`: what is refused; `generator`: seeded random numbers
//!
//! ```
//! use karat_stats::rating::{Elo, Event, League, Outcome};
//!
//! let elo = Elo::default();
//! let event = Event { id: "m1", at_milliseconds: 0, first: "ann", second: "bob", outcome: Outcome::Win };
//! let (league, meeting) = League::default().next(&elo, &event);
//! assert_eq!(meeting.unwrap().expected, 0.5);
//! assert_eq!(league.competitors["ann"].points, 1516.0);
//! ```

pub mod arena;
pub mod bounds;
pub mod bradley_terry;
pub mod covariates;
mod drift;
mod elo;
mod forecast;
mod generator;
pub mod glicko2;
mod league;
mod outcome;
pub mod places;
mod season;
mod system;
pub mod title;
mod weng_lin;

pub use bradley_terry::BradleyTerry;
pub use drift::Drift;
pub use elo::{Elo, EloRating, Rounding};
pub use forecast::{Forecast, mean_score};
pub use glicko2::{Glicko2, Glicko2Rating, WeightedMatch};
pub use league::{League, LeagueError, Meeting};
pub use outcome::{Match, Outcome, UnknownOutcome};
pub use season::{Applied, Event, EventError, Season, SeasonErrors};
pub use system::{MatchError, System, predict, rate};
pub use weng_lin::{WengLin, WengLinRating};
