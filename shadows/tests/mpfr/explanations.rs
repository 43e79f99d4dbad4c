//! Expressions, FPCore, ranges.

use shadowgrind_core::findings::{Finding, Interval};
use shadowgrind_core::format::Format;
use shadowgrind_core::ops::Op;

use shadowgrind_shadows::mpfr::Settings;

use crate::machine::{Machine, Tracked};

/// sqrt(x + 1) − sqrt(x) at each input.
fn roots(inputs: &[f64]) -> Finding {
    let m = Machine::new();
    for &x in inputs {
        let (x, one) = (m.f64(x), m.f64(1.0));
        let next = m.add(1, &x, &one);
        let (a, b) = (m.sqrt(2, &next), m.sqrt(3, &x));
        let result = m.sub(4, &a, &b);
        m.print(&result);
    }
    m.finding(4)
}

#[test]
fn one_expression_for_all_executions() {
    let finding = roots(&[1e13 / 3.0, 3.3e15, 0.7, 1e12 / 7.0, 0.1]);
    assert_eq!(finding.expression.as_deref(), Some("sqrt(x + 1.0) - sqrt(x)"));
    let [range] = &finding.ranges[..] else { panic!("{:?}", finding.ranges) };
    assert_eq!(range.all, [Interval { min: 0.1, max: 3.3e15 }]);
    assert_eq!(range.erroneous, [Interval { min: 1e12 / 7.0, max: 3.3e15 }]);
    assert_eq!(range.worst, Some(3.3e15));
    assert_eq!(
        finding.fpcore.as_deref(),
        Some(
            "(FPCore (x) :name \"sub\" :precision binary64 :pre (<= 0.1 x 3300000000000000.0) \
             (- (sqrt (+ x 1.0)) (sqrt x)))"
        )
    );
}

/// √10¹⁰ is exact and looks like any constant; that it is a root shows at the second input.
#[test]
fn exact_results_of_the_first_execution_are_understood_later() {
    for inputs in [[1e10, 1e11, 3e13, 7e14], [1e11, 1e10, 1e12, 3e13]] {
        let finding = roots(&inputs);
        assert_eq!(finding.expression.as_deref(), Some("sqrt(x + 1.0) - sqrt(x)"));
    }
}

/// 3 was read, and is none of the products that an expression had in its place before, though another product is 3 as well.
#[test]
fn a_float_is_not_what_made_another_of_the_same_bits() {
    let m = Machine::new();
    let large = m.f64(1e17);
    let lost = |x: &Tracked| m.print(&m.sub(3, &m.add(2, x, &large), &large));
    lost(&m.mul(1, &m.f64(0.1), &m.f64(0.7)));
    lost(&m.mul(1, &m.f64(0.3), &m.f64(0.9)));
    m.mul(20, &m.f64(1.5), &m.f64(2.0));
    lost(&m.f64(3.0));
    let finding = m.finding(3);
    assert_eq!(finding.expression.as_deref(), Some("x + 1e17 - 1e17"));
    assert_eq!(finding.ranges[0].worst, Some(3.0));
}

#[test]
fn a_single_execution_is_all_constants() {
    let finding = roots(&[1e13 / 3.0]);
    let expression = finding.expression.expect("an expression");
    assert_eq!(expression, "sqrt(3333333333333.3335 + 1.0) - sqrt(3333333333333.3335)");
    assert!(finding.ranges.is_empty());
}

#[test]
fn ranges_are_split_by_sign_and_differing_values_are_different_variables() {
    let m = Machine::new();
    for (x, y) in [(1e9 / 3.0, 1.3), (-1e10 / 3.0, 1.3), (2e9 / 7.0, 2.7), (1.7e9, 1.7e9)] {
        let (x, y) = (m.f64(x), m.f64(y));
        let sum = m.add(1, &x, &y);
        let result = m.sub(2, &sum, &x);
        m.print(&result);
    }
    let finding = m.finding(2);
    assert_eq!(finding.expression.as_deref(), Some("x + y - x"));
    assert_eq!(finding.ranges[0].erroneous.len(), 2);
    assert_eq!(finding.remedies[0].expression, "y");
    assert_eq!(finding.remedies[0].bits_after, 0.0);
}

/// A sign that is turned over unseen makes no other variable.
#[test]
fn negatives_are_one_variable() {
    let m = Machine::new();
    for x in [1e-5 / 3.0, -2e-7 / 3.0, 1e-3 / 7.0] {
        let (x, minus) = (m.f64(x), m.f64(-x));
        let (up, down) = (m.op(1, Op::Exp, &[&x]), m.op(2, Op::Exp, &[&minus]));
        let result = m.sub(3, &up, &down);
        m.print(&result);
    }
    let finding = m.finding(3);
    assert_eq!(finding.expression.as_deref(), Some("exp(x) - exp(-x)"));
    assert_eq!(finding.remedies[0].expression, "2.0 * sinh(x)");
    assert_eq!(finding.ranges.len(), 1);
}

/// A remedy that is right for one sign only is no remedy where the program has both: √(x² − 4) − x cancels for positive
/// numbers, its conjugate for negative ones. Executions that go right are recorded as well.
#[test]
fn remedies_are_tried_on_what_goes_right_too() {
    let program = |settings: Settings| {
        let m = Machine::with(settings);
        for x in [1e7, -1e7, 3e8, -3e8, 2.5e5, -2.5e5, 7e6, -7e6] {
            let (x, four) = (m.f64(x / 3.0), m.f64(4.0));
            let square = m.mul(1, &x, &x);
            let root = m.sqrt(2, &m.sub(3, &square, &four));
            let result = m.sub(4, &root, &x);
            m.print(&result);
        }
        m.finding(4)
    };
    let remedy = &program(Settings::default()).remedies[0];
    assert!(remedy.expression.starts_with("x < 0.0 ? sqrt("), "{remedy:?}");
    assert!(remedy.fpcore.as_ref().is_some_and(|core| core.contains("(if (< x 0.0) ")), "{remedy:?}");
    assert!(remedy.samples == 8 && remedy.bits_before > 15.0 && remedy.bits_after < 1.5, "{remedy:?}");
    assert!(program(Settings { remedies: false, ..Settings::default() }).remedies.is_empty());
}

#[test]
fn depth_is_bounded() {
    let m = Machine::new();
    let mut x = m.f64(1.0 / 3.0);
    for _ in 0..20 {
        x = m.op(1, Op::Cos, &[&x]);
    }
    let near = m.f64(x.float() * (1.0 + 1e-12));
    let result = m.sub(2, &x, &near);
    m.print(&result);
    let expression = m.finding(2).expression.expect("an expression");
    assert_eq!(expression.matches("cos").count(), 4, "{expression}");
}

#[test]
fn formats_are_spelt_out_where_they_change() {
    let m = Machine::new();
    for x in [0.3, 0.7, 0.9] {
        let x = m.lit(Format::F32, x);
        let third = m.div(1, &x, &m.lit(Format::F32, 3.0));
        let wide = m.widen(&third, Format::F64);
        let near = m.f64(wide.float() * (1.0 + 1e-9));
        let result = m.sub(2, &wide, &near);
        m.print(&result);
    }
    let core = m.finding(2).fpcore.expect("a core");
    assert!(core.contains("(- (! :precision binary32 (/ x 3.0)) y)"), "{core}");
}

#[test]
fn a_loop_is_not_unrolled_where_roundings_are_to_blame() {
    let m = Machine::new();
    let mut sum = m.f64(0.0);
    for i in 0..5000 {
        let (x, y) = (m.f64(0.1 + f64::from(i) * 1e-3), m.f64(0.7 / f64::from(i + 1)));
        let product = m.mul(1, &x, &y);
        sum = m.add(2, &sum, &product);
    }
    let far = m.f64(sum.float().round());
    let rest = m.sub(3, &sum, &far);
    m.print(&rest);
    let finding = m.finding(2);
    assert_eq!(finding.expression.as_deref(), Some("x + y * z"));
    assert!(finding.ranges[0].erroneous.is_empty() && !finding.ranges[0].all.is_empty());
}
