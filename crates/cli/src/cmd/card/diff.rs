//! `karat card diff`: the same evidence under two scorecards; who moves, and why.

use std::cmp::Reverse;
use std::io::Write as _;
use std::ops::ControlFlow;
use std::sync::Arc;

use karat_core::number::Score;
use karat_core::record::{Published, Record};
use serde_json::{Value, json};

use crate::args::{Cli, DiffArgs, GraderArgs};
use crate::cards;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::graders;
use crate::output::{FAINT, GAIN, LOSS, STRONG, Screen};
use crate::progress::Progress;
use karat::card::CompiledCard;
use karat::engine::{Engine, Options};
use karat::error::Error;
use karat::inputs::Inputs;
use karat::text::{clean, count, fit, own_name, published, share, wrap};

/// The result of one item under one card.
struct Verdict {
    subject: String,
    /// The id of the item.
    id: String,
    score: Option<Score>,
    published: Option<Published>,
    status: &'static str,
    badge: String,
    /// Contributions by dimension, then those of rules, gates and the mean.
    parts: Vec<(String, Score)>,
}

impl Verdict {
    /// Returns the subject, and the id of the item if it has one.
    fn who(&self) -> String {
        match own_name(&self.subject, &self.id) {
            Some(id) => format!("{} {id}", self.subject),
            None => self.subject.clone(),
        }
    }

    /// Returns the published score, or the reason why it is missing.
    fn shown(&self) -> String {
        self.published.map_or_else(|| self.status.to_owned(), published)
    }
}

/// One item under both cards.
struct Mover {
    before: Verdict,
    after: Verdict,
}

impl Mover {
    /// Returns the distance of the exact scores; a score that appears or disappears moves by its full value.
    fn distance(&self) -> u64 {
        units(self.before.score).abs_diff(units(self.after.score))
    }

    fn moved(&self) -> Score {
        Score::from_units(units(self.after.score) - units(self.before.score))
    }

    /// Returns the parts that moved, largest first: dimensions, then rules and gates.
    fn reasons(&self) -> Vec<(&str, Score)> {
        let part = |verdict: &Verdict, name: &str| {
            verdict.parts.iter().find(|(key, _)| key == name).map_or(Score::ZERO, |&(_, amount)| amount)
        };
        let added = self
            .after
            .parts
            .iter()
            .filter(|(key, _)| !self.before.parts.iter().any(|(known, _)| known == key));
        let mut reasons: Vec<(&str, Score)> = self
            .before
            .parts
            .iter()
            .chain(added)
            .map(|(key, _)| (key.as_str(), part(&self.after, key).minus(part(&self.before, key))))
            .filter(|(_, change)| *change != Score::ZERO)
            .collect();
        reasons.sort_by_key(|(_, change)| Reverse(change.units().unsigned_abs()));
        reasons
    }
}

/// The scores of all items, and the largest movers in full.
struct Comparison {
    scores: Vec<(i64, i64)>,
    badges_changed: usize,
    movers: Vec<Mover>,
    top: usize,
}

impl Comparison {
    fn see(&mut self, mover: Mover) {
        self.scores.push((units(mover.before.score), units(mover.after.score)));
        self.badges_changed += usize::from(mover.before.badge != mover.after.badge);
        let place = self.movers.partition_point(|other| other.distance() >= mover.distance());
        if mover.distance() > 0 && place < self.top {
            self.movers.truncate(self.top.saturating_sub(1));
            self.movers.insert(place, mover);
        }
    }
}

/// Compares two cards on the evidence given.
pub fn run(args: &DiffArgs, screen: &mut Screen, cli: &Cli) -> Result<Exit, Failure> {
    let inputs = Inputs::new(&args.files)?;
    let compiled = |card: &str| cards::for_inputs(card, &inputs, cli.color);
    let (before, after) = (compiled(&args.before)?, compiled(&args.after)?);
    let (old, new) = (before.card(), after.card());
    if old.evidence != new.evidence {
        let message = format!(
            "`{}` reads evidence of kind `{}`, `{}` of kind `{}`",
            old.name(),
            old.evidence,
            new.name(),
            new.evidence
        );
        return Err(Failure::new(message).help("only cards for the same kind of evidence can be compared"));
    }
    let progress = Progress::new(false, cli);
    let engine = |card: &Arc<CompiledCard>| -> Result<Engine, Failure> {
        let options = graders::options(card.card(), &GraderArgs::default(), &args.fields, cli.portable)?;
        let options = Options { any_challenge: true, ..options };
        Ok(Engine::new(Arc::clone(card), options)?)
    };
    let (mut first, mut second) = (engine(&before)?, engine(&after)?);
    let mut all = Comparison { scores: Vec::new(), badges_changed: 0, movers: Vec::new(), top: args.top };
    let mut wanted = first.wanted();
    wanted.add(second.wanted());
    inputs.each(&wanted, &progress, |place, bytes| {
        let bytes = bytes?;
        let verdict = |engine: &mut Engine| engine.visit_at(place, bytes, |scored| verdict(&scored.record));
        all.see(Mover { before: verdict(&mut first)?, after: verdict(&mut second)? });
        Ok::<_, Error>(ControlFlow::Continue(()))
    })?;
    first.refuse_unfound()?;
    drop(progress);
    let ranks = Ranks::new(&all.scores);
    if args.json {
        let movers: Vec<Value> = all.movers.iter().map(|mover| mover_json(mover, &ranks)).collect();
        let (up, down) = tally(&all.scores);
        let summary = json!({
            "before": old.name(),
            "after": new.name(),
            "items": all.scores.len(),
            "up": up,
            "down": down,
            "badges_changed": all.badges_changed,
            "movers": movers,
        });
        writeln!(screen, "{summary}")?;
    } else {
        show(&all, &ranks, (&old.name(), &new.name()), screen)?;
    }
    Ok(Exit::Done)
}

fn verdict(record: &Record<'_>) -> Verdict {
    let mut parts: Vec<(String, Score)> = record
        .dimensions
        .iter()
        .map(|dimension| (dimension.key.to_owned(), dimension.contribution))
        .collect();
    for step in &record.steps {
        parts.push((format!("{} {}", step.kind.name(), step.name), step.after.minus(step.before)));
    }
    let badge = record.tier.as_ref().map_or(record.band, |tier| tier.name).unwrap_or("-");
    Verdict {
        subject: record.item.subject.to_owned(),
        id: record.item.id.to_owned(),
        score: record.score,
        published: record.published,
        status: record.status.name(),
        badge: badge.to_owned(),
        parts,
    }
}

/// Ranks among all items; equal scores share one.
struct Ranks {
    before: Vec<i64>,
    after: Vec<i64>,
}

impl Ranks {
    fn new(scores: &[(i64, i64)]) -> Self {
        let sorted = |pick: fn(&(i64, i64)) -> i64| {
            let mut list: Vec<i64> = scores.iter().map(pick).collect();
            list.sort_unstable_by_key(|&score| Reverse(score));
            list
        };
        Self { before: sorted(|pair| pair.0), after: sorted(|pair| pair.1) }
    }

    fn of(&self, mover: &Mover) -> (usize, usize) {
        let rank = |list: &[i64], score| list.partition_point(|&other| other > units(score)) + 1;
        (rank(&self.before, mover.before.score), rank(&self.after, mover.after.score))
    }
}

/// Returns a score in units of 1e-15; a missing one is below every score.
fn units(score: Option<Score>) -> i64 {
    score.map_or(0, Score::units)
}

fn tally(scores: &[(i64, i64)]) -> (usize, usize) {
    let up = scores.iter().filter(|(before, after)| after > before).count();
    let down = scores.iter().filter(|(before, after)| after < before).count();
    (up, down)
}

fn show(all: &Comparison, ranks: &Ranks, names: (&str, &str), screen: &mut Screen) -> Result<(), Failure> {
    let (up, down) = tally(&all.scores);
    let same = all.scores.len() - up - down;
    writeln!(screen, "{STRONG}{} -> {}{STRONG:#}", names.0, names.1)?;
    writeln!(
        screen,
        "{}: {GAIN}{up} up{GAIN:#}, {LOSS}{down} down{LOSS:#}, {same} unchanged; {} with another band or tier",
        count(all.scores.len(), "item"),
        all.badges_changed
    )?;
    if all.movers.is_empty() {
        return Ok(());
    }
    let subject = screen.width.saturating_sub(52).clamp(16, 40);
    writeln!(
        screen,
        "\n{FAINT}{}  {:>9}  {:>9}  {:>9}  rank{FAINT:#}",
        fit("largest movers", subject),
        "before",
        "after",
        "of scale"
    )?;
    for mover in &all.movers {
        let moved = mover.moved();
        let style = if moved < Score::ZERO { LOSS } else { GAIN };
        let (from, to) = ranks.of(mover);
        let rank = if from == to { format!("{from}") } else { format!("{from} -> {to}") };
        writeln!(
            screen,
            "{}  {:>9}  {:>9}  {style}{:>9}{style:#}  {rank}",
            fit(&mover.before.who(), subject),
            mover.before.shown(),
            mover.after.shown(),
            share(moved),
        )?;
        let mut why: Vec<String> = mover
            .reasons()
            .iter()
            .map(|(name, change)| format!("{} {}", clean(name), share(*change)))
            .collect();
        if mover.before.badge != mover.after.badge {
            why.insert(0, format!("{} -> {}", clean(&mover.before.badge), clean(&mover.after.badge)));
        }
        for line in wrap(&why.join(", "), screen.width.saturating_sub(4)) {
            writeln!(screen, "    {FAINT}{line}{FAINT:#}")?;
        }
    }
    Ok(())
}

fn mover_json(mover: &Mover, ranks: &Ranks) -> Value {
    let (rank_before, rank_after) = ranks.of(mover);
    let side = |verdict: &Verdict, rank: usize| {
        json!({
            "score": verdict.score.map(Score::to_f64),
            "published": verdict.published.map(Published::to_f64),
            "badge": verdict.badge,
            "rank": rank,
        })
    };
    let reasons: Vec<Value> = mover
        .reasons()
        .iter()
        .map(|(name, change)| json!({ "part": name, "change": change.to_f64() }))
        .collect();
    json!({
        "subject": mover.before.subject,
        "id": mover.before.id,
        "before": side(&mover.before, rank_before),
        "after": side(&mover.after, rank_after),
        "change": mover.moved().to_f64(),
        "reasons": reasons,
    })
}
