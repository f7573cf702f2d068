//! A card as a query: one `SELECT` that computes the scores of a table inside the engine that holds it.
//!
//! The text is made from the plan, and does the same IEEE arithmetic in the same order; so an engine gives the same numbers as
//! [`Scorer::score`], to the last bit. What is not the same bits everywhere (`exp`, `ln`, `log2`, `pow`) is refused.
//!
//! ```
//! use karat_core::sql::Dialect;
//! assert_eq!(Dialect::Spark.identifier("order"), "`order`");
//! assert_eq!(Dialect::Postgres.number(0.25), "CAST(0.25 AS DOUBLE PRECISION)");
//! ```

mod dialect;
mod emit;

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

pub use dialect::Dialect;
use emit::{Emitter, Value, inexact};

use crate::facts::Usual;
use crate::number::{BILLION, MILLION, UNITS_PER_ONE};
use crate::plan::{fill, units};
use crate::range::Interval;
use crate::record::RecordStatus;
use crate::scorecard::{FactDeclaration, FactType, Publish, Scorecard};
use crate::scorer::Scorer;

/// The whole numbers beyond which two of them are one double.
const WIDE: u64 = 1 << 53;

/// The question that a query answers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Query<'a> {
    /// The table: its name, after those of its schema and database, with points between them; or a call or query.
    pub table: &'a str,
    /// Facts of the card that the table has no column for.
    pub without: &'a [String],
    /// The values of flags where they are missing, as evidence of the kind has them.
    pub usual: &'a [(&'a str, Usual)],
    /// Columns of the table that stay beside the scores.
    pub keep: &'a [String],
    /// Columns that say which rows are the same item. Of those with equal facts one counts; if facts differ, none does.
    pub unique: &'a [String],
    /// The column with the seconds from the time of an item to the moment of its score; only a card with decay reads it.
    pub elapsed_seconds: Option<&'a str>,
    /// True to show the readings of all dimensions, in billionths, and which gates hold.
    pub has_values: bool,
    /// True to show what dimensions and groups measured, in billionths and without defaults, for [`sums`].
    pub has_measured: bool,
}

/// The reason why a card, or a question about it, cannot be a query.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoSql {
    /// The results of a function differ between engines.
    #[error("`{card}` computes with `{function}`, whose last digits differ between engines")]
    Inexact {
        /// The card.
        card: String,
        /// The function, or the mean.
        function: &'static str,
    },
    /// Two columns of the result would have one name.
    #[error("two columns of the result would be called `{0}`")]
    Twice(
        /// The name.
        String,
    ),
    /// There is nothing that age takes anything from.
    #[error("`{0}` has no decay: nothing reads the seconds that have elapsed")]
    NoDecay(
        /// The card.
        String,
    ),
}

impl Scorer {
    /// Writes the query that scores a table, one row per item and one column per fact of the card, under its name, but
    /// for those of [`Query::without`].
    ///
    /// Columns of the result: those of [`Query::keep`]; `score` on the scale of the card; `score_e9`, the same in billionths of a
    /// perfect score, and `score_e15` where a score can lie between two billionths ([`Scorer::has_whole_billionths`]);
    /// `coverage` and `coverage_e9`; `band` and `tier`, NULL for none; `status`, that of a record or `broken`; and `reason`, what
    /// is wrong with a broken row.
    ///
    /// # Errors
    /// If there is no such query: [`NoSql`].
    pub fn sql(&self, dialect: Dialect, query: &Query<'_>) -> Result<String, NoSql> {
        let (card, plan) = (self.card(), &self.plan);
        if let Some(function) = inexact(plan) {
            return Err(NoSql::Inexact { card: card.name(), function });
        }
        if query.elapsed_seconds.is_some() && card.decay().is_none() {
            return Err(NoSql::NoDecay(card.name()));
        }
        let mut rows = Rows {
            dialect,
            card,
            without: query.without,
            usual: query.usual,
            levels: Vec::new(),
            next: 0,
            numbers: BTreeMap::new(),
        };
        let kept: Vec<String> = query.keep.iter().map(|name| rows.raw(name)).collect();
        let (facts, mut reasons) = rows.facts();
        let is_first = rows.unique(query.unique, &mut reasons);
        let profile = rows.profile();
        let elapsed_seconds = query.elapsed_seconds.map(|name| {
            let number = rows.double(name);
            rows.value(1, number)
        });
        let reason = rows.reason(&reasons);
        let given = (profile.as_ref(), &facts, elapsed_seconds.as_ref());
        let mut emitter = Emitter::new(dialect, plan, &self.weighting, given);
        emitter.levels = rows.levels;
        for instruction in &plan.instructions {
            emitter.instruction(instruction);
        }
        let outputs = self.outputs(&emitter, (query, &kept), &reason);
        let mut names = BTreeSet::new();
        if let Some((twice, _)) = outputs.iter().find(|(name, _)| !names.insert(name.as_str())) {
            return Err(NoSql::Twice(twice.clone()));
        }
        let mut text =
            format!("-- {}, {}, karat {}\nWITH ", card.name(), card.digest, env!("CARGO_PKG_VERSION"));
        let last = emitter.levels.len().saturating_sub(1);
        for (level, columns) in emitter.levels.iter().enumerate() {
            let from = match level {
                0 => format!("{} AS t", dialect.table(query.table)),
                _ => format!("s{}", level - 1),
            };
            let all = if level == 0 { "" } else { "*,\n  " };
            let columns: Vec<String> =
                columns.iter().map(|(name, text)| format!("{text} AS {name}")).collect();
            let columns = columns.join(",\n  ");
            let comma = if level == last { "" } else { "," };
            let once = dialect.once();
            text += &format!("s{level} AS{once} (SELECT\n  {all}{columns}\n  FROM {from}){comma}\n");
        }
        let outputs: Vec<String> =
            outputs.iter().map(|(name, text)| format!("{text} AS {}", dialect.identifier(name))).collect();
        let only = is_first.map_or(String::new(), |first| format!("\nWHERE {first} = 1"));
        Ok(format!("{text}SELECT\n  {}\nFROM s{last}{only}\n{}", outputs.join(",\n  "), dialect.settings()))
    }

    /// Returns whether every score of the card is a whole number of billionths of a perfect score: its mean divides, and neither
    /// a rule nor a cap puts a finer number in its place.
    pub fn has_whole_billionths(&self) -> bool {
        let card = self.card();
        let mut caps = card.gates.iter().filter_map(|gate| gate.cap);
        !card.mean.takes_weights_as_given()
            && card.rules.is_empty()
            && caps.all(|cap| units(cap.millionths(), card.scale.max) % MILLION as f64 == 0.0)
    }

    /// Returns the columns of the result: names and expressions.
    fn outputs(
        &self,
        emitter: &Emitter<'_>,
        (query, kept): (&Query<'_>, &[String]),
        reason: &str,
    ) -> Vec<(String, String)> {
        let (card, places, dialect) = (self.card(), &self.plan.places, emitter.dialect);
        let value = |register| emitter.value(register);
        let whole = |text: &str| dialect.whole(text);
        let unless_broken = |text: String| format!("CASE WHEN {reason} IS NULL THEN {text} END");
        let (score, published) = (value(places.score), value(places.published));
        let scale = f64::from(card.scale.max);
        let on_scale = match card.scale.publish {
            Publish::Exact => {
                let step = UNITS_PER_ONE as f64 / scale;
                match libm::trunc(step) == step {
                    true => format!("{} / {}", score.text, emitter.number(step)),
                    false => {
                        let [scale, units] = [scale, UNITS_PER_ONE as f64].map(|it| emitter.number(it));
                        format!("{} * {scale} / {units}", score.text)
                    }
                }
            }
            _ => format!("{} / {}", published.text, emitter.number(10u64.pow(card.scale.places) as f64)),
        };
        let billionths = format!("{} / {}", score.text, emitter.number(MILLION as f64));
        let is_whole = self.has_whole_billionths();
        let coverage = value(places.coverage).text;
        let named = |count: &str, names: Vec<&str>| {
            if names.is_empty() {
                return format!("CAST(NULL AS {})", dialect.string());
            }
            let cases = names
                .iter()
                .zip(1u32..)
                .map(|(name, place)| format!(" WHEN {place} THEN {}", dialect.text(name)));
            unless_broken(format!("CASE {count}{} END", cases.collect::<String>()))
        };
        let [scored, unscored, withheld] =
            [RecordStatus::Scored, RecordStatus::Unscored, RecordStatus::Withheld]
                .map(|it| dialect.text(it.name()));
        let composite = value(places.composite);
        let held =
            composite.is_withheld.map_or(String::new(), |held| format!("WHEN {held} THEN {withheld} "));
        let status = format!(
            "CASE WHEN {reason} IS NOT NULL THEN {} WHEN {} IS NOT NULL THEN {scored} {held}ELSE {unscored} END",
            dialect.text("broken"),
            score.text
        );
        let mut columns: Vec<(String, String)> =
            query.keep.iter().zip(kept).map(|(name, column)| (name.clone(), column.clone())).collect();
        let mut add = |name: &str, text: String| columns.push((name.to_string(), text));
        add("score", unless_broken(on_scale));
        // A quotient of whole numbers is half of one exactly where it should be.
        let rounded = if is_whole { billionths } else { emitter.round(&billionths) };
        add("score_e9", unless_broken(whole(&rounded)));
        if !is_whole {
            add("score_e15", unless_broken(whole(&score.text)));
        }
        add("coverage", unless_broken(format!("{coverage} / {}", emitter.number(BILLION as f64))));
        add("coverage_e9", unless_broken(whole(&coverage)));
        add(
            "band",
            named(&value(places.band).text, card.bands.iter().map(|band| band.name.as_str()).collect()),
        );
        add(
            "tier",
            named(&value(places.tier).text, card.tiers.iter().map(|tier| tier.name.as_str()).collect()),
        );
        add("status", status);
        add("reason", reason.to_string());
        if query.has_values {
            for (dimension, places) in card.dimensions.iter().zip(&places.dimensions) {
                add(
                    &format!("{}_e9", dimension.key),
                    unless_broken(whole(&emitter.filled(&value(places.reading), fill(dimension)))),
                );
            }
            for (gate, &(when, _)) in card.gates.iter().zip(&places.gates) {
                let text = format!("CASE WHEN {} = 1 THEN 1 ELSE 0 END", value(when).text);
                add(&format!("gate {}", gate.name), unless_broken(text));
            }
        }
        if query.has_measured {
            let readings = places.dimensions.iter().map(|it| it.reading).chain(places.groups.iter().copied());
            for (key, register) in measured(card).zip(readings) {
                add(&measured_column(key), unless_broken(whole(&value(register).text)));
            }
        }
        columns
    }
}

/// Returns the keys of all that is measured: dimensions, then groups.
pub fn measured(card: &Scorecard) -> impl Iterator<Item = &str> {
    let dimensions = card.dimensions.iter().map(|it| it.key.as_str());
    dimensions.chain(card.groups.iter().map(|it| it.key.as_str()))
}

fn measured_column(key: &str) -> String {
    format!("measured {key}")
}

/// Returns the columns of sums of what is measured under a key: how many items have a value, the sum of these, and how many
/// items have neither this value nor a score.
pub fn sums_of_key(key: &str) -> [String; 3] {
    [format!("count_{key}"), format!("sum_{key}_e9"), format!("bare_{key}")]
}

/// Writes the query that adds up what another one answers, by columns that are renamed: the numbers of items, of those with
/// a score and of broken ones, the sum of the scores in billionths, the same of what the other one shows as measured, and the
/// digest of the card. All of them are whole numbers.
pub fn sums(dialect: Dialect, scores: &str, card: &Scorecard, by: &[(&str, &str)], keys: &[&str]) -> String {
    let name = |name: &str| dialect.identifier(name);
    let (score, status, broken) = (name("score_e9"), name("status"), dialect.text("broken"));
    let count = |when: String| format!("COUNT(CASE WHEN {when} THEN 1 END)");
    let mut columns: Vec<(String, String)> =
        by.iter().map(|(column, called)| (name(column), (*called).to_string())).collect();
    let mut add = |called: &str, text: String| columns.push((text, called.to_string()));
    add("items", String::from("COUNT(*)"));
    add("scored", format!("COUNT({score})"));
    add("broken", count(format!("{status} = {broken}")));
    add("sum_score_e9", dialect.sum(&score));
    for key in keys {
        let (column, [counted, sum, bare]) = (name(&measured_column(key)), sums_of_key(key));
        add(&counted, format!("COUNT({column})"));
        add(&sum, dialect.sum(&column));
        add(&bare, count(format!("{status} <> {broken} AND {score} IS NULL AND {column} IS NULL")));
    }
    add("card", dialect.text(&card.digest.to_string()));
    let columns: Vec<String> =
        columns.iter().map(|(text, called)| format!("{text} AS {}", name(called))).collect();
    let by: Vec<String> = by.iter().map(|(column, _)| name(column)).collect();
    let (columns, by, scores) = (columns.join(",\n  "), by.join(", "), scores.trim_end());
    format!(
        "WITH scores AS (\n{scores}\n)\nSELECT\n  {columns}\nFROM scores\nGROUP BY {by}\nORDER BY {by}\n{}",
        dialect.settings()
    )
}

/// The first selections: the table as it is, and its facts checked against their declarations.
struct Rows<'a> {
    dialect: Dialect,
    card: &'a Scorecard,
    without: &'a [String],
    usual: &'a [(&'a str, Usual)],
    levels: Vec<Vec<(String, String)>>,
    next: usize,
    /// The facts that are numbers or conditions, as the table has them, by their places.
    numbers: BTreeMap<usize, String>,
}

impl Rows<'_> {
    fn add(&mut self, level: usize, text: String) -> String {
        let name = self.dialect.identifier(&format!("r{}", self.next));
        self.next += 1;
        while self.levels.len() <= level {
            self.levels.push(Vec::new());
        }
        if let Some(columns) = self.levels.get_mut(level) {
            columns.push((name.clone(), text));
        }
        name
    }

    fn value(&mut self, level: usize, text: String) -> Value {
        Value::new(self.add(level, text), level + 1, Interval::EVERYTHING).or_null()
    }

    fn column(&self, name: &str) -> String {
        format!("t.{}", self.dialect.identifier(name))
    }

    /// Adds a column of the table as it is.
    fn raw(&mut self, name: &str) -> String {
        let column = self.column(name);
        self.add(0, column)
    }

    /// Adds a column of the table as a double, NULL in place of NaN.
    fn double(&mut self, name: &str) -> String {
        let column = self.column(name);
        let number = self.add(0, format!("CAST({column} AS {})", self.dialect.double()));
        let is_nan = self.dialect.is_nan(&number);
        is_nan.map_or(number.clone(), |is_nan| format!("CASE WHEN NOT ({is_nan}) THEN {number} END"))
    }

    /// Adds the facts that are numbers or conditions, without those that break their declarations. Returns also what is wrong
    /// with a row, and when.
    fn facts(&mut self) -> (BTreeMap<usize, Value>, Vec<(String, String)>) {
        let (dialect, card) = (self.dialect, self.card);
        let mut reasons = Vec::new();
        let is_there =
            |fact: &FactDeclaration| fact.kind != FactType::Text && !self.without.contains(&fact.name);
        let there: Vec<(usize, &FactDeclaration)> =
            card.facts.iter().enumerate().filter(|(_, fact)| is_there(fact)).collect();
        for &(place, fact) in &there {
            let column = self.column(&fact.name);
            let text = match (fact.kind, dialect) {
                (FactType::Boolean, Dialect::Postgres | Dialect::BigQuery | Dialect::Snowflake) => {
                    let [one, zero] = [1.0, 0.0].map(|it| dialect.number(it));
                    format!("CASE WHEN {column} THEN {one} WHEN NOT {column} THEN {zero} END")
                }
                // A plain cast ends the query at the first text that is not a number.
                (_, Dialect::Spark) => format!("TRY_CAST({column} AS DOUBLE)"),
                _ => format!("CAST({column} AS {})", dialect.double()),
            };
            let number = self.add(0, text);
            // Two engines make a number, or nothing, of any text.
            let no_number = match dialect {
                Dialect::Sqlite => Some(format!("typeof({column}) NOT IN ('null', 'integer', 'real')")),
                Dialect::Spark => {
                    Some(format!("{column} IS NOT NULL AND TRY_CAST({column} AS DOUBLE) IS NULL"))
                }
                _ => None,
            };
            if let Some(no_number) = no_number {
                let flag = self.add(0, format!("CASE WHEN {no_number} THEN 1 ELSE 0 END"));
                reasons.push((format!("{flag} = 1"), format!("{}: expected a number", fact.name)));
            }
            if fact.kind == FactType::Number && (fact.max > WIDE as f64 || fact.min < -(WIDE as f64)) {
                let is_wide = dialect.is_wide(&column);
                let beyond = format!("({column} > {WIDE} OR {column} < -{WIDE})");
                let flag = self.add(0, format!("CASE WHEN {is_wide} AND {beyond} THEN 1 ELSE 0 END"));
                reasons.push((format!("{flag} = 1"), format!("{}: expected at most 2^53", fact.name)));
            }
            self.numbers.insert(place, number);
        }
        let mut values = BTreeMap::new();
        for (place, fact) in there {
            let Some(number) = self.numbers.get(&place).cloned() else { continue };
            let (number, mut broken, unknown) = (&number, self.broken(fact, &number), fact.unknown);
            let is_nan = dialect.is_nan(number);
            let unknown = unknown.map(|unknown| format!("{number} = {}", dialect.number(unknown)));
            let skip: Vec<String> = is_nan.into_iter().chain(unknown).collect();
            if !skip.is_empty() {
                let skip = skip.join(" OR ");
                broken.iter_mut().for_each(|(when, _)| *when = format!("NOT ({skip}) AND ({when})"));
            }
            let out: Vec<String> =
                skip.into_iter().chain(broken.iter().map(|(when, _)| format!("({when})"))).collect();
            let text = match out.is_empty() {
                true => number.clone(),
                false => format!("CASE WHEN {} THEN NULL ELSE {number} END", out.join(" OR ")),
            };
            let text = match self.usual(fact) {
                Some(usual) => format!("COALESCE({text}, {usual})"),
                None => text,
            };
            let value = self.value(1, text);
            values.insert(place, value);
            reasons.extend(broken);
        }
        for (place, fact) in card.facts.iter().enumerate() {
            if !values.contains_key(&place)
                && let Some(usual) = self.usual(fact)
            {
                let value = self.value(1, usual);
                values.insert(place, value);
            }
        }
        (values, reasons)
    }

    /// Returns the value of a fact where it is missing, if it has one then.
    fn usual(&self, fact: &FactDeclaration) -> Option<String> {
        let (_, usual) = self.usual.iter().find(|(name, _)| *name == fact.name)?;
        let flag = |flag: bool| self.dialect.number(f64::from(u8::from(flag)));
        Some(match usual {
            Usual::Flag(usual) => flag(*usual),
            Usual::WhereGiven(other) => {
                let other = self.card.facts.iter().position(|fact| fact.name == *other);
                match other.and_then(|other| self.numbers.get(&other)) {
                    None => flag(true),
                    Some(number) => {
                        let is_nan =
                            self.dialect.is_nan(number).map_or(String::new(), |it| format!(" OR {it}"));
                        format!(
                            "CASE WHEN {number} IS NULL{is_nan} THEN {} ELSE {} END",
                            flag(false),
                            flag(true)
                        )
                    }
                }
            }
        })
    }

    /// Returns how a fact can break its declaration: the condition, and what is said then.
    fn broken(&self, fact: &FactDeclaration, x: &str) -> Vec<(String, String)> {
        let dialect = self.dialect;
        let mut found = Vec::new();
        let mut add = |when: String, expected: String| {
            found.push((when, format!("{}: expected {expected}", fact.name)))
        };
        if fact.kind == FactType::Boolean {
            add(format!("{x} <> 0 AND {x} <> 1"), String::from("true or false"));
            return found;
        }
        if fact.min <= -f64::MAX || fact.max >= f64::MAX {
            add(dialect.is_infinite(x), String::from("a finite number"));
        }
        if fact.min > -f64::MAX {
            add(format!("{x} < {}", dialect.number(fact.min)), format!("at least {}", fact.min));
        }
        if fact.max < f64::MAX {
            add(format!("{x} > {}", dialect.number(fact.max)), format!("at most {}", fact.max));
        }
        if fact.integer {
            add(format!("{} <> {x}", dialect.floor(x)), String::from("a whole number"));
        }
        if let Some(bound) = fact.max_fact
            && let (Some(most), Some(other)) = (self.numbers.get(&bound), self.card.facts.get(bound))
        {
            let is_unknown = other.unknown.map(|unknown| format!("{most} <> {}", dialect.number(unknown)));
            let is_nan = dialect.is_nan(most).map(|is_nan| format!("NOT ({is_nan})"));
            let known: String = is_unknown.into_iter().chain(is_nan).map(|it| format!(" AND {it}")).collect();
            add(format!("{x} > {most}{known}"), format!("at most `{}`", other.name));
        }
        found
    }

    /// Adds what is wrong with a row, the first of it; returns the column.
    fn reason(&mut self, reasons: &[(String, String)]) -> String {
        if reasons.is_empty() {
            return format!("CAST(NULL AS {})", self.dialect.string());
        }
        let cases =
            reasons.iter().map(|(when, what)| format!(" WHEN {when} THEN {}", self.dialect.text(what)));
        let text = format!("CASE{} END", cases.collect::<String>());
        // Whether rows of one item differ is in a column of the selection before.
        self.add(2, text)
    }

    /// Adds the number of a row among those that are the same item, if it is known which are; and a reason if they differ.
    fn unique(&mut self, by: &[String], reasons: &mut Vec<(String, String)>) -> Option<String> {
        if by.is_empty() {
            return None;
        }
        let by: Vec<String> = by.iter().map(|name| self.raw(name)).collect();
        let texts = self.card.facts.iter().filter(|fact| fact.kind == FactType::Text);
        let texts: Vec<String> =
            texts.map(|fact| fact.name.clone()).filter(|name| !self.without.contains(name)).collect();
        let texts: Vec<String> = texts.iter().map(|name| self.raw(name)).collect();
        let facts: Vec<String> = self.numbers.values().cloned().chain(texts).collect();
        let by = by.join(", ");
        let over = format!("OVER (PARTITION BY {by})");
        let differ = facts.iter().map(|fact| {
            format!(
                "MIN({fact}) {over} <> MAX({fact}) {over} OR COUNT({fact}) {over} NOT IN (0, COUNT(*) {over})"
            )
        });
        let differ: Vec<String> = differ.collect();
        let differ = self.add(1, format!("CASE WHEN {} THEN 1 ELSE 0 END", differ.join(" OR ")));
        reasons
            .push((format!("{differ} = 1"), String::from("several rows of this item have different facts")));
        Some(self.add(1, format!("ROW_NUMBER() OVER (PARTITION BY {by} ORDER BY {})", facts.join(", "))))
    }

    /// Adds the profile of a row by its place in the card, if the card has profiles.
    fn profile(&mut self) -> Option<Value> {
        let profiles = self.card.profiles.as_ref()?;
        let name = self
            .card
            .facts
            .get(profiles.by)
            .map(|fact| &fact.name)
            .filter(|name| !self.without.contains(name))?;
        let asked = self.raw(name);
        let cases = profiles.list.iter().enumerate();
        let cases = cases.map(|(place, (name, _))| format!(" WHEN {} THEN {place}", self.dialect.text(name)));
        let text = format!("CASE {asked}{} ELSE {} END", cases.collect::<String>(), profiles.fallback);
        Some(self.value(1, text))
    }
}
