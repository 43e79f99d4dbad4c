//! Partials where functions end, bend, jump or blow up: the expectations are limits, or the choice that the row states.

use std::f64::consts::{
    FRAC_1_PI, FRAC_1_SQRT_2, FRAC_2_SQRT_PI, FRAC_PI_2, LN_2, LN_10, LOG2_E, LOG10_E, PI,
};

use shadowgrind_core::arith::Host;
use shadowgrind_core::format::Format;
use shadowgrind_core::ops::Op;

const INF: f64 = f64::INFINITY;
const NAN: f64 = f64::NAN;
/// The least subnormal.
const TINY: f64 = 5e-324;
/// The Euler–Mascheroni constant.
const EULER: f64 = 0.577_215_664_901_532_9;

/// Operands, result as C or the processor has it, derivatives.
type Edge = (Op, &'static [f64], f64, &'static [f64]);

#[rustfmt::skip] // one edge, one line
const ARITHMETIC: &[Edge] = &[
    (Op::Add, &[INF, 1.0], INF, &[1.0, 1.0]),
    (Op::Sub, &[0.0, NAN], NAN, &[1.0, -1.0]),
    (Op::Mul, &[0.0, 5.0], 0.0, &[5.0, 0.0]),
    (Op::Mul, &[INF, 0.0], NAN, &[0.0, INF]),
    (Op::Div, &[1.0, 0.0], INF, &[INF, -INF]),
    (Op::Div, &[1.0, -0.0], -INF, &[-INF, -INF]),
    (Op::Div, &[-1.0, 0.0], -INF, &[INF, INF]),
    (Op::Div, &[0.0, 0.0], NAN, &[INF, NAN]),
    (Op::Div, &[0.0, 2.0], 0.0, &[0.5, 0.0]),
    (Op::Div, &[1.0, INF], 0.0, &[0.0, 0.0]),
    (Op::Div, &[TINY, TINY], 1.0, &[INF, -INF]),
    (Op::Sqrt, &[0.0], 0.0, &[INF]),
    (Op::Sqrt, &[-0.0], -0.0, &[INF]),
    (Op::Sqrt, &[INF], INF, &[0.0]),
    (Op::Sqrt, &[-1.0], NAN, &[NAN]),
    (Op::Fmadd, &[2.0, 3.0, NAN], NAN, &[3.0, 2.0, 1.0]),
    (Op::Fmsub, &[2.0, 3.0, 1.0], 5.0, &[3.0, 2.0, -1.0]),
    (Op::Fnmadd, &[2.0, 3.0, 1.0], -5.0, &[-3.0, -2.0, 1.0]),
    (Op::Fnmsub, &[2.0, 3.0, 1.0], -7.0, &[-3.0, -2.0, -1.0]),
    (Op::Min, &[1.0, 2.0], 1.0, &[1.0, 0.0]),
    (Op::Min, &[1.0, 1.0], 1.0, &[0.0, 1.0]),
    (Op::Min, &[0.0, -0.0], -0.0, &[0.0, 1.0]),
    (Op::Min, &[NAN, 1.0], 1.0, &[0.0, 1.0]),
    (Op::Min, &[1.0, NAN], NAN, &[0.0, 1.0]),
    (Op::Max, &[2.0, 1.0], 2.0, &[1.0, 0.0]),
    (Op::Max, &[1.0, 1.0], 1.0, &[0.0, 1.0]),
    (Op::Max, &[-0.0, 0.0], 0.0, &[0.0, 1.0]),
    (Op::Max, &[NAN, 1.0], 1.0, &[0.0, 1.0]),
    (Op::Max, &[1.0, NAN], NAN, &[0.0, 1.0]),
    (Op::Abs, &[0.0], 0.0, &[1.0]),
    (Op::Abs, &[-0.0], 0.0, &[-1.0]),
    (Op::Abs, &[-INF], INF, &[-1.0]),
    (Op::Neg, &[0.0], -0.0, &[-1.0]),
    (Op::CopySign, &[3.0, -0.0], -3.0, &[-1.0, 0.0]),
    (Op::CopySign, &[-3.0, -2.0], -3.0, &[1.0, 0.0]),
    (Op::CopySign, &[-0.0, 1.0], 0.0, &[-1.0, 0.0]),
    (Op::Floor, &[2.0], 2.0, &[0.0]),
    (Op::Rint, &[INF], INF, &[0.0]),
    (Op::RoundEven, &[0.5], 0.0, &[0.0]),
    (Op::Rcp, &[0.0], INF, &[-INF]),
    (Op::Rcp, &[-0.0], -INF, &[-INF]),
    (Op::Rcp, &[INF], 0.0, &[0.0]),
    // Not from the result, which is an estimate.
    (Op::Rcp, &[2.0], 0.4999, &[-0.25]),
    (Op::Rsqrt, &[4.0], 0.4999, &[-0.0625]),
    (Op::Rsqrt, &[0.0], INF, &[-INF]),
    (Op::Rsqrt, &[-0.0], -INF, &[-INF]),
    (Op::Rsqrt, &[INF], 0.0, &[0.0]),
    (Op::Rsqrt, &[-1.0], NAN, &[NAN]),
    (Op::Narrow, &[NAN], NAN, &[1.0]),
    (Op::Widen, &[TINY], TINY, &[1.0]),
];

#[rustfmt::skip] // one edge, one line
const POWERS: &[Edge] = &[
    (Op::Exp, &[-INF], 0.0, &[0.0]),
    (Op::Exp, &[INF], INF, &[INF]),
    (Op::Exp, &[NAN], NAN, &[NAN]),
    (Op::Exp2, &[-INF], 0.0, &[0.0]),
    (Op::Exp10, &[INF], INF, &[INF]),
    (Op::Expm1, &[-INF], -1.0, &[0.0]),
    (Op::Expm1, &[0.0], 0.0, &[1.0]),
    (Op::Exp2m1, &[0.0], 0.0, &[LN_2]),
    (Op::Exp10m1, &[0.0], 0.0, &[LN_10]),
    (Op::Exp10m1, &[-INF], -1.0, &[0.0]),
    (Op::Log, &[0.0], -INF, &[INF]),
    (Op::Log, &[-0.0], -INF, &[INF]),
    (Op::Log, &[-1.0], NAN, &[NAN]),
    (Op::Log, &[INF], INF, &[0.0]),
    (Op::Log, &[TINY], -744.4400719213812, &[INF]),
    (Op::Log2, &[-0.0], -INF, &[INF]),
    (Op::Log2, &[1.0], 0.0, &[LOG2_E]),
    (Op::Log10, &[0.0], -INF, &[INF]),
    (Op::Log10, &[-INF], NAN, &[NAN]),
    (Op::Log1p, &[-1.0], -INF, &[INF]),
    (Op::Log1p, &[-2.0], NAN, &[NAN]),
    (Op::Log1p, &[TINY], TINY, &[1.0]),
    (Op::Log2p1, &[-1.0], -INF, &[INF]),
    (Op::Log2p1, &[0.0], 0.0, &[LOG2_E]),
    (Op::Log2p1, &[-2.0], NAN, &[NAN]),
    (Op::Log10p1, &[-1.0], -INF, &[INF]),
    (Op::Log10p1, &[TINY], TINY, &[LOG10_E]),
    (Op::Log10p1, &[INF], INF, &[0.0]),
    (Op::YLog2, &[2.0, 0.0], -INF, &[-INF, INF]),
    (Op::YLog2, &[2.0, 1.0], 0.0, &[0.0, 2.0 * LOG2_E]),
    (Op::YLog2p1, &[2.0, 0.0], 0.0, &[0.0, 2.0 * LOG2_E]),
    (Op::Logb, &[0.0], -INF, &[0.0]),
    (Op::Ldexp, &[1.5, 3.0], 12.0, &[8.0, 0.0]),
    (Op::Ldexp, &[1.5, -1074.0], 1e-323, &[TINY, 0.0]),
    (Op::Ldexp, &[TINY, 2000.0], 5.672_544_389_919_898e278, &[INF, 0.0]),
    (Op::Ldexp, &[1.0, INF], INF, &[INF, 0.0]),
    (Op::Pow, &[0.0, 0.0], 1.0, &[0.0, -INF]),
    (Op::Pow, &[2.0, 0.0], 1.0, &[0.0, LN_2]),
    (Op::Pow, &[0.0, 2.0], 0.0, &[0.0, 0.0]),
    (Op::Pow, &[-0.0, 3.0], -0.0, &[0.0, 0.0]),
    (Op::Pow, &[0.0, 1.0], 0.0, &[1.0, 0.0]),
    (Op::Pow, &[0.0, 0.5], 0.0, &[INF, 0.0]),
    (Op::Pow, &[0.0, -1.0], INF, &[-INF, -INF]),
    (Op::Pow, &[-2.0, 3.0], -8.0, &[12.0, NAN]),
    (Op::Pow, &[-2.0, 0.5], NAN, &[NAN, NAN]),
    (Op::Pow, &[INF, 2.0], INF, &[INF, INF]),
    (Op::Pow, &[INF, -1.0], 0.0, &[0.0, 0.0]),
    (Op::Pow, &[0.5, INF], 0.0, &[0.0, 0.0]),
    (Op::Pow, &[2.0, -INF], 0.0, &[0.0, 0.0]),
    (Op::Pow, &[1.0, INF], 1.0, &[INF, 0.0]),
    (Op::Pow, &[1e-310, 1.0], 1e-310, &[1.0, -7.13801378828152e-308]),
    (Op::Pow, &[1e-310, 1e-10], 0.9999999286198646, &[9.999999286198678e+299, -713.8013278769151]),
    (Op::Cbrt, &[0.0], 0.0, &[INF]),
    (Op::Cbrt, &[-0.0], -0.0, &[INF]),
    (Op::Cbrt, &[-INF], -INF, &[0.0]),
    (Op::Hypot, &[0.0, -0.0], 0.0, &[0.0, 0.0]),
    (Op::Hypot, &[0.0, -2.0], 2.0, &[0.0, -1.0]),
    (Op::Hypot, &[3.0, 4.0], 5.0, &[0.6, 0.8]),
    (Op::Hypot, &[-INF, 1.0], INF, &[-1.0, 0.0]),
    (Op::Hypot, &[INF, NAN], INF, &[1.0, NAN]),
    (Op::Hypot, &[1e308, 1e308], std::f64::consts::SQRT_2 * 1e308, &[FRAC_1_SQRT_2, FRAC_1_SQRT_2]),
    (Op::Hypot, &[TINY, 0.0], TINY, &[1.0, 0.0]),
];

#[rustfmt::skip] // one edge, one line
const ANGLES: &[Edge] = &[
    (Op::Sin, &[0.0], 0.0, &[1.0]),
    (Op::Sin, &[INF], NAN, &[NAN]),
    (Op::Cos, &[0.0], 1.0, &[0.0]),
    (Op::Tan, &[TINY], TINY, &[1.0]),
    (Op::Tan, &[-INF], NAN, &[NAN]),
    (Op::Asin, &[1.0], FRAC_PI_2, &[INF]),
    (Op::Asin, &[-1.0], -FRAC_PI_2, &[INF]),
    (Op::Asin, &[2.0], NAN, &[NAN]),
    (Op::Acos, &[1.0], 0.0, &[-INF]),
    (Op::Acos, &[-1.0], PI, &[-INF]),
    (Op::Acos, &[0.0], FRAC_PI_2, &[-1.0]),
    (Op::Atan, &[-INF], -FRAC_PI_2, &[0.0]),
    (Op::Atan, &[1e200], FRAC_PI_2, &[0.0]),
    // (y, x): the angle grows with y on the right and shrinks with it on the left, shrinks with x above.
    (Op::Atan2, &[0.0, 1.0], 0.0, &[1.0, 0.0]),
    (Op::Atan2, &[1.0, 0.0], FRAC_PI_2, &[0.0, -1.0]),
    (Op::Atan2, &[0.0, -1.0], PI, &[-1.0, 0.0]),
    (Op::Atan2, &[-0.0, -1.0], -PI, &[-1.0, 0.0]),
    (Op::Atan2, &[-1.0, 0.0], -FRAC_PI_2, &[0.0, 1.0]),
    (Op::Atan2, &[1.0, 1.0], PI / 4.0, &[0.5, -0.5]),
    (Op::Atan2, &[0.0, 0.0], 0.0, &[NAN, NAN]),
    (Op::Atan2, &[INF, 1.0], FRAC_PI_2, &[0.0, 0.0]),
    (Op::Atan2, &[INF, -INF], 0.75 * PI, &[0.0, 0.0]),
    (Op::Atan2, &[1e200, 1e200], PI / 4.0, &[5e-201, -5e-201]),
    (Op::Atan2, &[1e-200, 1e-200], PI / 4.0, &[5e199, -5e199]),
    (Op::SinPi, &[0.0], 0.0, &[PI]),
    (Op::SinPi, &[0.5], 1.0, &[0.0]),
    (Op::SinPi, &[-1.0], 0.0, &[-PI]),
    (Op::SinPi, &[1e300], 0.0, &[PI]),
    (Op::SinPi, &[INF], NAN, &[NAN]),
    (Op::CosPi, &[0.0], 1.0, &[0.0]),
    (Op::CosPi, &[0.5], 0.0, &[-PI]),
    (Op::CosPi, &[-1.5], 0.0, &[-PI]),
    (Op::CosPi, &[TINY], 1.0, &[-TINY * PI * PI]),
    (Op::TanPi, &[0.0], 0.0, &[PI]),
    (Op::TanPi, &[0.25], 1.0, &[2.0 * PI]),
    (Op::TanPi, &[1.5], -INF, &[INF]),
    (Op::AsinPi, &[1.0], 0.5, &[INF]),
    (Op::AsinPi, &[2.0], NAN, &[NAN]),
    (Op::AcosPi, &[-1.0], 1.0, &[-INF]),
    (Op::AcosPi, &[0.0], 0.5, &[-FRAC_1_PI]),
    (Op::AtanPi, &[-INF], -0.5, &[0.0]),
    (Op::AtanPi, &[1.0], 0.25, &[0.5 * FRAC_1_PI]),
    (Op::Atan2Pi, &[1.0, 1.0], 0.25, &[0.5 * FRAC_1_PI, -0.5 * FRAC_1_PI]),
    (Op::Atan2Pi, &[-0.0, -1.0], -1.0, &[-FRAC_1_PI, 0.0]),
    (Op::Atan2Pi, &[0.0, 0.0], 0.0, &[NAN, NAN]),
    (Op::Sinh, &[-INF], -INF, &[INF]),
    (Op::Cosh, &[-INF], INF, &[-INF]),
    (Op::Cosh, &[0.0], 1.0, &[0.0]),
    (Op::Tanh, &[INF], 1.0, &[0.0]),
    (Op::Tanh, &[-0.0], -0.0, &[1.0]),
    (Op::Asinh, &[INF], INF, &[0.0]),
    (Op::Asinh, &[1e300], 691.468_675_078_773_6, &[1e-300]),
    (Op::Acosh, &[1.0], 0.0, &[INF]),
    (Op::Acosh, &[0.5], NAN, &[NAN]),
    (Op::Acosh, &[-3.0], NAN, &[NAN]),
    (Op::Acosh, &[1e300], 691.468_675_078_773_6, &[1e-300]),
    (Op::Acosh, &[INF], INF, &[0.0]),
    (Op::Atanh, &[1.0], INF, &[INF]),
    (Op::Atanh, &[-1.0], -INF, &[INF]),
    (Op::Atanh, &[2.0], NAN, &[NAN]),
];

#[rustfmt::skip] // one edge, one line
const SPECIAL: &[Edge] = &[
    (Op::Erf, &[0.0], 0.0, &[FRAC_2_SQRT_PI]),
    (Op::Erf, &[-INF], -1.0, &[0.0]),
    (Op::Erfc, &[1e200], 0.0, &[0.0]),
    (Op::Lgamma, &[1.0], 0.0, &[-EULER]),
    (Op::Lgamma, &[2.0], 0.0, &[1.0 - EULER]),
    (Op::Lgamma, &[0.5], 0.572_364_942_924_700_1, &[-EULER - 2.0 * LN_2]),
    (Op::Lgamma, &[-1.5], 0.860_047_015_376_481, &[8.0 / 3.0 - EULER - 2.0 * LN_2]),
    (Op::Lgamma, &[0.0], INF, &[-INF]),
    (Op::Lgamma, &[-0.0], INF, &[INF]),
    (Op::Lgamma, &[TINY], 744.440_071_921_381_2, &[-INF]),
    (Op::Lgamma, &[-1.0], INF, &[NAN]),
    (Op::Lgamma, &[-1e300], INF, &[NAN]),
    (Op::Lgamma, &[INF], INF, &[INF]),
    (Op::Lgamma, &[-INF], INF, &[NAN]),
    (Op::Tgamma, &[1.0], 1.0, &[-EULER]),
    (Op::Tgamma, &[0.0], INF, &[-INF]),
    (Op::Tgamma, &[-0.0], -INF, &[-INF]),
    (Op::Tgamma, &[-1.0], NAN, &[NAN]),
    (Op::Tgamma, &[INF], INF, &[INF]),
    (Op::J0, &[0.0], 1.0, &[0.0]),
    (Op::J0, &[INF], 0.0, &[0.0]),
    (Op::J1, &[0.0], 0.0, &[0.5]),
    (Op::J1, &[-0.0], -0.0, &[0.5]),
    (Op::Jn, &[2.0, 0.0], 0.0, &[0.0, 0.0]),
    (Op::Jn, &[-1.0, 0.0], 0.0, &[0.0, -0.5]),
    (Op::Y0, &[0.0], -INF, &[INF]),
    (Op::Y0, &[-1.0], NAN, &[NAN]),
    (Op::Y0, &[INF], 0.0, &[0.0]),
    (Op::Y1, &[0.0], -INF, &[INF]),
    (Op::Yn, &[3.0, 0.0], -INF, &[0.0, INF]),
    (Op::Yn, &[-1.0, 0.0], INF, &[0.0, -INF]),
];

#[rustfmt::skip] // one edge, one line
const PIECES: &[Edge] = &[
    (Op::Fmod, &[5.5, 2.0], 1.5, &[1.0, -2.0]),
    (Op::Fmod, &[-5.5, 2.0], -1.5, &[1.0, 2.0]),
    (Op::Fmod, &[5.5, -2.0], 1.5, &[1.0, 2.0]),
    // 6/0.1 rounds to 60, but 0.1 is a little more than a tenth.
    (Op::Fmod, &[6.0, 0.1], 6.0 % 0.1, &[1.0, -59.0]),
    (Op::Fmod, &[1.0, INF], 1.0, &[1.0, 0.0]),
    (Op::Fmod, &[INF, 1.0], NAN, &[NAN, NAN]),
    (Op::Fmod, &[1.0, 0.0], NAN, &[NAN, NAN]),
    (Op::Remainder, &[5.5, 2.0], -0.5, &[1.0, -3.0]),
    (Op::Remainder, &[5.0, 2.0], 1.0, &[1.0, -2.0]),
    (Op::Remainder, &[7.0, 2.0], -1.0, &[1.0, -4.0]),
    (Op::Remainder, &[1.0, INF], 1.0, &[1.0, 0.0]),
    (Op::Fdim, &[3.0, 1.0], 2.0, &[1.0, -1.0]),
    (Op::Fdim, &[1.0, 3.0], 0.0, &[0.0, 0.0]),
    (Op::Fdim, &[1.0, 1.0], 0.0, &[0.0, 0.0]),
    (Op::Fdim, &[INF, INF], 0.0, &[0.0, 0.0]),
    (Op::Fdim, &[NAN, 1.0], NAN, &[NAN, NAN]),
    (Op::Fmin, &[1.0, NAN], 1.0, &[1.0, 0.0]),
    (Op::Fmin, &[NAN, 1.0], 1.0, &[0.0, 1.0]),
    (Op::Fmin, &[1.0, 1.0], 1.0, &[1.0, 0.0]),
    (Op::Fmin, &[2.0, 1.0], 1.0, &[0.0, 1.0]),
    (Op::Fmax, &[1.0, NAN], 1.0, &[1.0, 0.0]),
    (Op::Fmax, &[NAN, 1.0], 1.0, &[0.0, 1.0]),
    (Op::Fmax, &[2.0, 1.0], 2.0, &[1.0, 0.0]),
    (Op::Fminmag, &[1.0, NAN], 1.0, &[1.0, 0.0]),
    (Op::Fminmag, &[NAN, -1.0], -1.0, &[0.0, 1.0]),
    (Op::Fminmag, &[-1.0, 2.0], -1.0, &[1.0, 0.0]),
    (Op::Fminmag, &[1.0, -1.0], -1.0, &[0.0, 1.0]),
    (Op::Fmaxmag, &[1.0, NAN], 1.0, &[1.0, 0.0]),
    (Op::Fmaxmag, &[-3.0, 2.0], -3.0, &[1.0, 0.0]),
    (Op::Fmaxmag, &[-1.0, 1.0], 1.0, &[0.0, 1.0]),
    (Op::Modf, &[-2.5], -0.5, &[1.0]),
    (Op::Modf, &[INF], 0.0, &[1.0]),
    (Op::Nextafter, &[1.0, 2.0], 1.0 + f64::EPSILON, &[1.0, 0.0]),
    (Op::Nextafter, &[0.0, -INF], -TINY, &[1.0, 0.0]),
];

/// Equal up to a few roundings; zeros of either sign are equal, and so are NaN.
fn close(got: f64, want: f64) -> bool {
    got == want || got.is_nan() && want.is_nan() || (got - want).abs() <= 2e-15 * want.abs()
}

#[test]
fn partials_at_edges() {
    let k = Host::new(Format::F64);
    for &(op, x, r, want) in [ARITHMETIC, POWERS, ANGLES, SPECIAL, PIECES].concat().iter() {
        let gradient = op.gradient(&k, x, r);
        let got: Vec<f64> = (0..op.arity()).map(|i| gradient.value(&k, i)).collect();
        assert!(
            got.iter().zip(want).all(|(&got, &want)| close(got, want)) && got.len() == want.len(),
            "{}{x:?} = {r:e}: {got:?}, not {want:?}",
            op.name()
        );
    }
}

#[test]
fn every_row_has_an_edge_or_is_smooth() {
    let smooth = [Op::Round, Op::Ceil, Op::Trunc];
    for &op in Op::ALL {
        let tested = [ARITHMETIC, POWERS, ANGLES, SPECIAL, PIECES].concat().iter().any(|edge| edge.0 == op);
        assert!(tested != smooth.contains(&op), "{}", op.name());
    }
}
