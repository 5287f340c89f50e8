//! Tests of `saltus-plot`: the SVG has the elements that a reader looks for.

use saltus_plot::{
    Line, LineStyle, ModeGraph, ModeNode, ModeTransition, PlotError, PlotOptions, Scale,
    TimelineRow, draw_modes, draw_timeline, plot_lines, plot_over_time, plot_phase,
};
use saltus_results::{ResultTable, Source, Variable};

/// A ball: parabolas in `x`, jumps in `v`.
fn ball() -> (ResultTable, Vec<f64>) {
    let (mut time, mut x, mut v) = (Vec::new(), Vec::new(), Vec::new());
    let mut events = Vec::new();
    let (mut start, mut height, mut speed) = (0.0, 1.0, 0.0_f64);
    for _ in 0..5 {
        let flight = (speed + (speed * speed + 2.0 * 9.81 * height).sqrt()) / 9.81;
        for i in 0..=40 {
            let t = flight * f64::from(i) / 40.0;
            time.push(start + t);
            x.push(height + speed * t - 0.5 * 9.81 * t * t);
            v.push(speed - 9.81 * t);
        }
        start += flight;
        events.push(start);
        speed = -0.85 * (speed - 9.81 * flight);
        height = 0.0;
    }
    let mut table = ResultTable::new(time);
    for (name, unit, values) in [("x", "m", x), ("v", "m/s", v)] {
        let id = table.push_series(values).unwrap();
        let mut variable = Variable::plain(Source::Series { id, negated: false });
        variable.unit = unit.into();
        table.push_variable(name, variable).unwrap();
    }
    table
        .push_variable("mu", Variable::plain(Source::Constant(0.85)))
        .unwrap();
    (table, events)
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|&n| n.to_owned()).collect()
}

fn count(svg: &str, what: &str) -> usize {
    svg.matches(what).count()
}

#[test]
fn a_picture_has_title_axes_legend_and_curves() {
    let (table, events) = ball();
    let options = PlotOptions {
        title: Some("Bouncing <ball>".into()),
        events,
        ..PlotOptions::default()
    };
    let svg = plot_over_time(&table, &names(&["x", "v"]), &options).unwrap();
    if let Some(path) = std::env::var_os("SALTUS_PLOT_TEST_OUT") {
        std::fs::write(path, &svg).unwrap();
    }
    assert!(svg.starts_with("<svg width=\"900\" height=\"530\" viewBox=\"0 0 9000 5300\""));
    assert!(svg.trim_end().ends_with("</svg>"));
    for text in [
        "Bouncing &lt;ball&gt;",
        "time [s]",
        "x [m]",
        "v [m/s]",
        "\u{2212}4",
    ] {
        assert!(svg.contains(text), "no {text}");
    }
    // Five pieces of `v`, one of `x` (it does not jump).
    assert_eq!(count(&svg, "stroke-width=\"18\""), 6);
    // Five event lines of their own colour in each of the two panels, metres and metres per second.
    assert_eq!(count(&svg, "#F5BE64"), 10);
}

#[test]
fn one_unit_for_all_stands_at_the_axis() {
    let (table, _) = ball();
    let svg = plot_over_time(&table, &names(&["x"]), &PlotOptions::default()).unwrap();
    assert!(svg.contains("\n[m]\n"));
    assert!(!svg.contains("x [m]"));
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    let (table, _) = ball();
    let draw = || plot_over_time(&table, &names(&["v", "mu"]), &PlotOptions::default()).unwrap();
    assert_eq!(draw(), draw());
}

#[test]
fn a_wrong_name_is_an_error_with_a_proposal() {
    let (mut table, _) = ball();
    let n = table.n_rows();
    table.push_column("inertia.w", vec![0.0; n]).unwrap();
    let error = plot_over_time(&table, &names(&["inertai.w"]), &PlotOptions::default());
    assert_eq!(
        error.unwrap_err().to_string(),
        "the result has no variable `inertai.w`; did you mean `inertia.w`?"
    );
}

#[test]
fn empty_and_meaningless_pictures_are_errors() {
    let (table, _) = ball();
    let options = PlotOptions::default();
    assert_eq!(
        plot_over_time(&table, &[], &options),
        Err(PlotError::Nothing)
    );
    let empty = ResultTable::new(Vec::new());
    assert_eq!(
        plot_over_time(&empty, &names(&["x"]), &options),
        Err(PlotError::Nothing)
    );
    let mut nan = ResultTable::new(vec![0.0, 1.0]);
    nan.push_column("x", vec![f64::NAN; 2]).unwrap();
    assert_eq!(
        plot_over_time(&nan, &names(&["x"]), &options),
        Err(PlotError::NotFinite)
    );
}

#[test]
fn values_of_any_size_are_drawn() {
    for values in [
        vec![0.0, 0.0],
        vec![1e300, -1e300],
        vec![1e-300, 2e-300],
        vec![5.0, f64::NAN],
        vec![f64::MAX, f64::MIN],
    ] {
        let mut table = ResultTable::new(vec![0.0, 1.0]);
        table.push_column("y", values).unwrap();
        let svg = plot_over_time(&table, &names(&["y"]), &PlotOptions::default()).unwrap();
        assert!(svg.contains("time [s]"));
    }
}

#[test]
fn a_long_run_makes_a_small_picture() {
    let n = 200_000;
    let time: Vec<f64> = (0..n).map(|i| f64::from(i) * 1e-5).collect();
    let y = time.iter().map(|t| (1e4 * t).sin()).collect();
    let mut table = ResultTable::new(time);
    table.push_column("y", y).unwrap();
    let svg = plot_over_time(&table, &names(&["y"]), &PlotOptions::default()).unwrap();
    assert!(svg.len() < 200_000, "{} bytes", svg.len());
}

#[test]
fn a_phase_plot_is_a_path_with_both_units() {
    let (table, _) = ball();
    let svg = plot_phase(&table, "x", &names(&["v"]), &PlotOptions::default()).unwrap();
    assert!(svg.contains("\nx [m]\n") && svg.contains("\n[m/s]\n"));
    // One line without breaks: jumps are part of the path.
    assert_eq!(count(&svg, "stroke-width=\"18\""), 1);
}

#[test]
fn lines_have_styles_and_decades() {
    let points: Vec<(f64, f64)> = (0..20)
        .map(|k| (f64::from(k), 10f64.powi(k - 15)))
        .collect();
    let line = |style| Line::new("h", "s", points.clone()).style(style);
    let options = PlotOptions {
        vertical: Scale::Logarithmic,
        ..PlotOptions::default()
    };
    let draw = |style| plot_lines(&[line(style)], &options).unwrap();
    assert!(draw(LineStyle::Solid).contains("10⁻¹⁵"));
    // A dot for each point, and one in the legend.
    assert_eq!(count(&draw(LineStyle::Points), "<circle"), 21);
    assert_eq!(count(&draw(LineStyle::Stems), "<circle"), 21);
    assert!(count(&draw(LineStyle::Dashed), "stroke-width=\"18\"") > 10);
}

#[test]
fn dark_screens_have_their_colours() {
    let (table, _) = ball();
    let svg = plot_over_time(&table, &names(&["x"]), &PlotOptions::default()).unwrap();
    assert_eq!(
        count(&svg, "@media screen and (prefers-color-scheme: dark)"),
        1
    );
}

#[test]
fn a_timeline_has_its_rows() {
    let rows = [
        TimelineRow {
            name: "valve <open>".into(),
            spans: vec![(0.0, 1.0), (2.0, 3.0)],
            ..TimelineRow::default()
        },
        TimelineRow {
            name: "events".into(),
            marks: vec![1.0, 2.0, 3.0],
            ..TimelineRow::default()
        },
    ];
    let svg = draw_timeline(&rows, &PlotOptions::default()).unwrap();
    assert!(svg.contains("valve &lt;open&gt;") && svg.contains("time [s]"));
    assert_eq!(count(&svg, "fill-opacity"), 2);
    assert_eq!(count(&svg, "stroke=\"#D55E00\" stroke-width"), 3);
    assert_eq!(
        draw_timeline(&[], &PlotOptions::default()),
        Err(PlotError::Nothing)
    );
}

#[test]
fn a_graph_of_modes_has_counts() {
    let mode = |name: &str, share| ModeNode {
        name: name.into(),
        share,
    };
    let transition = |from, to, count| ModeTransition {
        from,
        to,
        count,
        condition: String::new(),
    };
    let svg = draw_modes(&ModeGraph {
        title: "Modes".into(),
        modes: vec![mode("stick", 0.25), mode("slip", 0.75)],
        transitions: vec![transition(0, 1, 6), transition(1, 0, 0)],
    });
    for text in [">stick<", ">slip<", ">6×<", "25.0 % of the time"] {
        assert!(svg.contains(text), "no {text}");
    }
    // The transition that was never taken is dashed.
    assert_eq!(count(&svg, "stroke-dasharray"), 1);
}

#[cfg(feature = "png")]
#[test]
fn a_picture_becomes_a_png_with_ink_of_its_curve() {
    let (table, _) = ball();
    let svg = plot_over_time(&table, &names(&["x"]), &PlotOptions::default()).unwrap();
    let png = saltus_plot::to_png(&svg, 2.0).unwrap();
    assert!(png.starts_with(b"\x89PNG"));
    // Width and height in the header.
    let number = |at: usize| u32::from_be_bytes(png[at..at + 4].try_into().unwrap());
    assert_eq!((number(16), number(20)), (1800, 960));
    assert!(png.len() > 5_000, "{} bytes", png.len());
}
