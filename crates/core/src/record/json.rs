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

/// Appends the text before a value, which goes there next.
fn put<'a>(out: &'a mut Vec<u8>, text: &[u8]) -> &'a mut Vec<u8> {
    out.extend_from_slice(text);
    out
}

impl Record<'_> {
    /// Returns the identity of the record: SHA-256 over its canonical JSON.
    pub fn digest(&self) -> Digest {
        let mut bytes = Vec::with_capacity(2048);
        self.write(&mut bytes);
        Digest::of(&bytes)
    }

    /// Appends the canonical JSON. Members are in key order, as RFC 8785 requires.
    pub fn write(&self, out: &mut Vec<u8>) {
        write_option(put(out, b"{\"as_of\":"), self.as_of, write_string);
        write_option(put(out, b",\"band\":"), self.band, write_string);
        write_option(put(out, b",\"bounds\":"), self.bounds, |out, (low, high)| {
            write_published(put(out, b"{\"high\":"), high);
            write_published(put(out, b",\"low\":"), low);
            out.push(b'}');
        });
        write_option(put(out, b",\"composite\":"), self.composite, write_score);
        write_json(put(out, b",\"coverage\":"), self.coverage, 9);
        write_list(put(out, b",\"dimensions\":"), &self.dimensions, DimensionRecord::write);
        write_string(put(out, b",\"engine\":"), ENGINE_VERSION);
        write_digest(put(out, b",\"evidence\":{\"digest\":"), self.item.digest);
        write_string(put(out, b",\"id\":"), self.item.id);
        write_string(put(out, b",\"kind\":"), &self.card.evidence);
        let ItemContext { time, task, outcome, cases, part, run } = self.item.context;
        // Only an aggregate has cases.
        if let Some(cases) = cases {
            write_integer(put(out, b",\"n\":"), i64::try_from(cases).unwrap_or(i64::MAX));
        }
        write_option(put(out, b",\"outcome\":"), outcome.map(Outcome::name), write_string);
        for (member, name) in [(&b",\"part\":"[..], part), (b",\"run\":", run)] {
            if let Some(name) = name {
                write_string(put(out, member), name);
            }
        }
        write_option(put(out, b",\"task\":"), task, write_string);
        write_option(put(out, b",\"time\":"), time, |out, time| write_string(out, Text::of(time).as_str()));
        out.extend_from_slice(b"},\"facts\":{");
        self.write_facts(out);
        write_list(put(out, b"},\"gates\":"), &self.gates, |name, out| write_string(out, name));
        out.extend_from_slice(b",\"grading\":");
        match self.item.grading {
            Some(grading) => out.extend_from_slice(grading.as_bytes()),
            None => out.extend_from_slice(b"null"),
        }
        // Only a card with groups has some.
        if !self.groups.is_empty() {
            write_list(put(out, b",\"groups\":"), &self.groups, GroupRecord::write);
        }
        if self.is_match() {
            out.extend_from_slice(b",\"match\":");
            self.write_match(out);
        }
        write_string(put(out, b",\"mean\":"), self.card.mean.name());
        write_option(put(out, b",\"override\":"), self.override_use, |out, used| used.write(out));
        write_option(put(out, b",\"profile\":"), self.profile, |out, profile| {
            write_option(put(out, b"{\"asked\":"), profile.asked, write_string);
            write_flag(put(out, b",\"fallback\":"), profile.fallback);
            write_string(put(out, b",\"name\":"), profile.name);
            out.push(b'}');
        });
        write_integer(put(out, b",\"scale\":{\"max\":"), i64::from(self.card.scale.max));
        write_integer(put(out, b",\"places\":"), i64::from(self.card.scale.places));
        write_string(put(out, b",\"publish\":"), self.card.scale.publish.name());
        write_option(
            put(out, b"},\"schema\":\"karat/record/1\",\"score\":"),
            self.score.zip(self.published),
            |out, (exact, published)| {
                write_score(put(out, b"{\"exact\":"), exact);
                write_published(put(out, b",\"published\":"), published);
                out.push(b'}');
            },
        );
        write_digest(put(out, b",\"scorecard\":{\"digest\":"), self.card.digest);
        write_string(put(out, b",\"id\":"), &self.card.id);
        write_string(put(out, b",\"version\":"), &self.card.version);
        write_string(put(out, b"},\"status\":"), self.status.name());
        write_list(put(out, b",\"steps\":"), &self.steps, Step::write);
        write_string(put(out, b",\"subject\":"), self.item.subject);
        write_option(put(out, b",\"tier\":"), self.tier.as_ref(), |out, tier| tier.write(out));
        write_list(put(out, b",\"undecided\":"), &self.undecided, |name, out| write_string(out, name));
        write_list(put(out, b",\"warnings\":"), &self.warnings, |warning, out| {
            write_string(put(out, b"{\"code\":"), warning.code());
            write_displayed(put(out, b",\"message\":"), warning);
            out.push(b'}');
        });
        out.push(b'}');
    }

    /// Returns true for the record of a match, which has a member `match`.
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
        write_option(put(out, b"\"score\":"), self.published, write_published);
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
            write_json(put(out, b",\"weighted\":"), dimension.contribution.units(), decimals(15));
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
        write_score(put(out, b"{\"contribution\":"), self.contribution);
        if let Some(decay) = self.decay {
            write_number(put(out, b",\"decay\":{\"age_seconds\":"), decay.age_seconds);
            write_json(put(out, b",\"before\":"), decay.before, 9);
            out.push(b'}');
        }
        write_json(put(out, b",\"effective_weight\":"), self.effective_weight, 9);
        write_option(put(out, b",\"group\":"), self.group, write_string);
        write_string(put(out, b",\"key\":"), self.key);
        write_option(put(out, b",\"reading\":"), self.reading, |out, reading| write_json(out, reading, 9));
        out.extend_from_slice(b",\"reason\":");
        match self.reason {
            Reason::None => out.extend_from_slice(b"null"),
            reason => write_displayed(out, &reason),
        }
        write_string(put(out, b",\"status\":"), self.status.name());
        write_json(put(out, b",\"weight\":"), self.weight.millionths(), 6);
        out.push(b'}');
    }
}

impl GroupRecord<'_> {
    fn write(&self, out: &mut Vec<u8>) {
        write_score(put(out, b"{\"contribution\":"), self.contribution);
        write_json(put(out, b",\"effective_weight\":"), self.effective_weight, 9);
        write_option(put(out, b",\"group\":"), self.group, write_string);
        write_string(put(out, b",\"key\":"), self.key);
        write_option(put(out, b",\"reading\":"), self.reading, |out, reading| write_json(out, reading, 9));
        write_json(put(out, b",\"weight\":"), self.weight.millionths(), 6);
        out.push(b'}');
    }
}

impl Step<'_> {
    fn write(&self, out: &mut Vec<u8>) {
        write_score(put(out, b"{\"after\":"), self.after);
        write_score(put(out, b",\"before\":"), self.before);
        write_string(put(out, b",\"kind\":"), self.kind.name());
        write_string(put(out, b",\"name\":"), self.name);
        out.push(b'}');
    }
}

impl TierRecord<'_> {
    fn write(&self, out: &mut Vec<u8>) {
        write_list(put(out, b"{\"blocked_by\":"), &self.blocked_by, |blocker, out| {
            write_displayed(put(out, b"{\"condition\":"), &blocker.condition);
            write_option(put(out, b",\"found\":"), blocker.found, write_published);
            write_json(put(out, b",\"needed\":"), blocker.needed.millionths(), 6);
            out.push(b'}');
        });
        write_option(put(out, b",\"name\":"), self.name, write_string);
        write_option(put(out, b",\"next\":"), self.next, write_string);
        out.push(b'}');
    }
}

fn write_score(out: &mut Vec<u8>, score: Score) {
    write_json(out, score.units(), 15);
}

fn write_published(out: &mut Vec<u8>, published: Published) {
    write_json(out, published.value, published.places as usize);
}
