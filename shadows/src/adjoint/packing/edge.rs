//! Edges: at the border of an array stand other numbers than within. Where the first or the last iteration alone is such, that is told by a few
//! iterations, before all are looked at.

use super::column::LONG;
use super::{Iterations, word};

/// Number of iterations after which the loop is to be cut in two because numbers advance otherwise in the first or the last one alone: told
/// by a few iterations, before all are looked at.
pub(super) fn edge(iterations: &Iterations<'_>) -> Option<usize> {
    let (count, apart) = (iterations.count, iterations.pattern.bytes);
    if count <= LONG {
        return None;
    }
    // What has a period has no edge.
    let within = [2, 3, count / 4, count / 3, count / 2, count - 4, count - 3];
    iterations.cell_words().find_map(|at| {
        let cells = |n: usize| word(&iterations.records.bytes[at + n * apart..]);
        let step = |n: usize| cells(n + 1).wrapping_sub(cells(n));
        let usual = step(1);
        let (is_first, is_last) = (step(0) != usual, step(count - 2) != usual);
        let is_edge = (is_first || is_last) && within.iter().all(|&n| step(n) == usual);
        is_edge.then_some(if is_first { 1 } else { count - 1 })
    })
}
