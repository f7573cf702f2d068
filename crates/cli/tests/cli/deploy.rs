//! The files for operators: `karat serve` takes what they tell it, and proxies say who asks in the header that it reads.
#![expect(clippy::unwrap_used, reason = "helpers of a test may stop it")]

use std::collections::BTreeSet;

use serde_json::Value;

use crate::common::{Folder, karat};
use crate::docs::read;
use crate::serve::Server;

const PROXIES: [&str; 3] = ["Caddyfile", "nginx.conf", "traefik.yaml"];

fn file(name: &str) -> String {
    read(&format!("docs/deploy/{name}"))
}

/// Returns what compose starts, after the name of the program.
fn composed() -> Vec<String> {
    let text = file("compose.yaml");
    let list = text.lines().find_map(|line| line.trim().strip_prefix("command: ")).unwrap();
    serde_json::from_str(list).unwrap()
}

/// Returns the arguments of every `karat serve` in the files.
fn commands() -> Vec<Vec<String>> {
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let unit = file("karat.service");
    let started = unit.lines().find_map(|line| line.strip_prefix("ExecStart=/usr/local/bin/karat ")).unwrap();
    let mut all = vec![composed(), words(started)];
    for name in PROXIES {
        let text = file(name);
        let told = text.split('`').find_map(|part| part.strip_prefix("karat ")).unwrap();
        all.push(words(told));
    }
    all
}

#[test]
fn the_program_takes_every_command_of_the_files() {
    for command in commands() {
        assert!(command.iter().any(|it| it == "--proxy") && command.contains(&String::from("--host")));
        // Everything was read, and is fine by itself: only then is it said that this flag stands alone.
        let mut given: Vec<&str> = command.iter().map(String::as_str).collect();
        given.extend(["--health", "http://127.0.0.1:1"]);
        let run = karat(&given);
        assert!(run.status != 0 && run.stderr.contains("cannot be used with"), "{command:?}\n{}", run.stderr);
    }
    let wrong = karat(&["serve", "--proxy-header", "x-real-ip", "--proxy", "::1", "--health", "u"]);
    assert!(!wrong.stderr.contains("cannot be used with"), "{}", wrong.stderr);
}

#[test]
fn the_page_names_flags_that_are_there() {
    let pages = [&["serve", "--help"][..], &["log", "verify", "--help"], &["rescore", "--help"]];
    let helps = pages.map(|it| karat(it).stdout).concat();
    let known: BTreeSet<&str> = helps
        .split(|c: char| !c.is_ascii_lowercase() && c != '-')
        .filter(|it| it.starts_with("--"))
        .collect();
    let page = file("README.md");
    let named = page.split('`').skip(1).step_by(2).flat_map(str::split_whitespace);
    let named: Vec<&str> = named.filter(|it| it.starts_with("--")).collect();
    assert!(named.len() > 8, "{named:?}");
    assert!(named.iter().all(|it| known.contains(it)), "{named:?} {known:?}");
}

#[test]
fn only_origins_and_known_headers_are_taken() {
    for wrong in
        ["example.org", "https://example.org/", "https://Example.org", "https://", "*.example.org", ""]
    {
        let run = karat(&["serve", "--cors", wrong, "--health", "u"]);
        assert!(run.stderr.contains("expected an origin"), "{wrong}: {}", run.stderr);
    }
    for right in ["https://example.org", "http://localhost:5173", "http://[::1]:80", "*"] {
        let run = karat(&["serve", "--cors", right, "--health", "u"]);
        assert!(run.stderr.contains("cannot be used with"), "{right}: {}", run.stderr);
    }
    let alone = karat(&["serve", "--proxy-header", "forwarded", "--port", "1"]);
    assert!(alone.stderr.contains("--proxy <IP>"), "{}", alone.stderr);
}

#[test]
fn what_compose_starts_is_healthy() {
    let folder = Folder::new();
    let inside = |it: &String| it.replace("/data", &folder.path().display().to_string());
    let mut given: Vec<String> = composed().iter().skip(1).map(inside).collect();
    for flag in ["--listen", "--log"] {
        let at = given.iter().position(|it| it == flag).unwrap();
        given.drain(at..at + 2);
    }
    let given: Vec<&str> = given.iter().map(String::as_str).collect();
    let server = Server::at("0.0.0.0:0", folder.path(), &given);
    let port = server.address().rsplit(':').next().unwrap().to_owned();
    let run = karat(&["serve", "--health", &format!("http://127.0.0.1:{port}")]);
    assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{}", run.stdout);
    assert!(folder.path().join("first.key").exists());
}

/// Returns the lines of a file that say something.
fn said(text: &str) -> Vec<&str> {
    text.lines().map(str::trim_end).filter(|it| !it.is_empty() && !it.trim().starts_with('#')).collect()
}

#[test]
fn proxies_say_who_asks_and_nothing_that_the_client_says() {
    let nginx = file("nginx.conf");
    for line in said(&nginx) {
        assert!(line.ends_with([';', '{', '}']), "{line}");
    }
    let all = [
        ("nginx.conf", "proxy_pass http://127.0.0.1:7373;"),
        ("nginx.conf", "proxy_set_header Host $host;"),
        ("nginx.conf", "proxy_set_header X-Forwarded-For $remote_addr;"),
        ("nginx.conf", "proxy_set_header Forwarded \"\";"),
        ("Caddyfile", "reverse_proxy 127.0.0.1:7373 {"),
        ("Caddyfile", "header_up X-Forwarded-For {remote_host}"),
        ("Caddyfile", "header_up -Forwarded"),
        ("traefik.yaml", "- url: \"http://127.0.0.1:7373\""),
        ("traefik.yaml", "Forwarded: \"\""),
    ];
    for (name, expected) in all {
        let text = file(name);
        assert!(said(&text).iter().any(|line| line.trim() == expected), "{name}: {expected}");
    }
    for name in ["nginx.conf", "Caddyfile"] {
        let text = said(&file(name)).join("\n");
        assert_eq!(text.matches('{').count(), text.matches('}').count(), "{name}");
    }
    for (name, trusted) in
        [("traefik.yaml", "trustedIPs:"), ("traefik.yaml", "insecure:"), ("Caddyfile", "trusted_proxies")]
    {
        assert!(!said(&file(name)).join("\n").contains(trusted), "{name}: {trusted}");
    }
}

/// Blocks of members below each other, in steps of two blanks; lists and quoted texts as in JSON.
#[test]
fn yaml_is_well_formed() {
    for name in ["compose.yaml", "traefik.yaml"] {
        let text = file(name);
        let mut open: Vec<BTreeSet<&str>> = Vec::new();
        let mut opens = true;
        for line in said(&text) {
            let depth = (line.len() - line.trim_start().len()) / 2;
            assert!(
                !line.contains('\t') && line.len() - line.trim_start().len() == 2 * depth,
                "{name}: {line}"
            );
            assert!(depth < open.len() || (depth == open.len() && opens), "{name}: too deep: {line}");
            open.truncate(depth + 1);
            open.resize(depth + 1, BTreeSet::new());
            let member = line.trim_start();
            let (key, value) = member.strip_prefix("- ").unwrap_or(member).split_once(':').unwrap();
            assert!(open[depth].insert(key), "{name}: twice: {line}");
            assert!(value.is_empty() || value.starts_with(' '), "{name}: {line}");
            let value = value.trim();
            opens = value.is_empty();
            if value.starts_with(['[', '{', '"']) {
                assert!(serde_json::from_str::<Value>(value).is_ok(), "{name}: {line}");
            }
        }
        assert!(!opens, "{name}: the last member is empty");
    }
}

/// Returns the names of karat's metrics in a text, those of a histogram by its name.
fn metrics(text: &str) -> BTreeSet<String> {
    let words =
        text.split(|c: char| !c.is_ascii_lowercase() && c != '_').filter(|it| it.starts_with("karat_"));
    let name =
        |it: &str| ["_bucket", "_count", "_sum"].iter().fold(it.to_owned(), |it, end| it.replace(end, ""));
    words.map(name).collect()
}

#[test]
fn dashboard_and_alerts_ask_for_metrics_that_a_server_has_and_the_page_lists_all() {
    let folder = Folder::new();
    let server = Server::new(folder.path(), &["--demo"]);
    let began = std::time::Instant::now();
    let text = loop {
        let (status, text) = server.ask("GET", "/metrics", "");
        assert_eq!(status, 200, "{text}");
        // Scores are computed beside the first request.
        if text.contains("\nkarat_score{") {
            break text;
        }
        assert!(began.elapsed().as_secs() < 120, "{text}");
        std::thread::sleep(std::time::Duration::from_millis(200));
    };
    let there: BTreeSet<String> = text
        .lines()
        .filter_map(|line| Some(line.strip_prefix("# TYPE ")?.split(' ').next()?.to_owned()))
        .collect();
    let dashboard: Value = serde_json::from_str(&file("grafana.json")).unwrap();
    let panels = dashboard["panels"].as_array().unwrap();
    let targets: Vec<&Value> = panels.iter().flat_map(|it| it["targets"].as_array().unwrap()).collect();
    assert!(panels.len() > 10 && targets.iter().all(|it| !metrics(it["expr"].as_str().unwrap()).is_empty()));
    let asked = metrics(&file("grafana.json"));
    let of_alerts = metrics(&said(&file("alerts.yml")).join("\n"));
    assert!(asked.len() > 15 && of_alerts.len() > 5, "{asked:?} {of_alerts:?}");
    assert_eq!(asked.union(&of_alerts).filter(|it| !there.contains(*it)).collect::<Vec<_>>(), [""; 0]);
    let page = read("docs/guide/webhooks.md");
    let listed = metrics(page.split("\n## Metrics\n").nth(1).unwrap());
    assert_eq!(listed, there);
    // The leaderboard has the same scores.
    let (_, board) = server.ask("GET", "/v1/leaderboards?card=workflow@1.0.0&method=means", "");
    let board: Value = serde_json::from_str(&board).unwrap();
    let (by, row) = (&board["leaderboards"][0]["by"], &board["leaderboards"][0]["rows"][0]);
    let labels = format!("card=\"workflow@1.0.0\",subject={},by={by}", row["subject"]);
    for (name, value) in [
        ("karat_score", &row["score"]["mean"]),
        ("karat_score_low", &row["score"]["low"]),
        ("karat_score_items", &row["items"]),
    ] {
        let line = text.lines().find_map(|line| line.strip_prefix(&format!("{name}{{{labels}}} ")));
        assert_eq!(line.and_then(|it| it.parse().ok()), value.as_f64(), "{name} {labels}\n{text}");
    }
    assert!(
        text.contains("\nkarat_scores_left_out 0\n") && text.contains("\nkarat_gates_total{card="),
        "{text}"
    );
}

#[test]
fn the_unit_has_sections_and_members() {
    let unit = file("karat.service");
    let mut sections = Vec::new();
    for line in said(&unit) {
        match line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            Some(section) => sections.push(section),
            None => {
                let (name, value) = line.split_once('=').unwrap();
                assert!(name.bytes().all(|it| it.is_ascii_alphabetic()) && !value.is_empty(), "{line}");
                assert!(!sections.is_empty(), "{line}");
            }
        }
    }
    assert_eq!(sections, ["Unit", "Service", "Install"]);
}
