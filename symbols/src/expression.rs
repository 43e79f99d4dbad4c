//! The expressions of debug information that say where an array's data are and how far they reach.
//!
//! They compute from an object's address and memory; those that need registers or a frame are for no one here.

use gimli::{AttributeValue as Attr, Operation as Op};

use super::debug::Reader;
use super::dies::Unit;
use super::reach::{Expression, Operation};

/// Computation that `value` describes; nothing if it is no expression, or one that needs more than an object.
pub(super) fn of(unit: &Unit, value: &Attr<Reader>) -> Result<Option<Expression>, gimli::Error> {
    let Some(expression) = value.exprloc_value() else { return Ok(None) };
    let mut operations = expression.operations(unit.encoding());
    let mut all = Vec::new();
    while let Some(operation) = operations.next()? {
        use Operation::{Add, Constant, Load, Multiply, Object, Subtract};
        match operation {
            Op::PushObjectAddress => all.push(Object),
            Op::UnsignedConstant { value } => all.push(Constant(value as i64)),
            Op::SignedConstant { value } => all.push(Constant(value)),
            Op::PlusConstant { value } => all.extend([Constant(value as i64), Add]),
            Op::Deref { size, space: false, .. } => all.push(Load(size)),
            Op::Plus => all.push(Add),
            Op::Minus => all.push(Subtract),
            Op::Mul => all.push(Multiply),
            _ => return Ok(None),
        }
    }
    Ok(Some(Expression(all)))
}
