//! The pieces on which distances are measured.

/// A piece between two neighbouring grid times inside one row interval of the curve inside.
#[derive(Clone, Copy)]
pub(super) struct Piece {
    /// The rows around it are `row` and `row + 1`.
    pub(super) row: usize,
    pub(super) start: f64,
    pub(super) end: f64,
}

/// The pieces on which every signal of a pair of tables is measured; the times are the same for all.
pub(super) struct Grid {
    pub(super) pieces: Vec<Piece>,
    pub(super) dt: f64,
}

impl Grid {
    /// For a curve with the times `inside` in the tube around one with the times `around`, from one time to another.
    pub(super) fn new(inside: &[f64], around: &[f64], (from, to): (f64, f64), dt: f64) -> Grid {
        let mut corners: Vec<f64> = Vec::with_capacity(3 * around.len());
        for &t in around {
            corners.extend([t - dt, t, t + dt]);
        }
        corners.sort_by(f64::total_cmp);
        corners.dedup();

        let mut pieces = Vec::with_capacity(corners.len() + inside.len());
        let mut corner = 0;
        for row in 0..inside.len().saturating_sub(1) {
            let start = inside[row].max(from);
            let end = inside[row + 1].min(to);
            // Rows of equal time have no duration, but they bound pieces that have.
            if start >= end {
                continue;
            }
            let mut from = start;
            while corner < corners.len() && corners[corner] <= from {
                corner += 1;
            }
            while corner < corners.len() && corners[corner] < end {
                pieces.push(Piece {
                    row,
                    start: from,
                    end: corners[corner],
                });
                from = corners[corner];
                corner += 1;
            }
            pieces.push(Piece {
                row,
                start: from,
                end,
            });
        }
        Grid { pieces, dt }
    }
}
