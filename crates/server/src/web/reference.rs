//! The reference of the API for people, made from the same description as `docs/openapi.json`: each operation with an anchor, what it
//! takes and answers, who may call it, and a command that does.

use std::sync::OnceLock;

use super::layout::*;
use crate::api::openapi;
use crate::prelude::*;

/// The methods, in the order in which the operations of a path are shown.
const METHODS: [&str; 3] = ["get", "post", "delete"];

/// An operation of the description.
struct Operation<'d> {
    method: &'static str,
    path: &'d str,
    of: &'d Value,
}

pub async fn show(Get(_, caller): Get, headers: HeaderMap) -> Answer {
    /// The description, read once.
    static READ: OnceLock<Value> = OnceLock::new();
    let described = match READ.get() {
        Some(described) => described,
        None => {
            let read = serde_json::from_str(&openapi::json()?).map_err(|error| Problem::internal(&error))?;
            READ.get_or_init(|| read)
        }
    };
    let host = address::host(&headers);
    let all = operations(described);
    let title = finding(&all);
    let tags = members(&described["tags"]).1.iter();
    let groups: Vec<_> = tags.map(|tag| (text_of(tag, "name"), text_of(tag, "description"))).collect();
    let of = |group| all.iter().filter(move |it| text_of_first(&it.of["tags"]) == group);
    let lead = "Every page here has its answer in JSON at the same address below `/v1`. Errors are \
                `application/problem+json`, with a stable `code` and the `field` that is at fault.";
    let content = html! {
        (heading(&[("/", "Home")], &title, lead))
        (section("keys", "When a key is needed", html! {
            p { "Send it as " code { "authorization: Bearer $KARAT_KEY" } ". Reading needs none on this machine and on a public server. "
                "Below, words in capitals are yours to fill in." }
        }))
        nav.panels aria-label="Operations" {
            @for &(group, _) in &groups {
                div {
                    h3 { (karat::headline::capital(group)) }
                    ul.sentences { @for it in of(group) { li { a href=(format!("#{}", it.id())) { (it.name()) } } } }
                }
            }
        }
        @for &(group, what) in &groups {
            (section(&format!("group-{group}"), &karat::headline::capital(group), html! {
                p { (words(what)) "." }
                @for it in of(group) { (it.show(&host)) }
            }))
        }
        (section("types", "What goes in and comes out", html! {
            @for (name, of) in members(&described["components"]["schemas"]).0 { (schema(name, of)) }
        }))
        (acts(&[(String::from("/v1/openapi.json"), "OpenAPI 3.1")]))
    };
    Ok(Sheet { title: &title, part: "/api", caller: Some(&caller) }.answer(content))
}

/// Counts what can be asked, and what changes something.
fn finding(all: &[Operation<'_>]) -> String {
    let reading = all.iter().filter(|it| it.method == "get").count();
    format!("The API has {} operations: {reading} read, {} change something", all.len(), all.len() - reading)
}

fn operations<'d>(described: &'d Value) -> Vec<Operation<'d>> {
    let of_path = |(path, item): (_, &'d Value)| {
        METHODS.into_iter().filter_map(move |method| Some(Operation { method, path, of: item.get(method)? }))
    };
    members(&described["paths"]).0.into_iter().flat_map(of_path).collect()
}

impl Operation<'_> {
    fn id(&self) -> &str {
        text_of(self.of, "operationId")
    }

    fn name(&self) -> String {
        format!("{} {}", self.method.to_uppercase(), self.path)
    }

    fn show(&self, host: &str) -> Markup {
        let (_, parameters) = members(&self.of["parameters"]);
        let responses = members(&self.of["responses"]).0.into_iter();
        let (good, bad): (Vec<_>, Vec<_>) =
            responses.partition(|(status, _)| status.starts_with(['1', '2', '3']));
        let bad: Vec<&str> = bad.into_iter().map(|(status, _)| status).collect();
        let body = &self.of["requestBody"];
        html! {
            // An address that ends in the id of what is closed opens it.
            details id=(self.id()) {
                summary { h3 { code { (self.name()) } } }
                p { (words(text_of(self.of, "summary"))) " " (words(text_of(self.of, "description"))) }
                ul.members {
                    @for it in parameters {
                        li { code { (text_of(it, "name")) } " in the " (text_of(it, "in")) ", " (typed(&it["schema"]))
                            @if it["required"] == true { ", required" } ": " (words(text_of(it, "description"))) }
                    }
                    @if !body.is_null() { li { "Body: " (content(body)) " " (words(text_of(body, "description"))) } }
                    @for (status, it) in good { li { "Answers " b { (status) } " " (content(it)) " " (words(text_of(it, "description"))) } }
                    @if !bad.is_empty() { li { "Refuses with " (bad.join(", ")) } }
                    li { (permission(self.of)) }
                }
                pre { code { (self.command(host)) } }
            }
        }
    }

    /// Returns a command that calls it.
    fn command(&self, host: &str) -> String {
        let value = |it: &Value| {
            let example = [&it["example"], &it["schema"]["example"]].into_iter().find(|it| !it.is_null());
            let own = example.map(|it| it.as_str().map_or_else(|| it.to_string(), str::to_owned));
            own.unwrap_or_else(|| text_of(it, "name").to_uppercase())
        };
        let (mut path, mut query, mut flags) = (self.path.to_owned(), Vec::new(), String::new());
        for it in members(&self.of["parameters"]).1 {
            let (name, value) = (text_of(it, "name"), value(it));
            match text_of(it, "in") {
                "path" => path = path.replace(&format!("{{{name}}}"), &value),
                "query" if it["required"] == true => query.push(format!("{name}={value}")),
                _ => {}
            }
        }
        if self.method != "get" {
            flags.push_str(&format!(" -X {}", self.method.to_uppercase()));
        }
        let is_open = |it: &Value| it.as_object().is_some_and(serde_json::Map::is_empty);
        if !members(&self.of["security"]).1.iter().any(is_open) {
            flags.push_str(" \\\n  -H \"authorization: Bearer $KARAT_KEY\"");
        }
        if let Some((media, _)) = members(&self.of["requestBody"]["content"]).0.first() {
            flags.push_str(&format!(" \\\n  -H 'content-type: {media}' --data-binary @FILE"));
        }
        let mark = if query.is_empty() { "" } else { "?" };
        format!("curl 'http://{host}{path}{mark}{}'{flags}", query.join("&"))
    }
}

/// Says which key may call an operation.
fn permission(of: &Value) -> Markup {
    let scopes: Vec<&str> = members(&of["security"]).1.iter().map(|it| text_of_first(&it["key"])).collect();
    html! {
        @match scopes.as_slice() {
            [] => { "Needs a key with the scope " code { "read" } ", unless reading is open" },
            [""] => "Open to all",
            several => {
                "Needs a key with the scope "
                @for (at, scope) in several.iter().enumerate() { @if at > 0 { " or " } code { (scope) } }
            },
        }
    }
}

/// Names the media types of a body and what they hold.
fn content(of: &Value) -> Markup {
    html! {
        @for (at, (media, it)) in members(&of["content"]).0.iter().enumerate() {
            @if at > 0 { " or " }
            code { (media) } " " (typed(&it["schema"]))
        }
    }
}

/// Shows a schema: what it is, and its members or words.
fn schema(name: &str, of: &Value) -> Markup {
    let required: Vec<&str> = members(&of["required"]).1.iter().filter_map(Value::as_str).collect();
    let parts: Vec<&Value> = std::iter::once(of).chain(members(&of["allOf"]).1).collect();
    let alternatives = members(&of["oneOf"]).1;
    html! {
        details id=(format!("type-{name}")) {
            summary { h3 { (name) } }
            p { (words(text_of(of, "description"))) }
            ul.members {
                @for part in parts {
                    @if part.get("$ref").is_some() { li { "All of " (typed(part)) } }
                    @for (member, it) in members(&part["properties"]).0 {
                        li { code { (member) } " " (typed(it)) @if !required.is_empty() && !required.contains(&member) { ", optional" }
                            @if !text_of(it, "description").is_empty() { ": " (words(text_of(it, "description"))) } }
                    }
                }
                @for it in alternatives { li { (typed(it)) " " (words(text_of(it, "description"))) } }
            }
        }
    }
}

/// Writes the type of a value, with links to those that have a name.
fn typed(of: &Value) -> Markup {
    if let Some(name) = of["$ref"].as_str().and_then(|it| it.rsplit('/').next()) {
        return html! { a href=(format!("#type-{name}")) { (name) } };
    }
    let (_, several) = members(&of["oneOf"]);
    let (_, kinds) = members(&of["type"]);
    let kind = of["type"].as_str().or_else(|| kinds.first().and_then(Value::as_str)).unwrap_or_default();
    let (_, words) = members(&of["enum"]);
    html! {
        @if !several.is_empty() {
            @for (at, it) in several.iter().enumerate() { @if at > 0 { " or " } (typed(it)) }
        } @else if !words.is_empty() {
            @for (at, it) in words.iter().enumerate() { @if at > 0 { ", " } code { (it.as_str().unwrap_or_default()) } }
        } @else {
            @match kind {
                "array" => { "list of " (typed(&of["items"])) },
                "object" if !members(&of["additionalProperties"]).0.is_empty() => { "object of " (typed(&of["additionalProperties"])) },
                kind => (kind),
            }
            @if kinds.iter().any(|it| it == "null") { " or null" }
        }
    }
}

/// Returns the members of an object, or the values of a list; nothing of what is not there.
fn members(of: &Value) -> (Vec<(&str, &Value)>, &[Value]) {
    let all = of.as_object().into_iter().flatten().map(|(name, it)| (name.as_str(), it)).collect();
    (all, of.as_array().map_or(&[], Vec::as_slice))
}

fn text_of<'d>(of: &'d Value, name: &str) -> &'d str {
    of.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// Returns the first text of a list.
fn text_of_first(of: &Value) -> &str {
    of.as_array().and_then(|all| all.first()).and_then(Value::as_str).unwrap_or_default()
}
