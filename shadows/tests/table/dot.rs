//! The dot rule: the chain rule, at the price it should have, and deaf to what is not seeded.

use std::cell::RefCell;

use rug::Float;
use shadowgrind_core::arith::{Arith, Host};
use shadowgrind_core::format::Format;
use shadowgrind_core::inline::{Given, Inline};
use shadowgrind_core::ops::Op;
use shadowgrind_shadows::dot::{self, Dot};

use crate::points::{Random, exact, nearest, operands, real};

const BITS: u32 = 300;

/// Random operands with their result, where that is an ordinary number.
fn points(op: Op, format: Format, count: usize) -> Vec<(Vec<f64>, f64)> {
    let mut random = Random::of(op);
    let candidates = (0..20 * count).map(|_| {
        let x = operands(&mut random, op, format);
        let r = nearest(format, &real(op, BITS, &exact(BITS, &x)));
        (x, r)
    });
    candidates.filter(|(_, r)| r.is_finite()).take(count).collect()
}

/// Random dots of ordinary size; those of integer operands are 0.
fn dots(random: &mut Random, op: Op, format: Format) -> Vec<f64> {
    let one = |random: &mut Random| nearest(format, &Float::with_val(53, random.wide(10.0)));
    op.operands().iter().map(|operand| if operand.integer { 0.0 } else { one(random) }).collect()
}

#[test]
fn chain_rule() {
    let k = Host::new(Format::F64);
    for &op in Op::ALL {
        let mut random = Random::of(op);
        for (x, r) in points(op, Format::F64, 300) {
            let dots = dots(&mut random, op, Format::F64);
            let gradient = op.gradient(&k, &x, r);
            let partials: Vec<f64> = (0..op.arity()).map(|i| gradient.value(&k, i)).collect();
            if !partials.iter().all(|p| *p == 0.0 || p.is_normal()) {
                continue;
            }
            let term = |i: usize| Float::with_val(BITS, partials[i]) * dots[i];
            let want = (0..op.arity()).fold(Float::new(BITS), |sum, i| sum + term(i));
            let size = (0..op.arity()).map(|i| term(i).abs().to_f64()).sum::<f64>();
            let error = (want - dot::eval(Format::F64, op, &x, r, &dots)).abs();
            assert!(error <= 4.0 * f64::EPSILON * size, "{}{x:?} = {r:e} with {dots:?}", op.name());
        }
    }
}

#[test]
fn single_precision_results_are_single() {
    for &op in Op::ALL {
        let mut random = Random::of(op);
        for (x, r) in points(op, Format::F32, 100) {
            let dots = dots(&mut random, op, Format::F32);
            let got = dot::eval(Format::F32, op, &x, r, &dots);
            assert!(got.is_nan() || got == f64::from(got as f32), "{}{x:?}: {got:e}", op.name());
        }
    }
}

/// Single precision rounds every step, as mulss, addss and their kin do, written out by hand.
#[test]
fn single_precision_rounds_every_step() {
    let mut random = Random::new(0);
    for _ in 0..1000 {
        let [a, b, s, t] = std::array::from_fn(|_| random.wide(20.0) as f32);
        let dot = |op, r: f32| {
            dot::eval(Format::F32, op, &[a.into(), b.into()], r.into(), &[s.into(), t.into()]) as f32
        };
        assert_eq!(dot(Op::Mul, a * b), a.mul_add(t, b * s));
        assert_eq!(dot(Op::Div, a / b), (-(a / b)).mul_add(t, s) / b);
        assert_eq!(dot(Op::Sub, a - b), s - t);
    }
}

/// Operands at which partials are infinite or NaN, for any arity; integers are small.
fn hostile(op: Op) -> Vec<Vec<f64>> {
    let values = [0.0, -0.0, 1.0, -1.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 5e-324];
    let n = values.len();
    let pick =
        |i: usize, j: usize| values[i / n.pow(j as u32) % if op.operands()[j].integer { 4 } else { n }];
    (0..n.pow(op.arity() as u32)).map(|i| (0..op.arity()).map(|j| pick(i, j)).collect()).collect()
}

#[test]
fn where_no_dot_is_none_is_made() {
    for (&op, format) in Op::ALL.iter().flat_map(|op| [(op, Format::F32), (op, Format::F64)]) {
        for x in hostile(op) {
            for r in [0.0, -0.0, 1.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN] {
                let got = dot::eval(format, op, &x, r, &vec![0.0; op.arity()]);
                assert_eq!(got.to_bits(), 0, "{}{x:?} = {r:e} in {format:?}", op.name());
            }
        }
    }
}

#[test]
fn an_absent_dot_leaves_the_others_alone() {
    let eval = |op, x: &[f64], r, dots: &[f64]| dot::eval(Format::F64, op, x, r, dots);
    // x² by a constant exponent at a base whose logarithm does not exist.
    assert_eq!(eval(Op::Pow, &[-3.0, 2.0], 9.0, &[1.0, 0.0]), -6.0);
    assert_eq!(eval(Op::Pow, &[0.0, 2.0], 0.0, &[1.0, 0.0]), 0.0);
    assert_eq!(eval(Op::Mul, &[f64::INFINITY, 2.0], f64::INFINITY, &[3.0, 0.0]), 6.0);
    assert_eq!(eval(Op::Div, &[1.0, 0.0], f64::INFINITY, &[1.0, 0.0]), f64::INFINITY);
    assert_eq!(eval(Op::Fmadd, &[f64::INFINITY, 2.0, 1.0], f64::INFINITY, &[0.0, 0.0, 5.0]), 5.0);
    assert_eq!(eval(Op::Min, &[1.0, 2.0], 1.0, &[3.0, f64::INFINITY]), 3.0);
    assert_eq!(eval(Op::Fmax, &[1.0, 2.0], 2.0, &[f64::NAN, 3.0]), 3.0);
    assert_eq!(eval(Op::Floor, &[1.5], 1.0, &[f64::NAN]), 0.0);
}

#[test]
fn derivatives_that_are_no_floats_still_scale_dots_that_are() {
    // 2²⁰⁰⁰ · 2⁻¹⁰⁷⁴
    let got = dot::eval(Format::F64, Op::Ldexp, &[5e-324, 2000.0], 2f64.powi(926), &[5e-324, 0.0]);
    assert_eq!(got, 2f64.powi(926));
}

#[test]
fn negative_zero_and_signs() {
    let eval = |op, x: &[f64], dots: &[f64]| dot::eval(Format::F64, op, x, x[0].abs(), dots);
    assert_eq!(eval(Op::Abs, &[-0.0], &[2.0]), -2.0);
    assert_eq!(eval(Op::CopySign, &[-1.0, 1.0], &[2.0, 9.0]), -2.0);
    assert_eq!(eval(Op::Neg, &[-1.0], &[2.0]), -2.0);
    // A dot of −0 is there: it follows IEEE arithmetic.
    assert!(dot::eval(Format::F64, Op::Mul, &[1.0, f64::INFINITY], f64::INFINITY, &[-0.0, 0.0]).is_nan());
}

/// Arithmetic that counts its verbs, and cannot look at values: what a rule does to it is what it emits.
struct Counter {
    host: Host,
    verbs: RefCell<Vec<&'static str>>,
}

impl Counter {
    fn note(&self, verb: &'static str, v: f64) -> f64 {
        self.verbs.borrow_mut().push(verb);
        v
    }

    /// The verbs of the dot of `op`, constants aside.
    fn of(op: Op) -> Vec<&'static str> {
        let counter = Counter { host: Host::new(Format::F64), verbs: RefCell::default() };
        Dot::arithmetic(
            &counter,
            op,
            Given { x: &vec![2.0; op.arity()], r: 2.0, shadows: &vec![1.0; op.arity()] },
        )
        .expect("arithmetic");
        counter.verbs.into_inner()
    }
}

impl Arith for Counter {
    type V = f64;
    type M = bool;

    fn lit(&self, x: f64) -> f64 {
        self.host.lit(x)
    }
    fn ulps(&self, n: f64) -> f64 {
        self.host.ulps(n)
    }
    fn whole(&self) -> f64 {
        self.host.whole()
    }
    fn neg(&self, a: f64) -> f64 {
        self.note("neg", self.host.neg(a))
    }
    fn abs(&self, a: f64) -> f64 {
        self.note("abs", self.host.abs(a))
    }
    fn flip(&self, a: f64, b: f64) -> f64 {
        self.note("flip", self.host.flip(a, b))
    }
    fn traced(&self, a: f64, b: f64) -> f64 {
        self.note("traced", self.host.traced(a, b))
    }
    fn add(&self, a: f64, b: f64) -> f64 {
        self.note("add", self.host.add(a, b))
    }
    fn sub(&self, a: f64, b: f64) -> f64 {
        self.note("sub", self.host.sub(a, b))
    }
    fn mul(&self, a: f64, b: f64) -> f64 {
        self.note("mul", self.host.mul(a, b))
    }
    fn div(&self, a: f64, b: f64) -> f64 {
        self.note("div", self.host.div(a, b))
    }
    fn sqrt(&self, a: f64) -> f64 {
        self.note("sqrt", self.host.sqrt(a))
    }
    fn fma(&self, a: f64, b: f64, c: f64) -> f64 {
        self.note("fma", self.host.fma(a, b, c))
    }
    fn lt(&self, a: f64, b: f64) -> bool {
        self.verbs.borrow_mut().push("lt");
        self.host.lt(a, b)
    }
    fn eq(&self, a: f64, b: f64) -> bool {
        self.verbs.borrow_mut().push("eq");
        self.host.eq(a, b)
    }
    fn absent(&self, s: f64) -> bool {
        self.verbs.borrow_mut().push("absent");
        self.host.absent(s)
    }
    fn select(&self, m: bool, yes: f64, no: f64) -> f64 {
        self.note("select", self.host.select(m, yes, no))
    }
    fn opposite(&self, s: f64) -> f64 {
        self.note("opposite", self.host.opposite(s))
    }
    fn signed(&self, s: f64, v: f64) -> f64 {
        self.note("signed", self.host.signed(s, v))
    }
    fn scaled(&self, p: f64, s: f64) -> f64 {
        self.note("scaled", self.host.scaled(p, s))
    }
    fn plus_scaled(&self, sum: f64, p: f64, s: f64) -> f64 {
        self.note("plus_scaled", self.host.plus_scaled(sum, p, s))
    }
    fn minus_scaled(&self, sum: f64, p: f64, s: f64) -> f64 {
        self.note("minus_scaled", self.host.minus_scaled(sum, p, s))
    }
    fn over(&self, a: f64, b: f64) -> f64 {
        self.note("over", self.host.over(a, b))
    }
}

#[test]
fn rules_cost_what_they_should() {
    let expected: [(Op, &[&str]); 15] = [
        (Op::Add, &["add"]),
        (Op::Sub, &["sub"]),
        (Op::Mul, &["scaled", "plus_scaled"]),
        (Op::Div, &["minus_scaled", "over"]),
        (Op::Sqrt, &["abs", "add", "over"]),
        (Op::Fmadd, &["plus_scaled", "plus_scaled"]),
        (Op::Fnmadd, &["minus_scaled", "minus_scaled"]),
        (Op::Fmsub, &["scaled", "plus_scaled", "sub"]),
        (Op::Fnmsub, &["neg", "scaled", "minus_scaled", "sub"]),
        (Op::Min, &["lt", "select"]),
        (Op::Abs, &["signed"]),
        (Op::Neg, &["opposite"]),
        (Op::CopySign, &["flip", "signed"]),
        (Op::Floor, &[]),
        (Op::Narrow, &[]),
    ];
    for (op, verbs) in expected {
        assert_eq!(Counter::of(op), verbs, "{}", op.name());
    }
}

#[test]
fn inline_is_eval_for_arithmetic_rows_and_only_there() {
    for (&op, format) in Op::ALL.iter().flat_map(|op| [(op, Format::F32), (op, Format::F64)]) {
        let mut random = Random::of(op);
        for (x, r) in points(op, format, 50) {
            let dots = dots(&mut random, op, format);
            let inline = Dot::arithmetic(&Host::new(format), op, Given { x: &x, r, shadows: &dots });
            assert_eq!(inline.is_some(), op.is_arithmetic());
            let eval = dot::eval(format, op, &x, r, &dots);
            assert!(inline.is_none_or(|inline| inline.to_bits() == eval.to_bits()), "{}{x:?}", op.name());
        }
    }
}
