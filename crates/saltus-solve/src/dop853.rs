//! DOP853: the explicit method of order 8 with twelve stages of Dormand and Prince as revised by Hairer, Nørsett and Wanner, with
//! error estimates of order 5 and 3 combined, and their dense output of order 7 (Solving ODEs I, II.5, II.6 and II.10). For tight tolerances.
//!
//! A step costs eleven evaluations and one at its end when it is accepted; the interpolant needs three more, which are made only when it is asked for.

use crate::control::{Control, Law};
use crate::error::SolveError;
use crate::explicit::{AlternatingOutput, StageRows, StiffnessDetector, stage_rows};
use crate::integrator::{IntegratorStatistics, Problem, SolverName};
use crate::one_step::{Attempt, LastInterval, OneStep, OneStepMethod, Point, Trial};
use crate::scale::Tolerances;

/// Nodes of k1..k16; k13 is the derivative at the end.
const C: [f64; 16] = [
    0.0,
    0.052_600_151_958_767_73,
    0.078_900_227_938_151_6,
    0.118_350_341_907_227_4,
    0.281_649_658_092_772_6,
    1.0 / 3.0,
    0.25,
    4.0 / 13.0,
    127.0 / 195.0,
    0.6,
    6.0 / 7.0,
    1.0,
    1.0,
    0.1,
    0.2,
    7.0 / 9.0,
];
const A2: [f64; 1] = [0.052_600_151_958_767_73];
const A3: [f64; 2] = [0.019_725_056_984_537_9, 0.059_175_170_953_613_7];
const A4: [f64; 3] = [0.029_587_585_476_806_85, 0.0, 0.088_762_756_430_420_54];
const A5: [f64; 4] = [
    0.241_365_134_159_266_7,
    0.0,
    -0.884_549_479_328_286_1,
    0.924_834_003_261_792,
];
const A6: [f64; 5] = [
    0.037_037_037_037_037_035,
    0.0,
    0.0,
    0.170_828_608_729_473_86,
    0.125_467_687_566_822_42,
];
const A7: [f64; 6] = [
    0.037_109_375,
    0.0,
    0.0,
    0.170_252_211_019_544_05,
    0.060_216_538_980_455_96,
    -0.017_578_125,
];
const A8: [f64; 7] = [
    0.037_092_000_118_504_79,
    0.0,
    0.0,
    0.170_383_925_712_239_98,
    0.107_262_030_446_373_28,
    -0.015_319_437_748_624_402,
    0.008_273_789_163_814_023,
];
const A9: [f64; 8] = [
    0.624_110_958_716_075_7,
    0.0,
    0.0,
    -3.360_892_629_446_941_4,
    -0.868_219_346_841_726,
    27.592_099_699_446_71,
    20.154_067_550_477_894,
    -43.489_884_181_069_96,
];
const A10: [f64; 9] = [
    0.477_662_536_438_264_34,
    0.0,
    0.0,
    -2.488_114_619_971_667_7,
    -0.590_290_826_836_843,
    21.230_051_448_181_193,
    15.279_233_632_882_423,
    -33.288_210_968_984_86,
    -0.020_331_201_708_508_627,
];
const A11: [f64; 10] = [
    -0.937_142_430_085_987_3,
    0.0,
    0.0,
    5.186_372_428_844_064,
    1.091_437_348_996_729_5,
    -8.149_787_010_746_927,
    -18.520_065_659_996_96,
    22.739_487_099_350_505,
    2.493_605_552_679_652_3,
    -3.046_764_471_898_219_6,
];
const A12: [f64; 11] = [
    2.273_310_147_516_538,
    0.0,
    0.0,
    -10.534_495_466_737_25,
    -2.000_872_058_224_862_5,
    -17.958_931_863_118_8,
    27.948_884_529_419_96,
    -2.858_998_277_135_023_5,
    -8.872_856_933_530_63,
    12.360_567_175_794_303,
    0.643_392_746_015_763_6,
];
/// Weights of order 8 for k1..k12.
const B: [f64; 12] = [
    0.054_293_734_116_568_765,
    0.0,
    0.0,
    0.0,
    0.0,
    4.450_312_892_752_409,
    1.891_517_899_314_500_3,
    -5.801_203_960_010_585,
    0.311_164_366_957_819_9,
    -0.152_160_949_662_516_1,
    0.201_365_400_804_030_34,
    0.044_710_615_727_772_59,
];
/// The three stages of the dense output.
const A14: [f64; 13] = [
    0.056_167_502_283_047_954,
    0.0,
    0.0,
    0.0,
    0.0,
    0.0,
    0.253_500_210_216_624_83,
    -0.246_239_037_470_802_5,
    -0.124_191_423_263_816_37,
    0.153_291_798_278_765_68,
    0.008_201_052_295_634_69,
    0.007_567_897_660_545_699,
    -0.008_298,
];
const A15: [f64; 14] = [
    0.031_834_648_163_502_14,
    0.0,
    0.0,
    0.0,
    0.0,
    0.028_300_909_672_366_776,
    0.053_541_988_307_438_566,
    -0.054_923_748_571_390_99,
    0.0,
    0.0,
    -0.000_108_347_328_697_249_32,
    0.000_382_571_090_835_658_4,
    -0.000_340_465_008_687_404_56,
    0.141_312_443_674_632_5,
];
const A16: [f64; 15] = [
    -0.428_896_301_583_791_94,
    0.0,
    0.0,
    0.0,
    0.0,
    -4.697_621_415_361_164,
    7.683_421_196_062_599,
    4.068_989_818_397_11,
    0.356_727_187_455_281_1,
    0.0,
    0.0,
    0.0,
    -0.001_399_024_165_159_014_5,
    2.947_514_789_152_772_4,
    -9.150_958_472_179_87,
];
/// Error estimate of order 5, k1..k12.
const E5: [f64; 12] = [
    0.013_120_044_994_194_88,
    0.0,
    0.0,
    0.0,
    0.0,
    -1.225_156_446_376_204_4,
    -0.495_758_949_657_250_2,
    1.664_377_182_454_986_4,
    -0.350_328_848_749_973_66,
    0.334_179_118_713_017_5,
    0.081_923_206_485_115_71,
    -0.022_355_307_863_886_294,
];
/// Dense output, k1..k16.
const D: [[f64; 16]; 4] = [
    [
        -8.428_938_276_109_013,
        0.0,
        0.0,
        0.0,
        0.0,
        0.566_714_953_519_377_7,
        -3.068_949_945_949_891_7,
        2.384_667_656_512_07,
        2.117_034_582_445_028,
        -0.871_391_583_777_973,
        2.240_437_430_260_788_3,
        0.631_578_778_769_468_8,
        -0.088_990_336_451_333_31,
        18.148_505_520_854_727,
        -9.194_632_392_478_356,
        -4.436_036_387_594_894,
    ],
    [
        10.427_508_642_579_134,
        0.0,
        0.0,
        0.0,
        0.0,
        242.283_491_775_258_17,
        165.200_451_717_270_28,
        -374.546_754_722_690_2,
        -22.113_666_853_125_306,
        7.733_432_668_472_264,
        -30.674_084_731_089_398,
        -9.332_130_526_430_229,
        15.697_238_121_770_845,
        -31.139_403_219_565_178,
        -9.352_924_358_844_48,
        35.816_841_486_394_08,
    ],
    [
        19.985_053_242_002_433,
        0.0,
        0.0,
        0.0,
        0.0,
        -387.037_308_749_351_8,
        -189.178_138_195_167_58,
        527.808_159_205_423_6,
        -11.573_902_539_959_63,
        6.881_232_694_696_3,
        -1.000_605_096_691_083_8,
        0.777_713_779_805_344_3,
        -2.778_205_752_353_508,
        -60.196_695_231_264_12,
        84.320_405_506_677_16,
        11.992_291_136_182_79,
    ],
    [
        -25.693_933_462_703_75,
        0.0,
        0.0,
        0.0,
        0.0,
        -154.189_748_690_236_43,
        -231.529_379_176_045_5,
        357.639_117_910_614_1,
        93.405_324_183_624_32,
        -37.458_323_136_451_63,
        104.099_649_508_962_3,
        29.840_293_426_660_5,
        -43.533_456_590_011_14,
        96.324_553_959_188_28,
        -39.177_261_675_615_44,
        -149.726_836_257_985_64,
    ],
];
/// Weights of the second error estimate, of order 3, on k1, k9 and k12.
const B3: [(usize, f64); 3] = [
    (0, 0.244_094_488_188_976_4),
    (8, 0.733_846_688_281_611_8),
    (11, 0.022_058_823_529_411_766),
];

/// Size of h·λ from which stability limits the step: three quarters of the boundary on the negative real axis that the source uses, because the
/// controller holds the step a little inside it.
const STABILITY_BOUNDARY: f64 = 0.75 * 6.1;

/// The integrator.
pub type Dop853 = OneStep<Dop853Method>;

#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Dop853Method {
    k: [Vec<f64>; 16],
    /// Argument of the stage evaluated last.
    argument: Vec<f64>,
    /// Coefficients of the interpolant, without the state at the start; the last four need the extra stages.
    dense: Vec<[f64; 7]>,
    /// Start and size of the step of the interpolant.
    t: f64,
    h: f64,
    stiffness: StiffnessDetector,
}

impl OneStepMethod for Dop853Method {
    const NAME: SolverName = SolverName::Dop853;
    const CONTROL: Control = Control {
        exponent: 1.0 / 8.0,
        // The source takes β = 0; a little of it saves a third of the rejections at the same number of evaluations.
        law: Law::ProportionalIntegral { beta: 0.03 },
        safety: 0.9,
        quotient_min: 1.0 / 6.0,
        quotient_max: 3.0,
        error_floor: 1e-4,
    };
    const ERROR_ORDER: i32 = 8;
    const DEGREE: usize = 7;
    const KEEPS_STEP_SIZE: bool = true;

    fn new(n: usize, _: Tolerances) -> Dop853Method {
        Dop853Method {
            k: stage_rows(n),
            argument: vec![0.0; n],
            dense: vec![[0.0; 7]; n],
            t: 0.0,
            h: 0.0,
            stiffness: StiffnessDetector::default(),
        }
    }

    fn take_over(&mut self) {
        self.stiffness = StiffnessDetector::default();
    }

    fn attempt<P: Problem + ?Sized>(
        &mut self,
        problem: &mut P,
        point: &Point,
        trial: &mut Trial,
        statistics: &mut IntegratorStatistics,
    ) -> Result<Attempt, SolveError> {
        let h = trial.h;
        let Dop853Method { k, argument, .. } = self;
        k[0].copy_from_slice(&point.dx);
        let x = &point.x[..];
        let at = |s: usize| (point.t + C[s] * h, x, h);
        k.evaluate(problem, at(1), &A2, argument, statistics)?;
        k.evaluate(problem, at(2), &A3, argument, statistics)?;
        k.evaluate(problem, at(3), &A4, argument, statistics)?;
        k.evaluate(problem, at(4), &A5, argument, statistics)?;
        k.evaluate(problem, at(5), &A6, argument, statistics)?;
        k.evaluate(problem, at(6), &A7, argument, statistics)?;
        k.evaluate(problem, at(7), &A8, argument, statistics)?;
        k.evaluate(problem, at(8), &A9, argument, statistics)?;
        k.evaluate(problem, at(9), &A10, argument, statistics)?;
        k.evaluate(problem, at(10), &A11, argument, statistics)?;
        k.evaluate(problem, (trial.t_new, x, h), &A12, argument, statistics)?;
        let n = point.x.len();
        let (mut fifth, mut third) = (0.0, 0.0);
        k.combine(&E5, |i, error| trial.error[i] = error);
        k.combine(&B, |i, slope| {
            trial.x[i] = x[i] + h * slope;
            let weight = point.weight_over(i, trial.x[i]);
            let error = trial.error[i];
            trial.error[i] = h * error;
            fifth += (error / weight) * (error / weight);
            let lower: f64 = slope - B3.iter().map(|&(s, b)| b * k[s][i]).sum::<f64>();
            third += (lower / weight) * (lower / weight);
        });
        // ‖e5‖²/√(‖e5‖² + 0.01 ‖e3‖²): O(h⁸)
        let denominator = fifth + 0.01 * third;
        let error = if denominator > 0.0 {
            h * fifth / (denominator * n as f64).sqrt()
        } else {
            denominator
        };
        Ok(Attempt::Computed { error, effort: 1.0 })
    }

    fn complete<P: Problem + ?Sized>(
        &mut self,
        problem: &mut P,
        point: &Point,
        trial: &mut Trial,
        statistics: &mut IntegratorStatistics,
    ) -> Result<(), SolveError> {
        statistics.rhs_evaluations += 1;
        problem.derivatives(trial.t_new, &trial.x, &mut trial.dx)?;
        self.k[12].copy_from_slice(&trial.dx);
        let k12 = self.k[11].iter().copied();
        self.stiffness
            .observe(point, trial, &self.argument, k12, STABILITY_BOUNDARY);
        self.t = point.t;
        self.h = trial.h;
        let k = &self.k;
        for (i, dense) in self.dense.iter_mut().enumerate() {
            let difference = trial.x[i] - point.x[i];
            let spline = trial.h * k[0][i] - difference;
            dense[0] = difference;
            dense[1] = spline;
            dense[2] = difference - trial.h * k[12][i] - spline;
        }
        Ok(())
    }

    fn complete_interpolant<P: Problem + ?Sized>(
        &mut self,
        problem: &mut P,
        x_old: &[f64],
        statistics: &mut IntegratorStatistics,
    ) -> Result<(), SolveError> {
        let (t, h) = (self.t, self.h);
        let at = |s: usize| (t + C[s] * h, x_old, h);
        let Dop853Method {
            k, argument, dense, ..
        } = self;
        k.evaluate(problem, at(13), &A14, argument, statistics)?;
        k.evaluate(problem, at(14), &A15, argument, statistics)?;
        k.evaluate(problem, at(15), &A16, argument, statistics)?;
        for (place, d) in D.iter().enumerate() {
            k.combine(d, |i, sum| dense[i][3 + place] = h * sum);
        }
        Ok(())
    }

    fn interpolate(&self, step: &LastInterval, theta: f64, out: &mut [f64]) {
        let theta1 = 1.0 - theta;
        for ((out, x), d) in out.iter_mut().zip(&step.x_old).zip(&self.dense) {
            let inner = d[3] + theta * (d[4] + theta1 * (d[5] + theta * d[6]));
            *out = x + theta * (d[0] + theta1 * (d[1] + theta * (d[2] + theta1 * inner)));
        }
    }
}

impl AlternatingOutput for Dop853Method {
    fn coefficients(&self, i: usize) -> &[f64] {
        &self.dense[i]
    }
}

impl Dop853 {
    pub(crate) fn is_stiff(&self) -> bool {
        self.method.stiffness.is_stiff()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::order_conditions::{assert_order, square};

    fn tableau() -> Vec<Vec<f64>> {
        square(&[
            &[],
            &A2,
            &A3,
            &A4,
            &A5,
            &A6,
            &A7,
            &A8,
            &A9,
            &A10,
            &A11,
            &A12,
            &B,
            &A14,
            &A15,
            &A16,
        ])
    }

    #[test]
    fn nodes_are_the_sums_of_the_rows() {
        for (row, c) in tableau().iter().zip(C) {
            assert!((row.iter().sum::<f64>() - c).abs() < 1e-14, "{c}");
        }
    }

    #[test]
    fn order_conditions_of_the_method_and_its_estimates() {
        let a = tableau();
        let mut b = B.to_vec();
        b.resize(16, 0.0);
        assert_order(&a, &b, 1.0, 8);
        let fifth: Vec<f64> = (0..16)
            .map(|s| b[s] - E5.get(s).copied().unwrap_or(0.0))
            .collect();
        assert_order(&a, &fifth, 1.0, 5);
        let mut third = vec![0.0; 16];
        for (s, weight) in B3 {
            third[s] = weight;
        }
        assert_order(&a, &third, 1.0, 3);
    }

    #[test]
    fn order_conditions_of_the_interpolant() {
        let a = tableau();
        for theta in [0.1, 0.35, 0.5, 0.8f64] {
            let theta1 = 1.0 - theta;
            let weights: Vec<f64> = (0..16)
                .map(|s| {
                    let unit = |i: usize| f64::from(u8::from(i == s));
                    let difference = B.get(s).copied().unwrap_or(0.0);
                    let spline = unit(0) - difference;
                    let third = difference - unit(12) - spline;
                    let inner = D[0][s] + theta * (D[1][s] + theta1 * (D[2][s] + theta * D[3][s]));
                    theta * (difference + theta1 * (spline + theta * (third + theta1 * inner)))
                })
                .collect();
            assert_order(&a, &weights, theta, 7);
        }
    }
}
