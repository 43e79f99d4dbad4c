//! Cells of an operand in all iterations: whether their numbers advance by a constant, and how many of them are alike.

use super::super::distances::NOTHING;
use super::super::loops::Numbers;
use shadowgrind_core::numbers;
use shadowgrind_core::ops::MAX_OPERANDS;

/// Fewest iterations that operands advance in by a constant for which a loop is cut in two, and most before these.
pub(super) const LONG: usize = 16;
const FEW: usize = 4;

/// The numbers in cells that begin with this one and advance by a constant, if these are cells of the same kind.
#[inline(always)]
pub(super) fn regular(first: u64, step: u64, count: usize) -> Option<Numbers> {
    let last = first.wrapping_add(step.wrapping_mul(count as u64 - 1));
    let number = numbers::of_double(first).map_or(0, |shadow| shadow.number);
    let apart = numbers::cells_apart(1) as i64;
    // All of them are odd if the first one is.
    let is_of_numbers = step as i64 % apart == 0;
    let advance = i32::try_from(step as i64 / apart).ok().filter(|&step| step != i32::MIN);
    let are_cells = sort(first).is_some() && sort(last).is_some() && first >> 32 == last >> 32;
    (are_cells && is_of_numbers).then_some(Numbers { first: number, step: Some(advance?) })
}

/// Distance from the first number of an iteration to the operand with this cell, if it has a shadow and there is room for it.
#[inline(always)]
pub(super) fn distance(first: u64, cell: u64) -> Option<i32> {
    let number = numbers::of_double(cell)?.number;
    let distance = i32::try_from(first.wrapping_sub(number) as i64).ok();
    distance.filter(|&distance| distance != NOTHING)
}

/// Cells of an operand in all iterations.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Column {
    /// The first that is of a shadow; 0 if there is none.
    pub(super) cell: u64,
    pub(super) numbers: Numbers,
    /// Number of the first iterations in which all are of shadows scaled alike, or none is of one.
    pub(super) alike: usize,
    /// Number of the first iterations in which those that are of shadows are scaled alike.
    scaled_alike: usize,
    /// True if the first one is of a shadow.
    begins: bool,
}

impl Column {
    /// A column of which `count` cells are like `cell`, the first.
    #[inline(always)]
    pub(super) fn uniform(cell: u64, numbers: Numbers, count: usize) -> Column {
        Column { cell, numbers, alike: count, scaled_alike: count, begins: cell != 0 }
    }
}

/// Number of the first iterations that each of the operands of a statement allows to be together. One that `may_lack` its shadow in some
/// of them does so beside another that has one in all of these.
#[inline(always)]
pub(super) fn alike(
    columns: &[Column; MAX_OPERANDS],
    may_lack: [bool; MAX_OPERANDS],
) -> [usize; MAX_OPERANDS] {
    let always = (0..MAX_OPERANDS).filter(|&i| columns[i].begins).max_by_key(|&i| columns[i].alike);
    std::array::from_fn(|i| match always {
        Some(always) if always != i && may_lack[i] => {
            columns[i].alike.max(columns[i].scaled_alike.min(columns[always].alike))
        }
        _ => columns[i].alike,
    })
}

/// The column of these cells. `firsts` are the first iteration's first number and what it advances by.
#[inline(always)]
pub(super) fn column(cells: &[u64], firsts: (u64, u64)) -> Column {
    let (first, count) = (cells[0], cells.len());
    match progress(cells) {
        Progress::Cut(after) => {
            return Column::uniform(first, Numbers { first: 0, step: None }, after);
        }
        Progress::Regular { step } => {
            if let Some(numbers) = regular(first, step, count) {
                return Column::uniform(first, numbers, count);
            }
        }
        Progress::Irregular => (),
    }
    let (number, advance) = firsts;
    let cell = cells.iter().copied().find(|&cell| cell != 0).unwrap_or(0);
    let fits = |n: usize, cell: u64| cell == 0 || distance(number + n as u64 * advance, cell).is_some();
    let is_alike = |n: usize, now: u64| sort(now).is_some() && sort(now) == sort(cell) && fits(n, now);
    let alike = cells.iter().position(|&now| (now == 0) != (first == 0)).unwrap_or(count);
    let other = cells.iter().enumerate().position(|(n, &now)| now != 0 && !is_alike(n, now));
    let scaled_alike = other.unwrap_or(count);
    let number = numbers::of_double(cell).map_or(0, |shadow| shadow.number);
    let numbers = Numbers { first: number, step: None };
    Column { cell, numbers, alike: alike.min(scaled_alike), scaled_alike, begins: first != 0 }
}

/// The way in which cells follow each other.
enum Progress {
    /// By a constant.
    Regular { step: u64 },
    /// By a constant in these first iterations, or since these: at the edge of an array stand other numbers than within, and there the
    /// loop is to be cut.
    Cut(usize),
    /// In another way.
    Irregular,
}

#[inline(always)]
fn progress(cells: &[u64]) -> Progress {
    let (step, steps) = (|n: usize| cells[n].wrapping_sub(cells[n - 1]), 2..cells.len());
    let usual = if cells.len() > 1 { step(1) } else { 0 };
    // The first cell that does not advance by what the second did, and the last that does not by what that before it did.
    let Some(end) = steps.clone().find(|&n| step(n) != usual) else {
        return Progress::Regular { step: usual };
    };
    let since = steps.rev().find(|&n| step(n) != step(n - 1)).map_or(0, |n| n - 1);
    match (end, since) {
        (LONG.., _) => Progress::Cut(end),
        (_, ..=FEW) if cells.len() - since >= LONG => Progress::Cut(since),
        _ => Progress::Irregular,
    }
}

/// Sign and power of two of a cell, 0 if there is no shadow; nothing if it is not that of a float.
#[inline(always)]
fn sort(cell: u64) -> Option<u64> {
    match numbers::of_double(cell) {
        Some(_) => Some(cell >> numbers::FRACTION_BITS),
        None => (cell == 0).then_some(0),
    }
}
