//! The ways to compute an expression that come nearest to its real value, out of all that rules find.
//!
//! Each class of the graph has one real value on each input. From the leaves upwards, the way is kept that is nearest to
//! it, of those whose operands are computed in the best way known; equally good ones by their price.

use std::rc::Rc;
use std::time::Instant;

use egg::{Id, Language, Runner};
use hashbrown::HashMap;
use shadowgrind_core::ops::Op;

use super::Tree;
use super::evaluate::{Judge, mean};
use super::graph::{Graph, Head, Meaning, Node, Reals, add};
use super::rules::Rules;

/// Limits of the graph: nodes, and rounds of rewriting.
const NODES: usize = 6000;
const ROUNDS: usize = 9;
/// Inputs that classes are known by.
const KNOWN_BY: usize = 3;
/// Inputs that ways are compared on.
const INPUTS: usize = 24;
/// Times that all classes are looked at again because operands have a better way.
const PASSES: usize = 12;
/// Bits of mean error that no way is better for being below: one rounding makes as much.
const GOOD: f64 = 0.75;
/// Bits of mean error that are worth a unit of price.
const WORTH: f64 = 0.02;
/// Ways that are handed out.
const WAYS: usize = 16;

/// A way to compute a class.
#[derive(Clone, Debug)]
struct Way {
    tree: Rc<Shared>,
    /// The results in floats, by input.
    floats: Rc<[f64]>,
    error: f64,
    price: u32,
}

/// An expression that shares its parts with others.
#[derive(Debug)]
enum Shared {
    Op(Op, Vec<Rc<Shared>>),
    Constant(f64),
    Variable(usize),
}

impl Shared {
    fn tree(&self) -> Tree {
        match self {
            Shared::Op(op, operands) => {
                Tree::Op(*op, operands.iter().map(|operand| operand.tree()).collect())
            }
            Shared::Constant(value) => Tree::Constant(*value),
            Shared::Variable(number) => Tree::Variable(*number),
        }
    }
}

impl Way {
    /// The number that ways are chosen by: the less, the better.
    fn score(&self) -> f64 {
        self.error.max(GOOD) + WORTH * f64::from(self.price)
    }
}

/// Values of the classes of a graph on some inputs.
struct Values<'a> {
    judge: &'a Judge,
    /// Values on all inputs.
    meaning: Meaning,
    reals: HashMap<Id, Reals>,
    /// Reals rounded to the program's format.
    nearest: HashMap<Id, Vec<f64>>,
    best: HashMap<Id, Way>,
}

/// Ways to compute `tree` and their prices, the best first, as far as they are found until then.
pub(super) fn ways(tree: &Tree, judge: &Judge, rules: &Rules, until: Instant) -> Vec<(Tree, u32)> {
    let inputs = judge.telling(tree, INPUTS);
    let meaning = |inputs: &[Vec<f64>]| Meaning {
        format: judge.floats.format,
        reals: judge.reals.clone(),
        inputs: inputs.to_vec(),
    };
    let mut graph = Graph::new(meaning(&inputs[..inputs.len().min(KNOWN_BY)]));
    let root = add(&mut graph, tree);
    let time = until.saturating_duration_since(Instant::now()) / 2;
    let runner: Runner<Node, Meaning> = Runner::new(meaning(&[]))
        .with_egraph(graph)
        .with_node_limit(NODES)
        .with_iter_limit(ROUNDS)
        .with_time_limit(time)
        .run(&rules.0);
    let graph = runner.egraph;
    let mut values = Values {
        judge,
        meaning: meaning(&inputs),
        reals: HashMap::new(),
        nearest: HashMap::new(),
        best: HashMap::new(),
    };
    values.find_reals(&graph, until);
    values.find_best(&graph, until);
    let root = graph.find(root);
    let mut ways: Vec<Way> =
        graph[root].nodes.iter().filter_map(|node| values.way(&graph, root, node)).collect();
    ways.sort_by(|a, b| a.score().total_cmp(&b.score()));
    ways.iter().take(WAYS).map(|way| (way.tree.tree(), way.price)).collect()
}

impl Values<'_> {
    /// The real value of each class, by any of its nodes that has one.
    fn find_reals(&mut self, graph: &Graph, until: Instant) {
        let mut is_changed = true;
        while is_changed && Instant::now() < until {
            is_changed = false;
            for class in graph.classes() {
                if self.reals.contains_key(&class.id) {
                    continue;
                }
                let Some(reals) = class.nodes.iter().find_map(|node| self.real(graph, node)) else {
                    continue;
                };
                let nearest = reals.iter().map(|real| self.judge.floats.nearest(real)).collect();
                self.nearest.insert(class.id, nearest);
                self.reals.insert(class.id, reals);
                is_changed = true;
            }
        }
    }

    /// The values of a node on the inputs, if they are numbers on all of them.
    fn real(&self, graph: &Graph, node: &Node) -> Option<Reals> {
        let operands = node.children().iter().map(|&id| self.reals.get(&graph.find(id)));
        self.meaning.reals(node.head, operands)
    }

    fn find_best(&mut self, graph: &Graph, until: Instant) {
        for _ in 0..PASSES {
            let mut is_changed = false;
            for class in graph.classes() {
                for node in &class.nodes {
                    let Some(way) = self.way(graph, class.id, node) else { continue };
                    if self.best.get(&class.id).is_none_or(|best| way.score() < best.score()) {
                        self.best.insert(class.id, way);
                        is_changed = true;
                    }
                }
                if Instant::now() >= until {
                    return;
                }
            }
            if !is_changed {
                return;
            }
        }
    }

    /// A node computed from the best that is known of its operands.
    fn way(&self, graph: &Graph, class: Id, node: &Node) -> Option<Way> {
        let exact = self.nearest.get(&class)?;
        let operands: Option<Vec<&Way>> =
            node.children().iter().map(|&id| self.best.get(&graph.find(id))).collect();
        let operands = operands?;
        let one = |at: usize| match node.head {
            Head::Constant(bits) => f64::from_bits(bits),
            Head::Variable(number) => self.meaning.inputs[at][number],
            Head::Op(op) => {
                let x: Vec<f64> = operands.iter().map(|operand| operand.floats[at]).collect();
                self.judge.floats.apply(op, &x)
            }
        };
        let floats: Rc<[f64]> = (0..self.meaning.inputs.len()).map(one).collect();
        let errors: Vec<f64> =
            floats.iter().zip(exact).map(|(&float, &exact)| self.judge.floats.error(float, exact)).collect();
        let (tree, own) = match node.head {
            // Nobody writes a + −4.
            Head::Constant(bits) => (Shared::Constant(f64::from_bits(bits)), 1 + (bits >> 63) as u32),
            Head::Variable(number) => (Shared::Variable(number), 1),
            Head::Op(op) => {
                let operands = operands.iter().map(|operand| operand.tree.clone()).collect();
                (Shared::Op(op, operands), price(op))
            }
        };
        let price = operands.iter().fold(own, |sum, operand| sum.saturating_add(operand.price));
        Some(Way { tree: Rc::new(tree), floats, error: mean(&errors), price })
    }
}

/// The price of an operation, by how long it takes and how hard it is to read.
fn price(op: Op) -> u32 {
    use Op::{Add, Fmadd, Fmsub, Fnmadd, Fnmsub, Mul, Neg, Sub};
    match op {
        Add | Sub | Mul | Neg => 2,
        Fmadd | Fmsub | Fnmadd | Fnmsub => 6,
        Op::Div | Op::Sqrt | Op::Abs => 3,
        _ => 8,
    }
}
