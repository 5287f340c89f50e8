//! The memory of one `delay(expr, T)`: the past of `expr` at accepted points.
//!
//! Points are appended after each accepted step and at both sides of an event; two points of equal time are a jump. Between
//! points of one smooth piece the value is a cubic Hermite polynomial whose slopes come from the parabola through three
//! neighbouring points (two at the ends of a piece, where it is then linear or a parabola). Before the first point the value
//! is that of the first point (specification 3.7.4.1).

#[derive(Clone, Debug, Default)]
pub(crate) struct DelayBuffer {
    /// Times never decrease.
    points: Vec<(f64, f64)>,
    /// Jump times that are still to come out, in order.
    jumps: Vec<f64>,
}

/// Points older than what can be asked for are dropped in batches of at least this many.
const DROP_BATCH: usize = 1024;

impl DelayBuffer {
    pub(crate) fn clear(&mut self) {
        self.points.clear();
        self.jumps.clear();
    }

    /// Appends the value at an accepted point. After an event the value may differ from the one before at the same time.
    pub(crate) fn append(&mut self, time: f64, value: f64, after_event: bool, longest: f64) {
        if let Some(&(last, before)) = self.points.last() {
            if time < last {
                return;
            }
            if time == last {
                // At the very start the last value counts: nothing was before.
                if self.points.len() > 1 && after_event && value != before {
                    let fresh =
                        self.points.len() < 2 || self.points[self.points.len() - 2].0 < time;
                    if fresh {
                        self.points.push((time, value));
                        self.jumps.push(time);
                    } else if let Some(point) = self.points.last_mut() {
                        point.1 = value;
                    }
                } else if let Some(point) = self.points.last_mut() {
                    point.1 = value;
                }
                return;
            }
        }
        self.points.push((time, value));
        let keep_from = self.points.partition_point(|p| p.0 < time - longest);
        if keep_from > DROP_BATCH {
            // Two more points on the left serve the slopes.
            self.points.drain(..keep_from - 3);
            self.jumps.retain(|&t| t >= time - longest);
        }
    }

    /// The value at `now - delay`; `current` is the value of the expression now.
    pub(crate) fn value(&self, now: f64, delay: f64, current: f64) -> f64 {
        let t = now - delay;
        let Some(&(first, start)) = self.points.first() else {
            return current;
        };
        if delay <= 0.0 {
            return current;
        }
        if t <= first {
            return start;
        }
        // Last point with time ≤ t: at a jump this is its right side.
        let i = self.points.partition_point(|p| p.0 <= t) - 1;
        let (t0, y0) = self.points[i];
        if t == t0 {
            return y0;
        }
        let Some(&(t1, y1)) = self.points.get(i + 1) else {
            // Inside the present step: on the line to the present value.
            return if now > t0 {
                y0 + (current - y0) * ((t - t0) / (now - t0))
            } else {
                y0
            };
        };
        let secant = (y1 - y0) / (t1 - t0);
        let slope_left = match i.checked_sub(1).map(|k| self.points[k]) {
            Some((t, y)) if t < t0 => parabola_slope((t, y), (t0, y0), (t1, y1)),
            _ => secant,
        };
        let slope_right = match self.points.get(i + 2) {
            Some(&(t, y)) if t > t1 => parabola_slope((t, y), (t1, y1), (t0, y0)),
            _ => secant,
        };
        let h = t1 - t0;
        let s = (t - t0) / h;
        let (s2, s3) = (s * s, s * s * s);
        // In this form a constant past comes out as the same constant, to the last bit.
        y0 + (y1 - y0) * (3.0 * s2 - 2.0 * s3)
            + h * slope_left * (s3 - 2.0 * s2 + s)
            + h * slope_right * (s3 - s2)
    }

    /// The next time after `now` at which a jump of the past comes out, for a constant delay.
    pub(crate) fn next_jump(&self, now: f64, delay: f64) -> f64 {
        self.jumps
            .iter()
            .map(|t| t + delay)
            .find(|&t| t > now)
            .unwrap_or(f64::INFINITY)
    }
}

/// Slope at `b` of the parabola through three points.
fn parabola_slope(a: (f64, f64), b: (f64, f64), c: (f64, f64)) -> f64 {
    let (ha, hc) = (b.0 - a.0, c.0 - b.0);
    let (sa, sc) = ((b.1 - a.1) / ha, (c.1 - b.1) / hc);
    (sa * hc + sc * ha) / (ha + hc)
}
