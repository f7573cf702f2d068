//! Views for other sites: leaderboards in frames, pictures of links, badges that lead somewhere.

use karat_server::Options;

use crate::common::Running;

const RUN: &str = r#"{"match_id": "m-1", "agent_id": "bot", "scores": {"correctness": 900, "speed": 780, "methodology": 690, "completeness": 760}}"#;
const CARD: &str = "log-forensics@1.0.0";

fn with(options: Options) -> Running {
    let server = Running::with(options);
    server.send(&format!("card={CARD}"), RUN).is(201);
    server
}

#[test]
fn only_a_board_that_is_embedded_may_be_framed_and_only_where_the_operator_says() {
    let public = Options { is_public: true, ..Options::default() };
    let listed = vec![String::from("https://a.example"), String::from("https://b.example")];
    for (options, ancestors) in [
        (Options::default(), "frame-ancestors 'none'"),
        (public.clone(), "frame-ancestors *"),
        (Options { frames: listed, ..public }, "frame-ancestors https://a.example https://b.example"),
    ] {
        let server = with(options);
        let board = server.get(&format!("/embed/{CARD}"));
        let policy = board.is(200).header("content-security-policy").unwrap();
        assert!(policy.ends_with(ancestors) && policy.starts_with("default-src 'none'"), "{policy}");
        for none in ["<form", "<nav", "<script", "sign-in"] {
            assert!(!board.body.contains(none), "{none}");
        }
        assert!(board.body.contains("bot") && board.body.contains("/leaderboards?card="), "{}", board.body);
        for path in ["/", "/leaderboards", "/subjects/bot", "/scorecards", "/embed/none"] {
            let policy = server.get(path).header("content-security-policy").unwrap().to_owned();
            assert!(policy.ends_with("frame-ancestors 'none'"), "{path} {policy}");
        }
    }
}

#[test]
fn a_cookie_changes_nothing_of_an_embedded_board() {
    let server = with(Options::default());
    let ask = |path: &str, cookie: &str| {
        let head = format!("GET {path} HTTP/1.1\r\nhost: localhost\r\n{cookie}connection: close\r\n\r\n");
        server.raw(head.as_bytes())
    };
    let (embed, unknown) = (format!("/embed/{CARD}"), "cookie: karat_key=karat_0000\r\n");
    let plain = ask(&embed, "");
    let body = |answer: &str| answer.split_once("\r\n\r\n").unwrap().1.to_owned();
    assert!(ask("/leaderboards", unknown).starts_with("HTTP/1.1 401"), "an unknown key");
    let with_cookie = ask(&embed, unknown);
    assert!(plain.starts_with("HTTP/1.1 200") && with_cookie.starts_with("HTTP/1.1 200"), "{with_cookie}");
    assert_eq!(body(&plain), body(&with_cookie));
    assert!(!with_cookie.to_lowercase().contains("set-cookie"));
}

#[test]
fn a_link_has_a_picture_and_a_badge_leads_to_its_subject() {
    let server = with(Options::default());
    let picture = server.get(&format!("/leaderboards/picture.png?card={CARD}"));
    assert_eq!(picture.is(200).header("content-type"), Some("image/png"));
    server.get("/leaderboards/picture.png?card=none").is(404);
    for path in ["/leaderboards", "/subjects/bot"] {
        let page = server.get(path).is(200).body.clone();
        let title = page.split("property=\"og:title\" content=\"").nth(1).unwrap().split('"').next().unwrap();
        assert!(page.contains(&format!("<h1>{title}</h1>")), "{path} {title}");
        let image = "property=\"og:image\" content=\"http://";
        assert!(
            page.contains(image) && page.contains("/leaderboards/picture.png?card=log-forensics@1.0.0"),
            "{path}"
        );
    }
    let badge = server.get(&format!("/v1/badge?card={CARD}&subject=bot&show=full")).is(200).body.clone();
    assert!(badge.contains("/subjects/bot?card=log-forensics@1.0.0\"") && badge.contains(" · "), "{badge}");
    let page = server.get("/subjects/bot").is(200).body.clone();
    assert!(page.contains("[![score](http://") && page.contains("show=full"), "{page}");
    assert!(server.get("/leaderboards").is(200).body.contains("/embed/log-forensics@1.0.0"));
    server.get(&format!("/v1/badge?card={CARD}&subject=bot&show=all")).is_problem(400, "bad-request");
}
