//! Jacobians with few entries: their pattern by sets of outputs that go backwards, and their numbers by sweeps in which
//! outputs that share no component go together.
//!
//! Rows are coloured greedily, those with most entries first, such that no two of one colour have an entry in the same
//! column (Curtis, Powell and Reid, "On the estimation of sparse Jacobian matrices", 1974): a sweep for each few colours
//! then has them all.

use super::Active;
use super::sweep::{self, Flow};
use super::tape::Tape;
use shadowgrind_core::findings::Sparse;
use std::io;

/// Words of a set.
const WORDS: usize = 8;
/// Outputs that go backwards at once.
const SET: usize = 64 * WORDS;

/// Sets of outputs.
struct Sets;

impl Flow for Sets {
    type Cell = [u64; WORDS];

    #[inline(always)]
    fn is_nothing(cell: &[u64; WORDS]) -> bool {
        cell.iter().fold(0, |all, word| all | word) == 0
    }

    #[inline(always)]
    fn add(to: &mut [u64; WORDS], _partial: f64, from: &[u64; WORDS]) {
        for (to, from) in to.iter_mut().zip(from) {
            *to |= from;
        }
    }

    fn merge(to: &mut [u64; WORDS], from: &[u64; WORDS]) {
        Self::add(to, 1.0, from);
    }
}

/// The set of this output alone, by its number among those that go at once.
fn only(output: usize) -> [u64; WORDS] {
    let mut set = [0; WORDS];
    set[output / 64] = 1 << (output % 64);
    set
}

/// Columns in which each of so many rows has an entry, as far as the program's path says; ascending. `active` gives the
/// row and shadow of outputs that depend on a component, and `column` the column of a component's statement.
pub(super) fn pattern(
    tape: &Tape,
    rows: usize,
    active: &[(usize, Active)],
    mut column: impl FnMut(u64) -> u64,
) -> io::Result<Vec<Vec<u64>>> {
    let mut pattern = vec![Vec::new(); rows];
    for first in (0..rows).step_by(SET) {
        let outputs = active.iter().filter(|(row, _)| (first..first + SET).contains(row));
        let outputs = outputs.map(|&(row, shadow)| (shadow.number, only(row - first), 1.0));
        sweep::backward::<Sets>(tape, outputs, |passed, set| {
            if !passed.is_input {
                return;
            }
            let column = column(passed.statement);
            for row in (first..rows.min(first + SET))
                .filter(|row| set[(row - first) / 64] >> ((row - first) % 64) & 1 != 0)
            {
                pattern[row].push(column);
            }
        })?;
    }
    pattern.iter_mut().for_each(|columns| columns.sort_unstable());
    Ok(pattern)
}

/// A colour for each row, from 0, such that rows of one colour share no column; and how many there are.
pub(super) fn colours(pattern: &[Vec<u64>], columns: usize) -> (Vec<usize>, usize) {
    let mut order: Vec<usize> = (0..pattern.len()).collect();
    order.sort_by_key(|&row| std::cmp::Reverse(pattern[row].len()));
    // Colours that each column has already met.
    let mut met: Vec<Vec<usize>> = vec![Vec::new(); columns];
    let mut colours = vec![0; pattern.len()];
    let (mut count, mut taken) = (0, Vec::new());
    for row in order {
        taken.clear();
        taken.resize(count + 1, false);
        for &column in &pattern[row] {
            met[column as usize].iter().for_each(|&colour| taken[colour] = true);
        }
        let colour = taken.iter().position(|&taken| !taken).expect("one more than there are");
        colours[row] = colour;
        count = count.max(colour + 1);
        pattern[row].iter().for_each(|&column| met[column as usize].push(colour));
    }
    (colours, count)
}

/// Entries of a pattern, whose rows are in `compressed` by their colours.
pub(super) fn entries(
    pattern: &[Vec<u64>],
    colours: &[usize],
    compressed: &[Vec<f64>],
    columns: u64,
) -> Sparse {
    let entry = |row: usize, column: u64| (column, compressed[colours[row]][column as usize]);
    let row = |(row, at): (usize, &Vec<u64>)| at.iter().map(|&column| entry(row, column)).collect();
    Sparse { columns, rows: pattern.iter().enumerate().map(row).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_one_colour_share_no_column() {
        let band: Vec<Vec<u64>> =
            (0..50_u64).map(|i| (i.saturating_sub(1)..(i + 2).min(50)).collect()).collect();
        let (colours, count) = colours(&band, 50);
        assert!((3..6).contains(&count), "{count}");
        for (i, a) in band.iter().enumerate() {
            for (j, b) in band.iter().enumerate().skip(i + 1) {
                assert!(colours[i] != colours[j] || !a.iter().any(|column| b.contains(column)));
            }
        }
    }

    #[test]
    fn rows_without_entries_need_no_colour_of_their_own() {
        let (colours, count) = colours(&[vec![], vec![0], vec![]], 1);
        assert_eq!((colours, count), (vec![0, 0, 0], 1));
    }
}
