//! Questions that a shadow is asked when operations that translated code has recorded are replayed, many at a time.
//!
//! Each result got a handle when the operation ran, which has moved on since; what it stands for is found now. Lanes are
//! replayed one by one through the shadow's rule; the commonest operations may have a shorter way.

use crate::format::Format;
use crate::ops::{MAX_OPERANDS, Op};
use crate::shadow::{Rule, Shadow};
use crate::site::Site;
use crate::slots::{Negated, Slots};
use crate::step::Predicate;

/// An operation on floats of four or eight bytes as it was recorded.
#[derive(Clone, Copy, Debug)]
pub struct Floats {
    /// The bits of the operands; 1.0 where there is no second or third one.
    pub x: [u64; MAX_OPERANDS],
    /// The operands' cells.
    pub cells: [u64; MAX_OPERANDS],
    /// The bits of the result.
    pub r: u64,
    /// The handle.
    pub handle: u64,
}

/// A shadow of handles whose operations are recorded. A `P` is what the processor can do for it: a front end makes one where it
/// has found that to be so.
pub trait Recorded<P>: Rule<Value: Negated> + Shadow<Words = Slots<<Self as Rule>::Value>> {
    /// Memory of an operation from one of its executions to the next.
    type Recurring;

    /// The operation at `site`, before it was ever executed.
    fn recurring(site: Site) -> Self::Recurring;

    /// Tells whether [`usual`](Recorded::usual) is for operation `op` on such formats: the same one, of four or eight bytes.
    fn is_usual(_op: Op, _from: Format, _to: Format) -> bool {
        false
    }

    /// Gives the result of a usual operation on floats of a format its shadow, by what `processor` can do. `read` reads the operation of so many operands; the number is
    /// best a constant.
    fn usual(
        &mut self,
        _processor: P,
        _slots: &mut Slots<Self::Value>,
        (_at, op, _format): (&mut Self::Recurring, Op, Format),
        _read: impl FnOnce(&mut Slots<Self::Value>, usize) -> Floats,
    ) {
        unreachable!("{} is usual for no shadow that does not say how", op.name())
    }

    /// Tells whether a comparison of floats of four or eight bytes, of these bits and with these cells, was seen to, because it comes out in the shadow as in the
    /// program.
    fn compares_alike(
        &mut self,
        _slots: &Slots<Self::Value>,
        _at: (&mut Self::Recurring, Predicate, Format),
        _x: [u64; 2],
        _cells: [u64; 2],
    ) -> bool {
        false
    }
}
