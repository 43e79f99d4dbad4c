//! Questions that a shadow is asked when operations that translated code has recorded are replayed, many at a time.
//!
//! Each result got a handle when the operation ran, which has moved on since; what it stands for is found now. Lanes are
//! replayed one by one through the shadow's rule; operations on doubles, which are most, may have a shorter way.

use crate::format::Format;
use crate::ops::Op;
use crate::shadow::{Rule, Shadow};
use crate::site::Site;
use crate::slots::{Negated, Slots};
use crate::step::Predicate;

/// An operation on doubles as it was recorded.
#[derive(Clone, Copy, Debug)]
pub struct Doubles {
    /// The operands; 1.0 where there is no second one.
    pub x: [f64; 2],
    /// The operands' cells.
    pub cells: [u64; 2],
    /// The result.
    pub r: f64,
    /// Its handle.
    pub handle: u64,
}

/// A shadow of handles whose operations are recorded. A `P` is what the processor can do for it: a front end makes one where it
/// has found that to be so.
pub trait Recorded<P>: Rule<Value: Negated> + Shadow<Words = Slots<<Self as Rule>::Value>> {
    /// Memory of an operation from one of its executions to the next.
    type Recurring;

    /// The operation at `site`, before it was ever executed.
    fn recurring(site: Site) -> Self::Recurring;

    /// Tells whether [`doubles`](Recorded::doubles) is for operation `op` on such formats.
    fn is_usual(_op: Op, _from: Format, _to: Format) -> bool {
        false
    }

    /// Gives the result of a usual operation its shadow, by what `processor` can do. `read` reads the operation of so many operands; the number is
    /// best a constant.
    fn doubles(
        &mut self,
        _processor: P,
        _slots: &mut Slots<Self::Value>,
        (_at, op): (&mut Self::Recurring, Op),
        _read: impl FnOnce(&mut Slots<Self::Value>, usize) -> Doubles,
    ) {
        unreachable!("{} is usual for no shadow that does not say how", op.name())
    }

    /// Tells whether a comparison of doubles with these cells was seen to, because it comes out in the shadow as in the
    /// program.
    fn compares_alike(
        &mut self,
        _slots: &Slots<Self::Value>,
        _at: (&mut Self::Recurring, Predicate),
        _x: [f64; 2],
        _cells: [u64; 2],
    ) -> bool {
        false
    }
}
