//! Samples of distributions: at random, or one in each stratum (Latin hypercube). The same seed gives the same numbers everywhere.

/// What a number is drawn from.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Distribution {
    /// Between two numbers.
    Uniform(f64, f64),
    /// Its logarithm is uniform between those of two positive numbers.
    LogUniform(f64, f64),
    /// With mean and standard deviation.
    Normal(f64, f64),
}

/// How samples are drawn.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Sampling {
    /// Independent of each other.
    #[default]
    Random,
    /// Of each distribution one in each of as many strata of equal probability as there are samples, in random order (M. D. McKay and others, Technometrics 21, 1979).
    LatinHypercube,
}

impl Distribution {
    /// The number that is not exceeded with this probability.
    pub fn quantile(&self, p: f64) -> f64 {
        match *self {
            Distribution::Uniform(low, high) => low + (high - low) * p,
            Distribution::LogUniform(low, high) => low * (high / low).powf(p),
            Distribution::Normal(mean, deviation) => mean + deviation * normal_quantile(p),
        }
    }
}

/// `uniform(0, 1)`, `loguniform(1e-3, 1)`, `normal(5, 0.1)`
impl std::str::FromStr for Distribution {
    type Err = String;

    fn from_str(text: &str) -> Result<Distribution, String> {
        let wrong = || {
            format!(
                "`{text}`: expected uniform(low, high), loguniform(low, high) or normal(mean, deviation)"
            )
        };
        let (name, inside) = text.trim().split_once('(').ok_or_else(wrong)?;
        let inside = inside.strip_suffix(')').ok_or_else(wrong)?;
        let numbers: Result<Vec<f64>, _> = inside.split(',').map(|n| n.trim().parse()).collect();
        let numbers = numbers.map_err(|_| wrong())?;
        let &[a, b] = &numbers[..] else {
            return Err(wrong());
        };
        if !a.is_finite() || !b.is_finite() {
            return Err(wrong());
        }
        match name.trim() {
            "uniform" if a <= b => Ok(Distribution::Uniform(a, b)),
            "loguniform" if 0.0 < a && a <= b => Ok(Distribution::LogUniform(a, b)),
            "normal" if b >= 0.0 => Ok(Distribution::Normal(a, b)),
            "uniform" | "loguniform" | "normal" => {
                Err(format!("`{text}`: the numbers fit no such distribution"))
            }
            _ => Err(wrong()),
        }
    }
}

/// So many samples, each with a number for each distribution.
pub fn samples(of: &[Distribution], n: usize, how: Sampling, seed: u64) -> Vec<Vec<f64>> {
    let mut generator = Generator(seed);
    let mut strata: Vec<Vec<usize>> = Vec::new();
    if how == Sampling::LatinHypercube {
        for _ in of {
            let mut order: Vec<usize> = (0..n).collect();
            // Fisher and Yates.
            for k in (1..n).rev() {
                order.swap(k, generator.below(k + 1));
            }
            strata.push(order);
        }
    }
    (0..n)
        .map(|k| {
            (of.iter().enumerate())
                .map(|(d, distribution)| {
                    let p = generator.unit();
                    distribution.quantile(match how {
                        Sampling::Random => p,
                        Sampling::LatinHypercube => (strata[d][k] as f64 + p) / n as f64,
                    })
                })
                .collect()
        })
        .collect()
}

/// SplitMix64 (G. L. Steele, D. Lea, C. H. Flood, OOPSLA 2014).
struct Generator(u64);

impl Generator {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Between 0 and 1, neither of them.
    fn unit(&mut self) -> f64 {
        const BITS: u32 = 53;
        ((self.next() >> (64 - BITS)) as f64 + 0.5) / (1_u64 << BITS) as f64
    }

    fn below(&mut self, n: usize) -> usize {
        (self.unit() * n as f64) as usize % n
    }
}

/// Seven digits of the quantile of the standard normal distribution (M. J. Wichura, algorithm AS 241, Applied Statistics 37, 1988).
fn normal_quantile(p: f64) -> f64 {
    let q = p - 0.5;
    if q.abs() <= 0.425 {
        let r = 0.180_625 - q * q;
        let above =
            ((59.109_374_72 * r + 159.291_132_02) * r + 50.434_271_938) * r + 3.387_132_717_9;
        let below = ((67.187_563_6 * r + 78.757_757_664) * r + 17.895_169_469) * r + 1.0;
        return q * above / below;
    }
    let tail = if q < 0.0 { p } else { 1.0 - p };
    let r = (-tail.ln()).sqrt();
    let size = if r <= 5.0 {
        let r = r - 1.6;
        let above =
            ((0.170_238_211_03 * r + 1.306_728_481_6) * r + 2.756_815_39) * r + 1.423_437_277_7;
        above / ((0.120_211_329_75 * r + 0.737_001_642_5) * r + 1.0)
    } else {
        let r = r - 5.0;
        let above =
            ((0.017_337_203_997 * r + 0.428_682_943_37) * r + 3.081_226_386) * r + 6.657_905_115;
        above / ((0.012_258_202_635 * r + 0.241_978_942_25) * r + 1.0)
    };
    size.copysign(q)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_the_tables() {
        for (p, z) in [
            (0.5, 0.0),
            (0.975, 1.959_964),
            (0.001, -3.090_232),
            (1e-9, -5.997_807),
        ] {
            assert!((normal_quantile(p) - z).abs() < 2e-6, "{p}");
        }
        assert_eq!(Distribution::LogUniform(1.0, 100.0).quantile(0.5), 10.0);
    }

    #[test]
    fn each_stratum_has_one_sample() {
        let of = [
            Distribution::Uniform(0.0, 10.0),
            Distribution::Normal(0.0, 1.0),
        ];
        let drawn = samples(&of, 10, Sampling::LatinHypercube, 3);
        let mut strata: Vec<usize> = drawn.iter().map(|s| s[0] as usize).collect();
        strata.sort_unstable();
        assert_eq!(strata, (0..10).collect::<Vec<_>>());
        assert_eq!(drawn, samples(&of, 10, Sampling::LatinHypercube, 3));
        assert_ne!(drawn, samples(&of, 10, Sampling::LatinHypercube, 4));
        let many = samples(&of[..1], 4000, Sampling::Random, 1);
        let mean = many.iter().map(|s| s[0]).sum::<f64>() / 4000.0;
        assert!((mean - 5.0).abs() < 0.2, "{mean}");
    }
}
