//! Comparisons and conversions that the reals decide otherwise, and near misses.

use shadowgrind_core::findings::FindingKind::{Branch, Conversion};
use shadowgrind_core::ops::Op;
use shadowgrind_core::shadow::Rule;
use shadowgrind_core::site::Site;
use shadowgrind_core::step::{Predicate, ToInteger};
use shadowgrind_shadows::mpfr::Settings;

use crate::machine::{Machine, Tracked};

fn compare(m: &Machine, mask: u8, a: &Tracked, b: &Tracked) {
    m.shadow.borrow_mut().compare(Site::from_bits(50), Predicate(mask), [a.seen(), b.seen()]);
}

fn tenths(m: &Machine, n: u32) -> Tracked {
    let tenth = m.f64(0.1);
    (1..n).fold(tenth.clone(), |sum, _| m.add(1, &sum, &tenth))
}

#[test]
fn ten_tenths_are_below_one_only_in_floats() {
    let m = Machine::new();
    let (sum, one) = (tenths(&m, 10), m.f64(1.0));
    assert!(sum.float() < 1.0 && sum.truth > 1.0);
    compare(&m, Predicate::LESS, &sum, &one);
    let finding = m.finding(50);
    assert_eq!((finding.kind, finding.count, finding.operation.as_str()), (Branch, 1, "<"));
    assert_eq!(finding.causes, [Site::from_bits(1)]);
    assert_eq!(finding.expression.as_deref(), Some("0.8999999999999999 + 0.1 < 1.0"));
    assert!(finding.fpcore.is_some_and(|core| core.ends_with("(< (+ 0.8999999999999999 0.1) 1.0))")));
}

#[test]
fn three_tenths_are_not_a_third_of_nine_tenths_in_the_reals_either() {
    let m = Machine::new();
    let (a, b) = (m.f64(0.1), m.f64(0.3));
    let product = m.mul(1, &a, &m.f64(3.0));
    compare(&m, Predicate::EQUAL, &product, &b);
    compare(&m, Predicate::LESS, &a, &product);
    compare(&m, 0x80, &product, &a);
    assert_eq!(m.ranked(), []);
}

#[test]
fn what_the_reals_cannot_tell_is_no_flip() {
    let m = Machine::with(Settings { settles: false, ..Settings::default() });
    let (one, fortynine) = (m.f64(1.0), m.f64(49.0));
    // 1/49·49 is below 1 in floats; in reals of 256 bits nobody knows.
    let product = m.mul(2, &m.div(1, &one, &fortynine), &fortynine);
    assert!(product.float() < 1.0);
    compare(&m, Predicate::EQUAL, &product, &one);
    m.shadow.borrow_mut().to_integer(Site::from_bits(60), ToInteger::Truncate, product.seen());
    let (compared, converted) = (m.finding(50), m.finding(60));
    assert_eq!((compared.kind, compared.count, compared.unsettled), (Branch, 0, 1));
    assert_eq!((converted.kind, converted.count, converted.unsettled), (Conversion, 0, 1));
}

/// 1/49 · 49 is one, as any number is that is divided and multiplied by another.
#[test]
fn reals_that_are_equal_whatever_they_are_made_of_are_told() {
    let m = Machine::new();
    let (one, fortynine) = (m.f64(1.0), m.f64(49.0));
    let product = m.mul(2, &m.div(1, &one, &fortynine), &fortynine);
    compare(&m, Predicate::LESS, &product, &one);
    compare(&m, Predicate::LESS, &product, &product);
    m.shadow.borrow_mut().to_integer(Site::from_bits(60), ToInteger::Truncate, product.seen());
    m.shadow.borrow_mut().to_integer(Site::from_bits(70), ToInteger::Round, product.seen());
    let (compared, converted) = (m.finding(50), m.finding(60));
    assert_eq!((compared.count, compared.unsettled, compared.executions), (1, 0, Some(2)));
    assert_eq!((converted.count, converted.unsettled, converted.executions), (1, 0, Some(1)));
    assert!(m.ranked().iter().all(|&(_, line)| line != 70));
}

/// Lengths from both ends of a symmetric wire: roots and quotients of other floats on either side, equal in exact arithmetic.
#[test]
fn numbers_made_in_other_ways_are_known_to_be_equal() {
    let m = Machine::new();
    let [x, y, three] = [0.3, 0.7, 3.0].map(|x| m.f64(x));
    let length = |x: &Tracked, y: &Tracked| m.op(3, Op::Sqrt, &[&m.add(2, &m.mul(1, x, x), &m.mul(1, y, y))]);
    let turned = |x: &Tracked| m.op(4, Op::Neg, &[x]);
    // (x² + y²)½ with its operands' signs and places changed, and thirds of sums against sums of thirds.
    let (a, b) = (length(&x, &y), length(&turned(&y), &x));
    let third = m.div(6, &m.add(5, &a, &x), &three);
    let thirds = m.add(8, &m.div(7, &b, &three), &m.div(7, &x, &three));
    let sines = [&third, &thirds].map(|x| m.op(9, Op::Sin, &[x]));
    // The square of a root is the number.
    let square = m.mul(10, &a, &b);
    let squares = m.add(11, &m.mul(11, &x, &x), &m.mul(11, &y, &y));
    for [a, b] in [[&third, &thirds], [&sines[0], &m.op(12, Op::Abs, &[&sines[1]])], [&square, &squares]] {
        compare(&m, Predicate::EQUAL, a, b);
    }
    let is_equal = [&third, &sines[0], &square].into_iter().zip([&thirds, &sines[1], &squares]);
    let flips = is_equal.filter(|(a, b)| a.float() != b.float()).count() as u64;
    let found: Vec<_> = m.ranked().into_iter().filter(|&(_, line)| line == 50).collect();
    assert_eq!(found.len(), usize::from(flips > 0));
    if flips > 0 {
        let finding = m.finding(50);
        assert_eq!((finding.count, finding.unsettled), (flips, 0));
    }
}

/// √2·√3 + √6, which is zero for some choice of the roots' signs, is not: its size tells.
#[test]
fn a_number_whose_conjugate_is_zero_is_told_from_zero() {
    let m = Machine::new();
    let [two, three, six] = [2.0, 3.0, 6.0].map(|x| m.op(1, Op::Sqrt, &[&m.f64(x)]));
    let sum = m.add(3, &m.mul(2, &two, &three), &six);
    let beside = m.add(5, &m.mul(4, &sum, &m.f64(1e-80)), &m.f64(1.0));
    compare(&m, Predicate::EQUAL, &beside, &m.f64(1.0));
    assert_eq!((m.finding(50).count, m.finding(50).unsettled), (1, 0));
}

/// The largest of some numbers is one of them, however few significant bits their reals have: where a search finds it is settled.
#[test]
fn a_number_is_told_from_the_largest_of_several() {
    let m = Machine::new();
    let [a, b] = [3.0, 7.0].map(|x| m.div(1, &m.f64(1.0), &m.f64(x)));
    let largest = m.op(2, Op::Max, &[&b, &a]);
    let least = m.op(3, Op::Min, &[&a, &b]);
    compare(&m, Predicate::EQUAL, &a, &largest);
    compare(&m, Predicate::EQUAL, &b, &largest);
    compare(&m, Predicate::EQUAL, &b, &least);
    assert_eq!(m.ranked(), []);
}

#[test]
fn an_answer_that_is_right_by_chance_is_unsettled() {
    for precision in 200..=256 {
        let m = Machine::with(Settings { precision, settles: false, ..Settings::default() });
        let (one, fortynine) = (m.f64(1.0), m.f64(49.0));
        let product = m.mul(2, &m.div(1, &one, &fortynine), &fortynine);
        compare(&m, Predicate::LESS, &product, &one);
        compare(&m, Predicate::LESS, &product, &fortynine);
        m.shadow.borrow_mut().to_integer(Site::from_bits(60), ToInteger::Round, product.seen());
        let finding = m.finding(50);
        assert_eq!(
            (finding.count, finding.unsettled, finding.executions),
            (0, 1, Some(2)),
            "{precision} bits"
        );
        assert_eq!(m.ranked(), [(Branch, 50)], "a half is far");
    }
}

#[test]
fn exact_reals_decide_even_when_they_are_equal() {
    let m = Machine::new();
    let (x, big) = (m.f64(0.3), m.f64(1e10));
    let back = m.sub(2, &m.add(1, &x, &big), &big);
    compare(&m, Predicate::EQUAL, &back, &x);
    assert!(m.ranked().contains(&(Branch, 50)), "{:?}", m.ranked());
}

/// Part of `a + b`, on that line, that is rounded off: the sum and the rest, which is zero in the reals.
fn rounded_off(m: &Machine, line: u32, a: &Tracked, b: &Tracked) -> (Tracked, Tracked) {
    let sum = m.add(line, a, b);
    let rest = m.sub(line + 2, b, &m.sub(line + 1, &sum, a));
    assert!(rest.float() != 0.0 && rest.truth == 0);
    (sum, rest)
}

#[test]
fn whether_anything_was_rounded_off_the_reals_decide_otherwise() {
    let m = Machine::new();
    let (_, rest) = rounded_off(&m, 1, &m.f64(1e10), &m.f64(0.1));
    compare(&m, Predicate::EQUAL, &rest, &m.f64(0.0));
    compare(&m, Predicate::EQUAL, &rest, &m.f64(0.0));
    let finding = m.finding(50);
    assert_eq!((finding.kind, finding.count), (Branch, 2));
}

#[test]
fn what_is_put_back_may_be_asked_about() {
    let m = Machine::new();
    let (big, zero) = (m.f64(1e10), m.f64(0.0));
    let (sum, rest) = rounded_off(&m, 1, &big, &m.f64(0.1));
    compare(&m, Predicate::EQUAL, &rest, &zero);
    let difference = m.sub(4, &sum, &big);
    let (before, after) = (difference.float(), m.add(5, &difference, &rest).float());
    assert!(before != 0.1 && after == 0.1);
    assert_eq!(m.ranked(), []);
    // What others round off is not put back.
    let (_, rest) = rounded_off(&m, 11, &big, &m.f64(0.1));
    compare(&m, Predicate::EQUAL, &rest, &zero);
    assert!(m.ranked().contains(&(Branch, 50)), "{:?}", m.ranked());
}

#[test]
fn integers_that_are_cut_off_wrongly() {
    let m = Machine::new();
    let sum = tenths(&m, 10);
    let hundred = m.mul(2, &sum, &m.f64(100.0));
    assert!(hundred.float() < 100.0 && hundred.truth > 100.0);
    m.shadow.borrow_mut().to_integer(Site::from_bits(51), ToInteger::Truncate, hundred.seen());
    m.shadow.borrow_mut().to_integer(Site::from_bits(52), ToInteger::Round, hundred.seen());
    let finding = m.finding(51);
    assert_eq!((finding.kind, finding.count), (Conversion, 1));
    assert!(m.ranked().iter().all(|&(_, line)| line != 52));
}

#[test]
fn nan_on_one_side_is_another_decision() {
    let m = Machine::new();
    let tenth = m.f64(0.1);
    let tiny = m.sub(2, &m.f64(1.0), &tenths(&m, 10));
    assert!(tiny.float() > 0.0 && tiny.truth < 0.0);
    let root = m.op(3, Op::Sqrt, &[&tiny]);
    compare(&m, Predicate::LESS, &root, &tenth);
    assert!(m.ranked().contains(&(Branch, 50)), "{:?}", m.ranked());
}
