//! The leaderboard: subjects of a scorecard by rank, with letters for ties.

use axum::http::uri::InvalidUri;
use karat::answers::LeaderboardMethod;
use karat::answers::leaderboard::method::Page;
use karat::answers::leaderboard::{Leaderboard, MEAN, NewerVersion, OFFICIAL};
use karat::document::figure::profiles;
use karat::document::{self, Document, Kind, LeaderboardView, Part, Row};
use karat::headline::{self, capital, sentence};
use karat::leaderboard::Settings;
use karat::rows::gaps::{all_or_nothing, gaps, undecayed};
use karat::text::count;
use karat::write::html;
use karat_core::scorecard::FactType;
use maud::PreEscaped;

use super::items::{self, given, linked, timestamp};
use super::layout::*;
use super::{share, welcome};
use crate::api::leaderboards::{Made, Pages, Question, make};
use crate::prelude::*;
use crate::select::Marks;

/// The most rows of a page.
pub const ROWS: usize = 50;
/// The largest number of subjects whose values are shown.
const PROFILES: u64 = 30;

/// The query of the address, by name: that of the API and the number of the page. Empty fields do not count, so that a form can
/// send them.
type Asked = BTreeMap<String, String>;

/// The names of the query, but for the page.
const FIELDS: [&str; 13] = [
    "card", "track", "since", "until", "where", "group_by", "by", "with", "cost", "min_tasks", "trust", "q",
    "sort",
];

/// Returns a field of the query; empty if it was not given.
fn field<'a>(asked: &'a Asked, name: &str) -> &'a str {
    asked.get(name).map_or("", |text| text.trim())
}

/// Returns the settings for leaderboards on pages: the defaults of the command line.
pub fn settings(pool: &ScorerPool) -> Settings {
    Settings::usual_for(Some(&pool.card))
}

pub async fn show(Get(app, caller): Get, headers: HeaderMap, Params(asked): Params<Asked>) -> Answer {
    let page = number(&asked, "page")?;
    let query = address_of(&asked)?;
    let used = items::used_cards(&app).await?;
    let wanted = given(Some(field(&asked, "card")));
    let wanted = wanted.map(|card| app.memory.cards().find_used(card)).transpose()?;
    let Some(pool) = wanted.or_else(|| used.first().map(|(pool, _)| Arc::clone(pool))) else {
        let sheet = Sheet { title: "Nothing is scored yet", part: "/leaderboards", caller: Some(&caller) };
        return Ok(sheet.answer(welcome::page(&address::host(&headers), app.moment())));
    };
    let size = *app.memory.size().borrow();
    let key = format!("page {size} {} {asked:?}", pool.name());
    let known = match app.answers.get(&key) {
        Some(known) => known,
        None => {
            let shown =
                View { asked: &asked, pool: &pool, page, query: &query, host: &address::host(&headers) };
            let (title, made) = shown.board(&app, size).await?;
            app.answers.put(key, format!("{title}\n{}", made.into_string()).into_bytes())
        }
    };
    let known = String::from_utf8_lossy(&known);
    let (title, board) = known.split_once('\n').unwrap_or_default();
    let origin = address::origin(&app.options, &headers);
    let head = share::card(&origin, title, &pool);
    Ok(Sheet { title, part: "/leaderboards", caller: Some(&caller) }.answer_shared(
        head,
        html! {
            (above(&[("/", "Home")], picker(&pool, &used)))
            // It was built by `board`, escaped like the rest of the page.
            (PreEscaped(board))
            (share::to_embed(&origin, &pool))
        },
    ))
}

/// Answers the question of an address about a scorecard: `query` is what follows the card.
pub async fn made(
    app: &Arc<App>,
    pool: &ScorerPool,
    query: &str,
    size: u64,
    pages: Pages,
) -> Result<Made, Problem> {
    let uri = format!("/?card={}{query}", address::part(&pool.name())).parse();
    let question = Question::read(app, &uri.map_err(|error: InvalidUri| Problem::internal(&error))?)?;
    make(app, question, size, pages).await
}

/// A view of the leaderboard of a scorecard.
struct View<'a> {
    asked: &'a Asked,
    pool: &'a Arc<ScorerPool>,
    page: usize,
    query: &'a str,
    host: &'a str,
}

impl View<'_> {
    /// Returns its title and what it shows, for `show` to cache.
    async fn board(&self, app: &Arc<App>, size: u64) -> Result<(String, Markup), Problem> {
        let is_sought = ["q", "sort"].iter().any(|name| !field(self.asked, name).is_empty());
        // One page of the leaderboard is shown; its notes and profiles cover the whole.
        let means = match is_sought {
            true => Page::ALL,
            false => Page { skip: (self.page - 1).saturating_mul(ROWS), limit: ROWS },
        };
        let made = match made(app, self.pool, self.query, size, Pages { pairs: Page::ALL, means }).await {
            Ok(made) => made,
            Err(problem) if problem.code == Code::Unanswerable => {
                let title = String::from("Nothing is ranked");
                let nothing = html! {
                    (heading(&[], &title, &capital(&sentence(&problem.detail))))
                    @if problem.field.is_none() && !is_filtered(self.asked) { (welcome::nothing(self.host, self.pool)) }
                    @if is_filtered(self.asked) {
                        p { b { "No runs match these filters." } " " a href=(address::leaderboard(&self.pool.name())) { "The leaderboard without filters" } }
                    }
                    (form(self.asked, self.pool))
                };
                return Ok((title, nothing));
            }
            Err(problem) => return Err(problem),
        };
        let heads = app.cosigned.heads().of_witnesses().len();
        let (pool, asked, page) = (Arc::clone(self.pool), self.asked.clone(), self.page);
        let api = format!("/v1/leaderboards?card={}{}", address::part(&pool.name()), self.query);
        app.checked(move || Ok(Drawn { made: &made, pool: &pool, asked: &asked, page, heads, api }.page()))
            .await
    }
}

/// Returns the whole number in a field, 1 if it is not given.
fn number(asked: &Asked, name: &str) -> Result<usize, Problem> {
    let text = field(asked, name);
    let found = || format!("found `{}`, expected a whole number of 1 or more", text.escape_debug());
    match text {
        "" => Ok(1),
        _ => text.parse().ok().filter(|number| *number > 0).ok_or_else(|| Problem::parameter(name, found())),
    }
}

/// Returns the query of the API but for the card, each part after `&`.
fn address_of(asked: &Asked) -> Result<String, Problem> {
    number(asked, "min_tasks")?;
    let mut query = String::new();
    for (name, text) in asked.iter().map(|(name, text)| (name.as_str(), text.trim())) {
        if name != "page" && !FIELDS.contains(&name) {
            let detail = format!("found `{}`, expected one of {}", name.escape_debug(), FIELDS.join(", "));
            return Err(Problem::parameter("query", detail));
        }
        let time = match name {
            "since" | "until" => timestamp(name, Some(text))?,
            _ => None,
        };
        if !text.is_empty() && !["card", "page", "q", "sort"].contains(&name) {
            let text = time.map_or_else(|| text.to_owned(), |time| time.to_string());
            query.push_str(&format!("&{name}={}", address::part(&text)));
        }
    }
    Ok(query)
}

/// Shows the choice of a scorecard.
fn picker(pool: &ScorerPool, used: &[(Arc<ScorerPool>, usize)]) -> Markup {
    let is_used = used.iter().any(|(it, _)| it.name() == pool.name());
    html! {
        form.pick method="get" action="/leaderboards" {
            select name="card" aria-label="Scorecard" {
                @if !is_used { option value=(pool.name()) selected { (pool.card.title) } }
                @for (it, _) in used {
                    option value=(it.name()) selected[it.name() == pool.name()] { (it.card.title) " " (it.card.version) }
                }
            }
            button.go.quiet type="submit" { "Show" }
        }
    }
}

/// Shows the filters, as a form whose result has its own address.
fn form(asked: &Asked, pool: &ScorerPool) -> Markup {
    let value = |name: &str| field(asked, name);
    let fields: Vec<&str> = ["task", "outcome"]
        .into_iter()
        .chain(pool.card.facts.iter().map(|fact| fact.name.as_str()))
        .collect();
    let usual = if pool.card.standing.is_some() { OFFICIAL } else { MEAN };
    let numbers = pool.card.facts.iter().filter(|fact| fact.kind == FactType::Number);
    let numbers: Vec<&str> = numbers.map(|fact| fact.name.as_str()).collect();
    let dimensions = pool.card.dimensions.iter().map(|dimension| dimension.key.clone());
    let ends = numbers.iter().flat_map(|name| [format!("{name}:asc"), format!("{name}:desc")]);
    let official = pool.card.standing.iter().map(|_| OFFICIAL.to_owned());
    let keys = official.chain([MEAN.to_owned()]).chain(dimensions).chain(ends);
    let counted = ["gates", "tiers", "bands", "outcomes"].map(str::to_owned);
    let columns = numbers.iter().flat_map(|name| [(*name).to_owned(), format!("{name}:p95")]).chain(counted);
    html! {
        form.fields method="get" action="/leaderboards" {
            input type="hidden" name="card" value=(pool.name());
            details open[is_filtered(asked)] {
                summary { "Another view: filter, rank by something else, add columns" }
                div {
                    label { "Name has" input type="search" name="q" value=(value("q")); }
                    label { "Tasks" input type="text" name="track" placeholder="all" value=(value("track")); }
                    label { "From" input type="text" name="since" placeholder="2026-01-31" value=(value("since")); }
                    label { "Before" input type="text" name="until" placeholder="2026-02-28" value=(value("until")); }
                    label {
                        "Only where"
                        input type="text" name="where" placeholder="FIELD=VALUE" list="fields" value=(value("where"));
                    }
                    label { "Leaderboards by" input type="text" name="group_by" placeholder="FIELD" list="fields" value=(value("group_by")); }
                    label { "Rank by" input type="text" name="by" placeholder=(usual) list="keys" value=(value("by")); }
                    label { "More columns" input type="text" name="with" placeholder="FIELD, FIELD:p95, gates" list="columns" value=(value("with")); }
                    label { "Cost" input type="text" name="cost" placeholder="FIELD" list="costs" value=(value("cost")); }
                    label.short { "Tasks at least" input type="number" name="min_tasks" min="1" value=(value("min_tasks")); }
                    label {
                        "Trust"
                        select name="trust" {
                            @for (word, meaning) in [
                                ("", "any word"),
                                ("judged", "by a judge at least"),
                                ("measured", "by a harness at least"),
                                ("graded", "graded by this server"),
                            ] {
                                option value=(word) selected[value("trust") == word] { (meaning) }
                            }
                        }
                    }
                }
                p { button.go type="submit" { "Show" } }
                datalist id="fields" { @for field in fields { option value=(field) {} } }
                datalist id="keys" { @for key in keys { option value=(key) {} } }
                datalist id="costs" { @for name in &numbers { option value=(name) {} } }
                datalist id="columns" { @for column in columns { option value=(column) {} } }
            }
        }
    }
}

/// An answer, as a page shows it.
struct Drawn<'a> {
    made: &'a Made,
    pool: &'a ScorerPool,
    asked: &'a Asked,
    page: usize,
    /// The number of witnesses that cosigned the log.
    heads: usize,
    /// The address of the answer in JSON.
    api: String,
}

impl Drawn<'_> {
    fn page(&self) -> (String, Markup) {
        let mut document = self.document();
        let title = html::heading(&document).to_owned();
        let boards = &self.made.answer.leaderboards;
        let all = boards.iter().map(|board| board.ranked).max().unwrap_or(0);
        let first = match boards.as_slice() {
            [_] if !document.parts.is_empty() => {
                let at = document.parts.iter().position(|part| matches!(part, Part::Table(_)));
                let first = at.map(|at| document.parts.remove(at));
                document.parts.insert(0, Part::Heading(String::from("How the ranks came about")));
                first
            }
            _ => None,
        };
        let page = html! {
            (html::opening(html! { (told(&document.title)) ". " (words(&headline::card(&self.pool.card).text)) }, &document))
            (trust_strip(&self.marks(), "/log"))
            div data-answer=(self.api) {
                @match (first, boards.as_slice()) {
                    (Some(Part::Table(table)), [board]) => {
                        div.cols {
                            (self.board(board, &table, all))
                            aside.side aria-label="The rule, how to enter, and more questions" { (self.rule(board)) (self.entry(board)) (self.more(board)) }
                        }
                    },
                    _ => {
                        @if let Some(board) = boards.first() { p.s { (headline::reading(board, self.made.answer.basis.level)) } }
                        (form(self.asked, self.pool))
                        (pages_of(self.asked, self.page, usize::try_from(all).unwrap_or(usize::MAX)))
                    },
                }
                (body("b", &document))
            }
            (html::reproduce(&document))
        };
        (title, page)
    }

    fn document(&self) -> Document {
        let Made { answer, rows } = self.made;
        let of_rows = rows.iter().flat_map(|rows| gaps(rows).into_iter().chain(all_or_nothing(rows)));
        let marks = Marks { corrected: answer.corrected, backfilled: answer.backfilled.clone() };
        let newer = answer.newer_version.iter().map(|newer| {
            let NewerVersion { card, records, of } = newer;
            format!(
                "`{card}` has {records} of {of} records; until it has all, `{}` answers",
                self.pool.name()
            )
        });
        let before = of_rows.chain(undecayed(answer.basis.decay)).chain(marks.sentences()).chain(newer);
        let before: Vec<String> = before.collect();
        let profiled = |board: &Leaderboard| match rows {
            Some(rows) if board.ranked <= PROFILES => profiles(rows, board),
            _ => Vec::new(),
        };
        let view = LeaderboardView {
            dimensions: rows.as_ref().map_or(&[], |rows| &rows.dimensions),
            gaps: &before,
            figures: answer.leaderboards.iter().map(profiled).collect(),
            ..LeaderboardView::default()
        };
        let mut document = document::leaderboard(answer, view);
        let mut boards = answer.leaderboards.iter();
        for part in &mut document.parts {
            let Part::Table(table) = part else { continue };
            let is_ranks = table.columns.iter().any(|column| column.kind == Kind::Rank);
            let board = boards.by_ref().take(usize::from(is_ranks)).next();
            table.is_part = board.is_some_and(|board| board.ranked > ROWS as u64);
            *table = linked(self.shown(table.clone(), is_ranks), &self.pool.name());
        }
        document
    }

    /// Returns what holds of all numbers of the leaderboard, and what does not.
    fn marks(&self) -> Vec<(bool, String)> {
        let items = self.made.answer.basis.items.count;
        let items = count(usize::try_from(items).unwrap_or(usize::MAX), "record");
        vec![(true, format!("all {items} in a signed log")), witnessed(self.heads, "the log")]
    }

    fn board(&self, board: &Leaderboard, table: &Table, all: u64) -> Markup {
        let csv = format!("{}&format=csv", self.api);
        let sought = field(self.asked, "q");
        html! {
            section aria-labelledby="ranks" {
                h2 id="ranks" { (headline::possible(board)) }
                p.s { (headline::reading(board, self.made.answer.basis.level)) }
                (form(self.asked, self.pool))
                @if !sought.is_empty() {
                    p { (count(table.rows.len(), "subject")) " with " b { (sought) } " in the name, of " (all) }
                }
                @if table.rows.is_empty() { p { a href=(address::leaderboard(&self.pool.name())) { "All subjects, from the first page" } } }
                @else { (figure("b", table)) }
                @if sought.is_empty() { (pages_of(self.asked, self.page, usize::try_from(all).unwrap_or(usize::MAX))) }
                (acts(&[(csv, "CSV"), (self.api.clone(), "JSON")]))
            }
        }
    }

    fn rule(&self, board: &Leaderboard) -> Markup {
        let card = &self.pool.card;
        html! {
            section {
                h2 { "The rule" }
                @if !board.is_of_scores() { p { "Ranked here by " (words(&board.by)) ", not by the score. The score:" } }
                (html::parts(&headline::weights(card)))
                p { (words(&headline::card(card).text)) }
                a href=(address::scorecard(&self.pool.name())) { "The whole scorecard" }
            }
        }
    }

    fn entry(&self, board: &Leaderboard) -> Markup {
        html! {
            @if let Some(line) = headline::entry(board, self.made.answer.basis.scale) {
                section {
                    h2 { "Your agent here" }
                    p { (line) }
                    pre { code { "karat push runs.csv \\\n  --to URL -c " (self.pool.card.id) } }
                }
            }
        }
    }

    /// Shows the other questions about these items, of the first two subjects where one is about two.
    fn more(&self, board: &Leaderboard) -> Markup {
        let (card, name) = (&self.pool.card, self.pool.name());
        let of = |path: &str, more: &[(&str, &str)]| {
            address::query(path, &[&[("card", name.as_str())], more].concat())
        };
        let times = self.made.rows.iter().flat_map(|rows| &rows.rows).filter_map(|row| row.time());
        let days: BTreeSet<i64> = times.map(|time| time.seconds().div_euclid(86_400)).collect();
        let several = board.rows.len() > 1;
        let questions = [
            ("/grid", "Who solves which task?", several),
            ("/tasks", "Which tasks decide, and which are flaky?", several),
            ("/trend", "What changed over time?", days.len() > 1),
            ("/stress", "What would change the leader?", several),
        ];
        html! {
            section {
                h2 { "More questions" }
                ul {
                    @if let [first, second, ..] = board.rows.as_slice() {
                        li { a href=(of("/compare", &[("first", &first.subject), ("second", &second.subject)])) {
                            "How do the first two differ?"
                        } }
                    }
                    @if let Some(cost) = card.facts.iter().find(|fact| fact.kind == FactType::Number && fact.name.contains("cost")) {
                        li { a href=(of("/leaderboards", &[("cost", &cost.name)])) { "What does the quality cost?" } }
                    }
                    @for (path, text, _) in questions.into_iter().filter(|(.., has_answer)| *has_answer) {
                        li { a href=(of(path, &[])) { (text) } }
                    }
                }
            }
        }
    }

    /// Returns the rows of a page that are asked for, of a table of all subjects.
    fn shown(&self, mut table: Table, is_ranks: bool) -> Table {
        let (sought, sort) = (field(self.asked, "q").to_lowercase(), field(self.asked, "sort"));
        let name = table.columns.iter().position(|column| column.kind == Kind::Name);
        let has = |row: &Row| {
            let name = name.and_then(|at| row.cells.get(at)).map(Cell::shown).unwrap_or_default();
            sought.is_empty() || name.to_lowercase().contains(&sought)
        };
        table.rows.retain(has);
        if !is_ranks {
            table.rows.truncate(ROWS);
            return table;
        }
        let (key, is_up) = sort.strip_prefix('-').map_or((sort, true), |key| (key, false));
        if let Some(at) = table.columns.iter().position(|column| column.key == key) {
            table.sort(at, is_up);
        }
        if table.is_part {
            for column in &mut table.columns {
                let own = if sort == column.key { format!("-{sort}") } else { column.key.clone() };
                column.address = self.address(&own, 1);
            }
        }
        if self.made.answer.method == LeaderboardMethod::Pairs || !sort.is_empty() || !sought.is_empty() {
            let from = (self.page - 1).saturating_mul(ROWS);
            table.rows = table.rows.into_iter().skip(from).take(ROWS).collect();
        }
        table
    }

    /// Returns the address of the leaderboard in another order.
    fn address(&self, sort: &str, page: usize) -> String {
        let number = page.to_string();
        let own = FIELDS.iter().filter(|name| **name != "sort").map(|name| (*name, field(self.asked, name)));
        let own: Vec<(&str, &str)> =
            own.chain([("sort", sort), ("page", if page > 1 { &number } else { "" })]).collect();
        address::query("/leaderboards", &own)
    }
}

/// Returns true if an address asks for another view than the usual one.
fn is_filtered(asked: &Asked) -> bool {
    FIELDS.iter().skip(1).any(|name| !field(asked, name).is_empty())
}

/// Shows links to the previous and the next page.
fn pages_of(asked: &Asked, page: usize, all: usize) -> Markup {
    let to = |page: usize| {
        let number = page.to_string();
        let own = FIELDS.map(|name| (name, field(asked, name)));
        address::query("/leaderboards", &[&own[..], &[("page", &number)]].concat())
    };
    turn("leaderboard", ["Higher ranks", "Lower ranks"], (page, all.div_ceil(ROWS)), to)
}
