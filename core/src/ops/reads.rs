//! Floats that a row's partial derivatives are made of: found by evaluating the row over sets of what was read.

use super::{Gradient, MAX_OPERANDS, Op, Partial};
use crate::arith::Arith;

/// Floats of an operation: operands by number, and the result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reads(u8);

/// The bit of the result.
const RESULT: u8 = 1 << MAX_OPERANDS;

impl Reads {
    /// All floats of an operation.
    pub const ALL: Reads = Reads(RESULT | (RESULT - 1));

    /// Tells whether operand `i` is read.
    pub const fn operand(self, i: usize) -> bool {
        self.0 >> i & 1 != 0
    }

    /// Tells whether the result is read.
    pub const fn result(self) -> bool {
        self.0 & RESULT != 0
    }

    /// The operands that are read by those who compute the result themselves, if that is read.
    pub const fn without_result(self) -> Reads {
        if self.result() { Reads(RESULT - 1) } else { self }
    }
}

/// Values are the sets of floats that they depend on.
struct Sets;

impl Arith for Sets {
    type V = u8;
    type M = u8;

    fn lit(&self, _x: f64) -> u8 {
        0
    }
    fn ulps(&self, _n: f64) -> u8 {
        0
    }
    fn whole(&self) -> u8 {
        0
    }
    fn neg(&self, a: u8) -> u8 {
        a
    }
    fn abs(&self, a: u8) -> u8 {
        a
    }
    fn flip(&self, a: u8, b: u8) -> u8 {
        a | b
    }
    fn traced(&self, a: u8, b: u8) -> u8 {
        a | b
    }
    fn add(&self, a: u8, b: u8) -> u8 {
        a | b
    }
    fn sub(&self, a: u8, b: u8) -> u8 {
        a | b
    }
    fn mul(&self, a: u8, b: u8) -> u8 {
        a | b
    }
    fn div(&self, a: u8, b: u8) -> u8 {
        a | b
    }
    fn sqrt(&self, a: u8) -> u8 {
        a
    }
    fn fma(&self, a: u8, b: u8, c: u8) -> u8 {
        a | b | c
    }
    fn lt(&self, a: u8, b: u8) -> u8 {
        a | b
    }
    fn eq(&self, a: u8, b: u8) -> u8 {
        a | b
    }
    fn absent(&self, s: u8) -> u8 {
        s
    }
    fn select(&self, m: u8, yes: u8, no: u8) -> u8 {
        m | yes | no
    }
}

/// An operand of an operation, or its opposite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OperandFactor {
    /// Number of the operand.
    pub operand: usize,
    /// True for the opposite.
    pub negated: bool,
}

/// Values are the operands that they are equal to; nothing if they are anything else.
struct Names;

impl Arith for Names {
    type V = Option<OperandFactor>;
    type M = ();

    fn lit(&self, _x: f64) -> Self::V {
        None
    }
    fn ulps(&self, _n: f64) -> Self::V {
        None
    }
    fn whole(&self) -> Self::V {
        None
    }
    fn neg(&self, a: Self::V) -> Self::V {
        a.map(|a| OperandFactor { negated: !a.negated, ..a })
    }
    fn abs(&self, _a: Self::V) -> Self::V {
        None
    }
    fn flip(&self, _a: Self::V, _b: Self::V) -> Self::V {
        None
    }
    fn traced(&self, _a: Self::V, _b: Self::V) -> Self::V {
        None
    }
    fn add(&self, _a: Self::V, _b: Self::V) -> Self::V {
        None
    }
    fn sub(&self, _a: Self::V, _b: Self::V) -> Self::V {
        None
    }
    fn mul(&self, _a: Self::V, _b: Self::V) -> Self::V {
        None
    }
    fn div(&self, _a: Self::V, _b: Self::V) -> Self::V {
        None
    }
    fn sqrt(&self, _a: Self::V) -> Self::V {
        None
    }
    fn fma(&self, _a: Self::V, _b: Self::V, _c: Self::V) -> Self::V {
        None
    }
    fn lt(&self, _a: Self::V, _b: Self::V) {}
    fn eq(&self, _a: Self::V, _b: Self::V) {}
    fn absent(&self, _s: Self::V) {}
    fn select(&self, _m: (), _yes: Self::V, _no: Self::V) -> Self::V {
        None
    }
}

impl Op {
    /// The operand that the partial derivative of an arithmetic row by each operand is, if it is one.
    pub fn factors(self) -> [Option<OperandFactor>; MAX_OPERANDS] {
        let x = std::array::from_fn::<_, MAX_OPERANDS, _>(|operand| {
            Some(OperandFactor { operand, negated: false })
        });
        let Some(gradient) = self.arithmetic_gradient(&Names, &x[..self.arity()], None) else {
            return [None; MAX_OPERANDS];
        };
        gradient.partials.map(|partial| match partial {
            Partial::Factor(_) | Partial::Minus(_) if gradient.divisor.is_none() => partial.value(&Names),
            _ => None,
        })
    }

    /// The floats that the partial derivatives of an arithmetic row are made of.
    pub fn reads(self) -> Option<Reads> {
        let gradient = self.sets()?;
        let partials = gradient.partials.into_iter().map(|partial| match partial {
            Partial::When(mask) | Partial::Unless(mask) => mask,
            partial => partial.value(&Sets),
        });
        Some(Reads(partials.chain(gradient.divisor).fold(0, |all, set| all | set)))
    }

    /// The floats that the partial derivative of an arithmetic row by each operand is made of; nothing for operands that the result
    /// depends on here and not there, or never.
    pub fn reads_by_operand(self) -> Option<[Option<Reads>; MAX_OPERANDS]> {
        let gradient = self.sets()?;
        Some(gradient.partials.map(|partial| match partial {
            Partial::Zero | Partial::When(_) | Partial::Unless(_) => None,
            partial => Some(Reads(partial.value(&Sets) | gradient.divisor.unwrap_or(0))),
        }))
    }

    /// The derivatives of an arithmetic row, as sets.
    fn sets(self) -> Option<Gradient<Sets>> {
        let x = std::array::from_fn::<u8, MAX_OPERANDS, _>(|i| 1 << i);
        self.arithmetic_gradient(&Sets, &x[..self.arity()], RESULT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_read_what_they_name() {
        let reads = |op: Op| {
            let reads = op.reads()?;
            Some(([0, 1, 2].map(|i| reads.operand(i)), reads.result()))
        };
        let (no, yes) = (false, true);
        assert_eq!(reads(Op::Add), Some(([no; 3], no)));
        assert_eq!(reads(Op::Mul), Some(([yes, yes, no], no)));
        assert_eq!(reads(Op::Div), Some(([no, yes, no], yes)));
        assert_eq!(reads(Op::Sqrt), Some(([no; 3], yes)));
        assert_eq!(reads(Op::Fnmadd), Some(([yes, yes, no], no)));
        assert_eq!(reads(Op::Min), Some(([yes, yes, no], no)));
        assert_eq!(reads(Op::Narrow), Some(([no; 3], no)));
        assert_eq!(reads(Op::Sin), None);
        let by_operand = |op: Op| {
            let sets = |reads: Reads| ([0, 1, 2].map(|i| reads.operand(i)), reads.result());
            op.reads_by_operand().unwrap().map(|reads| reads.map(sets))
        };
        let by_divisor = ([no, yes, no], no);
        assert_eq!(by_operand(Op::Div), [Some(by_divisor), Some(([no, yes, no], yes)), None]);
        assert_eq!(by_operand(Op::Sub), [Some(([no; 3], no)), Some(([no; 3], no)), None]);
        assert_eq!(by_operand(Op::Min), [None; 3]);
    }

    #[test]
    fn factors_are_operands_or_their_opposites() {
        let factor = |operand, negated| Some(OperandFactor { operand, negated });
        assert_eq!(Op::Mul.factors(), [factor(1, false), factor(0, false), None]);
        assert_eq!(Op::Fnmadd.factors(), [factor(1, true), factor(0, true), None]);
        for op in [Op::Add, Op::Div, Op::Sqrt, Op::Min, Op::Narrow, Op::Sin] {
            assert_eq!(op.factors(), [None; 3], "{op:?}");
        }
    }
}
