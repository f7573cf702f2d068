//! `karat site`: leaderboards as a static site, from files or from a server.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write as _};
use std::path::Path;
use std::time::Duration;

use karat::answers::leaderboard::{LeaderboardAnswer, OFFICIAL};
use karat::answers::standing::Standing;
use karat::answers::{self, Answer};
use karat::ask::leaderboard::query;
use karat::ask::{AsOf, Items, Standing as StandingAsked};
use karat::cards::CardText;
use karat::engine::Options;
use karat::error::Place;
use karat::inputs::{Inputs, Silent};
use karat::leaderboard::Settings;
use karat::loaded::Loading;
use karat::record::Record;
use karat::rows::{Selection, StoredRecord, Unclear};
use karat::site::{self, Board, MARK};
use karat::standing::events::Events;
use karat::text::{clean, count};
use karat_core::timestamp::TimestampError;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::export::each_record;
use super::leaderboard::compute;
use super::standing::events_of;
use crate::args::{Cli, FormArgs, LeaderboardArgs, SiteArgs};
use crate::client::{Client, KeyFile, escaped};
use crate::load::engine_of;
use karat_terminal::cards;
use karat_terminal::exit::Exit;
use karat_terminal::failure::Failure;
use karat_terminal::output::{Screen, command, replace_folder};

/// The time for an answer of a server.
const TIMEOUT: Duration = Duration::from_secs(120);
/// The longest answer of a server.
const ANSWER_MAX_BYTES: u64 = 256 << 20;
/// The most records that are read of a server, the newest: as many as it compares itself.
const READ_MAX: usize = 20_000;

/// Writes the site.
pub fn run(args: &SiteArgs, cli: &Cli) -> Result<Exit, Failure> {
    refuse_foreign(&args.folder)?;
    let boards = match &args.from {
        Some(address) => from_server(args, address, cli)?,
        None => vec![from_files(args, cli)?],
    };
    let files = site::files(&boards)?;
    replace_folder(&args.folder, files.iter().map(|(path, bytes)| (path.as_str(), bytes.as_slice())))?;
    let pages = files.keys().filter(|path| path.ends_with(".html")).count();
    writeln!(Screen::stdout(cli.color), "{} in {}", count(pages, "page"), clean(&args.folder))?;
    Ok(Exit::Done)
}

/// Ranks the items of files, as `karat leaderboard` does.
fn from_files(args: &SiteArgs, cli: &Cli) -> Result<Board, Failure> {
    let inputs = Inputs::new(&args.files)?;
    if inputs.has_standard_input() {
        return Err(Failure::new("a site is made of files, which are read twice, and not of standard input")
            .help("name the files: karat site DIR FILE"));
    }
    let asked = LeaderboardArgs {
        ask: args.ask.clone(),
        form: FormArgs { no_progress: args.no_progress, ..FormArgs::default() },
        files: args.files.clone(),
        ..LeaderboardArgs::default()
    };
    let (rows, judged) = compute(&asked, cli)?;
    let wanted = site::wanted(&rows);
    let mut records = BTreeMap::new();
    let fields = &args.ask.items.fields;
    let mut engine = engine_of(args.ask.card.as_deref(), &inputs, (&Default::default(), fields), cli)?;
    if let Some((_, engine)) = &mut engine {
        engine.set_as_of_written(args.ask.items.as_of.as_ref().map(AsOf::written));
    }
    each_record(&inputs, engine, &Silent, |record| {
        let digest = record.document().evidence.digest;
        if wanted.contains(&digest) {
            records.insert(digest, record.clone());
        }
        Ok(())
    })?;
    let mut standings = BTreeMap::new();
    if let Some(as_of) = official_at(&judged.answer) {
        let items = Items {
            as_of: Some(as_of.parse().map_err(|error: TimestampError| Failure::new(error.to_string()))?),
            ..args.ask.items.clone()
        };
        let asked = StandingAsked { items, sure: args.ask.sure.confidence, ..StandingAsked::default() };
        let events: Events = events_of(args.ask.events.as_deref())?;
        for line in asked.answer(&rows, &events)?.lines() {
            let found: Option<Standing> = answers::read(line.as_bytes())?;
            standings.extend(found.map(|it| (it.subject.clone(), it)));
        }
    }
    let (answer, settings, notes, command) = (judged.answer, judged.settings, Vec::new(), command());
    Ok(Board { answer, rows, settings, standings, records, notes, command })
}

/// Returns the moment of official scores, if ranks are by them.
fn official_at(answer: &LeaderboardAnswer) -> Option<String> {
    let board = answer.leaderboards.first().filter(|board| board.by == OFFICIAL)?;
    board.as_of.clone()
}

/// Reads boards of a server: of a scorecard, or of all that have records.
fn from_server(args: &SiteArgs, address: &str, cli: &Cli) -> Result<Vec<Board>, Failure> {
    #[derive(Deserialize)]
    struct Name {
        name: String,
        base: Option<String>,
    }
    #[derive(Deserialize)]
    struct Cards {
        scorecards: Vec<Name>,
    }
    let query = query(&args.ask)?;
    let key = KeyFile { path: args.key_file.as_deref(), is_insecure: false };
    let server = Source { client: Client::new(address, key, TIMEOUT, None)?, query };
    if let Some(card) = &args.ask.card {
        let failure = || Failure::new(format!("`{}` has no record under `{}`", clean(address), clean(card)));
        return Ok(vec![server.board(args, card, cli)?.ok_or_else(failure)?]);
    }
    let all: Cards = server.get("/v1/scorecards")?;
    let mut boards = Vec::new();
    // Challenges are ranked together, under their family.
    for card in all.scorecards.iter().filter(|card| card.base.is_none()) {
        boards.extend(server.board(args, &card.name, cli)?);
    }
    if boards.is_empty() {
        return Err(Failure::new(format!("`{}` has no records", clean(address))));
    }
    Ok(boards)
}

/// A server, and what it is asked.
struct Source {
    client: Client,
    query: Vec<(&'static str, String)>,
}

/// A list of records.
#[derive(Deserialize)]
struct Records {
    records: Vec<Box<RawValue>>,
    next: Option<u64>,
}

impl Source {
    fn get<T: for<'a> Deserialize<'a>>(&self, path: &str) -> Result<T, Failure> {
        let bytes = self.client.read(path, ANSWER_MAX_BYTES, "--key-file")?;
        serde_json::from_slice(&bytes).map_err(|error| self.client.other(&error))
    }

    fn answer<T: Answer>(&self, path: &str) -> Result<T, Failure> {
        answers::read(&self.client.read(path, ANSWER_MAX_BYTES, "--key-file")?)?
            .ok_or_else(|| self.client.other(&format!("it gave no {}", T::WHAT)))
    }

    /// Reads the board of a scorecard, as of its newest record; none without records.
    fn board(&self, args: &SiteArgs, card: &str, cli: &Cli) -> Result<Option<Board>, Failure> {
        let of_time = self.query.iter().filter(|(name, _)| matches!(*name, "since" | "until"));
        let said = |(name, value): &(&str, String)| format!("&{name}={}", escaped(value));
        let of_time: String = of_time.map(said).collect();
        let list = format!("/v1/records?card={}&limit=1000{of_time}", escaped(card));
        let mut page: Records = self.get(&list)?;
        let Some(newest) = page.records.first() else { return Ok(None) };
        let newest = StoredRecord::parse(newest.get().as_bytes());
        let newest = newest.ok_or_else(|| self.client.other(&"its records have no moment"))?;
        let newest = newest.arrival.moment.to_string();
        // What comes while this is read does not count.
        let known = format!("&known_at={}", escaped(&newest));
        let mut all = Vec::new();
        let unread = loop {
            all.append(&mut page.records);
            match page.next {
                Some(_) if all.len() >= READ_MAX => break true,
                Some(before) => page = self.get(&format!("{list}{known}&before={before}"))?,
                None => break false,
            }
        };
        let selection = Selection { unclear: Unclear::LeftOut, is_query: true, ..Selection::default() };
        let text =
            self.client.card(card)?.ok_or_else(|| self.client.other(&"it does not have the scorecard"))?;
        let given = cards::of_text(&CardText { name: card.to_owned(), text }, cli.color)?;
        let mut loading = Loading::new(selection, Some((given, Options::default())), None)?;
        for (at, record) in all.iter().enumerate().rev() {
            let place =
                Place { file: String::from("records"), line: Some(at as u64 + 1), nth: 1, is_row: false };
            loading.take(&place, Ok(record.get().as_bytes()))?;
        }
        let rows = loading.finish()?.rows;
        // By then all of it has arrived, and counts.
        let as_of = args.ask.items.as_of.as_ref().map_or(newest, |as_of| as_of.at.to_string());
        let at = format!("&as_of={}", escaped(&as_of));
        let more: String = self.query.iter().map(said).collect();
        let answer: LeaderboardAnswer =
            self.answer(&format!("/v1/leaderboards?card={}&limit=1000{at}{known}{more}", escaped(card)))?;
        let standings = match official_at(&answer) {
            Some(at) => self.standings(card, &format!("&as_of={}{known}", escaped(&at)))?,
            None => BTreeMap::new(),
        };
        let wanted = site::wanted(&rows);
        let mut records = BTreeMap::new();
        for stored in all.iter().filter_map(|it| StoredRecord::parse(it.get().as_bytes())) {
            let record = Record::parse(stored.record.as_bytes())?;
            let kept = record.filter(|it| wanted.contains(&it.document().evidence.digest));
            records.extend(kept.map(|it| (it.document().evidence.digest, it)));
        }
        let of = "values over time and of dimensions are of the newest";
        let notes =
            unread.then(|| format!("{of} {READ_MAX} records; ranks are of all")).into_iter().collect();
        let settings = Settings { level: answer.basis.level, ..Settings::usual(&rows) };
        Ok(Some(Board { answer, rows, settings, standings, records, notes, command: command() }))
    }

    /// Reads the standings of all subjects.
    fn standings(&self, card: &str, at: &str) -> Result<BTreeMap<String, Standing>, Failure> {
        #[derive(Deserialize)]
        struct List {
            standings: Vec<Standing>,
            next: Option<String>,
        }
        let mut found = BTreeMap::new();
        let mut after = String::new();
        loop {
            let list: List =
                self.get(&format!("/v1/standings?card={}&limit=1000{at}{after}", escaped(card)))?;
            found.extend(list.standings.into_iter().map(|it| (it.subject.clone(), it)));
            match list.next {
                Some(next) => after = format!("&after={}", escaped(&next)),
                None => return Ok(found),
            }
        }
    }
}

/// Refuses a folder that is not a site, or has files of others in it, which would be lost.
fn refuse_foreign(folder: &str) -> Result<(), Failure> {
    let (folder, shown) = (Path::new(folder), clean(folder));
    let failed = |error: io::Error| Failure::reading(&shown, &error);
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries.and_then(Iterator::collect::<Result<Vec<_>, _>>).map_err(failed)?,
    };
    let is_site = fs::read_to_string(folder.join(".nojekyll")).is_ok_and(|text| text == MARK);
    if !is_site && !entries.is_empty() {
        return Err(Failure::new(format!(
            "`{shown}` is not empty and not a site of karat, so it is not replaced"
        ))
        .help("name a new folder"));
    }
    let own = [
        "index.html", ".nojekyll", "style.css", "script.js", "sans.woff2", "icon.svg", "leaderboard.json",
        "leaderboard.csv", "subjects", "records", "scorecards",
    ];
    let is_own = |entry: &fs::DirEntry| {
        own.iter().any(|name| entry.file_name() == *name) || entry.path().join("leaderboard.json").is_file()
    };
    match entries.iter().find(|entry| !is_own(entry)) {
        None => Ok(()),
        Some(other) => {
            let name = clean(&other.path().display().to_string()).into_owned();
            Err(Failure::new(format!("`{name}` is not of the site, and would be lost"))
                .help("move it away first"))
        }
    }
}
