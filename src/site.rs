//! Leaderboards as static sites: pages of boards, subjects, records and scorecards, with the same in JSON and CSV beside them.
//! They need no server and no network: any web server has them below any path, and a browser opens them from a disk.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use karat_core::explain::nearest_change;
use karat_core::facts::Digest;
use maud::html;

use crate::answers;
use crate::answers::leaderboard::{Leaderboard, LeaderboardAnswer};
use crate::answers::standing::Standing;
use crate::ask::answer::gaps_of;
use crate::card::CompiledCard;
use crate::document::figure::{beside_the_field, history, profiles};
use crate::document::{self, Cell, Column, Document, Kind, LeaderboardView, Part, Proof, Table};
use crate::error::Error;
use crate::estimate::Writing;
use crate::headline::{self, Headline};
use crate::leaderboard::Settings;
use crate::recompute;
use crate::record::Record;
use crate::rows::{Row, Rows};
use crate::text::{Tone, count, list, own_name};
use crate::write::html::{FACE, Frame, ICON, SCRIPT, compact, page, style, words};
use crate::write::{self, Form};

/// The most records that have a page.
pub const RECORDS: usize = 2000;
/// The longest name that is one of a file as it is.
const LONGEST: usize = 60;
/// The most letters of a name that stay before its digest.
const KEPT: usize = 24;
/// Names that Windows keeps for devices, whatever follows a dot.
const DEVICES: [&str; 6] = ["con", "prn", "aux", "nul", "com", "lpt"];

/// The files of a site by their paths.
pub type Files = BTreeMap<String, Vec<u8>>;

/// A leaderboard, with what its numbers come from.
#[derive(Debug)]
pub struct Board {
    /// The answer.
    pub answer: LeaderboardAnswer,
    /// The items that it ranks.
    pub rows: Rows,
    /// The settings that it was made with.
    pub settings: Settings,
    /// The standing of each subject that has one.
    pub standings: BTreeMap<String, Standing>,
    /// The records with a page, by the digests of their evidence.
    pub records: BTreeMap<Digest, Record>,
    /// Sentences on what is not there.
    pub notes: Vec<String>,
    /// The command that makes the site again.
    pub command: String,
}

/// Returns the evidence of the records that get a page: the newest of each subject, as many of one as of another.
pub fn wanted(rows: &Rows) -> BTreeSet<Digest> {
    let each = (RECORDS / rows.subjects.len().max(1)).max(1);
    let newest = (0..rows.subjects.len()).flat_map(|at| of_subject(rows, at).into_iter().take(each));
    newest.take(RECORDS).map(|row| row.digest).collect()
}

/// Returns the items of a subject, the newest first.
fn of_subject(rows: &Rows, at: usize) -> Vec<&Row> {
    // They are in the order of their subjects.
    let [from, to] = [at, at + 1].map(|at| rows.rows.partition_point(|row| row.subject < at));
    let mut own: Vec<&Row> = rows.rows.get(from..to).unwrap_or_default().iter().collect();
    own.sort_by_key(|row| (std::cmp::Reverse(row.time()), rows.id(row)));
    own
}

/// Returns the files of a site: of one leaderboard, or of several with a page that leads to them.
///
/// # Errors
/// If a record is not what its own facts give.
pub fn files(boards: &[Board]) -> Result<Files, Error> {
    let shared: [(&str, Vec<u8>); 5] = [
        // The mark by which a folder is known to be a site; GitHub Pages looks at the name alone.
        (".nojekyll", MARK.into()),
        ("style.css", style("sans.woff2").into_bytes()),
        ("script.js", compact(SCRIPT).into_bytes()),
        ("sans.woff2", FACE.to_vec()),
        ("icon.svg", compact(ICON).into_bytes()),
    ];
    let mut files: Files = shared.map(|(name, bytes)| (name.to_owned(), bytes)).into();
    if let [only] = boards {
        only.add(&Folder { path: String::new(), root: "", above: None }, &mut files)?;
        return Ok(files);
    }
    let mut tiles = Vec::new();
    let mut told = Vec::new();
    for board in boards {
        let name = document::cards(&board.answer.basis);
        let folder = file_name(&name);
        let Headline { text, lead, .. } = headline::leaderboard(&board.answer);
        tiles.push(html! {
            li {
                p.s { (name) " · " (count(board.rows.rows.len(), "record")) }
                a href={ (folder) "/index.html" } { (text) }
                @if let Some(more) = lead.first() { p.s { (words(more)) } }
            }
        });
        told.push(headline::leaderboard(&board.answer));
        let above = Some((String::from("../index.html"), String::from("Leaderboards")));
        board.add(&Folder { path: format!("{folder}/"), root: "../", above }, &mut files)?;
    }
    let document = Document {
        name: "leaderboards",
        title: String::from("leaderboards"),
        headline: headline::boards(&told),
        command: boards.first().map(|board| board.command.clone()).unwrap_or_default(),
        ..Document::default()
    };
    let content = html! { section aria-label="Leaderboards" { ul.tiles { @for tile in &tiles { (tile) } } } };
    let frame = Frame { root: "", trail: &[], content, acts: &[] };
    files.insert(String::from("index.html"), page(&document, &frame).into_bytes());
    Ok(files)
}

/// The content of `.nojekyll` in a site.
pub const MARK: &str = "A site of karat: all files of this folder are replaced when it is written again.\n";

/// Returns the name of a file for a name from outside: the name itself if every file system can have it, else its letters
/// and its digest, after a sign that the former do not have.
fn file_name(name: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_.@".contains(&byte);
    let stem = name.split('.').next().unwrap_or_default().trim_end_matches(|c: char| c.is_ascii_digit());
    let is_safe = name.len() <= LONGEST && name.bytes().all(is_plain) && !DEVICES.contains(&stem);
    if is_safe && !name.is_empty() && !name.starts_with(['.', '-']) && !name.ends_with('.') {
        return name.to_owned();
    }
    let kept = name.chars().map(|c| c.to_ascii_lowercase());
    let kept: String =
        kept.filter(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || *c == '-').take(KEPT).collect();
    format!("{kept}~{}", hex(Digest::of(name.as_bytes())))
}

/// Returns half of a digest, which no other name has.
fn hex(digest: Digest) -> String {
    digest.to_string().trim_start_matches("sha256:").chars().take(32).collect()
}

/// The folder of a leaderboard.
struct Folder<'a> {
    /// Its path in the site, with its end.
    path: String,
    /// The way from there to the files that all pages share.
    root: &'a str,
    /// The page above the leaderboard.
    above: Option<(String, String)>,
}

impl Folder<'_> {
    /// Adds a page in a folder of this one, or in it; `trail` are the pages between the leaderboard and it.
    fn put(
        &self,
        files: &mut Files,
        path: &str,
        document: &Document,
        trail: &[(String, String)],
        acts: &[(String, &str)],
    ) {
        let up = if path.contains('/') { "../" } else { "" };
        let root = format!("{up}{}", self.root);
        let above = self.above.iter().map(|(address, name)| (format!("{up}{address}"), name.clone()));
        let trail: Vec<(String, String)> = above.chain(trail.iter().cloned()).collect();
        let frame = Frame { root: &root, trail: &trail, content: html! {}, acts };
        files.insert(format!("{}{path}", self.path), page(document, &frame).into_bytes());
    }

    fn keep(&self, files: &mut Files, path: &str, text: &str) {
        let end = if text.ends_with('\n') { "" } else { "\n" };
        files.insert(format!("{}{path}", self.path), format!("{text}{end}").into_bytes());
    }
}

impl Board {
    /// Adds the pages of the leaderboard, of its subjects, of its records and of its scorecards.
    fn add(&self, folder: &Folder<'_>, files: &mut Files) -> Result<(), Error> {
        let board = self.document();
        folder.keep(files, "leaderboard.json", &answers::write(&self.answer));
        folder.keep(files, "leaderboard.csv", &write::text(Form::Csv, &board));
        let mut acts =
            vec![(String::from("leaderboard.csv"), "CSV"), (String::from("leaderboard.json"), "JSON")];
        let card = |card: &Arc<CompiledCard>| {
            (format!("scorecards/{}.html", file_name(&card.card().name())), "Scorecard")
        };
        acts.extend(self.rows.scorers.iter().take(1).map(card));
        folder.put(files, "index.html", &board, &[], &acts);
        let up = vec![(String::from("../index.html"), String::from("Leaderboard"))];
        for scorer in &self.rows.scorers {
            let (name, card) = (file_name(&scorer.card().name()), scorer.card());
            let headline = headline::card(card);
            let document = Document { headline, command: self.command.clone(), ..document::card(card) };
            folder.keep(files, &format!("scorecards/{name}.toml"), scorer.text());
            let acts = [(format!("{name}.toml"), "TOML")];
            folder.put(files, &format!("scorecards/{name}.html"), &document, &up, &acts);
        }
        for (at, subject) in self.rows.subjects.iter().enumerate() {
            let path = format!("subjects/{}.html", file_name(subject));
            folder.put(files, &path, &self.subject(at, subject), &up, &[]);
        }
        let subject = |row: &Row| Some((row.digest, self.rows.subjects.get(row.subject)?.as_str()));
        let subjects: BTreeMap<Digest, &str> = self.rows.rows.iter().filter_map(subject).collect();
        for (digest, record) in &self.records {
            let subject = subjects.get(digest).copied().unwrap_or(&record.document().subject);
            let above = (format!("../subjects/{}.html", file_name(subject)), subject.to_owned());
            let trail: Vec<(String, String)> = up.iter().cloned().chain([above]).collect();
            self.add_record(record, folder, &trail, files)?;
        }
        Ok(())
    }

    fn document(&self) -> Document {
        let figures = self.answer.leaderboards.iter().map(|board| profiles(&self.rows, board)).collect();
        let gaps: Vec<String> =
            gaps_of(&self.rows, self.settings.by).into_iter().chain(self.notes.clone()).collect();
        let view = LeaderboardView {
            dimensions: &self.rows.dimensions,
            gaps: &gaps,
            figures,
            ..LeaderboardView::default()
        };
        let mut document = document::leaderboard(&self.answer, view);
        document.command.clone_from(&self.command);
        for part in &mut document.parts {
            if let Part::Table(table) = part {
                self.link(table);
            }
        }
        let ranked = self.answer.leaderboards.iter().flat_map(|board| &board.rows);
        // A subject may be on several leaderboards.
        let mut seen = BTreeSet::new();
        let ranked = ranked.filter_map(|row| self.rows.subject(&row.subject)).filter(|at| seen.insert(*at));
        let ranked: Vec<usize> = ranked.collect();
        document.parts.extend(history(&self.rows, &ranked, &self.settings));
        document
    }

    /// Makes the names of subjects lead to their pages.
    fn link(&self, table: &mut Table) {
        table.link(|name| self.rows.subject(name).map(|_| format!("subjects/{}.html", file_name(name))));
    }

    /// Returns what there is to say of a subject: its standing or its mean, its values over time, its records.
    fn subject(&self, at: usize, name: &str) -> Document {
        // Of the whole leaderboard only what its one row is written by: there is such a page for each of its rows.
        let ranked: Option<Leaderboard> = self.answer.leaderboards.iter().find_map(|board| {
            let own = board.rows.iter().find(|row| row.subject == name)?;
            let (by, fact, ranked) = (board.by.clone(), board.fact.clone(), board.ranked);
            Some(Leaderboard { rows: vec![own.clone()], by, fact, ranked, ..Leaderboard::default() })
        });
        let mut document = match (self.standings.get(name), &ranked) {
            (Some(standing), _) => document::drawn(standing, history(&self.rows, &[at], &self.settings)),
            (None, Some(board)) => Document {
                title: format!("{} mean of runs", document::cards(&self.answer.basis)),
                headline: headline::subject(board, &self.answer.basis),
                ..Document::default()
            },
            (None, None) => Document { title: format!("{name} has no rank"), ..Document::default() },
        };
        document.name = "subject";
        document.about = document::about(&self.answer.basis);
        document.command.clone_from(&self.command);
        // A standing has its own values.
        if !self.standings.contains_key(name) {
            document.parts.extend(ranked.iter().flat_map(|board| profiles(&self.rows, board)));
            document.parts.extend(history(&self.rows, &[at], &self.settings));
        }
        let boards = self.answer.leaderboards.iter();
        document.parts.extend(boards.flat_map(|board| beside_the_field(board, name)));
        document.parts.extend(self.listed(at));
        document
    }

    /// Returns the records of a subject that have a page, the newest first.
    fn listed(&self, at: usize) -> Vec<Part> {
        let (rows, writing) = (&self.rows, Writing::of(self.rows.scale.max));
        let own = of_subject(rows, at);
        let kept = own.iter().filter_map(|row| Some((row, self.records.get(&row.digest)?)));
        let line = |(row, record): (&&Row, &Record)| {
            let id = own_name(&record.document().subject, rows.id(row)).unwrap_or(rows.id(row));
            let score = row.score().map(|it| it.billionths() as f64 / 1e9);
            let without = || Cell::Without(String::from("none"));
            vec![
                Cell::Link(id.to_owned(), format!("../records/{}.html", hex(record.digest()))),
                Cell::of_text(row.time().map(|time| time.to_string())),
                Cell::of_text(rows.stated_task(row)),
                Cell::of_text(row.outcome.map(|it| it.name())),
                score.map_or_else(without, |it| Cell::Number(writing.value(it), writing.number(it))),
                Cell::Share(row.coverage() as f64 / 1e9),
                Cell::text(list(row.gates())),
            ]
            .into()
        };
        let lines: Vec<document::Row> = kept.map(line).collect();
        let has_gates = own.iter().any(|row| !row.gates().is_empty());
        let columns = vec![
            Column::name("item"),
            Column::text("when"),
            Column::text("task"),
            Column::text("ended"),
            Column::number("score"),
            Column::new("coverage", Kind::Share),
            Column::text("gates").shown_if(has_gates),
        ];
        let left_out = (lines.len() < own.len()).then(|| {
            let all = count(own.len(), "record");
            format!("{} of {all} have a page, the newest: a site has at most {RECORDS}.", lines.len())
        });
        let mut parts = vec![Part::Heading(String::from("Records"))];
        parts.extend(left_out.map(|line| Part::Note(Tone::Plain, line)));
        if !lines.is_empty() {
            parts.push(Part::Table(Table::new("Records, the newest first", columns, lines)));
        }
        parts
    }

    /// Adds the account of a record, and the record itself.
    fn add_record(
        &self,
        record: &Record,
        folder: &Folder<'_>,
        trail: &[(String, String)],
        files: &mut Files,
    ) -> Result<(), Error> {
        let own = record.document();
        let given = self.rows.scorers.iter().find(|card| card.card().name() == own.scorecard.name());
        let card = recompute::overridden(record, recompute::base(record, given)?)?;
        let scorer = card.scorer()?;
        let mut document = recompute::recompute(record, &card, |scoring| {
            let change = nearest_change(scorer, scoring);
            document::explanation(scoring, change.as_ref(), &Proof::Verified)
        })?;
        let name = hex(record.digest());
        document.headline.text =
            std::mem::replace(&mut document.title, format!("record of {}", card.card().name()));
        document.command = match card.is_released() {
            true => format!("karat explain {name}.json"),
            false => {
                let card = file_name(&card.card().name());
                format!("karat explain {name}.json -c ../scorecards/{card}.toml")
            }
        };
        folder.keep(files, &format!("records/{name}.json"), record.as_str());
        folder.put(
            files,
            &format!("records/{name}.html"),
            &document,
            trail,
            &[(format!("{name}.json"), "JSON")],
        );
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_are_safe_and_differ_where_names_do() {
        assert_eq!(file_name("ibis-2.1"), "ibis-2.1");
        assert_eq!(file_name("task-run@1.0.0"), "task-run@1.0.0");
        let long = "x".repeat(300);
        let odd = [
            "Ibis", "ibis ", "..", ".", "", "-rf", "a/b", "a\\b", "con", "CON", "com1", "nul.txt", "a.", "é",
            "e\u{301}", "\u{202e}x", "a\0b", "ibis~0", &long, "<script>", "%2e%2e", "a:b", "a?b#c",
        ];
        let mut seen = BTreeSet::from([file_name("ibis")]);
        for name in odd {
            let file = file_name(name);
            assert!(file.contains('~') && file.len() <= 60, "{name:?} {file}");
            assert!(
                file.bytes().all(|it| it.is_ascii_lowercase() || it.is_ascii_digit() || b"-~".contains(&it))
            );
            assert!(seen.insert(file), "{name:?}");
        }
    }
}
