//! Tests of `saltus-results`, in one binary.

mod compare;
mod csv;
mod disk;
mod foreign;
mod log;
mod mat;
mod recorder;
mod recover;
mod stream;
mod table;

use saltus_results::{ResultTable, Source, Variable, VariableKind};

/// A small table with everything a file format must keep: an event (two rows of one time), an alias with sign, a
/// parameter, units, a name with odd characters.
fn sample_table() -> ResultTable {
    let mut table = ResultTable::new(vec![0.0, 0.1, 0.1, 0.3]);
    let id = table.push_series(vec![1.0, 0.5, -0.425, 1e-300]).unwrap();
    let other = table.push_series(vec![1.0, 1.0, 0.0, 0.0]).unwrap();
    let mut x = Variable::plain(Source::Series { id, negated: false });
    x.description = "position".into();
    x.unit = "m".into();
    table.push_variable("x", x).unwrap();
    let mut phi = Variable::plain(Source::Series { id, negated: true });
    phi.unit = "rad".into();
    phi.display_unit = "deg".into();
    table.push_variable("frame.phi[1,2]", phi).unwrap();
    let mut mu = Variable::plain(Source::Constant(0.85));
    mu.kind = VariableKind::Parameter;
    mu.description = "restitution".into();
    table.push_variable("mu", mu).unwrap();
    table
        .push_variable(
            "'say \"hé\"'",
            Variable::plain(Source::Series {
                id: other,
                negated: false,
            }),
        )
        .unwrap();
    table
}
