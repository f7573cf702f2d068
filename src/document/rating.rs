//! The document of ratings: a table for each pool, predictions, judges beside people, and matches at challenges.

use karat_core::record::ENGINE_VERSION;

use super::{Cell, Column, Document, Kind, Part, Row, Table};
use crate::answers::skill::SkillRating;
use crate::draw::interval::{Span as Drawing, axis};
use crate::estimate::{Writing, percent, plain, ranks, tenth_percent};
use crate::ratings::{
    Agreement, Board, Careers, Competitor, CovariateEffect, Drawn, Forecaster, Holdout, IntervalSource,
    Judge, Played, RankRange, Rating, Share,
};
use crate::text::{Tone, count, list, named};

/// The note below predictions.
const LOSS: &str = "log-loss in nats, lower is better; a coin has 0.6931, and a draw counts half";

/// The matches for each parameter from which on intervals beside covariates hold what they say.
const ENOUGH: f64 = 10.0;
/// The note below covariates.
const ASSOCIATION: &str = "an association and no cause: what stronger competitors also do for a good reason is taken \
     away from them, too. Twice as much has a contrast of 1/3; a draw is half a win";

/// Returns the document of ratings.
pub fn ratings(rating: &Rating) -> Document {
    let mut document = Document {
        name: "rate",
        title: format!("Ratings: {}", rating.system.name()),
        lines: [Some(size(&rating.boards)), controls(rating), Some(rating.described_settings())]
            .into_iter()
            .flatten()
            .collect(),
        about: about(rating),
        ..Document::default()
    };
    let has_categories = rating.boards.iter().any(|board| board.category.is_some());
    for board in &rating.boards {
        document.parts.extend(board.category.iter().cloned().map(Part::Heading));
        if rating.boards.len() > 1 {
            document.note(Tone::Plain, [size(std::slice::from_ref(board))]);
        }
        let writing = Writing::decimals_of(decimals(board));
        document.parts.push(Part::Table(pool(board, writing, rating.level, has_categories)));
        document.note(Tone::Plain, about_pool(board, writing));
        if let Some(few) = board.matches_per_parameter.filter(|it| *it < ENOUGH) {
            let intervals = "the intervals hold the truth less often than they say";
            document.note(
                Tone::Care,
                [format!(
                    "{few:.1} matches for each strength and covariate, expected ten or more: {intervals}"
                )],
            );
        }
        if !board.covariates.is_empty() {
            document.parts.push(Part::Heading(labelled("Covariates", board)));
            document.parts.push(Part::Table(effects(board, rating.level)));
            document.note(Tone::Plain, [ASSOCIATION.to_owned()]);
        }
    }
    document.note(Tone::Plain, notes(rating));
    for (board, holdout) in rating.boards.iter().filter_map(|board| Some((board, board.holdout.as_ref()?))) {
        document.parts.push(Part::Heading(labelled("Predicted", board)));
        document.note(Tone::Plain, [predicted(holdout)]);
        if holdout.predicted_matches > 0 {
            document.parts.push(Part::Table(forecasts(holdout, rating.level)));
            document.note(Tone::Plain, [LOSS.to_owned()]);
            document.note(Tone::Care, holdout.warnings.iter().cloned());
        }
    }
    if let Some(careers) = &rating.arena {
        document.parts.push(Part::Heading(String::from("Skill")));
        document.parts.push(Part::Table(skills(careers)));
        document.parts.push(Part::Heading(String::from("Step by step")));
        document.parts.push(Part::Table(steps(careers)));
    }
    if let Some(agreement) = &rating.judges {
        document.parts.push(Part::Heading(String::from("Judges")));
        document.parts.push(Part::Table(judges(agreement, rating.level)));
        document.note(Tone::Plain, [about_judges(agreement, rating.level)]);
    }
    document
}

fn about(rating: &Rating) -> Vec<(String, String)> {
    let mut about = vec![(String::from("system"), rating.system.name().to_owned())];
    let mut tell = |label: &str, value: String| about.push((label.to_owned(), value));
    for board in &rating.boards {
        tell(&labelled("matches", board), board.input.digest.clone());
        if let (Some(first), Some(last)) = (&board.input.first_time, &board.input.last_time) {
            tell(&labelled("played", board), format!("{first} to {last}"));
        }
    }
    tell("level", rating.level.to_string());
    if let (Some(resamples), Some(seed)) = (rating.resamples, rating.seed) {
        let unit = if rating.drawn == Some(Drawn::Pairs) { "pairs" } else { "matches" };
        tell("resamples", format!("{resamples} of {unit}"));
        tell("seed", seed.to_string());
    }
    tell("engine", ENGINE_VERSION.to_owned());
    about
}

/// Returns `label` with the category.
fn labelled(label: &str, board: &Board) -> String {
    board.category.as_ref().map_or_else(|| label.to_owned(), |category| format!("{label}, {category}"))
}

/// Returns how many competitors, matches and groups there are.
fn size(boards: &[Board]) -> String {
    let competitors: usize = boards.iter().map(|board| board.competitors.len()).sum();
    let all: u64 = boards.iter().map(|board| board.input.matches).sum();
    let left_out = |board: &Board| {
        board.left_out.matches + board.left_out.matches_without_covariates.unwrap_or_default()
    };
    let rated = match boards.iter().map(left_out).sum() {
        0 => matches(all),
        left_out => format!("{} of {}", all.saturating_sub(left_out), matches(all)),
    };
    let groups = match boards {
        [Board { groups: Some(groups), .. }] => format!(", {}", count(*groups as usize, "group")),
        _ => String::new(),
    };
    format!("{}, {rated}{groups}", count(competitors, "competitor"))
}

/// Returns what the ratings are controlled for, if they are.
fn controls(rating: &Rating) -> Option<String> {
    let names: Vec<&str> = rating.boards.first()?.covariates.iter().map(|it| it.name.as_str()).collect();
    named(&names).map(|names| format!("controlled for {names}: ratings of sides that are alike in that"))
}

fn matches(number: u64) -> String {
    format!("{number} {}", if number == 1 { "match" } else { "matches" })
}

/// Returns the decimals for some three digits of what differs.
fn decimals(board: &Board) -> usize {
    let span = |it: &Competitor| {
        let (low, high) = it.interval.map_or((it.points, it.points), |ends| (ends.low, ends.high));
        Drawing { low, point: it.points, high }
    };
    let axis = axis(board.competitors.iter().map(span));
    let length = axis.end() - axis.start();
    if length < 10.0 { 2 } else { usize::from(length < 100.0) }
}

fn pool(board: &Board, writing: Writing, level: f64, has_categories: bool) -> Table {
    let has_groups = board.groups.is_some();
    let is_controlled = !board.covariates.is_empty();
    let possible =
        |rank, range: Option<RankRange>| ranks(range.map_or([rank; 2], |range| [range.best, range.worst]));
    let row = |it: &Competitor| {
        let mut cells = vec![
            Cell::of_text(board.category.clone()),
            it.group.map_or(Cell::Absent, |group| Cell::Count(group.into())),
            Cell::Count(it.rank.into()),
            Cell::text(possible(it.rank, it.rank_range)),
            Cell::text(&it.name),
            Cell::interval(Some(it.points), it.interval.map(|ends| (ends.low, ends.high)), writing, false),
            Cell::of_number(it.deviation_points, plain),
            Cell::Count(it.matches.matches()),
            Cell::Count(it.matches.won),
            Cell::Count(it.matches.drawn),
            Cell::Count(it.matches.lost),
        ];
        cells.extend(it.without_covariates.iter().flat_map(|it| {
            let points = Cell::of_number(Some(it.points), |points| writing.number(points));
            [Cell::Count(it.rank.into()), Cell::text(possible(it.rank, it.rank_range)), points]
        }));
        Row { group: it.group, ..cells.into() }
    };
    let has_ranges = board.competitors.iter().any(|it| it.rank_range.is_some());
    // A screen has no room for both.
    let tally = |key| if is_controlled { Column::number(key).wide() } else { Column::number(key) };
    let mut columns = vec![
        Column::text("category").wide().shown_if(has_categories),
        Column::number("group").shown_if(has_groups),
        // A range begins with a rank.
        if has_ranges { Column::number("rank").wide() } else { Column::number("rank") },
        Column::text("rank_range").shown_if(has_ranges),
        Column::name("competitor"),
        Column::new("points", Kind::Interval { sides: None, level }),
        Column::number("deviation_points").hidden(),
        Column::number("matches").wide(),
        tally("won"),
        tally("drawn"),
        tally("lost"),
    ];
    if is_controlled {
        columns.extend([
            Column::number("rank_without_covariates").hidden(),
            Column::text("rank_range_without_covariates").labelled("rank without"),
            Column::number("points_without_covariates").labelled("points without"),
        ]);
    }
    let caption = match has_groups {
        true => "Competitors by rating; shaded and unshaded neighbours are groups",
        false => "Competitors by rating",
    };
    let rows = board.competitors.iter().map(row).collect();
    Table { is_list: true, is_titled: true, ..Table::new(caption, columns, rows) }
}

/// Returns what each covariate is worth.
fn effects(board: &Board, level: f64) -> Table {
    let ends = board.covariates.iter().flat_map(|it| [it.interval.low, it.interval.high]);
    let writing = Writing::of_size(ends.fold(0.0, |most: f64, end| most.max(end.abs())));
    let row = |it: &CovariateEffect| {
        let cells = vec![
            Cell::text(&it.name),
            Cell::text(it.contrast.name()),
            Cell::of_number(Some(it.deviation), plain),
            Cell::interval(Some(it.points), Some((it.interval.low, it.interval.high)), writing, true),
            Cell::of_number(it.double_points, |points| writing.signed(points)),
            Cell::Count(it.matches_without),
        ];
        cells.into()
    };
    let columns = vec![
        Column::name("covariate"),
        Column::text("contrast").wide(),
        Column::number("deviation"),
        Column::new("points", Kind::Interval { sides: Some(("costs", "earns")), level }),
        Column::number("double_points").labelled("twice as much"),
        Column::number("matches_without").shown_if(board.covariates.iter().any(|it| it.matches_without > 0)),
    ];
    let caption = "Points for a contrast of one standard deviation, and for twice as much";
    Table::new(caption, columns, board.covariates.iter().map(row).collect())
}

/// Returns the notes on one pool.
fn about_pool(board: &Board, writing: Writing) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(drift) = board.drift {
        let writing = Writing::decimals_of(writing.decimals().max(1));
        notes.push(format!(
            "mean of the pool: {} points, moved by {}",
            writing.number(drift.mean_after_points),
            writing.number(drift.points),
        ));
    }
    if let Some(tie) = board.tie.filter(|tie| *tie > 0.0) {
        let share = tenth_percent(tie / (2.0 + tie));
        notes.push(format!("two of equal strength draw {share} of their matches"));
    }
    if let Some(names) = named(&board.left_out.competitors) {
        notes.push(format!(
            "left out, as no match compares them with the others both ways: {} in {}: {names}",
            count(board.left_out.competitors.len(), "competitor"),
            matches(board.left_out.matches)
        ));
    }
    if let Some(number) = board.left_out.matches_without_covariates.filter(|number| *number > 0) {
        notes.push(format!("left out, as they lack a covariate: {}", matches(number)));
    }
    if let Some(resamples) = board.resamples_without_fit.filter(|resamples| *resamples > 0) {
        notes.push(format!("{} without a fit", count(resamples as usize, "resample")));
    }
    if let Some(parts) = board.parts.filter(|parts| *parts > 1) {
        notes.push(format!(
            "no match connects {} of the pool: only the prior compares their ratings",
            count(parts as usize, "part")
        ));
    }
    if let Some(names) = named(&board.one_sided) {
        notes.push(format!(
            "all matches of one kind, so that resamples cannot show how sure they are and their intervals are too \
             narrow: {names}"
        ));
    }
    if board.input.repeated_rows > 0 {
        notes.push(format!("rows that repeat another one, and count once: {}", board.input.repeated_rows));
    }
    notes
}

/// Returns the notes on all pools.
fn notes(rating: &Rating) -> Vec<String> {
    let level = percent(rating.level);
    let groups = "a group is tied with its leader; ranks show the possible range";
    let source = match rating.intervals {
        IntervalSource::None => {
            String::from("Elo does not estimate its uncertainty: there are no intervals and no groups")
        }
        IntervalSource::Deviation => format!("intervals of {level} from the deviations; {groups}"),
        IntervalSource::Sandwich => format!("intervals of {level} by the sandwich estimator; {groups}"),
        IntervalSource::Posterior => {
            format!("intervals of {level} from the posterior, as a normal distribution; {groups}")
        }
        IntervalSource::Bootstrap => {
            let (resamples, seed) = (rating.resamples.unwrap_or_default(), rating.seed.unwrap_or_default());
            let is_of_pairs = rating.drawn == Some(Drawn::Pairs);
            let drawn = if is_of_pairs { "of pairs with all their votes" } else { "of matches" };
            format!("intervals of {level} from {resamples} resamples {drawn}, seed {seed}; {groups}")
        }
    };
    let mut notes = vec![source];
    if let Some((deviation, draws)) = rating.prior() {
        notes.push(format!(
            "the prior is gaussian: before any match, every strength lies around the mean of the pool with a deviation of \
             {deviation} points. That is worth {draws:.2} draws against an opponent of the mean, and pulls ratings towards it"
        ));
    }
    let votes: u64 = rating.boards.iter().map(|board| board.input.matches).sum();
    let has_clusters = rating.judges.as_ref().is_some_and(|agreement| agreement.pairs < votes);
    if has_clusters && matches!(rating.intervals, IntervalSource::Sandwich | IntervalSource::Posterior) {
        notes.push(String::from(
            "several votes on one pair count as independent matches; --bootstrap resamples whole pairs, in case they are \
             correlated",
        ));
    }
    notes.extend(rating.arena.iter().flat_map(|careers| careers.notes.clone()));
    if rating.skipped_rows > 0 {
        notes.push(format!("rows that are no match: {}", rating.skipped_rows));
    }
    if rating.late_rows > 0 {
        notes.push(format!("rows after a row of a later time, sorted by time: {}", rating.late_rows));
    }
    notes
}

/// Returns the matches that were predicted, and those left out.
fn predicted(holdout: &Holdout) -> String {
    let skipped = [
        (holdout.skipped_unknown, "with a new competitor"),
        (holdout.skipped_incomparable, "between competitors that cannot be compared"),
    ];
    let skipped = skipped.into_iter().filter(|(number, _)| *number > 0);
    let skipped: Vec<String> = skipped.map(|(number, why)| format!("{number} {why}")).collect();
    let skipped = if skipped.is_empty() { String::new() } else { format!("; left out: {}", list(&skipped)) };
    format!("{} after {}{skipped}", matches(holdout.predicted_matches), matches(holdout.trained_matches))
}

fn forecasts(holdout: &Holdout, level: f64) -> Table {
    let writing = Writing::decimals_of(4);
    let row = |Forecaster { name, log_loss, brier, beside_elo, .. }: &Forecaster| {
        let verdict = beside_elo.map(|it| match (it.low > 0.0, it.high < 0.0) {
            (true, _) => "worse",
            (_, true) => "better",
            _ => "tied",
        });
        let beside = beside_elo.map(|it| (it.low, it.high));
        let cells = vec![
            Cell::text(name),
            Cell::of_number(Some(*log_loss), |it| writing.number(it)),
            Cell::of_number(Some(*brier), |it| writing.number(it)),
            Cell::interval(beside_elo.map(|it| it.log_loss), beside, writing, true),
            Cell::of_text(verdict),
        ];
        cells.into()
    };
    let columns = vec![
        Column::name("forecast"),
        Column::number("log_loss"),
        Column::number("brier"),
        Column::new("minus_elo", Kind::Interval { sides: Some(("better", "worse")), level }),
        Column::text("verdict"),
    ];
    let caption = "Predictions of the last matches from those before; lower is better";
    Table::new(caption, columns, holdout.forecasts.iter().map(row).collect())
}

fn judges(agreement: &Agreement, level: f64) -> Table {
    let share = |found: &Share| {
        let ends = found.interval.map(|ends| (ends.low, ends.high));
        Cell::interval(found.share, ends, Writing::shares(), false)
    };
    let row = |name: String, judge: &Judge| {
        let votes = judge.votes.matches();
        let drawn = (votes > 0).then(|| judge.votes.drawn as f64 / votes as f64);
        let cells = vec![
            Cell::Text(name),
            Cell::Count(votes),
            Cell::of_share(drawn),
            share(&judge.same_outcome),
            share(&judge.same_winner),
        ];
        cells.into()
    };
    let people = row(format!("each of `{}`", agreement.people.name), &agreement.people);
    let others = agreement.judges.iter().map(|judge| row(judge.name.clone(), judge));
    let interval = Kind::Interval { sides: None, level };
    let columns = vec![
        Column::name("judge"),
        Column::number("votes"),
        Column::new("draws", Kind::Share),
        Column::new("same_outcome", interval),
        Column::new("same_winner", interval),
    ];
    let caption = format!("Agreement of each with the majority of `{}`", agreement.people.name);
    Table::new(caption, columns, std::iter::once(people).chain(others).collect())
}

/// Returns the votes compared, and the method.
fn about_judges(agreement: &Agreement, level: f64) -> String {
    format!(
        "over {} pairs; on {} more people have no majority. Same outcome: of first, second and draw; same winner: where \
         neither is a draw. Intervals of {} (Wilson)",
        agreement.pairs - agreement.pairs_without_majority,
        agreement.pairs_without_majority,
        percent(level)
    )
}

/// Returns the skill of each agent, the most skilled first.
fn skills(careers: &Careers) -> Table {
    let mut agents: Vec<_> = careers.agents.iter().collect();
    agents.sort_by(|one, other| other.skill.full.points.total_cmp(&one.skill.full.points));
    let told = |it: &SkillRating| {
        let mark = if it.provisional { ", provisional" } else { "" };
        Cell::Text(format!("{:.0} ± {:.0}{mark}", it.points, 2.0 * it.deviation_points))
    };
    let row = |it: &&crate::ratings::Agent| {
        vec![Cell::text(&it.agent_id), told(&it.skill.full), told(&it.skill.discounted)].into()
    };
    let columns = vec![Column::name("agent"), Column::text("skill"), Column::text("discounted")];
    let caption = "Glicko-2, ± 2 deviations; discounted: with repeats for less";
    Table { is_list: true, ..Table::new(caption, columns, agents.iter().map(row).collect()) }
}

/// Returns how each rating came about: a row for each match.
fn steps(careers: &Careers) -> Table {
    let whole = |points: i64| Cell::Number(points as f64, points.to_string());
    let signed = |points: i64| Cell::Number(points as f64, format!("{points:+}"));
    let row = |it: &Played| {
        let rating = &it.rating;
        let cells = vec![
            Cell::text(&it.match_id),
            Cell::text(&it.agent_id),
            Cell::text(&it.challenge),
            whole(rating.opponent_points),
            Cell::text(&it.result),
            whole(rating.before_points),
            Cell::of_number(Some(rating.factor_points), plain),
            Cell::of_number(rating.expected, |it| format!("{it:.3}")),
            signed(rating.play_points),
            signed(rating.floor_points),
            signed(rating.bonus_points),
            whole(rating.after_points),
        ];
        cells.into()
    };
    let any = |is: &dyn Fn(&Played) -> bool| careers.matches.iter().any(is);
    let columns = vec![
        Column::name("match"),
        Column::text("agent"),
        Column::text("challenge"),
        Column::number("opponent"),
        Column::text("result"),
        Column::number("before"),
        Column::number("factor"),
        Column::number("expected"),
        Column::number("play"),
        Column::number("floor").shown_if(any(&|it| it.rating.floor_points != 0)),
        Column::number("bonus").shown_if(any(&|it| it.rating.bonus_points != 0)),
        Column::number("after"),
    ];
    let caption =
        "After is before plus play, floor and bonus; play is the factor times result minus expected";
    Table { is_list: true, ..Table::new(caption, columns, careers.matches.iter().map(row).collect()) }
}
