//! Changes of a source text in JavaScript: the words of the language, and one small fault at each place that can have one.

use super::mutants::Change;

/// A word, with its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Token<'a> {
    text: &'a str,
    sort: Sort,
    start: usize,
    line: usize,
    /// The number of brackets around it.
    depth: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sort {
    Name,
    Number,
    /// A text, a template or a regular expression, as a whole.
    Text,
    Mark,
}

/// Operators of several characters, the longest first.
const MARKS: [&str; 33] = [
    ">>>=", "...", "===", "!==", "**=", "<<=", ">>=", ">>>", "&&=", "||=", "??=", "=>", "==", "!=", "<=",
    ">=", "&&", "||", "??", "?.", "++", "--", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<", ">>",
    "**",
];

/// Words and what they become. What is on the right is never the same program by the rules of the language.
const FLIPS: [(&str, &str); 32] = [
    ("<", "<="),
    ("<=", "<"),
    (">", ">="),
    (">=", ">"),
    ("===", "!=="),
    ("!==", "==="),
    ("==", "!="),
    ("!=", "=="),
    ("+", "-"),
    ("-", "+"),
    ("*", "+"),
    ("/", "*"),
    ("%", "+"),
    ("+=", "-="),
    ("-=", "+="),
    ("*=", "+="),
    ("/=", "*="),
    ("++", "--"),
    ("--", "++"),
    ("<<", ">>"),
    (">>", "<<"),
    (">>>", "<<"),
    ("&", "|"),
    ("|", "&"),
    ("&&", "||"),
    ("||", "&&"),
    ("??", "&&"),
    ("true", "false"),
    ("false", "true"),
    ("break", ""),
    ("continue", ""),
    ("!", ""),
];

/// Words after which an expression begins, so that a slash begins a regular expression.
const BEFORE_VALUES: [&str; 13] = [
    "return", "typeof", "case", "in", "of", "delete", "void", "throw", "new", "else", "do", "await", "yield",
];

impl<'a> Token<'a> {
    const fn end(&self) -> usize {
        self.start + self.text.len()
    }

    fn is(&self, text: &str) -> bool {
        matches!(self.sort, Sort::Name | Sort::Mark) && self.text == text
    }

    /// Returns whether a value ends with it, so that an operator between two values can follow.
    fn ends_value(&self) -> bool {
        match self.sort {
            Sort::Number | Sort::Text => true,
            Sort::Name => !BEFORE_VALUES.contains(&self.text),
            Sort::Mark => [")", "]", "}", "++", "--"].contains(&self.text),
        }
    }
}

/// Returns the words of a text. Comments are left out; what is no JavaScript gives words all the same.
fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut found: Vec<Token<'_>> = Vec::new();
    let (mut at, mut line, mut depth) = (0, 1, 0_usize);
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let first = rest.chars().next().unwrap_or_default();
        // A block or an object may end before it: a slash there is taken for a division, which no one writes.
        let is_after_value = found.last().is_some_and(Token::ends_value);
        let (length, sort) = if first.is_whitespace() || first == '\u{feff}' {
            (first.len_utf8(), None)
        } else if rest.starts_with("//") || rest.starts_with("#!") {
            (rest.find('\n').unwrap_or(rest.len()), None)
        } else if rest.starts_with("/*") {
            (rest.find("*/").map_or(rest.len(), |end| end + 2), None)
        } else if ['"', '\'', '`'].contains(&first) {
            (quoted_length(rest, first), Some(Sort::Text))
        } else if first == '/' && !is_after_value {
            (regular_length(rest), Some(Sort::Text))
        } else if first.is_ascii_digit() {
            (rest.find(|c| c != '.' && !is_of_name(c)).unwrap_or(rest.len()), Some(Sort::Number))
        } else if is_of_name(first) {
            (rest.find(|c| !is_of_name(c)).unwrap_or(rest.len()), Some(Sort::Name))
        } else {
            let long = MARKS.iter().find(|mark| rest.starts_with(**mark)).map(|mark| mark.len());
            (long.unwrap_or(first.len_utf8()), Some(Sort::Mark))
        };
        let word = rest.get(..length).unwrap_or(rest);
        if [")", "]", "}"].contains(&word) {
            depth = depth.saturating_sub(1);
        }
        if let Some(sort) = sort {
            found.push(Token { text: word, sort, start: at, line, depth });
        }
        if ["(", "[", "{"].contains(&word) {
            depth += 1;
        }
        line += word.matches('\n').count();
        at += word.len();
    }
    found
}

fn is_of_name(c: char) -> bool {
    c == '_' || c == '$' || c == '#' || c.is_alphanumeric()
}

/// Returns the length of the text in quotation marks that begins here. A template ends at its own mark, whatever is in it.
fn quoted_length(rest: &str, mark: char) -> usize {
    let (mut is_escaped, mut inner) = (false, 0_usize);
    let mut before = ' ';
    for (at, c) in rest.char_indices().skip(1) {
        if is_escaped {
            is_escaped = false;
        } else if c == '\\' {
            is_escaped = true;
        } else if mark == '`' && before == '$' && c == '{' {
            inner += 1;
        } else if mark == '`' && c == '}' {
            inner = inner.saturating_sub(1);
        } else if c == mark && inner == 0 {
            return at + c.len_utf8();
        } else if c == '\n' && mark != '`' {
            return at;
        }
        before = c;
    }
    rest.len()
}

fn regular_length(rest: &str) -> usize {
    let (mut is_escaped, mut is_class) = (false, false);
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            '\n' => return 1,
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '[' => is_class = true,
            ']' => is_class = false,
            '/' if !is_class => {
                let flags = rest.get(at + 1..).unwrap_or_default();
                return at + 1 + flags.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(flags.len());
            }
            _ => {}
        }
    }
    1
}

/// Returns every change of a text.
pub fn changes(text: &str) -> Vec<Change> {
    let words = tokens(text);
    let mut changes = Vec::new();
    for at in 0..words.len() {
        of_word(&words, at, &mut changes);
        of_statement(&words, at, text, &mut changes);
    }
    changes
}

fn of_word(words: &[Token<'_>], at: usize, changes: &mut Vec<Change>) {
    let Some(token) = words.get(at) else { return };
    let before = at.checked_sub(1).and_then(|before| words.get(before));
    let mut push = |to: String| {
        changes.push(Change {
            start: token.start,
            end: token.end(),
            line: token.line,
            from: token.text.to_owned(),
            to,
        });
    };
    if token.sort == Sort::Number {
        for step in [1_i64, -1] {
            let number = token.text.parse::<i64>().ok().and_then(|number| number.checked_add(step));
            number.filter(|number| *number >= 0).into_iter().for_each(|number| push(number.to_string()));
        }
        return;
    }
    let is_member = before.is_some_and(|before| before.is(".") || before.is("?."));
    if token.is("min") || token.is("max") {
        let of_math = at.checked_sub(2).and_then(|place| words.get(place)).is_some_and(|of| of.is("Math"));
        if is_member && of_math {
            push(if token.is("min") { "max" } else { "min" }.to_owned());
        }
        return;
    }
    // `export * from`, `function* f`, `yield*` and members named like words have no operators.
    let is_star =
        token.is("*") && !before.is_some_and(|it| it.ends_value() && !it.is("function") && !it.is("export"));
    let is_name = words.get(at + 1).is_some_and(|next| next.is(":")) && token.sort == Sort::Name;
    if !matches!(token.sort, Sort::Name | Sort::Mark) || is_member || is_star || is_name {
        return;
    }
    let is_between = before.is_some_and(Token::ends_value);
    match token.text {
        // A sign: `-1`.
        "-" if !is_between => push(String::new()),
        "+" | "/" | "%" | "&" | "|" | "<" | ">" if !is_between => {}
        other => {
            let flip = FLIPS.iter().find(|(from, _)| *from == other);
            flip.into_iter().for_each(|(_, to)| push((*to).to_owned()));
        }
    }
}

/// Changes what a statement does as a whole, if one begins here.
fn of_statement(words: &[Token<'_>], at: usize, text: &str, changes: &mut Vec<Change>) {
    let Some(first) = words.get(at) else { return };
    let before = at.checked_sub(1).and_then(|before| words.get(before));
    if before.is_some_and(|before| before.is(".") || before.is("?.")) {
        return;
    }
    let mut replace = |from: &Token<'_>, to: &Token<'_>, with: &dyn Fn(&str) -> String| {
        let was = text.get(from.start..to.end()).unwrap_or_default();
        let to =
            Change { start: from.start, end: to.end(), line: from.line, from: was.to_owned(), to: with(was) };
        changes.push(to);
    };
    let rest = words.get(at + 1..).unwrap_or_default();
    if first.is("if") || first.is("while") {
        let Some(open) = rest.first().filter(|open| open.is("(")) else { return };
        let inside: Vec<_> =
            rest.iter().skip(1).take_while(|it| !(it.depth == open.depth && it.is(")"))).collect();
        if let (Some(begin), Some(end)) = (inside.first(), inside.last()) {
            replace(begin, end, &|was| format!("!({was})"));
        }
        return;
    }
    // A statement ends at a semicolon, or where the block around it does.
    let ends = |it: &Token<'_>| it.depth < first.depth || (it.depth == first.depth && it.is(";"));
    let Some(length) = rest.iter().position(ends) else { return };
    let statement = rest.get(..length).unwrap_or_default();
    let is_closed = rest.get(length).is_some_and(|end| end.is(";") || end.is("}"));
    let (Some(last), true) = (statement.last(), is_closed) else { return };
    if first.is("return") {
        // Without semicolons, what is on the next line may be another statement.
        if rest.get(length).is_some_and(|end| end.is(";")) || last.line == first.line {
            replace(first, last, &|_| "return undefined".to_owned());
            replace(first, last, &|was| format!("void ({})", was.trim_start_matches("return").trim_start()));
        }
        return;
    }
    let begins = before.is_none_or(|before| [";", "{", "}"].iter().any(|mark| before.is(mark)));
    let at_depth = |mark: &str| statement.iter().any(|it| it.depth == first.depth && it.is(mark));
    let is_word = first.sort == Sort::Name && !is_keyword(first.text);
    let is_call = last.is(")") && ![":", ",", "=", "=>"].iter().any(|mark| at_depth(mark));
    let updates = statement.iter().any(|it| {
        it.depth == first.depth && it.sort == Sort::Mark && it.text.len() > 1 && it.text.ends_with('=') && {
            !["==", "!=", "===", "!==", "<=", ">="].contains(&it.text)
        }
    });
    let is_ended = rest.get(length).is_some_and(|end| end.is(";"));
    if begins && is_word && is_ended && (is_call || updates) && !at_depth("{") {
        replace(first, last, &|_| String::new());
    }
}

fn is_keyword(word: &str) -> bool {
    const WORDS: [&str; 34] = [
        "async",
        "await",
        "break",
        "case",
        "catch",
        "class",
        "const",
        "continue",
        "debugger",
        "default",
        "delete",
        "do",
        "else",
        "export",
        "extends",
        "finally",
        "for",
        "function",
        "if",
        "import",
        "in",
        "instanceof",
        "let",
        "new",
        "return",
        "static",
        "super",
        "switch",
        "throw",
        "try",
        "typeof",
        "var",
        "while",
        "yield",
    ];
    WORDS.contains(&word)
}

#[cfg(test)]
mod tests {
    use super::super::mutants::mutants;

    const SOURCE: &str = include_str!("../../../../../examples/judge/newest/reference.js");

    fn told(text: &str) -> Vec<String> {
        let all = mutants("a.js", text, usize::MAX);
        all.iter().map(|it| format!("{}: {} -> {}", it.line, it.from, it.to)).collect()
    }

    #[test]
    fn one_place_is_changed_at_a_time() {
        assert_eq!(
            told(
                "function f(a, b) {\n  if (a < b && !a) {\n    log.add(a);\n  }\n  return a - 1; // x < y\n}\n"
            ),
            [
                "2: a < b && !a -> !(a < b && !a)",
                "2: < -> <=",
                "2: && -> ||",
                "2: ! -> ",
                "3: log.add(a) -> ",
                "5: return a - 1 -> return undefined",
                "5: return a - 1 -> void (a - 1)",
                "5: - -> +",
                "5: 1 -> 2",
                "5: 1 -> 0",
            ]
        );
        assert_eq!(told("return;\n"), Vec::<String>::new());
        let quiet = "const x = `${a < b}` + '' // < \n/* a < b */ const y = /[/]<+/g.test(x) || a.break;\n";
        assert_eq!(told(quiet), ["1: + -> -", "2: || -> &&"]);
        assert_eq!(
            told("x = Math.min(a, -b);\nlist.max(a);\nf = (a) => a / 2 / c"),
            [
                "1: min -> max",
                "1: - -> ",
                "2: list.max(a) -> ",
                "3: / -> *",
                "3: 2 -> 3",
                "3: 2 -> 1",
                "3: / -> *",
            ]
        );
        assert_eq!(
            told("function* f() { yield* g() }\nexport * from 'x'\nconst o = { true: a, ...b };").len(),
            0
        );
    }

    #[test]
    fn every_mutant_differs_and_most_are_programs() {
        let all = mutants("a.js", SOURCE, usize::MAX);
        assert!(all.len() > 40, "{}", all.len());
        let mut seen = std::collections::BTreeSet::from([SOURCE.to_owned()]);
        for mutant in &all {
            assert!(seen.insert(mutant.text.clone()), "{mutant:?}");
            let count = |text: &str, mark: char| text.chars().filter(|c| *c == mark).count();
            for pair in [['(', ')'], ['{', '}'], ['[', ']']] {
                let [open, close] = pair.map(|mark| count(&mutant.text, mark));
                assert_eq!(open, close, "{mutant:?}");
            }
        }
    }

    proptest::proptest! {
        /// Any text has mutants that differ from it, always the same.
        #[test]
        fn any_text_has_mutants(text in "[ a-c'\"`$#/*\\\\\n(){}<>=!+;.:0-9\\-énotifreturn]{0,80}") {
            let first = mutants("a.mjs", &text, 20);
            proptest::prop_assert!(first.len() <= 20);
            proptest::prop_assert!(first.iter().all(|mutant| mutant.text != text));
            proptest::prop_assert_eq!(first, mutants("a.mjs", &text, 20));
        }
    }
}
