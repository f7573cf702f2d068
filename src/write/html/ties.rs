//! Brackets that join tied rows, in lanes beside each other.

use std::collections::BTreeMap;

use maud::{Markup, html};

use super::table::Drawn;
use crate::document::{Cell, Row, Table};

/// The most lanes; ties that need more have their letters.
const LANES: usize = 4;

/// The brackets of a column of letters: for each lane the first and the last row of each bracket.
pub(super) struct Ties {
    lanes: Vec<Vec<[usize; 2]>>,
}

impl Ties {
    /// Places the brackets of the letters in a column; of a part of a table, or with too many lanes, it places no bracket.
    pub(super) fn of(table: &Table, at: usize) -> Self {
        let mut found: BTreeMap<char, [usize; 2]> = BTreeMap::new();
        let mut is_plain = !table.is_part;
        for (nth, row) in table.rows.iter().enumerate() {
            let Some(Cell::Text(letters)) = row.cells.get(at) else { continue };
            // `c-h` and `aa` are more than brackets could show.
            is_plain &= letters.chars().is_sorted_by(|one, next| one < next);
            for letter in letters.chars() {
                is_plain &= letter.is_ascii_lowercase() && letter != 'z';
                found.entry(letter).or_insert([nth, nth])[1] = nth;
            }
        }
        let mut spans: Vec<[usize; 2]> = found.into_values().filter(|[from, to]| from < to).collect();
        spans.sort_unstable();
        let mut lanes: Vec<Vec<[usize; 2]>> = Vec::new();
        for span in spans {
            let free = lanes.iter_mut().find(|lane| lane.last().is_none_or(|[_, to]| *to < span[0]));
            match free {
                Some(lane) => lane.push(span),
                None => lanes.push(vec![span]),
            }
        }
        let is_drawn = is_plain && lanes.len() <= LANES;
        Self { lanes: if is_drawn { lanes } else { Vec::new() } }
    }

    /// Draws what a row has of the brackets, with its letters for those who hear them.
    pub(super) fn draw(&self, nth: usize, row: &Row, it: &Drawn<'_>) -> Markup {
        let letters = row.cells.get(it.at).filter(|it| !matches!(it, Cell::Absent));
        let letters = letters.map_or_else(String::new, Cell::shown);
        if self.lanes.is_empty() {
            return html! { td data-label=(it.column.label) { (letters) } };
        }
        let part = |(lane, spans): (usize, &Vec<[usize; 2]>)| {
            let [from, to] = *spans.iter().find(|[from, to]| (*from..=*to).contains(&nth))?;
            let end = if from == nth {
                " from"
            } else if to == nth {
                " to"
            } else {
                ""
            };
            Some(format!("k{lane}{end}"))
        };
        let parts: Vec<String> = self.lanes.iter().enumerate().filter_map(part).collect();
        html! {
            td class=(format!("tie lanes{}", self.lanes.len())) {
                @for class in parts { i class=(class) aria-hidden="true" {} }
                span.aloud { (letters) }
            }
        }
    }
}
