//! Distances of a loop's operands whose numbers do not advance by a constant: from an iteration's first number, a column with an element
//! for each iteration. Knows nothing of loops.

/// Distance in an iteration in which the operand has no shadow.
pub(super) const NOTHING: i32 = i32::MIN;

/// The loop's columns of distances, from `first` on and of `count` elements each: number of the one that was written last, and how much
/// larger its own are. One that is another plus a constant is not kept.
pub(super) fn share(distances: &mut Vec<i32>, first: u64, count: usize) -> Shared {
    let start = distances.len() - count;
    let (before, last) = distances[first as usize..].split_at(start - first as usize);
    let columns = before.chunks_exact(count);
    let number = columns.len();
    let like = |(n, column)| Some((n, larger_by(column, last)?));
    match columns.enumerate().rev().find_map(like) {
        Some((column, larger)) => {
            distances.truncate(start);
            Shared { column: column as u32, larger }
        }
        None => Shared { column: number as u32, larger: 0 },
    }
}

/// Constant by which the distances of `other` are larger than those of `one`, if they are by one: operands of several statements are
/// the same result, or parts of what lies beside each other.
fn larger_by(one: &[i32], other: &[i32]) -> Option<i32> {
    let mut pairs = one.iter().zip(other);
    let (&a, &b) = pairs.clone().find(|(a, b)| **a != NOTHING || **b != NOTHING)?;
    let constant = b.wrapping_sub(a);
    let is_larger = |(&a, &b): (&i32, &i32)| match (a, b) {
        (NOTHING, NOTHING) => true,
        (NOTHING, _) | (_, NOTHING) => false,
        _ => b.wrapping_sub(a) == constant,
    };
    (is_larger((one.last()?, other.last()?)) && pairs.all(is_larger)).then_some(constant)
}

/// Column of distances that an operand has, and what is to be added to each.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Shared {
    pub(super) column: u32,
    pub(super) larger: i32,
}

impl Shared {
    /// Word that an operand says it by.
    pub(super) fn word(self) -> u64 {
        u64::from(self.column) | u64::from(self.larger as u32) << 32
    }

    /// The column that an operand says by this word.
    pub(super) fn of_word(word: u64) -> Shared {
        Shared { column: word as u32, larger: (word >> 32) as i32 }
    }
}
