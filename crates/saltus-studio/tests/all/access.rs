//! Nobody but the page of this start is answered.

use crate::client::Server;

#[test]
fn only_the_token_opens_the_page() {
    let server = Server::start(None);
    let with_token = format!("/?token={}", server.token);
    let (status, text) = server.get(&with_token, &[]);
    assert_eq!(status, 200);
    assert!(text.contains("<!doctype html>"), "{text}");
    let head = text.to_lowercase();
    assert!(head.contains("content-security-policy"), "{text}");
    let cookie = (head.lines())
        .find_map(|line| line.strip_prefix("set-cookie: "))
        .expect("a cookie");
    assert!(
        cookie.contains("httponly") && cookie.contains("samesite=strict"),
        "{cookie}"
    );
    let pair = cookie.split(';').next().expect("a pair");
    for asset in ["/main.js", "/style.css", "/favicon.svg"] {
        assert_eq!(server.get(asset, &[("Cookie", pair)]).0, 200, "{asset}");
        assert_eq!(server.get(asset, &[]).0, 401, "{asset}");
    }
    let bearer = format!("Bearer {}", server.token);
    assert_eq!(server.get("/", &[("Authorization", &bearer)]).0, 200);
    for wrong in [
        "/",
        "/?token=",
        "/?token=0",
        "/?x=1&token=00000000000000000000000000000000000000000000000f",
    ] {
        assert_eq!(server.get(wrong, &[]).0, 401, "{wrong}");
    }
    let longer = format!("{with_token}0");
    assert_eq!(server.get(&longer, &[]).0, 401);
}

#[test]
fn two_starts_have_two_tokens() {
    let (one, other) = (Server::start(None), Server::start(None));
    assert_ne!(one.token, other.token);
    let foreign = format!("/?token={}", one.token);
    assert_eq!(other.get(&foreign, &[]).0, 401);
}

#[test]
fn other_names_and_origins_are_refused() {
    let server = Server::start(None);
    let path = format!("/?token={}", server.token);
    let own = format!("http://127.0.0.1:{}", server.port);
    let local = format!("http://localhost:{}", server.port);
    for origin in [&own, &local] {
        assert_eq!(server.get(&path, &[("Origin", origin)]).0, 200, "{origin}");
    }
    for origin in [
        "https://example.org",
        "null",
        "http://127.0.0.1:1",
        "http://localhost",
        "http://127.0.0.1",
    ] {
        assert_eq!(server.get(&path, &[("Origin", origin)]).0, 403, "{origin}");
        let refused = server.try_connect(&server.token, Some(origin));
        assert!(refused.is_err(), "{origin}");
    }
    for host in [
        "example.org",
        "127.0.0.1",
        "127.0.0.1:1",
        "attacker.test:80",
    ] {
        assert_eq!(server.get(&path, &[("Host", host)]).0, 403, "{host}");
    }
    assert!(server.try_connect(&server.token, Some(&own)).is_ok());
    assert!(server.try_connect("0123", Some(&own)).is_err());
}

#[test]
fn there_is_nothing_but_the_page_and_the_socket() {
    let server = Server::start(None);
    for path in [
        "/etc/passwd",
        "/../../etc/passwd",
        "/%2e%2e/etc/passwd",
        "//etc/passwd",
        "/main.js/..",
        "/index.html%00",
    ] {
        let (status, _) = server.get(&format!("{path}?token={}", server.token), &[]);
        assert_eq!(status, 404, "{path}");
    }
    let path = format!("/?token={}", server.token);
    for method in ["POST", "PUT", "DELETE", "OPTIONS"] {
        assert_eq!(server.request(method, &path, &[]).0, 405, "{method}");
    }
    assert!(
        server
            .get(&format!("/socket?token={}", server.token), &[])
            .0
            >= 400
    );
}

#[test]
fn connections_that_end_leave_nothing() {
    let server = Server::start(None);
    let open_files = || std::fs::read_dir("/proc/self/fd").map_or(0, |entries| entries.count());
    let mut first = server.connect();
    first.call("hello", serde_json::Value::Null);
    let before = open_files();
    for _ in 0..200 {
        let mut client = server.connect();
        client.call("hello", serde_json::Value::Null);
    }
    // Answers come in any order.
    let mut waiting: std::collections::BTreeSet<u64> = (0..100)
        .map(|_| first.send("hello", serde_json::Value::Null))
        .collect();
    while !waiting.is_empty() {
        let answered = first.receive().head["id"].as_u64();
        assert!(answered.is_some_and(|id| waiting.remove(&id)));
    }
    // The other tests of this program open some, too.
    assert!(
        open_files() <= before + 60,
        "{before} files before, {} after",
        open_files()
    );
}
