//! Recorded operations on doubles as reals: found on the fast path, and put where their handles point.

use shadowgrind_core::format::Format;
use shadowgrind_core::ops::Op;
use shadowgrind_core::recorded::{Doubles, Recorded};
use shadowgrind_core::site::Site;
use shadowgrind_core::slots::{NO_HANDLE, Slots};
use shadowgrind_core::step::Predicate;

use super::elementary::{Elementary, Product, Quotient, Root, Sum};
use super::fast::{Became, Made, Recurring};
use super::{MpfrShadow, Value, takes_fast_path};
use crate::diagnosis::blame::Merging;

const F64: Format = Format::F64;

impl<M: Merging> Recorded<M> for MpfrShadow {
    type Recurring = Recurring;

    fn recurring(site: Site) -> Recurring {
        Recurring::new(site)
    }

    fn is_usual(op: Op, from: Format, to: Format) -> bool {
        takes_fast_path(op, from, to)
    }

    #[inline(always)]
    fn doubles(
        &mut self,
        merging: M,
        slots: &mut Slots<Value>,
        (at, op): (&mut Recurring, Op),
        read: impl FnOnce(&mut Slots<Value>, usize) -> Doubles,
    ) {
        match op {
            _ if !self.is_short() => {
                let doubles = read(slots, op.arity());
                self.long_doubles(merging, slots, (at, op), doubles);
            }
            Op::Add | Op::Sub => {
                let sum = Sum { subtract: op == Op::Sub };
                let doubles = read(slots, sum.arity());
                self.short_doubles(merging, slots, (at, sum), doubles);
            }
            Op::Mul => {
                let doubles = read(slots, Product.arity());
                self.short_doubles(merging, slots, (at, Product), doubles);
            }
            Op::Div => {
                let doubles = read(slots, Quotient.arity());
                self.short_doubles(merging, slots, (at, Quotient), doubles);
            }
            _ => {
                let doubles = read(slots, Root.arity());
                self.short_doubles(merging, slots, (at, Root), doubles);
            }
        }
    }

    #[inline(always)]
    fn compares_alike(
        &mut self,
        slots: &Slots<Value>,
        at: (&mut Recurring, Predicate),
        x: [f64; 2],
        cells: [u64; 2],
    ) -> bool {
        if any_negated(cells) {
            return false;
        }
        let shadows = [shadow_of_double(slots, cells[0], x[0]), shadow_of_double(slots, cells[1], x[1])];
        MpfrShadow::compares_alike(self, at, x, shadows)
    }
}

impl MpfrShadow {
    #[inline(always)]
    fn short_doubles<M: Merging, E: Elementary>(
        &mut self,
        merging: M,
        slots: &mut Slots<Value>,
        (at, row): (&mut Recurring, E),
        doubles: Doubles,
    ) {
        let Doubles { x: [a, b], cells: [first, second], r, handle } = doubles;
        // Arrays are made where they are passed on: one for all would be written down here.
        if any_negated([first, second]) {
            let doubles = Doubles { x: [a, b], cells: [first, second], r, handle };
            return self.negated_doubles(slots, (at, row.op()), doubles);
        }
        let (first, second) = (shadow_of_double(slots, first, a), shadow_of_double(slots, second, b));
        let mut made = Made::NOTHING;
        match self.on_doubles(merging, (at, row), [a, b], r, [first, second], &mut made) {
            Became::Shadow => {
                // Its parts go from registers to their places: put together elsewhere first, they would have to be read
                // again before they are written.
                self.put(made, slots.vacated(handle, F64, r.to_bits().into()));
            }
            Became::Exact => slots.assign(handle, F64, r.to_bits().into(), None),
            Became::Odd => {
                let made = self.on_odd_doubles((at, row.op()), [a, b], r, [first, second]);
                slots.assign(handle, F64, r.to_bits().into(), made);
            }
        }
    }

    /// Finds the shadow of a recorded operation on doubles whose signs were turned over, which makes other shadows
    /// first.
    #[inline(never)]
    fn negated_doubles(&mut self, slots: &mut Slots<Value>, what: (&mut Recurring, Op), doubles: Doubles) {
        let Doubles { x, cells, r, handle } = doubles;
        let found: [_; 2] = std::array::from_fn(|n| slots.shadow(F64, cells[n], x[n].to_bits().into()));
        let made = self.on_odd_doubles(what, x, r, found.each_ref().map(Option::as_deref));
        slots.assign(handle, F64, r.to_bits().into(), made);
    }

    /// Finds the shadow of a recorded operation on doubles whose reals are long.
    #[inline(always)]
    fn long_doubles<M: Merging>(
        &mut self,
        merging: M,
        slots: &mut Slots<Value>,
        what: (&mut Recurring, Op),
        doubles: Doubles,
    ) {
        let Doubles { x, cells, r, handle } = doubles;
        if any_negated(cells) {
            return self.negated_doubles(slots, what, doubles);
        }
        let left = slots.take(handle);
        let shadows = [shadow_of_double(slots, cells[0], x[0]), shadow_of_double(slots, cells[1], x[1])];
        let made = self.on_doubles_at_length(merging, what, x, r, shadows, left);
        slots.assign(handle, F64, r.to_bits().into(), made);
    }
}

/// The shadow of a double whose sign was not turned over.
#[inline(always)]
fn shadow_of_double(slots: &Slots<Value>, handle: u64, x: f64) -> Option<&Value> {
    if handle == NO_HANDLE { None } else { slots.get(handle, F64, x.to_bits().into()) }
}

/// Tells whether an operand is minus the float that its handle stands for.
#[inline(always)]
fn any_negated(cells: [u64; 2]) -> bool {
    (cells[0] | cells[1]) >> 63 != 0
}
