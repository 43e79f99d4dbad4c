//! The real functions in MPFR against the C library's and the processor's: same function, same operand order, same
//! special values.

use std::f64::consts::{LN_2, LN_10, PI};

use rug::Float;
use shadowgrind_core::format::Format;
use shadowgrind_core::ops::Op;
use shadowgrind_core::reals::Reals;
use shadowgrind_core::rounding::Rounding;
use shadowgrind_shadows::reals::mpfr::Mpfr;

use crate::points::{Random, exact, operands, real, relative_error, scale};

const BITS: u32 = 300;

/// An operation in doubles, by other people.
fn native(op: Op, x: &[f64]) -> f64 {
    let (a, b, c) = (x[0], *x.get(1).unwrap_or(&0.0), *x.get(2).unwrap_or(&0.0));
    match op {
        Op::Add => a + b,
        Op::Sub => a - b,
        Op::Mul => a * b,
        Op::Div => a / b,
        Op::Sqrt => a.sqrt(),
        Op::Fmadd => a.mul_add(b, c),
        Op::Fmsub => a.mul_add(b, -c),
        Op::Fnmadd => -a.mul_add(b, -c),
        Op::Fnmsub => -a.mul_add(b, c),
        Op::Min => select(a < b, a, b),
        Op::Max => select(a > b, a, b),
        Op::Abs => a.abs(),
        Op::Neg => -a,
        Op::CopySign => a.copysign(b),
        Op::RoundEven | Op::Rint => a.round_ties_even(),
        Op::Round => a.round(),
        Op::Floor => a.floor(),
        Op::Ceil => a.ceil(),
        Op::Trunc => a.trunc(),
        Op::Rcp => 1.0 / a,
        Op::Rsqrt => 1.0 / a.sqrt(),
        Op::Narrow | Op::Widen | Op::Nextafter => a,
        Op::Logb => select(a.is_finite() && a != 0.0, libm::ilogb(a).into(), a.abs().ln()),
        Op::Ldexp => libm::ldexp(a, b as i32),
        Op::Pow => a.powf(b),
        Op::Cbrt => a.cbrt(),
        Op::Hypot => a.hypot(b),
        Op::Atan2 => a.atan2(b),
        Op::Atan2Pi => a.atan2(b) / PI,
        Op::Jn => libm::jn(a as i32, b),
        Op::Yn => libm::yn(a as i32, b),
        Op::Fmod => a % b,
        Op::Remainder => libm::remainder(a, b),
        Op::Fdim => libm::fdim(a, b),
        Op::Fmin => a.min(b),
        Op::Fmax => a.max(b),
        Op::Fminmag => select(a.abs() == b.abs(), a.min(b), select(a.abs() < b.abs() || b.is_nan(), a, b)),
        Op::Fmaxmag => select(a.abs() == b.abs(), a.max(b), select(a.abs() > b.abs() || b.is_nan(), a, b)),
        Op::Modf => select(a.is_infinite(), f64::NAN, libm::modf(a).0),
        Op::YLog2 => a * b.log2(),
        Op::YLog2p1 => a * (b.ln_1p() / LN_2),
        _ => native_unary(op, a),
    }
}

fn select(condition: bool, yes: f64, no: f64) -> f64 {
    if condition { yes } else { no }
}

/// sin πa, from the distance to the nearest zero.
fn sine_of_turns(a: f64) -> f64 {
    let turn = libm::remainder(a, 2.0);
    let distance = turn.abs().min(1.0 - turn.abs());
    if turn.is_nan() { turn } else { (PI * distance).sin().copysign(turn) }
}

/// cos πa, likewise.
fn cosine_of_turns(a: f64) -> f64 {
    (PI * (0.5 - libm::remainder(a, 2.0).abs())).sin()
}

fn native_unary(op: Op, a: f64) -> f64 {
    match op {
        Op::Exp => a.exp(),
        Op::Exp2 => a.exp2(),
        Op::Exp10 => 10f64.powf(a),
        Op::Expm1 => a.exp_m1(),
        Op::Exp2m1 => (a * LN_2).exp_m1(),
        Op::Exp10m1 => (a * LN_10).exp_m1(),
        Op::Log => a.ln(),
        Op::Log2 => a.log2(),
        Op::Log10 => a.log10(),
        Op::Log1p => a.ln_1p(),
        Op::Log2p1 => a.ln_1p() / LN_2,
        Op::Log10p1 => a.ln_1p() / LN_10,
        Op::Sin => a.sin(),
        Op::Cos => a.cos(),
        Op::Tan => a.tan(),
        Op::Asin => a.asin(),
        Op::Acos => a.acos(),
        Op::Atan => a.atan(),
        Op::SinPi => sine_of_turns(a),
        Op::CosPi => cosine_of_turns(a),
        Op::TanPi => sine_of_turns(a) / cosine_of_turns(a),
        Op::AsinPi => a.asin() / PI,
        Op::AcosPi => a.acos() / PI,
        Op::AtanPi => a.atan() / PI,
        Op::Sinh => a.sinh(),
        Op::Cosh => a.cosh(),
        Op::Tanh => a.tanh(),
        Op::Asinh => a.asinh(),
        // libm 0.2 has values below 1, std loses digits above.
        Op::Acosh => {
            if a < 1.0 {
                f64::NAN
            } else {
                libm::acosh(a)
            }
        }
        Op::Atanh => a.atanh(),
        Op::Erf => libm::erf(a),
        Op::Erfc => libm::erfc(a),
        Op::Lgamma => libm::lgamma(a),
        Op::Tgamma => libm::tgamma(a),
        Op::J0 => libm::j0(a),
        Op::J1 => libm::j1(a),
        Op::Y0 => libm::y0(a),
        Op::Y1 => libm::y1(a),
        _ => panic!("{} needs a reference here", op.name()),
    }
}

/// libm's own errors; they grow with the exponent in powers and exponentials written with a rounded ln 2.
const TOLERANCE: f64 = 3e-13;

#[test]
fn reals_are_the_functions_of_c() {
    for &op in Op::ALL {
        let mut random = Random::of(op);
        for _ in 0..500 {
            let x = operands(&mut random, op, Format::F64);
            let (want, got) = (native(op, &x), real(op, BITS, &exact(BITS, &x)));
            if !want.is_finite() || want != 0.0 && !want.is_normal() {
                continue;
            }
            // lnΓ has zeros too.
            let scale = scale(op, &x, want).max(if op == Op::Lgamma { 1.0 } else { 0.0 });
            let error = relative_error(want, &got, scale);
            assert!(error <= TOLERANCE, "{}{x:?}: {want:e} in C, {:e} in MPFR", op.name(), got.to_f64());
        }
    }
}

/// Every combination of special operands.
fn special_operands(op: Op) -> Vec<Vec<f64>> {
    let values = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
    let mut all = vec![vec![]];
    for operand in op.operands() {
        let fits = |v: &f64| !operand.integer || v.fract() == 0.0;
        all = all
            .iter()
            .flat_map(|x: &Vec<f64>| {
                values.iter().filter(|v| fits(v)).map(|&v| x.iter().copied().chain([v]).collect::<Vec<f64>>())
            })
            .collect();
    }
    all
}

#[test]
fn special_values_are_those_of_c() {
    for &op in Op::ALL {
        for x in special_operands(op) {
            let (want, got) = (native(op, &x), real(op, BITS, &exact(BITS, &x)).to_f64());
            let same = got == want || got.is_nan() && want.is_nan() || (got - want).abs() <= 1e-15;
            assert!(same || (got / want - 1.0).abs() < 1e-14, "{}{x:?}: {want:e} in C, {got:e}", op.name());
        }
    }
}

#[test]
fn current_rounding_is_the_guests() {
    let half = Float::with_val(BITS, 2.5);
    for (current, want) in
        [(Rounding::NearestEven, 2), (Rounding::Down, 2), (Rounding::Up, 3), (Rounding::Zero, 2)]
    {
        let m = Mpfr { current, ..Mpfr::new(BITS) };
        assert_eq!(Op::Rint.real(&m, &[&half]), want);
    }
    assert_eq!(Mpfr::new(BITS).round(&half, Rounding::NearestAway), 3);
}

/// MPFR alone would take the machine's memory for these.
#[test]
fn bessel_functions_of_large_arguments() {
    let m = Mpfr::new(BITS);
    for n in [-3, 7, 200, 5000] {
        let (order, x) = (Float::with_val(BITS, n), Float::with_val(BITS, 1e12));
        let next = Float::with_val(BITS, n + 1);
        // Wronskian, DLMF 10.5.2.
        let (j, y) = (m.jn(&order, &x), m.yn(&order, &x));
        let wronskian = m.jn(&next, &x) * y - m.yn(&next, &x) * j;
        let want = Float::with_val(BITS, 2) / (x * Float::with_val(BITS, rug::float::Constant::Pi));
        assert!((wronskian / want - 1u32).abs() < 1e-60, "order {n}");
    }
    assert!(m.sin(&(Float::with_val(BITS, 1) << 100_000_000)).is_nan());
}
