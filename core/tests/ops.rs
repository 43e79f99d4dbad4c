//! Laws that hold for every row of TABLE 1, whatever it says.

use std::collections::HashSet;

use shadowgrind_core::arith::Host;
use shadowgrind_core::format::Format;
use shadowgrind_core::ops::{MAX_OPERANDS, Op, Partial};

#[test]
fn all_is_in_order() {
    for (i, &op) in Op::ALL.iter().enumerate() {
        assert_eq!(op as usize, i);
    }
}

#[test]
fn names_are_unique() {
    let names: HashSet<&str> = Op::ALL.iter().map(|op| op.name()).collect();
    assert_eq!(names.len(), Op::ALL.len());
}

/// The words of a formula, parentheses aside.
fn words(formula: &str) -> Vec<&str> {
    formula.split(['(', ')', ' ']).filter(|word| !word.is_empty()).collect()
}

#[test]
fn formulas_are_over_the_operands() {
    for op in Op::ALL {
        let formula = op.formula();
        let depths = formula.chars().scan(0, |depth, c| {
            *depth += i32::from(c == '(') - i32::from(c == ')');
            Some(*depth)
        });
        let depths: Vec<i32> = depths.collect();
        assert!(depths.iter().all(|&d| d >= 0) && depths.last() == Some(&0), "{formula}");
        let words = words(formula);
        for operand in op.operands() {
            // Only the direction of `nextafter` is not in what it means.
            let named = words.contains(&operand.name);
            assert!(
                named || (*op, operand.name) == (Op::Nextafter, "y"),
                "{formula} without {}",
                operand.name
            );
        }
    }
}

#[test]
fn gradients_have_one_partial_per_operand() {
    let k = Host::new(Format::F64);
    for op in Op::ALL {
        assert!((1..=MAX_OPERANDS).contains(&op.arity()));
        let gradient = op.gradient(&k, &vec![1.5; op.arity()], 1.5);
        assert!(gradient.partials[op.arity()..].iter().all(|p| matches!(p, Partial::Zero)), "{}", op.name());
        for (operand, partial) in op.operands().iter().zip(gradient.partials) {
            assert!(!operand.integer || matches!(partial, Partial::Zero), "{} by an integer", op.name());
        }
        assert_eq!(op.arithmetic_gradient(&k, &vec![1.5; op.arity()], 1.5).is_some(), op.is_arithmetic());
    }
}

#[test]
#[should_panic(expected = "1 operands for an op of 2")]
fn a_wrong_number_of_operands_is_loud() {
    let _ = Op::Add.gradient(&Host::new(Format::F64), &[1.0], 1.0);
}
