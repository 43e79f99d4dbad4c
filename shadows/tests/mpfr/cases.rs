//! Known programs with known error: what is measured is what MPFR says at 1200 bits.

use shadowgrind_core::format::Format;
use shadowgrind_core::ops::Op;

use crate::machine::{Machine, Tracked, check};

#[test]
fn exact_operations_on_plain_floats_are_not_shadowed() {
    for format in Format::ALL {
        let m = Machine::new();
        let (a, b) = (m.lit(format, 1.5), m.lit(format, 0.25));
        for op in [Op::Add, Op::Sub, Op::Mul, Op::Div, Op::Max] {
            assert!(m.op(1, op, &[&a, &b]).shadow.is_none(), "{op:?} {format:?}");
        }
        let third = m.div(2, &b, &a);
        assert!(third.shadow.is_some(), "{format:?}");
        assert!(check(&m, &third).error_bits == 0.0);
        // 0 · x is exactly 0 again.
        let zero = m.lit(format, 0.0);
        assert!(m.mul(3, &zero, &third).shadow.is_none());
    }
}

/// 0.1 added up n times, plainly or with Kahan's compensation.
fn sum(m: &Machine, format: Format, n: u32, compensated: bool) -> Tracked {
    let (mut sum, mut lost, tenth) = (m.lit(format, 0.0), m.lit(format, 0.0), m.lit(format, 0.1));
    for _ in 0..n {
        if compensated {
            let y = m.sub(10, &tenth, &lost);
            let t = m.add(11, &sum, &y);
            let seen = m.sub(12, &t, &sum);
            lost = m.sub(13, &seen, &y);
            sum = t;
        } else {
            sum = m.add(14, &sum, &tenth);
        }
    }
    sum
}

#[test]
fn naive_and_compensated_sums() {
    for format in Format::ALL {
        let m = Machine::new();
        let naive = sum(&m, format, 10_000, false);
        let kahan = sum(&m, format, 10_000, true);
        assert!(check(&m, &naive).error_bits > 5.0, "{format:?}");
        assert!(check(&m, &kahan).error_bits <= 1.0, "{format:?}");
    }
}

#[test]
fn one_plus_a_large_number() {
    let m = Machine::new();
    let (x, one) = (m.lit(Format::F64, 1e16), m.lit(Format::F64, 1.0));
    let y = m.add(1, &x, &one);
    let z = m.sub(2, &y, &x);
    let measured = check(&m, &z);
    assert_eq!((z.float(), measured.real.as_str()), (0.0, "1.0"));
    assert_eq!(measured.correct_digits, 0.0);
}

#[test]
fn a_promoted_float_is_measured_as_one() {
    let m = Machine::new();
    let naive = sum(&m, Format::F32, 1000, false);
    let wide = m.widen(&naive, Format::F64);
    assert_eq!(m.shadow.borrow().measure(&wide.seen()).error_bits, check(&m, &naive).error_bits);
}
