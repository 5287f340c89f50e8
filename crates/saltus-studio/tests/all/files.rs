//! What may be read and written.

use crate::client::{Server, folder};
use saltus_studio::Opened;
use serde_json::json;
use std::fs;

const TEXT: &str = "model Own Real x = time; end Own;";

#[test]
fn files_outside_of_what_was_opened_are_neither_read_nor_written() {
    let around = folder("outside");
    let (inside, other) = (around.join("in"), around.join("in-other"));
    for dir in [&inside, &other] {
        fs::create_dir(dir).expect("made");
    }
    fs::write(inside.join("Own.mo"), TEXT).expect("written");
    fs::write(inside.join("secret.txt"), "no Modelica").expect("written");
    fs::write(other.join("Other.mo"), TEXT).expect("written");
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(other.join("Other.mo"), inside.join("Link.mo")).expect("linked");
        std::os::unix::fs::symlink(&other, inside.join("linked")).expect("linked");
    }
    let server = Server::start(Some(Opened::Folder(inside.clone())));
    let mut client = server.connect();
    let hello = client.call("hello", json!(null)).head;
    let files = hello["result"]["files"].as_array().expect("files");
    assert_eq!(files.len(), 1, "{files:?}");

    let own = inside.join("Own.mo").display().to_string();
    let opened = client.call("open", json!({ "path": own })).head;
    assert_eq!(opened["result"]["text"], TEXT);
    assert_eq!(opened["result"]["readOnly"], false);
    let shown = |path: &std::path::Path| path.display().to_string();
    for path in [
        shown(&other.join("Other.mo")),
        format!("{}/../in-other/Other.mo", shown(&inside)),
        shown(&inside.join("Link.mo")),
        shown(&inside.join("linked/Other.mo")),
        shown(&inside.join("secret.txt")),
        "/etc/passwd".to_owned(),
        String::new(),
    ] {
        let read = client.call("open", json!({ "path": path })).head;
        assert!(read["error"]["message"].is_string(), "{path}: {read}");
        let write = client
            .call("save", json!({ "path": path, "text": "x" }))
            .head;
        assert!(write["error"]["message"].is_string(), "{path}: {write}");
    }
    assert_eq!(
        fs::read_to_string(other.join("Other.mo")).expect("there"),
        TEXT
    );
}

#[test]
fn nothing_is_written_without_a_save() {
    let dir = folder("save");
    let path = dir.join("Own.mo");
    fs::write(&path, TEXT).expect("written");
    let server = Server::start(Some(Opened::Folder(dir.clone())));
    let mut client = server.connect();
    let name = path.display().to_string();
    let changed = TEXT.replace("time", "2*time");
    client.text(&name, &changed);
    client.call(
        "run",
        json!({ "job": "run", "class": "Own", "columns": ["x"] }),
    );
    assert_eq!(fs::read_to_string(&path).expect("there"), TEXT);
    assert_eq!(fs::read_dir(&dir).expect("there").count(), 1);
    client.call("save", json!({ "path": name, "text": changed }));
    assert_eq!(fs::read_to_string(&path).expect("there"), changed);
    let new = client
        .call("save", json!({ "path": "New.mo", "text": TEXT }))
        .head;
    assert_eq!(
        new["result"]["path"],
        dir.join("New.mo").display().to_string()
    );
}

#[test]
fn an_opened_file_is_the_only_one() {
    let dir = folder("one-file");
    for name in ["Own.mo", "Beside.mo"] {
        fs::write(dir.join(name), TEXT).expect("written");
    }
    let server = Server::start(Some(Opened::File(dir.join("Own.mo"))));
    let mut client = server.connect();
    let mut open = |name: &str| {
        let path = dir.join(name).display().to_string();
        client.call("open", json!({ "path": path })).head
    };
    assert_eq!(open("Own.mo")["result"]["text"], TEXT);
    assert!(open("Beside.mo")["error"]["message"].is_string());
}
