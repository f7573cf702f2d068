//! A page in one file: the document with its tables drawn, for a browser without network.

use crate::document::{Cell, Column, Document, Entry, Kind, Level, Part, Readers, Row, Span, Table, Total};
use crate::estimate::{percent, whole_percent};
use crate::page::model::{self, Axis, Figure, Page, Section, Waterfall};
use crate::text::Tone;

/// Returns the page.
#[must_use]
pub fn document(document: &Document) -> String {
    crate::page::html(&page(document))
}

/// Returns the data of the page: notes that matter first, then a section for each heading.
#[must_use]
pub fn page(document: &Document) -> Page {
    let mut page = Page {
        title: document.title.clone(),
        subtitle: document.lines.join("; "),
        about: document.about.clone(),
        ..Page::default()
    };
    let graver = document.findings.iter().filter(|it| it.level < Level::Notice);
    page.notes.extend(graver.map(|it| it.text.clone()));
    let mut name = document.name.to_owned();
    if let Some(first) = name.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    let mut section = Section { heading: name, text: Vec::new(), figures: Vec::new() };
    for part in &document.parts {
        match part {
            Part::Heading(heading) => {
                let next = Section { heading: heading.clone(), text: Vec::new(), figures: Vec::new() };
                push(&mut page.sections, std::mem::replace(&mut section, next));
            }
            Part::Note(Tone::Plain | Tone::Good, text) => section.text.push(text.clone()),
            Part::Note(_, text) => page.notes.push(text.clone()),
            // What got worse or better is read on its own.
            Part::Table(table) if table.tone != Tone::Plain => {
                let next = Section { heading: table.caption.clone(), text: Vec::new(), figures: Vec::new() };
                push(&mut page.sections, std::mem::replace(&mut section, next));
                let table = Table { caption: String::from("Tasks"), ..table.clone() };
                section.figures.extend(tables(&table).into_iter().map(Figure::Table));
            }
            Part::Table(table) => section.figures.extend(figures(table)),
            Part::List(entries) => section.figures.push(Figure::Table(list(entries))),
            Part::Figure(figure) => section.figures.push((**figure).clone()),
        }
    }
    push(&mut page.sections, section);
    let told = document.findings.iter().filter(|it| it.level == Level::Notice && it.place.is_none());
    let text: Vec<String> = told.map(|it| it.text.clone()).collect();
    push(&mut page.sections, Section { heading: String::from("Notes"), text, figures: Vec::new() });
    page
}

fn push(sections: &mut Vec<Section>, section: Section) {
    if !section.text.is_empty() || !section.figures.is_empty() {
        sections.push(section);
    }
}

/// Returns a table with the notes on its rows as a page draws them.
#[must_use]
pub fn figures(table: &Table) -> Vec<Figure> {
    if table.columns.iter().any(|it| matches!(it.kind, Kind::Total(_))) {
        return vec![Figure::Waterfall(waterfall(table))];
    }
    tables(table).into_iter().chain(notes(table)).map(Figure::Table).collect()
}

/// Returns a sum as a page draws it, by the keys of its columns.
fn waterfall(table: &Table) -> Waterfall {
    let at = |key: &str| table.columns.iter().position(|it| it.key == key);
    let part = |row: &Row| {
        let cell = |key: &str| at(key).and_then(|at| row.cells.get(at)).filter(|it| **it != Cell::Absent);
        let said = |key: &str| cell(key).map(Cell::shown);
        let own = |it: &Cell| if let Cell::Total(total) = it { Some(total.clone()) } else { None };
        let Total { before, after, is_step, shown } = row.cells.iter().find_map(own)?;
        let notes =
            row.cells.iter().flat_map(|it| if let Cell::Notes(all) = it { all.as_slice() } else { &[] });
        let notes: Vec<&(Tone, String)> = notes.collect();
        let name = table.columns.iter().position(|it| it.kind == Kind::Name);
        Some(model::Part {
            name: name.and_then(|at| row.cells.get(at)).map_or_else(String::new, Cell::shown),
            is_step,
            reading: said("value"),
            share: said("share"),
            amount: said("points").unwrap_or_default(),
            total: shown,
            before,
            after,
            is_care: notes.iter().any(|(tone, _)| *tone != Tone::Plain),
            note: (!notes.is_empty())
                .then(|| notes.iter().map(|it| it.1.as_str()).collect::<Vec<_>>().join("; ")),
        })
    };
    let best =
        table.columns.iter().find_map(|it| if let Kind::Total(best) = it.kind { Some(best) } else { None });
    Waterfall {
        caption: table.caption.clone(),
        range: (0.0, best.map_or(1.0, f64::from)),
        parts: table.rows.iter().filter_map(part).collect(),
    }
}

/// Returns a list as a table of two columns, with what is in an entry further in.
fn list(entries: &[Entry]) -> model::Table {
    let row = |it: &Entry| {
        let name = format!("{}{}", "\u{2003}".repeat(it.depth), it.name);
        Row::from(vec![Cell::Text(name), Cell::text(&it.text)])
    };
    let columns = vec![Column::name("name"), Column::text("value")];
    table(&Table::new("", columns, entries.iter().map(row).collect()))
}

/// Returns the notes on the rows of a table, if there are any.
fn notes(table: &Table) -> Option<model::Table> {
    let row = |(_, name, text): (Tone, String, &str)| Row::from(vec![Cell::Text(name), Cell::text(text)]);
    let rows: Vec<Row> = table.notes().map(row).collect();
    let name = table.columns.iter().find(|it| it.kind == Kind::Name).map_or("", |it| it.key.as_str());
    let columns = vec![Column::name(name), Column::text("note")];
    (!rows.is_empty()).then(|| self::table(&Table::new("Notes", columns, rows)))
}

/// Returns the data of one table as a page draws it.
#[must_use]
pub fn table(table: &Table) -> model::Table {
    of_rows(table, &table.rows)
}

/// Returns a table as a page draws it: where estimates have several units, a table for each, as each has its own axis.
fn tables(table: &Table) -> Vec<model::Table> {
    let mut units: Vec<Option<f64>> = Vec::new();
    for unit in table.rows.iter().map(unit) {
        if !units.contains(&unit) {
            units.push(unit);
        }
    }
    let of = |wanted: &Option<f64>| -> Vec<Row> {
        table.rows.iter().filter(|row| unit(row) == *wanted).cloned().collect()
    };
    units.iter().map(|unit| of_rows(table, &of(unit))).collect()
}

/// Returns the highest value on the scale of the first estimate of a row.
fn unit(row: &Row) -> Option<f64> {
    row.cells.iter().find_map(|cell| match cell {
        Cell::Interval(span) => Some(span.writing.value(1.0)),
        _ => None,
    })
}

fn of_rows(table: &Table, rows: &[Row]) -> model::Table {
    let shown: Vec<(usize, &Column)> =
        table.columns.iter().enumerate().filter(|(_, it)| it.readers > Readers::Programs).collect();
    let columns = shown.iter().map(|&(at, column)| model::Column {
        label: column.label.clone(),
        kind: match column.kind {
            Kind::Name => model::Kind::Name,
            Kind::Text | Kind::Place | Kind::Sentence | Kind::Notes => model::Kind::Text,
            Kind::Number | Kind::Total(_) => model::Kind::Number,
            Kind::Leading => model::Kind::Leading,
            Kind::Share => model::Kind::Share,
            Kind::Bar(best) => {
                let range = Some((0.0, f64::from(best)));
                model::Kind::Interval(Axis { range, ..axis(at, false, 0.95, rows) })
            }
            Kind::Interval { sides, level } => model::Kind::Interval(axis(at, sides.is_some(), level, rows)),
        },
    });
    let cells =
        |row: &Row| shown.iter().map(|&(at, _)| row.cells.get(at).map_or_else(absent, cell)).collect();
    model::Table {
        caption: table.caption.clone(),
        columns: columns.collect(),
        rows: rows.iter().map(|row| model::Row { cells: cells(row), group: row.group }).collect(),
    }
}

fn absent() -> model::Cell {
    model::Cell::Absent(String::from("none"))
}

fn cell(cell: &Cell) -> model::Cell {
    match cell {
        Cell::Absent => absent(),
        Cell::Share(share) => model::Cell::Share(*share, whole_percent(*share)),
        Cell::Interval(span) => {
            model::Cell::Interval(model::Estimate { point: span.point, interval: span.ends })
        }
        Cell::Total(total) => model::Cell::Interval(model::Estimate { point: total.after, interval: None }),
        cell => model::Cell::Text(cell.shown()),
    }
}

/// Returns the axis of a column of estimates; of differences it is as long on both sides of 0.
fn axis(at: usize, is_of_differences: bool, level: f64, rows: &[Row]) -> Axis {
    let spans = rows.iter().filter_map(|row| match row.cells.get(at) {
        Some(Cell::Interval(span)) => Some(span),
        _ => None,
    });
    let spans: Vec<&Span> = spans.collect();
    let ends = spans.iter().flat_map(|it| it.ends.map_or([it.point, it.point], |(low, high)| [low, high]));
    let reach = ends.map(f64::abs).fold(0.0, f64::max);
    let written = || {
        rows.iter().filter_map(|row| match row.cells.get(at) {
            Some(Cell::Total(total)) => Some(total.shown.split_once('.').map_or(0, |(_, rest)| rest.len())),
            _ => None,
        })
    };
    let decimals = || written().max().unwrap_or(1);
    Axis {
        interval_label: format!("{} interval", percent(level)),
        range: is_of_differences.then_some((-reach, reach)),
        reference: is_of_differences.then_some(0.0),
        decimals: spans.first().map_or_else(decimals, |it| it.writing.decimals()),
    }
}
