//! Partials of function rows against textbook derivatives evaluated in MPFR, out to where the functions end: operands
//! of every size a double has, subnormal ones included.

use rug::Float;
use rug::float::Constant;
use shadowgrind_core::arith::Host;
use shadowgrind_core::format::Format;
use shadowgrind_core::ops::Op;

use crate::points::{Random, exact, operands, real, relative_error, scale};

/// Enough for 1 − x² and its like at any double.
const BITS: u32 = 300;

/// The derivatives of `op` at `x` by all operands; `None` for rows whose derivatives are 0, ±1, an operand or a
/// selection, which `edges` has.
fn textbook(op: Op, x: &[Float]) -> Option<Vec<Float>> {
    powers(op, x).or_else(|| angles(op, x)).or_else(|| special(op, x).map(|slope| vec![slope]))
}

fn square(a: &Float) -> Float {
    Float::with_val(BITS, a.square_ref())
}

fn powers(op: Op, x: &[Float]) -> Option<Vec<Float>> {
    let (a, b) = (&x[0], x.last().expect("an operand"));
    let real = |op| real(op, BITS, x);
    let f = |value: Float| Some(vec![value]);
    let number = |n: i32| Float::with_val(BITS, n);
    let ln2 = || Float::with_val(BITS, Constant::Log2);
    match op {
        Op::Sqrt => f(real(Op::Sqrt).recip() / 2u32),
        Op::Rcp => f(-square(a).recip()),
        Op::Rsqrt => f(-(a.clone() * real(Op::Sqrt)).recip() / 2u32),
        Op::Div => Some(vec![b.clone().recip(), -Float::with_val(BITS, a / b) / b]),
        Op::Exp | Op::Expm1 => f(real(Op::Exp)),
        Op::Exp2 | Op::Exp2m1 => f(real(Op::Exp2) * ln2()),
        Op::Exp10 | Op::Exp10m1 => f(real(Op::Exp10) * number(10).ln()),
        Op::Log => f(a.clone().recip()),
        Op::Log2 => f((ln2() * a).recip()),
        Op::Log10 => f((number(10).ln() * a).recip()),
        Op::Log1p => f(Float::with_val(BITS, a + 1u32).recip()),
        Op::Log2p1 => f((ln2() * Float::with_val(BITS, a + 1u32)).recip()),
        Op::Log10p1 => f((number(10).ln() * Float::with_val(BITS, a + 1u32)).recip()),
        Op::YLog2 => Some(vec![b.clone().log2(), Float::with_val(BITS, a / b) / ln2()]),
        Op::YLog2p1 => Some(vec![b.clone().ln_1p() / ln2(), a / (b.clone() + 1u32) / ln2()]),
        Op::Pow => {
            let power = real(Op::Pow);
            Some(vec![Float::with_val(BITS, b / a) * &power, power * a.clone().ln()])
        }
        Op::Cbrt => f((real(Op::Cbrt).square() * 3u32).recip()),
        Op::Hypot => {
            let r = real(Op::Hypot);
            Some(vec![Float::with_val(BITS, a / &r), Float::with_val(BITS, b / &r)])
        }
        Op::Ldexp => Some(vec![b.clone().exp2(), number(0)]),
        _ => None,
    }
}

fn angles(op: Op, x: &[Float]) -> Option<Vec<Float>> {
    let (a, b) = (&x[0], x.last().expect("an operand"));
    let f = |value: Float| Some(vec![value]);
    let square = || square(a);
    let pi = || Float::with_val(BITS, Constant::Pi);
    match op {
        Op::Sin => f(a.clone().cos()),
        Op::Cos => f(-a.clone().sin()),
        Op::Tan => f(a.clone().sec().square()),
        Op::Asin => f((1u32 - square()).sqrt().recip()),
        Op::Acos => f(-(1u32 - square()).sqrt().recip()),
        Op::Atan => f((1u32 + square()).recip()),
        Op::Atan2 => {
            let distance = square() + Float::with_val(BITS, b.square_ref());
            Some(vec![Float::with_val(BITS, b / &distance), -Float::with_val(BITS, a / &distance)])
        }
        Op::SinPi => f(pi() * a.clone().cos_pi()),
        Op::CosPi => f(-pi() * a.clone().sin_pi()),
        Op::TanPi => f(pi() / a.clone().cos_pi().square()),
        Op::AsinPi => f((pi() * (1u32 - square()).sqrt()).recip()),
        Op::AcosPi => f(-(pi() * (1u32 - square()).sqrt()).recip()),
        Op::AtanPi => f((pi() * (1u32 + square())).recip()),
        Op::Atan2Pi => {
            let area = pi() * (square() + Float::with_val(BITS, b.square_ref()));
            Some(vec![Float::with_val(BITS, b / &area), -Float::with_val(BITS, a / &area)])
        }
        Op::Sinh => f(a.clone().cosh()),
        Op::Cosh => f(a.clone().sinh()),
        Op::Tanh => f(a.clone().sech().square()),
        Op::Asinh => f((square() + 1u32).sqrt().recip()),
        Op::Acosh => f((square() - 1u32).sqrt().recip()),
        Op::Atanh => f((1u32 - square()).recip()),
        _ => None,
    }
}

fn special(op: Op, x: &[Float]) -> Option<Float> {
    let a = &x[0];
    let real = |op| real(op, BITS, x);
    let bell = || (-square(a)).exp() * 2u32 / Float::with_val(BITS, Constant::Pi).sqrt();
    let digamma = || a.clone().digamma();
    match op {
        Op::Erf => Some(bell()),
        Op::Erfc => Some(-bell()),
        Op::Lgamma => Some(digamma()),
        Op::Tgamma => Some(real(Op::Tgamma) * digamma()),
        Op::J0 => Some(-real(Op::J1)),
        Op::Y0 => Some(-real(Op::Y1)),
        Op::J1 => Some(real(Op::J0) - real(Op::J1) / a),
        Op::Y1 => Some(real(Op::Y0) - real(Op::Y1) / a),
        _ => None,
    }
}

/// Operands of every size, subnormal ones included, and ordinary ones.
fn point(random: &mut Random, op: Op) -> Vec<f64> {
    let mut x = operands(random, op, Format::F64);
    for (x, operand) in x.iter_mut().zip(op.operands()) {
        if !operand.integer && random.below(3) > 0 {
            let exponent = [8.0, 200.0, 1074.0][random.below(3) as usize];
            *x = random.wide(exponent);
        }
    }
    x
}

fn check(op: Op, points: usize) {
    let k = Host::new(Format::F64);
    let mut random = Random::of(op);
    let mut count = 0;
    for _ in 0..20 * points {
        let x = point(&mut random, op);
        let reals = exact(BITS, &x);
        let r = real(op, BITS, &reals).to_f64();
        let want = textbook(op, &reals).expect("a derivative in closed form");
        for (i, want) in want.iter().enumerate() {
            // Results and derivatives that a double cannot hold in full have less to offer.
            if count < points && (r == 0.0 || r.is_normal()) && (want.is_zero() || want.to_f64().is_normal())
            {
                count += 1;
                let got = op.gradient(&k, &x, r).value(&k, i);
                let error = relative_error(got, want, scale(op, &x, r));
                assert!(
                    error <= 1e-14,
                    "{} ∂{i} at {x:?}: {got:e}, not {:e}: {error:e}",
                    op.name(),
                    want.to_f64()
                );
            }
        }
    }
    assert!(count >= points, "{}: only {count} points", op.name());
}

#[test]
fn partials_of_any_size() {
    let one = exact(BITS, &[0.5; 3]);
    let rows: Vec<Op> =
        Op::ALL.iter().copied().filter(|&op| textbook(op, &one[..op.arity()]).is_some()).collect();
    assert!(rows.len() >= 35, "only {} rows have closed forms", rows.len());
    for op in rows {
        check(op, 400);
    }
}
