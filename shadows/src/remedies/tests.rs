//! Expressions that textbooks mend.

use std::time::Duration;

use super::*;
use Op::{Add, Cos, Div, Exp, Log, Mul, Neg, Sqrt, Sub};

fn x() -> Tree {
    Tree::Variable(0)
}

fn number(value: f64) -> Tree {
    Tree::Constant(value)
}

fn op(op: Op, operands: &[Tree]) -> Tree {
    Tree::Op(op, operands.to_vec())
}

/// The best remedy on a single input.
fn best(tree: Tree, samples: &[f64]) -> Option<Remedy> {
    let samples = samples.iter().map(|&x| vec![x]).collect();
    let problem = Problem { tree, format: Format::F64, samples };
    let found = Finder::new(Duration::from_secs(60)).remedies(&problem);
    found.into_iter().next()
}

const LARGE: [f64; 5] = [1e10, 3.3e12, 7.1e13, 1e15, 2.0];
const SMALL: [f64; 5] = [1e-5, 3.7e-6, 2.3e-7, 1.1e-8, -1e-12];

#[test]
fn textbook_examples_are_mended() {
    let one = || number(1.0);
    let cases: [(Tree, &[f64]); 9] = [
        (op(Sub, &[op(Sqrt, &[op(Add, &[x(), one()])]), op(Sqrt, &[x()])]), &LARGE),
        (op(Sub, &[op(Exp, &[x()]), one()]), &SMALL),
        (op(Log, &[op(Add, &[one(), x()])]), &SMALL),
        (op(Sub, &[one(), op(Cos, &[x()])]), &SMALL),
        (op(Div, &[op(Sub, &[one(), op(Cos, &[x()])]), op(Mul, &[x(), x()])]), &SMALL),
        (op(Sub, &[op(Exp, &[x()]), op(Exp, &[op(Neg, &[x()])])]), &SMALL),
        (op(Sub, &[op(Add, &[x(), number(0.3)]), x()]), &LARGE),
        (op(Sub, &[op(Div, &[one(), x()]), op(Div, &[one(), op(Add, &[x(), one()])])]), &LARGE),
        (
            op(
                Sub,
                &[op(Sqrt, &[op(Sub, &[op(Mul, &[number(1e8), number(1e8)]), number(4.0)])]), number(1e8)],
            ),
            &[0.0],
        ),
    ];
    for (tree, samples) in cases {
        let before = tree.clone();
        let remedy = best(tree, samples).unwrap_or_else(|| panic!("no remedy for {before:?}"));
        assert!(remedy.bits_before > 10.0 && remedy.bits_after < 1.5, "{remedy:?}");
    }
}

#[test]
fn what_is_right_needs_no_remedy() {
    assert!(best(op(Add, &[op(Sqrt, &[x()]), number(1.0)]), &LARGE).is_none());
}

/// (√(x² − 4) − x cancels for positive numbers, and its conjugate for negative ones.
#[test]
fn where_no_way_is_right_everywhere_there_are_two() {
    let root = op(Sqrt, &[op(Sub, &[op(Mul, &[x(), x()]), number(4.0)])]);
    let remedy = best(op(Sub, &[root, x()]), &[1e7, 3e8, 2.5e5, 7e6, -1e7, -3e8, -2.5e5, -7e6]);
    let remedy = remedy.expect("a remedy");
    assert!(matches!(remedy.tree, Tree::Below(0, 0.0, _)), "{remedy:?}");
    assert!(remedy.bits_before > 15.0 && remedy.bits_after < 1.0, "{remedy:?}");
}

/// Inputs without a real result do not count, nor what is said there of variables that are gone.
#[test]
fn inputs_may_be_out_of_the_domain() {
    let tree = op(Sub, &[op(Sqrt, &[op(Add, &[x(), number(1.0)])]), op(Sqrt, &[x()])]);
    let samples = vec![vec![1e12, f64::NAN], vec![3e13, f64::NAN], vec![-5.0, f64::NAN], vec![f64::NAN; 2]];
    let found =
        Finder::new(Duration::from_secs(60)).remedies(&Problem { tree, format: Format::F64, samples });
    assert!(found[0].samples == 2 && found[0].bits_after <= 1.0, "{found:?}");
}

/// Numbers that are data stay in the expression.
#[test]
fn data_are_not_reckoned_with() {
    let square = op(Mul, &[number(1e8), number(1e8)]);
    let tree = op(Sub, &[op(Sqrt, &[op(Sub, &[square.clone(), number(4.0)])]), number(1e8)]);
    let remedy = best(tree, &[0.0]).expect("a remedy");
    let denominator = op(Add, &[number(1e8), op(Sqrt, &[op(Sub, &[square, number(4.0)])])]);
    assert_eq!(remedy.tree, op(Div, &[number(-4.0), denominator]));
}
