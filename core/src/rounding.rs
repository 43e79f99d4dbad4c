//! Rounding of a number to an integer: the modes of instructions and of functions.

/// Rounding of a real to an integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounding {
    /// To the nearest, ties to even.
    NearestEven,
    /// To the nearest, ties away from zero, as C's `round`.
    NearestAway,
    /// Towards −∞.
    Down,
    /// Towards +∞.
    Up,
    /// Towards zero.
    Zero,
    /// As the guest's rounding mode has it at that moment, which only the implementation can know.
    Current,
}
