//! Places of the operands of a loop: among its own results, so many iterations before, or elsewhere.
//!
//! Knows nothing of partial derivatives, nor of what is added where.

use super::distances::NOTHING;
use super::loops::{Loop, Loops, Operand};
use std::ops::RangeInclusive;

/// Place of an operand's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Not among the results of the loop; or not always at the same place there.
    Elsewhere,
    /// At this place among the results of an iteration: so many iterations before, or of the same.
    Own { place: usize, before: usize },
}

impl Place {
    /// Place of an operand.
    pub(super) fn of(head: &Loop, operand: &Operand) -> Place {
        match Place::of_any(head, operand) {
            Some((place, before)) if before < head.iterations as usize => Place::Own { place, before },
            _ => Place::Elsewhere,
        }
    }

    /// Place of an operand among the results of an iteration, so many before, if the loop had that many.
    fn of_any(head: &Loop, operand: &Operand) -> Option<(usize, usize)> {
        let numbers = i64::from(head.numbers);
        if !operand.is_regular() || i64::from(operand.step) != numbers {
            return None;
        }
        let back = operand.back as i64;
        // Iterations back to that which the operand is a result of.
        let before = -back.wrapping_neg().div_euclid(numbers);
        let place = (before * numbers).wrapping_sub(back);
        let is_earlier = before > 0 || before == 0 && (place as usize) < operand.place();
        is_earlier.then_some((place as usize, before as usize))
    }
}

/// Numbers of iterations with which all of these operands have the places that they have in this loop.
pub(super) fn iterations_alike(head: &Loop, operands: &[Operand]) -> RangeInclusive<u32> {
    let (mut fewest, mut most) = (1, u32::MAX);
    for (_, before) in operands.iter().filter_map(|operand| Place::of_any(head, operand)) {
        if before < head.iterations as usize {
            fewest = fewest.max(before as u32 + 1);
        } else {
            most = most.min(u32::try_from(before).unwrap_or(u32::MAX));
        }
    }
    fewest..=most
}

/// Tells whether an operand is never a result of the loop.
pub(super) fn is_never_own(loops: &Loops, head: &Loop, operand: &Operand) -> bool {
    let (count, numbers) = (u64::from(head.iterations), u64::from(head.numbers));
    let own = head.number..head.number + count * numbers;
    if operand.is_regular() {
        let ends = [0, count - 1].map(|n| operand.regular_number(head, n));
        return ends.iter().all(|end| *end < own.start) || ends.iter().all(|end| *end >= own.end);
    }
    let (distances, larger) = loops.distances(head, operand);
    let firsts = (own.start..).step_by(numbers as usize);
    firsts.zip(distances).all(|(first, &distance)| {
        distance == NOTHING || !own.contains(&first.wrapping_sub_signed(distance.wrapping_add(larger).into()))
    })
}
