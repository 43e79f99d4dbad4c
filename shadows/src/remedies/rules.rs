//! Rules by which expressions are rewritten: equalities of reals, wherever both sides are defined.
//!
//! Where that is, a rule need not say: it is applied only if both sides have one value on a few of the inputs. Else what is
//! undefined there, such as √a·√b for √(ab) and negative numbers, would by and by make all numbers equal.

use egg::{Condition, ConditionalApplier, ENodeOrVar, Id, Language, Pattern, PatternAst, Rewrite, Subst};
use rug::Float;

use super::graph::{Graph, Meaning, Node, Reals};

/// Leading bits in which values of both sides agree, of several hundred that they have.
const ALIKE: i32 = 160;

/// Rules as a graph takes them.
pub(super) struct Rules(pub(super) Vec<Rewrite<Node, Meaning>>);

/// Left sides that may be replaced by right ones, and back.
const BOTH_WAYS: &[(&str, &str)] = &[
    // Sums and signs.
    ("(sub ?a ?b)", "(add ?a (neg ?b))"),
    ("(neg (sub ?a ?b))", "(sub ?b ?a)"),
    ("(neg (mul ?a ?b))", "(mul (neg ?a) ?b)"),
    ("(neg (div ?a ?b))", "(div (neg ?a) ?b)"),
    ("(sub (add ?a ?b) ?c)", "(add ?a (sub ?b ?c))"),
    ("(sub (sub ?a ?b) ?c)", "(sub ?a (add ?b ?c))"),
    ("(add (add ?a ?b) ?c)", "(add ?a (add ?b ?c))"),
    ("(add ?a ?a)", "(mul 2 ?a)"),
    // Products and quotients.
    ("(mul (mul ?a ?b) ?c)", "(mul ?a (mul ?b ?c))"),
    ("(add (mul ?a ?b) (mul ?a ?c))", "(mul ?a (add ?b ?c))"),
    ("(sub (mul ?a ?b) (mul ?a ?c))", "(mul ?a (sub ?b ?c))"),
    ("(sub (mul ?a ?a) (mul ?b ?b))", "(mul (sub ?a ?b) (add ?a ?b))"),
    ("(div (mul ?a ?b) ?c)", "(mul ?a (div ?b ?c))"),
    ("(div (div ?a ?b) ?c)", "(div ?a (mul ?b ?c))"),
    ("(add (div ?a ?c) (div ?b ?c))", "(div (add ?a ?b) ?c)"),
    ("(sub (div ?a ?c) (div ?b ?c))", "(div (sub ?a ?b) ?c)"),
    // Roots.
    ("(sqrt (mul ?a ?b))", "(mul (sqrt ?a) (sqrt ?b))"),
    ("(sqrt (div ?a ?b))", "(div (sqrt ?a) (sqrt ?b))"),
    // Fused operations.
    ("(add (mul ?a ?b) ?c)", "(fma ?a ?b ?c)"),
    ("(sub (mul ?a ?b) ?c)", "(fmsub ?a ?b ?c)"),
    ("(sub ?c (mul ?a ?b))", "(fnmadd ?a ?b ?c)"),
    ("(neg (fma ?a ?b ?c))", "(fnmsub ?a ?b ?c)"),
    // Powers and logarithms.
    ("(exp (add ?a ?b))", "(mul (exp ?a) (exp ?b))"),
    ("(exp (sub ?a ?b))", "(div (exp ?a) (exp ?b))"),
    ("(exp (neg ?a))", "(div 1 (exp ?a))"),
    ("(log (mul ?a ?b))", "(add (log ?a) (log ?b))"),
    ("(log (div ?a ?b))", "(sub (log ?a) (log ?b))"),
    ("(log (pow ?a ?b))", "(mul ?b (log ?a))"),
    // Circular and hyperbolic functions.
    ("(div (sin ?a) (cos ?a))", "(tan ?a)"),
    ("(div (sinh ?a) (cosh ?a))", "(tanh ?a)"),
];

/// Left sides that may be replaced by right ones.
const ONE_WAY: &[(&str, &str)] = &[
    // Sums and signs.
    ("(add ?a ?b)", "(add ?b ?a)"),
    ("(add ?a 0)", "?a"),
    ("(sub ?a 0)", "?a"),
    ("(sub ?a ?a)", "0"),
    ("(sub 0 ?a)", "(neg ?a)"),
    ("(neg (neg ?a))", "?a"),
    ("(sub (add ?a ?b) ?a)", "?b"),
    ("(sub (add ?a ?b) (add ?a ?c))", "(sub ?b ?c)"),
    ("(sub (sub ?a ?b) ?a)", "(neg ?b)"),
    ("(sub ?a (add ?a ?b))", "(neg ?b)"),
    ("(sub ?a (sub ?a ?b))", "?b"),
    ("(add (sub ?a ?b) ?b)", "?a"),
    ("(add (sub ?a ?b) (sub ?b ?c))", "(sub ?a ?c)"),
    // Products and quotients.
    ("(mul ?a ?b)", "(mul ?b ?a)"),
    ("(mul ?a 0)", "0"),
    ("(mul ?a 1)", "?a"),
    ("(div ?a 1)", "?a"),
    ("(mul (neg ?a) (neg ?b))", "(mul ?a ?b)"),
    ("(sub (mul ?a ?a) 1)", "(mul (sub ?a 1) (add ?a 1))"),
    ("(sub 1 (mul ?a ?a))", "(mul (sub 1 ?a) (add 1 ?a))"),
    ("(sub ?a (mul ?b ?a))", "(mul ?a (sub 1 ?b))"),
    ("(sub (mul ?a ?b) ?a)", "(mul ?a (sub ?b 1))"),
    ("(div ?a ?a)", "1"),
    ("(div 0 ?a)", "0"),
    ("(div (mul ?a ?b) ?a)", "?b"),
    ("(mul ?a (div ?b ?a))", "?b"),
    ("(div ?b ?a)", "(mul ?b (div 1 ?a))"),
    ("(div ?a (div ?b ?c))", "(mul ?a (div ?c ?b))"),
    ("(sub (div ?a ?b) (div ?c ?d))", "(div (sub (mul ?a ?d) (mul ?b ?c)) (mul ?b ?d))"),
    ("(add (div ?a ?b) (div ?c ?d))", "(div (add (mul ?a ?d) (mul ?b ?c)) (mul ?b ?d))"),
    ("(sub (div ?a ?b) ?c)", "(div (sub ?a (mul ?b ?c)) ?b)"),
    ("(sub ?c (div ?a ?b))", "(div (sub (mul ?b ?c) ?a) ?b)"),
    // Conjugates.
    ("(sub (sqrt ?a) (sqrt ?b))", "(div (sub ?a ?b) (add (sqrt ?a) (sqrt ?b)))"),
    ("(sub (sqrt ?a) ?b)", "(div (sub ?a (mul ?b ?b)) (add (sqrt ?a) ?b))"),
    ("(sub ?a (sqrt ?b))", "(div (sub (mul ?a ?a) ?b) (add ?a (sqrt ?b)))"),
    ("(add ?a (sqrt ?b))", "(div (sub (mul ?a ?a) ?b) (sub ?a (sqrt ?b)))"),
    (
        "(sub (cbrt ?a) (cbrt ?b))",
        "(div (sub ?a ?b) (add (mul (cbrt ?a) (cbrt ?a)) (add (mul (cbrt ?a) (cbrt ?b)) (mul (cbrt ?b) (cbrt ?b)))))",
    ),
    // Roots.
    ("(mul (sqrt ?a) (sqrt ?a))", "?a"),
    ("(sqrt (mul ?a ?a))", "(fabs ?a)"),
    ("(sqrt (add (mul ?a ?a) (mul ?b ?b)))", "(hypot ?a ?b)"),
    ("(sqrt (fma ?a ?a (mul ?b ?b)))", "(hypot ?a ?b)"),
    ("(sqrt (add (mul ?a ?a) 1))", "(hypot ?a 1)"),
    // Powers and logarithms.
    ("(exp 0)", "1"),
    ("(pow ?a 2)", "(mul ?a ?a)"),
    ("(pow ?a 0.5)", "(sqrt ?a)"),
    ("(log (exp ?a))", "?a"),
    ("(exp (log ?a))", "?a"),
    ("(sub (exp ?a) 1)", "(expm1 ?a)"),
    ("(sub (exp ?a) (exp ?b))", "(mul (exp ?b) (expm1 (sub ?a ?b)))"),
    ("(sub (exp2 ?a) 1)", "(expm1 (mul ?a (log 2)))"),
    ("(sub (pow ?a ?b) 1)", "(expm1 (mul ?b (log ?a)))"),
    ("(pow (add 1 ?a) ?b)", "(exp (mul ?b (log1p ?a)))"),
    ("(log (add 1 ?a))", "(log1p ?a)"),
    ("(log (sub 1 ?a))", "(log1p (neg ?a))"),
    ("(log (sqrt ?a))", "(mul 0.5 (log ?a))"),
    ("(log (div ?a ?b))", "(log1p (div (sub ?a ?b) ?b))"),
    ("(sub (log ?a) (log ?b))", "(log1p (div (sub ?a ?b) ?b))"),
    ("(sub (log (add ?a 1)) (log ?a))", "(log1p (div 1 ?a))"),
    // Circular functions.
    ("(sub 1 (cos ?a))", "(mul 2 (mul (sin (div ?a 2)) (sin (div ?a 2))))"),
    ("(div (sub 1 (cos ?a)) (sin ?a))", "(tan (div ?a 2))"),
    ("(div (sin ?a) (add 1 (cos ?a)))", "(tan (div ?a 2))"),
    ("(sub 1 (mul (cos ?a) (cos ?a)))", "(mul (sin ?a) (sin ?a))"),
    ("(sub 1 (mul (sin ?a) (sin ?a)))", "(mul (cos ?a) (cos ?a))"),
    ("(add (mul (sin ?a) (sin ?a)) (mul (cos ?a) (cos ?a)))", "1"),
    ("(sub (cos ?a) (cos ?b))", "(mul -2 (mul (sin (div (add ?a ?b) 2)) (sin (div (sub ?a ?b) 2))))"),
    ("(sub (sin ?a) (sin ?b))", "(mul 2 (mul (cos (div (add ?a ?b) 2)) (sin (div (sub ?a ?b) 2))))"),
    ("(sub (tan ?a) (tan ?b))", "(div (sin (sub ?a ?b)) (mul (cos ?a) (cos ?b)))"),
    ("(sub (atan ?a) (atan ?b))", "(atan2 (sub ?a ?b) (add 1 (mul ?a ?b)))"),
    // Hyperbolic functions.
    ("(sub (exp ?a) (exp (neg ?a)))", "(mul 2 (sinh ?a))"),
    ("(sub (exp ?a) (div 1 (exp ?a)))", "(mul 2 (sinh ?a))"),
    ("(add (exp ?a) (exp (neg ?a)))", "(mul 2 (cosh ?a))"),
    ("(sub (cosh ?a) 1)", "(mul 2 (mul (sinh (div ?a 2)) (sinh (div ?a 2))))"),
    ("(log (add ?a (sqrt (add (mul ?a ?a) 1))))", "(asinh ?a)"),
    ("(log (add ?a (sqrt (sub (mul ?a ?a) 1))))", "(acosh ?a)"),
    ("(log (div (add 1 ?a) (sub 1 ?a)))", "(mul 2 (atanh ?a))"),
    // Error functions.
    ("(sub 1 (erf ?a))", "(erfc ?a)"),
    ("(sub 1 (erfc ?a))", "(erf ?a)"),
];

impl Rules {
    /// All rules.
    pub(super) fn new() -> Rules {
        let back = BOTH_WAYS.iter().map(|&(left, right)| (right, left));
        let all = BOTH_WAYS.iter().copied().chain(back).chain(ONE_WAY.iter().copied());
        Rules(all.map(|(left, right)| rule(left, right)).collect())
    }
}

fn rule(left: &str, right: &str) -> Rewrite<Node, Meaning> {
    let pattern = |text: &str| text.parse::<Pattern<Node>>().expect("rules are of rows of TABLE 1");
    let applier = ConditionalApplier { condition: Holds(pattern(right).ast), applier: pattern(right) };
    Rewrite::new(format!("{left} = {right}"), pattern(left), applier).expect("sides have the same variables")
}

/// Condition of a rule: its right side, which is given, has the value of the left one on the inputs that classes are known
/// by.
struct Holds(PatternAst<Node>);

impl Condition<Node, Meaning> for Holds {
    fn check(&self, graph: &mut Graph, class: Id, found: &Subst) -> bool {
        let Some(left) = &graph[class].data.reals else { return false };
        let mut made: Vec<Reals> = Vec::with_capacity(self.0.len());
        for term in self.0.as_ref() {
            let reals = match term {
                ENodeOrVar::Var(var) => graph[found[*var]].data.reals.clone(),
                ENodeOrVar::ENode(node) => {
                    let operand = |&id: &Id| Some(&made[usize::from(id)]);
                    graph.analysis.reals(node.head, node.children().iter().map(operand))
                }
            };
            match reals {
                Some(reals) => made.push(reals),
                None => return false,
            }
        }
        made.last().is_some_and(|right| left.iter().zip(right.iter()).all(|(a, b)| are_one(a, b)))
    }
}

/// Tells whether two reals are the same number but for the roundings of each.
fn are_one(a: &Float, b: &Float) -> bool {
    let apart = Float::with_val(64, a - b);
    match (apart.get_exp(), a.get_exp()) {
        (None, _) => true,
        (Some(apart), Some(exponent)) => apart < exponent - ALIKE,
        (Some(_), None) => false,
    }
}
