//! Every command of the book is run, in a copy of its models, and prints what the page says.
//!
//! A block marked `console` holds commands (`$ saltus …`), each with the lines that it prints; `…` stands for any text, and alone in a line for any lines. The last line may be
//! `exit code N`; without it the code is 0. Pictures that a page shows must be made by its commands.
//!
//! `SALTUS_BLESS=1 cargo test -p saltus-cli book` writes the pictures of the book anew.

use crate::{saltus_in, scratch};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

fn book() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/book")
}

/// A command with the lines that it has to print.
struct Command {
    words: Vec<String>,
    prints: Vec<String>,
}

fn commands(page: &str) -> Vec<Command> {
    let mut found: Vec<Command> = Vec::new();
    let mut inside = false;
    for line in page.lines() {
        match (inside, line) {
            (false, "```console") => inside = true,
            (true, "```") => inside = false,
            (true, line) => match line.strip_prefix("$ saltus ") {
                Some(rest) => found.push(Command {
                    words: words(rest),
                    prints: Vec::new(),
                }),
                None => {
                    let last = found.last_mut().expect("a block begins with `$ saltus `");
                    last.prints.push(line.to_owned());
                }
            },
            (false, _) => {}
        }
    }
    found
}

/// Splits at spaces outside of single quotes, which are removed, as a shell does.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quoted = false;
    for c in line.chars() {
        match c {
            '\'' => quoted = !quoted,
            c if c.is_whitespace() && !quoted => words.push(String::new()),
            c => words.last_mut().expect("one word is there").push(c),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Models on a page, each in a file of its name.
fn write_models(page: &str, folder: &Path) {
    for block in page.split("```modelica\n").skip(1) {
        let text = block.split("```").next().expect("a block ends");
        let name = text.split_whitespace().nth(1).expect("a model has a name");
        fs::write(folder.join(format!("{name}.mo")), text).expect("written");
    }
}

#[test]
fn every_command_of_the_first_page_prints_what_it_says() {
    let folder = scratch("first_page");
    fs::remove_dir_all(&folder).expect("the folder can be removed");
    fs::create_dir_all(folder.join("examples")).expect("the folder can be made");
    let root = book().join("../..");
    let page = fs::read_to_string(root.join("README.md")).expect("the page");
    write_models(&page, &folder);
    let ball = "examples/BouncingBall.mo";
    fs::copy(root.join(ball), folder.join(ball)).expect("copied");
    let wrong = "model Wrong\n  Real v(unit = \"V\") = 10*time;\n  Real i(unit = \"A\");\nequation\n  i = v;\nend Wrong;\n";
    fs::write(folder.join("Wrong.mo"), wrong).expect("written");
    // What cargo would run.
    let first = page
        .lines()
        .find_map(|l| l.strip_prefix("cargo run --release -- "));
    let ran = saltus_in(
        &folder,
        &first
            .expect("the first command")
            .split_whitespace()
            .collect::<Vec<_>>(),
    );
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    assert!(
        folder.join("ball.svg").is_file() && ran.stdout.contains("x [m]"),
        "{}",
        ran.stdout
    );
    let mut n_commands = 0;
    for command in commands(&page) {
        let words: Vec<&str> = command.words.iter().map(String::as_str).collect();
        let ran = saltus_in(&folder, &words);
        let printed = format!("{}{}", ran.stdout, ran.stderr);
        let mut lines: Vec<&str> = printed.lines().map(str::trim_end).collect();
        let code = format!("exit code {}", ran.exit.unwrap_or(-1));
        if ran.exit != Some(0) {
            lines.push(&code);
        }
        let patterns: Vec<&str> = command.prints.iter().map(String::as_str).collect();
        assert!(
            all_fit(&lines, &patterns),
            "{words:?}\n{}",
            lines.join("\n")
        );
        n_commands += 1;
    }
    assert!(n_commands >= 5, "{n_commands} commands");
    // Links lead somewhere.
    for link in page
        .split("](")
        .skip(1)
        .filter_map(|rest| rest.split(')').next())
    {
        assert!(
            link.starts_with("http") || root.join(link).exists(),
            "{link}"
        );
    }
}

/// Whether `line` is `pattern`, whose `…` stand for any text.
fn fits(line: &str, pattern: &str) -> bool {
    let Some((head, rest)) = pattern.split_once('…') else {
        return line == pattern;
    };
    let Some(line) = line.strip_prefix(head) else {
        return false;
    };
    (0..=line.len())
        .filter(|&k| line.is_char_boundary(k))
        .any(|k| fits(&line[k..], rest))
}

/// The same of lines; a pattern `…` stands for any of them.
fn all_fit(lines: &[&str], patterns: &[&str]) -> bool {
    match (lines, patterns) {
        ([], []) => true,
        (_, ["…", rest @ ..]) => (0..=lines.len()).any(|k| all_fit(&lines[k..], rest)),
        ([line, lines @ ..], [pattern, rest @ ..]) => fits(line, pattern) && all_fit(lines, rest),
        _ => false,
    }
}

#[test]
fn every_command_of_the_book_prints_what_it_says() {
    let folder = scratch("book");
    // Results of earlier runs would be kept, with a note.
    fs::remove_dir_all(&folder).expect("the folder can be removed");
    fs::create_dir_all(&folder).expect("the folder can be made");
    for entry in fs::read_dir(book().join("models")).expect("the folder exists") {
        let path = entry.expect("it can be read").path();
        fs::copy(&path, folder.join(path.file_name().expect("a file"))).expect("copied");
    }
    let library = book().join("../../library");
    let library = library.to_string_lossy();
    let mut problem = String::new();
    let mut n_commands = 0;
    let mut pages: Vec<PathBuf> = (fs::read_dir(book()).expect("the folder exists"))
        .map(|entry| entry.expect("it can be read").path())
        .filter(|path| path.extension().is_some_and(|e| e == "md"))
        .collect();
    pages.sort();
    for path in pages {
        let page = fs::read_to_string(&path).expect("the page");
        for command in commands(&page) {
            let words: Vec<&str> = (command.words.iter())
                .map(|word| {
                    if word == "library" {
                        &library
                    } else {
                        word.as_str()
                    }
                })
                .collect();
            let ran = saltus_in(&folder, &words);
            n_commands += 1;
            let printed = format!("{}{}", ran.stdout, ran.stderr);
            let mut lines: Vec<&str> = printed.lines().map(str::trim_end).collect();
            let code = format!("exit code {}", ran.exit.unwrap_or(-1));
            if ran.exit != Some(0) {
                lines.push(&code);
            }
            let patterns: Vec<&str> = command.prints.iter().map(String::as_str).collect();
            if !all_fit(&lines, &patterns) {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                let _ = writeln!(
                    problem,
                    "{name}: saltus {}\n{}\n",
                    command.words.join(" "),
                    lines.join("\n")
                );
            }
        }
        for picture in page.split("](pictures/").skip(1) {
            let name = picture.split(')').next().unwrap_or_default();
            let Ok(made) = fs::read_to_string(folder.join(name)) else {
                let _ = writeln!(problem, "{}: no command makes {name}", path.display());
                continue;
            };
            let stored = book().join("pictures").join(name);
            if std::env::var_os("SALTUS_BLESS").is_some() {
                fs::create_dir_all(book().join("pictures")).expect("made");
                fs::write(&stored, &made).expect("written");
            }
            // The last digit of a coordinate may differ; the number of lines, points and texts may not.
            let stored = fs::read_to_string(&stored).unwrap_or_default();
            let marks = |text: &str| text.matches('<').count();
            if marks(&made) != marks(&stored) {
                let _ = writeln!(problem, "pictures/{name} is not what the command makes");
            }
        }
    }
    assert!(problem.is_empty(), "\n{problem}");
    assert!(n_commands >= 20, "{n_commands} commands");
}
