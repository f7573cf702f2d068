//! Profiles see what is there, stay small, and depend on nothing but the items.

use serde_json::json;

use super::*;

fn profile(items: &[Value], is_row: bool) -> Profile {
    let mut profile = Profile::default();
    for item in items {
        profile.add(item.to_string().as_bytes(), is_row).unwrap();
    }
    profile
}

fn field<'p>(profile: &'p Profile, column: &str) -> &'p Field {
    profile.fields().iter().find(|field| field.path().column() == column).unwrap()
}

#[test]
fn shapes_ranges_and_missing_values_are_found() {
    let found = profile(
        &[
            json!({"who": "a", "cost": 0.5, "ok": true, "meta": {"n": 3, "tag": "x"}, "list": [1]}),
            json!({"who": "b", "cost": null, "ok": false, "meta": {"n": 4}, "big": 9_007_199_254_740_993_i64}),
            json!({"who": "b", "cost": -2, "meta": null, "odd": 1}),
            json!({"odd": "x"}),
        ],
        false,
    );
    let shape = |column| field(&found, column).shape();
    assert_eq!(found.items(), 4);
    assert_eq!((shape("who"), shape("cost"), shape("ok")), (Shape::Text, Shape::Number, Shape::Boolean));
    assert_eq!(
        (shape("meta.n"), shape("meta.tag"), shape("meta")),
        (Shape::Number, Shape::Text, Shape::Mixed)
    );
    assert_eq!((shape("list"), shape("big"), shape("odd")), (Shape::Mixed, Shape::Mixed, Shape::Mixed));
    assert_eq!((field(&found, "cost").range(), field(&found, "cost").present()), (Some((-2.0, 0.5)), 2));
    let verdicts = profile(&[json!({"v": "pass", "w": "yes"}), json!({"v": false, "w": "no"})], false);
    assert_eq!(["v", "w"].map(|it| field(&verdicts, it).shape()), [Shape::Boolean, Shape::Text]);
    assert!(!field(&found, "cost").is_whole() && field(&found, "meta.n").is_whole());
    let columns: Vec<String> = found.reachable().iter().map(|field| field.path().column()).collect();
    assert!(columns.contains(&"meta.n".to_owned()) && !columns.contains(&"meta".to_owned()), "{columns:?}");
}

#[test]
fn a_field_behind_a_number_or_with_the_name_of_another_is_out_of_reach() {
    let found = profile(&[json!({"a": {"b": 1}, "c.d": 1, "c": {"d": 2}}), json!({"a": 7})], false);
    assert_eq!(found.reachable().iter().map(|field| field.path().column()).collect::<Vec<_>>(), ["a"]);
}

#[test]
fn cells_are_read_as_the_reader_reads_them() {
    let found = profile(
        &[
            json!({"n": "1", "f": "yes", "t": "NA", "m": "1,5", "b": "1", "e": "-"}),
            json!({"n": "NaN", "f": "N/A", "t": "x", "m": "2", "b": "no", "e": "NA"}),
        ],
        true,
    );
    let shapes: Vec<Shape> = ["n", "f", "t", "m", "b", "e"].map(|it| field(&found, it).shape()).into();
    use Shape::{Boolean, Empty, Number, Text};
    assert_eq!(shapes, [Number, Boolean, Text, Text, Boolean, Empty]);
    assert_eq!((field(&found, "n").present(), field(&found, "t").present()), (1, 2));
}

#[test]
fn memory_is_bounded_and_quantiles_are_those_of_all() {
    let mut found = Profile::default();
    for at in 0..100_000u32 {
        let item = json!({"x": at, "id": format!("{at}{}", "y".repeat(100)), format!("k{}", at % 3000): 1});
        found.add(item.to_string().as_bytes(), false).unwrap();
    }
    assert_eq!((found.fields().len(), found.left_out()), (FIELDS_MAX, FIELDS_MAX));
    let x = field(&found, "x");
    assert!(x.values.len() <= VALUES_MAX && x.values().1 && field(&found, "id").values.is_empty());
    for share in [0.05, 0.5, 0.95] {
        let error = x.quantile(share).unwrap() - share * 100_000.0;
        assert!(error.abs() < 100.0, "{share}: {error}");
    }
}

#[test]
fn a_field_that_is_wanted_has_room_wherever_it_stands() {
    let mut found = Profile::wanting(["Solved", "$.metrics.zz"]);
    let mut item = Map::new();
    for at in 0..700 {
        item.insert(format!("f{at}"), json!(at));
    }
    item.insert(String::from("solved"), json!(true));
    found.add(json!(item).to_string().as_bytes(), false).unwrap();
    assert_eq!(field(&found, "solved").shape(), Shape::Boolean);
    assert_eq!(found.fields().len(), FIELDS_MAX + 1);
    assert!(found.is_left_out_whole());
    assert_eq!(found.left_out(), 700 - FIELDS_MAX);
}
