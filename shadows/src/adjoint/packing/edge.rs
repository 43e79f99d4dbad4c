//! Edges: at the border of an array stand other numbers than within. Where the first or the last iteration alone is such, that is told by a few
//! iterations, before all are looked at.

use super::Iterations;
use super::column::LONG;
use shadowgrind_core::appended::Source as Cells;

/// Number of iterations after which the loop is to be cut in two because numbers advance otherwise in the first or the last one alone: told
/// by a few iterations, before all are looked at.
pub(super) fn edge(iterations: &Iterations<'_>) -> Option<usize> {
    let (count, apart) = (iterations.count, iterations.pattern.bytes);
    if count <= LONG {
        return None;
    }
    // What has a period has no edge.
    let within = [2, 3, count / 4, count / 3, count / 2, count - 4, count - 3];
    for place in &iterations.pattern.places {
        for part in &iterations.kind(place).parts {
            for (i, _) in part.cells.iter().enumerate().filter(|(_, cells)| matches!(cells, Cells::Cells(_)))
            {
                let cell = |n: usize| part.cell(&iterations.records.bytes[place.at + n * apart..], i, 0);
                let step = |n: usize| cell(n + 1).wrapping_sub(cell(n));
                let usual = step(1);
                let [is_first, is_last] = [0, count - 2].map(|n| step(n) != usual);
                if (is_first || is_last) && within.iter().all(|&n| step(n) == usual) {
                    return Some(if is_first { 1 } else { count - 1 });
                }
            }
        }
    }
    None
}
