//! Errors of numbers that nobody chose, against reals.

use super::*;
use crate::reals::convert;
use shadowgrind_core::arith::trace_bits;

/// A long double from the bits of a linear congruence (Knuth, TAOCP 2, 3.3.4), with few digits or many.
fn random(state: &mut u64) -> Float {
    let mut next = || {
        *state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        *state >> 32
    };
    let significand = (next() << 32 | next()) | 1 << 63;
    let kept = if next() % 2 == 0 { 64 } else { next() % 64 + 1 };
    let exponent = (next() % 140) as i32 - 70;
    let size = Float::with_val(64, significand & !(u64::MAX.checked_shr(kept as u32).unwrap_or(0)));
    let size = (size << exponent) >> 63;
    if next() % 2 == 0 { size } else { -size }
}

/// Errors of long doubles by arithmetic are those of reals, to what is promised of them; exact results have none.
#[test]
fn errors_of_long_doubles_are_those_of_reals() {
    let mut state = 1;
    let reals = Mpfr::new(400);
    for op in [Op::Add, Op::Sub, Op::Mul, Op::Div, Op::Sqrt, Op::Narrow] {
        let mut exact = 0;
        for n in 0..20_000 {
            let near = n % 5 == 0;
            let a = random(&mut state);
            let b = if near { Float::with_val(64, &a * 1.0000001) } else { random(&mut state) };
            let x = [if op == Op::Sqrt { a.abs() } else { a }, b];
            let relative = [0.0, 1e-20, 1e-17][n % 3];
            let errors = [0, 1].map(|i| x[i].to_f64() * relative * (n as f64 / 20_000.0));
            let count = op.arity();
            let to = if op == Op::Narrow { Format::F64 } else { Format::F80 };
            let real = op.real(&reals, &x.iter().take(count).collect::<Vec<_>>());
            let r = convert::to_bits(to, &Float::with_val(to.precision(), &real));
            let bits = [0, 1].map(|i| convert::to_bits(Format::F80, &x[i]));
            let shadows = errors.each_ref().map(|error| (*error != 0.0).then_some(error));
            let lane = Lane {
                site: Site::NONE,
                op,
                from: Format::F80,
                to,
                x: &bits[..count],
                r,
                shadows: &shadows[..count],
            };
            let got = ErrorShadow::long(&lane).expect("numbers that are told in parts");
            let moved: Vec<Float> = (0..count).map(|i| Float::with_val(400, &x[i] + errors[i])).collect();
            let want = op.real(&reals, &moved.iter().collect::<Vec<_>>()) - convert::from_bits(to, r);
            let terms = x[0].clone().abs() + x[1].clone().abs();
            let size = if op.addends().is_empty() { real.clone().abs() } else { terms };
            let off = Float::with_val(400, &want - got).abs();
            // The last bits of quotients' and roots' errors are traces of what is lost in them: each of these turned over.
            let has_trace = matches!(op, Op::Div | Op::Sqrt) && relative != 0.0;
            let trace = if has_trace { trace_bits(Format::F64) as f64 * f64::EPSILON } else { 0.0 };
            let bound = want.clone().abs() * (trace + f64::exp2(-50.0)) + size * f64::exp2(-103.0);
            assert!(off <= bound, "{} {x:?} {errors:?}: {got}, not {want}", op.name());
            assert!(!want.is_zero() || got.to_bits() == 0, "{} {x:?} is exact", op.name());
            exact += u32::from(want.is_zero());
        }
        assert!(exact > 40, "{}: {exact} exact results", op.name());
    }
}

/// Errors of floats scaled by powers of two are those of reals to the last bit, near the ends of the format's range as well, and most
/// are told without those.
#[test]
fn errors_of_scaled_floats_are_those_of_reals() {
    let reals = Mpfr::new(PRECISION);
    for format in [Format::F64, Format::F32] {
        let host = Host::new(format);
        let bits = |x: f64| format.from_f64(x);
        let powers: Vec<f64> = [1.0, 0.7, -1.3, 0.0, -0.0, f64::INFINITY, f64::NAN]
            .into_iter()
            .flat_map(|x| [0, 60, -60, 120, -120, 1000, -1000, -1060].map(|n| host.round(libm::ldexp(x, n))))
            .collect();
        let mut told = 0;
        for (x, n) in powers.iter().flat_map(|&x| (-2200..2200).step_by(7).map(move |n| (x, n))) {
            let r = host.round(libm::scalbn(x, n));
            for error in [0.0, 1e-17, -3e-9].map(|relative| host.round(x * relative)) {
                let (n, error) = (f64::from(n), if error == 0.0 { 0.0 } else { error });
                let given = Given { x: &[x, n], r, shadows: &[error, 0.0] };
                let got = ErrorShadow::eval(format, Op::Ldexp, given);
                told += u32::from(!got.is_nan());
                let got = if got.is_nan() { ErrorShadow::eval_slowly(format, Op::Ldexp, given) } else { got };
                let operands = [real(format, bits(x), Some(error)), Float::with_val(53, n)];
                let want = difference_of(&reals, Op::Ldexp, &operands, (format, bits(r)));
                let alike = got.to_bits() == want.to_bits() || got.is_nan() && want.is_nan();
                assert!(alike, "{format:?} {x:e} by {n}, off by {error:e}: {got:e}, not {want:e}");
            }
        }
        assert!(told > 10_000, "{told} told");
    }
}

/// Roots, quotients and functions keep a trace of an error that is lost beside what they round off themselves; exact results have
/// no error.
#[test]
fn lost_errors_leave_a_trace() {
    let error =
        |op, x: &[f64], r, shadows: &[f64]| ErrorShadow::eval(Format::F64, op, Given { x, r, shadows });
    let root = 1e200_f64.sqrt();
    let roots = [0.0, 1.0].map(|e| error(Op::Sqrt, &[1e200], root, &[e]));
    assert!(roots[0] != roots[1] && (roots[0] / roots[1] - 1.0).abs() < 1e-12, "{roots:?}");
    let quotients = [0.0, 1.0].map(|e| error(Op::Div, &[10.0, 3e60], 10.0 / 3e60, &[0.0, e]));
    assert!(quotients[0] != quotients[1], "{quotients:?}");
    let logarithms = [0.0, 1.0].map(|e| error(Op::Log, &[1e60], 1e60_f64.ln(), &[e]));
    assert!(logarithms[0] != logarithms[1], "{logarithms:?}");
    // The square of 1e60 is off by what the root's rounding takes off again.
    let square = error(Op::Mul, &[1e60, 1e60], 1e60 * 1e60, &[0.0, 0.0]);
    let root = error(Op::Sqrt, &[1e60 * 1e60], 1e60, &[square]);
    assert!(root != 0.0 && root.abs() < 1e60 * f64::exp2(-98.0), "{root}");
    assert_eq!(error(Op::Sqrt, &[4.0], 2.0, &[0.0]).to_bits(), 0);
    assert_eq!(error(Op::Div, &[1.0, 4.0], 0.25, &[0.0, 0.0]).to_bits(), 0);
    assert_eq!(error(Op::Sqrt, &[1e60 * 1e60], 1e60, &[square]), root);
}

/// A function that is next to a number is off by what it is next to it, however little that is.
#[test]
fn functions_near_numbers_have_errors() {
    let error =
        |op, x: f64, r| ErrorShadow::eval_slowly(Format::F64, op, Given { x: &[x], r, shadows: &[0.0] });
    assert_eq!(error(Op::Exp, 1e-200, 1.0), 1e-200);
    assert_eq!(error(Op::Cos, 1e-100, 1.0), -0.5e-200);
    assert_eq!(error(Op::Cos, 0.0, 1.0).to_bits(), 0);
}

/// Infinities, NaN, subnormals and what else is not told in parts are left to the reals.
#[test]
fn strange_long_doubles_have_no_parts() {
    let strange =
        [1 << 79 | 0x7fff << 64, 1, 0x3fff << 64 | 1, 0x7fff << 64 | 3 << 62, 0x5fff << 64 | 1 << 63];
    for bits in strange {
        assert_eq!(Parts::of(bits), None, "{bits:#x}");
    }
    assert_eq!(Parts::of(0), Some(Parts { high: 0.0, low: 0.0 }));
}

/// Roundings to integers that come out otherwise with the error are in doubt: numbers of all sizes, integers and halves among them,
/// in both formats, against MPFR. Most others are not.
#[test]
fn roundings_that_come_out_otherwise_are_in_doubt() {
    let (mut state, mut doubted, mut count) = (1_u64, 0, 0);
    let mut random = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 11) as f64 / (1_u64 << 53) as f64
    };
    for n in 0..40_000 {
        let format = if n % 2 == 0 { Format::F64 } else { Format::F32 };
        let k = Host::new(format);
        let size = (random() * f64::from(format.precision() + 4)).exp2();
        let size = [size, size.floor(), size.floor() + 0.5][n % 3];
        let x = k.round(if random() < 0.5 { -size } else { size });
        let error = k.round(x * (random() - 0.5) * [1e-16, 1e-9, 1e-3, 0.0][n / 6 % 4]);
        let real = Float::with_val(PRECISION, x) + error;
        for op in [Op::Trunc, Op::Floor, Op::Ceil, Op::Round, Op::RoundEven, Op::Rint] {
            let rounded = |x: Float| match op {
                Op::Trunc => x.trunc(),
                Op::Floor => x.floor(),
                Op::Ceil => x.ceil(),
                Op::Round => x.round(),
                _ => x.round_even(),
            };
            let differs = rounded(real.clone()) != rounded(Float::with_val(PRECISION, x));
            let doubt = ErrorShadow::doubt(&k, op, Given { x: &[x], r: 0.0, shadows: &[error] });
            assert!(doubt != 0.0 || !differs, "{} {format:?} {x:e} {error:e}", op.name());
            (doubted, count) = (doubted + usize::from(doubt != 0.0 && !differs), count + 1);
        }
    }
    assert!(doubted * 3 < count, "{doubted} of {count} doubted for nothing");
}

/// Errors of what is made of a number that its error nearly cancels are unknown: such a number is noise, and so is what it divides.
/// Less than that is told, and so are zeros that are divided by others.
#[test]
fn what_cancelled_numbers_divide_is_unknown() {
    let error = |op, x: &[f64], r, e: &[f64]| {
        let given = Given { x, r, shadows: e };
        let told = ErrorShadow::eval(Format::F64, op, given);
        if told.is_nan() { ErrorShadow::eval_slowly(Format::F64, op, given) } else { told }
    };
    let cancelled = |bits: f64| -0.5 * (1.0 - (-bits).exp2());
    for (bits, is_told) in [(5.0, true), (9.0, true), (11.0, false), (40.0, false)] {
        let quotient = error(Op::Div, &[3.0, 0.5], 6.0, &[0.0, cancelled(bits)]);
        assert_eq!(!quotient.is_nan(), is_told, "{bits} bits: {quotient}");
        let logarithm = error(Op::Log, &[0.5], 0.5_f64.ln(), &[cancelled(bits)]);
        assert_eq!(!logarithm.is_nan(), is_told, "{bits} bits: {logarithm}");
        let power = error(Op::Pow, &[0.5, -0.2], 0.5_f64.powf(-0.2), &[cancelled(bits), 0.0]);
        assert_eq!(!power.is_nan(), is_told, "{bits} bits: {power}");
        let root = error(Op::Sqrt, &[0.5], 0.5_f64.sqrt(), &[cancelled(bits + 10.0)]);
        assert_eq!(!root.is_nan(), is_told, "{bits} bits: {root}");
        assert!(!error(Op::Exp, &[0.5], 0.5_f64.exp(), &[cancelled(bits)]).is_nan());
    }
}
