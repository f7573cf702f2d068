//! The breakdown of a score: the registers of the plan written down as a record.

use alloc::vec::Vec;

use crate::bounds;
use crate::facts::{Fact, Item};
use crate::formula::{Formula, Symbol};
use crate::number::{Decimal, Score};
use crate::plan::{Registers, state};
use crate::record::{
    Blocker, Condition, Decay, DimensionRecord, GroupRecord, ProfileUse, Published, Reason, Record,
    RecordStatus, Step, StepKind, TierRecord, ValueStatus, Warning,
};
use crate::scorecard::{EvidenceAge, Group, MissingPolicy, Tier};
use crate::scorer::{Context, Scorer};
use crate::shares::share_out;

/// The steps of a score after its weighted parts were added.
struct Course<'a> {
    steps: Vec<Step<'a>>,
    /// Rules and gates whose condition was missing or failed.
    undecided: Vec<&'a str>,
    /// Gates that held.
    gates: Vec<&'a str>,
}

impl Scorer {
    /// Returns the record of what the registers hold.
    pub(crate) fn breakdown<'a>(
        &'a self,
        registers: &Registers,
        item: &Item<'a>,
        context: &Context<'a>,
        profile: Option<(usize, ProfileUse<'a>)>,
    ) -> Record<'a> {
        let (card, places) = (&self.card, &self.plan.places);
        let profile_place = profile.map_or(0, |(place, _)| place);
        let raw_score = registers.value(places.score);
        let status = if state::is(raw_score, state::WITHHELD) {
            RecordStatus::Withheld
        } else if raw_score.is_nan() {
            RecordStatus::Unscored
        } else {
            RecordStatus::Scored
        };
        let scored = status == RecordStatus::Scored;
        let to_score = |units: f64| scored.then(|| Score::from_units(units as i64));
        let score = to_score(raw_score);
        let composite = to_score(registers.value(places.composite));
        let published = score.map(|score| card.scale.publish(score));
        let mut warnings = Vec::new();
        if let Some((_, used)) = profile
            && used.fallback
        {
            warnings.push(Warning::ProfileFallback { asked: used.asked, used: used.name });
        }
        self.warn_about_override(&mut warnings);
        let mut dimensions = self.dimension_records(registers, item, profile_place, &mut warnings);
        let group_reading =
            |at: usize| places.groups.get(at).map_or(f64::NAN, |&group| registers.value(group));
        let weighted = share_out(self, profile_place, scored, &mut dimensions, &group_reading);
        let groups = self.group_records(&dimensions, &group_reading);
        let Course { steps, undecided, gates } = self.course(registers, scored, weighted);
        warnings.extend(undecided.iter().map(|&name| Warning::Undecided { name }));
        warnings.extend(item.suspicions.iter().map(|message| Warning::Suspicion { message }));
        let band = (registers.value(places.band) as usize).checked_sub(1).filter(|_| scored);
        let coverage = registers.value(places.coverage) as i64;
        let tier = (!card.tiers.is_empty()).then(|| {
            let reached = if scored { registers.value(places.tier) as usize } else { 0 };
            self.tier_record(registers, reached, published, coverage)
        });
        let mut record = Record {
            card,
            item: *item,
            as_of: context.as_of.map(|as_of| as_of.text),
            status,
            score,
            published,
            composite,
            coverage,
            bounds: None,
            profile: profile.map(|(_, used)| used),
            override_use: self.override_use.as_ref(),
            dimensions,
            groups,
            steps,
            undecided,
            gates,
            band: band.and_then(|at| card.bands.get(at)).map(|band| band.name.as_str()),
            tier,
            warnings,
            elapsed_seconds: context.elapsed_seconds(item),
        };
        record.bounds = bounds::of(self, &record, profile_place);
        record
    }

    /// Returns what happened to the score after the weighted parts were added up to `weighted`.
    fn course(&self, registers: &Registers, scored: bool, weighted: Option<Score>) -> Course<'_> {
        let (card, places) = (&self.card, &self.plan.places);
        let mut course = Course { steps: Vec::new(), undecided: Vec::new(), gates: Vec::new() };
        let score = |units: f64| Score::from_units(units as i64);
        let step = |kind, name, before, after| {
            scored.then(|| Step { kind, name, before: score(before), after: score(after) })
        };
        let composite = registers.value(places.composite);
        let mean = places.aged.map_or(composite, |(mean, _)| registers.value(mean));
        if let Some(before) = weighted.filter(|&weighted| !card.mean.is_linear() || weighted != score(mean)) {
            let (name, after) = (card.mean.name(), score(mean));
            course.steps.push(Step { kind: StepKind::Mean, name, before, after });
        }
        if mean != composite {
            course.steps.extend(step(StepKind::Decay, "decay", mean, composite));
        }
        let mut before = composite;
        for (rule, &(when, set, after)) in card.rules.iter().zip(&places.rules) {
            let (when, set, after) = (registers.value(when), registers.value(set), registers.value(after));
            if when.is_nan() || (when == 1.0 && set.is_nan()) {
                course.undecided.push(rule.name.as_str());
            } else if when == 1.0 {
                course.steps.extend(step(StepKind::Rule, &rule.name, before, after));
            }
            before = after;
        }
        for (gate, &(when, after)) in card.gates.iter().zip(&places.gates) {
            let (when, after) = (registers.value(when), registers.value(after));
            if when.is_nan() {
                course.undecided.push(gate.name.as_str());
            } else if when == 1.0 {
                course.gates.push(gate.name.as_str());
                if gate.cap.is_some() {
                    course.steps.extend(step(StepKind::Gate, &gate.name, before, after));
                }
            }
            before = after;
        }
        course
    }

    fn warn_about_override<'a>(&'a self, warnings: &mut Vec<Warning<'a>>) {
        let Some(used) = &self.override_use else { return };
        if !used.applied {
            warnings.push(Warning::OverrideRejected);
            return;
        }
        let mandatory = |at: usize| {
            self.card.tiers.iter().any(|tier| tier.floors.iter().any(|&(dimension, _)| dimension == at))
        };
        for (at, (dimension, weight)) in self.card.dimensions.iter().zip(&used.effective).enumerate() {
            if mandatory(at) && weight.millionths() * 10 < dimension.weight.millionths() {
                warnings.push(Warning::WeakMandatory { dimension: &dimension.key });
            }
        }
    }

    fn dimension_records<'a>(
        &'a self,
        registers: &Registers,
        item: &Item<'a>,
        profile: usize,
        warnings: &mut Vec<Warning<'a>>,
    ) -> Vec<DimensionRecord<'a>> {
        let mut records = Vec::with_capacity(self.card.dimensions.len());
        for (at, (dimension, places)) in
            self.card.dimensions.iter().zip(&self.plan.places.dimensions).enumerate()
        {
            let reading = registers.value(places.reading);
            let value = registers.value(places.value);
            let closed = places.when.is_some_and(|when| registers.value(when) == 0.0);
            let failure = state::failure(reading);
            let status = if state::is(reading, state::NOT_APPLICABLE) {
                ValueStatus::NotApplicable
            } else if failure.is_some() {
                ValueStatus::Failed
            } else if reading.is_nan() {
                ValueStatus::Missing
            } else if closed {
                ValueStatus::Gated
            } else {
                ValueStatus::Scored
            };
            let condition = |formula: &'a Option<Formula>| {
                Reason::ConditionFalse(formula.as_ref().map_or("", |formula| &formula.text))
            };
            let age_seconds = places.age.map_or(f64::NAN, |age| registers.value(age));
            let before = registers.value(places.measured) as i64;
            let is_measured = status == ValueStatus::Scored;
            let decay = (is_measured && !age_seconds.is_nan()).then_some(Decay { age_seconds, before });
            let reason = match status {
                ValueStatus::Scored => match decay {
                    Some(decay) if reading < before as f64 => Reason::Decayed(decay),
                    _ => Reason::None,
                },
                ValueStatus::Gated => condition(&dimension.when),
                ValueStatus::NotApplicable => condition(&dimension.applies),
                ValueStatus::Missing => self.missing_need(at, registers, item),
                ValueStatus::Failed => Reason::Failure(failure.unwrap_or("no result")),
            };
            let unknown = status.is_unmeasured();
            let filled = match dimension.missing {
                MissingPolicy::Zero if unknown => Some(0),
                MissingPolicy::Default(billionths) if unknown => {
                    warnings.push(Warning::DefaultUsed { dimension: &dimension.key });
                    Some(billionths)
                }
                _ => None,
            };
            records.push(DimensionRecord {
                key: &dimension.key,
                status,
                reading: if reading.is_nan() { filled } else { Some(reading as i64) },
                value: (!value.is_nan()).then_some(value),
                weight: self.weighting.weight(at, profile),
                effective_weight: 0,
                contribution: Score::ZERO,
                reason,
                group: dimension
                    .group
                    .and_then(|at| self.card.groups.get(at))
                    .map(|group| group.key.as_str()),
                decay,
            });
        }
        if self.card.decay().is_some() {
            let ages = self.card.dimensions.iter().zip(&records);
            let ages = ages.filter(|(dimension, it)| {
                it.status == ValueStatus::Scored && dimension.age != EvidenceAge::Now
            });
            let (measured, without) = ages.fold((0, 0), |(measured, without), (_, it)| {
                (measured + 1, without + usize::from(it.decay.is_none()))
            });
            if without > 0 {
                warnings.push(Warning::NotDecayed { without, measured });
            }
        }
        records
    }

    /// Returns the groups, with the sums of what their dimensions make.
    fn group_records<'a>(
        &'a self,
        dimensions: &[DimensionRecord<'a>],
        group_reading: &dyn Fn(usize) -> f64,
    ) -> Vec<GroupRecord<'a>> {
        let groups = &self.card.groups;
        let key = |at: Option<usize>| at.and_then(|at| groups.get(at)).map(|group| group.key.as_str());
        let record = |(at, group): (usize, &'a Group)| {
            let reading = group_reading(at);
            GroupRecord {
                key: &group.key,
                reading: (!reading.is_nan()).then_some(reading as i64),
                weight: group.weight,
                effective_weight: 0,
                contribution: Score::ZERO,
                group: key(group.parent),
            }
        };
        let mut records: Vec<GroupRecord<'a>> = groups.iter().enumerate().map(record).collect();
        for (dimension, own) in dimensions.iter().zip(&self.card.dimensions) {
            let mut group = own.group;
            while let Some((at, record)) = group.and_then(|at| Some((at, records.get_mut(at)?))) {
                record.effective_weight += dimension.effective_weight;
                let units = record.contribution.units() + dimension.contribution.units();
                record.contribution = Score::from_units(units);
                group = groups.get(at).and_then(|group| group.parent);
            }
        }
        records
    }

    /// Returns whether the card puts a reading in where a dimension has none.
    fn is_filled(&self, dimension: usize) -> bool {
        let policy = self.card.dimensions.get(dimension).map(|dimension| dimension.missing);
        matches!(policy, Some(MissingPolicy::Zero | MissingPolicy::Default(_)))
    }

    /// Returns the first thing a dimension needs that is not there.
    fn missing_need<'a>(&'a self, dimension: usize, registers: &Registers, item: &Item<'a>) -> Reason<'a> {
        let places = &self.plan.places.dimensions;
        let absent = |symbol: &Symbol| match *symbol {
            Symbol::Fact(at) => {
                let fact = item.facts.get(at).unwrap_or(&Fact::Missing);
                self.card.facts.get(at).is_none_or(|declared| declared.is_missing(fact))
            }
            // A policy that puts a reading in leaves nothing to need, except where the dimension does not apply.
            Symbol::Reading(at) => {
                places.get(at).map(|place| registers.value(place.reading)).is_some_and(|reading| {
                    reading.is_nan() && (state::is(reading, state::NOT_APPLICABLE) || !self.is_filled(at))
                })
            }
            _ => false,
        };
        let needs = self.needs.get(dimension).map_or(&[][..], Vec::as_slice);
        match needs.iter().copied().find(absent) {
            Some(symbol) => Reason::Needs(self.card.symbol_name(symbol)),
            None => Reason::None,
        }
    }

    fn tier_record(
        &self,
        registers: &Registers,
        reached: usize,
        published: Option<Published>,
        coverage: i64,
    ) -> TierRecord<'_> {
        let card = &self.card;
        let next = card.tiers.get(reached);
        let blocked_by =
            next.map_or_else(Vec::new, |tier| self.blockers(registers, reached, tier, published, coverage));
        TierRecord {
            name: reached.checked_sub(1).and_then(|at| card.tiers.get(at)).map(|tier| tier.name.as_str()),
            next: next.map(|tier| tier.name.as_str()),
            blocked_by,
        }
    }

    fn blockers<'a>(
        &'a self,
        registers: &Registers,
        reached: usize,
        tier: &'a Tier,
        published: Option<Published>,
        coverage: i64,
    ) -> Vec<Blocker<'a>> {
        let (card, places) = (&self.card, &self.plan.places);
        let mut blockers = Vec::new();
        if !published.is_some_and(|published| published.reaches(tier.score)) {
            blockers.push(Blocker { condition: Condition::Score, needed: tier.score, found: published });
        }
        let share = |billionths: i64| Published { value: billionths, places: 9 };
        if coverage < tier.coverage.millionths() * 1000 {
            blockers.push(Blocker {
                condition: Condition::Coverage,
                needed: tier.coverage,
                found: Some(share(coverage)),
            });
        }
        for &(at, floor) in &tier.floors {
            let reading = places.dimensions.get(at).map_or(f64::NAN, |place| registers.value(place.reading));
            if reading >= floor as f64 {
                continue;
            }
            let key = card.dimensions.get(at).map_or("", |dimension| &dimension.key);
            let found = (!reading.is_nan()).then(|| share(reading as i64));
            let needed = Decimal::from_millionths(floor / 1000);
            blockers.push(Blocker { condition: Condition::Dimension(key), needed, found });
        }
        for (gate, &(when, _)) in card.gates.iter().zip(&places.gates) {
            if registers.value(when) == 1.0 && gate.tier_limit.is_some_and(|limit| limit <= reached) {
                let needed = Decimal::ZERO;
                blockers.push(Blocker { condition: Condition::Gate(&gate.name), needed, found: None });
            }
        }
        blockers
    }
}
