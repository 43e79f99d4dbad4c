//! Operations on doubles that translated code has recorded, which are most: straight to the tape.

use super::{Active, Adjoint, statement};
use shadowgrind_core::format::Format;
use shadowgrind_core::ops::Op;
use shadowgrind_core::recorded::{Doubles, Recorded};
use shadowgrind_core::shadow::Rule;
use shadowgrind_core::site::Site;
use shadowgrind_core::slots::{Cell, NO_TICKET, Slots};
use shadowgrind_core::tricks;

const F64: Format = Format::F64;

impl<P> Recorded<P> for Adjoint {
    type Recurring = Site;

    fn recurring(site: Site) -> Site {
        site
    }

    fn is_usual(op: Op, from: Format, to: Format) -> bool {
        (from, to) == (F64, F64) && matches!(op, Op::Add | Op::Sub | Op::Mul | Op::Div | Op::Sqrt)
    }

    #[inline(always)]
    fn doubles(
        &mut self,
        slots: &mut Slots<Active>,
        (at, op): (&mut Site, Op),
        read: impl FnOnce(&mut Slots<Active>, usize) -> Doubles,
    ) {
        let doubles = read(slots, op.arity());
        let shadows = [0, 1].map(|n| shadow(slots, doubles.cells[n], doubles.x[n]));
        for (shadow, cell) in shadows.iter().zip(doubles.cells) {
            let Cell { ticket, .. } = Cell::of(F64, cell);
            if shadow.is_none() && ticket != NO_TICKET && slots.stands_for_any(ticket) {
                self.mismatch(*at);
            }
        }
        let made = if shadows == [None; 2] {
            None
        } else {
            // The row is known in each arm, and nothing but its arithmetic is left of it.
            match op {
                Op::Add => self.row::<2>(Op::Add, *at, &doubles, shadows),
                Op::Sub => self.row::<2>(Op::Sub, *at, &doubles, shadows),
                Op::Mul => self.row::<2>(Op::Mul, *at, &doubles, shadows),
                Op::Div => self.row::<2>(Op::Div, *at, &doubles, shadows),
                op => self.row::<1>(op, *at, &doubles, shadows),
            }
        };
        slots.assign(doubles.ticket, F64, doubles.r.to_bits().into(), made);
    }
}

impl Adjoint {
    /// The shadow of a result, some operand of which is active.
    #[inline(always)]
    fn row<const ARITY: usize>(
        &mut self,
        op: Op,
        site: Site,
        doubles: &Doubles,
        shadows: [Option<Active>; 2],
    ) -> Option<Active> {
        let Doubles { x, r, .. } = *doubles;
        let rounds = |&i: &usize| shadows[i].is_none() && tricks::rounds(F64, x[i], r);
        if !self.plain_sums && op.addends().iter().any(rounds) {
            return None;
        }
        let mut statement = statement(op, &x[..ARITY], r, shadows.into_iter().take(ARITY));
        if self.budget {
            statement.rounding = Some(self.rounding((op, F64, F64), site, &x[..ARITY], r));
        }
        self.record(&statement)
    }
}

/// The shadow of a double with this cell.
#[inline(always)]
fn shadow(slots: &Slots<Active>, cell: u64, x: f64) -> Option<Active> {
    if cell == NO_TICKET {
        return None;
    }
    slots.shadow(F64, cell, x.to_bits().into()).map(|shadow| *shadow)
}
