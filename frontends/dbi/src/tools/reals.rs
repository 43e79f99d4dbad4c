//! The reals of a process: the shadow's rule and the slots that tickets in the mirror stand for, behind one lock.

use super::cells::Encoding;
use shadowgrind_core::format::Format;
use shadowgrind_core::slots::{Cell, Slots};
use shadowgrind_shadows::mpfr::{MpfrShadow, Settings, Value};

/// See the module's description.
pub(crate) struct Reals {
    pub(crate) shadow: MpfrShadow,
    pub(crate) slots: Slots<Value>,
}

impl Reals {
    pub(crate) fn new(settings: Settings) -> Self {
        super::limbs::use_engine_heap();
        super::limbs::use_fast_loops();
        Reals { shadow: MpfrShadow::new(settings), slots: Slots::new() }
    }
}

/// The shadow of the float `bits`, of which `ticket` stands for the negative.
pub(super) fn negated_shadow(slots: &Slots<Value>, ticket: u64, format: Format, bits: u128) -> Option<Value> {
    let shadow = slots.get(ticket, format, bits ^ 1 << (format.width() - 1))?;
    Some(shadow.scaled(format, true, 0))
}

/// Tickets in the cells of the mirror.
pub(crate) struct Tickets<'a> {
    pub(crate) slots: &'a mut Slots<Value>,
}

impl Encoding for Tickets<'_> {
    type Value = Value;
    const BYTEWISE: bool = false;

    fn decode(&mut self, format: Format, cell: u128, bits: u128) -> Option<Value> {
        let Cell { ticket, negated } = Cell::of(format, u64::try_from(cell).ok()?);
        if negated {
            return negated_shadow(self.slots, ticket, format, bits);
        }
        self.slots.get(ticket, format, bits).cloned()
    }

    fn encode(&mut self, format: Format, bits: u128, shadow: Value) -> u128 {
        self.slots.insert(format, bits, shadow).into()
    }
}
