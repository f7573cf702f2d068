//! A picture of an answer for sharing, 1200 by 630: the finding, the first rows with their intervals, the scorecard. As SVG, and
//! as PNG from outlines of letters that are part of the program, so that it is the same on every machine.
//!
//! `glyphs.txt` has the outlines of Source Sans 3 at two weights, which its licence allows under another name
//! (`../html/sans-license.txt`): weight and code, advance, then a path of relative steps, in thousandths of the size.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use maud::html;
use tiny_skia::{Color, FillRule, Paint, Path, PathBuilder, Pixmap, Rect, Transform};

use super::html::scale::Scale;
use super::html::{by_unit, moment};
use crate::document::{Cell, Document, Kind, Part, Table};
use crate::estimate::percent;
use crate::text::clean;

/// The width and the height in pixels that sites expect of the picture of a link.
pub const SIZE: (u32, u32) = (1200, 630);
/// The most rows.
const ROWS: usize = 5;
const LEFT: f32 = 64.0;
const RIGHT: f32 = 1136.0;
/// Both ends of the axis of intervals.
const AXIS: (f32, f32) = (430.0, 1000.0);
const INK: u32 = 0x0014_171b;
const SOFT: u32 = 0x0054_5b64;
const LINE: u32 = 0x00e2_e4e0;
const DATA: u32 = 0x0014_559b;
const REST: u32 = 0x006d_7782;
const GOLD: u32 = 0x00a9_8422;

/// The advance and the outline of each letter, by weight.
type Glyphs = BTreeMap<(bool, char), (f32, &'static str)>;

static GLYPHS: LazyLock<Glyphs> = LazyLock::new(|| {
    let read = |line: &'static str| {
        let (name, rest) = line.split_once(' ')?;
        let (advance, outline) = rest.split_once(' ').unwrap_or((rest, ""));
        let code = char::from_u32(u32::from_str_radix(name.get(1..)?, 16).ok()?)?;
        Some(((name.starts_with('b'), code), (advance.parse().ok()?, outline)))
    };
    include_str!("glyphs.txt").lines().filter_map(read).collect()
});

/// A picture: what is drawn, from back to front.
#[derive(Debug, Clone, Default)]
pub struct Picture {
    title: String,
    shapes: Vec<Shape>,
}

#[derive(Debug, Clone)]
enum Shape {
    /// A rectangle with its left upper corner, its width and its height.
    Box([f32; 4], u32),
    /// A dot with its centre and its radius.
    Dot([f32; 3], u32),
    /// A text from its left end on its base line.
    Text([f32; 2], Pen, String),
}

/// The form of a text.
#[derive(Debug, Clone, Copy)]
struct Pen {
    size: f32,
    is_bold: bool,
    color: u32,
}

impl Pen {
    const fn new(size: f32, is_bold: bool, color: u32) -> Self {
        Self { size, is_bold, color }
    }

    fn glyph(self, c: char) -> Option<&'static (f32, &'static str)> {
        GLYPHS.get(&(self.is_bold, c)).or_else(|| GLYPHS.get(&(false, c)))
    }

    fn width(self, text: &str) -> f32 {
        // A letter that has no outline is a box.
        text.chars().map(|c| self.glyph(c).map_or(600.0, |it| it.0)).sum::<f32>() * self.size / 1000.0
    }

    /// Returns a text that is cut where it is too wide.
    fn fit(self, text: &str, width: f32) -> String {
        if self.width(text) <= width {
            return text.to_owned();
        }
        let mut kept = text.to_owned();
        while !kept.is_empty() && self.width(&kept) + self.width("…") > width {
            kept.pop();
        }
        format!("{}…", kept.trim_end())
    }

    /// Returns lines of words; of more than `most`, the last one is cut.
    fn wrap(self, text: &str, width: f32, most: usize) -> Vec<String> {
        let mut lines: Vec<String> = Vec::new();
        for word in text.split_whitespace() {
            let is_full = lines.len() >= most;
            match lines.last_mut() {
                Some(line) if is_full || self.width(&format!("{line} {word}")) <= width => {
                    line.push(' ');
                    line.push_str(word);
                }
                _ => lines.push(word.to_owned()),
            }
        }
        lines.iter().map(|line| self.fit(line, width)).collect()
    }
}

impl Picture {
    /// Draws the headline of a document and the first rows of its first table. `when` is the day that it is about.
    pub fn of(document: &Document, when: Option<&str>) -> Self {
        let heading = readable(super::html::heading(document));
        let mut picture = Self { title: heading.clone(), shapes: Vec::new() };
        picture.shapes.push(Shape::Box([0.0, 0.0, 1200.0, 630.0], 0x00ff_ffff));
        picture.shapes.push(Shape::Box([0.0, 0.0, 1200.0, 10.0], GOLD));
        picture.write([LEFT, 78.0], Pen::new(30.0, true, INK), "karat");
        let soft = Pen::new(24.0, false, SOFT);
        let words = |text: &str| -> Vec<String> {
            text.split(' ').map(|it| moment(it).unwrap_or_else(|| it.to_owned())).collect()
        };
        // An official score says itself of what time it is.
        let when = when.filter(|_| document.title.split(' ').all(|it| moment(it).is_none()));
        // Without a finding the title is the heading.
        let card = || document.about.iter().find_map(|(label, _)| label.strip_prefix("scorecard "));
        let is_told = !document.headline.text.is_empty();
        let about = if is_told { Some(document.title.as_str()) } else { card() };
        let about = about.map(|text| readable(&words(text).join(" ")));
        let about: Vec<String> = about.into_iter().chain(when.map(str::to_owned)).collect();
        let about = about.join(" · ");
        picture.end(RIGHT, 78.0, soft, &soft.fit(&about, 900.0));
        let sizes = [(56.0, 64.0, 1), (48.0, 56.0, 1), (56.0, 64.0, 2), (44.0, 52.0, 3)];
        let fits = |(size, _, most): &(f32, f32, usize)| {
            Pen::new(*size, true, INK).wrap(&heading, RIGHT - LEFT, usize::MAX).len() <= *most
        };
        let (size, step, most) = sizes.into_iter().find(fits).unwrap_or((44.0, 52.0, 3));
        let pen = Pen::new(size, true, INK);
        let mut y = 160.0;
        for line in pen.wrap(&heading, RIGHT - LEFT, most) {
            picture.write([LEFT, y], pen, &line);
            y += step;
        }
        let table = document.parts.iter().find_map(|part| match part {
            // Estimates of one unit have one axis.
            Part::Table(table) if !table.rows.is_empty() => by_unit(table).into_iter().next(),
            _ => None,
        });
        if let Some(table) = table {
            picture.rows(&table, y.max(270.0));
        }
        picture
    }

    /// Draws the first rows of a table: names, the estimates that have ends on one axis, and their numbers.
    fn rows(&mut self, table: &Table, top: f32) {
        let name = table.columns.iter().position(|column| column.kind == Kind::Name).unwrap_or(0);
        let rows = table.rows.get(..ROWS.min(table.rows.len())).unwrap_or_default();
        let spans = |at: usize| {
            rows.iter().filter_map(move |row| match row.cells.get(at) {
                Some(Cell::Interval(span)) if span.point.is_finite() => Some(span),
                _ => None,
            })
        };
        let drawn = (0..table.columns.len()).max_by_key(|&at| {
            let ends = spans(at).filter(|it| it.ends.is_some()).count();
            (ends, spans(at).count(), std::cmp::Reverse(at))
        });
        let Some(at) = drawn.filter(|&at| spans(at).next().is_some()) else { return };
        let soft = Pen::new(20.0, false, SOFT);
        let values = spans(at).flat_map(|it| {
            let (low, high) = it.ends.unwrap_or((it.point, it.point));
            [low, it.point, high]
        });
        let mut zero = None;
        if let Some(Kind::Interval { sides, level }) = table.columns.get(at).map(|column| column.kind) {
            zero = sides.map(|_| 0.0);
            if spans(at).any(|it| it.ends.is_some()) {
                self.write([AXIS.0, top], soft, &format!("{} intervals", percent(level)));
            }
        }
        let scale = Scale::covering(None, values.chain(zero));
        let place = |value: f64| AXIS.0 + (AXIS.1 - AXIS.0) * scale.place(value) as f32;
        let step = (600.0 - top) / ROWS as f32;
        if let Some(zero) = zero {
            self.shapes
                .push(Shape::Box([place(zero) - 1.0, top + 12.0, 2.0, step * rows.len() as f32], LINE));
        }
        for (number, row) in rows.iter().enumerate() {
            let y = top + step * (number as f32 + 0.55);
            self.shapes.push(Shape::Box([LEFT, y + step / 2.0, RIGHT - LEFT, 1.0], LINE));
            let (names, numbers) = (Pen::new(30.0, true, INK), Pen::new(32.0, true, INK));
            let own = row.cells.get(name).map(Cell::shown).unwrap_or_default();
            self.write([LEFT, y + 10.0], names, &names.fit(&readable(&own), AXIS.0 - LEFT - 30.0));
            let cell = row.cells.get(at).unwrap_or(&Cell::Absent);
            self.end(RIGHT, y + 10.0, numbers, &cell.shown());
            let Cell::Interval(span) = cell else { continue };
            let color = if row.is_behind { REST } else { DATA };
            if let Some((low, high)) = span.ends {
                let (low, high) = (place(low), place(high));
                self.shapes.push(Shape::Box([low, y - 2.0, high - low, 4.0], color));
                for end in [low, high] {
                    self.shapes.push(Shape::Box([end - 2.0, y - 10.0, 4.0, 20.0], color));
                }
            }
            if span.point.is_finite() {
                self.shapes.push(Shape::Dot([place(span.point), y, 11.0], color));
            }
        }
    }

    fn write(&mut self, at: [f32; 2], pen: Pen, text: &str) {
        self.shapes.push(Shape::Text(at, pen, text.to_owned()));
    }

    fn end(&mut self, right: f32, y: f32, pen: Pen, text: &str) {
        self.write([right - pen.width(text), y], pen, text);
    }

    /// Returns the picture as SVG. Letters without an outline come from the machine that shows it.
    pub fn svg(&self) -> String {
        let color = |color: u32| format!("#{color:06x}");
        let view = format!("0 0 {} {}", SIZE.0, SIZE.1);
        let markup = html! {
            svg xmlns="http://www.w3.org/2000/svg" width=(SIZE.0) height=(SIZE.1) viewBox=(view) role="img" aria-label=(self.title)
                font-family="Karat Sans,Source Sans 3,Helvetica,Arial,sans-serif" {
                title { (self.title) }
                @for shape in &self.shapes {
                    @match shape {
                        Shape::Box([x, y, width, height], fill) => rect x=(x) y=(y) width=(width) height=(height) fill=(color(*fill)) {},
                        Shape::Dot([x, y, radius], fill) => circle cx=(x) cy=(y) r=(radius) fill=(color(*fill)) {},
                        Shape::Text([x, y], pen, text) => {
                            @let known = text.chars().all(|c| pen.glyph(c).is_some()) && !text.is_empty();
                            text x=(x) y=(y) font-size=(pen.size) font-weight=(if pen.is_bold { 650 } else { 400 }) fill=(color(pen.color))
                                textLength=[known.then(|| pen.width(text))] lengthAdjust=[known.then_some("spacingAndGlyphs")] { (text) }
                        }
                    }
                }
            }
        };
        format!("{}\n", markup.into_string())
    }

    /// Returns the picture as PNG; none if there is no memory for it. A letter without an outline is a box.
    pub fn png(&self) -> Option<Vec<u8>> {
        let mut map = Pixmap::new(SIZE.0, SIZE.1)?;
        let mut fill = |path: Option<Path>, color: u32, transform: Transform| {
            let [_, red, green, blue] = color.to_be_bytes();
            let mut paint = Paint::default();
            paint.set_color(Color::from_rgba8(red, green, blue, 255));
            if let Some(path) = path {
                map.fill_path(&path, &paint, FillRule::Winding, transform, None);
            }
        };
        for shape in &self.shapes {
            match shape {
                Shape::Box([x, y, width, height], color) => {
                    let rect = Rect::from_xywh(*x, *y, *width, *height).map(PathBuilder::from_rect);
                    fill(rect, *color, Transform::identity());
                }
                Shape::Dot([x, y, radius], color) => {
                    fill(PathBuilder::from_circle(*x, *y, *radius), *color, Transform::identity());
                }
                Shape::Text([x, y], pen, text) => {
                    let (mut x, unit) = (*x, pen.size / 1000.0);
                    for c in text.chars() {
                        let (advance, outline) = pen.glyph(c).copied().unwrap_or((600.0, MISSING));
                        fill(path(outline), pen.color, Transform::from_row(unit, 0.0, 0.0, -unit, x, *y));
                        x += advance * unit;
                    }
                }
            }
        }
        map.encode_png().ok()
    }
}

/// The outline of a letter that has none: the frame of a box.
const MISSING: &str = "m60 0l0 660l480 0l0 -660zm-430 50l380 0l0 560l-380 0z";

/// Reads an outline.
fn path(outline: &str) -> Option<Path> {
    let mut path = PathBuilder::new();
    let (mut x, mut y) = (0.0, 0.0);
    let mut rest = outline;
    while let Some(kind) = rest.chars().next() {
        let end = rest.get(1..)?.find(|c: char| c.is_ascii_alphabetic()).map_or(rest.len(), |at| at + 1);
        let mut numbers = rest.get(1..end)?.split(' ').filter_map(|it| it.parse::<f32>().ok());
        let mut next = || Some((x + numbers.next()?, y + numbers.next()?));
        match kind {
            'z' => path.close(),
            'q' => {
                let ((x1, y1), to) = (next()?, next()?);
                path.quad_to(x1, y1, to.0, to.1);
                (x, y) = to;
            }
            _ => {
                let to = next()?;
                if kind == 'm' {
                    path.move_to(to.0, to.1)
                } else {
                    path.line_to(to.0, to.1)
                }
                (x, y) = to;
            }
        }
        rest = rest.get(end..)?;
    }
    path.finish()
}

/// Returns a text without marks and characters that neither XML nor a picture can have.
fn readable(text: &str) -> String {
    clean(text).chars().filter(|c| !matches!(c, '`' | '\u{fffe}' | '\u{ffff}')).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::{Column, Row};
    use crate::headline::Headline;

    fn board(name: &str) -> Document {
        let level = Kind::Interval { sides: None, level: 0.95 };
        let columns = vec![Column::name("subject"), Column::new("mean", level)];
        let row = |at: usize| {
            let (point, writing) = (0.9 - at as f64 / 10.0, crate::estimate::Writing::points(1000));
            let cells = vec![
                Cell::text(format!("{name}{at}")),
                Cell::interval(Some(point), Some((point - 0.05, point + 0.04)), writing, false),
            ];
            Row { is_behind: at > 1, ..cells.into() }
        };
        let table = Table::new("", columns, (0..7).map(row).collect());
        let headline =
            Headline { text: format!("{name}0 leads, but ibis is too close to call"), ..Headline::default() };
        let title = String::from("task-run@1.0.0 by mean of runs");
        Document { title, headline, parts: vec![Part::Table(table)], ..Document::default() }
    }

    #[test]
    fn a_png_has_the_size_that_sites_expect_and_the_same_bytes_again() {
        let picture = Picture::of(&board("heron"), Some("8 June 2026"));
        let png = picture.png().unwrap();
        assert_eq!(png[..8], *b"\x89PNG\r\n\x1a\n");
        assert_eq!(png[16..24], [[0, 0, 4, 176], [0, 0, 2, 118]].concat());
        assert_eq!(png, Picture::of(&board("heron"), Some("8 June 2026")).png().unwrap());
        assert!(png != Picture::of(&board("heron"), Some("9 June 2026")).png().unwrap());
        assert!(png.len() < 100_000, "{}", png.len());
    }

    #[test]
    fn a_picture_has_the_finding_five_rows_and_the_card_in_its_frame() {
        let picture = Picture::of(&board("heron"), Some("8 June 2026"));
        let svg = picture.svg();
        for text in
            ["heron0 leads, but ibis", "heron4", "task-run@1.0.0", "8 June 2026", ">karat<", "95% intervals"]
        {
            assert!(svg.contains(text), "{text}: {svg}");
        }
        assert!(!svg.contains("heron5") && svg.matches("<circle").count() == 5);
        let of_hostile = |name: &str| Picture::of(&board(name), None);
        let long = "W".repeat(400);
        for name in ["<script>", "\u{202e}x\0", "\u{5d0}\u{5d1}", "漢字", &long, "`a`", "\u{ffff}", ""] {
            let picture = of_hostile(name);
            assert!(!picture.svg().contains("<script") && picture.png().is_some(), "{name}");
            for shape in &picture.shapes {
                let (from, to) = match shape {
                    Shape::Box([x, _, width, _], _) => (*x, x + width),
                    Shape::Dot([x, _, radius], _) => (x - radius, x + radius),
                    Shape::Text([x, _], pen, text) => (*x, x + pen.width(text)),
                };
                assert!(from >= 0.0 && to <= 1200.5, "{name} {shape:?}");
            }
        }
    }

    #[test]
    fn every_letter_of_ascii_has_an_outline() {
        for c in ' '..='~' {
            let (advance, outline) = Pen::new(1.0, true, 0).glyph(c).unwrap();
            assert!(*advance > 0.0 && (c == ' ' || path(outline).is_some()), "{c}");
        }
        assert!(path(MISSING).is_some() && GLYPHS.len() > 250);
    }
}
