//! Scorecards as queries, for tables that lie in another engine; and the query by which such an engine proves that it gives the
//! scores of this one.
//!
//! Only evidence of the kinds `facts` and `agent-dimensions` is a table: one row per item, one column per fact.

use std::collections::BTreeSet;
use std::num::NonZeroU64;

use karat_core::facts::{Digest, Fact, Item, ItemContext, Usual};
use karat_core::formula::{Expr, ExprKind, Symbol};
use karat_core::scorecard::{FactDeclaration, FactType, Scorecard};
use karat_core::timestamp::Timestamp;
use karat_reader::Kind;
use karat_stats::random::Random;

use crate::card::CompiledCard;
use crate::columns::expect_table;
use crate::engine::{Engine, Options};
use crate::error::{Code, Error};

use karat_core::sql::measured;
pub use karat_core::sql::{Dialect, Query};

use crate::sums::{OUTCOME, SUBJECT, TASK};

/// The column that a [`self_check`] counts elapsed seconds in.
const ELAPSED: &str = "elapsed_seconds";
/// The moment of the verdicts of a [`self_check`].
const MOMENT_SECONDS: i64 = 1_800_000_000;

/// The sums that a query adds up, by these columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct By<'a> {
    /// The column of subjects.
    pub subject: &'a str,
    /// The column of tasks, if there is one.
    pub task: Option<&'a str>,
    /// The column of outcomes, if there is one.
    pub outcome: Option<&'a str>,
}

/// Writes the query that scores a table: see [`karat_core::evaluate::Scorer::sql`] for its columns. With `by`, the query adds up
/// the scores of each subject, of each subject at each task, or of each outcome there: [`crate::sums`] reads them.
///
/// ```
/// use karat::card::CompiledCard;
/// use karat::sql::{Dialect, Query, query};
///
/// let card = CompiledCard::open("trust@1.0.0")?;
/// let asked = Query { table: "agents", ..Query::default() };
/// let text = query(&card, Dialect::DuckDb, &asked, None)?;
/// assert!(text.contains(r#"t."accuracy""#));
/// # Ok::<(), karat::error::Error>(())
/// ```
///
/// # Errors
///
/// If the evidence of the card is not a table, or if an engine could give other results than karat.
pub fn query(
    card: &CompiledCard,
    dialect: Dialect,
    query: &Query<'_>,
    by: Option<By<'_>>,
) -> Result<String, Error> {
    let Some(By { subject, task, outcome }) = by else { return scores(card, dialect, query) };
    let named = [(Some(subject), SUBJECT), (task, TASK), (outcome, OUTCOME)];
    let by: Vec<(&str, &str)> =
        named.into_iter().filter_map(|(column, called)| Some((column?, called))).collect();
    let keep: Vec<String> = by.iter().map(|(column, _)| (*column).to_owned()).collect();
    let keys: Vec<&str> = measured(card).filter(|_| query.has_values).collect();
    let asked = Query { keep: &keep, has_values: false, has_measured: query.has_values, ..*query };
    let scores = scores(card, dialect, &asked)?;
    let (notes, scores) = split(&scores);
    Ok(format!("{notes}{}", karat_core::sql::sums(dialect, scores, card, &by, &keys)))
}

fn scores(card: &CompiledCard, dialect: Dialect, query: &Query<'_>) -> Result<String, Error> {
    let refused = |message: String| Error::new(Code::InvalidOption, message);
    expect_table(card)?;
    let unknown = query.without.iter().find(|name| !card.facts.iter().any(|fact| fact.name == **name));
    if let Some(unknown) = unknown {
        let names = card.facts.iter().map(|fact| fact.name.as_str());
        let near = karat_core::diagnostic::nearest(unknown, names);
        let error = refused(format!("`{}` has no fact `{unknown}`", card.name()));
        return Err(near
            .into_iter()
            .fold(error, |error, near| error.hint(format!("did you mean `{near}`?"))));
    }
    let usual = usual(card);
    let asked = Query { usual: &usual, ..*query };
    card.scorer()?.sql(dialect, &asked).map_err(|why| refused(why.to_string()))
}

/// Returns the values of flags that evidence of the card's kind need not give.
fn usual(card: &Scorecard) -> Vec<(&str, Usual)> {
    let kind = Kind::from_name(&card.evidence);
    let usual = |name| kind.and_then(|kind| kind.usual(name));
    card.facts.iter().filter_map(|fact| Some((fact.name.as_str(), usual(&fact.name)?))).collect()
}

/// Returns the column of whole scores.
fn score_of(card: &CompiledCard) -> Result<&'static str, Error> {
    Ok(if card.scorer()?.has_whole_billionths() { "score_e9" } else { "score_e15" })
}

/// Returns the notes at the beginning of a query, and the query.
fn split(text: &str) -> (&str, &str) {
    let notes: usize =
        text.split_inclusive('\n').take_while(|line| line.starts_with("--")).map(str::len).sum();
    text.split_at(notes)
}

/// Writes the query that scores rows it brings along, and counts those whose score, coverage, band, tier or status is another
/// than karat's own: an engine that answers 0 can be relied on. The rows have every fact at and beside the limits of its range and
/// the numbers that the card compares it with, missing and broken, and then random values, up to `rows` of them.
///
/// # Errors
///
/// As [`query`].
pub fn self_check(card: &CompiledCard, dialect: Dialect, rows: usize) -> Result<String, Error> {
    let facts: Vec<&FactDeclaration> = card.facts.iter().collect();
    let mut names: Vec<String> = facts.iter().map(|fact| fact.name.clone()).collect();
    let keep =
        ["id", "e_score", "e_published", "e_coverage", "e_band", "e_tier", "e_status"].map(String::from);
    let elapsed_seconds = card.decay().map(|_| ELAPSED);
    let query = Query { table: "t", keep: &keep, elapsed_seconds, ..Query::default() };
    let scores = scores(card, dialect, &query)?;
    let (notes, scores) = split(&scores);
    let table = table(card, dialect, rows)?;
    let mut types: Vec<&str> = facts.iter().map(|fact| of_type(dialect, fact.kind)).collect();
    names.extend(elapsed_seconds.map(String::from));
    types.extend(elapsed_seconds.map(|_| dialect.double()));
    names.extend(keep);
    types.extend([dialect.integer(), dialect.integer(), dialect.double(), dialect.integer()]);
    types.extend([dialect.string(); 3]);
    let rows = values(dialect, &names, &types, &table);
    let name = |name: &str| dialect.identifier(name);
    let score = score_of(card)?;
    let differ = [(score, "e_score"), ("score", "e_published"), ("coverage_e9", "e_coverage")]
        .map(|(own, expected)| format!("COALESCE({}, -1) <> COALESCE({}, -1)", name(own), name(expected)));
    let text = |column: &str| format!("COALESCE(CAST({} AS {}), '')", name(column), dialect.string());
    let differ_as_text = [("band", "e_band"), ("tier", "e_tier"), ("status", "e_status")]
        .map(|(own, expected)| format!("{} <> {}", text(own), text(expected)));
    let differ: Vec<String> = differ.into_iter().chain(differ_as_text).collect();
    let differ = differ.join("\n  OR ");
    // Not in a WHERE: Sail carries a condition down through all selections, where it doubles with each.
    Ok(format!(
        "{notes}-- {} rows; expected: 0\nWITH {rows},\nscores AS (\n{}\n)\nSELECT COUNT(CASE WHEN {differ} THEN 1 END) AS {}\nFROM scores\n{}",
        table.len(),
        scores.trim_end(),
        name("different"),
        dialect.settings(),
    ))
}

fn of_type(dialect: Dialect, kind: FactType) -> &'static str {
    match (kind, dialect) {
        (FactType::Text, _) => dialect.string(),
        (FactType::Number, _) | (_, Dialect::Sqlite) => dialect.double(),
        (FactType::Boolean, Dialect::ClickHouse) => "Nullable(Bool)",
        (FactType::Boolean, Dialect::BigQuery) => "BOOL",
        (FactType::Boolean, _) => "BOOLEAN",
    }
}

/// Writes a table of literals as a common table expression called `t`.
fn values(dialect: Dialect, names: &[String], types: &[&str], rows: &[Vec<String>]) -> String {
    let columns: Vec<String> = names.iter().map(|name| dialect.identifier(name)).collect();
    let lines: Vec<String> = rows.iter().map(|row| format!("({})", row.join(", "))).collect();
    let (table, columns, lines) = (dialect.identifier("t"), columns.join(", "), lines.join(",\n"));
    let typed = |separator: &str| {
        let each =
            names.iter().zip(types).map(|(name, of)| format!("{}{separator}{of}", dialect.identifier(name)));
        each.collect::<Vec<String>>().join(", ")
    };
    match dialect {
        Dialect::ClickHouse => {
            let structure = dialect.text(&typed(" "));
            format!("{table} AS (SELECT * FROM values({structure},\n{lines}))")
        }
        Dialect::BigQuery => {
            format!("{table} AS (SELECT * FROM UNNEST(ARRAY<STRUCT<{}>>[\n{lines}]))", typed(" "))
        }
        Dialect::Snowflake => format!("{table}({columns}) AS (SELECT * FROM VALUES\n{lines})"),
        Dialect::DuckDb | Dialect::Postgres | Dialect::Sqlite | Dialect::Spark => {
            format!("{table}({columns}) AS (VALUES\n{lines})")
        }
    }
}

/// One fact of a drawn row.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Drawn<'a> {
    Missing,
    Number(f64),
    Flag(bool),
    Text(&'a str),
}

/// Returns the rows of a self-check: facts, and what karat says about them.
fn table(card: &CompiledCard, dialect: Dialect, rows: usize) -> Result<Vec<Vec<String>>, Error> {
    let mut engine = Engine::new(card.clone(), Options::default())?;
    engine.set_as_of(Some(Timestamp::from_seconds(MOMENT_SECONDS)));
    let draw = Draw::new(card);
    let usual = usual(card);
    let mut random = Random::new(20);
    let mut table = Vec::new();
    let mut add = |facts: &[Drawn<'_>], elapsed_seconds: Option<i64>| -> Result<(), Error> {
        let mut row: Vec<String> = facts.iter().map(|fact| literal(dialect, *fact)).collect();
        let is_given = |name: &str| {
            let place = card.facts.iter().position(|fact| fact.name == name);
            place.and_then(|place| facts.get(place)).is_some_and(|fact| *fact != Drawn::Missing)
        };
        let mut given: Vec<Fact<'_>> = facts.iter().map(|fact| fact.fact()).collect();
        for (fact, declared) in given.iter_mut().zip(&card.facts).filter(|(fact, _)| **fact == Fact::Missing)
        {
            match usual.iter().find(|(name, _)| *name == declared.name) {
                Some((_, Usual::Flag(flag))) => *fact = Fact::Flag(*flag),
                Some((_, Usual::WhereGiven(other))) => *fact = Fact::Flag(is_given(other)),
                None => {}
            }
        }
        let time = elapsed_seconds.map(|elapsed| Timestamp::from_seconds(MOMENT_SECONDS - elapsed));
        if card.decay().is_some() {
            row.push(elapsed_seconds.map_or_else(null, |elapsed| format!("{elapsed}.0e0")));
        }
        let item = Item {
            subject: "row",
            id: "row",
            context: ItemContext { time, ..ItemContext::default() },
            digest: Digest::of(b""),
            facts: &given,
            grading: None,
            suspicions: &[],
        };
        let whole = card.scorer()?.has_whole_billionths();
        let text = |text: Option<&str>| text.map_or_else(null, |text| dialect.text(text));
        let scored = engine.visit_item(&item, |record| {
            let score = record.score.map(|score| if whole { score.billionths() } else { score.units() });
            let score = score.map_or_else(null, |score| score.to_string());
            let published = record.published.map_or_else(null, |it| format!("{:e}", it.to_f64()));
            let tier = record.tier.as_ref().and_then(|tier| tier.name);
            let status = text(Some(record.status.name()));
            [score, published, record.coverage.to_string(), text(record.band), text(tier), status]
        });
        let expected =
            scored.unwrap_or_else(|_| [null(), null(), null(), null(), null(), text(Some("broken"))]);
        row.push(table.len().to_string());
        row.extend(expected);
        table.push(row);
        Ok(())
    };
    let missing = vec![Drawn::Missing; card.facts.len()];
    add(&missing, None)?;
    for place in 0..card.facts.len() {
        for edge in draw.edges(place).chain([Drawn::Missing]) {
            let mut facts = draw.row(&mut random);
            if let Some(slot) = facts.get_mut(place) {
                *slot = edge;
            }
            add(&facts, draw.elapsed_seconds(&mut random))?;
            // Alone, as far as it can be.
            let mut alone = missing.clone();
            if let Some(slot) = alone.get_mut(place) {
                *slot = edge;
            }
            add(&alone, None)?;
        }
    }
    for _ in 0..rows {
        add(&draw.row(&mut random), draw.elapsed_seconds(&mut random))?;
    }
    // Of more rows than wanted, some of each fact stay.
    let (count, wanted) = (table.len(), rows.max(1));
    let is_kept = |place: usize| place * wanted / count != (place + 1) * wanted / count;
    let kept = table.into_iter().enumerate().filter(|(place, _)| count <= wanted || is_kept(*place));
    Ok(kept.map(|(_, row)| row).collect())
}

fn null() -> String {
    String::from("NULL")
}

fn literal(dialect: Dialect, fact: Drawn<'_>) -> String {
    match fact {
        Drawn::Missing => null(),
        // With an exponent it is a double to every engine, and 15 digits are read alike by all.
        Drawn::Number(number) => format!("{number:e}"),
        Drawn::Flag(flag) => String::from(if flag { "TRUE" } else { "FALSE" }),
        Drawn::Text(text) => dialect.text(text),
    }
}

impl Drawn<'_> {
    fn fact(&self) -> Fact<'_> {
        match self {
            Self::Missing => Fact::Missing,
            Self::Number(number) => Fact::Number(*number),
            Self::Flag(flag) => Fact::Flag(*flag),
            Self::Text(text) => Fact::Text(text),
        }
    }
}

/// The values that facts of a card are drawn from.
struct Draw<'a> {
    card: &'a Scorecard,
    /// Numbers of its formulas, in order.
    constants: Vec<f64>,
}

impl<'a> Draw<'a> {
    fn new(card: &'a Scorecard) -> Self {
        let mut found = BTreeSet::new();
        let lets = card.lets.iter().map(|it| &it.formula);
        let dimensions = card.dimensions.iter();
        let dimensions = dimensions.flat_map(|it| [Some(&it.formula), it.when.as_ref(), it.applies.as_ref()]);
        let rules = card.rules.iter().flat_map(|it| [&it.when, &it.set]);
        let gates = card.gates.iter().map(|it| &it.when);
        for formula in lets.chain(dimensions.flatten()).chain(rules).chain(gates) {
            formula.expr.walk(&mut |expr: &Expr<Symbol>| {
                if let ExprKind::Number(number) = expr.kind {
                    found.insert(number.to_bits());
                }
            });
        }
        found.extend(card.constants.iter().map(|it| it.value.to_bits()));
        Self { card, constants: found.into_iter().map(f64::from_bits).collect() }
    }

    /// Returns the values of a fact that matter: the limits of its range and what lies beside them, numbers of formulas, values that
    /// end in half of a billionth.
    fn edges(&self, place: usize) -> impl Iterator<Item = Drawn<'a>> + use<'a> {
        let fact = self.card.facts.get(place);
        let kind = fact.map_or(FactType::Text, |fact| fact.kind);
        let mut edges = Vec::new();
        match kind {
            FactType::Boolean => edges.extend([true, false].map(Drawn::Flag)),
            FactType::Text => {
                let profiles = self.card.profiles.iter().flat_map(|profiles| &profiles.list);
                edges.extend(profiles.map(|(name, _)| Drawn::Text(name)));
                edges.push(Drawn::Text("it's \"none\" of `them` \\"));
            }
            FactType::Number => {
                let ends = fact.into_iter().flat_map(|fact| [Some(fact.min), Some(fact.max), fact.unknown]);
                let ends = ends.flatten().filter(|end| end.abs() < 1e15);
                for near in ends.chain(self.constants.iter().copied()).chain([0.0, 1.0, 1e6]) {
                    edges.extend([0.0, 1e-9, -1e-9, 0.5, -0.5, 1.0, -1.0].map(|step| number(near + step)));
                }
                edges.extend(
                    [0.5e-9, 1.5e-9, 0.123_456_788_5, 0.123_456_789_5, 0.333_333_333_333].map(number),
                );
                // Halfway between two published scores.
                let scale = self.card.scale;
                let steps = f64::from(scale.max) * 10u64.pow(scale.places) as f64;
                edges.push(number(((steps / 2.0).floor() + 0.5) / steps));
            }
        }
        edges.into_iter()
    }

    /// Returns a row in which a fifth of the facts is missing, and few are at their edges.
    fn row(&self, random: &mut Random) -> Vec<Drawn<'a>> {
        (0..self.card.facts.len()).map(|place| self.fact(place, random)).collect()
    }

    fn fact(&self, place: usize, random: &mut Random) -> Drawn<'a> {
        let Some(fact) = self.card.facts.get(place) else { return Drawn::Missing };
        match (random.next_u64() % 20, fact.kind) {
            (0..4, _) => Drawn::Missing,
            (4..8, FactType::Number) | (_, FactType::Boolean | FactType::Text) => {
                let within = |edge: &Drawn<'_>| match edge {
                    Drawn::Number(number) => {
                        (fact.min..=fact.max).contains(number) && (!fact.integer || number.trunc() == *number)
                    }
                    _ => true,
                };
                let edges: Vec<Drawn<'a>> = self.edges(place).filter(within).collect();
                let count = NonZeroU64::new(edges.len() as u64).unwrap_or(NonZeroU64::MIN);
                edges.get(random.below(count) as usize).copied().unwrap_or(Drawn::Missing)
            }
            (_, FactType::Number) => {
                let (low, high) = (fact.min.max(-1e6), fact.max.min(1e6));
                let value = low + (high - low) * random.open_unit();
                number(if fact.integer { value.round() } else { value })
            }
        }
    }

    fn elapsed_seconds(&self, random: &mut Random) -> Option<i64> {
        const DAY: i64 = 86_400;
        let all =
            [None, Some(-5), Some(0), Some(7 * DAY), Some(7 * DAY + 1), Some(40 * DAY), Some(4000 * DAY)];
        all.get((random.next_u64() % 7) as usize).copied().flatten()
    }
}

/// Returns the number with 15 digits, which every engine reads alike.
fn number(value: f64) -> Drawn<'static> {
    Drawn::Number(format!("{value:.14e}").parse().unwrap_or(value))
}
