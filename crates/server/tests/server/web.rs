//! Promises of the pages: sound HTML that loads nothing from elsewhere, names that stay text, forms of this site alone.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use karat_server::clock::Clock;
use karat_server::{App, Options, folder};
use scraper::{ElementRef, Html, Selector};
use serde_json::json;

use crate::common::{Folder, Running};

/// The number of pages that are visited by following links.
const WALK: usize = 220;

/// An answer to a browser.
pub struct Page {
    pub status: u16,
    headers: BTreeMap<String, String>,
    pub body: String,
}

impl Page {
    fn of(text: &str) -> Self {
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((text, ""));
        let mut lines = head.lines();
        let status = lines.next().and_then(|line| line.split(' ').nth(1)?.parse().ok()).unwrap_or(0);
        let pairs = lines.filter_map(|line| line.split_once(": "));
        let headers = pairs.map(|(name, value)| (name.to_lowercase(), value.to_owned())).collect();
        Self { status, headers, body: body.to_owned() }
    }

    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", String::as_str)
    }

    pub fn parsed(&self) -> Html {
        Html::parse_document(&self.body)
    }

    pub fn text(&self) -> String {
        self.parsed().root_element().text().collect()
    }

    #[track_caller]
    pub fn is(&self, status: u16) -> &Self {
        assert_eq!(self.status, status, "{}", self.body);
        self
    }
}

pub fn all<'d>(document: &'d Html, selector: &str) -> Vec<ElementRef<'d>> {
    document.select(&Selector::parse(selector).unwrap()).collect()
}

/// Sends a request as a browser does, with further headers.
pub fn browse(server: &Running, method: &str, path: &str, headers: &[(&str, &str)], form: &str) -> Page {
    let mut request =
        format!("{method} {path} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n", server.address);
    if !headers.iter().any(|(name, _)| *name == "accept") {
        request.push_str("accept: text/html,application/xhtml+xml\r\n");
    }
    for (name, value) in headers {
        request.push_str(&format!("{name}: {value}\r\n"));
    }
    if method == "POST" {
        let length = form.len();
        request.push_str("content-type: application/x-www-form-urlencoded\r\n");
        request.push_str(&format!("content-length: {length}\r\n"));
    }
    request.push_str("\r\n");
    request.push_str(form);
    Page::of(&server.raw(request.as_bytes()))
}

pub fn look(server: &Running, path: &str) -> Page {
    browse(server, "GET", path, &[], "")
}

/// Returns a server with the demo and hostile names.
pub fn filled() -> Running {
    let folder = Folder::new();
    let (sqlite, signer) = folder::open(folder.path(), None).unwrap();
    let clock = Clock::fixed(karat_demo::BEGINNING);
    let options = Options::default();
    let (app, key) =
        App::open(Arc::new(sqlite), signer, options, clock.clone(), None, &mut |_, _| {}).unwrap();
    karat_demo::fill(&app).unwrap();
    drop(app);
    let server = Running::with_clock("127.0.0.1:0", folder, Options::default(), key, clock);
    let sent = server.post(
        "/v1/evidence?card=support-agent",
        Some(&server.admin),
        "application/x-ndjson",
        include_str!("../hostile.jsonl"),
    );
    assert_eq!(sent.is(200).at("/refused"), 0);
    server
}

/// Checks the promises that every page keeps.
#[track_caller]
pub fn check(path: &str, page: &Page) {
    let policy = page.header("content-security-policy");
    assert!(policy.starts_with("default-src 'none'; "), "{path}: {policy}");
    // The engine is compiled where pages compute, and nowhere else.
    let way = path.split(['?', '#']).next().unwrap_or_default();
    let may = way == "/verify" || way.ends_with("/verify") || way.starts_with("/scorecards/");
    let computes = page.body.contains(" data-engine=");
    assert!(may || !computes, "{path}");
    assert_eq!(policy.contains("script-src 'self' 'wasm-unsafe-eval';"), computes, "{path}: {policy}");
    let policy = policy.replace(" 'wasm-unsafe-eval'", "");
    assert!(
        !policy.contains("unsafe") && !policy.contains('*') && !policy.contains("http"),
        "{path}: {policy}"
    );
    assert_eq!(page.header("content-type"), "text/html; charset=utf-8", "{path}");
    assert_eq!(page.header("referrer-policy"), "same-origin", "{path}");
    assert_eq!(page.header("x-content-type-options"), "nosniff", "{path}");
    let document = page.parsed();
    assert_eq!(document.errors, Vec::<std::borrow::Cow<'_, str>>::new(), "{path}");
    for (selector, count) in
        [("h1", 1), ("main", 1), ("title", 1), ("html[lang]", 1), ("style", 0), ("[style]", 0)]
    {
        let title_in_picture = |it: &ElementRef<'_>| {
            it.value().name() == "title"
                && it.ancestors().filter_map(ElementRef::wrap).any(|it| it.value().name() == "svg")
        };
        let found = all(&document, selector).into_iter().filter(|it| !title_in_picture(it)).count();
        assert_eq!(found, count, "{path}: {selector}");
    }
    let mut ids = BTreeSet::new();
    for element in document.root_element().descendent_elements() {
        let element = element.value();
        for (name, value) in element.attrs() {
            assert!(!name.starts_with("on"), "{path}: {name}={value}");
            let is_address =
                matches!(name, "href" | "src" | "action" | "formaction" | "data-what-if" | "data-engine");
            if is_address || matches!(name, "data-check" | "data-evidence" | "data-card") {
                let is_own = value.starts_with('/') && !value.starts_with("//") || value.starts_with('#');
                assert!(is_own, "{path}: {name}={value}");
            }
            if name == "id" {
                assert!(ids.insert(value.to_owned()), "{path}: the id `{value}` stands there twice");
            }
        }
        assert!(
            !matches!(element.name(), "iframe" | "object" | "embed" | "base" | "img"),
            "{path}: {}",
            element.name()
        );
        assert!(element.name() != "script" || element.attr("src").is_some(), "{path}: a script in the page");
    }
    for (selector, attribute) in [("[aria-labelledby]", "aria-labelledby"), ("label[for]", "for")] {
        for element in all(&document, selector) {
            let named = element.value().attr(attribute).unwrap_or_default().split(' ');
            for id in named {
                assert!(ids.contains(id), "{path}: {attribute} names `{id}`, which is not there");
            }
        }
    }
    assert_eq!(
        loose(&document),
        Vec::<String>::new(),
        "{path}: text from right to left that is not isolated"
    );
    for table in all(&document, "table") {
        let has = |selector: &str| table.select(&Selector::parse(selector).unwrap()).next().is_some();
        assert!(has("caption") && has("th[scope=col]") && has("th[scope=row]"), "{path}: {}", table.html());
    }
}

/// Returns the texts with letters from right to left that are not isolated from what is beside them.
fn loose(document: &Html) -> Vec<String> {
    let is_from_right =
        |it: char| matches!(it, '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{fefe}');
    let texts = document.tree.nodes().filter_map(|node| {
        let mut above = node.ancestors().filter_map(|it| it.value().as_element());
        Some((above.any(|it| it.name() == "bdi"), node.value().as_text()?))
    });
    let is_loose = |is_in_bdi: bool, text: &str| {
        // Where no element may be, by characters.
        let outside = text.split('\u{2068}').enumerate().map(|(at, part)| match at {
            0 => part,
            _ => part.split_once('\u{2069}').map_or("", |(_, rest)| rest),
        });
        !is_in_bdi && outside.collect::<String>().contains(is_from_right)
    };
    texts.filter(|(is_in_bdi, text)| is_loose(*is_in_bdi, text)).map(|(_, text)| text.to_string()).collect()
}

/// Compares every number of a page that names its place in an answer of the API with that answer; returns how many there are.
fn agrees(server: &Running, path: &str, page: &Html) -> usize {
    let numbers = all(page, "[data-answer] [data-from]");
    for it in &numbers {
        let parent = it.ancestors().filter_map(ElementRef::wrap).find_map(|it| it.attr("data-answer"));
        let (answer, pointer) = (parent.unwrap(), it.attr("data-from").unwrap());
        let json: serde_json::Value =
            serde_json::from_str(&browse(server, "GET", answer, &[("accept", "*/*")], "").is(200).body)
                .unwrap();
        let found = json.pointer(pointer).unwrap_or_else(|| panic!("{path}: {answer} has no {pointer}"));
        let text = it.text().collect::<String>();
        let Some(found) = found.as_f64() else {
            assert_eq!(found.as_str(), Some(text.as_str()), "{path}: {pointer} of {answer}");
            continue;
        };
        let shown = text.trim_end_matches('%').replace('\u{2212}', "-");
        let decimals = shown.split_once('.').map_or(0, |(_, decimals)| decimals.len());
        let unit = (0..decimals).fold(1.0, |unit, _| unit / 10.0);
        let shown: f64 = shown.parse().unwrap_or_else(|_| panic!("{path}: {pointer} is shown as `{text}`"));
        assert!(
            (shown - found).abs() <= 0.5001 * unit,
            "{path}: {pointer} of {answer} is {found}, not {text}"
        );
    }
    numbers.len()
}

#[test]
fn every_page_that_links_lead_to_is_sound() {
    let server = filled();
    let (mut seen, mut waiting) = (BTreeSet::new(), VecDeque::new());
    let mut numbers = 0;
    let starts = [
        "/",
        "/leaderboards?card=support-agent",
        "/leaderboards?card=support-agent&group_by=subject",
        "/subjects/%D7%90%D7%91%D7%92%2012%20%28%D7%93%D7%94%29%205?card=support-agent",
        "/scorecards",
        "/arena",
        "/sign-in",
        "/leaderboards?card=task-run&group_by=domain",
    ];
    waiting.extend(starts.map(str::to_owned));
    while let Some(path) = waiting.pop_front().filter(|_| seen.len() < WALK) {
        if !seen.insert(path.clone()) {
            continue;
        }
        let page = look(&server, &path);
        if page.header("content-disposition").starts_with("attachment")
            || (path.starts_with("/v1/") || path == "/checkpoint")
        {
            page.is(200);
            continue;
        }
        // A page that needs a key says so, as a page like all others.
        let expected = if path == "/reviews" { 401 } else { 200 };
        // The weights of a family cannot be changed.
        let expected = if path.contains("/what-if") && page.status == 422 { 422 } else { expected };
        check(&path, page.is(expected));
        numbers += agrees(&server, &path, &page.parsed());
        // The first and the last link of a list are enough: every kind of page is reached.
        let document = page.parsed();
        let links: Vec<String> = all(&document, "a[href]")
            .iter()
            .filter_map(|it| it.value().attr("href"))
            .map(str::to_owned)
            .collect();
        let kinds = |link: &String| link.split(['/', '?']).nth(1).unwrap_or_default().to_owned();
        let mut by_kind: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for link in links.into_iter().filter(|link| link.starts_with('/')) {
            by_kind
                .entry(kinds(&link))
                .or_default()
                .push(link.split('#').next().unwrap_or_default().to_owned());
        }
        for list in by_kind.into_values() {
            let last = list.len().saturating_sub(3);
            waiting.extend(
                list.iter()
                    .enumerate()
                    .filter(|(at, _)| *at < 3 || *at >= last)
                    .map(|(_, link)| link.clone()),
            );
        }
    }
    for part in
        ["/subjects/", "/records/", "/scorecards/", "/arena/matches/", "/arena/agents/", "/arena/challenges/"]
    {
        assert!(seen.iter().any(|path| path.starts_with(part)), "no link leads to {part}");
    }
    assert!(seen.iter().any(|path| path.ends_with("/archive")));
    assert!(numbers > 100, "{numbers} numbers were compared");
}

#[test]
fn names_of_strangers_stay_text() {
    let server = filled();
    let lines: Vec<serde_json::Value> =
        include_str!("../hostile.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let board = look(&server, "/leaderboards?card=support-agent");
    check("the board", board.is(200));
    for line in &lines {
        let (subject, id) = (line["subject"].as_str().unwrap(), line["id"].as_str().unwrap());
        let document = board.parsed();
        let link =
            all(&document, "th.name a").into_iter().find(|it| it.text().collect::<String>() == subject);
        let link =
            link.unwrap_or_else(|| panic!("`{subject}` is on the board")).value().attr("href").unwrap();
        let page = look(&server, link);
        check(link, page.is(200));
        let document = page.parsed();
        // The heading shortens a name, and the line above it does not.
        assert!(all(&document, ".say")[0].text().collect::<String>().contains(subject), "{}", page.text());
        let record = all(&document, "th.name a").into_iter().find(|it| it.text().collect::<String>() == id);
        let record = record.unwrap_or_else(|| panic!("`{id}` is listed")).value().attr("href").unwrap();
        let page = look(&server, record);
        check(record, page.is(200));
    }
    let what_if = look(&server, "/scorecards/support-agent/what-if").is(200).parsed();
    assert!(what_if.root_element().text().any(|text| text.contains('\u{5d0}')));
    assert_eq!(loose(&what_if), Vec::<String>::new());
    // Characters that cannot be seen are left out of a name.
    for name in ["b\u{202e}ot", "bot\u{200b}", "bot ", "Zoe\u{308}", ".."] {
        for field in ["subject", "id", "task"] {
            let mut item = json!({"subject": "s", "id": "1", "task": "t", "time": "2026-03-01T09:00:00Z", "accuracy": 0.5});
            item[field] = json!(name);
            let sent = server.send("card=support-agent", &item.to_string());
            sent.is_problem(422, "evidence-refused");
            assert_eq!(sent.at("/problems/0/field"), format!("$.{field}"), "{}", sent.body);
        }
    }
    let page = look(
        &server,
        "/leaderboards?card=support-agent&where=%3Cscript%3Ealert(1)%3C%2Fscript%3E&group_by=%22%3E%3Cimg%3E",
    );
    assert_eq!(all(&page.parsed(), "img").len(), 0, "{}", page.body);
    for name in ["%3Cscript%3Ealert(2)%3C%2Fscript%3E", "%D7%90%D7%91"] {
        let page = look(&server, &format!("/subjects/{name}"));
        check("no one", page.is(404));
    }
}

#[test]
fn an_empty_server_says_what_to_do_next_in_a_line_that_works() {
    let server = Running::new();
    let page = look(&server, "/");
    check("/", page.is(200));
    let line = all(&page.parsed(), "pre code")[0].text().collect::<String>();
    let (address, body) = (line.split('\'').nth(3).unwrap(), line.split('\'').nth(5).unwrap());
    let path = address.strip_prefix(&format!("http://{}", server.address)).unwrap();
    server.post(path, Some(&server.admin), "application/json", body).is(201);
    let page = look(&server, "/");
    assert!(page.is(200).text().contains("my-agent"), "{}", page.body);
    for path in ["/scorecards", "/scorecards/workflow@1.0.0", "/arena", "/leaderboards?card=trace@1.0.0"] {
        check(path, look(&server, path).is(200));
    }
    let page = look(&server, "/leaderboards?since=2999-01-01");
    assert!(page.is(200).text().contains("No runs match these filters"));
}

#[test]
fn errors_are_pages_for_people_and_problems_for_programs() {
    let server = Running::new();
    for (path, status, what) in [
        ("/nothing", 404, "no such path"),
        ("/records/99", 404, "no record"),
        ("/subjects/nobody", 404, "no record of"),
        ("/scorecards/trusty", 404, "did you mean"),
        ("/leaderboards?crad=trust", 400, "crad"),
        ("/leaderboards?min_tasks=-1", 400, "whole number"),
        ("/leaderboards?since=yesterday", 400, "an RFC 3339 timestamp such as"),
        ("/scorecards/trust@1.0.0/what-if?w.accuracy=much", 400, "must be a number"),
        ("/scorecards/trust@1.0.0?x=y", 400, "takes no"),
        ("/reviews", 401, "needs a key"),
    ] {
        let page = look(&server, path);
        check(path, page.is(status));
        assert!(page.text().to_lowercase().contains(&what.to_lowercase()), "{path}: {}", page.text());
        let problem = browse(&server, "GET", path, &[("accept", "*/*")], "");
        assert_eq!(problem.is(status).header("content-type"), "application/problem+json", "{path}");
    }
    // Paths for programs answer browsers like programs.
    assert_eq!(look(&server, "/v1/records/99").is(404).header("content-type"), "application/problem+json");
}

#[test]
fn forms_of_other_sites_are_refused() {
    let server = Running::new();
    let own = format!("http://{}", server.address);
    let foreign: [&[(&str, &str)]; 6] = [
        &[],
        &[("origin", "null")],
        &[("origin", "http://evil.example")],
        &[("origin", "http://localhost")],
        &[("origin", &own), ("sec-fetch-site", "cross-site")],
        &[("origin", &own), ("sec-fetch-site", "same-site")],
    ];
    let cookie = format!("karat_key={}", server.admin);
    for headers in foreign {
        for path in ["/reviews", "/sign-in", "/sign-out"] {
            let headers: Vec<(&str, &str)> =
                headers.iter().copied().chain([("cookie", cookie.as_str())]).collect();
            let page = browse(&server, "POST", path, &headers, "key=x&verdict=approve");
            assert!(page.is(403).text().contains("comes from another site"), "{path} {headers:?}");
            assert_eq!(page.header("set-cookie"), "");
        }
    }
    let page =
        browse(&server, "POST", "/sign-out", &[("origin", &own), ("sec-fetch-site", "same-origin")], "");
    page.is(303);
}

#[test]
fn a_key_of_a_browser_opens_pages_and_nothing_else() {
    let server = Running::new();
    let origin = format!("http://{}", server.address);
    let wrong = browse(&server, "POST", "/sign-in", &[("origin", &origin)], "key=karat_wrong");
    assert!(wrong.is(403).text().contains("not known here"));
    let reviewer = server.key(&json!({"name": "<i>kim</i>", "scopes": ["review"]}));
    let page = browse(&server, "POST", "/sign-in", &[("origin", &origin)], &format!("key={reviewer}"));
    let cookie = page.is(303).header("set-cookie").to_owned();
    assert!(cookie.contains("; HttpOnly; SameSite=Strict") && !cookie.contains("Secure"), "{cookie}");
    let pair = cookie.split(';').next().unwrap();
    let page = browse(&server, "GET", "/reviews", &[("cookie", pair)], "");
    check("/reviews", page.is(200));
    assert!(page.text().contains("<i>kim</i>") && page.text().contains("No score waits"), "{}", page.text());
    // A browser sends a cookie even if another site made it ask, so the API ignores it.
    assert_eq!(browse(&server, "GET", "/v1/reviews", &[("cookie", pair)], "").status, 401);
    let admin = format!("karat_key={}", server.admin);
    assert_eq!(browse(&server, "GET", "/v1/keys", &[("cookie", &admin)], "").status, 401);
    // A revoked key is removed from the cookie, so that the pages that need none open again.
    let keys = server.get_with("/v1/keys", Some(&server.admin)).json();
    let id = keys["keys"].as_array().unwrap().iter().find(|key| key["name"] == "<i>kim</i>").unwrap()["id"]
        .clone();
    server.delete(&format!("/v1/keys/{}", id.as_str().unwrap()), &server.admin).is(204);
    let page = browse(&server, "GET", "/", &[("cookie", pair)], "");
    assert!(page.is(401).header("set-cookie").contains("Max-Age=0"));
}

#[test]
fn over_tls_the_cookie_never_travels_without_it() {
    let options = Options { hosts: vec![String::from("scores.example")], ..Options::default() };
    let server = Running::with(options);
    let form = format!("key={}", server.admin);
    let length = form.len();
    let request = format!(
        "POST /sign-in HTTP/1.1\r\nhost: scores.example\r\norigin: https://scores.example\r\nconnection: close\r\n\
         content-type: application/x-www-form-urlencoded\r\ncontent-length: {length}\r\n\r\n{form}"
    );
    let page = Page::of(&server.raw(request.as_bytes()));
    assert!(page.is(303).header("set-cookie").ends_with("; SameSite=Strict; Secure"), "{:?}", page.headers);
}

#[test]
fn a_file_of_the_server_is_kept_for_good() {
    let server = Running::new();
    let page = look(&server, "/");
    let document = page.parsed();
    let mut files: Vec<&str> =
        all(&document, "link[href]").iter().filter_map(|it| it.value().attr("href")).collect();
    files.extend(all(&document, "script[src]").iter().filter_map(|it| it.value().attr("src")));
    assert_eq!(files.len(), 3);
    for path in files {
        let file = look(&server, path);
        assert_eq!(file.is(200).header("cache-control"), "public, max-age=31536000, immutable");
        assert!(!file.body.contains("http:") || path.ends_with(".svg"), "{path}");
        let tag = file.header("etag").to_owned();
        let again = browse(&server, "GET", path, &[("if-none-match", &tag)], "");
        assert_eq!((again.is(304).body.as_str(), again.header("etag")), ("", tag.as_str()));
    }
    look(&server, "/static/style-000000000000.css").is(404);
    look(&server, "/static/..%2f..%2fCargo.toml").is(404);
}

#[test]
fn other_weights_show_another_ranking_and_keep_nothing() {
    let server = filled();
    let size = server.get("/v1/log").json();
    let tried = |query: &str| look(&server, &format!("/scorecards/task-run@1.0.0/what-if?{query}"));
    let own = tried("");
    assert!(own.is(200).text().contains("No rank changes"), "{}", own.text());
    let page = tried("w.solved=0&w.thrift=0&w.speed=1");
    check("/scorecards/task-run/what-if", page.is(200));
    assert!(page.text().contains("would have rank 1"), "{}", page.text());
    let value = all(&page.parsed(), "input[name='w.speed']")[0].value().attr("value").unwrap().to_owned();
    assert_eq!(value, "1");
    assert!(tried("w.solved=0&w.thrift=0&w.speed=0").is(200).text().contains("There is no ranking"));
    for wrong in ["w.solved=-1", "w.solved=1e999", "w.nothing=1", "w.solved=0.1234567", "w.solved=NaN"] {
        tried(wrong).is(400);
    }
    assert_eq!(server.get("/v1/log").json(), size);

    // What the browser is given has the same answer in it.
    let given = look(&server, "/scorecards/task-run@1.0.0/what-if/given");
    assert_eq!(given.is(200).header("content-type"), "application/json");
    let asked = r#"{"w.solved": "0", "w.thrift": "0", "w.speed": "1"}"#;
    let answer = |asked: &str| {
        let question = format!(r#"{{"asked": {asked}, "given": {}}}"#, given.body);
        karat::json::what_if(question.as_bytes())
            .map(|answer| serde_json::from_slice::<serde_json::Value>(&answer).unwrap())
    };
    let found = answer(asked).unwrap();
    let shown = page.parsed();
    for (table, rows) in ["what-if-table", "what-if-shares"].iter().zip(["ranking", "shares"]) {
        let cells: Vec<String> = all(&shown, &format!("[aria-labelledby='{table}'] tbody tr > *"))
            .iter()
            .map(|it| it.text().collect())
            .collect();
        let texts = found[rows].as_array().unwrap().iter().flat_map(|row| row.as_array().unwrap());
        let texts: Vec<&str> = texts.map(|cell| cell[1].as_str().unwrap()).collect();
        assert!(!cells.is_empty() && cells == texts, "{cells:?} {texts:?}");
    }
    let sentence = found["sentence"].as_array().unwrap().iter().map(|part| part[1].as_str().unwrap());
    assert!(page.text().contains(&sentence.collect::<String>()), "{found}");
    assert_eq!(
        answer(r#"{"w.solved": "0", "w.thrift": "0", "w.speed": "0"}"#).unwrap()["refused"]
            .as_str()
            .map(str::is_empty),
        Some(false)
    );
    assert!(answer(r#"{"w.nothing": "1"}"#).is_err());
    look(&server, "/scorecards/none@1.0.0/what-if/given").is(404);
}

#[test]
fn a_browser_gets_what_it_checks_receipts_with() {
    let server = filled();
    let page = look(&server, "/verify");
    check("/verify", page.is(200));
    let document = page.parsed();
    for says in ["karat verify receipt.json --key", "proves nothing about that server"] {
        assert!(page.text().contains(says), "{}", page.text());
    }
    assert!(all(&document, "form[data-verify]")[0].value().attr("hidden").is_some());
    let key = all(&document, "button[data-key]")[0].value().attr("data-key").unwrap().to_owned();
    assert_eq!(key, server.get("/v1/log").json()["key"].as_str().unwrap());

    let engine = all(&document, "script[data-engine]")[0].value().attr("data-engine").unwrap().to_owned();
    for (accepts, is_packed) in
        [("gzip, deflate, br", true), ("br", false), ("gzip;q=0", false), ("br, gzip;q=0.5", true)]
    {
        let request = format!(
            "GET {engine} HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: {accepts}\r\nConnection: close\r\n\r\n"
        );
        let answer = server.raw(request.as_bytes());
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let head = head.to_lowercase();
        assert!(head.contains("content-type: application/wasm") && head.contains("immutable"), "{head}");
        assert!(head.contains("vary: accept-encoding"), "{head}");
        assert_eq!(head.contains("content-encoding: gzip"), is_packed, "{accepts}: {head}");
        // The second byte of gzip is not UTF-8.
        assert!(body.starts_with(if is_packed { "\u{1f}\u{fffd}" } else { "\0asm" }), "{accepts}");
    }

    // The record of a page has all that the check needs.
    let page = look(&server, "/subjects/heron?card=support-agent");
    let document = page.parsed();
    let record = all(&document, "#evidence ~ div th.name a")[0].value().attr("href").unwrap().to_owned();
    let page = look(&server, &format!("{record}/verify"));
    let document = page.parsed();
    let button = all(&document, "button[data-check]")[0].value().clone();
    let file = |name: &str| look(&server, button.attr(name).unwrap()).is(200).body.clone();
    let question = serde_json::json!({
        "text": file("data-check"), "evidence": file("data-evidence"), "card_text": file("data-card"),
        "key": button.attr("data-key"),
    });
    let answer = karat::json::verify(question.to_string().as_bytes()).unwrap();
    let answer: serde_json::Value = serde_json::from_slice(&answer).unwrap();
    assert_eq!(
        (answer["status"].as_str(), answer["checks"].as_array().unwrap().len()),
        (Some("verified"), 7),
        "{answer}"
    );
}

#[test]
fn every_record_of_a_page_verifies() {
    let server = filled();
    let page = look(&server, "/subjects/heron?card=support-agent");
    let document = page.parsed();
    let records: Vec<&str> =
        all(&document, "#evidence ~ div th.name a").iter().filter_map(|it| it.value().attr("href")).collect();
    assert!(records.len() > 2, "{}", page.body);
    for record in records {
        let page = look(&server, &format!("{record}/verify"));
        let document = page.parsed();
        let marks: Vec<String> =
            all(&document, "tbody td:first-child").iter().map(|it| it.text().collect()).collect();
        assert_eq!(marks, ["✓"; 7], "{}", page.text());
    }
}

#[test]
fn a_decision_is_kept_under_the_name_of_its_key() {
    let server = filled();
    let origin = format!("http://{}", server.address);
    let key = server.key(&json!({"name": "lee", "scopes": ["review"]}));
    let cookie = format!("karat_key={key}");
    let queue = || browse(&server, "GET", "/reviews", &[("cookie", &cookie)], "");
    let page = queue();
    check("/reviews", page.is(200));
    let document = page.parsed();
    let forms = all(&document, "form[action='/reviews']");
    assert!(!forms.is_empty(), "the demo has a score that is held");
    let hidden = |name: &str| {
        let selector = Selector::parse(&format!("input[name='{name}']")).unwrap();
        forms[0].select(&selector).next().unwrap().value().attr("value").unwrap().to_owned()
    };
    let (card, subject, seen) = (hidden("card"), hidden("subject"), hidden("seen"));
    let send = |form: &str| {
        let form = format!("card={card}&subject={subject}&{form}");
        browse(&server, "POST", "/reviews", &[("origin", &origin), ("cookie", &cookie)], &form)
    };
    send(&format!("seen={seen}&verdict=reject&reason=")).is(400);
    send(&format!("seen={seen}&verdict=perhaps&reason=x")).is(400);
    send("verdict=reject&reason=x").is(400);
    // Another score than the one of the form.
    send(&format!("seen=sha256:{:064}&verdict=reject&reason=x", 0)).is(409);
    assert_eq!(all(&queue().parsed(), "form[action='/reviews']").len(), forms.len());
    send(&format!("seen={seen}&verdict=reject&reason=it+was+%3Cb%3Enot%3C%2Fb%3E+run")).is(303);
    assert_eq!(all(&queue().parsed(), "form[action='/reviews']").len(), forms.len() - 1);
    let page = look(&server, &format!("/subjects/{subject}?card={card}"));
    check("the subject", page.is(200));
    let text = page.text();
    let (_, said) = text.split_once("rejected by lee: ").unwrap_or_else(|| panic!("{text}"));
    assert!(said.starts_with("it was <b>not</b> run"), "{said}");
}
