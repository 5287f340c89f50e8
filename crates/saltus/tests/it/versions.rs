//! Which version of a library is taken, on disk.

use saltus::Session;
use std::path::PathBuf;

/// A folder with packages `Lib <version>` whose constant `number` tells them apart.
fn libraries(test: &str, versions: &[(&str, u32)]) -> PathBuf {
    let root = std::env::temp_dir().join(format!("saltus-versions-{}-{test}", std::process::id()));
    for (version, number) in versions {
        let folder = root.join(format!("Lib {version}"));
        std::fs::create_dir_all(&folder).expect("the folder can be made");
        let text = format!(
            "package Lib constant Integer number = {number}; annotation(version = \"{version}\", conversion(noneFromVersion = \"1.5.0\")); end Lib;"
        );
        std::fs::write(folder.join("package.mo"), text).expect("the file can be written");
    }
    root
}

/// The number of the library that a model with this annotation sees, or the codes of the errors.
fn number(test: &str, versions: &[(&str, u32)], annotation: &str) -> Result<f64, Vec<String>> {
    let root = libraries(test, versions);
    let mut session = Session::new();
    session.add_library_path(&root);
    session.set_text(
        "M.mo",
        format!("model M Real x = Lib.number + 0*time; {annotation} end M;"),
    );
    let compiled = session.compile("M");
    std::fs::remove_dir_all(&root).expect("the folder can be removed");
    match compiled {
        Ok(model) => {
            let run = model.experiment().simulate().expect("the model runs");
            Ok(run.last("x").expect("x is in the result"))
        }
        Err(saltus::Error::Model(diagnostics)) => Err(diagnostics
            .error_codes()
            .into_iter()
            .map(str::to_owned)
            .collect()),
        Err(error) => panic!("{error}"),
    }
}

const THREE: [(&str, u32); 3] = [("1.0.0", 1), ("9.0.0", 9), ("10.0.0", 10)];

#[test]
fn the_version_that_is_asked_for_is_taken() {
    let uses = r#"annotation(uses(Lib(version = "1.0.0")));"#;
    assert_eq!(number("asked", &THREE, uses), Ok(1.0));
}

#[test]
fn without_a_wish_the_newest_is_taken() {
    assert_eq!(number("newest", &THREE, ""), Ok(10.0));
}

#[test]
fn a_version_that_needs_no_conversion_fits() {
    let uses = r#"annotation(uses(Lib(version = "1.5.0")));"#;
    assert_eq!(number("fits", &THREE, uses), Ok(10.0));
}

#[test]
fn another_version_is_an_error() {
    let uses = r#"annotation(uses(Lib(version = "7.0.0")));"#;
    let expected = Err(vec!["library-version".to_owned()]);
    assert_eq!(number("error", &THREE, uses), expected);
}

/// Folders without versions in their names, as repositories have them: the one that takes texts for the version is found behind another.
#[test]
fn a_version_that_needs_no_conversion_is_found_in_a_later_folder() {
    let number = |test: &str, wish: &str| {
        let name = format!("saltus-versions-{}-{test}", std::process::id());
        let root = std::env::temp_dir().join(name);
        let mut session = Session::new();
        for (folder, version, none, number) in
            [("new", "4.1.0", "4.0.0", 4), ("old", "3.2.3", "3.2.2", 3)]
        {
            let folder = root.join(folder);
            std::fs::create_dir_all(folder.join("Lib")).expect("the folder can be made");
            let text = format!(
                "package Lib constant Integer number = Part.number; annotation(version = \"{version}\", uses(Part(version = \"{version}\")), conversion(noneFromVersion = \"{none}\")); end Lib;"
            );
            let part = format!(
                "package Part constant Integer number = {number}; annotation(version = \"{version}\"); end Part;"
            );
            std::fs::write(folder.join("Lib/package.mo"), text).expect("the file can be written");
            std::fs::write(folder.join("Part.mo"), part).expect("the file can be written");
            session.add_library_path(&folder);
        }
        let annotation = format!("annotation(uses(Lib(version = \"{wish}\")));");
        session.set_text(
            "M.mo",
            format!("model M Real x = Lib.number + 0*time; {annotation} end M;"),
        );
        let compiled = session.compile("M");
        std::fs::remove_dir_all(&root).expect("the folder can be removed");
        let run = compiled.expect("a library fits").experiment().simulate();
        run.expect("the model runs")
            .last("x")
            .expect("x is in the result")
    };
    assert_eq!(number("later", "3.2.2"), 3.0);
    assert_eq!(number("same", "3.2.3"), 3.0);
    assert_eq!(number("first", "4.0.0"), 4.0);
}
