//! Fields of a submission or a ground truth: a name at the top, or a JSON Pointer (RFC 6901) to what lies deeper.

use std::fmt::Write as _;

use serde_json::{Map, Value};

use karat_evidence::json::locate;

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Field {
    pub name: String,
    pointer: String,
}

impl Field {
    /// Reads a field: `name` is the name of a member at the top, whatever characters it has; `/a/0/b` is a JSON
    /// Pointer. None if it is empty or a pointer whose `~` is before neither 0 nor 1.
    pub fn parse(name: &str) -> Option<Self> {
        let pointer = if name.starts_with('/') {
            let mut escapes = name.split('~').skip(1);
            if !escapes.all(|escape| escape.starts_with(['0', '1'])) {
                return None;
            }
            name.to_owned()
        } else {
            format!("/{}", name.replace('~', "~0").replace('/', "~1"))
        };
        (!name.is_empty()).then(|| Self { name: name.to_owned(), pointer })
    }

    /// Returns the field in a document.
    pub fn of<'a>(&self, document: &'a Value) -> Option<&'a Value> {
        document.pointer(&self.pointer)
    }

    /// Puts a value there, with objects around it that are not there yet. What is not an object on the way stays as it is.
    pub fn put(&self, document: &mut Value, value: Value) {
        let mut here = document;
        for token in self.tokens() {
            let Value::Object(members) = here else { return };
            here = members.entry(token).or_insert_with(|| Value::Object(Map::new()));
        }
        *here = value;
    }

    /// Returns the name of the member at the top in which the field lies.
    pub fn top(&self) -> String {
        self.tokens().next().unwrap_or_default()
    }

    /// Returns the field as a JSON path from `root`.
    pub fn path(&self, root: &str) -> String {
        let mut path = root.to_owned();
        for token in self.tokens() {
            if token.bytes().all(|byte| byte.is_ascii_digit()) && !token.is_empty() {
                // Writing to a string cannot fail.
                let _ = write!(path, "[{token}]");
            } else {
                locate::push_member(&mut path, &token);
            }
        }
        path
    }

    pub fn tokens(&self) -> impl Iterator<Item = String> {
        self.pointer.split('/').skip(1).map(|token| token.replace("~1", "/").replace("~0", "~"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn names_and_pointers() {
        let document = json!({"a.b": 1, "x/y": 2, "t~": 3, "deep": {"list": [{"k": 4}]}});
        for (name, value, path) in [
            ("a.b", Some(1), "$[\"a.b\"]"),
            ("x/y", Some(2), "$[\"x/y\"]"),
            ("t~", Some(3), "$[\"t~\"]"),
            ("/x~1y", Some(2), "$[\"x/y\"]"),
            ("/deep/list/0/k", Some(4), "$.deep.list[0].k"),
            ("deep.list", None, "$[\"deep.list\"]"),
            ("/deep/list/00/k", None, "$.deep.list[00].k"),
        ] {
            let field = Field::parse(name).unwrap();
            assert_eq!(field.of(&document).and_then(Value::as_i64), value, "{name}");
            assert_eq!(field.path("$"), path);
        }
        assert_eq!(Field::parse("/deep/list/0").unwrap().top(), "deep");
        assert_eq!(Field::parse(""), None);
        assert_eq!(Field::parse("/a~2"), None);
        assert_eq!(Field::parse("/a~"), None);
    }
}
