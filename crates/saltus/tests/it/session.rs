//! Sessions: texts laid over files, worlds in memory, edits.

use saltus::{Memory, Session, World};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

const TANK: &str = "within Tanks; model Tank parameter Real a = 2; Real h(start = 1, fixed = true); equation der(h) = -a*h; end Tank;";
const PAIR: &str = "within Tanks; model Pair Tank first; Tank second(a = 3); end Pair;";

fn tanks() -> Memory {
    let mut world = Memory::default();
    world.add("/lib/Tanks/package.mo", "package Tanks end Tanks;");
    world.add("/lib/Tanks/Tank.mo", TANK);
    world.add("/lib/Tanks/Pair.mo", PAIR);
    world
}

/// Counts how often a file is read.
struct Counting {
    files: Memory,
    reads: Arc<AtomicUsize>,
}

impl World for Counting {
    fn read(&self, path: &str) -> Result<Vec<u8>, String> {
        self.reads.fetch_add(1, Ordering::Relaxed);
        self.files.read(path)
    }

    fn list(&self, path: &str) -> Result<Vec<(String, bool)>, String> {
        self.files.list(path)
    }

    fn is_file(&self, path: &str) -> bool {
        self.files.is_file(path)
    }

    fn stamp(&self, path: &str) -> Option<saltus::Stamp> {
        self.is_file(path).then_some(saltus::Stamp {
            bytes: 0,
            nanoseconds: 1,
        })
    }
}

#[test]
fn a_text_takes_the_place_of_a_file_of_a_library_until_it_is_removed() {
    let mut session = Session::with_world(tanks());
    session.add_library_path("/lib");
    let before = session.print_flat("Tanks.Pair").expect("correct");
    assert!(before.contains("first.h") && !before.contains("first.level"));
    session.set_text(
        "/lib/Tanks/../Tanks/Tank.mo",
        TANK.replace("Real h", "Real level")
            .replace("(h) = -a*h", "(level) = -a*level"),
    );
    let edited = session.print_flat("Tanks.Pair").expect("correct");
    assert!(
        edited.contains("first.level") && !edited.contains("first.h"),
        "{edited}"
    );
    assert!(session.remove("/lib/Tanks/Tank.mo"));
    assert!(!session.remove("/lib/Tanks/Tank.mo"));
    assert_eq!(session.print_flat("Tanks.Pair").expect("correct"), before);
}

#[test]
fn a_text_adds_a_class_and_a_folder_to_a_package() {
    let mut session = Session::with_world(tanks());
    session.add_library_path("/lib");
    assert_eq!(
        session.check("Tanks.Deep.Three").error_codes(),
        ["unknown-class"]
    );
    session.set_text(
        "/lib/Tanks/Deep/package.mo",
        "within Tanks; package Deep end Deep;",
    );
    session.set_text(
        "/lib/Tanks/Deep/Three.mo",
        "within Tanks.Deep; model Three Tank[3] tanks; end Three;",
    );
    let flat = session.print_flat("Tanks.Deep.Three").expect("correct");
    assert!(flat.contains("tanks[3].h"), "{flat}");
}

#[test]
fn files_that_did_not_change_are_read_once() {
    let reads = Arc::new(AtomicUsize::new(0));
    let mut session = Session::with_world(Counting {
        files: tanks(),
        reads: reads.clone(),
    });
    session.add_library_path("/lib");
    session.compile("Tanks.Pair").expect("correct");
    assert_eq!(reads.load(Ordering::Relaxed), 3);
    session.compile("Tanks.Pair").expect("correct");
    session.compile("Tanks.Tank").expect("correct");
    assert_eq!(reads.load(Ordering::Relaxed), 3);
}

#[test]
fn a_session_after_many_edits_equals_a_fresh_one() {
    let bodies = [
        "der(h) = -a*h;",
        "der(h) = -a*h + b;",
        "der(h) = -a*;",
        "der(h) = if h > 0.5 then -a else 0;",
        "h = 1; h = 2;",
    ];
    let text = |k: usize| TANK.replace("der(h) = -a*h;", bodies[k % bodies.len()]);
    let outcome = |session: &Session, class: &str| match session.print_structure(class) {
        Ok(printed) => printed,
        Err(error) => error.to_string(),
    };
    let mut session = Session::with_world(tanks());
    session.add_library_path("/lib");
    let mut number = 7usize;
    for edit in 0..200 {
        number = (number.wrapping_mul(1_103_515_245) + 12345) % (1 << 31);
        let k = number >> 16;
        let in_library = k.is_multiple_of(2);
        let path = if in_library {
            "/lib/Tanks/Tank.mo"
        } else {
            "top.mo"
        };
        let own = format!(
            "model Top Tanks.Pair pair; Real y = pair.first.h * {}; end Top;",
            k % 5
        );
        match (k % 7, in_library) {
            (0, _) => drop(session.remove(path)),
            (_, true) => drop(session.set_text(path, text(k))),
            (_, false) => drop(session.set_text(path, own.clone())),
        }
        if edit % 10 != 9 {
            continue;
        }
        let mut fresh = Session::with_world(tanks());
        fresh.add_library_path("/lib");
        for (path, text) in session.texts() {
            fresh.set_text(path, text);
        }
        for class in ["Tanks.Pair", "Top"] {
            assert_eq!(
                outcome(&session, class),
                outcome(&fresh, class),
                "edit {edit}"
            );
        }
    }
}

#[test]
fn threads_compile_in_one_session() {
    let mut session = Session::with_world(tanks());
    session.add_library_path("/lib");
    let printed = session.print_structure("Tanks.Pair").expect("correct");
    let others: Vec<String> = std::thread::scope(|scope| {
        let handles: Vec<_> = (0..4)
            .map(|_| scope.spawn(|| session.print_structure("Tanks.Pair").expect("correct")))
            .collect();
        handles
            .into_iter()
            .map(|h| h.join().expect("no panic"))
            .collect()
    });
    assert!(others.iter().all(|other| *other == printed));
}

#[test]
fn functions_of_a_model_read_the_files_of_its_world() {
    let mut world = Memory::default();
    world.add(
        "/lib/Data/package.mo",
        "package Data
           impure function readLine
             input String fileName; input Integer lineNumber; output String line; output Boolean endOfFile;
             external \"C\" line = ModelicaInternal_readLine(fileName, lineNumber, endOfFile);
           end readLine;
           model M Real x; initial equation x = if readLine(\"modelica://Data/value.txt\", 1) == \"seven\" then 7 else 0;
           equation der(x) = 0; end M;
         end Data;",
    );
    world.add("/lib/Data/value.txt", "seven\n");
    let mut session = Session::with_world(world);
    session.add_library_path("/lib");
    let model = session.compile("Data.M").unwrap_or_else(|e| panic!("{e}"));
    let run = model
        .experiment()
        .simulate()
        .unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(run.last("x").expect("x"), 7.0);
}

/// Resident memory of this process in megabytes; `None` where the system does not tell.
fn resident_mb() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: f64 = text.split_whitespace().nth(1)?.parse().ok()?;
    Some(pages * 4096.0 / 1e6)
}

/// Ten thousand random edits: texts set, broken, repaired and removed. The session says at every moment what a fresh one says, and does not grow.
#[test]
fn after_many_edits_a_session_is_a_fresh_one() {
    /// Room for what the other tests of this process use meanwhile.
    const GROWTH_MAX_MB: f64 = 200.0;
    let texts = |choice: usize| -> (&'static str, Option<String>) {
        let value = choice / 8 % 5;
        match choice % 8 {
            0 => (
                "/lib/Tanks/Tank.mo",
                Some(TANK.replace("a = 2", &format!("a = {value}"))),
            ),
            1 => (
                "/lib/Tanks/Tank.mo",
                Some(TANK.replace("-a*h", &format!("-a*h*b{value}"))),
            ),
            2 => ("/lib/Tanks/Tank.mo", Some(TANK.replace("end Tank", "end"))),
            3 => ("/lib/Tanks/Tank.mo", None),
            4 => (
                "/lib/Tanks/Pair.mo",
                Some(PAIR.replace("a = 3", &format!("a = {value}"))),
            ),
            5 => ("/lib/Tanks/Pair.mo", None),
            6 => (
                "/lib/Tanks/Extra.mo",
                Some(format!(
                    "within Tanks; model Extra Tank t(a = {value}); end Extra;"
                )),
            ),
            _ => ("/lib/Tanks/Extra.mo", None),
        }
    };
    let said = |session: &Session| {
        ["Tanks.Pair", "Tanks.Extra"].map(|class| {
            let flat = session.print_flat(class);
            (
                session.check(class).to_string(),
                flat.map_err(|e| e.to_string()),
            )
        })
    };
    let mut session = Session::with_world(tanks());
    session.add_library_path("/lib");
    let mut set: std::collections::BTreeMap<&str, String> = Default::default();
    let mut random: u64 = 7;
    let mut before = None;
    for edit in 0..10_000 {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        match texts((random >> 33) as usize) {
            (path, Some(text)) => {
                session.set_text(path, text.clone());
                set.insert(path, text);
            }
            (path, None) => {
                assert_eq!(session.remove(path), set.remove(path).is_some());
            }
        }
        if edit % 20 == 0 {
            session.check("Tanks.Pair");
        }
        if edit % 250 == 0 {
            let mut fresh = Session::with_world(tanks());
            fresh.add_library_path("/lib");
            for (path, text) in &set {
                fresh.set_text(path, text.clone());
            }
            assert_eq!(said(&session), said(&fresh), "after {edit} edits");
        }
        if edit == 2000 {
            before = resident_mb();
        }
    }
    if let (Some(before), Some(after)) = (before, resident_mb()) {
        assert!(
            after - before < GROWTH_MAX_MB,
            "{before} MB, then {after} MB"
        );
    }
}
