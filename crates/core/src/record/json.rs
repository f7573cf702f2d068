//! The canonical JSON of a record (RFC 8785).

use alloc::vec::Vec;

use super::{DimensionRecord, ENGINE_VERSION, GroupRecord, Published, Reason, Record, Step, TierRecord};
use crate::facts::{Digest, Fact, ItemContext, Outcome};
use crate::json::{
    member, write_digest, write_displayed, write_flag, write_integer, write_list, write_number, write_option,
    write_string,
};
use crate::mean::Mean;
use crate::number::{Score, write_json};
use crate::timestamp::Text;

/// The kind of evidence whose records answer as the arena does.
const MATCH: &str = "match";

impl Record<'_> {
    /// Returns the identity of the record: SHA-256 over its canonical JSON.
    #[must_use]
    pub fn digest(&self) -> Digest {
        let mut bytes = Vec::with_capacity(2048);
        self.write(&mut bytes);
        Digest::of(&bytes)
    }

    /// Appends the canonical JSON. Members are in key order, as RFC 8785 requires.
    pub fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"{\"as_of\":");
        write_option(out, self.as_of, write_string);
        out.extend_from_slice(b",\"band\":");
        write_option(out, self.band, write_string);
        out.extend_from_slice(b",\"bounds\":");
        write_option(out, self.bounds, |out, (low, high)| {
            out.extend_from_slice(b"{\"high\":");
            write_published(out, high);
            out.extend_from_slice(b",\"low\":");
            write_published(out, low);
            out.push(b'}');
        });
        out.extend_from_slice(b",\"composite\":");
        write_option(out, self.composite, write_score);
        out.extend_from_slice(b",\"coverage\":");
        write_json(out, self.coverage, 9);
        out.extend_from_slice(b",\"dimensions\":");
        write_list(out, &self.dimensions, DimensionRecord::write);
        out.extend_from_slice(b",\"engine\":");
        write_string(out, ENGINE_VERSION);
        out.extend_from_slice(b",\"evidence\":{\"digest\":");
        write_digest(out, self.item.digest);
        out.extend_from_slice(b",\"id\":");
        write_string(out, self.item.id);
        out.extend_from_slice(b",\"kind\":");
        write_string(out, &self.card.evidence);
        let ItemContext { time, task, outcome, cases } = self.item.context;
        // Only an aggregate has cases.
        if let Some(cases) = cases {
            out.extend_from_slice(b",\"n\":");
            write_integer(out, i64::try_from(cases).unwrap_or(i64::MAX));
        }
        out.extend_from_slice(b",\"outcome\":");
        write_option(out, outcome.map(Outcome::name), write_string);
        out.extend_from_slice(b",\"task\":");
        write_option(out, task, write_string);
        out.extend_from_slice(b",\"time\":");
        write_option(out, time, |out, time| write_string(out, Text::of(time).as_str()));
        out.extend_from_slice(b"},\"facts\":{");
        self.write_facts(out);
        out.extend_from_slice(b"},\"gates\":");
        write_list(out, &self.gates, |name, out| write_string(out, name));
        out.extend_from_slice(b",\"grading\":");
        match self.item.grading {
            Some(grading) => out.extend_from_slice(grading.as_bytes()),
            None => out.extend_from_slice(b"null"),
        }
        // Only a card with groups has some.
        if !self.groups.is_empty() {
            out.extend_from_slice(b",\"groups\":");
            write_list(out, &self.groups, GroupRecord::write);
        }
        if self.is_match() {
            out.extend_from_slice(b",\"match\":");
            self.write_match(out);
        }
        out.extend_from_slice(b",\"mean\":");
        write_string(out, self.card.mean.name());
        out.extend_from_slice(b",\"override\":");
        write_option(out, self.override_use, |out, used| used.write(out));
        out.extend_from_slice(b",\"profile\":");
        write_option(out, self.profile, |out, profile| {
            out.extend_from_slice(b"{\"asked\":");
            write_option(out, profile.asked, write_string);
            out.extend_from_slice(b",\"fallback\":");
            write_flag(out, profile.fallback);
            out.extend_from_slice(b",\"name\":");
            write_string(out, profile.name);
            out.push(b'}');
        });
        out.extend_from_slice(b",\"scale\":{\"max\":");
        write_integer(out, i64::from(self.card.scale.max));
        out.extend_from_slice(b",\"places\":");
        write_integer(out, i64::from(self.card.scale.places));
        out.extend_from_slice(b",\"publish\":");
        write_string(out, self.card.scale.publish.name());
        out.extend_from_slice(b"},\"schema\":\"karat/record/1\",\"score\":");
        write_option(out, self.score.zip(self.published), |out, (exact, published)| {
            out.extend_from_slice(b"{\"exact\":");
            write_score(out, exact);
            out.extend_from_slice(b",\"published\":");
            write_published(out, published);
            out.push(b'}');
        });
        out.extend_from_slice(b",\"scorecard\":{\"digest\":");
        write_digest(out, self.card.digest);
        out.extend_from_slice(b",\"id\":");
        write_string(out, &self.card.id);
        out.extend_from_slice(b",\"version\":");
        write_string(out, &self.card.version);
        out.extend_from_slice(b"},\"status\":");
        write_string(out, self.status.name());
        out.extend_from_slice(b",\"steps\":");
        write_list(out, &self.steps, Step::write);
        out.extend_from_slice(b",\"subject\":");
        write_string(out, self.item.subject);
        out.extend_from_slice(b",\"tier\":");
        write_option(out, self.tier.as_ref(), |out, tier| tier.write(out));
        out.extend_from_slice(b",\"undecided\":");
        write_list(out, &self.undecided, |name, out| write_string(out, name));
        out.extend_from_slice(b",\"warnings\":");
        write_list(out, &self.warnings, |warning, out| {
            out.extend_from_slice(b"{\"code\":");
            write_string(out, warning.code());
            out.extend_from_slice(b",\"message\":");
            write_displayed(out, warning);
            out.push(b'}');
        });
        out.push(b'}');
    }

    /// Returns true for the record of a match, which has a member `match`.
    #[must_use]
    pub fn is_match(&self) -> bool {
        self.card.evidence == MATCH
    }

    /// Appends what the arena answers to a submission (arena document, "Score Breakdown" and "Submission Validation") as
    /// canonical JSON. All of it follows from the dimensions and from `grading`.
    pub fn write_match(&self, out: &mut Vec<u8>) {
        let found = |name| self.item.grading.and_then(|grading| member(grading, name));
        out.push(b'{');
        for name in ["constraint_violations", "harness_warning"] {
            if let Some(value) = found(name) {
                write_string(out, name);
                out.push(b':');
                out.extend_from_slice(value.as_bytes());
                out.push(b',');
            }
        }
        out.extend_from_slice(b"\"score\":");
        write_option(out, self.published, write_published);
        out.extend_from_slice(b",\"score_breakdown\":{");
        // Where something had to be executed and there is no verdict, a dimension without a value scores nothing, not 0.
        let has_verdict = self.published.is_some() || found("execution").is_none();
        let is_shown = |dimension: &&DimensionRecord<'_>| has_verdict || dimension.reading.is_some();
        let mut dimensions: Vec<&DimensionRecord<'_>> = self.dimensions.iter().filter(is_shown).collect();
        // Keys are ASCII, so their bytes are in the order that canonical JSON has.
        dimensions.sort_unstable_by_key(|dimension| dimension.key);
        let decimals = |places: u32| places.saturating_sub(self.card.scale.max.ilog10()) as usize;
        for (at, dimension) in dimensions.into_iter().enumerate() {
            if at > 0 {
                out.push(b',');
            }
            write_string(out, dimension.key);
            out.extend_from_slice(b":{\"score\":");
            // A dimension without a value scores 0.
            write_json(out, dimension.reading.unwrap_or(0), decimals(9));
            out.extend_from_slice(b",\"weight\":");
            match self.card.mean {
                Mean::WeightedSum => write_json(out, dimension.weight.millionths(), 6),
                _ => write_json(out, dimension.effective_weight, 9),
            }
            out.extend_from_slice(b",\"weighted\":");
            write_json(out, dimension.contribution.units(), decimals(15));
            out.push(b'}');
        }
        out.push(b'}');
        if let Some(warnings) = found("submission_warnings") {
            out.extend_from_slice(b",\"submission_warnings\":");
            out.extend_from_slice(warnings.as_bytes());
        }
        out.push(b'}');
    }

    /// Writes the facts that were given, sorted by name.
    fn write_facts(&self, out: &mut Vec<u8>) {
        let mut first = true;
        for &at in &self.card.facts_by_name {
            let (Some(declared), Some(fact)) = (self.card.facts.get(at), self.item.facts.get(at)) else {
                continue;
            };
            if *fact == Fact::Missing {
                continue;
            }
            if !core::mem::take(&mut first) {
                out.push(b',');
            }
            write_string(out, &declared.name);
            out.push(b':');
            match *fact {
                Fact::Number(value) => write_number(out, value),
                Fact::Flag(value) => write_flag(out, value),
                Fact::Text(value) => write_string(out, value),
                Fact::Missing => {}
            }
        }
    }
}

impl DimensionRecord<'_> {
    fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"{\"contribution\":");
        write_score(out, self.contribution);
        if let Some(decay) = self.decay {
            out.extend_from_slice(b",\"decay\":{\"age_seconds\":");
            write_number(out, decay.age_seconds);
            out.extend_from_slice(b",\"before\":");
            write_json(out, decay.before, 9);
            out.push(b'}');
        }
        out.extend_from_slice(b",\"effective_weight\":");
        write_json(out, self.effective_weight, 9);
        out.extend_from_slice(b",\"group\":");
        write_option(out, self.group, write_string);
        out.extend_from_slice(b",\"key\":");
        write_string(out, self.key);
        out.extend_from_slice(b",\"reading\":");
        write_option(out, self.reading, |out, reading| write_json(out, reading, 9));
        out.extend_from_slice(b",\"reason\":");
        match self.reason {
            Reason::None => out.extend_from_slice(b"null"),
            reason => write_displayed(out, &reason),
        }
        out.extend_from_slice(b",\"status\":");
        write_string(out, self.status.name());
        out.extend_from_slice(b",\"weight\":");
        write_json(out, self.weight.millionths(), 6);
        out.push(b'}');
    }
}

impl GroupRecord<'_> {
    fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"{\"contribution\":");
        write_score(out, self.contribution);
        out.extend_from_slice(b",\"effective_weight\":");
        write_json(out, self.effective_weight, 9);
        out.extend_from_slice(b",\"group\":");
        write_option(out, self.group, write_string);
        out.extend_from_slice(b",\"key\":");
        write_string(out, self.key);
        out.extend_from_slice(b",\"reading\":");
        write_option(out, self.reading, |out, reading| write_json(out, reading, 9));
        out.extend_from_slice(b",\"weight\":");
        write_json(out, self.weight.millionths(), 6);
        out.push(b'}');
    }
}

impl Step<'_> {
    fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"{\"after\":");
        write_score(out, self.after);
        out.extend_from_slice(b",\"before\":");
        write_score(out, self.before);
        out.extend_from_slice(b",\"kind\":");
        write_string(out, self.kind.name());
        out.extend_from_slice(b",\"name\":");
        write_string(out, self.name);
        out.push(b'}');
    }
}

impl TierRecord<'_> {
    fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"{\"blocked_by\":");
        write_list(out, &self.blocked_by, |blocker, out| {
            out.extend_from_slice(b"{\"condition\":");
            write_displayed(out, &blocker.condition);
            out.extend_from_slice(b",\"found\":");
            write_option(out, blocker.found, write_published);
            out.extend_from_slice(b",\"needed\":");
            write_json(out, blocker.needed.millionths(), 6);
            out.push(b'}');
        });
        out.extend_from_slice(b",\"name\":");
        write_option(out, self.name, write_string);
        out.extend_from_slice(b",\"next\":");
        write_option(out, self.next, write_string);
        out.push(b'}');
    }
}

fn write_score(out: &mut Vec<u8>, score: Score) {
    write_json(out, score.units(), 15);
}

fn write_published(out: &mut Vec<u8>, published: Published) {
    write_json(out, published.value, published.places as usize);
}
