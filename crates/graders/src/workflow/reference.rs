//! Data references: `${step.output.path}` in the parameters of a step means a part of the output of another step
//! (C-SWON documentation, section 3.2).

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::Value;

use super::python;
use karat_evidence::json::locate::push_member;
use karat_evidence::json::problem::{Problem, Problems, quoted};

/// A reference to the output of a step.
///
/// It is written `${`, the id of the step in letters, digits and underscores, `.output.`, a path of ASCII letters,
/// digits, underscores and full stops, `}`. A step whose id has other characters cannot be referred to.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Reference {
    /// The id of the step.
    pub step: String,
    /// The names of members, one inside the other, with full stops between them.
    pub path: String,
}

impl Reference {
    /// Returns the reference as a plan writes it.
    pub fn text(&self) -> String {
        format!("${{{}.output.{}}}", self.step, self.path)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Piece<'a> {
    Text(&'a str),
    /// Looks like a reference but is not, and is left unchanged.
    Lookalike(&'a str),
    Reference {
        step: &'a str,
        path: &'a str,
    },
}

/// Cuts a text into pieces, in time linear in its length.
pub(super) fn pieces(mut text: &str) -> impl Iterator<Item = Piece<'_>> {
    std::iter::from_fn(move || {
        if text.is_empty() {
            return None;
        }
        let (piece, rest) = first_piece(text);
        text = rest;
        Some(piece)
    })
}

fn first_piece(text: &str) -> (Piece<'_>, &str) {
    const OPENING: &str = "${";
    let Some(inside) = text.strip_prefix(OPENING) else {
        let (plain, rest) = text.split_at(text.find(OPENING).unwrap_or(text.len()));
        return (Piece::Text(plain), rest);
    };
    // Neither `$` nor a bracket is part of a name, so what is passed over here is not looked at again.
    let split = |text, is_part: fn(char) -> bool| {
        let end = str::find(text, |c| !is_part(c)).unwrap_or(text.len());
        text.split_at(end)
    };
    let (step, after_step) = split(inside, |c| c.is_alphanumeric() || c == '_');
    if let Some(path) = after_step.strip_prefix(".output.").filter(|_| !step.is_empty()) {
        let (path, after_path) = split(path, |c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.'));
        if let Some(rest) = after_path.strip_prefix('}').filter(|_| !path.is_empty()) {
            return (Piece::Reference { step, path }, rest);
        }
    }
    let (inner, after) = split(inside, |c| !matches!(c, '$' | '{' | '}'));
    let (whole, rest) = text.split_at(text.len() - after.strip_prefix('}').unwrap_or(after).len());
    if after.starts_with('}') && inner.contains(".output.") {
        (Piece::Lookalike(whole), rest)
    } else {
        (Piece::Text(whole), rest)
    }
}

/// Result of a step before the step that refers to it begins.
#[derive(Debug, Clone, PartialEq)]
pub struct StepResult {
    /// True if the step ended in success.
    pub is_success: bool,
    /// Its output: `{"text": …, "artifacts": {"code": …, "metadata": {…}}}` as a rule.
    pub output: Value,
}

/// The most bytes that replace the references of one step: a short text may refer to a long one very often.
pub const RESOLVED_BYTES_MAX: usize = 16 << 20;

/// Puts what earlier steps gave in place of every reference in the texts of `params`, at any depth; the keys of objects
/// and what is not text stay unchanged. What was put in is not searched for references again.
///
/// A value that is not text is written as the published validator writes it, which is Python's way: `True`, `None`,
/// `{'a': 1}`. Numbers are written as in the rest of a request, which is canonical JSON.
///
/// # Errors
/// If there are references to a step that is not among the `results` or did not end in success, or to a member that its
/// output does not have: every one. With one of them the step fails before its first attempt, which is a hard failure.
/// Also if a reference would make what is put in longer than [`RESOLVED_BYTES_MAX`].
pub fn resolve(mut params: Value, results: &BTreeMap<String, StepResult>) -> Result<Value, Problems> {
    let mut problems = Problems::default();
    let mut bytes_left = RESOLVED_BYTES_MAX;
    // A list of what is left to do in place of recursion, so that no depth of brackets is too much. A place is its step
    // from the place above, and the index of that place.
    let mut places: Vec<(usize, Segment)> = Vec::new();
    let mut open: Vec<(&mut Value, usize)> = vec![(&mut params, ROOT)];
    while let Some((value, place)) = open.pop() {
        let mut enter = |segment| {
            places.push((place, segment));
            places.len() - 1
        };
        match value {
            Value::Array(elements) => {
                let inside = elements.iter_mut().enumerate();
                let inside = inside.map(|(at, value)| (value, enter(Segment::Element(at))));
                open.extend(inside.collect::<Vec<_>>().into_iter().rev());
            }
            Value::Object(members) => {
                let inside =
                    members.iter_mut().map(|(key, value)| (value, enter(Segment::Member(key.clone()))));
                open.extend(inside.collect::<Vec<_>>().into_iter().rev());
            }
            Value::String(text) if text.contains("${") => {
                *text = substitute(text, results, &mut bytes_left, &mut |reference, (expected, hint)| {
                    problems
                        .add(|| Problem::at(path(&places, place), quoted(&reference.text()), expected, hint));
                });
            }
            _ => {}
        }
    }
    if problems.is_empty() { Ok(params) } else { Err(problems) }
}

enum Segment {
    Element(usize),
    Member(String),
}

const ROOT: usize = usize::MAX;

fn path(places: &[(usize, Segment)], mut place: usize) -> String {
    let mut segments = Vec::new();
    while let Some((above, segment)) = places.get(place) {
        segments.push(segment);
        place = *above;
    }
    let mut path = "$".to_owned();
    for segment in segments.iter().rev() {
        match segment {
            Segment::Element(at) => path.push_str(&format!("[{at}]")),
            Segment::Member(key) => push_member(&mut path, key),
        }
    }
    path
}

fn substitute(
    text: &str,
    results: &BTreeMap<String, StepResult>,
    bytes_left: &mut usize,
    refuse: &mut impl FnMut(Reference, (&'static str, String)),
) -> String {
    let mut out = String::with_capacity(text.len());
    // Once the limit is passed nothing is written any more, so that the time has a limit too.
    let mut put_in = |out: &mut String, value: &Value| {
        let written = match value {
            Value::String(text) => Cow::Borrowed(text.as_str()),
            _ if *bytes_left == 0 => Cow::Borrowed(""),
            value => Cow::Owned(python::text(value)),
        };
        if *bytes_left == 0 || written.len() > *bytes_left {
            *bytes_left = 0;
            return Err(("at most 16 MiB of text in place of the references", String::new()));
        }
        *bytes_left -= written.len();
        out.push_str(&written);
        Ok(())
    };
    for piece in pieces(text) {
        match piece {
            Piece::Text(text) | Piece::Lookalike(text) => out.push_str(text),
            Piece::Reference { step, path } => {
                let put = look_up(step, path, results).and_then(|value| put_in(&mut out, value));
                if let Err(words) = put {
                    refuse(Reference { step: step.to_owned(), path: path.to_owned() }, words);
                }
            }
        }
    }
    out
}

fn look_up<'a>(
    step: &str,
    path: &str,
    results: &'a BTreeMap<String, StepResult>,
) -> Result<&'a Value, (&'static str, String)> {
    const EARLIER: &str = "a step that has already given its output";
    let result =
        results.get(step).ok_or_else(|| (EARLIER, format!("there is no result of {}", quoted(step))))?;
    if !result.is_success {
        return Err((EARLIER, format!("{} did not end in success", quoted(step))));
    }
    path.split('.').try_fold(&result.output, |value, name| {
        let absent =
            || ("a member of its output", format!("the output of {} has no {}", quoted(step), quoted(path)));
        value.as_object().and_then(|members| members.get(name)).ok_or_else(absent)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn results() -> BTreeMap<String, StepResult> {
        let result = |is_success, output| StepResult { is_success, output };
        let output = json!({
            "text": "${s2.output.text}", "count": 3, "share": 0.5, "flag": true, "nothing": null,
            "artifacts": {"code": "f()", "list": [1, "x"]}
        });
        [
            ("s1".to_owned(), result(true, output)),
            ("größe_1".to_owned(), result(true, json!({"text": "ü"}))),
            ("failed".to_owned(), result(false, json!({"text": "half"}))),
            ("empty".to_owned(), result(true, Value::Null)),
        ]
        .into()
    }

    fn resolved(text: &str) -> Value {
        resolve(json!(text), &results()).unwrap()
    }

    fn refused(params: Value) -> String {
        resolve(params, &results()).unwrap_err().to_string()
    }

    #[test]
    fn references_are_replaced_and_their_texts_not_scanned_again() {
        assert_eq!(resolved("a ${s1.output.text} b"), "a ${s2.output.text} b");
        assert_eq!(resolved("${s1.output.artifacts.code}${größe_1.output.text}"), "f()ü");
        assert_eq!(
            resolved("${s1.output.count} ${s1.output.share} ${s1.output.flag} ${s1.output.nothing}"),
            "3 0.5 True None"
        );
        assert_eq!(resolved("${s1.output.artifacts}"), "{'code': 'f()', 'list': [1, 'x']}");
    }

    #[test]
    fn what_is_no_reference_stays() {
        for text in [
            "", "$", "${", "${}", "${s1}", "${s1.output}", "${s1.output.}", "${s1.text}",
            "${a-b.output.text}", "${ s1.output.text}", "${s1.output.text", "$${", "${s1.output.größe}",
            "$ {s1.output.text}",
        ] {
            assert_eq!(resolved(text), text);
        }
        assert_eq!(resolved("${${s1.output.count}}"), "${3}");
        assert_eq!(resolved("${s1.output.${s1.output.count}"), "${s1.output.3");
        let untouched = json!({"${s1.output.text}": [1, true, null, 0.5]});
        assert_eq!(resolve(untouched.clone(), &results()).unwrap(), untouched);
    }

    #[test]
    fn all_that_cannot_be_resolved_is_told_with_its_place() {
        let params = json!({"a": ["${s1.output.text}", {"odd key": "${ghost.output.x} ${failed.output.text}"}],
            "b": "${s1.output.text.deeper}", "c": "${s1.output.artifacts.list.0}", "d": "${empty.output.text}",
            "e": "${s1.output..text}"});
        insta::assert_snapshot!(refused(params), @r#"
        $.a[1]["odd key"]: found `${ghost.output.x}`, expected a step that has already given its output; there is no result of `ghost`
        $.a[1]["odd key"]: found `${failed.output.text}`, expected a step that has already given its output; `failed` did not end in success
        $.b: found `${s1.output.text.deeper}`, expected a member of its output; the output of `s1` has no `text.deeper`
        $.c: found `${s1.output.artifacts.list.0}`, expected a member of its output; the output of `s1` has no `artifacts.list.0`
        $.d: found `${empty.output.text}`, expected a member of its output; the output of `empty` has no `text`
        $.e: found `${s1.output..text}`, expected a member of its output; the output of `s1` has no `.text`
        "#);
    }

    #[test]
    fn lookalikes_are_told_apart_from_plain_text() {
        let found: Vec<_> = pieces("x ${a-b.output.text} ${a} ${ s.output.t}${s.output.t}").collect();
        assert_eq!(
            found,
            [
                Piece::Text("x "),
                Piece::Lookalike("${a-b.output.text}"),
                Piece::Text(" "),
                Piece::Text("${a}"),
                Piece::Text(" "),
                Piece::Lookalike("${ s.output.t}"),
                Piece::Reference { step: "s", path: "t" },
            ]
        );
    }

    #[test]
    fn a_short_text_cannot_ask_for_a_long_one_without_end() {
        let output = json!({"text": "x".repeat(1 << 20), "list": vec![0; 1 << 18]});
        let results = [("big".to_owned(), StepResult { is_success: true, output })].into();
        let fifteen = resolve(json!("${big.output.text}".repeat(15)), &results).unwrap();
        assert_eq!(fifteen.as_str().map(str::len), Some(15 << 20));
        for reference in ["${big.output.text}", "${big.output.list}"] {
            let refused = resolve(json!(reference.repeat(100_000)), &results).unwrap_err();
            assert!(refused.len() > 99_000 && refused.to_string().contains("at most 16 MiB"), "{refused}");
        }
    }

    proptest! {
        #[test]
        fn pieces_put_together_are_the_text(text in "[$a{}.ü_ -]{0,12}(\\$\\{[ab]\\.output\\.[ab.]{0,3}\\})?[$a{}.ü]{0,9}") {
            let whole: String = pieces(&text)
                .map(|piece| match piece {
                    Piece::Text(text) | Piece::Lookalike(text) => text.to_owned(),
                    Piece::Reference { step, path } => {
                        Reference { step: step.to_owned(), path: path.to_owned() }.text()
                    }
                })
                .collect();
            prop_assert_eq!(whole, text);
        }
    }
}
