//! Mutants: a right answer with one small fault each, which the cases of a challenge should notice.

use super::javascript;
use super::tokens::{Sort, Token, tokens};

/// A source text that was changed at one place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mutant {
    /// The line, from 1.
    pub line: usize,
    /// The text that was there.
    pub from: String,
    /// The text that is there instead.
    pub to: String,
    /// The whole text.
    pub text: String,
}

/// A change: the bytes from `start` to `end` become `to`.
pub struct Change {
    /// The first byte.
    pub start: usize,
    /// The byte after the last.
    pub end: usize,
    /// The line, from 1.
    pub line: usize,
    /// The text that is there.
    pub from: String,
    /// The text that comes there.
    pub to: String,
}

/// Words and what they become. What is on the right is never the same program by the rules of the language.
const FLIPS: [(&str, &str); 28] = [
    ("<", "<="),
    ("<=", "<"),
    (">", ">="),
    (">=", ">"),
    ("==", "!="),
    ("!=", "=="),
    ("+", "-"),
    ("-", "+"),
    ("*", "+"),
    ("/", "*"),
    ("//", "*"),
    ("%", "+"),
    ("+=", "-="),
    ("-=", "+="),
    ("*=", "+="),
    ("//=", "*="),
    ("<<", ">>"),
    (">>", "<<"),
    ("&", "|"),
    ("|", "&"),
    ("and", "or"),
    ("or", "and"),
    ("True", "False"),
    ("False", "True"),
    ("min", "max"),
    ("max", "min"),
    ("break", "pass"),
    ("continue", "pass"),
];

/// Returns at most `most` mutants of a text, in the order of their places; if there are more, they are taken evenly from all of
/// it. The language is that of the path, Python unless it is JavaScript. The same text always gives the same.
pub fn mutants(path: &str, text: &str, most: usize) -> Vec<Mutant> {
    let is_javascript = [".js", ".mjs", ".cjs"].iter().any(|end| path.ends_with(end));
    let mut changes = if is_javascript { javascript::changes(text) } else { of_python(text) };
    changes.sort_by_key(|change| (change.start, change.end));
    let count = changes.len();
    let taken = most.min(count);
    let chosen = (0..taken).filter_map(|place| changes.get(place * count / taken));
    let apply = |change: &Change| {
        let (before, after) = (text.get(..change.start)?, text.get(change.end..)?);
        let (line, from, to) = (change.line, change.from.clone(), change.to.clone());
        Some(Mutant { line, text: format!("{before}{to}{after}"), from, to })
    };
    chosen.filter_map(apply).collect()
}

fn of_python(text: &str) -> Vec<Change> {
    let mut changes = Vec::new();
    let words = tokens(text);
    for statement in words.split(|token| token.sort == Sort::End) {
        of_words(statement, &mut changes);
        of_statement(statement, text, &mut changes);
    }
    changes
}

/// Changes single words.
fn of_words(statement: &[Token<'_>], changes: &mut Vec<Change>) {
    if ["import", "from", "@"].iter().any(|word| statement.first().is_some_and(|first| first.is(word))) {
        return;
    }
    let of = |token: &Token<'_>, to: String| Change {
        start: token.start,
        end: token.end(),
        line: token.line,
        from: token.text.to_owned(),
        to,
    };
    let mut fors = Vec::new();
    for (place, token) in statement.iter().enumerate() {
        let before = place.checked_sub(1).and_then(|before| statement.get(before));
        if token.sort == Sort::Number {
            for step in [1_i64, -1] {
                let number = token.text.parse::<i64>().ok().and_then(|number| number.checked_add(step));
                changes
                    .extend(number.filter(|number| *number >= 0).map(|number| of(token, number.to_string())));
            }
            continue;
        }
        if !matches!(token.sort, Sort::Name | Sort::Mark) || before.is_some_and(|before| before.is(".")) {
            continue;
        }
        // `*` and `/` alone, or before a name in a list of arguments, are no operations.
        let is_between = before.is_some_and(|before| {
            matches!(before.sort, Sort::Number | Sort::Text)
                || before.sort == Sort::Name && !is_keyword(before.text)
                || [")", "]", "}"].contains(&before.text)
        });
        match token.text {
            "for" => fors.push(token.depth),
            "in" if fors.last() == Some(&token.depth) => drop(fors.pop()),
            "in" if before.is_none_or(|before| !before.is("not")) => {
                changes.push(of(token, "not in".to_owned()));
            }
            // The word goes, and the operand of `not in` keeps its `in`.
            "not" => changes.push(of(token, String::new())),
            "is" => {
                let to = if statement.get(place + 1).is_some_and(|next| next.is("not")) {
                    None
                } else {
                    Some("is not")
                };
                changes.extend(to.map(|to| of(token, to.to_owned())));
            }
            "+" | "-" | "*" | "/" | "//" | "%" | "&" | "|" if !is_between => {
                // A sign: `-1`, but not the unpacking `*list`.
                if token.text == "-" {
                    changes.push(of(token, String::new()));
                }
            }
            text => {
                let flip = FLIPS.iter().find(|(from, _)| *from == text);
                changes.extend(flip.map(|(_, to)| of(token, (*to).to_owned())));
            }
        }
    }
}

/// Changes what a statement does as a whole.
fn of_statement(statement: &[Token<'_>], text: &str, changes: &mut Vec<Change>) {
    let Some((first, rest)) = statement.split_first() else { return };
    // `else: x = 1`, `if a: return b`: what follows on the same line is a statement as well.
    if ["if", "elif", "while", "for", "else", "try", "with"].iter().any(|word| first.is(word)) {
        let has_lambda = rest.iter().any(|token| token.is("lambda"));
        let colon = rest.iter().position(|token| token.is(":") && token.depth == first.depth);
        let Some(colon) = colon.filter(|_| !has_lambda) else { return };
        let (condition, after) = (rest.get(..colon), rest.get(colon + 1..));
        if ["if", "elif", "while"].iter().any(|word| first.is(word))
            && let Some([begin, .., end] | [begin @ end]) = condition
        {
            let from = text.get(begin.start..end.end()).unwrap_or_default();
            changes.push(Change {
                start: begin.start,
                end: end.end(),
                line: begin.line,
                from: from.to_owned(),
                to: format!("not ({from})"),
            });
        }
        return of_statement(after.unwrap_or_default(), text, changes);
    }
    let Some(last) = statement.last() else { return };
    let whole = text.get(first.start..last.end()).unwrap_or_default();
    let mut replace = |start: usize, to: &str| {
        let from = text.get(start..last.end()).unwrap_or_default().to_owned();
        changes.push(Change { start, end: last.end(), line: first.line, from, to: to.to_owned() });
    };
    if first.is("return") {
        let is_none = matches!(rest, [] | [_]) && rest.iter().all(|token| token.is("None"));
        if !is_none {
            replace(first.start, "return None");
        }
        // The value is computed, and the function goes on.
        let value = rest.first().map_or("pass", |value| text.get(value.start..last.end()).unwrap_or("pass"));
        replace(first.start, value);
        return;
    }
    let assigns = rest.iter().any(|token| token.is("=") && token.depth == first.depth);
    let updates = rest.iter().any(|token| {
        token.depth == first.depth && token.sort == Sort::Mark && token.text.len() > 1 && {
            token.text.ends_with('=') && !["==", "!=", "<=", ">=", ":="].contains(&token.text)
        }
    });
    let calls = last.is(")") && first.sort == Sort::Name && !is_keyword(first.text) && !assigns;
    if (calls || updates) && whole != "pass" {
        replace(first.start, "pass");
    }
}

/// Returns whether what follows this word begins an expression.
fn is_keyword(word: &str) -> bool {
    const WORDS: [&str; 28] = [
        "and", "as", "assert", "async", "await", "class", "def", "del", "elif", "else", "except", "for",
        "from", "global", "if", "import", "in", "is", "lambda", "nonlocal", "not", "or", "raise", "return",
        "try", "while", "with", "yield",
    ];
    WORDS.contains(&word)
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use proptest::prelude::*;

    use super::*;

    const SOURCE: &str = "\
import heapq
from os import path as p

def walk(graph, start, *rest, key=lambda x: -x, **more):
    \"\"\"a < b and c + 1\"\"\"
    seen = {start: 0}  # 1 < 2
    queue = [(0, start)]
    while queue:
        far, here = heapq.heappop(queue)
        if far > seen[here] or not graph: continue
        for near, cost in graph[here]:
            if near not in seen or far + cost < seen[near]:
                seen[near] = far + cost
                heapq.heappush(queue, (far + cost, near))
            elif near in seen and [x for x in rest if x in seen] is not None:
                cost -= 1
    if not seen: return
    return [seen.get(name, -1) for name in sorted(seen)[::-1]]
";

    fn told(text: &str) -> Vec<String> {
        mutants("a.py", text, usize::MAX)
            .iter()
            .map(|it| format!("{}: {} -> {}", it.line, it.from, it.to))
            .collect()
    }

    #[test]
    fn one_place_is_changed_at_a_time() {
        assert_eq!(
            told("def f(a, b):\n    if a < b and a:\n        log.add(a)\n    return a - 1 # x < y\n"),
            [
                "2: a < b and a -> not (a < b and a)",
                "2: < -> <=",
                "2: and -> or",
                "3: log.add(a) -> pass",
                "4: return a - 1 -> return None",
                "4: return a - 1 -> a - 1",
                "4: - -> +",
                "4: 1 -> 2",
                "4: 1 -> 0",
            ]
        );
        assert_eq!(told("return\n"), ["1: return -> pass"]);
        assert_eq!(told("x = f'{a < b}' # < \nimport os\n@memo\n"), Vec::<String>::new());
        assert_eq!(told("print(*a, -b, 'x' * 2)\n").len(), 5);
    }

    #[test]
    fn every_mutant_is_python_and_differs() {
        let all = mutants("a.py", SOURCE, usize::MAX);
        assert!(all.len() > 30, "{}", all.len());
        let mut seen = std::collections::BTreeSet::from([SOURCE.to_owned()]);
        for mutant in &all {
            assert!(seen.insert(mutant.text.clone()), "{mutant:?}");
        }
        let texts = serde_json::to_string(&all.iter().map(|it| &it.text).collect::<Vec<_>>()).unwrap();
        let check = "import ast, json, sys\nfor text in json.loads(sys.argv[1]): ast.parse(text)";
        let done = Command::new("python3").args(["-c", check, &texts]).output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    }

    #[test]
    fn a_bound_takes_them_evenly() {
        let all = mutants("a.py", SOURCE, usize::MAX);
        let some = mutants("a.py", SOURCE, 10);
        assert_eq!(some.len(), 10);
        assert!(some.iter().all(|one| all.contains(one)));
        assert!(some.last().unwrap().line > all.len() / 4 && some[0] == all[0]);
        assert!(mutants("a.py", "", 10).is_empty() && mutants("a.py", SOURCE, 0).is_empty());
    }

    proptest! {
        /// Any text has mutants that differ from it, always the same.
        #[test]
        fn any_text_has_mutants(text in "[ a-c'\"#\\\\\n()<>=!+*;.:0-9\\-énotifreturn]{0,80}") {
            let first = mutants("a.py", &text, 20);
            prop_assert!(first.len() <= 20);
            prop_assert!(first.iter().all(|mutant| mutant.text != text));
            prop_assert_eq!(first, mutants("a.py", &text, 20));
        }
    }
}
