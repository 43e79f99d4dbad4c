//! Residuals against MPFR: floating-point result + residual is the real result, exactly where the row says so.

use rug::Float;
use shadowgrind_core::arith::Host;
use shadowgrind_core::format::Format;
use shadowgrind_core::ops::{Op, Residual};

use crate::points::{Random, exact, nearest, operands, real};

/// Every sum and product of two operands of `points` is exact in so many bits.
const BITS: u32 = 1500;
const POINTS: usize = 2000;

/// The format of the row's operands, given that of its result.
fn source(op: Op, result: Format) -> Format {
    match (op, result) {
        (Op::Narrow, Format::F32) => Format::F64,
        _ => result,
    }
}

/// Result that the processor makes of `real`: estimates have twelve good bits, all else is rounded to nearest.
fn result(op: Op, format: Format, real: &Float) -> f64 {
    match op {
        Op::Rcp | Op::Rsqrt => nearest(format, &Float::with_val(12, real)),
        _ => nearest(format, real),
    }
}

/// Far enough above underflow that residuals, p bits further down, are normal floats.
fn in_range(format: Format, real: &Float) -> bool {
    let limit = if format == Format::F32 { 70 } else { 900 };
    real.is_zero() || real.get_exp().is_some_and(|exponent| exponent.abs() < limit)
}

/// Relative error that a rounded residual may have: its formula's own roundings, or the terms it leaves out.
fn tolerance(op: Op, format: Format) -> f64 {
    match op {
        Op::Rsqrt => (-20f64).exp2(),
        _ => f64::from(2 - format.precision() as i32).exp2(),
    }
}

fn check(op: Op, format: Format, x: &[f64], real: &Float) {
    let r = result(op, format, real);
    let left = Float::with_val(BITS, real - r);
    match op.residual(&Host::new(source(op, format)), x, r) {
        Residual::Never => assert!(left.is_zero(), "{}{x:?} = {r:e} is not exact", op.name()),
        Residual::Exact(e) => assert_eq!(left, e, "{}{x:?} = {r:e} in {format:?}", op.name()),
        Residual::Rounded(e) => {
            let error = Float::with_val(BITS, &left - e).abs();
            assert!(
                error <= left.to_f64().abs() * tolerance(op, format),
                "{}{x:?} = {r:e} in {format:?}: {e:e}, not {:e}",
                op.name(),
                left.to_f64()
            );
        }
        Residual::Unknown => {}
    }
}

#[test]
fn results_and_residuals_are_the_reals() {
    for (&op, format) in Op::ALL.iter().flat_map(|op| [(op, Format::F32), (op, Format::F64)]) {
        if matches!(op.residual(&Host::new(format), &vec![1.0; op.arity()], 1.0), Residual::Unknown) {
            continue;
        }
        let mut random = Random::of(op);
        let mut count = 0;
        for _ in 0..5 * POINTS {
            let x = operands(&mut random, op, source(op, format));
            let real = real(op, BITS, &exact(BITS, &x));
            if count < POINTS && in_range(format, &real) {
                count += 1;
                check(op, format, &x, &real);
            }
        }
        assert!(count >= POINTS, "{}: only {count} points", op.name());
    }
}

#[test]
fn zero_is_exact() {
    let k = Host::new(Format::F64);
    for (op, x) in [(Op::Sqrt, vec![0.0]), (Op::Sqrt, vec![-0.0]), (Op::Div, vec![0.0, 3.0])] {
        assert!(matches!(op.residual(&k, &x, 0.0), Residual::Rounded(0.0)), "{}{x:?}", op.name());
    }
}

#[test]
fn nextafter_moved_by_its_residual() {
    let k = Host::new(Format::F64);
    let residual = Op::Nextafter.residual(&k, &[1.0, 2.0], 1.0 + f64::EPSILON);
    assert!(matches!(residual, Residual::Exact(e) if e == -f64::EPSILON));
}
