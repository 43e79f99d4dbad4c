//! Programs whose culprit is known, and compensated ones that have none. Lines below 100 are the program, 100 prints.

use shadowgrind_core::findings::FindingKind::{self, *};
use shadowgrind_core::format::Format;
use shadowgrind_core::ops::Op;
use shadowgrind_core::site::Site;

use crate::machine::{Machine, Tracked};

/// Runs `program` for each input, prints what it returns and compares the first finding.
fn blames(kind: FindingKind, line: u32, inputs: &[f64], program: impl Fn(&Machine, &Tracked) -> Tracked) {
    let m = run(inputs, program);
    let ranked = m.ranked();
    assert_eq!(ranked.first(), Some(&(kind, line)), "{ranked:?}");
    assert!(!m.finding(line).outputs.is_empty());
}

fn clean(inputs: &[f64], program: impl Fn(&Machine, &Tracked) -> Tracked) {
    assert_eq!(run(inputs, program).ranked(), []);
}

fn run(inputs: &[f64], program: impl Fn(&Machine, &Tracked) -> Tracked) -> Machine {
    let m = Machine::new();
    for &x in inputs {
        let x = m.f64(x);
        let result = program(&m, &x);
        m.print(&result);
    }
    m
}

/// Numbers from 0 to 1 that have all their bits.
fn numbers(count: u64) -> Vec<f64> {
    (1..=count).map(|i| (i as f64 * 0.618_033_988_749_894_9).fract()).collect()
}

const SMALL: [f64; 4] = [1e-5, 3.7e-6, 2.3e-7, 1.1e-8];
const LARGE: [f64; 4] = [1e10, 3.3e12, 7.1e13, 1e15];

#[test]
fn one_minus_cosine() {
    blames(Cancellation, 2, &SMALL, |m, x| {
        let cos = m.op(1, Op::Cos, &[x]);
        let one = m.f64(1.0);
        let difference = m.sub(2, &one, &cos);
        let square = m.mul(3, x, x);
        m.div(4, &difference, &square)
    });
    clean(&SMALL, |m, x| {
        let two = m.f64(2.0);
        let half = m.div(1, x, &two);
        let sin = m.op(2, Op::Sin, &[&half]);
        let square = m.mul(3, &sin, &sin);
        let twice = m.add(4, &square, &square);
        let below = m.mul(5, x, x);
        m.div(6, &twice, &below)
    });
}

#[test]
fn a_sum_less_its_addend() {
    blames(Cancellation, 2, &[1e16, 3e15 + 1.0, 1e17], |m, x| {
        let third = m.f64(0.3);
        let sum = m.add(1, x, &third);
        m.sub(2, &sum, x)
    });
}

#[test]
fn a_difference_of_roots() {
    blames(Cancellation, 4, &LARGE, |m, x| {
        let one = m.f64(1.0);
        let next = m.add(1, x, &one);
        let (a, b) = (m.sqrt(2, &next), m.sqrt(3, x));
        m.sub(4, &a, &b)
    });
    clean(&LARGE, |m, x| {
        let one = m.f64(1.0);
        let next = m.add(1, x, &one);
        let (a, b) = (m.sqrt(2, &next), m.sqrt(3, x));
        let sum = m.add(4, &a, &b);
        m.div(5, &one, &sum)
    });
}

/// (−b + √(b² − 4ac)) / 2a for a = 1, c = 1; line 5 cancels.
#[test]
fn a_root_of_a_quadratic() {
    blames(Cancellation, 5, &[1e7, 3.1e8, 2.7e6], |m, b| {
        let (two, four) = (m.f64(2.0), m.f64(4.0));
        let square = m.mul(1, b, b);
        let discriminant = m.sub(2, &square, &four);
        let root = m.sqrt(3, &discriminant);
        let minus = m.op(4, Op::Neg, &[b]);
        let numerator = m.add(5, &minus, &root);
        m.div(6, &numerator, &two)
    });
    clean(&[1e7, 3.1e8, 2.7e6], |m, b| {
        let (minus_two, four) = (m.f64(-2.0), m.f64(4.0));
        let square = m.mul(1, b, b);
        let discriminant = m.sub(2, &square, &four);
        let root = m.sqrt(3, &discriminant);
        let denominator = m.add(4, b, &root);
        m.div(5, &minus_two, &denominator)
    });
}

#[test]
fn library_functions_near_their_critical_points() {
    blames(Cancellation, 2, &SMALL, |m, x| {
        let one = m.f64(1.0);
        let power = m.op(1, Op::Exp, &[x]);
        m.sub(2, &power, &one)
    });
    blames(Rounding, 2, &SMALL, |m, x| {
        let one = m.f64(1.0);
        let sum = m.add(1, &one, x);
        m.op(2, Op::Log, &[&sum])
    });
    blames(Rounding, 2, &[1e15, 3.3e16], |m, x| {
        let third = m.f64(3.0);
        let far = m.div(1, x, &third);
        m.op(2, Op::Sin, &[&far])
    });
}

#[test]
fn squares_that_cancel() {
    let program = |m: &Machine, x: &Tracked| {
        let y = m.f64(x.float() * (1.0 + 1e-9));
        let (a, b) = (m.mul(1, x, x), m.mul(2, &y, &y));
        m.sub(3, &a, &b)
    };
    blames(Cancellation, 3, &[1.1, 2.3, 1e5 / 3.0], program);
    let remedies = run(&[1.1, 2.3], program).finding(3).remedies;
    assert_eq!(remedies[0].expression, "(x - y) * (x + y)");
    assert!(remedies[0].bits_before > 20.0 && remedies[0].bits_after < 1.6, "{remedies:?}");
    clean(&[1.1, 2.3, 1e5 / 3.0], |m, x| {
        let y = m.f64(x.float() * (1.0 + 1e-9));
        let (a, b) = (m.sub(1, x, &y), m.add(2, x, &y));
        m.mul(3, &a, &b)
    });
}

/// Rump's expression: −0.827… in the reals, and 1.17 or some 10²¹ in floats.
#[test]
fn rumps_expression() {
    let m = run(&[77617.0], |m, a| {
        let b = m.f64(33096.0);
        let (a2, b2) = (m.mul(1, a, a), m.mul(2, &b, &b));
        let (b4, b6) = (m.mul(3, &b2, &b2), m.op(0, Op::Pow, &[&b, &m.f64(6.0)]));
        let b8 = m.mul(4, &b4, &b4);
        let first = m.mul(5, &m.f64(333.75), &b6);
        let eleven = m.mul(6, &m.mul(7, &m.f64(11.0), &a2), &b2);
        let inner = m.sub(8, &eleven, &b6);
        let inner = m.sub(9, &inner, &m.mul(10, &m.f64(121.0), &b4));
        let inner = m.sub(11, &inner, &m.f64(2.0));
        let second = m.mul(12, &a2, &inner);
        let third = m.mul(13, &m.f64(5.5), &b8);
        let sum = m.add(14, &first, &second);
        let sum = m.add(15, &sum, &third);
        let last = m.div(16, a, &m.add(17, &b, &b));
        m.add(18, &sum, &last)
    });
    let ranked = m.ranked();
    assert!(matches!(ranked[0], (Cancellation, 14 | 15)), "{ranked:?}");
}

/// xₙ₊₁ = 108 − (815 − 1500/xₙ₋₁)/xₙ from 4 and 4.25: 5 in the reals, 100 in floats.
#[test]
fn mullers_recurrence() {
    let m = run(&[4.0], |m, first| {
        let (mut before, mut here) = (first.clone(), m.f64(4.25));
        for _ in 0..30 {
            let inner = m.div(1, &m.f64(1500.0), &before);
            let middle = m.sub(2, &m.f64(815.0), &inner);
            let outer = m.div(3, &middle, &here);
            let next = m.sub(4, &m.f64(108.0), &outer);
            (before, here) = (here, next);
        }
        assert!((here.float() - 100.0).abs() < 1e-6);
        here
    });
    assert!(!m.ranked().is_empty());
}

#[test]
fn naive_sums_accumulate() {
    let sum = |line: u32, start: f64, addend: f64| {
        move |m: &Machine, x: &Tracked| {
            let mut sum = m.f64(start * x.float());
            for _ in 0..20_000 {
                let addend = m.f64(addend);
                sum = m.add(line, &sum, &addend);
            }
            sum
        }
    };
    blames(Accumulation, 7, &[1.0], sum(7, 0.0, 0.1));
    // Each addend is below half an ulp of the sum and vanishes.
    blames(Absorption, 7, &[1.0], sum(7, 1e16, 0.7));
    let m = run(&[1.0], sum(7, 0.0, 0.1));
    let finding = m.finding(7);
    assert!(finding.share.is_some_and(|share| share > 0.99), "{:?}", finding.share);
    assert_eq!(finding.expression.as_deref(), Some("x + 0.1"));
    assert!(finding.fpcore.is_some_and(|core| core.ends_with("(+ x 0.1))")));
}

/// A clock in single precision that counts tenths of seconds for a hundred hours, as the Patriot's did in fixed point.
#[test]
fn a_clock() {
    let m = Machine::new();
    let (mut time, tenth) = (m.lit(Format::F32, 0.0), m.lit(Format::F32, 0.1));
    for _ in 0..360_000 {
        time = m.add(1, &time, &tenth);
    }
    m.print(&time);
    assert_eq!(m.ranked(), [(Accumulation, 1)]);
    assert!(m.finding(1).share.is_some_and(|share| share > 0.99));
}

#[test]
fn variance_in_one_pass() {
    let data: Vec<f64> = numbers(500).iter().map(|x| 1e6 + x).collect();
    blames(Cancellation, 7, &[1.0], |m, one| {
        let (mut sum, mut squares) = (m.f64(0.0), m.f64(0.0));
        for &x in &data {
            let x = m.mul(1, &m.f64(x), one);
            sum = m.add(2, &sum, &x);
            squares = m.add(4, &squares, &m.mul(3, &x, &x));
        }
        let n = m.f64(data.len() as f64);
        let mean = m.div(5, &sum, &n);
        let mean_square = m.div(6, &squares, &n);
        let square = m.mul(8, &mean, &mean);
        m.sub(7, &mean_square, &square)
    });
}

/// Kahan's, Neumaier's and pairwise summation, and a sum in double-double: none has a culprit.
#[test]
fn compensated_sums() {
    let data = numbers(3000);
    clean(&[1.0, 1e10], |m, scale| {
        let (mut sum, mut lost) = (scale.clone(), m.f64(0.0));
        for &x in &data {
            let y = m.sub(1, &m.f64(x), &lost);
            let t = m.add(2, &sum, &y);
            lost = m.sub(4, &m.sub(3, &t, &sum), &y);
            sum = t;
        }
        sum
    });
    clean(&[1.0, 1e10], |m, scale| {
        let (mut sum, mut lost) = (scale.clone(), m.f64(0.0));
        for &x in &data {
            let (s, e) = two_sum(m, 10, &sum, &m.f64(x));
            lost = m.add(20, &lost, &e);
            sum = s;
        }
        m.add(21, &sum, &lost)
    });
    clean(&[1.0], |m, _| {
        let mut row: Vec<Tracked> = data.iter().map(|&x| m.f64(x)).collect();
        while row.len() > 1 {
            row = row
                .chunks(2)
                .map(|pair| if let [a, b] = pair { m.add(1, a, b) } else { pair[0].clone() })
                .collect();
        }
        row.remove(0)
    });
}

/// Knuth's TwoSum on lines `line` and the five after it.
fn two_sum(m: &Machine, line: u32, a: &Tracked, b: &Tracked) -> (Tracked, Tracked) {
    let s = m.add(line, a, b);
    let b_seen = m.sub(line + 1, &s, a);
    let a_seen = m.sub(line + 2, &s, &b_seen);
    let (b_lost, a_lost) = (m.sub(line + 3, b, &b_seen), m.sub(line + 4, a, &a_seen));
    (s, m.add(line + 5, &a_lost, &b_lost))
}

/// Compensation is not blamed for what a compensated value suffers later.
#[test]
fn compensation_is_not_blamed_for_what_comes_after() {
    blames(Cancellation, 30, &[1.0], |m, _| {
        let (mut sum, mut lost) = (m.f64(0.0), m.f64(0.0));
        for x in numbers(1000) {
            let y = m.sub(1, &m.f64(x), &lost);
            let t = m.add(2, &sum, &y);
            lost = m.sub(4, &m.sub(3, &t, &sum), &y);
            sum = t;
        }
        let near = m.f64(sum.float() * (1.0 + 1e-13));
        m.sub(30, &sum, &near)
    });
}

#[test]
fn kahans_difference_of_products() {
    let (b, c) = (1.000_000_123_4, 1.000_000_234_5);
    blames(Cancellation, 3, &[1.000_000_345_6], |m, a| {
        let d = m.f64(b * c / a.float());
        let (p, q) = (m.mul(1, a, &d), m.mul(2, &m.f64(b), &m.f64(c)));
        m.sub(3, &p, &q)
    });
    clean(&[1.000_000_345_6], |m, a| {
        let (b, c, d) = (m.f64(b), m.f64(c), m.f64(b * c / a.float()));
        let w = m.mul(1, &b, &c);
        let minus_b = m.op(2, Op::Neg, &[&b]);
        let e = m.op(3, Op::Fmadd, &[&minus_b, &c, &w]);
        let minus_w = m.op(4, Op::Neg, &[&w]);
        let f = m.op(5, Op::Fmadd, &[a, &d, &minus_w]);
        m.add(6, &f, &e)
    });
}

#[test]
fn lengths_out_of_range() {
    for (x, kind) in [(1e200, Overflow), (1e-200, Underflow)] {
        blames(kind, 1, &[x, 3.0 * x], |m, x| {
            let y = m.f64(x.float() * 0.5);
            let (a, b) = (m.mul(1, x, x), m.mul(2, &y, &y));
            let sum = m.add(3, &a, &b);
            let root = m.sqrt(4, &sum);
            m.div(5, &root, x)
        });
    }
}

#[test]
fn arguments_out_of_domain() {
    let m = run(&[0.1], |m, x| {
        let sum = (0..10).fold(m.f64(0.0), |sum, _| m.add(1, &sum, x));
        // Below zero in floats, above in the reals, where 0.1 is a little more than a tenth.
        let rest = m.sub(2, &sum, &m.f64(1.0));
        m.sqrt(4, &rest)
    });
    let invalid = m.finding(4);
    assert!(invalid.local_error_bits.is_some_and(|bits| bits.max == 64.0));
    assert_eq!(invalid.causes, [Site::from_bits(2)]);
    assert!(m.ranked().contains(&(Invalid, 4)), "{:?}", m.ranked());
}

/// √(s(s−a)(s−b)(s−c)) of a needle, and Kahan's formula.
#[test]
fn area_of_a_needle() {
    let sides = [9.0, 4.53, 4.530_000_001];
    let m = run(&[sides[0]], |m, a| {
        let (b, c, two) = (m.f64(sides[1]), m.f64(sides[2]), m.f64(2.0));
        let s = m.div(2, &m.add(1, &m.add(1, a, &b), &c), &two);
        let product = m.mul(3, &s, &m.sub(4, &s, a));
        let product = m.mul(5, &product, &m.sub(6, &s, &b));
        let product = m.mul(7, &product, &m.sub(8, &s, &c));
        m.sqrt(9, &product)
    });
    assert!(m.ranked().iter().all(|&(kind, line)| kind == Cancellation && [4, 6, 8].contains(&line)));
}

/// π by polygons of 6·2ⁿ sides: t ← (√(t² + 1) − 1)/t cancels, t ← t/(√(t² + 1) + 1) does not.
#[test]
fn archimedes_both_ways() {
    let third = 1.0 / 3f64.sqrt();
    let step = |m: &Machine, t: &Tracked| {
        let one = m.f64(1.0);
        let sum = m.add(2, &m.mul(1, t, t), &one);
        (m.sqrt(3, &sum), one)
    };
    blames(Cancellation, 4, &[third], |m, t| {
        let mut t = t.clone();
        for _ in 0..20 {
            let (root, one) = step(m, &t);
            t = m.div(5, &m.sub(4, &root, &one), &t);
        }
        t
    });
    clean(&[third], |m, t| {
        let mut t = t.clone();
        for _ in 0..20 {
            let (root, one) = step(m, &t);
            t = m.div(5, &t, &m.add(4, &root, &one));
        }
        t
    });
}

/// e³⁵⁵⁰ is a real number; in doubles it is infinite, which no error in ulps tells.
#[test]
fn infinity_that_reals_do_not_share() {
    blames(Overflow, 1, &[3550.1], |m, x| m.op(1, Op::Exp, &[x]));
}

/// An infinity that the reals have as well is no error, but it was born somewhere.
#[test]
fn what_is_infinite_in_the_reals_too_has_a_birthplace() {
    let m = run(&[1.0], |m, x| m.div(1, x, &m.f64(0.0)));
    let born = m.finding(1);
    assert_eq!((born.kind, born.count, born.local_error_bits), (Invalid, 1, None));
    assert_eq!(born.outputs.iter().collect::<Vec<_>>(), [0]);
    assert_eq!(born.expression.as_deref(), Some("1.0 / 0.0"));
    let witness = born.witness.expect("an execution");
    assert_eq!((witness.operands, witness.result), (vec![1.0.into(), 0.0.into()], f64::INFINITY.into()));
}

/// ∞ − ∞: two births, of which the infinities' leads to NaN's; whatever NaN goes through afterwards is no birthplace.
#[test]
fn nan_of_infinities_has_these_as_its_cause() {
    let m = run(&[1.0], |m, x| {
        let infinite = m.div(1, x, &m.f64(0.0));
        let nan = m.sub(2, &infinite, &infinite);
        m.mul(4, &m.add(3, &nan, x), &m.f64(2.0))
    });
    let born = m.finding(2);
    assert_eq!((born.kind, born.count, born.causes), (Invalid, 1, vec![Site::from_bits(1)]));
    assert_eq!(born.outputs.iter().collect::<Vec<_>>(), [0]);
    assert_eq!(m.ranked().iter().map(|&(_, line)| line).collect::<Vec<_>>(), [1, 2]);
}

/// Constants that are NaN were not born, and one that is lost on the way reaches nothing.
#[test]
fn constants_are_not_born_and_what_is_lost_reaches_nothing() {
    clean(&[f64::NAN, f64::INFINITY], |m, x| m.add(1, x, &m.f64(1.0)));
    let m = run(&[0.0], |m, x| {
        let infinite = m.div(1, &m.f64(1.0), x);
        m.div(2, &m.f64(1.0), &infinite)
    });
    assert!(m.finding(1).outputs.is_empty());
    assert_eq!(m.ranked().len(), 1);
}

/// An underflow is of no account where it is added to something far larger.
#[test]
fn an_underflow_that_adds_nothing_is_not_named() {
    let m = Machine::new();
    let (tiny, big) = (m.f64(1.234567e-160), m.f64(1e16));
    let nothing = m.mul(1, &tiny, &tiny);
    let left = m.sub(3, &m.add(2, &big, &m.f64(1.0)), &big);
    m.print(&m.add(4, &left, &nothing));
    assert!(m.ranked().iter().all(|&(kind, _)| kind != Underflow), "{:?}", m.ranked());
}
