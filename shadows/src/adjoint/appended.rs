//! Operations that translated code has appended, which are most: straight to the tape.

use super::packing::Iterations;
use super::patterns::{Finder, Part, Place};
use super::{Adjoint, statement};
use shadowgrind_core::appended::{self, Appended, Floats, Operation, Records};
use shadowgrind_core::format::Format;
use shadowgrind_core::numbers::{Numbered, SINGLES};
use shadowgrind_core::ops::{MAX_OPERANDS, Op};

impl Appended for Adjoint {
    fn block(&mut self) -> u64 {
        self.tape.block()
    }

    fn wrote(&mut self, bytes: usize, floats: usize) {
        self.tape.wrote(bytes as u64, floats as u64);
    }

    #[inline(always)]
    fn append(
        &mut self,
        number: u64,
        operation: &Operation,
        floats: &Floats,
        operands: &[Option<Numbered>; MAX_OPERANDS],
    ) {
        // The row is known in each arm, and nothing but its arithmetic is left of it.
        match operation.op {
            Op::Add => self.row::<2>(Op::Add, number, operation, floats, operands),
            Op::Sub => self.row::<2>(Op::Sub, number, operation, floats, operands),
            Op::Mul => self.row::<2>(Op::Mul, number, operation, floats, operands),
            Op::Div => self.row::<2>(Op::Div, number, operation, floats, operands),
            Op::Fmadd => self.row::<3>(Op::Fmadd, number, operation, floats, operands),
            op => self.any(op, number, operation, floats, operands),
        }
    }

    fn append_all(&mut self, thread: usize, records: &Records<'_>) -> u64 {
        if self.budget {
            return appended::append_each(self, records);
        }
        if thread >= self.finders.len() {
            self.finders.resize_with(thread + 1, Finder::default);
        }
        let mut finder = std::mem::take(&mut self.finders[thread]);
        let end = finder.parts(records, |part| match part {
            Part::Single(bytes, number) => {
                appended::append_each(self, &Records { bytes: &records.bytes[bytes], number, ..*records });
            }
            Part::Repeated { pattern, iterations: count, at, number } => {
                let records = Records { bytes: &records.bytes[at..], number, ..*records };
                self.repeat(Iterations { records, pattern, count }, false);
            }
        });
        self.finders[thread] = finder;
        end
    }
}

/// Fewest iterations that are packed.
const FEWEST: usize = 2;

impl Adjoint {
    /// Appends iterations as loops, each of as many as go together. Iterations that are not `whole` may be parts of others.
    fn repeat(&mut self, mut rest: Iterations<'_>, whole: bool) {
        let kind = |place: &Place| rest.records.kinds.of(place.kind);
        let has_singles =
            |place: &Place| kind(place).parts.iter().any(|part| part.operation.to == Format::F32);
        let end = rest.records.number + (rest.count * rest.pattern.numbers) as u64;
        let has_room = end < SINGLES || !rest.pattern.places.iter().any(has_singles);
        if !whole && let Some(period) = self.packer.usual_period(&rest) {
            rest = self.repeat_periods(rest, period);
        }
        self.packer.begin();
        // What goes together is guessed from what has.
        let mut most = if has_room { rest.count } else { 0 };
        while rest.count > 0 {
            let tried = rest.first(rest.count.min(most));
            let alike = if tried.count < FEWEST { Err(0) } else { self.packer.look_at(&tried) };
            match alike {
                Ok(()) => {
                    let Iterations { records, pattern, count } = tried;
                    let period = if whole { None } else { self.packer.period(&tried) };
                    if let Some(period) = period {
                        let left = rest.count - count;
                        rest = self.repeat_periods(tried, period).and(left);
                        self.packer.begin();
                        continue;
                    }
                    if whole && !self.packer.is_regular() {
                        self.packer.forget_period(&tried);
                    }
                    let packer = &self.packer;
                    self.tape.add_loop(|columns| {
                        columns.begin_loop(records.number, count, pattern.numbers);
                        packer.pack(&tried, &mut columns.loops)
                    });
                    self.wrote(count * pattern.bytes, count * tried.float_bytes());
                    rest = rest.after(count);
                    most = 2 * most + FEWEST;
                }
                Err(alike) if alike >= FEWEST => most = alike,
                Err(_) => {
                    let mut one = rest.records;
                    one.bytes = &one.bytes[..rest.pattern.bytes];
                    appended::append_each(self, &one);
                    rest = rest.after(1);
                    most = if has_room { most.max(FEWEST) } else { 0 };
                }
            }
        }
    }

    /// Appends so many iterations at a time as one. Those that are left, fewer than a period.
    fn repeat_periods<'a>(&mut self, iterations: Iterations<'a>, period: usize) -> Iterations<'a> {
        let Iterations { records, pattern, count } = iterations;
        let (pattern, count) = (pattern.unrolled(period), count / period);
        self.repeat(Iterations { records, pattern: &pattern, count }, true);
        iterations.after(count * period)
    }

    #[inline(never)]
    fn any(
        &mut self,
        op: Op,
        number: u64,
        operation: &Operation,
        floats: &Floats,
        operands: &[Option<Numbered>; MAX_OPERANDS],
    ) {
        match op.arity() {
            1 => self.row::<1>(op, number, operation, floats, operands),
            2 => self.row::<2>(op, number, operation, floats, operands),
            _ => self.row::<3>(op, number, operation, floats, operands),
        }
    }

    #[inline(always)]
    fn row<const ARITY: usize>(
        &mut self,
        op: Op,
        number: u64,
        &Operation { site, from, to, .. }: &Operation,
        &Floats { ref x, r }: &Floats,
        operands: &[Option<Numbered>; MAX_OPERANDS],
    ) {
        let mut statement = statement(op, &x[..ARITY], r, operands[..ARITY].iter().copied());
        if self.budget {
            statement.rounding = Some(self.rounding((op, from, to), site, &x[..ARITY], r));
        }
        self.check_number(to, number);
        self.tape.add(number, &statement);
    }
}
