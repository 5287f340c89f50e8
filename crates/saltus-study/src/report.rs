//! What a study hands over.

use std::fmt::Write;

use saltus_plot::{PlotOptions, plot_lines};

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
        }
    }

    /// A picture of lines through points. Lines without a finite point are a mistake of the study.
    pub(crate) fn draw(
        &mut self,
        file: &str,
        caption: &str,
        horizontal: &str,
        lines: &[(String, Vec<(f64, f64)>)],
        events: Vec<f64>,
    ) {
        let options = PlotOptions {
            title: Some(caption.to_owned()),
            events,
            horizontal: horizontal.to_owned(),
            ..PlotOptions::default()
        };
        let svg = plot_lines(lines, &options).expect("a study draws what it has computed");
        self.pictures.push(Picture {
            file: format!("{}-{file}.svg", self.name),
            caption: caption.to_owned(),
            svg,
        });
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
        let _ = writeln!(text, "{}", self.check_table().markdown());
        let _ = writeln!(text, "Made by `saltus study {}`.", self.name);
        text
    }
}
