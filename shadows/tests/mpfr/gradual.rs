//! Programs that go wrong little by little, or whose culprit is a library function: the line that comes first.

use shadowgrind_core::findings::FindingKind::{self, *};
use shadowgrind_core::format::Format::{F32, F64};
use shadowgrind_core::ops::Op;

use crate::formulas::Number;
use crate::machine::Machine;

/// Runs `program`, which says what line its culprit is on.
fn blames(kind: FindingKind, program: impl for<'m> Fn(&'m Machine) -> (u32, Number<'m>)) {
    let m = Machine::new();
    let (line, result) = program(&m);
    m.print(&result.1);
    let ranked = m.ranked();
    assert_eq!(ranked.first(), Some(&(kind, line)), "{ranked:?}");
}

#[test]
fn an_alternating_series() {
    blames(Cancellation, |m| {
        let x = m.number(F64, -20.0);
        let (mut term, mut sum, mut line) = (m.number(F64, 1.0), m.number(F64, 1.0), 0);
        for k in 1..120 {
            term = term * &x / f64::from(k);
            (sum, line) = (sum + &term, line!());
        }
        (line, sum)
    });
}

/// ∫ xⁿ eˣ over [0, 1], from n = 0 up: the error of the first is multiplied by n!.
#[test]
fn an_unstable_recurrence() {
    blames(Cancellation, |m| {
        let e = m.number(F64, 1.0).exp();
        let (mut integral, mut line) = (&e - 1.0, 0);
        for n in 1..20 {
            (integral, line) = (&e - f64::from(n) * &integral, line!());
        }
        (line, integral)
    });
}

#[test]
fn chaos() {
    blames(Cancellation, |m| {
        let (mut x, mut line) = (m.number(F64, 0.3), 0);
        for _ in 0..60 {
            (x, line) = (3.9 * &x * (1.0 - &x), line!());
        }
        (line, x)
    });
}

/// cos nθ by cos (n + 1)θ = 2 cos θ cos nθ − cos (n − 1)θ: linear growth of errors, which worst-case bounds of the reals'
/// own errors take for exponential.
#[test]
fn chebyshevs_recurrence() {
    blames(Cancellation, |m| {
        let c = m.number(F64, 1e-4).cos();
        let (mut before, mut here, mut line) = (m.number(F64, 1.0), c.clone(), 0);
        for _ in 0..20_000 {
            let next = 2.0 * &c * &here - &before;
            (before, here, line) = (here, next, line!() - 1);
        }
        (line, here)
    });
}

#[test]
fn expanded_polynomials_and_divided_differences() {
    blames(Cancellation, |m| {
        let x = m.number(F64, 1.0003);
        let (mut value, mut line) = (m.number(F64, 0.0), 0);
        for coefficient in [1.0, -7.0, 21.0, -35.0, 35.0, -21.0, 7.0, -1.0] {
            (value, line) = (value * &x + coefficient, line!());
        }
        (line, value)
    });
    blames(Cancellation, |m| {
        let (x, h) = (m.number(F64, 0.7), m.number(F64, 1e-13));
        let (above, here) = ((&x + &h).sin(), x.sin());
        let (difference, line) = (above - here, line!());
        (line, difference / h)
    });
}

#[test]
fn interest_by_a_power() {
    blames(Rounding, |m| {
        let periods = m.number(F64, 3.1536e9);
        let base = 1.0 + 0.06 / &periods;
        (77, Number(m, m.op(77, Op::Pow, &[&base.1, &periods.1])))
    });
}

#[test]
fn a_harmonic_sum_in_single_precision() {
    blames(Accumulation, |m| {
        let (mut sum, mut line) = (m.number(F32, 0.0), 0);
        for k in 1..100_000 {
            let term = m.number(F32, 1.0) / f64::from(k);
            (sum, line) = (sum + term, line!());
        }
        (line, sum)
    });
}

/// √2² − 2 is 0 in the reals; reals of 256 bits have noise there, which they know for what it is. (So does the truth of
/// 1200 bits: it is not compared.)
#[test]
fn what_is_zero_in_the_reals() {
    let m = Machine::new();
    let root = m.number(F64, 2.0).sqrt();
    let rest = &root * &root - 2.0;
    let measured = m.shadow.borrow().measure(&rest.1.seen());
    assert_eq!(measured.real, "0.0");
    assert_eq!(measured.error_bits, (1.0 + rest.1.float().to_bits() as f64).log2());
}
