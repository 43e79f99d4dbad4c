//! Reals that run out of bits: the digits they still give are right, and their lack is told.

use shadowgrind_core::ops::Op;
use shadowgrind_shadows::mpfr::{MpfrShadow, Settings};

use crate::machine::{Machine, Tracked, check};

fn with(precision: u32) -> Machine {
    Machine::with(Settings { precision, settles: false, ..Settings::default() })
}

/// The logistic map loses a bit in each turn on average, whereas no bound that is found step by step grows by less than
/// two: the real is kept beyond where the bound says that no bit of it is significant.
#[test]
fn a_chaotic_recurrence_keeps_its_real() {
    let m = with(256);
    let (mut x, a) = (m.f64(0.3), m.f64(3.9));
    for turn in 1..=170 {
        let (linear, ax) = (m.mul(1, &a, &x), m.mul(2, &a, &x));
        x = m.sub(4, &linear, &m.mul(3, &ax, &x));
        if turn % 10 == 0 {
            check(&m, &x);
        }
    }
}

fn absorbed(m: &Machine, small: f64) -> Tracked {
    let large = m.f64(1e10);
    let sum = m.add(1, &large, &m.f64(small));
    m.sub(2, &sum, &large)
}

fn exhausted(shadow: &MpfrShadow) -> Vec<(u32, u64)> {
    shadow.exhausted().iter().map(|exhausted| (exhausted.site.bits(), exhausted.count)).collect()
}

/// (10¹⁰ + 10⁻⁷⁰) − 10¹⁰ is zero to 256 bits, as it is to doubles: nothing tells the two apart but more precision.
#[test]
fn a_zero_that_reals_cannot_see_through_is_told() {
    let m = with(256);
    absorbed(&m, 1e-70);
    assert_eq!(exhausted(&m.shadow.borrow()), [(2, 1)]);
    let m = with(1000);
    let difference = absorbed(&m, 1e-70);
    assert_eq!(exhausted(&m.shadow.borrow()), []);
    assert!(check(&m, &difference).error_bits > 50.0);
}

/// (10¹⁰ + 10⁻⁷⁰) − 10¹⁰, where the reals settle themselves.
#[test]
fn a_zero_that_is_none_is_found_out() {
    let m = Machine::new();
    let difference = absorbed(&m, 1e-70);
    assert_eq!(exhausted(&m.shadow.borrow()), []);
    assert!(check(&m, &difference).error_bits > 50.0);
}

/// A thousand turns of the logistic map lose four times the bits that reals have.
#[test]
fn a_long_chaotic_recurrence_settles_itself() {
    let m = Machine::new();
    let (mut x, a) = (m.f64(0.3), m.f64(3.9));
    for turn in 1..=1000 {
        let (linear, ax) = (m.mul(1, &a, &x), m.mul(2, &a, &x));
        x = m.sub(4, &linear, &m.mul(3, &ax, &x));
        if turn % 50 == 0 {
            m.print(&x);
        }
    }
}

/// A zero that is one in truth, although reals are rounded on the way, is no reason to doubt.
#[test]
fn a_true_zero_is_not_doubted() {
    let m = with(256);
    for n in 2..100 {
        let (one, n) = (m.f64(1.0), m.f64(n.into()));
        let back = m.mul(2, &m.div(1, &one, &n), &n);
        let zero = m.sub(3, &back, &one);
        let square = m.op(4, Op::Sqrt, &[&n]);
        let also_zero = m.sub(6, &m.mul(5, &square, &square), &n);
        let unlike = m.sub(9, &m.add(7, &m.div(8, &one, &n), &n), &n);
        for x in [&zero, &also_zero] {
            let real = m.shadow.borrow().measure(&x.seen()).real;
            assert!(real == "0.0" || x.shadow.is_none() && x.float() == 0.0, "{real}");
        }
        check(&m, &unlike);
    }
    assert_eq!(exhausted(&m.shadow.borrow()), []);
}
