//! Promises of the pages of the arena: an agent is connected from the page of a challenge alone, numbers match the API, and changes
//! arrive as they happen.

use karat_server::Options;
use serde_json::{Value, json};

use crate::arena::{Arena, answer, challenge, payload, truth};
use crate::common::{Answer, Running};
use crate::events::Stream;
use crate::web::{all, check, filled, look};

/// Returns the words of a command as a shell splits them.
fn words(command: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    let mut signs = command.chars();
    while let Some(sign) = signs.next() {
        match (quote, sign) {
            (Some(open), sign) if open == sign => quote = None,
            (None, '\'' | '"') => {
                quote = Some(sign);
                word.get_or_insert_default();
            }
            // A word does not end with the line.
            (None, '\\') => assert_eq!(signs.next(), Some('\n'), "{command}"),
            (None, sign) if sign.is_whitespace() => words.extend(word.take()),
            (_, sign) => word.get_or_insert_default().push(sign),
        }
    }
    assert_eq!(quote, None, "{command}");
    words.extend(word);
    words
}

/// Sends what a command with curl would send.
fn run(server: &Running, command: &str, keys: &[(&str, &str)]) -> Answer {
    let command = keys.iter().fold(command.to_owned(), |text, (name, key)| text.replace(name, key));
    assert!(!command.contains('$'), "{command}");
    let words = words(&command);
    let [curl, quiet, address, options @ ..] = words.as_slice() else { panic!("{words:?}") };
    assert_eq!((curl.as_str(), quiet.as_str()), ("curl", "-sS"));
    let path = address.strip_prefix(&format!("http://{}", server.address)).unwrap();
    let (mut key, mut media, mut body) = (None, None, None);
    for option in options.chunks(2) {
        let [name, value] = option else { panic!("{option:?}") };
        match (name.as_str(), value.split_once(": ")) {
            ("-H", Some(("authorization", value))) => key = value.strip_prefix("Bearer "),
            ("-H", Some(("content-type", value))) => media = Some(value),
            ("--data", _) => body = Some(value),
            other => panic!("{other:?}"),
        }
    }
    server.post(path, key, media.unwrap(), body.unwrap())
}

#[test]
fn an_agent_is_connected_by_the_commands_on_the_page_of_a_challenge() {
    let it = Arena::new();
    // The name that the page proposes first is taken.
    it.register("my-agent");
    let page = look(&it.server, "/arena/challenges/documented");
    check("documented", page.is(200));
    let commands: Vec<String> =
        all(&page.parsed(), "ol.steps pre code").iter().map(|it| it.text().collect()).collect();
    let [register, export, enter, submit] = commands.as_slice() else { panic!("{commands:?}") };
    assert_eq!(export, "export AGENT_KEY=SECRET");
    let made = run(&it.server, register, &[("$KARAT_KEY", &it.server.admin)]);
    assert_eq!(made.is(201).at("/agent_id"), "my-agent-2", "{}", made.body);
    let secret = made.at("/secret").as_str().unwrap().to_owned();
    let keys = [("$AGENT_KEY", secret.as_str())];
    assert_eq!(run(&it.server, enter, &keys).is(201).at("/state"), "entered");
    let scored = run(&it.server, submit, &keys);
    assert_eq!((scored.is(201).at("/state"), scored.at("/result")), (json!("scored"), json!("loss")));
    assert_eq!(scored.at("/submission_warnings"), Value::Null, "the answer has every field: {}", scored.body);

    // The same body is in the other languages.
    let (_, body) = submit.split_once("{\"answer\":").unwrap();
    let (body, _) = body.split_once("}'").unwrap();
    let others: Vec<String> =
        all(&page.parsed(), "details pre code").iter().map(|it| it.text().collect()).collect();
    assert!(others[0].contains(&format!("return {body}  # your agent")), "{}", others[0]);
    assert!(others[1].contains(&format!("return {body}; // your agent")), "{}", others[1]);
    for code in &others[..2] {
        assert!(code.contains(&format!("\"http://{}\" + path", it.server.address)), "{code}");
    }
    let schema: Value = serde_json::from_str(&others[2]).unwrap();
    let shown = it.server.get("/v1/arena/challenges/documented");
    assert_eq!(schema, shown.at("/answer_schema"));
    assert_eq!(schema["required"], json!(["targets", "parts", "steps", "summary"]));
}

#[test]
fn a_challenge_shows_what_all_instances_share_and_its_practice_only() {
    let it = Arena::new();
    let shown = it.server.get("/v1/arena/challenges/documented");
    assert_eq!(
        (shown.at("/input_schema"), shown.at("/workspace_files"), shown.at("/opponent_points")),
        (
            json!({"type": "object", "properties": {"hint": {"type": "number"}}}),
            json!(["a.txt"]),
            json!(1000)
        )
    );
    let mut one = challenge("single", "contender");
    one["instances"].as_array_mut().unwrap().truncate(1);
    let shown = it.publish(&one);
    assert_eq!((shown.is(201).at("/input_schema"), shown.at("/workspace_files")), (Value::Null, json!([])));

    let mut practised = challenge("practised", "contender");
    practised["practice"] =
        json!({"input": {"hint": 1}, "workspace_files": {"a.txt": "text"}, "ground_truth": truth()});
    let refused = it.publish(&practised);
    assert_eq!(refused.is_problem(400, "bad-request").at("/field"), "$.instances[0]");
    practised["practice"] = json!({"input": {"hint": 77}, "ground_truth": {"parts": [1]}});
    let refused = it.publish(&practised);
    assert_eq!(refused.is_problem(400, "bad-request").at("/field"), "$.practice.ground_truth.targets");
    let mut other = truth();
    other["parts"][0] = json!(4711);
    practised["practice"]["ground_truth"] = other;
    it.publish(&practised).is(201);
    let page = look(&it.server, "/arena/challenges/practised");
    check("practised", page.is(200));
    assert!(page.text().contains("4711") && page.text().contains("77"), "{}", page.text());
    let list = it.server.get("/v1/arena/challenges").is(200).body.clone();
    assert_eq!(list.matches("ground_truth").count(), 1, "{list}");
    // No match is played at it.
    let key = it.register("bee");
    let entered = it.enter(&key, "practised", false);
    assert_eq!((entered.is(201).at("/draw/among"), entered.at("/input/hint") == 77), (json!(2), false));
}

#[test]
fn changes_of_matches_are_told_as_they_happen_and_again_from_where_a_client_was() {
    let it = Arena::new();
    let (bee, ant) = (it.register("bee"), it.register("ant"));
    let mut every = Stream::open(&it.server, "/v1/arena/events", None);
    let mut own = Stream::open(&it.server, "/v1/arena/events?agent=ant", None);
    let mut page = Stream::open(&it.server, "/arena/events?challenge=easy", None);
    it.enter(&bee, "documented", false).is(201);
    let (first, game) = every.event();
    assert_eq!(
        (game["match_id"].as_str(), game["state"].as_str()),
        (Some("bee.documented.1"), Some("entered"))
    );
    it.enter(&ant, "easy", false).is(201);
    for stream in [&mut every, &mut own, &mut page] {
        assert_eq!(stream.event().1["match_id"], "ant.easy.1");
    }
    let scored = it.submit(&bee, "bee.documented.1", &payload(answer(10, 100, 25)));
    let told = std::iter::from_fn(|| Some(every.event().1)).find(|game| game["state"] == "scored").unwrap();
    assert_eq!(told["score"], scored.is(201).at("/score"));
    // What was missed comes as it is now.
    let mut again = Stream::open(&it.server, "/v1/arena/events", Some(first));
    assert_eq!(again.event().0, first + 1);
    assert_eq!(again.event().1["state"], "scored");
    it.server.get("/v1/arena/events?agent=none").is_problem(404, "not-found");
    it.server.get("/v1/arena/events?challenge=none").is_problem(404, "not-found");
    it.server.get("/v1/arena/events?game=none").is_problem(400, "bad-request");
    // An open stream does not keep a server from stopping.
    it.server.stop();
}

#[test]
fn streams_of_matches_are_among_those_that_are_counted() {
    let server = Running::with(Options { streams_max: 1, ..Options::default() });
    let open = Stream::open(&server, "/v1/arena/events", None);
    server.get("/v1/arena/events").is_problem(503, "busy");
    drop(open);
}

#[test]
fn the_ranks_that_a_deviation_allows_follow_from_the_intervals() {
    let it = Arena::new();
    for (name, right) in [("ant", 10), ("bee", 10), ("wasp", 0)] {
        let key = it.register(name);
        it.enter(&key, "documented", false).is(201);
        it.submit(&key, &format!("{name}.documented.1"), &payload(answer(right, 100, 25))).is(201);
    }
    let table = it.server.get("/v1/arena/ratings?by=skill").is(200).json();
    let rows = table["ratings"].as_array().unwrap();
    let ends = |row: &Value| ["low", "high"].map(|end| row["interval"][end].as_f64().unwrap());
    for row in rows {
        let [low, high] = ends(row);
        let full = |name: &str| row["skill"]["full"][name].as_f64().unwrap();
        assert!((high - low - 4.0 * full("deviation_points")).abs() < 1e-4, "{row}");
        let ahead = rows.iter().filter(|other| ends(other)[0] > high).count();
        let behind = rows.iter().filter(|other| ends(other)[1] < low).count();
        assert_eq!(row["rank_range"], json!([ahead + 1, rows.len() - behind]), "{row}");
    }
    let ranks: Vec<&Value> = rows.iter().map(|row| &row["rank"]).collect();
    assert_eq!(ranks, [1, 1, 3]);
    assert_eq!(it.server.get("/v1/arena/ratings").at("/ratings/0/rank_range"), Value::Null);
    let refused = it.server.get("/v1/arena/ratings?by=skill&category=reasoning");
    assert_eq!(refused.is_problem(400, "bad-request").at("/field"), "by");
    // One match each separates no agents.
    assert!(
        look(&it.server, "/arena").text().contains("ant and bee share the lead, and wasp may be as good")
    );
    let place = it.server.get("/v1/arena/agents/wasp").at("/place");
    assert_eq!(
        (&place["rank"], &place["rank_range"], &place["ranked"]),
        (&json!(3), &json!([1, 3]), &json!(3))
    );
}

#[test]
fn a_match_is_shown_from_its_entry_to_its_result() {
    let it = Arena::new();
    let (bee, ant) = (it.register("bee"), it.register("ant"));
    for key in [&bee, &ant] {
        it.enter(key, "documented", false).is(201);
    }
    let page = look(&it.server, "/arena/matches/bee.documented.1");
    check("open", page.is(200));
    let document = page.parsed();
    assert_eq!(all(&document, "h1")[0].text().collect::<String>(), "bee plays documented now");
    let live = all(&document, "#live[data-live]")[0].value();
    assert_eq!(live.attr("data-now"), Some("2026-01-01T00:00:00Z"));
    let deadline =
        all(&document, "#live time[datetime='2026-01-01T00:01:40Z']")[0].text().collect::<String>();
    assert_eq!(deadline, "1 January 2026, 00:01:40 UTC");
    assert!(page.text().contains("secret until the match is over"));

    it.at(22);
    it.submit(&bee, "bee.documented.1", &payload(answer(9, 69, 19))).is(201);
    let page = look(&it.server, "/arena/matches/bee.documented.1");
    check("scored", page.is(200));
    for says in [
        "bee won at documented: 823 of 1000",
        "Against an opponent of 1000 points, 50% was expected. The rating goes from 1000 to 1016: +16.",
    ] {
        assert!(page.text().contains(says), "{}", page.text());
    }
    assert!(all(&page.parsed(), "[data-live]").is_empty());
    // A page ends what is overdue, as the API does.
    it.at(101);
    let page = look(&it.server, "/arena/matches/ant.documented.1");
    assert!(page.is(200).text().contains("ant did not answer documented in time"), "{}", page.text());
}

/// Compares every number of a page that names its place with the API.
fn numbers(server: &Running, path: &str) -> usize {
    let page = look(server, path);
    check(path, page.is(200));
    let document = page.parsed();
    let mut count = 0;
    for number in all(&document, "[data-answer] [data-from]") {
        let mut above = number.ancestors().filter_map(|it| it.value().as_element()?.attr("data-answer"));
        let api = above.next().unwrap();
        let from = number.value().attr("data-from").unwrap();
        let shown: String = number.text().collect();
        let value = server.get(api).is(200).at(from);
        let value =
            value.as_f64().unwrap_or_else(|| panic!("{path}: {api} has no number at {from}: {value}"));
        let decimals = shown.split_once('.').map_or(0, |(_, decimals)| decimals.len());
        assert_eq!(shown, format!("{value:.decimals$}"), "{path}: {api} {from}");
        count += 1;
    }
    count
}

#[test]
fn numbers_of_the_pages_are_those_of_the_api() {
    let server = filled();
    for (path, least) in [
        ("/arena", 40),
        ("/arena?category=reasoning", 12),
        ("/arena/challenges/maze", 7),
        ("/arena/agents/hare", 20),
        ("/arena/matches/hare.maze.1", 2),
    ] {
        let found = numbers(&server, path);
        assert!(found >= least, "{path}: {found}");
    }
    look(&server, "/arena/challenges/none").is(404);
    look(&server, "/arena/agents/none").is(404);
    let flows = look(&server, "/workflows");
    check("/workflows", flows.is(200));
    let first = all(&flows.parsed(), "h1")[0].text().collect::<String>();
    assert!(first.contains("plan is worth 0."), "{first}");
}
