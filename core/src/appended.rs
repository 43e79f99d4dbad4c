//! Operations that translated code appends to a record as they run, in a form that says what it takes to know their partial
//! derivatives: operands' numbers, and the floats that TABLE 1's row reads.
//!
//! Each result has its number at once: numbers are handed out in blocks, each of which one thread uses up in the order of
//! its operations. A shadow is told of operations many at a time, each after those that its operands come from.

use crate::format::Format;
use crate::numbers::{Numbered, Numbers};
use crate::ops::{MAX_OPERANDS, Op};
use crate::shadow::{Rule, Shadow};
use crate::site::Site;

/// Numbers of a block.
pub const BLOCK: u64 = 1 << 16;

/// An operation as translated code has appended it.
#[derive(Clone, Copy, Debug)]
pub struct Operation {
    /// The instruction.
    pub site: Site,
    /// The row of TABLE 1.
    pub op: Op,
    /// Format of the operands.
    pub from: Format,
    /// Format of the result.
    pub to: Format,
}

/// Floats of an operation, as far as its row reads them; anything else otherwise.
#[derive(Clone, Copy, Debug)]
pub struct Floats {
    /// The operands.
    pub x: [f64; MAX_OPERANDS],
    /// The result.
    pub r: f64,
}

/// A shadow that is a number, under which a record says more.
pub trait Appended: Rule<Value = Numbered> + Shadow<Words = Numbers> {
    /// The first number of a block that nobody has.
    fn block(&mut self) -> u64;

    /// The result with this number is of such an operation, whose operands have these shadows, one at least.
    fn append(
        &mut self,
        number: u64,
        operation: &Operation,
        floats: &Floats,
        operands: &[Option<Numbered>; MAX_OPERANDS],
    );
}
