//! `saltus export`

use std::fs;

use crate::{saltus_in, scratch};

const MODEL: &str = "model Lag \"A lag\"
  parameter Real T(unit = \"s\", min = 0) = 2 \"Time <constant>\";
  parameter Real k = 2*T;
  input Real u;
  output Real y(start = 0, fixed = true, unit = \"K\", displayUnit = \"degC\");
equation
  T*der(y) = u - y;
end Lag;";

/// Names of the entries of an archive, from its directory.
fn entries(archive: &[u8]) -> Vec<String> {
    let mark = b"PK\x01\x02";
    let starts = (0..archive.len().saturating_sub(46)).filter(|&k| archive[k..].starts_with(mark));
    starts
        .map(|k| {
            let length = usize::from(archive[k + 28]) + 256 * usize::from(archive[k + 29]);
            String::from_utf8_lossy(&archive[k + 46..k + 46 + length]).into_owned()
        })
        .collect()
}

#[test]
fn export_writes_an_fmu_with_the_library_inside() {
    let folder = scratch("export");
    fs::write(folder.join("Lag.mo"), MODEL).unwrap();
    for (version, platform) in [("2", "linux64"), ("3", "x86_64-linux")] {
        let ran = saltus_in(
            &folder,
            &["export", "Lag.mo", "--fmi", version, "-o", "lag.fmu"],
        );
        assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
        let archive = fs::read(folder.join("lag.fmu")).unwrap();
        let entries = entries(&archive);
        assert_eq!(entries.len(), 3);
        if cfg!(all(target_os = "linux", target_arch = "x86_64")) {
            assert_eq!(entries[1], format!("binaries/{platform}/Lag.so"));
        }
        assert_eq!(
            (entries[0].as_str(), entries[2].as_str()),
            ("modelDescription.xml", "resources/model.saltus")
        );
        assert!(archive.len() < 8_000_000, "{} bytes", archive.len());
        // The same input gives the same bytes.
        let again = saltus_in(
            &folder,
            &["export", "Lag.mo", "--fmi", version, "-o", "again.fmu"],
        );
        assert_eq!(again.exit, Some(0), "{}", again.stderr);
        assert!(archive == fs::read(folder.join("again.fmu")).unwrap());
    }
}

#[test]
fn export_refuses_what_it_cannot_write() {
    let folder = scratch("export-refuses");
    fs::write(folder.join("Lag.mo"), MODEL).unwrap();
    for (args, exit, says) in [
        (
            &["export", "Lag.mo", "--fmi", "1"][..],
            2,
            "possible values: 2, 3",
        ),
        (
            &["export", "Lag.mo", "--fmi", "2", "-o", "lag.zip"],
            2,
            "ends with .fmu",
        ),
        (
            &["export", "Lag.mo", "--fmi", "2", "--kind", "xx"],
            2,
            "possible values",
        ),
        (&["export", "Log.mo", "--fmi", "2"], 2, "Log.mo"),
        (&["export", "Lag.mo", "--fmi", "2", "--set", "T=-1"], 2, "T"),
    ] {
        let ran = saltus_in(&folder, args);
        assert_eq!(ran.exit, Some(exit), "{args:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(says), "{args:?}: {}", ran.stderr);
    }
}
