//! Partials against central differences of the row's own real function in MPFR.

use rug::Float;
use shadowgrind_core::arith::Host;
use shadowgrind_core::format::Format;
use shadowgrind_core::ops::Op;
use shadowgrind_shadows::dot;

use crate::points::{Random, exact, nearest, operands, real, relative_error, scale};

const BITS: u32 = 450;
/// Steps are 2⁻¹²⁰ of the operand: truncation costs 2⁻²⁴⁰ or so, rounding 2⁻³³⁰ of f/x.
const STEP: u32 = 120;
/// Points per row.
const POINTS: usize = 400;

/// ∂f/∂xᵢ, where f is differentiable at `x`.
fn difference_quotient(op: Op, x: &[Float], i: usize) -> Option<Float> {
    let step = Float::with_val(BITS, &x[i] >> STEP);
    let at = |xi: Float| {
        let mut x = x.to_vec();
        x[i] = xi;
        real(op, BITS, &x)
    };
    let here = real(op, BITS, x);
    let right = (at(Float::with_val(BITS, &x[i] + &step)) - &here) / &step;
    let left = (&here - at(Float::with_val(BITS, &x[i] - &step))) / &step;
    let slope = Float::with_val(BITS, &right + &left) / 2u32;
    // A jump, a corner, or a pole in between.
    let smooth = (right - left).abs() <= Float::with_val(BITS, slope.abs_ref()) >> (STEP / 2);
    (!step.is_zero() && slope.is_finite() && smooth).then_some(slope)
}

/// Tells whether a derivative of this size has all the bits of `format`, with some room for what it is computed from.
fn representable(format: Format, slope: &Float) -> bool {
    let limit = if format == Format::F32 { 100 } else { 1000 };
    slope.get_exp().is_none_or(|exponent| exponent.abs() < limit)
}

/// The worst error of `derivative(x, r, i)` over the points where there is one to compare with.
fn worst(op: Op, format: Format, derivative: impl Fn(&[f64], f64, usize) -> f64) -> (f64, String) {
    let mut random = Random::of(op);
    let (mut count, mut worst) = (0, (0.0, String::new()));
    for _ in 0..20 * POINTS {
        let x = operands(&mut random, op, format);
        let reals = exact(BITS, &x);
        let result = real(op, BITS, &reals);
        if count >= POINTS || !(result.is_zero() || result.is_normal() && representable(format, &result)) {
            continue;
        }
        let r = nearest(format, &result);
        for i in (0..x.len()).filter(|&i| !op.operands()[i].integer) {
            let Some(want) = difference_quotient(op, &reals, i).filter(|w| representable(format, w)) else {
                continue;
            };
            count += 1;
            let got = derivative(&x, r, i);
            // A slope so small that the difference is but rounding must be as small (erf far out; `closed_forms` has it).
            let blur = (r / x[i]).abs() * (-150f64).exp2();
            let error = relative_error(got, &want, scale(op, &x, r).max(blur));
            if error.is_nan() || error > worst.0 {
                worst = (error, format!("∂{i} at {x:?}: {got:e}, not {:e}", want.to_f64()));
            }
        }
    }
    assert!(count >= POINTS, "{}: only {count} points", op.name());
    worst
}

fn check(op: Op, format: Format, tolerance: f64, derivative: impl Fn(&[f64], f64, usize) -> f64) {
    let (error, place) = worst(op, format, derivative);
    assert!(error <= tolerance, "{}: relative error {error:e}: {place}", op.name());
}

#[test]
fn partials_in_double() {
    let k = Host::new(Format::F64);
    for &op in Op::ALL {
        check(op, Format::F64, 1e-14, |x, r, i| op.gradient(&k, x, r).value(&k, i));
    }
}

#[test]
fn dots_in_single() {
    for &op in Op::ALL {
        check(op, Format::F32, 1e-6, |x, r, i| {
            let mut dots = vec![0.0; x.len()];
            dots[i] = 1.0;
            dot::eval(Format::F32, op, x, r, &dots)
        });
    }
}
