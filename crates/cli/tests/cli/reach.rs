//! Installing karat and finding help: completions, man pages, pages of help, the image, the action for pipelines, the list of
//! what is in a release.
#![expect(clippy::unwrap_used, reason = "helpers of a test may stop it")]

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::Command;

use karat_importers::IMPORTERS;
use karat_reader::Kind;
use karat_store::log::{Signer, VerifyingKey};
use serde_json::Value;

use crate::common::{Folder, Run, finish, karat, root};

fn topics() -> Vec<String> {
    let list = karat(&["help"]).stdout;
    let listed = list.lines().filter_map(|line| line.strip_prefix("  "));
    listed.filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect()
}

fn topic(name: &str) -> String {
    karat(&["help", name]).stdout
}

fn verbs(of: &[&str]) -> Vec<String> {
    let help = karat(&[of, &["--help"]].concat()).stdout;
    // A line of a command: two blanks, a word, at least two blanks, what it does.
    let named = help.lines().filter_map(|line| line.strip_prefix("  ")?.split_once("  "));
    let words = named.map(|(word, _)| word.to_owned());
    words.filter(|word| word.bytes().all(|byte| byte.is_ascii_lowercase())).collect()
}

#[test]
fn pages_of_help_name_what_there_is() {
    let main = verbs(&[]);
    assert!(main.contains(&"score".to_owned()) && main.len() >= 20, "{main:?}");
    let hidden = ["completions", "man"];
    let mut named = 0;
    for name in topics() {
        let page = topic(&name).replace("\\\n", " ");
        for line in page.lines() {
            for part in line.split("karat ").skip(1) {
                let part = part.split(['`', '|', ')', '(', ':', ';']).next().unwrap_or_default();
                let words: Vec<&str> =
                    part.split_whitespace().map(|word| word.trim_matches([',', '.'])).collect();
                let Some(verb) = words.first().filter(|word| word.bytes().all(|it| it.is_ascii_lowercase()))
                else {
                    continue;
                };
                // Prose about the program, such as "what karat reads".
                if !main.contains(&(*verb).to_owned()) && !hidden.contains(verb) {
                    assert!(!words.iter().any(|word| word.starts_with("--")), "{name}: {line}");
                    continue;
                }
                let of = [*verb];
                let deeper = words.get(1).filter(|word| verbs(&of).iter().any(|known| known == *word));
                let path: Vec<&str> = of.into_iter().chain(deeper.copied()).collect();
                let help = karat(&[&path[..], &["--help"]].concat()).stdout;
                for flag in words.iter().filter(|word| word.starts_with("--")) {
                    assert!(help.contains(flag), "{name}: `{line}` names {flag}, which {path:?} has not");
                    named += 1;
                }
            }
        }
    }
    assert!(named >= 10, "{named}");
}

#[test]
fn pages_of_help_are_complete() {
    let formats = topic("formats");
    for format in IMPORTERS {
        assert!(formats.contains(format.name), "formats has no {}", format.name);
    }
    let evidence = topic("evidence");
    for kind in Kind::ALL {
        assert!(evidence.contains(&format!("  {} ", kind.name())), "evidence has no {}", kind.name());
    }
    // The small card of the page is one.
    let page = topic("cards");
    let begin = page.find("  schema ").unwrap();
    let card: String = page[begin..]
        .lines()
        .take_while(|line| line.is_empty() || line.starts_with("  "))
        .fold(String::new(), |card, line| card + line.trim_start() + "\n");
    let folder = Folder::new();
    folder.write("my.toml", &card);
    let checked = folder.karat(&["card", "check", "my.toml"]);
    assert_eq!(checked.status, 0, "{}{}", checked.stdout, checked.stderr);
}

#[test]
fn completions_know_every_command() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let run = karat(&["completions", shell]);
        assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{shell}");
        for verb in verbs(&[]) {
            assert!(run.stdout.contains(&verb), "{shell} does not complete {verb}");
        }
        assert!(run.stdout.contains("fail-under") && run.stdout.contains("monitor"), "{shell}");
    }
    let folder = Folder::new();
    folder.write("karat.bash", &karat(&["completions", "bash"]).stdout);
    // What a shell would offer after `karat leaderb`.
    let script = "source karat.bash; COMP_WORDS=(karat leaderb); COMP_CWORD=1; \
                  _karat karat leaderb karat; echo \"${COMPREPLY[@]}\"";
    let run = finish(Command::new("bash").args(["-c", script]).current_dir(folder.path()), "");
    assert_eq!((run.status, run.stdout.trim(), run.stderr.as_str()), (0, "leaderboard", ""));
}

#[test]
fn man_pages_are_written_and_nothing_else_is_replaced() {
    let folder = Folder::new();
    let run = folder.karat(&["man", "man1"]);
    assert_eq!((run.status, run.stderr.as_str()), (0, ""));
    let pages: BTreeSet<String> = run.stdout.lines().map(str::to_owned).collect();
    for verb in verbs(&[]) {
        assert!(pages.contains(&format!("man1/karat-{verb}.1")), "{verb}: {pages:?}");
    }
    let main = fs::read_to_string(folder.path().join("man1/karat.1")).unwrap();
    assert!(main.contains("EXIT STATUS") && main.contains("\\-\\-fail\\-if\\-worse"), "{main}");
    // Again, the same bytes.
    assert_eq!(folder.karat(&["man", "man1"]).status, 0);
    assert_eq!(fs::read_to_string(folder.path().join("man1/karat.1")).unwrap(), main);
    folder.write("man1/karat-score.1", "my notes");
    let run = folder.karat(&["man", "man1"]);
    assert_eq!(run.status, 1);
    assert!(run.stderr.contains("is not a man page, so it is not overwritten"), "{}", run.stderr);
}

/// Runs a step of the action as a runner does.
fn step(folder: &Folder, step: &str, environment: &[(&str, &str)]) -> Run {
    let temp = folder.path().join("temp");
    fs::create_dir_all(&temp).unwrap();
    let mut command = Command::new("bash");
    command.args(["-c", "\"$GITHUB_ACTION_PATH/scripts/action\" \"$0\"", step]).current_dir(folder.path());
    command.env("GITHUB_ACTION_PATH", root()).env("RUNNER_TEMP", &temp);
    command.env("GITHUB_PATH", folder.path().join("path")).env("GITHUB_OUTPUT", folder.path().join("output"));
    command.env("GITHUB_STEP_SUMMARY", folder.path().join("summary"));
    for (name, value) in environment {
        command.env(name, value);
    }
    finish(&mut command, "")
}

/// Runs `scripts/signed-note` in a folder.
fn note(folder: &Folder, arguments: &[&str], input: &str) -> Run {
    let mut command = Command::new("python3");
    finish(
        command.arg("-B").arg(root().join("scripts/signed-note")).args(arguments).current_dir(folder.path()),
        input,
    )
}

/// Makes a release of the program under test, as `scripts/dist` does, and returns where it is, and the key that signed it.
fn release(folder: &Folder) -> (String, String) {
    let machine = std::env::consts::ARCH;
    let name = format!("karat-9.9.9-{machine}-unknown-linux-musl");
    let at = folder.path().join("releases/v9.9.9");
    fs::create_dir_all(at.join(&name)).unwrap();
    fs::copy(env!("CARGO_BIN_EXE_karat"), at.join(&name).join("karat")).unwrap();
    let pack = "tar --create --gzip --file \"$0.tar.gz\" \"$0\" && sha256sum \"$0.tar.gz\" > SHA256SUMS";
    let packed = finish(Command::new("bash").args(["-c", pack, &name]).current_dir(&at), "");
    assert_eq!(packed.status, 0, "{}", packed.stderr);
    let key = note(folder, &["new", "example.org/karat", "secret.pem"], "");
    assert_eq!(key.status, 0, "{}", key.stderr);
    let sums = fs::read_to_string(at.join("SHA256SUMS")).unwrap();
    let signed = note(folder, &["sign", "example.org/karat", "secret.pem"], &sums).stdout;
    fs::write(at.join("SHA256SUMS.note"), &signed).unwrap();
    // The form is the one of karat's own notes, both ways.
    let trusted: VerifyingKey = key.stdout.trim().parse().unwrap();
    assert_eq!(trusted.open(&signed).unwrap(), sums);
    let own = Signer::new("example.org/own", &[7; 32]).unwrap();
    let checked = note(folder, &["check", &own.verifying_key().to_string()], &own.sign(&sums).unwrap());
    assert_eq!((checked.status, checked.stdout), (0, sums), "{}", checked.stderr);
    (format!("file://{}", folder.path().join("releases").display()), key.stdout.trim().to_owned())
}

#[cfg(target_os = "linux")]
#[test]
fn the_action_installs_what_was_published_and_ends_with_the_status_of_karat() {
    let folder = Folder::new();
    let (releases, key) = release(&folder);
    let from =
        [("KARAT_VERSION", "9.9.9"), ("KARAT_RELEASES", releases.as_str()), ("KARAT_KEY", key.as_str())];
    let run = step(&folder, "install", &from);
    assert_eq!(run.status, 0, "{}{}", run.stdout, run.stderr);
    let added = fs::read_to_string(folder.path().join("path")).unwrap();
    assert!(fs::metadata(format!("{}/karat", added.trim())).is_ok(), "{added}");
    let other = "0".repeat(64);
    for (environment, says) in [
        ([("KARAT_VERSION", "9.9.9"), ("KARAT_SHA256", other.as_str())], "is not the one that is wanted"),
        ([("KARAT_VERSION", "9.9.9"), ("KARAT_SHA256", "$(id)")], "expected $(id)"),
        ([("KARAT_VERSION", "9.9.8"), ("KARAT_SHA256", "")], "cannot fetch"),
        ([("KARAT_VERSION", "9.9.9; id"), ("KARAT_SHA256", "")], "is not one such as 0.1.0"),
        ([("KARAT_VERSION", "../../x"), ("KARAT_SHA256", "")], "is not one such as 0.1.0"),
    ] {
        let environment = [&from[1..], &environment[..]].concat();
        let run = step(&folder, "install", &environment);
        assert_eq!(run.status, 1, "{environment:?}");
        assert!(run.stderr.contains("::error title=karat::") && run.stderr.contains(says), "{}", run.stderr);
    }
    // What was not signed, or by another key, is not even unpacked.
    let at = folder.path().join("releases/v9.9.9");
    let signed = fs::read_to_string(at.join("SHA256SUMS.note")).unwrap();
    let stranger = note(&folder, &["new", "example.org/karat", "other.pem"], "").stdout;
    let program = folder.path().join("temp/karat-bin/karat");
    fs::remove_file(&program).unwrap();
    let archive = at.join(format!("karat-9.9.9-{}-unknown-linux-musl.tar.gz", std::env::consts::ARCH));
    let bytes = fs::read(&archive).unwrap();
    let own = signed.split(' ').next().unwrap();
    for (key, text, packed, says) in [
        (key.as_str(), signed.replacen(own, &other, 1), &bytes[..], "are not signed by the trusted key"),
        (key.as_str(), signed.split("\n\n").next().unwrap().to_owned() + "\n", &bytes, "are not signed by"),
        (stranger.trim(), signed.clone(), &bytes, "are not signed by the trusted key"),
        ("nonsense", signed.clone(), &bytes, "is not a key"),
        ("", signed.clone(), &bytes, "give the input `key`"),
        (key.as_str(), signed.clone(), b"another", "is not what was published"),
        (key.as_str(), String::new(), &bytes, "are not signed by the trusted key"),
    ] {
        fs::write(at.join("SHA256SUMS.note"), text).unwrap();
        fs::write(&archive, packed).unwrap();
        let run = step(&folder, "install", &[&from[..2], &[("KARAT_KEY", key)]].concat());
        assert!(run.status == 1 && run.stderr.contains(says), "{says}: {}", run.stderr);
        assert!(!program.exists(), "{says}");
    }
    fs::remove_file(at.join("SHA256SUMS.note")).unwrap();
    step(&folder, "install", &from).ends(1, "cannot fetch");
    fs::write(at.join("SHA256SUMS.note"), &signed).unwrap();
    fs::write(&archive, &bytes).unwrap();
    assert_eq!(step(&folder, "install", &from).status, 0);
    let path = format!("{}:{}", added.trim(), std::env::var("PATH").unwrap());
    let data = root().display().to_string();
    let gate =
        |arguments: &str| step(&folder, "gate", &[("PATH", path.as_str()), ("KARAT_ARGUMENTS", arguments)]);
    let below = format!(
        "leaderboard\n-c\n{data}/examples/cards/task-run.toml\n--fail-under\n50\n\n{data}/examples/leaderboard/runs.csv\n"
    );
    let run = gate(&below);
    assert_eq!(run.status, 10, "{}", run.stderr);
    assert!(run.stderr.contains("failed: `osprey`"), "{}", run.stderr);
    assert_eq!(gate("card\r\nlist\r\n").status, 0);
    // An argument stays one, whatever is in it.
    let run = gate("card\nshow\n$(touch stolen) `touch stolen` ; touch stolen");
    assert_eq!(run.status, 1);
    assert!(run.stderr.contains("$(touch stolen)"), "{}", run.stderr);
    assert!(!folder.path().join("stolen").exists());
    assert_eq!(gate("\n\n").status, 1);
    let output = fs::read_to_string(folder.path().join("output")).unwrap();
    assert_eq!(output, "status=10\nstatus=0\nstatus=1\n");
}

/// Returns the lines that a runner would obey, of those that a step prints.
fn commands(text: &str) -> Vec<String> {
    let (mut stopped, mut obeyed) = (None, Vec::new());
    for line in text.lines().map(str::trim).filter(|line| line.starts_with("::")) {
        match &stopped {
            Some(token) if line == format!("::{token}::") => stopped = None,
            Some(_) => {}
            None => match line.strip_prefix("::stop-commands::") {
                Some(token) => stopped = Some(token.to_owned()),
                None => obeyed.push(line.to_owned()),
            },
        }
    }
    assert_eq!(stopped, None, "what comes after is not heard: {text}");
    obeyed
}

#[cfg(target_os = "linux")]
#[test]
fn the_action_says_why_and_no_text_is_a_command() {
    let folder = Folder::new();
    let programs = std::path::Path::new(env!("CARGO_BIN_EXE_karat")).parent().unwrap();
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap());
    let runs = root().join("examples/import");
    let gate = |format: &str, arguments: &[&str]| {
        let _ = fs::remove_file(folder.path().join("summary"));
        let arguments = arguments.join("\n");
        let environment =
            [("PATH", path.as_str()), ("KARAT_ARGUMENTS", arguments.as_str()), ("KARAT_FORMAT", format)];
        let run = step(&folder, "gate", &environment);
        let summary = fs::read_to_string(folder.path().join("summary")).unwrap_or_default();
        (run.status, commands(&run.stdout), commands(&run.stderr), summary, run)
    };
    // A gate that fails: marked beside the file, and with the tasks in the summary.
    fs::copy(runs.join("main.json"), folder.path().join("main.json")).unwrap();
    fs::copy(runs.join("pr.json"), folder.path().join("a change, in two: words.json")).unwrap();
    let compare = ["compare", "main.json", "a change, in two: words.json", "-c", "run", "--fail-if-worse"];
    let (status, marks, more, summary, run) = gate("github", &compare);
    assert_eq!((status, more.len()), (16, 0), "{}", run.stderr);
    assert!(marks[0].starts_with("::error title=regression::"), "{marks:?}");
    assert!(summary.contains("support/address-05"), "{summary}");
    assert!(run.stderr.contains("; status 16"), "{}", run.stderr);
    // No answer: a missing card, a missing project, a command that is not there, a file with a name that is a command.
    let missing = ["leaderboard", "-c", "none.toml", "main.json"];
    let (status, marks, more, summary, _) = gate("github", &missing);
    assert_eq!((status, marks.len(), more.len()), (1, 0, 1));
    assert!(more[0].starts_with("::error title=karat::error: cannot read `none.toml`"), "{more:?}");
    assert!(
        summary.starts_with("## karat could not answer (status 1)\n\n    error: cannot read"),
        "{summary}"
    );
    let (status, _, more, ..) = gate("github", &["check"]);
    assert!(status == 1 && more[0].contains("there is no `karat.toml`"), "{more:?}");
    let (status, _, more, ..) = gate("table", &["chek"]);
    assert!(status == 2 && more[0].contains("chek"), "{more:?}");
    // Names in the data, in every format: text, and nothing else.
    let name = "::error title=x::stolen%0A::add-mask::a";
    folder.write("own.csv", &format!("subject,task,solved\n{name},a,1\n{name},b,0\n"));
    folder.write("two.csv", &format!("subject,task,solved\n{name},a,1\n{name},b,1\nant,a,1\nant,b,0\n"));
    for format in ["", "table", "markdown", "csv", "jsonl", "github"] {
        for file in ["own.csv", "two.csv"] {
            let (status, marks, more, ..) =
                gate(format, &["leaderboard", "-c", "run", "--fail-under", "99", file]);
            assert_eq!((status, more.len()), (10, 0), "{format}");
            let own = marks
                .iter()
                .filter(|mark| mark.starts_with("::error title=x::") || mark.starts_with("::add"));
            assert_eq!(own.count(), 0, "{format}: {marks:?}");
            assert_eq!(marks.is_empty(), format != "github", "{format}: {marks:?}");
        }
    }
    let (_, _, more, ..) = gate("github", &["leaderboard", "-c", "run", "::add-mask::a"]);
    assert!(more.len() == 1 && more[0].starts_with("::error title=karat::"), "{more:?}");
}

#[test]
fn the_action_is_well_formed() {
    let text = fs::read_to_string(root().join("action.yml")).unwrap();
    let mut section = "";
    let (mut inputs, mut used) = (BTreeSet::new(), BTreeSet::new());
    for line in text.lines() {
        assert!(!line.contains('\t') && line.chars().count() <= 120, "{line}");
        if !line.starts_with([' ', '#']) && line.contains(':') {
            section = line.split(':').next().unwrap();
        }
        let name = line
            .strip_prefix("  ")
            .filter(|rest| !rest.starts_with(' '))
            .and_then(|rest| rest.strip_suffix(':'));
        if let Some(name) = name.filter(|_| section == "inputs") {
            inputs.insert(name.to_owned());
        }
        for expression in line.split("${{ ").skip(1) {
            let expression = expression.split(" }}").next().unwrap();
            used.extend(expression.strip_prefix("inputs.").map(str::to_owned));
            // `NAME: ${{ ... }}` alone, and never a script.
            let (key, value) = line.trim().split_once(": ").unwrap();
            assert_eq!(value, format!("${{{{ {expression} }}}}"), "{line}");
            let is_environment =
                key.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_');
            assert!(is_environment || ["value", "working-directory"].contains(&key), "{line}");
        }
        if let Some(script) = line.trim().strip_prefix("run: ") {
            assert!(script.starts_with("'\"$GITHUB_ACTION_PATH/scripts/action\" "), "{line}");
        }
    }
    assert_eq!(inputs, used, "an input that does nothing, or one that is not declared");
    for input in &inputs {
        let from = text.split(&format!("  {input}:\n")).nth(1).unwrap();
        let own: String = from.lines().take_while(|line| line.starts_with("    ")).collect();
        assert!(own.contains("description:") && own.contains("default:"), "{input}");
    }
    let runs = text.split("runs:\n").nth(1).unwrap();
    assert!(runs.contains("using: composite"));
    assert_eq!(runs.matches("shell: bash").count(), runs.matches("run: ").count());
}

/// Answers the requests of a step as GitHub does, and returns each with its body once the comments are gone.
fn github(comments: &'static str, requests: usize) -> (String, std::thread::JoinHandle<Vec<String>>) {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let seen = std::thread::spawn(move || {
        let mut seen = Vec::new();
        for stream in listener.incoming().take(requests) {
            let mut stream = stream.unwrap();
            let (mut head, mut read) = (String::new(), BufReader::new(stream.try_clone().unwrap()));
            while !head.ends_with("\r\n\r\n") {
                assert!(read.read_line(&mut head).unwrap() > 0, "{head}");
            }
            let length =
                head.to_lowercase().lines().find_map(|it| it.strip_prefix("content-length: ")?.parse().ok());
            let mut body = vec![0; length.unwrap_or(0)];
            read.read_exact(&mut body).unwrap();
            let answer = if head.starts_with("GET") { comments } else { "{}" };
            let size = answer.len();
            write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: {size}\r\nConnection: close\r\n\r\n{answer}")
                .unwrap();
            seen.push(format!("{head}{}", String::from_utf8(body).unwrap()));
        }
        seen
    });
    (address, seen)
}

/// The comment of a job is written once and renewed, never in the place of a person's, and the verdict stays that of the gate.
#[cfg(target_os = "linux")]
#[test]
fn the_action_writes_one_comment_and_renews_it() {
    const MARK: &str = "<!-- karat: nightly / gate -->";
    let of = |kind: &str, id: u32| {
        format!(r#"{{"id": {id}, "body": "{MARK}\nold", "user": {{"type": "{kind}"}}}}"#)
    };
    let none: &'static str = format!("[{}]", of("User", 7)).leak();
    let own: &'static str = format!("[{}, {}]", of("User", 7), of("Bot", 8)).leak();
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_karat")).parent().unwrap();
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap());
    for (comments, wanted) in
        [(none, "POST /repos/o/r/issues/3/comments "), (own, "PATCH /repos/o/r/issues/comments/8 ")]
    {
        let folder = Folder::new();
        folder.write("event.json", r#"{"pull_request": {"number": 3}}"#);
        let (address, seen) = github(comments, 2);
        let event = folder.path().join("event.json").display().to_string();
        let arguments = format!(
            "leaderboard\n-c\n{0}/examples/cards/task-run.toml\n{0}/examples/leaderboard/runs.csv\n--fail-under\n99",
            root().display()
        );
        let environment = [
            ("KARAT_ARGUMENTS", arguments.as_str()),
            ("KARAT_FORMAT", "github"),
            ("KARAT_COMMENT", "true"),
            ("KARAT_TOKEN", "secret-token"),
            ("GITHUB_API_URL", &address),
            ("GITHUB_EVENT_PATH", &event),
            ("GITHUB_REPOSITORY", "o/r"),
            ("GITHUB_WORKFLOW", "nightly"),
            ("GITHUB_JOB", "gate"),
            ("PATH", &path),
        ];
        let run = step(&folder, "gate", &environment);
        assert_eq!(run.status, 10, "{}", run.screen());
        let seen = seen.join().unwrap();
        assert!(seen[0].starts_with("GET /repos/o/r/issues/3/comments?per_page=100&page=1 "), "{}", seen[0]);
        assert!(seen[1].starts_with(wanted) && seen[1].contains("Bearer secret-token"), "{}", seen[1]);
        let body: Value = serde_json::from_str(seen[1].split("\r\n\r\n").nth(1).unwrap()).unwrap();
        let summary = fs::read_to_string(folder.path().join("summary")).unwrap();
        assert_eq!(body["body"], format!("{MARK}\n{summary}"));
        assert!(summary.contains("heron") && !run.screen().contains("secret-token"), "{summary}");
        // Without a pull request there is a warning, and the same verdict.
        folder.write("event.json", "{}");
        let run = step(&folder, "gate", &environment);
        assert!(run.status == 10 && run.stderr.contains("::warning title=karat::"), "{}", run.screen());
    }
}

/// A fork runs without secrets, and what has them neither checks out a fork nor writes an expression into a script.
#[test]
fn the_workflows_for_forks_keep_code_and_secrets_apart() {
    let read = |name: &str| -> Value {
        let text = fs::read_to_string(root().join("examples/project").join(name)).unwrap();
        serde_saphyr::from_str(&text).unwrap()
    };
    for (name, event, job) in
        [("gate.yml", "pull_request", "gate"), ("comment.yml", "workflow_run", "comment")]
    {
        let flow = read(name);
        assert_eq!(flow["on"].as_object().unwrap().keys().collect::<Vec<_>>(), [event], "{name}");
        let rights = flow["permissions"].as_object().unwrap();
        let may_write = rights.values().any(|right| right == "write");
        let steps = flow["jobs"][job]["steps"].as_array().unwrap();
        let uses = |what: &str| {
            steps.iter().any(|step| step["uses"].as_str().is_some_and(|it| it.starts_with(what)))
        };
        assert_eq!(
            (may_write, uses("actions/checkout")),
            (event == "workflow_run", event == "pull_request"),
            "{name}"
        );
        assert!(steps.iter().all(|step| !step["run"].to_string().contains("${{")), "{name}");
        assert_eq!(flow.to_string().contains("github.token"), may_write, "{name}");
        assert!(!flow.to_string().contains("secrets."), "{name}");
    }
    let (gate, comment) = (read("gate.yml"), read("comment.yml"));
    assert_eq!(comment["on"]["workflow_run"]["workflows"][0], gate["name"]);
}

/// Commands of the image are ones that karat understands, and nothing in it asks for root.
#[test]
fn the_image_runs_what_there_is() {
    let text = fs::read_to_string(root().join("Containerfile")).unwrap().replace("\\\n", " ");
    let lines: Vec<&str> =
        text.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty()).collect();
    let known = [
        "FROM", "ARG", "COPY", "LABEL", "USER", "WORKDIR", "VOLUME", "EXPOSE", "STOPSIGNAL", "HEALTHCHECK",
        "ENTRYPOINT", "CMD",
    ];
    let value = |name: &str| {
        let mut found = lines.iter().filter_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        found.next_back().unwrap_or_else(|| panic!("no {name}")).trim()
    };
    for line in &lines {
        assert!(known.contains(&line.split(' ').next().unwrap()), "{line}");
    }
    let user = value("USER").split(':').map(|number| number.parse::<u32>().unwrap());
    assert!(user.into_iter().all(|number| number >= 1000), "root, or a name that scratch does not know");
    let list = |text: &str| -> Vec<String> { serde_json::from_str(text).unwrap() };
    assert_eq!(list(value("ENTRYPOINT")), ["/karat"]);
    let health = value("HEALTHCHECK").split_once("CMD").unwrap().1;
    let mut asked = list(health.trim());
    assert_eq!(asked.remove(0), "/karat");
    // Nothing listens there, which it says; a command line that is not understood ends with 2.
    let run = karat(&asked.iter().map(String::as_str).collect::<Vec<_>>());
    assert!(run.status <= 1, "{}", run.stderr);
    let folder = Folder::new();
    let mut serve = list(value("CMD"));
    // Of all addresses, as there, at a port that is free.
    let at = serve.iter().position(|word| word == "--listen").unwrap();
    let address = serve.drain(at..at + 2).nth(1).unwrap().replace(":7373", ":0");
    assert_eq!(address, "0.0.0.0:0");
    let serve: Vec<String> =
        serve.into_iter().map(|word| word.replace("/data", &folder.path().display().to_string())).collect();
    let serve: Vec<&str> = serve[1..].iter().map(String::as_str).collect();
    // The first start is on an empty volume; the second finds the key.
    let server = crate::serve::Server::at(&address, folder.path(), &serve);
    let key = fs::read_to_string(folder.path().join("first.key")).unwrap();
    assert_eq!(server.started["admin_key"], Value::Null, "the log of the image has no key");
    assert_eq!(server.end("TERM").0, Some(0));
    let server = crate::serve::Server::at(&address, folder.path(), &serve);
    assert_eq!(fs::read_to_string(folder.path().join("first.key")).unwrap(), key);
    let port = server.address().split(':').next_back().unwrap().to_owned();
    let run = karat(&["serve", "--health", &format!("http://127.0.0.1:{port}")]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    assert!(run.stdout.contains("\"ok\""), "{}", run.stdout);
    drop(server);
    assert_eq!(karat(&["serve", "--health", "http://127.0.0.1:9"]).status, 1);
}

#[test]
fn the_list_of_parts_is_complete_and_always_the_same() {
    let sbom = || {
        let mut command = Command::new("python3");
        command
            .arg(root().join("scripts/sbom"))
            .arg("x86_64-unknown-linux-gnu")
            .env("SOURCE_DATE_EPOCH", "86400");
        let run = finish(&mut command, "");
        assert_eq!((run.status, run.stderr.as_str()), (0, ""));
        run.stdout
    };
    let text = sbom();
    assert_eq!(text, sbom());
    let list: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((&list["bomFormat"], &list["specVersion"]), (&"CycloneDX".into(), &"1.5".into()));
    assert_eq!(list["metadata"]["timestamp"], "1970-01-02T00:00:00Z");
    let parts = list["components"].as_array().unwrap();
    let named = |name: &str| parts.iter().any(|part| part["name"] == name);
    assert!(named("clap") && named("rusqlite") && named("karat-core"), "{}", parts.len());
    assert!(!named("proptest") && !named("insta"), "what tests need is not in the program");
    for part in parts {
        assert!(part["licenses"][0]["expression"].is_string(), "{part}");
        let is_own = part["name"].as_str().unwrap().starts_with("karat");
        assert!(
            is_own || part["hashes"][0]["content"].as_str().is_some_and(|hash| hash.len() == 64),
            "{part}"
        );
    }
    let references: BTreeSet<&str> = parts.iter().map(|part| part["bom-ref"].as_str().unwrap()).collect();
    for edge in list["dependencies"].as_array().unwrap() {
        for to in edge["dependsOn"].as_array().unwrap() {
            assert!(references.contains(to.as_str().unwrap()), "{to}");
        }
    }
}
