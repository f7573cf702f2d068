//! Properties of every page: nothing from outside runs or is loaded, and the page is accessible.

use std::collections::{BTreeMap, BTreeSet};

use scraper::{ElementRef, Html, Selector};

use super::document as html;
use crate::document::figure::{Dot, Figure, History, Point, Scatter, Series};
use crate::document::sample;
use crate::document::{Cell, Column, Document, Kind, Part, Row, Span, Table};
use crate::estimate::Writing;
use sample::page;

/// Names that try to be markup, to leave an attribute, to reverse the text, to be longer than any column.
fn hostile_names() -> Vec<String> {
    let long = "x".repeat(10_000);
    let names = [
        "<script>alert(1)</script>", "\" onload=\"alert(1)",
        "</style></title></svg><img src=https://example.org/x>", "a\u{202e}b\u{2066}c\u{0}d\u{1b}[31m",
        "&lt;b&gt;", "\u{5d0}\u{5d1} 12 (\u{5d3})", "\u{628}\u{648}\u{62a}-7", "{{7*7}}", "", &long,
    ];
    names.map(str::to_owned).to_vec()
}

/// Returns the sample with `name` in place of every text that comes from outside.
fn renamed(mut page: Document, names: &[String]) -> Document {
    let mut next = names.iter().cycle();
    let mut put = |text: &mut String| {
        if let Some(name) = next.next() {
            text.clone_from(name);
        }
    };
    put(&mut page.title);
    put(&mut page.headline.text);
    page.headline.lead.iter_mut().for_each(&mut put);
    page.lines.iter_mut().for_each(&mut put);
    page.about.iter_mut().for_each(|(label, value)| {
        put(label);
        put(value);
    });
    for part in &mut page.parts {
        match part {
            Part::Heading(text) | Part::Note(_, text) => put(text),
            Part::Figure(figure) => match &mut **figure {
                Figure::Table(it) | Figure::Closed(it) => {
                    put(&mut it.caption);
                    it.columns.iter_mut().for_each(|column| put(&mut column.label));
                    for row in &mut it.rows {
                        row.notes.iter_mut().for_each(|(_, note)| put(note));
                        for cell in &mut row.cells {
                            if let Cell::Text(text) | Cell::Link(text, _) | Cell::Without(text) = cell {
                                put(text);
                            }
                        }
                    }
                }
                Figure::Scatter(it) => {
                    [&mut it.caption, &mut it.across, &mut it.up].into_iter().for_each(&mut put);
                    it.dots.iter_mut().for_each(|dot| put(&mut dot.name));
                }
                Figure::Facts(all) => all.iter_mut().for_each(|it| {
                    [&mut it.label, &mut it.value, &mut it.note].into_iter().for_each(&mut put);
                }),
                Figure::Ladder(rungs) => rungs.iter_mut().for_each(|rung| {
                    put(&mut rung.name);
                    rung.asks.iter_mut().for_each(|(_, text)| put(text));
                }),
                Figure::History(it) => {
                    [&mut it.caption, &mut it.value_label, &mut it.line_label].into_iter().for_each(&mut put);
                    for Series { name, points } in &mut it.series {
                        put(name);
                        points.iter_mut().filter_map(|point| point.flag.as_mut()).for_each(&mut put);
                    }
                }
            },
            Part::Table(_) | Part::List(_) => {}
        }
    }
    page
}

fn parse(text: &str) -> Html {
    let parsed = Html::parse_document(text);
    assert_eq!(parsed.errors, Vec::<std::borrow::Cow<'_, str>>::new());
    parsed
}

fn all<'d>(document: &'d Html, selector: &str) -> Vec<ElementRef<'d>> {
    document.select(&Selector::parse(selector).expect("a selector")).collect()
}

fn text_of(element: ElementRef<'_>) -> String {
    element.text().collect()
}

/// Checks the properties of every page.
fn check(text: &str) {
    let document = parse(text);
    // Only the two parts of the program can run or style, and nothing is loaded.
    assert_eq!((all(&document, "script").len(), all(&document, "style").len()), (1, 1));
    let allowed = BTreeSet::from([
        "href", "http-equiv", "content", "name", "charset", "lang", "id", "class", "role", "scope",
        "tabindex", "d", "x", "y", "x1", "x2", "y1", "y2", "cx", "cy", "r", "width", "height", "viewBox",
        "preserveAspectRatio", "vector-effect", "dx", "opacity", "datetime", "data-label", "data-from",
        "aria-hidden", "aria-label", "aria-labelledby", "type", "popover", "popovertarget",
    ]);
    let mut ids = BTreeSet::new();
    let mut referred = Vec::new();
    let mut level = 0;
    for element in all(&document, "*") {
        let tag = element.value().name();
        assert!(!["img", "link", "iframe", "object", "embed", "base", "form"].contains(&tag), "<{tag}>");
        for (name, value) in element.value().attrs() {
            assert!(allowed.contains(name), "<{tag} {name}>");
            if name == "href" {
                referred.push(value.strip_prefix('#').expect("a link within the page").to_owned());
            }
            if name == "aria-labelledby" {
                referred.extend(value.split(' ').map(str::to_owned));
            }
        }
        if let Some(id) = element.value().id() {
            assert!(ids.insert(id.to_owned()), "`{id}` twice");
        }
        if let Some(own) = tag.strip_prefix('h').and_then(|level| level.parse::<u32>().ok()) {
            assert!(own <= level + 1, "<{tag}> after a heading of level {level}");
            level = own;
        }
    }
    let unknown: Vec<&String> = referred.iter().filter(|id| !ids.contains(*id)).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
    for table in all(&document, "table") {
        assert_eq!(table.child_elements().next().map(|it| it.value().name()), Some("caption"));
        let widths: BTreeSet<usize> = table
            .select(&Selector::parse("tr").expect("a selector"))
            .map(|row| row.child_elements().count())
            .collect();
        assert_eq!(widths.len(), 1, "rows of different length");
    }
    assert!(all(&document, "th").iter().all(|head| head.attr("scope").is_some()));
    for svg in all(&document, "svg") {
        let names: Vec<&str> = svg.child_elements().take(2).map(|it| it.value().name()).collect();
        let is_picture = svg.attr("role") == Some("group") && names == ["title", "desc"];
        // A mark beside the number that it draws adds no information.
        assert!(is_picture || svg.attr("aria-hidden") == Some("true"));
    }
    assert_eq!(all(&document, "html").first().and_then(|it| it.attr("lang")), Some("en"));
    assert_eq!(all(&document, "meta[name=viewport]").len(), 1);
    // The marks of isolation are the page's.
    let is_mark = |c: char| matches!(c, '\n' | '\u{2068}' | '\u{2069}');
    assert!(!text.contains(|c: char| !is_mark(c) && karat_core::diagnostic::steers_terminal(c)));
    assert_eq!(loose(&document), Vec::<String>::new());
}

/// Returns the texts with Hebrew or Arabic letters that are not isolated from what is beside them.
fn loose(document: &Html) -> Vec<String> {
    let texts = document.tree.nodes().filter_map(|node| {
        let mut above = node.ancestors().filter_map(|it| it.value().as_element());
        Some((above.any(|it| it.name() == "bdi"), node.value().as_text()?))
    });
    let is_loose = |is_in_bdi: bool, text: &str| {
        let parts = text.split('\u{2068}').enumerate().map(|(at, part)| match at {
            0 => part,
            _ => part.split_once('\u{2069}').map_or("", |(_, rest)| rest),
        });
        !is_in_bdi && parts.collect::<String>().contains(|it| matches!(it, '\u{590}'..='\u{8ff}'))
    };
    texts.filter(|(is_in_bdi, text)| is_loose(*is_in_bdi, text)).map(|(_, text)| text.to_string()).collect()
}

#[test]
fn a_page_can_be_read_by_everybody_and_fetches_nothing() {
    let text = html(&page(24, 16));
    check(&text);
    assert!(!text.contains("//"), "an address");
    // For scripts/screenshots.
    if let Ok(path) = std::env::var("KARAT_SAMPLE_PAGE") {
        std::fs::write(path, &text).expect("the sample is written");
    }
}

#[test]
fn text_from_outside_stays_text() {
    let names = hostile_names();
    let text = html(&renamed(page(24, 16), &names));
    check(&text);
    let document = parse(&text);
    let shown: BTreeSet<String> = all(&document, "th.name").into_iter().map(text_of).collect();
    for name in &names {
        let kept = crate::text::clean(name);
        assert!(shown.contains(kept.as_ref()), "{kept}");
    }
}

#[test]
fn the_policy_allows_our_style_and_script_alone() {
    let text = html(&page(3, 4));
    let document = parse(&text);
    let policy = all(&document, "meta[http-equiv]")[0].attr("content").expect("a policy");
    assert!(policy.starts_with("default-src 'none'; style-src 'sha256-"), "{policy}");
    assert!(!policy.contains("unsafe") && !policy.contains('*') && !policy.contains("http"));
    for kind in ["style", "script"] {
        let hash = super::source(&text_of(all(&document, kind)[0]));
        assert!(policy.contains(&format!("{kind}-src '{hash}'")), "{kind}");
    }
    // Markup that is not escaped is written in one file, for these two.
    for source in [include_str!("../table.rs"), include_str!("../history.rs"), include_str!("../spark.rs")] {
        assert!(!source.contains("PreEscaped"));
    }
    assert_eq!(include_str!("../mod.rs").matches("(PreEscaped(").count(), 2);
}

#[test]
fn what_is_missing_is_shown_as_missing() {
    let document = parse(&html(&page(6, 16)));
    let matrix = all(&document, "tbody.heat")[0];
    let cells: Vec<ElementRef<'_>> =
        matrix.select(&Selector::parse("td.absent").expect("a selector")).collect();
    assert!(cells.len() > 4);
    assert!(cells.iter().all(|cell| ["missing", "n/a"].contains(&text_of(*cell).as_str())));
    // No number, and therefore no mark.
    let drawn = all(&document, "td.absent + td.drawn");
    assert!(!drawn.is_empty() && drawn.iter().all(|cell| cell.child_elements().count() == 0));
}

#[test]
fn values_that_are_no_numbers_and_rows_that_are_too_short_do_no_harm() {
    let writing = Writing::shares();
    let estimate =
        |point, low, high| Cell::Interval(Span { point, ends: Some((low, high)), writing, is_signed: false });
    let name = || Cell::text("it");
    let rows = [
        vec![name(), estimate(f64::NAN, 0.0, 1.0), Cell::Share(f64::NAN)],
        vec![name(), estimate(1e300, f64::NEG_INFINITY, f64::INFINITY), Cell::Share(7.0)],
        vec![name(), Cell::Share(0.5), estimate(0.5, 0.4, 0.6)],
        vec![],
    ];
    let columns = vec![
        Column::name("it"),
        Column::new("it", Kind::Interval { sides: Some(("", "")), level: 0.95 }),
        Column::new("it", Kind::Share),
    ];
    let table = Table::new("", columns, rows.map(Row::from).into());
    let point =
        |value, line| Point { time: None, value, line, flag: Some(String::from("held")), ..Point::default() };
    let history = History {
        caption: String::new(),
        value_label: String::from("score"),
        line_label: String::from("mean"),
        range: None,
        decimals: 1,
        levels: Vec::new(),
        series: vec![
            Series { name: String::from("none"), points: vec![] },
            Series {
                name: String::from("odd"),
                points: vec![point(Some(f64::NAN), None), point(None, Some(f64::INFINITY))],
            },
        ],
    };
    let shaded = vec![Column::name("it"), Column::new("it", Kind::Shade)];
    let shades = [estimate(f64::NAN, 0.0, 1.0), Cell::Share(f64::NAN), Cell::Share(-3.0), Cell::Share(7.0)];
    let shades = shades.into_iter().map(|cell| vec![name(), cell].into()).collect();
    let dot = |name: &str, across, up| Dot {
        name: name.to_owned(),
        across,
        up,
        across_shown: String::from("1"),
        up_shown: String::from("2"),
        is_on_front: true,
        is_partial: false,
    };
    let figures = [
        Figure::Table(table),
        Figure::History(history),
        Figure::Table(Table::new("", shaded.clone(), shades)),
        Figure::Closed(Table::new("", shaded, Vec::new())),
        Figure::Scatter(Scatter {
            caption: String::new(),
            across: String::from("it"),
            up: String::from("it"),
            dots: vec![dot("odd", f64::NAN, f64::INFINITY), dot(&"long ".repeat(99), 1e300, -1e300)],
        }),
    ];
    let mut odd = page(0, 0);
    odd.parts.push(Part::Heading(String::from("odd")));
    odd.parts.extend(figures.map(Part::from));
    let text = html(&odd);
    check(&text);
    for word in ["NaN", "inf"] {
        assert!(!text.contains(&format!("\"{word}")) && !text.contains(&format!(">{word}")), "{word}");
    }
}

#[test]
fn a_page_stays_small() {
    assert!(html(&page(100, 16)).len() < 1_000_000);
    let large = html(&page(1000, 16));
    assert!(large.len() < 6_000_000, "{}", large.len());
}

#[test]
fn light_and_dark_have_every_colour_and_enough_contrast() {
    let style = include_str!("../style.css");
    let (light, rest) = style.split_once("@media (prefers-color-scheme: dark)").expect("a dark theme");
    let (dark, _) = rest.split_once("@media").expect("an end of the themes");
    let (light, dark) = (variables(light), variables(dark));
    assert!(dark.len() > 12 && light.keys().eq(dark.keys()));
    for theme in [&light, &dark] {
        let paper = theme["--paper"];
        let darkest: [f64; 3] = std::array::from_fn(|at| (paper[at] + theme["--heat"][at]) / 2.0);
        for (text, ground) in [
            ("--ink", paper),
            ("--soft", paper),
            ("--data", paper),
            ("--held", paper),
            ("--gold", paper),
            ("--ok", paper),
            ("--rest", paper),
            ("--gold", theme["--gold-wash"]),
            ("--ink", theme["--wash"]),
            ("--soft", theme["--wash"]),
            ("--ink", theme["--held-wash"]),
            ("--ink", darkest),
        ] {
            let ratio = contrast(theme[text], ground);
            assert!(ratio >= 4.5, "{text} on {ground:?}: {ratio}");
        }
        for mark in ["--data", "--held", "--rest", "--edge", "--gold-line"] {
            assert!(contrast(theme[mark], paper) >= 3.0);
        }
    }
}

/// Returns the colours of a theme by name.
fn variables(css: &str) -> BTreeMap<&str, [f64; 3]> {
    let pairs = css.lines().filter_map(|line| line.trim().strip_suffix(';')?.split_once(": "));
    let is_colour = |name: &str, value: &str| {
        name.starts_with("--")
            && (value.starts_with('#') || value.bytes().all(|it| it == b' ' || it.is_ascii_digit()))
    };
    pairs.filter(|(name, value)| is_colour(name, value)).map(|(name, value)| (name, colour(value))).collect()
}

fn colour(text: &str) -> [f64; 3] {
    let channels: Vec<f64> = match text.strip_prefix('#') {
        Some(hex) => (0..3)
            .map(|at| f64::from(u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).expect("a colour")))
            .collect(),
        None => text.split(' ').map(|part| part.parse().expect("a colour")).collect(),
    };
    channels.try_into().expect("three channels")
}

/// Returns `x` to the power of 2.4, by bisection: `y^5 = x^12`. No test depends on the last digits.
fn power(x: f64) -> f64 {
    let twelfth = (0..12).fold(1.0, |product, _| product * x);
    let fifth = |y: f64| y * y * y * y * y;
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..50 {
        let middle = (low + high) / 2.0;
        if fifth(middle) < twelfth { low = middle } else { high = middle }
    }
    low
}

/// Returns the contrast ratio of WCAG 2.1.
fn contrast(one: [f64; 3], other: [f64; 3]) -> f64 {
    let channel = |value: f64| {
        let value = value / 255.0;
        if value <= 0.04045 { value / 12.92 } else { power((value + 0.055) / 1.055) }
    };
    let luminance = |[red, green, blue]: [f64; 3]| {
        0.2126 * channel(red) + 0.7152 * channel(green) + 0.0722 * channel(blue)
    };
    let (one, other) = (luminance(one) + 0.05, luminance(other) + 0.05);
    one.max(other) / one.min(other)
}
