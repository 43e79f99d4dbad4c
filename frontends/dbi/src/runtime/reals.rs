//! The reals of a process: the shadow's rule and the slots that tickets in the mirror stand for, behind one lock.

use super::cells::Encoding;
use shadowgrind_core::format::Format;
use shadowgrind_core::slots::{Cell, NO_TICKET, Slots};
use shadowgrind_shadows::mpfr::{MpfrShadow, Settings, Value};
use std::borrow::Cow;

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

/// The shadow of the float `bits` that has this cell; where the float is minus the one that the ticket stands for, one
/// that is made for it.
#[inline(always)]
pub(super) fn shadow_of(
    slots: &Slots<Value>,
    format: Format,
    cell: u64,
    bits: u128,
) -> Option<Cow<'_, Value>> {
    match Cell::of(format, cell) {
        Cell { ticket: NO_TICKET, .. } => None,
        Cell { ticket, negated: false } => slots.get(ticket, format, bits).map(Cow::Borrowed),
        Cell { ticket, negated: true } => negated_shadow(slots, ticket, format, bits).map(Cow::Owned),
    }
}

/// The shadow of the float `bits`, of which `ticket` stands for the negative.
#[inline(never)]
fn negated_shadow(slots: &Slots<Value>, ticket: u64, format: Format, bits: u128) -> Option<Value> {
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
        shadow_of(self.slots, format, u64::try_from(cell).ok()?, bits).map(Cow::into_owned)
    }

    fn encode(&mut self, format: Format, bits: u128, shadow: Value) -> u128 {
        self.slots.insert(format, bits, shadow).into()
    }
}
