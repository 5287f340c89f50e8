//! `saltus studio`: the address comes first, and only who knows it is answered.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn start(arguments: &[&str]) -> (Server, String) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_saltus"))
        .args(["studio", "--no-open"])
        .args(arguments)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let out = child.stdout.take().unwrap();
    BufReader::new(out).read_line(&mut line).unwrap();
    (Server(child), line.trim_end().to_owned())
}

fn status(host: &str, path: &str) -> String {
    let mut stream = TcpStream::connect(host).unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    text.split(' ').nth(1).unwrap().to_owned()
}

#[test]
fn the_first_line_is_the_address_with_its_token() {
    let ball = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../examples/BouncingBall.mo"
    );
    let (_server, address) = start(&[ball]);
    let rest = address.strip_prefix("http://").unwrap();
    let (host, path) = rest.split_once('/').unwrap();
    assert!(host.starts_with("127.0.0.1:"), "{address}");
    let path = format!("/{path}");
    assert!(path.contains("token="), "{address}");
    assert_eq!(status(host, &path), "200");
    assert_eq!(status(host, "/"), "401");
    let port = host.rsplit(':').next().unwrap();
    let taken = Command::new(env!("CARGO_BIN_EXE_saltus"))
        .args(["studio", "--no-open", "--port", port])
        .output()
        .unwrap();
    assert_eq!(taken.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&taken.stderr).contains("cannot start"));
}

#[test]
fn a_target_that_is_not_there_is_said() {
    for target in ["no/such/File.mo", "No.Such.Class"] {
        let missing = Command::new(env!("CARGO_BIN_EXE_saltus"))
            .args(["studio", "--no-open", target])
            .env_remove("MODELICAPATH")
            .output()
            .unwrap();
        assert_eq!(missing.status.code(), Some(2));
        let text = String::from_utf8_lossy(&missing.stderr);
        assert!(text.contains(target), "{text}");
        assert!(missing.stdout.is_empty());
    }
}
