//! Two ways to compute an expression, one where an input is below a bound and one where it is not.

use std::time::Instant;

use super::evaluate::Judge;
use super::rules::Rules;
use super::{Tree, search};

/// Ways that are combined at most.
const MOST: usize = 12;

/// A way and its errors, by input.
type Tried = (Tree, Vec<f64>);

/// The best choice between two of the `ways`, which are those that are best on all inputs, and others that are best on
/// a part of them; the input that it goes by is one of so many. Nothing without at least four inputs.
pub(super) fn choice(
    tree: &Tree,
    ways: &[Tree],
    judge: &Judge,
    rules: &Rules,
    (variables, until): (usize, Instant),
) -> Option<Tree> {
    if judge.len() < 4 {
        return None;
    }
    let mut best: Option<(f64, Tree)> = None;
    for variable in 0..variables {
        let order = judge.order(variable);
        let (lower, upper) = order.split_at(order.len() / 2);
        let parts = [lower, upper].map(|part| search::ways(tree, &judge.part(part), rules, until));
        let apart = parts.iter().flat_map(|ways| ways.iter().map(|(way, _)| way).take(MOST / 4));
        let mut tried: Vec<Tried> = Vec::new();
        for way in [tree].into_iter().chain(apart).chain(ways).take(MOST) {
            if tried.iter().all(|(other, _)| other != way) {
                tried.push((way.clone(), judge.errors(way)));
            }
        }
        let Some((error, place, [first, second])) = border(&tried, &order) else { continue };
        if best.as_ref().is_none_or(|(least, _)| error < *least) {
            let Some(bound) = judge.between(variable, order[place - 1], order[place]) else { continue };
            let ways = [tried[first].0.clone(), tried[second].0.clone()];
            best = Some((error, Tree::Below(variable, bound, Box::new(ways))));
        }
    }
    best.map(|(_, tree)| tree)
}

/// The least mean error of two ways, the first for the inputs before a place in `order`: the error, the place, which they
/// are.
fn border(tried: &[Tried], order: &[usize]) -> Option<(f64, usize, [usize; 2])> {
    let sum = |way: usize, part: &[usize]| part.iter().map(|&at| tried[way].1[at]).sum::<f64>();
    let least = |part: &[usize]| {
        let sums = (0..tried.len()).map(|way| (sum(way, part), way));
        sums.min_by(|a, b| a.0.total_cmp(&b.0))
    };
    let mut best: Option<(f64, usize, [usize; 2])> = None;
    for place in 1..order.len() {
        let ((before, first), (after, second)) = (least(&order[..place])?, least(&order[place..])?);
        let error = (before + after) / order.len() as f64;
        if first != second && best.is_none_or(|(least, ..)| error < least) {
            best = Some((error, place, [first, second]));
        }
    }
    best
}
