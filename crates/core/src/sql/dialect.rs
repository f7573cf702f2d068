//! The ways in which engines write the same thing.

use alloc::format;
use alloc::string::{String, ToString};

crate::words! {
    /// The dialect of an engine that reads SQL.
    #[expect(missing_docs, reason = "the names say it")]
    pub enum Dialect {
        DuckDb = "duckdb",
        Postgres = "postgres",
        Sqlite = "sqlite",
        ClickHouse = "clickhouse",
        Spark = "spark",
        BigQuery = "bigquery",
        Snowflake = "snowflake",
    }
}

/// The whole numbers up to which every one is a double.
const EXACT: f64 = 9_007_199_254_740_992.0;

impl Dialect {
    /// Returns the name of the type of doubles.
    pub const fn double(self) -> &'static str {
        match self {
            Self::DuckDb | Self::Spark | Self::Snowflake => "DOUBLE",
            Self::Postgres => "DOUBLE PRECISION",
            Self::Sqlite => "REAL",
            // Other types do not have NULL.
            Self::ClickHouse => "Nullable(Float64)",
            Self::BigQuery => "FLOAT64",
        }
    }

    /// Returns the name of the type of whole numbers of 64 bits.
    pub const fn integer(self) -> &'static str {
        match self {
            Self::DuckDb | Self::Postgres | Self::Spark | Self::Snowflake => "BIGINT",
            Self::Sqlite => "INTEGER",
            Self::ClickHouse => "Nullable(Int64)",
            Self::BigQuery => "INT64",
        }
    }

    /// Returns the name of the type of texts.
    pub const fn string(self) -> &'static str {
        match self {
            Self::DuckDb | Self::Snowflake => "VARCHAR",
            Self::Postgres | Self::Sqlite => "TEXT",
            Self::ClickHouse => "Nullable(String)",
            Self::Spark | Self::BigQuery => "STRING",
        }
    }

    /// Returns what follows `AS` in a common table expression, so that the engine computes it once.
    pub(super) const fn once(self) -> &'static str {
        match self {
            Self::Postgres | Self::Sqlite => " MATERIALIZED",
            Self::DuckDb | Self::ClickHouse | Self::Spark | Self::BigQuery | Self::Snowflake => "",
        }
    }

    /// Returns the last lines of a query.
    pub const fn settings(self) -> &'static str {
        match self {
            // Else the time to plan a query doubles with each selection: which branches of a condition are needed is looked for
            // through all of them.
            Self::ClickHouse => "SETTINGS short_circuit_function_evaluation = 'disable'\n",
            _ => "",
        }
    }

    /// Returns whether a backslash in a text stands for itself only if it is doubled.
    const fn has_escapes(self) -> bool {
        match self {
            Self::DuckDb | Self::Postgres | Self::Sqlite => false,
            Self::ClickHouse | Self::Spark | Self::BigQuery | Self::Snowflake => true,
        }
    }

    /// Writes the name of a column or table.
    pub fn identifier(self, name: &str) -> String {
        match self {
            Self::DuckDb | Self::Postgres | Self::Sqlite | Self::Snowflake => {
                format!("\"{}\"", name.replace('"', "\"\""))
            }
            Self::Spark => format!("`{}`", name.replace('`', "``")),
            Self::ClickHouse | Self::BigQuery => {
                format!("`{}`", name.replace('\\', "\\\\").replace('`', "\\`"))
            }
        }
    }

    /// Writes a table, given by its name with those of its schema and database before it, with points between them. What has a
    /// parenthesis is a call or a query, and stays as it is.
    pub fn table(self, table: &str) -> String {
        if table.contains('(') {
            return table.to_string();
        }
        let parts = table.split('.').map(|part| self.identifier(part));
        parts.reduce(|all, part| all + "." + &part).unwrap_or_default()
    }

    /// Writes a text.
    pub fn text(self, text: &str) -> String {
        if self.has_escapes() {
            format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"))
        } else {
            format!("'{}'", text.replace('\'', "''"))
        }
    }

    /// Writes a number so that every engine reads exactly this double, whatever type it gives to a literal: a decimal of at most
    /// 15 digits, or a whole number times or by powers of two.
    pub fn number(self, value: f64) -> String {
        let double = self.double();
        let cast = |text: &str| format!("CAST({text} AS {double})");
        if value.is_nan() {
            return cast("NULL");
        }
        let text = format!("{value}");
        let digits = text.bytes().filter(u8::is_ascii_digit).count();
        if value.abs() < EXACT && (libm::trunc(value) == value || digits <= 15) {
            return cast(&text);
        }
        let (mut whole, mut power) = libm::frexp(value);
        (whole, power) = (libm::ldexp(whole, 53), power - 53);
        let operator = if power > 0 { " * " } else { " / " };
        let mut left = power.unsigned_abs();
        let mut written = format!("({}", cast(&format!("{whole}")));
        while left > 0 {
            let step = left.min(62);
            written = written + operator + &cast(&(1u64 << step).to_string());
            left -= step;
        }
        written + ")"
    }

    /// Writes the test whether a double is not a number; none for an engine that has no such value.
    pub(super) fn is_nan(self, x: &str) -> Option<String> {
        match self {
            Self::DuckDb | Self::Spark => Some(format!("isnan({x})")),
            Self::ClickHouse => Some(format!("isNaN({x})")),
            Self::BigQuery => Some(format!("IS_NAN({x})")),
            Self::Postgres | Self::Snowflake => Some(format!("{x} = CAST('NaN' AS {})", self.double())),
            Self::Sqlite => None,
        }
    }

    /// Writes the test whether a double is infinite.
    pub(super) fn is_infinite(self, x: &str) -> String {
        match self {
            Self::Sqlite => format!("ABS({x}) = 9e999"),
            Self::Snowflake | Self::ClickHouse => format!("ABS({x}) = CAST('inf' AS {})", self.double()),
            _ => format!("ABS({x}) = CAST('Infinity' AS {})", self.double()),
        }
    }

    /// Writes the test whether a value is a whole number of a type that holds more of them than doubles do.
    pub(super) fn is_wide(self, x: &str) -> String {
        match self {
            Self::DuckDb => format!("typeof({x}) IN ('BIGINT', 'UBIGINT', 'HUGEINT', 'UHUGEINT')"),
            Self::Postgres => format!("CAST(pg_typeof({x}) AS TEXT) IN ('bigint', 'numeric')"),
            Self::Sqlite => format!("typeof({x}) = 'integer'"),
            Self::ClickHouse => format!("toTypeName({x}) LIKE '%Int%'"),
            Self::Spark => format!("typeof({x}) = 'bigint'"),
            // A double of this size is written with an exponent or a point.
            Self::BigQuery => format!("REGEXP_CONTAINS(CAST({x} AS STRING), '^-?[0-9]+$')"),
            Self::Snowflake => format!("SYSTEM$TYPEOF({x}) LIKE 'NUMBER%'"),
        }
    }

    /// Writes the largest whole number that is not above a double.
    pub(super) fn floor(self, x: &str) -> String {
        let double = self.double();
        let whole = match self {
            Self::Sqlite => {
                let cut = format!("CAST(CAST({x} AS INTEGER) AS REAL)");
                format!("CASE WHEN {cut} > {x} THEN {cut} - 1 ELSE {cut} END")
            }
            _ => format!("CAST(FLOOR({x}) AS {double})"),
        };
        // Larger ones are whole, and too large for some types of whole numbers.
        format!("CASE WHEN ABS({x}) < 4503599627370496 THEN {whole} ELSE {x} END")
    }

    /// Writes a whole number, which is a double, as one.
    pub(super) fn whole(self, x: &str) -> String {
        match self {
            // A cast is tried for every row here, even for those whose branch of a condition is another one.
            Self::ClickHouse => format!("accurateCastOrNull({x}, 'Int64')"),
            _ => format!("CAST({x} AS {})", self.integer()),
        }
    }

    /// Writes the smallest of numbers that are all there.
    pub(super) fn least(self, all: &[String]) -> String {
        match (self, all) {
            (_, [only]) => only.clone(),
            (Self::Sqlite, _) => format!("MIN({})", all.join(", ")),
            _ => format!("LEAST({})", all.join(", ")),
        }
    }

    /// Writes the sum of a column of whole numbers of 64 bits, however many rows there are.
    pub(super) fn sum(self, x: &str) -> String {
        match self {
            // These count on by themselves, or refuse.
            Self::DuckDb | Self::Postgres | Self::Snowflake | Self::Sqlite => format!("SUM({x})"),
            Self::ClickHouse => format!("SUM(CAST({x} AS Nullable(Int128)))"),
            Self::Spark => format!("SUM(CAST({x} AS DECIMAL(28, 0)))"),
            Self::BigQuery => format!("SUM(CAST({x} AS NUMERIC))"),
        }
    }
}
