//! Recorded operations on floats as reals: found on the fast path, and put where their handles point.

use shadowgrind_core::format::Format;
use shadowgrind_core::ops::Op;
use shadowgrind_core::recorded::{Floats, Recorded};
use shadowgrind_core::shadow::{Lane, Rule};
use shadowgrind_core::site::Site;
use shadowgrind_core::slots::{NO_HANDLE, Slots};
use shadowgrind_core::step::Predicate;

use super::elementary::{Elementary, Product, Quotient, Root, Sum};
use super::fast::{FastOutcome, Made, Recurring};
use super::{MpfrShadow, Value, takes_fast_path};
use crate::diagnosis::blame::Merging;
use crate::ieee::{Double, Ieee, Single};
use crate::reals::bigfloat;

impl<M: Merging> Recorded<M> for MpfrShadow {
    type Recurring = Recurring;

    fn recurring(site: Site) -> Recurring {
        Recurring::new(site)
    }

    fn is_usual(op: Op, from: Format, to: Format) -> bool {
        takes_fast_path(op, from, to)
    }

    #[inline(always)]
    fn usual(
        &mut self,
        merging: M,
        slots: &mut Slots<Value>,
        (at, op, format): (&mut Recurring, Op, Format),
        read: impl FnOnce(&mut Slots<Value>, usize) -> Floats,
    ) {
        match format {
            Format::F32 => self.usual_floats(merging, slots, (at, op, Single), read),
            _ => self.usual_floats(merging, slots, (at, op, Double), read),
        }
    }

    #[inline(always)]
    fn compares_alike(
        &mut self,
        slots: &Slots<Value>,
        at: (&mut Recurring, Predicate, Format),
        x: [u64; 2],
        cells: [u64; 2],
    ) -> bool {
        match at.2 {
            Format::F32 => self.floats_compare_alike(slots, (at, Single), x, cells),
            _ => self.floats_compare_alike(slots, (at, Double), x, cells),
        }
    }
}

impl MpfrShadow {
    #[inline(always)]
    fn usual_floats<M: Merging, F: Ieee>(
        &mut self,
        merging: M,
        slots: &mut Slots<Value>,
        (at, op, format): (&mut Recurring, Op, F),
        read: impl FnOnce(&mut Slots<Value>, usize) -> Floats,
    ) {
        match op {
            _ if bigfloat::terms(op).is_some() => {
                let floats = read(slots, 3);
                self.fused_floats(merging, slots, (at, op, format), floats);
            }
            _ if !self.is_short() => {
                let floats = read(slots, op.arity());
                self.long_floats(merging, slots, (at, op, format), floats);
            }
            Op::Add | Op::Sub => {
                let sum = Sum { subtract: op == Op::Sub };
                let floats = read(slots, sum.arity());
                self.short_floats(merging, slots, (at, sum, format), floats);
            }
            Op::Mul => {
                let floats = read(slots, Product.arity());
                self.short_floats(merging, slots, (at, Product, format), floats);
            }
            Op::Div => {
                let floats = read(slots, Quotient.arity());
                self.short_floats(merging, slots, (at, Quotient, format), floats);
            }
            _ => {
                let floats = read(slots, Root.arity());
                self.short_floats(merging, slots, (at, Root, format), floats);
            }
        }
    }

    #[inline(always)]
    fn floats_compare_alike<F: Ieee>(
        &mut self,
        slots: &Slots<Value>,
        (at, _): ((&mut Recurring, Predicate, Format), F),
        x: [u64; 2],
        cells: [u64; 2],
    ) -> bool {
        if any_negated::<F>(cells) {
            return false;
        }
        let shadows = [shadow_of::<F>(slots, cells[0], x[0]), shadow_of::<F>(slots, cells[1], x[1])];
        MpfrShadow::compares_alike(self, at, x.map(F::float), shadows)
    }

    #[inline(always)]
    fn short_floats<M: Merging, E: Elementary, F: Ieee>(
        &mut self,
        merging: M,
        slots: &mut Slots<Value>,
        (at, row, format): (&mut Recurring, E, F),
        floats: Floats,
    ) {
        let Floats { x: [a, b, one], cells: [first, second, none], r, handle } = floats;
        // Arrays are made where they are passed on: one for all would be written down here.
        if any_negated::<F>([first, second]) {
            let floats = Floats { x: [a, b, one], cells: [first, second, none], r, handle };
            return self.negated_floats(slots, (at, row.op(), format), floats);
        }
        let shadows = (shadow_of::<F>(slots, first, a), shadow_of::<F>(slots, second, b));
        self.check_kept(slots, at.site(), [first, second], [shadows.0, shadows.1]);
        let (x, y, result) = (F::float(a), F::float(b), F::float(r));
        let mut made = Made::NOTHING;
        match self.on_floats(merging, (at, row, format), [x, y], result, [shadows.0, shadows.1], &mut made) {
            FastOutcome::Shadow => {
                // Its parts go from registers to their places: put together elsewhere first, they would have to be read
                // again before they are written.
                self.put((made, F::FORMAT), slots.vacated(handle, F::FORMAT, r.into()));
            }
            FastOutcome::Exact => slots.assign(handle, F::FORMAT, r.into(), None),
            FastOutcome::Fallback => {
                let floats = Floats { x: [a, b, one], cells: [first, second, none], r, handle };
                self.unusual_floats(merging, slots, (at, row.op(), format), floats);
            }
        }
    }

    /// Notes operands with cells that are for other floats: a trace of what was there before.
    #[inline(always)]
    fn check_kept<const N: usize>(
        &mut self,
        slots: &Slots<Value>,
        site: Site,
        cells: [u64; N],
        shadows: [Option<&Value>; N],
    ) {
        for (cell, shadow) in cells.into_iter().zip(shadows) {
            if shadow.is_none() && cell != NO_HANDLE && slots.stands_for_any(cell) {
                self.mismatch(site);
            }
        }
    }

    /// Finds the shadow of a recorded operation on floats that is out of the ordinary.
    #[inline(never)]
    fn unusual_floats<M: Merging, F: Ieee>(
        &mut self,
        merging: M,
        slots: &mut Slots<Value>,
        (at, op, format): (&mut Recurring, Op, F),
        Floats { x: [a, b, _], cells: [first, second, _], r, handle }: Floats,
    ) {
        let shadows = [shadow_of::<F>(slots, first, a), shadow_of::<F>(slots, second, b)];
        let (x, result, mut made) = ([a, b].map(F::float), F::float(r), Made::NOTHING);
        match self.on_small(merging, (&mut *at, op, format), x, result, shadows, &mut made) {
            FastOutcome::Shadow => self.put((made, F::FORMAT), slots.vacated(handle, F::FORMAT, r.into())),
            _ => {
                let made = self.on_fallback((at, op, format), x, result, shadows);
                slots.assign(handle, F::FORMAT, r.into(), made);
            }
        }
    }

    #[inline(never)]
    fn fused_floats<M: Merging, F: Ieee>(
        &mut self,
        merging: M,
        slots: &mut Slots<Value>,
        (at, op, format): (&mut Recurring, Op, F),
        floats: Floats,
    ) {
        let Floats { x, cells, r, handle } = floats;
        let [a, b, c] = cells;
        if !any_negated::<F>([a | b, c]) {
            let mut made = Made::NOTHING;
            let shadow = |n: usize| shadow_of::<F>(slots, cells[n], x[n]);
            let shadows = [shadow(0), shadow(1), shadow(2)];
            self.check_kept(slots, at.site(), cells, shadows);
            let (x, result) = (x.map(F::float), F::float(r));
            if self.on_fused(merging, (&mut *at, op, format), x, result, shadows, &mut made)
                == FastOutcome::Shadow
            {
                return self.put((made, F::FORMAT), slots.vacated(handle, F::FORMAT, r.into()));
            }
        }
        let found: [_; 3] = std::array::from_fn(|n| slots.shadow(F::FORMAT, cells[n], x[n].into()));
        let (shadows, x) = (found.each_ref().map(Option::as_deref), x.map(u128::from));
        let (site, format) = (at.site(), F::FORMAT);
        let lane = Lane { site, op, from: format, to: format, x: &x, r: r.into(), shadows: &shadows };
        let made = self.execution.execute(&lane);
        slots.assign(handle, format, r.into(), made);
    }

    /// Finds the shadow of a recorded operation on floats whose signs were turned over, which makes other shadows
    /// first.
    #[inline(never)]
    fn negated_floats<F: Ieee>(
        &mut self,
        slots: &mut Slots<Value>,
        what: (&mut Recurring, Op, F),
        floats: Floats,
    ) {
        let Floats { x, cells, r, handle } = floats;
        let found: [_; 2] = std::array::from_fn(|n| slots.shadow(F::FORMAT, cells[n], x[n].into()));
        let (shadows, x) = (found.each_ref().map(Option::as_deref), [x[0], x[1]].map(F::float));
        let made = self.on_fallback(what, x, F::float(r), shadows);
        slots.assign(handle, F::FORMAT, r.into(), made);
    }

    /// Finds the shadow of a recorded operation on floats whose reals are long.
    #[inline(always)]
    fn long_floats<M: Merging, F: Ieee>(
        &mut self,
        merging: M,
        slots: &mut Slots<Value>,
        what: (&mut Recurring, Op, F),
        floats: Floats,
    ) {
        let Floats { x: [a, b, _], cells: [first, second, _], r, handle } = floats;
        if any_negated::<F>([first, second]) {
            return self.negated_floats(slots, what, floats);
        }
        let left = slots.take(handle);
        let shadows = [shadow_of::<F>(slots, first, a), shadow_of::<F>(slots, second, b)];
        self.check_kept(slots, what.0.site(), [first, second], shadows);
        let x = [a, b].map(F::float);
        let made = self.on_floats_at_length(merging, what, x, F::float(r), shadows, left);
        slots.assign(handle, F::FORMAT, r.into(), made);
    }
}

/// The shadow of a float whose sign was not turned over.
#[inline(always)]
fn shadow_of<F: Ieee>(slots: &Slots<Value>, handle: u64, x: u64) -> Option<&Value> {
    if handle == NO_HANDLE { None } else { slots.get(handle, F::FORMAT, x.into()) }
}

/// Tells whether an operand is minus the float that its handle stands for.
#[inline(always)]
fn any_negated<F: Ieee>(cells: [u64; 2]) -> bool {
    (cells[0] | cells[1]) >> (F::FORMAT.width() - 1) != 0
}
