//! Points and affine maps of the drawing plane. Modelica's y axis points up; pictures turn it over at the very end.

#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(crate) struct Point {
    pub(crate) x: f64,
    pub(crate) y: f64,
}

pub(crate) fn point(x: f64, y: f64) -> Point {
    Point { x, y }
}

/// Two opposite corners. The first may be right of or above the second: what is drawn inside is then mirrored.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Extent {
    pub(crate) from: Point,
    pub(crate) to: Point,
}

impl Extent {
    /// What a coordinate system has that says nothing (specification 18.6.1.1).
    pub(crate) const DEFAULT: Extent = Extent {
        from: Point {
            x: -100.0,
            y: -100.0,
        },
        to: Point { x: 100.0, y: 100.0 },
    };

    pub(crate) fn centre(&self) -> Point {
        point(
            (self.from.x + self.to.x) / 2.0,
            (self.from.y + self.to.y) / 2.0,
        )
    }

    pub(crate) fn corners(&self) -> [Point; 4] {
        let Extent { from, to } = *self;
        [from, point(to.x, from.y), to, point(from.x, to.y)]
    }

    /// Around points.
    pub(crate) fn around(points: impl IntoIterator<Item = Point>) -> Option<Extent> {
        points.into_iter().fold(None, |extent: Option<Extent>, p| {
            let extent = extent.unwrap_or(Extent { from: p, to: p });
            Some(Extent {
                from: point(extent.from.x.min(p.x), extent.from.y.min(p.y)),
                to: point(extent.to.x.max(p.x), extent.to.y.max(p.y)),
            })
        })
    }
}

/// `x' = a x + c y + e`, `y' = b x + d y + f`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Affine {
    a: f64,
    b: f64,
    c: f64,
    d: f64,
    e: f64,
    f: f64,
}

impl Affine {
    pub(crate) const IDENTITY: Affine = Affine {
        a: 1.0,
        b: 0.0,
        c: 0.0,
        d: 1.0,
        e: 0.0,
        f: 0.0,
    };

    pub(crate) fn translation(by: Point) -> Affine {
        Affine {
            e: by.x,
            f: by.y,
            ..Affine::IDENTITY
        }
    }

    fn scaling(x: f64, y: f64) -> Affine {
        Affine {
            a: x,
            d: y,
            ..Affine::IDENTITY
        }
    }

    /// Anticlockwise.
    pub(crate) fn rotation(degrees: f64) -> Affine {
        let (sin, cos) = degrees.to_radians().sin_cos();
        Affine {
            a: cos,
            b: sin,
            c: -sin,
            d: cos,
            ..Affine::IDENTITY
        }
    }

    /// First the other, then this one.
    pub(crate) fn after(self, first: Affine) -> Affine {
        let Affine { a, b, c, d, e, f } = first;
        Affine {
            a: self.a * a + self.c * b,
            b: self.b * a + self.d * b,
            c: self.a * c + self.c * d,
            d: self.b * c + self.d * d,
            e: self.a * e + self.c * f + self.e,
            f: self.b * e + self.d * f + self.f,
        }
    }

    pub(crate) fn of(&self, p: Point) -> Point {
        point(
            self.a * p.x + self.c * p.y + self.e,
            self.b * p.x + self.d * p.y + self.f,
        )
    }

    /// How much longer lines along x become, and along y.
    pub(crate) fn scales(&self) -> (f64, f64) {
        (self.a.hypot(self.b), self.c.hypot(self.d))
    }

    /// Of the x axis, anticlockwise, in degrees.
    pub(crate) fn angle(&self) -> f64 {
        self.b.atan2(self.a).to_degrees()
    }

    /// The map of a component's icon into the diagram around it (specification 18.6.4): `inner` comes to lie on `outer`, about the origin turned by the
    /// rotation. With `keep_ratio` the icon stays as wide as it is high, in the middle of `outer`.
    pub(crate) fn placement(
        inner: Extent,
        outer: Extent,
        origin: Point,
        rotation: f64,
        keep_ratio: bool,
    ) -> Affine {
        let share = |outer: f64, inner: f64| if inner == 0.0 { 1.0 } else { outer / inner };
        let mut x = share(outer.to.x - outer.from.x, inner.to.x - inner.from.x);
        let mut y = share(outer.to.y - outer.from.y, inner.to.y - inner.from.y);
        if keep_ratio {
            let least = x.abs().min(y.abs());
            (x, y) = (least.copysign(x), least.copysign(y));
        }
        let (from, to) = (inner.centre(), outer.centre());
        Affine::translation(origin)
            .after(Affine::rotation(rotation))
            .after(Affine::translation(to))
            .after(Affine::scaling(x, y))
            .after(Affine::translation(point(-from.x, -from.y)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(a: Point, b: Point) -> bool {
        (a.x - b.x).abs() < 1e-12 && (a.y - b.y).abs() < 1e-12
    }

    #[test]
    fn placements_mirror_scale_and_turn() {
        let outer = Extent {
            from: point(10.0, -10.0),
            to: point(-10.0, 10.0),
        };
        let map = Affine::placement(Extent::DEFAULT, outer, point(50.0, 0.0), 90.0, true);
        // The right edge is mirrored to the left, and turned to the bottom.
        assert!(near(map.of(point(100.0, 0.0)), point(50.0, -10.0)));
        assert!(near(map.of(point(0.0, 100.0)), point(40.0, 0.0)));
        let wide = Extent {
            from: point(0.0, 0.0),
            to: point(40.0, 20.0),
        };
        let map = Affine::placement(Extent::DEFAULT, wide, point(0.0, 0.0), 0.0, true);
        assert!(near(map.of(point(-100.0, -100.0)), point(10.0, 0.0)));
        let map = Affine::placement(Extent::DEFAULT, wide, point(0.0, 0.0), 0.0, false);
        assert!(near(map.of(point(-100.0, -100.0)), point(0.0, 0.0)));
    }
}
