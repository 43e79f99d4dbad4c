//! Expressions in an e-graph: rows of TABLE 1, numbers and inputs, and what is a number without any inputs.

use std::rc::Rc;

use egg::{Analysis, DidMerge, EGraph, FromOp, Id, Language};
use rug::Float;
use shadowgrind_core::arith::Host;
use shadowgrind_core::format::Format;
use shadowgrind_core::ops::{Op, Residual};

use super::Tree;
use crate::exact::residuals_hold;
use crate::reals::mpfr::Mpfr;

/// Kind of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Head {
    /// An operation.
    Op(Op),
    /// The bits of a double.
    Constant(u64),
    /// An input, by its number.
    Variable(usize),
}

/// A node of the graph.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Node {
    pub(super) head: Head,
    operands: Vec<Id>,
}

impl Node {
    fn leaf(head: Head) -> Node {
        Node { head, operands: Vec::new() }
    }

    fn constant(value: f64) -> Node {
        Node::leaf(Head::Constant(value.to_bits()))
    }
}

impl Language for Node {
    type Discriminant = Head;

    fn discriminant(&self) -> Head {
        self.head
    }

    fn matches(&self, other: &Node) -> bool {
        self.head == other.head
    }

    fn children(&self) -> &[Id] {
        &self.operands
    }

    fn children_mut(&mut self) -> &mut [Id] {
        &mut self.operands
    }
}

impl FromOp for Node {
    type Error = String;

    /// As rules are written: operations by their names in TABLE 1, and numbers.
    fn from_op(name: &str, operands: Vec<Id>) -> Result<Node, String> {
        if let Ok(value) = name.parse() {
            return Ok(Node::constant(value));
        }
        let op = Op::ALL.iter().find(|op| op.name() == name && op.arity() == operands.len());
        op.map(|&op| Node { head: Head::Op(op), operands }).ok_or_else(|| name.to_owned())
    }
}

/// Values of an expression on a few inputs.
pub(super) type Reals = Rc<[Float]>;

/// The meaning of expressions, by which classes are told.
#[derive(Debug)]
pub(super) struct Meaning {
    /// Numbers are floats of this format.
    pub(super) format: Format,
    /// Arithmetic that is precise enough.
    pub(super) reals: Mpfr,
    /// A few inputs.
    pub(super) inputs: Vec<Vec<f64>>,
}

/// All that is known of a class.
#[derive(Debug)]
pub(super) struct Known {
    /// The bits of the double that it is, if it is the same for all inputs and a float.
    constant: Option<u64>,
    /// The values on the inputs, if these are finite.
    pub(super) reals: Option<Reals>,
}

/// Graph of expressions.
pub(super) type Graph = EGraph<Node, Meaning>;

impl Meaning {
    /// The values of a node whose operands have these, if all are finite.
    pub(super) fn reals<'a>(
        &self,
        head: Head,
        operands: impl Iterator<Item = Option<&'a Reals>>,
    ) -> Option<Reals> {
        let operands: Option<Vec<&Reals>> = operands.collect();
        let operands = operands?;
        let one = |(at, input): (usize, &Vec<f64>)| {
            let value = match head {
                Head::Constant(bits) => Float::with_val(53, f64::from_bits(bits)),
                Head::Variable(number) => Float::with_val(53, input[number]),
                Head::Op(op) => {
                    let x: Vec<&Float> = operands.iter().map(|operand| &operand[at]).collect();
                    op.real(&self.reals, &x)
                }
            };
            value.is_finite().then_some(value)
        };
        self.inputs.iter().enumerate().map(one).collect()
    }

    /// The result of an operation on numbers, if that is a float itself.
    fn folded(&self, op: Op, x: &[f64]) -> Option<f64> {
        use Op::{Add, Div, Mul, Neg, Sqrt, Sub};
        let r = match (op, x) {
            (Neg, &[a]) => return Some(-a),
            (Add, &[a, b]) => a + b,
            (Sub, &[a, b]) => a - b,
            (Mul, &[a, b]) => a * b,
            (Div, &[a, b]) if b != 0.0 => a / b,
            (Sqrt, &[a]) if a >= 0.0 => a.sqrt(),
            _ => return None,
        };
        let is_float = self.format == Format::F64 || f64::from(r as f32) == r;
        if !is_float || !residuals_hold(Format::F64, Format::F64, x, r) {
            return None;
        }
        match op.residual(&Host::new(Format::F64), x, r) {
            Residual::Exact(off) | Residual::Rounded(off) => (off == 0.0).then_some(r),
            Residual::Never | Residual::Unknown => None,
        }
    }
}

impl Analysis<Node> for Meaning {
    type Data = Known;

    fn make(graph: &mut Graph, node: &Node, _id: Id) -> Known {
        let known = |id: &Id| &graph[*id].data;
        let constant = match node.head {
            Head::Constant(bits) => Some(bits),
            Head::Variable(_) => None,
            Head::Op(op) => {
                let x: Option<Vec<f64>> =
                    node.operands.iter().map(|id| known(id).constant.map(f64::from_bits)).collect();
                x.and_then(|x| graph.analysis.folded(op, &x)).map(f64::to_bits)
            }
        };
        let operands = node.operands.iter().map(|id| known(id).reals.as_ref());
        Known { constant, reals: graph.analysis.reals(node.head, operands) }
    }

    fn merge(&mut self, a: &mut Known, b: Known) -> DidMerge {
        let (lacks, gives) = (a.constant.is_none(), b.constant.is_some());
        a.constant = a.constant.or(b.constant);
        let (lacks_reals, gives_reals) = (a.reals.is_none(), b.reals.is_some());
        if lacks_reals {
            a.reals = b.reals;
        }
        DidMerge(lacks & gives | lacks_reals & gives_reals, true)
    }

    fn modify(graph: &mut Graph, id: Id) {
        let Some(bits) = graph[id].data.constant else { return };
        let value = f64::from_bits(bits);
        let constant = graph.add(Node::constant(value));
        graph.union(id, constant);
        if value < 0.0 {
            // Rules see a sign that stands before a number.
            let magnitude = graph.add(Node::constant(-value));
            let negated = graph.add(Node { head: Head::Op(Op::Neg), operands: vec![magnitude] });
            graph.union(id, negated);
        }
    }
}

/// Adds an expression without choices to a graph.
pub(super) fn add(graph: &mut Graph, tree: &Tree) -> Id {
    let node = match tree {
        Tree::Below(..) => unreachable!("what programs compute here has no choices"),
        Tree::Constant(value) => Node::constant(*value),
        Tree::Variable(number) => Node::leaf(Head::Variable(*number)),
        Tree::Op(op, operands) => {
            let operands = operands.iter().map(|operand| add(graph, operand)).collect();
            Node { head: Head::Op(*op), operands }
        }
    };
    graph.add(node)
}
