use std::path::Path;

use karat_process::{Judges, Options};

use super::*;

fn parse(text: &str) -> Result<Executors, String> {
    let variable = |name: &str| match name {
        "PATH" => Some("/usr/bin:/bin".to_owned()),
        "KEY" => Some("correct horse battery".to_owned()),
        "BROKEN" => Some("correct\nhorse".to_owned()),
        "SHORT" => Some("1234567".to_owned()),
        _ => None,
    };
    let none = || -> Arc<dyn Judge> { Arc::new(Judges::found(None, Options::default())) };
    let around = Surroundings { folder: Path::new("."), variable: &variable, judge: &none };
    let listed = |faults: Vec<Fault>| faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
    Executors::parse(text, &around).map_err(listed)
}

#[test]
fn every_executor_has_its_defaults_and_its_limits() {
    let file = r#"
        [run]
        retries_max = 5
        backoff_seconds = 0
        [http]
        hosts = ["Localhost:9000"]
        private_addresses = true
        [executor.sn1]
        kind = "command"
        command = ["sh", "-c", "true"]
        cost = 0.0000000015
        environment = ["PATH"]
        secrets = ["KEY"]
        memory_mib = 64
        [executor.SN4]
        kind = "http"
        url = "http://localhost:9000/step"
        cost = 0
        seconds_max = 0.5
        output_kib = 1
        secrets = ["KEY"]
        secret_headers = { authorization = "Bearer ${KEY}" }
    "#;
    let executors = parse(file).unwrap();
    assert_eq!((executors.retries_max, executors.backoff), (5, Duration::ZERO));
    let command = executors.of("Sn1").unwrap();
    assert_eq!((command.cost_nano_tao, command.longest), (2, Duration::from_secs(60)));
    assert!(matches!(&command.kind, Kind::Command(program) if program.command[0].ends_with("/sh")));
    let http = executors.of("sn4").unwrap();
    assert_eq!((http.answer_bytes_max, http.longest), (1024, Duration::from_millis(500)));
    assert!(executors.of("sn5").is_none());
    // No form of a secret is in what a developer prints.
    assert!(!format!("{executors:?}").contains("horse"));
}

#[test]
fn everything_that_is_wrong_is_said_at_once_with_its_place() {
    let file = r#"[runn]
[http]
host = ["a"]
[run]
retries_max = 1000
backoff_seconds = "soon"
[executor.sn1]
kind = "comand"
[executor.SN1]
kind = "command"
command = ["no-such-program"]
cost = -1
enviroment = []
environment = ["NOT_SET"]
secrets = ["SHORT", 7]
[executor.b]
kind = "command"
command = ["./executors.rs"]
seconds_max = 0
[executor.c]
kind = "http"
url = "https://user:pass@example.org/"
headers = { "a b" = "x" }
secrets = ["KEY"]
secret_headers = { x = "${OTHER}" }
cost = 1
[executor.d]
kind = "replay"
recording = "none.jsonl"
cost = 1
[executor.e]
cost = 1
"#;
    insta::assert_snapshot!(parse(file).unwrap_err(), @r#"
    the file has no field `runn`; did you mean `run`? (line 1, column 2)
    `[http]` has no field `host`; did you mean `hosts`? (line 3, column 1)
    `retries_max` of `[run]` must be a whole number from 0 to 100 (line 5, column 15)
    `backoff_seconds` of `[run]` must be a number from 0 to 60 (line 6, column 19)
    there is no kind of executor `comand`; did you mean `command`? (line 8, column 8)
    there is no program `no-such-program`; no folder of PATH has it (line 11, column 12)
    `cost` of `[executor.SN1]` must be a number from 0 to 1000000 (line 12, column 8)
    `[executor.SN1]` has no field `enviroment`; did you mean `environment`? (line 13, column 1)
    the environment has no `NOT_SET`; set it, or leave it out (line 14, column 16)
    `secrets` of `[executor.SN1]` must be an array of texts (line 15, column 21)
    `[executor.b]` has no `cost`; add `cost = 0.001` (line 16, column 11)
    there is no program `./executors.rs`; paths are relative to the folder of this file, and the file must be executable (line 18, column 12)
    the address has a password in it; put it into the environment, and name it in `secrets` (line 22, column 7)
    `a b` is not a header with a value of ASCII (line 23, column 21)
    the secret `KEY` cannot be sent: there is no encryption; put a proxy that encrypts on this machine, and set `private_addresses = true` in `[http]` (line 24, column 11)
    the header `x` names no secret; write `${NAME}` with a name of `secrets`, or put it into `headers` (line 25, column 18)
    cannot read `none.jsonl`: No such file or directory (os error 2); paths are relative to the folder of this file (line 29, column 13)
    `[executor.d]` has no field `cost`; the fields are kind, recording (line 30, column 1)
    `[executor.e]` has no `kind`; add `kind = "command"` (line 31, column 11)
    "#);
    insta::assert_snapshot!(parse("[executor]\nf = 1").unwrap_err(), @"`executor` has tables, `[executor.NAME]` (line 2, column 5)");
    insta::assert_snapshot!(parse("[executor.a\n").unwrap_err(), @"this is not TOML: unclosed table, expected `]` (line 1, column 12)");
    insta::assert_snapshot!(parse("").unwrap_err(), @"the file has no executor; add a table `[executor.NAME]` for each subnet (line 1, column 1)");
    insta::assert_snapshot!(parse("[executor.a]\nkind = \"command\"\ncommand = []\ncost = 1").unwrap_err(), @"the command is empty; name a program, then its arguments (line 3, column 11)");
    let broken = "[http]\nhosts = [\"a\"]\nprivate_addresses = true\n[executor.a]\nkind = \"http\"\ncost = 1\nurl = \"http://a\"\nsecrets = [\"BROKEN\"]";
    insta::assert_snapshot!(parse(broken).unwrap_err(), @"the secret `BROKEN` cannot be in a header; it has something else than ASCII in it (line 8, column 11)");
    let http = "[executor.a]\nkind = \"http\"\ncost = 1\nurl = ";
    insta::assert_snapshot!(parse(&format!("{http}\"http://example.org\"")).unwrap_err(), @r#"`hosts` of `[http]` does not allow `example.org`; add it: `hosts = ["example.org"]` (line 4, column 7)"#);
    insta::assert_snapshot!(parse(&format!("{http}\"https://example.org\"")).unwrap_err(), @r#"
    karat does not speak the `https` of `https://example.org`; use `http` and a proxy on this machine that encrypts, or a `command` such as curl (line 4, column 7)
    `hosts` of `[http]` does not allow `example.org`; add it: `hosts = ["example.org"]` (line 4, column 7)
    "#);
    insta::assert_snapshot!(parse(&format!("{http}\"nonsense\"")).unwrap_err(), @"`nonsense` is not an address of a service; expected `http://HOST:PORT/PATH` (line 4, column 7)");
}
