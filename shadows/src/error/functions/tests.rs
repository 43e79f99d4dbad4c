//! Errors of functions against reals.

use super::*;
use crate::reals::mpfr::Mpfr;
use rug::Float;
use shadowgrind_core::ops::MAX_OPERANDS;

/// Bits of reals: of what an error function lacks of 1 there are enough.
const PRECISION: u32 = 600;

/// Numbers of a linear congruence (Knuth, TAOCP 2, 3.3.4), from 0 to 1.
fn random(state: &mut u64) -> f64 {
    *state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
    (*state >> 11) as f64 / (1_u64 << 53) as f64
}

/// The error of `r` by MPFR.
fn by_reals(op: Op, x: &[f64], errors: &[f64], r: f64) -> Float {
    let operands: Vec<Float> =
        x.iter().zip(errors).map(|(&x, &error)| Float::with_val(PRECISION, x) + error).collect();
    op.real(&Mpfr::new(PRECISION), &operands.iter().collect::<Vec<_>>()) - r
}

/// Arguments of a function: the sign, and the range of the logarithm of the size, of each.
fn arguments(op: Op) -> [(bool, f64, f64); 2] {
    match op {
        Op::Exp | Op::Exp2 | Op::Exp10 | Op::Expm1 => [(true, -12.0, 2.0), (true, 0.0, 1.0)],
        Op::Sinh | Op::Cosh | Op::Tanh => [(true, -6.0, 1.3), (true, 0.0, 1.0)],
        Op::Asin | Op::Acos | Op::Atanh => [(true, -5.0, 0.0), (true, 0.0, 1.0)],
        Op::Acosh => [(false, 0.0, 10.0), (true, 0.0, 1.0)],
        Op::Erf => [(true, -6.0, 1.0), (true, 0.0, 1.0)],
        Op::Erfc => [(true, -6.0, 1.2), (true, 0.0, 1.0)],
        Op::Lgamma => [(false, -3.0, 9.0), (true, 0.0, 1.0)],
        Op::Tgamma => [(false, -3.0, 1.9), (true, 0.0, 1.0)],
        Op::Log1p => [(false, -9.0, 9.0), (true, 0.0, 1.0)],
        Op::Pow => [(false, -3.0, 3.0), (true, -2.0, 1.9)],
        Op::Sin | Op::Cos | Op::Tan => [(true, -5.0, 5.1), (true, 0.0, 1.0)],
        Op::Log | Op::Log2 | Op::Log10 => [(false, -30.0, 30.0), (true, 0.0, 1.0)],
        _ => [(true, -5.0, 5.0), (true, -5.0, 5.0)],
    }
}

/// The functions whose results are rounded.
fn rounding() -> impl Iterator<Item = Op> {
    KNOWN.iter().copied().filter(|&op| op != Op::Ldexp)
}

/// Errors that are told are right to [`SIGNIFICANT`] bits, with errors of operands and without, for results off by an ulp and by more;
/// and most are told.
#[test]
fn errors_are_those_of_reals() {
    let mut state = 1;
    for op in rounding() {
        prepare_rare(op);
        let (mut told, count) = (0, 4000);
        for n in 0..count {
            let mut x = [0.0; MAX_OPERANDS];
            for (x, (is_signed, from, to)) in x.iter_mut().zip(arguments(op)) {
                let size = 10_f64.powf(from + (to - from) * random(&mut state));
                *x = if is_signed && random(&mut state) < 0.5 { -size } else { size };
            }
            let relative = [0.0, 1e-17, 1e-15, 1e-12][n % 4];
            let errors = x.map(|x| x * relative * random(&mut state));
            let arity = op.arity();
            let exact = by_reals(op, &x[..arity], &[0.0; MAX_OPERANDS][..arity], 0.0).to_f64();
            let r = exact * (1.0 + [0.0, 1.1e-16, -2.3e-16, 1e-13][n / 4 % 4]);
            let Some(error) = error(op, &x[..arity], &errors[..arity], r) else { continue };
            told += 1;
            let want = by_reals(op, &x[..arity], &errors[..arity], r);
            let off = (Float::with_val(PRECISION, &want - error) / &want).to_f64().abs();
            let bound = f64::exp2(-f64::from(SIGNIFICANT));
            assert!(off < bound, "{} {x:?} {errors:?}: {error}, not {want}: off by {off}", op.name());
        }
        assert!(told * 10 > count * 7, "{}: {told} of {count} told", op.name());
    }
}

/// Exact results, infinite ones and NaN are for others.
#[test]
fn nothing_is_said_of_exact_results() {
    for (op, x, r) in [
        (Op::Exp, 0.0, 1.0),
        (Op::Log, 1.0, 0.0),
        (Op::Exp2, 3.0, 8.0),
        (Op::Log2, 8.0, 3.0),
        (Op::Cbrt, 27.0, 3.0),
        (Op::Cos, 0.0, 1.0),
        (Op::Exp, 1000.0, f64::INFINITY),
        (Op::Log, -1.0, f64::NAN),
        (Op::Sin, f64::INFINITY, f64::NAN),
        (Op::Exp, -800.0, 0.0),
    ] {
        assert_eq!(error(op, &[x], &[0.0], r), None, "{} {x}", op.name());
    }
    assert_eq!(error(Op::Exp, &[1.0], &[f64::NAN], 2.7), None);
}

/// Arguments near which functions lose digits, or change what they are: results are right to [`SIGNIFICANT`] bits of their errors, or
/// left to others.
#[test]
fn hard_arguments_are_told_right_or_not_at_all() {
    use std::f64::consts::{FRAC_PI_2, LN_2, PI};
    let near = |x: f64| [x, x.next_up(), x.next_down(), x * (1.0 + 1e-9), x * (1.0 - 1e-5), x * (1.0 + 3e-3)];
    let places = [
        1.0,
        2.0,
        6.5,
        17.3,
        20.0,
        PI,
        FRAC_PI_2,
        22.0,
        355.0,
        1e5,
        LN_2,
        1.0 / 128.0,
        0.5,
        11.0 / 16.0,
        1e-5,
        1e-200,
    ];
    let strange = [0.0, 1e300, 5e-324, 1e-310, f64::INFINITY, f64::NAN];
    let xs: Vec<f64> = places.into_iter().flat_map(near).chain(strange).flat_map(|x| [x, -x]).collect();
    let (mut told, mut state) = (0, 1);
    for op in rounding() {
        prepare_rare(op);
        for &a in &xs {
            for b in [1.0, -3.5, 1e-3, 0.0] {
                let (x, count) = ([a, b], op.arity());
                let errors = [0.0, 1e-17, -2.5].map(|relative| [a * relative * random(&mut state), 0.0]);
                let exact = by_reals(op, &x[..count], &[0.0; 2][..count], 0.0).to_f64();
                for (errors, r) in errors.iter().flat_map(|e| [exact, exact.next_up()].map(|r| (e, r))) {
                    let Some(error) = error(op, &x[..count], &errors[..count], r) else { continue };
                    told += 1;
                    let want = by_reals(op, &x[..count], &errors[..count], r);
                    let off = (Float::with_val(PRECISION, &want - error) / &want).to_f64().abs();
                    let name = op.name();
                    assert!(
                        off < f64::exp2(-33.0),
                        "{name} {x:?} {errors:?}: {error}, not {want}: off by {off}"
                    );
                }
            }
        }
    }
    assert!(told > 2000, "{told} told");
}
