//! The arithmetic that writes down what it is asked for: a node for each value and a test for each truth value, each once.
//! Knows no rule.

use super::{Constant, M, Node, Test, V, Verb};
use shadowgrind_core::arith::Arith;
use shadowgrind_core::functions::{Functions, circular};
use std::cell::RefCell;

/// The arithmetic that writes down.
#[derive(Default)]
pub(super) struct Recorder {
    /// Products are added unasked ([`Inline::ADDS_PRODUCTS`](shadowgrind_core::inline::Inline::ADDS_PRODUCTS)).
    pub(super) speculates: bool,
    pub(super) nodes: RefCell<Vec<Node>>,
    pub(super) tests: RefCell<Vec<Test>>,
}

/// The number of `item`, which is added if it is new.
fn number<T: PartialEq>(items: &mut Vec<T>, item: T) -> u8 {
    let at = items.iter().position(|known| *known == item).unwrap_or_else(|| {
        items.push(item);
        items.len() - 1
    });
    u8::try_from(at).expect("rules are short")
}

impl Recorder {
    pub(super) fn node(&self, node: Node) -> V {
        V(number(&mut self.nodes.borrow_mut(), node))
    }
    /// Records a computation; from something unknown comes something unknown.
    fn verb(&self, verb: Verb) -> V {
        let unknown = verb.operands().any(|v| self.is(v, Node::UNKNOWN));
        self.node(if unknown { Node::UNKNOWN } else { Node::Verb(verb) })
    }
    pub(super) fn test(&self, test: Test) -> M {
        let unknown = test.operands().any(|v| self.is(v, Node::UNKNOWN));
        M(number(&mut self.tests.borrow_mut(), if unknown { Test::Unknown } else { test }))
    }
    fn constant(&self, constant: Constant) -> V {
        self.node(Node::Constant(constant))
    }
    /// Tells whether nothing is there, as is known beforehand. What such a term is added to is left as it is.
    fn is_nothing(&self, v: V) -> bool {
        self.is(v, Node::ZERO)
    }
    fn is(&self, v: V, node: Node) -> bool {
        self.nodes.borrow()[usize::from(v.0)] == node
    }
}

impl Recorder {
    /// `product`, but `otherwise` where `s` is absent; where products are added unasked, only if it is known to be.
    fn unless_absent(&self, s: V, otherwise: V, product: V) -> V {
        if self.speculates && !self.is_nothing(s) {
            product
        } else {
            self.select(self.absent(s), otherwise, product)
        }
    }
}

/// Functions that no instruction computes are unknown.
impl Functions for Recorder {
    fn exp(&self, _: V) -> V {
        self.node(Node::UNKNOWN)
    }
    fn exp2(&self, _: V) -> V {
        self.node(Node::UNKNOWN)
    }
    fn pow(&self, _: V, _: V) -> V {
        self.node(Node::UNKNOWN)
    }
    fn pow_unless(&self, _: M, _: V, _: V) -> V {
        self.node(Node::UNKNOWN)
    }
    fn ln(&self, _: V) -> V {
        self.node(Node::UNKNOWN)
    }
    fn log2(&self, _: V) -> V {
        self.node(Node::UNKNOWN)
    }
    fn ln_1p(&self, _: V) -> V {
        self.node(Node::UNKNOWN)
    }
    fn sin(&self, a: V) -> V {
        circular::sin(self, a)
    }
    fn cos(&self, a: V) -> V {
        circular::cos(self, a)
    }
    fn sinh(&self, _: V) -> V {
        self.node(Node::UNKNOWN)
    }
    fn cosh(&self, _: V) -> V {
        self.node(Node::UNKNOWN)
    }
    fn hypot(&self, _: V, _: V) -> V {
        self.node(Node::UNKNOWN)
    }
    fn rint(&self, _: V) -> V {
        self.node(Node::UNKNOWN)
    }
    fn ldexp(&self, _: V, _: V) -> V {
        self.node(Node::UNKNOWN)
    }
    fn digamma(&self, _: V) -> V {
        self.node(Node::UNKNOWN)
    }
    fn bessel_j(&self, _: V, _: V) -> V {
        self.node(Node::UNKNOWN)
    }
    fn bessel_y(&self, _: V, _: V) -> V {
        self.node(Node::UNKNOWN)
    }
}

impl Arith for Recorder {
    type V = V;
    type M = M;

    fn lit(&self, x: f64) -> V {
        self.constant(Constant::Literal(x.to_bits()))
    }
    fn ulps(&self, n: f64) -> V {
        self.constant(Constant::Ulps(n.to_bits()))
    }
    fn whole(&self) -> V {
        self.constant(Constant::Whole)
    }
    fn neg(&self, a: V) -> V {
        self.verb(Verb::Xor(a, self.constant(Constant::Sign)))
    }
    fn abs(&self, a: V) -> V {
        self.verb(Verb::And(a, self.constant(Constant::Magnitude)))
    }
    fn flip(&self, a: V, b: V) -> V {
        self.verb(Verb::Flip(a, b, self.constant(Constant::Sign)))
    }
    fn traced(&self, a: V, b: V) -> V {
        if self.is_nothing(b) { a } else { self.verb(Verb::Flip(a, b, self.constant(Constant::Trace))) }
    }
    fn add(&self, a: V, b: V) -> V {
        match (self.is_nothing(a), self.is_nothing(b)) {
            (true, _) => b,
            (_, true) => a,
            _ => self.verb(Verb::Add(a, b)),
        }
    }
    fn sub(&self, a: V, b: V) -> V {
        match (self.is_nothing(a), self.is_nothing(b)) {
            (_, true) => a,
            (true, _) => self.opposite(b),
            _ => self.verb(Verb::Sub(a, b)),
        }
    }
    fn mul(&self, a: V, b: V) -> V {
        self.verb(Verb::Mul(a, b))
    }
    fn div(&self, a: V, b: V) -> V {
        self.verb(Verb::Div(a, b))
    }
    fn sqrt(&self, a: V) -> V {
        self.verb(Verb::Sqrt(a))
    }
    fn fma(&self, a: V, b: V, c: V) -> V {
        if self.is_nothing(c) { self.mul(a, b) } else { self.verb(Verb::Fma(a, b, c)) }
    }
    fn fnma(&self, a: V, b: V, c: V) -> V {
        // From nothing, too: turning a sign takes as long, and a product of −0 must not look like a shadow in a quotient.
        self.verb(Verb::Fnma(a, b, c))
    }
    fn lt(&self, a: V, b: V) -> M {
        self.test(Test::Less(a, b))
    }
    fn eq(&self, a: V, b: V) -> M {
        self.test(Test::Equal(a, b))
    }
    fn absent(&self, s: V) -> M {
        self.test(if self.is_nothing(s) { Test::Always } else { Test::Absent(s) })
    }
    fn scaled(&self, p: V, s: V) -> V {
        // From +0 on: a product of −0 must not look like a shadow.
        if self.speculates {
            self.plus_scaled(self.lit(0.0), p, s)
        } else {
            self.unless_absent(s, self.lit(0.0), self.mul(p, s))
        }
    }
    fn plus_scaled(&self, sum: V, p: V, s: V) -> V {
        let product = if self.speculates { self.verb(Verb::Fma(p, s, sum)) } else { self.fma(p, s, sum) };
        self.unless_absent(s, sum, product)
    }
    fn minus_scaled(&self, sum: V, p: V, s: V) -> V {
        self.unless_absent(s, sum, self.fnma(p, s, sum))
    }
    fn over(&self, a: V, b: V) -> V {
        let quotient = self.div(a, b);
        // What is nothing is to stay +0.
        if self.speculates {
            self.verb(Verb::Add(quotient, self.lit(0.0)))
        } else {
            self.unless_absent(a, self.lit(0.0), quotient)
        }
    }
    fn select(&self, m: M, yes: V, no: V) -> V {
        let test = self.tests.borrow()[usize::from(m.0)];
        match test {
            Test::Always => yes,
            Test::Unknown => self.node(Node::UNKNOWN),
            _ if yes == no => yes,
            _ => self.node(Node::Select(m, yes, no)),
        }
    }
}
