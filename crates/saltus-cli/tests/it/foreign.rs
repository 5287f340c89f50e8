//! External C functions: from source, from shared and static libraries, and what is said when they are missing.

use super::{Ran, saltus_in, saltus_with, scratch};
use std::fs;
use std::path::Path;
use std::process::Command;

/// Types of all kinds in and out, an external object, and functions in equations that need derivatives.
const MODEL: &str = r##"
package Ext
  class Gain
    extends ExternalObject;
    function constructor
      input Real k;
      output Gain g;
      external "C" g = gain_new(k) annotation(Include = "#include \"gain.c\"");
    end constructor;
    function destructor
      input Gain g;
      external "C" gain_free(g) annotation(Include = "#include \"gain.c\"");
    end destructor;
  end Gain;
  function gain
    input Gain g;
    input Real u;
    output Real y;
    external "C" y = gain_value(g, u) annotation(Include = "#include \"gain.c\"");
  end gain;
  type Side = enumeration(left, right);
  record Pair
    Integer n;
    Real x;
  end Pair;
  function types
    input Real a[:, :];
    input Integer k;
    input Boolean b;
    input String s;
    input Side side;
    input Pair pair;
    output Real sums[size(a, 1)];
    output Integer n;
    output Boolean flag;
    output String text;
    output Side other;
    output Pair twice;
    external "C" types(a, size(a, 1), size(a, 2), k, b, s, side, pair, sums, n, flag, text, other, twice)
      annotation(Include = {"#include <stddef.h>", "#include <string.h>", "
typedef struct { int n; double x; } Pair;
static void types(const double *a, size_t rows, size_t columns, int k, int b, const char *s, int side, const Pair *pair,
                  double *sums, int *n, int *flag, const char **text, int *other, Pair *twice) {
  for (size_t i = 0; i < rows; i++) {
    sums[i] = 0;
    for (size_t j = 0; j < columns; j++) sums[i] += a[columns*i + j];
  }
  *n = -k;
  *flag = !b;
  char *copy = ModelicaAllocateString(2*strlen(s));
  strcpy(copy, s);
  *text = strcat(copy, s);
  *other = 3 - side;
  twice->n = 2*pair->n;
  twice->x = 2*pair->x;
}"});
  end types;
  function cube
    input Real x;
    output Real y;
    external "C" y = cube(x) annotation(Include = "static double cube(double x) { return x*x*x; }");
  end cube;
  function square
    input Real x;
    output Real y;
    external "C" annotation(Include = "double square(double x) { return x*x; }");
    annotation(derivative = square_der);
  end square;
  function square_der
    input Real x;
    input Real x_der;
    output Real y_der;
  algorithm
    y_der := 2*x*x_der;
  end square_der;
  model M
    Gain g = Gain(3);
    Real x(start = 1, fixed = true);
    Real z(start = 1) "By Newton's method on the difference quotient";
    Real s = square(time);
    Real v = der(s) "By the derivative annotation";
    parameter Real sums[2](each fixed = false);
    parameter Integer n(fixed = false);
    parameter Boolean flag(fixed = false);
    parameter Side other(fixed = false);
    parameter Integer twice_n(fixed = false);
    parameter Real twice_x(fixed = false);
    String text;
    Pair twice;
  initial algorithm
    (sums, n, flag, text, other, twice) := types([1, 2, 3; 4, 5, 6], 7, false, "ab", Side.left, Pair(5, 0.25));
    twice_n := twice.n;
    twice_x := twice.x;
    assert(text == "abab", "text is " + text);
  equation
    der(x) = -gain(g, x);
    cube(z) = 1 + time;
    when false then
      text = "";
      twice = Pair(0, 0);
    end when;
  end M;
end Ext;
"##;

const GAIN: &str = r#"
#include <stdlib.h>
void *gain_new(double k) { double *g = malloc(sizeof *g); *g = k; return g; }
void gain_free(void *g) { free(g); }
double gain_value(void *g, double u) { return *(double *)g * u; }
"#;

fn has_compiler() -> bool {
    Command::new("cc").arg("--version").output().is_ok()
}

fn simulate(folder: &Path, class: &str) -> Ran {
    let args = [
        "simulate",
        "Ext.mo",
        "--allow-foreign",
        "--model",
        class,
        "--stop-time",
        "0.5",
        "--output",
        "out.csv",
    ];
    saltus_in(folder, &args)
}

/// The last value of a column.
fn last(folder: &Path, name: &str) -> f64 {
    let text = fs::read_to_string(folder.join("out.csv")).unwrap();
    let mut lines = text.lines();
    let head = lines.next().unwrap();
    let column = head
        .split(',')
        .position(|h| h.trim_matches('"') == name)
        .unwrap_or_else(|| panic!("{name} is in {head}"));
    let row = lines.next_back().unwrap();
    row.split(',').nth(column).unwrap().parse().unwrap()
}

#[test]
fn c_source_of_the_package_is_compiled_and_called() {
    let folder = scratch("foreign_source");
    fs::create_dir_all(folder.join("Resources/Include")).unwrap();
    fs::write(folder.join("Resources/Include/gain.c"), GAIN).unwrap();
    fs::write(folder.join("Ext.mo"), MODEL).unwrap();
    let ran = simulate(&folder, "Ext.M");
    if !has_compiler() {
        assert!(ran.stderr.contains("error[external-function-missing]"));
        return;
    }
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    let expected = [
        ("x", (-1.5_f64).exp(), 1e-5),
        ("z", 1.5_f64.cbrt(), 1e-7),
        ("s", 0.25, 1e-12),
        ("v", 1.0, 1e-12),
        ("sums[1]", 6.0, 0.0),
        ("sums[2]", 15.0, 0.0),
        ("n", -7.0, 0.0),
        ("flag", 1.0, 0.0),
        ("other", 2.0, 0.0),
        ("twice_n", 10.0, 0.0),
        ("twice_x", 0.5, 0.0),
    ];
    for (name, value, tolerance) in expected {
        let found = last(&folder, name);
        assert!(
            (found - value).abs() <= tolerance,
            "{name} is {found}, not {value}"
        );
    }
}

#[test]
fn without_a_compiler_the_error_says_so_and_how_to_cure_it() {
    let folder = scratch("foreign_no_compiler");
    fs::write(folder.join("Ext.mo"), MODEL).unwrap();
    let args = [
        "simulate",
        "Ext.mo",
        "--allow-foreign",
        "--model",
        "Ext.M",
        "--output",
        "out.csv",
    ];
    let ran = saltus_with(&folder, &args, &[("CC", "no-such-compiler")]);
    assert_ne!(ran.exit, Some(0));
    for part in [
        "error[external-function-missing]",
        "there is no C compiler (looked for no-such-compiler)",
        "install one",
        "`Library`",
        "Ext.mo:",
    ] {
        assert!(ran.stderr.contains(part), "{part} in\n{}", ran.stderr);
    }
}

fn library_model(name: &str, library: &str) -> String {
    format!(
        r#"
package Ext
  function triple
    input Real x;
    output Real y;
    external "C" y = {name}(x) annotation(Library = "{library}");
  end triple;
  model M
    Real y = triple(time);
  end M;
end Ext;
"#
    )
}

const TRIPLE: &str = r#"
void ModelicaFormatError(const char *, ...);
double triple(double x) {
    if (x > 0.4) ModelicaFormatError("%g is too much", x);
    return 3*x;
}
"#;

#[test]
fn libraries_are_found_in_the_folder_of_the_package() {
    if !has_compiler() {
        return;
    }
    for kind in ["shared", "static"] {
        let folder = scratch(&format!("foreign_library_{kind}"));
        let libraries = folder.join("Resources/Library");
        fs::create_dir_all(&libraries).unwrap();
        fs::write(folder.join("triple.c"), TRIPLE).unwrap();
        let made = libraries.join(if kind == "shared" {
            format!("libtriple{}", std::env::consts::DLL_SUFFIX)
        } else {
            "libtriple.a".into()
        });
        let run = |program: &str, args: &[&str]| {
            let ran = Command::new(program)
                .args(args)
                .current_dir(&folder)
                .status();
            assert!(ran.unwrap().success(), "{program} {args:?}");
        };
        let made = made.to_str().unwrap();
        if kind == "shared" {
            run("cc", &["-shared", "-fPIC", "-o", made, "triple.c"]);
        } else {
            run("cc", &["-c", "-fPIC", "triple.c"]);
            run("ar", &["rcs", made, "triple.o"]);
        }
        fs::write(folder.join("Ext.mo"), library_model("triple", "triple")).unwrap();
        let ran = simulate(&folder, "Ext.M");
        assert!(
            ran.stderr.contains("error[external-function-failed]")
                && ran.stderr.contains("is too much")
                && ran.stderr.contains("Ext.mo:9"),
            "{kind}: {}",
            ran.stderr
        );
        let args = [
            "simulate",
            "Ext.mo",
            "--allow-foreign",
            "--model",
            "Ext.M",
            "--stop-time",
            "0.25",
            "--output",
            "out.csv",
        ];
        let ran = saltus_in(&folder, &args);
        assert_eq!(ran.exit, Some(0), "{kind}: {}", ran.stderr);
        assert_eq!(last(&folder, "y"), 0.75, "{kind}");
        fs::write(folder.join("Ext.mo"), library_model("fourfold", "triple")).unwrap();
        let ran = simulate(&folder, "Ext.M");
        assert!(
            ran.stderr.contains("error[external-function-missing]")
                && ran.stderr.contains("fourfold"),
            "{kind}: {}",
            ran.stderr
        );
    }
}

#[test]
fn a_library_that_is_nowhere_is_named_with_the_folders() {
    let folder = scratch("foreign_nowhere");
    fs::write(
        folder.join("Ext.mo"),
        library_model("triple", "no-such-library"),
    )
    .unwrap();
    let ran = simulate(&folder, "Ext.M");
    assert_ne!(ran.exit, Some(0));
    for part in [
        "error[external-function-missing]",
        "`no-such-library`",
        "Resources/Library",
        "Ext.mo:9",
    ] {
        assert!(ran.stderr.contains(part), "{part} in\n{}", ran.stderr);
    }
}

#[test]
fn source_that_does_not_compile_quotes_the_compiler() {
    if !has_compiler() {
        return;
    }
    let folder = scratch("foreign_wrong_source");
    let text = library_model("triple", "x").replace(
        "Library = \"x\"",
        "Include = \"double tripel(double x) { return 3*x; }\"",
    );
    fs::write(folder.join("Ext.mo"), text).unwrap();
    let ran = simulate(&folder, "Ext.M");
    assert_ne!(ran.exit, Some(0));
    assert!(
        ran.stderr.contains("error[external-function-missing]") && ran.stderr.contains("tripel"),
        "{}",
        ran.stderr
    );
}

/// A table that a C function `usertab` holds, once by rows and once by columns.
const USER_TABLE: &str = r##"
package Ext
  class Table
    extends ExternalObject;
    function constructor
      input String name;
      output Table t;
      external "C" t = ModelicaStandardTables_CombiTable1D_init2("NoName", name, fill(0.0, 0, 2), 0, 2, {2, 3}, 2, 1, 1, false);
    end constructor;
    function destructor
      input Table t;
      external "C" ModelicaStandardTables_CombiTable1D_close(t);
    end destructor;
  end Table;
  function at
    input Table t;
    input Integer column;
    input Real u;
    output Real y;
    external "C" y = ModelicaStandardTables_CombiTable1D_getValue(t, column, u);
  end at;
  function bring
    output Real y;
    external "C" y = bring() annotation(Include = "
#include <string.h>
static double by_rows[] = {0, 1, 5,  1, 3, 4,  2, 9, 3};
static double by_columns[] = {0, 1, 2,  1, 3, 9,  5, 4, 3};
int usertab(char *name, int kind, int dim[], int *columns_first, double **table) {
  dim[0] = dim[1] = 3;
  *columns_first = strcmp(name, \"columns\") == 0;
  *table = *columns_first ? by_columns : by_rows;
  return kind == 1 && (*columns_first || strcmp(name, \"rows\") == 0) ? 0 : 1;
}
static double bring(void) { return 0; }
");
  end bring;
  model M
    Table rows = Table("rows");
    Table columns = Table("columns");
    Real a = at(rows, 1, 3*time);
    Real b = at(columns, 1, 3*time);
    Real c = at(columns, 2, 3*time);
    parameter Real brought(fixed = false);
  initial equation
    brought = bring();
  end M;
  model Unknown
    Table t = Table("other");
    Real a = at(t, 1, time) + bring();
  end Unknown;
  model Nowhere
    Table t = Table("rows");
    Real a = at(t, 1, time);
  end Nowhere;
end Ext;
"##;

#[test]
fn tables_come_from_c_code_that_another_function_brings() {
    let folder = scratch("foreign_user_table");
    fs::write(folder.join("Ext.mo"), USER_TABLE).unwrap();
    let ran = simulate(&folder, "Ext.Nowhere");
    assert_ne!(ran.exit, Some(0));
    let said = "no external function of the model includes C code";
    assert!(ran.stderr.contains(said), "{}", ran.stderr);
    let args = ["simulate", "Ext.mo", "--allow-foreign", "--model", "Ext.M"];
    let ran = saltus_with(&folder, &args, &[("CC", "no-such-compiler")]);
    assert_ne!(ran.exit, Some(0));
    for part in ["`usertab`", "there is no C compiler"] {
        assert!(ran.stderr.contains(part), "{part} in\n{}", ran.stderr);
    }
    if !has_compiler() {
        return;
    }
    let ran = simulate(&folder, "Ext.M");
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    // At 1.5, half way between 3 and 9, and between 4 and 3.
    for (name, value) in [("a", 6.0), ("b", 6.0), ("c", 3.5)] {
        assert!((last(&folder, name) - value).abs() < 1e-12, "{name}");
    }
    let ran = simulate(&folder, "Ext.Unknown");
    assert_ne!(ran.exit, Some(0));
    let said = "the function usertab has no table \"other\"";
    assert!(ran.stderr.contains(said), "{}", ran.stderr);
}
