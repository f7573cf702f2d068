//! A whole table through the engine.

use karat_core::evaluate::{Column, Columns, Scores};

use crate::columns::{Resolved, Scored, Table, Wanted};
use crate::engine::Engine;
use crate::error::{Code, Error};

impl Engine {
    /// Scores a table: see [`columns`](crate::columns). A row gets what [`Engine::score`] gives an item with its facts; broken rows
    /// are marked, and the others are scored.
    ///
    /// ```
    /// use karat::columns::{Field, Table, Values, Wanted};
    /// use karat::engine::Engine;
    ///
    /// let mut engine = Engine::open("trust@1.0.0")?;
    /// let accuracy = Field { name: "accuracy", values: Values::F64(&[0.9, 1.2, f64::NAN]), valid: None };
    /// let table = Table { rows: 3, fields: &[accuracy], elapsed_seconds: None };
    /// let scored = engine.score_table(&table, Wanted::default())?;
    /// assert_eq!(scored.published(engine.card(), 0), 900.0);
    /// assert_eq!(scored.broken[0].to_string(), "row 1: fact `accuracy` is 1.2, expected at most 1");
    /// assert_eq!(scored.status(2).map(|it| it.name()), Some("unscored"));
    /// # Ok::<(), karat::error::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If the evidence of the scorecard is not a table, or columns of this one do not fit its facts: everything that is wrong.
    pub fn score_table(&mut self, table: &Table<'_>, wanted: Wanted) -> Result<Scored, Error> {
        let (card, rows) = (self.card.card(), table.rows);
        let resolved = Resolved::new(card, table)?;
        let facts = resolved.columns();
        let elapsed_seconds = table.elapsed_seconds.map_or(Column::Constant(f64::NAN), Column::Values);
        let given = Columns { facts: &facts, profiles: &resolved.profiles, elapsed_seconds };
        let (readings, gates) =
            if wanted.has_values { (card.dimensions.len(), card.gates.len()) } else { (0, 0) };
        let mut scored = Scored {
            units: vec![f64::NAN; rows],
            coverage: vec![f64::NAN; rows],
            band: vec![0; rows],
            tier: vec![0; rows],
            broken: Vec::new(),
            readings: vec![vec![f64::NAN; rows]; readings],
            gates: vec![vec![0; rows]; gates],
        };
        let Scored { units, coverage, band, tier, readings, gates, .. } = &mut scored;
        let mut scores = Scores::new(units, coverage, band, tier);
        (scores.readings, scores.gates) = (readings, gates);
        let broken = self.card.scorer()?.score_columns(&mut self.workspace, &given, &mut scores);
        scored.broken = broken.map_err(|error| Error::new(Code::EvidenceRefused, error.to_string()))?;
        resolved.add_wide(card, &mut scored);
        Ok(scored)
    }
}
