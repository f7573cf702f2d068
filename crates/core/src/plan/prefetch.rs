//! Memory that is prefetched.

use super::run::{FactColumns, Input};
use super::vector::fetch;
use super::{Code, Column, Instruction, mean};

/// Numbers in a line of the cache.
const LINE: usize = 8;

/// Asks the memory for what is needed soon while a block is computed: the rows where its results go, and the facts of the next
/// block. A few lines at a time, as more at once would make the processor wait for the memory just the same.
pub(super) struct Prefetch<'a> {
    columns: core::slice::Iter<'a, Column<'a>>,
    results: core::slice::Iter<'a, &'a [f64]>,
    /// The rest of the current column.
    column: &'a [f64],
    from: usize,
    rows: usize,
    rows_per_step: usize,
}

impl<'a> Prefetch<'a> {
    #[inline(always)]
    pub(super) fn new(code: &Code, input: &Input<'a>) -> Self {
        let (columns, from, rows) = match &input.facts {
            FactColumns::Table { columns, start, rows } => (*columns, start + rows, *rows),
            FactColumns::Row(_) => (&[][..], 0, 0),
        };
        let in_memory = columns.iter().filter(|column| matches!(column, Column::Values(_))).count();
        let all_rows = (in_memory + input.results.len()) * rows;
        let steps: usize = match all_rows {
            0 => 1,
            _ => code.instructions.iter().map(|instruction| parts(instruction, rows)).sum(),
        };
        Self {
            columns: columns.iter(),
            results: input.results.iter(),
            column: &[],
            from,
            rows,
            rows_per_step: all_rows.div_ceil(steps.max(1)).next_multiple_of(LINE),
        }
    }

    #[inline(always)]
    pub(super) fn step(&mut self) {
        let mut wanted = self.rows_per_step;
        while wanted > 0 {
            if self.column.is_empty() {
                self.column = match (self.results.next(), self.columns.as_slice()) {
                    (Some(result), _) => result,
                    (None, [column, columns @ ..]) => {
                        self.columns = columns.iter();
                        match column {
                            Column::Values(values) => {
                                let end = values.len().min(self.from + self.rows);
                                values.get(self.from..end).unwrap_or_default()
                            }
                            Column::Constant(_) => &[],
                        }
                    }
                    (None, []) => return,
                };
            }
            let (now, later) = self.column.split_at(wanted.min(self.column.len()));
            let (lines, rest) = now.as_chunks::<LINE>();
            lines.iter().for_each(|line| fetch(line));
            fetch(rest);
            wanted -= now.len();
            self.column = later;
        }
    }
}

/// Returns the number of parts in which an instruction is carried out.
#[inline(always)]
fn parts(instruction: &Instruction, rows: usize) -> usize {
    if matches!(instruction, Instruction::LoadMembers { .. }) { rows.div_ceil(mean::PART) } else { 1 }
}
