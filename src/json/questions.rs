//! The questions about many items: settings, items, and the answer of the command.

use std::ops::ControlFlow;
use std::path::Path;

use serde::Deserialize;
use serde_json::Value;

use super::settings::{attempts, decimal, names, parsed, toml, within};
use super::{Asked, File, See, written};
use crate::ask::answer::{gaps_of, invalid, subject};
use crate::ask::compare::{Asked as Sides, of_sides};
use crate::ask::leaderboard::kept;
use crate::ask::{About, Attempts, Compare, Draws, Items, Leaderboard, Standing, number_of};
use crate::document;
use crate::error::Error;
use crate::gate::{BASELINE, Baseline, RUN, comparison_document, judge_leaderboard, judge_sums};
use crate::leaderboard::By;
use crate::project::Project;
use crate::question;
use crate::ratings::{self, MatchReader, Question, SystemName};
use crate::rows::Selection;
use crate::standing::events::{self, Events};
use crate::sums;

/// The settings of a leaderboard that a query does not have.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct BoardSettings {
    attempts: Option<Value>,
    pass: Option<Value>,
    robustness: bool,
    #[serde(flatten)]
    weights: Draws,
    /// True if the rows are sums instead of items.
    from_sums: bool,
}

const ITEMS: [&str; 7] = ["subject_field", "task_field", "rename", "where", "since", "until", "as_of"];
const SURE: [&str; 1] = ["level"];
const BOARD: [&str; 14] = [
    "card", "by", "with", "cost", "sort", "group_by", "method", "min_tasks", "attempts", "pass",
    "robustness", "draws", "seed", "from_sums",
];
const COMPARE: [&str; 7] = ["first", "second", "card", "fail_if_worse", "strict", "attempts", "pass"];
const STANDING: [&str; 5] = ["card", "subject", "tasks", "events", "events_text"];
const RATE: [&str; 16] = [
    "system", "columns", "set", "arena", "holdout", "by", "judge", "people", "rename", "skip", "component",
    "covariates", "bootstrap", "resamples", "seed", "level",
];

pub(super) fn leaderboard(asking: &Asked<'_>, seen: &mut impl See) -> Result<Vec<u8>, Error> {
    let known = [&BOARD[..], &ITEMS, &SURE].concat();
    let more: BoardSettings = asking.settings(&known)?;
    let pass = more.pass.as_ref().map(|points| decimal("pass", points)).transpose()?;
    let ask: Leaderboard = asking.settings(&known)?;
    let weights = more.weights;
    weights.check()?;
    let attempts = more.attempts.as_ref().map(attempts).transpose()?;
    let ask = Leaderboard { attempts, pass, robustness: more.robustness, weights, ..ask };
    within(ask.sure.confidence.level)?;
    if ask.pass.is_some() && ask.attempts.is_none() {
        return Err(invalid("`pass` needs `attempts`").hint("attempts: the largest k of pass@k"));
    }
    if more.from_sums {
        let card = asking.card(ask.card.as_deref())?;
        let card = card.ok_or_else(|| invalid("sums need `card`, the scorecard that they are of"))?;
        let mut loader = sums::Loader::new(card, &ask.items.fields);
        let wanted = loader.wanted();
        for file in &asking.files {
            asking.each(file, &wanted, &mut |place, row| {
                loader.take(place, row);
                ControlFlow::Continue(())
            })?;
        }
        let sums = loader.finish()?;
        let judged = judge_sums(&ask, &Default::default(), &sums)?;
        seen.see(|| judged.document_of_sums(&sums));
        return Ok(written(&judged.answer));
    }
    let labels: Vec<String> = ask.group_by.iter().cloned().collect();
    let kept = kept(&ask);
    let selection = Selection { labels: &labels, kept: &kept, ..selection(&ask.items) };
    let mut loaded = asking.load(selection, asking.card(ask.card.as_deref())?, &ask.items, &asking.files)?;
    let judged = judge_leaderboard(&ask, &Default::default(), &mut loaded.rows, &Events::default())?;
    seen.see(|| judged.document(&loaded.rows, Vec::new()));
    Ok(written(&judged.answer))
}

pub(super) fn compare(asking: &Asked<'_>, seen: &mut impl See) -> Result<Vec<u8>, Error> {
    let known = [&COMPARE[..], &ITEMS, &SURE].concat();
    let mut settings = asking.settings.clone();
    let mut points = |key: &str| settings.remove(key).map(|points| decimal(key, &points)).transpose();
    let (fail_if_worse, pass) = (points("fail_if_worse")?, points("pass")?);
    let attempts = settings.remove("attempts").map(|it| attempts(&it)).transpose()?;
    if let Some(Attempts::UpTo(_)) = attempts {
        return Err(invalid("`attempts` of a comparison is `first`"));
    }
    asking.refuse_unknown(&known)?;
    let ask = Compare { fail_if_worse, attempts, pass, ..parsed(settings)? };
    within(ask.sure.confidence.level)?;
    if ask.strict && fail_if_worse.is_none() {
        return Err(invalid("`strict` needs `fail_if_worse`").hint("fail_if_worse: 0"));
    }
    // Two files, if they are what is named; else two subjects.
    let sides = [&ask.first, &ask.second].map(|side| asking.files.iter().find(|file| file.name == *side));
    let sides: Vec<(String, String)> = match sides {
        [Some(first), Some(second)] => {
            [first, second].into_iter().flat_map(|file| asking.side(file, &file.name)).collect()
        }
        _ => Vec::new(),
    };
    let are_sides = !sides.is_empty();
    let kept = Attempts::kept(ask.attempts);
    let selection = Selection { by_file: are_sides, sides: &sides, kept: &kept, ..selection(&ask.items) };
    let rows = asking.load(selection, asking.card(ask.card.as_deref())?, &ask.items, &asking.files)?.rows;
    let (first, second) = (ask.first.as_str(), ask.second.as_str());
    let asked = match are_sides {
        true => of_sides(&rows, first, second)?,
        false => Sides::Pair((subject(&rows, first)?, subject(&rows, second)?)),
    };
    if let Sides::Pair((one, other)) = asked
        && one == other
    {
        return Err(
            invalid("a subject cannot be compared with itself").hint("name two subjects, or two files")
        );
    }
    let answer = ask.answer(&rows, asked)?;
    seen.see(|| comparison_document(&answer, &rows));
    Ok(written(&answer))
}

pub(super) fn gate(asking: &Asked<'_>, seen: &mut impl See) -> Result<Vec<u8>, Error> {
    let mut settings = asking.settings.clone();
    if let Some(path) =
        ["inputs", "baseline", "history"].into_iter().find(|name| settings.contains_key(*name))
    {
        return Err(
            invalid(format!("`{path}` names files, and a question has texts")).hint("hand over their texts")
        );
    }
    // Both are handed over as texts.
    settings.insert(String::from("inputs"), names(&asking.files));
    if !asking.baseline.is_empty() {
        settings.insert(String::from("baseline"), names(&asking.baseline));
    }
    if !asking.history.is_empty() {
        settings.insert(String::from("history"), names(&asking.history));
    }
    if asking.card_text.is_some() {
        settings.entry("card").or_insert_with(|| Value::from("scorecard.toml"));
    }
    let mut text = String::new();
    for (key, value) in settings.iter().filter(|(_, value)| !value.is_null()) {
        text.push_str(&format!("{} = ", Value::from(key.as_str())));
        toml(value, &mut text);
        text.push('\n');
    }
    let project = Project::parse(&text, Path::new(crate::project::NAME))
        .map_err(|found| Error::refused_project("settings", &text, &found))?;
    let sides: Vec<(String, String)> = [(&asking.baseline, BASELINE), (&asking.files, RUN)]
        .into_iter()
        .flat_map(|(files, side)| files.iter().flat_map(|file| asking.side(file, side)))
        .collect();
    let baseline = match asking.baseline.is_empty() {
        true => Baseline::Unnamed,
        false => Baseline::Loaded(String::from("the baseline")),
    };
    let has_sides = baseline != Baseline::Unnamed;
    let (kept, of_history) = (project.gate.kept(), project.gate.kept_of_history());
    let of_run = Selection {
        by_file: has_sides,
        sides: if has_sides { &sides } else { &[] },
        alone: has_sides.then_some(RUN),
        kept: &kept,
        ..selection(&project.items)
    };
    let files = asking.baseline.iter().chain(&asking.files);
    let card = || asking.card(Some(&project.card));
    let mut loaded = asking.load(of_run, card()?, &project.items, files)?;
    if project.gate.trend.is_some() || !asking.history.is_empty() {
        let by_run = project.gate.trend.as_ref().is_some_and(|trend| trend.is_by_file(2));
        let of_all = Selection { kept: &of_history, by_run, ..selection(&project.items) };
        let files = asking.history.iter().chain(&asking.files);
        loaded.history = Some(asking.load(of_all, card()?, &project.items, files)?.rows);
    }
    let judged = project.gate.judge(&project.items, &mut loaded, &baseline)?;
    seen.see(|| {
        let notes = judged.notes.iter().chain(judged.verdict().warnings()).cloned().collect();
        judged.document(&judged.answer(notes), &loaded, false)
    });
    Ok(written(&judged.answer(Vec::new())))
}

pub(super) fn rate(asking: &Asked<'_>, seen: &mut impl See) -> Result<Vec<u8>, Error> {
    asking.refuse_unknown(&RATE)?;
    let system = asking.settings.get("system").and_then(Value::as_str).and_then(SystemName::from_name);
    if system.is_none() {
        return Err(
            invalid("`system` is not a rating system").hint("elo, glicko2, weng-lin or bradley-terry")
        );
    }
    let question: Question = parsed(asking.settings.clone())?;
    question.check(false)?;
    within(question.level)?;
    number_of("resamples", question.resamples)?;
    let mut reader = MatchReader::new(&question)?;
    let wanted = reader.wanted();
    for file in &asking.files {
        asking.each(file, &wanted, &mut |place, row| {
            reader.add(place, row);
            ControlFlow::Continue(())
        })?;
    }
    let rating = ratings::rate(&question, &reader.finish()?)?;
    seen.see(|| document::ratings(&rating));
    Ok(written(&rating))
}

pub(super) fn standing(asking: &Asked<'_>, seen: &mut impl See) -> Result<Vec<u8>, Error> {
    let known = [&STANDING[..], &ITEMS, &SURE].concat();
    asking.refuse_unknown(&known)?;
    let mut settings = asking.settings.clone();
    let text = match settings.remove("events_text").unwrap_or_default() {
        Value::Null => None,
        Value::String(text) => Some(text),
        other => return Err(invalid(format!("`events_text` is `{other}`, expected the text of a file"))),
    };
    let ask: Standing = parsed(settings)?;
    within(ask.sure.level)?;
    ask.moment()?;
    if ask.events.is_some() && text.is_none() {
        return Err(invalid("`events` names a file, and a question has its text")
            .hint("hand it over as `events_text`"));
    }
    if ask.tasks && (ask.subject.is_some() || text.is_some()) {
        return Err(
            invalid("`tasks` goes with neither `subject` nor `events_text`").hint("leave out one of them")
        );
    }
    let name = ask.events.as_deref().unwrap_or("events");
    let events = text.map(|text| events::read(name, &text)).transpose()?.unwrap_or_default();
    let selection = selection(&ask.items);
    let rows = asking.load(selection, asking.card(ask.card.as_deref())?, &ask.items, &asking.files)?.rows;
    let answer = ask.answer(&rows, &events)?;
    seen.see(|| answer.document());
    Ok(answer.lines().collect::<Vec<String>>().join("\n").into_bytes())
}

/// Answers a question that every door asks in one way.
pub(super) fn ask<Q: question::Question>(asking: &Asked<'_>, seen: &mut impl See) -> Result<Vec<u8>, Error> {
    let ask: Q = asking.settings(&[Q::SETTINGS, About::SETTINGS].concat())?;
    ask.check()?;
    let (about, kept) = (ask.about(), ask.kept());
    let files = asking.files.iter().map(|file| asking.files(file).len()).sum();
    let by_run = ask.is_by_file(files);
    let selection = Selection { kept: &kept, by_run, ..selection(&about.items) };
    let card = asking.card(about.card.as_deref())?;
    let rows = asking.load(selection, card, &about.items, &asking.files)?.rows;
    let answer = ask.answer(&rows)?;
    seen.see(|| Q::document(&answer, &gaps_of(&rows, By::Score)));
    Ok(written(&answer))
}

impl Asked<'_> {
    /// Returns the names of a file in the places of its items, each with the side that it is.
    fn side<'f>(&'f self, file: &'f File, side: &'f str) -> impl Iterator<Item = (String, String)> {
        self.files(file).iter().map(move |name| (name.clone(), side.to_owned()))
    }
}

fn selection(items: &Items) -> Selection<'_> {
    Selection { wish: items.wish(), renames: &items.rename, is_query: true, ..Selection::default() }
}
