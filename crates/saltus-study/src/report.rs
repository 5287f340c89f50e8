//! What a study hands over.

use std::fmt::Write;

use saltus_plot::{
    Line, ModeGraph, PlotOptions, Scale, TimelineRow, draw_modes, draw_timeline, plot_lines,
};

/// Tables, checks and pictures of a study.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    pub name: &'static str,
    pub title: &'static str,
    /// What it is about, and below the tables what is to be seen in them.
    pub introduction: String,
    pub remarks: Vec<String>,
    pub tables: Vec<Table>,
    pub checks: Vec<Check>,
    pub pictures: Vec<Picture>,
    /// Largest errors against exact values.
    pub measured: Vec<(String, f64)>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    pub title: String,
    pub header: Vec<String>,
    pub rows: Vec<Vec<String>>,
}

/// A number against what it should be.
#[derive(Clone, Debug, PartialEq)]
pub struct Check {
    pub what: String,
    pub found: f64,
    pub expected: f64,
    /// Largest difference.
    pub tolerance: f64,
}

impl Check {
    pub fn new(what: impl Into<String>, found: f64, expected: f64, tolerance: f64) -> Check {
        Check {
            what: what.into(),
            found,
            expected,
            tolerance,
        }
    }

    /// A number that must not be above a limit.
    pub fn at_most(what: impl Into<String>, found: f64, limit: f64) -> Check {
        Check::new(what, found, 0.0, limit)
    }

    pub fn holds(&self) -> bool {
        (self.found - self.expected).abs() <= self.tolerance
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    /// File name without folder.
    pub file: String,
    pub caption: String,
    pub svg: String,
}

fn options(caption: &str, horizontal: &str) -> PlotOptions {
    PlotOptions {
        title: Some(caption.to_owned()),
        horizontal: horizontal.to_owned(),
        ..PlotOptions::default()
    }
}

impl Table {
    pub fn new(title: impl Into<String>, header: &[&str]) -> Table {
        Table {
            title: title.into(),
            header: header.iter().map(|h| (*h).to_owned()).collect(),
            rows: Vec::new(),
        }
    }

    pub fn row<T: Into<String>>(&mut self, cells: impl IntoIterator<Item = T>) {
        let row: Vec<String> = cells.into_iter().map(Into::into).collect();
        assert_eq!(row.len(), self.header.len(), "a cell for every column");
        self.rows.push(row);
    }

    /// As Markdown, columns of equal width.
    pub fn markdown(&self) -> String {
        let width = |k: usize| {
            let cells = self.rows.iter().map(|row| row[k].chars().count());
            cells.fold(self.header[k].chars().count(), usize::max)
        };
        let widths: Vec<usize> = (0..self.header.len()).map(width).collect();
        let line = |cells: &[String]| {
            let mut text = String::from("|");
            for (cell, width) in cells.iter().zip(&widths) {
                // Writing to a String cannot fail.
                let _ = write!(text, " {cell:width$} |");
            }
            text.push('\n');
            text
        };
        let rule: String = widths
            .iter()
            .map(|w| format!("{}|", "-".repeat(w + 2)))
            .collect();
        let mut text = format!("### {}\n\n{}|{rule}\n", self.title, line(&self.header));
        for row in &self.rows {
            text.push_str(&line(row));
        }
        text
    }
}

impl Report {
    pub fn new(name: &'static str, title: &'static str, introduction: impl Into<String>) -> Report {
        Report {
            name,
            title,
            introduction: introduction.into(),
            remarks: Vec::new(),
            tables: Vec::new(),
            checks: Vec::new(),
            pictures: Vec::new(),
            measured: Vec::new(),
        }
    }

    /// A report of a study that could not be done.
    pub(crate) fn of_failure(name: &'static str, why: String) -> Report {
        let mut report = Report::new(name, name, why.clone());
        report.checks.push(Check::new(why, f64::NAN, 0.0, 0.0));
        report
    }

    /// A picture of lines through points. Lines without a finite point are a mistake of the study.
    pub(crate) fn draw<L: Clone + Into<Line>>(
        &mut self,
        file: &str,
        caption: &str,
        horizontal: &str,
        lines: &[L],
        events: Vec<f64>,
    ) {
        let options = PlotOptions {
            events,
            ..options(caption, horizontal)
        };
        let svg = plot_lines(lines, &options).expect("a study draws what it has computed");
        self.picture(file, caption, svg);
    }

    /// As [`Report::draw`], in decades.
    pub(crate) fn draw_decades<L: Clone + Into<Line>>(
        &mut self,
        file: &str,
        caption: &str,
        horizontal: &str,
        lines: &[L],
    ) {
        let options = PlotOptions {
            vertical: Scale::Logarithmic,
            ..options(caption, horizontal)
        };
        let svg = plot_lines(lines, &options).expect("a study draws what it has computed");
        self.picture(file, caption, svg);
    }

    pub(crate) fn draw_timeline(&mut self, file: &str, caption: &str, rows: &[TimelineRow]) {
        let svg = draw_timeline(rows, &options(caption, "time [s]"))
            .expect("a study draws what has happened");
        self.picture(file, caption, svg);
    }

    pub(crate) fn draw_modes(&mut self, file: &str, graph: &ModeGraph) {
        let svg = draw_modes(graph);
        self.picture(file, &graph.title, svg);
    }

    fn picture(&mut self, file: &str, caption: &str, svg: String) {
        self.pictures.push(Picture {
            file: format!("{}-{file}.svg", self.name),
            caption: caption.to_owned(),
            svg,
        });
    }

    /// Times found against the exact ones: their number, and the largest error, which is returned.
    pub(crate) fn check_times(
        &mut self,
        what: &str,
        found: &[f64],
        exact: &[f64],
        tolerance: f64,
    ) -> f64 {
        self.checks.push(Check::new(
            format!("{what}: number"),
            found.len() as f64,
            exact.len() as f64,
            0.0,
        ));
        let errors = found.iter().zip(exact).map(|(f, e)| (f - e).abs());
        self.check_errors(&format!("{what} [s]"), errors, tolerance)
    }

    /// The largest of some errors, which is returned.
    pub(crate) fn check_errors(
        &mut self,
        what: &str,
        errors: impl Iterator<Item = f64>,
        tolerance: f64,
    ) -> f64 {
        let worst = errors.fold(0.0, |worst: f64, error| match error.is_nan() {
            true => f64::INFINITY,
            false => worst.max(error),
        });
        self.measured.push((what.to_owned(), worst));
        let check = Check::at_most(format!("{what}: largest error"), worst, tolerance);
        self.checks.push(check);
        worst
    }

    pub fn failed(&self) -> impl Iterator<Item = &Check> {
        self.checks.iter().filter(|check| !check.holds())
    }

    /// The checks as a table.
    pub fn check_table(&self) -> Table {
        let mut table = Table::new("Checks", &["number", "found", "expected", "allowed", ""]);
        for check in &self.checks {
            table.row([
                check.what.clone(),
                format!("{:.12e}", check.found),
                format!("{:.12e}", check.expected),
                format!("{:.1e}", check.tolerance),
                if check.holds() { "holds" } else { "FAILS" }.to_owned(),
            ]);
        }
        table
    }

    /// The page of the study. Pictures are referred to by their file names.
    pub fn markdown(&self) -> String {
        let mut text = format!("# {}\n\n{}\n\n", self.title, self.introduction);
        for table in &self.tables {
            let _ = writeln!(text, "{}", table.markdown());
        }
        for remark in &self.remarks {
            let _ = writeln!(text, "- {remark}");
        }
        if !self.remarks.is_empty() {
            text.push('\n');
        }
        for picture in &self.pictures {
            let _ = writeln!(text, "![{}]({})\n", picture.caption, picture.file);
        }
        if !self.measured.is_empty() {
            text.push_str("Measured errors:\n\n");
            for (what, error) in &self.measured {
                let _ = writeln!(text, "- {what}: {error:.1e}");
            }
            text.push('\n');
        }
        let _ = writeln!(text, "{}", self.check_table().markdown());
        let _ = writeln!(text, "Made by `saltus study {}`.", self.name);
        text
    }
}
