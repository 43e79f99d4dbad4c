//! TABLE 1: what an operation on real numbers means, one row each.
//!
//! A row states mathematics only: operands, partial derivatives, exact rounding residual, real function. It knows no
//! shadow and no instruction.

use crate::arith::Arith;

/// The partial derivative of a result with respect to one operand.
///
/// Factors that cost nothing are told apart so that a rule need not multiply by them; `When` keeps `0 · ∞` out of
/// selections.
#[derive(Clone, Copy, Debug)]
pub enum Partial<K: Arith> {
    /// The result does not depend on the operand (almost everywhere).
    Zero,
    /// 1.
    One,
    /// −1.
    MinusOne,
    /// A computed factor.
    Factor(K::V),
    /// 1 where the mask holds, else 0.
    When(K::M),
    /// 0 where the mask holds, else 1.
    Unless(K::M),
}
